"""PMC's open-data bucket."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fixture_types import KitFor
from lxml import etree
from used_recordings import require_recordings

from entrez_kit.base.errors import EntityNotFound, InvalidInput, UpstreamError
from entrez_kit.local.eutils.replies import JSON, XML, LocalReply
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.sandbox.server import Sandbox

ARTICLE = b'<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD" "JATS.dtd"><article><body/></article>'
NAME = "PMC9984800.1"
S3 = f"s3://pmc-oa-opendata/{NAME}/{NAME}.xml?md5=ca72ed62a792cc584d96f49666288a78"


def write_listing(*names: str, form: str = "<CommonPrefixes><Prefix>{}/</Prefix></CommonPrefixes>") -> bytes:
    """Return a list of versions as S3 writes it."""
    found = "".join(form.format(name) for name in names)
    return f'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{found}</ListBucketResult>'.encode()


def serve_bucket(sandbox: Sandbox, files: Mapping[str, Any], listed: bytes) -> list[str]:
    """Make the sandbox serve a bucket with these files; return the list of requested keys."""
    requested: list[str] = []

    def endpoint(request: LocalRequest, state: LocalState) -> LocalReply:
        requested.append(request.rest or request.get("prefix"))
        if not request.rest:
            return LocalReply(listed, XML)
        body = files.get(request.rest)
        if body is None:
            return LocalReply(b"<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>", XML, 404)
        return LocalReply(body, XML) if isinstance(body, bytes) else LocalReply(json.dumps(body).encode(), JSON)

    sandbox.route("/pmc-oa", "pmc_oa", endpoint)
    return requested


def test_the_latest_version_is_found_and_fetched_from_the_bucket(sandbox: Sandbox, kit_for: KitFor) -> None:
    requested = serve_bucket(sandbox, {f"{NAME}/{NAME}.xml": ARTICLE}, write_listing(NAME))
    reply = kit_for(sandbox).services.pmc_oa.fetch_article("9984800")

    assert reply.content == ARTICLE
    assert requested == ["PMC9984800.", f"{NAME}/{NAME}.xml"]


def test_an_article_at_another_place_is_found_by_its_metadata(sandbox: Sandbox, kit_for: KitFor) -> None:
    usual, elsewhere = f"{NAME}/{NAME}.xml", f"{NAME}/{NAME}-2.xml"
    address = f"s3://pmc-oa-opendata/{elsewhere}?md5=ca72ed62a792cc584d96f49666288a78"
    files = {f"metadata/{NAME}.json": {"pmcid": "PMC9984800", "xml_url": address}, elsewhere: ARTICLE}
    requested = serve_bucket(sandbox, files, write_listing(NAME))
    reply = kit_for(sandbox).services.pmc_oa.fetch_article("9984800")

    assert reply.content == ARTICLE
    assert requested == ["PMC9984800.", usual, f"metadata/{NAME}.json", elsewhere]
    assert "md5" not in reply.url


def test_recorded_lists_name_their_versions(sandbox: Sandbox, kit_for: KitFor, real_data: Path) -> None:
    files = sorted((real_data / "pmc_oa").glob("*versions.xml"))
    require_recordings(files)
    for file in files:
        pmcid = file.name.split("__")[1].split("-")[0].upper()
        serve_bucket(sandbox, {}, file.read_bytes())
        assert kit_for(sandbox).services.pmc_oa.find_latest_version(pmcid) == f"{pmcid}.1"


@pytest.mark.parametrize(
    ("names", "latest"),
    [
        (["PMC7.1", "PMC7.2", "PMC7.10"], "PMC7.10"),
        (["PMC7.9", "PMC7.10", "PMC7.2"], "PMC7.10"),
        (["PMC77.3", "PMC7.1"], "PMC7.1"),
    ],
)
def test_versions_are_compared_as_numbers(sandbox: Sandbox, kit_for: KitFor, names: list[str], latest: str) -> None:
    serve_bucket(sandbox, {}, write_listing(*names))
    assert kit_for(sandbox, no_cache=True).services.pmc_oa.find_latest_version("PMC7") == latest
    serve_bucket(sandbox, {}, write_listing(*names, form="<Contents><Key>{}/a.xml</Key></Contents>"))
    assert kit_for(sandbox, no_cache=True).services.pmc_oa.find_latest_version("PMC7") == latest


def test_an_article_that_is_not_in_the_bucket_is_not_found(sandbox: Sandbox, kit_for: KitFor) -> None:
    serve_bucket(sandbox, {}, write_listing())
    with pytest.raises(EntityNotFound) as caught:
        kit_for(sandbox).services.pmc_oa.fetch_article("PMC3040717")

    assert caught.value.reason == "not_in_bucket"


def test_an_article_without_xml_is_not_found(sandbox: Sandbox, kit_for: KitFor) -> None:
    serve_bucket(sandbox, {f"metadata/{NAME}.json": {"pmcid": "PMC9984800", "text_url": S3}}, write_listing(NAME))
    with pytest.raises(EntityNotFound) as caught:
        kit_for(sandbox).services.pmc_oa.fetch_article("PMC9984800")

    assert caught.value.reason == "no_xml"


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "invalid_response"),
        ({f"metadata/{NAME}.json": {"xml_url": S3}}, "invalid_response"),
        ({f"metadata/{NAME}.json": {"xml_url": S3}, f"{NAME}/{NAME}.xml": b"<html>Sorry</html>"}, "invalid_response"),
        ({f"metadata/{NAME}.json": {"xml_url": S3}, f"{NAME}/{NAME}.xml": ARTICLE[:-9]}, "invalid_response"),
    ],
)
def test_a_failing_bucket_is_distinguished_from_one_without_the_article(
    sandbox: Sandbox, kit_for: KitFor, files: dict[str, Any], reason: str
) -> None:
    serve_bucket(sandbox, files, write_listing(NAME))
    with pytest.raises(UpstreamError) as caught:
        kit_for(sandbox, ncbi_max_retries=1).services.pmc_oa.fetch_article("PMC9984800")

    assert caught.value.reason == reason


def test_a_wrong_base_address_is_not_a_missing_article(sandbox: Sandbox, kit_for: KitFor) -> None:
    sandbox.take_down("pmc_oa")
    with pytest.raises(UpstreamError) as caught:
        kit_for(sandbox).services.pmc_oa.fetch_article("PMC99000001")

    assert caught.value.reason == "no_such_address"


@pytest.mark.parametrize(
    "address",
    [
        f"s3://pmc-oa-opendata/{NAME}/a.xml?md5=ca72ed62a792cc584d96f49666288a78",
        f"s3://pmc-oa-opendata/{NAME}/a.xml",
        f"https://pmc-oa-opendata.s3.amazonaws.com/{NAME}/a.xml?md5=0",
        f"https://s3.amazonaws.com/pmc-oa-opendata/{NAME}/a.xml",
        f"{NAME}/a.xml",
    ],
)
def test_the_file_is_fetched_from_the_bucket_for_any_form_of_its_address(
    sandbox: Sandbox, kit_for: KitFor, address: str
) -> None:
    serve_bucket(
        sandbox, {f"metadata/{NAME}.json": {"xml_url": address}, f"{NAME}/a.xml": ARTICLE}, write_listing(NAME)
    )

    assert kit_for(sandbox).services.pmc_oa.fetch_article("PMC9984800").content == ARTICLE


@pytest.mark.parametrize(
    "address",
    [
        "s3://another-bucket/a.xml",
        "https://elsewhere.example/a.xml",
        "https://pmc-oa-opendata.s3.amazonaws.com.elsewhere.example/a.xml",
        "http://127.0.0.1:1/a.xml",
        "file:///etc/passwd",
        "s3://pmc-oa-opendata/../../etc/passwd",
        "s3://pmc-oa-opendata/a/%2e%2e/%2e%2e/b.xml",
        "s3://pmc-oa-opendata/",
        "s3://user@pmc-oa-opendata/a.xml",
        "//elsewhere.example/a.xml",
    ],
)
def test_metadata_cannot_lead_to_an_address_outside_of_the_bucket(
    sandbox: Sandbox, kit_for: KitFor, address: str
) -> None:
    requested = serve_bucket(sandbox, {f"metadata/{NAME}.json": {"xml_url": address}}, write_listing(NAME))
    with pytest.raises(UpstreamError, match="outside"):
        kit_for(sandbox).services.pmc_oa.fetch_article("PMC9984800")

    assert requested == ["PMC9984800.", f"{NAME}/{NAME}.xml", f"metadata/{NAME}.json"]


def test_metadata_next_to_the_article_are_read_too(sandbox: Sandbox, kit_for: KitFor) -> None:
    files = {f"{NAME}/{NAME}.json": {"xml_url": f"{NAME}/a.xml"}, f"{NAME}/a.xml": ARTICLE}
    serve_bucket(sandbox, files, write_listing(NAME))

    assert kit_for(sandbox).services.pmc_oa.fetch_article("PMC9984800").content == ARTICLE


@pytest.mark.parametrize("pmcid", ["", "PMC", "PMC0", "12x", "../PMC1", "PMC1/../2"])
def test_an_invalid_pmcid_is_rejected(sandbox: Sandbox, kit_for: KitFor, pmcid: str) -> None:
    with pytest.raises(InvalidInput):
        kit_for(sandbox).services.pmc_oa.fetch_article(pmcid)


def test_an_article_is_fetched_once_and_each_has_its_own_cache_entry(sandbox: Sandbox, kit_for: KitFor) -> None:
    bucket_client = kit_for(sandbox).services.pmc_oa
    first, other = bucket_client.fetch_article("PMC99000001"), bucket_client.fetch_article("PMC99000002")
    before = sandbox.requests("pmc_oa")
    again = bucket_client.fetch_article("PMC99000001")

    assert first.content != other.content
    assert (again.from_cache, again.content) == (True, first.content)
    assert sandbox.requests("pmc_oa") == before


@pytest.mark.parametrize("kind", ["429", "500", "truncate", "html", "cut", "503"])
def test_a_failed_request_is_repeated(sandbox: Sandbox, kit_for: KitFor, kind: str) -> None:
    sandbox.fail_next(kind, "pmc_oa")
    reply = kit_for(sandbox).services.pmc_oa.fetch_article("PMC99000001")

    assert etree.fromstring(reply.content).tag == "article"


def test_the_bucket_of_the_sandbox_has_most_articles_in_up_to_two_versions(sandbox: Sandbox, kit_for: KitFor) -> None:
    client = kit_for(sandbox).services.pmc_oa
    article = etree.fromstring(client.fetch_article("PMC99000002").content)

    assert client.find_latest_version("PMC99000002") == "PMC99000002.2"
    assert client.find_latest_version("PMC99000001") == "PMC99000001.1"
    assert [node.text for node in article.iterfind("body/sec/title")] == [
        "Introduction",
        "Methods",
        "Results",
        "Discussion",
    ]
    with pytest.raises(EntityNotFound):
        client.fetch_article("PMC99000005")
