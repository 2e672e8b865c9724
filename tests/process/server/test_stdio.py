"""The real program over standard input and output: messages, sequences of calls, errors, and quick ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_helpers import (
    NO_MESSAGES,
    QUICK,
    Host,
    HostFor,
    SilentService,
    choose_mode,
    make_command,
    make_environment,
    read_structured,
    speaking,
)
from project_paths import ROOT, SUPPORT

from entrez_kit.base import __version__
from entrez_kit.sandbox.server import Sandbox

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a pipe", "version": "1"}}


# The SDK's own client


@pytest.mark.anyio
async def test_sequences_of_calls_with_the_sdks_client_in_every_version(sandbox: Sandbox, era: str) -> None:
    from mcp import Client, StdioServerParameters

    command, *arguments = make_command("serve")
    server = StdioServerParameters(command=command, args=arguments, env=make_environment(sandbox))
    with speaking(era):
        async with Client(server, mode=choose_mode(era)) as client:
            assert client.protocol_version == era
            assert client.server_info is not None
            assert (client.server_info.name, client.server_info.version) == ("entrez-kit", __version__)
            await client.list_tools()
            found = read_structured(await client.call_tool("pubmed_search_articles", {"query_term": "crispr"}))
            fetched = read_structured(await client.call_tool("pubmed_fetch_contents", {"pmids": found["pmids"][:2]}))
            page = read_structured(await client.call_tool("search_genes", {"query": "TP53", "organism": "human"}))
            gene = read_structured(await client.call_tool("get_gene", {"entrez_id": page["items"][0]["id"]}))
            links = read_structured(await client.call_tool("get_pubmed_links", {"entrez_id": gene["id"], "limit": 3}))

    assert [article["pmid"] for article in fetched["articles"]] == found["pmids"][:2]
    assert gene["symbol"] == "TP53"
    assert links["pmids"]


# Messages


@pytest.fixture(name="host", scope="module")
def host_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Return a host for all tests that do not change the program; at the end it must end well."""
    with Sandbox(enforce_limits=False) as sandbox:
        home = str(tmp_path_factory.mktemp("home"))
        host = Host.start(make_command("serve"), make_environment(sandbox, ENTREZ_KIT_HOME=home))
        try:
            host.greet()
            yield host
            assert host.leave()[0] == 0
        finally:
            host.close()


def test_every_line_is_a_message_for_every_call(host_for: HostFor) -> None:
    host = host_for(MCP_LOG_LEVEL="debug")
    host.greet()
    host.ask("tools/list")
    host.call("pubmed_search_articles", {"query_term": "crispr"})
    host.call("pubmed_search_articles", {"query_term": "("})
    host.call("nothing", {})
    for line in ("this is no message", '{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}'):
        host.write(line)
        assert host.receive()["error"]["code"] in (-32700, -32600)
    assert host.ask("ping")["result"] == {}
    status, _ = host.leave()

    assert status == 0
    assert len(host.lines) >= 6
    assert all(isinstance(entry["message"], str) for entry in host.log())


def test_text_printed_by_libraries_is_never_sent_to_the_client(host_for: HostFor, tmp_path: Path) -> None:
    script = tmp_path / "noisy.py"
    script.write_text(
        "import atexit, os, subprocess, sys\n"
        "from entrez_kit.__main__ import main\n"
        "from entrez_kit.services.eutils import EUtils\n"
        "plain = EUtils.esearch\n"
        "def noisy(self, **parameters):\n"
        "    print('printed noise', end='')\n"
        "    sys.__stdout__.write('held noise')\n"
        "    os.write(1, b'raw noise')\n"
        "    subprocess.run([sys.executable, '-c', 'print(\"noise of a child\")'])\n"
        "    assert sys.stdin.read() == ''\n"
        "    return plain(self, **parameters)\n"
        "EUtils.esearch = noisy\n"
        "atexit.register(print, 'noise at exit')\n"
        "sys.argv = ['entrez-kit', 'serve']\n"
        "sys.exit(main())\n",
        encoding="utf-8",
    )
    host = host_for(command=[sys.executable, str(script)])
    host.greet()
    result = host.call("pubmed_search_articles", {"query_term": "crispr"})
    status, _ = host.leave()

    assert result["isError"] is False
    assert status == 0
    errors = host.errors()
    for noise in ("printed noise", "held noise", "raw noise", "noise of a child", "noise at exit"):
        assert noise in errors


