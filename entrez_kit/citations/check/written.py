"""References that are written out as text: a pasted list divided into them, and each compared with a record.

A text is not taken apart into fields. It agrees with a record where all its words and numbers are the record's own, the
title stands in it whole, and authors and numbers come in the record's order; what is left over is named.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from entrez_kit.citations.check.comparing import FieldDifference, identifier_differences, titles_of
from entrez_kit.citations.check.guessing import VISITED, YEAR
from entrez_kit.citations.csl import Item, csl_item
from entrez_kit.citations.files.references import Reference
from entrez_kit.citations.names import Name, csl_names, csl_text_of
from entrez_kit.identifiers import read_identifier
from entrez_kit.pubmed.likeness import folded, in_digits, years_of
from entrez_kit.pubmed.models import Article, ArticleDate, JournalInfo, PublicationDate
from entrez_kit.pubmed.pages import expanded
from entrez_kit.pubmed.standing import WORDS
from entrez_kit.pubmed.xml.dates import MONTH_NAMES

MAX_SHOWN: Final = 120
MAX_LEFT: Final = 12
LEAST_OF_TITLE: Final = 0.9
"""Share of a title's words in a text from which on the title is misquoted rather than another one."""
_NUMBER: Final = re.compile(r"\s*+(?:\[[0-9]{1,4}\]|\([0-9]{1,4}\)|[0-9]{1,4}[.)](?=\s)|[-*•](?=\s))\s*+")
"""What stands in front of a reference in a list."""
_LABELLED: Final = re.compile(r"\b(?:PMID|PMCID)\s*+[:=]?\s*+(?:PMC)?[0-9]++(?>(?:\.[0-9]++)?)", re.IGNORECASE)
_WORD_WITH_ID: Final = re.compile(
    r"https?://\S++|(?<!\S)\S*?\b10\.[0-9]{4,9}/\S++|\bPMC[0-9]++(?>(?:\.[0-9]++)?)", re.IGNORECASE
)
_STANDING: Final = re.compile(rf"\[(?:{'|'.join(WORDS.values())})\b[^\[\]]*+\]", re.IGNORECASE)
"""The note of a citation that says how the work stands; the ids in it are those of the notice."""
_LEFT_OUT: Final = re.compile(r"…|\.\s?\.\s?\.")
_SUPERFLUOUS_WORDS: Final = (
    "a an and the of in on for to at from et al others doi pmid pmcid vol volume no nr number issue p pp pg pages "
    "article art epub ahead print online available published posted preprint pubmed central suppl supp supplement pt "
    "part nos vols advance publication press french german spanish chinese japanese russian italian portuguese dutch "
    "polish english abstract internet"
)
_SUPERFLUOUS: Final = frozenset(_SUPERFLUOUS_WORDS.split())
"""Words that say nothing about a work."""
_GENERATIONS: Final = frozenset(("jr", "sr", "ii", "iii", "iv", "2nd", "3rd", "4th"))
_PARTICLES: Final = ("non-dropping-particle", "dropping-particle")
NAME_WORDS: Final = 12
"""More words than these do not stand between two family names."""
MAX_INITIALS: Final = 3
_CLOSING: Final = {")": "(", "]": "[", ">": "<"}


