"""References as people write them, in any style: found with the right id, and nothing false of them verified."""

import re
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any

import pytest
from word_files import heading, paragraph, word

from entrez_kit import EntrezKit
from entrez_kit.citations.check.guessing import guessed
from entrez_kit.citations.check.operation import CHECK, CheckedReference
from entrez_kit.citations.check.written import divided
from entrez_kit.citations.files.references import Reference
from entrez_kit.citations.operation import citations_of
from entrez_kit.citations.style.entries import STYLES
from entrez_kit.manuscripts.reading import read_manuscript
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.records import iter_records
from entrez_kit.sandbox.server import Sandbox

GOOD = ("verified", "superseded", "retracted", "concern")
"""What a true reference to a work of the demo may come to."""


def demo() -> list[Article]:
    paths = [path for path in (files("entrez_kit.fixtures") / "pubmed").iterdir() if path.name.endswith(".xml")]
    found = [
        record.article() for path in paths for record in iter_records(path.read_bytes()) if record.kind == "article"
    ]
    return sorted((one for one in found if one.title and one.authors), key=lambda one: one.pmid)


ARTICLES = demo()
_IDS = re.compile(r"https?://\S+|doi:\s?\S+|PM(?:C)?ID:? ?(?:PMC)?\d+\.?", re.IGNORECASE)


def initials(article: Article, *, dotted: bool = False, comma: bool = False) -> list[str]:
    def short(text: str) -> str:
        return ". ".join(text) + "." if dotted else text

    return [
        who.collective_name or f"{who.last_name}{',' if comma else ''} {short(who.initials or '')}".strip(" ,")
        for who in article.authors
    ]


def full(article: Article) -> list[str]:
    return [
        who.collective_name or f"{who.first_name or who.initials or ''} {who.last_name}".strip()
        for who in article.authors
    ]


def parts(article: Article) -> dict[str, str]:
    journal = article.journal_info
    assert journal is not None
    date = journal.publication_date
    year = (date.year if date else None) or next((one.year for one in article.article_dates if one.year), "")
    return {
        "title": article.title.rstrip("."),
        "journal": journal.title or "",
        "short": journal.iso_abbreviation or "",
        "year": str(year),
        "volume": journal.volume or "",
        "issue": f"({journal.issue})" if journal.issue else "",
        "pages": journal.pages or journal.article_number or "",
    }


def some(names: list[str], most: int = 3) -> str:
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])}, et al"


def lancet(article: Article) -> str:
    return "{names}. {title}. {short} {year}; {volume}: {pages}.".format(
        names=some(initials(article)), **parts(article)
    )


def elsevier(article: Article) -> str:
    names = ", ".join(initials(article, dotted=True))
    return "{names}, {title}, {short} {volume} ({year}) {pages}.".format(names=names, **parts(article))


def harvard(article: Article) -> str:
    names = " and ".join(initials(article, dotted=True, comma=True))
    return "{names} ({year}) ‘{title}’, {journal}, {volume}{issue}, pp. {pages}.".format(names=names, **parts(article))


def notes(article: Article) -> str:
    names = ", ".join(full(article))
    return "{names}, “{title},” {journal} {volume} ({year}): {pages}.".format(names=names, **parts(article))


def ieee(article: Article) -> str:
    names = ", ".join(full(article))
    return '{names}, "{title}," {short}, vol. {volume}, pp. {pages}, {year}.'.format(names=names, **parts(article))


def visited(article: Article) -> str:
    names = some(initials(article))
    text = "{names}. {title}. {short} [Internet]. {year} [cited 2025 Mar 4];{volume}{issue}:{pages}. Available from: https://example.org/a"
    return text.format(names=names, **parts(article))


DIALECTS: dict[str, Callable[[Article], str]] = {
    one.__name__: one for one in (lancet, elsevier, harvard, notes, ieee, visited)
}


def rendered(style: str, articles: list[Article]) -> list[str]:
    """Return references in a style, without the identifiers and notes that would find them at once."""
    if style in DIALECTS:
        return [DIALECTS[style](article) for article in articles]
    texts = [texts[style] for texts in citations_of(articles, [style])]
    return [" ".join(re.sub(r"PubMed Central|PubMed|\s;", "", _IDS.sub("", text)).split()) for text in texts]


@pytest.fixture
def kit(kit_for: Any, sandbox: Sandbox) -> EntrezKit:
    built: EntrezKit = kit_for(sandbox)
    return built


def checked(kit: EntrezKit, references: Sequence[Reference]) -> list[CheckedReference]:
    # How a work stands is another matter.
    return CHECK.run(kit.services, {"references": list(references), "sources": ["pubmed"]}).references


def as_text(texts: Sequence[str]) -> list[Reference]:
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))
    return divided(f"A title\n\nSome text [1] and (2019).\n\nReferences\n{listed}\n\nAppendix\nMore text.\n")


