"""What a database has to answer so that every E-utility can serve it.

A new database is one subclass of ``Database`` and one line in ``server.py``; the endpoints know no names.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from entrez_kit.sandbox.replies import SandboxReply


class BadRequest(Exception):
    """The request cannot be answered; the endpoint turns the text into its ``<ERROR>``."""


@dataclass(frozen=True, slots=True)
class SearchCall:
    """An ESearch request without its paging. ``history`` returns the ids of ``#n``, or None."""

    term: str
    field: str | None = None
    sort: str | None = None
    datetype: str | None = None
    mindate: str | None = None
    maxdate: str | None = None
    reldate: str | None = None
    history: Callable[[int], Sequence[str] | None] = lambda number: None


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """All hits in order, and what became of the query on the way."""

    ids: Sequence[str]
    translation: str = ""
    translations: Sequence[tuple[str, str]] = ()
    phrases_not_found: Sequence[str] = ()
    fields_not_found: Sequence[str] = ()
    phrases_ignored: Sequence[str] = ()
    quoted_phrases_not_found: Sequence[str] = ()
    messages: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Items:
    """A list in a summary: XML wraps each entry in ``tag``, JSON has a plain list.

    Entries are texts, or mappings of element names to texts, numbers and further ``Items``.
    """

    tag: str
    entries: Sequence[str | Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class DocSumItem:
    """One ``<Item>`` of a version 1 summary; a list holds further items."""

    name: str
    kind: str
    value: "str | Sequence[DocSumItem]"


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """One search field, as EInfo lists it."""

    name: str
    full_name: str
    description: str
    term_count: int = 0
    is_date: bool = False
    is_numerical: bool = False
    single_token: bool = False
    hierarchy: bool = False
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class LinkInfo:
    """One kind of link that starts in a database."""

    name: str
    target: str
    menu: str
    description: str
    priority: int = 128


@dataclass(frozen=True, slots=True)
class FetchCall:
    """What EFetch asks of a database: ids as given, and the form wanted."""

    ids: Sequence[str]
    rettype: str
    retmode: str


class Database(ABC):
    """One Entrez database of the sandbox.

    ``ceiling`` is the number of records a search gives access to (9,999 for PubMed, None elsewhere); ``summary_dtd``
    the date of its version 2 summary DTD.
    """

    name: str
    menu: str
    description: str
    ceiling: int | None = None
    summary_dtd: str = "20250101"
    links: Sequence[LinkInfo] = ()

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of records."""

    @abstractmethod
    def search(self, request: SearchCall) -> SearchOutcome:
        """Find records.

        Raises:
            BadRequest: the query cannot be run at all; NCBI answers such with an ``<ERROR>``.
        """

    @abstractmethod
    def summary(self, uid: str) -> Mapping[str, Any] | None:
        """Return the version 2 summary (element names in order, without the uid), or None for an unknown id.

        Values are texts, numbers and ``Items``. JSON shows the same under lower-case names.
        """

    def docsum(self, uid: str) -> Sequence[DocSumItem] | None:
        """Return the version 1 summary; by default made from version 2."""
        summary = self.summary(uid)
        return None if summary is None else [_as_item(name, value) for name, value in summary.items()]

    @abstractmethod
    def fetch(self, request: FetchCall) -> SandboxReply:
        """Return the full records.

        Raises:
            BadRequest: none of the ids has the form of an id here, or the form asked for does not exist.
        """

    @abstractmethod
    def fields(self) -> Sequence[FieldInfo]:
        """Return the search fields that EInfo shows."""

    def canonical(self, uid: str) -> str | None:
        """Return an id in the form NCBI answers with, or None where it is not an id at all."""
        text = uid.strip()
        if not (text.isascii() and text.isdigit()) or len(text) > 19 or int(text) == 0:
            return None
        return str(int(text))

    def canonical_ids(self, ids: Sequence[str]) -> list[str]:
        """Return ids in their canonical form, each once.

        Raises:
            BadRequest: none has the form of an id.
        """
        found = list(dict.fromkeys(filter(None, map(self.canonical, ids))))
        if not found:
            raise BadRequest("ID list is empty! Possibly it has no correct IDs.")
        return found

    def linked(self, link: str, uid: str) -> Sequence[tuple[str, int]]:
        """Return the ids that a link leads to, each with its score."""
        return ()

    def vocabulary(self) -> Mapping[str, int]:
        """Return the words of this database and how many records have them, for spelling suggestions."""
        return {}


def _as_item(name: str, value: Any) -> DocSumItem:
    if isinstance(value, Items):
        return DocSumItem(name, "List", [_as_item(value.tag, entry) for entry in value.entries])
    if isinstance(value, Mapping):
        return DocSumItem(name, "Structure", [_as_item(key, entry) for key, entry in value.items()])
    return DocSumItem(name, "Integer" if isinstance(value, int) else "String", str(value))
