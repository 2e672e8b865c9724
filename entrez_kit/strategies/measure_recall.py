"""Measure how many known relevant records a strategy finds, which part misses the others, and the price of them."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import sqrt
from typing import ClassVar, Final, Literal

from pydantic import Field

from entrez_kit.base.errors import InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import MAX_QUOTED, cut_end, format_count
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.core.model import Result, Warn, Warned, omit_if_empty
from entrez_kit.core.operation import AgentOptions, DocumentOperation
from entrez_kit.pubmed.convert import CONVERT
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.query.words import STOP_WORDS, split_words
from entrez_kit.services import Services
from entrez_kit.services.transport.in_flight import run_in_order
from entrez_kit.strategies.blocks import StrategyBlock, join_blocks, split_blocks
from entrez_kit.strategies.strategy import Strategy
from entrez_kit.strategies.translate_strategy import COUNT_DEADLINE_MS, read_request, refuse_untranslated
from entrez_kit.strategies.translated_lines import MAX_KNOWN, StrategyRequest

BATCH: Final = 400
"""PMIDs in one search."""
MAX_SEARCHES: Final = 1_000
"""Maximum number of searches for changes; with many missed records, fewer terms are tried for each."""
MAX_CANDIDATES: Final = 8
"""Terms that are tried for one missed record."""
MAX_WORDS: Final = 15
Z: Final = 1.959964
"""The quantile of the normal distribution for an interval of 95 %."""
Status = Literal["found", "missed", "not_in_pubmed", "unresolved"]


class RecallRequest(StrategyRequest):
    """A strategy and the records that it should find."""

    known: list[str] = Field(
        min_length=1, max_length=MAX_KNOWN, description="Known relevant records: PMIDs, PMCIDs and DOIs."
    )
    used_to_build: bool = Field(
        default=False,
        description="The strategy was built from these records, so they cannot validate it.",
    )
    changes: bool = Field(
        default=True, description="Search for the smallest change of the strategy that finds each missed record."
    )


class SuggestedChange(Result):
    """A change that finds a missed record: a term to add to blocks with OR, or excluded blocks to remove.

    ``added_records`` is the number of records that the changed strategy finds in addition.
    """

    add: str | None = omit_if_empty()
    to_blocks: list[int] = omit_if_empty([])
    remove_blocks: list[int] = omit_if_empty([])
    added_records: int


class KnownRecord(Result):
    """A known record. ``missed_by`` has the numbers of the blocks that do not let it pass."""

    input: str
    pmid: str | None = omit_if_empty()
    status: Status
    title: str | None = omit_if_empty()
    missed_by: list[int] = omit_if_empty([])
    words: list[str] = omit_if_empty([])
    change: SuggestedChange | None = omit_if_empty()


class BlockRecall(Result):
    """A block of the strategy: a part that AND joins, or that NOT excludes.

    ``known_found`` is the number of known records that the block lets pass. ``known_found_without`` and
    ``records_without`` are the numbers of known records and of all records found without the block.
    """

    block: int
    line: int | None
    query: str
    is_excluded: bool
    known_found: int
    known_found_without: int
    records_without: int


class LineRecall(Result):
    """The number of known records that a line finds."""

    line: int
    known_found: int


class RecallResult(Warned):
    """How many known records a strategy finds.

    ``recall`` is ``found`` of ``in_pubmed``, with the Wilson interval of 95 % from ``low`` to ``high``; all three are
    null without a record in PubMed. Records that are not in PubMed are not counted. ``independent`` is false if the
    strategy was built from the records.
    """

    RECORDS: ClassVar = "records"

    in_pubmed: int
    found: int
    recall: float | None
    low: float | None
    high: float | None
    independent: bool
    total_found: int
    blocks: list[BlockRecall]
    lines: list[LineRecall]
    records: list[KnownRecord]
    missing_words: list[str] = omit_if_empty([])
    warnings: list[Warn] = Field(default_factory=list)


def compute_interval(found: int, total: int) -> tuple[float, float] | None:
    """Return the Wilson interval of 95 % of a proportion; None without a total."""
    if not total:
        return None
    share = found / total
    scale = 1 + Z**2 / total
    center = (share + Z**2 / (2 * total)) / scale
    half = Z * sqrt(share * (1 - share) / total + Z**2 / (4 * total**2)) / scale
    return max(0.0, center - half), min(1.0, center + half)


def measure_recall(services: Services, request: RecallRequest) -> RecallResult:
    """Measure how many known relevant records a search strategy finds in PubMed.

    Use it to test a strategy. Example: a strategy, and known ["31449492", "10.1000/xyz"]. The result has the records
    found and missed. For each missed record it has the block of the strategy that misses it, the words that the
    strategy lacks, and the smallest change that finds it, with the number of records that the change adds. Records that
    are not in PubMed are reported and not counted.

    Raises:
        InvalidInput: the last line of the strategy cannot be searched, or no known record has a usable identifier.
        UpstreamError: no attempt got a valid reply.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: ESearch (db=pubmed) for each line, block and change; EFetch for missed records; PMC ID Converter.
    """
    strategy = read_request(services, request)
    query = refuse_untranslated(strategy).query
    assert query is not None, "a strategy without a query was refused"
    search = _Search(services)
    records = _resolve_known(search, request.known)
    pmids = [record.pmid for record in records if record.pmid is not None and record.status == "found"]
    unique = list(dict.fromkeys(pmids))
    blocks = split_blocks(strategy, query)
    lines = [line for line in strategy.lines if line.is_search and line.number is not None]
    line_queries = [strategy.expand(line) or "" for line in lines]
    matched = search.match([query, *(block.query for block in blocks), *line_queries], unique)
    found, by_block, by_line = matched[0], matched[1 : 1 + len(blocks)], matched[1 + len(blocks) :]
    passed = [
        set(unique) - known if block.is_excluded else known for block, known in zip(blocks, by_block, strict=True)
    ]
    others = [[*blocks[:index], *blocks[index + 1 :]] for index in range(len(blocks))]
    total, *without = search.count([query, *(join_blocks(remaining) for remaining in others)])
    for record in records:
        if record.pmid is not None and record.status == "found" and record.pmid not in found:
            record.status = "missed"
            record.missed_by = [number for number, known in enumerate(passed, start=1) if record.pmid not in known]
    missed = [record for record in records if record.status == "missed"]
    warnings = _warn(request, missed)
    missing = _explain_missed(search, request, list_strategy_words(query), blocks, total, missed)
    interval = compute_interval(len(found), len(unique))
    return RecallResult(
        in_pubmed=len(unique),
        found=len(found),
        recall=round(len(found) / len(unique), 4) if unique else None,
        low=round(interval[0], 4) if interval else None,
        high=round(interval[1], 4) if interval else None,
        independent=not (request.used_to_build or _has_known_pmids(query, unique)),
        total_found=total,
        blocks=[
            BlockRecall(
                block=index + 1,
                line=block.line,
                query=block.query,
                is_excluded=block.is_excluded,
                known_found=len(passed[index]),
                known_found_without=len(_intersect(unique, [*passed[:index], *passed[index + 1 :]])),
                records_without=without[index],
            )
            for index, block in enumerate(blocks)
        ],
        lines=[
            LineRecall(line=line.number or 0, known_found=len(known))
            for line, known in zip(lines, by_line, strict=True)
        ],
        records=records,
        missing_words=missing,
        warnings=warnings,
    )


def _intersect(unique: Iterable[str], passed: Sequence[set[str]]) -> set[str]:
    return set(unique).intersection(*passed) if passed else set(unique)


def _has_known_pmids(query: str, pmids: Sequence[str]) -> bool:
    """Return whether a query names PMIDs of the known records."""
    return bool(set(pmids) & set(re.findall(r"\b([0-9]{1,9})\[(?:pmid|uid)\]", query)))


def find_excluded(
    services: Services, strategy: Strategy, known: Sequence[str]
) -> list[tuple[StrategyBlock, list[str]]]:
    """Return the blocks that NOT excludes and that known records match, with the PMIDs of these records.

    Raises:
        InvalidInput: no known record has an identifier.
    """
    final = strategy.final
    query = strategy.expand(final) if final is not None else None
    search = _Search(services)
    pmids = list(dict.fromkeys(record.pmid for record in _resolve_known(search, known) if record.pmid))
    blocks = [block for block in split_blocks(strategy, query or "") if block.is_excluded] if query else []
    matched = search.match([block.query for block in blocks], pmids)
    return [(block, sorted(matching, key=int)) for block, matching in zip(blocks, matched, strict=True) if matching]


def _warn(request: RecallRequest, missed: Sequence[KnownRecord]) -> list[Warn]:
    warnings = []
    if request.used_to_build:
        message = "The strategy was built from these records, so that its recall for other records is probably lower."
        warnings.append(Warn(code="not_independent", message=message))
    if request.changes and len(missed) > MAX_SEARCHES // 2:
        message = (
            f"Changes were searched for the first {MAX_SEARCHES // 2} of {format_count(len(missed), 'missed record')}."
        )
        warnings.append(Warn(code="changes_in_part", message=message))
    return warnings


class _Search:
    """Searches of one measurement, several at once."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._counts: dict[str, int] = {}

    def count(self, queries: Sequence[str]) -> list[int]:
        """Return the number of records of each query; a query is sent once."""
        new = [query for query in dict.fromkeys(queries) if query not in self._counts]
        calls: list[Callable[[], int]] = [partial(self._count, query) for query in new]
        self._counts.update(zip(new, run_in_order(calls, self.services.eutils.at_once), strict=True))
        return [self._counts[query] for query in queries]

    def _count(self, query: str) -> int:
        return self.services.eutils.esearch(
            db="pubmed", term=query, retmax=0, deadline_ms=COUNT_DEADLINE_MS
        ).value.count

    def match(self, queries: Sequence[str], pmids: Sequence[str]) -> list[set[str]]:
        """Return the PMIDs that each query finds."""
        batches = [pmids[start : start + BATCH] for start in range(0, len(pmids), BATCH)]
        calls = [partial(self._match_pmids, query, batch) for query in queries for batch in batches]
        replies = iter(list(run_in_order(calls, self.services.eutils.at_once)))
        return [set[str]().union(*(next(replies) for _ in batches)) for _ in queries]

    def _match_pmids(self, query: str, pmids: Sequence[str]) -> set[str]:
        listed = " OR ".join(f"{pmid}[pmid]" for pmid in pmids)
        term = f"({query}) AND ({listed})" if query else listed
        reply = self.services.eutils.esearch(db="pubmed", term=term, retmax=len(pmids), deadline_ms=COUNT_DEADLINE_MS)
        return set(reply.value.ids) & set(pmids)


