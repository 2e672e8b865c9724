"""The documents of Europe PMC: an article in the same shape as PubMed's, and what Europe PMC knows beside it."""

from typing import Final

from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.pubmed.models import Article

RECORD_ADDRESS: Final = "https://europepmc.org/article"


class FullTextLink(Result):
    """Where the text can be read, in what form, and whether it is free."""

    url: str
    site: str | None = omit_if_empty()
    style: str | None = omit_if_empty()
    availability: str | None = omit_if_empty()


class RecordVersion(Result):
    """One version of a preprint; each has an id and often a DOI of its own."""

    version: str
    source: str
    epmc_id: str
    doi: str | None = omit_if_empty()
    date: str | None = omit_if_empty()


class RelatedRecord(Result):
    """The preprint of an article (kind PreprintIn), the article a preprint became (PreprintOf), or another record.

    ``kind`` is written as NLM writes its RefTypes.
    """

    kind: str
    source: str
    epmc_id: str
    citation: str | None = omit_if_empty()


class EuropePMCArticle(Article):
    """One Europe PMC record; what is not in PubMed (preprints, patents, theses) has no PMID.

    ``source`` and ``epmc_id`` name it within Europe PMC: MED 12345678, PPR PPR123456. Of a preprint, ``journal_info``
    has the server as its title; ``related_records`` leads to the article it became, and back. ``features`` lists what
    Europe PMC says it has: pdf, book, supplement, data, references, text_mined_terms, author_manuscript ...
    ``issns`` are those of a brief record, which does not say what is print and what electronic.
    """

    pmid: str | None = omit_if_empty()  # type: ignore[assignment]  # records from elsewhere than PubMed have none
    source: str
    epmc_id: str
    is_open_access: bool | None = omit_if_empty()
    has_full_text: bool | None = omit_if_empty()
    full_text_ids: list[str] = omit_if_empty([])
    license: str | None = omit_if_empty()
    cited_by_count: int | None = omit_if_empty()
    preprint_server: str | None = omit_if_empty()
    versions: list[RecordVersion] = omit_if_empty([])
    related_records: list[RelatedRecord] = omit_if_empty([])
    issns: list[str] = omit_if_empty([])
    first_publication_date: str | None = omit_if_empty()
    publication_status: str | None = omit_if_empty()
    publication_model: str | None = omit_if_empty()
    subsets: list[str] = omit_if_empty([])
    full_text_links: list[FullTextLink] = omit_if_empty([])
    features: list[str] = omit_if_empty([])
    cross_reference_databases: list[str] = omit_if_empty([])
    accession_types: list[str] = omit_if_empty([])
    data_links: list[str] = omit_if_empty([])

    @property
    def key(self) -> str:
        """The PMID, or source and id for what has none ("PPR:PPR123456")."""
        return self.pmid or f"{self.source}:{self.epmc_id}"
