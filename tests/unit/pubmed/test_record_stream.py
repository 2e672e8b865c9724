"""Records read from documents that arrive in pieces: any pieces, any markup, and linear time."""

import time
from collections.abc import Callable, Iterable, Iterator

import pytest

from entrez_kit.base.errors import UpstreamError
from entrez_kit.pubmed.xml import limits
from entrez_kit.pubmed.xml.stream import iter_elements

RECORDS = [
    "<PubmedArticle>plain</PubmedArticle>",
    "<PubmedArticle/>",
    "<PubmedArticle a='>' b=\"'/PubmedArticle>\"><c d='\"'/>quotes</PubmedArticle\n>",
    "<PubmedArticle><!-- </PubmedArticle> ' - >--></PubmedArticle>",
    "<PubmedArticle><!--></PubmedArticle>--><!----></PubmedArticle>",
    "<PubmedArticle><![CDATA[</PubmedArticle>]]]]><![CDATA[>]]></PubmedArticle>",
    '<PubmedArticle><?p </PubmedArticle> "?><?q?></PubmedArticle>',
    "<PubmedArticle><PubmedArticle>nested</PubmedArticle><x/></PubmedArticle>",
    "<x:PubmedArticle>tökens 東京 \U0001f9ec</x:PubmedArticle>",
    "<DeleteCitation><PMID>1</PMID></DeleteCitation>",
]
BETWEEN = [
    "\n",
    "<!-- <PubmedArticle> -->",
    "<?p <PubmedArticle>?>",
    "<Novelty><PubmedArticle>no</PubmedArticle></Novelty>",
    "<Novelty a='/>PubmedArticle>'/>",
    "text",
]
PROLOGUES = [
    "",
    "\ufeff<?xml version='1.0'?>\n",
    "<!DOCTYPE PubmedArticleSet SYSTEM 'http://dtd.invalid/a>\"b'>",
    "<!-- < --><!DOCTYPE PubmedArticleSet [<!ENTITY e \"<a>']>\"><!-- ' ]> --><?q ]>?><!ELEMENT a ANY>]>",
]


def _read_cut(pieces: Iterable[bytes]) -> list[str]:
    return [found.raw.decode() for found in iter_elements(pieces)]


def _split_pieces(text: str, size: int) -> Iterator[bytes]:
    content = text.encode()
    return (content[start : start + size] for start in range(0, len(content), size))


