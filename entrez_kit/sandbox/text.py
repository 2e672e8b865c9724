"""Text functions of the sandbox: folded words for searches, and escaped text for XML."""

import re
import unicodedata
from typing import Final
from xml.sax.saxutils import escape

from entrez_kit.base.markup import on_the_line

_WORD: Final = re.compile(r"[^\W_]+")
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_STOP_WORDS: Final = (
    "a about again all almost also although always among an and another any are as at be because been before being "
    "between both but by can could did do does done due during each either enough especially etc for found from "
    "further had has have having here how however i if in into is it its itself just made mainly make may might most "
    "mostly must nearly neither no nor obtained of often on or our overall perhaps pmid quite rather really regarding "
    "seem seen several should show showed shown shows significantly since so some such than that the their theirs "
    "them then there therefore these they this those through thus to upon use used using various very was we were "
    "what when which while with within without would"
)
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""Words that PubMed ignores in an untagged search."""


def fold(text: str) -> str:
    """Remove case and accents, so that "Müller" and "muller" are the same word."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character)).casefold()


def words(text: str) -> list[str]:
    """Split text into folded words at every punctuation mark, including hyphens and apostrophes."""
    return _WORD.findall(fold(on_the_line(text)))


def normalize(text: str) -> str:
    """Return the folded words of a value, joined by single spaces, for comparison."""
    return " ".join(words(text))


def squeeze(text: str) -> str:
    """Collapse white space, such as line breaks in XML."""
    return " ".join(text.split())


def xml_text(value: object) -> str:
    """Escape a value for XML content and remove characters that XML does not allow."""
    return escape(_NOT_XML.sub("", str(value)))


def xml_attribute(value: object) -> str:
    """Escape a value for an XML attribute in double quotes."""
    return xml_text(value).replace('"', "&quot;")
