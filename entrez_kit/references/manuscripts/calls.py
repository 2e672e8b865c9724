"""Find the citations in the text of a manuscript without an entry in its list, and uncited entries."""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from entrez_kit.pubmed.comparison import fold_text
from entrez_kit.pubmed.xml.dates import MONTH_NAMES
from entrez_kit.references.check.check_result import InTextFinding
from entrez_kit.references.check.pasted.guessing import guess_parts
from entrez_kit.references.files.references import Reference
from entrez_kit.references.manuscripts.document import DASH, Line, Manuscript, Paragraph, parse_citation_numbers

AROUND: Final = 40
MIN_CALLS: Final = 2
MIN_ORDERED: Final = 5
"""Fewer entries can be in alphabetical order by chance."""
FIRST_YEAR: Final = 1800
LAST_YEAR: Final = 2100
_BRACKETED: Final = re.compile(rf"\[(\s*+[0-9]{{1,4}}(?>(?:\s*+(?:[,;]|{DASH})\s*+[0-9]{{1,4}})*)\s*+)\]")
_IN_PARENTHESES: Final = re.compile(rf"\((\s*+[0-9]{{1,3}}(?>(?:\s*+(?:[,;]|{DASH})\s*+[0-9]{{1,3}})*)\s*+)\)")
_RAISED: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_RAISE: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻", " ")
_SUPERSCRIPT: Final = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+(?:[,⁻–-][⁰¹²³⁴⁵⁶⁷⁸⁹]+)*")
_PARTICLE: Final = r"(?:van|von|de|del|della|di|da|du|la|le|den|der|ter|ten|el|al|bin|dos|st\.)[ '’-]"
_FAMILY: Final = rf"(?:{_PARTICLE}){{0,3}}[^\W\d_a-z](?:\w{{1,60}}+(?:['’-]\w{{2,60}}+){{0,4}}|['’]\w{{2,60}}+)"
"""The lengths are bounded, so that the time of a search does not grow quadratically with a long run of letters."""
_NAMES: Final = rf"{_FAMILY}(?: {_FAMILY})?(?:(?:,? (?:and|&|und|et|y) {_FAMILY})|,? et al\.?(?:,)?)?"
_YEARS: Final = r"(?:1[89]|20)[0-9]{2}[a-z]?(?>(?:\s*+,\s*+(?:(?:1[89]|20)[0-9]{2}[a-z]?|[a-z]))*)"
_NARRATIVE: Final = re.compile(rf"({_NAMES})(?:['’]s)? \(({_YEARS})(?:[,:] ?p{{1,2}}\.? ?[0-9–-]+)?\)")
_PARENTHETIC: Final = re.compile(r"[(\[]([^()\[\]]{4,400})[)\]]")
_LEADS: Final = (
    "according adapted after albeit also although and as because before both but by described despite discussed "
    "earlier example first finally following for from further furthermore here how however if in indeed instead "
    "later like likewise modified moreover nevertheless notably particularly per previously recently reported "
    "reviewed second see shown similarly since so specifically such summarised summarized than that then therefore "
    "though through thus to under unlike until using via when where whereas whether while with work yet"
)
"""Words before a name that are not part of it."""
_LEAD_WORDS: Final = frozenset(_LEADS.split())
_LEAD: Final = rf"(?:(?:(?i:{'|'.join(_LEADS.split())})|e\.g\.|i\.e\.|[Cc]f\.)[,:]? ){{0,5}}"
_PART: Final = re.compile(rf"{_LEAD}({_NAMES}),? ({_YEARS})")
_NO_NAMES: Final = frozenset(name for names in MONTH_NAMES for name in names) | frozenset(
    ("appendix", "autumn", "chapter", "fall", "figure", "section", "spring", "summer", "table", "version", "winter")
)
"""Capitalized words before a year that are not names."""
_YEAR: Final = re.compile(r"((?:1[89]|20)[0-9]{2})([a-z]?)")


@dataclass(frozen=True, slots=True)
class _Call:
    """A citation: its number, its key, or its name and year; its text, its line, and the words around it."""

    what: Any
    label: str
    line: int
    text: str | None


def check_calls(manuscript: Manuscript) -> list[InTextFinding]:
    """Return the citations without an entry, the entries without a citation, and the numbers that are out of order.

    The style of citation is detected: keys; numbers in brackets, in parentheses or as superscript; or names with years.
    """
    return [problem.model_copy(update={"counts": manuscript.counts}) for problem in _find_problems(manuscript)]


