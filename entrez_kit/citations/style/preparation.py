"""Prepare items of CSL-JSON for a style, for rules that CSL cannot express.

CSL styles print the data unchanged. This module handles cases in which that breaks the published rules of a style; the
docstring of each function names the case.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from entrez_kit.base.identifiers import read_identifier
from entrez_kit.citations.csl import JOINER, Item
from entrez_kit.citations.names import OTHERS, Name, space_initials, split_initials
from entrez_kit.citations.style.casing import (
    PREPOSITIONS,
    SHORT,
    SHORTEST,
    capitalize,
    capitalize_headline,
    capitalize_subtitle,
    find_species_names,
)
from entrez_kit.citations.titles import add_full_stops
from entrez_kit.pubmed.comparison import convert_roman
from entrez_kit.pubmed.models import LANGUAGES, WORDS

Titles = Literal["as_is", "chicago", "mla", "apa", "ama"]
_SMALL: Final = {"chicago": SHORT, "mla": PREPOSITIONS, "ama": SHORTEST}
"""Words in lower case in headline capitals."""
Language = Literal["none", "after_pages", "in_title", "after_title"]

GROUP: Final = ("\u2063", "\u2064")
"""Marks around a group name, for styles that put a semicolon before it; no title or name contains them."""
HYPHEN: Final = "\u2062"
"""A placeholder for the hyphen of an article number, which the processor would read as a range: e01408-19."""

MANY: Final = 6
NAMED: Final = 3
"""AMA lists up to six authors, or the first three of more (3.7)."""
ET_AL: Final[Name] = {"literal": "et al"}

_UNUSED: Final = frozenset(
    ("abstract", "keyword", "note", "source", "language", "medium", "ISSN", "species", "languages", "medline-title")
)
"""Fields that a style would print in addition to the citation, or that no style prints."""
_DATABASE_PAGE: Final = re.compile(
    r"https?://(?:[\w-]+\.)*(?:europepmc\.org|scopus\.com|embase\.com|webof(?:science|knowledge)\.com"
    r"|search\.ebscohost\.com|ovidsp\.ovid\.com)(?:[/:?#]|$)",
    re.IGNORECASE,
)
"""The page of a work in a database, which other readers often cannot open."""
_SUPPLEMENT: Final = re.compile(r"(?<![a-z])suppl(?:ement)?(?![a-z])", re.IGNORECASE)
_PART: Final = re.compile(r"\bpt\b\.?\s*(?=\w+$)|\bpt\.?(?=[0-9]+$)", re.IGNORECASE)
_PAGES: Final = re.compile(r"[A-Za-z]{0,3}[0-9]")
_SUFFIXES: Final = {"II": "2nd", "III": "3rd", "IV": "4th", "V": "5th", "VI": "6th"}
_ELISION: Final = re.compile(r"(?<!\w)'(?:n'|[0-9]0s|(?:em|tis|twas|til|t)\b|s-)(?=\W|\w|$)", re.IGNORECASE)
"""Apostrophes that could be read as an opening quotation mark: rock 'n' roll, the '90s, 't Hooft."""
_INITIALS: Final = re.compile(r"[A-Z](?:-[A-Z])+")
"""Initials with a hyphen, which the processor reads as a name: J-M becomes J.-M."""
_HYPHENATED: Final = re.compile(r"(?<=[^\W\d_]-)[a-z](?=[a-z]*\Z)")
"""The second part of Xiao-ming, which has an initial too."""
_RANGE: Final = re.compile(r"(?<![0-9])([A-Za-z]{0,3})([0-9]{1,12})-\1([0-9]{1,12})(?![0-9])")
_LANGUAGES: Final = dict(LANGUAGES.values())


@dataclass(frozen=True, slots=True)
class StyleRules:
    """The rules of a style for the data.

    Args:
        titles: the capitals of titles.
        books: the capitals of book titles, if different.
        nlm_names: suffixes without full stops, and NLM's initials (J-P is JP).
        initials: given names become initials, for both parts of Xiao-ming (X.-M.).
        bare_suffixes: no comma before a suffix, no full stop in it.
        groups_apart: a semicolon separates a group from persons.
        groups_after_others: list three of more than six authors, and the group author after "et al"; CSL would omit
            the group.
        supplements: the word for a supplement.
        supplement_in: the place of a supplement: a separate field, after the volume, or after it in brackets.
        language: the place of a language other than English: after the pages, in the title, or after it.
        dotted_journals: full stops in journal abbreviations.
        part: the word for a part ("Pt 1") of a volume.
        parts_apart: a part follows the issue instead of being in it: "no. 3, pt. 1".
        ahead: the words for an article without a volume, if the style's own differ.
        dashes: dashes in ranges of issues.
        numbers_as_pages: article numbers are printed in place of pages.
        article_word: the word "article" before an article number.
        reports_as_books: a report is cited as a book, with its publisher.
        places: the publisher's place is printed.
        bare_places: without NLM's addition in brackets: "Eastmere (UK)".
        publishers: words in publisher names and their replacements.
        report_number: the word before the number of a report.
        series: the series of a report is printed.
        genre: the word "preprint" is in the data; otherwise the style has it.
        nlm: rules of Citing Medicine: ordinal suffixes (3rd instead of III), shortened ranges with additional parts
            ("discussion 210-1"), seasons of two years, preprints as articles of their server.
        most_others: the maximum number of authors of a list that PubMed cut, for styles that print the last author of
            a long list, which is unknown then.
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


