"""Read the records of MEDLINE text (.nbib) as PubMed XML."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from entrez_kit.local.article_to_xml import RecordFacts, convert_article
from entrez_kit.local.file_events import FileEvent, split_lines, unusable_file_error
from entrez_kit.pubmed.medline_article import MedlineRecord, read_medline_article, split_date
from entrez_kit.pubmed.models import Article

_LINE: Final = re.compile(r"([A-Z][A-Z0-9]{1,3}) *- ?(.*)")


def read_nbib(chunks: Iterable[bytes], path: Path) -> Iterator[FileEvent]:
    """Read MEDLINE text (.nbib).

    Raises:
        InvalidInput: a line does not belong to a field, or a record has no PMID.
    """
    fields: list[tuple[str, str]] = []
    start = 1
    for number, line in enumerate(split_lines(chunks, path), start=1):
        match = _LINE.fullmatch(line)
        if match is not None and match[1] == "PMID" and fields:
            yield convert_article(*_read_record(MedlineRecord(fields)), path, start)
            fields = []
        if match is not None:
            start = start if fields else number
            fields.append((match[1], match[2].strip()))
        elif line.startswith("    ") and fields:
            name, value = fields[-1]
            fields[-1] = (name, f"{value} {line.strip()}".strip())
        elif line.strip():
            raise unusable_file_error(
                path, f"line {number:,} is not a field of a MEDLINE record", "bad_record", line=number
            )
    if fields:
        yield convert_article(*_read_record(MedlineRecord(fields)), path, start)


def _read_record(record: MedlineRecord) -> tuple[Article, RecordFacts]:
    completed = split_date(record.get_first("DCOM"))
    facts = RecordFacts(
        status=record.get_first("STAT") or ("MEDLINE" if record.get_all("MH") else ""),
        completed=tuple(f"{completed[name]:02}" for name in ("year", "month", "day") if name in completed),
        country=record.get_first("PL"),
        owner=record.get_first("OWN"),
        publication_status=record.get_first("PST"),
        subsets=tuple(record.get_all("SB")),
    )
    return read_medline_article(record), facts