def _resolve_known(search: _Search, known: Sequence[str]) -> list[KnownRecord]:
    """Return the known records with their PMIDs; those that PubMed has are "found" for now.

    Raises:
        InvalidInput: no record has an identifier.
    """
    readable = {text: read_identifier(text) for text in known}
    ids = list(dict.fromkeys(text for text, identifier in readable.items() if identifier is not None))
    if not ids:
        first = cut_end(known[0], MAX_QUOTED)
        raise InvalidInput(
            f"None of the {format_count(len(known), 'known record')} has a PMID, PMCID or DOI; the first is {first!r}."
            if len(known) > 1
            else f"The only known record, {first!r}, has no PMID, PMCID or DOI.",
            invalid_input=f"known={known[0][:MAX_QUOTED]}",
            recovery_hint="Give identifiers, one per line, or a file of references with identifiers.",
            details={"reason": "no_identifiers"},
        )
    converted = CONVERT.compute(search.services, CONVERT.build({"ids": ids}))
    pmids: dict[str, str | None] = {}
    for text, record in zip(ids, converted.records, strict=True):
        identifier = readable[text]
        own = identifier.value if identifier is not None and identifier.kind == "pmid" else None
        pmids[text] = record.pmid or own
    listed = list(dict.fromkeys(pmid for pmid in pmids.values() if pmid))
    existing = search.match([""], listed)[0] if listed else set()
    records = []
    for text in known:
        pmid = pmids.get(text)
        status: Status = "unresolved" if text not in pmids else "found" if pmid in existing else "not_in_pubmed"
        records.append(KnownRecord(input=text, pmid=pmid, status=status))
    return records


