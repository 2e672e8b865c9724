"""`entrez-kit europepmc`: search Europe PMC, page by page or as far as wanted, preprints included."""

import sys
from dataclasses import replace
from typing import Annotated, Any, Final

import typer

from entrez_kit.citations.files.entries import FILES
from entrez_kit.errors import EntrezKitError, InvalidInput
from entrez_kit.europepmc.models import EuropePMCArticle
from entrez_kit.europepmc.search import EUROPEPMC_SEARCH, EuropePMCRequest, EuropePMCResult, Walk, search_many
from entrez_kit.model import Result
from entrez_kit.services import Services
from entrez_kit.services.europe_pmc import MAX_PAGE_SIZE

from ._files import Entries
from ._formats import Shape, Writer, as_data
from ._markdown import page
from ._output import Sink
from ._progress import progress
from ._run import View, accepts, finish, help_of, note, plan, run, state, stream, warn, writer_for
from ._state import Plan, is_terminal
from ._text import ARTICLE_COLUMNS, record_key

FORMATS: Final = ("table", "json", "jsonl", "csv", "tsv", "ids", "md", *FILES)
COLUMNS: Final = {
    "id": record_key,
    **ARTICLE_COLUMNS,
    "source": lambda record: record.get("source"),
    "epmc_id": lambda record: record.get("epmc_id"),
    "preprint_server": lambda record: record.get("preprint_server"),
    "cited_by_count": lambda record: record.get("cited_by_count"),
    "is_open_access": lambda record: record.get("is_open_access"),
    "first_publication_date": lambda record: record.get("first_publication_date"),
}
_BRIEF: Final = ("table", "ids")
"""Formats that show no more than a brief record holds."""


def _help(name: str) -> str:
    return help_of(EUROPEPMC_SEARCH, name)


@accepts(*FORMATS)
def command(
    ctx: typer.Context,
    query: Annotated[
        list[str], typer.Argument(metavar="QUERY", help=f"{_help('query')} Several words need no quotes.")
    ],
    max_results: Annotated[
        int | None,
        typer.Option("-n", "--max-results", metavar="N", help="How many records, over as many pages as that takes."),
    ] = None,
    page_size: Annotated[
        int, typer.Option("--page-size", metavar="N", help=_help("page_size"), show_default=True)
    ] = 25,
    cursor: Annotated[str, typer.Option("--cursor", metavar="CURSOR", help=_help("cursor"), show_default=True)] = "*",
    sources: Annotated[
        list[str],
        typer.Option(
            "--source",
            metavar="SOURCE",
            help=f"{_help('sources')} May be repeated.",
            show_default=True,
            autocompletion=lambda incomplete: _beginning(
                incomplete, "MED", "PMC", "PPR", "PAT", "AGR", "CBA", "CTX", "ETH", "HIR", "NBK", "preprints"
            ),
        ),
    ] = ["MED", "PMC", "PPR"],  # noqa: B006  # typer reads the default and never changes it
    sort_by: Annotated[
        str,
        typer.Option(
            "--sort",
            metavar="ORDER",
            help=_help("sort_by"),
            show_default=True,
            autocompletion=lambda incomplete: _beginning(incomplete, "relevance", "date", "cited"),
        ),
    ] = "relevance",
    detail_level: Annotated[
        str, typer.Option("--detail", metavar="LEVEL", help=_help("detail_level"), show_default=True)
    ] = "full",
    synonyms: Annotated[bool, typer.Option("--synonyms", help=_help("synonyms"))] = False,
    preprints: Annotated[bool, typer.Option("--preprints", help="Only preprints; short for --source PPR.")] = False,
) -> None:
    """Search Europe PMC: PubMed's articles, preprints and more; -n goes through as many pages as it takes.

    entrez-kit europepmc base editing AND PUB_YEAR:2024 --preprints
    ids prints PMIDs, for records outside PubMed source and id (PPR:PPR123456).
    """
    arguments: dict[str, Any] = {
        "query": " ".join(query),
        "page_size": page_size,
        "cursor": cursor,
        "sources": _sources(ctx, sources, preprints),
        "sort_by": sort_by,
        "detail_level": detail_level,
        "synonyms": synonyms,
    }
    if max_results is not None and max_results < 1:
        raise InvalidInput(
            f"--max-results: {max_results} is less than 1",
            invalid_input=f"max_results={max_results}",
            recovery_hint="Give the number of records wanted.",
            details={"reason": "bad_usage"},
        )
    form = plan(ctx).format
    if form in _BRIEF and not _given(ctx, "detail_level") and not plan(ctx).fields:
        arguments["detail_level"] = "brief"
    if max_results is not None and not _given(ctx, "page_size"):
        arguments["page_size"] = min(max_results, MAX_PAGE_SIZE)
    if form in ("table", "json"):
        operation = replace(EUROPEPMC_SEARCH, function=_whole(ctx, max_results))
        run(ctx, operation, arguments, _view())
    else:
        _stream(ctx, arguments, max_results)


