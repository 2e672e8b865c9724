"""Kits over the sandbox's genes, invented genes, and prepared replies, for the gene tests."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

import pytest
from fixture_types import KitFor
from prepared_reply import prepare_reply

from entrez_kit import EntrezKit
from entrez_kit.base.settings import Settings
from entrez_kit.databases.gene.get_genes import GET_GENE, GET_PUBMED_LINKS
from entrez_kit.databases.gene.models import Gene, GenePage, PubMedLinks
from entrez_kit.databases.gene.search_genes import SEARCH_GENES
from entrez_kit.sandbox.fixture_database import FixtureDatabase, FixtureRecord
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.services.transport import Reply


class Genes:
    """The three gene tools over one kit."""

    def __init__(self, kit: EntrezKit, sandbox: Sandbox) -> None:
        self.kit = kit
        self.sandbox = sandbox

    def search(self, query: Any = None, **arguments: Any) -> GenePage:
        """Call search_genes."""
        return SEARCH_GENES.run(self.kit.services, {"query": query, **arguments})

    def get(self, entrez_id: Any, **arguments: Any) -> Gene:
        """Call get_gene."""
        return GET_GENE.run(self.kit.services, {"entrez_id": entrez_id, **arguments})

    def links(self, entrez_id: Any, **arguments: Any) -> PubMedLinks:
        """Call get_pubmed_links."""
        return GET_PUBMED_LINKS.run(self.kit.services, {"entrez_id": entrez_id, **arguments})


@pytest.fixture(name="genes")
def genes_fixture(sandbox: Sandbox, kit_for: KitFor) -> Genes:
    """Serve the genes that ship with the kit."""
    return Genes(kit_for(sandbox), sandbox)


@pytest.fixture(name="genes_of")
def genes_of_fixture(sandbox: Sandbox, kit_for: KitFor) -> Callable[[Iterable[FixtureRecord]], Genes]:
    """Serve invented genes."""

    def build(records: Iterable[FixtureRecord]) -> Genes:
        ordered = sorted(records, key=lambda one: int(one["uid"]))
        sandbox.register(FixtureDatabase("gene", sandbox.collection, ordered))
        return Genes(kit_for(sandbox), sandbox)

    return build


def write_entrezgene(
    number: int,
    symbol: str = "",
    *,
    name: str = "",
    synonyms: Iterable[str] = (),
    tag: str = "",
    taxid: int = 9606,
    organism: str = "Homo sapiens",
    status: str = '<Gene-track_status value="live">0</Gene-track_status>',
    current: Iterable[tuple[str, int]] = (),
    location: str = "",
    genome: str = "genomic",
    subtypes: Iterable[tuple[str, str]] = (),
    tags: Iterable[tuple[str, str | int]] = (),
    more: str = "",
    summary: str = "",
) -> str:
    """Return one ``Entrezgene`` element."""

    def wrap(element: str, value: str) -> str:
        return f"<{element}>{escape(value)}</{element}>" if value else ""

    def write_dbtag(db: str, value: str | int) -> str:
        kind = "id" if isinstance(value, int) else "str"
        return (
            f"<Dbtag><Dbtag_db>{db}</Dbtag_db><Dbtag_tag><Object-id><Object-id_{kind}>{value}</Object-id_{kind}>"
            "</Object-id></Dbtag_tag></Dbtag>"
        )

    merged = "".join(write_dbtag(db, value) for db, value in current)
    listed = "".join(f"<Gene-ref_syn_E>{escape(synonym)}</Gene-ref_syn_E>" for synonym in synonyms)
    own = "".join(write_dbtag(db, value) for db, value in tags)
    sources = "".join(
        f'<SubSource><SubSource_subtype value="{kind}"/><SubSource_name>{value}</SubSource_name></SubSource>'
        for kind, value in subtypes
    )
    return (
        f"<Entrezgene><Entrezgene_track-info><Gene-track><Gene-track_geneid>{number}</Gene-track_geneid>{status}"
        + (f"<Gene-track_current-id>{merged}</Gene-track_current-id>" if merged else "")
        + '</Gene-track></Entrezgene_track-info><Entrezgene_type value="protein-coding">6</Entrezgene_type>'
        f'<Entrezgene_source><BioSource><BioSource_genome value="{genome}"/><BioSource_org><Org-ref>'
        f"<Org-ref_taxname>{organism}</Org-ref_taxname><Org-ref_db>{write_dbtag('taxon', taxid)}</Org-ref_db></Org-ref>"
        f"</BioSource_org>{f'<BioSource_subtype>{sources}</BioSource_subtype>' if sources else ''}</BioSource>"
        f"</Entrezgene_source><Entrezgene_gene><Gene-ref>{wrap('Gene-ref_locus', symbol)}{wrap('Gene-ref_desc', name)}"
        f"{wrap('Gene-ref_maploc', location)}{f'<Gene-ref_db>{own}</Gene-ref_db>' if own else ''}"
        f"{f'<Gene-ref_syn>{listed}</Gene-ref_syn>' if listed else ''}{wrap('Gene-ref_locus-tag', tag)}"
        f"</Gene-ref></Entrezgene_gene>{wrap('Entrezgene_summary', summary)}{more}</Entrezgene>"
    )


def write_gene_set(*elements: str) -> bytes:
    """Return elements as EFetch sends them."""
    return f'<?xml version="1.0" ?>\n<Entrezgene-Set>{"".join(elements)}</Entrezgene-Set>'.encode()


def write_record(
    number: int, symbol: str, *, name: str = "", synonyms: Sequence[str] = (), summary: str = ""
) -> FixtureRecord:
    """Return an invented human gene for the sandbox."""
    element = write_entrezgene(number, symbol, name=name, synonyms=synonyms, summary=summary)
    return {
        "uid": str(number),
        "values": {
            "TITL": [symbol, name],
            "ORGN": ["Homo sapiens"],
            "CHR": ["unknown"],
            "GENE": [symbol, *synonyms],
            "PROP": ["alive", "genetype protein coding"],
            "TID": ["9606"],
            "PREF": [symbol],
            "MORE": [summary],
        },
        "summary": {
            "Name": symbol,
            "Description": name,
            "Status": 0,
            "CurrentID": 0,
            "OtherAliases": ", ".join(synonyms),
            "Summary": summary,
            "Organism": {"ScientificName": "Homo sapiens", "CommonName": "", "TaxID": 9606},
        },
        "parts": {"xml": element},
    }


class CannedGenes:
    """Services whose E-utilities answer with prepared bodies, one list per endpoint, and record the requests.

    The three searches of a query are sent at once: the first three bodies of ``esearch`` are those of the symbol, of
    other symbols, and of the rest, in any order of requests. The fourth and the fifth are those of other
    symbols and of the rest when they are sent again.
    """

    at_once = 1

    def __init__(self, **bodies: Iterable[bytes | Exception]) -> None:
        self.bodies = {name: list(items) for name, items in bodies.items()}
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.eutils = self
        self.settings = Settings()
        searches = self.bodies.get("esearch", [])
        self._tiers: dict[int, list[bytes | Exception]] = {}
        if len(searches) > 1:
            self._tiers = {0: searches[:1], 1: [*searches[1:2], *searches[3:4]], 2: [*searches[2:3], *searches[4:5]]}
            self.bodies["esearch"] = searches[5:]

    def get_next_body(self, endpoint: str, term: str) -> bytes | Exception:
        if endpoint == "esearch":
            tags = re.match(r'\(?"[^"]*"\[(Preferred Symbol|Gene Name)\]', term)
            tier = ["Preferred Symbol", "Gene Name"].index(tags[1]) if tags else 2
            if prepared_bodies := self._tiers.get(tier) or self._tiers.get(1):
                return prepared_bodies.pop(0)
        return self.bodies[endpoint].pop(0)

    def known_uids(self, db: str, ids: Iterable[str]) -> set[str]:
        """Return the UIDs that exist: none."""
        return set()

    def __getattr__(self, endpoint: str) -> Callable[..., Reply]:
        def answer(*, read: Callable[[Any], Any] | None = None, **parameters: Any) -> Reply:
            self.asked.append((endpoint, parameters))
            body = self.get_next_body(endpoint, str(parameters.get("term", "")))
            if isinstance(body, Exception):
                raise body
            return prepare_reply(endpoint, body, read)

        return answer


def write_esummary_xml(*documents: str) -> bytes:
    """Return an ESummary reply of version 2.0."""
    inner = f'<DocumentSummarySet status="OK">{"".join(documents)}</DocumentSummarySet>'
    return f"<eSummaryResult>{inner}</eSummaryResult>".encode()


def write_docsum(uid: int | str, symbol: str, **fields: Any) -> str:
    """Return one summary; ``fields`` are further elements."""
    more = "".join(f"<{name}>{escape(str(value))}</{name}>" for name, value in fields.items())
    return (
        f'<DocumentSummary uid="{uid}"><Name>{symbol}</Name><Status>0</Status><CurrentID>0</CurrentID>{more}<Organism>'
        "<ScientificName>Homo sapiens</ScientificName><TaxID>9606</TaxID></Organism></DocumentSummary>"
    )
