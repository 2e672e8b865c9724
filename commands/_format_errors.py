"""Errors for a format or a file suffix that a command does not support."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import Text, describe_wrong_value, join_with, list_choices
from entrez_kit.base.output_formats import BY_NAME, Family, Format

_INSTEAD: Final = (
    dict.fromkeys((".xlsx", ".xls", ".ods"), ("csv", "A spreadsheet opens .csv"))
    | dict.fromkeys((".doc", ".odt", ".rtf"), ("docx", "A word processor opens .docx"))
    | {".pdf": ("html", "A browser opens .html and prints it as a PDF file")}
)
"""Suffixes of other programs: a format that the program opens, and a sentence for the hint."""


def unknown_suffix_error(target: Path, accepted: Sequence[Format], files: str) -> InvalidInput:
    """Return the error for a file with a suffix that selects no format; suggest a format that the same program opens.

    Args:
        accepted: the formats of the command.
        files: a sentence about the files that the command writes without ``--output``.
    """
    name, opens = _INSTEAD.get(target.suffix.lower(), ("", ""))
    instead = f"{opens} (-o {target.with_suffix('.' + name)}). " if BY_NAME.get(name) in accepted else ""
    if files and target.suffix.lower() == ".pdf":
        instead += f"{files} "
    return InvalidInput(
        _describe_wrong_suffix(target, accepted),
        invalid_input=f"output={target}",
        recovery_hint=f"{instead}Name another file, or select the format with --format.",
        details={"reason": "bad_usage", "supported": [one.name for one in accepted]},
    )


def unsupported_format_error(
    name: str, accepted: Sequence[Format], files: str, target: Path | None = None
) -> InvalidInput:
    """Return the error for a format that a command does not have, with the way to get it.

    Args:
        name: the format, which may not exist.
        accepted: the formats of the command.
        files: a sentence about the files that the command writes without ``--output``.
        target: the output file, if its suffix selects the format; otherwise None.
    """
    selected = BY_NAME.get(name)
    lists_ids = any(one.family is Family.IDS for one in accepted) and not any(one.needs_records for one in accepted)
    hint = files or "`entrez-kit guide output` describes the formats."
    if selected is not None and selected.needs_records and lists_ids:
        hint = f"For {name}, pipe PMIDs (-f ids) into `entrez-kit fetch - -f {name}`."
    names = [one.name for one in accepted]
    if selected is None and (near := get_close_matches(name, names, n=2)):
        hint = f"Did you mean {join_with(near, 'or')}?"
    return InvalidInput(
        _describe_wrong_suffix(target, accepted)
        if target is not None
        else describe_wrong_value("--format", list_choices(names), name),
        invalid_input=f"format={name}",
        recovery_hint=hint,
        details={"reason": "unsupported_format", "supported": names},
    )


def _describe_wrong_suffix(target: Path, accepted: Sequence[Format]) -> Text:
    """Return the message for a file with a suffix that selects none of the formats of a command."""
    pairs = [(suffix, one.name) for one in accepted for suffix in one.suffixes]
    suffixes = [suffix if suffix == f".{name}" else f"{suffix} ({name})" for suffix, name in pairs]
    return describe_wrong_value("--output", f"a file with the suffix {join_with(suffixes, 'or')}", str(target))
