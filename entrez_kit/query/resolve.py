"""Resolve the operands of a parsed query: from PubMed's syntax to the algebra, with what PubMed reports on the way."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from typing import Final

from entrez_kit.base.errors import InvalidInput
from entrez_kit.query import dates, unsettled
from entrez_kit.query.algebra import (
    NOTHING,
    And,
    Everything,
    HistorySet,
    Leaf,
    Not,
    Or,
    Phrase,
    Query,
    Range,
    Shown,
    TermSet,
    Wildcard,
    Window,
)
from entrez_kit.query.evaluate import Evaluator
from entrez_kit.query.fields import ALL_FIELDS, BY_CODE, LANGUAGES, Field, Tag, parse_tag
from entrez_kit.query.filters import (
    APPROXIMATE,
    BARE,
    KNOWN,
    explain_unknowable,
    find_filter,
    missing_actions_error,
    unknowable_error,
)
from entrez_kit.query.lexer import NCBI_MESSAGES
from entrez_kit.query.mapping import (
    LONGEST_NAME,
    any_of,
    find_unlisted_heading,
    map_phrase,
    search_action,
    search_substance,
    to_leaf,
)
from entrez_kit.query.mesh import Tree, Vocabulary
from entrez_kit.query.names import find_names
from entrez_kit.query.parser import Operand, Syntax, fold_tree, parse
from entrez_kit.query.printing import print_days, print_query, quote_term, quote_value
from entrez_kit.query.record_terms import FULL
from entrez_kit.query.search_strategies import STRATEGIES
from entrez_kit.query.words import STOP_WORDS, fold, normalize, split_words

_PATTERN: Final = re.compile(r"(?:[^\W_]|\*)+")
_PUNCTUATION: Final = re.compile(r"[^\w*]|_")
_TYPE_SYNONYMS: Final = {
    "rct": "randomized controlled trial",
    "meta analyses": "meta analysis",
    "reviews": "review",
}
"""Entry terms of publication types, for vocabularies without publication types."""
_DOI_PREFIXES: Final = ("https://doi.org/", "http://doi.org/", "https://dx.doi.org/", "http://dx.doi.org/", "doi:")


class Fidelity(StrEnum):
    """How closely an answer can equal PubMed's own on the same records."""

    EXACT = "exact"
    EXACT_PHRASE = "exact_phrase"
    """Phrases were matched literally; PubMed finds only those in its unpublished phrase index."""
    APPROXIMATE = "approximate"
    """Term mapping was used; PubMed's table of word variants is not published."""


_RANKS: Final = list(Fidelity)


@dataclass(slots=True)
class Resolved:
    """A resolved query, with NCBI's lists of translations and complaints.

    ``query`` is None if PubMed ignores all of its parts. ``ranking`` lists the searched words.
    """

    query: Query | None = None
    fidelity: Fidelity = Fidelity.EXACT
    translations: list[tuple[str, str]] = field(default_factory=list)
    phrases_not_found: list[str] = field(default_factory=list)
    fields_not_found: list[str] = field(default_factory=list)
    phrases_ignored: list[str] = field(default_factory=list)
    quoted_not_found: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    ranking: list[str] = field(default_factory=list)
    lacks_tree: bool = False
    """Whether a heading with narrower ones was wanted that only the records have, not the vocabulary."""

    def limit(self, fidelity: Fidelity) -> None:
        """Lower the fidelity of the answer."""
        self.fidelity = max(self.fidelity, fidelity, key=_RANKS.index)


@dataclass(frozen=True, slots=True)
class Unit:
    """A resolved part; None for an ignored one. The parts of a loose AND join the AND around them."""

    query: Query | None
    is_loose: bool = False


_IGNORED: Final = Unit(None)


def join_units(parts: Sequence[tuple[str, Unit]]) -> Unit:
    """Join the parts of a group from left to right; ignored parts have no effect."""
    members: list[Query] = []
    growing = ""

    def take() -> Query:
        return members[0] if len(members) == 1 else (And if growing == "AND" else Or)(tuple(members))

    for operator, unit in parts:
        right = unit.query
        if right is None:
            continue
        added = right.parts if unit.is_loose and isinstance(right, And) and operator == "AND" else (right,)
        if operator == "NOT":
            members = [Not(take() if members else Everything(), right)]
            growing = ""
            continue
        if members and growing != operator:
            members = [take()]
        growing = operator if members or len(added) > 1 else ""
        members.extend(added)
    return Unit(take() if members else None)


