"""`entrez-kit search` over the demo corpus."""

import dataclasses
import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
import rispy
from command_line import Cli, RunResult, read_error, read_lines, read_rows

from entrez_kit.base import __version__
from entrez_kit.commands import search as search_module
from entrez_kit.commands._views import articles
from entrez_kit.pubmed.models import BriefSummary, Certificate, Slice
from entrez_kit.pubmed.search_models import SearchParameters, SearchResult
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.services import small_replies


def read_document(done: RunResult) -> dict[str, Any]:
    """Return the document on stdout."""
    assert done.status == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_a_pipe_gets_the_json_document(cli: Cli) -> None:
    done = cli("search", "crispr", "-n", "3")

    found = read_document(done)
    assert found["retrieved_pmid_count"] == len(found["pmids"]) == 3
    assert "brief_summaries" not in found
    assert done.err == ""


def test_words_need_no_quotes(cli: Cli) -> None:
    assert read_document(cli("search", "base", "editing"))["search_parameters"]["query_term"] == "base editing"


def test_a_query_may_come_from_standard_input(cli: Cli) -> None:
    found = read_document(cli("search", "-", stdin="crispr\n  AND review[pt]\n"))

    assert found["search_parameters"]["query_term"] == "crispr AND review[pt]"
    assert cli("search", "-", stdin=b"\xff\xfe\xff").status == 2
    assert cli("search", "-", stdin="").status == 2


def test_every_flag_sets_its_field_of_the_request(cli: Cli) -> None:
    found = read_document(
        cli(
            *("search", "crispr", "-n", "5", "--offset", "1", "--sort", "pub_date"),
            *("--min-date", "2019", "--max-date", "2025/06", "--date-type", "edat"),
            *("--type", "Review", "--type", "Journal Article", "--author", "Luo Q", "--journal", "Nobody"),
            *("--mesh", "Humans", "--mesh", "Mice", "--language", "english", "--species", "humans"),
            *("--free-full-text", "--has-abstract", "--summaries", "2", "--history"),
        )
    )

    assert found["search_parameters"] == {
        "query_term": "crispr",
        "max_results": 5,
        "offset": 1,
        "sort_by": "pub_date",
        "date_range": {"min_date": "2019", "max_date": "2025/06", "date_type": "edat"},
        "filter_by_publication_types": ["Review", "Journal Article"],
        "author": "Luo Q",
        "journal": "Nobody",
        "mesh_terms": ["Humans", "Mice"],
        "language": "english",
        "species": "humans",
        "has_abstract": True,
        "free_full_text": True,
        "fetch_brief_summaries": 2,
        "use_history": True,
    }
    assert found["web_env"]
    assert found["query_key"]


def test_ids_are_one_per_line(cli: Cli) -> None:
    listed = cli("search", "crispr", "-f", "ids")

    assert listed.out.split() == read_document(cli("search", "crispr"))["pmids"]


def test_json_lines_have_one_pmid_each_with_or_without_summaries(cli: Cli) -> None:
    bare = read_lines(cli("search", "crispr", "-f", "jsonl", "-n", "3").out)
    full = cli("search", "crispr", "-f", "jsonl", "-n", "3", "--summaries", "1").out.splitlines()

    assert [set(line) for line in bare] == [{"pmid"}] * 3
    assert json.loads(full[0])["title"]
    assert set(json.loads(full[1])) == {"pmid"}


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_tables_of_text_have_titles(cli: Cli, form: str, delimiter: str) -> None:
    done = cli("search", "crispr", "-f", form)

    rows = read_rows(done.out, delimiter)
    assert len(rows) == len(cli("search", "crispr", "-f", "ids").out.split())
    assert all(row["title"] and row["authors"] and row["source"] for row in rows)
    assert {"pmid", "title", "authors", "source", "doi", "pmcid", "retraction_status"} <= set(rows[0])


def test_rows_without_a_summary_are_printed_and_a_note_explains_them(cli: Cli) -> None:
    done = cli("search", "crispr", "-f", "csv", "--summaries", "2")

    rows = read_rows(done.out)
    assert [bool(row["title"]) for row in rows][:4] == [True, True, False, False]
    assert "Only the first 2 of 14 results have titles" in done.err
    assert cli("search", "crispr", "-f", "csv", "--summaries", "2", "-q").err == ""


