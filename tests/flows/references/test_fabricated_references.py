"""Invented and mixed references: none is verified, and none is changed into a reference to another paper."""

from collections.abc import Callable
from typing import Any

import pytest
from demo_articles import read_demo_articles
from fixture_types import KitFor

from entrez_kit import EntrezKit
from entrez_kit.citations.format_citations import format_articles
from entrez_kit.local.eutils.replies import LocalReply, answer_json, answer_text
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.pubmed.models import Article
from entrez_kit.references.check.check_references import CHECK
from entrez_kit.references.check.comparison.compare_text import compare_text
from entrez_kit.references.check.pasted.pasted_lists import split_references
from entrez_kit.references.files.read_bibtex import read_bibtex
from entrez_kit.references.files.references import RefAuthor, Reference
from entrez_kit.sandbox.crossref import answer_crossref
from entrez_kit.sandbox.server import Sandbox

INVENTED = (
    "Deep learning sees imaginary tumours from low orbit",
    "Statins and the sleep of lighthouse keepers: a sham-controlled trial",
    "A meta-analysis of meta-analyses that were never carried out",
    "Gene drives in paper aeroplanes",
)
NOBODIES = [RefAuthor(family="Nobodyson", given="Q"), RefAuthor(family="Vapourware", given="Z X")]


def read_demo() -> list[Article]:
    found = [article for article in read_demo_articles() if article.record_type == "article"]
    wanted = [one for one in found if one.doi and len(one.authors) > 1 and one.retraction_status == "none"]
    return [one for one in wanted if all(who.last_name for who in one.authors)][:12]


ARTICLES = read_demo()


def make_true_reference(article: Article, **changed: Any) -> Reference:
    journal = article.journal_info
    assert journal is not None
    assert journal.publication_date is not None
    return Reference(
        **{
            "key": article.pmid,
            "title": article.title,
            "authors": [RefAuthor(family=who.last_name, given=who.initials) for who in article.authors],
            "journal": journal.iso_abbreviation,
            "year": str(journal.publication_date.year),
            "volume": journal.volume,
            "issue": journal.issue,
            "pages": journal.pages,
            "pmid": article.pmid,
            "doi": article.doi,
            **changed,
        }
    )


def write_vancouver(article: Article, **changed: str) -> str:
    """Return a reference in Vancouver style; arguments replace its parts."""
    journal = article.journal_info
    assert journal is not None
    assert journal.publication_date is not None
    said = {
        "authors": ", ".join(f"{who.last_name} {who.initials or ''}".strip() for who in article.authors),
        "title": article.title.rstrip("."),
        "journal": journal.iso_abbreviation or "",
        "year": str(journal.publication_date.year),
        "volume": journal.volume or "",
        "issue": journal.issue or "",
        "pages": journal.pages or "",
        "pmid": f"PMID: {article.pmid}",
        **changed,
    }
    issue = f"({said['issue']})" if said["issue"] else ""
    place = f"{said['year']};{said['volume']}{issue}:{said['pages']}"
    return f"{said['authors']}. {said['title']}. {said['journal']}. {place}. {said['pmid']}."


def find_other_article(article: Article) -> Article:
    """Return another article by other people."""
    own = {who.last_name for who in article.authors}
    return next(article for article in reversed(ARTICLES) if not own & {who.last_name for who in article.authors})


