"""The fields of a record of a file in RIS, with those that a MEDLINE record has only as a record of PubMed."""

from collections.abc import Sequence
from functools import lru_cache

from entrez_kit.base.medline_fields import read_fields
from entrez_kit.citations.write_ris import write_ris_record
from entrez_kit.pubmed.medline_article import MedlineRecord, read_medline_article
from entrez_kit.pubmed.models import Article
from entrez_kit.references.files.tagged_fields import Field
from entrez_kit.references.merge.entries import Entry


def read_article(entry: Entry) -> Article | None:
    """Return a MEDLINE record as an article of PubMed; None for other formats."""
    if entry.kind != "nbib" or entry.original.text is None:
        return None
    return _parse_article(entry.original.text)


def list_fields(entry: Entry) -> Sequence[Field]:
    """Return the fields of a record in RIS. A MEDLINE record has those of the record of PubMed, too."""
    own = entry.original.fields
    if entry.kind != "nbib" or entry.original.text is None:
        return own
    written = _list_article_fields(entry.original.text)
    tags = {tag for tag, _ in written} - {"N1"}
    return [*written, *(field for field in own if field[0] not in tags and field not in written)]


@lru_cache(maxsize=2)
def _list_article_fields(text: str) -> tuple[Field, ...]:
    """Return the fields of a MEDLINE record as an article. A merge needs those of one work several times."""
    return tuple((line[:2], line[6:]) for line in write_ris_record(_parse_article(text)).split("\n")[:-1])


def _parse_article(text: str) -> Article:
    fields = read_fields(text.splitlines())
    return read_medline_article(MedlineRecord([(field.tag, field.value) for field in fields if field.tag]))
