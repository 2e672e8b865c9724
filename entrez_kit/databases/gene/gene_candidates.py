"""Build the candidates of a gene search: how each gene matches the query, and its score."""

import re
from typing import Final

from entrez_kit.databases.gene.models import DESIGNATIONS, Gene, GeneSearchCandidate, MatchKind

SCORE_HALF: Final = 20
"""The rank at which the score is one half."""
_BETWEEN_OPERANDS: Final = re.compile(r'\[[^\[\]]*+\]|[()"]|\b(?:AND|OR|NOT)\b')


def build_candidate(gene: Gene, rank: int, kind: MatchKind | None, query: str) -> GeneSearchCandidate:
    """Return a gene as a candidate.

    Args:
        rank: its place among all results, from 0.
        kind: how it matches; None if that depends on the gene.
        query: the query of the user.
    """
    return GeneSearchCandidate(
        id=gene.id,
        symbol=gene.symbol,
        name=gene.name,
        description=gene.description,
        organism=gene.organism,
        taxon_id=gene.taxon_id,
        match=kind or classify_match(gene, query),
        score=score_rank(rank),
        status=None if gene.status == "live" else gene.status,
        replaced_by=gene.replaced_by,
    )


def score_rank(rank: int) -> float:
    """Return the score of a rank (from 0): 1 for the first, then decreasing; the page size does not change it."""
    return float(f"{1 / (1 + rank / SCORE_HALF):.9g}")


def classify_match(gene: Gene, query: str) -> MatchKind:
    """Return how a gene matches a query; in a query in Entrez syntax, one operand is enough."""
    operands = {text.strip().casefold() for text in _BETWEEN_OPERANDS.split(query)} - {""}
    if gene.symbol.casefold() in operands:
        return "symbol"
    if operands & {alias.casefold() for alias in gene.aliases}:
        return "alias"
    names = [_split_words(name) for name in (gene.name, *gene.description.split(DESIGNATIONS))]
    operand_words = [words for operand in operands if (words := _split_words(operand))]
    return "name" if any(words <= name for words in operand_words for name in names) else "other"


def _split_words(text: str) -> set[str]:
    return set("".join(character if character.isalnum() else " " for character in text.casefold()).split())
