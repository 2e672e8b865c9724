"""Select the pairs of records to compare: records that share a key.

The keys are identifiers, the beginning and the end of the title, the first author with a rare word of the title, and
the place. Each tolerates other mistakes, so a pair is missed only if all its keys have mistakes.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

from entrez_kit.references.merge.signatures import Signature

MAX_BLOCK: Final = 60
"""Records that share a key are all compared up to this number; more are compared with their neighbours only."""
TITLE_LETTERS: Final = 24
FAMILY_LETTERS: Final = 5
RARE_WORDS: Final = 4

BlockKey = tuple[str, ...]


def yield_candidate_pairs(records: Sequence[Signature]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of positions to compare, each once, smaller position first."""
    frequency = Counter(
        word for record in records for word in {word for title in record.titles for word in title.split()}
    )
    blocks: dict[BlockKey, list[int]] = defaultdict(list)
    for position, record in enumerate(records):
        for key in set(_yield_keys(record, frequency)):
            blocks[key].append(position)
    seen: set[int] = set()
    size = len(records)
    for key, members in blocks.items():
        if len(members) < 2:
            continue
        for one, other in _yield_pairs(records, members, key):
            code = one * size + other
            if code not in seen:
                seen.add(code)
                yield one, other


def _yield_pairs(records: Sequence[Signature], members: list[int], key: BlockKey) -> Iterator[tuple[int, int]]:
    if len(members) <= MAX_BLOCK:
        yield from combinations(members, 2)
        return
    # A key of many records ("Editorial", or a file given twenty times): neighbours in the order of title and place.
    ordered = sorted(members, key=lambda n: _make_sort_key(records[n]))
    for place, one in enumerate(ordered):
        for other in ordered[place + 1 : place + MAX_BLOCK // 2]:
            yield min(one, other), max(one, other)


def _make_sort_key(record: Signature) -> tuple[str, ...]:
    return record.title, *record.families[:1], str(record.year), record.volume, record.first_page


def _yield_keys(record: Signature, frequency: Mapping[str, int]) -> Iterator[BlockKey]:
    if record.pmid:
        yield "pmid", record.pmid
    if record.doi:
        yield "doi", record.doi
        yield "work", record.doi.partition(".pub")[0].rpartition("/v")[0] or record.doi.partition(".pub")[0]
    if record.pmcid:
        yield "pmcid", record.pmcid
    for database, number in record.ids:
        yield "id", database, number
    for number in record.registrations:
        yield "registration", number
    family = next(iter((*record.families, *record.groups)), "").replace(" ", "")[:FAMILY_LETTERS]
    for title in dict.fromkeys((*record.titles, record.core)):
        squeezed = title.replace(" ", "")
        if len(squeezed) >= TITLE_LETTERS:
            yield "start", squeezed[:TITLE_LETTERS]
            yield "end", squeezed[-TITLE_LETTERS:]
        elif squeezed:
            yield "short", squeezed, family or record.first_page
        if family:
            # A word of one record finds no other; common words ("randomized") find too many.
            words = [word for word in set(title.split()) if len(word) > 4 and frequency.get(word, 0) > 1]
            for word in sorted(words, key=lambda word: (frequency[word], word))[:RARE_WORDS]:
                yield "word", family, word
    if record.volume and record.first_page:
        yield "place", record.volume, record.first_page, family or str(record.year)
        if record.year:
            yield "pages", record.volume, record.first_page, str(record.year), record.last_page or record.journal[:4]
            yield "page", record.volume, record.first_page, record.journal[:5]
