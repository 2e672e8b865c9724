"""`entrez-kit europepmc`: formats, paging, missing records, and tables for people."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, make_caller, read_lines, read_rows

from entrez_kit.citations.write_files import FILES
from entrez_kit.local.eutils.replies import LocalReply, answer_json
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.sandbox.server import Sandbox


@pytest.fixture
def many(
    no_waiting: None, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Callable[..., Any]:
    """Return a function that calls the program over 1,200 generated records."""

    def call(*arguments: str, **options: Any) -> Any:
        with Sandbox(records=1_200, enforce_limits=False, **options) as sandbox:
            monkeypatch.setenv("ENTREZ_KIT_EUROPEPMC_URL", f"{sandbox.url}/europepmc")
            return make_caller(monkeypatch, capsysbinary)("europepmc", *arguments), sandbox

    return call


def test_ids_are_pmids_or_source_and_id_if_there_is_no_pmid(cli: Cli) -> None:
    done = cli("europepmc", "crispr", "-f", "ids")

    assert done.status == 0
    found = done.out.split()
    assert "99000001" in found
    assert "PPR:PPR99000002" in found
    assert "PMC:PMC99000901" in found


def test_preprints_can_be_searched_alone(cli: Cli) -> None:
    done = cli("europepmc", "crispr", "--preprints", "--json")

    assert {article["source"] for article in json.loads(done.out)["articles"]} == {"PPR"}
    assert cli("europepmc", "crispr", "--preprints", "--source", "MED").status == 2


def test_csv_has_a_key_for_every_record(cli: Cli) -> None:
    rows = read_rows(cli("europepmc", "crispr OR sleep", "-f", "csv").out)

    assert all(row["id"] for row in rows)
    preprint = next(row for row in rows if row["source"] == "PPR")
    assert (preprint["pmid"], preprint["id"]) == ("", f"PPR:{preprint['epmc_id']}")
    assert preprint["preprint_server"].endswith("(demo)")
    assert preprint["year"]
    assert any(row["cited_by_count"] not in ("", "0") for row in rows)


def test_markdown_pages_of_preprints_link_to_europe_pmc(cli: Cli) -> None:
    done = cli("europepmc", "EXT_ID:PPR99000008", "-f", "md")

    assert "[PPR:PPR99000008](<https://europepmc.org/article/PPR/PPR99000008>)" in done.out
    assert "**Methods and analysis:** Follow-up for 24 months." in done.out
    assert "Exampleton Long COVID Study Group" in done.out


@pytest.mark.parametrize("style", list(FILES))
def test_records_can_be_exported_for_reference_managers(cli: Cli, style: str) -> None:
    done = cli("europepmc", "crispr", "-f", style)

    assert done.status == 0, done.err
    assert "None" not in done.out
    assert "saccharomyces" in done.out.lower()
    assert cli("europepmc", "crispr", "-f", style, "--fields", "pmid").status == 2


def test_csl_is_one_document_with_unique_ids(cli: Cli) -> None:
    items = json.loads(cli("europepmc", "crispr", "-f", "csl").out)

    assert len({item["id"] for item in items}) == len(items) > 5


# Number of records


@pytest.mark.long
def test_results_of_several_pages_are_streamed(many: Any) -> None:
    done, sandbox = many("PUB_YEAR:[1900 TO 2100]", "-n", "1100", "-f", "jsonl", "--detail", "brief")

    records = read_lines(done.out)
    assert (done.status, len(records)) == (0, 1100)
    assert len({record["pmid"] for record in records if "pmid" in record}) > 1000
    assert sandbox.requests("europepmc_search") == 2
    assert " --cursor " in done.err


@pytest.mark.long
def test_all_results_arrive_despite_faults(many: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EUROPEPMC_MAX_RETRIES", "10")
    faults = {"429": 0.1, "500": 0.1, "truncate": 0.1, "error200": 0.1, "cut": 0.1}
    done, sandbox = many("PUB_YEAR:[1900 TO 2100]", "-n", "99999", "--page-size", "100", "-f", "ids", faults=faults)

    found = done.out.split()
    assert done.status == 0, done.err
    assert len(found) == len(set(found)) >= 1_200
    assert sandbox.faults.struck.total() > 0


def test_fewer_results_than_requested_are_not_an_error(cli: Cli) -> None:
    done = cli("europepmc", "crispr", "-n", "500", "-f", "jsonl")

    assert done.status == 0
    assert 0 < len(read_lines(done.out)) < 500
    assert done.err == ""


def test_the_option_for_the_next_page_is_shown(cli: Cli) -> None:
    first = cli("europepmc", "crispr", "--page-size", "3", "-f", "ids")
    cursor = first.err.split("--cursor ")[1].strip()
    second = cli("europepmc", "crispr", "--page-size", "3", "--cursor", cursor, "-f", "ids")

    assert len(first.out.split()) == len(second.out.split()) == 3
    assert not set(first.out.split()) & set(second.out.split())


# Missing records


def answer_one_of_three(request: LocalRequest, state: LocalState) -> LocalReply:
    listed = [{"id": "1", "source": "MED", "title": "One"}] if request.get("cursorMark") == "*" else []
    return answer_json({"version": "6.9", "hitCount": 3, "nextCursorMark": "AoI=", "resultList": {"result": listed}})


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "ids", "md", "table"])
def test_fewer_records_than_counted_are_a_partial_result_in_every_format(cli: Cli, sandbox: Sandbox, form: str) -> None:
    sandbox.route("/europepmc/search", "europepmc_search", answer_one_of_three)
    done = cli("europepmc", "x", "-f", form)

    assert done.status == 4
    assert "1" in done.out
    assert "1 of 3" in done.err


def test_an_interrupted_walk_prints_its_records_and_shows_how_to_continue(cli: Cli, sandbox: Sandbox) -> None:
    first = cli("europepmc", "crispr", "--page-size", "4", "-f", "ids")
    sandbox.take_down("europepmc_search")
    done = cli("europepmc", "crispr", "--page-size", "4", "-n", "8", "-f", "ids")

    assert done.status == 4
    assert done.out == first.out
    envelope = json.loads(done.err.splitlines()[-1])["error"]
    assert envelope["details"]["missing"] == 4
    assert f"--cursor {envelope['details']['next_cursor']}" in envelope["recovery_hint"]


def test_a_failed_search_writes_nothing_and_does_not_change_the_file(
    cli: Cli, sandbox: Sandbox, tmp_path: Path
) -> None:
    target = tmp_path / "hits.csv"
    target.write_text("before", encoding="utf-8")
    sandbox.take_down("europepmc_search")
    done = cli("europepmc", "crispr", "-o", str(target))

    assert done.status == 5
    assert target.read_text(encoding="utf-8") == "before"


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("x", "-n", "0"), "max_results=0"),
        (("x", "--page-size", "0"), "page_size=0"),
        (("x", "--cursor", "no!"), "cursor=no!"),
        (("(x",), "query=(x"),
        (("x", "--source", "XXX"), "sources.0=XXX"),
        (("x", "--sort", "size"), "sort_by=size"),
        (("x", "--detail", "all"), "detail_level=all"),
    ],
)
@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_wrong_arguments_are_named(
    cli: Cli, sandbox: Sandbox, arguments: tuple[str, ...], named: str, form: str
) -> None:
    done = cli("europepmc", *arguments, "-f", form)

    assert done.status == 2
    assert json.loads(done.err)["error"]["invalid_input"] == named
    assert sandbox.requests() == 0


def test_a_disabled_service_is_reported_with_the_setting_that_enables_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EUROPEPMC_ENABLED", "false")
    done = cli("europepmc", "x", "--json")

    assert done.status == 8
    assert json.loads(done.err)["error"]["details"]["reason"] == "europepmc_disabled"


# Terminal output


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_table_marks_preprints_and_shows_how_to_continue(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done = cli("europepmc", "crispr", "--page-size", "6", "-f", "table")

    assert max(len(line) for line in done.out.splitlines()) <= columns
    assert "PREPRINT" in done.out
    assert "PPR:PPR99000002" in done.out
    assert "6 of " in done.out
    assert "Next page: --cursor" in done.out
    assert "cited" in done.out.lower()


def test_a_table_shows_a_retraction_first(cli: Cli) -> None:
    done = cli("europepmc", "EXT_ID:99000050", "--source", "MED", "-f", "table")

    assert "RETRACTED" in done.out


def test_a_table_requests_only_the_records_that_it_shows(cli: Cli, sandbox: Sandbox) -> None:
    cli("europepmc", "crispr", "-f", "table")
    cli("europepmc", "wheat", "-f", "table", "--detail", "full")
    cli("europepmc", "yeast", "--json")

    assert [entry.get("resultType") for entry in sandbox.entries("europepmc_search")] == ["lite", "core", "core"]


@pytest.mark.parametrize("form", ["table", "ids", "json"])
def test_a_field_tag_of_pubmed_causes_a_warning(cli: Cli, form: str) -> None:
    done = cli("europepmc", "crispr[ti] OR crispr", "-f", form)

    assert done.err.count("Warning: [ti]") == 1
    assert done.out


def test_sort_orders_have_the_same_names_as_in_search(cli: Cli) -> None:
    for command in ("search", "europepmc"):
        by_one, by_other = (cli(command, "crispr", "--sort", word, "-f", "ids") for word in ("date", "pub_date"))
        assert by_one.status == 0, by_one.err
        assert by_one.out == by_other.out
