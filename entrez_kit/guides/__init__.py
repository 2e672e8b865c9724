"""Guides in Markdown: the texts behind ``entrez-kit guide``."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from entrez_kit.errors import InvalidInput

TOPICS: Final = (
    "getting-started",
    "searching",
    "identifiers",
    "full-text",
    "references",
    "claims",
    "corpus",
    "output",
    "exit-codes",
    "errors",
    "settings",
    "extras",
    "rate-limits",
    "cache",
    "sandbox",
    "live",
    "python",
    "bio-entrez",
    "mcp",
    "privacy",
    "development",
)
"""In the order in which one would read them."""


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


def topics() -> list[Guide]:
    """Return all guides, in the order in which one would read them."""
    return [_read(topic) for topic in TOPICS]


def read_guide(topic: str) -> Guide:
    """Return a guide; its name may be given in any case, with spaces or underscores, or as an unambiguous beginning.

    Raises:
        InvalidInput: there is no such guide; the hint names the nearest, or all.
    """
    wanted = "-".join(topic.strip().lower().replace("_", "-").split())
    if wanted in TOPICS:
        return _read(wanted)
    starting = [name for name in TOPICS if wanted and name.startswith(wanted)]
    if len(starting) == 1:
        return _read(starting[0])
    from difflib import get_close_matches

    near = starting or get_close_matches(wanted, TOPICS, n=2)
    raise InvalidInput(
        f"there is no guide {topic!r}",
        invalid_input=topic,
        recovery_hint=f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(TOPICS)}.",
        details={"reason": "unknown_topic", "topics": list(TOPICS)},
    )


def _read(topic: str) -> Guide:
    return Guide(topic, (files("entrez_kit.guides") / f"{topic}.md").read_text(encoding="utf-8"))
