"""The nine E-utilities: the requests they send."""

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import responses
from Bio import Entrez
from pydantic import SecretStr

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.settings import Settings
from entrez_kit.services.eutils import EUtils
from entrez_kit.services.id_converter import IdConverter
from entrez_kit.services.transport import Reply
from entrez_kit.services.transport.client import Transport

BASE = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
KEY = "canary0123456789abcdef0123456789abcd"
BODIES = {
    "einfo": b"<eInfoResult><DbList><DbName>pubmed</DbName></DbList></eInfoResult>",
    "esearch": b"<eSearchResult><Count>0</Count></eSearchResult>",
    "esummary": b"<eSummaryResult><DocumentSummarySet>",
    "efetch": b"<PubmedArticleSet>",
    "elink": b"<eLinkResult><LinkSet></LinkSet></eLinkResult>",
    "epost": b"<ePostResult><QueryKey>1</QueryKey><WebEnv>MCID_692851c130aec64b</WebEnv></ePostResult>",
    "espell": b"<eSpellResult><Query>astma</Query></eSpellResult>",
    "egquery": b"<Result><eGQueryResult></eGQueryResult></Result>",
    "ecitmatch": b"j|2000|1|2|a|k|11\n",
}
JSON_BODIES = {
    "einfo": b'{"einforesult":{"dblist":["pubmed"]}}',
    "esearch": b'{"esearchresult":{"count":"0","idlist":[]}}',
    "esummary": b'{"result":{"uids":["1"],"1":{"uid":"1","title":"T"}}}',
    "elink": b'{"linksets":[]}',
}

Ask = Callable[[EUtils], Reply]


def read_parameters(request: Any) -> dict[str, str]:
    """Return the parameters of a request."""
    return dict(parse_qsl(request.body.decode() if request.body else urlsplit(request.url).query))


def read_ids(request: Any) -> list[str]:
    """Return the different ids of a request; of a result set one."""
    return list(dict.fromkeys(read_parameters(request).get("id", "1").split(",")))


def summarize(request: Any) -> tuple[int, dict[str, str], bytes]:
    """Answer with a summary of every requested id; of a result set with one."""
    summaries = "".join(f'<DocumentSummary uid="{uid}"><Title>T</Title></DocumentSummary>' for uid in read_ids(request))
    return 200, {}, BODIES["esummary"] + summaries.encode() + b"</DocumentSummarySet></eSummaryResult>"


def fetch(request: Any) -> tuple[int, dict[str, str], bytes]:
    """Answer with a record of every requested id; of a result set with one."""
    form = "<PubmedArticle><MedlineCitation><PMID>{}</PMID></MedlineCitation></PubmedArticle>"
    return 200, {}, BODIES["efetch"] + "".join(map(form.format, read_ids(request))).encode() + b"</PubmedArticleSet>"


def match(request: Any) -> tuple[int, dict[str, str], bytes]:
    """Answer with a line for every citation."""
    return 200, {}, BODIES["ecitmatch"] * len(read_parameters(request)["bdata"].splitlines())


class NoLimiter:
    """Grants every request."""

    def acquire(self, deadline: float | None = None) -> None:
        """Do nothing."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with a separate cache and without a key."""
    return Settings(cache_dir=tmp_path / "cache", state_dir=tmp_path / "state", ncbi_tool_identifier="kit/1")


@pytest.fixture
def ncbi_mock() -> Iterator[responses.RequestsMock]:
    """Replace NCBI."""
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        for endpoint, body in BODIES.items():
            for method in ("GET", "POST"):
                address = f"{BASE}/{endpoint}.{'cgi' if endpoint == 'ecitmatch' else 'fcgi'}"
                if callback := {"esummary": summarize, "efetch": fetch, "ecitmatch": match}.get(endpoint):
                    mock.add_callback(method, address, callback=callback, content_type="text/xml")
                else:
                    mock.add(method, address, body=body, content_type="text/xml")
        yield mock


def send_request(settings: Settings, question: Ask) -> Reply:
    """Send one request."""
    transport = Transport(settings, limiters=lambda _settings, _service: NoLimiter())
    try:
        return question(EUtils(transport, settings))
    finally:
        transport.close()


