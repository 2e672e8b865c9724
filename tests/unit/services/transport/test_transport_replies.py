"""Valid and invalid replies, decided by their bodies."""

import json
import time
from pathlib import Path

import pytest
from used_recordings import list_recordings, read_recording, require_recordings

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
from entrez_kit.services.transport.replies import FULL_PARSE_BYTES, Incoming, check_reply, find_root_name
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


def make_call(endpoint: str = "efetch", expect: Expect | None = None, /, **params: str) -> Call:
    """Return a call of an E-utility."""
    if expect is None:
        expect = Expect("xml", frozenset({ROOTS[endpoint]}) if endpoint in ROOTS else PUBMED_ROOTS)
    return Call("eutils", endpoint, "http://127.0.0.1/x", tuple({"db": "pubmed", **params}.items()), expect)


def is_complete(asked: Call, body: bytes, status: int = 200, told: tuple[str, ...] = (), /, **headers: str) -> bool:
    """Check a valid body, and return whether it has everything that was requested."""
    return check_reply(
        asked, Incoming(status, headers, body), Redactor(["secret-key-of-mine"]), frozenset(told)
    ).complete


def get_refusal(
    asked: Call, body: bytes, status: int = 200, told: tuple[str, ...] = (), /, **headers: str
) -> EntrezKitError | Retryable:
    """Check a body that must be refused, and return the raised error."""
    try:
        is_complete(asked, body, status, told, **headers)
    except (EntrezKitError, Retryable) as exc:
        return exc
    raise AssertionError(f"taken for an answer: {body[:200]!r}")


def get_doubtful_error(raised: EntrezKitError | Retryable, kind: type[EntrezKitError]) -> EntrezKitError:
    """Return an error of this kind that is accepted only after a second request."""
    assert isinstance(raised, Retryable)
    assert raised.at_most
    assert isinstance(raised.error, kind)
    return raised.error


def write_error_document(root: str, text: str) -> bytes:
    """Return a result document with an ERROR in it."""
    return f'<?xml version="1.0" encoding="UTF-8" ?>\n<{root}>\n\t<ERROR>{text}</ERROR>\n</{root}>\n'.encode()


# Real replies


def _make_recorded_call(path: Path, body: bytes) -> Call:
    folder = path.parent.name
    if body.lstrip()[:1] == b"{":
        keys = {"esearch": "esearchresult", "esummary": "result", "idconv": "records"}
        return make_call(folder, Expect("json", frozenset({keys[folder]})))
    if folder in ROOTS:
        return make_call(folder)
    if folder == "efetch_pubmed" and find_root_name(body) in PUBMED_ROOTS:
        return make_call("efetch")
    if path.suffix == ".html":
        return make_call("efetch", Expect("any"))
    return make_call("efetch", Expect("xml" if body.lstrip()[:1] == b"<" else "text"), db="gene")


def test_every_recorded_reply_is_accepted(real_data: Path) -> None:
    folders = [*ROOTS, "efetch_pubmed", "efetch_medline", "efetch_other", "efetch_gene", "efetch_pmc", "mesh", "idconv"]
    paths = [path for folder in folders for path in list_recordings(real_data / folder)]
    wrong = []
    for path in paths:
        body = read_recording(path)
        raised: Exception | None = None
        try:
            is_complete(_make_recorded_call(path, body), body)
        except (EntrezKitError, Retryable) as exc:
            raised = exc
        holds_only_errors = b"<ERROR>" in body and b"<DocSum>" not in body
        if (raised is not None) != holds_only_errors:
            wrong.append((path.name, str(raised)))
    assert len(paths) > 300
    assert wrong == []


def test_every_recorded_error_is_an_error(real_data: Path) -> None:
    kinds = {}
    for path in list_recordings(real_data / "errors"):
        raised = get_refusal(make_call("efetch"), path.read_bytes())
        kinds[path.name.partition("__")[0]] = raised.error if isinstance(raised, Retryable) else raised
    require_recordings({"biomcp", "sul_pub"} <= kinds.keys())
    assert isinstance(kinds["biomcp"], RateLimited)
    # Its request had no id: NCBI gives such an error also to a request without ids.
    assert isinstance(kinds["sul_pub"], UpstreamError)


