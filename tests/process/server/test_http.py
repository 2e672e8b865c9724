"""The real program over HTTP: sequences of calls in every version, refusals, sessions, and quick ends."""

import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import anyio
import jwt
import pytest
from command_line import Cli, read_error
from http_server_program import (
    MODERN,
    HttpHost,
    HttpHostFor,
    make_bearer,
    make_claims,
    make_modern_request,
)
from mcp_helpers import (
    ERAS,
    NO_MESSAGES,
    QUICK,
    SECRET,
    Json,
    ServicesFor,
    SilentService,
    make_command,
    make_environment,
    read_structured,
    read_tool_error,
)

from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.sandbox.server import Sandbox


def send_request(host: HttpHost, method: str, params: Json | None = None, **headers: str | None) -> Any:
    body, own = make_modern_request(method, params)
    sent: dict[str, Any] = {**own, **headers}
    return host.request(body=body, **sent)


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    },
}


# Sequences of calls


@pytest.mark.anyio
async def test_search_and_fetch_with_the_sdks_client_in_every_version(demo_host: HttpHost, era: str) -> None:
    async with demo_host.connect(era) as client:
        await client.list_tools()
        found = read_structured(await client.call_tool("pubmed_search_articles", {"query_term": "crispr"}))
        fetched = read_structured(await client.call_tool("pubmed_fetch_contents", {"pmids": found["pmids"][:2]}))
        wrong = read_tool_error(await client.call_tool("pubmed_fetch_contents", {"pmids": [True]}))

    assert [article["pmid"] for article in fetched["articles"]] == found["pmids"][:2]
    assert wrong["code"] == "INVALID_INPUT"


@pytest.mark.anyio
async def test_the_sdks_client_goes_from_a_symbol_to_articles_in_every_version(demo_host: HttpHost, era: str) -> None:
    async with demo_host.connect(era) as client:
        await client.list_tools()
        page = read_structured(await client.call_tool("search_genes", {"query": "TP53", "organism": "human"}))
        gene = read_structured(await client.call_tool("get_gene", {"entrez_id": page["items"][0]["id"]}))
        links = read_structured(await client.call_tool("get_pubmed_links", {"entrez_id": gene["id"], "limit": 3}))

    assert page["pagination"]["cursor"] is None
    assert gene["symbol"] == "TP53"
    assert links["pmids"]


@pytest.mark.anyio
async def test_progress_reaches_the_client_in_every_version(http_host_for: HttpHostFor) -> None:
    async def record_call(host: HttpHost, era: str) -> list[float]:
        seen: list[float] = []

        async def record_progress(progress: float, total: float | None, message: str | None) -> None:
            seen.append(progress)

        async with host.connect(era) as client:
            found = read_structured(
                await client.call_tool("pubmed_search_articles", {"query_term": "all[sb]", "use_history": True})
            )
            arguments = {"query_key": found["query_key"], "web_env": found["web_env"], "retmax": 600}
            arguments["detail_level"] = "citation_data"  # the SDK's client accepts at most a megabyte
            await client.call_tool("pubmed_fetch_contents", arguments, progress_callback=record_progress)
        return seen

    with Sandbox(records=600, enforce_limits=False) as sandbox:
        host = http_host_for(at=sandbox)
        for era in ERAS:
            seen = await record_call(host, era)
            assert seen[0] == 0
            assert seen == sorted(set(seen))
            assert len(seen) > 1


@pytest.mark.anyio
async def test_a_client_that_disconnects_stops_its_call(http_host_for: HttpHostFor) -> None:
    with Sandbox(records=1_000, latency_ms=400, enforce_limits=False) as sandbox:
        host = http_host_for("--no-cache", at=sandbox)
        for era in ERAS:
            await hang_up(host, sandbox, era)


async def hang_up(host: HttpHost, sandbox: Sandbox, era: str) -> None:
    """Call for five pages of records, disconnect after the first request, and check that the rest is not requested."""
    before = sandbox.requests("efetch")
    async with host.connect(era) as client:
        found = read_structured(
            await client.call_tool("pubmed_search_articles", {"query_term": "all[sb]", "use_history": True})
        )
        arguments = {"query_key": found["query_key"], "web_env": found["web_env"], "retmax": 1_000}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "pubmed_fetch_contents", arguments)
            with anyio.fail_after(10):
                while sandbox.requests("efetch") <= before:
                    await anyio.sleep(0.02)
            tasks.cancel_scope.cancel()
        await anyio.sleep(2.0)
        assert sandbox.requests("efetch") - before <= 3, "of five requests"
        assert not (await client.call_tool("pubmed_search_articles", {"query_term": "all[sb]"})).is_error