def test_a_message_may_be_long_and_in_any_script(host: Host) -> None:
    result = host.call("pubmed_search_articles", {"query_term": "β-каротин 漢字 " + "x" * 200_000})

    assert "β-каротин 漢字" in json.dumps(result, ensure_ascii=False)


def test_malformed_parameters_get_the_envelope_as_data(host: Host) -> None:
    error = host.ask("tools/call", {"name": "pubmed_search_articles", "arguments": ["secret"]})["error"]

    assert error["code"] == -32602
    assert error["data"]["error"]["code"] == "INVALID_INPUT"
    assert "arguments" in error["message"]
    assert "secret" not in json.dumps(error)


def test_an_invalid_message_gets_an_error_and_the_next_is_answered(host: Host) -> None:
    for line, code, number in NO_MESSAGES:
        if b"\n" in line:  # these are two lines
            continue
        host.write(line)
        answer = host.receive()
        assert (answer["error"]["code"], answer["id"]) == (code, number), line
        host.write("")
        assert host.ask("ping")["result"] == {}


def test_a_line_that_is_too_long_gets_an_error_and_the_next_is_answered(host: Host) -> None:
    host.write(b'{"jsonrpc": "2.0", "id": 3, "method": "ping", "params": {"x": "' + b"x" * 16_500_000 + b'"}}')
    answer = host.receive()

    assert answer["id"] is None
    assert "16,000,000" in answer["error"]["message"]
    assert host.ask("ping")["result"] == {}


def test_an_incomplete_message_at_the_end_of_input_gets_an_error(host_for: HostFor) -> None:
    host = host_for()
    host.greet()
    assert host.process.stdin is not None
    host.process.stdin.write(b'{"jsonrpc": "2.0", "id": 3, "meth')
    status, _ = host.leave()

    assert status == 0
    assert json.loads(host.lines[-1])["error"]["code"] == -32700


# Ends of the program


def test_the_last_call_before_the_end_of_a_pipe_is_answered() -> None:
    requested: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "pubmed_search_articles", "arguments": {"query_term": "x"}},
        },
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in requested)
    with Sandbox(records=20, latency_ms=150, enforce_limits=False) as slow:
        answered = subprocess.run(
            make_command("serve"), input=lines, env=make_environment(slow), capture_output=True, text=True, timeout=60
        )

    assert [json.loads(line)["id"] for line in answered.stdout.splitlines()] == [1, 2]
    assert answered.returncode == 0


@pytest.mark.parametrize("latency_ms", [0, 1, 400])
def test_all_calls_of_a_pipe_are_answered_if_its_input_ends_at_once(latency_ms: int) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        *(("pubmed_search_articles", {"query_term": f"crispr {number}"}) for number in range(8)),
        *(("pubmed_spell_check", {"query": f"crisper {number}"}) for number in range(7)),
        ("pubmed_search_articles", {"query_term": "("}),
    ]
    requested: list[dict[str, Any]] = [
        {"id": "hello", "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        *(
            {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(calls)
        ),
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in requested)
    with Sandbox(records=20, latency_ms=latency_ms, enforce_limits=False) as sandbox:
        environment = make_environment(sandbox, NCBI_API_KEY="fast")
        done = subprocess.run(
            make_command("serve"), input=lines, env=environment, capture_output=True, text=True, timeout=110
        )

    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 0
    assert sorted(answers, key=str) == sorted([*range(len(calls)), "hello"], key=str)
    assert [number for number in range(len(calls)) if "result" not in answers[number]] == []
    assert [number for number in range(len(calls)) if answers[number]["result"]["isError"]] == [len(calls) - 1]


def test_a_cancelled_call_does_not_delay_the_end(host_for: HostFor) -> None:
    with SilentService() as silent:
        host = host_for(at=silent)
        host.greet()
        number = host.send("tools/call", {"name": "pubmed_search_articles", "arguments": {"query_term": "crispr"}})
        silent.wait_for_caller()
        host.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}))
        _, seconds = host.leave()

    assert seconds < QUICK


