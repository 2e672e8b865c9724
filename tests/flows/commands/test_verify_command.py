"""`entrez-kit verify`: claims of drafts and tables against the demo's articles, and files that cannot be verified."""

import html
import json
from pathlib import Path

import pytest
from command_line import Cli, read_lines, read_rows
from denied_quotations import CLAUSES, DENY_CLAUSE, KEEP_CLAUSE, write_sentence
from fixture_types import KitFor
from sandbox_records import write_article, write_article_set

from entrez_kit.base.errors import UpstreamError
from entrez_kit.sandbox.server import Sandbox

CLAIMS = """claim,id
Airway mucus is moved by cilia at about 5 mm per minute,99000001
Airway mucus is moved by cilia at about 6 mm per minute,99000001
Editing without a double-strand break has been proposed for such sites,99000004
Unicorns cured all of the cells at once,99000001
We saw nothing at all in this article,99999999
A sentence that cites nothing at all,
A sentence that cites nonsense,not-an-id
"""
STATUSES = ["found", "altered", "elsewhere", "not_in_text", "no_text_available", "invalid", "invalid"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return claims of every kind."""
    file = tmp_path / "claims.csv"
    file.write_text(CLAIMS, encoding="utf-8")
    return file


def test_every_claim_has_one_outcome_in_order_and_a_finding_ends_with_status_4(cli: Cli, table: Path) -> None:
    done = cli("verify", str(table))

    result = json.loads(done.out)
    assert done.status == 4
    assert [claim["status"] for claim in result["claims"]] == STATUSES
    assert [claim["line"] for claim in result["claims"]] == list(range(2, 9))
    assert result["counts"]["invalid"] == 2
    assert result["total"] == 7


def test_the_offsets_of_a_passage_are_those_in_the_full_text(cli: Cli, table: Path) -> None:
    place = json.loads(cli("verify", str(table)).out)["claims"][0]["place"]
    article = json.loads(cli("fulltext", "99000001").out)["articles"][0]

    (section,) = (one for one in article["sections"] if place["section"].endswith(one.get("title", "-")))
    assert section["text"][place["start"] : place["end"]] == place["passage"]
    assert place["source"] == "full_text"
    assert place["paragraph"] == 1


def test_an_outcome_lists_the_differences_and_the_texts_that_were_searched(cli: Cli, table: Path) -> None:
    _, altered, elsewhere, _, missing, *_ = json.loads(cli("verify", str(table)).out)["claims"]

    assert altered["differences"] == [{"kind": "number", "claimed": "6", "found": "5"}]
    assert elsewhere["place"]["pmid"] == "99000001"
    assert [one["id"] for one in missing["unavailable"]] == ["99999999"]
    assert missing["unavailable"][0]["tried_tiers"]


def test_only_found_claims_end_with_status_0(cli: Cli, tmp_path: Path) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text("Airway mucus is moved by cilia at about 5 mm per minute [@a].\n", encoding="utf-8")
    bib = tmp_path / "refs.bib"
    bib.write_text("@article{a, pmid = {99000001}}\n", encoding="utf-8")

    done = cli("verify", str(draft), "--bibliography", str(bib))

    assert done.status == 0
    assert json.loads(done.out)["counts"]["found"] == 1


def test_the_bibliography_in_the_front_matter_of_a_draft_resolves_its_keys(cli: Cli, tmp_path: Path) -> None:
    sentence = "Airway mucus is moved by cilia at about 5 mm per minute"
    draft = tmp_path / "draft.md"
    draft.write_text(f"---\nbibliography: [refs.bib, gone.bib]\n---\n{sentence} [@a].\n", encoding="utf-8")
    (tmp_path / "refs.bib").write_text("@article{a, pmid = {99000001}}\n", encoding="utf-8")

    done = cli("verify", str(draft))

    assert done.status == 0
    assert json.loads(done.out)["claims"][0]["ids"] == ["99000001"]
    assert "gone.bib is not in the folder" in done.err


def test_every_format_lists_every_claim(cli: Cli, table: Path, tmp_path: Path) -> None:
    rows = read_rows(cli("verify", str(table), "-f", "csv").out)
    lines = read_lines(cli("verify", str(table), "-f", "jsonl").out)
    shown = cli("verify", str(table), "-f", "table").out
    page = cli("verify", str(table), "-f", "md").out

    assert [row["status"] for row in rows] == STATUSES
    assert [line["status"] for line in lines] == STATUSES
    assert "1 of 7 found" in shown
    assert page.count("**") == 2 * len(STATUSES)


def test_a_claim_found_in_a_retracted_article_names_the_retraction(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "claims.jsonl"
    file.write_text('{"claim": "Moonlight doubles memory", "id": "99000050"}\n', encoding="utf-8")

    claim = json.loads(cli("verify", str(file)).out)["claims"][0]

    assert claim["standing"]["status"] == "retracted"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("x.csv", "a,b\n1,2\n", "the columns claim and id"),
        ("x.md", "Nothing is cited.\n", "no sentence of this"),
        ("x.xlsx", "PK\x03\x04 nothing", "claims cannot be read from this type of file"),
        ("x.csv", "", "it is empty"),
    ],
)
def test_files_without_a_claim_are_rejected_with_the_reason(
    cli: Cli, tmp_path: Path, name: str, content: str, told: str
) -> None:
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")

    done = cli("verify", str(file))

    assert done.status == 2
    assert told in done.err
    assert done.out == ""


def test_a_failing_service_is_an_error_and_not_a_verdict(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox, ncbi_max_retries=0, europepmc_max_retries=0)
    sandbox.stop()

    with pytest.raises(UpstreamError):
        kit.verify_claims(claims=[{"text": "Airway mucus is moved by cilia", "ids": ["99000001"]}])


@pytest.mark.parametrize(
    ("templates", "status"),
    [pytest.param(DENY_CLAUSE, "out_of_context", id="denied"), pytest.param(KEEP_CLAUSE, "found", id="kept")],
)
def test_a_quotation_that_its_sentence_denies_or_questions_is_out_of_context(
    kit_for: KitFor, tmp_path: Path, templates: tuple[str, ...], status: str
) -> None:
    sentences = [write_sentence(template, CLAUSES[number % 2]) for number, template in enumerate(templates)]
    file = tmp_path / "articles.xml"
    records = (
        write_article(number, "A title", abstract=html.escape(f"Mice slept. {text} The end came."))
        for number, text in enumerate(sentences, start=1)
    )
    file.write_text(write_article_set(*records), encoding="utf-8")

    with Sandbox(corpus=[file], enforce_limits=False) as sandbox:
        claims = [{"text": CLAUSES[number % 2], "ids": [str(number + 1)]} for number, _ in enumerate(templates)]
        verified = kit_for(sandbox, unpaywall_email="").verify_claims(claims=claims).claims

    places = [one.place for one in verified]
    assert [text for text, one in zip(sentences, verified, strict=True) if one.status != status] == []
    assert all(
        place is not None and text.startswith(place.sentence) for text, place in zip(sentences, places, strict=True)
    )


def test_a_quotation_from_a_question_shows_the_whole_sentence_in_every_format(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "claims.csv"
    file.write_text("claim,id\na cytosine base editor could silence the donor,99000001\n", encoding="utf-8")

    done = cli("verify", str(file))
    (claim,) = json.loads(done.out)["claims"]

    whole = "We asked whether a cytosine base editor could silence the donor in cells that do not divide."
    assert done.status == 4
    assert claim["status"] == "out_of_context"
    assert claim["place"]["sentence"] == whole
    assert json.loads(done.out)["counts"]["out_of_context"] == 1
    for kind in ("csv", "tsv", "jsonl", "md"):
        assert whole in cli("verify", str(file), "-f", kind).out
    assert "We asked whether" in cli("verify", str(file), "-f", "table").out


def test_a_quotation_is_found_if_one_place_has_it_in_context(kit_for: KitFor, tmp_path: Path) -> None:
    file = tmp_path / "articles.xml"
    abstract = "It was unclear whether mice dream at night. After all we found that mice dream at night."
    file.write_text(write_article_set(write_article(1, "A title", abstract=abstract)), encoding="utf-8")

    with Sandbox(corpus=[file], enforce_limits=False) as sandbox:
        (claim,) = kit_for(sandbox).verify_claims(claims=[{"text": "mice dream at night", "ids": ["1"]}]).claims

    assert claim.status == "found"
    assert claim.place is not None
    assert claim.place.start > 40


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("Airway mucus […] at about 5 mm per minute", "found"),
        ("Airway mucus is moved [...] at about 5 mm/min ...", "found"),
        ("… mucus … moved by cilia at about 5 millimetres/minute", "found"),
        ("about 5 mm per minute … Airway mucus is moved", "not_in_text"),
        ("Airway mucus is not moved by cilia at about 5 mm per minute", "altered"),
        ("Cilia are moved by airway mucus at about 5 mm per minute", "not_in_text"),
    ],
)
def test_a_claim_is_found_despite_an_ellipsis_or_a_unit_unless_it_differs(
    cli: Cli, tmp_path: Path, claim: str, status: str
) -> None:
    file = tmp_path / "claims.csv"
    file.write_text(f"claim,id\n{claim},99000001\n", encoding="utf-8")

    (row,) = read_rows(cli("verify", str(file), "-f", "csv").out)

    assert row["status"] == status
    assert row["sentence"] == "Airway mucus is moved by cilia at about 5 mm per minute."
