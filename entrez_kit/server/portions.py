"""Portions: a reply that is larger than an agent can read is cut, says what was cut, and how to get the rest."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from entrez_kit.errors import InvalidInput
from entrez_kit.operation import Operation

DEFAULT_LIMIT: Final = 20_000
"""Characters; about 5,000 tokens. Some hosts refuse what has over 25,000 tokens, and show none of it."""
LEAST_LIMIT: Final = 1_000
_NOTE: Final = 350
"""Characters that are kept free for what is said about a cut."""
_SHORTEST_CUT: Final = 300
"""Texts are not cut to less; a record of nothing but short ones stays whole."""

ARGUMENTS: Final[Mapping[str, Any]] = {
    "fields": {
        "type": "array",
        "description": "Only these members of records, e.g. title; -title leaves it out.",
        "items": {"type": "string"},
    },
    "reply_start": {"type": "integer", "description": "Where a cut reply goes on."},
    "reply_limit": {"type": "integer", "description": "Characters of a reply.", "default": DEFAULT_LIMIT},
}
"""What tools with large replies take besides the arguments of their operations; JSON Schemas."""


def with_portions(schema: Mapping[str, Any], operation: Operation[Any, Any]) -> dict[str, Any]:
    """Return the schema of a tool whose replies come in portions. One that skips results by itself goes on so."""
    shown = dict(ARGUMENTS)
    if operation.cut_by is not None or operation.portions[0] != "articles":  # whose records have few members
        del shown["fields"]
    if "offset" in schema["properties"]:
        del shown["reply_start"]
    return {**schema, "properties": {**schema["properties"], **shown}}


Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Portion:
    """Which part of a reply is wanted.

    Args:
        member: of the document, which holds the records or, as a text, all of it.
        fields: members of records, with dots into those inside; the others are left out. After a minus: left out.
        start: how many records, or characters of a text, came before.
        limit: characters of the document as compact JSON.
        offset: how many results the tool skipped by an argument of its own, where it has one.
    """

    member: str
    fields: tuple[str, ...] = ()
    start: int = 0
    limit: int = DEFAULT_LIMIT
    offset: int | None = None

    def of(self, document: Document) -> Document:
        """Return a document with what is wanted, and beside it ``reply_cut`` where something was left out for size.

        Raises:
            InvalidInput: the records have no member of a name that was asked for.
        """
        held = document.get(self.member)
        if isinstance(held, str):
            return self._of_text(document, held)
        if not isinstance(held, list):
            return document
        records = [_projected(record, self.fields) for record in held] if self.fields else held
        _check_fields(held, self.fields)
        room = self.limit - size_of({**document, self.member: []}) - _NOTE
        taken: list[Any] = []
        shortened = False
        for record in records[self.start :]:
            size = size_of(record) + 1
            if size > room:
                if taken:
                    break
                record = _shortened(record, max(room, _SHORTEST_CUT))
                shortened, size = size_of(record) + 1 < size, room
            room -= size
            taken.append(record)
        end = self.start + len(taken)
        whole = {**document, self.member: taken}
        if end >= len(records) and not shortened and not self.start:
            return whole
        return {**whole, "reply_cut": self._said(end, len(records), shortened)}

    def has_too_large(self, document: Document) -> bool:
        """Tell whether the first record that is wanted is larger than a portion by itself."""
        records = document.get(self.member)
        return isinstance(records, list) and any(
            size_of(_projected(record, self.fields)) > self.limit for record in records[self.start : self.start + 1]
        )

    def _of_text(self, document: Document, text: str) -> Document:
        room = max(self.limit - size_of({**document, self.member: ""}) - _NOTE, _SHORTEST_CUT)
        end = self.start + room
        if not self.start and size_of(text) <= room:
            return document
        while size_of(text[self.start : end]) > room:
            end -= max(1, (size_of(text[self.start : end]) - room) // 2)
        whole = {**document, self.member: text[self.start : end]}
        return {**whole, "reply_cut": self._said(min(end, len(text)), len(text), shortened=False)}

    def _said(self, end: int, total: int, shortened: bool) -> Document:
        """Return what was cut, and how to go on."""
        message = f"{self.member} {self.start} to {end} of {total}."
        if end < total:
            place = f"reply_start {end}" if self.offset is None else f"offset {self.offset + end}"
            message += f" Make the same call with {place} for the rest, or with a reply_limit over {self.limit}."
        if shortened:
            message += f" Texts that end in … were cut; a reply_limit over {self.limit} gives more of them."
        return {"message": message, **({"next_start": end} if end < total else {})}


def take_portion(arguments: Mapping[str, Any], operation: Operation[Any, Any]) -> tuple[dict[str, Any], list[Portion]]:
    """Return the arguments of the operation, and which portion of the reply is wanted, for every member it may have.

    Raises:
        InvalidInput: an argument of the portion makes no sense.
    """
    rest = {name: value for name, value in arguments.items() if name not in ARGUMENTS}
    fields = arguments.get("fields") or []
    if not isinstance(fields, list) or not all(isinstance(field, str) for field in fields):
        raise _wrong("fields", fields, "must be a list of names")
    numbers = {}
    for name, least, default in (("reply_start", 0, 0), ("reply_limit", LEAST_LIMIT, DEFAULT_LIMIT)):
        given = arguments.get(name)
        try:
            numbers[name] = default if given in (None, "") else int(str(given))
        except ValueError:
            raise _wrong(name, given, "must be a whole number") from None
        if numbers[name] < least:
            raise _wrong(name, given, f"must be {least} or more")
    wanted = tuple(field.strip() for field in fields if field.strip())
    skipped = rest.get("offset", 0) if "offset" in operation.request.model_fields else None
    offset = skipped if skipped is None or isinstance(skipped, int) else 0
    start, limit = numbers["reply_start"], numbers["reply_limit"]
    return rest, [Portion(member, wanted, start, limit, offset) for member in operation.portions]


def size_of(value: Any) -> int:
    """Return the characters of a value as compact JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def _wrong(name: str, given: object, problem: str) -> InvalidInput:
    return InvalidInput(
        f"{name}: {problem}",
        invalid_input=f"{name}={str(given)[:200]}",
        recovery_hint="Correct the named argument and call again; the schema lists what is accepted.",
        details={"reason": "invalid_arguments", "errors": [{"field": name, "message": problem}]},
    )


