"""Every error has a reason in its details, which programs can rely on."""

import ast

from project_paths import ROOT
from syntax_trees import read_nodes

from entrez_kit.base.errors import EntrezKitError, invalid_argument


def _list_names(kind: type[EntrezKitError]) -> set[str]:
    return {kind.__name__}.union(*(_list_names(below) for below in kind.__subclasses__()))


def test_every_error_is_raised_with_a_reason() -> None:
    names = _list_names(EntrezKitError) - {EntrezKitError.__name__}
    assert len(names) >= 13
    without = []
    found = 0
    for path in sorted((*(ROOT / "entrez_kit").rglob("*.py"), *(ROOT / "commands").rglob("*.py"))):
        for node in read_nodes(path):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names):
                continue
            found += 1
            details = next((keyword.value for keyword in node.keywords if keyword.arg == "details"), None)
            keys = [ast.unparse(key) for key in details.keys if key] if isinstance(details, ast.Dict) else ["'reason'"]
            is_merged = isinstance(details, ast.Dict) and None in details.keys
            if details is None or not (is_merged or "'reason'" in keys):
                without.append(f"{path.relative_to(ROOT)}:{node.lineno}")

    assert found > 200
    assert without == [], 'add details={"reason": "..."}'


def test_an_invalid_argument_has_the_general_reason_unless_it_has_its_own() -> None:
    assert invalid_argument("db", "must not be empty").reason == "invalid_arguments"
    assert invalid_argument("db", "does not exist", reason="unknown_database").reason == "unknown_database"
