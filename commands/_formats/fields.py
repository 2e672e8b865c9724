"""Plain data, dotted paths, and the selection of fields."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import methodcaller
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel

from entrez_kit.base.errors import InvalidInput

MAX_NAMED: Final = 10
"""Maximum number of fields that an error names; its details have all of them."""

Record = Mapping[str, Any]
Column = Callable[[Record], Any]
"""Returns the value of one cell from a record."""


def convert_to_data(document: Any) -> Any:
    """Convert models to the plain data of their JSON. Other values are not changed."""
    if isinstance(document, Attributes):
        document = document.model
    if isinstance(document, BaseModel):
        return document.model_dump(mode="json")
    if isinstance(document, list | tuple):
        return [convert_to_data(item) for item in document]
    if isinstance(document, Mapping):
        return {key: convert_to_data(value) for key, value in document.items()}
    return document


class Attributes(Mapping[str, Any]):
    """A mapping of the fields in a model's JSON. It reads each field on access, since most formats need only a few."""

    __slots__ = ("model",)

    def __init__(self, model: BaseModel) -> None:
        self.model = model

    def __getitem__(self, name: str) -> Any:
        value = self.get(name, self)
        if value is self:
            raise KeyError(name)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, or the default if the JSON does not contain it."""
        field = type(self.model).__pydantic_fields__.get(name)
        if field is None:
            return default
        value = getattr(self.model, name)
        return default if field.exclude_if is not None and field.exclude_if(value) else _wrap_value(value)

    def __iter__(self) -> Iterator[str]:
        return (name for name in type(self.model).__pydantic_fields__ if self.get(name, self) is not self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _wrap_value(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return Attributes(value)
    return [_wrap_value(item) for item in value] if isinstance(value, list | tuple) else value


class DocumentPaths:
    """The dotted paths of a document, from its model, or from sample records if it has no model."""

    def __init__(self, model: Any = None, sample: Iterable[Record] = ()) -> None:
        self._model = model
        self._sample = list(sample) if model is None else []

    def list_names(self) -> list[str]:
        """Return the names of the top-level fields."""
        if self._model is not None:
            return list(_find_fields(self._model) or ())
        return list(dict.fromkeys(name for record in self._sample for name in record))

    def select(self, path: str) -> "DocumentPaths":
        """Return the paths below a path. The path "" returns this object; an unknown path allows any field."""
        if not path:
            return self
        kinds: Any = self._model
        for name in path.split("."):
            kinds = (_find_fields(kinds) or {}).get(name, Any)
        if kinds == list[str]:  # each record is an object with this one field
            return DocumentPaths(sample=[{path.removesuffix("s"): ""}])
        return DocumentPaths(kinds)

    def find_nested(self) -> str | None:
        """Return the dotted path of the first nested field."""
        for name, kind in (_find_fields(self._model) or {}).items():
            for inner in _find_fields(kind) or ():
                return f"{name}.{inner}"
        for record in self._sample:
            for name, value in record.items():
                first = next(iter(value), None) if isinstance(value, list) else value
                for inner in first if isinstance(first, Mapping) else ():
                    return f"{name}.{inner}"
        return None

    def knows(self, path: str) -> bool:
        """Return whether a dotted path can have a value."""
        if self._model is None:
            return path.partition(".")[0] in self.list_names()
        kinds: Any = self._model
        for name in path.split("."):
            fields = _find_fields(kinds)
            if not fields or name not in fields:
                return fields == {}  # free-form data may contain any field
            kinds = fields[name]
        return True


def _find_fields(annotation: Any) -> dict[str, Any] | None:
    """Return the fields below an annotation, {} for free-form data, None for a plain value."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {name: info.annotation for name, info in annotation.model_fields.items()}
    origin = get_origin(annotation)
    if origin is Annotated:
        return _find_fields(get_args(annotation)[0])
    if annotation is Any or origin is dict:
        return {}
    if origin in (list, tuple, Union, UnionType):
        below = [_find_fields(part) for part in get_args(annotation) if part is not NoneType and part is not Ellipsis]
        known = [fields for fields in below if fields is not None]
        if not known:
            return None
        return {name: kind for fields in known for name, kind in fields.items()}
    return None


def unknown_field(path: str, known: Sequence[str], nested: str | None) -> InvalidInput:
    """Return the error for a field that does not exist.

    Args:
        known: the fields that exist.
        nested: the dotted path of a nested field, as an example.
    """
    from difflib import get_close_matches

    example = f" A dot selects a nested field, e.g. {nested}." if nested else ""
    near = get_close_matches(path, known, n=MAX_NAMED)
    listed = list(dict.fromkeys([*near, *known]))
    more = f" and {len(listed) - MAX_NAMED} more, which -f json shows" if len(listed) > MAX_NAMED else ""
    return InvalidInput(
        f"--fields names an unknown field: {path}." + (f" Did you mean {near[0]}?" if near else ""),
        invalid_input=f"fields={path}",
        recovery_hint=f"Fields are: {', '.join(listed[:MAX_NAMED])}{more}.{example}",
        details={"reason": "unknown_field", "fields": list(known)},
    )


def project(value: Any, paths: Sequence[str]) -> Any:
    """Select the paths of a document, in the given order. Each item of a list is projected."""
    if isinstance(value, list):
        return [project(item, paths) for item in value]
    if not isinstance(value, Mapping):
        return value
    deeper: dict[str, list[str]] = {}
    whole: set[str] = set()
    for path in paths:
        head, _, rest = path.partition(".")
        deeper.setdefault(head, [])
        if rest:
            deeper[head].append(rest)
        else:
            whole.add(head)
    return {
        head: value[head] if head in whole else project(value[head], rests)
        for head, rests in deeper.items()
        if head in value
    }


def get_values(value: Any, path: str) -> Any:
    """Return the value at a dotted path. If a list is on the path, return the list of its items' values."""
    for index, name in enumerate(parts := path.split(".")):
        if isinstance(value, list):
            values = [get_values(item, ".".join(parts[index:])) for item in value]
            return [item for item in values if item is not None]
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def build_columns(*paths: str) -> dict[str, Column]:
    """Return a column for the value at each dotted path, named by the last part of the path."""
    return {
        path.rpartition(".")[2]: partial(get_values, path=path) if "." in path else methodcaller("get", path)
        for path in paths
    }


def choose_columns(fields: Sequence[str], columns: Mapping[str, Column], shape: DocumentPaths) -> dict[str, Column]:
    """Return the columns to print: the default columns, or those that the user named, which may be dotted paths.

    Raises:
        InvalidInput: a field does not exist.
    """
    if not fields:
        return dict(columns)
    chosen: dict[str, Column] = {}
    for path in fields:
        if path in columns:
            chosen[path] = columns[path]
        elif shape.knows(path):
            chosen[path] = partial(get_values, path=path)
        else:
            raise unknown_field(path, list(dict.fromkeys([*columns, *shape.list_names()])), shape.find_nested())
    return chosen