@pytest.mark.parametrize("at", [0.1, 0.5, 0.9, 0.999])
def test_no_recorded_document_is_accepted_if_it_is_cut(real_data: Path, at: float) -> None:
    for path in [
        *list_recordings(real_data / "esearch"),
        *list_recordings(real_data / "esummary"),
        *list_recordings(real_data / "elink"),
    ]:
        body = path.read_bytes().rstrip()
        cut = body[: min(int(len(body) * at), len(body) - 1)]
        assert isinstance(get_refusal(_make_recorded_call(path, body), cut), Retryable | EntityNotFound), path.name


# Forms of documents


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
def test_an_invalid_document_is_requested_again(body: bytes) -> None:
    raised = get_refusal(make_call("efetch"), body)

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
def test_an_empty_result_document_is_not_an_empty_success(endpoint: str, body: bytes) -> None:
    raised = get_refusal(make_call(endpoint), body)

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
def test_unusual_but_complete_documents_are_accepted(body: bytes) -> None:
    assert is_complete(make_call("efetch"), body)


def test_documents_of_other_databases_may_be_concatenated() -> None:
    body = b"<DocumentSummary uid='1'/>\n<DocumentSummary uid='2'></DocumentSummary>\n"

    assert is_complete(make_call("efetch", Expect("xml"), db="snp"), body)
    assert isinstance(get_refusal(make_call("efetch", Expect("xml"), db="snp"), body + b"<Docum"), Retryable)


