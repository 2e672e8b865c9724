"""The text of each record cut out of an XML document that arrives in pieces, whatever the document looks like."""

import re
from collections import deque
from typing import Any, Final

from entrez_kit.errors import UpstreamError

SETS: Final = frozenset(("PubmedArticleSet", "PubmedBookArticleSet", "MedlineCitationSet", "BookDocumentSet"))
RECORDS: Final = frozenset(("PubmedArticle", "PubmedBookArticle", "MedlineCitation", "BookDocument"))
DELETIONS: Final = frozenset(("DeleteCitation", "DeleteDocument"))

MAX_RECORD_BYTES: Final = 64 << 20
"""A record larger than this is no record; the largest known ones have a few megabytes."""
MAX_BETWEEN_BYTES: Final = 8 << 20
"""Between two records stands a line break, or a comment; before the first one a document type."""

_CLOSINGS: Final = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>"}
_TOKEN: Final = re.compile(
    r"<(?:(/?)([^\s/<>!?\"']++)((?>(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*))>"
    r"|!--(?s:.*?)-->|!\[CDATA\[(?s:.*?)\]\]>|\?(?s:.*?)\?>|)"
)
"""A tag (whether it closes, its name, the rest), other markup, or a "<" alone: what it begins does not end here."""
_IN_TAG: Final = re.compile(r"[\"'<>]")
_IN_DOCTYPE: Final = re.compile(r"[\"'\[\]>]|<!--|<\?")
_INNER: Final = {'"': '"', "'": "'", "<!--": "-->", "<?": "?>"}


def invalid_response(message: str, **details: Any) -> UpstreamError:
    """Return the error for bytes that are not what PubMed sends."""
    return UpstreamError(message, details={"reason": "invalid_response", **details})


class RecordSlicer:
    """Finds where records begin and end in text that arrives in pieces, and looks at no piece twice.

    It knows comments, CDATA, processing instructions, the document type and quoted attribute values, so a tag in one
    of them is none. What is not well-formed it leaves to the parser: it finds no further record then.
    """

    def __init__(self) -> None:
        self.records: deque[str] = deque()
        self.level = -1  # the depth at which records stand: 1 in a set, 0 where the document is one record
        self.declares = False  # whether the document type has declarations of its own
        self._text = ""
        self._held = ""  # the end of the last piece where it does not tell what begins there, "<!" for example
        self._open: _Open | None = None
        self._typed = False  # whether there was a document type
        self._broken = False
        self._depth = 0
        self._record: list[str] | None = None  # the pieces of the record that is being read
        self._from = 0  # where, in the present text, it goes on
        self._length = 0

    def add(self, text: str) -> None:
        """Take the next piece of text.

        Raises:
            UpstreamError: the document is of another kind, or a record is too large.
        """
        self._text, self._held, self._from = self._held + text, "", 0
        at: int | None = 0
        while at is not None and not self._broken:
            at = self._go_on(at) if self._open else self._scan(at)
        end = len(self._text) - len(self._held)
        if self._record is not None:
            self._record.append(self._text[self._from : end])
        self._length += end - self._from
        self._text = ""
        if self._record is not None and self._length > MAX_RECORD_BYTES:
            raise invalid_response(f"A PubMed record is larger than {MAX_RECORD_BYTES >> 20} MB.")
        if self._record is None and self._length > MAX_BETWEEN_BYTES:
            raise invalid_response(f"There is no PubMed record in {MAX_BETWEEN_BYTES >> 20} MB of XML.")

    def _scan(self, at: int) -> int | None:
        """Read markup that is there in full; return where some begins that is not, or None at the end of the text."""
        for token in _TOKEN.finditer(self._text, at):
            if token[2]:
                self._tag(token, token.end())
            elif token.end() - token.start() == 1:
                return self._begin(token.start())
        return None

    def _begin(self, begin: int) -> int | None:
        """Begin a piece of markup that goes beyond the text; return where to go on, or None to wait for more."""
        start = self._text[begin : begin + len("<![CDATA[")]
        for opening, closing in _CLOSINGS.items():
            if start.startswith(opening):
                self._open = _Open(opening, closing)
                break
            if opening.startswith(start):
                self._held = start
                return None
        else:
            if start.startswith("<!"):
                self._broken = self._typed or self.level >= 0
                self._typed = True
                self._open = _Open("<!", tokens=_IN_DOCTYPE)
            else:
                self._open = _Open("<", tokens=_IN_TAG)
        return begin + len(self._open.opening)

    def _go_on(self, at: int) -> int | None:
        """Read on in markup that began before; return where it ends, or None where it goes beyond this text."""
        markup = self._open
        assert markup is not None
        end = markup.end_in(self._text, at)
        self.declares = self.declares or markup.bracketed
        if end is None:
            self._broken = markup.broken
            return None
        self._open = None
        if markup.opening == "<":
            tag = _TOKEN.fullmatch("".join(markup.pieces))
            if tag and tag[2]:
                self._tag(tag, end)
            else:
                self._broken = True
        return end

    def _tag(self, tag: "re.Match[str]", end: int) -> None:
        closing, empty = bool(tag[1]), tag[3].endswith("/")
        if closing:
            self._depth -= 1
        if self._depth == self.level or self.level < 0:
            self._tag_between(tag, end, closing=closing, empty=empty)
        if not closing and not empty:
            self._depth += 1

    def _tag_between(self, tag: "re.Match[str]", end: int, *, closing: bool, empty: bool) -> None:
        """Read a tag where records stand: one may begin or end with it."""
        name = tag[2].rpartition(":")[2]
        if self.level < 0:
            self.level = _record_level(name)
            if self.level:
                return
        if not closing and (name in RECORDS or name in DELETIONS):
            self._record, self._from, self._length = [tag[0]], end, len(tag[0])
        if self._record is not None and (closing or empty):
            self.records.append("".join([*self._record, self._text[self._from : end]]))
            self._record, self._from, self._length = None, end, 0


