"""Spelling suggestions."""

import pytest
from canned_services import Canned, call_operation, run_canned
from fixture_types import KitFor

from entrez_kit.base.errors import InvalidInput, UpstreamError
from entrez_kit.databases.spell import SPELL
from entrez_kit.sandbox.server import Sandbox


def test_a_misspelled_query_is_corrected(sandbox: Sandbox, kit_for: KitFor) -> None:
    assert call_operation(kit_for(sandbox), SPELL, query="crisper gene editng").model_dump() == {
        "original": "crisper gene editng",
        "corrected": "crispr gene editing",
        "has_suggestion": True,
    }


def test_without_a_suggestion_the_query_is_returned(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = call_operation(kit_for(sandbox), SPELL, query="gene editing")

    assert (result.corrected, result.has_suggestion) == ("gene editing", False)


def test_each_database_has_its_own_dictionary(sandbox: Sandbox, kit_for: KitFor) -> None:
    assert call_operation(kit_for(sandbox), SPELL, query="diabtes", db="mesh").corrected == "diabetes"


def test_a_reply_that_only_changes_the_case_is_not_a_suggestion() -> None:
    body = b"<eSpellResult><Query>TP53</Query><CorrectedQuery>tp53</CorrectedQuery></eSpellResult>"

    assert run_canned(Canned(espell=body), SPELL, query="TP53").model_dump() == {
        "original": "TP53",
        "corrected": "TP53",
        "has_suggestion": False,
    }


def test_no_answer_is_not_a_suggestion() -> None:
    with pytest.raises(UpstreamError):
        run_canned(Canned(espell=b"<html/>"), SPELL, query="xy")


@pytest.mark.parametrize("query", ["", "x", "  x "])
def test_a_query_needs_two_characters(query: str) -> None:
    with pytest.raises(InvalidInput, match="query"):
        SPELL.build({"query": query})
