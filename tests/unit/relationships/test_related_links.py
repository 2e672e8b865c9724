"""Links between articles in ELink's replies, recorded ones included."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from canned_services import write_elink_xml
from europepmc_relations import write_group, write_linkset
from used_recordings import require_recordings

from entrez_kit.base.errors import UpstreamError
from entrez_kit.relationships.links import LINK_NAMES, LinkedArticle, read_links
from entrez_kit.relationships.related_articles import normalize_scores
from entrez_kit.relationships.related_documents import Relation

RELATIONS: tuple[Relation, ...] = ("pubmed_similar_articles", "pubmed_citedin", "pubmed_references")
SIMILAR: Relation = "pubmed_similar_articles"


def list_recordings(folder: Path) -> list[tuple[Path, str]]:
    """Return every recorded reply with links between articles, and the article of each."""
    found = []
    for path in sorted((folder / "elink").glob("*.xml")):
        text = path.read_text(encoding="utf-8")
        sources = re.findall(r"<IdList>\s*<Id>(\d+)</Id>\s*</IdList>", text)
        if "<DbFrom>pubmed</DbFrom>" in text and "<LinkSetDb>" in text and len(sources) == 1:
            found.append((path, sources[0]))
    return found


@pytest.mark.parametrize("relation", RELATIONS)
def test_recorded_links_are_read_without_loss_and_in_order(real_data: Path, relation: Relation) -> None:
    replies = list_recordings(real_data)
    require_recordings(len(replies) >= 6)
    links = 0
    for path, source in replies:
        expected = []
        for database in ElementTree.parse(path).getroot().iter("LinkSetDb"):
            if database.findtext("LinkName") == LINK_NAMES[relation]:
                expected += [(link.findtext("Id") or "").strip() for link in database.iterfind("Link")]
        found = read_links(path.read_bytes(), relation, [source])

        assert list(found) == [source], path
        assert [link.pmid for link in found[source]] == [pmid for pmid in expected if pmid != source], path
        links += len(expected)
    assert links > {"pubmed_similar_articles": 300, "pubmed_citedin": 40, "pubmed_references": 50}[relation]


def test_only_similar_articles_have_recorded_scores(real_data: Path) -> None:
    content = (real_data / "elink" / "elink-json__sample-3.xml").read_bytes()

    assert read_links(content, SIMILAR, ["20210808"])["20210808"] == [
        LinkedArticle("15876306", 75133399),
        LinkedArticle("15466689", 66865452),
    ]
    # The "score" of citing articles is the number of the article itself.
    assert re.findall(rb"<Score>20210808</Score>", content)
    assert [link.raw_score for link in read_links(content, "pubmed_citedin", ["20210808"])["20210808"]] == [None, None]


def test_recorded_replies_that_merge_articles_are_refused(real_data: Path) -> None:
    content = (real_data / "elink" / "biopython__elink3.xml").read_bytes()

    with pytest.raises(UpstreamError, match="merged"):
        read_links(content, SIMILAR, ["11812492", "11774222"])


def test_only_links_of_the_requested_kind_are_returned() -> None:
    content = write_elink_xml(
        write_linkset(
            "7",
            write_group("pubmed_pubmed_five", "50"),
            write_group("pubmed_pubmed_citedin", "60"),
            write_group("pubmed_pubmed", "10", "11"),
            write_group("pubmed_pubmed_reviews", "70"),
            write_group("pubmed_pubmed", "12", db="pmc"),
            write_group("pubmed_pubmed", "13"),
        )
    )

    assert read_links(content, SIMILAR, ["7"]) == {"7": [LinkedArticle("10"), LinkedArticle("11"), LinkedArticle("13")]}


def test_the_article_itself_and_zeros_are_omitted() -> None:
    content = write_elink_xml(
        write_linkset("7", write_group("pubmed_pubmed", ("7", 99), ("10", 50), ("0", 40), ("0", 30)))
    )

    assert read_links(content, SIMILAR, ["7"]) == {"7": [LinkedArticle("10", 50)]}


@pytest.mark.parametrize(
    "sets",
    [
        pytest.param((), id="no link set"),
        pytest.param((write_linkset("", write_group("pubmed_pubmed", "10")),), id="links of nobody"),
        pytest.param((write_linkset("9", write_group("pubmed_pubmed", "10")),), id="links of another article"),
        pytest.param((write_linkset("7", write_group("pubmed_pubmed", "", "")),), id="links to nobody"),
        pytest.param(
            (write_linkset("7", write_group("pubmed_pubmed", "10", "n/a")),), id="a link that is not a number"
        ),
        pytest.param((write_linkset("7", write_group("pubmed_pubmed", "10", "")),), id="a link to nobody among others"),
        pytest.param((write_linkset("7", write_group("pubmed_pubmed", "10", "10")),), id="a link twice"),
        pytest.param((write_linkset("7"), write_linkset("9")), id="another article next to the requested one"),
    ],
)
def test_a_reply_without_the_article_is_not_an_answer(sets: tuple[str, ...]) -> None:
    with pytest.raises(UpstreamError):
        read_links(write_elink_xml(*sets), SIMILAR, ["7"])


def test_each_article_has_its_own_links_in_any_order() -> None:
    name = "pubmed_pubmed_refs"
    content = write_elink_xml(
        write_linkset("3", write_group(name, "30")),
        write_linkset("1", write_group(name, "10", "11")),
        write_linkset("2"),
    )
    found = read_links(content, "pubmed_references", ["1", "2", "3", "4"])

    assert found == {"3": [LinkedArticle("30")], "1": [LinkedArticle("10"), LinkedArticle("11")], "2": []}
    assert "4" not in found  # there was no answer about it, which is not the same as no links


@pytest.mark.parametrize(
    "error",
    [
        "Couldn't resolve #exLinkSrv2, the address table is empty.",
        'NCBI C++ Exception: Error: (CException::eUnknown) "CTxRawClient": TXCLIENT EOF',
    ],
)
def test_an_error_in_a_link_set_is_a_failure_and_not_no_links(error: str) -> None:
    with pytest.raises(UpstreamError) as caught:
        read_links(write_elink_xml(write_linkset("1", error=error)), SIMILAR, ["1"])
    assert caught.value.reason == "backend_error"

    partly = read_links(
        write_elink_xml(write_linkset("1", error=error), write_linkset("2", write_group("pubmed_pubmed", "5"))),
        SIMILAR,
        ["1", "2"],
    )
    assert partly == {"2": [LinkedArticle("5")]}


@pytest.mark.parametrize("content", [b"", b"<html/>", b"<eLinkResult>", b"<eSearchResult/>", b"{}"])
def test_an_invalid_elink_reply_is_a_failure(content: bytes) -> None:
    with pytest.raises(UpstreamError):
        read_links(content, SIMILAR, ["1"])


def test_scores_become_a_share_of_the_highest() -> None:
    shown = normalize_scores(
        [LinkedArticle("1", 80), LinkedArticle("2", 40), LinkedArticle("3", 20), LinkedArticle("4")]
    )

    assert [(article.score, article.raw_score) for article in shown] == [(1.0, 80), (0.5, 40), (0.25, 20), (None, None)]
    assert [article.score for article in normalize_scores([LinkedArticle("1"), LinkedArticle("2")])] == [None, None]
    assert [article.score for article in normalize_scores([LinkedArticle("1", 0)])] == [None]
    assert normalize_scores([]) == []
