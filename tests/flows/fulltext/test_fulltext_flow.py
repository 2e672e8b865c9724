"""Full text over the sandbox: every tier with real clients, its failures, its cache."""

from pathlib import Path
from typing import Any

import pytest
from fixture_types import KitFor

from entrez_kit.fulltext.fulltext_articles import PmcArticle, UnpaywallArticle
from entrez_kit.sandbox.server import Sandbox

WRITTEN = "99000001"
"""Its text is part of the demo corpus and returned by the sandbox's PMC."""
FRONT_ONLY = "99000004"
"""In PMC with front matter only; the bucket has a text."""
NOT_IN_BUCKET = "99000006"
"""In PMC with front matter only, not in the bucket; a publisher has it."""


def test_texts_of_demo_articles_are_complete(kit_for: KitFor, sandbox: Sandbox) -> None:
    (article,) = kit_for(sandbox).fetch_fulltext(pmids=[WRITTEN], include_references=True).articles

    assert isinstance(article, PmcArticle)
    assert (article.via_source, article.pmcid, article.doi) == ("pmc", "PMC99000001", "10.5555/ekit.2019.0001")
    assert [section.title for section in article.sections][:3] == [None, "Introduction", "Materials and methods"]
    assert [sub.title for sub in article.sections[2].subsections] == ["Cells and culture", "Base editing"]
    assert "Edited (n = 9)\t61\t54–67\t0.90" in article.sections[3].text
    guide, statistics = article.sections[2].subsections[1].subsections
    assert (guide.label, guide.title, guide.subsections) == ("2.2.1", "Guide design", [])
    assert "T=vₑ / (vₕ+ε) (1)" in statistics.text
    assert len(article.references) == 4
    assert article.authors[0].last_name == "Marrowby"
    assert article.license == "https://creativecommons.org/licenses/by/4.0/"
    assert not sandbox.defects


def test_each_kind_of_id_leads_to_the_same_article(kit_for: KitFor, sandbox: Sandbox) -> None:
    kit = kit_for(sandbox)
    found = [
        kit.fetch_fulltext(pmids=[WRITTEN]),
        kit.fetch_fulltext(pmcids=["99000001"]),
        kit.fetch_fulltext(dois=["https://doi.org/10.5555/EKIT.2019.0001"]),
    ]

    assert found[0].articles == found[1].articles == found[2].articles


def test_the_sources_are_requested_in_order(kit_for: KitFor, sandbox: Sandbox) -> None:
    result = kit_for(sandbox).fetch_fulltext(pmids=[WRITTEN, FRONT_ONLY, NOT_IN_BUCKET, "99000008"])
    first, second, third = result.articles

    assert (first.via_source, second.via_source, third.via_source) == ("pmc", "pmc", "unpaywall")
    assert isinstance(third, UnpaywallArticle)
    assert third.content_format == "pdf-text"
    assert third.pmcid == "PMC99000005"
    (missed,) = result.unavailable
    assert (missed.id, missed.reason, missed.retryable) == ("99000008", "no-oa", None)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"include_references": True}, "include_references was ignored"),
        ({"overflow_mode": "outline"}, "overflow_mode was ignored"),
        ({"sections": ["sleepwalking"], "max_characters": 1_000_000}, "sections was ignored"),
        ({"include_references": True, "max_sections": 1, "overflow_mode": "outline"}, "references, max_sections and"),
        ({}, None),
    ],
)
def test_options_that_do_not_apply_to_a_copy_are_reported(
    kit_for: KitFor, sandbox: Sandbox, options: dict[str, Any], named: str | None
) -> None:
    result = kit_for(sandbox).fetch_fulltext(pmids=[NOT_IN_BUCKET], **options)

    assert isinstance(result.articles[0], UnpaywallArticle)
    warnings = [warning for warning in result.warnings if warning.code != "pmc_text_replaced"]
    assert [warning.code for warning in warnings] == (["selection_ignored"] if named else [])
    assert all((named or "") in warning.message for warning in warnings)


def test_sections_of_a_pdf_are_selected_and_cut(kit_for: KitFor, sandbox: Sandbox) -> None:
    kit = kit_for(sandbox)
    (whole,) = kit.fetch_fulltext(pmids=[NOT_IN_BUCKET]).articles
    result = kit.fetch_fulltext(pmids=[NOT_IN_BUCKET], sections=["METHODS", "discuss"])
    (article,) = result.articles
    (short,) = kit.fetch_fulltext(pmids=[NOT_IN_BUCKET], sections=["methods"], max_characters=80).articles

    assert isinstance(whole, UnpaywallArticle)
    assert isinstance(article, UnpaywallArticle)
    assert isinstance(short, UnpaywallArticle)
    assert whole.content_format == "pdf-text"
    lines = article.content.splitlines()
    assert [line for line in lines if line in ("Introduction", "Methods", "Results", "Discussion")] == [
        "Methods",
        "Discussion",
    ]
    assert lines[0] == "Methods"
    assert set(lines) < set(whole.content.splitlines())
    assert "selection_ignored" not in [warning.code for warning in result.warnings]
    assert len(short.content) <= 80
    assert article.content.startswith(short.content.rstrip("…").rstrip())