def test_the_end_of_input_ends_the_program(host_for: HostFor) -> None:
    host = host_for()
    host.greet()
    status, seconds = host.leave()

    assert (status, seconds < QUICK) == (0, True)
    assert "the client has left" in [entry["message"].removeprefix("ending: ") for entry in host.log()]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGHUP, 0)], ids=str)
def test_a_signal_ends_the_program_while_its_input_is_open(
    host_for: HostFor, number: signal.Signals, status: int
) -> None:
    host = host_for()
    host.greet()
    ended, seconds = host.kill(number)

    assert (ended, seconds < QUICK) == (status, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, None], ids=str)
def test_a_running_call_does_not_delay_the_end(host_for: HostFor, number: signal.Signals | None) -> None:
    with SilentService() as silent:
        host = host_for(at=silent)
        host.greet()
        for term in ("crispr", "insulin", "malaria"):
            host.send("tools/call", {"name": "pubmed_search_articles", "arguments": {"query_term": term}})
        silent.wait_for_caller()
        if number is None:  # the host is gone, so no client waits for the answers
            assert host.process.stdout is not None
            assert host.process.stdin is not None
            host.process.stdout.close()
            host.process.stdin.close()
            started = time.monotonic()
            host.process.wait(60)
            seconds = time.monotonic() - started
        else:
            _, seconds = host.kill(number)

    assert seconds < QUICK


def test_a_thread_does_not_delay_the_end_of_a_program_that_exits_slowly(host_for: HostFor, tmp_path: Path) -> None:
    script = tmp_path / "slow_exit.py"
    script.write_text(
        "import sys, threading, time\n"
        "from entrez_kit.__main__ import main\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
        "sys.argv = ['entrez-kit', 'serve']\n"
        "status = main()\n"
        "time.sleep(2)\n"
        "sys.exit(status)\n",
        encoding="utf-8",
    )
    host = host_for(command=[sys.executable, str(script)])
    host.greet()

    assert host.kill(signal.SIGTERM)[0] == 0


def test_a_program_that_ignores_the_end_of_its_terminal_continues(host_for: HostFor) -> None:
    host = host_for(command=["nohup", *make_command("serve")])
    host.greet()
    host.process.send_signal(signal.SIGHUP)

    assert host.ask("ping")["result"] == {}
    assert host.kill(signal.SIGTERM)[0] == 0


