"""`entrez-kit db`: any Entrez database, with NCBI's own names."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import typer

from entrez_kit.base.output_formats import BY_NAME, Family
from entrez_kit.core.model import Result
from entrez_kit.databases.fetch import FETCH, EntrezFetchResult
from entrez_kit.databases.info import INFO, InfoResult, SearchField, TermCount
from entrez_kit.databases.link import LINK, Link, LinkResult, LinkSet
from entrez_kit.databases.names import PERMANENT_DATABASES, looks_like_uid
from entrez_kit.databases.search import SEARCH, EntrezSearchResult
from entrez_kit.databases.summary import SUMMARY, SummaryOutcome, SummaryResult

from . import _views
from ._formats import TextWriter, View
from ._formats.fields import Record, build_columns, convert_to_data
from ._id_lists import IdKind
from ._ids import ONE_REQUEST, describe_failure, read_inputs
from ._options import (
    BROADER,
    HISTORY,
    App,
    FilesOfIds,
    build_argument,
    build_ids_argument,
    build_option,
    request_options,
)
from ._pipeline import build_request, describe_rest, get_state, note, plan, report_omitted, run, was_typed
from ._state import accept_formats, usage_error

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

app = App(help="Any Entrez database: describe it, search it, summarize, fetch and link its records.")

ROWS: Final = (Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.IDS)
TITLES: Final = ("title", "name", "scientificname", "caption", "ds_meshterms")
"""The fields with the name of a record in different databases."""


class Name(Result):
    """A row of the list of databases."""

    name: str


class LinkRow(Link):
    """A row of links: one linked record and its source record."""

    source_id: str


IDS: Final = build_ids_argument("ids", "UIDs or accessions; - reads standard input.")


def _render_info_table(ctx: typer.Context, result: InfoResult, console: "Console") -> "RenderableType":
    if result.counts_source == "esearch" and result.database is None:
        note(ctx, "NCBI's global query did not respond, so each database was counted separately.")
    return _views.databases.render_info(result, console)


@app.command("info")
@accept_formats(*ROWS, fields="name")
@request_options(
    INFO.request,
    build_argument("db", "DB"),
    build_option("term", metavar="QUERY"),
    BROADER,
)
def info_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """List the databases, describe one, or count a query's records in each.

    The search fields of a database:
    entrez-kit db info gene

    The number of results in each database:
    entrez-kit db info --term "BRCA1 AND human"
    """
    request = build_request(ctx, INFO, options)

    def yield_records(result: InfoResult) -> Iterator[Record]:
        if result.counts is not None:
            for count in result.counts:
                yield (
                    convert_to_data(count)
                    if count.count is not None
                    else describe_failure(count.db, "error", count.status)
                )
        elif result.database is not None:
            yield from (convert_to_data(field) for field in result.database.fields)
        else:
            yield from ({"name": name} for name in result.databases or [])

    db, term = request.db, request.term
    names = ("name", "full_name", "description", "term_count", "is_date", "is_numerical") if db else ("name",)
    view: View[InfoResult] = View(
        table=partial(_render_info_table, ctx),
        records=yield_records,
        record_model=TermCount if term else SearchField if db else Name,
        columns=build_columns("db", "menu_name", "count", "status") if term else build_columns(*names),
        records_key="counts" if term else "database.fields" if db else "databases",
        id_key="db" if term else "name",
    )
    run(ctx, INFO, request, view)


@app.command("search")
@accept_formats(*ROWS, Family.COUNT, fields="id")
@request_options(
    SEARCH.request,
    build_argument("db", "DB"),
    build_argument("term", "QUERY", joined=True),
    build_option("max_results", "-n"),
    build_option("offset"),
    build_option("sort", metavar="ORDER"),
    build_option("min_date", metavar="DATE"),
    build_option("max_date", metavar="DATE"),
    build_option("date_type", metavar="TYPE"),
    HISTORY,
    BROADER,
)
def search_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """Search any database for UIDs, and see how NCBI understood the query.

    entrez-kit db search nuccore "BRCA1\\[gene] AND human\\[orgn]"

    The records of the results:
    entrez-kit db search gene "BRCA1\\[sym]" -f ids | entrez-kit db summary gene -
    """
    request = build_request(ctx, SEARCH, options)

    def report_notes(result: EntrezSearchResult) -> None:
        next_offset = result.offset + result.retrieved_count
        total = result.total_found or 0
        if not plan(ctx).format.has_total and result.ids and next_offset < total:
            report_omitted(ctx, describe_rest(total - next_offset, f"--offset {next_offset}"))

    view: View[EntrezSearchResult] = View(
        table=lambda result, console: _views.databases.render_search(result, console),
        columns=build_columns("id"),
        id_key="id",
    )
    run(ctx, SEARCH, request, view, afterwards=report_notes)


@app.command("summary")
@accept_formats(*ROWS, fields="uid,title")
@request_options(SUMMARY.request, build_argument("db", "DB"), IDS)
def summary_command(ctx: typer.Context, options: dict[str, Any], input: FilesOfIds = None) -> None:
    """Summarize records of any database, one outcome per id, in order.

    csv and tsv contain uid and title; --fields selects others:
    entrez-kit db summary taxonomy 9606 10090 --fields uid,scientificname,rank
    """
    kind = IdKind(partial(looks_like_uid, options["db"]))
    options["ids"] = read_inputs(ctx, options["ids"], input, kind=kind)
    request = build_request(ctx, SUMMARY, options)

    def yield_records(item: SummaryOutcome) -> Iterator[Record]:
        outcome = item.outcome
        yield item.document or describe_failure(outcome.id, outcome.status, outcome.message)

    view: View[SummaryResult] = View(
        table=lambda result, console: _views.databases.render_summaries(result, console),
        records=yield_records,
        columns={**build_columns("uid"), "title": _get_title},
        id_key="uid",
    )
    run(ctx, SUMMARY, request, view, label="Summarizing", least=ONE_REQUEST)


def _get_title(record: Record) -> str:
    """Return the name of a record."""
    for name in TITLES:
        if value := record.get(name):
            return str(value[0] if isinstance(value, list) else value)
    return ""


@app.command("fetch")
@accept_formats(Family.TEXT, Family.DOCUMENT, fields="content")
@request_options(
    FETCH.request,
    build_argument("db", "DB"),
    IDS,
    build_option("rettype", metavar="TYPE"),
    build_option("retmode", metavar="MODE"),
)
def fetch_command(ctx: typer.Context, options: dict[str, Any], input: FilesOfIds = None) -> None:
    """Fetch records of any database in NCBI's formats.

    A terminal and a file get NCBI's own text. So does a pipe if --rettype is given, otherwise it gets JSON:
    entrez-kit db fetch nuccore NM_000546.6 --rettype fasta -o tp53.fasta
    entrez-kit db fetch nuccore NM_000546.6 --rettype fasta > tp53.fasta
    """
    kind = IdKind(partial(looks_like_uid, options["db"]))
    options["ids"] = read_inputs(ctx, options["ids"], input, kind=kind)
    request = build_request(ctx, FETCH, options)

    view: View[EntrezFetchResult] = View(
        table=lambda result, console: result.content,
        writers={"text": lambda sink: TextWriter(sink, lambda item: [item.content])},
    )
    was_chosen = any(get_state(ctx).flags.get(name) for name in ("format", "json", "output"))
    if plan(ctx).format.family is Family.DOCUMENT and not was_chosen:
        if was_typed(ctx, "rettype"):
            get_state(ctx).plan = replace(plan(ctx), format=BY_NAME["text"])
        elif get_state(ctx).stderr_is_terminal:
            note(ctx, "A pipe gets JSON. Add -f text for NCBI's own text.")
    run(ctx, FETCH, request, view, label="Fetching", least=ONE_REQUEST)


@app.command("link")
@accept_formats(*ROWS, fields="source_id")
@request_options(
    LINK.request,
    IDS,
    build_option("source", "--from", metavar="DB"),
    build_option("target", "--to", metavar="DB"),
    build_option("link_name", metavar="NAME"),
    build_option("scores"),
    build_option("verify"),
)
def link_command(ctx: typer.Context, options: dict[str, Any], input: FilesOfIds = None) -> None:
    """Follow links between databases, one set per record.

    jsonl has one line per record, csv and tsv one row per link, ids the linked records.
    entrez-kit db link 7157 --from gene --to pubmed
    """
    kind = IdKind(partial(looks_like_uid, options["source"]))
    options["ids"] = read_inputs(ctx, options["ids"], input, kind=kind)
    request = build_request(ctx, LINK, options)

    if name := next((word for word in request.ids if word.lower() in PERMANENT_DATABASES), None):
        hint = f"Name databases by options, and give ids: entrez-kit db link 7157 --from {name} --to pubmed."
        raise usage_error(f"{name!r} is the name of a database, not an id.", f"ids={name}", hint)

    def yield_records(linkset: LinkSet) -> Iterator[Record]:
        if linkset.status in ("linked", "no_links"):
            yield convert_to_data(linkset)
        else:
            yield describe_failure(linkset.source_id, linkset.status, linkset.message)

    def yield_rows(linkset: LinkSet) -> Iterator[Record]:
        yield from ({"source_id": linkset.source_id, **convert_to_data(link)} for link in linkset.links)

    view: View[LinkResult] = View(
        table=lambda result, console: _views.databases.render_links(result, console),
        records=yield_records,
        rows=yield_rows,
        row_model=LinkRow,
        records_key="linksets",
        columns=build_columns("source_id", "id", "link_name", "score"),
        id_key="id",
    )
    run(ctx, LINK, request, view, label="Linking", least=ONE_REQUEST)
