"""Read the decisions in files of Covidence, Rayyan and ASReview, and in tables of people."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from entrez_kit.base.identifiers import read_identifier
from entrez_kit.base.tables import TABLE_SUFFIXES, TableError, read_table
from entrez_kit.pubmed.encoded_markup import convert_to_plain_text
from entrez_kit.references.files.references import unreadable_error
from entrez_kit.references.merge.files_to_merge import read_files
from entrez_kit.references.merge.merge_documents import FileToMerge
from entrez_kit.references.merge.signatures import fold_title
from entrez_kit.reviews.decisions import Choice
from entrez_kit.reviews.records import ID

MAX_ROWS: Final = 1_000_000
MAX_TEXT: Final = 200
_RAYYAN: Final = re.compile(r"RAYYAN-INCLUSION:?\s*\{([^{}]{0,4000})\}")
_RAYYAN_CHOICE: Final = re.compile(r"(?:=>|:)\s*\"(Included|Excluded|Maybe)\"")
_RAYYAN_REASON: Final = re.compile(r"RAYYAN-EXCLUSION-REASONS:\s*([^|]{1,500})")
_REASON_LABEL: Final = re.compile(r"__EXR__([^|,;]{1,200})")
_REASON: Final = re.compile(r"Exclusion reason:\s*([^;|\n]{1,300})", re.IGNORECASE)
_ASREVIEW: Final = re.compile(r"ASReview_(relevant|irrelevant|not_seen)\b", re.IGNORECASE)
_LABELS: Final = ("asreview_label", "label_included", "included", "label", "included_label", "final_included")
_DECISIONS: Final = ("decision", "screening decision", "status")
_REASONS: Final = ("reason", "exclusion reason", "exclusion_reason", "exclusion reasons")
_IDS: Final = (
    "pmid",
    "pubmed id",
    "pubmed_id",
    "doi",
    "pmcid",
    "pmc_id",
    "accession number",
    "accession_number",
    "url",
)
_WORDS: Final[dict[str, Choice]] = {
    **dict.fromkeys(("include", "included", "yes", "1", "1.0", "relevant", "select", "true"), "include"),
    **dict.fromkeys(("exclude", "excluded", "no", "0", "0.0", "irrelevant", "false"), "exclude"),
    **dict.fromkeys(("not_retrieved", "not retrieved", "unavailable"), "not_retrieved"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """A record in a file of decisions.

    Args:
        place: the file and the line or position.
        ids: the ids of this program in it.
        keys: its other identifiers as kind and value.
        title: its title, folded.
        choices: the decisions; several people may have decided.
    """

    place: str
    text: str
    ids: tuple[str, ...]
    keys: tuple[tuple[str, str], ...]
    title: str
    year: str
    choices: frozenset[Choice]
    reason: str
    study: str


def read_decision_rows(files: Sequence[FileToMerge]) -> Iterator[Row]:
    """Yield the records of files with decisions.

    Raises:
        InvalidInput: a file cannot be read. The message has the line if it is known.
    """
    for file in files:
        if PurePath(file.file).suffix.lower() in TABLE_SUFFIXES and file.text:
            yield from _read_table(file.text, file.file)
        else:
            yield from _read_references(file)


def _read_table(text: str, name: str) -> Iterator[Row]:
    try:
        _, rows = read_table(text)
        for number, (line, row) in enumerate(rows):
            if number >= MAX_ROWS:
                raise unreadable_error(name, "the table is too long", line=line)
            cells = [(column.strip().lower(), value.strip()) for column, value in row.items()]
            yield _read_row(cells, f"{name}, line {line}")
    except TableError as exc:
        raise unreadable_error(name, exc.problem, line=exc.line) from None


def _read_references(file: FileToMerge) -> Iterator[Row]:
    entries, _, _ = read_files([file])
    for entry in entries:
        reference = entry.reference
        keys = [(kind, value) for kind, value in entry.keys.items() if kind in ("pmid", "doi", "pmcid")]
        cells = [*keys, ("title", reference.title or ""), ("year", reference.year or "")]
        yield _read_row([*cells, *((tag.lower(), value) for tag, value in entry.original.fields)], entry.id)


def _read_row(cells: Sequence[tuple[str, str]], place: str) -> Row:
    by_name = dict(reversed(cells))
    ids = dict.fromkeys(match.lower() for _, value in cells for match in ID.findall(value))
    keys = dict.fromkeys(key for name, value in cells if name in _IDS for key in _read_keys(name, value))
    title = convert_to_plain_text(by_name.get("title") or by_name.get("primary_title"))
    year = re.search(r"[12][0-9]{3}", by_name.get("year") or by_name.get("published year") or "")
    # The titles and abstracts of articles about screening could have the words of a program.
    notes = [value for name, value in cells if name not in ("title", "abstract", "ab", "ti", "t1", "n2")]
    choices, reasons = _read_choices(notes), _read_reasons(notes)
    for name in (*_LABELS, *_DECISIONS):
        choice = _WORDS.get(by_name.get(name, "").casefold())
        if choice is not None:
            choices.add(choice)
            break
    reason = next((by_name[name] for name in _REASONS if by_name.get(name)), "")
    return Row(
        place=place,
        text=(title or next((value for _, value in cells if value), ""))[:MAX_TEXT],
        ids=tuple(ids),
        keys=tuple(keys),
        title=fold_title(title),
        year=year[0] if year else "",
        choices=frozenset(choices),
        reason=reason or "; ".join(reasons),
        study=by_name.get("covidence #") or by_name.get("study") or "",
    )


def _read_keys(name: str, value: str) -> Iterator[tuple[str, str]]:
    identifier = read_identifier(value)
    if identifier is not None and (
        identifier.kind != "pmid" or "pm" in name or "pubmed" in name or not value.isdigit()
    ):
        yield identifier.kind, identifier.value.casefold()


def _read_choices(notes: Sequence[str]) -> set[Choice]:
    choices: set[Choice] = set()
    for note in notes:
        for match in _RAYYAN.finditer(note):
            words = set(_RAYYAN_CHOICE.findall(match[1]))
            choices |= {_WORDS[word.casefold()] for word in words if word != "Maybe"}
        for word in _ASREVIEW.findall(note):
            if word.casefold() != "not_seen":
                choices.add(_WORDS[word.casefold()])
    return choices


def _read_reasons(notes: Sequence[str]) -> list[str]:
    reasons: dict[str, None] = {}
    for note in notes:
        for pattern in (_RAYYAN_REASON, _REASON_LABEL, _REASON):
            reasons |= {" ".join(text.split()): None for text in pattern.findall(note)}
    return list(reasons)
