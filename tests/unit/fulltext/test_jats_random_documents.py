"""Random documents: every word is read once, in order, from any arrangement of elements."""

import itertools
import re
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jats_words import list_lines
from one_jats_article import parse_jats

CONTAINERS = (
    *("p", "sec", "list", "list-item", "disp-quote", "boxed-text", "statement", "fig", "fig-group", "table-wrap"),
    *("table-wrap-foot", "fn", "fn-group", "def-list", "def-item", "def", "caption", "supplementary-material", "media"),
    *("verse-group", "speech", "glossary", "app", "named-book-part", "array", "chem-struct-wrap", "floats-wrap"),
    *("bold", "italic", "sub", "sup", "xref", "named-content", "styled-content", "ext-link", "nobody-knows-this"),
    *("question", "answer", "attrib", "kwd-group", "address", "sig-block", "inline-supplementary-material", "ruby"),
    *("disp-formula", "inline-formula", "preformat", "code", "abbrev", "term", "product", "mixed-citation", "tr", "td"),
)
LEAVES = ("title", "label", "p", "verse-line", "speaker", "kwd", "td", "bold", "term", "email", "year", "uri")


WORD = "#"
"""A placeholder for a word until the body is complete; then each is a separate word."""
leaves = st.sampled_from(LEAVES).map(lambda name: f"<{name}> {WORD} </{name}>")
loose = st.sampled_from((f" {WORD} ", f"<![CDATA[ {WORD} ]]>", "<!-- a comment -->", "<?an instruction?>"))


def wrap_pieces(pieces: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return elements that contain some of these pieces."""
    inner = st.lists(pieces, max_size=4).map("".join)
    return st.builds(lambda name, inside: f"<{name}>{inside}</{name}>", st.sampled_from(CONTAINERS), inner)


elements = st.recursive(leaves | loose, wrap_pieces, max_leaves=25)
cells = st.builds(
    lambda span, inside: f"<td{span}>{inside}</td>",
    st.sampled_from(("", ' colspan="2"', ' rowspan="2"', ' rowspan="9" colspan="3"')),
    elements,
)
rows = st.lists(cells, max_size=4).map(lambda row: f"<tr>{''.join(row)}</tr>")
tables = st.lists(rows, max_size=3).map(lambda body: f"<table><tbody>{''.join(body)}</tbody></table>")
bodies = st.lists(wrap_pieces(elements) | tables, max_size=8).map("".join)


@pytest.mark.long
@given(bodies)
def test_every_word_of_any_body_is_read_once(body: str) -> None:
    numbers = itertools.count(1)
    body = re.sub(WORD, lambda _: f"w{next(numbers)}x", body)
    words = next(numbers) - 1
    article = parse_jats(f"<article><body>{body}</body></article>".encode())

    found = Counter(re.findall(r"w[0-9]+x", unicodedata.normalize("NFKC", "\n".join(list_lines(article.sections)))))
    assert [number for number in range(1, words + 1) if not found[f"w{number}x"]] == []
    assert [word for word, count in found.items() if count > 1] == []
