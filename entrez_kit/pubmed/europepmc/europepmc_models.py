"""The documents of Europe PMC: an article in the same shape as PubMed's, and what Europe PMC knows beside it."""

from typing import Final

from entrez_kit.core.model import Result, sparse
from entrez_kit.pubmed.models import Article

RECORD_ADDRESS: Final = "https://europepmc.org/article"


class FullTextLink(Result):
    """Where the text can be read, in what form, and whether it is free."""

    url: str
    site: str | None = sparse()
    style: str | None = sparse()
    availability: str | None = sparse()


class RecordVersion(Result):
    """One version of a preprint; each has an id and often a DOI of its own."""

    version: str
    source: str
    epmc_id: str
    doi: str | None = sparse()
    date: str | None = sparse()


class RelatedRecord(Result):
    """The preprint of an article (kind PreprintIn), the article a preprint became (PreprintOf), or another record.

    ``kind`` is written as NLM writes its RefTypes.
    """

    kind: str
    source: str
    epmc_id: str
    citation: str | None = sparse()


class EuropePMCArticle(Article):
    """One Europe PMC record; what is not in PubMed (preprints, patents, theses) has no PMID.

    ``source`` and ``epmc_id`` name it within Europe PMC: MED 12345678, PPR PPR123456. Of a preprint, ``journal_info``
    has the server as its title; ``related_records`` leads to the article it became, and back. ``features`` lists what
    Europe PMC says it has: pdf, book, supplement, data, references, text_mined_terms, author_manuscript ...
    ``issns`` are those of a brief record, which does not say what is print and what electronic.
    """

    pmid: str | None = sparse()  # type: ignore[assignment]  # records from elsewhere than PubMed have none
    source: str
    epmc_id: str
    is_open_access: bool | None = sparse()
    has_full_text: bool | None = sparse()
    full_text_ids: list[str] = sparse([])
    license: str | None = sparse()
    cited_by_count: int | None = sparse()
    preprint_server: str | None = sparse()
    versions: list[RecordVersion] = sparse([])
    related_records: list[RelatedRecord] = sparse([])
    issns: list[str] = sparse([])
    first_publication_date: str | None = sparse()
    publication_status: str | None = sparse()
    publication_model: str | None = sparse()
    subsets: list[str] = sparse([])
    full_text_links: list[FullTextLink] = sparse([])
    features: list[str] = sparse([])
    cross_reference_databases: list[str] = sparse([])
    accession_types: list[str] = sparse([])
    data_links: list[str] = sparse([])

    @property
    def key(self) -> str:
        """The PMID, or source and id for what has none ("PPR:PPR123456")."""
        return self.pmid or f"{self.source}:{self.epmc_id}"
