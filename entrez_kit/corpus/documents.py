"""Doc: a PubMed record in the form that the corpus stores, built from an Article."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from entrez_kit.corpus.chunking import Chunk, chunk_article
from entrez_kit.corpus.quality import Lasting, score_lasting_parts
from entrez_kit.corpus.store.packing import pack
from entrez_kit.corpus.times import find_entry_time, to_midnight
from entrez_kit.pubmed.models import Article, Author, Standing
from entrez_kit.pubmed.standing import RETRACTED, determine_standing_of_article, to_retraction_status
from entrez_kit.pubmed.xml.dates import format_iso_date

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
_CANONICAL: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class DocFields:
    """The stored fields of a record, with dates as corpus timestamps.

    ``content_hash`` covers title, abstract, journal, types and date. A new hash or a later ``lr`` makes a new version.
    """

    pmid: int
    title: str
    abstract: str | None
    journal: str | None
    pub_types: Sequence[str]
    mesh: Sequence[str]
    keywords: Sequence[str]
    authors: Sequence[str]
    year: int | None
    pdat: str | None
    edat: str | None
    lr: str | None
    pmcid: str | None
    doi: str | None
    standing: Standing | None
    quality: Lasting
    content_hash: str


@dataclass(frozen=True, slots=True)
class Doc(DocFields):
    """One record ready to be written to the corpus; ``article`` is packed."""

    retraction_status: str
    corrections: str | None
    article: bytes
    chunks: Sequence[Chunk]

    @classmethod
    def of(cls, article: Article) -> "Doc":
        """Convert an article."""
        journal = article.journal_info
        names = (journal.title, journal.iso_abbreviation) if journal else ()
        published = _find_publication_date(article)
        authors = [name for author in article.authors if (name := _format_name(author))]
        mesh = list(dict.fromkeys(term.descriptor_name for term in article.mesh_terms))
        pub_types = list(dict.fromkeys(article.publication_types))
        standing = article.standing or determine_standing_of_article(article)
        status = to_retraction_status(standing)
        content: dict[str, Any] = {
            "title": article.title,
            "abstract": article.abstract_text,
            "journal": journal.title if journal else None,
            "pub_types": pub_types,
            "pdat": published,
            "pmcid": article.pmcid,
        }
        return cls(
            pmid=int(article.pmid),
            **content,
            mesh=mesh,
            keywords=list(article.keywords),
            authors=authors,
            year=int(published[:4]) if published else None,
            edat=find_entry_time(article.history),
            lr=to_midnight(article.date_revised),
            doi=article.doi,
            retraction_status=status,
            standing=standing,
            quality=score_lasting_parts(
                pub_types=pub_types,
                mesh=mesh,
                journals=[name for name in names if name],
                retracted=status == RETRACTED,
            ),
            content_hash=hash_content(**content),
            corrections=encode_column([correction.model_dump() for correction in article.corrections])
            if article.corrections
            else None,
            article=pack(
                article.model_dump_json(),
                encode_column(authors),
                encode_column(mesh),
                article.title,
                article.abstract_text,
            ),
            chunks=chunk_article(article),
        )


def hash_content(*, pub_types: Sequence[str], **texts: str | None) -> str:
    """Return the SHA-256 of the canonical JSON of the fields that define a version of a record.

    MeSH headings are excluded: NLM revises them often although the article does not change. LR shows such revisions.
    """
    content = {**texts, "pub_types": sorted(pub_types)}
    return hashlib.sha256(_CANONICAL.encode(content).encode("utf-8", "surrogatepass")).hexdigest()


def encode_column(values: Sequence[Any]) -> str:
    """Encode a list for a column of the corpus."""
    return _ENCODER.encode(list(values))


def _find_publication_date(article: Article) -> str | None:
    """Return the publication date: the date of the issue, or else of the electronic publication."""
    journal = article.journal_info
    date = journal.publication_date if journal else None
    if date is not None and date.year:
        return format_iso_date(date.year, date.month, date.day)
    for other in article.article_dates:
        if other.year:
            return format_iso_date(other.year, other.month, other.day)
    return None


def _format_name(author: Author) -> str | None:
    if author.collective_name:
        return author.collective_name
    return " ".join(part for part in (author.last_name, author.initials) if part) or None
