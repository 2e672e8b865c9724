"""Databases of the sandbox whose few invented records are listed in a file: BioProject, SRA and ClinVar."""

import csv
from collections.abc import Mapping, Sequence
from functools import cached_property
from io import StringIO
from typing import Any

from entrez_kit.local.eutils.database import BadRequest, FetchCall, Items
from entrez_kit.local.eutils.replies import LocalReply, plain, xml
from entrez_kit.local.eutils.small_query import SmallDatabase, SmallField, SmallQuery
from entrez_kit.local.records.collection import RecordCollection
from entrez_kit.sandbox.links import LinkedDatabase, describe_links, read_links, read_listed


def _convert_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if value.keys() == {"tag", "entries"}:
        return Items(value["tag"], [_convert_lists(entry) for entry in value["entries"]])
    return {name: _convert_lists(inner) for name, inner in value.items()}


class ListedDatabase(LinkedDatabase, SmallDatabase):
    """One of these databases; an id may be a number or an accession."""

    def __init__(self, name: str, collection: RecordCollection) -> None:
        self.name, self.collection = name, collection
        self.links = describe_links(name, *(one for one in read_links() if one.startswith(f"{name}_")))
        self.menu, self.description = (read_listed(name)[key] for key in ("menu", "description"))

    @cached_property
    def _records(self) -> Mapping[str, Mapping[str, Any]]:
        return {record["uid"]: record for record in read_listed(self.name)["records"]}

    @property
    def count(self) -> int:
        """Number of records."""
        return len(self._records)

    def canonical(self, uid: str) -> str | None:
        """Return the UID of a number or a known accession; None for an unknown accession."""
        wanted = uid.strip().upper()
        known = next((number for number, record in self._records.items() if wanted in record["aliases"]), None)
        return super().canonical(uid) if known is None else known

    def query(self) -> SmallQuery:
        """Return a query that searches the records by the fields of the file."""
        records = {
            uid: {
                **record["values"],
                "UID": (uid,),
                "ALL": [value for code, values in record["values"].items() if code != "FILT" for value in values],
            }
            for uid, record in self._records.items()
        }
        fields = [
            SmallField(code, label, kind, tuple(tags), description)
            for code, label, kind, tags, description in read_listed(self.name)["fields"]
        ]
        return SmallQuery(records, fields)

    def summary(self, uid: str) -> Mapping[str, Any] | None:
        """Return the version 2 summary."""
        record = self._records.get(self.canonical(uid) or "")
        found: Mapping[str, Any] | None = None if record is None else _convert_lists(record["summary"])
        return found

    def fetch(self, request: FetchCall) -> LocalReply:
        """Return records as XML, a list of UIDs, or a table that the file has (``runinfo`` of SRA).

        Raises:
            BadRequest: no id is valid, or the format is unknown.
        """
        found = [self._records[uid] for uid in self.canonical_ids(request.ids) if uid in self._records]
        if request.rettype == "uilist":
            return plain("".join(f"{record['uid']}\n" for record in found))
        if any(request.rettype in record.get("text", ()) for record in self._records.values()):
            return plain(_to_csv([record["text"][request.rettype] for record in found]))
        if request.retmode == "text":
            raise BadRequest(f"Unsupported rettype parameter value: {request.rettype}")
        root = read_listed(self.name)["root"]
        body = "".join(f"{record['xml']}\n" for record in found)
        return xml(f'<?xml version="1.0" encoding="UTF-8" ?>\n<{root}>\n{body}</{root}>\n')


def _to_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    text = StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else (), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