def as_word(texts: Sequence[str]) -> list[Reference]:
    content = word(
        heading("Introduction"),
        paragraph("Some text (2019)."),
        heading("References"),
        *(paragraph(text, numbered=True) for text in texts),
        heading("Appendix"),
        paragraph("More text."),
    )
    return read_manuscript(content, "paper.docx", ".docx").references


@pytest.mark.long
@pytest.mark.process
def test_references_in_twelve_styles_are_found_in_text_and_in_word_and_nothing_else_is(kit: EntrezKit) -> None:
    total = right = verified = 0
    for number, style in enumerate((*STYLES, *DIALECTS)):
        texts = rendered(style, ARTICLES)
        read = (as_text, as_word)[number % 2](texts)
        assert len(read) == len(texts), style

        for article, one in zip(ARTICLES, checked(kit, read), strict=True):
            total += 1
            found = one.pmid == article.pmid and one.same_work is None
            right += found
            verified += one.status in GOOD and not one.differences
            assert found or one.status not in GOOD, (style, article.pmid, one)

    assert total >= 400
    assert right >= 0.97 * total, (right, total)
    assert verified >= 0.9 * total, (verified, total)


@pytest.mark.long
def test_the_same_texts_in_a_list_and_in_a_word_file_are_the_same_references(kit: EntrezKit) -> None:
    texts = [lancet(article) for article in ARTICLES]

    assert [one.text for one in as_text(texts)] == [one.text for one in as_word(texts)]
    assert [one.number for one in as_text(texts)] == [one.number for one in as_word(texts)]


INVENTED = (
    "Deep learning sees imaginary tumours from low orbit",
    "Statins and the sleep of lighthouse keepers: a sham-controlled trial",
    "A meta-analysis of meta-analyses that were never carried out",
    "Gene drives in paper aeroplanes",
)


def fabricated() -> list[str]:
    """Return references that say something false, each in one respect, or that cite nothing there is."""
    made: list[str] = []
    known = [one for one in ARTICLES if all(who.last_name for who in one.authors) and len(one.authors) > 1]
    wanted = [one for one in known if parts(one)["volume"].isdigit() and parts(one)["pages"][:1].isdigit()][:14]
    for one, other in zip(wanted, [*wanted[1:], wanted[0]], strict=True):
        names, of_other = ", ".join(initials(one)), ", ".join(initials(other))
        mine, theirs = parts(one), parts(other)
        text = "{names}. {title}. {short} {year};{volume}{issue}:{pages}."
        first, rest = mine["title"].split(" ", 1)
        made += [
            text.format(names=of_other, **mine),
            text.format(names=names, **{**mine, "title": theirs["title"]}),
            text.format(names=names, **{**mine, "title": INVENTED[len(made) % 4]}),
            text.format(names=f"{names}, Nobodyson Q", **mine),
            text.format(names=", ".join(initials(one)[:-1]), **mine),
            text.format(names=names, **{**mine, "year": str(int(mine["year"]) - 3)}),
            text.format(names=names, **{**mine, "volume": str(int(mine["volume"]) + 40)}),
            text.format(names=names, **{**mine, "short": "Nature"}),
            text.format(names=names, **{**mine, "title": f"{first} never {rest}"}),
            text.format(names=", ".join(reversed(initials(one))), **mine),
        ]
    return made


@pytest.mark.long
def test_no_reference_that_is_made_up_or_mixed_is_verified(kit: EntrezKit) -> None:
    texts = fabricated()

    found = checked(kit, as_text(texts))

    assert len(texts) >= 100
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


def test_what_is_not_found_names_the_nearest_work_and_how_near_it_is(kit: EntrezKit) -> None:
    text = "Nobody A. Twin prime editing writes kilobase-scale sequences into bean protoplasts. Nature 2021; 1: 1-2."
    structured = Reference(key="r", title="Twin prime editing writes kilobase-scale sequences into bean protoplasts")

    for one in checked(kit, [*divided(text), structured]):
        assert one.status == "not_found"
        assert one.nearest is not None
        assert one.nearest.pmid in ("99000009", "99000010")
        assert 0.8 < one.nearest.likeness < 1
    (far,) = checked(kit, divided("Nobody A. Sheep on the far side of the moon count themselves. Nature 2021; 1: 1."))
    assert (far.status, far.nearest) == ("not_found", None)


# Dividing


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
def test_a_list_is_found_in_a_text_and_divided_wherever_its_lines_break(text: str, starts: list[int]) -> None:
    assert [one.line for one in divided(text)] == starts


def test_the_number_of_a_reference_is_kept() -> None:
    assert [one.number for one in divided("[3] Doe J. A.\n[4] Roe R. B.\n")] == ["3", "4"]
    assert [one.number for one in divided("Doe J. A.\nRoe R. B.\n")] == [None, None]


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
    guess = guessed(text)

    assert "effects of moonlight on memory" in [title.lower() for title in guess.titles]
    assert (guess.year, guess.volume, guess.page) == ("2019", "7", "150")
