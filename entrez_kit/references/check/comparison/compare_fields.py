"""Compare the fields of a reference with a record: each field of the reference, and each author in order.

Valid variants are equal: letter case, accents, ü and ue, ß and ss, initials and given names, abbreviated journals,
shortened page ranges, Greek letters and their names. Everything else is a difference.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, get_args

from entrez_kit.base.frontend_text import format_count
from entrez_kit.citations.csl import Item, build_csl_item
from entrez_kit.citations.names import Name, format_family_name, format_name, format_suffix
from entrez_kit.citations.titles import abbreviates, format_journal_title
from entrez_kit.core.model import Result
from entrez_kit.pubmed.comparison import (
    are_titles_alike,
    begins,
    fold_text,
    is_one_edit,
    is_same_pages,
    is_same_volume,
    list_years,
    measure_text_likeness,
    strip_place,
)
from entrez_kit.pubmed.models import Article, BookInfo, JournalInfo
from entrez_kit.references.files.references import RefAuthor, Reference

FieldName = Literal["title", "authors", "journal", "year", "volume", "issue", "pages", "doi", "pmid", "pmcid"]
IdentifierName = Literal["doi", "pmid", "pmcid"]
IDENTIFIERS: Final[tuple[IdentifierName, ...]] = get_args(IdentifierName)

SIMILAR_NAMES: Final = 0.6
SURE_NAMES: Final = 0.75
LIKE_TITLES: Final = 0.75
"""Minimum likeness of a title with mistakes to the correct title."""
ONE_LETTER: Final = 0.8
"""The likeness assigned to two family names that differ in one letter."""
SHORT_NAME: Final = 4
"""Shorter family names that differ in one letter often belong to different persons."""
MAX_NAME: Final = 200
SHOWN_NAMES: Final = 10
_UMLAUT: Final = re.compile(r"(?<![aeiouqy])(a|o|u)e")
_SUPPLEMENT: Final = re.compile(r"\bsup", re.IGNORECASE)
_IN_SUPPLEMENT: Final = re.compile(r"\b(?:sup|s[0-9])", re.IGNORECASE)
_MARKED_TITLE: Final = re.compile(
    r"^\W*(?:retracted(?: article| publication)?|withdrawn(?: article)?|expression of concern)\s*[:.\]-]+\s*",
    re.IGNORECASE,
)
_PARTICLES: Final = frozenset(("da", "das", "de", "del", "di", "do", "dos", "du", "e", "la", "van", "von", "y"))
_SMALL_WORDS: Final = frozenset(
    (
        *("a", "an", "and", "for", "in", "of", "on", "the", "to"),
        *("de", "der", "des", "di", "et", "fur", "la", "le", "les", "und"),
    )
)


class FieldDifference(Result):
    """A field with different values in a reference and its record; ``detail`` explains a complex difference."""

    field: FieldName
    given: str
    record: str
    detail: str | None = None


class Agreement(NamedTuple):
    """The result of comparing a reference with a record.

    ``same``: the reference cites the work of the record. ``left``: words of a text that do not belong to any field of
    the record. ``has_authors``: the reference names authors, and they are those of the record. ``has_exact_title``: its
    title is one of the record, including a mark such as "Expression of concern:", which notices have before the title.
    """

    same: bool
    differences: list[FieldDifference]
    left: list[str]
    has_authors: bool
    has_exact_title: bool = False


def compare_fields(reference: Reference, article: Article, *, any_author: bool = False) -> Agreement:
    """Compare a reference that has fields with a record.

    Args:
        any_author: whether the one author of the reference may be any author of the record.
    """
    is_bare = not (reference.title or reference.authors or reference.year or reference.volume or reference.pages)
    differing = list_differences(reference, article, any_author=any_author)
    same = is_bare or is_same_work(reference, article, any_author=any_author)
    exact = bool(reference.title) and _strip_text(reference.title or "") in map(_strip_text, list_titles(article))
    return Agreement(same, differing, [], same and bool(reference.authors and article.authors), exact)


def list_differences(reference: Reference, article: Article, *, any_author: bool = False) -> list[FieldDifference]:
    """Return the fields that differ. A field that is missing in the reference or in the record is not a difference."""
    item = build_csl_item(article)
    differences: list[FieldDifference] = []

    def differs(field: FieldName, value: str, record: str, detail: str | None = None) -> None:
        differences.append(FieldDifference(field=field, given=value, record=record, detail=detail))

    if reference.title and list_titles(article) and not _is_title(reference.title, article):
        differs("title", reference.title, str(item.get("title", "")))
    if reference.authors and (
        detail := describe_author_difference(reference, item.get("author", []), any_author=any_author)
    ):
        names = join_shown_names([author.text for author in reference.authors])
        differs("authors", names, join_shown_names([format_name(name) for name in item.get("author", ())]), detail)
    container = item.get("container-title") or item.get("publisher")
    if reference.journal and container and not is_same_journal(reference.journal, article):
        differs("journal", reference.journal, str(container))
    years = list_years(article)
    if reference.year and years and reference.year not in years:
        differs("year", reference.year, years[0])
    volume, issue = item.get("volume"), item.get("issue")
    if reference.volume and volume and not is_same_volume(reference.volume, volume):
        differs("volume", reference.volume, volume)
    if reference.issue and issue and not _is_same_issue(reference.issue, issue, volume or ""):
        differs("issue", reference.issue, issue)
    pages = _list_pages(article, item)
    if reference.issue and volume and not issue and article.pmid and reference.issue not in pages:
        differs("issue", reference.issue, "", f"{reference.issue}: the record does not have an issue")
    if reference.pages and pages and item["type"] not in ("report", "book") and not _is_on_pages(reference, pages):
        differs("pages", reference.pages, " or ".join(pages))
    return [*differences, *find_identifier_differences(reference, article)]


def list_titles(article: Article) -> list[str]:
    """Return the titles of a work: the English title and the title in the original language."""
    return [title for title in (article.title, article.vernacular_title) if title]


def find_identifier_differences(reference: Reference, article: Article) -> Iterator[FieldDifference]:
    """Yield the identifiers that differ between a reference and a record."""
    for name, mine in reference.identifiers:
        theirs = getattr(article, name)
        if theirs and mine.lower() != theirs.lower():
            yield FieldDifference(field=name, given=mine, record=theirs)


def is_same_work(reference: Reference, article: Article, *, any_author: bool = False) -> bool:
    """Return true if a reference cites the work of a record: its title and authors are not those of another work.

    If an identifier agrees, or journal, volume and page agree, the title and the authors may contain mistakes.
    Otherwise a similar title requires the same year, and a title with mistakes also requires the same authors. Without
    a title, the first author, year, volume and page decide.
    """
    item = build_csl_item(article)
    names = _choose_names(reference, item.get("author", []), any_author=any_author)
    sure = is_at_its_place(reference, article)
    if _has_other_authors(reference.authors, names, sure=sure):
        return False
    titles = list_titles(article)
    if reference.title and titles:
        return _is_title(reference.title, article) or _is_title_with_mistakes(reference, article, names, sure=sure)
    volume, pages, years = item.get("volume"), _list_pages(article, item), list_years(article)
    agreeing: list[bool] = []
    if reference.authors and names:
        agreeing.append(_compare_names(reference.authors[0], names[0], sure=True) >= SURE_NAMES)
    if reference.year and years:
        agreeing.append(reference.year in years)
    if reference.volume and volume:
        agreeing.append(is_same_volume(reference.volume, volume))
    if reference.pages and pages:
        agreeing.append(_is_on_pages(reference, pages))
    return sure or sum(agreeing) >= min(2, len(agreeing))


def is_at_its_place(reference: Reference, article: Article) -> bool:
    """Return true if an identifier agrees with the record, or if journal, volume and page agree."""
    if any((getattr(reference, name) or "-").lower() == (getattr(article, name) or "").lower() for name in IDENTIFIERS):
        return True
    item = build_csl_item(article)
    return (
        bool(reference.journal and reference.volume and item.get("volume"))
        and is_same_journal(reference.journal or "", article)
        and is_same_volume(reference.volume or "", item["volume"])
        and _is_on_pages(reference, _list_pages(article, item))
    )


def _is_title_with_mistakes(reference: Reference, article: Article, names: Sequence[Name], *, sure: bool) -> bool:
    """Return true if the title of a reference is the title of the record with mistakes, or a part of it."""
    reference_title = fold_text(reference.title or "")
    titles = [fold_text(title) for title in list_titles(article)]
    if sure:
        like = any(
            measure_text_likeness(reference_title, title, LIKE_TITLES) >= LIKE_TITLES
            or _has_words_of(reference_title, title)
            for title in titles
        )
        return like or is_matching_title(reference, article)
    if is_matching_title(reference, article):
        part = not reference.year and any(begins(reference_title, title) for title in titles)
        return part or reference.year in list_years(article)
    known = bool(reference.authors and names) and not describe_author_difference(reference, names)
    return (
        known
        and reference.year in list_years(article)
        and any(
            measure_text_likeness(reference_title, title, LIKE_TITLES) >= LIKE_TITLES
            and re.findall("[0-9]+", reference_title) == re.findall("[0-9]+", title)
            for title in titles
        )
    )


def _has_words_of(text: str, title: str) -> bool:
    """Return true if a title consists of at least half of the words of another title, in the same order."""
    words, left = text.split(), iter(title.split())
    return len(words) * 2 >= len(title.split()) and all(word in left for word in words)


def is_matching_title(reference: Reference, article: Article) -> bool:
    """Return true if the title of a reference is equal or similar to the title of a record."""
    reference_title = reference.title or ""
    return bool(reference_title) and (
        _is_title(reference_title, article)
        or any(are_titles_alike(fold_text(reference_title), fold_text(title)) for title in list_titles(article))
    )


def _has_other_authors(mine: Sequence[RefAuthor], names: Sequence[Name], *, sure: bool) -> bool:
    """Return true if the authors of a reference are those of another work.

    Then fewer than half of them match authors of the record (misspelt names count as matches), or the first author
    differs and fewer than two thirds match.
    """
    if not mine or not names:
        return False
    places, _ = _match_positions(mine, names, least=SURE_NAMES, sure=sure)
    matching = sum(place is not None for place in places)
    return matching * 2 < len(mine) or (places[0] != 0 and not sure and matching * 3 < len(mine) * 2)


# Text


def _strip_text(text: str) -> str:
    return fold_text(text).replace(" ", "")


def _make_title_key(title: str) -> str:
    return _strip_text(_MARKED_TITLE.sub("", re.sub(r"</?(?:i|b|em|sub|sup|span)\b[^<>]*+>", "", title)))


def _is_title(mine: str, article: Article) -> bool:
    key = _make_title_key(mine)
    keys = [_make_title_key(title) for title in list_titles(article)]
    # A reference gives a title in two languages in either language, or in both.
    return key in keys or (len(keys) > 1 and key in (keys[0] + keys[1], keys[1] + keys[0]))


# Place


def is_same_journal(title: str, article: Article) -> bool:
    """Return true if a name is the title of the journal, an abbreviation of it, or its initials."""
    journal, book = article.journal_info or JournalInfo(), article.book_info or BookInfo()
    names = [journal.title, journal.iso_abbreviation, book.title, book.collection_title, book.publisher]
    names += [format_journal_title(name) for name in names if name]
    wanted = _list_journal_words(title)
    for name in names:
        words = _list_journal_words(name or "")
        if not words or not wanted:
            continue
        if "".join(words) == "".join(wanted) or _is_abbreviated(wanted, words):
            return True
        initials = "".join(word[0] for word in words)
        if title.strip().isupper() and len(wanted) == 1 and len(title.strip()) > 2 and initials.startswith(wanted[0]):
            return True
    return False


def _list_journal_words(name: str) -> list[str]:
    return [word for word in fold_text(name).split() if word not in _SMALL_WORDS]


def _is_abbreviated(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return true if two names have as many words, and in each pair of words one abbreviates the other."""
    return len(first) == len(second) and all(
        abbreviates(*sorted(pair, key=len)) for pair in zip(first, second, strict=True)
    )


