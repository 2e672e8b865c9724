"""Convert PubMed records to CSL-JSON, the input of citation processors and reference managers."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Final

from entrez_kit.base.identifiers import BOOKSHELF
from entrez_kit.citations.names import convert_to_csl_names
from entrez_kit.citations.style.casing import find_organisms, find_species_names
from entrez_kit.citations.titles import format_article_title, format_journal_title, remove_full_stop
from entrez_kit.pubmed.models import LANGUAGES, Article, ArticleDate, BookInfo, JournalInfo, PublicationDate
from entrez_kit.pubmed.pages import is_article_number, page_and_number
from entrez_kit.pubmed.standing import determine_standing_of_article
from entrez_kit.pubmed.xml.dates import YEAR, is_existing_day, read_month

Item = dict[str, Any]

AHEAD_OF_PRINT: Final = "advance online publication"
ARTICLE_NUMBER: Final = "article-number"
"""The field of an article number in BibTeX, and in the member "custom" of CSL-JSON, which has no field for it."""
JOINER: Final = "; "
"""The separator of keywords; many MeSH terms contain a comma ("Databases, Protein")."""

_REPORTS: Final = frozenset(("technical report", "government publication"))
_ORDINAL: Final = re.compile(r"([0-9]+)(?:st|nd|rd|th)?\.?(?:\s+ed(?:ition|n)?\.?)?", re.IGNORECASE)
_WORDS: Final = {
    name: number
    for number, name in enumerate(
        ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"), start=1
    )
}
SEASON_NAMES: Final = ("spring", "summer", "autumn", "winter")
SEASONS: Final = {name: number for number, name in enumerate(SEASON_NAMES, start=1)} | {"fall": 3}
_DASH: Final = re.compile(r"(?<!\s)(?:\s*+[-–—/]\s*+|\s++(?:to|and|&)\s++)", re.IGNORECASE)
_WORD: Final = re.compile(r"[A-Za-z]+|[0-9]{1,2}(?![0-9])")
_CONTROLS: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
"""Characters that files of reference managers cannot contain."""


def build_csl_item(article: Article) -> Item:
    """Return a record as an item of CSL-JSON, valid against CSL's own schema.

    Numbers of electronic articles are ``number``; pages are ``page``, with ranges in full. Names of groups are
    ``literal``. ``note`` has the publication status (e.g. retracted) in brackets.
    """
    # A Europe PMC record without a PMID is identified by its key ("PPR:PPR123").
    name = f"pmid:{article.pmid}" if article.pmid else str(getattr(article, "key", article.url))
    item: Item = {"id": name, "type": determine_csl_type(article)}
    item["title"] = format_article_title(article.title, article.vernacular_title)
    if authors := convert_to_csl_names(article.authors):
        item["author"] = authors
    if date := find_publication_date(article):
        item["issued"] = date
    if article.journal_info is not None:
        if article.record_type == "article":
            _add_journal(item, article, article.journal_info)
        else:
            item["page"], item["number"] = page_and_number(article.journal_info.pages)
    if article.book_info is not None:
        _add_book(item, article, article.book_info)
    item["DOI"] = article.doi
    item["PMID"] = article.pmid
    item["PMCID"] = article.pmcid
    item.setdefault("URL", article.url)
    _add_rest(item, article)
    return {name: value for name, value in item.items() if value not in (None, "", [], {})}


def build_style_item(article: Article) -> Item:
    """Return a record as an item of CSL-JSON for ``format_styled_entries``, with fields beyond CSL that its styles use.

    These are PubMed's initials of persons; ``species``, the organisms among the terms and in the italics of the title;
    ``medline-title``, NLM's journal abbreviation if it differs from the ISO one; and ``languages``, if there are
    several.
    """
    item = build_csl_item(article)
    book = article.book_info or BookInfo()
    for role, people in (("author", article.authors), ("editor", book.editors), ("container-author", book.authors)):
        if role in item:
            item[role] = convert_to_csl_names(people, with_initials=True)
    headings = [term.descriptor_name for term in article.mesh_terms]
    item["species"] = [
        *find_organisms(headings),
        *find_species_names(article.keywords),
        *_yield_names_in_italics(article.italics),
    ]
    if article.journal_info is not None and article.journal_info.medline_abbreviation:
        item["medline-title"] = article.journal_info.medline_abbreviation
    if len(article.languages) > 1:
        item["languages"] = [LANGUAGES.get(code, ("", code))[1] for code in article.languages]
    return item


def _yield_names_in_italics(phrases: Iterable[str]) -> Iterator[str]:
    """Yield the pairs of words in phrases that name a species or subspecies: Escherichia coli."""
    for phrase in phrases:
        words = phrase.split()
        if len(words) > 1 and words[0][:1].isupper() and all(word.islower() for word in words[1:]):
            yield from map(" ".join, pairwise(words))


def determine_csl_type(article: Article) -> str:
    """Return the CSL type of a record: ``article`` for a preprint, ``report`` for a book with a report number."""
    kinds = {kind.casefold() for kind in article.publication_types}
    if article.record_type == "chapter":
        return "chapter"
    if article.record_type == "book":
        is_report = kinds & _REPORTS or (article.book_info is not None and article.book_info.report_number)
        return "report" if is_report else "book"
    if "preprint" in kinds:
        return "article"
    return "article-newspaper" if "newspaper article" in kinds else "article-journal"


def _add_journal(item: Item, article: Article, journal: JournalInfo) -> None:
    name = format_journal_title(journal.title, journal.iso_abbreviation) if journal.title else journal.iso_abbreviation
    if item["type"] == "article":  # the publisher of a preprint is its server
        item["publisher"] = name
        item["genre"] = "Preprint"
    item["container-title"] = name
    item["container-title-short"] = journal.iso_abbreviation
    item["volume"] = journal.volume
    item["issue"] = journal.issue
    item["ISSN"] = journal.issn or journal.eissn or journal.issn_linking
    placed = journal.volume or journal.issue or journal.pages
    item["page"], item["number"] = page_and_number(journal.pages, journal.article_number if placed else None)
    if item["type"] == "article-journal" and not placed and article.doi:
        item["status"] = AHEAD_OF_PRINT


def find_unclear_number(item: Item) -> str | None:
    """Return the article number of an item if readers take it for a page: a number of up to four digits.

    Files have it in the field of pages, which most programs print, and in a separate field, too. The number of a
    preprint is part of its DOI.
    """
    number = item.get("number") if item["type"].startswith("article-") and "page" not in item else None
    return str(number) if number and not is_article_number(str(number)) else None


def _add_book(item: Item, article: Article, book: BookInfo) -> None:
    item["publisher"] = book.publisher
    item["publisher-place"] = book.publisher_location
    item["edition"] = parse_edition(book.edition)
    item["volume"] = book.volume
    item["collection-title"] = book.collection_title
    item["ISBN"] = book.isbns[0] if book.isbns else None
    item["editor"] = convert_to_csl_names(book.editors)
    item["medium"] = book.medium
    if article.record_type == "chapter":
        item["container-title"] = remove_full_stop(book.title or "")
        item["container-author"] = convert_to_csl_names(book.authors)
        if book.location and (chapter := re.fullmatch(r"chapter\s+(\S+)", book.location, re.IGNORECASE)):
            item["chapter-number"] = chapter[1]
    elif item["type"] == "report":
        item["number"] = book.report_number
    accession = book.accession or article.article_ids.get("bookaccession")
    if accession:
        item["URL"] = f"{BOOKSHELF}{accession}/"


def parse_edition(text: str | None) -> str | None:
    """Return the number of an edition ("2nd edition" is 2), or its text if it is not only a number."""
    if not text:
        return None
    words = " ".join(text.split())
    if match := _ORDINAL.fullmatch(words):
        return match[1]
    first, _, rest = words.partition(" ")
    if first.lower() in _WORDS and rest.lower().rstrip(".") in ("ed", "edition", ""):
        return str(_WORDS[first.lower()])
    return words


def _add_rest(item: Item, article: Article) -> None:
    languages = [LANGUAGES.get(code, (code, ""))[0] for code in article.languages if code not in ("und", "mul")]
    if article.vernacular_title:  # the language of the title first
        languages.sort(key=lambda code: code == "en")
    item["language"] = next(iter(languages), None)
    item["abstract"] = article.abstract_text
    headings = [term.descriptor_name for term in article.mesh_terms]
    item["keyword"] = join_keywords(dict.fromkeys([*article.keywords, *headings]))
    item["source"] = "PubMed" if article.pmid else "Europe PMC"
    item["note"] = " ".join(list_notes(article))


def join_keywords(words: Iterable[str]) -> str:
    """Return keywords in one field. A single keyword that contains a comma ends with the separator."""
    text = JOINER.join(words)
    return f"{text};" if "," in text and ";" not in text else text


def list_notes(article: Article) -> list[str]:
    """Return notes for a reader of the citation: the publication status in brackets, and incomplete data."""
    standing = article.standing or determine_standing_of_article(article)
    # The title of a correction notice shows its status.
    notes = [standing.note] if standing is not None and standing.status != "correction_notice" else []
    if article.authors_complete is False:
        notes.append("PubMed's list of authors is incomplete.")
    return notes


def to_one_line(value: Any) -> str:
    """Return a value as one line without control characters; "" for None."""
    return " ".join(_CONTROLS.sub("", str(value)).split()) if value is not None else ""


# Dates


def find_publication_date(article: Article) -> dict[str, Any] | None:
    """Return the publication date of a record as a CSL date.

    ``2003 Jan-Feb`` gives two dates, ``2003 Winter`` a season, ``19 century`` only a literal text. A chapter added to a
    book after its publication (as in NCBI Bookshelf) has the date it was added.
    """
    published = (article.journal_info or JournalInfo()).publication_date
    if article.record_type == "chapter":
        contributed = next((date for date in article.article_dates if date.type == "contribution"), None)
        since = published.year if published is not None and published.year is not None else 0
        if contributed is not None and contributed.year is not None and contributed.year > since:
            return {"date-parts": [_list_date_parts(contributed)]}
    if published is not None and (date := convert_to_csl_date(published)):
        return date
    electronic = next((date for date in article.article_dates if date.year is not None), None)
    return {"date-parts": [_list_date_parts(electronic)]} if electronic is not None else None


def convert_to_csl_date(date: PublicationDate) -> dict[str, Any] | None:
    """Convert a publication date of PubMed to a CSL date."""
    if date.year is None:
        return {"literal": date.medline_date} if date.medline_date else None
    start = _list_date_parts(date)
    if date.precision not in ("range", "season") or not date.medline_date:
        return {"date-parts": [start]}
    text = date.medline_date
    seasons = [SEASONS[word.lower()] for word in re.findall(r"[A-Za-z]+", text) if word.lower() in SEASONS]
    end = _parse_range_end(start, text)
    csl_date: dict[str, Any] = {"date-parts": [start, end] if end else [start]}
    if seasons:
        csl_date["season"] = seasons[0]
    return csl_date


def _list_date_parts(date: PublicationDate | ArticleDate) -> list[int]:
    parts: list[int] = []
    for part in (date.year, date.month, date.day):
        if part is None:
            break
        parts.append(part)
    return parts


def _parse_range_end(start: list[int], text: str) -> list[int] | None:
    """Parse the end of a date range: "Jan-Feb", "Nov 30-Dec 6", "12-18", "Dec-1999 Jan", "1975-1976"."""
    dash = _DASH.search(text)
    if not dash:
        return None
    rest = text[dash.end() :]
    years = YEAR.findall(rest)
    end = [int(years[-1]) if years else start[0]]
    numbers: list[int] = []
    for word in _WORD.findall(YEAR.sub(" ", rest)):
        if word.isdigit():
            numbers.append(int(word))
        elif (month := read_month(word)) is not None and len(end) == 1:
            end.append(month)
    if numbers and len(end) == 1 and len(start) == 3:  # "Nov 12-18": the month is before the dash
        end.append(start[1])
    if numbers and len(end) == 2 and is_existing_day(end[0], end[1], numbers[0]):
        end.append(numbers[0])
    return end if end > start and len(end) >= min(len(start), 2) else None