def get_sent(net: responses.RequestsMock) -> tuple[str, str, list[tuple[str, str]]]:
    """Return method, address and parameters of the only request."""
    [call] = net.calls
    url = urlsplit(str(call.request.url))
    body = call.request.body or b""
    query = body.decode() if isinstance(body, bytes) else str(body)
    pairs = parse_qsl("&".join(part for part in (url.query, query) if part), keep_blank_values=True)
    return str(call.request.method), f"{url.scheme}://{url.netloc}{url.path}", [p for p in pairs if p[0] != "tool"]


@pytest.mark.parametrize(
    ("question", "endpoint", "params"),
    [
        (lambda e: e.einfo(), "einfo.fcgi", "retmode=xml"),
        (lambda e: e.einfo(db="pubmed"), "einfo.fcgi", "db=pubmed&version=2.0&retmode=xml"),
        (
            lambda e: e.esearch(db="pubmed", term="p53 AND (a OR b)[ti]"),
            "esearch.fcgi",
            "db=pubmed&term=p53+AND+%28a+OR+b%29%5Bti%5D&retmax=20&retstart=0&retmode=xml",
        ),
        (
            lambda e: e.esearch(
                db="pubmed", term="é+&=#", retmax=5, retstart=10, sort="pub_date", datetype="edat", mindate="2020",
                maxdate="3000", field="title", rettype="count", idtype="acc",
            ),
            "esearch.fcgi",
            "db=pubmed&term=%C3%A9%2B%26%3D%23&retmax=5&retstart=10&sort=pub_date&datetype=edat&mindate=2020"
            "&maxdate=3000&field=title&rettype=count&retmode=xml&idtype=acc",
        ),
        (
            lambda e: e.esearch(db="pubmed", term="#1", retmax=0, usehistory=True, webenv="MCID_1", query_key="1"),
            "esearch.fcgi",
            "db=pubmed&term=%231&retmax=0&retstart=0&usehistory=y&WebEnv=MCID_1&query_key=1&retmode=xml",
        ),
        (
            lambda e: e.esearch(db="PubMed", term="x", reldate=30, datetype="pdat"),
            "esearch.fcgi",
            "db=pubmed&term=x&retmax=20&retstart=0&datetype=pdat&reldate=30&retmode=xml",
        ),
        (
            lambda e: e.esummary(db="gene", ids=["7157", "672"]),
            "esummary.fcgi",
            "db=gene&id=7157%2C672&version=2.0&retmode=xml",
        ),
        (lambda e: e.esummary(db="mesh", ids=["1"], version="1.0"), "esummary.fcgi", "db=mesh&id=1&retmode=xml"),
        (
            lambda e: e.esummary(db="pubmed", webenv="W_1", query_key="2", retstart=0, retmax=50),
            "esummary.fcgi",
            "db=pubmed&WebEnv=W_1&query_key=2&retstart=0&retmax=50&version=2.0&retmode=xml",
        ),
        (
            lambda e: e.efetch(db="pubmed", ids=["1", "2"], retmode="xml"),
            "efetch.fcgi",
            "db=pubmed&id=1%2C2&retmode=xml",
        ),
        (
            lambda e: e.efetch(db="pubmed", webenv="W", query_key="1", retstart=200, retmax=100, retmode="xml"),
            "efetch.fcgi",
            "db=pubmed&WebEnv=W&query_key=1&retstart=200&retmax=100&retmode=xml",
        ),
        (
            lambda e: e.elink(dbfrom="pubmed", db="gene", ids=["1", "2", "3"], linkname="pubmed_gene"),
            "elink.fcgi",
            "dbfrom=pubmed&db=gene&cmd=neighbor&linkname=pubmed_gene&id=1&id=2&id=3&retmode=xml",
        ),
        (lambda e: e.espell(term="astma"), "espell.fcgi", "db=pubmed&term=astma"),
        (lambda e: e.egquery(term="asthma"), "egquery.fcgi", "term=asthma"),
        (
            lambda e: e.ecitmatch(bdata="proc natl acad sci u s a|1991|88|3248|mann bj|Art1|\rscience|1987|235|182|||"),
            "ecitmatch.cgi",
            "retmode=xml&db=pubmed&bdata=proc+natl+acad+sci+u+s+a%7C1991%7C88%7C3248%7Cmann+bj%7CArt1%7C%0Dscience%7C1987"
            "%7C235%7C182%7C%7C%7C",
        ),
    ],
)  # fmt: skip
def test_a_short_request_is_a_get_with_exactly_these_parameters(
    question: Ask, endpoint: str, params: str, ncbi_mock: responses.RequestsMock, settings: Settings
) -> None:
    reply = send_request(settings, question)

    method, address, pairs = get_sent(ncbi_mock)
    assert (method, address) == ("GET", f"{BASE}/{endpoint}")
    assert pairs == parse_qsl(params, keep_blank_values=True)
    assert reply.method == "GET"
    assert reply.url == f"{BASE}/{endpoint}?{params.replace('%7C', '|')}"
    assert reply.content.startswith(BODIES[endpoint.partition(".")[0]])


