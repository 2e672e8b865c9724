"""Collections of PubMed records: reading them from files and getting one by its number."""

import gzip
import re
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from math import log
from pathlib import Path
from threading import RLock
from typing import IO, TYPE_CHECKING, Final

from lxml import etree

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import Argument, FrontendText
from entrez_kit.base.input_files import cannot_read_error, open_input, too_large
from entrez_kit.local.records.document import Document
from entrez_kit.local.records.fixture_files import read_fixtures
from entrez_kit.local.records.sort_orders import read_sort_keys
from entrez_kit.local.records.terms import extract_terms
from entrez_kit.query.record_terms import RecordTerms, SortKeys

if TYPE_CHECKING:
    from entrez_kit.query.segments.search_index import SearchIndex

_RECORD: Final = re.compile(
    rb"<(PubmedArticle|PubmedBookArticle)(?:\s[^<>]*+)?>(?>(?:[^<]++|<(?!/?\1[\s>]))*)</\1\s*+>"
    rb"|<DeleteCitation\s*+>((?>(?:[^<]++|<(?!/?DeleteCitation[\s>]))*))</DeleteCitation\s*+>",
    re.DOTALL,
)
_PMID: Final = re.compile(rb"<PMID[^<>]*+>\s*+([0-9]++)\s*+</PMID>")
_CHUNK: Final = 1 << 22
MAX_CORPUS_BYTES: Final = 4 << 30
"""Maximum size of one decompressed file. The largest file of the PubMed baseline has less than a tenth of it."""
MAX_RECORD_BYTES: Final = 64 << 20
_COMPRESS_ABOVE: Final = 64 << 20
"""Total size of records in bytes above which each further record is stored compressed."""
_NEIGHBOURS: Final = 100
_CANDIDATES: Final = 20_000


class WordCounts(Mapping[str, int]):
    """The words of titles and headings, each with its number of records. Words of abstracts are contained, not listed.

    A suggestion comes from a title or heading: abstracts have many times more words, and more of them are misspelled.
    """

    def __init__(self, index: "SearchIndex") -> None:
        self._index = index

    @cached_property
    def _counts(self) -> Mapping[str, int]:
        counts = Counter(self._index.count_records("title"))
        counts.update(self._index.count_records("mesh"))
        return {word: count for word, count in counts.items() if word.isalpha()}

    def __len__(self) -> int:
        return len(self._counts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._counts)

    def __getitem__(self, word: str) -> int:
        return self._counts[word]

    def __contains__(self, word: object) -> bool:
        return any(self._index.find_word(source, str(word)) for source in ("title", "mesh", "abstract"))