def test_markdown_is_a_list_with_links(cli: Cli) -> None:
    done = cli("search", "moonlight memory shift", "-f", "md")

    assert "- **RETRACTED** Moonlight exposure" in done.out
    assert "[PMID 99000050](<https://pubmed.ncbi.nlm.nih.gov/99000050/>)" in done.out


def test_fields_are_selected_in_every_format(cli: Cli) -> None:
    found = read_document(cli("search", "crispr", "-n", "2", "--summaries", "2", "--fields", "total_found,pmid,title"))
    assert set(found) == {"total_found", "brief_summaries"}
    assert [set(record) for record in found["brief_summaries"]] == [{"pmid", "title"}] * 2

    assert cli("search", "crispr", "-n", "2", "-f", "csv", "--fields", "title,pmid").out.startswith("title,pmid\n")
    line = cli("search", "crispr", "-n", "1", "-f", "jsonl", "--fields", "pmid", "--fields", "doi").out
    assert set(json.loads(line)) == {"pmid", "doi"}
    assert "Moonlight" in cli("search", "moonlight memory", "-f", "table", "--fields", "pmid,title").out


def test_an_unknown_field_is_rejected_before_any_request(cli: Cli, sandbox: Sandbox) -> None:
    for form in ("json", "jsonl", "csv", "table"):
        assert cli("search", "crispr", "-f", form, "--fields", "pmid,colour").status == 2
    assert cli("search", "crispr", "-f", "ids", "--fields", "pmid").status == 2
    assert sandbox.requests() == 0


# Warnings


@pytest.mark.long
@pytest.mark.parametrize(
    "form",
    [
        *("table", "json", "jsonl", "csv", "tsv", "ids", "count", "md", "ris", "bibtex", "csl", "xml", "nbib"),
        *(pytest.param(form, marks=pytest.mark.process) for form in ("html", "docx")),
    ],
)
def test_every_format_prints_every_warning_on_stderr(cli: Cli, tmp_path: Path, form: str) -> None:
    target = ("-o", str(tmp_path / "hits.docx")) if form == "docx" else ()
    arguments = ("search", "crispr AND qqqzzz[foo]", "-n", "2", "-q", "-f", form, *target)
    warnings = read_document(cli("search", "crispr AND qqqzzz[foo]", "-n", "2"))["warnings"]

    done = cli(*arguments)

    assert done.status == 0
    assert {"query_broadened", "field_not_found"} <= {warning["code"] for warning in warnings}
    for warning in warnings:
        assert f"Warning: {warning['message']}" in done.err, form
    assert "Warning: " not in done.out


def test_count_prints_the_warnings_too(cli: Cli) -> None:
    done = cli("search", "crispr AND qqqzzz", "--count", "-q")

    assert done.out == "14\n"
    assert "Warning: The results (14) are broader" in done.err


def test_warnings_are_in_the_document_with_any_fields(cli: Cli) -> None:
    found = read_document(cli("search", "crispr OR qqqzzz[foo]", "--fields", "pmids"))

    assert set(found) == {"pmids", "warnings"}


def test_a_broadened_search_is_marked_before_the_pmids(cli: Cli) -> None:
    kept = read_document(cli("search", "crispr AND qqqzzz", "--fields", "pmids"))

    assert list(kept) == ["query_broadened", "strict_total", "warnings", "pmids"]


def test_a_table_of_selected_fields_shows_every_warning(cli: Cli) -> None:
    done = cli("search", "crispr AND qqqzzz", "-f", "table", "--fields", "pmid,title")

    assert "Warning: No record contains the phrase 'qqqzzz'" in done.err


def test_warnings_name_flags_on_stderr_and_fields_in_the_document(cli: Cli) -> None:
    arguments = ("search", "crispr", "--journal", "Nobody", "--species", "humans", "--min-date", "2000")

    for shown in (cli(*arguments, "-f", "table").err, cli(*arguments, "-f", "ids").err):
        text = " ".join(shown.split())
        assert "without --journal: 7" in text
        assert "`" not in text
    hidden = cli("search", "crispr", "--species", "humans", "-f", "ids").err
    assert "no MeSH terms (yet) for --species" in hidden
    messages = " ".join(warning["message"] for warning in read_document(cli(*arguments))["warnings"])
    assert "without `journal`: 7" in messages
    dated = cli("search", "crispr", "--max-date", "1900", "-f", "table").err
    assert "Without --max-date the query finds" in " ".join(dated.split())