# Missed records


def list_strategy_words(query: str) -> set[str]:
    """Return the words of a query, and the stems of its truncated words with ``*``."""
    return {word for word in re.findall(r"[\w*]+", re.sub(r"\[[^\[\]]*\]", " ", query.lower())) if word}


def _explain_missed(
    search: _Search,
    request: RecallRequest,
    known_words: set[str],
    blocks: Sequence[StrategyBlock],
    total: int,
    missed: Sequence[KnownRecord],
) -> list[str]:
    """Add the title, the words and the smallest change to missed records; return the most frequent missing words."""
    articles = _fetch_articles(search.services, [record.pmid for record in missed if record.pmid])
    counts: Counter[str] = Counter()
    stems = tuple(word.partition("*")[0] for word in known_words if "*" in word)
    for record in missed:
        article = articles.get(record.pmid or "")
        if article is None:
            continue
        record.title = article.title
        words = [word for word in list_words(article) if word not in known_words]
        record.words = [word for word in words if not (stems and word.startswith(stems))][:MAX_WORDS]
        counts.update(record.words)
    if request.changes:
        tried = max(1, min(MAX_CANDIDATES, MAX_SEARCHES // max(1, 2 * len(missed))))
        for record in missed[: MAX_SEARCHES // 2]:
            article = articles.get(record.pmid or "")
            if article is not None:
                record.change = _find_change(search, blocks, total, record, list_candidates(article)[:tried])
    return [word for word, number in counts.most_common(MAX_WORDS) if number > 1 or len(missed) == 1]


def _fetch_articles(services: Services, pmids: Sequence[str]) -> Mapping[str, Article]:
    by_pmid: dict[str, Article] = {}
    for item in Retrieval.of_ids(services, list(dict.fromkeys(pmids)), keep="fields") if pmids else ():
        if item.record is not None:
            article = item.record.article()
            by_pmid[article.pmid] = article
    return by_pmid


def list_words(article: Article) -> list[str]:
    """Return the words of a record that could be search terms, those of its title, keywords and headings first."""
    texts = [article.title or "", *article.keywords, *(term.descriptor_name for term in article.mesh_terms)]
    first = [word for text in texts for word in split_words(text)]
    abstract_words = Counter(split_words(article.abstract_text or ""))
    repeated = [word for word, number in abstract_words.most_common() if number > 1]
    listed = dict.fromkeys(word for word in (*first, *repeated) if len(word) > 3 and not word.isdigit())
    return [word for word in listed if word not in STOP_WORDS]


def list_candidates(article: Article) -> list[str]:
    """Return terms that find a record: its headings, and the words and pairs of words of its title."""
    headings = [f'"{heading.descriptor_name}"[mh:noexp]' for heading in article.mesh_terms if heading.is_major_topic]
    words = split_words(article.title or "")
    pairs = [
        f'"{first} {second}"[ti]'
        for first, second in pairwise(words)
        if not {first, second} & STOP_WORDS and len(first) > 2 and len(second) > 2
    ]
    singles = sorted(
        {word for word in words if len(word) > 4 and word not in STOP_WORDS and not word.isdigit()},
        key=lambda word: (-len(word), word),
    )
    mixed = [*headings[:2], *pairs[:3], *(f"{word}[tiab]" for word in singles)]
    return list(dict.fromkeys(mixed))[:MAX_CANDIDATES]


def _find_change(
    search: _Search, blocks: Sequence[StrategyBlock], total: int, record: KnownRecord, terms: Sequence[str]
) -> SuggestedChange | None:
    """Return the change with the fewest additional records that finds a missed record; None if none of them does."""
    failing = [number for number in record.missed_by if not blocks[number - 1].is_excluded]
    removed = [number for number in record.missed_by if blocks[number - 1].is_excluded]
    candidates: list[str | None] = [*terms] if failing else [None]

    def build(term: str | None) -> str:
        changed = [
            StrategyBlock(f"({block.query}) OR {term}", line=block.line) if number in failing else block
            for number, block in enumerate(blocks, start=1)
            if number not in removed
        ]
        return join_blocks(changed)

    queries = [build(term) for term in candidates]
    counts = search.count(queries)
    for count, query, term in sorted(zip(counts, queries, candidates, strict=True), key=lambda candidate: candidate[0]):
        if record.pmid and search.match([query], [record.pmid])[0]:
            return SuggestedChange(add=term, to_blocks=failing, remove_blocks=removed, added_records=count - total)
    return None


MEASURE_RECALL: Final = DocumentOperation(
    name="measure_recall",
    request=RecallRequest,
    result=RecallResult,
    function=measure_recall,
    command=("strategy", "recall"),
    toolset="review",
    title="Measure the recall of a search strategy",
    errors=(UpstreamError, RateLimited),
    agents=AgentOptions(
        portions=("records",),
        caps={"known": 500},
    ),
)
