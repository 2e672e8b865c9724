"""The records that a reference may cite, and the search terms and citations that find them."""

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal, Self, get_args

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.markup import flatten_scripts
from entrez_kit.pubmed.brief import get_surname
from entrez_kit.pubmed.citation_matcher import Citation
from entrez_kit.pubmed.comparison import fold_text, make_confusable_key, read_digits
from entrez_kit.pubmed.models import Article, StandingStatus
from entrez_kit.references.check.comparison.compare_fields import Agreement, FieldDifference, list_titles
from entrez_kit.references.check.comparison.compare_with_record import compare_record
from entrez_kit.references.check.pasted.guessing import Guess, guess_parts
from entrez_kit.references.files.references import Reference

MIN_WORDS: Final = 3
"""Titles of fewer words match too many records, so they are searched with the first author or not at all."""
MIN_TITLE_SHARE: Final = 0.3
"""Minimum share of the words of a title in a text that may have this title."""

_DIVIDED: Final = re.compile(r"(?<=[a-z])[-\u2010] ?(?=[a-z])")

FoundBy = Literal["identifier", "citation", "title"]
FOUND_BY: Final[tuple[FoundBy, ...]] = get_args(FoundBy)
NOTICES: Final[frozenset[StandingStatus]] = frozenset(("retraction_notice", "concern_notice", "correction_notice"))
"""The statuses of notices about other works."""


@dataclass(frozen=True, slots=True)
class RecordMatch:
    """A record that a reference may cite, and the result of comparing the two."""

    article: Article
    found_by: FoundBy
    agreement: Agreement

    @property
    def same(self) -> bool:
        """Whether it is the cited work."""
        return self.agreement.same

    @property
    def differences(self) -> list[FieldDifference]:
        """The fields that differ."""
        return self.agreement.differences

    @property
    def faults(self) -> int:
        """The number of differences."""
        return len(self.agreement.differences) + len(self.agreement.left)

    @property
    def is_notice_with_other_title(self) -> bool:
        """Whether it is a notice about another work, and the reference has another title than the notice."""
        standing = self.article.standing
        return standing is not None and standing.status in NOTICES and not self.agreement.has_exact_title

    def mark_as_other_work(self) -> Self:
        """Return the match of a record that is not the cited work, although it is similar."""
        return replace(self, agreement=self.agreement._replace(same=False))


