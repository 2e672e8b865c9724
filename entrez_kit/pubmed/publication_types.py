"""Names of publication types: PubMed's own, the nearest one to a misspelt name, and everyday words.

Source: NLM, Publication Types with Scope Notes (MeSH, category V), and PubMed Help, "Publication Types [PT]".
"""

from difflib import get_close_matches
from typing import Final

TYPES: Final = (
    *("Adaptive Clinical Trial", "Address", "Autobiography", "Bibliography", "Biography", "Case Reports"),
    *("Classical Article", "Clinical Conference", "Clinical Study", "Clinical Trial", "Clinical Trial, Phase I"),
    *("Clinical Trial, Phase II", "Clinical Trial, Phase III", "Clinical Trial, Phase IV", "Clinical Trial Protocol"),
    *("Clinical Trial, Veterinary", "Collected Work", "Comment", "Comparative Study", "Congress"),
    *("Consensus Development Conference", "Consensus Development Conference, NIH", "Controlled Clinical Trial"),
    *("Corrected and Republished Article", "Dataset", "Dictionary", "Directory", "Duplicate Publication"),
    *("Editorial", "Electronic Supplementary Materials", "English Abstract", "Equivalence Trial", "Evaluation Study"),
    *("Expression of Concern", "Festschrift", "Government Publication", "Guideline", "Historical Article"),
    *("Interactive Tutorial", "Interview", "Introductory Journal Article", "Journal Article", "Lecture"),
    *("Legal Case", "Legislation", "Letter", "Meta-Analysis", "Multicenter Study", "Network Meta-Analysis", "News"),
    *("Newspaper Article", "Observational Study", "Observational Study, Veterinary"),
    *("Patient Education Handout", "Periodical Index", "Personal Narrative", "Portrait", "Practice Guideline"),
    *("Pragmatic Clinical Trial", "Preprint", "Published Erratum", "Randomized Controlled Trial"),
    *("Randomized Controlled Trial, Veterinary", "Research Support, American Recovery and Reinvestment Act"),
    *("Research Support, N.I.H., Extramural", "Research Support, N.I.H., Intramural"),
    *("Research Support, Non-U.S. Gov't", "Research Support, U.S. Gov't, Non-P.H.S."),
    *("Research Support, U.S. Gov't, P.H.S.", "Research Support, U.S. Government", "Retracted Publication"),
    *("Retraction of Publication", "Review", "Scientific Integrity Review", "Scoping Review", "Systematic Review"),
    *("Technical Report", "Twin Study", "Validation Study", "Video-Audio Media", "Webcast"),
)
EVERYDAY: Final = {
    "randomised": "Randomized Controlled Trial",
    "randomized": "Randomized Controlled Trial",
    "randomised trial": "Randomized Controlled Trial",
    "randomized trial": "Randomized Controlled Trial",
    "randomised controlled trial": "Randomized Controlled Trial",
    "rct": "Randomized Controlled Trial",
    "trial": "Clinical Trial",
    "case report": "Case Reports",
    "case study": "Case Reports",
    "erratum": "Published Erratum",
    "correction": "Published Erratum",
    "corrigendum": "Published Erratum",
    "metaanalysis": "Meta-Analysis",
    "multicentre study": "Multicenter Study",
    "retracted": "Retracted Publication",
    "retraction": "Retraction of Publication",
    "protocol": "Clinical Trial Protocol",
}
"""By everyday word, in lower case, the publication type."""
_BY_NAME: Final = {name.lower(): name for name in TYPES}
NOTICES: Final = ("Letter", "Comment", "Editorial", "News", "Published Erratum", "Retraction of Publication")
"""Publication types of articles that are about another article or have no study of their own."""


def read_type(text: str) -> str:
    """Return PubMed's name of a publication type; an unknown name is returned as it is.

    Letter case does not matter. Everyday words such as "randomised" and plurals are known.
    """
    name = " ".join(text.split())
    key = name.lower()
    for spelling in (key, key.removesuffix("s"), key.replace("-", " "), key.replace(" ", "-")):
        if type_ := _BY_NAME.get(spelling) or EVERYDAY.get(spelling):
            return type_
    return name


def is_known(name: str) -> bool:
    """Return whether PubMed has a publication type of this name, as far as this list knows."""
    return name.lower() in _BY_NAME


def find_similar_type(name: str) -> str | None:
    """Return the publication type whose name is most like a text; None if none is like it."""
    near = get_close_matches(name.lower(), [*_BY_NAME, *EVERYDAY], n=1, cutoff=0.6)
    return read_type(near[0]) if near else None
