"""Evaluate the meaning of a line on an index, independent of its translation to PubMed.

A translation is proven by comparing the two sets of records, so this module uses nothing of the translator. Only a part
that a reader wrote in PubMed's language, such as ``humans[mh]`` for a limit, is searched as a query.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import product
from operator import and_
from typing import TYPE_CHECKING, Final

from pyroaring import BitMap

from entrez_kit.query.dialects.notes import CannotExpressError
from entrez_kit.query.dialects.qualifiers import MERGED
from entrez_kit.query.dialects.renamed_headings import RENAMED
from entrez_kit.query.dialects.service_fields import list_sources
from entrez_kit.query.dialects.tree import (
    AllOf,
    AnyOf,
    DayRange,
    Exclude,
    LineReference,
    Near,
    Node,
    PubMedQuery,
    SubjectHeading,
    Unknown,
    Value,
    WordPatterns,
    compile_pattern,
    get_stem,
    has_marks,
    walk,
)
from entrez_kit.query.fields import LANGUAGES
from entrez_kit.query.mesh import Tree, Vocabulary
from entrez_kit.query.record_terms import FULL
from entrez_kit.query.search import search
from entrez_kit.query.words import normalize

if TYPE_CHECKING:
    from entrez_kit.query.segments.search_index import SearchIndex

_OVID_WORDS: Final = (
    "an and are as at be because been but by for from had has have if in into is it its of on or that the their then "
    "there these they this to was were which with"
)
OVID_STOP_WORDS: Final = tuple(_OVID_WORDS.split())
"""Words that Ovid does not count between the words of a proximity search."""
_COLUMNS: Final = {"year": "pdat_single", "entry": "mhda", "change": "mdat"}
_MAX_SPANS: Final = 2_000
Span = tuple[int, int, frozenset[int]]
"""The first and the last position of a match, and the positions of its words."""


def evaluate_meaning(
    node: Node,
    index: "SearchIndex",
    vocabulary: Vocabulary | None = None,
    lines: Mapping[int, BitMap] | None = None,
) -> BitMap:
    """Return the records that a line finds at the service that it was written for.

    Args:
        node: the meaning of the line.
        index: the index of the records.
        vocabulary: MeSH.
        lines: the records of other lines, by number.

    Raises:
        CannotExpressError: the records do not have what the line searches.
    """
    return _Evaluator(index, vocabulary or Vocabulary(), lines or {}).evaluate(node)


class _Evaluator:
    def __init__(self, index: "SearchIndex", vocabulary: Vocabulary, lines: Mapping[int, BitMap]) -> None:
        self._index, self._vocabulary, self._lines = index, vocabulary, lines
        self._expanded: dict[tuple[str, str], list[str]] = {}

    def evaluate(self, node: Node) -> BitMap:
        if isinstance(node, AnyOf):
            return BitMap.union(BitMap(), *(self.evaluate(part) for part in node.parts))
        if isinstance(node, AllOf):
            return reduce(and_, (self.evaluate(part) for part in node.parts))
        if isinstance(node, Exclude):
            return self.evaluate(node.left) - self.evaluate(node.right)
        if isinstance(node, WordPatterns | Near):
            return self._find_text(node)
        if isinstance(node, DayRange):
            return self._index.find_range(_COLUMNS[node.clock], node.low, node.high)
        if isinstance(node, LineReference):
            return self._lines[node.number]
        if isinstance(node, PubMedQuery):
            return self._search_query(node.query)
        if isinstance(node, SubjectHeading):
            return self._find_heading(node)
        if isinstance(node, Value):
            return self._find_value(node)
        assert isinstance(node, Unknown)
        raise CannotExpressError(node.reason)

    def _search_query(self, query: str) -> BitMap:
        return search(query, self._index, self._vocabulary, history=lambda number: self._lines[number]).records

    # headings and values

    def _find_heading(self, node: SubjectHeading) -> BitMap:
        if node.vocabulary != "mesh":
            raise CannotExpressError(f"the records have no headings of {node.vocabulary}")
        names = [node.name, RENAMED.get(node.name.lower(), node.name)]
        headings = self._list_names(self._vocabulary.headings, names, explodes=node.explodes)
        source = "majr" if node.major else "mesh"
        if not node.qualifiers:
            return self._index.find_any_value(source, headings)
        qualifiers = [normalize(MERGED.get(name, name)) for name in node.qualifiers]
        pairs = [f"{heading}/{qualifier}" for heading in headings for qualifier in qualifiers]
        return self._index.find_any_value(f"{source}_pair", pairs)

    def _list_names(self, tree: Tree, names: Sequence[str], *, explodes: bool) -> Sequence[str]:
        """Return the normalized names of a heading and of those below it; its name alone if MeSH does not have it."""
        for name in names:
            heading = tree.find(normalize(name))
            if heading is not None:
                return tree.explode(heading) if explodes else [heading.key]
        return [normalize(names[-1])]

    def _find_value(self, node: Value) -> BitMap:
        index, key = self._index, normalize(node.text)
        match node.code:
            case "PTYP" | "PTYP=":
                explodes = node.code == "PTYP"
                return index.find_any_value(
                    "ptype", self._list_names(self._vocabulary.headings, [node.text], explodes=explodes)
                )
            case "SUBH" | "SUBH+":
                explodes = node.code == "SUBH+"
                return index.find_any_value(
                    "subheading", self._list_names(self._vocabulary.subheadings, [node.text], explodes=explodes)
                )
            case "LANG":
                return index.find_value("language", LANGUAGES.get(key, key))
            case "AUTH":
                if not node.text.endswith("*"):
                    return index.find_value("author", key)
                known = index.list_values("author", key)
                return index.find_any_value("author", [name for name in known if not name.startswith(FULL)])
            case "JOUR" | "ISSN":
                journals = self._vocabulary.find_journals(key)
                keys = {name for journal in journals for name in journal.keys} or {key}
                return index.find_any_value("journal", keys)
            case "UID":
                number = int(node.text) if node.text.isascii() and node.text.isdigit() else 0
                return index.find_range("uid", number, number)
            case "ECNO":
                return index.find_value("registry", node.text.casefold())
            case "SUBS":
                substance = self._vocabulary.find_substance(key)
                return index.find_value("substance", key if substance is None else normalize(substance.name))
            case _:
                raise CannotExpressError(f"the records do not have {node.text!r}")

    # words

    def _find_text(self, node: WordPatterns | Near) -> BitMap:
        leaf = next(part for part in walk(node) if isinstance(part, WordPatterns))
        assert leaf.scope is not None, "the parser sets the scope of every word"
        return BitMap.union(BitMap(), *(self._find_in(node, source) for source in list_sources(leaf.scope)))

    def _find_in(self, node: Node, source: str) -> BitMap:
        if source == "country":
            return self._find_country(node)
        candidates = self._find_candidates(node, source)
        if isinstance(node, WordPatterns) and len(node.patterns) == 1:
            return candidates
        if not candidates:
            return candidates
        patterns = dict.fromkeys(
            pattern for part in walk(node) if isinstance(part, WordPatterns) for pattern in part.patterns
        )
        skips = any(isinstance(part, Near) and part.skips for part in walk(node))
        words = dict.fromkeys(word for pattern in patterns for word in self._expand_pattern(source, pattern))
        listed = list(dict.fromkeys([*words, *(OVID_STOP_WORDS if skips else ())]))
        records = BitMap()
        for record, places in self._index.read_positions(source, listed, candidates):
            known = dict(zip(listed, places, strict=True))
            by_pattern = {
                pattern: sorted({place for word in self._expand_pattern(source, pattern) for place in known[word]})
                for pattern in patterns
            }
            stops = sorted({place for word in OVID_STOP_WORDS for place in known[word]}) if skips else []
            if next(_list_spans(node, by_pattern, stops), None) is not None:
                records.add(record)
        return records

    def _find_country(self, node: Node) -> BitMap:
        """Return the records with words in the place of publication, which is stored as a value."""
        patterns = [pattern for part in walk(node) if isinstance(part, WordPatterns) for pattern in part.patterns]
        matching = []
        for value in self._index.list_values("country"):
            places = {
                pattern: [place for place, word in enumerate(value.split()) if compile_pattern(pattern).fullmatch(word)]
                for pattern in patterns
            }
            if next(_list_spans(node, places, ()), None) is not None:
                matching.append(value)
        return self._index.find_any_value("country", matching)

    def _find_candidates(self, node: Node, source: str) -> BitMap:
        if isinstance(node, AnyOf):
            return BitMap.union(BitMap(), *(self._find_candidates(part, source) for part in node.parts))
        if isinstance(node, Near):
            return self._find_candidates(node.left, source) & self._find_candidates(node.right, source)
        assert isinstance(node, WordPatterns)
        return reduce(and_, (self._find_pattern(source, pattern) for pattern in node.patterns))

    def _find_pattern(self, source: str, pattern: str) -> BitMap:
        return BitMap.union(
            BitMap(), *(self._index.find_word(source, word) for word in self._expand_pattern(source, pattern))
        )

    def _expand_pattern(self, source: str, pattern: str) -> list[str]:
        if not has_marks(pattern):
            return [pattern]
        known = self._expanded.get((source, pattern))
        if known is None:
            matches: Callable[[str], object] = compile_pattern(pattern).fullmatch
            known = [word for word in self._index.list_words(source, get_stem(pattern)) if matches(word)]
            self._expanded[source, pattern] = known
        return known


def _list_spans(node: Node, places: Mapping[str, Sequence[int]], stops: Sequence[int]) -> Iterator[Span]:
    """Yield the matches of words or of a proximity search in one word list of a record."""
    if isinstance(node, AnyOf):
        for part in node.parts:
            yield from _list_spans(part, places, stops)
    elif isinstance(node, WordPatterns):
        later = [frozenset(places[pattern]) for pattern in node.patterns[1:]]
        for first in places[node.patterns[0]]:
            if all(first + offset in there for offset, there in enumerate(later, start=1)):
                last = first + len(later)
                yield first, last, frozenset(range(first, last + 1))
    elif isinstance(node, Near):
        lefts = [span for span, _ in zip(_list_spans(node.left, places, stops), range(_MAX_SPANS), strict=False)]
        rights = [span for span, _ in zip(_list_spans(node.right, places, stops), range(_MAX_SPANS), strict=False)]
        for left, right in product(lefts, rights):
            if left[2] & right[2]:
                continue
            if node.ordered and left[1] >= right[0]:
                continue
            low, high = min(left[1], right[1]), max(left[0], right[0])
            gap = max(high - low - 1, 0)
            if node.skips:
                gap -= sum(low < stop < high for stop in stops)
            if gap <= node.distance:
                yield min(left[0], right[0]), max(left[1], right[1]), left[2] | right[2]
