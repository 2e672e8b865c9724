"""Features that need an extra package name the extra that installs it."""

import json
import tomllib
from importlib import import_module
from typing import Any

import pytest
from fixture_types import KitFor
from project_paths import ROOT

from entrez_kit.base.errors import NotConfigured
from entrez_kit.base.extras import EXTRAS, is_installed
from entrez_kit.commands import _app
from entrez_kit.sandbox.server import Sandbox

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def no_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide all extras and pandoc."""
    import_module("entrez_kit.citations.pandoc").find_pandoc.cache_clear()
    import_module("entrez_kit.citations.style.adaptation").adapt_style.cache_clear()
    import_module("entrez_kit.base.bio_entrez")  # binds find_spec for the rest of the process
    monkeypatch.setattr("entrez_kit.base.extras.find_spec", lambda name: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")


def test_the_listed_extras_are_those_in_pyproject() -> None:
    offered = set(PROJECT["optional-dependencies"]) - {"all", "dev", "packaging"}

    assert set(EXTRAS) == offered
    assert PROJECT["optional-dependencies"]["all"] == [f"entrez-kit[{','.join(sorted(offered))}]"]


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_installed_extra_is_reported_as_installed(extra: str) -> None:
    assert is_installed(extra), "the development extra includes all other extras"


def test_the_plain_installation_includes_no_package_of_an_extra() -> None:
    plain = " ".join(PROJECT["dependencies"]).lower()

    for package in [
        "pandoc",
        "citeproc",
        "trafilatura",
        "pypdf",
        "model2vec",
        "weaviate",
        "pandas",
        "pyarrow",
    ]:
        assert package not in plain


@pytest.mark.usefixtures("no_extras")
def test_a_style_without_its_extra_names_the_command_that_installs_it(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    with pytest.raises(NotConfigured) as caught:
        kit.format_citations(pmids=["99000001"], citation_styles=["apa"])

    assert "pip install 'entrez-kit[cite]'" in caught.value.recovery_hint
    assert kit.format_citations(pmids=["99000001"], citation_styles=["ris", "csl"]).citations


@pytest.mark.usefixtures("no_extras")
def test_full_text_without_its_extra_returns_pmc_texts_and_lists_the_tier_that_was_not_tried(
    sandbox: Sandbox, kit_for: KitFor
) -> None:
    found = kit_for(sandbox, unpaywall_email="reader@entrez-kit.invalid").fetch_fulltext(pmids=["99000001", "99000006"])

    assert [article.source for article in found.articles] == ["pmc"]
    tried = {tier.tier: tier for tier in found.unavailable[0].tried_tiers}
    assert tried["unpaywall"].outcome == "not-attempted"
    assert "pip install 'entrez-kit[fulltext]'" in str(tried["unpaywall"].detail)


@pytest.mark.usefixtures("no_extras")
def test_a_missing_extra_ends_with_status_8(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", f"{sandbox.url}/entrez/eutils")
    status = _app.main(["cite", "99000001", "--style", "apa", "--json"])
    envelope: dict[str, Any] = json.loads(capsys.readouterr().err.splitlines()[-1])

    assert status == 8
    assert envelope["error"]["code"] == "NOT_CONFIGURED"
    assert envelope["error"]["details"]["extra"] == "cite"
