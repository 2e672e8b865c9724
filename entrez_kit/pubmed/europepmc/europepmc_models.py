"""Result models of Europe PMC: PubMed's article with additional fields."""

from typing import Final

from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.pubmed.models import Article

RECORD_ADDRESS: Final = "https://europepmc.org/article"


class FullTextLink(Result):
    """A link to the full text, with its format and availability."""

    url: str
    site: str | None = omit_if_empty()
    style: str | None = omit_if_empty()
    availability: str | None = omit_if_empty()


class RecordVersion(Result):
    """One version of a preprint; each version has its own id and often its own DOI."""

    version: str
    source: str
    epmc_id: str
    doi: str | None = omit_if_empty()
    date: str | None = omit_if_empty()


class RelatedRecord(Result):
    """The preprint of an article (kind PreprintIn), the article of a preprint (PreprintOf), or another record.

    ``kind`` has the form of NLM's RefTypes.
    """

    kind: str
    source: str
    epmc_id: str
    citation: str | None = omit_if_empty()


class EuropePMCArticle(Article):
    """One Europe PMC record. Records that are not in PubMed (preprints, patents, theses) have no PMID.

    ``source`` and ``epmc_id`` identify it in Europe PMC: MED 12345678, PPR PPR123456. For a preprint, the title in
    ``journal_info`` is the server. ``related_records`` links a preprint with its published article. ``features`` lists
    what Europe PMC has for the record: pdf, book, supplement, data, references, text_mined_terms, author_manuscript ...
    ``issns`` are the ISSNs of a brief record, which does not distinguish print and electronic ones.
    """

    pmid: str | None = omit_if_empty()  # type: ignore[assignment]  # records of other sources have no PMID
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
        """The PMID, or else source and id ("PPR:PPR123456")."""
        return self.pmid or f"{self.source}:{self.epmc_id}"
