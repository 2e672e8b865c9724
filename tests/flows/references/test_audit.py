"""Audits of a corpus: retracted works, works that cite them, and services that did not answer."""

import json
from pathlib import Path

import pytest
from command_line import Cli
from fixture_types import KitFor

from entrez_kit.base.errors import EntityNotFound, UpstreamError
from entrez_kit.sandbox.server import Sandbox


@pytest.mark.long
def test_retracted_works_and_those_that_cite_them_are_listed_and_the_others_counted(cli: Cli) -> None:
    cli("corpus", "sync", "all", "all[sb]")

    done = cli("corpus", "audit", "all")

    result = json.loads(done.out)
    works = {work["pmid"]: work for work in result["works"]}
    assert done.status == 4
    assert works["99000050"]["status"] == "retracted"
    assert works["99000053"]["status"] == "expression_of_concern"
    assert [work["pmid"] for work in works["99000024"]["cites"]] == ["99000053"]
    assert works["99000024"]["cites"][0]["standing"]["status"] == "expression_of_concern"
    assert result["citing"] == 1
    assert result["clear"] + len(works) == result["total"] == sum(result["counts"].values())


@pytest.mark.parametrize("width", ["50", "80", "180"])
def test_no_heading_of_an_audit_is_cut_in_a_terminal_of_any_width(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    cli("corpus", "sync", "editing", "base editing")
    monkeypatch.setenv("COLUMNS", width)

    out = cli("corpus", "audit", "editing", "-f", "table").out

    assert out.split()[:4] == ["Status", "PMID", "Title", "Findings"]
    assert {"Twin", "editing", "protoplasts."} <= set(out.split()), "words of the title are not cut"
    assert max(map(len, out.splitlines())) <= int(width)


def test_a_corpus_without_findings_ends_with_status_0_and_a_line_about_it(cli: Cli) -> None:
    cli("corpus", "sync", "few", "99000001[uid]")

    done = cli("corpus", "audit", "few", "-f", "table")

    assert done.status == 0
    assert "1 of 1 without findings" in done.out


def test_every_format_lists_every_finding(cli: Cli) -> None:
    cli("corpus", "sync", "moon", "moonlight")
    pmids = [work["pmid"] for work in json.loads(cli("corpus", "audit", "moon").out)["works"]]

    lines = cli("corpus", "audit", "moon", "-f", "jsonl").out.splitlines()
    rows = cli("corpus", "audit", "moon", "-f", "csv").out.splitlines()

    assert pmids
    works = json.loads(cli("corpus", "audit", "moon").out)["works"]
    assert all(work["findings"] for work in works)
    for work, row in zip(works, rows[1:], strict=True):
        assert all(finding["code"] in row for finding in work["findings"])
    assert [work["pmid"] for work in works if work.get("cites")] == [
        work["pmid"] for work in works if any(one["code"] == "cites_retracted" for one in work["findings"])
    ]
    assert [json.loads(line)["pmid"] for line in lines] == pmids
    assert [row.partition(",")[0] for row in rows[1:]] == pmids


def test_a_retraction_after_the_last_sync_is_found(sandbox: Sandbox, kit_for: KitFor, tmp_path: Path) -> None:
    kit = kit_for(sandbox)
    kit.sync_delta(query_key="one", term="99000001[uid]")
    watch = tmp_path / "watch.csv"
    watch.write_text(
        "Record ID,Title,OriginalPaperDOI,OriginalPaperPubMedID,RetractionDOI,RetractionPubMedID,RetractionNature,"
        "RetractionDate,OriginalPaperDate,Reason\n"
        "1,X,10.5555/ekit.2019.0001,99000001,10.5555/r,0,Retraction,1/2/2026 0:00,1/1/2019 0:00,+Fraud;\n",
        encoding="utf-8",
    )

    result = kit.audit_corpus(query_key="one", retraction_watch=str(watch))

    assert [work.status for work in result.works] == ["retracted"]
    assert result.works[0].disagreement


def test_no_work_is_reported_as_clear_if_a_source_is_down(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox, ncbi_max_retries=0, europepmc_max_retries=0)
    kit.sync_delta(query_key="one", term="99000001[uid]")
    sandbox.stop()

    with pytest.raises(UpstreamError):
        kit.audit_corpus(query_key="one")


def test_an_unknown_corpus_and_an_unknown_source_are_rejected(cli: Cli, kit_for: KitFor) -> None:
    with pytest.raises(EntityNotFound):
        kit_for(None).audit_corpus(query_key="nosuch")

    assert cli("corpus", "audit", "nosuch").status == 3
    assert "nosuchsource" in cli("corpus", "audit", "x", "--sources", "nosuchsource").err
