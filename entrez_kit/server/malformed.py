"""JSON-RPC errors for input that is not a message; the same for all transports and protocol versions."""

import json
from typing import Final

from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCNotification
from mcp_types.jsonrpc import jsonrpc_message_adapter

_WANTED: Final = 'This is not a message: it needs "jsonrpc": "2.0", a method, an id (string or number), and params.'


def check_message(data: bytes) -> JSONRPCError | None:
    """Return the error for bytes that are not a message; None for a message."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return build_refusal("This is not UTF-8.", code=PARSE_ERROR)
    try:
        message = jsonrpc_message_adapter.validate_json(text, by_name=False)
    except (ValueError, RecursionError):
        message = None
    if message is not None and not isinstance(message, JSONRPCNotification):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return build_refusal("This is not JSON.", code=PARSE_ERROR)
    if message is not None and "id" not in document:
        return None  # input with an id, even null, needs a reply
    if isinstance(document, list):
        return build_refusal("Send one message at a time; batches are not supported.")
    number = document.get("id") if isinstance(document, dict) else None
    if isinstance(number, int) and not isinstance(number, bool):
        return build_refusal(_WANTED, number=number)
    # An unpaired surrogate cannot be sent.
    return build_refusal(_WANTED, number=number if isinstance(number, str) and number.isprintable() else None)


def build_refusal(problem: str, *, code: int = INVALID_REQUEST, number: str | int | None = None) -> JSONRPCError:
    """Return a JSON-RPC error for input that is not a message."""
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=problem))
