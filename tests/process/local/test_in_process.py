"""The demo answers in the process that asks: it opens no socket and starts no thread."""

import subprocess
import sys

import pytest

WATCHING = (
    "import sys\n"
    "events = []\n"
    "def watch(event, arguments):\n"
    "    if event.startswith('socket.') or event == '_thread.start_new_thread':\n"
    "        events.append(event)\n"
    "sys.addaudithook(watch)\n"
    "from entrez_kit.__main__ import main\n"
    "status = main()\n"
    "print('EVENTS', *sorted(set(events)), file=sys.stderr)\n"
    "sys.exit(status)\n"
)
"""A program that reports every use of a socket and every thread, by the audit events of Python."""


def run(*arguments: str, first: str = "") -> tuple[str, set[str]]:
    """Run the program; return what it printed, and the audit events for sockets and threads."""
    ended = subprocess.run(
        [sys.executable, "-c", first + WATCHING, *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode in (0, 4), ended.stderr
    return ended.stdout, set(ended.stderr.splitlines()[-1].split()[1:])


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "crispr", "-n", "2"],
        ["fetch", "99000030", "99000005"],
        ["related", "99000005"],
        ["cite", "99000005"],
        ["convert", "99000005"],
        ["spell", "crisprr"],
        ["gene", "search", "TP53", "--organism", "human"],
        ["europepmc", "crispr", "-n", "1"],
        ["db", "info", "pubmed"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_the_demo_opens_no_socket_and_starts_no_thread(arguments: list[str]) -> None:
    printed, events = run("--demo", *arguments, "--json")

    assert printed.startswith("{")
    assert not events


@pytest.mark.parametrize("arguments", [["fulltext", "99000003", "99000005"], ["doctor", "--network"]])
def test_the_demo_opens_no_socket_for_services_other_than_ncbi(arguments: list[str]) -> None:
    # When it is imported, urllib3 opens a socket to find out whether this machine has IPv6.
    printed, events = run("--demo", *arguments, "--json", first="import urllib3\n")

    assert printed.startswith("{")
    assert not {event for event in events if event.startswith("socket.")}
