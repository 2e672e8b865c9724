"""`entrez_kit.Entrez` against a server on loopback: requests, streams, errors, settings and the parser."""

import io
import os
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPResponse
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import Bio.Entrez
import pytest
import responses
from loopback_server import ESEARCH, HTML, RATE_LIMIT, Answer, Loopback
from loopback_transport import find_free_port

from entrez_kit import Entrez, load_settings
from entrez_kit.base.errors import NotConfigured
from entrez_kit.Entrez._requests import TOOL
from entrez_kit.services.transport.cache import cache_file

KEY = "canary0123456789abcdef0123456789abcd"
EMAIL = "canary.person@example.org"
NCBI = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
TEXT = {"Content-Type": "text/plain; charset=UTF-8"}
FASTA = b">ZZ1.1 invented \xe2\x80\x9csequence\xe2\x80\x9d\nACGT\n\n"
REFUSED = b'<?xml version="1.0"?><eFetchResult><ERROR>Invalid db name specified: nosuch</ERROR></eFetchResult>'
ASSEMBLY = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE eSummaryResult PUBLIC "-//NLM//DTD esummary assembly//EN" '
    b'"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20180216/esummary_assembly.dtd">\n'
    b'<eSummaryResult><DocumentSummarySet status="OK"><DocumentSummary uid="7"><AssemblyName>GRCx</AssemblyName>'
    b"</DocumentSummary></DocumentSummarySet></eSummaryResult>"
)
ASSEMBLY_DTD = (
    b"<!-- of a test --><!ELEMENT eSummaryResult (DocumentSummarySet)><!ELEMENT DocumentSummarySet (DocumentSummary*)>"
    b"<!ATTLIST DocumentSummarySet status CDATA #IMPLIED><!ELEMENT DocumentSummary (AssemblyName)>"
    b"<!ATTLIST DocumentSummary uid CDATA #IMPLIED><!ELEMENT AssemblyName (#PCDATA)>"
)


@pytest.fixture(name="server")
def server_fixture() -> Iterator[Loopback]:
    with Loopback() as server:
        yield server


