"""Put the replies of several EFetch requests together into one: NCBI's own bytes, only the frame of XML once."""

import re
from collections.abc import Sequence
from typing import Final

_BOM: Final = b"\xef\xbb\xbf"
_BEFORE_ROOT: Final = re.compile(rb"(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*", re.DOTALL)
_ROOT: Final = re.compile(rb"<([A-Za-z_][\w.:-]*)(?:\s[^<>]*?)?(/?)>")


def joined(parts: Sequence[bytes]) -> tuple[bytes, bool]:
    """Return replies as one, and whether that is one document.

    Text follows text. Of XML with the same root the records move into the first root; XML of different roots, and
    JSON, can only stand one after the other.
    """
    parts = [part for part in parts if part.strip()]
    if len(parts) <= 1:
        return (parts[0] if parts else b""), True
    starts = {part.removeprefix(_BOM).lstrip()[:1] for part in parts}
    if starts == {b"<"}:
        merged = _merged(parts)
        return (merged, True) if merged is not None else (_lines(parts), False)
    return _lines(parts), not starts & {b"{", b"[", b"<"}


def _lines(parts: Sequence[bytes]) -> bytes:
    return b"".join(part if part.endswith(b"\n") else part + b"\n" for part in parts)


def _merged(parts: Sequence[bytes]) -> bytes | None:
    """Return one XML document, or None where the parts are not of one kind."""
    names: set[bytes] = set()
    frame: tuple[bytes, bytes] | None = None
    records: list[bytes] = []
    for part in parts:
        cut = _cut(part)
        if cut is None:
            return None
        name, before, inner, after = cut
        names.add(name)
        if after:
            records.append(inner)
            frame = frame or (before, after)
    if len(names) != 1:
        return None
    return parts[0] if frame is None else frame[0] + b"".join(records) + frame[1]


def _cut(document: bytes) -> tuple[bytes, bytes, bytes, bytes] | None:
    """Cut a document into name of the root, all up to it, what is inside and the rest; an empty root has no rest."""
    head = _BEFORE_ROOT.match(document.removeprefix(_BOM))
    body = document.removeprefix(_BOM)
    root = _ROOT.match(body, head.end() if head else 0)
    if root is None:
        return None
    name = root[1]
    if root[2]:
        return name, body[: root.end()], b"", b""
    closing = b"</" + name
    end = body.rfind(closing)
    # Where another document follows the first, there is more than one frame.
    if end < root.end() or body.find(b"<?xml", root.end()) != -1:
        return None
    return name, body[: root.end()], body[root.end() : end], body[end:]
