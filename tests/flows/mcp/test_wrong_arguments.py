"""Whatever an agent gives wrongly, in any argument of any tool, it is told in words of tools and can be mended."""

import json
import re
from typing import Any

import pytest
from examples import EXAMPLES
from serving import Json, structured

from entrez_kit.catalogue import OPERATIONS
from entrez_kit.operation import Operation
from entrez_kit.server.clients import ServerServices
from entrez_kit.server.tools import Toolbox

WRONG: dict[str, list[Any]] = {
    "string": [{"a": 1}, ["x", "y"]],
    "integer": ["many", -7, 10**9],
    "array": [{"a": {"b": 1}}, [{"c": [1]}]],
    "boolean": ["perhaps"],
    "object": ["x", {"nonsense": 1}],
}
OF_A_TERMINAL = re.compile(r"entrez-kit |(?<!\S)-{1,2}[a-z]|kit\.|terminal")


@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_wrong_argument_is_named_in_words_of_tools(
    services: ServerServices, operation: Operation[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    toolbox = Toolbox(OPERATIONS)
    schema: Json = toolbox.inputs_of(operation.name) or {}
    good = EXAMPLES[operation.name][0][1]
    calls: list[Json] = [{"nonsense": 1, **good}, *([{}] if schema.get("required") else [])]
    for name, part in schema["properties"].items():
        bad = [*WRONG.get(part.get("type", ""), []), *(["nonsense"] if "enum" in part else [])]
        calls += [{**good, name: value} for value in bad]
    monkeypatch.setattr(Operation, "answer", _never)

    refused = 0
    for arguments in calls:
        result = toolbox.call(services, operation.name, arguments)
        if not result.is_error:
            continue
        error = structured(result)["error"]
        said = [error["message"], error.get("recovery_hint") or error["details"]["recovery_hint"]]
        said += [problem["message"] for problem in error.get("details", {}).get("errors", [])]
        if "not asked" in said[0]:
            continue  # what the model takes for good
        refused += 1
        assert not OF_A_TERMINAL.search(json.dumps(said)), said
        assert said[1], arguments
    assert refused >= 2 or not schema["properties"]


def _never(operation: Operation[Any, Any], services: object, request: object) -> Any:
    from entrez_kit.errors import InvalidInput

    raise InvalidInput("not asked")
