"""Split MEDLINE text (NBIB) into records, every byte as NCBI sent it."""

import re
from typing import Final

_PMID_LINE: Final = re.compile(rb"(?m)^PMID\s*-[ \t]*([0-9]+)[ \t]*\r?$")
_BLANK_LINES: Final = re.compile(rb"(?:\r?\n){2,}")


def split_medline(data: bytes) -> list[tuple[str, bytes]]:
    """Return PMID and own bytes of every record, in order.

    A record reaches from its PMID line to the blank line before the next one, line end included. What belongs to no
    record, such as NCBI's remark about an unknown PMID, is left out.
    """
    places = list(_PMID_LINE.finditer(data))
    records = []
    for index, place in enumerate(places):
        following = places[index + 1].start() if index + 1 < len(places) else len(data)
        chunk = data[place.start() : following]
        end = _BLANK_LINES.search(chunk)
        body = chunk[: end.start()] if end else chunk.rstrip(b"\r\n")
        line_end = b"\r\n" if chunk[len(body) :].startswith(b"\r\n") else b"\n"
        records.append((place[1].decode("ascii"), body + line_end))
    return records