# Interrupted streams


def make_call(session: str, number: int, era: str = "2025-11-25") -> tuple[Json, dict[str, str]]:
    """Return the body and the headers of a call in a session."""
    params = {"name": "pubmed_search_articles", "arguments": {"query_term": f"crispr {number}"}}
    body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return body, {"Mcp_Session_Id": session, "Mcp_Protocol_Version": era}


def parse_events(text: str) -> list[Json]:
    """Return the events of a stream."""
    blocks = [block for block in re.split(r"\r?\n\r?\n", text) if block.strip() and not block.startswith(":")]
    return [dict(line.split(": ", 1) for line in block.splitlines() if ": " in line) for block in blocks]


def begin_call(host: HttpHost, session: str, number: int) -> str:
    """Begin a call, disconnect after the first event, and return its id."""
    body, headers = make_call(session, number)
    parts, data = urlsplit(host.url), json.dumps(body).encode()
    named = {"Host": parts.netloc, "Authorization": make_bearer(), "Accept": "application/json, text/event-stream"}
    named |= {"Content-Type": "application/json", "Content-Length": str(len(data))}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    with socket.create_connection((parts.hostname, parts.port), timeout=15) as connection:
        connection.sendall(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + data)
        received = b""
        while not (found := re.search(rb"\nid: (\S+)\r\n", received)):
            received += connection.recv(4096)
        assert b'"result"' not in received
    return found[1].decode()


def test_an_answer_of_an_interrupted_stream_can_be_requested_again(http_host_for: HttpHostFor) -> None:
    with Sandbox(latency_ms=700, enforce_limits=False) as sandbox:
        host = http_host_for(at=sandbox)
        mine, other = (host.request(body=INITIALIZE).headers["mcp-session-id"] for _ in range(2))
        event = begin_call(host, mine, 7)
        theirs = begin_call(host, other, 7)
        resumed = {"Last_Event_Id": event, "Mcp_Protocol_Version": "2025-11-25"}
        foreign = host.request("GET", Mcp_Session_Id=mine, **{**resumed, "Last_Event_Id": theirs})
        reply = host.request("GET", Mcp_Session_Id=mine, **resumed) if foreign.status == 200 else foreign
        last = parse_events(reply.body.decode())[-1]
        after = host.request("GET", Mcp_Session_Id=mine, **{**resumed, "Last_Event_Id": last["id"]})

    assert foreign.body == b"", "an event of another session"
    assert json.loads(last["data"])["id"] == 7
    structured = json.loads(last["data"])["result"]
    assert structured["_meta"]["request"]["search_parameters"]["query_term"] == "crispr 7"
    assert after.body == b"", "nothing comes after the answer"


@pytest.mark.parametrize(("era", "primed"), [("2025-03-26", False), ("2025-11-25", True)])
def test_a_stream_begins_with_an_id_and_a_retry_time(http_host: HttpHost, era: str, primed: bool) -> None:
    greeting = {**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": era}}  # type: ignore[dict-item]
    opened = http_host.request(body=greeting)
    body, headers = make_call(opened.headers["mcp-session-id"], 7, era)
    for reply in (opened, http_host.request(body=body, **headers)):
        first, *_, last = parse_events(reply.body.decode()) * 2
        assert ("retry" in first) is primed
        assert "id" in last
        assert json.loads(last["data"])["id"] in (1, 7)


def test_the_number_of_stored_events_is_limited() -> None:
    from entrez_kit.server.events import SIZE_OF_NONE, Events, SessionEvents

    events = Events(max_size=10 * SIZE_OF_NONE)
    for _ in range(50):
        anyio.run(SessionEvents(events).store_event, "1", None)

    assert len(events.by_id) == 10
    assert events.size == 10 * SIZE_OF_NONE


def test_a_stream_continues_after_any_of_its_events_and_has_no_events_of_others() -> None:
    from mcp_types import JSONRPCNotification, JSONRPCResponse

    from entrez_kit.server.events import SIZE_OF_NONE, Events, SessionEvents

    news = JSONRPCNotification(jsonrpc="2.0", method="notifications/progress")
    answer = JSONRPCResponse(jsonrpc="2.0", id=1, result={})

    async def resume() -> tuple[list[Any], list[Any]]:
        kept = Events(max_size=20 * SIZE_OF_NONE)
        session, other = SessionEvents(kept), SessionEvents(kept)
        first = await session.store_event("1", None)
        ids = [await session.store_event("1", news) for _ in range(3)]
        await session.store_event("2", news)
        await other.store_event("1", news)
        whole: list[Any] = []
        late: list[Any] = []

        async def record_progress(event: Any) -> None:
            whole.append((event.event_id, event.message))

        async def record_late_progress(event: Any) -> None:
            late.append(event.message)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.replay_events_after, first, record_progress)
            tasks.start_soon(session.replay_events_after, ids[1], record_late_progress)
            await anyio.wait_all_tasks_blocked()
            assert [number for number, _ in whole] == ids
            for _ in range(40):  # the omitted events were sent
                await other.store_event("3", None)
            ids.append(await session.store_event("1", answer))
        assert [number for number, _ in whole] == ids
        await session.replay_events_after(ids[-1], record_progress)
        await session.replay_events_after("no number", record_progress)
        return whole, late

    whole, late = anyio.run(resume)

    assert [message for _, message in whole] == [news] * 3 + [answer]
    assert late == [news, answer]


