"""Compare journal, dates, volume, issue and pages in a reference as text with those of a record."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from entrez_kit.citations.csl import Item
from entrez_kit.citations.names import convert_to_csl_names
from entrez_kit.pubmed.comparison import convert_roman, fold_text, list_years, make_confusable_key, read_digits
from entrez_kit.pubmed.models import LANGUAGES, Article, ArticleDate, JournalInfo, PublicationDate
from entrez_kit.pubmed.pages import expand_ranges
from entrez_kit.pubmed.xml.dates import MONTH_NAMES
from entrez_kit.references.check.comparison.compare_fields import FieldDifference, FieldName, is_same_journal
from entrez_kit.references.check.comparison.text_words import (
    GENERATIONS,
    SUPERFLUOUS,
    find_words,
    has_journal,
    list_given_forms,
    list_journal_names,
    split_family,
)

MAX_LEFT: Final = 12
_PLACE_WORDS: Final = "bd band jg jahrgang h heft s seiten t tome n num u coll т с вып стр и др"
_OF_PLACES: Final = frozenset(_PLACE_WORDS.split())
"""Words before volumes, issues and pages in German, French, Russian and Chinese lists."""
_BOOK_WORDS: Final = "edited by ed eds editor editors edition revised chap chapter report univ up hrsg"
_OF_BOOKS: Final = frozenset(_BOOK_WORDS.split())
"""Words before the parts of a book in a reference."""
_SPELT: Final = re.compile(r"\b(\w) (?=\w\b)")
_SUPPLEMENTS: Final = frozenset(("suppl", "supp", "supl", "supplement", "supplements"))
_IN_SUPPLEMENT: Final = re.compile(r"s[0-9]+[a-z]?")
"""An issue or a page of a supplement."""
MAX_SIGN: Final = 30
"""Characters before a number that can name its field."""
_NUMBER: Final = re.compile(r"(?<![^\W_])[^\W\d_]{0,3}[0-9]+(?:[^\W\d_]{1,2}(?![^\W_]))?")
_BEFORE_ISSUE: Final = re.compile(
    r"\([^()]*$|[0-9] ?[/.]$|(?:\b(?:no|nos|nr|num|núm|number|n|issue|iss|heft|h|вып)|№|n[°º])\.? ?$", re.IGNORECASE
)
_BEFORE_PAGE: Final = re.compile(
    r"(?<!\b[12][0-9]{3}): ?$|\b(?:pp?|pages?|pgs?|s|seiten?|с|стр|art|article)\.? ?$", re.IGNORECASE
)
_ORDINAL: Final = re.compile(r"(?<=[0-9])(?:st|nd|rd|th|er)$")
_OTHER_MONTHS: Final = (
    *(
        "januar janvier janv enero ene janeiro gennaio gen januari",
        "februar fevrier fevr febrero fevereiro fev febbraio",
    ),
    *("marz maerz mars marzo marco maart mrz", "avril avr abril abr aprile", "mai mayo maio maggio mag mei"),
    *("juni juin junio junho giugno giu", "juli juillet juil julio julho luglio lug", "aout agosto ago augustus"),
    *("septembre septiembre setembro set settembre", "oktober octobre octubre outubro ottobre okt out ott"),
    *("novembre noviembre novembro", "dezember decembre diciembre dezembro dicembre dez dic"),
)
"""The months in German, French, Spanish, Portuguese, Italian and Dutch."""
_YEAR: Final = re.compile(r"(?:1[5-9]|2[01])[0-9]{2}[a-z]?")


class PlaceInText(NamedTuple):
    """The result of comparing journal, dates and numbers; ``left`` has words that do not belong to any field."""

    differences: list[FieldDifference]
    left: list[str]
    has_journal: bool


def compare_place(words: Sequence[str], article: Article, item: Item, text: str) -> PlaceInText:
    """Compare words with the journal and the dates, and numbers with volume, issue and pages in order.

    Args:
        text: the whole reference, whose signs show the field of a number.
    """
    of_book = _list_book_words(article)
    words = [word for word in words if word not in of_book]
    names = list_journal_names(article, item)
    is_named = has_journal(words, article, item)
    words, short_names = _remove_journal_names(words, names)
    of_journal = _list_journal_words(names)
    known = of_journal | _list_number_words(article, item)
    has_short_names = bool(short_names) and article.journal_info is not None
    left = _find_part_of_name(words, known, short_names) if has_short_names else []
    is_named = is_named and not left
    years = set(list_years(article))
    forms = [[label for label in form if label[0] not in years] for form in _list_places(article, item)]
    digits = {word for form in forms for word, _ in form}
    numbers: list[str] = []
    for word, is_number in _yield_unknown_words(words, article, known, years, digits):
        if is_number and not any(_is_word_with_mistakes(word, journal_word) for journal_word in of_journal):
            numbers.append(word)
        else:
            left.append(word)
    differences: list[FieldDifference] = []
    if years and not years & set(words) and (year := next(filter(_is_year, numbers), None)):
        numbers.remove(year)
        differences.append(FieldDifference(field="year", given=year, record=list_years(article)[0]))
    numbers, unknown = _split_unknown(numbers, forms)
    differences += _compare_numbers(numbers, forms, item, _find_fields_of_numbers(text))
    differences += _compare_supplements(words, names, item)
    if left and names and not is_named and _is_short_name(left, article):
        left = []
    if left and names and not is_named:
        journal_text = " ".join(word for word in words if word in left or word in of_journal)
        record = str(item.get("container-title") or names[0])
        differences.append(FieldDifference(field="journal", given=journal_text, record=record))
        left = []
    return PlaceInText(differences, [*left, *unknown][:MAX_LEFT], is_named)


def _split_unknown(numbers: list[str], forms: Sequence[Sequence["_Labelled"]]) -> tuple[list[str], list[str]]:
    """Return the numbers of the place, and unknown numbers before a whole place, as in a subtitle."""
    if any(numbers == [word for word, _ in form] for form in forms):
        return numbers, []
    has = {name for form in forms for _, name in form}
    whole = [form for form in forms if {"volume", "pages"} <= has == {name for _, name in form}]
    for form in sorted(whole, key=len, reverse=True):
        if len(form) < len(numbers) and numbers[-len(form) :] == [word for word, _ in form]:
            return numbers[-len(form) :], numbers[: -len(form)]
    return numbers, []


def _is_short_name(words: Sequence[str], article: Article) -> bool:
    """Return whether a word is the initials of the journal ("NEJM", "PNAS")."""
    return len(words) == 1 and len(words[0]) > 2 and is_same_journal(words[0].upper(), article)


def _remove_journal_names(words: list[str], names: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Remove whole names of a journal from words, also with a year in them.

    Returns:
        the other words, and, if no whole name was removed, the names of the journal without remarks.
    """
    short_names = list(_cut_names(names))
    for name in sorted((fold_text(name).split() for name in names), key=len, reverse=True):
        if len(name) > 1 and (start := find_words(name, words)) is not None:
            words = [*words[:start], *words[start + len(name) :]]
            short_names = []
    return words, short_names


