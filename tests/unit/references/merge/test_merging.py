"""Merged files of references: the figures add up in every state, and families are never merged."""

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from review_records import InventedRecord, invent_files, invent_works, vary, write_ris_file

from entrez_kit.base.errors import InvalidInput
from entrez_kit.core.operation import Operation
from entrez_kit.references.merge.merge_documents import MergeRequest, MergeResult
from entrez_kit.references.merge.merge_references import MERGE_REFERENCES, merge_references
from entrez_kit.references.merge.review import read_review, write_review

SERVICES: Any = None
"""A merge uses no service."""


def run_merge(files: dict[str, str] | list[tuple[str, str]], **options: Any) -> MergeResult:
    """Merge files by name."""
    pairs = list(files.items()) if isinstance(files, dict) else files
    request = MergeRequest(files=[{"file": name, "text": text} for name, text in pairs], **options)
    result = merge_references(SERVICES, request)
    check_sums(result)
    return result


def check_sums(result: MergeResult) -> None:
    """Check that every record has one fate and that every figure is a sum over records."""
    group_of: dict[str, int] = {}
    duplicates = [group for group in result.groups if group.kind == "duplicate"]
    for number, group in enumerate(duplicates):
        assert len(group.members) > 1
        assert group.why
        assert group.kept in group.members
        for member in group.members:
            assert group_of.setdefault(member, number) == number
    ids = [record.id for record in result.records]
    assert len(set(ids)) == len(ids) == result.counts.records == sum(source.raw for source in result.sources)
    files_of: dict[Any, set[str]] = {}
    for record in result.records:
        files_of.setdefault(group_of.get(record.id, record.id), set()).add(record.file)
    assert len(files_of) == result.counts.works == len(result.works)
    assert result.counts.works == len(ids) - sum(len(group.members) - 1 for group in duplicates)
    for source in result.sources:
        assert source.raw == sum(record.file == source.file for record in result.records)
        assert source.unique == sum(source.file in files for files in files_of.values())
        assert source.only_here == sum(files == {source.file} for files in files_of.values())
    assert sorted(entry.id for work in result.works for entry in work.entries) == sorted(ids)
    kept = {work.kept.id for work in result.works}
    for group in result.groups:
        if group.kind == "family":
            assert set(group.members) <= kept
            assert len(group.members) > 1


def list_links(result: MergeResult) -> set[tuple[str, frozenset[str], str | None]]:
    """Return the groups without their order."""
    return {(group.kind, frozenset(group.members), group.kept) for group in result.groups}


def list_duplicates(result: MergeResult) -> list[set[str]]:
    return [set(group.members) for group in result.groups if group.kind == "duplicate"]


ARTICLE = InventedRecord(
    work="a",
    title="Effects of invented sleep training on nurses who work at night: a randomised trial",
    authors=(("Doe", "Jane"), ("Roe", "Richard"), ("Poe", "Ann")),
    journal="Journal of Clinical Invention",
    year=2020,
    volume="12",
    issue="3",
    pages="101-110",
)


def merge_pair(one: InventedRecord, other: InventedRecord, **options: Any) -> MergeResult:
    """Merge two files with one record each."""
    return run_merge({"a.ris": one.ris(), "b.ris": other.ris()}, **options)


# Sets of records


@pytest.mark.parametrize("seed", range(2))
def test_groups_of_invented_files_are_the_works(seed: int) -> None:
    files, works = invent_files(100, seed)
    result = run_merge({name: write_ris_file(records) for name, records in files.items()})
    label = {f"{name}#{n}": record.work for name, records in files.items() for n, record in enumerate(records, start=1)}
    for group in list_duplicates(result):
        assert len({label[member] for member in group}) == 1
    assert result.counts.works - works <= 3
    assert result.counts.works >= works


