"""Measure the costs of the server for an agent: lists of tools, typical replies, start, calls per second. Run by hand:

    python tests/benchmarks/agent_costs.py [--command entrez-kit] [--before CHECKOUT] [--peer node server.mjs]

Each command is called over standard input and output with the demo. "Before" is another version: a checkout, run by
this Python with its installed packages, or a program. A token is counted as four bytes. The peer is any other server,
of which only the start is measured. CPU seconds and seconds of the clock are the best of several rounds.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

START: Any = import_module("start")
"""The other benchmark, which already communicates with servers."""
GREETING: bytes = START.GREETING
Environment = dict[str, str]
write_message, measure_cpu = START.write_message, START.measure_cpu
TOOLSETS = ("pubmed", "gene", "corpus", "entrez", "citations")
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "search": ("pubmed_search_articles", {"query_term": "crispr"}),
    "one record": ("pubmed_fetch_contents", {"pmids": ["99000001"]}),
    "40 records": ("pubmed_fetch_contents", {"pmids": [str(99_000_001 + number) for number in range(40)]}),
    "full text": ("pubmed_fetch_fulltext", {"pmids": ["99000001"]}),
    "citations": ("pubmed_format_citations", {"pmids": ["99000001", "99000050"]}),
    "Europe PMC": ("europepmc_search", {"query": "crispr"}),
    "MeSH": ("pubmed_lookup_mesh", {"query": "neoplasms"}),
    "genes": ("search_genes", {"query": "TP53", "organism": "human"}),
    "a gene": ("get_gene", {"entrez_id": "NCBIGene:7157"}),
    "an error": ("pubmed_search_articles", {"query_term": "("}),
}


def get_sizes(command: list[str], environment: Environment, requests: list[bytes]) -> list[int]:
    """Return the number of bytes of the results; content that is sent both as text and as data counts once."""
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(GREETING + b"".join(requests))
        process.stdin.flush()
        lines = [process.stdout.readline() for _ in range(1 + len(requests))]
        process.stdin.close()
    found = {}
    for line in filter(None, lines):  # an older version may lack the toolset and end
        reply = json.loads(line)
        if reply.get("id"):
            result = reply.get("result") or reply["error"]
            text = "".join(part["text"] for part in result["content"]) if "content" in result else json.dumps(result)
            found[reply["id"]] = len(text.encode())
    return [found[number] for number in sorted(found)]


def measure_start(command: list[str], environment: Environment) -> float:
    """Return the seconds from the start of a server to its list of tools."""
    started = time.monotonic()
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(GREETING + write_message("tools/list", 1))
        process.stdin.flush()
        for _ in range(2):
            process.stdout.readline()
        seconds = time.monotonic() - started
        process.stdin.close()
    return seconds


def measure_version(command: list[str], environment: Environment, calls: int) -> dict[str, float]:
    """Return the costs of one version, without its start."""
    listing, demo = write_message("tools/list", 1), [*command, "--demo", "serve"]
    lists = {"default": [], **{name: ["--toolset", name] for name in TOOLSETS}}
    found: dict[str, float] = {}
    for name, flags in lists.items():
        found |= {f"list of {name}, bytes": size for size in get_sizes([*demo, *flags], environment, [listing])}
    asked = [
        write_message("tools/call", number, name=tool, arguments=arguments)
        for number, (tool, arguments) in enumerate(CALLS.values(), 1)
    ]
    get_sizes(demo, environment, asked)  # fills the cache, so that all replies are there before the input ends
    found |= {f"{name}, bytes": size for name, size in zip(CALLS, get_sizes(demo, environment, asked), strict=True)}
    found["calls a second"] = START.measure_stdio_rate([*command, "--demo"], environment, calls)
    return found


def link_package(checkout: Path, folder: Path) -> Path:
    """Return a folder with the package of a checkout as it is installed, with two of its folders at the top level."""
    package = folder / "entrez_kit"
    package.mkdir(parents=True)
    for path in (*(checkout / "entrez_kit").iterdir(), checkout / "commands", checkout / "fixtures"):
        (package / path.name).symlink_to(path.resolve())
    return folder


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", nargs="+", default=[sys.executable, "-m", "entrez_kit"])
    parser.add_argument("--before", nargs="+", help="a checkout of another version, or its program")
    parser.add_argument("--peer", nargs="+", help="another server over standard input and output")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=500)
    options = parser.parse_args()
    python = [sys.executable, "-P", "-m", "entrez_kit"]
    checkout = Path(options.before[0]) if options.before and Path(options.before[0]).is_dir() else None
    versions = {"before": python if checkout else options.before, "now": options.command}
    versions = {name: command for name, command in versions.items() if command}
    starts = {name: [*command, "serve"] for name, command in versions.items()}
    if options.peer:
        starts["peer"] = options.peer
    columns: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "ENTREZ_KIT_HOME": home, "NCBI_API_KEY": "benchmark"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        own = {name: {**environment, "ENTREZ_KIT_HOME": f"{home}/{name}"} for name in starts}
        if checkout:
            own["before"]["PYTHONPATH"] = str(link_package(checkout, Path(home) / "package"))
        for name, command in versions.items():
            columns[name] = measure_version(command, own[name], options.calls)
        told = GREETING + write_message("tools/list", 1)
        best = {name: [float("inf"), float("inf")] for name in starts}
        for _ in range(options.rounds):
            for name, command in starts.items():
                taken = measure_cpu(command, own[name], told=told, until=2), measure_start(command, own[name])
                best[name] = [min(pair) for pair in zip(best[name], taken, strict=True)]
    for name, (cpu, wall) in best.items():
        columns.setdefault(name, {}).update({"start, CPU s": cpu, "start, s": wall})
    print(f"{'':26}" + "".join(f"{name:>10}" for name in columns) + f"{'tokens':>10}")
    for row in columns["now"]:
        cells = [
            f"{column[row]:10.2f}" if row.startswith("start") else f"{column[row]:10.0f}" if row in column else " " * 10
            for column in columns.values()
        ]
        tokens = f"{columns['now'][row] / 4:10.0f}" if row.endswith("bytes") else ""
        print(f"{row:26}" + "".join(cells) + tokens)


if __name__ == "__main__":
    main()
