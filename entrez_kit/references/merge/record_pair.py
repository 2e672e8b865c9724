"""Two records, and how they agree: in identifiers, title, authors, place, abstract and kind."""

import re
from functools import cached_property
from typing import Final, Literal

from entrez_kit.references.merge.compare_authors import AuthorAgreement, compare_authors
from entrez_kit.references.merge.compare_ids import IdAgreement
from entrez_kit.references.merge.compare_places import PlaceAgreement, compare_places
from entrez_kit.references.merge.compare_titles import (
    NEAR_RATIO,
    TitleAgreement,
    TitleLevel,
    compare_titles,
    has_other_word,
    is_core_inside,
)
from entrez_kit.references.merge.signatures import Signature

MIN_WORDS: Final = 4
"""A title with fewer words identifies a work only together with its volume or page."""
LONG_TITLE_WORDS: Final = 6
"""From this number of words, a title is not the title of a column that each issue has."""
SAME_ABSTRACT: Final = 92
OTHER_ABSTRACT: Final = 55
ABSTRACT_LETTERS: Final = 600
MIN_ABSTRACT: Final = 200
_GENERIC: Final = re.compile(
    r"(?:the )?(?:editorials?|introduction|preface|foreword|abstracts?|letters?|case reports?|news|books?|obituary"
    r"|reviews?|comments?|discussion|conclusions?|summary|report|reports|announcements?|questions?|images?"
    r"|posters?|oral presentations?|from|to|the|editors?|in|of|this|issue|book|and|general|guest|message|welcome"
    r"|contents|corrections?|retraction|concern)"
    r"(?: (?:editorials?|letters?|case|reports?|news|books?|reviews?|comments?|in|of|this|issue|the|to|from|editors?"
    r"|and|abstracts?|clinical|medicine|images?|presentations?|introduction|general|discussion))*"
)
"""Titles that many articles share."""
Kind = Literal["is_erratum", "is_reply", "is_protocol", "is_preprint", "is_registration"]


class RecordPair:
    """Two records, and how they agree. Each comparison is made when it is first needed, and once."""

    def __init__(self, first: Signature, second: Signature) -> None:
        self.first = first
        self.second = second
        self.ids = IdAgreement(first, second)

    @cached_property
    def titles(self) -> TitleAgreement:
        """The agreement of the titles."""
        return compare_titles(self.first, self.second)

    @cached_property
    def has_other_word(self) -> bool:
        """Whether the titles agree, except for one or two words: mortality and readmission."""
        return self.titles.level < TitleLevel.NEAR and has_other_word(self.first, self.second)

    @cached_property
    def authors(self) -> AuthorAgreement:
        """The agreement of the authors."""
        return compare_authors(self.first, self.second)

    @cached_property
    def place(self) -> PlaceAgreement:
        """The agreement of the places."""
        return compare_places(self.first, self.second)

    @cached_property
    def has_same_abstract(self) -> bool | None:
        """Whether the abstracts are equal; None if a record has none or they are only similar."""
        return compare_abstracts(self.first, self.second)

    @property
    def is_translated(self) -> bool:
        """Whether one title can be the translation of the other one, by their languages."""
        return self.first.language != self.second.language

    @property
    def has_other_type(self) -> bool:
        """Whether one record is a letter or an editorial by its type, and the other one an article."""
        first, second = self.first, self.second
        return first.is_letter != second.is_letter and first.is_article != second.is_article

    @property
    def has_other_parts(self) -> bool:
        """Whether the titles name different parts of a series."""
        return bool(self.first.part and self.second.part and self.first.part != self.second.part)

    @property
    def has_same_authors(self) -> bool:
        """Whether both records have authors, and they agree."""
        return self.authors == AuthorAgreement.SAME

    @property
    def has_other_authors(self) -> bool:
        """Whether both records have authors, and they differ."""
        return self.authors == AuthorAgreement.DIFFERENT

    @property
    def has_similar_core(self) -> bool:
        """Whether the titles agree without the words of their kinds, or one of them contains the other."""
        return self.titles.cores >= NEAR_RATIO or is_core_inside(self.first, self.second)

    @property
    def has_identifying_title(self) -> bool:
        """Whether the titles identify a work: they are long, or belong to a volume or a page."""
        if _GENERIC.fullmatch(self.first.title):
            return False
        words = min(len(self.first.title.split()), len(self.second.title.split()))
        return words >= MIN_WORDS or bool(self.place.volume or self.place.page)

    @property
    def has_specific_title(self) -> bool:
        """Whether the titles have enough words, and are not titles of columns such as "From the editor"."""
        words = min(len(self.first.title.split()), len(self.second.title.split()))
        return words >= MIN_WORDS and not _GENERIC.fullmatch(self.first.title)

    @property
    def has_other_issue(self) -> bool:
        """Whether the issues differ, and cannot be a mistake in records of one long title at one range of pages."""
        is_mistake = self.place.is_certain and self.titles.is_exact and self.has_same_authors
        is_mistake = is_mistake and len(self.first.title.split()) >= LONG_TITLE_WORDS
        return self.place.issue is False and not is_mistake

    @property
    def is_title_at_page(self) -> bool:
        """Whether a title that identifies a work is at one page of a volume in both records."""
        return self.titles.is_exact and self.has_specific_title and self.place.is_whole

    @property
    def is_in_collection(self) -> bool:
        """Whether a record may be one of several abstracts on its page or with its DOI."""
        return self.first.may_be_abstract or self.second.may_be_abstract

    @property
    def differs_in_conference(self) -> bool:
        """Whether only one record is of a conference; the proceedings of one journal name do not count."""
        first, second = self.first, self.second
        if self.place.journal:
            return first.is_conference != second.is_conference
        return (first.is_conference or first.is_proceedings) != (second.is_conference or second.is_proceedings)

    @property
    def has_same_pages(self) -> bool:
        """Whether the first pages are equal, and the volumes do not differ."""
        first, second = self.first, self.second
        other_volumes = first.volume and second.volume and first.volume != second.volume
        return bool(first.first_page and first.first_page == second.first_page and not other_volumes)

    @property
    def has_other_pages(self) -> bool:
        """Whether the first pages differ."""
        first, second = self.first, self.second
        return bool(first.first_page and second.first_page and first.first_page != second.first_page)

    def differs_in(self, kind: Kind) -> bool:
        """Return whether one of the records is of this kind, and the other is not."""
        return bool(getattr(self.first, kind) != getattr(self.second, kind))


def compare_abstracts(first: Signature, second: Signature) -> bool | None:
    """Return true for the same abstract, false for two different ones, and None if that is not clear."""
    if min(len(first.abstract), len(second.abstract)) < MIN_ABSTRACT:
        return None
    from rapidfuzz.fuzz import ratio

    mine, theirs = (" ".join(text[:ABSTRACT_LETTERS].casefold().split()) for text in (first.abstract, second.abstract))
    likeness = ratio(mine, theirs)
    if likeness >= SAME_ABSTRACT:
        return True
    return False if likeness < OTHER_ABSTRACT else None
