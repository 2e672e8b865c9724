"""The formats: one writer interface (begin, outcome, end), one file a family.

A new format is a writer here, or in the view of a command that alone has it, and a line in ``writer_for``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from entrez_kit.core.model import Result

from .._output import Sink
from .._state import Plan, State, no_fields
from .fields import Column, DocumentPaths, Record, as_data, columns_for
from .writer import PAGE_BREAK, Failed, Texts, Writer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from entrez_kit.pubmed.models import Article

    from .documents import RecordTexts

Res = TypeVar("Res")


def records_of(outcome: Any) -> Iterable[Record]:
    """Return the records inside a result that has some, else the outcome itself, as plain data."""
    inside = outcome.records_inside() if isinstance(outcome, Result) else [outcome]
    return map(as_data, inside)


@dataclass(frozen=True)
class View(Generic[Res]):
    """How what an operation says is shown. Of an operation with a single answer the only outcome is its result.

    Args:
        table: makes what a terminal shows of the result.
        records: the records of an outcome as plain data: lines of jsonl, rows of csv and tsv, items of md; those that
            a result says are inside it, or the outcome itself, unless given.
        columns: what csv and tsv hold unless the user names fields.
        records_key: where the records stand in the JSON document, where the result says otherwise; "" where it is the
            record. ``--fields`` reaches into it.
        texts: the texts of the records in the JSON document, where they were made before the rest of it.
        record_model: model of one record, where it is another than the result model has at that place.
        page: one record in Markdown.
        between: what separates two records in Markdown.
        id_key: the field that ids prints.
        ids: what ids prints of an outcome, where that is not a field of its records.
        articles: the records of an outcome that go into files for reference managers.
        total: how many there are by the result, shown or not, where that is not its ``total_found``; for commands
            that accept count.
        title: what a page is called, where it does not begin with a heading.
        writers: formats that this command alone has, or writes in its own way.
    """

    table: "Callable[[Res, Console], RenderableType]"
    records: Callable[[Any], Iterable[Record]] = records_of
    columns: Mapping[str, Column] = field(default_factory=dict)
    records_key: str | None = None
    texts: "RecordTexts | None" = None
    record_model: Any = None
    page: Callable[[Record], str] | None = None
    between: str = PAGE_BREAK
    id_key: str = "pmid"
    ids: Callable[[Any], Iterable[str]] | None = None
    articles: "Callable[[Any], Iterable[Article]] | None" = None
    total: Callable[[Res], int | None] = attrgetter("total_found")
    title: str = ""
    writers: Mapping[str, Callable[[Sink], Writer[Any]]] = field(default_factory=dict)

    def found(self, outcome: Any) -> Iterable[Record]:
        """Return the records of an outcome without what failed."""
        return (record for record in self.records(outcome) if not isinstance(record, Failed))


def show_with(place: str, **more: Any) -> Callable[..., Any]:
    """Return a function of ``_views``, imported when it is called: what draws is slow to load.

    Args:
        place: its module there, and its name: ``gene.search_table``.
        more: what it takes beside what it is called with.
    """
    module, _, name = place.partition(".")
    return lambda *given: getattr(import_module(f".._views.{module}", __name__), name)(*given, **more)


def writer_for(
    made: Plan,
    view: View[Any],
    result: type[Result] | DocumentPaths,
    sink: Sink,
    state: State,
) -> Writer[Any]:
    """Return the writer of the format the user wants.

    Args:
        made: format and fields.
        view: how the operation's outcomes are shown.
        result: the model of the result, or the shape of a document that has none.
        sink: where it goes.
        state: knows the terminal.

    Raises:
        InvalidInput: --fields names something that is not there, or goes with a format that has no fields; found here,
            before any request is sent.
    """
    if made.format in ("html", "docx"):
        from .printed import Buffer, Turned, printer

        text = Buffer()
        markdown = writer_for(replace(made, format="md"), view, result, text, state)
        return Turned(sink, markdown, text, printer(sink, made.format, view.title))
    if made.format in view.writers:
        no_fields(made)
        return view.writers[made.format](sink)
    document = result if isinstance(result, DocumentPaths) else DocumentPaths(result)
    key = view.records_key
    if key is None:
        key = "" if isinstance(result, DocumentPaths) else result.RECORDS
    shape = DocumentPaths(view.record_model) if view.record_model is not None else document.below(key)
    match made.format:
        case "json":
            from .documents import JsonWriter

            return JsonWriter(sink, made.fields, key, shape, document, view.texts)
        case "jsonl":
            from .documents import Lines

            return Lines(sink, view.records, made.fields, shape)
        case "csv" | "tsv":
            from .rows import Rows

            delimiter = "," if made.format == "csv" else "\t"
            return Rows(sink, view.records, columns_for(made.fields, view.columns, shape), delimiter)
        case "table":
            from .tables import Grid, Table

            if made.fields:
                return Grid(sink, state, view.records, columns_for(made.fields, view.columns, shape))
            return Table(sink, state, view.table)
    no_fields(made)
    match made.format:
        case "ids":
            ids = view.ids or (lambda outcome: (record[view.id_key] for record in view.found(outcome)))
            return Texts(sink, lambda outcome: (f"{one}\n" for one in ids(outcome)))
        case "count":
            return Texts(sink, lambda result: [f"{_total(view, result)}\n"], whole=True)
        case "md":
            page = view.page
            assert page is not None, "a command that accepts md has pages"
            return Texts(sink, lambda outcome: map(page, view.found(outcome)), between=view.between)
    from entrez_kit.citations.write_files import FILES

    style, articles = FILES[made.format], view.articles
    assert articles is not None, "a command that accepts files for reference managers has articles"
    return Texts(
        sink,
        lambda outcome: map(style.entry, articles(outcome)),
        head=style.head,
        between=style.between,
        tail=style.tail,
    )


def _total(view: View[Any], result: Any) -> int | str:
    """Return the number that ``-f count`` prints; a total that is not known is never printed as a number."""
    number = view.total(result)
    return "unknown" if number is None else number
