"""Texts with the names of calls, arguments and flags of each front end, and never of another."""

import ast
import json
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from syntax_trees import read_nodes

from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import AGAIN, OFFLINE_SWITCH, Argument, FrontendText, NextCall, PerFrontend
from entrez_kit.commands import _app, _frontend, load_command
from entrez_kit.core.model import Warn
from entrez_kit.core.operation import Operation
from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.server.tools import McpFrontend

ROOT = Path(__file__).parents[3] / "entrez_kit"
ELSEWHERE = (
    "sandbox/",
    "doctor/",
    "base/configuration.py",
    "__main__.py",
    "server/auth.py",
    "server/guard.py",
    "server/http.py",
    "citations/style/",
    "citations/pandoc.py",
)
"""Words that only commands of the terminal use, and the names of pandoc."""
ABOUT_TOOLS = ("server/_app.py", "server/prompts.py", "server/resources.py")
"""Words that only MCP clients read."""
PYDANTIC = re.compile(
    r"Input should|should (have|be)|Extra inputs|Field required|not permitted|valid (string|integer|list)"
)
BY_METHOD = {operation.method: operation for operation in OPERATIONS}
TOOL_NAMES = {name for operation in OPERATIONS for name in (operation.name, *operation.aliases)}


def _make_terminal(*command: str) -> Any:
    words = _frontend
    return words.Terminal(words.name_options(_write_command(command)) if command else {})


@cache
def _write_command(words: tuple[str, ...]) -> Any:
    command = load_command(words[0])
    for word in words[1:]:
        command = command.commands[word]
    return command


HINT = FrontendText(
    "To sort by ", Argument("sort_by"), " call ", NextCall("search_articles", query_term="p53 gene", max_results=5)
)


def test_a_call_and_an_argument_have_three_forms() -> None:
    assert str(HINT) == 'To sort by sort_by call kit.search_articles(query_term="p53 gene", max_results=5)'
    said = McpFrontend().say(HINT)
    assert said == 'To sort by sort_by call pubmed_search_articles(query_term="p53 gene", max_results=5)'
    shown = _make_terminal("search").say(HINT)
    assert shown == "To sort by --sort run `entrez-kit search 'p53 gene' --max-results 5`"


def test_open_arguments_of_a_call_are_placeholders() -> None:
    hint = FrontendText("Call ", NextCall("entrez_search", db="gene", term=...), ".")

    assert str(hint) == 'Call kit.entrez_search(db="gene", term=...).'
    assert McpFrontend().say(hint) == 'Call entrez_search(db="gene", term=...).'
    assert _make_terminal().say(hint) == "Run `entrez-kit db search gene QUERY`."


def test_an_argument_is_written_with_its_value_and_a_group_with_its_options() -> None:
    budget = FrontendText(Argument("budget", 4), " would do")

    assert str(budget) == "budget=4 would do"
    assert _make_terminal("related").say(budget) == "--budget 4 would do"
    assert _make_terminal("search").say(FrontendText(Argument("date_range.min_date"))) == "--min-date"
    assert _make_terminal("search").say(FrontendText(Argument("date_range", marked=True))) == "--min-date/--max-date"
    assert str(FrontendText(Argument("date_range", marked=True))) == "`date_range`"


def test_flags_and_whole_sentences_differ_between_front_ends_too() -> None:
    hint = FrontendText(AGAIN, " without ", OFFLINE_SWITCH, PerFrontend("", "", "!"))

    assert str(hint) == "Make the same call again without offline=True!"
    assert McpFrontend().say(hint) == "Make the same call again without ENTREZ_KIT_OFFLINE"
    assert _make_terminal().say(hint) == "Run the same command again without --offline"


def test_tools_have_the_names_under_which_they_are_listed() -> None:
    listed = McpFrontend({"search_articles": "searchPubMedArticles"})

    assert listed.say(FrontendText(NextCall("search_articles"))) == "searchPubMedArticles"


def test_a_text_keeps_its_parts_in_copies_errors_and_other_texts() -> None:
    outer = FrontendText("First. ", deepcopy(HINT), ".")

    assert str(outer) == f"First. {HINT!s}."
    assert McpFrontend().say(outer) == f"First. {McpFrontend().say(HINT)}."
    error = InvalidInput(HINT, recovery_hint=outer).say_in(McpFrontend())
    assert error.envelope()["error"]["message"] == McpFrontend().say(HINT)
    assert error.recovery_hint == McpFrontend().say(outer)


@pytest.mark.parametrize("part", [HINT, Argument("sort_by"), NextCall("search_articles"), AGAIN])
def test_a_part_cannot_be_converted_to_a_string_outside_of_its_text(part: Any) -> None:
    with pytest.raises(TypeError, match="FrontendText"):
        f"{part}"
    with pytest.raises(TypeError):
        "First. " + part
    with pytest.raises(TypeError):
        " ".join([part])
    assert not isinstance(part, str)


def test_an_error_is_a_string_in_python_and_has_its_parts_for_other_front_ends() -> None:
    error = InvalidInput(HINT, recovery_hint=HINT, details={"errors": [{"message": HINT}], "reason": "x"})

    assert error.message == error.recovery_hint == error.details["errors"][0]["message"] == str(error) == str(HINT)
    assert json.loads(json.dumps(error.envelope()))["error"]["message"] == str(HINT)
    again = error.copy_with(hint=FrontendText(error.hint_text, " Again."), attempts=2).say_in(McpFrontend())
    said = McpFrontend().say(HINT)
    assert (again.message, again.recovery_hint) == (said, f"{said} Again.")
    assert again.details == {"errors": [{"message": said}], "reason": "x", "attempts": 2}


