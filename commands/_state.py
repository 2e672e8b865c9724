"""State: the flags and settings of a command, the clients built from them, and its messages on stderr."""

import logging
import sys
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.frontend_text import Text
from entrez_kit.base.invisible import remove_invisible
from entrez_kit.base.output_formats import BY_NAME, Family

from ._plan import Plan, choose_plan, is_terminal, usage_error

if TYPE_CHECKING:
    from entrez_kit.base.settings import Settings
    from entrez_kit.services import Services
    from entrez_kit.services.recordings.record import Recorder
    from entrez_kit.services.recordings.replay import Replay

    from ._frontend import Terminal

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
        if settings.demo_warning:
            self.warn(settings.demo_warning)
        responder = None
        if settings.answers_in_process and self.replay is None:
            from entrez_kit.python.responders import create_responder

            settings, responder = create_responder(settings)
            if self.recorder is not None:
                self.recorder.settings = settings
        if (early := settings.answer_warning()) is not None:  # repeated with the fidelity after the answer
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

        return Terminal(name_options(self.command) if self.command is not None else None)

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