def _find_problems(manuscript: Manuscript) -> Iterable[InTextFinding]:
    if manuscript.keyed:
        return _check_keys(manuscript)
    references = manuscript.references
    numbered, _ = _find_numbers(manuscript.text, len(references))
    named = list(_find_names(manuscript.text))
    if len({call.what for call in numbered}) >= min(MIN_CALLS, len(references)) and len(numbered) >= len(named) / 2:
        return _check_numbers(references, numbered)
    if named:
        return _match_calls(
            named, [(_name_entry(reference), reference) for reference in references], _index_entries(references)
        )
    return [
        InTextFinding(kind="never_called", call=reference.number or reference.key, line=reference.line)
        for reference in references
    ]


def _match_calls(
    calls: Iterable[_Call], entries: Iterable[tuple[str, Reference]], find_entries: Callable[[Any], Collection[int]]
) -> Iterator[InTextFinding]:
    """Yield each citation without an entry once, then the entries without a citation.

    Args:
        entries: the entries, each with its name in a finding.
        find_entries: returns the indexes of the entries for a citation.
    """
    used: set[int] = set()
    seen: set[Any] = set()
    for call in calls:
        entries_called = find_entries(call.what)
        used.update(entries_called)
        if not entries_called and call.what not in seen:
            yield InTextFinding(kind="no_entry", call=call.label, line=call.line, text=call.text)
        seen.add(call.what)
    for number, (display_text, one) in enumerate(entries):
        if number not in used:
            yield InTextFinding(kind="never_called", call=display_text, line=one.line)


def _check_keys(manuscript: Manuscript) -> Iterator[InTextFinding]:
    """Compare citations by key, and in a Word document also typed citations."""
    places: dict[str, list[int]] = {}
    for number, reference in enumerate(manuscript.references):
        places.setdefault(reference.key, []).append(number)
    find_by_name = _index_entries(manuscript.references)

    def find_entries(what: Any) -> list[int]:
        if isinstance(what, str):
            return places.get(what, [])
        if isinstance(what, int):
            return [what - 1] if what <= len(manuscript.references) else []
        return find_by_name(what)

    calls = [_Call(call.key, call.key, call.line, call.text or None) for call in manuscript.calls if call.key != "*"]
    entries = (
        [(reference.key, reference) for reference in manuscript.references]
        if len(calls) == len(manuscript.calls)
        else []
    )
    if manuscript.counts == "paragraph":
        calls = sorted([*calls, *_find_typed_calls(manuscript)], key=lambda call: call.line)
    return _match_calls(calls, entries, find_entries)


def _find_typed_calls(manuscript: Manuscript) -> list[_Call]:
    """Return the citations in a Word document that are not fields of a reference manager.

    Numbers are citations only if the fields show numbers.
    """
    text = list(_replace_fields(manuscript, lambda numbers: " "))
    by_name = any(re.search(r"[^\W\d_]", call.text) for call in manuscript.calls)
    numbered = [] if by_name else _find_numbers(text, len(manuscript.references))[0]
    return [*numbered, *_find_names(text)]


# Numbers


def _find_numbers(text: Sequence[Line], most: int) -> tuple[list[_Call], re.Pattern[str]]:
    """Return citations by number, and their pattern.

    Numbers in parentheses often have another meaning, so they count only if no number is in brackets or superscript.
    """
    calls = [call for line in text for call in _find_in_line(line, _BRACKETED)]
    calls = [call for call in calls if call.what <= most or not FIRST_YEAR <= call.what <= LAST_YEAR]
    if calls:
        return calls, _BRACKETED
    raised = [(line, match) for line in text for match in _SUPERSCRIPT.finditer(line.text) if _is_call(match)]
    if calls := [
        call for line, match in raised for call in _expand_numbers(match[0].translate(_RAISED), line, match.start())
    ]:
        return calls, _SUPERSCRIPT
    calls = [call for line in text for call in _find_in_line(line, _IN_PARENTHESES)] if most else []
    if {call.what for call in calls if call.what <= most} < set(range(1, min(3, most) + 1)):
        calls = []  # ages, sample sizes, steps
    return calls, _IN_PARENTHESES


def _find_in_line(line: Line, pattern: re.Pattern[str]) -> Iterator[_Call]:
    for match in pattern.finditer(line.text):
        yield from _expand_numbers(match[1], line, match.start())


