"""The references of a file, and the base class of files that can be read and corrected."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import not_
from typing import Any, Final
from urllib.parse import unquote

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.identifiers import IdKind, read_identifier
from entrez_kit.core.model import Request, Warn
from entrez_kit.pubmed.models import WORDS, Article
from entrez_kit.pubmed.xml.dates import YEAR

_LABELLED: Final = re.compile(r"\b(PMID|PMCID)\s*+[:=]?\s*+((?:PMC)?[0-9]++)", re.IGNORECASE)
KINDS: Final[tuple[IdKind, ...]] = ("doi", "pmid", "pmcid")
MAX_SUFFIX: Final = 6
_SUFFIX: Final = re.compile(r"(?:[JS]r|[JS]unior|I{1,3}|IV|2nd|3rd|4th)\.?", re.IGNORECASE)
JUNIOR: Final = re.compile(r"(?:[JS]r|[JS]unior)\.?", re.IGNORECASE)
"""A suffix that cannot be initials."""
_SUFFIX_AT_END: Final = re.compile(r"(?<=[^\W_]|\.) ((?:[JS]r|[JS]unior|2nd|3rd|4th)\.?|II|III|IV)$")
"""The suffix after given names, as in MEDLINE: "Doe, Jane A Jr", "Doe JA 3rd". A single I is an initial."""
_IDENTIFIERS: Final = re.compile(r"\bPMC[0-9]+\b|\b10\.[0-9]{4,9}/\S+|\b(?:PMID|PMCID|doi)\b", re.IGNORECASE)
_DOI_ADDRESS: Final = re.compile(
    r"https?://(?!(?:www\.)?cochranelibrary\.com/central/)[^\s/]++/(?:[^\s/?#]++/){0,4}(?:[^\s/?#]*+\?[^\s/]*?=)?"
    r"(10\.[0-9]{4,9}/[^\s?#&]++)",
    re.IGNORECASE,
)
"""The address of an article at its publisher, with the DOI. A record of CENTRAL has a DOI of its own in its address."""
_PAGE_OF_ARTICLE: Final = re.compile(
    r"/(?:full|abstract|summary|e?pdf|pdfdirect|fulltext|html|meta|references)$|\.pdf$"
)
_INITIALS: Final = re.compile(r"[^\W\d_a-z]{1,4}|(?:[^\W\d_]\.[ -]?){1,4}")


class RefAuthor(Request):
    """An author of a reference: a person, or a group."""

    family: str | None = Field(default=None, description="Family name with its particle.")
    given: str | None = Field(default=None, description="Given names or initials.")
    group: str | None = Field(default=None, description="Name of a group, or a name without separate parts.")
    suffix: SkipJsonSchema[str | None] = Field(default=None, exclude_if=not_, description="Jr, Sr, III.")

    @property
    def text(self) -> str:
        """The name as one text: "Doe, Jane"."""
        return self.group or ", ".join(part for part in (self.family, self.given) if part)


class Reference(Request):
    """A reference to check. Its identifiers are used to find the record; all other fields are compared with it."""

    key: str = Field(description="Name of the reference, returned with the result.")
    line: int | None = Field(default=None, description="Its first line in the file.")
    number: str | None = Field(default=None, description="Its number in a numbered list.")
    text: str | None = Field(default=None, description="The whole reference, if it is given as text instead of fields.")
    title: str | None = Field(default=None, description="Title of the work.")
    authors: list[RefAuthor] = Field(default=[], description="All authors in order.")
    more_authors: bool = Field(default=False, description="Whether the list of authors ends with et al.")
    journal: str | None = Field(default=None, description="Journal, or the book of a chapter.")
    year: str | None = Field(default=None, description="Year of publication.")
    volume: str | None = Field(default=None, description="Volume of the journal.")
    issue: str | None = Field(default=None, description="Issue number.")
    pages: str | None = Field(default=None, description="Pages or article number.")
    doi: str | None = Field(default=None, description="DOI of the work.")
    pmid: str | None = Field(default=None, description="PMID of the work.")
    pmcid: str | None = Field(default=None, description="PMCID of the work.")
    other_identifiers: SkipJsonSchema[list[tuple[IdKind, str]]] = Field(
        default=[], exclude_if=not_, description="Identifiers in other places: notes, addresses, the rest of a text."
    )

    @property
    def identifiers(self) -> list[tuple[IdKind, str]]:
        """All different identifiers with their kinds: those of the fields, then the others."""
        in_fields = [(kind, value) for kind in KINDS if (value := getattr(self, kind))]
        found: list[tuple[IdKind, str]] = []
        for kind, value in (*in_fields, *self.other_identifiers):
            if not any(kind == known_kind and _is_one_identifier(value, known) for known_kind, known in found):
                found.append((kind, value))
        return found


def _is_one_identifier(one: str, other: str) -> bool:
    """Return whether two identifiers are equal, or one is the other with an addition of an address: "/full"."""
    short, long = sorted((one.lower(), other.lower()), key=len)
    return long.startswith(short) and not long[len(short) : len(short) + 1].isalnum()


MAX_QUOTED_REFERENCE: Final = 120
"""Maximum characters of a reference that a message quotes."""
_VERSION_NOTE: Final = re.compile(
    rf"\[(?:{'|'.join(WORDS.values())})\b.*\]\.?|(?:[\w-]{{1,30}} )?preprint\b.{{0,40}}", re.IGNORECASE | re.DOTALL
)
"""A note of this program about the status of a work, or a short note that it is a preprint."""


@dataclass(frozen=True, slots=True)
class FieldUpdate:
    """The changes of one reference: new values of fields, and a note to add.

    ``authors`` are CSL names, ``journal`` is the full title and ``short`` its abbreviation. With ``record``, the whole
    reference is replaced by this record, and its key stays. With ``same_as``, the reference is left out, because an
    earlier one with this key cites the same work.
    """

    fields: Mapping[Any, Any] = field(default_factory=dict)
    note: str | None = None
    short: str | None = None
    record: Article | None = None
    same_as: str | None = None


@dataclass(frozen=True, slots=True)
class OriginalRecord:
    """A record as its file has it.

    Args:
        fields: all its fields as RIS fields (tag and value), TY first and ER omitted.
        text: the record in the format of its file, if that format can be written again.
    """

    fields: tuple[tuple[str, str], ...]
    text: str | None = None


class ReferenceFile:
    """The references of a file, and warnings about the file."""

    def __init__(self, references: list[Reference], warnings: Sequence[Warn] = ()) -> None:
        self.references = references
        self.warnings = list(warnings)

    def get_original(self, index: int) -> OriginalRecord:
        """Return all fields of a record, by its index."""
        raise NotImplementedError("files of this format have references without fields")

    def correct(self, corrections: Mapping[int, FieldUpdate]) -> str:
        """Return the text of the file with changed references, by their index; the rest stays unchanged."""
        raise NotImplementedError("files of this format cannot be corrected")


def find_identifiers(*texts: str | None) -> dict[IdKind, str]:
    """Return the identifiers in the values of fields, the first of each kind: bare, with a label, or in a URL."""
    return dict(reversed(list_identifiers(*texts)))


def list_identifiers(*texts: str | None) -> list[tuple[IdKind, str]]:
    """Return all identifiers in the values of fields, each with its kind: bare, with a label, or in a URL."""
    identifiers: list[tuple[IdKind, str]] = []
    for text in texts:
        for part in (text or "").split():
            identifier = read_identifier(part)
            # A bare number in a note or a URL field can have any meaning, also in brackets.
            if identifier is not None and (identifier.kind != "pmid" or re.search(r"[^\W\d_]", part)):
                identifiers.append((identifier.kind, identifier.value))
            elif identifier is None and (address := _DOI_ADDRESS.match(unquote(part))):
                identifiers.append(("doi", _PAGE_OF_ARTICLE.sub("", address[1]).rstrip("/.,;")))
        for label, value in _LABELLED.findall(text or ""):
            identifier = read_identifier(value)
            if identifier is not None and identifier.kind == label.lower():
                identifiers.append((identifier.kind, identifier.value))
    return identifiers


def list_identifiers_in_notes(*notes: str | None) -> list[tuple[IdKind, str]]:
    """Return the identifiers of notes that contain only identifiers: other notes may name another work."""
    alone = [note for note in notes if note and not re.search(r"[^\W\d_]{2}", _IDENTIFIERS.sub(" ", note))]
    return list_identifiers(*alone)


def is_about_version(note: str) -> bool:
    """Return whether a note is about this version of a work only: a preprint, its status or its identifiers."""
    return _VERSION_NOTE.fullmatch(note.strip()) is not None or bool(list_identifiers_in_notes(note))


def find_identifier(kind: IdKind, text: str | None) -> str | None:
    """Return the identifier of one kind from the field for this kind."""
    if not text:
        return None
    identifier = read_identifier(text)
    if identifier is None and kind == "pmcid" and re.fullmatch(r"[0-9]+", text.strip()):
        identifier = read_identifier(f"PMC{text.strip()}")
    if identifier is None or identifier.kind != kind:
        return find_identifiers(text).get(kind)
    return identifier.value


def merge_identifiers(others: Iterable[tuple[IdKind, str]], **values: str | None) -> dict[str, Any]:
    """Return the identifiers of a reference: of each kind that of its field or else the first other, and all others."""
    listed = list(others)
    first = dict(reversed(listed))
    ids: dict[str, Any] = {kind: find_identifier(kind, values.get(kind)) or first.get(kind) for kind in KINDS}
    page = f"{ids['doi']}/".lower()  # the address of a page of the same article
    return {**ids, "other_identifiers": [item for item in listed if not item[1].lower().startswith(page)]}


def find_year(text: str | None) -> str | None:
    """Return the first year in a date."""
    match = YEAR.search(text or "")
    return match[0] if match else None


def parse_name(text: str) -> RefAuthor:
    """Read a name written "Doe, Jane, Jr", "Doe, Jr, Jane", "Doe JA Jr" or as a group."""
    text = " ".join(text.split())
    if text.endswith(",") and text.count(",") > 1:  # RIS marks the name of a group with a comma at its end
        return RefAuthor(group=text[:-1].rstrip())
    family, comma, rest = text.partition(",")
    if comma and rest.strip():
        given, more, suffix = (part.strip() for part in rest.partition(","))
        if more and len(suffix) > MAX_SUFFIX:  # the commas are part of the name of a group
            return RefAuthor(group=text)
        if more and _SUFFIX.fullmatch(given) and not _SUFFIX.fullmatch(suffix):  # "Doe, Jr, Jane"
            given, suffix = suffix, given
        given, suffix_at_end = split_suffix(given)  # "Doe, Jane A Jr"
        if JUNIOR.fullmatch(given) and not suffix:  # "Doe, Jr"
            return RefAuthor(family=family.strip(), suffix=given)
        return RefAuthor(family=family.strip(), given=given, suffix=suffix or suffix_at_end)
    text = text.rstrip(",")
    for name, suffix_at_end in (split_suffix(text), (text, None)):
        *family_words, initials = name.split(" ")
        if family_words and _INITIALS.fullmatch(initials) and not text.isupper():
            return RefAuthor(family=" ".join(family_words), given=initials, suffix=suffix_at_end)
    return RefAuthor(group=text)


def split_suffix(given: str) -> tuple[str, str | None]:
    """Return given names without the suffix at their end, and the suffix."""
    match = _SUFFIX_AT_END.search(given)
    return (given[: match.start()], match[1]) if match else (given, None)


def warn_of_repeated_keys(references: list[Reference]) -> list[Warn]:
    """Return a warning for each key that several references of a file have."""
    places: dict[str, list[int]] = {}
    for reference in references:
        places.setdefault(reference.key, []).append(reference.line or 0)
    warnings = []
    for key, lines in places.items():
        where = f" (lines {', '.join(map(str, lines))})" if any(lines) else ""
        if len(lines) > 1:
            message = f"The key {key} is used {format_count(len(lines), 'time')}{where}."
            warnings.append(Warn(code="duplicate_key", message=message))
    return warnings


def warn_of_left_out(lines: list[str], reason: str) -> list[Warn]:
    """Return a warning about parts of a file that look like entries but cannot be read; ``lines`` are their first."""
    if not lines:
        return []
    what = format_count(len(lines), "entry was", "entries were")
    return [Warn(code="entries_left_out", message=f"{what} left out: {reason}. First line: {lines[0]}", terms=lines)]


def unreadable_error(name: str, problem: str, *, line: int | None = None, hint: str | None = None) -> InvalidInput:
    """Return the error for a file that cannot be read in its format."""
    place = f"{name}, line {line}" if line else name
    if hint is None:
        whole = "Check that this is the right file, and that it opens in the program that wrote it."
        hint = "Correct this line of the file and run the command again." if line else whole
    return InvalidInput(
        f"{place}: {problem}.",
        invalid_input=name,
        recovery_hint=hint,
        details={"reason": "bad_file", **({"line": line} if line else {})},
    )
