"""What is no message, and the answer that JSON-RPC wants for it; the same over every transport and in every era."""

import json
from typing import Final

from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCNotification
from mcp_types.jsonrpc import jsonrpc_message_adapter

_WANTED: Final = 'This is no message: it needs "jsonrpc": "2.0", a method, an id of a text or a number, and params.'


def refusal_of(data: bytes) -> JSONRPCError | None:
    """Return the answer to bytes that are no message; None for a message."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return refusal("This is no UTF-8.", code=PARSE_ERROR)
    try:
        message = jsonrpc_message_adapter.validate_json(text, by_name=False)
    except (ValueError, RecursionError):
        message = None
    if message is not None and not isinstance(message, JSONRPCNotification):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return refusal("This is no JSON.", code=PARSE_ERROR)
    if message is not None and "id" not in document:
        return None  # what has an id, be it null, is owed an answer
    if isinstance(document, list):
        return refusal("Send one message at a time; batches are not taken.")
    number = document.get("id") if isinstance(document, dict) else None
    if isinstance(number, int) and not isinstance(number, bool):
        return refusal(_WANTED, number=number)
    # Half a character cannot be sent back.
    return refusal(_WANTED, number=number if isinstance(number, str) and number.isprintable() else None)


def refusal(what: str, *, code: int = INVALID_REQUEST, number: str | int | None = None) -> JSONRPCError:
    """Return an answer to what is no message."""
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=what))
