"""The MeSH database, with the headings of this package."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final

from entrez_kit.local.eutils.database import FetchCall
from entrez_kit.local.eutils.replies import Items, LocalReply, answer_text
from entrez_kit.local.eutils.small_query import SmallDatabase, SmallQuery, Values
from entrez_kit.local.records.fixture_files import read_fixture
from entrez_kit.local.records.terms import LINKOUT_FILTERS
from entrez_kit.query.fields import MESH_FIELDS
from entrez_kit.query.mesh import Heading, Substance, Vocabulary
from entrez_kit.query.words import split_words

_KINDS: Final = {"D": "descriptor", "Q": "qualifier", "C": "substance"}


@dataclass(frozen=True, slots=True)
class MeshEntry(Heading):
    """One record of MeSH; a descriptor has the names of the subheadings that NLM allows with it."""

    uid: str = ""
    ui: str = ""
    scope_note: str = ""
    subheadings: tuple[str, ...] = ()


def read_demo_records() -> list[MeshEntry]:
    """Read the headings of this package; none if they are not installed."""
    entries = read_fixture("mesh", "headings.json")
    names = {entry["abbreviation"]: entry["name"] for entry in entries if "abbreviation" in entry}
    for entry in entries:
        entry["subheadings"] = sorted(names[abbreviation] for abbreviation in entry.get("subheadings", "").split())
    return [MeshEntry(**{name: _freeze(value) for name, value in entry.items()}) for entry in entries]


def _freeze(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@cache
def read_demo_vocabulary() -> Vocabulary:
    """Return the headings of this package for searches, with the LinkOut filters that identifiers decide here."""
    of_kind: defaultdict[str, list[MeshEntry]] = defaultdict(list)
    for record in read_demo_records():
        of_kind[record.ui[0]].append(record)
    substances = (Substance(record.name, record.entry_terms) for record in of_kind["C"])
    return Vocabulary(of_kind["D"], of_kind["Q"], substances, filters=(*LINKOUT_FILTERS, "books"))


def list_heading_values(heading: MeshEntry) -> Values:
    """Return the values of a heading in each search field."""
    names = (heading.name, *heading.entry_terms)
    return {
        "ALL": (*names, heading.scope_note, heading.ui),
        "UID": (heading.uid,),
        "WORD": (*names, heading.scope_note),
        "MESH": names,
        "TN": heading.tree_numbers,
        "MHUI": (heading.ui,),
    }


class MeshDatabase(SmallDatabase[MeshEntry]):
    """MeSH: descriptors, qualifiers and supplementary concepts, the highest UID first."""

    name = "mesh"
    menu = "MeSH"
    description = "MeSH Database"

    def __init__(self, headings: Sequence[MeshEntry] | None = None) -> None:
        self._given = headings

    @cached_property
    def records(self) -> Mapping[str, MeshEntry]:
        """The records by UID, read on first use."""
        headings = read_demo_records() if self._given is None else self._given
        return {heading.uid: heading for heading in sorted(headings, key=lambda heading: -int(heading.uid))}

    @cached_property
    def _parents(self) -> dict[str, MeshEntry]:
        places = ((tree, record) for record in self.records.values() for tree in record.tree_numbers)
        return dict(sorted(places, key=lambda pair: pair[0]))

    def build_query(self) -> SmallQuery:
        """Return a query that searches by words, by heading ([MH]) or by identifier."""
        return SmallQuery({uid: list_heading_values(heading) for uid, heading in self.records.items()}, MESH_FIELDS)

    def build_summary(self, uid: str) -> Mapping[str, Any] | None:
        """Return the version 2 summary."""
        heading = self.find(uid)
        if heading is None:
            return None
        return {
            "DS_RecordType": _KINDS[heading.ui[0]],
            "DS_MeSHUI": heading.ui,
            "DS_ScopeNote": heading.scope_note,
            "DS_Subheading": Items("string", heading.subheadings),
            "DS_MeshTerms": Items("string", [heading.name, *heading.entry_terms]),
            "DS_IdxLinks": Items("DS_IdxLinksType", [self._build_place(tree) for tree in heading.tree_numbers]),
        }

    def _build_place(self, tree: str) -> Mapping[str, Any]:
        return {
            "Parent": int(self.find_parent(tree) or 0),
            "TreeNum": tree,
            "Children": Items("int", self.find_children(tree)),
        }

    def find_parent(self, tree: str) -> str | None:
        """Return the UID of the heading one level above a tree number."""
        parent = self._parents.get(tree.rpartition(".")[0])
        return None if parent is None else parent.uid

    def find_children(self, tree: str) -> list[str]:
        """Return the UIDs of the headings one level below a tree number."""
        return [heading.uid for other, heading in self._parents.items() if other.rpartition(".")[0] == tree]

    def fetch(self, request: FetchCall) -> LocalReply:
        """Return records as text, the only format; unknown ids are omitted.

        Raises:
            BadRequest: no id is valid.
        """
        headings = self.find_all(request.ids)
        return answer_text("".join(_render_text(heading, number) for number, heading in enumerate(headings, start=1)))

    def count_words(self) -> Mapping[str, int]:
        """Count the records that contain each word, for the words in headings and entry terms."""
        return self._words

    @cached_property
    def _words(self) -> Mapping[str, int]:
        counts: dict[str, int] = {}
        for heading in self.records.values():
            for word in {word for name in (heading.name, *heading.entry_terms) for word in split_words(name)}:
                if word.isalpha():
                    counts[word] = counts.get(word, 0) + 1
        return counts


def _render_text(heading: MeshEntry, number: int) -> str:
    lines = [f"\n{number}: {heading.name}"]
    if heading.scope_note:
        lines.append(heading.scope_note)
    if heading.subheadings:
        lines += ["Subheadings:", *(f"    {name}" for name in heading.subheadings)]
    if heading.tree_numbers:
        lines.append(f"Tree Number(s): {', '.join(heading.tree_numbers)}")
    lines.append(f"MeSH Unique ID: {heading.ui}")
    if heading.entry_terms:
        lines += ["Entry Terms:", *(f"    {term}" for term in heading.entry_terms)]
    return "\n".join([*lines, ""])
