"""Look up MeSH: descriptors, qualifiers and supplementary concepts with their tree numbers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.core.model import Request, Result, Stripped, Warned, incomplete_error, omit_if_empty
from entrez_kit.core.operation import AgentOptions, DocumentOperation, Paging
from entrez_kit.databases.names import UI_LETTERS, to_entrez_uid
from entrez_kit.databases.summary import look_up
from entrez_kit.services import Services
from entrez_kit.services.small_replies import ESearchReply

RecordKind = Literal["descriptor", "qualifier", "supplementary_concept"]
_KINDS: Final[dict[str, RecordKind]] = {"D": "descriptor", "Q": "qualifier", "C": "supplementary_concept"}
MAX_RESULTS: Final = 50
_UI: Final = re.compile(r"[CDQ](?:[0-9]{6}|[0-9]{9})")
"""A unique identifier; since 2014 new ones have nine digits."""
_TREE_NUMBER: Final = re.compile(r"[A-Z][0-9]{2}(?>(?:\.[0-9]{3})*)")


class MeshRequest(Request):
    """The query for MeSH, and the details to return."""

    query: Stripped = Field(min_length=1, description="Term, identifier or tree number (C14.280).")
    max_results: int = Field(default=10, ge=1, le=MAX_RESULTS, description="Records to return.")
    offset: int = Field(default=0, ge=0, description="Results to skip.")
    include_details: bool = Field(default=True, description="Tree numbers, note, entry terms, subheadings.")
    include_tree: bool = Field(default=False, description="Headings above and below.")


class MeshNeighbor(Result):
    """A heading one level above or below another in the tree, with its tree numbers at that level."""

    ui: str
    name: str
    tree_numbers: list[str] = omit_if_empty([])


class MeshRecord(Result):
    """One MeSH record: its unique identifier (D003924), names, scope note and tree numbers.

    ``subheadings`` are those that NLM allows with the heading. ``parents`` and ``children`` are present if the tree was
    requested.
    """

    ui: str
    entrez_uid: str | None = omit_if_empty()
    kind: RecordKind | None = omit_if_empty()
    name: str
    tree_numbers: list[str] = omit_if_empty([])
    scope_note: str | None = omit_if_empty()
    entry_terms: list[str] = omit_if_empty([])
    subheadings: list[str] = omit_if_empty([])
    parents: list[MeshNeighbor] = omit_if_empty([])
    children: list[MeshNeighbor] = omit_if_empty([])


class MeshResult(Warned):
    """MeSH records; the heading that the query names is first. ``next_offset`` is absent on the last page."""

    RECORDS: ClassVar = "results"

    query: str
    total_found: int
    offset: int
    next_offset: int | None = omit_if_empty()
    query_translation: str | None = omit_if_empty()
    results: list[MeshRecord]
    missing_uids: list[str] = omit_if_empty([])

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for records that NCBI listed without a summary."""
        message = f"NCBI listed MeSH records without a summary: {', '.join(self.missing_uids)}."
        return incomplete_error(self.missing_uids, message, partial=bool(self.results), hint=None)


def lookup_mesh(services: Services, request: MeshRequest) -> MeshResult:
    """Look up MeSH headings by name, synonym, identifier or tree number.

    Use it to find the heading for a search with [mh], e.g. query "heart attack" finds Myocardial Infarction.

    Raises:
        UpstreamError: no attempt got a valid reply.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: ESearch and ESummary (db=mesh).
    """
    pinned = _find_heading(services, request.query)
    uids, total, translation = _search_page(services, request, pinned)
    documents = _fetch_documents(services, uids)
    records = {uid: build_mesh_record(uid, fields) for uid, fields in documents.items()}
    missing = [uid for uid in uids if uid not in records]
    if request.include_tree:
        places = {uid: list(_list_places(documents[uid])) for uid in records}
        near = {other for above_below in places.values() for _, *others in above_below for other in others}
        others = _fetch_documents(services, sorted(near - {*uids}))
        known_records = records | {uid: build_mesh_record(uid, fields) for uid, fields in others.items()}
        missing += sorted(near - {*known_records, *missing})
        records = {uid: _add_neighbors(record, places[uid], known_records) for uid, record in records.items()}
    results = [records[uid] for uid in uids if uid in records]
    if not request.include_details:
        bare: dict[str, Any] = {"tree_numbers": [], "scope_note": None, "entry_terms": [], "subheadings": []}
        results = [record.model_copy(update=bare) for record in results]
    last = request.offset + len(uids)
    return MeshResult(
        query=request.query,
        total_found=total,
        offset=request.offset,
        next_offset=last if uids and last < total else None,
        query_translation=translation or None,
        results=results,
        missing_uids=missing,
    )


def _fetch_documents(services: Services, uids: Sequence[str]) -> dict[str, dict[str, Any]]:
    lookup = look_up(services, "mesh", uids)
    if lookup.failed and not lookup.documents:
        raise next(iter(lookup.failed.values()))
    return lookup.documents


