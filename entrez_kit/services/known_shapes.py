"""The known shape of a reply: what stands in it when the service answers as it always did, and what differs from that.

Every reader has its shape beside it. Names of XML elements and attributes, and the values of those that have a list of
them, come from NCBI's own DTDs, which Biopython brings along; names of JSON fields stand in the shape itself. A reply
that differs is read all the same: ``log_drift`` only says so in the log, at debug level, and once for each kind of
difference. `entrez-kit doctor --deep` compares on purpose.
"""

import json
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from types import NoneType
from typing import Any, Final

logger = logging.getLogger("entrez_kit.services")

MAX_SHOWN: Final = 60
MAX_NOTICED: Final = 1000
"""Kinds of differences that are told in a process; a service gone wild shall not fill the memory."""

_MARKUP: Final = re.compile(r"[^\w.:/@*\[\]=\"', -]+")
_TYPES: Final[Mapping[type, str]] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    NoneType: "nothing",
}


@dataclass(frozen=True, slots=True)
class ShapeDifference:
    """One kind of difference between a reply and what is known of it.

    ``kind`` is stable: unknown_element, unknown_attribute, unknown_value, unknown_field, missing, other_form or
    other_type. ``where`` names the place, ``what`` says it in words, ``times`` how often it was met.
    """

    kind: str
    where: str
    what: str
    times: int = 1

    def __str__(self) -> str:
        return f"{self.what} ({self.times:,} times)" if self.times > 1 else self.what


@dataclass(frozen=True)
class Shape(ABC):
    """What is known of one kind of reply; ``name`` says whose it is, for messages."""

    name: str

    def differences(self, reply: Any) -> list[ShapeDifference]:
        """Return how a reply differs from what is known, each kind once; nothing where it cannot be parsed at all.

        Args:
            reply: its bytes, or what they were parsed into: the object of JSON, or the root element of XML.
        """
        found: dict[tuple[str, str], ShapeDifference] = {}
        for one in self._met(reply):
            key = one.kind, one.where
            found[key] = replace(found[key], times=found[key].times + 1) if key in found else one
        return list(found.values())

    @abstractmethod
    def _met(self, reply: Any) -> Iterator[ShapeDifference]:
        """Yield what differs, as often as it is met."""


@dataclass(frozen=True)
class XmlShape(Shape):
    """What is known of an XML reply.

    Args:
        dtd: Biopython's file with NCBI's DTD of it; None where there is none.
        also: elements, blanks between them, that the DTD does not know; ``name@attribute`` may have any value.
        due: by element, blanks between them, the elements without which it is not what it was.
        forms: by element, what its text matches as a whole.
    """

    dtd: str | None = None
    also: str = ""
    due: Mapping[str, str] = field(default_factory=dict)
    forms: Mapping[str, re.Pattern[str]] = field(default_factory=dict)

    def _met(self, reply: Any) -> Iterator[ShapeDifference]:
        known = _declared(self.dtd)
        also = frozenset(self.also.split())
        root = _root(reply) if isinstance(reply, bytes) else reply
        for element in root.iter("*") if root is not None else ():
            name = element.tag.rpartition("}")[2]
            if name not in known and name not in also:
                yield ShapeDifference("unknown_element", name, f"unknown element <{_plain(name)}>")
                continue
            attributes = known.get(name)
            for attribute, value in element.attrib.items():
                if attributes is None or attribute.startswith("{"):  # languages, addresses: any XML may have those
                    continue
                listed, where = attributes.get(attribute), f"{name}@{attribute}"
                if listed is None:
                    what = f"unknown attribute {_plain(attribute)} of <{name}>"
                    yield ShapeDifference("unknown_attribute", where, what)
                elif listed and value not in listed and where not in also:
                    what = f'unknown {where} "{_plain(value)}"'
                    yield ShapeDifference("unknown_value", f"{where}={value[:MAX_SHOWN]}", what)
            form = self.forms.get(name)
            if form is not None and not form.fullmatch((element.text or "").strip()):
                yield ShapeDifference("other_form", name, f'<{name}> in another form: "{_plain(element.text or "")}"')
            for due in self.due.get(name, "").split():
                if element.find(f".//{{*}}{due}") is None:
                    yield ShapeDifference("missing", f"{name}/{due}", f"no <{due}> in <{name}>")


def _root(reply: bytes) -> Any:
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, remove_comments=True, remove_pis=True
    )
    with suppress(etree.XMLSyntaxError, ValueError):
        return etree.fromstring(reply, parser)


@cache
def _declared(dtd: str | None) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """Return the elements of a DTD, the attributes of each, and the values of those that have a list of them."""
    if dtd is None:
        return {}
    from importlib.resources import as_file, files

    from lxml import etree

    with as_file(files("Bio.Entrez") / "DTDs") as folder:
        declared = etree.DTD(str(folder / dtd))
    known: dict[str, dict[str, frozenset[str]]] = {}
    for element in declared.iterelements():  # several may have the name, with one prefix or another
        attributes = {one.name: frozenset(one.values()) for one in element.iterattributes()}
        known[element.name] = known.get(element.name, {}) | attributes
    return known


