"""Manual pages, one for each command, made of what `--help` says."""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

import typer
from rich.text import Text

from entrez_kit.base import __version__
from entrez_kit.guides import read_guide

APP: Final = import_module("entrez_kit.commands._app")
PROGRAM: Final = "entrez-kit"
STATUSES: Final = re.findall(r"^\| (\d+) \| (.*) \|$", read_guide("exit-codes").text, re.MULTILINE)


def man_pages() -> dict[str, str]:
    """Return the pages by the names of their files."""
    program = APP.build()
    names = list(APP.COMMANDS)
    pages = {f"{PROGRAM}.1": _page(PROGRAM, program, "search and read PubMed and NCBI Gene", names)}
    for name in names:
        pages[f"{PROGRAM}-{name}.1"] = _page(f"{PROGRAM} {name}", APP.load_command(name), APP.COMMANDS[name][0], [])
    return pages


def _page(title: str, command: Any, line: str, listed: list[str]) -> str:
    name = title.replace(" ", "-")
    lines = [f'.TH "{_text(name.upper())}" 1 "" "{PROGRAM} {__version__}" "User Commands"', ".ad l"]
    lines += [".SH NAME", _text(f"{name} - {line[0].lower()}{line[1:].rstrip('.')}")]
    lines += [".SH SYNOPSIS", *_synopsis(title, command)]
    lines += [".SH DESCRIPTION", *_paragraphs(command.help)]
    if listed:
        lines.append(".SH COMMANDS")
        for one in listed:
            lines += [".TP", rf"\fB{_text(f'{name}-{one}')}\fR(1)", _text(APP.COMMANDS[one][0])]
    lines += _parameters(title, command, everywhere=bool(listed))
    for inner in getattr(command, "commands", {}).values() if not listed else ():
        lines += [f'.SH "{_text(f"{title} {inner.name}".upper())}"', *_synopsis(f"{title} {inner.name}", inner), ".PP"]
        lines += [*_paragraphs(inner.help), *_parameters(f"{title} {inner.name}", inner, everywhere=False)]
    lines += [".SH EXIT STATUS"]
    for status, meaning in STATUSES:
        lines += [".TP", rf"\fB{status}\fR", _text(f"{meaning}.")]
    others = [f"{PROGRAM}-guide"] if listed else [PROGRAM, f"{PROGRAM}-guide"]
    lines += [".SH SEE ALSO", ", ".join(rf"\fB{_text(other)}\fR(1)" for other in others if other != name)]
    return "\n".join(lines) + "\n"


def _synopsis(title: str, command: Any) -> Iterator[str]:
    usage = command.collect_usage_pieces(typer.Context(command, info_name=title))
    yield rf"\fB{_text(title)}\fR {_text(' '.join(usage))}"


def _parameters(title: str, command: Any, *, everywhere: bool) -> Iterator[str]:
    """Yield the arguments and options; those of every command on the page of the program alone."""
    context = typer.Context(command, info_name=title)
    heading = ".SS Options" if " " in title.removeprefix(PROGRAM).strip() else ".SH OPTIONS"
    shown = [one for one in command.params if everywhere or one.rich_help_panel != APP.EVERYWHERE]
    records = [record for record in (one.get_help_record(context) for one in shown) if record]
    if records:
        yield heading
    for names, what in records:
        yield from (".TP", rf"\fB{_text(names)}\fR", _text(what) or r"\&")


def _paragraphs(text: str | None) -> Iterator[str]:
    for paragraph in (text or "").strip().split("\n\n"):
        yield ".PP"
        yield "\n.br\n".join(_text(line) for line in paragraph.splitlines())


def _text(text: str) -> str:
    """Return a text of the help as roff: without its markup, what roff would take for its own escaped."""
    plain = " ".join(Text.from_markup(text).plain.split())
    escaped = plain.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
