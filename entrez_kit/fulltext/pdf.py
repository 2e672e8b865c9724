"""Extract the text of a PDF, line by line, with hyphenated words joined.

PDFs come from any source, and some are malicious. The library's settings limit sizes; a check of the clock between
drawing operations limits time. A file beyond a limit is refused completely. A single page that cannot be read is named
in the text.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

from entrez_kit.base.errors import UpstreamError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.fulltext.html import count_words, silence, unreadable_error

MAX_PAGES: Final = 1500
MAX_CHARACTERS: Final = 20_000_000
SECONDS: Final = 60.0
MIN_WORDS: Final = 50
MIN_PAGE_WORDS: Final = 5
"""A page with fewer words is a picture or blank."""

MAX_BLANK: Final = 0.8
"""A file with a larger share of pages without text counts as scanned (a cover page may have text)."""

MAX_FAILED: Final = 0.2
"""A file with a larger share of unreadable pages is refused; otherwise the text names the missing pages."""

_LIMITS: Final[dict[str, Any]] = {
    "maximum_declared_stream_length": 50_000_000,
    "array_based_stream_maximum_output_length": 20_000_000,
    "lzw_maximum_output_length": 20_000_000,
    "run_length_maximum_output_length": 20_000_000,
    "zlib_maximum_output_length": 20_000_000,
    "zlib_maximum_recovery_input_length": 1_000_000,
    "stream_decoding_work_maximum_length": 60_000_000,
    "stream_parsing_work_maximum_count": 500_000,
    "page_tree_maximum_entries": 10_000,
    "jbig2dec_binary": None,  # do not run a program for pictures
}

_NOT_READ: Final = "[Page {} of this PDF could not be read.]"
_LIGATURES: Final = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\u00a0": " ", "\u00ad": "\u00ad"}
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_BREAK: Final = re.compile(r"(?<![^\W\d_])([^\W\d_]{2,}+)([-\u2010\u00ad])\n([^\W\d_]++)")
_WORD: Final = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_NO_TITLE: Final = re.compile(
    r"(?i)(untitled.*|microsoft (word|powerpoint).*|.*\.(docx?|indd|dvi|tex|qxd|pdf|rtf|xml|fm|p65|pmd)|title|pii:?.*"
    r"|doi:.*|\W*|[\w-]+\.\.[\w-]+|layout \d+|slide \d+|powerpoint presentation|\S{0,3}|[0-9 ._-]+)"
)


@dataclass(frozen=True, slots=True)
class Pdf:
    """The text of a PDF; pages are separated by an empty line."""

    title: str | None
    text: str
    total_pages: int
    word_count: int


def read_pdf(content: bytes, *, seconds: float = SECONDS) -> Pdf:
    """Read the text of a PDF.

    Args:
        content: the file.

    Raises:
        UpstreamError: the file is encrypted, broken, without text or beyond a limit; reason parse_failed.
    """
    import pypdf

    silence("pypdf")  # it warns about every irregularity of a file
    until = time.monotonic() + seconds

    def watch(*_: object) -> None:
        if time.monotonic() > until:
            raise unreadable_error(f"is a PDF that takes longer than {seconds:g} s to read")

    problem: str
    try:
        known = pypdf.Configuration.__dataclass_fields__  # some versions lack some fields
        with pypdf.apply_configuration(**{name: value for name, value in _LIMITS.items() if name in known}):
            return _read_pages(pypdf, content, watch)
    except UpstreamError:
        raise
    except MemoryError:
        problem = "is a PDF that needs more memory than available"
    except RecursionError:
        problem = "is a PDF that is nested too deeply"
    except Exception as exc:  # the library may raise any error for a broken file
        problem = _explain(pypdf, exc)
    raise unreadable_error(problem)


def _explain(pypdf: Any, exc: Exception) -> str:
    if isinstance(exc, pypdf.errors.DependencyError):
        return "is an encrypted PDF that needs the library cryptography: run `pip install cryptography`"
    if isinstance(exc, pypdf.errors.FileNotDecryptedError):
        return "is an encrypted PDF"
    if isinstance(exc, pypdf.errors.LimitReachedError):
        return "is a PDF with parts above the size limit"
    return "is a damaged PDF"


def _read_pages(pypdf: Any, content: bytes, watch: Callable[..., None]) -> Pdf:
    start = content.find(b"%PDF-", 0, 1029)
    if start < 0:
        raise unreadable_error("is not a PDF")
    reader = pypdf.PdfReader(BytesIO(content[start:]), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        raise unreadable_error("is an encrypted PDF")
    total = reader.get_num_pages()
    if total < 1:
        raise unreadable_error("is a PDF without pages")
    if total > MAX_PAGES:
        raise unreadable_error(f"is a PDF of {format_count(total, 'page')} (the limit is {MAX_PAGES:,})")
    pages: list[str] = []
    size = 0
    failed: list[int] = []
    for number, page in enumerate(reader.pages):
        watch()
        text = _page_text(pypdf, page, watch)
        if text is None:
            failed.append(number)
        pages.append(_clean(text or ""))
        size += len(pages[-1])
        if size > MAX_CHARACTERS:
            raise unreadable_error(f"is a PDF with more than {MAX_CHARACTERS:,} characters")
    if len(failed) > MAX_FAILED * total:
        raise unreadable_error(f"is a PDF with {format_count(len(failed), 'unreadable page')} of {total:,}")
    _check_has_text(pages)
    for number in failed:
        pages[number] = _NOT_READ.format(number + 1)
    text = join_hyphenated("\n\n".join(page for page in pages if page))
    return Pdf(_find_title(reader), text, total, count_words(text) - len(failed) * count_words(_NOT_READ.format(0)))


def _page_text(pypdf: Any, page: Any, watch: Callable[..., None]) -> str | None:
    """Return the text of a page; None if it is broken or has too many drawing operations."""
    try:
        text: str = page.extract_text(visitor_operand_before=watch)
        return text
    except (UpstreamError, MemoryError, RecursionError, pypdf.errors.DependencyError):
        raise
    except Exception:  # one broken page does not make the file unreadable
        return None


def _check_has_text(pages: Sequence[str]) -> None:
    """Refuse a scanned file, which has pictures instead of text."""
    counts = [count_words(page) for page in pages]
    total, blank = sum(counts), sum(count < MIN_PAGE_WORDS for count in counts)
    if total < MIN_WORDS:
        size = f"{format_count(total, 'word')} on {format_count(len(pages), 'page')}"
        raise unreadable_error(f"is a PDF without text ({size}); most likely it was scanned")
    if len(pages) >= 5 and blank > MAX_BLANK * len(pages):
        empty = f"{format_count(blank, 'page')} of {len(pages):,}"
        raise unreadable_error(f"is a PDF with {empty} without text; most likely it was scanned")


def _clean(text: str) -> str:
    text = text.translate(_LIGATURES).replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    text = _CONTROL.sub("", text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    lines = (" ".join(line.split()) for line in text.replace("\v", "\n").split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def join_hyphenated(text: str) -> str:
    """Join words that were divided at the end of a line.

    A hyphen that belongs to the word stays: ``well-`` / ``known`` becomes ``well-known`` if the text has that word
    elsewhere more often than ``wellknown``.
    """
    word_counts = Counter(word.lower().replace("\u2010", "-") for word in _WORD.findall(_BREAK.sub(" ", text)))
    return _BREAK.sub(_make_joiner(word_counts), text)


def _make_joiner(word_counts: Counter[str]) -> Callable[[re.Match[str]], str]:
    def join(match: re.Match[str]) -> str:
        first, hyphen, second = match[1], match[2], match[3]
        if hyphen == "\u00ad":
            return first + second
        if second[0].isupper():
            return f"{first}-{second}" if not first.isupper() else f"{first}-\n{second}"
        whole, parted = f"{first}{second}".lower(), f"{first}-{second}".lower()
        return f"{first}-{second}" if word_counts[parted] > word_counts[whole] else f"{first}{second}"

    return join


def _find_title(reader: Any) -> str | None:
    try:
        title = reader.metadata.title if reader.metadata else None
    except Exception:  # ignore a broken title
        return None
    text = " ".join(_clean(title).split()) if isinstance(title, str) else ""
    return None if not text or len(text) > 500 or _NO_TITLE.fullmatch(text) else text
