"""Read Word documents: the typed bibliography, and the records that Zotero, Mendeley and EndNote store in fields.

The project has its own reader because libraries neither return field codes nor limit the size of unpacked data.
"""

import base64
import binascii
import html
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final

from entrez_kit.base.frontend_text import cut_end
from entrez_kit.pubmed.comparison import fold_text
from entrez_kit.references.check.pasted.find_lists import END_OF_LIST, HEADING, looks_like_list
from entrez_kit.references.check.pasted.pasted_lists import build_reference, build_references, split_references
from entrez_kit.references.files.read_csl_json import read_csl_item
from entrez_kit.references.files.read_endnote import read_endnote_record
from entrez_kit.references.files.references import Reference, unreadable_error
from entrez_kit.references.manuscripts.document import KeyCall, Line, Manuscript, too_large_error

MAX_PART: Final = 64 * 1024 * 1024
"""Maximum bytes of one unpacked part. A book of a thousand pages has about ten million."""
MAX_MEMBERS: Final = 20_000
MAX_PARAGRAPHS: Final = 500_000
MAX_KEY: Final = 60
MAX_FIELD: Final = 4 * 1024 * 1024
MAX_RUNS: Final = 500
"""Maximum runs of text in a citation."""
MAX_WORDS: Final = 60
"""Maximum words of a title to compare."""
_DOI: Final = re.compile(r"\b10\.[0-9]{4,9}/\S++")
W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LISTED: Final = re.compile(
    r"ADDIN\s+(?:ZOTERO_BIBL|Mendeley Bibliography|EN\.REFLIST)|CSL_BIBLIOGRAPHY", re.IGNORECASE
)
_LIST_STYLE: Final = re.compile(r"bibliograph|^references?$|literaturverzeichnis|endnotebibliography", re.IGNORECASE)
_HEADING_STYLE: Final = re.compile(r"^(?:heading|title|überschrift|titre|titolo|kop)\s*[0-9]?", re.IGNORECASE)
_MENDELEY: Final = re.compile(r"MENDELEY_CITATION_v[0-9]+_([A-Za-z0-9+/=]+)")
"""A citation of Mendeley Cite, stored in the tag of a content control."""
_CALLED: Final = re.compile(r"[0-9]+(?:[\s,–−-]+[0-9]+)*")
_UP: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹", " ")
_COUNT: Final = re.compile(r"[\[(]?([0-9]{1,4})[\])]?[.)]?")
"""The number of a reference, alone in a cell of a table."""
_ELSEWHERE: Final = (f"{W}moveFrom", "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback")
"""Elements that duplicate other text: moved text, and the version of a text box for older programs."""
_ENDNOTE: Final = ("<EndNote>", "</EndNote>")


@dataclass(slots=True)
class _Paragraph:
    """A paragraph: its text; whether it is a heading, in a bibliography style, or written by a reference manager.

    ``lines`` has the parts of the text that line breaks separate.
    """

    number: int
    text: str
    lines: list[str] = field(default_factory=list)
    heading: bool = False
    listed: bool = False
    generated: bool = False
    note: bool = False
    item: int | None = None


@dataclass(slots=True)
class _Field:
    """An open field: its code so far, its data, and the position of its result in the texts of the document.

    ``listed`` is whether its result is a bibliography.
    """

    code: list[str] = field(default_factory=list)
    data: list[str] = field(default_factory=list)
    start: int | None = None
    listed: bool = False


