"""The parts of a translation: PubMed's text, its outermost operator, and the losses with the label that they give."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from entrez_kit.query.dialects.notes import Note
from entrez_kit.query.dialects.tree import Direction, Loss

Label = Literal["exact", "wider", "narrower", "not_expressible"]


def list_directions(losses: Iterable[Loss]) -> set[Direction]:
    """Return the directions in which a translation differs."""
    return {loss.direction for loss in losses}


def choose_label(losses: Iterable[Loss]) -> Label:
    """Return the label of a translation: ``narrower`` can miss records, and may find others in addition."""
    directions = list_directions(losses)
    if "substitute" in directions:
        return "not_expressible"
    return "narrower" if "narrower" in directions else "wider" if directions else "exact"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a query; ``operator`` is its outermost operator, "" for a single term."""

    text: str
    operator: str = ""
    losses: tuple[Loss, ...] = ()
    notes: tuple[Note, ...] = ()

    def enclose(self, *plain: str) -> str:
        """Return the text in parentheses, unless it is a term or its operator is one of these."""
        return self.text if not self.operator or self.operator in plain else f"({self.text})"

    def add_losses(self, *losses: Loss) -> "Piece":
        """Return the piece with more losses."""
        return replace(self, losses=tuple(dict.fromkeys((*self.losses, *losses))))


def join_pieces(operator: str, pieces: Sequence[Piece]) -> Piece:
    """Join pieces with AND or OR; nested groups are in parentheses, because PubMed has no precedence."""
    if len(pieces) == 1:
        return pieces[0]
    losses = tuple(dict.fromkeys(loss for piece in pieces for loss in piece.losses))
    notes = tuple(dict.fromkeys(note for piece in pieces for note in piece.notes))
    texts = list(dict.fromkeys(piece.enclose(operator) for piece in pieces))
    return Piece(f" {operator} ".join(texts), operator if len(texts) > 1 else pieces[0].operator, losses, notes)


def quote(form: str, tag: str) -> str:
    """Return a word or a phrase with its tag."""
    return f'"{form}"[{tag}]' if " " in form or (tag == "all" and "*" not in form) else f"{form}[{tag}]"
