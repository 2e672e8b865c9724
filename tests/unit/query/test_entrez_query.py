"""Parsed queries: reduced to the parts that match, and checked against sets of records."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrez_kit.core.broadening import compare_strictly, compare_with_query
from entrez_kit.core.query_input import normalize_date
from entrez_kit.query.parser import Operand, parse
from entrez_kit.query.reduction import MeshGap, Part, Whole, find_mesh_gap, reduce_query
from entrez_kit.services.small_replies import ESearchReply, Fate, SearchWarning

RECORDS = frozenset(range(16))
WORDS = {"alpha": frozenset({0, 1, 2, 3}), "beta": frozenset({2, 3, 8, 9}), "gamma": frozenset({3, 9, 12})}
UNKNOWN = ("nix", "nada")

operands = st.sampled_from([*WORDS, *UNKNOWN])
queries = st.recursive(
    operands,
    lambda inner: st.tuples(inner, st.sampled_from(["AND", "OR", "NOT"]), inner).map(
        lambda parts: f"({parts[0]}) {parts[1]} ({parts[2]})"
    ),
    max_leaves=12,
)


def evaluate_query(term: str, of: Callable[[str], frozenset[int]]) -> frozenset[int]:
    """Evaluate a query on sets by another way than the one under test: as a Python expression."""
    names = {word: of(word) for word in (*WORDS, *UNKNOWN)}
    text = term.replace("all[sb]", "every").replace("AND", "&").replace("OR", "|").replace("NOT", "-")
    # Entrez reads from left to right; Python does not, so every step gets its parentheses.
    return frozenset(eval(_add_parentheses(text), {"every": RECORDS, **names}))


def _add_parentheses(text: str) -> str:
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()

    def read_expression(place: int) -> tuple[str, int]:
        done, operator = "", ""
        while place < len(tokens) and tokens[place] != ")":
            token = tokens[place]
            if token in "&|-":
                operator, place = token, place + 1
                continue
            if token == "(":
                part, place = read_expression(place + 1)
            else:
                part = token
            done = f"({done} {operator} {part})" if done else part
            place += 1
        return done, place

    return read_expression(0)[0]


@given(queries)
def test_a_reduced_query_matches_like_the_whole_one_if_unknown_words_match_nothing(term: str) -> None:
    def exchange(operand: Operand) -> Part:
        return Whole.NOTHING if operand.text in UNKNOWN else operand.text

    left = reduce_query(term, exchange)

    whole = evaluate_query(term, lambda word: WORDS.get(word, frozenset()))
    if isinstance(left, str):
        assert evaluate_query(left, lambda word: WORDS.get(word, frozenset())) == whole
    else:
        assert (whole == frozenset()) if left is Whole.NOTHING else (whole == RECORDS)


@given(queries)
def test_a_verdict_is_broadened_only_where_the_search_matched_more_than_the_query(term: str) -> None:
    """The searched sets are those of NCBI, which leaves unknown words out; the strict ones those of the query."""
    unknown = [word for word in UNKNOWN if word in term]
    searched_term = reduce_query(term, lambda operand: None if operand.text in UNKNOWN else operand.text)
    if not isinstance(searched_term, str):
        return
    searched = evaluate_query(searched_term, lambda word: WORDS.get(word, frozenset()))
    strict = evaluate_query(term, lambda word: WORDS.get(word, frozenset()))
    reply = ESearchReply(
        count=len(searched),
        warnings=[SearchWarning("phrase_not_found", word) for word in unknown],
        query_translation="",
    )

    verdict = compare_with_query(
        term, reply, lambda asked: len(evaluate_query(asked, lambda word: WORDS.get(word, frozenset())))
    )

    assert verdict.broadened == (len(strict) < len(searched))
    if verdict.strict_total is not None:
        assert verdict.strict_total == len(strict)
    elif searched != strict:
        assert len(searched) == len(strict)


@pytest.mark.parametrize(
    ("term", "differs", "count", "asked"),
    [
        ("crispr AND qqq", True, 0, None),
        ("crispr qqq therapy", True, 0, None),
        ("crispr OR qqq", False, None, None),
        ("(crispr OR base) AND (qqq OR sickle)", False, None, None),
        ("(crispr AND qqq) OR sickle", True, None, "sickle"),
        ("crispr NOT qqq", False, None, None),
        ('("qqq" OR (qqq)) AND crispr', True, 0, None),
    ],
)
def test_an_unknown_word_has_this_effect(term: str, differs: bool, count: int | None, asked: str | None) -> None:
    found = compare_strictly(term, ESearchReply(count=5, warnings=[SearchWarning("phrase_not_found", "qqq")]))

    assert (found.differs, found.count, found.term) == (differs, count, asked)


@pytest.mark.parametrize(
    ("term", "code", "text", "fate", "verdict"),
    [
        ("crispr[nosuch]", "field_not_found", "nosuch", "dropped", (True, 0, None)),
        ("sickle OR crispr[NoSuch]", "field_not_found", "nosuch", "dropped", (True, None, "sickle")),
        ("crispr[nosuch]", "field_not_found", "nosuch", "kept", (False, None, None)),
        ("crispr AND qqq[tiab]", "phrase_not_found", "qqq[tiab]", "kept", (False, None, None)),
        # What a phrase that is in no index would have matched cannot be asked.
        ('crispr AND "x y"', "quoted_phrase_not_found", '"x y"', "split", (True, None, None)),
        ("crispr AND other", "phrase_not_found", "not in the query", "dropped", (True, None, None)),
    ],
)
def test_other_warnings_have_this_effect(
    term: str, code: str, text: str, fate: Fate, verdict: tuple[bool, int | None, str | None]
) -> None:
    found = compare_strictly(term, ESearchReply(count=5, warnings=[SearchWarning(code, text, fate)]))

    assert (found.differs, found.count, found.term) == verdict


def test_a_missing_count_does_not_change_the_verdict() -> None:
    reply = ESearchReply(count=5, warnings=[SearchWarning("phrase_not_found", "qqq")])

    verdict = compare_with_query("(crispr AND qqq) OR sickle", reply, lambda term: None)

    assert (verdict.broadened, verdict.strict_total) == (True, None)
    first = verdict.list_warnings(reply)[0]
    assert (first.code, first.terms) == ("query_broadened", ["qqq"])


@pytest.mark.parametrize(
    ("term", "dropped", "required"),
    [
        ("(crispr OR qqq) AND zzz", ["qqq", "zzz"], ("zzz",)),
        ("qqq AND zzz", ["qqq", "zzz"], ("qqq", "zzz")),
        ("(sleep OR qqq) AND crispr AND zzz[tiab]", ["qqq", "zzz[tiab]"], ("zzz[tiab]",)),
        # Neither phrase alone changes the results: dropping both does.
        ("crispr AND (qqq OR zzz)", ["qqq", "zzz"], ("qqq", "zzz")),
        ("crispr NOT qqq AND zzz", ["qqq", "zzz"], ("zzz",)),
    ],
)
def test_a_broadened_search_names_the_dropped_part_that_the_query_requires(
    term: str, dropped: list[str], required: tuple[str, ...]
) -> None:
    reply = ESearchReply(count=5, warnings=[SearchWarning("phrase_not_found", text) for text in dropped])

    verdict = compare_with_query(term, reply, lambda term: 0)
    first = verdict.list_warnings(reply)[0]

    assert verdict.required == required
    assert (first.code, tuple(first.terms)) == ("query_broadened", required)


@pytest.mark.parametrize(
    ("term", "gap"),
    [
        ("crispr", None),
        ("crispr AND humans[mh]", MeshGap("crispr")),
        ('(crispr OR cas9) AND "Mice"[MeSH Terms] AND animals[MeSH Terms:noexp]', MeshGap("(crispr OR cas9)")),
        ("sleep[ti] AND (a[mh] OR b[majr])", MeshGap("sleep[ti]")),
        ('"Gene Editing"[Mesh]', MeshGap("(gene editing)", by_words=True)),
        ('"Leukemia, Myeloid/therapy"[mh]', MeshGap("(leukemia myeloid)", by_words=True)),
        ("humans[mh]", None),
        ("crispr OR humans[mh]", None),
        ("crispr NOT (animals[mh] NOT humans[mh])", None),
        ('sleep AND ("Sleep"[mh] OR sleep[tiab])', None),
    ],
)
def test_the_counted_query_for_records_without_mesh(term: str, gap: MeshGap | None) -> None:
    assert find_mesh_gap(term) == gap


def test_ranges_tags_and_quotes_belong_to_their_operands() -> None:
    term = '"2020/01"[dp] : "2024"[dp] AND a b[ti] c "d e" f:g[pdat] NOT (h'

    assert reduce_query(term, lambda operand: operand.text) == (
        '"2020/01"[dp] : "2024"[dp] AND a b[ti] AND c AND "d e" AND f:g[pdat] NOT h'
    )


@pytest.mark.long
@pytest.mark.parametrize("term", ["(" * 20_000, "[" * 20_000, '"' * 20_001, "a OR " * 20_000, ")(" * 10_000])
def test_long_and_invalid_queries_are_read_quickly(term: str) -> None:
    import time

    started = time.process_time()
    reduce_query(term, lambda operand: operand.text)
    find_mesh_gap(term)

    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("query", "dangling"),
    [
        ("crispr AND", ["AND"]),
        ("OR crispr", ["OR"]),
        ("crispr NOT", ["NOT"]),
        ("(crispr OR) AND hasabstract", ["OR"]),
        ("a AND OR b", ["AND"]),
        ("crispr AND NOT mice", []),
        ("NOT mice", []),
        ("(crispr) AND (cas9[ti] OR NOT cpf1)", []),
        ('"this AND" AND that', []),
        ("salt and pepper and", []),
    ],
)
def test_an_operator_without_an_operand_is_found(query: str, dangling: list[str]) -> None:
    assert parse(query).dangling == dangling


@pytest.mark.parametrize(
    "text", ["2020.5", "2020.05", "2020.0", "20200501", "2020/5.1", "2020/13", "2020-02-30", "May 2020"]
)
def test_a_text_that_is_not_a_date_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be a (valid )?date"):
        normalize_date(text)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2020", "2020"),
        ("2020/5", "2020/05"),
        ("2020-05", "2020/05"),
        ("2020-5-1", "2020/05/01"),
        ("2020.05.01", "2020/05/01"),
    ],
)
def test_dates_are_written_in_the_form_that_ncbi_accepts(text: str, date: str) -> None:
    assert normalize_date(text) == date
