"""Read Markdown and Quarto: a list under its heading, footnotes, or the bibliography files in the front matter."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from entrez_kit.core.model import Warn
from entrez_kit.references.check.pasted.pasted_lists import (
    PastedList,
    build_reference,
    looks_written_out,
    read_list,
    split_references,
)
from entrez_kit.references.files.reference_files import decode_file
from entrez_kit.references.files.references import Reference
from entrez_kit.references.manuscripts.document import (
    Beside,
    KeyCall,
    Line,
    LineNumbers,
    Manuscript,
    list_cited_entries,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

KEY: Final = re.compile(r"(?<![\w@.])-?@(?:\{([^{}\s]++)\}|(\w[\w:.#$%&\-+?<>~/]*\w|\w))")
"""A pandoc citation by key, with or without braces."""
PROJECT: Final = "_quarto.yml"
"""The project file with settings for all texts in its folder."""
_HEAD: Final = re.compile(r"\A---[ \t]*+\n(.*?)\n(?:---|\.\.\.)[ \t]*+(?:\n|\Z)", re.DOTALL)
_HEADING: Final = re.compile(r"^#{1,6} ", re.MULTILINE)
_BIBLIOGRAPHY: Final = re.compile(r"^bibliography:[ \t]*+(.*(?:\n[ \t]*+-[ \t].*)*)", re.MULTILINE)
_FOOTNOTE: Final = re.compile(r"^\[\^([^\]\s]{1,60})\]:[ \t]*+(.+(?:\n(?:    |\t).+)*)", re.MULTILINE)
_NOTE: Final = re.compile(r"^\[\^", re.MULTILINE)
_FOOTNOTE_CALL: Final = re.compile(r"\[\^([^\]\s]{1,60})\](?!:)")
MIN_CELL: Final = 4
"""Minimum words of a cell of a table that is text."""
_MAY_CITE: Final = re.compile(r"[\[@<]|\bPM(?:C)?(?:ID)?:? ?[0-9]|\b10\.[0-9]{4}")
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]++`", re.DOTALL)
_NAMED_YEAR: Final = re.compile(
    r"\[?[0-9,;\s–-]+\]?|[^\W\d_].{0,80}\b(?:19|20)[0-9]{2}[a-z]?\)?|PMC?(?:ID)?:?\s*[0-9]+"
)
"""The text of a link that is a citation, not a part of the sentence."""


def read_markdown(content: bytes, name: str, beside: Beside, *, has_text: bool = False) -> Manuscript:
    """Read a Markdown file.

    A file without a list is a list itself, unless it ``has_text``, or it has headings or front matter and less than
    half of its entries look like references.

    Raises:
        InvalidInput: the file is binary, or a bibliography file cannot be read.
    """
    text = decode_file(content, name).text.replace("\r\n", "\n")
    prose = _CODE.sub(lambda code: "\n" * code[0].count("\n"), text)
    calls = list(_yield_calls(KEY, prose))
    references, warnings = read_named_references(text, beside)
    keyed = bool(references)
    own = read_own_list(text)
    lines = own.lines
    if not references:
        references, warnings = own.references, [*warnings, *own.warnings]
    if not references and (references := read_footnotes(text)):
        calls += _yield_calls(_FOOTNOTE_CALL, prose)
        keyed = True
    if not references and not has_text and not warnings and _is_list(text):
        own = _strip_list_markup(read_list(text))
        references, lines, warnings = own.references, own.lines, [*own.warnings]
    keyed = keyed or (not references and bool(calls))
    outside = [Line(n, line) for n, line in enumerate(prose.splitlines(), start=1) if n not in lines]
    return Manuscript(references, outside, calls if keyed else (), keyed=keyed, warnings=warnings)


def _is_list(text: str) -> bool:
    """Return true if a text without a references heading is itself a list."""
    if not (_HEAD.match(text) or _HEADING.search(text)):
        return True
    entries = split_references(_HEAD.sub("", text))
    return sum(map(looks_written_out, entries)) * 2 >= sum(not _HEADING.match(entry.text or "") for entry in entries)


def read_own_list(text: str) -> PastedList:
    """Return the references under the heading of a list; an empty list if the text has no heading."""
    pasted = read_list(text)
    return _strip_list_markup(pasted) if pasted.has_heading else PastedList([], range(0))


def _strip_list_markup(pasted: PastedList) -> PastedList:
    return replace(pasted, references=[_remove_syntax(reference) for reference in pasted.references])


def read_footnotes(text: str) -> list[Reference]:
    """Return footnotes as references, with their names as keys."""
    lines = LineNumbers(text)
    return [
        _remove_syntax(build_reference(" ".join(note[2].split()), lines.find(note.start()), key=note[1]))
        for note in _FOOTNOTE.finditer(text)
    ]


def _remove_syntax(reference: Reference) -> Reference:
    """Return a reference without Markdown syntax, but with the targets of links."""
    (line,) = _get_parser().parseInline(reference.text or "")
    plain_reference = build_reference("".join(_yield_text(line.children or (), all_words=True)), reference.line or 1)
    return plain_reference.model_copy(update={"key": reference.key, "number": reference.number})


def _yield_calls(pattern: re.Pattern[str], text: str) -> Iterator[KeyCall]:
    lines = LineNumbers(text)
    for match in pattern.finditer(text):
        key = next(filter(None, match.groups()))
        yield KeyCall(key, lines.find(match.start()), match[0])


def read_named_references(text: str, beside: Beside) -> tuple[list[Reference], list[Warn]]:
    """Return the cited entries of the files named in the front matter, and warnings about these files.

    Raises:
        InvalidInput: one of the files cannot be read.
    """
    head = match[1] if (match := _HEAD.match(text)) else ""
    called = {call.key for call in _yield_calls(KEY, text)}
    match = _BIBLIOGRAPHY.search(head)
    if match is None and called and (project := beside(PROJECT)):
        match = _BIBLIOGRAPHY.search(decode_file(project, PROJECT).text.replace("\r\n", "\n"))
    words = re.split(r"[\s\[\],\"']", match[1]) if match else []
    names = [word for word in words if word.endswith((".bib", ".bibtex", ".json", ".ris", ".nbib"))]
    return list_cited_entries(names, beside, None if "@*" in head.partition("nocite:")[2] else called)


def iter_paragraphs(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield paragraphs with their first line and whether they are quotations, without code, headings, front matter."""
    # The front matter is replaced by empty lines, so that line numbers stay correct.
    text = _HEAD.sub(lambda match: "\n" * match[0].count("\n"), text.replace("\r\n", "\n"))
    text = _NOTE.sub(r"\[^", text)  # or a footnote of one word would be parsed as a link definition
    tokens = _get_parser().parse(text)
    depth = 0
    cells: list[str] = []
    for before, token in pairwise(tokens):
        depth += {"blockquote_open": 1, "blockquote_close": -1}.get(before.type, 0)
        if token.type == "inline" and before.type in ("td_open", "th_open"):
            cells.append("".join(_yield_text(token.children or ())))
        elif token.type == "inline" and before.type != "heading_open":
            line = (token.map or before.map or [0])[0] + 1
            yield line, "".join(_yield_text(token.children or ())), depth > 0
        elif token.type == "tr_open":
            row_line, cells = (token.map or [0])[0] + 1, []
        elif token.type == "tr_close":
            yield from ((row_line, text, depth > 0) for text in _join_cells(cells))


