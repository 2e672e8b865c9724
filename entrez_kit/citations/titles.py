"""Titles as reference lists want them: of articles, and of journals, which NLM writes like a library catalogue."""

import re
import unicodedata
from typing import Final

MAX_NAME: Final = 500
"""No name of a journal is longer; what is, is left as it is."""
_SUBTITLE: Final = re.compile(r"(?:\s[:=/]|;)\s.*$")
"""A subtitle, the title in another language, or who publishes it: a catalogue sets them off with ":", "=" and "/"."""
_QUALIFIER: Final = re.compile(
    r"(?<!\s)\s*+\((?=[^()]*(?:,|[0-9]{4}|\bed\b|\bedition\b|\bonline\b|\bprint\b|\binternet\b|\belectronic\b))[^()]*\)$",
    re.IGNORECASE,
)
"""What a catalogue adds to tell journals of one name apart: "(London, England)", "(1946)", "(Online)"."""
_SMALL_WORDS: Final = "a an and as at but by for from in into nor of on or per the to via vs with"
_SMALL: Final = frozenset(_SMALL_WORDS.split())
_FOREIGN_WORDS: Final = (
    "de des du et la le les en el los las y e di della delle del dei degli il lo da dos das der die und für fur zur "
    "zeitschrift van voor och og za oraz archiv revue revista rivista annales annali wochenschrift zhi zazhi xue bao "
    "zasshi giornale gaceta boletín boletin medizinische tijdschrift ugeskrift klinische zhonghua nihon igaku"
)
_NOT_ENGLISH: Final = frozenset(_FOREIGN_WORDS.split())
"""Words that show that the title of a journal is not English; it keeps its capitals as they are."""
_JOINTS: Final = re.compile(r"([-/])")
_INNER_CAPITAL: Final = re.compile(r"[a-z][A-Z]")
"""eLife, ZooKeys: a name that has its capitals for itself; NLM's abbreviation (Elife) loses them."""
_NOT_AVAILABLE: Final = "not available"
"""What NLM writes where there is no translation."""
_BRACKETS: Final = re.compile(r"\[(.+?)\]\.?")


def plain_title(title: str) -> str:
    """Return a title without the full stop that PubMed ends it with; other marks, and "...", belong to it."""
    text = " ".join(title.split())
    if text.endswith((".", "。")) and not text.endswith(".."):
        return text[:-1].rstrip()
    return text


def article_title(title: str, vernacular: str | None) -> str:
    """Return a title in its own language with the translation in brackets, or the translation in brackets alone.

    PubMed gives the English title of an article in another language in brackets, and its own beside it.
    """
    text = plain_title(title)
    own = plain_title(vernacular or "")
    if own and text.strip("[]").casefold() == _NOT_AVAILABLE:
        return own
    if not own or own.casefold() == text.strip("[]").casefold():
        return text
    return f"{own} {text}" if _BRACKETS.fullmatch(text) else f"{own} [{text}]" if text else own


def both_titles(title: str, vernacular: str | None) -> tuple[str, str | None]:
    """Return the English title of an article in another language without its brackets, and its own title."""
    text, own = plain_title(title), plain_title(vernacular or "")
    english = text[1:-1].rstrip(".") if _BRACKETS.fullmatch(text) else text
    if not own:
        return english, None
    if not english or english.casefold() in (_NOT_AVAILABLE, own.casefold()):
        return article_title(title, vernacular), None
    return english, own


def journal_title(title: str, short: str | None = None) -> str:
    """Return the title of a journal as it stands on its cover: "The Lancet", not "Lancet (London, England)".

    The library's additions go, and an English title gets the capitals that names have.

    Args:
        title: as NLM's catalogue has it.
        short: NLM's abbreviation; where it is the same words, its capitals are right.
    """
    text = _SUBTITLE.sub("", _QUALIFIER.sub("", " ".join(title.split()))).strip()
    name, _, body = text.rpartition(". ")
    if body and body in name:  # who publishes it is part of the name already
        text = name
    if _SECTION.search(text):  # Journal of chromatography. B, Analytical technologies
        text = _SECTION_NAME.sub(r"\1: ", _SECTION.sub(" ", text, count=1), count=1)
    text = _SUBSECTION.sub(": ", text)
    if short and short.casefold() == text.casefold():
        return text if _INNER_CAPITAL.search(text) and not _INNER_CAPITAL.search(short) else short
    words = text.split(" ")
    if any(word.strip(".,:;()").lower() in _NOT_ENGLISH for word in words):
        return text
    starts = [True, *(word.endswith((".", ":")) for word in words)]
    return " ".join(_capital(word, first=first) for word, first in zip(words, starts, strict=False))


def _capital(word: str, *, first: bool) -> str:
    if not first and word in _SMALL:
        return word
    parts = _JOINTS.split(word)
    small = _SMALL if len(parts) > 1 else ()
    return "".join(part if part in small or part.lower() != part else part[:1].upper() + part[1:] for part in parts)


_PLACES: Final = re.compile(r"(?<=\()(?:Lond|Oxf|Camb|Edinb|Philos|Copenh|Amst|Berl|Stuttg|Basel Switz)(?=\))")
"""Abbreviated places that NLM adds to the names of journals."""
_SUBSECTION: Final = re.compile(r"(?<=[A-Za-z]{4})\. ")
_SECTION: Final = re.compile(r"\. (?=(?:(?:Part|Series|Section) )?[A-Z], )")
_SECTION_NAME: Final = re.compile(r"((?: (?:Part|Series|Section))? [A-Z]), ")


def dotted(short: str, title: str | None) -> str:
    """Put full stops after the abbreviated words of a journal's short title: "N. Engl. J. Med.", but "Nature".

    A contraction, which keeps the last letter of its word (Natl), takes none. A place in brackets does: (Lond.).
    """
    short = _PLACES.sub(r"\g<0>.", short)
    if "." in short.replace(".)", ")") or len(short) > MAX_NAME or len(title or "") > MAX_NAME:
        return short
    words = [_bare(word) for word in re.findall(r"[\w'’&]+", title or "")]
    place = 0
    marked: list[str] = []
    for part in short.split():
        letters = _bare(part)
        found = next((n for n in range(place, len(words)) if letters and abbreviates(letters, words[n])), None)
        if found is not None:
            place = found + 1
            is_contraction = letters[-1] == words[found][-1] and not words[found].startswith(letters)
            part = part if letters == words[found] or is_contraction else f"{part}."
        marked.append(part)
    return " ".join(marked).replace("U. S. A.", "USA")


def abbreviates(part: str, word: str) -> bool:
    """Tell whether the letters of an abbreviation stand in a word in that order, the first one first."""
    rest = iter(word)
    return part[:1] == word[:1] and all(letter in rest for letter in part)


def _bare(word: str) -> str:
    """Return the letters of a word, small and without accents."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", word.casefold()) if letter.isalnum())
