"""Search genes: three searches without overlap, read as one list whose pages never repeat or skip a gene."""

import base64
import binascii
import json
import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from pydantic import Field, field_validator

from entrez_kit.entrez_query import broadening
from entrez_kit.errors import AmbiguousQuery, EntrezKitError, RateLimited, UpstreamError
from entrez_kit.gene.errors import argument_error, only_gene_codes
from entrez_kit.gene.models import GenePage, GeneSearchCandidate, MatchKind, Pagination
from entrez_kit.gene.organisms import taxid_of
from entrez_kit.gene.query import GeneQuery, Tier
from entrez_kit.model import Request, Warn
from entrez_kit.operation import Operation
from entrez_kit.services import Services
from entrez_kit.services.esearch_reply import ESearchReply
from entrez_kit.transport.in_flight import all_at_once
from entrez_kit.wording import ANEW, Argument, Wording, listed

if TYPE_CHECKING:
    from entrez_kit.gene.summaries import GeneSummary

MAX_PAGE: Final = 100
MAX_QUERY: Final = 1_000
SCORE_HALF: Final = 20
"""The rank at which the score has fallen to one half."""

_SYNTAX: Final = re.compile(r'\[[^\[\]]*+\]|[()"]|\b(?:AND|OR|NOT)\b')
_NOT_FOUND: Final = frozenset(("phrase_not_found", "quoted_phrase_not_found"))


def encode_cursor(offset: int) -> str:
    """Return the cursor of the page that begins at an offset: base64 of ``{"offset": N}``."""
    return base64.b64encode(json.dumps({"offset": offset}).encode()).decode()


def decode_cursor(cursor: str) -> int:
    """Return the offset a cursor stands for.

    Raises:
        ValueError: it is no cursor of ours.
    """
    try:
        document = json.loads(base64.b64decode(cursor.encode("ascii"), validate=True))
    except (binascii.Error, UnicodeError, ValueError, RecursionError):
        document = None
    offset = document.get("offset") if isinstance(document, dict) and len(document) == 1 else None
    if type(offset) is not int or not 0 <= offset <= 10**9:
        raise ValueError("not a cursor of a search for genes")
    return offset


class SearchGenesRequest(Request):
    """Which genes to look for."""

    query: str = Field(
        max_length=MAX_QUERY,
        description='Symbol, alias, name or words, or Entrez syntax: "apo*[sym] AND 11[chr]".',
    )
    organism: str | None = Field(
        default=None,
        description="Common or scientific name, or taxid (txid9606); all unless given.",
    )
    page_size: int = Field(default=50, ge=1, le=MAX_PAGE, description="Genes per page, 1 to 100.")
    cursor: str | None = Field(
        default=None, description="Where to go on: pagination.cursor of the previous page of the same search."
    )
    include_discontinued: bool = Field(
        default=False,
        description="Also withdrawn and merged records; they say what replaces them.",
    )

    @field_validator("query")
    @classmethod
    def _long_enough(cls, value: str) -> str:
        text = " ".join(value.split())
        if len(text) < 2 or not any(character.isalnum() for character in text):
            raise ValueError("Query too short or too generic")
        return text

    @field_validator("cursor")
    @classmethod
    def _readable(cls, value: str | None) -> str | None:
        if value is not None:
            decode_cursor(value)
        return value

    @property
    def offset(self) -> int:
        """How many genes of the whole list come before this page."""
        return decode_cursor(self.cursor) if self.cursor else 0


