"""Lists of gene symbols: one outcome per symbol, in order, and the articles of their genes."""

import json
from pathlib import Path

import pytest
from command_line import Cli, read_rows

pytestmark = pytest.mark.long


def test_a_file_of_symbols_leads_to_articles(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "symbols.txt"
    file.write_text("TP53\n# a comment\nnosuchgene1, p53\nTP53\n", encoding="utf-8")

    done = cli("gene", "search", "-i", str(file), "--organism", "human", "-f", "csv")
    rows = read_rows(done.out)

    assert done.status == 4
    assert "nosuchgene1" in done.err
    assert [(row["input"], row["status"], row["id"]) for row in rows] == [
        ("TP53", "found", "NCBIGene:7157"),
        ("nosuchgene1", "not_found", ""),
        ("p53", "found", "NCBIGene:7157"),
        ("TP53", "found", "NCBIGene:7157"),
    ]
    assert [row["match"] for row in rows] == ["symbol", "", "alias", "symbol"]

    mapping = tmp_path / "genes.csv"
    mapping.write_text(done.out, encoding="utf-8")
    articles = cli("gene", "pubmed", "-i", str(mapping), "-f", "ids")
    assert articles.status == 0, articles.err
    assert articles.out.split()
    genes = cli("gene", "get", "-i", str(mapping), "--json")
    assert [one["id"] for one in json.loads(genes.out)["genes"]] == ["NCBIGene:7157"] * 3


def test_a_symbol_of_several_genes_is_ambiguous_and_lists_them(cli: Cli) -> None:
    done = cli("gene", "search", "TP53", "Trp53", "--json")
    document = json.loads(done.out)

    assert [one["input"] for one in document["symbols"]] == ["TP53", "Trp53"]
    for one in document["symbols"]:
        assert (one["status"] == "ambiguous") == (len(one.get("candidates", [])) > 1)
        assert (one["status"] == "found") == ("id" in one)
    assert document["total_submitted"] == 2


def test_several_words_are_one_query(cli: Cli) -> None:
    for words in (("tumor", "protein"), ("TP53", "AND", "human[orgn]"), ("p53", "protein")):
        assert "items" in json.loads(cli("gene", "search", *words, "--json").out), words


def test_symbols_are_read_from_standard_input(cli: Cli) -> None:
    done = cli("gene", "search", "-", "--organism", "human", "-f", "ids", stdin="TP53\nBRCA1\n")

    assert done.out.split()[0] == "NCBIGene:7157"


def test_no_gene_found_ends_with_status_3_and_an_unknown_organism_is_an_error(cli: Cli) -> None:
    nothing = cli("gene", "search", "NOSUCH1", "NOSUCH2", "--json")
    assert nothing.status == 3
    assert [one["status"] for one in json.loads(nothing.out)["symbols"]] == ["not_found", "not_found"]
    assert cli("gene", "search", "TP53", "BRCA1", "--organism", "klingon").status == 2
    assert cli("gene", "search").status == 2


def test_a_table_has_a_row_for_each_missing_gene(cli: Cli) -> None:
    done = cli("gene", "search", "TP53", "NOSUCH2", "--organism", "human", "-f", "table")

    assert "NCBIGene:7157" in done.out
    assert "not found" in done.out


@pytest.mark.parametrize("form", ["ids", "csv", "tsv", "jsonl", "json"])
def test_every_format_of_a_list_with_missing_genes_leads_to_the_same_articles(cli: Cli, form: str) -> None:
    """Symbols without a gene are named on stderr. No format loses or adds a gene."""
    done = cli("gene", "search", "-", "-f", form, stdin="NOSUCH1\nTP53\nBRCA1\nOsDEMO1\n")

    assert done.status == 4
    assert all(one in done.err for one in ("NOSUCH1", "BRCA1")), done.err  # BRCA1 is a gene of humans and mice
    found = cli("gene", "pubmed", "-", "-f", "ids", stdin=done.out)
    assert found.status == 0, found.err
    named = ("NCBIGene:7157", "NCBIGene:990000002")
    assert found.out.split() == cli("gene", "pubmed", *named, "-f", "ids").out.split()
    assert [one["id"] for one in json.loads(cli("gene", "get", "-", "--json", stdin=done.out).out)["genes"]] == [*named]


def test_symbols_are_read_from_their_column_of_a_table(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "expression.csv"
    file.write_text("rank,gene_symbol,log2fc\n1,TP53,2.5\n2,NOSUCH1,-3.1\n", encoding="utf-8")

    done = cli("gene", "search", "-i", str(file), "--organism", "human", "--json")

    assert [one["input"] for one in json.loads(done.out)["symbols"]] == ["TP53", "NOSUCH1"]


@pytest.mark.parametrize("columns", ["30", "60", "100"])
def test_the_id_of_a_candidate_is_not_split_at_any_width(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    done = cli("gene", "search", "TP53", "BRCA1", "-f", "table")

    shown = done.out.split()
    assert {"NCBIGene:7157", "NCBIGene:672", "NCBIGene:12189"} <= set(shown)
