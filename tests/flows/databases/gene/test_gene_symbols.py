"""Lists of symbols: one outcome per symbol, in order, to the articles of their genes."""

import csv
import io
import json
from pathlib import Path

import pytest
from terminal import Cli

pytestmark = pytest.mark.long


def test_a_file_of_symbols_leads_to_articles(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "symbols.txt"
    file.write_text("TP53\n# a comment\nnosuchgene1, p53\nTP53\n", encoding="utf-8")

    done = cli("gene", "search", "-i", str(file), "--organism", "human", "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))

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


def test_words_are_one_query(cli: Cli) -> None:
    for words in (("tumor", "protein"), ("TP53", "AND", "human[orgn]"), ("p53", "protein")):
        assert "items" in json.loads(cli("gene", "search", *words, "--json").out), words


def test_symbols_come_from_standard_input(cli: Cli) -> None:
    done = cli("gene", "search", "-", "--organism", "human", "-f", "ids", stdin="TP53\nBRCA1\n")

    assert done.out.split()[0] == "NCBIGene:7157"


def test_nothing_found_is_status_3_and_a_wrong_organism_an_error(cli: Cli) -> None:
    nothing = cli("gene", "search", "NOSUCH1", "NOSUCH2", "--json")
    assert nothing.status == 3
    assert [one["status"] for one in json.loads(nothing.out)["symbols"]] == ["not_found", "not_found"]
    assert cli("gene", "search", "TP53", "BRCA1", "--organism", "klingon").status == 2
    assert cli("gene", "search").status == 2


def test_a_table_shows_what_is_missing(cli: Cli) -> None:
    done = cli("gene", "search", "TP53", "NOSUCH2", "--organism", "human", "-f", "table")

    assert "NCBIGene:7157" in done.out
    assert "not_found" in done.out
