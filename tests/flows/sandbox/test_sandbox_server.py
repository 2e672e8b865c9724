"""The sandbox as a server: the rate limit, faults, invalid requests, its log, and a clean end."""

import http.client
import json
import socket
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import requests
from limiter_threads import wait_until
from sandbox_records import Client, serve, write_records

from entrez_kit.base.errors import InvalidInput
from entrez_kit.local.eutils.database import Database, FetchCall, SearchCall, SearchOutcome
from entrez_kit.local.eutils.listener import Listener
from entrez_kit.local.eutils.replies import Items, LocalReply, answer_text
from entrez_kit.query.fields import Field
from entrez_kit.sandbox.faults import FaultPlan
from entrez_kit.sandbox.limits import RateRule
from entrez_kit.sandbox.server import Sandbox, parse_faults


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_records(tmp_path_factory.mktemp("records"))


@pytest.fixture
def client(path: Path) -> Iterator[Client]:
    with serve(corpus=[path]) as client:
        yield client


# the rate rule


def test_the_fourth_request_in_a_second_is_refused_with_ncbis_words(path: Path) -> None:
    with Sandbox(corpus=[path]) as sandbox:
        client = Client(sandbox)
        answers = [client.get("esearch", db="pubmed", term="asthma") for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    refused = answers[3]
    assert refused.headers["Content-Type"].startswith("application/json")
    assert refused.json() == {"error": "API rate limit exceeded", "api-key": "127.0.0.1", "count": "4", "limit": "3"}
    assert (refused.headers["X-RateLimit-Limit"], refused.headers["X-RateLimit-Remaining"]) == ("3", "0")
    assert int(refused.headers["Retry-After"]) == 1
    assert [answer.headers["X-RateLimit-Remaining"] for answer in answers[:3]] == ["2", "1", "0"]


def test_a_key_raises_the_limit_to_ten_and_is_counted_separately(path: Path) -> None:
    with Sandbox(corpus=[path]) as sandbox:
        client = Client(sandbox)
        keyed = [client.get("esearch", db="pubmed", term="asthma", api_key="k").status_code for _ in range(11)]
        other = client.get("esearch", db="pubmed", term="asthma", api_key="other").status_code
        keyless = client.get("esearch", db="pubmed", term="asthma").status_code

    assert keyed == [200] * 10 + [429]
    assert (other, keyless) == (200, 200)


def test_the_limit_applies_to_every_second_and_refused_requests_do_not_count() -> None:
    rule = RateRule()

    allowed = [
        rule.judge(at, "here", None).allowed for at in (0.0, 0.5, 0.9, 0.95, 0.999, 1.0, 1.4, 1.5, 1.6, 1.89, 1.91)
    ]

    assert allowed == [True, True, True, False, False, True, False, True, False, False, True]


def test_the_converter_has_no_rate_limit(path: Path) -> None:
    with Sandbox(corpus=[path]) as sandbox:
        answers = [requests.get(f"{sandbox.url}/idconv?ids=101&format=json", timeout=20) for _ in range(5)]

    assert {answer.status_code for answer in answers} == {200}


def test_an_invalid_key_is_a_bad_request(client: Client) -> None:
    answer = client.get("esearch", db="pubmed", term="asthma", api_key="invalid")

    assert answer.status_code == 400
    assert answer.json()["error"] == "API key invalid"


# faults


def test_faults_are_parsed_from_text() -> None:
    assert parse_faults("429=.05, 500=.02,truncate=0.5,") == {"429": 0.05, "500": 0.02, "truncate": 0.5}
    assert parse_faults("") == {}


@pytest.mark.parametrize("text", ["flood=.1", "429", "429=x", "429=2", "429=-.1", "429=nan", "429=.6,500=.6", "=1"])
def test_invalid_faults_are_rejected(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_faults(text)

    assert caught.value.recovery_hint.count("429=.05") == 1


def request_with_fault(client: Client, kind: str, endpoint: str = "efetch", **params: Any) -> requests.Response:
    client.sandbox.fail_next(kind, endpoint)
    return client.post(endpoint, **{"db": "pubmed", "id": "101,102", **params})


def test_truncated_bodies_are_complete_http_replies(client: Client) -> None:
    whole = client.post("efetch", db="pubmed", id="101,102").content
    answer = request_with_fault(client, "truncate")

    assert answer.status_code == 200
    assert int(answer.headers["Content-Length"]) == len(answer.content) < len(whole)
    assert whole.startswith(answer.content)
    with pytest.raises(ElementTree.ParseError):
        ElementTree.fromstring(answer.content)


def test_html_is_sent_with_200_and_500(client: Client) -> None:
    page, diagnostic = request_with_fault(client, "html"), request_with_fault(client, "500")

    assert (page.status_code, diagnostic.status_code) == (200, 500)
    assert page.headers["Content-Type"].startswith("text/html")
    assert "WWW Error 500 Diagnostic" in diagnostic.text


def test_a_429_can_be_sent_without_a_reason(client: Client) -> None:
    answer = request_with_fault(client, "429", api_key="canary")

    assert answer.status_code == 429
    assert answer.json() == {"error": "API rate limit exceeded", "api-key": "canary", "count": "11", "limit": "10"}


@pytest.mark.parametrize("endpoint", ["efetch", "esearch", "esummary", "elink", "epost", "einfo", "espell"])
def test_backend_errors_are_sent_with_200_and_400(client: Client, endpoint: str) -> None:
    for kind, status in (("error200", 200), ("400", 400)):
        answer = request_with_fault(client, kind, endpoint, term="asthma", dbfrom="pubmed")
        assert answer.status_code == status
        assert ElementTree.fromstring(answer.content).find("ERROR") is not None


def test_backend_errors_are_sent_in_json_too(client: Client) -> None:
    search = request_with_fault(client, "error200", "esearch", term="asthma", retmode="json").json()
    summary = request_with_fault(client, "error200", "esummary", retmode="json").json()

    assert search["esearchresult"]["ERROR"].startswith("Search Backend failed")
    assert "result" not in summary
    assert summary["error"]


def test_cut_connections_end_before_the_promised_length(client: Client) -> None:
    for _ in range(8):
        with pytest.raises(requests.RequestException):
            request_with_fault(client, "cut")
    with pytest.raises(requests.ConnectionError):
        request_with_fault(client, "reset")
    assert client.post("efetch", db="pubmed", id="101").status_code == 200


def test_a_reply_can_consist_of_a_prolog_only(client: Client) -> None:
    assert request_with_fault(client, "prolog").text == '<?xml version="1.0" encoding="UTF-8" ?>\n'


def test_faults_have_the_requested_frequency_and_the_same_order_for_a_seed() -> None:
    probabilities = {"429": 0.05, "500": 0.02, "truncate": 0.05, "html": 0.1, "error200": 0.05, "cut": 0.02}
    plans = [FaultPlan(probabilities, seed=seed) for seed in (1, 1, 2)]
    drawn = [[plan.draw("efetch") for _ in range(10_000)] for plan in plans]
    kinds = [fault.kind for fault in drawn[0] if fault]

    assert drawn[0] == drawn[1] != drawn[2]
    for kind, probability in probabilities.items():
        assert plans[0].struck[kind] == kinds.count(kind)
        assert abs(plans[0].struck[kind] / 10_000 - probability) < 0.01


def test_the_faults_of_a_request_do_not_depend_on_the_order_of_the_requests() -> None:
    plans = [FaultPlan({"500": 0.3, "truncate": 0.3}, seed=1) for _ in range(2)]
    requests_of = [[(name, attempt) for attempt in range(50) for name in "abcdef"] for _ in plans]
    requests_of[1].sort()
    drawn = [
        {request: plan.draw("efetch", request[0]) for request in ordered}
        for plan, ordered in zip(plans, requests_of, strict=True)
    ]

    assert drawn[0] == drawn[1]
    assert len({fault.share for fault in drawn[0].values() if fault}) > 50


def test_the_number_of_consecutive_faults_of_a_request_is_limited() -> None:
    plan = FaultPlan({"500": 0.9}, most_in_a_row=3)
    drawn = {request: [plan.draw("efetch", request) for _ in range(1_000)] for request in ("a", "b")}

    for kinds in drawn.values():
        longest = max(len(run) for run in "".join("x" if kind else " " for kind in kinds).split())
        assert longest == 3
    plan.plan_next("429", times=5)  # planned faults are not chance
    planned = [plan.draw("efetch", "c") for _ in range(5)]
    assert [fault.kind for fault in planned if fault] == ["429"] * 5


def test_faults_apply_to_every_endpoint(path: Path) -> None:
    with serve(corpus=[path], faults={"html": 1.0}) as client:
        for endpoint in ("esearch", "esummary", "efetch", "elink", "epost", "espell", "egquery", "einfo", "ecitmatch"):
            assert client.get(endpoint, db="pubmed").text.startswith("<!DOCTYPE html"), endpoint
        assert requests.get(f"{client.sandbox.url}/idconv", timeout=20).text.startswith("<!DOCTYPE html")
        assert client.sandbox.faults.struck == {"html": 10}


def test_a_retired_endpoint_is_not_found(client: Client) -> None:
    client.sandbox.take_down("egquery")

    assert client.get("egquery", term="x").status_code == 404
    assert client.get("einfo").status_code == 200


def test_the_latency_is_waited_before_the_answer(path: Path) -> None:
    with serve(corpus=[path], latency_ms=120) as client:
        start = time.monotonic()
        client.get("einfo")
        assert time.monotonic() - start >= 0.12


# requests of all kinds


def test_long_get_requests_are_refused_and_post_requests_are_not(client: Client) -> None:
    long = "asthma OR " * 200 + "mice"
    few, many = ",".join(["101"] * 150), ",".join(["1"] * 201)

    assert client.get("esearch", db="pubmed", term=long).status_code == 414
    assert client.post("esearch", db="pubmed", term=long).status_code == 200
    assert client.get("efetch", db="pubmed", id=few).status_code == 200
    assert client.get("efetch", db="pubmed", id=many).status_code == 400
    assert client.post("efetch", db="pubmed", id=many).status_code == 200


def test_key_email_and_tool_do_not_count_for_the_length_of_a_get_request(client: Client) -> None:
    answer = client.get(
        "esearch", db="pubmed", term="asthma " * 200, api_key="k" * 300, email="e" * 300, tool="t" * 300
    )

    assert answer.status_code == 200


def send_raw(client: Client, data: bytes) -> bytes:
    with closing(socket.create_connection(("127.0.0.1", client.sandbox.port), timeout=10)) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
        return received


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET /entrez/eutils/esearch.fcgi?term=%zz%ff%00&db=pubmed HTTP/1.1\r\nHost: x\r\n\r\n", b"200"),
        (b"GET /entrez/eutils/esearch.fcgi?&&=&term HTTP/1.1\r\nHost: x\r\n\r\n", b"200"),
        (b"GET /nothing/here HTTP/1.1\r\nHost: x\r\n\r\n", b"404"),
        (b"GET http://[::1/entrez HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
        (b"POST /entrez/eutils/esearch.fcgi HTTP/1.1\r\nHost: x\r\n\r\n", b"411"),
        (b"POST /entrez/eutils/esearch.fcgi HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", b"400"),
        (b"POST /entrez/eutils/esearch.fcgi HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", b"413"),
        (
            b"POST /entrez/eutils/esearch.fcgi HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n\xff\xfe\x00=\xc3(",
            b"200",
        ),
        (b"DELETE /entrez/eutils/esearch.fcgi HTTP/1.1\r\nHost: x\r\n\r\n", b"501"),
        (b"nonsense\r\n\r\n", b"400"),
    ],
)
def test_malformed_requests_are_answered_and_cause_no_defect(client: Client, data: bytes, status: bytes) -> None:
    assert b" " + status in send_raw(client, data).split(b"\r\n", 1)[0] + b" " + status * (status == b"400")
    assert client.get("einfo").status_code == 200


def test_a_body_that_never_arrives_is_abandoned(client: Client) -> None:
    head = b"POST /entrez/eutils/esearch.fcgi HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nshort"

    assert send_raw(client, head) == b""


def test_connections_stay_open(client: Client) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", client.sandbox.port, timeout=10)) as connection:
        used = set()
        for _ in range(3):
            connection.request("GET", "/entrez/eutils/einfo.fcgi")
            response = connection.getresponse()
            response.read()
            used.add(id(connection.sock))
        assert response.version == 11
        assert len(used) == 1


def test_the_server_listens_only_on_loopback(client: Client) -> None:
    assert client.sandbox.url.startswith("http://127.0.0.1:")


def test_many_clients_are_served_at_once(client: Client) -> None:
    statuses: list[int] = []
    threads = [
        threading.Thread(target=lambda: statuses.append(client.post("esearch", db="pubmed", term="asthma").status_code))
        for _ in range(24)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert statuses == [200] * 24


# the log


def test_the_log_has_the_requests_but_no_secret(client: Client) -> None:
    before = time.monotonic()
    client.get("esearch", db="pubmed", term="asthma", api_key="canary-key", email="canary@example.org", tool="t")
    client.post("efetch", db="pubmed", id="101", API_KEY="canary-key")
    requests.get(f"{client.sandbox.url}/elsewhere", timeout=20)
    after = time.monotonic()

    first, second, third = client.sandbox.log
    assert (first.endpoint, first.method, first.status, first.keyed) == ("esearch", "GET", 200, True)
    assert first.params == (("db", "pubmed"), ("term", "asthma"), ("tool", "t"))
    assert first.get("term") == "asthma"
    assert (second.endpoint, second.method) == ("efetch", "POST")
    assert (third.endpoint, third.status) == ("/elsewhere", 404)
    assert before <= first.at <= second.at <= third.at <= after
    assert "canary" not in repr(list(client.sandbox.log))
    assert client.sandbox.requests("esearch") == 1
    assert client.sandbox.requests() == 3
    assert client.sandbox.entries("efetch") == [second]


def test_faults_are_in_the_log(client: Client) -> None:
    client.sandbox.fail_next("500")
    client.get("einfo")
    client.get("einfo")

    assert [(entry.fault, entry.status) for entry in client.sandbox.log] == [("500", 500), (None, 200)]


@pytest.mark.parametrize("name", ["esearch.fcgi", "esummry", "/elsewhere", ""])
def test_an_unknown_endpoint_is_refused_and_never_counted_as_zero(client: Client, name: str) -> None:
    sandbox = client.sandbox
    calls: list[Callable[[], object]] = [
        lambda: sandbox.requests(name),
        lambda: sandbox.entries(name),
        lambda: sandbox.fail_next("500", name),
        lambda: sandbox.take_down("efetch", name),
        lambda: sandbox.delay(name, 1),
    ]
    for call in calls:
        with pytest.raises(InvalidInput, match="endpoint must be one of: crossref, ecitmatch, efetch"):
            call()

    assert client.get("efetch", db="pubmed", id="101").status_code == 200


# starting and stopping


def test_no_thread_and_no_file_is_left_when_it_stops(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = threading.active_count()
    sandbox = Sandbox(corpus=[path]).start()
    port = sandbox.port
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", "/entrez/eutils/einfo.fcgi")
        connection.getresponse().read()
        assert threading.active_count() > before
        start = time.monotonic()
        sandbox.stop()  # with a connection open and idle
        assert time.monotonic() - start < 2
    sandbox.stop()

    assert threading.active_count() == before
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=5)
    assert capfd.readouterr() == ("", "")


def test_it_can_be_started_again(path: Path) -> None:
    sandbox = Sandbox(corpus=[path], enforce_limits=False)
    for _ in range(2):
        with sandbox:
            assert Client(sandbox).get("einfo").status_code == 200
    with pytest.raises(RuntimeError):
        _ = sandbox.url


def is_listening(sandbox: Sandbox) -> bool:
    """Return whether a sandbox has an address."""
    with suppress(RuntimeError):
        return bool(sandbox.url)
    return False


def test_serve_forever_ends_when_the_server_is_stopped(path: Path) -> None:
    sandbox = Sandbox(corpus=[path])
    thread = threading.Thread(target=sandbox.serve_forever)
    thread.start()
    wait_until(lambda: is_listening(sandbox))
    sandbox.stop()
    thread.join(5)

    assert not thread.is_alive()


def test_another_thread_sees_no_listener_before_it_has_started(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = Sandbox(corpus=[path])
    begin = Listener.start

    def begin_late(listener: Listener) -> None:
        with pytest.raises(RuntimeError, match="not running"):
            _ = sandbox.port
        sandbox.stop()
        begin(listener)

    monkeypatch.setattr(Listener, "start", begin_late)
    sandbox.serve_forever()

    with pytest.raises(RuntimeError, match="not running"):
        _ = sandbox.port


def test_a_port_in_use_is_invalid_input(client: Client) -> None:
    with pytest.raises(InvalidInput, match="port") as caught:
        Sandbox(port=client.sandbox.port).start()
    assert caught.value.invalid_input == f"port={client.sandbox.port}"


@pytest.mark.parametrize(
    "options",
    [
        {"corpus": [Path("/no/such/file.xml")]},
        {"records": -1},
        {"records": 10**9},
        {"records": 5, "corpus": [Path("x.xml")]},
        {"port": 70_000},
        {"latency_ms": -1},
        {"faults": {"flood": 0.1}},
    ],
)
def test_invalid_options_are_rejected(options: Mapping[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Sandbox(**options)


@pytest.mark.parametrize(
    "text", ["", "<PubmedArticleSet></PubmedArticleSet>", "<PubmedArticle><PMID>1</PMID><b></PubmedArticle>", "{}"]
)
def test_a_file_without_usable_records_is_rejected_by_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Sandbox(corpus=[write_records(tmp_path, text)])

    assert "sandbox_records.xml" in caught.value.message


def test_a_damaged_archive_and_an_empty_folder_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.xml.gz").write_bytes(b"this is not gzip")
    for place in ("empty", "bad.xml.gz"):
        with pytest.raises(InvalidInput):
            Sandbox(corpus=[tmp_path / place])


def test_the_demo_corpus_is_served_by_default() -> None:
    with serve() as client:
        found = client.search("all[sb]", retmax=100)

    assert int(found["count"]) >= 50
    assert all(99_000_001 <= int(pmid) < 99_100_001 for pmid in found["idlist"])


# settings and further databases


def test_settings_of_the_sandbox_have_its_address_and_separate_folders(client: Client, tmp_path: Path) -> None:
    settings = client.sandbox.settings(tmp_path, ncbi_api_key="canary", ncbi_max_retries=2)

    assert settings.eutils_url == f"{client.sandbox.url}/entrez/eutils"
    assert settings.idconv_url == f"{client.sandbox.url}/idconv"
    assert settings.ncbi_max_retries == 2
    assert settings.ncbi_api_key is not None
    assert settings.ncbi_api_key.get_secret_value() == "canary"
    assert "canary" not in repr(settings)
    for folder in (settings.cache_dir, settings.data_dir, settings.state_dir):
        assert folder.is_relative_to(tmp_path)


def test_settings_without_a_folder_use_a_temporary_one_that_is_removed(path: Path) -> None:
    with serve(corpus=[path]) as client:
        folder = client.sandbox.settings().cache_dir.parent.parent
        assert folder.is_dir()
    assert not folder.exists()


def test_an_unknown_setting_is_an_error_of_the_caller(client: Client) -> None:
    with pytest.raises(TypeError, match="no_such_setting"):
        client.sandbox.settings(no_such_setting=1)


class Flowers(Database):
    """A database of two flowers, like one that a later author could add."""

    name = "flowers"
    menu = "Flowers"
    description = "Flowers"

    @property
    def count(self) -> int:
        return 2

    def search(self, request: SearchCall) -> SearchOutcome:
        return SearchOutcome(ids=["1", "2"], translation=request.term)

    def build_summary(self, uid: str) -> Mapping[str, Any] | None:
        if uid not in ("1", "2"):
            return None
        return {
            "Name": f"flower {uid}",
            "Petals": 5,
            "Colours": Items("string", ["red", "blue"]),
            "Leaf": {"Form": "oval"},
        }

    def fetch(self, request: FetchCall) -> LocalReply:
        return answer_text(",".join(request.ids))

    def list_fields(self) -> tuple[tuple[Field, int], ...]:
        return ()


def test_another_database_needs_no_change_of_an_endpoint(client: Client) -> None:
    client.sandbox.register(Flowers())

    found = client.post("esearch", db="flowers", term="x", retmode="json", retmax=20_000).json()["esearchresult"]
    assert (found["count"], found["idlist"], "warninglist" in found) == ("2", ["1", "2"], False)
    summary = client.get("esummary", db="flowers", id="1,9", retmode="json").json()["result"]
    assert summary["1"] == {
        "uid": "1",
        "name": "flower 1",
        "petals": 5,
        "colours": ["red", "blue"],
        "leaf": {"form": "oval"},
    }
    old = client.xml("esummary", db="flowers", id="1")
    assert old.findtext("DocSum/Item[@Name='Petals']") == "5"
    assert client.get("efetch", db="flowers", id="2").text == "2"
    assert "flowers" in json.dumps(client.get("einfo", retmode="json").json())
    assert client.xml("elink", dbfrom="flowers", db="pubmed", id="1").find("LinkSet/LinkSetDb") is None
    assert client.xml("espell", db="flowers", term="rosse").findtext("CorrectedQuery") == ""


def test_another_service_can_have_identifiers_in_the_path(client: Client) -> None:
    client.sandbox.route(
        "/unpaywall", "unpaywall", lambda request, state: answer_text(f"{request.rest}?{request.get('email')}")
    )
    client.sandbox.fail_next("500", "unpaywall")

    failed, answered = (
        requests.get(f"{client.sandbox.url}/unpaywall/10.1000%2Fone/x", params={"email": "e"}, timeout=20)
        for _ in range(2)
    )

    assert failed.status_code == 500
    assert answered.text == "10.1000/one/x?e"
    assert client.sandbox.requests("unpaywall") == 2
    assert client.get("einfo/further").status_code == 404
