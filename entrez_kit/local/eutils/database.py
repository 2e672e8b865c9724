"""The interface of a database that local E-utilities serve.

A new database needs one subclass of ``Database`` and one line in ``build_databases``; no endpoint changes.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from entrez_kit.local.eutils.replies import LocalReply
from entrez_kit.query.fields import Field
from entrez_kit.query.units import Report


class BadRequest(Exception):
    """The request is invalid; the answer has the message as its ``<ERROR>``, by default with the usual status."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class SearchCall:
    """An ESearch request without its paging.

    ``history`` returns the ids of ``#n``; None if there is no such set. ``ordered`` is the number of ids that the
    answer has or stores; those after them may have any order. None stands for all that a client can retrieve.
    """

    term: str
    field: str | None = None
    sort: str | None = None
    datetype: str | None = None
    mindate: str | None = None
    maxdate: str | None = None
    reldate: str | None = None
    history: Callable[[int], Sequence[str] | None] = lambda number: None
    ordered: int | None = None


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The ids of all records found, in order, with the translation of the query and its warnings.

    ``fidelity`` tells how closely a copy of PubMed agrees with PubMed's own answer, with reasons after semicolons.
    """

    ids: Sequence[str]
    translation: str = ""
    resolved: Report = field(default_factory=Report)
    fidelity: str = ""


@dataclass(frozen=True, slots=True)
class LinkInfo:
    """One kind of link from the records of a database."""

    name: str
    target: str
    menu: str
    description: str
    priority: int = 128


@dataclass(frozen=True, slots=True)
class FetchCall:
    """An EFetch request: the ids as the client sent them, and the requested format.

    ``retmode`` is empty without that parameter: its default depends on the database and the ``rettype``.
    """

    ids: Sequence[str]
    rettype: str
    retmode: str


class Database(ABC):
    """One local Entrez database.

    ``ceiling`` is the maximum number of records that a client can retrieve from one search (9,999 for PubMed, None
    elsewhere). ``build`` and ``updated`` are what EInfo reports; without a date the database is of today.
    ``summary_dtd`` is the date of the DTD of version 2 summaries; without ``has_version_1`` a database has no others.
    """

    name: str
    menu: str
    description: str
    ceiling: int | None = None
    build: str = "Build-sandbox"
    updated: date | None = None
    summary_dtd: str = "20250101"
    has_version_1: bool = True

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of records."""

    @property
    def links(self) -> Sequence[LinkInfo]:
        """The kinds of links from the records."""
        return ()

    @abstractmethod
    def search(self, request: SearchCall) -> SearchOutcome:
        """Find records.

        Raises:
            BadRequest: the query cannot be run; NCBI answers such a query with an ``<ERROR>``.
        """

    @abstractmethod
    def build_summary(self, uid: str) -> Mapping[str, Any] | None:
        """Return the version 2 summary (element names in order, without the uid); None if the id is unknown.

        Values are strings, numbers and ``Items``. JSON has the same values under lower-case names.
        """

    def build_docsum(self, uid: str) -> Mapping[str, Any] | None:
        """Return the version 1 summary, by default the same as version 2.

        Values are also dates, and lists of pairs of name and value.
        """
        return self.build_summary(uid)

    @abstractmethod
    def fetch(self, request: FetchCall) -> LocalReply:
        """Return the full records.

        Raises:
            BadRequest: none of the ids is valid in this database, or the requested format does not exist.
        """

    @abstractmethod
    def list_fields(self) -> Sequence[tuple[Field, int]]:
        """Return the search fields that EInfo lists, with their numbers of terms."""

    def to_canonical(self, uid: str) -> str | None:
        """Return an id in the form that NCBI uses in its answers; None if it is not a valid id."""
        text = uid.strip()
        if not (text.isascii() and text.isdigit()) or len(text) > 19 or int(text) == 0:
            return None
        return str(int(text))

    def to_canonical_ids(self, ids: Sequence[str]) -> list[str]:
        """Return ids in their canonical form without duplicates.

        Raises:
            BadRequest: no id is valid.
        """
        uids = list(dict.fromkeys(filter(None, map(self.to_canonical, ids))))
        if not uids:
            raise BadRequest("ID list is empty! Possibly it has no correct IDs.")
        return uids

    def find_links(self, link: str, uid: str) -> Sequence[tuple[str, int]]:
        """Return the ids of the linked records, each with its score."""
        return ()

    def count_words(self) -> Mapping[str, int]:
        """Return the vocabulary of the database with record counts, for spelling suggestions."""
        return {}