@dataclass(eq=False)
class Candidates:
    """The records that a reference may cite, and the results of its look-ups.

    Attributes:
        absent: identifiers without a PubMed record.
        unregistered: DOIs without a Crossref record.
        agencies: by DOI, the agency that registers it, if that is not Crossref.
        not_requested: DOIs without a PubMed record that Crossref was not asked about.
        unknown_journals: journals that NCBI's citation matcher does not know.
        owners: by identifier, the article that it belongs to, if that is not the cited one.
        unknown_owners: by identifier, the error from the look-up of that article or of the agency.
    """

    reference: Reference
    matches: dict[str, RecordMatch] = field(default_factory=dict)
    failure: EntrezKitError | None = None
    absent: list[str] = field(default_factory=list)
    unregistered: list[str] = field(default_factory=list)
    agencies: dict[str, str] = field(default_factory=dict)
    not_requested: list[str] = field(default_factory=list)
    nearest: tuple[float, Article] | None = None
    owners: dict[str, Article] = field(default_factory=dict)
    unknown_owners: dict[str, EntrezKitError] = field(default_factory=dict)
    unknown_journals: set[str] = field(default_factory=set)

    def add(self, article: Article, found_by: FoundBy, *, only_same: bool = False) -> None:
        """Add a record that was not found before; with ``only_same``, only if it is the cited work."""
        key = article.pmid or article.doi or ""
        if key not in self.matches:
            match = RecordMatch(article, found_by, compare_record(self.reference, article))
            if match.same or not only_same:
                self.matches[key] = match

    @property
    def is_without_record(self) -> bool:
        """Whether the look-ups so far found no record of the cited work, without a failure."""
        return not (self.settled or self.failure)

    def may_have_title(self, article: Article) -> bool:
        """Return true if the text has enough words of the title: one search is for the titles of several texts."""
        return any(
            sum(key in self._word_keys for key in keys) >= MIN_TITLE_SHARE * len(keys)
            for title in list_titles(article)
            if (keys := [make_confusable_key(word) for word in fold_text(title).split()])
        )

    @cached_property
    def _word_keys(self) -> frozenset[str]:
        return frozenset(
            make_confusable_key(word) for word in fold_text(_DIVIDED.sub("", self.reference.text or "")).split()
        )

    @property
    def settled(self) -> bool:
        """Whether one of the records is the cited work."""
        return any(match.same for match in self.matches.values())

    @property
    def ranked(self) -> list[RecordMatch]:
        """The records that the reference may cite, the most likely first."""
        matches = list(self.matches.values())
        if any(match.found_by == "identifier" and not match.same for match in matches):
            # If title and identifier belong to different works, the authors decide which one is cited.
            matches = [
                match if match.found_by == "identifier" or match.agreement.has_authors else match.mark_as_other_work()
                for match in matches
            ]
        matches = [match.mark_as_other_work() if self.is_notice_of_cited_work(match) else match for match in matches]
        return sorted(matches, key=lambda match: (not match.same, match.faults, FOUND_BY.index(match.found_by)))

    def list_doubtful_dois(self) -> list[str]:
        """Return the DOIs that Crossref does not have, if it matters whether another agency registers them.

        It matters if the PubMed record has no DOI to compare, or if no record was found.
        """
        if not self.unregistered:
            return []
        ranked = self.ranked
        if (ranked and ranked[0].article.doi) or (not ranked and not self.places):
            return []
        return list(dict.fromkeys(self.unregistered))

    def is_notice_of_cited_work(self, match: RecordMatch) -> bool:
        """Return true if a record is a notice about another of the records, whose title and authors are given."""
        if not match.is_notice_with_other_title or match.article.standing is None:
            return False
        works = [self.matches.get(notice.pmid or "") for notice in match.article.standing.notices]
        return any(work is not None and work.same and work.agreement.has_authors for work in works)

    @cached_property
    def guess(self) -> Guess:
        """The parts guessed from the text of the reference."""
        return guess_parts(self.reference.text or "")

    @property
    def title(self) -> str:
        """The title, or the most likely guess."""
        return self.reference.title or next(iter(self.guess.titles), "")

    @cached_property
    def title_term(self) -> str | None:
        """A search term for the title; None without a title."""
        reference = self.reference
        if reference.text:
            # A hyphen may come from a line break.
            titles = [form for title in self.guess.titles for form in dict.fromkeys((title, _DIVIDED.sub("", title)))]
            terms = [_build_term(title, self.guess.author) for title in titles]
            return " OR ".join(term for term in terms if term) or None
        first = reference.authors[0] if reference.authors else None
        return _build_term(reference.title or "", (first.family or get_surname(first.text)) if first else None)

    @cached_property
    def citations(self) -> list[Citation]:
        """Journals and places for NCBI's citation matcher, the most likely first."""
        reference, guess = self.reference, self.guess
        if reference.journal and reference.year and (reference.volume or reference.pages):
            first = reference.authors[0] if reference.authors else None
            return [
                Citation(
                    journal=reference.journal,
                    year=reference.year,
                    volume=read_digits(reference.volume or "") or None,
                    first_page=read_digits((reference.pages or "").replace("–", "-").partition("-")[0]) or None,
                    author_name=get_surname(first.family or first.text) if first else None,
                )
            ]
        return [
            Citation(
                journal=place.journal,
                year=place.year,
                volume=read_digits(place.volume),
                first_page=_read_page_digits(place.page or "") or None,
                author_name=guess.author,
            )
            for place in guess.places
        ]

    @property
    def places(self) -> list[Citation]:
        """The citations with a journal, a volume and a page."""
        return [citation for citation in self.citations if citation.volume and citation.first_page]


def _read_page_digits(page: str) -> str:
    """Return a page for NCBI: correct scanning errors in digits, and keep a Roman numeral unchanged."""
    return read_digits(page) if any(map(str.isdigit, page)) else page


def _build_term(title: str, author: str | None) -> str | None:
    words = fold_words(title)
    if not words or (len(words) < MIN_WORDS and not author):
        return None
    # The title of a record can be a translation of the cited title, or missing.
    term = f"({' '.join(words)}[Title] OR {' '.join(words)}[Transliterated Title])"
    if len(words) < MIN_WORDS and (name := fold_words(author or "")):
        # Given names may precede the family name.
        term += " AND ({})".format(" OR ".join(dict.fromkeys((f"{' '.join(name)}[Author]", f"{name[-1]}[Author]"))))
    return f"({term})"


def fold_words(text: str) -> list[str]:
    """Return the words of a text without characters that are syntax in a PubMed search."""
    cleaned = "".join(mark if mark.isalnum() or mark in "-'." else " " for mark in flatten_scripts(text))
    return [word for part in cleaned.split() if (word := part.strip("-'."))]
