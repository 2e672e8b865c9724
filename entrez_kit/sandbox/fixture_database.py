"""A database of the sandbox that is described by one file of the fixtures, ``entrez/NAME.json``.

The file has the search fields, the formats of EFetch and the records, each with its searchable values, its summary,
its links and its text in each format. UID, [All Fields] and the filter "all" are derived. The first format that has the
rettype and the retmode of a request is sent; one without ``rettypes`` or ``retmodes`` has all, and "" in them is a
request without the parameter. ``bad_id`` is the error for an invalid id; without it, invalid ids are omitted like
unknown ones, unless no id is valid.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from entrez_kit.local.eutils.database import BadRequest, FetchCall
from entrez_kit.local.eutils.replies import Items, LocalReply, plain, xml
from entrez_kit.local.eutils.small_query import SmallDatabase, SmallQuery, Values
from entrez_kit.local.records.collection import RecordCollection
from entrez_kit.query.fields import define_field
from entrez_kit.sandbox.links import LinkedDatabase, read_small_databases


def _convert_lists(value: Any) -> Any:
    """Return a value of a summary, with its lists as items of a reply."""
    if not isinstance(value, dict):
        return value
    if value.keys() == {"tag", "entries"}:
        return Items(value["tag"], [_convert_lists(entry) for entry in value["entries"]])
    return {name: _convert_lists(inner) for name, inner in value.items()}


class FixtureDatabase(LinkedDatabase, SmallDatabase[Mapping[str, Any]]):
    """The database in one file of the fixtures; an id may be a number or a name of a record, such as an accession."""

    def __init__(self, name: str, collection: RecordCollection | None = None) -> None:
        self._about = read_small_databases()[name]
        self.name, self.menu, self.description = name, self._about["menu"], self._about["description"]
        self.summary_dtd, self.collection = self._about["summary_dtd"], collection
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
        records = {uid: _list_values(uid, record["values"]) for uid, record in self.records.items()}
        return SmallQuery(records, [define_field(**row) for row in self._about["fields"]])

    def summary(self, uid: str) -> Mapping[str, Any] | None:
        """Return the version 2 summary."""
        record = self.find(uid)
        return None if record is None else _convert_lists(record["summary"])

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
                parts = ({"uilist": f"{record['uid']}\n", **record["parts"]}[form["part"]] for record in records)
                text = f"{form.get('start', '')}{''.join(parts)}{form.get('end', '')}"
                return xml(text) if text.startswith("<?xml") else plain(text)
        raise BadRequest(f"Unsupported rettype parameter value: {request.rettype}")


def _list_values(uid: str, values: Values) -> Values:
    return {"UID": (uid,), "FILT": ("all",), "ALL": [one for listed in values.values() for one in listed], **values}
