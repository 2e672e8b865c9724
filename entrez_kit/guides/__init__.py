"""Guides in Markdown: the texts behind ``entrez-kit guide``."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from entrez_kit.base.errors import InvalidInput

TOPICS: Final = (
    "getting-started",
    "searching",
    "identifiers",
    "full-text",
    "references",
    "claims",
    "strategies",
    "lint",
    "merge",
    "review",
    "corpus",
    "local",
    "output",
    "exit-codes",
    "errors",
    "warnings",
    "settings",
    "extras",
    "rate-limits",
    "cache",
    "recordings",
    "sandbox",
    "live",
    "python",
    "bio-entrez",
    "mcp",
    "privacy",
    "development",
)
"""The names of all guides, in reading order."""

ALIASES: Final = {
    "agent": "mcp",
    "api-key": "rate-limits",
    "apa": "references",
    "asreview": "review",
    "bibliography": "references",
    "bibtex": "references",
    "biopython": "bio-entrez",
    "certificate": "searching",
    "citation": "references",
    "cite": "references",
    "claude": "mcp",
    "color": "output",
    "colour": "output",
    "config": "settings",
    "configuration": "settings",
    "covidence": "review",
    "csl": "references",
    "csv": "output",
    "database": "searching",
    "dataframe": "python",
    "demo": "sandbox",
    "docx": "output",
    "doi": "identifiers",
    "duplicate": "merge",
    "embase": "strategies",
    "embeddings": "corpus",
    "endnote": "references",
    "entrez": "bio-entrez",
    "environment": "settings",
    "europepmc": "searching",
    "excel": "output",
    "fasta": "searching",
    "fields": "output",
    "format": "output",
    "gene": "searching",
    "install": "extras",
    "json": "output",
    "key": "rate-limits",
    "latex": "references",
    "manuscript": "references",
    "mendeley": "references",
    "mesh": "searching",
    "notebook": "python",
    "offline": "cache",
    "ovid": "strategies",
    "pandas": "python",
    "pdf": "full-text",
    "pipe": "output",
    "pmcid": "identifiers",
    "pmid": "identifiers",
    "preprint": "searching",
    "prisma": "review",
    "proxy": "settings",
    "quotation": "claims",
    "rayyan": "review",
    "record": "recordings",
    "replay": "recordings",
    "retraction": "references",
    "ris": "references",
    "screening": "review",
    "sequence": "searching",
    "snowball": "searching",
    "spreadsheet": "output",
    "start": "getting-started",
    "status": "exit-codes",
    "sync": "corpus",
    "systematic-review": "review",
    "token": "mcp",
    "unpaywall": "full-text",
    "variable": "settings",
    "vscode": "mcp",
    "weaviate": "corpus",
    "word": "references",
    "zotero": "references",
}
"""Other words for a guide, in the singular."""


@dataclass(frozen=True, slots=True)
class Guide:
    """One text: a heading, a sentence that says what it is about, and the rest."""

    topic: str
    text: str

    @property
    def title(self) -> str:
        """The heading."""
        return self.text.partition("\n")[0].removeprefix("# ").strip()

    @property
    def summary(self) -> str:
        """The paragraph below the heading, on one line."""
        paragraphs = [part.strip() for part in self.text.split("\n\n")]
        return " ".join(paragraphs[1].split()) if len(paragraphs) > 1 else ""

    def find_heading(self, subject: str) -> str | None:
        """Return the first heading below the title that names a subject, in the singular or plural."""
        headings = re.findall(r"^##+ (.+)$", self.text, re.MULTILINE)
        wanted = subject.lower().removesuffix("s")
        return next((heading for heading in headings if wanted in heading.lower()), None)


@dataclass(frozen=True, slots=True)
class MatchingLine:
    """One line of a guide that has the phrase searched for, with its number."""

    topic: str
    line: int
    text: str


def list_guides() -> list[Guide]:
    """Return all guides, in reading order."""
    return [_read_topic(topic) for topic in TOPICS]


def read_guide(topic: str) -> Guide:
    """Return the guide with this name, this alias or this unambiguous prefix.

    Case does not matter; spaces, underscores and hyphens are equivalent.

    Raises:
        InvalidInput: no guide matches. The hint names the closest names, or all of them.
    """
    wanted = normalize_topic(topic)
    alias = ALIASES.get(wanted) or ALIASES.get(wanted.removesuffix("s"))
    matches = [name for name in TOPICS if wanted and name.startswith(wanted)]
    if wanted in TOPICS:
        return _read_topic(wanted)
    if alias:
        return _read_topic(alias)
    if len(matches) == 1:
        return _read_topic(matches[0])
    from difflib import get_close_matches

    near = matches or get_close_matches(wanted, TOPICS, n=2) or get_close_matches(wanted, ALIASES, n=2)
    raise InvalidInput(
        f"The guide {topic!r} does not exist.",
        invalid_input=topic,
        recovery_hint=f"Did you mean {' or '.join(near)}?" if near else f"The guides are: {', '.join(TOPICS)}.",
        details={"reason": "unknown_topic", "topics": list(TOPICS)},
    )


def normalize_topic(topic: str) -> str:
    """Return a topic in lower case, with a hyphen between its words."""
    return "-".join(re.split(r"[\s_-]+", topic.strip().lower()))


def search_guides(phrase: str, guides: list[Guide]) -> Iterator[MatchingLine]:
    """Yield each place where a phrase begins, in reading order.

    Case does not matter. A phrase may run over the end of a line; one line yields one match.

    Raises:
        InvalidInput: the phrase is empty.
    """
    words = phrase.split()
    if not words:
        raise InvalidInput(
            "The phrase to search for is empty.",
            invalid_input=phrase,
            recovery_hint="Give a word to search for, for example retry.",
            details={"reason": "empty_phrase"},
        )
    pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
    for guide in guides:
        lines, previous = guide.text.split("\n"), 0
        for match in pattern.finditer(guide.text):
            first, last = (guide.text.count("\n", 0, position) for position in match.span())
            if first + 1 > previous:
                previous = first + 1
                yield MatchingLine(guide.topic, previous, " ".join(" ".join(lines[first : last + 1]).split()))


def _read_topic(topic: str) -> Guide:
    return Guide(topic, (files("entrez_kit.guides") / f"{topic}.md").read_text(encoding="utf-8"))
