"""The searchable terms of a PubMed record, by the word lists, value lists and date columns of PubMed's fields."""

from functools import lru_cache
from typing import NamedTuple

from entrez_kit.base.history_events import CREATED
from entrez_kit.local.records.document import Document, Person
from entrez_kit.query import unsettled
from entrez_kit.query.fields import LANGUAGES
from entrez_kit.query.filters import NOTICE_FILTERS, STATUS_FILTERS
from entrez_kit.query.record_terms import FULL, RecordTerms
from entrez_kit.query.words import normalize, split_words

LINKOUT_FILTERS = ("free full text", "loattrfree full text", "full text", "loattrfull text")
"""Filters that PubMed answers from LinkOut; here the identifiers of a record decide."""


_normalize = lru_cache(maxsize=32_768)(normalize)
"""For the names of controlled vocabularies and journals, which occur in many records."""
_split = lru_cache(maxsize=32_768)(split_words)


def _add_coded(terms: RecordTerms, source: str, *names: str) -> None:
    """Add the words of names that occur in many records."""
    if found := [words for name in names if (words := _split(name))]:
        terms.texts.setdefault(source, []).extend(found)


def extract_terms(document: Document) -> RecordTerms:
    """Return the searchable terms of a record."""
    terms = RecordTerms()
    _add_titles(document, terms)
    _add_people(document, terms)
    _add_subjects(document, terms)
    _add_identifiers(document, terms)
    _add_dates(document, terms)
    _add_filters(document, terms)
    return terms


def _add_titles(document: Document, terms: RecordTerms) -> None:
    terms.add_text("title", document.title)
    terms.add_text("vernacular", document.vernacular_title)
    if document.is_chapter:
        terms.add_text("book", document.book_title)
    terms.add_text("abstract", document.abstract_text, *(text for _, text in document.other_abstracts))
    terms.add_text("coi", document.conflict_of_interest)
    names = (document.journal_title, document.journal_iso, document.journal_ta)
    _add_coded(terms, "journal", *dict.fromkeys(names))
    numbers = (*(number for _, number in document.issns), document.nlm_id)
    terms.add_exact("journal", *map(_normalize, names), *map(_normalize, numbers))
    terms.add_exact("jid", _normalize(document.nlm_id))
    first_page = document.pages.split("-")[0]
    for source, value in (("volume", document.volume), ("issue", document.issue), ("page", first_page)):
        terms.add_value(source, value)
        terms.add_text(source, value)
    terms.add_exact("country", _normalize(document.country))
    terms.add_value("publisher", document.publisher)
    terms.add_text("publisher", document.publisher)
    terms.add_value("isbn", document.isbn)


class _Names(NamedTuple):
    """The names of a person: short and full values, and the words of each different name."""

    values: tuple[str, str]
    texts: list[list[str]]


def _read_names(person: Person) -> _Names:
    """Split the names of a person once; they occur in several value and word lists."""
    short, full = person.short, person.full
    words = split_words(short)
    if not full:
        return _Names((" ".join(words), ""), [words] if words else [])
    others = split_words(full)
    texts = [words, others] if short != full else [words]
    return _Names((" ".join(words), f"{FULL}{' '.join(others)}"), [text for text in texts if text])


def _add_people(document: Document, terms: RecordTerms) -> None:
    authors = [_read_names(person) for person in document.authors]
    personal = [names for names, person in zip(authors, document.authors, strict=True) if not person.group]
    editors = [_read_names(person) for person in document.editors]
    investigators = [_read_names(person) for person in document.investigators]
    subjects = [_read_names(person) for person in document.personal_subjects]
    for source, people in (
        ("author", authors),
        ("first_author", personal[:1]),
        ("last_author", personal[-1:]),
        ("editor", editors),
        ("investigator", investigators),
        ("person", subjects),
    ):
        terms.add_exact(source, *(value for names in people for value in names.values))
    for source, people in (("author", [*authors, *editors]), ("investigator", investigators), ("person", subjects)):
        if texts := [text for names in people for text in names.texts]:
            terms.texts.setdefault(source, []).extend(texts)
    groups = [person.group for person in document.authors if person.group]
    terms.add_value("group", *groups)
    terms.add_text("group", *groups)
    for person in (*document.authors, *document.investigators):
        if person.affiliations:
            terms.add_text("affiliation", *person.affiliations)
        for _, value in person.identifiers:
            terms.add_exact("auid", value.casefold(), value.casefold().rsplit("/", 1)[-1])


