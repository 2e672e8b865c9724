"""Records with the words of strategies, to compare the meaning of a line with the results of its translation."""

import random
from collections.abc import Iterable

from terms_index import index_terms

from entrez_kit.query.dialects.tree import (
    AnyOf,
    Near,
    Node,
    SubjectHeading,
    Value,
    WordPatterns,
    get_stem,
    has_marks,
    list_children,
    walk,
)
from entrez_kit.query.record_terms import RecordTerms
from entrez_kit.query.segments.search_index import SearchIndex
from entrez_kit.query.words import STOP_WORDS
from entrez_kit.strategies.strategy import Strategy

FILLERS = ("zebra", "quartz", "violin", "harbor", "lantern")
ENDINGS = ("", "s", "ed", "ing", "ation", "x", "ical")
STOPS = ("of", "the", "and")
PLACES = ("title", "abstract", "keyword", "vernacular", "mesh", "substance", "ptype")


def index_texts(texts: Iterable[str], source: str = "title") -> SearchIndex:
    """Return an index of records with one text each."""
    records = []
    for number, text in enumerate(texts):
        terms = RecordTerms()
        terms.add_text(source, text)
        terms.add_number("uid", number + 1)
        records.append(terms)
    return index_terms(records)


def make_word(pattern: str, chance: random.Random) -> str:
    """Return a word that often matches a pattern."""
    if not has_marks(pattern):
        return pattern
    word = get_stem(pattern)
    rest = pattern[len(word) :]
    while rest:
        mark, rest = (rest[:3], rest[3:]) if rest[0] == "<" else (rest[0], rest[1:])
        if mark == "#":
            word += chance.choice("aeisz9")
        elif mark == "?":
            word += chance.choice(("", "s", "a"))
        elif mark == "*" or mark[0] == "<":
            word += chance.choice(ENDINGS)
        else:
            word += mark
    return word


def write_text(node: Node, chance: random.Random) -> str:
    """Return a text that matches words or a proximity search, or almost matches."""
    if isinstance(node, WordPatterns):
        return " ".join(make_word(pattern, chance) for pattern in node.patterns)
    if isinstance(node, Near):
        sides = [write_text(node.left, chance), write_text(node.right, chance)]
        if chance.random() < 0.4:
            sides.reverse()
        between = [chance.choice(FILLERS) for _ in range(chance.choice((0, 1, node.distance, node.distance + 1)))]
        if chance.random() < 0.2:
            between.append(chance.choice(STOPS))
        return " ".join([sides[0], *between, sides[1]])
    if isinstance(node, AnyOf):
        return write_text(chance.choice(node.parts), chance)
    return " ".join(write_text(part, chance) for part in list_children(node))


def list_records(strategies: Iterable[Strategy], count: int, seed: int = 1) -> list[RecordTerms]:
    """Make records with the words, headings and values of strategies, near each other and in all fields."""
    chance = random.Random(seed)
    texts, headings, values = list_parts(strategies)
    return [_make_record(number, texts, headings, values, chance) for number in range(count)]


def list_parts(strategies: Iterable[Strategy]) -> tuple[list[Node], list[SubjectHeading], list[Value]]:
    """Return the words and proximity searches, the headings and the values of strategies."""
    texts: list[Node] = []
    headings: list[SubjectHeading] = []
    values: list[Value] = []
    for strategy in strategies:
        for line in strategy.lines:
            if line.node is None:
                continue
            inner: set[int] = set()
            for node in walk(line.node):
                if isinstance(node, Near):
                    inner |= {id(part) for part in walk(node)} - {id(node)}
                if id(node) in inner:
                    continue
                if isinstance(node, WordPatterns | Near):
                    texts.append(node)
                elif isinstance(node, SubjectHeading):
                    headings.append(node)
                elif isinstance(node, Value):
                    values.append(node)
    return texts, headings, values


def _make_record(
    number: int, texts: list[Node], headings: list[SubjectHeading], values: list[Value], chance: random.Random
) -> RecordTerms:
    terms = RecordTerms()
    for place in PLACES:
        for _ in range(chance.choice((0, 1, 1, 2))):
            if texts:
                pieces = [write_text(chance.choice(texts), chance) for _ in range(chance.choice((1, 2, 3)))]
                terms.add_text(place, f" {chance.choice(FILLERS)} ".join(pieces))
    for _ in range(chance.choice((0, 1, 2))):
        if headings:
            heading = chance.choice(headings)
            terms.add_value("mesh", heading.name)
            terms.add_text("mesh", heading.name)
            if chance.random() < 0.5:
                terms.add_value("majr", heading.name)
            for name in heading.qualifiers:
                terms.add_exact("mesh_pair", f"{' '.join(heading.name.lower().replace(',', ' ').split())}/{name}")
                terms.add_value("subheading", name)
    for one in chance.sample(values, min(len(values), 2)):
        source = {"PTYP": "ptype", "PTYP=": "ptype", "SUBH": "subheading", "LANG": "language", "AUTH": "author"}
        if one.code in source:
            terms.add_value(source[one.code], one.text)
            if source[one.code] == "ptype":
                terms.add_text("ptype", one.text)
    if chance.random() < 0.5:
        terms.add_value("mesh", chance.choice(("humans", "animals")))
    for column in ("pdat", "pdat_single", "edat", "crdt", "mhda", "mdat"):
        terms.add_number(column, chance.randint(1960, 2022) * 10000 + 615)
    terms.numbers["pdat_single"] = list(terms.numbers["pdat"])
    terms.add_number("uid", number + 1)
    return terms


assert not set(FILLERS) & STOP_WORDS
