"""The last tier of full text: the selection of a copy, and the reasons if there is no copy."""

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest
from fixture_types import KitFor
from pdf_files import encrypt_pdf, write_pdf, write_prose

from entrez_kit import EntrezKit
from entrez_kit.base.errors import EntrezKitError, UpstreamError
from entrez_kit.fulltext.article_lookup import Answer
from entrez_kit.fulltext.fulltext_articles import UnpaywallArticle
from entrez_kit.fulltext.unpaywall_tier import fetch_open_access
from entrez_kit.local.eutils.replies import HTML, JSON, LocalReply
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.services.transport.download.guard import Downloaded, download

DOI = "10.5555/tier.1"
PDF = write_pdf(write_prose(120), title="Title of the file")
PARAGRAPHS = "".join(f"<p>{' '.join(write_prose(60, 60 * number))}.</p>" for number in range(20))
PAGE = (
    f"<html><head><title>T</title></head><body><article><h1>T</h1><h2>Introduction</h2>{PARAGRAPHS}</article>".encode()
)
WALL = b"<html><head><title>Just a moment...</title></head><body><p>Please enable JavaScript and cookies.</p></body>"
LANDING = (
    '<html><head><meta name="citation_pdf_url" content="named.pdf"></head><body><article><h2>Abstract</h2>'
    f"<p>{' '.join(write_prose(150))}</p></article></body></html>"
).encode()


class Publisher:
    """Unpaywall and a publisher in the sandbox: locations by name, and the answer of each name."""

    def __init__(self, sandbox: Sandbox, answers: Mapping[str, LocalReply | bytes]) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.sandbox = sandbox
        self.record: dict[str, Any] = {"doi": DOI, "is_oa": True, "title": "Title at Unpaywall"}
        sandbox.route("/unpaywall", "unpaywall", self._unpaywall)
        sandbox.route("/publisher", "publisher", self._page)

    def locate(self, *locations: Mapping[str, str]) -> None:
        """Set the locations of the copies; names represent addresses."""
        keys = ("url", "url_for_pdf", "url_for_landing_page")
        listed = [
            {
                key: f"{self.sandbox.url}/publisher/{value}" if key in keys and "://" not in value else value
                for key, value in location.items()
            }
            for location in locations
        ]
        self.record |= {"best_oa_location": listed[0] if listed else None, "oa_locations": listed}

    def _unpaywall(self, request: LocalRequest, state: LocalState) -> LocalReply:
        return LocalReply(json.dumps(self.record).encode(), JSON)

    def _page(self, request: LocalRequest, state: LocalState) -> LocalReply:
        self.asked.append(request.rest)
        answer = self.answers.get(request.rest, LocalReply(b"no", HTML, 404))
        return LocalReply(answer, HTML) if isinstance(answer, bytes) else answer


def fetch_copy(kit: EntrezKit) -> UnpaywallArticle:
    """Return the copy there must be."""
    found = fetch_open_access(kit.services, DOI)
    assert isinstance(found, UnpaywallArticle), found
    return found


def expect_no_copy(kit: EntrezKit, doi: str = DOI) -> Answer:
    """Return why there is no copy."""
    found = fetch_open_access(kit.services, doi)
    assert isinstance(found, Answer), found
    return found


def test_the_pdf_of_the_best_copy_is_read_first(sandbox: Sandbox, kit_for: KitFor) -> None:
    publisher = Publisher(sandbox, {"a.pdf": LocalReply(PDF, "application/pdf"), "a": PAGE})
    publisher.locate(
        {
            "url_for_pdf": "a.pdf",
            "url": "a",
            "license": "cc-by",
            "host_type": "publisher",
            "version": "publishedVersion",
        }
    )
    found = fetch_copy(kit_for(sandbox))

    assert found.content.split() == [f"word{number}x" for number in range(120)]
    assert found == UnpaywallArticle(
        doi=DOI,
        source_url=f"{sandbox.url}/publisher/a.pdf",
        content_format="pdf-text",
        content=found.content,
        title="Title at Unpaywall",
        total_pages=1,
        license="cc-by",
        host_type="publisher",
        version="publishedVersion",
    )
    assert publisher.asked == ["a.pdf"]


