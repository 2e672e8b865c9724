"""Patterns of lines in a pasted list: marks, the first and last words of references, and words that continue one."""

import re
from typing import Final

from entrez_kit.pubmed.models import WORDS
from entrez_kit.references.check.pasted.guessing import YEAR

COUNTED: Final = {
    "[1]": r"\[\s?(?P<a>(?-i:[A-Z]{1,2})[0-9]{1,3}|[0-9]{1,4})\s?\][.:]?",
    "(1)": r"\((?P<b>[0-9]{1,4})\)[.:]?",
    "1.": r"(?P<c>[0-9]{1,4})\s?(?:[.)](?=\s|$|[^\W\d_])|\.-|:(?=\s|$))",
}
_KEYED: Final = r"\[(?!cited|accessed|retrieved|epub|updated|internet)[^\W\d_][^\[\]]{0,40}?[0-9]{2,4}[a-z]?\](?=\s|$)"
MARK: Final = re.compile(
    rf"\s*+(?:{'|'.join(COUNTED.values())}|(?P<key>{_KEYED})|(?P<bullet>[•●▪◦](?=\s))|(?P<dash>[-*·–](?=\s)))\s*+",
    re.IGNORECASE,
)
"""The mark of a list before a reference: a number, a key, a bullet or a dash."""
BARE_NUMBER: Final = re.compile(r"\s*+(?P<n>[0-9]{1,3})\s++(?=[\"“‘'«„(\[]?[^\W\d_])")
"""A number before a reference, without a sign after it."""
NUMBER_FIRST: Final = re.compile(r"\s*+[0-9]{1,4}(?:[ -][\"“‘'«„(\[]?)?[^\W\d_]")
"""A number before a reference, or the number that a title begins with."""
CAPITAL: Final = r"[^\W\d_a-zà-öø-ÿ]"
PARTICLE: Final = r"(?:(?:van|von|de|del|della|di|da|du|la|le|den|der|des|dos|ter|ten|el|al|bin|st)[ \u00a0'’-])"
_WORD: Final = rf"{PARTICLE}{{0,3}}(?:[dOLl]['’])?{CAPITAL}[\w'’‐-]*+"
_SHORT: Final = rf"(?:{CAPITAL}\.?[ -]?){{1,4}}(?![\w])"
REPEATED_AUTHORS: Final = re.compile(r"[—–_-]{2,8}[.,]{1,2}\s")
"""The dash of a bibliography in place of the authors of the reference above."""
AUTHOR_START: Final = re.compile(
    rf"{_WORD}(?: {_WORD}){{0,3}},? {_SHORT}(?=[\s.,;:(&]|$)"  # Doe JA; Doe, J. A.
    r"|[—–_-]{2,8}[.,]{1,2}\s"  # the authors of the reference above
    rf"|{_WORD}(?: {_WORD}){{0,2}}, {CAPITAL}[\w.’'-]+"  # Doe, Jane
    rf"|(?:{CAPITAL}\.[ -]?){{1,4}} ?{_WORD}"  # J. A. Doe
    rf"|{_WORD}(?: (?:{_WORD}|{CAPITAL}\.)){{1,3}}(?:,| and | & )"  # Jane A. Doe,
    rf"|{CAPITAL}[\w'’ &-]{{2,80}}[.,]? ?\(?(?:1[89]|20)[0-9]{{2}}"  # World Health Organization. 2019
    r"|(?:[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,4})[,，.、]"
)
"""The first author of a reference, or the name of a group or a title followed by the year."""
REFERENCE_END: Final = re.compile(r"(?:[.)\]。?!]|[0-9]|\b10\.[0-9]{4,9}/\S+|https?://\S+)[”\"’»]?\s*+$", re.IGNORECASE)
"""The usual last characters of a reference: a full stop, a bracket, a number, a DOI or an address."""
ENDS_WITH_PLACE: Final = re.compile(
    r"(?:(?<![^\s(:,;./–—-])[A-Za-z]{0,4}[0-9][0-9.–-]{0,40}[A-Za-z]?(?:[\])]{1,4}\.?|\.)|https?://\S{0,400}"
    r"|\b10\.[0-9]{4,9}/\S{0,400}|\b(?:PMID|PMCID|PMC):? ?(?:PMC)?[0-9]{1,12}|in press\)?\.?|forthcoming\)?\.?)\s*+$",
    re.IGNORECASE,
)
"""Pages, a year, a DOI or an address: the usual last words of a reference."""
YEAR_AFTER_NAMES: Final = re.compile(
    r"(?:^|\s)[^\s0-9]*+\s\(?(?:1[89]|20)[0-9]{2}[a-z]?(?:[–/-][0-9]{2,4})?"
    r"(?:,? [^\W\d]{3,9}\.?(?: [0-9]{1,2})?)?\)?[.;,:]?\s*+$"
)
"""A year after a word: the title follows on the next line."""
NAME_AND_INITIALS: Final = re.compile(rf"{_WORD}(?: {_WORD}){{0,3}},? {_SHORT}\s?(?:[,;:&]|\.|and |\((?=[12]))")
"""A family name, initials, and a sign that never follows an abbreviated journal title."""
ID: Final = re.compile(
    r"\b(?:10\.[0-9]{4,9}/|PMC?(?:ID)?:? ?[0-9]{3,}|n\. ?d\."
    r"|(?:in press|forthcoming|submitted|accepted|in preparation|unpublished|undated)\b)|https?://",
    re.IGNORECASE,
)
"""An identifier, an address or a status such as "in press": a reference without a year has one of them."""
_LINK: Final = (
    r"\[?(?:open ?url|pubmed/ncbi|pubmed(?: central)?|view in (?:scopus|article)|reference source"
    r"|pmc(?: free article)?|free pmc article|google scholar|scopus|cross ?ref|cas|ads|medline"
    r"|web of science|isi|doi|full text(?: link)?|view (?:article|record)|abstract|article|download|pdf|links?)\]?"
)
CONTINUATION_START: Final = re.compile(
    r"[(<]?(?:doi(?:\.org|:|\s++10\.)|10\.[0-9]{4}|pm(?:c)?id\b|pmc[0-9]+|pubmed (?:central )?pmc?id|https?:|www\."
    r"|pubmed: ?[0-9]|(?:acess?o em|disponível em|disponible(?: e[nt])?|verfügbar(?: unter)?|consulté le) ?:? "
    r"|epub\b|available(?: (?:at|from|online|in)\b|:)|accessed [0-9a-z]|retrieved (?:from|[0-9a-z])|discussion [0-9]"
    r"|(?:erratum|retraction|comment) in\b|suppl\b|vol\. ?[0-9]|pp?\. ?[0-9]|in: |quiz [0-9]|e[0-9]{3,}"
    r"|(?:english|french|german|spanish|chinese|japanese|russian|italian|portuguese|dutch|polish)\. "
    r"|article (?:id )?e?[0-9]"
    rf"|\[(?:cited|accessed|internet|retrieved|{'|'.join(WORDS.values())})\b|(?:{_LINK}[\s.,;:|·]*+)+$)",
    re.IGNORECASE,
)
"""The beginning of the last part of a reference, or the links that a web page adds after it."""
DOI_CUT: Final = re.compile(r"\bdoi:?$|\b10\.[0-9]{4,9}/$", re.IGNORECASE)
"""The beginning of a DOI that goes on in the line below."""
WEB_PAGE: Final = re.compile(r"[(<]?(?:https?://(?!(?:dx\.)?doi\.org)|www\.)", re.IGNORECASE)
"""The beginning of an address that is not a DOI."""
LATIN_SMALL: Final = re.compile(rf"(?!{PARTICLE})[a-zà-öø-ÿ]|[,;:.)\]–—-]")
PLACE_PART: Final = re.compile(r"(?:(?:[^\W\d_]{1,3}|№)\.? ?)?[0-9]")
"""A year, a volume or a page."""
LETTER_FIRST: Final = re.compile(r"[#\s\"“‘'«„¿¡(\[<*_]*+[^\W\d_]|\s*+$")

