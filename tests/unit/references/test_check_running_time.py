"""The running time of `check` on hostile references: linear in the text, with a limit for each reference."""

import time
from collections.abc import Callable

import pytest

from entrez_kit.pubmed.models import Article, Author, JournalInfo
from entrez_kit.references.check.comparison import text_authors, text_title
from entrez_kit.references.check.lookup.candidates import Candidates
from entrez_kit.references.check.pasted.guessing import MAX_PLACES, MAX_TITLES
from entrez_kit.references.check.pasted.pasted_lists import MAX_TEXT, split_references

SIZE = 1_000
GROWTH = 15
"""The maximum factor of the time for ten times the text."""
REPEATS = 2
ARTICLE = Article(
    pmid="1",
    url="x",
    title="Sleep and moonlight in invented shift workers: a cohort study of many years",
    authors=[Author(last_name=f"Doe{number}", initials="JA") for number in range(60)],
    journal_info=JournalInfo(title="Journal of Invented Sleep", volume="12", issue="3", pages="201-12"),
)
PIECES = {
    "one word": "sleep ",
    "title": f"{ARTICLE.title} ",
    "names": "Dow1 AJ, ",
    "initials": "J. A. ",
    "years": "(2019) ",
    "places": "J Sleep 2019;12(3):201-12. ",
    "identifiers": "doi:10.1000/a.1 PMID: 1 ",
    "stops": ". ",
    "quotation marks": "“Sleep” ",
    "brackets": "[1] (",
    "lines": "1. Doe J. Sleep.\n",
    "long word": "sleep",
    "hyphens": "sle-\nep ",
}


def check_text(text: str) -> list[Candidates]:
    """Read a pasted list, guess the meaning of each reference, and compare it with a record."""
    found = [Candidates(reference) for reference in split_references(text)]
    for one in found:
        assert len(one.guess.titles) <= MAX_TITLES
        assert len(one.guess.places) <= MAX_PLACES
        assert one.title_term is None or len(one.title_term) < MAX_TEXT
        one.add(ARTICLE, "title")
    return found


def measure_cpu_seconds(work: Callable[[], object]) -> float:
    """Return the least CPU time of several runs."""
    times = []
    for _ in range(REPEATS):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


@pytest.mark.long
@pytest.mark.parametrize("piece", PIECES.values(), ids=PIECES)
def test_ten_times_the_text_takes_about_ten_times_as_long(piece: str) -> None:
    short, long = ((piece * size)[:size] for size in (SIZE, 10 * SIZE))

    assert measure_cpu_seconds(lambda: check_text(long)) <= GROWTH * max(
        measure_cpu_seconds(lambda: check_text(short)), 0.005
    )


@pytest.mark.parametrize("piece", [PIECES[name] for name in ("title", "names", "initials", "one word")])
@pytest.mark.long
def test_a_reference_beyond_the_limit_of_characters_needs_no_more_comparisons(
    piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []

    def count_comparison(one: str, other: str, least: float | None = None) -> float:
        compared.append(len(one) + len(other))
        return 0.0

    monkeypatch.setattr(text_authors, "measure_text_likeness", count_comparison)
    monkeypatch.setattr(text_title, "bound_likeness", count_comparison)
    check_text((piece * MAX_TEXT)[:MAX_TEXT])
    bound = len(compared), sum(compared)
    compared.clear()
    check_text((piece * MAX_TEXT)[: 10 * MAX_TEXT])

    assert bound[0] > 0
    assert len(compared) <= bound[0] * 1.1
    assert sum(compared) <= bound[1] * 1.1
