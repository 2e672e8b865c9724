"""The searchable terms of a record: its words, values and dates by field."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from entrez_kit.sandbox.document import Document, Person
from entrez_kit.sandbox.fields import LANGUAGES
from entrez_kit.sandbox.text import normalize, words

FULL: Final = "="
"""The prefix of full names in a list of names."""

STATUS_FILTERS: Final = {
    "MEDLINE": "medline",
    "PubMed-not-MEDLINE": "pubmednotmedline",
    "Publisher": "publisher",
    "In-Process": "inprocess",
    "In-Data-Review": "inprocess",
}


@dataclass(slots=True)
class Terms:
    """The searchable terms of one record.

    ``texts`` contains folded words in pieces (a phrase cannot extend over two pieces), ``values`` contains normalized
    values, and ``dates`` contains numbers yyyymmdd.
    """

    texts: dict[str, list[list[str]]] = field(default_factory=dict)
    values: dict[str, list[str]] = field(default_factory=dict)
    dates: dict[str, list[int]] = field(default_factory=dict)

    def add_text(self, name: str, *pieces: str) -> None:
        """Add pieces of text to a word list."""
        found = [split for piece in pieces if piece and (split := words(piece))]
        if found:
            self.texts.setdefault(name, []).extend(found)

    def add_value(self, name: str, *values: str) -> None:
        """Add normalized values."""
        self.add_exact(name, *(normalize(value) for value in values))

    def add_exact(self, name: str, *values: str) -> None:
        """Add values without normalization, because identifiers need their punctuation."""
        found = [value for value in values if value]
        if found:
            known = self.values.setdefault(name, [])
            known.extend(value for value in dict.fromkeys(found) if value not in known)

    def add_names(self, name: str, people: Iterable[tuple[str, str]]) -> None:
        """Add people by short and by full name; a query can truncate only short names to fewer initials."""
        for short, full in people:
            self.add_value(name, short)
            self.add_exact(name, f"{FULL}{normalize(full)}" if full else "")

    def add_date(self, name: str, *numbers: int) -> None:
        """Add dates; zeros are ignored."""
        found = [number for number in numbers if number]
        if found:
            self.dates.setdefault(name, []).extend(dict.fromkeys(found))


def extract_terms(document: Document) -> Terms:
    """Return the searchable terms of a record."""
    terms = Terms()
    _add_titles(document, terms)
    _add_people(document, terms)
    _add_subjects(document, terms)
    _add_identifiers(document, terms)
    _add_dates(document, terms)
    _add_filters(document, terms)
    return terms


def _add_titles(document: Document, terms: Terms) -> None:
    terms.add_text("title", document.title)
    terms.add_text("vernacular", document.vernacular_title)
    if document.is_chapter:
        terms.add_text("book", document.book_title)
    terms.add_text("abstract", *(text for part in document.abstract for text in part))
    terms.add_text("abstract", *(text for _, text in document.other_abstracts))
    terms.add_text("coi", document.conflict_of_interest)
    names = (document.journal_title, document.journal_iso, document.journal_ta)
    terms.add_text("journal", *dict.fromkeys(names))
    terms.add_value("journal", *names, *(number for _, number in document.issns), document.nlm_id)
    terms.add_value("volume", document.volume)
    terms.add_value("issue", document.issue)
    terms.add_value("page", document.pages, document.pages.split("-")[0])
    terms.add_value("country", document.country)
    terms.add_value("publisher", document.publisher[0])
    terms.add_value("isbn", document.isbn)


def _add_people(document: Document, terms: Terms) -> None:
    for name, people in (
        ("author", document.authors),
        ("first_author", document.authors[:1]),
        ("last_author", document.authors[-1:]),
        ("editor", document.editors),
        ("investigator", document.investigators),
    ):
        terms.add_names(name, ((person.short, person.full) for person in people))
    terms.add_value("full_author", *(person.full for person in document.authors))
    terms.add_value("group", *(person.group for person in document.authors))
    terms.add_text("author", *_names([*document.authors, *document.editors]))
    for person in (*document.authors, *document.investigators):
        terms.add_text("affiliation", *person.affiliations)
        for _, value in person.identifiers:
            terms.add_exact("auid", value.casefold(), value.casefold().rsplit("/", 1)[-1])


def _names(people: Iterable[Person]) -> list[str]:
    return [name for person in people for name in dict.fromkeys((person.short, person.full)) if name]


def _add_subjects(document: Document, terms: Terms) -> None:
    for heading in document.headings:
        combined = [f"{heading.name} {name}" for name, _ in heading.qualifiers]
        terms.add_text("mesh", heading.name, *(name for name, _ in heading.qualifiers))
        terms.add_value("mesh", heading.name, *combined)
        terms.add_value("subheading", *(name for name, _ in heading.qualifiers))
        major = [f"{heading.name} {name}" for name, weight in heading.qualifiers if weight]
        if heading.major or major:
            terms.add_value("majr", heading.name, *major)
    terms.add_text("mesh", *document.supplementary)
    substances = [name for _, name in document.chemicals]
    terms.add_text("substance", *substances)
    terms.add_value("substance", *substances, *document.supplementary)
    terms.add_exact("registry", *(number.casefold() for number, _ in document.chemicals))
    terms.add_text("keyword", *(word for _, word, _ in document.keywords))
    terms.add_text("ptype", *document.publication_types)
    terms.add_value("ptype", *document.publication_types)
    terms.add_text("grant", *document.grants)
    for code in document.languages:
        terms.add_value("language", code, LANGUAGES.get(code.lower(), ""))


def _add_identifiers(document: Document, terms: Terms) -> None:
    own = [value for kind, value in document.ids if kind != "pubmed"]
    places = [value for _, value in document.locations]
    terms.add_text("ids", document.pmid, *dict.fromkeys((*own, *places)))
    terms.add_exact("pmid", document.pmid)
    terms.add_date("uid", int(document.pmid))
    terms.add_exact("aid", *(value.casefold() for value in (*own, *places)))
    terms.add_exact("lid", *(value.casefold() for value in places))
    terms.add_exact("accession", *(name.casefold() for name in document.accessions))
    terms.add_exact("accession", *(name.casefold().split("/", 1)[-1] for name in document.accessions))


def _add_dates(document: Document, terms: Terms) -> None:
    entry = document.event("pubmed", "entrez")
    terms.add_date("pdat", document.publication_date.number, document.electronic_date.number)
    terms.add_date("ppdat", document.publication_date.number)
    terms.add_date("epdat", document.electronic_date.number)
    terms.add_date("edat", entry.number or document.publication_date.number)
    terms.add_date("crdt", document.event("entrez", "pubmed").number or document.publication_date.number)
    terms.add_date("mhda", document.event("medline").number)
    terms.add_date("mdat", document.revised.number or document.completed.number or entry.number)
    terms.add_date("cdat", document.completed.number)


def _add_filters(document: Document, terms: Terms) -> None:
    names = ["all", STATUS_FILTERS.get(document.status, "publisher")]
    if document.abstract:
        names += ["hasabstract", "has abstract", "abstract"]
    if document.pmcid:
        names += ["free full text", "loattrfree full text", "pubmed pmc"]
    if document.pmcid or document.doi:
        names += ["full text", "loattrfull text"]
    names += [heading.name for heading in document.headings if heading.name in ("Humans", "Animals", "Female", "Male")]
    names += document.publication_types
    names += [LANGUAGES.get(code.lower(), "") for code in document.languages]
    if document.is_book:
        names.append("books")
    if any(one.kind == "RetractionIn" for one in document.corrections):
        names.append("retracted publication")
    terms.add_value("filter", *names)
