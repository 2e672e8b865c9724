"""Measure the benefit of many simultaneous requests: whole commands with the sandbox, as ratios to their minimum.

    python tests/benchmarks/network.py
    python tests/benchmarks/network.py --latencies 1500 --only fetch

The sandbox runs as a separate process, answers with a delay and refuses requests faster than NCBI's limit. The minimum
time of a command is the time in which the limit allows its requests, one latency, and the start of a program, which is
that of a fetch of one record in the same run. CPU seconds are those of the command.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

FIRST = 99_100_001
PER_SECOND = {"keyless": 3, "keyed": 10}
PER_FETCH = 500
PER_SLICE = 9_000
FOLDERS = ("ENTREZ_KIT_CACHE_DIR", "ENTREZ_KIT_DATA_DIR", "XDG_STATE_HOME")
INCOMPLETE = 4
COMMAND = [sys.executable, "-m", "entrez_kit"]


@contextmanager
def sandbox(*arguments: str) -> Iterator[dict[str, str]]:
    """Run a sandbox and yield the variables that lead to it."""
    process = subprocess.Popen(
        [*COMMAND, "sandbox", "--quiet", "--json", *arguments], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        announced = ""
        while not announced.rstrip().endswith("}\n}"):
            announced += process.stdout.readline()
        yield json.loads(announced)["environment"]
    finally:
        process.terminate()
        process.wait()


def run_command(
    arguments: Sequence[str], environment: dict[str, str], key: str, text: str = ""
) -> tuple[float, float, float]:
    """Run a command with a separate cache; return its seconds, its CPU seconds and its peak memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        places = {name: str(Path(folder) / name) for name in FOLDERS}
        variables = {**os.environ, **environment, **places}
        variables.pop("NCBI_API_KEY", None)
        if key == "keyed":
            variables["NCBI_API_KEY"] = "0" * 36
        started = time.monotonic()
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdin is not None
        process.stdin.write(text)
        process.stdin.close()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
    if os.waitstatus_to_exitcode(status) not in (0, INCOMPLETE):
        sys.exit(f"{' '.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def print_line(what: str, took: tuple[float, float, float], floor: float) -> None:
    """Print one line of the table."""
    seconds, processor, peak = took
    print(f"{what:44} {seconds:8.2f} {floor:8.2f} {seconds / floor:7.2f} {processor:7.2f} {peak:8.0f}", flush=True)


def list_numbers(count: int) -> str:
    """Return this number of PMIDs of generated records, one per line."""
    return "\n".join(str(FIRST + number) for number in range(count))


def measure(latencies: Sequence[int], only: str | None) -> None:
    """Print the table."""
    fetch = ["fetch", "-", "--format", "jsonl"]
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'':44} {'seconds':>8} {'floor':>8} {'ratio':>7} {'CPU s':>7} {'peak MB':>8}")
    with sandbox("--records", "60000") as environment:
        start = min(run_command(["fetch", str(FIRST), "--format", "jsonl"], environment, "keyed")[0] for _ in range(3))
    for latency in latencies:
        with sandbox("--records", "60000", "--latency-ms", str(latency)) as environment:

            def get_floor(requests: float, key: str, latency: int = latency) -> float:
                return start + (requests - 1) / PER_SECOND[key] + latency / 1000

            for key in PER_SECOND:
                if only in (None, "fetch"):
                    took = run_command(fetch, environment, key, list_numbers(10_000))
                    print_line(f"fetch 10,000, {latency} ms, {key}", took, get_floor(10_000 / PER_FETCH, key))
                if only in (None, "search"):
                    took = run_command(["search", "all[sb]", "--all", "--format", "ids"], environment, key)
                    # the first answer and that for a sample determine the requests
                    least = get_floor(-(-60_000 // PER_SLICE), key) + 2 * latency / 1000
                    print_line(f"search --all of 60,000, {latency} ms, {key}", took, least)
        if only in (None, "fulltext"):
            with sandbox("--latency-ms", str(latency)) as environment:
                one = run_command(["fulltext", "99000001", "--format", "json"], environment, "keyless")[0]
                ten = [str(99_000_001 + number) for number in range(10)]
                took = run_command(["fulltext", *ten, "--format", "json"], environment, "keyless")
                print_line(f"ten full texts, {latency} ms (floor: one)", took, one)
    if only in (None, "memory"):
        with sandbox("--records", "60000") as environment:
            took = run_command(fetch, environment, "keyed", list_numbers(50_000))
            print_line("fetch 50,000, keyed", took, start + (50_000 / PER_FETCH - 1) / PER_SECOND["keyed"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latencies", type=int, nargs="+", default=[100, 1500], metavar="MS")
    parser.add_argument("--only", choices=["fetch", "search", "fulltext", "memory"])
    chosen = parser.parse_args()
    measure(chosen.latencies, chosen.only)
