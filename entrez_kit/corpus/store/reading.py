"""Read the records of the corpus: parts for results, whole articles, and rows for exports."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from entrez_kit.base.sqlite_failures import DamagedData
from entrez_kit.corpus.documents import DocFields, hash_content
from entrez_kit.corpus.quality import Lasting
from entrez_kit.corpus.store.packing import BESIDE, unpack
from entrez_kit.pubmed.models import Article, RetractionStatus
from entrez_kit.pubmed.standing import determine_standing, determine_standing_of_article, to_retraction_status

_PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class StoredDoc(DocFields):
    """A stored record without the whole article."""

    status: str
    version: int
    first_seen_at: str
    last_seen_at: str

    @property
    def retraction_status(self) -> RetractionStatus:
        """The value of ``retraction_status`` for this record."""
        return to_retraction_status(self.standing)


_DOC: Final = (
    "pmid, title, abstract, journal, pub_types, mesh, keywords, authors, year, pdat, edat, lr, pmcid, doi, "
    "status, design, journal_tier, human, content_hash, version, first_seen_at, last_seen_at, "
    "corrections"
)


def read_documents(connection: sqlite3.Connection, pmids: Sequence[int]) -> dict[int, StoredDoc]:
    """Return records by PMID; records not in the corpus are omitted."""
    rows = connection.execute(
        f"SELECT {_DOC} FROM documents WHERE pmid IN (SELECT value FROM json_each(?))", (json.dumps(list(pmids)),)
    )
    return {row["pmid"]: _read_doc(row) for row in rows}


def _read_doc(row: sqlite3.Row) -> StoredDoc:
    verify_content(row)
    stored = dict(row)
    lists = {name: json.loads(stored.pop(name)) for name in ("pub_types", "mesh", "keywords", "authors")}
    standing = determine_standing(
        publication_types=lists["pub_types"],
        corrections=json.loads(stored.pop("corrections") or "[]"),
        title=row["title"],
        abstract=row["abstract"],
    )
    quality = Lasting(*(stored.pop(name) for name in ("design", "journal_tier", "human")))
    return StoredDoc(**stored, **lists, standing=standing, quality=quality)


def verify_content(row: sqlite3.Row) -> None:
    """Compare the content of a record with its hash.

    Raises:
        sqlite3.DatabaseError: they differ, because bytes of the file were changed.
    """
    texts = {name: row[name] for name in ("title", "abstract", "journal", "pdat", "pmcid")}
    try:
        is_whole = hash_content(pub_types=json.loads(row["pub_types"]), **texts) == row["content_hash"]
    except TypeError:  # damage turned a text into bytes or a number
        is_whole = False
    if not is_whole:
        raise DamagedData(f"malformed record: the content of PMID {row['pmid']}")


def read_articles(connection: sqlite3.Connection, query_key: str | None = None) -> Iterator[Article]:
    """Yield the whole records of the corpus, or of one query, by PMID, in constant memory."""
    last = -1
    while page := read_articles_after(connection, last, query_key):
        yield from page
        last = int(page[-1].pmid)


def read_articles_after(connection: sqlite3.Connection, pmid: int, query_key: str | None = None) -> list[Article]:
    """Return the next page of whole records after a PMID."""
    source = "documents" if query_key is None else "membership JOIN documents USING (pmid)"
    chosen = "" if query_key is None else "query_key = :query_key AND"
    rows = connection.execute(
        f"SELECT article, {', '.join(BESIDE)} FROM {source} WHERE {chosen} pmid > :after AND status = 'current' "
        f"ORDER BY pmid LIMIT {_PAGE}",
        {"after": pmid, "query_key": query_key},
    )
    return [_add_standing(Article.model_validate_json(unpack(*row))) for row in rows]


def _add_standing(article: Article) -> Article:
    """Add the publication status to a record that an earlier version stored without it."""
    standing = article.standing or determine_standing_of_article(article)
    update = {"standing": standing, "retraction_status": to_retraction_status(standing)}
    return article if standing is article.standing else article.model_copy(update=update)


LISTS: Final = ("authors", "pub_types", "mesh", "keywords")
NUMBERS: Final = ("year", "version")
COLUMNS: Final = (
    *("pmid", "title", "abstract", "journal", "pdat", "edat", "lr", "doi", "pmcid", "retraction_status"),
    *(*LISTS, *NUMBERS, "first_seen_at", "last_seen_at"),
)
"""The columns of an exported row."""


def iter_rows(connection: sqlite3.Connection, query_key: str | None) -> Iterator[dict[str, Any]]:
    """Yield the records of the corpus, or of one query, by PMID."""
    source = "documents" if query_key is None else "membership JOIN documents USING (pmid)"
    chosen = "" if query_key is None else "query_key = :key AND"
    found = connection.execute(
        f"SELECT {', '.join(COLUMNS)} FROM {source} WHERE {chosen} status = 'current' ORDER BY pmid",
        {"key": query_key},
    )
    for row in found:
        yield {name: json.loads(row[name]) if name in LISTS else row[name] for name in COLUMNS}