def _list_journal_words(names: Sequence[str]) -> set[str]:
    """Return the words of the names of a journal; single letters are also read as one word ("j a m a")."""
    texts = [fold_text(name) for name in names]
    return {word for text in texts for form in (text, _SPELT.sub(r"\1", text)) for word in form.split()}


def _list_number_words(article: Article, item: Item) -> set[str]:
    """Return the words of volume, issue and pages that are letters: "iii-iv"."""
    journal = article.journal_info or JournalInfo()
    places = (journal.pages, journal.article_number, item.get("volume"), item.get("issue"))
    return {word for word in fold_text(" ".join(filter(None, places))).split() if word.isalpha()}


def _find_part_of_name(words: Sequence[str], known: Collection[str], names: Sequence[Sequence[str]]) -> list[str]:
    """Return the words of a journal that are only a part of its name: "Nature" is not "Nature methods"."""
    of_name = [word for word in words if word in known and word not in SUPERFLUOUS and not word.isdigit()]
    return of_name if len(of_name) < min(map(len, names)) else []


def _list_book_words(article: Article) -> set[str]:
    """Return the words of a book that a reference can have: editors, edition, series, publisher and numbers."""
    book = article.book_info
    if book is None:
        return set()
    people = convert_to_csl_names([*book.authors, *book.editors], with_initials=True)
    words = {word for name in people for word in (*split_family(name), *list_given_forms(name), *GENERATIONS)}
    texts = (
        *(book.title, book.volume_title, book.collection_title, book.publisher, book.publisher_location),
        *(book.edition, book.volume, book.medium, book.report_number, book.location),
    )
    years = set(list_years(article))
    words |= {word for text in texts for word in fold_text(text or "").split() if word not in years}
    return words | _OF_BOOKS


