"""Write records of Europe PMC as MEDLINE text (nbib).

For PubMed records, ``fetch -f nbib`` prints NCBI's own MEDLINE text unchanged.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from entrez_kit.citations.csl import list_notes, to_one_line
from entrez_kit.citations.names import space_initials
from entrez_kit.pubmed.models import Article, Author, JournalInfo, MeshTerm
from entrez_kit.pubmed.pages import format_place_of_publication
from entrez_kit.pubmed.xml.dates import MONTH_NAMES

WIDTH: Final = 87
"""The maximum length of NCBI's lines; a longer value continues on lines with six leading spaces."""
_CORRECTIONS: Final = {
    "CorrectedandRepublishedIn": "CRI",
    "CorrectedandRepublishedFrom": "CRF",
    "CommentIn": "CIN",
    "CommentOn": "CON",
    "ErratumIn": "EIN",
    "ErratumFor": "EFR",
    "ExpressionOfConcernIn": "ECI",
    "ExpressionOfConcernFor": "ECF",
    "PartialRetractionIn": "PRIN",
    "PartialRetractionOf": "PROF",
    "RepublishedIn": "RPI",
    "RepublishedFrom": "RPF",
    "RetractedandRepublishedIn": "RRI",
    "RetractedandRepublishedFrom": "RRF",
    "RetractionIn": "RIN",
    "RetractionOf": "ROF",
    "UpdateIn": "UIN",
    "UpdateOf": "UOF",
}

Fields = Iterator[tuple[str, Any]]


def write_nbib_record(article: Article) -> str:
    """Return a record as MEDLINE text, without a final line end.

    A record without a PMID (a preprint at Europe PMC) has no PMID line; ``OWN`` and ``AID`` identify it.
    """
    fields = (*_write_heads(article), *_write_authors(article), *_write_tails(article))
    return "\n".join(line for tag, value in fields if (text := to_one_line(value)) for line in wrap_field(tag, text))


def wrap_field(tag: str, value: str) -> Iterator[str]:
    """Break a value into lines at spaces; a longer word is not split, because readers join lines with a space."""
    line = f"{tag:<4}-"
    for word in value.split(" "):
        if len(line) + 1 + len(word) > WIDTH and line[6:]:
            yield line
            line = "     "
        line += f" {word}"
    yield line


def _write_heads(article: Article) -> Fields:
    journal = article.journal_info or JournalInfo()
    yield "PMID", article.pmid
    if not article.pmid:
        yield "OWN", "Europe PMC"
    for number, kind in ((journal.issn, "Print"), (journal.eissn, "Electronic"), (journal.issn_linking, "Linking")):
        if number:
            yield "IS", f"{number} ({kind})"
    for number in article.book_info.isbns if article.book_info else ():
        yield "ISBN", number
    yield "VI", journal.volume
    yield "IP", journal.issue
    yield "DP", _write_date(article)
    yield "TI", article.title
    if article.book_info is not None:
        yield "BTI", article.book_info.title
    yield "PG", journal.pages
    if article.doi:
        yield "LID", f"{article.doi} [doi]"
    if journal.article_number:
        yield "LID", f"{journal.article_number} [pii]"
    if article.abstract_language:
        yield "OAB", article.abstract_text
        yield "OABL", article.abstract_language
    else:
        yield "AB", article.abstract_text
    yield "CI", article.abstract_copyright


def _write_date(article: Article) -> str | None:
    """Return the publication date in MEDLINE's form: 2003 Jan 15, 2003 Jan-Feb, 2003."""
    date = (article.journal_info or JournalInfo()).publication_date
    if date is not None and date.medline_date:
        return date.medline_date
    known = next(
        (published for published in (date, *article.article_dates) if published is not None and published.year), None
    )
    if known is None:
        return None
    month = MONTH_NAMES[known.month - 1][0].capitalize() if known.month else None
    return " ".join(str(part) for part in (known.year, month, known.day if month else None) if part)


