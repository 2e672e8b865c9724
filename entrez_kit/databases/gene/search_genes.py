"""Search genes: three searches without overlap form one list, whose pages never repeat or omit a gene."""

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from pydantic import Field, field_validator

from entrez_kit.base.errors import AmbiguousQuery, EntrezKitError, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import RETRY_WITHOUT_CACHE, Argument, FrontendText, join_names
from entrez_kit.base.numerals import format_count
from entrez_kit.core.broadening import Broadening, Totals, compare_with_query
from entrez_kit.core.model import Request, Warn, incomplete_error
from entrez_kit.core.operation import AgentOptions, DocumentOperation
from entrez_kit.core.query_input import NO_BROADER_RESULTS, BroaderResults
from entrez_kit.databases.gene.gene_errors import argument_error, only_gene_codes
from entrez_kit.databases.gene.models import DESIGNATIONS, Gene, GenePage, GeneSearchCandidate, MatchKind, Pagination
from entrez_kit.databases.gene.organisms import find_organism
from entrez_kit.services import Services
from entrez_kit.services.small_replies import ESearchReply, SearchWarning
from entrez_kit.services.transport.in_flight import run_all

MAX_PAGE: Final = 100
MAX_QUERY: Final = 1_000
SCORE_HALF: Final = 20
"""The rank at which the score is one half."""

_ENTREZ: Final = re.compile(r'["\[\]*]|\S\s+(?:AND|OR|NOT)\s+\S')
"""Field tags, quotes, truncation, or an operator between two operands: a query in Entrez syntax, sent unchanged."""
_BETWEEN_OPERANDS: Final = re.compile(r'\[[^\[\]]*+\]|[()"]|\b(?:AND|OR|NOT)\b')
_CURIE: Final = re.compile(r"NCBIGene:([0-9]{1,10})", re.IGNORECASE | re.ASCII)
_NOT_WORDS: Final = re.compile(r"[()\[\]{}\"*?~#&|:\\]")
_NOT_FOUND: Final = frozenset(("phrase_not_found", "quoted_phrase_not_found"))


def encode_cursor(offset: int) -> str:
    """Return the cursor of the page at an offset: base64 of ``{"offset": N}``."""
    return base64.b64encode(json.dumps({"offset": offset}).encode()).decode()


def decode_cursor(cursor: str) -> int:
    """Return the offset of a cursor.

    Raises:
        ValueError: the text is not a cursor of this search.
    """
    try:
        document = json.loads(base64.b64decode(cursor.encode("ascii"), validate=True))
    except (binascii.Error, UnicodeError, ValueError, RecursionError):
        document = None
    offset = document.get("offset") if isinstance(document, dict) and len(document) == 1 else None
    if type(offset) is not int or not 0 <= offset <= 10**9:
        raise ValueError("is not a cursor of a gene search")
    return offset


class SearchGenesRequest(Request):
    """The query, the organism and the page."""

    query: str = Field(
        max_length=MAX_QUERY,
        description="Words, or Entrez syntax: apo*[sym] AND 11[chr].",
    )
    organism: str | None = Field(
        default=None,
        description="Name or taxid (txid9606).",
    )
    page_size: int = Field(default=50, ge=1, le=MAX_PAGE, description="Genes per page.")
    cursor: str | None = Field(default=None, description="pagination.cursor of a page.")
    include_discontinued: bool = Field(
        default=False,
        description="Include withdrawn and merged records.",
    )
    broader_results: BroaderResults = True

    @field_validator("query")
    @classmethod
    def _check_query(cls, value: str) -> str:
        text = " ".join(value.split())
        if len(text) < 2 or not any(character.isalnum() for character in text):
            raise ValueError("Query too short or too generic")
        return text

    @field_validator("cursor")
    @classmethod
    def _check_cursor(cls, value: str | None) -> str | None:
        if value is not None:
            decode_cursor(value)
        return value

    @property
    def offset(self) -> int:
        """The number of genes before this page."""
        return decode_cursor(self.cursor) if self.cursor else 0


