"""List and describe Entrez databases, and count the records that match a query in each."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from pydantic import Field

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import join_names
from entrez_kit.core.batches import collect_batches
from entrez_kit.core.broadening import compare_with_query
from entrez_kit.core.model import Request, Result, Warn, Warned, incomplete_error, omit_if_empty
from entrez_kit.core.operation import AgentOptions, DocumentOperation
from entrez_kit.core.query_input import NO_BROADER_RESULTS, BroaderResults, QueryText, read_query
from entrez_kit.databases.names import EINFO, DatabaseName, check_database, parse_database_list
from entrez_kit.services import Services
from entrez_kit.services.known_shapes import XmlShape, log_drift
from entrez_kit.services.small_replies import ESearchReply, get_text, malformed_error, parse_reply, read_whole_number
from entrez_kit.services.transport import Reply

FIELD_FLAGS: Final = {
    "IsDate": "is_date",
    "IsNumerical": "is_numerical",
    "SingleToken": "single_token",
    "Hierarchy": "hierarchy",
    "IsHidden": "is_hidden",
    "IsTruncatable": "is_truncatable",
    "IsRangable": "is_rangeable",
}
EGQUERY_DEADLINE_MS: Final = 10_000
"""The time limit of EGQuery, which has often been unavailable since 2024."""
COUNTED: Final = frozenset({"Ok", "Term or Database is not found"})
"""EGQuery's statuses of databases with a valid count. With any other status, a zero is not a count."""


EGQUERY: Final = XmlShape("EGQuery", "egquery.dtd", required={"ResultItem": "DbName Count Status"})


class InfoRequest(Request):
    """The database to describe, or a query to count; without a database, all are listed."""

    db: DatabaseName | None = Field(
        default=None, description='Database to describe, e.g. "gene"; by default all databases are listed.'
    )
    term: QueryText | None = Field(
        default=None, min_length=2, description="Count the records that match this query, in each database or in db."
    )
    broader_results: BroaderResults = True


class SearchField(Result):
    """A search field; ``name`` is its tag, e.g. AUTH."""

    name: str
    full_name: str | None = omit_if_empty()
    description: str | None = omit_if_empty()
    term_count: int | None = omit_if_empty()
    is_date: bool | None = omit_if_empty()
    is_numerical: bool | None = omit_if_empty()
    single_token: bool | None = omit_if_empty()
    hierarchy: bool | None = omit_if_empty()
    is_hidden: bool | None = omit_if_empty()
    is_truncatable: bool | None = omit_if_empty()
    is_rangeable: bool | None = omit_if_empty()


class LinkName(Result):
    """A kind of link from this database to another."""

    name: str
    menu: str | None = omit_if_empty()
    description: str | None = omit_if_empty()
    db_to: str | None = omit_if_empty()


class DatabaseInfo(Result):
    """One database: its size, its date, its search fields and links."""

    name: str
    menu_name: str | None = omit_if_empty()
    description: str | None = omit_if_empty()
    build: str | None = omit_if_empty()
    record_count: int | None = omit_if_empty()
    last_update: str | None = omit_if_empty()
    warning: str | None = omit_if_empty()
    fields: list[SearchField] = Field(default_factory=list)
    links: list[LinkName] = Field(default_factory=list)


class TermCount(Result):
    """The number of records of a database that match the query; ``status`` is Ok or the service's message.

    ``query_broadened`` is true if NCBI dropped a part that the query requires; ``strict_total`` is the number of
    results of the query as written. Without ``broader_results`` that is the ``count`` (absent if unknown), and
    ``broader_total`` is NCBI's count. EGQuery does not report dropped parts.
    """

    db: str
    menu_name: str | None = omit_if_empty()
    query_broadened: bool | None = omit_if_empty()
    strict_total: int | None = omit_if_empty()
    broader_total: int | None = omit_if_empty()
    count: int | None = omit_if_empty()
    status: str