def _join_cells(cells: Sequence[str]) -> list[str]:
    """Return the cells of a table row that are text, each with the short cells: a citation can have its own column."""
    texts = [cell for cell in cells if len(cell.split()) >= MIN_CELL]
    short = " ".join(cell for cell in cells if cell and len(cell.split()) < MIN_CELL and _MAY_CITE.search(cell))
    return [f"{text} {short}".strip() for text in texts]


def _yield_text(tokens: Iterable[Any], *, all_words: bool = False) -> Iterator[str]:
    """Yield the text of a paragraph, with the target of a link after its text.

    The text of a link that is a citation is omitted, unless ``all_words`` is true.
    """
    words: list[str] = []
    target = ""
    for token in tokens:
        if token.type == "link_open":
            yield "".join(words)
            words, target = [], str(token.attrs.get("href", ""))
        elif token.type == "link_close":
            linked = "".join(words)
            cites = linked == target or (not all_words and _NAMED_YEAR.fullmatch(linked))
            yield f"<{target}>" if cites else f"{linked} <{target}>"
            words = []
        elif token.type in ("softbreak", "hardbreak"):
            words.append("\n")
        elif token.type in ("text", "code_inline"):
            words.append(token.content)
    yield "".join(words)


@cache
def _get_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": 50}).enable("table")