def _add_subjects(document: Document, terms: RecordTerms) -> None:
    found: dict[str, list[str]] = {name: [] for name in ("mesh", "subheading", "majr", "mesh_pair", "majr_pair")}
    for heading in document.headings:
        key = _normalize(heading.name)
        _add_coded(terms, "mesh", heading.name, *(name for name, _ in heading.qualifiers))
        found["mesh"].append(key)
        if heading.major or any(major for _, major in heading.qualifiers):
            found["majr"].append(key)
        for name, major in heading.qualifiers:
            qualifier = _normalize(name)
            pair = f"{key}/{qualifier}"
            found["subheading"].append(qualifier)
            found["mesh_pair"].append(pair)
            if unsettled.is_major_pair(heading.major, major):
                found["majr_pair"].append(pair)
    for source, values in found.items():
        terms.add_exact(source, *values)
    terms.add_text("substance", *dict.fromkeys((*(name for _, name in document.chemicals), *document.supplementary)))
    terms.add_value("substance", *(name for _, name in document.chemicals), *document.supplementary)
    numbers = [number for number, _ in document.chemicals]
    terms.add_exact("registry", *(number.casefold() for number in numbers))
    terms.add_text("registry", *dict.fromkeys(numbers))
    terms.add_text("keyword", *(word for _, word, _ in document.keywords))
    _add_coded(terms, "ptype", *document.publication_types)
    terms.add_exact("ptype", *map(_normalize, document.publication_types))
    terms.add_text("grant", *(part for grant in document.grants for part in grant))
    terms.add_text("note", *(notice.note for notice in document.corrections))
    for code in document.languages:
        names = (code, LANGUAGES.get(code.lower(), ""))
        terms.add_exact("language", *map(_normalize, names))
        _add_coded(terms, "language", *names)


def _add_identifiers(document: Document, terms: RecordTerms) -> None:
    values = [value for kind, value in document.ids if kind != "pubmed"]
    places = [value for _, value in document.locations]
    terms.add_text("ids", document.pmid, *dict.fromkeys((*values, *places)))
    terms.add_exact("pmid", document.pmid)
    terms.add_exact("cited", *document.cited_pmids)
    terms.add_number("uid", int(document.pmid))
    terms.add_exact("aid", *(value.casefold() for value in (*values, *places)))
    terms.add_exact("lid", *(value.casefold() for value in places))
    terms.add_text("accession", *document.accessions)
    for accession in document.accessions:
        bank, _, number = accession.casefold().partition("/")
        terms.add_exact("accession", bank, number, accession.casefold())


def _add_dates(document: Document, terms: RecordTerms) -> None:
    entry = document.entry_date.number or document.publication_date.number
    printed, electronic = document.publication_date.number, document.electronic_date.number
    terms.add_number("pdat", printed, electronic)
    terms.add_number("pdat_single", printed, electronic if not printed or electronic <= printed else 0)
    terms.add_number("ppdat", printed)
    terms.add_number("epdat", electronic)
    terms.add_number("edat", entry)
    terms.add_number("crdt", document.get_event(*CREATED).number or printed)
    terms.add_number("mhda", document.get_event("medline").number or entry)
    terms.add_number("mdat", document.revised.number or document.completed.number or entry)
    terms.add_number("cdat", document.completed.number)


def _add_filters(document: Document, terms: RecordTerms) -> None:
    status = STATUS_FILTERS.get(document.status, "publisher")
    kinds = {kind for kind, _ in document.ids}
    facts = {
        "all": True,
        status: True,
        "hasabstract": bool(document.abstract),
        "hasstructuredabstract": status == "medline" and any(label for label, _ in document.abstract),
        "hasnonenglishabstract": document.has_foreign_abstract,
        "haskeyword": bool(document.keywords),
        "hascois": bool(document.conflict_of_interest),
        "hasdatabanklist": bool(document.accessions),
        "data": bool(document.accessions),
        "hasnihmsid": "mid" in kinds,
        "pubmed pmc": bool(document.pmcid),
        "pubstatusaheadofprint": document.publication_status == "aheadofprint",
        "ownernasa": document.owner == "NASA",
        f"indexingmethod {document.indexing_method.lower()}": bool(document.indexing_method),
        "books": document.is_book,
    }
    facts |= dict.fromkeys(LINKOUT_FILTERS[:2], bool(document.pmcid))
    facts |= dict.fromkeys(LINKOUT_FILTERS[2:], bool(document.pmcid or document.doi))
    for notice in document.corrections:
        facts[NOTICE_FILTERS.get(notice.kind.lower(), "")] = True
    names = [name for name, holds in facts.items() if holds]
    names += [heading.name for heading in document.headings if heading.name in ("Humans", "Animals", "Female", "Male")]
    names += document.publication_types
    names += [LANGUAGES.get(code.lower(), "") for code in document.languages]
    if any(notice.kind == "RetractionIn" for notice in document.corrections):
        names.append("retracted publication")
    terms.add_exact("filter", *map(_normalize, names))
