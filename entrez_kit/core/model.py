"""Base models of requests and results, fields that are omitted if empty, and the errors that their checks raise."""

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from operator import is_, not_
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Self, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel, to_snake
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from entrez_kit.base.errors import EntrezKitError, UpstreamError
from entrez_kit.base.frontend_text import RESUME_HINT, Argument, FrontendText, Text, format_count
from entrez_kit.base.invisible import clean_query

if TYPE_CHECKING:
    import pandas

QUERY_FIELDS: Final = frozenset({"query", "query_term", "term"})
"""Names of the query fields of requests."""
MAX_NAMED: Final = 5
"""Maximum number of removed characters that a warning names."""
WRONG_ARGUMENT: Final = "wrong_argument"
NO_SUCH_ARGUMENT: Final = "is not a known argument"
UNKNOWN_ARGUMENT: Final = "unknown_argument"
"""The reason of a problem with an argument that does not exist."""


FOUR_DIGITS: Final = "^[0-9]{4}$"
NAME_PATTERN: Final = "^[A-Za-z0-9_]+$"
NAME_WITH_DOTS: Final = "^[A-Za-z0-9.]+$"
"""Patterns of the fields of requests."""


def is_absent(value: object) -> bool:
    """Return whether an optional value is None, or an empty string, list or mapping."""
    return value is None or (not value and isinstance(value, str | list | tuple | dict))


def _choose_empty_test(annotation: Any) -> Any:
    """Return a built-in function that is equivalent to ``is_absent`` for a type and faster, or ``is_absent``."""
    members = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    kinds = [get_origin(member) or member for member in members]
    for classes, empty_test in (
        ((str, list, tuple, dict, BaseModel, NoneType), not_),
        ((int, float, NoneType), functools.partial(is_, None)),  # 0 and False are values
    ):
        if all(isinstance(kind, type) and issubclass(kind, classes) for kind in kinds):
            return empty_test
    return is_absent


def omit_if_empty(default: Any = None, **options: Any) -> Any:
    """Declare a result field that the document omits if it is empty."""
    if isinstance(default, list | dict):
        return Field(default_factory=type(default), exclude_if=not_, **options)
    return Field(default=default, exclude_if=is_absent, **options)


Stripped = Annotated[str, StringConstraints(strip_whitespace=True)]
"""A string of a request without surrounding spaces; its length limits do not count them."""


