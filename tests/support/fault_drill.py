"""Every command under every fault of the services it calls, compared with its answer without faults.

``python tests/support/fault_drill.py [--command WORDS] [--fault NAME] [--endpoint NAME] [--contradictions]`` runs all
cases, or a part, and prints the problems; the tests run a part that includes each command and each fault.
"""

import argparse
import io
import json
import os
import random
import re
import shlex
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from fault_proxy import CONTRADICTIONS, FAULTS, SLOW, FaultProxy

from entrez_kit.commands import _app

BIB: Final = """@article{one, title = {Base editing of a cryptic splice site restores mucus transport in human airway
cells}, author = {Marrowby, T. J.}, journal = {Ann Imaginary Genome Ed (Demo)}, year = {2019}, pmid = {99000001}}
@article{two, title = {Nothing that anybody ever wrote about}, author = {Nobody, A.}, year = {2011}, journal = {None}}
"""

COMMANDS: Final[tuple[str, ...]] = (
    "search crispr -n 5 --json",
    "search crispr -n 5 --summaries 5 --json",
    "search crispr --history --json",
    "search crisper -n 5 --json",
    "search crispr --species humans --type Review --json",
    "search crispr --all --json",
    "search crispr -f ids",
    "fetch 99000001 99000004 99000050 --json",
    "fetch 99000001 PMC99000002 10.5555/ekit.2024.0004 --json",
    "fetch 99000001 99000050 --detail full_xml --json",
    "fetch 99000001 99000050 --detail medline_text --json",
    "fetch 99000001 99000050 -f xml",
    "fetch 99000001 99000050 -f nbib",
    "fetch 99000001 99000050 -f jsonl",
    "show 99000050 -f md",
    "related 99000004 --json",
    "related 99000004 --type references --json",
    "related 99000004 --type citedin --json",
    "cite 99000001 99000050 --style apa --json",
    "cite 99000001 99000035 -f ris",
    "fulltext PMC99000001 --json",
    "fulltext 99000001 --json",
    "fulltext 10.5555/ekit.2019.0050 --json",
    "match --title 'Base editing of a cryptic splice site restores mucus transport in human airway cells' --json",
    "match --journal 'Ann Imaginary Genome Ed (Demo)' --year 2019 --volume 3 --page 101 --json",
    "check {bib} --json",
    "convert 99000001 PMC99000002 --json",
    "europepmc crispr --json",
    "mesh 'heart attack' --json",
    "spell crisper --json",
    "gene search TP53 --organism human --json",
    "gene get NCBIGene:7157 --json",
    "gene pubmed NCBIGene:7157 --limit 5 --json",
    "db info --json",
    "db info pubmed --json",
    "db search mesh diabetes --json",
    "db summary gene 7157 672 --json",
    "db fetch nuccore ZZ900001.1 --rettype fasta --json",
    "db fetch nuccore ZZ900001.1 ZZ900002.2 --rettype gb --retmode xml --json",
    "db fetch nuccore ZZ900001.1 ZZ900002.2 --rettype acc --retmode text --json",
    "db fetch taxonomy 9606 10090 --retmode xml --json",
    "db fetch gene 7157 672 --retmode xml --json",
    "db link 7157 672 --from gene --to pubmed --json",
    "corpus sync drill crispr --json",
)
AFTERWARDS: Final = {"corpus sync drill crispr --json": "corpus export drill -f jsonl"}
"""Commands whose documents list changes only; these commands are compared instead."""
FINAL: Final = frozenset(
    (
        *(f"status {status}" for status in (401, 403, 404, 405, 410, 418, 451, 501)),
        *("404 in json", "414", "301 to itself", "302 nowhere", "302 elsewhere", "302 to a page"),
    )
)
"""Answers that no call requests again: one of them may end a call with an error."""
PARTIAL: Final = frozenset((("europepmc search", "one fewer"),))
"""Endpoints and faults after which a partial result is allowed: pages of Europe PMC may be short."""
UNDETECTABLE: Final = frozenset(
    (
        ("einfo", "one fewer"),
        *((source, fault) for source in ("crossref", "openalex") for fault in ("status 404", "404 in json")),
    )
)
"""Endpoints and faults that no program can detect.

EInfo does not say how many links a database has. Crossref and OpenAlex answer a request for a work that they do not
have with status 404, so `check` says ``not_held``.
"""
FAILED: Final = frozenset(("UPSTREAM_ERROR", "RATE_LIMITED", "UPSTREAM", "ENTREZ", "RATE_LIMIT"))
"""Codes that report a failed service."""

STORE_FAILED: Final = 9
"""The status of a run that refuses the stored data."""


