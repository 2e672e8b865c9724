"""`entrez-kit gene`: search, get and pubmed in the terminal."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, read_error

from entrez_kit.commands import load_command
from entrez_kit.core.operation import Operation
from entrez_kit.databases.gene.get_genes import GET_GENE, GET_PUBMED_LINKS
from entrez_kit.databases.gene.search_genes import SEARCH_GENES
from entrez_kit.sandbox.server import Sandbox


@pytest.fixture(name="gene")
def _gene(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Call `entrez-kit gene ...` in this process over the sandbox, without waiting."""
    monkeypatch.setenv("COLUMNS", "120")
    return lambda *arguments, **more: cli("gene", *arguments, **more)


def test_a_search_is_a_table_with_the_species_and_the_kind_of_match(gene: Cli) -> None:
    done = gene("search", "TRP53", "-f", "table")

    lines = done.out.splitlines()
    assert done.status == 0
    assert lines[0].split() == ["Id", "Symbol", "Organism", "Match", "Name", "Score"]
    assert "NCBIGene:22059" in lines[2]
    assert "Mus musculus" in lines[2]
    assert "symbol" in lines[2]
    assert "alias" in lines[3]
    assert lines[-1].strip() == "2 of 2 genes"


def test_the_table_shows_the_option_for_the_next_page_and_replaced_records(gene: Cli) -> None:
    done = gene("search", "PARK4", "--include-discontinued", "--page-size", "1", "-f", "table")

    assert "replaced by NCBIGene:6622" in done.out
    assert "Next page: --cursor eyJvZmZzZXQiOiAxfQ==" in done.out


@pytest.mark.long
@pytest.mark.parametrize("width", ["40", "80", "200"])
def test_tables_fit_narrow_and_wide_terminals(gene: Cli, monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)

    for words in (("search", "BRCA1"), ("get", "NCBIGene:7157"), ("get", "NCBIGene:7157", "NCBIGene:672")):
        done = gene(*words, "-f", "table")
        assert done.status == 0
        assert max(len(line) for line in done.out.splitlines()) <= int(width)


def test_a_search_without_results_ends_with_status_0(gene: Cli) -> None:
    done = gene("search", "qqzzxxy", "-f", "table")

    assert done.status == 0
    assert done.out.strip() == "No results."


def test_other_formats_have_the_candidates_and_show_how_to_get_the_others(gene: Cli) -> None:
    assert gene("search", "BRCA1", "-f", "ids").out == "NCBIGene:672\nNCBIGene:12189\n"
    assert [json.loads(line)["symbol"] for line in gene("search", "BRCA1", "-f", "jsonl").out.splitlines()] == [
        "BRCA1",
        "Brca1",
    ]
    table = gene("search", "BRCA1", "-f", "tsv", "--fields", "id,symbol,taxon_id").out
    assert table == "id\tsymbol\ttaxon_id\nNCBIGene:672\tBRCA1\t9606\nNCBIGene:12189\tBrca1\t10090\n"
    done = gene("search", "BRCA1", "-f", "ids", "--page-size", "1")
    assert done.out == "NCBIGene:672\n"
    assert "--cursor eyJvZmZzZXQiOiAxfQ==" in done.err


def test_fields_select_members_of_json(gene: Cli) -> None:
    assert json.loads(gene("search", "TP53", "--json", "--fields", "id,score").out) == {
        "items": [{"id": "NCBIGene:7157", "score": 1.0}]
    }
    assert json.loads(gene("get", "NCBIGene:7157", "--json", "--fields", "symbol,cross_references.hgnc").out) == {
        "symbol": "TP53",
        "cross_references": {"hgnc": "HGNC:11998"},
    }


def test_a_gene_is_a_page_with_all_known_values(gene: Cli) -> None:
    done = gene("get", "NCBIGene:7157", "-f", "table")

    assert done.out.startswith("TP53  tumor protein p53  Homo sapiens\n")
    for words in ("NCBIGene:7157", "chromosome 17 17p13.1", "BCC7", "Li-Fraumeni", "HGNC:11998", "P04637", "OMIM"):
        assert words in done.out


def test_the_page_of_a_gene_that_is_not_current_begins_with_its_status(gene: Cli) -> None:
    done = gene("get", "NCBIGene:60454", "-f", "table")

    assert done.status == 0
    assert done.out.splitlines()[1] == "This record is replaced by NCBIGene:6622."


def test_a_slim_gene_is_two_lines(gene: Cli) -> None:
    words = " ".join(gene("get", "NCBIGene:7157", "--slim", "-f", "table").out.split())
    assert words == "TP53 tumor protein p53 Homo sapiens NCBIGene:7157"
    assert gene("get", "NCBIGene:7157", "--slim", "-f", "csv").out == (
        "id,symbol,name,organism\nNCBIGene:7157,TP53,tumor protein p53,Homo sapiens\n"
    )


def test_several_genes_are_outcomes_in_order_and_a_partial_result_ends_with_status_4(gene: Cli) -> None:
    done = gene("get", "NCBIGene:672", "TP53", "NCBIGene:999999999", "NCBIGene:7157", "--json")

    document = json.loads(done.out)
    assert done.status == 4
    assert [one["symbol"] for one in document["genes"]] == ["BRCA1", "TP53"]
    assert [one["status"] for one in document["outcomes"]] == ["found", "invalid", "not_found", "found"]
    error = read_error(done)
    assert error["code"] == "ENTITY_NOT_FOUND"
    assert [one["input"] for one in error["details"]["missing"]] == ["TP53", "NCBIGene:999999999"]


