"""Serve recorded replies of the E-utilities on loopback, to the requests they were recorded for."""

import gzip
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

from used_recordings import LIST

from entrez_kit.local.eutils.replies import HTML, JSON, TEXT, XML, LocalReply, answer_text
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.local.eutils.service import ENDPOINTS, EUTILS
from entrez_kit.sandbox.server import Sandbox

_ADDRESS: Final = re.compile(r"https?://eutils\.ncbi\.nlm\.nih\.gov/entrez/eutils/(\w+)\.f?cgi\?(\S+)")
_CUT: Final = 400
"""Characters after which the list cuts an address."""
_NOT_ASKED: Final = frozenset(("tool", "email", "api_key"))

_UNADDRESSED: Final[Mapping[str, Mapping[str, str]]] = {
    "einfo": {},
    "esearch": {"db": "pubmed", "term": "any"},
    "esummary": {"db": "pubmed"},
    "elink": {"dbfrom": "pubmed"},
    "epost": {"db": "pubmed"},
    "espell": {"term": "any"},
    "efetch_medline": {"db": "pubmed", "rettype": "medline", "retmode": "text"},
}
"""Folders of replies whose requests are often unknown, and the test for such a folder."""

Key = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Recorded:
    """A recorded reply and the request it was recorded for."""

    name: str
    endpoint: str
    params: tuple[tuple[str, str], ...]
    status: int
    body: bytes

    @property
    def keywords(self) -> dict[str, Any]:
        """The arguments of Bio's function; a repeated id is a list."""
        found: dict[str, Any] = {}
        for name, value in self.params:
            found[name] = [*found[name], value] if isinstance(found.get(name), list) else value
            if name == "id" and sum(other == "id" for other, _ in self.params) > 1:
                found[name] = [value for other, value in self.params if other == "id"]
        return found

    @property
    def key(self) -> Key:
        """The data that distinguish this request from others."""
        return _make_key(self.endpoint, self.params)

    @property
    def content_type(self) -> str:
        """The media type that NCBI sends with such a body."""
        start = self.body.lstrip()[:1]
        if self.body[:200].lower().lstrip().startswith((b"<html", b"<!doctype html")):
            return HTML
        return XML if start == b"<" else JSON if start in (b"{", b"[") else TEXT


def read_recordings(folder: Path) -> list[Recorded]:
    """Return recordings of the E-utilities, one for each request.

    If the request of a reply is unknown, the file name replaces it.
    """
    found: dict[Key, Recorded] = {}
    for line in (folder / LIST).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split(" | ")]
        address = _ADDRESS.search(cells[1]) if len(cells) > 2 else None
        name = cells[0].removeprefix("| ") if address else ""
        if address is None or not cells[2][:3].isdigit() or len(cells[1]) >= _CUT:
            continue
        body = (folder / name).read_bytes()
        body = gzip.decompress(body) if name.endswith(".gz") else body
        params = tuple(parse_qsl(address[2], keep_blank_values=True))
        one = Recorded(name, address[1], params, int(cells[2][:3]), body)
        found.setdefault(one.key, one)
    known = {one.name for one in found.values()}
    for path in sorted(path for kind in _UNADDRESSED for path in (folder / kind).iterdir()):
        endpoint, named = path.parent.name.split("_")[0], path.relative_to(folder).as_posix()
        if named in known or path.suffix == ".gz":
            continue
        body = path.read_bytes()
        reported = {"retmode": "json"} if body.lstrip()[:1] == b"{" else {}
        for name in ("retmax", "retstart") if endpoint == "esearch" else ():
            place = re.search(rb'(?i)<%b>(\d+)|"%b" *: *"(\d+)' % (name.encode(), name.encode()), body)
            reported |= {name: (place[1] or place[2]).decode()} if place else {}
        params = (*{**_UNADDRESSED[path.parent.name], **reported}.items(), ("recording", named))
        one = Recorded(named, endpoint, params, 200, body)
        found[one.key] = one
    return list(found.values())


def serve_recordings(recordings: Iterable[Recorded], faults: Mapping[str, float] | None = None) -> Sandbox:
    """Return a server that answers with recordings; other requests get status 404."""
    replies = {
        recording.key: LocalReply(recording.body, recording.content_type, recording.status) for recording in recordings
    }

    def replay(request: LocalRequest, _: LocalState) -> LocalReply:
        return replies.get(_make_key(request.endpoint, request.params), answer_text("404 Not Found\n", 404))

    sandbox = Sandbox(faults=faults, seed=3, enforce_limits=False, most_faults_in_a_row=3)
    for path, (name, _) in ENDPOINTS.items():
        if path.startswith(EUTILS):
            sandbox.route(path, name, replay)
    return sandbox


def _make_key(endpoint: str, params: Iterable[tuple[str, str]]) -> Key:
    """Return a key that is the same whether ids come in one parameter or in several."""
    requested: dict[str, list[str]] = {}
    for name, value in params:
        parts = [part.strip() for part in value.split(",")]
        if name not in _NOT_ASKED:
            requested.setdefault(name, []).extend(part for part in parts if part or name != "id")
    return endpoint, tuple(sorted((name, ",".join(values)) for name, values in requested.items()))
