"""Read ESummary's gene documents: what a candidate needs, and which ids NCBI has no summary of."""

import re
from dataclasses import dataclass
from typing import Any, Final

from entrez_kit.errors import EntityNotFound, UpstreamError
from entrez_kit.gene.models import Status
from entrez_kit.gene.records import STATUSES
from entrez_kit.services import Services
from entrez_kit.services.known_shapes import XmlShape, notice
from entrez_kit.services.xml_reply import text_of, whole_number

_SEPARATOR: Final = re.compile(r"(?<!\s)\s*+[|]\s*+")


@dataclass(frozen=True, slots=True)
class GeneSummary:
    """What ESummary says about one gene; ``designations`` are its other names."""

    number: str
    symbol: str
    name: str
    organism: str
    taxon_id: int | None
    aliases: tuple[str, ...]
    designations: tuple[str, ...]
    status: Status
    current: str | None

    @property
    def replaced_by(self) -> str | None:
        """The number of the gene this one was merged into."""
        return self.current if self.current not in (None, "0", self.number) else None


SUMMARIES: Final = XmlShape("Summaries of genes", "esummary_gene.dtd", also="error ERROR")


def parse_summaries(root: Any) -> tuple[dict[str, GeneSummary], dict[str, str]]:
    """Read an ESummary reply (version 2.0, XML): summaries by id, and NCBI's word on ids without one.

    Raises:
        UpstreamError: the reply is not an ESummary result.
    """
    notice(SUMMARIES, root)
    found: dict[str, GeneSummary] = {}
    absent: dict[str, str] = {}
    for document in root.iterfind("DocumentSummarySet/DocumentSummary"):
        uid = (document.get("uid") or "").strip()
        problem = text_of(document, "error")
        if problem is not None:
            absent[uid] = problem
        elif summary := _summary(uid, document):
            found[uid] = summary
    if not found and not absent:
        problem = next((text for error in root.iter("ERROR", "error") if (text := (error.text or "").strip())), None)
        if problem is not None:
            raise UpstreamError(
                f"NCBI answered with an error in place of summaries: {problem}",
                details={"reason": "backend_error", "endpoint": "esummary"},
            )
    return found, absent


def _summary(uid: str, document: Any) -> GeneSummary | None:
    """Return a summary, or None for a document that is empty: NCBI then has nothing to say about the id."""
    symbol = text_of(document, "Name") or text_of(document, "NomenclatureSymbol")
    organism = text_of(document, "Organism/ScientificName") or text_of(document, "Orgname")
    if symbol is None or organism is None:
        return None
    designations = tuple(word for word in _SEPARATOR.split(text_of(document, "OtherDesignations") or "") if word)
    name = text_of(document, "Description") or text_of(document, "NomenclatureName") or next(iter(designations), symbol)
    aliases = tuple(alias for part in (text_of(document, "OtherAliases") or "").split(",") if (alias := part.strip()))
    current = text_of(document, "CurrentID")
    stated = STATUSES.get(text_of(document, "Status") or "0", "live")
    if stated != "live" and current not in (None, "0", uid):
        stated = "replaced"
    return GeneSummary(
        number=uid,
        symbol=symbol,
        name=name,
        organism=organism,
        taxon_id=whole_number(document.findtext("Organism/TaxID")) or whole_number(document.findtext("TaxID")),
        aliases=aliases,
        designations=designations,
        status=stated,
        current=current,
    )


def summaries_of(services: Services, numbers: list[str]) -> dict[str, GeneSummary]:
    """Return the summaries NCBI has of these genes, as many as a page has, by id.

    Raises:
        UpstreamError: NCBI did not answer, or not with summaries.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
    """
    try:
        return (
            services.eutils.esummary(db="gene", ids=numbers, version="2.0", read=parse_summaries).value[0]
            if numbers
            else {}
        )
    except EntityNotFound:  # none of them exists
        return {}
