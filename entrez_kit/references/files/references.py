"""References as people have them in their files, and what a file of them can do: be read, and be corrected."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import Field

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.identifiers import IdKind, read_identifier
from entrez_kit.core.model import Request, Warn

_YEAR: Final = re.compile(r"(?<![0-9])(?:1[5-9]|2[01])[0-9]{2}(?![0-9])")
_LABELLED: Final = re.compile(r"\b(PMID|PMCID)\s*+[:=]?\s*+((?:PMC)?[0-9]++)", re.IGNORECASE)
MAX_SUFFIX: Final = 6
_IDENTIFIERS: Final = re.compile(r"\bPMC[0-9]+\b|\b10\.[0-9]{4,9}/\S+|\b(?:PMID|PMCID|doi)\b", re.IGNORECASE)
_INITIALS: Final = re.compile(r"[^\W\d_a-z]{1,4}|(?:[^\W\d_]\.[ -]?){1,4}")


class RefAuthor(Request):
    """An author of a reference: a person, or a group."""

    family: str | None = Field(default=None, description="Family name with its particle.")
    given: str | None = Field(default=None, description="Given names or initials.")
    group: str | None = Field(default=None, description="Name of a group, or a name that is not divided.")

    @property
    def text(self) -> str:
        """The name as one text: "Doe, Jane"."""
        return self.group or ", ".join(part for part in (self.family, self.given) if part)


class Reference(Request):
    """A reference to check; identifiers find its record, whatever else is given is compared with it."""

    key: str = Field(description="Name of the reference, given back with the result.")
    line: int | None = Field(default=None, description="Where it begins in its file.")
    number: str | None = Field(default=None, description="Its number in a list that the text calls by numbers.")
    text: str | None = Field(default=None, description="The whole reference, where it is not divided into fields.")
    title: str | None = Field(default=None, description="Title of the work.")
    authors: list[RefAuthor] = Field(default=[], description="All authors in order.")
    more_authors: bool = Field(default=False, description="Whether the list ends with and others.")
    journal: str | None = Field(default=None, description="Journal, or the book of a chapter.")
    year: str | None = Field(default=None, description="Year of publication.")
    volume: str | None = Field(default=None, description="Volume of the journal.")
    issue: str | None = Field(default=None, description="Issue number.")
    pages: str | None = Field(default=None, description="Pages or article number.")
    doi: str | None = Field(default=None, description="DOI of the work.")
    pmid: str | None = Field(default=None, description="PMID of the work.")
    pmcid: str | None = Field(default=None, description="PMCID of the work.")


@dataclass(frozen=True, slots=True)
class FieldUpdate:
    """What to change in one reference: fields by our names, and a note to add.

    ``authors`` are names of CSL, ``journal`` is the full title and ``short`` its abbreviation.
    """

    fields: Mapping[str, Any] = field(default_factory=dict)
    note: str | None = None
    short: str | None = None


class ReferenceFile:
    """The references of a file, and what there is to say about it."""

    def __init__(self, references: list[Reference], warnings: Sequence[Warn] = ()) -> None:
        self.references = references
        self.warnings = list(warnings)

    def corrected(self, corrections: Mapping[int, FieldUpdate]) -> str:
        """Return the text of the file with references changed, by their number; all else as it is."""
        raise NotImplementedError("files of this kind are not corrected")


def identifiers_in(*texts: str | None) -> dict[IdKind, str]:
    """Return the identifiers that fields hold, the first of each kind: plain, labelled, or in an address."""
    found: dict[IdKind, str] = {}
    for text in texts:
        for part in (text or "").split():
            identifier = read_identifier(part)
            # A bare number in a note or an address field is anything, in brackets too.
            if identifier is not None and (identifier.kind != "pmid" or re.search(r"[^\W\d_]", part)):
                found.setdefault(identifier.kind, identifier.value)
        for label, value in _LABELLED.findall(text or ""):
            identifier = read_identifier(value)
            if identifier is not None and identifier.kind == label.lower():
                found.setdefault(identifier.kind, identifier.value)
    return found


def identifiers_of_note(*notes: str | None) -> dict[IdKind, str]:
    """Return the identifiers of notes that hold nothing else: others may name another work, a retraction notice say."""
    alone = [note for note in notes if note and not re.search(r"[^\W\d_]{2}", _IDENTIFIERS.sub(" ", note))]
    return identifiers_in(*alone)


def identifier_of(kind: IdKind, text: str | None) -> str | None:
    """Return the identifier of one kind that a field of its own holds."""
    identifier = read_identifier(text or "")
    if identifier is None and kind == "pmcid" and re.fullmatch(r"[0-9]+", (text or "").strip()):
        identifier = read_identifier(f"PMC{(text or '').strip()}")
    if identifier is None or identifier.kind != kind:
        return identifiers_in(text).get(kind)
    return identifier.value


def identifiers_of(other: Mapping[IdKind, str], **given: str | None) -> dict[str, Any]:
    """Return identifiers by their kinds: what their own fields hold, or else others."""
    kinds: tuple[IdKind, ...] = ("doi", "pmid", "pmcid")
    return {kind: identifier_of(kind, given.get(kind)) or other.get(kind) for kind in kinds}


def year_in(text: str | None) -> str | None:
    """Return the first year in a date."""
    match = _YEAR.search(text or "")
    return match[0] if match else None


def divided_name(text: str) -> RefAuthor:
    """Read a name written "Doe, Jane", "Doe JA" or as a group."""
    text = " ".join(text.split())
    family, comma, rest = text.partition(",")
    if comma and rest.strip():
        given, more, suffix = (part.strip() for part in rest.partition(","))
        if more and len(suffix) > MAX_SUFFIX:  # of several commas, one is part of the name of a group
            return RefAuthor(group=text)
        return RefAuthor(family=family.strip(), given=given)
    words = text.rstrip(",").split(" ")
    if len(words) > 1 and _INITIALS.fullmatch(words[-1]) and not text.isupper():
        return RefAuthor(family=" ".join(words[:-1]), given=words[-1])
    return RefAuthor(group=" ".join(words))


def repeated_keys(references: list[Reference]) -> list[Warn]:
    """Warn of keys that several references of a file have."""
    places: dict[str, list[int]] = {}
    for reference in references:
        places.setdefault(reference.key, []).append(reference.line or 0)
    warnings = []
    for key, lines in places.items():
        where = f" (lines {', '.join(map(str, lines))})" if any(lines) else ""
        if len(lines) > 1:
            warnings.append(Warn(code="duplicate_key", message=f"The key {key} is used {len(lines)} times{where}."))
    return warnings


def unreadable(name: str, problem: str, *, line: int | None = None, hint: str | None = None) -> InvalidInput:
    """Return the error for a file that cannot be read as what it is."""
    place = f"{name}, line {line}" if line else name
    if hint is None:
        whole = "Check that this is the file you meant, and that it opens in the program it comes from."
        hint = "Correct this place of the file and run the command again." if line else whole
    return InvalidInput(
        f"{place}: {problem}.",
        invalid_input=name,
        recovery_hint=hint,
        details={"reason": "bad_file", **({"line": line} if line else {})},
    )
