"""Recognize the query syntax of other services: Ovid, Embase.com, EBSCO, Web of Science, Scopus, Cochrane Library.

PubMed reports no error for such a query. It searches the words of that syntax, and the results look like an answer.
"""

import re
from typing import Final

_SIGNS: Final = {
    "Ovid": re.compile(
        r"\.(?:ti|ab|tw|mp|kf|kw|af|sh|fs|pt|hw|ot|au|jn|jw|in|nm|rn|px|lg|yr|ui|id|dq|dv|tn|mf|dm|rs)"  # .ti,ab.
        r"(?:\s?,\s?(?:ti|ab|tw|mp|kf|kw|af|sh|fs|pt|hw|ot|au|jn|jw|in|nm|rn|px|id|dq|dv|tn|mf|dm|rs))*\.(?=[\s)]|$)"
        r"|(?<=\))\.(?:ti|ab|tw|mp|kf|kw|af|sh|hw|ot)(?:,(?:ti|ab|tw|kf|kw|ot))*(?=[\s)]|$)"  # without the last dot
        r"|\w/(?=\s*$|\s*\)|\s+(?:or|and|not|OR|AND|NOT)\s)"  # Neoplasms/
        r"|(?<!/)\bexp\s+[^/()]{2,80}/"  # exp Neoplasms/
        r"|(?<=[\s)])adj[0-9]+(?=[\s(])"
        r"|\b(?:or|and)/[0-9]+[-,][0-9]+"
        r"|^\s*limit\s+[0-9]+\s+to\b",
        re.MULTILINE,
    ),
    "Embase.com": re.compile(
        r"'[^']{2,80}'/(?:exp|de|mj|br|syn)\b|\]/lim\b"
        r"|(?<=[\w'*)]):(?:ti|ab|de|tt|lnk)(?:,(?:ti|ab|kw|de|tt|lnk))*(?=[\s)]|$)"
    ),
    "Cochrane Library": re.compile(
        r"\[mh\s+\^?[\"\w]|\bMeSH descriptor:|\{(?:or|and)\s+#[0-9]|(?<=[\w*\")]):ti,ab,kw\b"
    ),
    "EBSCO": re.compile(r"\bM[HMJ]\s*\"|(?:^\s*|\(\s*|\b(?:AND|OR|NOT)\s+)(?:TI|AB|TX|SU)\s+[(\"]", re.MULTILINE),
    "Web of Science": re.compile(r"(?<![\w-])(?:TS|TI|AB|AU|AK|SO|KP|PY|WC)\s?=\s?[(\"\w]"),
    "Scopus": re.compile(
        r"\b(?:TITLE-ABS(?:-KEY)?|LIMIT-TO|AUTHKEY|SRCTITLE)\s?\(|\bPUBYEAR\s?[<>=]|(?<=[\s)])(?:W|PRE)/[0-9]+\b"
    ),
    "Embase.com or Web of Science": re.compile(r"(?<=[\s)])(?:NEAR|NEXT|near|next)/[0-9]+(?=[\s(])"),
}
"""By service, the signs of its syntax that PubMed's syntax does not have."""


def find_foreign_sign(query: str) -> tuple[str, str] | None:
    """Return the service whose syntax a query uses and the part that shows it; None without such a part.

    Args:
        query: the query, with ``"x"`` in place of each text in double quotes.
    """
    for service, sign in _SIGNS.items():
        if match := sign.search(query):
            return service, match[0].strip()
    return None
