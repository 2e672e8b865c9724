"""Limit the size of tool replies: cut between records, account for every input, and name the next call."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from entrez_kit.base.frontend_text import cut_end
from entrez_kit.core.operation import Paging
from entrez_kit.server.record_fields import check_fields, keep_fields
from entrez_kit.server.record_text import RecordText, split_record_text
from entrez_kit.server.shortening import MIN_CUT, count_characters, shorten_value

DEFAULT_LIMIT: Final = 20_000
"""In characters; about 5,000 tokens. Some hosts refuse replies over 25,000 tokens."""
MIN_LIMIT: Final = 1_000
_NOTE: Final = 400
"""Characters reserved for ``reply_cut`` without its lists of ids."""
_NAMED: Final = 150
"""Characters of the reserve for the names of shortened members."""
_MAX_NAME: Final = 100
"""The maximum number of characters of an input in a list of ids."""
_ECHOES: Final = ("outcomes", "requested_pmids", "ids")
"""Members that repeat the inputs; ``reply_cut.ids`` replaces them in a cut reply."""
_MISSING: Final = ("not_found_pmids", "not_found_ids", "unavailable")
"""Members that list inputs without a record; they are never cut."""

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RequestedPage:
    """The page of results that a call requested from a service.

    Args:
        paging: the arguments that select it.
        skipped: the number of results before it.
        size: the number of results requested; None for all.
    """

    paging: Paging
    skipped: int
    size: int | None

    def count_total(self, document: Document, returned: int) -> int:
        """Return the number of requested results that exist, from the start of the page."""
        if self.paging.total is None or (whole := self.paging.total(document)) is None:
            return returned
        left = max(whole - self.skipped, 0)
        return left if self.size is None else min(left, self.size)

    def build_next_arguments(self, end: int) -> dict[str, int]:
        """Return the arguments of the call for the results after ``end``."""
        following = {self.paging.skip: self.skipped + end}
        return following if self.size is None else {**following, self.paging.size: self.size - end}


@dataclass(frozen=True, slots=True)
class Portion:
    """The part of a reply that the caller wants.

    Args:
        member: the member of the document with the records, or with one text of all records.
        fields: the members of records to return, with dots for nested ones; a leading minus omits a member.
        start: the number of records, or lines of a text, before this part.
        limit: the maximum size of the document in characters of compact JSON.
        page: the page of results at a service; None if the tool has no pages.
        duplicate_fields: members that repeat another member, with the name of that member.
        inputs: names of the inputs, in order.
        next_page: the member with the start of the next page, with a dot if nested.
        beside: a member with the id of each record and of results without a record.
        details: the members of the document about its request, which the reply does not have.
        known: the names of all members that records may have, with dots, and their empty values.
        resume: the argument with the inputs, if the next call names those that are left instead of a start.
    """

    member: str = ""
    fields: tuple[str, ...] = ()
    start: int = 0
    limit: int = DEFAULT_LIMIT
    page: RequestedPage | None = None
    duplicate_fields: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    inputs: tuple[str, ...] = ()
    beside: str = ""
    next_page: str = ""
    known: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    details: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    resume: str = ""

    def cut(self, document: Document) -> Document:
        """Return the part of a document that fits the limit, with ``reply_cut`` if something was omitted.

        Every input stays in the reply: with its record, among the missing, or in ``reply_cut.ids``. The reply is larger
        than the limit only if these ids take more than half of it.

        Raises:
            InvalidInput: the records do not have a requested member.
        """
        value = document.get(self.member)
        if isinstance(value, list):
            check_fields(value, self.fields, self.known)
            value = [self._project(record) for record in value]
            document = {**document, self.member: value}
        is_last_page = self.page is None or not isinstance(value, list | str) or self._is_last(document, value)
        if not self.start and is_last_page and count_characters(document) <= self.limit:
            return document
        if isinstance(value, list):
            reply = self._cut_records(document, value)
        elif isinstance(value, str):
            reply = self._cut_text(document, split_record_text(value))
        else:
            reply, cuts = shorten_value(document, self.limit - _NOTE)
            reply["reply_cut"] = _add_cuts({}, cuts, "")
        return self._remove_next_page(reply) if "next_start" in reply["reply_cut"] else reply

    def _remove_next_page(self, reply: Document) -> Document:
        """Remove the cursor of the next page from a reply, because it would skip the rest of this one."""
        outer, _, inner = self.next_page.partition(".")
        if inner:
            return {**reply, outer: {**reply[outer], inner: None}}
        return {name: value for name, value in reply.items() if name != outer}

    def has_too_large(self, document: Document) -> bool:
        """Return whether the first requested record is larger than a reply."""
        records = document.get(self.member)
        return isinstance(records, list) and any(
            count_characters(self._project(record)) > self.limit for record in records[self.start : self.start + 1]
        )

    def _is_last(self, document: Document, value: list[Any] | str) -> bool:
        assert self.page is not None
        count = len(value) if isinstance(value, list) else len(split_record_text(value).parts)
        return self.page.count_total({**document, **self.details}, count) <= count

    def _project(self, record: Any) -> Any:
        """Return a record with the requested members and its ids."""
        if not isinstance(record, dict):
            return record
        out = {path[1:] for path in self.fields if path.startswith("-")}
        fields_to_keep = {path for path in self.fields if not path.startswith("-")}
        out |= {
            duplicate
            for duplicate, first in self.duplicate_fields.items()
            if duplicate not in fields_to_keep and first not in out
        }
        if fields_to_keep:
            fields_to_keep |= {name for name in ("pmid", "id", "pmcid", "source") if name in record}
            lacking = [name for name in self.fields if name in self.known and "." not in name and name not in record]
            record = {**record, **{name: self.known[name] for name in lacking}}
        return keep_fields(record, fields_to_keep, out)

    def _cut_records(self, document: Document, records: list[Any]) -> Document:
        beside = document.get(self.beside) or []
        base, cuts = self._compact_document({**document, self.member: [], **({self.beside: []} if beside else {})})
        statuses = _InputStatuses.of(document, self.inputs, len(records))
        room = self._count_room(base, statuses)
        start = min(self.start, len(records))
        records_that_fit: list[Any] = []
        for number, record in enumerate(records[start:], start):
            size = count_characters(record) + 1 + (count_characters(beside[number]) + 1 if number < len(beside) else 0)
            if size > room:
                if records_that_fit:
                    break
                record, shortened = shorten_value(record, max(room, MIN_CUT))
                cuts += shortened
                size = room
            room -= size
            records_that_fit.append(record)
        end = start + len(records_that_fit)
        base[self.member] = records_that_fit
        if beside:
            while end >= len(records) and end < len(beside) and (size := count_characters(beside[end]) + 1) <= room:
                room, end = room - size, end + 1
            base[self.beside] = beside[:end]
        total = max(len(records), len(beside))
        return {**base, "reply_cut": self._describe(document, statuses, start, end, total, cuts)}

    def _cut_text(self, document: Document, text: RecordText) -> Document:
        base, cuts = self._compact_document({**document, self.member: ""})
        statuses = _InputStatuses.of(document, self.inputs, len(text.parts) if text.has_records else -1)
        room = self._count_room(base, statuses) - count_characters(text.head) - count_characters(text.tail)
        start = end = min(self.start, len(text.parts))
        parts_that_fit: list[str] = []
        too_large: dict[int, int] = {}
        for number, part in enumerate(text.parts[start:], start):
            size = count_characters(part) - 2
            if size > room:
                if parts_that_fit:
                    break
                if text.has_records:
                    too_large[number] = size - room + self.limit
                    end = number + 1
                    continue
            room -= size
            parts_that_fit.append(part)
            end = number + 1
        base[self.member] = text.head + "".join(parts_that_fit) + text.tail
        described = self._describe(document, statuses, start, end, len(text.parts), cuts, too_large)
        return {**base, "reply_cut": described}

    def _count_room(self, base: Document, statuses: "_InputStatuses") -> int:
        """Return the characters available for records, at least half of the limit."""
        reserved = statuses.size * (2 if self.resume else 1)
        return max(self.limit - count_characters(base) - reserved - _NOTE, self.limit // 2)

    def _compact_document(self, document: Document) -> tuple[Document, list[str]]:
        """Return the document without lists of the inputs and with its other members shortened to half of the limit."""
        dropped = [name for name in _ECHOES if name in document and name != self.member]
        remaining = {name: value for name, value in document.items() if name not in dropped}
        if "unavailable" in remaining:
            remaining["unavailable"] = [
                {name: value[:_MAX_NAME] if value == entry["id"] else value for name, value in entry.items()}
                | {"tried_tiers": []}
                for entry in remaining["unavailable"]
            ]
        fixed = {name: remaining.pop(name) for name in (self.member, self.beside, *_MISSING) if name in remaining}
        rest, cuts = shorten_value(remaining, max(self.limit // 2 - _NOTE, self.limit // 4))
        return {**rest, **fixed}, cuts

    def _describe(
        self,
        document: Document,
        statuses: "_InputStatuses",
        start: int,
        end: int,
        count: int,
        cuts: list[str],
        too_large: Mapping[int, int] = MappingProxyType({}),
    ) -> Document:
        """Return ``reply_cut``: the part, the outcome of each input, and the arguments of the next call."""
        skipped, total = 0, count
        following: dict[str, Any] = {"reply_start": end}
        if self.page is not None:
            whole = {**document, **self.details}
            skipped, total = self.page.skipped, self.page.count_total(whole, count)
            if end == count < total and self.page.paging.sent is not None:  # the service may have sent fewer
                end = max(end, self.page.paging.sent(whole) or 0)
            following = self.page.build_next_arguments(end)
        message = f"{self.member} {skipped + start} to {skipped + end} of {skipped + total}."
        described: Document = {"message": message}
        if end < total and self.resume and statuses.is_exact:
            described["message"] += f" Make the same call with {self.resume}: ids.left for the rest."
            described["next_arguments"] = {self.resume: statuses.found[end:]}
        elif end < total:
            next_values = " and ".join(f"{name} {value}" for name, value in following.items())
            described["message"] += f" Make the same call with {next_values} for the rest"
            described["message"] += f", or with a reply_limit over {self.limit}."
            described |= {"next_start": next(iter(following.values())), "next_arguments": following}
        described = _add_cuts(described, cuts, f"; a reply_limit over {self.limit} gives more")
        if too_large:
            too_large_inputs = ", ".join(
                f"{statuses.get_name(n, skipped)} ({least})" for n, least in [*too_large.items()][:5]
            )
            described["message"] += f" Too large for this reply, with the reply_limit each needs: {too_large_inputs}."
        ids = statuses.group_ids(start, end, too_large)
        return {**described, "ids": ids} if ids else described


@dataclass(frozen=True, slots=True)
class _InputStatuses:
    """The outcome of each input.

    Args:
        found: names of the inputs with a record, in the order of the records.
        others: names of the other inputs by their status.
        is_exact: whether each record belongs to one of the names.
    """

    found: list[str]
    others: dict[str, list[str]]
    is_exact: bool

    @classmethod
    def of(cls, document: Document, inputs: Sequence[str], count: int) -> "_InputStatuses":
        """Read the outcomes in a document with ``count`` records; -1 if the number is unknown.

        Inputs in the document's own lists of missing ids are omitted."""
        found: list[str] = []
        others: dict[str, list[str]] = {}
        missing_names = {name for member in _MISSING[:2] for name in document.get(member) or ()}
        missing_names |= {entry["id"] for entry in document.get("unavailable") or ()}
        for name, status in _yield_statuses(document, inputs):
            if status == "found":
                found.append(name[:_MAX_NAME])
            elif name not in missing_names:
                others.setdefault(status, []).append(name[:_MAX_NAME])
        unique = list(dict.fromkeys(found))
        if len(found) != count and len(unique) == count:
            found = unique
        return cls(found, others, len(found) == count)

    @property
    def size(self) -> int:
        """The number of characters of the lists of ids."""
        return count_characters([self.found, self.others]) + 60 if self.found or self.others else 0

    def get_name(self, number: int, skipped: int) -> str:
        """Return the input of a record, or its number."""
        return self.found[number] if self.is_exact else f"number {skipped + number}"

    def group_ids(self, start: int, end: int, too_large: Mapping[int, int]) -> dict[str, list[str]]:
        """Return the inputs by outcome, if the reply has these records."""
        lists = dict(self.others)
        if self.is_exact:
            lists["earlier"], lists["left"] = self.found[:start], self.found[end:]
            lists["too_large"] = [self.found[number] for number in too_large]
            lists["returned"] = [name for n, name in enumerate(self.found[:end]) if n >= start and n not in too_large]
        else:
            lists["found"] = self.found
        return {status: names for status, names in lists.items() if names}


def _yield_statuses(document: Document, inputs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each input in order with its status: found, not_found, invalid or error."""
    if outcomes := document.get("outcomes"):
        for outcome in outcomes:
            yield str(outcome.get("input", outcome.get("id"))), outcome["status"]
        return
    missing = [
        (entry["id"], "error" if entry.get("retryable") else "not_found") for entry in document.get("unavailable", ())
    ]
    for name in inputs:
        if missing and missing[0][0] == name.strip():
            yield missing.pop(0)
        else:
            yield name, "found"


def _add_cuts(described: Document, cuts: list[str], more: str) -> Document:
    """Add the names of shortened members to ``reply_cut``."""
    if not cuts:
        return described
    text = f"Cut: {cut_end(', '.join(cuts), _NAMED)}{more}."
    return {**described, "message": f"{described['message']} {text}" if described else text}
