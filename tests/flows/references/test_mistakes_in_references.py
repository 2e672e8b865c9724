"""References with one mistake: `check` names the field, and never reports another work or no work."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from demo_articles import read_demo_articles
from sampled_cases import FULL
from written_references import DIALECTS, TITLELESS, misspell

from entrez_kit import EntrezKit, load_settings
from entrez_kit.pubmed.models import Article, Author
from entrez_kit.references.check.check_references import CHECK
from entrez_kit.references.check.check_result import CheckedReference
from entrez_kit.references.check.pasted.pasted_lists import split_references
from entrez_kit.references.files.references import RefAuthor, Reference
from entrez_kit.sandbox.server import Sandbox

Fields = dict[str, Any]


def read_demo() -> list[Article]:
    found = [article for article in read_demo_articles() if article.record_type == "article"]
    return [one for one in found if one.authors and one.journal_info]


def get_fields(article: Article) -> Fields:
    journal = article.journal_info
    assert journal is not None
    assert journal.publication_date is not None
    return {
        "title": article.title.rstrip(".").strip("[]"),
        "authors": [
            (who.collective_name, "") if who.collective_name else (who.last_name, who.initials or "")
            for who in article.authors
        ],
        "journal": journal.iso_abbreviation or journal.title,
        "year": str(journal.publication_date.year or ""),
        "volume": journal.volume or "",
        "pages": journal.pages or "",
    }


def change_article(article: Article, given: Fields) -> Article:
    """Return an article with other fields, for the layouts that write articles."""
    people = [
        Author(last_name=family, initials=initials) if initials else Author(collective_name=family)
        for family, initials in given["authors"]
    ]
    journal = article.journal_info
    assert journal is not None
    assert journal.publication_date is not None
    date = journal.publication_date.model_copy(update={"year": int(given["year"]) if given["year"] else None})
    place = {"volume": given["volume"], "pages": given["pages"], "publication_date": date}
    journal = journal.model_copy(update=place)
    return article.model_copy(update={"title": given["title"], "authors": people, "journal_info": journal})


def write_in_layout(layout: str, article: Article, given: Fields, ids: Fields) -> Reference:
    text = {**DIALECTS, **TITLELESS}[layout](change_article(article, given))
    (reference,) = split_references(" ".join([text, *(f"doi:{doi}" for doi in ids.values())]))
    return reference


def make_fields(_: Article, given: Fields, ids: Fields) -> Reference:
    people = [
        RefAuthor(family=family, given=initials) if initials else RefAuthor(group=family)
        for family, initials in given["authors"]
    ]
    return Reference(**{**given, "authors": people, **ids, "key": "r"})


def write_text(_: Article, given: Fields, ids: Fields) -> Reference:
    names = ", ".join(" ".join(filter(None, one)) for one in given["authors"])
    parts = [names, given["title"], given["journal"], f"{given['year']};{given['volume']}:{given['pages']}"]
    text = " ".join(f"{part.rstrip('.')}." for part in parts if part)
    (reference,) = split_references(" ".join([text, *(f"doi:{doi}" for doi in ids.values())]))
    return reference


def confuse_letters(text: str) -> str:
    return text.replace("l", "1").replace("o", "0").replace("O", "0").replace("I", "l")


def insert_typo(given: Fields, number: int) -> Fields:
    authors = list(given["authors"])
    family, initials = authors[number]
    authors[number] = (misspell(family), initials)
    return {**given, "authors": authors}


def remove_word(title: str) -> str:
    words = title.split()
    return " ".join(words[: len(words) // 2] + words[len(words) // 2 + 1 :])


def add_to_number(text: str, step: int) -> str:
    return str(int(text) + step)


MISTAKES: dict[str, tuple[str, Callable[[Fields], Fields]]] = {
    "a typo in the first author": ("authors", lambda one: insert_typo(one, 0)),
    "a typo in the last author": ("authors", lambda one: insert_typo(one, -1)),
    "two authors swapped": (
        "authors",
        lambda one: {**one, "authors": [*one["authors"][:2][::-1], *one["authors"][2:]]},
    ),
    "the first author dropped": ("authors", lambda one: {**one, "authors": one["authors"][1:]}),
    "the last author dropped": ("authors", lambda one: {**one, "authors": one["authors"][:-1]}),
    "scanned authors": (
        "authors",
        lambda one: {**one, "authors": [(confuse_letters(a), b) for a, b in one["authors"]]},
    ),
    "a typo in the title": ("title", lambda one: {**one, "title": misspell(one["title"])}),
    "a word of the title dropped": ("title", lambda one: {**one, "title": remove_word(one["title"])}),
    "a scanned title": ("title", lambda one: {**one, "title": confuse_letters(one["title"])}),
    "another year": ("year", lambda one: {**one, "year": add_to_number(one["year"], -4)}),
    "another volume": ("volume", lambda one: {**one, "volume": add_to_number(one["volume"], 37)}),
    "other pages": ("pages", lambda one: {**one, "pages": "4321-4329"}),
    "a scanned volume": ("volume", lambda one: {**one, "volume": one["volume"].replace("1", "l").replace("0", "O")}),
}


def make_mistake(article: Article, mistake: str) -> Fields | None:
    """Return the fields of a record with a mistake; None if the record does not have the field for it."""
    given = get_fields(article)
    _, change = MISTAKES[mistake]
    if not (given["volume"].isdigit() and given["pages"] and given["year"] and given["authors"]):
        return None
    changed = change(given)
    return None if changed == given or not changed["authors"] else changed


Writer = Callable[[Article, Fields, Fields], Reference]
WAYS: dict[str, tuple[Writer, bool]] = {
    "fields": (make_fields, False),
    "fields with a DOI": (make_fields, True),
    "text": (write_text, False),
    "text with a DOI": (write_text, True),
    **{name: (partial(write_in_layout, name), False) for name in ("bmc", "din", "french", "gost", "gbt")},
    **{name: (partial(write_in_layout, name), False) for name in ("physics", "letters", "cell", "chemistry")},
}
CASES = [
    (way, mistake)
    for way in WAYS
    for mistake, (field, _) in MISTAKES.items()
    if not (way in TITLELESS and (field == "title" or mistake == "a scanned volume"))
]
SHARE = 1 if FULL else 6
"""One in six references with each mistake is checked, at least three; another sixth with the next one."""


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EntrezKit]:
    """Return a kit for all tests of this file, which share its cache."""
    home = tmp_path_factory.mktemp("kit")
    with pytest.MonkeyPatch.context() as patch, Sandbox(enforce_limits=False) as sandbox:
        patch.setattr("entrez_kit.services.transport.limiter.RateLimiter.acquire", lambda self, deadline=None: None)
        settings = load_settings({"home": home}).use_sandbox(sandbox.url)
        with EntrezKit(replace(settings, demo=False, state_dir=home / "state")) as built:
            yield built


def list_references(way: str, mistake: str) -> list[tuple[Article, Reference]]:
    """Return references with a mistake that is visible in the layout."""
    write, with_doi = WAYS[way]
    made = []
    for article in read_demo():
        fields = make_mistake(article, mistake)
        if fields is None or (with_doi and not article.doi):
            continue
        ids = {"doi": article.doi} if with_doi else {}
        reference = write(article, fields, ids)
        if reference != write(article, get_fields(article), ids):
            made.append((article, reference))
    share = min(SHARE, max(1, len(made) // 3))
    return made[CASES.index((way, mistake)) % share :: share]


def check_all(kit: EntrezKit, made: list[tuple[Article, Reference]]) -> list[CheckedReference]:
    request = {"references": [one for _, one in made], "sources": ["pubmed"]}
    rows: list[CheckedReference] = CHECK.run(kit.services, request).references
    return rows


@pytest.mark.long
@pytest.mark.parametrize(("way", "mistake"), CASES)
def test_a_mistake_in_one_field_is_a_mismatch_that_names_the_field(kit: EntrezKit, way: str, mistake: str) -> None:
    field, _ = MISTAKES[mistake]
    made = list_references(way, mistake)
    rows = check_all(kit, made)

    wrong = []
    for (article, reference), row in zip(made, rows, strict=True):
        codes = {finding.code for finding in row.findings}
        fields = {finding.field for finding in row.findings if finding.code == "mismatch"}
        if row.status == "ambiguous" and article.pmid in row.candidate_pmids and not reference.doi:
            continue  # a work that was published twice, or two works on one page
        if row.pmid != article.pmid or codes & {"another_work", "not_found", "ambiguous"} or field not in fields:
            wrong.append(
                (article.pmid, reference.text or reference, row.status, row.pmid, [f.message for f in row.findings])
            )
    assert len(made) > 2
    assert not wrong, f"{len(wrong)} of {len(made)}: " + "\n\n".join(map(str, wrong))


@pytest.mark.long
@pytest.mark.parametrize("way", ["text", "text with a DOI"])
def test_a_reference_with_place_and_without_title_is_verified(kit: EntrezKit, way: str) -> None:
    write, with_doi = WAYS[way]
    articles = [one for one in read_demo() if one.doi and (make_mistake(one, "other pages") is not None)]
    made = [
        (article, write(article, {**get_fields(article), "title": ""}, {"doi": article.doi or ""} if with_doi else {}))
        for article in articles
    ]
    rows = check_all(kit, made)

    wrong = [
        (reference.text, row.pmid, [finding.message for finding in row.findings])
        for (article, reference), row in zip(made, rows, strict=True)
        if row.pmid != article.pmid or any(finding.code == "mismatch" for finding in row.findings)
    ]
    assert len(made) > 15
    assert not wrong
