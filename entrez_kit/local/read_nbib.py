"""Read the records of MEDLINE text (.nbib) as PubMed XML."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from entrez_kit.base.medline_fields import MedlineLineError, split_records
from entrez_kit.local.article_to_xml import RecordFacts, convert_article
from entrez_kit.local.file_events import FileEvent, split_lines, unusable_file_error
from entrez_kit.pubmed.medline_article import MedlineRecord, read_medline_article, split_date
from entrez_kit.pubmed.models import Article


def read_nbib(chunks: Iterable[bytes], path: Path) -> Iterator[FileEvent]:
    """Read MEDLINE text (.nbib).

    Raises:
        InvalidInput: a line does not belong to a field, or a record has no PMID.
    """
    try:
        for fields, line in split_records(split_lines(chunks, path)):
            yield convert_article(*_read_record(MedlineRecord(fields)), path, line)
    except MedlineLineError as exc:
        problem = f"line {exc.line:,} is not a field of a MEDLINE record"
        raise unusable_file_error(path, problem, "bad_record", line=exc.line) from None


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
