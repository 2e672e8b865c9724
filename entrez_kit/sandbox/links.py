"""Links between databases of the demo. The package has each link once; the link back is derived from it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, Final

from entrez_kit.local.eutils.database import Database, LinkInfo
from entrez_kit.local.records.collection import RecordCollection
from entrez_kit.sandbox.gene_records import read_demo_genes

LISTED: Final = ("bioproject", "clinvar", "sra")
"""The databases whose records are listed in a file."""
_BACK: Final = {"gene_taxonomy": "taxonomy_gene_exp"}
"""Links back whose names are not those of the two databases."""
_MENUS: Final = {
    "bioproject": "BioProject",
    "clinvar": "ClinVar",
    "gene": "Gene",
    "nuccore": "Nucleotide",
    "pubmed": "PubMed",
    "sra": "SRA",
    "taxonomy": "Taxonomy",
}
Links = Mapping[str, Mapping[str, Sequence[str]]]


def _read_json(*path: str) -> dict[str, Any]:
    """Read a file of this package; nothing if it is not installed."""
    file = resources.files("entrez_kit.fixtures").joinpath(*path)
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found


@cache
def read_listed(database: str) -> Mapping[str, Any]:
    """Read the file of a listed database: its description, search fields and records."""
    return _read_json("entrez", f"{database}.json")


def _read_pairs() -> Iterable[tuple[str, str, Sequence[str]]]:
    """Yield the name of a link, an id, and the ids that it is linked to."""
    for name, listed in _read_json("gene", "links.json").items():
        yield from ((name, uid, others) for uid, others in listed.items())
    yield from (("gene_taxonomy", gene.uid, (str(gene.taxid),)) for gene in read_demo_genes())
    for database in LISTED:
        for record in read_listed(database).get("records", ()):
            yield from ((name, record["uid"], others) for name, others in record["links"].items())


@cache
def read_links() -> Links:
    """Return the linked ids by name of the link and id, in both directions."""
    links: dict[str, dict[str, list[str]]] = {}
    for name, uid, others in _read_pairs():
        source, _, target = name.partition("_")
        back = links.setdefault(_BACK.get(name, f"{target}_{source}"), {})
        for other in others:
            links.setdefault(name, {}).setdefault(uid, []).append(other)
            back.setdefault(other, []).append(uid)
    return links


def describe_links(source: str, *names: str) -> tuple[LinkInfo, ...]:
    """Return the links of a database, as EInfo lists them."""
    described = []
    for name in names:
        target = name.removeprefix(f"{source}_").partition("_")[0]
        menu = _MENUS[target]
        described.append(LinkInfo(name, target, f"{menu} Links", f"{menu} records linked to this record"))
    return tuple(described)


class LinkedDatabase(Database):
    """A database whose links to other databases are those of this package.

    If ``collection`` is set, links from and to articles that it lacks are omitted.
    """

    collection: RecordCollection | None = None

    def find_links(self, link: str, uid: str) -> Sequence[tuple[str, int]]:
        """Return the ids of the linked records, each with its score."""
        known = read_links().get(link)
        if known is None:
            return super().find_links(link, uid)
        canonical = self.canonical(uid)
        others = known.get(canonical or "", ())
        if self.collection is not None and link.startswith("pubmed_") and self.collection.number(uid) is None:
            return ()
        if self.collection is not None and link.endswith("_pubmed"):
            others = [pmid for pmid in others if self.collection.number(pmid) is not None]
        return [(other, 0) for other in others]
