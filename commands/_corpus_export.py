"""Write the records of a corpus into a file, one after the other."""

import io
from typing import TYPE_CHECKING, Final

import typer

from entrez_kit.citations.files.entries import FILES, FileStyle
from entrez_kit.errors import InvalidInput
from entrez_kit.pubmed.models import Article

from ._formats import JsonLines, Shape, as_data
from ._output import Sink
from ._progress import progress
from ._report import counted
from ._run import note, plan, state

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from entrez_kit.corpus.store.store import Store

    from ._state import Plan

TELL_EVERY: Final = 100


def export(ctx: typer.Context, store: "Store", query_key: str | None) -> None:
    """Write a corpus in the format the user wants, in constant memory.

    Raises:
        EntityNotFound: there is no such corpus.
        InvalidInput: the format has no fields, or does not belong on a terminal.
        NotConfigured: the package for Parquet is not installed.
        StoreError: the corpus cannot be read, or the file not written.
    """
    made = plan(ctx)
    stats = store.stats(query_key)
    with Sink(made.target) as sink:
        _check(made, sink)
        watched = not sink.isatty()
        with progress(state(ctx), "Exporting", total=stats.documents, shared=not watched) as advance:
            if made.format == "parquet":
                from entrez_kit.corpus.parquet import write_parquet

                number = write_parquet(store, query_key, Stream(sink), lambda done: advance(done, stats.documents))
            else:
                number = 0
                put: Lines | Entries = (
                    Lines(sink, made) if made.format == "jsonl" else Entries(sink, FILES[made.format])
                )
                put.begin()
                for number, article in enumerate(store.articles(query_key), start=1):
                    put.article(article)
                    if number % TELL_EVERY == 0:
                        advance(number, stats.documents)
                put.end()
    left_out = f"; {counted(stats.deleted, 'withdrawn one')} left out" if stats.deleted else ""
    where = f" to {made.target}" if made.target is not None else ""
    note(ctx, f"Exported {counted(number, 'record')}{where}{left_out}.")


def _check(made: "Plan", sink: Sink) -> None:
    if made.fields and made.format != "jsonl":
        raise InvalidInput(
            f"--fields does not go with --format {made.format}.",
            invalid_input=f"format={made.format}",
            recovery_hint="Fields are for jsonl.",
            details={"reason": "bad_usage"},
        )
    if made.format == "parquet" and sink.isatty():
        raise InvalidInput(
            "Parquet is no text for a terminal.",
            invalid_input="format=parquet",
            recovery_hint="Name a file: -o corpus.parquet",
            details={"reason": "bad_usage"},
        )


class Lines:
    """A record of JSON a line, as `fetch -f jsonl` writes it."""

    def __init__(self, sink: Sink, made: "Plan") -> None:
        self._writer = JsonLines(sink, made.fields, Shape(Article))

    def begin(self) -> None:
        """Begin."""
        self._writer.begin()

    def article(self, article: Article) -> None:
        """Write one record."""
        self._writer.record(as_data(article))

    def end(self) -> None:
        """End."""
        self._writer.end()


class Entries:
    """A file for a reference manager."""

    def __init__(self, sink: Sink, style: FileStyle) -> None:
        self._sink = sink
        self._style = style
        self._any = False

    def begin(self) -> None:
        """Write what the file begins with."""
        self._sink.data(self._style.head)

    def article(self, article: Article) -> None:
        """Write one entry."""
        entry = self._style.entry(article)
        self._sink.data(self._style.between + entry if self._any else entry)
        self._any = True

    def end(self) -> None:
        """Write what the file ends with."""
        self._sink.data(self._style.tail if self._any or self._style.head else "")
        self._sink.flush()


class Stream(io.RawIOBase):
    """The sink as a binary stream that only goes forward."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._place = 0

    def writable(self) -> bool:
        """Say that it can be written."""
        return True

    def write(self, content: "ReadableBuffer") -> int:
        """Write bytes."""
        self._sink.data(bytes(content))
        self._place += len(bytes(content))
        return len(bytes(content))

    def tell(self) -> int:
        """Return how much was written."""
        return self._place
