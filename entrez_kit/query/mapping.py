"""Automatic term mapping: the translation of words without a tag to headings, substances, journals and authors.

The half of PubMed's translation table that contains word variants (cancer: cancerous) is not published, so a mapped
query is approximate.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from entrez_kit.query.algebra import And, Leaf, Or, Phrase, Query, Shown, Term, TermSet, Wildcard
from entrez_kit.query.fields import ALL_FIELDS, BY_CODE, Field
from entrez_kit.query.mesh import Heading, Vocabulary, rotate
from entrez_kit.query.names import find_names
from entrez_kit.query.printing import quote_term
from entrez_kit.query.words import STOP_WORDS, normalize

if TYPE_CHECKING:
    from entrez_kit.query.segments.search_index import SearchIndex

MAX_NAME_WORDS: Final = 10
"""Maximum number of words that are mapped as one term."""


def map_phrase(phrase: str, index: "SearchIndex", vocabulary: Vocabulary) -> Query | None:
    """Map a phrase: first to a subject, then to a journal, then to authors and investigators."""
    key = normalize(phrase)
    if not key or (key in STOP_WORDS and " " not in key):
        return None
    pieces = _map_subject(phrase, key, index, vocabulary)
    if pieces is None and " " in key:
        pieces = _map_journal(key, index, vocabulary) or _map_person(key, index)
    if not pieces:
        return None
    return match_any(pieces)


def _map_subject(phrase: str, key: str, index: "SearchIndex", vocabulary: Vocabulary) -> list[Query] | None:
    if "/" in phrase:
        return None
    if (heading := vocabulary.headings.find(key)) is not None:
        pieces = _search_heading(heading, index, vocabulary)
        return [*pieces, *_search_text(_uninvert(heading.name), heading.key), *_search_typed(heading, key)]
    if (subheading := vocabulary.subheadings.find(key)) is not None and len(key) > 2:
        shown = quote_term(subheading.name.lower(), "Subheading")
        query = Shown(TermSet("subheading", vocabulary.subheadings.explode(subheading)), shown)
        return [query, *_search_text(subheading.key, subheading.key), *_search_typed(subheading, key)]
    if (substance := vocabulary.find_substance(key)) is not None:
        name = substance.name.lower()
        both = dict.fromkeys((name, key))
        return [search_substance(name), *map(search_everywhere, both)]
    if (known := find_unlisted_heading(key, index)) is not None:
        query = Shown(TermSet("mesh", (known,)), quote_term(known, "MeSH Terms"))
        return [query, *_search_text(key, key)]
    return None


def find_unlisted_heading(key: str, index: "SearchIndex", source: str = "mesh") -> str | None:
    """Return a heading that records have although the vocabulary does not contain it, also if it is inverted."""
    if index.has_value(source, key):
        return key
    return next((turned for turned in rotate(key) if index.has_value(source, turned)), None)


def _search_heading(heading: Heading, index: "SearchIndex", vocabulary: Vocabulary) -> list[Query]:
    name = heading.name.lower()
    names = vocabulary.headings.explode(heading)
    if any(tree.startswith("V") for tree in heading.tree_numbers):
        return [Shown(TermSet("ptype", names), quote_term(name, "Publication Type"))]
    queries: list[Query] = [Shown(TermSet("mesh", names), quote_term(name, "MeSH Terms"))]
    if members := vocabulary.find_action(heading.key):
        queries.insert(0, search_action(members, quote_term(name, "Pharmacological Action")))
    return queries


def _uninvert(name: str) -> str:
    """Return a heading in the order of speech: "Arthritis, Rheumatoid" as "rheumatoid arthritis"."""
    return normalize(" ".join(reversed(name.split(", "))))


def _search_typed(heading: Heading, key: str) -> list[Query]:
    return [] if key in (heading.key, _uninvert(heading.name)) else _search_text(key, key)


def _search_text(phrase: str, key: str) -> list[Query]:
    """Search a phrase in all fields: all of its words, unless one of them is a letter or a number, and the phrase."""
    words = key.split()
    queries: list[Query] = []
    searched = [word for word in words if word not in STOP_WORDS]
    if len(searched) > 1 and not any(len(word) == 1 or word.isdigit() for word in words):
        queries.append(And(tuple(search_everywhere(word) for word in searched)))
    return [*queries, search_everywhere(phrase)]


def search_everywhere(text: str) -> Query:
    """Search a word or a phrase in all fields."""
    return Shown(to_leaf(ALL_FIELDS, normalize(text).split()), quote_term(text, "All Fields"))


def to_leaf(field: Field, words: Sequence[str]) -> Leaf:
    """Return the leaf for words or patterns in a text field: a term, a wildcard or a phrase."""
    if len(words) > 1:
        return Phrase(field, tuple(words))
    return Wildcard(field, words[0]) if "*" in words[0] else Term(field, words[0])


def match_any(parts: Sequence[Query]) -> Query:
    """Return the query that matches what any of the parts matches."""
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def search_substance(name: str, label: str = BY_CODE["SUBS"].label) -> Shown:
    """Search a supplementary concept by its name."""
    return Shown(TermSet("substance", (normalize(name),)), quote_term(name.lower(), label))


def search_action(members: Sequence[str], shown: str) -> Shown:
    """Search the headings and substances with a pharmacological action."""
    return Shown(Or((TermSet("mesh", tuple(members)), TermSet("substance", tuple(members)))), shown)


def _map_journal(key: str, index: "SearchIndex", vocabulary: Vocabulary) -> list[Query]:
    journals = vocabulary.find_journals(key)
    if journals:
        pieces: list[Query] = [
            Shown(TermSet("journal", (normalize(journal.nlm_id),)), quote_term(journal.abbreviation, "Journal"))
            for journal in journals
        ]
    elif index.has_value("journal", key):
        pieces = [Shown(TermSet("journal", (key,)), quote_term(key, "Journal"))]
    else:
        return []
    return [*pieces, *_search_text(key, key)]


def _map_person(key: str, index: "SearchIndex") -> list[Query]:
    last = key.split()[-1]
    if last in STOP_WORDS or not last.isalpha():
        return []
    queries: list[Query] = []
    for code in ("AUTH", "INVR"):
        field = BY_CODE[code]
        names = find_names(index, field.sources[0], key, quoted=len(last) > 2)
        if names.all:
            queries.append(Shown(TermSet(field.sources[0], names.all), f"{key}[{field.label}]"))
    return queries
