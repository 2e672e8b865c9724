"""Compare the authors in a reference as text with those of a record."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from entrez_kit.citations.names import Name, convert_to_csl_names, format_name
from entrez_kit.pubmed.comparison import fold_text, is_one_edit, make_confusable_key, measure_text_likeness
from entrez_kit.pubmed.models import Article
from entrez_kit.references.check.comparison.compare_fields import LIKE_TITLES, FieldDifference, join_shown_names
from entrez_kit.references.check.comparison.text_words import (
    GENERATIONS,
    MAX_INITIALS,
    SUPERFLUOUS,
    find_first_number,
    find_words,
    list_given_forms,
    list_initials,
    split_family,
    take_given_names,
)
from entrez_kit.references.check.pasted.line_signs import NAME_AND_INITIALS

MIN_TITLE: Final = 3
"""From this number of words without a field, the words are the title of another work."""
MAX_NAMES: Final = 100
"""Maximum authors whose names may contain mistakes. Names after these must match exactly."""
MAX_HEAD: Final = 600
"""Maximum words searched for authors whose names may contain mistakes."""
_LEFT_OUT: Final = re.compile(r"…|\.\s?\.\s?\.")
_OTHERS_IN_TEXT: Final = re.compile(
    r"(?<=[^\W\d_a-z]|[.,])(?:,? (?:(?:y|e|and) (?:cols?|colab|otros|outros|altri)\b\.?|u\. ?a\.|i in\.|ve ark\."
    r"|m\. ?fl\.)"
    r"|[,，、]? ?(?:等|他|ほか)(?=[\s.,:;．，：；。]))"
)
"""The forms of "et al." after an initial."""
_AND: Final = re.compile(rf"(?<=[^\W\d_a-z]|\.),? (?:und|y|e|och|og|i|ve) (?={NAME_AND_INITIALS.pattern})")
"""The forms of "and" before the last author."""
_OTHERS: Final = frozenset((("et", "al"), ("and", "others"), ("u", "a"), ("et", "coll"), ("и", "др")))
"""Words that replace omitted authors."""
_NOT_NAMES: Final = frozenset(("eds", "coll", "u", "и", "др"))
NAME_WORDS: Final = 12
"""Maximum words between two family names."""


@dataclass(slots=True)
class AuthorsInText:
    """The result of comparing the authors; ``taken`` has the positions of the words of authors."""

    taken: set[int] = field(default_factory=set)
    difference: FieldDifference | None = None
    agree: bool = False
    are_others: bool = False


@dataclass(slots=True)
class MatchedAuthors:
    """The authors of a record that a text names: their positions, and the misspelt names."""

    places: dict[int, int] = field(default_factory=dict)
    misspelt: dict[int, str] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)


def compare_authors_in_text(
    words: Sequence[str], article: Article, head: int | None, journal: int | None
) -> AuthorsInText:
    """Compare the authors, which precede the title (at ``head``) or, without a title, the journal."""
    names = convert_to_csl_names(article.authors, with_initials=True)
    if not names:
        return AuthorsInText()
    known_end = head if head is not None else journal
    others = _find_omission(words, known_end or len(words))
    count, is_complete, taken = _match_in_order(words, names, others=others, end=known_end or len(words))
    end = known_end if known_end is not None else find_first_number(words)
    has_other_names = bool(_list_possible_names(words[:end], taken))
    if count and is_complete and not (known_end and has_other_names):
        return AuthorsInText(taken, agree=True)
    if head == 0 and not count:  # the authors follow the title
        end = len(words)
    matched = _match_with_mistakes(words[: min(end, MAX_HEAD)], names)
    of_authors = set(range(known_end or 0))
    if not matched.places and not has_other_names:
        return AuthorsInText(taken)  # the text names no authors
    if not matched.places:
        return AuthorsInText(taken | of_authors, _to_other_authors(words, names, known_end), are_others=True)
    added = _list_added_names(words[:end], matched.taken, head, journal)
    if added is None:
        added, of_authors = [], set()
    problems = _describe_problems(words[:end], names, matched, added, others=others)
    difference = None
    if problems:
        difference = FieldDifference(
            field="authors", given=" ".join(words[:end]), record=_join_record_names(names), detail="; ".join(problems)
        )
    are_others = len(matched.places) * 3 < len(matched.places) + len(added)
    return AuthorsInText(matched.taken | of_authors, difference, agree=not are_others, are_others=are_others)


def mark_omissions(text: str, article: Article) -> str:
    """Write "et al." for its forms in other languages, and for an ellipsis unless the title of the record has one."""
    text = _AND.sub(" and ", _OTHERS_IN_TEXT.sub(" et al. ", text))
    return text if _LEFT_OUT.search(article.title) else _LEFT_OUT.sub(" et al ", text)


def _find_omission(words: Sequence[str], end: int) -> int | None:
    """Return the position of "et al." in the place of authors, before ``end`` if there is one."""
    found = [n for n, pair in enumerate(pairwise(words)) if pair in _OTHERS]
    return next((n for n in found if n < end), next(iter(found), None))


def _list_possible_names(words: Sequence[str], taken: Collection[int]) -> list[str]:
    """Return the words that may be names, without those at the positions of known authors."""
    return [word for n, word in enumerate(words) if n not in taken and _may_be_name(word)]


def _list_added_names(
    words: Sequence[str], taken: Collection[int], head: int | None, journal: int | None
) -> list[str] | None:
    """Return the names that the record does not have; None if these words may be another title."""
    possible = _list_possible_names(words, taken)
    added = [word for word in possible if len(word) > 1]
    if head is not None:
        return added
    has_initials = any(len(word) < MAX_INITIALS for word in possible)
    return added if journal is not None and len(added) < MIN_TITLE and has_initials else None


def _describe_problems(
    words: Sequence[str],
    names: Sequence[Name],
    matched: MatchedAuthors,
    added: Sequence[str],
    *,
    others: int | None,
) -> list[str]:
    """Return how the authors of a text differ: misspelt, added, missing, other initials, another order."""
    omitted: set[int] = set()
    if others is not None:  # it replaces only authors between the last one before it and the first one after it
        before = [n for n, place in matched.places.items() if place < others]
        after = [n for n, place in matched.places.items() if place > others and "literal" not in names[n]]
        omitted = {*range(max(before, default=min(matched.places)) + 1, min(after, default=len(names)))}
        omitted |= {n for n, name in enumerate(names) if after and n > max(after) and "literal" in name}
    named = {
        "misspelt": [f"{word} (record: {format_name(names[n])})" for n, word in matched.misspelt.items()],
        "added": added,
        "missing": [format_name(name) for n, name in enumerate(names) if n not in matched.places and n not in omitted],
        "initials": _find_wrong_initials(words, names, matched),
    }
    problems = [f"{label}: {join_shown_names(texts)}" for label, texts in named.items() if texts]
    order = [matched.places[n] for n in sorted(matched.places)]
    if order != sorted(order):
        problems.append("the order differs")
    return problems


def _join_record_names(names: Sequence[Name]) -> str:
    return join_shown_names(list(map(format_name, names)))


def _to_other_authors(words: Sequence[str], names: Sequence[Name], head: int | None) -> FieldDifference:
    """Return the difference for a text by other authors."""
    known = [fold_text(str(name.get("literal") or name.get("family") or "")).split() for name in names]
    has_any = any(find_words(family, words) is not None for family in known)
    detail = "the authors are different" if has_any else "the text does not have any author of the record"
    text = " ".join(words[: head or NAME_WORDS])
    return FieldDifference(field="authors", given=text, record=_join_record_names(names), detail=detail)


def _may_be_name(word: str) -> bool:
    return word not in SUPERFLUOUS and not word.isdigit() and word not in GENERATIONS and word not in _NOT_NAMES


def _match_in_order(
    words: Sequence[str], names: Sequence[Name], *, others: int | None, end: int
) -> tuple[int, bool, set[int]]:
    """Return how many authors a text begins with, in order, whether the others are omitted, and all their positions.

    The title began at ``end``, so a letter after ``end`` belongs to the journal.
    """
    matched = _AuthorsInOrder(words, others)
    is_complete = all(matched.take(name) or matched.may_omit(name) for name in names)
    matched.take_given_names_until(min(end, len(words)))
    return matched.count, is_complete, matched.taken


@dataclass(slots=True)
class _AuthorsInOrder:
    """The authors with which a text begins, and the position behind the last one.

    Only given names and initials of two neighbours may be between their family names.

    Attributes:
        words: the text.
        others: the position of "et al.", which may replace authors of the record, and groups after the last author.
        begin: the position behind the family name of the last author.
        given: the given names that may follow the last author.
        initials: the initials that may follow the last author; each can be that of one given name.
        has_last: whether a person is named after "et al.".
    """

    words: Sequence[str]
    others: int | None
    begin: int = 0
    count: int = 0
    taken: set[int] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    initials: str = ""
    has_last: bool = False

    def take(self, name: Name) -> bool:
        """Take the next author if it is this one, and return whether it is."""
        family, given, initials = split_family(name), list_given_forms(name), list_initials(name)
        offset = self._find_family(family)
        if offset is None:
            return False
        start, begin = self.begin, self.begin + offset
        inside = [word for word in self.words[start:begin] if word not in SUPERFLUOUS]
        left = take_given_names(inside, self.given | given, (self.initials, initials))
        if left is None:
            return False
        self.begin = begin + len(family)
        self.taken.update(range(start, self.begin))
        # A given name before the family name replaces the initials after it.
        self.given, self.initials = given if left == initials else set(), left
        self.count += 1
        self.has_last = self.has_last or (self._is_after_others and "literal" not in name)
        return True

    def _find_family(self, family: Sequence[str]) -> int | None:
        """Return the distance of the next family name, if it is near."""
        offset = find_words(family, self.words[self.begin : self.begin + len(family) + NAME_WORDS])
        if offset is not None and family[0] in self.given:
            after = self.begin + offset + 1
            if list(self.words[after : after + len(family)]) == list(family):
                return offset + 1  # the given name of the author before is also the family name of this one
        return offset

    @property
    def _is_after_others(self) -> bool:
        return self.others is not None and self.others < self.begin

    def may_omit(self, name: Name) -> bool:
        """Return whether "et al." replaces an author: it is the next word, or it was before the last author."""
        if self.others is None or not self.count:
            return False
        if self._is_after_others:
            return not self.has_last or "literal" in name
        return all(word in self.given or word in SUPERFLUOUS for word in self.words[self.begin : self.others])

    def take_given_names_until(self, end: int) -> None:
        """Take the given names and initials after the last author."""
        while self.begin < end:
            word = self.words[self.begin]
            if word not in self.given and take_given_names([word], (), (self.initials, "")) is None:
                break
            self.initials = self.initials.replace(word[0], "", 1)
            self.taken.add(self.begin)
            self.begin += 1


def _match_with_mistakes(words: Sequence[str], names: Sequence[Name]) -> MatchedAuthors:
    """Find the authors of a record in words, in any order. A family name may contain mistakes."""
    matched = MatchedAuthors()
    for number, name in enumerate(names):
        family = split_family(name)
        size = len(family)
        starts = [n for n in range(len(words) - size + 1) if matched.taken.isdisjoint(range(n, n + size))]
        exact = [n for n in starts if list(words[n : n + size]) == family]
        if exact:
            # Given names distinguish persons with the same family name.
            start = max(exact, key=lambda n: (_has_given(words, n, size, name), -n))
        elif number >= MAX_NAMES:
            continue
        else:
            similar = [(likeness, -n) for n in starts if (likeness := _compare_family(words, n, size, name))]
            if not similar:
                continue
            start = -max(similar)[1]
            matched.misspelt[number] = " ".join(words[start : start + size])
        matched.places[number] = start
        matched.taken.update(range(start, start + size))
        given = {make_confusable_key(form) for form in list_given_forms(name)}
        letters = list_initials(name)
        for step in (1, -1):
            n = start + size if step > 0 else start - 1
            while 0 <= n < len(words) and n not in matched.taken:
                is_initial = make_confusable_key(words[n]) in given
                if not is_initial and take_given_names([words[n]], (), (letters, "")) is None:
                    break
                letters = letters.replace(words[n][0], "", 1)
                matched.taken.add(n)
                n += step
    return matched


def _find_wrong_initials(words: Sequence[str], names: Sequence[Name], matched: MatchedAuthors) -> list[str]:
    """Return the single initials beside family names that are not those of the record.

    Initials precede or follow all family names of a text. So a letter is compared only if the initials of at least
    half of the other authors agree.
    """
    sides: dict[int, list[tuple[bool, str]]] = {1: [], -1: []}
    for number, start in sorted(matched.places.items(), key=lambda item: item[1]):
        name = names[number]
        forms = {make_confusable_key(form) for form in list_given_forms(name)}
        for side, n in ((1, start + len(split_family(name))), (-1, start - 1)):
            word = words[n] if 0 <= n < len(words) else ""
            is_given = bool(word) and take_given_names([word], (), (list_initials(name), "")) is not None
            is_right = is_given or make_confusable_key(word) in forms
            is_letter = bool(forms) and len(word) == 1 and word.isalpha()
            if is_right or is_letter:
                problem = "" if is_right else f"{word.upper()} (record: {format_name(name)})"
                sides[side].append((is_right, problem))
    best_side = max(sides.values(), key=lambda side: (sum(is_right for is_right, _ in side), len(side)))
    wrong = [problem for is_right, problem in best_side if not is_right]
    return wrong if len(wrong) * 2 <= len(best_side) or len(matched.places) == 1 else []


def _has_given(words: Sequence[str], start: int, size: int, name: Name) -> bool:
    given = {make_confusable_key(form) for form in list_given_forms(name)}
    return any(
        make_confusable_key(word) in given
        for word in (*words[start + size : start + size + 1], *words[max(0, start - 1) : start])
    )


def _compare_family(words: Sequence[str], start: int, size: int, name: Name) -> float:
    """Return the likeness of a part of a text to a family name; 0 if it is another name."""
    family, recorded = "".join(words[start : start + size]), "".join(split_family(name))
    likeness = measure_text_likeness(family, recorded, LIKE_TITLES)
    if is_one_edit(family, recorded) and _has_given(words, start, size, name):
        return max(likeness, LIKE_TITLES)
    return likeness if likeness >= LIKE_TITLES and len(recorded) > MAX_INITIALS else 0.0
