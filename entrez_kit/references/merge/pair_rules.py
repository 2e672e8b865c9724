"""Decide whether two records are the same work, publications of one family, or a pair that a person must decide.

A merge needs agreement of the title, the authors and the place (journal, volume, pages), or of an identifier. Two
PMIDs, two DOIs, the parts of a series, and the kinds of publications keep records apart whatever else agrees.

The rules of a table are read from top to bottom: the first rule that applies gives the verdict.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from entrez_kit.base.frontend_text import join_with
from entrez_kit.pubmed.comparison import begins
from entrez_kit.pubmed.pages import is_article_number
from entrez_kit.references.merge.compare_authors import AuthorAgreement
from entrez_kit.references.merge.compare_places import PlaceAgreement
from entrez_kit.references.merge.compare_titles import LOOSE_RATIO, NEAR_RATIO, TitleLevel
from entrez_kit.references.merge.record_pair import Kind, RecordPair
from entrez_kit.references.merge.signatures import Signature, split_doi_version

Relation = Literal["preprint", "part", "protocol", "conference", "version", "erratum", "reply", "another_publication"]
"""How the members of a family are related."""

CANDIDATE_RATIO: Final = 60
PLACE_RATIO: Final = 85
"""Minimum agreement of similar titles at one place."""
PROTOCOL_RATIO: Final = 85
MIN_CONTENT: Final = 4
"""The fewest fields of identical records."""
SAME_PMID: Final = 100
IDENTICAL: Final = 99
SAME_NUMBER: Final = 95
SAME_IDENTIFIER: Final = 90
FAMILY: Final = 60
FAMILY_ELSEWHERE: Final = 50
"""The strength of the verdict on two publications of one text at different places."""
_COCHRANE_NUMBER: Final = re.compile(r"(?:cd|mr)[0-9]{6}")
_KINDS: Final[tuple[tuple[Kind, str], ...]] = (
    ("is_erratum", "a correction"),
    ("is_reply", "a letter, comment or reply"),
    ("is_preprint", "a preprint"),
    ("is_registration", "a registration of a trial"),
)


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The result of comparing two records.

    Args:
        kind: ``same`` to merge them, ``family`` to link them, ``undecided`` for a person to decide.
        why: the reason in words.
        strength: larger values are more certain; certain pairs are merged first.
        relation: how the members of a family are related.
    """

    kind: Literal["same", "family", "undecided"]
    why: str
    strength: int = 0
    relation: Relation | None = None


def compare_pair(first: Signature, second: Signature) -> PairVerdict | None:
    """Compare two records; None if they are different works."""
    pair = RecordPair(first, second)
    if pair.ids.has_same_pmid:
        return PairVerdict("same", f"same PMID {first.pmid}", SAME_PMID)
    if first.registrations & second.registrations:
        return PairVerdict("same", f"same registration {min(first.registrations & second.registrations)}", SAME_NUMBER)
    if _are_identical(first, second) and not (pair.ids.has_other_accessions or _has_contradicting_type(pair)):
        return PairVerdict("same", "identical records", IDENTICAL)
    if first.ids & second.ids and not pair.ids.has_other_pmids:
        database, number = min(first.ids & second.ids)
        return _compare_by_identifier(pair, f"same {database} number {number}", SAME_NUMBER)
    if pair.ids.has_same_doi:
        return _compare_by_identifier(pair, f"same DOI {first.doi}", SAME_IDENTIFIER)
    if pair.ids.has_same_pmcid:
        return _compare_by_identifier(pair, f"same PMCID {first.pmcid}", SAME_IDENTIFIER)
    return _apply_rules(FAMILY_RULES, pair) or _compare_by_text(pair)


def _are_identical(first: Signature, second: Signature) -> bool:
    """Return whether all fields of two records are equal, and they have enough fields."""
    if first.title != second.title:  # most pairs: their fields are not collected
        return False
    content = first.content
    return content == second.content and sum(map(bool, content)) >= MIN_CONTENT


