"""Call every tool with the client libraries of others, validly and invalidly, over stdio and HTTP, in both versions.

    python tests/process/server/clients.py [FOLDER] [CLIENT ...]

Each client is installed into its own folder below FOLDER (by default a temporary one; a second run in the same folder
installs nothing), by pip or npm. A client that cannot be installed is reported. Only the sandbox gets requests. A valid
call succeeds if the client returns the document. An invalid one succeeds if the client returns the code and the hint of
the error, or rejects the call itself because of a missing argument. The exit status is 1 if a call did not succeed.

It is not part of `.ci/run` because it installs packages of others.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

SUPPORT: Final = Path(__file__).parents[2] / "support"
sys.path.insert(0, str(SUPPORT))

from example_calls import CORPUS, EXAMPLES  # noqa: E402
from http_server_program import ALL_SCOPES, HttpHost, make_bearer  # noqa: E402
from mcp_helpers import SECRET, make_command, make_environment  # noqa: E402

from entrez_kit.base.settings import load_settings  # noqa: E402
from entrez_kit.python.catalogue import OPERATIONS  # noqa: E402
from entrez_kit.sandbox.server import Sandbox  # noqa: E402
from entrez_kit.server.clients import ServerServices  # noqa: E402
from entrez_kit.server.tools import Toolbox  # noqa: E402
from entrez_kit.server.toolsets import DEFAULT_TOOLSETS  # noqa: E402

Json = dict[str, Any]
CLIENTS: Final = {
    "mcp1": ("mcp<2", ("legacy",)),
    "mcp2": ("mcp>=2.3,<3", ("legacy", "modern")),
    "fastmcp": ("fastmcp>=4", ("legacy", "modern")),
    "langchain": ("langchain-mcp-adapters", ("legacy",)),
    "openai_agents": ("openai-agents", ("legacy",)),
    "pydantic_ai": ("pydantic-ai-slim[mcp]>=2", ("legacy", "modern")),
    "llama_index": ("llama-index-tools-mcp", ("legacy",)),
    "typescript1": ("@modelcontextprotocol/sdk@1", ("legacy",)),
    "typescript2": ("@modelcontextprotocol/client@2", ("legacy", "modern")),
}
"""The package and protocol versions of each client: with a handshake (to 2025-11-25), without (from 2026-07-28)."""
BAD: Final[tuple[tuple[str, Json], ...]] = (
    ("no_such_tool", {}),
    ("pubmed_search_articles", {}),
    ("pubmed_search_articles", {"query_term": "("}),
    ("pubmed_search_articles", {"query_term": "crispr", "no_such_argument": 1}),
    ("pubmed_search_articles", {"query_term": "crispr", "max_results": 100_000}),
    ("pubmed_search_articles", {"query_term": "crispr", "max_results": -1}),
    ("pubmed_search_articles", {"query_term": "crispr", "max_results": "many"}),
    ("pubmed_search_articles", {"query_term": "crispr", "sort_by": "colour"}),
    ("pubmed_search_articles", {"query_term": "crispr", "date_range": {"min_date": "yesterday"}}),
    ("pubmed_fetch_contents", {}),
    ("pubmed_fetch_contents", {"pmids": [True]}),
    ("pubmed_fetch_contents", {"pmids": [str(number) for number in range(1, 502)]}),
    ("pubmed_fetch_contents", {"query_key": "1", "web_env": "NCID_1_gone"}),
    ("pubmed_fetch_fulltext", {}),
    ("pubmed_article_relationships", {"source_pmid": "1"}),
    ("pubmed_format_citations", {"pmids": ["99000001"], "styles": ["no such style"]}),
    ("pubmed_convert_ids", {"ids": []}),
    ("europepmc_search", {"query": ""}),
    ("pubmed_lookup_mesh", {}),
    ("search_genes", {"query": "TP53", "organism": "a unicorn"}),
    ("get_gene", {"gene": "TP53"}),
    ("get_gene", {"entrez_id": "NCBIGene:999999999"}),
    ("rag_get", {"query_key": "c", "doc_id": "pmid:1"}),
)


@dataclass(frozen=True, slots=True)
class Call:
    """A call, and its expected result: members of a document, or the beginning of its text, or the code of an error."""

    tool: str
    arguments: Json
    members: frozenset[str]
    text: str
    code: str | None

    def is_delivered(self, said: list[Any]) -> bool:
        """Return whether a client returned the answer of the server."""
        failed, text = said
        if self.code is not None:
            return (self.code in text and "recovery_hint" in text) or "missing required parameters" in text
        try:
            document, _ = json.JSONDecoder().raw_decode(text[max(text.find("{"), 0) :])
        except ValueError:
            document = ()
        return not failed and (self.members <= set(document) or self.text in text)


def make_expected(environment: dict[str, str], home: Path) -> list[Call]:
    """Make every call in this process; return them with their results."""
    settings = load_settings({"home": home}, environ=environment)
    listed = [operation for operation in OPERATIONS if operation.toolset in DEFAULT_TOOLSETS]
    good = [("pubmed_sync_delta", CORPUS)]
    good += [(operation.name, arguments) for operation in listed for _, arguments in EXAMPLES[operation.name]]
    calls = []
    with ServerServices(settings) as services:
        toolbox = Toolbox(OPERATIONS)
        for tool, arguments in (*good, *BAD):
            result = toolbox.call(services, tool, arguments)
            document = result.structured_content
            (first, *_) = result.content
            assert document is not None
            assert first.type == "text"
            code = document["error"]["code"] if result.is_error else None
            calls.append(Call(tool, arguments, frozenset(document), first.text[:60], code))
    assert all(call.code for call in calls[-len(BAD) :]), [call for call in calls[-len(BAD) :] if not call.code]
    return calls


def install(folder: Path, client: str, package: str) -> list[str] | None:
    """Install a client if necessary; return the command that runs its driver, or None if that fails."""
    place, here = folder / client, Path(__file__).parent
    if client.startswith("typescript"):
        steps = [["npm", "install", "--no-audit", "--no-fund", "--prefix", str(place), *package.split()]]
        run = ["node", str(here / "clients_driver.mjs")]
    else:
        python = str(place / "bin" / "python")
        steps = [
            [sys.executable, "-m", "venv", str(place)],
            [python, "-m", "pip", "install", "--quiet", *package.split()],
        ]
        run = [python, str(here / "clients_driver.py")]
    if not (place / "whole").exists():
        place.mkdir(parents=True, exist_ok=True)
        for step in steps:
            try:
                subprocess.run(step, check=True, capture_output=True, timeout=600)
            except (OSError, subprocess.SubprocessError):
                return None
        (place / "whole").touch()
    return run


def run_driver(command: list[str], place: Path, given: Json) -> list[list[Any] | None]:
    """Run the calls with a driver; return the client's result of each, and nothing if it could not connect."""
    try:
        done = subprocess.run(
            command, cwd=place, input=json.dumps(given), capture_output=True, text=True, timeout=600, check=False
        )
        said: list[list[Any] | None] = json.loads(done.stdout.strip().rpartition("\n")[2])
    except (subprocess.TimeoutExpired, ValueError):
        return []
    return said


