"""Join pairs of records to groups. The groups do not depend on the order of the records.

A pair is not joined if it would bring two records into one group that must stay apart. Equally strong pairs that
contradict each other are all left for a person.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from entrez_kit.references.merge.candidate_pairs import yield_candidate_pairs
from entrez_kit.references.merge.pair_rules import PairVerdict, compare_pair, find_conflict
from entrez_kit.references.merge.signatures import Signature

Pair = tuple[int, int]
MAX_COMPARED: Final = 200
"""The most members of a group that are compared with each other."""


@dataclass(slots=True)
class Linked:
    """The links between records, by their positions; ``separated`` has the pairs of records that left their groups."""

    duplicates: list[list[int]] = field(default_factory=list)
    reasons: dict[Pair, PairVerdict] = field(default_factory=dict)
    families: dict[Pair, PairVerdict] = field(default_factory=dict)
    undecided: dict[Pair, PairVerdict] = field(default_factory=dict)
    separated: set[Pair] = field(default_factory=set)


def compare_records(
    records: Sequence[Signature], *, step: Callable[[int], None] = lambda _: None
) -> dict[Pair, PairVerdict]:
    """Compare the records that may be related, and return the verdicts on pairs.

    Args:
        step: called with the number of compared pairs.
    """
    verdicts: dict[Pair, PairVerdict] = {}
    for number, pair in enumerate(yield_candidate_pairs(records)):
        if number % 10_000 == 0:
            step(number)
        verdict = compare_pair(records[pair[0]], records[pair[1]])
        if verdict is not None:
            verdicts[pair] = verdict
    return verdicts


def link_records(
    records: Sequence[Signature],
    verdicts: Mapping[Pair, PairVerdict],
    *,
    same: Iterable[Pair] = (),
    different: Iterable[Pair] = (),
    families: Iterable[Pair] = (),
    alone: Iterable[int] = (),
) -> Linked:
    """Join the duplicates.

    Args:
        verdicts: the result of ``compare_records``.
        same: pairs that a person decided to merge.
        different: pairs that a person decided to keep apart. The second record leaves the group of the first one.
        families: pairs that a person decided to link as a family.
        alone: records that leave their groups.
    """
    merged = {order_pair(pair) for pair in same}
    parted = {order_pair(pair): pair for pair in (*different, *families)}
    decided = merged | parted.keys()
    open_pairs = {pair: verdict for pair, verdict in verdicts.items() if pair not in decided}
    alone = list(alone)
    if parted or alone:
        before = _join_records(records, open_pairs, merged, set())
        members = {position: group for group in before.duplicates for position in group}
        leaving = [pair for pair in parted.values() if pair[0] in members.get(pair[1], ())]
        leaving += [(-1, position) for position in alone]
        apart = set(parted) | {
            order_pair((other, position))
            for _, position in leaving
            for other in members.get(position, ())
            if other != position
        }
        apart -= merged
    else:
        apart = set()
    linked = _join_records(records, open_pairs, merged, apart)
    taken_out = set(alone)
    linked.separated = {pair for pair in apart if taken_out & set(pair)}
    for pair in families:
        linked.families[order_pair(pair)] = PairVerdict("family", DECIDED, 1000)
    return linked


DECIDED: Final = "decided by a person"


def _join_records(
    records: Sequence[Signature], verdicts: Mapping[Pair, PairVerdict], merged: set[Pair], apart: set[Pair]
) -> Linked:
    linked = Linked()
    by_kind: dict[str, dict[Pair, PairVerdict]] = {"same": {}, "family": linked.families, "undecided": linked.undecided}
    for pair, verdict in verdicts.items():
        if pair not in apart:
            by_kind[verdict.kind][pair] = verdict
    groups = _Groups(records, dict.fromkeys(apart, "a decision to keep them apart"))
    for pair in sorted(merged):
        groups.join(pair)
        linked.reasons[pair] = PairVerdict("same", DECIDED, 1000)
    for pair, verdict in linked.families.items():
        if not groups.are_joined(pair):
            groups.apart.setdefault(pair, f"a link as a family ({verdict.why})")
    _join_by_strength(groups, by_kind["same"], linked)
    linked.duplicates = groups.list_groups()
    linked.families = {pair: one for pair, one in linked.families.items() if not groups.are_joined(pair)}
    linked.undecided = {pair: one for pair, one in linked.undecided.items() if not groups.are_joined(pair)}
    return linked


def order_pair(pair: Pair) -> Pair:
    """Return a pair with the smaller position first."""
    return pair if pair[0] < pair[1] else (pair[1], pair[0])


def _join_by_strength(groups: "_Groups", edges: dict[Pair, PairVerdict], found: Linked) -> None:
    """Join the pairs, the strongest first; pairs of one strength are joined together or not at all."""
    by_strength = sorted(edges, key=lambda pair: (-edges[pair].strength, pair))
    for _, tier in groupby(by_strength, key=lambda pair: edges[pair].strength):
        for component in groups.yield_components(list(tier)):
            conflict = groups.find_conflict(component)
            clear = component if conflict is None else groups.drop_ambiguous(component)
            for pair in clear:
                groups.join(pair)
                found.reasons[pair] = edges[pair]
            for pair in component if conflict is not None else ():
                if not groups.are_joined(pair):
                    found.undecided[pair] = PairVerdict(
                        "undecided", f"{edges[pair].why}; would join records with {conflict}"
                    )


class _Groups:
    """Disjoint sets of records (union-find), with the pairs that must stay apart."""

    def __init__(self, records: Sequence[Signature], apart: dict[Pair, str]) -> None:
        self._records, self.apart = records, apart
        self._kept_apart: dict[int, set[int]] | None = None
        self._parents = list(range(len(records)))
        self._members: dict[int, list[int]] = {}

    def _find_root(self, position: int) -> int:
        while self._parents[position] != position:
            self._parents[position] = self._parents[self._parents[position]]
            position = self._parents[position]
        return position

    def _list_members(self, root: int) -> list[int]:
        return self._members.get(root, [root])

    def are_joined(self, pair: Pair) -> bool:
        """Return whether two records are in one group."""
        return self._find_root(pair[0]) == self._find_root(pair[1])

    def join(self, pair: Pair) -> None:
        """Join the groups of two records."""
        one, other = sorted((self._find_root(pair[0]), self._find_root(pair[1])))
        if one != other:
            self._members[one] = [*self._list_members(one), *self._list_members(other)]
            self._members.pop(other, None)
            self._parents[other] = one

    def yield_components(self, pairs: list[Pair]) -> Iterator[list[Pair]]:
        """Yield pairs that would be joined to one group."""
        parents: dict[int, int] = {}

        def find_root(position: int) -> int:
            while parents.get(position, position) != position:
                position = parents[position]
            return position

        for one, other in pairs:
            mine, theirs = find_root(self._find_root(one)), find_root(self._find_root(other))
            parents[max(mine, theirs)] = min(mine, theirs)
        pairs_of_group: dict[int, list[Pair]] = defaultdict(list)
        for pair in pairs:
            pairs_of_group[find_root(self._find_root(pair[0]))].append(pair)
        yield from pairs_of_group.values()

    def find_conflict(self, pairs: list[Pair]) -> str | None:
        """Return why the records of some pairs cannot be one group; None if they can."""
        roots = sorted({self._find_root(position) for pair in pairs for position in pair})
        return self._find_any_conflict(roots)

    def drop_ambiguous(self, pairs: list[Pair]) -> list[Pair]:
        """Return the pairs of records that are only similar to records that can be one group."""
        near: dict[int, set[int]] = defaultdict(set)
        for one, other in pairs:
            mine, theirs = self._find_root(one), self._find_root(other)
            near[mine].add(theirs)
            near[theirs].add(mine)
        ambiguous = {root for root, others in near.items() if self._find_any_conflict(sorted({root, *others}))}
        clear = [pair for pair in pairs if not ambiguous & {self._find_root(pair[0]), self._find_root(pair[1])}]
        return [pair for part in self.yield_components(clear) if self.find_conflict(part) is None for pair in part]

    def _find_any_conflict(self, roots: list[int]) -> str | None:
        for number, root in enumerate(roots):
            for other in roots[number + 1 :]:
                if conflict := self._find_conflict_between(self._list_members(root), self._list_members(other)):
                    return conflict
        return None

    def _find_conflict_between(self, mine: list[int], theirs: list[int]) -> str | None:
        apart = self._map_partners()
        inside = set(theirs)
        for position in mine:
            if position in apart and (shared := apart[position] & inside):
                return self.apart[order_pair((position, min(shared)))]
        for first in self._list_distinct(mine):
            for second in self._list_distinct(theirs):
                if conflict := find_conflict(first, second):
                    return conflict
        return None

    def _map_partners(self) -> dict[int, set[int]]:
        """Return the records that each record must be kept apart from."""
        if self._kept_apart is None:
            self._kept_apart = defaultdict(set)
            for one, other in self.apart:
                self._kept_apart[one].add(other)
                self._kept_apart[other].add(one)
        return self._kept_apart

    def _list_distinct(self, members: list[int]) -> list[Signature]:
        """Return one record for each combination of the parts that can be in conflict."""
        kinds: dict[tuple[Hashable, ...], Signature] = {}
        for position in members:
            member = self._records[position]
            ids = (member.pmid, member.doi, member.pmcid, member.ids, member.registrations)
            kinds.setdefault((*ids, member.title, member.issues, member.is_reply, member.is_preprint), member)
        return list(kinds.values())[:MAX_COMPARED]

    def list_groups(self) -> list[list[int]]:
        """Return the groups with several records."""
        return sorted(sorted(members) for members in self._members.values() if len(members) > 1)
