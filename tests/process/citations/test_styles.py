"""Styles, their aliases and markup, and the errors if the processor or the styles are missing."""

import html
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from one_citation import format_citation

from entrez_kit.base.errors import EntrezKitError, NotConfigured
from entrez_kit.citations import pandoc
from entrez_kit.citations.csl import Item, build_csl_item, build_style_item
from entrez_kit.citations.style.adaptation import adapt_style
from entrez_kit.citations.style.format_entries import STYLES, format_styled_entries
from entrez_kit.citations.style.preparation import find_standing_note, normalize_quotes
from entrez_kit.pubmed.models import Article

ITEM: Item = {
    "id": "x",
    "type": "article-journal",
    "title": "A study",
    "author": [{"family": "Doe", "given": "Jane"}],
    "container-title": "Journal of Things",
    "container-title-short": "J Things",
    "volume": "3",
    "page": "1-4",
    "issued": {"date-parts": [[2020]]},
    "DOI": "10.5555/x",
}


@pytest.mark.parametrize(("alias", "style"), [("apa_string", "apa"), ("mla_string", "mla")])
def test_the_specifications_names_are_accepted(alias: str, style: str) -> None:
    assert format_citation(ITEM, alias) == format_citation(ITEM, style)


def test_several_items_have_one_line_each() -> None:
    assert format_citation([ITEM, ITEM], "ama").splitlines() == [format_citation(ITEM, "ama")] * 2


def test_no_items_give_no_citations() -> None:
    assert format_styled_entries([], "apa") == []


def test_markdown_and_html_have_italics_and_bold_and_escape_other_markup() -> None:
    item = {**ITEM, "title": "Is P<0.001 & *much*"}

    assert (
        format_citation(item, "nature", "markdown") == r"Doe, J. Is P\<0.001 & \*much\*. *J. Things* **3**, 1–4 (2020)."
    )
    assert format_citation(item, "nature", "html") == (
        "Doe, J. Is P&lt;0.001 &amp; *much*. <i>J. Things</i> <b>3</b>, 1–4 (2020)."
    )
    assert "&lt;" not in format_citation(item, "nature")


@pytest.mark.parametrize("style", STYLES)
def test_no_end_of_a_title_doubles_the_full_stop(style: str) -> None:
    titles = ("Is it?", "It is!", "Wait...", "A (b)", "A [b]", "Ends with U.S.", "“Quoted”")

    for text in format_styled_entries([{**ITEM, "title": title} for title in titles], style):
        assert not re.search(r"(?<!\.)\.\.(?!\.)|\.{4}|[?!]\.|\.[”’]\.|,\.(?! )", text), text


@pytest.mark.parametrize("style", STYLES)
def test_text_with_special_characters_is_unchanged(style: str) -> None:
    title = "Zażółć 日本 עברית α≥β 5′-UTR a_b ~c~ $d$ R&D <e> C:\\f"

    text = format_citation({**ITEM, "title": title, "language": "mul"}, style)

    assert title in text
    assert html.unescape(text) == text


@pytest.mark.parametrize("style", STYLES)
def test_a_record_with_only_a_title_is_cited(style: str) -> None:
    text = format_citation({"id": "x", "type": "article-journal", "title": "Alone"}, style)

    assert "Alone" in text
    assert not {"()", "[]", ",,", "..", " ."} & {text[n : n + 2] for n in range(len(text))}


@pytest.mark.parametrize("style", STYLES)
def test_a_name_in_another_script_is_complete(style: str) -> None:
    text = format_citation({**ITEM, "author": [{"family": "王", "given": "小明"}]}, style)

    assert "王" in text
    assert "小" in text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The 5'-UTR and 3' ends", "The 5′-UTR and 3′ ends"),
        ("N'Doye's patients' care", "N’Doye’s patients’ care"),
        ("'Foo bar' again", '"Foo bar" again'),
        ("“x ‘y’ z”", '"x ‘y’ z"'),
        ("'It's a boy': tea", '"It’s a boy": tea'),
        ("'Tea' and “milk”", '"Tea" and "milk"'),
        ("'Omics of tea", "‘Omics of tea"),
        ("‘Omics of 'tea'", '‘Omics of "tea"'),
        ("The '90s, rock 'n' roll and 't Hooft", "The ’90s, rock ’n’ roll and ’t Hooft"),
        ("a 10'' gun", "a 10″ gun"),
    ],
)
def test_straight_quotes_are_distinguished_from_apostrophes_and_primes(text: str, wanted: str) -> None:
    assert normalize_quotes(text) == wanted


