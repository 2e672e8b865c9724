"""`entrez-kit corpus`: sync PubMed queries to this machine; search, compare and export the records."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar

import typer

from entrez_kit.base.errors import EntrezKitError, Exit, InvalidInput, corpus_envelope
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.base.output_formats import Family
from entrez_kit.corpus.export import EXPORT, Export, ExportResult
from entrez_kit.corpus.models import UserSyncRequest
from entrez_kit.corpus.operations import (
    RAG_GET,
    RAG_SEARCH,
    SYNC,
    SYNC_PLAN,
)
from entrez_kit.corpus.rag_get import RagDocument
from entrez_kit.corpus.search.rag_search import RagHit, RagSearchResult
from entrez_kit.pubmed.models import Article
from entrez_kit.references.audit import AUDIT, Audit, AuditResult
from entrez_kit.references.check.lookup.sources import SOURCES, parse_sources

from . import _views
from ._corpus_checkpoint import app as checkpoint_app
from ._emit import emit
from ._formats import View
from ._formats.fields import Column, Record, build_columns, convert_to_data, get_values
from ._options import App, build_argument, build_option, request_options
from ._pipeline import build_request, find_status, get_state, note, plan, refuse_without, run
from ._report import report_error, report_expected_time, watching
from ._state import accept_formats, usage_error
from ._views.text import ARTICLE_COLUMNS, get_standing_status

if TYPE_CHECKING:
    from entrez_kit.corpus.models import SyncPlan, SyncResult
    from entrez_kit.corpus.store.store import Store

Shown = TypeVar("Shown")

app = App(help="A local corpus: sync PubMed queries; search, compare and export their records.")
app.add_typer(checkpoint_app, name="checkpoint")

ROWS: Final = (Family.SCREEN, Family.DOCUMENT, Family.ROWS)
NEXT: Final = "entrez-kit corpus sync KEY TERM"

Key = Annotated[str, typer.Argument(metavar="KEY", help="Name of the corpus.")]


@app.command("sync")
@request_options(
    UserSyncRequest,
    build_argument("query_key", "KEY"),
    build_argument("term", "TERM", joined=True, default=None, more="Optional if the key has one."),
    build_option("overlap_days"),
    build_option("replace_term", help="Restart the key with a different term; records and versions stay."),
)
def sync_command(
    ctx: typer.Context,
    options: dict[str, Any],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count the records to check, and estimate the time.")
    ] = False,
) -> None:
    """Update a corpus from PubMed: first all records of the query, later those added, revised or withdrawn.

    entrez-kit corpus sync crispr "crispr AND review\\[pt]"

    You can interrupt it and run it again. Later syncs, for example in a cron job, need no query:
    entrez-kit -q corpus sync crispr
    """
    from entrez_kit.corpus.store import store_of

    query_key = options["query_key"]
    with _contract(ctx):
        if options["term"] is None:
            refuse_without(ctx, "replace_term", "TERM")
        known = store_of(get_state(ctx).services).get_checkpoint(query_key)
        options["term"] = options["term"] or (known and known.term)
        if options["term"] is None:
            raise InvalidInput(
                f"The corpus {query_key!r} does not exist.",
                invalid_input="term=",
                recovery_hint=f"To create it, give a query: `entrez-kit corpus sync {shlex.quote(query_key)} TERM`. "
                "`entrez-kit corpus list` shows the existing corpora.",
                details={"reason": "term_missing"},
            )
    if dry_run:
        plan_view: View[SyncPlan] = View(lambda result, console: _views.corpus.render_plan(result, console))
        run(ctx, SYNC_PLAN, build_request(ctx, SYNC_PLAN, options), plan_view)
        return

    view: View[SyncResult] = View(
        lambda result, console: _views.corpus.render_sync(result, console, query_key=query_key, is_new=known is None)
    )
    request = build_request(ctx, SYNC, options, UserSyncRequest)
    run(ctx, SYNC, request, view, label=f"Syncing {query_key}", begin=partial(report_expected_time, get_state(ctx)))


@contextmanager
def _contract(ctx: typer.Context) -> Iterator[None]:
    """Report errors before an operation of the corpus contract starts in that contract's envelope."""
    try:
        yield
    except EntrezKitError as exc:
        report_error(get_state(ctx), exc, document=corpus_envelope)
        raise typer.Exit(find_status(exc)) from None


def _open_corpus(ctx: typer.Context) -> "Store":
    """Return the corpus; fill the demo's corpus first if it is empty."""
    from entrez_kit.corpus import demo
    from entrez_kit.corpus.store import store_of

    services = get_state(ctx).services
    get_state(ctx).warn_of_demo()
    if services.settings.demo:
        with watching(get_state(ctx), "Filling the demo's corpus"):
            came = demo.fill(services)
        if came:
            articles = format_count(came, "invented article was", "invented articles were")
            note(ctx, f"The demo's corpus was empty: {articles} synced into it, with the key {demo.KEY}.")
    return store_of(services)


