"""Checks of references: the works found, the differences, and the corrections."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from demo_articles import make_article, read_demo_articles
from project_paths import DATA
from used_recordings import require_recordings

from entrez_kit import EntrezKit
from entrez_kit.base.errors import RateLimited, UpstreamError
from entrez_kit.citations.write_files import FILES, write_file_text
from entrez_kit.pubmed.comparison import is_same_pages
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.records import iter_records
from entrez_kit.references.check.check_references import CHECK
from entrez_kit.references.check.check_result import CheckedReference, CheckResult
from entrez_kit.references.check.comparison.compare_fields import is_same_journal, is_same_work, list_differences
from entrez_kit.references.check.pasted.pasted_lists import split_references
from entrez_kit.references.files.reference_files import read_reference_file
from entrez_kit.references.files.references import RefAuthor, Reference, parse_name
from entrez_kit.sandbox.server import Sandbox

TRIAL = {
    "title": "Ex vivo base-edited progenitor cells for an invented haemoglobin disorder: a randomised, sham-controlled "
    "phase 2 trial (EDIT-HB)",
    "journal": "J Invent Results (Demo)",
    "year": "2024",
    "volume": "12",
    "issue": "3",
    "pages": "201-12",
}
TRIALISTS = (
    *("Okpara-Lindgren C", "Thistlewood WA", "Petrosyan-Vale A", "Fenwick-Achebe I"),
    *("EDIT-HB Imaginary Trial Group", "Marrowby TJ"),
)


def parse_names(*names: str) -> list[RefAuthor]:
    return [parse_name(name) for name in names]


def make_reference(**fields: Any) -> Reference:
    return Reference(**{"key": "r", **fields})


def run_check(kit: EntrezKit, *references: Reference) -> CheckResult:
    return CHECK.run(kit.services, {"references": list(references)})


def check_one(kit: EntrezKit, **fields: Any) -> CheckedReference:
    return run_check(kit, make_reference(**fields)).references[0]


def read_demo_records() -> Iterator[Article]:
    yield from (
        record.article() for record in iter_records((DATA / "records.xml").read_bytes()) if record.kind != "deleted"
    )
    yield from read_demo_articles()


# References that the program writes are verified by it


@pytest.mark.long
@pytest.mark.parametrize("style", FILES)
def test_references_written_from_any_record_agree_with_it(style: str) -> None:
    articles = list(read_demo_records())

    read = read_reference_file(write_file_text(style, articles), "refs", style).references

    for one, record in zip(read, articles, strict=True):
        assert list_differences(one, record) == [], record.pmid
        assert is_same_work(one, record), record.pmid
        assert (one.pmid, (one.doi or "").lower()) == (record.pmid, (record.doi or "").lower())


@pytest.mark.long
@pytest.mark.parametrize("style", FILES)
def test_references_written_from_recorded_articles_agree_with_them(real_data: Path, style: str) -> None:
    count = 0
    for path in sorted((real_data / "efetch_pubmed").glob("*.xml")):
        try:
            articles = [record.article() for record in iter_records(path.read_bytes()) if record.kind != "deleted"]
        except UpstreamError:
            continue
        if articles:
            read = read_reference_file(write_file_text(style, articles), "refs", style).references
            assert [list_differences(one, record) for one, record in zip(read, articles, strict=True)] == [[]] * len(
                read
            )
            count += len(read)
    require_recordings(count > 100)


# Invented references


def test_an_existing_doi_with_another_title_is_another_work_and_never_verified(kit: EntrezKit) -> None:
    found = check_one(
        kit,
        title="Deep learning detects imaginary tumours from space",
        authors=parse_names("Smith J", "Jones M"),
        journal="Nature Medicine",
        year="2021",
        doi="10.5555/ekit.2019.0001",
    )

    assert (found.status, found.same_work, found.pmid) == ("another_work", False, "99000001")
    assert "Base editing of a cryptic splice site" in (found.citation or "")
    assert {difference.field for difference in found.differences} == {"title", "authors", "journal", "year"}


def test_a_real_title_with_the_doi_of_another_article_is_found_and_the_doi_is_a_difference(kit: EntrezKit) -> None:
    found = check_one(kit, **TRIAL, authors=parse_names(*TRIALISTS), doi="10.5555/ekit.2019.0001")

    assert (found.status, found.pmid, found.same_work) == ("mismatch", "99000004", None)
    (difference,) = found.differences
    assert (difference.field, difference.record) == ("doi", "10.5555/ekit.2024.0004")


def test_an_identifier_of_another_article_is_a_finding_with_that_article_and_its_standing(kit: EntrezKit) -> None:
    found = check_one(kit, **TRIAL, authors=parse_names(*TRIALISTS), doi="10.5555/ekit.2019.0050")

    assert (found.status, found.pmid, found.retraction_status) == ("retracted", "99000004", "none")
    mismatch, retracted = found.findings
    assert (mismatch.code, retracted.code) == ("mismatch", "retracted")
    for finding in found.findings:
        assert (finding.field, finding.given, finding.pmid) == ("doi", "10.5555/ekit.2019.0050", "99000050")
        assert finding.standing is not None
        assert finding.standing.status == "retracted"
    for words in ("Your DOI belongs to: Mondschein 2019", "RETRACTED", "You probably mean PMID 99000004."):
        assert words in mismatch.message


@pytest.mark.parametrize("known", ["pmid", "doi"])
def test_a_correct_identifier_does_not_hide_a_wrong_one(kit: EntrezKit, known: str) -> None:
    right = {"pmid": "99000004", "doi": "10.5555/ekit.2024.0004"}
    wrong = {"pmid": "99000050", "doi": "10.5555/ekit.2019.0050"}
    other = "doi" if known == "pmid" else "pmid"

    found = check_one(kit, **TRIAL, authors=parse_names(*TRIALISTS), **{known: right[known], other: wrong[other]})

    assert (found.status, found.pmid) == ("retracted", "99000004")
    assert {(finding.code, finding.field, finding.pmid) for finding in found.findings} == {
        ("mismatch", other, "99000050"),
        ("retracted", other, "99000050"),
    }


def test_the_identifier_of_a_retracted_article_is_reported_as_retracted_with_any_title(kit: EntrezKit) -> None:
    result = run_check(
        kit, make_reference(title="Statins and the sleep of lighthouse keepers", doi="10.5555/ekit.2019.0050")
    )

    (found,) = result.references
    assert {finding.code for finding in found.findings} == {"another_work", "retracted"}
    assert (result.counts["retracted"], result.counts["another_work"], result.counts["verified"]) == (1, 1, 0)


def test_an_invented_article_is_distinguished_from_a_book(kit: EntrezKit) -> None:
    place = {"year": "2021", "volume": "9", "pages": "5001-12", "doi": "10.5555/made.up"}
    title = "Gene drives in paper aeroplanes"
    known, unknown, taken, book = run_check(
        kit,
        make_reference(title=title, journal="J Invent Results (Demo)", **place),
        make_reference(title=title, journal="J Nowhere Stuff", **place),
        make_reference(authors=parse_names("Nobody N"), **{**TRIAL, "title": title}),
        make_reference(title=title),
    ).references

    assert [one.status for one in (known, unknown, taken, book)] == [
        *("not_found", "not_found", "another_work", "not_found")
    ]
    messages = [one.findings[0].message for one in (known, unknown, taken, book)]
    assert all("possibly made up" in message for message in messages[:3])
    assert not any("books" in message for message in messages[:3])
    assert "NCBI knows the journal J Invent Results (Demo)" in messages[0]
    assert "NCBI does not know the journal J Nowhere Stuff" in messages[1]
    assert all("Crossref does not know it" in message for message in messages[:2])
    assert "PMID 99000004" in messages[2]
    assert "books" in messages[3]


@pytest.mark.parametrize(
    ("journal", "facts"),
    [
        ("Science", ["NCBI does not know the journal Science"]),
        ("J. Nowhere Stuff", ["NCBI does not know the journal J. Nowhere Stuff"]),
        (
            "J. Invent. Results (Demo)",
            ["NCBI knows the journal J. Invent. Results (Demo)", "no article at volume 350, page 101 of 2019"],
        ),
    ],
)
def test_an_invented_reference_without_a_title_is_reported_with_its_journal_place_and_crossref(
    kit: EntrezKit, journal: str, facts: list[str]
) -> None:
    text = f"J. Invented, A. Nobody, {journal} 350, 101 (2019)"

    bare, with_doi = CHECK.run(
        kit.services, {"text": f"[1] {text}\n[2] {text}, https://doi.org/10.5555/made.up"}
    ).references

    for one in (bare, with_doi):
        assert (one.status, one.pmid, [finding.code for finding in one.findings]) == ("not_found", None, ["not_found"])
        assert all(words in one.findings[0].message for words in ("possibly made up", *facts))
    assert "Crossref" not in bare.findings[0].message
    assert "PubMed has no record of 10.5555/made.up, and Crossref does not know it" in with_doi.findings[0].message


@pytest.mark.parametrize(
    "text",
    [
        "Minimus, A. (2016). Sine titulo. Journal of Invented Results (demo).",
        "Minimus A. Sine titulo. J Invent Results (Demo). January 1, 2016.",
    ],
)
def test_an_original_title_finds_a_record_without_an_english_title(kit: EntrezKit, text: str) -> None:
    (found,) = CHECK.run(kit.services, {"text": text}).references

    assert (found.status, found.pmid) == ("verified", "99000069")


def test_an_unknown_title_with_an_unknown_doi_is_not_found(kit: EntrezKit) -> None:
    found = check_one(kit, title="Wholly invented words about absent zebrafish", doi="10.5555/nowhere", year="2020")

    assert found.status == "not_found"
    assert "10.5555/nowhere" in (found.detail or "")


@pytest.mark.parametrize(
    ("names", "detail"),
    [
        (TRIALISTS[:-1], "missing: Marrowby, Tamsin J"),
        ((*TRIALISTS, "Nobody N"), "added: Nobody, N"),
        (
            (TRIALISTS[0], "Thistelwood WA", *TRIALISTS[2:]),
            "misspelt: Thistelwood, WA (record: Thistlewood, Wanjiru A)",
        ),
        ((TRIALISTS[1], TRIALISTS[0], *TRIALISTS[2:]), "the order differs"),
        ((*TRIALISTS[:4], TRIALISTS[5]), "missing: EDIT-HB Imaginary Trial Group"),
        ((*TRIALISTS[:5], "Marrowby XQ"), "misspelt: Marrowby, XQ (record: Marrowby, Tamsin J)"),
    ],
)
def test_all_authors_are_compared_and_not_only_the_first(kit: EntrezKit, names: tuple[str, ...], detail: str) -> None:
    found = check_one(kit, **TRIAL, authors=parse_names(*names), pmid="99000004")

    assert found.status == "mismatch"
    assert [(difference.field, difference.detail) for difference in found.differences] == [("authors", detail)]


def test_and_others_represents_the_omitted_authors(kit: EntrezKit) -> None:
    assert (
        check_one(kit, **TRIAL, authors=parse_names(*TRIALISTS[:2]), more_authors=True, pmid="99000004").status
        == "verified"
    )
    wrong = check_one(kit, **TRIAL, authors=parse_names(TRIALISTS[0], "Wrong P"), more_authors=True, pmid="99000004")
    assert wrong.status == "mismatch"


# Correct variants of references


@pytest.mark.parametrize(
    ("author", "written"),
    [
        ({"last_name": "Müller", "first_name": "Hans Jürgen"}, "Mueller, H.J."),
        ({"last_name": "Müller", "first_name": "Hans Jürgen"}, "Muller HJ"),
        ({"last_name": "Mueller", "first_name": "Hans"}, "Müller, H."),
        ({"last_name": "Weiß", "first_name": "Anna"}, "Weiss A"),
        ({"last_name": "Ørsted", "first_name": "Hans C"}, "Orsted, HC"),
        ({"last_name": "Łukasiewicz", "first_name": "Jan"}, "Lukasiewicz J"),
        ({"last_name": "van der Berg", "first_name": "Willem"}, "Berg, W"),
        ({"last_name": "García-Márquez", "first_name": "Gabriel"}, "GARCIA MARQUEZ, G."),
        ({"last_name": "Li", "first_name": "Xiao-Ming", "initials": "XM"}, "Li, Xiaoming"),
        ({"last_name": "O'Neil", "first_name": "Ann"}, "O’Neil A"),
        ({"collective_name": "The Hay Fever Study Group."}, "Hay Fever Study Group"),
        ({"collective_name": "Ear, Nose and Throat Society"}, "Ear, Nose and Throat Society"),
        ({"collective_name": "Group A, Group B, and Group C"}, "Group A, Group B, and Group C"),
        ({"last_name": "Doe", "first_name": "Jane Amelia"}, "Jane Amelia Doe"),
        ({"last_name": "Doe", "initials": "JA"}, "Doe, J."),
    ],
)
def test_spellings_of_one_name_are_equal(author: dict[str, str], written: str) -> None:
    reference = make_reference(authors=parse_names(written, "Second B"))
    article = make_article(authors=[author, {"last_name": "Second", "first_name": "B"}])

    assert list_differences(reference, article) == []


@pytest.mark.parametrize(
    ("author", "written"),
    [
        ({"last_name": "Bauer", "first_name": "A"}, "Baur A"),
        ({"last_name": "Smith", "first_name": "John"}, "Smith, Jane"),
        ({"last_name": "Smith", "first_name": "John"}, "Smith, P."),
        ({"last_name": "Li", "first_name": "Wei"}, "Wei, Li"),
        ({"collective_name": "Group A"}, "Group B"),
    ],
)
def test_different_names_are_not_equal(author: dict[str, str], written: str) -> None:
    (difference,) = list_differences(make_reference(authors=parse_names(written)), make_article(authors=[author]))

    assert difference.field == "authors"


@pytest.mark.parametrize(
    ("record", "written"),
    [
        ("Effects of TGF-β1 on <5 μm cells: a study.", "Effects of TGF-beta1 on &lt;5 mum Cells - A Study"),
        ("RETRACTED: Sleep and moonlight.", "Sleep and moonlight"),
        ("Sleep & moonlight.", "Sleep and Moonlight"),
        ("[Über Schlaf.]", "Uber Schlaf"),
        ("CO₂ in H2O.", "<i>CO2</i> in H<sub>2</sub>O"),
    ],
)
def test_spellings_of_one_title_are_equal(record: str, written: str) -> None:
    written = written.replace("&lt;", "<")
    assert list_differences(make_reference(title=written), make_article(title=record)) == []


@pytest.mark.parametrize(
    ("title", "short", "written", "same"),
    [
        ("The New England journal of medicine", "N Engl J Med", "New Engl. J. Med.", True),
        ("Lancet (London, England)", "Lancet", "The Lancet", True),
        ("Proceedings of the National Academy of Sciences of the United States of America", None, "PNAS", True),
        ("BMJ (Clinical research ed.)", "BMJ", "BMJ", True),
        ("Nature communications", "Nat Commun", "Nature Communications", True),
        ("Nature communications", "Nat Commun", "Nature", False),
        ("Journal of chromatography. A", "J Chromatogr A", "J. Chromatogr. A", True),
        ("Cell", "Cell", "Cell Reports", False),
    ],
)
def test_journals_may_be_abbreviated(title: str, short: str | None, written: str, same: bool) -> None:
    assert is_same_journal(written, make_article(journal_info={"title": title, "iso_abbreviation": short})) is same


@pytest.mark.parametrize(
    ("mine", "theirs", "same"),
    [
        ("737--8", "737-738", True),
        ("737", "737-738", True),
        ("pp. 737–738", "737-738", True),
        ("737-739", "737-738", False),
        ("1019", "e1019", True),
        ("S12--9", "S12-S19", True),
        ("4002.e26", "4002.e26", True),
        ("104512", "104513", False),
    ],
)
def test_pages_are_compared_as_a_whole(mine: str, theirs: str, same: bool) -> None:
    assert is_same_pages(mine, theirs) is same


def test_the_year_may_be_that_of_the_issue_or_of_the_electronic_publication() -> None:
    record = make_article(
        journal_info={"title": "J", "publication_date": {"year": 2020}},
        article_dates=[{"type": "Electronic", "year": 2019}],
    )

    assert [list_differences(make_reference(year=year), record) for year in ("2020", "2019")] == [[], []]
    assert [difference.record for difference in list_differences(make_reference(year="2018"), record)] == ["2020"]


# Retractions


def test_a_retracted_article_is_reported_with_any_fields(kit: EntrezKit) -> None:
    found = check_one(kit, pmid="99000050")

    assert (found.status, found.retraction_status) == ("retracted", "retracted")
    assert (found.notice or "").startswith("[Retracted: ")


def test_every_reference_with_a_finding_has_the_citation_of_its_record(kit: EntrezKit) -> None:
    references = [make_reference(pmid=pmid) for pmid in ("99000050", "99000001", "99000001", "99999999")]

    found = run_check(kit, *references).references

    assert [one.status for one in found] == ["retracted", "verified", "duplicate", "not_found"]
    assert ["PMID" in (one.citation or "") for one in found] == [True, False, True, False]


def test_an_expression_of_concern_is_a_finding_but_not_a_retraction(kit: EntrezKit) -> None:
    concern = next(record for record in read_demo_records() if record.retraction_status == "expression_of_concern")
    corrected = next(
        record
        for record in read_demo_records()
        if record.retraction_status == "none"
        and any(correction.kind == "ErratumIn" for correction in record.corrections)
    )

    outcomes = run_check(kit, make_reference(pmid=concern.pmid), make_reference(pmid=corrected.pmid)).references

    assert [outcome.status for outcome in outcomes] == ["concern", "verified"]


# Searching


def test_a_reference_without_an_identifier_is_found_by_place_or_by_title(kit: EntrezKit) -> None:
    by_place = {name: value for name, value in TRIAL.items() if name != "title"}

    found = run_check(
        kit,
        make_reference(**by_place, authors=parse_names(*TRIALISTS)),
        make_reference(title=TRIAL["title"]),
        make_reference(title="EX VIVO BASE EDITED PROGENITOR CELLS FOR AN INVENTED HAEMOGLOBIN DISORDER"),
    ).references

    assert [one.pmid for one in found] == ["99000004"] * 3
    assert [(one.status, one.duplicate_of) for one in found] == [("verified", None), ("duplicate", 1), ("mismatch", 1)]


def test_a_title_of_two_records_is_ambiguous_until_other_fields_decide(kit: EntrezKit) -> None:
    title = "Moonlight exposure doubles overnight memory in shift workers"

    found = run_check(kit, make_reference(title=title), make_reference(title=title, year="2019")).references

    assert [one.status for one in found] == ["ambiguous", "retracted"]
    assert set(found[0].candidate_pmids) == {"99000050", "99000052"}


def test_an_identifier_in_a_note_about_another_work_is_not_that_of_the_reference() -> None:
    text = "@article{a, title={T}, note={Retraction in: J. 2021;1:2. doi: 10.5555/notice PMID: 5}}\n"
    text += "@article{b, title={T}, note={PMID: 7; PMCID: PMC8}}"

    first, second = read_reference_file(text, "x", "bibtex").references

    assert (first.doi, first.pmid) == (None, None)
    assert (second.pmid, second.pmcid) == ("7", "PMC8")


def test_a_reference_without_searchable_fields_is_unreadable(kit: EntrezKit) -> None:
    found = check_one(kit, year="2020")

    assert (found.status, [finding.code for finding in found.findings]) == ("unreadable", ["unreadable"])


def test_hostile_titles_are_sent_to_pubmed_as_words_and_not_as_syntax(kit: EntrezKit) -> None:
    titles = ['crispr"[Title] OR cancer[Title] (', "((((", "[[[ ]]] AND NOT OR", "a" * 5000, "\x00\x1b[31m 日本語 הכל"]

    found = run_check(kit, *(make_reference(title=title) for title in titles)).references

    assert {one.status for one in found} == {"not_found"}


def test_references_are_unchecked_if_a_service_does_not_answer(kit_for: Any) -> None:
    with pytest.raises(UpstreamError):
        run_check(kit_for(None), make_reference(pmid="99000001"), make_reference(title="Some title of four words"))


def test_a_failing_service_never_causes_not_found(kit: EntrezKit, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: Any) -> Any:
        raise RateLimited("busy")

    monkeypatch.setattr(kit.services.eutils, "esearch", refuse)

    found = run_check(kit, make_reference(pmid="99000001"), make_reference(title="Nobody wrote these words")).references

    assert [one.status for one in found] == ["verified", "unchecked"]
    assert found[1].detail == "not checked: busy"


@pytest.mark.long
def test_hundreds_of_references_take_a_bounded_number_of_requests(kit: EntrezKit, sandbox: Sandbox) -> None:
    known = [record for record in read_demo_records() if record.pmid.startswith("99")][:60]
    references = [make_reference(key=f"p{one.pmid}", pmid=one.pmid) for one in known]
    references += [make_reference(key=f"d{one.pmid}", doi=one.doi) for one in known if one.doi]
    references += [
        make_reference(key=f"n{number}", title=f"Nobody wrote number {number} of these") for number in range(80)
    ]

    result = run_check(kit, *references[:200])

    one_by_one = sandbox.requests("crossref") + sandbox.requests("openalex")
    assert sandbox.requests() - one_by_one <= 40
    assert one_by_one <= 2 * len({one.doi for one in known if one.doi}) + 10
    assert result.total == len(references[:200])
    assert result.counts["mismatch"] == 0


# Corrections


def correct_file(kit: EntrezKit, text: str, kind: str) -> tuple[str, list[CheckedReference]]:
    """Return the corrected file, and the findings about it."""
    file = read_reference_file(text, "refs", kind)
    result = CHECK.run(kit.services, {"references": file.references, "corrects": True})
    return file.correct(result.corrections), result.references


BIBTEX = """% references of the thesis
@string{jir = "Nature Dreams"}
@Comment{ keep, me }
@article{trial,
\tauthor    = "Okpara-Lindgren, C and Nobody, N",
\ttitle     = "{Ex vivo base-edited progenitor cells for an invented haemoglobin disorder:
    a randomised, sham-controlled phase 2 trial (EDIT-HB)}",