def _is_same_issue(issue: str, recorded: str, volume: str) -> bool:
    """Return true if two issues are equal. A supplement is another issue, also with the same number."""
    is_other = _SUPPLEMENT.search(issue) and not _IN_SUPPLEMENT.search(f"{recorded} {volume}")
    return strip_place(issue) == strip_place(recorded) and not is_other


def _list_pages(article: Article, item: Item) -> list[str]:
    """Return the pages and the article number of a record. A reference may give either."""
    number = (article.journal_info or JournalInfo()).article_number
    candidates = (item.get("page"), item.get("number"), number if item.get("page") else None)
    return list(dict.fromkeys(str(title) for title in candidates if title))


def _is_on_pages(reference: Reference, pages: Sequence[str]) -> bool:
    return bool(reference.pages) and any(is_same_pages(reference.pages or "", recorded) for recorded in pages)


# Authors


def _choose_names(reference: Reference, names: Sequence[Name], *, any_author: bool) -> Sequence[Name]:
    """Return the names to compare with the authors of a reference: all, or with ``any_author`` the most similar one."""
    if not any_author or not reference.authors:
        return names
    mine = reference.authors[0]
    same = [name for name in names if _is_same_person(mine, name)]
    return same[:1] or sorted(names, key=lambda name: -_compare_names(mine, name, sure=True))[:1]


