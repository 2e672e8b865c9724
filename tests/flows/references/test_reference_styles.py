"""References as people write them, in any style: each is found with the right id, and no false one is verified.

The articles are those of the demo and recorded records of PubMed.
"""

import gzip
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from demo_articles import read_demo_articles
from written_references import (
    DIALECTS,
    TITLELESS,
    fabricate_references,
    get_fields,
    lancet,
    render_references,
    write_as_text,
    write_as_word,
)

from entrez_kit import EntrezKit
from entrez_kit.citations.style.format_entries import STYLES
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.records import iter_records
from entrez_kit.references.check.check_references import CHECK
from entrez_kit.references.check.check_result import CheckedReference
from entrez_kit.references.check.pasted.guessing import guess_parts
from entrez_kit.references.check.pasted.pasted_lists import split_references
from entrez_kit.references.files.references import Reference
from entrez_kit.sandbox.server import Sandbox

GOOD = ("verified", "superseded", "retracted", "concern")
"""The allowed results for a correct reference."""
RECORD = re.compile(rb"<PubmedArticle(?:\s[^<>]*)?>.*?</PubmedArticle>", re.DOTALL)


def list_citable(articles: Iterable[Article]) -> list[Article]:
    """Return the articles that can be cited, each once."""
    found = {article.pmid: article for article in articles if article.record_type == "article"}
    return sorted(
        (one for one in found.values() if one.title and one.authors and one.journal_info), key=lambda one: one.pmid
    )


ARTICLES = list_citable(read_demo_articles())


@dataclass(frozen=True)
class ServedArticles:
    """Articles that a sandbox serves, and a kit with this sandbox."""

    articles: Sequence[Article]
    kit: EntrezKit

    def checked(self, references: Sequence[Reference]) -> list[CheckedReference]:
        # The standing of a work does not depend on its style.
        return CHECK.run(self.kit.services, {"references": list(references), "sources": ["pubmed"]}).references


@pytest.fixture
def demo(kit_for: Any, sandbox: Sandbox) -> ServedArticles:
    return ServedArticles(ARTICLES, kit_for(sandbox))


@pytest.fixture
def recorded(kit_for: Any, real_data: Path, tmp_path: Path) -> Any:
    """Serve all recorded records; every ninth of the articles is cited."""
    replies = [path.read_bytes() for path in sorted(real_data.glob("efetch_pubmed/*.xml"))]
    replies += [gzip.decompress(path.read_bytes()) for path in sorted(real_data.glob("baseline/*.xml.gz"))]
    records: dict[bytes, bytes] = {}
    for match in (match for reply in replies for match in RECORD.finditer(reply)):
        records.setdefault(re.search(rb"<PMID[^<>]*>([0-9]+)", match[0])[1], match[0])  # type: ignore[index]
    served = tmp_path / "recorded.xml"
    served.write_bytes(b"<PubmedArticleSet>%b</PubmedArticleSet>" % b"".join(records.values()))
    with Sandbox(corpus=[served], enforce_limits=False) as sandbox:
        articles = [record.article() for record in iter_records(served.read_bytes()) if record.kind == "article"]
        yield ServedArticles(list_citable(articles)[::9], kit_for(sandbox))


@pytest.fixture(params=["demo", pytest.param("recorded", marks=pytest.mark.recorded)])
def served_articles(request: pytest.FixtureRequest) -> ServedArticles:
    made: ServedArticles = request.getfixturevalue(request.param)
    return made


@pytest.mark.long
@pytest.mark.process
def test_references_in_many_styles_are_found_in_text_and_in_word_without_false_results(
    served_articles: ServedArticles,
) -> None:
    total = right = verified = 0
    # Each style has every other article, and is read from a text or from a Word file.
    for number, style in enumerate((*STYLES, *DIALECTS)):
        articles = list(served_articles.articles)[number % 2 :: 2]
        texts = render_references(style, articles)
        read = (write_as_text, write_as_word)[number % 2](texts)
        assert len(read) == len(texts), style

        for article, one in zip(articles, served_articles.checked(read), strict=True):
            total += 1
            found = one.pmid == article.pmid and one.same_work is None
            right += found
            verified += one.status in GOOD and not one.differences
            assert found or one.status not in GOOD, (style, article.pmid, one)

    assert total >= 400
    assert right >= 0.98 * total, (right, total)
    assert verified >= 0.97 * total, (verified, total)