def _list_places(document: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield each place of a heading: its tree number, then the UIDs of the headings one level above and below."""
    links = document.get("ds_idxlinks")
    for link in links if isinstance(links, list) else ():
        (tree, *_) = (*_list_texts(link.get("treenum")), "") if isinstance(link, dict) else ("",)
        if tree and not tree.startswith("@"):
            near = (*_list_texts(link.get("parent")), *_list_texts(link.get("children")))
            yield tree, *(uid for uid in near if uid != "0")


def _add_neighbors(
    record: MeshRecord, places: list[tuple[str, ...]], known_records: Mapping[str, MeshRecord]
) -> MeshRecord:
    """Add the headings one level above and below the places of a record, each heading once."""
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for tree, *uids in places:
        for uid in uids:
            if uid not in known_records:
                continue
            trees = known_records[uid].tree_numbers
            under = [other for other in trees if other.rpartition(".")[0] == tree]
            parent = tree.rpartition(".")[0]
            side, own = (below, under) if under else (above, [number for number in trees if number == parent])
            side.setdefault(uid, []).extend(own)
    parents, children = (
        [
            MeshNeighbor(ui=known_records[uid].ui, name=known_records[uid].name, tree_numbers=trees)
            for uid, trees in side.items()
        ]
        for side in (above, below)
    )
    return record.model_copy(update={"parents": parents, "children": children})


def _search_page(services: Services, request: MeshRequest, pinned: str | None) -> tuple[list[str], int, str]:
    """Return the UIDs of a page, the total number of records, and NCBI's translation of the query.

    NCBI may rank the heading that the query names at any place. Here it is first, and the search for the others
    excludes it, so that pages neither repeat nor omit a record.
    """
    term = _build_term(request.query)
    if pinned is None:
        reply = _search(services, term, request.max_results, request.offset)
        return reply.ids, reply.count, reply.query_translation
    first = request.offset == 0
    others = f"({term}) NOT {pinned}[UID]"
    reply = _search(services, others, request.max_results - first, max(0, request.offset - 1))
    return [pinned] * first + reply.ids, reply.count + 1, reply.query_translation


def _search(services: Services, term: str, size: int, start: int) -> ESearchReply:
    return services.eutils.esearch(db="mesh", term=term, retmax=size, retstart=start).value


def _build_term(query: str) -> str:
    """Return the query to send; an identifier or a tree number is searched in its own field."""
    uid = to_entrez_uid(query)
    if uid:
        return f"{uid}[UID]"
    if _TREE_NUMBER.fullmatch(query.upper()):
        return f"{query.upper()}[Tree Number]"
    return f"{query.upper()}[MeSH Unique ID]" if _UI.fullmatch(query.upper()) else query


def _find_heading(services: Services, query: str) -> str | None:
    """Return the UID of the heading that the query names; None if the query is not the name of a heading.

    Rehabilitation and a few others are headings and qualifiers; the heading is returned.
    """
    if re.search(r'[\[\]"()*]', query) or _UI.fullmatch(query.upper()) or _TREE_NUMBER.fullmatch(query.upper()):
        return None
    try:
        reply = _search(services, f'"{query}"[MH]', 2, 0)
    except (InvalidInput, EntityNotFound):
        return None  # NCBI cannot search it as a phrase; the broad search returns NCBI's translation
    return next((uid for uid in reply.ids if not decode_ui(uid).startswith("Q")), *reply.ids[:1] or (None,))


def decode_ui(uid: str) -> str:
    """Convert an Entrez UID of MeSH to the unique identifier (68003924 -> D003924); return other texts unchanged."""
    letter = UI_LETTERS.get(uid[:2])
    return f"{letter}{uid[2:]}" if letter and re.fullmatch("[0-9]{8}", uid) else uid


def build_mesh_record(uid: str, fields: dict[str, Any]) -> MeshRecord:
    """Build a record from the fields of a document summary in JSON."""
    terms = _list_texts(fields.get("ds_meshterms"))
    ui = str(fields.get("ds_meshui") or "").strip() or decode_ui(uid)
    return MeshRecord(
        ui=ui,
        entrez_uid=uid,
        kind=_KINDS.get(ui[:1]),
        name=terms[0] if terms else ui,
        tree_numbers=list(dict.fromkeys(tree for tree, *_ in _list_places(fields))),
        scope_note=" ".join(_list_texts(fields.get("ds_scopenote"))) or None,
        entry_terms=terms[1:],
        subheadings=_list_texts(fields.get("ds_subheading")),
    )


def _list_texts(value: Any) -> list[str]:
    """Return the texts of a list; the value may be a single text without a list."""
    texts = value if isinstance(value, list) else [value]
    return [text for item in texts if item is not None and (text := str(item).strip())]


MESH = DocumentOperation(
    name="pubmed_lookup_mesh",
    request=MeshRequest,
    result=MeshResult,
    function=lookup_mesh,
    command=("mesh",),
    toolset="pubmed",
    title="Look up MeSH",
    errors=(UpstreamError, RateLimited),
    agents=AgentOptions(
        portions=("results",),
        paging=Paging("offset", "max_results"),
        next_page="next_offset",
    ),
)
