"""Run pandoc in a subprocess to format citations and to convert Markdown to HTML or Word documents.

Pandoc is installed as a wheel, reads and writes pipes, and runs with ``--sandbox``, without network or access to other
files. Its citeproc implements nearly all of CSL 1.0.2, the language of the styles.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from entrez_kit.base.errors import EntrezKitError, NotConfigured, describe_os_error
from entrez_kit.base.extras import install_line, missing_extra

TIMEOUT_S: Final = 120
MARKS: Final = {"Emph": "italic", "Strong": "bold", "Superscript": "sup", "Subscript": "sub"}

MAX_QUOTES: Final = 8
"""Pandoc's time doubles with each opening quotation mark that is not closed."""
_MASKS: Final = {ord(mark): 0xFDD0 + number for number, mark in enumerate("<‘’“”")}
_TAGS: Final = {ord("<"): _MASKS[ord("<")]}
_UNMASKED: Final = {mask: mark for mark, mask in _MASKS.items()}
"""Noncharacters that replace these marks while pandoc runs."""

_STYLE: Final = (
    b"<style>blockquote { padding: .5em 1em; border-left: .4em solid #b00020; background: #fdecef; }\n"
    b'* { mso-number-format: "\\@"; }</style>'
)
"""A banner, e.g. of a retraction, is a block quote in Markdown. Excel reads the second rule: all cells are text."""
_NOT_TEXT: Final = frozenset(("RawInline", "RawBlock", "Image"))
MIN_COLUMN: Final = 8
MAX_COLUMN: Final = 60
"""Bounds of the width of a table's column, in characters, before widths are made relative."""


def run_pandoc(arguments: Sequence[str], content: bytes) -> bytes:
    """Run pandoc with content on stdin and return its output.

    Raises:
        NotConfigured: pandoc is not installed.
        EntrezKitError: pandoc failed, or exceeded the time limit.
    """
    try:
        done = subprocess.run(
            [str(find_pandoc()), "--sandbox", *arguments],
            input=content,
            capture_output=True,
            env=None if sys.platform == "win32" else {},  # it needs no environment variables, which may contain keys
            timeout=TIMEOUT_S,
            check=False,
        )
    except OSError as exc:
        raise NotConfigured(
            f"The citation processor cannot be run: {describe_os_error(exc)}.",
            recovery_hint=f"Run: {install_line('cite')}",
            details={"reason": "no_citation_processor"},
        ) from None
    except subprocess.TimeoutExpired:
        raise _processor_error(f"it did not finish within {TIMEOUT_S} s") from None
    if done.returncode != 0:
        raise _processor_error(done.stderr.decode("utf-8", "replace").strip()[:500] or f"status {done.returncode}")
    return done.stdout


@lru_cache(maxsize=1)
def find_pandoc() -> Path:
    """Return the pandoc installed as a wheel, or else the one in PATH.

    Raises:
        NotConfigured: pandoc is not installed.
    """
    import shutil
    from importlib.util import find_spec

    wheel = find_spec("pypandoc")
    for folder in wheel.submodule_search_locations or () if wheel is not None else ():
        for name in ("pandoc", "pandoc.exe"):
            bundled = Path(folder) / "files" / name
            if bundled.is_file():
                return bundled
    path = shutil.which("pandoc")
    if not path:
        raise missing_extra("cite", "A citation in a style, or a document for a word processor,")
    return Path(path)


def _processor_error(why: str) -> EntrezKitError:
    return EntrezKitError(f"The citation processor failed: {why}", details={"reason": "citation_processor"})


def convert_markdown(text: str, form: str, title: str, name: str = "entrez-kit") -> bytes:
    """Convert Markdown to a standalone HTML page or Word document that loads no other files.

    Args:
        text: CommonMark with tables; raw HTML, pictures, and links that are not http(s) are removed.
        form: html or docx.
        title: the title of the document; "" for its first heading.
        name: the title of a document without headings.

    Raises:
        NotConfigured: pandoc is not installed.
    """
    tree = json.loads(run_pandoc(("--from=commonmark+pipe_tables", "--to=json"), text.encode("utf-8", "replace")))
    tree["blocks"] = _remove_active_content(tree["blocks"])
    if form == "docx":  # word processors give all columns the same width otherwise
        for block in tree["blocks"]:
            if block["t"] == "Table":
                _set_widths(block["c"])
    headers = [block["c"] for block in tree["blocks"] if block["t"] == "Header"]
    headings = [(rank, "".join(run.text for run in _read_runs(words))) for rank, _, words in headers]
    first, *others = [words for rank, words in headings if rank == min(headings)[0]] or [name]
    title = " ".join(title.split()) or (f"{first.rstrip('.')} and {len(others)} more" if others else first)
    arguments = ["--from=json", f"--to={form}", "--standalone", f"--metadata=pagetitle:{title}"]
    content = run_pandoc([*arguments, "--output=-"], json.dumps(tree).encode())
    return content.replace(b"</head>", _STYLE + b"\n</head>", 1) if form == "html" else content


