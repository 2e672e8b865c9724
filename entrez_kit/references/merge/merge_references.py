"""The operation that merges files of references: links duplicates and families, and counts each file's works."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import cut_middle, format_count
from entrez_kit.base.progress import report_progress
from entrez_kit.core.model import Warn
from entrez_kit.core.operation import AgentOptions, DocumentOperation
from entrez_kit.references.merge.entries import Entry
from entrez_kit.references.merge.files_to_merge import read_files
from entrez_kit.references.merge.grouping import Linked, Pair, compare_records, link_records, order_pair
from entrez_kit.references.merge.merge_documents import (
    DatabaseFigures,
    Decision,
    MergeCounts,
    MergeRequest,
    MergeResult,
    RecordGroup,
    RecordOfFile,
    SourceFigures,
    UndecidedPair,
)
from entrez_kit.references.merge.pair_rules import PairVerdict, Relation
from entrez_kit.references.merge.review import ReviewRow
from entrez_kit.references.merge.works import MergedWork
from entrez_kit.services import Services

MAX_CITED_TITLE: Final = 160


def merge_references(services: Services, request: MergeRequest) -> MergeResult:
    """Merge files of references from several databases: link duplicates and families, and count per file.

    Use it before screening. Records are linked, never deleted, and each link has a reason. Records are merged if an
    identifier agrees, or title, authors, journal, volume and pages. Preprints and articles, protocols and reports, and
    other related works are linked as families. Pairs without enough data are undecided: decide them with `decisions`.
    To undo a merge, name a record in `separate`, or give the decision `different`.
    Example: files [{"file": "a.ris", "text": "TY  - JOUR ..."}].

    Raises:
        InvalidInput: a file cannot be read, or has no records.
    """
    entries, names, warnings = read_files(request.files)
    return merge_entries(entries, names, request.decisions, request.separate, warnings)


def merge_entries(
    entries: Sequence[Entry],
    names: Sequence[str],
    decisions: Sequence[Decision] = (),
    separate: Sequence[str] = (),
    warnings: Sequence[Warn] = (),
) -> MergeResult:
    """Link records that were read already.

    Args:
        entries: the records, each with a unique id.
        names: the files of the records.
        decisions: decisions of a person on pairs.
        separate: ids of records to take out of their groups.
        warnings: warnings about the files, which the result repeats.

    Raises:
        InvalidInput: ``separate`` has an unknown id.
    """
    all_warnings = list(warnings)
    signatures = [entry.signature for entry in entries]
    verdicts = compare_records(signatures, step=lambda done: report_progress(done))
    by_id = {entry.id: number for number, entry in enumerate(entries)}
    decided = _resolve_decisions(decisions, entries, by_id, all_warnings)
    alone = _find_ids(separate, by_id)
    linked = link_records(
        signatures,
        verdicts,
        same=[pair for pair, choice in decided.items() if choice == "same"],
        different=[pair for pair, choice in decided.items() if choice == "different"],
        families=[pair for pair, choice in decided.items() if choice == "family"],
        alone=alone,
    )
    works, work_of = _build_works(entries, linked)
    return _build_result(names, entries, linked, works, work_of, all_warnings)


# Decisions


def _find_ids(ids: Iterable[str], by_id: Mapping[str, int]) -> list[int]:
    positions = []
    for record_id in ids:
        if record_id not in by_id:
            raise InvalidInput(
                f"No record has the id {record_id!r}.",
                invalid_input=record_id,
                recovery_hint="Ids are file names with positions, such as embase.ris#12; groups and reviews list them.",
                details={"reason": "unknown_record"},
            )
        positions.append(by_id[record_id])
    return positions


def _resolve_decisions(
    decisions: Sequence[Decision], entries: Sequence[Entry], by_id: Mapping[str, int], warnings: list[Warn]
) -> dict[Pair, str]:
    """Find the records of decisions, by id and fingerprint; warn about decisions on records that no file has."""
    by_fingerprint: dict[str, int] = {}
    for number, entry in enumerate(entries):
        by_fingerprint.setdefault(entry.fingerprint, number)
    decided: dict[Pair, str] = {}
    lost = []
    for decision in decisions:
        prints = decision.fingerprints if len(decision.fingerprints) == 2 else ["", ""]
        places = []
        for member, fingerprint in zip(decision.members, prints, strict=True):
            place = by_id.get(member)
            if fingerprint and (place is None or entries[place].fingerprint != fingerprint):
                place = by_fingerprint.get(fingerprint)
            places.append(place)
        one, other = places
        if one is None or other is None or one == other:
            lost.append(" and ".join(decision.members))
        else:
            decided[one, other] = decision.decision
    if lost:
        count = format_count(len(lost), "decision")
        message = f"No file contains the records of {count}: {'; '.join(lost[:5])}."
        warnings.append(Warn(code="decision_unmatched", message=message, terms=lost))
    return decided


# Works


def _build_works(entries: Sequence[Entry], linked: Linked) -> tuple[list[MergedWork], list[int]]:
    """Return the works in the order of their kept records, and the number of the work of each record."""
    group_of = {position: group for group in linked.duplicates for position in group}
    works: list[MergedWork] = []
    work_of = [-1] * len(entries)
    for position in range(len(entries)):
        group = group_of.get(position, [position])
        ranked = sorted(
            group, key=lambda n: (*(-number for number in entries[n].richness), entries[n].file, entries[n].index)
        )
        if ranked[0] != position:
            continue
        rest = sorted((entries[n] for n in ranked[1:]), key=lambda entry: (entry.file, entry.index))
        for n in group:
            work_of[n] = len(works)
        works.append(MergedWork(entries[position], rest))
    return works, work_of


def _build_family_groups(works: Sequence[MergedWork], work_of: Sequence[int], linked: Linked) -> list[RecordGroup]:
    """Join the links between works to families, and store in each work the works of its family."""
    links: dict[int, set[int]] = defaultdict(set)
    reasons: dict[Pair, set[tuple[str, Relation | None]]] = defaultdict(set)
    for (one, other), verdict in linked.families.items():
        pair = order_pair((work_of[one], work_of[other]))
        links[pair[0]].add(pair[1])
        links[pair[1]].add(pair[0])
        reasons[pair].add((verdict.why, verdict.relation))
    groups: list[RecordGroup] = []
    seen: set[int] = set()
    for start in sorted(links):
        if start in seen:
            continue
        members, waiting = {start}, [start]
        while waiting:
            for near in links[waiting.pop()] - members:
                members.add(near)
                waiting.append(near)
        seen |= members
        family_reasons = {reason for pair, why in reasons.items() if pair[0] in members for reason in why}
        ids = sorted((works[n].kept for n in members), key=lambda entry: (entry.file, entry.index))
        groups.append(
            RecordGroup(
                kind="family",
                members=[entry.id for entry in ids],
                why="; ".join(sorted({why for why, _ in family_reasons})),
                relations=sorted({relation for _, relation in family_reasons if relation}),
            )
        )
        for n in members:
            works[n].families = [entry.id for entry in ids if entry.id != works[n].kept.id]
    return sorted(groups, key=lambda group: group.members)


def _build_duplicate_groups(works: Sequence[MergedWork], entries: Sequence[Entry], linked: Linked) -> list[RecordGroup]:
    position_of = {entry: number for number, entry in enumerate(entries)}
    why: dict[int, set[str]] = defaultdict(set)
    for (one, other), verdict in linked.reasons.items():
        why[one].add(verdict.why)
        why[other].add(verdict.why)
    groups = []
    for work in works:
        if not work.others:
            continue
        members = sorted(work.entries, key=lambda entry: (entry.file, entry.index))
        reasons = sorted({reason for member in members for reason in why[position_of[member]]})
        groups.append(
            RecordGroup(
                kind="duplicate", members=[member.id for member in members], why="; ".join(reasons), kept=work.kept.id
            )
        )
    return sorted(groups, key=lambda group: group.members)


# The result


def _build_result(
    names: Sequence[str],
    entries: Sequence[Entry],
    linked: Linked,
    works: list[MergedWork],
    work_of: Sequence[int],
    warnings: list[Warn],
) -> MergeResult:
    families = _build_family_groups(works, work_of, linked)
    duplicates = _build_duplicate_groups(works, entries, linked)
    undecided = []
    for pair, verdict in _open_pairs(entries, linked, work_of):
        texts = [cite_entry(entries[n]) for n in pair]
        undecided.append(UndecidedPair(members=[entries[n].id for n in pair], why=verdict.why, texts=texts))
    undecided.sort(key=lambda pair: pair.members)
    result = MergeResult(
        records=[  # without validation, which would copy the keys
            RecordOfFile.model_construct(id=entry.id, file=entry.file, index=entry.index, keys=entry.keys)
            for entry in entries
        ],
        groups=[*duplicates, *families],
        sources=_count_files(names, entries, works),
        databases=_count_databases(works),
        undecided=undecided,
        counts=MergeCounts(
            records=len(entries),
            works=len(works),
            duplicates=len(entries) - len(works),
            duplicate_groups=len(duplicates),
            families=len(families),
            undecided=len(undecided),
        ),
        warnings=warnings,
    )
    by_id = {entry.id: entry for entry in entries}
    separated = [
        _build_review_row(by_id, [entries[n].id for n in pair], "same", "taken out of its group")
        for pair in sorted(linked.separated)
    ]
    result.set_works(works, _yield_review_rows(result, by_id), separated)
    return result


def _open_pairs(entries: Sequence[Entry], linked: Linked, work_of: Sequence[int]) -> list[tuple[Pair, PairVerdict]]:
    """Return the undecided pairs in order, one for each pair of works."""
    open_pairs: dict[Pair, tuple[Pair, PairVerdict]] = {}
    ordered = [
        (sorted(pair, key=lambda n: (entries[n].file, entries[n].index)), verdict)
        for pair, verdict in linked.undecided.items()
    ]
    for (one, other), verdict in sorted(
        ordered, key=lambda item: [(entries[n].file, entries[n].index) for n in item[0]]
    ):
        works = order_pair((work_of[one], work_of[other]))
        if order_pair((one, other)) not in linked.families:
            open_pairs.setdefault(works, ((one, other), verdict))
    return list(open_pairs.values())


def cite_entry(entry: Entry) -> str:
    """Return a record as one line for a person."""
    reference = entry.reference
    first = f"{reference.first_author}{' et al' if reference.author_count > 1 else ''}".removesuffix(".")
    title = cut_middle(reference.title or reference.text or "(no title)", MAX_CITED_TITLE)
    issue, pages = f"({reference.issue})" if reference.issue else "", f":{reference.pages}" if reference.pages else ""
    journal = entry.signature.journal and (reference.journal or "")
    parts = [journal, reference.year, f"{reference.volume or ''}{issue}{pages}"]
    ids = [f"{name} {entry.keys[kind]}" for kind, name in (("pmid", "PMID"), ("doi", "doi")) if kind in entry.keys]
    authors = f"{first}. " if first else ""
    return " ".join(part for part in (f"{authors}{title}.", " ".join(filter(None, parts)), *ids) if part)


def _count_files(names: Sequence[str], entries: Sequence[Entry], works: Sequence[MergedWork]) -> list[SourceFigures]:
    raw, unique, only = Counter[int](), Counter[int](), Counter[int]()
    sources: dict[int, set[str]] = defaultdict(set)
    for entry in entries:
        raw[entry.slot] += 1
        sources[entry.slot].update(entry.sources)
    for work in works:
        slots = {entry.slot for entry in work.entries}
        unique.update(slots)
        if len(slots) == 1:
            only.update(slots)
    return [
        SourceFigures(
            file=name,
            raw=raw[slot],
            unique=unique[slot],
            only_here=only[slot],
            source=next(iter(sources[slot])) if len(sources[slot]) == 1 else None,
        )
        for slot, name in enumerate(names)
    ]


def _count_databases(works: Sequence[MergedWork]) -> list[DatabaseFigures]:
    raw, unique, only = Counter[str](), Counter[str](), Counter[str]()
    for work in works:
        for entry in work.entries:
            raw.update(entry.sources)
        unique.update(work.sources)
        if len(work.sources) == 1:
            only.update(work.sources)
    return [
        DatabaseFigures(source=name, raw=raw[name], unique=unique[name], only_here=only[name]) for name in sorted(raw)
    ]


def _yield_review_rows(result: MergeResult, by_id: Mapping[str, Entry]) -> Iterator[ReviewRow]:
    """Yield the pairs for a review file: undecided ones first, then merges, then families."""
    for pair in result.undecided:
        yield _build_review_row(by_id, pair.members, "", pair.why)
    for group in result.groups:
        suggestion = "same" if group.kind == "duplicate" else "family"
        first = group.kept or group.members[0]
        for member in group.members:
            if member != first:
                yield _build_review_row(by_id, [first, member], suggestion, group.why)


def _build_review_row(by_id: Mapping[str, Entry], members: Sequence[str], suggestion: str, why: str) -> ReviewRow:
    first, second = (by_id[member] for member in members)
    return ReviewRow(
        suggestion=suggestion,
        why=why,
        members=(first.id, second.id),
        fingerprints=(first.fingerprint, second.fingerprint),
        texts=(cite_entry(first), cite_entry(second)),
    )


MERGE_REFERENCES = DocumentOperation(
    name="merge_references",
    request=MergeRequest,
    result=MergeResult,
    function=merge_references,
    command=("merge",),
    toolset="review",
    title="Merge references",
    errors=(),
    agents=AgentOptions(portions=("undecided", "groups", "records")),
)