@pytest.mark.long
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_sums_are_correct_and_the_order_of_files_does_not_matter(seed: int) -> None:
    files, _ = invent_files(12, seed)
    texts = [(name, write_ris_file(records)) for name, records in files.items() if records]
    first = run_merge(texts)
    for order in permutations(texts):
        other = run_merge(list(order))
        assert list_links(other) == list_links(first)
        assert {row.file: row.model_dump() for row in other.sources} == {
            row.file: row.model_dump() for row in first.sources
        }
        assert {tuple(one.members) for one in other.undecided} == {tuple(one.members) for one in first.undecided}
        assert Counter(work.kept.id for work in other.works) == Counter(work.kept.id for work in first.works)


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_same_file_twice_adds_no_work(seed: int) -> None:
    files, _ = invent_files(12, seed)
    texts = [(name, write_ris_file(records)) for name, records in files.items() if records]
    once, twice = run_merge(texts), run_merge([*texts, texts[0]])
    assert twice.counts.works == once.counts.works
    assert twice.counts.undecided == once.counts.undecided
    repeated = [row for row in twice.sources if row.file.startswith(texts[0][0])]
    assert [row.only_here for row in repeated] == [0, 0]
    assert [row.raw for row in repeated] == [once.sources[0].raw] * 2
    assert {row.unique for row in repeated} == {once.sources[0].unique}


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000))
@example(seed=7631)
def test_merging_the_merged_file_changes_nothing_that_was_decided(seed: int) -> None:
    files, _ = invent_files(12, seed)
    first = run_merge({name: write_ris_file(records) for name, records in files.items() if records})
    again = run_merge({"unique.ris": first.to_text("ris")})
    # A pair that is undecided among all copies may be decided among the records that are kept.
    assert again.counts.duplicates <= first.counts.undecided
    assert again.counts.records == first.counts.works
    if not again.counts.duplicates:
        assert again.to_text("ris") == first.to_text("ris")


@pytest.mark.parametrize("style", ["ris", "bibtex", "csl", "nbib"])
def test_every_format_has_each_work_once(style: str) -> None:
    files, _ = invent_files(30, 5)
    result = run_merge({name: write_ris_file(records) for name, records in files.items()})
    suffix = {"ris": "ris", "bibtex": "bib", "csl": "json", "nbib": "nbib"}[style]
    again = run_merge({f"unique.{suffix}": result.to_text(style)})
    assert again.counts.records == again.counts.works == result.counts.works
    wanted = Counter(work.find_key("doi") for work in result.works)
    assert Counter(record.keys.get("doi") for record in again.records) == wanted


# Pairs


def test_identifiers_merge_and_separate_records() -> None:
    by_pmid = replace(ARTICLE, pmid="31", database="PubMed")
    assert merge_pair(by_pmid, replace(by_pmid, title="Une formation inventée pour les infirmières")).counts.works == 1
    assert merge_pair(by_pmid, replace(by_pmid, pmid="32")).counts.works == 2
    by_doi = replace(ARTICLE, doi="10.5555/A")
    assert merge_pair(by_doi, replace(by_doi, doi="10.5555/a", volume="", pages="")).counts.works == 1
    other = merge_pair(by_doi, replace(by_doi, doi="10.5555/b"))
    assert (other.counts.works, other.counts.undecided) == (2, 1)
    assert (
        merge_pair(
            replace(ARTICLE, doi="10.6084/m9.figshare.77.v1"), replace(ARTICLE, doi="10.6084/m9.figshare.77")
        ).counts.works
        == 1
    )


def test_records_of_two_pmids_are_not_joined_by_a_third_record() -> None:
    one, other = (replace(ARTICLE, pmid=pmid, database="PubMed") for pmid in ("31", "32"))
    result = run_merge({"a.ris": one.ris(), "b.ris": other.ris(), "c.ris": ARTICLE.ris()})
    assert result.counts.works == 3
    assert result.counts.undecided >= 2


def test_a_pmid_in_another_field_merges_only_records_with_similar_titles() -> None:
    listed = replace(ARTICLE, pmid="31234567", database="PubMed")
    custom = replace(ARTICLE, title=ARTICLE.title.upper(), journal="", volume="", pages="e5").ris()
    assert merge_pair(listed, ARTICLE).counts.works == 1
    embase = custom.replace("ER  - ", "C5  - 31234567\nER  - ")
    assert run_merge({"a.ris": listed.ris(), "b.ris": embase}).counts.works == 1
    number = replace(ARTICLE, title="Another invented subject altogether", authors=(("Fox", "F"),), pages="").ris()
    article_number = number.replace("ER  - ", "C7  - 31234567\nER  - ")
    assert run_merge({"a.ris": listed.ris(), "b.ris": article_number}).counts.works == 2


