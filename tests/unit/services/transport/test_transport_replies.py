"""What counts as an answer, on bodies alone."""

import gzip
import json
import time
from pathlib import Path

import pytest
from used_recordings import require_recordings

from entrez_kit.base.errors import (
    EntityNotFound,
    EntrezKitError,
    InvalidInput,
    NotConfigured,
    RateLimited,
    UpstreamError,
)
from entrez_kit.base.redaction import Redactor
from entrez_kit.services.transport import Call, Expect
from entrez_kit.services.transport.replies import FULL_PARSE_BYTES, Incoming, check, root_name
from entrez_kit.services.transport.retry import Retryable

PUBMED_ROOTS = frozenset({"PubmedArticleSet", "PubmedBookArticleSet", "PubmedArticle", "PubmedBookArticle"})
ROOTS = {
    "einfo": "eInfoResult",
    "esearch": "eSearchResult",
    "esummary": "eSummaryResult",
    "elink": "eLinkResult",
    "epost": "ePostResult",
    "espell": "eSpellResult",
    "egquery": "Result",
}
ARTICLES = (
    b'<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
    b'"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n<PubmedArticleSet><PubmedArticle><MedlineCitation>'
    b'<PMID Version="1">1</PMID><Article><Abstract><AbstractText>%b</AbstractText></Abstract></Article>'
    b"</MedlineCitation></PubmedArticle></PubmedArticleSet>\n"
)


def call(endpoint: str = "efetch", expect: Expect | None = None, /, **params: str) -> Call:
    """Return a call of an E-utility."""
    if expect is None:
        expect = Expect("xml", frozenset({ROOTS[endpoint]}) if endpoint in ROOTS else PUBMED_ROOTS)
    return Call("eutils", endpoint, "http://127.0.0.1/x", tuple({"db": "pubmed", **params}.items()), expect)


def complete(asked: Call, body: bytes, status: int = 200, told: tuple[str, ...] = (), /, **headers: str) -> bool:
    """Check a body that is an answer, and tell whether nothing that was asked for is lacking."""
    return check(asked, Incoming(status, headers, body), Redactor(["secret-key-of-mine"]), frozenset(told)).complete


def refused(
    asked: Call, body: bytes, status: int = 200, told: tuple[str, ...] = (), /, **headers: str
) -> EntrezKitError | Retryable:
    """Check a body that must be refused, and return what was raised."""
    try:
        complete(asked, body, status, told, **headers)
    except (EntrezKitError, Retryable) as exc:
        return exc
    raise AssertionError(f"taken for an answer: {body[:200]!r}")


def doubted(raised: EntrezKitError | Retryable, kind: type[EntrezKitError]) -> EntrezKitError:
    """Return an error that is believed only after it was heard again, and is of this kind."""
    assert isinstance(raised, Retryable)
    assert raised.at_most
    assert isinstance(raised.error, kind)
    return raised.error


def error_document(root: str, text: str) -> bytes:
    """Return a result document with an ERROR in it."""
    return f'<?xml version="1.0" encoding="UTF-8" ?>\n<{root}>\n\t<ERROR>{text}</ERROR>\n</{root}>\n'.encode()


# Real replies


def _recordings(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())


