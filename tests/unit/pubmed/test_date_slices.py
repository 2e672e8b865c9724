"""A search split by dates: every record once, with few requests, for any distribution of dates."""

import random
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import cache
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from entrez_kit.base.clock import SYSTEM_CLOCK
from entrez_kit.base.errors import UpstreamError
from entrez_kit.pubmed.date_slices import FIRST, LAST, Slicer, esearch_delta
from entrez_kit.services.small_replies import MAX_PUBMED_RESULTS, ESearchReply

TODAY = date(2026, 11, 1)
_BOUNDS = re.compile(r'"(\d{4})/(\d\d)/(\d\d)"\[edat\] : "(\d{4})/(\d\d)/(\d\d)"\[edat\]')


class PubMed:
    """This number of records by day of entry, listed in an order that the test chooses."""

    def __init__(self, days: Sequence[date], order: str, *, summaries: bool = True, at_once: int = 6) -> None:
        self.days = sorted(days)
        self.order = order
        self.summaries = summaries
        self.at_once = at_once
        self.requests = 0
        self.eutils = self
        self.clock = SYSTEM_CLOCK

    def esearch(self, *, term: str, retmax: int, retstart: int = 0, **_: Any) -> SimpleNamespace:
        self.requests += 1
        first, last = FIRST, LAST
        for bounds in _BOUNDS.findall(term):
            first, last = (date(*map(int, bounds[at : at + 3])) for at in (0, 3))
        numbers = list(range(bisect_left(self.days, first), bisect_right(self.days, last)))
        if self.order == "newest":
            numbers.reverse()
        elif self.order == "any":
            random.Random(7).shuffle(numbers)
        found = [str(number) for number in numbers[retstart : min(retstart + retmax, MAX_PUBMED_RESULTS)]]
        return SimpleNamespace(value=ESearchReply(count=len(numbers), ids=found), url="")

    def esummary(self, *, ids: list[str], read: Callable[[Any], Any], **_: Any) -> SimpleNamespace:
        self.requests += 1
        if not self.summaries:
            raise UpstreamError("no answer")
        reported = {
            uid: {"history": [{"pubstatus": "entrez", "date": f"{self.days[int(uid)]:%Y/%m/%d} 06:00"}]} for uid in ids
        }
        return SimpleNamespace(value=read({"result": {"uids": ids, **reported}}))

    def slices(self, **options: Any) -> Any:
        slicer = Slicer(self, "anything", **options)  # type: ignore[arg-type]
        return slicer.yield_slices(slicer.search_window(None, MAX_PUBMED_RESULTS)[0])


