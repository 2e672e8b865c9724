"""Write the records of a corpus into a file, one after the other."""

import io
from typing import TYPE_CHECKING, Any, Final

import typer

from entrez_kit.errors import InvalidInput
from entrez_kit.pubmed.models import Article
from entrez_kit.tracing import step

from ._formats import writer_for
from ._formats.fields import as_data
from ._output import Sink
from ._pipeline import View, counted, note, plan, state
from ._report import watching

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from entrez_kit.corpus.store.reading import CorpusDiff
    from entrez_kit.corpus.store.store import Store

    from ._state import Plan

TELL_EVERY: Final = 100


def export(ctx: typer.Context, store: "Store", query_key: str | None, difference: "CorpusDiff | None" = None) -> None:
    """Write a corpus in the format the user wants, in constant memory; of a difference what it names and is there.

    Raises:
        EntityNotFound: there is no such corpus.
        InvalidInput: the format has no fields, or does not belong on a terminal.
        NotConfigured: the package for Parquet is not installed.
        StoreError: the corpus cannot be read, or the file not written.
    """
    made = plan(ctx)
    stats = store.stats(query_key)
    changed = [*difference.added, *difference.revised, *difference.retracted] if difference is not None else []
    kept = {one.pmid for one in changed}
    with Sink(made.target) as sink:
        _check(made, sink)
        with watching(state(ctx), "Exporting") as end_bar:
            if sink.isatty():
                end_bar()
            if made.format == "parquet":
                from entrez_kit.corpus.parquet import write_parquet

                number = write_parquet(store, query_key, SinkStream(sink), lambda done: step(done, stats.documents))
            else:
                number = 0
                writer = writer_for(made, _VIEW, Article, sink, state(ctx))
                writer.begin()
                for place, article in enumerate(
                    store.articles(query_key) if difference is None or kept else (), start=1
                ):
                    if difference is None or article.pmid in kept:
                        number += 1
                        writer.outcome(article)
                    if place % TELL_EVERY == 0:
                        step(place, stats.documents)
                writer.end()
    if difference is not None:
        note(ctx, f"Wrote {counted(number, 'record')} that changed since {difference.since}.")
        return
    left_out = f"; {counted(stats.deleted, 'withdrawn one')} left out" if stats.deleted else ""
    where = f" to {made.target}" if made.target is not None else ""
    note(ctx, f"Exported {counted(number, 'record')}{where}{left_out}.")


_VIEW: Final[View[Any]] = View(
    table=lambda articles, console: "",
    records=lambda article: [as_data(article)],
    columns={},
    records_key="",
    articles=lambda article: [article],
)


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


class SinkStream(io.RawIOBase):
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
