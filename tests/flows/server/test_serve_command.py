"""`entrez-kit serve` as a command: its check, its tokens, its flags."""

import json

import pytest
from command_line import Cli, Program, read_error
from mcp_helpers import SECRET

from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.server.auth import verify_token
from entrez_kit.server.toolsets import DEFAULT_TOOLSETS, SCOPE_NAMES, SCOPES, TOOLSETS


def test_the_check_lists_the_tools_without_a_request_to_ncbi(alone: Cli) -> None:
    done = alone("serve", "--check")
    document = json.loads(done.out)

    assert done.status == 0
    assert done.err == ""
    assert (document["server_name"], document["transport"]) == ("entrez-kit", "stdio")
    assert [tool["name"] for tool in document["tools"]] == [
        operation.name for operation in OPERATIONS if operation.toolset in DEFAULT_TOOLSETS
    ]
    assert document["tools_list_bytes"] < 45_000
    assert {"pubmed-connect://info", "pubmed-connect://stats/pubmed"} <= set(document["resources"])
    assert "literature_review" in document["prompts"]


def test_the_check_is_readable_in_a_terminal(alone: Cli) -> None:
    done = alone("serve", "--check", "-f", "table")

    assert "ready to serve over stdio" in done.out
    assert "Search PubMed" in done.out


def test_the_check_tests_the_requirements_of_http(alone: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = alone("serve", "--check", "--transport", "http", "--port", "0")
    monkeypatch.setenv("MCP_AUTH_SECRET_KEY", SECRET)
    done = alone("serve", "--check", "--transport", "http", "--port", "0")

    assert refused.status == 8
    assert "MCP_AUTH_SECRET_KEY" in refused.err
    assert json.loads(done.out)["url"].startswith("http://127.0.0.1:")


def test_flags_have_precedence_over_the_environment(alone: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_TRANSPORT_TYPE", "http")
    monkeypatch.setenv("MCP_AUTH_SECRET_KEY", SECRET)
    monkeypatch.setenv("MCP_HTTP_PORT", "0")

    assert json.loads(alone("serve", "--check").out)["transport"] == "http"
    assert json.loads(alone("serve", "--check", "--transport", "stdio").out)["transport"] == "stdio"


def test_toolsets_and_names_can_be_selected(alone: Cli) -> None:
    done = alone("serve", "--check", "--toolset", "gene", "--toolset", "pubmed", "--tool-names", "contract")
    names = [tool["name"] for tool in json.loads(done.out)["tools"]]

    assert "searchPubMedArticles" in names
    assert "get_gene" in names


@pytest.mark.parametrize(
    "arguments",
    [
        ("--toolset", "everything"),
        ("--transport", "carrier-pigeon"),
        ("--port", "70000"),
        ("--tool-names", "mine"),
        ("--frobnicate",),
        ("nothing",),
    ],
)
def test_invalid_flags_are_rejected_before_the_server_starts(alone: Cli, arguments: tuple[str, ...]) -> None:
    done = alone("serve", *arguments)

    assert done.status == 2
    assert done.out == ""
    assert json.loads(done.err)["error"]["code"] == "INVALID_INPUT"


# Tokens


def test_a_token_is_printed_alone_for_a_shell(alone: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_AUTH_SECRET_KEY", SECRET)
    done = alone("serve", "token", "--subject", "alice", "--ttl", "2h", "--scope", "gene", "--scope", "pubmed")
    found = verify_token(done.out.strip(), SECRET)

    assert done.status == 0
    assert done.err == ""
    assert done.out.count("\n") == 1
    assert (found.subject, found.scopes) == ("alice", ["entrez-kit:pubmed", "entrez-kit:gene"])


def test_a_token_is_printed_with_its_claims_on_request(alone: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_AUTH_SECRET_KEY", SECRET)
    document = json.loads(alone("serve", "token", "--subject", "alice", "--json").out)

    assert set(document) == {"token", "subject", "scopes", "expires_at"}
    assert "entrez-kit:corpus.write" not in document["scopes"]
    assert len(document["scopes"]) == len(TOOLSETS)
    assert document["expires_at"].endswith("Z")


@pytest.mark.parametrize(
    ("arguments", "secret", "status"),
    [
        (("--subject", "a"), "", 8),
        (("--subject", "a"), "tooshort", 8),
        ((), SECRET, 2),
        (("--subject", " "), SECRET, 2),
        (("--subject", "a", "--ttl", "forever"), SECRET, 2),
        (("--subject", "a", "--scope", "root"), SECRET, 2),
    ],
)
def test_a_token_with_invalid_options_is_not_issued(
    alone: Cli, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], secret: str, status: int
) -> None:
    monkeypatch.setenv("MCP_AUTH_SECRET_KEY", secret)
    done = alone("serve", "token", *arguments)

    assert done.status == status
    assert done.out == ""
    assert not secret or secret not in done.err


def test_help_lists_every_toolset_and_every_scope(alone: Cli) -> None:
    page = " ".join(alone("serve", "--help").out.replace("│", " ").split())
    scopes = " ".join(alone("serve", "token", "--help").out.replace("│", " ").split())

    assert f"Toolsets to list: {', '.join(TOOLSETS)}." in page
    assert f"Scope: {', '.join(SCOPE_NAMES)}." in scopes


def test_an_unknown_scope_is_answered_with_the_names_that_a_user_types(
    alone: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_AUTH_SECRET_KEY", SECRET)
    message = read_error(alone("serve", "token", "--subject", "a", "--scope", "root"))["message"]

    names = message.partition("one of: ")[2].partition(" (got")[0].split(", ")
    assert names == list(SCOPE_NAMES)
    issued = json.loads(alone("serve", "token", "--subject", "a", "--scope", ",".join(names), "--json").out)
    assert issued["scopes"] == list(SCOPES)


@pytest.mark.process
def test_help_describes_both_without_importing_the_server(program: Program) -> None:
    done = program("serve", "--help")

    assert done.status == 0
    assert "--transport" in done.out
    assert "token" in done.out
    assert "--subject" in program("serve", "token", "--help").out