@pytest.mark.long
@pytest.mark.parametrize("style", TITLELESS)
def test_a_reference_without_a_title_finds_the_article_at_its_place(
    served_articles: ServedArticles, style: str
) -> None:
    articles = [
        article
        for article in served_articles.articles
        if all(get_fields(article)[name] for name in ("volume", "pages", "year"))
    ]
    articles = [article for article in articles if get_fields(article)["volume"].isdigit()]
    rows = served_articles.checked([split_references(text)[0] for text in render_references(style, articles)])

    missed = [
        (row.key, [finding.message for finding in row.findings])
        for article, row in zip(articles, rows, strict=True)
        if row.pmid != article.pmid
        or row.same_work is False
        or any(finding.code == "mismatch" for finding in row.findings)
        if not (style == "bare" and row.status == "ambiguous" and article.pmid in row.candidate_pmids)
    ]
    assert len(articles) > 25
    assert len(missed) <= len(articles) // 50, missed


@pytest.mark.parametrize(
    ("text", "author", "place"),
    [
        ("J. Doe, R. A. Roe, Science 350, 101 (2019)", "Doe", ("Science", "350", "101")),
        ("Doe J, et al., Nature 12, 33-40 (2004).", "Doe", ("Nature", "12", "33")),
        ("J. Doe et al., J. Cell Biol. 3, 101 (2019)", "Doe", ("J. Cell Biol", "3", "101")),
        ("Science 350(6257), 101-105 (9 October 2015)", None, ("Science", "350", "101")),
        ("J. Doe, Nature (London) 350, 101 (1991)", "Doe", ("Nature (London)", "350", "101")),
        ("Doe, J.; Roe, R. A. J. Am. Chem. Soc. 2019, 141, 101–105.", "Doe", ("J. Am. Chem. Soc", "141", "101")),
        ("J. Doe, R. Roe, Angew. Chem. Int. Ed. 2019, 58, 101.", "Doe", ("Angew. Chem. Int. Ed", "58", "101")),
        ("A. Doe et al. (RHO Collaboration), Phys. Lett. B 716 (2012) 1-29", "Doe", ("Phys. Lett. B", "716", "1")),
        ("Doe J. Med. J. Aust. 170, 11 (1999)", None, ("Med. J. Aust", "170", "11")),
    ],
)
def test_a_place_after_the_authors_is_guessed_without_a_title(
    text: str, author: str | None, place: tuple[str, str, str]
) -> None:
    guess = guess_parts(text)

    assert place in [(place.journal, place.volume, place.page) for place in guess.places]
    assert author in (None, guess.author)


@pytest.mark.long
def test_a_list_as_text_and_as_a_word_file_has_the_same_references() -> None:
    texts = [lancet(article) for article in ARTICLES]

    assert [one.text for one in write_as_text(texts)] == [one.text for one in write_as_word(texts)]
    assert [one.number for one in write_as_text(texts)] == [one.number for one in write_as_word(texts)]


@pytest.mark.long
def test_no_invented_or_mixed_reference_is_verified(served_articles: ServedArticles) -> None:
    texts = fabricate_references(served_articles.articles, 60)

    found = served_articles.checked(write_as_text(texts))

    assert len(texts) >= 100
    assert {one.status for one in found}.isdisjoint({"verified", "duplicate"})
    assert [(text, one.status) for text, one in zip(texts, found, strict=True) if one.status == "verified"] == []
    assert all(one.detail or one.differences for one in found if one.status != "superseded")
    assert {one.status for one in found} <= {
        "mismatch",
        "another_work",
        "not_found",
        "ambiguous",
        "retracted",
        "concern",
    }