def find_conflict(first: Signature, second: Signature) -> str | None:
    """Return why two records are never merged automatically: identifiers, parts, kinds or issues that differ."""
    pair = RecordPair(first, second)
    if pair.ids.has_same_pmid:
        return None
    if identifiers := _find_other_identifiers(pair):
        return identifiers
    if pair.has_other_parts:
        return f"different parts: {first.part} and {second.part}"
    if pair.ids.has_same_doi:
        return None
    if pair.ids.has_other_registrations:
        return f"different registrations: {min(first.registrations)} and {min(second.registrations)}"
    if kind := next((text for kind, text in _KINDS if pair.differs_in(kind)), None):
        return f"only one is {kind}"
    if pair.ids.has_common:
        return None
    if pair.has_other_issue:
        return "different issues"
    if pair.ids.has_other_accessions and not pair.is_title_at_page:
        return "different numbers in one database"
    return "a different word in the titles" if pair.has_other_word else None


def _find_other_identifiers(pair: RecordPair) -> str | None:
    first, second = pair.first, pair.second
    if pair.ids.has_other_pmids:
        return f"different PMIDs: {first.pmid} and {second.pmid}"
    return f"different DOIs: {first.doi} and {second.doi}" if pair.ids.has_other_dois else None


class Rule(NamedTuple):
    """The verdict on the pairs to which a rule applies; None if they are different works."""

    applies: Callable[[RecordPair], bool]
    verdict: Callable[[RecordPair], PairVerdict | None]


def _apply_rules(rules: Sequence[Rule], pair: RecordPair) -> PairVerdict | None:
    return next((rule.verdict(pair) for rule in rules if rule.applies(pair)), None)


def _are_different(_: RecordPair) -> None:
    """Return no verdict: the records are different works, or are not related by these rules."""


# Identifiers


def _compare_by_identifier(pair: RecordPair, why: str, strength: int) -> PairVerdict | None:
    """Decide on two records with the same identifier; None if title, authors and first page differ.

    Databases also give one DOI to all abstracts of a meeting.
    """
    first, second, titles = pair.first, pair.second, pair.titles
    if pair.ids.has_other_pmids:
        return PairVerdict("undecided", f"{why}, but different PMIDs: {first.pmid} and {second.pmid}")
    if titles.level or not first.title or not second.title:
        if pair.has_other_parts:
            return PairVerdict("undecided", f"{why}, but different parts: {first.part} and {second.part}")
        if pair.differs_in("is_erratum") or (pair.differs_in("is_reply") and not pair.titles.is_exact):
            return PairVerdict("undecided", f"{why}, but only one is a correction, comment or reply")
    if pair.has_other_authors and pair.has_other_pages and first.title and second.title and not titles.level:
        return None
    if doubt := _find_doubt(pair):
        return PairVerdict("undecided", f"{why}, but {doubt}")
    return PairVerdict("same", why, strength if titles.level or not (first.title and second.title) else strength - 5)


def _find_doubt(pair: RecordPair) -> str | None:
    """Return what contradicts a common identifier: two abstracts of a meeting differ in title, authors or pages."""
    titles, other_authors, other_pages = pair.titles, pair.has_other_authors, pair.has_other_pages
    if pair.titles.is_exact and pair.has_specific_title:
        return "different authors and first pages" if other_authors and other_pages else None
    if other_authors or other_pages:
        return f"different {'authors' if other_authors else 'first pages'}"
    if titles.level >= TitleLevel.NEAR or not (pair.first.title and pair.second.title):
        return None
    is_unsure = pair.has_other_word and not pair.has_same_pages
    if pair.is_in_collection or pair.ids.has_other_accessions or is_unsure:
        return "different titles"
    is_rewritten = titles.level or (pair.has_same_authors and titles.ratio >= CANDIDATE_RATIO)
    if is_rewritten or pair.has_same_pages or (pair.has_same_authors and pair.is_translated):
        return None
    return "different titles"


# Families


def _are_versions(pair: RecordPair) -> bool:
    """Return whether two DOIs are versions of one work."""
    if not pair.first.doi or not pair.second.doi:
        return False
    first, second = split_doi_version(pair.first.doi), split_doi_version(pair.second.doi)
    return first is not None and second is not None and first[0] == second[0] and first[1] != second[1]


