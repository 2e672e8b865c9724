"""Items of CSL-JSON made ready for one style: what its rules want and CSL cannot say.

CSL styles take data as they are. Here are the cases in which they would print something that the published rules of a
style do not allow; each function says which.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from entrez_kit.citations.csl import BOOKSHELF, JOINER, Item
from entrez_kit.citations.names import Name, spaced_initials, split_initials
from entrez_kit.citations.style.casing import (
    PREPOSITIONS,
    SHORT,
    SHORTEST,
    capitalize,
    headline,
    subtitle_capitals,
    taxa,
)
from entrez_kit.citations.titles import dotted
from entrez_kit.pubmed.likeness import in_digits
from entrez_kit.pubmed.models import LANGUAGES
from entrez_kit.pubmed.standing import WORDS

Titles = Literal["as_is", "chicago", "mla", "apa", "ama"]
_SMALL: Final = {"chicago": SHORT, "mla": PREPOSITIONS, "ama": SHORTEST}
"""Words that stay small in headlines."""
Language = Literal["none", "after_pages", "in_title", "after_title"]

GROUP: Final = ("\u2063", "\u2064")
"""Marks around the name of a group, for styles that set it off with a semicolon; no title or name has them."""
HYPHEN: Final = "\u2062"
"""Stands for the hyphen of an article number where the processor would take it for that of a range: e01408-19."""

MANY: Final = 6
NAMED: Final = 3
"""AMA names up to six people, and three of more (3.7)."""
OTHERS: Final[Name] = {"literal": "et al"}

_UNUSED: Final = frozenset(
    ("abstract", "keyword", "note", "source", "language", "medium", "ISSN", "species", "languages", "medline-title")
)
"""Fields that a style would print beside the citation proper, or that nothing prints."""
_SUPPLEMENT: Final = re.compile(r"(?<![a-z])suppl(?:ement)?(?![a-z])", re.IGNORECASE)
_PART: Final = re.compile(r"\bpt\b\.?\s*(?=\w+$)|\bpt\.?(?=[0-9]+$)", re.IGNORECASE)
_PAGES: Final = re.compile(r"[A-Za-z]{0,3}[0-9]")
_SUFFIXES: Final = {"II": "2nd", "III": "3rd", "IV": "4th", "V": "5th", "VI": "6th"}
_ELISION: Final = re.compile(r"(?<!\w)'(?:n'|[0-9]0s|(?:em|tis|twas|til|t)\b|s-)(?=\W|\w|$)", re.IGNORECASE)
"""Apostrophes that stand where a quotation could open: rock 'n' roll, the '90s, 't Hooft."""
_INITIALS: Final = re.compile(r"[A-Z](?:-[A-Z])+")
"""Initials with a hyphen, which the processor takes for a name: J-M is J.-M."""
_HYPHENATED: Final = re.compile(r"(?<=[^\W\d_]-)[a-z](?=[a-z]*\Z)")
"""The second part of Xiao-ming, which counts among the initials."""
_RANGE: Final = re.compile(r"(?<![0-9])([A-Za-z]{0,3})([0-9]{1,12})-\1([0-9]{1,12})(?![0-9])")
_LANGUAGES: Final = dict(LANGUAGES.values())


@dataclass(frozen=True, slots=True)
class Wants:
    """What the rules of a style ask of the data.

    Args:
        titles: which capitals titles have.
        books: which capitals titles of books have, where they are others; as Chicago's they are headlines.
        nlm_names: suffixes without full stops, and initials as NLM takes them (J-P is JP).
        initials: given names are shortened, the parts of Xiao-ming each (X.-M.).
        bare_suffixes: no comma before a suffix, no full stop in it.
        groups_apart: a group among persons is set off with a semicolon.
        groups_after_others: of more than six people three are named, and after "et al" the group they wrote for;
            CSL would leave the group out.
        supplements: how the word is written.
        supplement_in: where a supplement stands: in a field of its own, behind the volume, or behind it in brackets.
        language: where a language other than English is named: behind the pages, in the title, or behind it.
        dotted_journals: abbreviations of journals with full stops.
        part: how "Pt 1" of a volume is written.
        parts_apart: a part stands behind the issue, not in it: "no. 3, pt. 1".
        ahead: how an article that has no volume yet is called, where the style's own word is another.
        dashes: ranges of issues have dashes.
        numbers_as_pages: article numbers stand where pages stand.
        article_word: the word "article" stands before an article number.
        reports_as_books: a report is cited as a book, with its publisher.
        places: the publisher's place is named.
        bare_places: without what NLM adds in brackets: "Eastmere (UK)".
        publishers: words in names of publishers and what is written for them.
        report_number: what stands before the number of a report.
        series: the series of a report is named.
        genre: the word "preprint" comes from the data; otherwise the style has it.
        most_others: so many authors are named of a list that PubMed cut off, where the style names the last one of a
            longer list, which is not known here.
        nlm: as Citing Medicine has it: suffixes in ordinals (3rd in place of III), ranges shortened and with what
            belongs to the article besides ("discussion 210-1"), seasons of two years, preprints as articles of their
            server.
    """

    titles: Titles = "as_is"
    books: Titles | None = None
    nlm_names: bool = False
    initials: bool = False
    bare_suffixes: bool = False
    groups_apart: bool = False
    groups_after_others: bool = False
    supplements: str = "suppl."
    supplement_in: Literal["own", "volume", "brackets"] = "own"
    language: Language = "none"
    dotted_journals: bool = False
    part: str = "Pt"
    parts_apart: bool = False
    ahead: str | None = None
    dashes: bool = True
    numbers_as_pages: bool = False
    article_word: bool = False
    reports_as_books: bool = False
    places: bool = True
    bare_places: bool = False
    publishers: tuple[tuple[str, str], ...] = ()
    report_number: str = "No."
    series: bool = True
    genre: bool = True
    nlm: bool = False
    most_others: int | None = None


def prepared(item: Item, wants: Wants) -> Item:
    """Return an item as one style wants it."""
    ready = {name: value for name, value in item.items() if name not in _UNUSED}
    if not str(ready.get("URL", "")).startswith(BOOKSHELF):
        ready.pop("URL", None)  # PubMed's page is not where a journal's article is
    # The authors of a book stand beside those of a chapter only where nobody edited it.
    if ready.get("editor") or ready.get("container-author") == ready.get("author"):
        ready.pop("container-author", None)
    _titles(ready, item, wants)
    _names(ready, wants)
    _issue(ready, wants)
    _supplement(ready, wants)
    _pages(ready, wants)
    _date(ready, wants)
    if wants.ahead and "status" in ready:
        ready["status"] = wants.ahead
    _publisher(ready, wants)
    if "incomplete" in str(item.get("note", "")) and "author" in ready and OTHERS not in ready["author"]:
        if wants.most_others and len(ready["author"]) > wants.most_others:
            ready["author"] = ready["author"][: wants.most_others]
        ready["author"].append({"literal": "others"})  # the processor's word for "et al."
    if ready["type"] == "article":
        _preprint(ready, wants)
    if wants.nlm_names and "medline-title" in item:
        ready["container-title-short"] = item["medline-title"]
    if wants.dotted_journals and "container-title-short" in ready:
        ready["container-title-short"] = dotted(ready["container-title-short"], ready.get("container-title"))
    if not wants.places:
        ready.pop("publisher-place", None)
    elif wants.bare_places and "publisher-place" in ready:
        place, bracket, rest = ready["publisher-place"].rpartition("(")
        if bracket and rest.endswith(")") and rest.count(")") == 1:
            ready["publisher-place"] = place.rstrip()
    return ready


# titles


def _titles(ready: Item, item: Item, wants: Wants) -> None:
    language = str(item.get("language", "en"))
    names = item["species"] if "species" in item else taxa(str(item.get("keyword", "")).split(JOINER))
    for name in ("title", "container-title"):
        text = ready.get(name)
        if not text:
            continue
        if name == "title":
            text = _opening_capital(text)
        of_book = ready["type"] in ("book", "report") if name == "title" else ready["type"] == "chapter"
        if language == "en" and (name == "title" or of_book):
            text = _cased(text, wants.books or wants.titles if of_book else wants.titles, names)
        ready[name] = quoted(text)
    if "languages" in item and wants.language == "after_pages":
        ready["annote"] = ", ".join(item["languages"])
        return
    spoken = _LANGUAGES.get(language)
    if language == "en" or not spoken:
        return
    translated = ready["title"].startswith("[")
    if wants.language == "after_pages":
        ready["annote"] = spoken
    elif wants.language == "in_title" and translated:
        ready["title"] += f". Article in {spoken}"
    elif wants.language == "after_title" and translated:
        ready["title"] = f"{_cased(ready['title'].strip('[]'), wants.titles, names)} [In {spoken}.]"


def _cased(title: str, titles: Titles, names: list[str]) -> str:
    if titles in _SMALL:
        return headline(title, _SMALL[titles], names)
    return subtitle_capitals(title) if titles == "apa" else title


def _opening_capital(title: str) -> str:
    """Capitalize the first word of a title that begins with a quotation mark; gene names such as "p53" stay."""
    opening = title[: len(title) - len(title.lstrip("\"'“‘„«"))]
    if not opening:
        return title
    word, *rest = title[len(opening) :].split(" ", 1)
    head, *parts = re.split(r"(?=[-–/])", word, maxsplit=1)
    return " ".join([f"{opening}{capitalize(head)}{''.join(parts)}", *rest])


def quoted(text: str) -> str:
    """Write apostrophes and primes as themselves, and all quotation marks as the processor expects them.

    It turns straight double quotes into typographic ones, single ones inside others; a straight single one may be an
    apostrophe (N'Doye), a prime (5'-UTR) or a quotation mark.
    """
    text = re.sub(r"(?<=[0-9])''", "″", text)
    text = re.sub(r"(?<=[0-9])'(?![A-Za-z]*')", "′", text)
    text = _ELISION.sub(lambda match: match[0].replace("'", "’"), text)
    marks = list(text)
    opened: int | None = None
    inside = False
    for place, mark in enumerate(text):
        before, after = text[place - 1 : place], text[place + 1 : place + 2]
        if mark in '“„”"':
            inside = mark in "“„" or (mark == '"' and not inside)
            marks[place] = '"'
            opened = None
        elif mark in "'‘" and after.strip() and not (before.isalnum() or before in (".", ")", "]")):
            opened = place
            marks[place] = "‘"
        elif mark in "'’":
            marks[place] = "’"
            if opened is not None and before != " " and not after.isalnum() and place > opened + 1:
                if not inside:
                    marks[opened] = marks[place] = '"'
                opened = None
    return "".join(marks)


# names


def _names(item: Item, wants: Wants) -> None:
    for role in ("author", "editor", "container-author"):
        if role in item:
            several = len(item[role]) > 1
            item[role] = [_name(name, wants, several=several) for name in item[role]]
            if wants.groups_after_others:
                item[role] = _shortened_list(item[role])


def _shortened_list(names: list[Name]) -> list[Name]:
    """Name three of more than six people, and the group they wrote for: "Doe J, Roe R, Poe E, et al; Study Group"."""
    groups = [name for name in names if "literal" in name]
    people = len(names) - len(groups)
    if len(names) <= MANY or (people <= MANY and len(groups) == 1):
        return names
    after = [group for group in groups if group not in names[:NAMED]] if people > MANY else []
    return [*names[:NAMED], OTHERS, *after]


def _name(name: Name, wants: Wants, *, several: bool) -> Name:
    ready = {part: text.replace("'", "’") for part, text in name.items()}
    initials = ready.pop("initials", "")
    if "literal" in ready:
        if wants.groups_apart and several:
            ready["literal"] = ready["literal"].join(GROUP)
        return ready
    if given := ready.get("given"):
        if _INITIALS.fullmatch(given):
            ready["given"] = given = re.sub(r"(?<=\w)(?=-|$)", ".", given)
        if wants.nlm_names and any(map(str.isupper, given)):
            # NLM's are not always those of the given names: it passes over "de", and took two once
            ready["given"] = split_initials(initials) or spaced_initials(given)
        elif wants.initials:
            ready["given"] = _HYPHENATED.sub(lambda match: match[0].upper(), given)
    if "suffix" in ready and (wants.nlm_names or wants.bare_suffixes):
        suffix = ready.pop("suffix").rstrip(".")
        suffix = _SUFFIXES.get(suffix, suffix) if wants.nlm else suffix
        # what CSL calls a dropping particle stands where these styles have a suffix
        ready["dropping-particle" if wants.bare_suffixes else "suffix"] = suffix
    return ready


# place in the journal


def _publisher(item: Item, wants: Wants) -> None:
    for word, short in wants.publishers:
        if "publisher" in item:
            item["publisher"] = item["publisher"].replace(word, short)
    if item["type"] != "report":
        return
    if not wants.series:
        item.pop("collection-title", None)
    if wants.reports_as_books:
        item["type"] = "book"
    elif "number" in item:
        if not wants.nlm:
            item["genre"] = "Report"
        item["number"] = f"{wants.report_number} {item['number']}"


def _issue(item: Item, wants: Wants) -> None:
    if volume := item.get("volume"):
        item["volume"] = in_digits(str(volume))  # all six styles want Arabic numerals
    issue = str(item.get("issue", ""))
    if match := _PART.search(issue):
        part = f"{wants.part} {issue[match.end() :]}"
        before = issue[: match.start()].rstrip()
        if wants.parts_apart:
            item["supplement-number"] = part
            issue = before
            item.pop("issue")
        else:
            issue = f"{before} {part}".strip()
    if issue:
        item["issue"] = re.sub(r"(?<=[0-9])-(?=[0-9])", "–", issue) if wants.dashes else issue


def _date(item: Item, wants: Wants) -> None:
    """Write a season where the processor looks for one: in the place of the month, 21 is spring.

    A season of two years (Winter 1990-1991) is more than most styles can say.
    """
    date = item.get("issued")
    if date and "season" in date and (len(date["date-parts"]) == 1 or wants.nlm):
        *earlier, last = date["date-parts"]
        item["issued"] = {"date-parts": [*earlier, [*last, 20 + int(date["season"])]]}


def _supplement(item: Item, wants: Wants) -> None:
    """Set a supplement apart from issue and volume, as the styles know it: "27 Suppl 1", "3 Suppl 2"."""
    number = None
    for field in ("volume", "issue"):
        given = str(item.get(field, ""))
        if match := _SUPPLEMENT.search(given):
            # Where both name it, it is one supplement.
            number = given[match.end() :].strip(" _.()") or number or ""
            item.pop(field)
            if before := given[: match.start()].rstrip(" ,("):
                item[field] = before
    if number is None:
        return
    text = " ".join(part for part in (wants.supplements, number) if part)
    if wants.supplement_in == "own":
        item["supplement-number"] = number or wants.supplements
    elif wants.supplement_in == "brackets":
        item["volume"] = f"{item.get('volume', '')} ({text})".strip()
    else:
        place = "issue" if "issue" in item else "volume"
        item[place] = f"{item.get(place, '')} {text}".strip()


def _pages(item: Item, wants: Wants) -> None:
    if item["type"] == "article" and not wants.nlm:
        item.pop("number", None)  # the server's own number, which stands in the DOI
        item.pop("page", None)
    if "number" in item and item["type"].startswith("article"):
        if wants.numbers_as_pages:
            item["page"] = item.pop("number").replace("-", HYPHEN)
        elif wants.article_word:
            item["number"] = f"article {item['number']}"
    if "page" not in item:
        return
    pages = str(item["page"])
    if wants.nlm:
        item["page"] = _RANGE.sub(_shortened, pages)
    else:
        # of what follows a semicolon other pages belong to the article, and the discussion of it does not
        item["page"] = ", ".join(
            part for part in map(str.strip, pages.split(";")) if _PAGES.match(part) or part == pages
        )


def _shortened(match: re.Match[str]) -> str:
    """Leave out the digits that the second number has in common with the first: S12-S19 is S12-9."""
    letters, first, last = match.groups()
    if len(first) == len(last):
        same = next((n for n, (a, b) in enumerate(zip(first, last, strict=True)) if a != b), 0)
        last = last[same:]
    return f"{letters}{first}-{last}"


def _preprint(item: Item, wants: Wants) -> None:
    """Cite a preprint by its server: as publisher, or where NLM's rules want it, as a journal."""
    if wants.nlm:
        name = str(item.get("container-title-short") or item.get("publisher") or "")
        item["type"] = "article-journal"
        item["container-title"] = item["container-title-short"] = f"{name} [Preprint]"
        item.pop("publisher", None)
        item.pop("genre", None)
        return
    item.pop("container-title", None)
    item.pop("container-title-short", None)
    if not wants.genre:
        item.pop("genre", None)


# notices


_STANDING: Final = re.compile(rf"\[(?:{'|'.join(map(re.escape, WORDS.values()))})(?:: [^\[\]]*)?\]")


def standing_note(item: Item) -> str | None:
    """Return what an item's note says in brackets of how the work stands."""
    match = _STANDING.match(str(item.get("note", "")))
    return match[0] if match else None
