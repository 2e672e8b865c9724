"""Measure the time of a gene search at NCBI's usual latency: a mix of symbols, aliases, names, misses, organisms.

    python tests/benchmarks/gene_search.py
    python tests/benchmarks/gene_search.py --latency 400 --keyed

The sandbox runs as a separate process and enforces NCBI's rate limit. Each search starts with an empty cache and with
an unused rate limit, as the first search of an agent does. The goal of the specification is a 95th percentile under
two seconds.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import quantiles

from network import sandbox

from entrez_kit import EntrezKit, load_settings

KINDS: dict[str, list[tuple[str, str | None]]] = {
    "symbol": [("TP53", None), ("BRCA1", "human"), ("SNCA", None), ("Trp53", "mouse"), ("thrA", "e. coli")],
    "alias": [("p53", None), ("NACP", None), ("FANCS", "human"), ("NF68", None), ("ECK0001", None)],
    "name": [("tumor suppressor", None), ("neurofilament light chain", "human"), ("alpha-1-B glycoprotein", None)],
    "dropped word": [("tumor supressorr", None), ("synuclein alphaa", "human")],
    "no hits": [("xyzzyx", None), ("qqqq zzzz", None), ("qqzzxxy", "human"), ("TP53", "yeast")],
    "organism by name": [("DEMO1", "Oryza sativa Japonica Group"), ("PAU8", "Saccharomyces cerevisiae S288C")],
    "entrez syntax": [("apo*[sym] AND 11[chr]", None), ("P53[gene] AND human[orgn]", None)],
}


def measure_search(query: str, organism: str | None, environment: dict[str, str], *, keyed: bool) -> float:
    """Search once with an empty cache and an unused rate limit; return the seconds."""
    with tempfile.TemporaryDirectory() as folder:
        given = {"home": Path(folder), "eutils_url": environment["ENTREZ_KIT_EUTILS_URL"]}
        settings = replace(load_settings(given), state_dir=Path(folder) / "state")
        if keyed:
            settings = replace(settings, ncbi_api_key=load_settings({"ncbi_api_key": "0" * 36}).ncbi_api_key)
        with EntrezKit(settings) as kit:
            started = time.monotonic()
            kit.search_genes(query=query, organism=organism)
            return time.monotonic() - started


def main() -> None:
    """Print the seconds of each kind of search, and the percentiles of all."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--latency", type=int, default=400, help="milliseconds that the sandbox waits before it answers")
    asked.add_argument("--keyed", action="store_true", help="ten requests a second instead of three")
    given = asked.parse_args()
    every: list[float] = []
    with sandbox("--latency-ms", str(given.latency)) as environment:
        measure_search("TP53", None, environment, keyed=given.keyed)  # the first call imports what the others use
        for kind, searches in KINDS.items():
            took = []
            for query, organism in searches:
                time.sleep(1.1)  # the sandbox counts the requests of the search before
                took.append(measure_search(query, organism, environment, keyed=given.keyed))
            every += took
            print(f"{kind:18} {' '.join(f'{one:5.2f}' for one in took)}", flush=True)
    cuts = quantiles(every, n=100, method="inclusive")
    print(f"{len(every)} searches: p50 {cuts[49]:.2f} s, p95 {cuts[94]:.2f} s, longest {max(every):.2f} s")


if __name__ == "__main__":
    main()