@pytest.mark.parametrize("form", ["table", "ids", "csv", "tsv", "jsonl", "md"])
def test_the_number_of_omitted_results_is_noted_in_every_format(cli: Cli, form: str) -> None:
    assert "Note: 11 more results. Add --offset 3" in cli("search", "crispr", "-n", "3", "-f", form).err


def test_strict_ends_with_status_2_and_still_prints_the_document(cli: Cli) -> None:
    done = cli("search", "crispr OR qqqzzz[foo]", "--strict")

    assert done.status == 2
    assert json.loads(done.out)["pmids"]
    error = read_error(done)
    assert error["code"] == "INVALID_INPUT"
    assert error["details"]["reason"] == "strict"
    assert error["details"]["warnings"]
    assert cli("search", "crispr", "--strict").status == 0


def test_a_search_without_results_ends_with_status_0_and_reports_it(cli: Cli) -> None:
    assert read_document(cli("search", "crisper"))["pmids"] == []
    assert "No results." in cli("search", "crisper", "-f", "table").out
    assert cli("search", "crisper", "-f", "ids").out == ""


def test_a_request_for_too_many_results_names_the_option_all(cli: Cli) -> None:
    done = cli("search", "crispr", "-n", "10000")

    assert done.status == 2
    assert "--all" in read_error(done)["recovery_hint"]


# All


def test_all_retrieves_every_result_with_a_certificate(cli: Cli) -> None:
    found = read_document(cli("search", "crispr OR sleep", "--all"))

    assert found["certificate"]["count"] == found["certificate"]["retrieved"] == len(found["pmids"])
    assert found["certificate"]["missing"] == 0
    assert "sha256" in cli("search", "crispr OR sleep", "--all", "-f", "table").out
    assert len(cli("search", "crispr OR sleep", "--all", "-f", "ids").out.split()) == len(found["pmids"])


def test_all_and_pages_together_are_rejected(cli: Cli) -> None:
    assert cli("search", "crispr", "--all", "-n", "5").status == 2
    assert cli("search", "crispr", "--all", "--offset", "5").status == 2


# The table


