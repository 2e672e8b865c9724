"""Measure the cost of writing records into the corpus, and their size. Run by hand:

    ENTREZ_KIT_REAL_DATA=<folder of recorded replies> python tests/benchmarks/corpus_writing.py
    python tests/benchmarks/corpus_writing.py --records 50000

The records are recorded ones with new PMIDs (without the folder: invented records of a realistic mix), parsed in
advance, and written like by a sync: batches of 500, chunks, versions, membership and the full-text index included. CPU
seconds are counted. They are compared with pydantic writing the same records as JSON and nothing else.
"""

import argparse
import os
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from benchmark_records import HEAD, TAIL, invent_records, read_own_peak, read_recorded

from entrez_kit.corpus.documents import Doc
from entrez_kit.corpus.store.store import Store
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.record_batches import BATCH
from entrez_kit.pubmed.xml.records import iter_records

AIMS = "2,500 records a second, 8 kB a record"
FIRST_PMID = 20_000_001


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--records", type=int, default=20_000)
    options = arguments.parse_args()
    real = os.environ.get("ENTREZ_KIT_REAL_DATA")
    given = parse_records((read_recorded(Path(real), "*") if real else []) or invent_records())
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "corpus.db")
        job = store.start_job("k", "all[sb]")
        writing = dumping = 0.0
        for start in range(0, options.records, BATCH):
            batch = [renumber(given, start + place) for place in range(min(BATCH, options.records - start))]
            began = time.process_time()
            store.commit_batch(job, [Doc.of(article) for article in batch])
            between = time.process_time()
            for article in batch:
                article.model_dump_json()
            dumping += time.process_time() - between
            writing += between - began
        began = time.process_time()
        store.finish_job(job, "complete")
        writing += time.process_time() - began
        store.close()
        size, tables = read_sizes(store.path)
    count = options.records
    print(f"{count:,} records of {len(given):,}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"written at {count / writing:,.0f} a CPU second, {writing / dumping:.1f} times what their JSON alone takes")
    print(f"{size / count / 1e3:.1f} kB a record; peak memory {read_own_peak() / 1024:.0f} MB")
    for name, taken in tables:
        print(f"  {name:28} {taken / count / 1e3:6.2f} kB a record")
    print(f"aims: {AIMS}")


def parse_records(records: list[bytes]) -> list[Article]:
    """Return records as articles."""
    return [record.article() for record in iter_records(HEAD + b"\n".join(records) + TAIL)]


def renumber(given: list[Article], number: int) -> Article:
    """Return one of the records, with a new PMID."""
    return given[number % len(given)].model_copy(update={"pmid": str(FIRST_PMID + number)})


def read_sizes(path: Path) -> tuple[int, list[tuple[str, int]]]:
    """Return the size of the file, and the sizes of its tables and indexes, if SQLite has them."""
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC").fetchall()
    except sqlite3.OperationalError:
        rows = []
    connection.close()
    return path.stat().st_size, [(name, taken) for name, taken in rows if taken > 10_000]


if __name__ == "__main__":
    main()