def _link_versions(pair: RecordPair) -> PairVerdict:
    numbers = sorted(version[1] for doi in (pair.first.doi, pair.second.doi) if (version := split_doi_version(doi)))
    return PairVerdict("family", f"versions {' and '.join(numbers)} of one work", FAMILY, "version")


def _are_cochrane_versions(pair: RecordPair) -> bool:
    """Return whether two records are versions of a Cochrane review: its number, and another year or title."""
    first, second = pair.first, pair.second
    if first.first_page != second.first_page or not _COCHRANE_NUMBER.fullmatch(first.first_page):
        return False
    return bool(first.year and second.year and (first.year != second.year or first.title != second.title))


def _link_cochrane_versions(pair: RecordPair) -> PairVerdict:
    return PairVerdict("family", f"versions of the Cochrane review {pair.first.first_page.upper()}", FAMILY, "version")


def _have_other_subjects(pair: RecordPair) -> bool:
    return pair.titles.ratio < LOOSE_RATIO and not pair.has_similar_core


def _is_correction(pair: RecordPair) -> bool:
    return pair.differs_in("is_erratum") and pair.has_similar_core


def _is_reply(pair: RecordPair) -> bool:
    return pair.differs_in("is_reply") and not pair.titles.is_exact and pair.has_similar_core


def _is_other_kind_or_author(pair: RecordPair) -> bool:
    return pair.differs_in("is_erratum") or pair.differs_in("is_reply") or pair.has_other_authors


def _are_parts(pair: RecordPair) -> bool:
    return pair.has_other_parts and pair.titles.cores >= LOOSE_RATIO


def _link_parts(pair: RecordPair) -> PairVerdict:
    first, second = sorted((pair.first.part, pair.second.part))
    return PairVerdict("family", f"parts {first} and {second}", FAMILY, "part")


def _names_part(pair: RecordPair) -> bool:
    """Return whether titles with the same core name different parts, or only one names a part."""
    return (
        pair.first.part != pair.second.part
        and not pair.titles.is_exact
        and pair.titles.cores >= NEAR_RATIO
        and not pair.place.is_certain
        and not pair.place.is_whole
    )


def _is_preprint(pair: RecordPair) -> bool:
    has_title = pair.titles.level >= TitleLevel.LOOSE or pair.titles.cores >= NEAR_RATIO
    return pair.differs_in("is_preprint") and pair.has_same_authors and has_title


def _is_protocol(pair: RecordPair) -> bool:
    has_core = pair.titles.cores >= PROTOCOL_RATIO and not pair.titles.is_exact
    return pair.differs_in("is_protocol") and pair.has_same_authors and has_core


def _link(why: str, relation: Relation) -> Callable[[RecordPair], PairVerdict]:
    verdict = PairVerdict("family", why, FAMILY, relation)
    return lambda _: verdict


FAMILY_RULES: Final = (
    Rule(_are_versions, _link_versions),
    Rule(_are_cochrane_versions, _link_cochrane_versions),
    Rule(_have_other_subjects, _are_different),
    Rule(_is_correction, _link("a correction and its article", "erratum")),
    Rule(_is_reply, _link("an article and a letter, comment or reply", "reply")),
    Rule(_is_other_kind_or_author, _are_different),
    Rule(_are_parts, _link_parts),
    Rule(_names_part, _link("one title names a part", "part")),
    Rule(_is_preprint, _link("a preprint and its article", "preprint")),
    Rule(_is_protocol, _link("a protocol and its report", "protocol")),
)
"""How two records without a common identifier are related."""


# Titles, authors and places together


def _compare_by_text(pair: RecordPair) -> PairVerdict | None:
    """Compare two records that have no identifier in common."""
    if not pair.titles.level and not (pair.has_same_pages and pair.place.is_certain):
        return None
    verdict = _apply_rules(TEXT_RULES, pair)
    if verdict is None or verdict.kind != "same":
        return verdict
    if conflict := find_conflict(pair.first, pair.second):
        return PairVerdict("undecided", f"{verdict.why}; {conflict}")
    is_supplement = not pair.titles.is_exact and pair.first.supplement != pair.second.supplement
    if is_supplement and not pair.place.is_certain:
        return PairVerdict("undecided", f"{verdict.why}; only one is in a supplement")
    return verdict


