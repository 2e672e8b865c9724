"""Run a query on a database of a few records. Only the fields and the words are other than those of PubMed."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from entrez_kit.local.eutils.database import BadRequest, Database, SearchCall, SearchOutcome
from entrez_kit.query.algebra import HistorySet, Leaf, Shown
from entrez_kit.query.evaluate import combine_sets
from entrez_kit.query.fields import Field
from entrez_kit.query.lexer import NCBI_MESSAGES
from entrez_kit.query.parser import Operand, fold_tree, parse
from entrez_kit.query.printing import print_query
from entrez_kit.query.units import Report, Unit, join_units
from entrez_kit.query.words import STOP_WORDS, normalize

Values = Mapping[str, Sequence[str]]
"""The values of a record by the code of the field."""
Uids = frozenset[str]


def has_value(field: Field, values: Sequence[str], text: str) -> bool:
    """Return whether one of the values of a record matches the text; a trailing ``*`` truncates.

    Identifiers are compared unchanged, text as words and phrases, and all other values as a whole.
    """
    if field.kind == "uid":
        return text.strip() in values
    wanted, stem = normalize(text), text.rstrip().endswith("*")
    if field.kind == "text":
        phrase = f" {wanted}" if stem else f" {wanted} "
        return bool(wanted) and any(phrase in f" {normalize(value)} " for value in values)
    return any(normalize(value) == wanted or (stem and normalize(value).startswith(wanted)) for value in values)


class SmallQuery:
    """One query on a few records. A database with special terms overrides ``match_name`` and ``find_records``.

    Args:
        records: the values of each record in each field, in the order of the results.
        fields: the search fields; the first one is for words without a tag.
    """

    def __init__(self, records: Mapping[str, Values], fields: Sequence[Field]) -> None:
        self.records = records
        self.fields = fields
        self.by_tag = {tag: field for field in fields for tag in field.tags}
        self._leaves: list[Uids] = []
        self._resolved = Report()
        self._history: Callable[[int], Sequence[str] | None] = lambda number: None
        self._default: str | None = None

    def run(self, request: SearchCall) -> SearchOutcome:
        """Evaluate a query.

        Raises:
            BadRequest: the query names a history set that does not exist.
        """
        self._history, self._default = request.history, request.field
        syntax = parse(request.term)
        query = fold_tree(syntax.root, self._resolve_operand, lambda parts, _: join_units(parts)).query
        found: Uids = frozenset() if query is None else combine_sets(query, self._find_leaf)
        messages = [repair.message for repair in syntax.repairs if repair.code in NCBI_MESSAGES]
        translation = "" if query is None else print_query(query)
        return SearchOutcome(self.sort_ids(found), translation, replace(self._resolved, messages=messages))

    def sort_ids(self, found: Uids) -> list[str]:
        """Return ids in the order of results."""
        return [uid for uid in self.records if uid in found]

    def count_values(self, field: Field) -> int:
        """Count the different values of a field."""
        return len({value for values in self.records.values() for value in values.get(field.code, ())})

    def _add_leaf(self, found: Uids, text: str) -> Unit:
        """Return a part of the query: its records have a number, as those of an earlier search have in PubMed."""
        self._leaves.append(found)
        return Unit(Shown(HistorySet(len(self._leaves) - 1), text))

    def _find_leaf(self, leaf: Leaf) -> Uids:
        return self._leaves[leaf.number] if isinstance(leaf, HistorySet) else frozenset(self.records)

    def _resolve_operand(self, operand: Operand) -> Unit:
        tag = operand.tag or self._default
        phrase = operand.phrase
        if tag is None:
            return self._resolve_untagged(phrase, operand.quoted)
        name = " ".join(tag.lower().split())
        explodes = not name.endswith(":noexp")
        field = self.by_tag.get(name.removesuffix(":noexp").removesuffix(":exp").strip())
        if field is None:
            self._resolved.fields_not_found.append(tag)
            return self._resolve_untagged(phrase, operand.quoted)
        found = self.find_records(field, phrase, explodes=explodes)
        translation = f'"{phrase}"[{field.label}]' if operand.quoted else f"{phrase}[{field.label}]"
        if not found and operand.quoted:
            self._resolved.quoted_not_found.append(translation)
        elif not found:
            self._resolved.phrases_not_found.append(f"{phrase}[{tag}]")
        return self._add_leaf(found, translation)

    def _resolve_untagged(self, phrase: str, quoted: bool) -> Unit:
        first = self.fields[0]
        if quoted:
            found = self.find_records(first, phrase)
            if found:
                return self._add_leaf(found, f'"{phrase}"[{first.label}]')
            self._resolved.quoted_not_found.append(f'"{phrase}"')
        run = [phrase] if first.kind != "text" else phrase.split()
        parts: list[tuple[str, Unit]] = []
        position = 0
        while position < len(run):
            length, part = self._match_next(run, position)
            parts.append(("AND", part))
            position += length
        return Unit(join_units(parts).query, is_loose=len(parts) > 1)

    def _match_next(self, run: Sequence[str], position: int) -> tuple[int, Unit]:
        """Match words from this position; return the number of words and their part of the query."""
        word = run[position]
        if word.startswith("#") and word[1:].isascii() and word[1:].isdigit():
            stored_ids = self._history(int(word[1:]))
            if stored_ids is None:
                raise BadRequest(f"Unable to obtain query {word}")
            return 1, self._add_leaf(frozenset(uid for uid in stored_ids if uid in self.records), word)
        special_term = self.match_name(run, position)
        if special_term is not None:
            length, found, translation = special_term
            self._resolved.translations.append((" ".join(run[position : position + length]), translation))
            return length, self._add_leaf(found, f"({translation})")
        if word.lower() in STOP_WORDS and len(run) > 1:
            return 1, Unit(None)
        found = self.find_records(self.fields[0], word)
        if not found:
            self._resolved.phrases_not_found.append(word)
        return 1, self._add_leaf(found, f"{word}[{self.fields[0].label}]")

    def match_name(self, run: Sequence[str], position: int) -> tuple[int, Uids, str] | None:
        """Match words from this position to a special term; return their number, the records and the translation."""
        return None

    def find_records(self, field: Field, text: str, *, explodes: bool = True) -> Uids:
        """Return the records that have a value in a field; in a tree, ``explodes`` includes the narrower terms."""
        return frozenset(
            uid for uid, values in self.records.items() if has_value(field, values.get(field.code, ()), text)
        )


Record = TypeVar("Record")


class SmallDatabase(Database, Generic[Record]):
    """A database with few records; each search scans all of them."""

    @property
    @abstractmethod
    def records(self) -> Mapping[str, Record]:
        """The records by UID."""

    @property
    def count(self) -> int:
        """Number of records."""
        return len(self.records)

    def find(self, uid: str) -> Record | None:
        """Return a record; None if the id is unknown or not valid."""
        canonical = self.to_canonical(uid)
        return None if canonical is None else self.records.get(canonical)

    def find_all(self, uids: Sequence[str]) -> list[Record]:
        """Return the known ones of some records.

        Raises:
            BadRequest: no id is valid.
        """
        self.to_canonical_ids(uids)  # raises BadRequest if no id is valid
        return [record for uid in uids if (record := self.find(uid)) is not None]

    @abstractmethod
    def build_query(self) -> SmallQuery:
        """Return a query that searches the records."""

    def search(self, request: SearchCall) -> SearchOutcome:
        """Find records by the fields of the database."""
        return self.build_query().run(request)

    def list_fields(self) -> Sequence[tuple[Field, int]]:
        """Return the search fields that EInfo lists, with their numbers of terms."""
        query = self.build_query()
        return [(field, query.count_values(field)) for field in query.fields]