@dataclass(slots=True)
class _DocxReader:
    """Reads the paragraphs, records and citations of the parts of a document."""

    name: str
    paragraphs: list[_Paragraph] = field(default_factory=list)
    records: dict[str, Reference] = field(default_factory=dict)
    calls: list[KeyCall] = field(default_factory=list)
    _fields: list[_Field] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)
    _lists: int = 0
    _numbering: dict[str, int] = field(default_factory=dict)

    def read_part(self, root: Any, *, notes: bool = False) -> None:
        """Read one part: the body, or the footnotes or endnotes."""
        self._fields, self._texts, self._lists = [], [], 0
        for element in root.iter(f"{W}p", f"{W}tag"):
            if element.tag == f"{W}tag":
                tag = str(element.get(f"{W}val") or "")
                if len(tag) <= MAX_FIELD and (match := _MENDELEY.match(tag)):
                    self._read_csl(_find_json(_decode_base64(match[1])), len(self.paragraphs) + 1, "")
                continue
            if next(element.iterancestors(f"{W}p"), None) is not None:  # in a text box: read with the outer paragraph
                continue
            if len(self.paragraphs) >= MAX_PARAGRAPHS:
                raise too_large_error(self.name, "its text")
            paragraph = self._read_paragraph(element)
            if paragraph.text or not notes:
                paragraph.note = notes
                self.paragraphs.append(paragraph)

    def _read_paragraph(self, element: Any) -> _Paragraph:
        number = len(self.paragraphs) + 1
        paragraph = _Paragraph(number, "")
        properties = element.find(f"{W}pPr")
        if properties is not None:
            style = properties.find(f"{W}pStyle")
            named = str(style.get(f"{W}val") or "") if style is not None else ""
            outline = properties.find(f"{W}outlineLvl")
            paragraph.heading = bool(_HEADING_STYLE.match(named)) or outline is not None
            paragraph.listed = bool(_LIST_STYLE.search(named))
            paragraph.item = self._count_item(properties)
        parts: list[str] = []
        generated = False
        for node in _iter_elements(element):
            self._read_node(node, parts, number)
            if node.tag in (f"{W}p", f"{W}t"):
                generated = generated or self._lists > 0
        lines = [" ".join(line.split()) for line in "".join(parts).split("\n")]
        paragraph.lines = [line for line in lines if line]
        paragraph.text = " ".join(paragraph.lines)
        paragraph.generated = generated and bool(paragraph.text)
        return paragraph

    def _count_item(self, properties: Any) -> int | None:
        numbering = properties.find(f"{W}numPr/{W}numId")
        if numbering is None or properties.find(f"{W}rPr/{W}del") is not None:
            return None
        which = str(numbering.get(f"{W}val"))
        self._numbering[which] = self._numbering.get(which, 0) + 1
        return self._numbering[which]

    def _read_node(self, node: Any, parts: list[str], number: int) -> None:
        match str(node.tag).removeprefix(W):
            case "t":
                parts.append(_read_run(node))
                self._texts.append(node.text or "")
            case "tab":
                parts.append(" ")
            case "br" | "cr":
                parts.append("\n")
            case "noBreakHyphen":
                parts.append("-")
            case "instrText" if self._fields:
                self._fields[-1].code.append(node.text or "")
            case "fldData" if self._fields:
                self._fields[-1].data.append(node.text or "")
            case "fldSimple":
                text = "".join(str(inner.text or "") for inner in node.iter(f"{W}t"))
                self._read_field(_Field([str(node.get(f"{W}instr") or "")]), [text], number)
            case "fldChar" if node.get(f"{W}fldCharType") == "begin":
                self._fields.append(_Field())
            case "fldChar" if self._fields and node.get(f"{W}fldCharType") == "separate":
                self._begin_result(self._fields[-1])
            case "fldChar" if self._fields and node.get(f"{W}fldCharType") == "end":
                self._end_field(self._fields.pop(), number)

    def _begin_result(self, one: _Field) -> None:
        if one.start is None:
            one.start = len(self._texts)
            one.listed = _LISTED.search("".join(one.code)) is not None
            self._lists += one.listed

    def _end_field(self, one: _Field, number: int) -> None:
        self._lists -= one.listed
        start = len(self._texts) if one.start is None else one.start
        self._read_field(one, self._texts[start : start + MAX_RUNS], number)

    # Records of reference managers

    def _read_field(self, one: _Field, result: Sequence[str], number: int) -> None:
        """Read the records of a complete field."""
        code = "".join(one.code)
        if len(code) > MAX_FIELD:
            raise too_large_error(self.name, "a field in it")
        display_text = " ".join("".join(result).split())
        if "CSL_CITATION" in code and "{" in code:
            self._read_csl(_find_json(code), number, display_text)
        elif "EN.CITE" in code:
            data = "".join("".join(one.data).split())
            texts = [html.unescape(code) if "&lt;" in code else code, _decode_base64(data)]
            for text in texts:
                begin, end = text.find(_ENDNOTE[0]), text.rfind(_ENDNOTE[1])
                if 0 <= begin < end:
                    self._read_endnote(text[begin : end + len(_ENDNOTE[1])], number, display_text)

    def _read_csl(self, document: Any, number: int, display_text: str) -> None:
        items = document.get("citationItems") if isinstance(document, dict) else None
        for item in items if isinstance(items, list) else ():
            data = item.get("itemData") if isinstance(item, dict) else None
            if not isinstance(data, dict):
                continue
            key = str(data.get("DOI") or data.get("id") or item.get("id") or data.get("title") or len(self.records))
            if key not in self.records and not {"type", "title", "DOI", "PMID"} & set(data):
                self.records[key] = Reference(key=key, text="")
            elif key not in self.records:
                reference = read_csl_item(1, data)
                named = str(data.get("citation-key") or "") or reference.title or reference.key
                self.records[key] = reference.model_copy(update={"key": cut_end(named, MAX_KEY)})
            self.calls.append(KeyCall(self.records[key].key, number, display_text))

    def _read_endnote(self, text: str, number: int, display_text: str) -> None:
        for record in _parse_xml(text.encode(), self.name).iter("record"):
            reference = read_endnote_record(record, len(self.records) + 1)
            key = reference.doi or reference.title or reference.key
            known = self.records.setdefault(
                key, reference.model_copy(update={"key": cut_end(reference.title or key, MAX_KEY)})
            )
            self.calls.append(KeyCall(known.key, number, display_text))


