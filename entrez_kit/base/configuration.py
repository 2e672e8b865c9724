"""The user config as a file people edit: set and unset one setting, and show all settings with their origins.

Comments and order of the file are kept. Writing is atomic and leaves a file that only its owner can read.
"""

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import SecretStr

from entrez_kit.base.errors import InvalidInput, NotConfigured, StoreError
from entrez_kit.base.input_files import read_input
from entrez_kit.base.private_files import make_private_folder, open_private
from entrez_kit.base.settings import (
    MAX_CONFIG_BYTES,
    SETTINGS,
    Setting,
    Settings,
    as_shown,
    bounds_of,
    find_setting,
    near_settings,
    parse_value,
)

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

MASK: Final = "********"
"""Stands for a secret, whatever its length and last characters."""

DEFAULT_ORIGIN: Final = "default"


def view_settings(settings: Settings, names: list[str] | None = None) -> list[dict[str, Any]]:
    """Return name, variable, value and origin of settings as they may be shown: secrets and e-mail addresses masked.

    Args:
        settings: what to show.
        names: field or variable names to show; all by default.

    Raises:
        InvalidInput: there is no setting of that name.
    """
    wanted = [require_setting(name) for name in names] if names else list(SETTINGS)
    return [
        {
            "name": setting.name,
            "variable": setting.variable,
            "value": MASK if setting.secret and value is not None else str(value) if isinstance(value, Path) else value,
            "origin": settings.origins.get(setting.name, DEFAULT_ORIGIN),
        }
        for setting in wanted
        for value in [getattr(settings, setting.name)]
    ]


def require_setting(name: str) -> Setting:
    """Return the setting with this field or variable name.

    Raises:
        InvalidInput: there is none; the hint names the likeliest.
    """
    setting = find_setting(name)
    if setting:
        return setting
    near = near_settings(name)
    raise InvalidInput(
        f"there is no setting {name!r}",
        invalid_input=name,
        recovery_hint=f"Did you mean {' or '.join(near)}?" if near else "`entrez-kit config show` lists every setting.",
        details={"reason": "unknown_setting", "near": near},
    )


def set_in_file(path: Path, name: str, text: str) -> Setting:
    """Write one setting to the user config, creating the file where there is none.

    Args:
        path: the user config.
        name: field or variable name.
        text: the value, as it would stand in the environment.

    Raises:
        InvalidInput: there is no such setting, it does not belong in a user config, or the value cannot be used.
        NotConfigured: the file is not valid TOML.
        StoreError: the file cannot be read or written.
    """
    setting = require_setting(name)
    if not setting.in_user_file:
        raise InvalidInput(
            f"{setting.name} says where the user config is, so it cannot stand in it",
            invalid_input=setting.name,
            recovery_hint=f"Set the variable {setting.variable} in your environment.",
        )
    if not text.strip():
        raise InvalidInput(
            f"{setting.name}: the value is empty",
            invalid_input=f"{setting.name}=",
            recovery_hint=f"Give a value, or run `entrez-kit config unset {setting.name}`.",
        )
    try:
        value = parse_value(setting, text)
    except ValueError as exc:
        problem = f"{setting.name}: {exc}"
    else:
        document = _read(path)
        document[setting.name] = _plain(value)
        _write(path, document)
        return setting
    bounds = "true or false" if setting.kind == "flag" else bounds_of(setting)
    raise InvalidInput(
        problem,
        invalid_input=f"{setting.name}={as_shown(setting, text)}",
        recovery_hint=f"{setting.help} It accepts {bounds}." if bounds else setting.help,
        details={"reason": "bad_setting", "setting": setting.name},
    )


def unset_in_file(path: Path, name: str) -> bool:
    """Remove one setting from the user config and tell whether it was there.

    A name that is no setting may be removed as well, if the file has it.

    Raises:
        InvalidInput: there is no such setting, in the file or at all.
        NotConfigured: the file is not valid TOML.
        StoreError: the file cannot be read or written.
    """
    document = _read(path)
    key = name if name in document else require_setting(name).name
    if key not in document:
        return False
    del document[key]
    _write(path, document)
    return True


def _plain(value: Any) -> str | int | bool:
    """Return a converted value as TOML holds it; paths are written in full, since the working folder changes."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return value if isinstance(value, int) else str(value)


def _read(path: Path) -> "TOMLDocument":
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(read_input(path, str(path), limit=MAX_CONFIG_BYTES).decode("utf-8-sig"))
    except FileNotFoundError:
        return tomlkit.document()
    except OSError as exc:
        raise _unusable(path, "read", exc) from None
    except (TOMLKitError, UnicodeDecodeError) as exc:
        # Messages of tomlkit can quote the line at fault, which may hold a key: the kind of fault has to do.
        line = getattr(exc, "line", None)
        where = f" (line {line})" if isinstance(line, int) else ""
        problem = f"{path} is not valid TOML{where}"
    raise NotConfigured(
        problem,
        invalid_input=str(path),
        recovery_hint=f"Correct {path}, or move it aside.",
        details={"reason": "bad_toml"},
    )


def _write(path: Path, document: "TOMLDocument") -> None:
    """Replace the file in one step, so that no reader sees half of it and no failure loses it."""
    import tomlkit

    target = path.resolve()  # a link into a folder of dotfiles stays a link
    try:
        make_private_folder(target.parent)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
            written = Path(folder, target.name)
            with os.fdopen(open_private(written, os.O_WRONLY), "w", encoding="utf-8", newline="") as file:
                file.write(tomlkit.dumps(document))
                file.flush()
                os.fsync(file.fileno())
            written.replace(target)
    except OSError as exc:
        raise _unusable(path, "written", exc) from None


def _unusable(path: Path, verb: str, exc: OSError) -> StoreError:
    return StoreError(
        f"{path} cannot be {verb}: {exc.strerror or type(exc).__name__}",
        recovery_hint="Check the folder and its rights, or name another file with --config or ENTREZ_KIT_CONFIG.",
        details={"reason": "config_not_usable", "path": str(path)},
    )