def _check_fields(records: Sequence[Any], fields: Sequence[str]) -> None:
    known = {name for record in records for name in _names_in(record)}
    for field in fields:
        name = field.removeprefix("-")
        if known and name not in known:
            top = sorted(name for name in known if "." not in name)
            near = get_close_matches(name, known, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise _wrong("fields", name, f"these records have no {name}{meant or '.'} They have {', '.join(top)}.")


def _names_in(value: Any, above: str = "") -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _names_in(item, above)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield above + name
            yield from _names_in(inner, f"{above}{name}.")


def _projected(record: Any, fields: Sequence[str]) -> Any:
    """Return a record with the members that are wanted, and those that say which record it is."""
    if not isinstance(record, dict):
        return record
    out = {field[1:] for field in fields if field.startswith("-")}
    wanted = {field for field in fields if not field.startswith("-")}
    if wanted:
        wanted |= {name for name in ("pmid", "id", "pmcid", "source") if name in record}
    return _kept(record, "", wanted, out)


def _kept(value: Any, above: str, wanted: set[str], out: set[str]) -> Any:
    if isinstance(value, list):
        return [_kept(item, above, wanted, out) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for name, inner in value.items():
        path = above + name
        if path in out:
            continue
        if not wanted or path in wanted:
            kept[name] = _kept(inner, f"{path}.", set(), out)
        elif any(field.startswith(f"{path}.") for field in wanted):
            kept[name] = _kept(inner, f"{path}.", wanted, out)
    return kept


def _shortened(record: Any, room: int) -> Any:
    """Return a record whose longest texts are cut until it fits."""
    record = json.loads(json.dumps(record, ensure_ascii=False, default=str))
    while (excess := size_of(record) - room) > 0:
        holder, key = max(_texts_in(record), key=lambda place: len(place[0][place[1]]), default=(None, None))
        if holder is None or len(holder[key]) <= _SHORTEST_CUT:
            break
        text = holder[key]
        holder[key] = text[: max(_SHORTEST_CUT - 1, len(text) - excess - 1)].rstrip("…") + "…"
    return record


def _texts_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every text inside a value, as what holds it and where."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(inner, str):
            yield value, key
        else:
            yield from _texts_in(inner)