def _is_certain_place(pair: RecordPair) -> bool:
    return pair.place.is_certain and not pair.has_other_authors


def _is_work_at_certain_place(pair: RecordPair) -> bool:
    """Return whether two records with the same pages are one work: its title may be translated or rewritten."""
    if not _is_certain_place(pair) or pair.has_other_issue or _has_contradicting_accessions(pair):
        return False
    titles, place = pair.titles, pair.place
    if titles.level >= TitleLevel.NEAR or begins(pair.first.title, pair.second.title):
        return True
    if pair.has_other_word or pair.first.first_page == "1":
        return False
    if titles.level:
        return pair.has_same_authors or bool(place.journal)
    return pair.is_translated and _are_authors_in_journal(pair)


def _are_authors_in_journal(pair: RecordPair) -> bool:
    return pair.has_same_authors and bool(pair.place.journal) and pair.place.is_near_in_time


def _has_contradicting_accessions(pair: RecordPair) -> bool:
    """Return whether a database has two records, and the title and its place do not show that they are one work."""
    return pair.ids.has_other_accessions and not pair.is_title_at_page


def _is_unclear_at_certain_place(pair: RecordPair) -> bool:
    """Return whether only the titles, the issues or the numbers of a database contradict the same pages."""
    if not _is_certain_place(pair) or not (pair.titles.level or _are_authors_in_journal(pair)):
        return False
    if pair.titles.level >= TitleLevel.NEAR:
        return pair.has_specific_title or not pair.has_other_issue
    is_related = bool(pair.titles.level or pair.place.issue or pair.is_translated)
    return is_related and pair.place.issue is not False and not pair.ids.has_other_accessions


def _have_other_titles_or_authors(pair: RecordPair) -> bool:
    return pair.has_other_authors or not pair.titles.level


def _is_in_other_issue(pair: RecordPair) -> bool:
    """Return whether two records are of different issues, and their titles do not identify a work."""
    return pair.has_other_issue and not (pair.has_specific_title and pair.titles.level >= TitleLevel.NEAR)


def _is_contradicted(pair: RecordPair) -> bool:
    """Return whether only the issues, the types or the numbers of a database contradict that records are one work."""
    contradiction = pair.has_other_issue or _has_contradicting_accessions(pair) or _has_contradicting_type(pair)
    is_identified = pair.has_identifying_title or bool(pair.place.page)
    return contradiction and pair.titles.level >= TitleLevel.NEAR and is_identified and _has_no_contradiction(pair)


def _has_contradicting_type(pair: RecordPair) -> bool:
    """Return whether a letter and an article have no page that shows that they are one work."""
    return pair.has_other_type and pair.place.page is None


def _is_at_volume_and_page(pair: RecordPair) -> bool:
    return bool(pair.place.volume and pair.place.page) and pair.place.is_near_in_time


def _is_work_at_place(pair: RecordPair) -> bool:
    """Return whether two records at one volume and page are one work: the titles agree, or nearly agree."""
    if not _is_at_volume_and_page(pair) or pair.place.journal is False or pair.titles.level < TitleLevel.NEAR:
        return False
    is_other_abstract = pair.titles.is_part and pair.is_in_collection
    return bool(pair.has_same_authors or pair.place.journal) and not is_other_abstract


def _is_similar_at_place(pair: RecordPair) -> bool:
    """Return whether two records at one volume and page have similar titles, and nothing else contradicts them."""
    place, titles = pair.place, pair.titles
    if not _is_at_volume_and_page(pair) or not (pair.has_same_authors and place.journal):
        return False
    if titles.level >= TitleLevel.NEAR:
        return True
    is_similar = titles.ratio >= PLACE_RATIO and pair.first.numbers == pair.second.numbers
    return is_similar and not _has_other_number(pair)


