"""The limit of a service is never exceeded by many processes with many requests, idle and on a busy machine."""

import os
from pathlib import Path

import pytest
from arrival_server import arrival_server, count_most_in_a_second, keep_cores_busy, start_clients

pytestmark = pytest.mark.long
SECONDS = 3.0


@pytest.mark.parametrize(
    ("processes", "per_second", "threads", "busy"),
    [(1, 3, 8, False), (4, 3, 1, False), (8, 10, 8, True)],
)
def test_no_second_has_more_requests_than_the_limit(
    processes: int, per_second: int, threads: int, busy: bool, tmp_path: Path
) -> None:
    state_file = str(tmp_path / "state" / "limiter")
    options = {"state_file": state_file, "per_second": per_second, "seconds": SECONDS, "threads": threads}
    with arrival_server() as server, start_clients(processes, server, drains=False, **options) as started:
        with keep_cores_busy(os.cpu_count() or 2 if busy else 0):
            for client in started:
                client.go()
            for client in started:
                client.finish(SECONDS + 60)
        times = server.times

    assert count_most_in_a_second(times) <= per_second
    assert len(times) >= SECONDS * per_second * 0.5, "the limit is used"