FAMILIES = {
    "preprint": replace(
        ARTICLE, journal="medRxiv", year=2019, volume="", issue="", pages="", doi="10.1101/2019.11.11.19000001"
    ),
    "part": replace(ARTICLE, title=f"{ARTICLE.title}. Part II", pages="111-120"),
    "protocol": replace(
        ARTICLE,
        title=f"{ARTICLE.title.removesuffix('a randomised trial')}study protocol for a randomised trial",
        journal="Fictional Cardiology",
        year=2018,
        volume="2",
        pages="7",
    ),
    "conference": replace(
        ARTICLE, kind="CONF", journal="Annual Meeting of Inventors", year=2019, volume="7", pages="S12"
    ),
    "erratum": replace(ARTICLE, title=f"Erratum: {ARTICLE.title}", volume="13", pages="5"),
    "reply": replace(ARTICLE, title=f"{ARTICLE.title}: authors' reply", volume="13", pages="6"),
    "another_publication": replace(
        ARTICLE, journal="Fictional Cardiology", year=2021, volume="77", issue="", pages="1-9"
    ),
}


@pytest.mark.parametrize("relation", FAMILIES)
def test_a_family_is_linked_and_not_merged(relation: str) -> None:
    first = replace(ARTICLE, title=f"{ARTICLE.title}. Part I") if relation == "part" else ARTICLE
    result = merge_pair(first, FAMILIES[relation])
    assert result.counts.works == 2
    assert [(group.kind, group.relations) for group in result.groups] == [("family", [relation])]


TITLED = {
    **{name: FAMILIES[name] for name in ("part", "protocol", "erratum", "reply")},
    "letter": replace(ARTICLE, title=f"Letter: {ARTICLE.title}", volume="13", pages="6"),
    "comment": replace(ARTICLE, title=f"Comment on: {ARTICLE.title}", volume="13", pages="6"),
    "retraction": replace(ARTICLE, title=f"Retraction: {ARTICLE.title}", volume="13", pages="6"),
}
EMPTY = {"volume": "", "issue": "", "pages": "", "journal": "", "abstract": ""}


@pytest.mark.parametrize("relation", TITLED)
def test_a_title_that_names_another_publication_is_never_merged_even_if_little_is_known(relation: str) -> None:
    first = replace(ARTICLE, title=f"{ARTICLE.title}. Part I") if relation == "part" else ARTICLE
    for size in range(len(EMPTY) + 1):
        for names in combinations(EMPTY, size):
            missing: dict[str, Any] = {name: EMPTY[name] for name in names}
            for one, other in ((first, TITLED[relation]), (replace(first, **missing), TITLED[relation])):
                result = merge_pair(one, replace(other, **missing))
                assert result.counts.works == 2, names
                assert result.counts.families + result.counts.undecided <= 1


def test_versions_of_a_cochrane_review_are_a_family() -> None:
    review = replace(ARTICLE, journal="Cochrane Database of Systematic Reviews", volume="", issue="4", pages="CD001234")
    one = replace(review, doi="10.1002/14651858.CD001234.pub2", pmid="31", database="PubMed", year=2009)
    other = replace(one, doi="10.1002/14651858.CD001234.pub3", pmid="32", year=2015)
    result = run_merge(
        {
            "a.ris": write_ris_file([one, other]),
            "b.ris": write_ris_file([replace(one, pmid=""), replace(other, pmid="")]),
        }
    )
    assert result.counts.works == 2
    assert {len(group) for group in list_duplicates(result)} == {2}
    assert [group.relations for group in result.groups if group.kind == "family"] == [["version"]]


