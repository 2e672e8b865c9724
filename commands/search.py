"""`entrez-kit search`: search PubMed and show how it understood the query."""

import shlex
import sys
from hashlib import file_digest
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import describe_wrong_value, format_count
from entrez_kit.base.output_formats import Family
from entrez_kit.core.query_input import check_syntax
from entrez_kit.pubmed.models import BriefSummary
from entrez_kit.pubmed.search import SEARCH_ARTICLES, SearchHits, build_result
from entrez_kit.pubmed.search_models import SORT_NAMES, SearchRequest, SearchResult
from entrez_kit.services.small_replies import DROPPED, MAX_PUBMED_RESULTS

from . import _views
from ._formats import Sink, View
from ._formats.documents import format_json
from ._formats.fields import DocumentPaths, build_columns, convert_to_data
from ._options import BROADER, HISTORY, REGISTRATIONS, App, build_argument, build_option, request_options
from ._pipeline import (
    build_request,
    describe_rest,
    get_state,
    note,
    plan,
    refuse_beside,
    refuse_without,
    run,
    suggest_next,
    tell_warnings,
    warn,
    was_typed,
)
from ._state import STDIN, Plan, accept_formats, is_terminal, usage_error

app = App()

FILTERS: Final = "Filters"
DATES: Final = "Dates"
MAX_QUERY_BYTES: Final = 1024 * 1024


COLUMNS: Final = build_columns(
    *("pmid", "title", "authors", "source", "pub_date", "epub_date", "doi", "pmcid", "retraction_status")
) | {"standing": lambda record: _views.text.get_standing_status(record)}

_RETRIEVE_ALL: Final = "Use --all to retrieve every result."


def _read_query(text: str) -> str:
    """Return the query as typed, or read it from standard input if it is "-".

    Raises:
        InvalidInput: standard input is not text, or the query is in the syntax of another database.
    """
    if text == STDIN:
        try:
            text = _read_stdin()
        except UnicodeDecodeError:
            raise InvalidInput(
                "The query on standard input is not UTF-8 text.",
                invalid_input=STDIN,
                recovery_hint="Save it as UTF-8, or give the query as an argument.",
                details={"reason": "not_text"},
            ) from None
        if not text.strip():
            raise usage_error(
                "Standard input has no query.",
                STDIN,
                "Pipe a query into it, or give the query as QUERY.",
            )
    check_syntax(text)  # before line ends are lost: a numbered list has one search on each line
    return " ".join(text.split())


def _check_since(since: str) -> None:
    """Refuse an invalid date here, because the request would name the option --min-date."""
    from entrez_kit.core.model import WrongValue
    from entrez_kit.core.query_input import normalize_date

    try:
        normalize_date(since)
    except WrongValue as exc:
        message = describe_wrong_value("--since", exc.accepted, since)
        raise usage_error(message, f"since={since}", exc.hint or "") from None


def _read_strategy(ctx: typer.Context, file: Path) -> str:
    """Return the last line of a strategy in PubMed's syntax, and print how it differs from the strategy.

    Raises:
        InvalidInput: the file cannot be read, or its last line cannot be searched.
    """
    from entrez_kit.strategies.strategy_text import read_strategy_text
    from entrez_kit.strategies.translate_strategy import read_strategy_of_file
    from entrez_kit.strategies.translated_lines import StrategyRequest

    from ._files import name_file, read_content

    request = StrategyRequest(strategy=read_strategy_text(read_content(file), name_file(file)))
    _, result = read_strategy_of_file(get_state(ctx).services, request, name_file(file))
    assert result.query is not None
    final = next(line for line in result.lines if line.number == result.final)
    if final.label != "exact":
        shown = f"`entrez-kit strategy translate {shlex.quote(str(file))}` shows the translation."
        warn(ctx, f"{final.describe_difference()} {shown}")
    return result.query


def _is_file(query: str) -> bool:
    from ._files import is_file  # most queries are not like the name of a file

    return is_file(query)


def _read_stdin() -> str:
    from entrez_kit.base.input_files import read_input

    from ._files import get_stdin

    return read_input(get_stdin(), "The query on standard input", limit=MAX_QUERY_BYTES).decode("utf-8-sig")


