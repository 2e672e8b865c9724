"""Citation mistakes of other tools, by their numbers in the list of failures that users reported."""

from fixture_types import KitFor
from one_citation import format_citation
from project_paths import DATA

from entrez_kit.citations.csl import Item, build_csl_item
from entrez_kit.citations.style.format_entries import STYLES
from entrez_kit.pubmed.xml.records import iter_records
from entrez_kit.sandbox.server import Sandbox


def make_item(number: int) -> Item:
    """Return a difficult record as CSL-JSON."""
    records = iter_records((DATA / "records.xml").read_bytes())
    return next(build_csl_item(record.article()) for record in records if record.pmid == f"{98000000 + number}")


def test_groups_are_neither_dropped_nor_formatted_as_persons() -> None:
    for style in STYLES:
        assert "Hay Fever Study Group" in format_citation(make_item(11), style)
        assert format_citation(make_item(10), style).startswith("International Committee of Imaginary Wards")


def test_seasons_and_ranges_are_dates_and_are_not_mixed_with_electronic_dates() -> None:
    assert make_item(26)["issued"] == {"date-parts": [[2003]], "season": 4}
    assert make_item(27)["issued"] == {"date-parts": [[2003, 1], [2003, 2]]}
    assert make_item(21)["issued"] == {"date-parts": [[2026, 3, 5]]}
    assert "2003 Winter;18(4)" in format_citation(make_item(26), "vancouver")
    assert "2003 Jan-Feb;25(1-2)" in format_citation(make_item(27), "vancouver")


def test_books_and_chapters_are_cited_as_such(kit_for: KitFor, sandbox: Sandbox) -> None:
    result = kit_for(sandbox).format_citations(pmids=["99000070", "99000071", "99000072"])

    assert result.total_formatted == 3
    assert "(Eds.), The Field Guide" in result.citations[1].citations["apa"]
    assert "In Z. Al-Fihrist (Ed.), DemoReviews" in result.citations[2].citations["apa"]


def test_terms_with_commas_are_not_split() -> None:
    assert "Databases, Protein" in make_item(28)["keyword"].split("; ")


def test_pages_article_numbers_and_full_stops_are_correct_in_every_style() -> None:
    assert "737–738" in format_citation({**make_item(1), "page": "737-738"}, "apa")
    assert "1639-41" in format_citation(make_item(1), "vancouver")
    for style in STYLES:
        assert "e1000097" in format_citation(make_item(13), style)
        assert "104512" in format_citation(make_item(14), style)
        for number in (1, 2, 10, 12, 31):
            assert ".." not in format_citation(make_item(number), style)
    assert format_citation(make_item(10), "apa").startswith("International Committee of Imaginary Wards. (2020).")
