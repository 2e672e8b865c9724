"""State: what the user asked of every command (flags, settings, format), and the clients built from it."""

import logging
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeVar

import typer

from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import Argument, Frontend, NextCall
from entrez_kit.base.invisible import visible
from entrez_kit.base.output_formats import BY_NAME, BY_SUFFIX, Family, Format, formats_in

if TYPE_CHECKING:
    from entrez_kit.base.settings import Settings
    from entrez_kit.sandbox.server import Sandbox
    from entrez_kit.services import Services

_DEFAULT_FORMATS: Final = formats_in(Family.SCREEN, Family.DOCUMENT)
STDIN: Final = "-"
"""What stands for standard input among the words of a command."""
STDOUT_NAMES: Final = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""What -o takes as standard output."""
_SETTING_FLAGS: Final = ("demo", "offline", "refresh", "no_cache", "quiet", "verbose", "color", "config_file")
FLUSH_SECONDS: Final = 0.5
"""How long a command waits at its end for a collector to take its last spans."""
_UNHEARD: Final = logging.NullHandler()
"""Without any handler Python prints errors."""
_NOWHERE: Final = "http://127.0.0.1:9"
"""Stands for the sandbox's address while none is running; nothing answers at the discard port."""

Function = TypeVar("Function", bound=Callable[..., Any])


def formats(*families: Family, pipe: Family | None = None) -> Callable[[Function], Function]:
    """Declare the formats of a command, in the order of the help. Without a declaration it has tables and documents.

    Args:
        families: what the command can print.
        pipe: the family that a pipe and a file without a suffix get, if it is not the document; then the setting
            ``format`` has no effect.
    """

    def declare(function: Function) -> Function:
        function.formats = formats_in(*families)  # type: ignore[attr-defined]  # read through the command's callback
        function.pipe = pipe  # type: ignore[attr-defined]
        return function

    return declare