class Request(BaseModel):
    """Base of every request: frozen, without unknown fields; empty optional arguments count as not given.

    Field names are snake_case. The camelCase names of the specifications are accepted too.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        coerce_numbers_to_str=True,  # a PMID is often sent as a number
        defer_build=True,
    )

    INPUTS: ClassVar[str] = ""
    """The field with the list of inputs. The terminal sends no request if the list is empty, as after an empty pipe."""

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_booleans_as_numbers(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse JSON's true and false for a number; pydantic would read them as 1 and 0."""
        field = cls.model_fields[info.field_name or ""]
        if isinstance(value, bool):
            types = list_types(field.annotation)
            if any(kind in (int, float) for kind in types if isinstance(kind, type)) and bool not in types:
                raise PydanticCustomError("bool_given", "must be a number")
        return value

    @field_validator(*QUERY_FIELDS, mode="after", check_fields=False)
    @classmethod
    def _join_lines(cls, value: Any) -> Any:
        """Return a query on one line, after the checks that need its lines."""
        return value.replace("\n", " ") if isinstance(value, str) else value

    _warnings: dict[str, Text] = PrivateAttr(default_factory=dict)

    @property
    def argument_warnings(self) -> dict[str, Text]:
        """Warnings about changes to the arguments, by their codes."""
        return self._warnings

    def add_warning(self, code: str, text: Text) -> None:
        """Add a warning about a change to the arguments; the result has it."""
        self._warnings[code] = text

    @model_validator(mode="wrap")
    @classmethod
    def _prepare(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Remove empty optional arguments, and invisible characters in queries."""
        if not isinstance(data, Mapping):
            return handler(data)
        required = _list_required(cls)
        values = {key: value for key, value in data.items() if key in required or not is_absent(_reduce_empty(value))}
        removed: dict[str, str] = {}
        for key, value in values.items():
            if isinstance(value, str) and (name := _to_snake(key)) in QUERY_FIELDS:
                values[key], removed[name] = clean_query(value)
        request = handler(values)
        for name, characters in removed.items():
            if characters:
                codes = ", ".join(f"U+{ord(character):04X}" for character in characters[:MAX_NAMED])
                text = FrontendText(
                    "Invisible characters were removed from ", Argument(name, marked=True), f": {codes}."
                )
                request.add_warning("invisible_characters", text)
        return request


@cache
def _list_required(model: type[BaseModel]) -> frozenset[str | None]:
    """Return the names and aliases of the required fields; thousands of references are built from one model."""
    fields = model.model_fields.items()
    return frozenset(name for key, info in fields if info.is_required() for name in (key, info.alias))


_to_snake: Final = lru_cache(maxsize=4096)(to_snake)


def list_types(annotation: Any) -> list[Any]:
    """Return a type and the types inside it, such as the members of a union."""
    return [annotation, *(part for inner in get_args(annotation) for part in list_types(inner))]


def describe_field(field: FieldInfo, text: str = "") -> str:
    """Return the description of a field of a request, with the range of its values if it has both bounds.

    Args:
        text: replaces the description of the field.
    """
    text, bounds = text or field.description or "", read_bounds(field)
    return f"{text} From {bounds[0]} to {bounds[1]}." if bounds else text


def read_bounds(field: FieldInfo) -> tuple[int, int] | None:
    """Return the smallest and the largest value of a field; None if it has no bounds, or only one."""
    bounds = {name: getattr(item, name) for item in field.metadata for name in ("ge", "le") if hasattr(item, name)}
    return (bounds["ge"], bounds["le"]) if len(bounds) == 2 else None


def split_at_commas(value: Any) -> Any:
    """Accept a comma-separated string such as "MED,PPR" for a list."""
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        return value
    parts: list[Any] = []
    for item in items:
        parts += filter(None, map(str.strip, item.split(","))) if isinstance(item, str) else [item]
    return parts or list(items)  # an empty word stays, so that it is refused like any other wrong word


def _reduce_empty(value: Any) -> Any:
    """Return an empty mapping for one with only empty values, as clients with forms send it."""
    if isinstance(value, Mapping) and all(is_absent(_reduce_empty(item)) for item in value.values()):
        return {}
    return value


class Reportable:
    """What a front end reports about a result, or about an iterable of outcomes: warnings, and missing records."""

    def warning_texts(self) -> list[Text]:
        """Return the warnings for a front end to render; empty without a field for them."""
        return [one.text if isinstance(one, Warn) else str(one) for one in getattr(self, "warnings", ())]

    def shortfall(self) -> EntrezKitError | None:
        """Return ``missing_error()``, under its former name."""
        return self.missing_error()

    def missing_error(self) -> EntrezKitError | None:
        """Return the error to report if some requested records are missing; None otherwise.

        The ``details`` of the error list them as ``missing``. If ``details.partial`` is true, the terminal exits with
        4, otherwise with the status of the error.
        """
        return None


class ComparedByFields:
    """A model whose private attributes do not count in comparisons."""

    def __eq__(self, other: object) -> bool:
        """Compare the documents."""
        return type(other) is type(self) and self.__dict__ == other.__dict__


class Result(Reportable, BaseModel):
    """Base of every result and of its records: without unknown fields, so that each document fits its schema."""

    model_config = ConfigDict(extra="forbid", defer_build=True)  # a run uses few of the models that it imports

    RECORDS: ClassVar[str] = ""
    """The field that holds the records; a result without such a field is itself one record."""

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Use the faster test for empty values if the type of a field allows it: a record has up to 100 fields."""
        for field in cls.__pydantic_fields__.values():
            if field.exclude_if is is_absent:
                field.exclude_if = _choose_empty_test(field.annotation)

    def records_inside(self) -> Sequence[Any]:
        """Return the records of this result: the rows of ``to_dataframe``."""
        if not self.RECORDS:
            return [self]
        records = getattr(self, self.RECORDS) or []
        return [{self.RECORDS.removesuffix("s"): record} if isinstance(record, str) else record for record in records]

    def to_dataframe(self) -> "pandas.DataFrame":
        """Return the records as a data frame: one row per record, with the column names that ``--fields`` accepts.

        A field of a nested object is a separate column (``journal_info.title``). Lists stay lists.

        Raises:
            NotConfigured: pandas is not installed; the hint is the command that installs it.
        """
        from entrez_kit.core.tables import build_data_frame, list_models

        field = type(self).model_fields.get(self.RECORDS)
        return build_data_frame(self.records_inside(), list_models(field.annotation) if field else [])

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        from entrez_kit.core.tables import select_facts

        yield from select_facts(self)

    def _repr_html_(self) -> str:
        from entrez_kit.core.tables import render_html_table

        return render_html_table(repr(self), self.records_inside())

    def list_notes(self) -> list[str]:
        """Return notes for the reader of a document whose schema has no field for them."""
        return []

    def add_warnings(self, messages: Iterable[Text]) -> None:
        """Add warnings, if the schema of this result has no field for them."""


class Collected(ComparedByFields, Result):
    """Base of results that are collected from outcomes, with the error for the outcomes that are missing.

    The error is not a part of the document: a result that is read from JSON has none.
    """

    _missing_error: EntrezKitError | None = PrivateAttr(default=None)

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for missing records."""
        return self._missing_error

    def set_missing_error(self, error: EntrezKitError | None) -> None:
        """Set the error for missing records."""
        self._missing_error = error


def incomplete_error(
    missing: Any, message: Text, *, partial: bool = True, hint: Text | None = RESUME_HINT
) -> UpstreamError | None:
    """Return the error for a document that is incomplete because a service did not answer; None if it is complete.

    Args:
        missing: the missing items, or their number.
        partial: whether the document has any data.
        hint: the next step. The default says that the next call requests only the missing items; None gives the hint
            of any ``UpstreamError``.
    """
    if not missing:
        return None
    details = {"reason": "incomplete", "partial": partial, "missing": missing}
    return UpstreamError(message, recovery_hint=hint, details=details)


class Warn(ComparedByFields, Result):
    """A warning, for example that NCBI interpreted a query differently; ``code`` is stable.

    ``terms`` lists all terms if the message names only the first few.
    """

    code: str
    message: str
    terms: list[str] = omit_if_empty([])

    _text: FrontendText | None = PrivateAttr(default=None)

    @model_validator(mode="wrap")
    @classmethod
    def _keep_parts(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Accept a ``FrontendText`` as message: the document has it as a string, and ``text`` keeps its parts."""
        text = data.get("message") if isinstance(data, Mapping) else None
        if not isinstance(text, FrontendText):
            return handler(data)
        warning = handler({**data, "message": str(text)})
        warning._text = text
        return warning

    @property
    def text(self) -> Text:
        """The message for a front end to render."""
        return self._text or self.message


def warn_past_the_last(offset: int, total: int, noun: str, argument: str = "offset") -> list[Warn]:
    """Return a warning if a page begins after the last result; otherwise an empty list."""
    if not 0 < total <= offset:
        return []
    message = FrontendText(Argument(argument), f" {offset} is past the last of {format_count(total, noun)}.")
    return [Warn(code="offset_beyond_results", message=message)]


class Warned(Collected):
    """Base of results with optional ``warnings``, which the schemas of tools omit to stay short."""

    warnings: SkipJsonSchema[list[Warn]] = omit_if_empty([])


class WrongValue(ValueError):
    """The error that a validator of a request raises for a value.

    Args:
        accepted: what the argument accepts, as a noun: "a date".
        hint: what to do; by default to correct the argument.
        value: the wrong part of the value, if the value has several.
    """

    def __init__(self, accepted: Text, hint: Text | None = None, value: object = None) -> None:
        super().__init__(FrontendText("must be ", accepted))
        self.accepted = accepted
        self.hint = hint
        self.value = value


def contradiction_error(
    field: str, message: Text, value: object = "", *, hint: Text | None = None, reason: str = "invalid_value"
) -> PydanticCustomError:
    """Return the error that a model raises for contradictory arguments; it names one of them.

    Args:
        field: the argument to name.
        message: the problem, as a predicate of the argument: "cannot be used with ...".
        value: the value of the argument.
        hint: what to do; by default to correct the argument.
        reason: missing_argument, unknown_argument or invalid_value.
    """
    given = "" if value is None else value
    context = {"field": field, "message": message, "given": given, "hint": hint, "reason": reason}
    return PydanticCustomError(WRONG_ARGUMENT, "{message}", context)


def require_one(request: BaseModel, *names: str) -> None:
    """Refuse a request that has none or several of these arguments.

    Raises:
        PydanticCustomError: the error of ``contradiction_error``.
    """
    given = [name for name in names if getattr(request, name)]
    if len(given) == 1:
        return
    fields = type(request).model_fields
    shown = [name for name in names if not any(type(item) is SkipJsonSchema for item in fields[name].metadata)]
    hint = FrontendText("Give one of these: ", FrontendText.join_parts(", ", map(Argument, shown)), ".")
    if not given:
        raise contradiction_error(names[0], "is missing", hint=hint)
    message = FrontendText("cannot be used with ", Argument(given[0]))
    raise contradiction_error(given[1], message, ", ".join(given), hint=hint)