def _is_year(word: str) -> bool:
    return _YEAR.fullmatch(read_digits(word)) is not None


def _is_word_with_mistakes(word: str, right: str) -> bool:
    """Return true if a word that contains a digit is a scanning error for a word without digits."""
    return len(right) > 1 and not right.isdigit() and make_confusable_key(word) == make_confusable_key(right)


def _yield_unknown_words(
    words: Sequence[str], article: Article, known: Collection[str], years: Collection[str], digits: Collection[str]
) -> Iterator[tuple[str, bool]]:
    """Yield the words that belong neither to the journal nor to a date, and whether each is a number."""
    journal = article.journal_info or JournalInfo()
    published = journal.publication_date or PublicationDate()
    dates: Sequence[PublicationDate | ArticleDate] = (published, *article.article_dates)
    ranged = fold_text(published.medline_date or "").split()
    months = {date.month for date in dates if date.month}
    days = {str(date.day) for date in dates if date.day}
    months |= {number for number, names in enumerate(MONTH_NAMES, start=1) if not set(names).isdisjoint(ranged)}
    month_names = {name for month in months for name in (*MONTH_NAMES[month - 1], *_OTHER_MONTHS[month - 1].split())}
    languages = {LANGUAGES[code][1].lower() for code in article.languages if code in LANGUAGES}
    after_month = False
    for n, word in enumerate(words):
        if word in known and not word.isdigit():
            continue
        is_day = _ORDINAL.sub("", word).lstrip("0") in days
        if is_day and words[n + 1 : n + 2] and words[n + 1] in month_names:
            continue
        if word in month_names or (word.isalpha() and word in ranged):
            after_month = True
            continue
        if word in years or (after_month and is_day):
            pass
        elif any(letter.isdigit() for letter in word) or read_digits(word) in digits:
            yield word, True
        elif word not in SUPERFLUOUS and word not in _OF_PLACES and word not in languages:
            yield word, False
        after_month = False


def _cut_names(names: Iterable[str | None]) -> Iterator[list[str]]:
    """Yield the significant words of the names of a journal, without text in brackets and after colons."""
    for name in names:
        text = fold_text(re.split(r"[(:=]", name or "", maxsplit=1)[0])
        for form in {text, _SPELT.sub(r"\1", text)}:
            if words := [word for word in form.split() if word not in SUPERFLUOUS and not word.isdigit()]:
                yield words


def _find_fields_of_numbers(text: str) -> dict[str, set[FieldName]]:
    """Return the fields that the signs before numbers name: a bracket, a colon, or a word such as "no"."""
    fields: dict[str, set[FieldName]] = {}
    for match in _NUMBER.finditer(text):
        before = text[max(0, match.start() - MAX_SIGN) : match.start()]
        named = fields.setdefault(fold_text(match[0]), set())
        if _BEFORE_ISSUE.search(before):
            named.add("issue")
        if _BEFORE_PAGE.search(before) or not match[0].isdigit():
            named.add("pages")
    return fields


def _compare_supplements(words: Sequence[str], names: Sequence[str], item: Item) -> list[FieldDifference]:
    """Return the difference of a text that names a supplement, if the record is not in one."""
    places = [str(item.get(name) or "") for name in ("volume", "issue", "page", "number")]
    of_record = fold_text(" ".join([*places, *names])).split()
    named = [word for word in words if word in _SUPPLEMENTS]
    if not named or any(word.startswith("sup") or _IN_SUPPLEMENT.fullmatch(word) for word in of_record):
        return []
    return [FieldDifference(field="issue", given=named[0], record=str(item.get("issue") or ""))]


