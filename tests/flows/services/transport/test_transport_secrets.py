"""An api key and an e-mail address must not appear anywhere: every kind of failure is searched for both."""

import io
import json
import logging
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from loopback_server import ESEARCH, HTML, RATE_LIMIT, Answer
from loopback_transport import EMAIL, KEY, TransportBench, add_secrets, find_free_port, open_workbench
from pydantic import SecretStr

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.redaction import RedactingFilter, Redactor
from entrez_kit.base.settings import Settings
from entrez_kit.services.id_converter import IdConverter
from entrez_kit.services.transport import POLICIES, list_credentials
from entrez_kit.services.transport.rate_gate import find_limiter_file, get_shared_limiter

CANARIES = sorted({form for secret in (KEY, EMAIL) for form in (secret, quote(secret), quote_plus(secret))})
ECHO = (
    f'{{"error":"odd thing with {KEY} and {EMAIL} and api_key={KEY}&email={quote(EMAIL)}","api-key":"{KEY}"}}'.encode()
)


def find_secrets(text: str | bytes) -> list[str]:
    """Return the secrets in a text."""
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return [canary for canary in CANARIES if canary.lower() in text.lower()]


def list_error_texts(error: BaseException) -> str:
    """Return all texts that an error and its linked objects can produce, including locals of frames."""
    parts = []
    pending: list[BaseException | None] = [error]
    seen: set[int] = set()
    while pending:
        exc = pending.pop()
        if exc is None or id(exc) in seen:
            continue
        seen.add(id(exc))
        parts += [str(exc), repr(exc), repr(exc.args), repr(vars(exc))]
        parts += traceback.format_exception(exc)
        stack = traceback.TracebackException.from_exception(exc, capture_locals=True)
        parts += list(stack.format())
        pending += [exc.__cause__, exc.__context__]
        if isinstance(exc, EntrezKitError):
            parts.append(json.dumps(exc.envelope(), default=str))
    return "\n".join(parts)


@contextmanager
def collect_log_records() -> Iterator[io.StringIO]:
    """Collect the messages of all loggers at level DEBUG."""
    sink = io.StringIO()
    handler = logging.StreamHandler(sink)
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield sink
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


def _search(bench: TransportBench) -> object:
    return bench.eutils.esearch(db="pubmed", term="asthma")


def _search_long(bench: TransportBench) -> object:
    return bench.eutils.esearch(db="pubmed", term="x" * 3000)


def _convert(bench: TransportBench) -> object:
    return IdConverter(bench.transport, bench.settings).convert(["1"], idtype="pmid")


FAILURES: dict[str, Answer] = {
    "429": Answer(status=429, body=RATE_LIMIT.replace(b"203.0.113.7", KEY.encode())),
    "bad key": Answer(status=400, body=ECHO.replace(b"odd thing", b"API key invalid")),
    "500 with echo": Answer(status=500, body=ECHO),
    "400 with echo": Answer(status=400, body=b"<eSearchResult><ERROR>Unknown parameter " + ECHO + b"</ERROR></eSearchResult>"),  # noqa: E501
    "403 with echo": Answer(status=403, body=ECHO),
    "404": Answer(status=404, body=HTML),
    "200 with ERROR": Answer(body=b"<eSearchResult><ERROR>" + KEY.encode() + b"</ERROR></eSearchResult>"),
    "ids unknown": Answer(body=b"<eFetchResult><ERROR>ID list is empty! " + ECHO + b"</ERROR></eFetchResult>"),
    "HTML": Answer(body=HTML.replace(b"NCBI -", f"api_key={KEY}".encode())),
    "wrong root": Answer(body=f"<{KEY}></{KEY}>".encode()),
    "empty": Answer(body=b""),
    "cut": Answer(fault="cut"),
    "truncate": Answer(fault="truncate"),
    "chunked_cut": Answer(fault="chunked_cut"),
    "no gzip": Answer(headers={"Content-Encoding": "gzip"}),
    "drip": Answer(body=ESEARCH[:20], fault="drip"),
    "bad header": Answer(headers={"Content-Length": "5, 6"}),
    "redirect elsewhere": Answer(status=302, headers={"Location": f"https://example.org/?api_key={KEY}&email={EMAIL}"}),
    "redirect to nonsense": Answer(status=302, headers={"Location": f"http://[::1/{KEY}"}),
    "redirect in a circle": Answer(status=307, headers={"Location": f"/x?api_key={KEY}"}),
    "too large": Answer(body=b"<eSearchResult>" + b" " * 300_000),
}  # fmt: skip


