"""Read claims and the ids that they cite: from a CSV, TSV, JSON or JSON Lines file, or from a draft with citations."""

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.base.sentences import yield_sentence_breaks
from entrez_kit.base.tables import TableError, detect_delimiter, name_cells, read_rows
from entrez_kit.core.model import Warn
from entrez_kit.references.claims.claim_results import Claim
from entrez_kit.references.files.references import Reference, unreadable_error
from entrez_kit.references.manuscripts.calls import mark_calls, number_entries
from entrez_kit.references.manuscripts.document import Beside, Paragraph, parse_citation_numbers
from entrez_kit.references.manuscripts.read_markdown import KEY, iter_paragraphs, read_footnotes, read_own_list

KINDS: Final[Mapping[str, str]] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".json": "json",
    **dict.fromkeys((".md", ".markdown", ".qmd", ".rmd", ".txt"), "md"),
}
"""Formats by suffix."""
DOCUMENTS: Final = (".docx", ".tex", ".xml", ".nxml", ".jats")
"""Suffixes of documents with a list of references."""
HINT: Final = (
    "Name a .csv or .tsv file with the columns claim and id, a .jsonl file with these fields, or a draft (.md, .docx, "
    ".tex, .xml)."
)
KEYS_HINT: Final = (
    "Give a bibliography (.bib, .ris, .json or .nbib) with these keys. Each of its references needs a PMID, PMCID or "
    "DOI."
)
TEXT_COLUMNS: Final[Sequence[str]] = ("claim", "quote", "quotation", "sentence", "statement", "text")
_KINDS_OF_ID: Final = ("pmid", "pmids", "pmcid", "pmcids", "doi", "dois")
MAX_FIELD: Final = 1_000_000
ID_COLUMNS: Final[Sequence[str]] = ("id", "ids", *_KINDS_OF_ID, "reference", "source", "cites")

