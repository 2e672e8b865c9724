"""Prove the labels of a strategy on a local copy: compare what each line means with what its translation finds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.settings import Settings
from entrez_kit.query.dialects.notes import CannotExpressError, Note
from entrez_kit.query.dialects.pieces import list_directions
from entrez_kit.query.dialects.tree import Loss
from entrez_kit.query.mesh import Vocabulary
from entrez_kit.services import Services
from entrez_kit.strategies.line_references import inherit_losses, list_in_order
from entrez_kit.strategies.strategy import Strategy
from entrez_kit.strategies.translated_lines import Proof, WorkingLine

if TYPE_CHECKING:
    from entrez_kit.local.copies import Copy
    from entrez_kit.query.segments.search_index import SearchIndex

MAX_WITNESSES: Final = 20
"""Maximum number of PMIDs that are listed for one difference."""


@dataclass(frozen=True, slots=True)
class LineProof:
    """The records that a line means and those that its translation finds.

    ``missed`` are found only by the line, ``gained`` only by the translation.
    """

    line: WorkingLine
    meant: int
    found: int
    missed: Sequence[int]
    gained: Sequence[int]

    @property
    def holds(self) -> bool:
        """Whether the records agree with the losses: without one that widens, nothing is gained, and so on."""
        directions = list_directions(self.line.losses)
        if "substitute" in directions:
            return True
        return ("narrower" in directions or not self.missed) and ("wider" in directions or not self.gained)


def prove_records(
    strategy: Strategy, index: "SearchIndex", vocabulary: Vocabulary | None = None
) -> tuple[list[LineProof], dict[int, str]]:
    """Evaluate the meaning and the translation of every line on an index.

    Returns:
        The proofs of the lines, and by line the reason why another one cannot be evaluated.
    """
    from entrez_kit.query.dialects.meaning import evaluate_meaning
    from entrez_kit.query.search import search

    meant: dict[int, Any] = {}
    translated: dict[int, Any] = {}
    proofs: list[LineProof] = []
    reasons: dict[int, str] = {}
    for line in list_in_order(strategy.lines):
        if not line.is_search or line.node is None or line.number is None:
            continue
        unknown = next((number for number in line.depends_on if number not in meant), None)
        if unknown is not None:
            reasons[line.number] = f"line {unknown} cannot be evaluated"
            continue
        try:
            records = evaluate_meaning(line.node, index, vocabulary, meant)
            matches = search(line.pubmed, index, vocabulary, history=lambda number: translated[number]).records
        except CannotExpressError as exc:
            reasons[line.number] = str(exc)
            continue
        except InvalidInput as exc:  # a filter that no copy can know
            reasons[line.number] = exc.message
            continue
        meant[line.number], translated[line.number] = records, matches
        proofs.append(LineProof(line, len(records), len(matches), list(records - matches), list(matches - records)))
    return proofs, reasons


def open_proving_copy(services: Services) -> "Copy | None":
    """Return the local copy that answers; None if none does."""
    return services.keep(_open_copy) if services.settings.copy_label else None


def _open_copy(settings: Settings) -> "Copy":
    from entrez_kit.local.open_local import open_local

    assert settings.local is not None, "a copy with a label has a name"
    return open_local(settings, settings.local)


def prove_lines(strategy: Strategy, copy: "Copy") -> Mapping[int, Proof]:
    """Return the proofs of the lines by number, and correct a label that a record of the copy disproves."""
    proofs, reasons = prove_records(strategy, copy.index, copy.read_vocabulary())
    by_number: dict[int, Proof] = {}
    for proof in proofs:
        line = proof.line
        assert line.number is not None, "a line without a number has no proof"
        by_number[line.number] = Proof(
            same=not proof.missed and not proof.gained,
            line_records=proof.meant,
            pubmed_records=proof.found,
            line_only=[str(pmid) for pmid in copy.index.read_pmids(proof.missed[:MAX_WITNESSES])],
            pubmed_only=[str(pmid) for pmid in copy.index.read_pmids(proof.gained[:MAX_WITNESSES])],
        )
        if not proof.holds:
            line.own_losses = (*line.own_losses, *_describe_differences(proof, by_number[line.number], copy.name))
            text = "records of the copy contradict the translation; see its loss."
            line.notes.append(Note(text, "label-disproved"))
    for line in list_in_order(strategy.lines):
        if line.node is not None and line.kind != "refused":
            line.inherit_losses(inherit_losses(line.pubmed, strategy.numbered))
    for number, reason in reasons.items():
        strategy.numbered[number].notes.append(Note(f"{reason}.", "not-proven"))
    return by_number


def _describe_differences(proof: LineProof, samples: Proof, name: str) -> list[Loss]:
    """Return the losses that the records of a copy show, although the translation names none."""
    directions = list_directions(proof.line.losses)
    losses = []
    if proof.missed and "narrower" not in directions:
        missed = format_count(len(proof.missed), "record")
        text = f"the translation misses {missed} of the copy {name}, such as PMID {samples.line_only[0]}"
        losses.append(Loss("narrower", text))
    if proof.gained and "wider" not in directions:
        gained = format_count(len(proof.gained), "record")
        text = f"the translation adds {gained} of the copy {name}, such as PMID {samples.pubmed_only[0]}"
        losses.append(Loss("wider", text))
    return losses


def add_proofs(strategy: Strategy, services: Services) -> Mapping[int, Proof]:
    """Return the proofs of the lines if a local copy answers, by number."""
    copy = open_proving_copy(services)
    return {} if copy is None else prove_lines(strategy, copy)
