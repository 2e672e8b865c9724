"""The operation that fetches full text, with its request and result models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, UpstreamError
from entrez_kit.base.frontend_text import GIVE_IDS, OFFLINE_SWITCH, RESUME_HINT, FrontendText, NextCall, join_names
from entrez_kit.base.identifiers import Identifier, IdKind, read_identifier
from entrez_kit.core.model import Collected, Request, Warn, WrongValue, omit_if_empty, require_one
from entrez_kit.core.operation import AgentOptions, Outcomes, StreamOperation
from entrez_kit.fulltext.article_lookup import OFFLINE, UNPAYWALL_OFF, ArticleLookup
from entrez_kit.fulltext.chain import look_up_articles
from entrez_kit.fulltext.fulltext_articles import (
    CutArticle,
    CutCopy,
    FulltextArticle,
    PmcArticle,
    Truncation,
    Unavailable,
    UnpaywallArticle,
    format_pmc_url,
    format_pubmed_url,
)
from entrez_kit.fulltext.selection import select, select_markdown, select_pdf_text, truncate_text
from entrez_kit.pubmed.standing import choose_graver, to_retraction_status
from entrez_kit.pubmed.standing_lookup import Standings, standing_error
from entrez_kit.services import Services

MAX_MCP_IDS: Final = 10
MAX_IDS: Final = 10_000
MAX_CHARACTERS: Final = 1_000_000
_MAX_TITLES: Final = 40
KINDS: Final[tuple[tuple[str, IdKind], ...]] = (("pmids", "pmid"), ("pmcids", "pmcid"), ("dois", "doi"))


_OPTIONS: Final = ("include_references", "sections", "max_sections", "overflow_mode")
"""Options without effect on open-access copies."""


def _read_kind(text: str, kind: IdKind) -> Identifier | None:
    bare = text.strip()
    identifier = read_identifier(f"PMC{bare}" if kind == "pmcid" and bare[:1].isdigit() else bare)
    return identifier if identifier is not None and identifier.kind == kind else None


def _validate_kind(kind: IdKind, accepted: str) -> AfterValidator:
    """Return a validator that refuses texts that are not an id of a kind."""

    def check(text: str) -> str:
        if _read_kind(text, kind) is None:
            raise WrongValue(accepted)
        return text

    return AfterValidator(check)


def _validate_doi(text: str) -> str:
    if len(text.strip()) < 3:  # the services decide about unusual forms
        raise WrongValue("a DOI such as 10.1000/xyz123")
    return text


class FulltextRequest(Request):
    """The articles, by one kind of id, and the parts to return."""

    pmids: list[Annotated[str, _validate_kind("pmid", "a PMID such as 35394430")]] | None = Field(
        default=None, max_length=MAX_IDS, description="Give one of pmids, pmcids, dois."
    )
    pmcids: list[Annotated[str, _validate_kind("pmcid", "a PMCID such as PMC1234567")]] | None = Field(
        default=None, max_length=MAX_IDS, description="PMCIDs."
    )
    dois: list[Annotated[str, AfterValidator(_validate_doi)]] | None = Field(
        default=None, max_length=MAX_IDS, description="DOIs, e.g. 10.1000/1."
    )
    include_references: bool = Field(default=False, description="Include reference lists.")
    sections: list[str] = Field(
        default=[], max_length=50, description="Sections with this text in the title, e.g. methods."
    )
    max_sections: int | None = Field(default=None, ge=1, le=50, description="Maximum sections per article.")
    max_characters: int | None = Field(
        default=None, ge=1, le=MAX_CHARACTERS, description="Maximum characters per article."
    )
    overflow_mode: Literal["truncate", "outline"] = Field(
        default="truncate",
        description="outline gives each section a share.",
    )
    ids: SkipJsonSchema[list[str] | None] = Field(
        default=None, max_length=MAX_IDS, description="Ids of any kind, also mixed, in place of pmids, pmcids or dois."
    )

    @model_validator(mode="after")
    def _check_kinds(self) -> Self:
        require_one(self, *dict(KINDS), "ids")
        return self

    def list_inputs(self) -> list[tuple[str, Identifier | None]]:
        """Return the inputs in order, each with its identifier; None if it is not an id."""
        of_kinds = [(text, _read_identifier(text, kind)) for name, kind in KINDS for text in getattr(self, name) or ()]
        return [*of_kinds, *((text, read_identifier(text)) for text in self.ids or ())]


class FulltextPageRequest(FulltextRequest):
    """A request with an option that only the terminal has."""

    INPUTS: ClassVar = "ids"

    for_readers: bool = Field(default=False, description="Include reference lists, because the text is read as a page.")


def _read_identifier(text: str, kind: IdKind) -> Identifier:
    identifier = _read_kind(text, kind)
    return Identifier(kind, text.strip() if identifier is None else identifier.value, text)


class FulltextResult(Collected):
    """Articles in the order of the ids; ``unavailable`` has the other ids with the answers of the sources."""

    RECORDS: ClassVar = "articles"

    articles: list[FulltextArticle]
    total_returned: int
    unavailable: list[Unavailable] = omit_if_empty([])
    truncation: Truncation | None = omit_if_empty()
    warnings: list[Warn] = omit_if_empty([])


def build_missing_error(
    unavailable: Sequence[Unavailable], found: int, invalid: Sequence[str] = ()
) -> EntrezKitError | None:
    """Return the error for a result in which some ids have no text.

    Args:
        unavailable: the ids without full text.
        found: the number of articles found.
        invalid: inputs that are not ids.
    """
    if not unavailable and not invalid:
        return None
    details: dict[str, Any] = {
        "partial": found > 0,
        "missing": [
            *(item.model_dump(mode="json", exclude={"emails"}) for item in unavailable),
            *({"id": text, "reason": "invalid"} for text in invalid),
        ],
    }
    names = join_names([*(item.id for item in unavailable), *invalid])
    if not unavailable:
        return InvalidInput(
            f"Not a PMID, PMCID or DOI: {names}.",
            invalid_input=invalid[0],
            recovery_hint=GIVE_IDS,
            details={**details, "reason": "invalid_identifiers"},
        )
    failed = [item.id for item in unavailable if item.retryable]
    tried = [tier for item in unavailable for tier in item.tried_tiers]
    # If a source failed, the text may exist; a partial result reports this in its status.
    if failed and (not found or (not invalid and len(failed) == len(unavailable))):
        # details.missing has all ids
        message, ask = f"No full text of {join_names(failed)}: not every source responded.", RESUME_HINT
        if all(OFFLINE in (attempt.detail or "") for attempt in tried if attempt.outcome == "service-error"):
            message = f"The cache has no full text of {join_names(failed)}, and offline mode allows no requests."
            ask = FrontendText("Try again without ", OFFLINE_SWITCH, ".")
        return UpstreamError(message, recovery_hint=ask, details={**details, "reason": "incomplete"})
    pmids = [item.id for item in unavailable if item.id_type == "pmid"]
    abstract = NextCall("fetch_contents", pmids=pmids or ...)
    hint = FrontendText("`unavailable` has the result of each source. For abstracts, call ", abstract, ".")
    if any(attempt.detail == UNPAYWALL_OFF for attempt in tried):
        hint = FrontendText(hint, " Set UNPAYWALL_EMAIL to search for open-access copies.")
    if failed:
        hint = FrontendText(hint, " If `retryable` is true, a source did not answer: try again.")
    unknown_everywhere = all(item.reason == "not-found" for item in unavailable)
    return EntityNotFound(
        f"Not found: {names}." if unknown_everywhere else f"No full text of {names}.",
        invalid_input=unavailable[0].id,
        recovery_hint=hint,
        details={**details, "reason": "no_full_text"},
    )


@dataclass(frozen=True, slots=True)
class FulltextOutcome:
    """The outcome of one input: an article with its cuts, or an ``unavailable`` entry; neither if it is not an id."""

    id: str
    article: PmcArticle | UnpaywallArticle | None = None
    unavailable: Unavailable | None = None
    cut: CutArticle | CutCopy | None = None
    omitted_sections: int = 0
    warnings: list[Warn] = field(default_factory=list)

    @property
    def status(self) -> Literal["found", "not_found", "invalid", "error"]:
        """The status of the input."""
        if self.article is not None:
            return "found"
        if self.unavailable is None:
            return "invalid"
        return "error" if self.unavailable.retryable else "not_found"


class Fulltexts(Outcomes[FulltextOutcome]):
    """Yields the outcome of each input, in order."""

    def __init__(self, services: Services, request: FulltextRequest) -> None:
        super().__init__()
        self._services = services
        self._request = request
        self.found = 0
        self.unavailable: list[Unavailable] = []
        self.invalid: list[str] = []
        self._cuts: list[CutArticle | CutCopy] = []
        self._omitted_sections = 0

    def _yield_items(self) -> Iterator[FulltextOutcome]:
        inputs = self._request.list_inputs()
        identifiers = [identifier for _, identifier in inputs if identifier is not None]
        self.invalid = [text for text, identifier in inputs if identifier is None]
        nothing = build_missing_error([], 0, self.invalid)
        if nothing is not None and not identifiers:
            raise nothing

        lookups = look_up_articles(self._services, identifiers)
        for text, identifier in inputs:
            item = FulltextOutcome(text) if identifier is None else self._build_outcome(identifier, next(lookups))
            self.warnings += item.warnings
            if item.unavailable is not None:
                self.unavailable.append(item.unavailable)
            elif item.article is not None:
                self.found += 1
            if item.cut is not None:
                self._cuts.append(item.cut)
                self._omitted_sections += item.omitted_sections
            yield item

    def _build_outcome(self, identifier: Identifier, lookup: ArticleLookup) -> FulltextOutcome:
        request, name = self._request, identifier.original.strip()
        if lookup.jats is not None:
            return _build_article(name, lookup, request)
        if lookup.copy is None:
            return FulltextOutcome(name, unavailable=lookup.describe_unavailable(identifier))
        fields = FulltextRequest.model_fields
        ignored = [name for name in _OPTIONS if getattr(request, name) != fields[name].default]
        copy = lookup.copy
        warnings = _warn_of_replacement(name, lookup)
        if request.sections:
            pick = select_markdown if copy.content_format == "html-markdown" else select_pdf_text
            if content := pick(copy.content, request.sections):
                copy = copy.model_copy(update={"content": content})
                ignored.remove("sections")
        copy, notice = _cut_copy(name, copy, request)
        copy.standing = lookup.standing
        copy.tried_tiers = lookup.tried if lookup.pmcid is not None else []
        warnings += [_warn_of_ignored_options(name, ignored)] if ignored else []
        return FulltextOutcome(name, copy, cut=notice, warnings=[*warnings, *_warn_of_standing(lookup)])

    @property
    def truncation(self) -> Truncation | None:
        """The omitted text; None if the articles are complete."""
        if not self._cuts:
            return None
        return Truncation(
            mode=self._request.overflow_mode,
            max_characters=self._request.max_characters,
            max_sections=self._request.max_sections,
            original_characters=sum(cut.original_characters for cut in self._cuts),
            returned_characters=sum(cut.returned_characters for cut in self._cuts),
            omitted_sections=self._omitted_sections,
            articles=self._cuts,
        )

    def missing_error(self) -> EntrezKitError | None:
        """Return the error about ids without full text, if any."""
        missing = build_missing_error(self.unavailable, self.found, self.invalid)
        return missing or standing_error(self.warnings)


def fetch_fulltext(services: Services, request: FulltextRequest) -> Fulltexts:
    """Fetch full text from PMC, Europe PMC or open-access copies.

    Use it if the abstract is not enough, e.g. pmcids ["PMC99000001"], sections ["methods"]. For long articles
    use overflow_mode outline first, then sections.

    Raises:
        InvalidInput: the request has no ids, or several kinds of ids.

    Source: ID Converter, EFetch (db=pmc), PMC's open-data bucket, Europe PMC, Unpaywall.
    """
    return Fulltexts(services, request)


def _build_article(name: str, lookup: ArticleLookup, request: FulltextRequest) -> FulltextOutcome:
    assert lookup.jats is not None
    front = lookup.jats.front
    selected = select(
        lookup.jats.sections,
        titles=request.sections,
        max_sections=request.max_sections,
        max_characters=request.max_characters,
        overflow_mode=request.overflow_mode,
    )
    is_page = isinstance(request, FulltextPageRequest) and request.for_readers
    with_references = request.include_references or is_page
    pmid, pmcid = lookup.pmid or front.pmid, lookup.pmcid or front.pmcid
    standing = choose_graver(lookup.standing, front.standing)
    article = front.model_copy(
        update={
            "via_source": "europepmc" if lookup.via_europepmc else "pmc",
            "pmcid": pmcid,
            "pmc_url": format_pmc_url(pmcid),
            "pmid": pmid,
            "pubmed_url": format_pubmed_url(pmid),
            "doi": front.doi or lookup.doi,
            "retraction_status": None if (status := to_retraction_status(standing)) == "none" else status,
            "standing": standing,
            "sections": selected.sections,
            "references": lookup.jats.references if with_references else [],
            "epmc_id": lookup.epmc_id,
            "epmc_source": lookup.epmc_source,
        }
    )
    cut = CutArticle(
        id=name,
        original_characters=selected.original_characters,
        returned_characters=selected.returned_characters,
        sections=selected.cuts,
    )
    return FulltextOutcome(
        name,
        article,
        cut=cut if selected.is_cut else None,
        omitted_sections=selected.omitted_sections,
        warnings=[
            *([_warn_of_missing_sections(name, lookup, request)] if selected.missed else []),
            *_warn_of_standing(lookup),
        ],
    )


def _cut_copy(name: str, copy: UnpaywallArticle, request: FulltextRequest) -> tuple[UnpaywallArticle, CutCopy | None]:
    """Return an open-access copy with at most the requested characters, and the cut."""
    content = copy.content if request.max_characters is None else truncate_text(copy.content, request.max_characters)
    if content == copy.content:
        return copy, None
    notice = CutCopy(id=name, original_characters=len(copy.content), returned_characters=len(content))
    return copy.model_copy(update={"content": content}), notice


def _warn_of_standing(lookup: ArticleLookup) -> list[Warn]:
    if lookup.standing_error is None:
        return []
    return Standings(unknown={lookup.known_pmid or "": lookup.standing_error}).warnings


def _warn_of_replacement(name: str, lookup: ArticleLookup) -> list[Warn]:
    """Warn that an article of PMC comes from another copy, which may be another version, and why."""
    if lookup.pmcid is None:
        return []
    why = "; ".join(f"{tried.tier}: {tried.detail or tried.outcome}" for tried in lookup.tried)
    retry = " Try again for the text of PMC." if any(tried.outcome == "service-error" for tried in lookup.tried) else ""
    message = f"The text of {name} is from an open-access copy, not from {lookup.pmcid} ({why}).{retry}"
    return [Warn(code="pmc_text_replaced", message=message)]


def _warn_of_ignored_options(name: str, options: Sequence[str]) -> Warn:
    *others, last = options
    ignored = f"{', '.join(others)} and {last} were" if others else f"{last} was"
    return Warn(
        code="selection_ignored",
        message=f"{name} is an open-access copy, which does not have what these select: {ignored} ignored.",
    )


def _warn_of_missing_sections(name: str, lookup: ArticleLookup, request: FulltextRequest) -> Warn:
    assert lookup.jats is not None
    titles = [section.heading for section in lookup.jats.sections if section.heading]
    known_titles = "; ".join(titles[:_MAX_TITLES]) + (" ..." if len(titles) > _MAX_TITLES else "")
    wanted = " or ".join(repr(text.strip()) for text in request.sections if text.strip())
    return Warn(
        code="sections_not_found",
        message=f"No section of {name} has {wanted} in its title. Its sections: {known_titles or 'none has a title'}.",
    )


def build_result(request: FulltextRequest, texts: Fulltexts) -> FulltextResult:
    """Build the result document from all outcomes."""
    articles = [item.article for item in texts if item.article is not None]
    no_id = "{!r} is not a PMID, PMCID or DOI."
    strangers = [Warn(code="invalid_identifier", message=no_id.format(text[:100])) for text in texts.invalid]
    return FulltextResult(
        articles=articles,
        total_returned=len(articles),
        unavailable=texts.unavailable,
        truncation=texts.truncation,
        warnings=[*texts.warnings, *strangers],
    )


FETCH_FULLTEXT = StreamOperation(
    name="pubmed_fetch_fulltext",
    request=FulltextRequest,
    result=FulltextResult,
    outcomes=fetch_fulltext,
    collect=build_result,
    command=("fulltext",),
    toolset="pubmed",
    title="Fetch full text",
    agents=AgentOptions(
        caps={"pmids": MAX_MCP_IDS, "pmcids": MAX_MCP_IDS, "dois": MAX_MCP_IDS},
        portions=("articles",),
        inputs=("pmids", "pmcids", "dois"),
        shortened_by="max_characters",
        as_markdown=True,
    ),
)
FULLTEXT_PAGE = replace(FETCH_FULLTEXT, request=FulltextPageRequest)
"""Not in the catalogue: this request has a field that agents and Python do not have."""