# Refusals by identity


def make_unsigned_token() -> str:
    return f"Bearer {jwt.encode(make_claims(), '', algorithm='none')}"


BAD_TOKENS: dict[str, Any] = {
    "none": lambda: None,
    "another scheme": lambda: "Basic dXNlcjpwYXNz",
    "an empty one": lambda: "Bearer ",
    "garbage": lambda: "Bearer not.a.token",
    "a giant": lambda: "Bearer " + "x" * 9_000,
    "expired": lambda: make_bearer(exp=int(time.time()) - 1),
    "not valid yet": lambda: make_bearer(nbf=int(time.time()) + 300),
    "alg=none": make_unsigned_token,
    "HS512": lambda: make_bearer(SECRET * 2, "HS512"),
    "HS512 with our secret": lambda: make_bearer(algorithm="HS512"),
    "another secret": lambda: make_bearer("another-secret-that-is-well-over-32-bytes"),
    "no exp": lambda: make_bearer(exp=None),
    "no iss": lambda: make_bearer(iss=None),
    "no aud": lambda: make_bearer(aud=None),
    "no sub": lambda: make_bearer(sub=None),
    "a blank sub": lambda: make_bearer(sub="  "),
    "another audience": lambda: make_bearer(aud="somebody-else"),
    "another issuer": lambda: make_bearer(iss="somebody-else"),
}


WHY: dict[str, str] = {
    "expired": "expired",
    "not valid yet": "not valid yet",
    "HS512 with our secret": "HS256",
    "another secret": "different secret",
    "no exp": "claim exp",
    "no sub": "claim sub",
    "a blank sub": "subject",
    "another audience": "not for the audience",
    "another issuer": "not from the issuer",
}


@pytest.mark.parametrize("kind", BAD_TOKENS)
@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
def test_an_invalid_token_gets_401(http_host: HttpHost, kind: str) -> None:
    for method in ("POST", "GET", "DELETE"):
        reply = http_host.request(method, body=INITIALIZE, Authorization=BAD_TOKENS[kind]())
        assert reply.status == 401, f"{method} {reply.body!r}"
        assert reply.headers["www-authenticate"].startswith("Bearer ")
        assert "mcp-session-id" not in reply.headers
        reported = json.loads(reply.body)
        assert "serve token" in reported["how_to_get_a_token"]
        assert WHY.get(kind, "") in reported["error_description"]
        if kind in ("none", "another scheme", "an empty one"):
            assert "error=" not in reply.headers["www-authenticate"]
            assert "error" not in reported
        else:
            assert 'error="invalid_token"' in reply.headers["www-authenticate"]


def test_a_refusal_links_to_the_document_about_tokens(http_host: HttpHost) -> None:
    challenge = http_host.request(body=INITIALIZE, Authorization=None).headers["www-authenticate"]
    address = re.fullmatch(r'Bearer resource_metadata="(.*)"', challenge)
    assert address is not None
    reply = http_host.request("GET", urlsplit(address[1]).path, Authorization=None)
    document = json.loads(reply.body)

    assert reply.status == 200
    assert document["resource"] == http_host.url
    assert document["bearer_methods_supported"] == ["header"]
    assert "entrez-kit:gene" in document["scopes_supported"]
    assert "serve token" in document["how_to_get_a_token"]


def test_a_valid_token_gets_an_answer(http_host: HttpHost) -> None:
    reply = http_host.request(body=INITIALIZE)

    assert reply.status == 200
    assert reply.message["result"]["serverInfo"]["name"] == "entrez-kit"