def test_programs_started_by_tests_receive_sigint_and_sighup_under_nohup() -> None:
    code = "import signal, conftest; print({signal.getsignal(n) for n in (signal.SIGINT, signal.SIGHUP)})"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "tests", SUPPORT)))}
    done = subprocess.run(
        ["nohup", sys.executable, "-c", code], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr
    assert "SIG_IGN" not in done.stdout


def test_a_host_that_stops_reading_does_not_delay_the_end(host_for: HostFor) -> None:
    import fcntl
    import termios

    host = host_for()
    host.greet()
    for _ in range(60):  # more than a pipe holds
        host.send("tools/list")
    assert host.process.stdout is not None
    waiting = bytearray(4)
    while int.from_bytes(waiting, sys.byteorder) < 60_000:
        time.sleep(0.01)
        fcntl.ioctl(host.process.stdout, termios.FIONREAD, waiting)
    started = time.monotonic()
    host.process.send_signal(signal.SIGTERM)
    host.process.wait(60)

    assert time.monotonic() - started < QUICK


def test_the_program_ends_if_its_host_is_gone(host_for: HostFor) -> None:
    host = host_for()
    host.greet()
    assert host.process.stdout is not None
    host.process.stdout.close()
    host.send("tools/list")
    started = time.monotonic()
    host.process.wait(60)

    assert host.process.returncode == 0
    assert time.monotonic() - started < QUICK
    assert "Traceback" not in host.errors()


# Starting


def test_the_demo_is_served_without_a_network(host_for: HostFor) -> None:
    host = host_for("--demo", at=None)
    host.greet()
    found = host.call("pubmed_search_articles", {"query_term": "crispr"})

    assert found["structuredContent"]["total_found"] > 0
    assert host.leave()[0] == 0


def test_flags_select_tools_and_names(host_for: HostFor) -> None:
    host = host_for("--toolset", "pubmed", "--tool-names", "contract")
    host.greet("2025-03-26")
    names = [tool["name"] for tool in host.ask("tools/list")["result"]["tools"]]

    assert names[:2] == ["searchPubMedArticles", "fetchArticleDetails"]
    assert "search_genes" not in names
    assert host.leave()[0] == 0


def test_the_transport_can_be_set_in_the_environment(host_for: HostFor) -> None:
    host = host_for(MCP_TRANSPORT_TYPE="http")
    host.process.wait(60)

    assert host.process.returncode == 8
    assert "MCP_AUTH_SECRET_KEY" in host.errors()


def test_secrets_appear_nowhere(sandbox: Sandbox, tmp_path: Path) -> None:
    canaries = {
        "NCBI_API_KEY": "canary-key-5f1c9d",
        "NCBI_ADMIN_EMAIL": "canary@example.org",
        "MCP_AUTH_SECRET_KEY": "canary-secret-" + "x" * 32,
        "OPENAI_API_KEY": "canary-openai-77",
    }
    environment = make_environment(sandbox, MCP_LOG_LEVEL="debug", LOGS_DIR=str(tmp_path / "logs"), **canaries)
    host = Host.start(make_command("serve"), environment)
    try:
        host.greet()
        host.call("pubmed_search_articles", {"query_term": "crispr"})
        host.ask("resources/read", {"uri": "pubmed-connect://info"})
        sandbox.stop()
        host.call("pubmed_search_articles", {"query_term": "insulin"})
        host.leave()
        everything = host.errors() + b"".join(host.lines).decode()
        everything += "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "logs").iterdir())
    finally:
        host.close()

    assert "crispr" in everything
    for canary in canaries.values():
        assert canary not in everything


def test_answers_of_a_session_arrive_while_another_call_waits(host_for: HostFor) -> None:
    with SilentService() as silent:
        host = host_for(at=silent)
        host.greet()
        host.send("tools/call", {"name": "pubmed_search_articles", "arguments": {"query_term": "crispr"}})
        started = time.monotonic()
        answer: dict[str, Any] = host.ask("ping")
        host.kill(signal.SIGTERM)

    assert answer["result"] == {}
    assert time.monotonic() - started < QUICK


def _read_peak_memory(process: "subprocess.Popen[bytes]") -> int:
    """Return the largest memory that a process has used, in bytes."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs the proc file system")
def test_a_line_without_an_end_is_refused_in_constant_memory_and_the_server_continues(host_for: HostFor) -> None:
    host = host_for()
    host.greet()
    before = _read_peak_memory(host.process)
    assert host.process.stdin is not None
    piece = b"x" * 1_000_000
    for _ in range(200):
        host.process.stdin.write(piece)
    host.process.stdin.flush()
    refused = host.receive()
    assert refused["error"]["code"] == -32600
    assert refused.get("id") is None

    host.write("the end of the line")
    assert host.ask("ping")["result"] == {}
    assert _read_peak_memory(host.process) - before < 80_000_000
    assert host.leave()[0] == 0


def test_a_long_line_does_not_hide_the_message_after_it(host: Host) -> None:
    host.write(b"[" * 17_000_000 + b"\n" + b'{"jsonrpc": "2.0", "id": "after", "method": "ping"}')

    answers = [host.receive(), host.receive()]
    assert answers[0]["error"]["code"] == -32600
    assert (answers[1]["id"], answers[1]["result"]) == ("after", {})
