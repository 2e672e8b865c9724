"""`entrez-kit db`: any Entrez database, by NCBI's own names."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from entrez_kit.databases.fetch import FETCH, EntrezFetchResult
from entrez_kit.databases.info import INFO, InfoResult
from entrez_kit.databases.link import LINK, LinkResult, LinkSet
from entrez_kit.databases.search import SEARCH, EntrezSearchResult
from entrez_kit.databases.summary import SUMMARY, SummaryResult

from ._formats import Record, as_data
from ._input import read_ids
from ._run import View, accepts, help_of, plan, run, warn

app = typer.Typer(help="Any Entrez database: what it holds, search it, summarise, fetch and link records.")

Database = Annotated[str, typer.Argument(metavar="DB", help=help_of(SEARCH, "db"))]
Identifiers = Annotated[
    list[str] | None, typer.Argument(metavar="ID...", help="UIDs or accessions; - reads standard input.")
]
Files = Annotated[
    list[Path] | None, typer.Option("-i", "--input", metavar="FILE", help="Read ids from a file. May be repeated.")
]


def _every(ids: list[str] | None, files: list[Path] | None) -> list[str]:
    return read_ids(ids or [], files or [])


@app.command("info")
@accepts("table", "json", "jsonl", "csv", "tsv")
def info(
    ctx: typer.Context,
    db: Annotated[str | None, typer.Argument(metavar="[DB]", help=help_of(INFO, "db"))] = None,
    term: Annotated[str | None, typer.Option("--term", metavar="QUERY", help=help_of(INFO, "term"))] = None,
) -> None:
    """List the databases, describe one, or count a query's records in each.

    The field names of a database are the tags its queries take: entrez-kit db info gene
    """

    def table(result: InfoResult, console: Any) -> Any:
        from ._databases import info_table

        return info_table(result, console)

    def records(result: InfoResult) -> Iterator[Record]:
        if result.counts is not None:
            yield from (as_data(count) for count in result.counts)
        elif result.database is not None:
            yield from (as_data(field) for field in result.database.fields)
        else:
            yield from ({"name": name} for name in result.databases or [])

    view = View(
        table=table,
        records=records,
        record_model=None,
        columns={name: _field(name) for name in _info_columns(db, term)},
        records_key=_info_key(db, term),
    )
    run(ctx, INFO, {"db": db, "term": term}, view)


def _info_columns(db: str | None, term: str | None) -> tuple[str, ...]:
    if term:
        return ("db", "menu_name", "count", "status")
    return ("name", "full_name", "description", "term_count", "is_date", "is_numerical") if db else ("name",)


def _info_key(db: str | None, term: str | None) -> str:
    if term:
        return "counts"
    return "database.fields" if db else "databases"


def _field(name: str) -> Any:
    return lambda record: record.get(name)


@app.command("search")
@accepts("table", "json", "jsonl", "csv", "tsv", "ids")
def search(
    ctx: typer.Context,
    db: Database,
    term: Annotated[list[str], typer.Argument(metavar="QUERY", help=help_of(SEARCH, "term"))],
    max_results: Annotated[
        int, typer.Option("-n", "--max-results", metavar="N", help=help_of(SEARCH, "max_results"), show_default=True)
    ] = 20,
    offset: Annotated[
        int, typer.Option("--offset", metavar="N", help=help_of(SEARCH, "offset"), show_default=True)
    ] = 0,
    sort: Annotated[str | None, typer.Option("--sort", metavar="ORDER", help=help_of(SEARCH, "sort"))] = None,
    min_date: Annotated[
        str | None, typer.Option("--min-date", metavar="DATE", help=help_of(SEARCH, "min_date"))
    ] = None,
    max_date: Annotated[
        str | None, typer.Option("--max-date", metavar="DATE", help=help_of(SEARCH, "max_date"))
    ] = None,
    date_type: Annotated[
        str | None, typer.Option("--date-type", metavar="TYPE", help=help_of(SEARCH, "date_type"))
    ] = None,
    use_history: Annotated[bool, typer.Option("--history", help=help_of(SEARCH, "use_history"))] = False,
) -> None:
    """Search any database for UIDs: entrez-kit db search nuccore "BRCA1[gene] AND human[orgn]"."""

    def table(result: EntrezSearchResult, console: Any) -> Any:
        from ._databases import search_table

        return search_table(result, console)

    view: View[EntrezSearchResult] = View(
        table=table,
        records=lambda result: ({"id": uid} for uid in result.ids),
        record_model=None,
        columns={"id": _field("id")},
        records_key="ids",
        id_key="id",
    )

    def remarks(result: EntrezSearchResult) -> None:
        if plan(ctx).format not in ("table", "json"):
            for warning in result.warnings:
                warn(ctx, warning.message)

    arguments = {
        "db": db,
        "term": " ".join(term),
        "max_results": max_results,
        "offset": offset,
        "sort": sort,
        "min_date": min_date,
        "max_date": max_date,
        "date_type": date_type,
        "use_history": use_history,
    }
    run(ctx, SEARCH, arguments, view, afterwards=remarks)


@app.command("summary")
@accepts("table", "json", "jsonl", "csv", "tsv", "ids")
def summary(ctx: typer.Context, db: Database, ids: Identifiers = None, files: Files = None) -> None:
    """Summarise records of any database: entrez-kit db summary taxonomy 9606 10090."""

    def table(result: SummaryResult, console: Any) -> Any:
        from ._databases import summary_table

        return summary_table(result, console)

    view: View[SummaryResult] = View(
        table=table,
        records=lambda result: iter(result.summaries),
        record_model=None,
        columns={"uid": _field("uid"), "title": _title},
        records_key="summaries",
        id_key="uid",
    )
    run(ctx, SUMMARY, {"db": db, "ids": _every(ids, files)}, view)


def _title(record: Record) -> str:
    """Return whatever a database calls the name of a record."""
    for name in ("title", "Title", "name", "scientificname", "ScientificName", "caption", "Caption"):
        if record.get(name):
            return str(record[name])
    return ""


@app.command("fetch")
@accepts("text", "json")
def fetch(
    ctx: typer.Context,
    db: Database,
    ids: Identifiers = None,
    rettype: Annotated[str | None, typer.Option("--rettype", metavar="TYPE", help=help_of(FETCH, "rettype"))] = None,
    retmode: Annotated[str | None, typer.Option("--retmode", metavar="MODE", help=help_of(FETCH, "retmode"))] = None,
    files: Files = None,
) -> None:
    """Fetch records of any database as NCBI formats them: entrez-kit db fetch nuccore NM_000546.6 --rettype fasta."""

    def text(result: EntrezFetchResult, console: Any) -> Any:
        from ._databases import content

        return content(result)

    view: View[EntrezFetchResult] = View(
        table=text, records=lambda result: iter(()), record_model=None, columns={}, records_key="ids", raw=_content
    )
    arguments = {"db": db, "ids": _every(ids, files), "rettype": rettype, "retmode": retmode}
    run(ctx, FETCH, arguments, view)


def _content(result: EntrezFetchResult) -> str:
    return result.content


@app.command("link")
@accepts("table", "json", "jsonl", "csv", "tsv", "ids")
def link(
    ctx: typer.Context,
    ids: Identifiers = None,
    source: Annotated[
        str, typer.Option("--from", metavar="DB", help=help_of(LINK, "source"), show_default=True)
    ] = "pubmed",
    target: Annotated[str, typer.Option("--to", metavar="DB", help=help_of(LINK, "target"), show_default=True)] = "pmc",
    link_name: Annotated[
        str | None, typer.Option("--link-name", metavar="NAME", help=help_of(LINK, "link_name"))
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help=help_of(LINK, "scores"))] = False,
    verify: Annotated[bool, typer.Option("--verify", help=help_of(LINK, "verify"))] = False,
    files: Files = None,
) -> None:
    """Follow links between databases, one set per record: entrez-kit db link 7157 --from gene --to clinvar."""

    def table(result: LinkResult, console: Any) -> Any:
        from ._databases import link_table

        return link_table(result, console)

    def records(result: LinkResult) -> Iterator[Record]:
        if plan(ctx).format == "jsonl":
            yield from (as_data(linkset) for linkset in result.linksets)
            return
        for linkset in result.linksets:
            for found in linkset.links:
                yield {"source_id": linkset.source_id, **as_data(found)}

    view: View[LinkResult] = View(
        table=table,
        records=records,
        record_model=LinkSet if plan(ctx).format == "jsonl" else None,
        columns={name: _field(name) for name in ("source_id", "id", "link_name", "score")},
        records_key="linksets",
        id_key="id",
    )
    arguments = {
        "ids": _every(ids, files),
        "source": source,
        "target": target,
        "link_name": link_name,
        "scores": scores,
        "verify": verify,
    }
    run(ctx, LINK, arguments, view)
