"""The requests of ``doctor --deep``, one per row: the request, the reader of its reply, and the expected content.

The reader of a service and its shape describe its replies in general; a row has only the content of this one reply.
``REAL`` are records that have not changed for years, ``DEMO`` are records of the sandbox.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import format_count
from entrez_kit.databases.gene.gene_records import GENES, parse_genes
from entrez_kit.databases.gene.gene_records import SUMMARIES as GENE_SUMMARIES
from entrez_kit.databases.gene.gene_records import parse_summaries as parse_gene_summaries
from entrez_kit.databases.info import EGQUERY, parse_counts, parse_database
from entrez_kit.databases.names import EINFO, parse_database_list
from entrez_kit.fulltext.jats.article import iter_jats
from entrez_kit.fulltext.jats.tree import JATS
from entrez_kit.pubmed import summaries
from entrez_kit.pubmed.citation_matcher import ECITMATCH, parse_matches
from entrez_kit.pubmed.europepmc.europepmc_pages import SEARCH_REPLY, Page, parse_page
from entrez_kit.pubmed.resolution import CONVERTED, parse_converted
from entrez_kit.pubmed.xml.records import ARTICLES, Record, iter_records
from entrez_kit.relationships.fallback import LINKED, read_page
from entrez_kit.services import Services, crossref, openalex
from entrez_kit.services.elink_reply import ELINK, parse_linksets
from entrez_kit.services.esummary_reply import parse_documents, parse_esummary
from entrez_kit.services.flat_files import MEDLINE, read_medline
from entrez_kit.services.known_shapes import Shape, ShapeDifference
from entrez_kit.services.pmc_cloud import LISTING, RECORD
from entrez_kit.services.small_replies import (
    ESearchReply,
    choose_epost_shape,
    choose_esearch_shape,
    choose_espell_shape,
    malformed_error,
    parse_epost,
    parse_esearch,
    parse_espell,
)
from entrez_kit.services.unpaywall import OPEN_ACCESS, read_open_access

UNKNOWN_PMID: Final = "999999999"
NO_PHRASE: Final = "zzqxyvwkk"
NO_FIELD: Final = "nosuchfield"


@dataclass(frozen=True, slots=True)
class Examples:
    """The ids and queries of the probes. ``many`` is a query with more than 9,999 hits, or None."""

    term: str
    pmids: tuple[str, ...]
    first_of_500: int
    book: str
    retracted: str
    withdrawn: str
    misspelt: str
    citation: str
    cited: str
    gene: str
    heading: str
    in_pmc: str
    pmcid: str
    free_text: str
    doi: str
    retracted_doi: str
    many: str | None = None


REAL: Final = Examples(
    term="crispr",
    pmids=("20516115", "22663011", "23193287"),
    first_of_500=31_000_000,
    book="20301425",
    retracted="9500320",
    withdrawn='WITHDRAWN[ti] AND "cochrane database syst rev"[ta]',
    misspelt="fiberblast cell grwth",
    citation="proc natl acad sci u s a|1991|88|3248|mann bj|ek0|",
    cited="2014248",
    gene="7157",
    heading="neoplasms",
    in_pmc="23193287",
    pmcid="PMC3531190",
    free_text="PMC9984800",
    doi="10.1093/nar/gks1195",
    retracted_doi="10.1016/s0140-6736(97)11096-0",
    many="cancer",
)
DEMO: Final = Examples(
    term="crispr",
    pmids=("99000001", "99000004", "99000026"),
    first_of_500=99_000_001,
    book="99000070",
    retracted="99000050",
    withdrawn="retracted publication[pt]",
    misspelt="crisper",
    citation="Ann Imaginary Genome Ed (Demo)|2019|3|101|Marrowby TJ|ek0|",
    cited="99000001",
    gene="7157",
    heading="neoplasms",
    in_pmc="99000002",
    pmcid="PMC99000002",
    free_text="PMC99000026",
    doi="10.5555/ekit.2024.0004",
    retracted_doi="10.5555/ekit.2019.0050",
)


class ClientReply(Protocol):
    """The reply of a client."""

    @property
    def content(self) -> bytes:
        """The bytes of the reply."""


Holds = Callable[[bytes, Examples], Iterator[ShapeDifference]]
"""Parses a reply as the kit does and yields the differences from the request; raises ``UpstreamError`` if the reply is
invalid."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One request.

    Args:
        service: the name of its policy.
        folder: the folder for recordings of such replies.
        name: its name in the report.
        ask: sends the request.
        holds: checks the content of the reply.
        shape: the known shape of the reply.
        every: whether the shape applies to every reply of the probe, not only to the last.
        refusal: the expected error and its reason (None for any error with a status 4xx); with ``holds``, a valid reply
            is accepted too.
        may_be_gone: whether the service may have switched it off, which the kit supports.
        needs: returns why the probe cannot be sent; None if it can.
    """

    service: str
    folder: str
    name: str
    ask: Callable[[Services, Examples], ClientReply]
    holds: Holds | None = None
    shape: Shape | Callable[[bytes], Shape] | None = None
    refusal: tuple[type[EntrezKitError], str | None] | None = None
    every: bool = False
    may_be_gone: bool = False
    needs: Callable[[Examples], str | None] = lambda examples: None


def describe_other_content(problem: str) -> ShapeDifference:
    """Return the difference of a valid reply with unexpected content."""
    return ShapeDifference("other_content", "reply", problem)


def _require(value: object, problem: str) -> Iterator[ShapeDifference]:
    if not value:
        yield describe_other_content(problem)


def _compare_order(received: Sequence[str], requested: Sequence[str]) -> Iterator[ShapeDifference]:
    """Yield the differences in the records of a reply: missing, not requested, or in another order."""
    missing = [pmid for pmid in requested if pmid not in received]
    if missing:
        yield describe_other_content(f"no record of {', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''}")
    foreign = [pmid for pmid in received if pmid not in requested]
    if foreign:
        yield describe_other_content(f"records that were not requested: {', '.join(foreign[:3])}")
    if not missing and not foreign and list(received) != list(requested):
        yield ShapeDifference("other_order", "reply", "records in another order than requested")


# E-utilities


def _check_ids(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    reply = parse_esearch(content)
    yield from _require(reply.count >= len(reply.ids) > 0, f"{format_count(len(reply.ids), 'id')} of {reply.count}")
    yield from _require(reply.query_translation, "no translation of the query")


def _check_warning(code: str) -> Holds:
    def holds(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
        received = [warning.code for warning in parse_esearch(content).warnings]
        yield from _require(code in received, f"no warning: {code} is missing in {received or 'the reply'}")

    return holds


def _check_summaries(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    found, _ = summaries.parse_summaries(parse_esummary(content))
    yield from _compare_order([summary.pmid for summary in found], examples.pmids)
    yield from _require(
        all(summary.title and summary.source and summary.pub_date for summary in found), "a summary without its title"
    )


def _read_records(content: bytes) -> list[Record]:
    return [record for record in iter_records(content) if record.kind != "deleted"]


def _check_articles(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    records = _read_records(content)
    yield from _compare_order([record.pmid for record in records], examples.pmids)
    for article in (record.article() for record in records):
        yield from _require(article.title and article.journal_info, f"PMID {article.pmid} without title or journal")


def _check_up_to_500(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    requested = _list_500_ids(examples)
    received = [record.pmid for record in _read_records(content)]
    yield from _compare_order(received, [pmid for pmid in requested if pmid in received])
    yield from _require(received, "no records")


def _list_500_ids(examples: Examples) -> list[str]:
    return [str(examples.first_of_500 + number) for number in range(500)]


def _check_book(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    received = [record.kind for record in _read_records(content)]
    yield from _require(received in (["book"], ["chapter"]), f"{' and '.join(received) or 'nothing'} instead of a book")


def _check_status(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    received = [record.article().standing for record in _read_records(content)]
    yield from _require(received and all(received), "no publication status of a withdrawn work")


def _check_links(name: str, *, scored: bool = False, may_be_none: bool = False, of_gene: bool = False) -> Holds:
    def holds(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
        linksets = parse_linksets(content)
        source = ("gene", examples.gene) if of_gene else ("pubmed", examples.pmids[0])
        received = [(linkset.db_from, uid) for linkset in linksets for uid in linkset.ids]
        yield from _require(received == [source], f"links of {received[:3]} instead of {source}")
        targets = {link.db_to for linkset in linksets for link in linkset.links} - {"pubmed"}
        yield from _require(not targets, f"links to {', '.join(sorted(targets))}")
        links = [link for linkset in linksets for link in linkset.links if link.link_name == name]
        yield from _require(len(linksets) == 1, f"{format_count(len(linksets), 'link set')} for one id")
        yield from _require(links or may_be_none, f"no links named {name}")
        if scored and links:
            yield from _require(all(link.score is not None for link in links), "links without scores")
            scores = [link.score or 0 for link in links]
            if scores != sorted(scores, reverse=True):
                yield ShapeDifference("other_order", "reply", "links that are not sorted by score")

    return holds


def _check_spelling(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    received = parse_espell(content)
    yield from _require(received.corrected, "no correction")
    requested = examples.misspelt.casefold().split()
    yield from _require(received.query.casefold().split() == requested, f"a correction of {received.query[:100]!r}")


def _check_match(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    answers, _ = parse_matches(content)
    yield from _require(0 in answers and answers[0].pmids == (examples.cited,), f"not PMID {examples.cited}")


def _check_headings(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    headings = parse_documents(parse_esummary(content)).documents.values()
    yield from _require(
        headings and all(heading.get("ds_meshterms") for heading in headings), "a heading without its terms"
    )


def _check_genes(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    genes = parse_genes(content)
    yield from _compare_order([gene.id.rpartition(":")[2] for gene in genes], [examples.gene])
    yield from _require(all(gene.symbol and gene.cross_references for gene in genes), "a gene without symbol")


def _check_pubmed_info(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    received = parse_database(content)
    names = {field.name for field in received.fields}
    yield from _require(received.name == "pubmed", f"a description of {received.name}")
    yield from _require(
        received.record_count and {"ALL", "UID", "PDAT", "EDAT"} <= names, "without required search fields"
    )


# ID Converter, PMC, Europe PMC and others


def _check_conversion(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    conversions = parse_converted(content, "pmid", [examples.in_pmc, UNKNOWN_PMID])
    conversion = conversions.get(examples.in_pmc)
    yield from _require(
        conversion and conversion.pmcid == examples.pmcid, f"not {examples.pmcid} for PMID {examples.in_pmc}"
    )
    yield from _require(UNKNOWN_PMID not in conversions, "an article for an unknown PMID")


def _read_bucket_shape(content: bytes) -> Shape:
    return LISTING if b"<ListBucketResult" in content[:500] else RECORD if content[:1] == b"{" else JATS


def _check_full_text(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    articles = [article for article in iter_jats(content) if getattr(article, "has_body", False)]
    yield from _require(articles, "no article with a text")


def _page_of_two(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    page = parse_page(content, "*")
    yield from _require(len(page.articles) == 2, f"{format_count(len(page.articles), 'record')} instead of 2")
    yield from _require(page.next_cursor and not page.skipped, "no cursor for the next page")


def _works(which: str) -> Holds:
    def holds(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
        total, works = read_page(content, "pubmed_citedin" if which == "citations" else "pubmed_references")
        yield from _require(total and works, f"no {which}")

    return holds


def _request_esearch(services: Services, term: str, db: str = "pubmed", **options: Any) -> ESearchReply:
    return parse_esearch(services.eutils.esearch(db=db, term=term, **options).content)


def _request_history(services: Services, examples: Examples) -> ClientReply:
    reply = _request_esearch(services, examples.term, usehistory=True, retmax=0)
    return services.eutils.esummary(db="pubmed", webenv=reply.web_env, query_key=reply.query_key, retstart=0, retmax=3)


def _request_heading(services: Services, examples: Examples) -> ClientReply:
    reply = _request_esearch(services, examples.heading, db="mesh", retmax=1)
    if not reply.ids:
        raise EntityNotFound(
            f"mesh has no heading {examples.heading}.", invalid_input=examples.heading, details={"reason": "not_found"}
        )
    return services.eutils.esummary(db="mesh", ids=reply.ids, version="2.0", retmode="json")


def _request_second_page(services: Services, examples: Examples) -> ClientReply:
    first = parse_page(services.europepmc.search(query=examples.term, page_size=2).content, "*")
    cursor = first.next_cursor or "*"
    reply = services.europepmc.search(query=examples.term, page_size=2, cursor_mark=cursor)
    second = parse_page(reply.content, cursor)
    if second.next_cursor == cursor or _read_names(first) & _read_names(second):
        raise malformed_error("search", "the second page repeats the first")
    return reply


def _read_names(page: Page) -> set[tuple[str, str]]:
    return {(article.source, article.epmc_id) for article in page.articles}


def _work(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    received = str(json.loads(content)["message"].get("DOI"))
    yield from _require(received.lower() == examples.doi.lower(), f"a record of {received[:100]}")


def _check_notices(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    items = json.loads(content)["message"]["items"]
    yield from _require(
        items and all(crossref.is_update_of(item, examples.retracted_doi) for item in items), "other notices"
    )


def _request_records(
    pmids: Callable[[Services, Examples], Sequence[str]], **options: Any
) -> Callable[..., ClientReply]:
    """Return a function that fetches records of PubMed."""
    return lambda s, x: s.eutils.efetch(db="pubmed", ids=pmids(s, x), retmode="xml", **options)


def _request_links(name: str, command: str = "neighbor") -> Callable[..., ClientReply]:
    """Return a function that requests links of an article."""
    return lambda s, x: s.eutils.elink(dbfrom="pubmed", db="pubmed", ids=x.pmids[:1], cmd=command, linkname=name)


_EUTILS: Final = partial(Probe, "eutils")
_EINFO: Final = partial(_EUTILS, "einfo", shape=EINFO)
_ESEARCH: Final = partial(_EUTILS, "esearch", shape=choose_esearch_shape)
_ESUMMARY: Final = partial(_EUTILS, "esummary", shape=summaries.choose_shape)
_EFETCH: Final = partial(_EUTILS, "efetch_pubmed", shape=ARTICLES)
_ELINK: Final = partial(_EUTILS, "elink", shape=ELINK)
_IDCONV: Final = partial(Probe, "idconv", "idconv", shape=CONVERTED)
_EUROPE_PMC: Final = partial(Probe, "europepmc")
_CROSSREF: Final = partial(Probe, "crossref", "crossref")

# In these rows ``s`` are the clients, ``x`` the examples and ``c`` the bytes of the reply.
PROBES: Final[tuple[Probe, ...]] = (
    _EINFO(
        "EInfo, all databases",
        lambda s, x: s.eutils.einfo(),
        lambda c, x: _require("pubmed" in parse_database_list(c), "no pubmed among the databases"),
    ),
    _EINFO("EInfo of PubMed", lambda s, x: s.eutils.einfo(db="pubmed"), _check_pubmed_info),
    _ESEARCH("ESearch", lambda s, x: s.eutils.esearch(db="pubmed", term=x.term), _check_ids),
    _ESEARCH("ESearch as JSON", lambda s, x: s.eutils.esearch(db="pubmed", term=x.term, retmode="json"), _check_ids),
    _ESEARCH(
        "ESearch, phrase that is nowhere",
        lambda s, x: s.eutils.esearch(db="pubmed", term=f"{x.term} AND {NO_PHRASE}"),
        _check_warning("phrase_not_found"),
    ),
    _ESEARCH(
        "ESearch, unknown field",
        lambda s, x: s.eutils.esearch(db="pubmed", term=f"{x.term}[{NO_FIELD}]"),
        _check_warning("field_not_found"),
    ),
    _ESEARCH(
        "ESearch, no hits",
        lambda s, x: s.eutils.esearch(db="pubmed", term=x.term, mindate="1500", maxdate="1501", datetype="pdat"),
        lambda c, x: _require(
            not (found := parse_esearch(c)).count and not found.ids,
            f"{format_count(found.count, 'hit')} instead of none",
        ),
    ),
    _ESEARCH(
        "ESearch past 9,999 records",
        lambda s, x: s.eutils.esearch(db="pubmed", term=x.many or "", retstart=9_999, retmax=10),
        shape=None,
        refusal=(InvalidInput, "retstart_out_of_range"),
        needs=lambda x: None if x.many else "the sandbox has no query with enough hits",
    ),
    _ESUMMARY(
        "ESummary from the history",
        _request_history,
        lambda c, x: _require(
            (received := len(summaries.parse_summaries(parse_esummary(c))[0])) == 3,
            f"{format_count(received, 'summary', 'summaries')} instead of 3",
        ),
    ),
    _ESUMMARY("ESummary 2.0, XML", lambda s, x: s.eutils.esummary(db="pubmed", ids=x.pmids), _check_summaries),
    _ESUMMARY(
        "ESummary, JSON", lambda s, x: s.eutils.esummary(db="pubmed", ids=x.pmids, retmode="json"), _check_summaries
    ),
    _EFETCH("EFetch, XML", _request_records(lambda s, x: x.pmids), _check_articles),
    _EUTILS(
        "efetch_medline",
        "EFetch, MEDLINE",
        lambda s, x: s.eutils.efetch(db="pubmed", ids=x.pmids, rettype="medline", retmode="text"),
        lambda c, x: _compare_order([pmid for pmid, _ in read_medline(c)], x.pmids),
        MEDLINE,
    ),
    _EFETCH("EFetch, 500 ids by POST", _request_records(lambda s, x: _list_500_ids(x), post=True), _check_up_to_500),
    _EFETCH("EFetch, book", _request_records(lambda s, x: [x.book]), _check_book),
    _EFETCH(
        "EFetch, unknown id",
        _request_records(lambda s, x: [UNKNOWN_PMID]),
        lambda c, x: _require(not _read_records(c), "a record of an unknown PMID"),
        refusal=(EntityNotFound, "not_found"),
    ),
    _EFETCH(
        "EFetch, withdrawn work",
        _request_records(lambda s, x: _request_esearch(s, x.withdrawn, retmax=1).ids or [UNKNOWN_PMID]),
        _check_status,
    ),
    _EFETCH("EFetch, retracted work", _request_records(lambda s, x: [x.retracted]), _check_status),
    _ELINK("ELink, similar articles", _request_links("pubmed_pubmed"), _check_links("pubmed_pubmed")),
    _ELINK(
        "ELink with scores",
        _request_links("pubmed_pubmed", "neighbor_score"),
        _check_links("pubmed_pubmed", scored=True),
    ),
    _ELINK("ELink, citing articles", _request_links("pubmed_pubmed_citedin"), _check_links("pubmed_pubmed_citedin")),
    _ELINK(
        "ELink, references", _request_links("pubmed_pubmed_refs"), _check_links("pubmed_pubmed_refs", may_be_none=True)
    ),
    _ELINK(
        "ELink, gene to PubMed",
        lambda s, x: s.eutils.elink(dbfrom="gene", db="pubmed", ids=[x.gene], linkname="gene_pubmed"),
        _check_links("gene_pubmed", of_gene=True),
    ),
    _EUTILS(
        "epost",
        "EPost",
        lambda s, x: s.eutils.epost(db="pubmed", ids=x.pmids),
        lambda c, x: _require(not parse_epost(c).invalid_ids, "valid ids that are reported as invalid"),
        choose_epost_shape,
    ),
    _EUTILS(
        "espell",
        "ESpell",
        lambda s, x: s.eutils.espell(term=x.misspelt),
        _check_spelling,
        choose_espell_shape,
    ),
    _EUTILS("ecitmatch", "ECitMatch", lambda s, x: s.eutils.ecitmatch(bdata=x.citation), _check_match, ECITMATCH),
    _EUTILS(
        "egquery",
        "EGQuery",
        lambda s, x: s.eutils.egquery(term=x.term, deadline_ms=10_000),
        lambda c, x: _require(any(count.count for count in parse_counts(c)), "no counts"),
        EGQUERY,
        may_be_gone=True,
    ),
    _ESUMMARY("MeSH heading", _request_heading, _check_headings, shape=None),
    _EUTILS(
        "efetch_gene",
        "Gene, XML",
        lambda s, x: s.eutils.efetch(db="gene", ids=[x.gene], retmode="xml"),
        _check_genes,
        GENES,
    ),
    _ESUMMARY(
        "Gene, summary",
        lambda s, x: s.eutils.esummary(db="gene", ids=[x.gene]),
        lambda c, x: _compare_order(list(parse_gene_summaries(parse_esummary(c))), [x.gene]),
        shape=GENE_SUMMARIES,
    ),
    _IDCONV(
        "A known id and an unknown one",
        lambda s, x: s.idconv.convert([x.in_pmc, UNKNOWN_PMID], idtype="pmid"),
        _check_conversion,
    ),
    _IDCONV(
        "Ids that are of no such kind",
        lambda s, x: s.idconv.convert([x.pmcid, x.in_pmc], idtype="pmid"),
        lambda c, x: _require(x.in_pmc in parse_converted(c, "pmid"), f"no result for PMID {x.in_pmc}"),
        refusal=(EntrezKitError, None),
    ),
    Probe(
        "pmc_oa",
        "jats",
        "List of versions, record and XML of an article",
        lambda s, x: s.pmc_oa.fetch_article(x.pmcid),
        _check_full_text,
        _read_bucket_shape,
        every=True,
    ),
    _EUROPE_PMC(
        "europepmc",
        "Search",
        lambda s, x: s.europepmc.search(query=x.term, page_size=2),
        _page_of_two,
        shape=SEARCH_REPLY,
    ),
    _EUROPE_PMC("europepmc", "Search, second page", _request_second_page, _page_of_two, shape=SEARCH_REPLY),
    _EUROPE_PMC(
        "jats", "Full text", lambda s, x: s.europepmc.fetch_full_text(x.free_text), _check_full_text, shape=JATS
    ),
    _EUROPE_PMC(
        "europepmc_links",
        "Citations",
        lambda s, x: s.europepmc.fetch_links("citations", "MED", x.pmids[1], page_size=25),
        _works("citations"),
        shape=LINKED,
    ),
    _EUROPE_PMC(
        "europepmc_links",
        "References",
        lambda s, x: s.europepmc.fetch_links("references", "MED", x.pmids[1], page_size=25),
        _works("references"),
        shape=LINKED,
    ),
    Probe(
        "unpaywall",
        "unpaywall",
        "Open-access copy",
        lambda s, x: s.unpaywall.find_location(x.doi),
        lambda c, x: _require(read_open_access(c).doi.lower() == x.doi.lower(), "another DOI"),
        OPEN_ACCESS,
    ),
    _CROSSREF("Record of a work", lambda s, x: s.crossref.work(x.doi), _work, crossref.WORK),
    _CROSSREF(
        "Notices about a work",
        lambda s, x: s.crossref.list_updates([x.retracted_doi]),
        _check_notices,
        crossref.UPDATES,
    ),
    _CROSSREF(
        "Agency of a DOI",
        lambda s, x: s.crossref.agency(x.doi),
        lambda c, x: _require(json.loads(c)["message"]["DOI"].lower() == x.doi.lower(), "another DOI"),
        crossref.AGENCY,
    ),
    Probe(
        "openalex",
        "openalex",
        "Standing of a work",
        lambda s, x: s.openalex.is_retracted(x.retracted_doi),
        shape=openalex.WORK,
    ),
)
"""The probes in the order of their requests, grouped by service."""
