"""A config file as a table of settings: whose it is, how large it may be, and what is said where it is broken."""

import os
import stat
import sys
from pathlib import Path
from typing import Any, Final

from entrez_kit.errors import NotConfigured
from entrez_kit.private_files import is_foreign
from entrez_kit.wording import ByDoor, Wording

CONFIG: Final = ByDoor("--config or ENTREZ_KIT_CONFIG", "ENTREZ_KIT_CONFIG")
MAX_CONFIG_BYTES: Final = 64_000
"""A config file is a page of text; anything past this is the wrong file, a device without an end, or made to keep the
parser busy."""

MAX_QUOTED: Final = 300
"""Characters of a parser's complaint that are passed on."""


def read_toml(
    path: Path, notices: list[str], *, must_exist: bool = False, own_only: bool = False
) -> tuple[dict[str, Any], bool]:
    """Read a TOML file and tell whether it is private; a file that cannot be read, or believed, costs a notice.

    Args:
        path: the file.
        notices: gets a line where the file is passed over.
        must_exist: whether a file that cannot be read is an error.
        own_only: whether a file of another user is passed over.

    Raises:
        NotConfigured: it is no TOML, too large or nested too deep.
    """
    import tomllib

    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if own_only and is_foreign(found):
                notices.append(f"{path} belongs to another user; it is ignored")
                return {}, False
            body = file.read(MAX_CONFIG_BYTES + 1)
        if len(body) > MAX_CONFIG_BYTES:
            raise NotConfigured(
                f"{path} is larger than {MAX_CONFIG_BYTES} bytes; that is no config file",
                invalid_input=str(path),
                recovery_hint=f"Correct {path}, or move it aside.",
                details={"reason": "bad_toml"},
            )
        return tomllib.loads(body.decode("utf-8-sig")), _is_private(found)
    except FileNotFoundError:
        if must_exist:
            raise NotConfigured(
                f"config file {path} does not exist",
                invalid_input=str(path),
                recovery_hint=Wording("Correct ", CONFIG, ", or create the file; an empty one will do."),
            ) from None
    except OSError as exc:
        problem = f"{path} cannot be read ({exc.strerror or type(exc).__name__})"
        if must_exist:
            raise NotConfigured(
                problem, invalid_input=str(path), recovery_hint=Wording("Correct ", CONFIG, ".")
            ) from None
        notices.append(f"{problem}; it is ignored")
    except (ValueError, RecursionError) as exc:  # a number of thousands of digits is a ValueError, too
        problem = "it is nested too deep" if isinstance(exc, RecursionError) else str(exc)[:MAX_QUOTED]
        problem = "it is not UTF-8" if isinstance(exc, UnicodeDecodeError) else problem
        raise NotConfigured(
            f"{path} is not valid TOML: {problem}",
            invalid_input=str(path),
            recovery_hint=f"Correct {path}, or move it aside.",
            details={"reason": "bad_toml"},
        ) from None
    return {}, False


def _is_private(status: os.stat_result) -> bool:
    """Tell whether nobody but the owner can read or write the file."""
    return sys.platform == "win32" or not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
