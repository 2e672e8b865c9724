"""Read the records of files, with their identifiers and the databases that they come from."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha1
from pathlib import PurePath
from typing import Final

from entrez_kit.base.identifiers import read_identifier
from entrez_kit.citations.csl import to_one_line
from entrez_kit.references.files.references import OriginalRecord, Reference, ReferenceFile, find_identifiers
from entrez_kit.references.files.ris_tags import ABSTRACT_TAGS, JOURNAL_TAGS
from entrez_kit.references.files.tagged_fields import convert_reference, get_first_value, list_values
from entrez_kit.references.merge.signatures import RecordFields, Signature, build_signature, fold_title, read_doi

SOURCE_NOTE: Final = "source: "
_DATABASES: Final = (
    ("PubMed", r"pubmed(?! central)"),
    ("MEDLINE", r"medline"),
    ("Embase", r"embase|emtree"),
    ("CENTRAL", r"central|cochrane|cctr"),
    ("CINAHL", r"cinahl"),
    ("PsycINFO", r"psyc ?info|psycarticles|apa psyc"),
    ("Scopus", r"scopus"),
    ("Web of Science", r"web of (?:science|knowledge)|\bwos\b|wos_|science citation index"),
    ("Europe PMC", r"europe ?pmc"),
    ("Google Scholar", r"google ?scholar"),
    ("ERIC", r"\beric\b"),
    ("LILACS", r"lilacs"),
    ("ClinicalTrials.gov", r"clinicaltrials ?\.?gov|\bct ?gov\b"),
    ("ProQuest", r"proquest"),
    ("OpenAlex", r"openalex"),
    ("Crossref", r"crossref"),
    ("AMED", r"\bamed\b"),
    ("Global Health", r"global ?health"),
    ("IEEE Xplore", r"ieee"),
    ("ACM Digital Library", r"\bacm\b"),
    ("bioRxiv", r"biorxiv"),
    ("medRxiv", r"medrxiv"),
)
MAX_FIELD: Final = 1_000
"""Maximum number of compared characters of a field; the time grows with the product of the lengths of two texts."""
_NAMED: Final = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _DATABASES)
_HOSTS: Final = (
    ("PubMed", "pubmed.ncbi.nlm.nih.gov"),
    ("PubMed", "ncbi.nlm.nih.gov/pubmed"),
    ("Scopus", "scopus.com"),
    ("Embase", "embase.com"),
    ("CENTRAL", "cochranelibrary.com/central"),
    ("Web of Science", "webofscience"),
    ("Web of Science", "isiknowledge"),
    ("Europe PMC", "europepmc.org"),
    ("ClinicalTrials.gov", "clinicaltrials.gov/"),
)
_NUMBERS: Final = (
    ("Web of Science", re.compile(r"\b(?:WOS|ISI|MEDLINE|BIOSIS|CCC|KJD|RSCI|SCIELO):[A-Z]?[0-9]{9,15}\b")),
    ("Scopus", re.compile(r"\b2-s2\.0-[0-9]{6,}\b")),
    ("CENTRAL", re.compile(r"\bCN-[0-9]{6,9}\b")),
    ("Embase", re.compile(r"(?<![A-Za-z0-9])L[0-9]{7,12}\b")),
    ("Europe PMC", re.compile(r"\bPPR[0-9]+\b")),
)
"""Forms of accession numbers that only one database uses."""
_NUMBER_TAGS: Final = (
    "AN",
    "U1",
    "U2",
    "U3",
    "UT",
    "ID",
    "UR",
    "N1",
    "L2",
    "M1",
    "C1",
    "C2",
    "C3",
    "C4",
    "C5",
    "C6",
    "C7",
    "C8",
)
_REGISTRATION: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:NCT[0-9]{8}|ISRCTN ?[0-9]{8}|EUCTR[0-9]{4}-[0-9]{6}-[0-9]{2}|ACTRN[0-9]{14}|DRKS[0-9]{8}"
    r"|ChiCTR[0-9A-Z-]{4,20}|CTRI/[0-9]{4}/[0-9]{2,3}/[0-9]{4,6}|IRCT[0-9]{6,20}N?[0-9]*|KCT[0-9]{7}|PACTR[0-9]{15,16}"
    r"|(?:JPRN-)?UMIN[0-9]{9}|jRCTs?[0-9]{9,11}|NTR[0-9]{1,5}|RBR-[0-9a-z]{5,8}|TCTR[0-9]{11}|SLCTR/[0-9]{4}/[0-9]{3})"
    r"(?![0-9])",
    re.IGNORECASE,
)
"""Numbers of trials in the registers that the World Health Organization lists."""
_REGISTERS: Final = re.compile(
    r"clinicaltrials\.gov|trialsearch\.who\.int|isrctn\.(?:com|org)|clinicaltrialsregister\.eu|anzctr\.org\.au|drks\.de"
    r"|chictr\.org",
    re.IGNORECASE,
)
_REGISTRATION_TAGS: Final = ("AN", "ID", "UR", "C3", "T2", "AU", "A1")
_OTHER_PMIDS: Final = ("C7", "U1", "U2", "U3", "M1", "C8")
_PUBMED_NUMBER: Final = re.compile(r"\bPUBMED ([0-9]{5,8})\b")
_EMBASE_NUMBER: Final = re.compile(r"\bEMBASE ([0-9]{7,12})\b")
_PMID: Final = re.compile(r"(?:PMID:?\s*)?([0-9]{6,8})", re.IGNORECASE)


_READ: Final = Reference(key="")
"""Replaces a reference of a file after its entry was made."""


@dataclass(frozen=True, slots=True)
class CitationParts:
    """The parts of a reference that a merge shows or writes. Large files need a tenth of the memory of references."""

    first_author: str
    author_count: int
    title: str | None
    text: str | None
    journal: str | None
    year: str | None
    volume: str | None
    issue: str | None
    pages: str | None
    doi: str | None
    pmid: str | None
    pmcid: str | None


def _shorten_reference(reference: Reference) -> CitationParts:
    """Return the parts of a reference that stay in memory."""
    return CitationParts(
        *(
            reference.authors[0].text if reference.authors else "",
            len(reference.authors),
            reference.title,
            reference.text,
            reference.journal,
            reference.year,
        ),
        *(reference.volume, reference.issue, reference.pages, reference.doi, reference.pmid, reference.pmcid),
    )


@dataclass(slots=True, eq=False)
class Entry:
    """A record of a file.

    Args:
        id: the file and the position, "embase.ris#12".
        slot: the position of the file among the files.
        index: the position in the file, from 1.
        sources: the databases that the record comes from.
        keys: its identifiers by kind: pmid, doi, pmcid, key, accession.
        fingerprint: identifies the record in a later run, when its file may have other records.
    """

    id: str
    slot: int
    file: str
    index: int
    kind: str
    reference: CitationParts
    original: OriginalRecord
    sources: tuple[str, ...]
    keys: dict[str, str]
    signature: Signature
    fingerprint: str

    def get_first(self, *tags: str) -> str | None:
        """Return the first value of these fields."""
        return get_first_value(self.original.fields, *tags)

    @property
    def richness(self) -> tuple[int, ...]:
        """How complete the record is; larger is better. A tie is decided by the name of the file and the position."""
        reference = self.reference
        core = (
            reference.title,
            reference.author_count,
            reference.journal,
            reference.year,
            reference.volume,
            reference.issue,
            reference.pages,
        )
        abstract = self.get_first(*ABSTRACT_TAGS) or ""
        return (
            3 * bool(abstract) + 2 * bool(reference.pmid) + 2 * bool(self.keys.get("doi")) + sum(map(bool, core)),
            len({tag for tag, _ in self.original.fields}),
            len(abstract),
            reference.author_count,
            len(self.original.fields),
        )


def read_entries(
    file: ReferenceFile | Sequence[Reference],
    *,
    slot: int,
    name: str,
    kind: str,
    source: str | None,
    start: int,
) -> Iterator[Entry]:
    """Yield the records of a file.

    Args:
        slot: the position of the file among the files.
        name: the unique name of the file.
        kind: its format.
        source: the database of all its records; by default it is detected for each record.
        start: the number of records of the files before it.
    """
    references = file.references if isinstance(file, ReferenceFile) else list(file)
    for number, reference in enumerate(references):
        if isinstance(file, ReferenceFile):
            original = file.get_original(number)
        else:
            original = OriginalRecord(convert_reference(reference))
        fields = original.fields
        sources = (source,) if source else _list_sources(fields, name, kind)
        keys = dict(_yield_keys(reference, original, sources[0]))
        yield Entry(
            id=f"{name}#{number + 1}",
            slot=slot,
            file=name,
            index=number + 1,
            kind=kind,
            reference=_shorten_reference(reference),
            original=original,
            sources=sources,
            keys=keys,
            signature=_build_signature(start + number, reference, original, keys, sources[0]),
            fingerprint=_fingerprint(reference, keys),
        )
        if isinstance(file, ReferenceFile):  # a reference needs more memory than its entry
            references[number] = _READ


def find_database_name(text: str) -> str | None:
    """Return the database that a text names; None if it names none."""
    return next((name for name, pattern in _NAMED if pattern.search(text)), None)


def _list_sources(fields: Sequence[tuple[str, str]], name: str, kind: str) -> tuple[str, ...]:
    """Return the databases of a record: of its note, its fields, its accession number, or the name of its file."""
    notes = [value for tag, value in fields if tag == "N1"]
    for note in notes:
        if note.startswith(SOURCE_NOTE):
            return tuple(part.strip() for part in note.removeprefix(SOURCE_NOTE).split(";") if part.strip())
    for tag in ("DB", "DP", "PB" if kind == "csv" else "DB", "LB"):
        if (value := get_first_value(fields, tag)) and (database := find_database_name(value)):
            return (database,)
    if kind == "nbib":
        return ("PubMed",)
    for tag, value in fields:
        if tag in ("AN", "UT", "U2", "ID", "UR", "L2"):
            for database, pattern in _NUMBERS:
                if pattern.search(value):
                    return (database,)
    for value in list_values(fields, "UR") + list_values(fields, "L2"):
        for database, host in _HOSTS:
            if host in value and database != "PubMed":
                return (database,)
    file = PurePath(name).name
    database = find_database_name(re.sub(r"[_-]+", " ", file.rpartition(".")[0] or file))
    value = get_first_value(fields, "DB", "DP")
    return (database or value or PurePath(file).stem or file,)


def _yield_keys(reference: Reference, original: OriginalRecord, source: str) -> Iterator[tuple[str, str]]:
    fields = original.fields
    pmid = reference.pmid
    # Embase.com writes the PMID in C5, CENTRAL in C3. C7 can also be an article number.
    numbers = (get_first_value(fields, "C5") or "", *_PUBMED_NUMBER.findall(get_first_value(fields, "C3") or ""))
    if not pmid and (match := next(filter(None, map(_PMID.fullmatch, numbers)), None)):
        pmid = match[1].lstrip("0")
    if pmid:
        yield "pmid", pmid
    doi = reference.doi or next(
        (
            found
            for tag in ("C3", "C5", "C6", "C7", "U2", "L3", "M3", "LK")
            if (found := _find_doi(get_first_value(fields, tag)))
        ),
        None,
    )
    if doi:
        yield "doi", doi
    if reference.pmcid:
        yield "pmcid", reference.pmcid
    number = get_first_value(fields, "AN", "UT")
    if (number and number != pmid and read_doi(number) != read_doi(doi)) or (number := get_first_value(fields, "U2")):
        yield "accession", number
    if reference.key and not reference.key.startswith(("record ", "item ", "line ")) and reference.key != pmid:
        yield "key", reference.key


def _find_doi(text: str | None) -> str | None:
    if not text or "10." not in text:
        return None
    identifier = read_identifier(text)
    return (
        identifier.value if identifier is not None and identifier.kind == "doi" else find_identifiers(text).get("doi")
    )


def _shorten(text: str | None) -> str | None:
    """Return a field without runs of white space and longer than any real one."""
    return None if text is None else " ".join(text.split())[:MAX_FIELD]


def _build_signature(
    number: int, reference: Reference, original: OriginalRecord, keys: dict[str, str], source: str
) -> Signature:
    fields = original.fields
    title, authors = _shorten(reference.title), reference.authors
    if not title and reference.text:
        from entrez_kit.references.check.pasted.guessing import guess_parts

        guess = guess_parts(reference.text)
        title = _shorten(next(iter(guess.titles), None))
    kinds = [value for tag, value in fields if tag in ("TY", "M3", "PT") and len(value) < 80]
    record = RecordFields(
        title=title,
        authors=[
            (author.group or author.family or "", "" if author.group else author.given or "") for author in authors
        ],
        journal=_shorten(reference.journal or get_first_value(fields, *JOURNAL_TAGS)),
        year=reference.year,
        volume=reference.volume,
        issue=reference.issue,
        pages=_shorten(reference.pages),
        doi=_shorten(keys.get("doi")),
        pmid=keys.get("pmid"),
        pmcid=keys.get("pmcid"),
        ids=frozenset(_yield_accessions(fields, keys, source)),
        registrations=_list_registrations(fields, kinds),
        abstract=get_first_value(fields, *ABSTRACT_TAGS) or "",
        kind=" ".join(_KIND_WORDS.get(kind, kind) for kind in kinds),
    )
    return build_signature(number, record)


_KIND_WORDS: Final = {
    "CONF": "conference",
    "CPAPER": "conference",
    "ABST": "conference",
    "UNPB": "",
    "PREP": "preprint",
}


def _list_registrations(fields: Sequence[tuple[str, str]], kinds: Sequence[str]) -> frozenset[str]:
    """Return the numbers of a record of a trial register: by its type, its number as id or author, or its address."""
    named = [(tag, value) for tag, value in fields if tag in _REGISTRATION_TAGS and len(value) <= MAX_FIELD]
    is_registration = any("registry record" in kind.casefold() for kind in kinds) or any(
        _REGISTERS.search(value) if tag in ("UR", "T2") else _REGISTRATION.fullmatch(value.strip(" ,;"))
        for tag, value in named
        if tag != "C3"
    )
    if not is_registration:
        return frozenset()
    found = {match.upper().replace(" ", "") for _, value in named for match in _REGISTRATION.findall(value)}
    return frozenset(number.removeprefix("JPRN-") for number in found)


def _yield_accessions(
    fields: Sequence[tuple[str, str]], keys: dict[str, str], source: str
) -> Iterator[tuple[str, str]]:
    """Yield the numbers of a record in databases; the pairs are compared with those of other records."""
    for tag, value in fields:
        if tag in _NUMBER_TAGS:
            for database, pattern in _NUMBERS:
                for match in pattern.findall(value):
                    yield database, match.upper()
        if tag == "C3":
            yield from (("Embase", f"L{number}") for number in _EMBASE_NUMBER.findall(value))
        if "pmid" not in keys and tag in _OTHER_PMIDS and (match := _PMID.fullmatch(value.strip())):
            yield "PubMed", match[1].lstrip("0")
    if "pmid" in keys:
        yield "PubMed", keys["pmid"]
    if (number := get_first_value(fields, "AN")) and number != keys.get("pmid") and len(number) > 4:
        has_prefix = source == "Embase" and re.fullmatch("[0-9]{7,12}", number)
        yield source, f"L{number}" if has_prefix else number.upper()


def _fingerprint(reference: Reference, keys: dict[str, str]) -> str:
    first = reference.authors[0].text if reference.authors else ""
    title = fold_title(to_one_line(reference.title or reference.text))
    parts = (title, first, reference.year or "", reference.volume or "", reference.pages or "", *sorted(keys.items()))
    return sha1(repr(parts).encode(), usedforsecurity=False).hexdigest()[:12]
