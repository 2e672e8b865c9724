"""Cut a search into slices that PubMed shows whole: it gives out only the first 9,999 records of any search.

A search is cut by date of entry, where a sample of its records says that the slices will fit, and they are asked for
side by side. What does not fit is halved until it does. A single day that is still too large is cut by date of
publication, then by date of modification.

The counts of the parts of a window must add up to the count of the window. If they do not, NCBI is asked again a few
times. A slice without PMIDs then stands for the records that the parts lack; a window whose parts count too many
records is not cut any further.
"""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import date, timedelta
from functools import partial
from itertools import pairwise
from typing import Final, Literal

from entrez_kit.base.errors import EntityNotFound, RateLimited, UpstreamError
from entrez_kit.pubmed.document_summaries import esummary_batch
from entrez_kit.query import MAX_PUBMED_RESULTS, DateBounds, date_clause
from entrez_kit.services import Services
from entrez_kit.services.esearch_reply import ESearchReply
from entrez_kit.services.transport.in_flight import in_order

AXES: Final = ("edat", "pdat", "mdat")
FIRST: Final = date(1, 1, 1)
LAST: Final = date(3000, 12, 31)
FEW_EARLIER: Final = date(1965, 12, 31)
"""Few records entered before: cutting there first saves halving empty centuries."""
PAGE: Final = 1_000
SAMPLE: Final = 100
"""So many records tell where to cut."""
AT_SAME_PACE: Final = 9_000
"""Records that a part is meant to have where the pace is known; a tenth more still fit."""
LIKE_A_SAMPLE: Final = 6_000
"""Records that a part is meant to have where a sample tells; it may have half as many more."""


ATTEMPTS: Final = 3
"""How often the parts of a window are counted until their counts add up."""
MOST_DISAGREEMENTS: Final = 3
"""After this many windows whose counts or lists stay wrong, NCBI is not asked again about any other."""
DRIFT: Final = 50
"""Records, or a hundredth of the count, that may be added to a window while its parts are counted."""
DATES_PER_RECORD: Final = {"edat": 1, "pdat": 2, "mdat": 1}
"""On how many days of an axis a record may be found: in print and online."""