def test_similar_titles_of_other_works_are_not_merged() -> None:
    for other in (
        replace(ARTICLE, title=ARTICLE.title.replace("nurses", "guards"), pages="111-119"),
        replace(ARTICLE, authors=(("Fox", "Ada"), ("Hen", "Bob")), volume="13", pages="1-2"),
        replace(ARTICLE, title="Editorial", pages="1-2"),
    ):
        assert merge_pair(ARTICLE, other).counts.works == 2
    editorial = replace(ARTICLE, title="Editorial", pages="1-2")
    assert merge_pair(editorial, replace(editorial, pages="3-4")).counts.works == 2
    assert merge_pair(editorial, editorial).counts.works == 1


@pytest.mark.parametrize(
    "change",
    [
        {"title": "[Training for nurses (invented), who work at night, in a randomised trial.] [German]"},
        {"journal": "J Clin Invent", "pages": "101-10"},
        {"authors": (("Jane", "Doe"), ("Richard", "Roe"), ("Ann", "Poe"))},
        {"authors": (("Doe", "J."),), "issue": ""},
        {"volume": "", "issue": "", "pages": ""},
        {"year": 2019, "issue": ""},
        {"title": "<i>Effects</i> of invented sleep training on nurses who work at night: a randomized trial [letter]"},
    ],
)
def test_differences_between_databases_are_merged(change: dict[str, Any]) -> None:
    result = merge_pair(ARTICLE, replace(ARTICLE, **change))
    assert result.counts.works == 1, result.undecided
    assert result.groups[0].why


# The merged record


def test_the_most_complete_record_is_used_and_completed() -> None:
    rich = ARTICLE.ris().replace("ER  - ", "DO  - 10.5555/x\nXX  - kept\nKW  - sleep\nER  - ")
    poor = replace(ARTICLE, abstract="An invented abstract.", issue="", volume="", database="Embase").ris()
    poor = poor.replace("ER  - ", "AN  - 2012345678\nLB  - include\nN1  - A note: of mine\nYY  - other\nER  - ")
    result = run_merge({"a.ris": rich, "b.ris": poor})
    (work,) = result.works
    text = result.to_text("ris")
    assert work.kept.file == "a.ris"
    for line in ("XX  - kept", "YY  - other", "LB  - include", "N1  - A note: of mine", "AB  - An invented abstract."):
        assert line in text.splitlines()
    assert "2012345678" in text
    assert work.sources == ["Embase", "a"]


def test_bibtex_has_its_keys_and_fields() -> None:
    entry = '@article{doe2020,\n  title = "Invented {HbA1c} and nights",\n  author = {Doe, Jane},\n  owner = {me},\n}'
    result = run_merge({"refs.bib": entry})
    text = result.to_text("bibtex")
    assert "@article{doe2020," in text
    assert '"Invented {HbA1c} and nights"' in text
    assert run_merge({"again.bib": text}).records[0].keys["key"] == "doe2020"


# Decisions


def test_a_decision_merges_an_undecided_pair_and_is_applied_with_other_files_too() -> None:
    one, other = replace(ARTICLE, doi="10.5555/a"), replace(ARTICLE, doi="10.5555/b")
    first = merge_pair(one, other)
    assert first.counts.undecided == 1
    rows = [replace(row, decision="same") for row in first.review]
    table = read_review(write_review(first.review, rows), "review.csv")
    assert [row.decision for row in table] == ["same"]
    decisions = [{"members": row.members, "fingerprints": row.fingerprints, "decision": row.decision} for row in table]
    grown = write_ris_file([*invent_works(3), one])
    later = run_merge({"a.ris": grown, "b.ris": other.ris()}, decisions=decisions)
    assert later.counts.undecided == 0
    assert list_duplicates(later) == [{"a.ris#4", "b.ris#1"}]
    lost = run_merge({"a.ris": write_ris_file(list(invent_works(3)))}, decisions=decisions)
    assert [warning.code for warning in lost.warnings] == ["decision_unmatched"]


