"""Turn pydantic's errors about arguments into INVALID_INPUT: what is wrong, and what each argument accepts.

A message is a predicate of the argument: "must be a whole number from 1 to 100", "is required".
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, NamedTuple, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_snake
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import ErrorDetails

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import (
    Argument,
    FrontendText,
    PerFrontend,
    Text,
    cut_middle,
    describe_wrong_value,
    list_choices,
    read_choices,
)
from entrez_kit.core.model import (
    FOUR_DIGITS,
    NAME_PATTERN,
    NAME_WITH_DOTS,
    NO_SUCH_ARGUMENT,
    UNKNOWN_ARGUMENT,
    WRONG_ARGUMENT,
    WrongValue,
    list_types,
)

MAX_PROBLEMS: Final = 5
"""Maximum number of invalid arguments in a message; ``details.errors`` has more."""
MAX_DETAILED: Final = 50
"""Maximum number of invalid arguments in ``details.errors``."""


def invalid_arguments(exc: ValidationError, request: type[BaseModel]) -> InvalidInput:
    """Convert a pydantic error about arguments to an INVALID_INPUT error that names every field."""
    problems: list[dict[str, Any]] = []
    messages: list[Text] = []
    hints: list[Text] = []
    for error in exc.errors(include_url=False)[:MAX_DETAILED]:
        where, value = _locate(error), _get_value(error)
        shown = cut_middle(value if isinstance(value, str) else repr(value), 200)
        message = describe_problem(error, request)
        problems.append({"field": where, "message": message, "input": shown, "reason": classify_problem(error)})
        accepted = _find_accepted(error, request)
        if accepted is not None:
            message = describe_wrong_value("", accepted, value)
        messages.append(FrontendText(Argument(where), " " if accepted is None else "", message) if where else message)
        hints.append(_build_hint(error, request, where))
    first = problems[0]
    return InvalidInput(
        FrontendText.join_parts(" ", [_end_sentence(message) for message in messages[:MAX_PROBLEMS]]),
        invalid_input=f"{first['field']}={first['input']}" if first["field"] else None,
        recovery_hint=_join_hints(problems, hints),
        details={"reason": "invalid_arguments", "errors": problems},
    )


def _locate(error: ErrorDetails) -> str:
    """Return the path of an argument, with dots."""
    context = error.get("ctx", {})
    path = [*error["loc"], context["field"]] if error["type"] == WRONG_ARGUMENT else error["loc"]
    where = ".".join(map(str, path))
    if error["type"] == "missing":  # for these pydantic gives the alias
        where = re.sub(r"(?<=[a-z0-9])[A-Z]", lambda match: f"_{match[0].lower()}", where)
    return where


def _get_value(error: ErrorDetails) -> Any:
    """Return the invalid value; empty for a missing argument, for which pydantic gives all the other arguments."""
    if error["type"] == "missing":
        return ""
    context = error.get("ctx", {})
    problem = context.get("error")
    if isinstance(problem, WrongValue) and problem.value is not None:
        return problem.value
    return context.get("given", error["input"])


def _end_sentence(message: Text) -> Text:
    return message if str(message).endswith((".", "?")) else FrontendText(message, ".")


def classify_problem(error: ErrorDetails) -> str:
    """Return the reason of an error of pydantic: missing_argument, unknown_argument or invalid_value."""
    if error["type"] == WRONG_ARGUMENT:
        return str(error["ctx"]["reason"])
    return {"missing": "missing_argument", "extra_forbidden": UNKNOWN_ARGUMENT}.get(error["type"], "invalid_value")


# Messages ------------------------------------------------------------------------------------------------------------


def describe_problem(error: ErrorDetails, request: type[BaseModel] = BaseModel) -> Text:
    """Return what is wrong with an argument: the accepted values, or the most similar name of an argument."""
    accepted = _find_accepted(error, request)
    if accepted is not None:
        return FrontendText("must be ", accepted)
    kind, context = error["type"], error.get("ctx", {})
    if kind == WRONG_ARGUMENT:
        return cast(Text, context["message"])
    if kind == "value_error":
        return cast(Text, context["error"].args[0])
    if kind == "extra_forbidden":
        *above, name = map(str, error["loc"])
        near = get_close_matches(to_snake(name), _list_fields(request, above), n=1)
        meant = FrontendText("; did you mean ", Argument(".".join([*above, *near])), "?") if near else "."
        return FrontendText(NO_SUCH_ARGUMENT, meant)
    return "is required" if kind == "missing" else f"is invalid: {error['msg']}"


def _find_accepted(error: ErrorDetails, request: type[BaseModel]) -> Text | None:
    """Return what an argument accepts, as a noun; None if an error of pydantic is not about its value alone."""
    kind, context = error["type"], error.get("ctx", {})
    problem = context.get("error")
    if isinstance(problem, WrongValue):
        return problem.accepted
    if kind in ("literal_error", "enum"):
        return list_choices(_list_words(context))
    limits = {**_find_declaration(request, [str(part) for part in error["loc"]]).limits, **context}
    if kind.startswith("too_") and isinstance(error["input"], str):  # an optional text
        kind = f"string_{kind}"
    return describe_accepted(kind, limits) or None


def _list_words(context: Mapping[str, Any]) -> list[str]:
    """Return the words that a choice accepts; pydantic lists them in a text."""
    return re.findall(r"'([^']*)'", str(context.get("expected", "")))


def _list_fields(model: type[BaseModel], path: Sequence[str]) -> list[str]:
    """Return the fields of a request, or of a model inside it, that every front end has."""
    for name in path:
        if field := model.model_fields.get(to_snake(name)):
            kinds = [kind for kind in list_types(field.annotation) if isinstance(kind, type)]
            model = next((kind for kind in kinds if issubclass(kind, BaseModel)), BaseModel)
    fields = model.model_fields.items()
    return [name for name, info in fields if not any(type(item) is SkipJsonSchema for item in info.metadata)]


# Hints ---------------------------------------------------------------------------------------------------------------


def _join_hints(problems: Sequence[Mapping[str, Any]], hints: Sequence[Text]) -> Text:
    """Return what to do about the problems that a message names."""
    sentences = list(dict.fromkeys(hints[:MAX_PROBLEMS]))
    if any(problem["reason"] == UNKNOWN_ARGUMENT for problem in problems):
        listed = PerFrontend(" --help lists the arguments.", "", " help() lists the arguments.")  # agents get them all
        return FrontendText(FrontendText.join_parts(" ", sentences), listed)
    return FrontendText.join_parts(" ", sentences)


def _build_hint(error: ErrorDetails, request: type[BaseModel], name: str) -> Text:
    """Return what to do about an error of pydantic.

    Args:
        name: the name of the argument.
    """
    context = error.get("ctx", {})
    hint = context.get("hint") or getattr(context.get("error"), "hint", None)
    if hint is not None:
        return cast(Text, hint)
    argument = Argument(name) if name else "the arguments"
    reason = classify_problem(error)
    if reason != "invalid_value":
        return FrontendText("Add " if reason == "missing_argument" else "Remove or rename ", argument, ".")
    given = error["input"].lower() if isinstance(error["input"], str) else ""
    near = get_close_matches(given, _list_words(context) or read_choices(_find_accepted(error, request)), n=1)
    if near:
        return f"Did you mean {near[0]}?"
    path = list(itertools.takewhile(lambda part: not part.isdigit(), name.split(".")))
    declaration = _find_declaration(request, path)
    return suggest_correction(name, declaration.default, is_required=declaration.is_required)


def suggest_correction(name: str, default: object, *, is_required: bool) -> Text:
    """Return the hint for a wrong value: to correct the argument or, if it is optional, to omit it."""
    argument = Argument(name) if name else "the arguments"
    if is_required:
        return FrontendText("Correct ", argument, ".")
    # The default of a word may have another name in the terminal.
    shown = f" (default: {default})" if isinstance(default, int) and not isinstance(default, bool) else ""
    return FrontendText("Correct ", argument, f", or omit it{shown}.")


def find_limits(request: type[BaseModel], name: str) -> Mapping[str, Any]:
    """Return the declared limits of an argument, by pydantic's names; empty for an unknown argument."""
    return _find_declaration(request, [name]).limits


