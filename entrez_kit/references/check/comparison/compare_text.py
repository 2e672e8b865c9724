"""Compare the text of a reference with a record.

The text is not split into fields. It agrees with a record if it contains the whole title, all its words and numbers
are in the record, and authors and numbers are in the order of the record. A difference names its field if the field is
clear: the title and each author may contain mistakes, and the position of a number determines its field.
"""

import re
from collections.abc import Sequence
from typing import Final

from entrez_kit.base.frontend_text import cut_end
from entrez_kit.citations.csl import Item, build_csl_item
from entrez_kit.citations.names import convert_to_csl_names, format_name
from entrez_kit.pubmed.comparison import fold_text, list_years
from entrez_kit.pubmed.models import Article, ArticleDate, JournalInfo, PublicationDate
from entrez_kit.references.check.comparison.compare_fields import (
    Agreement,
    FieldDifference,
    find_identifier_differences,
    list_titles,
)
from entrez_kit.references.check.comparison.text_authors import (
    MIN_TITLE,
    AuthorsInText,
    compare_authors_in_text,
    mark_omissions,
)
from entrez_kit.references.check.comparison.text_place import PlaceInText, compare_place
from entrez_kit.references.check.comparison.text_title import find_title
from entrez_kit.references.check.comparison.text_words import (
    find_journal,
    has_journal,
    list_journal_names,
    list_volume_and_page,
)
from entrez_kit.references.check.pasted.guessing import DOCUMENT_TYPE, convert_wide_signs
from entrez_kit.references.check.pasted.pasted_lists import list_folded_words
from entrez_kit.references.files.references import MAX_QUOTED_REFERENCE, Reference

_DATE: Final = re.compile(r"\b((?:1[89]|20)[0-9]{2})[-/]([0-9]{1,2})[-/]([0-9]{1,2})\b")


def compare_text(reference: Reference, article: Article) -> Agreement:
    """Compare a reference given as text with a record: first its title, then its authors, then its place."""
    item = build_csl_item(article)
    text = _shorten_dates(mark_omissions(convert_wide_signs(reference.text or ""), article), article)
    words = list_folded_words(DOCUMENT_TYPE.sub(" ", text), _list_record_words(article, item))
    differences = list(find_identifier_differences(reference, article))
    if not words:
        return Agreement(True, differences, [], False)
    is_located = _is_at_its_place(reference, words, article, item)
    title = find_title(words, article, sure=is_located)
    for start, length in sorted(title.spans, reverse=True):
        del words[start : start + length]
    head = min((start for start, _ in title.spans), default=None)
    authors = compare_authors_in_text(words, article, head, find_journal(words, article, item))
    place = compare_place([word for n, word in enumerate(words) if n not in authors.taken], article, item, text)
    differences += [part.difference for part in (title, authors) if part.difference is not None]
    if title.spans:
        differences += place.differences
        return Agreement(not authors.are_others, differences, place.left, authors.agree, title.is_exact)
    is_located = is_located or _is_nearly_at_its_place(words, article, item, authors, place)
    agreement = _compare_without_title(text, item, authors, place, is_located=is_located)
    return agreement._replace(differences=[*differences, *agreement.differences])


def _compare_without_title(
    text: str, item: Item, authors: AuthorsInText, place: PlaceInText, *, is_located: bool
) -> Agreement:
    """Decide on a text without the title of the record: its unknown words may be another title."""
    journals = [difference.given for difference in place.differences if difference.field == "journal"]
    unknown = [word for word in place.left if len(word) > 1] + " ".join(journals).split()
    names_other_work = len(unknown) >= MIN_TITLE
    differences = place.differences
    if names_other_work:
        differences = [difference for difference in differences if difference.field != "journal"]
    agrees = is_located or (authors.agree and not differences)
    if unknown or not is_located:  # journal, volume and page identify a work without a title
        excerpt = cut_end(text, MAX_QUOTED_REFERENCE) if names_other_work else ""
        detail = "the text does not have the title of the record" if names_other_work else "the text has no title"
        title = FieldDifference(field="title", given=excerpt, record=str(item.get("title", "")), detail=detail)
        differences = [title, *differences]
    is_same = agrees and not names_other_work and not authors.are_others
    return Agreement(is_same, differences, [] if names_other_work else place.left, authors.agree)


def _is_nearly_at_its_place(
    words: Sequence[str], article: Article, item: Item, authors: AuthorsInText, place: PlaceInText
) -> bool:
    """Return true if a text without a title differs from a record only in the year, the volume or the pages."""
    if any(len(word) > 1 for word in place.left) or not authors.agree or authors.difference is not None:
        return False
    fields = [difference.field for difference in place.differences]
    agreeing = [bool(wanted) and wanted <= set(words) for wanted in map(set, list_volume_and_page(item))]
    agreeing.append(not set(list_years(article)).isdisjoint(words))
    is_one_number = len(fields) == 1 and fields[0] in ("year", "volume", "pages")
    return place.has_journal and is_one_number and sum(agreeing) >= 2


def _shorten_dates(text: str, article: Article) -> str:
    """Write the year for each whole date in numbers (2006-06-01) that is a date of the record."""
    journal = article.journal_info or JournalInfo()
    published = journal.publication_date or PublicationDate()
    dates: list[PublicationDate | ArticleDate] = [published, *article.article_dates]
    known = {(date.year, date.month, date.day) for date in dates}
    return _DATE.sub(lambda found: found[1] if tuple(map(int, found.groups())) in known else found[0], text)


def _list_record_words(article: Article, item: Item) -> set[str]:
    """Return the words of the titles, the authors and the journal of a record."""
    names = convert_to_csl_names(article.authors)
    texts = [*list_titles(article), *list_journal_names(article, item), *map(format_name, names)]
    return {word for text in texts for word in fold_text(text).split()}


def _is_at_its_place(reference: Reference, words: Sequence[str], article: Article, item: Item) -> bool:
    """Return true if an identifier agrees with the record, or the text has its journal, volume and first page."""
    if any(
        (getattr(reference, name) or "-").lower() == (getattr(article, name) or "").lower()
        for name in ("doi", "pmid", "pmcid")
    ):
        return True
    volume, page = list_volume_and_page(item)
    return bool(volume and page) and {*volume, *page} <= set(words) and has_journal(words, article, item)
