"""Read one line of a strategy with the reader of its service."""

import re
from typing import Final

from entrez_kit.query.dialects.cochrane import CochraneLexer
from entrez_kit.query.dialects.ebsco import EbscoLexer
from entrez_kit.query.dialects.embase import EmbaseLexer
from entrez_kit.query.dialects.lexer import Lexer
from entrez_kit.query.dialects.notes import CannotExpressError, Note
from entrez_kit.query.dialects.ovid import OvidLexer
from entrez_kit.query.dialects.pubmed import LEVELS, parse_pubmed
from entrez_kit.query.dialects.reference_lines import is_reference_line, parse_references, refuse_unclear_references
from entrez_kit.query.dialects.scopus import ScopusLexer
from entrez_kit.query.dialects.services import Dialect
from entrez_kit.query.dialects.tree import AllOf, LineReference, ParsedLine
from entrez_kit.query.dialects.values import LIMITERS, parse_limit, parse_limiters
from entrez_kit.query.dialects.web_of_science import REMARKS, WosLexer, parse_timespan

_LEXERS: Final[dict[str, type[Lexer]]] = {
    "ovid": OvidLexer,
    "embase": EmbaseLexer,
    "ebsco": EbscoLexer,
    "wos": WosLexer,
    "scopus": ScopusLexer,
    "cochrane": CochraneLexer,
}
_LIMIT: Final = re.compile(r"limit (?:set )?#?([0-9]+) to (.+)", re.IGNORECASE | re.DOTALL)
_USE: Final = re.compile(r"#?([0-9]+) use ([a-z0-9, ]++)", re.IGNORECASE)
_MEDLINE_FILES: Final = re.compile(r"(?:med|ppez|prem|cmez|mesz|pmez|ppezv|medall|ppea)[a-z0-9]*", re.IGNORECASE)
_DUPLICATES: Final = re.compile(r"remove duplicates? from #?([0-9]+)", re.IGNORECASE)
_DATABASE_PART: Final = re.compile(
    r",? in (?:trials|cochrane reviews|other reviews|protocols|editorials|clinical answers|cdsr|central)\b.*",
    re.IGNORECASE,
)
_KEEP: Final = re.compile(r"from #?[0-9]+ keep\b.*", re.IGNORECASE)


def parse_line(text: str, dialect: Dialect, *, is_embase: bool = False, is_cinahl: bool = False) -> ParsedLine:
    """Return the meaning of one line.

    Args:
        text: the line without its number and count.
        dialect: the service that it is written for.
        is_embase: whether an Ovid line searches Embase.
        is_cinahl: whether an EBSCO line searches CINAHL.

    Raises:
        LineError: the line cannot be read.
        CannotExpressError: no search has its meaning.
    """
    plain = " ".join(text.split())
    if match := _LIMIT.fullmatch(plain):
        return parse_limit(int(match[1]), match[2])
    if match := _USE.fullmatch(plain):
        if _MEDLINE_FILES.match(match[2].strip()):
            note = Note("The line selects the MEDLINE file of a search in several files.")
            return ParsedLine(LineReference(int(match[1])), (note,))
        raise CannotExpressError(f"the line selects the records of another database ({match[2].strip()})")
    if match := _DUPLICATES.fullmatch(plain):
        return ParsedLine(LineReference(int(match[1])), (Note("Removing duplicates has no effect in PubMed."),))
    if _KEEP.fullmatch(plain):
        raise CannotExpressError("a selection of records by their position cannot be repeated")
    plain = _DATABASE_PART.sub("", plain) if dialect == "cochrane" else plain
    if dialect == "ebsco" and (limiters := LIMITERS.search(plain)):
        parsed = parse_line(plain[: limiters.start()], dialect, is_cinahl=is_cinahl)
        nodes, notes = parse_limiters(limiters[0])
        node = AllOf((parsed.node, *nodes)) if nodes else parsed.node
        return ParsedLine(node, (*parsed.notes, *notes))
    if dialect == "wos" and (remarks := REMARKS.search(plain)):
        parsed = parse_line(plain[: remarks.start()], dialect)
        years = parse_timespan(remarks[0])
        return ParsedLine(AllOf((parsed.node, *years)) if years else parsed.node, parsed.notes)
    if is_reference_line(plain):
        return parse_references(plain, LEVELS if dialect == "pubmed" else _LEXERS[dialect].grammar.levels)
    refuse_unclear_references(plain)
    if dialect == "pubmed":
        return parse_pubmed(plain)
    lexer: Lexer
    if dialect == "ovid":
        lexer = OvidLexer(plain, is_embase=is_embase)
    elif dialect == "ebsco":
        lexer = EbscoLexer(plain, is_cinahl=is_cinahl)
    else:
        lexer = _LEXERS[dialect](plain)
    return lexer.parse()
