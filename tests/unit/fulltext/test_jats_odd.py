"""Documents nobody would write, and somebody does: whatever stands where, every word comes out once, in order."""

import random
import re
import unicodedata
from collections import Counter

import pytest
from jats_words import lines_of

from entrez_kit.fulltext.jats.article import parse_jats

CONTAINERS = (
    *("p", "sec", "list", "list-item", "disp-quote", "boxed-text", "statement", "fig", "fig-group", "table-wrap"),
    *("table-wrap-foot", "fn", "fn-group", "def-list", "def-item", "def", "caption", "supplementary-material", "media"),
    *("verse-group", "speech", "glossary", "app", "named-book-part", "array", "chem-struct-wrap", "floats-wrap"),
    *("bold", "italic", "sub", "sup", "xref", "named-content", "styled-content", "ext-link", "nobody-knows-this"),
    *("question", "answer", "attrib", "kwd-group", "address", "sig-block", "inline-supplementary-material", "ruby"),
    *("disp-formula", "inline-formula", "preformat", "code", "abbrev", "term", "product", "mixed-citation", "tr", "td"),
)
LEAVES = ("title", "label", "p", "verse-line", "speaker", "kwd", "td", "bold", "term", "email", "year", "uri")


class Writer:
    """Writes random bodies in which every piece of text is a word of its own."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.words = 0

    def word(self) -> str:
        self.words += 1
        return f" w{self.words}x "

    def element(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.2:
            name = self.random.choice(LEAVES)
            return f"<{name}>{self.word()}</{name}>"
        name = self.random.choice(CONTAINERS)
        inner = "".join(self.piece(depth - 1) for _ in range(self.random.randint(0, 4)))
        return f"<{name}>{inner}</{name}>"

    def piece(self, depth: int) -> str:
        kind = self.random.random()
        if kind < 0.3:
            return self.word()
        if kind < 0.35:
            return f"<![CDATA[{self.word()}]]>"
        if kind < 0.4:
            return "<!-- a comment -->"
        if kind < 0.45:
            return "<?an instruction?>"
        return self.element(depth)

    def table(self, depth: int) -> str:
        def row() -> str:
            span = self.random.choice(("", ' colspan="2"', ' rowspan="2"', ' rowspan="9" colspan="3"'))
            return "".join(f"<td{span}>{self.piece(depth)}</td>" for _ in range(self.random.randint(0, 4)))

        return f"<table><tbody>{''.join(f'<tr>{row()}</tr>' for _ in range(3))}</tbody></table>"

    def body(self) -> str:
        parts = [self.element(5) if self.random.random() < 0.85 else self.table(2) for _ in range(8)]
        return f"<article><body>{''.join(parts)}</body></article>"


@pytest.mark.parametrize("seed", range(200))
def test_every_word_of_a_random_body_comes_out_once(seed: int) -> None:
    writer = Writer(seed)
    body = writer.body()
    article = parse_jats(body.encode())

    found = Counter(re.findall(r"w[0-9]+x", unicodedata.normalize("NFKC", "\n".join(lines_of(article.sections)))))
    missing = [number for number in range(1, writer.words + 1) if not found[f"w{number}x"]]
    twice = [word for word, count in found.items() if count > 1]
    assert not missing, body
    assert not twice, body
