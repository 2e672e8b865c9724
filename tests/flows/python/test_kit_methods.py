"""The methods of EntrezKit: their signatures, arguments and streams."""

import subprocess
import sys
from inspect import getdoc, signature
from typing import Any

import pytest

from entrez_kit import EntrezKit, InvalidInput
from entrez_kit.core.operation import Operation, StreamOperation
from entrez_kit.corpus.store import store_of
from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.python.kit_streams import Streams
from entrez_kit.sandbox.server import Sandbox

operations = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.method)


@operations
def test_a_method_shows_every_argument_with_its_default(operation: Operation[Any, Any]) -> None:
    method = getattr(EntrezKit, operation.method)
    parameters = {name: one for name, one in signature(method).parameters.items() if name != "self"}

    assert list(parameters) == list(operation.request.model_fields)
    for name, parameter in parameters.items():
        field = operation.request.model_fields[name]
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert (parameter.default is parameter.empty) == field.is_required(), name
        assert f"    {name}: " in (getdoc(method) or "")
        if not field.is_required():
            default = field.get_default(call_default_factory=True)
            assert parameter.default == (tuple(default) if isinstance(default, list) else default), name


def test_omitted_arguments_are_not_sent(monkeypatch: pytest.MonkeyPatch, kit: EntrezKit) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(Operation, "run", lambda operation, services, arguments: sent.append(arguments))

    kit.search_articles(query_term="crispr", offset=0)

    assert sent == [{"query_term": "crispr", "offset": 0}]


def test_arguments_outside_of_the_signature_are_checked_by_the_request(kit: EntrezKit) -> None:
    untyped_kit: Any = kit
    assert untyped_kit.search_articles(queryTerm="crispr", maxResults=1).pmids
    with pytest.raises(InvalidInput, match="query_term"):
        untyped_kit.search_articles()
    with pytest.raises(InvalidInput, match="colour"):
        untyped_kit.search_articles(query_term="crispr", colour="red")


@pytest.mark.process
def test_the_kit_imports_no_operation_before_it_is_called() -> None:
    code = "import sys, entrez_kit.python.kit; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "entrez_kit.python.kit_methods" in done.stdout
    assert "entrez_kit.core.operation" not in done.stdout


def test_a_stream_gives_the_same_records_as_the_method(kit: EntrezKit) -> None:
    pmids = ["99000001", "99999999", "99000002"]
    stream = kit.stream.fetch_contents(pmids=pmids)
    walked = list(stream)
    collected = kit.fetch_contents(pmids=pmids)

    assert [one.outcome.input for one in walked] == pmids
    assert [one.document for one in walked if one.document] == collected.articles
    missing, also_missing = stream.missing_error(), collected.missing_error()
    assert missing is not None
    assert also_missing is not None
    assert missing.envelope() == also_missing.envelope()


@pytest.mark.parametrize(
    "name", [operation.method for operation in OPERATIONS if isinstance(operation, StreamOperation)]
)
def test_a_stream_has_the_signature_and_documentation_of_its_method_except_for_the_result(name: str) -> None:
    method, streaming = getattr(EntrezKit, name), getattr(Streams, name)

    assert signature(streaming).parameters == signature(method).parameters
    assert signature(streaming).return_annotation != signature(method).return_annotation
    said, also_said = (getdoc(one) or "" for one in (method, streaming))
    assert said.partition("Returns:")[0] == also_said.partition("Returns:")[0]
    assert said.partition("Raises:")[2] == also_said.partition("Raises:")[2]
    assert said != also_said


def test_no_request_is_sent_before_the_stream_is_read(kit: EntrezKit, sandbox: Sandbox) -> None:
    stream = kit.stream.europepmc_search(query="crispr", page_size=2)

    assert sandbox.requests("europepmc_search") == 0
    assert len(list(stream)) == 2


def test_a_sync_reports_each_stored_batch(kit: EntrezKit, sandbox: Sandbox) -> None:
    stream = kit.stream.sync_delta(query_key="editing", term="base editing")
    assert sandbox.requests() == 0

    inserted: list[int] = []
    for batch in stream:
        inserted += batch.inserted
        assert store_of(kit.services).stats("editing").documents == len(inserted)

    assert len(inserted) == stream.result().inserted > 0
    assert stream.missing_error() is None


def test_only_operations_with_many_outcomes_have_streams(kit: EntrezKit) -> None:
    streams = {operation.method for operation in OPERATIONS if isinstance(operation, StreamOperation)}

    assert {name for name in dir(kit.stream) if not name.startswith("_")} == streams | {"services"}
    with pytest.raises(InvalidInput, match="colour"):
        kit.stream.fetch_contents(pmids=["1"], colour="red")  # type: ignore[call-arg]


def test_search_and_fetch_are_short_names() -> None:
    with EntrezKit(demo=True) as kit:
        found = kit.search(query_term="editing", max_results=2)
        assert found == kit.search_articles(query_term="editing", max_results=2)
        assert kit.fetch(pmids=found.pmids) == kit.fetch_contents(pmids=found.pmids)
