"""The decisions of screening: one line of ``screening.csv`` for each record and stage."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast, get_args

from entrez_kit.base.tables import TableError, read_table
from entrez_kit.references.files.references import unreadable_error
from entrez_kit.reviews.records import ID, ReviewRecord

Stage = Literal["before_screening", "title_abstract", "full_text"]
Choice = Literal["include", "exclude", "not_retrieved"]
STAGES: Final[tuple[Stage, ...]] = get_args(Stage)
CHOICES: Final[tuple[Choice, ...]] = get_args(Choice)
COLUMNS: Final = ("id", "stage", "decision", "reason", "by", "study", "note", "record")
AUTOMATION: Final = "automation"


@dataclass(frozen=True, slots=True)
class ScreeningDecision:
    """A decision on a record at a stage.

    Args:
        by: ``automation`` for a program; otherwise people decided.
        study: the study that an included report belongs to; by default each report is a study.
        line: its line in the file.
    """

    id: str
    stage: Stage
    decision: Choice
    reason: str = ""
    by: str = ""
    study: str = ""
    note: str = ""
    line: int = 0


def read_decisions(text: str, name: str) -> list[ScreeningDecision]:
    """Read the decisions of a review.

    Raises:
        InvalidInput: a column is missing, or a cell has an unknown value. The message has the line.
    """
    try:
        columns, rows = read_table(text)
        missing = [column for column in COLUMNS[:3] if column not in columns]
        if missing:
            raise unreadable_error(name, f"the table has no column {' or '.join(missing)}", line=1)
        return [_read_decision(row, name, line) for line, row in rows]
    except TableError as exc:
        raise unreadable_error(name, exc.problem, line=exc.line) from None


def _read_decision(row: Mapping[str, str], name: str, line: int) -> ScreeningDecision:
    cells = {column: row.get(column, "").strip() for column in COLUMNS}
    stage, choice = cells["stage"], cells["decision"]
    problem = ""
    if not ID.fullmatch(cells["id"]):
        problem = f"{cells['id'][:60]!r} is not the id of a record"
    elif stage not in STAGES:
        problem = f"the stage must be {', '.join(STAGES)} (got {stage[:60]!r})"
    elif choice not in CHOICES or (choice == "not_retrieved" and stage != "full_text"):
        problem = f"the decision must be include, exclude or, of full texts, not_retrieved (got {choice[:60]!r})"
    elif stage == "before_screening" and choice != "exclude":
        problem = "a decision before screening can only exclude"
    if problem:
        raise unreadable_error(name, problem, line=line)
    return ScreeningDecision(
        id=cells["id"].lower(),
        stage=cast("Stage", stage),
        decision=cast("Choice", choice),
        reason=cells["reason"],
        by=cells["by"],
        study=cells["study"],
        note=cells["note"],
        line=line,
    )


def write_decisions(decisions: Iterable[ScreeningDecision], records: Sequence[ReviewRecord]) -> str:
    """Return the table of decisions, ordered by record and stage, each with the record as text."""
    by_id = {record.id: record for record in records}
    order = {record.id: number for number, record in enumerate(records)}
    target = io.StringIO(newline="")
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(COLUMNS)
    for decision in sorted(
        decisions, key=lambda decision: (order.get(decision.id, len(order)), decision.id, STAGES.index(decision.stage))
    ):
        cited = by_id[decision.id].cite() if decision.id in by_id else ""
        writer.writerow(
            (
                decision.id,
                decision.stage,
                decision.decision,
                decision.reason,
                decision.by,
                decision.study,
                decision.note,
                cited,
            )
        )
    return target.getvalue()