def formats_of(command: Any) -> tuple[Format, ...]:
    """Return the formats of a command."""
    return getattr(getattr(command, "callback", None), "formats", _DEFAULT_FORMATS)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a command prints: the format, the fields, and a file or None for standard output."""

    format: Format
    fields: tuple[str, ...] = ()
    target: Path | None = None

    @property
    def whole(self) -> bool:
        """Whether the output shows the collected result. A table of fields shows only records."""
        return self.format.whole and not (self.fields and self.format.family is Family.SCREEN)


def refuse_fields(plan: Plan) -> None:
    """Refuse fields for a format that has none.

    Raises:
        InvalidInput: --fields was given.
    """
    if plan.fields:
        raise InvalidInput(
            f"--fields does not go with --format {plan.format}.",
            invalid_input=f"format={plan.format}",
            recovery_hint="Leave --fields out, or choose a format that has fields, such as jsonl.",
            details={"reason": "bad_usage"},
        )


class State:
    """What every command shares; reached from a typer context with ``state(ctx)``.

    ``flags`` holds what was given on the command line, before or after the command. Settings are read when first
    needed, so that help and usage errors do not depend on them.
    """

    def __init__(self) -> None:
        self.flags: dict[str, Any] = {}
        self.plan: Plan | None = None
        self.door = Terminal()
        self.told: set[str] = set()
        self.log_remark: str | None = None
        self._sandbox: Sandbox | None = None
        self._log = ExitStack()

    @cached_property
    def settings(self) -> "Settings":
        """The settings; in demo mode with the demo's own folders.

        Raises:
            NotConfigured: a setting has a value that cannot be used.
        """
        from entrez_kit.base.settings import load_settings

        settings = load_settings({name: self.flags.get(name) for name in _SETTING_FLAGS})
        self._base_settings = settings
        return settings.with_sandbox(_NOWHERE) if settings.demo else settings

    @cached_property
    def services(self) -> "Services":
        """The clients; in demo mode they talk to a sandbox that is started here."""
        from entrez_kit.services import Services

        settings = self.settings
        self.open_log()
        if settings.otel_exporter_otlp_endpoint is not None:
            from entrez_kit.server.telemetry import set_up_exporter

            if remark := set_up_exporter(settings):
                self.warn(remark)
        if settings.demo:
            from entrez_kit.sandbox.server import Sandbox

            self._sandbox = Sandbox()
            self._sandbox.start()
            if settings.demo_warning:
                self.warn(settings.demo_warning)
            settings = self._base_settings.with_sandbox(self._sandbox.url)
        return Services(settings)

    def note(self, text: str) -> None:
        """Print a remark that may be missed; -q leaves it out."""
        if not self.quiet:
            self.say(f"Note: {self.door.say(text)}", "dim")

    def warn(self, text: str) -> None:
        """Print a warning about what the answer is worth, once; -q does not hide it."""
        if text not in self.told:
            self.told.add(text)
            self.say(f"Warning: {self.door.say(text)}", "bold yellow")

    def say(self, line: str, style: str = "") -> None:
        """Print one line on stderr, its first word styled on a terminal. Never fails: there is nowhere to tell."""
        text = visible(line)
        try:
            if style and (is_terminal(sys.stderr) or self.color == "always"):
                from ._console import print_line

                print_line(text, style, self.color)
            else:
                print(text, file=sys.stderr, flush=True)  # noqa: T201  # this is where the program speaks
        except (OSError, ValueError, AttributeError):
            return

    def open_log(self) -> None:
        """Send the log where the user wants it: nowhere, to stderr under -v, or to files."""
        settings = self.__dict__.get("settings")
        if not self.verbose and (settings is None or settings.logs_dir is None):
            logging.getLogger("entrez_kit").addHandler(_UNHEARD)
            return
        from entrez_kit.base.logs import log_of_terminal

        self._log.close()
        self.log_remark = self._log.enter_context(log_of_terminal(settings, verbose=self.verbose))

    def close(self) -> None:
        """Release the cache file and stop the sandbox, if they were opened."""
        services = self.__dict__.get("services")
        if services is not None:
            services.close()
            if services.settings.otel_exporter_otlp_endpoint is not None:
                from entrez_kit.server.telemetry import flush

                flush(FLUSH_SECONDS)
        if self._sandbox is not None:
            self._sandbox.stop()
            self._sandbox = None
        self._log.close()

    def preference(self, name: str, default: Any) -> Any:
        """Return a flag, else a setting, else the default where the settings cannot be read; never fails.

        A command that needs the settings says what is wrong with them. Those that do not, and whoever reports that
        very error, can do without.
        """
        if self.flags.get(name) is not None:
            return self.flags[name]
        try:
            return getattr(self.settings, name)
        except EntrezKitError:
            return default

    @property
    def quiet(self) -> bool:
        """Whether notes are left out."""
        return bool(self.preference("quiet", False))

    @property
    def verbose(self) -> bool:
        """Whether request ids and timings are shown."""
        return bool(self.preference("verbose", False))

    @property
    def color(self) -> str:
        """When to colour: auto, always or never."""
        return str(self.preference("color", "auto"))

    @property
    def stderr_is_terminal(self) -> bool:
        """Whether a person reads the notes."""
        return is_terminal(sys.stderr)

    @property
    def for_machines(self) -> bool:
        """Whether errors go out as envelopes: with --json, and wherever stdout is no terminal."""
        asked = "json" if self.flags.get("json") else self.flags.get("format")
        selected = self.plan.format if self.plan is not None else BY_NAME.get(asked or "")
        if selected is not None and (selected.is_data or selected.family is Family.SCREEN):
            return selected.is_data
        return not is_terminal(sys.stdout)

    def planned(self, command: Any) -> Plan:
        """Decide the format, fields and target of a command; refuse what it cannot do before any work is done.

        Raises:
            InvalidInput: the command does not print the format, or the target is a folder.
        """
        if self.plan is None:
            self.door = Terminal(options_of(command))
            if self.flags.get("refresh") and self.preference("offline", False):
                raise InvalidInput(
                    "--refresh does nothing offline: no service is asked.",
                    invalid_input="refresh",
                    recovery_hint="Leave --refresh out, or --offline.",
                    details={"reason": "bad_usage"},
                )
            target = self._target()
            named = ",".join(self.flags.get("fields") or ()).split(",")
            fields = tuple(name.strip() for name in named if name.strip())
            self.plan = Plan(self._format(command, target), fields, target)
        return self.plan

    def _target(self) -> Path | None:
        path: Path | None = self.flags.get("output")
        if path is None or str(path) in STDOUT_NAMES:
            return None
        if path.is_dir():
            raise InvalidInput(
                f"--output names a folder: {path}",
                invalid_input=f"output={path}",
                recovery_hint="Name a file in that folder.",
            )
        if not path.parent.is_dir():
            raise InvalidInput(
                f"--output {path}: the folder {path.parent} does not exist.",
                invalid_input=f"output={path}",
                recovery_hint=f"Create {path.parent} first, or name a file elsewhere.",
            )
        return path

    def _format(self, command: Any, target: Path | None) -> Format:
        """Return the format that a flag, the file's suffix or a setting selects, else the default."""
        known, pipe = formats_of(command), getattr(getattr(command, "callback", None), "pipe", None)
        flag = self.flags.get("format")
        for short in ("json", "count"):
            if self.flags.get(short):
                if flag not in (None, short):
                    raise InvalidInput(
                        f"--{short} and --format {flag} contradict each other.",
                        invalid_input=f"format={flag}",
                        recovery_hint="Give one of them.",
                    )
                flag = short
        if flag is not None:
            return _supported(str(flag).strip().lower(), known, f"--format {flag}")
        suffix = target.suffix.lower() if target is not None else ""
        text = next((one for one in known if one.family is Family.TEXT), None)
        if target is not None and text is not None and BY_SUFFIX.get(suffix) not in known:
            return text  # the text itself, whatever the suffix: .fasta, .gb
        if target is not None and suffix in BY_SUFFIX:
            return _supported(BY_SUFFIX[suffix].name, known, f"a {target.suffix} file")
        if target is not None and suffix:
            raise unknown_suffix(target, known)
        default = [one for one in known if one.family is (pipe or Family.DOCUMENT)]
        screen = [one for one in known if one.family is Family.SCREEN] if target is None else []
        # The setting is not an order: a command without that format prints its default.
        preferred = BY_NAME.get(self.preference("format", None) or "")
        if preferred in known and pipe is None and (target is None or preferred.family is not Family.SCREEN):
            return preferred
        if target is None and is_terminal(sys.stdout):
            return (*screen, *known)[0]
        return (*default, *known)[0]


