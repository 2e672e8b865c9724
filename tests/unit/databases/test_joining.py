"""Replies of several EFetch requests as one."""

from xml.etree import ElementTree

import pytest

from entrez_kit.databases.fetch import JoinedReplies

PROLOG = b'<?xml version="1.0"?>\n<!DOCTYPE GBSet PUBLIC "a" "b">\n'


def joined(parts: list[bytes]) -> tuple[bytes, bool]:
    text = JoinedReplies()
    pieces = [*map(text.add, (part.decode() for part in parts)), text.end()]
    return "".join(pieces).encode(), text.whole


def test_one_reply_is_passed_on_byte_for_byte() -> None:
    for body in (b"\n>a\nACGT\n\n", PROLOG + b"<GBSet>\n <GBSeq/>\n</GBSet>\n"):
        assert joined([body, b"", b"\n"]) == (body, True)
    assert joined([]) == (b"", True)


def test_text_follows_text_on_a_line_of_its_own() -> None:
    assert joined([b">a\nAC", b">b\nGT\n"]) == (b">a\nAC\n>b\nGT\n", True)


@pytest.mark.parametrize(
    "parts",
    [
        [PROLOG + b"<GBSet><GBSeq>1</GBSeq></GBSet>", PROLOG + b"<GBSet>\n<GBSeq>2</GBSeq>\n</GBSet>\n"],
        [b"\xef\xbb\xbf" + PROLOG + b'<GBSet a="x>y"><GBSeq>1</GBSeq></GBSet>', b"<GBSet><GBSeq>2</GBSeq></GBSet >"],
        [PROLOG + b"<GBSet/>", b"<!-- c --><GBSet><GBSeq>1</GBSeq><GBSeq>2</GBSeq></GBSet>"],
        [b"<GBSet><GBSeq>1</GBSeq></GBSet>", b"<GBSet/>", b"<GBSet><GBSeq>2</GBSeq></GBSet>"],
    ],
)
def test_records_of_the_same_kind_of_document_move_into_one_frame(parts: list[bytes]) -> None:
    body, whole = joined(parts)

    assert whole
    root = ElementTree.fromstring(body)
    assert [element.text for element in root] == ["1", "2"]


def test_nothing_of_the_records_is_changed() -> None:
    first = b"<S>\n  <R a='1'>x &amp; <i>y</i></R>\n<!-- kept --></S>"
    second = b"<S><R><![CDATA[</S>]]></R></S>"

    body, _ = joined([first, second])

    assert b"<R a='1'>x &amp; <i>y</i></R>\n<!-- kept --><R><![CDATA[</S>]]></R></S>" in body


@pytest.mark.parametrize(
    "parts",
    [
        [b"<A><R/></A>", b"<B><R/></B>"],
        [b"<A><R/></A>\n<?xml version='1.0'?><A><R/></A>", b"<A/>"],
        [b'{"a": 1}', b'{"a": 2}'],
        [b"<A/>", b">fasta\n"],
    ],
)
def test_documents_that_cannot_be_one_stand_one_after_the_other_and_that_is_said(parts: list[bytes]) -> None:
    body, whole = joined(parts)

    assert not whole
    assert body == b"".join(part.rstrip(b"\n") + b"\n" for part in parts)
