"""The time of a citation grows in proportion to its length, for any text of a service."""

import time

import pytest
from one_citation import format_citation

from entrez_kit.citations import csl, names, titles
from entrez_kit.citations.pandoc import FormattedRun
from entrez_kit.citations.style import casing, preparation
from entrez_kit.citations.style import format_entries as styles
from entrez_kit.citations.style.format_entries import STYLES
from entrez_kit.citations.write_bibtex import write_bibtex_entry
from entrez_kit.citations.write_nbib import write_nbib_record
from entrez_kit.citations.write_ris import write_ris_record
from entrez_kit.pubmed import pages
from entrez_kit.pubmed.models import Article
from entrez_kit.references.check.comparison.compare_fields import list_differences
from entrez_kit.references.files.references import Reference

LENGTH = 10_000
SECONDS = 3.0  # 0.1 s is usual; quadratic steps take much longer
PIECES = (
    *(
        "<i ",
        "<i>",
        "<sub>",
        "</",
        "<",
        "'",
        "'a ",
        "‘a ",
        "“a ",
        "”",
        "’.”",
        "‘’a",
        '"',
        "(",
        "[a] ",
        "{",
        ")",
        "[In A",
    ),
    *(
        "a",
        "a ",
        "A. aa ",
        "A ",
        "a-",
        "a/",
        "Escherichia coli ",
        "in vivo ",
        " : ",
        "; ",
        ". ",
        " ",
        "!",
        "é",
        "\u2028",
    ),
    *("suppl ", "pt ", "pt. 1", "0", "1-1,", "1-", "1''", "; 1", "e00000-", "Retraction in: ", "a, b. ", "A B. ", "\\"),
)


def make_text(piece: str) -> str:
    return (piece * LENGTH)[:LENGTH]


@pytest.mark.long
@pytest.mark.parametrize("piece", PIECES)
def test_each_step_of_a_citation_reads_any_text_in_time(piece: str) -> None:
    text = make_text(piece)
    item: csl.Item = {"type": "article-journal", "container-title-short": text, "note": f"Retracted. {text}"}
    for name in ("title", "container-title", "volume", "issue", "page", "publisher", "publisher-place", "edition"):
        item[name] = text
    item["author"] = [{"family": text, "given": text, "initials": text}, {"literal": text}]
    started = time.process_time()

    for style in STYLES.values():
        preparation.prepare_item(item, style.wants)
    preparation.find_standing_note({"note": f"[Retracted: {text}"})
    styles._apply_rules((FormattedRun(f"“{text}”"),), is_translated=True)  # each step alone: one slow step shows
    titles.format_journal_title(text)
    titles.format_article_title(text, f"{text}b")
    casing.find_species_names([text])
    pages.expand_ranges(text)
    pages.is_article_number(text)
    names.split_particle(text)
    csl.parse_edition(text)

    assert time.process_time() - started < SECONDS


@pytest.mark.long
@pytest.mark.parametrize("piece", PIECES)
def test_records_with_any_text_are_written_as_files_and_compared_in_time(piece: str) -> None:
    text = make_text(piece)
    author = {"last_name": text, "first_name": text}
    journal = {"title": text, "volume": text, "pages": text}
    article = Article.model_validate(
        {"pmid": "1", "title": text, "url": "https://x.org", "authors": [author], "journal_info": journal}
    )
    started = time.process_time()

    for write in (write_ris_record, write_bibtex_entry, write_nbib_record):
        write(article)
    list_differences(Reference(key="1", title=text, journal=text, volume=text, pages=text), article)

    assert time.process_time() - started < SECONDS


@pytest.mark.process
@pytest.mark.parametrize("piece", ["<i>", "<i ", "‘a ", "“a ", "'a ", '"a ', "<span "])
@pytest.mark.parametrize("field", ["title", "container-title", "publisher"])
def test_unclosed_markup_or_quotes_do_not_delay_the_processor(piece: str, field: str) -> None:
    item: csl.Item = {"type": "book", "title": "T", field: piece * 60}
    started = time.process_time()

    cited = format_citation(item, "apa")

    assert time.process_time() - started < SECONDS
    assert cited.count("<") == (60 if "<" in piece else 0)  # text is shown unchanged
