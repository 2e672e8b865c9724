"""Invented records for tests of the corpus, as articles and as the XML that a sandbox serves."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from indexed_corpus import read_index

from entrez_kit.corpus.store import writing
from entrez_kit.corpus.store.store import Store
from entrez_kit.corpus.times import stamp
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.records import iter_records


def mark_deleted(store: Store, pmids: Sequence[int]) -> list[int]:
    """Mark records as withdrawn from PubMed; return those that were not marked before."""
    with store.writing() as connection:
        return writing.mark_deleted(connection, pmids, stamp(store.clock()))


@dataclass(frozen=True)
class Paper:
    """An invented record, as a test wants it."""

    pmid: int
    title: str = "Invented title"
    abstract: str | Sequence[tuple[str, str]] = "One invented sentence about zebrafish."
    entered: str = "2024-03-01"
    created: str | None = None
    revised: str | None = "2024-03-10"
    published: tuple[int, str, int] = (2024, "Feb", 3)
    types: Sequence[str] = ("Journal Article",)
    mesh: Sequence[str] = ()
    journal: str = "Journal of Invented Results"
    retracted_in: str | None = None

    def xml(self) -> str:
        """Return the record as PubMed would send it."""
        year, month, day = self.published
        sections = [("", self.abstract)] if isinstance(self.abstract, str) else self.abstract
        abstract = "".join(
            f"<AbstractText{f' Label={chr(34)}{label}{chr(34)}' if label else ''}>{escape(text)}</AbstractText>"
            for label, text in sections
            if text
        )
        notice = (
            f'<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><RefSource>{self.retracted_in}'
            "</RefSource></CommentsCorrections></CommentsCorrectionsList>"
        )
        headings = "".join(
            f'<MeshHeading><DescriptorName UI="D000001" MajorTopicYN="N">{name}</DescriptorName></MeshHeading>'
            for name in self.mesh
        )
        return (
            f'<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{self.pmid}</PMID>'
            f"{_write_date('DateRevised', self.revised) if self.revised else ''}"
            f'<Article PubModel="Print"><Journal><JournalIssue CitedMedium="Print"><PubDate><Year>{year}</Year>'
            f"<Month>{month}</Month><Day>{day}</Day></PubDate></JournalIssue><Title>{escape(self.journal)}</Title>"
            f"</Journal><ArticleTitle>{escape(self.title)}</ArticleTitle>"
            f"{f'<Abstract>{abstract}</Abstract>' if abstract else ''}<Language>eng</Language><PublicationTypeList>"
            f"{''.join(f'<PublicationType>{kind}</PublicationType>' for kind in self.types)}</PublicationTypeList>"
            f"</Article>{notice if self.retracted_in else ''}"
            f"{f'<MeshHeadingList>{headings}</MeshHeadingList>' if headings else ''}</MedlineCitation>"
            "<PubmedData><History>"
            f"{_write_event('entrez', self.created or self.entered)}"
            f"{_write_event('pubmed', self.entered) if self.created else ''}"
            f'</History><ArticleIdList><ArticleId IdType="pubmed">{self.pmid}</ArticleId></ArticleIdList></PubmedData>'
            "</PubmedArticle>"
        )

    def change_with(self, **changes: Any) -> "Paper":
        """Return the record with changes."""
        return replace(self, **changes)

    def article(self) -> Article:
        """Return the record as the parser reads it."""
        return next(iter_records(write_document([self]))).article()


def _write_event(kind: str, day: str) -> str:
    return _write_date("PubMedPubDate", day, f' PubStatus="{kind}"')


def _write_date(name: str, day: str, attributes: str = "") -> str:
    year, month, number = day.split("-")
    return f"<{name}{attributes}><Year>{year}</Year><Month>{int(month)}</Month><Day>{int(number)}</Day></{name}>"


def write_document(papers: Iterable[Paper]) -> bytes:
    """Return records as one PubMed document."""
    records = "\n".join(paper.xml() for paper in papers)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<PubmedArticleSet>\n{records}\n</PubmedArticleSet>\n'.encode()


def write_file(folder: Path, papers: Iterable[Paper], name: str = "records.xml") -> Path:
    """Write records into a file that a sandbox can serve."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(write_document(papers))
    return path


def make_series(number: int, first: str = "2024-01-01", pmid: int = 1001) -> list[Paper]:
    """Return this number of records, entered a day apart."""
    start = datetime.fromisoformat(first)
    return [
        Paper(
            pmid + place,
            title=f"Invented title {place}",
            entered=(start + timedelta(days=place)).date().isoformat(),
            revised=(start + timedelta(days=place + 9)).date().isoformat(),
        )
        for place in range(number)
    ]


class Clock:
    """A clock that does not move until a test moves it."""

    def __init__(self, moment: str = "2026-01-05T12:00:00") -> None:
        self.moment = datetime.fromisoformat(moment).replace(tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def move(self, **time: float) -> None:
        """Let time pass."""
        self.moment += timedelta(**time)


def list_rows(store: Store, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Return what a query finds, as plain tuples."""
    with store.reading() as connection:
        return [tuple(row) for row in connection.execute(sql, parameters)]


def read_contents(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Return everything that must not depend on when and in how many steps it was written."""
    documents = (
        "pmid, title, abstract, journal, pub_types, mesh, keywords, authors, year, pdat, edat, lr, pmcid, doi, "
        "retraction_status, status, design, journal_tier, human, content_hash, version, hex(article), corrections"
    )
    return {
        "documents": list_rows(store, f"SELECT {documents} FROM documents ORDER BY pmid"),
        "versions": list_rows(
            store,
            "SELECT pmid, version, change, title, abstract, pub_types, pdat, retraction_status, content_hash, lr "
            "FROM versions ORDER BY pmid, version",
        ),
        "chunks": list_rows(store, "SELECT pmid, chunk_id, uuid, section, text, tokens FROM chunks ORDER BY uuid"),
        "vectors": list_rows(
            store,
            "SELECT uuid, model, hex(vector) FROM vectors AS v JOIN chunks AS c ON c.id = v.chunk_id ORDER BY 1, 2",
        ),
        "membership": list_rows(store, "SELECT query_key, pmid FROM membership ORDER BY 1, 2"),
        "checkpoints": list_rows(store, "SELECT query_key, term, last_edat FROM checkpoints ORDER BY 1"),
        "outbox": list_rows(store, "SELECT uuid, operation FROM outbox ORDER BY uuid"),
        "queued": list_rows(store, "SELECT pmid FROM lexical_queue"),
        "words": [(read_index(connection),) for connection in _read(store)],
    }


def _read(store: Store) -> Iterator[sqlite3.Connection]:
    with store.reading() as connection:
        yield connection