def _has_other_number(pair: RecordPair) -> bool:
    """Return whether the last pages, the numbers in a database or the identifiers differ."""
    has_identifiers = pair.ids.has_other_accessions or _find_other_identifiers(pair) is not None
    return pair.place.last is False or has_identifiers


def _is_title_unclear(pair: RecordPair) -> bool:
    return not pair.titles.is_alike or not pair.has_identifying_title


def _is_work_in_renamed_journal(pair: RecordPair) -> bool:
    return _is_at_volume_and_page(pair) and pair.place.journal is False and _has_title_and_authors(pair)


def _has_title_and_authors(pair: RecordPair) -> bool:
    return pair.titles.is_exact and pair.has_same_authors


def _is_in_one_journal(pair: RecordPair) -> bool:
    """Return whether the journals agree, and nothing else of the place or the abstract differs."""
    agrees = bool(pair.place.journal) and not pair.place.list_differing()
    return agrees and pair.place.is_near_in_time and pair.has_same_abstract is not False


def _is_work_in_journal(pair: RecordPair) -> bool:
    if not _is_in_one_journal(pair) or not pair.has_same_authors:
        return False
    has_number = bool(pair.place.volume or pair.place.page)
    if pair.titles.is_exact:
        return has_number or pair.place.years == 0 or pair.has_same_abstract is True
    return has_number and pair.titles.level == TitleLevel.NEAR and not pair.titles.is_part


def _is_page_without_authors(pair: RecordPair) -> bool:
    """Return whether title, page and year agree, and a record lacks the authors."""
    return _is_in_one_journal(pair) and pair.titles.is_exact and bool(pair.place.page) and pair.place.years == 0


def _is_in_one_issue(pair: RecordPair) -> bool:
    """Return whether title, authors, issue and last page agree, or only one record has an article number."""
    place = pair.place
    in_issue = bool(place.journal and place.volume and place.issue) and place.years == 0
    has_two_numbers = is_article_number(pair.first.first_page.upper()) != is_article_number(
        pair.second.first_page.upper()
    )
    is_mistake = bool(place.last) or has_two_numbers
    return in_issue and is_mistake and _has_title_and_authors(pair) and not pair.ids.has_other_accessions


def _is_work_with_abstract(pair: RecordPair) -> bool:
    agrees = pair.has_same_abstract is True and _has_title_and_authors(pair)
    return agrees and pair.place.is_near_in_time and not pair.place.list_differing()


def _is_conference_contribution(pair: RecordPair) -> bool:
    """Return whether one record is of a conference, and the other one is an article, or is at another place."""
    place = pair.place
    has_title = pair.titles.is_alike and pair.has_identifying_title
    if not (pair.differs_in_conference and pair.has_same_authors and has_title) or _is_in_same_issue(place):
        return False
    is_elsewhere = bool(place.list_differing()) and not (place.journal and place.volume)
    return is_elsewhere or pair.first.is_article or pair.second.is_article


def _is_in_same_issue(place: PlaceAgreement) -> bool:
    return bool(place.volume and (place.page or (place.issue and place.page is None)))


def _may_be_abstract(pair: RecordPair) -> bool:
    """Return whether only one record may be of a conference, and the other one has no page that decides it."""
    differs = pair.first.may_be_abstract != pair.second.may_be_abstract
    agrees = pair.has_same_authors and pair.titles.is_alike and pair.has_identifying_title
    has_no_place = pair.place.volume is None or pair.first.supplement != pair.second.supplement
    return differs and agrees and has_no_place and pair.place.page is None and not _is_in_same_issue(pair.place)


def _is_at_other_place(pair: RecordPair) -> bool:
    """Return whether the places or years of a work by the same authors differ too much for a mistake."""
    differing = pair.place.list_differing()
    is_elsewhere = len(differing) > 1 or (bool(differing) and not pair.place.is_near_in_time)
    return pair.has_same_authors and (is_elsewhere or (pair.place.years or 0) > 1)


def _is_same_text(pair: RecordPair) -> bool:
    return pair.has_same_authors and (pair.titles.is_exact or pair.has_same_abstract is True)


