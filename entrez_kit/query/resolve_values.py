"""Resolve fields with whole values: headings, names, journals, identifiers, filters, dates and PMIDs."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Final

from entrez_kit.base.identifiers import normalize_doi
from entrez_kit.query import dates, unsettled
from entrez_kit.query.algebra import Or, Query, Range, Shown, TermSet, Wildcard
from entrez_kit.query.evaluate import Evaluator
from entrez_kit.query.fields import BY_CODE, LANGUAGES, Field, Tag
from entrez_kit.query.filters import (
    APPROXIMATE,
    KNOWN,
    STRATEGIES,
    explain_unknowable,
    find_filter,
    missing_actions_error,
    unknowable_error,
)
from entrez_kit.query.mapping import find_unlisted_heading, match_any, search_action, search_substance
from entrez_kit.query.mesh import Tree, Vocabulary
from entrez_kit.query.names import find_names
from entrez_kit.query.parser import Operand
from entrez_kit.query.printing import print_days, print_field_value, quote_term
from entrez_kit.query.record_terms import FULL
from entrez_kit.query.units import Fidelity, Report, Unit
from entrez_kit.query.words import normalize, split_pattern

_TYPE_SYNONYMS: Final = {
    "rct": "randomized controlled trial",
    "meta analyses": "meta analysis",
    "reviews": "review",
}
"""Entry terms of publication types, for vocabularies without publication types."""


class ValueFinder:
    """Finds the values of a query in an index and a vocabulary.

    Args:
        evaluator: evaluates leaves, to find out whether any record has a value.
        vocabulary: the controlled vocabulary.
        query: the text of the query, for errors.
        today: the last day of a relative range such as "last 5 years".
        resolve_strategy: resolves the query that PubMed maintains under the name of a filter.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        vocabulary: Vocabulary,
        query: str,
        today: date,
        resolve_strategy: Callable[[str], Query],
    ) -> None:
        self._evaluator = evaluator
        self._index = evaluator.index
        self._vocabulary = vocabulary
        self._query = query
        self._today = today
        self._resolve_strategy = resolve_strategy

    def find(self, tag: Tag, phrase: str, operand: Operand) -> Unit | None:
        """Return the search for a value; None if the value does not exist.

        Args:
            tag: the field of the value.
            phrase: the value, which is the phrase of the operand or the end of it.
            operand: the operand.

        Raises:
            InvalidInput: no copy of PubMed can answer the search.
        """
        field = tag.field
        if field.kind not in ("date", "uid", "filter", "id") and "*" in phrase:
            value: Unit | None = _search_pattern(field, phrase)
        else:
            value = self._FINDERS[field.kind](self, tag, phrase, operand)
        if value is None or value.query is None:
            return None
        return value if self._evaluator.evaluate(value.query) or self._is_known(field, phrase) else None

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

    def _find_plain(self, tag: Tag, phrase: str, operand: Operand) -> Unit | None:
        field, key = tag.field, normalize(phrase)
        if field.code == "LANG":
            key = LANGUAGES.get(key, key)
        if field.code == "SUBS" and (substance := self._vocabulary.find_substance(key)) is not None:
            query = search_substance(substance.name)
            is_renamed = normalize(substance.name) != key
            return Unit(query, report=Report(translations=[(operand.text, query.text)] if is_renamed else []))
        return Unit(Shown(TermSet(field.sources[0], (key,)), print_field_value(phrase, field.label)))

    # headings

    def _find_mesh(self, tag: Tag, phrase: str, operand: Operand) -> Unit | None:
        field, source = tag.field, tag.field.sources[0]
        if "/" in phrase and field.code in ("MESH", "MAJR"):
            return self.find_pair(field, phrase, explodes=tag.explodes)
        key = normalize(phrase)
        if field.code == "PTYP":
            key = _TYPE_SYNONYMS.get(key, key)
        headings = self._find_headings(self._get_tree(field), source, key, explodes=tag.explodes)
        if headings is None:
            return None
        label = field.label if tag.explodes else f"{field.label}:noexp"
        query = Shown(TermSet(source, headings.keys), quote_term(headings.name.lower(), label))
        is_renamed = normalize(headings.name) not in (key, normalize(phrase))
        translations = [(operand.text, query.text)] if is_renamed else []
        return Unit(query, report=Report(translations=translations, lacks_tree=headings.lacks_tree))

    def find_pair(self, field: Field, phrase: str, *, explodes: bool) -> Unit | None:
        """Return the search for a heading with a subheading; both include narrower ones."""
        first, _, second = (part.strip() for part in phrase.partition("/"))
        source = field.sources[0]
        heading = self._find_headings(self._vocabulary.headings, "mesh", normalize(first), explodes=explodes)
        subheading = self._find_headings(
            self._vocabulary.subheadings, "subheading", normalize(second), explodes=explodes
        )
        if heading is None or subheading is None:
            return None
        values = tuple(f"{key}/{subkey}" for key in heading.keys for subkey in subheading.keys)
        label = field.label if explodes else f"{field.label}:noexp"
        shown = quote_term(f"{heading.name}/{subheading.name}".lower(), label)
        report = Report(lacks_tree=heading.lacks_tree or subheading.lacks_tree)
        return Unit(Shown(TermSet(f"{source}_pair", values), shown), report=report)

    def _get_tree(self, field: Field) -> Tree:
        return self._vocabulary.subheadings if field.code == "SUBH" else self._vocabulary.headings

    def _find_headings(self, tree: Tree, source: str, key: str, *, explodes: bool) -> "_FoundHeadings | None":
        """Return a heading and all narrower ones."""
        heading = tree.find(key)
        if heading is not None:
            return _FoundHeadings(heading.name, tree.explode(heading) if explodes else (heading.key,))
        unlisted = find_unlisted_heading(key, self._index, source)
        return None if unlisted is None else _FoundHeadings(unlisted, (unlisted,), lacks_tree=explodes)

    # names, journals and identifiers

    def _find_person(self, tag: Tag, phrase: str, operand: Operand) -> Unit | None:
        field, source = tag.field, tag.field.sources[0]
        names = find_names(self._index, source, phrase, quoted=operand.quoted)
        shown = " ".join(phrase.lower().split())
        if field.code in ("FULL", "FINV"):
            values = names.full or (names.short if " " not in normalize(phrase) else ())
            text = quote_term(shown, field.label) if operand.quoted else f"{shown}[{field.label}]"
            return Unit(Shown(TermSet(source, values), text))
        if operand.quoted:
            return Unit(Shown(TermSet(source, names.all), quote_term(shown, field.label)))
        if not names.full:
            return Unit(Shown(TermSet(source, names.short), f"{shown}[{field.label}]"))
        surname, _, given = names.full[0].removeprefix(FULL).partition(" ")
        short = [f"{shown}[{field.label}]"] if names.short else []
        pieces = [f"{surname}, {given}[{field.label}]", *short]
        origins = [f"{surname.title()}, {given.title()}[{BY_CODE['FULL'].label}]", *short]
        report = Report(translations=[(operand.text, " OR ".join(origins))])
        return Unit(Shown(TermSet(source, names.all), " OR ".join(pieces)), report=report)

    def _find_journal(self, tag: Tag, phrase: str, operand: Operand) -> Unit | None:
        label = tag.field.label
        key = normalize(phrase.replace("&", " "))
        journals = self._vocabulary.find_journals(key)
        if operand.quoted:
            journals = [journal for journal in journals if normalize(journal.abbreviation) == key] or journals
        if not journals:
            return Unit(Shown(TermSet("journal", (key,)), print_field_value(phrase, label)))
        report = Report()
        if not operand.quoted:
            origins = [f'"{journal.abbreviation}"[{label}:__jid{journal.nlm_id}]' for journal in journals]
            report.translations.append((operand.text, " OR ".join(origins)))
        queries: list[Query] = [
            Shown(TermSet("journal", (normalize(journal.nlm_id),)), quote_term(normalize(journal.abbreviation), label))
            for journal in journals
        ]
        return Unit(match_any(queries), report=report)

    def _find_identifier(self, tag: Tag, phrase: str, operand: Operand) -> Unit | None:
        value = normalize_doi(" ".join(phrase.split()).casefold())
        if tag.field.code == "AUID":
            value = value.removeprefix("orcid ").rsplit("/", 1)[-1]
        leaf = Wildcard(tag.field, value) if "*" in value.lstrip("*") else TermSet(tag.field.sources[0], (value,))
        query: Query = leaf
        if tag.field.code == "ECNO" and (names := self._vocabulary.find_related(value)):
            query = Or((leaf, TermSet("substance", names)))
        return Unit(Shown(query, print_field_value(phrase, tag.field.label)))

    # actions and filters

    def _find_action(self, tag: Tag, phrase: str, operand: Operand) -> Unit | None:
        members = self._vocabulary.find_action(normalize(phrase))
        if not members and self._vocabulary.lacks_actions:
            raise missing_actions_error(f"{phrase}[{tag.field.label}]", self._query)
        return Unit(search_action(members, print_field_value(phrase, tag.field.label))) if members else None

    def _find_filter(self, tag: Tag, phrase: str, operand: Operand) -> Unit | None:
        key = find_filter(normalize(phrase))
        shown = print_field_value(phrase, tag.field.label)
        if key in STRATEGIES and key not in self._vocabulary.filters:
            query = Shown(self._resolve_strategy(STRATEGIES[key]), shown)
            return Unit(query, report=Report(Fidelity.APPROXIMATE))
        reason = None if key in self._vocabulary.filters else explain_unknowable(key)
        if reason is not None:
            raise unknowable_error(f"{phrase}[filter]", reason, self._query)
        fidelity = Fidelity.APPROXIMATE if key in APPROXIMATE else Fidelity.EXACT
        return Unit(Shown(TermSet("filter", (key,)), shown), report=Report(fidelity))

    # dates and PMIDs

    def _find_date(self, tag: Tag, phrase: str, operand: Operand) -> Unit | None:
        low, colon, high = phrase.partition(":")
        column = tag.field.sources[0]
        span = dates.parse_range(low, high or low)
        is_range = bool(colon)
        if span is None:
            span = dates.parse_relative_range(phrase, self._today, includes_future=column == "pdat")
            is_range = True
        return None if span is None else Unit(search_days(tag.field, *span, is_range=is_range))

    def _find_uids(self, tag: Tag, phrase: str, operand: Operand) -> Unit | None:
        queries: list[Query] = []
        for text in re.split(r"[\s,;]+", phrase):
            low, _, high = text.partition(":")
            if not all(end.isascii() and end.isdigit() for end in (low, high or low)):
                return None
            queries.append(Shown(Range("uid", int(low), int(high or low)), f"{text}[UID]"))
        return Unit(match_any(queries))

    _FINDERS: Final[dict[str, Callable[["ValueFinder", Tag, str, Operand], Unit | None]]] = {
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


@dataclass(frozen=True, slots=True)
class _FoundHeadings:
    """A heading and the normalized names of it and of all narrower ones.

    ``lacks_tree`` is true if narrower ones are wanted and only the records have the heading, not the vocabulary.
    """

    name: str
    keys: tuple[str, ...]
    lacks_tree: bool = False


def _search_pattern(field: Field, phrase: str) -> Unit:
    """Return the search for a value with ``*``."""
    pattern = " ".join(split_pattern(phrase))
    leaf = Wildcard(field, pattern) if "*" in pattern else TermSet(field.sources[0], (pattern,))
    return Unit(Shown(leaf, print_field_value(phrase, field.label)))


def search_days(field: Field, low: int, high: int, *, is_range: bool) -> Query:
    """Return the search for a range of days."""
    column = unsettled.choose_date_column(field.sources[0], is_range=is_range)
    return Shown(Range(column, low, high), print_days(low, high, field.label))
