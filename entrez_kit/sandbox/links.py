"""Links between databases of the demo. The package has each link once; the link back is derived from it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Final

from entrez_kit.local.eutils.database import Database, LinkInfo
from entrez_kit.local.eutils.entrez_data import DATABASES
from entrez_kit.local.eutils.replies import Items
from entrez_kit.local.records.collection import RecordCollection
from entrez_kit.local.records.fixture_files import read_fixtures

_BACK: Final = {"gene_taxonomy": "taxonomy_gene_exp"}
"""Links back whose names are not those of the two databases."""


@cache
def read_small_databases() -> Mapping[str, Mapping[str, Any]]:
    """Read the files of the small databases, by name; none if they are not installed."""
    documents = (json.loads(file, object_hook=_read_items) for file in read_fixtures("entrez", ".json"))
    return {about["name"]: about for about in documents}


def _read_items(value: dict[str, Any]) -> Any:
    return Items(**value) if value.keys() == {"tag", "entries"} else value


def _read_pairs() -> Iterable[tuple[str, str, Sequence[str]]]:
    """Yield the name of a link, an id, and the ids that it is linked to."""
    for about in read_small_databases().values():
        for record in about["records"]:
            yield from ((name, record["uid"], others) for name, others in record.get("links", {}).items())


@cache
def load_links() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the linked ids by name of the link and id, in both directions."""
    links: dict[str, dict[str, list[str]]] = {}
    for name, uid, others in _read_pairs():
        source, _, target = name.partition("_")
        back = links.setdefault(_BACK.get(name, f"{target}_{source}"), {})
        for other in others:
            links.setdefault(name, {}).setdefault(uid, []).append(other)
            back.setdefault(other, []).append(uid)
    return links


def _describe_link(name: str) -> LinkInfo:
    target = name.split("_")[1]
    return LinkInfo(name, target, f"{DATABASES[target]} Links", f"{DATABASES[target]} records linked to this record")


class LinkedDatabase(Database):
    """A database with the links of this package to other databases.

    If ``collection`` is set, links from and to articles that it lacks are omitted.
    """

    collection: RecordCollection | None = None

    @cached_property
    def links(self) -> Sequence[LinkInfo]:
        """The links of the database, as EInfo lists them."""
        names = sorted(name for name in load_links() if name.startswith(f"{self.name}_"))
        return [*super().links, *map(_describe_link, names)]

    def find_links(self, link: str, uid: str) -> Sequence[tuple[str, int]]:
        """Return the ids of the linked records, each with its score."""
        links = load_links().get(link)
        if links is None:
            return super().find_links(link, uid)
        others = links.get(self.to_canonical(uid) or "", ())
        if self.collection is not None and link.startswith("pubmed_") and self.collection.find_number(uid) is None:
            return ()
        if self.collection is not None and link.endswith("_pubmed"):
            others = [pmid for pmid in others if self.collection.find_number(pmid) is not None]
        return [(other, 0) for other in others]
