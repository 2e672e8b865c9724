"""Texts for users have American spelling, as names of flags and fields have."""

import ast
import re
from collections.abc import Iterator

import pytest
from project_paths import ROOT

BRITISH = re.compile(
    r"\b(?:colours?|coloured|behaviours?|licences?|centres?|favourites?|honoured|judgements?|fulfil|whilst"
    r"|(?:summar|normal|recogn|organ|random|general|minim|optim|capital|serial|synchron|author|categor|standard)"
    r"is(?:e|es|ed|ing|ation|ations)|analys(?:e|ed|ing))\b",
    re.IGNORECASE,
)
PAGES = ("README.md", "entrez_kit/server/tools.json")
WORDS_OF_OTHERS = {
    "entrez_kit/guides/__init__.py": {"colour"},  # a word by which the guide is found
    "entrez_kit/guides/output.md": {"colour"},
    "entrez_kit/pubmed/publication_types.py": {"randomised"},  # words that users type
    "entrez_kit/references/manuscripts/calls.py": {"summarised"},  # words of manuscripts
    "entrez_kit/reviews/draw_flow.py": {"organisation", "organisations"},
    "entrez_kit/reviews/flow.py": {"organisation"},
    "entrez_kit/reviews/prisma_s.py": {"organisation"},
    "entrez_kit/reviews/review_settings.py": {"organisation"},
}
"""British words that are not the project's own, by module or page."""


def list_texts() -> Iterator[tuple[str, str]]:
    """Yield the pages for users, and the texts in modules, with docstrings."""
    for path in (*ROOT.glob("entrez_kit/guides/*.md"), *(ROOT / name for name in PAGES)):
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    for folder in ("entrez_kit", "commands"):
        for path in ROOT.glob(f"{folder}/**/*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield path.relative_to(ROOT).as_posix(), node.value


@pytest.mark.long
def test_texts_have_american_spelling() -> None:
    found = {(name, word.lower()) for name, text in list_texts() for word in BRITISH.findall(text)}

    assert found == {(name, word) for name, words in WORDS_OF_OTHERS.items() for word in words}
