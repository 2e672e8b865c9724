"""Services whose replies a test decides: the real clients over a transport that sends nothing."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from entrez_kit import load_settings
from entrez_kit.base.errors import EntityNotFound, UpstreamError
from entrez_kit.fulltext.fetch_fulltext import FETCH_FULLTEXT, FulltextResult
from entrez_kit.services import Services
from entrez_kit.services.transport import Call, Reply, T
from entrez_kit.services.transport.client import Transport

Answerer = Callable[[Call], bytes]
"""Answers a call with a body, or raises an error."""


def fail_down(call: Call) -> bytes:
    """Fail like a service that does not answer any attempt."""
    raise UpstreamError(
        f"{call.service} did not answer {call.endpoint}.",
        details={"reason": "ncbi_unreachable", "service": call.service, "endpoint": call.endpoint},
    )


def fail_missing(call: Call) -> bytes:
    """Report that the record does not exist."""
    raise EntityNotFound(f"{call.service} has no such record.", details={"reason": "not_found"})


def always_answer(content: bytes) -> Answerer:
    """Return a function that always gives the same answer."""
    return lambda call: content


def list_nothing(call: Call) -> bytes:
    """Answer like PMC's open-data bucket for an article that it does not have."""
    return b'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>'


@dataclass
class PreparedServices:
    """Calls by service and endpoint, and their replies; an endpoint without a reply is down."""

    answers: dict[str, Answerer] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    responder: None = None
    recording: None = None

    def send(self, call: Call[T]) -> Reply[T]:
        """Answer like the transport."""
        self.calls.append(call)
        name = f"{call.service}/{call.endpoint}" + (f"/{db}" if (db := call.get_param("db")) else "")
        content = self.answers.get(name, fail_down)(call)
        return Reply(
            content=content,
            value=call.expect.read(content),
            url=call.shown_url,
            method=call.method,
            from_cache=False,
            status=200,
            attempts=1,
        )

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def services(self, **settings: object) -> Services:
        """Return services over this transport."""
        loaded = load_settings({"unpaywall_email": "reader@entrez-kit.invalid", **settings}, environ={})
        return Services(loaded, transport=cast(Transport, self))

    def fetch(self, services: Services | None = None, **arguments: Any) -> FulltextResult:
        """Fetch full text with these replies."""
        return FETCH_FULLTEXT.run(services or self.services(), arguments)

    def sent(self, service: str) -> list[Call]:
        """Return the calls that a service received."""
        return [call for call in self.calls if call.service == service]


def write_jats(pmcid: str, *, body: bool = True, doi: str | None = None) -> str:
    """Return an article with or without a text."""
    ids = f'<article-id pub-id-type="pmcid">{pmcid}</article-id>'
    ids += f'<article-id pub-id-type="doi">{doi}</article-id>' if doi else ""
    text = "<body><sec><title>Results</title><p>Text.</p></sec></body>" if body else ""
    title = "<title-group><article-title>T</article-title></title-group>"
    return f"<article><front><article-meta>{ids}{title}</article-meta></front>{text}</article>"


def write_pmc_set(*articles: str) -> bytes:
    """Return a reply of EFetch."""
    return f"<pmc-articleset>{''.join(articles)}</pmc-articleset>".encode()


def write_not_in_pmc(number: str) -> str:
    """Return PMC's reply about an id that it does not have."""
    return f'<error id="{number}">The following PMCID is not available: {number}</error>'


def write_converted_ids(call: Call, *records: Mapping[str, object]) -> bytes:
    """Return a reply of the ID Converter: these records, and an error for each other requested id."""
    known = {str(record["requested-id"]) for record in records}
    unknown = [one for one in (call.get_param("ids") or "").split(",") if one not in known]
    errors = [{"requested-id": one, "status": "error", "errmsg": "Identifier not found in PMC"} for one in unknown]
    return json.dumps({"status": "ok", "records": [*records, *errors]}).encode()


def write_pubmed_set(*records: tuple[str, str | None, str | None]) -> bytes:
    """Return PubMed records of PMID, DOI and PMCID."""
    articles = "".join(
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article><Journal/>'
        "<ArticleTitle>T</ArticleTitle></Article></MedlineCitation><PubmedData><ArticleIdList>"
        + (f'<ArticleId IdType="doi">{doi}</ArticleId>' if doi else "")
        + (f'<ArticleId IdType="pmc">{pmcid}</ArticleId>' if pmcid else "")
        + "</ArticleIdList></PubmedData></PubmedArticle>"
        for pmid, doi, pmcid in records
    )
    return f"<PubmedArticleSet>{articles}</PubmedArticleSet>".encode()


def write_found_ids(*pmids: str) -> bytes:
    """Return a reply of ESearch."""
    ids = "".join(f"<Id>{pmid}</Id>" for pmid in pmids)
    return f"<eSearchResult><Count>{len(pmids)}</Count><IdList>{ids}</IdList></eSearchResult>".encode()


def write_hits(*records: dict[str, str]) -> bytes:
    """Return a reply of Europe PMC's search."""
    titled = [{"title": "T", **record} for record in records]
    return json.dumps({"hitCount": len(records), "resultList": {"result": titled}}).encode()


def write_open_access(doi: str, *locations: dict[str, str]) -> bytes:
    """Return a reply of Unpaywall."""
    best = locations[0] if locations else None
    document = {"doi": doi, "is_oa": bool(locations), "title": "T", "best_oa_location": best, "oa_locations": locations}
    return json.dumps(document).encode()
