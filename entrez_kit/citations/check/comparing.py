"""Compare a reference with the record it is meant to cite: every field it has, every author in order.

What people rightly write in several ways is the same: letter case, accents, ü and ue, ß and ss, initials and given
names, abbreviated journals, shortened page ranges, Greek letters and their names. Everything else is a difference.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal

from entrez_kit.citations.csl import Item, csl_item
from entrez_kit.citations.files.references import RefAuthor, Reference
from entrez_kit.citations.names import Name, csl_text_of, family_of
from entrez_kit.citations.titles import abbreviates, journal_title
from entrez_kit.model import Result
from entrez_kit.pubmed.likeness import bare_place, begins, folded, same_pages, same_volume, titles_alike, years_of
from entrez_kit.pubmed.models import Article, BookInfo, JournalInfo

FieldName = Literal["title", "authors", "journal", "year", "volume", "issue", "pages", "doi", "pmid", "pmcid"]
IDENTIFIERS: Final[tuple[FieldName, ...]] = ("doi", "pmid", "pmcid")

SIMILAR_NAMES: Final = 0.6
SURE_NAMES: Final = 0.75
MAX_NAME: Final = 200
SHOWN_NAMES: Final = 10
_UMLAUT: Final = re.compile(r"(?<![aeiouqy])(a|o|u)e")
_MARKED_TITLE: Final = re.compile(
    r"^\W*(?:retracted(?: article| publication)?|withdrawn(?: article)?|expression of concern)\s*[:.\]-]+\s*",
    re.IGNORECASE,
)
_SMALL_WORDS: Final = frozenset(
    (
        *("a", "an", "and", "for", "in", "of", "on", "the", "to"),
        *("de", "der", "des", "di", "et", "fur", "la", "le", "les", "und"),
    )
)


class FieldDifference(Result):
    """A field in which a reference and its record differ; ``detail`` says how, where that is not plain."""

    field: FieldName
    given: str
    record: str
    detail: str | None = None


def differences(reference: Reference, article: Article) -> list[FieldDifference]:
    """Return the fields a reference has otherwise than the record; what only one of the two has is no difference."""
    item = csl_item(article)
    found: list[FieldDifference] = []

    def differs(field: FieldName, given: str, record: str, detail: str | None = None) -> None:
        found.append(FieldDifference(field=field, given=given, record=record, detail=detail))

    if reference.title and titles_of(article) and not _is_title(reference.title, article):
        differs("title", reference.title, str(item.get("title", "")))
    if reference.authors and (detail := author_difference(reference, item.get("author", []))):
        given = _listed([author.text for author in reference.authors])
        differs("authors", given, _listed([csl_text_of(name) for name in item.get("author", ())]), detail)
    container = item.get("container-title") or item.get("publisher")
    if reference.journal and container and not same_journal(reference.journal, article):
        differs("journal", reference.journal, str(container))
    years = years_of(article)
    if reference.year and years and reference.year not in years:
        differs("year", reference.year, years[0])
    volume, issue = item.get("volume"), item.get("issue")
    if reference.volume and volume and not same_volume(reference.volume, volume):
        differs("volume", reference.volume, volume)
    if reference.issue and issue and bare_place(reference.issue) != bare_place(issue):
        differs("issue", reference.issue, issue)
    pages = _pages_of(article, item)
    if reference.pages and pages and item["type"] not in ("report", "book") and not _on_pages(reference, pages):
        differs("pages", reference.pages, " or ".join(pages))
    return [*found, *identifier_differences(reference, article)]


def titles_of(article: Article) -> list[str]:
    """Return the titles that a reference may give a work, its own and the English one."""
    return [title for title in (article.title, article.vernacular_title) if title]


def identifier_differences(reference: Reference, article: Article) -> Iterator[FieldDifference]:
    """Yield the identifiers that a reference has otherwise than the record."""
    for name in IDENTIFIERS:
        mine, theirs = getattr(reference, name), getattr(article, name)
        if mine and theirs and mine.lower() != theirs.lower():
            yield FieldDifference(field=name, given=mine, record=theirs)


def same_work(reference: Reference, article: Article) -> bool:
    """Tell whether a reference means a record: neither its title nor its authors are another work's.

    A title that is only like the record's needs an identifier or the year beside it. Without a title first author,
    year, volume and page tell.
    """
    item = csl_item(article)
    names = item.get("author", [])
    if _other_authors(reference.authors, names):
        return False
    titles = titles_of(article)
    if reference.title and titles:
        if _is_title(reference.title, article):
            return True
        part = not reference.year and any(begins(folded(reference.title), folded(title)) for title in titles)
        ids = ((getattr(reference, name) or "", getattr(article, name) or "") for name in IDENTIFIERS)
        told = reference.year in years_of(article) or any(mine and mine.lower() == other.lower() for mine, other in ids)
        return title_agrees(reference, article) and (part or told)
    first = bool(reference.authors and names) and _same_person(reference.authors[0], names[0])
    agreeing = [
        first,
        reference.year in years_of(article),
        bool(reference.volume and item.get("volume")) and same_volume(reference.volume or "", item["volume"]),
        _on_pages(reference, _pages_of(article, item)),
    ]
    return sum(agreeing) >= min(
        2, sum(map(bool, (reference.authors, reference.year, reference.volume, reference.pages)))
    )


def title_agrees(reference: Reference, article: Article) -> bool:
    """Tell whether the title of a reference is a record's, or like it."""
    given = reference.title or ""
    return bool(given) and (
        _is_title(given, article) or any(titles_alike(folded(given), folded(title)) for title in titles_of(article))
    )


