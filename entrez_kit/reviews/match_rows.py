"""Find the work that a row of a file with decisions is about."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from entrez_kit.references.merge.signatures import fold_title
from entrez_kit.reviews.read_screening import Row
from entrez_kit.reviews.records import ReviewRecord

MatchedBy = Literal["id", "identifier", "title"]


class RowMatcher:
    """Finds the work of a row: by the id of this program, by identifiers, or by title and year."""

    def __init__(self, records: Sequence[ReviewRecord]) -> None:
        self._works = {record.id: record.work or record.id for record in records}
        self._by_key: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._by_title: dict[str, set[str]] = defaultdict(set)
        self._years: dict[str, set[str]] = defaultdict(set)
        for record in records:
            work = self._works[record.id]
            for kind in ("pmid", "doi", "pmcid"):
                if value := getattr(record, kind):
                    self._by_key[kind, value.casefold()].add(work)
            self._by_title[fold_title(record.title)].add(work)
            self._years[work].add(record.year)

    def find(self, row: Row) -> tuple[MatchedBy, set[str], str]:
        """Return how a row was matched, its works, and the problem if they are not one."""
        if row.ids:
            return "id", *self._find_by_ids(row.ids)
        works = {work for key in row.keys for work in self._by_key.get(key, ())}
        if works:
            return "identifier", works, "" if len(works) == 1 else "its identifiers belong to several records"
        return "title", *self._find_by_title(row.title, row.year)

    def _find_by_ids(self, ids: Sequence[str]) -> tuple[set[str], str]:
        works = {self._works[record_id] for record_id in ids if record_id in self._works}
        if not works:
            unknown = [record_id for record_id in ids if record_id not in self._works]
            return works, f"the review has no record {', '.join(unknown[:3])}"
        return works, "" if len(works) == 1 else "several records are named"

    def _find_by_title(self, title: str, year: str) -> tuple[set[str], str]:
        works = self._by_title.get(title, set()) if title else set()
        if not works:
            return works, "no record has its id, identifiers or title"
        if year:
            of_year = {work for work in works if not self._years[work].isdisjoint((year, ""))}
            if not of_year:
                return works, "a record with this title has another year"
            works = of_year
        return works, "" if len(works) == 1 else "several records have this title"