def _body(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def _recorded_call(path: Path, body: bytes) -> Call:
    folder = path.parent.name
    if body.lstrip()[:1] == b"{":
        keys = {"esearch": "esearchresult", "esummary": "result", "idconv": "records"}
        return call(folder, Expect("json", frozenset({keys[folder]})))
    if folder in ROOTS:
        return call(folder)
    if folder == "efetch_pubmed" and root_name(body) in PUBMED_ROOTS:
        return call("efetch")
    if path.suffix == ".html":
        return call("efetch", Expect("any"))
    return call("efetch", Expect("xml" if body.lstrip()[:1] == b"<" else "text"), db="gene")


def test_every_recorded_reply_is_taken_for_an_answer(real_data: Path) -> None:
    folders = [*ROOTS, "efetch_pubmed", "efetch_medline", "efetch_other", "efetch_gene", "efetch_pmc", "mesh", "idconv"]
    paths = [path for folder in folders for path in _recordings(real_data / folder)]
    wrong = []
    for path in paths:
        body = _body(path)
        raised: Exception | None = None
        try:
            complete(_recorded_call(path, body), body)
        except (EntrezKitError, Retryable) as exc:
            raised = exc
        holds_only_errors = b"<ERROR>" in body and b"<DocSum>" not in body
        if (raised is not None) != holds_only_errors:
            wrong.append((path.name, str(raised)))
    assert len(paths) > 300
    assert wrong == []


def test_every_recorded_error_is_taken_for_an_error(real_data: Path) -> None:
    kinds = {}
    for path in _recordings(real_data / "errors"):
        raised = refused(call("efetch"), path.read_bytes())
        kinds[path.name.partition("__")[0]] = raised.error if isinstance(raised, Retryable) else raised
    require_recordings({"biomcp", "sul_pub"} <= kinds.keys())
    assert isinstance(kinds["biomcp"], RateLimited)
    # Its request named no id at all: what NCBI says of an id, it says to a request that was sent without one.
    assert isinstance(kinds["sul_pub"], UpstreamError)


@pytest.mark.parametrize("at", [0.1, 0.5, 0.9, 0.999])
def test_no_recorded_document_counts_when_it_is_cut(real_data: Path, at: float) -> None:
    for path in [
        *_recordings(real_data / "esearch"),
        *_recordings(real_data / "esummary"),
        *_recordings(real_data / "elink"),
    ]:
        body = path.read_bytes().rstrip()
        cut = body[: min(int(len(body) * at), len(body) - 1)]
        assert isinstance(refused(_recorded_call(path, body), cut), Retryable | EntityNotFound), path.name


# Shapes


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" \n\t\n",
        b"\xef\xbb\xbf",
        b'<?xml version="1.0" encoding="UTF-8"?>',
        b'<?xml version="1.0"?>\n<!DOCTYPE PubmedArticleSet SYSTEM "x.dtd">\n',
        b"<PubmedArticleSet><PubmedArticle></PubmedArticle>",
        b"<PubmedArticleSet><PubmedArticle></PubmedArticleSet>",
        b"<html><body>Server Error</body></html>",
        b"\n<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'><HTML></HTML>",
        b'<?xml version="1.0"?><!DOCTYPE html PUBLIC "x" "y"><html xmlns="http://www.w3.org/1999/xhtml"><body/></html>',
        b"<!-- maintenance --><html></html>",
        b"<response><status>down</status></response>",
        b"<eFetchResult></eFetchResult>",
        b'<?xml version="1.0" encoding="x-none"?><PubmedArticleSet></PubmedArticleSet>',
        b'<?xml version="1.0" encoding="x-none"?><PubmedArticleSet><ERROR>no</ERROR></PubmedArticleSet>',
        b"Service Unavailable",
        b'{"header":{"type":"efetch"}}',
    ],
)
def test_what_is_no_document_is_asked_for_again(body: bytes) -> None:
    raised = refused(call("efetch"), body)

    assert isinstance(raised, Retryable)
    assert raised.error.reason == "invalid_response"


@pytest.mark.parametrize(
    ("endpoint", "body"),
    [
        ("esearch", b"<eSearchResult></eSearchResult>"),
        ("esearch", b"<eSearchResult><IdList/></eSearchResult>"),
        ("esummary", b"<eSummaryResult/>"),
        ("elink", b"<eLinkResult></eLinkResult>"),
        ("einfo", b"<eInfoResult></eInfoResult>"),
        ("egquery", b"<Result><Term>x</Term></Result>"),
        ("epost", b"<ePostResult><QueryKey>1</QueryKey></ePostResult>"),
        ("epost", b"<ePostResult><QueryKey>1</QueryKey><WebEnv> error: no env </WebEnv></ePostResult>"),
        ("esearch", b"<eSummaryResult><DocSum></DocSum></eSummaryResult>"),
    ],
)
def test_an_empty_result_document_is_no_empty_success(endpoint: str, body: bytes) -> None:
    raised = refused(call(endpoint), body)

    assert isinstance(raised, Retryable)
    assert isinstance(raised.error, UpstreamError)


