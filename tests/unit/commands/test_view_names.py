"""The functions of views are named by what they return, and each module of views is known to the type checker."""

import ast
from collections.abc import Iterator

import pytest
from project_paths import ROOT
from syntax_trees import read_nodes, read_tree

from entrez_kit.commands import _views

FOLDER = ROOT / "commands" / "_views"
MODULES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


def list_public_functions() -> Iterator[tuple[str, str, str]]:
    """Yield the module, the name and the return type of each public function."""
    for module in MODULES:
        for node in read_tree(FOLDER / f"{module}.py").body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node.returns is not None:
                yield module, node.name, ast.unparse(node.returns)


def test_a_function_for_rich_renders_or_builds_and_one_for_markdown_writes() -> None:
    for module, name, returned in list_public_functions():
        if returned == "RenderableType":
            assert name.startswith(("render_", "build_")), f"{module}.{name}"
        else:
            assert not name.startswith("render_"), f"{module}.{name} returns {returned}"
        if name.startswith("write_"):
            assert returned in ("str", "list[str]", "Iterator[str]"), f"{module}.{name} returns {returned}"


def test_the_type_checker_knows_every_module_of_views() -> None:
    imported = [node for node in read_nodes(FOLDER / "__init__.py") if isinstance(node, ast.ImportFrom) and node.level]

    assert sorted(alias.name for node in imported for alias in node.names) == MODULES


def test_a_module_of_views_is_imported_by_its_name_and_an_unknown_one_is_an_error() -> None:
    assert _views.databases.__name__ == f"{_views.__name__}.databases"
    with pytest.raises(AttributeError, match="has no attribute 'tabels'"):
        getattr(_views, "tabels")  # noqa: B009  # the type checker knows that it does not exist