class Resolver:
    """Resolves one query.

    Args:
        evaluator: evaluates leaves, to find out whether any record has a phrase.
        vocabulary: the controlled vocabulary.
        field: the field of words without a tag, from ESearch's ``field`` parameter.
        today: the last day of a relative range such as "last 5 years".
        lenient: whether to imitate PubMed, which searches without a field or a word that it does not know. Otherwise an
            unknown field is an error, and an unknown word matches no record.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        vocabulary: Vocabulary,
        *,
        field: str | None = None,
        today: date | None = None,
        lenient: bool = False,
    ) -> None:
        self._evaluator = evaluator
        self._index = evaluator.index
        self._vocabulary = vocabulary
        self._today = today or date.today()
        self._lenient = lenient
        self._query = ""
        self.found = Resolved()
        self._default: Tag | None = None
        if field:
            self._default = parse_tag(field)
            if self._default is None:
                self._report_unknown_field(field)
        if self._default is not None and self._default.field is ALL_FIELDS:
            self._default = None

    def resolve(self, syntax: Syntax) -> Resolved:
        """Resolve a parsed query.

        Raises:
            InvalidInput: no copy of PubMed can answer a part of the query, or (unless ``lenient``) a field is unknown.
        """
        self._query = syntax.text
        self.found.messages += [repair.message for repair in syntax.repairs if repair.code in NCBI_MESSAGES]
        self.found.query = fold_tree(syntax.root, self._resolve_operand, lambda parts, _: join_units(parts)).query
        return self.found

    def resolve_operand(self, operand: Operand) -> Query:
        """Resolve one operand, such as a term of another query language.

        Raises:
            InvalidInput: as in ``resolve``.
        """
        return self._resolve_operand(operand).query or NOTHING

    # operands

    def _resolve_operand(self, operand: Operand) -> Unit:
        phrase = operand.phrase
        if operand.is_history:
            return Unit(Shown(HistorySet(int(phrase[1:])), phrase))
        if operand.upper is not None:
            return self._resolve_range(operand, operand.upper)
        tag = None
        if operand.tag is not None:
            tag = parse_tag(operand.tag)
            if tag is None:
                self._report_unknown_field(operand.tag)
        key = normalize(phrase)
        if key in BARE and (tag is None or tag.field.code in ("ALL", "WORD", "FILT")):
            label = tag.field.label if tag else ALL_FIELDS.label
            return Unit(Shown(TermSet("filter", (key,)), f"{phrase.lower()}[{label}]"))
        if tag is None or tag.field is ALL_FIELDS:
            tag = self._default
        if tag is None:
            return self._resolve_quoted(phrase) if operand.quoted else self._resolve_run(phrase.split(), operand)
        if operand.tag is None and not operand.quoted and tag.field.kind == "text":
            return self._search_each(tag.field, phrase.split())
        if tag.field.kind == "text":
            return self._resolve_text(tag, operand)
        return self._resolve_value(tag, operand)

    def _report_unknown_field(self, name: str) -> None:
        if not self._lenient:
            raise InvalidInput(
                f"PubMed has no search field {name!r}.",
                invalid_input=f"query={self._query or name}",
                recovery_hint="Write a field of PubMed, such as [tiab] or [mh], or remove the tag.",
                details={"reason": "unknown_field", "field": name},
            )
        self.found.fields_not_found.append(name)

    def _report_missing(self, operand: Operand, tag: str | None) -> None:
        if operand.quoted:
            self.found.quoted_not_found.append(f'"{operand.phrase}"[{tag}]')
        else:
            self.found.phrases_not_found.append(f"{operand.phrase}[{tag}]")

    # text

    def _resolve_text(self, tag: Tag, operand: Operand) -> Unit:
        field, phrase = tag.field, operand.phrase
        words = split_pattern(phrase)
        if not words:
            return _IGNORED
        self.found.ranking += split_words(phrase)
        label = field.label
        truncated = any("*" in word for word in words)
        if tag.distance is not None and not truncated:
            if unsettled.allows_proximity(field.proximity, words, tag.distance, operand.quoted):
                near = quote_term(print_words(phrase), f"{label}:~{tag.distance}")
                return Unit(Shown(Window(field, tuple(words), tag.distance), near))
            self.found.messages.append(f"No proximity search: {operand.text}")
        if len(words) == 1 and words[0] in STOP_WORDS:
            self.found.phrases_ignored.append(operand.text)
            return _IGNORED
        leaf = to_leaf(field, words)
        shown = Shown(leaf, quote_term(print_words(phrase), label))
        if self._matches(leaf):
            return Unit(shown)
        self._report_missing(operand, operand.tag)
        hyphenated = "-" in phrase.strip("-") and " " not in phrase
        if len(words) == 1 or truncated or hyphenated or not (self._lenient and unsettled.breaks_up(operand.quoted)):
            return Unit(shown)
        return self._break_phrase(tag, phrase.split(), operand)

    def _break_phrase(self, tag: Tag, words: list[str], operand: Operand) -> Unit:
        """Search a phrase that no record has: the last word in the field, the earlier ones with term mapping."""
        if not operand.quoted:
            self.found.phrases_not_found.pop()
        earlier = self._resolve_run(words[:-1], operand)
        last = to_leaf(tag.field, split_pattern(words[-1]) or words[-1:])
        return join_units(
            [("AND", earlier), ("AND", Unit(Shown(last, quote_term(print_words(words[-1]), tag.field.label))))]
        )

    def _resolve_quoted(self, phrase: str) -> Unit:
        """Resolve a quoted phrase without a tag; if no record has it, PubMed ignores the quotation marks."""
        words = split_pattern(phrase)
        if not words:
            return _IGNORED
        leaf = to_leaf(ALL_FIELDS, words)
        if self._matches(leaf):
            self.found.ranking += split_words(phrase)
            return Unit(Shown(leaf, quote_term(" ".join(words), ALL_FIELDS.label)))
        self.found.quoted_not_found.append(f'"{phrase}"')
        if not self._lenient:
            return Unit(Shown(leaf, quote_term(" ".join(words), ALL_FIELDS.label)))
        return self._resolve_run(phrase.split(), None)

    def _matches(self, leaf: Leaf) -> bool:
        if isinstance(leaf, Phrase):
            self.found.limit(Fidelity.EXACT_PHRASE)
        return bool(self._evaluator.evaluate(leaf))

    # words without a tag

    def _resolve_run(self, run: Sequence[str], operand: Operand | None) -> Unit:
        """Resolve words without quotes and tag: PubMed maps the longest phrases first."""
        if unsettled.combine_number_words(run) and (units := self._find_pmids(run)):
            return units
        parts: list[tuple[str, Unit]] = []
        place = 0
        whole = operand is not None and operand.text == self._query.strip()
        while place < len(run):
            length, unit = self._map_next(run, place, whole and len(run) == 1)
            parts.append(("AND", unit))
            place += length
        joined = join_units(parts)
        return Unit(joined.query, is_loose=sum(unit.query is not None for _, unit in parts) > 1)

    def _find_pmids(self, run: Sequence[str]) -> Unit | None:
        found: list[Query] = [Shown(Range("uid", int(word), int(word)), f"{int(word)}[UID]") for word in run]
        if not any(self._evaluator.evaluate(part) for part in found):
            return None
        return Unit(any_of(found))

    def _map_next(self, run: Sequence[str], place: int, whole: bool) -> tuple[int, Unit]:
        """Map the words from this position; return the number of mapped words and their part of the query."""
        for length in range(min(LONGEST_NAME, len(run) - place), 0, -1):
            phrase = " ".join(run[place : place + length])
            if "*" in phrase:
                continue
            if "/" in phrase and (pair := self._find_pair(BY_CODE["MESH"], phrase, explodes=True)):
                return length, Unit(pair)
            mapped = map_phrase(phrase, self._index, self._vocabulary)
            if mapped is not None:
                self.found.limit(Fidelity.APPROXIMATE)
                self.found.translations.append((phrase, print_query(mapped)))
                self.found.ranking += split_words(phrase)
                return length, Unit(mapped)
        return 1, self._resolve_word(run[place], run, whole)

    def _resolve_word(self, word: str, run: Sequence[str], whole: bool) -> Unit:
        if word.lower() in STOP_WORDS:
            if len(run) == 1:
                self.found.phrases_ignored.append(word)
            return _IGNORED
        words = split_pattern(word)
        if not words:
            return _IGNORED
        leaf = to_leaf(ALL_FIELDS, words)
        if not any("*" in one for one in words):
            self.found.limit(Fidelity.APPROXIMATE)
        shown = Shown(leaf, quote_term(" ".join(words), ALL_FIELDS.label))
        if self._matches(leaf):
            self.found.ranking += split_words(word)
            return Unit(shown)
        if whole:
            self.found.quoted_not_found.append(f'"{word}"')
        else:
            self.found.phrases_not_found.append(word)
        drops = self._lenient and (len(words) == 1 or unsettled.drops_unknown_hyphenated())
        return _IGNORED if drops else Unit(shown)

    def _search_each(self, field: Field, run: Sequence[str]) -> Unit:
        """Search words without a tag in the field of the ``field`` parameter, without mapping."""
        parts: list[tuple[str, Unit]] = []
        for word in run:
            words = split_pattern(word)
            if not words or (word.lower() in STOP_WORDS and len(run) > 1):
                continue
            leaf = to_leaf(field, words)
            if self._matches(leaf) or not self._lenient:
                self.found.ranking += split_words(word)
                parts.append(("AND", Unit(Shown(leaf, quote_term(" ".join(words), field.label)))))
            else:
                self.found.phrases_not_found.append(word)
        return Unit(join_units(parts).query, is_loose=len(parts) > 1)

    # values

    def _resolve_value(self, tag: Tag, operand: Operand) -> Unit:
        """Resolve a value. If unquoted words are not a value, resolve the longest last part that is one."""
        field, words = tag.field, operand.phrase.split()
        query = self._find_value(tag, operand.phrase, operand)
        if query is not None:
            return Unit(query)
        if not operand.quoted and (self._lenient or field.kind in ("date", "uid")):
            for cut in range(1, len(words)):
                last = self._find_value(tag, " ".join(words[cut:]), operand)
                if last is not None:
                    return join_units([("AND", self._resolve_run(words[:cut], None)), ("AND", Unit(last))])
        self._report_missing(operand, operand.tag or field.label)
        return Unit(Shown(NOTHING, quote_value(operand.phrase, field.label)))

    def _find_value(self, tag: Tag, phrase: str, operand: Operand) -> Query | None:
        """Return the query for a value; None if it does not exist."""
        field = tag.field
        find = self._FINDERS[field.kind]
        if field.kind not in ("date", "uid", "filter", "id") and "*" in phrase:
            query = self._find_pattern(field, phrase)
        else:
            query = find(self, tag, phrase, operand)
        if query is None or self._evaluator.evaluate(query) or self._is_known(field, phrase):
            return query
        return None

    def _is_known(self, field: Field, phrase: str) -> bool:
        """Return whether a value exists although no record has it."""
        key = normalize(phrase)
        if field.kind == "mesh":
            return self._get_tree(field).find(key) is not None
        if field.kind == "filter":
            return find_filter(key) in KNOWN | STRATEGIES.keys()
        if field.kind == "journal":
            return bool(self._vocabulary.find_journals(key))
        if field.code == "SUBS":
            return self._vocabulary.find_substance(key) is not None
        return field.kind in ("date", "action")

    def _find_pattern(self, field: Field, phrase: str) -> Query | None:
        pattern = " ".join(split_pattern(phrase))
        shown = quote_value(phrase, field.label)
        return Shown(Wildcard(field, pattern) if "*" in pattern else TermSet(field.sources[0], (pattern,)), shown)

    def _find_plain(self, tag: Tag, phrase: str, operand: Operand) -> Query | None:
        field, key = tag.field, normalize(phrase)
        if field.code == "LANG":
            key = LANGUAGES.get(key, key)
        if field.code == "SUBS" and (substance := self._vocabulary.find_substance(key)) is not None:
            query = search_substance(substance.name)
            if normalize(substance.name) != key:
                self.found.translations.append((operand.text, query.text))
            return query
        return Shown(TermSet(field.sources[0], (key,)), quote_value(phrase, field.label))

    def _find_mesh(self, tag: Tag, phrase: str, operand: Operand) -> Query | None:
        field, source = tag.field, tag.field.sources[0]
        if "/" in phrase and field.code in ("MESH", "MAJR"):
            return self._find_pair(field, phrase, explodes=tag.explodes)
        key = normalize(phrase)
        if field.code == "PTYP":
            key = _TYPE_SYNONYMS.get(key, key)
        known = self._find_headings(self._get_tree(field), source, key, explodes=tag.explodes)
        if known is None:
            return None
        name, names = known
        label = field.label if tag.explodes else f"{field.label}:noexp"
        query = Shown(TermSet(source, names), quote_term(name.lower(), label))
        if normalize(name) not in (key, normalize(phrase)):
            self.found.translations.append((operand.text, query.text))
        return query

    def _get_tree(self, field: Field) -> Tree:
        return self._vocabulary.subheadings if field.code == "SUBH" else self._vocabulary.headings

    def _find_headings(
        self, tree: Tree, source: str, key: str, *, explodes: bool
    ) -> tuple[str, tuple[str, ...]] | None:
        """Return the name of a heading, and the normalized names of it and of all narrower ones."""
        heading = tree.find(key)
        if heading is not None:
            return heading.name, tree.explode(heading) if explodes else (heading.key,)
        known = find_unlisted_heading(key, self._index, source)
        if known is None:
            return None
        self.found.lacks_tree |= explodes
        return known, (known,)

    def _find_pair(self, field: Field, phrase: str, *, explodes: bool) -> Query | None:
        """Return the query for a heading with a subheading; both include narrower ones."""
        first, _, second = (part.strip() for part in phrase.partition("/"))
        source = field.sources[0]
        heading = self._find_headings(self._vocabulary.headings, "mesh", normalize(first), explodes=explodes)
        subheading = self._find_headings(
            self._vocabulary.subheadings, "subheading", normalize(second), explodes=explodes
        )
        if heading is None or subheading is None:
            return None
        values = tuple(f"{one}/{other}" for one in heading[1] for other in subheading[1])
        label = field.label if explodes else f"{field.label}:noexp"
        return Shown(TermSet(f"{source}_pair", values), quote_term(f"{heading[0]}/{subheading[0]}".lower(), label))

    def _find_person(self, tag: Tag, phrase: str, operand: Operand) -> Query | None:
        field, source = tag.field, tag.field.sources[0]
        names = find_names(self._index, source, phrase, quoted=operand.quoted)
        shown = " ".join(phrase.lower().split())
        if field.code in ("FULL", "FINV"):
            values = names.full or (names.short if " " not in normalize(phrase) else ())
            return Shown(
                TermSet(source, values), quote_term(shown, field.label) if operand.quoted else f"{shown}[{field.label}]"
            )
        if operand.quoted:
            return Shown(TermSet(source, names.all), quote_term(shown, field.label))
        if not names.full:
            return Shown(TermSet(source, names.short), f"{shown}[{field.label}]")
        surname, _, given = names.full[0].removeprefix(FULL).partition(" ")
        short = [f"{shown}[{field.label}]"] if names.short else []
        pieces = [f"{surname}, {given}[{field.label}]", *short]
        origins = [f"{surname.title()}, {given.title()}[{BY_CODE['FULL'].label}]", *short]
        self.found.translations.append((operand.text, " OR ".join(origins)))
        return Shown(TermSet(source, names.all), " OR ".join(pieces))

    def _find_journal(self, tag: Tag, phrase: str, operand: Operand) -> Query | None:
        label = tag.field.label
        key = normalize(phrase.replace("&", " "))
        journals = self._vocabulary.find_journals(key)
        if operand.quoted:
            journals = [one for one in journals if normalize(one.abbreviation) == key] or journals
        if not journals:
            return Shown(TermSet("journal", (key,)), quote_value(phrase, label))
        ids = tuple(normalize(one.nlm_id) for one in journals)
        if not operand.quoted:
            origins = [f'"{one.abbreviation}"[{label}:__jid{one.nlm_id}]' for one in journals]
            self.found.translations.append((operand.text, " OR ".join(origins)))
        parts: list[Query] = [
            Shown(TermSet("journal", (uid,)), quote_term(normalize(one.abbreviation), label))
            for uid, one in zip(ids, journals, strict=True)
        ]
        return any_of(parts)

    def _find_identifier(self, tag: Tag, phrase: str, operand: Operand) -> Query | None:
        value = " ".join(phrase.split()).casefold()
        for prefix in _DOI_PREFIXES:
            value = value.removeprefix(prefix)
        if tag.field.code == "AUID":
            value = value.removeprefix("orcid ").rsplit("/", 1)[-1]
        leaf = Wildcard(tag.field, value) if "*" in value.lstrip("*") else TermSet(tag.field.sources[0], (value,))
        found: Query = leaf
        if tag.field.code == "ECNO" and (names := self._vocabulary.find_related(value)):
            found = Or((leaf, TermSet("substance", names)))
        return Shown(found, quote_value(phrase, tag.field.label))

    def _find_action(self, tag: Tag, phrase: str, operand: Operand) -> Query | None:
        members = self._vocabulary.find_action(normalize(phrase))
        if not members and self._vocabulary.lacks_actions:
            raise missing_actions_error(f"{phrase}[{tag.field.label}]", self._query)
        return search_action(members, quote_value(phrase, tag.field.label)) if members else None

    def _find_filter(self, tag: Tag, phrase: str, operand: Operand) -> Query | None:
        key = find_filter(normalize(phrase))
        if key in STRATEGIES and key not in self._vocabulary.filters:
            return self._search_strategy(tag, phrase, STRATEGIES[key])
        reason = None if key in self._vocabulary.filters else explain_unknowable(key)
        if reason is not None:
            raise unknowable_error(f"{phrase}[filter]", reason, self._query)
        if key in APPROXIMATE:
            self.found.limit(Fidelity.APPROXIMATE)
        return Shown(TermSet("filter", (key,)), quote_value(phrase, tag.field.label))

    def _search_strategy(self, tag: Tag, phrase: str, strategy: str) -> Query:
        """Return the query that PubMed maintains under the name of a filter; what its words map to is not reported."""
        self.found.limit(Fidelity.APPROXIMATE)
        resolver = Resolver(self._evaluator, self._vocabulary, today=self._today)
        return Shown(resolver.resolve(parse(strategy)).query or NOTHING, quote_value(phrase, tag.field.label))

    # dates and PMIDs

    def _find_date(self, tag: Tag, phrase: str, operand: Operand) -> Query | None:
        low, colon, high = phrase.partition(":")
        column = tag.field.sources[0]
        span = dates.parse_range(low, high or low)
        is_range = bool(colon)
        if span is None:
            span = dates.parse_relative_range(phrase, self._today, includes_future=column == "pdat")
            is_range = True
        return None if span is None else self._search_days(tag.field, *span, is_range=is_range)

    def _search_days(self, field: Field, low: int, high: int, *, is_range: bool) -> Query:
        column = unsettled.choose_date_column(field.sources[0], is_range=is_range)
        return Shown(Range(column, low, high), print_days(low, high, field.label))

    def _find_uids(self, tag: Tag, phrase: str, operand: Operand) -> Query | None:
        parts: list[Query] = []
        for one in re.split(r"[\s,;]+", phrase):
            low, _, high = one.partition(":")
            if not all(end.isascii() and end.isdigit() for end in (low, high or low)):
                return None
            parts.append(Shown(Range("uid", int(low), int(high or low)), f"{one}[UID]"))
        return any_of(parts)

    def _resolve_range(self, low: Operand, high: Operand) -> Unit:
        tag = parse_tag(low.tag) if low.tag else None
        if low.tag and tag is None:
            self._report_unknown_field(low.tag)
        if tag is not None and tag.field.kind == "date" and (span := dates.parse_range(low.phrase, high.phrase)):
            return Unit(self._search_days(tag.field, *span, is_range=True))
        if tag is not None and tag.field.kind == "uid":
            return self._resolve_value(tag, Operand(low.text, f"{low.phrase}:{high.phrase}", tag=low.tag))
        both = (replace(low, upper=None), high)
        return join_units([("AND", self._resolve_operand(one)) for one in both])

    _FINDERS: Final[dict[str, Callable[["Resolver", Tag, str, Operand], Query | None]]] = {
        "value": _find_plain,
        "mesh": _find_mesh,
        "name": _find_person,
        "journal": _find_journal,
        "id": _find_identifier,
        "action": _find_action,
        "date": _find_date,
        "uid": _find_uids,
        "filter": _find_filter,
    }


def split_pattern(text: str) -> list[str]:
    """Return the folded words of a term; ``*`` is kept after the fourth character of a word and dropped before it."""
    found = []
    for word in _PATTERN.findall(fold(text)):
        stem = word.partition("*")[0]
        pattern = re.sub(r"\*+", "*", word) if len(stem) >= unsettled.SHORTEST_STEM else word.replace("*", "")
        if pattern:
            found.append(pattern)
    return found


def print_words(text: str) -> str:
    """Return a tagged term as PubMed prints it: as typed, with spaces instead of punctuation."""
    return " ".join(_PUNCTUATION.sub(" ", text).split())
