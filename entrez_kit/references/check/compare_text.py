"""Compare the text of a reference with a record.

The text is not split into fields. It agrees with a record if it contains the whole title, all its words and numbers
are in the record, and authors and numbers are in the order of the record. A difference names its field if the field is
clear: the title and each author may contain mistakes, and the position of a number determines its field.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from entrez_kit.base.frontend_text import cut_end
from entrez_kit.citations.csl import Item, build_csl_item
from entrez_kit.citations.names import Name, convert_to_csl_names, format_name
from entrez_kit.citations.titles import abbreviates
from entrez_kit.pubmed.comparison import (
    MIN_PART,
    bound_likeness,
    convert_roman,
    fold_text,
    is_one_edit,
    list_years,
    make_confusable_key,
    make_likeness_key,
    measure_key_likeness,
    measure_text_likeness,
    read_digits,
)
from entrez_kit.pubmed.models import LANGUAGES, Article, ArticleDate, JournalInfo, PublicationDate
from entrez_kit.pubmed.pages import expand_ranges
from entrez_kit.pubmed.xml.dates import MONTH_NAMES
from entrez_kit.references.check.compare_fields import (
    LIKE_TITLES,
    Agreement,
    FieldDifference,
    FieldName,
    find_identifier_differences,
    join_shown_names,
    list_titles,
)
from entrez_kit.references.check.guessing import DOCUMENT_TYPE
from entrez_kit.references.check.pasted_lists import list_words
from entrez_kit.references.files.references import Reference

MAX_SHOWN: Final = 120
MAX_LEFT: Final = 12
MIN_TITLE: Final = 3
"""From this number of words without a field, the words are the title of another work."""
SURE_TITLE: Final = 15
"""From this number of letters, a text contains most of a title only if it cites the work."""
WIDER: Final = (0, 1, -1)
"""How many words longer than the correct title a title with mistakes can be."""
MAX_WINDOWS: Final = 5
"""Maximum number of positions at which the text is compared with a title letter by letter."""
MAX_PART: Final = 60
"""Maximum words of the beginning of a title that is searched in a text."""
MAX_NAMES: Final = 100
"""Maximum authors whose names may contain mistakes. Names after these must match exactly."""
MAX_HEAD: Final = 600
"""Maximum words searched for authors whose names may contain mistakes."""
_LEFT_OUT: Final = re.compile(r"…|\.\s?\.\s?\.")
_SUPERFLUOUS_WORDS: Final = (
    "a an and the of in on for to at from et al others doi pmid pmcid vol volume no nr number issue p pp pg pages "
    "article art epub ahead print online available published posted preprint pubmed central suppl supp supplement pt "
    "part nos vols advance publication press french german spanish chinese japanese russian italian portuguese dutch "
    "polish english abstract internet"
)
_SUPERFLUOUS: Final = frozenset(_SUPERFLUOUS_WORDS.split())
"""Words that do not help to identify a work."""
_PLACE_WORDS: Final = "bd band jg jahrgang h heft s seiten t tome n num u coll т с вып стр и др"
_OF_PLACES: Final = frozenset(_PLACE_WORDS.split())
"""Words before volumes, issues and pages in German, French, Russian and Chinese lists."""
_OTHERS: Final = frozenset((("et", "al"), ("and", "others"), ("u", "a"), ("et", "coll"), ("и", "др")))
"""Words that replace omitted authors."""
_NOT_NAMES: Final = frozenset(("eds", "coll", "u", "и", "др"))
_BOOK_WORDS: Final = "edited by ed eds editor editors edition revised chap chapter report univ up hrsg"
_OF_BOOKS: Final = frozenset(_BOOK_WORDS.split())
"""Words before the parts of a book in a reference."""
_GENERATIONS: Final = frozenset(("jr", "sr", "ii", "iii", "iv", "2nd", "3rd", "4th"))
_PARTICLES: Final = ("non-dropping-particle", "dropping-particle")
NAME_WORDS: Final = 12
"""Maximum words between two family names."""
MAX_INITIALS: Final = 3
_SPELT: Final = re.compile(r"\b(\w) (?=\w\b)")
_YEAR: Final = re.compile(r"(?:1[5-9]|2[01])[0-9]{2}[a-z]?")


def compare_text(reference: Reference, article: Article) -> Agreement:
    """Compare a reference given as text with a record."""
    item = build_csl_item(article)
    words = list_words(DOCUMENT_TYPE.sub(" ", reference.text or ""), _list_record_words(article, item))
    mismatches = list(find_identifier_differences(reference, article))
    if not words:
        return Agreement(True, mismatches, [], False)
    sure = _is_at_its_place(reference, words, article, item)
    title = _find_title(words, article, sure=sure)
    if title.difference is not None:
        mismatches.append(title.difference)
    for start, length in sorted(title.spans, reverse=True):
        del words[start : start + length]
    head = min((start for start, _ in title.spans), default=None)
    authors = _compare_authors(words, article, reference.text or "", head, _find_journal(words, article, item))
    if authors.difference is not None:
        mismatches.append(authors.difference)
    other_words = [word for n, word in enumerate(words) if n not in authors.taken]
    comparison = _compare_place(other_words, article, item)
    if title.spans:
        return Agreement(not authors.are_others, [*mismatches, *comparison.differences], comparison.left, authors.agree)
    # If the title of the record is not in the text, the remaining words may be another title.
    unknown = [word for word in comparison.left if len(word) > 1]
    unknown += [
        word
        for difference in comparison.differences
        if difference.field == "journal"
        for word in difference.given.split()
    ]
    names_other_work = len(unknown) >= MIN_TITLE
    excerpt = cut_end(reference.text or "", MAX_SHOWN) if names_other_work else ""
    detail = "the text does not have the title of the record" if names_other_work else "the text has no title"
    nearly = (
        not unknown
        and authors.agree
        and authors.difference is None
        and _is_nearly_at_its_place(words, article, item, comparison)
    )
    if unknown or not (sure or nearly):  # journal, volume and page identify a work without a title
        mismatches.append(
            FieldDifference(field="title", given=excerpt, record=str(item.get("title", "")), detail=detail)
        )
    differences = [
        difference for difference in comparison.differences if not (names_other_work and difference.field == "journal")
    ]
    agrees = sure or nearly or (authors.agree and not differences)
    same = not names_other_work and not authors.are_others and agrees
    return Agreement(same, [*mismatches, *differences], [] if names_other_work else comparison.left, authors.agree)


def _is_nearly_at_its_place(words: Sequence[str], article: Article, item: Item, comparison: "_Place") -> bool:
    """Return true if a text without a title differs from a record only in the year, the volume or the pages."""
    fields = [difference.field for difference in comparison.differences]
    agreeing = [bool(wanted) and wanted <= set(words) for wanted in map(set, _list_volume_and_page(item))]
    agreeing.append(not set(list_years(article)).isdisjoint(words))
    return (
        comparison.has_journal and len(fields) == 1 and fields[0] in ("year", "volume", "pages") and sum(agreeing) >= 2
    )


def _list_volume_and_page(item: Item) -> tuple[list[str], list[str]]:
    """Return the words of the volume and of the first page of a record."""
    page = str(item.get("page") or item.get("number") or "").partition("-")[0]
    return fold_text(str(item.get("volume") or "")).split(), fold_text(page).split()


def _list_record_words(article: Article, item: Item) -> set[str]:
    """Return the words of the titles, the authors and the journal of a record."""
    names = convert_to_csl_names(article.authors)
    texts = [*list_titles(article), *_list_journal_names(article, item), *map(format_name, names)]
    return {word for text in texts for word in fold_text(text).split()}


def _is_at_its_place(reference: Reference, words: Sequence[str], article: Article, item: Item) -> bool:
    """Return true if an identifier agrees with the record, or the text has its journal, volume and first page."""
    if any(
        (getattr(reference, name) or "-").lower() == (getattr(article, name) or "").lower()
        for name in ("doi", "pmid", "pmcid")
    ):
        return True
    volume, page = _list_volume_and_page(item)
    return bool(volume and page) and {*volume, *page} <= set(words) and _has_journal(words, article, item)


def _has_journal(words: Sequence[str], article: Article, item: Item) -> bool:
    return any(_find_words(fold_text(name).split(), words) is not None for name in _list_journal_names(article, item))


def _list_journal_names(article: Article, item: Item) -> list[str]:
    journal = article.journal_info or JournalInfo()
    names = [journal.title, journal.iso_abbreviation]
    names += [str(item[key]) for key in ("container-title", "container-title-short", "publisher") if item.get(key)]
    return [name for name in names if name]


def _find_words(wanted: Sequence[str], words: Sequence[str]) -> int | None:
    """Return the position of consecutive words in other words."""
    if not wanted:
        return None
    size = len(wanted)
    return next((n for n in range(len(words) - size + 1) if list(words[n : n + size]) == list(wanted)), None)


def _find_journal(words: Sequence[str], article: Article, item: Item) -> int | None:
    """Return the position of the journal in a text. An abbreviated name ends before the first number."""
    names = sorted((fold_text(name).split() for name in _list_journal_names(article, item)), key=len, reverse=True)
    whole = next((start for name in names if (start := _find_words(name, words)) is not None), None)
    if whole is not None:
        return whole
    end = start = _find_first_number(words)
    known = [word for name in names for word in name]
    while start and any(abbreviates(words[start - 1], word) for word in known):
        start -= 1
    return start if start < end else None


def _find_first_number(words: Sequence[str]) -> int:
    return next((n for n, word in enumerate(words) if word.isdigit()), len(words))


# Title


@dataclass(frozen=True, slots=True)
class _Title:
    """The position of the title of a record in a text, and the difference between the two."""

    spans: Sequence[tuple[int, int]] = ()
    difference: FieldDifference | None = None


def _find_title(words: Sequence[str], article: Article, *, sure: bool) -> _Title:
    """Find the whole title, the title with mistakes, or the beginning of the title."""
    titles = [fold_text(title).split() for title in list_titles(article)]
    spans = [(start, len(title)) for title in titles if (start := _find_words(title, words)) is not None]
    if spans:
        return _Title(spans)
    record = str(build_csl_item(article).get("title", ""))
    similar = [span for title in titles if title and (span := _find_similar_part(title, words, sure=sure)) is not None]
    if similar:
        _, start, length = max(similar)
        passage = " ".join(words[start : start + length])
        return _Title([(start, length)], FieldDifference(field="title", given=passage, record=record))
    for title in titles:
        for size in range(min(len(title) - 1, MAX_PART), MIN_PART - 1, -1):
            if (start := _find_words(title[:size], words)) is not None and (
                sure or set(words) & set(list_years(article))
            ):
                passage = " ".join(words[start : start + size])
                detail = f"the text has only the beginning of the title: {passage}"
                return _Title(
                    [(start, size)], FieldDifference(field="title", given=passage, record=record, detail=detail)
                )
    return _Title()


def _find_similar_part(title: Sequence[str], words: Sequence[str], *, sure: bool) -> tuple[float, int, int] | None:
    """Return the likeness, the position and the number of words of the part of a text most similar to a title."""
    whole = "".join(title)
    if not sure and len(whole) < SURE_TITLE:
        return None
    keys = {make_confusable_key(word): n for n, word in reversed(list(enumerate(title)))}
    votes = Counter(n - keys[key] for n, word in enumerate(words) if (key := make_confusable_key(word)) in keys)
    starts = [start for start, _ in votes.most_common() if start >= 0][:MAX_WINDOWS]
    key = make_likeness_key(whole)
    windows = [
        (bound_likeness(part, key), start, length, part)
        for start in starts or range(min(len(words), MAX_WINDOWS))
        for length in (len(title) + more for more in WIDER)
        if 0 < length <= len(words) - start
        for part in (make_likeness_key("".join(words[start : start + length])),)
    ]
    best: tuple[float, int, int] | None = None
    for bound, start, length, part in sorted(windows, reverse=True):
        if bound < (best[0] if best else LIKE_TITLES):
            break  # no other window can be more similar
        candidate = measure_key_likeness(part, key), start, length
        if candidate[0] >= LIKE_TITLES and (best is None or candidate > best):
            best = candidate
    return best


# Authors


@dataclass(slots=True)
class _Authors:
    """The result of comparing the authors; ``taken`` has the positions of the words of authors."""

    taken: set[int] = field(default_factory=set)
    difference: FieldDifference | None = None
    agree: bool = False
    are_others: bool = False


@dataclass(slots=True)
class _Found:
    """The authors of a record that a text names: their positions, and the misspelt names."""

    places: dict[int, int] = field(default_factory=dict)
    misspelt: dict[int, str] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)


def _compare_authors(
    words: Sequence[str], article: Article, text: str, head: int | None, journal: int | None
) -> _Authors:
    """Compare the authors, which precede the title (at ``head``) or, without a title, the journal."""
    names = convert_to_csl_names(article.authors, with_initials=True)
    if not names:
        return _Authors()
    # An ellipsis in the title does not replace authors.
    others = any(pair in _OTHERS for pair in pairwise(words))
    others = others or (_LEFT_OUT.search(text) is not None and _LEFT_OUT.search(article.title) is None)
    known_end = head if head is not None else journal
    count, taken = _match_in_order(words, names, others=others, end=known_end or len(words))
    end = known_end if known_end is not None else _find_first_number(words)
    may_be_names = [n for n in range(end) if n not in taken and _may_be_name(words[n])]
    if count and (others or count == len(names)) and not (known_end and may_be_names):
        return _Authors(taken, agree=True)
    if not head and not count:
        end = len(words) if head == 0 else end
    matched = _match_with_mistakes(words[: min(end, MAX_HEAD)], names)
    if not matched.places:
        if not may_be_names:
            return _Authors(taken)  # the text names no authors
        return _Authors(taken | set(range(known_end or 0)), _to_other_authors(words, names, known_end), are_others=True)
    open_words = [words[n] for n in range(end) if n not in matched.taken and _may_be_name(words[n])]
    added = [word for word in open_words if len(word) > 1]
    has_initials = any(len(word) < MAX_INITIALS for word in open_words)
    if head is None and not (journal is not None and len(added) < MIN_TITLE and has_initials):
        added, known_end = [], None  # these words may be another title
    # "et al." does not replace the first authors.
    wanted = names[: min(matched.places)] if others else names
    missing = [format_name(name) for n, name in enumerate(wanted) if n not in matched.places]
    order = [matched.places[n] for n in sorted(matched.places)]
    problems = [
        f"{label}: {join_shown_names(texts)}"
        for label, texts in (
            ("misspelt", [f"{word} (record: {format_name(names[n])})" for n, word in matched.misspelt.items()]),
            ("added", added),
            ("missing", missing),
        )
        if texts
    ]
    problems += (
        [f"initials: {join_shown_names(wrong)}"] if (wrong := _find_wrong_initials(words[:end], names, matched)) else []
    )
    problems += ["the order differs"] if order != sorted(order) else []
    result = _Authors(matched.taken | set(range(known_end or 0)), agree=True)
    if problems:
        names_text = " ".join(words[:end])
        result.difference = FieldDifference(
            field="authors",
            given=names_text,
            record=join_shown_names(list(map(format_name, names))),
            detail="; ".join(problems),
        )
    if len(matched.places) * 3 < len(matched.places) + len(added):
        result.agree, result.are_others = False, True
    return result


def _to_other_authors(words: Sequence[str], names: Sequence[Name], head: int | None) -> FieldDifference:
    """Return the difference for a text by other authors."""
    known = [fold_text(str(name.get("literal") or name.get("family") or "")).split() for name in names]
    has_any = any(_find_words(family, words) is not None for family in known)
    detail = "the authors are different" if has_any else "the text does not have any author of the record"
    text = " ".join(words[: head or NAME_WORDS])
    return FieldDifference(
        field="authors", given=text, record=join_shown_names(list(map(format_name, names))), detail=detail
    )


def _may_be_name(word: str) -> bool:
    return word not in _SUPERFLUOUS and not word.isdigit() and word not in _GENERATIONS and word not in _NOT_NAMES


def _match_in_order(words: Sequence[str], names: Sequence[Name], *, others: bool, end: int) -> tuple[int, set[int]]:
    """Return how many authors of a record a text begins with, in order, and the positions of their words.

    Only given names and initials of two neighbours may be between their family names. If the text has ``others`` ("et
    al."), it may omit authors of the record, but not the first. The title began at ``end``, so a letter after ``end``
    belongs to the journal.
    """
    taken: set[int] = set()
    begin = 0
    before: set[str] = set()
    count = 0
    for name in names:
        family = _split_family(name)
        given = _list_given_forms(name)
        offset = _find_words(family, words[begin : begin + len(family) + NAME_WORDS])
        between = range(begin, begin + (offset or 0))
        if offset is None or any(words[n] not in before | given | _SUPERFLUOUS for n in between):
            if others and count:
                continue
            break
        begin += offset + len(family)
        taken.update(range(between.start, begin))
        before = given
        count += 1
    while begin < min(end, len(words)) and words[begin] in before:
        taken.add(begin)
        begin += 1
    return count, taken


def _split_family(name: Name) -> list[str]:
    family = fold_text(str(name.get("literal") or name.get("family") or "")).split()
    return family[1:] if family[:1] == ["the"] and len(family) > 1 else family


def _match_with_mistakes(words: Sequence[str], names: Sequence[Name]) -> _Found:
    """Find the authors of a record in words, in any order. A family name may contain mistakes."""
    matched = _Found()
    for number, name in enumerate(names):
        family = _split_family(name)
        size = len(family)
        starts = [n for n in range(len(words) - size + 1) if matched.taken.isdisjoint(range(n, n + size))]
        exact = [n for n in starts if list(words[n : n + size]) == family]
        if exact:
            # Given names distinguish persons with the same family name.
            start = max(exact, key=lambda n: (_has_given(words, n, size, name), -n))
        elif number >= MAX_NAMES:
            continue
        else:
            similar = [(likeness, -n) for n in starts if (likeness := _compare_family(words, n, size, name))]
            if not similar:
                continue
            start = -max(similar)[1]
            matched.misspelt[number] = " ".join(words[start : start + size])
        matched.places[number] = start
        matched.taken.update(range(start, start + size))
        given = {make_confusable_key(form) for form in _list_given_forms(name)}
        for step in (1, -1):
            n = start + size if step > 0 else start - 1
            while 0 <= n < len(words) and n not in matched.taken and make_confusable_key(words[n]) in given:
                matched.taken.add(n)
                n += step
    return matched


def _find_wrong_initials(words: Sequence[str], names: Sequence[Name], matched: _Found) -> list[str]:
    """Return the single initials beside family names that are not those of the record.

    Initials precede or follow all family names of a text. So a letter is compared only if the initials of at least
    half of the other authors agree.
    """
    sides: dict[int, list[tuple[bool, str]]] = {1: [], -1: []}
    for number, start in sorted(matched.places.items(), key=lambda item: item[1]):
        name = names[number]
        forms = {make_confusable_key(form) for form in _list_given_forms(name)}
        for side, n in ((1, start + len(_split_family(name))), (-1, start - 1)):
            word = words[n] if 0 <= n < len(words) else ""
            is_right = make_confusable_key(word) in forms
            is_letter = bool(forms) and len(word) == 1 and word.isalpha()
            if is_right or is_letter:
                problem = "" if is_right else f"{word.upper()} (record: {format_name(name)})"
                sides[side].append((is_right, problem))
    best_side = max(sides.values(), key=lambda side: (sum(is_right for is_right, _ in side), len(side)))
    wrong = [problem for is_right, problem in best_side if not is_right]
    return wrong if len(wrong) * 2 <= len(best_side) or len(matched.places) == 1 else []


def _has_given(words: Sequence[str], start: int, size: int, name: Name) -> bool:
    given = {make_confusable_key(form) for form in _list_given_forms(name)}
    return any(
        make_confusable_key(word) in given
        for word in (*words[start + size : start + size + 1], *words[max(0, start - 1) : start])
    )


def _compare_family(words: Sequence[str], start: int, size: int, name: Name) -> float:
    """Return the likeness of a part of a text to a family name; 0 if it is another name."""
    family, recorded = "".join(words[start : start + size]), "".join(_split_family(name))
    likeness = measure_text_likeness(family, recorded, LIKE_TITLES)
    if is_one_edit(family, recorded) and _has_given(words, start, size, name):
        return max(likeness, LIKE_TITLES)
    return likeness if likeness >= LIKE_TITLES and len(recorded) > MAX_INITIALS else 0.0


def _list_given_forms(name: Name) -> set[str]:
    """Return the forms of a given name: the name, its parts, and its initials with and without spaces."""
    words = fold_text(str(name.get("given") or "")).split()
    particles = fold_text(" ".join(str(name.get(part) or "") for part in _PARTICLES)).split()
    initials = "".join(word[0] for word in words)
    letters = {letter for word in words if len(word) <= MAX_INITIALS for letter in word}
    suffixes = _GENERATIONS if name.get("suffix") else frozenset[str]()
    printed = fold_text(name.get("initials", ""))  # PubMed may have fewer initials than given names
    return {*words, *particles, *initials, initials, initials[:1], printed, "".join(words), *letters} - {""} | suffixes


# Journal, dates, volume, issue and pages


class _Place(NamedTuple):
    """The result of comparing journal, dates and numbers; ``left`` has words that do not belong to any field."""

    differences: list[FieldDifference]
    left: list[str]
    has_journal: bool


def _compare_place(words: Sequence[str], article: Article, item: Item) -> _Place:
    """Compare words with the journal and the dates, and numbers with volume, issue and pages in order."""
    journal = article.journal_info or JournalInfo()
    of_book = _list_book_words(article)
    words = [word for word in words if word not in of_book]
    names = _list_journal_names(article, item)
    has_journal = _has_journal(words, article, item)
    cut = list(_cut_names(names)) if article.journal_info is not None else []
    for name in sorted((fold_text(name).split() for name in names), key=len, reverse=True):
        if len(name) > 1 and (start := _find_words(name, words)) is not None:  # a year may be part of it
            words = [*words[:start], *words[start + len(name) :]]
            cut = []
    places = (journal.pages, journal.article_number, item.get("volume"), item.get("issue"))
    texts = [fold_text(name) for name in names]
    of_journal = {word for text in texts for form in (text, _SPELT.sub(r"\1", text)) for word in form.split()}
    known = of_journal | {
        word for word in fold_text(" ".join(filter(None, places))).split() if word.isalpha()
    }  # iii-iv
    of_name = [word for word in words if word in known and word not in _SUPERFLUOUS and not word.isdigit()]
    # "Nature" is not "Nature methods".
    left: list[str] = of_name if cut and 0 < len(of_name) < min(map(len, cut)) else []
    has_journal = has_journal and not left
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
    differences += _compare_numbers(numbers, forms, item)
    if left and names and not has_journal:
        journal_text = " ".join(word for word in words if word in left or word in of_journal)
        differences.append(
            FieldDifference(field="journal", given=journal_text, record=str(item.get("container-title") or names[0]))
        )
        left = []
    return _Place(differences, left[:MAX_LEFT], has_journal)


def _list_book_words(article: Article) -> set[str]:
    """Return the words of a book that a reference can have: editors, edition, series, publisher and numbers."""
    book = article.book_info
    if book is None:
        return set()
    people = convert_to_csl_names([*book.authors, *book.editors], with_initials=True)
    words = {word for name in people for word in (*_split_family(name), *_list_given_forms(name), *_GENERATIONS)}
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
    month_names = {name for month in months for name in MONTH_NAMES[month - 1]}
    languages = {LANGUAGES[code][1].lower() for code in article.languages if code in LANGUAGES}
    after_month = False
    for n, word in enumerate(words):
        if word in known and not word.isdigit():
            continue
        if word in days and words[n + 1 : n + 2] and words[n + 1] in month_names:
            continue
        if word in month_names or (word.isalpha() and word in ranged):
            after_month = True
            continue
        if word in years or (after_month and word in days):
            pass
        elif any(letter.isdigit() for letter in word) or read_digits(word) in digits:
            yield word, True
        elif word not in _SUPERFLUOUS and word not in _OF_PLACES and word not in languages:
            yield word, False
        after_month = False


def _cut_names(names: Iterable[str | None]) -> Iterator[list[str]]:
    """Yield the significant words of the names of a journal, without text in brackets and after colons."""
    for name in names:
        text = fold_text(re.split(r"[(:=]", name or "", maxsplit=1)[0])
        for form in {text, _SPELT.sub(r"\1", text)}:
            if words := [word for word in form.split() if word not in _SUPERFLUOUS and not word.isdigit()]:
                yield words


_Labelled = tuple[str, FieldName]
"""A number, and the field that it belongs to."""


def _compare_numbers(values: Sequence[str], forms: Sequence[Sequence[_Labelled]], item: Item) -> list[FieldDifference]:
    """Compare numbers with the most similar form of volume, issue and pages, and return the fields that differ."""
    record = {"pages": item.get("page") or item.get("number"), "volume": item.get("volume"), "issue": item.get("issue")}

    def measure_cost(form: Sequence[_Labelled]) -> tuple[int, int, bool]:
        wrong: list[FieldName] = [name for (word, name), mine in zip(form, values, strict=False) if word != mine]
        wrong += [name for _, name in form[len(values) :]]
        wrong += ["pages"] * (len(values) - len(form))
        return (len(wrong), len(set(wrong)), "issue" in wrong)

    if not values or not forms:
        return []
    best = min(forms, key=measure_cost)
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
