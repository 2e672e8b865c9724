"""Remove from a reference as text what web pages, databases and authors add to it: links, counts, notes, remarks."""

import re
from typing import Final

_LINKS: Final = (
    r"(?:open ?url|pubmed/ncbi|view in (?:scopus|article)|pmc free article|free pmc article|google scholar|scopus"
    r"|cross ?ref|web of science|isi|full text(?: link)?|view (?:article|record)|pubmed|medline)"
)
_ADDITIONS: Final = re.compile(
    rf"\[{_LINKS}\]"
    rf"|(?:\s{_LINKS}[.,;:|·]{{0,3}}){{1,12}}\s{{0,10}}$"
    r"|\[pubmed(?: central)? ?[-–] ?[^\[\]]{3,40}\]"
    r"|\bmedline: ?[0-9]{5,9}\b"
    r"|\b(?:times )?cited(?: by)?:? [0-9]{1,6}(?: (?:times|articles))?\b\.?"
    r"|(?<=[.;\s])(?:(?:published )?errat(?:um|a)|comment|retraction|correction|expression of concern)s? in: .*$",
    re.IGNORECASE | re.DOTALL,
)
"""Links and counts anywhere, and the note about another article at the end."""
_RETRACTED: Final = re.compile(r"(?<![^\s“\"‘])(?:RETRACTED|WITHDRAWN)(?: ARTICLE)?: ")
_REMARK: Final = re.compile(
    r"\s*+(?:(?:for (?:an? )?(?:recent |comprehensive )?(?:reviews?|overview|details),? see|reviewed in|see(?: also)?"
    r"|e\. ?g\.|cf\.),?:? ++(?=(?-i:[^\W\d_a-z]))"
    r"|(?:anon(?:ym(?:ous|e|us)?|imo)?|o\. ?v\.|n\. ?n\.|\[?no authors listed\]?)[.,:]{0,2} ++)",
    re.IGNORECASE,
)
"""The words of an author before a reference, and the word in the place of authors who are not known."""


def remove_additions(text: str) -> str:
    """Return a reference without the words that are not part of it."""
    text = _RETRACTED.sub("", _ADDITIONS.sub(" ", text))
    remark = _REMARK.match(text)
    return text[remark.end() :] if remark else text
