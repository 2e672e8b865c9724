"""References that are written out as text: a pasted list divided into them, and each compared with a record.

A text is not taken apart into fields. It agrees with a record where all its words and numbers are the record's own, the
title stands in it whole, and authors and numbers come in the record's order; what is left over is named.
"""

import re
from calendar import month_name
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from entrez_kit.citations.check.comparing import FieldDifference
from entrez_kit.citations.csl import Item, csl_item
from entrez_kit.citations.files.references import Reference, csl_text_of
from entrez_kit.citations.names import Name
from entrez_kit.identifiers import IdKind, read_identifier
from entrez_kit.pubmed.likeness import folded, years_of
from entrez_kit.pubmed.models import Article, ArticleDate, PublicationDate
from entrez_kit.pubmed.pages import expanded
from entrez_kit.pubmed.standing import WORDS

MAX_SHOWN: Final = 120
MAX_LEFT: Final = 12
LEAST_OF_TITLE: Final = 0.9
"""Share of a title's words in a text from which on the title is misquoted rather than another one."""
_NUMBER: Final = re.compile(r"\s*+(?:\[[0-9]{1,4}\]|\([0-9]{1,4}\)|[0-9]{1,4}[.)](?=\s)|[-*•](?=\s))\s*+")
"""What stands in front of a reference in a list."""
_LABELLED: Final = re.compile(r"\b(?:PMID|PMCID)\s*+[:=]?\s*+(?:PMC)?[0-9]++(?:\.[0-9]++)?+", re.IGNORECASE)
_WORD_WITH_ID: Final = re.compile(
    r"https?://\S++|(?<!\S)\S*?\b10\.[0-9]{4,9}/\S++|\bPMC[0-9]++(?:\.[0-9]++)?+", re.IGNORECASE
)
_STANDING: Final = re.compile(rf"\[(?:{'|'.join(WORDS.values())})\b[^\[\]]*+\]", re.IGNORECASE)
"""The note of a citation that says how the work stands; the ids in it are those of the notice."""
_AND_OTHERS: Final = re.compile(r"\bet\s+al\b|\band others\b|…|\.\s?\.\s?\.", re.IGNORECASE)
_SUPERFLUOUS: Final = frozenset(
    (
        *("a", "an", "and", "the", "of", "in", "on", "for", "to", "at", "from"),
        *(
            "et",
            "al",
            "others",
            "doi",
            "pmid",
            "pmcid",
            "vol",
            "volume",
            "no",
            "nr",
            "number",
            "issue",
            "p",
            "pp",
            "pg",
        ),
        *("pages", "article", "art", "epub", "ahead", "print", "online", "available", "published", "posted"),
        *("preprint", "pubmed", "central", "suppl", "supp", "supplement"),
    )
)
"""Words that say nothing about a work."""
_GENERATIONS: Final = frozenset(("jr", "sr", "ii", "iii", "iv", "2nd", "3rd", "4th"))
_PARTICLES: Final = ("non-dropping-particle", "dropping-particle")
NAME_WORDS: Final = 12
"""More words than these do not stand between two family names."""
MAX_INITIALS: Final = 3
_CLOSING: Final = {")": "(", "]": "[", ">": "<"}
_MONTHS: Final = tuple(name.lower() for name in month_name[1:])


def divided(text: str) -> list[Reference]:
    """Return the references of a pasted list, one each.

    A reference begins behind a blank line, with a number in front, or else with every line that is not indented.
    """
    lines = list(enumerate(text.splitlines(), start=1))
    numbered = sum(bool(_NUMBER.match(line)) for _, line in lines) > 1
    blank = any(not line.strip() for _, line in lines[:-1])
    pieces: list[tuple[int, list[str]]] = []
    open_ = False
    for number, line in lines:
        if not line.strip():
            open_ = False
            continue
        begins = _NUMBER.match(line) if numbered else not (blank or line[:1].isspace())
        if begins or not open_:
            pieces.append((number, []))
        pieces[-1][1].append(line.strip())
        open_ = True
    return [_reference(" ".join(parts), number) for number, parts in pieces]