def test_a_merge_is_undone_by_a_decision_or_by_its_id() -> None:
    files = {name: ARTICLE.ris() for name in ("a.ris", "b.ris", "c.ris")}
    assert run_merge(files).counts.works == 1
    undone = run_merge(files, separate=["b.ris#1"])
    assert list_duplicates(undone) == [{"a.ris#1", "c.ris#1"}]
    decided = run_merge(files, decisions=[{"members": ["a.ris#1", "c.ris#1"], "decision": "different"}])
    assert list_duplicates(decided) == [{"a.ris#1", "b.ris#1"}]
    family = run_merge(files, decisions=[{"members": ["a.ris#1", "c.ris#1"], "decision": "family"}])
    assert sorted(group.kind for group in family.groups) == ["duplicate", "family"]


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), data=st.data())
def test_sums_are_correct_after_any_decisions(seed: int, data: st.DataObject) -> None:
    files, _ = invent_files(8, seed)
    texts = {name: write_ris_file(records) for name, records in files.items() if records}
    ids = [record.id for record in run_merge(texts).records]
    pairs = st.lists(st.sampled_from(ids), min_size=2, max_size=2, unique=True)
    words = st.sampled_from(["same", "different", "family"])
    chosen = data.draw(st.lists(st.tuples(pairs, words), max_size=5)) if len(ids) > 1 else []
    decisions = {frozenset(members): (members, word) for members, word in chosen}
    result = run_merge(
        texts,
        decisions=[{"members": members, "decision": word} for members, word in decisions.values()],
        separate=data.draw(st.lists(st.sampled_from(ids), max_size=2)),
    )
    groups = list_duplicates(result)
    for members, word in decisions.values():
        joined = any(set(members) <= group for group in groups)
        assert joined or word != "same"


def test_unknown_ids_and_empty_files_are_named() -> None:
    with pytest.raises(InvalidInput) as unknown:
        run_merge({"a.ris": ARTICLE.ris()}, separate=["b.ris#1"])
    assert unknown.value.details["reason"] == "unknown_record"
    with pytest.raises(InvalidInput) as empty:
        run_merge({"a.csv": "title,doi\n"})
    assert empty.value.details["reason"] == "bad_file"
    with pytest.raises(InvalidInput) as wrong:
        read_review("decision,id_1,id_2\nperhaps,a#1,b#1\n", "review.csv")
    assert wrong.value.details["line"] == 2


def test_records_of_every_kind_of_file_are_one_work() -> None:
    title, doi = ARTICLE.title, "10.5555/kinds"
    files = {
        "a.ris": replace(ARTICLE, doi=doi).ris(),
        "b.nbib": f"PMID- 31\nTI  - {title}.\nFAU - Doe, Jane\nAU  - Doe J\nDP  - 2020\nLID - {doi} [doi]\n",
        "c.bib": f"@article{{k, title={{{title}}}, author={{Doe, Jane}}, year=2020, doi={{{doi}}}}}",
        "d.json": f'[{{"id": "k", "type": "article-journal", "title": "{title}", "DOI": "{doi}"}}]',
        "e.xml": "<xml><records><record><ref-type name='Journal Article'>17</ref-type><titles><title>"
        f"{title}</title></titles><electronic-resource-num>{doi}</electronic-resource-num></record></records></xml>",
        "f.csv": f'Title,Authors,DOI,Tags\n"{title}","Doe J, Roe R",{doi},include; later\n',
        "g.txt": f"{doi}\n",
    }
    result = run_merge(files)
    assert result.counts.works == 1
    assert result.counts.records == len(files)
    text = result.to_text("ris")
    assert text.count("TY  - ") == 1
    assert [record.keys["doi"] for record in result.records] == [doi] * len(files)


def test_the_operation_is_offered_to_agents_only_on_request() -> None:
    from entrez_kit.server.toolsets import DEFAULT_TOOLSETS, TOOLSETS

    operation: Operation[Any, Any] = MERGE_REFERENCES
    assert operation.toolset in set(TOOLSETS) - set(DEFAULT_TOOLSETS)


def test_variations_of_one_work_are_merged_pairwise() -> None:
    chance = random.Random(7)
    lost = 0
    for record in invent_works(200, 3):
        lost += merge_pair(record, vary(record, chance)).counts.works - 1
    assert lost <= 4
