"""A reply is parsed once: the check before caching and the caller use the same result."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from loopback_server import Answer
from loopback_transport import hold_first_caller, open_bench, open_workbench

from entrez_kit.base.bio_entrez import build_entrez_request
from entrez_kit.base.errors import UpstreamError
from entrez_kit.base.settings import Settings
from entrez_kit.local.eutils.replies import LocalReply
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.pubmed.xml import located_records, records, stream
from entrez_kit.services import Services
from entrez_kit.services.recordings.record import Recorder
from entrez_kit.services.recordings.replay import Replay
from entrez_kit.services.small_replies import malformed_error
from entrez_kit.services.transport import Expect

ONE = b"<PubmedArticle><MedlineCitation><PMID>%d</PMID><Article><ArticleTitle>T</ArticleTitle></Article>"
SET = b"<PubmedArticleSet>" + (ONE + b"</MedlineCitation></PubmedArticle>") * 2 % (1, 2) + b"</PubmedArticleSet>"


class CountedFunction:
    """A function that counts its calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.calls += 1
        return self.function(*args, **options)


def test_the_reader_of_a_reply_runs_once_and_its_result_is_returned(tmp_path: Path) -> None:
    read = CountedFunction(len)
    with open_workbench(tmp_path, always=Answer(body=SET)) as bench:
        sent, cached = (bench.eutils.efetch(db="pubmed", ids=["1", "2"], retmode="xml", read=read) for _ in range(2))

    assert (sent.value, sent.from_cache, cached.value, cached.from_cache) == (len(SET), False, len(SET), True)
    assert read.calls == 2


def test_a_reader_runs_once_for_each_attempt(tmp_path: Path) -> None:
    def read_at_third_attempt(content: bytes) -> str:
        if read.calls < 3:
            raise malformed_error("efetch", "not yet")
        return "read"

    read = CountedFunction(read_at_third_attempt)
    with open_workbench(tmp_path, always=Answer(body=SET)) as bench:
        reply = bench.eutils.efetch(db="pubmed", ids=["1", "2"], retmode="xml", read=read)

    assert (reply.value, read.calls, len(bench.server.seen)) == ("read", 3, 3)


def test_a_cached_reply_is_read_with_the_reader_of_each_call(tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=Answer(body=SET)) as bench:
        values = [
            bench.eutils.efetch(db="pubmed", ids=["1", "2"], retmode="xml", read=read).value
            for read in (len, bytes.upper)
        ]

    assert values == [len(SET), SET.upper()]
    assert len(bench.server.seen) == 1


def test_a_cached_reply_that_the_reader_refuses_is_requested_again(tmp_path: Path) -> None:
    def refuse(content: bytes) -> None:
        raise malformed_error("efetch", "never")

    with open_workbench(tmp_path, always=Answer(body=SET), ncbi_max_retries=0) as bench:
        bench.eutils.efetch(db="pubmed", ids=["1", "2"], retmode="xml")
        with pytest.raises(UpstreamError, match="never"):
            bench.eutils.efetch(db="pubmed", ids=["1", "2"], retmode="xml", read=refuse)

    assert len(bench.server.seen) == 2


@pytest.mark.parametrize("cached", [False, True])
def test_a_record_becomes_an_article_while_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cached: bool
) -> None:
    with open_workbench(tmp_path, always=Answer(body=SET)) as bench:
        services = Services(bench.settings, transport=bench.transport)
        if cached:
            list(Retrieval.of_ids(services, ["1", "2"]))
        cut, again = CountedFunction(stream.iter_elements), CountedFunction(located_records.parse_alone)
        monkeypatch.setattr(records, "iter_elements", cut)
        monkeypatch.setattr(records, "parse_alone", again)
        found = [item.record for item in Retrieval.of_ids(services, ["1", "2"])]
        titles = [record.article().title for record in found if record is not None for _ in range(2)]

    assert titles == ["T"] * 4
    assert (cut.calls, again.calls, len(bench.server.seen)) == (1, 0, 1)