HIT_COLUMNS: Final[dict[str, Column]] = build_columns(
    *("pmid", "title", "journal", "year", "score", "quality", "sim", "bm25", "uuid")
) | {"standing": get_standing_status}


@app.command("search")
@accept_formats(*ROWS, Family.IDS, fields="title,score")
@request_options(
    RAG_SEARCH.request,
    build_argument("query", "QUERY", joined=True),
    build_option("top_k", "-n"),
    build_option("quality_bias", "--quality/--no-quality"),
    build_option("details"),
    build_option("corpus", metavar="KEY"),
    build_option("index", metavar="NAME", help="local or weaviate. Default: weaviate if WEAVIATE_URL is set."),
)
def search_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """Search the corpus by words, and by meaning if embeddings are configured.

    entrez-kit --demo corpus search base editing in blood disorders -n 5
    """
    request = build_request(ctx, RAG_SEARCH, options)
    with _contract(ctx):
        store = _open_corpus(ctx)
        store.check_key(ctx.params["corpus"])  # the request reads an empty name, e.g. from a script, as all

    view: View[RagSearchResult] = View(
        table=lambda result, console: _views.corpus.render_hits(
            result, console, store=store, query=request.query, corpus=request.corpus
        ),
        rows=lambda result: _describe_hits(store, result),
        columns=HIT_COLUMNS,
        row_model=HitRow,
        id_key="pmid",
    )

    def report_notes(result: RagSearchResult) -> None:
        if not result.results and not store.corpora().corpora:
            note(ctx, f"The corpus is empty. `{NEXT}` fills it.")
        _note_status(ctx, result)

    run(ctx, RAG_SEARCH, request, view, afterwards=report_notes)


def _note_status(ctx: typer.Context, result: RagSearchResult | RagDocument) -> None:
    """Report the publication status of records, which a document of the corpus contract cannot contain."""
    if plan(ctx).format.family is not Family.SCREEN:
        for text in result.standings:
            note(ctx, text)


class HitRow(RagHit):
    """A hit with its details, for rows."""

    pmid: str
    title: str
    journal: str
    year: int


def _describe_hits(store: "Store", result: RagSearchResult) -> Iterator[Record]:
    pmids = [int(hit.doc_id.removeprefix("pmid:")) for hit in result.results]
    documents = store.read_documents(pmids)
    for pmid, hit in zip(pmids, result.results, strict=True):
        document = documents[pmid]
        yield {
            **convert_to_data(hit),
            "pmid": str(pmid),
            "title": document.title,
            "journal": document.journal,
            "year": document.year,
            "standing": convert_to_data(document.standing),
        }


def _to_document_id(text: str) -> str:
    """Return the doc_id of a record; a bare PMID is accepted."""
    identifier = read_identifier(text)
    return f"pmid:{identifier.value}" if identifier is not None and identifier.kind == "pmid" else text


@app.command("get")
@request_options(
    RAG_GET.request,
    build_argument("doc_id", "ID", help="PMID of the record, such as 38400100.", convert=_to_document_id),
    build_option("details"),
)
def get_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """Show one record of the corpus with its quality as of today.

    entrez-kit --demo corpus get 99000001
    """
    request = build_request(ctx, RAG_GET, options)
    with _contract(ctx):
        _open_corpus(ctx)
    view: View[RagDocument] = View(lambda document, console: _views.corpus.render_document(document, console))
    run(ctx, RAG_GET, request, view, afterwards=partial(_note_status, ctx))


@app.command("list")
@accept_formats(*ROWS)
def list_command(ctx: typer.Context) -> None:
    """List the queries of the corpus with their records and the result of the last sync."""
    listed = _open_corpus(ctx).corpora()
    emit(ctx, listed, lambda: _views.corpus.render_corpora(listed), records=listed.corpora)


@app.command("stats")
def stats_command(
    ctx: typer.Context,
    query_key: Annotated[str | None, typer.Argument(metavar="KEY", help="Name of a corpus; default: all.")] = None,
) -> None:
    """Show the numbers of records, versions, passages and vectors, and the size on disk."""
    stats = _open_corpus(ctx).stats(query_key)
    emit(ctx, stats, lambda: _views.corpus.render_stats(stats))


@app.command("diff")
@accept_formats(*ROWS, Family.IDS, Family.REFERENCES)
def diff_command(
    ctx: typer.Context,
    query_key: Key,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="DATE",
            help="Show the changes of this corpus since a date or UTC time, e.g. 2026-01-31.",
            show_default=False,
        ),
    ] = None,
    since_last: Annotated[bool, typer.Option("--since-last", help="Show the changes of the last sync.")] = False,
) -> None:
    """Show the changes of a corpus: records added, revised (and how), retracted, or withdrawn from PubMed.

    entrez-kit corpus diff crispr --since 2026-01-01

    The changes of the last sync, for a reference manager:
    entrez-kit corpus diff crispr -o new.ris
    """
    if since_last and since is not None:
        raise usage_error(
            "--since cannot be used with --since-last.",
            f"since={since}",
            "Give --since DATE, or neither for the changes of the last sync.",
        )
    store = _open_corpus(ctx)
    since = since or store.get_last_sync(query_key)
    if since is None:
        raise usage_error(
            f"The query {query_key!r} was never synced, so there is no last sync to compare with.",
            f"query_key={query_key}",
            f"Run `entrez-kit corpus sync {query_key}`, or give --since DATE.",
        )
    if plan(ctx).format.needs_records:
        _write_export(ctx, query_key=query_key, since=since)
        return
    difference = store.diff(query_key, since)
    records = [*difference.added, *difference.revised, *difference.retracted, *difference.deleted]
    emit(ctx, difference, lambda: _views.corpus.render_diff(difference), records=records)