def _is_call(raised: re.Match[str]) -> bool:
    """Return true if superscript numbers are a citation, not an exponent."""
    before = raised.string[max(0, raised.start() - 3) : raised.start()]
    follows = re.search(r"[^\W\d_]{2}$|[.,;:)\]”\"]$", before)
    return follows is not None and not re.search(r"\b(?:[cmkµn]?m|10)$", before)


def _expand_numbers(numbers: str, line: Line, place: int) -> Iterator[_Call]:
    for number in parse_citation_numbers(numbers):
        yield _Call(number, str(number), line.number, _quote(line.text, place))


def _check_numbers(references: Sequence[Reference], calls: Sequence[_Call]) -> Iterator[InTextFinding]:
    numbers = {
        int(reference.number) if reference.number and reference.number.isdigit() else place: reference
        for place, reference in enumerate(references, start=1)
    }
    places = {number: [place] for place, number in enumerate(sorted(numbers))}
    entries = [(str(number), one) for number, one in sorted(numbers.items())]
    yield from _match_calls(calls, entries, lambda number: places.get(number, []))
    if not _is_alphabetical([one for _, one in entries]):
        yield from _find_out_of_order([call for call in calls if call.what in numbers])


def _is_alphabetical(references: Sequence[Reference]) -> bool:
    """Return true if a list is ordered by author: its numbers do not follow the text."""
    names = [_fold_first_author(reference).partition(" ")[0] for reference in references]
    return len(names) >= MIN_ORDERED and names == sorted(names)


def _find_out_of_order(calls: Sequence[_Call]) -> Iterator[InTextFinding]:
    """Yield the numbers to move so that first citations ascend: the fewest, in the order of the text."""
    first: dict[int, _Call] = {}
    for _, group in groupby(calls, key=lambda call: (call.line, call.text)):  # [3, 1] cites both at the same place
        for call in sorted(group, key=lambda call: call.what):
            first.setdefault(call.what, call)
    tails: list[int] = []  # tails[n] ends the longest ascending sequence of n + 1 numbers
    before: dict[int, int | None] = {}
    for number in first:
        place = bisect_left(tails, number)
        before[number] = tails[place - 1] if place else None
        tails[place : place + 1] = [number]
    ascending: set[int] = set()
    last = tails[-1] if tails else None
    while last is not None:
        ascending.add(last)
        last = before[last]
    for number, call in first.items():
        if number not in ascending:
            yield InTextFinding(kind="out_of_order", call=call.label, line=call.line, text=call.text)


# Names and years


def _find_names(text: Sequence[Line]) -> Iterator[_Call]:
    for line in text:
        for match in _NARRATIVE.finditer(line.text):
            yield from _expand_years(match[1], match[2], line, match.start())
        for match in _PARENTHETIC.finditer(line.text):
            for part in match[1].split(";"):
                if found := _PART.match(part.strip()):
                    yield from _expand_years(found[1], found[2], line, match.start())


def _expand_years(names: str, years: str, line: Line, place: int) -> Iterator[_Call]:
    while (lead := names.partition(" "))[2] and lead[0].lower() in _LEAD_WORDS:
        names = lead[2]
    names = names.rstrip(",")
    first = re.split(r",? (?:and|&|und|et|y)(?= )", names, maxsplit=1)[0]
    if fold_text(first) in _NO_NAMES:
        return
    for year, letter in _YEAR.findall(years):
        yield _Call((fold_text(first), year), f"{names} {year}{letter}", line.number, _quote(line.text, place))


def _index_entries(references: Sequence[Reference]) -> Callable[[tuple[str, str]], list[int]]:
    """Return a function that returns the indexes of the entries with a name and a year."""
    entries = [(_fold_first_author(reference), _list_years(reference)) for reference in references]

    def find_entries(call: tuple[str, str]) -> list[int]:
        name, year = call
        # A word before the name may be capitalized: "Physicist Luo".
        for form in dict.fromkeys((name, name.partition(" ")[2] or name)):
            positions = [n for n, (head, years) in enumerate(entries) if year in years and _is_first(form, head)]
            if positions:
                return positions
        return []

    return find_entries


def _fold_first_author(reference: Reference) -> str:
    if reference.text:
        return fold_text(reference.text[:120])
    first = reference.authors[0] if reference.authors else None
    return fold_text((first.family or first.group or "") if first else reference.title or "")


def _list_years(reference: Reference) -> set[str]:
    if reference.text:
        return {year for year, _ in _YEAR.findall(reference.text)}
    return {reference.year} if reference.year else set()


