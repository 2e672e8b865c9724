"""Convert errors to JSON and back, with the parts of their texts that differ by front end."""

from collections.abc import Iterator
from typing import Any, Final

from entrez_kit.base.errors import EntrezKitError, IncompleteReply, UpstreamError
from entrez_kit.base.frontend_text import Argument, FrontendText, NextCall, Part, PerFrontend, Text

MAX_DEPTH: Final = 20
_PLACEHOLDER: Final = {"placeholder": True}


class InvalidDocument(ValueError):
    """A document is not an error, or not a text, that this module wrote."""


def dump_error(error: EntrezKitError) -> dict[str, Any]:
    """Return an error as plain data."""
    return {
        # A replay makes an IncompleteReply from the recorded reply.
        "type": (UpstreamError if isinstance(error, IncompleteReply) else type(error)).__name__,
        "message": dump_text(error.message_text),
        "hint": dump_text(error.hint_text),
        "invalid_input": error.invalid_input,
        "details": {name: _dump_value(value) for name, value in {**error.details, **error._details_text}.items()},
    }


def load_error(document: Any) -> EntrezKitError:
    """Return the error in plain data.

    Raises:
        InvalidDocument: the data is not an error.
    """
    known = {error_class.__name__: error_class for error_class in _list_types(EntrezKitError)}
    try:
        error_type = known[document["type"]]
        invalid, details = document["invalid_input"], document["details"]
        if not isinstance(details, dict) or not isinstance(invalid, str | None):
            raise InvalidDocument(document["type"])
        return error_type(
            load_text(document["message"]),
            recovery_hint=load_text(document["hint"]),
            invalid_input=invalid,
            details={name: _load_value(value) for name, value in details.items()},
        )
    except (KeyError, TypeError) as exc:
        raise InvalidDocument(str(exc)) from None


def _list_types(error_type: type[EntrezKitError]) -> Iterator[type[EntrezKitError]]:
    yield error_type
    for below in error_type.__subclasses__():
        yield from _list_types(below)


def dump_text(text: Part) -> Any:
    """Return a text as plain data: a string, or an object for a part that front ends render."""
    if isinstance(text, str):
        return text
    if isinstance(text, FrontendText):
        return {"parts": [dump_text(part) for part in text.parts]}
    if isinstance(text, Argument):
        return {"argument": text.name, "value": _dump_value(text.value), "marked": text.marked}
    if isinstance(text, NextCall):
        return {
            "call": text.method,
            "arguments": {name: _dump_value(argument) for name, argument in text.arguments.items()},
        }
    python_text = None if text.python is None else dump_text(text.python)
    return {"terminal": dump_text(text.terminal), "tools": dump_text(text.tools), "python": python_text}


def load_text(document: Any) -> Text:
    """Return the text in plain data.

    Raises:
        InvalidDocument: the data is not a text.
    """
    return _load_text_at(document, MAX_DEPTH)


def _load_part(document: Any, depth: int) -> Part:
    if isinstance(document, str):
        return document
    if isinstance(document, dict) and depth:
        if isinstance(parts := document.get("parts"), list):
            return FrontendText(*(_load_part(part, depth - 1) for part in parts))
        if isinstance(name := document.get("argument"), str):
            return Argument(name, _load_value(document.get("value")), document.get("marked") is True)
        if isinstance(method := document.get("call"), str) and isinstance(document.get("arguments"), dict):
            return NextCall(method, **{name: _load_value(argument) for name, argument in document["arguments"].items()})
        if "terminal" in document and "tools" in document:
            own = document.get("python")
            return PerFrontend(
                _load_text_at(document["terminal"], depth - 1),
                _load_text_at(document["tools"], depth - 1),
                None if own is None else _load_text_at(own, depth - 1),
            )
    raise InvalidDocument("not a text")


def _load_text_at(document: Any, depth: int) -> Text:
    part = _load_part(document, depth)
    return part if isinstance(part, str | FrontendText) else FrontendText(part)


def _dump_value(value: Any) -> Any:
    """Return a value of an error's details, or of an argument, as plain data."""
    if value is ...:
        return _PLACEHOLDER
    if isinstance(value, FrontendText):
        return {"text": dump_text(value)}
    if isinstance(value, dict):
        return {str(name): _dump_value(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_dump_value(member) for member in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _load_value(document: Any) -> Any:
    if document == _PLACEHOLDER:
        return ...
    if isinstance(document, dict):
        if document.keys() == {"text"} and isinstance(document["text"], dict):
            return load_text(document["text"])
        return {name: _load_value(member) for name, member in document.items()}
    if isinstance(document, list):
        return [_load_value(member) for member in document]
    return document
