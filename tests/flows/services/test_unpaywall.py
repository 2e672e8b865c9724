"""The Unpaywall client and the parsing of its replies."""

import gzip
import json
import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixture_types import KitFor
from used_recordings import require_recordings

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, NotConfigured, UpstreamError
from entrez_kit.base.settings import Settings
from entrez_kit.fulltext.unpaywall_tier import fetch_open_access
from entrez_kit.local.eutils.replies import JSON, LocalReply
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.services.unpaywall import Location, read_open_access

CANARY = "canary.address+tag@university-of-birds.edu"
DOI = "10.5555/ekit.2025.0010"
FOUND = {"doi": DOI, "is_oa": True, "best_oa_location": {"url": "https://x.example/a", "url_for_pdf": None}}


def always_answer(body: Any, status: int = 200) -> Callable[[LocalRequest, LocalState], LocalReply]:
    """Return an endpoint that always gives the same answer."""
    return lambda request, state: LocalReply(json.dumps(body).encode(), JSON, status)


def test_the_doi_is_sent_in_the_path_with_the_email(sandbox: Sandbox, kit_for: KitFor) -> None:
    requested: list[LocalRequest] = []

    def endpoint(request: LocalRequest, state: LocalState) -> LocalReply:
        requested.append(request)
        return LocalReply(json.dumps({**FOUND, "doi": request.rest}).encode(), JSON)

    sandbox.route("/unpaywall", "unpaywall", endpoint)
    kit = kit_for(sandbox, unpaywall_email=CANARY)
    reply = kit.services.unpaywall.find_location("https://doi.org/10.1002/(SICI)1096<67::AID-X>3.0.CO;2-A")

    assert requested[0].rest == "10.1002/(sici)1096<67::aid-x>3.0.co;2-a"
    assert requested[0].params == (("email", CANARY),)
    assert reply.url.endswith("/unpaywall/10.1002/(sici)1096%3C67::aid-x%3E3.0.co%3B2-a")


def test_each_doi_has_its_own_answer_and_is_requested_once(sandbox: Sandbox, kit_for: KitFor) -> None:
    services = kit_for(sandbox).services
    first = services.unpaywall.find_location(DOI)
    other = services.unpaywall.find_location("10.5555/ekit.2021.0017")
    again = services.unpaywall.find_location(f"doi:{DOI.upper()}")

    assert json.loads(first.content)["doi"] == DOI
    assert json.loads(other.content)["doi"] == "10.5555/ekit.2021.0017"
    assert (again.from_cache, again.content) == (True, first.content)
    assert sandbox.requests("unpaywall") == 2


