"""What comes of faults: the right answer, or an error that says so, and never a wrong answer kept.

Each command meets some faults here and each fault some commands; ``fault_drill.py`` runs all of them by hand.
"""

from collections.abc import Iterator
from itertools import islice

import pytest
from fault_drill import COMMANDS, Drill, running_drill
from fault_proxy import FAULTS, SLOW

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


def test_every_fault_is_met() -> None:
    assert {fault for place in range(len(COMMANDS)) for fault in chosen(place)} == set(QUICK)


@pytest.mark.parametrize("fault", sorted(SLOW))
def test_a_slow_service_is_given_up_at_the_deadline(drill: Drill, fault: str) -> None:
    verdict = drill.judge("fetch 99000001 99000050 --detail medline_text --json", "efetch", fault)

    assert not verdict.wrong, str(verdict)


def test_a_packed_answer_is_as_good_as_any(drill: Drill) -> None:
    harmless = drill.judge("spell crisper --json", "espell", "gzip well")

    assert not harmless.wrong