@pytest.fixture(name="entrez")
def entrez_fixture(server: Loopback, no_waiting: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Point the module at the server, with its own settings and two retries."""
    monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", server.eutils_url)
    monkeypatch.setenv("NCBI_MAX_RETRIES", "2")
    usual = {
        "email": None,
        "api_key": None,
        "tool": TOOL,
        "max_tries": 3,
        "sleep_between_tries": 15,
        "local_cache": None,
    }
    for name, value in usual.items():
        monkeypatch.setattr(Entrez, name, value)
    Entrez._requests.close()  # as at the end of a program
    yield Entrez
    Entrez._requests.close()


# Streams


@pytest.mark.parametrize(
    ("kind", "body", "type_"),
    [
        ("text/xml; charset=UTF-8", ESEARCH, HTTPResponse),
        ("text/plain; charset=UTF-8", FASTA, io.TextIOWrapper),
        ("application/octet-stream", b"\x01\x02", HTTPResponse),
        ("text/html; charset=UTF-8", b"<html><title>A record</title></html>", HTTPResponse),
    ],
)
def test_a_stream_is_text_or_binary_as_in_biopython_also_from_the_cache(
    entrez: Any, server: Loopback, kind: str, body: bytes, type_: Any
) -> None:
    server.always = Answer(body, headers={"Content-Type": kind})
    for _ in range(2):
        with entrez.efetch(db="nuccore", id="1", retmode="native") as stream:
            assert type_ is type(stream)
            assert stream.url == f"{server.eutils_url}/efetch.fcgi?db=nuccore&id=1&retmode=native"
            content = stream.read()
        assert content == (body.decode() if type_ is io.TextIOWrapper else body)
        assert stream.closed
    assert len(server.seen) == 1


def test_a_binary_stream_has_the_status_and_the_headers_of_a_response(entrez: Any) -> None:
    stream = entrez.esearch(db="pubmed", term="asthma")

    assert (stream.status, stream.reason) == (200, "OK")
    assert stream.headers.get_content_type() == stream.info().get_content_type() == "text/xml"
    assert stream.getheader("Content-Length") == str(len(ESEARCH))
    assert stream.read(0) == b""
    assert next(stream).startswith(b"<?xml")
    assert b"".join(stream).endswith(b"</eSearchResult>\n")


def test_keywords_are_sent_unchanged_and_long_requests_use_post(entrez: Any, server: Loopback) -> None:
    entrez.esearch(db="gds", term="x", report="full", anything="else", nothing=None).close()
    many = ",".join(map(str, range(1, 151)))
    server.always = Answer(b"".join(b">ZZ%d.1\nACGT\n\n" % number for number in range(1, 151)), headers=TEXT)
    stream = entrez.efetch(db="nuccore", id=many, rettype="fasta", retmode="text")

    first, second = server.seen
    assert (first.method, second.method) == ("GET", "POST")
    assert {"report": "full", "anything": "else"}.items() <= first.params.items()
    assert "nothing" not in first.params
    assert second.params["id"] == many
    assert stream.url == f"{server.eutils_url}/efetch.fcgi"


def test_requests_that_use_the_history_are_never_cached(entrez: Any, server: Loopback) -> None:
    history = b"<QueryKey>1</QueryKey><WebEnv>MCID_1</WebEnv></eSearchResult>"
    server.always = Answer(ESEARCH.replace(b"</eSearchResult>", history))
    for keywords in ({"usehistory": "y"}, {"webenv": "MCID_1", "query_key": "1"}, {"WebEnv": "MCID_1"}):
        for _ in range(2):
            entrez.esearch(db="pubmed", term="x", **keywords)

    assert len(server.seen) == 6


# Errors


@pytest.mark.parametrize(("status", "body"), [(429, RATE_LIMIT), (500, HTML), (503, b""), (400, b"unexplained")])
def test_an_error_status_is_raised_after_our_retries_only(
    entrez: Any, server: Loopback, status: int, body: bytes
) -> None:
    server.always = Answer(body, status)
    entrez.max_tries = 3  # Biopython's own loop runs three times
    with pytest.raises(HTTPError) as caught:
        entrez.efetch(db="pubmed", id="1", retmode="xml")

    assert caught.value.code == status
    assert caught.value.read() == body
    assert len(server.seen) == 3
    assert "attempts" in caught.value.__notes__[0]


def test_an_invalid_request_is_sent_once(entrez: Any, server: Loopback) -> None:
    server.always = Answer(REFUSED, 400)
    with pytest.raises(HTTPError, match="400: Bad Request") as caught:
        entrez.efetch(db="nosuch", id="1")

    assert len(server.seen) == 1
    assert "nosuch" in caught.value.__notes__[0]


def test_an_error_text_with_status_200_is_returned_to_the_reader(entrez: Any, server: Loopback) -> None:
    server.always = Answer(REFUSED.replace(b"eFetchResult", b"eSearchResult"))
    with pytest.raises(ValueError, match="DTD"):  # it has none, so Biopython cannot read it
        entrez.read(entrez.esearch(db="nosuch", term="x"))


@pytest.mark.parametrize("body", [HTML, ESEARCH[:200], b"", b"<eLinkResult/>"])
def test_an_invalid_reply_is_requested_again_and_then_an_error(entrez: Any, server: Loopback, body: bytes) -> None:
    server.then(Answer(body))
    assert entrez.read(entrez.esearch(db="pubmed", term="once"))["Count"] == "2"
    server.always = Answer(body)
    with pytest.raises(URLError) as caught:
        entrez.esearch(db="pubmed", term="always")

    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value, ValueError)
    assert len(server.seen) == 2 + 3


def test_a_failed_connection_is_a_url_error(entrez: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", f"http://127.0.0.1:{find_free_port()}/entrez/eutils")
    with pytest.raises(URLError) as caught:
        entrez.einfo()

    assert not isinstance(caught.value, HTTPError | RuntimeError)


def test_offline_only_cached_replies_are_returned(
    entrez: Any, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    entrez.esearch(db="pubmed", term="x")
    entrez._requests.close()
    monkeypatch.setenv("ENTREZ_KIT_OFFLINE", "1")

    assert entrez.read(entrez.esearch(db="pubmed", term="x"))["Count"] == "2"
    with pytest.raises(URLError, match="no reply"):
        entrez.esearch(db="pubmed", term="y")
    assert len(server.seen) == 1


def test_an_invalid_setting_is_reported_by_name(entrez: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCBI_MAX_RETRIES", "many")
    with pytest.raises(NotConfigured, match="NCBI_MAX_RETRIES"):
        entrez.einfo()


def test_an_empty_text_is_returned_with_a_warning_if_ncbi_repeats_it(entrez: Any, server: Loopback) -> None:
    server.always = Answer(b"\n", headers=TEXT)
    with pytest.warns(UserWarning, match="was empty"):
        stream = entrez.efetch(db="nuccore", id="1", rettype="fasta_cds_na", retmode="text")

    assert stream.read() == "\n"
    assert len(server.seen) == 3


def test_a_list_shorter_than_its_count_is_returned_with_a_warning(entrez: Any, server: Loopback) -> None:
    server.always = Answer(ESEARCH.replace(b"<Count>2<", b"<Count>3<"))
    with pytest.warns(UserWarning, match="esearch") as caught:
        stream = entrez.esearch(db="pubmed", term="x")

    assert list(entrez.read(stream)["IdList"]) == ["11", "12"]
    assert caught[0].filename == __file__


def repeat_record(form: bytes) -> list[bytes]:
    return [form % ((number,) * form.count(b"%d")) for number in range(1, 5)]


MEDLINE = repeat_record(b"PMID- %d\nTI  - Invented.\nSO  - J. 2020.\n\n")
ARTICLE = b"<article><front><article-meta><article-id>%d</article-id></article-meta></front><body/></article>"
CITATION = b"<PubmedArticle><MedlineCitation><PMID>%d</PMID></MedlineCitation><PubmedData/></PubmedArticle>"
FORMATS = [
    ("pubmed", "medline", "text", "", MEDLINE),
    ("pubmed", "abstract", "text", "", repeat_record(b"%d. J. 2020.\n\nInvented.\n\nPMID: %d\n\n\n")),
    ("pubmed", "uilist", "text", "", repeat_record(b"%d\n")),
    ("nuccore", "fasta", "text", "", repeat_record(b">ZZ%d.1 invented\nACGT\n\n")),
    ("nuccore", "gb", "text", "", repeat_record(b"LOCUS       ZZ%d\nORIGIN\n        1 acgt\n//\n\n")),
    ("nuccore", "ft", "text", "", repeat_record(b">Feature ref|ZZ%d.1|\n1\t2\tgene\n")),
    ("nuccore", "native", "text", "", repeat_record(b'Seq-entry ::= seq {\n  id { local str "ZZ%d" }\n}\n\n')),
    ("gene", "gene_table", "text", "", repeat_record(b"G%d invented\nGene ID: %d, updated on 1-May-2024\n\n")),
    ("gene", "gene_sum", "text", "", repeat_record(b"\n%d. G\nOfficial Symbol: G\n\n")),
    ("mesh", "full", "text", "", repeat_record(b"\n%d: Heading\nScope.\n\n")),
    ("pubmed", "uilist", "xml", "IdList", repeat_record(b"<Id>%d</Id>\n")),
    ("pubmed", "abstract", "xml", "PubmedArticleSet", repeat_record(CITATION)),
    ("pmc", "full", "xml", "pmc-articleset", repeat_record(ARTICLE)),
    ("gene", "full", "xml", "Entrezgene-Set", repeat_record(b"<Entrezgene><id>%d</id><type/></Entrezgene>")),
]
every_format = pytest.mark.parametrize(("db", "rettype", "retmode", "root", "records"), FORMATS)


def join_records(records: list[bytes], root: str) -> Answer:
    content = b"".join(records)
    if not root:
        return Answer(content, headers=TEXT)
    return Answer(b"<?xml version='1.0'?>\n<%b>%b</%b>\n" % (root.encode(), content, root.encode()))


def read_bytes(stream: Any) -> bytes:
    content: str | bytes = stream.read()
    return content.encode() if isinstance(content, str) else content


def make_set(count: int) -> Answer:
    return Answer(
        b"<?xml version='1.0'?>\n<eSearchResult><Count>%d</Count><RetMax>0</RetMax><RetStart>0</RetStart>"
        b"<QueryKey>1</QueryKey><WebEnv>MCID_stored_1</WebEnv><IdList/></eSearchResult>\n" % count
    )


@every_format
@pytest.mark.parametrize("is_known", [True, False], ids=["own set", "set of another program"])
def test_a_result_set_without_some_of_its_records_is_requested_again(
    entrez: Any,
    server: Loopback,
    db: str,
    rettype: str,
    retmode: str,
    root: str,
    records: list[bytes],
    is_known: bool,
) -> None:
    server.by_endpoint["esearch"] = make_set(4)
    server.then(*(join_records(part, root) for part in (records[:2], records)))
    if is_known:
        entrez.esearch(db=db, term="x", usehistory="y", retmax=0)
    stream = entrez.efetch(db=db, webenv="MCID_stored_1", query_key="1", rettype=rettype, retmode=retmode, retmax=10)

    assert read_bytes(stream) == join_records(records, root).body
    assert [request.endpoint for request in server.seen] == ["esearch", "efetch", "efetch"]


@every_format
@pytest.mark.parametrize("received", [(), (0,), (0, 1, 2), (1, 2, 3), (0, 1, 2, 0)], ids=str)
def test_a_reply_without_some_of_the_ids_is_requested_again(
    entrez: Any,
    server: Loopback,
    db: str,
    rettype: str,
    retmode: str,
    root: str,
    records: list[bytes],
    received: tuple[int, ...],
) -> None:
    server.then(*(join_records([records[at] for at in part], root) for part in (received, range(4))))
    with entrez.efetch(db=db, id="1,2,3,4", rettype=rettype, retmode=retmode) as stream:
        assert read_bytes(stream) == join_records(records, root).body
    assert len(server.seen) == 2


@every_format
def test_records_that_ncbi_repeatedly_omits_are_reported_also_from_the_cache(
    entrez: Any, server: Loopback, db: str, rettype: str, retmode: str, root: str, records: list[bytes]
) -> None:
    server.always = join_records(records[:3], root)
    for _ in range(2):
        with pytest.warns(UserWarning, match="efetch reply of NCBI has fewer records") as caught:
            stream = entrez.efetch(db=db, id="1,2,3,9", rettype=rettype, retmode=retmode)
        assert read_bytes(stream) == join_records(records[:3], root).body
        assert caught[0].filename == __file__

    assert len(server.seen) == 2


def test_replies_that_are_cut_at_different_places_are_requested_again(entrez: Any, server: Loopback) -> None:
    records = repeat_record(b"%d00000\n")
    cut = [b"100000\n2", b"100000\n20", b"100000\n200"]
    server.then(*(Answer(content, headers=TEXT) for content in (*cut, b"".join(records))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stream = entrez.efetch(db="gene", id="100000,200000,300000,400000", rettype="uilist", retmode="text")

    assert read_bytes(stream) == b"".join(records)
    assert len(server.seen) == 4


def test_the_longest_of_several_short_replies_is_returned(entrez: Any, server: Loopback) -> None:
    server.then(*(Answer(content, headers=TEXT) for content in (b"1\n", b"1\n2\n", b"1\n3\n", b"4\n")))
    with pytest.warns(UserWarning, match="fewer records"):
        stream = entrez.efetch(db="gene", id="1,2,3,4", rettype="uilist", retmode="text")

    assert read_bytes(stream) == b"1\n2\n"
    assert len(server.seen) == 4


@every_format
def test_a_page_of_the_ids_is_complete_without_a_warning(
    entrez: Any, server: Loopback, db: str, rettype: str, retmode: str, root: str, records: list[bytes]
) -> None:
    server.then(join_records(records[1:3], root))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stream = entrez.efetch(db=db, id="1,2,3,4", rettype=rettype, retmode=retmode, retstart=1, retmax=2)

    assert read_bytes(stream) == join_records(records[1:3], root).body
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("db", "rettype", "cut", "whole"),
    [
        ("nuccore", "fasta", b">ZZ1.1 x\nACGT\n", b">ZZ1.1 x\nACGT\nAC\n\n"),
        ("pubmed", "abstract", b"1. J. 2020.\n\nInvented.\n\n", b"1. J. 2020.\n\nInvented.\n\nPMID: 1\n"),
        ("mesh", "full", b"1: Asthma\nA disease of the br", b"1: Asthma\nA disease of the bronchi.\n"),
        ("nuccore", "native", b"Seq-entry ::= set {\n", b'Seq-entry ::= set {\n  name "a { b"\n}\n'),
    ],
)
def test_a_record_that_is_cut_is_requested_again(
    entrez: Any, server: Loopback, db: str, rettype: str, cut: bytes, whole: bytes
) -> None:
    server.then(Answer(cut, headers=TEXT), Answer(whole, headers=TEXT))
    with entrez.efetch(db=db, id="1", rettype=rettype, retmode="text") as stream:
        assert stream.read() == whole.decode()
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    "document",
    [
        b'{"result": {"uids": ["1", "2"], "1": {"uid": "1", "name": "A"}}}',
        b'{"result": {"uids": ["1", "2"], "1": {"uid": "1", "name": "A"}, "2": {"uid": "2"}}}',
        b'{"result": {"uids": ["1", "1", "2"], "1": {"uid": "1", "name": "A"}, "2": {"uid": "2", "name": "B"}}}',
    ],
    ids=["no summary", "empty summary", "listed twice"],
)
def test_summaries_that_the_document_only_lists_are_requested_again(
    entrez: Any, server: Loopback, document: bytes
) -> None:
    whole = b'{"result": {"uids": ["1", "2"], "1": {"uid": "1", "name": "A"}, "2": {"uid": "2", "name": "B"}}}'
    server.then(Answer(document), Answer(whole))
    stream = entrez.esummary(db="gene", id="1,2", retmode="json")

    assert read_bytes(stream) == whole
    assert len(server.seen) == 2


LINKS = [b"<LinkSet><DbFrom>gene</DbFrom><IdList><Id>%d</Id></IdList></LinkSet>" % uid for uid in (1, 2)]
CHECKS = [
    b"<LinkSet><DbFrom>gene</DbFrom><IdCheckList><Id HasLinkOut='Y'>%d</Id></IdCheckList></LinkSet>" % uid
    for uid in (1, 2)
]
CITATIONS = [{"journal": "j", "year": "2000", "volume": "1", "first_page": page, "key": page} for page in "12"]


@pytest.mark.parametrize(
    ("name", "keywords", "short", "whole"),
    [
        ("elink", {"id": ["1", "2"]}, b"<eLinkResult>%b</eLinkResult>" % LINKS[0], b"".join(LINKS)),
        ("elink", {"id": ["1", "2"], "cmd": "lcheck"}, b"<eLinkResult>%b</eLinkResult>" % CHECKS[1], b"".join(CHECKS)),
        (
            "elink",
            {"id": ["1", "2"], "retmode": "json"},
            b'{"linksets": [{"ids": ["1"], "linksetdbs": [{"links": ["2"]}]}]}',
            b'{"linksets": [{"ids": ["1"]}, {"ids": ["2"]}]}',
        ),
        ("elink", {"id": ["1", "2"], "retmode": "json"}, b'{"linksets": []}', b'{"linksets": [{"ids": ["1", "2"]}]}'),
        ("ecitmatch", {"bdata": CITATIONS}, b"j|2000|1|1||1|11\n", b"j|2000|1|1||1|11\nj|2000|1|2||2|NOT_FOUND\n"),
    ],
)
def test_a_reply_without_some_of_the_inputs_is_requested_again_and_reported_if_ncbi_repeats_it(
    entrez: Any, server: Loopback, name: str, keywords: dict[str, Any], short: bytes, whole: bytes
) -> None:
    if whole.startswith(b"<"):
        whole = b"<eLinkResult>%b</eLinkResult>" % whole
    keywords |= {"db": "pubmed"} | ({"dbfrom": "gene"} if name == "elink" else {})
    server.always = Answer(short)
    with pytest.warns(UserWarning, match=f"{name} reply of NCBI has fewer records"):
        assert read_bytes(getattr(entrez, name)(**keywords)) == short

    server.then(Answer(short), Answer(whole))
    assert read_bytes(getattr(entrez, name)(**keywords)) == whole
    requested = len(server.seen)
    assert read_bytes(getattr(entrez, name)(**keywords)) == whole
    assert len(server.seen) == requested


def test_the_last_pages_of_a_result_set_are_short_without_a_warning(entrez: Any, server: Loopback) -> None:
    server.by_endpoint["esearch"] = make_set(4)
    server.then(Answer(MEDLINE[3], headers=TEXT))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stream = entrez.efetch(
            "pubmed", WebEnv="MCID_stored_1", query_key="1", rettype="medline", retmode="text", retstart=3, retmax=3
        )

    assert stream.read() == MEDLINE[3].decode()
    assert len(server.seen) == 2


def test_an_unknown_result_set_is_reported_by_the_reply_to_the_script(entrez: Any, server: Loopback) -> None:
    refused = b"<eFetchResult><ERROR>Unable to obtain query #1</ERROR></eFetchResult>"
    server.by_endpoint["esearch"] = Answer(ESEARCH.replace(b"<Count>2</Count>", b"<ERROR>no set</ERROR>"))
    server.always = Answer(refused, 400)

    with pytest.raises(HTTPError) as caught:
        entrez.efetch("pubmed", webenv="MCID_none", query_key="1", rettype="medline", retmode="text")
    assert caught.value.code == 400


# Identity of the sender


def test_email_key_and_tool_are_sent_and_appear_nowhere_else(entrez: Any, server: Loopback) -> None:
    entrez.email, entrez.api_key, entrez.tool = EMAIL, KEY, "reader"
    stream = entrez.esearch(db="pubmed", term="x")
    server.always = Answer(b'{"error":"API key invalid","api-key":"' + KEY.encode() + b'"}', 400)
    with pytest.raises(HTTPError) as caught:
        entrez.esearch(db="pubmed", term="y")

    assert {"email": EMAIL, "api_key": KEY, "tool": "reader"}.items() <= server.seen[0].params.items()
    reported = [stream.url, str(caught.value), repr(vars(caught.value)), *caught.value.__notes__, str(caught.value.url)]
    reported.append(caught.value.read().decode())
    folder = cache_file(load_settings()).parent
    files = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    for secret in (EMAIL, KEY):
        assert not [text for text in reported if secret in text]
        assert secret.encode() not in files


def test_arguments_have_precedence_over_attributes_and_attributes_over_settings(
    entrez: Any, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCBI_API_KEY", "of-the-settings")
    monkeypatch.setenv("NCBI_TOOL_IDENTIFIER", "of-the-settings")
    monkeypatch.setenv("ENTREZ_KIT_NO_CACHE", "1")
    entrez.esearch(db="pubmed", term="x")
    entrez.api_key = "of-the-attribute"
    entrez.esearch(db="pubmed", term="x")
    entrez.esearch(db="pubmed", term="x", api_key="of-the-call", tool="mine")

    keys = [(seen.params["api_key"], seen.params["tool"]) for seen in server.seen]
    assert keys == [
        ("of-the-settings", "of-the-settings"),
        ("of-the-attribute", "of-the-settings"),
        ("of-the-call", "mine"),
    ]


def test_the_cache_does_not_depend_on_the_key(entrez: Any, server: Loopback) -> None:
    for entrez.api_key in ("one-key", "another-key", None):
        entrez.esearch(db="pubmed", term="x")

    assert len(server.seen) == 1


def test_email_and_key_are_not_sent_to_a_mirror(entrez: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", "https://mirror.example.org/entrez/eutils")
    entrez.email, entrez.api_key = EMAIL, KEY
    with responses.RequestsMock() as net:
        net.add("GET", "https://mirror.example.org/entrez/eutils/esearch.fcgi", body=ESEARCH, content_type="text/xml")
        entrez.esearch(db="pubmed", term="x")
        assert str(net.calls[0].request.url).endswith("esearch.fcgi?db=pubmed&term=x")


@pytest.mark.parametrize(("setting", "warned"), [(None, 1), (EMAIL, 0)])
def test_a_missing_email_causes_a_warning_if_ncbi_gets_none(
    entrez: Any, monkeypatch: pytest.MonkeyPatch, setting: str | None, warned: int
) -> None:
    monkeypatch.delenv("ENTREZ_KIT_EUTILS_URL")
    if setting:
        monkeypatch.setenv("NCBI_ADMIN_EMAIL", setting)
    with responses.RequestsMock() as net, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        net.add("GET", f"{NCBI}/esearch.fcgi", body=ESEARCH, content_type="text/xml")
        entrez.esearch(db="pubmed", term="x")
        sent = "email=" in str(net.calls[0].request.url)

    assert [str(one.filename) for one in caught] == [__file__] * warned
    assert sent == bool(setting)


def test_the_number_of_attempts_can_be_set(entrez: Any, server: Loopback) -> None:
    server.always = Answer(HTML, 500)
    entrez.max_tries = 1
    with pytest.raises(HTTPError):
        entrez.einfo()
    assert len(server.seen) == 1
    entrez.max_tries = 5
    with pytest.raises(HTTPError):
        entrez.einfo()
    assert len(server.seen) == 6


# Nothing shared with Bio.Entrez


def test_bio_entrez_itself_is_not_changed_and_adds_no_wait(
    entrez: Any, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bio.Entrez, "email", "somebody.else@example.org")
    monkeypatch.setattr(Bio.Entrez, "api_key", "key-of-somebody-else")
    before = {name: value for name, value in vars(Bio.Entrez).items() if not name.startswith("__")}
    slept: list[float] = []
    sleep = time.sleep

    def record(seconds: float) -> None:
        slept.append(seconds)
        sleep(0)

    monkeypatch.setattr(time, "sleep", record)
    for number in range(4):
        entrez.esearch(db="pubmed", term=f"x{number}")

    assert not any(slept)
    assert not {"email", "api_key"} & {name for seen in server.seen for name in seen.params}
    assert {name: value for name, value in vars(Bio.Entrez).items() if not name.startswith("__")} == before
    assert Bio.Entrez.efetch is not entrez.efetch
    assert Bio.Entrez._open.previous == 0  # the state that a call of Biopython changes


def test_threads_get_their_own_replies(entrez: Any, server: Loopback) -> None:
    sequences = {f"ZZ{number}.1": b">ZZ%d.1\n%b\n\n" % (number, b"A" * number) for number in range(1, 30)}
    server.next_answer = lambda seen: Answer(sequences[seen.params["id"]], headers=TEXT)  # type: ignore[method-assign]

    def fetch(name: str) -> bool:
        with entrez.efetch(
            db="nuccore", id=name, rettype="fasta", retmode="text", api_key=f"key-{len(name)}"
        ) as stream:
            return bool(stream.read().encode() == sequences[name])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(fetch, sequences))


# The parser


def test_a_missing_dtd_is_requested_once_and_written_only_to_the_cache(
    entrez: Any, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.by_endpoint = {
        "esummary": Answer(ASSEMBLY),
        "esummary_assembly": Answer(ASSEMBLY_DTD, headers={"Content-Type": "application/xml-dtd"}),
    }
    entrez.api_key = KEY
    for _ in range(2):
        record = entrez.read(entrez.esummary(db="assembly", id="7"))
        (summary,) = record["DocumentSummarySet"]
        assert (summary.attributes["uid"], summary["AssemblyName"]) == ("7", "GRCx")
    assert [seen.endpoint for seen in server.seen] == ["esummary", "esummary_assembly"]
    assert server.seen[1].raw == ""
    assert not Path(os.environ["HOME"], ".config").exists()
    entrez._requests.close()
    monkeypatch.setenv("ENTREZ_KIT_OFFLINE", "1")
    assert len(entrez.read(io.BytesIO(ASSEMBLY))["DocumentSummarySet"]) == 1


@pytest.mark.parametrize(
    "address",
    [
        "https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20300101/no_such.dtd",
        "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_990101.dtd",
    ],
)
def test_a_dtd_that_cannot_be_downloaded_raises_the_error_of_biopython(
    entrez: Any, server: Loopback, address: str
) -> None:
    server.always = Answer(b"not found", 404)
    with pytest.raises(RuntimeError, match="Failed to access"):
        entrez.read(io.BytesIO(f'<?xml version="1.0"?><!DOCTYPE a SYSTEM "{address}"><a/>'.encode()))

    assert len(server.seen) == ("eutils.ncbi" in address)


def test_a_dtd_of_another_site_is_never_requested(entrez: Any, server: Loopback) -> None:
    with pytest.raises(URLError):
        entrez._requests.open_definition("https://example.org/some.dtd")
    with pytest.raises(ValueError, match="secure URL"):
        entrez.read(io.BytesIO(b'<?xml version="1.0"?><!DOCTYPE a SYSTEM "https://example.org/some.dtd"><a/>'))

    assert not server.seen


def test_the_parser_is_an_attribute_and_a_module(entrez: Any) -> None:
    from entrez_kit.Entrez import Parser
    from entrez_kit.Entrez.Parser import NotXMLError

    assert entrez.Parser is Parser
    with pytest.raises(NotXMLError):
        entrez.read(io.BytesIO(b">ZZ1.1\nACGT\n"))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = entrez.no_such_name


@pytest.mark.parametrize("ids", ["7,7", "7+8", ["NC_1", "7"]])
def test_summaries_of_ids_that_cannot_be_counted_are_returned_unchanged(
    entrez: Any, server: Loopback, ids: Any
) -> None:
    one = b"<DocSum><Id>7</Id><Item Name='a' Type='String'>b</Item></DocSum>"
    server.always = Answer(b'<?xml version="1.0"?>\n<eSummaryResult>' + one + one + b"</eSummaryResult>")

    assert entrez.esummary(db="taxonomy", id=ids).read().count(b"<DocSum>") == 2
    assert len(server.seen) == 1
