"""Every operation of the catalogue has its front ends, and their results agree."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, read_error
from example_calls import CORPUS, EXAMPLES, FAILING_EXAMPLES

from entrez_kit import EntrezKit
from entrez_kit.base.errors import EntrezKitError
from entrez_kit.commands import _app, _frontend, load_command
from entrez_kit.commands._pipeline import find_status
from entrez_kit.core.model import is_absent
from entrez_kit.core.operation import Operation
from entrez_kit.python.catalogue import OPERATIONS

TERMINAL_ONLY = {"show", "check", "sandbox", "serve", "doctor", "cache", "config", "guide", "local", "review"}
"""Commands that are not an operation."""
EVERYWHERE = {
    *("format", "json", "count", "fields", "no_header", "output"),
    *(
        "demo",
        "local",
        "record",
        "replay",
        "offline",
        "refresh",
        "no_cache",
        "quiet",
        "verbose",
        "color",
        "config_file",
        "help",
    ),
}
"""Parameters of every command."""
FLAGS_ONLY = {
    "translate_strategy": {"file"},
    "measure_recall": {"file"},
    "lint_strategy": {"file", "fail_on", "fix", "force"},
    "check_references": {"file", "in_text", "accept", "fail_on", "fix", "dry_run", "force"},
    "pubmed_search_articles": {"strict", "strategy", "since", "min_date", "max_date", "date_type"},
    "pubmed_fetch_contents": {"input"},
    "get_gene": {"input"},
    "search_genes": {"input"},
    "get_pubmed_links": {"input"},
    "pubmed_article_relationships": {"input"},
    "pubmed_format_citations": {"input", "numbered"},
    "europepmc_search": {"preprints"},
    "pubmed_convert_ids": {"input", "to"},
    "pubmed_fetch_fulltext": {"input"},
    "entrez_summary": {"input"},
    "entrez_fetch": {"input"},
    "entrez_link": {"input"},
    "pubmed_sync_delta": {"replace_term", "dry_run"},
    "pubmed_verify_claims": {"file", "bibliography"},
    "merge_references": {"source", "review", "undo"},
    "corpus_checkpoint_set": {"note"},
    "pubmed_lookup_citation": {
        *("files", "journal", "year", "volume", "issue", "first_page", "last_page", "author_name", "title", "key")
    },
}
"""Parameters that are not a field: parameters of the terminal, and the three flags of date_range."""
FIELDS_ONLY = {
    "translate_strategy": {"strategy", "words_name", "count"},
    "lint_strategy": {"strategy", "words_name"},
    "measure_recall": {"strategy", "words_name"},
    "check_references": {
        "text",
        "text_start",
        "max_references",
        "references",
        "corrects",
    },
    "pubmed_search_articles": {"date_range"},
    "pubmed_fetch_contents": {"output_format"},
    "pubmed_fetch_fulltext": {"pmids", "pmcids", "dois"},
    "pubmed_format_citations": {"markup"},
    "pubmed_lookup_citation": {"citations"},
    "pubmed_verify_claims": {"claims"},
    "merge_references": {"decisions", "separate"},
}
"""Fields without a flag of the same name: date_range has three, raw_text is -f xml and -f nbib, ids are recognised."""
OTHER_DEFAULTS = {
    ("pubmed_search_articles", "query_term"),  # a strategy replaces it
    ("pubmed_search_articles", "fetch_brief_summaries"),  # tables request titles, json does not
    ("pubmed_sync_delta", "term"),  # the term of a key is stored
}
SEVERAL_IDS = {
    ("pubmed_fetch_contents", "pmids"),
    ("pubmed_format_citations", "pmids"),
    ("pubmed_fetch_fulltext", "ids"),
    ("get_gene", "entrez_id"),
    ("search_genes", "query"),
    ("get_pubmed_links", "entrez_id"),
    ("pubmed_article_relationships", "source_pmid"),
    ("pubmed_convert_ids", "ids"),
    ("entrez_summary", "ids"),
    ("entrez_fetch", "ids"),
    ("entrez_link", "ids"),
}
"""Identifiers: the terminal takes several, and from files and pipes, so its parser requires none."""

FROM_RUN_TO_RUN = {"pubmed_sync_delta": {"job_id"}}
"""Members of a document that contain the time of its creation."""

WITH_FINDINGS = {"pubmed_verify_claims", "corpus_audit", "lint_strategy"}
"""Operations whose command ends with status 4 if the result has findings."""

operations = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)


def remove_changing(operation: Operation[Any, Any], document: dict[str, Any]) -> dict[str, Any]:
    """Return the document without what differs from run to run."""
    return {name: value for name, value in document.items() if name not in FROM_RUN_TO_RUN.get(operation.name, ())}


def find_command(operation: Operation[Any, Any]) -> Any:
    """Return the command of an operation."""
    name, *rest = operation.command
    command = load_command(name)
    for inner in rest:
        command = command.commands[inner]
    return command


@operations
def test_every_operation_has_a_method_of_the_kit(operation: Operation[Any, Any]) -> None:
    assert callable(getattr(EntrezKit, operation.method))
    assert getattr(EntrezKit, operation.method).__doc__


@operations
def test_every_command_has_the_fields_and_defaults_of_its_request(operation: Operation[Any, Any]) -> None:
    command = find_command(operation)
    parameters = {parameter.name: parameter for parameter in command.params if parameter.name not in EVERYWHERE}
    fields = operation.request.model_fields

    assert set(parameters) - FLAGS_ONLY.get(operation.name, set()) == set(fields) - FIELDS_ONLY.get(
        operation.name, set()
    )
    for name, parameter in parameters.items():
        if name not in fields or (operation.name, name) in OTHER_DEFAULTS | SEVERAL_IDS:
            continue
        default = fields[name].get_default(call_default_factory=True)
        if fields[name].is_required():
            assert parameter.required, name
        elif is_absent(default):
            assert is_absent(parameter.default), name
        else:
            assert parameter.default == default, name


@operations
def test_every_flag_has_the_description_of_its_field_or_a_longer_one(operation: Operation[Any, Any]) -> None:
    command = find_command(operation)
    for parameter in command.params:
        assert parameter.help, f"{operation.name} {parameter.name}"
        field = operation.request.model_fields.get(parameter.name)
        if field is not None and (operation.name, parameter.name) not in SEVERAL_IDS:
            # Descriptions of tools are short, because agents pay for them; a help page has space.
            described = str(field.description).replace("[", "\\[")
            assert described in parameter.help or len(parameter.help) > len(described), parameter.name


BOUNDED = [
    (operation, name, bounds)
    for operation in OPERATIONS
    for name, info in operation.request.model_fields.items()
    if (bounds := {kind: getattr(item, kind) for item in info.metadata for kind in ("ge", "le") if hasattr(item, kind)})
    and not hasattr(info.annotation, "model_fields")
]


@pytest.mark.parametrize(("operation", "name", "bounds"), BOUNDED, ids=[f"{one[0].name}-{one[1]}" for one in BOUNDED])
def test_numbers_outside_of_their_bounds_are_rejected(
    cli: Cli, operation: Operation[Any, Any], name: str, bounds: dict[str, int]
) -> None:
    arguments, fields = EXAMPLES[operation.name][0]
    if name in ("retmax", "retstart"):
        arguments, fields = ("--query-key", "1", "--web-env", "x"), {"query_key": "1", "web_env": "x"}
    beyond = [bounds["ge"] - 1, -1, *([bounds["le"] + 1] if "le" in bounds else [])]
    parameter = next((param for param in find_command(operation).params if param.name == name), None)
    given = next((place for place, word in enumerate(arguments) if parameter and word in parameter.opts), None)
    if given is not None:  # an option is given once
        arguments = (*arguments[:given], *arguments[given + 2 :])

    for value in beyond:
        with pytest.raises(EntrezKitError) as refused:
            operation.build({**fields, name: value})
        assert name in str(refused.value)
        if parameter is not None:
            done = cli(*operation.command, *arguments, max(parameter.opts, key=len), str(value), "--json")
            assert done.status == 2, value
            assert read_error(done)["code"] == operation.error_document(refused.value)["error"]["code"]


@pytest.mark.process
@operations
def test_the_terminal_and_python_return_the_same_document(
    cli: Cli, kit_for: Any, sandbox: Any, operation: Operation[Any, Any]
) -> None:
    kit = kit_for(sandbox)
    assert operation.name in EXAMPLES, f"{operation.name} has no example in example_calls.py"
    if operation.command[0] == "corpus":
        kit.sync_delta(**CORPUS)
        assert cli("corpus", "sync", *CORPUS.values()).status == 0
    for arguments, fields in EXAMPLES[operation.name]:
        done = cli(*operation.command, *arguments, "--json")
        returned = getattr(kit, operation.method)(**fields)

        printed, expected = json.loads(done.out), returned.model_dump(mode="json")
        assert remove_changing(operation, printed) == remove_changing(operation, expected), arguments
        if operation.name not in WITH_FINDINGS:
            error = returned.missing_error()
            assert done.status == (find_status(error) if error else 0), arguments


@pytest.mark.long
@operations
def test_the_terminal_and_python_report_the_same_error_with_their_own_names(
    cli: Cli, kit_for: Any, sandbox: Any, operation: Operation[Any, Any]
) -> None:
    arguments, fields = FAILING_EXAMPLES[operation.name]
    with pytest.raises(EntrezKitError) as caught:
        getattr(kit_for(sandbox), operation.method)(**fields)

    printed = json.loads(cli(*operation.command, *arguments, "--json").err)
    command = find_command(operation)
    said = caught.value.say_in(_frontend.Terminal(_frontend.name_options(command)))
    assert printed == json.loads(json.dumps(operation.error_document(said)))


def test_every_command_is_an_operation_or_listed_as_terminal_only() -> None:
    commands = set(_app.COMMANDS)

    assert commands == TERMINAL_ONLY | {operation.command[0] for operation in OPERATIONS}


def test_every_listed_command_has_its_module() -> None:
    folder = Path(_app.__file__).parent

    for name in _app.COMMANDS:
        assert (folder / f"{name}.py").is_file(), name