def _reference(text: str, line: int) -> Reference:
    number = _NUMBER.match(text)
    text = _STANDING.sub(" ", text[number.end() if number else 0 :]) or text
    found: dict[IdKind, str] = {}
    for kind, value in _identifiers(text):
        found.setdefault(kind, value)
    return Reference(
        key=f"line {line}", line=line, text=text, pmid=found.get("pmid"), pmcid=found.get("pmcid"), doi=found.get("doi")
    )


def _identifiers(text: str) -> Iterator[tuple[IdKind, str]]:
    """Yield the identifiers that a text names as such; a number alone is none."""
    for match in _LABELLED.finditer(text):
        identifier = read_identifier(match[0])
        if identifier is not None:
            yield identifier.kind, identifier.value
    for match in _WORD_WITH_ID.finditer(text):
        word = match[0].rstrip(".,;")
        while word[-1:] in (")", "]", ">") and word.count(word[-1]) > word.count(
            {")": "(", "]": "[", ">": "<"}[word[-1]]
        ):
            word = word[:-1].rstrip(".,;")
        identifier = read_identifier(word.lstrip("([<"))
        if identifier is not None:
            yield identifier.kind, identifier.value


@dataclass(frozen=True, slots=True)
class Agreement:
    """How a text agrees with a record; ``left`` are words and numbers of the text that the record has not."""

    same: bool
    differences: list[FieldDifference]
    left: list[str]


def compare_text(reference: Reference, article: Article) -> Agreement:
    """Compare a reference that is written out with a record."""
    text = reference.text or ""
    words = folded(_WORD_WITH_ID.sub(" ", _LABELLED.sub(" ", text))).split()
    found = list(_identifier_differences(reference, article))
    if not words:
        return Agreement(True, found, [])
    item = csl_item(article)
    titles = [folded(title).split() for title in (article.title, article.vernacular_title) if title]
    places = [(place, len(title)) for title in titles if (place := _place_of(title, words)) is not None]
    if not places:
        share = max((sum(word in words for word in title) / len(title) for title in titles if title), default=0.0)
        detail = "the title of the record does not stand in the text"
        shown = text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
        found.append(FieldDifference(field="title", given=shown, record=str(item.get("title", "")), detail=detail))
        return Agreement(share >= LEAST_OF_TITLE, found, [])
    for start, length in sorted(places, reverse=True):
        if words[start : start + length]:
            del words[start : start + length]
    head = min(start for start, _ in places)
    names: list[Name] = item.get("author", [])
    others = _AND_OTHERS.search(text) is not None
    shown_authors, rest = _without_authors(words, names, others=others)
    other_authors = bool(names) and shown_authors == 0 and any(word not in _SUPERFLUOUS for word in words[:head])
    missing = names[shown_authors:] if shown_authors and not others else []
    if missing or other_authors:
        record = "; ".join(csl_text_of(name) for name in names[:10])
        said = (
            "none of the record's stands in the text"
            if other_authors
            else ("missing: " + "; ".join(csl_text_of(name) for name in missing[:10]))
        )
        found.append(FieldDifference(field="authors", given=" ".join(words[:head]), record=record, detail=said))
    left = _left(rest, article, item)
    return Agreement(not other_authors, found, left)


def _identifier_differences(reference: Reference, article: Article) -> Iterator[FieldDifference]:
    for mine, theirs, field in (
        (reference.doi, article.doi, "doi"),
        (reference.pmid, article.pmid, "pmid"),
        (reference.pmcid, article.pmcid, "pmcid"),
    ):
        if mine and theirs and mine.lower() != theirs.lower():
            yield FieldDifference(field=field, given=mine, record=theirs)


def _place_of(wanted: Sequence[str], words: Sequence[str]) -> int | None:
    """Return where some words stand among others, one behind the other."""
    if not wanted:
        return None
    size = len(wanted)
    return next((n for n in range(len(words) - size + 1) if list(words[n : n + size]) == list(wanted)), None)