_Labelled = tuple[str, FieldName]
"""A number, and the field that it belongs to."""


def _is_possible(
    form: Sequence[_Labelled], has: Collection[FieldName], named: Mapping[str, Collection[FieldName]]
) -> bool:
    """Return whether numbers can be a form of a place in which fields are missing.

    A number alone is the volume. So an issue without the volume or the pages, and a page without the volume, need a
    sign that names their field.

    Args:
        has: the fields that the record has.
        named: the fields that the signs before numbers name.
    """
    fields = [name for _, name in form]
    needs_sign: list[FieldName] = []
    if ("volume" in has and "volume" not in fields) or ("pages" in has and "pages" not in fields):
        needs_sign.append("issue")
    if fields == ["pages"] and "volume" in has:
        needs_sign.append("pages")
    if fields == ["volume"] and "pages" in named.get(form[0][0], ()):
        return False
    return all(name in named.get(word, ()) for word, name in form if name in needs_sign)


def _compare_numbers(
    values: Sequence[str],
    forms: Sequence[Sequence[_Labelled]],
    item: Item,
    named: Mapping[str, Collection[FieldName]],
) -> list[FieldDifference]:
    """Compare numbers with the most similar form of volume, issue and pages, and return the fields that differ."""
    record = {"pages": item.get("page") or item.get("number"), "volume": item.get("volume"), "issue": item.get("issue")}

    def measure_cost(form: Sequence[_Labelled]) -> tuple[int, int, bool]:
        wrong: list[FieldName] = [name for (word, name), mine in zip(form, values, strict=False) if word != mine]
        wrong += [name for _, name in form[len(values) :]]
        wrong += ["pages"] * (len(values) - len(form))
        return (len(wrong), len(set(wrong)), "issue" in wrong)

    if not values or not forms:
        return []
    has = {name for form in forms for _, name in form}
    # A form that has more fields than the text is another form without these fields.
    whole = [
        form for form in forms if {name for _, name in form[len(values) :]} <= {name for _, name in form[: len(values)]}
    ]
    best = min((form for form in whole if _is_possible(form, has, named)), key=measure_cost)
    wrong: dict[FieldName, list[str]] = {}
    for (word, name), mine in zip(best, values, strict=False):
        if word != mine:
            wrong.setdefault(name, []).append(mine)
    if len(values) > len(best):
        wrong.setdefault("pages", []).extend(values[len(best) :])
    return [
        FieldDifference(field=name, given=" ".join(numbers), record=str(record.get(name) or ""))
        for name, numbers in wrong.items()
    ]


def _list_places(article: Article, item: Item) -> list[list[_Labelled]]:
    """Return the possible forms of volume, issue and pages in a text.

    Each can be missing. A page range can be complete, shortened, or only its first page.
    """
    pages = expand_ranges(str(item.get("page") or item.get("number") or ""))
    head = re.split(r"[,;]", pages)[0]
    first, _, last = head.partition("-")
    journal = article.journal_info or JournalInfo()
    number = journal.article_number or ""
    forms = {
        tuple(fold_text(form).split())
        for form in (pages, head, first, journal.pages or "", number, number.lstrip("eE"))
    }
    forms |= {(*fold_text(first).split(), *fold_text(last)[size:].split()) for size in range(len(fold_text(last)))}
    volume, issue = (tuple(fold_text(str(item.get(name) or "")).split()) for name in ("volume", "issue"))
    places: list[list[_Labelled]] = []
    for volume_words in dict.fromkeys((volume, (convert_roman("".join(volume)),), ())):
        for issue_words in dict.fromkeys((issue, ())):
            for page_words in (*sorted(forms, key=lambda form: -len(" ".join(form))), ()):
                labelled: list[_Labelled] = [(word, "volume") for word in volume_words]
                labelled += [(word, "issue") for word in issue_words]
                labelled += [(word, "pages") for word in page_words]
                places.append([label for label in labelled if any(letter.isdigit() for letter in label[0])])
    return places
