"""The tags of RIS that several programs write for one field, the most common first."""

from typing import Final

AUTHOR_TAGS: Final = ("AU", "A1")
PEOPLE_TAGS: Final = frozenset((*AUTHOR_TAGS, "A2", "A3", "A4", "ED"))
TITLE_TAGS: Final = ("TI", "T1", "CT")
JOURNAL_TAGS: Final = ("T2", "JF", "JO", "JA", "J2", "J1", "BT")
ABSTRACT_TAGS: Final = ("AB", "N2")
