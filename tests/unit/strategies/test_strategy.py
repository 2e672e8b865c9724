"""Strategies with their translations: references, labels, refused lines, and proof on records."""

import time
from pathlib import Path

import pytest
import strategy_files
from pyroaring import BitMap
from strategy_line_matcher import LineMatcher
from strategy_records import list_records
from terms_index import index_terms

from entrez_kit.query.dialects.pieces import choose_label
from entrez_kit.query.dialects.services import Dialect
from entrez_kit.query.search import search
from entrez_kit.query.segments.search_index import SearchIndex
from entrez_kit.strategies.prove_strategy import LineProof, prove_records
from entrez_kit.strategies.rules import find_problems
from entrez_kit.strategies.strategy import Strategy, read_strategy


def list_kinds(strategy: Strategy) -> dict[int, str]:
    return {number: line.kind for number, line in strategy.numbered.items()}


def search_line(proof: LineProof, index: SearchIndex, proofs: list[LineProof]) -> set[int]:
    """Return the records of a translation that includes all other lines."""
    by_number = {proof.line.number: proof for proof in proofs}
    return set(
        search(
            proof.line.pubmed, index, history=lambda number: BitMap(search_line(by_number[number], index, proofs))
        ).records
    )


def test_every_line_of_a_published_strategy_is_translated() -> None:
    result = read_strategy(strategy_files.OVID).to_result()

    by_number = {line.number: line for line in result.lines if line.number}
    assert (result.dialect, result.final) == ("ovid", 15)
    assert by_number[4].kind == "reference"
    assert by_number[4].depends_on == [1, 2, 3]
    assert by_number[14].pubmed == "#4 AND #7 AND #13"
    assert result.query is not None
    assert "#" not in result.query
    assert result.query.endswith("AND english[la] AND 2010:3000[dp]")


@pytest.mark.parametrize("name", strategy_files.ALL)
def test_all_lines_are_translated_refused_comments_or_headers(name: str) -> None:
    result = read_strategy(strategy_files.ALL[name]).to_result()

    for line in result.lines:
        assert (line.pubmed is not None) == (line.kind in ("search", "reference"))
        assert (line.label is None) == (line.kind in ("comment", "header"))
    assert "".join(line.original for line in result.lines) == strategy_files.ALL[name]
    assert all(line.kind != "refused" for line in result.lines)


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        ("OVID", "ovid"),
        ("OVID_UNNUMBERED", "ovid"),
        ("PUBMED", "pubmed"),
        ("EMBASE", "embase"),
        ("EBSCO", "ebsco"),
        ("WOS", "wos"),
        ("SCOPUS", "scopus"),
        ("COCHRANE", "cochrane"),
    ],
)
def test_most_lines_decide_the_service(name: str, dialect: str) -> None:
    assert read_strategy(strategy_files.ALL[name]).dialect == dialect


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in strategy_files.ALL if not name.startswith("PUBMED")])
def test_the_labels_are_correct_on_records_with_the_words_of_the_strategy(name: str) -> None:
    strategy = read_strategy(strategy_files.ALL[name])

    records = list_records([strategy], 300)
    index = index_terms(records)

    proofs, _ = prove_records(strategy, index)

    judge = LineMatcher(records, lambda query: search(query, index).records)
    judged: dict[int, set[int]] = {}
    for proof in proofs:
        assert proof.line.node is not None
        assert proof.line.number is not None
        judged[proof.line.number] = own = judge.judge(proof.line.node, judged)
        differs = (proof.line.printed.text, proof.line.pubmed, proof.missed[:3], proof.gained[:3])
        assert proof.holds, differs
        assert len(own) == proof.meant, differs
        assert {*proof.missed} == own - {*search_line(proof, index, proofs)}, differs
    assert any(proof.meant for proof in proofs)


def test_the_last_search_may_be_printed_first() -> None:
    result = read_strategy(strategy_files.EBSCO_FALLING).to_result()

    assert result.final == 5
    assert result.lines[0].pubmed == "#3 AND #4 AND 2010:2020[dp] AND english[la]"


