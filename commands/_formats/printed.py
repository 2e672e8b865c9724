"""Pages to print or send: the Markdown of a command as a web page or as a Word document."""

from typing import Any

from entrez_kit.errors import InvalidInput

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


class Printed(Writer[Any]):
    """Markdown that is turned into another form when it is whole.

    Args:
        sink: where the document goes.
        markdown: writes the Markdown.
        text: what it writes to.
        form: html or docx.
        title: what it is called; without one its first heading, or the file's name.

    Raises:
        InvalidInput: a Word document is no text for a terminal.
        NotConfigured: pandoc is not installed; found out before anything is asked for.
    """

    def __init__(self, sink: Sink, markdown: Writer[Any], text: Buffer, form: str, title: str) -> None:
        from entrez_kit.citations.pandoc import program

        if form == "docx" and sink.isatty():
            raise InvalidInput(
                "A Word document is no text for a terminal.",
                invalid_input="format=docx",
                recovery_hint="Name a file: -o articles.docx",
                details={"reason": "bad_usage"},
            )
        program()
        self.sink, self.whole = sink, markdown.whole
        self._markdown, self._text, self._form = markdown, text, form
        self._title = title

    def begin(self) -> None:
        """Begin the Markdown."""
        self._markdown.begin()

    def outcome(self, outcome: Any) -> None:
        """Write an outcome as Markdown."""
        self._markdown.outcome(outcome)

    def end(self) -> None:
        """Write the document."""
        from entrez_kit.citations.pandoc import document_of_markdown

        self._markdown.end()
        name = self.sink.target.stem if self.sink.target is not None else "entrez-kit"
        self.sink.data(document_of_markdown("".join(self._text.pieces), self._form, self._title, name))
        self.sink.flush()
