"""entrez-kit config: show every setting with its origin; set or unset one in the user config."""

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from entrez_kit.base.configuration import (
    DEFAULT_ORIGIN,
    require_setting,
    set_in_file,
    unset_in_file,
    view_settings,
)
from entrez_kit.base.errors import InvalidInput, NotConfigured
from entrez_kit.base.frontend_text import FrontendText
from entrez_kit.base.output_formats import Family
from entrez_kit.base.settings import BY_NAME, SETTINGS, Setting, load_settings, locate_user_config

from . import _views
from ._emit import emit
from ._options import App
from ._pipeline import get_state, note, warn
from ._state import accept_formats, is_terminal
from ._views.text import format_value

MAX_STDIN_CHARACTERS: Final = 10_000

app = App(
    help="Show every setting with its origin; set one.\n\n"
    "The order of precedence is: flag, environment variable, entrez-kit.toml in the current folder, user config, "
    "default. `entrez-kit guide settings` explains each setting.",
)


def _complete_name(incomplete: str) -> list[str]:
    return [setting.name for setting in SETTINGS if setting.name.startswith(incomplete)]


Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="A setting or its variable: format, NCBI_API_KEY.", autocompletion=_complete_name
    ),
]


@app.command("show")
@accept_formats(Family.SCREEN, Family.DOCUMENT, Family.ROWS)
def show_command(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Settings to show. Default: all.", autocompletion=_complete_name),
    ] = None,
) -> None:
    """Show every setting with its value and origin; keys and e-mail addresses are masked.

    entrez-kit config show cache_dir ncbi_api_key
    """
    settings = get_state(ctx).settings
    records = view_settings(settings, names)
    path = settings.config_file
    document = {
        "config_file": str(path) if path else None,
        "config_file_exists": bool(path and path.is_file()),
        "settings": records,
        "notices": list(settings.notes),
    }
    emit(ctx, document, lambda: _views.program.render_settings(records, path), records=records)


@app.command("set")
def set_command(
    ctx: typer.Context,
    name: Name,
    value: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="VALUE",
            help="The value; - reads it from stdin. Do not give keys and tokens here: omit the value to enter them at "
            "a prompt, or pipe them in.",
        ),
    ] = None,
) -> None:
    """Set one setting in the user config, which only you can read.

    entrez-kit config set ncbi_admin_email you@example.org
    """
    setting = require_setting(name)
    path = _find_user_config(ctx)
    set_in_file(path, setting.name, _read_value(setting, value or []))
    _report(ctx, setting.name, path, "set")


@app.command("unset")
def unset_command(ctx: typer.Context, name: Name) -> None:
    """Remove one setting from the user config, so that its default applies.

    entrez-kit config unset ncbi_admin_email
    """
    path = _find_user_config(ctx)
    removed = unset_in_file(path, name)
    if not removed:
        note(ctx, f"{name} is not set in {path}.")
    _report(ctx, name, path, "unset" if removed else "unchanged")


@app.command("path")
@accept_formats(Family.SCREEN, Family.TEXT, Family.DOCUMENT, pipe=Family.TEXT)
def path_command(ctx: typer.Context) -> None:
    """Print the path of the user config, whether it exists or not.

    entrez-kit config path
    """
    path = _find_user_config(ctx)
    emit(ctx, {"config_file": str(path), "exists": path.is_file()}, text=str(path))


def _find_user_config(ctx: typer.Context) -> Path:
    """Return the path of the user config.

    Raises:
        NotConfigured: the user has no home folder.
    """
    path = locate_user_config(get_state(ctx).flags.get("config_file"))
    if path is None:
        raise NotConfigured(
            "The user config has no place, because no home folder was found.",
            recovery_hint="Set ENTREZ_KIT_HOME to one of your folders, or name a file with --config.",
            details={"reason": "no_home"},
        )
    return path


def _read_value(setting: Setting, arguments: list[str]) -> str:
    """Return the value of a setting from the command line, stdin or a prompt.

    Raises:
        InvalidInput: the value is missing, or a secret was given on the command line.
    """
    if setting.kind == "secret" and arguments and arguments != ["-"]:
        raise InvalidInput(
            f"{setting.name} is secret. Do not give it on the command line.",
            invalid_input=setting.name,
            recovery_hint=f"Run `entrez-kit config set {setting.name}` and enter it at the prompt, or pipe it in: "
            f"`entrez-kit config set {setting.name} - < FILE`. The history of your shell now contains the value.",
            details={"reason": "secret_on_command_line"},
        )
    if len(arguments) > 1:
        raise InvalidInput(
            f"{setting.name} takes one value (got {len(arguments)}).",
            invalid_input=setting.name,
            recovery_hint="Put quotes around a value with spaces.",
            details={"reason": "bad_usage"},
        )
    if arguments and arguments != ["-"]:
        return arguments[0]
    if arguments == ["-"] or not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        return _read_stdin(setting, is_requested=bool(arguments))
    answer: str = typer.prompt(f"{setting.help}\n{setting.name}", hide_input=setting.kind == "secret", err=True)
    return answer


def _read_stdin(setting: Setting, *, is_requested: bool) -> str:
    """Read a value from stdin; without "-" only secrets are read from there."""
    if sys.stdin is None or is_terminal(sys.stdin) or not (is_requested or setting.kind == "secret"):
        raise InvalidInput(
            f"The value of {setting.name} is missing.",
            invalid_input=f"{setting.name}=",
            recovery_hint=f"Run `entrez-kit config set {setting.name} VALUE`, or pipe the value in with - as VALUE.",
            details={"reason": "bad_setting"},
        )
    text = sys.stdin.read(MAX_STDIN_CHARACTERS + 1)
    if len(text) > MAX_STDIN_CHARACTERS:
        raise InvalidInput(
            f"The value of {setting.name} on stdin is too long.",
            invalid_input=setting.name,
            recovery_hint="Pipe in only the value.",
            details={"reason": "bad_setting"},
        )
    return text.strip()


def _report(ctx: typer.Context, name: str, path: Path, change: str) -> None:
    """Report the change, and warn if a source with higher precedence overrides it."""
    document: dict[str, Any] = {"name": name, "change": change, "config_file": str(path)}
    line = f"{name} is {'set' if change == 'set' else 'unset'} in {path}."
    try:
        settings = load_settings({"config_file": path}) if path.is_file() else load_settings()
    except NotConfigured as exc:
        warn(ctx, FrontendText(exc.message_text, ". ", exc.hint_text))
    else:
        for now in view_settings(settings, [name]) if name in BY_NAME else ():
            document |= {"value": now["value"], "origin": now["origin"]}
            if now["origin"] not in ("user config", DEFAULT_ORIGIN):
                warn(ctx, f"{name} comes from {now['origin']}, which overrides the user config.")
            if change == "set":
                line = f"{name} = {format_value(now['value'])} in {path}."
    emit(ctx, document, lambda: line)
