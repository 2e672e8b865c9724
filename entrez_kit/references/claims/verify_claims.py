"""Verify claims: search each claim in the abstracts and full texts of the articles that it cites."""

from collections import Counter
from collections.abc import Iterator, Sequence

from entrez_kit.base.errors import RateLimited, UpstreamError
from entrez_kit.base.frontend_text import RESUME_HINT
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.base.progress import stop_if_cancelled
from entrez_kit.core.operation import AgentOptions, StreamOperation
from entrez_kit.core.outcomes import SummarizedOutcomes, drain
from entrez_kit.fulltext.fetch_fulltext import FulltextRequest, Fulltexts
from entrez_kit.fulltext.fulltext_articles import FulltextArticle, PmcArticle, Section
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.pubmed.standing import choose_graver
from entrez_kit.references.claims.claim_results import (
    MAX_MCP_CLAIMS,
    STATUSES,
    VerifiedClaim,
    VerifyRequest,
    VerifyResult,
)
from entrez_kit.references.claims.match_claims import ClaimMatcher, Paper
from entrez_kit.references.claims.sentence_index import TextPart
from entrez_kit.services import Services


class ClaimOutcomes(SummarizedOutcomes[VerifiedClaim, VerifyResult]):
    """The outcomes of claims, in order. All texts are fetched first.

    After the iteration, ``result`` returns the result document.
    """

    def __init__(self, services: Services, request: VerifyRequest) -> None:
        super().__init__()
        self._services = services
        self._request = request
        self._verified: list[VerifiedClaim] = []

    def _yield_items(self) -> Iterator[VerifiedClaim]:
        claims = self._request.claims
        papers = _fetch_papers(
            self._services, list(dict.fromkeys(_make_key(cited_id) for claim in claims for cited_id in claim.ids)), self
        )
        failed = [paper.failure for paper in papers.values() if paper.failure is not None and not paper.parts]
        if failed and len(failed) == len(papers):
            raise failed[0]
        matcher = ClaimMatcher(list(papers.values()))
        for claim in claims:
            cited = [papers[_make_key(cited_id)] for cited_id in claim.ids]
            outcome = matcher.verify(claim.text, claim.ids, cited)
            outcome.line = claim.line
            self._verified.append(outcome)
            stop_if_cancelled()
            yield outcome

    def result(self) -> VerifyResult:
        counts = Counter(outcome.status for outcome in self._verified)
        return VerifyResult(
            claims=self._verified,
            total=len(self._verified),
            counts={status: counts[status] for status in STATUSES},
            warnings=self.warnings,
        )


def _make_key(text: str) -> str:
    identifier = read_identifier(text)
    return identifier.value.lower() if identifier is not None else text


def _fetch_papers(services: Services, keys: Sequence[str], outcomes: ClaimOutcomes) -> dict[str, Paper]:
    """Fetch the records of articles, for abstracts and publication status, then the full texts."""
    papers = {key: Paper(key) for key in keys}
    wanted = [key for key in keys if read_identifier(key) is not None]
    if not wanted:
        return papers
    for item in Retrieval.of_ids(services, wanted):
        paper = papers[item.input]
        paper.pmid = item.pmid
        paper.failure = item.error
        if item.record is not None:
            article = item.record.article()
            paper.standing = article.standing
            if article.abstract_text:
                paper.parts.append(TextPart(article.abstract_text))
    texts = Fulltexts(services, FulltextRequest(ids=wanted))
    for key, text in zip(wanted, texts, strict=True):
        paper = papers[key]
        if text.article is not None:
            _take_text(paper, text.article)
        elif text.unavailable is not None:
            paper.unavailable = text.unavailable
            if text.unavailable.retryable and paper.failure is None:
                paper.failure = UpstreamError(
                    f"Not all sources of full text responded for {key}.",
                    recovery_hint=RESUME_HINT,
                    details={"reason": "incomplete"},
                )
    outcomes.warnings += [warning for warning in texts.warnings if warning.code != "invalid_identifier"]
    return papers


def _take_text(paper: Paper, article: FulltextArticle) -> None:
    paper.has_full_text = True
    paper.pmid = paper.pmid or article.pmid
    paper.standing = choose_graver(paper.standing, article.standing)
    if isinstance(article, PmcArticle):
        known = {part.text for part in paper.parts}
        paper.parts += [TextPart(text) for text in (article.abstract,) if text and text not in known]
        paper.parts += [TextPart(other.text) for other in article.other_abstracts]
        paper.parts += _yield_sections(article.sections, ())
    else:
        wrapped = article.content_format == "pdf-text"
        paper.parts.append(TextPart(article.content, article.content_format, is_wrapped=wrapped))


def _yield_sections(sections: Sequence[Section], above: tuple[str, ...]) -> Iterator[TextPart]:
    for section in sections:
        path = (*above, section.heading) if section.heading else above
        if section.text:
            yield TextPart(section.text, " > ".join(path))
        yield from _yield_sections(section.subsections, path)


def verify_claims(services: Services, request: VerifyRequest) -> ClaimOutcomes:
    """Search claims in the articles they cite: is the sentence there, with the same words, numbers, units, negations?

    Use it before you trust a quotation or a figure. Each is found (with section, paragraph and offsets), altered (with
    differences), out_of_context (the sentence denies or questions it), elsewhere (in another of the articles),
    not_in_text, no_text_available, unchecked or invalid, with the whole sentence.
    Words are compared, so a paraphrase is not found. Example: claims [{"text": "moved at 5 mm", "ids": ["99000001"]}].

    Raises:
        UpstreamError: no text could be fetched, because no source responded.
        RateLimited: NCBI refused the request, or no slot is free before the deadline.

    Source: EFetch (db=pubmed), and for full text PMC, Europe PMC and Unpaywall.
    """
    return ClaimOutcomes(services, request)


VERIFY_CLAIMS = StreamOperation(
    name="pubmed_verify_claims",
    request=VerifyRequest,
    result=VerifyResult,
    outcomes=verify_claims,
    collect=drain,
    command=("verify",),
    toolset="citations",
    title="Verify claims",
    errors=(UpstreamError, RateLimited),
    agents=AgentOptions(
        caps={"claims": MAX_MCP_CLAIMS},
        portions=("claims",),
        inputs=("claims",),
    ),
)
