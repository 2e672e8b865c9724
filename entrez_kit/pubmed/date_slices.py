"""Cut a search into slices that PubMed shows whole: it gives out only the first 9,999 records of any search.

A search is halved by date of entry until every slice fits. A single day that is still too large is cut by date of
publication, then by date of modification.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from entrez_kit.entrez_query import DateBounds
from entrez_kit.pubmed.query import MAX_PUBMED_RESULTS, date_clause
from entrez_kit.services import Services
from entrez_kit.services.esearch_reply import ESearchReply

AXES: Final = ("edat", "pdat", "mdat")
FIRST: Final = date(1, 1, 1)
LAST: Final = date(3000, 12, 31)
FEW_EARLIER: Final = date(1965, 12, 31)
"""Few records entered before: cutting there first saves halving empty centuries."""
PAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Window:
    """A range of days on one axis, within the single days that earlier axes were narrowed to."""

    axis: int = 0
    first: date = FIRST
    last: date = LAST
    within: tuple[str, ...] = ()

    @property
    def clause(self) -> str:
        """The window as a clause of a PubMed term."""
        return " AND ".join((*self.within, date_clause(as_day(self.first), as_day(self.last), AXES[self.axis])))

    def parts(self) -> "list[Window]":
        """Cut in two, oldest first; a single day moves on to the next axis. Empty when nothing is left to cut by."""
        if self.first == self.last:
            if self.axis + 1 == len(AXES):
                return []
            return [Window(self.axis + 1, FIRST, LAST, (*self.within, self.clause))]
        middle = self.first + (self.last - self.first) // 2
        this_year = date.today() + timedelta(days=366)
        for landmark in (this_year, FEW_EARLIER):
            if self.first <= landmark < self.last:
                middle = landmark
                break
        return [replace(self, last=middle), replace(self, first=middle + timedelta(days=1))]


@dataclass(frozen=True, slots=True)
class DateSlice:
    """One piece of a search: its window (None for the whole), what PubMed counted and the PMIDs it listed."""

    window: Window | None
    count: int
    ids: list[str]

    @property
    def clause(self) -> str:
        """The clause that was added to the term."""
        return self.window.clause if self.window else ""


def as_day(day: date) -> str:
    """Write a day as NCBI takes it."""
    return f"{day.year:04d}/{day.month:02d}/{day.day:02d}"


class Slicer:
    """Cut one search into slices.

    Args:
        services: the clients.
        term: the search.
        sort: ESearch's name of the order within a slice.
        dates: ESearch's date parameters, where the search has any.
        oldest_first: order of the slices by date of entry.
        with_empty: also yield slices that nothing was found in, so that the slices cover the whole window.
    """

    def __init__(
        self,
        services: Services,
        term: str,
        *,
        sort: str = "relevance",
        dates: DateBounds | None = None,
        oldest_first: bool = False,
        with_empty: bool = False,
    ) -> None:
        self._services = services
        self._term = term
        self._sort = sort
        self._dates: DateBounds = dates or {}
        self._oldest_first = oldest_first
        self._with_empty = with_empty

    def ask(self, window: Window | None, retmax: int, retstart: int = 0) -> tuple[ESearchReply, str]:
        """Search a window; return the reply and the address that was asked.

        A list that stays shorter than its count is taken as it is: what is missing shows in the end.

        Raises:
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        reply = self._services.eutils.esearch(
            db="pubmed",
            term=self._term if window is None else f"({self._term}) AND {window.clause}",
            retmax=retmax,
            retstart=retstart,
            sort=self._sort,
            partial=True,
            **self._dates,
        )
        return reply.value, reply.url

    def slices(self, whole: ESearchReply, window: Window | None = None) -> Iterator[DateSlice]:
        """Yield the slices of a search, or of a window of it, whose first reply is at hand.

        Raises:
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        if whole.count <= MAX_PUBMED_RESULTS:
            yield DateSlice(window, whole.count, self._completed(window, whole))
            return
        # A stack keeps the order: the part that comes first is cut further before the other one is looked at.
        waiting = [(window or Window(), whole)]
        while waiting:
            window, reply = waiting.pop()
            parts = window.parts()
            if reply.count <= MAX_PUBMED_RESULTS or not parts:
                if reply.count or self._with_empty:
                    yield DateSlice(window, reply.count, self._completed(window, reply))
                continue
            # Where a part may be shown whole, its PMIDs are asked for at once instead of after a count.
            retmax = MAX_PUBMED_RESULTS if reply.count <= 2 * MAX_PUBMED_RESULTS else 0
            in_order = parts if self._oldest_first else parts[::-1]
            counted = [(part, self.ask(part, retmax)[0]) for part in in_order]
            waiting += reversed(counted)

    def _completed(self, window: Window | None, reply: ESearchReply) -> list[str]:
        """Return all PMIDs of a slice: asked for where only counted, paged where the reply was short."""
        ids = reply.ids
        if not ids and reply.count:
            ids = self.ask(window, MAX_PUBMED_RESULTS)[0].ids
        shown = min(reply.count, MAX_PUBMED_RESULTS)
        if len(ids) >= shown:
            return ids
        paged: dict[str, None] = dict.fromkeys(ids)
        for start in range(0, shown, PAGE):
            paged.update(dict.fromkeys(self.ask(window, PAGE, start)[0].ids))
        return list(paged)
