"""Markdown and Quarto: a list under its heading, footnotes, or the bibliography files that the head names."""

import re
from collections.abc import Iterator
from typing import Final

from entrez_kit.citations.check.written import as_reference, divided, list_part
from entrez_kit.citations.files.reference_files import decoded, kind_of, reference_file
from entrez_kit.citations.files.references import Reference
from entrez_kit.manuscripts.document import Beside, KeyCall, Line, Manuscript
from entrez_kit.model import Warn

_HEAD: Final = re.compile(r"\A---[ \t]*+\n(.*?)\n(?:---|\.\.\.)[ \t]*+(?:\n|\Z)", re.DOTALL)
_BIBLIOGRAPHY: Final = re.compile(r"^bibliography:[ \t]*+(.*(?:\n[ \t]*+-[ \t].*)*)", re.MULTILINE)
_FOOTNOTE: Final = re.compile(r"^\[\^([^\]\s]{1,60})\]:[ \t]*+(.+(?:\n(?:    |\t).+)*)", re.MULTILINE)
_FOOTNOTE_CALL: Final = re.compile(r"\[\^([^\]\s]{1,60})\](?!:)")
_KEY_CALL: Final = re.compile(r"(?<![\w@.])-?@(?:\{([^{}\s]++)\}|([\w][\w:.#$%&\-+?<>~/]*[\w]|\w))")
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]++`", re.DOTALL)
_LINK: Final = re.compile(r"!?\[([^\[\]]*+)\]\(<?([^()\s<>]++)>?[^()]*+\)")
_EMPHASIS: Final = re.compile(r"(?<![\w*])(\*{1,3}|_{1,3})(?=\S)([^*_\n]{1,1000}?)(?<=\S)\1(?![\w*])")
_ESCAPED: Final = re.compile(r"\\([\\`*_{}\[\]()#+.!~<>-])")


def read_markdown(content: bytes, name: str, beside: Beside) -> Manuscript:
    """Read a Markdown file.

    Raises:
        InvalidInput: it is no text, or a bibliography file cannot be read.
    """
    text = decoded(content, name).text.replace("\r\n", "\n")
    prose = _CODE.sub(lambda code: "\n" * code[0].count("\n"), text)
    calls = list(_key_calls(prose))
    head = _HEAD.match(text)
    references, warnings = _of_files(head[1] if head else "", beside, {call.key for call in calls})
    keyed = bool(references or warnings)
    listed, start = list_part(text)
    end = start + len(listed.splitlines())
    lines = text.splitlines()
    if not keyed and start:
        references = [_plain(one) for one in divided(text)]
    if not references and (notes := list(_FOOTNOTE.finditer(text))):
        calls += list(_footnote_calls(prose))
        keyed = True
        references = [
            _plain(as_reference(" ".join(note[2].split()), text.count("\n", 0, note.start()) + 1)).model_copy(
                update={"key": note[1]}
            )
            for note in notes
        ]
    if not references and not keyed:
        references = [_plain(one) for one in divided(text)]
        start, end = 0, len(lines)
    outside = [Line(n, line) for n, line in enumerate(prose.splitlines(), start=1) if not start <= n - 1 < end]
    return Manuscript(references, outside, calls if keyed else (), keyed=keyed, warnings=warnings)


def _plain(reference: Reference) -> Reference:
    """Return a reference without the marks of Markdown; its addresses stay."""
    text = _LINK.sub(r"\1 \2", reference.text or "")
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    made = as_reference(_ESCAPED.sub(r"\1", text), reference.line or 1)
    return made.model_copy(update={"key": reference.key, "number": reference.number})


def _key_calls(text: str) -> Iterator[KeyCall]:
    for match in _KEY_CALL.finditer(text):
        yield KeyCall(match[1] or match[2], text.count("\n", 0, match.start()) + 1, match[0])


def _footnote_calls(text: str) -> Iterator[KeyCall]:
    for match in _FOOTNOTE_CALL.finditer(text):
        yield KeyCall(match[1], text.count("\n", 0, match.start()) + 1, match[0])


def _of_files(head: str, beside: Beside, called: set[str]) -> tuple[list[Reference], list[Warn]]:
    """Return the entries of the files that ``bibliography`` names which the text calls."""
    match = _BIBLIOGRAPHY.search(head)
    words = re.split(r"[\s\[\],\"']", match[1]) if match else []
    names = [word for word in words if word.endswith((".bib", ".bibtex", ".json", ".ris", ".nbib"))]
    references: list[Reference] = []
    warnings: list[Warn] = []
    for name in names:
        content = beside(name)
        if content is None:
            warnings.append(Warn(code="file_missing", message=f"{name} does not stand beside the manuscript."))
            continue
        text = decoded(content, name).text
        found = reference_file(text, name, kind_of(text, name, f".{name.rpartition('.')[2]}"))
        warnings += found.warnings
        references += [one for one in found.references if one.key in called or re.search(r"nocite:.*@\*", head, re.S)]
    return references, warnings