def test_a_table_of_several_genes_has_a_row_for_each_missing_gene(gene: Cli) -> None:
    done = gene("get", "NCBIGene:672", "NCBIGene:999999999", "NCBIGene:7157", "-f", "table")

    lines = [line for line in done.out.splitlines() if "NCBIGene" in line or "not found" in line]
    assert done.status == 4
    assert "BRCA1" in lines[0]
    assert "not found" in lines[1]
    assert "TP53" in lines[-1]


def test_json_lines_stream_one_line_per_input(gene: Cli) -> None:
    done = gene("get", "NCBIGene:672", "TP53", "NCBIGene:672", "-f", "jsonl")

    first, second, third = (json.loads(line) for line in done.out.splitlines())
    assert done.status == 4
    assert first == third
    assert first["symbol"] == "BRCA1"
    assert second["input"] == "TP53"
    assert second["status"] == "invalid"
    assert second["error"]["code"] == "UNRESOLVED_ENTITY"


def test_rows_for_programs_have_the_genes_found(gene: Cli) -> None:
    done = gene("get", "NCBIGene:672", "NCBIGene:999999999", "-f", "csv", "--fields", "id,hgnc,cross_references.omim")

    assert done.out == "id,hgnc,cross_references.omim\nNCBIGene:672,HGNC:1100,113705\n"
    assert "NCBIGene:999999999" in done.err


def test_ids_come_from_arguments_standard_input_and_files(gene: Cli, tmp_path: Path) -> None:
    file = tmp_path / "genes.txt"
    file.write_text("NCBIGene:672  # BRCA1\n", encoding="utf-8")
    done = gene("get", "-", "-i", str(file), "-f", "ids", stdin="NCBIGene:7157, NCBIGene:4747\n")

    assert done.out == "NCBIGene:7157\nNCBIGene:4747\nNCBIGene:672\n"
    assert done.status == 0


def test_upstream_failures_and_rate_limits_have_different_statuses(
    gene: Cli, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCBI_MAX_RETRIES", "0")
    for fault, status in (("500", 5), ("429", 7)):
        sandbox.fail_next(fault, times=1)
        assert gene("get", "NCBIGene:7157").status == status


def test_articles_are_listed_with_their_number(gene: Cli) -> None:
    assert gene("pubmed", "NCBIGene:672", "--limit", "2", "-f", "ids").out == "99000033\n99000032\n"
    done = gene("pubmed", "NCBIGene:672", "--limit", "2", "-f", "table")
    assert "https://pubmed.ncbi.nlm.nih.gov/99000033/" in done.out
    assert "2 of 3 articles linked to NCBIGene:672" in done.out
    assert "No articles are linked" in gene("pubmed", "NCBIGene:1", "-f", "table").out
    assert gene("pubmed", "NCBIGene:672", "-f", "csv").out == "pmid\n99000033\n99000032\n99000030\n"


@pytest.mark.parametrize("operation", [SEARCH_GENES, GET_GENE, GET_PUBMED_LINKS], ids=lambda one: one.name)
def test_options_and_defaults_are_those_of_the_model(gene: Cli, operation: Operation[Any, Any]) -> None:
    command = load_command("gene").commands[operation.command[1]]
    own = {
        param.name: param
        for param in command.params
        if param.expose_value and param.name not in ("help", "input")  # -i FILE reads ids for several genes
    }
    fields = operation.request.model_fields

    assert set(own) == set(fields)
    for name, field in fields.items():
        if not field.is_required():
            assert own[name].default == field.get_default(call_default_factory=True), name


def test_help_explains_every_option(gene: Cli) -> None:
    done = gene("search", "--help")

    assert done.status == 0
    for word in ("--organism", "--page-size", "--cursor", "--include-discontinued", "txid9606"):
        assert word in done.out
    page = " ".join(done.out.replace("│", " ").split())
    assert "File of symbols" in page
    assert "File of ids" not in page


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "ids", "table"])
def test_a_search_without_results_can_be_piped_into_get(gene: Cli, form: str) -> None:
    done = gene("get", "-", "-f", form, stdin="")

    assert done.status == 0
    assert done.err.startswith("Note: ")
    assert done.err.count("\n") == 1
    if form == "json":
        assert json.loads(done.out) == {"genes": []}


@pytest.mark.long
@pytest.mark.parametrize("form", ["json", "jsonl", "ids"])
def test_get_reads_every_format_that_search_prints(gene: Cli, form: str) -> None:
    found = gene("search", "BRCA1", "-f", form)
    listed = gene("search", "BRCA1", "-f", "ids").out

    assert len(listed.split()) > 1
    assert gene("get", "-", "-f", "ids", stdin=found.out).out == listed


@pytest.mark.parametrize("form", ["table", "ids", "csv", "tsv", "jsonl"])
def test_pubmed_notes_how_many_articles_a_page_leaves_out(gene: Cli, form: str) -> None:
    done = gene("pubmed", "NCBIGene:672", "--limit", "2", "-f", form)

    assert "Note: 1 more result. Add --offset 2 or --limit 3 to show it." in done.err
    rest = gene("pubmed", "NCBIGene:672", "--offset", "2", "-f", form)
    assert "99000030" in rest.out
    assert rest.err == ""