@pytest.mark.long
@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_a_table_fits_the_terminal_and_cuts_nothing(cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    titles = [line for line in cli("search", "sleep", "-f", "csv", "--fields", "title").out.splitlines()[1:] if line]

    done = cli("search", "sleep", "-f", "table")

    assert max(len(line) for line in done.out.splitlines()) <= columns
    flat = "".join(done.out.split())
    for title in titles:
        words = title.strip('"').replace('""', '"').split()
        assert all(word in flat for word in words), title


def test_a_table_marks_what_is_retracted_without_colour(cli: Cli) -> None:
    out = cli("search", "moonlight memory shift", "-f", "table").out

    assert "RETRACTED Moonlight exposure" in out
    assert "\x1b" not in out


def test_a_pipe_gets_colour_on_request_and_never_links(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    out = cli("search", "moonlight memory shift", "-f", "table", "--color", "always").out
    assert "\x1b[" in out
    assert "\x1b]8;" not in out

    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in cli("search", "sleep", "-f", "table", "--color", "always").out
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b" not in cli("search", "sleep", "-f", "table", "--color", "never").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in cli("search", "sleep", "-f", "table").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[31" not in cli("search", "sleep", "-f", "table").out


def test_a_table_shows_the_total_and_how_to_continue(cli: Cli) -> None:
    done = cli("search", "crispr", "-n", "3", "-f", "table")

    assert "1–3 of 14" in done.out
    assert "Searched for:" in done.out
    assert done.err == "Note: 11 more results. Add --offset 3 to show them.\n"
    assert "4–5 of 14" in cli("search", "crispr", "-n", "2", "--offset", "3", "-f", "table").out


def make_result(titles: list[str], **more: Any) -> SearchResult:
    """Return a search result with these titles."""
    pmids = [str(number) for number in range(1, len(titles) + 1)]
    return SearchResult(
        search_parameters=SearchParameters(
            query_term="x", max_results=20, offset=0, sort_by="relevance", fetch_brief_summaries=20
        ),
        effective_esearch_term="x",
        query_translation="x[All Fields]",
        total_found=len(titles),
        retrieved_pmid_count=len(titles),
        searched_at="2026-01-01T00:00:00Z",
        version="1",
        pmids=pmids,
        brief_summaries=[
            BriefSummary(pmid=pmid, title=title, authors="Doe J, Roe R, Poe P, Moe M", source="J. 2024;1:2")
            for pmid, title in zip(pmids, titles, strict=True)
        ],
        esearch_url="https://example.org",
        **more,
    )


def render_result(found: SearchResult, width: int = 80) -> str:
    from rich.console import Console

    console = Console(width=width, file=io.StringIO(), markup=False, highlight=False, emoji=False)
    console.print(articles.render_search(found, console))
    text = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    assert isinstance(text, str)
    return text


def test_titles_are_printed_as_data_and_not_as_markup() -> None:
    out = render_result(make_result(["[bold]Not bold[/bold] :smile: [link=x]y[/link]", "P<0.001 \x1b[31mred\x9b2J"]))

    assert "[bold]Not bold[/bold] :smile: [link=x]y[/link]" in out
    assert "P<0.001 [31mred2J" in out


def test_lists_of_authors_are_shortened_and_titles_are_not() -> None:
    long = "A very long title " * 20 + "end."

    assert "Doe J, Roe R, et al." in render_result(make_result(["T"]))
    assert "Doe J, Roe R, Poe P, et al." in " ".join(render_result(make_result(["T"]), 200).split())
    assert "end." in render_result(make_result([long]))


def test_an_incomplete_certificate_is_reported() -> None:
    proof = Certificate(
        query="x",
        searched_at="2026-01-01T00:00:00Z",
        version="1",
        count=5,
        retrieved=3,
        missing=2,
        duplicates=0,
        slices=[Slice(clause="", count=5, retrieved=3)],
        query_translation="x",
        sha256="0" * 64,
    )
    found = make_result(["T"], certificate=proof)

    out = " ".join(render_result(found).split())
    assert "3 of 5 PMIDs, 2 missing, 1 slice" in out


def test_a_file_gets_the_same_table(cli: Cli, tmp_path: Path) -> None:
    assert cli("search", "crispr", "-f", "table", "-o", str(tmp_path / "hits.text")).status == 0
    assert "Searched for:" in (tmp_path / "hits.text").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("form", ["table", "ids", "md", "csv", "tsv", "jsonl"])
def test_the_handles_of_a_result_set_at_ncbi_are_on_stderr(cli: Cli, form: str) -> None:
    done = cli("search", "crispr", "-n", "2", "--history", "-f", form)

    said = [line for line in done.err.splitlines() if line.startswith("Note: Kept at NCBI: entrez-kit fetch ")]
    assert len(said) == 1
    *_, key, _, place = said[0].split()
    fetched = cli("fetch", "--query-key", key, "--web-env", place, "--retmax", "2", "-f", "ids")
    assert len(fetched.out.split()) == 2


def test_json_has_the_handles_of_a_result_set_and_no_note(cli: Cli) -> None:
    done = cli("search", "crispr", "-n", "2", "--history", "--json")

    assert read_document(done)["web_env"]
    assert done.err == ""


@pytest.mark.parametrize(("columns", "widest"), [("0", 80), ("5", 20), ("1000000", 1000)])
def test_a_table_of_any_width_has_its_rows_and_a_limited_width(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: str, widest: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    done = cli("search", "crispr", "-n", "2", "-f", "table")

    assert done.status == 0
    assert "99000" in done.out
    assert max(len(line) for line in done.out.splitlines()) <= widest


def test_a_table_in_a_file_has_no_trailing_blanks(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "table.out"
    piped = cli("search", "crispr", "-n", "3", "-f", "table")
    assert cli("search", "crispr", "-n", "3", "-f", "table", "-o", str(target)).status == 0

    for text in (piped.out, target.read_text(encoding="utf-8")):
        assert len(text.splitlines()) > 3
        assert [line for line in text.splitlines() if line != line.rstrip(" ")] == []


def test_fields_of_summaries_request_the_summaries(cli: Cli) -> None:
    lines = [
        json.loads(line)
        for line in cli("search", "crispr", "-n", "2", "-f", "jsonl", "--fields", "title").out.splitlines()
    ]
    whole = read_document(cli("search", "crispr", "-n", "2", "--json", "--fields", "pmid,title"))

    assert [list(line) for line in lines] == [["title"], ["title"]]
    assert [list(item) for item in whole["brief_summaries"]] == [["pmid", "title"]] * 2


def test_rows_without_a_summary_have_a_pmid_and_a_note_explains_them(cli: Cli) -> None:
    done = cli("search", "crispr", "-n", "3", "--summaries", "1", "-f", "jsonl", "--fields", "title")

    assert [list(json.loads(line)) for line in done.out.splitlines()] == [["title"], ["pmid"], ["pmid"]]
    assert "Only the first 1 of 3 results have titles" in done.err


@pytest.mark.parametrize("name", ["hits.ris", "hits.csv", "hits.md", "hits.txt", "hits.bib"])
def test_a_file_with_some_of_the_results_causes_a_warning_also_with_quiet(cli: Cli, tmp_path: Path, name: str) -> None:
    part = cli("search", "all[sb]", "-q", "-o", str(tmp_path / name))
    whole = cli("search", "all[sb]", "-q", "--all", "-o", str(tmp_path / name))

    assert f"Warning: {name} has 20 of 73 results" in part.err
    assert "Warning: " not in whole.err


def test_the_last_page_in_a_file_is_reported_as_incomplete(cli: Cli, tmp_path: Path) -> None:
    assert (
        "Warning: end.ris has 3 of 73 results"
        in cli("search", "all[sb]", "-q", "--offset", "70", "-o", str(tmp_path / "end.ris")).err
    )


@pytest.mark.parametrize(
    "command",
    [
        "related 99000001 -n 1",
        "related 99000001 99000004 -n 1",
        "europepmc gene -n 3",
        "db search pubmed gene -n 3",
        "gene search BRCA1 --page-size 1",
        "gene pubmed 7157 --limit 1",
        "mesh disease -n 1",
    ],
)
def test_an_incomplete_file_of_any_format_causes_a_warning(cli: Cli, tmp_path: Path, command: str) -> None:
    words, target = command.split(), str(tmp_path / "part.csv")
    part = cli(*words, "-q", "-o", target)

    assert part.status == 0, part.err
    assert part.err.startswith("Warning: ")
    assert cli(*words, "-q", "-f", "csv").err == ""


def test_an_incomplete_pipe_causes_a_warning_unless_the_user_gave_the_number(cli: Cli) -> None:
    assert "Warning: The output has 20 of 73 results" in cli("search", "all[sb]", "-q", "-f", "ids").err
    assert cli("search", "all[sb]", "-q", "-f", "ids", "-n", "20").err == ""


@pytest.mark.parametrize("name", ["hits.csv", pytest.param("hits.docx", marks=pytest.mark.process)])
def test_every_row_of_a_file_has_a_title(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    target = tmp_path / name

    with Sandbox(records=600, enforce_limits=False) as big:  # two requests for summaries
        monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", f"{big.url}/entrez/eutils")
        done = cli("search", "all[sb]", "--all", "-o", str(target))

    assert done.status == 0, done.err
    if name == "hits.csv":
        rows = read_rows(target.read_text(encoding="utf-8"))
        assert len(rows) == 600
        assert all(row["title"] for row in rows)
    assert "have titles" not in done.err


def test_the_field_pmid_alone_requests_no_summaries(cli: Cli, sandbox: Sandbox) -> None:
    before = sandbox.requests()
    assert cli("search", "crispr", "-n", "2", "-f", "jsonl", "--fields", "pmid", "--no-cache").status == 0

    assert sandbox.requests() == before + 1


@pytest.mark.long
@pytest.mark.parametrize("name", ["x.pdf", "x.csv.gz", "x.xlsx"])
def test_an_unknown_suffix_is_rejected_unless_the_format_is_given(cli: Cli, tmp_path: Path, name: str) -> None:
    done = cli("search", "crispr", "-o", str(tmp_path / name))

    assert done.status == 2
    assert ", .csv, .tsv" in read_error(done)["message"]
    assert ".txt (ids)" in read_error(done)["message"]
    assert list(tmp_path.iterdir()) == []
    assert cli("search", "crispr", "-f", "csv", "-o", str(tmp_path / name)).status == 0


def test_dev_stdout_is_standard_output(cli: Cli) -> None:
    done = cli("search", "crispr", "-n", "1", "-f", "ids", "-o", "/dev/stdout")

    assert (done.status, len(done.out.split())) == (0, 1)


def test_results_can_be_written_to_a_file_for_a_reference_manager(cli: Cli, tmp_path: Path) -> None:
    pmids = cli("search", "crispr", "--all", "-f", "ids").out.split()
    done = cli("search", "crispr", "--all", "-o", str(tmp_path / "hits.ris"))

    assert done.status == 0, done.err
    records = rispy.loads((tmp_path / "hits.ris").read_text(encoding="utf-8"))
    assert [record["accession_number"] for record in records] == pmids
    assert len(json.loads(cli("search", "crispr", "-n", "3", "-f", "csl").out)) == 3
    assert cli("search", "crispr", "-n", "2", "-f", "nbib").out.count("PMID- ") == 2
    assert cli("search", "crispr", "-n", "2", "-f", "xml").out.count("<MedlineCitation ") == 1  # and one book
    assert "Add --offset 2" in cli("search", "crispr", "-n", "2", "-f", "bibtex").err


def test_a_file_without_results_is_empty_and_an_unknown_term_is_reported(cli: Cli) -> None:
    nothing = cli("search", "nosuchwordatall", "-f", "csl")
    assert (nothing.status, json.loads(nothing.out)) == (0, [])
    strict = cli("search", "crispr OR qqqzzz[foo]", "--strict", "-f", "ris")
    assert (strict.status, strict.out.count("TY  - ")) == (2, 14)
    assert "qqqzzz" in cli("search", "crispr OR qqqzzz[foo]", "-f", "ris").err


def test_a_table_shows_the_kind_of_study_and_free_full_text(cli: Cli) -> None:
    shown = cli("search", "crispr", "-n", "5", "-f", "table").out

    assert "Review · free full text" in shown
    assert "Review" not in cli("search", "99000007[uid]", "-f", "table").out
    assert "study_type" not in cli("search", "crispr", "--summaries", "5", "--json").out


@pytest.mark.parametrize("query", ["crispr AND", "OR crispr", "(crispr NOT) OR crispr"])
def test_an_operator_without_operands_is_reported(cli: Cli, query: str) -> None:
    (operator,) = {"AND", "OR", "NOT"} & set(query.replace(")", " ").split()[:2])
    for command in (("search",), ("db", "search", "pubmed")):
        warnings = {one["code"]: one["message"] for one in read_document(cli(*command, query, "--json"))["warnings"]}
        assert operator in warnings["dangling_operator"]
    assert read_document(cli("search", "crispr AND cas9", "--json"))["warnings"] == []


def test_a_typo_in_a_phrase_is_reported_once_with_a_suggestion_even_if_results_are_found(cli: Cli) -> None:
    found = read_document(cli("search", '"crsipr babies" OR crispr', "--json"))
    codes = [one["code"] for one in found["warnings"]]

    assert found["total_found"] > 0
    assert codes == ["quoted_phrase_not_found", "spelling_suggestion"]
    assert "Nothing" not in found["warnings"][1]["message"]


@pytest.mark.parametrize(("name", "instead"), [("x.xlsx", "x.csv"), ("x.ods", "x.csv"), ("x.odt", "x.docx")])
def test_a_suffix_of_an_office_program_is_rejected_with_a_format_that_it_opens(
    cli: Cli, name: str, instead: str
) -> None:
    done = cli("search", "crispr", "-o", name)

    assert done.status == 2
    assert f"(-o {instead})" in read_error(done)["recovery_hint"]


# The certificate of a search


@pytest.mark.clock
@pytest.mark.parametrize("name", ["hits.ris", "hits.csv", "hits.txt", "hits.jsonl", "hits.json", "hits.nbib"])
def test_a_complete_search_into_a_file_writes_its_certificate_next_to_it(cli: Cli, tmp_path: Path, name: str) -> None:
    target = tmp_path / name

    done = cli("search", "crispr", "AND", "humans[mh]", "--all", "-o", str(target))
    search = json.loads((tmp_path / f"{name}.search.json").read_text(encoding="utf-8"))

    assert done.status == 0, done.err
    assert search["file_sha256"] == hashlib.sha256(target.read_bytes()).hexdigest()
    assert search["search_parameters"]["query_term"] == "crispr AND humans[mh]"
    assert search["certificate"]["query"] == "crispr AND humans[mh]"
    assert search["certificate"]["missing"] == 0
    assert search["warnings"]
    assert re.fullmatch(r"20[0-9-]{8}T[0-9:]{8}Z", search["searched_at"])
    assert search["certificate"]["searched_at"] == search["searched_at"]
    assert search["version"] == search["certificate"]["version"] == __version__
    assert "pmids" not in search


def test_a_complete_search_without_results_writes_its_certificate_too(cli: Cli, tmp_path: Path) -> None:
    assert cli("search", "1850[dp]", "AND", "crispr", "--all", "-o", str(tmp_path / "hits.ris")).status == 0

    search = json.loads((tmp_path / "hits.ris.search.json").read_text(encoding="utf-8"))
    assert (search["total_found"], search["certificate"]["retrieved"]) == (0, 0)


def test_an_incomplete_search_writes_no_certificate(cli: Cli, tmp_path: Path) -> None:
    assert cli("search", "crispr", "-o", str(tmp_path / "hits.ris")).status == 0

    assert [path.name for path in tmp_path.iterdir()] == ["hits.ris"]


@pytest.mark.clock
@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "crispr"),
        ("facets", "crispr", "--max-records", "3"),
        ("db", "search", "mesh", "diabetes"),
        ("europepmc", "crispr"),
    ],
)
def test_a_cached_search_has_the_time_of_its_first_answer(cli: Cli, arguments: tuple[str, ...]) -> None:
    first, second = read_document(cli(*arguments, "--json")), read_document(cli(*arguments, "--json"))

    assert re.fullmatch(r"20[0-9-]{8}T[0-9:]{8}Z", first["searched_at"])
    assert first["version"] == __version__
    assert first == second


# Queries that PubMed would misread


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("search", "#3"), "no_history"),
        (("search", "exp Neoplasms/ and (heart adj3 failure).ti,ab."), "foreign_syntax"),
        (("db", "search", "pubmed", "(heart adj3 failure).ti,ab."), "foreign_syntax"),
        (("corpus", "sync", "heart", "TS=(heart AND failure)"), "foreign_syntax"),
        (("facets", "#1 AND #2"), "no_history"),
    ],
)
def test_a_query_that_pubmed_would_misread_is_rejected_without_a_request(
    cli: Cli, sandbox: Sandbox, arguments: tuple[str, ...], reason: str
) -> None:
    before = sandbox.requests()

    done = cli(*arguments)

    assert done.status == 2
    assert reason in done.err
    assert sandbox.requests() == before


