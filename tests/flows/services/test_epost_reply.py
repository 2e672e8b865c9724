"""EPost's reply: valid handles are read, and everything else is refused."""

import pytest
from fixture_types import KitFor

from entrez_kit.base.errors import UpstreamError
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.services.small_replies import EPostReply, parse_epost


def write_reply(key: str, environment: str, more: str = "") -> bytes:
    return f"<ePostResult>{more}<QueryKey>{key}</QueryKey><WebEnv>{environment}</WebEnv></ePostResult>".encode()


@pytest.mark.parametrize(
    "environment",
    ["MCID_692851c130aec64bed0a8c2a", "0rACq8_iP87yHkqqm0SBaU38LzWLHIUd-J4QozMr31bh@03ED1E11941B69F1_0100SID"],
)
def test_key_and_environment_are_read(environment: str) -> None:
    assert parse_epost(write_reply("2", environment)) == EPostReply(environment, 2)


def test_omitted_ids_are_named() -> None:
    invalid = "<InvalidIdList>\n<Id>abc</Id><Id> </Id><Id>12x</Id></InvalidIdList>"

    assert parse_epost(write_reply("1", "MCID_0123456789", invalid)).invalid_ids == ["abc", "12x"]


@pytest.mark.parametrize(
    ("key", "environment"),
    [
        ("", "MCID_0123456789"),
        ("0", "MCID_0123456789"),
        ("one", "MCID_0123456789"),
        ("-1", "MCID_0123456789"),
        ("1", ""),
        ("1", "short"),
        ("1", "Some IDs have invalid value and were omitted"),
        ("1", "IDs contain invalid characters which was treated as delimiters."),
        ("1", "MCID_01234567\n89"),
        ("1", "x" * 400),
    ],
)
def test_an_error_text_is_not_an_environment(key: str, environment: str) -> None:
    with pytest.raises(UpstreamError) as caught:
        parse_epost(write_reply(key, environment))

    assert caught.value.reason == "invalid_response"


@pytest.mark.parametrize("body", [b"", b"<html/>", b"<ePostResult><ERROR>x</ERROR></ePostResult>", b'{"a": 1}'])
def test_an_invalid_reply_is_refused(body: bytes) -> None:
    with pytest.raises(UpstreamError):
        parse_epost(body)


def test_a_result_set_posted_to_the_sandbox_can_be_fetched(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    posted = parse_epost(kit.eutils.epost(db="pubmed", ids=["99000002", "99000001", "abc"]).content)
    fetched = kit.eutils.efetch(
        db="pubmed", webenv=posted.web_env, query_key=str(posted.query_key), rettype="uilist", retmode="text"
    )

    assert posted.invalid_ids == ["abc"]
    assert fetched.content.split() == [b"99000002", b"99000001"]