@dataclass(slots=True)
class _Room:
    """How many records the parts of a window may count beyond the window itself, over all of its parts."""

    left: int

    @classmethod
    def of(cls, window: "Window", count: int) -> "_Room":
        """Return the room of the first window of an axis."""
        return cls((DATES_PER_RECORD[AXES[window.axis]] - 1) * count + max(DRIFT, count // 100))


Counted = list[tuple["Window", ESearchReply]]


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


@dataclass(frozen=True, slots=True)
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

    services: Services
    term: str
    _: KW_ONLY
    sort: str = "relevance"
    dates: DateBounds = field(default_factory=lambda: DateBounds())
    oldest_first: bool = False
    with_empty: bool = False
    _disagreements: list[Window | None] = field(default_factory=list, init=False)

    def ask(
        self, window: Window | None, retmax: int, retstart: int = 0, *, fresh: bool = False
    ) -> tuple[ESearchReply, str]:
        """Search a window; return the reply and the address that was asked.

        A list that stays shorter than its count is taken as it is: what is missing shows in the end.

        Args:
            window: the window; None for the whole search.
            retmax: how many PMIDs to list.
            retstart: how many records to skip.
            fresh: ask NCBI whatever the cache holds.

        Raises:
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
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

    def slices(self, whole: ESearchReply, window: Window | None = None) -> Iterator[DateSlice]:
        """Yield the slices of a search, or of a window of it, whose first reply is at hand.

        Raises:
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        if whole.count <= MAX_PUBMED_RESULTS:
            yield DateSlice(window, whole.count, self._completed(window, whole))
            return
        first = window or Window()
        windows = self._guessed(first, whole)
        if len(windows) == 1:
            yield from self._cut(first, whole)
            return
        yield from (
            self._slice_verified(window, whole, windows)
            if self.oldest_first
            else self._slice_streamed(window, whole, windows)
        )

    def _slice_verified(
        self, window: Window | None, whole: ESearchReply, parts: Sequence[Window]
    ) -> Iterator[DateSlice]:
        """Yield the slices of a window after the counts of all of its parts are known to add up."""
        first = window or Window()
        room = _Room.of(first, whole.count)
        lacking, counted = self._count(window, whole.count, parts, MAX_PUBMED_RESULTS, room)
        if counted is None:
            yield from self._cut(first, whole)
            return
        if lacking:
            yield DateSlice(first, lacking, [])
        for part, reply in counted:
            yield from self._slices_of(part, reply)

    def _slice_streamed(
        self, window: Window | None, whole: ESearchReply, parts: Sequence[Window]
    ) -> Iterator[DateSlice]:
        """Yield the slices of a window as they come; if they lack records, the parts are searched once more."""
        first = window or Window()
        room, counts, excess = _Room.of(first, whole.count), {}, -whole.count
        asking = (partial(self.ask, part, MAX_PUBMED_RESULTS) for part in parts[::-1])
        for part, (reply, _) in zip(parts[::-1], in_order(asking, self.services.eutils.at_once), strict=False):
            counts[part] = reply.count
            excess += reply.count
            if excess > room.left:
                self._disagreements.extend([window] * MOST_DISAGREEMENTS)
                yield from self._cut(part, reply)
                return
            yield from self._slices_of(part, reply)
        if excess >= 0:
            return
        lacking, counted = self._count(window, whole.count, parts, MAX_PUBMED_RESULTS, room, fresh=True)
        for part, reply in counted or ():
            if reply.count > counts[part]:
                yield from self._slices_of(part, reply)
        if lacking:
            yield DateSlice(first, lacking, [])

    def _slices_of(self, part: Window, reply: ESearchReply) -> Iterator[DateSlice]:
        """Yield the slices of a part of a search; it is cut anew if it holds far more than expected."""
        return self.slices(reply, part) if reply.count > 2 * MAX_PUBMED_RESULTS else self._cut(part, reply)

    def _count(
        self,
        window: Window | None,
        count: int,
        parts: Sequence[Window],
        retmax: int,
        room: _Room,
        *,
        fresh: bool = False,
    ) -> tuple[int, Counted | None]:
        """Search the parts of a window, again if their counts do not add up.

        Returns:
            How many records the parts lack, and the parts in the order of the slices with their replies; None in their
            place if they count more records than there can be.
        """
        in_turn = parts if self.oldest_first else parts[::-1]
        for attempt in range(ATTEMPTS):
            asking = (partial(self.ask, part, retmax, fresh=fresh or bool(attempt)) for part in in_turn)
            excess, replies = -count, []
            for reply, _ in in_order(asking, self.services.eutils.at_once):
                replies.append(reply)
                excess += reply.count
                if excess > room.left:
                    break
            if 0 <= excess <= room.left:
                room.left -= excess
                break
            if len(self._disagreements) >= MOST_DISAGREEMENTS:
                break
            if attempt + 1 < ATTEMPTS:
                count = self.ask(window, 0, fresh=True)[0].count
        else:
            self._disagreements.append(window)
        if excess > room.left:
            return 0, None
        return max(0, -excess), list(zip(in_turn, replies, strict=True))

    def _cut(self, window: Window, reply: ESearchReply) -> Iterator[DateSlice]:
        """Yield the slices of a window, which is halved as long as it holds more than PubMed shows."""
        # A stack keeps the order: the part that comes first is cut further before the other one is looked at.
        waiting = [(window, reply, _Room.of(window, reply.count))]
        while waiting:
            window, reply, room = waiting.pop()
            parts = window.parts()
            lacking, counted = 0, None
            if reply.count > MAX_PUBMED_RESULTS and parts and len(self._disagreements) < MOST_DISAGREEMENTS:
                if parts[0].axis > window.axis:
                    room = _Room.of(parts[0], reply.count)
                # Where a part may be shown whole, its PMIDs are asked for at once instead of after a count.
                retmax = MAX_PUBMED_RESULTS if reply.count <= 2 * MAX_PUBMED_RESULTS else 0
                lacking, counted = self._count(window, reply.count, parts, retmax, room)
            if counted is None:
                if reply.count or self.with_empty:
                    yield DateSlice(window, reply.count, self._completed(window, reply))
                continue
            if lacking:
                yield DateSlice(window, lacking, [])
            waiting += [(part, found, room) for part, found in counted[::-1]]

    def _guessed(self, window: Window, whole: ESearchReply) -> list[Window]:
        """Cut a window at once into parts that probably fit, oldest first, or not at all where nothing is known.

        When they were entered is asked of a sample of the records that the first reply lists. Where these are the
        newest ones, those before are taken to have come at the same pace; else to be like them.
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
        rising = sum(one < other for one, other in pairwise(days))
        if rising * 10 < len(days):
            parts = -(-whole.count // AT_SAME_PACE)
            width = AT_SAME_PACE * ((days[0] - days[-1]).days + 1) / len(whole.ids)
            newest = days[0].toordinal()
            cuts = [date.fromordinal(max(newest + 1 - round(width * number), 1)) for number in range(1, parts)]
        else:
            parts = -(-whole.count // LIKE_A_SAMPLE)
            cuts = [sorted(days)[len(days) * number // parts] for number in range(1, parts)]
        cuts = sorted({day for day in cuts if window.first < day <= window.last})
        firsts = [window.first, *cuts]
        lasts = [*(cut - timedelta(days=1) for cut in cuts), window.last]
        return [replace(window, first=first, last=last) for first, last in zip(firsts, lasts, strict=True)]

    def _completed(self, window: Window | None, reply: ESearchReply) -> list[str]:
        """Return all PMIDs of a slice: asked for where only counted, paged where the reply was short."""
        ids = reply.ids
        if not ids and reply.count:
            ids = self.ask(window, MAX_PUBMED_RESULTS)[0].ids
        shown = min(reply.count, MAX_PUBMED_RESULTS)
        if len(ids) >= shown:
            return ids
        if len(self._disagreements) >= MOST_DISAGREEMENTS:
            return ids
        paged: dict[str, None] = dict.fromkeys(ids)
        for start in range(0, shown, PAGE):
            paged.update(dict.fromkeys(self.ask(window, PAGE, start)[0].ids))
        if len(paged) < shown:
            self._disagreements.append(window)
        return list(paged)


def esearch_delta(
    services: Services, term: str, mindate: str, maxdate: str, datetype: Literal["edat", "mdat", "pdat"] = "edat"
) -> list[str]:
    """Return the PMIDs of every record that a term finds between two dates, each once, oldest first.

    A search of more than 9,999 records is sliced, so that the list is complete.

    Args:
        services: the clients.
        term: the search.
        mindate: first date, as NCBI takes it: YYYY, YYYY/MM or YYYY/MM/DD.
        maxdate: last date.
        datetype: which of PubMed's dates.

    Raises:
        UpstreamError: NCBI did not answer after every attempt, or listed fewer records than it counted.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
    """
    dated = f"({term}) AND {date_clause(mindate, maxdate, datetype)}"
    slicer = Slicer(services, dated, sort="pub_date", oldest_first=True)
    whole = slicer.ask(None, MAX_PUBMED_RESULTS)[0]
    pmids: dict[str, None] = {}
    for piece in slicer.slices(whole):
        pmids |= dict.fromkeys(piece.ids)
    if len(pmids) < whole.count:
        raise UpstreamError(
            f"PubMed counted {whole.count:,} records and listed {len(pmids):,}.",
            details={"reason": "incomplete", "endpoint": "esearch"},
        )
    return list(pmids)
