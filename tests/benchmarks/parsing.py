"""Compare the record parser with lxml reading the same file without extraction. Run by hand:

    ENTREZ_KIT_REAL_DATA=<folder of recorded replies> python tests/benchmarks/parsing.py

A large file repeats the recorded records (without the folder: invented records of a realistic mix).
Two yardsticks are measured, both without extraction: `iterparse` over the records, freeing each (constant memory, like
ours), and a plain `etree.parse` of the whole file (six times the file in memory). "ours" is `iter_records` and the full
`Article` of every record; "ours, JSON" also writes each as JSON. Rounds alternate between all of them. Each reads the
file once in a process of its own, because the parser remembers names that it has met, and because the heap that a large
tree leaves behind slows down what comes after it. CPU seconds are counted, and the best round of each counts.
"""

import argparse
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from lxml import etree

from entrez_kit.pubmed.xml.records import iter_records

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from benchmark_records import HEAD, TAIL, invent_records, read_own_peak, read_recorded

DESCRIPTOR = re.compile(rb"<DescriptorName[^>]*>")
TARGET, TARGET_JSON = 0.60, 0.50


def main() -> None:
    """Print speeds, the ratio, and the peak memory for two sizes."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--megabytes", type=int, default=40, help="size of the file for the speeds")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--memory", type=int, nargs=2, default=(20, 200), metavar="MB", help="sizes to compare")
    arguments.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.child:
        run_child(CONTENDERS[options.child[0]], Path(options.child[1]))
        return
    real = os.environ.get("ENTREZ_KIT_REAL_DATA")
    mixes = (
        {"recorded": read_recorded(Path(real), "*"), "baseline": read_recorded(Path(real), "baseline")} if real else {}
    )
    mixes = {name: records for name, records in mixes.items() if records} or {"made up": invent_records()}
    with tempfile.TemporaryDirectory() as folder:
        for name, records in mixes.items():
            compare(name, records, Path(folder) / "speed.xml", options.megabytes, options.rounds)
        for size in options.memory:
            path = write(Path(folder) / "memory.xml", next(iter(mixes.values())), size)
            print(f"peak memory, {size} MB file: {measure('ours', path)[1]:.1f} MB")


def compare(name: str, records: list[bytes], path: Path, megabytes: int, rounds: int) -> None:
    """Measure the yardsticks and the parser on one mix of records."""
    write(path, records, megabytes)
    size = path.stat().st_size / 1e6
    mean = sum(map(len, records)) / len(records) / 1e3
    print(f"{name}: {len(records)} different records of {mean:.1f} kB, {size:.0f} MB")
    best = dict.fromkeys(CONTENDERS, float("inf"))
    for _ in range(rounds):
        for contender in CONTENDERS:
            best[contender] = min(best[contender], measure(contender, path)[0])
    for contender, seconds in best.items():
        print(f"  {contender:10} {size / seconds:6.1f} MB/s")
    for yardstick in ("iterparse", "parse"):
        print(f"  ratio to {yardstick}: {best[yardstick] / best['ours']:.2f}", end="")
        print(f", with JSON {best[yardstick] / best['ours, JSON']:.2f}", end="")
    print(f"  (target of iterparse {TARGET}, with JSON {TARGET_JSON})")


def measure(contender: str, path: Path) -> tuple[float, float]:
    """Return the CPU seconds and the peak memory (MB) of one contender, in a separate process."""
    command = [sys.executable, __file__, "--child", contender, str(path)]
    seconds, kilobytes = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), int(kilobytes) / 1024


def run_child(function: Callable[[Path], int], path: Path) -> None:
    """Read the file once, and print the costs: no record is known in advance."""
    started = time.process_time()
    assert function(path) > 0
    print(time.process_time() - started, read_own_peak())


def read_freeing(path: Path) -> int:
    """Read the records with lxml's iterparse, freeing each, and extract nothing."""
    count = 0
    for _, element in etree.iterparse(path, events=("end",), tag="PubmedArticle"):
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]
        count += 1
    return count


def read_tree(path: Path) -> int:
    """Read the whole file into one tree."""
    return len(etree.parse(path).getroot())


def read_articles(path: Path) -> int:
    """Read every record into an Article."""
    count = 0
    with path.open("rb") as file:
        for record in iter_records(file):
            record.article()
            count += 1
    return count


def write_articles_json(path: Path) -> int:
    """Read every record into an Article and write it as JSON."""
    count = 0
    with path.open("rb") as file:
        for record in iter_records(file):
            count += bool(record.article().model_dump_json())
    return count


CONTENDERS: dict[str, Callable[[Path], int]] = {
    "iterparse": read_freeing,
    "parse": read_tree,
    "ours": read_articles,
    "ours, JSON": write_articles_json,
}


def write(path: Path, records: list[bytes], megabytes: int) -> Path:
    """Write a file of about a size by repeating records."""
    size = 0
    with path.open("wb") as file:
        file.write(HEAD)
        for number, record in enumerate(itertools.cycle(records)):
            size += file.write(add_new_headings(record, number // len(records)) + b"\n")
            if size >= megabytes * 1e6:
                break
        file.write(TAIL)
    return path


def add_new_headings(record: bytes, repetition: int) -> bytes:
    """Rename one MeSH heading in four, so that a repeated record has headings that are new to the parser.

    In the recorded files that many are new after 800 records, and in a file of 30,000 there are fewer.
    """
    if not repetition:
        return record
    numbers = itertools.count()
    return DESCRIPTOR.sub(lambda found: found[0] + (b"" if next(numbers) % 4 else b"%d " % repetition), record)


if __name__ == "__main__":
    main()