def _other_authors(mine: Sequence[RefAuthor], names: Sequence[Name]) -> bool:
    """Tell whether the authors of a reference are another work's: fewer than half of them are the record's, misspelt
    ones counted in, or under another first author fewer than two thirds.
    """
    if not mine or not names:
        return False
    places, _ = _places(mine, names, least=SURE_NAMES)
    matching = sum(place is not None for place in places)
    return matching * 2 < len(mine) or (places[0] != 0 and matching * 3 < len(mine) * 2)


# Text


def _bare(text: str) -> str:
    return folded(text).replace(" ", "")


def _title_key(title: str) -> str:
    return _bare(_MARKED_TITLE.sub("", re.sub(r"</?(?:i|b|em|sub|sup|span)\b[^<>]*+>", "", title)))


def _is_title(mine: str, article: Article) -> bool:
    key = _title_key(mine)
    keys = [_title_key(title) for title in titles_of(article)]
    # A title in two languages is given as one of them, or as both.
    return key in keys or (len(keys) > 1 and key in (keys[0] + keys[1], keys[1] + keys[0]))


# Place


def same_journal(given: str, article: Article) -> bool:
    """Tell whether a name is the journal's: its title, an abbreviation of it, or its initials."""
    journal, book = article.journal_info or JournalInfo(), article.book_info or BookInfo()
    names = [journal.title, journal.iso_abbreviation, book.title, book.collection_title, book.publisher]
    names += [journal_title(name) for name in names if name]
    wanted = _journal_words(given)
    for name in names:
        words = _journal_words(name or "")
        if not words or not wanted:
            continue
        if "".join(words) == "".join(wanted) or _abbreviated(wanted, words):
            return True
        initials = "".join(word[0] for word in words)
        if given.strip().isupper() and len(wanted) == 1 and len(given.strip()) > 2 and initials.startswith(wanted[0]):
            return True
    return False


def _journal_words(name: str) -> list[str]:
    return [word for word in folded(name).split() if word not in _SMALL_WORDS]


def _abbreviated(one: Sequence[str], other: Sequence[str]) -> bool:
    """Tell whether each word of one name abbreviates the word of the other at its place, or the other way round."""
    return len(one) == len(other) and all(abbreviates(*sorted(pair, key=len)) for pair in zip(one, other, strict=True))


def _pages_of(article: Article, item: Item) -> list[str]:
    """Return the pages of a record and its article number, of which a reference may give either."""
    number = (article.journal_info or JournalInfo()).article_number
    given = (item.get("page"), item.get("number"), number if item.get("page") else None)
    return list(dict.fromkeys(str(one) for one in given if one))


def _on_pages(reference: Reference, pages: Sequence[str]) -> bool:
    return bool(reference.pages) and any(same_pages(reference.pages or "", one) for one in pages)


# Authors


def author_difference(reference: Reference, names: Sequence[Name]) -> str | None:
    """Return what is wrong with a list of authors: who is missing, added, misspelt or out of order; None if nothing."""
    mine = reference.authors
    theirs = list(names[: len(mine)]) if reference.more_authors else list(names)
    if not theirs:
        return None
    places, misspelt = _places(mine, theirs, least=SIMILAR_NAMES)
    said = []
    for word, texts in (
        ("misspelt", [f"{mine[n].text} (record: {csl_text_of(theirs[places[n] or 0])})" for n in misspelt]),
        ("added", [author.text for author, place in zip(mine, places, strict=True) if place is None]),
        ("missing", [csl_text_of(theirs[number]) for number in _free(places, theirs)]),
    ):
        if texts:
            said.append(f"{word}: {_listed(texts)}")
    order = [place for place in places if place is not None]
    if order != sorted(order):
        said.append("the order is another")
    return "; ".join(said) or None


