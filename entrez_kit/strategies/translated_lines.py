"""The request and the result of reading a strategy, and its lines while they are worked on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, StringConstraints

from entrez_kit.core.model import Request, Result, Warned, omit_if_empty
from entrez_kit.query.dialects.notes import Note, Refusal
from entrez_kit.query.dialects.pieces import Label
from entrez_kit.query.dialects.services import Dialect
from entrez_kit.query.dialects.translate_proximity import Proximity
from entrez_kit.query.dialects.tree import Loss, Node
from entrez_kit.strategies.printed_rows import PrintedLine

LineKind = Literal["search", "reference", "comment", "header", "refused"]
MAX_CHARACTERS = 2_000_000
"""Largest strategy in characters."""
MAX_KNOWN = 5_000
"""Largest number of known records."""
StrategyText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_CHARACTERS)]


class StrategyRequest(Request):
    """A strategy and how to translate it."""

    strategy: StrategyText = Field(description="The strategy: its lines as printed, with or without numbers.")
    dialect: Dialect | None = Field(
        default=None,
        description="Syntax of unclear lines: pubmed, ovid, embase, ebsco, wos (Web of Science), scopus or cochrane.",
    )
    proximity: Proximity = Field(
        default="near",
        description="`near` translates distances to PubMed's proximity search if possible. `and` replaces them with "
        "AND, which misses no record but finds more.",
    )
    words: list[str] | None = Field(
        default=None, description="Words that replace a truncated word if PubMed cannot truncate it."
    )
    words_name: str = Field(default="the word list", description="Origin of the words, for the report.")


class Proof(Result):
    """The records of a local copy that a line means (``line_records``) and that its translation finds.

    ``same`` is true if they are the same records. Otherwise ``line_only`` and ``pubmed_only`` have up to 20 PMIDs of
    those that only one of them finds.
    """

    same: bool
    line_records: int
    pubmed_records: int
    line_only: list[str] = omit_if_empty([])
    pubmed_only: list[str] = omit_if_empty([])


_EFFECTS: Final = {
    "wider": "finds more records than the original",
    "narrower": "can miss records of the original",
    "substitute": "searches something else",
}
"""The effect of each direction of a loss."""


class StrategyLine(Result):
    """A line of a strategy.

    ``original`` has the characters of the file with line breaks: all originals joined are the file. ``pubmed`` is its
    translation, in which ``#1`` is another line; ``label`` says how its records differ: exact, wider (more records),
    narrower (can miss records) or not_expressible (something else is searched, or nothing); ``loss`` says why.
    A ``count`` is absent if the line was not counted; it is never 0 in place of an error. A ``proof`` is present if a
    local copy answers and has what the line searches.
    """

    number: int | None
    original: str
    kind: LineKind
    dialect: Dialect | None
    repaired: str | None = omit_if_empty()
    pubmed: str | None = omit_if_empty()
    label: Label | None = omit_if_empty()
    loss: list[str] = omit_if_empty([])
    depends_on: list[int] = Field(default_factory=list)
    count: int | None = omit_if_empty()
    proof: Proof | None = omit_if_empty()
    warnings: list[str] = Field(default_factory=list)

    def describe_difference(self) -> str:
        """Return a sentence about the differences between the line and its translation."""
        reasons: dict[str, list[str]] = {}
        for loss in self.loss:
            direction, _, text = loss.partition(": ")
            reasons.setdefault(_EFFECTS.get(direction, direction), []).append(text)
        effects = [f"{effect} ({'; '.join(texts)})" for effect, texts in reasons.items()]
        return f"The PubMed translation of line {self.number} {' and '.join(effects) or 'is not exact'}."


class StrategyResult(Warned):
    """A strategy with the translation of every line.

    ``dialect`` is the service of most lines, ``final`` the number of the last line, and ``query`` its translation with
    all other lines in it; it is absent if a line that it depends on was refused.
    """

    RECORDS: ClassVar = "lines"

    dialect: Dialect
    lines: list[StrategyLine]
    final: int | None
    query: str | None


@dataclass(slots=True, eq=False)
class WorkingLine:
    """A line of a strategy with its meaning."""

    printed: PrintedLine
    kind: LineKind
    dialect: Dialect | None = None
    node: Node | None = None
    refusal: Refusal | None = None
    pubmed: str = ""
    operator: str = ""
    own_losses: tuple[Loss, ...] = ()
    losses: tuple[Loss, ...] = ()
    depends_on: list[int] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    blocked_by: int | None = None
    """The number of the refused line that this line depends on."""

    def refuse(self, refusal: Refusal) -> None:
        """Refuse the line: it has no translation."""
        self.kind, self.refusal, self.pubmed = "refused", refusal, ""

    def inherit_losses(self, inherited: Sequence[Loss]) -> None:
        """Set the losses: those of the line, and those of the lines that it refers to."""
        self.losses = tuple(dict.fromkeys((*self.own_losses, *inherited)))

    @property
    def number(self) -> int | None:
        """The number of the line."""
        return self.printed.number

    @property
    def is_search(self) -> bool:
        """Whether the line has a translation that can be run."""
        return self.kind in ("search", "reference") and self.blocked_by is None