@app.command("audit")
@accept_formats(*ROWS, fields="pmid,status")
@request_options(
    AUDIT.request,
    build_argument("query_key", "KEY"),
    build_option("sources", kind=str, convert=parse_sources, metavar="NAMES", more=f"Any of {', '.join(SOURCES)}."),
    build_option("retraction_watch", kind=Path, metavar="FILE"),
    build_option("references", "--references/--no-references"),
)
def audit_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """Check the publication status of all works of a corpus in several sources, and citations of retracted works.

    Only works with findings are shown; the exit status is 4 if there are any:
    entrez-kit corpus audit crispr --sources pubmed,europepmc
    """
    request = build_request(ctx, AUDIT, options)
    view: View[AuditResult] = View(
        table=lambda result, console: _views.check.render_audit(result, console),
        columns=build_columns("pmid", "doi", "title", "status")
        | {name: partial(get_values, path=f"findings.{name[:-1]}") for name in ("codes", "messages")}
        | build_columns("disagreement")
        | {"cites": partial(get_values, path="cites.pmid")}
        | build_columns("unread"),
    )
    audit = run(ctx, AUDIT, request, view, label="Auditing")
    if isinstance(audit, Audit) and audit.result().works:
        raise typer.Exit(int(Exit.PARTIAL))


@app.command("reindex")
def reindex_command(
    ctx: typer.Context,
    anew: Annotated[
        bool, typer.Option("--anew", help="Recreate every vector, and delete those of other models.")
    ] = False,
    index: Annotated[
        Literal["local", "weaviate"],
        typer.Option("--index", metavar="NAME", help="local; or weaviate: also rebuild the index there."),
    ] = "local",
) -> None:
    """Rebuild the data derived from the records: quality, passages, word index and missing vectors.

    Run it after a change of the embeddings model. You can interrupt it and run it again.
    entrez-kit corpus reindex
    """
    from entrez_kit.corpus.indexing import DELIVERING, INDEXING, reindex

    services = get_state(ctx).services
    if index == "weaviate":
        from entrez_kit.corpus.weaviate.client import read_server

        read_server(services.settings)  # fails before hours of work
    with watching(get_state(ctx), INDEXING):
        done = reindex(services, anew=anew)
    if index == "local":
        emit(ctx, done, lambda: _views.corpus.render_reindexed(done, is_demo=services.settings.demo))
        return
    from entrez_kit.corpus.weaviate.delivery import rebuild

    with watching(get_state(ctx), DELIVERING):
        delivered = rebuild(services)
    emit(ctx, delivered, lambda: _views.corpus.render_delivered(delivered))
    problem = delivered.missing_error()
    if problem is not None:
        report_error(get_state(ctx), problem)
        raise typer.Exit(find_status(problem))


@app.command("export")
@accept_formats(Family.ROWS, Family.REFERENCES, Family.PARQUET, fields="pmid,title")
def export_command(
    ctx: typer.Context,
    query_key: Annotated[str | None, typer.Argument(metavar="KEY", help="Name of the corpus to export.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Export the records of all corpora, each once.")] = False,
) -> None:
    """Write all records of a corpus to a file: JSON lines, a format of reference managers, or Parquet.

    Records that PubMed has withdrawn are omitted.
    entrez-kit --demo corpus export --all -o corpus.ris
    """
    if everything == (query_key is not None):
        raise usage_error(
            "Give a KEY or --all." if query_key is None else "KEY cannot be used with --all.",
            f"query_key={query_key or ''}",
            "`entrez-kit corpus list` shows the keys; --all exports all their records.",
        )
    _open_corpus(ctx)
    _write_export(ctx, query_key=query_key, rows=plan(ctx).format.family is Family.PARQUET)


def _write_export(ctx: typer.Context, **options: Any) -> None:
    """Write records as they arrive."""

    def report_notes(export: Export) -> None:
        if options.get("since") is not None:
            note(ctx, f"Wrote {format_count(export.exported, 'record')} that changed since {export.since}.")
            return
        left_out = f"; {format_count(export.deleted, 'withdrawn one')} left out" if export.deleted else ""
        note(ctx, f"Exported {format_count(export.exported, 'record')}{left_out}.")

    view: View[ExportResult] = View(
        table=lambda result, console: "",
        record_model=Article,
        columns=ARTICLE_COLUMNS,
        articles=lambda article: [article],
    )
    run(ctx, EXPORT, build_request(ctx, EXPORT, options), view, label="Exporting", afterwards=report_notes)
