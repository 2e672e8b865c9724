"""The texts of the demo corpus: invented, well-formed, and each the text of its record."""

from importlib import resources
from importlib.resources.abc import Traversable
from xml.etree import ElementTree

import pytest

from entrez_kit.sandbox.server import Sandbox

FILES = sorted(resources.files("entrez_kit.fixtures").joinpath("pmc").iterdir(), key=lambda file: file.name)


def fetch_articles(sandbox: Sandbox, *numbers: str) -> ElementTree.Element:
    from entrez_kit.services.eutils import EUtils
    from entrez_kit.services.transport.client import Transport

    settings = sandbox.settings()
    transport = Transport(settings)
    try:
        content = EUtils(transport, settings).efetch(db="pmc", ids=list(numbers), retmode="xml").content
    finally:
        transport.close()
    return ElementTree.fromstring(content)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_text_is_invented_and_belongs_to_a_record(file: Traversable, sandbox: Sandbox) -> None:
    root = ElementTree.fromstring(file.read_bytes())
    number = root.get("pmcid", "").removeprefix("PMC")
    article = fetch_articles(sandbox, number).find("article")

    assert file.name == f"PMC{number}.xml"
    assert "entrez-kit" in "".join(root.itertext())
    assert article is not None
    ids = {node.get("pub-id-type"): node.text for node in article.iterfind("front/article-meta/article-id")}
    assert (ids["pmcid"], ids["doi"]) == (f"PMC{number}", root.get("doi"))
    assert article.find("body/sec/title") is not None
    cited = {node.get("rid") for node in article.iter("xref") if node.get("ref-type") == "bibr"}
    assert cited <= {node.get("id") for node in article.iter("ref")}


def test_articles_without_a_text_have_front_matter_and_the_publishers_notice(sandbox: Sandbox) -> None:
    root = fetch_articles(sandbox, "99000003", "1")
    article = root.find("article")

    assert article is not None
    assert article.find("body") is None
    assert article.findtext("front/article-meta/contrib-group/contrib/name/surname") == "Okpara-Lindgren"
    assert [node.get("id") for node in root.iter("error")] == ["1"]