@pytest.mark.parametrize("style", STYLES)
def test_the_standing_of_a_work_is_a_note_in_brackets_in_every_style(style: str) -> None:
    notes = ("[Retracted]", "[Superseded: J Things. 2024;3(1):4]", "[Expression of concern]")
    noted = [{**ITEM, "note": f"{note} And more."} for note in notes]
    plain, other, *texts = format_styled_entries(
        [ITEM, {**ITEM, "note": "[A note of one's own] Retracted."}, *noted], style
    )

    assert [find_standing_note(item) for item in noted] == list(notes)
    assert texts == [f"{plain} {note}" for note in notes]
    assert other == plain


def test_a_style_is_adapted_once_per_process() -> None:
    before = adapt_style.cache_info().misses
    format_citation(ITEM, "apa")
    format_citation(ITEM, "apa")

    assert adapt_style.cache_info().misses <= before + 1


def test_missing_styles_are_reported_with_the_package_to_install() -> None:
    with pytest.raises(NotConfigured, match="no-such-style") as caught:
        adapt_style("no-such-style")

    assert caught.value.reason == "no_citation_styles"


def test_a_processor_that_cannot_run_is_reported_with_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pandoc, "find_pandoc", lambda: Path("/nowhere/pandoc"))

    with pytest.raises(NotConfigured) as caught:
        format_citation(ITEM, "apa")

    assert caught.value.reason == "no_citation_processor"


def test_without_the_package_the_pandoc_of_the_system_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bundled = pandoc.find_pandoc()
    pandoc.find_pandoc.cache_clear()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(bundled.parent))
    assert pandoc.find_pandoc() == bundled
    pandoc.find_pandoc.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotConfigured, match="the extra cite"):
        pandoc.find_pandoc()
    pandoc.find_pandoc.cache_clear()


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (subprocess.CompletedProcess([], 83, b"", b"bad style"), "bad style"),
        (subprocess.TimeoutExpired("pandoc", 120), "did not finish"),
    ],
)
def test_a_failing_processor_is_an_internal_error(monkeypatch: pytest.MonkeyPatch, outcome: Any, words: str) -> None:
    def run(*arguments: Any, **options: Any) -> Any:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(subprocess, "run", run)

    with pytest.raises(EntrezKitError, match=words) as caught:
        format_citation(ITEM, "apa")

    assert caught.value.code == "INTERNAL_ERROR"


def test_the_processor_reads_no_files_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    run = subprocess.run

    def watch(command: list[str], **options: Any) -> Any:
        seen.append(command)
        return run(command, **options)

    monkeypatch.setattr(subprocess, "run", watch)
    format_citation(ITEM, "apa")

    assert "--sandbox" in seen[0]
    assert any(argument.startswith("--data-dir=") for argument in seen[0])


PEOPLE = [{"family": name, "given": "Ann"} for name in ("Adams", "Baker", "Clark", "Davis", "Evans", "Frank", "Ghosh")]
GROUP = {"literal": "Tea Study Group"}


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (PEOPLE[:6], "Adams A, Baker A, Clark A, Davis A, Evans A, Frank A. Tea."),
        (PEOPLE, "Adams A, Baker A, Clark A, et al. Tea."),
        ([*PEOPLE[:6], GROUP], "Adams A, Baker A, Clark A, Davis A, Evans A, Frank A; Tea Study Group. Tea."),
        ([*PEOPLE, GROUP], "Adams A, Baker A, Clark A, et al; Tea Study Group. Tea."),
        ([GROUP, *PEOPLE], "Tea Study Group; Adams A, Baker A, et al. Tea."),
        (
            [*PEOPLE[:5], GROUP, PEOPLE[6]],
            "Adams A, Baker A, Clark A, Davis A, Evans A; Tea Study Group; Ghosh A. Tea.",
        ),
        ([{"literal": f"Group {number}"} for number in range(7)], "Group 0; Group 1; Group 2; et al. Tea."),
    ],
    ids=["six", "seven", "six and a group", "seven and a group", "a group first", "a group within", "groups"],
)
def test_ama_names_three_of_more_than_six_authors_and_their_group(names: list[Any], wanted: str) -> None:
    item: Item = {"type": "article-journal", "title": "Tea", "author": names, "container-title": "J", "volume": "1"}

    assert format_citation(item, "ama").startswith(wanted)