def test_a_missing_reference_is_reported_with_the_most_similar_work_and_its_similarity(demo: ServedArticles) -> None:
    text = "Nobody A. Twin prime editing writes kilobase-scale sequences into bean protoplasts. Nature 2021; 1: 1-2."
    structured = Reference(key="r", title="Twin prime editing writes kilobase-scale sequences into bean protoplasts")

    for one in demo.checked([*split_references(text), structured]):
        assert one.status == "not_found"
        assert one.nearest is not None
        assert one.nearest.pmid in ("99000009", "99000010")
        assert 0.8 < one.nearest.likeness < 1
        assert f"most similar record ({one.nearest.likeness:.0%})" in one.findings[0].message
    (far,) = demo.checked(
        split_references("Nobody A. Sheep on the far side of the moon count themselves. Nature 2021; 1: 1.")
    )
    assert (far.status, far.nearest) == ("not_found", None)


# Splitting


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("References\n\n1. Doe J. A b c. J. 2019;1:1.\n2. Roe R. D e f. J.\n2020;2:2.\n", [3, 4]),
        ("Text 2019.\n\n## Bibliography\n\nDoe J. A b. 2019.\n\nRoe R. C d. 2020.\n\n## Appendix\n\nX\n", [5, 7]),
        ("REFERENCES:\n[1] Doe J. A b. 2019.\n[2] Roe R. C d. 2020.\nFigure legends\nFigure 1. X\n", [2, 3]),
        ("7. Literaturverzeichnis\nDoe J. A b. 2019.\nRoe R. C d. 2020.\n", [2, 3]),
        ("References\nfirst one\n\nReferences\n1. Doe J. A. 2019.\n2. Roe R. B. 2020.\n", [5, 6]),
        (
            "Doe J, Roe R. A title that is long and goes on\nand on. J Inv. 2019;7:1-2.\n"
            "Poe E, Roe R. Another title that\ngoes on too. J Inv.\n2020;8:3-4.\n"
            "Quoe A. A third one. J Inv. 2021;\n9:5-6. doi:10.5555/x\n",
            [1, 3, 6],
        ),
        ("1. Doe J. In the year\n2019. Was it so? J. 2020.\n2. Roe R. B. 2020.\n3. Poe E. C. 2021.\n", [1, 3, 4]),
    ],
)
def test_a_list_is_found_in_a_text_and_split_at_any_line_breaks(text: str, starts: list[int]) -> None:
    assert [reference.line for reference in split_references(text)] == starts


def test_the_number_of_a_reference_is_returned() -> None:
    assert [reference.number for reference in split_references("[3] Doe J. A.\n[4] Roe R. B.\n")] == ["3", "4"]
    assert [reference.number for reference in split_references("Doe J. A.\nRoe R. B.\n")] == [None, None]


@pytest.mark.parametrize(
    "text",
    [
        "Doe J, Roe RA. Effects of moonlight on memory. J Inv Res. 2019 Feb;7(2):150-163.",
        "Doe, J., & Roe, R. A. (2019). Effects of moonlight on memory. Journal of Inventions, 7(2), 150–163.",
        "Doe, Jane, and Richard Roe. “Effects of Moonlight on Memory.” Journal of Inventions, vol. 7, 2019, p. 150.",
        "Doe, Jane, and Richard Roe. 2019. “Effects of Moonlight on Memory.” Journal of Inventions 7 (2): 150–63.",
        "Doe, J. and Roe, R. (2019) ‘Effects of moonlight on memory’, Journal of Inventions, 7(2), pp. 150-163.",
        "Doe, J., Roe, R. A. & Poe, E. Effects of moonlight on memory. J. Inv. Res. 7, 150–163 (2019).",
        "J. Doe, R. Roe, Effects of moonlight on memory, J. Inv. Res. 7 (2019) 150–163.",
    ],
)
def test_title_and_place_are_guessed_in_every_style(text: str) -> None:
    guess = guess_parts(text)

    assert "effects of moonlight on memory" in [title.lower() for title in guess.titles]
    assert guess.year == "2019"
    assert (guess.places[0].volume, guess.places[0].page) == ("7", "150")


