"""`entrez-kit related` in the terminal."""

import json
import re
from typing import Any

import pytest
from command_line import Cli, Program, read_error, read_lines, read_rows
from fixture_types import KitFor

from entrez_kit import InvalidInput
from entrez_kit.local.eutils.replies import LocalReply, answer_json
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.sandbox.server import Sandbox


def test_related_articles_are_printed_in_every_format(cli: Cli) -> None:
    words = ("related", "99000001", "--type", "citedin", "-n", "2")

    assert json.loads(cli(*words).out)["related_articles"][0]["pmid"] == "99000031"
    assert [line["pmid"] for line in read_lines(cli(*words, "-f", "jsonl").out)] == ["99000031", "99000005"]
    assert cli(*words, "-f", "ids").out == "99000031\n99000005\n"
    (first, _) = read_rows(cli(*words, "-f", "csv").out)
    assert (first["pmid"], first["pub_date"], first["retraction_status"]) == ("99000031", "2022-10", "none")
    assert cli(*words, "-f", "tsv").out.startswith("pmid\ttitle\tauthors\t")
    assert cli(*words, "-f", "md").out.count("\n  [PMID 9900") == 2
    assert json.loads(cli(*words, "--json", "--fields", "pmid,total_found").out) == {
        "related_articles": [{"pmid": "99000031"}, {"pmid": "99000005"}],
        "total_found": 5,
    }


def test_printed_ids_are_input_for_other_commands(cli: Cli) -> None:
    found = cli("related", "99000001", "-f", "ids").out

    assert cli("fetch", "-", "-f", "ids", stdin=found).out == found


def test_rows_have_the_scores_and_the_links_of_a_snowball(cli: Cli) -> None:
    similar = read_rows(cli("related", "99000001", "-f", "csv").out)
    rolled = read_rows(cli("related", "99000004", "--type", "references", "--depth", "2", "-f", "csv").out)

    assert similar[0]["score"] == "1.0"
    assert (rolled[0]["depth"], rolled[0]["source_count"], rolled[0]["via"]) == ("1", "2", "99000004; 99000005")


def test_warnings_are_on_stderr_if_the_format_has_no_place_for_them(cli: Cli) -> None:
    done = cli("related", "99000003", "--type", "references", "-f", "ids")

    assert (done.status, done.out) == (0, "99000001\n99000002\n")
    assert "come from the PubMed record itself" in done.err


def test_works_without_a_pmid_are_counted_if_only_pmids_are_printed(
    cli: Cli, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    citing = [
        {"id": "PPR1", "source": "PPR", "title": "A preprint", "authorString": "Doe J."},
        {"id": "99000002", "source": "MED"},
    ]

    def answer(request: LocalRequest, state: LocalState) -> LocalReply:
        return answer_json({"hitCount": 2, "citationList": {"citation": citing}})

    sandbox.route("/europepmc", "europepmc", answer)
    monkeypatch.setenv("ENTREZ_KIT_EUROPEPMC_URL", f"{sandbox.url}/europepmc")
    words = ("related", "99000061", "--type", "citedin")
    listed, items = cli(*words, "-f", "ids"), cli(*words, "-f", "md")

    assert listed.out == "99000002\n"
    assert "1 work without a PMID omitted" in listed.err
    assert items.out.startswith("- A preprint. Doe J  \n  <https://europepmc.org/article/PPR/PPR1>\n- ")
    assert [line.get("epmc_id") for line in read_lines(cli(*words, "-f", "jsonl").out)] == ["PPR1", None]


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (("12",), 3, "ENTITY_NOT_FOUND"),
        (("12", "--depth", "2"), 3, "ENTITY_NOT_FOUND"),
        (("12", "--type", "citation_formats"), 3, "ENTITY_NOT_FOUND"),
        (("TP53",), 2, "INVALID_INPUT"),
        (("10.5555/ekit.1919.0001",), 3, "ENTITY_NOT_FOUND"),
        (("1", "--type", "friends"), 2, "INVALID_INPUT"),
        (("1", "-n", "0"), 2, "INVALID_INPUT"),
        (("1", "--depth", "4"), 2, "INVALID_INPUT"),
        (("1", "--budget", "0", "--depth", "2"), 2, "INVALID_INPUT"),
        (("1", "--style", "papyrus"), 2, "INVALID_INPUT"),
        ((), 2, "INVALID_INPUT"),
    ],
)
def test_each_failure_has_its_status_and_envelope(cli: Cli, words: tuple[str, ...], status: int, code: str) -> None:
    done = cli("related", *words)

    assert (done.status, done.out) == (status, "")
    assert read_error(done)["code"] == code


