"""Queries as users type and paste them: replaced characters, warnings, and queries in other languages."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrez_kit.base.errors import InvalidInput
from entrez_kit.core.model import Request
from entrez_kit.core.query_input import check_syntax, read_query
from entrez_kit.corpus.models import SyncRequest
from entrez_kit.databases.search import EntrezSearchRequest
from entrez_kit.pubmed.search_models import SearchRequest


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("\u201cheart failure\u201d[tiab]", '"heart failure"[tiab]'),
        ("\u201eheart failure\u201c", '"heart failure"'),
        ("\u00abheart failure\u00bb", '"heart failure"'),
        ("Crohn\u2019s disease", "Crohn's disease"),
        ("follow\u2013up AND beta\u2011blocker", "follow-up AND beta-blocker"),
        ("\uff08heart OR cardiac\uff09 AND failure", "(heart OR cardiac) AND failure"),
    ],
)
def test_typographic_characters_are_replaced_and_reported(typed: str, sent: str) -> None:
    query = read_query(typed)

    assert query.text == sent
    assert [warning.code for warning in query.warnings] == ["typographic_characters"]


def test_a_search_reads_its_query_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr("entrez_kit.core.query_input.check_balance", lambda query, *_, **__: read.append(query))
    request = SearchRequest(query_term="read once OR \u201ctwice\u201d", author="Doe J", language="french")

    terms = [request.term(), request.effective_term(), request.query().text, request.query().text]

    assert read == ['read once OR "twice"']
    assert all(read[0] in term for term in terms)


REQUESTS: dict[str, Callable[[str], Request]] = {
    "search": lambda text: SearchRequest(query_term=text),
    "db search": lambda text: EntrezSearchRequest(db="gene", term=text),
    "sync": lambda text: SyncRequest(query_key="key", term=text),
}
every_request = pytest.mark.parametrize("request_of", REQUESTS.values(), ids=REQUESTS)


@every_request
@pytest.mark.parametrize(
    "lines", ["1 crispr\n2 sickle cell", "1 crispr\r\n2 sickle cell", "1 crispr\u20282 sickle cell"]
)
def test_every_request_rejects_a_numbered_list_with_its_lines(request_of: Callable[[str], Request], lines: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        request_of(lines)

    assert caught.value.details["reason"] == "numbered_list"


@every_request
def test_every_request_has_its_query_on_one_line_without_invisible_characters(
    request_of: Callable[[str], Request],
) -> None:
    request = request_of("crispr\u202e AND\ncas9\x9f\tOR\r\ntalen")
    query = getattr(request, "query_term", "") or getattr(request, "term", "")

    assert query == "crispr AND cas9 OR talen"
    assert list(request.argument_warnings) == ["invisible_characters"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("crispr or sickle", ["or"]),
        ("crispr not (mice or rats)", ["not", "or"]),
        ("crispr OR sickle", []),
        ('"whether or not" AND crispr', []),
        ("crispr AND cas9", []),
        ("oral or", []),
    ],
)
def test_lowercase_operators_are_reported(query: str, words: list[str]) -> None:
    found = [warning.terms for warning in read_query(query).warnings if warning.code == "lowercase_operator"]

    assert found == ([words] if words else [])


@pytest.mark.parametrize(
    ("query", "service"),
    [
        ("exp Neoplasms/ and (heart adj3 failure).ti,ab.", "Ovid"),
        ("(tuberculosis or TB).tw", "Ovid"),
        ("Tuberculosis, Multidrug-Resistant/ or Tuberculosis/", "Ovid"),
        ("heart adj3 failure", "Ovid"),
        ("or/1-4", "Ovid"),
        ("limit 5 to english", "Ovid"),
        ("\u2018heart infarction\u2019/exp OR infarct:ti,ab", "Embase.com"),
        ("[embase]/lim AND cancer", "Embase.com"),
        ("'asthma'/exp AND [humans]/lim", "Embase.com"),
        ("'asthma'/exp OR 'child'/exp AND 'drug'/de", "Embase.com"),
        ('MH "Heart Failure+" AND TI (drug OR therapy)', "EBSCO"),
        ('AB "heart failure"', "EBSCO"),
        ("TS=(heart AND failure)", "Web of Science"),
        ("TITLE-ABS-KEY(heart W/3 failure)", "Scopus"),
        ("heart PRE/2 failure", "Scopus"),
        ('[mh "Heart Failure"] or "heart failure":ti,ab,kw', "Cochrane Library"),
        ("MeSH descriptor: [Heart Failure] explode all trees", "Cochrane Library"),
        ("heart NEAR/3 failure", "Embase.com or Web of Science"),
    ],
)
def test_the_syntax_of_another_service_is_rejected_with_its_name(query: str, service: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_syntax(query)

    assert caught.value.details == {"reason": "foreign_syntax", "service": service}


@pytest.mark.parametrize("query", ["#3", "#1 AND #2", "crispr AND #12"])
def test_a_reference_to_a_search_history_is_rejected(query: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_syntax(query)

    assert caught.value.details["reason"] == "no_history"


@pytest.mark.parametrize(
    "query",
    [
        "1. crispr\n2. sickle cell\n3. 1 and 2",
        "#1 crispr\n#2 sickle cell\n#3 #1 AND #2",
        "1 crispr\n2 sickle cell",
        "1. crispr 2. sickle cell 3. 1 and 2",
    ],
)
def test_a_numbered_list_is_rejected(query: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_syntax(query)

    assert caught.value.details["reason"] == "numbered_list"


@pytest.mark.parametrize(
    "query",
    [
        "hypertension/therapy[majr]",
        "neoplasms/dh AND 2020:2024[dp]",
        '"heart failure"[tiab:~3]',
        "crispr AND (mice[mh:noexp] NOT humans[mh])",
        "17170002 16381840",
        "omega N3 fatty acids",
        "IL-2/IL-15 AND TNF-alpha",
        "10.1016/j.cell.2013.02.022[doi]",
        "Smith J[au] AND 12[vi] AND 345[pg]",
        "COVID-19\nvaccine\n2 doses",
        "and/or",
        "TI-RADS AND thyroid",
        '"exp. neoplasms/ x"',
        "5:10 ratio AND 1:2",
    ],
)
def test_queries_of_pubmed_are_accepted(query: str) -> None:
    check_syntax(query)


def test_published_strategies_for_pubmed_are_accepted(real_data: Path) -> None:
    lines = (real_data / "strategies" / "pubmed.jsonl").read_text(encoding="utf-8").splitlines()

    for line in lines:
        query = json.loads(line)["query"]
        check_syntax(query)
        assert read_query(query).text
    assert len(lines) >= 15


@given(st.text(alphabet="abAB019 .,:/()[]\"#*'-=\n{}\u201c\u2019\u200b", max_size=60))
def test_any_text_is_a_query_or_rejected_with_a_reason(text: str) -> None:
    try:
        check_syntax(text)
        query = read_query(text)
    except InvalidInput as error:
        outcome = error.details["reason"]
    else:
        outcome = "" if read_query(query.text).text == query.text else "changed twice"
    assert outcome in ("", "foreign_syntax", "numbered_list", "no_history", "unbalanced_query")
