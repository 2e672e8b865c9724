"""Answers of the demo state that they are from the demo: in the document, in a remark on closed ones, or on stderr."""

import json
from dataclasses import replace
from typing import Any

import pytest
from command_line import Cli
from example_calls import CORPUS, EXAMPLES
from mcp_helpers import ServicesFor
from project_paths import DATA

from entrez_kit import EntrezKit, Settings
from entrez_kit.base.settings import DEMO_WARNING, load_settings
from entrez_kit.core.operation import Operation
from entrez_kit.corpus.operations import SYNC
from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.app import EntrezServer
from entrez_kit.server.tools import Toolbox
from entrez_kit.server.trimming import DEMO_FLAG

WITHOUT_REQUESTS = {"translate_strategy", "lint_strategy", "merge_references"}
"""Operations that send no request by default, so the demo does not answer them."""
CLOSED = {"rag_search", "rag_get", "corpus_checkpoint_get", "corpus_checkpoint_set"}


@pytest.mark.process
@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_an_answer_of_the_demo_states_it_in_the_document_or_in_a_remark(
    services_for: ServicesFor, sandbox: Sandbox, operation: Operation[Any, Any], asked: bool
) -> None:
    services = services_for(sandbox)
    if operation.command[0] == "corpus":
        SYNC.run(services, CORPUS)
    if asked:
        services.settings = replace(services.settings, demo=True, origins={"demo": "flag"})

    for _, arguments in EXAMPLES[operation.name]:
        answer = Toolbox([operation]).call(services, operation.name, arguments)

        sends_requests = operation.name not in WITHOUT_REQUESTS or arguments.get("online", False)
        is_from_demo = asked and sends_requests
        has_place = not answer.is_error and operation.name not in CLOSED
        warnings = json.dumps((answer.structured_content or {}).get("warnings"))
        assert (DEMO_FLAG in warnings) is (is_from_demo and has_place)
        assert ((answer.meta or {}).get("demo") == DEMO_WARNING) is is_from_demo
        assert any(DEMO_FLAG in getattr(part, "text", "") for part in answer.content) is is_from_demo


@pytest.mark.parametrize("asked", [True, False])
def test_a_server_states_once_in_full_that_the_demo_answers(
    services_for: ServicesFor, sandbox: Sandbox, asked: bool
) -> None:
    services = services_for(sandbox)
    if asked:
        services.settings = replace(services.settings, demo=True, origins={"demo": "flag"})

    instructions = EntrezServer(services).build().instructions or ""

    assert instructions.endswith(DEMO_WARNING) is asked


def test_the_demo_warning_is_given_only_if_the_demo_was_requested() -> None:
    url = "http://127.0.0.1:1"

    assert Settings().use_sandbox(url).demo_warning is None
    assert load_settings({"demo": False}, environ={}).use_sandbox(url).demo_warning is None
    assert load_settings({}, environ={"ENTREZ_KIT_DEMO": "1"}).use_sandbox(url).demo_warning == DEMO_WARNING
    assert Settings(demo=True).use_sandbox(url).demo_warning == DEMO_WARNING


def test_python_results_have_the_demo_warning_once(no_waiting: None) -> None:
    with EntrezKit(demo=True) as kit:
        found = kit.search_articles(query_term="crispr")
        whole = kit.search_all(query_term="crispr")
        stream = kit.stream.fetch_contents(pmids=found.pmids[:1])
        assert len(list(stream)) == 1

    assert [warning.message for warning in found.warnings].count(DEMO_WARNING) == 1
    assert [warning.message for warning in whole.warnings].count(DEMO_WARNING) == 1
    assert [warning.message for warning in stream.warnings].count(DEMO_WARNING) == 1


def test_stderr_has_the_demo_warning_once_also_with_quiet(alone: Cli, no_waiting: None) -> None:
    for form in ("table", "csv", "json", "jsonl"):
        done = alone("--demo", "-q", "search", "crispr", "-n", "1", "-f", form)

        assert done.err.splitlines() == [f"Warning: {DEMO_WARNING}"], form
        assert (DEMO_WARNING in done.out) is (form == "json"), form


def test_a_command_that_sends_no_request_does_not_have_the_demo_warning(alone: Cli, no_waiting: None) -> None:
    strategy, references = str(DATA / "strategy.txt"), str(DATA / "references.txt")
    for arguments in (
        ("strategy", "translate", strategy),
        ("strategy", "lint", strategy),
        ("merge", references),
        ("convert", references, "--to", "ris"),
        ("guide", "errors"),
    ):
        done = alone("--demo", *arguments)

        assert DEMO_WARNING not in done.err + done.out, arguments


def test_the_demo_warning_is_printed_for_the_corpus_and_for_cached_replies(alone: Cli, no_waiting: None) -> None:
    for arguments in (("corpus", "search", "crispr"), ("corpus", "list"), ("spell", "crispr")):
        for _ in range(2):
            assert DEMO_WARNING in alone("--demo", *arguments).err, arguments
