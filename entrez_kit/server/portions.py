"""Limit the size of tool replies: cut between records, account for every input, and name the next call."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final

from pydantic import BaseModel, Field, ValidationError, create_model

from entrez_kit.base.errors import InvalidInput, UnresolvedEntity
from entrez_kit.base.frontend_text import cut_end
from entrez_kit.core.argument_errors import invalid_arguments
from entrez_kit.core.model import Request
from entrez_kit.core.operation import Operation, Paging, Several
from entrez_kit.server.record_text import RecordText, split_record_text

DEFAULT_LIMIT: Final = 20_000
"""In characters; about 5,000 tokens. Some hosts refuse replies over 25,000 tokens."""
MIN_LIMIT: Final = 1_000
_NOTE: Final = 400
"""Characters reserved for ``reply_cut`` without its lists of ids."""
_NAMED: Final = 150
"""Characters of the reserve for the names of shortened members."""
_MIN_CUT: Final = 300
"""The minimum length of a shortened text or list; a record with only shorter ones is not cut."""
_DEEPEST: Final = 4
"""The maximum depth of a member that ``fields`` can name."""
_MAX_NAME: Final = 100
"""The maximum number of characters of an input in a list of ids."""
_ECHOES: Final = ("outcomes", "requested_pmids", "ids")
"""Members that repeat the inputs; ``reply_cut.ids`` replaces them in a cut reply."""
_MISSING: Final = ("not_found_pmids", "not_found_ids", "unavailable")
"""Members that list inputs without a record; they are never cut."""

Document = dict[str, Any]


class ReplyArguments(Request):
    """Additional arguments of tools with large replies."""

    fields: list[str] = Field(
        default=[],
        max_length=100,
        description="Only these; -title omits one, -abstract_text gives sections.",
    )
    reply_start: int | None = Field(default=None, ge=0, description="From reply_cut.")
    reply_limit: int = Field(default=DEFAULT_LIMIT, ge=MIN_LIMIT, description="Characters.")


def add_portions(schema: Mapping[str, Any], operation: Operation[Any, Any]) -> dict[str, Any]:
    """Return the schema of a tool with limited replies. A tool with an offset does not need ``reply_start``."""
    from entrez_kit.server.schemas import build_input_schema

    properties = build_input_schema(ReplyArguments)["properties"]
    del properties["fields"]["maxItems"]
    if not operation.agents.duplicate_fields:  # records with few members
        del properties["fields"]
    elif operation.agents.fields_by_level:
        properties["fields"]["description"] += f" {_describe_fields(operation)}"
    if operation.agents.paging is not None and not operation.agents.paging.only_with:
        del properties["reply_start"]
    return {**schema, "properties": {**schema["properties"], **properties}}


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
            _check_fields(value, self.fields, self.known)
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
            reply, cuts = _shorten(document, self.limit - _NOTE)
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
        wanted = {path for path in self.fields if not path.startswith("-")}
        out |= {again for again, first in self.duplicate_fields.items() if again not in wanted and first not in out}
        if wanted:
            wanted |= {name for name in ("pmid", "id", "pmcid", "source") if name in record}
            lacking = [name for name in self.fields if name in self.known and "." not in name and name not in record]
            record = {**record, **{name: self.known[name] for name in lacking}}
        return _keep(record, "", wanted, out)

    def _cut_records(self, document: Document, records: list[Any]) -> Document:
        beside = document.get(self.beside) or []
        base, cuts = self._compact_document({**document, self.member: [], **({self.beside: []} if beside else {})})
        account = _Account.of(document, self.inputs, len(records))
        room = self._count_room(base, account)
        start = min(self.start, len(records))
        taken: list[Any] = []
        for number, record in enumerate(records[start:], start):
            size = count_characters(record) + 1 + (count_characters(beside[number]) + 1 if number < len(beside) else 0)
            if size > room:
                if taken:
                    break
                record, shortened = _shorten(record, max(room, _MIN_CUT))
                cuts += shortened
                size = room
            room -= size
            taken.append(record)
        end = start + len(taken)
        base[self.member] = taken
        if beside:
            while end >= len(records) and end < len(beside) and (size := count_characters(beside[end]) + 1) <= room:
                room, end = room - size, end + 1
            base[self.beside] = beside[:end]
        total = max(len(records), len(beside))
        return {**base, "reply_cut": self._describe(document, account, start, end, total, cuts)}

    def _cut_text(self, document: Document, text: RecordText) -> Document:
        base, cuts = self._compact_document({**document, self.member: ""})
        account = _Account.of(document, self.inputs, len(text.parts) if text.has_records else -1)
        room = self._count_room(base, account) - count_characters(text.head) - count_characters(text.tail)
        start = end = min(self.start, len(text.parts))
        taken: list[str] = []
        too_large: dict[int, int] = {}
        for number, part in enumerate(text.parts[start:], start):
            size = count_characters(part) - 2
            if size > room:
                if taken:
                    break
                if text.has_records:
                    too_large[number] = size - room + self.limit
                    end = number + 1
                    continue
            room -= size
            taken.append(part)
            end = number + 1
        base[self.member] = text.head + "".join(taken) + text.tail
        described = self._describe(document, account, start, end, len(text.parts), cuts, too_large)
        return {**base, "reply_cut": described}

    def _count_room(self, base: Document, account: "_Account") -> int:
        """Return the characters available for records, at least half of the limit."""
        named = account.size * (2 if self.resume else 1)
        return max(self.limit - count_characters(base) - named - _NOTE, self.limit // 2)

    def _compact_document(self, document: Document) -> tuple[Document, list[str]]:
        """Return the document without lists of the inputs and with its other members shortened to half of the limit."""
        dropped = [name for name in _ECHOES if name in document and name != self.member]
        remaining = {name: value for name, value in document.items() if name not in dropped}
        if "unavailable" in remaining:
            remaining["unavailable"] = [
                {name: value[:_MAX_NAME] if value == one["id"] else value for name, value in one.items()}
                | {"tried_tiers": []}
                for one in remaining["unavailable"]
            ]
        fixed = {name: remaining.pop(name) for name in (self.member, self.beside, *_MISSING) if name in remaining}
        rest, cuts = _shorten(remaining, max(self.limit // 2 - _NOTE, self.limit // 4))
        return {**rest, **fixed}, cuts

    def _describe(
        self,
        document: Document,
        account: "_Account",
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
            skipped, total = self.page.skipped, self.page.count_total({**document, **self.details}, count)
            following = self.page.build_next_arguments(end)
            if end == count < total:  # the service may have sent fewer than requested
                sent = (
                    self.page.paging.sent({**document, **self.details}) if self.page.paging.sent is not None else count
                )
                end = max(end, sent or 0)
                following = self.page.build_next_arguments(end)
        message = f"{self.member} {skipped + start} to {skipped + end} of {skipped + total}."
        described: Document = {"message": message}
        if end < total and self.resume and account.is_exact:
            described["message"] += f" Make the same call with {self.resume}: ids.left for the rest."
            described["next_arguments"] = {self.resume: account.found[end:]}
        elif end < total:
            named = " and ".join(f"{name} {value}" for name, value in following.items())
            described["message"] += f" Make the same call with {named} for the rest"
            described["message"] += f", or with a reply_limit over {self.limit}."
            described |= {"next_start": next(iter(following.values())), "next_arguments": following}
        described = _add_cuts(described, cuts, f"; a reply_limit over {self.limit} gives more")
        if too_large:
            listed = ", ".join(f"{account.name_of(n, skipped)} ({least})" for n, least in [*too_large.items()][:5])
            described["message"] += f" Too large for this reply, with the reply_limit each needs: {listed}."
        ids = account.group_ids(start, end, too_large)
        return {**described, "ids": ids} if ids else described


@dataclass(frozen=True, slots=True)
class _Account:
    """The outcome of each input.

    Args:
        found: names of the inputs with a record, in the order of the records.
        others: names of the other inputs by their status.
        is_exact: whether each record belongs to one of the names.
        document: the reply, whose lists of missing ids are not repeated.
    """

    found: list[str]
    others: dict[str, list[str]]
    is_exact: bool

    @classmethod
    def of(cls, document: Document, inputs: Sequence[str], count: int) -> "_Account":
        """Build the account of a document with ``count`` records; -1 if the number is unknown."""
        found: list[str] = []
        others: dict[str, list[str]] = {}
        listed = {name for member in _MISSING[:2] for name in document.get(member) or ()}
        listed |= {one["id"] for one in document.get("unavailable") or ()}
        for name, status in _yield_statuses(document, inputs):
            if status == "found":
                found.append(name[:_MAX_NAME])
            elif name not in listed:
                others.setdefault(status, []).append(name[:_MAX_NAME])
        unique = list(dict.fromkeys(found))
        if len(found) != count and len(unique) == count:
            found = unique
        return cls(found, others, len(found) == count)

    @property
    def size(self) -> int:
        """The number of characters of the lists of ids."""
        return count_characters([self.found, self.others]) + 60 if self.found or self.others else 0

    def name_of(self, number: int, skipped: int) -> str:
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
    missing = [(one["id"], "error" if one.get("retryable") else "not_found") for one in document.get("unavailable", ())]
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


def take_portion(
    arguments: Mapping[str, Any], operation: Operation[Any, Any], *, resume: str = ""
) -> tuple[dict[str, Any], list[Portion]]:
    """Return the arguments of the operation, and the requested portion of each large member.

    Args:
        resume: see ``Portion``.

    Raises:
        InvalidInput: an argument of the portion is invalid; or the operation's own error for it.
    """
    rest = {name: value for name, value in arguments.items() if name not in ReplyArguments.model_fields}
    try:
        own = ReplyArguments.model_validate({name: arguments[name] for name in arguments if name not in rest})
    except ValidationError as exc:
        raise (operation.argument_error or invalid_arguments)(exc, ReplyArguments) from None
    start, limit = own.reply_start or 0, own.reply_limit
    wanted = tuple(path.strip() for path in own.fields if path.strip())
    rest |= _select_level({name.partition(".")[0] for name in wanted if not name.startswith("-")}, rest, operation)
    known = list_record_fields(operation) if wanted else {}
    paging, page = operation.agents.paging, None
    if paging is not None and (not paging.only_with or rest.get(paging.only_with)):
        skipped, size = (_to_number(rest.get(name)) for name in (paging.skip, paging.size))
        if start:  # the number in a reply counts from the first result
            skipped = max(skipped or 0, start)
            rest, start = {**rest, paging.skip: skipped}, 0
        default = operation.request.model_fields[paging.size].default
        page = RequestedPage(paging, skipped or 0, default if size is None else size)
        if paging.fit is not None:
            rest = paging.fit(rest, limit, bool([name for name in wanted if not name.startswith("-")]))
    inputs = tuple(_name_inputs(next((rest[name] for name in operation.agents.inputs if rest.get(name)), ())))
    members = operation.agents.portions or ("",)
    beside = members[-1] if page is not None and len(members) > 1 and not page.paging.only_with else ""
    return rest, [
        Portion(
            member=member,
            fields=wanted,
            start=start,
            limit=limit,
            page=page,
            duplicate_fields=operation.agents.duplicate_fields,
            inputs=inputs,
            beside=beside if beside != member else "",
            next_page=operation.agents.next_page,
            known=known,
            resume=resume,
        )
        for member in members
    ]


def read_several(arguments: dict[str, Any], operation: Operation[Any, Any], several: Several) -> list[str]:
    """Take the list of values out of the arguments, with the single value before it; empty if no list was given.

    Raises:
        EntrezKitError: the operation's own error for a list that is too long or has other values than texts, or for
            another argument.
    """
    listed = arguments.pop(several.argument, None)
    if isinstance(arguments.get(several.field), list):
        listed = [*arguments.pop(several.field), *(listed or ())]
    if not listed:
        return []
    values = [one for one in (arguments.pop(several.field, None),) if one and one not in listed] + listed
    build: Any = create_model  # its type does not allow computed names
    model = build("Listed", __base__=Request, **{several.argument: (list[str], Field(max_length=several.most))})
    try:
        model.model_validate({several.argument: values})
    except ValidationError as exc:
        raise (operation.argument_error or invalid_arguments)(exc, model) from None
    own = {name: value for name, value in arguments.items() if name not in ReplyArguments.model_fields}
    for value in values:
        with suppress(UnresolvedEntity):  # an outcome of this value
            operation.build({**own, several.field: value})
            break
    return [str(value) for value in values]


def _select_level(
    fields: Collection[str], arguments: Mapping[str, Any], operation: Operation[Any, Any]
) -> dict[str, Any]:
    """Return the arguments with which records have these fields: those that turn them on, and a level that has them."""
    turned_on_by, by_level = operation.agents.field_arguments, operation.agents.fields_by_level
    needed: dict[str, Any] = {turned_on_by[name]: True for name in fields if name in turned_on_by}
    usual = operation.agents.defaults.get("detail_level") or _get_default_level(operation)
    has = by_level.get(str(arguments.get("detail_level") or usual), ())
    listed = {name for names in by_level.values() for name in names}
    lacking = {name for name in fields if name in listed and name not in has}
    if lacking:
        best = max(by_level, key=lambda level: len(lacking.intersection(by_level[level])))
        needed["detail_level"] = best
    return needed


def _get_default_level(operation: Operation[Any, Any]) -> str:
    info = operation.request.model_fields.get("detail_level")
    return str(info.default) if info is not None else ""


def _describe_fields(operation: Operation[Any, Any]) -> str:
    """Return the names of the fields of records by level, each name once."""
    earlier: set[str] = set()
    lines = []
    for level, names in operation.agents.fields_by_level.items():
        if new := [name for name in names if name not in earlier]:
            lines.append(f"{level}{' also' if earlier else ''}: {', '.join(new)}.")
            earlier.update(new)
    return " ".join(lines)


def list_record_fields(operation: Operation[Any, Any]) -> Mapping[str, Any]:
    """Return the names of all members of records, with dots for nested ones, and their empty values: ``[]`` or null."""
    from entrez_kit.server.schemas import build_result_schema

    result: type[BaseModel] = operation.result
    schema = build_result_schema(result)
    definitions = schema.get("$defs", {})
    found: dict[str, Any] = {}

    def walk(part: Mapping[str, Any], above: str) -> None:
        while "$ref" in part:
            part = definitions[part["$ref"].rpartition("/")[2]]
        for option in (*part.get("anyOf", ()), *part.get("oneOf", ()), *([part["items"]] if "items" in part else ())):
            walk(option, above)
        for name, inner in part.get("properties", {}).items():
            place = above + name
            if place not in found and place.count(".") < _DEEPEST:
                kinds = {option.get("type") for option in (inner, *inner.get("anyOf", ()))}
                found[place] = [] if "array" in kinds else None
                walk(inner, f"{place}.")

    walk(schema["properties"].get(operation.result.RECORDS, {}), "")
    return MappingProxyType(found)


def _to_number(value: Any) -> int | None:
    """Return an integer, also from a string; None for other values."""
    try:
        return None if isinstance(value, bool) or value is None else int(str(value))
    except ValueError:
        return None


def _name_inputs(inputs: Any) -> Iterator[str]:
    """Yield a name for each input: the id, or the key or number of an object."""
    for number, one in enumerate(inputs if isinstance(inputs, list) else (), start=1):
        yield str(one.get("key") or number) if isinstance(one, dict) else str(one)


def count_characters(value: Any) -> int:
    """Return the characters of a value as compact JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def wrong_argument(
    name: str,
    value: object,
    problem: str,
    *,
    hint: str = "Correct the named argument and call again; the schema lists the accepted arguments.",
) -> InvalidInput:
    """Return the error for an invalid argument, of a call or of a prompt."""
    return InvalidInput(
        f"{name}: {problem}",
        invalid_input=f"{name}={str(value)[:200]}",
        recovery_hint=hint,
        details={"reason": "invalid_arguments", "errors": [{"field": name, "message": problem}]},
    )