def search_genes(services: Services, request: SearchGenesRequest) -> GenePage:
    """Find genes by symbol, alias, name or words, and get ranked candidates with their NCBIGene ids.

    Use it when you have no id; pass the id of the right candidate to get_gene or get_pubmed_links.
    Example: query "TP53", organism "human".

    Raises:
        AmbiguousQuery: the query is too short or unusable, the organism unknown, or the cursor not one of ours.
        UpstreamError: NCBI did not answer after every attempt.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: ESearch and ESummary (db=gene); ESearch (db=taxonomy) for organisms not known by heart.
    """
    with only_gene_codes("organism", request.organism):
        taxid = taxid_of(services, request.organism) if request.organism else None
    query = GeneQuery.of(request.query, taxid=taxid, current_only=not request.include_discontinued)
    listing = _Listing(services, offset=request.offset, size=request.page_size)
    with only_gene_codes("query", request.query):
        _fill(listing, query)
        if not listing.total and taxid is not None:
            listing.warnings += _elsewhere(listing, request)
        from entrez_kit.gene.summaries import summaries_of

        summaries = summaries_of(services, [hit.number for hit in listing.hits])
    items = [_candidate(summaries[hit.number], hit, query.text) for hit in listing.hits if hit.number in summaries]
    end = request.offset + len(listing.hits)
    page = GenePage(
        query_broadened=listing.broadened or None,
        strict_total=listing.strict_total,
        items=items,
        pagination=Pagination(
            cursor=encode_cursor(end) if listing.hits and end < listing.total else None,
            total_count=listing.total,
            page_size=request.page_size,
        ),
        warnings=listing.warnings,
    )
    page._missing = [f"NCBIGene:{hit.number}" for hit in listing.hits if hit.number not in summaries]
    if (error := page.shortfall()) is not None:
        if not items:
            raise error
        message = f"NCBI returned no summary of {listed(page._missing)}."
        page.warnings.append(Warn(code="summaries_missing", message=message))
    return page


@dataclass(frozen=True, slots=True)
class _Hit:
    number: str
    rank: int
    kind: MatchKind | None


@dataclass(slots=True)
class _Listing:
    """The page under construction; searches are appended one after the other, as if they were one long list."""

    services: Services
    offset: int
    size: int
    total: int = 0
    hits: list[_Hit] = field(default_factory=list)
    warnings: list[Warn] = field(default_factory=list)
    broadened: bool = False
    strict_total: int | None = None

    def first_page(self, tier: Tier) -> ESearchReply:
        """Ask for the count of a search and its best hits, as many as a page holds."""
        return self._ask(tier, 0, self.size)

    def append(self, tier: Tier, reply: ESearchReply, count: int) -> None:
        """Add what one search contributes to the page, and its count to the total."""
        start = max(0, self.offset - self.total)
        expected = max(0, min(self.size - len(self.hits), count - start))
        if expected and start + expected > self.size:
            ids = self._ask(tier, start, expected).ids
        else:
            ids = reply.ids[start:]
        known = {hit.number for hit in self.hits}
        fresh = [number for number in dict.fromkeys(ids) if number not in known] if expected else []
        if len(fresh) < expected:
            raise UpstreamError(
                f"NCBI counted {count} genes and listed {len(fresh)} where {expected} were due.",
                recovery_hint=Wording(ANEW, "."),
                details={"reason": "incomplete", "endpoint": "esearch"},
            )
        self.hits += [
            _Hit(number, self.total + start + place, tier.kind) for place, number in enumerate(fresh[:expected])
        ]
        self.total += count

    def judge(self, tier: Tier, reply: ESearchReply) -> None:
        """Note what NCBI made of a search other than it says; call it before the search is appended."""

        def count(term: str) -> int | None:
            try:
                return self._ask(Tier(None, term), 0, 0).count
            except EntrezKitError:
                return None

        verdict = broadening(tier.term, reply, count)
        if verdict.broadened:
            self.broadened = True
            if verdict.strict_total is not None:
                self.strict_total = self.total + verdict.strict_total
        self.warnings += verdict.warnings(reply)

    def _ask(self, tier: Tier, start: int, size: int) -> ESearchReply:
        return self.services.eutils.esearch(
            db="gene", term=tier.term, retmax=size, retstart=start, sort="relevance"
        ).value