def test_a_copy_that_replaces_the_text_of_pmc_states_the_reason(kit_for: KitFor, sandbox: Sandbox) -> None:
    result = kit_for(sandbox).fetch_fulltext(pmids=[NOT_IN_BUCKET])
    (article,) = result.articles

    assert isinstance(article, UnpaywallArticle)
    assert [(tier.tier, tier.outcome) for tier in article.tried_tiers] == [
        ("pmc", "no-body"),
        ("europepmc", "no-fulltext"),
    ]
    (told,) = (warning for warning in result.warnings if warning.code == "pmc_text_replaced")
    assert str(article.pmcid) in told.message
    assert all(str(tier.detail) in told.message for tier in article.tried_tiers)


def test_a_copy_of_an_article_outside_pmc_causes_no_warning_about_a_replacement(
    kit_for: KitFor, sandbox: Sandbox
) -> None:
    result = kit_for(sandbox).fetch_fulltext(pmids=[str(99_000_001 + number) for number in range(20)])
    copies = [article for article in result.articles if isinstance(article, UnpaywallArticle)]
    told = [warning for warning in result.warnings if warning.code == "pmc_text_replaced"]

    assert {article.pmcid is None for article in copies} == {True, False}
    assert all((article.tried_tiers == []) is (article.pmcid is None) for article in copies)
    assert len(told) == sum(article.pmcid is not None for article in copies)


def test_the_hint_to_retry_is_given_if_pmc_failed_to_return_a_text(kit_for: KitFor, sandbox: Sandbox) -> None:
    for endpoint in ("efetch", "pmc_oa", "europepmc_search"):
        sandbox.take_down(endpoint)
    result = kit_for(sandbox, ncbi_max_retries=0, europepmc_max_retries=0).fetch_fulltext(pmcids=["PMC99000005"])
    copies = [article for article in result.articles if isinstance(article, UnpaywallArticle)]

    for article in copies:
        assert "service-error" in [tier.outcome for tier in article.tried_tiers]
        (told,) = (warning for warning in result.warnings if warning.code == "pmc_text_replaced")
        assert "Try again" in told.message
    assert len(copies) + len(result.unavailable) == 1


def test_a_copy_is_cut_to_the_requested_number_of_characters(kit_for: KitFor, sandbox: Sandbox) -> None:
    kit = kit_for(sandbox)
    (whole,) = kit.fetch_fulltext(pmids=[NOT_IN_BUCKET]).articles
    result = kit.fetch_fulltext(pmids=[NOT_IN_BUCKET], max_characters=60)
    (article,) = result.articles

    assert isinstance(whole, UnpaywallArticle)
    assert isinstance(article, UnpaywallArticle)
    assert len(article.content) <= 60 < len(whole.content)
    assert whole.content.startswith(article.content.rstrip("…").rstrip())
    assert result.truncation is not None
    (told,) = result.truncation.articles
    assert (told.source, told.original_characters) == ("unpaywall", len(whole.content))
    assert told.returned_characters == len(article.content)


def test_a_retracted_article_is_marked(kit_for: KitFor, sandbox: Sandbox) -> None:
    (article,) = kit_for(sandbox).fetch_fulltext(pmcids=["PMC99000026"]).articles

    assert isinstance(article, PmcArticle)
    assert article.retraction_status == "retracted"


def test_a_repeated_call_is_answered_from_the_cache(kit_for: KitFor, sandbox: Sandbox) -> None:
    kit = kit_for(sandbox)
    before = kit.fetch_fulltext(pmids=[WRITTEN, FRONT_ONLY])
    sent = sandbox.requests()

    assert kit.fetch_fulltext(pmids=[WRITTEN, FRONT_ONLY]) == before
    assert sandbox.requests() == sent


@pytest.mark.parametrize("broken", ["idconv", "efetch", "pmc_oa", "europepmc_search", "europepmc", "unpaywall"])
def test_if_one_source_is_down_the_others_are_requested(kit_for: KitFor, sandbox: Sandbox, broken: str) -> None:
    sandbox.take_down(broken)
    result = kit_for(sandbox, ncbi_max_retries=0, europepmc_max_retries=0).fetch_fulltext(
        pmids=[WRITTEN, FRONT_ONLY, "99000008"]
    )

    assert len(result.articles) + len(result.unavailable) == 3
    found = {article.pmid for article in result.articles}
    assert {WRITTEN, FRONT_ONLY} <= found
    assert result.unavailable[0].id == "99000008"
    if broken == "unpaywall":
        assert result.unavailable[0].tried_tiers[-1].outcome == "no-oa"  # Unpaywall answers 404 for an unknown DOI


@pytest.mark.parametrize("fault", ["500", "html", "truncate", "error200", "cut"])
def test_a_temporary_fault_does_not_change_the_result(kit_for: KitFor, sandbox: Sandbox, fault: str) -> None:
    for endpoint in ("idconv", "efetch", "europepmc_search", "unpaywall", "pmc_oa"):
        sandbox.fail_next(fault, endpoint)
    result = kit_for(sandbox).fetch_fulltext(pmids=[WRITTEN, FRONT_ONLY, NOT_IN_BUCKET])

    assert result.total_returned == 3
    assert result.unavailable == []


def test_neither_email_nor_key_are_in_the_document(kit_for: KitFor, sandbox: Sandbox, tmp_path: Path) -> None:
    kit = kit_for(sandbox, unpaywall_email="canary@entrez-kit.invalid", ncbi_api_key="canarykey0123456789")
    sandbox.take_down("unpaywall", "efetch", "pmc_oa", "europepmc_search")
    result = kit.fetch_fulltext(pmids=["99000008", NOT_IN_BUCKET])
    missing_error = result.missing_error()

    assert missing_error is not None
    assert "canary" not in result.model_dump_json() + str(missing_error.envelope())
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.suffix == ".sqlite")
    assert b"canary" not in kept