def test_a_numbered_list_on_standard_input_is_rejected(cli: Cli) -> None:
    done = cli("search", "-", stdin="1. crispr\n2. sickle cell\n3. 1 and 2\n")

    assert (done.status, read_error(done)["details"]["reason"]) == (2, "numbered_list")


def test_a_pasted_query_is_sent_with_plain_characters_and_shown_as_typed(cli: Cli) -> None:
    found = read_document(cli("search", "\u201cbase editing\u201d or nothing"))

    assert found["search_parameters"]["query_term"] == "\u201cbase editing\u201d or nothing"
    assert found["effective_esearch_term"] == '"base editing" or nothing'
    assert {"typographic_characters", "lowercase_operator"} <= {warning["code"] for warning in found["warnings"]}


def test_since_searches_by_the_date_of_entry(cli: Cli) -> None:
    since = read_document(cli("search", "editing", "--since", "2023/06", "-n", "100"))
    same = read_document(cli("search", "editing", "--min-date", "2023/06", "--date-type", "edat", "-n", "100"))

    assert since["search_parameters"] == same["search_parameters"]
    assert since["search_parameters"]["date_range"]["date_type"] == "edat"
    assert since["pmids"] == same["pmids"] != read_document(cli("search", "editing", "-n", "100"))["pmids"]


