"""What hosts and registries read about the server is what the catalogue says today."""

import json
import re
from dataclasses import fields
from typing import Any

from packaging_files import FOLDER, SETTINGS, packaging_files

from entrez_kit.base.settings import Settings
from entrez_kit.python.catalogue import OPERATIONS


def document(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def test_every_variable_is_a_setting() -> None:
    for variable, *_ in SETTINGS:
        assert variable.lower() in {field.name for field in fields(Settings)}


def test_the_skill_names_tools_that_there_are() -> None:
    text = packaging_files()["plugin/skills/biomedical-literature/SKILL.md"]
    named = set(re.findall(r"`((?:pubmed|europepmc|get|search)_[a-z_]+)`", text))

    assert named >= {"pubmed_search_articles", "pubmed_fetch_contents", "get_gene"}
    assert named <= {operation.name for operation in OPERATIONS}
    assert len(text) < 2_000


def test_manifests_hold_what_their_formats_require() -> None:
    bundle, entry = document("bundle/manifest.json"), document("server.json")

    assert {"manifest_version", "name", "version", "description", "author", "server"} <= set(bundle)
    assert set(bundle["server"]) == {"type", "entry_point", "mcp_config"}
    assert (FOLDER / "bundle" / bundle["server"]["entry_point"]).is_file()
    used = re.findall(r"\$\{user_config\.([a-z_]+)\}", json.dumps(bundle["server"]))
    assert set(used) == set(bundle["user_config"])
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert len(entry["description"]) <= 100, "the registry takes no more"
    assert all({"registryType", "identifier", "transport"} <= set(package) for package in entry["packages"])
    for name in ("plugin/.claude-plugin/plugin.json", "plugin/.codex-plugin/plugin.json"):
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", document(name)["name"])
    for path in (document("plugin/.codex-plugin/plugin.json")[key] for key in ("skills", "mcpServers")):
        assert (FOLDER / "plugin" / path).exists()