def search_genes(services: Services, request: SearchGenesRequest) -> GenePage:
    """Find genes by symbol, alias, name or words: ranked candidates with their NCBIGene ids.

    Use it if you have no id for get_gene or get_pubmed_links, e.g. query "TP53", organism "human".

    Raises:
        AmbiguousQuery: the query is too short or invalid, the organism is unknown, or the cursor is invalid.
        UpstreamError: no attempt got a valid reply.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: ESearch and ESummary (db=gene); ESearch (db=taxonomy) for organisms without a built-in name.
    """
    with only_gene_codes("organism", request.organism):
        organism = find_organism(services, request.organism) if request.organism else None
    taxid = organism.taxid if organism is not None else None
    query = GeneQuery.of(request.query, taxid=taxid, current_only=not request.include_discontinued)
    listing = _Listing(services, request)
    if organism is not None and organism.corrected:
        message = f"NCBI Taxonomy has no organism {request.organism!r}; the search is for {organism.corrected}."
        listing.warnings.append(Warn(code="organism_corrected", message=message))
    with only_gene_codes("query", request.query):
        _run_searches(listing, query)
        totals = listing.totals
        if not listing.total and totals["broader_total"] is None and taxid is not None:
            listing.warnings += _warn_of_other_organisms(listing, request)
        from entrez_kit.databases.gene.gene_records import fetch_summaries

        genes = fetch_summaries(services, [*listing.hits])
    items = [
        _build_candidate(genes[number], *hit, query.text) for number, hit in listing.hits.items() if number in genes
    ]
    end = request.offset + len(listing.hits)
    page = GenePage(
        query_broadened=totals["query_broadened"],
        strict_total=totals["strict_total"],
        broader_total=totals["broader_total"],
        items=items,
        pagination=Pagination(
            cursor=encode_cursor(end) if listing.hits and end < listing.total else None,
            total_count=totals["total_found"],
            page_size=request.page_size,
        ),
        warnings=listing.warnings,
    )
    missing = [f"NCBIGene:{number}" for number in listing.hits if number not in genes]
    named = f"NCBI returned no summary of {', '.join(missing[:10])}; the page lacks {len(missing)} genes."
    error = incomplete_error(missing, named, partial=bool(items), hint=FrontendText(RETRY_WITHOUT_CACHE, "."))
    if error is not None:
        if not items:
            raise error
        page.set_missing_error(error)
        message = f"NCBI returned no summary of {join_names(missing)}."
        page.warnings.append(Warn(code="summaries_missing", message=message))
    return page


class Tier(NamedTuple):
    """One of the searches of a query. ``kind`` is how its hits match; None if it depends on the hit."""

    kind: MatchKind | None
    expression: str


@dataclass(frozen=True, slots=True)
class GeneQuery:
    """A query with normalized white space, and the conditions that every hit must meet."""

    text: str
    conditions: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str, *, taxid: int | None = None, current_only: bool = True) -> "GeneQuery":
        """Build a query that is limited to an organism, with its strains and subspecies, and to current genes."""
        conditions = ["alive[prop]"] if current_only else []
        if taxid is not None:
            conditions.append(f"txid{taxid}[Organism]")
        return cls(" ".join(text.split()), tuple(conditions))

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """The searches, the best first: exact symbol, other symbols, whole record; one for Entrez syntax or an id."""
        if curie := _CURIE.fullmatch(self.text):
            return (Tier(None, f"{int(curie[1])}[uid]"),)
        if _ENTREZ.search(self.text):
            return (Tier(None, f"({self.text})" if self.conditions else self.text),)
        return (
            Tier("symbol", f'"{self.text}"[Preferred Symbol]'),
            Tier("alias", f'"{self.text}"[Gene Name]'),
            Tier(None, f"({self.words})"),
        )

    def build_term(self, tier: Tier, without: Sequence[Tier] = ()) -> str:
        """Return the term to send for a search; it excludes the hits of the searches in ``without``."""
        expression, before = tier.expression, " OR ".join(other.expression for other in without)
        if before:
            expression = f"({expression} NOT {before if len(without) == 1 else f'({before})'})"
        return " AND ".join((expression, *self.conditions))

    @property
    def words(self) -> str:
        """The query as plain words, without characters and operators of Entrez syntax."""
        found = _NOT_WORDS.sub(" ", self.text).split()
        return " ".join(f'"{word}"' if word in ("AND", "OR", "NOT") else word for word in found)


