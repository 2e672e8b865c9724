"""The package list, the public names, and the files of the project."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable

import pytest
from project_paths import ROOT

import entrez_kit


def test_every_package_on_disk_is_listed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = set(project["tool"]["setuptools"]["packages"])
    places = {"entrez_kit": "entrez_kit", "commands": "entrez_kit.commands", "fixtures": "entrez_kit.fixtures"}
    found = {
        ".".join((package, *path.parent.relative_to(ROOT / folder).parts))
        for folder, package in places.items()
        for path in (ROOT / folder).rglob("__init__.py")
    }

    assert listed == found


@pytest.mark.process
def test_the_top_level_has_only_the_agreed_files() -> None:
    allowed = {"pyproject.toml", "entrez_kit", "commands", "tests", "fixtures", "README.md", "CHANGELOG.md", "LICENSE"}
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False, encoding="utf-8"
    ).stdout.splitlines()
    top = {name.split("/")[0] for name in tracked}

    assert {name for name in top if not name.startswith(".")} <= allowed


def test_the_changelog_has_one_short_entry_for_each_change() -> None:
    """A merge of two branches can restore removed text: then a heading appears twice, or an entry is long."""
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    headings = [line for line in lines if line.startswith("#")]
    entries = re.findall(r"^- .*(?:\n  .*)*", "\n".join(lines), re.MULTILINE)

    assert headings[1] == "## Unreleased"
    assert len(headings) == len(set(headings))
    assert [entry for entry in entries if len(entry) > 400] == []
    assert len(entries) == len(set(entries))


CARD = {
    "typer": "typer",
    "rich": "rich",
    "requests": "requests",
    "requests-cache": "requests_cache",
    "biopython": "Bio",
    "pydantic": "pydantic",
    "mcp": "mcp",
    "pyrate-limiter": "pyrate_limiter",
}
"""The packages that the project must use, and the names they are imported by."""

CARD_OF_TESTS = {"pytest": "pytest", "responses": "responses"}


def _import_each(packages: Iterable[str], *folders: str) -> bool:
    """Return whether code of these folders imports each package when it runs, not only for types."""
    missing = set(packages)
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if any(re.search(rf"(?:import|from) {name}\b", text) for name in missing):
            missing -= _list_imported(ast.parse(text))
        if not missing:
            return True
    return False


def _list_imported(tree: ast.Module) -> set[str]:
    """Return the packages that a module imports when it runs."""
    found = set()
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for part in node.body
        for inner in ast.walk(part)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module).partition(".")[0])
    return found


def test_every_required_package_is_a_dependency_that_the_program_or_its_tests_import() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def list_required(lines: list[str]) -> set[str]:
        return {re.split(r"[<>=!~;\[ ]", line, maxsplit=1)[0] for line in lines}

    assert set(CARD) <= list_required(project["dependencies"])
    assert set(CARD_OF_TESTS) <= list_required(project["optional-dependencies"]["dev"])
    assert _import_each(CARD.values(), "entrez_kit", "commands")
    assert _import_each(CARD_OF_TESTS.values(), "tests")
    assert not _import_each(["no_such_package"], "entrez_kit", "commands")


def test_public_names_are_sorted_and_load() -> None:
    assert entrez_kit.__all__ == sorted(entrez_kit.__all__)
    for name in entrez_kit.__all__:
        assert getattr(entrez_kit, name) is not None


@pytest.mark.process
def test_importing_the_package_loads_nothing_else_of_it() -> None:
    code = "import sys, entrez_kit; print([m for m in sys.modules if m.startswith('entrez_kit.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")

    assert done.stdout.strip() == "['entrez_kit.base']"


def test_the_version_is_the_same_everywhere() -> None:
    from importlib.metadata import version

    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", entrez_kit.__version__)
    assert version("entrez-kit") == entrez_kit.__version__
