"""The flags and settings of a command: its state with clients and messages, and the plan of its output."""

import logging
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeVar

from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import Text
from entrez_kit.base.invisible import remove_invisible
from entrez_kit.base.output_formats import BY_NAME, BY_SUFFIX, Family, Format, list_formats

if TYPE_CHECKING:
    from entrez_kit.base.settings import Settings
    from entrez_kit.base.tracing import Trace
    from entrez_kit.services import Services
    from entrez_kit.services.recordings.record import Recorder
    from entrez_kit.services.recordings.replay import Replay

    from ._frontend import Terminal

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
    """How a command prints: the format, the fields, a file or None for standard output, and the header of a table.

    ``source`` is what selected the format, as messages name it: ``--json``, ``--output x.csv``, or ``the format json``
    if the user did not select it.
    """

    format: Format
    fields: tuple[str, ...] = ()
    target: Path | None = None
    has_header: bool = True
    source: str = ""

    @property
    def whole(self) -> bool:
        """Whether the output shows the collected result. A table of fields shows only records."""
        return self.format.whole and not (self.fields and self.format.family is Family.SCREEN)


def usage_error(message: Text, argument: str | None, hint: Text) -> InvalidInput:
    """Return the error for an argument that has no effect, or that does not go with another one."""
    return InvalidInput(message, invalid_input=argument, recovery_hint=hint, details={"reason": "bad_usage"})