def read_docx(content: bytes, name: str) -> Manuscript:
    """Read the references of a Word document: the records in its fields, then the typed references under its heading.

    Raises:
        InvalidInput: the file is not a Word document, or exceeds a limit.
    """
    reader = _DocxReader(name)
    for part, root in _yield_parts(content, name):
        reader.read_part(root, notes=part != "word/document.xml")
    found = _merge_numbers(_find_list([paragraph for paragraph in reader.paragraphs if not paragraph.note]))
    listed = [row for paragraph in found for row in _split_lines(paragraph)]
    notes = [paragraph for paragraph in reader.paragraphs if paragraph.note and paragraph.text]
    if not listed and not reader.records and notes:  # the references are footnotes or endnotes
        references = [
            build_reference(note.text, note.number, number=str(n), where="paragraph") for n, note in enumerate(notes, 1)
        ]
        return Manuscript(
            references,
            calls=[KeyCall(reference.key, reference.line or 0, "") for reference in references],
            keyed=True,
            counts="paragraph",
        )
    # A bibliography written by a reference manager duplicates its records.
    list_paragraphs = [paragraph for paragraph in listed if paragraph.generated] or listed
    records = _Records(reader.records.values())
    list_numbers = {paragraph.number for paragraph in list_paragraphs}
    typed = [
        paragraph for paragraph in listed if paragraph.number not in list_numbers or not records.have(paragraph.text)
    ]
    references = list(reader.records.values())
    references += [
        reference
        for paragraph in typed
        for reference in build_references(
            paragraph.text, paragraph.number, number=str(paragraph.item) if paragraph.item else None, where="paragraph"
        )
    ]
    numbers = {paragraph.number for paragraph in listed}
    text = [
        Line(paragraph.number, paragraph.text)
        for paragraph in reader.paragraphs
        if paragraph.text and paragraph.number not in numbers
    ]
    return Manuscript(references, text, reader.calls, keyed=bool(reader.records) and not typed, counts="paragraph")


def read_docx_lines(content: bytes, name: str) -> list[str]:
    """Read the body of a Word document as lines: each paragraph, and each row of a table with tabs between its cells.

    Raises:
        InvalidInput: the file is not a Word document, or exceeds a limit.
    """
    root = next(root for part, root in _yield_parts(content, name) if part == "word/document.xml")
    body = root.find(f"{W}body")
    lines: list[str] = []
    for element in body if body is not None else ():
        if element.tag == f"{W}tbl":
            for row in element.iter(f"{W}tr"):
                lines.append("\t".join(" ".join(_read_text(cell).split()) for cell in row.iter(f"{W}tc")))
        else:
            lines += [_read_text(paragraph) for paragraph in element.iter(f"{W}p")]
    return lines


def _read_text(element: Any) -> str:
    """Return the text of an element; tabs and line breaks are kept, deleted text is not."""
    pieces: list[str] = []
    for inner in _iter_elements(element):
        if inner.tag == f"{W}t":
            pieces.append(str(inner.text or ""))
        elif inner.tag in (f"{W}tab", f"{W}br", f"{W}cr"):
            pieces.append("\t" if inner.tag == f"{W}tab" else "\n")
        elif inner.tag == f"{W}noBreakHyphen":
            pieces.append("-")
    return "".join(pieces)