@pytest.mark.parametrize("endpoint", JSON_BODIES)
def test_documents_can_be_requested_as_json(endpoint: str, settings: Settings) -> None:
    questions: dict[str, Ask] = {
        "einfo": lambda e: e.einfo(retmode="json"),
        "esearch": lambda e: e.esearch(db="pubmed", term="x", retmode="json"),
        "esummary": lambda e: e.esummary(db="pubmed", ids=["1"], retmode="json"),
        "elink": lambda e: e.elink(dbfrom="pubmed", ids=["1"], retmode="json"),
    }
    with responses.RequestsMock() as net:
        net.add("GET", f"{BASE}/{endpoint}.fcgi", body=JSON_BODIES[endpoint], content_type="application/json")
        assert send_request(settings, questions[endpoint]).content == JSON_BODIES[endpoint]


def test_every_request_has_the_known_email_and_tool(ncbi_mock: responses.RequestsMock, settings: Settings) -> None:
    known = replace(settings, ncbi_api_key=SecretStr(KEY), ncbi_admin_email=SecretStr("me@example.org"))
    reply = send_request(known, lambda e: e.einfo())

    query = str(ncbi_mock.calls[0].request.url)
    assert f"api_key={KEY}" in query
    assert "email=me%40example.org" in query
    assert "tool=kit%2F1" in query
    assert KEY not in reply.url
    assert "example.org" not in reply.url


@pytest.mark.parametrize(
    ("question", "method"),
    [
        (lambda e: e.efetch(db="pubmed", ids=[str(n) for n in range(1, 101)], retmode="xml"), "GET"),
        (lambda e: e.efetch(db="pubmed", ids=[str(n) for n in range(1, 102)], retmode="xml"), "POST"),
        (lambda e: e.elink(dbfrom="pubmed", ids=[str(n) for n in range(1, 102)]), "POST"),
        (lambda e: e.esummary(db="pubmed", ids=["12345678901234567890" * 5] * 25), "POST"),
        (lambda e: e.esearch(db="pubmed", term="x" * 1500), "GET"),
        (lambda e: e.esearch(db="pubmed", term="x" * 2000), "POST"),
        (lambda e: e.ecitmatch(bdata="\r".join(["a journal|2000|1|2|an author|k|"] * 50)), "POST"),
        (lambda e: e.epost(db="pubmed", ids=["1"]), "POST"),
    ],
)
def test_long_requests_use_post(
    question: Ask, method: str, ncbi_mock: responses.RequestsMock, settings: Settings
) -> None:
    reply = send_request(settings, question)

    assert get_sent(ncbi_mock)[0] == reply.method == method
    assert len(str(ncbi_mock.calls[0].request.url)) <= 2000
    if method == "POST":
        assert "?" not in str(ncbi_mock.calls[0].request.url)
        assert "?" not in reply.url


def test_the_key_counts_for_the_length_of_an_address(ncbi_mock: responses.RequestsMock, settings: Settings) -> None:
    for length in range(1800, 2000, 7):
        known = replace(settings, ncbi_api_key=SecretStr(KEY), no_cache=True)
        send_request(known, lambda e, length=length: e.esearch(db="pubmed", term="x" * length))  # type: ignore[misc]
    assert all(len(str(call.request.url)) <= 2000 for call in ncbi_mock.calls)
    assert {call.request.method for call in ncbi_mock.calls} == {"GET", "POST"}