def refuse_fields(plan: Plan) -> None:
    """Refuse fields for a format that has none.

    Raises:
        InvalidInput: --fields was given.
    """
    if plan.fields:
        raise usage_error(
            f"--fields cannot be used with {plan.source}.",
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
    source = _name_source(selected, target, flags)
    if flags.get("no_header") and not selected.has_cells:
        raise usage_error(
            f"--no-header cannot be used with {source}, which has no row of names.",
            "no_header",
            "Omit --no-header, or use --format csv or tsv.",
        )
    return Plan(selected, fields, target, has_header=not flags.get("no_header"), source=source)


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
                raise usage_error(problem, f"format={flag}", "Give only one of them.")
            flag = short
    if flag is not None:
        return _find_format(str(flag).strip().lower(), formats)
    suffix = target.suffix.lower() if target is not None else ""
    text = next((one for one in known if one.family is Family.TEXT), None)
    # The text of a service may have any suffix (.fasta, .gb); that of this program, which a pipe gets too, may not.
    accepts_suffix = pipe is not Family.TEXT or suffix in TEXT_SUFFIXES
    if target is not None and text is not None and accepts_suffix and BY_SUFFIX.get(suffix) not in known:
        return text
    if target is not None and suffix in BY_SUFFIX:
        return _find_format(BY_SUFFIX[suffix].name, formats, target)
    if target is not None and suffix:
        from ._format_errors import unknown_suffix_error

        raise unknown_suffix_error(target, formats.accepted, formats.files)
    # The setting is a preference: a command without that format prints its default.
    preferred = BY_NAME.get(get_setting() or "")
    if preferred in known and pipe is None and (target is None or preferred.family is not Family.SCREEN):
        return preferred
    on_terminal = target is None and is_terminal(sys.stdout)
    return formats.default_on_terminal if on_terminal else formats.default_in_pipe


def _name_source(selected: Format, target: Path | None, flags: Mapping[str, Any]) -> str:
    """Return what selected a format: the option that the user gave, or else the name of the format."""
    for short in ("json", "count"):
        if flags.get(short):
            return f"--{short}"
    if flags.get("format"):
        return f"--format {selected}"
    return f"--output {target}" if target is not None and target.suffix else f"the format {selected}"


def _find_format(name: str, formats: CommandFormats, target: Path | None = None) -> Format:
    """Return the format with this name.

    Args:
        target: the output file, if its suffix selects the format; otherwise None.

    Raises:
        InvalidInput: the command does not have it.
    """
    selected = BY_NAME.get(name)
    if selected is None or selected not in formats.accepted:
        from ._format_errors import unsupported_format_error

        raise unsupported_format_error(name, formats.accepted, formats.files, target)
    return selected


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal; a closed one is not."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


_SETTING_FLAGS: Final = ("demo", "local", "offline", "refresh", "no_cache", "quiet", "verbose", "color", "config_file")
FLUSH_SECONDS: Final = 0.5
"""The time a command waits at its end for a collector to receive the last spans."""
_UNHEARD: Final = logging.NullHandler()
"""Without a handler Python would print log errors."""


class State:
    """The shared state of commands; ``get_state(ctx)`` returns it for a typer context.

    ``flags`` has the options of the command line, before or after the command. Settings are read on first use, so that
    help and usage errors do not depend on them.
    """

    def __init__(self) -> None:
        self.arguments: list[str] = []
        self.flags: dict[str, Any] = {}
        self.plan: Plan | None = None
        self.command: Any = None
        self.printed_messages: set[str] = set()
        self.option_names: dict[str, str] = {}
        """Names of arguments in messages that depend on the options that were given."""
        self.log_note: str | None = None
        self.recorder: Recorder | None = None
        self.replay: Replay | None = None
        self._log = ExitStack()

    @cached_property
    def settings(self) -> "Settings":
        """The settings; in demo mode with the demo's own folders.

        Raises:
            NotConfigured: a setting has an invalid value.
        """
        from entrez_kit.base.settings import load_settings

        settings = load_settings({name: self.flags.get(name) for name in _SETTING_FLAGS})
        return self.replay.use_settings(settings) if self.replay is not None else settings.prepare()

    def finish_recording(self, status: int | None) -> None:
        """Write the recording of a command that ended; without a status remove it.

        Raises:
            StoreError: it cannot be written.
        """
        recording = self.recorder or self.replay
        if recording is not None:
            if status is not None:
                recording.finish(status)
            recording.close()

    @cached_property
    def services(self) -> "Services":
        """The clients; the demo answers them in this process."""
        from entrez_kit.services import Services

        settings = self.settings
        self.open_log()
        if settings.otel_exporter_otlp_endpoint is not None:
            from entrez_kit.server.telemetry import set_up_exporter

            if problem := set_up_exporter(settings):
                self.warn(problem)
        responder = None
        if settings.answers_in_process and self.replay is None:
            from entrez_kit.python.responders import create_responder

            settings, responder = create_responder(settings)
            if self.recorder is not None:
                self.recorder.settings = settings
        early = settings.answer_warning() if settings.copy_label else None
        if early is not None:  # repeated with the fidelity after the answer
            self.printed_messages.add(early[1])
        return Services(settings, responder, recording=self.recorder or self.replay)

    @property
    def known_settings(self) -> "Settings | None":
        """The settings if they were read, else None."""
        return self.__dict__.get("settings")

    @property
    def opened_services(self) -> "Services | None":
        """The clients if they were created, else None."""
        return self.__dict__.get("services")

    def use_replay(self, replay: "Replay") -> None:
        """Answer all requests from a recording, with its settings."""
        self.replay = replay
        self.__dict__.pop("settings", None)

    @property
    def frontend(self) -> "Terminal":
        """The texts of the terminal, with the options of the command that runs."""
        from ._frontend import Terminal, name_options  # most calls print no note

        return Terminal({**(name_options(self.command) if self.command is not None else {}), **self.option_names})

    def warn_of_demo(self, trace: "Trace | None" = None) -> None:
        """Print that the demo answers, if it was requested.

        Args:
            trace: the trace of a call, which prints nothing if it sent no request and did not open the corpus.
        """
        is_used = trace is None or trace.exchanges or trace.opens_demo_corpus
        if is_used and (text := self.settings.demo_warning) is not None:
            self.warn(text)

    def tell_copy(self, fidelity: str) -> None:
        """Name the local copy that answered on stderr, with the fidelity of the answer."""
        services = self.opened_services
        if services is None or not services.settings.copy_label:
            return
        if (source := services.settings.answer_warning(fidelity)) is not None:
            _, text = source
            self.warn(text)

    def report_notes(self) -> None:
        """Print messages of the settings and the transport, each once."""
        settings, services = self.known_settings, self.opened_services
        if settings is None:
            return
        transport = services.opened_transport if services is not None else None
        for text in (*settings.notes, self.log_note, *(transport.notes if transport is not None else ())):
            if text and text not in self.printed_messages:
                self.printed_messages.add(text)
                self.note(text)

    def report_interrupt(self) -> None:
        """Print that the user interrupted the program, and that cached replies are kept."""
        if self.quiet:
            return
        is_working = self.opened_services is not None and not self.get_preference("no_cache", False)
        more = " Run the same command again to continue from here." if is_working else ""
        self.say(f"Interrupted.{more}", "dim")

    def note(self, text: Text) -> None:
        """Print a note, unless -q is given."""
        if not self.quiet:
            self.say(f"Note: {self.frontend.say(text)}", "dim")

    def warn(self, text: Text) -> None:
        """Print a warning once; -q does not hide it."""
        if str(text) not in self.printed_messages:
            self.printed_messages.add(str(text))
            self.say(f"Warning: {self.frontend.say(text)}", "bold yellow")

    def say(self, line: str, style: str = "") -> None:
        """Print one line on stderr, with its first word styled on a terminal. Never raises an error."""
        text = remove_invisible(line)
        try:
            if style and (is_terminal(sys.stderr) or self.color == "always"):
                from ._console import print_line

                print_line(text, style, self.color)
            else:
                print(text, file=sys.stderr, flush=True)  # noqa: T201  # the program's messages
        except (OSError, ValueError, AttributeError):
            return

    def open_log(self) -> None:
        """Set up the log: off, to stderr with -v, or to files."""
        settings = self.known_settings
        if not self.verbose and (settings is None or settings.logs_dir is None):
            logging.getLogger("entrez_kit").addHandler(_UNHEARD)
            return
        from entrez_kit.base.logs import log_of_terminal

        self._log.close()
        self.log_note = self._log.enter_context(log_of_terminal(settings, verbose=self.verbose))

    def close(self) -> None:
        """Release the cache file, if it was opened."""
        services = self.opened_services
        if services is not None:
            services.close()
            if services.settings.otel_exporter_otlp_endpoint is not None:
                from entrez_kit.server.telemetry import flush

                flush(FLUSH_SECONDS)
        self._log.close()

    def get_preference(self, name: str, default: Any) -> Any:
        """Return a flag, or a setting, or the default if the settings cannot be read; never raises an error.

        A command that needs the settings reports errors in them. Commands that do not need them, and the report of that
        error, use the default.
        """
        if self.flags.get(name) is not None:
            return self.flags[name]
        try:
            return getattr(self.settings, name)
        except EntrezKitError:
            return default

    @property
    def quiet(self) -> bool:
        """Whether notes are omitted."""
        return bool(self.get_preference("quiet", False))

    @property
    def verbose(self) -> bool:
        """Whether request ids and timings are shown."""
        return bool(self.get_preference("verbose", False))

    @property
    def color(self) -> str:
        """When to use color: auto, always or never."""
        return str(self.get_preference("color", "auto"))

    @property
    def stderr_is_terminal(self) -> bool:
        """Whether stderr is a terminal."""
        return is_terminal(sys.stderr)

    @property
    def for_machines(self) -> bool:
        """Whether errors are printed as envelopes: with --json, or if stdout is not a terminal."""
        format_name = "json" if self.flags.get("json") else self.flags.get("format")
        selected = self.plan.format if self.plan is not None else BY_NAME.get(format_name or "")
        if selected is not None and (selected.is_data or selected.family is Family.SCREEN):
            return selected.is_data
        return not is_terminal(sys.stdout)

    def make_plan(self, command: Any) -> Plan:
        """Determine the format, fields and target of a command, once.

        Raises:
            InvalidInput: the command does not print the format, or the target is a folder.
        """
        if self.plan is None:
            if self.flags.get("refresh") and self.get_preference("offline", False):
                raise usage_error(
                    "--refresh cannot be used with --offline, which sends no requests.",
                    "refresh",
                    "Omit --refresh or --offline.",
                )
            self.plan = choose_plan(command, self.flags, lambda: self.get_preference("format", None))
        return self.plan
