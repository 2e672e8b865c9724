"""Parse genes from NCBI's records and summaries, both in XML."""

import re
from typing import Any, Final

from entrez_kit.base.errors import EntityNotFound, UpstreamError
from entrez_kit.databases.gene.cross_references import collect, yield_tags
from entrez_kit.databases.gene.models import DESIGNATIONS, Gene, Status
from entrez_kit.services import Services
from entrez_kit.services.known_shapes import XmlShape, log_drift
from entrez_kit.services.small_replies import get_text, malformed_error, parse_reply, read_whole_number

STATUSES: Final[dict[str, Status]] = {
    "live": "live",
    "newentry": "live",
    "secondary": "replaced",
    "discontinued": "discontinued",
    "0": "live",
    "1": "replaced",
    "2": "discontinued",
    "3": "live",
}
"""NCBI's statuses: "secondary" is a record merged into another, "newentry" is one that only collects GeneRIFs."""

_CYTOGENETIC: Final = re.compile(r"([0-9]{1,2}|[XY]|MT|[IVX]+)(?=[pq]|cen|ter|\b)")
_NOWHERE: Final = frozenset(("unknown", "un"))
"""NCBI's chromosome of a sequence that is not placed on a chromosome."""
_ABSENT: Final = re.compile(r"not found|no such|does not exist|cannot get", re.IGNORECASE)


GENES: Final = XmlShape(
    "Gene XML",
    "NCBI_Entrezgene.dtd",
    undeclared="eFetchResult ERROR",
    required={"Entrezgene": "Gene-track_geneid Entrezgene_gene"},
)


def parse_genes(content: bytes) -> list[Gene]:
    """Parse an ``Entrezgene-Set``, which omits ids without a record.

    Raises:
        UpstreamError: the reply is not an ``Entrezgene-Set``, is truncated, or a record lacks a required field.
    """
    root = parse_reply(content, "efetch", "Entrezgene-Set", "Entrezgene", "eFetchResult")
    log_drift(GENES, content)
    if root.tag == "Entrezgene":
        return [_read_gene(root)]
    problems = _list_problems(root)
    genes = [_read_gene(element) for element in root.iterfind("Entrezgene")]
    if problems and not all(_ABSENT.search(problem) for problem in problems):
        raise _error_in_place("efetch", "the gene", problems)
    if root.tag != "Entrezgene-Set" and not problems:
        raise malformed_error("efetch", f"<{root.tag}> instead of <Entrezgene-Set>", "other_root")
    return genes


def _list_problems(root: Any) -> list[str]:
    errors = root.iter("ERROR", "Error", "error")
    return [text for error in errors if (text := "".join(error.itertext()).strip())]


def _error_in_place(endpoint: str, expected: str, problems: list[str]) -> UpstreamError:
    return UpstreamError(
        f"NCBI returned an error instead of {expected}: {problems[0]}",
        details={"reason": "backend_error", "endpoint": endpoint},
    )


def _read_gene(element: Any) -> Gene:
    number = get_text(element, "Entrezgene_track-info/Gene-track/Gene-track_geneid")
    if not number or not (number.isascii() and number.isdigit()):
        raise malformed_error("efetch", f"it has a gene record without a gene id ({number!r})")
    organism = get_text(element, "Entrezgene_source/BioSource/BioSource_org/Org-ref/Org-ref_taxname")
    gene_ref = element.find("Entrezgene_gene/Gene-ref")
    if gene_ref is None or organism is None:
        missing = "Gene-ref" if gene_ref is None else "Org-ref_taxname"
        raise malformed_error("efetch", f"the record of gene {number} has no {missing}")
    locus, tag = get_text(gene_ref, "Gene-ref_locus"), get_text(gene_ref, "Gene-ref_locus-tag")
    symbol = locus or tag or _read_official(element, "Official Symbol") or f"LOC{number}"
    designations = _read_designations(element)
    name = (
        get_text(gene_ref, "Gene-ref_desc")
        or _read_official(element, "Official Full Name")
        or next(iter(designations), symbol)
    )
    map_positions = (get_text(maps, "Maps_display-str") for maps in element.iterfind("Entrezgene_location/Maps"))
    location = get_text(gene_ref, "Gene-ref_maploc") or next(filter(None, map_positions), None)
    status, replaced_by = _read_status(element, number)
    # A locus tag that is not the symbol is the first alias, as in NCBI's own summary.
    others = [tag, *((element.text or "").strip() for element in gene_ref.iterfind("Gene-ref_syn/Gene-ref_syn_E"))]
    taxa = yield_tags(element.iterfind("Entrezgene_source/BioSource/BioSource_org/Org-ref/Org-ref_db/Dbtag"))
    return Gene(
        id=f"NCBIGene:{number}",
        symbol=symbol,
        name=name,
        description=DESIGNATIONS.join(designations) or name,
        summary=get_text(element, "Entrezgene_summary"),
        map_location=location,
        chromosome=_read_chromosome(element, location),
        aliases=[alias for alias in dict.fromkeys(others) if alias and alias != symbol],
        organism=organism,
        taxon_id=next((int(id_) for db, id_ in taxa if db == "taxon" and id_.isascii() and id_.isdigit()), None),
        gene_type=_read_attribute(element, "Entrezgene_type"),
        status=status,
        replaced_by=replaced_by,
        cross_references=collect(element, number),
    )