@pytest.mark.parametrize("scope", ["", "openid profile", None, 7])
def test_a_token_without_any_of_our_scopes_gets_403(http_host: HttpHost, scope: Any) -> None:
    reply = send_request(http_host, "tools/list", Authorization=make_bearer(scope=scope))

    assert reply.status == 403
    assert 'error="insufficient_scope"' in reply.headers["www-authenticate"]


@pytest.mark.parametrize(
    ("granted", "params", "needed"),
    [
        ("entrez-kit:gene", {"name": "pubmed_search_articles", "arguments": {}}, "entrez-kit:pubmed"),
        ("entrez-kit:gene", {"name": "searchPubMedArticles", "arguments": {}}, "entrez-kit:pubmed"),
        ("entrez-kit:pubmed", {"name": "get_gene", "arguments": {}}, "entrez-kit:gene"),
    ],
)
def test_a_call_outside_of_the_scopes_is_refused_within_the_protocol_in_every_version(
    http_host: HttpHost, granted: str, params: Json, needed: str
) -> None:
    authorization = make_bearer(scope=granted)
    session = http_host.request(body=INITIALIZE, Authorization=authorization).headers["mcp-session-id"]
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    replies = [
        http_host.request(body=call, Authorization=authorization, Mcp_Session_Id=session),
        send_request(http_host, "tools/call", params, Authorization=authorization),
    ]
    for reply in replies:
        assert reply.status == 200
        result = reply.message["result"]
        assert result["isError"] is True
        assert needed in result["structuredContent"]["error"]["recovery_hint"]


@pytest.mark.anyio
async def test_a_session_continues_after_a_refused_call_in_every_version(demo_host: HttpHost, era: str) -> None:
    async with demo_host.connect(era, make_bearer(scope="entrez-kit:gene")) as client:
        refused = read_tool_error(await client.call_tool("pubmed_search_articles", {"query_term": "crispr"}))
        page = read_structured(await client.call_tool("search_genes", {"query": "TP53", "organism": "human"}))
        instructions = str(client.instructions)

    assert refused["details"]["reason"] == "insufficient_scope"
    assert page["items"]
    assert "search_genes -> get_gene" in instructions
    assert "pubmed_search" not in instructions
    assert "rag_" not in instructions


def test_statistics_need_the_scope_of_pubmed(http_host: HttpHost) -> None:
    params = {"uri": "pubmed-connect://stats/pubmed"}
    refused = send_request(http_host, "resources/read", params, Authorization=make_bearer(scope="entrez-kit:gene"))
    allowed = send_request(
        http_host,
        "resources/read",
        {"uri": "pubmed-connect://info"},
        Authorization=make_bearer(scope="entrez-kit:gene"),
    )

    assert refused.message["error"]["data"]["error"]["details"]["scope"] == "entrez-kit:pubmed"
    assert allowed.status == 200
    assert "result" in allowed.message


def test_tools_and_resources_outside_of_the_scopes_are_not_named(http_host: HttpHost) -> None:
    reported = {}
    for scope in ("gene", "pubmed"):
        authorization = make_bearer(scope=f"entrez-kit:{scope}")
        ref = {"type": "ref/resource", "uri": "pubmed-connect://stats/{database}"}
        reported[scope] = [
            send_request(http_host, method, params, Authorization=authorization).message
            for method, params in (
                ("server/discover", {}),
                ("tools/list", {}),
                ("prompts/list", {}),
                ("resources/list", {}),
                ("resources/templates/list", {}),
                ("completion/complete", {"ref": ref, "argument": {"name": "database", "value": "pub"}}),
                ("tools/call", {"name": "search_gene", "arguments": {}}),
                ("tools/call", {"name": "get_gene", "arguments": {"entrez_id": "7157"}}),
                ("prompts/get", {"name": "gene_dossier", "arguments": {"gene": "TP53"}}),
            )
        ]
    beyond = {
        "gene": [operation for operation in OPERATIONS if operation.toolset != "gene"],
        "pubmed": [operation for operation in OPERATIONS if operation.toolset != "pubmed"],
    }
    for scope, messages in reported.items():
        text = json.dumps(messages[:-2] if scope == "pubmed" else messages)  # the last two name the requested path
        for operation in beyond[scope]:
            assert operation.name not in text, f"{scope}: {operation.name}"
    assert "pubmed-connect://stats" not in json.dumps(reported["gene"])
    assert "resource://pubmed/paper" not in json.dumps(reported["gene"])
    assert "pubmed-connect://stats" in json.dumps(reported["pubmed"])
    assert [prompt["name"] for prompt in reported["pubmed"][2]["result"]["prompts"]] == ["literature_review"]