def test_incomplete_summaries_are_accepted_only_on_request_and_never_cached(tmp_path: Path) -> None:
    one = b'<eSummaryResult><DocumentSummarySet><DocumentSummary uid="1"><Title>T</Title></DocumentSummary>'
    read = CountedFunction(lambda document: [summary.get("uid") for summary in document.iter("DocumentSummary")])
    with open_workbench(tmp_path, always=Answer(body=one + b"</DocumentSummarySet></eSummaryResult>")) as bench:
        reply = bench.eutils.esummary(db="pubmed", ids=["1", "2"], partial=True, read=read)
        requested = len(bench.server.seen)
        with pytest.raises(UpstreamError, match="incomplete"):
            bench.eutils.esummary(db="pubmed", ids=["1", "2"], read=read)

    assert (reply.value, reply.attempts, requested) == (["1"], 3, 3)
    assert "id=1%2C2" in reply.url
    assert len(bench.server.seen) == 6


def test_a_list_shorter_than_its_count_is_accepted_only_on_request(tmp_path: Path) -> None:
    short = b"<eSearchResult><Count>2</Count><IdList><Id>1</Id></IdList></eSearchResult>"
    with open_workbench(tmp_path, always=Answer(body=short)) as bench:
        reply = bench.eutils.esearch(db="pubmed", term="x", partial=True)
        requested = len(bench.server.seen)
        with pytest.raises(UpstreamError, match="incomplete"):
            bench.eutils.esearch(db="pubmed", term="x")

    assert (reply.value.ids, reply.value.count, requested) == (["1"], 2, 3)
    assert not reply.is_complete


def test_callers_of_the_same_request_all_get_the_incomplete_list_but_not_the_same_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_first_caller(monkeypatch, others=3)
    short = b"<eSearchResult><Count>2</Count><IdList><Id>1</Id></IdList></eSearchResult>"
    with (
        open_workbench(tmp_path, always=Answer(body=short)) as bench,
        ThreadPoolExecutor(max_workers=4) as pool,
    ):
        replies = list(pool.map(lambda _: bench.eutils.esearch(db="pubmed", term="x", partial=True), range(4)))

    assert [(reply.value.ids, reply.is_complete, reply.attempts) for reply in replies] == [(["1"], False, 3)] * 4
    assert len({id(reply.value.ids) for reply in replies}) == 4
    assert len(bench.server.seen) == 3


def test_a_replay_returns_the_incomplete_list_or_refuses_it_like_the_recorded_call(tmp_path: Path) -> None:
    short = b"<eSearchResult><Count>2</Count><IdList><Id>1</Id></IdList></eSearchResult>"
    path = tmp_path / "short.ekz"
    with open_workbench(tmp_path, always=Answer(body=short)) as bench:
        recorder = Recorder(path, bench.settings)
        with open_bench(bench.server, bench.settings, recording=recorder) as recorded:
            sent = recorded.eutils.esearch(db="pubmed", term="x", partial=True)
            with pytest.raises(UpstreamError) as refused:
                recorded.eutils.esearch(db="pubmed", term="x")
        recorder.finish()
        requested = len(bench.server.seen)
        with (
            closing(Replay(path)) as replay,
            open_bench(bench.server, replay.use_settings(bench.settings), recording=replay) as replayed,
        ):
            again = replayed.eutils.esearch(db="pubmed", term="x", partial=True)
            with pytest.raises(UpstreamError) as refused_again:
                replayed.eutils.esearch(db="pubmed", term="x")

    assert (again.value, again.content, again.attempts) == (sent.value, sent.content, sent.attempts)
    assert not again.is_complete
    assert refused_again.value.envelope() == refused.value.envelope()
    assert len(bench.server.seen) == requested == 6


def test_a_reader_may_still_keep_incomplete_replies_in_a_list(tmp_path: Path) -> None:
    short: list[tuple[bytes, str]] = []

    def read(content: bytes) -> str:
        short.append((content, f"value {len(short) + 1}"))
        raise UpstreamError("Some records are missing.", details={"reason": "incomplete"})

    request = build_entrez_request("efetch", {"db": "pubmed", "id": ["1", "2"], "retmode": "xml"})
    with open_workbench(tmp_path, always=Answer(body=SET)) as bench:
        reply = bench.eutils.send_built(request, Expect("xml", read=read), short=short)

    assert (reply.content, reply.value, reply.is_complete) == (SET, "value 3", False)


def test_an_incomplete_reply_of_a_responder_in_this_process_is_returned_on_request() -> None:
    short = b"<eSearchResult><Count>2</Count><IdList><Id>1</Id></IdList></eSearchResult>"

    with closing(Services(Settings(), lambda method, url, data: LocalReply(short))) as services:
        reply = services.eutils.esearch(db="pubmed", term="x", partial=True)

    assert (reply.value.ids, reply.attempts, reply.is_complete) == (["1"], 1, False)