def _is_another_publication(pair: RecordPair) -> bool:
    return _is_at_other_place(pair) and _is_same_text(pair)


def _has_no_contradiction(pair: RecordPair) -> bool:
    """Return whether no part of the place differs, and the authors agree, or only the title does."""
    has_names = pair.has_same_authors or (pair.authors == AuthorAgreement.UNKNOWN and pair.titles.is_exact)
    is_contradicted = pair.titles.level < TitleLevel.NEAR and _has_other_number(pair)
    return has_names and not pair.place.list_differing() and pair.place.is_near_in_time and not is_contradicted


def _merge(base: int, per_level: int = 0, more: str = "") -> Callable[[RecordPair], PairVerdict]:
    """Return the verdict "same work"; its strength increases with the agreement of the titles."""
    return lambda pair: PairVerdict("same", describe_agreement(pair) + more, base + per_level * pair.titles.level)


def _link_publications(pair: RecordPair) -> PairVerdict:
    places = join_with(pair.place.list_differing()) or "year"
    return PairVerdict("family", f"{describe_agreement(pair)}, other {places}", FAMILY_ELSEWHERE, "another_publication")


def _link_conference(_: RecordPair) -> PairVerdict:
    return PairVerdict("family", "a conference contribution and an article", FAMILY_ELSEWHERE, "conference")


def _leave_open(pair: RecordPair) -> PairVerdict:
    contradictions = pair.place.list_differing()
    contradictions += ["issue"] if pair.has_other_issue else []
    contradictions += ["number in one database"] if pair.ids.has_other_accessions else []
    contradictions += ["type"] if pair.has_other_type else []
    remark = f", other {join_with(contradictions)}" if contradictions else ""
    if pair.differs_in_conference:
        remark += "; only one is of a conference"
    if identifiers := _find_other_identifiers(pair):
        remark += f"; {identifiers}"
    return PairVerdict("undecided", f"{describe_agreement(pair)}{remark}")


TEXT_RULES: Final = (
    Rule(_is_conference_contribution, _link_conference),
    Rule(_is_work_at_certain_place, _merge(50, 10)),
    Rule(_is_unclear_at_certain_place, _leave_open),
    Rule(_is_certain_place, _are_different),
    Rule(_have_other_titles_or_authors, _are_different),
    Rule(_is_in_other_issue, _are_different),
    Rule(_is_contradicted, _leave_open),
    Rule(_may_be_abstract, _leave_open),
    Rule(_is_work_at_place, _merge(40, 10)),
    Rule(_is_similar_at_place, _leave_open),
    Rule(_is_title_unclear, _are_different),
    Rule(_is_work_in_renamed_journal, _merge(45)),
    Rule(_is_work_in_journal, _merge(30, 10)),
    Rule(_is_page_without_authors, _merge(30)),
    Rule(_is_in_one_issue, _merge(35, more=" and issue")),
    Rule(_is_work_with_abstract, _merge(30, more=", same abstract")),
    Rule(_is_another_publication, _link_publications),
    Rule(_is_at_other_place, _are_different),
    Rule(_is_same_text, _leave_open),
    Rule(_has_no_contradiction, _leave_open),
)
"""Whether two records with similar titles are one work, from the most certain places to missing ones."""


# Reasons


_TITLES: Final = {
    TitleLevel.EXACT: "same title",
    TitleLevel.NEAR: "nearly the same title",
    TitleLevel.LOOSE: "similar title",
    TitleLevel.DIFFERENT: "other title",
}


def describe_agreement(pair: RecordPair) -> str:
    """Return what two records have in common: title, authors, journal, year, volume and pages."""
    authors = "same authors" if pair.has_same_authors else "authors missing"
    return f"{_TITLES[pair.titles.level]}, {authors}{_describe_place(pair.place)}"


def _describe_place(place: PlaceAgreement) -> str:
    named = {"journal": place.journal, "year": place.years == 0, "volume": place.volume, "pages": place.page}
    parts = [name for name, is_same in named.items() if is_same]
    return f", same {join_with(parts)}" if parts else ""
