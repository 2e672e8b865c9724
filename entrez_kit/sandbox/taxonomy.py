"""The Taxonomy database of the sandbox: a few organisms for tests of known, unknown and ambiguous names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from entrez_kit.local.eutils.database import (
    FetchCall,
)
from entrez_kit.local.eutils.replies import LocalReply, plain, xml
from entrez_kit.local.eutils.small_query import SmallDatabase, SmallField, SmallQuery
from entrez_kit.local.records.text import xml_text
from entrez_kit.query.words import normalize
from entrez_kit.sandbox.links import LinkedDatabase, describe_links


@dataclass(frozen=True, slots=True)
class Taxon:
    """One organism or group: its names, the scientific name first, and its parent taxon."""

    taxid: int
    names: tuple[str, ...]
    rank: str
    parent: int | None = None
    division: str = ""
    common: str = ""


TAXA: Final[tuple[Taxon, ...]] = (
    Taxon(9606, ("Homo sapiens", "human", "man"), "species", None, "primates", "human"),
    Taxon(10090, ("Mus musculus", "house mouse", "mouse"), "species", None, "rodents", "house mouse"),
    Taxon(10116, ("Rattus norvegicus", "Norway rat", "rat"), "species", None, "rodents", "Norway rat"),
    Taxon(7955, ("Danio rerio", "zebrafish"), "species", None, "bony fishes", "zebrafish"),
    Taxon(7227, ("Drosophila melanogaster", "fruit fly"), "species", None, "flies", "fruit fly"),
    Taxon(6239, ("Caenorhabditis elegans",), "species", None, "nematodes"),
    Taxon(
        4932,
        ("Saccharomyces cerevisiae", "baker's yeast", "brewer's yeast"),
        "species",
        None,
        "ascomycetes",
        "brewer's yeast",
    ),
    Taxon(559292, ("Saccharomyces cerevisiae S288C",), "strain", 4932, "ascomycetes"),
    Taxon(562, ("Escherichia coli", "E. coli"), "species", None, "enterobacteria", "E. coli"),
    Taxon(83333, ("Escherichia coli K-12",), "strain", 562, "enterobacteria"),
    Taxon(511145, ("Escherichia coli str. K-12 substr. MG1655",), "no rank", 83333, "enterobacteria"),
    Taxon(4530, ("Oryza sativa", "Asian cultivated rice"), "species", None, "monocots", "Asian cultivated rice"),
    Taxon(39947, ("Oryza sativa Japonica Group", "Japanese rice"), "no rank", 4530, "monocots", "Japanese rice"),
    Taxon(9913, ("Bos taurus", "cattle", "cow"), "species", None, "even-toed ungulates", "cattle"),
    Taxon(53747, ("Echinacea",), "genus", None, "eudicots"),
    Taxon(7674, ("Echinacea",), "superorder", None, "sea urchins"),
)
BY_TAXID: Final = {taxon.taxid: taxon for taxon in TAXA}
FIELDS: Final = (
    SmallField("ALLN", "All Names", "whole", ("all",), "All aliases for organism"),
    SmallField("UID", "UID", "number", ("taxid", "taxonomy id", "tid"), "Unique number assigned to a taxon"),
)


def find_taxa(name: str) -> list[Taxon]:
    """Return the taxa with this name."""
    key = normalize(name)
    return [taxon for taxon in TAXA if key and key in (normalize(one) for one in taxon.names)]


def add_descendants(taxids: Sequence[int]) -> set[int]:
    """Return taxids with the taxids of all their descendants."""
    found = set(taxids)
    while True:
        below = {taxon.taxid for taxon in TAXA if taxon.parent in found} - found
        if not below:
            return found
        found |= below


class TaxonomyDatabase(LinkedDatabase, SmallDatabase):
    """Names and taxids of organisms; both can be searched."""

    name = "taxonomy"
    menu = "Taxonomy"
    description = "Taxonomy db"
    summary_dtd = "20140214"
    links = describe_links("taxonomy", "taxonomy_gene_exp", "taxonomy_nuccore", "taxonomy_bioproject", "taxonomy_sra")

    @property
    def count(self) -> int:
        """Number of taxa."""
        return len(TAXA)

    def query(self) -> SmallQuery:
        """Return a query that searches taxa by name ([All Names]) or taxid ([uid])."""
        return SmallQuery({str(one.taxid): {"ALLN": one.names, "UID": (str(one.taxid),)} for one in TAXA}, FIELDS)

    def summary(self, uid: str) -> Mapping[str, Any] | None:
        """Return the version 2 summary."""
        taxon = self._find_taxon(uid)
        if taxon is None:
            return None
        words = taxon.names[0].split()
        species = len(words) > 1
        return {
            "Status": "active",
            "Rank": taxon.rank,
            "Division": taxon.division,
            "ScientificName": taxon.names[0],
            "CommonName": taxon.common,
            "TaxId": taxon.taxid,
            "AkaTaxId": 0,
            "Genus": words[0] if species else "",
            "Species": words[1] if species else "",
            "Subsp": "",
            "ModificationDate": "2025/01/01 00:00",
        }

    def _find_taxon(self, uid: str) -> Taxon | None:
        canonical = self.canonical(uid)
        return None if canonical is None else BY_TAXID.get(int(canonical))

    def fetch(self, request: FetchCall) -> LocalReply:
        """Return taxa as XML or a list of their ids; unknown ids are omitted.

        Raises:
            BadRequest: no id is valid.
        """
        self.canonical_ids(request.ids)  # raises BadRequest if no id is valid
        taxa = [taxon for uid in request.ids if (taxon := self._find_taxon(uid)) is not None]
        if request.rettype == "uilist" or request.retmode == "text":
            return plain("".join(f"{taxon.taxid}\n" for taxon in taxa))
        entries = "".join(
            f"<Taxon>\n    <TaxId>{taxon.taxid}</TaxId>\n"
            f"    <ScientificName>{xml_text(taxon.names[0])}</ScientificName>\n"
            f"    <ParentTaxId>{taxon.parent or 1}</ParentTaxId>\n    <Rank>{taxon.rank}</Rank>\n"
            f"    <Division>{xml_text(taxon.division)}</Division>\n</Taxon>\n"
            for taxon in taxa
        )
        return xml(
            '<?xml version="1.0" ?>\n<!DOCTYPE TaxaSet PUBLIC "-//NLM//DTD Taxon, 14th January 2002//EN" '
            f'"https://www.ncbi.nlm.nih.gov/entrez/query/DTD/taxon.dtd">\n<TaxaSet>{entries}</TaxaSet>\n'
        )