@pytest.mark.parametrize(
    ("text", "title", "place"),
    [
        (
            "J. Doe, R. de la Roe, Effects of mucus, moonlight, and memory: a trial in Rome, Italy, J Inv 7 (2019) 15.",
            "Effects of mucus, moonlight, and memory: a trial in Rome, Italy",
            ("J Inv", "7", "15"),
        ),
        (
            "The Mucus Group, Doe J. A., Roe R., Moonlit memory, J Inv 7 (2019) 15-6.",
            "Moonlit memory",
            ("J Inv", "7", "15"),
        ),
        (
            "Doe J, Roe R. EFFECTS OF THE MOONLIGHT ON NEW DNA. J Inv. 2019;7:15.",
            "EFFECTS OF THE MOONLIGHT ON NEW DNA",
            ("J Inv", "7", "15"),
        ),
        (
            "Doe, J. & Roe, R. Moonlit-Memory Interaction 5.0. J. Inv. 7, 15 (2019).",
            "Moonlit-Memory Interaction 5.0",
            ("J. Inv", "7", "15"),
        ),
        (
            "Doe J. Moonlight in mice. J Inv [Internet]. 2019 [cited 2025 Mar 4];7(2):15. Available from: https://example.org/",
            "Moonlight in mice",
            ("J Inv [Internet]", "7", "15"),
        ),
        (
            'Jane Doe, "Editorial: "Old lamps for new"," J Inv, vol. 7, pp. 15-6, 2019.',
            'Editorial: "Old lamps for new"',
            ("J Inv", "7", "15"),
        ),
        ("Doe J, Roe R (2019) Moonlight in mice. J Inv 7:15–16", "Moonlight in mice", ("J Inv", "7", "15")),
        ("DOE J., ROE R.. — Moonlight in mice. J Inv, 2019, 7: 15-6.", "Moonlight in mice", ("J Inv", "7", "15")),
        (
            "DOE, Jane ; ROE, Richard: Moonlight, Mice, and New Stars. In: J Inv 7 (2019), S. 15",
            "Moonlight, Mice, and New Stars",
            ("J Inv", "7", "15"),
        ),
        (
            "Moonlight Program. (2019). MLP Studies of Moonlight (CAS No. 78-42-2) in Mice (Gavage). J Inv, 7, 15–16.",
            "MLP Studies of Moonlight (CAS No. 78-42-2) in Mice (Gavage)",
            ("J Inv", "7", "15"),
        ),
        ("Doe J. Moonlight in mice. J Inv 7-8, 15–16 (2019).", "Moonlight in mice", ("J Inv", "7-8", "15")),
    ],
)
def test_title_and_place_are_guessed_despite_capitals_commas_and_quotations(
    text: str, title: str, place: tuple[str, str, str]
) -> None:
    guess = guess_parts(text)

    assert title in guess.titles
    assert place in [(place.journal, place.volume, place.page) for place in guess.places]


@pytest.mark.parametrize(
    ("text", "journal"),
    [
        ("Doe J, Roe R. Reply. J Inv Res. 2019 Jul;7(4):15-6.", "J Inv Res"),
        (
            "Doe, Jane, and Ali Roe. “Reply.” Journal of Inventions, vol. 7, no. 4, July 2019, pp. 15-16",
            "Journal of Inventions",
        ),
        ("Doe, Jane, and Ali Roe. “Reply.” Inventions, vol. 7, no. 4, 2019, pp. 15–16.", "Inventions"),
    ],
)
def test_the_place_is_guessed_if_the_title_is_one_word(text: str, journal: str) -> None:
    assert (journal, "7", "15") in [(place.journal, place.volume, place.page) for place in guess_parts(text).places]