def _without_authors(words: Sequence[str], names: Sequence[Name], *, others: bool) -> tuple[int, list[str]]:
    """Return how many of a record's authors stand at the head of a text, in order, and the words without them.

    Between two family names only given names and initials of these two may stand. Where the text says that there are
    ``others``, some of the record's may be passed over.
    """
    taken: set[int] = set()
    begin = 0
    before: set[str] = set()
    count = 0
    for name in names:
        family = folded(str(name.get("literal") or name.get("family") or "")).split()
        family = family[1:] if family[:1] == ["the"] else family
        given = _given_forms(name)
        place = _place_of(family, words[begin : begin + len(family) + NAME_WORDS])
        between = range(begin, begin + (place or 0))
        if place is None or any(words[n] not in before | given | _SUPERFLUOUS for n in between):
            if others:
                continue
            break
        begin += place + len(family)
        taken.update(range(between.start, begin))
        before = given
        count += 1
    while begin < len(words) and words[begin] in before:
        taken.add(begin)
        begin += 1
    return count, [word for n, word in enumerate(words) if n not in taken]


def _given_forms(name: Name) -> set[str]:
    """Return the words a given name may be written with: itself, its parts, and its initials together or apart."""
    words = folded(str(name.get("given") or "")).split()
    particles = folded(" ".join(str(name.get(part) or "") for part in _PARTICLES)).split()
    initials = "".join(word[0] for word in words)
    letters = {letter for word in words if len(word) <= MAX_INITIALS for letter in word}
    suffixes = _GENERATIONS if name.get("suffix") else frozenset[str]()
    return {*words, *particles, *initials, initials, initials[:1], "".join(words), *letters} - {""} | suffixes


def _left(words: Sequence[str], article: Article, item: Item) -> list[str]:
    """Return words that are neither of the journal nor of the dates, and numbers that are not its place in order."""
    journal = article.journal_info
    names = [journal.title, journal.iso_abbreviation] if journal is not None else []
    names += [str(item[key]) for key in ("container-title", "container-title-short", "publisher") if item.get(key)]
    names.append(_pages_of(article) if re.fullmatch(r"[^0-9]*", _pages_of(article)) else None)  # iii-iv
    known = {word for name in names if name for word in folded(name).split()}
    years = set(years_of(article))
    dates = list(_dates(article))
    ranged = folded(" ".join(date.medline_date or "" for date in dates if isinstance(date, PublicationDate))).split()
    months = {date.month for date in dates if date.month}
    days = {str(date.day) for date in dates if date.day}
    month_names = {form for month in months for form in (_MONTHS[month - 1], _MONTHS[month - 1][:3])}
    numbers: list[str] = []
    left: list[str] = []
    after_month = False
    for word in words:
        if word in known and not word.isdigit():
            continue
        if word in month_names or (word.isalpha() and word in ranged):
            after_month = True
            continue
        if word in years or (after_month and word in days):
            pass
        elif any(letter.isdigit() for letter in word):
            numbers.append(word)
        elif word not in _SUPERFLUOUS:
            left.append(word)
        after_month = False
    places = ([word for word in words if word not in years] for words in _places(article, item))
    if numbers not in places:
        left += [word for word in numbers if word not in known]
    return left[:MAX_LEFT]


def _dates(article: Article) -> Iterator[PublicationDate | ArticleDate]:
    journal = article.journal_info
    if journal is not None and journal.publication_date is not None:
        yield journal.publication_date
    yield from article.article_dates


def _places(article: Article, item: Item) -> Iterator[list[str]]:
    """Yield what a text may say of volume, issue and pages: each left out or not, a range whole, short or its start."""
    pages = expanded(str(item.get("page") or item.get("number") or ""))
    first, _, last = pages.partition("-")
    number = (article.journal_info.article_number or "") if article.journal_info is not None else ""
    forms = {tuple(folded(form).split()) for form in (pages, first, _pages_of(article), number, number.lstrip("eE"))}
    forms |= {(*folded(first).split(), folded(last)[size:]) for size in range(len(folded(last)))}
    volume, issue = (tuple(folded(str(item.get(name) or "")).split()) for name in ("volume", "issue"))
    for volume_words in {(), volume}:
        for issue_words in {(), issue}:
            for page_words in {(), *forms}:
                words = (*volume_words, *issue_words, *page_words)
                yield [word for word in words if any(letter.isdigit() for letter in word)]


def _pages_of(article: Article) -> str:
    return (article.journal_info.pages or "") if article.journal_info is not None else ""