_SPELT: Final = re.compile(r"\b(\w) (?=\w\b)")
HEADING: Final = re.compile(
    r"[\s#*_]*+(?:[0-9]{1,2}(?:\.[0-9]{1,2})?[.)]?\s++)?(?:(?:list of |cited )?references?(?: (?:list|cited))?"
    r"|reference list|bibliography|works cited|literature(?: cited)?|literatur(?:verzeichnis)?|quellen(?:verzeichnis)?"
    r"|références(?: bibliographiques)?|bibliographie|referencias(?: bibliográficas)?|bibliografía|bibliografia"
    r"|riferimenti bibliografici|referências(?: bibliográficas)?)\s*+[:.]?[\s#*_]*+",
    re.IGNORECASE,
)
"""A line that stands over a list of references."""
HEADINGS: Final = (
    *("References", "Bibliography", "Works cited", "Literature", "Literaturverzeichnis", "Quellen", "Références"),
    *("Bibliographie", "Referencias", "Bibliografía", "Riferimenti bibliografici", "Referências"),
)
"""What a message calls the chief ones."""
END_OF_LIST: Final = re.compile(
    r"\s*+(?:#{1,6}\s++\S|(?:[#*_]*+(?:appendi(?:x|ces)|supplement(?:ary|al)?(?: \w++){0,2}"
    r"|figure (?:legends?|captions?)"
    r"|tables?|figures?|acknowledge?ments?|author contributions?|funding|conflicts? of interest"
    r"|competing interests?|data availability|abbreviations|author biograph\w++)\s*+[:.]?[#*_]*+\s*+$))",
    re.IGNORECASE,
)
"""A line behind a list of references that belongs to it no more."""
MAX_TEXT: Final = 5_000
"""Characters of one reference; a group of thousands of authors is cut short by every style."""
MOST_NUMBERED: Final = 0.6
"""Share of the numbers at the head of lines that follow upon the one before, where they number the references."""
WRAPPED: Final = 0.3
"""Share of lines without a year from which on lines are broken where the page ends and not where a reference does."""
_COUNT: Final = re.compile(r"\s*+[\[(]?([0-9]{1,4})[\])]?[.)]?\s")
_BEGINS: Final = re.compile(
    r"(?:[^\W\d_a-z][\w'’-]+(?:[ -][\w'’-]+){0,3},? (?:[^\W\d_a-z]{1,4}\b|[^\W\d_a-z]\.)"
    r"|[^\W\d_a-z][\w'’-]+(?: [\w'’-]+){0,2}, [^\W\d_a-z][\w.’'-]+|[^\W\d_a-z][\w'’ -]{2,60}\. \(?(?:1[89]|20)[0-9]{2})"
)
_ENDS: Final = re.compile(r"(?:[.)\]]|[0-9]|\bdoi\S*|https?://\S*)\s*+$", re.IGNORECASE)


def list_part(text: str) -> tuple[str, int]:
    """Return the list of references in a text, and the number of the lines before it.

    It stands under the last heading of such a list and ends where something else begins; without a heading the whole
    text is the list.
    """
    lines = text.splitlines()
    start = max((n + 1 for n, line in enumerate(lines) if len(line) < 80 and HEADING.fullmatch(line)), default=0)
    end = len(lines)
    if start:
        end = next((n for n in range(start, len(lines)) if END_OF_LIST.match(lines[n])), end)
    return "\n".join(lines[start:end]), start


def divided(text: str) -> list[Reference]:
    """Return the references of a pasted list, one each; of a whole text, those under its heading.

    A reference begins behind a blank line, with a number in front, where the lines are wrapped with an author behind
    the end of another one, or else with every line that is not indented.
    """
    text, before = list_part(text)
    lines = list(enumerate(text.splitlines(), start=1 + before))
    begins = _beginnings([line for _, line in lines])
    pieces: list[tuple[int, list[str]]] = []
    for (number, line), begin in zip(lines, begins, strict=True):
        if line.strip() and (begin or not pieces):
            pieces.append((number, []))
        if line.strip():
            pieces[-1][1].append(line.strip())
    return [as_reference(_joined(parts), number) for number, parts in pieces]


def _beginnings(lines: Sequence[str]) -> list[bool]:
    """Tell of each line whether a reference begins with it."""
    marked = [bool(_NUMBER.match(line)) for line in lines]
    after_blank = [not n or not lines[n - 1].strip() for n in range(len(lines))]
    if sum(marked) > 1:
        counts = {n: int(match[1]) for n, line in enumerate(lines) if marked[n] and (match := _COUNT.match(line))}
        in_order = _in_order(lines, counts)
        # A year at the head of a wrapped line numbers nothing.
        if counts and sum(in_order) >= MOST_NUMBERED * sum(marked):
            return in_order
        return [marked[n] or (after_blank[n] and bool(line.strip())) for n, line in enumerate(lines)]
    filled = [line for line in lines if line.strip()]
    if any(not line.strip() for line in lines[:-1]):
        return after_blank
    without_year = sum(not YEAR.search(line) for line in filled)
    if len(filled) > 3 and without_year > WRAPPED * len(filled) and not any(line[:1].isspace() for line in filled):
        return [not n or bool(_BEGINS.match(line) and _ENDS.search(lines[n - 1])) for n, line in enumerate(lines)]
    return [not line[:1].isspace() for line in lines]


