"""`entrez-kit cite`: formatted citations, and files for reference managers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from entrez_kit.base.frontend_text import FrontendText, describe_wrong_value, format_count, join_names
from entrez_kit.base.invisible import remove_invisible
from entrez_kit.base.output_formats import BY_NAME, Family
from entrez_kit.citations.format_citations import FORMAT_CITATIONS, Citations, CitationsResult, Cited
from entrez_kit.citations.style.style_names import check_style, read_styles
from entrez_kit.citations.write_files import FILES
from entrez_kit.core.model import WrongValue
from entrez_kit.pubmed.record_batches import BATCH

from . import _views
from ._emit import emit
from ._format_errors import unknown_suffix_error
from ._formats import TextWriter, View
from ._formats.fields import Record, build_columns, convert_to_data
from ._formats.rows import refuse_lines_in_cells
from ._ids import NAME_ARTICLES, describe_failure, read_inputs
from ._options import App, FilesOfIds, build_ids_argument, build_option, request_options
from ._pipeline import build_request, get_state, plan, run, warn, was_typed
from ._reference_files import describe_entry, read_reference_files, select_files, write_references
from ._state import TEXT_SUFFIXES, Plan, accept_formats, get_formats, usage_error

if TYPE_CHECKING:
    from entrez_kit.references.merge.entries import Entry

app = App()

DEFAULT_STYLES: Final = ("apa",)


@app.command("cite")
@accept_formats(
    Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.TEXT, Family.PAGES, Family.REFERENCES, fields="pmid,citations"
)
@request_options(
    FORMAT_CITATIONS.request,
    build_ids_argument("pmids", more="Or files of references; - reads standard input."),
    build_option(
        "citation_styles",
        "--style",
        metavar="STYLE",
        default=[*DEFAULT_STYLES],
        help="apa, mla, vancouver, ama, chicago, nature; the name of any style of the Citation Style Language (CSL), "
        "such as ieee; or a file NAME.csl. ris, bibtex, csl and nbib are for reference managers.",
        convert=lambda values: read_styles([value for value in _split(values) if not _is_file(value)]) or None,
    ),
)
def cite_command(
    ctx: typer.Context,
    options: dict[str, Any],
    numbered: Annotated[bool, typer.Option("--numbered", help="Number the citations in text and Markdown.")] = False,
    input: FilesOfIds = None,
) -> None:
    """Cite PubMed records, or the references of a file, in the styles of journals: one citation each, in order.

    Several styles at once:
    entrez-kit --demo cite 99000001 PMC99000002 --style apa,vancouver

    A file for a reference manager:
    entrez-kit --demo cite 99000001 --style csl -o references.json

    A file of references, with its keys, and with entries that are not in PubMed:
    entrez-kit cite refs.bib --style ieee
    """
    files = select_files(options["pmids"], input)
    options["pmids"] = [] if files else read_inputs(ctx, options["pmids"], input, field="pmids", hint=NAME_ARTICLES)
    request = build_request(ctx, FORMAT_CITATIONS, options)
    output = plan(ctx)
    styles = _choose_styles(ctx)
    if output.format.family is Family.REFERENCES:
        if was_typed(ctx, "citation_styles") and any(ctx.params["citation_styles"]) and styles != [output.format.name]:
            raise usage_error(
                f"--style cannot be used with {output.source}, which has no citation style.",
                "citation_styles",
                f"Omit --style, or add {output.format} to the styles and use --json.",
            )
        styles = [output.format.name]
    elif len(styles) == 1 and styles[0] in FILES and _wants_file(ctx, output, styles[0]):
        output = replace(output, format=BY_NAME[styles[0]])  # reference managers import it
    elif output.format.family is Family.TEXT:
        _refuse_other_suffixes(ctx, output)
    get_state(ctx).plan = output
    refuse_lines_in_cells(output, styles)
    if files:
        _cite_files(ctx, output, files, styles, numbered=numbered)
        return
    markup = "markdown" if output.format.is_markdown else "plain"
    run(
        ctx,
        FORMAT_CITATIONS,
        request.model_copy(update={"citation_styles": styles, "markup": markup}),
        _view(styles, numbered=numbered),
        label="Citing",
        least=BATCH,
        idle="Standard input contained no ids, so nothing was cited.",
        afterwards=lambda citations: _warn_of_status(ctx, citations),
    )


def _refuse_other_suffixes(ctx: typer.Context, output: Plan) -> None:
    """Refuse a file such as .odt for plain citations, unless -f selects them."""
    if output.target is None or get_state(ctx).flags.get("format"):
        return
    if output.target.suffix.lower() not in TEXT_SUFFIXES:
        formats = get_formats(ctx.command)
        raise unknown_suffix_error(output.target, formats.accepted, formats.files)


def _wants_file(ctx: typer.Context, output: Plan, style: str) -> bool:
    """Return whether the output is a file for reference managers: text, or no format and no other suffix was given."""
    if output.format.family is Family.TEXT:
        return True
    flags, target = get_state(ctx).flags, output.target
    is_chosen = flags.get("json") or flags.get("format")
    return not is_chosen and (target is None or target.suffix.lower() in ("", *BY_NAME[style].also_in))


def _view(styles: list[str], *, numbered: bool) -> View[CitationsResult]:
    numbers = count(1) if numbered else repeat(0)
    return View(
        table=lambda result, console: _views.citations.render_citations(result, console),
        records=_yield_records,
        columns=build_columns("pmid", "title") | _build_columns(styles),
        page=lambda record: _views.citations.write_citation(record, next(numbers)),
        between="",
        articles=lambda item: [item.article] if item.article is not None else [],
        title="References",
        writers={"text": lambda sink: TextWriter(sink, lambda item: _yield_lines(item, numbers))},
    )


def _yield_records(item: Cited) -> Iterator[Record]:
    """Yield the citation, or the jsonl line for an input without one."""
    if item.citation is not None:
        yield convert_to_data(item.citation)
    else:
        yield describe_failure(item.fetched.input, item.fetched.status, item.fetched.message)


def _build_columns(styles: list[str]) -> dict[str, Callable[[Record], Any]]:
    """Return a column for each style; the name of a file has a dot."""

    def get_citation(record: Record, style: str) -> Any:
        return record["citations"].get(style)

    return {style: partial(get_citation, style=style) for style in styles}


def _yield_lines(item: Cited, numbers: Iterator[int]) -> Iterator[str]:
    """Yield a citation in each style on one line; the formats of reference managers have several lines."""
    if item.citation is not None:
        yield from _number_lines(item.citation.citations, next(numbers))


def _number_lines(citations: Mapping[str, str], number: int) -> Iterator[str]:
    for style, text in citations.items():
        if style in FILES:
            yield text.rstrip("\n") + "\n"
        else:
            yield (f"{number}. " if number else "") + remove_invisible(text).rstrip("\n") + "\n"


# Styles, and files of references


def _split(values: Sequence[str]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _is_file(style: str) -> bool:
    return style.lower().endswith(".csl")


def _choose_styles(ctx: typer.Context) -> list[str]:
    """Return the styles of --style in their order: names of styles, and paths of CSL files.

    Raises:
        InvalidInput: a style is unknown.
    """
    styles: list[str] = []
    for style in _split(ctx.params.get("citation_styles") or ()):
        try:
            styles.append(style if _is_file(style) else check_style(read_styles([style])[0]))
        except WrongValue as exc:
            hint = FrontendText(exc.hint or "", " A file NAME.csl is also a style.")
            message = describe_wrong_value("--style", exc.accepted, style)
            raise usage_error(message, f"citation_styles={style}", hint) from None
    return list(dict.fromkeys(styles)) or [*DEFAULT_STYLES]


def _cite_files(ctx: typer.Context, output: Plan, files: list[Path], styles: list[str], *, numbered: bool) -> None:
    """Cite each reference of files as the files have it; no request is sent."""
    from entrez_kit.citations.style.format_entries import format_styled_entries
    from entrez_kit.references.merge.convert_records import build_item, convert_records

    entries = read_reference_files(ctx, files)
    if output.format.family is Family.REFERENCES:
        write_references(ctx, entries, output.format.name)
        return
    items = [build_item(entry, for_style=True) for entry in entries]
    markup: Any = "markdown" if output.format.is_markdown else "plain"
    bare = [number for number, item in enumerate(items) if not _CITED & set(item)]
    texts: dict[str, list[str]] = {}
    for style in styles:
        if style in FILES:
            texts[style] = ["".join(convert_records([entry], style)) for entry in entries]
            continue
        texts[style] = format_styled_entries(items, style, markup)
        for number in bare:
            texts[style][number] = entries[number].reference.text or texts[style][number]
    if not set(styles) <= set(FILES):
        _warn_of_bare(ctx, [entries[number] for number in bare])
    cited = [
        {**describe_entry(entry, number), "citations": {style: texts[style][number - 1] for style in styles}}
        for number, entry in enumerate(entries, start=1)
    ]
    lines = [
        line
        for citation in cited
        for line in _number_lines(citation["citations"], citation["number"] if numbered else 0)
    ]
    is_text = output.format.family is Family.TEXT or output.format.family is Family.SCREEN
    emit(
        ctx,
        {"citations": cited, "total_submitted": len(entries), "total_formatted": len(cited)},
        records=cited,
        page=lambda record: _views.citations.write_citation(record, record["number"] if numbered else 0),
        text="".join(lines) if is_text else None,
        between="",
    )


_CITED: Final = frozenset(("title", "author", "container-title"))
"""The fields of which a record needs one to be cited."""


def _warn_of_bare(ctx: typer.Context, entries: "Sequence[Entry]") -> None:
    """Warn about records that have only a text, which is printed as it is, or only an identifier."""
    from entrez_kit.references.merge.convert_records import name_record

    texts = [f"{name_record(entry)} of {entry.file}" for entry in entries if entry.reference.text]
    others = [f"{name_record(entry)} of {entry.file}" for entry in entries if not entry.reference.text]
    if texts:
        count = format_count(len(texts), "reference is only a text, which is", "references are only texts, which are")
        warn(ctx, f"{count} printed as written: {join_names(texts)}.")
    if others:
        count = format_count(len(others), "record has", "records have")
        warn(ctx, f"{count} no title and no author: {join_names(others)}. To cite the records of ids, add -i: -i FILE.")


def _warn_of_status(ctx: typer.Context, citations: Citations) -> None:
    """Warn about the publication status of records, if the format does not show it."""
    if plan(ctx).whole or plan(ctx).format.is_data:
        return
    for label, pmids in citations.standings.items():
        warn(ctx, f"{label}: PMID {', '.join(dict.fromkeys(pmids))}.")
