"""The limits of the parsers of PubMed XML, in bytes."""

from typing import Final

MAX_RECORD_BYTES: Final = 64 << 20
"""The largest record accepted. The largest known records have a few megabytes."""
MAX_BETWEEN_BYTES: Final = 8 << 20
"""The most bytes before a record: a line break, a comment or the document type."""
CHUNK: Final = 1 << 17
HUGE_BYTES: Final = 8 << 20
"""For larger documents, libxml2's limit of 10 MB per text must be disabled."""
MAX_TAG_BYTES: Final = 4096
MAX_MESSAGE: Final = 200
"""The most characters of a parser's message in ours, because libxml2 quotes all of the text around a defect."""