def _set_widths(table: list[Any]) -> None:
    """Set the widths of the columns in proportion to their longest texts; the table is as wide as the page."""
    _, _, columns, head, bodies, _ = table
    rows = [*head[1], *(row for body in bodies for row in (*body[2], *body[3]))]
    lengths = [MIN_COLUMN] * len(columns)
    for _, cells in rows:
        for place, cell in enumerate(cells[: len(columns)]):
            lengths[place] = max(lengths[place], min(_count_letters(cell), MAX_COLUMN))
    for column, length in zip(columns, lengths, strict=True):
        column[1] = {"t": "ColWidth", "c": length / sum(lengths)}


def _count_letters(node: Any) -> int:
    """Return the number of characters in a part of a document."""
    if isinstance(node, list):
        return sum(map(_count_letters, node))
    if not isinstance(node, dict):
        return 0
    if node.get("t") in ("Str", "Code"):
        return len(node["c"] if isinstance(node["c"], str) else node["c"][-1])
    return _count_letters(node["c"]) if "c" in node else 1


def _remove_active_content(node: Any) -> Any:
    """Remove raw HTML, pictures, and links that are not http(s)."""
    if isinstance(node, list):
        return [
            _remove_active_content(child)
            for child in node
            if not (isinstance(child, dict) and child.get("t") in _NOT_TEXT)
        ]
    if not isinstance(node, dict):
        return node
    if node.get("t") == "Link" and not node["c"][2][0].startswith(("https://", "http://")):
        return {"t": "Span", "c": [node["c"][0], _remove_active_content(node["c"][1])]}
    return {name: _remove_active_content(value) for name, value in node.items()}


# Citations


@dataclass(frozen=True, slots=True)
class FormattedRun:
    """A piece of a formatted citation: its text and formatting."""

    text: str
    kinds: frozenset[str] = frozenset()


FormattedEntry = tuple[FormattedRun, ...]


def format_entries(items: Sequence[dict[str, Any]], style: bytes) -> list[FormattedEntry]:
    """Return the entry of a reference list for each item, in their order.

    Args:
        items: CSL-JSON; their ids are replaced.
        style: a CSL style as XML, which must not number, sort or compare the entries.

    Raises:
        NotConfigured: pandoc is not installed.
    """
    numbered = [{**_mask(item), "id": f"i{number}"} for number, item in enumerate(items)]
    with tempfile.TemporaryDirectory(prefix="entrez-kit-") as folder:
        path = Path(folder) / "style.csl"
        path.write_bytes(style)
        arguments = (f"--data-dir={folder}", "--citeproc", f"--csl={path}", "--from=csljson", "--to=json")
        document = json.loads(
            run_pandoc(arguments, json.dumps(numbered, ensure_ascii=False).encode("utf-8", "replace"))
        )
    entries = {
        block["c"][0][0].removeprefix("ref-"): tuple(
            FormattedRun("".join(run.text for run in runs), kinds)
            for kinds, runs in groupby(_read_runs(block["c"][1]), key=attrgetter("kinds"))
        )
        for block in _find_entries(document["blocks"])
    }
    return [entries.get(item["id"], ()) for item in numbered]


def _mask(value: Any) -> Any:
    """Mask characters that pandoc would read as markup: twenty unclosed tags take it two minutes.

    Quotation marks stay, because the style formats them; they are masked if there are more than in any real title.
    """
    if isinstance(value, str):
        many = value.count("‘") + value.count("“") > MAX_QUOTES
        return value.translate(_MASKS if many else _TAGS)
    if isinstance(value, list):
        return [_mask(part) for part in value]
    return {name: _mask(part) for name, part in value.items()} if isinstance(value, dict) else value


def _find_entries(blocks: Iterable[Any]) -> Iterable[Any]:
    for block in blocks:
        if block["t"] == "Div":
            if block["c"][0][0].startswith("ref-"):
                yield block
            else:
                yield from _find_entries(block["c"][1])


def _read_runs(nodes: Iterable[Any], kinds: frozenset[str] = frozenset()) -> Iterable[FormattedRun]:
    for node in nodes:
        tag, content = node["t"], node.get("c")
        if tag == "Str":
            yield FormattedRun(content.translate(_UNMASKED), kinds)
        elif tag in ("Space", "SoftBreak", "LineBreak"):
            yield FormattedRun(" ", kinds)
        elif tag in MARKS:
            # italics inside italics are upright
            yield from _read_runs(content, kinds ^ {MARKS[tag]})
        elif tag == "Quoted":
            opening, closing = "“”" if content[0]["t"] == "DoubleQuote" else "‘’"
            yield FormattedRun(opening, kinds)
            yield from _read_runs(content[1], kinds)
            yield FormattedRun(closing, kinds)
        elif tag in ("Link", "Span", "Div"):
            yield from _read_runs(content[1], kinds)
        elif tag in ("Para", "Plain", "SmallCaps", "Underline", "Strikeout"):
            yield from _read_runs(content, kinds)
        elif tag in ("RawInline", "Code", "Math"):
            yield FormattedRun(content[1].translate(_UNMASKED), kinds)
