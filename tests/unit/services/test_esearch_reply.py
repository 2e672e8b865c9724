"""ESearch replies in XML and JSON, and NCBI's warnings in them."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from used_recordings import list_recordings

from entrez_kit.base.errors import UpstreamError
from entrez_kit.services.small_replies import ESearchReply, check_esearch, parse_esearch

XML = b"""<?xml version="1.0" encoding="UTF-8" ?>
<eSearchResult><Count>2</Count><RetMax>2</RetMax><RetStart>0</RetStart><QueryKey>1</QueryKey><WebEnv>MCID_x</WebEnv>
<IdList><Id>11</Id><Id>12</Id></IdList><TranslationSet/><QueryTranslation>"a"[All Fields]</QueryTranslation>
<ErrorList><PhraseNotFound>zzqq</PhraseNotFound><FieldNotFound>foo</FieldNotFound></ErrorList>
<WarningList><PhraseIgnored>the</PhraseIgnored><QuotedPhraseNotFound>"x y"</QuotedPhraseNotFound>
<OutputMessage>No items found.</OutputMessage></WarningList></eSearchResult>"""

JSON = b"""{"header":{},"esearchresult":{"count":"2","retmax":"2","retstart":"0","querykey":"1","webenv":"MCID_x",
"idlist":["11","12"],"querytranslation":"\\"a\\"[All Fields]",
"errorlist":{"phrasesnotfound":["zzqq"],"fieldsnotfound":["foo"]},
"warninglist":{"phrasesignored":["the"],"quotedphrasesnotfound":["\\"x y\\""],"outputmessages":["No items found."]}}}"""


@pytest.mark.parametrize("content", [XML, JSON], ids=["xml", "json"])
def test_both_forms_of_a_reply_are_read_the_same(content: bytes) -> None:
    reply = parse_esearch(content)

    assert (reply.count, reply.ids, reply.web_env, reply.query_key) == (2, ["11", "12"], "MCID_x", "1")
    assert reply.query_translation == '"a"[All Fields]'
    assert [(warning.code, warning.text) for warning in reply.warnings] == [
        ("phrase_not_found", "zzqq"),
        ("field_not_found", "foo"),
        ("phrase_ignored", "the"),
        ("quoted_phrase_not_found", '"x y"'),
        ("output_message", "No items found."),
    ]
    assert [message.code for message in reply.warning_messages] == [item.code for item in reply.warnings[:-1]]
    assert all(
        item.text in message.message for item, message in zip(reply.warnings, reply.warning_messages, strict=False)
    )


def test_the_words_of_an_unknown_phrase_in_quotes_cause_no_second_remark() -> None:
    reply = parse_esearch(
        b"""{"esearchresult":{"count":"0","querytranslation":"crsipr babies",
        "errorlist":{"phrasesnotfound":["crsipr", "zzqq"]},
        "warninglist":{"quotedphrasesnotfound":["\\"crsipr babies\\""]}}}"""
    )

    assert len(reply.warnings) == 3
    assert [message.code for message in reply.warning_messages] == ["phrase_not_found", "quoted_phrase_not_found"]
    assert [name in reply.warning_messages[0].message for name in ("zzqq", "crsipr")] == [True, False]


def test_a_list_of_one_that_ncbi_sends_as_a_scalar_is_read() -> None:
    reply = parse_esearch(
        b'{"esearchresult":{"count":"0","idlist":"7","errorlist":{"phrasesnotfound":"zzqq","fieldsnotfound":[]}}}'
    )

    assert reply.ids == ["7"]
    assert [warning.text for warning in reply.warnings] == ["zzqq"]


def test_a_count_only_reply_is_read() -> None:
    assert parse_esearch(b"<eSearchResult>\n\t<Count>259</Count>\n</eSearchResult>").count == 259


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<eSearchResult><Count>1</Count>",
        b"<eSummaryResult/>",
        b"<eSearchResult></eSearchResult>",
        b"<eSearchResult><Count>many</Count></eSearchResult>",
        b'{"esearchresult":[]}',
        b'{"header":{}}',
        b'{"esearchresult":{"idlist":[]}}',
        b'{"esearchresult"',
    ],
)
def test_an_invalid_esearch_result_is_an_error_and_never_zero_results(content: bytes) -> None:
    with pytest.raises(UpstreamError) as caught:
        parse_esearch(content)

    assert caught.value.reason == "invalid_response"


def test_every_recorded_reply_is_read_without_loss(real_data: Path) -> None:
    for path in list_recordings(real_data / "esearch"):
        text = path.read_text(encoding="utf-8")
        reply = parse_esearch(path.read_bytes())
        if path.suffix == ".json":
            ids = re.findall(r'"([0-9]+)"', re.search(r'"idlist":\[(.*?)\]', text, re.DOTALL)[1])  # type: ignore[index]
            count = re.search(r'"count":"([0-9]+)"', text)
        else:
            ids = re.findall(r"<Id>\s*([^<]+?)\s*</Id>", text)
            count = re.search(r"<Count>([0-9]+)</Count>", text)
        assert count is not None
        assert (reply.count, reply.ids) == (int(count[1]), ids), path.name
        assert len(reply.warnings) == len(
            re.findall(r"<(?:PhraseNotFound|FieldNotFound|PhraseIgnored|QuotedPhraseNotFound|OutputMessage)>", text)
        ), path.name


WHOLE = ESearchReply(count=12, ids=["7", "8"], retstart=0, web_env="MCID_x", query_key="1")


@pytest.mark.parametrize(
    ("change", "request_"),
    [
        ({"count": 1}, {}),
        ({"count": 10**12}, {}),
        ({"count": 10**29}, {}),
        ({"retstart": 11}, {"retstart": 11}),
        ({"ids": ["1", "2", "3"]}, {}),
        ({"ids": ["7", "7"]}, {}),
        ({"ids": ["7", "n/a"]}, {}),
        ({"ids": ["7", ""]}, {}),
        ({"ids": ["7", "NM_1.2"]}, {}),
        ({"ids": ["NM_1.2", "not found"]}, {"accessions": True}),
        ({"retstart": 2}, {}),
        ({"web_env": None}, {"history": True}),
        ({"query_key": None}, {"history": True}),
        ({}, {"among": {"7"}}),
    ],
)
def test_a_reply_that_contradicts_itself_or_the_request_is_refused(
    change: dict[str, Any], request_: dict[str, Any]
) -> None:
    check_esearch(WHOLE, retmax=2)

    with pytest.raises(UpstreamError) as caught:
        check_esearch(replace(WHOLE, **change), **{"retmax": 2, **request_})

    assert caught.value.reason == "invalid_response"


@pytest.mark.parametrize(
    ("reply", "request_"),
    [
        (ESearchReply(count=3), {"retmax": 0}),
        (ESearchReply(count=3), {"retmax": 20, "retstart": 50}),
        (replace(WHOLE, ids=["NM_000546.6", "pdb|1ABC|A"]), {"retmax": 20, "accessions": True}),
        (replace(WHOLE, retstart=10), {"retmax": 20, "retstart": 10}),
        (WHOLE, {"retmax": 2, "history": True, "among": {"7", "8", "9"}}),
        (ESearchReply(count=0), {"retmax": 2, "history": True}),
    ],
)
def test_a_reply_without_a_contradiction_passes(reply: ESearchReply, request_: dict[str, Any]) -> None:
    check_esearch(reply, **request_)


def test_no_recorded_reply_is_refused(real_data: Path) -> None:
    for path in list_recordings(real_data / "esearch"):
        reply = parse_esearch(path.read_bytes())
        retmax = max(reply.retmax or 0, len(reply.ids))
        check_esearch(reply, retmax=retmax, retstart=reply.retstart or 0, history=reply.web_env is not None)


def _write_reply(translation: str, warnings: str) -> str:
    reply = parse_esearch(
        f"<eSearchResult><Count>1</Count><IdList/><QueryTranslation>{translation}</QueryTranslation>"
        f"{warnings}</eSearchResult>".encode()
    )
    return " ".join(message.message for message in reply.warning_messages)


@pytest.mark.parametrize(
    ("translation", "warning", "says"),
    [
        ('"a"[All Fields]', "<PhraseNotFound>zzqq</PhraseNotFound>", "removed it"),
        ('"a"[All Fields] AND "zz qq"[Title]', "<PhraseNotFound>zz qq[ti]</PhraseNotFound>", "No record matches"),
        (
            "Zz qq 7[Next Level] AND a[subtree]",
            "<PhraseNotFound>Zz qq 7[Next Level]</PhraseNotFound>",
            "No record matches",
        ),
        ('"a"[All Fields]', "<FieldNotFound>foo</FieldNotFound>", "searched without it"),
        ("a[Foo]", "<FieldNotFound>foo</FieldNotFound>", "translation of the query contains it"),
        ('"x"[ti] AND "y"[ti]', '<QuotedPhraseNotFound>"x y"[ti]</QuotedPhraseNotFound>', "searched its words"),
        ('"x y"[Journal]', '<QuotedPhraseNotFound>"x y"[Journal]</QuotedPhraseNotFound>', "No record matches"),
        ('"a"[All Fields]', '<QuotedPhraseNotFound>"x y"</QuotedPhraseNotFound>', "removed it"),
    ],
)
def test_a_warning_agrees_with_the_translation_of_the_reply(translation: str, warning: str, says: str) -> None:
    name = "ErrorList" if warning.startswith(("<Phrase", "<Field")) else "WarningList"

    assert says in _write_reply(translation, f"<{name}>{warning}</{name}>")


def test_many_warnings_of_one_kind_are_one_message_that_names_the_first_few() -> None:
    phrases = "".join(f"<PhraseNotFound>zz{number}</PhraseNotFound>" for number in range(2_990))
    reply = parse_esearch(
        f"<eSearchResult><Count>1</Count><ErrorList>{phrases}<FieldNotFound>foo</FieldNotFound>"
        "<FieldNotFound>foo</FieldNotFound></ErrorList></eSearchResult>".encode()
    )

    many, one = reply.warning_messages
    assert many.message.startswith("2,990 phrases are in no record")
    assert many.message.endswith("zz0, zz1, zz2, zz3, zz4 ...")
    assert many.terms[:2] == ("zz0", "zz1")
    assert len(many.terms) == 200
    assert one.message.count("'foo'") == 1
    assert one.terms == ()


def test_a_translation_shows_used_terms_only_if_every_term_has_a_field() -> None:
    def find_fate(translation: str) -> str:
        errors = "<ErrorList><PhraseNotFound>zzqq</PhraseNotFound></ErrorList>"
        text = (
            f"<eSearchResult><Count>1</Count><QueryTranslation>{translation}</QueryTranslation>{errors}</eSearchResult>"
        )
        return parse_esearch(text.encode()).warnings[0].fate

    assert find_fate('"a"[Title] AND "zzqq"[Title]') == "kept"
    assert find_fate('"a"[Title] AND #1 AND zzqq[All Fields]') == "kept"
    assert find_fate('"a"[Title]') == "dropped"
    assert find_fate("a[ti] AND zzqq") == "dropped"  # the query that was sent


def test_a_recorded_translation_equal_to_the_query_shows_no_used_terms(real_data: Path) -> None:
    reply = parse_esearch((real_data / "esearch" / "hawc__TestPubmed.test_search.e2ecfb.xml").read_bytes())

    assert len(reply.warnings) == 3
    for warning in reply.warnings:
        assert warning.text in reply.query_translation
        assert (warning.code, warning.fate) == ("phrase_not_found", "dropped")
