"""The demo answers in the calling process: it opens no socket and starts no thread."""

import json
import subprocess
import sys

WATCHING = (
    "import io, json, sys\n"
    "from contextlib import redirect_stdout\n"
    "events = []\n"
    "def watch(event, arguments):\n"
    "    if event.startswith('socket.') or event == '_thread.start_new_thread':\n"
    "        events.append(event)\n"
    "sys.addaudithook(watch)\n"
    "from entrez_kit.commands._app import main\n"
    "answers = []\n"
    "for call in json.loads(sys.argv[1]):\n"
    "    events.clear()\n"
    "    printed = io.TextIOWrapper(io.BytesIO(), encoding='utf-8')\n"
    "    with redirect_stdout(printed):\n"
    "        status = main(call)\n"
    "        printed.flush()\n"
    "    answers.append((status, printed.buffer.getvalue().decode(), sorted(set(events))))\n"
    "print(json.dumps(answers))\n"
)
"""A program that makes several calls, and reports every use of a socket and every thread, by Python's audit events."""


def run(*calls: list[str], first: str = "") -> list[tuple[int, str, list[str]]]:
    """Make calls in one program; return status, output, and the audit events for sockets and threads of each."""
    ended = subprocess.run(
        [sys.executable, "-c", first + WATCHING, json.dumps([["--demo", *call, "--json"] for call in calls])],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return [tuple(answer) for answer in json.loads(ended.stdout)]


def test_the_demo_opens_no_socket_and_starts_no_thread() -> None:
    answers = run(
        ["search", "crispr", "-n", "2"],
        ["fetch", "99000030", "99000005"],
        ["related", "99000005"],
        ["cite", "99000005"],
        ["convert", "99000005"],
        ["spell", "crisprr"],
        ["gene", "search", "TP53", "--organism", "human"],
        ["europepmc", "crispr", "-n", "1"],
        ["db", "info", "pubmed"],
    )

    for status, printed, events in answers:
        assert status in (0, 4)
        assert printed.startswith("{")
        assert not events


def test_the_demo_opens_no_socket_for_services_other_than_ncbi() -> None:
    # When it is imported, urllib3 opens a socket to find out whether this machine has IPv6.
    answers = run(["fulltext", "99000003", "99000005"], ["doctor", "--network"], first="import urllib3\n")

    for status, printed, events in answers:
        assert status in (0, 4)
        assert printed.startswith("{")
        assert not [event for event in events if event.startswith("socket.")]