def _is_first(name: str, head: str) -> bool:
    """Return true if an entry begins with a name, which given names or initials may precede."""
    words = head.split()
    wanted = name.split()
    return any(words[n : n + len(wanted)] == wanted for n in range(min(4, len(words))))


def _name_entry(reference: Reference) -> str:
    if reference.text:
        guess = guess_parts(reference.text)
        return " ".join(part for part in (guess.author, guess.year) if part) or reference.key
    return reference.key


def _quote(text: str, place: int) -> str:
    begin, end = max(0, place - AROUND), place + AROUND
    return ("…" if begin else "") + " ".join(text[begin:end].split()) + ("…" if end < len(text) else "")


# The text with its calls


def mark_calls(manuscript: Manuscript) -> Iterator[Paragraph]:
    """Yield the paragraphs of a manuscript with each citation as the numbers of its entries: ``[1, 3-5]``."""
    text, references = manuscript.text, manuscript.references
    if manuscript.calls:
        text = list(_replace_fields(manuscript, lambda numbers: f"[{', '.join(numbers)}]"))
        if all(call.text for call in manuscript.calls):
            return (Paragraph(line.number, line.text) for line in text)
    # The fields of some reference managers do not contain the text of the citation.
    numbered, pattern = _find_numbers(text, len(references))
    named = list(_find_names(text))
    if len(numbered) < len(named) / 2 or (named and manuscript.calls):
        return _mark_by_name(text, references)
    return (Paragraph(line.number, pattern.sub(_enclose_call, line.text)) for line in text)


def number_entries(references: Sequence[Reference]) -> list[str]:
    """Return the number of each entry: its printed number, or its position from 1."""
    return [reference.number or str(place) for place, reference in enumerate(references, start=1)]


def _enclose_call(call: re.Match[str]) -> str:
    if call.re is _SUPERSCRIPT:
        return f"[{call[0].translate(_RAISED)}]" if _is_call(call) else call[0]
    return f"[{' '.join(call[1].split())}]"


def _mark_by_name(text: Sequence[Line], references: Sequence[Reference]) -> Iterator[Paragraph]:
    find_entries, numbers = _index_entries(references), number_entries(references)

    def mark(names: str, years: str, line: Line) -> list[str]:
        calls = _expand_years(names, years, line, 0)
        return list(dict.fromkeys(numbers[place] for call in calls for place in find_entries(call.what)))

    for line in text:

        def mark_narrative(match: re.Match[str], line: Line = line) -> str:
            numbers = mark(match[1], match[2], line)
            return f"{match[1]} [{', '.join(numbers)}]" if numbers else match[0]

        def mark_group(match: re.Match[str], line: Line = line) -> str:
            parts = [_PART.match(part.strip()) for part in match[1].split(";")]
            found = [number for part in parts if part is not None for number in mark(part[1], part[2], line)]
            return f"[{', '.join(found)}]" if found else match[0]

        yield Paragraph(line.number, _PARENTHETIC.sub(mark_group, _NARRATIVE.sub(mark_narrative, line.text)))


def _replace_fields(manuscript: Manuscript, write: Callable[[list[str]], str]) -> Iterator[Line]:
    """Yield the paragraphs with the citations of a reference manager replaced.

    Args:
        write: returns the new text of a citation, given the numbers of its entries.
    """
    references = manuscript.references
    places = dict(zip((reference.key for reference in references), number_entries(references), strict=True))
    fields: dict[int, list[tuple[str, list[str]]]] = {}
    for call in manuscript.calls:
        of_line = fields.setdefault(call.line, [])
        number = places.get(call.key)
        if number is not None and of_line and of_line[-1][0] == call.text and number not in of_line[-1][1]:
            of_line[-1][1].append(number)
        elif number is not None:
            of_line.append((call.text, [number]))
    for line in manuscript.text:
        rest, done = line.text, list[str]()
        for display_text, numbers in fields.get(line.number, ()):
            if found := _find_shown(rest, display_text):
                start, end = found
                done += [rest[:start], write(numbers)]
                rest = rest[end:]
        yield Line(line.number, "".join((*done, rest)))


def _find_shown(text: str, display_text: str) -> tuple[int, int] | None:
    """Return the position of a citation. Bare digits must be superscript, or directly follow a word."""
    for form in (display_text.translate(_RAISE), display_text):
        at = text.find(form) if form else -1
        while at >= 0:
            end = at + len(form)
            is_number = form[:1].isdecimal()
            if not is_number or (text[at - 1 : at].strip("([ 0123456789") and not text[end : end + 1].isdecimal()):
                return at, end
            at = text.find(form, end)
    return None