def list_rows(folder: Path, wanted: list[str]) -> Iterator[tuple[str, bool]]:
    """Yield the lines of the table, and whether all calls succeeded."""
    yield f"{'client':14} {'era':7} {'by':6} {'good':>7} {'bad':>7}", True
    with Sandbox(enforce_limits=False) as sandbox, tempfile.TemporaryDirectory() as home:
        environment = make_environment(sandbox, MCP_AUTH_SECRET_KEY=SECRET, ENTREZ_KIT_HOME=str(Path(home) / "served"))
        calls = make_expected(environment, Path(home) / "expected")
        host = HttpHost(environment).ready()
        try:
            for client in wanted:
                package, eras = CLIENTS[client]
                command = install(folder, client, package)
                if command is None:
                    yield f"{client:14} cannot be installed", True
                    continue
                for era in eras:
                    for by in ("stdio", "http"):
                        yield _write_row(command, folder / client, client, era, by, calls, host.url, environment)
        finally:
            host.close()


def _write_row(
    command: list[str], place: Path, client: str, era: str, by: str, calls: list[Call], url: str, environment: Json
) -> tuple[str, bool]:
    given: Json = {"client": client, "mode": "legacy" if era == "legacy" else "auto"}
    given["calls"] = [(call.tool, call.arguments) for call in calls]
    if by == "http":
        given |= {"url": url, "headers": {"Authorization": make_bearer(scope=f"{ALL_SCOPES} entrez-kit:corpus.write")}}
    else:
        given |= {"command": make_command("serve"), "env": environment}
    said = run_driver(command, place, given)
    if not said:
        return f"{client:14} {era:7} {by:6} did not connect", False
    reported, lost = {"good": [0, 0], "bad": [0, 0]}, []
    for call, answer in zip(calls, said, strict=True):
        if answer is None:  # the client cannot call it
            continue
        kind = reported["bad" if call.code else "good"]
        kind[1] += 1
        if call.is_delivered(answer):
            kind[0] += 1
        else:
            lost.append(f"  {call.tool} {json.dumps(call.arguments)[:80]}: {answer[1][:160]!r}")
    figures = " ".join(f"{f'{good}/{of}':>7}" for good, of in reported.values())
    return "\n".join([f"{client:14} {era:7} {by:6} {figures}", *lost]), not lost


def main() -> int:
    """Print the table."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()).absolute()
    os.environ.setdefault("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    whole = True
    for line, delivered in list_rows(folder, sys.argv[2:] or list(CLIENTS)):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        whole = whole and delivered
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
