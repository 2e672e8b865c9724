"""Quality scores: the scale, its parts and their sum."""

from datetime import date

import pytest

from entrez_kit.corpus.quality import MOST, Lasting, score_lasting_parts, score_recency, score_record

TODAY = date(2026, 1, 5)


def _score_parts(
    types: tuple[str, ...] = (), mesh: tuple[str, ...] = (), journals: tuple[str, ...] = (), retracted: bool = False
) -> Lasting:
    return score_lasting_parts(pub_types=types, mesh=mesh, journals=journals, retracted=retracted)


def test_the_record_of_the_contract_has_the_score_of_the_contract() -> None:
    parts = _score_parts(("Randomized Controlled Trial",), ("Humans",), ("The New England Journal of Medicine",))

    assert score_record(parts, "2024-05-11", date(2025, 8, 17)).model_dump() == {
        "design": 2,
        "recency": 2,
        "journal": 2,
        "human": 2,
        "total": 8,
    }


def test_the_highest_score_is_nine() -> None:
    parts = _score_parts(("Meta-Analysis", "Journal Article"), ("Humans",), ("Lancet (London, England)",))

    assert score_record(parts, "2025", TODAY).total == MOST == 9


@pytest.mark.parametrize(
    ("types", "design"),
    [
        (("Systematic Review",), 3),
        (("Journal Article", "Randomized Controlled Trial"), 2),
        (("RANDOMIZED CONTROLLED TRIAL", "Meta-Analysis"), 3),
        (("Clinical Trial, Phase II",), 1),
        (("Observational Study",), 1),
        (("Practice Guideline",), 1),
        (("Journal Article", "Review"), 0),
        (("Randomized Controlled Trial, Veterinary",), 0),
        ((), 0),
    ],
)
def test_pooled_evidence_has_the_highest_score_for_design(types: tuple[str, ...], design: int) -> None:
    assert _score_parts(types).design == design


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("The New England journal of medicine", 2),
        ("N Engl J Med", 2),
        ("Lancet (London, England)", 2),
        ("Science (New York, N.Y.)", 2),
        ("Cell", 2),
        ("Nature", 2),
        ("Stem Cells", 0),
        ("Nature Communications", 0),
        ("The Lancet. Oncology", 0),
        ("Science of the Total Environment", 0),
        ("", 0),
    ],
)
def test_journals_are_recognised_by_their_exact_names(name: str, points: int) -> None:
    assert _score_parts(journals=(name,)).journal == points


@pytest.mark.parametrize(
    ("types", "mesh", "points"),
    [
        ((), ("Humans", "Animals"), 2),
        ((), ("Animals", "Mice"), 1),
        (("Randomized Controlled Trial, Veterinary",), (), 1),
        (("Randomized Controlled Trial",), (), 2),
        (("Randomized Controlled Trial",), ("Animals",), 1),
        (("Journal Article",), (), 0),
    ],
)
def test_studies_of_people_score_higher_than_those_of_animals(
    types: tuple[str, ...], mesh: tuple[str, ...], points: int
) -> None:
    assert _score_parts(types, mesh).human == points


@pytest.mark.parametrize(
    ("published", "points"),
    [
        ("2021-01-05", 2),
        ("2021-01-04", 1),
        ("2021-01", 2),
        ("2021", 2),
        ("2020-12", 1),
        ("2020", 1),
        ("2016-01-05", 1),
        ("2016-01-04", 0),
        ("2015", 0),
        ("2027", 2),
        (None, 0),
    ],
)
def test_recency_is_computed_for_the_day_of_the_request(published: str | None, points: int) -> None:
    assert score_recency(published, TODAY) == points


def test_a_retracted_record_has_no_score() -> None:
    parts = _score_parts(("Meta-Analysis",), ("Humans",), ("Nature",), retracted=True)

    assert score_record(parts, "2025", TODAY, retracted=True).total == 0