@pytest.mark.parametrize(
    "body",
    [
        b"<PubmedArticleSet></PubmedArticleSet>",
        b"<PubmedArticleSet/>",
        b"\xef\xbb\xbf<PubmedArticleSet></PubmedArticleSet>\n<!-- served by x -->\n",
        b'<?xml version="1.0" encoding="ISO-8859-1"?><PubmedArticleSet><!-- caf\xe9 --></PubmedArticleSet>',
    ],
)
def test_unusual_but_whole_documents_are_answers(body: bytes) -> None:
    assert complete(call("efetch"), body)


def test_documents_of_other_databases_may_follow_one_another() -> None:
    body = b"<DocumentSummary uid='1'/>\n<DocumentSummary uid='2'></DocumentSummary>\n"

    assert complete(call("efetch", Expect("xml"), db="snp"), body)
    assert isinstance(refused(call("efetch", Expect("xml"), db="snp"), body + b"<Docum"), Retryable)


def test_a_large_document_is_checked_at_its_end_without_parsing_all_of_it() -> None:
    large = ARTICLES % (b"word " * (FULL_PARSE_BYTES // 4))
    assert len(large) > FULL_PARSE_BYTES

    assert complete(call("efetch"), large)
    assert isinstance(refused(call("efetch"), large[: len(large) // 2]), Retryable)
    assert isinstance(refused(call("efetch"), large.rstrip()[:-1]), Retryable)


def test_a_document_with_entities_of_its_own_is_refused() -> None:
    bomb = (
        b'<?xml version="1.0"?><!DOCTYPE PubmedArticleSet [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
        b"<PubmedArticleSet>&b;</PubmedArticleSet>"
    )
    outside = (
        b'<!DOCTYPE PubmedArticleSet [<!ENTITY x SYSTEM "file:///etc/passwd">]><PubmedArticleSet>&x;</PubmedArticleSet>'
    )
    for body in (bomb, outside):
        raised = refused(call("efetch"), body)
        assert isinstance(raised, Retryable)
        assert "entities" in str(raised)


ARTICLE_ROOTS = Expect("xml", frozenset({"article", "pmc-articleset"}))


@pytest.mark.parametrize(
    "body",
    [
        b'<!DOCTYPE article [<!ENTITY mdash "&#8212;">]><article>a&mdash;b</article>',
        b"<article>a&nbsp;b</article>",
        b'<!DOCTYPE article SYSTEM "archivearticle.dtd"><article>a&nbsp;b</article>',
        b"<pmc-articleset><article>a&alpha;b</article></pmc-articleset>",
    ],
)
def test_publishers_articles_may_name_characters(body: bytes) -> None:
    assert complete(call("efetch", ARTICLE_ROOTS, db="pmc"), body)
    assert isinstance(refused(call("efetch", ARTICLE_ROOTS, db="pmc"), body[:-4]), Retryable)


def test_names_in_names_of_articles_are_not_put_in_place() -> None:
    tens = [f"&e{level};" * 10 for level in range(20)]
    levels = "".join(f'<!ENTITY e{level} "{ten}">' for level, ten in enumerate(tens, 1))
    bomb = f'<!DOCTYPE article [<!ENTITY e0 "lol">{levels}]><article>&e20;</article>'.encode()

    started = time.process_time()
    assert complete(call("efetch", ARTICLE_ROOTS, db="pmc"), bomb)
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    "declared", [b'<!ENTITY x SYSTEM "file:///etc/passwd">', b'<!ENTITY % x "y">', b'<!ENTITY % x SYSTEM "http://x/">']
)
def test_articles_that_name_files_are_refused(declared: bytes) -> None:
    body = b"<!DOCTYPE article [" + declared + b"]><article>&x;</article>"
    assert isinstance(refused(call("efetch", ARTICLE_ROOTS, db="pmc"), body), Retryable)


@pytest.mark.parametrize(
    "body", [b'{"esearchresult":{"count":"1","idlist":["1"]', b"[]", b'{"header":{}}', b"null", b"no"]
)
def test_json_that_is_cut_or_something_else_is_asked_for_again(body: bytes) -> None:
    assert isinstance(refused(call("esearch", Expect("json", frozenset({"esearchresult"}))), body), Retryable)


def test_html_where_text_was_due_is_no_answer() -> None:
    medline = call("efetch", Expect("text"), rettype="medline")

    assert complete(medline, b"\nPMID- 1\nTI  - A title\n")
    assert isinstance(refused(medline, b"<html><head><title>502</title></head></html>"), Retryable)
    silent = refused(medline, b"\n")
    assert isinstance(silent, Retryable)
    assert silent.at_most == 2
    assert isinstance(refused(medline, b"Error: cannot connect to the backend\n"), Retryable)


def test_text_may_be_xml_or_json_but_not_half_of_it() -> None:
    anything = call("efetch", Expect("text"), db="taxonomy")

    assert complete(anything, b'<?xml version="1.0"?><TaxaSet></TaxaSet>')
    assert complete(anything, b'{"refsnp_id":"268"}\n{"refsnp_id":"269"}\n')
    assert isinstance(refused(anything, b'<?xml version="1.0"?><TaxaSet><Taxon>'), Retryable)


# Errors inside a document


@pytest.mark.parametrize(
    "root", ["eSearchResult", "eFetchResult", "eLinkResult", "eSummaryResult", "ePostResult", "eInfoResult"]
)
def test_an_error_in_any_result_document_is_an_error(root: str) -> None:
    endpoint = {name: key for key, name in ROOTS.items()}.get(root, "efetch")

    raised = refused(call(endpoint), error_document(root, "Something that nobody has seen before"))

    assert isinstance(raised, Retryable)
    assert "nobody has seen" in raised.error.message


def test_an_offset_beyond_the_ceiling_is_bad_input_and_not_zero_hits() -> None:
    texts = [
        "Search Backend failed: Exception:\n&apos;retstart&apos; cannot be larger than 9998. For PubMed, ESearch can "
        "only retrieve the first 9,999 records matching the query.",
        "Search Backend failed: Exception: Position 15000 is out of acceptable range [9999,9998]",
    ]
    for text in texts:
        raised = refused(call("esearch", term="x", retstart="15000"), error_document("eSearchResult", text))
        assert isinstance(raised, InvalidInput)
        assert raised.reason == "retstart_out_of_range"
        assert raised.invalid_input == "retstart=15000"
        body = json.dumps({"esearchresult": {"ERROR": text}}).encode()
        json_call = call("esearch", Expect("json", frozenset({"esearchresult"})), term="x", retstart="15000")
        assert isinstance(refused(json_call, body), InvalidInput)


def test_an_error_deep_in_a_link_set_is_found() -> None:
    body = (
        b"<eLinkResult><LinkSet><DbFrom>pubmed</DbFrom><LinkSetDb><DbTo>pubmed</DbTo><ERROR>NCBI C++ Exception:\n"
        b'    Error: TXCLIENT(CException::eUnknown) "/x/exLinkSrv2.cpp", line 1: Read failed: EOF</ERROR></LinkSetDb>'
        b"</LinkSet></eLinkResult>"
    )
    raised = refused(call("elink", dbfrom="pubmed"), body)

    assert isinstance(raised, Retryable)
    assert raised.error.reason == "ncbi_unreachable"


def test_an_empty_error_element_is_no_error() -> None:
    assert complete(call("espell"), b"<eSpellResult><Query>x</Query><CorrectedQuery/><ERROR/></eSpellResult>")


def test_the_word_error_in_an_abstract_is_data() -> None:
    for text in (
        b"&lt;ERROR&gt; was seen",
        b"ERROR rates",
        b"<i>ERROR</i> 500 Server Error",
        b"<b><ERROR>odd</ERROR></b>",
    ):
        assert complete(call("efetch"), ARTICLES % text)


def test_lower_case_error_elements_are_data() -> None:
    pmc = b'<pmc-articleset><error id="1" code="404">not open access</error><article/></pmc-articleset>'
    summary = (
        b'<eSummaryResult><DocumentSummarySet status="OK"><DocumentSummary uid="9"><error>cannot get document summary'
        b"</error></DocumentSummary></DocumentSummarySet></eSummaryResult>"
    )
    assert complete(call("efetch", Expect("xml"), db="pmc"), pmc)
    assert complete(call("esummary"), summary)


def test_ids_unknown_to_esummary_do_not_spoil_the_others() -> None:
    error = b"<ERROR>UID=99: cannot get document summary</ERROR>"
    mixed = b"<eSummaryResult>%b<DocSum><Id>1</Id></DocSum></eSummaryResult>" % error
    alone = b"<eSummaryResult>%b</eSummaryResult>" % error

    assert complete(call("esummary"), mixed)
    doubted(refused(call("esummary", id="99"), alone), EntityNotFound)


@pytest.mark.parametrize(
    "text",
    ["Empty id list; no uids", "Empty result - nothing to do", "Supplied id parameter is empty.",
     "ID list is empty! Possibly it has no correct IDs.",
     "UID=999999999999: cannot get document summary", "Invalid uid abc at position= 0"],
)  # fmt: skip
@pytest.mark.parametrize("status", [200, 400])
def test_words_about_ids_count_once_they_were_heard_again(text: str, status: int) -> None:
    requested = call("efetch", id="abc,999999999999")
    doubted(refused(requested, error_document("eFetchResult", text), status), EntityNotFound)


BLAMED = [
    ("esearch", {"term": "x"}, "Empty id list - nothing todo"),
    ("esearch", {"term": "x"}, "Supplied id parameter is empty."),
    ("espell", {"term": "x"}, "cannot get document summary"),
    ("efetch", {"WebEnv": "MCID_1", "query_key": "1"}, "ID list is empty! Possibly it has no correct IDs."),
    ("esummary", {"id": "1,2"}, "Invalid uid 999 at position= 0"),
    ("esearch", {"term": "x"}, "Unable to obtain query #1"),
    ("efetch", {"id": "1"}, "WebEnv is missing"),
    (
        "esearch",
        {"term": "x"},
        "Search Backend failed: Exception: Position 15000 is out of acceptable range [9999,9998]",
    ),
    ("esearch", {"term": "x", "retstart": "9990"}, "Position 15000 is out of acceptable range [9999,9998]"),
    ("esummary", {"id": "1,2,3"}, "Too many UIDs in request. Maximum number of UIDs is 500 for JSON format output."),
    ("efetch", {"id": "1"}, "Too many UIDs"),
    ("esearch", {"term": "asthma"}, "Empty term and query_key - nothing todo"),
    ("elink", {"id": "1"}, "Empty term"),
    ("efetch", {"id": "1", "retmode": "xml"}, "Invalid parameter value"),
    ("efetch", {"id": "1", "retmode": "xml"}, "Unsupported retmode"),
    ("efetch", {"id": "1"}, "Cannot process ID list"),
    ("esearch", {"term": "x"}, "Nobody has ever seen these words"),
    ("esearch", {"term": "x"}, "API key invalid"),
    ("esearch", {"term": "x"}, "Invalid db name specified: pubmed"),
    ("esearch", {"term": "x"}, "Unknown database: None"),
]


@pytest.mark.parametrize(("endpoint", "params", "text"), BLAMED)
@pytest.mark.parametrize("status", [200, 400])
def test_what_the_request_does_not_contain_is_not_its_fault(
    endpoint: str, params: dict[str, str], text: str, status: int
) -> None:
    root = ROOTS.get(endpoint, "eFetchResult")
    raised = refused(call(endpoint, **params), error_document(root, text), status)

    assert isinstance(raised, Retryable)
    assert type(raised.error) is UpstreamError
    assert raised.at_most is None
    assert text in raised.error.message


def test_a_list_of_databases_names_no_database_that_could_be_unknown() -> None:
    requested = Call("eutils", "einfo", "http://127.0.0.1/x", (), Expect("xml", frozenset({"eInfoResult"})))
    raised = refused(requested, error_document("eInfoResult", "Can not retrieve DbInfo for db=None"))

    assert isinstance(raised, Retryable)
    assert "There is no" not in raised.error.message


@pytest.mark.parametrize(
    ("endpoint", "params", "text"),
    [
        ("efetch", {"id": "1", "rettype": "nonsense"}, "Unsupported rettype: nonsense"),
        ("efetch", {"id": "1", "rettype": "nonsense"}, "Invalid value 'nonsense'"),
        ("elink", {"id": "1", "linkname": "a_b"}, "Unknown linkname a_b"),
        ("esearch", {"term": "x", "mindate": "20", "maxdate": "30"}, "Invalid date"),
        ("esearch", {"term": "x", "sort": "bogus"}, "Unknown sort value"),
    ],
)
def test_an_argument_that_was_sent_and_is_named_is_its_fault(endpoint: str, params: dict[str, str], text: str) -> None:
    raised = refused(call(endpoint, **params), error_document(ROOTS.get(endpoint, "eFetchResult"), text), 400)

    assert isinstance(raised, InvalidInput)
    assert text in raised.message


@pytest.mark.parametrize(
    "text",
    [
        "Error: External viewer error: Empty Response. Bytes read: 0 Status: Timeout",
        "Search Backend failed: read request has been canceled",
        "Search Backend failed: Database is not supported: pubmed",
        "Database is not supported: pubmed",
        "NCBI C++ Exception: CTxRawClient...",
        "Unable to connect to the backend",
    ],
)
@pytest.mark.parametrize("status", [200, 400, 500])
def test_backend_failures_are_asked_for_again(text: str, status: int) -> None:
    raised = refused(call("esearch", term="x"), error_document("eSearchResult", text), status)

    assert isinstance(raised, Retryable)
    assert isinstance(raised.error, UpstreamError)


def test_a_blank_query_is_the_users_error() -> None:
    for term in ("", "()", '""', "[Title]"):
        requested = call("esearch", term=term)
        raised = refused(requested, error_document("eSearchResult", "Empty term and query_key - nothing todo"))

        assert isinstance(raised, InvalidInput)
        assert raised.reason == "blank_query"


@pytest.mark.parametrize("text", ["Invalid db name specified: nosuch", "Database is not supported: nosuch"])
def test_a_database_that_does_not_exist_is_the_users_error(text: str) -> None:
    raised = refused(call("esearch", db="nosuch", term="x"), error_document("eSearchResult", text))

    assert isinstance(raised, InvalidInput)
    assert raised.invalid_input == "db=nosuch"


@pytest.mark.parametrize(
    "text",
    [
        "Cannot retrieve history data. query_key: 1, WebEnv: x",
        "Unable to obtain query #1",
        "WebEnv MCID_1 not found",
        "Invalid query_key",
        "History expired",
    ],
)
def test_an_expired_history_says_to_search_again(text: str) -> None:
    raised = refused(call("efetch", query_key="1", WebEnv="x"), error_document("eFetchResult", text))

    error = doubted(raised, InvalidInput)
    assert error.reason == "history_unknown"
    assert "Search again" in error.recovery_hint


@pytest.mark.parametrize("status", [200, 400, 403])
def test_a_bad_key_is_a_matter_of_configuration(status: int) -> None:
    body = b'{"error":"API key invalid","api-key":"secret-key-of-mine","count":"3","limit":"3"}'
    raised = refused(call("esearch", term="x"), body, status, ("api_key", "tool"))

    assert isinstance(raised, NotConfigured)
    assert "NCBI_API_KEY" in raised.message
    assert "secret-key" not in json.dumps(raised.envelope())


@pytest.mark.parametrize("status", [200, 429])
@pytest.mark.parametrize("expect", [Expect("xml", PUBMED_ROOTS), Expect("json", frozenset({"result"})), Expect("text")])
def test_a_rate_limit_body_is_a_rate_limit_whatever_was_asked(status: int, expect: Expect) -> None:
    body = b'{"error":"API rate limit exceeded","api-key":"secret-key-of-mine","count":"17","limit":"3"}'
    raised = refused(call("efetch", expect), body, status, **{"Retry-After": "2"})

    assert isinstance(raised, Retryable)
    assert isinstance(raised.error, RateLimited)
    assert raised.wait == 2
    assert "NCBI_API_KEY" in raised.error.recovery_hint
    assert "secret-key" not in str(raised)


def test_a_rate_limit_says_whose_quota_it_was() -> None:
    raised = refused(call("esearch"), b"", 429)

    assert isinstance(raised, Retryable)
    assert "network address, which other programs" in raised.error.message


def test_europe_pmc_blames_an_argument_only_where_there_is_something_to_blame() -> None:
    def raised(words: str, **params: str) -> EntrezKitError | Retryable:
        requested = Call(
            "europepmc", "search", "http://127.0.0.1/x", tuple(params.items()), Expect("json", frozenset({"hitCount"}))
        )
        return refused(requested, json.dumps({"errCode": 404, "errMsg": words}).encode())

    for words, params in [
        ("memory limit exceeded for query", {"query": "(asthma OR copd)"}),
        ("Invalid query syntax", {"query": "asthma treatment"}),
        ("The cursorMark value is not valid", {"query": "x", "cursorMark": "*"}),
        ("Unknown sort field FOO", {"query": "x"}),
        ("The query took too many resources", {"query": "(x)"}),
    ]:
        found = raised(words, **params)
        assert isinstance(found, Retryable), words
        assert found.error.exit_code == 5
    for words, params in [
        ("Invalid query syntax", {"query": "(asthma AND"}),
        ("The cursorMark value is not valid", {"query": "x", "cursorMark": "AoE"}),
        ("Unknown sort field FOO", {"query": "x", "sort": "FOO asc"}),
    ]:
        assert isinstance(raised(words, **params), InvalidInput), words


# Statuses


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_server_errors_and_their_pages_are_asked_for_again(status: int) -> None:
    body = b"<html><head><title>NCBI/eutils202 - WWW Error 500 Diagnostic</title></head></html>"
    raised = refused(call("esearch"), body, status)

    assert isinstance(raised, Retryable)
    assert raised.error.details["status"] == status
    assert "WWW Error 500" in raised.error.message


@pytest.mark.parametrize(
    "body", [b"", b"<html><title>Bad Request</title></html>", b"<eFetchResult><ERROR>Read backend"]
)
def test_a_400_that_explains_nothing_is_asked_for_again(body: bytes) -> None:
    assert isinstance(refused(call("efetch"), body, 400), Retryable)


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (400, b'{"status":"error","message":"Mixed id types"}', "Mixed id types"),
        (422, b'{"detail":[{"loc":["query","ids"],"msg":"these ids are not valid"}]}', "ids are not valid"),
        (422, b'{"detail":"no such type of id"}', "no such type of id"),
    ],
)
def test_other_services_refuse_in_their_own_ways(status: int, body: bytes, said: str) -> None:
    requested = Call("idconv", "idconv", "http://127.0.0.1/x", (("ids", "1"),), Expect("json", frozenset({"records"})))
    raised = refused(requested, body, status)

    assert isinstance(raised, InvalidInput)
    assert said in raised.message


@pytest.mark.parametrize("body", [b"", b'{"detail":"field required"}', b'{"message":"memory limit exceeded"}'])
def test_a_refusal_that_names_nothing_of_the_request_is_asked_for_again(body: bytes) -> None:
    requested = Call("idconv", "idconv", "http://127.0.0.1/x", (("ids", "1"),), Expect("json", frozenset({"records"})))
    raised = refused(requested, body, 422)

    assert isinstance(raised, Retryable)
    assert raised.error.exit_code == 5


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (403, "refused"),
        (404, "no_such_address"),
        (410, "retired"),
        (501, "unexpected_status"),
        (418, "unexpected_status"),
    ],
)
def test_other_statuses_are_final(status: int, reason: str) -> None:
    raised = refused(call("esearch"), b"<html><title>no</title></html>", status)

    assert isinstance(raised, UpstreamError)
    assert raised.reason == reason


