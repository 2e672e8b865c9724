"""Read and write the table in which a person decides which records are the same work.

The table has a row for each undecided pair, each merge and each family. The person writes ``same``, ``different`` or
``family`` in the column ``decision``; an empty cell leaves the suggestion. The next merge reads the decisions, also if
the files have changed, because a fingerprint identifies each record.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from entrez_kit.base.tables import TableError, read_table
from entrez_kit.references.files.references import unreadable_error

Choice = Literal["same", "different", "family"]
COLUMNS: Final = (
    *("decision", "suggestion", "why", "record_1", "record_2", "note"),
    *("id_1", "id_2", "fingerprint_1", "fingerprint_2"),
)
_WORDS: Final = {"same": "same", "s": "same", "yes": "same", "y": "same", "duplicate": "same", "different": "different"}
_WORDS.update({"d": "different", "no": "different", "n": "different", "family": "family", "f": "family"})


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A pair of records in the table.

    Args:
        suggestion: what the merge did: same or family; "" if it is undecided.
        texts: the two records as citations.
    """

    suggestion: str
    why: str
    members: tuple[str, str]
    fingerprints: tuple[str, str]
    texts: tuple[str, str]
    decision: str = ""
    note: str = ""


def read_review(text: str, name: str) -> list[ReviewRow]:
    """Read the rows of a review file.

    Raises:
        InvalidInput: a column is missing, or a decision is unknown. The message has the line.
    """
    try:
        columns, rows = read_table(text)
        missing = [column for column in ("decision", "id_1", "id_2") if column not in columns]
        if missing:
            hint = "Name the review file that an earlier merge wrote, or the path of a new file."
            raise unreadable_error(name, f"this review file lacks the columns {', '.join(missing)}", hint=hint)
        return [_read_row(row, name, line) for line, row in rows]
    except TableError as exc:
        raise unreadable_error(name, exc.problem, line=exc.line) from None


def _read_row(row: Mapping[str, str], name: str, line: int) -> ReviewRow:
    cells = {column: row.get(column, "").strip() for column in COLUMNS}
    word = cells["decision"].lower()
    if word and word not in _WORDS:
        problem = f"the decision must be {', '.join(get_args(Choice)[:-1])} or {get_args(Choice)[-1]}"
        raise unreadable_error(name, f"{problem} (got {cells['decision']})", line=line)
    return ReviewRow(
        suggestion=cells["suggestion"],
        why=cells["why"],
        members=(cells["id_1"], cells["id_2"]),
        fingerprints=(cells["fingerprint_1"], cells["fingerprint_2"]),
        texts=(cells["record_1"], cells["record_2"]),
        decision=_WORDS.get(word, ""),
        note=cells["note"],
    )


def write_review(rows: Iterable[ReviewRow], earlier: Sequence[ReviewRow] = ()) -> str:
    """Return the table with the rows of a merge, and the decisions of an earlier table."""
    decided = [row for row in earlier if row.decision or row.note]
    by_pair = {_make_key(row): row for row in decided}
    keys: set[frozenset[str]] = set()
    target = io.StringIO(newline="")
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        known = by_pair.get(_make_key(row))
        keys.add(_make_key(row))
        writer.writerow(_yield_cells(row, known.decision if known else "", known.note if known else ""))
    for row in decided:
        if _make_key(row) not in keys:
            writer.writerow(_yield_cells(row, row.decision, row.note))
    return target.getvalue()


def _make_key(row: ReviewRow) -> frozenset[str]:
    return frozenset(part for pair in zip(row.members, row.fingerprints, strict=True) for part in ["#".join(pair)])


def _yield_cells(row: ReviewRow, decision: str, note: str) -> Iterator[str]:
    yield from (decision, row.suggestion, row.why, *row.texts, note, *row.members, *row.fingerprints)
