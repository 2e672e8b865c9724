"""`entrez-kit db`: any Entrez database, by NCBI's own names."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import typer

from entrez_kit.core.model import Result
from entrez_kit.databases.fetch import FETCH, EntrezFetchResult
from entrez_kit.databases.info import INFO, InfoResult, SearchField, TermCount
from entrez_kit.databases.link import LINK, Link, LinkResult, LinkSet
from entrez_kit.databases.names import looks_like_uid
from entrez_kit.databases.search import SEARCH, EntrezSearchResult
from entrez_kit.databases.summary import SUMMARY, SummaryOutcome, SummaryResult

from ._formats.fields import Record, as_data, columns_at
from ._formats.writer import Texts
from ._ids import ONE_REQUEST, InputFiles, failed, read_inputs
from ._options import argument, option, request_options
from ._pipeline import View, accepts, note, plan, run, show_with, state

app = typer.Typer(help="Any Entrez database: what it holds; search it, summarise, fetch and link its records.")

ROWS: Final = ("table", "json", "jsonl", "csv", "tsv", "ids")
TITLES: Final = ("title", "name", "scientificname", "caption", "ds_meshterms")
"""What databases call the name of a record."""


class Name(Result):
    """A row of the list of databases."""

    name: str


class LinkRow(Link):
    """A row of links: one linked record, and whose it is."""

    source_id: str


IDS: Final = argument("ids", "ID...", help="UIDs or accessions; - reads standard input.")


@app.command("info")
@accepts(*ROWS)
@request_options(
    INFO, argument("db", "[DB]"), option("term", metavar="QUERY"), option("broader_results", "--broader/--no-broader")
)
def info(ctx: typer.Context, asked: dict[str, Any]) -> None:
    """List the databases, describe one, or count a query's records in each.

    The tags of a database are what its queries take: entrez-kit db info gene
    How much there is about something: entrez-kit db info --term "BRCA1 AND human"
    """

    def records(result: InfoResult) -> Iterator[Record]:
        if result.counts is not None:
            for count in result.counts:
                yield as_data(count) if count.count is not None else failed(count.db, "error", count.status)
        elif result.database is not None:
            yield from (as_data(field) for field in result.database.fields)
        else:
            yield from ({"name": name} for name in result.databases or [])

    db, term = asked["db"], asked["term"]
    names = ("name", "full_name", "description", "term_count", "is_date", "is_numerical") if db else ("name",)
    view: View[InfoResult] = View(
        table=show_with("databases.info_table"),
        records=records,
        record_model=TermCount if term else SearchField if db else Name,
        columns=columns_at("db", "menu_name", "count", "status") if term else columns_at(*names),
        records_key="counts" if term else "database.fields" if db else "databases",
        id_key="db" if term else "name",
    )
    run(ctx, INFO, asked, view)


@app.command("search")
@accepts(*ROWS, "count")
@request_options(
    SEARCH,
    argument("db", "DB"),
    argument("term", "QUERY", joined=True),
    option("max_results", "-n"),
    option("offset"),
    option("sort", metavar="ORDER"),
    option("min_date", metavar="DATE"),
    option("max_date", metavar="DATE"),
    option("date_type", metavar="TYPE"),
    option("use_history", "--history"),
    option("broader_results", "--broader/--no-broader"),
)
def search(ctx: typer.Context, asked: dict[str, Any]) -> None:
    """Search any database for UIDs, and see how NCBI understood the query.

    entrez-kit db search nuccore "BRCA1[gene] AND human[orgn]" -f ids | entrez-kit db summary nuccore -
    """

    def remarks(result: EntrezSearchResult) -> None:
        shown = result.offset + result.retrieved_count
        total = result.total_found or 0
        if not plan(ctx).says_total and result.ids and shown < total:
            note(ctx, f"{total - shown:,} more: add --offset {shown}")

    view: View[EntrezSearchResult] = View(
        table=show_with("databases.search_table"),
        columns=columns_at("id"),
        id_key="id",
    )
    run(ctx, SEARCH, asked, view, afterwards=remarks)


@app.command("summary")
@accepts(*ROWS)
@request_options(SUMMARY, argument("db", "DB"), IDS)
def summary(ctx: typer.Context, asked: dict[str, Any], input: InputFiles = None) -> None:
    """Summarise records of any database, one outcome per id, in order: entrez-kit db summary taxonomy 9606 10090.

    csv and tsv hold uid and title unless --fields names others: --fields uid,scientificname,rank
    """

    def records(item: SummaryOutcome) -> Iterator[Record]:
        outcome = item.outcome
        yield item.document or failed(outcome.id, outcome.status, outcome.message)

    view: View[SummaryResult] = View(
        table=show_with("databases.summary_table"),
        records=records,
        columns={**columns_at("uid"), "title": _title},
        id_key="uid",
    )
    asked["ids"] = _read(ctx, asked["db"], asked["ids"], input)
    run(ctx, SUMMARY, asked, view, label="Summarising", least=ONE_REQUEST)


def _read(ctx: typer.Context, db: str, ids: list[str] | None, files: InputFiles) -> list[str]:
    return read_inputs(ctx, ids, files, known=partial(looks_like_uid, db))


def _title(record: Record) -> str:
    """Return whatever a database calls the name of a record."""
    for name in TITLES:
        if value := record.get(name):
            return str(value[0] if isinstance(value, list) else value)
    return ""


@app.command("fetch")
@accepts("text", "json")
@request_options(
    FETCH,
    argument("db", "DB"),
    IDS,
    option("rettype", metavar="TYPE"),
    option("retmode", metavar="MODE"),
)
def fetch(ctx: typer.Context, asked: dict[str, Any], input: InputFiles = None) -> None:
    """Fetch records of any database as NCBI formats them.

    A terminal and a file get NCBI's own text, a pipe gets JSON unless -f text is given:
    entrez-kit db fetch nuccore NM_000546.6 --rettype fasta -o tp53.fasta
    entrez-kit db fetch nuccore NM_000546.6 --rettype fasta -f text > tp53.fasta
    """

    def table(result: EntrezFetchResult, console: Any) -> Any:
        from rich.text import Text

        return Text(result.content)

    view: View[EntrezFetchResult] = View(
        table=table,
        writers={"text": lambda sink: Texts(sink, lambda item: [item.content])},
    )
    was_chosen = any(state(ctx).flags.get(name) for name in ("format", "json", "output"))
    if plan(ctx).format == "json" and state(ctx).stderr_is_terminal and not was_chosen:
        note(ctx, "A pipe gets JSON; for NCBI's own text add -f text.")
    asked["ids"] = _read(ctx, asked["db"], asked["ids"], input)
    run(ctx, FETCH, asked, view, label="Fetching", least=ONE_REQUEST)


@app.command("link")
@accepts(*ROWS)
@request_options(
    LINK,
    IDS,
    option("source", "--from", metavar="DB"),
    option("target", "--to", metavar="DB"),
    option("link_name", metavar="NAME"),
    option("scores"),
    option("verify"),
)
def link(ctx: typer.Context, asked: dict[str, Any], input: InputFiles = None) -> None:
    """Follow links between databases, one set per record: entrez-kit db link 7157 --from gene --to pubmed.

    jsonl has one line per record, csv and tsv one row per link, ids the linked records.
    """

    by_record = plan(ctx).format == "jsonl"

    def records(linkset: LinkSet) -> Iterator[Record]:
        if linkset.status not in ("linked", "no_links"):
            yield failed(linkset.source_id, linkset.status, linkset.message)
        elif by_record:
            yield as_data(linkset)
        else:
            yield from ({"source_id": linkset.source_id, **as_data(found)} for found in linkset.links)

    view: View[LinkResult] = View(
        table=show_with("databases.link_table"),
        records=records,
        record_model=LinkSet if plan(ctx).format in ("json", "jsonl") else LinkRow,
        columns=columns_at("source_id", "id", "link_name", "score"),
        records_key="linksets",
        id_key="id",
    )
    asked["ids"] = _read(ctx, asked["source"], asked["ids"], input)
    run(ctx, LINK, asked, view, label="Linking", least=ONE_REQUEST)