@pytest.mark.parametrize("size", [5, 6, 7, 16, 64, 100, 1 << 20])
@pytest.mark.parametrize("prologue", PROLOGUES)
def test_every_record_is_read_from_any_pieces_with_any_text_around_it(
    prologue: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CHUNK", size)
    monkeypatch.setattr(limits, "MAX_TAG_BYTES", 1)
    inside = "".join(f"{record}{between}" for record in RECORDS for between in BETWEEN)
    text = f"{prologue}<PubmedArticleSet xmlns:x='urn:x'>{inside}</PubmedArticleSet> <!-- <PubmedArticle/> -->\n"

    assert _read_cut(_split_pieces(text, size)) == [record for record in RECORDS for _ in BETWEEN]


@pytest.mark.parametrize("size", [5, 1 << 20])
@pytest.mark.parametrize("record", RECORDS[:-2])
def test_a_record_that_is_the_whole_document_is_read(record: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CHUNK", size)
    for prologue in PROLOGUES:
        assert _read_cut(_split_pieces(f"{prologue}{record}\n", size)) == [record]


@pytest.mark.parametrize("size", [1, 1 << 20])
@pytest.mark.parametrize(
    "broken", ["<a <b>", "< a>", "<>", "<!DOCTYPE a>", "<!a", '<a b="', "<!-- ", "<![CDATA[", "<?a "]
)
def test_after_malformed_or_unclosed_markup_no_record_is_found(
    broken: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CHUNK", size)
    text = f"<PubmedArticleSet>{RECORDS[0]}{broken}{RECORDS[0]}"
    found = iter_elements(_split_pieces(text, size))

    assert next(found).raw.decode() == RECORDS[0]
    with pytest.raises(UpstreamError):
        next(found)


def test_a_second_document_type_is_malformed() -> None:
    with pytest.raises(UpstreamError):
        _read_cut([f"<!DOCTYPE PubmedArticleSet><!DOCTYPE PubmedArticleSet>{RECORDS[0]}".encode()])


# work: four times the text may cost four times the work, not sixteen times

REPEATED = {
    "records": ("<PubmedArticleSet>", "<PubmedArticle><a>b</a></PubmedArticle>"),
    "a record without end": ("<PubmedArticleSet><PubmedArticle>", "<a>b</a>"),
    "text without end": ("<PubmedArticleSet><PubmedArticle>", "x"),
    "a name without end": ("<PubmedArticleSet><PubmedArticle></", "x"),
    "attributes without end": ("<PubmedArticleSet><PubmedArticle", " a='b'"),
    "a value without end": ("<PubmedArticleSet><PubmedArticle a='", 'x"'),
    "a comment without end": ("<PubmedArticleSet><PubmedArticle><!--", " - -"),
    "a comment between records": ("<PubmedArticleSet><!--", " <!-"),
    "CDATA without end": ("<PubmedArticleSet><PubmedArticle><![CDATA[", "]] <![CDATA["),
    "an instruction without end": ("<PubmedArticleSet><PubmedArticle><?a", "? <?"),
    "comments": ("<PubmedArticleSet><PubmedArticle>", "<!---->"),
    "beginnings of tags": ("<PubmedArticleSet><PubmedArticle>", "<a "),
    "less-than signs": ("<PubmedArticleSet><PubmedArticle>", "<"),
    "declarations": ("<!DOCTYPE PubmedArticleSet [", "<!ENTITY a 'b'>"),
    "a declaration without end": ("<!DOCTYPE PubmedArticleSet [<!ENTITY a '", 'x">'),
    "document types": ("<!-- -->", "<!a>"),
    "comments in declarations": ("<!DOCTYPE PubmedArticleSet [", "<!--'-->"),
    "space after the declaration": ("<?xml version='1.0'?>", " "),
    "space before the root": ("<?xml version='1.0'?><!DOCTYPE PubmedArticleSet SYSTEM 'a'>", "\n"),
    "space after a record": ("<PubmedArticleSet><PubmedArticle></PubmedArticle>", " \n"),
}


def _measure_seconds(work: Callable[[int], object], size: int) -> float:
    """Return the CPU time of the fastest of three runs."""
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        work(size)
        best = min(best, time.process_time() - started)
    return best


def _assert_linear(work: Callable[[int], object], size: int) -> None:
    """Compare sizes up to four times the given one, small ones first, so that quadratic work is noticed early.

    On a busy machine the measurement is repeated; quadratic work takes sixteen times as long every time.
    """
    for small in (size // 64, size // 16, size // 4, size):
        seconds = [(_measure_seconds(work, small), _measure_seconds(work, 4 * small))]
        while seconds[-1][1] > 8 * max(seconds[-1][0], 0.002):
            assert len(seconds) < 3, f"{small} and {4 * small} characters took {seconds}"
            seconds.append((_measure_seconds(work, small), _measure_seconds(work, 4 * small)))


@pytest.mark.long
@pytest.mark.parametrize("kind", REPEATED)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("chunk", [1 << 10, 1 << 17])
def test_reading_a_document_in_chunks_takes_linear_time(
    kind: str, mark: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CHUNK", chunk)
    beginning, unit = REPEATED[kind]

    def work(size: int) -> None:
        content = (mark + beginning + unit * (size // len(unit))).encode()
        with pytest.raises(UpstreamError):
            list(iter_elements(content[start : start + chunk] for start in range(0, len(content), chunk)))

    _assert_linear(work, 1 << 15)


def test_pieces_of_one_byte_take_linear_time_in_the_parser_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CHUNK", 1)
    monkeypatch.setattr(limits, "MAX_TAG_BYTES", 1)
    record = b"<PubmedArticle><!-- c --><PMID a='b'>1</PMID><![CDATA[ ]]><?p ?></PubmedArticle>"

    def work(size: int) -> None:
        content = b"<!-- --><PubmedArticleSet>%b</PubmedArticleSet>" % (record * (size // len(record)))
        found = list(iter_elements(content[at : at + 1] for at in range(len(content))))
        assert [each.raw for each in found] == [record] * (size // len(record))

    _assert_linear(work, 4_000)


# memory


def test_records_that_were_read_are_freed() -> None:
    record = b"<PubmedArticle><PMID>1</PMID></PubmedArticle>"
    count = 5 * limits.CHUNK // len(record)
    content = b"<!-- --><PubmedArticleSet>%b</PubmedArticleSet>" % (record * count)

    in_memory = [len(found.element.getparent()) for found in iter_elements(content)]

    assert len(in_memory) == count
    assert max(in_memory) <= limits.CHUNK // len(record) + 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("beginning", "unit"),
    [
        *((b"<PubmedArticleSet>", unit) for unit in (b"<x/>", b"text ", b"<!-- comment -->", b"<?p?>", b"\n")),
        (b"<PubmedArticleSet><PubmedArticle/><x>", b"text "),
        (b"<PubmedArticleSet><x><!--", b"text "),
        (b"<!-- ", b"text "),
        (b"<!DOCTYPE PubmedArticleSet [", b"<!ENTITY a 'b'>"),
        (b"<?xml version='1.0'?>", b" "),
    ],
)
def test_a_stream_without_records_is_abandoned(beginning: bytes, unit: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_BETWEEN_BYTES", 1 << 20)
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        yield beginning
        while taken < 4 << 20:
            taken += 5000 * len(unit)
            yield unit * 5000

    with pytest.raises(UpstreamError, match="contain no PubMed record") as caught:
        list(iter_elements(endless()))

    assert caught.value.reason == "invalid_response"


def test_a_long_distance_between_two_records_is_measured_from_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_BETWEEN_BYTES", 300_000)
    record, between = b"<PubmedArticle>%b</PubmedArticle>" % (b"text " * 50_000), b"<!-- -->" * 30_000
    content = b"<PubmedArticleSet>%b</PubmedArticleSet>" % ((record + between) * 3)

    assert [found.raw for found in iter_elements(content)] == [record] * 3