PAIRS = [(article, find_other_article(article)) for article in ARTICLES]
STRUCTURED: dict[str, Callable[[Article, Article], Reference]] = {
    "an invented title": lambda one, _: make_true_reference(one, title=INVENTED[int(one.pmid) % 4]),
    "invented authors": lambda one, _: make_true_reference(one, authors=NOBODIES),
    "another's title": lambda one, other: make_true_reference(one, title=other.title),
    "another's authors": lambda one, other: make_true_reference(one, authors=make_true_reference(other).authors),
    "all invented under a true doi": lambda one, _: Reference(
        key="x", title=INVENTED[int(one.pmid) % 4], authors=NOBODIES, journal="Nature", year="2021", doi=one.doi
    ),
    "invented authors, no identifier": lambda one, _: make_true_reference(one, authors=NOBODIES, doi=None, pmid=None),
    "an invented title at a true place": lambda one, _: make_true_reference(
        one, title=INVENTED[0], doi=None, pmid=None
    ),
}
WRITTEN: dict[str, Callable[[Article, Article], str]] = {
    "an invented title": lambda one, _: write_vancouver(one, title=INVENTED[int(one.pmid) % 4]),
    "invented authors": lambda one, _: write_vancouver(one, authors="Nobodyson Q, Vapourware ZX"),
    "another's title": lambda one, other: write_vancouver(one, title=other.title),
    "one author more": lambda one, _: write_vancouver(one).replace(".", ", Nobodyson Q.", 1),
    "one author less": lambda one, _: write_vancouver(
        one, authors=f"{one.authors[0].last_name} {one.authors[0].initials}"
    ),
    "another year": lambda one, _: write_vancouver(one, year="1971"),
    "another volume": lambda one, _: write_vancouver(one, volume="987"),
    "other pages": lambda one, _: write_vancouver(one, pages="98765-98799"),
    "another journal": lambda one, _: write_vancouver(one, journal="Proc Inst Nowhere"),
    "numbers alone": lambda one, _: f"Nobodyson Q. {INVENTED[0]}. J Nowhere. 2021;2022:1-{int(one.pmid) % 100}.",
}


@pytest.mark.long
@pytest.mark.parametrize("made", STRUCTURED)
def test_a_reference_with_title_or_authors_of_another_work_is_another_work_and_not_changed(
    kit: EntrezKit, made: str
) -> None:
    references = [STRUCTURED[made](one, other) for one, other in PAIRS]

    result = CHECK.run(kit.services, {"references": references, "corrects": True})
    checked = result.references

    # Without identifiers, a preprint with neither volume nor pages cannot be found by its place.
    lost = [made.endswith("place") and not one.volume and not one.pages for one in references]
    assert [one.status for one in checked] == ["not_found" if is_lost else "another_work" for is_lost in lost]
    assert all(f"PMID {one.pmid}" in (one.citation or "") for one in checked if one.status == "another_work")
    assert result.corrections == {}


@pytest.mark.long
@pytest.mark.parametrize("made", WRITTEN)
def test_a_pasted_reference_that_differs_from_its_record_is_not_verified(kit: EntrezKit, made: str) -> None:
    text = "\n".join(f"{number}. {WRITTEN[made](*pair)}" for number, pair in enumerate(PAIRS, start=1))

    checked = CHECK.run(kit.services, {"references": split_references(text)}).references

    assert len(checked) == len(PAIRS)
    assert not [one for one in checked if one.status == "verified"]
    if made in ("an invented title", "invented authors", "another's title"):
        assert {one.status for one in checked} == {"another_work"}
    if made == "numbers alone":
        assert {(one.status, one.pmid) for one in checked} == {("not_found", None)}


SECOND_IDS: dict[str, Callable[[Article], str]] = {
    "pmid": lambda other: f"PMID: {other.pmid}",
    "address of the pmid": lambda other: f"https://pubmed.ncbi.nlm.nih.gov/{other.pmid}/",
    "doi": lambda other: f"doi:{other.doi}",
    "address of the doi": lambda other: f"https://doi.org/{other.doi}",
}


@pytest.mark.parametrize("kind", SECOND_IDS)
def test_a_true_reference_with_a_second_identifier_of_another_article_is_never_verified(
    kit: EntrezKit, kind: str
) -> None:
    pasted = "\n".join(
        f"{number}. {write_vancouver(one)} doi:{one.doi} {SECOND_IDS[kind](other)}"
        for number, (one, other) in enumerate(PAIRS, start=1)
    )
    second = {"pmid": "note", "doi": "note", "address of the pmid": "url", "address of the doi": "url"}[kind]
    entries = "\n".join(
        f"@article{{k{one.pmid}, title={{{one.title}}}, pmid={{{one.pmid}}}, doi={{{one.doi}}},"
        f" {second}={{{SECOND_IDS[kind](other)}}}}}"
        for one, other in PAIRS
    )

    for references in (split_references(pasted), read_bibtex(entries, "refs.bib").references):
        found = CHECK.run(kit.services, {"references": references, "corrects": True})
        field = kind.split()[-1]
        for (one, other), row in zip(PAIRS, found.references, strict=True):
            finding = next(finding for finding in row.findings if finding.code == "mismatch")
            assert (row.pmid, finding.field, finding.pmid) == (one.pmid, field, other.pmid)
        assert not [change for change in found.changes if change.field == field], "only its author can correct a note"