def _yield_parts(content: bytes, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the parts that contain text.

    Raises:
        InvalidInput: the file is not a Word document, or a part of it is too large.
    """
    if not content:
        raise unreadable_error(name, "it is empty")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as package:
            if len(package.infolist()) > MAX_MEMBERS:
                raise too_large_error(name, "the number of its parts")
            members = set(package.namelist())
            if "word/document.xml" not in members:
                raise unreadable_error(name, "this is not a Word document (.docx)")
            for part in ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml"):
                if part in members:
                    with package.open(part) as packed:
                        unpacked = packed.read(MAX_PART + 1)
                    if len(unpacked) > MAX_PART:
                        raise too_large_error(name, "its text")
                    yield part, _parse_xml(unpacked, name)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError) as exc:
        reason = "it is encrypted" if "password" in str(exc) else "the file is damaged, or not a .docx file"
        raise unreadable_error(name, f"this Word document cannot be opened: {reason}") from None


def _parse_xml(content: bytes, name: str) -> Any:
    """Parse XML without network access, DTD and entities.

    Raises:
        InvalidInput: the XML is not well-formed, or has a DTD, which Word never writes.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as exc:
        raise unreadable_error(name, f"its XML is not well-formed: {str(exc)[:100]}") from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise unreadable_error(name, "its XML has a DTD, but Word does not write DTDs")
    return root


def _find_list(paragraphs: list[_Paragraph]) -> list[_Paragraph]:
    """Return the paragraphs of the list: those under its heading, or those in a bibliography field or style."""
    list_paragraphs = [
        paragraph
        for paragraph in paragraphs
        if paragraph.text and (paragraph.generated or paragraph.listed) and not HEADING.fullmatch(paragraph.text)
    ]
    heads = [n for n, paragraph in enumerate(paragraphs) if _ends_part(paragraph)]
    last = max((n for n in heads if HEADING.fullmatch(paragraphs[n].text)), default=None)
    under: list[_Paragraph] = []
    is_behind_list = False
    for head, after in pairwise([*heads, len(paragraphs)]):
        part = [paragraph for paragraph in paragraphs[head + 1 : after] if paragraph.text]
        has_heading = HEADING.fullmatch(paragraphs[head].text) is not None
        is_behind_list = is_behind_list or has_heading
        lines = [line for paragraph in part for line in paragraph.lines]
        if head == last or (is_behind_list and looks_like_list(lines, at_once=not has_heading)):
            under += part
    return under if len(under) >= len(list_paragraphs) else list_paragraphs


def _ends_part(paragraph: _Paragraph) -> bool:
    """Return whether a paragraph is the heading of a list, or another heading or part."""
    if HEADING.fullmatch(paragraph.text):
        return True
    return (
        bool(paragraph.text)
        and not paragraph.generated
        and (paragraph.heading or END_OF_LIST.match(paragraph.text) is not None)
    )


def _split_lines(paragraph: _Paragraph) -> list[_Paragraph]:
    """Return the references of a paragraph, each as a paragraph, if line breaks separate several references."""
    if not looks_like_list(paragraph.lines, at_once=True):
        return [paragraph]
    rows = [(row.text or "", row.number or "") for row in split_references("\n".join(paragraph.lines))]
    return [
        replace(paragraph, text=text, item=int(number) if number.isdigit() else paragraph.item) for text, number in rows
    ]


def _merge_numbers(listed: list[_Paragraph]) -> list[_Paragraph]:
    """Remove the paragraphs that contain only a number, and give the number to the next paragraph."""
    result: list[_Paragraph] = []
    number: int | None = None
    for paragraph in listed:
        if match := _COUNT.fullmatch(paragraph.text):
            number = int(match[1])
            continue
        result.append(replace(paragraph, item=paragraph.item or number))
        number = None
    return result


def _read_run(node: Any) -> str:
    """Return the text of a run, with superscript digits for numbers formatted as superscript (citations)."""
    text = str(node.text or "")
    raised = node.getparent().find(f"{W}rPr/{W}vertAlign")
    if raised is None or raised.get(f"{W}val") != "superscript" or not _CALLED.fullmatch(text):
        return text
    return text.translate(_UP)


def _iter_elements(element: Any) -> Iterator[Any]:
    """Yield the elements of a paragraph, each once."""
    yield element
    for inner in element:
        if inner.tag not in _ELSEWHERE:
            yield from _iter_elements(inner)


class _Records:
    """The DOIs of records, and their titles as a tree of words."""

    def __init__(self, records: Iterable[Reference]) -> None:
        self._dois: set[str] = set()
        self._words: dict[str, Any] = {}
        for record in records:
            if record.doi:
                self._dois.add(record.doi.lower())
            branch = self._words
            words = fold_text(record.title or "").split()[:MAX_WORDS]
            for word in words:
                branch = branch.setdefault(word, {})
            if words:
                branch[""] = {}

    def have(self, text: str) -> bool:
        """Return true if an entry of a list is one of the records, by DOI or title."""
        dois = (match[0].lower() for match in _DOI.finditer(text))
        if any(doi in self._dois or doi.rstrip(".,;)]") in self._dois for doi in dois):
            return True
        words = fold_text(text).split()
        return any(self._begins(words, n) for n in range(len(words)))

    def _begins(self, words: Sequence[str], start: int) -> bool:
        branch = self._words
        for word in words[start : start + MAX_WORDS]:
            if word not in branch:
                return False
            branch = branch[word]
            if "" in branch:
                return True
        return False


def _find_json(text: str) -> Any:
    begin = text.find("{")
    if begin < 0:
        return None
    try:
        return json.JSONDecoder().raw_decode(text[begin:])[0]
    except (ValueError, RecursionError):
        return None


def _decode_base64(data: str) -> str:
    try:
        return base64.b64decode(data, validate=False).decode("utf-8", "replace").rstrip("\x00")
    except (binascii.Error, ValueError):
        return ""
