"""`entrez-kit search`: titles on a terminal, PMIDs in a pipe, and always how PubMed understood the query."""

import shlex
import sys
from hashlib import file_digest
from typing import Annotated, Any, Final

import typer

from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.pubmed.models import BriefSummary
from entrez_kit.pubmed.search import SEARCH_ARTICLES, SORT_NAMES, SearchHits, SearchResult, describe
from entrez_kit.query import MAX_PUBMED_RESULTS, check_syntax
from entrez_kit.services.esearch_reply import DROPPED

from ._formats.documents import json_text
from ._formats.fields import DocumentPaths, as_data, columns_at
from ._options import argument, option, request_options
from ._output import Sink
from ._pipeline import (
    View,
    accepts,
    note,
    plan,
    refuse_beside,
    refuse_without,
    run,
    show_with,
    state,
    tell_warnings,
    warn,
    was_typed,
)
from ._report import watching
from ._state import STDIN, Plan, is_terminal

FILTERS: Final = "Filters"
DATES: Final = "Dates"
MAX_QUERY_BYTES: Final = 1024 * 1024
RECORDS: Final = ("ris", "bibtex", "csl", "nbib", "xml")
"""Formats that are made of whole records, which are fetched for them."""
COLUMNS: Final = columns_at(
    *("pmid", "title", "authors", "source", "pub_date", "epub_date", "doi", "pmcid", "retraction_status")
) | {"standing": show_with("text.standing_status")}
_TITLED: Final = ("table", "csv", "tsv", "md", "html", "docx")
"""Formats that print titles: every row gets a summary unless the user gives a number."""

_RETRIEVE_ALL: Final = "Use --all to retrieve every result."


@accepts("table", "json", "jsonl", "csv", "tsv", "ids", "md", "html", "docx", "count", *RECORDS)
@request_options(
    SEARCH_ARTICLES,
    argument("query_term", "QUERY", joined=True, more="Several words need no quotes; - reads stdin."),
    option("max_results", "-n"),
    option("offset"),
    option("sort_by", "--sort", metavar="ORDER", words=SORT_NAMES),
    option("retrieve_all", "--all"),
    option(
        "fetch_brief_summaries",
        "--summaries",
        default=None,
        more="Formats that print titles request one for every row.",
    ),
    option("snippet_characters", "--snippets"),
    option("use_history", "--history"),
    option("broader_results", "--broader/--no-broader"),
    "strict",
    option("date_range.min_date", metavar="DATE", panel=DATES),
    option("date_range.max_date", metavar="DATE", panel=DATES),
    option("date_range.date_type", metavar="TYPE", panel=DATES, words=("pdat", "mdat", "edat")),
    option("filter_by_publication_types", "--type", metavar="TYPE", more="May be repeated.", panel=FILTERS),
    option("author", metavar="NAME", panel=FILTERS),
    option("journal", metavar="NAME", panel=FILTERS),
    option("mesh_terms", "--mesh", metavar="TERM", more="May be repeated.", panel=FILTERS),
    option("language", metavar="NAME", panel=FILTERS),
    option("species", metavar="NAME", more="humans or animals.", panel=FILTERS, words=("humans", "animals")),
    option("free_full_text", panel=FILTERS),
    option("has_abstract", panel=FILTERS),
)
def command(
    ctx: typer.Context,
    asked: dict[str, Any],
    strict: Annotated[
        bool, typer.Option("--strict", help="End with status 2 when PubMed dropped a phrase or a field of the query.")
    ] = False,
) -> None:
    """Search PubMed and see how it understood the query.

    A terminal gets titles, a pipe gets JSON; -f ids feeds other commands:
    entrez-kit search crispr sickle cell -f ids | entrez-kit fetch - -f csv -o hits.csv
    A file for a reference manager: entrez-kit --demo search crispr --all -o hits.ris
    """
    made = plan(ctx)
    if asked["retrieve_all"]:
        refuse_beside(ctx, "max_results", "--all", "Give -n for so many results, or --all for every one.")
    if not {"min_date", "max_date"} & set(asked.get("date_range") or ()):
        refuse_without(ctx, "date_type", "--min-date or --max-date")
    asked["query_term"] = _query(asked["query_term"])
    snippets = asked["snippet_characters"] > 0
    if asked["fetch_brief_summaries"] is None:
        shown = sys.maxsize if asked["retrieve_all"] else max(asked["max_results"], 0)
        titled = made.format in _TITLED or asked["snippet_characters"] or _names_a_summary(made)
        asked["fetch_brief_summaries"] = shown if titled else 0
    if made.format in RECORDS:
        _print_records(ctx, asked, strict)
        return

    def finish(found: SearchResult | SearchHits) -> EntrezKitError | None:
        _write_certificate(ctx, found if isinstance(found, SearchResult) else describe(found.request, found))
        return _remarks(ctx, found, asked, strict)

    view = _view(asked["query_term"], snippets=snippets)
    run(ctx, SEARCH_ARTICLES, asked, view, label="Retrieving PMIDs", afterwards=finish)


