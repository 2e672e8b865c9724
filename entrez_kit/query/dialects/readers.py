"""Read one line of a strategy with the reader of its service."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from entrez_kit.query.dialects.cochrane import CochraneLexer
from entrez_kit.query.dialects.ebsco import EbscoLexer
from entrez_kit.query.dialects.ebsco_limiters import LIMITERS, parse_limiters
from entrez_kit.query.dialects.embase import EmbaseLexer
from entrez_kit.query.dialects.lexer import Lexer
from entrez_kit.query.dialects.limits import change_indexing
from entrez_kit.query.dialects.notes import CannotExpressError, LineError, Note
from entrez_kit.query.dialects.ovid import OvidLexer
from entrez_kit.query.dialects.ovid_limits import parse_limit
from entrez_kit.query.dialects.pubmed import LEVELS, parse_pubmed
from entrez_kit.query.dialects.reference_lines import is_reference_line, parse_references, refuse_unclear_references
from entrez_kit.query.dialects.scopus import ScopusLexer
from entrez_kit.query.dialects.services import Dialect
from entrez_kit.query.dialects.tree import AllOf, LineReference, Node, ParsedLine, change_leaves
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
_LIMIT_COMMAND: Final = re.compile(r"\.\.l(?:imit)?/? ?#?([0-9]+) (.+)", re.IGNORECASE)
_USE_AFTER: Final = re.compile(r"(.+[/.)]) use ([a-z0-9]+)", re.IGNORECASE)
_USE: Final = re.compile(r"(\(?#?[0-9][^a-z]*(?:(?:or|and|not)[^a-z]+)*) use ([a-z0-9, ]++)", re.IGNORECASE)
_MEDLINE_FILES: Final = re.compile(r"(?:med|ppez|prem|cmez|mesz|pmez|ppezv|medall|ppea)[a-z0-9]*", re.IGNORECASE)
_DUPLICATES: Final = re.compile(r"(?:remove duplicates? from|\.\.dedup) #?([0-9]+)", re.IGNORECASE)
_UNSUPPORTED: Final = {
    "ProQuest": re.compile(
        r"(?i:\bnoft ?\(|\b[a-z]+\.exact\b|\b(?:TI|AB|SU|IF)(?:,(?:TI|AB|SU|IF))+ ?\()"
        r"|(?i:\b(?:ti|ab) ?\([^()]*\b(?:NEAR|PRE)/[0-9])"
        r"|\b(?:su|pd|if|diskw)\("
    ),
    "ClinicalTrials.gov": re.compile(
        r"\b(?:AREA|EXPAND|COVERAGE|RANGE)\[|\b(?:Condition|Intervention)(?: or disease)?s? ?:"
    ),
    "the Virtual Health Library": re.compile(r"\b(?:mh|tw|ti|ab):[(\"]"),
    "Epistemonikos": re.compile(r"\b(?:title|abstract):\("),
}
"""Signs of services whose lines cannot be read."""
_REGISTERS: Final = re.compile(
    r"\b(?:clinicaltrials\.gov|ictrp|isrctn|lilacs|epistemonikos|proquest|google scholar|opengrey|medrxiv)\b",
    re.IGNORECASE,
)
"""Services whose lines have few signs."""
_DATABASE_PART: Final = re.compile(
    r",? in (?:(?:clinical )?trials|cochrane reviews|other reviews|protocols|editorials|clinical answers|cdsr|central)"
    r"\b.*",
    re.IGNORECASE,
)
_MEDLINE_SELECTED: Final = Note("The line selects the MEDLINE file of a search in several files.")
_KEEP: Final = re.compile(r"from #?[0-9]+ keep\b.*", re.IGNORECASE)


def find_unsupported_service(headers: str) -> str | None:
    """Return the name of a service in the headers of a strategy whose lines cannot be read."""
    match = _REGISTERS.search(headers)
    return None if match is None else match[0]


def parse_line(text: str, dialect: Dialect, *, vocabulary: str = "mesh") -> ParsedLine:
    """Return the meaning of one line.

    Args:
        text: the line without its number and count.
        dialect: the service that it is written for.
        vocabulary: the thesaurus of the headings of Ovid and EBSCO, which have several databases.

    Raises:
        LineError: the line cannot be read.
        CannotExpressError: no search has its meaning.
    """
    plain = " ".join(text.split())
    if dialect in ("pubmed", "ebsco", "wos"):
        for service, sign in _UNSUPPORTED.items():
            if sign.search(plain):
                raise LineError(f"the line has the syntax of {service}, which is not supported")
    parsed = _parse_command(plain, dialect, vocabulary)
    if parsed is not None:
        return parsed
    if dialect == "cochrane":
        plain = _DATABASE_PART.sub("", plain)
    if dialect == "ebsco" and (limiters := LIMITERS.search(plain)):
        parsed = _parse_search(plain[: limiters.start()], dialect, vocabulary)
        return _add_limits(parsed, *parse_limiters(limiters[0], is_mesh=vocabulary == "mesh"))
    if dialect == "wos" and (remarks := REMARKS.search(plain)):
        return _add_limits(_parse_search(plain[: remarks.start()], dialect, vocabulary), parse_timespan(remarks[0]))
    return _parse_search(plain, dialect, vocabulary)


def _parse_command(text: str, dialect: Dialect, vocabulary: str) -> ParsedLine | None:
    """Return the meaning of a command of Ovid about other lines; None if the line is a search."""
    if match := _LIMIT.fullmatch(text) or _LIMIT_COMMAND.fullmatch(text):
        return parse_limit(int(match[1]), match[2], is_mesh=vocabulary == "mesh")
    if match := _USE.fullmatch(text):
        return _select_file(parse_references(match[1], OvidLexer.grammar.levels), match[2])
    if dialect == "ovid" and (match := _USE_AFTER.fullmatch(text)):
        return _select_file(parse_line(match[1], dialect), match[2])
    if match := _DUPLICATES.fullmatch(text):
        return ParsedLine(LineReference(int(match[1])), (Note("Removing duplicates has no effect in PubMed."),))
    if _KEEP.fullmatch(text):
        raise CannotExpressError("a selection of records by their position cannot be repeated")
    if text.startswith(".."):
        raise LineError(f"the command {text.split()[0]!r} of Ovid is not supported")
    return None


def _select_file(parsed: ParsedLine, file: str) -> ParsedLine:
    """Return a line that selects the records of one file of a search in several files, if it is that of MEDLINE."""
    if _MEDLINE_FILES.match(file.strip()) is None:
        raise CannotExpressError(f"the line selects the records of another database ({file.strip()})")
    return replace(parsed, notes=(*parsed.notes, _MEDLINE_SELECTED))


def _add_limits(parsed: ParsedLine, limits: Sequence[Node], notes: Sequence[Note] = ()) -> ParsedLine:
    """Return a line with the limits that are printed after it."""
    node = AllOf((parsed.node, *limits)) if limits else parsed.node
    return ParsedLine(node, (*parsed.notes, *notes))


def _parse_search(text: str, dialect: Dialect, vocabulary: str) -> ParsedLine:
    """Return the meaning of a search without commands and remarks."""
    if is_reference_line(text):
        return parse_references(text, LEVELS if dialect == "pubmed" else _LEXERS[dialect].grammar.levels)
    refuse_unclear_references(text)
    if dialect == "pubmed":
        return parse_pubmed(text)
    lexer: Lexer
    if dialect == "ovid":
        lexer = OvidLexer(text, vocabulary=vocabulary)
    elif dialect == "ebsco":
        lexer = EbscoLexer(text, vocabulary=vocabulary)
    else:
        lexer = _LEXERS[dialect](text)
    parsed = lexer.parse()
    return parsed if vocabulary == "mesh" else replace(parsed, node=change_leaves(parsed.node, change_indexing))
