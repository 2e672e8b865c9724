"""`entrez-kit show`: pages of articles, and warnings about retractions."""

import json
import re

import pytest
from command_line import Cli
from rich.cells import cell_len


def show_page(cli: Cli, *arguments: str) -> str:
    """Return a page on one line."""
    done = cli("show", *arguments, "-f", "table")
    assert done.status == 0, done.err
    return " ".join(done.out.replace("▌", " ").split())


def test_a_retraction_is_the_first_line_of_the_page(cli: Cli) -> None:
    done = cli("show", "99000050", "-f", "table")

    assert done.out.split("\n")[:2] == ["", "▌ RETRACTED: this article has been retracted."]
    text = show_page(cli, "99000050")
    assert "Retracted by: J Invent Results (Demo). 2021 Jun;9(6):600." in text
    assert text.index("RETRACTED") < text.index("Moonlight exposure")
    assert "Expression of concern in:" in text


def test_concerns_notices_and_corrections_name_the_related_article(cli: Cli) -> None:
    assert show_page(cli, "99000053").startswith("EXPRESSION OF CONCERN: concerns about this article")
    notice = show_page(cli, "99000051")
    assert notice.startswith("RETRACTION NOTICE: this is a notice that retracts an article.")
    assert "Retracts: J Invent Results (Demo). 2019 Feb" in notice
    assert show_page(cli, "99000026").startswith("CORRECTED: a correction to this article has been published.")


def test_an_article_about_retractions_is_not_marked_as_retracted(cli: Cli) -> None:
    text = show_page(cli, "99000045")

    assert "RETRACTED:" not in text
    assert "NOTICE" not in text


def test_a_page_has_everything_needed_to_judge_an_article(cli: Cli) -> None:
    text = show_page(cli, "99000001")

    for words in (
        "Base editing of a cryptic splice site restores mucus transport in human airway cells.",
        "Marrowby TJ, Fenwick-Achebe I, Luo Q, Thistlewood WA",
        "Ann Imaginary Genome Ed (Demo). 2019 Apr;3(2):101-12.",
        "A cryptic splice donor in the invented gene MUCX7",
        "CRISPR-Cas Systems*/genetics",
        "airway epithelium; base editing",
        "PMID 99000001 (https://pubmed.ncbi.nlm.nih.gov/99000001/)",
        "doi:10.5555/ekit.2019.0001 (https://doi.org/10.5555/ekit.2019.0001)",
        "PMC99000001 (https://pmc.ncbi.nlm.nih.gov/articles/PMC99000001/)",
    ):
        assert words in text, words
    assert "Eastmere Institute" not in text


def test_verbose_adds_affiliations_grants_and_orcid(cli: Cli) -> None:
    text = show_page(cli, "99000001", "-v")

    assert "Tamsin J Marrowby (ORCID" in text
    assert "[1] Eastmere Institute for Genome Engineering" in text
    assert "Grants" in text


def test_sections_of_an_abstract_have_their_labels(cli: Cli) -> None:
    text = show_page(cli, "99000050")

    for label in ("BACKGROUND:", "METHODS:", "RESULTS:", "CONCLUSIONS:"):
        assert label in text
    assert "(P<0.00001)" in text


def test_books_and_chapters_have_their_own_layout(cli: Cli) -> None:
    chapter = show_page(cli, "99000072")
    assert "In: DemoReviews of Imaginary Disorders (demo)" in chapter
    assert "Book chapter" in chapter
    assert "https://www.ncbi.nlm.nih.gov/books/NBK" in chapter
    assert "ISBN" in show_page(cli, "99000070")


def test_articles_in_other_languages_show_both_titles(cli: Cli) -> None:
    text = show_page(cli, "99000060")

    assert "[Green tea and the gut microbiome" in text
    assert "绿茶与退休教师的肠道微生物组" in text
    assert "Language: Chinese" in text


def test_several_records_are_separated_and_a_missing_one_is_named(cli: Cli) -> None:
    done = cli("show", "99000001", "12", "99000002", "-f", "table")

    assert done.status == 4
    assert re.search("^-{20,}$", done.out, re.MULTILINE)
    assert "record of 12 (1 of 3 ids)" in done.err


@pytest.mark.long
def test_other_formats_are_the_same_as_those_of_fetch(cli: Cli) -> None:
    assert json.loads(cli("show", "99000001").out) == json.loads(cli("fetch", "99000001").out)
    for form in ("jsonl", "csv", "xml", "nbib", "md", "ids"):
        assert cli("show", "99000001", "-f", form).out == cli("fetch", "99000001", "-f", form).out


@pytest.mark.long
@pytest.mark.parametrize("columns", [60, 80, 200])
def test_pages_fit_the_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))

    out = cli("show", *(str(number) for number in range(99000001, 99000074)), "-f", "table", "-v").out

    assert max(cell_len(line) for line in out.splitlines() if "─" not in line) <= min(columns, 100)


def test_a_pipe_gets_addresses_in_place_of_links(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    out = cli("show", "99000001", "-f", "table", "--color", "always").out

    assert "\x1b[" in out
    assert "\x1b]8;" not in out
    assert "https://doi.org/10.5555/ekit.2019.0001" in out
