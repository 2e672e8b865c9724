"""The records of a review: one line of ``records.jsonl`` each, with an id that screening programs keep."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, StringConstraints

from entrez_kit.base.identifiers import PUBMED
from entrez_kit.citations.csl import to_one_line
from entrez_kit.citations.write_ris import write_ris_record
from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.pubmed.encoded_markup import convert_to_plain_text
from entrez_kit.pubmed.models import Article, Standing
from entrez_kit.references.files.read_ris import read_ris
from entrez_kit.references.files.ris_tags import ABSTRACT_TAGS, AUTHOR_TAGS, JOURNAL_TAGS, TITLE_TAGS
from entrez_kit.references.files.tagged_fields import get_first_value, list_values
from entrez_kit.references.merge.entries import SOURCE_NOTE, Entry, read_entries
from entrez_kit.references.merge.signatures import fold_title
from entrez_kit.reviews.review_settings import fold_source

ID_FORM: Final = r"ek-[a-z0-9_]{1,30}-[0-9a-f]{1,16}"
ID: Final = re.compile(rf"(?<![\w-]){ID_FORM}(?![\w-])", re.IGNORECASE)
"""The id of a record, wherever a screening program wrote it."""
MAX_FIELDS: Final = 20_000
_LINE: Final = re.compile(r"([A-Z][A-Z0-9])  - (.*)")
FACETS: Final[dict[str, tuple[str, ...]]] = {
    "title": (*TITLE_TAGS, "TT"),
    "authors": AUTHOR_TAGS,
    "abstract": ABSTRACT_TAGS,
    "journal": (*JOURNAL_TAGS, "SN"),
    "date": ("PY", "Y1", "DA"),
    "place": ("VL", "IS", "SP", "EP"),
    "identifiers": ("DO", "C2", "AN"),
    "publication_types": ("TY", "M3"),
    "indexing": ("KW",),
    "language": ("LA",),
}
"""The parts of a record that are compared after an update."""

Tag = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9]$")]
RecordId = Annotated[str, StringConstraints(pattern=rf"^{ID_FORM}$")]
GoneReason = Literal["deleted", "merged", "no_longer_matching"]


class Gone(Result):
    """Why a search no longer finds a record, and since which run; ``successor`` is the PMID that replaced it."""

    run: int
    reason: GoneReason
    successor: str | None = omit_if_empty()


class ReviewRecord(Result):
    """A record that a source returned.

    ``added`` is the run that added it. ``file`` is the imported file; a record of a search has none. ``fields`` has all
    its fields as RIS tags and values. ``work`` is the id of the record that represents the same work: its own id unless
    it is a duplicate; absent before deduplication. ``family`` has related works, which stay separate.
    """

    RECORDS: ClassVar = ""

    id: RecordId
    source: str = Field(min_length=1, max_length=200)
    added: int = Field(ge=1)
    file: str | None = omit_if_empty()
    pmid: str | None = omit_if_empty()
    doi: str | None = omit_if_empty()
    pmcid: str | None = omit_if_empty()
    accession: str | None = omit_if_empty()
    fields: list[tuple[Tag, str]] = Field(max_length=MAX_FIELDS)
    standing: Standing | None = omit_if_empty()
    gone: Gone | None = omit_if_empty()
    work: RecordId | None = omit_if_empty()
    family: list[RecordId] = omit_if_empty([])

    @property
    def slug(self) -> str:
        """The source in its id and in the names of files."""
        return self.id.split("-")[1]

    @property
    def is_duplicate(self) -> bool:
        """Whether another record represents its work."""
        return self.work is not None and self.work != self.id

    @property
    def title(self) -> str:
        """Its title as plain text; "(no title)" without one."""
        title = get_first_value(self.fields, *TITLE_TAGS) or get_first_value(self.fields, "N1")
        return convert_to_plain_text(title) or "(no title)"

    @property
    def authors(self) -> list[str]:
        """The names of its authors."""
        return list_values(self.fields, *AUTHOR_TAGS)

    @property
    def journal(self) -> str:
        """Its journal."""
        return get_first_value(self.fields, *JOURNAL_TAGS) or ""

    @property
    def year(self) -> str:
        """Its year."""
        year = re.search(r"[12][0-9]{3}", get_first_value(self.fields, "PY", "Y1", "DA") or "")
        return year[0] if year else ""

    @property
    def abstract(self) -> str:
        """Its abstract."""
        return get_first_value(self.fields, *ABSTRACT_TAGS) or ""

    @property
    def url(self) -> str:
        """The address of its page in PubMed, or of its DOI; empty without both."""
        if self.pmid:
            return f"{PUBMED}{self.pmid}/"
        return f"https://doi.org/{self.doi}" if self.doi else ""

    def cite(self) -> str:
        """Return the record as one line for a person."""
        first = self.authors[0] + (" et al." if len(self.authors) > 1 else "") if self.authors else ""
        parts = [f"{first}." if first and not first.endswith(".") else first, f"{self.title.rstrip('.')}."]
        parts += [" ".join(filter(None, (self.journal, self.year)))]
        return " ".join(filter(None, parts))

    def list_facets(self) -> dict[str, list[str]]:
        """Return the values of each compared part."""
        values: dict[str, list[str]] = {name: [] for name in FACETS}
        for tag, value in self.fields:
            name = _FACET_OF.get(tag)
            if name is not None and value not in values[name]:
                values[name].append(value)
        return values


_FACET_OF: Final = {tag: name for name, tags in FACETS.items() for tag in tags}


def list_changes(old: ReviewRecord, new: ReviewRecord) -> list[str]:
    """Return the parts of a record that differ between two states."""
    before, after = old.list_facets(), new.list_facets()
    return [name for name in FACETS if sorted(before[name]) != sorted(after[name])]


def make_slug(source: str, taken: Collection[str] = ()) -> str:
    """Return the name of a source as a part of ids and file names.

    A name that is long, or has letters other than a to z, gets a checksum, so that two sources have different ids.

    Args:
        taken: the names of other sources.
    """
    folded = fold_source(source)
    slug = re.sub(r"[^a-z0-9]+", "_", folded).strip("_")
    if slug == folded.replace(" ", "_") and len(slug) <= MAX_SLUG and slug not in taken:
        return slug
    digest = hashlib.sha256(folded.encode()).hexdigest()[:CHECKSUM]
    return f"{slug[: MAX_SLUG - CHECKSUM - 1].strip('_') or 'source'}_{digest}"


MAX_SLUG: Final = 30
CHECKSUM: Final = 8


def sort_key(record: ReviewRecord) -> tuple[str, int, str]:
    """Return the key that orders records: by source, then by number or id."""
    return record.slug, len(record.id), record.id


def record_of_article(article: Article, source: str, run: int) -> ReviewRecord:
    """Return a PubMed record with the fields of its RIS record, and its publication types."""
    fields = [
        (match[1], match[2]) for line in write_ris_record(article).split("\n") if (match := _LINE.fullmatch(line))
    ]
    fields = [field for field in fields if field[0] != "ER"]
    known = {value for tag, value in fields if tag == "M3"}
    fields += [("M3", kind) for kind in article.publication_types if kind not in known]
    return ReviewRecord(
        id=make_pubmed_id(source, article.pmid),
        source=source,
        added=run,
        pmid=article.pmid,
        doi=article.doi,
        pmcid=article.pmcid,
        fields=fields,
        standing=article.standing,
    )


def make_pubmed_id(source: str, pmid: str) -> str:
    """Return the id of a record of PubMed."""
    return f"ek-{make_slug(source)}-{pmid}"


def record_without_data(pmid: str, source: str, run: int) -> ReviewRecord:
    """Return a record that the search listed and EFetch does not have: only its PMID is known."""
    note = "PubMed listed this PMID, but has no record of it."
    fields = [("TY", "JOUR"), ("AN", pmid), ("DB", "PubMed"), ("N1", note)]
    return ReviewRecord(id=make_pubmed_id(source, pmid), source=source, added=run, pmid=pmid, fields=fields)


def convert_entries(entries: Iterable[Entry], source: str, slug: str, run: int) -> Iterator[ReviewRecord]:
    """Yield the records of an imported file.

    The id depends on the source (its ``slug``) and the content of the record only, so that the same record of a later
    file has the same id. Equal records of one file are numbered.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for entry in entries:
        keys, content = entry.keys, _fingerprint(entry)
        seen[entry.file, content] += 1
        number = seen[entry.file, content]
        digest = content if number == 1 else _compute_digest(f"{content} {number}")
        is_pubmed = slug == "pubmed" and keys.get("pmid") and number == 1
        yield ReviewRecord(
            id=make_pubmed_id(source, keys["pmid"]) if is_pubmed else f"ek-{slug}-{digest}",
            source=source,
            added=run,
            file=entry.file,
            pmid=keys.get("pmid"),
            doi=keys.get("doi"),
            pmcid=keys.get("pmcid"),
            accession=keys.get("accession"),
            fields=[field for field in entry.original.fields if not _is_own(field)][:MAX_FIELDS],
        )


