"""Files for hosts and registries agree with the catalogue."""

import copy
import json
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

import jsonschema  # type: ignore[import-untyped]  # it comes with mcp, its stubs do not
import pytest
from packaging_files import FOLDER, ROOT, SETTINGS, packaging_files

from entrez_kit.base.settings import Settings
from entrez_kit.python.catalogue import OPERATIONS


def read_document(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def test_every_variable_is_a_setting() -> None:
    for variable, *_ in SETTINGS:
        assert variable.lower() in {field.name for field in fields(Settings)}


def test_the_skill_names_existing_tools() -> None:
    text = packaging_files()["plugin/skills/biomedical-literature/SKILL.md"]
    named = set(re.findall(r"`((?:pubmed|europepmc|get|search)_[a-z_]+)`", text))

    assert named >= {"pubmed_search_articles", "pubmed_fetch_contents", "get_gene"}
    assert named <= {operation.name for operation in OPERATIONS}
    assert len(text) < 2_000


def test_manifests_have_the_required_members_of_their_formats() -> None:
    bundle, entry = read_document("bundle/manifest.json"), read_document("server.json")

    assert {"manifest_version", "name", "version", "description", "author", "server"} <= set(bundle)
    assert set(bundle["server"]) == {"type", "entry_point", "mcp_config"}
    assert (FOLDER / "bundle" / bundle["server"]["entry_point"]).is_file()
    used = re.findall(r"\$\{user_config\.([a-z_]+)\}", json.dumps(bundle["server"]))
    assert set(used) == set(bundle["user_config"])
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert len(entry["description"]) <= 100, "the registry accepts no more"
    assert all({"registryType", "identifier", "transport"} <= set(package) for package in entry["packages"])
    for name in ("plugin/.claude-plugin/plugin.json", "plugin/.codex-plugin/plugin.json"):
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", read_document(name)["name"])
    for path in (read_document("plugin/.codex-plugin/plugin.json")[key] for key in ("skills", "mcpServers")):
        assert (FOLDER / "plugin" / path).exists()


# The entry of the MCP registry


def _list_texts(*names: str, most: int = 10_000) -> dict[str, Any]:
    return {name: {"type": "string", "minLength": 1, "maxLength": most} for name in names}


def _make_record(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


_INPUT = _list_texts("description", "value", "default", "placeholder") | {
    **{name: {"type": "boolean"} for name in ("isRequired", "isSecret")},
    "format": {"enum": ["string", "number", "boolean", "filepath"]},
    "choices": {"type": "array", "items": {"type": "string"}},
}
_POSITIONAL = _make_record({**_INPUT, **_list_texts("valueHint"), "type": {"const": "positional"}}, "type")
_ARGUMENT = {
    "anyOf": [
        {**_POSITIONAL, "anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}]},
        _make_record({**_INPUT, **_list_texts("name"), "type": {"const": "named"}}, "type", "name"),
    ]
}
_VERSION = {"type": "string", "maxLength": 255, "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"}
ENTRY: Final = _make_record(
    {
        "$schema": {"type": "string", "pattern": r"^https://.*/[0-9-]+/server\.schema\.json$"},
        "name": {"type": "string", "minLength": 3, "maxLength": 200, "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$"},
        **_list_texts("title", "description", most=100),
        "version": _VERSION,
        "packages": {
            "type": "array",
            "minItems": 1,
            "items": _make_record(
                {
                    **_list_texts("identifier"),
                    "registryType": {"enum": ["npm", "pypi", "cargo", "oci", "nuget", "mcpb"]},
                    "version": _VERSION,
                    "runtimeHint": {"enum": ["npx", "uvx", "docker", "dnx"]},
                    "transport": _make_record({"type": {"const": "stdio"}}, "type"),
                    **{n: {"type": "array", "items": _ARGUMENT} for n in ("packageArguments", "runtimeArguments")},
                    "environmentVariables": {
                        "type": "array",
                        "items": _make_record({**_INPUT, **_list_texts("name")}, "name"),
                    },
                },
                *("registryType", "identifier", "version", "transport"),
            ),
        },
    },
    *("$schema", "name", "description", "version", "packages"),
)
"""The documented members of an entry, closed: no package from PyPI or npm has its schema."""


def list_places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each member and item of a document."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*above, key)
        yield from list_places(inner, (*above, key))


def test_the_registry_accepts_the_entry() -> None:
    entry = read_document("server.json")
    validator = jsonschema.Draft202012Validator(ENTRY)

    validator.check_schema(ENTRY)
    assert [error.message for error in validator.iter_errors(entry)] == []
    package = entry["packages"][0]
    assert package["version"] == entry["version"]
    # The registry searches this line on the page of the package, which is the README.
    assert f"mcp-name: {entry['name']} " in (ROOT / "README.md").read_text(encoding="utf-8")
    command = [package["runtimeHint"], *(one["value"] for one in package["packageArguments"])]
    assert command == [
        json.loads(packaging_files()["plugin/.mcp.json"])["mcpServers"]["entrez-kit"]["command"],
        "serve",
    ]


def test_an_entry_with_a_damaged_member_is_rejected() -> None:
    entry = read_document("server.json")
    validator = jsonschema.Draft202012Validator(ENTRY)
    paths = list(list_places(entry))
    assert len(paths) > 25

    for path in paths:
        damaged = copy.deepcopy(entry)
        inside = damaged
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = 7.5
        assert not validator.is_valid(damaged), path


@pytest.mark.parametrize(
    ("name", "value"),
    [("description", "x" * 101), ("name", "entrez-kit"), ("version", "^1.0.0"), ("title", ""), ("colour", "red")],
)
def test_an_entry_that_the_registry_would_reject_is_rejected(name: str, value: str) -> None:
    assert not jsonschema.Draft202012Validator(ENTRY).is_valid({**read_document("server.json"), name: value})