class _Declaration(NamedTuple):
    """What a model declares about an argument, or about an item of it."""

    limits: Mapping[str, Any] = {}
    is_required: bool = True
    default: Any = None


def _find_declaration(model: Any, path: Sequence[str]) -> _Declaration:
    """Return the declaration of the argument with this path; numbers in the path are indexes of lists."""
    field: FieldInfo | None = None
    annotation, metadata = model, list[Any]()
    for part in path:
        kinds = _list_alternatives(annotation)
        if part.isdigit():
            annotation = next((get_args(kind)[0] for kind in kinds if get_origin(kind) in (list, tuple)), Any)
            field, metadata = None, []
            continue
        models = (kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))
        field = next((one.model_fields[to_snake(part)] for one in models if to_snake(part) in one.model_fields), None)
        if field is None:
            return _Declaration()
        annotation, metadata = field.annotation, field.metadata
    for kind in _list_alternatives(annotation):
        metadata = [*metadata, *getattr(kind, "__metadata__", ())]
    limits = {
        name: value
        for declared in metadata
        for item in (declared, *getattr(declared, "metadata", ()))  # of a Field inside of Annotated
        for name in ("ge", "le", "min_length", "max_length", "pattern")
        if (value := getattr(item, name, None)) is not None
    }
    if field is None:
        return _Declaration(limits)
    default = None if field.is_required() else field.get_default(call_default_factory=True, validated_data={})
    return _Declaration(limits, field.is_required(), default)


