"""A database of the sandbox that is described by one file of the fixtures, ``NAME/NAME.json``.

The file has the search fields, the links, the formats of EFetch and the records, each with its searchable values, its
summary, its links and its text in each format. The first format that has the rettype and the retmode of a request is
sent; one without ``rettypes`` or ``retmodes`` has all. ``bad_id`` is the error for an invalid id; without it, invalid
ids are omitted like unknown ones, unless no id is valid.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from entrez_kit.local.eutils.database import BadRequest, FetchCall, LinkInfo
from entrez_kit.local.eutils.replies import LocalReply, plain, xml
from entrez_kit.local.eutils.small_query import SmallDatabase, SmallQuery
from entrez_kit.local.records.fixture_files import read_fixture
from entrez_kit.query.fields import define_field


class FixtureDatabase(SmallDatabase[Mapping[str, Any]]):
    """The database in one file of the fixtures."""

    def __init__(self, name: str) -> None:
        self._about = read_fixture(name, f"{name}.json")
        self.name, self.menu, self.description = name, self._about["menu"], self._about["description"]
        self.summary_dtd = self._about["summary_dtd"]
        self.links = [LinkInfo(*row) for row in self._about["links"]]
        self._uids = {alias: uid for uid, record in self.records.items() for alias in record.get("names", ())}

    @cached_property
    def records(self) -> Mapping[str, Mapping[str, Any]]:
        """The records by UID."""
        return {record["uid"]: record for record in self._about["records"]}

    def canonical(self, uid: str) -> str | None:
        """Return the UID of a number or of a known accession; None if it is neither."""
        return self._uids.get(uid.strip().upper()) or super().canonical(uid)

    def query(self) -> SmallQuery:
        """Return a query that searches the records."""
        values = {uid: record["values"] for uid, record in self.records.items()}
        return SmallQuery(values, [define_field(**row) for row in self._about["fields"]])

    def summary(self, uid: str) -> Mapping[str, Any] | None:
        """Return the version 2 summary."""
        record = self.find(uid)
        return None if record is None else record["summary"]

    def fetch(self, request: FetchCall) -> LocalReply:
        """Return records in a format of the file; unknown ids are omitted.

        Raises:
            BadRequest: an id is not valid, or the format is unknown.
        """
        if bad_id := self._about.get("bad_id"):
            for uid in request.ids:
                if self.canonical(uid) is None:
                    raise BadRequest(bad_id.format(uid))
        records = self.find_all(request.ids)
        for form in self._about["formats"]:
            asked = (("rettypes", request.rettype), ("retmodes", request.retmode))
            if all(value in form.get(name, (value,)) for name, value in asked):
                parts = (record["parts"][form["part"]] for record in records)
                text = f"{form.get('start', '')}{''.join(parts)}{form.get('end', '')}"
                return xml(text) if "start" in form else plain(text)
        raise BadRequest(f"Unsupported rettype parameter value: {request.rettype}")

    def find_links(self, link: str, uid: str) -> Sequence[tuple[str, int]]:
        """Return the ids of the linked records."""
        record = self.find(uid) or {}
        return [(other, 0) for other in record.get("links", {}).get(link, ())]