def test_an_invalid_since_is_named_as_the_user_typed_it(cli: Cli) -> None:
    done = cli("search", "editing", "--since", "2024/13/40")

    assert done.status == 2
    assert "--since" in done.err
    assert "--min-date" not in done.err


@pytest.mark.parametrize("other", [("--min-date", "2020"), ("--date-type", "pdat")])
def test_since_with_another_date_option_is_rejected(cli: Cli, other: tuple[str, str]) -> None:
    done = cli("search", "editing", "--since", "2023", *other)

    assert done.status == 2
    assert read_error(done)["details"]["reason"] == "bad_usage"
    assert "--since" in done.err


def test_a_table_without_its_header_has_the_same_rows(cli: Cli) -> None:
    for form in ("csv", "tsv"):
        whole = cli("search", "editing", "-f", form).out
        bare = cli("search", "editing", "-f", form, "--no-header").out
        assert whole.partition("\n")[2] == bare
        assert bare


def test_no_header_without_a_table_is_rejected(cli: Cli) -> None:
    assert cli("search", "editing", "--no-header").status == 2
    assert cli("search", "editing", "-f", "jsonl", "--no-header").status == 2
    assert cli("fulltext", "99000001", "-f", "md", "--no-header").status == 2


def test_dates_in_tables_are_iso_dates(cli: Cli) -> None:
    rows = read_rows(cli("fetch", *(str(99000001 + n) for n in range(40)), "-f", "csv").out)

    dates = [row["date"] for row in rows]
    assert len(dates) > 30
    plain = [date for date in dates if re.fullmatch(r"[0-9]{4}(-[0-9]{2}){0,2}", date)]
    assert len(plain) > 25
    # A season or a range of months has no ISO date.
    assert all(
        re.search(r"[A-Za-z]{3}[-/ ]|Spring|Summer|Fall|Autumn|Winter", date) for date in set(dates) - set(plain)
    )


