"""The PMC database of the sandbox: the articles of the corpus that have a PMCID."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pyroaring import BitMap

from entrez_kit.local.eutils import summaries
from entrez_kit.local.eutils.database import Database, FetchCall, LinkInfo, SearchCall, SearchOutcome
from entrez_kit.local.eutils.pubmed import Pmids, PubMedDatabase
from entrez_kit.local.eutils.replies import LocalReply, answer_xml
from entrez_kit.local.records.document import Document
from entrez_kit.local.records.text import escape_xml
from entrez_kit.query.fields import Field
from entrez_kit.sandbox.pmc_text import render_article

ARTICLE_SET: Final = (
    '<?xml version="1.0"  ?><!DOCTYPE pmc-articleset PUBLIC "-//NLM//DTD ARTICLE SET 2.0//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pmc/articleset/nlm-articleset-2.0.dtd">'
)
_FILTER: Final = "pubmed pmc"
"""The filter for articles with a PMCID."""


class PmcIds(Pmids):
    """PMCIDs of numbered articles, stored as record numbers to save memory."""

    def _read_ids(self, numbers: Sequence[int]) -> Sequence[str]:
        return [self.collection.read_document(number).pmcid.removeprefix("PMC") for number in numbers]


class PmcDatabase(Database):
    """PMC with PubMed's query language. A few articles of the demo corpus have a full text, the others front matter."""

    name = "pmc"
    menu = "PMC"
    description = "PubMed Central"
    summary_dtd = "20130612"
    links = (
        LinkInfo("pmc_pubmed", "pubmed", "PubMed Links", "The article in PubMed", 150),
        LinkInfo("pmc_refs_pubmed", "pubmed", "Cited articles", "PubMed articles cited by this one", 150),
    )

    def __init__(self, pubmed: PubMedDatabase) -> None:
        self._pubmed, self._collection = pubmed, pubmed.collection

    @property
    def _all(self) -> BitMap:
        return self._collection.index.find_value("filter", _FILTER)

    @property
    def count(self) -> int:
        """Number of articles."""
        return len(self._all)

    def search(self, request: SearchCall) -> SearchOutcome:
        """Find articles as PubMed does, and return their PMC ids.

        Raises:
            BadRequest: the query names a history set that does not exist.
        """
        uid = re.fullmatch(r"\s*([0-9]+)\[(?:uid|pmcid)\]\s*", request.term, re.IGNORECASE)
        if uid:
            numbers = self._collection.index.find_value("aid", f"pmc{self.to_canonical(uid[1])}")
            return SearchOutcome(ids=PmcIds(self._collection, numbers), translation=f"{uid[1]}[UID]")

        def find_earlier(number: int) -> Sequence[str] | None:
            stored_ids = request.history(number)
            return Pmids(stored_ids.collection, stored_ids.numbers) if isinstance(stored_ids, PmcIds) else None

        term = f"({request.term}) AND {_FILTER}[sb]"
        outcome = self._pubmed.search(replace(request, term=term, history=find_earlier))
        assert isinstance(outcome.ids, Pmids)
        return replace(outcome, ids=PmcIds(outcome.ids.collection, outcome.ids.numbers))

    def _find_document(self, uid: str) -> Document | None:
        canonical = self.to_canonical(uid)
        return None if canonical is None else self._collection.find_document("aid", f"pmc{canonical}")

    def build_summary(self, uid: str) -> Mapping[str, Any] | None:
        """Return the version 2 summary: a few of PubMed's fields."""
        document = self._find_document(uid)
        if document is None:
            return None
        whole = summaries.build_summary(document, 0)
        names = ("PubDate", "EPubDate", "Source", "Authors", "Title", "Volume", "Issue", "Pages", "ArticleIds")
        return {name: whole[name] for name in names}

    def fetch(self, request: FetchCall) -> LocalReply:
        """Return articles with full text if the demo corpus has it, otherwise only the front matter.

        Raises:
            BadRequest: no id is valid.
        """
        self.to_canonical_ids(request.ids)  # raises BadRequest if no id is valid
        parts = []
        for uid in request.ids:
            document = self._find_document(uid)
            if document is None:
                parts.append(
                    f'<error id="{escape_xml(uid)}">The following PMCID is not available: {escape_xml(uid)}</error>'
                )
            else:
                parts.append(render_article(document))
        return answer_xml(f"{ARTICLE_SET}<pmc-articleset>{''.join(parts)}</pmc-articleset>\n")

    def find_links(self, link: str, uid: str) -> Sequence[tuple[str, int]]:
        """Return the PMID of the article, or the PMIDs that it cites."""
        document = self._find_document(uid)
        if document is None:
            return ()
        if link == "pmc_pubmed":
            return [(document.pmid, 0)]
        known = self._collection.find_number
        return [(pmid, 0) for pmid in dict.fromkeys(document.cited_pmids) if known(pmid) is not None]

    def list_fields(self) -> Sequence[tuple[Field, int]]:
        """Return the search fields that EInfo lists, with their numbers of terms."""
        return self._pubmed.list_fields()
