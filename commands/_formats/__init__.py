"""Writers of the output formats, and how a command describes its content to them.

A writer takes one outcome at a time, so memory use is constant.

``entrez_kit/base/output_formats.py`` lists the formats. A writer is made from a ``Job`` by a function of a module here.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from entrez_kit.core.model import Result

from .._output import Sink
from .._state import Plan, State
from .fields import Column, DocumentPaths, Record, choose_columns, convert_to_data

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from entrez_kit.pubmed.models import Article

Res = TypeVar("Res")
Piece = TypeVar("Piece")

PAGE_BREAK: Final = "\n---\n\n"
"""The separator of two Markdown pages."""


class Failed(dict[str, Any]):
    """The record of an input without a result. ``jsonl`` writes it with all its fields; other formats omit it."""


class Writer(Generic[Piece]):
    """Writes outcomes in one format.

    Args:
        sink: the destination.
        pieces: returns the parts of an outcome that the format writes: records, pages, entries.
    """

    whole: bool = False
    """Whether the collected result is the only outcome that the writer takes."""
    take_record: Callable[[Any], None] | None = None
    """Takes each record of a whole result when it arrives, if the writer can; the result then has no records."""

    def __init__(self, sink: Sink, pieces: Callable[[Any], Iterable[Piece]]) -> None:
        self.sink = sink
        self._pieces = pieces

    def begin(self) -> None:
        """Write the text before all outcomes."""

    def write_outcome(self, outcome: Any) -> None:
        """Write an outcome and flush it, so that the next program gets it at once and a closed pipe raises an error."""
        for piece in self._pieces(outcome):
            self.put(piece)
        self.sink.flush()

    def put(self, piece: Piece) -> None:
        """Write a piece of an outcome."""
        raise NotImplementedError

    def end(self) -> None:
        """Write the text after all outcomes, and flush."""
        self.sink.flush()

    def get_note(self) -> str | None:
        """Return a note about the output, for standard error."""
        return None


class TextWriter(Writer[str | bytes]):
    """Writes texts one after the other: ids, pages, bytes of a service.

    Args:
        sink: the destination.
        pieces: the texts of an outcome.
        head: the beginning of the file.
        between: the separator of two texts.
        tail: the end of the file; omitted if both the head and the texts are empty.
        whole: whether they are texts of the collected result.
    """

    def __init__(
        self,
        sink: Sink,
        pieces: Callable[[Any], Iterable[str | bytes]],
        *,
        head: str | bytes = "",
        between: str | bytes = "",
        tail: str | bytes = "",
        whole: bool = False,
    ) -> None:
        super().__init__(sink, pieces)
        self.whole = whole
        self._head, self._between, self._tail = head, between, tail
        self.first = True

    def begin(self) -> None:
        """Write the head."""
        self.sink.write_data(self._head)

    def put(self, piece: str | bytes) -> None:
        """Write a text."""
        if not self.first:
            self.sink.write_data(self._between)
        self.first = False
        self.sink.write_data(piece)

    def end(self) -> None:
        """Write the tail."""
        if self._head or not self.first:
            self.sink.write_data(self._tail)
        super().end()


def list_records(outcome: Any) -> Iterable[Record]:
    """Return the records inside a result that has some, else the outcome itself, as plain data."""
    inside = outcome.records_inside() if isinstance(outcome, Result) else [outcome]
    return map(convert_to_data, inside)


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
    records: Callable[[Any], Iterable[Record]] = list_records
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

    def list_found(self, outcome: Any) -> Iterable[Record]:
        """Return the rows of an outcome without inputs that have no result."""
        return (record for record in (self.rows or self.records)(outcome) if not isinstance(record, Failed))

    def list_ids(self, outcome: Any) -> Iterable[str]:
        """Return the ids of an outcome; a row without an id, such as an ambiguous symbol, has none."""
        if self.ids is not None:
            return self.ids(outcome)
        return (str(uid) for row in self.list_found(outcome) if (uid := row.get(self.id_key)) is not None)


@dataclass(frozen=True)
class Job:
    """The task of one writer.

    Args:
        plan: the format and the fields.
        view: how the outcomes are shown.
        result: the model of the result, or the paths of a document without a model.
        sink: the destination.
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
            return self.document.select(self.records_key)
        return model if isinstance(model, DocumentPaths) else DocumentPaths(model)

    @cached_property
    def row(self) -> DocumentPaths:
        """The paths of one row."""
        return self.record if self.view.row_model is None else DocumentPaths(self.view.row_model)

    @property
    def rows(self) -> Callable[[Any], Iterable[Record]]:
        """The function that returns the rows of an outcome."""
        return self.view.rows or self.view.records

    def build_columns(self) -> dict[str, Column]:
        """Return the columns of the rows.

        Raises:
            InvalidInput: ``--fields`` names a field that does not exist.
        """
        return choose_columns(self.plan.fields, self.view.columns, self.row)