def _read_attribute(element: Any, path: str) -> str | None:
    child = element.find(path)
    return None if child is None else child.get("value")


def _read_status(element: Any, number: str) -> tuple[Status, str | None]:
    """Return the status and, for a record merged into another, the id to use instead."""
    track = element.find("Entrezgene_track-info/Gene-track")
    stated = track.find("Gene-track_status")
    word = "live" if stated is None else (stated.get("value") or (stated.text or "").strip())
    status = STATUSES.get(word)
    if status is None:
        raise malformed_error("efetch", f"gene {number} has the unknown status {word!r}")
    current = [
        id_ for db, id_ in yield_tags(track.iterfind("Gene-track_current-id/Dbtag")) if db in ("GeneID", "LocusID")
    ]
    other = next((id_ for id_ in reversed(current) if id_.isascii() and id_.isdigit() and id_ != number), None)
    if status == "live" or other is None:
        return status, None
    return "replaced", f"NCBIGene:{other}"


def _read_official(element: Any, label: str) -> str | None:
    """Return a property by the nomenclature committee: the official symbol or full name."""
    for prop in element.iterfind("Entrezgene_properties/Gene-commentary/Gene-commentary_properties/Gene-commentary"):
        if get_text(prop, "Gene-commentary_label") == label:
            return get_text(prop, "Gene-commentary_text")
    return None


def _read_designations(element: Any) -> list[str]:
    """Return the other designations, the preferred name of the product first."""
    names = [
        text
        for path in ("Prot-ref_desc", "Prot-ref_name/Prot-ref_name_E")
        for item in element.iterfind(f"Entrezgene_prot/Prot-ref/{path}")
        if (text := (item.text or "").strip())
    ]
    return list(dict.fromkeys(names))


def _read_chromosome(element: Any, location: str | None) -> str | None:
    """Return the chromosome (X and Y for regions that they share), else the chromosome of the map location."""
    named = [
        text
        for source in element.iterfind("Entrezgene_source/BioSource/BioSource_subtype/SubSource")
        if _read_attribute(source, "SubSource_subtype") == "chromosome"
        and (text := get_text(source, "SubSource_name"))
        and text.lower() not in _NOWHERE
    ]
    if named:
        return ", ".join(dict.fromkeys(named))
    if _read_attribute(element, "Entrezgene_source/BioSource/BioSource_genome") == "mitochondrion":
        return "MT"
    match = _CYTOGENETIC.match(location or "")
    return match[1] if match else None


# Summaries, for the candidates of a search

SUMMARIES: Final = XmlShape("Summaries of genes", "esummary_gene.dtd", undeclared="error ERROR")
_SEPARATOR: Final = re.compile(r"(?<!\s)\s*+[|]\s*+")


def fetch_summaries(services: Services, numbers: list[str]) -> dict[str, Gene]:
    """Fetch the summaries of the genes of a page; return the genes by number.

    Raises:
        UpstreamError: NCBI did not answer, or not with summaries.
        RateLimited: NCBI refused, or no slot is free before the deadline.
    """
    if not numbers:
        return {}
    try:
        return services.eutils.esummary(db="gene", ids=numbers, version="2.0", read=parse_summaries).value
    except EntityNotFound:  # none of them exists
        return {}


def parse_summaries(root: Any) -> dict[str, Gene]:
    """Parse an ESummary reply (version 2.0, XML); return the genes by number, without empty summaries.

    Raises:
        UpstreamError: the reply is an error instead of summaries.
    """
    log_drift(SUMMARIES, root)
    documents = root.findall("DocumentSummarySet/DocumentSummary")
    genes = {gene.id.removeprefix("NCBIGene:"): gene for gene in map(_read_summary, documents) if gene is not None}
    problems = _list_problems(root)
    if problems and not genes and not any(get_text(document, "error") for document in documents):
        raise _error_in_place("esummary", "summaries", problems)
    return genes


def _read_summary(document: Any) -> Gene | None:
    """Return the gene of a summary; None if the summary is empty, as for an unknown id."""
    number = read_whole_number(document.get("uid"))
    symbol = get_text(document, "Name") or get_text(document, "NomenclatureSymbol")
    organism = get_text(document, "Organism/ScientificName") or get_text(document, "Orgname")
    if number is None or symbol is None or organism is None:
        return None
    designations = [word for word in _SEPARATOR.split(get_text(document, "OtherDesignations") or "") if word]
    name = (
        get_text(document, "Description") or get_text(document, "NomenclatureName") or next(iter(designations), symbol)
    )
    current = read_whole_number(document.findtext("CurrentID"))
    status = STATUSES.get(get_text(document, "Status") or "0", "live")
    merged = status != "live" and current not in (None, 0, number)
    return Gene(
        id=f"NCBIGene:{number}",
        symbol=symbol,
        name=name,
        description=DESIGNATIONS.join(designations) or name,
        organism=organism,
        taxon_id=read_whole_number(document.findtext("Organism/TaxID"))
        or read_whole_number(document.findtext("TaxID")),
        aliases=[alias for part in (get_text(document, "OtherAliases") or "").split(",") if (alias := part.strip())],
        status="replaced" if merged else status,
        replaced_by=f"NCBIGene:{current}" if merged else None,
    )