def _list_alternatives(annotation: Any) -> list[Any]:
    """Return a type, and the members of a union; unlike ``list_types`` without the types of items."""
    is_container = get_origin(annotation) in (list, tuple, dict)
    inner = () if is_container else get_args(annotation)
    return [annotation, *(part for member in inner for part in _list_alternatives(member))]


def describe_accepted(kind: str, limits: Mapping[str, Any]) -> str:
    """Return what an argument accepts, as a noun; empty if an error is not about its type or its limits.

    Args:
        kind: the type of pydantic's error.
        limits: the limits by pydantic's names: ge, le, min_length, max_length and pattern.
    """
    lengths = limits.get("min_length"), limits.get("max_length")
    if kind == "string_pattern_mismatch":
        return _FORMS.get(limits.get("pattern", ""), f"a string of the form {limits.get('pattern')}")
    if kind.startswith(("int_", "float_", "finite_", "greater_than", "less_than", "bool_given")):
        number = "a number" if kind.startswith(("float_", "finite_")) else "a whole number"
        return f"{number}{_describe_limits(' from {} to {}', limits.get('ge'), limits.get('le'), '')}"
    if kind == "string_type":
        return "a string"
    if kind.startswith("string_"):
        return _describe_limits(" of {} to {}", *lengths, " characters").removeprefix(" of ")
    if kind.startswith(("too_short", "too_long", "list_", "tuple_")):
        return f"a list{_describe_limits(' of {} to {}', *lengths, ' entries')}"
    if kind.startswith(("bool_", "dict_", "model_")):
        return "true or false" if kind.startswith("bool_") else "an object"
    return ""


def _describe_limits(both: str, low: Any, high: Any, unit: str) -> str:
    """Return the words for two limits, either of which may be None."""
    if low is not None and high is not None:
        return both.format(low, high) + unit
    if low is not None:
        return f" of {low} or more{unit}"
    return f" of up to {high}{unit}" if high is not None else ""


_FORMS: Final = {
    FOUR_DIGITS: "four digits, such as 2019",
    NAME_PATTERN: "letters, digits and _",
    NAME_WITH_DOTS: "letters, digits and dots",
}
"""What an argument with a pattern accepts."""