\tjournal   = jir,
\tyear      = 2023,
\tnumber    = {3},   volume={12},
\tpages     = {201--299},
\tmykeyword = {a, b {c} "d"},
\tdoi       = {10.5555/ekit.2024.0004}
}
stray words
@article{other, title = {Wholly invented words about absent zebrafish}, doi = {10.5555/ekit.2019.0001}, year = 1999}
@article{moon, title = {Moonlight exposure doubles overnight memory in shift workers}, note={My note},pmid=99000050}
"""


def test_correcting_bibtex_changes_only_wrong_fields(kit: EntrezKit) -> None:
    text, checked = correct_file(kit, BIBTEX, "bibtex")

    assert [one.status for one in checked] == ["mismatch", "another_work", "retracted"]
    before, after = BIBTEX.splitlines(), text.splitlines()
    assert len(before) == len(after)
    changed = [(old.split("=")[0].strip(), new) for old, new in zip(before, after, strict=True) if old != new]
    assert [name for name, _ in changed] == ["author", "journal", "year", "pages", "@article{moon, title"]
    assert changed[0][1].startswith('\tauthor    = "Okpara-Lindgren, Chidinma and Thistlewood, Wanjiru A and ')
    assert changed[2][1] == "\tyear      = 2024,"
    assert changed[3][1] == "\tpages     = {201--212},"
    assert "note={My note. [Retracted: " in changed[4][1]
    again, rechecked = correct_file(kit, text, "bibtex")
    assert [one.status for one in rechecked] == ["verified", "another_work", "retracted"]
    assert again == text


def test_biblatex_is_read_in_its_own_fields(kit: EntrezKit) -> None:
    text = """@article{x,
  author = {family=Okpara-Lindgren, given=Chidinma and others},
  title = {Ex vivo base-edited progenitor cells for an invented haemoglobin disorder},
  subtitle = {a randomised trial},
  journaltitle = {J. Invent. Results (Demo)},
  date = {2023-03-14},
  eprint = {99000004}, eprinttype = {pubmed},
}"""

    file = read_reference_file(text, "x", "bibtex")
    corrected, checked = correct_file(kit, text, "bibtex")

    (one,) = file.references
    assert (one.pmid, one.year, one.journal) == ("99000004", "2023", "J. Invent. Results (Demo)")
    assert one.authors == [RefAuthor(family="Okpara-Lindgren", given="Chidinma")]
    assert {difference.field for difference in checked[0].differences} == {"title", "year"}
    assert "eprint = {99000004}, eprinttype = {pubmed}," in corrected
    assert "  date = {2024-03-14}," in corrected


RIS = """TY  - JOUR\r
ID  - trial\r
AU  - Okpara-Lindgren, C.\r
AU  - Nobody, N.\r
T1  - Ex vivo base-edited progenitor cells for an invented haemoglobin disorder:\r
  a randomised, sham-controlled phase 2 trial (EDIT-HB)\r