@pytest.mark.parametrize(
    "broken",
    [
        LocalReply(b"no", HTML, 403),
        LocalReply(PDF[:200], "application/pdf"),
        LocalReply(encrypt_pdf(PDF, user="x", algorithm="RC4-128"), "application/pdf"),
        LocalReply(WALL, "application/pdf"),
        LocalReply(b'{"error": "not found"}', "application/pdf"),
        LocalReply(b"PK\x03\x04" + b"\x00" * 99, "application/pdf"),
        LocalReply(b"", "application/pdf"),
        LocalReply(b"", HTML, 302, (("Location", "http://169.254.169.254/latest/"),)),
    ],
)
def test_the_page_is_read_if_the_pdf_is_not_one(sandbox: Sandbox, kit_for: KitFor, broken: LocalReply) -> None:
    publisher = Publisher(sandbox, {"a.pdf": broken, "a": PAGE})
    publisher.locate({"url_for_pdf": "a.pdf", "url": "a.pdf", "url_for_landing_page": "a"})
    found = fetch_copy(kit_for(sandbox))

    assert (found.content_format, found.word_count) == ("html-markdown", 1202)
    assert "word1199x" in found.content
    assert publisher.asked == ["a.pdf", "a"]


def test_the_reason_for_rejecting_a_pdf_is_recorded(sandbox: Sandbox, kit_for: KitFor) -> None:
    publisher = Publisher(
        sandbox, {"a.pdf": LocalReply(b'{"error": 1}', "application/pdf"), "b.pdf": LocalReply(WALL, HTML)}
    )
    publisher.locate({"url_for_pdf": "a.pdf"}, {"url_for_pdf": "b.pdf"})
    found = expect_no_copy(kit_for(sandbox))

    assert found.outcome == "parse-failed"
    assert "/publisher/a.pdf is neither a PDF nor an HTML page (its type is application/pdf)" in str(found.detail)
    assert "/publisher/b.pdf is a page" in str(found.detail)


def test_a_page_at_the_address_of_a_pdf_is_read_as_a_page(sandbox: Sandbox, kit_for: KitFor) -> None:
    publisher = Publisher(sandbox, {"a.pdf": LocalReply(PAGE, "application/pdf")})
    publisher.locate({"url_for_pdf": "a.pdf"})

    assert fetch_copy(kit_for(sandbox)).content_format == "html-markdown"


def test_a_pdf_at_the_address_of_a_page_is_read_as_a_pdf(sandbox: Sandbox, kit_for: KitFor) -> None:
    publisher = Publisher(sandbox, {"a": LocalReply(PDF, HTML)})
    publisher.locate({"url": "a"})

    assert fetch_copy(kit_for(sandbox)).content_format == "pdf-text"


def test_further_copies_are_tried_with_their_own_licence(sandbox: Sandbox, kit_for: KitFor) -> None:
    publisher = Publisher(sandbox, {"c.pdf": LocalReply(PDF, "application/pdf")})
    publisher.locate(
        {"url_for_pdf": "a.pdf", "url": "a", "license": "cc-by"},
        {"url_for_pdf": "c.pdf", "license": "cc-by-nc", "host_type": "repository", "version": "acceptedVersion"},
    )
    found = fetch_copy(kit_for(sandbox))

    assert publisher.asked == ["a.pdf", "a", "c.pdf"]
    assert (found.license, found.host_type, found.version) == ("cc-by-nc", "repository", "acceptedVersion")


def test_at_most_four_addresses_are_requested(sandbox: Sandbox, kit_for: KitFor) -> None:
    publisher = Publisher(sandbox, {})
    publisher.locate(*({"url_for_pdf": f"{name}.pdf", "url": name} for name in "abcdef"))
    found = expect_no_copy(kit_for(sandbox))

    assert publisher.asked == ["a.pdf", "a", "b.pdf", "b"]
    assert found.outcome == "fetch-failed"
    assert str(found.detail).count("status 404") == 4