def _fill(listing: _Listing, query: GeneQuery) -> None:
    """Run the searches in order of their worth. NCBI is asked for all three counts, so that the total is exact.

    They are asked at once, on a guess: a word alone is most often a symbol, several are none. A search that should not
    have left out a symbol NCBI does not know, or should have left out what another found, is asked again.
    """
    first = query.first()
    if query.is_single:
        reply = listing.first_page(first)
        listing.judge(first, reply)
        listing.append(first, reply, reply.count)
        return
    guess = " " not in query.text
    alias, rest = query.alias(after_symbol=guess), query.rest(after_symbol=guess, after_alias=guess)
    tiers = [first, alias] if rest is None else [first, alias, rest]
    reply, *replies = all_at_once([partial(listing.first_page, tier) for tier in tiers])
    unknown = _unknown(reply)
    symbols = 0 if unknown else reply.count
    listing.append(first, reply, symbols)
    guessed_wrong = unknown if guess else symbols > 0

    reply = replies[0]
    if guessed_wrong:
        alias = query.alias(after_symbol=symbols > 0)
        reply = listing.first_page(alias)
    unknown = _unknown(reply)
    aliases = 0 if unknown else reply.count
    listing.append(alias, reply, aliases)
    guessed_wrong |= unknown if guess else aliases > 0

    if rest is None:
        return
    reply = replies[1]
    if guessed_wrong:
        rest = query.rest(after_symbol=symbols > 0, after_alias=aliases > 0) or rest
        reply = listing.first_page(rest)
    if reply.count and not _all_unknown(reply, query.words):
        listing.judge(rest, reply)
        listing.append(rest, reply, reply.count)


def _elsewhere(listing: _Listing, request: SearchGenesRequest) -> list[Warn]:
    """Say how many genes of other organisms the query finds, where it finds none of the one that was named."""
    query = GeneQuery.of(request.query, current_only=not request.include_discontinued)
    tier = query.first() if query.is_single else query.rest(after_symbol=False, after_alias=False)
    try:
        reply = listing.first_page(tier) if tier is not None else ESearchReply(count=0)
    except EntrezKitError:  # the page is empty whatever the answer
        return []
    number = 0 if _all_unknown(reply, query.words) else reply.count
    if not number:
        return []
    genes = "1 gene" if number == 1 else f"{number:,} genes"
    message = Wording("Without ", Argument("organism", marked=True), f" the query finds {genes}.")
    return [Warn(code="filters_emptied", message=message)]


def _unknown(reply: ESearchReply) -> bool:
    """Tell whether NCBI does not know the symbol; it may then have searched for the other conditions alone."""
    return any(
        complaint.code in _NOT_FOUND and "[organism]" not in complaint.text.lower() for complaint in reply.complaints
    )


def _all_unknown(reply: ESearchReply, words: str) -> bool:
    """Tell whether NCBI knows none of the words, so that its hits have nothing to do with the query."""
    unknown = " ".join(
        complaint.text.partition("[")[0].replace('"', " ")
        for complaint in reply.complaints
        if complaint.code in _NOT_FOUND
    )
    return set(words.replace('"', " ").lower().split()) <= set(unknown.lower().split())


def _candidate(summary: "GeneSummary", hit: _Hit, query: str) -> GeneSearchCandidate:
    current = summary.status == "live"
    return GeneSearchCandidate(
        id=f"NCBIGene:{summary.number}",
        symbol=summary.symbol,
        name=summary.name,
        description="; ".join(summary.designations) or summary.name,
        organism=summary.organism,
        taxon_id=summary.taxon_id,
        match=hit.kind or match_of(summary, query),
        score=score_of(hit.rank),
        status=None if current else summary.status,
        replaced_by=f"NCBIGene:{summary.replaced_by}" if summary.replaced_by and not current else None,
    )


def score_of(rank: int) -> float:
    """Return the score of a rank (from 0): 1 for the first, falling with every rank, whatever the page size."""
    return float(f"{1 / (1 + rank / SCORE_HALF):.9g}")


def match_of(summary: "GeneSummary", query: str) -> MatchKind:
    """Tell how a gene matches a query; of a query in Entrez syntax, one operand is enough."""
    operands = {text.strip().casefold() for text in _SYNTAX.split(query)} - {""}
    if summary.symbol.casefold() in operands:
        return "symbol"
    if operands & {alias.casefold() for alias in summary.aliases}:
        return "alias"
    names = [_words(name) for name in (summary.name, *summary.designations)]
    wanted = [words for operand in operands if (words := _words(operand))]
    return "name" if any(words <= name for words in wanted for name in names) else "other"


def _words(text: str) -> set[str]:
    return set("".join(character if character.isalnum() else " " for character in text.casefold()).split())


SEARCH_GENES = Operation(
    name="search_genes",
    portions=("items",),
    function=search_genes,
    command=("gene", "search"),
    toolset="gene",
    title="Search genes",
    errors=(AmbiguousQuery, UpstreamError, RateLimited),
    argument_error=argument_error("search_genes"),
)
