"""The tokens of formulas as ElementTree reads them, and whether a line of text has all of them."""

import re
import unicodedata
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator

MATHML = "{http://www.w3.org/1998/Math/MathML}"
TOKENS = frozenset(f"{MATHML}{name}" for name in ("mi", "mn", "mo", "mtext", "ms"))
UNSEEN = frozenset(f"{MATHML}{name}" for name in ("annotation", "annotation-xml", "mphantom"))
INVISIBLE = re.compile("[\\s\u2061-\u2064]")


def list_tokens(element: ET.Element) -> Iterator[str]:
    """Yield the tokens of a formula that a reader sees."""
    if element.tag in UNSEEN:
        return
    if element.tag in TOKENS:
        yield "".join(element.itertext())
    for node in element if element.tag not in TOKENS else ():
        yield from list_tokens(node)


def find_lost_characters(element: ET.Element, line: str) -> Counter[str]:
    """Return the characters of a formula that a line does not have; raised and lowered ones are the same."""
    return _list_characters("".join(list_tokens(element))) - _list_characters(line)


def find_lost_numbers(element: ET.Element, line: str) -> Counter[str]:
    """Return the numbers of a formula that a line lacks: lost, or merged into other numbers."""
    numbers = re.compile(r"[0-9]+")
    spaced = "".join(
        f" {letter}" if _read_script(letter) != _read_script(before) else letter for before, letter in _list_pairs(line)
    )
    found = Counter(numbers.findall(unicodedata.normalize("NFKC", spaced)))
    wanted = Counter(
        number
        for node in element.iter(f"{MATHML}mn")
        for number in numbers.findall(unicodedata.normalize("NFKC", "".join(node.itertext())))
    )
    return wanted - found


def _list_pairs(line: str) -> Iterator[tuple[str, str]]:
    return zip(f" {line}", line, strict=False)


def _read_script(letter: str) -> str:
    kind = unicodedata.decomposition(letter).partition(" ")[0]
    return kind if kind in ("<super>", "<sub>") else ""


def _list_characters(text: str) -> Counter[str]:
    return Counter(INVISIBLE.sub("", re.sub("[‐-–−]", "-", unicodedata.normalize("NFKC", text))))
