"""Readers of lines: Ovid, Embase.com, EBSCO, Web of Science, Scopus, the Cochrane Library and PubMed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Literal, get_args

from entrez_kit.query.dialects.expressions import (
    Grammar,
    Parser,
    Token,
    check_proximity,
    join_as_phrase,
    join_with_and,
    join_within,
    unite_scopes,
)
from entrez_kit.query.dialects.notes import CannotExpressError, LineError, Note
from entrez_kit.query.dialects.scopes import ALL_TEXT, COCHRANE, EBSCO, EMBASE, OVID, SCOPUS, WOS
from entrez_kit.query.dialects.tree import (
    All,
    Loss,
    Near,
    Node,
    Parsed,
    PubMed,
    Reference,
    Scope,
    Unknown,
    Value,
    Words,
    has_marks,
    rebuild,
    split_patterns,
    walk,
)
from entrez_kit.query.dialects.values import (
    LIMITERS,
    OPEN_END,
    convert_value,
    join_numbers,
    make_days,
    make_heading,
    parse_limit,
    parse_limiters,
    parse_numbers,
    parse_period,
)

Dialect = Literal["pubmed", "ovid", "embase", "ebsco", "wos", "scopus", "cochrane"]
DIALECTS: Final[tuple[Dialect, ...]] = get_args(Dialect)
NAMES: Final[dict[str, str]] = {
    "pubmed": "PubMed",
    "ovid": "Ovid MEDLINE",
    "embase": "Embase.com",
    "ebsco": "EBSCO",
    "wos": "Web of Science",
    "scopus": "Scopus",
    "cochrane": "Cochrane Library",
}
_MARKS: Final[dict[str, dict[str, str]]] = {
    "ovid": {"*": "*", "$": "*", ":": "*", "#": "#", "?": "?"},
    "embase": {"*": "*", "?": "#", "$": "?"},
    "ebsco": {"*": "*", "?": "#", "#": "?"},
    "wos": {"*": "*", "?": "#", "$": "?"},
    "scopus": {"*": "*", "?": "#"},
    "cochrane": {"*": "*", "?": "#"},
}
"""By service, the wildcards and their canonical marks."""
_LIMITED: Final = re.compile(r"[*$]([0-9]{1,2})(?![\w*])")
_OPERATOR: Final = re.compile(r"(?:and not|and|or|not)(?=[ ()\"'{\[#]|$)", re.IGNORECASE)


def make_words(text: str, dialect: str) -> Words | None:
    """Return the words of a text with the wildcards of a service; None if it has no word."""
    marked = text
    marks = _MARKS.get(dialect, {})
    if dialect == "ovid":
        marked = _LIMITED.sub(r"<\1>", marked)
        marked = re.sub(r"(?<=\w):(?= |$)", "*", marked)
        marks = {key: value for key, value in marks.items() if key != ":"}
    for sign in "*$#?":
        if sign not in marks:
            marked = marked.replace(sign, " ")
    if any(key != value for key, value in marks.items()):
        marked = "".join(marks.get(sign, sign) for sign in marked)
    patterns = split_patterns(re.sub(r"(?<=\w)['’](?=s\b)", " ", marked))
    return Words(patterns, " ".join(text.split())) if patterns else None


class _Lexer:
    """Splits a line into tokens; a subclass adds the signs of its service."""

    dialect: Dialect
    grammar: Grammar
    signs: "Sequence[tuple[re.Pattern[str], Callable[[_Lexer, re.Match[str]], Token | None]]]" = ()

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())
        self.tokens: list[Token] = []
        self.notes: list[Note] = []

    def starts_unit(self) -> bool:
        """Return whether a new unit begins here, after an operator or an opening parenthesis."""
        return not self.tokens or self.tokens[-1].kind in ("open", "operator", "near", "prefix")

    def has_term_after(self, position: int) -> bool:
        """Return whether a term begins at this position, or after spaces; an operator and ")" are no terms."""
        following = self.text[position:].lstrip()
        return bool(following) and not following.startswith(")") and not _OPERATOR.match(following)

    def tokenize(self) -> list[Token]:
        """Return the tokens of the line."""
        position, text = 0, self.text
        while position < len(text):
            if text[position].isspace():
                position += 1
                continue
            position = self._read(position)
        return self.tokens

    def _read(self, position: int) -> int:
        text = self.text
        if text[position] in "()":
            self.tokens.append(Token("open" if text[position] == "(" else "close", text[position]))
            return position + 1
        for pattern, make in self.signs:
            if (match := pattern.match(text, position)) and match.end() > position:
                count = len(self.tokens)
                token = make(self, match)
                if token is not None:
                    self.tokens.append(token)
                if token is not None or len(self.tokens) > count or make is _skip:
                    return match.end()
        if (match := _OPERATOR.match(text, position)) and self._is_operator(position):
            name = "NOT" if match[0].lower().startswith("and") and len(match[0]) > 3 else match[0].upper()
            self.tokens.append(Token("operator", name))
            return match.end()
        return self._read_text(position)

    def _is_operator(self, position: int) -> bool:
        return True

    def _read_text(self, position: int) -> int:
        text = self.text
        if text[position] == '"':
            end = text.find('"', position + 1)
            end = len(text) if end < 0 else end
            if end == len(text):
                self.notes.append(Note("a quotation mark is not closed.", "unbalanced-quotes"))
            self.add_words(text[position + 1 : end], quoted=True)
            return end + 1
        end = self.find_word_end(position)
        self.add_words(text[position:end])
        return max(end, position + 1)

    def find_word_end(self, position: int) -> int:
        """Return the end of the word that begins here."""
        match = re.compile(r"[^ ()\"]+").match(self.text, position)
        return match.end() if match else position + 1

    def add_words(self, text: str, *, quoted: bool = False) -> None:
        """Add a token for words, if there are any."""
        words = make_words(text, self.dialect)
        if words is not None:
            varies = self.dialect == "scopus" or (self.dialect == "wos" and not quoted)
            plain = not any(has_marks(pattern) for pattern in words.patterns)
            self.tokens.append(Token("text", text, node=replace(words, varies=varies and plain)))

    def parse(self) -> Parsed:
        """Return the meaning of the line.

        Raises:
            LineError: the line is not an expression.
            CannotExpressError: no search has its meaning.
        """
        parser = Parser(self.grammar, self.tokenize(), convert_value)
        try:
            node = parser.parse()
        except LineError as exc:
            exc.notes = tuple(self.notes)
            raise
        check_proximity(node)
        return Parsed(node, (*self.notes, *parser.notes))


MAX_DISTANCE: Final = 50
"""A distance above it is rather a word, such as N95; strategies seldom allow more than 10 words."""


def _near(
    *, ordered: bool = False, minus: int = 0, default: int = 0
) -> "Callable[[_Lexer, re.Match[str]], Token | None]":
    """Return a reader of a proximity operator; without a term on each side, N95 and next are words."""

    def make(lexer: _Lexer, match: re.Match[str]) -> Token | None:
        number = next((int(digits) for digits in match.groups() if digits), None)
        if "/" not in match[0]:
            if lexer.starts_unit():
                return None
            if not lexer.has_term_after(match.end()):
                lexer.notes.append(Note(f"{match[0]} was read as a word, because no term follows it."))
                return None
            if number is not None and number > MAX_DISTANCE:
                text = f"{match[0]} was read as a proximity operator. If it is a word, put it in quotation marks."
                lexer.notes.append(Note(text))
        distance = default if number is None else max(number - minus, 0)
        return Token("near", match[0], distance=distance, ordered=ordered)

    return make


def _reference(lexer: _Lexer, match: re.Match[str]) -> Token:
    return Token("node", match[0], node=Reference(int(match[1])))


def _numbers(lexer: _Lexer, match: re.Match[str]) -> Token | None:
    numbers = parse_numbers(match[2])
    return Token("node", match[0], node=join_numbers(match[1], numbers)) if numbers else None


_HASH: Final = (re.compile(r"# ?([0-9]{1,4})\b(?! ?- ?#?[0-9])"), _reference)
_BRACES: Final = (re.compile(r"\{ ?(or|and) ([#0-9 ,–-]++)\}", re.IGNORECASE), _numbers)

# Ovid

_CODES: Final = "|".join(OVID)
_OVID_SUFFIX: Final = re.compile(
    rf" ?\. ?((?:{_CODES})(?: ?, ?(?:{_CODES}))*) ?,? ?(?:\.(?!\w)|(?=[ )]|$))", re.IGNORECASE
)
_UNKNOWN_SUFFIX: Final = re.compile(r"\.([a-z]{2}(?: ?, ?[a-z]{2})*)\.(?=[ )]|$)", re.IGNORECASE)
_OVID_HEADING: Final = re.compile(
    r"(?P<exp>exp(?:lode)?\.? ?(?=[ *\"]))? ?(?P<star>\*)? ?(?P<exp2>exp (?=\w))?"
    r"(?P<name>\"[^\"]{1,120}\"|[^()\"/.\[\]]{1,120}?) ?/"
    r"(?P<sub>(?:[a-z]{2}(?![a-z0-9]))(?: ?, ?[a-z]{2}(?![a-z0-9]))*)?(?P<tail> exp\b)?"
    r"(?P<gloss> ?\[[^\[\]]*\])?(?= |\)|$)",
    re.IGNORECASE,
)
_NOT_A_NAME: Final = re.compile(r" (?:or|not|adj[0-9]*) |^(?:or|and|not)\b|[$?]|\*", re.IGNORECASE)


def _ovid_heading(lexer: _Lexer, match: re.Match[str]) -> Token | None:
    name = match["name"].strip()
    if not lexer.starts_unit() or _NOT_A_NAME.search(name) or not re.search(r"[^\W\d_]", name):
        return None
    qualifiers = match["sub"] or ""
    if qualifiers.lower() in ("or",):  # "Neoplasms/ or x" without the space
        return None
    explodes = bool(match["exp"] or match["exp2"] or match["tail"])
    vocabulary = "emtree" if isinstance(lexer, OvidLexer) and lexer.is_embase else "mesh"
    node = make_heading(
        name, explodes=explodes, major=bool(match["star"]), qualifiers=qualifiers, vocabulary=vocabulary
    )
    return Token("node", match[0], node=node)


def _ovid_suffix(lexer: _Lexer, match: re.Match[str]) -> Token | None:
    if not lexer.tokens or lexer.tokens[-1].kind not in ("close", "text", "scope", "node"):
        return None
    codes = [code.strip().lower() for code in match[1].split(",")]
    return Token("scope", match[0].strip(), scope=unite_scopes(codes, OVID))


def _ovid_adjacent(lexer: _Lexer, match: re.Match[str]) -> Token:
    if not match[1] or not int(match[1]):
        return Token("near", match[0], distance=0, ordered=True)
    return Token("near", match[0], distance=int(match[1]) - 1, skips=True)


def _skip(lexer: "_Lexer", match: re.Match[str]) -> None:
    """Omit a remark."""


class OvidLexer(_Lexer):
    """Ovid: MEDLINE, and Embase if ``is_embase``."""

    dialect = "ovid"
    grammar = Grammar((("OR",), ("AND", "NOT"), ("NEAR",)), join_as_phrase, OVID["mp"])
    signs = (
        (re.compile(r"\[[^\[\]]*\]"), _skip),
        (re.compile(r"(or|and) ?/ ?([0-9][0-9 ,–-]*)", re.IGNORECASE), _numbers),
        (_OVID_SUFFIX, _ovid_suffix),
        (_UNKNOWN_SUFFIX, _ovid_suffix),
        (re.compile(r"(?:adj)([0-9]*)(?=[ ()\"]|$)", re.IGNORECASE), _ovid_adjacent),
        (_OVID_HEADING, _ovid_heading),
        (re.compile(r"#([0-9]{1,4})(?=[ )]|$)"), _reference),
    )

    def __init__(self, text: str, *, is_embase: bool = False) -> None:
        united = re.sub(rf"\.({_CODES})\. or \.({_CODES})\.", r".\1,\2.", text, flags=re.IGNORECASE)  # (x).ti. or .ab.
        super().__init__(re.sub(r"\bexp ?\* ?", "exp *", united, flags=re.IGNORECASE))
        self.is_embase = is_embase

    def find_word_end(self, position: int) -> int:
        end = super().find_word_end(position)
        for dot in range(position + 1, end):
            if self.text[dot] == "." and (_OVID_SUFFIX.match(self.text, dot) or _UNKNOWN_SUFFIX.match(self.text, dot)):
                return dot
        return end

    def parse(self) -> Parsed:
        parsed = super().parse()
        if self.tokens and _binds_last(self.tokens):
            note = Note("a field without parentheses applies only to the term before it.", "suffix-binds-last")
            parsed = replace(parsed, notes=(*parsed.notes, note))
        return replace(parsed, node=_read_bare_numbers(parsed.node))


def _binds_last(tokens: Sequence[Token]) -> bool:
    """Return whether a term without a field stands beside one with a field at the end of the line."""
    depth = 0
    bare = False
    scopes = 0
    for index, token in enumerate(tokens):
        depth += (token.kind == "open") - (token.kind == "close")
        if depth or token.kind not in ("text", "scope"):
            continue
        if token.kind == "scope":
            scopes += 1
        elif index + 1 == len(tokens) or tokens[index + 1].kind not in ("scope", "text"):
            bare = bare or not token.text.isdigit()
    return bare and scopes == 1 and tokens[-1].kind == "scope"


def _read_bare_numbers(node: Node) -> Node:
    """Read a number without a field as the number of a line, as Ovid does."""

    def change(leaf: Node) -> Node:
        is_number = isinstance(leaf, Words) and leaf.scope == OVID["mp"] and leaf.text.isdigit()
        return Reference(int(leaf.text)) if is_number and isinstance(leaf, Words) and len(leaf.text) < 4 else leaf

    inside = {id(part) for near in walk(node) if isinstance(near, Near) for part in walk(near)}
    return rebuild(node, lambda leaf: leaf if id(leaf) in inside else change(leaf))


# Embase.com

_EMBASE_CODES: Final = "|".join(EMBASE)


def _emtree(lexer: _Lexer, match: re.Match[str]) -> Token:
    name = match[1] or match[2]
    marks = match[3].lower().split("/")
    return Token(
        "node",
        match[0],
        node=make_heading(name, explodes="exp" in marks, major="mj" in marks, vocabulary="emtree"),
    )


def _embase_limit(lexer: _Lexer, match: re.Match[str]) -> Token:
    name, kind = match[1].strip().lower(), match[2].lower()
    node: Node
    if kind == "py":
        node = parse_period(name, "year") or Unknown(match[0], "the years cannot be read")
    elif kind == "la" or name in ("english", "french", "german", "spanish"):
        node = Value("LANG", name)
    elif name in ("humans", "human", "animals", "female", "male"):
        node = PubMed({"human": "humans[mh]"}.get(name, f"{name}[mh]"))
    elif name in ("review", "editorial", "letter"):
        node = Value("PTYP", name)
    elif name == "medline":
        node = PubMed("medline[sb]", (Loss("wider", "[medline]/lim holds MEDLINE records of Embase.com"),))
    else:
        node = Unknown(match[0], "PubMed has no equivalent of this limit")
    return Token("node", match[0], node=node)


def _colon_scope(known: dict[str, Scope]) -> "Callable[[_Lexer, re.Match[str]], Token | None]":
    def make(lexer: _Lexer, match: re.Match[str]) -> Token | None:
        codes = [code.strip().lower() for code in match[1].split(",")]
        if not lexer.tokens or not all(code in known for code in codes):
            return None
        return Token("scope", match[0], scope=unite_scopes(codes, known))

    return make


def _single_quoted(lexer: _Lexer, match: re.Match[str]) -> Token | None:
    words = make_words(match[1], lexer.dialect)
    return None if words is None else Token("text", match[1], node=words)


class EmbaseLexer(_Lexer):
    """Embase.com."""

    dialect = "embase"
    grammar = Grammar((("OR",), ("AND", "NOT"), ("NEAR",)), join_with_and, ALL_TEXT)
    signs = (
        (
            re.compile(
                r"(?:'([^']+)'|(?<![\w-])([\w-]++))/((?:exp|de|mj|br|syn)(?:/(?:exp|mj|de|[a-z]{2}(?:_[a-z]{2})*))*)\b",
                re.IGNORECASE,
            ),
            _emtree,
        ),
        (re.compile(r"\[([^\[\]]++)\]/(lim|py|la)\b", re.IGNORECASE), _embase_limit),
        (re.compile(r"'([^']*)'"), _single_quoted),
        (
            re.compile(rf": ?((?:{_EMBASE_CODES})(?: ?, ?(?:{_EMBASE_CODES}))*)\b", re.IGNORECASE),
            _colon_scope(EMBASE),
        ),
        (re.compile(r"near/([0-9]+)\b", re.IGNORECASE), _near(minus=1)),
        (re.compile(r"next/([0-9]+)\b", re.IGNORECASE), _near(ordered=True, minus=1)),
        _HASH,
    )

    def find_word_end(self, position: int) -> int:
        match = re.compile(r"[^ ()\":\[\]]+").match(self.text, position)
        return match.end() if match else position + 1


# EBSCO


def _ebsco_heading(lexer: _Lexer, match: re.Match[str]) -> Token:
    name, explodes = match[2], match[2].endswith("+") or "+/" in match[2]
    name, _, qualifiers = name.replace("+", "").partition("/")
    cinahl = isinstance(lexer, EbscoLexer) and lexer.is_cinahl
    node = make_heading(
        name,
        explodes=explodes,
        major=match[1].upper() == "MM",
        qualifiers=qualifiers,
        vocabulary="cinahl" if cinahl else "mesh",
    )
    return Token("node", match[0], node=node)


def _prefix(known: dict[str, Scope]) -> "Callable[[_Lexer, re.Match[str]], Token | None]":
    def make(lexer: _Lexer, match: re.Match[str]) -> Token | None:
        code = match[1].upper()
        if code not in known or not lexer.starts_unit():
            return None
        return Token("prefix", match[0], scope=known[code])

    return make


class EbscoLexer(_Lexer):
    """EBSCO: MEDLINE, and CINAHL if ``is_cinahl``."""

    dialect = "ebsco"
    grammar = Grammar((("OR",), ("AND", "NOT"), ("NEAR",)), join_within(5), ALL_TEXT)
    signs = (
        (re.compile(r"(M[HMJ]) ?\(? ?\"([^\"]++)\" ?\)?(?<!\"\))", re.IGNORECASE), _ebsco_heading),
        (re.compile(rf"({'|'.join(EBSCO)})(?= |\(|\") ?"), _prefix(EBSCO)),
        (re.compile(r"N([0-9]{1,3})(?=[ ()\"]|$)", re.IGNORECASE), _near()),
        (re.compile(r"W([0-9]{1,3})(?=[ ()\"]|$)", re.IGNORECASE), _near(ordered=True)),
        (re.compile(r"S([0-9]{1,4})(?=[ )]|$)"), _reference),
        _HASH,
    )

    def __init__(self, text: str, *, is_cinahl: bool = False) -> None:
        super().__init__(text)
        self.is_cinahl = is_cinahl


# Web of Science


def _wos_years(lexer: _Lexer, match: re.Match[str]) -> Token:
    node = parse_period(match[1].strip("() "), "year") or Unknown(match[0], "the years cannot be read")
    return Token("node", match[0], node=node)


def _same(lexer: _Lexer, match: re.Match[str]) -> Token:
    lexer.notes.append(Note("SAME was read as AND; in older strategies it means the same sentence."))
    return Token("operator", "AND")


class WosLexer(_Lexer):
    """Web of Science."""

    dialect = "wos"
    grammar = Grammar((("OR",), ("AND",), ("NOT",), ("NEAR",)), join_with_and, WOS["TS"])
    signs = (
        (re.compile(r"PY ?= ?(\(? ?[0-9]{4} ?(?:- ?[0-9]{4})? ?\)?)", re.IGNORECASE), _wos_years),
        (re.compile(rf"({'|'.join(WOS)}) ?= ?", re.IGNORECASE), _prefix(WOS)),
        (re.compile(r"near(?:/([0-9]+))?(?=[ ()\"]|$)", re.IGNORECASE), _near(default=15)),
        (re.compile(r"SAME(?=[ (\"])"), _same),
        _HASH,
    )


# Scopus


def _scopus_year(lexer: _Lexer, match: re.Match[str]) -> Token:
    sign, year = match[1], int(match[2])
    low, high = {
        ">": (year + 1, 3000),
        "<": (0, year - 1),
        "=": (year, year),
        "AFT": (year + 1, 3000),
        "BEF": (0, year - 1),
        "IS": (year, year),
    }[sign.upper()]
    return Token("node", match[0], node=make_days("year", low * 10000 + 101, high * 10000 + 1231))


_DOCUMENT_TYPES: Final = {"re": "review", "ed": "editorial", "le": "letter"}


def _scopus_limit(lexer: _Lexer, match: re.Match[str]) -> Token:
    field, value = match[2].upper(), match[3].strip().lower()
    excluded = match[1].upper() == "EXCLUDE"
    node: Node
    if field == "PUBYEAR" and value.isdigit():
        node = make_days("year", int(value) * 10000 + 101, int(value) * 10000 + 1231)
    elif field == "LANGUAGE":
        node = Value("LANG", value)
    elif field == "DOCTYPE" and value in _DOCUMENT_TYPES:
        node = Value("PTYP", _DOCUMENT_TYPES[value])
    else:
        node = Unknown(match[0], "PubMed has no equivalent of this limit")
    return Token("node", match[0], node=Unknown(match[0], "write the exclusion as NOT") if excluded else node)


def _exact_phrase(lexer: _Lexer, match: re.Match[str]) -> Token | None:
    words = make_words(match[1], "")
    return None if words is None else Token("text", match[1], node=words)


class ScopusLexer(_Lexer):
    """Scopus; OR binds before proximity operators and AND."""

    dialect = "scopus"
    grammar = Grammar((("NOT",), ("AND",), ("NEAR",), ("OR",)), join_with_and, SCOPUS["TITLE-ABS-KEY"])
    signs = (
        (
            re.compile(r"(LIMIT-TO|EXCLUDE) ?\( ?([A-Z]++) ?, ?\"?([^\"()]*+)\"? ?\)", re.IGNORECASE),
            _scopus_limit,
        ),
        (re.compile(r"PUBYEAR ?(>|<|=|AFT|BEF|IS) ?([0-9]{4})", re.IGNORECASE), _scopus_year),
        (
            re.compile(rf"({'|'.join(sorted(SCOPUS, key=len, reverse=True))}) ?(?=\()", re.IGNORECASE),
            _prefix(SCOPUS),
        ),
        (re.compile(r"\{ ?(?!(?:or|and) #)([^{}]*+)\}", re.IGNORECASE), _exact_phrase),
        (re.compile(r"W/([0-9]{1,3})(?=[ ()\"{]|$)", re.IGNORECASE), _near()),
        (re.compile(r"PRE/([0-9]{1,3})(?=[ ()\"{]|$)", re.IGNORECASE), _near(ordered=True)),
        _HASH,
    )


# Cochrane Library


def _cochrane_heading(lexer: _Lexer, match: re.Match[str]) -> Token:
    node = make_heading(match[2] or match[3], explodes=not match[1], qualifiers=match[4] or "")
    return Token("node", match[0], node=node)


def _descriptor(lexer: _Lexer, match: re.Match[str]) -> Token:
    remark = match[2].lower()
    if "explode tree" in remark and "all" not in remark:
        return Token("node", match[0], node=Unknown(match[0], "single trees cannot be exploded; list the descriptors"))
    codes = ",".join(re.findall(r"\b([A-Z]{2})\b", match[2].split("qualifier")[-1])) if "qualifier" in remark else ""
    node = make_heading(match[1], explodes="this term only" not in remark, qualifiers=codes)
    return Token("node", match[0], node=node)


def _publication_dates(lexer: _Lexer, match: re.Match[str]) -> Token | None:
    years = re.findall(r"[0-9]{4}", match[0])
    lexer.tokens.append(Token("operator", "AND"))
    high = int(years[1]) * 10000 + 1231 if len(years) > 1 else OPEN_END
    return Token("node", match[0], node=make_days("year", int(years[0]) * 10000 + 101, high))


class CochraneLexer(_Lexer):
    """The Cochrane Library; the remark that word variations were searched is omitted."""

    dialect = "cochrane"
    grammar = Grammar((("OR",), ("AND", "NOT"), ("NEAR",)), join_with_and, ALL_TEXT)
    signs = (
        (
            re.compile(
                r"\[ ?mh (\^)? ?(?:\"([^\"]{1,300})\"|([^\[\]\"/]{1,300}+)) ?(?:/ ?([A-Za-z, ]{1,300}+))?\]",
                re.IGNORECASE,
            ),
            _cochrane_heading,
        ),
        (
            re.compile(
                r"mesh descriptor:? ?\[([^\[\]]++)\] ?((?:explode all trees|this term only|explode trees?[ 0-9,]*)?"
                r"(?: ?and with qualifier\(?s?\)?:? ?\[[^\[\]]*+\])?)",
                re.IGNORECASE,
            ),
            _descriptor,
        ),
        (
            re.compile(
                r"(?:with )?(?:publication|cochrane library publication) (?:date|year)s?\b[^#)]{0,80}?[0-9]{4}"
                r"(?: ?(?:to|-|and) ?(?:\w{1,20} )?[0-9]{4})?(?>(?:(?: ?, ?| )in \w++)*)",
                re.IGNORECASE,
            ),
            _publication_dates,
        ),
        (re.compile(r": ?([a-z]{2,3}(?: ?, ?[a-z]{2,3})*)\b", re.IGNORECASE), _colon_scope(COCHRANE)),
        (re.compile(r"near(?:/([0-9]+))?(?=[ ()\"]|$)", re.IGNORECASE), _near(default=6)),
        (re.compile(r"next(?:/([0-9]+))?(?=[ ()\"]|$)", re.IGNORECASE), _near(ordered=True)),
        _BRACES,
        _HASH,
    )

    def __init__(self, text: str) -> None:
        super().__init__(re.sub(r"\( ?word variations[^()]*+\)", "", text, flags=re.IGNORECASE))

    def find_word_end(self, position: int) -> int:
        match = re.compile(r"[^ ()\":\[\]]+").match(self.text, position)
        return match.end() if match else position + 1


# lines of numbers

_LIST: Final = r"(?:[#S] ?)?[0-9]{1,4}(?![0-9])(?> ?[,–-] ?(?:[#S] ?)?[0-9]{1,4}(?![0-9]))*"
_NUMBER_SIGNS: Final = re.compile(
    rf"(?P<open>\()|(?P<close>\))|\{{ ?(?P<brace>or|and) (?P<braced>[^{{}}]*+)\}}"
    r"|(?P<before>(?:[#S] ?)?[0-9]{1,4} ?[-–] ?(?:[#S] ?)?[0-9]{1,4}) ?/ ?(?P<after>or|and)\b"
    rf"|(?P<slash>or|and)(?: ?/ ?| (?=[0-9]{{1,4}} ?[-–]))(?P<list>{_LIST})"
    r"|(?P<operator>or|and|not)\b|(?:[#S] ?)?(?P<number>[0-9]{1,4})(?![0-9])",
    re.IGNORECASE,
)
_NUMBER_ALONE: Final = Note("a number has no #; it was read as a line.", "reference-style")
_REFERENCE: Final = re.compile(r"\b(?:or|and|not)\b|^[#S]?[0-9]+$|^\(*#[0-9]+\)*$", re.IGNORECASE)


def _list_number_signs(text: str) -> list[re.Match[str]] | None:
    """Return the numbers, operators and brackets of a line; None if it has anything else."""
    matches: list[re.Match[str]] = []
    position = 0
    while position < len(text):
        if text[position] == " ":
            position += 1
            continue
        match = _NUMBER_SIGNS.match(text, position)
        if match is None:
            return None
        matches.append(match)
        position = match.end()
    return matches


def is_reference_line(text: str) -> bool:
    """Return whether a line consists only of numbers of lines, operators and brackets."""
    plain = text.strip().rstrip(".,;")
    if _REFERENCE.search(plain) is None:
        return False
    signs = _list_number_signs(plain)
    return signs is not None and any(sign.lastgroup not in ("open", "close", "operator") for sign in signs)


def parse_references(text: str, dialect: Dialect) -> Parsed:
    """Return the meaning of a line of numbers.

    Raises:
        LineError: the line is not an expression.
    """
    plain = text.strip().rstrip(".,;")
    signs = _list_number_signs(plain)
    if signs is None:
        raise LineError("the line has more than numbers of lines and operators")
    tokens: list[Token] = []
    for match in signs:
        if match["open"] or match["close"]:
            tokens.append(Token("open" if match["open"] else "close", match[0]))
        elif match["operator"]:
            tokens.append(Token("operator", match["operator"].upper()))
        elif match["number"]:
            tokens.append(Token("node", match[0], node=Reference(int(match["number"]))))
        else:
            operator = match["brace"] or match["after"] or match["slash"]
            numbers = parse_numbers(match["braced"] or match["before"] or match["list"])
            tokens.append(Token("node", match[0], node=join_numbers(operator, numbers)))
    levels = PUBMED_GRAMMAR.levels if dialect == "pubmed" else _LEXERS[dialect].grammar.levels
    grammar = Grammar(levels, _missing_operator, ALL_TEXT)
    parser = Parser(grammar, tokens, convert_value)
    node = parser.parse()
    mixed = bool(re.search(r"#[0-9]", plain)) and bool(re.search(r"(?:^|[ (])[0-9]+(?:$|[ )])", plain))
    return Parsed(node, (*parser.notes, _NUMBER_ALONE) if mixed else tuple(parser.notes))


def _missing_operator(units: Sequence[Node]) -> Node:
    raise LineError("an operator is missing between two numbers")


PUBMED_GRAMMAR: Final = Grammar((("OR", "AND", "NOT"),), join_with_and, ALL_TEXT)
"""PubMed reads operators from left to right."""

# PubMed

_PUBMED_TAG: Final = re.compile(r"\[[^\[\]]*\]")
_LOWER: Final = re.compile(r"(?<=[ )\]\"])(or|and|not)(?=[ (\"])")
_BARE_NUMBER: Final = re.compile(
    r"(?:(?<=\bAND )|(?<=\bOR )|(?<=\bNOT )|(?<=\()|^)([0-9]{1,3})(?= (?:AND|OR|NOT)\b|\)|$)"
)
"""A number alone between operators; as a PMID it would have a field."""
_HISTORY: Final = re.compile(r"# ?([0-9]{1,4})\b")


def parse_pubmed(text: str) -> Parsed:
    """Return a line in PubMed's language; its text is searched as it is."""
    notes: list[Note] = []
    plain = " ".join(text.split())
    plain = re.sub(r"\bexp (?=[\w, -]{1,300}+\[ ?(?:mesh|mh))", "", plain, flags=re.IGNORECASE)
    if plain != " ".join(text.split()):
        notes.append(Note("exp was removed; PubMed explodes [mesh] by itself.", "foreign-explode"))
    if plain.count('"') % 2:
        repaired = _close_quotes(plain)
        notes.append(Note("a quotation mark was removed or added.", "unbalanced-quotes"))
        plain = repaired
    upper = _upper_operators(plain)
    marked = _BARE_NUMBER.sub(r"#\1", upper)
    if marked != upper:
        notes.append(_NUMBER_ALONE)
    upper, plain = marked, _BARE_NUMBER.sub(r"#\1", plain)
    if upper != plain:
        notes.append(Note("operators were written in capitals.", "lowercase-operator"))
    unbalanced = upper.count("(") - upper.count(")")
    if unbalanced:
        raise LineError(
            "an opening parenthesis is not closed" if unbalanced > 0 else "a closing parenthesis has no opening one"
        )
    numbers = [int(match[1]) for match in _HISTORY.finditer(re.sub(r'"[^"]*"', "", upper))]
    return Parsed(PubMed(upper, references=tuple(dict.fromkeys(numbers))), tuple(notes))