class RecordCollection(ABC):
    """Numbered PubMed records. ``index`` finds records, ``raw`` returns the XML of one."""

    size: int

    @property
    @abstractmethod
    def index(self) -> "SearchIndex":
        """The index of all records, built on first use."""

    @abstractmethod
    def get_pmid(self, number: int) -> str:
        """Return the PMID of a record."""

    def get_pmids(self, numbers: Sequence[int]) -> list[str]:
        """Return the PMIDs of records."""
        return [self.get_pmid(number) for number in numbers]

    @abstractmethod
    def find_number(self, pmid: str) -> int | None:
        """Return the number of the record with this PMID; None if the PMID is unknown."""

    @abstractmethod
    def read_raw(self, number: int) -> bytes:
        """Return the XML of a record."""

    def find_citing(self, pmid: str) -> Sequence[str]:
        """Return the PMIDs of the records of this collection that cite this one, newest first."""
        return self.find("cited", pmid)

    def count_words(self) -> Mapping[str, int]:
        """Count the records that contain each word, for spelling suggestions."""
        return WordCounts(self.index)

    def read_document(self, number: int) -> Document:
        """Return a parsed record."""
        return Document(self.read_raw(number))

    def find(self, source: str, value: str) -> list[str]:
        """Return the PMIDs of the records with this value, newest first."""
        index = self.index
        return self.get_pmids(index.rank(list(index.find_value(source, value)), ""))

    def find_document(self, source: str, value: str) -> Document | None:
        """Return the newest record with this value."""
        numbers = self.index.rank(list(self.index.find_value(source, value)), "")
        return self.read_document(numbers[0]) if numbers else None

    def find_related(self, number: int) -> list[tuple[str, int]]:
        """Return the records that share MeSH headings or title words with this one, with scores, most similar first.

        The record itself comes first, as in NCBI's answer.
        """
        terms = extract_terms(self.read_document(number))
        sources = [("mesh", value) for value in terms.values.get("mesh", ())]
        sources += [("word", word) for piece in terms.texts.get("title", ()) for word in piece if len(word) > 3]
        weighted = []
        for kind, value in dict.fromkeys(sources):
            records = self.index.find_value("mesh", value) if kind == "mesh" else self.index.find_word("title", value)
            frequency = len(records)
            if frequency > 1 and frequency * 2 <= max(self.size, 40):
                weighted.append((log(1 + self.size / frequency) * (2 if kind == "mesh" else 1), frequency, records))
        scores: Counter[int] = Counter()
        budget = _CANDIDATES
        for weight, frequency, records in sorted(weighted, key=lambda item: item[1]):
            if budget < frequency:
                break
            budget -= frequency
            for other in records:
                scores[other] += int(weight * 1_000_000)
        own = scores.pop(number, 0)
        nearest = sorted(scores.items(), key=lambda item: (-item[1], -int(self.get_pmid(item[0]))))[:_NEIGHBOURS]
        top = max([own, *(score for _, score in nearest)], default=0) + 1_000_000
        return [(self.get_pmid(number), top), *((self.get_pmid(other), score) for other, score in nearest)]


class ParsedCollection(RecordCollection):
    """Records parsed from PubMed XML.

    Args:
        records: PMID and XML of each; a later record replaces an earlier one with the same PMID.
        segments: the index of the records, if it is known.
    """

    def __init__(self, records: Iterable[tuple[str, bytes]], segments: Sequence[bytes] = ()) -> None:
        raw_records: dict[str, bytes] = {}
        total_bytes = 0
        for pmid, raw in records:
            if not raw:
                raw_records.pop(pmid, None)
                continue
            total_bytes += len(raw)
            raw_records.pop(pmid, None)
            raw_records[pmid] = zlib.compress(raw, 1) if total_bytes > _COMPRESS_ABOVE else raw
        self._pmids = sorted(raw_records, key=int)
        self._raws = [raw_records[pmid] for pmid in self._pmids]
        self._numbers = {pmid: number for number, pmid in enumerate(self._pmids)}
        self._segments = segments
        self._lock = RLock()
        self.size = len(self._pmids)

    @classmethod
    def from_paths(cls, paths: Sequence[Path]) -> "ParsedCollection":
        """Read files and folders of PubMed XML (``.xml``, ``.xml.gz``).

        Raises:
            InvalidInput: a path does not exist, cannot be read or contains no PubMed records.
        """
        collection = cls(record for path in paths for record in _read_path(path))
        if not collection.size:
            raise _unusable_error(paths[0] if paths else Path(), "it contains no PubMed records")
        return collection

    @classmethod
    @cache
    def demo(cls) -> "ParsedCollection":
        """Return the demo collection of this package with its index; empty if it is not installed."""
        records = (record for file in read_fixtures("pubmed", ".xml") for record in split_records([file]))
        return cls(records, read_fixtures("generated", ".seg"))

    @property
    def index(self) -> "SearchIndex":
        """The index of all records, built on first use."""
        with self._lock:
            return self._index

    @cached_property
    def _index(self) -> "SearchIndex":
        from entrez_kit.query.segments.search_index import SearchIndex
        from entrez_kit.query.segments.segment import Segment

        segments = self._segments or self.encode_index()
        return SearchIndex([Segment(Path("memory"), content) for content in segments])

    def encode_index(self) -> list[bytes]:
        """Return the segments of an index of the records."""
        from entrez_kit.query.segments.writer import encode_segments

        return list(encode_segments(read_terms(self.read_document(number)) for number in range(self.size)))

    def get_pmid(self, number: int) -> str:
        """Return the PMID of a record."""
        return self._pmids[number]

    def find_number(self, pmid: str) -> int | None:
        """Return the number of the record with this PMID; None if the PMID is unknown."""
        return self._numbers.get(pmid)

    def read_raw(self, number: int) -> bytes:
        """Return the XML of a record, byte for byte."""
        raw = self._raws[number]
        return raw if raw[:1] == b"<" else zlib.decompress(raw)


