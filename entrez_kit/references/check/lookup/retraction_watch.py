"""Read the Retraction Watch database, a CSV file that Crossref publishes."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.identifiers import normalize_doi
from entrez_kit.base.input_files import cannot_read_error, open_input, read_lines
from entrez_kit.pubmed.models import Standing, StandingNotice, StandingStatus
from entrez_kit.references.check.lookup.crossref_records import determine_standing_by_notices

NATURES: Final[dict[str, StandingStatus]] = {
    "retraction": "retracted",
    "partial retraction": "partially_retracted",
    "expression of concern": "expression_of_concern",
    "correction": "corrected",
    "reinstatement": "reinstated",
}
COLUMNS: Final = ("RetractionNature", "RetractionDate", "OriginalPaperDOI", "OriginalPaperPubMedID")
MAX_FIELD: Final = 1_000_000
MAX_REASON: Final = 300


@dataclass(slots=True)
class RetractionWatch:
    """The notices of the database, by DOI and PMID.

    ``newest`` is the date of the latest notice, which shows how old the file is.
    """

    by_id: dict[str, list[StandingNotice]] = field(default_factory=dict)
    newest: str = ""

    def find_standing(self, doi: str | None, pmid: str | None) -> Standing | None:
        """Return the status of a work; None if the database does not name the work."""
        ids = [known for known in ((doi or "").lower(), pmid) if known]
        return determine_standing_by_notices(notice for known in ids for notice in self.by_id.get(known, ()))


def read_retraction_watch(path: Path) -> RetractionWatch:
    """Read the CSV file.

    Raises:
        InvalidInput: the file cannot be read, or is not the Retraction Watch database.
    """
    database = RetractionWatch()
    try:
        with open_input(path) as file:
            lines = (line.decode("utf-8-sig", "replace") for line in read_lines(file, str(path)))
            csv.field_size_limit(MAX_FIELD)
            rows = csv.DictReader(lines)
            if not set(COLUMNS) <= set(rows.fieldnames or ()):
                raise _unusable(
                    path, f"it does not have all columns of the Retraction Watch database ({', '.join(COLUMNS)})"
                )
            for row in rows:
                for key, notice in _read_notices(row):
                    database.by_id.setdefault(key, []).append(notice)
                    database.newest = max(database.newest, notice.date or "")
    except OSError as exc:
        raise cannot_read_error(path, exc, reason="bad_file") from None
    except csv.Error as exc:
        raise _unusable(path, f"it cannot be read: {exc}") from None
    if not database.by_id:
        raise _unusable(path, "it has no notices")
    return database


def _read_notices(row: dict[str, str]) -> Iterator[tuple[str, StandingNotice]]:
    nature = " ".join((row["RetractionNature"] or "").lower().split())
    if nature not in NATURES:
        return
    doi = normalize_doi((row.get("RetractionDOI") or "").strip()).lower()
    pmid = (row.get("RetractionPubMedID") or "").strip()
    reasons = [reason.strip(" +") for reason in (row.get("Reason") or "").split(";")]
    notice = StandingNotice(
        status=NATURES[nature],
        kind=row["RetractionNature"].strip(),
        doi=doi if doi.startswith("10.") else None,
        pmid=pmid if pmid.isdigit() and int(pmid) else None,
        date=_read_date(row["RetractionDate"]),
        reason="; ".join(reason for reason in reasons if reason)[:MAX_REASON] or None,
    )
    original = normalize_doi((row["OriginalPaperDOI"] or "").strip()).lower()
    if original.startswith("10."):  # a missing DOI is written "unavailable"
        yield original, notice
    work = (row["OriginalPaperPubMedID"] or "").strip()
    if work.isdigit() and int(work):
        yield work, notice


def _read_date(text: str | None) -> str | None:
    """Convert a date of the database ("2/28/2010 0:00") to ISO 8601."""
    written = (text or "").split(" ")[0]
    for form in ("%m/%d/%Y", "%Y-%m-%d"):
        try:
            return datetime.strptime(written, form).date().isoformat()  # it has no time zone
        except ValueError:
            continue
    return None


def _unusable(path: Path, problem: str) -> InvalidInput:
    return InvalidInput(
        f"{path} cannot be used: {problem}.",
        invalid_input=str(path),
        recovery_hint="Download the CSV file from Crossref: "
        "https://gitlab.com/crossref/retraction-watch-data/-/raw/main/retraction_watch.csv",
        details={"reason": "bad_file"},
    )