def test_the_end_of_a_large_document_is_checked_without_parsing_all_of_it() -> None:
    large = ARTICLES % (b"word " * (FULL_PARSE_BYTES // 4))
    assert len(large) > FULL_PARSE_BYTES

    assert is_complete(make_call("efetch"), large)
    assert isinstance(get_refusal(make_call("efetch"), large[: len(large) // 2]), Retryable)
    assert isinstance(get_refusal(make_call("efetch"), large.rstrip()[:-1]), Retryable)


def test_a_document_with_its_own_entities_is_refused() -> None:
    bomb = (
        b'<?xml version="1.0"?><!DOCTYPE PubmedArticleSet [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
        b"<PubmedArticleSet>&b;</PubmedArticleSet>"
    )
    outside = (
        b'<!DOCTYPE PubmedArticleSet [<!ENTITY x SYSTEM "file:///etc/passwd">]><PubmedArticleSet>&x;</PubmedArticleSet>'
    )
    for body in (bomb, outside):
        raised = get_refusal(make_call("efetch"), body)
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
def test_articles_of_publishers_may_define_characters(body: bytes) -> None:
    assert is_complete(make_call("efetch", ARTICLE_ROOTS, db="pmc"), body)
    assert isinstance(get_refusal(make_call("efetch", ARTICLE_ROOTS, db="pmc"), body[:-4]), Retryable)


def test_nested_entities_of_articles_are_not_expanded() -> None:
    tens = [f"&e{level};" * 10 for level in range(20)]
    levels = "".join(f'<!ENTITY e{level} "{ten}">' for level, ten in enumerate(tens, 1))
    bomb = f'<!DOCTYPE article [<!ENTITY e0 "lol">{levels}]><article>&e20;</article>'.encode()

    started = time.process_time()
    assert is_complete(make_call("efetch", ARTICLE_ROOTS, db="pmc"), bomb)
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    "declared", [b'<!ENTITY x SYSTEM "file:///etc/passwd">', b'<!ENTITY % x "y">', b'<!ENTITY % x SYSTEM "http://x/">']
)
def test_articles_that_name_files_are_refused(declared: bytes) -> None:
    body = b"<!DOCTYPE article [" + declared + b"]><article>&x;</article>"
    assert isinstance(get_refusal(make_call("efetch", ARTICLE_ROOTS, db="pmc"), body), Retryable)


@pytest.mark.parametrize(
    "body", [b'{"esearchresult":{"count":"1","idlist":["1"]', b"[]", b'{"header":{}}', b"null", b"no"]
)
def test_incomplete_or_other_json_is_requested_again(body: bytes) -> None:
    assert isinstance(get_refusal(make_call("esearch", Expect("json", frozenset({"esearchresult"}))), body), Retryable)


def test_html_in_place_of_text_is_not_an_answer() -> None:
    medline = make_call("efetch", Expect("text"), rettype="medline")

    assert is_complete(medline, b"\nPMID- 1\nTI  - A title\n")
    assert isinstance(get_refusal(medline, b"<html><head><title>502</title></head></html>"), Retryable)
    silent = get_refusal(medline, b"\n")
    assert isinstance(silent, Retryable)
    assert silent.at_most == 2
    assert isinstance(get_refusal(medline, b"Error: cannot connect to the backend\n"), Retryable)


def test_text_may_be_xml_or_json_but_must_be_complete() -> None:
    anything = make_call("efetch", Expect("text"), db="taxonomy")

    assert is_complete(anything, b'<?xml version="1.0"?><TaxaSet></TaxaSet>')
    assert is_complete(anything, b'{"refsnp_id":"268"}\n{"refsnp_id":"269"}\n')
    assert isinstance(get_refusal(anything, b'<?xml version="1.0"?><TaxaSet><Taxon>'), Retryable)


# Errors inside a document


@pytest.mark.parametrize(
    "root", ["eSearchResult", "eFetchResult", "eLinkResult", "eSummaryResult", "ePostResult", "eInfoResult"]
)
def test_an_error_in_any_result_document_is_an_error(root: str) -> None:
    endpoint = {name: key for key, name in ROOTS.items()}.get(root, "efetch")

    raised = get_refusal(make_call(endpoint), write_error_document(root, "Something that nobody has seen before"))

    assert isinstance(raised, Retryable)
    assert "nobody has seen" in raised.error.message


def test_an_offset_beyond_the_maximum_is_invalid_input_and_not_zero_results() -> None:
    texts = [
        "Search Backend failed: Exception:\n&apos;retstart&apos; cannot be larger than 9998. For PubMed, ESearch can "
        "only retrieve the first 9,999 records matching the query.",
        "Search Backend failed: Exception: Position 15000 is out of acceptable range [9999,9998]",
    ]
    for text in texts:
        raised = get_refusal(
            make_call("esearch", term="x", retstart="15000"), write_error_document("eSearchResult", text)
        )
        assert isinstance(raised, InvalidInput)
        assert raised.reason == "retstart_out_of_range"
        assert raised.invalid_input == "retstart=15000"
        body = json.dumps({"esearchresult": {"ERROR": text}}).encode()
        json_call = make_call("esearch", Expect("json", frozenset({"esearchresult"})), term="x", retstart="15000")
        assert isinstance(get_refusal(json_call, body), InvalidInput)


def test_an_error_deep_in_a_link_set_is_found() -> None:
    body = (
        b"<eLinkResult><LinkSet><DbFrom>pubmed</DbFrom><LinkSetDb><DbTo>pubmed</DbTo><ERROR>NCBI C++ Exception:\n"
        b'    Error: TXCLIENT(CException::eUnknown) "/x/exLinkSrv2.cpp", line 1: Read failed: EOF</ERROR></LinkSetDb>'
        b"</LinkSet></eLinkResult>"
    )
    raised = get_refusal(make_call("elink", dbfrom="pubmed"), body)

    assert isinstance(raised, Retryable)
    assert raised.error.reason == "ncbi_unreachable"


def test_an_empty_error_element_is_not_an_error() -> None:
    assert is_complete(make_call("espell"), b"<eSpellResult><Query>x</Query><CorrectedQuery/><ERROR/></eSpellResult>")


def test_the_word_error_in_an_abstract_is_data() -> None:
    for text in (
        b"&lt;ERROR&gt; was seen",
        b"ERROR rates",
        b"<i>ERROR</i> 500 Server Error",
        b"<b><ERROR>odd</ERROR></b>",
    ):
        assert is_complete(make_call("efetch"), ARTICLES % text)


def test_lower_case_error_elements_are_data() -> None:
    pmc = b'<pmc-articleset><error id="1" code="404">not open access</error><article/></pmc-articleset>'
    summary = (
        b'<eSummaryResult><DocumentSummarySet status="OK"><DocumentSummary uid="9"><error>cannot get document summary'
        b"</error></DocumentSummary></DocumentSummarySet></eSummaryResult>"
    )
    assert is_complete(make_call("efetch", Expect("xml"), db="pmc"), pmc)
    assert is_complete(make_call("esummary"), summary)


def test_unknown_ids_of_esummary_do_not_fail_the_others() -> None:
    error = b"<ERROR>UID=99: cannot get document summary</ERROR>"
    mixed = b"<eSummaryResult>%b<DocSum><Id>1</Id></DocSum></eSummaryResult>" % error
    alone = b"<eSummaryResult>%b</eSummaryResult>" % error

    assert is_complete(make_call("esummary"), mixed)
    get_doubtful_error(get_refusal(make_call("esummary", id="99"), alone), EntityNotFound)


@pytest.mark.parametrize(
    "text",
    ["Empty id list; no uids", "Empty result - nothing to do", "Supplied id parameter is empty.",
     "ID list is empty! Possibly it has no correct IDs.",
     "UID=999999999999: cannot get document summary", "Invalid uid abc at position= 0"],
)  # fmt: skip
@pytest.mark.parametrize("status", [200, 400])
def test_an_error_about_ids_is_accepted_after_a_second_request(text: str, status: int) -> None:
    requested = make_call("efetch", id="abc,999999999999")
    get_doubtful_error(get_refusal(requested, write_error_document("eFetchResult", text), status), EntityNotFound)


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
def test_an_error_about_text_that_was_not_sent_is_not_invalid_input(
    endpoint: str, params: dict[str, str], text: str, status: int
) -> None:
    root = ROOTS.get(endpoint, "eFetchResult")
    raised = get_refusal(make_call(endpoint, **params), write_error_document(root, text), status)

    assert isinstance(raised, Retryable)
    assert type(raised.error) is UpstreamError
    assert raised.at_most is None
    assert text in raised.error.message


def test_an_error_of_einfo_without_a_database_does_not_report_an_unknown_database() -> None:
    requested = Call("eutils", "einfo", "http://127.0.0.1/x", (), Expect("xml", frozenset({"eInfoResult"})))
    raised = get_refusal(requested, write_error_document("eInfoResult", "Can not retrieve DbInfo for db=None"))

    assert isinstance(raised, Retryable)
    assert "There is no" not in raised.error.message


@pytest.mark.parametrize(
    ("endpoint", "params", "text", "named"),
    [
        ("efetch", {"id": "1", "rettype": "nonsense"}, "Unsupported rettype: nonsense", "rettype"),
        ("efetch", {"id": "1", "rettype": "nonsense"}, "Invalid value 'nonsense'", "rettype"),
        ("efetch", {"id": "1", "rettype": "fasta", "retmode": "foo"}, "Unknown retmode 'foo'", "retmode"),
        ("elink", {"id": "1", "linkname": "a_b"}, "Unknown linkname a_b", "linkname"),
        ("esearch", {"term": "x", "mindate": "20", "maxdate": "30"}, "Invalid date", "maxdate and mindate"),
        ("esearch", {"term": "x", "sort": "bogus"}, "Unknown sort value", "sort"),
    ],
)
def test_an_error_about_a_sent_argument_names_that_argument(
    endpoint: str, params: dict[str, str], text: str, named: str
) -> None:
    raised = get_refusal(
        make_call(endpoint, **params), write_error_document(ROOTS.get(endpoint, "eFetchResult"), text), 400
    )
    first = named.split()[0]

    assert isinstance(raised, InvalidInput)
    assert raised.message == f"NCBI refused {named} of {endpoint}: {text}"
    assert raised.recovery_hint == f"Correct {named}."
    assert raised.invalid_input == f"{first}={params[first]}"


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
def test_backend_failures_are_requested_again(text: str, status: int) -> None:
    raised = get_refusal(make_call("esearch", term="x"), write_error_document("eSearchResult", text), status)

    assert isinstance(raised, Retryable)
    assert isinstance(raised.error, UpstreamError)


def test_a_blank_query_is_invalid_input() -> None:
    for term in ("", "()", '""', "[Title]"):
        requested = make_call("esearch", term=term)
        raised = get_refusal(
            requested, write_error_document("eSearchResult", "Empty term and query_key - nothing todo")
        )

        assert isinstance(raised, InvalidInput)
        assert raised.reason == "blank_query"


@pytest.mark.parametrize("text", ["Invalid db name specified: nosuch", "Database is not supported: nosuch"])
def test_an_unknown_database_is_invalid_input(text: str) -> None:
    raised = get_refusal(make_call("esearch", db="nosuch", term="x"), write_error_document("eSearchResult", text))

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
def test_an_expired_history_advises_to_search_again(text: str) -> None:
    raised = get_refusal(make_call("efetch", query_key="1", WebEnv="x"), write_error_document("eFetchResult", text))

    error = get_doubtful_error(raised, InvalidInput)
    assert error.reason == "history_unknown"
    assert "Search again" in error.recovery_hint


@pytest.mark.parametrize("status", [200, 400, 403])
def test_an_invalid_key_is_a_configuration_error(status: int) -> None:
    body = b'{"error":"API key invalid","api-key":"secret-key-of-mine","count":"3","limit":"3"}'
    raised = get_refusal(make_call("esearch", term="x"), body, status, ("api_key", "tool"))

    assert isinstance(raised, NotConfigured)
    assert "NCBI_API_KEY" in raised.message
    assert "secret-key" not in json.dumps(raised.envelope())


@pytest.mark.parametrize("status", [200, 429])
@pytest.mark.parametrize("expect", [Expect("xml", PUBMED_ROOTS), Expect("json", frozenset({"result"})), Expect("text")])
def test_the_body_of_a_rate_limit_is_a_rate_limit_for_any_request(status: int, expect: Expect) -> None:
    body = b'{"error":"API rate limit exceeded","api-key":"secret-key-of-mine","count":"17","limit":"3"}'
    raised = get_refusal(make_call("efetch", expect), body, status, **{"Retry-After": "2"})

    assert isinstance(raised, Retryable)
    assert isinstance(raised.error, RateLimited)
    assert raised.wait == 2
    assert "NCBI_API_KEY" in raised.error.recovery_hint
    assert "secret-key" not in str(raised)


def test_a_rate_limit_names_the_quota_that_was_used() -> None:
    raised = get_refusal(make_call("esearch"), b"", 429)

    assert isinstance(raised, Retryable)
    assert "network address, which other programs" in raised.error.message


def test_europe_pmcs_error_about_an_argument_is_invalid_input_only_if_it_was_sent() -> None:
    def get_raised(words: str, **params: str) -> EntrezKitError | Retryable:
        requested = Call(
            "europepmc", "search", "http://127.0.0.1/x", tuple(params.items()), Expect("json", frozenset({"hitCount"}))
        )
        return get_refusal(requested, json.dumps({"errCode": 404, "errMsg": words}).encode())

    for words, params in [
        ("memory limit exceeded for query", {"query": "(asthma OR copd)"}),
        ("Invalid query syntax", {"query": "asthma treatment"}),
        ("The cursorMark value is not valid", {"query": "x", "cursorMark": "*"}),
        ("Unknown sort field FOO", {"query": "x"}),
        ("The query took too many resources", {"query": "(x)"}),
    ]:
        found = get_raised(words, **params)
        assert isinstance(found, Retryable), words
        assert found.error.exit_code == 5
    for words, params in [
        ("Invalid query syntax", {"query": "(asthma AND"}),
        ("The cursorMark value is not valid", {"query": "x", "cursorMark": "AoE"}),
        ("Unknown sort field FOO", {"query": "x", "sort": "FOO asc"}),
    ]:
        assert isinstance(get_raised(words, **params), InvalidInput), words


# Statuses


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_server_errors_and_their_pages_are_requested_again(status: int) -> None:
    body = b"<html><head><title>NCBI/eutils202 - WWW Error 500 Diagnostic</title></head></html>"
    raised = get_refusal(make_call("esearch"), body, status)

    assert isinstance(raised, Retryable)
    assert raised.error.details["status"] == status
    assert "WWW Error 500" in raised.error.message


@pytest.mark.parametrize(
    "body", [b"", b"<html><title>Bad Request</title></html>", b"<eFetchResult><ERROR>Read backend"]
)
def test_a_400_without_an_explanation_is_requested_again(body: bytes) -> None:
    assert isinstance(get_refusal(make_call("efetch"), body, 400), Retryable)


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (400, b'{"status":"error","message":"Mixed id types"}', "Mixed id types"),
        (422, b'{"detail":[{"loc":["query","ids"],"msg":"these ids are not valid"}]}', "ids are not valid"),
        (422, b'{"detail":"no such type of id"}', "no such type of id"),
    ],
)
def test_refusals_of_other_services_are_invalid_input_with_their_text(status: int, body: bytes, said: str) -> None:
    requested = Call("idconv", "idconv", "http://127.0.0.1/x", (("ids", "1"),), Expect("json", frozenset({"records"})))
    raised = get_refusal(requested, body, status)

    assert isinstance(raised, InvalidInput)
    assert said in raised.message


@pytest.mark.parametrize("body", [b"", b'{"detail":"field required"}', b'{"message":"memory limit exceeded"}'])
def test_a_refusal_that_names_no_part_of_the_request_is_requested_again(body: bytes) -> None:
    requested = Call("idconv", "idconv", "http://127.0.0.1/x", (("ids", "1"),), Expect("json", frozenset({"records"})))
    raised = get_refusal(requested, body, 422)

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
    raised = get_refusal(make_call("esearch"), b"<html><title>no</title></html>", status)

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
def test_a_new_required_parameter_of_a_service_is_named(words: str, parameter: str, status: int) -> None:
    raised = get_refusal(make_call("esearch", term="x"), write_error_document("eSearchResult", words), status)

    error = get_doubtful_error(raised, UpstreamError)
    assert (error.reason, error.details["parameter"]) == ("new_parameter", parameter)


@pytest.mark.parametrize(
    "words", ["Missing required parameter: term", "db is required", "A valid term is required", "this is required"]
)
def test_a_parameter_that_was_sent_is_not_reported_as_new(words: str) -> None:
    raised = get_refusal(make_call("esearch", term="x"), write_error_document("eSearchResult", words))

    error = raised.error if isinstance(raised, Retryable) else raised
    assert error.reason != "new_parameter"


@pytest.mark.parametrize("status", [201, 204, 206])
def test_other_success_statuses_are_not_an_answer(status: int) -> None:
    assert isinstance(get_refusal(make_call("esearch"), b"", status), Retryable)


def test_the_title_of_a_record_is_not_the_text_of_an_error() -> None:
    body = b"<?xml version='1.0'?><eSummaryResult><DocSum><Title>Asthma</Title></DocSum></eSummaryResult>"
    raised = get_refusal(make_call("esummary"), body, 206)

    assert isinstance(raised, Retryable)
    assert "Asthma" not in raised.error.message


def test_a_request_that_is_too_long_is_invalid_input() -> None:
    raised = get_refusal(make_call("esearch", term="x" * 3000), b"", 414)

    assert isinstance(raised, InvalidInput)
    assert raised.reason == "request_too_long"
    assert isinstance(get_refusal(make_call("esearch", term="x"), b"", 414), Retryable)


def test_404_for_a_missing_record_is_final() -> None:
    requested = Call("europepmc", "fulltext", "http://127.0.0.1/x", (), Expect("xml"))

    assert isinstance(get_refusal(requested, b"", 404), EntityNotFound)


def test_texts_of_a_service_are_shown_without_control_characters() -> None:
    raised = get_refusal(make_call("esearch"), b'{"error":"bad \\u001b[31m thing \\n here ' + b"x" * 1000 + b'"}')

    assert isinstance(raised, Retryable)
    assert raised.error.message.isprintable()
    assert len(raised.error.message) < 500


# Completeness


def test_a_reply_without_a_requested_record_is_incomplete() -> None:
    requested = make_call("efetch", Expect("xml", PUBMED_ROOTS, 2, r"<Pubmed(Book)?Article[\s>]"))

    assert not is_complete(requested, ARTICLES % b"x")
    assert is_complete(
        make_call("efetch", Expect("xml", PUBMED_ROOTS, 1, r"<Pubmed(Book)?Article[\s>]")), ARTICLES % b"x"
    )


def test_many_concatenated_documents_take_linear_time() -> None:
    def measure_seconds(number: int) -> float:
        body = b"".join(b"<Set><Id>%d</Id></Set>\n" % count for count in range(number))
        start = time.thread_time()
        assert is_complete(make_call("efetch", Expect("xml")), body)
        return time.thread_time() - start

    few = min(measure_seconds(2_000) for _ in range(3))
    assert measure_seconds(20_000) < 30 * few