def prepare_item(item: Item, wants: StyleRules) -> Item:
    """Return an item prepared for a style."""
    ready = {name: value for name, value in item.items() if name not in _UNUSED}
    _prepare_address(ready)
    # The authors of a book are printed with those of a chapter only if the book has no editors.
    if ready.get("editor") or ready.get("container-author") == ready.get("author"):
        ready.pop("container-author", None)
    _prepare_titles(ready, item, wants)
    _prepare_names(ready, wants)
    _prepare_issue(ready, wants)
    _prepare_supplement(ready, wants)
    _prepare_pages(ready, wants)
    _prepare_date(ready, wants)
    if wants.ahead and "status" in ready:
        ready["status"] = wants.ahead
    _prepare_publisher(ready, wants)
    is_incomplete = "incomplete" in str(item.get("note", "")) and "author" in ready
    if is_incomplete and ET_AL not in ready["author"] and {"literal": OTHERS} not in ready["author"]:
        if wants.most_others and len(ready["author"]) > wants.most_others:
            ready["author"] = ready["author"][: wants.most_others]
        ready["author"].append({"literal": OTHERS})  # the processor prints this as "et al."
    if ready["type"] == "article":
        _prepare_preprint(ready, wants)
    if wants.nlm_names and "medline-title" in item:
        ready["container-title-short"] = item["medline-title"]
    if wants.dotted_journals and "container-title-short" in ready:
        ready["container-title-short"] = add_full_stops(ready["container-title-short"], ready.get("container-title"))
    if not wants.places:
        ready.pop("publisher-place", None)
    elif wants.bare_places and "publisher-place" in ready:
        place, bracket, rest = ready["publisher-place"].rpartition("(")
        if bracket and rest.endswith(")") and rest.count(")") == 1:
            ready["publisher-place"] = place.rstrip()
    return ready


def _prepare_address(item: Item) -> None:
    """Remove addresses that are not part of a citation, and the day of access with them.

    These are pages of databases about the work, and the page of a journal article that has a DOI.
    """
    address = str(item.get("URL", ""))
    page = read_identifier(address)
    is_article = item["type"] == "article-journal" and "DOI" in item
    if is_article or (page and (page.kind != "doi" or "DOI" in item)) or _DATABASE_PAGE.match(address):
        item.pop("URL", None)
    if "URL" not in item:
        item.pop("accessed", None)


# titles


def _prepare_titles(ready: Item, item: Item, wants: StyleRules) -> None:
    language = str(item.get("language", "en"))
    names = item["species"] if "species" in item else find_species_names(str(item.get("keyword", "")).split(JOINER))
    for name in ("title", "container-title"):
        text = ready.get(name)
        if not text:
            continue
        if name == "title":
            text = _capitalize_opening(text)
        of_book = ready["type"] in ("book", "report") if name == "title" else ready["type"] == "chapter"
        if language == "en" and (name == "title" or of_book):
            text = _apply_case(text, wants.books or wants.titles if of_book else wants.titles, names)
        ready[name] = normalize_quotes(text)
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
        ready["title"] = f"{_apply_case(ready['title'].strip('[]'), wants.titles, names)} [In {spoken}.]"


def _apply_case(title: str, titles: Titles, names: list[str]) -> str:
    if titles in _SMALL:
        return capitalize_headline(title, _SMALL[titles], names)
    return capitalize_subtitle(title) if titles == "apa" else title


def _capitalize_opening(title: str) -> str:
    """Capitalize the first word of a title that begins with a quotation mark; gene names such as "p53" stay."""
    opening = title[: len(title) - len(title.lstrip("\"'“‘„«"))]
    if not opening:
        return title
    word, *rest = title[len(opening) :].split(" ", 1)
    head, *parts = re.split(r"(?=[-–/])", word, maxsplit=1)
    return " ".join([f"{opening}{capitalize(head)}{''.join(parts)}", *rest])


