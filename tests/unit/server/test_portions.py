"""Large replies are returned in portions that together are complete."""

from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from entrez_kit.base.errors import InvalidInput
from entrez_kit.pubmed.fetch import FETCH_CONTENTS
from entrez_kit.server.portion_arguments import take_portion
from entrez_kit.server.portions import DEFAULT_LIMIT, Portion
from entrez_kit.server.shortening import count_characters

words = st.text("abc déf", min_size=0, max_size=400)


@settings(max_examples=60, deadline=None)
@drawn(
    records=st.lists(st.fixed_dictionaries({"pmid": words, "title": words}), max_size=40), limit=st.integers(1000, 9000)
)
def test_portions_have_no_gap(records: list[dict[str, str]], limit: int) -> None:
    document: dict[str, Any] = {"articles": records, "total": len(records)}
    got: list[Any] = []
    start: int | None = 0
    while start is not None:
        part = Portion("articles", start=start, limit=limit).cut(document)
        assert count_characters(part) <= limit or len(part["articles"]) == 1
        got += part["articles"]
        start = part.get("reply_cut", {}).get("next_start")
    assert got == records


@settings(max_examples=40, deadline=None)
@drawn(text=st.text('ab"\n\\é', max_size=8_000), limit=st.integers(1000, 3000))
def test_a_text_is_returned_in_portions_as_well(text: str, limit: int) -> None:
    got, start = "", 0
    while True:
        part = Portion("content", start=start, limit=limit).cut({"content": text})
        assert count_characters(part) <= limit
        got += part["content"]
        if "next_start" not in part.get("reply_cut", {}):
            break
        start = part["reply_cut"]["next_start"]
    assert got == text


def test_a_reply_within_the_limit_is_unchanged() -> None:
    document = {"articles": [{"pmid": "1"}], "warnings": []}

    assert Portion("articles").cut(document) == document
    assert Portion("content").cut(document) == document


def test_a_record_larger_than_a_portion_is_cut_and_marked() -> None:
    part = Portion("articles", limit=2_000).cut({"articles": [{"pmid": "1", "abstract": "word " * 2_000}]})

    assert count_characters(part) <= 2_000
    assert part["articles"][0]["pmid"] == "1"
    assert part["articles"][0]["abstract"].endswith("…")
    assert "reply_limit over 2000" in part["reply_cut"]["message"]


def test_fields_select_members_and_omit_others() -> None:
    record = {
        "pmid": "1",
        "title": "t",
        "journal": {"title": "j", "issn": "x"},
        "authors": [{"name": "a", "orcid": "o"}],
    }

    def select_fields(*fields: str) -> Any:
        return Portion("articles", fields).cut({"articles": [record]})["articles"][0]

    assert select_fields("journal.title") == {"pmid": "1", "journal": {"title": "j"}}
    assert select_fields("authors.name", "title") == {"pmid": "1", "title": "t", "authors": [{"name": "a"}]}
    assert select_fields("-authors.orcid", "-journal") == {"pmid": "1", "title": "t", "authors": [{"name": "a"}]}
    with pytest.raises(InvalidInput, match="did you mean title"):
        select_fields("titel")


@pytest.mark.parametrize(
    "wrong", [{"reply_limit": 5}, {"reply_limit": "many"}, {"reply_start": -1}, {"fields": "title"}]
)
def test_invalid_arguments_are_rejected(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        take_portion({"pmids": ["1"], **wrong}, FETCH_CONTENTS)
    assert caught.value.details["errors"][0]["field"] in wrong


def test_the_operation_gets_only_its_own_arguments() -> None:
    rest, portions = take_portion(
        {"pmids": ["1"], "reply_limit": "5000", "reply_start": 0, "fields": []}, FETCH_CONTENTS
    )

    assert rest == {"pmids": ["1"]}
    assert {(portion.limit, portion.start, portion.fields) for portion in portions} == {(5_000, 0, ())}
    assert take_portion({}, FETCH_CONTENTS)[1][0].limit == DEFAULT_LIMIT
