"""What requests and results are made of: Request, Result, sparse fields, and how a model says what is wrong."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from operator import is_, not_
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Self, cast, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    StringConstraints,
    ValidationInfo,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel, to_snake
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import ErrorDetails, PydanticCustomError

from entrez_kit.base.errors import EntrezKitError, UpstreamError
from entrez_kit.base.frontend_text import KEPT, Argument, FrontendText
from entrez_kit.base.invisible import clean_query

if TYPE_CHECKING:
    import pandas

QUERY_FIELDS: Final = frozenset({"query", "query_term", "term"})
"""Names that requests give to a query."""
MAX_NAMED: Final = 5
"""Removed characters that a warning names."""
WRONG: Final = "wrong_argument"
NO_SUCH_ARGUMENT: Final = "there is no such argument"


def is_absent(value: object) -> bool:
    """Tell whether an optional value holds nothing: None, an empty text, list or mapping."""
    return value is None or (not value and isinstance(value, str | list | tuple | dict))


def _judge_of(annotation: Any) -> Any:
    """Return the function in C that judges values of a type as ``is_absent`` does, where there is one."""
    members = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    kinds = [get_origin(member) or member for member in members]
    for classes, judge in (
        ((str, list, tuple, dict, BaseModel, NoneType), not_),
        ((int, float, NoneType), partial(is_, None)),  # 0 and False are values
    ):
        if all(isinstance(kind, type) and issubclass(kind, classes) for kind in kinds):
            return judge
    return is_absent


def omit_if_empty(default: Any = None, **options: Any) -> Any:
    """Declare a result field that is left out of the document when it holds nothing."""
    if isinstance(default, list | dict):
        return Field(default_factory=type(default), exclude_if=not_, **options)
    return Field(default=default, exclude_if=is_absent, **options)


Stripped = Annotated[str, StringConstraints(strip_whitespace=True)]
"""A text of a request without the blanks around it, which count for no bound."""


class Request(BaseModel):
    """Base of every request: frozen, closed, and forgiving about empty optional arguments.

    Field names are snake_case; the camelCase of the specifications is accepted as well.
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

    @field_validator("*", mode="before")
    @classmethod
    def _booleans_are_no_numbers(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse JSON's true and false where a number is due; pydantic takes them for 1 and 0."""
        field = cls.model_fields[info.field_name or ""]
        if isinstance(value, bool):
            types = types_in(field.annotation)
            if any(kind in (int, float) for kind in types if isinstance(kind, type)) and bool not in types:
                raise PydanticCustomError("bool_given", "must be a number; a boolean is none")
        return value

    @field_validator(*QUERY_FIELDS, mode="after", check_fields=False)
    @classmethod
    def _join_lines(cls, value: Any) -> Any:
        """Return a query on one line, after the checks that need its lines."""
        return value.replace("\n", " ") if isinstance(value, str) else value

    _warnings: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def warnings_of_arguments(self) -> dict[str, str]:
        """What a reader must know of changes that were made to the arguments, by the code of the warning."""
        return self._warnings

    @model_validator(mode="wrap")
    @classmethod
    def _prepare(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Drop empty optional arguments and the invisible characters of queries."""
        if not isinstance(data, Mapping):
            return handler(data)
        required = {name for key, info in cls.model_fields.items() if info.is_required() for name in (key, info.alias)}
        given = {key: value for key, value in data.items() if key in required or not is_absent(_emptied(value))}
        removed: dict[str, str] = {}
        for key, value in given.items():
            if isinstance(value, str) and (name := to_snake(key)) in QUERY_FIELDS:
                given[key], removed[name] = clean_query(value)
        request = handler(given)
        for name, characters in removed.items():
            if characters:
                codes = ", ".join(f"U+{ord(one):04X}" for one in characters[:MAX_NAMED])
                request._warnings["invisible_characters"] = FrontendText(
                    "Invisible characters were removed from ", Argument(name, marked=True), f": {codes}."
                )
        return request


def types_in(annotation: Any) -> list[Any]:
    """Return a type and those it is a union of."""
    return [annotation, *(part for inner in get_args(annotation) for part in types_in(inner))]


def describe_field(field: FieldInfo) -> str:
    """Return the description of a field of a request, with the range of its values if it has both bounds."""
    text = field.description or ""
    bounds = {name: getattr(item, name) for item in field.metadata for name in ("ge", "le") if hasattr(item, name)}
    return f"{text} From {bounds['ge']} to {bounds['le']}." if len(bounds) == 2 else text


def split_at_commas(value: Any) -> Any:
    """Accept "MED,PPR" for a list: one text is how many people write it."""
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        return value
    parts: list[Any] = []
    for item in items:
        parts += filter(None, map(str.strip, item.split(","))) if isinstance(item, str) else [item]
    return parts


def _emptied(value: Any) -> Any:
    """Reduce a mapping that only holds empty values to an empty one, as form clients send them."""
    if isinstance(value, Mapping) and all(is_absent(_emptied(item)) for item in value.values()):
        return {}
    return value


class Result(BaseModel):
    """Base of every result and of the records inside: closed, so a document says what its schema says."""

    model_config = ConfigDict(extra="forbid", defer_build=True)  # most runs use few of the models they import

    RECORDS: ClassVar[str] = ""
    """The field that holds the records; without one a result is a record itself."""

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Let a function in C judge what its type says enough of: a record is asked for a hundred of its fields."""
        for field in cls.__pydantic_fields__.values():
            if field.exclude_if is is_absent:
                field.exclude_if = _judge_of(field.annotation)

    def records_inside(self) -> Sequence[Any]:
        """Return the records that this result holds: what ``to_dataframe`` has a row for."""
        if not self.RECORDS:
            return [self]
        records = getattr(self, self.RECORDS) or []
        return [{self.RECORDS.removesuffix("s"): one} if isinstance(one, str) else one for one in records]

    def to_dataframe(self) -> "pandas.DataFrame":
        """Return the records as a data frame, one row a record, under the names that ``--fields`` takes.

        A field of an object inside is a column of its own (``journal_info.title``); lists stay lists.

        Raises:
            NotConfigured: pandas is not installed; the hint is the line that installs it.
        """
        from entrez_kit.core.tables import data_frame, models_in

        field = type(self).model_fields.get(self.RECORDS)
        return data_frame(self.records_inside(), models_in(field.annotation) if field else [])

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        from entrez_kit.core.tables import facts_of

        yield from facts_of(self)

    def _repr_html_(self) -> str:
        from entrez_kit.core.tables import html_table

        return html_table(repr(self), self.records_inside())

    def remarks(self) -> list[str]:
        """Return what a reader has to know beside a document whose form is closed."""
        return []

    def add_cautions(self, messages: Iterable[str]) -> None:
        """Note what a reader has to know of this result, if its form is closed."""

    def shortfall(self) -> EntrezKitError | None:
        """Return ``missing_error()``, under its former name."""
        return self.missing_error()

    def missing_error(self) -> EntrezKitError | None:
        """Return the error to report beside this document when some of what was asked is missing.

        An ``EntityNotFound`` or another error whose ``details`` name what is ``missing``. With ``details.partial``
        true the terminal exits 4, otherwise with the error's own status. None when nothing is missing.
        """
        return None


class Collected(Result):
    """Base of results that outcomes are collected into: these know what is missing, and the error goes beside it all.

    It is no part of the document: one that is read back from its JSON has none.
    """

    _missing_error: EntrezKitError | None = PrivateAttr(default=None)

    def __eq__(self, other: object) -> bool:
        """Compare what the documents say: the error beside one is never that of another."""
        return type(other) is type(self) and self.__dict__ == other.__dict__

    def missing_error(self) -> EntrezKitError | None:
        """Report what is missing."""
        return self._missing_error


def incomplete_error(
    missing: Any, message: str, *, partial: bool = True, hint: str | None = KEPT
) -> UpstreamError | None:
    """Return the error that goes with a document for which a service did not answer; None where nothing is missing.

    Args:
        missing: what is, or how much.
        message: that in words.
        partial: whether anything is there.
        hint: what to do next, by default that asking again asks only for what is missing; None as for any such error.
    """
    if not missing:
        return None
    details = {"reason": "incomplete", "partial": partial, "missing": missing}
    return UpstreamError(message, recovery_hint=hint, details=details)


Message = Annotated[str, WrapValidator(lambda text, check: text if isinstance(text, FrontendText) else check(text))]
"""A text that a door may say in words of its own; a document has it as it is."""


class Warn(Result):
    """Something NCBI understood otherwise than it was asked; ``code`` is stable.

    ``terms`` lists what the message is about where it names only the first few of many.
    """

    code: str
    message: Message
    terms: list[str] = omit_if_empty([])


def past_the_last(offset: int, total: int, what: str, argument: str = "offset") -> list[Warn]:
    """Say so where a page begins behind all that there is."""
    if not 0 < total <= offset:
        return []
    message = FrontendText(Argument(argument), f" {offset} is past the last of {total} {what}.")
    return [Warn(code="offset_beyond_results", message=message)]


class Warned(Collected):
    """Base of results that have ``warnings`` only where there are any; schemas of tools spend no words on them."""

    warnings: SkipJsonSchema[list[Warn]] = omit_if_empty([])


def wrong(field: str, message: str, given: object = "") -> PydanticCustomError:
    """Return the error a model raises when arguments contradict each other, so that it names one of them.

    Args:
        field: the argument to name.
        message: what is wrong with it.
        given: its value.
    """
    context = {"field": field, "message": message, "given": "" if given is None else given}
    return PydanticCustomError(WRONG, "{message}", context)


def problem_of(error: ErrorDetails, request: type[BaseModel] = BaseModel) -> str:
    """Return what pydantic complains about in our words: what is accepted, and of what is unknown what is near."""
    kind, context = error["type"], error.get("ctx", {})
    if kind == WRONG:
        return cast(str, context["message"])
    if kind == "value_error":
        return cast(str, context["error"].args[0])
    if kind == "extra_forbidden":
        *above, name = map(str, error["loc"])
        near = get_close_matches(to_snake(name), _fields_below(request, above), n=1)
        meant = FrontendText("; did you mean ", Argument(".".join([*above, *near])), "?") if near else "."
        return FrontendText(NO_SUCH_ARGUMENT, meant)
    if kind in ("literal_error", "enum"):
        return f"must be {context['expected'].replace(chr(39), '')}"
    words = next((words for start, words in _ACCEPTED.items() if kind.startswith(start)), None)
    return error["msg"] if words is None else words.format(**context)


_ACCEPTED: Final = {
    "missing": "is required",
    "string_too_short": "needs {min_length} or more characters",
    "string_too_long": "takes up to {max_length} characters",
    "string_pattern_mismatch": "must have the form {pattern}",
    "string_": "must be a text",
    "int_": "must be a whole number",
    "float_": "must be a number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le} or less",
    "too_short": "needs {min_length} or more entries",
    "too_long": "takes up to {max_length} entries",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_": "must be an object",
}
"""What is accepted instead, by the beginning of pydantic's word for the problem."""


def _fields_below(model: type[BaseModel], place: Sequence[str]) -> list[str]:
    """Return the fields of a request, or of a part of it, that every door knows."""
    for name in place:
        if field := model.model_fields.get(to_snake(name)):
            kinds = [kind for kind in types_in(field.annotation) if isinstance(kind, type)]
            model = next((kind for kind in kinds if issubclass(kind, BaseModel)), BaseModel)
    fields = model.model_fields.items()
    return [name for name, info in fields if not any(type(item) is SkipJsonSchema for item in info.metadata)]
