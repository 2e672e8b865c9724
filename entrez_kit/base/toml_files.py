"""Read a config file: a small TOML file that another person may have written."""

import os
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

from entrez_kit.base.errors import NotConfigured, describe_os_error
from entrez_kit.base.frontend_text import FrontendText, PerFrontend
from entrez_kit.base.input_files import open_input
from entrez_kit.base.private_files import is_foreign

CONFIG: Final = PerFrontend("--config or ENTREZ_KIT_CONFIG", "ENTREZ_KIT_CONFIG")
MAX_CONFIG_BYTES: Final = 64_000
"""A config file is a page of text. A larger file is the wrong file, an endless device, or an attack on the parser."""

MAX_QUOTED: Final = 300
"""Maximum characters of the parser's message that are shown."""


def read_toml(path: Path, notes: list[str], *, must_exist: bool = False) -> tuple[dict[str, Any], bool]:
    """Return the content of a TOML file, and whether only its owner can read it. Ignore a file of another user.

    Args:
        notes: gets a message if the file is ignored.
        must_exist: whether a file that cannot be read is an error.

    Raises:
        NotConfigured: it is not valid TOML, too large or nested too deep.
    """
    try:
        with open_input(path) if must_exist else path.open("rb") as file:
            status = os.fstat(file.fileno())
            if is_foreign(status):
                notes.append(f"{path} belongs to another user; it is ignored")
                return {}, False
            body = file.read(MAX_CONFIG_BYTES + 1)
        if len(body) > MAX_CONFIG_BYTES:
            raise NotConfigured(
                f"The config file {path} is larger than {MAX_CONFIG_BYTES} bytes.",
                invalid_input=str(path),
                recovery_hint=f"Correct {path}, or move it aside.",
                details={"reason": "bad_toml"},
            )
        is_private = sys.platform == "win32" or not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        return tomllib.loads(body.decode("utf-8-sig")), is_private
    except OSError as exc:
        is_missing = isinstance(exc, FileNotFoundError)
        problem = "is a folder" if isinstance(exc, IsADirectoryError) else f"cannot be read: {describe_os_error(exc)}"
        if must_exist:
            raise NotConfigured(
                f"The config file {path} {'does not exist' if is_missing else problem}.",
                invalid_input=str(path),
                recovery_hint=FrontendText(
                    "Correct ", CONFIG, ", or create the file; it may be empty." if is_missing else "."
                ),
                details={"reason": "cannot_read"},
            ) from None
        if not is_missing:
            notes.append(f"{path} {problem}; it is ignored")
    except (ValueError, RecursionError) as exc:  # a number with thousands of digits is a ValueError too
        problem = "it is nested too deep" if isinstance(exc, RecursionError) else str(exc)[:MAX_QUOTED]
        problem = "it is not UTF-8" if isinstance(exc, UnicodeDecodeError) else problem
        raise NotConfigured(
            f"{path} is not valid TOML: {problem}",
            invalid_input=str(path),
            recovery_hint=f"Correct {path}, or move it aside.",
            details={"reason": "bad_toml"},
        ) from None
    return {}, False
