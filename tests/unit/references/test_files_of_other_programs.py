"""Files as Zotero, EndNote, Mendeley and Scopus write them: types, addresses, keywords, dates, and preprints."""

import json
from typing import Any

import pytest

from entrez_kit.citations.style.format_entries import STYLES
from entrez_kit.citations.style.preparation import prepare_item
from entrez_kit.references.merge.convert_records import build_item, convert_records, read_record_files
from entrez_kit.references.merge.merge_documents import FileToMerge


def read_item(text: str, suffix: str) -> dict[str, Any]:
    """Return the record of a file as it is cited."""
    entries, _ = read_record_files([FileToMerge(file=f"refs.{suffix}", text=text)])
    return build_item(entries[0], for_style=True)


def prepare(text: str, suffix: str, style: str = "apa") -> dict[str, Any]:
    """Return the item that a citation processor gets."""
    return prepare_item(read_item(text, suffix), STYLES[style].wants)


def convert(text: str, suffix: str, target: str) -> str:
    entries, _ = read_record_files([FileToMerge(file=f"refs.{suffix}", text=text)])
    return "".join(convert_records(entries, target))


WEB_PAGES = {
    "biblatex": (
        "bib",
        "@online{a7, author={{WHO}}, title={Guideline}, url={https://who.int/x_y}, year={2020}, urldate={2024-01-02}}",
    ),
    "escaped": (
        "bib",
        "@misc{a7, title={Guideline}, howpublished={\\url{https://who.int/x\\_y}}, urldate={2024-01-02}}",
    ),
    "zotero": (
        "ris",
        "TY  - ELEC\nAU  - WHO\nTI  - Guideline\nT2  - Site\nPY  - 2020\nY2  - 2024/01/02/\n"
        "UR  - https://who.int/x_y\nER  - \n",
    ),
    "csl": (
        "json",
        json.dumps(
            [
                {
                    "id": "a7",
                    "type": "webpage",
                    "title": "Guideline",
                    "URL": "https://who.int/x_y",
                    "accessed": {"date-parts": [["2024", 1, 2]]},
                }
            ]
        ),
    ),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", WEB_PAGES)
def test_the_address_of_a_web_page_and_the_day_of_access_are_cited(name: str, style: str) -> None:
    suffix, text = WEB_PAGES[name]

    item = prepare(text, suffix, style)

    assert item["type"] == "webpage"
    assert item["URL"] == "https://who.int/x_y"
    assert item["accessed"] == {"date-parts": [[2024, 1, 2]]}


@pytest.mark.parametrize("target", ["ris", "bibtex", "csl"])
@pytest.mark.parametrize("name", WEB_PAGES)
def test_the_address_of_a_web_page_and_the_day_of_access_are_converted(name: str, target: str) -> None:
    suffix, text = WEB_PAGES[name]
    again = {"ris": "ris", "bibtex": "bib", "csl": "json"}[target]

    item = read_item(convert(text, suffix, target), again)

    assert (item["type"], item["URL"]) == ("webpage", "https://who.int/x_y")
    assert item["accessed"] == {"date-parts": [[2024, 1, 2]]}


ARTICLE = "TY  - JOUR\nAU  - Doe, J.\nTI  - A title\nT2  - J Inv\nPY  - 2020\nVL  - 1\nSP  - 2\nEP  - 3\n{more}ER  - \n"


@pytest.mark.parametrize(
    ("more", "address"),
    [
        ("UR  - https://example.org/paper\n", "https://example.org/paper"),
        ("UR  - https://example.org/paper\nDO  - 10.5555/x\n", None),
        ("UR  - https://pubmed.ncbi.nlm.nih.gov/99000001/\nAN  - 99000001\nDB  - PubMed\n", None),
        ("UR  - https://pmc.ncbi.nlm.nih.gov/articles/PMC99000001/\n", None),
        ("UR  - https://europepmc.org/article/PPR/PPR1\n", None),
        ("UR  - https://www.scopus.com/inward/record.uri?eid=2-s2.0-85000000000&doi=10.1\nDB  - Scopus\n", None),
        ("UR  - https://notscopus.com/a\n", "https://notscopus.com/a"),
    ],
)
def test_the_address_of_an_article_is_cited_without_a_doi_and_outside_of_databases(
    more: str, address: str | None
) -> None:
    assert prepare(ARTICLE.format(more=f"{more}Y2  - 2024/01/02/\n"), "ris").get("URL") == address
    assert ("accessed" in prepare(ARTICLE.format(more=f"{more}Y2  - 2024/01/02/\n"), "ris")) is (address is not None)


def test_a_tilde_in_an_address_of_bibtex_stays() -> None:
    text = "@misc{a, title={T}, url={https://example.org/~doe/a--b}}"

    assert read_item(text, "bib")["URL"] == "https://example.org/~doe/a--b"


@pytest.mark.parametrize(
    ("text", "suffix", "genre"),
    [
        (ARTICLE.format(more="M3  - Article\nDB  - Scopus\n"), "ris", None),
        ("PMID- 1\nTI  - A title.\nPT  - Journal Article\nPT  - Review\nJT  - J Inv\n", "nbib", None),
        ("TY  - CHAP\nTI  - A title\nT2  - A book\nM3  - Book chapter\nER  - \n", "ris", None),
        ("TY  - CPAPER\nTI  - A title\nT2  - Proceedings\nM3  - Conference paper\nER  - \n", "ris", None),
        ("TY  - THES\nTI  - A title\nPB  - University\nM3  - PhD thesis\nER  - \n", "ris", "PhD thesis"),
        ("TY  - RPRT\nTI  - A title\nPB  - Agency\nM3  - Technical report\nER  - \n", "ris", "Technical report"),
        ("TY  - RPRT\nTI  - A title\nPB  - Agency\nM3  - 10.5555/x\nER  - \n", "ris", None),
        ("@phdthesis{a, title={A title}, school={University}, type={PhD thesis}}", "bib", "PhD thesis"),
    ],
)
def test_the_kind_of_a_work_is_cited_only_if_its_type_has_kinds(text: str, suffix: str, genre: str | None) -> None:
    assert read_item(text, suffix).get("genre") == genre


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        (
            "@misc{a, title={T}, howpublished={bioRxiv}, doi={10.5555/x}, year={2024}, pages={2024.08.30.9}}",
            "bib",
        ),
        ("@misc{a, title={T}, publisher={medRxiv}, doi={10.5555/x}, year={2024}}", "bib"),
        ("@misc{a, title={T}, publisher={Server}, note={Preprint}, doi={10.5555/x}, year={2024}}", "bib"),
        ("@misc{a, title={T}, eprint={2001.01234}, archiveprefix={arXiv}, year={2020}}", "bib"),
        ("TY  - UNPB\nTI  - T\nPB  - Research Square\nDO  - 10.5555/x\nPY  - 2024\nSP  - 2024.08\nER  - \n", "ris"),
        ("@article{a, title={T}, journal={arXiv preprint arXiv:2001.01234}, year={2020}}", "bib"),
        ("TY  - JOUR\nTI  - T\nJF  - bioRxiv\nSP  - 2024.08.30.990009\nDO  - 10.5555/x\nPY  - 2024\nER  - \n", "ris"),
        ("TY  - UNPB\nTI  - T\nPB  - Server\nM3  - Preprint\nDO  - 10.5555/x\nPY  - 2024\nER  - \n", "ris"),
        (
            "PMID- 1\nTI  - T.\nPT  - Preprint\nTA  - bioRxiv\nJT  - bioRxiv : the preprint server\nDP  - 2024 Sep 2\n",
            "nbib",
        ),
    ],
)
def test_a_preprint_stays_a_preprint(text: str, suffix: str) -> None:
    item = prepare(text, suffix)

    assert (item["type"], item["genre"]) == ("article", "Preprint")
    assert not {"page", "number", "container-title"} & set(item)
    assert prepare(text, suffix, "vancouver")["container-title"].endswith("[Preprint]")