# urllib3 leaves the socket of a reply with unreadable headers to the garbage collector.
@pytest.mark.long
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("ask", [_search, _search_long, _convert])
@pytest.mark.parametrize("failure", FAILURES)
def test_no_failure_reveals_key_or_email(
    failure: str, ask: Callable[[TransportBench], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.services.transport.wire.MAX_BODY_BYTES", 200_000)
    changes = {**add_secrets(), "ncbi_max_retries": 1, "ncbi_total_deadline_ms": 2000}
    with collect_log_records() as log, open_workbench(tmp_path, always=FAILURES[failure], **changes) as bench:
        said = ""
        try:
            ask(bench)
        except EntrezKitError as exc:
            said = list_error_texts(exc)
        assert said, "a failure was accepted as an answer"
        assert bench.server.seen[0].params["email"] == EMAIL  # it was sent, so it could have been revealed
        logged = log.getvalue()

        assert find_secrets(said) == []
        assert find_secrets(logged) == []
        assert find_secrets(bench.cache_bytes()) == []
    assert "urllib3.connectionpool" in logged


@pytest.mark.parametrize(
    "make",
    [
        lambda: {"eutils_url": f"http://127.0.0.1:{find_free_port()}/entrez/eutils"},
        lambda: {"eutils_url": "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"},
        lambda: {"eutils_url": "http://user@127.0.0.1:99999/entrez/eutils"},
        lambda: {"eutils_url": "http://127.0.0.1:bad/entrez/eutils"},
    ],
)
def test_no_failed_connection_reveals_key_or_email(
    make: Callable[[], dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{find_free_port()}")
    with collect_log_records() as log, open_workbench(tmp_path, ncbi_max_retries=1, **add_secrets()) as bench:
        for ask in (_search, _search_long):
            with bench.open_another(**make()) as other, pytest.raises(EntrezKitError) as caught:
                ask(other)
            assert find_secrets(list_error_texts(caught.value)) == []
        assert find_secrets(log.getvalue()) == []


def test_no_success_reveals_key_or_email(tmp_path: Path) -> None:
    options = {"limiters": get_shared_limiter}
    with collect_log_records() as log, open_workbench(tmp_path, options=options, **add_secrets()) as bench:
        assert bench.cache_bytes() == b""
        replies = [bench.eutils.esearch(db="pubmed", term=term) for term in ("a", "a", "x" * 3000)]
        bench.server.then(Answer(status=307, headers={"Location": f"/x?api_key={KEY}&email={EMAIL}&term=b"}))
        replies.append(bench.eutils.esearch(db="pubmed", term="b"))

        assert [find_secrets(repr(reply)) for reply in replies] == [[]] * 4
        assert find_secrets(log.getvalue()) == []
        assert b"sent_ms" in bench.cache_bytes()  # the limiter's state is also searched
        assert find_secrets(bench.cache_bytes()) == []
        assert find_secrets(str(sorted(tmp_path.rglob("*")))) == []
        assert bench.server.seen[0].params["api_key"] == KEY


def test_a_service_that_repeats_the_request_in_its_reply_reveals_nothing(tmp_path: Path) -> None:
    body = (
        f'{{"status":"ok","request":{{"email":"{EMAIL}","echo":"email={quote(EMAIL)}&tool=x"}},'
        f'"records":[{{"pmid":1,"requested-id":"1","pmcid":"PMC1"}}]}}'
    )
    with open_workbench(tmp_path, always=Answer(body=body.encode()), **add_secrets()) as bench:
        converter = IdConverter(bench.transport, bench.settings)
        first, second = converter.convert(["1"], idtype="pmid"), converter.convert(["1"], idtype="pmid")

        assert second.from_cache
        assert first.content == second.content
        assert json.loads(first.content)["records"][0]["pmcid"] == "PMC1"
        assert find_secrets(first.content) == []
        assert find_secrets(bench.cache_bytes()) == []


@pytest.mark.parametrize("key", [KEY, KEY.upper()])
def test_a_key_in_a_valid_reply_is_removed_before_the_reply_is_read_and_cached(key: str, tmp_path: Path) -> None:
    body = ESEARCH.replace(b">asthma<", f">asthma {key}<".encode())
    with open_workbench(tmp_path, always=Answer(body=body), **add_secrets()) as bench:
        first, second = (bench.eutils.esearch(db="pubmed", term="asthma") for _ in range(2))

        assert second.from_cache
        assert first.value.query_translation == second.value.query_translation == "asthma [hidden]"
        assert first.content == body.replace(key.encode(), b"[hidden]")
        assert find_secrets(bench.cache_bytes()) == []


def test_an_address_in_an_article_is_data_even_if_it_is_the_users_own(tmp_path: Path) -> None:
    body = f"<PubmedArticleSet><PubmedArticle><Affiliation>{EMAIL}</Affiliation></PubmedArticle></PubmedArticleSet>"
    with open_workbench(tmp_path, always=Answer(body=body.encode()), **add_secrets()) as bench:
        assert bench.eutils.efetch(db="pubmed", ids=["1"], retmode="xml").content == body.encode()


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://eutils.ncbi.nlm.nih.gov/entrez/eutils", {"tool", "email", "api_key"}),
        ("https://EUTILS.NCBI.NLM.NIH.GOV/entrez/eutils", {"tool", "email", "api_key"}),
        ("http://127.0.0.1:8000/entrez/eutils", {"tool", "email", "api_key"}),
        ("http://[::1]:8000/entrez/eutils", {"tool", "email", "api_key"}),
        ("http://localhost/entrez/eutils", {"tool", "email", "api_key"}),
        ("http://eutils.ncbi.nlm.nih.gov/entrez/eutils", set()),
        ("https://mirror.example.org/entrez/eutils", set()),
        ("https://ncbi.nlm.nih.gov.example.org/entrez/eutils", set()),
        ("https://evilncbi.nlm.nih.gov/entrez/eutils", set()),
        ("https://eutils.ncbi.nlm.nih.gov@example.org/entrez/eutils", set()),
        ("http://10.0.0.1/entrez/eutils", set()),
        ("http://127.0.0.1.example.org/entrez/eutils", set()),
    ],
)
def test_credentials_are_sent_only_to_ncbi_over_https_and_to_this_machine(url: str, told: set[str]) -> None:
    settings = Settings(
        ncbi_api_key=SecretStr(KEY), ncbi_admin_email=SecretStr(EMAIL), unpaywall_email=SecretStr(EMAIL)
    )

    assert {name for name, _ in list_credentials(settings, "eutils", url)} == told
    assert {name for name, _ in list_credentials(settings, "idconv", url)} == told - {"api_key"}
    assert list_credentials(settings, "europepmc", url) == ()


def test_a_key_that_is_not_sent_does_not_raise_the_limit() -> None:
    keyed = Settings(ncbi_api_key=SecretStr(KEY))
    mirrored = Settings(ncbi_api_key=SecretStr(KEY), eutils_url="https://mirror.example.org/entrez/eutils")

    assert find_limiter_file(keyed, "eutils") != find_limiter_file(Settings(), "eutils")
    assert find_limiter_file(mirrored, "eutils") == find_limiter_file(
        Settings(eutils_url="https://mirror.example.org/entrez/eutils"), "eutils"
    )
    assert find_limiter_file(mirrored, "eutils") != find_limiter_file(Settings(), "eutils")
    assert find_secrets(str(find_limiter_file(keyed, "eutils"))) == []
    assert POLICIES["eutils"].per_second(True) == 10
    assert POLICIES["eutils"].per_second(False) == 3


# The redactor


@pytest.mark.parametrize(
    "text",
    [
        f"https://x/?db=pubmed&api_key={KEY}&term=x",
        f"https://x/?email={quote_plus(EMAIL)}",
        f"https%3A%2F%2Fx%3Fapi_key%3D{KEY}",
        f'{{"api-key": "{KEY}", "email" : "{EMAIL}"}}',
        f"{KEY.upper()} {EMAIL.upper()}",
        f"mail to <{EMAIL}>, please",
    ],
)
def test_known_secrets_are_hidden_in_any_spelling(text: str) -> None:
    cleaned = Redactor([KEY, EMAIL]).redact_text(text)

    assert find_secrets(cleaned) == []
    assert "[hidden]" in cleaned


def test_unknown_secrets_are_hidden_by_their_names() -> None:
    text = 'GET /x?db=pubmed&api_key=abc123&email=me%40x.org&term=y {"api-key":"10.1.2.3"}'
    cleaned = Redactor([]).redact_text(text)

    assert cleaned == 'GET /x?db=pubmed&api_key=[hidden]&email=[hidden]&term=y {"api-key":"[hidden]"}'


def test_a_secret_is_hidden_in_a_cut_member_or_one_with_escaped_quotes() -> None:
    redactor = Redactor([])

    assert redactor.redact_text('{"api_key": "abc') == '{"api_key": "[hidden]"'
    assert redactor.redact_text(r'{"email": "a\"b@x.org", "n": 1}') == '{"email": "[hidden]", "n": 1}'
    assert redactor.redact_text("{'email': 'a\"b@x.org', 'n': 1}") == "{'email': \"[hidden]\", 'n': 1}"


@pytest.mark.process
def test_no_text_of_a_service_makes_the_redactor_slow() -> None:
    code = (
        "import time\nfrom entrez_kit.base.redaction import Redactor\n"
        r"""for start in ('"email": "', "'api_key':'", "\"email\":'", "email=", "x"):"""
        "\n"
        r"""    for run in ("\\", '\\"', "\\'", " ", '"email":', "\\x", "%3Demail", "\\\n"):"""
        "\n        Redactor(['a secret']).quote_text(start + run * 60_000)\n"
        "print(time.process_time())"
    )
    # In a separate process, because a slow regular expression cannot be interrupted otherwise.
    reported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert float(reported.stdout) < 20, "40 texts of up to 480,000 characters, the start of the program included"


def test_a_short_secret_does_not_hide_every_letter() -> None:
    assert Redactor(["a"]).redact_text("an apple, api_key=a") == "an apple, api_key=[hidden]"


def test_the_filter_changes_only_records_of_http_libraries() -> None:
    guard = RedactingFilter(Redactor([KEY]))
    logger = logging.getLogger("urllib3.connectionpool")
    before = list(logger.filters)
    with collect_log_records() as log:
        guard.install()
        try:
            logger.debug('"%s %s" %d', "GET", f"/x?api_key={KEY}", 200)
            logger.debug("broken %d", "record of somebody else") if False else None
            try:
                raise ValueError(f"secret {KEY}")
            except ValueError:
                logger.warning("it failed", exc_info=True)
            logger.debug("nothing to hide: %s", "db=pubmed")
        finally:
            guard.remove()

    assert find_secrets(log.getvalue()) == []
    assert "ValueError: secret [hidden]" in log.getvalue()
    assert "nothing to hide: db=pubmed" in log.getvalue()
    assert logger.filters == before


def test_closing_a_transport_removes_its_filters(tmp_path: Path) -> None:
    logger = logging.getLogger("urllib3.connectionpool")
    before = list(logger.filters)
    with open_workbench(tmp_path, **add_secrets()) as bench:
        threads = [threading.Thread(target=_search, args=(bench,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(logger.filters) == len(before) + 1
    assert logger.filters == before
    assert ESEARCH