def _in_order(lines: Sequence[str], counts: Mapping[int, int]) -> list[bool]:
    begins = []
    last: int | None = None
    for n in range(len(lines)):
        begin = n in counts and (last is None or last < counts[n] <= last + 3)
        last = counts[n] if begin else last
        begins.append(begin)
    return begins


def _joined(parts: Sequence[str]) -> str:
    """Join the lines of a reference; a word that is divided at the end of a line stays one, its hyphen kept."""
    text = ""
    for part in parts:
        glued = text.endswith("-") or (text.endswith("/") and "doi" in text[-60:].lower())
        text += part if glued or not text else f" {part}"
    return text


def as_reference(
    text: str, line: int, *, key: str | None = None, number: str | None = None, where: str = "line"
) -> Reference:
    """Return a reference that is written out.

    Args:
        text: the reference, with its number in front if it has one.
        line: where it begins.
        key: its name; made of its line unless given.
        number: its number in the list, where that does not stand in front of it.
        where: what ``line`` counts.
    """
    mark = _NUMBER.match(text)
    count = _COUNT.match(text) if mark else None
    plain = _STANDING.sub(" ", text[mark.end() if mark else 0 :]) or text
    return Reference(
        key=key or f"{where} {line}",
        line=line,
        number=count[1] if count else number,
        text=plain[: MAX_TEXT + 1],
        **_identifiers(plain[:MAX_TEXT]),
    )


def looks_written_out(reference: Reference) -> bool:
    """Tell whether a piece of text may be a reference: it has an identifier or a number, or a name first and a year."""
    if reference.pmid or reference.pmcid or reference.doi or reference.number:
        return True
    text = reference.text or ""
    return _BEGINS.match(text) is not None and YEAR.search(text) is not None


def _identifiers(text: str) -> dict[str, Any]:
    """Return the identifiers that a text names as such, the first of each kind; a number alone is none."""
    words = [match[0] for match in _LABELLED.finditer(text)]
    for match in _WORD_WITH_ID.finditer(text):
        word = match[0].rstrip(".,;")
        while word[-1:] in _CLOSING and word.count(word[-1]) > word.count(_CLOSING[word[-1]]):
            word = word[:-1].rstrip(".,;")
        words.append(word.lstrip("([<"))
    found = [identifier for word in words if (identifier := read_identifier(word)) is not None]
    return {identifier.kind: identifier.value for identifier in reversed(found)}


class Agreement(NamedTuple):
    """How a text agrees with a record; ``left`` are words and numbers of the text that the record has not."""

    same: bool
    differences: list[FieldDifference]
    left: list[str]


def compare_text(reference: Reference, article: Article) -> Agreement:
    """Compare a reference that is written out with a record."""
    text = reference.text or ""
    words = folded(VISITED.sub(" ", _WORD_WITH_ID.sub(" ", _LABELLED.sub(" ", text)))).split()
    found = list(identifier_differences(reference, article))
    if not words:
        return Agreement(True, found, [])
    item = csl_item(article)
    titles = [folded(title).split() for title in titles_of(article)]
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
    names = csl_names(article.authors, with_initials=True)
    # What the title says of others is said of no author.
    others = any(pair in (("et", "al"), ("and", "others")) for pair in pairwise(words))
    others = others or (_LEFT_OUT.search(text) is not None and _LEFT_OUT.search(article.title) is None)
    shown_authors, rest = _without_authors(words, names, others=others, end=head or len(words))
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


def _place_of(wanted: Sequence[str], words: Sequence[str]) -> int | None:
    """Return where some words stand among others, one behind the other."""
    if not wanted:
        return None
    size = len(wanted)
    return next((n for n in range(len(words) - size + 1) if list(words[n : n + size]) == list(wanted)), None)