def describe_author_difference(reference: Reference, names: Sequence[Name], *, any_author: bool = False) -> str | None:
    """Describe missing, added, misspelt and misplaced authors; None if the list is correct."""
    mine = reference.authors
    if any_author and names:
        meant = _choose_names(reference, names, any_author=True)
        if _compare_names(mine[0], meant[0], sure=True) < SIMILAR_NAMES:
            return f"{mine[0].text} is not one of the {format_count(len(names), 'author')}"
        names = meant
    theirs = list(names[: len(mine)]) if reference.more_authors else list(names)
    if not theirs:
        return None
    places, misspelt = _match_positions(mine, theirs, least=SIMILAR_NAMES, sure=True)
    problems = []
    for label, texts in (
        (
            "misspelt",
            [
                ", ".join(filter(None, (mine[n].text, mine[n].suffix)))
                + f" (record: {format_name(theirs[places[n] or 0])})"
                for n in misspelt
            ],
        ),
        ("added", [author.text for author, place in zip(mine, places, strict=True) if place is None]),
        ("missing", [format_name(theirs[number]) for number in _list_free(places, theirs)]),
    ):
        if texts:
            problems.append(f"{label}: {join_shown_names(texts)}")
    order = [place for place in places if place is not None]
    if order != sorted(order):
        problems.append("the order differs")
    return "; ".join(problems) or None


