"""Unpaywall, the publisher and the open-data bucket of the sandbox."""

import json
from io import BytesIO
from pathlib import Path

import pytest
import requests
from fixture_types import KitFor
from lxml import etree, html
from pypdf import PdfReader

from entrez_kit import EntrezKit
from entrez_kit.fulltext.article_lookup import Answer
from entrez_kit.fulltext.fulltext_articles import UnpaywallArticle
from entrez_kit.fulltext.unpaywall_tier import fetch_open_access
from entrez_kit.sandbox.server import Sandbox


def get(sandbox: Sandbox, path: str, **params: str) -> requests.Response:
    """Send a request to the sandbox."""
    return requests.get(f"{sandbox.url}{path}", params=params, timeout=10, allow_redirects=False)


@pytest.mark.parametrize("base", ["/unpaywall", "/unpaywall/v2"])
def test_unpaywall_answers_at_both_addresses(sandbox: Sandbox, base: str) -> None:
    found = get(sandbox, f"{base}/10.5555/EKIT.2021.0017", email="me@university.edu")

    assert (found.status_code, found.json()["doi"]) == (200, "10.5555/ekit.2021.0017")
    assert found.json()["best_oa_location"]["url_for_pdf"] == f"{sandbox.url}/publisher/99000017.pdf"


@pytest.mark.parametrize("email", ["", "me@example.com", "nobody"])
def test_unpaywall_requires_a_real_email(sandbox: Sandbox, email: str) -> None:
    found = get(sandbox, "/unpaywall/v2/10.5555/ekit.2021.0017", **({"email": email} if email else {}))

    assert found.status_code == 422
    assert "mail" in found.json()["message"]


@pytest.mark.parametrize("doi", ["10.5555/nobody", "no-doi", ""])
def test_unpaywall_does_not_know_other_dois(sandbox: Sandbox, doi: str) -> None:
    assert get(sandbox, f"/unpaywall/v2/{doi}", email="me@university.edu").status_code == 404


def test_the_email_is_not_stored(sandbox: Sandbox) -> None:
    get(sandbox, "/unpaywall/v2/10.5555/ekit.2021.0017", email="canary@university.edu")

    assert "canary" not in str(sandbox.entries())


def test_every_case_occurs_in_the_demo_corpus(sandbox: Sandbox, kit_for: KitFor) -> None:
    services = kit_for(sandbox).services
    found = {
        name: fetch_open_access(services, f"10.5555/ekit.{name}")
        for name in ("2021.0017", "2025.0010", "2021.0003", "2024.0008", "2019.0001")
    }
    copies = {name: copy for name, copy in found.items() if isinstance(copy, UnpaywallArticle)}

    assert {name: (copy.content_format, copy.host_type) for name, copy in copies.items()} == {
        "2021.0017": ("pdf-text", "publisher"),
        "2025.0010": ("html-markdown", "publisher"),
        "2021.0003": ("pdf-text", "repository"),
        "2019.0001": ("pdf-text", "publisher"),
    }
    assert found["2024.0008"] == Answer("no-oa", "No open-access copy indexed")
    for copy in copies.values():
        assert "nobody's article" in " ".join(copy.content.split())
        assert "forty" not in copy.content
        assert len(copy.content.split()) > 200
        assert (copy.word_count is None) == (copy.content_format == "pdf-text")


def test_a_page_has_the_text_once_with_menus_around_it(sandbox: Sandbox) -> None:
    found = get(sandbox, "/publisher/99000010.html")
    root = html.fromstring(found.content)

    assert found.headers["Content-Type"].startswith("text/html")
    assert [heading.text for heading in root.iter("h2")] == [
        "Abstract",
        "Introduction",
        "Methods",
        "Results",
        "Discussion",
        "Materials",
    ]
    assert len(root.findall(".//nav//li")) == 3
    assert len(root.findall(".//table//tr")) == 3


