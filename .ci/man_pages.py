"""Return the manual pages, one for each command, from the text of `--help`."""

import re
from collections.abc import Iterator
from typing import Any, Final

import typer
from rich.text import Text

from entrez_kit.base import __version__
from entrez_kit.commands import _app, _options, load_command
from entrez_kit.guides import read_guide

PROGRAM: Final = "entrez-kit"
STATUSES: Final = re.findall(r"^\| (\d+) \| (.*) \|$", read_guide("exit-codes").text, re.MULTILINE)


def man_pages() -> dict[str, str]:
    """Return the pages by the names of their files."""
    program = _app.build()
    names = list(_app.COMMANDS)
    pages = {f"{PROGRAM}.1": _write_page(PROGRAM, program, "search and read PubMed and NCBI Gene", names)}
    for name in names:
        pages[f"{PROGRAM}-{name}.1"] = _write_page(f"{PROGRAM} {name}", load_command(name), _app.COMMANDS[name][0], [])
    return pages


def _write_page(title: str, command: Any, line: str, listed: list[str]) -> str:
    name = title.replace(" ", "-")
    lines = [f'.TH "{_escape(name.upper())}" 1 "" "{PROGRAM} {__version__}" "User Commands"', ".ad l"]
    lines += [".SH NAME", _escape(f"{name} - {line[0].lower()}{line[1:].rstrip('.')}")]
    lines += [".SH SYNOPSIS", *_write_synopsis(title, command)]
    lines += [".SH DESCRIPTION", *_write_paragraphs(command.help)]
    if listed:
        lines.append(".SH COMMANDS")
        for one in listed:
            lines += [".TP", rf"\fB{_escape(f'{name}-{one}')}\fR(1)", _escape(_app.COMMANDS[one][0])]
    lines += _write_parameters(title, command, everywhere=bool(listed))
    for inner in getattr(command, "commands", {}).values() if not listed else ():
        lines += [
            f'.SH "{_escape(f"{title} {inner.name}".upper())}"',
            *_write_synopsis(f"{title} {inner.name}", inner),
            ".PP",
        ]
        lines += [*_write_paragraphs(inner.help), *_write_parameters(f"{title} {inner.name}", inner, everywhere=False)]
    lines += [".SH EXIT STATUS"]
    for status, meaning in STATUSES:
        lines += [".TP", rf"\fB{status}\fR", _escape(f"{meaning}.")]
    others = [f"{PROGRAM}-guide"] if listed else [PROGRAM, f"{PROGRAM}-guide"]
    lines += [".SH SEE ALSO", ", ".join(rf"\fB{_escape(other)}\fR(1)" for other in others if other != name)]
    return "\n".join(lines) + "\n"


def _write_synopsis(title: str, command: Any) -> Iterator[str]:
    usage = command.collect_usage_pieces(typer.Context(command, info_name=title))
    yield rf"\fB{_escape(title)}\fR {_escape(' '.join(usage))}"


def _write_parameters(title: str, command: Any, *, everywhere: bool) -> Iterator[str]:
    """Yield the arguments and options; only the page of the program has the options of every command."""
    context = typer.Context(command, info_name=title)
    heading = ".SS Options" if " " in title.removeprefix(PROGRAM).strip() else ".SH OPTIONS"
    shown = [param for param in command.params if everywhere or param.rich_help_panel != _options.EVERYWHERE]
    records = [record for record in (one.get_help_record(context) for one in shown) if record]
    if records:
        yield heading
    for names, what in records:
        yield from (".TP", rf"\fB{_escape(names)}\fR", _escape(what) or r"\&")


def _write_paragraphs(text: str | None) -> Iterator[str]:
    for paragraph in (text or "").strip().split("\n\n"):
        yield ".PP"
        yield "\n.br\n".join(_escape(line) for line in paragraph.splitlines())


def _escape(text: str) -> str:
    """Return a help text as roff: without markup, and with the special characters of roff escaped."""
    plain = " ".join(Text.from_markup(text).plain.split())
    escaped = plain.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
