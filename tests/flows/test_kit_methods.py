"""The methods of EntrezKit say what they take, and take what they always took."""

import ast
import subprocess
import sys
from collections.abc import Callable
from inspect import getdoc, signature
from typing import Any

import pytest
from kit_signatures import MODULE, module_text

from entrez_kit import EntrezKit, InvalidInput
from entrez_kit.catalogue import OPERATIONS
from entrez_kit.operation import Operation
from entrez_kit.sandbox.server import Sandbox

operations = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.method)


def test_the_methods_are_as_the_operations_have_them() -> None:
    saved = ast.parse(MODULE.read_text(encoding="utf-8"))

    assert ast.dump(ast.parse(module_text())) == ast.dump(saved), "run python tests/support/kit_signatures.py"


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


@pytest.fixture
def kit(kit_for: Callable[..., EntrezKit], sandbox: Sandbox) -> EntrezKit:
    return kit_for(sandbox)


def test_what_is_left_out_is_not_sent(monkeypatch: pytest.MonkeyPatch, kit: EntrezKit) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(Operation, "run", lambda operation, services, arguments: sent.append(arguments))

    kit.search_articles(query_term="crispr", offset=0)

    assert sent == [{"query_term": "crispr", "offset": 0}]


def test_what_the_signature_does_not_name_is_judged_by_the_request(kit: EntrezKit) -> None:
    door: Any = kit
    assert door.search_articles(queryTerm="crispr", maxResults=1).pmids
    with pytest.raises(InvalidInput, match="query_term"):
        door.search_articles()
    with pytest.raises(InvalidInput, match="colour"):
        door.search_articles(query_term="crispr", colour="red")


@pytest.mark.process
def test_the_kit_loads_no_operation_before_it_is_called() -> None:
    code = "import sys, entrez_kit.kit; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "entrez_kit.kit_methods" in done.stdout
    assert "entrez_kit.operation" not in done.stdout
