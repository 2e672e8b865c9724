"""The standing of a work (retracted, corrected and so on) in every operation that returns works."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fixture_types import KitFor
from pubmed_files import write_correction, write_record

from entrez_kit import EntrezKit
from entrez_kit.corpus.documents import Doc
from entrez_kit.corpus.store import store_of
from entrez_kit.pubmed.xml.records import iter_records
from entrez_kit.references.check.check_references import CHECK
from entrez_kit.references.files.references import Reference
from entrez_kit.sandbox.server import Sandbox

PARTLY, WITHDRAWN, NOTICE, OLD, PLAIN, PREPRINT = (f"990009{number:02}" for number in range(1, 7))
STANDING = {
    PARTLY: "partially_retracted",
    WITHDRAWN: "withdrawn",
    NOTICE: "concern_notice",
    OLD: "superseded",
    PLAIN: None,
    PREPRINT: "preprint_published",
}
COARSE = {PARTLY: "retracted", WITHDRAWN: "retracted", NOTICE: "concern_notice"}


def write_work(pmid: str, title: str, *, types: tuple[str, ...] = (), related: str = "", page: int = 1) -> str:
    return write_record(
        pmid,
        title,
        revised="2024-01-01",
        journal="<JournalIssue><Volume>3</Volume><Issue>1</Issue><PubDate><Year>2023</Year><Month>May</Month></PubDate>"
        "</JournalIssue><Title>Journal of moons</Title><ISOAbbreviation>J Moons</ISOAbbreviation>",
        more=f"<Pagination><MedlinePgn>{page}-{page + 3}</MedlinePgn></Pagination>"
        "<Abstract><AbstractText>Moonlight was observed.</AbstractText></Abstract><AuthorList><Author>"
        "<LastName>Luna</LastName><ForeName>Ann</ForeName><Initials>A</Initials></Author></AuthorList>"
        "<Language>eng</Language>",
        types=("Journal Article", *types),
        citation="<MedlineJournalInfo><MedlineTA>J Moons</MedlineTA><NlmUniqueID>9000009</NlmUniqueID>"
        "</MedlineJournalInfo>",
        corrections=related,
        ids={"pubmed": pmid, "doi": f"10.5555/moon.{pmid}"},
    )


def write_related_record(kind: str, pmid: str) -> str:
    return write_correction(kind, pmid, "J Moons. 2024 Feb 3;4(2):77")


RECORDS = [
    write_work(
        PARTLY,
        "Moonlight and tides of one lake.",
        related=write_related_record("PartialRetractionIn", "99000951"),
        page=11,
    ),
    write_work(WITHDRAWN, "WITHDRAWN: Moonlight and sleep of owls.", types=("Preprint",), page=21),
    write_work(
        NOTICE,
        "Expression of concern about moonlight and tides.",
        types=("Expression of Concern",),
        related=write_related_record("ExpressionOfConcernFor", PARTLY),
        page=31,
    ),
    write_work(
        OLD, "Moonlight for insomnia: guideline.", related=write_related_record("UpdateIn", "99000952"), page=41
    ),
    write_work(
        PLAIN, "Moonlight and the growth of reeds.", related=write_related_record("CommentIn", "99000953"), page=51
    ),
    write_work(
        PREPRINT,
        "Moonlight and moths.",
        types=("Preprint",),
        related=write_related_record("UpdateIn", "99000954"),
        page=61,
    ),
]


@pytest.fixture
def sandbox_with_retractions(tmp_path: Path) -> Iterator[Sandbox]:
    path = tmp_path / "moons.xml"
    path.write_text(f"<PubmedArticleSet>{''.join(RECORDS)}</PubmedArticleSet>", encoding="utf-8")
    with Sandbox(corpus=[path], enforce_limits=False) as running:
        yield running


@pytest.fixture
def kit(sandbox_with_retractions: Sandbox, kit_for: KitFor) -> EntrezKit:
    return kit_for(sandbox_with_retractions)


def get_status(shown: Any) -> str | None:
    return shown.standing.status if shown.standing else None


def test_search_and_fetch_return_the_standing_of_works(kit: EntrezKit) -> None:
    found = kit.search_articles(query_term="moonlight", fetch_brief_summaries=10)
    fetched = kit.fetch_contents(pmids=list(STANDING))
    short = kit.fetch_contents(pmids=list(STANDING), detail_level="citation_data")

    assert {summary.pmid: get_status(summary) for summary in found.brief_summaries} == STANDING
    for records in (fetched.articles, short.articles):
        assert {record.pmid: get_status(record) for record in records or ()} == STANDING
    for one in [*found.brief_summaries, *(fetched.articles or ())]:
        assert one.retraction_status == COARSE.get(one.pmid, "none")
    plain = next(article for article in fetched.articles or () if article.pmid == PLAIN)
    assert "standing" not in plain.model_dump()


@pytest.mark.process
def test_citations_return_the_standing_of_works(kit: EntrezKit) -> None:
    cited = kit.format_citations(pmids=list(STANDING), citation_styles=["vancouver", "ris", "bibtex"]).citations

    assert {one.pmid: get_status(one) for one in cited} == STANDING
    for one in cited:
        for text in one.citations.values():
            assert (one.standing.note in text) if one.standing else "[" not in text


def test_a_check_never_verifies_a_partially_retracted_or_withdrawn_work(kit: EntrezKit) -> None:
    references = [Reference(key=pmid, pmid=pmid) for pmid in STANDING]
    checked = CHECK.run(kit.services, {"references": references}).references

    assert {one.key: get_status(one) for one in checked} == STANDING
    assert {one.key: one.status for one in checked} == {
        PARTLY: "retracted",
        WITHDRAWN: "retracted",
        NOTICE: "verified",
        OLD: "superseded",
        PLAIN: "verified",
        PREPRINT: "superseded",
    }
    assert checked[0].notice == "[Partially retracted: J Moons. 2024 Feb 3;4(2):77]"


def test_match_returns_the_standing_of_the_work_found(kit: EntrezKit) -> None:
    places = [
        {"journal": "J Moons", "year": "2023", "volume": "3", "first_page": page, "author_name": "Luna A", "key": pmid}
        for pmid, page in ((PARTLY, "11"), (PLAIN, "51"))
    ]

    found = kit.lookup_citation(citations=places).results

    assert {one.pmid: get_status(one) for one in found} == {PARTLY: "partially_retracted", PLAIN: None}


def test_convert_returns_the_standing_of_works(kit: EntrezKit) -> None:
    found = kit.convert_ids(ids=[f"10.5555/moon.{PARTLY}", PLAIN, WITHDRAWN])

    assert [get_status(record) for record in found.records] == ["partially_retracted", None, "withdrawn"]
    assert found.warnings == []


@pytest.fixture
def corpus(kit: EntrezKit) -> EntrezKit:
    kit.sync_delta(query_key="moon", term="moonlight")
    return kit


def test_a_first_sync_warns_about_new_records_with_a_retraction_or_concern(kit: EntrezKit) -> None:
    synced = kit.sync_delta(query_key="moon", term="moonlight")

    assert synced.inserted == len(STANDING)
    assert sorted(synced.warnings) == [
        f"New and retracted in part: PMID {PARTLY}.",
        f"New and withdrawn: PMID {WITHDRAWN}.",
    ]


def test_corpus_documents_have_the_standing_only_with_details(corpus: EntrezKit) -> None:
    plain = corpus.rag_search(query="moonlight tides lake")
    detailed = corpus.rag_search(query="moonlight tides lake", details=True)

    assert all("standing" not in hit for hit in plain.model_dump()["results"])
    assert {hit.doc_id.removeprefix("pmid:"): get_status(hit) for hit in detailed.results} == {
        hit.doc_id.removeprefix("pmid:"): STANDING[hit.doc_id.removeprefix("pmid:")] for hit in plain.results
    }
    assert f"pmid:{PARTLY} [Partially retracted: J Moons. 2024 Feb 3;4(2):77]" in plain.list_notes()
    assert plain.list_notes() == detailed.list_notes()
    document = corpus.rag_get(doc_id=f"pmid:{PARTLY}")
    assert "standing" not in document.model_dump()
    assert document.list_notes() == [f"pmid:{PARTLY} [Partially retracted: J Moons. 2024 Feb 3;4(2):77]"]
    assert document.quality.total == 0
    assert get_status(corpus.rag_get(doc_id=f"pmid:{PARTLY}", details=True)) == "partially_retracted"
    assert corpus.rag_get(doc_id=f"pmid:{PLAIN}").list_notes() == []


def test_a_record_stored_by_an_older_version_gets_its_standing(corpus: EntrezKit) -> None:
    store = store_of(corpus.services)
    [stored] = [article for article in store.read_articles() if article.pmid == PARTLY]
    older = stored.model_copy(update={"standing": None, "retraction_status": "none"})

    doc = Doc.of(older)

    assert doc.retraction_status == "retracted"
    assert doc.standing
    assert doc.standing.status == "partially_retracted"
    assert [get_status(article) for article in store.read_articles() if article.pmid == PARTLY] == [
        "partially_retracted"
    ]


def test_a_sync_warns_about_new_retractions_of_known_records(
    corpus: EntrezKit, tmp_path: Path, kit_for: Any, sandbox_with_retractions: Sandbox
) -> None:
    changed = [
        write_work(
            PLAIN,
            "Moonlight and the growth of reeds.",
            related=write_related_record("ExpressionOfConcernIn", NOTICE),
            page=51,
        ),
        write_work(PREPRINT, "WITHDRAWN: Moonlight and moths.", types=("Preprint",), page=61),
    ]
    revised = "".join([*RECORDS[:4], *changed]).replace("<Year>2024</Year><Month>01", "<Year>2024</Year><Month>06")
    path = tmp_path / "later.xml"
    path.write_text(f"<PubmedArticleSet>{revised}</PubmedArticleSet>", encoding="utf-8")
    docs = [found.article() for found in iter_records(path.read_bytes())]

    done = store_of(corpus.services).upsert_pubmed_docs(docs, "moon")

    assert done.standings == {
        "Newly under an expression of concern": [int(PLAIN)],
        "Newly withdrawn": [int(PREPRINT)],
    }
    assert done.retracted == [int(PREPRINT)]
