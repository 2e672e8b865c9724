"""MeSH for searches: headings with their trees, subheadings, substances and pharmacological actions.

A vocabulary may be incomplete, such as that of the demo. Names that it does not know are looked up in the index,
without narrower terms.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any

from entrez_kit.query.words import normalize


@dataclass(frozen=True, slots=True)
class Heading:
    """A MeSH heading, a publication type (tree V) or a subheading, with its places in the tree.

    ``related_numbers`` are the registry and EC numbers of narrower substances that have no heading.
    """

    name: str
    tree_numbers: tuple[str, ...] = ()
    entry_terms: tuple[str, ...] = ()
    abbreviation: str = ""
    related_numbers: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The normalized name, as in an index."""
        return normalize(self.name)


@dataclass(frozen=True, slots=True)
class Substance:
    """A supplementary concept record."""

    name: str
    synonyms: tuple[str, ...] = ()
    related_numbers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Journal:
    """A journal of NLM's catalog; ``other_titles`` include the former ones."""

    nlm_id: str
    abbreviation: str
    title: str = ""
    issns: tuple[str, ...] = ()
    other_titles: tuple[str, ...] = ()

    @property
    def keys(self) -> set[str]:
        """The normalized names of the journal."""
        names = (self.abbreviation, self.title, *self.issns, *self.other_titles, self.nlm_id)
        return {normalize(name) for name in names if name}


class Tree:
    """Headings by name and by place in the tree."""

    def __init__(self, headings: Iterable[Heading]) -> None:
        self.headings = tuple(headings)

    @property
    def is_empty(self) -> bool:
        """Whether no file of MeSH was read."""
        return not self.headings

    @cached_property
    def _by_key(self) -> dict[str, Heading]:
        by_key: dict[str, Heading] = {}
        for heading in self.headings:
            by_key[heading.key] = heading
        for heading in self.headings:
            for name in (*heading.entry_terms, heading.abbreviation):
                if key := normalize(name):
                    by_key.setdefault(key, heading)
        return by_key

    @cached_property
    def _places(self) -> list[tuple[str, Heading]]:
        return sorted(((tree, heading) for heading in self.headings for tree in heading.tree_numbers), key=_get_tree)

    def find(self, key: str) -> Heading | None:
        """Return the heading with this normalized name or entry term."""
        return self._by_key.get(key)

    def explode(self, heading: Heading) -> tuple[str, ...]:
        """Return the normalized names of a heading and of all headings below any of its places in the tree."""
        keys = {heading.key: None}
        for tree in heading.tree_numbers:
            index = bisect_left(self._places, tree, key=_get_tree)
            while index < len(self._places) and self._places[index][0].startswith(tree):
                below, other = self._places[index]
                if below == tree or below[len(tree)] == ".":
                    keys[other.key] = None
                index += 1
        return tuple(keys)


def _get_tree(entry: tuple[str, Heading]) -> str:
    return entry[0]


class Vocabulary:
    """The controlled vocabulary of searches.

    Args:
        headings: the descriptors, publication types included.
        subheadings: the qualifiers.
        substances: the supplementary concepts.
        actions: the names of headings and substances by pharmacological action.
        journals: the journals of NLM's catalog.
        filters: filters whose records the index knows although no record names them, such as "free full text".
    """

    lacks_actions: bool = False
    """Whether a search by pharmacological action is an error, because no file of them was read."""

    def __init__(
        self,
        headings: Iterable[Heading] = (),
        subheadings: Iterable[Heading] = (),
        substances: Iterable[Substance] = (),
        actions: Mapping[str, Sequence[str]] | None = None,
        journals: Iterable[Journal] = (),
        filters: Iterable[str] = (),
    ) -> None:
        self.headings = Tree(headings)
        self.subheadings = Tree(subheadings)
        self.filters = frozenset(filters)
        self._substances = tuple(substances)
        self._journals = tuple(journals)
        self._actions = {normalize(name): tuple(map(normalize, members)) for name, members in (actions or {}).items()}

    @cached_property
    def _by_substance(self) -> dict[str, Substance]:
        by_name = {normalize(substance.name): substance for substance in self._substances}
        for substance in self._substances:
            for synonym in substance.synonyms:
                by_name.setdefault(normalize(synonym), substance)
        return by_name

    @cached_property
    def _by_journal(self) -> dict[str, list[Journal]]:
        by_key: dict[str, list[Journal]] = {}
        for journal in self._journals:
            for key in journal.keys:
                by_key.setdefault(key, []).append(journal)
        return by_key

    def find_substance(self, key: str) -> Substance | None:
        """Return the substance with this normalized name or synonym."""
        return self._by_substance.get(key)

    @cached_property
    def _by_number(self) -> dict[str, list[str]]:
        by_number: dict[str, list[str]] = {}
        listed = [(heading.name, heading.related_numbers) for heading in self.headings.headings]
        listed += [(substance.name, substance.related_numbers) for substance in self._substances]
        for name, numbers in listed:
            for number in numbers:
                by_number.setdefault(number.casefold(), []).append(normalize(name))
        return by_number

    def find_related(self, number: str) -> tuple[str, ...]:
        """Return the normalized names of the headings and substances that list a number as related."""
        return tuple(self._by_number.get(number, ()))

    def find_journals(self, key: str) -> Sequence[Journal]:
        """Return the journals with this normalized title, abbreviation, ISSN or identifier."""
        return self._by_journal.get(key, ())

    def find_action(self, key: str) -> tuple[str, ...]:
        """Return the normalized names of the headings and substances with a pharmacological action."""
        return self._actions.get(key, ())


def rotate(key: str) -> Iterator[str]:
    """Yield the inverted forms of a name: "rheumatoid arthritis" as "arthritis rheumatoid"."""
    split = key.split()
    for cut in range(1, len(split)):
        yield " ".join(split[cut:] + split[:cut])


# NLM's XML files: desc, qual, supp and pa


def read_mesh_file(file: IO[bytes]) -> Iterator[Heading]:
    """Read the descriptors of a ``desc`` file or the qualifiers of a ``qual`` file."""
    for kind, record in read_mesh_records(file, ("DescriptorRecord", "QualifierRecord")):
        name = record.findtext(f"{kind}Name/String") or ""
        terms = [element.text or "" for element in record.iterfind("ConceptList/Concept/TermList/Term/String")]
        yield Heading(
            name,
            tuple(element.text or "" for element in record.iterfind("TreeNumberList/TreeNumber")),
            tuple(dict.fromkeys(term for term in terms if term != name)),
            next(
                (element.text or "" for element in record.iterfind("ConceptList/Concept/TermList/Term/Abbreviation")),
                "",
            ),
            read_related_numbers(record),
        )


def read_related_numbers(record: Any) -> tuple[str, ...]:
    """Return the related numbers without the names in parentheses behind them."""
    listed = record.iterfind("ConceptList/Concept/RelatedRegistryNumberList/RelatedRegistryNumber")
    return tuple(
        dict.fromkeys(number for element in listed if (number := (element.text or "").partition(" (")[0].strip()))
    )


def read_mesh_records(file: IO[bytes], tags: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield the records of a large file with their kinds, and free the memory of each record afterwards."""
    from lxml import etree

    for _, record in etree.iterparse(file, tag=tags, no_network=True, load_dtd=False, resolve_entities=False):
        yield record.tag.removesuffix("Record"), record
        record.clear()
        while record.getprevious() is not None:
            del record.getparent()[0]