@pytest.mark.parametrize("name", ["eprinttype", "archiveprefix"])
@pytest.mark.parametrize("value", ["pubmed", "PubMed", "pmid"])
def test_a_pmid_in_the_field_eprint_is_compared(kit: EntrezKit, name: str, value: str) -> None:
    one, other = PAIRS[0]
    authors = " and ".join(f"{who.last_name}, {who.initials}" for who in one.authors)
    entry = "@article{k, title={%s}, author={%s}, eprint={%s}, %s={%s}}"
    own, wrong = (entry % (one.title, authors, pmid, name, value) for pmid in (one.pmid, other.pmid))

    for text, pmids in ((own, []), (wrong, [other.pmid])):
        (row,) = CHECK.run(kit.services, {"references": read_bibtex(text, "refs.bib").references}).references
        assert row.pmid == one.pmid
        assert [finding.pmid for finding in row.findings if finding.code == "mismatch"] == pmids


def test_an_identifier_that_is_written_twice_or_in_two_forms_is_no_difference(kit: EntrezKit) -> None:
    pasted = "\n".join(
        f"{number}. {write_vancouver(one)} [doi:{one.doi}] (https://doi.org/{(one.doi or '').upper()})"
        f" [https://doi.org/{one.doi}](https://doi.org/{one.doi}) https://www.example.org/doi/{one.doi}/full"
        for number, one in enumerate(ARTICLES, start=1)
    )

    found = CHECK.run(kit.services, {"references": split_references(pasted)}).references

    assert [[finding.code for finding in row.findings if finding.code != "superseded"] for row in found] == [[]] * len(
        ARTICLES
    )


def test_a_published_article_with_the_doi_of_its_preprint_is_compared_with_the_article(kit: EntrezKit) -> None:
    articles = {one.pmid: one for one in read_demo_articles()}
    article, preprint = articles["99000010"], articles["99000009"]
    doi = preprint.doi or ""
    pasted = split_references(f"{write_vancouver(article, pmid='')} doi:{doi}")

    for reference in (make_true_reference(article, pmid=None, doi=doi), *pasted):
        (row,) = CHECK.run(kit.services, {"references": [reference]}).references
        assert row.pmid == article.pmid
        assert [(one.code, one.field, one.pmid) for one in row.findings] == [("mismatch", "doi", preprint.pmid)]


WITHOUT_DOI = [one for one in read_demo_articles() if one.record_type == "article" and not one.doi and one.authors]


@pytest.mark.parametrize("sources", [None, ["pubmed"]])
def test_an_unknown_doi_is_not_verified_if_the_record_has_no_doi(kit: EntrezKit, sources: list[str] | None) -> None:
    assert WITHOUT_DOI
    references = [Reference(key="k", title=one.title, pmid=one.pmid, doi="10.5555/no.such.work") for one in WITHOUT_DOI]

    found = CHECK.run(kit.services, {"references": references, **({"sources": sources} if sources else {})}).references

    code = "unchecked" if sources else "mismatch"
    assert [[(one.code, one.given) for one in row.findings if one.field == "doi"] for row in found] == [
        [(code, "10.5555/no.such.work")]
    ] * len(found)


@pytest.mark.parametrize(("doi", "agency"), [("10.5281/zenodo.1", "DataCite"), ("10.11501/2", "JaLC")])
def test_a_doi_of_another_agency_is_not_called_a_mismatch(kit: EntrezKit, doi: str, agency: str) -> None:
    references = [
        Reference(key="k", title=one.title, doi=doi, pmid=pmid)
        for one in WITHOUT_DOI
        for pmid in (one.pmid, *([None] if len(one.title.split()) > 5 else []))
    ]

    found = CHECK.run(kit.services, {"references": references}).references

    for row in found:
        assert row.pmid
        (finding,) = (one for one in row.findings if one.given == doi)
        assert (finding.code, finding.field) == ("unchecked", "doi")
        assert f"{agency} registers {doi}" in finding.message


