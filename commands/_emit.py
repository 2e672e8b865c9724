"""Print a document that a command made itself, in the selected format. Results of operations are printed by ``run``."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from ._formats import PAGE_BREAK, Job, Sink, TextWriter, View
from ._formats.fields import DocumentPaths, Record, convert_to_data, get_values
from ._pipeline import confirm_file, create_writer, get_state, plan, print_result, report_notes

if TYPE_CHECKING:
    from rich.console import RenderableType


def emit(
    ctx: typer.Context,
    document: Any,
    table: "Callable[[], RenderableType] | None" = None,
    *,
    records: Sequence[Any] | None = None,
    page: Callable[[Record], str] | None = None,
    text: str | None = None,
    between: str = PAGE_BREAK,
) -> None:
    """Print a document that a command made itself, in the selected format.

    Args:
        document: a mapping, a list of mappings, or a model; JSON and YAML print it.
        table: renders the document for a terminal; called only for that format. Without it a terminal shows the text.
        records: lines of jsonl and rows of csv and tsv; by default the items of a list, or the document.
        page: one record in Markdown, for commands with pages.
        text: the document as text or as Markdown, for commands with the format text, or with pages of one text.
        between: the separator of pages.

    Raises:
        InvalidInput: --fields names something the document does not have.
    """
    output = plan(ctx)
    data = convert_to_data(document)
    listed = data if isinstance(data, list) else [data]
    rows = listed if records is None else [convert_to_data(row) for row in records]
    paths = DocumentPaths(sample=rows)
    whole_text = "" if text is None else text if text.endswith("\n") else f"{text}\n"
    names = () if text is None else ("text", "md") if table is not None else ("text", "md", "table")
    view: View[Any] = View(
        table=lambda document, console: table() if table is not None else "",
        records=lambda document: rows,
        columns={name: partial(get_values, path=name) for name in paths.list_names()},
        records_key="",
        record_model=paths,
        page=page,
        between=between,
        writers=dict.fromkeys(names, lambda sink: TextWriter(sink, lambda _: [whole_text])),
    )
    with Sink(output.target) as sink:
        print_result(create_writer(Job(output, view, DocumentPaths(sample=listed), sink, get_state(ctx))), data)
    report_notes(get_state(ctx))
    confirm_file(ctx, output)
