"""Faults of services: a command ends with the right answer or with an error, and never caches a wrong reply.

Each command, each fault and each contradiction is tested once. With ``ENTREZ_KIT_FULL_DRILL=1`` every command is tested
under every fault at every endpoint, which takes about an hour. ``python tests/support/fault_drill.py`` does the same
and prints the cases that fail.
"""

import os
from collections.abc import Iterator

import pytest
from fault_drill import COMMANDS, STORED, Drill, run_drill
from fault_proxy import CONTRADICTIONS, FAULTS, SLOW

QUICK = [fault for fault in FAULTS if fault not in SLOW and fault not in CONTRADICTIONS]

every_command = pytest.mark.parametrize("command", COMMANDS, ids=lambda text: text.replace("/", "|"))


@pytest.fixture(scope="module")
def drill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drill]:
    """Run a sandbox and the proxy in front of it."""
    with run_drill(tmp_path_factory.mktemp("drill")) as drill:
        yield drill


@every_command
def test_a_fault_never_yields_a_wrong_answer_and_the_next_run_is_right(drill: Drill, command: str) -> None:
    place = COMMANDS.index(command)
    endpoints = drill.endpoints(command)
    assert endpoints, "it sends no request"

    faults = QUICK[place :: len(COMMANDS)]
    verdicts = [drill.judge(command, endpoints[at % len(endpoints)], fault) for at, fault in enumerate(faults)]

    assert not [str(verdict) for verdict in verdicts if verdict.wrong]


SEARCH = "search crispr -n 5 --summaries 5 --json"
RECORDS = ("record twice", "first for last", "hollow record")
CUT_TEXT = ("record twice", "first for last", "last record missing", "last field cut")
CONTRADICTED = (
    (SEARCH, "esearch", ("count below ids", "more ids than asked", "id twice", "id in letters", "empty id")),
    ("related 99000004 --json", "elink", ("link in letters",)),
    ("fetch 99000001 99000004 99000050 --json", "efetch", RECORDS),
    ("fetch 99000001 99000050 -f nbib", "efetch", ("record twice", "last field cut")),
    ("db fetch taxonomy 9606 10090 --retmode xml --json", "efetch", RECORDS),
    ("db fetch pubmed 99000001 99000050 --rettype medline --retmode text --json", "efetch", CUT_TEXT),
    ("db fetch pmc 99000001 99000002 --retmode xml --json", "efetch", ("record twice", "last record missing")),
    ("db fetch nuccore ZZ900001.1 --rettype fasta --json", "efetch", ("sequence cut",)),
    ("db summary gene 7157 672 --json", "esummary", (*RECORDS, "error for a uid", "rows shifted", "bit flipped")),
    ("fulltext 99000001 --json", "efetch", ("other article",)),
    ("convert 99000001 PMC99000002 --json", "idconv", ("record twice", "rows shifted")),
    ("europepmc crispr --json", "europepmc search", ("record twice", "first for last")),
)
"""Commands, an endpoint of each, and the contradictions that its replies can have."""


@pytest.mark.parametrize(("command", "endpoint", "faults"), CONTRADICTED, ids=lambda value: str(value)[:40])
def test_a_reply_that_contradicts_itself_or_the_request_never_yields_a_wrong_document(
    drill: Drill, command: str, endpoint: str, faults: tuple[str, ...]
) -> None:
    assert endpoint in drill.endpoints(command)

    verdicts = [drill.judge(command, endpoint, fault) for fault in faults]

    assert not [str(verdict) for verdict in verdicts if verdict.wrong]


@pytest.mark.parametrize("fault", sorted(STORED))
@pytest.mark.parametrize("command", COMMANDS[7::12], ids=lambda text: text.replace("/", "|"))
def test_stored_data_from_a_wrong_clock_or_a_damaged_disk_never_yields_a_wrong_document(
    drill: Drill, command: str, fault: str
) -> None:
    verdict = drill.judge_stored(command, fault)

    assert not verdict.wrong, str(verdict)


def test_every_fault_is_tested() -> None:
    assert {fault for _, _, faults in CONTRADICTED for fault in faults} == set(CONTRADICTIONS)
    assert len(QUICK) >= len(COMMANDS), "each command is tested with a fault"


@pytest.mark.parametrize("fault", ["silence", "slow body"])
def test_a_slow_service_is_abandoned_at_the_deadline(drill: Drill, fault: str) -> None:
    verdict = drill.judge("fetch 99000001 99000050 --detail medline_text --json", "efetch", fault)

    assert not verdict.wrong, str(verdict)


def test_a_compressed_answer_gives_the_same_result(drill: Drill) -> None:
    harmless = drill.judge("spell crisper --json", "espell", "gzip well")

    assert not harmless.wrong


@pytest.mark.skipif(os.environ.get("ENTREZ_KIT_FULL_DRILL") != "1", reason="ENTREZ_KIT_FULL_DRILL=1 is not set")
@every_command
def test_no_fault_at_any_endpoint_yields_a_wrong_answer(drill: Drill, command: str) -> None:
    assert not [str(verdict) for verdict in drill.judge_all(command) if verdict.wrong]
