"""Many simultaneous threads: identical requests are sent once, waiting ones are counted, each thread gets an answer."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from limiter_threads import STALLED_SECONDS, wait_until
from loopback_server import ESEARCH, HTML, Answer
from loopback_transport import hold_first_caller, open_workbench, read_search

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntityNotFound, RateLimited, UpstreamError
from entrez_kit.services.transport.client import FollowerTimeout, SingleFlight
from entrez_kit.services.transport.retry import Backoff

pytestmark = pytest.mark.long


def run_in_threads(number: int, work: Callable[[int], object]) -> list[object]:
    """Run work in threads that start together; return the result or error of each."""
    results: list[object] = [None] * number
    start = threading.Barrier(number)

    def run(index: int) -> None:
        start.wait()
        try:
            results[index] = work(index)
        except BaseException as exc:
            results[index] = exc

    threads = [threading.Thread(target=run, args=(index,)) for index in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return results


@pytest.mark.parametrize("no_cache", [False, True])
def test_identical_simultaneous_requests_are_sent_once(
    no_cache: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_first_caller(monkeypatch, others=7)
    with open_workbench(tmp_path, no_cache=no_cache) as bench:
        assert run_in_threads(8, lambda _: read_search(bench)) == [ESEARCH] * 8
        assert len(bench.server.seen) == bench.limiter.taken == 1


def test_identical_simultaneous_history_requests_are_sent_once_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_first_caller(monkeypatch, others=3)
    history = ESEARCH.replace(b"<IdList>", b"<QueryKey>1</QueryKey><WebEnv>MCID_1</WebEnv><IdList>")
    with open_workbench(tmp_path, always=Answer(body=history)) as bench:
        replies = run_in_threads(4, lambda _: bench.eutils.esearch(db="pubmed", term="x", usehistory=True).content)
        assert replies == [history] * 4
        assert len(bench.server.seen) == 1


def test_different_requests_are_sent_at_the_same_time(tmp_path: Path) -> None:
    answer = Answer(together=threading.Barrier(8, timeout=STALLED_SECONDS))  # no answer before the eighth request
    with open_workbench(tmp_path, always=answer) as bench:
        assert run_in_threads(8, lambda index: read_search(bench, str(index))) == [ESEARCH] * 8
        assert len(bench.server.seen) == 8


def test_each_waiting_thread_gets_its_own_error_object(tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=Answer(body=HTML, delay=0.2), ncbi_max_retries=0) as bench:
        errors = run_in_threads(6, lambda _: read_search(bench))
        assert len(bench.server.seen) == 1

    assert all(isinstance(error, UpstreamError) for error in errors)
    assert len({str(error) for error in errors}) == 1
    assert len({id(error) for error in errors}) == 6


def test_each_waiting_thread_has_the_exchange_in_its_own_trace(tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=Answer(delay=0.3)) as bench:

        def run_traced(_: int) -> tuple[int, int]:
            with tracing.trace("t") as trace:
                read_search(bench)
            return len(trace.exchanges), trace.exchanges[0].attempts

        reported = run_in_threads(4, run_traced)
    assert sorted(reported) == [(1, 0), (1, 0), (1, 0), (1, 1)]  # type: ignore[type-var]


def test_waiting_threads_get_not_found_too(tmp_path: Path) -> None:
    body = b"<eFetchResult><ERROR>ID list is empty!</ERROR></eFetchResult>"
    with open_workbench(tmp_path, always=Answer(body=body, delay=0.2)) as bench:
        errors = run_in_threads(4, lambda _: bench.eutils.efetch(db="nuccore", ids=["NM_9"], retmode="xml"))
        assert len(bench.server.seen) == 3
    assert all(isinstance(error, EntityNotFound) for error in errors)


def test_if_the_sending_thread_is_interrupted_another_one_sends() -> None:
    flights: SingleFlight[str] = SingleFlight()
    leading = threading.Event()
    calls: list[int] = []

    def interrupt() -> str:
        leading.set()
        time.sleep(0.2)
        raise KeyboardInterrupt

    def work() -> str:
        calls.append(1)
        return "done"

    def lead() -> object:
        try:
            return flights.do("key", interrupt, time.monotonic() + 5)
        except KeyboardInterrupt:
            return "interrupted"

    results: list[object] = []
    leader = threading.Thread(target=lambda: results.append(lead()))
    leader.start()
    leading.wait()
    followers = run_in_threads(5, lambda _: flights.do("key", work, time.monotonic() + 5))
    leader.join()

    assert results == ["interrupted"]
    assert {result[0] for result in followers if isinstance(result, tuple)} == {"done"}
    assert 1 <= len(calls) <= 5


def test_a_waiting_thread_does_not_wait_after_its_deadline() -> None:
    flights: SingleFlight[str] = SingleFlight()
    release = threading.Event()
    leader = threading.Thread(target=lambda: flights.do("key", lambda: str(release.wait(30)), time.monotonic() + 60))
    leader.start()
    time.sleep(0.05)
    started = time.monotonic()
    with pytest.raises(FollowerTimeout):
        flights.do("key", lambda: "never", time.monotonic() + 0.2)
    assert time.monotonic() - started < 10
    release.set()
    leader.join()


def test_a_waiting_thread_after_its_deadline_reports_it(tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=Answer(delay=0.6), ncbi_timeout_ms=5000) as bench:
        with bench.open_another(ncbi_total_deadline_ms=500):
            pass
        object.__setattr__(bench.settings, "ncbi_total_deadline_ms", 5000)
        leader = threading.Thread(target=read_search, args=(bench,))
        leader.start()
        time.sleep(0.1)
        object.__setattr__(bench.settings, "ncbi_total_deadline_ms", 100)
        with pytest.raises(UpstreamError) as caught:
            read_search(bench)
        leader.join()
    assert caught.value.reason == "deadline_exceeded"


# The queue


class SlowLimiter:
    """Grants requests when a test opens the gate."""

    def __init__(self) -> None:
        self.open = threading.Event()

    def acquire(self, deadline: float | None = None) -> None:
        """Wait until the gate opens."""
        self.open.wait(10)


def test_a_full_queue_refuses_the_next_request_at_once(tmp_path: Path) -> None:
    limiter = SlowLimiter()
    options = {"limiters": lambda settings, service: limiter, "max_waiting": 3}
    with open_workbench(tmp_path, options=options) as bench:
        threads = [threading.Thread(target=read_search, args=(bench, str(number))) for number in range(3)]
        for thread in threads:
            thread.start()
        wait_until(lambda: bench.transport.waiting == 3)

        started = time.monotonic()
        with pytest.raises(RateLimited) as caught:
            read_search(bench, "one too many")
        assert time.monotonic() - started < 5
        assert caught.value.reason == "queue_full"
        assert "NCBI_API_KEY" in caught.value.recovery_hint
        assert bench.server.seen == []

        limiter.open.set()
        for thread in threads:
            thread.join()
        assert bench.transport.waiting == 0
        assert read_search(bench, "one too many") == ESEARCH
        assert len(bench.server.seen) == 4


def test_a_cached_reply_needs_no_place_in_the_queue(tmp_path: Path) -> None:
    limiter = SlowLimiter()
    limiter.open.set()
    options = {"limiters": lambda settings, service: limiter, "max_waiting": 1}
    with open_workbench(tmp_path, options=options) as bench:
        read_search(bench, "cached")
        limiter.open.clear()
        waiting = threading.Thread(target=read_search, args=(bench, "slow"))
        waiting.start()
        wait_until(lambda: bench.transport.waiting == 1)

        assert read_search(bench, "cached") == ESEARCH
        limiter.open.set()
        waiting.join()


def test_requests_between_two_attempts_count_as_waiting_and_are_not_refused(tmp_path: Path) -> None:
    options = {"max_waiting": 1, "backoff": Backoff(first=0.5, cap=0.5, spread=0)}
    with open_workbench(tmp_path, options=options) as bench:
        bench.server.then(Answer(status=500))
        retried = threading.Thread(target=read_search, args=(bench, "retried"))
        retried.start()
        wait_until(lambda: bench.transport.waiting == 1)
        with pytest.raises(RateLimited):
            read_search(bench, "another")
        retried.join()
        assert read_search(bench, "retried") == ESEARCH
        assert len(bench.server.seen) == 2


def test_the_size_of_the_queue_can_be_set_later(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        assert bench.transport.max_waiting is None
        bench.transport.max_waiting = 100
        assert bench.transport.max_waiting == 100
        assert read_search(bench) == ESEARCH