def _match_positions(
    mine: Sequence[RefAuthor], theirs: Sequence[Name], *, least: float, sure: bool
) -> tuple[list[int | None], list[int]]:
    """Return the position in the record of each author of a reference, and the indexes of misspelt authors."""
    places = _pair_authors(mine, theirs)
    free = _list_free(places, theirs)
    misspelt: list[int] = []
    for number, place in enumerate(places):
        if (
            place is None
            and (nearest := _find_nearest(number, mine[number], theirs, free, least, sure=sure)) is not None
        ):
            misspelt.append(number)
            free.remove(nearest)
            places[number] = nearest
    return places, misspelt


def _list_free(places: Sequence[int | None], theirs: Sequence[Name]) -> list[int]:
    taken = set(places)
    return [number for number in range(len(theirs)) if number not in taken]


def _pair_authors(mine: Sequence[RefAuthor], theirs: Sequence[Name]) -> list[int | None]:
    """Return the position of each author of a reference in the record; None for an author the record does not have."""
    by_family: dict[str, list[int]] = {}
    for number, name in enumerate(theirs):
        forms = _list_spellings(name.get("literal") or format_family_name(name))
        if family := name.get("family"):
            given = name.get("given", "")
            forms |= {_strip_text(family), _strip_text(f"{given} {family}"), _strip_text(f"{family} {given}")}
        for form in forms:
            by_family.setdefault(form, []).append(number)
    taken: set[int] = set()
    places: list[int | None] = []
    for number, author in enumerate(mine):
        # A name that was split at a comma may be the full name of a group.
        forms = _list_spellings(author.group or author.family or "") | _list_spellings(author.text)
        candidates = sorted({place for form in forms for place in by_family.get(form, ())} - taken)
        candidates.sort(key=lambda place, number=number: abs(place - number))  # type: ignore[misc]
        match = next((place for place in candidates if _is_same_person(author, theirs[place])), None)
        places.append(match)
        if match is not None:
            taken.add(match)
    return places


def _list_spellings(family: str) -> set[str]:
    """Return the spellings of a name in plain letters: muller and mueller, for Müller and for Mueller."""
    text = re.sub(r"^the\s+", "", family.strip(), flags=re.IGNORECASE)
    plain, expanded_form = _strip_text(text), fold_text(text, expand=True).replace(" ", "")
    return {plain, expanded_form, _UMLAUT.sub(r"\1", plain), _UMLAUT.sub(r"\1", expanded_form)} - {""}


