"""The sections of an abstract: from PubMed's labels, or from headings in the text."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from entrez_kit.pubmed.models import AbstractSection, Article

OPEN: Final = "Unstructured"
"""The section name of text without a heading."""


class TextSection(NamedTuple):
    """A part of an abstract: its original label, the standard section name, and the text."""

    label: str | None
    name: str
    text: str


_KINDS: Final = (
    ("Background", r"background|introduction|rationale|context|significance|importance"),
    ("Objective", r"objectives?|aims?|purposes?|goals?|hypothesis|questions?"),
    (
        "Methods",
        r"methods?|materials|patients|participants|subjects|design|settings?|interventions?|outcome measures?|"
        r"study|procedures?|measurements?|data (?:sources?|extraction|synthesis)|animals|sample|methodology",
    ),
    ("Results", r"results?|findings?|outcomes?|observations?"),
    ("Conclusions", r"conclusions?|interpretations?|implications?|limitations?|discussion|summary|relevance"),
)
_BY_LABEL: Final = tuple((name, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for name, words in _KINDS)
_BY_CATEGORY: Final = {name.upper(): name for name, _ in _KINDS}

_HEADINGS: Final = (
    r"Background(?: and (?:aims?|objectives?|purpose))?|Introduction|Rationale|Context|Objectives?|"
    r"Aims?(?: of the study)?|Purpose|Goals?|(?:Materials? and )?Methods?|"
    r"(?:Patients|Subjects|Participants)(?: and methods)?|Study design|Design|Settings?|Interventions?|"
    r"Main outcome measures?|Measurements?(?: and main results)?|(?:Main )?Results?|Findings|Outcomes|"
    r"(?:Discussion and )?Conclusions?|Discussion|Interpretation|Implications|Limitations"
)
# At the start of a line "Methods -" is also a heading; within a line only "METHODS:" after a sentence is.
_WRITTEN: Final = re.compile(
    rf"(?:^\s*(?P<first>{_HEADINGS}|{_HEADINGS.upper()})\s*(?::(?=\s)|\s[-–—](?=\s)|\.\s*[-–—](?=\s))"
    rf"|(?<=[.!?;])\s+(?P<later>{_HEADINGS}|{_HEADINGS.upper()})\s*:(?=\s))\s*",
    re.MULTILINE,
)


def read_sections(article: Article) -> list[TextSection]:
    """Return the sections of a record's abstract; one section without a label if the abstract has no headings."""
    parts = article.abstract_sections
    if len(parts) == 1 and parts[0].label is None:
        return list(_split_headings(parts[0].text))
    return [_convert_section(part) for part in parts if part.label or part.text.strip()]


def _convert_section(part: AbstractSection) -> TextSection:
    label = " ".join(part.label.split()) if part.label else None
    name = _BY_CATEGORY.get((part.nlm_category or "").upper()) or (_name_section(label) if label else OPEN)
    return TextSection(label, name, part.text.strip())


def _name_section(label: str) -> str:
    """Return the section name for a label; the first known word decides, as in "PATIENTS AND RESULTS"."""
    found = [(match.start(), name) for name, pattern in _BY_LABEL if (match := pattern.search(label))]
    return min(found)[1] if found else label.capitalize()


def _split_headings(text: str) -> Iterator[TextSection]:
    """Yield the sections of a text by its headings; a text with fewer than two headings is one section."""
    # Every heading after the first of a line ends with a colon; most texts have one line and no colon.
    headings = list(_WRITTEN.finditer(text)) if ":" in text or "\n" in text else []
    if len(headings) < 2:
        if text.strip():
            yield TextSection(None, OPEN, text.strip())
        return
    before = text[: headings[0].start()].strip()
    if before:
        yield TextSection(None, OPEN, before)
    for number, heading in enumerate(headings):
        end = headings[number + 1].start() if number + 1 < len(headings) else len(text)
        label = heading["first"] or heading["later"]
        yield TextSection(label, _name_section(label), text[heading.end() : end].strip())