def test_a_token_lists_the_tools_that_it_may_call(http_host: HttpHost) -> None:
    names = {}
    for scope in ("entrez-kit:pubmed", "entrez-kit:gene"):
        reply = send_request(http_host, "tools/list", Authorization=make_bearer(scope=scope))
        names[scope] = {tool["name"] for tool in reply.message["result"]["tools"]}

    for toolset in ("pubmed", "gene"):
        expected = {operation.name for operation in OPERATIONS if operation.toolset == toolset}
        assert names[f"entrez-kit:{toolset}"] == expected


def test_a_session_can_be_used_only_by_the_subject_that_opened_it(http_host: HttpHost) -> None:
    session = http_host.request(body=INITIALIZE).headers["mcp-session-id"]
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}

    assert http_host.request(body=ping, Mcp_Session_Id=session).status == 200
    assert http_host.request(body=ping, Mcp_Session_Id=session, Authorization=make_bearer(sub="mallory")).status == 404
    assert http_host.request(body=ping, Mcp_Session_Id="0" * 32).status == 404


# Refusals by origin, host and size


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://127.0.0.1.evil.example", "file://", "http://localhost@evil.example", "https://evil.example:443/x"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/mcp", "/healthz", "/nowhere"])
def test_a_page_from_another_origin_gets_403_before_any_other_check(
    http_host: HttpHost, origin: str, path: str
) -> None:
    for authorization in (make_bearer(), None):
        for method in ("POST", "GET", "OPTIONS"):
            reply = http_host.request(method, path, Origin=origin, Authorization=authorization)
            assert reply.status == 403
            assert "access-control-allow-origin" not in reply.headers


@pytest.mark.parametrize("origin", ["http://localhost:6274", "http://127.0.0.1:1", "https://localhost"])
def test_a_page_of_this_machine_may_call(http_host: HttpHost, origin: str) -> None:
    reply = http_host.request(body=INITIALIZE, Origin=origin)
    preflight = http_host.request(
        "OPTIONS",
        Origin=origin,
        Authorization=None,
        Access_Control_Request_Method="POST",
        Access_Control_Request_Headers="authorization, mcp-protocol-version, mcp-session-id",
    )

    assert reply.status == 200
    assert reply.headers["access-control-allow-origin"] == origin
    assert "mcp-session-id" in reply.headers["access-control-expose-headers"].lower()
    assert preflight.status == 200
    assert "authorization" in preflight.headers["access-control-allow-headers"].lower()


def test_only_the_listed_origins_may_call(http_host_for: HttpHostFor) -> None:
    host = http_host_for(MCP_ALLOWED_ORIGINS="https://App.example.org, http://localhost:6274/")

    assert host.request(body=INITIALIZE, Origin="https://app.example.org").status == 200
    assert host.request(body=INITIALIZE, Origin="http://localhost:6274").status == 200
    assert host.request(body=INITIALIZE, Origin="http://localhost:6275").status == 403
    assert host.request(body=INITIALIZE, Host="app.example.org").status == 200, "its own name, through a proxy"


@pytest.mark.parametrize("name", ["evil.example", "evil.example:3010", "10.0.0.1", "localhost.evil.example", "", "a b"])
@pytest.mark.parametrize("path", ["/mcp", "/healthz"])
def test_a_request_for_another_host_gets_421_before_authentication(http_host: HttpHost, name: str, path: str) -> None:
    for authorization in (make_bearer(), None):
        assert http_host.request(path=path, Host=name, Authorization=authorization).status in (400, 421)


def test_a_request_for_another_host_name_than_loopback_gets_421(http_host: HttpHost) -> None:
    assert http_host.request(body=INITIALIZE, Host="evil.example").status == 421
    assert http_host.request(body=INITIALIZE, Host="[::1]:3010").status == 200
    assert http_host.request(body=INITIALIZE, Host="LOCALHOST").status == 200


def test_an_oversized_body_gets_413(http_host: HttpHost) -> None:
    big = json.dumps({**INITIALIZE, "padding": "x" * 1_100_000}).encode()

    reply = http_host.request(body=big)
    assert reply.status == 413
    assert "1,000,000" in reply.message["error"]["message"]
    assert http_host.request(body=b"", Content_Length=str(10**12)).status == 413
    assert http_host.request(body=big, Authorization=None).status == 401