def _is_own(field: tuple[str, str]) -> bool:
    """Return whether this program wrote the field: an id of a record, or its sources."""
    tag, value = field
    return bool(ID.fullmatch(value.strip())) or (tag == "N1" and value.startswith((ID_NOTE, SOURCE_NOTE)))


ID_NOTE: Final = "record: "


def _fingerprint(entry: Entry) -> str:
    reference = entry.reference
    keys = [(kind, value) for kind, value in sorted(entry.keys.items()) if kind != "key"]
    title = fold_title(to_one_line(reference.title or reference.text))
    return _compute_digest(
        repr((title, reference.first_author, reference.year, reference.volume, reference.issue, reference.pages, keys))
    )


def _compute_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def convert_to_entries(records: Sequence[ReviewRecord]) -> list[Entry]:
    """Return records as entries to merge, with the ids of the records; one file for each source."""
    entries: list[Entry] = []
    sources = list(dict.fromkeys(record.source for record in records))
    for slot, source in enumerate(sources):
        chosen = [record for record in records if record.source == source]
        file = read_ris("\n".join(map(to_ris, chosen)) + "\n", source)
        read = list(read_entries(file, slot=slot, name=source, kind="ris", source=source, start=len(entries)))
        for record, entry in zip(chosen, read, strict=True):
            entry.id = record.id
            for kind in ("pmid", "doi", "pmcid", "accession"):
                if value := getattr(record, kind):
                    entry.keys[kind] = value
            entries.append(entry)
    return entries


def to_ris(record: ReviewRecord, more: Iterable[tuple[str, str]] = ()) -> str:
    """Return a record as RIS with all its fields, each on one line."""
    kind = get_first_value(record.fields, "TY") or "GEN"
    fields = [field for field in record.fields if field[0] not in ("TY", "ER")]
    lines = [f"{tag}  - {text}" for tag, value in (*fields, *more) if (text := to_one_line(value))]
    return "\n".join([f"TY  - {to_one_line(kind)}", *lines, "ER  - "])