def read_terms(document: Document) -> tuple[RecordTerms, SortKeys]:
    """Return the searchable terms and the sort keys of a record."""
    return extract_terms(document), read_sort_keys(document)


def _read_path(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        files = sorted(item for item in path.rglob("*") if item.name.endswith((".xml", ".xml.gz")) and item.is_file())
        if not files:
            raise _unusable_error(path, "it contains no .xml or .xml.gz file")
    else:
        files = [path]
    for file in files:
        try:
            with open_input(file) as packed:
                stream = gzip.GzipFile(fileobj=packed, mode="rb") if file.name.endswith(".gz") else packed
                for pmid, raw in split_records(_read_chunks(stream, file)):
                    if raw:
                        check_record(pmid, raw, file)
                    yield pmid, raw
        except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
            raise _unusable_error(file, f"it cannot be decompressed ({exc})") from None
        except OSError as exc:
            raise cannot_read_error(file, exc, invalid_input=f"corpus={file}", reason="bad_corpus") from None


def _read_chunks(stream: IO[bytes] | gzip.GzipFile, file: Path) -> Iterator[bytes]:
    """Yield a stream in chunks.

    Raises:
        InvalidInput: the stream exceeds MAX_CORPUS_BYTES.
    """
    size = 0
    while chunk := stream.read(_CHUNK):
        size += len(chunk)
        if size > MAX_CORPUS_BYTES:
            raise too_large(str(file), MAX_CORPUS_BYTES)
        yield chunk


def split_records(chunks: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Split a stream of PubMed XML into pairs of PMID and XML. The XML of a deleted record is empty."""
    pending = b""
    for chunk in chunks:
        pending += chunk
        end = 0
        for match in _RECORD.finditer(pending):
            end = match.end()
            if match.group(2) is not None:
                yield from ((pmid.decode("ascii"), b"") for pmid in _PMID.findall(match.group(2)))
                continue
            raw = match.group()
            pmid = _PMID.search(raw)
            if pmid:
                yield str(int(pmid.group(1))), raw
        pending = pending[end:]
        if len(pending) > MAX_RECORD_BYTES:
            raise too_large("A record of the collection", MAX_RECORD_BYTES)


def _unusable_error(path: Path, problem: str) -> InvalidInput:
    return InvalidInput(
        FrontendText(Argument("corpus"), f": {path} cannot be served: {problem}."),
        invalid_input=f"corpus={path}",
        recovery_hint="Give files or folders of PubMed XML (.xml, .xml.gz) from EFetch or the PubMed baseline.",
        details={"reason": "bad_corpus"},
    )


def check_record(pmid: str, raw: bytes, source: Path) -> None:
    """Check that a record is well-formed XML. Undeclared namespace prefixes are accepted.

    Raises:
        InvalidInput: the record is not well-formed; the message names the file and the record.
    """
    try:
        defect = Document(raw).find_defect()
    except (etree.XMLSyntaxError, AttributeError) as exc:
        defect = str(exc)
    if defect is not None:
        raise _unusable_error(source, f"record {pmid} is not well-formed XML")
