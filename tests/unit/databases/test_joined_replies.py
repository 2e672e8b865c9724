"""Several EFetch replies joined to one."""

from xml.etree import ElementTree

import pytest

from entrez_kit.databases.fetch import JoinedReplies

PROLOG = b'<?xml version="1.0"?>\n<!DOCTYPE GBSet PUBLIC "a" "b">\n'


def join(parts: list[bytes]) -> tuple[bytes, bool]:
    text = JoinedReplies()
    pieces = [*map(text.add, (part.decode() for part in parts)), text.end()]
    return "".join(pieces).encode(), text.whole


def test_a_single_reply_is_returned_unchanged() -> None:
    for body in (b"\n>a\nACGT\n\n", PROLOG + b"<GBSet>\n <GBSeq/>\n</GBSet>\n"):
        assert join([body, b"", b"\n"]) == (body, True)
    assert join([]) == (b"", True)


def test_joined_texts_begin_on_new_lines() -> None:
    assert join([b">a\nAC", b">b\nGT\n"]) == (b">a\nAC\n>b\nGT\n", True)


@pytest.mark.parametrize(
    "parts",
    [
        [PROLOG + b"<GBSet><GBSeq>1</GBSeq></GBSet>", PROLOG + b"<GBSet>\n<GBSeq>2</GBSeq>\n</GBSet>\n"],
        [b"\xef\xbb\xbf" + PROLOG + b'<GBSet a="x>y"><GBSeq>1</GBSeq></GBSet>', b"<GBSet><GBSeq>2</GBSeq></GBSet >"],
        [PROLOG + b"<GBSet/>", b"<!-- c --><GBSet><GBSeq>1</GBSeq><GBSeq>2</GBSeq></GBSet>"],
        [b"<GBSet><GBSeq>1</GBSeq></GBSet>", b"<GBSet/>", b"<GBSet><GBSeq>2</GBSeq></GBSet>"],
    ],
)
def test_records_of_the_same_kind_of_document_get_one_root(parts: list[bytes]) -> None:
    body, whole = join(parts)

    assert whole
    root = ElementTree.fromstring(body)
    assert [element.text for element in root] == ["1", "2"]


def test_records_are_not_changed() -> None:
    first = b"<S>\n  <R a='1'>x &amp; <i>y</i></R>\n<!-- kept --></S>"
    second = b"<S><R><![CDATA[</S>]]></R></S>"

    body, _ = join([first, second])

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
def test_documents_that_cannot_be_joined_are_concatenated_with_a_remark(parts: list[bytes]) -> None:
    body, whole = join(parts)

    assert not whole
    assert body == b"".join(part.rstrip(b"\n") + b"\n" for part in parts)