def _record_level(root: str) -> int:
    if root in SETS:
        return 1
    if root in RECORDS:
        return 0
    raise invalid_response(f"NCBI answered with <{root[:50]}> instead of PubMed records.", root=root[:50])


class _Open:
    """Markup that has begun and not ended, read on with every piece of text and never from its beginning again.

    Args:
        opening: its first characters.
        closing: its last ones; None where they depend on what stands inside, that is on
        tokens: what to look out for in it.
    """

    def __init__(self, opening: str, closing: str | None = None, tokens: "re.Pattern[str] | None" = None) -> None:
        self.opening = opening
        self.pieces = [opening]  # of a tag
        self.broken = False
        self.bracketed = False
        self._closing = closing  # what is waited for, or None outside quotes, comments and the like
        self._tokens = tokens
        self._inside = False
        self._tail = ""  # the last characters: with those to come they may be a closing, or a token

    def end_in(self, text: str, at: int) -> int | None:
        """Return where the markup ends, or None where it goes beyond this text."""
        shift = len(self._tail)  # 0 unless the text is read from its beginning
        found = self._end(self._tail + text, at)
        end = None if found is None else found - shift
        if self._tokens is _IN_TAG:
            self.pieces.append(text[at:end])
        return end

    def _end(self, text: str, at: int) -> int | None:
        while True:
            if self._closing:
                found = text.find(self._closing, at)
                if found < 0:
                    self._tail = text[max(at, len(text) - len(self._closing) + 1) :]
                    return None
                at = found + len(self._closing)
                if not self._tokens:
                    return at
                self._closing = None
            token = self._tokens.search(text, at) if self._tokens else None
            if not token:
                self._tail = text[max(at, len(text) - len("<!-")) :]
                return None
            at = token.end()
            self._closing = _INNER.get(token[0])
            if token[0] in "[]":
                self._inside = token[0] == "["
                self.bracketed = True
            elif token[0] == ">" and not self._inside:
                return at
            elif token[0] == "<":
                self.broken = True
                return None
