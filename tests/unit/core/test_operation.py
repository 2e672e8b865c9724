"""Operations over many inputs: streamed outcomes, the document built from them, and errors after the stream."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Annotated, Any

import pytest
from pydantic import Field, ValidationError

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, UpstreamError
from entrez_kit.base.settings import Settings
from entrez_kit.citations.format_citations import FORMAT_CITATIONS
from entrez_kit.core.argument_errors import invalid_arguments
from entrez_kit.core.model import FOUR_DIGITS, Request, Result
from entrez_kit.core.operation import DocumentOperation, Operation, Outcomes, StreamOperation, catch_errors, execute
from entrez_kit.pubmed.fetch import FETCH_CONTENTS
from entrez_kit.pubmed.search import SEARCH_ARTICLES
from entrez_kit.services import Services
from entrez_kit.services.transport import spans


class Numbers(Request):
    """Numbers that are doubled."""

    numbers: list[int] = Field(min_length=1)


class Doubled(Result):
    """All doubled numbers."""

    doubled: list[int]


class Counted(Result):
    """The number of inputs."""

    warnings: list[str] = Field(default_factory=list)


class Doubling(Outcomes[int]):
    """Doubles numbers, and records those that cannot be doubled."""

    def __init__(self, services: Services, request: Numbers) -> None:
        super().__init__()
        self.request = request
        self.begun: list[int] = []

    def _yield_items(self) -> Iterator[int]:
        for number in self.request.numbers:
            self.begun.append(number)
            if number == 13:
                raise UpstreamError("nobody answers")
            yield 2 * number

    def missing_error(self) -> EntrezKitError | None:
        return EntityNotFound("no zero") if 0 in self.begun else None


DOUBLE: StreamOperation[Numbers, Doubled, Doubling] = StreamOperation(
    name="double",
    request=Numbers,
    result=Doubled,
    outcomes=Doubling,
    collect=lambda request, outcomes: Doubled(doubled=list(outcomes)),
    command=("double",),
    toolset="pubmed",
    title="Double",
)
HALF: DocumentOperation[Numbers, Doubled] = DocumentOperation(
    name="half",
    request=Numbers,
    result=Doubled,
    function=lambda services, request: Doubled(doubled=request.numbers),
    command=("half",),
    toolset="pubmed",
    title="Half",
)


@pytest.fixture
def services() -> Iterator[Services]:
    built = Services(Settings(no_cache=True))
    yield built
    built.close()


def test_the_document_is_built_from_all_outcomes(services: Services) -> None:
    assert DOUBLE.run(services, {"numbers": [1, 2]}).doubled == [2, 4]


def test_outcomes_are_streamed_one_at_a_time_and_nothing_starts_before_the_first_is_read(services: Services) -> None:
    outcomes: Any = DOUBLE.stream(services, {"numbers": [1, 2, 3]})
    assert outcomes.begun == []

    assert next(iter(outcomes)) == 2
    assert outcomes.begun == [1]


def test_a_stream_is_refused_a_second_time(services: Services) -> None:
    outcomes: Any = DOUBLE.stream(services, {"numbers": [1, 2]})
    assert next(iter(outcomes)) == 2

    with pytest.raises(InvalidInput) as caught:
        list(outcomes)

    assert caught.value.reason == "stream_used"
    assert outcomes.begun == [1]


def test_invalid_arguments_are_found_before_anything_is_streamed(services: Services) -> None:
    with pytest.raises(EntrezKitError, match="numbers"):
        DOUBLE.stream(services, {"numbers": []})


def test_the_missing_inputs_are_known_after_the_stream_and_reported_with_the_result(services: Services) -> None:
    def read_stream() -> Outcomes[int]:
        outcomes = DOUBLE.stream(services, {"numbers": [1, 0]})
        assert list(outcomes) == [2, 0]
        return outcomes

    walked = catch_errors(read_stream)

    assert isinstance(walked.result, Doubling)
    assert isinstance(walked.error, EntityNotFound)


def test_an_interrupted_stream_raises_the_same_error_collected_and_streamed(services: Services) -> None:
    arguments = {"numbers": [1, 13]}

    def read_stream() -> Outcomes[int]:
        outcomes = DOUBLE.stream(services, arguments)
        list(outcomes)
        return outcomes

    streamed, collected = catch_errors(read_stream), execute(DOUBLE, services, arguments)

    assert streamed.result is None
    assert collected.result is None
    assert str(streamed.error) == str(collected.error) == "nobody answers"


def test_a_result_for_a_front_end_names_the_service_and_one_for_another_operation_does_not() -> None:
    def count(services: Services, request: Numbers) -> Counted:
        return Counted(warnings=["own"])

    operation = DocumentOperation(
        name="count",
        request=Numbers,
        result=Counted,
        function=count,
        command=("count",),
        toolset="pubmed",
        title="Count",
    )
    request = operation.build({"numbers": [1]})
    with closing(Services(Settings(no_cache=True, copy_label="a copy"))) as services:
        run, executed = operation.run(services, request), execute(operation, services, {"numbers": [1]}).result
        inner = operation.compute(services, request)

    assert executed is not None
    for result in (run, executed):
        assert len(result.warnings) == 2
        assert "a copy" in result.warnings[0]
        assert result.warnings[1] == "own"
    assert inner.warnings == ["own"]


def test_a_tool_call_opens_no_span_because_the_server_has_one(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    @contextmanager
    def open_span(name: str, settings: Settings) -> Iterator[None]:
        opened.append(name)
        yield

    monkeypatch.setattr(tracing, "is_recording_spans", lambda: True)
    monkeypatch.setattr(spans, "operation_span", open_span)

    assert execute(HALF, services, {"numbers": [4]}).error is None
    assert opened == []
    HALF.run(services, {"numbers": [4]})
    assert opened == ["half"]


def test_records_are_passed_to_a_function_only_if_the_operation_can(services: Services) -> None:
    def collect_into(request: Numbers, outcomes: Doubling, take_record: Callable[[Any], None]) -> Doubled:
        for outcome in outcomes:
            take_record(outcome)
        return Doubled(doubled=[])

    request = DOUBLE.build({"numbers": [1, 2]})
    taken: list[int] = []

    passed_on = replace(DOUBLE, collect_into=collect_into).collect_result(
        request, Doubling(services, request), taken.append
    )
    collected = DOUBLE.collect_result(request, Doubling(services, request), taken.append)

    assert (passed_on.doubled, taken) == ([], [2, 4])
    assert collected.doubled == [2, 4]


class Limited(Request):
    names: list[Annotated[str, Field(min_length=2)]] = Field(max_length=3, min_length=1)
    number: Annotated[int, Field(ge=1)] | None = None
    year: str = Field(default="2019", pattern=FOUR_DIGITS)
    flag: bool = Field(default=False, description="Whether it is on.")


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ({"names": ["a"]}, "names.0 must be 2 or more characters (got 'a').", "Correct names.0."),
        ({"names": ["ab"] * 4}, "names must be a list of 1 to 3 entries (got 4 entries).", "Correct names."),
        ({"names": 1}, "names must be a list of 1 to 3 entries (got 1).", "Correct names."),
        ({"names": ["ab"], "number": 0}, "number must be a whole number of 1 or more (got 0).", "or omit it"),
        ({"names": ["ab"], "year": "19"}, "year must be four digits, such as 2019 (got '19').", "or omit it"),
        ({"names": ["ab"], "flag": "maybe"}, "flag must be true or false (got 'maybe').", "or omit it"),
    ],
)
def test_a_wrong_value_is_named_with_what_the_declaration_of_the_argument_accepts(
    arguments: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        Limited.model_validate(arguments)

    error = invalid_arguments(caught.value, Limited)
    assert error.message == message
    assert hint in error.recovery_hint


def test_a_problem_with_an_argument_has_a_reason_for_programs(services: Services) -> None:
    problems: dict[str, str] = {}
    for arguments in ({}, {"numbers": [1], "nonsense": 2}, {"numbers": ["x"]}):
        with pytest.raises(EntrezKitError) as caught:
            DOUBLE.run(services, arguments)
        problems |= {problem["field"]: problem["reason"] for problem in caught.value.details["errors"]}

    assert problems == {"numbers": "missing_argument", "nonsense": "unknown_argument", "numbers.0": "invalid_value"}


@pytest.mark.parametrize(
    ("operation", "arguments", "hint"),
    [
        (SEARCH_ARTICLES, {"query_term": "asthma", "offset": -1}, "Correct offset, or omit it"),
        (SEARCH_ARTICLES, {"query_term": "asthma", "sort_by": "relevence"}, "Did you mean relevance?"),
        (SEARCH_ARTICLES, {"query_term": "a", "max_results": 0}, "Correct query_term. Correct max_results, or omit it"),
        (SEARCH_ARTICLES, {}, "Add query_term."),
        (SEARCH_ARTICLES, {"query_term": "asthma", "colour": 1}, "Remove or rename colour. help() lists the "),
        (FETCH_CONTENTS, {"query_key": "1"}, "Add web_env."),
        (FETCH_CONTENTS, {"pmids": ["1"], "retmax": "many"}, "Correct retmax, or omit it"),
        (FORMAT_CITATIONS, {"pmids": ["1"], "citation_styles": ["lancett"]}, "Similar styles are the-lancet"),
    ],
)
def test_the_hint_names_the_argument_and_what_to_do(
    operation: Operation[Any, Any], arguments: dict[str, Any], hint: str
) -> None:
    with pytest.raises(EntrezKitError) as caught:
        operation.build(arguments)

    assert caught.value.recovery_hint.startswith(hint)