def test_mla_shows_the_day_of_an_article_without_an_issue() -> None:
    item: Item = {
        "type": "article-journal",
        "title": "Tea",
        "container-title": "Journal of Tea",
        "issued": {"date-parts": [[2026, 3, 5]]},
        "status": "advance online publication",
    }

    assert "Journal of Tea, 5 Mar. 2026." in format_citation(item, "mla")
    assert "Journal of Tea, vol. 1, Mar. 2026." in format_citation(
        {**{name: value for name, value in item.items() if name != "status"}, "volume": "1"}, "mla"
    )


@pytest.mark.parametrize("style", STYLES)
def test_an_incomplete_list_of_authors_in_pubmed_ends_with_et_al(style: str) -> None:
    people = [{"family": f"Doe{number:02}", "given": "Ann"} for number in range(30)]
    note = "PubMed's list of authors is incomplete."
    items = [{**ITEM, "author": people[:count], "note": note} for count in (1, 2, 6, 7, 19, 20, 21, 30)]

    for text in format_styled_entries(items, style):
        assert text.count("et al") == 1
        assert "others" not in text
        assert "…" not in text  # which would mean that the last one is known
        assert text.startswith("Doe00")


@pytest.mark.parametrize("style", ["mla", "chicago"])
def test_the_full_stop_is_inside_nested_quotation_marks(style: str) -> None:
    def format_item(title: str) -> str:
        return format_citation({**ITEM, "title": title}, style)

    assert "‘Tea.’”" in format_item("on “tea”")
    assert "‘Tea.’”" in format_item("on 'tea'")
    assert "‘Ann’s Tea.’”" in format_item("on “Ann's tea”")
    assert "the Patients’.”" in format_item("on the patients'")
    assert "‘Tea’ of the Patients’.”" in format_item("on “tea” of the patients'")


@pytest.mark.parametrize("style", STYLES)
def test_a_supplement_is_named_once(style: str) -> None:
    issued = {
        "17 Suppl 6:": ("17 Suppl 6", "Suppl 6"),
        "58 Suppl:": ("58 SUPPL", None),
        "58(2 Suppl):": ("58(SUPPL)", "2"),
        "58 Suppl 1:": ("58 Suppl", "Suppl 1"),
        "58(3 Suppl):": ("58", "3 SUPPL"),
        "27 Suppl 1:": ("27", "Supplement_1"),
    }
    items = [{**ITEM, "volume": volume} | ({"issue": issue} if issue else {}) for volume, issue in issued.values()]

    for wanted, text in zip(issued, format_styled_entries(items, style), strict=True):
        assert style != "vancouver" or f"2020;{wanted}1-4." in text
        assert len(re.findall("supp", text, re.IGNORECASE)) == 1, style


@pytest.mark.parametrize(
    ("pages", "wanted"),
    [
        ("101-105; 201-205", "101-105, 201-205"),
        ("101-105; discussion 106", "101-105"),
        ("2237-2238; author reply 2238", "2237-2238"),
        ("S1-S4; e5", "S1-S4, e5"),
    ],
)
def test_all_pages_of_an_article_are_cited_without_those_of_its_discussion(pages: str, wanted: str) -> None:
    assert f"3:{wanted}." in format_citation({**ITEM, "page": pages}, "ama")


def test_initials_are_those_of_pubmed() -> None:
    given = [
        ("Ioan", "J P A", "JP"),
        ("Soa", "Nilda de Fátima F", "NFF"),
        ("Iv", "Iu A", "IuA"),
        ("Khan", "Khrys", "Kh"),
    ]
    authors = [{"last_name": last, "first_name": first, "initials": initials} for last, first, initials in given]
    article = Article.model_validate({"pmid": "1", "title": "T.", "url": "https://x.org", "authors": authors})

    for style in ("vancouver", "ama"):
        assert format_citation(build_style_item(article), style).startswith("Ioan JP, Soa NFF, Iv IuA, Khan Kh.")
    assert format_citation(build_style_item(article), "apa").startswith(
        "Ioan, J. P. A., Soa, N. de F. F., Iv, Iu. A., & Khan, K."
    )
    assert "initials" not in str(build_csl_item(article))  # which is not part of CSL


# Peculiarities of real records


