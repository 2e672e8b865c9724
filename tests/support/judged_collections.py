"""Two small collections of medical records with queries and relevance judgements, from the folder of recorded data.

Cystic Fibrosis: 1,239 records of 1974-1979 and 99 questions, each record judged by four people from 0 to 2 (W. M. Shaw,
J. B. Wood, R. E. Wood and H. R. Tibbo, "The cystic fibrosis database", LISR 13, 1991); the gain is the sum of the four.
MEDLARS: 1,033 records and 30 questions, judged relevant or not.
"""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from entrez_kit.corpus.search.terms import IndexRow

_RECORD: Final = re.compile(r"<RECORD>(.*?)</RECORD>", re.DOTALL)
_QUERY: Final = re.compile(r"<QUERY>(.*?)</QUERY>", re.DOTALL)
_JUDGED: Final = re.compile(r'<Item score="(\d+)">\s*(\d+)')
_TOPIC: Final = re.compile(r"<TOPIC>([^<:]*)")
_NUMBERED: Final = re.compile(r"^\.I ", re.MULTILINE)
_TITLE_LINES: Final = 4


class JudgedQuery(NamedTuple):
    """A query and the gain of every record that is relevant to it."""

    text: str
    gains: Mapping[int, int]


class Collection(NamedTuple):
    """Records to index, and queries to ask."""

    name: str
    rows: Sequence[IndexRow]
    queries: Sequence[JudgedQuery]


def read_cystic_fibrosis(folder: Path) -> Collection:
    """Read the Cystic Fibrosis collection; MeSH headings without their qualifiers are the terms."""
    rows = []
    for path in sorted((folder / "cystic-fibrosis").glob("cf7*.xml")):
        for record in _RECORD.findall(path.read_text(encoding="latin-1")):
            topics = [topic.replace("-", " ") for topic in _TOPIC.findall(record)]
            rows.append(
                IndexRow(
                    int(_write_element(record, "RECORDNUM")),
                    _write_element(record, "TITLE"),
                    _write_element(record, "ABSTRACT") or _write_element(record, "EXTRACT"),
                    "; ".join(dict.fromkeys(topics)),
                )
            )
    queries = [
        JudgedQuery(
            _write_element(query, "QueryText"),
            {int(number): sum(map(int, scores)) for scores, number in _JUDGED.findall(query)},
        )
        for query in _QUERY.findall((folder / "cystic-fibrosis" / "cfquery.xml").read_text(encoding="latin-1"))
    ]
    return Collection("Cystic Fibrosis", rows, queries)


def read_medlars(folder: Path) -> Collection:
    """Read the MEDLARS collection; a title ends at the first full stop at a line's end or an indent."""
    rows = []
    for number, text in _split_numbered(folder / "medlars" / "MED.ALL"):
        lines = text.split("\n")
        ends = (
            place + 1
            for place in range(min(_TITLE_LINES, len(lines) - 1))
            if lines[place].rstrip().endswith(".") or lines[place + 1].startswith("  ")
        )
        end = next(ends, 1)
        rows.append(IndexRow(number, " ".join(lines[:end]), " ".join(lines[end:]), ""))
    gains: dict[int, dict[int, int]] = {}
    for line in (folder / "medlars" / "MED.REL").read_text(encoding="utf-8").splitlines():
        if line.strip():
            query, _, record, _ = map(int, line.split())
            gains.setdefault(query, {})[record] = 1
    queries = [JudgedQuery(text, gains[number]) for number, text in _split_numbered(folder / "medlars" / "MED.QRY")]
    return Collection("MEDLARS", rows, queries)


def compute_ndcg(ranking: Sequence[int], gains: Mapping[int, int], depth: int = 10) -> float:
    """Return the normalised discounted cumulative gain (K. Järvelin and J. Kekäläinen, TOIS 20(4), 2002)."""
    ideal = _discount(sorted(gains.values(), reverse=True)[:depth])
    return _discount([gains.get(pmid, 0) for pmid in ranking[:depth]]) / ideal if ideal else 0.0


def compute_recall(ranking: Sequence[int], gains: Mapping[int, int], depth: int = 10) -> float:
    """Return the share of the relevant records among the first results."""
    return sum(pmid in gains for pmid in ranking[:depth]) / len(gains) if gains else 0.0


def _discount(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def _write_element(text: str, name: str) -> str:
    found = re.search(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def _split_numbered(path: Path) -> list[tuple[int, str]]:
    parts = _NUMBERED.split(path.read_text(encoding="utf-8"))[1:]
    return [(int(number), text) for number, _, text in (part.partition("\n.W\n") for part in parts)]
