"""Markdown output converted to a web page or a Word document."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .._state import usage_error
from . import Job, Sink, Writer
from .plain import create_page_writer


class Buffer(Sink):
    """Stores all output in memory."""

    def __init__(self) -> None:
        super().__init__(None)
        self.pieces: list[str] = []

    def write_data(self, content: str | bytes) -> None:
        """Store a piece."""
        self.pieces.append(content if isinstance(content, str) else content.decode("utf-8", "replace"))

    def flush(self) -> None:
        """Do nothing."""

    def isatty(self) -> bool:
        """Return False."""
        return False


class Converted(Writer[Any]):
    """Collects Markdown and converts it at the end.

    Args:
        sink: the destination of the converted document.
        markdown: writes the Markdown.
        text: holds the Markdown.
        finish: converts and writes the complete Markdown.
    """

    def __init__(self, sink: Sink, markdown: Writer[Any], text: Buffer, finish: Callable[[str], None]) -> None:
        self.sink, self.whole = sink, markdown.whole
        self._markdown, self._text, self._finish = markdown, text, finish

    def begin(self) -> None:
        """Begin the Markdown."""
        self._markdown.begin()

    def write_outcome(self, outcome: Any) -> None:
        """Write an outcome as Markdown."""
        self._markdown.write_outcome(outcome)

    def end(self) -> None:
        """Convert the Markdown and write the document."""
        self._markdown.end()
        self._finish("".join(self._text.pieces))
        self.sink.flush()


def create_html_writer(job: Job) -> Converted:
    """Return the writer of a web page, which pandoc converts.

    Raises:
        NotConfigured: pandoc is not installed. This is checked before any request is sent.
    """
    from entrez_kit.citations.pandoc import convert_markdown, find_pandoc

    sink, text = job.sink, Buffer()
    own = job.view.writers.get("md")
    markdown = create_page_writer(replace(job, sink=text)) if own is None else own(text)
    find_pandoc()
    name = sink.target.stem if sink.target is not None else "entrez-kit"

    def finish(content: str) -> None:
        sink.write_data(convert_markdown(content, job.plan.format.name, job.view.title, name))

    return Converted(sink, markdown, text, finish)


def create_docx_writer(job: Job) -> Converted:
    """Return the writer of a Word document.

    Raises:
        InvalidInput: standard output is a terminal.
    """
    if job.sink.isatty():
        raise usage_error(
            "Word documents cannot be printed to a terminal.", "format=docx", "Name a file: -o articles.docx"
        )
    return create_html_writer(job)
