"""Pages to print or send: the Markdown of a command as a web page or as a Word document."""

from collections.abc import Callable
from typing import Any

from entrez_kit.base.errors import InvalidInput

from .._output import Sink
from .writer import Writer


class Buffer(Sink):
    """Keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__(None)
        self.pieces: list[str] = []

    def data(self, content: str | bytes) -> None:
        """Keep a piece."""
        self.pieces.append(content if isinstance(content, str) else content.decode("utf-8", "replace"))

    def flush(self) -> None:
        """Hand nothing over."""

    def isatty(self) -> bool:
        """Say that nobody reads along."""
        return False


class Turned(Writer[Any]):
    """Markdown that is turned into another form when it is whole.

    Args:
        sink: where that goes.
        markdown: writes the Markdown.
        text: what it writes to.
        finish: takes the whole text.
    """

    def __init__(self, sink: Sink, markdown: Writer[Any], text: Buffer, finish: Callable[[str], None]) -> None:
        self.sink, self.whole = sink, markdown.whole
        self._markdown, self._text, self._finish = markdown, text, finish

    def begin(self) -> None:
        """Begin the Markdown."""
        self._markdown.begin()

    def outcome(self, outcome: Any) -> None:
        """Write an outcome as Markdown."""
        self._markdown.outcome(outcome)

    def end(self) -> None:
        """Hand over the whole text."""
        self._markdown.end()
        self._finish("".join(self._text.pieces))
        self.sink.flush()


def printer(sink: Sink, form: str, title: str) -> Callable[[str], None]:
    """Return what writes Markdown as a document.

    Args:
        sink: where the document goes.
        form: html or docx.
        title: what it is called; without one its first heading, or the file's name.

    Raises:
        InvalidInput: a Word document is no text for a terminal.
        NotConfigured: pandoc is not installed; found out before anything is asked for.
    """
    from entrez_kit.citations.pandoc import convert_markdown, find_pandoc

    if form == "docx" and sink.isatty():
        raise InvalidInput(
            "A Word document is no text for a terminal.",
            invalid_input="format=docx",
            recovery_hint="Name a file: -o articles.docx",
            details={"reason": "bad_usage"},
        )
    find_pandoc()
    name = sink.target.stem if sink.target is not None else "entrez-kit"
    return lambda markdown: sink.data(convert_markdown(markdown, form, title, name))