def _check_fields(records: Sequence[Any], fields: Sequence[str], may_have: Collection[str]) -> None:
    known = {*may_have, *(name for record in records for name in _yield_names(record))} if fields else set()
    for requested in fields:
        name = requested.removeprefix("-")
        if known and name not in known:
            top = sorted(name for name in known if "." not in name)
            near = get_close_matches(name, known, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise wrong_argument(
                "fields", name, f"these records have no {name}{meant or '.'} They have {', '.join(top)}."
            )


def _yield_names(value: Any, above: str = "") -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _yield_names(item, above)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield above + name
            yield from _yield_names(inner, f"{above}{name}.")


def _keep(value: Any, above: str, wanted: set[str], out: set[str]) -> Any:
    if isinstance(value, list):
        return [_keep(item, above, wanted, out) for item in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for name, inner in value.items():
        path = above + name
        if path in out:
            continue
        if not wanted or path in wanted:
            result[name] = _keep(inner, f"{path}.", set(), out)
        elif any(other.startswith(f"{path}.") for other in wanted):
            result[name] = _keep(inner, f"{path}.", wanted, out)
    return result


def _shorten(value: Any, room: int) -> tuple[Any, list[str]]:
    """Cut the longest texts, then the longest lists of a value until it fits; return the value and their names."""
    value = json.loads(json.dumps(value, ensure_ascii=False, default=str))
    cuts: dict[str, str] = {}
    while (excess := count_characters(value) - room) > 0:
        places = list(_find_places(value))
        texts = [place for place in places if isinstance(text := place[0][place[1]], str) and len(text) > _MIN_CUT]
        lists = [place for place in places if isinstance(place[0][place[1]], list)]
        lists = [place for place in lists if count_characters(place[0][place[1]]) > _MIN_CUT]
        holder, key, name = max(texts or lists, key=lambda place: len(place[0][place[1]]), default=(None, None, ""))
        if holder is None:
            break
        content = holder[key]
        if isinstance(content, str):
            holder[key] = content[: max(_MIN_CUT - 10, len(content) - excess - 10)].rstrip("…") + "…"
            cuts[name] = f"{name} at …"
        else:
            total = cuts.get(name, f" of {len(content)}").rpartition(" of ")[2]
            while len(content) > 1 and excess > 0:
                excess -= count_characters(content.pop()) + 1
            cuts[name] = f"{name} after {len(content)} of {total}"
    return value, list(cuts.values())


def _find_places(value: Any, above: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Yield each text, and each list of several, in a value: its container, its key, and its path."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        name = above if isinstance(value, list) else f"{above}.{key}" if above else str(key)
        if isinstance(inner, str) or (isinstance(inner, list) and len(inner) > 1):
            yield value, key, name
        if not isinstance(inner, str):
            yield from _find_places(inner, name)