def test_a_limit_to_an_unknown_type_does_not_become_a_limit_to_the_others() -> None:
    result = read_strategy('TITLE(asthma) AND (LIMIT-TO(DOCTYPE,"cp") OR LIMIT-TO(DOCTYPE,"re"))\n').to_result()

    assert result.lines[0].pubmed == "asthma[ti]"
    assert "wider: a limit was left out: 'LIMIT-TO(DOCTYPE,\"cp\")': PubMed has no such limit" in result.lines[0].loss


EMBASE_LIMITS = """#1 asthma:ti
#2 [embase]/lim
#3 #1 AND #2
#4 #1 NOT #2
#5 #1 AND [conference abstract]/lim
#6 #1 NOT #5
#7 #3 AND ([article]/lim OR [article in press]/lim)
#8 #1 NOT (#5 OR [editorial]/lim)
#9 #1 OR #2
#10 #6 AND #7
"""


def test_a_line_with_a_limit_that_pubmed_lacks_is_left_out_where_it_would_find_too_little() -> None:
    strategy = read_strategy(EMBASE_LIMITS)
    lines = strategy.numbered

    assert {number: line.pubmed for number, line in lines.items()} == {
        1: "asthma[ti]",
        2: "",
        3: "#1",
        4: "#1",
        5: "#1",
        6: "#1",
        7: "#3",
        8: '#1 NOT "editorial"[pt]',
        9: "",
        10: "#6 AND #7",
    }
    assert [number for number, line in lines.items() if line.kind == "refused"] == [2, 9]
    assert {number: choose_label(lines[number].losses) for number in (3, 4, 5, 6, 7, 8, 10)} == {
        **dict.fromkeys((3, 4, 5, 6, 7, 10), "wider"),
        8: "narrower",
    }
    assert any("[conference abstract]/lim" in loss.text for loss in lines[5].losses)
    assert any("line 5 has a limit that PubMed lacks" in loss.text for loss in lines[6].losses)
    assert strategy.to_result().query == "((asthma[ti])) AND (((asthma[ti])))"


def test_a_wrong_translation_is_disproved_by_its_records() -> None:
    strategy = read_strategy("1. (heart adj fail*).ti.\n2. exp Asthma/\n")
    strategy.lines[0].pubmed = "heart[ti] AND fail*[ti]"

    proof = prove_records(strategy, index_terms(list_records([strategy], 300)))[0][0]

    assert not proof.holds
    assert proof.gained


def test_a_refused_line_blocks_the_lines_that_depend_on_it() -> None:
    strategy = read_strategy("1. exp Asthma/\n2. aspirin.jw.\n3. 1 or 2\n4. wheez$.tw.\n5. 1 or 4\n")

    assert list_kinds(strategy) == {1: "search", 2: "refused", 3: "reference", 4: "search", 5: "reference"}
    result = strategy.to_result()
    assert [line.label for line in result.lines] == ["exact", "not_expressible", "not_expressible", "wider", "wider"]
    assert result.query == '("Asthma"[mh]) OR (wheez*[tiab])'
    assert strategy.expand(strategy.numbered[3]) is None


@pytest.mark.parametrize(
    ("text", "refused", "problem"),
    [
        ("1. exp Asthma/\n2. 1 or 9\n", {2}, "missing-reference"),
        ("1. exp Asthma/\n2. 1 or 2\n", {2}, "circular-reference"),
        ("1. exp Asthma/\n2. or/1-12\n", {2}, "circular-reference"),
        ("1. exp Asthma/\n2. 1 or 3\n3. 2 not 1\n", {2, 3}, "circular-reference"),
    ],
)
def test_a_wrong_reference_is_refused(text: str, refused: set[int], problem: str) -> None:
    strategy = read_strategy(text)

    codes = {number: line.refusal.code for number, line in strategy.numbered.items() if line.refusal is not None}
    assert codes == dict.fromkeys(refused, problem)
    losses = {line.number: line.loss for line in strategy.to_result().lines if line.number in refused}
    assert all(loss[0].startswith(f"not_expressible: {problem}: ") for loss in losses.values())


def test_a_forward_reference_is_resolved_with_a_warning() -> None:
    strategy = read_strategy("1. exp Asthma/\n2. 1 or 3\n3. wheez$.tw.\n")

    assert strategy.expand(strategy.numbered[2]) == '("Asthma"[mh]) OR (wheez*[tiab])'
    assert [note.code for note in strategy.numbered[2].notes] == ["forward-reference"]
    assert strategy.to_result().lines[1].warnings == ["forward-reference: #3 comes later in the list."]


