"""Cut a search into slices that PubMed shows whole: it gives out only the first 9,999 records of any search.

A search is cut by date of entry, where a sample of its records says that the slices will fit, and they are asked for
side by side. What does not fit is halved until it does. A single day that is still too large is cut by date of
publication, then by date of modification.
"""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import date, timedelta
from functools import partial
from itertools import pairwise
from typing import Final, Literal

from entrez_kit.entrez_query import MAX_PUBMED_RESULTS, DateBounds, date_clause
from entrez_kit.errors import EntityNotFound, RateLimited, UpstreamError
from entrez_kit.pubmed.document_summaries import esummary_batch
from entrez_kit.services import Services
from entrez_kit.services.esearch_reply import ESearchReply
from entrez_kit.transport.in_flight import in_order

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

    def ask(self, window: Window | None, retmax: int, retstart: int = 0) -> tuple[ESearchReply, str]:
        """Search a window; return the reply and the address that was asked.

        A list that stays shorter than its count is taken as it is: what is missing shows in the end.

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
        in_turn = windows if self.oldest_first else windows[::-1]
        lists = in_order(
            (partial(self.ask, part, MAX_PUBMED_RESULTS) for part in in_turn), self.services.eutils.at_once
        )
        for part, (reply, _) in zip(in_turn, lists, strict=True):
            guessed_wrong = reply.count > 2 * MAX_PUBMED_RESULTS
            yield from self.slices(reply, part) if guessed_wrong else self._cut(part, reply)

    def _cut(self, window: Window, reply: ESearchReply) -> Iterator[DateSlice]:
        """Yield the slices of a window, which is halved as long as it holds more than PubMed shows."""
        # A stack keeps the order: the part that comes first is cut further before the other one is looked at.
        waiting = [(window, reply)]
        while waiting:
            window, reply = waiting.pop()
            parts = window.parts()
            if reply.count <= MAX_PUBMED_RESULTS or not parts:
                if reply.count or self.with_empty:
                    yield DateSlice(window, reply.count, self._completed(window, reply))
                continue
            # Where a part may be shown whole, its PMIDs are asked for at once instead of after a count.
            retmax = MAX_PUBMED_RESULTS if reply.count <= 2 * MAX_PUBMED_RESULTS else 0
            in_turn = parts if self.oldest_first else parts[::-1]
            counted = in_order((partial(self.ask, part, retmax) for part in in_turn), self.services.eutils.at_once)
            waiting += [(part, found) for part, (found, _) in zip(in_turn, counted, strict=True)][::-1]

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
        paged: dict[str, None] = dict.fromkeys(ids)
        for start in range(0, shown, PAGE):
            paged.update(dict.fromkeys(self.ask(window, PAGE, start)[0].ids))
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