@pytest.mark.parametrize("name", ["randomised", "RCT", "randomized controlled trials", "Randomized controlled-trial"])
def test_everyday_words_select_a_publication_type(cli: Cli, name: str) -> None:
    found = read_document(cli("search", "editing", "--type", name))

    assert found["search_parameters"]["filter_by_publication_types"] == ["Randomized Controlled Trial"]
    assert (
        found["pmids"]
        == read_document(cli("search", "editing", "--type", "Randomized Controlled Trial"))["pmids"]
        != []
    )


def test_a_similar_publication_type_is_suggested(cli: Cli) -> None:
    found = read_document(cli("search", "editing", "--type", "Randomised Controled Trail"))

    assert found["pmids"] == []
    (warning,) = [one for one in found["warnings"] if one["code"] == "unknown_publication_type"]
    assert "'Randomized Controlled Trial'" in warning["message"]


def test_letters_comments_and_errata_are_marked(cli: Cli) -> None:
    shown = cli("search", "comment", "OR", "letter", "OR", "erratum", "-f", "table").out

    assert "Letter · Comment" in shown
    assert "Published Erratum" in shown


def list_emptying_terms(done: RunResult) -> list[list[str]]:
    """Return the terms of the warnings that name the part that empties a search."""
    return [one["terms"] for one in read_document(done)["warnings"] if one["code"] == "emptying_part"]