def test_an_unpublished_work_is_not_a_preprint() -> None:
    text = "TY  - UNPB\nTI  - T\nPB  - University of Eastmere\nM3  - Unpublished manuscript\nPY  - 2024\nER  - \n"

    assert read_item(text, "ris")["type"] == "manuscript"


KEYWORDS = ["Receptors, Chimeric Antigen", "Databases, Protein"]


@pytest.mark.parametrize(
    ("text", "suffix", "words"),
    [
        ("@article{a, title={T}, keywords={Receptors, Chimeric Antigen; Databases, Protein}}", "bib", KEYWORDS),
        ("@article{a, title={T}, keywords={sleep, bread,tea}}", "bib", ["sleep", "bread", "tea"]),
        (
            '[{"type": "book", "title": "T", "keyword": "Receptors, Chimeric Antigen; Databases, Protein"}]',
            "json",
            KEYWORDS,
        ),
        ('[{"type": "book", "title": "T", "keyword": "sleep, bread"}]', "json", ["sleep", "bread"]),
        ("TY  - JOUR\nTI  - T\nKW  - Receptors, Chimeric Antigen\nKW  - Databases, Protein\nER  - \n", "ris", KEYWORDS),
        (
            "PMID- 1\nTI  - T\nJT  - J\nMH  - *Receptors, Chimeric Antigen/genetics\nOT  - *Databases, Protein\n",
            "nbib",
            KEYWORDS,
        ),
    ],
)
def test_keywords_with_commas_are_not_divided(text: str, suffix: str, words: list[str]) -> None:
    written = convert(text, suffix, "ris")  # a RIS file is copied unchanged

    found = [line.removeprefix("KW  - ") for line in written.splitlines() if line.startswith("KW")]
    assert sorted(found) == sorted(words)


@pytest.mark.parametrize("tag", ["LID", "AID"])
def test_the_number_of_an_article_is_read_from_medline_text(tag: str) -> None:
    text = f"PMID- 1\nTI  - T\nJT  - J\nDP  - 2020\nVI  - 4\nIP  - 6\n{tag} - 204 [pii]\n{tag} - 10.5555/x [doi]\n"

    assert read_item(text, "nbib")["number"] == "204"
    for target, line in {"ris": "SP  - 204", "bibtex": "  pages = {204},", "csl": '  "page": "204"'}.items():
        assert any(written.startswith(line) for written in convert(text, "nbib", target).splitlines())


