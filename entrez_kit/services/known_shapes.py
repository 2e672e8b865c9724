"""The known shape of a reply: its expected elements, fields and values; and the differences from it.

Each reader has a shape in its module. The names of XML elements and attributes, and the allowed values of attributes,
come from NCBI's DTDs, which Biopython includes; a JSON shape lists its fields itself. A reply that differs is still
parsed: ``log_drift`` only writes a debug message, once for each kind of difference. `entrez-kit doctor --deep` reports
the differences.
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

from entrez_kit.base.frontend_text import cut_end, format_count

logger = logging.getLogger("entrez_kit.services")

MAX_EXCERPT: Final = 60
"""Maximum characters of a value or line in the description of a difference."""
MAX_NOTICED: Final = 1000
"""Limit of the kinds of differences logged by a process, so that a faulty service cannot fill the memory."""

_MARKUP: Final = re.compile(r"[^\w.:/@*\[\]=\"', -]+")
_TYPES: Final[Mapping[type, str]] = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    NoneType: "null",
}


@dataclass(frozen=True, slots=True)
class ShapeDifference:
    """One kind of difference between a reply and its known shape.

    ``kind`` is stable: unknown_element, unknown_attribute, unknown_value, unknown_field, missing, other_form or
    other_type. ``where`` is the place in the reply, ``what`` describes it, ``times`` is the number of occurrences.
    """

    kind: str
    where: str
    what: str
    times: int = 1

    def __str__(self) -> str:
        return f"{self.what} ({format_count(self.times, 'time')})" if self.times > 1 else self.what


@dataclass(frozen=True)
class Shape(ABC):
    """The known shape of one kind of reply; ``name`` is its name in messages."""

    name: str

    def list_differences(self, reply: Any) -> list[ShapeDifference]:
        """Return the differences between a reply and the shape, each kind once; none if it cannot be parsed.

        Args:
            reply: its bytes, or the parsed reply: the object of JSON, or the root element of XML.
        """
        differences: dict[tuple[str, str], ShapeDifference] = {}
        for occurrence in self._find_occurrences(reply):
            key = occurrence.kind, occurrence.where
            differences[key] = (
                replace(differences[key], times=differences[key].times + 1) if key in differences else occurrence
            )
        return list(differences.values())

    @abstractmethod
    def _find_occurrences(self, reply: Any) -> Iterator[ShapeDifference]:
        """Yield every occurrence of a difference."""


@dataclass(frozen=True)
class XmlShape(Shape):
    """The known shape of an XML reply.

    Args:
        dtd: the file with NCBI's DTD in Biopython; None without a DTD.
        undeclared: elements that the DTD does not declare, separated by spaces; ``name@attribute`` allows any value.
        required: the required descendants of an element, separated by spaces.
        forms: the pattern of an element's complete text.
    """

    dtd: str | None = None
    undeclared: str = ""
    required: Mapping[str, str] = field(default_factory=dict)
    forms: Mapping[str, re.Pattern[str]] = field(default_factory=dict)

    def _find_occurrences(self, reply: Any) -> Iterator[ShapeDifference]:
        known = _read_dtd(self.dtd)
        undeclared = frozenset(self.undeclared.split())
        root = _get_root(reply) if isinstance(reply, bytes) else reply
        for element in root.iter("*") if root is not None else ():
            name = element.tag.rpartition("}")[2]
            if name not in known and name not in undeclared:
                yield ShapeDifference("unknown_element", name, f"unknown element <{_shorten_text(name)}>")
                continue
            attributes = known.get(name)
            for attribute, value in element.attrib.items():
                if attributes is None or attribute.startswith("{"):  # any XML may have attributes of a namespace
                    continue
                listed, where = attributes.get(attribute), f"{name}@{attribute}"
                if listed is None:
                    what = f"unknown attribute {_shorten_text(attribute)} of <{name}>"
                    yield ShapeDifference("unknown_attribute", where, what)
                elif listed and value not in listed and where not in undeclared:
                    what = f'unknown {where} "{_shorten_text(value)}"'
                    yield ShapeDifference("unknown_value", f"{where}={value[:MAX_EXCERPT]}", what)
            form = self.forms.get(name)
            if form is not None and not form.fullmatch((element.text or "").strip()):
                yield ShapeDifference(
                    "other_form", name, f'<{name}> in an unknown form: "{_shorten_text(element.text or "")}"'
                )
            for required in self.required.get(name, "").split():
                if element.find(f".//{{*}}{required}") is None:
                    yield ShapeDifference("missing", f"{name}/{required}", f"no <{required}> in <{name}>")


def _get_root(reply: bytes) -> Any:
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, remove_comments=True, remove_pis=True
    )
    with suppress(etree.XMLSyntaxError, ValueError):
        return etree.fromstring(reply, parser)


@cache
def _read_dtd(dtd: str | None) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """Return the elements of a DTD with their attributes, and the allowed values of each attribute, if listed."""
    if dtd is None:
        return {}
    from importlib.resources import as_file, files

    from lxml import etree

    with as_file(files("Bio.Entrez") / "DTDs") as folder:
        declared = etree.DTD(str(folder / dtd))
    known: dict[str, dict[str, frozenset[str]]] = {}
    for element in declared.iterelements():  # elements with different prefixes may have the same name
        attributes = {attribute.name: frozenset(attribute.values()) for attribute in element.iterattributes()}
        known[element.name] = known.get(element.name, {}) | attributes
    return known


FieldShapes = Mapping[str, Any]
"""The shapes of JSON fields by name. The value is a type, several types, a pattern of the text, another mapping, or a
list of one of these; ``*`` means all other names."""


def require_texts(names: str) -> dict[str, type]:
    """Return fields of type string; the names are separated by spaces."""
    return dict.fromkeys(names.split(), str)


def require_any(names: str) -> dict[str, type]:
    """Return fields of any type; the names are separated by spaces."""
    return dict.fromkeys(names.split(), object)


@dataclass(frozen=True)
class JsonShape(Shape):
    """The known shape of a JSON reply. Any field may be absent or null, except the required ones.

    Args:
        fields: the known fields.
        required: the paths of the required fields, separated by spaces.
    """

    fields: FieldShapes
    required: str = ""

    def _find_occurrences(self, reply: Any) -> Iterator[ShapeDifference]:
        try:
            document = json.loads(reply) if isinstance(reply, bytes) else reply
        except (ValueError, RecursionError):
            return
        for path in self.required.split():
            if not _holds(document, path):
                yield ShapeDifference("missing", path, f"no {path}")
        yield from compare_values(document, self.fields, "")


def compare_values(value: Any, known: Any, path: str) -> Iterator[ShapeDifference]:
    """Yield the differences between a JSON value and its known shape; null counts as absent."""
    if value is None:
        return
    if isinstance(known, Mapping) and isinstance(value, dict):
        for name, inner in value.items():
            shape = known.get(name, known.get("*"))
            where = f"{path}.{name}".lstrip(".")
            if shape is None:
                yield ShapeDifference("unknown_field", where, f"unknown field {_shorten_text(where)}")
            else:
                yield from compare_values(inner, shape, where if name in known else f"{path}.*")
    elif isinstance(known, list) and isinstance(value, list):
        for item in value:
            yield from compare_values(item, known[0], f"{path}[]")
    elif isinstance(known, re.Pattern) and isinstance(value, str):
        if not known.fullmatch(value):
            yield ShapeDifference("other_form", path, f'{path} in an unknown form: "{_shorten_text(value)}"')
    elif known is not object:
        types = _to_types(known)
        if type(value) not in types:
            expected = " or ".join(_TYPES[type_] for type_ in types)
            yield ShapeDifference("other_type", path, f"{path} is {_TYPES[type(value)]} instead of {expected}")


def _to_types(known: Any) -> tuple[type, ...]:
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
    """The known shape of a text reply with named lines.

    Args:
        line: matches a line with a name, which is its first group.
        known: the known names, separated by spaces.
        required: the required names.
    """

    line: re.Pattern[bytes]
    known: str
    required: str = ""

    def _find_occurrences(self, reply: Any) -> Iterator[ShapeDifference]:
        met = [name.decode("ascii", "replace") for name in self.line.findall(reply)]
        known = self.known.split()
        for name in met:
            if name not in known:
                yield ShapeDifference("unknown_field", name, f"unknown field {_shorten_text(name)}")
        for name in self.required.split():
            if name not in met:
                yield ShapeDifference("missing", name, f"no {name}")


def _shorten_text(text: str) -> str:
    """Return a text of a service for a message: one short line without control characters."""
    line = " ".join(_MARKUP.sub(" ", text).split())
    return cut_end(line, MAX_EXCERPT)


_noticed: set[tuple[str, str, str]] = set()


def is_json(reply: Any) -> bool:
    """Return whether a reply, parsed or as bytes, is JSON and not XML."""
    return isinstance(reply, dict) or (isinstance(reply, bytes) and reply.lstrip()[:1] == b"{")


def log_drift(shape: Shape | Callable[[Any], Shape], reply: Any) -> None:
    """Log how a reply differs from its known shape, each kind of difference once per process.

    It does nothing unless debug messages are enabled, and never raises.
    """
    if not logger.isEnabledFor(logging.DEBUG) or len(_noticed) >= MAX_NOTICED:
        return
    chosen = shape(reply) if callable(shape) else shape
    try:
        differences = chosen.list_differences(reply)
    except Exception:  # a failed comparison must not affect the reader of the reply
        logger.debug("%s could not be compared with its known shape", chosen.name, exc_info=True)
        return
    for difference in differences:
        key = chosen.name, difference.kind, difference.where
        if key not in _noticed and len(_noticed) < MAX_NOTICED:
            _noticed.add(key)
            logger.debug("%s differs from its known shape: %s", chosen.name, difference)
