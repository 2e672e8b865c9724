"""The requests of ``doctor --deep``, one row each: what is asked, which reader judges the answer, what is due in it.

What a row needs to know of a service stands in its reader and in the shape beside it; here stands only what this one
answer has to hold. ``REAL`` are records that have stood where they stand for years, ``DEMO`` those of the sandbox.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from entrez_kit.citations.check.sources import named_sources
from entrez_kit.databases.documents import parse_documents
from entrez_kit.databases.info import EGQUERY, parse_counts, parse_database
from entrez_kit.databases.linksets import ELINK, parse_linksets
from entrez_kit.databases.names import EINFO, parse_database_list
from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput
from entrez_kit.europepmc.records import FOUND, parse_page
from entrez_kit.fulltext.jats.article import iter_jats
from entrez_kit.fulltext.jats.tree import JATS
from entrez_kit.gene.records import GENES, parse_genes
from entrez_kit.gene.summaries import SUMMARIES as GENE_SUMMARIES
from entrez_kit.gene.summaries import parse_summaries as parse_gene_summaries
from entrez_kit.pubmed import summaries
from entrez_kit.pubmed.match import ECITMATCH, parse_matches
from entrez_kit.pubmed.resolution import CONVERTED, parse_converted
from entrez_kit.pubmed.xml.records import ARTICLES, Record, iter_records
from entrez_kit.relationships.fallback import LINKED, read_page
from entrez_kit.services import Services, crossref, openalex
from entrez_kit.services.esearch_reply import ESearchReply, parse_esearch
from entrez_kit.services.esearch_reply import shape_of as esearch_shape
from entrez_kit.services.esummary_reply import parse_esummary
from entrez_kit.services.flat_files import MEDLINE, read_medline
from entrez_kit.services.known_shapes import Shape, ShapeDifference
from entrez_kit.services.pmc_cloud import LISTING, RECORD
from entrez_kit.services.unpaywall import OPEN_ACCESS, read_open_access
from entrez_kit.services.xml_reply import EPOST, ESPELL, parse_epost, parse_espell
from entrez_kit.settings import Settings

UNKNOWN_PMID: Final = "999999999"
NO_PHRASE: Final = "zzqxyvwkk"
NO_FIELD: Final = "nosuchfield"


@dataclass(frozen=True, slots=True)
class Examples:
    """What the probes ask for. ``many`` is a query with more than 9,999 hits, None where there is none."""

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


class Answered(Protocol):
    """What a client returns."""

    @property
    def content(self) -> bytes:
        """The bytes of the reply."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What a probe asks with."""

    services: Services
    examples: Examples


Holds = Callable[[bytes, Examples], Iterator[ShapeDifference]]
"""Reads a reply as the kit does, and yields what is not as it was asked for; raises ``UpstreamError`` where it cannot
be read."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One request.

    Args:
        name: what is asked, as the report calls it.
        service: the policy that holds for it.
        folder: where recordings of such replies stand.
        ask: sends it.
        shape: what is known of the reply.
        every: whether the shape holds for every reply on the way, and not for the last alone.
        holds: reads the reply.
        refusal: the error that is due in place of a reply, and its reason, or None where any word of a status 4xx will
            do; with ``holds``, a reply will do as well.
        may_be_gone: whether the service is known to have switched it off, which the kit lives with.
        needs: says why it cannot be asked with these settings, or None.
    """

    name: str
    service: str
    folder: str
    ask: Callable[[Asking], Answered]
    shape: Shape | Callable[[bytes], Shape] | None = None
    holds: Holds | None = None
    refusal: tuple[type[EntrezKitError], str | None] | None = None
    every: bool = False
    may_be_gone: bool = False
    needs: Callable[[Settings, Examples], str | None] = lambda settings, examples: None


def other_content(what: str) -> ShapeDifference:
    """Return the difference of a reply that can be read and says something else than it should."""
    return ShapeDifference("other_content", "reply", what)


def _due(given: object, what: str) -> Iterator[ShapeDifference]:
    if not given:
        yield other_content(what)


def _ordered(told: Sequence[str], asked: Sequence[str]) -> Iterator[ShapeDifference]:
    """Yield what is wrong with the records of a reply: some lack, others are too many, or the order is another."""
    lacking = [one for one in asked if one not in told]
    if lacking:
        yield other_content(f"no record of {', '.join(lacking[:3])}{' ...' if len(lacking) > 3 else ''}")
    foreign = [one for one in told if one not in asked]
    if foreign:
        yield other_content(f"records that were not asked for: {', '.join(foreign[:3])}")
    if not lacking and not foreign and list(told) != list(asked):
        yield ShapeDifference("other_order", "reply", "records in another order than they were asked for")