JO  - Nature Dreams\r
Y1  - 2023/03/14/\r
SP  - 201\r
EP  - 299\r
U1  - mine\r
DO  - 10.5555/ekit.2024.0004\r
ER  - \r
\r
TY  - JOUR\r
TI  - Moonlight exposure doubles overnight memory in shift workers\r
PY  - 2019\r
ER  - \r
"""


def test_correcting_ris_changes_only_wrong_lines(kit: EntrezKit) -> None:
    text, checked = correct_file(kit, RIS, "ris")

    assert [one.status for one in checked] == ["mismatch", "retracted"]
    lines = text.split("\r\n")
    assert [line for line in lines if line.startswith("AU  - ")][:2] == [
        "AU  - Okpara-Lindgren, Chidinma",
        "AU  - Thistlewood, Wanjiru A",
    ]
    for kept in ("ID  - trial", "U1  - mine", "SP  - 201", "  a randomised, sham-controlled phase 2 trial (EDIT-HB)"):
        assert kept in lines
    for new in ("JO  - Journal of Invented Results (demo)", "Y1  - 2024/03/14/", "EP  - 212"):
        assert new in lines
    assert any(line.startswith("N1  - [Retracted: ") for line in lines[-5:])
    assert "\n" not in text.replace("\r\n", "")
    assert correct_file(kit, text, "ris")[0] == text


def test_correcting_csl_json_does_not_change_order_and_unknown_fields(kit: EntrezKit) -> None:
    import json

    items: list[dict[str, Any]] = [
        {
            "zzz": {"mine": 1},
            "id": "a",
            "type": "article-journal",
            "title": TRIAL["title"],
            "volume": 13,
            "PMID": "99000004",
        },
        {"id": "b", "type": "webpage", "title": "A page of nobody at all"},
    ]

    text, checked = correct_file(kit, json.dumps(items, indent=4), "csl")

    assert [one.status for one in checked] == ["mismatch", "not_found"]
    after = json.loads(text)
    assert list(after[0]) == list(items[0])
    assert after == [{**items[0], "volume": 12}, items[1]]
    assert text.startswith('[\n    {\n        "zzz"')


@pytest.mark.parametrize(
    ("pages", "number", "given", "said"),
    [
        (None, "9966", "9966", None),
        (None, "9966", "e9966", None),
        (None, "9966", "9967", "9966"),
        (None, "9966", "1-12", "9966"),
        (None, "e01408-19", "e01408-19", None),
        (None, "e01408-19", "e01409-19", "e01408-19"),
        (None, "E874", "874", None),
        (None, "E874", "E875", "E874"),
        ("201-12", "9966", "201-212", None),
        ("201-12", "9966", "9966", None),
        ("201-12", "9966", "9967", "201-212 or 9966"),
        (None, None, "5", None),
    ],
)
def test_article_numbers_are_compared_like_pages(
    pages: str | None, number: str | None, given: str, said: str | None
) -> None:
    journal = {"title": "J", "volume": "12", "pages": pages, "article_number": number}

    found = list_differences(make_reference(pages=given), make_article(journal_info=journal))

    assert [(one.field, one.record) for one in found] == ([] if said is None else [("pages", said)])


def test_pages_of_thousands_of_digits_are_compared_as_text() -> None:
    long = "1" * 5_000 + "-" + "2" * 5_000

    assert [
        difference.field
        for difference in list_differences(make_reference(pages=long), make_article(journal_info={"pages": "1-2"}))
    ] == ["pages"]


NOTICE_PLACE = {"journal": "J Invent Results (Demo)", "year": "2021", "volume": "9", "pages": "600"}
RETRACTED_TITLE = "Moonlight exposure doubles overnight memory in shift workers"
NOTICE_TEXT = "J Invent Results (Demo). 2021 Jun;9(6):600."


@pytest.mark.parametrize("doi", [None, "10.5555/ekit.2021.0051"])
def test_a_retracted_article_with_the_place_of_its_retraction_notice_is_reported_as_retracted(
    kit: EntrezKit, doi: str | None
) -> None:
    authors = parse_names("Mondschein S", "Umbracht V")
    text = f"Mondschein S, Umbracht V. {RETRACTED_TITLE}. {NOTICE_TEXT} {f'doi: {doi}' if doi else ''}"
    given = [make_reference(title=RETRACTED_TITLE, authors=authors, doi=doi, **NOTICE_PLACE), *split_references(text)]

    for found in run_check(kit, *given).references:
        assert (found.status, found.pmid) == ("retracted", "99000050")
        assert {"year", "pages"} <= {finding.field for finding in found.findings}
        if doi:
            (owner,) = (finding for finding in found.findings if finding.pmid)
            assert (owner.field, owner.pmid) == ("doi", "99000051")
        else:
            assert "a notice about it is at this journal, volume and page" in (found.detail or "")


def test_a_reference_to_a_retraction_notice_is_verified(kit: EntrezKit) -> None:
    title = f"Retraction notice: {RETRACTED_TITLE}"
    given = [make_reference(title=title, **NOTICE_PLACE), *split_references(f"{title}. {NOTICE_TEXT}")]

    assert [(found.status, found.pmid) for found in run_check(kit, *given).references] == [
        ("verified", "99000051"),
        ("duplicate", "99000051"),
    ]
