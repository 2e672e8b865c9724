"""The boxes of the flow diagram, compared with a count that follows each record individually."""

import random
from collections import Counter

import pytest

from entrez_kit.base.errors import InvalidInput, InvariantFailure
from entrez_kit.reviews.decisions import Choice, ScreeningDecision, Stage
from entrez_kit.reviews.flow import SUMS, build_flow, check_sums
from entrez_kit.reviews.records import Gone, ReviewRecord


def make_record(number: int, work: int | None = None, source: str = "PubMed", *, is_new: bool = False) -> ReviewRecord:
    """Return a record that represents its work, or duplicates another record."""
    kept = None if is_new else f"ek-x-{number if work is None else work}"
    return ReviewRecord(id=f"ek-x-{number}", source=source, added=1, fields=[("TY", "JOUR")], work=kept)


def make_decision(number: int, stage: Stage, choice: Choice, reason: str = "", study: str = "") -> ScreeningDecision:
    """Return a decision."""
    return ScreeningDecision(f"ek-x-{number}", stage, choice, reason, study=study)


def test_each_record_of_random_reviews_is_counted_in_its_box() -> None:
    chance = random.Random(4)
    for _ in range(40):
        records: list[ReviewRecord] = []
        decisions: list[ScreeningDecision] = []
        expected: Counter[str] = Counter()
        for number in range(chance.randrange(1, 60)):
            if number and chance.random() < 0.3:
                kept = int((records[chance.randrange(number)].work or "").removeprefix("ek-x-"))
                records.append(make_record(number, kept))
                expected["duplicates"] += 1
                continue
            records.append(make_record(number))
            fate = chance.choice(("screen", "exclude", "await", "absent", "reject", "include", "include"))
            expected[fate] += 1
            if fate == "screen":
                continue
            decisions.append(make_decision(number, "title_abstract", "exclude" if fate == "exclude" else "include"))
            if fate in ("absent", "reject", "include"):
                choice: Choice = {"absent": "not_retrieved", "reject": "exclude"}.get(fate, "include")  # type: ignore[assignment]
                decisions.append(make_decision(number, "full_text", choice))
        boxes = build_flow(records, decisions).boxes

        assert boxes["identified"] == len(records)
        assert boxes["duplicates"] == expected["duplicates"]
        assert boxes["awaiting_screening"] == expected["screen"]
        is_screened = any(decision.stage == "title_abstract" for decision in decisions)
        assert boxes["records_excluded"] == (expected["exclude"] if is_screened else None)
        is_assessed = any(decision.stage == "full_text" for decision in decisions)
        for box, fate in (
            ("dbr_notretrieved_reports", "absent"),
            ("dbr_excluded", "reject"),
            ("new_reports", "include"),
        ):
            assert boxes[box] == (expected[fate] if is_assessed else None)
        for total, parts in SUMS:
            numbers = [boxes[part] for part in parts]
            if None not in (boxes[total], *numbers):
                assert boxes[total] == sum(number or 0 for number in numbers)


def test_a_review_without_decisions_has_empty_boxes_and_no_zeros() -> None:
    boxes = build_flow([make_record(1), make_record(2, 1)]).boxes

    assert (boxes["identified"], boxes["duplicates"], boxes["awaiting_screening"]) == (2, 1, 1)
    assert boxes["records_screened"] is None
    assert boxes["new_reports"] is None
    assert build_flow([make_record(1, is_new=True)]).boxes["duplicates"] is None


def test_sources_are_in_the_column_of_their_kind() -> None:
    records = [
        make_record(1),
        make_record(2, source="ICTRP"),
        make_record(3, source="Citations"),
        make_record(4, 1, source="Citations"),
    ]

    found = build_flow(
        records, [make_decision(3, "full_text", "include")], {"ictrp": "register", "Citations": "citations"}
    )

    assert [found.boxes[name] for name in ("database_results", "register_results", "citations_results")] == [1, 1, 2]
    assert (found.boxes["dbr_works"], found.boxes["other_works"], found.boxes["duplicates"]) == (2, 1, 1)
    assert (found.boxes["other_included"], found.boxes["dbr_included"]) == (1, None)
    assert found.boxes["new_reports"] == 1


def test_reports_of_one_study_are_counted_once_and_reasons_add_up() -> None:
    records = [make_record(number) for number in range(5)]
    decisions = [make_decision(number, "title_abstract", "include") for number in range(5)]
    decisions += [
        make_decision(0, "full_text", "include", study="EDIT"),
        make_decision(1, "full_text", "include", study="edit"),
    ]
    decisions += [
        make_decision(2, "full_text", "include"),
        make_decision(3, "full_text", "exclude", "Wrong population"),
    ]
    decisions.append(make_decision(4, "full_text", "exclude"))

    found = build_flow(records, decisions)

    assert (found.boxes["new_reports"], found.boxes["new_studies"]) == (3, 2)
    assert sum(found.reasons.values()) == found.boxes["dbr_excluded"] == 2


def test_a_deleted_record_without_a_decision_is_removed_before_screening() -> None:
    gone = make_record(1).model_copy(update={"gone": Gone(run=2, reason="deleted")})
    unmatched = make_record(2).model_copy(update={"gone": Gone(run=2, reason="no_longer_matching")})

    found = build_flow([gone, unmatched])

    assert found.list_records("excluded_other") == {"ek-x-1"}
    assert found.list_records("awaiting_screening") == {"ek-x-2"}
    assert build_flow([gone], [make_decision(1, "title_abstract", "exclude")]).boxes["records_excluded"] == 1


@pytest.mark.parametrize(
    ("decisions", "named"),
    [
        ([make_decision(9, "title_abstract", "include")], ["ek-x-9"]),
        (
            [make_decision(1, "title_abstract", "include"), make_decision(2, "title_abstract", "exclude")],
            ["ek-x-1", "ek-x-2"],
        ),
        ([make_decision(1, "title_abstract", "exclude"), make_decision(1, "full_text", "include")], ["ek-x-1"]),
        ([make_decision(1, "full_text", "include")], ["ek-x-1"]),
        ([make_decision(1, "before_screening", "exclude"), make_decision(1, "title_abstract", "include")], ["ek-x-1"]),
    ],
)
def test_contradictory_decisions_name_the_records(decisions: list[ScreeningDecision], named: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        build_flow([make_record(1), make_record(2, 1)], decisions)

    assert caught.value.details["records"] == named


def test_a_box_that_does_not_add_up_names_its_records() -> None:
    sets = {"identified": {"a", "b"}, "database_results": {"a", "b"}, "duplicates": {"a"}, "works": {"a"}}

    with pytest.raises(InvariantFailure) as caught:
        check_sums(sets)

    assert caught.value.details["records"] == ["a", "b"]