@pytest.mark.parametrize(
    ("words", "parameter"),
    [
        ("Missing required parameter: client_id", "client_id"),
        ("Required parameter 'client_id' is missing", "client_id"),
        ("The parameter client_id is mandatory.", "client_id"),
        ("client_id is now required", "client_id"),
        ("API request refused: api_key is required", "api_key"),
    ],
)
@pytest.mark.parametrize("status", [200, 400, 403, 422, 500])
def test_a_parameter_that_a_service_has_come_to_want_is_named(words: str, parameter: str, status: int) -> None:
    raised = refused(call("esearch", term="x"), error_document("eSearchResult", words), status)

    error = doubted(raised, UpstreamError)
    assert (error.reason, error.details["parameter"]) == ("new_parameter", parameter)


@pytest.mark.parametrize(
    "words", ["Missing required parameter: term", "db is required", "A valid term is required", "this is required"]
)
def test_a_parameter_that_was_sent_is_not_a_new_one(words: str) -> None:
    raised = refused(call("esearch", term="x"), error_document("eSearchResult", words))

    error = raised.error if isinstance(raised, Retryable) else raised
    assert error.reason != "new_parameter"


@pytest.mark.parametrize("status", [201, 204, 206])
def test_other_kinds_of_success_are_no_answer(status: int) -> None:
    assert isinstance(refused(call("esearch"), b"", status), Retryable)