@dataclass(slots=True)
class _Listing:
    """The page under construction. The results of each search are appended to one list.

    ``hits`` has the rank and the kind of match of each gene.
    """

    services: Services
    request: SearchGenesRequest
    total: int = 0
    hits: dict[str, tuple[int, MatchKind | None]] = field(default_factory=dict)
    warnings: list[Warn] = field(default_factory=list)
    broadening: Broadening | None = None
    """The broadening of the last search, in whole records. NCBI drops parts only of that search."""

    @property
    def totals(self) -> Totals:
        """The totals of all searches."""
        verdict = self.broadening or Broadening(0)
        are_left_out = verdict.is_left_out(self.request.broader_results)
        return verdict.build_totals(
            self.request.broader_results, before=self.total - (0 if are_left_out else verdict.count)
        )

    def ask(self, term: str, start: int = 0, size: int | None = None) -> ESearchReply:
        """Request the count of a search and some of its hits, by default as many as a page has."""
        retmax = self.request.page_size if size is None else size
        return self.services.eutils.esearch(db="gene", term=term, retmax=retmax, retstart=start, sort="relevance").value

    def append(self, kind: MatchKind | None, term: str, reply: ESearchReply) -> None:
        """Add the hits of one search to the page, and its count to the total."""
        if kind is None:
            self.broadening = compare_with_query(term, reply, lambda strict: self.ask(strict, size=0).count)
            self.warnings += self.broadening.list_warnings(reply, self.request.broader_results)
            if self.broadening.is_left_out(self.request.broader_results):
                return
        count, size = reply.count, self.request.page_size
        start = max(0, self.request.offset - self.total)
        expected = max(0, min(size - len(self.hits), count - start))
        if expected and start + expected > size:
            ids = self.ask(term, start, expected).ids
        else:
            ids = reply.ids[start:]
        fresh = [number for number in dict.fromkeys(ids) if number not in self.hits]
        if len(fresh) < expected:
            raise UpstreamError(
                f"NCBI counted {count} genes and listed {len(fresh)} instead of {expected}.",
                recovery_hint=FrontendText(RETRY_WITHOUT_CACHE, "."),
                details={"reason": "incomplete", "endpoint": "esearch"},
            )
        rank = self.total + start
        self.hits |= {number: (rank + place, kind) for place, number in enumerate(fresh[:expected])}
        self.total += count


def _run_searches(listing: _Listing, query: GeneQuery) -> None:
    """Run the searches, the best first. All three are counted, so that the total is exact.

    The searches are sent in parallel. A single word is usually a symbol, so the searches of one word exclude the hits
    of earlier searches; those of several words do not. A search with the wrong exclusions is repeated in parallel with
    the searches after it.
    """
    tiers = query.tiers
    excluded = {tier: tiers[:place] if " " not in query.text else () for place, tier in enumerate(tiers)}
    replies = _send_searches(listing, query, excluded)
    found: list[Tier] = []
    unknown: list[Tier] = []
    for place, tier in enumerate(tiers):
        dropped = [one for one in unknown if one in excluded[tier] and not _is_kept(replies[tier], one)]
        if dropped or not set(found) <= set(excluded[tier]):
            later = tiers[place:]
            known = [one for one in later if not _is_unknown(replies[one], one, query, unknown)]
            again = {one: (*found, *(two for two in known if two in later[:step])) for step, one in enumerate(later)}
            excluded |= again
            replies |= _send_searches(listing, query, again)
        if _is_unknown(replies[tier], tier, query, excluded[tier]):
            unknown.append(tier)
            continue
        listing.append(tier.kind, query.build_term(tier, excluded[tier]), replies[tier])
        found += [tier] if replies[tier].count else []


def _send_searches(
    listing: _Listing, query: GeneQuery, excluded: Mapping[Tier, Sequence[Tier]]
) -> dict[Tier, ESearchReply]:
    """Send searches in parallel; each excludes the hits of other searches."""
    calls = [partial(listing.ask, query.build_term(tier, others)) for tier, others in excluded.items()]
    return dict(zip(excluded, run_all(calls), strict=True))