def test_labels_include_those_of_the_referenced_lines() -> None:
    strategy = read_strategy("1. exp Asthma/\n2. wheez$.ab.\n3. 1 or 2\n4. 1 not 2\n")

    labels = {number: choose_label(line.losses) for number, line in strategy.numbered.items()}
    assert labels == {1: "exact", 2: "wider", 3: "wider", 4: "narrower"}


def test_lines_of_another_database_are_refused_by_name() -> None:
    strategy = read_strategy("1. exp Asthma/\n2. 1 use ppez\n3. exp asthma/\n4. 3 use oemezd\n5. 2 or 4\n")

    assert list_kinds(strategy)[4] == "refused"
    assert strategy.to_result().query is None


def test_repairs_are_reported() -> None:
    line = read_strategy("“Asthma”[mh] OR wheez*[tiab]\n").to_result().lines[0]

    assert line.original == "“Asthma”[mh] OR wheez*[tiab]\n"
    assert line.repaired == '"Asthma"[mh] OR wheez*[tiab]'


@pytest.mark.recorded
def test_recorded_strategies_are_read_and_their_labels_are_correct(real_data: Path) -> None:
    files = sorted((real_data / "strategies" / "clef").glob("CD*.txt"))
    assert len(files) >= 38
    for path in files:
        text = path.read_bytes().decode("utf-8")
        strategy = read_strategy(text)
        result = strategy.to_result()
        assert "".join(line.original for line in result.lines) == text
        for line in strategy.lines:
            assert line.kind != "refused" or line.refusal is not None
            for number in line.depends_on:
                assert number in strategy.numbered or line.kind == "refused"
        proofs, _ = prove_records(strategy, index_terms(list_records([strategy], 200)))
        wrong = [proof for proof in proofs if not proof.holds]
        assert not wrong, (path.name, [(one.line.printed.text, one.line.pubmed) for one in wrong])


@pytest.mark.recorded
def test_recorded_queries_of_pubmed_are_searched_unchanged(real_data: Path) -> None:
    import json

    rows = (real_data / "strategies" / "pubmed.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) >= 15

    for row in rows:
        query = json.loads(row)["query"]
        result = read_strategy(query).to_result()
        assert result.dialect == "pubmed"
        assert [line.kind for line in result.lines] == ["search"]
        assert result.query is not None


LONG: list[tuple[str, Dialect | None]] = [
    *(("a b or (c d) ", "ovid"), ("exp a ", "ovid"), ("[", "ovid"), ("a adj ", "ovid"), ("a not ", "ovid")),
    *(("'a'/exp or ", "embase"), ("TS=", "wos"), ("PY= ", "wos"), ("{", "scopus"), ('[mh "', "cochrane")),
    *(("a[ti] OR ", "pubmed"), ("1 or ", None), ("(\n", None), ("or x\n", None)),
]


@pytest.mark.parametrize(("piece", "dialect"), LONG)
@pytest.mark.long
def test_the_time_for_a_long_line_is_linear_in_its_length(piece: str, dialect: Dialect | None) -> None:
    def measure(length: int) -> float:
        start = time.thread_time()
        strategy = read_strategy(piece * (length // len(piece)), dialect=dialect)
        find_problems(strategy)
        return time.thread_time() - start

    measure(200)
    assert measure(4_000) < 0.1 + 12 * min(measure(1_000), measure(1_000))


def test_not_in_a_line_of_pubmed_excludes_only_the_part_after_it() -> None:
    strategy = read_strategy("1. a1[ti]\n2. wheez$.ab.\n3. b1[ti] NOT #1 OR #2\n4. b1[ti] NOT (#1 OR #2)\n")

    labels = {number: choose_label(line.losses) for number, line in strategy.numbered.items()}
    assert (labels[2], labels[3], labels[4]) == ("wider", "wider", "narrower")


def test_a_long_chain_of_lines_has_a_query() -> None:
    lines = "".join(f"{number}. limit {number - 1} to english language\n" for number in range(2, 1501))

    query = read_strategy(f"1. asthma.ti.\n{lines}").to_result().query

    assert query is not None
    assert query.endswith(" AND english[la]")
    assert query.count("english[la]") == 1499