def format_item(style: str, **fields: Any) -> str:
    """Return the citation of an invented record with these fields."""
    italics = tuple(fields.pop("italics", ()))
    journal = {
        "title": "Journal of things",
        "iso_abbreviation": "J. Things",
        "volume": "3",
        "pages": "1-4",
        "publication_date": {"year": 2020},
        **fields.pop("journal_info", {}),
    }
    given = {
        "pmid": "1",
        "title": "A study.",
        "authors": [{"last_name": "Doe", "first_name": "Jane", "initials": "J"}],
        "journal_info": journal,
        "url": "https://pubmed.ncbi.nlm.nih.gov/1/",
        "languages": ["eng"],
        **fields,
    }
    article = Article.model_validate(given)
    article._italics = italics  # what the parser of records sets
    return format_citation(build_style_item(article), style)


@pytest.mark.parametrize("style", STYLES)
def test_the_length_of_an_article_is_not_cited_as_its_pages(style: str) -> None:
    text = format_item(style, journal_info={"pages": "[34457 words; 185 paragraphs]"})

    assert "words" not in text
    assert "paragraphs" not in text
    assert ", (" not in text


@pytest.mark.parametrize("style", ["mla", "chicago"])
def test_a_bracket_of_the_title_is_inside_the_quotation_marks(style: str) -> None:
    assert "[J Things 2019;2:1].”" in format_item(style, title='Corrigendum to "A study" [J Things 2019;2:1].')
    translated = format_item(style, title="[A Study].", vernacular_title="Une étude.", languages=["fre"])
    assert "“Une étude” [A Study]" in translated, translated


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("title", "begins"),
    [('"omics" and health.', "Omics"), ('"p53" and health.', "p53"), ("'slow-wave' sleep.", "Slow-")],
)
def test_a_title_that_begins_with_a_quotation_has_a_capital(style: str, title: str, begins: str) -> None:
    assert re.search(rf"[“‘\"]{begins}", format_item(style, title=title))


def test_names_of_species_in_italics_have_their_case() -> None:
    arguments = {"title": "Growth of Novum exemplum minus in mice.", "italics": ["Novum exemplum minus"]}

    assert "Growth of Novum exemplum minus in Mice" in format_item("chicago", **arguments)
    assert "Growth of Novum exemplum minus in Mice" in format_item("mla", **arguments)


@pytest.mark.parametrize(
    ("short", "title", "wanted"),
    [
        ("Dtsch Med Wochenschr", "Deutsche medizinische Wochenschrift", "Dtsch. Med. Wochenschr."),
        ("Natl Sci Rev", "National science review", "Natl Sci. Rev."),
        ("Nutr Metab (Lond)", "Nutrition & metabolism", "Nutr. Metab. (Lond.)"),
        ("Clin. Endocrinol. (Oxf)", "Clinical endocrinology", "Clin. Endocrinol. (Oxf.)"),
        ("Lung Cancer", "Lung cancer", "Lung Cancer"),
    ],
)
def test_nature_has_full_stops_after_abbreviated_words(short: str, title: str, wanted: str) -> None:
    assert f" {wanted} 3, 1–4" in format_item("nature", journal_info={"title": title, "iso_abbreviation": short})


@pytest.mark.parametrize("style", ["chicago", "mla"])
def test_initials_with_a_hyphen_have_full_stops(style: str) -> None:
    author = {"last_name": "Le Roux", "first_name": "J-M", "initials": "JM"}

    assert "Le Roux, J.-M. " in format_item(style, authors=[author])


def test_vancouver_names_every_language() -> None:
    assert "3:1-4. English, French." in format_item("vancouver", languages=["eng", "fre"])


@pytest.mark.parametrize(
    ("title", "wanted"),
    [
        ("Journal of clinical things : official journal of a society", "Journal of Clinical Things"),
        ("NeuroThings. Clinical", "NeuroThings: Clinical"),
        ("Journal of things. B, Analytical uses of things", "Journal of Things B: Analytical Uses of Things"),
        ("Acta of things. Part A, Chemistry", "Acta of Things Part A: Chemistry"),
    ],
)
def test_subtitles_and_sections_of_journals_are_written_as_on_their_covers(title: str, wanted: str) -> None:
    assert f"{wanted}, 3, 1–4" in format_item("apa", journal_info={"title": title, "iso_abbreviation": "J Th"})


@pytest.mark.parametrize("style", ["vancouver", "ama"])
def test_nlm_styles_use_nlms_abbreviation(style: str) -> None:
    journal = {"iso_abbreviation": "Clin. Sci.", "medline_abbreviation": "Clin Sci (Lond)"}

    assert " Clin Sci (Lond). 2020;3:1-4" in format_item(style, journal_info=journal)
