"""Portions: a reply that is larger than an agent can read is cut, says what was cut, and how to get the rest."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final

from entrez_kit.errors import InvalidInput
from entrez_kit.operation import Operation

DEFAULT_LIMIT: Final = 20_000
"""Characters; about 5,000 tokens. Some hosts refuse what has over 25,000 tokens, and show none of it."""
LEAST_LIMIT: Final = 1_000
_NOTE: Final = 400
"""Characters that are kept free for what is said about a cut."""
_NAMED: Final = 150
"""Characters of that for the names of what was cut inside of records."""
_SHORTEST_CUT: Final = 300
"""Texts and lists are not cut to less; a record of nothing but short ones stays whole."""

ARGUMENTS: Final[Mapping[str, Any]] = {
    "fields": {
        "type": "array",
        "description": "Only these members of records; -title leaves one out, -abstract_text gives sections.",
        "items": {"type": "string"},
    },
    "reply_start": {"type": "integer", "description": "From reply_cut."},
    "reply_limit": {"type": "integer", "default": DEFAULT_LIMIT},
}
"""What tools with large replies take besides the arguments of their operations; JSON Schemas."""


def with_portions(schema: Mapping[str, Any], operation: Operation[Any, Any]) -> dict[str, Any]:
    """Return the schema of a tool whose replies come in portions. One that skips results by itself goes on so."""
    shown = dict(ARGUMENTS)
    if not operation.once:  # whose records have few members
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
        skip: the argument of the tool that skips results, and how many it skipped; None where there is none.
        once: members that say what another one says, which is named after them.
    """

    member: str = ""
    fields: tuple[str, ...] = ()
    start: int = 0
    limit: int = DEFAULT_LIMIT
    skip: tuple[str, int] | None = None
    once: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, document: Document) -> Document:
        """Return a document with what is wanted, and beside it ``reply_cut`` where something was left out for size.

        Raises:
            InvalidInput: the records have no member of a name that was asked for.
        """
        held = document.get(self.member)
        if isinstance(held, str):
            document = self._of_text(document, held)
        elif isinstance(held, list):
            document = self._of_records(document, held)
        if size_of(document) <= self.limit:
            return document
        said = document.pop("reply_cut", {})
        document, cuts = _shortened(document, self.limit - size_of({"reply_cut": said}) - _NOTE)
        return {**document, "reply_cut": self._also(said, cuts)} if cuts or said else document

    def _of_records(self, document: Document, held: list[Any]) -> Document:
        _check_fields(held, self.fields)
        records = [self._projected(record) for record in held]
        room = self.limit - size_of({**document, self.member: []}) - _NOTE
        taken: list[Any] = []
        cuts: list[str] = []
        for record in records[self.start :]:
            size = size_of(record) + 1
            if size > room:
                if taken:
                    break
                record, cuts = _shortened(record, max(room, _SHORTEST_CUT))
                size = room
            room -= size
            taken.append(record)
        end = self.start + len(taken)
        whole = {**document, self.member: taken}
        if end >= len(records) and not cuts and not self.start:
            return whole
        return {**whole, "reply_cut": self._also(self._said(end, len(records)), cuts)}

    def _projected(self, record: Any) -> Any:
        """Return a record with the members that are wanted, and those that say which record it is."""
        if not isinstance(record, dict):
            return record
        out = {field[1:] for field in self.fields if field.startswith("-")}
        wanted = {field for field in self.fields if not field.startswith("-")}
        out |= {again for again, first in self.once.items() if again not in wanted and first not in out}
        if wanted:
            wanted |= {name for name in ("pmid", "id", "pmcid", "source") if name in record}
        return _kept(record, "", wanted, out)

    def has_too_large(self, document: Document) -> bool:
        """Tell whether the first record that is wanted is larger than a portion by itself."""
        records = document.get(self.member)
        return isinstance(records, list) and any(
            size_of(self._projected(record)) > self.limit for record in records[self.start : self.start + 1]
        )

    def _of_text(self, document: Document, text: str) -> Document:
        room = max(self.limit - size_of({**document, self.member: ""}) - _NOTE, _SHORTEST_CUT)
        end = self.start + room
        if not self.start and size_of(text) <= room:
            return document
        while size_of(text[self.start : end]) > room:
            end -= max(1, (size_of(text[self.start : end]) - room) // 2)
        whole = {**document, self.member: text[self.start : end]}
        return {**whole, "reply_cut": self._said(min(end, len(text)), len(text))}

    def _said(self, end: int, total: int) -> Document:
        """Return which part this is, and how to go on."""
        message = f"{self.member} {self.start} to {end} of {total}."
        if end >= total:
            return {"message": message}
        name, place = ("reply_start", end) if self.skip is None else (self.skip[0], self.skip[1] + end)
        message += f" Make the same call with {name} {place} for the rest, or with a reply_limit over {self.limit}."
        return {"message": message, "next_start": end}

    def _also(self, said: Document, cuts: list[str]) -> Document:
        """Return what is said of a cut, with what was cut inside of records."""
        if not cuts:
            return said
        names = ", ".join(cuts)
        names = names if len(names) <= _NAMED else f"{names[: _NAMED - 1]}…"
        more = f"Cut: {names}" + (f"; a reply_limit over {self.limit} gives more." if self.member else ".")
        return {**said, "message": f"{said['message']} {more}" if said else more}


def take_portion(arguments: Mapping[str, Any], operation: Operation[Any, Any]) -> tuple[dict[str, Any], list[Portion]]:
    """Return the arguments of the operation, and which portion of the reply is wanted, for every member it may have.

    Raises:
        InvalidInput: an argument of the portion makes no sense.
    """
    rest = {name: value for name, value in arguments.items() if name not in ARGUMENTS}
    fields = arguments.get("fields") or []
    if not isinstance(fields, list) or not all(isinstance(field, str) for field in fields):
        raise wrong_argument("fields", fields, "must be a list of names")
    numbers = {}
    for name, least, default in (("reply_start", 0, 0), ("reply_limit", LEAST_LIMIT, DEFAULT_LIMIT)):
        given = arguments.get(name)
        try:
            numbers[name] = default if given in (None, "") else int(str(given))
        except ValueError:
            raise wrong_argument(name, given, "must be a whole number") from None
        if numbers[name] < least:
            raise wrong_argument(name, given, f"must be {least} or more")
    wanted = tuple(field.strip() for field in fields if field.strip())
    known = operation.request.model_fields
    by = "offset" if "offset" in known else "retstart" if rest.get("query_key") and "retstart" in known else ""
    skipped = rest.get(by, 0)
    skip = (by, skipped if isinstance(skipped, int) else 0) if by else None
    start, limit = numbers["reply_start"], numbers["reply_limit"]
    members = operation.portions or ("",)
    return rest, [Portion(member, wanted, start, limit, skip, operation.once) for member in members]


def size_of(value: Any) -> int:
    """Return the characters of a value as compact JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def wrong_argument(
    name: str,
    given: object,
    problem: str,
    *,
    hint: str = "Correct the named argument and call again; the schema lists what is accepted.",
) -> InvalidInput:
    """Return the error for an argument that makes no sense, of a call or of a prompt."""
    return InvalidInput(
        f"{name}: {problem}",
        invalid_input=f"{name}={str(given)[:200]}",
        recovery_hint=hint,
        details={"reason": "invalid_arguments", "errors": [{"field": name, "message": problem}]},
    )


def _check_fields(records: Sequence[Any], fields: Sequence[str]) -> None:
    known = {name for record in records for name in _names_in(record)}
    for asked in fields:
        name = asked.removeprefix("-")
        if known and name not in known:
            top = sorted(name for name in known if "." not in name)
            near = get_close_matches(name, known, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise wrong_argument(
                "fields", name, f"these records have no {name}{meant or '.'} They have {', '.join(top)}."
            )


def _names_in(value: Any, above: str = "") -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _names_in(item, above)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield above + name
            yield from _names_in(inner, f"{above}{name}.")


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


def _shortened(value: Any, room: int) -> tuple[Any, list[str]]:
    """Return a value whose longest texts, and then its longest lists, are cut until it fits; and where they stand."""
    value = json.loads(json.dumps(value, ensure_ascii=False, default=str))
    cuts: dict[str, str] = {}
    while (excess := size_of(value) - room) > 0:
        places = list(_places_in(value))
        texts = [place for place in places if isinstance(text := place[0][place[1]], str) and len(text) > _SHORTEST_CUT]
        lists = [place for place in places if isinstance(place[0][place[1]], list)]
        lists = [place for place in lists if size_of(place[0][place[1]]) > _SHORTEST_CUT]
        holder, key, name = max(texts or lists, key=lambda place: len(place[0][place[1]]), default=(None, None, ""))
        if holder is None:
            break
        held = holder[key]
        if isinstance(held, str):
            holder[key] = held[: max(_SHORTEST_CUT - 10, len(held) - excess - 10)].rstrip("…") + "…"
            cuts[name] = f"{name} at …"
        else:
            total = cuts.get(name, f" of {len(held)}").rpartition(" of ")[2]
            while len(held) > 1 and excess > 0:
                excess -= size_of(held.pop()) + 1
            cuts[name] = f"{name} after {len(held)} of {total}"
    return value, list(cuts.values())


def _places_in(value: Any, above: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Yield every text and every list of several inside a value: what holds it, where, and the names on the way."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        name = above if isinstance(value, list) else f"{above}.{key}" if above else str(key)
        if isinstance(inner, str) or (isinstance(inner, list) and len(inner) > 1):
            yield value, key, name
        if not isinstance(inner, str):
            yield from _places_in(inner, name)