def _write_authors(article: Article) -> Fields:
    for author in article.authors:
        yield from _write_person(author, "FAU", "AU")
    for editor in article.book_info.editors if article.book_info else ():
        yield from _write_person(editor, "FED", "ED")


def _write_person(author: Author, full: str, short: str) -> Fields:
    if author.collective_name:
        yield ("CN" if full == "FAU" else full), author.collective_name
    else:
        given = author.first_name or author.initials
        initials = author.initials or re.sub(r"[ .]", "", space_initials(given or ""))
        with_suffix = " ".join(part for part in (given, author.suffix) if part)
        yield full, ", ".join(part for part in (author.last_name, with_suffix) if part)
        yield short, " ".join(part for part in (author.last_name, initials, author.suffix) if part)
    if author.orcid:
        yield "AUID", f"ORCID: {author.orcid}"
    for place in author.affiliations:
        yield "AD", place


def _write_tails(article: Article) -> Fields:
    journal = article.journal_info or JournalInfo()
    book = article.book_info
    for language in article.languages:
        yield "LA", language
    for grant in article.grant_list:
        yield "GR", "/".join(part for part in (grant.grant_id, grant.acronym, grant.agency, grant.country) if part)
    for kind in article.publication_types:
        yield "PT", kind
    if article.article_dates and (day := article.article_dates[0]).year:
        yield "DEP", f"{day.year}{day.month:02}{day.day:02}" if day.month and day.day else day.year
    yield "TT", article.vernacular_title
    if book is not None:
        yield from (("PL", book.publisher_location), ("PB", book.publisher), ("ETN", book.edition))
        yield "CTI", book.collection_title
    yield "TA", journal.medline_abbreviation or journal.iso_abbreviation
    yield "JT", journal.title
    yield "JID", journal.nlm_id
    for term in article.mesh_terms:
        yield "MH", _format_heading(term)
    for correction in article.corrections:
        if correction.kind in _CORRECTIONS:
            pmid = f" PMID: {correction.pmid}" if correction.pmid else ""
            yield _CORRECTIONS[correction.kind], f"{correction.citation}{pmid}"
    for note in list_notes(article):
        yield "GN", note
    for word in article.keywords:
        yield "OT", word
    yield "COIS", article.coi_statement
    yield from _write_history(article)
    yield from _write_identifiers(article)
    yield "SO", _write_source(article, journal)


def _format_heading(term: MeshTerm) -> str:
    """Return a heading with its subheadings; a star marks the major topics."""
    names = [(term.descriptor_name, term.is_major_topic)]
    names += [(qualifier.name, qualifier.is_major_topic) for qualifier in term.qualifiers]
    return "/".join(f"*{name}" if is_major else name for name, is_major in names)


def _write_history(article: Article) -> Fields:
    for step in article.history:
        if step.year and step.month and step.day:
            date = f"{step.year}/{step.month:02}/{step.day:02} {step.hour or 0:02}:{step.minute or 0:02}"
            yield "PHST", f"{date} [{step.status}]"


def _write_identifiers(article: Article) -> Fields:
    yield "PMC", article.pmcid
    if article.doi:
        yield "AID", f"{article.doi} [doi]"
    for kind, pii in article.article_ids.items():
        if kind.partition("_")[0] == "pii":
            yield "AID", f"{pii} [pii]"
    if accession := article.article_ids.get("bookaccession"):
        yield "AID", f"{accession} [bookaccession]"
    if not article.pmid:
        yield "AID", f"{getattr(article, 'epmc_id', article.url)} [epmc]"


def _write_source(article: Article, journal: JournalInfo) -> str | None:
    name = journal.medline_abbreviation or journal.iso_abbreviation or journal.title
    if not name:
        return None
    pages = journal.pages or (journal.article_number if journal.volume or journal.issue else None)
    text = f"{format_place_of_publication(name, _write_date(article), journal.volume, journal.issue, pages)}."
    return f"{text} doi: {article.doi}." if article.doi else text