def _without_authors(words: Sequence[str], names: Sequence[Name], *, others: bool, end: int) -> tuple[int, list[str]]:
    """Return how many of a record's authors stand at the head of a text, in order, and the words without them.

    Between two family names only given names and initials of these two may stand. Where the text says that there are
    ``others``, some of the record's may be passed over. At ``end`` the title stood; a letter behind it is the
    journal's.
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
    while begin < min(end, len(words)) and words[begin] in before:
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
    printed = folded(name.get("initials", ""))  # PubMed's may be fewer than there are names
    return {*words, *particles, *initials, initials, initials[:1], printed, "".join(words), *letters} - {""} | suffixes


def _left(words: Sequence[str], article: Article, item: Item) -> list[str]:
    """Return words that are neither of the journal nor of the dates, and numbers that are not its place in order."""
    journal = article.journal_info or JournalInfo()
    names = [journal.title, journal.iso_abbreviation]
    names += [str(item[key]) for key in ("container-title", "container-title-short", "publisher") if item.get(key)]
    cut = list(_cut_names(names)) if article.journal_info is not None else []
    for name in sorted((folded(name).split() for name in names if name), key=len, reverse=True):
        if len(name) > 1 and (place := _place_of(name, words)) is not None:  # a year may be part of it
            words = [*words[:place], *words[place + len(name) :]]
            cut = []
    places = (journal.pages, journal.article_number, item.get("volume"), item.get("issue"))
    names += [word for word in folded(" ".join(filter(None, places))).split() if word.isalpha()]  # iii-iv, XIV
    texts = [folded(name) for name in names if name]
    known = {word for text in texts for form in (text, _SPELT.sub(r"\1", text)) for word in form.split()}  # U S A: USA
    said = [word for word in words if word in known and word not in _SUPERFLUOUS and not word.isdigit()]
    # "Nature" is not "Nature methods".
    left: list[str] = said if cut and 0 < len(said) < min(map(len, cut)) else []
    years = set(years_of(article))
    published = journal.publication_date or PublicationDate()
    dates: Sequence[PublicationDate | ArticleDate] = (published, *article.article_dates)
    ranged = folded(published.medline_date or "").split()
    months = {date.month for date in dates if date.month}
    days = {str(date.day) for date in dates if date.day}
    months |= {number for number, names in enumerate(MONTH_NAMES, start=1) if not set(names).isdisjoint(ranged)}
    month_names = {name for month in months for name in MONTH_NAMES[month - 1]}
    numbers: list[str] = []
    after_month = False
    for place, word in enumerate(words):
        if word in known and not word.isdigit():
            continue
        if word in days and words[place + 1 : place + 2] and words[place + 1] in month_names:
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
    forms = [[word for word in words if word not in years] for words in _places(article, item)]
    if numbers not in forms:
        left += [word for word in numbers if not any(word in form for form in forms)] or numbers
    return left[:MAX_LEFT]


def _cut_names(names: Iterable[str | None]) -> Iterator[list[str]]:
    """Yield the words of a journal's names that count, without what stands in brackets and behind colons."""
    for name in names:
        text = folded(re.split(r"[(:=]", name or "", maxsplit=1)[0])
        for form in {text, _SPELT.sub(r"\1", text)}:
            if words := [word for word in form.split() if word not in _SUPERFLUOUS and not word.isdigit()]:
                yield words


def _places(article: Article, item: Item) -> Iterator[list[str]]:
    """Yield what a text may say of volume, issue and pages: each left out or not, a range whole, short or its start."""
    pages = expanded(str(item.get("page") or item.get("number") or ""))
    head = re.split(r"[,;]", pages)[0]
    first, _, last = head.partition("-")
    journal = article.journal_info or JournalInfo()
    number = journal.article_number or ""
    forms = {
        tuple(folded(form).split()) for form in (pages, head, first, journal.pages or "", number, number.lstrip("eE"))
    }
    forms |= {(*folded(first).split(), *folded(last)[size:].split()) for size in range(len(folded(last)))}
    volume, issue = (tuple(folded(str(item.get(name) or "")).split()) for name in ("volume", "issue"))
    for volume_words in {(), volume, (in_digits("".join(volume)),)}:
        for issue_words in {(), issue}:
            for page_words in {(), *forms}:
                words = (*volume_words, *issue_words, *page_words)
                yield [word for word in words if any(letter.isdigit() for letter in word)]
