"""Measure the cost of returning cached records: `entrez-kit fetch` as a whole process, in every format. Run by hand:

    ENTREZ_KIT_REAL_DATA=<folder of recorded replies> python tests/benchmarks/records.py

A loopback service answers EFetch with recorded records under the requested PMIDs (without the folder: invented records
of a realistic mix). The first run fills the cache, the others read it. "start" is the same command for one record: the
CPU seconds above it are those of the records. They are compared with lxml building the trees of the same replies and
nothing else. CPU seconds are counted, rounds alternate, and the best one of each counts.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from lxml import etree

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from benchmark_records import HEAD, TAIL, invent_records, read_recorded

FORMATS = ("jsonl", "json", "csv", "ids", "ris", "xml")
AIMS = "jsonl 3,000 records a second, json of 5,000 records in 120 MB"
PMID = re.compile(rb"(<PMID[^>]*>)[0-9]+")
FIRST_PMID = 99_200_001


def main() -> None:
    """Print a table: speed and memory of every format."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--records", type=int, default=5000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--formats", nargs="+", default=FORMATS, choices=FORMATS)
    options = arguments.parse_args()
    real = os.environ.get("ENTREZ_KIT_REAL_DATA")
    records = (read_recorded(Path(real), "*") if real else []) or invent_records()
    with tempfile.TemporaryDirectory() as folder, Service(records) as service:
        bench = Bench(Path(folder), service)
        ids = [str(FIRST_PMID + number) for number in range(options.records)]
        bench.fetch("jsonl", ids[:1])
        bench.fetch("jsonl", ids)
        start = min(bench.fetch("jsonl", ids[:1])[0] for _ in range(options.rounds))
        best = dict.fromkeys(options.formats, (float("inf"), 0.0))
        trees = float("inf")
        for _ in range(options.rounds):
            trees = min(trees, measure_parsing(service, ids))
            for name in options.formats:
                best[name] = min(best[name], bench.fetch(name, ids))
    mean = sum(map(len, records)) / len(records) / 1e3
    print(f"{options.records:,} cached records of {mean:.1f} kB; {start:.2f} CPU s to start; trees alone {trees:.2f} s")
    print("format   CPU s  records/s  over trees  peak MB")
    for name, (seconds, megabytes) in best.items():
        own = seconds - start
        print(f"{name:6} {seconds:7.2f}  {options.records / own:9,.0f}  {own / trees:10.2f}  {megabytes:7.0f}")
    print(f"aims: {AIMS}")


class Service:
    """EFetch over loopback: a context manager."""

    def __init__(self, records: Sequence[bytes]) -> None:
        self._records = records
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(urlsplit(self.path).query)

            def do_POST(self) -> None:
                self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

            def _answer(self, query: str) -> None:
                body = service.reply(parse_qs(query)["id"][0].split(","))
                self.send_response(200)
                self.send_header("Content-Type", "text/xml")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/entrez/eutils"

    def reply(self, ids: Sequence[str]) -> bytes:
        """Return a recorded record under each id."""
        chosen = (self._records[int(uid) % len(self._records)] for uid in ids)
        own = [PMID.sub(rb"\g<1>" + uid.encode(), one, count=1) for uid, one in zip(ids, chosen, strict=True)]
        return HEAD + b"\n".join(own) + b"\n" + TAIL

    def __enter__(self) -> "Service":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class Bench:
    """The program, with separate folders."""

    def __init__(self, folder: Path, service: Service) -> None:
        self._folder = folder
        self._environment = {
            **os.environ,
            "ENTREZ_KIT_EUTILS_URL": service.url,
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_DATA_HOME": str(folder / "data"),
            "NCBI_API_KEY": "benchmark",
        }

    def fetch(self, name: str, ids: Sequence[str]) -> tuple[float, float]:
        """Return CPU seconds and peak memory (MB) of one run."""
        listed = self._folder / "ids.txt"
        listed.write_text("\n".join(ids), encoding="utf-8")
        command = [sys.executable, "-c", RUN, "fetch", "-q", "-i", str(listed), "-f", name, "-o", os.devnull]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        seconds, megabytes = done.stdout.split()[-2:]
        return float(seconds), float(megabytes)


RUN = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).resolve().parents[1] / "support")!r})
from entrez_kit.__main__ import main
try:
    status = main()
except SystemExit as exc:
    status = exc.code
seconds = time.process_time()
from benchmark_records import read_own_peak
print(seconds, read_own_peak() / 1024)
sys.exit(status)
"""
"""Runs the program, and prints its costs before anything else is loaded."""


def measure_parsing(service: Service, ids: Sequence[str]) -> float:
    """Return the CPU seconds that lxml takes for the trees of the replies."""
    replies = [service.reply(ids[start : start + 200]) for start in range(0, len(ids), 200)]
    started = time.process_time()
    for reply in replies:
        etree.fromstring(reply)
    return time.process_time() - started


if __name__ == "__main__":
    main()
