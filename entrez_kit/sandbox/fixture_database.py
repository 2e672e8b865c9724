"""A database of the sandbox, described by one file of the fixtures, ``entrez/NAME.json``.

The file has the search fields, the formats of EFetch, and the records in order of relevance. Each record has its
searchable values, its summary, its links, and its text in each format. UID, [All Fields] and the filter "all" are
derived.

A reply has the first format with the rettype and retmode of the request. A format without ``rettypes`` or ``retmodes``
fits every request; "" in them fits a request without the parameter. ``{place}`` in a text is the number of the record
in the reply, and ``none`` is the content of a reply without records. If a record has no text in the format "xml", it
is an element of a file in the folder ``NAME``, with its UID at ``uid_path``.

``bad_id`` is the error for an invalid id; without it, invalid ids are omitted like unknown ones, unless no id is valid.
``sorts`` has the known orders of results, each with the member of the summary to sort by, or null for the relevance.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from lxml import etree

from entrez_kit.local.eutils.database import BadRequest, FetchCall, SearchCall, SearchOutcome
from entrez_kit.local.eutils.replies import LocalReply, answer_text, answer_xml
from entrez_kit.local.eutils.small_query import SmallDatabase, SmallQuery, Values
from entrez_kit.local.records.collection import RecordCollection
from entrez_kit.local.records.fixture_files import read_fixtures
from entrez_kit.query.fields import define_field
from entrez_kit.sandbox.links import LinkedDatabase, read_small_databases
from entrez_kit.sandbox.taxonomy import OrganismQuery

FixtureRecord = Mapping[str, Any]


class FixtureDatabase(LinkedDatabase, SmallDatabase[FixtureRecord]):
    """The database in one file of the fixtures; an id may be a number or a name of a record, such as an accession.

    Args:
        name: the name of the database.
        collection: the articles; links to others are omitted.
        records: the records, in place of those of the file.
    """

    def __init__(
        self, name: str, collection: RecordCollection | None = None, records: Iterable[FixtureRecord] | None = None
    ) -> None:
        self._about = read_small_databases()[name]
        self.name, self.menu, self.description = name, self._about["menu"], self._about["description"]
        self.summary_dtd, self.collection = self._about["summary_dtd"], collection
        self.has_version_1 = self._about.get("has_version_1", True)
        self._records = {record["uid"]: record for record in records or self._about["records"]}
        self._uids = {alias: uid for uid, record in self.records.items() for alias in record.get("names", ())}

    @property
    def records(self) -> Mapping[str, FixtureRecord]:
        """The records by UID."""
        return self._records

    def to_canonical(self, uid: str) -> str | None:
        """Return the UID of a number or of a known accession; None if it is neither."""
        return self._uids.get(uid.strip().upper()) or super().to_canonical(uid)

    def build_query(self) -> SmallQuery:
        """Return a query that searches the records."""
        fields = [define_field(**row) for row in self._about["fields"]]
        kind = OrganismQuery if any(field.code == "TID" for field in fields) else SmallQuery
        return kind({uid: _list_values(uid, record["values"]) for uid, record in self.records.items()}, fields)

    def search(self, request: SearchCall) -> SearchOutcome:
        """Find records, most relevant first or in a known order."""
        outcome = super().search(request)
        sorts, order = self._about.get("sorts"), (request.sort or "").strip().lower()
        if sorts is None or not order:
            return outcome
        if order not in sorts:
            outcome.resolved.messages.append(f"Unknown sort schema '{request.sort}' ignored")
        if (name := sorts.get(order)) is None:
            return outcome
        return replace(outcome, ids=sorted(outcome.ids, key=lambda uid: self.records[uid]["summary"][name].lower()))

    def build_summary(self, uid: str) -> Mapping[str, Any] | None:
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
                if self.to_canonical(uid) is None:
                    raise BadRequest(bad_id.format(uid))
        records = self.find_all(request.ids)
        for form in self._about["formats"]:
            requested = (("rettypes", request.rettype), ("retmodes", request.retmode))
            if all(value in form.get(name, (value,)) for name, value in requested):
                parts = [
                    self._read_part(record, form["part"], number) for number, record in enumerate(records, start=1)
                ]
                content = form.get("between", "").join(parts) if parts else form.get("none", "").format(request.ids[0])
                text = f"{form.get('start', '')}{content}{form.get('end', '')}"
                return answer_xml(text) if text.startswith("<?xml") else answer_text(text)
        raise BadRequest(f"Unsupported rettype parameter value: {request.rettype}")

    def _read_part(self, record: FixtureRecord, name: str, number: int) -> str:
        if name == "uilist":
            return f"{record['uid']}\n"
        text: str | None = record["parts"].get(name)
        return self._elements[record["uid"]] if text is None else text.replace("{place}", str(number))

    @cached_property
    def _elements(self) -> Mapping[str, str]:
        """The XML of the records that are elements of files."""
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        elements: list[Any] = [one for file in read_fixtures(self.name, ".xml") for one in etree.XML(file, parser)]
        path = self._about.get("uid_path", "")
        found = {
            element.findtext(path): etree.tostring(element, encoding="unicode", with_tail=False) for element in elements
        }
        return {uid: f"{text}\n" for uid, text in found.items()}


def _list_values(uid: str, values: Values) -> Values:
    return {"UID": (uid,), "FILT": ("all",), "ALL": [text for listed in values.values() for text in listed], **values}
