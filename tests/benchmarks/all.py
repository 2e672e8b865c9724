"""Run the benchmarks of speed that take minutes, and print the ratios of guide `development`. Run by hand:

    python tests/benchmarks/all.py             # below ten minutes on two processors
    python tests/benchmarks/all.py start parsing

Each benchmark runs as a separate process, one after another, and prints its own report, which `--raw` shows. A ratio
is read from the report: if a report has no such line, the program prints that and exits 1.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
BOUND = 300
"""Maximum seconds of one benchmark."""


class Ratio(NamedTuple):
    """One row of the table: what is measured, the unit, and where the report has the number (group 1)."""

    task: str
    unit: str
    found: str


BENCHMARKS: dict[str, tuple[list[str], list[Ratio]]] = {
    "start": (
        ["start.py", "--rounds", "5", "--calls", "500"],
        [
            Ratio("--help", "imports of typer", r"--help +[\d.]+ +[\d.]+ +([\d.]+)"),
            Ratio("--help", "starts of a bare Python", r"--help +[\d.]+ +([\d.]+)"),
            Ratio("search --json, cached", "starts of a bare Python", r"search --json, cached +[\d.]+ +([\d.]+)"),
            Ratio("fetch of one, cached", "starts of a bare Python", r"fetch of one, cached +[\d.]+ +([\d.]+)"),
        ],
    ),
    "parsing": (
        ["parsing.py", "--megabytes", "20", "--rounds", "5", "--memory", "5", "10"],
        [
            Ratio("records to articles", "of the speed of lxml.iterparse", r"iterparse: ([\d.]+)"),
            Ratio("records to articles and JSON", "of the speed of lxml.iterparse", r"iterparse: .*?JSON ([\d.]+)"),
        ],
    ),
    "references": (
        ["references.py", "--only", "altered"],
        [Ratio("check of a reference with a mistake", "ms of CPU, no ratio", r"([\d.]+) ms of CPU")],
    ),
    "network": (
        ["network.py", "--only", "fetch"],
        [
            Ratio(
                "fetch, 10,000 records, replies after 1.5 s", "times the minimum", r"1500 ms, keyless +\S+ +\S+ +(\S+)"
            ),
        ],
    ),
    "corpus_writing": (
        ["corpus_writing.py", "--records", "10000"],
        [Ratio("a record in the corpus with its word index", "kB, no ratio", r"([\d.]+) kB a record")],
    ),
    "corpus_scale": (
        ["corpus_scale.py", "--records", "50000"],
        [
            Ratio("word search in 50,000 abstracts", "of SQLite's FTS5 (any word)", r"ours / plain ([\d.]+)"),
            Ratio("index of words, 50,000 abstracts", "of the speed of SQLite's FTS5", r"indexing at ([\d.]+)"),
        ],
    ),
    "vectors": (
        ["vectors.py", "--queries", "10"],
        [Ratio("exact vectors, 200,000", "of a comparison row by row", r"ours +p50 .*?([\d.]+) of naive")],
    ),
}


def main() -> int:
    """Print the table; return whether a benchmark failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"some of: {' '.join(BENCHMARKS)}")
    parser.add_argument("--raw", action="store_true", help="print the reports too")
    options = parser.parse_args()
    if unknown := set(options.names) - set(BENCHMARKS):
        parser.error(f"no such benchmark: {' '.join(sorted(unknown))}")
    began, failed = time.monotonic(), False
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    for name in options.names or BENCHMARKS:
        failed |= not run(name, raw=options.raw)
    print(f"load {os.getloadavg()[0]:.1f}, {time.monotonic() - began:.0f} s")
    return int(failed)


def run(name: str, *, raw: bool) -> bool:
    """Run a benchmark and print its ratios; return whether all were found."""
    command, ratios = BENCHMARKS[name]
    try:
        done = subprocess.run(
            [sys.executable, str(FOLDER / command[0]), *command[1:]],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=BOUND,
            check=False,
        )
    except subprocess.TimeoutExpired:
        print(f"{name}: more than {BOUND} s")
        return False
    if raw or done.returncode:
        print(done.stdout)
    whole = done.returncode == 0
    if not whole:
        print(f"{name}: exit status {done.returncode}")
    for ratio in ratios:
        found = re.search(ratio.found, done.stdout)
        print(
            f"{ratio.task:44} {found[1] if found else 'not in the report':>6} {ratio.unit:32} {command[0]}", flush=True
        )
        whole = whole and found is not None
    return whole


if __name__ == "__main__":
    sys.exit(main())