@pytest.mark.parametrize("kind", ["unknown names", "malformed"])
def test_another_client_is_answered_while_a_large_message_is_checked(http_host: HttpHost, kind: str) -> None:
    session = {"Mcp_Session_Id": http_host.request(body=INITIALIZE).headers["mcp-session-id"]}
    call: Json = {"jsonrpc": "2.0", "id": 5, "method": "tools/call"}
    names = {f"n{number:04}": 1 for number in range(8_900)}
    call["params"] = {"name": "pubmed_search_articles", "arguments": names}
    body: Any = call if kind == "unknown names" else b'{"jsonrpc":"2.0","id":5,"method":7,"params":[' + b"[]," * 330_000
    seconds: list[float] = []

    def send() -> None:
        own = {"Mcp_Session_Id": http_host.request(body=INITIALIZE).headers["mcp-session-id"]}
        started = time.monotonic()
        http_host.request(body=body, **own)
        seconds.append(time.monotonic() - started)

    senders = [threading.Thread(target=send) for _ in range(3)]
    for sender in senders:
        sender.start()
    waits = []
    for number in range(10):
        started = time.monotonic()
        ping = http_host.request(body={"jsonrpc": "2.0", "id": number, "method": "ping"}, **session)
        waits.append(time.monotonic() - started)
        assert ping.message["result"] == {}
    for sender in senders:
        sender.join(60)

    assert len(seconds) == 3
    assert max(seconds) < 10
    assert max(waits) < 3


@pytest.mark.parametrize("era", ["without a session", "in a session", "of the newest era"])
def test_an_invalid_message_gets_an_error_and_the_next_is_answered(http_host: HttpHost, era: str) -> None:
    headers = MODERN if era == "of the newest era" else {}
    if era == "in a session":
        headers = {"Mcp_Session_Id": http_host.request(body=INITIALIZE).headers["mcp-session-id"]}
    for body, code, number in (*NO_MESSAGES, (b"", -32700, None), (b"\xff\xfe", -32700, None)):
        reply = http_host.request(body=body, **headers)
        assert reply.status == 400, body
        assert reply.headers["content-type"] == "application/json"
        assert (reply.message["error"]["code"], reply.message["id"]) == (code, number), body
    ping: Json = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    if era == "of the newest era":
        assert "result" in send_request(http_host, "tools/list").message
    elif era == "in a session":
        assert http_host.request(body=ping, **headers).message == {"jsonrpc": "2.0", "id": 2, "result": {}}
    else:
        assert http_host.request(body=ping).message["error"]["message"] == "Bad Request: Missing session ID"


def test_an_incomplete_body_causes_no_error_in_the_log(http_host: HttpHost) -> None:
    parts = urlsplit(http_host.url)
    head = f"POST /mcp HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: {make_bearer()}\r\nContent-Length: 99\r\n\r\n"
    before = len(http_host.entries)
    with socket.create_connection((parts.hostname, parts.port), timeout=8) as connection:
        connection.sendall(head.encode() + b'{"jsonrpc"')
        time.sleep(0.1)
    assert http_host.request(body=INITIALIZE).status == 200

    assert not [entry for entry in http_host.entries[before:] if entry["level"] in ("error", "warning")]


