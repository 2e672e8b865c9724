"""Turn pydantic's errors about arguments into INVALID_INPUT: what is wrong, and what each argument accepts."""

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
from entrez_kit.base.frontend_text import Argument, FrontendText, PerFrontend, Text, cut_middle
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
MAX_SHOWN_VALUE: Final = 40
"""Maximum length of an invalid value in a message."""
_VERB: Final = re.compile(r"(must|needs|takes|is|are|has|requires|cannot|contains|exceeds) ")
"""The beginning of a message that has the name of an argument as its subject."""


def invalid_arguments(exc: ValidationError, request: type[BaseModel]) -> InvalidInput:
    """Convert a pydantic error about arguments to an INVALID_INPUT error that names every field."""
    problems: list[dict[str, Any]] = []
    hints: list[Text] = []
    for error in exc.errors(include_url=False)[:MAX_DETAILED]:
        context = error.get("ctx", {})
        path = [*error["loc"], context["field"]] if error["type"] == WRONG_ARGUMENT else error["loc"]
        where = ".".join(map(str, path))
        if error["type"] == "missing":  # for these pydantic gives the alias
            where = re.sub(r"(?<=[a-z0-9])[A-Z]", lambda match: f"_{match[0].lower()}", where)
        # For a missing argument the input is all the other arguments.
        given = "" if error["type"] == "missing" else context.get("given", error["input"])
        shown = cut_middle(given if isinstance(given, str) else repr(given), 200)
        problems.append(
            {
                "field": where,
                "message": describe_problem(error, request),
                "input": shown,
                "reason": classify_problem(error),
            }
        )
        hints.append(_build_hint(error, request, where))
    first = problems[0]
    shown_problems = [_name_field(problem["field"], problem["message"], problem["input"]) for problem in problems]
    message = FrontendText.join_parts("; ", shown_problems[:MAX_PROBLEMS])
    return InvalidInput(
        message if str(message).endswith((".", "?")) else FrontendText(message, "."),
        invalid_input=f"{first['field']}={first['input']}" if first["field"] else None,
        recovery_hint=_join_hints(problems, hints),
        details={"reason": "invalid_arguments", "errors": problems},
    )


def classify_problem(error: ErrorDetails) -> str:
    """Return the reason of an error of pydantic: missing_argument, unknown_argument or invalid_value."""
    if error["type"] == WRONG_ARGUMENT:
        return str(error["ctx"]["reason"])
    return {"missing": "missing_argument", "extra_forbidden": UNKNOWN_ARGUMENT}.get(error["type"], "invalid_value")


# Messages ------------------------------------------------------------------------------------------------------------


def describe_problem(error: ErrorDetails, request: type[BaseModel] = BaseModel) -> Text:
    """Return our message for an error of pydantic: the accepted values, or the most similar name of an argument."""
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
    if kind in ("literal_error", "enum"):
        return f"must be {context['expected'].replace(chr(39), '')}"
    if kind == "string_pattern_mismatch":
        return f"must have {_describe_pattern(context['pattern'])}"
    words = next((words for start, words in _PROBLEMS.items() if kind.startswith(start)), None)
    return error["msg"] if words is None else words.format(**context)


_PROBLEMS: Final = {
    "missing": "is required",
    "string_too_short": "needs {min_length} or more characters",
    "string_too_long": "takes up to {max_length} characters",
    "string_": "must be a string",
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
"""Messages by the prefix of pydantic's error type."""


def _name_field(name: str, message: Text, value: str) -> Text:
    """Return a problem as a sentence about the field; a value out of bounds is added."""
    if not name:
        return message
    given = f" (got {value})" if str(message).startswith("must ") and 0 < len(value) <= MAX_SHOWN_VALUE else ""
    return FrontendText(Argument(name), " " if _VERB.match(str(message)) else ": ", message, given)


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
        sentences.append(FrontendText(PerFrontend("--help", "The schema", "help()"), " lists the arguments."))
    return FrontendText.join_parts(" ", sentences)


def _build_hint(error: ErrorDetails, request: type[BaseModel], name: str) -> Text:
    """Return what to do about an error of pydantic: what the declaration of the argument accepts, if known.

    Args:
        name: the name of the argument.
    """
    kind, problem = error["type"], error.get("ctx", {}).get("error")
    if isinstance(problem, WrongValue):
        return problem.hint
    argument = Argument(name) if name else "the arguments"
    reason = classify_problem(error)
    if reason != "invalid_value":
        return FrontendText("Add " if reason == "missing_argument" else "Remove or rename ", argument, ".")
    declaration = _find_declaration(request, name.split(".") if name else [])
    accepted = _describe_accepted(kind, declaration.limits)
    is_given = bool(error.get("ctx", {}).get("given", True))
    action = "Give " if accepted or not is_given else "Correct " if declaration.is_required else "Correct or omit "
    is_clear = not declaration.description or (accepted and declaration.limits)
    meaning = "" if is_clear else f" ({declaration.description.rstrip('.')})"
    return FrontendText(action, argument, f" {accepted}" if accepted else "", f"{meaning}.")


class _Declaration(NamedTuple):
    """What a model declares about an argument, or about an item of it."""

    limits: Mapping[str, Any] = {}
    description: str = ""
    is_required: bool = True


def _find_declaration(model: Any, path: Sequence[str]) -> _Declaration:
    """Return the declaration of the argument with this path, whose numbers are indexes of lists."""
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
    return _Declaration(limits, field.description or "", field.is_required())


def _list_alternatives(annotation: Any) -> list[Any]:
    """Return a type, and the members of a union; unlike ``list_types`` without the types of items."""
    is_container = get_origin(annotation) in (list, tuple, dict)
    inner = () if is_container else get_args(annotation)
    return [annotation, *(part for member in inner for part in _list_alternatives(member))]


def _describe_accepted(kind: str, limits: Mapping[str, Any]) -> str:
    """Return what an argument accepts, after an error of this type; empty if the type does not tell it.

    Args:
        limits: the declared limits.
    """
    if kind.startswith(("literal_error", "enum")):
        return "one of these values"  # the message lists them
    if kind == "string_pattern_mismatch":
        return _describe_pattern(limits.get("pattern", ""))
    if kind.startswith(("int_", "float_", "finite_", "greater_than", "less_than", "bool_given")):
        limited = _describe_limits("from {} to {}", limits.get("ge"), limits.get("le"))
        return f"a number {limited}" if limited else "a whole number" if kind.startswith("int_") else "a number"
    if kind.startswith("string_"):
        limited = _describe_limits("of {} to {}", limits.get("min_length"), limits.get("max_length"))
        return f"a text {limited} characters" if limited else "a text"
    if kind.startswith(("too_short", "too_long", "list_")):
        limited = _describe_limits("of {} to {}", limits.get("min_length"), limits.get("max_length"))
        return f"a list {limited} entries" if limited else "a list"
    if kind.startswith(("bool_", "dict_", "model_")):
        return "true or false" if kind.startswith("bool_") else "an object"
    return ""


def _describe_limits(both: str, low: Any, high: Any) -> str:
    """Return the words for two limits, either of which may be None."""
    if low is not None and high is not None:
        return both.format(low, high)
    if low is not None:
        return f"of {low} or more"
    return f"of up to {high}" if high is not None else ""


_FORMS: Final = {
    FOUR_DIGITS: "four digits, such as 2019",
    NAME_PATTERN: "only letters, digits and _",
    NAME_WITH_DOTS: "only letters, digits and dots",
}


def _describe_pattern(pattern: str) -> str:
    return _FORMS.get(pattern, f"the form {pattern}")