@contextmanager
def _set_clock_ahead(home: Path) -> Iterator[None]:
    """Put the clock of the program, and that of requests-cache, three years forward."""
    now, ahead = time.time, 3 * 365 * 24 * 3600

    def moment() -> datetime:
        return datetime.fromtimestamp(now() + ahead, UTC)

    with ExitStack() as stack:
        stack.enter_context(patch("time.time", lambda: now() + ahead))
        for name in ("policy.actions", "policy.expiration", "models.response"):
            stack.enter_context(patch(f"requests_cache.{name}.utcnow", moment))
        defaults = import_module("entrez_kit.corpus.store.store").Store.__init__.__kwdefaults__
        stack.enter_context(patch.dict(defaults, clock=moment))
        yield


@contextmanager
def _flip_bits(home: Path) -> Iterator[None]:
    """Flip bits of the files that hold replies and records."""
    yield
    chance = random.Random(3)
    for file in sorted((home / "kit").rglob("*")):
        if file.suffix in (".sqlite", ".db"):
            with suppress(sqlite3.Error), closing(sqlite3.connect(file)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            content = bytearray(file.read_bytes())
            for _ in range(20):
                content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
            file.write_bytes(content)


STORED: Final[Mapping[str, Callable[[Path], AbstractContextManager[None]]]] = {
    "clock ahead": _set_clock_ahead,
    "bits flipped": _flip_bits,
}
"""Possible defects of the data that an earlier run stored."""

DEADLINE: Final = 1.5
"""Seconds that an exchange may take under a slow fault, with all attempts."""
HASTE: Final = {
    "NCBI_TIMEOUT_MS": "500",
    "NCBI_TOTAL_DEADLINE_MS": str(int(1000 * DEADLINE)),
    "EUROPEPMC_TIMEOUT_MS": "500",
    "UNPAYWALL_TIMEOUT_MS": "500",
}
ENVIRONMENT: Final = {
    "NCBI_MAX_RETRIES": "3",
    "EUROPEPMC_MAX_RETRIES": "2",
    "UNPAYWALL_EMAIL": "reader@entrez-kit.invalid",
}


@dataclass(frozen=True)
class RunResult:
    """The result of one run of the program."""

    status: int
    out: bytes
    err: str
    seconds: float

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The envelopes on stderr."""
        lines = [line for line in self.err.splitlines() if line.startswith("{")]
        return [document.get("error", document) for document in map(json.loads, lines)]


@dataclass
class Verdict:
    """The result of one case of the drill: the problems found; empty if there is no problem."""

    command: str
    endpoint: str
    fault: str
    wrong: list[str] = field(default_factory=list)

    @property
    def is_silent(self) -> bool:
        """Whether a run ended with status 0, a wrong answer, and no warning."""
        return any("status 0:" in word or "another answer" in word for word in self.wrong)

    def __str__(self) -> str:
        return f"[{self.fault} at {self.endpoint}] {self.command}: {'; '.join(self.wrong) or 'well'}"


class Drill:
    """The program in this process, a sandbox, and the proxy between them."""

    def __init__(self, sandbox_url: str, folder: Path) -> None:
        self.proxy = FaultProxy(sandbox_url)
        self._folder = folder
        self._homes = 0
        self._bib = folder / "drill.bib"
        self._bib.write_text(BIB, encoding="utf-8")
        self._clean: dict[str, tuple[RunResult, list[str]]] = {}
        self._down: dict[tuple[str, str], RunResult] = {}

    def endpoints(self, command: str) -> list[str]:
        """Return the endpoints that a command requests without faults."""
        return self._well(command)[1]

    def _well(self, command: str) -> tuple[RunResult, list[str]]:
        if command not in self._clean:
            self.proxy.heal()
            self.proxy.asked.clear()
            home = self._home()
            ended = self._final(command, home, self._run(command, home))
            self._clean[command] = (ended, list(dict.fromkeys(self.proxy.asked)))
        return self._clean[command]

    def judge(self, command: str, endpoint: str, fault: str) -> Verdict:
        """Run a command under a permanent fault and again without it; then under a temporary fault."""
        verdict = Verdict(command, endpoint, fault)
        clean, requested = self._well(command)
        home = self._home()
        self.proxy.asked.clear()
        self.proxy.strike(endpoint, fault, -1)
        ended = self._run(command, home, HASTE if fault in SLOW else {})
        exchanges = len(set(self.proxy.asked)) + 2
        self.proxy.heal()
        if (endpoint, fault) in UNDETECTABLE and ended.status == clean.status:
            return verdict
        verdict.wrong += self._judge_failing(command, home, ended, clean, endpoint)
        if fault in SLOW and ended.seconds > (DEADLINE + 1) * exchanges:
            verdict.wrong.append(f"took {ended.seconds:.1f} s")
        again = self._final(command, home, self._run(command, home))
        verdict.wrong += [f"once well: {word}" for word in self._differences(again, clean)]
        if fault not in SLOW and endpoint in requested:
            home = self._home()
            self.proxy.strike(endpoint, fault, 1)
            passed = self._run(command, home)
            self.proxy.heal()
            if fault in FINAL or (endpoint, fault) in PARTIAL:
                words = self._judge_failing(command, home, passed, clean, endpoint)
            else:
                words = self._differences(self._final(command, home, passed), clean)
            verdict.wrong += [f"after one fault: {word}" for word in words]
        return verdict

    def judge_all(self, command: str, faults: Sequence[str] = tuple(FAULTS)) -> list[Verdict]:
        """Run a command under these faults at each endpoint it requests, and with each fault of stored data."""
        verdicts = [self.judge(command, endpoint, fault) for endpoint in self.endpoints(command) for fault in faults]
        return verdicts + [self.judge_stored(command, fault) for fault in STORED]

    def judge_stored(self, command: str, fault: str) -> Verdict:
        """Run a command, damage its stored data or the clock that it used, and run it again."""
        verdict = Verdict(command, "what is stored", fault)
        clean, _ = self._well(command)
        home = self._home()
        with STORED[fault](home):
            self._run(command, home)
        again = self._run(command, home)
        if "Traceback" in again.err or again.status == 1:
            verdict.wrong.append(f"a defect: status {again.status}, {again.err[-300:]}")
        final = self._final(command, home, again)
        if STORE_FAILED not in (again.status, final.status):
            verdict.wrong += self._differences(final, clean)
        return verdict

    def _without(self, command: str, endpoint: str) -> RunResult:
        """Return the result of a command while one endpoint is down."""
        key = (command, endpoint)
        if key not in self._down:
            self.proxy.strike(endpoint, "status 503", -1)
            self._down[key] = self._run(command, self._home())
            self.proxy.heal()
        return self._down[key]

    def _judge_failing(
        self, command: str, home: Path, ended: RunResult, clean: RunResult, endpoint: str
    ) -> Iterator[str]:
        if "Traceback" in ended.err or ended.status == 1:
            yield f"a defect: status {ended.status}, {ended.err[-300:]}"
        final = self._final(command, home, ended)
        same = not list(self._differences(final, clean))
        if same or ended.status in (5, 7):
            if not same and not any(error["code"] in FAILED for error in ended.errors):
                yield f"status {ended.status} without its envelope: {_read_words(ended)}"
            return
        if command.startswith("fulltext") and not list(self._differences(ended, self._without(command, endpoint))):
            return  # the next source has it, too
        if ended.status == 4:
            if command.startswith("check") and _count_unchecked(ended) > _count_unchecked(clean):
                return
            if not any(error["details"].get("missing") or error["details"].get("partial") for error in ended.errors):
                yield f"status 4 does not say what is missing: {_read_words(ended)}"
            return
        if ended.status == 0 and _list_warnings(ended) - _list_warnings(clean):
            return
        yield f"status {ended.status}: {_read_words(ended)}"

    def _differences(self, ended: RunResult, clean: RunResult) -> Iterator[str]:
        if ended.status != clean.status:
            yield f"status {ended.status} in place of {clean.status}: {_read_words(ended)}"
        elif _remove_unstable(ended.out) != _remove_unstable(clean.out):
            yield f"another answer: {_describe_difference(_remove_unstable(ended.out), _remove_unstable(clean.out))}"

    def _final(self, command: str, home: Path, ended: RunResult) -> RunResult:
        return self._run(AFTERWARDS[command], home) if command in AFTERWARDS and ended.status == 0 else ended

    def _home(self) -> Path:
        self._homes += 1
        home = self._folder / f"home{self._homes}"
        home.mkdir()
        return home

    def _run(self, command: str, home: Path, haste: Mapping[str, str] | None = None) -> RunResult:
        words = shlex.split(command.replace("{bib}", str(self._bib)))
        url = self.proxy.url
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("NCBI_", "ENTREZ_KIT_"))},
            **ENVIRONMENT,
            **(haste or {}),
            "HOME": str(home),
            "ENTREZ_KIT_HOME": str(home / "kit"),
            "ENTREZ_KIT_EUTILS_URL": f"{url}/entrez/eutils",
            "ENTREZ_KIT_IDCONV_URL": f"{url}/idconv",
            "ENTREZ_KIT_EUROPEPMC_URL": f"{url}/europepmc",
            "ENTREZ_KIT_PMC_OA_URL": f"{url}/pmc-oa",
            "ENTREZ_KIT_UNPAYWALL_URL": f"{url}/unpaywall",
            "ENTREZ_KIT_CROSSREF_URL": f"{url}/crossref",
            "ENTREZ_KIT_OPENALEX_URL": f"{url}/openalex",
        }
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
        main: Callable[[list[str]], int] = _app.main
        started = time.monotonic()
        streams = {"stdin": io.TextIOWrapper(io.BytesIO(), "utf-8"), "stdout": out, "stderr": err}
        with ExitStack() as stack:
            stack.enter_context(patch.dict(os.environ, environment, clear=True))
            for name, stream in streams.items():
                stack.enter_context(patch.object(sys, name, stream))
            status = int(main(words))
            out.flush()
            err.flush()
        seconds = time.monotonic() - started
        printed = (out.buffer.getvalue(), err.buffer.getvalue().decode())
        return RunResult(status, printed[0], printed[1], seconds)


_RUN_TO_RUN: Final = re.compile(
    rb'"searched_at": ?"[^"]*"|'
    rb'"http://127\.0\.0\.1:\d+/[^"]*",?\s*|127\.0\.0\.1:\d+|"web_env": ?"[^"]*"|MCID_\w+|"generated": ?"[^"]*"'
    rb'|>(?:\\n| )*<|(?<="content": ")(?:\\n)+|(?:\\n)+(?="\n)'
)
"""The text that differs between correct runs: times, addresses, and white space around records."""


def _read_words(ended: RunResult) -> str:
    said = [f"{error['code']} {error['message'][:100]}" for error in ended.errors]
    return "; ".join(said) or f"{ended.out[:80]!r} {ended.err[-80:]!r}"


def _count_unchecked(ended: RunResult) -> int:
    """Return how many references were not checked, and how many sources did not answer for one."""
    documents = list(_read_documents(ended.out))
    rows = [row for document in documents for row in document["references"]]
    failed = len([said for row in rows for said in row.get("sources", ()) if said["says"] == "failed"])
    return failed + sum(int(document["counts"]["unchecked"]) for document in documents)


def _list_warnings(ended: RunResult) -> set[str]:
    """Return what a run warned of, in its document or on stderr."""
    return {*ended.err.splitlines(), *(json.dumps(found) for found in _has_warned(list(_read_documents(ended.out))))}


def _read_documents(out: bytes) -> Iterator[Any]:
    for text in [out] if out.startswith(b"{\n") else out.splitlines():
        with suppress(ValueError):
            yield json.loads(text)


def _has_warned(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _has_warned(item)
    elif isinstance(value, dict):
        yield from value.get("warnings") or []
        for item in value.values():
            yield from _has_warned(item)


def _remove_unstable(out: bytes) -> bytes:
    return _RUN_TO_RUN.sub(b"", out)


def _describe_difference(one: bytes, other: bytes) -> str:
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return f"{one[max(0, at - 20) : at + 30]!r} in place of {other[max(0, at - 20) : at + 30]!r}"


@contextmanager
def run_drill(folder: Path) -> Iterator[Drill]:
    """Run a sandbox and the proxy before it; nothing waits for a slot or to retry."""
    from entrez_kit.sandbox.server import Sandbox

    with (
        Sandbox(enforce_limits=False) as sandbox,
        patch("entrez_kit.services.transport.limiter.RateLimiter.acquire", lambda self, deadline=None: None),
        patch("entrez_kit.services.transport.retry.Backoff.compute_wait", lambda self, failures, asked: 0.001),
        patch("entrez_kit.core.batches.PROBE_WAITS", (0.0, 0.0, 0.0)),
    ):
        drill = Drill(sandbox.url, folder)
        try:
            yield drill
        finally:
            drill.proxy.close()


def main() -> int:
    """Run the drill and print the cases with problems."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("command", "fault", "endpoint"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--contradictions", action="store_true", help="only well-formed replies that are wrong")
    chosen = parser.parse_args()
    faults = CONTRADICTIONS if chosen.contradictions else tuple(FAULTS)
    done = bad = silent = 0
    with tempfile.TemporaryDirectory() as folder, run_drill(Path(folder)) as drill:
        for command in COMMANDS:
            if chosen.command not in command:
                continue
            for endpoint in drill.endpoints(command):
                for fault in faults:
                    if chosen.fault in fault and chosen.endpoint in endpoint:
                        verdict = drill.judge(command, endpoint, fault)
                        done += 1
                        bad += bool(verdict.wrong)
                        silent += verdict.is_silent
                        if verdict.wrong:
                            print(verdict, flush=True)
            for fault in STORED:
                if chosen.fault in fault and not chosen.endpoint:
                    verdict = drill.judge_stored(command, fault)
                    done += 1
                    bad += bool(verdict.wrong)
                    silent += verdict.is_silent
                    if verdict.wrong:
                        print(verdict, flush=True)
    print(f"{done} cases, {bad} not well, of these {silent} with status 0 and a wrong answer")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