MIN_MARKED: Final = 3
"""Minimum number of references that show an unusual mark."""
MOSTLY: Final = 0.8
"""Minimum share of lines that have a sign of the whole list."""
IN_ORDER: Final = 0.6
"""Minimum share of marks that are one more than the mark above."""
_ENDS_WITH_LINK: Final = re.compile(
    r"\b(?:reference source|google scholar|cross ?ref|view (?:article|record))\s*+$", re.IGNORECASE
)


def is_part_of_address(text: str) -> bool:
    """Return whether a line is one word with slashes: a part of the address of a web page."""
    return " " not in text and text.count("/") > 1


def ends_reference(text: str) -> bool:
    """Return whether a reference can end with a line."""
    return (
        REFERENCE_END.search(text) is not None or is_part_of_address(text) or _ENDS_WITH_LINK.search(text) is not None
    )


def classify_mark(mark: re.Match[str] | None) -> tuple[str, int | None]:
    """Return the kind of a mark, and its number if it has one."""
    if mark is None:
        return "", None
    for kind, name in zip(COUNTED, "abc", strict=True):
        if mark[name]:
            letters = mark[name].rstrip("0123456789")
            return kind + letters, int(mark[name][len(letters) :])
    return ("key" if mark["key"] else "•" if mark["bullet"] else "-"), None


def is_dated(text: str) -> bool:
    """Return whether a text has a year or an identifier."""
    return YEAR.search(text) is not None or ID.search(text) is not None


def is_year(count: int) -> bool:
    """Return whether a number can be a year."""
    return 1800 <= count <= 2100


def may_begin(text: str) -> bool:
    """Return whether a reference can begin with a line."""
    mark = MARK.match(text)
    body = text[mark.end() :] if mark else text
    return is_possible_start(body)


def is_possible_start(text: str) -> bool:
    """Return whether a reference can begin with the first word of a text."""
    return LETTER_FIRST.match(text) is not None and not is_continuation(text)


def is_continuation(text: str) -> bool:
    """Return whether a line must be in the middle of a reference."""
    return LATIN_SMALL.match(text) is not None or CONTINUATION_START.match(text) is not None


def measure_indent(text: str) -> int:
    """Return the number of characters before the first word of a line."""
    return len(text) - len(text.lstrip())