# E-utilities


def _some_ids(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    found = parse_esearch(content)
    yield from _due(found.count >= len(found.ids) > 0, f"{len(found.ids)} ids of {found.count}")
    yield from _due(found.query_translation, "no translation of the query")


def _complains(code: str) -> Holds:
    def holds(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
        told = [complaint.code for complaint in parse_esearch(content).complaints]
        yield from _due(code in told, f"no word on it: {code} is not among {told or 'its complaints'}")

    return holds


def _no_hits(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    found = parse_esearch(content)
    yield from _due(not found.count and not found.ids, f"{found.count} hits where there can be none")


def _kept_in_history(asking: Asking) -> Answered:
    found = _history(asking)
    return asking.services.eutils.esummary(
        db="pubmed", webenv=found.web_env, query_key=found.query_key, retstart=0, retmax=3
    )


def _history(asking: Asking) -> ESearchReply:
    term = asking.examples.term
    return parse_esearch(asking.services.eutils.esearch(db="pubmed", term=term, usehistory=True, retmax=0).content)


def _summaries(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    found, _ = summaries.parse_summaries(parse_esummary(content))
    yield from _ordered([one.pmid for one in found], examples.pmids)
    yield from _due(all(one.title and one.source and one.pub_date for one in found), "a summary without its title")


def _three_summaries(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    found, _ = summaries.parse_summaries(parse_esummary(content))
    yield from _due(len(found) == 3, f"{len(found)} summaries where 3 were due")


def _records(content: bytes) -> list[Record]:
    return [record for record in iter_records(content) if record.kind != "deleted"]


def _articles(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    found = _records(content)
    yield from _ordered([record.pmid for record in found], examples.pmids)
    for article in (record.article() for record in found):
        yield from _due(article.title and article.journal_info, f"PMID {article.pmid} without title or journal")


def _up_to_500(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    asked = _ids_of_500(examples)
    told = [record.pmid for record in _records(content)]
    yield from _ordered(told, [pmid for pmid in asked if pmid in told])
    yield from _due(told, "no records")


def _ids_of_500(examples: Examples) -> list[str]:
    return [str(examples.first_of_500 + number) for number in range(500)]


def _one_of_kind(*kinds: str) -> Holds:
    def holds(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
        told = [record.kind for record in _records(content)]
        yield from _due(len(told) == 1 and told[0] in kinds, f"{' and '.join(told) or 'nothing'} where a book was due")

    return holds


def _no_records(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    yield from _due(not _records(content), "a record of a PMID that does not exist")


def _in_doubt(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    told = [record.article().standing for record in _records(content)]
    yield from _due(told and all(told), "nothing on how a withdrawn work stands")


def _withdrawn(asking: Asking) -> Answered:
    found = asking.services.eutils.esearch(db="pubmed", term=asking.examples.withdrawn, retmax=1)
    return _efetch(asking, parse_esearch(found.content).ids or [UNKNOWN_PMID])


def _efetch(asking: Asking, pmids: Sequence[str], **options: Any) -> Answered:
    return asking.services.eutils.efetch(db="pubmed", ids=pmids, retmode="xml", **options)


def _medline(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    yield from _ordered([pmid for pmid, _ in read_medline(content)], examples.pmids)


def _links(name: str, *, scored: bool = False, may_be_none: bool = False) -> Holds:
    def holds(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
        linksets = parse_linksets(content)
        links = [link for linkset in linksets for link in linkset.links if link.link_name == name]
        yield from _due(len(linksets) == 1, f"{len(linksets)} link sets for one id")
        yield from _due(links or may_be_none, f"no links named {name}")
        if scored and links:
            yield from _due(all(link.score is not None for link in links), "links without scores")
            scores = [link.score or 0 for link in links]
            if scores != sorted(scores, reverse=True):
                yield ShapeDifference("other_order", "reply", "links that are not in the order of their scores")

    return holds


def _linked(asking: Asking, name: str, command: str = "neighbor") -> Answered:
    pmid = asking.examples.pmids[0]
    return asking.services.eutils.elink(dbfrom="pubmed", db="pubmed", ids=[pmid], cmd=command, linkname=name)


def _posted(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    yield from _due(not parse_epost(content).invalid_ids, "ids that are called invalid")


def _corrected(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    yield from _due(parse_espell(content).corrected, "no correction")


def _matched(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    answers, _ = parse_matches(content)
    yield from _due(0 in answers and answers[0].pmids == (examples.cited,), f"not PMID {examples.cited}")


def _counted(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    yield from _due(any(one.count for one in parse_counts(content)), "no counts")


def _heading(asking: Asking) -> Answered:
    eutils, heading = asking.services.eutils, asking.examples.heading
    found = parse_esearch(eutils.esearch(db="mesh", term=heading, retmax=1).content)
    if not found.ids:
        raise EntityNotFound(f"mesh has no heading {heading}.", invalid_input=heading)
    return eutils.esummary(db="mesh", ids=found.ids, version="2.0", retmode="json")


def _headings(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    found = parse_documents(parse_esummary(content)).documents.values()
    yield from _due(found and all(one.get("ds_meshterms") for one in found), "a heading without its terms")


def _genes(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    found = parse_genes(content)
    yield from _ordered([gene.id.rpartition(":")[2] for gene in found], [examples.gene])
    yield from _due(all(gene.symbol and gene.cross_references for gene in found), "a gene without symbol")


def _gene_summaries(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    yield from _ordered(list(parse_gene_summaries(parse_esummary(content))[0]), [examples.gene])


def _databases(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    yield from _due("pubmed" in parse_database_list(content), "no pubmed among the databases")


def _about_pubmed(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    told = parse_database(content)
    names = {field.name for field in told.fields}
    yield from _due(told.record_count and {"ALL", "UID", "PDAT", "EDAT"} <= names, "without fields that are searched")


# ID Converter, PMC, Europe PMC and others


def _converted(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    found = parse_converted(content, "pmid")
    own = found.get(examples.in_pmc)
    yield from _due(own and own.pmcid == examples.pmcid, f"not {examples.pmcid} for PMID {examples.in_pmc}")
    yield from _due(UNKNOWN_PMID not in found, "an article for a PMID that does not exist")


def _converted_in_part(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    yield from _due(examples.in_pmc in parse_converted(content, "pmid"), f"nothing on PMID {examples.in_pmc}")


def _bucket_shape(content: bytes) -> Shape:
    return LISTING if b"<ListBucketResult" in content[:500] else RECORD if content[:1] == b"{" else JATS


def _full_text(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    found = [article for article in iter_jats(content) if getattr(article, "has_body", False)]
    yield from _due(found, "no article with a text")


def _page(size: int) -> Holds:
    def holds(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
        page = parse_page(content, "*")
        yield from _due(len(page.articles) == size, f"{len(page.articles)} records where {size} were due")
        yield from _due(page.next_cursor and not page.skipped, "no cursor for the next page")

    return holds


def _second_page(asking: Asking) -> Answered:
    client, term = asking.services.europepmc, asking.examples.term
    first = parse_page(client.search(query=term, page_size=2).content, "*")
    return client.search(query=term, page_size=2, cursor_mark=first.next_cursor or "*")


def _works(which: str) -> Holds:
    def holds(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
        total, works = read_page(content, "pubmed_citedin" if which == "citations" else "pubmed_references")
        yield from _due(total and works, f"no {which}")

    return holds


def _open_access(content: bytes, examples: Examples) -> Iterator[ShapeDifference]:
    yield from _due(read_open_access(content).doi.lower() == examples.doi.lower(), "another DOI")


def _needs_europepmc(settings: Settings, examples: Examples) -> str | None:
    return None if settings.europepmc_enabled else "EUROPEPMC_ENABLED=false"


def _needs_email(settings: Settings, examples: Examples) -> str | None:
    return None if settings.unpaywall_email is not None else "UNPAYWALL_EMAIL is not set"


def _needs_source(name: str) -> Callable[[Settings, Examples], str | None]:
    def needs(settings: Settings, examples: Examples) -> str | None:
        asked = named_sources(settings.check_sources)
        return None if name in asked else f"ENTREZ_KIT_CHECK_SOURCES does not name {name}"

    return needs


def _needs_many(settings: Settings, examples: Examples) -> str | None:
    return None if examples.many else "no query has so many hits here"


PROBES: Final[tuple[Probe, ...]] = (
    Probe("EInfo, all databases", "eutils", "einfo", lambda a: a.services.eutils.einfo(), EINFO, _databases),
    Probe("EInfo of PubMed", "eutils", "einfo", lambda a: a.services.eutils.einfo(db="pubmed"), EINFO, _about_pubmed),
    Probe(
        "ESearch",
        "eutils",
        "esearch",
        lambda a: a.services.eutils.esearch(db="pubmed", term=a.examples.term),
        esearch_shape,
        _some_ids,
    ),
    Probe(
        "ESearch as JSON",
        "eutils",
        "esearch",
        lambda a: a.services.eutils.esearch(db="pubmed", term=a.examples.term, retmode="json"),
        esearch_shape,
        _some_ids,
    ),
    Probe(
        "ESearch, phrase that is nowhere",
        "eutils",
        "esearch",
        lambda a: a.services.eutils.esearch(db="pubmed", term=f"{a.examples.term} AND {NO_PHRASE}"),
        esearch_shape,
        _complains("phrase_not_found"),
    ),
    Probe(
        "ESearch, unknown field",
        "eutils",
        "esearch",
        lambda a: a.services.eutils.esearch(db="pubmed", term=f"{a.examples.term}[{NO_FIELD}]"),
        esearch_shape,
        _complains("field_not_found"),
    ),
    Probe(
        "ESearch, no hits",
        "eutils",
        "esearch",
        lambda a: a.services.eutils.esearch(
            db="pubmed", term=a.examples.term, mindate="1500", maxdate="1501", datetype="pdat"
        ),
        esearch_shape,
        _no_hits,
    ),
    Probe(
        "ESearch past 9,999 records",
        "eutils",
        "esearch",
        lambda a: a.services.eutils.esearch(db="pubmed", term=a.examples.many or "", retstart=9_999, retmax=10),
        refusal=(InvalidInput, "retstart_out_of_range"),
        needs=_needs_many,
    ),
    Probe("ESummary from the history", "eutils", "esummary", _kept_in_history, summaries.shape_of, _three_summaries),
    Probe(
        "ESummary 2.0, XML",
        "eutils",
        "esummary",
        lambda a: a.services.eutils.esummary(db="pubmed", ids=a.examples.pmids),
        summaries.shape_of,
        _summaries,
    ),
    Probe(
        "ESummary, JSON",
        "eutils",
        "esummary",
        lambda a: a.services.eutils.esummary(db="pubmed", ids=a.examples.pmids, retmode="json"),
        summaries.shape_of,
        _summaries,
    ),
    Probe("EFetch, XML", "eutils", "efetch_pubmed", lambda a: _efetch(a, a.examples.pmids), ARTICLES, _articles),
    Probe(
        "EFetch, MEDLINE",
        "eutils",
        "efetch_medline",
        lambda a: a.services.eutils.efetch(db="pubmed", ids=a.examples.pmids, rettype="medline", retmode="text"),
        MEDLINE,
        _medline,
    ),
    Probe(
        "EFetch, 500 ids by POST",
        "eutils",
        "efetch_pubmed",
        lambda a: _efetch(a, _ids_of_500(a.examples), post=True),
        ARTICLES,
        _up_to_500,
    ),
    Probe(
        "EFetch, book",
        "eutils",
        "efetch_pubmed",
        lambda a: _efetch(a, [a.examples.book]),
        ARTICLES,
        _one_of_kind("book", "chapter"),
    ),
    Probe(
        "EFetch, unknown id",
        "eutils",
        "efetch_pubmed",
        lambda a: _efetch(a, [UNKNOWN_PMID]),
        ARTICLES,
        _no_records,
        refusal=(EntityNotFound, "not_found"),
    ),
    Probe("EFetch, withdrawn work", "eutils", "efetch_pubmed", _withdrawn, ARTICLES, _in_doubt),
    Probe(
        "EFetch, retracted work",
        "eutils",
        "efetch_pubmed",
        lambda a: _efetch(a, [a.examples.retracted]),
        ARTICLES,
        _in_doubt,
    ),
    Probe(
        "ELink, similar articles",
        "eutils",
        "elink",
        lambda a: _linked(a, "pubmed_pubmed"),
        ELINK,
        _links("pubmed_pubmed"),
    ),
    Probe(
        "ELink with scores",
        "eutils",
        "elink",
        lambda a: _linked(a, "pubmed_pubmed", "neighbor_score"),
        ELINK,
        _links("pubmed_pubmed", scored=True),
    ),
    Probe(
        "ELink, citing articles",
        "eutils",
        "elink",
        lambda a: _linked(a, "pubmed_pubmed_citedin"),
        ELINK,
        _links("pubmed_pubmed_citedin"),
    ),
    Probe(
        "ELink, references",
        "eutils",
        "elink",
        lambda a: _linked(a, "pubmed_pubmed_refs"),
        ELINK,
        _links("pubmed_pubmed_refs", may_be_none=True),
    ),
    Probe(
        "ELink, gene to PubMed",
        "eutils",
        "elink",
        lambda a: a.services.eutils.elink(dbfrom="gene", db="pubmed", ids=[a.examples.gene], linkname="gene_pubmed"),
        ELINK,
        _links("gene_pubmed"),
    ),
    Probe(
        "EPost",
        "eutils",
        "epost",
        lambda a: a.services.eutils.epost(db="pubmed", ids=a.examples.pmids),
        EPOST,
        _posted,
    ),
    Probe(
        "ESpell", "eutils", "espell", lambda a: a.services.eutils.espell(term=a.examples.misspelt), ESPELL, _corrected
    ),
    Probe(
        "ECitMatch",
        "eutils",
        "ecitmatch",
        lambda a: a.services.eutils.ecitmatch(bdata=a.examples.citation),
        ECITMATCH,
        _matched,
    ),
    Probe(
        "EGQuery",
        "eutils",
        "egquery",
        lambda a: a.services.eutils.egquery(term=a.examples.term, deadline_ms=10_000),
        EGQUERY,
        _counted,
        may_be_gone=True,
    ),
    Probe("MeSH heading", "eutils", "esummary", _heading, None, _headings),
    Probe(
        "Gene, XML",
        "eutils",
        "efetch_gene",
        lambda a: a.services.eutils.efetch(db="gene", ids=[a.examples.gene], retmode="xml"),
        GENES,
        _genes,
    ),
    Probe(
        "Gene, summary",
        "eutils",
        "esummary",
        lambda a: a.services.eutils.esummary(db="gene", ids=[a.examples.gene]),
        GENE_SUMMARIES,
        _gene_summaries,
    ),
    Probe(
        "A known id and an unknown one",
        "idconv",
        "idconv",
        lambda a: a.services.idconv.convert([a.examples.in_pmc, UNKNOWN_PMID], idtype="pmid"),
        CONVERTED,
        _converted,
    ),
    Probe(
        "Ids that are of no such kind",
        "idconv",
        "idconv",
        lambda a: a.services.idconv.convert([a.examples.pmcid, a.examples.in_pmc], idtype="pmid"),
        CONVERTED,
        _converted_in_part,
        refusal=(EntrezKitError, None),
    ),
    Probe(
        "List of versions, record and XML of an article",
        "pmc_oa",
        "jats",
        lambda a: a.services.pmc_oa.article_xml(a.examples.pmcid),
        _bucket_shape,
        _full_text,
        every=True,
    ),
    Probe(
        "Search",
        "europepmc",
        "europepmc",
        lambda a: a.services.europepmc.search(query=a.examples.term, page_size=2),
        FOUND,
        _page(2),
        needs=_needs_europepmc,
    ),
    Probe("Search, second page", "europepmc", "europepmc", _second_page, FOUND, _page(2), needs=_needs_europepmc),
    Probe(
        "Full text",
        "europepmc",
        "jats",
        lambda a: a.services.europepmc.full_text_xml(a.examples.free_text),
        JATS,
        _full_text,
        needs=_needs_europepmc,
    ),
    Probe(
        "Citations",
        "europepmc",
        "europepmc_links",
        lambda a: a.services.europepmc.linked("citations", "MED", a.examples.pmids[1], page_size=25),
        LINKED,
        _works("citations"),
        needs=_needs_europepmc,
    ),
    Probe(
        "References",
        "europepmc",
        "europepmc_links",
        lambda a: a.services.europepmc.linked("references", "MED", a.examples.pmids[1], page_size=25),
        LINKED,
        _works("references"),
        needs=_needs_europepmc,
    ),
    Probe(
        "Open-access copy",
        "unpaywall",
        "unpaywall",
        lambda a: a.services.unpaywall.location(a.examples.doi),
        OPEN_ACCESS,
        _open_access,
        needs=_needs_email,
    ),
    Probe(
        "Record of a work",
        "crossref",
        "crossref",
        lambda a: a.services.crossref.work(a.examples.doi),
        crossref.WORK,
        needs=_needs_source("crossref"),
    ),
    Probe(
        "Notices about a work",
        "crossref",
        "crossref",
        lambda a: a.services.crossref.updates([a.examples.retracted_doi]),
        crossref.UPDATES,
        needs=_needs_source("crossref"),
    ),
    Probe(
        "Standing of a work",
        "openalex",
        "openalex",
        lambda a: a.services.openalex.is_retracted(a.examples.retracted_doi),
        openalex.WORK,
        needs=_needs_source("openalex"),
    ),
)
"""In the order in which they are asked; those of one service follow one another."""
