"""Private names of libraries: the ones that the program uses, and whether they still exist.

A package in this list has an upper bound in `pyproject.toml`: the series with which these tests ran. Raise a bound to
a version with which this file passes.
"""

import ast
import inspect
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
from project_paths import ROOT
from syntax_trees import read_nodes

from entrez_kit.base.bio_entrez import REPLACED, InstantClock, build_entrez_request, execute_module, find_module

BOUNDED: Final = {
    "biopython": "entrez_kit/base/bio_entrez.py replaces names at the top of Bio.Entrez and its parser",
    "mcp": "entrez_kit/server/http.py gives each session of the session manager a separate store",
    "requests": "entrez_kit/services/transport/wire.py makes the pools of the adapter watched ones",
    "requests-cache": "entrez_kit/services/transport/cached_session.py gives its SQLite table another connection",
    "typer": "commands/_app.py uses what typer's completion options call",
    "urllib3": "entrez_kit/services/transport/wire.py extends the connections of its pools",
    "uvicorn": "entrez_kit/server/http.py adds a time limit to H11Protocol, and takes the signals from Server",
}
"""Packages whose undocumented parts are used, and where."""

PRIVATE_IMPORTS: Final = {
    ("commands/_app.py", "typer._completion_shared"),
    ("commands/_formats/parquet.py", "_typeshed"),  # for the type checker; it is not imported
}
DOCUMENTED: Final = {"_asdict", "_exit", "_make"}  # of os and of named tuples
EUTILITIES: Final = ("ecitmatch", "efetch", "einfo", "elink", "epost", "esearch", "espell", "esummary")


def _list_sources() -> Iterator[tuple[str, tuple[ast.AST, ...]]]:
    for folder in ("entrez_kit", "commands", "fixtures"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), read_nodes(path)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _read_requirements() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = (re.match(r"[\w-]+", line) for line in project["dependencies"])
    return {name[0]: name.string[name.end() :] for name in found if name}


@pytest.mark.long
def test_every_private_name_of_a_library_is_listed_here() -> None:
    imports: set[tuple[str, str]] = set()
    own: set[str] = set()
    used: dict[str, str] = {}
    for path, nodes in _list_sources():
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                names = [] if isinstance(node, ast.Import) else [alias.name for alias in node.names]
                if isinstance(node, ast.ImportFrom) and (node.level or modules[0].startswith("entrez_kit")):
                    continue
                private = any(_is_private(part) for module in modules for part in module.split("."))
                if private or any(map(_is_private, names)):
                    imports.add((path, modules[0]))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                own.add(node.name)
            elif isinstance(node, ast.arg):
                own.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                own.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                own.add(node.attr)
            elif isinstance(node, ast.Attribute) and _is_private(node.attr):
                used.setdefault(node.attr, f"{path}:{node.lineno}")

    assert imports == PRIVATE_IMPORTS
    assert {name: place for name, place in used.items() if name not in own | DOCUMENTED} == {}


@pytest.mark.parametrize("package", BOUNDED)
def test_a_package_with_private_names_has_an_upper_bound(package: str) -> None:
    bound = re.search(r"<([\d.]+)", _read_requirements()[package])

    assert bound is not None
    numbers = [tuple(int(part) for part in re.findall(r"\d+", text)[:3]) for text in (version(package), bound[1])]
    assert numbers[0] < numbers[1]


# Biopython


@pytest.mark.parametrize(("module", "names"), REPLACED.items())
def test_the_replaced_names_are_at_the_top_of_biopythons_modules(module: str, names: tuple[str, ...]) -> None:
    loader: Any = find_module(module).loader
    bound: set[str] = set()
    for node in ast.parse(loader.get_source(module)).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name for alias in node.names}

    assert bound >= set(names)


def _list_attributes(module: str, name: str) -> set[str]:
    """Return what a module of Biopython uses of one of its names."""
    loader: Any = find_module(module).loader
    nodes = ast.walk(ast.parse(loader.get_source(module)))
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    }


def test_biopython_uses_no_more_attributes_of_the_names_than_their_replacements_have() -> None:
    assert _list_attributes("Bio.Entrez", "time") == {"time", "sleep"} <= set(dir(InstantClock))
    assert _list_attributes("Bio.Entrez", "warnings") == {"warn"}
    assert _list_attributes("Bio.Entrez.Parser", "Entrez") == {"local_cache", "__path__"}


@pytest.mark.parametrize("name", EUTILITIES)
def test_a_public_function_builds_one_request_and_returns_what_urlopen_returns(name: str) -> None:
    request = build_entrez_request(
        name, {"db": "pubmed", "id": "1", "term": "x", "bdata": "a|1|2|3|b|c|", "retmode": ""}
    )

    data = request.data.decode() if isinstance(request.data, bytes) else request.full_url.partition("?")[2]
    assert request.full_url.startswith(f"https://eutils.ncbi.nlm.nih.gov/entrez/eutils/{name}.")
    assert "db=pubmed" in data
    assert "retmode=" not in data.replace("retmode=xml", "")  # ECitMatch has a fixed one
    assert not {"tool", "email", "api_key"} & {part.partition("=")[0] for part in data.split("&")}
    assert request.get_method() == ("POST" if name == "epost" else "GET")