def test_an_outage_ends_with_status_5_and_an_incomplete_answer_with_status_4(
    cli: Cli, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENTREZ_KIT_EUROPEPMC_URL", f"{sandbox.url}/europepmc")
    sandbox.take_down("elink")
    nothing = cli("related", "99000001")
    elsewhere = cli("related", "99000001", "--type", "citedin")
    silent = cli("related", "99000061", "--type", "citedin")

    assert (nothing.status, nothing.out) == (5, "")
    assert read_error(nothing)["code"] == "UPSTREAM_ERROR"
    assert elsewhere.status == 0
    assert json.loads(elsewhere.out)["provenance"] == "europepmc"
    assert silent.status == 4
    assert json.loads(silent.out)["related_articles"] == []
    assert read_error(silent)["details"]["partial"] is True


def test_a_snowball_can_be_interrupted(cli: Cli, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    from entrez_kit.relationships import snowball

    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(snowball, "fetch_links", interrupt)
    done = cli("related", "99000001", "--depth", "2")

    assert (done.status, done.out) == (130, "")


@pytest.mark.parametrize("columns", ["80", "200"])
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("99000001",), ["Score", "1.00 99000004 2024", "5 of 38 articles similar to PMID 99000001"]),
        (("99000051", "--type", "references"), ["RETRACTED Moonlight", "from the PubMed record itself"]),
        (
            ("99000004", "--type", "references", "--depth", "2"),
            ["Links Step", "← 99000004 99000005", "2 of 2 at step 1; 2 of 20 requests"],
        ),
        (("99000061", "--type", "citedin"), ["No articles citing PMID 99000061.", "in NCBI or Europe PMC"]),
        (("99000007", "--type", "references"), ["Nonesuch AB.", "1 of 1 work cited by"]),
    ],
)
def test_tables_fit_the_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], shown: list[str], columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    done = cli("related", *words, "-f", "table")

    assert done.status == 0, done.err
    assert max(map(len, done.out.splitlines())) <= int(columns)
    squeezed = " ".join(f"{done.out} {done.err}".split())
    for text in shown:
        assert text in squeezed


@pytest.mark.process
def test_a_search_can_be_followed_by_a_snowball_from_its_best_hit(process: Program) -> None:
    first = process("search", "base", "editing", "-n", "1", "-f", "ids").out.strip()
    network = process("related", first, "--type", "citedin", "--depth", "2", "-n", "9", "--json")
    found = json.loads(network.out)

    assert found["source_pmid"] == first == "99000001"
    assert found["snowball"]["followed"] == [1, 5]
    assert [one["source_count"] for one in found["related_articles"]] == sorted(
        (one["source_count"] for one in found["related_articles"]), reverse=True
    )
    records = process("fetch", "-", "-f", "csv", stdin="\n".join(x["pmid"] for x in found["related_articles"]).encode())
    assert records.status == 0
    assert records.out.count("\n") == found["retrieved_count"] + 1


@pytest.mark.process
@pytest.mark.parametrize("columns", ["60", "200"])
def test_a_citation_has_a_hanging_indent_and_a_file_has_its_own_lines(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    words = ("related", "99000001", "--type", "formats", "--style", "apa,ris")
    shown = cli(*words, "-f", "table").out.splitlines()
    given = json.loads(cli(*words, "--json").out)["citations"]
    ris = given["ris"].rstrip().splitlines()
    start = shown.index(ris[0])

    assert shown[0].startswith("apa ──")
    assert shown[3].startswith("    ")
    assert " ".join(line.strip() for line in shown[2 : shown.index("", 2)]) == given["apa"]
    assert [line.rstrip() for line in shown[start : start + len(ris)]] == [line.rstrip() for line in ris]


@pytest.mark.process
@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_a_multiline_file_format_is_rejected_as_a_table_cell(cli: Cli, form: str) -> None:
    words = ("related", "99000001", "--type", "formats", "-f", form)
    done = cli(*words)

    assert (done.status, done.out, read_error(done)["invalid_input"]) == (2, "", f"format={form}")
    assert cli(*words, "--style", "apa,bibtex").status == 0
    assert cli("related", "99000001", "-f", form).status == 0  # styles that were not requested are not an error


@pytest.mark.parametrize("form", ["table", "ids", "csv", "tsv", "jsonl", "md"])
def test_the_number_of_omitted_articles_is_noted_in_every_format(cli: Cli, form: str) -> None:
    done = cli("related", "99000001", "-n", "2", "-f", form)

    assert re.search(r"Note: [0-9]+ more results?\. Add -n [0-9]+", done.err)


def test_failing_summaries_end_with_status_4_and_name_the_missing_information(cli: Cli, sandbox: Sandbox) -> None:
    sandbox.take_down("esummary")
    done = cli("related", "99000001", "--type", "citedin", "--json")

    assert done.status == 4
    assert json.loads(done.out)["related_articles"]
    assert "retraction" in json.loads(done.err.strip().splitlines()[-1])["error"]["message"]


def test_a_pmcid_or_a_doi_gives_the_results_of_its_pmid(cli: Cli) -> None:
    expected = read_rows(cli("related", "99000001", "-f", "csv").out)

    assert read_rows(cli("related", "PMC99000001", "-f", "csv").out) == expected
    assert read_rows(cli("related", "https://doi.org/10.5555/ekit.2019.0001", "-f", "csv").out) == expected
    both = read_rows(cli("related", "PMC99000001", "99000004", "-f", "csv").out)
    assert {row["source_pmid"] for row in both} == {"99000001", "99000004"}
    unknown = cli("related", "PMC1")
    assert (unknown.status, read_error(unknown)["invalid_input"]) == (3, "PMC1")


def test_an_invalid_relation_is_reported_with_the_names_of_the_terminal(
    cli: Cli, kit_for: KitFor, sandbox: Sandbox
) -> None:
    said = read_error(cli("related", "99000001", "--type", "cited"))

    assert "similar, citedin, references" in said["message"]
    assert "pubmed_" not in said["message"]
    with pytest.raises(InvalidInput, match="pubmed_citedin"):
        kit_for(sandbox).article_relationships(source_pmid="99000001", relationship_type="cited")