def _beginning(incomplete: str, *words: str) -> list[str]:
    return [word for word in words if word.lower().startswith(incomplete.lower())]


def _given(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _sources(ctx: typer.Context, sources: list[str], preprints: bool) -> list[str]:
    if not preprints:
        return sources
    if _given(ctx, "sources"):
        raise InvalidInput(
            "--preprints and --source contradict each other.",
            invalid_input="preprints",
            recovery_hint="Give --preprints for preprints alone, or --source PPR beside other sources.",
            details={"reason": "bad_usage"},
        )
    return ["PPR"]


def _view() -> View[EuropePMCResult]:
    def table(result: EuropePMCResult, console: Any) -> Any:
        from ._europepmc import search_table

        return search_table(result, console)

    return View(
        table=table,
        records=lambda result: (as_data(article) for article in result.articles),
        columns=COLUMNS,
        records_key="articles",
    )


def _whole(ctx: typer.Context, wanted: int | None) -> Any:
    """Return a function that holds all records at once, under a progress bar where it takes several pages."""

    def search(services: Services, request: EuropePMCRequest) -> EuropePMCResult:
        if wanted is None or wanted <= request.page_size:
            return search_many(services, request, wanted)
        with progress(state(ctx), "Retrieving records", total=wanted) as advance:
            return search_many(services, request, wanted, progress=advance)

    return search


class Streamed(Result):
    """What is left to know after the records were written."""

    written: int
    total_found: int
    next_cursor: str | None
    warnings: list[str]

    _failure: EntrezKitError | None = None

    def shortfall(self) -> EntrezKitError | None:
        """Report fewer records than Europe PMC promised."""
        return self._failure


def _stream(ctx: typer.Context, arguments: dict[str, Any], wanted: int | None) -> None:
    """Write records page by page; never more than one page is held."""
    made = plan(ctx)
    with Sink(made.target) as sink:
        writer = _writer(made, sink)

        def search(services: Services, request: EuropePMCRequest) -> Streamed:
            walk = Walk(services, request, wanted)
            shared = made.target is None and is_terminal(sys.stdout)
            total = wanted or request.page_size
            begun, told = False, 0
            with progress(
                state(ctx), "Retrieving records", total=total, shared=shared or total <= MAX_PAGE_SIZE
            ) as bar:
                for articles in walk.pages():
                    if not begun:  # a search that fails at once writes nothing
                        for warning in walk.warnings:
                            warn(ctx, warning.message)
                        told = len(walk.warnings)
                        writer.begin()
                        begun = True
                    for article in articles:
                        _put(writer, article, made.format)
                    sink.flush()
                    bar(walk.retrieved, min(total, walk.total_found))
            if begun:
                writer.end()
            done = Streamed(
                written=walk.retrieved,
                total_found=walk.total_found,
                next_cursor=walk.next_cursor,
                warnings=[warning.message for warning in walk.warnings[told:]],
            )
            done._failure = walk.failure
            return done

        outcome, elapsed = stream(ctx, EUROPEPMC_SEARCH, arguments, sink, search, Streamed)
    if outcome.result is not None:
        _remarks(ctx, outcome.result)
    finish(ctx, outcome, elapsed)


def _writer(made: Plan, sink: Sink) -> Writer | Entries:
    if made.format not in FILES:
        return writer_for(made, sink, COLUMNS, Shape(EuropePMCArticle), page, id_key="key")
    return Entries(sink, made)


def _put(writer: Writer | Entries, article: EuropePMCArticle, form: str) -> None:
    if isinstance(writer, Entries):
        writer.article(article)
    else:
        writer.record({"key": article.key} if form == "ids" else as_data(article))


def _remarks(ctx: typer.Context, done: Streamed) -> None:
    for warning in done.warnings:
        warn(ctx, warning)
    if done.next_cursor and done.shortfall() is None:
        note(ctx, f"{done.written:,} of {done.total_found:,} records; go on with --cursor {done.next_cursor}")