def test_without_an_email_no_request_is_sent(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    object.__setattr__(kit.settings, "unpaywall_email", None)
    with pytest.raises(NotConfigured) as caught:
        kit.services.unpaywall.find_location(DOI)

    assert caught.value.message == "UNPAYWALL_EMAIL is not set"
    assert caught.value.reason == "unpaywall_disabled"
    assert sandbox.requests("unpaywall") == 0


def test_an_unknown_doi_is_not_found_and_not_requested_again(sandbox: Sandbox, kit_for: KitFor) -> None:
    unpaywall = kit_for(sandbox).services.unpaywall
    with pytest.raises(EntityNotFound, match="DOI unknown to Unpaywall"):
        unpaywall.find_location("10.5555/nobody.knows")

    assert sandbox.requests("unpaywall") == 1


@pytest.mark.parametrize(
    "doi", ["", "no doi", "11.1000/x", "10.1000/../../v2/other", "10.1000/a b", "10.1000/" + "a" * 600]
)
def test_an_invalid_doi_is_rejected_before_any_request(sandbox: Sandbox, kit_for: KitFor, doi: str) -> None:
    with pytest.raises(InvalidInput, match="Invalid DOI format"):
        kit_for(sandbox).services.unpaywall.find_location(doi)

    assert sandbox.requests("unpaywall") == 0


def test_a_refused_doi_and_a_refused_email_are_distinguished(sandbox: Sandbox, kit_for: KitFor) -> None:
    unpaywall = kit_for(sandbox, unpaywall_email="me@example.com").services.unpaywall
    with pytest.raises(NotConfigured) as refused:
        unpaywall.find_location(DOI)
    sandbox.route(
        "/unpaywall", "unpaywall", always_answer({"error": True, "message": "'10.5/x' is an invalid doi."}, 422)
    )
    with pytest.raises(InvalidInput, match="Invalid DOI format") as invalid:
        unpaywall.find_location(DOI)

    assert refused.value.reason == "bad_email"
    assert invalid.value.reason == "invalid_doi"


@pytest.mark.parametrize("kind", ["429", "500", "truncate", "html", "error200", "cut", "reset", "503", "prolog"])
def test_a_failed_request_is_repeated(sandbox: Sandbox, kit_for: KitFor, kind: str) -> None:
    sandbox.fail_next(kind, "unpaywall")
    reply = kit_for(sandbox).services.unpaywall.find_location(DOI)

    assert read_open_access(reply.content).is_oa
    assert sandbox.requests("unpaywall") == 2


def test_the_email_appears_nowhere(
    sandbox: Sandbox, kit_for: KitFor, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    reported: list[str] = []

    def endpoint(request: LocalRequest, state: LocalState) -> LocalReply:
        email = request.get("email")
        reported.append(email)
        if request.rest.endswith("refused"):
            return LocalReply(json.dumps({"error": True, "message": f"{email} is refused"}).encode(), JSON, 422)
        if request.rest.endswith("unknown"):
            return LocalReply(json.dumps({"error": True, "message": f"unknown to {email}"}).encode(), JSON, 404)
        if request.rest.endswith("broken"):
            return LocalReply(f"<html><title>{email}</title></html>".encode(), JSON, 500)
        url = f"{sandbox.url}/publisher/none?email={email}"
        return LocalReply(json.dumps({**FOUND, "best_oa_location": {"url": url}, "asked_by": email}).encode(), JSON)

    sandbox.route("/unpaywall", "unpaywall", endpoint)
    kit = kit_for(sandbox, unpaywall_email=CANARY, ncbi_max_retries=1)
    shown: list[str] = []
    for name in ("found", "refused", "unknown", "broken"):
        doi = f"10.5555/{name}"
        try:
            reply = kit.services.unpaywall.find_location(doi)
            shown += [reply.content.decode(), repr(reply)]
        except EntrezKitError as exc:
            shown += [str(exc.envelope()), repr(exc), "".join(traceback.format_exception(exc))]
        shown.append(repr(fetch_open_access(kit.services, doi)))
    kit.close()
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    text = "\n".join([*shown, caplog.text, repr(kit.settings), *(record.getMessage() for record in caplog.records)])

    assert set(reported) == {CANARY}
    assert len(shown) >= 12
    assert files
    for spelling in (CANARY, "canary.address", "canary", CANARY.replace("@", "%40")):
        assert spelling not in text
        assert not any(spelling.encode() in file.read_bytes() for file in files), spelling


# Reading --------------------------------------------------------------------------------------------------------------


def test_recorded_replies_are_read(real_data: Path) -> None:
    files = sorted((real_data / "unpaywall").glob("*doi_search*.json"))
    require_recordings(files)
    for file in files:
        raw = json.loads(file.read_bytes())
        found = read_open_access(file.read_bytes())
        assert (found.doi, found.is_oa) == (raw["doi"], raw["is_oa"])
        assert bool(found.locations) == bool(raw["oa_locations"])
        if raw["best_oa_location"]:
            assert found.locations[0].url == raw["best_oa_location"]["url"]
            assert len(found.locations) == len(raw["oa_locations"])


def test_every_line_of_a_recorded_snapshot_is_read(real_data: Path) -> None:
    with gzip.open(real_data / "unpaywall" / "biblio-glutton__unpaywall_sample.json.gz") as lines:
        found = [read_open_access(line) for line in lines]
    open_ones = [one for one in found if one.is_oa]

    assert len(found) == 1000
    assert 20 < len(open_ones) < 100
    assert all(one.locations and (one.locations[0].url or one.locations[0].url_for_pdf) for one in open_ones)
    assert not any(one.locations for one in found if not one.is_oa)


def test_recorded_results_of_a_title_search_have_the_same_records(real_data: Path) -> None:
    files = sorted((real_data / "unpaywall").glob("*title_search*.json"))
    results = [result["response"] for file in files for result in json.loads(file.read_bytes())["results"]]
    require_recordings(results)

    for result in results:
        found = read_open_access(json.dumps(result).encode())
        assert found.doi == result["doi"]
        urls = [(location.url_for_pdf, location.url) for location in found.locations]
        assert len(set(urls)) == len(urls)


def test_the_best_copy_is_first_and_there_are_no_duplicates() -> None:
    best = {"url": "https://b.example/p", "url_for_pdf": "https://b.example/p.pdf", "license": "cc-by"}
    other = {"url": "https://a.example/", "host_type": "repository", "version": "acceptedVersion"}
    body = {"doi": DOI, "is_oa": True, "best_oa_location": best, "oa_locations": [other, best, dict(other), None, "x"]}

    assert read_open_access(json.dumps(body).encode()).locations == (
        Location("https://b.example/p.pdf", "https://b.example/p", license="cc-by"),
        Location(None, "https://a.example/", host_type="repository", version="acceptedVersion"),
    )


def test_invalid_values_of_a_copy_are_omitted() -> None:
    place = {"url": " https://a.example/ ", "host_type": "moon", "version": "draft", "license": "", "url_for_pdf": 7}
    body = {"doi": DOI, "is_oa": True, "best_oa_location": place, "oa_locations": None, "title": None}

    assert read_open_access(json.dumps(body).encode()).locations == (Location(None, "https://a.example/"),)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"doi": null, "is_oa": true}', b"<html>", b"null"])
def test_an_invalid_reply_is_an_error_and_not_a_closed_article(content: bytes) -> None:
    with pytest.raises(UpstreamError) as caught:
        read_open_access(content)

    assert caught.value.reason == "invalid_response"


def test_the_sandbox_sets_an_invented_email_only_in_its_own_settings() -> None:
    demo = Settings().use_sandbox("http://127.0.0.1:1")
    assert demo.unpaywall_email is not None
    assert demo.unpaywall_email.get_secret_value().endswith(".invalid")
    assert "invalid" not in repr(demo.unpaywall_email)
    assert Settings().unpaywall_email is None