def test_a_pipe_names_the_part_that_empties_a_search_only_on_request(cli: Cli, sandbox: Sandbox) -> None:
    query = ("search", "crispr AND review[pt] AND sleep[ti]", "--json")

    assert list_emptying_terms(cli(*query)) == []
    without = sandbox.requests("esearch")
    assert list_emptying_terms(cli(*query, "--explain", "--no-cache")) == [["sleep[ti]"]]
    assert sandbox.requests("esearch") <= 2 * without + 3


def test_the_demo_always_names_the_part_that_empties_a_search(alone: Cli) -> None:
    done = alone("--demo", "search", "crispr", "sleep", "--json")

    assert list_emptying_terms(done) == [["sleep"]]
    assert "'sleep'" in done.err
    assert list_emptying_terms(alone("--demo", "search", "crispr", "moonlight", "--author", "Luo Q", "--json")) == [
        ["moonlight"]
    ]
    assert list_emptying_terms(alone("--demo", "search", "crispr", "--author", "Mondschein S", "--json")) == []
    assert list_emptying_terms(alone("--demo", "search", "crispr", "--json")) == []


def test_a_terminal_names_the_part_that_empties_a_search(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "is_terminal", lambda stream: True)

    assert list_emptying_terms(cli("search", "crispr AND sleep[ti]", "--json")) == [["sleep[ti]"]]


@pytest.mark.parametrize("form", ["ris", "xml", "ids", "jsonl", "csl"])
def test_a_reply_that_counts_results_and_lists_none_is_not_an_empty_result(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    parse = small_replies.parse_esearch
    monkeypatch.setattr(small_replies, "parse_esearch", lambda content: dataclasses.replace(parse(content), ids=[]))

    done = cli("search", "crispr", "-f", form)

    assert done.status in (4, 5)
    assert "no results" not in done.err
    assert read_error(done)["code"] == "UPSTREAM_ERROR"


def test_a_search_without_listed_results_writes_no_certificate_for_an_earlier_file(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "found.ris"
    file.write_text("earlier")
    parse = small_replies.parse_esearch
    monkeypatch.setattr(small_replies, "parse_esearch", lambda content: dataclasses.replace(parse(content), ids=[]))

    done = cli("search", "crispr", "--all", "-o", str(file))

    assert done.status in (4, 5)
    assert file.read_text() == "earlier"
    assert [path.name for path in tmp_path.iterdir()] == ["found.ris"]