Fields = Mapping[str, Any]
"""JSON fields by name: a type, several types, a pattern that its text matches, one more mapping, or a list of one of
these; ``*`` stands for all names that are not listed."""


def texts(names: str) -> dict[str, type]:
    """Return fields that hold texts; blanks stand between the names."""
    return dict.fromkeys(names.split(), str)


def anything(names: str) -> dict[str, type]:
    """Return fields that are not looked into; blanks stand between the names."""
    return dict.fromkeys(names.split(), object)


@dataclass(frozen=True)
class JsonShape(Shape):
    """What is known of a JSON reply. Any field may be absent, or null, but those that are due.

    Args:
        fields: what it may hold.
        due: paths of what it always holds; blanks between them.
    """

    fields: Fields
    due: str = ""

    def _met(self, reply: Any) -> Iterator[ShapeDifference]:
        try:
            document = json.loads(reply) if isinstance(reply, bytes) else reply
        except (ValueError, RecursionError):
            return
        for path in self.due.split():
            if not _holds(document, path):
                yield ShapeDifference("missing", path, f"no {path}")
        yield from compare_values(document, self.fields, "")


def compare_values(value: Any, known: Any, path: str) -> Iterator[ShapeDifference]:
    """Yield how a value of JSON differs from what is known of it; null counts as absent."""
    if value is None:
        return
    if isinstance(known, Mapping) and isinstance(value, dict):
        for name, inner in value.items():
            listed = known.get(name, known.get("*"))
            where = f"{path}.{name}".lstrip(".")
            if listed is None:
                yield ShapeDifference("unknown_field", where, f"unknown field {_plain(where)}")
            else:
                yield from compare_values(inner, listed, where if name in known else f"{path}.*")
    elif isinstance(known, list) and isinstance(value, list):
        for item in value:
            yield from compare_values(item, known[0], f"{path}[]")
    elif isinstance(known, re.Pattern) and isinstance(value, str):
        if not known.fullmatch(value):
            yield ShapeDifference("other_form", path, f'{path} in another form: "{_plain(value)}"')
    elif known is not object:
        types = _types(known)
        if type(value) not in types:
            due = " or ".join(_TYPES[one] for one in types)
            yield ShapeDifference("other_type", path, f"{path} is {_TYPES[type(value)]} where {due} was")


def _types(known: Any) -> tuple[type, ...]:
    if isinstance(known, tuple):
        return known
    if isinstance(known, type):
        return (known,)
    return (dict,) if isinstance(known, Mapping) else (list,) if isinstance(known, list) else (str,)


def _holds(document: Any, path: str) -> bool:
    for name in path.split("."):
        if not isinstance(document, dict) or name not in document:
            return False
        document = document[name]
    return True


@dataclass(frozen=True)
class TextShape(Shape):
    """What is known of a text reply of named lines.

    Args:
        line: matches a line with a name, which is its first group.
        known: the names, blanks between them.
        due: those without which it is not what it was.
    """

    line: re.Pattern[bytes]
    known: str
    due: str = ""

    def _met(self, reply: Any) -> Iterator[ShapeDifference]:
        met = [name.decode("ascii", "replace") for name in self.line.findall(reply)]
        known = self.known.split()
        for name in met:
            if name not in known:
                yield ShapeDifference("unknown_field", name, f"unknown field {_plain(name)}")
        for name in self.due.split():
            if name not in met:
                yield ShapeDifference("missing", name, f"no {name}")


def _plain(text: str) -> str:
    """Return words of a service fit for a message: one short line without control characters."""
    line = " ".join(_MARKUP.sub(" ", text).split())
    return line if len(line) <= MAX_SHOWN else f"{line[: MAX_SHOWN - 1]}…"


_noticed: set[tuple[str, str, str]] = set()


def is_json(reply: Any) -> bool:
    """Tell whether a reply, or what it was parsed into, is JSON and not XML."""
    return isinstance(reply, dict) or (isinstance(reply, bytes) and reply.lstrip()[:1] == b"{")


def log_drift(shape: Shape | Callable[[Any], Shape], reply: Any) -> None:
    """Say in the log how a reply differs from what is known, each kind of difference once in a process.

    Costs nothing unless the log shows debug messages, and never fails.
    """
    if not logger.isEnabledFor(logging.DEBUG) or len(_noticed) >= MAX_NOTICED:
        return
    chosen = shape(reply) if callable(shape) else shape
    try:
        found = chosen.differences(reply)
    except Exception:  # whatever the matter is, it is not the reply's reader's
        logger.debug("%s could not be compared with what is known of it", chosen.name, exc_info=True)
        return
    for difference in found:
        key = chosen.name, difference.kind, difference.where
        if key not in _noticed and len(_noticed) < MAX_NOTICED:
            _noticed.add(key)
            logger.debug("%s differs from what is known: %s", chosen.name, difference)
