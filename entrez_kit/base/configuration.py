"""Set and unset single settings in the user config, and show all settings with their origins.

Comments and the order of the file are kept. A write is atomic and leaves a file that only its owner can read.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import SecretStr

from entrez_kit.base.atomic_files import replace_private_file
from entrez_kit.base.errors import InvalidInput, NotConfigured, StoreError, describe_os_error
from entrez_kit.base.input_files import read_input
from entrez_kit.base.settings import (
    SETTINGS,
    Setting,
    Settings,
    find_setting,
    find_similar_settings,
    parse_value,
    redact_value,
)
from entrez_kit.base.toml_files import MAX_CONFIG_BYTES

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

MASK: Final = "********"
"""Replaces every secret; its length does not depend on the secret."""

DEFAULT_ORIGIN: Final = "default"


def view_settings(settings: Settings, names: list[str] | None = None) -> list[dict[str, Any]]:
    """Return name, variable, value and origin of settings, with secrets and e-mail addresses masked.

    Args:
        names: field or variable names to show; all by default.

    Raises:
        InvalidInput: a name is unknown.
    """
    settings_to_show = [require_setting(name) for name in names] if names else list(SETTINGS)
    return [
        {
            "name": setting.name,
            "variable": setting.variable,
            "value": MASK if setting.secret and value is not None else str(value) if isinstance(value, Path) else value,
            "origin": settings.origins.get(setting.name, DEFAULT_ORIGIN),
        }
        for setting in settings_to_show
        for value in [getattr(settings, setting.name)]
    ]


def require_setting(name: str) -> Setting:
    """Return the setting with this field or variable name.

    Raises:
        InvalidInput: there is no such setting; the hint names similar ones.
    """
    setting = find_setting(name)
    if setting:
        return setting
    near = find_similar_settings(name)
    raise InvalidInput(
        f"The setting {name!r} does not exist.",
        invalid_input=name,
        recovery_hint=f"Did you mean {' or '.join(near)}?" if near else "`entrez-kit config show` lists every setting.",
        details={"reason": "unknown_setting", "near": near},
    )


def set_in_file(path: Path, name: str, text: str) -> Setting:
    """Write one setting to the user config; create the file if it is missing.

    Args:
        name: field or variable name.
        text: the value, in the syntax of the environment variable.

    Raises:
        InvalidInput: there is no such setting, a user config must not have it, or the value is invalid.
        NotConfigured: the file is not valid TOML.
        StoreError: the file cannot be read or written.
    """
    setting = require_setting(name)
    if not setting.in_user_file:
        raise InvalidInput(
            f"{setting.name} locates the user config, so the user config cannot set it.",
            invalid_input=setting.name,
            recovery_hint=f"Set the variable {setting.variable} in your environment.",
            details={"reason": "bad_setting"},
        )
    if not text.strip():
        raise InvalidInput(
            f"The value of {setting.name} is empty.",
            invalid_input=f"{setting.name}=",
            recovery_hint=f"Give a value, or run `entrez-kit config unset {setting.name}`.",
            details={"reason": "bad_setting"},
        )
    redacted_value = redact_value(setting, text)
    try:
        value = parse_value(setting, text)
    except ValueError as exc:
        problem = f"{setting.name} {exc} (got {redacted_value!r})."
    else:
        document = _read_config(path)
        document[setting.name] = _to_toml(value)
        _write_config(path, document)
        return setting
    raise InvalidInput(
        problem,
        invalid_input=f"{setting.name}={redacted_value}",
        recovery_hint=f"`entrez-kit guide settings` describes {setting.name}.",
        details={"reason": "bad_setting", "setting": setting.name},
    )


def unset_in_file(path: Path, name: str) -> bool:
    """Remove one setting from the user config and return whether the file had it.

    An unknown name in the file can be removed too.

    Raises:
        InvalidInput: there is no such setting, in the file or at all.
        NotConfigured: the file is not valid TOML.
        StoreError: the file cannot be read or written.
    """
    document = _read_config(path)
    key = name if name in document else require_setting(name).name
    if key not in document:
        return False
    del document[key]
    _write_config(path, document)
    return True


def _to_toml(value: Any) -> str | int | bool:
    """Return a converted value as a TOML value; paths are absolute, because the working folder changes."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return value if isinstance(value, int) else str(value)


def _read_config(path: Path) -> "TOMLDocument":
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(read_input(path, str(path), limit=MAX_CONFIG_BYTES).decode("utf-8-sig"))
    except FileNotFoundError:
        return tomlkit.document()
    except OSError as exc:
        raise _file_error(path, "read", exc) from None
    except (TOMLKitError, UnicodeDecodeError) as exc:
        # A message of tomlkit can quote the invalid line, which may contain a key, so only the line number is used.
        line = getattr(exc, "line", None)
        where = f" (line {line})" if isinstance(line, int) else ""
        problem = f"{path} is not valid TOML{where}"
    raise NotConfigured(
        problem,
        invalid_input=str(path),
        recovery_hint=f"Correct {path}, or move it aside.",
        details={"reason": "bad_toml"},
    )


def _write_config(path: Path, document: "TOMLDocument") -> None:
    """Replace the file in one step, so that no reader sees a half-written file and no failure destroys it."""
    import tomlkit

    target = path.resolve()  # a symbolic link stays a link
    try:
        with replace_private_file(target) as file:
            file.write(tomlkit.dumps(document).encode())
    except OSError as exc:
        raise _file_error(path, "written", exc) from None


def _file_error(path: Path, verb: str, exc: OSError) -> StoreError:
    return StoreError(
        f"{path} cannot be {verb}: {describe_os_error(exc)}",
        recovery_hint="Check the folder and its permissions, or choose a file with --config or ENTREZ_KIT_CONFIG.",
        details={"reason": "config_not_usable", "path": str(path)},
    )