def normalize_quotes(text: str) -> str:
    """Normalize apostrophes, primes and quotation marks for the processor.

    The processor converts straight double quotes to typographic ones, or to single ones inside others. A straight
    single quote may be an apostrophe (N'Doye), a prime (5'-UTR) or a quotation mark.
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


def _prepare_names(item: Item, wants: StyleRules) -> None:
    for role in ("author", "editor", "container-author"):
        if role in item:
            several = len(item[role]) > 1
            item[role] = [_prepare_name(name, wants, several=several) for name in item[role]]
            if wants.groups_after_others:
                item[role] = _shorten_list(item[role])


def _shorten_list(names: list[Name]) -> list[Name]:
    """List three of more than six authors, and the group author: "Doe J, Roe R, Poe E, et al; Study Group"."""
    groups = [name for name in names if "literal" in name and name["literal"] != OTHERS]
    people = len(names) - len(groups)
    if len(names) <= MANY or (people <= MANY and len(groups) == 1):
        return names
    after = [group for group in groups if group not in names[:NAMED]] if people > MANY else []
    return [*names[:NAMED], ET_AL, *after]


def _prepare_name(name: Name, wants: StyleRules, *, several: bool) -> Name:
    if name.get("literal") == OTHERS:
        return name
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
            # NLM's initials may differ from the given names: it skips "de", and had a maximum of two
            ready["given"] = split_initials(initials) or space_initials(given)
        elif wants.initials:
            ready["given"] = _HYPHENATED.sub(lambda match: match[0].upper(), given)
    if "suffix" in ready and (wants.nlm_names or wants.bare_suffixes):
        suffix = ready.pop("suffix").rstrip(".")
        suffix = _SUFFIXES.get(suffix, suffix) if wants.nlm else suffix
        # these styles print a suffix where CSL prints a dropping particle
        ready["dropping-particle" if wants.bare_suffixes else "suffix"] = suffix
    return ready


# place in the journal


def _prepare_publisher(item: Item, wants: StyleRules) -> None:
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
        if wants.nlm:
            item.pop("genre", None)
        else:
            item.setdefault("genre", "Report")
        item["number"] = f"{wants.report_number} {item['number']}"


def _prepare_issue(item: Item, wants: StyleRules) -> None:
    if volume := item.get("volume"):
        item["volume"] = convert_roman(str(volume))  # all six styles use Arabic numerals
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


def _prepare_date(item: Item, wants: StyleRules) -> None:
    """Write a season as the processor expects it: in place of the month, 21 for spring.

    Most styles cannot print a season of two years (Winter 1990-1991).
    """
    date = item.get("issued")
    if date and "season" in date and (len(date["date-parts"]) == 1 or wants.nlm):
        *earlier, last = date["date-parts"]
        item["issued"] = {"date-parts": [*earlier, [*last, 20 + int(date["season"])]]}


def _prepare_supplement(item: Item, wants: StyleRules) -> None:
    """Separate a supplement from issue and volume, for the rules of the style: "27 Suppl 1", "3 Suppl 2"."""
    number = None
    for field in ("volume", "issue"):
        value = str(item.get(field, ""))
        if match := _SUPPLEMENT.search(value):
            # If both fields have it, it is one supplement.
            number = value[match.end() :].strip(" _.()") or number or ""
            item.pop(field)
            if before := value[: match.start()].rstrip(" ,("):
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


def _prepare_pages(item: Item, wants: StyleRules) -> None:
    if item["type"] == "article" and not wants.nlm:
        item.pop("number", None)  # the server's own number, which is part of the DOI
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
        item["page"] = _RANGE.sub(_shorten_range, pages)
    else:
        # after a semicolon: further pages belong to the article, a discussion of it does not
        item["page"] = ", ".join(
            part for part in map(str.strip, pages.split(";")) if _PAGES.match(part) or part == pages
        )


def _shorten_range(match: re.Match[str]) -> str:
    """Omit the digits that the second number shares with the first: S12-S19 becomes S12-9."""
    letters, first, last = match.groups()
    if len(first) == len(last):
        same = next((n for n, (a, b) in enumerate(zip(first, last, strict=True)) if a != b), 0)
        last = last[same:]
    return f"{letters}{first}-{last}"


def _prepare_preprint(item: Item, wants: StyleRules) -> None:
    """Cite a preprint with its server as publisher, or as journal by NLM's rules."""
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


def find_standing_note(item: Item) -> str | None:
    """Return the publication status in brackets from an item's note."""
    match = _STANDING.search(str(item.get("note", "")))
    return match[0] if match else None
