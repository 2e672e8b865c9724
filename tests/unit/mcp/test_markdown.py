"""Documents as Markdown: every fact of the data, under headings that people find their way by."""

from typing import Any

from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from serving import facts_in

from entrez_kit.server.markdown import markdown_of

names = st.sampled_from(["title", "text", "symbol", "label", "pmid", "authors", "last_name", "sections", "a_b"])
leaves = st.none() | st.booleans() | st.integers() | st.text("ab \n`#*;:-", max_size=260)
documents = st.dictionaries(
    names,
    st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4)),
    max_size=6,
)


@settings(max_examples=50, deadline=None)
@drawn(document=documents)
def test_no_fact_is_lost(document: dict[str, Any]) -> None:
    text = markdown_of(document)

    assert all(fact.strip("\n") in text for fact in facts_in(document))


def test_sections_stand_under_each_other_and_people_are_named_in_a_line() -> None:
    text = markdown_of(
        {
            "articles": [
                {
                    "pmid": "1",
                    "title": "On rice",
                    "authors": [{"given_names": "Ada", "last_name": "Doe"}],
                    "sections": [
                        {"title": "Methods", "label": "2", "text": "We grew it.", "subsections": [{"title": "Soil"}]}
                    ],
                }
            ]
        }
    )

    assert text.splitlines() == [
        "# On rice",
        "- pmid: 1",
        "- authors: Ada Doe",
        "",
        "## 2 Methods",
        "",
        "We grew it.",
        "",
        "### Soil",
    ]


def test_what_programs_read_keeps_its_lines_in_a_fence_that_it_cannot_close() -> None:
    text = markdown_of({"citations": [{"pmid": "1", "citations": {"bibtex": "@article{a,\n```\n}"}}]})

    assert "````\n@article{a,\n```\n}\n````" in text