def _is_kept(reply: ESearchReply, tier: Tier) -> bool:
    """Return whether NCBI kept an unknown symbol in the search that excludes it, where it matches nothing."""
    fates = [item.fate for item in reply.warnings if item.code in _NOT_FOUND and _is_about(item, tier)]
    return set(fates) == {"kept"}


def _is_unknown(reply: ESearchReply, tier: Tier, query: GeneQuery, excluded: Sequence[Tier]) -> bool:
    """Return whether the words of a search are unknown to NCBI, so that its hits are not results of the query.

    If a symbol is unknown, NCBI may have searched only for the other conditions.
    """
    own = [item for item in reply.warnings if not any(_is_about(item, other) for other in excluded)]
    if tier.kind is None:
        return len(query.tiers) > 1 and (not reply.count or _are_all_unknown(own, query.words))
    return any(item.code in _NOT_FOUND and "[organism]" not in item.text.lower() for item in own)


def _is_about(warning: SearchWarning, tier: Tier) -> bool:
    """Return whether a warning names the search field of a tier."""
    return tier.kind is not None and tier.expression[tier.expression.rindex("[") :].lower() in warning.text.lower()


def _warn_of_other_organisms(listing: _Listing, request: SearchGenesRequest) -> list[Warn]:
    """Warn how many genes of other organisms the query finds if it finds no gene of the requested organism."""
    query = GeneQuery.of(request.query, current_only=not request.include_discontinued)
    try:
        reply = listing.ask(query.build_term(query.tiers[-1]))
    except EntrezKitError:  # the count only explains the empty page
        return []
    number = 0 if _are_all_unknown(reply.warnings, query.words) else reply.count
    if not number:
        return []
    message = FrontendText(
        "Without ", Argument("organism", marked=True), f" the query finds {format_count(number, 'gene')}."
    )
    return [Warn(code="filters_emptied", message=message)]


def _are_all_unknown(warnings: Sequence[SearchWarning], words: str) -> bool:
    """Return whether all words are unknown to NCBI, so that its hits are unrelated to the query."""
    unknown = " ".join(
        warning.text.partition("[")[0].replace('"', " ") for warning in warnings if warning.code in _NOT_FOUND
    )
    return set(words.replace('"', " ").lower().split()) <= set(unknown.lower().split())


def _build_candidate(gene: Gene, rank: int, kind: MatchKind | None, query: str) -> GeneSearchCandidate:
    return GeneSearchCandidate(
        id=gene.id,
        symbol=gene.symbol,
        name=gene.name,
        description=gene.description,
        organism=gene.organism,
        taxon_id=gene.taxon_id,
        match=kind or match_of(gene, query),
        score=score_of(rank),
        status=None if gene.status == "live" else gene.status,
        replaced_by=gene.replaced_by,
    )


def score_of(rank: int) -> float:
    """Return the score of a rank (from 0): 1 for the first, then decreasing; the page size does not change it."""
    return float(f"{1 / (1 + rank / SCORE_HALF):.9g}")


def match_of(gene: Gene, query: str) -> MatchKind:
    """Return how a gene matches a query; in a query in Entrez syntax, one operand is enough."""
    operands = {text.strip().casefold() for text in _BETWEEN_OPERANDS.split(query)} - {""}
    if gene.symbol.casefold() in operands:
        return "symbol"
    if operands & {alias.casefold() for alias in gene.aliases}:
        return "alias"
    names = [_split_words(name) for name in (gene.name, *gene.description.split(DESIGNATIONS))]
    wanted = [words for operand in operands if (words := _split_words(operand))]
    return "name" if any(words <= name for words in wanted for name in names) else "other"


def _split_words(text: str) -> set[str]:
    return set("".join(character if character.isalnum() else " " for character in text.casefold()).split())


SEARCH_GENES = DocumentOperation(
    name="search_genes",
    request=SearchGenesRequest,
    result=GenePage,
    function=search_genes,
    command=("gene", "search"),
    toolset="gene",
    title="Search genes",
    errors=(AmbiguousQuery, UpstreamError, RateLimited),
    argument_error=partial(argument_error, "search_genes"),
    agents=AgentOptions(
        portions=("items",),
        next_page="pagination.cursor",
        defaults=NO_BROADER_RESULTS,
    ),
)
