"""The official inspector, written in TypeScript, as a second client; only if npx has it in its cache."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from http_server_program import HttpHostFor, make_bearer
from mcp_helpers import make_environment
from npx_programs import run_with_npx

from entrez_kit.sandbox.server import Sandbox

INSPECTOR = ("npx", "--no-install", "@modelcontextprotocol/inspector", "--cli")


def run_inspector(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the inspector that npm has already, or skip."""
    return run_with_npx([*INSPECTOR, *arguments], timeout=90)


def make_flags(environment: dict[str, str]) -> list[str]:
    """Return the flags that pass an environment to the server."""
    wanted = ("ENTREZ_KIT_EUTILS_URL", "ENTREZ_KIT_IDCONV_URL", "HOME", "TMPDIR", "PYTHONPATH")
    return [part for name in wanted if name in environment for part in ("-e", f"{name}={environment[name]}")]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector_lists_searches_and_fetches(sandbox: Sandbox, http_host_for: HttpHostFor, transport: str) -> None:
    script = Path(sys.executable).with_name("entrez-kit")
    if not script.exists():
        pytest.skip("the program is not installed next to Python")
    flags, target = make_flags(make_environment(sandbox)), [str(script), "serve"]
    if transport == "http":
        if "--header" not in run_inspector("--help").stdout:
            pytest.skip("this inspector cannot send a token")
        flags, target = ["--header", f"Authorization: {make_bearer()}", "--transport", "http"], [http_host_for().url]

    def ask(*arguments: str) -> Any:
        done = run_inspector(*target, *arguments, *flags)
        assert done.stdout.strip(), done.stderr
        return json.loads(done.stdout)

    def call(tool: str, *arguments: str) -> Any:
        pairs = [part for argument in arguments for part in ("--tool-arg", argument)]
        return ask("--method", "tools/call", "--tool-name", tool, *pairs)

    listed = ask("--method", "tools/list")["tools"]
    found = call("pubmed_search_articles", "query_term=crispr", "mesh_terms=[]", "max_results=2")
    fetched = call("pubmed_fetch_contents", f"pmids={json.dumps(found['structuredContent']['pmids'])}")
    wrong = call("pubmed_search_articles", "query_term=(")

    assert {"pubmed_search_articles", "pubmed_fetch_contents"} <= {tool["name"] for tool in listed}
    assert len(fetched["structuredContent"]["articles"]) == 2
    assert wrong["isError"] is True
    assert wrong["structuredContent"]["error"]["code"] == "INVALID_INPUT"