def _places(mine: Sequence[RefAuthor], theirs: Sequence[Name], *, least: float) -> tuple[list[int | None], list[int]]:
    """Return for each author of a reference the place of the same person in the record, and which are misspelt."""
    places = _pairs(mine, theirs)
    free = _free(places, theirs)
    misspelt: list[int] = []
    for number, place in enumerate(places):
        if place is None and (near := _nearest(mine[number], number, theirs, free, least)) is not None:
            misspelt.append(number)
            free.remove(near)
            places[number] = near
    return places, misspelt


def _free(places: Sequence[int | None], theirs: Sequence[Name]) -> list[int]:
    taken = set(places)
    return [number for number in range(len(theirs)) if number not in taken]


def _pairs(mine: Sequence[RefAuthor], theirs: Sequence[Name]) -> list[int | None]:
    """Return for each author of a reference the place of the same person in the record."""
    by_family: dict[str, list[int]] = {}
    for number, name in enumerate(theirs):
        forms = _forms(name.get("literal") or family_of(name))
        if family := name.get("family"):
            given = name.get("given", "")
            forms |= {_bare(family), _bare(f"{given} {family}"), _bare(f"{family} {given}")}
        for form in forms:
            by_family.setdefault(form, []).append(number)
    taken: set[int] = set()
    places: list[int | None] = []
    for number, author in enumerate(mine):
        # What was divided at a comma may be the whole name of a group.
        forms = _forms(author.group or author.family or "") | _forms(author.text)
        candidates = sorted({place for form in forms for place in by_family.get(form, ())} - taken)
        candidates.sort(key=lambda place, number=number: abs(place - number))  # type: ignore[misc]
        found = next((place for place in candidates if _same_person(author, theirs[place])), None)
        places.append(found)
        if found is not None:
            taken.add(found)
    return places


def _forms(family: str) -> set[str]:
    """Return how a name may be written in plain letters: Müller is muller and mueller, and so is Mueller."""
    text = re.sub(r"^the\s+", "", family.strip(), flags=re.IGNORECASE)
    plain, expanded_form = _bare(text), folded(text, expand=True).replace(" ", "")
    return {plain, expanded_form, _UMLAUT.sub(r"\1", plain), _UMLAUT.sub(r"\1", expanded_form)} - {""}


def _same_person(author: RefAuthor, name: Name) -> bool:
    if "literal" in name:
        return bool(_forms(author.group or author.text) & _forms(name["literal"]))
    family = family_of(name)
    if author.group:
        given = name.get("given", "")
        whole = {_bare(f"{given} {family}"), _bare(f"{family} {given}"), _bare(family)}
        return _bare(author.group) in whole or bool(_forms(author.group) & _forms(family))
    families = _forms(family) | _forms(name.get("family", ""))
    return bool(_forms(author.family or "") & families) and _same_given(author.given or "", name.get("given", ""))


def _same_given(mine: str, theirs: str) -> bool:
    """Tell whether given names may be of one person: initials agree, and so do first names that both spell out."""
    first, second = _given_words(mine), _given_words(theirs)
    if not first or not second:
        return True
    one, other = "".join(first), "".join(second)
    if one == other or (min(len(one), len(other)) > 2 and (one.startswith(other) or other.startswith(one))):
        return True
    if len(first[0]) > 1 and len(second[0]) > 1:
        short, long = sorted((first[0], second[0]), key=len)
        if not long.startswith(short):
            return False
    my_initials, their_initials = ("".join(word[0] for word in words) for words in (first, second))
    return my_initials.startswith(their_initials) or their_initials.startswith(my_initials)


def _given_words(given: str) -> list[str]:
    """Divide given names into words, and initials that stand together into letters."""
    words: list[str] = []
    for word in re.findall(r"[^\W_]+", given):
        if word.isupper() and len(word) <= 3:
            words += [folded(letter) for letter in word]
        else:
            words.append(folded(word))
    return [word for word in words if word]


def _nearest(author: RefAuthor, number: int, names: Sequence[Name], free: Sequence[int], least: float) -> int | None:
    """Return the place of the record's author that a misspelt one is meant to be: near by, with a similar name."""
    best: tuple[float, int] | None = None
    for place in free:
        if abs(place - number) > 3:
            continue
        mine, theirs = folded(author.text[:MAX_NAME]), folded(csl_text_of(names[place])[:MAX_NAME])
        likeness = SequenceMatcher(None, mine, theirs, autojunk=False).ratio()
        if likeness >= least and (best is None or likeness > best[0]):
            best = (likeness, place)
    return best[1] if best else None


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - SHOWN_NAMES} more" if len(texts) > SHOWN_NAMES else ""
    return "; ".join(texts[:SHOWN_NAMES]) + more
