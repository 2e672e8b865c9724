"""Snippets: the beginning of the abstract in the summaries of a search."""

import csv
import io
from typing import Any

import pytest
from command_line import Cli
from fixture_types import KitFor

from entrez_kit.pubmed.search import SEARCH_ARTICLES
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.schemas import AgentOperation


def test_a_snippet_is_the_beginning_of_the_abstract(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    found = kit.search_articles(query_term="crispr", max_results=30, snippet_characters=120)
    articles: dict[str, Any] = {
        article.pmid: article for article in kit.fetch_contents(pmids=found.pmids).articles or []
    }

    assert [summary.pmid for summary in found.brief_summaries] == found.pmids
    for summary in found.brief_summaries:
        abstract = " ".join((articles[summary.pmid].abstract_text or "").split())
        if not abstract:
            assert summary.snippet is None
        else:
            assert summary.snippet is not None
            assert len(summary.snippet) <= 120
            assert abstract.startswith(summary.snippet.rstrip("…"))
    assert any(summary.snippet for summary in found.brief_summaries)


@pytest.mark.parametrize(("asked", "summaries"), [(0, 4), (2, 2)])
def test_snippets_are_in_the_requested_summaries_or_in_all(
    sandbox: Sandbox, kit_for: KitFor, asked: int, summaries: int
) -> None:
    found = kit_for(sandbox).search_articles(
        query_term="crispr", max_results=4, fetch_brief_summaries=asked, snippet_characters=50
    )

    assert len(found.brief_summaries) == summaries
    assert found.search_parameters.snippet_characters == 50


def test_without_snippets_no_record_is_fetched(sandbox: Sandbox, kit_for: KitFor) -> None:
    found = kit_for(sandbox).search_articles(query_term="crispr", fetch_brief_summaries=2)

    assert sandbox.requests("efetch") == 0
    assert "snippet" not in found.model_dump(mode="json")["brief_summaries"][0]


def test_a_missing_abstract_causes_a_warning(
    sandbox: Sandbox, kit_for: KitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.pubmed.brief_summaries.fetch_articles", lambda services, pmids: {})
    found = kit_for(sandbox).search_articles(query_term="crispr", max_results=2, snippet_characters=50)

    assert "abstracts_missing" in [warning.code for warning in found.warnings]
    assert len(found.brief_summaries) == 2


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_csv_has_the_requested_snippets(cli: Cli, form: str) -> None:
    separator = {"csv": ",", "tsv": "\t"}[form]
    plain = cli("search", "crispr", "-n", "3", "-f", form).out
    rows = list(
        csv.DictReader(
            io.StringIO(cli("search", "crispr", "-n", "3", "--snippets", "60", "-f", form).out), delimiter=separator
        )
    )

    assert "snippet" not in plain.splitlines()[0]
    assert len(rows) == 3
    assert all(0 < len(row["snippet"]) <= 60 for row in rows)


@pytest.mark.long
def test_every_requested_result_has_a_snippet_except_for_agents(kit_for: KitFor) -> None:
    search: dict[str, Any] = {"query_term": "2000:2099[dp]", "max_results": 120, "snippet_characters": 50}
    with Sandbox(records=150, enforce_limits=False) as sandbox:
        kit = kit_for(sandbox)
        found = kit.search_articles(**search)
        whole = kit.search_all(**{name: search[name] for name in ("query_term", "snippet_characters")})
        agent = AgentOperation.of(SEARCH_ARTICLES).run(kit.services, search)

    assert [len(one.brief_summaries) for one in (found, agent)] == [120, 100]
    assert len(whole.brief_summaries) == whole.retrieved_pmid_count >= 120
    (limited,) = (warning for warning in agent.warnings if warning.code == "summaries_limited")
    assert "offset 100" in limited.message
    assert "summaries_limited" not in [warning.code for warning in found.warnings]