_INSTEAD: Final = dict.fromkeys((".xlsx", ".xls", ".ods"), ("csv", "A spreadsheet opens .csv")) | dict.fromkeys(
    (".doc", ".odt", ".rtf"), ("docx", "A word processor opens .docx")
)
"""Suffixes of other programs: the format that the program opens, and a sentence that says so."""


def unknown_suffix(target: Path, known: tuple[Format, ...]) -> InvalidInput:
    """Return the error for a file whose suffix selects no format, with the format that its program opens."""
    name, opens = _INSTEAD.get(target.suffix.lower(), ("", ""))
    instead = f"{opens} (-o {target.with_suffix('.' + name)}). " if BY_NAME.get(name) in known else ""
    suffixes = ", ".join(f"{suffix} ({one})" for one in known for suffix in one.suffixes)
    return InvalidInput(
        f"--output {target}: no format has the suffix {target.suffix}.",
        invalid_input=f"output={target}",
        recovery_hint=f"{instead}Use one of {suffixes}, or select the format with --format.",
        details={"reason": "bad_usage", "supported": [one.name for one in known]},
    )


def _supported(name: str, known: tuple[Format, ...], given: str) -> Format:
    """Return the format of this name if the command has it."""
    selected = BY_NAME.get(name)
    if selected is not None and selected in known:
        return selected
    lists_ids = any(one.family is Family.IDS for one in known) and not any(one.needs_records for one in known)
    way = ""
    if selected is not None and selected.needs_records and lists_ids:
        way = f" For {name}, pipe PMIDs (-f ids) into `entrez-kit fetch - -f {name}`."
    raise InvalidInput(
        f"{given} is not a format of this command.",
        invalid_input=f"format={name}",
        recovery_hint=f"The formats are {', '.join(one.name for one in known)}.{way}",
        details={"reason": "unsupported_format", "supported": [one.name for one in known]},
    )


def is_terminal(stream: TextIO | None) -> bool:
    """Tell whether a stream is a terminal; a closed one is none."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


# How the terminal says calls, arguments and flags: as commands and options that a shell takes


PROGRAM: Final = "entrez-kit"
_GROUPS: Final = {"date_range": "--min-date/--max-date"}
"""Fields of requests that are several options."""


class Terminal(Frontend):
    """The words of the terminal.

    Args:
        options: what the command under way calls its arguments, as ``options_of`` has it.
    """

    name = "terminal"
    verb = "run"

    def __init__(self, options: Mapping[str, str] | None = None) -> None:
        self.options = {**_GROUPS, **(options or {})}

    def argument(self, argument: Argument) -> str:
        """Return the option, or the word in capitals that stands for the argument."""
        first, *_, last = argument.name.split(".") * 2
        names = (self.options.get(name) for name in (argument.name, last, first))
        name = next(filter(None, names), argument.name)
        return name if argument.value is None else f"{name} {shlex.quote(str(argument.value))}"

    def call(self, call: NextCall) -> str:
        """Return a command line; what the command needs and the call does not say stands in capitals."""
        from entrez_kit.python.kit_methods import operation_of

        words = operation_of(call.method).command
        command = build_command(words[0])
        for word in words[1:]:
            command = command.commands[word]
        line = [PROGRAM, *words]
        for parameter in command.params:
            value = call.arguments.get(parameter.name, ... if parameter.required else None)
            if value is not None:
                line += _given(parameter, value)
        return f"`{' '.join(line)}`"


def build_command(name: str) -> Any:
    """Import a subcommand, a group with ``app`` or one with ``command``, without the options that all have."""
    module = import_module(f".{name}", __package__)
    if hasattr(module, "app"):
        command: Any = typer.main.get_group(module.app)
        command.name = name
        return command
    app = typer.Typer(add_completion=False)
    app.command(name, no_args_is_help=False)(module.command)
    return typer.main.get_command(app)


def options_of(command: Any) -> dict[str, str]:
    """Return what a command calls its arguments: ``{"sort_by": "--sort", "query_term": "QUERY"}``."""
    return {parameter.name: _name(parameter) for parameter in command.params}


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "option":
        return str(max(parameter.opts, key=len))
    return str(parameter.metavar or parameter.name).strip("[].")


def _given(parameter: Any, value: Any) -> list[str]:
    """Return the words of a command line that give an argument a value."""
    name = _name(parameter)
    if value is True:
        return [name]
    values = value if isinstance(value, list) else [value]
    if parameter.param_type_name == "option":
        return [word for one in values for word in (name, "..." if one is ... else shlex.quote(str(one)))]
    return [name if one is ... else shlex.quote(str(one)) for one in values]
