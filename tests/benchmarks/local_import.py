"""Measure the import of PubMed files into a copy. Run by hand:

    ENTREZ_KIT_REAL_DATA=<folder of recorded replies> python tests/benchmarks/local_import.py --files 8 --records 5000

Baseline files are written from the recorded records, each with its own PMID (without the folder: invented records). CPU
seconds of all processes are compared with those of reading the same files and nothing else: with the library's parser
to articles ("articles"), and with the parser of copies to search terms ("terms"). The target is 0.6 of their speed.
"""

import argparse
import gzip
import itertools
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from benchmark_records import HEAD, TAIL, invent_records, read_recorded
from pubmed_files import make_home_settings

from entrez_kit.local.copies import copy_folder
from entrez_kit.local.importing import import_files
from entrez_kit.local.prepare_file import parse_record_element, prepare_file
from entrez_kit.local.records.collection import read_terms
from entrez_kit.local.source_files import SourceFile
from entrez_kit.pubmed.xml.records import iter_records

PMID = re.compile(rb"(<PMID[^>]*>)[0-9]+(</PMID>)")


def main() -> None:
    """Print speeds, ratios, the size and the peak memory."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--files", type=int, default=8)
    arguments.add_argument("--records", type=int, default=5000, help="records per file")
    options = arguments.parse_args()
    real = os.environ.get("ENTREZ_KIT_REAL_DATA")
    records = read_recorded(Path(real), "baseline") if real else invent_records()
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder), records, options.files, options.records)
        total = options.files * options.records
        packed = sum(path.stat().st_size for path in paths)
        print(f"{total:,} records in {len(paths)} files, {packed / 1e6:.1f} MB compressed")
        first, count = paths[:1], options.records
        articles = measure("articles (library's parser)", lambda: parse_articles(first[0]), count)
        terms = measure("terms (parser of copies)", lambda: parse_terms(first[0]), count)
        prepared = measure("one file, one process", lambda: prepare(first[0], Path(folder)), count)
        print(f"one process: {articles / prepared:.2f} of articles, {terms / prepared:.2f} of terms")
        kit = make_home_settings(Path(folder))
        started = time.perf_counter()
        whole = measure("import", lambda: import_files(kit, "bench", paths), total)
        seconds = time.perf_counter() - started
        print(
            f"import: {articles / whole:.2f} of articles, {terms / whole:.2f} of terms; {total / seconds:,.0f} a second"
        )
        copy = copy_folder(kit, "bench")
        sizes = {part: sum(path.stat().st_size for path in copy.rglob(part)) for part in ("copy.db", "*.seg")}
        print(f"bytes per record: copy.db {sizes['copy.db'] / total:.0f}, index {sizes['*.seg'] / total:.0f}")
        own, children = (
            resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        print(f"peak memory: {own:.0f} MB, a process of the import {children:.0f} MB")


def write_files(folder: Path, records: list[bytes], files: int, count: int) -> list[Path]:
    """Write files of the baseline in which every PMID is new."""
    endless = itertools.cycle(records)
    pmid = itertools.count(1)
    paths = []
    for number in range(1, files + 1):
        own = [PMID.sub(rb"\g<1>%d\g<2>" % next(pmid), next(endless), count=1) for _ in range(count)]
        path = folder / f"pubmed26n{number:04}.xml.gz"
        path.write_bytes(gzip.compress(HEAD + b"".join(own) + TAIL, 6))
        paths.append(path)
    return paths


def measure(name: str, work: Callable[[], object], count: int) -> float:
    """Return the CPU seconds per record, those of other processes included."""
    before = cpu_seconds()
    work()
    spent = (cpu_seconds() - before) / count
    print(f"{name}: {1e6 * spent:.0f} µs CPU a record, {1 / spent:,.0f} a second")
    return spent


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and its ended children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def parse_articles(path: Path) -> int:
    """Read all articles of a file."""
    with gzip.open(path) as file:
        return sum(bool(found.article()) for found in iter_records(file))


def parse_terms(path: Path) -> int:
    """Extract the search terms of all records of a file."""
    events = SourceFile(path).read_events()
    return sum(bool(read_terms(parse_record_element(event, path, 1))) for event in events)


def prepare(path: Path, folder: Path) -> None:
    """Do what a process of the import does with a file."""
    prepare_file(SourceFile(path), folder)


if __name__ == "__main__":
    main()
