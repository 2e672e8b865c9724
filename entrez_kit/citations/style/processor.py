"""The citation processor: pandoc's citeproc, run as a program of its own on CSL-JSON and a CSL style.

It implements CSL 1.0.2, which the styles are written in, nearly whole. It comes as a wheel, reads and writes pipes and
one temporary file, and runs with ``--sandbox``: no network, no other file.
"""

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from entrez_kit.citations.pandoc import run_pandoc

MARKS: Final = {"Emph": "italic", "Strong": "bold", "Superscript": "sup", "Subscript": "sub"}

MAX_QUOTES: Final = 8
"""Pandoc's time doubles with every quotation mark that is opened and not closed."""
_MASKS: Final = {ord(mark): 0xFDD0 + number for number, mark in enumerate("<‘’“”")}
_TAGS: Final = {ord("<"): _MASKS[ord("<")]}
_UNMASKED: Final = {mask: mark for mark, mask in _MASKS.items()}
"""Code points that no text may hold stand for marks while pandoc is at work."""


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of a formatted citation: text, and how it is set."""

    text: str
    kinds: frozenset[str] = frozenset()


Entry = tuple[Run, ...]


def format_entries(items: Sequence[dict[str, Any]], style: bytes) -> list[Entry]:
    """Return the entry of a reference list for each item, in their order.

    Args:
        items: CSL-JSON; their ids are replaced.
        style: a CSL style as XML. It must neither number nor sort nor compare the entries.

    Raises:
        NotConfigured: there is no pandoc on this machine.
    """
    numbered = [{**_masked(item), "id": f"i{number}"} for number, item in enumerate(items)]
    document = _run(numbered, style)
    entries = {
        block["c"][0][0].removeprefix("ref-"): tuple(
            Run("".join(run.text for run in runs), kinds)
            for kinds, runs in groupby(_runs(block["c"][1], frozenset()), key=attrgetter("kinds"))
        )
        for block in _divisions(document["blocks"])
    }
    return [entries.get(item["id"], ()) for item in numbered]


def _masked(value: Any) -> Any:
    """Hide from pandoc what it would take for markup: text is plain, and twenty tags left open take it two minutes.

    Quotation marks it has to see, to set them as the style wants; more than any title has are hidden too.
    """
    if isinstance(value, str):
        many = value.count("‘") + value.count("“") > MAX_QUOTES
        return value.translate(_MASKS if many else _TAGS)
    if isinstance(value, list):
        return [_masked(part) for part in value]
    return {name: _masked(part) for name, part in value.items()} if isinstance(value, dict) else value


def _divisions(blocks: Iterable[Any]) -> Iterable[Any]:
    for block in blocks:
        if block["t"] == "Div":
            if block["c"][0][0].startswith("ref-"):
                yield block
            else:
                yield from _divisions(block["c"][1])


def _run(items: list[dict[str, Any]], style: bytes) -> Any:
    with tempfile.TemporaryDirectory(prefix="entrez-kit-") as folder:
        path = Path(folder) / "style.csl"
        path.write_bytes(style)
        arguments = (f"--data-dir={folder}", "--citeproc", f"--csl={path}", "--from=csljson", "--to=json")
        return json.loads(run_pandoc(arguments, json.dumps(items, ensure_ascii=False).encode("utf-8", "replace")))


# pandoc's document


def _runs(nodes: Iterable[Any], kinds: frozenset[str]) -> Iterable[Run]:
    for node in nodes:
        tag, content = node["t"], node.get("c")
        if tag == "Str":
            yield Run(content.translate(_UNMASKED), kinds)
        elif tag in ("Space", "SoftBreak", "LineBreak"):
            yield Run(" ", kinds)
        elif tag in MARKS:
            # italics inside italics are upright
            yield from _runs(content, kinds ^ {MARKS[tag]})
        elif tag == "Quoted":
            opening, closing = "“”" if content[0]["t"] == "DoubleQuote" else "‘’"
            yield Run(opening, kinds)
            yield from _runs(content[1], kinds)
            yield Run(closing, kinds)
        elif tag in ("Link", "Span", "Div"):
            yield from _runs(content[1], kinds)
        elif tag in ("Para", "Plain", "SmallCaps", "Underline", "Strikeout"):
            yield from _runs(content, kinds)
        elif tag in ("RawInline", "Code", "Math"):
            yield Run(content[1].translate(_UNMASKED), kinds)