def test_the_pdf_named_in_a_page_about_the_article_is_read(sandbox: Sandbox, kit_for: KitFor) -> None:
    publisher = Publisher(sandbox, {"a": LANDING, "named.pdf": LocalReply(PDF, "application/pdf")})
    publisher.locate({"url": "a", "license": "cc0"}, {"url": "b"})
    found = fetch_copy(kit_for(sandbox))

    assert publisher.asked == ["a", "named.pdf"]
    assert (found.content_format, found.license) == ("pdf-text", "cc0")


def test_a_public_page_does_not_lead_to_a_service_on_this_machine(
    sandbox: Sandbox, kit_for: KitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unpaywall may run on this machine; a link there from a page of the public network is not followed."""
    publisher = Publisher(sandbox, {"named.pdf": LocalReply(PDF, "application/pdf")})
    publisher.locate({"url": "https://publisher.example/a"})
    requested: list[str] = []

    def fetch(url: str, **options: Any) -> Downloaded:
        requested.append(url)
        if url.startswith("https://publisher.example/"):
            named = LANDING.replace(b"named.pdf", f"{sandbox.url}/publisher/named.pdf".encode())
            return Downloaded(url, named, "text/html", "html")
        return download(url, **options)

    monkeypatch.setattr("entrez_kit.fulltext.unpaywall_tier.download", fetch)
    found = expect_no_copy(kit_for(sandbox, unpaywall_email="ada@example.org"))

    assert len(requested) == 2
    assert publisher.asked == []
    assert found.outcome == "parse-failed"


def test_an_abstract_is_not_returned_as_the_article(sandbox: Sandbox, kit_for: KitFor) -> None:
    publisher = Publisher(sandbox, {"a": LANDING})
    publisher.locate({"url": "a"})
    found = expect_no_copy(kit_for(sandbox))

    assert found.outcome == "parse-failed"
    assert "is a page about the article (151 words), not the article" in str(found.detail)
    assert "named.pdf could not be downloaded: status 404" in str(found.detail)


def test_pmcs_pages_are_requested_last(sandbox: Sandbox, kit_for: KitFor) -> None:
    publisher = Publisher(sandbox, {"a": PAGE})
    publisher.locate({"url": "https://www.ncbi.nlm.nih.gov/pmc/articles/1"}, {"url": "a"})

    assert fetch_copy(kit_for(sandbox)).source_url.endswith("/publisher/a")


@pytest.mark.parametrize(
    ("record", "detail"),
    [
        ({"is_oa": False}, "No open-access copy indexed"),
        ({"is_oa": False, "oa_locations": [{"url": "http://x.example"}]}, "No open-access copy indexed"),
        ({"is_oa": True, "oa_locations": []}, "OA flagged but no usable location URL"),
        ({"is_oa": True, "best_oa_location": {"license": "cc-by"}}, "OA flagged but no usable location URL"),
    ],
)
def test_an_article_without_a_copy_is_reported(
    sandbox: Sandbox, kit_for: KitFor, record: dict[str, Any], detail: str
) -> None:
    publisher = Publisher(sandbox, {})
    publisher.record = {"doi": DOI, **record}

    assert expect_no_copy(kit_for(sandbox)) == Answer("no-oa", detail)


def test_a_doi_that_unpaywall_does_not_know_or_accept_has_no_copy(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)

    assert expect_no_copy(kit, "10.5555/unknown.1") == Answer("no-oa", "DOI unknown to Unpaywall")
    assert expect_no_copy(kit, "11.5555/no.doi") == Answer("no-oa", "Invalid DOI format")


def test_a_tier_without_an_email_is_not_attempted(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    object.__setattr__(kit.settings, "unpaywall_email", None)
    found = expect_no_copy(kit)

    assert (found.outcome, found.detail) == ("not-attempted", "UNPAYWALL_EMAIL is not set")
    assert sandbox.requests() == 0


def test_an_outage_of_unpaywall_is_a_retryable_service_error(sandbox: Sandbox, kit_for: KitFor) -> None:
    sandbox.fail_next("500", "unpaywall", times=20)
    kit = kit_for(sandbox, ncbi_max_retries=1)
    found = expect_no_copy(kit)
    with pytest.raises(EntrezKitError) as caught:
        kit.services.unpaywall.find_location(DOI)

    assert found.outcome == "service-error"
    assert caught.value.retryable
    assert "Unpaywall" in str(found.detail)


def test_an_email_that_unpaywall_refuses_is_a_permanent_service_error(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox, unpaywall_email="me@example.com")
    found = expect_no_copy(kit, "10.5555/ekit.2025.0010")
    with pytest.raises(EntrezKitError) as caught:
        kit.services.unpaywall.find_location("10.5555/ekit.2025.0010")

    assert (found.outcome, found.detail) == (
        "service-error",
        "Unpaywall rejects the e-mail address in UNPAYWALL_EMAIL",
    )
    assert not caught.value.retryable


def test_copies_at_private_addresses_are_not_requested(sandbox: Sandbox, kit_for: KitFor) -> None:
    publisher = Publisher(sandbox, {})
    publisher.locate({"url": "http://127.0.0.1:1/"}, {"url": "file:///etc/passwd"}, {"url": "http://10.0.0.1/a.pdf"})
    found = expect_no_copy(kit_for(sandbox))

    assert found.outcome == "fetch-failed"
    assert str(found.detail).count("cannot be downloaded") == 3


def test_copies_in_pmc_are_tried_last(sandbox: Sandbox, kit_for: KitFor, monkeypatch: pytest.MonkeyPatch) -> None:
    requested: list[str] = []

    def refuse(url: str, **options: Any) -> Downloaded:
        requested.append(url.split("/")[2])
        raise UpstreamError("no copy")

    monkeypatch.setattr("entrez_kit.fulltext.unpaywall_tier.download", refuse)
    publisher = Publisher(sandbox, {})
    hosts = ["pmc.ncbi.nlm.nih.gov", "europepmc.org", "ncbi.nlm.nih.gov.example", "publisher.example"]
    publisher.locate(*({"url": f"https://{host}/a"} for host in hosts))
    expect_no_copy(kit_for(sandbox))

    assert requested == [*hosts[2:], *hosts[:2]]


def test_all_copies_together_have_one_time_limit(
    sandbox: Sandbox, kit_for: KitFor, monkeypatch: pytest.MonkeyPatch, leaping_clock: list[float]
) -> None:
    def download_slowly(url: str, *, deadline_s: float, **options: Any) -> Downloaded:
        time.sleep(deadline_s)
        raise UpstreamError(f"{url} was too slow")

    monkeypatch.setattr("entrez_kit.fulltext.unpaywall_tier.download", download_slowly)
    publisher = Publisher(sandbox, {})
    publisher.locate(*({"url": name} for name in "abcd"))
    kit = kit_for(sandbox, unpaywall_timeout_ms=10_000)
    found = expect_no_copy(kit)

    assert found.outcome == "fetch-failed"
    assert [round(seconds) for seconds in leaping_clock] == [30, 30]


def test_offline_no_copy_is_requested(sandbox: Sandbox, kit_for: KitFor) -> None:
    publisher = Publisher(sandbox, {"a": PAGE})
    publisher.locate({"url": "a"})
    fetch_copy(kit_for(sandbox))
    found = expect_no_copy(kit_for(sandbox, offline=True))

    assert found.outcome == "fetch-failed"
    assert "offline mode" in str(found.detail)


def test_no_copy_is_requested_twice(sandbox: Sandbox, kit_for: KitFor) -> None:
    publisher = Publisher(sandbox, {})
    publisher.locate({"url_for_pdf": "p", "url": "p"}, {"url_for_pdf": "q", "url": "l"}, {"url": "m"}, {"url": "l"})

    expect_no_copy(kit_for(sandbox, europepmc_max_retries=0))

    assert publisher.asked == ["p", "q", "l", "m"]
