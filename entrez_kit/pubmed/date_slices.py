"""Split a search into slices of at most 9,999 records, because PubMed lists only the first 9,999 of any search.

The search is split by date of entry. A sample of its records determines the dates, and the slices are requested in
parallel. A slice that is too large is halved until it fits. A single day that is too large is split by date of
publication, then by date of modification.

The counts of the parts of a window must add up to the count of the window. If they do not, the counts are requested
again, up to three times. If the parts still lack records, a slice without PMIDs represents the missing records. If the
parts count too many records, the window is not split further.
"""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import date, timedelta
from functools import partial
from itertools import pairwise
from typing import Final, Literal

from entrez_kit.base.errors import EntityNotFound, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.core.query_input import DateBounds, build_date_clause
from entrez_kit.pubmed.document_summaries import esummary_batch
from entrez_kit.services import Services
from entrez_kit.services.small_replies import MAX_PUBMED_RESULTS, ESearchReply
from entrez_kit.services.transport.in_flight import run_in_order

AXES: Final = ("edat", "pdat", "mdat")
FIRST: Final = date(1, 1, 1)
LAST: Final = date(3000, 12, 31)
FEW_EARLIER: Final = date(1965, 12, 31)
"""PubMed has few records entered before this day. The first split is here, so that empty centuries are not halved."""
PAGE: Final = 1_000
SAMPLE: Final = 100
"""The number of sampled records that determine the slices."""
AT_SAME_PACE: Final = 9_000
"""The target size of a part if the rate of new records is known. A part that has a tenth more still fits."""
LIKE_A_SAMPLE: Final = 6_000
"""The target size of a part that a sample determines. A part that has half as many more still fits."""


ATTEMPTS: Final = 3
"""The most times that the parts of a window are counted until their counts add up."""
MAX_DISAGREEMENTS: Final = 3
"""The most windows with contradictory counts or lists; after that no window is counted again."""
DRIFT: Final = 50
"""The records that PubMed may add to a window while its parts are counted: this number, or 1 % of the count."""
DATES_PER_RECORD: Final = {"edat": 1, "pdat": 2, "mdat": 1}
"""The number of days on which one record can be found: publication has two dates, in print and online."""


