"""Format titles of articles and journals for reference lists; NLM writes journal titles like a library catalogue."""

import re
import unicodedata
from typing import Final

MAX_NAME: Final = 500
"""The maximum length of a journal name; longer texts are not changed."""
_SUBTITLE: Final = re.compile(r"(?:\s[:=/]|;)\s.*$")
"""A subtitle, a title in another language, or the publisher, which a catalogue adds after ":", "=" or "/"."""
_QUALIFIER: Final = re.compile(
    r"(?<!\s)\s*+\((?=[^()]*(?:,|[0-9]{4}|\bed\b|\bedition\b|\bonline\b|\bprint\b|\binternet\b|\belectronic\b))[^()]*\)$",
    re.IGNORECASE,
)
"""A catalogue's addition that distinguishes journals of the same name: "(London, England)", "(1946)", "(Online)"."""
_SMALL_WORDS: Final = "a an and as at but by for from in into nor of on or per the to via vs with"
_SMALL: Final = frozenset(_SMALL_WORDS.split())
_FOREIGN_WORDS: Final = (
    "de des du et la le les en el los las y e di della delle del dei degli il lo da dos das der die und für fur zur "
    "zeitschrift van voor och og za oraz archiv revue revista rivista annales annali wochenschrift zhi zazhi xue bao "
    "zasshi giornale gaceta boletín boletin medizinische tijdschrift ugeskrift klinische zhonghua nihon igaku"
)
_NOT_ENGLISH: Final = frozenset(_FOREIGN_WORDS.split())
"""Words that show that a journal title is not English; its capitals are not changed."""
_JOINTS: Final = re.compile(r"([-/])")
_INNER_CAPITAL: Final = re.compile(r"[a-z][A-Z]")
"""A name with its own capitals (eLife, ZooKeys), which NLM's abbreviation (Elife) loses."""
_NOT_AVAILABLE: Final = "not available"
"""NLM's text if there is no translation."""
_BRACKETS: Final = re.compile(r"\[(.+?)\]\.?")


def remove_full_stop(title: str) -> str:
    """Return a title without PubMed's final full stop; other final marks, and "...", stay."""
    text = " ".join(title.split())
    if text.endswith((".", "。")) and not text.endswith(".."):
        return text[:-1].rstrip()
    return text


def format_article_title(title: str, vernacular: str | None) -> str:
    """Return a title in its own language with the translation in brackets, or the translation in brackets alone.

    For an article in another language, PubMed has the English title in brackets and the original title.
    """
    text = remove_full_stop(title)
    own = remove_full_stop(vernacular or "")
    if own and text.strip("[]").casefold() == _NOT_AVAILABLE:
        return own
    if not own or own.casefold() == text.strip("[]").casefold():
        return text
    return f"{own} {text}" if _BRACKETS.fullmatch(text) else f"{own} [{text}]" if text else own


def split_titles(title: str, vernacular: str | None) -> tuple[str, str | None]:
    """Return the English title of an article in another language, and the original title.

    Without an original title, the English one keeps the brackets that show a translation.
    """
    text, own = remove_full_stop(title), remove_full_stop(vernacular or "")
    if not own:
        return text, None
    english = text[1:-1].rstrip(".") if _BRACKETS.fullmatch(text) else text
    if not english or english.casefold() in (_NOT_AVAILABLE, own.casefold()):
        return format_article_title(title, vernacular), None
    return english, own


def format_journal_title(title: str, short: str | None = None) -> str:
    """Return the title on the cover of a journal: "The Lancet", not "Lancet (London, England)".

    Removes the catalogue's additions and capitalizes the words of an English title.

    Args:
        title: the title in NLM's catalogue.
        short: NLM's abbreviation; if it has the same words, its capitals are used.
    """
    text = _SUBTITLE.sub("", _QUALIFIER.sub("", " ".join(title.split()))).strip()
    name, _, body = text.rpartition(". ")
    if body and body in name:  # the name already contains the publisher
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
    return " ".join(_capitalize(word, first=first) for word, first in zip(words, starts, strict=False))


def _capitalize(word: str, *, first: bool) -> str:
    if not first and word in _SMALL:
        return word
    parts = _JOINTS.split(word)
    small = _SMALL if len(parts) > 1 else ()
    return "".join(part if part in small or part.lower() != part else part[:1].upper() + part[1:] for part in parts)


_PLACES: Final = re.compile(r"(?<=\()(?:Lond|Oxf|Camb|Edinb|Philos|Copenh|Amst|Berl|Stuttg|Basel Switz)(?=\))")
"""Abbreviated places that NLM adds to journal names."""
_SUBSECTION: Final = re.compile(r"(?<=[A-Za-z]{4})\. ")
_SECTION: Final = re.compile(r"\. (?=(?:(?:Part|Series|Section) )?[A-Z], )")
_SECTION_NAME: Final = re.compile(r"((?: (?:Part|Series|Section))? [A-Z]), ")


def add_full_stops(short: str, title: str | None) -> str:
    """Add full stops after the abbreviated words of a journal's short title: "N. Engl. J. Med.", but "Nature".

    A contraction, which keeps the last letter of its word (Natl), gets none. A place in brackets gets one: (Lond.).
    """
    short = _PLACES.sub(r"\g<0>.", short)
    if "." in short.replace(".)", ")") or len(short) > MAX_NAME or len(title or "") > MAX_NAME:
        return short
    words = [_fold_letters(word) for word in re.findall(r"[\w'’&]+", title or "")]
    place = 0
    marked: list[str] = []
    for part in short.split():
        letters = _fold_letters(part)
        match = next((n for n in range(place, len(words)) if letters and abbreviates(letters, words[n])), None)
        if match is not None:
            place = match + 1
            is_contraction = letters[-1] == words[match][-1] and not words[match].startswith(letters)
            part = part if letters == words[match] or is_contraction else f"{part}."
        marked.append(part)
    return " ".join(marked).replace("U. S. A.", "USA")


def abbreviates(part: str, word: str) -> bool:
    """Return whether a word begins with the first letter of an abbreviation and has its other letters in order."""
    rest = iter(word)
    return part[:1] == word[:1] and all(letter in rest for letter in part)


def _fold_letters(word: str) -> str:
    """Return the letters of a word in lower case without accents."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", word.casefold()) if letter.isalnum())
