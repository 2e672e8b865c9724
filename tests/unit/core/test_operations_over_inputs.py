"""An operation over several inputs, built from one over a single input."""

import threading

from entrez_kit.base.errors import EntityNotFound
from entrez_kit.base.settings import load_settings
from entrez_kit.core.model import Request, Result
from entrez_kit.core.operation import DocumentOperation
from entrez_kit.core.per_input import PerInputRequest, take_several
from entrez_kit.services import Services
from entrez_kit.services.transport.in_flight import mark_sent


class IdRequest(Request):
    """One id."""

    name: str


class IdResult(Result):
    """The result for one id."""

    name: str


def test_several_inputs_are_requested_at_the_same_time_and_answered_in_order() -> None:
    together = threading.Barrier(3, timeout=20)

    def answer(_: Services, request: IdRequest) -> IdResult:
        mark_sent()
        together.wait()  # none of the three is answered before all are requested
        if request.name == "b":
            raise EntityNotFound("There is no b.")
        return IdResult(name=request.name)

    one = DocumentOperation(
        name="told",
        request=IdRequest,
        result=IdResult,
        function=answer,
        command=("told",),
        toolset="entrez",
        title="Tell",
    )
    services = Services(load_settings({}, environ={}))

    found = take_several(one, "name").compute(services, PerInputRequest(inputs=["c", "b", "a", "c"]))

    assert [item.name for item in found.results] == ["c", "a", "c"]
    assert [(item.input, item.status) for item in found.outcomes] == [
        ("c", "found"),
        ("b", "not_found"),
        ("a", "found"),
        ("c", "found"),
    ]