@pytest.mark.anyio
async def test_the_number_of_sessions_is_limited(services_for: ServicesFor, monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx2

    from entrez_kit.server import http
    from entrez_kit.server.app import EntrezServer

    monkeypatch.setattr(http, "MAX_SESSIONS", 2)
    services = services_for(None, mcp_auth_secret_key=SECRET)
    handlers = EntrezServer(services)
    app = http.build_app(handlers.build(), services.settings)
    headers = {"Authorization": make_bearer(), "Accept": "application/json, text/event-stream"}
    async with (
        run_lifespan(app),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost", headers=headers) as client,
    ):
        replies = [await client.post("/mcp", json=INITIALIZE) for _ in range(3)]
        await client.delete("/mcp", headers={"Mcp-Session-Id": replies[0].headers["mcp-session-id"]})
        again = await client.post("/mcp", json=INITIALIZE)

    assert [reply.status_code for reply in replies] == [200, 200, 503]
    assert again.status_code == 200


@pytest.mark.anyio
async def test_the_least_recently_used_session_of_a_subject_ends_for_a_newer_one(
    services_for: ServicesFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx2

    from entrez_kit.server import http
    from entrez_kit.server.app import EntrezServer

    monkeypatch.setattr(http, "MAX_SESSIONS_OF_ONE", 2)
    services = services_for(None, mcp_auth_secret_key=SECRET)
    app = http.build_app(EntrezServer(services).build(), services.settings)
    accept = {"Accept": "application/json, text/event-stream"}

    async with (
        run_lifespan(app),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost", headers=accept) as client,
    ):

        async def open_session(subject: str) -> str:
            token = {"Authorization": make_bearer(sub=subject)}
            return str((await client.post("/mcp", json=INITIALIZE, headers=token)).headers["mcp-session-id"])

        async def get_status(subject: str, session: str) -> int:
            headers = {"Authorization": make_bearer(sub=subject), "Mcp-Session-Id": session}
            ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
            return (await client.post("/mcp", json=ping, headers=headers)).status_code

        other = await open_session("bob")
        first, second = await open_session("alice"), await open_session("alice")
        assert await get_status("alice", first) == 200
        third = await open_session("alice")
        statuses = [await get_status("alice", session) for session in (first, second, third)]
        others = await get_status("bob", other)

    assert statuses == [200, 404, 200]
    assert others == 200


@pytest.mark.parametrize("sent", [b"", b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"], ids=["nothing", "half a head"])
def test_a_connection_without_a_request_is_closed(sent: bytes) -> None:
    assert _get_first_answer(sent, {"HEADER_SECONDS": 0.2}) == b""


def test_a_body_that_does_not_arrive_gets_408() -> None:
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: {make_bearer()}\r\nContent-Length: 9\r\n\r\n{{"

    assert _get_first_answer(head.encode(), {"BODY_SECONDS": 0.2}).startswith(b"HTTP/1.1 408 ")


def test_of_many_connections_without_a_request_the_oldest_is_closed() -> None:
    assert _get_first_answer(b"", {"MAX_HALF_OPEN": 3}, more=3) == b""


def _get_first_answer(sent: bytes, limits: Json, *, more: int = 0) -> bytes:
    """Return the answer of a server with other limits to the first connection before it closes it."""
    changed = "\n".join(f"http.{name} = {value}" for name, value in limits.items())
    script = f"from entrez_kit.server import http\n{changed}\nfrom entrez_kit.__main__ import main\nmain()"
    host = HttpHost(make_environment(None, MCP_AUTH_SECRET_KEY=SECRET), command=[sys.executable, "-c", script])
    try:
        host.ready()
        where = (urlsplit(host.url).hostname, urlsplit(host.url).port)
        with ExitStack() as stack:
            first = stack.enter_context(socket.create_connection(where, timeout=8))
            first.sendall(sent)
            time.sleep(0.05)
            for _ in range(more):
                stack.enter_context(socket.create_connection(where, timeout=8))
            return b"".join(iter(lambda: first.recv(4096), b""))
    finally:
        host.close()


@asynccontextmanager
async def run_lifespan(app: Any) -> AsyncIterator[None]:
    """Send an application the events of its start and its end."""
    send, receive = anyio.create_memory_object_stream[dict[str, str]](2)
    answered, answers = anyio.create_memory_object_stream[Any](2)
    async with anyio.create_task_group() as tasks, send, receive, answered, answers:
        tasks.start_soon(app, {"type": "lifespan", "asgi": {"version": "3.0"}}, receive.receive, answered.send)
        for kind in ("startup", "shutdown"):
            await send.send({"type": f"lifespan.{kind}"})
            assert (await answers.receive())["type"] == f"lifespan.{kind}.complete"
            if kind == "startup":
                yield


# Other addresses


def test_health_needs_no_token(http_host: HttpHost) -> None:
    reply = http_host.request("GET", "/healthz", Authorization=None)

    assert reply.status == 200
    assert json.loads(reply.body)["status"] == "ok"
    assert http_host.request("POST", "/healthz").status == 405


def test_other_paths_do_not_exist(http_host: HttpHost) -> None:
    for path in ("/", "/mcp/x", "/docs", "/.well-known/oauth-authorization-server", "/sse"):
        assert http_host.request("GET", path).status == 404
    assert "server" not in http_host.request("GET", "/healthz").headers


def test_refusals_are_logged_without_tokens(http_host: HttpHost) -> None:
    secret_looking = make_bearer("another-secret-that-is-well-over-32-bytes")
    http_host.request(body=INITIALIZE, Authorization=secret_looking)
    http_host.request(body=INITIALIZE, Origin="https://evil.example")
    http_host.wait_for("token refused: InvalidSignatureError")
    http_host.wait_for("Origin not allowed")

    text = json.dumps(http_host.entries)
    assert secret_looking.removeprefix("Bearer ") not in text


# Starting


def test_without_a_valid_secret_the_server_does_not_start(alone: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    short = "x" * 31
    done = subprocess.run(
        make_command("serve", "--transport", "http", "--port", "0"),
        env=make_environment(None, MCP_AUTH_SECRET_KEY=short),
        capture_output=True,
        timeout=30,
        check=False,
    )

    assert done.returncode == 8
    assert done.stdout == b""
    assert json.loads(done.stderr.splitlines()[-1])["error"]["code"] == "NOT_CONFIGURED"
    assert short not in done.stderr.decode()
    for secret, word in (("", "is not set"), (short, "got 31"), ("ä" * 15, "MCP_AUTH_SECRET_KEY")):
        monkeypatch.setenv("MCP_AUTH_SECRET_KEY", secret)
        checked = alone("serve", "--check", "--transport", "http", "--port", "0")
        assert (checked.status, checked.out) == (8, ""), word
        error = read_error(checked)
        assert error["code"] == "NOT_CONFIGURED"
        assert word in error["message"]
        assert not secret or secret not in checked.err


def test_a_secret_of_32_bytes_is_enough(http_host_for: HttpHostFor) -> None:
    secret = "x" * 32
    host = http_host_for(MCP_AUTH_SECRET_KEY=secret)

    assert host.request(body=INITIALIZE, Authorization=make_bearer(secret)).status == 200


def test_an_invalid_origin_is_rejected_at_the_start(alone: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.run(
        make_command("serve", "--transport", "http", "--port", "0"),
        env=make_environment(None, MCP_AUTH_SECRET_KEY=SECRET, MCP_ALLOWED_ORIGINS="*"),
        capture_output=True,
        timeout=30,
        check=False,
    )

    assert done.returncode == 8
    assert b"MCP_ALLOWED_ORIGINS" in done.stderr
    monkeypatch.setenv("MCP_AUTH_SECRET_KEY", SECRET)
    for origins in ("*", "example.org", "https://a.example/path", "ftp://a.example"):
        monkeypatch.setenv("MCP_ALLOWED_ORIGINS", origins)
        checked = alone("serve", "--check", "--transport", "http", "--port", "0")
        assert (checked.status, checked.out) == (8, ""), origins
        assert "MCP_ALLOWED_ORIGINS" in checked.err


def test_a_port_in_use_is_rejected_at_the_start() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            make_command("serve", "--transport", "http", "--port", str(port)),
            env=make_environment(None, MCP_AUTH_SECRET_KEY=SECRET),
            capture_output=True,
            timeout=30,
            check=False,
        )

    assert done.returncode == 8
    assert f"port {port}" in json.loads(done.stderr.splitlines()[-1])["error"]["message"]


def test_other_addresses_than_loopback_are_accepted_and_names_are_not(http_host_for: HttpHostFor) -> None:
    host = http_host_for("--host", "0.0.0.0")
    port = host.url.rpartition(":")[2].removesuffix("/mcp")
    host.url = f"http://127.0.0.1:{port}/mcp"

    host.wait_for("TLS")
    assert host.request(body=INITIALIZE, Host=f"192.168.7.7:{port}").status == 200
    assert host.request(body=INITIALIZE, Host=f"rebound.example:{port}").status == 421
    assert host.request(body=INITIALIZE, Origin="http://localhost:6274").status == 403
    assert host.request(body=INITIALIZE, Authorization=None).status == 401


# Ends


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)], ids=str)
def test_a_signal_ends_the_server(http_host_for: HttpHostFor, number: signal.Signals, status: int) -> None:
    host = http_host_for()
    host.request(body=INITIALIZE)
    ended, seconds = host.kill(number)

    assert (ended, seconds < QUICK) == (status, True)
    assert host.other in ([], ["Interrupted.\n"])


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS[1:])
async def test_a_running_call_and_open_streams_do_not_delay_the_end(http_host_for: HttpHostFor, era: str) -> None:
    with SilentService() as silent:
        host = http_host_for(at=silent)
        ended: list[tuple[int, float]] = []
        with anyio.CancelScope() as scope:
            async with host.connect(era) as client, anyio.create_task_group() as tasks:

                async def call() -> None:
                    try:
                        await client.call_tool("pubmed_search_articles", {"query_term": "crispr"})
                    except Exception:  # however the SDK reports that the connection is gone
                        return

                tasks.start_soon(call)
                await anyio.to_thread.run_sync(silent.wait_for_caller)
                ended.append(await anyio.to_thread.run_sync(host.kill))
                scope.cancel()

    assert ended[0][1] < QUICK
