"""Requests for many ids in batches: invalid ids, unanswered ids, and outages."""

import pytest

from entrez_kit.base.errors import EntityNotFound, InvalidInput, UpstreamError
from entrez_kit.base.progress import Watch, watch_calls
from entrez_kit.core.batches import PROBE_WAITS, collect_batches
from entrez_kit.services.transport import in_flight

IDS = [str(number) for number in range(100)]


def test_ids_are_sent_in_batches_and_answers_are_in_order() -> None:
    requested = collect_batches(IDS, 40, lambda batch: len(batch))

    assert [(batch[0], size) for batch, size in requested.answers] == [("0", 40), ("40", 40), ("80", 20)]
    assert not requested.refused
    assert not requested.failed


def test_a_refused_batch_is_halved_until_the_invalid_ids_are_known() -> None:
    sent: list[list[str]] = []

    def ask(batch: list[str]) -> list[str]:
        sent.append(batch)
        if {"13", "77"} & set(batch):
            raise EntityNotFound("one of them is no id")
        return batch

    requested = collect_batches(IDS, 100, ask)

    assert set(requested.refused) == {"13", "77"}
    assert [uid for batch, _ in requested.answers for uid in batch] == [uid for uid in IDS if uid not in ("13", "77")]
    assert len(sent) < 30


def test_any_other_error_than_a_refusal_is_raised() -> None:
    def ask(batch: list[str]) -> None:
        raise InvalidInput("there is no such database")

    with pytest.raises(InvalidInput):
        collect_batches(IDS, 10, ask)

    assert set(collect_batches(IDS[:2], 10, ask, refusals=(InvalidInput,)).refused) == {"0", "1"}


@pytest.fixture(autouse=True)
def recorded_waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Note the waits instead of waiting."""
    waits: list[float] = []
    monkeypatch.setattr("entrez_kit.core.batches.time.sleep", waits.append)
    return waits


def test_a_record_without_an_answer_does_not_fail_the_others() -> None:
    def ask(batch: list[str]) -> int:
        if "27" in batch:
            raise UpstreamError("the backend broke", details={"reason": "ncbi_unreachable"})
        return len(batch)

    for ids in (IDS, IDS[20:30]):  # many batches, and one
        requested = collect_batches(ids, 10, ask)

        assert list(requested.failed) == ["27"]
        assert sum(size for _, size in requested.answers) == len(ids) - 1


def test_after_an_outage_between_batches_the_requests_continue(recorded_waits: list[float]) -> None:
    down = iter([False, False, True, True, True, *[False] * 50])

    def ask(batch: list[str]) -> int:
        if next(down):
            raise UpstreamError("status 503", details={"reason": "ncbi_unreachable"})
        return len(batch)

    requested = collect_batches(IDS, 10, ask)

    assert sum(size for _, size in requested.answers) == 100
    assert not requested.failed
    assert recorded_waits == list(PROBE_WAITS)


def test_no_more_batches_are_sent_to_a_service_that_is_down(recorded_waits: list[float]) -> None:
    sent = []

    def ask(batch: list[str]) -> None:
        sent.append(len(batch))
        raise UpstreamError("no connection", details={"reason": "connection"})

    requested = collect_batches(IDS, 10, ask)

    assert sent == [10, 1, 1, 1]
    assert recorded_waits == list(PROBE_WAITS)
    assert list(requested.failed) == IDS
    assert requested.failed["99"].message.startswith("Not tried")
    assert requested.failed["99"].reason == "connection"


@pytest.mark.parametrize("reason", ["connection", "offline", "refused"])
def test_an_error_that_is_the_same_for_any_id_is_not_requested_again_for_a_single_batch(
    reason: str, recorded_waits: list[float]
) -> None:
    sent = []

    def ask(batch: list[str]) -> None:
        sent.append(len(batch))
        raise UpstreamError("no", details={"reason": reason})

    requested = collect_batches(IDS[:10], 10, ask)

    assert sent == [10]
    assert not recorded_waits
    assert list(requested.failed) == IDS[:10]


def test_a_service_that_fails_while_a_batch_is_halved_gets_no_more_requests() -> None:
    sent: list[int] = []

    def ask(batch: list[str]) -> None:
        sent.append(len(batch))
        raise EntityNotFound("refused") if len(batch) == 8 else UpstreamError("gone")

    requested = collect_batches(IDS[:8], 8, ask)

    assert sent == [8, 4]
    assert set(requested.failed) == set(IDS[:8])


def test_progress_is_reported_after_each_batch() -> None:
    reported: list[tuple[int, int | None]] = []
    with watch_calls(Watch(wanted=lambda: True, progress=lambda done, total: reported.append((done, total)))):
        collect_batches(IDS, 40, lambda batch: None)

    assert reported == [(40, 100), (80, 100), (100, 100)]


# Several batches in flight


def test_simultaneous_batches_are_answered_in_order_and_one_invalid_id_fails_no_other() -> None:
    def ask(batch: list[str]) -> list[str]:
        in_flight.mark_sent()
        if "27" in batch:
            raise UpstreamError("the backend broke", details={"reason": "ncbi_unreachable"})
        if "63" in batch:
            raise EntityNotFound("one of them is no id")
        return batch

    requested = collect_batches(IDS, 10, ask, at_once=6)

    assert [uid for batch, answer in requested.answers for uid in answer] == [i for i in IDS if i not in ("27", "63")]
    assert (list(requested.failed), list(requested.refused)) == (["27"], ["63"])


def test_an_outage_during_simultaneous_batches_is_waited_for_once(recorded_waits: list[float]) -> None:
    failures = iter([True] * 8)

    def ask(batch: list[str]) -> int:
        in_flight.mark_sent()
        if len(batch) < 10:
            return len(batch)
        if next(failures, False):
            raise UpstreamError("status 503", details={"reason": "ncbi_unreachable"})
        return len(batch)

    requested = collect_batches(IDS, 10, ask, at_once=4)

    assert sum(size for _, size in requested.answers) == 100
    assert not requested.failed
    assert len(recorded_waits) <= 8


def test_during_the_probes_after_a_failure_no_further_batch_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []

    def ask(batch: list[str]) -> None:
        sent.append(len(batch))
        in_flight.mark_sent()
        raise UpstreamError("no connection", details={"reason": "connection"})

    requested = collect_batches(IDS * 10, 10, ask, at_once=4)

    assert sent.count(10) <= 5
    assert sent.count(1) == len(PROBE_WAITS)
    assert list(requested.failed) == IDS
    assert requested.failed["99"].message.startswith("Not tried")


def test_any_other_error_than_a_refusal_ends_simultaneous_batches(recorded_waits: list[float]) -> None:
    def ask(batch: list[str]) -> None:
        in_flight.mark_sent()
        raise InvalidInput("there is no such database")

    with pytest.raises(InvalidInput):
        collect_batches(IDS, 10, ask, at_once=4)
