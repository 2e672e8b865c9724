"""Split a pasted list into its references, and read the number and the identifiers of each."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any, Final

from entrez_kit.base.frontend_text import cut_middle, format_count
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.base.invisible import remove_invisible
from entrez_kit.core.model import Warn
from entrez_kit.pubmed.comparison import fold_text
from entrez_kit.pubmed.models import WORDS
from entrez_kit.references.check.pasted.additions import remove_additions
from entrez_kit.references.check.pasted.find_lists import find_lists, is_heading
from entrez_kit.references.check.pasted.first_lines import find_first_lines
from entrez_kit.references.check.pasted.guessing import VISITED, YEAR
from entrez_kit.references.check.pasted.line_signs import AUTHOR_START, MARK, classify_mark, is_dated
from entrez_kit.references.check.pasted.list_layout import BARE_NUMBER_KIND, ListLayout, ListLine, read_layout
from entrez_kit.references.check.pasted.list_notes import remove_notes
from entrez_kit.references.check.pasted.page_lines import remove_page_lines
from entrez_kit.references.check.pasted.rewrite_lines import rewrite_lines
from entrez_kit.references.check.pasted.rewrite_marks import rewrite_label, rewrite_marks
from entrez_kit.references.check.pasted.text_lines import TextLine, remove_line_numbers, split_text_lines
from entrez_kit.references.check.pasted.uncertain_rows import find_uncertain_rows
from entrez_kit.references.files.references import Reference, merge_identifiers

MAX_TEXT: Final = 5_000
"""Characters of one reference; every style shortens a group of thousands of authors."""
MAX_TERM: Final = 100
"""Maximum characters of a line in a warning."""
MAX_NAMED: Final = 200
"""Maximum number of lines in a warning."""
MAX_LINE_NUMBERS: Final = 10
"""Maximum number of lines in the message of a warning."""
NO_SIGNS: Final = "The numbers, indents and empty lines of the list do not show where each reference begins. "
ADVICE: Final = "Write each reference on one line, with an empty line below it."
_STANDING: Final = re.compile(rf"\[(?:{'|'.join(WORDS.values())})\b[^\[\]]*+\]", re.IGNORECASE)
"""The note of a citation about the standing of the work; the identifiers in it are those of the notice."""
_LABELLED: Final = re.compile(
    r"\b(?:PMID|PMCID|PubMed(?=:))\s*+[:=]?\s*+(?:PMC)?[0-9]++(?>(?:\.[0-9]++)?)", re.IGNORECASE
)
_WORD_WITH_ID: Final = re.compile(
    r"https?://\S++|(?<!\S)\S*?\b10\.[0-9]{4,9}/\S++|\bPMC[0-9]++(?>(?:\.[0-9]++)?)", re.IGNORECASE
)
_ADDRESS_STARTS: Final = re.compile(
    r"(?<=[^\s(\[<])[(\[<|]{1,2}(?=https?://|PMC?ID\b|doi:)|(?<=\])(?=\()", re.IGNORECASE
)
"""The places where another address begins in the same word, as in a Markdown link."""
_AFTER_DOI: Final = re.compile(
    r"(?<=\d)(?:\?(?:journalcode|utm_\w+|needaccess|src|ref|via)=|#(?!\d)).*$", re.IGNORECASE
)
"""What the address of a web page adds to a DOI."""
_DIVIDED: Final = re.compile(r"(?<![^\W\d_])([^\W\d_]+)[-\u2010] ?([^\W\d_]+)")
_PART_LETTER: Final = re.compile(r"\(?([a-z])\) ?(?=[^\W\d_a-z])")
_PART_ENDS: Final = (".", ";", ",")
_CLOSING: Final = {")": "(", "]": "[", ">": "<"}


@dataclass(frozen=True, slots=True)
class PastedList:
    """The references of a text.

    Attributes:
        references: in order.
        lines: line numbers of the lists, from 1, in order.
        has_heading: whether there is a heading of a list; without a heading, the whole text is the list.
        warnings: about lines that are not references, and about an uncertain split.
    """

    references: list[Reference]
    lines: Sequence[int]
    has_heading: bool = False
    warnings: Sequence[Warn] = ()


def read_list(text: str) -> PastedList:
    """Return the references of a pasted list in order. In a text with headings of lists, read only the lists."""
    all_lines, line_numbers = remove_line_numbers(rewrite_lines(split_text_lines(text)))
    found = find_lists([line.text for line in all_lines])
    lists = [_split_list(all_lines[start:end]) for start, end in found]
    numbers = [_range_of_lines(all_lines, start, end) for start, end in found]
    warnings = _warn_about_removed_lines(
        [line for one in lists for line in one.page_lines], [line for one in lists for line in one.notes], line_numbers
    )
    warnings += _warn_of_split(lists)
    return PastedList(
        [reference for one in lists for row in one.rows for reference in _build_references(row)],
        numbers[0] if len(numbers) == 1 else sorted({number for one in numbers for number in one}),
        found[-1][0] > 0,
        warnings,
    )


def _range_of_lines(lines: Sequence[TextLine], start: int, end: int) -> range:
    """Return the numbers of the lines of a list, and of empty lines that follow its heading."""
    before = lines[start - 1].number if start else 0
    return range(before + 1, (lines[end - 1].number if end else 0) + 1)


@dataclass(frozen=True, slots=True)
class _SplitList:
    """The rows of one list, its layout, and the lines that are not references."""

    rows: list[list[ListLine]]
    layout: ListLayout
    page_lines: list[TextLine]
    notes: list[TextLine]


def _split_list(all_lines: Sequence[TextLine]) -> _SplitList:
    listed, page_lines = remove_page_lines(rewrite_marks(all_lines))
    # A page header can repeat the heading of the list.
    page_lines += [line for line in listed if is_heading(line.text)]
    remaining, notes = remove_notes([line for line in listed if not is_heading(line.text)])
    lines = [
        ListLine(
            one.number,
            one.text.lstrip(),
            len(one.text) - len(one.text.lstrip()),
            one.after_blank and not one.after_note,
            one.after_page,
            one.after_note,
        )
        for one in remaining
    ]
    pieces: list[list[ListLine]] = []
    layout = read_layout(lines)
    for line, first in zip(lines, find_first_lines(layout), strict=True):
        if first or not pieces:
            pieces.append([])
        pieces[-1].append(line)
    return _SplitList(pieces, layout, page_lines, notes)


def _warn_of_split(lists: Sequence[_SplitList]) -> list[Warn]:
    """Return a warning that names the rows that can be a part of a reference, or several references."""
    uncertain = [one.rows[n][0] for one in lists for n in find_uncertain_rows(one.rows, one.layout)]
    has_no_signs = any(one.layout.is_uncertain and len(one.rows) > 1 for one in lists)
    if not uncertain and not has_no_signs:
        return []
    message = NO_SIGNS if has_no_signs else ""
    if uncertain:
        numbers = ", ".join(str(line.number) for line in uncertain[:MAX_LINE_NUMBERS])
        more = f" and {len(uncertain) - MAX_LINE_NUMBERS} more" if len(uncertain) > MAX_LINE_NUMBERS else ""
        lines = "line" if len(uncertain) == 1 else "lines"
        message += f"References may be divided or joined at {lines} {numbers}{more}. "
    terms = [f"{line.number}: {cut_middle(line.text, MAX_TERM)}" for line in uncertain[:MAX_NAMED]]
    return [Warn(code="uncertain_split", message=message + ADVICE, terms=terms)]


def _build_references(lines: Sequence[ListLine]) -> list[Reference]:
    first = lines[0]
    bare = first.kind == BARE_NUMBER_KIND
    text = _join_lines([first.body if bare else first.text, *(line.text for line in lines[1:])])
    return build_references(text, first.number, number=str(first.count) if bare else None)


def split_references(text: str) -> list[Reference]:
    """Return the references of a pasted list, without its warnings."""
    return read_list(text).references


def _warn_about_removed_lines(
    page_lines: Sequence[TextLine], notes: Sequence[TextLine], line_numbers: int
) -> list[Warn]:
    """Return warnings that list the removed lines."""
    warnings: list[Warn] = []
    for code, lines, reason in (
        ("page_lines_left_out", page_lines, "page headers, page footers or page numbers"),
        ("headings_left_out", notes, "headings, footnotes, or sentences before or after the list"),
    ):
        if lines:
            message = f"{format_count(len(lines), 'line was', 'lines were')} left out: {reason}."
            terms = [f"{line.number}: {' '.join(line.text.split())}" for line in lines[:MAX_NAMED]]
            warnings.append(Warn(code=code, message=message, terms=terms))
    if line_numbers:
        message = f"{format_count(line_numbers, 'line number was', 'line numbers were')} left out."
        warnings.append(Warn(code="line_numbers_left_out", message=message))
    return warnings


def _join_lines(parts: Sequence[str]) -> str:
    """Join the lines of a reference; a word that is divided at the end of a line stays one, its hyphen kept."""
    text = ""
    for part in parts:
        glued = text.endswith(("-", "\u2010")) or (text.endswith("/") and "doi" in text[-60:].lower())
        if text.endswith("\u00ad"):
            text, glued = text[:-1], True
        text += part if glued or not text else f" {part}"
    return text


def build_reference(
    text: str, line: int, *, key: str | None = None, number: str | None = None, where: str = "line"
) -> Reference:
    """Return a reference that is written out, without its invisible characters.

    Args:
        text: the reference, after its number if it has one.
        line: where it begins.
        key: the name of the reference; by default its line.
        number: its number in the list, if the text does not begin with it.
        where: what ``line`` counts.
    """
    text = rewrite_label(remove_invisible(text))
    mark = MARK.match(text)
    count = classify_mark(mark)[1]
    plain = _STANDING.sub(" ", text[mark.end() if mark else 0 :]) or text
    return Reference(
        key=key or f"{where} {line}",
        line=line,
        number=str(count) if count is not None else number,
        text=plain[: MAX_TEXT + 1],
        **_find_identifiers(plain[:MAX_TEXT]),
    )


def build_references(text: str, line: int, *, number: str | None = None, where: str = "line") -> list[Reference]:
    """Return the references of an entry: several if "(a)", "(b)" and so on are before them."""
    whole = build_reference(text, line, number=number, where=where)
    parts = _split_at_letters(whole.text or "")
    if not parts:
        return [whole]
    return [
        build_reference(part, line, key=f"{where} {line} ({letter})", number=whole.number, where=where)
        for letter, part in zip(ascii_lowercase, parts, strict=False)
    ]


def _split_at_letters(text: str) -> list[str]:
    """Return the parts of a text that begin with "(a)", "(b)" and so on; an empty list if one has no date."""
    begins: list[tuple[int, int]] = []
    for match in _PART_LETTER.finditer(text):
        follows_end = (
            text[max(0, match.start() - 3) : match.start()].rstrip()[-1:] in _PART_ENDS
            if begins
            else match.start() == 0
        )
        if match[1] == ascii_lowercase[len(begins) % len(ascii_lowercase)] and follows_end:
            begins.append(match.span())
    if len(begins) < 2:
        return []
    ends = [start for start, _ in begins[1:]] + [len(text)]
    parts = [text[start:end].strip(" ;") for (_, start), end in zip(begins, ends, strict=True)]
    return parts if all(map(is_dated, parts)) else []


def looks_written_out(reference: Reference) -> bool:
    """Return whether a text can be a reference: it has an identifier or a number, or a name and a year."""
    if reference.pmid or reference.pmcid or reference.doi or reference.number:
        return True
    text = reference.text or ""
    return AUTHOR_START.match(text) is not None and YEAR.search(text) is not None


def list_folded_words(text: str, known: Collection[str] = ()) -> list[str]:
    """Return the folded words of a reference, without identifiers and without the date of a visit.

    A word that a line break divides is one word if it is among the ``known`` ones.
    """

    def join(match: re.Match[str]) -> str:
        whole = match[1] + match[2]
        return whole if fold_text(whole) in known else match[0]

    plain = remove_additions(VISITED.sub(" ", _WORD_WITH_ID.sub(" ", _LABELLED.sub(" ", text))))
    return fold_text(_DIVIDED.sub(join, plain) if known else plain).split()


def _strip_address(word: str) -> str:
    """Return an identifier or an address without its brackets, its punctuation and the additions of a web page."""
    word = _AFTER_DOI.sub("", word.lstrip("([<")).rstrip(".,;|")
    while word[-1:] in _CLOSING and word.count(word[-1]) > word.count(_CLOSING[word[-1]]):
        word = word[:-1].rstrip(".,;|")
    return word


def _find_identifiers(text: str) -> dict[str, Any]:
    """Return the identifiers that a text names as such, but no bare number."""
    text = remove_additions(text)
    words = [match[0] for match in _LABELLED.finditer(text)]
    for match in _WORD_WITH_ID.finditer(text):
        words += map(_strip_address, _ADDRESS_STARTS.split(match[0]))
    identifiers = [identifier for word in words if (identifier := read_identifier(word)) is not None]
    return merge_identifiers((identifier.kind, identifier.value) for identifier in identifiers)