def test_a_post_request_is_cached_too(ncbi_mock: responses.RequestsMock, settings: Settings) -> None:
    def send_long_request(eutils: EUtils) -> Reply:
        return eutils.esearch(db="pubmed", term="x" * 3000)

    assert not send_request(settings, send_long_request).from_cache
    assert send_request(settings, send_long_request).from_cache
    assert len(ncbi_mock.calls) == 1


def test_epost_sends_its_ids_in_one_parameter(ncbi_mock: responses.RequestsMock, settings: Settings) -> None:
    send_request(settings, lambda e: e.epost(db="pubmed", ids=["1", "2"], webenv="MCID_1"))

    assert get_sent(ncbi_mock)[2] == [("db", "pubmed"), ("id", "1,2"), ("WebEnv", "MCID_1")]


def test_the_lines_of_ecitmatch_are_sent_unchanged(ncbi_mock: responses.RequestsMock, settings: Settings) -> None:
    bdata = "jama|2000|1|2|o'neil é|k 1|\rnature||||x|k2|"
    send_request(settings, lambda e: e.ecitmatch(bdata=bdata))

    assert dict(get_sent(ncbi_mock)[2])["bdata"] == bdata


def test_base_addresses_can_be_changed(settings: Settings) -> None:
    mirror = replace(settings, eutils_url="https://mirror.example.org/a/entrez/eutils", ncbi_api_key=SecretStr(KEY))
    with responses.RequestsMock() as net:
        net.add("GET", "https://mirror.example.org/a/entrez/eutils/einfo.fcgi", body=BODIES["einfo"])
        send_request(mirror, lambda e: e.einfo())
        query = urlsplit(str(net.calls[0].request.url)).query
    assert query == "retmode=xml"


@pytest.mark.parametrize(
    ("question", "field"),
    [
        (lambda e: e.esearch(db="pubmed", term="  "), "term"),
        (lambda e: e.esearch(db="pubmed", term="x", mindate="2000"), "maxdate"),
        (lambda e: e.esearch(db="pubmed", term="x", maxdate="2000"), "mindate"),
        (lambda e: e.elink(dbfrom="pubmed", ids=["1"], mindate="2000"), "maxdate"),
        (lambda e: e.esearch(db="pubmed", term="x", retstart=-1), "retstart"),
        (lambda e: e.esearch(db="pub med", term="x"), "db"),
        (lambda e: e.esearch(db="pubmed", term="x", retmode="yaml"), "retmode"),
        (lambda e: e.efetch(db="pubmed"), "id"),
        (lambda e: e.efetch(db="pubmed", ids=[]), "id"),
        (lambda e: e.efetch(db="pubmed", ids="123"), "id"),
        (lambda e: e.efetch(db="pubmed", ids=["1", " "]), "id"),
        (lambda e: e.efetch(db="pubmed", ids=["1,2"]), "id"),
        (lambda e: e.efetch(db="pubmed", ids=["1&db=gene"]), "id"),
        (lambda e: e.efetch(db="pubmed", webenv="W"), "query_key"),
        (lambda e: e.efetch(db="pubmed", query_key="1"), "webenv"),
        (lambda e: e.efetch(db="pubmed", ids=["1"], webenv="W", query_key="1"), "id"),
        (lambda e: e.efetch(db="pubmed", ids=["1"], retmax=10_001), "retmax"),
        (lambda e: e.elink(dbfrom="", ids=["1"]), "dbfrom"),
        (lambda e: e.epost(db="pubmed", ids=[]), "id"),
        (lambda e: e.espell(term=""), "term"),
        (lambda e: e.ecitmatch(bdata=" "), "bdata"),
    ],
)
def test_invalid_arguments_are_rejected_before_any_request(
    question: Ask, field: str, ncbi_mock: responses.RequestsMock, settings: Settings
) -> None:
    with pytest.raises(InvalidInput) as caught:
        send_request(settings, question)

    assert (caught.value.invalid_input or "").startswith(f"{field}=")
    assert len(ncbi_mock.calls) == 0