def test_a_reference_with_a_doi_of_another_agency_is_not_called_made_up(kit: EntrezKit) -> None:
    place = "J. Invented, A. Nobody, J. Invent. Results (Demo) 350, 101 (2019)"
    texts = [
        f"[{n}] {place}, https://doi.org/{doi}" for n, doi in enumerate(("10.11501/2", "10.5555/made.up"), start=1)
    ]

    other, unknown = CHECK.run(kit.services, {"text": "\n".join(texts)}).references

    assert (other.status, unknown.status) == ("not_found", "not_found")
    assert "JaLC registers it" in other.findings[0].message
    assert "made up" not in other.findings[0].message
    assert "possibly made up" in unknown.findings[0].message


@pytest.mark.parametrize("reply", [answer_text("no", 503), answer_json({})])
def test_a_doi_is_unchecked_if_its_agency_cannot_be_looked_up(
    sandbox: Sandbox, kit_for: KitFor, reply: LocalReply
) -> None:
    def answer(request: LocalRequest, state: LocalState) -> LocalReply:
        return reply if request.rest.endswith("/agency") else answer_crossref(request, state)

    sandbox.route("/crossref", "crossref", answer)
    kit = kit_for(sandbox, no_cache=True, ncbi_max_retries=0)
    article = WITHOUT_DOI[0]
    reference = Reference(key="k", title=article.title, pmid=article.pmid, doi="10.5555/no.such.work")

    (row,) = CHECK.run(kit.services, {"references": [reference]}).references

    assert [(one.code, one.field) for one in row.findings if one.given == reference.doi] == [("unchecked", "doi")]


def test_there_are_more_than_a_hundred_cases() -> None:
    assert len(PAIRS) * (len(STRUCTURED) + len(WRITTEN)) > 100


def test_correct_references_are_verified_as_fields_and_as_text(kit: EntrezKit) -> None:
    pasted = split_references("\n\n".join(write_vancouver(article) for article in ARTICLES))

    for references in (list(map(make_true_reference, ARTICLES)), pasted):
        found = CHECK.run(kit.services, {"references": references}).references
        assert [one.pmid for one in found] == [article.pmid for article in ARTICLES]
        assert [one.differences for one in found] == [[]] * len(ARTICLES)
        assert {one.status for one in found} <= {"verified", "superseded"}, found


@pytest.mark.process
def test_citations_in_the_styles_of_journals_agree_with_their_records() -> None:
    for style in ("vancouver", "apa", "ama", "nature"):
        for article, texts in zip(ARTICLES, format_articles(ARTICLES, [style]), strict=True):
            (reference,) = split_references(f"{texts[style]} PMID: {article.pmid}")
            agreement = compare_text(reference, article)
            assert (agreement.same, agreement.differences, agreement.left) == (True, [], []), texts[style]


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("1. A b\n2. C d\n", [1, 2]),
        ("[1] A b\n c d\n[2] E\n", [1, 3]),
        ("A b c\n  d e\nF g\n", [1, 3]),
        ("A b\nc d\n\nE f\n", [1, 4]),
        ("- A b\n- C d\n", [1, 2]),
        ("2021\nA b\n", [1, 2]),
    ],
)
def test_a_pasted_list_is_split_into_its_references(text: str, starts: list[int]) -> None:
    assert [reference.line for reference in split_references(text)] == starts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A. PMID: 12345. PMCID: PMC77", ("12345", "PMC77", None)),
        ("A 2021 (2022) [2023] 12345 :2024 =5 Med:7", (None, None, None)),
        ("A (doi: 10.5555/a(1)b).", (None, None, "10.5555/a(1)b")),
        ("A https://doi.org/10.5555/x, B", (None, None, "10.5555/x")),
        ("A pubmed.ncbi.nlm.nih.gov/5 B", (None, None, None)),
        ("A https://pubmed.ncbi.nlm.nih.gov/5/ B", ("5", None, None)),
    ],
)
def test_only_explicit_identifiers_are_read_from_text(text: str, found: tuple[str | None, ...]) -> None:
    (reference,) = split_references(text)

    assert (reference.pmid, reference.pmcid, reference.doi) == found