def _close_quotes(text: str) -> str:
    """Return a text with an odd quotation mark removed or completed."""
    if re.match(r'[^"]*" ?\[', text):  # Serology"[MeSH]
        return text.replace('"', "", 1) if text.count('"') == 1 else text
    if match := re.search(r'"[^"\[]*(?=\[)', text[text.rfind('"') :]):
        position = text.rfind('"') + match.end()
        return f'{text[:position].rstrip()}"{text[position:]}'
    position = text.rfind('"')
    return text[:position] + text[position + 1 :]


def _upper_operators(text: str) -> str:
    """Write operators in capitals, except in quotes and tags."""
    pieces = re.split(r'("[^"]*"|\[[^\[\]]*\])', text)
    for index in range(0, len(pieces), 2):
        before = pieces[index - 1][-1:] if index else ""
        after = pieces[index + 1][:1] if index + 1 < len(pieces) else ""
        padded = f"{before or ' '}{pieces[index]}{after or ' '}"
        fixed = _LOWER.sub(lambda match: match[1].upper(), padded)
        pieces[index] = fixed[1:-1]
    return "".join(pieces)


# one line

_LEXERS: Final[dict[str, type[_Lexer]]] = {
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


def parse_line(text: str, dialect: Dialect, *, is_embase: bool = False, is_cinahl: bool = False) -> Parsed:
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
            return Parsed(Reference(int(match[1])), (note,))
        raise CannotExpressError(f"the line selects the records of another database ({match[2].strip()})")
    if match := _DUPLICATES.fullmatch(plain):
        return Parsed(Reference(int(match[1])), (Note("Removing duplicates has no effect in PubMed."),))
    if _KEEP.fullmatch(plain):
        raise CannotExpressError("a selection of records by their position cannot be repeated")
    plain = _DATABASE_PART.sub("", plain) if dialect == "cochrane" else plain
    if dialect == "ebsco" and (limiters := LIMITERS.search(plain)):
        parsed = parse_line(plain[: limiters.start()], dialect, is_cinahl=is_cinahl)
        nodes, notes = parse_limiters(limiters[0])
        node = All((parsed.node, *nodes)) if nodes else parsed.node
        return Parsed(node, (*parsed.notes, *notes))
    if is_reference_line(plain):
        return parse_references(plain, dialect)
    if dialect == "pubmed":
        return parse_pubmed(plain)
    lexer: _Lexer
    if dialect == "ovid":
        lexer = OvidLexer(plain, is_embase=is_embase)
    elif dialect == "ebsco":
        lexer = EbscoLexer(plain, is_cinahl=is_cinahl)
    else:
        lexer = _LEXERS[dialect](plain)
    return lexer.parse()
