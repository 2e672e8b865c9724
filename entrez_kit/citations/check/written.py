"""References that are written out as text: a pasted list divided into them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from entrez_kit.citations.check.guessing import VISITED, YEAR
from entrez_kit.citations.files.references import Reference
from entrez_kit.identifiers import read_identifier
from entrez_kit.pubmed.likeness import folded
from entrez_kit.pubmed.standing import WORDS

_NUMBER: Final = re.compile(r"\s*+(?:\[[0-9]{1,4}\]|\([0-9]{1,4}\)|[0-9]{1,4}[.)](?=\s)|[-*•](?=\s))\s*+")
"""What stands in front of a reference in a list."""
_LABELLED: Final = re.compile(r"\b(?:PMID|PMCID)\s*+[:=]?\s*+(?:PMC)?[0-9]++(?>(?:\.[0-9]++)?)", re.IGNORECASE)
_WORD_WITH_ID: Final = re.compile(
    r"https?://\S++|(?<!\S)\S*?\b10\.[0-9]{4,9}/\S++|\bPMC[0-9]++(?>(?:\.[0-9]++)?)", re.IGNORECASE
)
_STANDING: Final = re.compile(rf"\[(?:{'|'.join(WORDS.values())})\b[^\[\]]*+\]", re.IGNORECASE)
"""The note of a citation that says how the work stands; the ids in it are those of the notice."""
_CLOSING: Final = {")": "(", "]": "[", ">": "<"}
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


def words_of(text: str) -> list[str]:
    """Return the folded words of a reference, without identifiers and without the date of a visit."""
    return folded(VISITED.sub(" ", _WORD_WITH_ID.sub(" ", _LABELLED.sub(" ", text)))).split()


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
