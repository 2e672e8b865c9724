"""Decide for which service a line of a search strategy was written, by the signs of its syntax."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from entrez_kit.query.dialects.services import DIALECTS, Dialect

_SIGNS: Final[dict[Dialect, re.Pattern[str]]] = {
    "ovid": re.compile(
        r"(?<=[\w)\"*$?#])\s?\.\s?(?:ti|ab|tw|mp|kf|kw|af|sh|fs|xs|pt|hw|ot|au|jn|jw|in|nm|rn|px|lg|yr|ui|ed|dt)"
        r"(?:\s?,\s?(?:ti|ab|tw|mp|kf|kw|af|sh|fs|pt|hw|ot|au|jn|in|nm|rn|px|dt|ed))*\s?,?\s?(?:\.|(?=[\s)]|$))"
        r"|(?<=[\w\")])\s*/(?:[a-z]{2}(?:,\s?[a-z]{2})*)?(?=\s*$|\s*\)|\s+(?:or|and|not|exp|OR|AND|NOT|\[))"
        r"|\bexp\s+\*?\"?[A-Za-z][^/()\[\]]{1,80}/|\badj[0-9]*\b|\b(?:or|and)/[0-9]|^\s*limit\s+[0-9]+\s+to\b"
        r"|\bOR\s+[0-9]+-[0-9]+\s*$|^[0-9]+\s+use\s+[a-z]+|^\.\.[a-z]+|remove duplicates from",
    ),
    "embase": re.compile(
        r"(?i:'[^']{2,80}'/(?:exp|de|mj|br|syn)\b)|:TI,AB\b|\]/lim\b|\b[\w-]+/(?:exp|de|mj)\b|'[^']+':(?:ti|ab|de|tn|it)"
        r"|:(?:ti|ab|tn|it|lnk|de)(?:,(?:ti|ab|kw|de|tn))*(?=[\s)]|$)|\bNEXT/[0-9]"
    ),
    "ebsco": re.compile(
        r"\bM[HMJ]\s*\(?\"|(?:^|[\s(])(?:TI|AB|TX|SU|XB)\s*(?:\(|\"|[a-z*])|(?<=[\s)\"*])[NW][0-9]{1,2}(?=[\s(\"])"
        r"|\bS[0-9]{1,3}\b(?=\s*(?:OR|AND|NOT|or|and|not|\)|$))"
    ),
    "wos": re.compile(r"\b(?:TS|TI|AB|AK|SO|PY|AU|KP)\s?=\s?[(\"\w]|\bNEAR/[0-9]+|\bSAME\b"),
    "scopus": re.compile(
        r"(?i:\btitle-abs-key) ?\("
        r"|\b(?:TITLE(?:-ABS(?:-KEY)?)?|ABS|AUTHKEY|SRCTITLE|INDEXTERMS|KEY)\s?\(|\bLIMIT-TO\b|\bPUBYEAR\b"
        r"|(?<=[\s)\"])(?:W|PRE)/[0-9]+|\bAND NOT\b"
    ),
    "cochrane": re.compile(
        r"\[\s*mh\s+\^?[\"\w]|MeSH descriptor|\{\s*(?:or|and)\s+#"
        r"|:(?:ti|ab|kw|pt|so)(?:,(?:ti|ab|kw|pt))*(?=[\s)]|$)|\bnext\b(?=\s*[\"\w(])(?<=[\s\")*]next)"
        r"|\bnear(?:/[0-9]+)?(?=[\s(\"])(?!/)|in Trials|Word variations",
        re.IGNORECASE,
    ),
    "pubmed": re.compile(
        r"\[\s*(?:tiab|tw|mh|mesh|majr|pt|sb|ti|ot|sh|nm|rn|la|dp|au|ta|all|title/abstract|title|mesh terms|text word"
        r"|mesh major topic|publication type|all fields|subheading|pdat|edat|crdt|filter|language|author|journal|ad|ab"
        r"|mesh subheading|supplementary concept|pmid|tw\b|word)(?:\s*:\s*(?:noexp|~[0-9]+))?\s*\]",
        re.IGNORECASE,
    ),
}


def find_signs(text: str) -> dict[Dialect, int]:
    """Return how many signs of each service a line has, for services with any."""
    counts: dict[Dialect, int] = {}
    for dialect in DIALECTS:
        if number := len(_SIGNS[dialect].findall(text)):
            counts[dialect] = number
    return counts


def detect(text: str, main: Dialect | None = None) -> Dialect | None:
    """Return the service for which a line was written; None if nothing shows it.

    Args:
        text: the line.
        main: the service of most lines, if several services have the signs of this line.
    """
    counts = find_signs(text)
    if not counts:
        return None
    if {"cochrane", "embase"} <= counts.keys():
        if _EMBASE_ONLY.search(text):
            del counts["cochrane"]
        elif _COCHRANE_ONLY.search(text):
            del counts["embase"]
    best = max(counts.values())
    leaders = [dialect for dialect, number in counts.items() if number == best]
    shared = {"cochrane", "embase"} <= counts.keys()
    if len(leaders) == 1 and not shared:
        return leaders[0]
    if shared and main is not None and main not in counts:
        return "embase"
    return main if main in (counts if shared else leaders) else None


_EMBASE_ONLY: Final = re.compile(r"'[^']+'\s*(?:/|:)|\]/lim|/exp\b|/de\b|\bNEXT/")
_COCHRANE_ONLY: Final = re.compile(
    r"\[\s*mh\b|MeSH descriptor|\bnext\b(?!/)|\bnear/[0-9]|\{\s*(?:or|and)\s|\bin Trials"
)


def count_votes(texts: Iterable[str]) -> Counter[Dialect]:
    """Count for how many lines each service is the one."""
    return Counter(dialect for text in texts if (dialect := detect(text)) is not None)


def choose_dialect(texts: Iterable[str]) -> Dialect:
    """Return the service of most lines; if no line decides, one whose signs the lines have."""
    listed = list(texts)
    votes = count_votes(listed)
    if votes:
        return votes.most_common(1)[0][0]
    signs: Counter[Dialect] = Counter()
    for text in listed:
        signs.update(find_signs(text))
    return signs.most_common(1)[0][0] if signs else "pubmed"
