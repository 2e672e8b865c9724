"""Measure `check` of references: requests and seconds of correct ones, CPU time of altered ones. Run by hand:

    python tests/benchmarks/references.py [--references 500] [--latency-ms 50] [--openalex-key]

The sandbox answers with its own articles. "cold" checks correct references with DOIs in all sources at the limits of
the services: the requests of each service and the seconds count. "altered" are references as text, each with one
mistake (a typo in a name or in the title, a missing word, another number). They are checked twice, so that the second
time the cache answers: its CPU seconds are those of comparing, without the sandbox, which runs in this process. With
ENTREZ_KIT_REAL_DATA, a folder of recorded replies, their records are used.
"""

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.request import urlopen

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from benchmark_records import HEAD, TAIL, read_recorded
from written_references import misspell

from entrez_kit import EntrezKit, load_settings
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.records import iter_records
from entrez_kit.references.check.check_references import CHECK
from entrez_kit.references.check.pasted.pasted_lists import split_references
from entrez_kit.references.files.references import Reference
from entrez_kit.sandbox.server import Sandbox


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--references", type=int, default=500)
    parser.add_argument("--latency-ms", type=int, default=50)
    parser.add_argument("--openalex-key", action="store_true", help="request lists of DOIs from OpenAlex")
    parser.add_argument("--only", choices=("cold", "altered"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = list_corpus(Path(folder))
        articles = [
            record.article() for path in paths for record in iter_records(path.read_bytes()) if record.kind == "article"
        ]
        if options.only != "altered":
            check_cold(articles, paths, options.references, options.latency_ms, keyed=options.openalex_key)
        if options.only != "cold":
            check_altered(articles, paths, options.references)
    print(f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)


def list_corpus(folder: Path) -> list[Path]:
    """Return files of PubMed XML: of recorded records, or of the sandbox."""
    real = os.environ.get("ENTREZ_KIT_REAL_DATA")
    if real and (records := read_recorded(Path(real), "*")):
        path = folder / "corpus.xml"
        path.write_bytes(HEAD + b"\n".join(records) + TAIL)
        return [path]
    return [Path(str(path)) for path in (files("entrez_kit.fixtures") / "pubmed").iterdir() if path.name[-4:] == ".xml"]


def check_cold(articles: Sequence[Article], paths: Sequence[Path], count: int, latency_ms: int, *, keyed: bool) -> None:
    """Check references with DOIs once, at the limits of the services; one in ten is unknown."""
    dois = list(dict.fromkeys(article.doi for article in articles if article.doi))[: count * 9 // 10]
    dois += [f"10.5555/unknown.{number}" for number in range(count // 10)]
    made = [Reference(key=doi, doi=doi) for doi in dois]
    with Sandbox(corpus=paths, enforce_limits=False, latency_ms=latency_ms) as sandbox, kit_for(sandbox, keyed) as kit:
        with urlopen(f"{sandbox.url}/entrez/eutils/esearch.fcgi?db=pubmed&term=x[aid]"):
            sandbox.log.clear()  # the server has indexed its articles; the kit has sent nothing
        began, cpu = time.monotonic(), time.process_time()
        rows = CHECK.run(kit.services, {"references": made}).references
        seconds, cpu = time.monotonic() - began, time.process_time() - cpu
        asked = Counter(entry.endpoint for entry in sandbox.log)
    assert len(rows) == len(made)
    print(f"cold: {len(made)} references, {sum(asked.values())} requests, {seconds:.1f} s", end=", ")
    print(f"{cpu:.1f} s of CPU with the server; {dict(asked)}")


def check_altered(articles: Sequence[Article], paths: Sequence[Path], count: int) -> None:
    """Check altered references twice; the cache answers the second time."""
    made = list(itertools.islice(alter_references(articles), count))
    with Sandbox(corpus=paths, enforce_limits=False) as sandbox, kit_for(sandbox) as kit:
        request: dict[str, Any] = {"references": made, "sources": ["pubmed"]}
        CHECK.run(kit.services, request)
        best = float("inf")
        for _ in range(3):
            before = len(sandbox.log)
            began = time.process_time()
            CHECK.run(kit.services, request)
            best = min(best, time.process_time() - began)
            assert len(sandbox.log) == before, "the cache did not answer"
    print(f"altered: {len(made)} references, {best / len(made) * 1e3:.1f} ms of CPU each")


def kit_for(sandbox: Sandbox, keyed: bool = False) -> EntrezKit:
    """Return a kit without a cache of earlier replies."""
    home = Path(tempfile.mkdtemp())
    keys = {"ncbi_api_key": "benchmark", "openalex_api_key": "benchmark" if keyed else None}
    settings = load_settings({"home": home, **keys}).use_sandbox(sandbox.url)
    return EntrezKit(replace(settings, demo=False, state_dir=home / "state"))


def alter_references(articles: Sequence[Article]) -> Iterator[Reference]:
    """Yield references as text, each with one mistake."""
    for mistake in range(5):
        for article in articles:
            journal = article.journal_info
            if journal is None or journal.publication_date is None or not article.authors or not article.title:
                continue
            names = [f"{who.last_name or who.collective_name} {who.initials or ''}".strip() for who in article.authors]
            words, year = article.title.rstrip(".").split(), journal.publication_date.year or 2020
            volume, pages = journal.volume or "1", journal.pages or "1-9"
            match mistake:
                case 0:
                    names[0] = misspell(names[0])
                case 1:
                    words[len(words) // 2] = misspell(words[len(words) // 2])
                case 2:
                    del words[len(words) // 2]
                case 3:
                    year -= 4
                case _:
                    volume += "7"
            text = (
                f"{', '.join(names)}. {' '.join(words)}. {journal.iso_abbreviation or journal.title}. "
                f"{year};{volume}:{pages}."
            )
            yield from split_references(text)[:1]


if __name__ == "__main__":
    main()