def test_one_name_in_medline_text_is_a_person_and_groups_have_their_tag() -> None:
    item = read_item("PMID- 1\nTI  - T\nFAU - Suryati\nAU  - Suryati\nCN  - Trialists\nJT  - J\n", "nbib")

    assert item["author"] == [{"family": "Suryati"}, {"literal": "Trialists"}]


@pytest.mark.parametrize("target", ["ris", "bibtex", "csl"])
def test_one_name_and_a_group_of_one_word_are_converted(target: str) -> None:
    text = "@article{a, title={T}, author={Suryati and {Trialists} and {WHO}}, journal={J}}"
    suffix = {"ris": "ris", "bibtex": "bib", "csl": "json"}[target]

    assert read_item(convert(text, "bib", target), suffix)["author"] == [
        {"family": "Suryati"},
        {"literal": "Trialists"},
        {"literal": "WHO"},
    ]


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("TY  - JOUR\nTI  - T\nT2  - J\nPY  - 1998\nDA  - 1998/12//1998 Dec-1999 Jan\nER  - \n", "ris"),
        ("PMID- 1\nTI  - T\nJT  - J\nDP  - 1998 Dec-1999 Jan\n", "nbib"),
        ("@article{a, title={T}, journal={J}, date={1998-12/1999-01}}", "bib"),
        (
            '[{"type": "article-journal", "title": "T", "issued": {"date-parts": [[1998, 12], [1999, 1]]}}]',
            "json",
        ),
    ],
)
@pytest.mark.parametrize("target", ["ris", "bibtex", "csl", "nbib"])
def test_a_range_of_dates_stays_a_range(text: str, suffix: str, target: str) -> None:
    assert read_item(text, suffix)["issued"] == {"date-parts": [[1998, 12], [1999, 1]]}
    again = {"ris": "ris", "bibtex": "bib", "csl": "json", "nbib": "nbib"}[target]
    assert read_item(convert(text, suffix, target), again)["issued"] == {"date-parts": [[1998, 12], [1999, 1]]}


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("TY  - JOUR\nTI  - T\nT2  - J\nPY  - 1998-1999\nER  - \n", "ris"),
        ("PMID- 1\nTI  - T\nJT  - J\nDP  - 1998-1999\n", "nbib"),
        ("@article{a, title={T}, journal={J}, year={1998--1999}}", "bib"),
        ("@article{a, title={T}, journal={J}, date={1998/1999}}", "bib"),
        ('[{"type": "article-journal", "title": "T", "issued": {"raw": "1998/1999"}}]', "json"),
        ('[{"type": "article-journal", "title": "T", "issued": {"literal": "1998-1999"}}]', "json"),
    ],
)
def test_a_range_of_years_stays_a_range(text: str, suffix: str) -> None:
    assert read_item(text, suffix)["issued"] == {"date-parts": [[1998], [1999]]}


@pytest.mark.parametrize("target", ["ris", "bibtex", "csl"])
def test_a_single_keyword_with_a_comma_stays_one(target: str) -> None:
    source = "PMID- 1\nTI  - T\nJT  - J\nMH  - Receptors, Chimeric Antigen\n"
    suffix = {"ris": "ris", "bibtex": "bib", "csl": "json"}[target]

    written = convert(convert(source, "nbib", target), suffix, "nbib")

    assert [line for line in written.splitlines() if line.startswith("OT")] == ["OT  - Receptors, Chimeric Antigen"]


def test_an_edition_of_a_file_is_a_number_and_that_of_data_is_a_version() -> None:
    assert read_item("@book{a, title={T}, edition={2nd ed.}}", "bib")["edition"] == "2"
    assert read_item("TY  - DATA\nTI  - T\nET  - v1\nER  - \n", "ris")["version"] == "v1"


def test_the_language_of_a_file_is_read_as_a_name_or_a_code() -> None:
    for name in ("English", "eng", "en", "en-US"):
        assert read_item(ARTICLE.format(more=f"LA  - {name}\n"), "ris")["language"] == "en"


def test_the_series_and_the_number_of_a_report_are_not_its_book_and_its_issue() -> None:
    for text, suffix in (
        ("@techreport{a, title={T}, number={R-7}, series={S}, institution={I}, isbn={9799999000016}}", "bib"),
        ("TY  - RPRT\nTI  - T\nT2  - S\nSN  - R-7\nSN  - 9799999000016\nPB  - I\nER  - \n", "ris"),
    ):
        item = read_item(text, suffix)
        assert (item["number"], item["collection-title"], item["ISBN"]) == ("R-7", "S", "9799999000016")
        assert not {"issue", "container-title"} & set(item)


def test_the_original_title_of_ris_is_cited() -> None:
    text = "TY  - JOUR\nTI  - Bread and sleep\nTT  - Pain et sommeil\nT2  - J\nLA  - fr\nER  - \n"

    assert read_item(text, "ris")["title"] == "Pain et sommeil [Bread and sleep]"
