"""Files that the user names: their content, their name in messages, and the name of a corrected copy."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.input_files import cannot_read_error, read_input

from ._state import STDIN, usage_error


def get_stdin() -> IO[bytes]:
    """Return standard input.

    Raises:
        InvalidInput: the caller closed it.
    """
    if sys.stdin is None:
        raise usage_error("Standard input is closed.", STDIN, "Name a file, or send the input through a pipe.")
    return sys.stdin.buffer


def read_content(file: Path) -> bytes:
    """Return the bytes of a file, or of standard input for "-".

    Raises:
        InvalidInput: the file cannot be read.
    """
    try:
        if str(file) == STDIN:
            return read_input(get_stdin(), "Standard input")
        return read_input(file, str(file))
    except OSError as exc:
        raise cannot_read_error(file, exc) from None


def is_file(name: str) -> bool:
    """Return whether an argument is the name of a file; a text that cannot be a name is not."""
    with suppress(OSError, ValueError):
        return Path(name).is_file()
    return False


def is_folder(name: str) -> bool:
    """Return whether an argument is the name of a folder; a text that cannot be a name is not."""
    with suppress(OSError, ValueError):
        return bool(name) and Path(name).is_dir()
    return False


def name_file(path: Path) -> str:
    """Return the name of a file in messages."""
    return "standard input" if str(path) == STDIN else str(path)


def read_sibling(file: Path, name: str) -> bytes | None:
    """Return the content of a file that another file names, if it is in the same folder or below."""
    folder = file.resolve().parent
    path = (folder / name).resolve()
    if str(file) == STDIN or not path.is_relative_to(folder) or not path.is_file():
        return None
    return read_content(path)


def name_corrected_file(file: Path, *, overwrite: bool) -> Path:
    """Return the path of the corrected copy of a file: ``refs.fixed.bib`` for ``refs.bib``.

    Raises:
        InvalidInput: the copy exists already.
    """
    target = file.with_name(f"{file.stem}.fixed{file.suffix}")
    if target.exists() and not overwrite:
        raise InvalidInput(
            f"{target} already exists.",
            invalid_input=str(target),
            recovery_hint="Move it away, or overwrite it with --force.",
            details={"reason": "file_exists"},
        )
    return target
