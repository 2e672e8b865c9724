"""Invented full texts: the demo corpus contains only records, and this module derives a text from each record.

Every text says that it is invented.
"""

from typing import Final

from entrez_kit.local.records.document import Document
from entrez_kit.local.records.text import xml_text

NOTE: Final = "This text was invented by the sandbox of entrez-kit. It is nobody's article and reports no findings."

Section = tuple[str, tuple[str, ...]]

_METHODS: Final = (
    "We worked through a protocol that was written for this demonstration. Every participant, sample and instrument "
    "in it is imaginary, and so is the ethics committee that approved it without a dissenting vote.",
    "Measurements were taken three times by two observers who do not exist, and were compared by the mean of the "
    "differences and its 95% interval. Values that looked too good were kept, since nothing was at stake.",
)
_RESULTS: Final = (
    "The groups were of equal size and, being invented, differed in nothing but the intervention. The first group "
    "reached the end point in 61 of 120 cases, the second in 48 of 120, a difference of 10.8 percentage points.",
    "No adverse events occurred, because nothing occurred. A sensitivity analysis that left out the odd-numbered "
    "cases gave the same picture with a wider interval.",
)
_DISCUSSION: Final = (
    "A text like this one serves to show where a full text comes from, how its sections are told apart and how its "
    "words are counted. Readers who look for evidence should look in articles about things that happened.",
    "Its main limitation is that it is not true. Its main strength is that it may be passed on without asking anybody.",
)
TABLE: Final = (
    ("Group", "Cases", "End point reached"),
    ("Intervention", "120", "61"),
    ("Control", "120", "48"),
)
LIST: Final = ("a protocol nobody registered", "two observers nobody met", "one analysis anybody can repeat")


def invent_sections(document: Document) -> list[Section]:
    """Return the titles and paragraphs of an invented text for a record."""
    about = document.title.rstrip(".") or "a record without a title"
    introduction = (
        f"The record behind this page is called “{about}”. What follows fills the place of its full text, so that a "
        "program has something to fetch.",
        NOTE,
    )
    return [
        ("Introduction", introduction),
        ("Methods", _METHODS),
        ("Results", _RESULTS),
        ("Discussion", _DISCUSSION),
    ]


def render_jats(document: Document) -> str:
    """Return an invented article as the XML of PMC."""
    ids = "".join(
        f'<article-id pub-id-type="{kind}">{xml_text(value)}</article-id>'
        for kind, value in (("pmcid", document.pmcid), ("pmid", document.pmid), ("doi", document.doi))
        if value
    )
    abstract = "".join(f"<p>{xml_text(text)}</p>" for _, text in document.abstract)
    body = "".join(
        f"<sec><title>{xml_text(title)}</title>{''.join(f'<p>{xml_text(one)}</p>' for one in paragraphs)}</sec>"
        for title, paragraphs in invent_sections(document)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="research-article" xml:lang="en"><front>'
        f"<journal-meta><journal-title-group><journal-title>{xml_text(document.journal_title)}</journal-title>"
        f"</journal-title-group></journal-meta><article-meta>{ids}<title-group><article-title>"
        f"{xml_text(document.title)}</article-title></title-group>"
        '<permissions><license license-type="open-access" xlink:href="https://creativecommons.org/licenses/by/4.0/">'
        f"<license-p>{xml_text(NOTE)}</license-p></license></permissions>"
        + (f"<abstract>{abstract}</abstract>" if abstract else "")
        + f"</article-meta></front><body>{body}</body></article>\n"
    )
