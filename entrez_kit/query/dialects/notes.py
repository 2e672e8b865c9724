"""Notes about the lines of a strategy, and the reasons why a line is refused. Each has a code and a text."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

RefusalCode = Literal[
    "syntax-error",
    "not-in-pubmed",
    "unknown-field",
    "missing-reference",
    "circular-reference",
    "short-truncation",
    "wildcard-trap",
]
"""Codes of the reasons for which a line is refused."""
ReadingCode = Literal[
    "implicit-precedence",
    "unbalanced-quotes",
    "suffix-binds-last",
    "heading-renamed",
    "not-mesh",
    "other-dialect",
    "missing-number",
    "number-gap",
    "forward-reference",
    "lowercase-operator",
    "foreign-explode",
    "reference-style",
    "limit-drops-unindexed",
]
"""Codes of notes from the reading and the translation of a line."""
ProofCode = Literal["label-disproved", "not-proven"]
"""Codes of notes from the proof of a translation on a local copy."""
CountCode = Literal[
    "not-counted",
    "phrase-not-found",
    "field-not-found",
    "quoted-phrase-not-found",
    "phrase-ignored",
    "output-message",
]
"""Codes of notes from the count of the records in PubMed."""
NoteCode: TypeAlias = ReadingCode | ProofCode | CountCode


@dataclass(frozen=True, slots=True)
class Note:
    """A note for the author of a line; some notes have only a text."""

    text: str
    code: NoteCode | None = None

    def __str__(self) -> str:
        """Return the text as users see it. The text about a limit is shown without its code."""
        return self.text if self.code in (None, "limit-drops-unindexed") else f"{self.code}: {self.text}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a line has no translation."""

    text: str
    code: RefusalCode

    def __str__(self) -> str:
        """Return the text as users see it. Only the texts about references are shown with their code."""
        has_code = self.code in ("missing-reference", "circular-reference")
        return f"{self.code}: {self.text}" if has_code else self.text


NUMBER_WITHOUT_SIGN: Final = Note("a number has no #; it was read as a line.", "reference-style")


class RefusedLineError(Exception):
    """A line has no translation. ``notes`` are about its characters."""

    def __init__(self, text: str, code: RefusalCode) -> None:
        super().__init__(text)
        self.refusal = Refusal(text, code)
        self.notes: tuple[Note, ...] = ()


class LineError(RefusedLineError):
    """A line cannot be read; the message is the reason."""

    def __init__(self, text: str, code: RefusalCode = "syntax-error") -> None:
        super().__init__(text, code)


class CannotExpressError(RefusedLineError):
    """A part of a line has no equivalent in PubMed; the message is the reason."""

    def __init__(self, text: str, code: RefusalCode = "not-in-pubmed") -> None:
        super().__init__(text, code)


class MissingLimitError(CannotExpressError):
    """PubMed lacks a limit. What the line searches without the limit can still be searched, and finds more."""
