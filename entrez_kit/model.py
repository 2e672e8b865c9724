"""What requests and results are made of: Request, Result, sparse fields, and how a model says what is wrong."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator
from pydantic.alias_generators import to_camel
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from entrez_kit.errors import EntrezKitError

if TYPE_CHECKING:
    import pandas

WRONG: Final = "wrong_argument"


def is_absent(value: object) -> bool:
    """Tell whether an optional value holds nothing: None, an empty text, list or mapping."""
    return value is None or value == "" or value == [] or value == () or value == {}


def sparse(default: Any = None, **options: Any) -> Any:
    """Declare a result field that is left out of the document when it holds nothing."""
    if isinstance(default, list | dict):
        return Field(default_factory=type(default), exclude_if=is_absent, **options)
    return Field(default=default, exclude_if=is_absent, **options)


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
    )

    @field_validator("*", mode="before")
    @classmethod
    def _booleans_are_no_numbers(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse JSON's true and false where a number is due; pydantic takes them for 1 and 0."""
        field = cls.model_fields[info.field_name or ""]
        if isinstance(value, bool):
            types = _types_in(field.annotation)
            if any(kind in (int, float) for kind in types if isinstance(kind, type)) and bool not in types:
                raise PydanticCustomError("bool_given", "Input should be a number; a boolean is none")
        return value

    @model_validator(mode="before")
    @classmethod
    def _drop_empty_optionals(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        required = {name for key, info in cls.model_fields.items() if info.is_required() for name in (key, info.alias)}
        return {key: value for key, value in data.items() if key in required or not is_absent(_emptied(value))}


def _types_in(annotation: Any) -> list[Any]:
    """Return a type and those it is a union of."""
    return [annotation, *(part for inner in get_args(annotation) for part in _types_in(inner))]


def _emptied(value: Any) -> Any:
    """Reduce a mapping that only holds empty values to an empty one, as form clients send them."""
    if isinstance(value, Mapping) and all(is_absent(_emptied(item)) for item in value.values()):
        return {}
    return value


class Result(BaseModel):
    """Base of every result and of the records inside: closed, so a document says what its schema says."""

    model_config = ConfigDict(extra="forbid")

    RECORDS: ClassVar[str] = ""
    """The field that holds the records; without one a result is a record itself."""

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
        from entrez_kit.tables import data_frame, models_in

        field = type(self).model_fields.get(self.RECORDS)
        return data_frame(self.records_inside(), models_in(field.annotation) if field else [])

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        from entrez_kit.tables import facts_of

        yield from facts_of(self)

    def _repr_html_(self) -> str:
        from entrez_kit.tables import html_table

        return html_table(repr(self), self.records_inside())

    def remarks(self) -> list[str]:
        """Return what a reader has to know beside a document whose form is closed."""
        return []

    def shortfall(self) -> EntrezKitError | None:
        """Return the error to report beside this document when some of what was asked is missing.

        An ``EntityNotFound`` or another error whose ``details`` name what is ``missing``. With ``details.partial``
        true the terminal exits 4, otherwise with the error's own status. None when nothing is missing.
        """
        return None


class Warn(Result):
    """Something NCBI understood otherwise than it was asked; ``code`` is stable.

    ``terms`` lists what the message is about where it names only the first few of many.
    """

    code: str
    message: str
    terms: list[str] = sparse([])


class Warned(Result):
    """Base of results that have ``warnings`` only where there are any; schemas of tools spend no words on them."""

    warnings: SkipJsonSchema[list[Warn]] = sparse([])


def wrong(field: str, message: str, given: object = "") -> PydanticCustomError:
    """Return the error a model raises when arguments contradict each other, so that it names one of them.

    Args:
        field: the argument to name.
        message: what is wrong with it.
        given: its value.
    """
    context = {"field": field, "message": message, "given": "" if given is None else given}
    return PydanticCustomError(WRONG, "{message}", context)
