"""The lexer of PubMed queries."""

from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["open", "close", "operator", "range", "operand"]
OPERATORS: Final = frozenset(("AND", "OR", "NOT"))


@dataclass(frozen=True, slots=True)
class QueryToken:
    """A parenthesis, an operator, the colon of a range, or an operand.

    An operand is a quoted phrase or a run of words; ``tag`` is the field tag after it, without brackets.
    """

    kind: Kind
    text: str
    quoted: bool = False
    tag: str | None = None

    @property
    def words(self) -> list[str]:
        """The words of an operand as the user typed them."""
        return self.text.split()


def tokenize(term: str) -> tuple[list[QueryToken], list[str]]:
    """Return the tokens of a query, and NCBI's warnings about its syntax."""
    scanner = _Scanner(term)
    scanner.scan()
    return scanner.tokens, scanner.remarks


class _Scanner:
    def __init__(self, term: str) -> None:
        self.term = term
        self.tokens: list[QueryToken] = []
        self.remarks: list[str] = []
        self._run: list[str] = []

    def scan(self) -> None:
        place, term = 0, self.term
        while place < len(term):
            character = term[place]
            if character.isspace():
                place += 1
            elif character in "()":
                self._end_run()
                self.tokens.append(QueryToken("open" if character == "(" else "close", character))
                place += 1
            elif character == '"':
                place = self._scan_quoted(place)
            elif character == "[":
                place = self._scan_tag(place)
            elif character == "]":
                place += 1
            else:
                place = self._scan_word(place)
        self._end_run()

    def _scan_quoted(self, place: int) -> int:
        end = self.term.find('"', place + 1)
        if end < 0:
            self.remarks.append("Unmatched double quote ignored.")
            return place + 1
        self._end_run()
        phrase = " ".join(self.term[place + 1 : end].split())
        if phrase:
            self.tokens.append(QueryToken("operand", phrase, quoted=True))
        return end + 1

    def _scan_tag(self, place: int) -> int:
        end = self.term.find("]", place)
        if end < 0:
            return place + 1
        tag = " ".join(self.term[place + 1 : end].split())
        self._end_run()
        last = self.tokens[-1] if self.tokens else None
        if tag and last is not None and last.kind == "operand" and last.tag is None:
            self.tokens[-1] = QueryToken("operand", last.text, last.quoted, tag)
        return end + 1

    def _scan_word(self, place: int) -> int:
        end = place
        while end < len(self.term) and not self.term[end].isspace() and self.term[end] not in '()"[]':
            end += 1
        word = self.term[place:end]
        after_operand = not self._run and bool(self.tokens) and self.tokens[-1].kind == "operand"
        if word in OPERATORS:
            self._end_run()
            self.tokens.append(QueryToken("operator", word))
        elif word == ":" or (word.startswith(":") and after_operand):
            self._end_run()
            self.tokens.append(QueryToken("range", ":"))
            return place + 1
        else:
            self._run.append(word)
        return end

    def _end_run(self) -> None:
        if self._run:
            self.tokens.append(QueryToken("operand", " ".join(self._run)))
            self._run = []