# Other users of Bio.Entrez


def test_the_globals_of_bio_entrez_are_neither_used_nor_changed(
    ncbi_mock: responses.RequestsMock, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Entrez, "email", "someone.else@example.org")
    monkeypatch.setattr(Entrez, "api_key", "key of someone else")
    monkeypatch.setattr(Entrez, "tool", "another tool")
    before = {name: value for name, value in vars(Entrez).items() if not name.startswith("__")}
    previous = vars(Entrez._open).copy()
    send_request(settings, lambda e: e.esearch(db="pubmed", term="x"))

    url = str(ncbi_mock.calls[0].request.url)
    assert "someone" not in url
    assert "another" not in url
    assert "email=" not in url
    assert {name: value for name, value in vars(Entrez).items() if not name.startswith("__")} == before
    assert vars(Entrez._open) == previous


def test_a_missing_email_causes_no_warning_of_biopython(ncbi_mock: responses.RequestsMock, settings: Settings) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        send_request(settings, lambda e: e.esearch(db="pubmed", term="x"))


# The ID Converter


def request_conversion(settings: Settings, *args: Any, **kwargs: Any) -> Reply:
    """Ask the ID Converter."""
    transport = Transport(settings, limiters=lambda _settings, _service: NoLimiter())
    try:
        return IdConverter(transport, settings).convert(*args, **kwargs)
    finally:
        transport.close()


def test_the_id_converter_gets_no_key(settings: Settings) -> None:
    known = replace(settings, ncbi_api_key=SecretStr(KEY), ncbi_admin_email=SecretStr("me@example.org"))
    with responses.RequestsMock() as net:
        net.add("GET", f"{settings.idconv_url}/", body=b'{"status":"ok","records":[]}')
        reply = request_conversion(known, ["PMC1", "PMC2"], idtype="pmcid")
        url = str(net.calls[0].request.url)

    assert reply.url == f"{settings.idconv_url}/?format=json&ids=PMC1,PMC2&idtype=pmcid"
    assert url == f"{reply.url}&tool=kit%2F1&email=me%40example.org"


@pytest.mark.parametrize("ids", [[], ["1"] * 201, ["1", ""], ["1 2"]])
def test_invalid_arguments_of_the_id_converter_are_rejected(ids: list[str], settings: Settings) -> None:
    with pytest.raises(InvalidInput):
        request_conversion(settings, ids)
    with pytest.raises(InvalidInput):
        request_conversion(settings, ["1"], idtype="isbn")


# Costs


@pytest.mark.process
def test_a_cached_reply_needs_no_limiter(ncbi_mock: responses.RequestsMock, settings: Settings) -> None:
    send_request(settings, lambda e: e.esearch(db="pubmed", term="x"))
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from entrez_kit.base.settings import Settings\n"
        "from entrez_kit.services.eutils import EUtils\n"
        "from entrez_kit.services.transport.client import Transport\n"
        "settings = Settings(cache_dir=Path(sys.argv[1]), state_dir=Path(sys.argv[1]) / 'state')\n"
        "transport = Transport(settings)\n"
        "assert EUtils(transport, settings).esearch(db='pubmed', term='x').from_cache\n"
        "transport.close()\n"
        "print(sorted({'pyrate_limiter', 'filelock', 'stamina', 'mcp', 'rich'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(settings.cache_dir)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[]", "")


@pytest.mark.process
def test_importing_the_package_imports_no_http_library() -> None:
    program = (
        "import sys, entrez_kit, entrez_kit.base.settings, entrez_kit.services, entrez_kit.services.transport.cache\n"
        "print({'requests', 'Bio'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, encoding="utf-8", check=True)

    assert done.stdout.strip() == "set()"


def test_the_private_function_of_biopython_that_builds_requests_is_unchanged() -> None:
    import inspect

    from Bio.Entrez import _build_request

    assert list(inspect.signature(_build_request).parameters) == ["cgi", "params", "post", "ecitmatch", "join_ids"]
