"""Writers of the output formats, and how a command describes its content to them.

``entrez_kit/base/output_formats.py`` lists the formats. Each names a function of a module here that takes a ``Job`` and
returns the writer.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from entrez_kit.core.model import Result

from .._output import Sink
from .._state import Plan, State, refuse_fields
from .fields import Column, DocumentPaths, Record, as_data, columns_for
from .writer import PAGE_BREAK, Failed, Writer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from entrez_kit.pubmed.models import Article

Res = TypeVar("Res")


def records_of(outcome: Any) -> Iterable[Record]:
    """Return the records inside a result that has some, else the outcome itself, as plain data."""
    inside = outcome.records_inside() if isinstance(outcome, Result) else [outcome]
    return map(as_data, inside)


@dataclass(frozen=True)
class View(Generic[Res]):
    """How the outcomes of an operation are shown. An operation with a single answer has one outcome, its result.

    Args:
        table: renders the result for a terminal; by default a table of the columns.
        records: returns the records of an outcome as plain data, the lines of jsonl. By default the records inside the
            result, or the outcome itself.
        rows: returns the rows of csv and tsv and the pages of md, if they differ from the records.
        columns: the columns of csv and tsv unless the user names fields.
        records_key: the field of the JSON document that holds the records, if the result does not declare it; "" if the
            document is the record. ``--fields`` reaches into it.
        record_model: the model or the paths of one record, if they differ from those of the document's records.
        row_model: the same for one row, if rows differ from records.
        page: one row in Markdown.
        between: the separator of two records in Markdown.
        id_key: the field that the format ids prints.
        ids: returns the ids of an outcome, if they are not a field of its rows.
        articles: returns the records of an outcome for files of reference managers.
        total: returns the number of results for the format count, if it is not ``total_found``.
        title: the title of a page that does not begin with a heading.
        writers: writers of the formats that this command writes in its own way, by name.
    """

    table: "Callable[[Res, Console], RenderableType] | None" = None
    records: Callable[[Any], Iterable[Record]] = records_of
    rows: Callable[[Any], Iterable[Record]] | None = None
    columns: Mapping[str, Column] = field(default_factory=dict)
    records_key: str | None = None
    record_model: Any = None
    row_model: Any = None
    page: Callable[[Record], str] | None = None
    between: str = PAGE_BREAK
    id_key: str = "pmid"
    ids: Callable[[Any], Iterable[str]] | None = None
    articles: "Callable[[Any], Iterable[Article]] | None" = None
    total: Callable[[Res], int | None] = attrgetter("total_found")
    title: str = ""
    writers: Mapping[str, Callable[[Sink], Writer[Any]]] = field(default_factory=dict)

    def found(self, outcome: Any) -> Iterable[Record]:
        """Return the rows of an outcome without inputs that have no result."""
        return (record for record in (self.rows or self.records)(outcome) if not isinstance(record, Failed))


def lazy_view(place: str, **more: Any) -> Callable[..., Any]:
    """Return a function of ``_views`` that is imported when it is called, because modules that draw load slowly.

    Args:
        place: the module and the name of the function: ``gene.search_table``.
        more: arguments that it takes in addition.
    """
    module, _, name = place.partition(".")
    return lambda *given: getattr(import_module(f".._views.{module}", __name__), name)(*given, **more)


@dataclass(frozen=True)
class Job:
    """The task of one writer.

    Args:
        plan: the format and the fields.
        view: how the outcomes are shown.
        result: the model of the result, or the paths of a document without a model.
        sink: the destination.
        state: the flags and the terminal.
    """

    plan: Plan
    view: View[Any]
    result: type[Result] | DocumentPaths
    sink: Sink
    state: State

    @cached_property
    def document(self) -> DocumentPaths:
        """The paths of the document."""
        return self.result if isinstance(self.result, DocumentPaths) else DocumentPaths(self.result)

    @property
    def records_key(self) -> str:
        """The field of the document that holds the records."""
        if self.view.records_key is not None:
            return self.view.records_key
        return "" if isinstance(self.result, DocumentPaths) else self.result.RECORDS

    @cached_property
    def record(self) -> DocumentPaths:
        """The paths of one record."""
        model = self.view.record_model
        if model is None:
            return self.document.below(self.records_key)
        return model if isinstance(model, DocumentPaths) else DocumentPaths(model)

    @cached_property
    def row(self) -> DocumentPaths:
        """The paths of one row."""
        return self.record if self.view.row_model is None else DocumentPaths(self.view.row_model)

    @property
    def rows(self) -> Callable[[Any], Iterable[Record]]:
        """The function that returns the rows of an outcome."""
        return self.view.rows or self.view.records

    def columns(self) -> dict[str, Column]:
        """Return the columns of the rows.

        Raises:
            InvalidInput: ``--fields`` names a field that does not exist.
        """
        return columns_for(self.plan.fields, self.view.columns, self.row)

    def with_format(self, name: str, sink: Sink) -> "Writer[Any]":
        """Return the writer of another format."""
        from entrez_kit.base.output_formats import BY_NAME

        return writer_for(replace(self, plan=replace(self.plan, format=BY_NAME[name]), sink=sink))


def writer_for(job: Job) -> Writer[Any]:
    """Return the writer of the selected format.

    Raises:
        InvalidInput: ``--fields`` names a field that does not exist, or the format has no fields. This is found before
            any request is sent.
    """
    selected = job.plan.format
    own = job.view.writers.get(selected.name)
    if own is not None or not selected.accepts_fields:
        refuse_fields(job.plan)
    if own is not None:
        return own(job.sink)
    module, _, name = selected.writer.partition(".")
    writer: Writer[Any] = getattr(import_module(f".{module}", __name__), name)(job)
    return writer
