"""NCBI's spelling suggestion for a query."""

from pydantic import Field

from entrez_kit.base.errors import RateLimited, UpstreamError
from entrez_kit.core.model import Request, Stripped, Warned
from entrez_kit.core.operation import DocumentOperation
from entrez_kit.databases.names import DatabaseName, check_database
from entrez_kit.services import Services


class SpellRequest(Request):
    """The query to check."""

    query: Stripped = Field(min_length=2, description="Query to check.")
    db: DatabaseName = Field(default="pubmed", description="Entrez database.")


class SpellResult(Warned):
    """The query and NCBI's correction; without a suggestion ``corrected`` equals ``original``."""

    original: str
    corrected: str
    has_suggestion: bool


def spell_check(services: Services, request: SpellRequest) -> SpellResult:
    """Check the spelling of a query at NCBI.

    Use it if a search finds too little, e.g. query "astma inhaler".

    Raises:
        InvalidInput: the database does not exist.
        UpstreamError: no attempt got a valid reply.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: ESpell.
    """
    check_database(services, request.db)
    corrected = services.eutils.espell(term=request.query, db=request.db).value.corrected
    differs = bool(corrected) and corrected.lower() != request.query.lower()
    return SpellResult(
        original=request.query, corrected=corrected if differs else request.query, has_suggestion=differs
    )


SPELL = DocumentOperation(
    name="pubmed_spell_check",
    request=SpellRequest,
    result=SpellResult,
    function=spell_check,
    command=("spell",),
    toolset="pubmed",
    title="Check spelling",
    errors=(UpstreamError, RateLimited),
)