@dataclass(slots=True)
class _Tolerance:
    """How many records all parts of a window together may count beyond the count of the window."""

    left: int

    @classmethod
    def of(cls, window: "DateWindow", count: int) -> "_Tolerance":
        """Return the tolerance of the first window of an axis."""
        return cls((DATES_PER_RECORD[AXES[window.axis]] - 1) * count + max(DRIFT, count // 100))


CountedParts = list[tuple["DateWindow", ESearchReply]]


@dataclass(frozen=True, slots=True)
class DateWindow:
    """A range of days on one axis (kind of date), limited to single days on the axes before."""

    axis: int = 0
    first: date = FIRST
    last: date = LAST
    within: tuple[str, ...] = ()

    @property
    def clause(self) -> str:
        """The window as a clause of a PubMed term."""
        return " AND ".join(
            (*self.within, build_date_clause(format_ncbi_day(self.first), format_ncbi_day(self.last), AXES[self.axis]))
        )

    def split(self, today: date) -> "list[DateWindow]":
        """Split the window in two, oldest first; split a single day by the next axis. Empty after the last axis."""
        if self.first == self.last:
            if self.axis + 1 == len(AXES):
                return []
            return [DateWindow(self.axis + 1, FIRST, LAST, (*self.within, self.clause))]
        middle = self.first + (self.last - self.first) // 2
        this_year = today + timedelta(days=366)
        for landmark in (this_year, FEW_EARLIER):
            if self.first <= landmark < self.last:
                middle = landmark
                break
        return [replace(self, last=middle), replace(self, first=middle + timedelta(days=1))]


@dataclass(frozen=True, slots=True)
class DateSlice:
    """One slice of a search: its window (None is the whole search), PubMed's count, and the PMIDs listed."""

    window: DateWindow | None
    count: int
    ids: list[str]

    @property
    def clause(self) -> str:
        """The clause that was added to the term."""
        return self.window.clause if self.window else ""


def format_ncbi_day(day: date) -> str:
    """Format a day for NCBI: YYYY/MM/DD."""
    return f"{day.year:04d}/{day.month:02d}/{day.day:02d}"


@dataclass(frozen=True, slots=True)
class Slicer:
    """Split one search into slices.

    Args:
        sort: ESearch's name of the order within a slice.
        dates: ESearch's date parameters, if the search has any.
        oldest_first: whether the slices are in ascending order of the date of entry.
        with_empty: whether to yield empty slices too, so that the slices cover the whole window.
    """

    services: Services
    term: str
    _: KW_ONLY
    sort: str = "relevance"
    dates: DateBounds = field(default_factory=lambda: DateBounds())
    oldest_first: bool = False
    with_empty: bool = False
    _disagreements: list[DateWindow | None] = field(default_factory=list, init=False)

    def search_window(
        self, window: DateWindow | None, retmax: int, retstart: int = 0, *, fresh: bool = False
    ) -> tuple[ESearchReply, str]:
        """Search a window; return the reply and the URL of the request.

        A list that is shorter than its count is accepted; the certificate reports the missing records.

        Args:
            window: the window; None for the whole search.
            fresh: whether to bypass the cache.

        Raises:
            UpstreamError: no attempt got a valid reply.
            RateLimited: NCBI refused, or no slot is free before the deadline.
        """
        reply = self.services.eutils.esearch(
            db="pubmed",
            term=self.term if window is None else f"({self.term}) AND {window.clause}",
            retmax=retmax,
            retstart=retstart,
            sort=self.sort,
            partial=True,
            fresh=fresh,
            **self.dates,
        )
        return reply.value, reply.url

    def yield_slices(self, whole: ESearchReply, window: DateWindow | None = None) -> Iterator[DateSlice]:
        """Yield the slices of a search, or of a window of it.

        Args:
            whole: the reply to the search of the window.
            window: the window; None for the whole search.

        Raises:
            UpstreamError: no attempt got a valid reply.
            RateLimited: NCBI refused, or no slot is free before the deadline.
        """
        if whole.count <= MAX_PUBMED_RESULTS:
            yield DateSlice(window, whole.count, self._complete_ids(window, whole))
            return
        first = window or DateWindow()
        windows = self._split_by_sample(first, whole)
        if len(windows) == 1:
            yield from self._halve(first, whole)
            return
        yield from (
            self._yield_verified(window, whole, windows)
            if self.oldest_first
            else self._yield_streamed(window, whole, windows)
        )

    def _yield_verified(
        self, window: DateWindow | None, whole: ESearchReply, parts: Sequence[DateWindow]
    ) -> Iterator[DateSlice]:
        """Yield the slices of a window after verifying that the counts of its parts add up."""
        first = window or DateWindow()
        tolerance = _Tolerance.of(first, whole.count)
        missing, counted = self._count(window, whole.count, parts, MAX_PUBMED_RESULTS, tolerance)
        if counted is None:
            yield from self._halve(first, whole)
            return
        if missing:
            yield DateSlice(first, missing, [])
        for part, reply in counted:
            yield from self._split_part(part, reply)

    def _yield_streamed(
        self, window: DateWindow | None, whole: ESearchReply, parts: Sequence[DateWindow]
    ) -> Iterator[DateSlice]:
        """Yield the slices of a window as replies arrive; search the parts again if they lack records."""
        first = window or DateWindow()
        tolerance, counts, excess = _Tolerance.of(first, whole.count), {}, -whole.count
        asking = (partial(self.search_window, part, MAX_PUBMED_RESULTS) for part in parts[::-1])
        for part, (reply, _) in zip(parts[::-1], run_in_order(asking, self.services.eutils.at_once), strict=False):
            counts[part] = reply.count
            excess += reply.count
            if excess > tolerance.left:
                self._disagreements.extend([window] * MAX_DISAGREEMENTS)
                yield from self._halve(part, reply)
                return
            yield from self._split_part(part, reply)
        if excess >= 0:
            return
        missing, counted = self._count(window, whole.count, parts, MAX_PUBMED_RESULTS, tolerance, fresh=True)
        for part, reply in counted or ():
            if reply.count > counts[part]:
                yield from self._split_part(part, reply)
        if missing:
            yield DateSlice(first, missing, [])

    def _split_part(self, part: DateWindow, reply: ESearchReply) -> Iterator[DateSlice]:
        """Yield the slices of a part; split it by a second sample if it is much larger than expected."""
        return self.yield_slices(reply, part) if reply.count > 2 * MAX_PUBMED_RESULTS else self._halve(part, reply)

    def _count(
        self,
        window: DateWindow | None,
        count: int,
        parts: Sequence[DateWindow],
        retmax: int,
        tolerance: _Tolerance,
        *,
        fresh: bool = False,
    ) -> tuple[int, CountedParts | None]:
        """Search the parts of a window; repeat the searches if their counts do not add up.

        Returns:
            The number of records that the parts lack, and each part with its reply, in the order of the slices; None
            instead of the parts if they count more records than the window can have.
        """
        in_turn = parts if self.oldest_first else parts[::-1]
        for attempt in range(ATTEMPTS):
            asking = (partial(self.search_window, part, retmax, fresh=fresh or bool(attempt)) for part in in_turn)
            excess, replies = -count, []
            for reply, _ in run_in_order(asking, self.services.eutils.at_once):
                replies.append(reply)
                excess += reply.count
                if excess > tolerance.left:
                    break
            if 0 <= excess <= tolerance.left:
                tolerance.left -= excess
                break
            if len(self._disagreements) >= MAX_DISAGREEMENTS:
                break
            if attempt + 1 < ATTEMPTS:
                count = self.search_window(window, 0, fresh=True)[0].count
        else:
            self._disagreements.append(window)
        if excess > tolerance.left:
            return 0, None
        return max(0, -excess), list(zip(in_turn, replies, strict=True))

    def _halve(self, window: DateWindow, reply: ESearchReply) -> Iterator[DateSlice]:
        """Yield the slices of a window; halve it until each slice has at most as many records as PubMed lists."""
        # A stack keeps the order: the first part is split completely before the second one.
        waiting = [(window, reply, _Tolerance.of(window, reply.count))]
        while waiting:
            window, reply, tolerance = waiting.pop()
            parts = window.split(self.services.clock.today())
            missing, counted = 0, None
            if reply.count > MAX_PUBMED_RESULTS and parts and len(self._disagreements) < MAX_DISAGREEMENTS:
                if parts[0].axis > window.axis:
                    tolerance = _Tolerance.of(parts[0], reply.count)
                # If each part probably fits, request its PMIDs together with its count.
                retmax = MAX_PUBMED_RESULTS if reply.count <= 2 * MAX_PUBMED_RESULTS else 0
                missing, counted = self._count(window, reply.count, parts, retmax, tolerance)
            if counted is None:
                if reply.count or self.with_empty:
                    yield DateSlice(window, reply.count, self._complete_ids(window, reply))
                continue
            if missing:
                yield DateSlice(window, missing, [])
            waiting += [(part, counted_reply, tolerance) for part, counted_reply in counted[::-1]]

    def _split_by_sample(self, window: DateWindow, whole: ESearchReply) -> list[DateWindow]:
        """Split a window into parts that probably fit, oldest first; return it whole if no dates are known.

        The dates of entry come from a sample of the records that the first reply lists. If the reply is sorted from
        the newest record on, older records are assumed to have been added at the same rate. Otherwise the sample is
        assumed to represent all records.
        """
        if window.axis or not whole.ids:
            return [window]
        sample = whole.ids[:: -(-len(whole.ids) // SAMPLE)]
        try:
            summaries = esummary_batch(self.services, sample)
        except (EntityNotFound, UpstreamError, RateLimited):
            return [window]
        days = [date.fromisoformat(summary.edat[:10]) for summary in summaries if summary.edat]
        if not days:
            return [window]
        rising = sum(day < next_day for day, next_day in pairwise(days))
        if rising * 10 < len(days):
            parts = -(-whole.count // AT_SAME_PACE)
            width = AT_SAME_PACE * max(1, (days[0] - days[-1]).days + 1) / len(whole.ids)
            newest = days[0].toordinal()
            within = min(parts, int((newest + 1 - window.first.toordinal()) / width) + 1)  # parts inside the window
            cuts = [date.fromordinal(max(newest + 1 - round(width * number), 1)) for number in range(1, within)]
        else:
            parts = min(-(-whole.count // LIKE_A_SAMPLE), len(days))
            cuts = [sorted(days)[len(days) * number // parts] for number in range(1, parts)]
        cuts = sorted({day for day in cuts if window.first < day <= window.last})
        firsts = [window.first, *cuts]
        lasts = [*(cut - timedelta(days=1) for cut in cuts), window.last]
        return [replace(window, first=first, last=last) for first, last in zip(firsts, lasts, strict=True)]

    def _complete_ids(self, window: DateWindow | None, reply: ESearchReply) -> list[str]:
        """Return all PMIDs of a slice: request the list if it was only counted, and pages if the list is short."""
        ids = reply.ids
        if not ids and reply.count:
            ids = self.search_window(window, MAX_PUBMED_RESULTS)[0].ids
        available = min(reply.count, MAX_PUBMED_RESULTS)
        if len(ids) >= available:
            return ids
        if len(self._disagreements) >= MAX_DISAGREEMENTS:
            return ids
        paged: dict[str, None] = dict.fromkeys(ids)
        for start in range(0, available, PAGE):
            paged.update(dict.fromkeys(self.search_window(window, PAGE, start)[0].ids))
        if len(paged) < available:
            self._disagreements.append(window)
        return list(paged)


def esearch_delta(
    services: Services, term: str, mindate: str, maxdate: str, datetype: Literal["edat", "mdat", "pdat"] = "edat"
) -> list[str]:
    """Return the PMIDs of all records that match a term between two dates, each once, oldest first.

    A search of more than 9,999 records is sliced, so that the list is complete.

    Args:
        mindate: first date: YYYY, YYYY/MM or YYYY/MM/DD.
        maxdate: last date.
        datetype: which of PubMed's dates to compare.

    Raises:
        UpstreamError: no attempt got a valid reply, or NCBI listed fewer records than it counted.
        RateLimited: NCBI refused, or no slot is free before the deadline.
    """
    dated = f"({term}) AND {build_date_clause(mindate, maxdate, datetype)}"
    slicer = Slicer(services, dated, sort="pub_date", oldest_first=True)
    whole = slicer.search_window(None, MAX_PUBMED_RESULTS)[0]
    pmids: dict[str, None] = {}
    for piece in slicer.yield_slices(whole):
        pmids |= dict.fromkeys(piece.ids)
    if len(pmids) < whole.count:
        raise UpstreamError(
            f"PubMed counted {format_count(whole.count, 'record')} and listed {len(pmids):,}.",
            details={"reason": "incomplete", "endpoint": "esearch"},
        )
    return list(pmids)