_QUOTES: Final = re.compile(r"“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|\"([^\"]+)\"|(?<!\w)‘((?:[^‘’]|’(?=[a-z]))+)’")
_MIN_QUOTED: Final = 4
"""Fewer words in quotation marks are a term, not a quotation."""
_GROUP: Final = re.compile(r"\[[^\[\]@]*+@[^\[\]]*+\](?!\()")
_LABELLED: Final = re.compile(
    r"\b(?:PMIDs?|PMCIDs?|doi)\b\s*+:?\s*+(10\.[0-9]{4,9}/[^\s,;)\]]++|(?:PMC)?[0-9]++)"
    r"((?>(?:\s*+[,;]\s*+(?:10\.[0-9]{4,9}/[^\s,;)\]]++|(?:PMC)?[0-9]{4,}+))*))|\b(PMC[0-9]++)\b",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(r"<https?://[^\s<>]+>|https?://[^\s<>()\[\]]+(?:\([^\s<>()]*\)[^\s<>()\[\]]*)*")
_BRACKETED: Final = re.compile(
    r"\((?:PMC|PMID|doi|https?:)[^()]*+\)|\[(?:PMC|PMID|doi|https?:)[^\[\]]*+\]|\(?<https?://[^<>\s]++>\)?",
    re.IGNORECASE,
)
"""A citation in separate brackets."""
_BEHIND: Final = re.compile(rf"(?:{_GROUP.pattern}|{_BRACKETED.pattern})\s*+", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"\[(\^[^\[\]\s]{1,60}|[0-9]{1,4}(?>(?:\s?[,;–—-]\s?[0-9]{1,4}(?![0-9]))*))\](?![(:])")
"""A footnote, or numbers in a list."""
_NOTE: Final = re.compile(r"\[\^[^\[\]\s]{1,60}\]:")
_BEHIND_STOP: Final = re.compile(rf"([.!?…][\"”’]?)((?:{_NUMBERED.pattern.replace('(', '(?:', 1)})+)(?=\s|$)")
_CITATION: Final = re.compile("|".join(pattern.pattern for pattern in (_GROUP, _NUMBERED, _BRACKETED)), re.IGNORECASE)
_JOINED: Final = re.compile(
    r"(?>(?:[\s,;:]|\b(?:and|but|or|yet|so|while|whereas|although|though|which)\b)+)", re.IGNORECASE
)
"""Words and marks that join a clause to the clause before it."""
_LABEL: Final = re.compile(r"\b(?:PMIDs?|PMCIDs?|DOIs?)\b\s*+:?\s++", re.IGNORECASE)
_EMPTIED: Final = re.compile(
    r"[(\[](?!\s*+\. ?\. ?\.)(?>(?:[\s,;.]|\b(?:see|e\.g|i\.e|cf|and|also|in|ref|refs)\b)*)[)\]]", re.IGNORECASE
)
"""Brackets that contained only a citation; an ellipsis in brackets stays."""


@dataclass(slots=True)
class ClaimFile:
    """The claims of a file in order, not yet checked against limits, and warnings about the file."""

    claims: list[Claim] = field(default_factory=list)
    warnings: list[Warn] = field(default_factory=list)


def read_claims(text: str, name: str, kind: str, bibliography: Sequence[Reference] = ()) -> ClaimFile:
    """Read claims.

    Args:
        text: the content of the file.
        name: the name of the file in messages.
        kind: csv, tsv, jsonl, json or md.
        bibliography: the references for the citation keys of a draft.

    Raises:
        InvalidInput: the file cannot be read, or has no claim with a citation.
    """
    keys = {reference.key: _find_id(reference) for reference in bibliography}
    if kind == "md":
        claim_file = _read_draft(text.replace("\r\n", "\n"), keys)
    else:
        rows = (_read_table if kind in ("csv", "tsv") else _read_json)(text, name, kind)
        claim_file = ClaimFile(list(_read_rows(rows, name, keys)))
    if not claim_file.claims:
        what = "no sentence of this draft has a citation" if kind == "md" else "this file does not contain a claim"
        raise _no_claims_error(name, what, claim_file)
    return claim_file


def read_document_claims(
    content: bytes, name: str, suffix: str, beside: Beside, bibliography: Sequence[Reference] = ()
) -> ClaimFile:
    """Read the claims of a Word or LaTeX document or of an article in JATS.

    Args:
        content: the file.
        name: its name in messages.
        suffix: one of DOCUMENTS.
        beside: reads the files that it names.
        bibliography: more references for citation keys.

    Raises:
        InvalidInput: the document cannot be read, or has no claim with a citation.
    """
    if suffix == ".tex":
        from entrez_kit.references.manuscripts import read_latex as latex

        manuscript = latex.read_latex(content, name, beside)
        text = latex.read_paragraphs(content, name, beside)
    elif suffix == ".docx":
        from entrez_kit.references.manuscripts.read_docx import read_docx

        manuscript = read_docx(content, name)
        text = mark_calls(manuscript)
    else:
        from entrez_kit.references.manuscripts import articles

        manuscript = articles.read_article_xml(content, name)
        text = articles.read_paragraphs(content)
    numbers = zip(number_entries(manuscript.references), manuscript.references, strict=True)
    keys = {number: _find_id(reference) for number, reference in numbers}
    keys |= {reference.key: _find_id(reference) for reference in (*manuscript.references, *bibliography)}
    claim_file = _read_paragraphs(text, keys, has_list=bool(manuscript.references))
    if not claim_file.claims:
        raise _no_claims_error(name, "no sentence of this document cites a PMID, PMCID or DOI", claim_file)
    claim_file.warnings = [*manuscript.warnings, *claim_file.warnings]
    return claim_file


def _no_claims_error(name: str, problem: str, claim_file: ClaimFile) -> InvalidInput:
    """Return the error for a file without claims. If its citations have no known id, it names them."""
    for warning in claim_file.warnings:
        if warning.code == "unknown_keys":
            return unreadable_error(name, f"no claim can be checked. {warning.message[:-1]}", hint=KEYS_HINT)
    return unreadable_error(name, problem, hint=HINT)


def _find_id(reference: Reference) -> str | None:
    return reference.pmid or reference.pmcid or reference.doi


# Tables


def _read_table(text: str, name: str, kind: str) -> Iterator[tuple[int, Mapping[Any, Any]]]:
    delimiter = "\t" if kind == "tsv" else detect_delimiter(text)
    try:
        for line, row in name_cells(read_rows(io.StringIO(text, newline=""), delimiter))[1]:
            if any(len(cell) > MAX_FIELD for cell in row.values()):
                raise unreadable_error(name, f"a field larger than {MAX_FIELD:,} characters", line=line, hint=HINT)
            yield line, row
    except TableError as exc:
        raise unreadable_error(name, exc.problem, line=exc.line, hint=HINT) from None


def _read_json(text: str, name: str, kind: str) -> Iterator[tuple[int, Mapping[Any, Any]]]:
    pieces = enumerate(text.splitlines(), start=1) if kind == "jsonl" else [(1, text)]
    for line, piece in pieces:
        if not piece.strip():
            continue
        try:
            read = json.loads(piece)
        except (ValueError, RecursionError) as exc:
            below = exc.lineno - 1 if isinstance(exc, json.JSONDecodeError) else 0
            raise unreadable_error(name, "this is not valid JSON", line=line + below, hint=HINT) from None
        rows = read if isinstance(read, list) else read.get("claims", [read]) if isinstance(read, dict) else [read]
        for row in rows:
            if not isinstance(row, dict):
                raise unreadable_error(name, f"line {line} is not an object with the fields claim and id", hint=HINT)
            yield line, row


def _read_rows(
    rows: Iterable[tuple[int, Mapping[Any, Any]]], name: str, keys: Mapping[str, str | None]
) -> Iterator[Claim]:
    for line, row in rows:
        named = {str(column).strip().lstrip("\ufeff").casefold(): value for column, value in row.items() if column}
        column, id_columns = _find_columns(tuple(named))
        if column is None or not id_columns:
            have = ", ".join(map(str, list(row)[:8])) or "none"
            raise unreadable_error(name, f"the columns claim and id are required, but the file has {have}", hint=HINT)
        ids = [cited_id for named_ids in id_columns for cited_id in _yield_ids(named.get(named_ids), named_ids, keys)]
        yield Claim.model_construct(
            text=" ".join(str(named[column] or "").split()), ids=list(dict.fromkeys(ids)), line=line
        )


@cache
def _find_columns(names: tuple[str, ...]) -> tuple[str | None, list[str]]:
    """Return the columns of claims and of ids, found by name or by a word in the name ("Claim text", "Cited PMID")."""
    words = {name: re.findall(r"[a-z]+", name) for name in names}
    text = next((name for name in TEXT_COLUMNS if name in words), None)
    text = text or next(
        (name for name in names if not {*words[name]}.isdisjoint(TEXT_COLUMNS) and "id" not in words[name]), None
    )
    ids = [name for name in ID_COLUMNS if name in words]
    return text, ids or [name for name in names if name != text and not {*words[name]}.isdisjoint(_KINDS_OF_ID)]


def _yield_ids(value: Any, column: str, keys: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the ids in a cell. In the column pmcid, add "PMC" to a bare number."""
    if isinstance(value, list):
        for item in value:
            yield from _yield_ids(item, column, keys)
        return
    text = _LABEL.sub(" ", str(value if value is not None else ""))
    for word in re.split(r"[\s,;|]+", text):
        if not word:
            continue
        word = re.sub(r"^([0-9]+)\.0$", r"\1", word)  # a number exported from a spreadsheet
        if column.startswith("pmcid") and word.isdigit():
            yield f"PMC{word}"
        else:
            yield keys.get(word.lstrip("@")) or word


# Drafts


def _read_draft(draft: str, keys: Mapping[str, str | None]) -> ClaimFile:
    listed = read_own_list(draft)
    keys = {
        **{reference.number or str(n): _find_id(reference) for n, reference in enumerate(listed.references, start=1)},
        **{f"^{footnote.key}": _find_id(footnote) for footnote in read_footnotes(draft)},
        **keys,
    }
    text = (
        Paragraph(*paragraph)
        for paragraph in iter_paragraphs(draft)
        if paragraph[0] not in listed.lines and not _NOTE.match(paragraph[1])
    )
    return _read_paragraphs(text, keys, has_list=bool(listed.references))


def _read_paragraphs(text: Iterable[Paragraph], keys: Mapping[str, str | None], *, has_list: bool) -> ClaimFile:
    """Return the claims of paragraphs.

    Args:
        text: the paragraphs, in order.
        keys: the ids of cited works, by number or key.
        has_list: whether every number in brackets is the number of an entry.
    """
    claim_file = ClaimFile()
    unknown: dict[str, None] = {}
    for source in text:
        # Move a citation from after the full stop to before it.
        paragraph = _BEHIND_STOP.sub(r"\2\1", source.text)
        # A citation after a block quotation is for the whole quotation.
        for start, sentence in [(0, paragraph)] if source.is_quote else _yield_clauses(paragraph):
            ids, bare, strange = _read_citations(sentence, keys)
            unknown |= dict.fromkeys(strange)
            if not ids:
                continue
            quoted = [next(filter(None, match)) for match in _QUOTES.findall(bare)]
            quoted = [words for words in quoted if len(words.split()) >= _MIN_QUOTED]
            for claim in quoted or [bare]:
                if re.search(r"[^\W\d_]{3}", claim):
                    place = source.line and source.line + paragraph.count("\n", 0, start)
                    claim_file.claims.append(
                        Claim.model_construct(text=" ".join(claim.split()).strip(" ,;:"), ids=ids, line=place)
                    )
    if unknown := {key: None for key in unknown if has_list or key.startswith(("@", "^"))}:
        named = ", ".join(list(unknown)[:10]) + (f" and {len(unknown) - 10} more" if len(unknown) > 10 else "")
        message = f"No PMID, PMCID or DOI is known for these citations: {named}."
        claim_file.warnings.append(Warn(code="unknown_keys", message=message))
    return claim_file


def _yield_sentences(paragraph: str) -> Iterator[tuple[int, str]]:
    """Yield sentences with their offsets. A citation after the full stop belongs to the sentence before."""
    start = 0
    for _, end in yield_sentence_breaks(paragraph, lines=False):
        while behind := _BEHIND.match(paragraph, end):
            end = behind.end()
        if end <= start:
            continue
        yield start, paragraph[start:end]
        start = end
    if paragraph[start:].strip():
        yield start, paragraph[start:]


def _yield_clauses(paragraph: str) -> Iterator[tuple[int, str]]:
    """Yield sentences with their offsets. A sentence with several citations is split after each citation."""
    for place, sentence in _yield_sentences(paragraph):
        start, pieces = 0, list[str]()
        for end in [match.end() for match in _CITATION.finditer(sentence)]:
            words = _CITATION.sub("", sentence[start:end])
            if len(words.split()) >= _MIN_QUOTED:
                pieces.append(sentence[start:end])
            elif pieces:
                pieces[-1] += sentence[start:end]
            start = end if pieces else 0
        if pieces:
            pieces[-1] += sentence[start:]
        begin = place
        for number, piece in enumerate(pieces or [sentence]):
            yield begin, piece[match.end() :] if number and (match := _JOINED.match(piece)) else piece
            begin += len(piece)


def _read_citations(sentence: str, keys: Mapping[str, str | None]) -> tuple[list[str], str, list[str]]:
    """Return the ids that a sentence cites, the sentence without its citations, and unknown keys."""
    ids: dict[str, None] = {}
    unknown: list[str] = []

    def take(word: str) -> bool:
        identifier = read_identifier(word)
        if identifier is not None:
            ids[identifier.value] = None
        return identifier is not None

    def list_keys(match: re.Match[str]) -> str:
        for found in KEY.finditer(match[0]):
            key = found[1] or found[2]
            cited = keys.get(key)
            if cited is not None:
                ids[cited] = None
            elif not take(re.sub(r"^(?:pmid|pmcid|doi):", "", key, flags=re.IGNORECASE)):
                unknown.append(f"@{key}")
        return ""

    def list_labels(match: re.Match[str]) -> str:
        for word in re.split(r"[\s,;]+", f"{match[1] or match[3]} {match[2] or ''}".strip()):
            take(word.rstrip("."))
        return ""

    def read_address(match: re.Match[str]) -> str:
        return "" if take(match[0].strip("<>.,;")) else match[0]

    def list_numbers(match: re.Match[str]) -> str:
        marks = [match[1]] if match[1].startswith("^") else map(str, parse_citation_numbers(match[1]))
        for mark in marks:
            if cited := keys.get(mark):
                ids[cited] = None
            else:
                unknown.append(mark)
        return ""

    bare = _GROUP.sub(list_keys, sentence)
    bare = _NUMBERED.sub(list_numbers, bare)
    bare = _ADDRESS.sub(read_address, bare)
    bare = _LABELLED.sub(list_labels, bare)
    bare = KEY.sub(list_keys, bare)
    words = " ".join(_EMPTIED.sub("", bare).split())
    return list(ids), re.sub(" (?=[.,;:!?])", "", words), unknown
