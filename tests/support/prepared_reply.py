"""A reply of prepared bytes, as the clients of the services read it."""

from collections.abc import Callable
from typing import Any

from entrez_kit.services.esummary_reply import parse_esummary
from entrez_kit.services.small_replies import parse_esearch, parse_espell
from entrez_kit.services.transport import Reply

READERS: dict[str, Callable[[bytes], Any]] = {
    "esearch": parse_esearch,
    "espell": parse_espell,
    "esummary": parse_esummary,
}
"""How the clients process a reply before the caller reads it."""


def prepare_reply(endpoint: str, content: bytes, read: Callable[[Any], Any] | None = None) -> Reply:
    """Return the reply of an endpoint, read with the caller's reader if there is one."""
    value = READERS.get(endpoint, bytes)(content)
    return Reply(
        content=content,
        value=read(value) if read else value,
        url=f"http://127.0.0.1/{endpoint}",
        method="GET",
        from_cache=False,
        status=200,
        attempts=1,
    )