@cache
def make_even_dates(count: int, years: int = 15) -> list[date]:
    return [TODAY - timedelta(days=number * 365 * years // count) for number in range(count)]


@cache
def make_growing_dates(count: int) -> list[date]:
    chance = random.Random(3)
    return [TODAY - timedelta(days=min(int(chance.expovariate(1 / 3_000)), 20_000)) for _ in range(count)]


@pytest.mark.parametrize("order", ["newest", "any", "oldest"])
@pytest.mark.parametrize(("days", "most"), [(make_even_dates, 18), (make_growing_dates, 26)], ids=["even", "growing"])
def test_a_large_search_is_split_with_few_requests(days: Callable[[int], list[date]], most: int, order: str) -> None:
    pubmed = PubMed(days(60_000), order)
    pieces = list(pubmed.slices())

    listed = [int(pmid) for piece in pieces for pmid in piece.ids]
    assert sorted(listed) == list(range(60_000))
    assert [piece.window.first for piece in pieces] == sorted((piece.window.first for piece in pieces), reverse=True)
    if order != "oldest":
        assert pubmed.requests <= most


@pytest.mark.parametrize("order", ["newest", "any"])
def test_slices_that_must_cover_all_days_omit_none(order: str) -> None:
    pieces = list(PubMed(make_growing_dates(30_000), order).slices(oldest_first=True, with_empty=True))

    assert (pieces[0].window.first, pieces[-1].window.last) == (FIRST, LAST)
    for one, following in pairwise(pieces):
        assert following.window.first == one.window.last + timedelta(days=1)


def test_without_summaries_a_search_is_halved() -> None:
    pubmed = PubMed(make_even_dates(25_000), "newest", summaries=False)

    assert sum(len(piece.ids) for piece in pubmed.slices()) == 25_000


def test_an_estimate_before_the_first_date_of_the_calendar_is_not_an_error() -> None:
    pubmed = PubMed(
        [*make_even_dates(10_000, years=900), *[date(1100, 1, 1)] * 9_000, *[date(1100, 2, 1)] * 9_000], "newest"
    )

    assert sum(len(piece.ids) for piece in pubmed.slices()) == 28_000


def test_a_delta_of_more_than_9999_records_lists_each_record_once() -> None:
    pubmed = PubMed(make_growing_dates(25_000), "newest")

    pmids = esearch_delta(pubmed, "anything", "1900/01/01", "2026/11/01")  # type: ignore[arg-type]

    assert sorted(map(int, pmids)) == list(range(25_000))
    assert len(pmids) == 25_000


def test_a_delta_lists_only_records_entered_between_its_dates() -> None:
    pubmed = PubMed([date(2024, 1, day) for day in range(1, 31)], "oldest")

    pmids = esearch_delta(pubmed, "anything", "2024/01/05", "2024/01/07")  # type: ignore[arg-type]

    assert pmids == ["4", "5", "6"]


def test_a_delta_that_pubmed_lists_incompletely_is_an_error() -> None:
    class ShortLists(PubMed):
        def esearch(self, **asked: Any) -> SimpleNamespace:
            reply = super().esearch(**asked)
            reply.value.ids.pop()
            return reply

    with pytest.raises(UpstreamError) as caught:
        esearch_delta(ShortLists([TODAY] * 3, "oldest"), "anything", "2026/01/01", "2026/12/31")  # type: ignore[arg-type]

    assert caught.value.reason == "incomplete"


class Contradictory(PubMed):
    """Counts windows by a function of the true count, the earlier requests, and whether the cache is bypassed."""

    def __init__(self, days: Sequence[date], count: Callable[[int, int, bool], int]) -> None:
        super().__init__(days, "newest", at_once=1)
        self.count = count

    def esearch(self, *, term: str, retmax: int, retstart: int = 0, fresh: bool = False, **_: Any) -> SimpleNamespace:
        found = super().esearch(term=term, retmax=retmax, retstart=retstart)
        said = self.count(found.value.count, self.requests, fresh)
        found.value = ESearchReply(count=said, ids=found.value.ids[: max(0, said - retstart)])
        return found


def get_outcome(pubmed: PubMed, **options: Any) -> tuple[int, int, int]:
    """Return how many records the slices count, how many they list, and the number of requests."""
    pieces = list(pubmed.slices(**options))
    return sum(piece.count for piece in pieces), len({pmid for piece in pieces for pmid in piece.ids}), pubmed.requests


CHANCE = random.Random(11)


@pytest.mark.parametrize("oldest_first", [False, True])
@pytest.mark.parametrize(
    "count",
    [
        lambda true, asked, fresh: 25_000,
        lambda true, asked, fresh: true if asked == 1 else true // 2,
        lambda true, asked, fresh: true if asked == 1 else 0,
        lambda true, asked, fresh: true * 3 if asked > 1 else true,
        lambda true, asked, fresh: CHANCE.randrange(30_000),
        lambda true, asked, fresh: 10**9,
    ],
    ids=["always the same", "half", "nothing", "three times as many", "any number", "a billion"],
)
def test_slices_that_never_add_up_end_and_show_the_missing_number(
    count: Callable[[int, int, bool], int], oldest_first: bool
) -> None:
    counted, listed, requests = get_outcome(Contradictory(make_even_dates(25_000), count), oldest_first=oldest_first)

    assert listed < max(counted, 25_000)
    assert requests <= 150


@pytest.mark.parametrize("order", ["newest", "any"])
def test_an_absurd_total_does_not_make_an_absurd_number_of_slices(order: str) -> None:
    absurd = Contradictory(make_even_dates(25_000), lambda true, asked, fresh: 10**13 if asked == 1 else true)
    absurd.order = order

    counted, listed, requests = get_outcome(absurd)

    assert (counted, listed) == (25_000, 25_000)
    assert requests <= 2_000


def test_slices_that_do_not_add_up_once_are_counted_again() -> None:
    lost_once = Contradictory(
        make_even_dates(25_000), lambda true, asked, fresh: true if asked == 1 or fresh else true - 7
    )

    assert get_outcome(lost_once, oldest_first=True)[:2] == (25_000, 25_000)
    assert get_outcome(lost_once)[1] == 25_000


def test_records_added_during_the_search_are_not_a_contradiction() -> None:
    growing = Contradictory(make_even_dates(25_000), lambda true, asked, fresh: true if asked > 1 else true - 20)

    counted, listed, requests = get_outcome(growing)

    assert (counted, listed) == (25_000, 25_000)
    assert requests == get_outcome(PubMed(make_even_dates(25_000), "newest"))[2]


def test_records_missing_from_the_parts_of_a_search_have_a_separate_slice() -> None:
    half = Contradictory(
        make_even_dates(25_000), lambda true, asked, fresh: true if asked < 3 or true > 20_000 else true - 100
    )

    first, *others = half.slices(oldest_first=True, with_empty=True)

    assert not first.ids
    assert first.count + sum(piece.count for piece in others) == 25_000
    assert all(len(piece.ids) == piece.count for piece in others)
