"""Choose the format, the fields and the destination of a command from its flags, its file and the settings."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO, TypeVar

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import Text
from entrez_kit.base.output_formats import BY_NAME, BY_SUFFIX, Family, Format, list_formats

STDIN: Final = "-"
"""The argument that means standard input."""
STDOUT_NAMES: Final = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""The value of -o that means standard output."""
TEXT_SUFFIXES: Final = ("", ".txt", ".text")
"""The suffixes of a file of plain text."""

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class CommandFormats:
    """The formats of a command.

    Args:
        accepted: the formats, in the order of the help.
        pipe: the family that a pipe and a file without a suffix get, if it is not the document; then the setting
            ``format`` has no effect.
        files: a sentence about the files that the command writes without ``--output``.
        fields: an example of ``--fields`` that every format with fields accepts.
    """

    accepted: tuple[Format, ...] = list_formats(Family.SCREEN, Family.DOCUMENT)
    pipe: Family | None = None
    files: str = ""
    fields: str = ""

    @property
    def default_on_terminal(self) -> Format:
        """The format on a terminal without ``--format``."""
        return self._get_first(Family.SCREEN)

    @property
    def default_in_pipe(self) -> Format:
        """The format in a pipe or a file without ``--format``."""
        return self._get_first(self.pipe or Family.DOCUMENT)

    def _get_first(self, family: Family) -> Format:
        """Return the first format of a family, or the first of all."""
        return next((one for one in self.accepted if one.family is family), self.accepted[0])


def accept_formats(
    *families: Family, pipe: Family | None = None, files: str = "", fields: str = ""
) -> Callable[[Function], Function]:
    """Declare the formats of a command; see ``CommandFormats``."""

    def declare(function: Function) -> Function:
        function.formats = CommandFormats(list_formats(*families), pipe, files, fields)  # type: ignore[attr-defined]
        return function

    return declare


def get_formats(command: Any) -> CommandFormats:
    """Return the formats that the function of a command declares; without a declaration, tables and documents."""
    declared: CommandFormats = getattr(getattr(command, "callback", None), "formats", CommandFormats())
    return declared


@dataclass(frozen=True, slots=True)
class Plan:
    """How a command prints: the format, the fields, a file or None for standard output, and the header of a table."""

    format: Format
    fields: tuple[str, ...] = ()
    target: Path | None = None
    has_header: bool = True

    @property
    def whole(self) -> bool:
        """Whether the output shows the collected result. A table of fields shows only records."""
        return self.format.whole and not (self.fields and self.format.family is Family.SCREEN)


def usage_error(message: str, argument: str | None, hint: Text) -> InvalidInput:
    """Return the error for an argument that has no effect, or that does not go with another one."""
    return InvalidInput(message, invalid_input=argument, recovery_hint=hint, details={"reason": "bad_usage"})


def refuse_fields(plan: Plan) -> None:
    """Refuse fields for a format that has none.

    Raises:
        InvalidInput: --fields was given.
    """
    if plan.fields:
        raise usage_error(
            f"--fields cannot be used with --format {plan.format}.",
            f"format={plan.format}",
            "Omit --fields, or choose a format with fields, such as jsonl.",
        )


def choose_plan(command: Any, flags: Mapping[str, Any], get_setting: Callable[[], str | None]) -> Plan:
    """Return how a command prints; refuse what it does not support before any work.

    Args:
        get_setting: returns the setting ``format``, which is read only if no flag and no file selects a format.

    Raises:
        InvalidInput: the command does not print the format, or the target is a folder.
    """
    target = _check_target(flags.get("output"))
    named = ",".join(flags.get("fields") or ()).split(",")
    fields = tuple(name.strip() for name in named if name.strip())
    selected = _choose_format(get_formats(command), target, flags, get_setting)
    if flags.get("no_header") and not selected.has_cells:
        raise usage_error(
            f"--no-header cannot be used with --format {selected}, which has no row of names.",
            "no_header",
            "Omit --no-header, or use --format csv or tsv.",
        )
    return Plan(selected, fields, target, has_header=not flags.get("no_header"))


def _check_target(path: Path | None) -> Path | None:
    """Return the file of --output; None for standard output.

    Raises:
        InvalidInput: it is a folder, or its folder does not exist.
    """
    if path is None or str(path) in STDOUT_NAMES:
        return None
    if path.is_dir():
        raise usage_error(f"--output {path} is a folder.", f"output={path}", "Name a file in that folder.")
    if not path.parent.is_dir():
        problem, hint = "does not exist", f"Create the folder {path.parent}, or name a file in another folder."
        if path.parent.exists():
            problem, hint = "is not a folder", "Name a file in another folder."
        raise usage_error(f"--output {path}: {path.parent} {problem}.", f"output={path}", hint)
    return path


def _choose_format(
    formats: CommandFormats, target: Path | None, flags: Mapping[str, Any], get_setting: Callable[[], str | None]
) -> Format:
    """Return the format that a flag, the file's suffix or a setting selects, else the default."""
    known, pipe = formats.accepted, formats.pipe
    flag = flags.get("format")
    for short in ("json", "count"):
        if flags.get(short):
            if flag not in (None, short):
                problem = f"--{short} cannot be used with --format {flag}."
                raise usage_error(problem, f"format={flag}", "Give one of them.")
            flag = short
    if flag is not None:
        return _find_format(str(flag).strip().lower(), formats, f"--format {flag}")
    suffix = target.suffix.lower() if target is not None else ""
    text = next((one for one in known if one.family is Family.TEXT), None)
    # The text of a service may have any suffix (.fasta, .gb); that of this program, which a pipe gets too, may not.
    accepts_suffix = pipe is not Family.TEXT or suffix in TEXT_SUFFIXES
    if target is not None and text is not None and accepts_suffix and BY_SUFFIX.get(suffix) not in known:
        return text
    if target is not None and suffix in BY_SUFFIX:
        return _find_format(BY_SUFFIX[suffix].name, formats, f"a {target.suffix} file")
    if target is not None and suffix:
        from ._format_errors import unknown_suffix_error

        raise unknown_suffix_error(target, formats.accepted, formats.files)
    # The setting is a preference: a command without that format prints its default.
    preferred = BY_NAME.get(get_setting() or "")
    if preferred in known and pipe is None and (target is None or preferred.family is not Family.SCREEN):
        return preferred
    on_terminal = target is None and is_terminal(sys.stdout)
    return formats.default_on_terminal if on_terminal else formats.default_in_pipe


def _find_format(name: str, formats: CommandFormats, option: str) -> Format:
    """Return the format with this name.

    Args:
        option: what selects it, for the message.

    Raises:
        InvalidInput: the command does not have it.
    """
    selected = BY_NAME.get(name)
    if selected is None or selected not in formats.accepted:
        from ._format_errors import unsupported_format_error

        raise unsupported_format_error(name, formats.accepted, formats.files, option)
    return selected


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal; a closed one is not."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False