def _is_same_person(author: RefAuthor, name: Name) -> bool:
    if "literal" in name:
        return bool(_list_spellings(author.group or author.text) & _list_spellings(name["literal"]))
    family = format_family_name(name)
    if author.group:
        given = name.get("given", "")
        whole = {_strip_text(f"{given} {family}"), _strip_text(f"{family} {given}"), _strip_text(family)}
        return _strip_text(author.group) in whole or bool(_list_spellings(author.group) & _list_spellings(family))
    families = _list_spellings(family) | _list_spellings(name.get("family", ""))
    return (
        bool(_list_spellings(author.family or "") & families)
        and _have_same_given(author.given or "", name.get("given", ""))
        and (not author.suffix or _normalize_suffix(author.suffix) == _normalize_suffix(name.get("suffix", "")))
    )


def _normalize_suffix(suffix: str) -> str:
    return format_suffix(suffix.strip()).strip(".").lower()


def _have_same_given(mine: str, theirs: str) -> bool:
    """Return true if given names can belong to one person: the initials agree, and so do first names given in full."""
    return any(_fit_given(*(_split_given(one, whole=whole) for one in (mine, theirs))) for whole in (True, False))


def _fit_given(first: Sequence[str], second: Sequence[str]) -> bool:
    if not first or not second:
        return True
    given, recorded = "".join(first), "".join(second)
    if given == recorded or (
        min(len(given), len(recorded)) > 2 and (given.startswith(recorded) or recorded.startswith(given))
    ):
        return True
    if len(first[0]) > 1 and len(second[0]) > 1:
        short, long = sorted((first[0], second[0]), key=len)
        if not long.startswith(short):
            return False
    my_initials, their_initials = ("".join(word[0] for word in words) for words in (first, second))
    return my_initials.startswith(their_initials) or their_initials.startswith(my_initials)


def _split_given(given: str, *, whole: bool) -> list[str]:
    """Split given names into words, and initials without spaces into letters; not ``whole``: without particles."""
    words: list[str] = []
    for number, word in enumerate(re.findall(r"[^\W_]+", given)):
        if number and not whole and word in _PARTICLES:  # as in PubMed's initials
            continue
        if word.isupper() and len(word) <= 3:
            words += [fold_text(letter) for letter in word]
        else:
            words.append(fold_text(word))
    return [word for word in words if word]


def _find_nearest(
    number: int, author: RefAuthor, names: Sequence[Name], free: Sequence[int], least: float, *, sure: bool
) -> int | None:
    """Return the position of the author that a misspelt name refers to: at a nearby position, with a similar name."""
    neighbours = [place for place in free if abs(place - number) <= 3]
    alike = [
        (likeness, -place)
        for place in neighbours
        if (likeness := _compare_names(author, names[place], sure=sure)) >= least
    ]
    return -max(alike)[1] if alike else None


def _compare_names(author: RefAuthor, name: Name, *, sure: bool) -> float:
    """Return the likeness of two names, 0 to 1.

    Family names that differ in one letter are alike if the given names agree. Short family names are alike only if the
    reference certainly cites the record (``sure``).
    """
    mine, theirs = fold_text(author.text[:MAX_NAME]), fold_text(format_name(name)[:MAX_NAME])
    whole = measure_text_likeness(mine, theirs)
    if author.group or "literal" in name or not _have_same_given(author.given or "", name.get("given", "")):
        return whole
    family, recorded = _strip_text(author.family or "")[:MAX_NAME], _strip_text(format_family_name(name))[:MAX_NAME]
    if _list_spellings(author.family or "") & _list_spellings(format_family_name(name)):
        return 1.0
    one_letter = is_one_edit(family, recorded) and (sure or min(len(family), len(recorded)) >= SHORT_NAME)
    return max(whole, ONE_LETTER if one_letter else measure_text_likeness(family, recorded))


def join_shown_names(texts: Sequence[str]) -> str:
    """Return the first names as a list of authors, and the number of the others."""
    more = f" and {len(texts) - SHOWN_NAMES} more" if len(texts) > SHOWN_NAMES else ""
    return "; ".join(texts[:SHOWN_NAMES]) + more
