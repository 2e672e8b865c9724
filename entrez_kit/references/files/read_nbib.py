"""Read MEDLINE files (.nbib), as exported by PubMed."""

from collections import Counter
from collections.abc import Sequence

from entrez_kit.base.medline_fields import ONCE, MedlineFields, MedlineLineError, split_records
from entrez_kit.citations.names import format_suffix
from entrez_kit.core.model import Warn
from entrez_kit.pubmed.medline_article import MedlineRecord, find_medline_doi, find_medline_number
from entrez_kit.references.files.field_values import read_text
from entrez_kit.references.files.references import (
    OriginalRecord,
    RefAuthor,
    Reference,
    ReferenceFile,
    find_identifier,
    find_year,
    parse_name,
    unreadable_error,
    warn_of_left_out,
)


class NbibFile(ReferenceFile):
    """The references of a MEDLINE file."""

    def __init__(
        self, records: list[list[tuple[str, str]]], references: list[Reference], warnings: Sequence[Warn]
    ) -> None:
        self._fields = records
        super().__init__(references, warnings)

    def get_original(self, index: int) -> OriginalRecord:
        """Return the fields and the text of a record."""
        from entrez_kit.citations.write_nbib import wrap_field
        from entrez_kit.references.files.tagged_fields import convert_nbib

        lines = self._fields[index]
        text = "\n".join(line for tag, value in lines for line in wrap_field(tag, value))
        return OriginalRecord(convert_nbib(lines, self.references[index]), text)


def read_nbib(text: str, name: str) -> NbibFile:
    """Read a MEDLINE file.

    Raises:
        InvalidInput: a line does not belong to a field. The message has the line number.
    """
    try:
        records = [
            MedlineFields([(tag, read_text(value)) for tag, value in fields], line)
            for fields, line in split_records(text.splitlines())
        ]
    except MedlineLineError as exc:
        problem = "this line does not belong to a field of a MEDLINE record"
        raise unreadable_error(name, problem, line=exc.line) from None
    references = [_build_reference(fields, start) for fields, start in records]
    joined = [f"{start}: {fields[0][0]}- {fields[0][1]}" for fields, start in records if _has_two(fields)]
    warnings = warn_of_left_out(joined, "these records contain another one, without a line PMID-")
    return NbibFile([fields for fields, _ in records], references, warnings)


def _has_two(fields: list[tuple[str, str]]) -> bool:
    """Return whether a record repeats several fields that a record has once."""
    return sum(number > 1 for number in Counter(tag for tag, _ in fields if tag in ONCE).values()) > 1


def _build_reference(fields: list[tuple[str, str]], line: int) -> Reference:
    record = MedlineRecord(fields)
    pmid = find_identifier("pmid", record.get_first("PMID"))
    return Reference(
        key=pmid or f"line {line}",
        line=line,
        title=record.get_first("TI", "BTI") or None,
        authors=_read_authors(fields),
        journal=record.get_first("JT", "TA") or None,
        year=find_year(record.get_first("DP", "DEP")),
        volume=record.get_first("VI") or None,
        issue=record.get_first("IP") or None,
        pages=record.get_first("PG") or find_medline_number(record),
        doi=find_identifier("doi", find_medline_doi(record)),
        pmid=pmid,
        pmcid=find_identifier("pmcid", record.get_first("PMC")),
    )


def _read_authors(fields: list[tuple[str, str]]) -> list[RefAuthor]:
    """Return the authors. A group after editors or investigators is not an author."""
    full = any(tag == "FAU" for tag, _ in fields)
    authors: list[RefAuthor] = []
    others = False
    for tag, value in fields:
        if tag in ("FAU", "AU", "FED", "ED", "FIR", "IR"):
            others = tag not in ("FAU", "AU")
        if tag == "CN" and not others:
            authors.append(RefAuthor(group=value))
        elif tag == ("FAU" if full else "AU") and value:
            author = parse_name(value)
            if author.group:  # groups have the tag CN
                author = RefAuthor(family=author.group)
            suffix = format_suffix(author.suffix) if author.suffix else None
            authors.append(author.model_copy(update={"suffix": suffix}))
    return authors
