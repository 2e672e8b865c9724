"""Look up one record of the corpus, with its quality as of today."""

import re
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from entrez_kit.base.errors import EntityNotFound
from entrez_kit.base.frontend_text import FrontendText, NextCall
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.core.model import WrongValue, omit_if_empty
from entrez_kit.corpus.demo import open_corpus
from entrez_kit.corpus.models import ClosedResult, CorpusRequest
from entrez_kit.corpus.quality import Quality, score_record
from entrez_kit.pubmed.models import Standing
from entrez_kit.pubmed.standing import RETRACTED
from entrez_kit.services import Services


def _check_doc_id(value: object) -> object:
    """Check a doc_id before the pattern does, for a clearer message."""
    if isinstance(value, str):
        match = _DOC_ID.fullmatch(value)
        identifier = read_identifier(match[1]) if match else None
        if identifier is None or identifier.kind != "pmid":
            raise WrongValue("a PMID, such as pmid:38400100")
    return value


_DOC_ID: Final = re.compile(r"pmid:([0-9]+)")
DocId = Annotated[str, BeforeValidator(_check_doc_id)]


class RagGetRequest(CorpusRequest):
    """The record to look up."""

    doc_id: DocId = Field(pattern=r"^pmid:[0-9]+$", description="pmid: and the PMID.")
    details: bool = Field(
        default=False,
        description="Add the status (`standing`).",
        exclude_if=lambda value: value is False,
    )


_COLUMNS: Final = ("title", "abstract", "journal", "pub_types", "pdat", "edat", "lr", "pmcid", "version")


class RagDocument(ClosedResult):
    """A record of the corpus; ``version`` counts its revisions since it was first fetched."""

    doc_id: str
    title: str | None
    abstract: str | None = None
    journal: str | None
    pub_types: list[str]
    pdat: str | None = None
    edat: str | None = None
    lr: str | None = None
    pmcid: str | None = None
    quality: Quality
    version: int = Field(ge=1)
    standing: Standing | None = omit_if_empty()


def rag_get(services: Services, request: RagGetRequest) -> RagDocument:
    """Return one record of the corpus: title, abstract, dates, quality.

    Use it after rag_search, e.g. doc_id "pmid:38400100".

    Raises:
        EntityNotFound: the corpus does not have the record, or PubMed has withdrawn it.
        StoreError: the corpus cannot be read.
    """
    number = request.doc_id.removeprefix("pmid:")
    store = open_corpus(services)
    found = store.get_pubmed_doc(number)
    if found is None:
        raise EntityNotFound(
            f"The corpus has no record {number}.",
            invalid_input=request.doc_id,
            recovery_hint=FrontendText(
                *("To search the corpus, call ", NextCall("rag_search"), ". "),
                *("To read the record in PubMed, call ", NextCall("fetch_contents", pmids=[number]), ". "),
                *("To add it to a corpus, call ", NextCall("sync_delta"), " with a query that finds it."),
            ),
            details={"reason": "not_in_corpus"},
        )
    if found.status == "deleted":
        raise EntityNotFound(
            f"PubMed has withdrawn the record {number}; the corpus keeps its last version.",
            invalid_input=request.doc_id,
            recovery_hint=FrontendText("Call ", NextCall("rag_search"), " for records that are current."),
            details={"reason": "withdrawn", "version": found.version},
        )
    today = store.clock().date()
    document = RagDocument(
        doc_id=f"pmid:{found.pmid}",
        **{name: getattr(found, name) for name in _COLUMNS},
        quality=score_record(found.quality, found.pdat, today, retracted=found.retraction_status == RETRACTED),
        standing=found.standing if request.details else None,
    )
    if found.standing is not None:
        document.set_standings([f"{document.doc_id} {found.standing.note}"])
    return document
