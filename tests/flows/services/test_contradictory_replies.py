"""Replies that contradict themselves or the request: requested again, refused in the end, and never cached."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from canned_services import write_esearch_xml
from loopback_server import Answer
from loopback_transport import TransportBench, open_workbench

from entrez_kit import EntrezKit
from entrez_kit.base.errors import UpstreamError
from entrez_kit.databases.gene.get_genes import parse_links
from entrez_kit.pubmed.europepmc.europepmc_pages import parse_page
from entrez_kit.pubmed.record_batches import RecordBatches
from entrez_kit.pubmed.resolution import ask_converter
from entrez_kit.services import Services
from entrez_kit.services.europe_pmc import has_id
from entrez_kit.services.eutils import EUtils
from entrez_kit.services.fetched_records import check_records
from entrez_kit.services.transport import Reply

Ask = Callable[[Services], Any]


def write_summaries(*uids: str, form: str = '<DocumentSummary uid="{}"><Title>T</Title></DocumentSummary>') -> bytes:
    listed = "".join(form.format(uid) for uid in uids)
    return f"<eSummaryResult><DocumentSummarySet>{listed}</DocumentSummarySet></eSummaryResult>".encode()


def write_summaries_json(**documents: dict[str, Any]) -> bytes:
    named = {name.removeprefix("_"): document for name, document in documents.items()}
    return json.dumps({"result": {"uids": list(named), **named}}).encode()


def write_records(*pmids: int, article: str = "<Article><ArticleTitle>T</ArticleTitle></Article>") -> bytes:
    listed = "".join(
        f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID>{article}</MedlineCitation></PubmedArticle>"
        for pmid in pmids
    )
    return f"<PubmedArticleSet>{listed}</PubmedArticleSet>".encode()


def write_medline(*endings: str) -> bytes:
    return "".join(f"PMID- {number}\nTI  - T\n{ending}\n" for number, ending in enumerate(endings, 1)).encode()


def write_set(form: str, *ids: int) -> bytes:
    return f"<IdList>{''.join(map(form.format, ids))}</IdList>".encode()


def write_links(*ids: str, source: str = "7") -> bytes:
    listed = "".join(f"<Link><Id>{uid}</Id></Link>" for uid in ids)
    return (
        f"<eLinkResult><LinkSet><DbFrom>gene</DbFrom><IdList><Id>{source}</Id></IdList><LinkSetDb><DbTo>pubmed</DbTo>"
        f"<LinkName>gene_pubmed</LinkName>{listed}</LinkSetDb></LinkSet></eLinkResult>"
    ).encode()


def write_converted(*rows: tuple[str, int, str]) -> bytes:
    listed = [{"requested-id": requested, "pmid": pmid, "pmcid": pmcid} for requested, pmid, pmcid in rows]
    return json.dumps({"status": "ok", "records": listed}).encode()


def write_page(*listed: dict[str, str], count: int | None = None) -> bytes:
    document = {"hitCount": len(listed) if count is None else count, "resultList": {"result": list(listed)}}
    return json.dumps(document).encode()


def make_europepmc_hit(pmid: str) -> dict[str, str]:
    return {"id": pmid, "source": "MED", "pmid": pmid, "title": "T"}


def request_ids(services: Services) -> list[str]:
    return services.eutils.esearch(db="gene", term="x", retmax=2).value.ids


def request_ids_as_json(services: Services) -> list[str]:
    return services.eutils.esearch(db="pubmed", term="x", retmax=2, retmode="json").value.ids


def request_summaries(services: Services) -> Any:
    return services.eutils.esummary(db="pubmed", ids=["1", "2"]).content


def request_json(services: Services) -> Any:
    return services.eutils.esummary(db="gene", ids=["1", "2"], retmode="json").content


def request_records(services: Services, *, medline: bool = False) -> list[str]:
    # The public methods repeat the request for single records.
    return list(RecordBatches(services, medline=medline).request_records(["1", "2"]))


def request_any_records(services: Services, *, db: str, rettype: str | None, retmode: str) -> bytes:
    documents = {uid: {"uid": uid} for uid in "12"}
    read = partial(check_records, ["1", "2"], documents, db=db, rettype=rettype, retmode=retmode, cut=set())
    return services.eutils.efetch(db=db, ids=["1", "2"], rettype=rettype, retmode=retmode, read=read).content


def request_links(services: Services) -> list[str]:
    read = partial(parse_links, number="7")
    return services.eutils.elink(dbfrom="gene", db="pubmed", ids=["7"], linkname="gene_pubmed", read=read).value


def request_conversion(services: Services) -> list[str]:
    known, failed, _ = ask_converter(services, ["1", "2"], "pmid")
    if failed:
        raise next(iter(failed.values()))
    return list(known)


def request_lookup(services: Services) -> Any:
    lookups = [partial(has_id, kind="pmid", value=pmid) for pmid in "12"]
    reply = services.europepmc.search(query="EXT_ID:1 OR EXT_ID:2", result_type="lite", page_size=2, lookups=lookups)
    return [record["id"] for record in parse_page(reply.value, "*").listed]


SEARCH = (request_ids, write_esearch_xml(2, [5, 6]))
SEARCH_JSON = (request_ids_as_json, b'{"esearchresult": {"count": "2", "idlist": ["5", "6"]}}')
SUMMARIES, SUMMARIES_JSON = (
    (request_summaries, write_summaries("1", "2")),
    (request_json, write_summaries_json(_1={"uid": "1", "name": "A"}, _2={"uid": "2", "name": "B"})),
)
FETCH, MEDLINE = (
    (request_records, write_records(1, 2)),
    (partial(request_records, medline=True), write_medline("SO  - J. 2019.", "SO  - J. 2020.")),
)
ARTICLE = "<article><front><article-meta><article-id>{}</article-id></article-meta></front></article>"
PMC = partial(request_any_records, db="pmc", rettype=None, retmode="xml")
ID_LIST = partial(request_any_records, db="pubmed", rettype="uilist", retmode="xml")
MEDLINE_TEXT = partial(request_any_records, db="pubmed", rettype="medline", retmode="text")
ABSTRACTS = partial(request_any_records, db="pubmed", rettype="abstract", retmode="text")
GENES = partial(request_any_records, db="gene", rettype=None, retmode="text")
RUNS = partial(request_any_records, db="sra", rettype="runinfo", retmode="text")
TABLE = b'Run,Title,Bases\nSRR1,"A, B",5\nSRR2,C,61\n\n'
ASN1 = partial(request_any_records, db="nuccore", rettype="native", retmode="text")
LINKS = (request_links, write_links("5", "6"))
CONVERT = (request_conversion, write_converted(("1", 1, "PMC1"), ("2", 2, "PMC2")))
LOOK_UP = (request_lookup, write_page(make_europepmc_hit("1"), make_europepmc_hit("2")))


@pytest.mark.parametrize(
    ("ask", "good", "bad"),
    [
        pytest.param(*SEARCH, write_esearch_xml(1, [5, 6]), id="esearch: count below the ids"),
        pytest.param(*SEARCH, write_esearch_xml(3, [5, 6, 7]), id="esearch: more ids than requested"),
        pytest.param(*SEARCH, write_esearch_xml(2, [5, 5]), id="esearch: an id twice"),
        pytest.param(*SEARCH, write_esearch_xml(2, [5, "n/a"]), id="esearch: not a number"),
        pytest.param(*SEARCH, write_esearch_xml(2, [5, ""]), id="esearch: an empty id"),
        pytest.param(*SEARCH_JSON, b'{"esearchresult": {"count": "2", "idlist": ["5", ""]}}', id="json: an empty id"),
        pytest.param(*SEARCH_JSON, b'{"esearchresult": {"count": "1", "idlist": ["5", "6"]}}', id="json: count"),
        pytest.param(*SUMMARIES, write_summaries("1", "1"), id="esummary: a record twice"),
        pytest.param(*SUMMARIES, write_summaries("1", "3"), id="esummary: another record"),
        pytest.param(*SUMMARIES, write_summaries("1", "2", form='<DocumentSummary uid="{}"/>'), id="esummary: hollow"),
        pytest.param(
            *SUMMARIES_JSON, write_summaries_json(_1={"uid": "1", "name": "A"}, _2={"uid": "2"}), id="json: hollow"
        ),
        pytest.param(
            *SUMMARIES_JSON,
            write_summaries_json(_1={"uid": "1", "a": 1}, _2={"uid": "1", "a": 1}),
            id="json: another uid",
        ),
        pytest.param(*FETCH, write_records(1, 1), id="efetch: a record twice"),
        pytest.param(*FETCH, write_records(1, 3), id="efetch: another record"),
        pytest.param(*FETCH, write_records(1, 2, article=""), id="efetch: hollow"),
        pytest.param(*MEDLINE, write_medline("SO  - J. 2019.", "SO  - J. 2020 Jan;"), id="medline: last field cut"),
        pytest.param(PMC, write_set(ARTICLE, 1, 2), write_set(ARTICLE, 1), id="pmc: an article missing"),
        pytest.param(PMC, write_set(ARTICLE, 1, 2), write_set(ARTICLE, 1, 1), id="pmc: an article twice"),
        pytest.param(ID_LIST, write_set("<Id>{}</Id>", 1, 2), write_set("<Id>{}</Id>", 1), id="uilist: an id missing"),
        pytest.param(MEDLINE_TEXT, MEDLINE[1], write_medline("SO  - J. 2019."), id="medline text: a record missing"),
        pytest.param(MEDLINE_TEXT, MEDLINE[1], MEDLINE[1][:-15], id="medline text: cut in a record"),
        pytest.param(MEDLINE_TEXT, MEDLINE[1], MEDLINE[1].replace(b"- 2", b"- 3"), id="medline text: another record"),
        pytest.param(ABSTRACTS, b"1. J.\n\nPMID: 1\n\n2. J.\n\nPMID: 2\n", b"1. J.\n\nPMID: 1\n", id="abstracts"),
        pytest.param(
            ABSTRACTS, b"1. J.\n\nPMID: 1\n\n2. J.\n\nPMID: 2\n", b"1. J.\n\nPMID: 1\n\n2. J.\n", id="abstracts: cut"
        ),
        pytest.param(GENES, b"\n1. A\nOfficial\n\n2. B\nOfficial\n", b"\n1. A\nOfficial\n", id="numbered text"),
        pytest.param(RUNS, TABLE, TABLE[:-3], id="table: cut in the last cell"),
        pytest.param(RUNS, TABLE, TABLE[:-5] + b"\n", id="table: cut in the last row"),
        pytest.param(ASN1, b"Seq ::= {\n}\nSeq ::= {\n a 1\n}\n", b"Seq ::= {\n}\n", id="asn.1: a record missing"),
        pytest.param(ASN1, b"Seq ::= {\n}\nSeq ::= {\n a 1\n}\n", b"Seq ::= {\n}\nSeq ::= {\n a 1\n", id="asn.1: cut"),
        pytest.param(*LINKS, write_links("5", "n/a"), id="elink: not a number"),
        pytest.param(*LINKS, write_links("5", "5"), id="elink: a link twice"),
        pytest.param(*LINKS, write_links("5", "6", source="8"), id="elink: another source"),
        pytest.param(*CONVERT, write_converted(("1", 2, "PMC2"), ("2", 1, "PMC1")), id="idconv: rows shifted"),
        pytest.param(*CONVERT, write_converted(("1", 1, "PMC1")), id="idconv: a row missing"),
        pytest.param(
            *LOOK_UP, write_page(make_europepmc_hit("1"), make_europepmc_hit("1")), id="europepmc: a record twice"
        ),
        pytest.param(
            *LOOK_UP, write_page(make_europepmc_hit("1"), make_europepmc_hit("3")), id="europepmc: another id"
        ),
        pytest.param(
            *LOOK_UP, write_page(make_europepmc_hit("1"), {"id": "2", "source": "MED"}), id="europepmc: hollow"
        ),
        pytest.param(
            *LOOK_UP,
            write_page(make_europepmc_hit("1"), make_europepmc_hit("2"), count=1),
            id="europepmc: more than it counts",
        ),
        pytest.param(
            *LOOK_UP,
            write_page({**make_europepmc_hit("1"), "pmid": "2"}, make_europepmc_hit("2")),
            id="europepmc: another PMID",
        ),
    ],
)
def test_a_contradictory_reply_is_requested_again_refused_and_never_cached(
    ask: Ask, good: bytes, bad: bytes, tmp_path: Path
) -> None:
    with open_workbench(tmp_path, always=Answer(body=bad), ncbi_max_retries=2, europepmc_max_retries=2) as bench:
        services = make_services(bench)
        with pytest.raises(UpstreamError) as caught:
            ask(services)
        attempts = len(bench.server.seen)
        bench.server.always = Answer(body=good)
        whole = ask(services)
        requested = len(bench.server.seen)
        again = ask(services)

    assert caught.value.reason in ("invalid_response", "incomplete")
    assert attempts >= 3
    assert requested == attempts + 1, "the second call sent no request"
    assert (again, len(bench.server.seen)) == (whole, requested), "a valid reply was not cached"


@pytest.mark.parametrize("is_cut", [True, False])
def test_text_that_ends_inside_a_line_is_accepted_only_if_it_is_sent_again(tmp_path: Path, is_cut: bool) -> None:
    whole = b"\n1. A\nOfficial\n\n2. B\nOfficial"
    with open_workbench(tmp_path, always=Answer(body=whole)) as bench:
        bench.server.then(Answer(body=whole[:-3] if is_cut else whole))
        text = GENES(make_services(bench))
        requested = len(bench.server.seen)

    assert (text, requested) == (whole, 3 if is_cut else 2)


def make_services(bench: TransportBench) -> Services:
    return Services(bench.settings, transport=bench.transport)


ERROR = '<DocumentSummary uid="{}"><error>cannot get document summary</error></DocumentSummary>'


def test_an_error_about_one_uid_is_verified_by_a_separate_request(tmp_path: Path) -> None:
    spoilt = write_summaries("1").replace(
        b"</DocumentSummarySet>", ERROR.format("2").encode() + b"</DocumentSummarySet>"
    )
    with open_workbench(tmp_path) as bench:
        bench.server.then(Answer(body=spoilt), Answer(body=write_summaries("2")))
        reply = make_services(bench).eutils.esummary(
            db="pubmed",
            ids=["1", "2"],
            read=lambda root: [element.get("uid") for element in root.iter("DocumentSummary")],
        )
        requested = [seen.params.get("id") for seen in bench.server.seen]
        bench.server.always = Answer(body=write_summaries("1", "2"))
        later = make_services(bench).eutils.esummary(db="pubmed", ids=["1", "2"])

    assert (reply.value, requested) == (["1", "2"], ["1,2", "2"])
    assert b"error" not in reply.content
    assert not later.from_cache


def test_a_record_that_was_requested_twice_may_be_summarized_twice(tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=Answer(body=write_summaries("1", "1"))) as bench:
        reply = bench.eutils.esummary(db="pubmed", ids=["1", "1"])

    assert reply.attempts == 1


@pytest.mark.parametrize(
    ("short", "is_complete"),
    [(write_records(1), True), (write_records(1, 1), True), (write_records(), True), (write_records(1), False)],
)
def test_records_without_a_reader_are_requested_again_until_all_ids_are_there_or_ncbi_repeats_the_reply(
    tmp_path: Path, short: bytes, is_complete: bool
) -> None:
    whole = write_records(1, 2)
    with open_workbench(tmp_path) as bench:
        bench.server.then(Answer(body=short), Answer(body=whole if is_complete else short))
        reply = bench.eutils.efetch(db="pubmed", ids=["1", "2"], retmode="xml")
        again = bench.eutils.efetch(db="pubmed", ids=["1", "2"], retmode="xml")
        requested = len(bench.server.seen)

    assert (reply.content, reply.is_complete) == (again.content, again.is_complete)
    assert (reply.content, reply.is_complete, requested) == (whole if is_complete else short, is_complete, 2)


@pytest.mark.parametrize(
    ("ask", "short", "whole"),
    [
        (lambda e: e.elink(dbfrom="gene", ids=["7", "8"]), write_links("5"), write_links("5", source="7</Id><Id>8")),
        (
            lambda e: e.ecitmatch(bdata="j|1|1|1||a|\rj|1|1|2||b|"),
            b"j|1|1|1||a|9\n",
            b"j|1|1|1||a|9\nj|1|1|2||b|NOT_FOUND\n",
        ),
    ],
)
def test_results_without_a_reader_are_requested_again_and_marked_if_ncbi_omits_some(
    tmp_path: Path, ask: Callable[[EUtils], Reply[bytes]], short: bytes, whole: bytes
) -> None:
    with open_workbench(tmp_path, always=Answer(body=short)) as bench:
        omitted = ask(bench.eutils)
        bench.server.then(Answer(body=short), Answer(body=whole))
        reply = ask(bench.eutils)

    assert (omitted.content, omitted.is_complete) == (short, False)
    assert (reply.content, reply.is_complete, reply.attempts) == (whole, True, 2)


@pytest.mark.parametrize(("hits", "is_error"), [((2,), True), ((), False)])
def test_a_repeated_error_about_one_uid_is_accepted_if_a_search_does_not_find_it(
    tmp_path: Path, hits: tuple[int, ...], is_error: bool
) -> None:
    spoilt = write_summaries("1").replace(
        b"</DocumentSummarySet>", ERROR.format("2").encode() + b"</DocumentSummarySet>"
    )
    with open_workbench(tmp_path) as bench:
        bench.server.by_endpoint["esearch"] = Answer(body=write_esearch_xml(len(hits), hits))
        for _ in range(2):
            bench.server.then(Answer(body=spoilt), Answer(body=write_summaries("2", form=ERROR)))
            if is_error:
                with pytest.raises(UpstreamError, match="2"):
                    request_summaries(make_services(bench))
            else:
                assert b"cannot get" in request_summaries(make_services(bench))
        requested = [seen.params["id"] for seen in bench.server.seen if seen.endpoint == "esummary"]

    assert requested == ["1,2", "2"] * 2


@pytest.mark.parametrize(
    "article",
    [
        '<article-id pub-id-type="pmcid">PMC99</article-id>',
        '<article-id pub-id-type="pmid">99</article-id><article-id pub-id-type="doi">10.5555/other</article-id>',
        "<title-group><article-title>Quite another subject altogether</article-title></title-group>",
    ],
    ids=["pmcid", "pmid and doi", "title"],
)
def test_the_full_text_of_another_article_is_never_accepted_or_cached(
    tmp_path: Path, no_waiting: None, article: str
) -> None:
    def write_jats(meta: str) -> bytes:
        title = "" if "article-title" in meta else "<title-group><article-title>T</article-title></title-group>"
        text = "<body><sec><title>Results</title><p>Text.</p></sec></body>"
        return f"<article><front><article-meta>{meta}{title}</article-meta></front>{text}</article>".encode()

    hit = {
        "id": "1",
        "source": "MED",
        "pmid": "1",
        "pmcid": "PMC1",
        "doi": "10.5555/one",
        "title": "Base editing in rice",
    }
    with open_workbench(tmp_path, ncbi_max_retries=0, europepmc_max_retries=1) as bench:
        server = bench.server
        server.by_endpoint["idconv"] = Answer(
            body=b'{"records": [{"requested-id": "1", "status": "error", "errmsg": "Identifier not found in PMC"}]}'
        )
        server.by_endpoint["search"] = Answer(body=write_page(hit))
        server.by_endpoint["fullTextXML"] = Answer(body=write_jats(article))
        kit = EntrezKit(bench.settings)
        other = kit.fetch_fulltext(pmids=["1"])
        server.by_endpoint["fullTextXML"] = Answer(body=write_jats('<article-id pub-id-type="pmcid">PMC1</article-id>'))
        own = kit.fetch_fulltext(pmids=["1"])

    assert [(tried.tier, tried.outcome) for tried in other.unavailable[0].tried_tiers][1] == (
        "europepmc",
        "service-error",
    )
    assert [article.pmcid for article in own.articles] == ["PMC1"]
