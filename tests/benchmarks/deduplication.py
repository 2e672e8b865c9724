"""Measure merges: wrong and missed duplicates on labelled sets, compared with bib-dedupe, and the time of many records.

    python tests/benchmarks/deduplication.py FOLDER         # a folder with records_pre_merged.csv in each subfolder
    python tests/benchmarks/deduplication.py --records 50000

bib-dedupe is a peer for the comparison only; without it, its columns are empty.
"""

import csv
import random
import resource
import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from review_records import InventedRecord, invent_works, vary, write_ris_file

from entrez_kit.references.files.references import parse_name
from entrez_kit.references.merge.grouping import compare_records, link_records
from entrez_kit.references.merge.merge_documents import MergeRequest
from entrez_kit.references.merge.merge_references import merge_references
from entrez_kit.references.merge.signatures import RecordFields, build_signature


def count_errors(labels: Sequence[Sequence[str]], groups: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Return the missed duplicates and the wrong ones, counted as records that should be removed or kept."""
    label = {member: n for n, members in enumerate(labels) for member in members}
    group = {member: n for n, members in enumerate(groups) for member in members}
    missed = sum(len({group.get(member, member) for member in members}) - 1 for members in labels)
    wrong = sum(len({label.get(member, member) for member in members}) - 1 for members in groups)
    return missed, wrong


def group_own(rows: Sequence[dict[str, str]]) -> list[list[str]]:
    """Return the groups of entrez-kit. If every record has another issue, the column has numbers of records."""
    has_issues = len({row.get("number") for row in rows}) < len(rows)
    signatures = []
    for number, row in enumerate(rows):
        names = [parse_name(name) for name in row["author"].split(" and ") if name.strip()]
        record = RecordFields(
            title=row["title"],
            authors=[(name.group or name.family or "", name.given or "") for name in names],
            journal=row.get("journal"),
            year=row.get("year"),
            volume=row.get("volume"),
            issue=row.get("number") if has_issues else None,
            pages=row.get("pages"),
            doi=row.get("doi"),
            abstract=row.get("abstract"),
        )
        signatures.append(build_signature(number, record))
    found = link_records(signatures, compare_records(signatures))
    print(f"  undecided pairs {len(found.undecided)}, family links {len(found.families)}")
    return [[rows[n]["ID"] for n in members] for members in found.duplicates]


def group_peer(path: Path) -> list[list[str]] | None:
    """Return the groups of bib-dedupe; None if it is not installed."""
    try:
        import pandas
        from bib_dedupe import bib_dedupe  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        return None
    table: Any = pandas.read_csv(path, dtype=str).fillna("")
    for column in ("doi", "abstract", "search_set"):
        if column not in table:
            table[column] = ""
    prepared = bib_dedupe.prep(table)
    return [list(group) for group in bib_dedupe.cluster(bib_dedupe.match(bib_dedupe.block(prepared)))]


def measure_labelled(folder: Path) -> None:
    """Print the errors on each labelled set below a folder."""
    for path in sorted(folder.glob("*/records_pre_merged.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        with path.with_name("merged_record_ids.csv").open(encoding="utf-8", newline="") as file:
            labels = [row["merged_ids"].split(";") for row in csv.DictReader(file)]
        print(f"{path.parent.name}: {len(rows)} records, {sum(len(group) - 1 for group in labels)} duplicates")
        started = time.perf_counter()
        missed, wrong = count_errors(labels, group_own(rows))
        print(f"  entrez-kit: false negatives {missed}, false positives {wrong}, {time.perf_counter() - started:.1f} s")
        started = time.perf_counter()
        if (peer := group_peer(path)) is not None:
            missed, wrong = count_errors(labels, peer)
            elapsed = time.perf_counter() - started
            print(f"  bib-dedupe: false negatives {missed}, false positives {wrong}, {elapsed:.1f} s")


def measure_scale(number: int) -> None:
    """Print time and memory of a merge of invented records in three files, and its errors."""
    chance = random.Random(1)
    files: list[list[InventedRecord]] = [[], [], []]
    total = 0
    for record in invent_works(number):
        copies = chance.choice((1, 1, 2, 2, 3))
        for slot in chance.sample(range(3), copies):
            files[slot].append(record if slot == 0 else vary(record, chance))
        total += copies
        if total >= number:
            break
    texts = [write_ris_file(records) for records in files]
    labels: dict[str, list[str]] = {}
    for slot, records in enumerate(files):
        for n, record in enumerate(records, start=1):
            labels.setdefault(record.work, []).append(f"{slot}.ris#{n}")
    del files  # the invented works are not part of a merge
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    started, cpu = time.perf_counter(), time.process_time()
    request = MergeRequest.model_validate(
        {"files": [{"file": f"{slot}.ris", "text": text} for slot, text in enumerate(texts)]}
    )
    services: Any = None
    result = merge_references(services, request)
    size = len(result.to_text("ris"))
    elapsed, used = time.perf_counter() - started, time.process_time() - cpu
    groups = [group.members for group in result.groups if group.kind == "duplicate"]
    missed, wrong = count_errors([group for group in labels.values() if len(group) > 1], groups)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{total} records, {sum(map(len, texts)) / 1e6:.0f} MB: {elapsed:.1f} s ({used:.1f} s CPU), peak {peak} MB "
        f"({before} MB before), {result.counts.works} works, missed {missed}, wrong {wrong}, "
        f"undecided {result.counts.undecided}, families {result.counts.families}, written {size / 1e6:.0f} MB"
    )


def main() -> None:
    """Run the measurements that the arguments name."""
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--records", type=int)
    options = parser.parse_args()
    if options.folder:
        measure_labelled(options.folder)
    if options.records:
        measure_scale(options.records)


if __name__ == "__main__":
    main()
