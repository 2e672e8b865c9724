"""The lexer of lines: what the services have in common, and the readers of signs that several of them have."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final, Literal, TypeAlias

from entrez_kit.query.dialects.expressions import Grammar, LineToken, Parser, check_proximity, unite_scopes
from entrez_kit.query.dialects.notes import LineError, Note
from entrez_kit.query.dialects.tree import LineReference, ParsedLine, Scope, WordPatterns, has_marks, make_words
from entrez_kit.query.dialects.values import convert_value, join_numbers, parse_numbers

_OPERATOR: Final = re.compile(r"(?:and not|and|or|not)(?=[ ()\"'{\[#]|$)", re.IGNORECASE)
MAX_DISTANCE: Final = 50
"""A distance above it is rather a word, such as N95; strategies seldom allow more than 10 words."""
SignReader: TypeAlias = "Callable[[Lexer, re.Match[str]], LineToken | None]"
"""Returns the token of a sign; None if its text is something else here."""


class Lexer:
    """Splits a line into tokens; a subclass has the signs of its service.

    If ``varies`` is not never, the service also finds plurals and spelling variants of unquoted, or of all, words.
    """

    grammar: Grammar
    signs: Sequence[tuple[re.Pattern[str], SignReader]] = ()
    wildcards: ClassVar[Mapping[str, str]] = {}
    word: ClassVar = re.compile(r"[^ ()\"]+")
    """The characters of a word."""
    vocabulary = "mesh"
    varies: Literal["never", "unquoted", "always"] = "never"

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())
        self.tokens: list[LineToken] = []
        self.notes: list[Note] = []

    def starts_unit(self) -> bool:
        """Return whether a new unit begins here, after an operator or an opening parenthesis."""
        return not self.tokens or self.tokens[-1].kind in ("open", "operator", "near", "prefix")

    def has_term_after(self, position: int) -> bool:
        """Return whether a term begins at this position, or after spaces; an operator and ")" are not terms."""
        following = self.text[position:].lstrip()
        return bool(following) and not following.startswith(")") and not _OPERATOR.match(following)

    def tokenize(self) -> list[LineToken]:
        """Return the tokens of the line."""
        position, text = 0, self.text
        while position < len(text):
            if text[position].isspace():
                position += 1
                continue
            position = self._read_token(position)
        return self.tokens

    def _read_token(self, position: int) -> int:
        text = self.text
        if text[position] in "()":
            self.tokens.append(LineToken("open" if text[position] == "(" else "close", text[position]))
            return position + 1
        for pattern, read_sign in self.signs:
            if (match := pattern.match(text, position)) and match.end() > position:
                count = len(self.tokens)
                token = read_sign(self, match)
                if token is not None:
                    self.tokens.append(token)
                if token is not None or len(self.tokens) > count or read_sign is skip_remark:
                    return match.end()
        if match := _OPERATOR.match(text, position):
            name = "NOT" if match[0].lower().startswith("and") and len(match[0]) > 3 else match[0].upper()
            self.tokens.append(LineToken("operator", name))
            return match.end()
        return self._read_text(position)

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
        match = self.word.match(self.text, position)
        return match.end() if match else position + 1

    def mark_wildcards(self, text: str) -> str:
        """Return a text with the canonical marks for the wildcards of the service, and without other signs."""
        marked = re.sub(r"[*$#?]", lambda sign: sign[0] if sign[0] in self.wildcards else " ", text)
        return "".join(self.wildcards.get(sign, sign) for sign in marked)

    def make_words(self, text: str) -> WordPatterns | None:
        """Return the words of a text with the wildcards of the service; None if it has no word."""
        return make_words(text, self.mark_wildcards(text))

    def add_words(self, text: str, *, quoted: bool = False) -> None:
        """Add a token for words, if there are any."""
        words = self.make_words(text)
        if words is not None:
            varies = self.varies == "always" or (self.varies == "unquoted" and not quoted)
            plain = not any(has_marks(pattern) for pattern in words.patterns)
            self.tokens.append(LineToken("text", text, node=replace(words, varies=varies and plain)))

    def parse(self) -> ParsedLine:
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
        return ParsedLine(node, tuple(dict.fromkeys((*self.notes, *parser.notes))))


def make_proximity_reader(*, ordered: bool = False, minus: int = 0, default: int = 0) -> SignReader:
    """Return a reader of a proximity operator; without a term on each side, N95 and next are words.

    Args:
        ordered: whether the left term must be first.
        minus: the difference between the number of the operator and the number of words between the terms.
        default: the number of words between the terms if the operator has no number.
    """

    def read(lexer: Lexer, match: re.Match[str]) -> LineToken | None:
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
        return LineToken("near", match[0], distance=distance, ordered=ordered)

    return read


def read_reference(lexer: Lexer, match: re.Match[str]) -> LineToken:
    """Read the number of another line."""
    return LineToken("node", match[0], node=LineReference(int(match[1])))


def read_numbers(lexer: Lexer, match: re.Match[str]) -> LineToken | None:
    """Read an operator and the numbers of the lines that it joins."""
    numbers = parse_numbers(match[2])
    return LineToken("node", match[0], node=join_numbers(match[1], numbers)) if numbers else None


HASH: Final = (re.compile(r"# ?([0-9]{1,4})\b(?! ?- ?#?[0-9])"), read_reference)
BRACES: Final = (re.compile(r"\{ ?(or|and) ([#0-9 ,–-]++)\}", re.IGNORECASE), read_numbers)


def make_prefix_reader(known: Mapping[str, Scope]) -> SignReader:
    """Return a reader of a field before its words."""

    def read(lexer: Lexer, match: re.Match[str]) -> LineToken | None:
        code = match[1].upper()
        if code not in known or not lexer.starts_unit():
            return None
        return LineToken("prefix", match[0], scope=known[code])

    return read


def make_suffix_reader(known: dict[str, Scope]) -> SignReader:
    """Return a reader of fields after their words."""

    def read(lexer: Lexer, match: re.Match[str]) -> LineToken | None:
        codes = [code.strip().lower() for code in match[1].split(",")]
        if not lexer.tokens or not all(code in known for code in codes):
            return None
        return LineToken("scope", match[0], scope=unite_scopes(codes, known))

    return read


def skip_remark(lexer: Lexer, match: re.Match[str]) -> None:
    """Omit a remark."""