class InfoResult(Warned):
    """All databases, or one of them; with a term, ``counts`` and their source (egquery or esearch)."""

    databases: list[str] | None = Field(default=None, exclude_if=lambda value: value is None)
    database: DatabaseInfo | None = omit_if_empty()
    term: str | None = omit_if_empty()
    counts: list[TermCount] | None = Field(default=None, exclude_if=lambda value: value is None)
    counts_source: str | None = omit_if_empty()

    def records_inside(self) -> list[Any]:
        """Return the counts, the fields of the database, or the names of all databases."""
        if self.counts is not None:
            return [*self.counts]
        return [*self.database.fields] if self.database else [{"name": name} for name in self.databases or []]

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for databases that could not be counted."""
        failed = [count for count in self.counts or [] if count.count is None and not count.query_broadened]
        return incomplete_error(
            [count.model_dump() for count in failed],
            f"These databases could not be counted: {', '.join(count.db for count in failed)}.",
            partial=len(failed) < len(self.counts or []),
            hint=None,
        )


def entrez_info(services: Services, request: InfoRequest) -> InfoResult:
    """List Entrez databases, describe one (search fields, links, size), or count a query's records in each.

    Use it before you search an unfamiliar database: the field names are the tags of its queries. Example:
    db "gene". With a term and no db, it counts the records of each database that match the term.

    Raises:
        EntityNotFound: the database does not exist.
        InvalidInput: the query is invalid in that database.
        UpstreamError: no attempt got a valid reply.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: EInfo; EGQuery for counts, or ESearch per database if EGQuery does not answer.
    """
    query = None if request.term is None else read_query(request.term, "term")
    if request.db is None:
        names = services.eutils.einfo(read=parse_database_list).value
        if query is None:
            return InfoResult(databases=names)
        counts, source = _count_all(services, query.text, names, request.broader_results)
        warnings = [*query.warnings, *_build_warnings(counts)]
        return InfoResult(databases=names, term=query.text, counts=counts, counts_source=source, warnings=warnings)
    try:
        check_database(services, request.db)
        info = describe_database(services, request.db).value
    except InvalidInput as exc:
        # Here the database is the record that the call requests, so it is not found. For the other calls it is an
        # invalid argument. Users rely on both codes.
        raise EntityNotFound(
            exc.message_text,
            invalid_input=f"db={request.db}",
            recovery_hint=exc.hint_text,
            details={"reason": "not_found"},
        ) from exc
    if query is None:
        return InfoResult(database=info)
    counts = [_count(services, request.db, query.text, request.broader_results)]
    warnings = [*query.warnings, *_build_warnings(counts)]
    return InfoResult(database=info, term=query.text, counts=counts, counts_source="esearch", warnings=warnings)


def describe_database(services: Services, name: str) -> Reply[DatabaseInfo]:
    """Describe one database by EInfo.

    Raises:
        InvalidInput: the database does not exist.
        UpstreamError: NCBI did not answer, or described another database.
        RateLimited: NCBI refused, or no slot is free before the deadline.
    """

    def read_info(content: bytes) -> DatabaseInfo:
        described = parse_database(content)
        if described.name.lower() != name.strip().lower():
            raise malformed_error("einfo", f"it describes {described.name} instead of {name}")
        return described

    return services.eutils.einfo(db=name, read=read_info)


def _count_all(services: Services, term: str, names: list[str], broader_results: bool) -> tuple[list[TermCount], str]:
    """Count with one EGQuery. Databases that it does not list, or all if it fails, are counted with one ESearch each.

    Raises:
        UpstreamError: no database could be counted.
        RateLimited: NCBI refused all requests, or no slot is free before the deadline.
    """
    listed: list[TermCount] = []
    with suppress(UpstreamError, RateLimited, EntityNotFound, InvalidInput):
        listed = services.eutils.egquery(term=term, deadline_ms=EGQUERY_DEADLINE_MS, read=parse_counts).value
    known = {count.db for count in listed}
    missing = [name for name in names if name not in known]
    requested = collect_batches(
        missing,
        1,
        lambda batch: _count(services, batch[0], term, broader_results),
        refusals=(EntityNotFound, InvalidInput),
        at_once=services.eutils.at_once,
    )
    if requested.failed and not requested.answers and not listed:
        raise next(iter(requested.failed.values()))
    counts = {batch[0]: count for batch, count in requested.answers}
    errors = {**requested.refused, **requested.failed}
    added = [counts.get(name) or TermCount(db=name, status=errors[name].message) for name in missing]
    return listed + added, "egquery" if listed else "esearch"


def _count(services: Services, db: str, term: str, broader_results: bool) -> TermCount:
    def search(query: str) -> ESearchReply:
        return services.eutils.esearch(db=db, term=query, retmax=0).value

    totals = compare_with_query(term, search(term), lambda query: search(query).count).build_totals(broader_results)
    count = totals["total_found"]
    return TermCount(
        db=db,
        count=count,
        status="Ok" if count is not None else "broader than the query",
        query_broadened=totals["query_broadened"],
        strict_total=totals["strict_total"],
        broader_total=totals["broader_total"],
    )


def _build_warnings(counts: Sequence[TermCount]) -> list[Warn]:
    """Return one warning that names the databases in which NCBI dropped a part that the query requires."""
    broader = [count.db for count in counts if count.query_broadened]
    if not broader:
        return []
    message = f"NCBI dropped a part that the query requires in {join_names(broader)}."
    return [Warn(code="query_broadened", message=message, terms=broader)]


def parse_database(content: bytes) -> DatabaseInfo:
    """Return the description of one database from an EInfo reply.

    Raises:
        UpstreamError: the reply does not describe a database.
    """
    root = parse_reply(content, "einfo", "eInfoResult")
    log_drift(EINFO, content)
    info = root.find("DbInfo")
    name = get_text(info, "DbName") if info is not None else None
    if info is None or not name:
        raise malformed_error("einfo", "it describes no database")
    for path in ("FieldList/Field", "LinkList/Link"):
        names = [get_text(element, "Name") for element in info.iterfind(path)]
        if len(set(names)) < len(names):
            raise malformed_error("einfo", f"it lists a {path.rpartition('/')[2].lower()} of {name} twice")
    return DatabaseInfo(
        name=name,
        menu_name=get_text(info, "MenuName"),
        description=get_text(info, "Description"),
        build=get_text(info, "DbBuild"),
        record_count=read_whole_number(info.findtext("Count")),
        last_update=_read_time(get_text(info, "LastUpdate")),
        warning=get_text(info, "Warning"),
        fields=[_read_field(element) for element in info.iterfind("FieldList/Field")],
        links=[
            LinkName(
                name=get_text(element, "Name") or "",
                menu=get_text(element, "Menu"),
                description=get_text(element, "Description"),
                db_to=get_text(element, "DbTo"),
            )
            for element in info.iterfind("LinkList/Link")
        ],
    )


def _read_field(element: Any) -> SearchField:
    flags = {name: text == "Y" for tag, name in FIELD_FLAGS.items() if (text := get_text(element, tag)) in ("Y", "N")}
    return SearchField(
        name=get_text(element, "Name") or "",
        full_name=get_text(element, "FullName"),
        description=get_text(element, "Description"),
        term_count=read_whole_number(element.findtext("TermCount")),
        **flags,
    )


def _read_time(text: str | None) -> str | None:
    """Convert NCBI's "2026/10/01 04:12" to ISO 8601. NCBI gives no time zone, so UTC is assumed."""
    try:
        moment = datetime.fromisoformat((text or "").replace("/", "-"))
    except ValueError:
        return text
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_counts(content: bytes) -> list[TermCount]:
    """Return the count per database from an EGQuery reply.

    Raises:
        UpstreamError: the reply has no counts.
    """
    root = parse_reply(content, "egquery", "Result")
    log_drift(EGQUERY, content)
    counts = [
        TermCount(
            db=get_text(item, "DbName") or "",
            menu_name=get_text(item, "MenuName"),
            count=read_whole_number(item.findtext("Count")) if get_text(item, "Status") in COUNTED else None,
            status=get_text(item, "Status") or "no status",
        )
        for item in root.iterfind("eGQueryResult/ResultItem")
    ]
    if not counts:
        raise malformed_error("egquery", "it has no counts")
    if len({count.db for count in counts}) < len(counts):
        raise malformed_error("egquery", "it lists a database twice")
    return counts


INFO = DocumentOperation(
    name="entrez_info",
    request=InfoRequest,
    result=InfoResult,
    function=entrez_info,
    command=("db", "info"),
    toolset="entrez",
    title="Describe Entrez databases",
    agents=AgentOptions(
        defaults=NO_BROADER_RESULTS,
        portions=("counts", "databases"),
    ),
)