def test_a_pdf_has_the_title_and_as_many_pages_as_needed(sandbox: Sandbox) -> None:
    reader = PdfReader(BytesIO(get(sandbox, "/publisher/99000017.pdf").content), strict=True)
    text = " ".join(" ".join(page.extract_text() for page in reader.pages).split())

    assert reader.metadata is not None
    assert reader.metadata.title == (
        "Carbapenem-resistant Klebsiella pneumoniae in seven invented hospitals: a surveillance study."
    )
    assert text.endswith("passed on without asking anybody.")


def test_addresses_of_the_publisher_redirect_or_serve_files_or_do_not_exist(sandbox: Sandbox) -> None:
    moved = get(sandbox, "/publisher/99000010")
    wall = get(sandbox, "/publisher/99000003/download")

    assert (moved.status_code, moved.headers["Location"]) == (302, "99000010.html")
    assert (wall.headers["Content-Type"], wall.content[:9]) == ("application/pdf", b"<!DOCTYPE")
    for missing in ("99000010.pdf", "99000008.html", "1.html", "x", "../etc/passwd", "99000010.txt"):
        assert get(sandbox, f"/publisher/{missing}").status_code == 404
    assert not sandbox.defects


def test_the_bucket_answers_as_s3_does(sandbox: Sandbox) -> None:
    listed = etree.fromstring(
        get(sandbox, "/pmc-oa/", **{"list-type": "2", "prefix": "PMC99000002.", "delimiter": "/"}).content
    )
    record = get(sandbox, "/pmc-oa/metadata/PMC99000002.2.json").json()
    missing = get(sandbox, "/pmc-oa/metadata/PMC99000002.3.json")

    assert [node.text for node in listed.iterfind("{*}CommonPrefixes/{*}Prefix")] == [
        "PMC99000002.1/",
        "PMC99000002.2/",
    ]
    assert record["xml_url"].startswith("s3://pmc-oa-opendata/PMC99000002.2/PMC99000002.2.xml?md5=")
    assert missing.status_code == 404
    assert etree.fromstring(missing.content).findtext("Code") == "NoSuchKey"
    for key in ("PMC99000005.1/PMC99000005.1.xml", "PMC1.1/PMC1.1.xml", "PMC99000002.1/PMC99000002.2.xml", "x/y"):
        assert get(sandbox, f"/pmc-oa/{key}").status_code == 404
    assert not sandbox.defects


@pytest.mark.parametrize("endpoint", ["unpaywall", "publisher", "pmc_oa"])
def test_faults_apply_to_these_services_too(sandbox: Sandbox, endpoint: str) -> None:
    path = {
        "unpaywall": "/unpaywall/v2/10.5555/ekit.2021.0017",
        "publisher": "/publisher/99000017.pdf",
        "pmc_oa": "/pmc-oa/PMC99000001.1/PMC99000001.1.xml",
    }[endpoint]
    sandbox.fail_next("503", endpoint)

    assert get(sandbox, path, email="me@university.edu").status_code == 503
    assert get(sandbox, path, email="me@university.edu").status_code == 200


def test_a_demo_reads_copies_in_every_run(tmp_path: Path) -> None:
    for _ in range(2):  # the second has the first one's cache, and its sandbox another port
        with EntrezKit(demo=True, home=tmp_path) as kit:
            copy = fetch_open_access(kit.services, "10.5555/ekit.2025.0010")
            assert isinstance(copy, UnpaywallArticle)
            assert copy.source_url == "http://127.0.0.1/publisher/99000010.html"


def test_generated_records_have_copies_as_well() -> None:
    with Sandbox(records=40, enforce_limits=False) as sandbox:
        pmids = [sandbox.collection.get_pmid(number) for number in range(40)]
        documents = [sandbox.collection.read_document(number) for number in range(40)]
        dois = [document.doi for document in documents if document.doi]
        answers = [get(sandbox, f"/unpaywall/{doi}", email="me@university.edu") for doi in dois]

        assert len(pmids) == 40
        assert all(answer.status_code == 200 for answer in answers)
        assert {json.loads(answer.content)["is_oa"] for answer in answers} == {True, False}
        assert not sandbox.defects