def test_a_warning_is_a_string_in_documents_and_has_its_parts_for_front_ends() -> None:
    warning = Warn(code="x", message=HINT)

    assert warning.message == str(HINT)
    assert warning.model_dump() == {"code": "x", "message": str(HINT)}
    assert Warn.model_validate_json(warning.model_dump_json()) == warning
    assert McpFrontend().say(warning.text) == McpFrontend().say(warning.model_copy().text) == McpFrontend().say(HINT)


# Every text of the source


@cache
def _list_modules() -> dict[str, tuple[ast.AST, ...]]:
    modules = {path.relative_to(ROOT).as_posix(): path for path in sorted(ROOT.rglob("*.py"))}
    return {name: read_nodes(path) for name, path in modules.items() if not name.startswith(ELSEWHERE)}


def _list_texts(nodes: tuple[ast.AST, ...]) -> Iterator[str]:
    """Yield the strings that all front ends show: neither docstrings nor arguments of ``PerFrontend``."""
    skipped = {
        id(inner)
        for node in nodes
        if (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("PerFrontend", "suggest_command", "NextCall")
        )
        for inner in ast.walk(node)
    }
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


@pytest.mark.long
def test_no_text_for_all_front_ends_names_a_command_a_flag_or_a_tool() -> None:
    commands = "|".join(_app.COMMANDS)
    flags = {
        opt
        for operation in OPERATIONS
        for parameter in _write_command(operation.command).params
        for opt in parameter.opts
    }
    long = "|".join(sorted(flag for flag in flags if flag.startswith("--")))
    theirs = re.compile(rf"(?<!an )entrez-kit ({commands})\b|(?<![\w-])({long})\b")
    tools = re.compile(
        rf"\w (?:{'|'.join(map(re.escape, TOOL_NAMES))})\b|\b(?:{'|'.join(map(re.escape, TOOL_NAMES))}) \w"
    )

    for name, nodes in _list_modules().items():
        for text in _list_texts(nodes):
            assert not theirs.search(text), f"{name}: {text!r}"
            assert name.startswith(ABOUT_TOOLS) or not tools.search(text), f"{name}: {text!r}"


@pytest.mark.long
def test_every_recommended_call_can_be_made_in_every_front_end() -> None:
    found = 0
    for name, nodes in _list_modules().items():
        if "entrez_kit.base.frontend_text import" not in (ROOT / name).read_text(encoding="utf-8"):
            continue
        for node in nodes:
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "NextCall"):
                continue
            if not (node.args and isinstance(node.args[0], ast.Constant)):
                continue
            operation = BY_METHOD[str(node.args[0].value)]
            given = {str(keyword.arg) for keyword in node.keywords}
            parameters = {parameter.name for parameter in _write_command(operation.command).params}
            assert given <= set(operation.request.model_fields), f"{name}: {operation.method}"
            assert given <= parameters, f"{name}: {operation.command}"
            found += 1
    assert found > 15


# Wrong arguments

WRONG: tuple[Any, ...] = (
    None,
    "",
    [],
    {},
    [{}],
    "x" * 100_001,
    -1,
    10**12,
    1.5,
    "\x00",
    object(),
    {"x": 1},
    [1] * 10_001,
)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_an_invalid_argument_is_reported_in_our_words_with_its_name(operation: Operation[Any, Any]) -> None:
    terminal = _make_terminal(*operation.command)
    hidden = [field for field, flag in terminal.options.items() if "_" in field and flag != field]
    for name in operation.request.model_fields:
        for value in WRONG:
            try:
                operation.build({name: value})
            except EntrezKitError as exc:
                error = exc
            else:
                continue
            assert not PYDANTIC.search(error.message), error.message
            assert not [one for one in error.details.get("errors", []) if PYDANTIC.search(one["message"])]
            said = error.say_in(terminal).message
            assert not [field for field in hidden if re.search(rf"\b{field}:", said)], said


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_many_unknown_names_are_rejected_after_few_comparisons(
    operation: Operation[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = 0
    prepare = SequenceMatcher.set_seq1

    def count_comparison(matcher: "SequenceMatcher[str]", known: str) -> None:
        nonlocal compared
        compared += 1
        prepare(matcher, known)

    monkeypatch.setattr(SequenceMatcher, "set_seq1", count_comparison)
    names = [f"unknown name {number}" for number in range(100)]
    for field in operation.request.model_fields:
        for value in (names, [*range(100)], dict.fromkeys(names, 1)):
            compared = 0
            with suppress(EntrezKitError):
                operation.build({field: value})
            assert compared < 20_000, field  # there are ten thousand styles


def test_a_similar_argument_is_suggested_and_no_other() -> None:
    search = BY_METHOD["search_articles"]

    def get_problem(**arguments: Any) -> str:
        with pytest.raises(InvalidInput) as caught:
            search.build({"query_term": "crispr", **arguments})
        return caught.value.message

    assert get_problem(max_result=5).endswith("did you mean max_results?")
    assert get_problem(sortBy2="x").endswith("did you mean sort_by?")
    assert get_problem(date_range={"mindate": "2020"}).endswith("did you mean date_range.min_date?")
    assert get_problem(colour="red") == "colour is not a known argument."


def test_command_lines_are_quoted_for_a_shell() -> None:
    line = _make_terminal().say(FrontendText(NextCall("search_genes", query='p53; rm "x" $HOME', organism="human")))

    assert shlex.split(line.strip("`")) == ["entrez-kit", "gene", "search", 'p53; rm "x" $HOME', "--organism", "human"]