def test_a_request_that_is_too_long_is_the_users_error() -> None:
    raised = refused(call("esearch", term="x" * 3000), b"", 414)

    assert isinstance(raised, InvalidInput)
    assert raised.reason == "request_too_long"
    assert isinstance(refused(call("esearch", term="x"), b"", 414), Retryable)


def test_a_service_may_say_404_for_a_record_it_does_not_have_and_that_is_final() -> None:
    requested = Call("europepmc", "fulltext", "http://127.0.0.1/x", (), Expect("xml"))

    assert isinstance(refused(requested, b"", 404), EntityNotFound)


def test_words_of_a_service_are_shown_without_control_characters() -> None:
    raised = refused(call("esearch"), b'{"error":"bad \\u001b[31m thing \\n here ' + b"x" * 1000 + b'"}')

    assert isinstance(raised, Retryable)
    assert raised.error.message.isprintable()
    assert len(raised.error.message) < 500


# Completeness


def test_a_reply_that_lacks_a_record_is_known_to_be_incomplete() -> None:
    requested = call("efetch", Expect("xml", PUBMED_ROOTS, 2, r"<Pubmed(Book)?Article[\s>]"))

    assert not complete(requested, ARTICLES % b"x")
    assert complete(call("efetch", Expect("xml", PUBMED_ROOTS, 1, r"<Pubmed(Book)?Article[\s>]")), ARTICLES % b"x")


def test_many_documents_in_a_row_take_time_in_proportion_to_their_number() -> None:
    def seconds(number: int) -> float:
        body = b"".join(b"<Set><Id>%d</Id></Set>\n" % count for count in range(number))
        start = time.thread_time()
        assert complete(call("efetch", Expect("xml")), body)
        return time.thread_time() - start

    few = min(seconds(2_000) for _ in range(3))
    assert seconds(20_000) < 30 * few
