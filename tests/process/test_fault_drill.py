"""What comes of faults: the right answer, or an error that says so, and never a wrong answer kept.

Each command meets some faults here and each fault some commands; ``fault_drill.py`` runs all of them by hand.
"""

from collections.abc import Iterator
from itertools import islice

import pytest
from fault_drill import COMMANDS, STORED, Drill, running_drill
from fault_proxy import CONTRADICTIONS, FAULTS, SLOW

QUICK = [fault for fault in FAULTS if fault not in SLOW]
EACH = 5
"""Faults a command meets at each endpoint that it asks."""


@pytest.fixture(scope="module")
def drill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drill]:
    """Run a sandbox and the proxy before it."""
    with running_drill(tmp_path_factory.mktemp("drill")) as drill:
        yield drill


def chosen(place: int) -> list[str]:
    """Return the faults for the command in this place: others than its neighbours', and all of them in the end."""
    return list(islice((QUICK * 2)[place * EACH % len(QUICK) :], EACH))


@pytest.mark.parametrize("place", range(len(COMMANDS)), ids=lambda place: COMMANDS[place].replace("/", "|"))
def test_a_fault_never_yields_a_wrong_answer_and_is_over_when_the_service_is_well(drill: Drill, place: int) -> None:
    endpoints = drill.endpoints(COMMANDS[place])
    assert endpoints, "it asks nobody"

    verdicts = [drill.judge(COMMANDS[place], endpoint, fault) for endpoint in endpoints for fault in chosen(place)]

    assert not [str(verdict) for verdict in verdicts if verdict.wrong]


SPOILT = (
    ("search crispr -n 5 --summaries 5 --json", "esearch esummary"),
    ("search crispr --all --json", "esearch"),
    ("fetch 99000001 99000004 99000050 --json", "efetch"),
    ("fetch 99000001 99000050 -f nbib", "efetch"),
    ("related 99000004 --json", "elink esummary"),
    ("fulltext 99000001 --json", "idconv efetch"),
    ("convert 99000001 PMC99000002 --json", "idconv esummary"),
    ("europepmc crispr --json", "europepmc search"),
    ("mesh 'heart attack' --json", "esearch esummary"),
    ("gene search TP53 --organism human --json", "esearch esummary"),
    ("db summary gene 7157 672 --json", "esummary"),
    ("db fetch nuccore ZZ900001.1 --rettype fasta --json", "esummary efetch"),
    ("db fetch nuccore ZZ900001.1 ZZ900002.2 --rettype gb --retmode xml --json", "efetch"),
    ("db fetch nuccore ZZ900001.1 ZZ900002.2 --rettype acc --retmode text --json", "efetch"),
    ("db fetch taxonomy 9606 10090 --retmode xml --json", "efetch"),
    ("db fetch gene 7157 672 --retmode xml --json", "efetch"),
    ("db link 7157 672 --from gene --to pubmed --json", "elink"),
    ("corpus sync drill crispr --json", "esearch efetch"),
)
"""Commands, and the endpoints whose replies are well-formed and wrong."""


@pytest.mark.parametrize(("command", "spoilt"), SPOILT, ids=lambda text: text.replace("/", "|"))
def test_a_reply_that_contradicts_itself_or_the_request_never_yields_a_wrong_document(
    drill: Drill, command: str, spoilt: str
) -> None:
    asked = [endpoint for endpoint in drill.endpoints(command) if endpoint in spoilt]
    assert asked

    verdicts = [drill.judge(command, endpoint, fault) for endpoint in asked for fault in CONTRADICTIONS]

    assert not [str(verdict) for verdict in verdicts if verdict.wrong]


@pytest.mark.parametrize("fault", sorted(STORED))
@pytest.mark.parametrize("place", range(0, len(COMMANDS), 3), ids=lambda place: COMMANDS[place].replace("/", "|"))
def test_what_a_wrong_clock_or_a_bad_disk_left_behind_never_yields_a_wrong_document(
    drill: Drill, place: int, fault: str
) -> None:
    verdict = drill.judge_stored(COMMANDS[place], fault)

    assert not verdict.wrong, str(verdict)


def test_every_fault_is_met() -> None:
    assert {fault for place in range(len(COMMANDS)) for fault in chosen(place)} == set(QUICK)


@pytest.mark.parametrize("fault", sorted(SLOW))
def test_a_slow_service_is_given_up_at_the_deadline(drill: Drill, fault: str) -> None:
    verdict = drill.judge("fetch 99000001 99000050 --detail medline_text --json", "efetch", fault)

    assert not verdict.wrong, str(verdict)


def test_a_packed_answer_is_as_good_as_any(drill: Drill) -> None:
    harmless = drill.judge("spell crisper --json", "espell", "gzip well")

    assert not harmless.wrong