@app.command("search")
@accept_formats(
    *(Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.IDS, Family.PAGES, Family.COUNT),
    *(Family.REFERENCES, Family.XML),
    fields="pmid,title",
)
@request_options(
    SEARCH_ARTICLES.request,
    build_argument(
        "query_term",
        "QUERY",
        joined=True,
        default=None,
        more="Several words need no quotes; - reads stdin.",
        convert=_read_query,
    ),
    build_option("max_results", "-n", help="Results to return, at most 9,999; --all returns all."),
    build_option("offset"),
    build_option("sort_by", "--sort", metavar="ORDER", words=SORT_NAMES),
    build_option("retrieve_all", "--all"),
    build_option(
        "fetch_brief_summaries",
        "--summaries",
        default=None,
        help="Results to list with title and authors. Default: all if the format prints titles, otherwise 0.",
    ),
    build_option("snippet_characters", "--snippets", help="Show the first N characters of each abstract."),
    REGISTRATIONS,
    HISTORY,
    BROADER,
    build_option("explain", more="A terminal always does."),
    "strict",
    "since",
    build_option("date_range.min_date", metavar="DATE", help="Earliest date: YYYY[/MM[/DD]].", panel=DATES),
    build_option("date_range.max_date", metavar="DATE", help="Latest date: YYYY[/MM[/DD]].", panel=DATES),
    build_option(
        "date_range.date_type",
        metavar="TYPE",
        help="Date to compare: pdat (publication), mdat (modification) or edat (entry in PubMed).",
        panel=DATES,
        words=("pdat", "mdat", "edat"),
    ),
    build_option(
        "filter_by_publication_types",
        "--type",
        metavar="TYPE",
        help="Publication type, e.g. Review. May be repeated; a result has any of the types.",
        panel=FILTERS,
    ),
    build_option("author", metavar="NAME", help="Author in PubMed's form, e.g. Doudna JA.", panel=FILTERS),
    build_option("journal", metavar="NAME", help="Title, abbreviation or ISSN of the journal.", panel=FILTERS),
    build_option(
        "mesh_terms",
        "--mesh",
        metavar="TERM",
        help="MeSH heading. May be repeated; a result has all of the headings.",
        panel=FILTERS,
    ),
    build_option("language", metavar="NAME", help="Language of the article, e.g. french.", panel=FILTERS),
    build_option(
        "species",
        metavar="NAME",
        help="humans or animals, by MeSH terms. New records have no MeSH terms yet.",
        panel=FILTERS,
        words=("humans", "animals"),
    ),
    build_option("free_full_text", panel=FILTERS),
    build_option("has_abstract", panel=FILTERS),
)
def search_command(
    ctx: typer.Context,
    options: dict[str, Any],
    strategy: Annotated[
        Path | None,
        typer.Option(
            "--strategy",
            metavar="FILE",
            help="Search the last line of this strategy, translated to PubMed, instead of QUERY.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="DATE",
            help="Only records that entered PubMed on this date or later: --min-date DATE --date-type edat.",
            rich_help_panel=DATES,
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with status 2 if PubMed dropped a part of the query."),
    ] = False,
) -> None:
    """Search PubMed and see how it understood the query.

    A terminal shows titles, a pipe gets JSON.
    entrez-kit search "sickle cell AND review\\[pt]"

    A file for a reference manager:
    entrez-kit --demo search crispr --all -o hits.ris

    The PMIDs, for another command:
    entrez-kit search crispr -f ids | entrez-kit fetch - -o hits.csv
    """
    if strategy is not None:
        refuse_beside(ctx, "query_term", "--strategy", "Give a query or a file with a strategy.")
        options["query_term"] = _read_strategy(ctx, strategy)
    elif options.get("query_term") is None:
        raise usage_error("No QUERY was given.", "query_term", "Give a query, or --strategy FILE.")
    elif not options["query_term"]:
        raise usage_error("QUERY is empty.", "query_term=", "Give at least one word: entrez-kit search crispr.")
    elif Path(options["query_term"]).suffix and _is_file(options["query_term"]):
        hint = f"To search with the strategy in it, add --strategy before it: --strategy {options['query_term']}."
        raise usage_error(f"{options['query_term']} is a file, not a query.", "query_term", hint)
    if since is not None:
        for name in ("min_date", "date_type"):
            refuse_beside(ctx, name, "--since", "Give --since alone, or --min-date with --date-type.")
        _check_since(since)
        options["date_range"] = {**options.get("date_range", {}), "min_date": since, "date_type": "edat"}
    dates = [name for name in ("since", "min_date", "max_date") if was_typed(ctx, name)]
    if dates:
        get_state(ctx).option_names["date_range"] = " and ".join(f"--{name.replace('_', '-')}" for name in dates)
    request = build_request(ctx, SEARCH_ARTICLES, options)
    if request.retrieve_all:
        refuse_beside(ctx, "max_results", "--all", "Give -n N for N results, or --all for all results.")
    if not (request.date_range and (request.date_range.min_date or request.date_range.max_date)):
        refuse_without(ctx, "date_type", "--min-date or --max-date")
    if not was_typed(ctx, "fetch_brief_summaries") and _needs_summaries(plan(ctx), request):
        summary_count = sys.maxsize if request.retrieve_all else request.max_results
        request = request.model_copy(update={"fetch_brief_summaries": summary_count})
    if plan(ctx).target is None and is_terminal(sys.stdout):
        request = request.model_copy(update={"explain": True})
    if plan(ctx).format.needs_records:
        _print_records(ctx, request, strict)
        return

    def finish(hits: SearchHits) -> EntrezKitError | None:
        _write_certificate(ctx, build_result(hits))
        error = _report_notes(ctx, hits, request, strict)
        if hits.first_pmid is not None:
            suggest_next(ctx, f"show {hits.first_pmid}", f"related {hits.first_pmid}")
        return error

    run(ctx, SEARCH_ARTICLES, request, _view(request), label="Retrieving PMIDs", afterwards=finish)


def _print_records(ctx: typer.Context, request: SearchRequest, strict: bool) -> None:
    """Search, then fetch and print the complete records."""
    from entrez_kit.pubmed.fetch import FETCH_CONTENTS

    from ._report import watching
    from .fetch import fetch_and_print

    request = request.model_copy(update={"fetch_brief_summaries": 0, "snippet_characters": 0, "registrations": False})
    with watching(get_state(ctx), "Retrieving PMIDs"):
        result = SEARCH_ARTICLES.run(get_state(ctx).services, request)
    tell_warnings(ctx, result)
    error = _report_notes(ctx, result, request, strict) or result.missing_error()
    if not result.pmids and error is not None:
        raise error

    def finish(_: object) -> EntrezKitError | None:
        _write_certificate(ctx, result)
        return error

    level = plan(ctx).format.details[0]
    records = build_request(ctx, FETCH_CONTENTS, {"pmids": result.pmids, "detail_level": level})
    if fetch_and_print(ctx, records, idle="The search has no results.", afterwards=finish) is None:
        _write_certificate(ctx, result)


def _write_certificate(ctx: typer.Context, result: SearchResult) -> None:
    """Write ``FILE.search.json`` for ``--all -o FILE``: the search, its certificate and the hash of the file."""
    target = plan(ctx).target
    if result.certificate is None or target is None or not target.is_file():
        return
    with target.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    document = convert_to_data(result)
    for listed in ("pmids", "brief_summaries"):
        document.pop(listed, None)
    with Sink(target.with_name(f"{target.name}.search.json")) as sink:
        sink.write_data(format_json({**document, "file": target.name, "file_sha256": digest}) + "\n")


def _needs_summaries(output: Plan, request: SearchRequest) -> bool:
    """Return whether the format prints titles, or an option or --fields names what only summaries contain."""
    if output.format.needs_summaries or request.snippet_characters or request.registrations:
        return True
    if output.format.family is Family.DOCUMENT:
        below = DocumentPaths(BriefSummary)
        return any(below.knows(path) or path.split(".")[0] == "brief_summaries" for path in output.fields)
    return any(path != "pmid" for path in output.fields)


def _view(request: SearchRequest) -> View[SearchResult]:
    return View(
        table=lambda result, console: _views.articles.render_search(result, console),
        records=lambda hit: [convert_to_data(hit.summary) if hit.summary is not None else {"pmid": hit.pmid}],
        ids=lambda hit: [hit.pmid],
        record_model=BriefSummary,
        columns=COLUMNS
        | (build_columns("snippet") if request.snippet_characters > 0 else {})
        | (build_columns("data_banks.accession_numbers") if request.registrations else {}),
        records_key="brief_summaries",
        page=lambda record: _views.markdown.write_item(record),
        between="",
        title=f"{request.query_term} - PubMed",
    )


def _report_notes(
    ctx: typer.Context, search: SearchResult | SearchHits, request: SearchRequest, strict: bool
) -> EntrezKitError | None:
    """Report what the format cannot show; return the error of --strict."""
    output, number, summaries = plan(ctx), search.retrieved_pmid_count, request.fetch_brief_summaries
    if output.format.family is not Family.DOCUMENT and search.web_env and search.query_key:
        key, place = shlex.quote(search.query_key), shlex.quote(search.web_env)
        note(ctx, f"Kept at NCBI: entrez-kit fetch --query-key {key} --web-env {place}")
    if number > summaries > 0 and _needs_summaries(output, request):
        note(
            ctx,
            f"Only the first {summaries:,} of {format_count(number, 'result')} have titles (--summaries {summaries}).",
        )
    if number and not output.format.has_total and search.certificate is None:
        _report_rest(ctx, search.total_found or 0, request.offset, number)
    dropped = [warning for warning in search.warnings if warning.code in DROPPED]
    if not (strict and dropped):
        return None
    return InvalidInput(
        f"PubMed dropped a part of the query: {' '.join(warning.message for warning in dropped)}",
        invalid_input=request.query_term,
        recovery_hint="Correct the phrase or field that PubMed dropped, or omit --strict.",
        details={"reason": "strict", "warnings": convert_to_data(dropped)},
    )


def _report_rest(ctx: typer.Context, total: int, offset: int, number: int) -> None:
    """Report the results that are not printed: a warning if a file, or a pipe without -n, gets only a part."""
    target, next_offset = plan(ctx).target, offset + number
    if total <= (next_offset if target is None else number):
        return
    if target is not None:
        warn(ctx, f"{target.name} has {number:,} of {format_count(total, 'result')}. {_RETRIEVE_ALL}")
    elif not (is_terminal(sys.stdout) or was_typed(ctx, "max_results")):
        warn(ctx, f"The output has {number:,} of {format_count(total, 'result')}. {_RETRIEVE_ALL}")
    else:
        more = f"--offset {next_offset}" if next_offset < MAX_PUBMED_RESULTS else "--all"
        note(ctx, describe_rest(total - next_offset, more))