def test_threads_build_their_own_requests() -> None:
    def build(number: int) -> str:
        endpoint, params = ("esearch", {"db": "gene"}) if number % 2 else ("egquery", {})
        return build_entrez_request(endpoint, {**params, "term": f"query {number}"}).full_url

    with ThreadPoolExecutor(8) as pool:
        urls = list(pool.map(build, range(400)))

    scripts = ("egquery.fcgi?term=query", "esearch.fcgi?db=gene&term=query")
    assert [url.rpartition("/")[2] for url in urls] == [f"{scripts[number % 2]}+{number}" for number in range(400)]


def test_a_biopython_without_a_private_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from entrez_kit.base.errors import NotConfigured

    with pytest.raises(NotConfigured, match="no_such_name"):
        execute_module("Bio.Entrez", {"__name__": "instance"}, no_such_name=None)
    monkeypatch.setattr("entrez_kit.base.bio_entrez.find_spec", lambda name: None)
    with pytest.raises(NotConfigured, match=r"Bio\.Entrez"):
        find_module("Bio.Entrez")


def test_the_parser_ignores_a_folder_that_cannot_be_created() -> None:
    from entrez_kit import Entrez

    assert Entrez.Parser.DataHandler.local_dtd_dir is None
    assert Entrez.Parser.DataHandler.local_xsd_dir is None
    assert Path(Entrez.Parser.DataHandler.global_dtd_dir, "esearch.dtd").is_file()
    assert not Path(os.environ["HOME"], ".config").exists()


# Uvicorn


def test_uvicorns_protocol_has_the_attributes_that_the_time_limit_uses() -> None:
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    for name in ("connection_made", "data_received", "connection_lost"):
        assert inspect.isfunction(getattr(H11Protocol, name))
    source = inspect.getsource(H11Protocol.__init__)
    assert {"loop", "transport", "cycle"} <= set(re.findall(r"self\.(\w+)", source))
    assert "response_complete" in inspect.getsource(inspect.getmodule(H11Protocol) or ModuleType(""))
    assert isinstance(uvicorn.Config(lambda: None, http=H11Protocol).http, type)


def test_uvicorns_server_handles_signals_in_a_context_manager() -> None:
    import uvicorn

    assert "capture_signals()" in inspect.getsource(uvicorn.Server.serve)
    assert inspect.isgeneratorfunction(inspect.unwrap(uvicorn.Server.capture_signals))


# The MCP SDK


def test_the_session_manager_reads_its_event_store_when_a_session_begins() -> None:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    assert "self.event_store = event_store" in inspect.getsource(StreamableHTTPSessionManager.__init__)
    assert "event_store=self.event_store" in inspect.getsource(StreamableHTTPSessionManager)


# typer


def test_typers_completion_accepts_our_arguments() -> None:
    from typer import _completion_shared as completion

    def list_arguments(function: Callable[..., Any]) -> list[str]:
        return list(inspect.signature(function).parameters)

    assert list_arguments(completion.get_completion_script) == ["prog_name", "complete_var", "shell"]
    assert list_arguments(completion.install)[:3] == ["shell", "prog_name", "complete_var"]


def test_typers_help_takes_the_range_of_an_option_from_one_method() -> None:
    import typer.core
    import typer.rich_utils

    assert callable(typer.core.TyperOption._get_number_range_help_str)
    for module in (typer.core, typer.rich_utils):
        assert "._get_number_range_help_str()" in inspect.getsource(module)


# requests and urllib3


def test_the_pools_of_an_adapter_can_be_replaced() -> None:
    from requests.adapters import HTTPAdapter
    from urllib3 import PoolManager

    adapter = HTTPAdapter()
    assert isinstance(adapter.poolmanager, PoolManager)
    assert adapter.proxy_manager == {}
    pools: Any = adapter.poolmanager
    for scheme in ("http", "https"):
        connection = pools.pool_classes_by_scheme[scheme].ConnectionCls
        assert all(callable(getattr(connection, name)) for name in ("connect", "request"))
    assert inspect.signature(HTTPAdapter.init_poolmanager).parameters.keys() >= {"connections", "maxsize", "block"}


def test_a_response_can_be_closed_while_it_is_read() -> None:
    from urllib3 import HTTPResponse

    assert all(callable(getattr(HTTPResponse, name)) for name in ("shutdown", "read1"))


def test_the_cache_of_requests_has_the_replaced_attributes() -> None:
    from requests_cache.backends.base import BaseCache
    from requests_cache.backends.sqlite import SQLiteCache, SQLiteDict
    from requests_cache.serializers import CattrStage

    for name in ("init_db", "connection", "close", "__del__", "deserialize", "__setitem__", "clear", "vacuum"):
        assert callable(getattr(SQLiteDict, name))
    assert "self._prune_redirects()" in inspect.getsource(inspect.getmodule(BaseCache) or ModuleType("")) + (
        inspect.getsource(inspect.getmodule(SQLiteCache) or ModuleType(""))
    )
    assert all(callable(getattr(CattrStage(), name)) for name in ("dumps", "loads"))