def _print_records(ctx: typer.Context, arguments: dict[str, Any], strict: bool) -> None:
    """Fetch the records that were found, for formats that need more than a search has."""
    from .fetch import print_records

    arguments = {**arguments, "fetch_brief_summaries": 0, "snippet_characters": 0}
    with watching(state(ctx), "Retrieving PMIDs"):
        result = SEARCH_ARTICLES.run(state(ctx).services, arguments)
    tell_warnings(ctx, result)
    refused = _remarks(ctx, result, arguments, strict)
    if refused is not None:
        raise refused
    level = "medline_text" if plan(ctx).format == "nbib" else "abstract_plus"
    wanted = {"pmids": result.pmids, "detail_level": level}

    def finish(_: object) -> EntrezKitError | None:
        _write_certificate(ctx, result)
        return result.missing_error()

    if print_records(ctx, wanted, idle="Nothing was found.", afterwards=finish) is None:
        finish(None)


def _write_certificate(ctx: typer.Context, result: SearchResult) -> None:
    """Write ``FILE.search.json`` for ``--all -o FILE``: the search, its certificate and the hash of the file."""
    target = plan(ctx).target
    if result.certificate is None or target is None or not target.is_file():
        return
    with target.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    document = as_data(result)
    for listed in ("pmids", "brief_summaries"):
        document.pop(listed, None)
    with Sink(target.with_name(f"{target.name}.search.json")) as sink:
        sink.data(json_text({**document, "file": target.name, "file_sha256": digest}) + "\n")


def _read_query() -> str:
    from entrez_kit.base.input_files import read_input

    if sys.stdin is None:
        return ""
    return read_input(sys.stdin.buffer, "The query on standard input", limit=MAX_QUERY_BYTES).decode("utf-8-sig")


def _query(text: str) -> str:
    """Read the query from stdin where that is what was asked."""
    if text == STDIN:
        try:
            text = _read_query()
        except UnicodeDecodeError:
            raise InvalidInput(
                "The query on standard input is not UTF-8 text.",
                invalid_input=STDIN,
                recovery_hint="Save it as UTF-8, or give the query as an argument.",
                details={"reason": "not_text"},
            ) from None
    check_syntax(text)  # before line ends are lost: a numbered list has one search on each line
    return " ".join(text.split())


def _names_a_summary(made: Plan) -> bool:
    """Tell whether --fields names what only summaries hold; without them the fields would be silently empty."""
    if made.format == "json":
        below = DocumentPaths(BriefSummary)
        return any(below.knows(path) or path.split(".")[0] == "brief_summaries" for path in made.fields)
    return made.format == "jsonl" and any(path != "pmid" for path in made.fields)


def _view(query: str, *, snippets: bool) -> View[SearchResult]:
    return View(
        table=show_with("tables.search_table"),
        records=lambda hit: [as_data(hit.summary) if hit.summary is not None else {"pmid": hit.pmid}],
        ids=lambda hit: [hit.pmid],
        record_model=BriefSummary,
        columns=COLUMNS | (columns_at("snippet") if snippets else {}),
        records_key="brief_summaries",
        page=show_with("markdown.item"),
        between="",
        title=f"{query} - PubMed",
    )


def _remarks(
    ctx: typer.Context, found: SearchResult | SearchHits, arguments: dict[str, Any], strict: bool
) -> EntrezKitError | None:
    """Say on stderr what the format has no place for; return the error of --strict."""
    made, number, summaries = plan(ctx), found.retrieved_pmid_count, arguments["fetch_brief_summaries"]
    if made.format != "json" and found.web_env and found.query_key:
        key, place = shlex.quote(found.query_key), shlex.quote(found.web_env)
        note(ctx, f"Kept at NCBI: entrez-kit fetch --query-key {key} --web-env {place}")
    if number > summaries > 0 and (made.format in _TITLED or _names_a_summary(made)):
        note(ctx, f"Only the first {summaries:,} of {number:,} results have titles (--summaries {summaries}).")
    shown = arguments["offset"] + number
    total = found.total_found or 0
    if not made.says_total and number and shown < total and found.certificate is None:
        _report_omitted(ctx, total, arguments["offset"], number)
    dropped = [warning for warning in found.warnings if warning.code in DROPPED]
    if not (strict and dropped):
        return None
    return InvalidInput(
        f"PubMed did not know all of the query: {' '.join(warning.message for warning in dropped)}",
        invalid_input=arguments["query_term"].strip(),
        recovery_hint="Correct the phrase or field that PubMed did not know, or leave out --strict.",
        details={"reason": "strict", "warnings": as_data(dropped)},
    )


def _report_omitted(ctx: typer.Context, total: int, offset: int, number: int) -> None:
    """Report the results that are not printed: a warning if a file, or a pipe without -n, gets only a part."""
    made, shown = plan(ctx), offset + number
    more = f"--offset {shown}" if shown < MAX_PUBMED_RESULTS else "--all"
    if made.target is not None:
        warn(ctx, f"{made.target.name} has {number:,} of {total:,} results. {_RETRIEVE_ALL}")
    elif not (is_terminal(sys.stdout) or was_typed(ctx, "max_results")):
        warn(ctx, f"The output has {number:,} of {total:,} results. {_RETRIEVE_ALL}")
    else:
        note(ctx, f"{total - shown:,} more: add {more}")
