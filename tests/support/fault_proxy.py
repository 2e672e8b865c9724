"""A proxy on loopback that forwards the replies of a service and damages the chosen ones."""

import gzip
import json
import re
import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from typing import Any, Final
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Answer:
    """A reply on its way to the client."""

    status: int
    content_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()

    def head(self, length: int | None = None) -> bytes:
        """Return the status line and the headers; the length is that of the body unless given, negative for none."""
        lines = [f"HTTP/1.1 {self.status} Said", f"Content-Type: {self.content_type}"]
        if length is None or length >= 0:
            lines.append(f"Content-Length: {len(self.body) if length is None else length}")
        lines += [f"{name}: {value}" for name, value in (*self.headers, ("Connection", "close"))]
        return "\r\n".join(lines).encode() + b"\r\n\r\n"


Wire = Iterator[bytes | float]
"""The bytes to send, and pauses in seconds."""
Fault = Callable[[Answer], Wire]

RESET: Final = b"\x00reset"
"""In a reply: the connection is reset here."""


def _send_whole(answer: Answer) -> Wire:
    yield answer.head() + answer.body


def _change_body(change: Callable[[bytes], bytes]) -> Fault:
    return lambda answer: _send_whole(replace(answer, body=change(answer.body)))


def _send_error(status: int, body: str, content_type: str = "text/html", **headers: str) -> Fault:
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return lambda answer: _send_whole(Answer(status, content_type, body.encode(), named))


def _cut_body(share: float) -> Fault:
    return _change_body(lambda body: body[: int(len(body) * share)])


def _send_parts(*parts: Callable[[Answer], bytes | float]) -> Fault:
    def send(answer: Answer) -> Wire:
        for part in parts:
            yield part(answer)

    return send


def _send_slowly(piece: Callable[[Answer], bytes], pause: float) -> Fault:
    def send(answer: Answer) -> Wire:
        whole = piece(answer)
        for at in range(len(whole)):
            yield whole[at : at + 1]
            yield pause

    return send


def _send_endless(start: Callable[[Answer], bytes], more: bytes) -> Fault:
    def send(answer: Answer) -> Wire:
        yield start(answer)
        while True:
            yield more
            yield 0.001

    return send


def _send_packed(keep: float) -> Fault:
    def send(answer: Answer) -> Wire:
        whole = gzip.compress(answer.body)
        spoilt = replace(answer, body=whole[: int(len(whole) * keep)], headers=(("Content-Encoding", "gzip"),))
        yield spoilt.head() + spoilt.body

    return send


def _encode_chunked(answer: Answer, end: bytes) -> bytes:
    half = len(answer.body) // 2
    head = replace(answer, headers=(("Transfer-Encoding", "chunked"),)).head(-1)
    return head + f"{half:x}\r\n".encode() + answer.body[:half] + b"\r\n" + end


_RECORD: Final = re.compile(
    rb"<(PubmedArticle|PubmedBookArticle|DocumentSummary|DocSum|Entrezgene|Taxon|GBSeq|LinkSet|Id|article|Link)(?![\w-])[^>]*>"
    rb".*?</\1>",
    re.DOTALL,
)


def _remove_first(body: bytes) -> bytes:
    """Return the body without the first of its records."""
    try:
        document = json.loads(body)
    except ValueError:
        if found := _RECORD.search(body):
            return body[: found.start()] + body[found.end() :]
        return b"\n".join(body.split(b"\n")[1:])
    for part in _list_lists(document):
        del part[0]
        break
    return json.dumps(document).encode()


def _list_lists(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, list):
        if value:
            yield value
        for item in value:
            yield from _list_lists(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _list_lists(item)


def _empty_body(body: bytes) -> bytes:
    """Return the outermost element or object with nothing in it."""
    if body.lstrip()[:1] in b"{[":
        return b"{}"
    root = re.search(rb"<([A-Za-z][\w-]*)[^>]*>", body)
    return body[: root.end()] + b"</" + root[1] + b">" if root else b""


def _remove_ids(body: bytes) -> bytes:
    body = re.sub(rb"<(PMID|Gene-track_geneid|Id|ArticleId(?= IdType=.pubmed))\b[^>]*>\d+</\1>", b"", body)
    return re.sub(rb'"(pmid|uid|id)": ?"[^"]*",? ?', b"", body)


def _replace_ids(body: bytes) -> bytes:
    """Return the body with one foreign id in place of all; a search that lists a single id could mean any."""
    if b"<eSearchResult>" in body and body.count(b"<Id>") == 1:
        return body
    return re.sub(rb"(<(PMID|Gene-track_geneid|Id)\b[^>]*>|PMID- )\d+", rb"\g<1>31415926", body)


# Replies that contradict themselves or the request. A reply without the part that a fault changes stays unchanged.


def _change_search(change: Callable[[list[bytes]], list[bytes]], count: int | None = None) -> Fault:
    """Return a fault that changes the ids of a search, and the count if one is given."""

    def spoil(body: bytes) -> bytes:
        ids: list[bytes]
        if b"<eSearchResult>" in body:
            ids = re.findall(rb"<Id>([^<]*)</Id>", body)
            listed = b"".join(b"<Id>" + one + b"</Id>" for one in change(ids))
            listed = b"<IdList>" + listed + b"</IdList>"
            body = re.sub(rb"<IdList>.*?</IdList>", lambda _: listed, body, flags=re.DOTALL)
            return body if count is None or not ids else re.sub(rb"<Count>\d+", b"<Count>%d" % count, body, count=1)
        document = _parse_document(body)
        if not isinstance(document, dict) or "esearchresult" not in document:
            return body
        found = document["esearchresult"]
        ids = [one.encode() for one in found.get("idlist", ())]
        found["idlist"] = [one.decode() for one in change(ids)]
        if count is not None and ids:
            found["count"] = str(count)
        return json.dumps(document).encode()

    return _change_body(spoil)


def _parse_document(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _list_record_lists(document: Any) -> list[list[Any]]:
    """Return the lists of records in a JSON document; of several lists inside each other the outermost."""
    if isinstance(document, dict) and "result" in document:
        return []  # summaries are not a list
    found = [one for one in _list_lists(document) if isinstance(one[0], dict)]
    return found[:1]


def _change_records(
    change: Callable[[list[bytes]], list[bytes]], change_json: Callable[[list[Any]], list[Any]]
) -> Fault:
    """Return a fault that changes the list of records of a reply, in XML, JSON or MEDLINE."""

    def spoil(body: bytes) -> bytes:
        document = _parse_document(body)
        if document is not None:
            for records in _list_record_lists(document):
                records[:] = change_json(records)
            if isinstance(document, dict) and isinstance(uids := document.get("result", {}).get("uids"), list):
                uids[:] = change_json(uids)
            return json.dumps(document).encode()
        found = list(_WHOLE_RECORD.finditer(body))
        if not found:
            return body
        parts = change([one[0] for one in found])
        return body[: found[0].start()] + b"\n".join(parts) + body[found[-1].end() :]

    return _change_body(spoil)


_WHOLE_RECORD: Final = re.compile(
    rb"<(PubmedArticle|PubmedBookArticle|DocumentSummary|DocSum|Entrezgene|Taxon|GBSeq|article|Link)(?![\w-])[^>]*>"
    rb".*?</\1>"
    rb"|(?m:^PMID- .*\n(?:.+\n)+)",
    re.DOTALL,
)
_ID_ELEMENT: Final = re.compile(
    rb"<(PMID|Gene-track_geneid|TaxId|GBSeq_accession-version|Id|article-id)\b[^>]*>[^<]*</\1>"
)


def _remove_last(body: bytes) -> bytes:
    """Return the body without the last of several records."""
    found = list(_WHOLE_RECORD.finditer(body))
    return body[: found[-1].start()] + body[found[-1].end() :] if len(found) > 1 else body


def _hollow_out(body: bytes) -> bytes:
    """Return the body with the first record reduced to its id."""
    document = _parse_document(body)
    if isinstance(document, dict):
        summaries = document.get("result", {})
        if isinstance(summaries, dict) and summaries.get("uids"):
            uid = str(summaries["uids"][0])
            summaries[uid] = {"uid": uid}
        for records in _list_record_lists(document):
            named = ("id", "source", "requested-id", "pmid")
            records[0] = {name: value for name, value in records[0].items() if name in named}
        return json.dumps(document).encode()
    found = _WHOLE_RECORD.search(body)
    if not found or found[1] in (None, b"Link"):
        return body
    whole = found[0]
    start, own = whole[: whole.index(b">") + 1], _ID_ELEMENT.search(whole)
    inside = own[0] if own else b""
    if found[1] == b"PubmedArticle":
        inside = b"<MedlineCitation>" + inside + b"</MedlineCitation><PubmedData/>"
    if found[1] == b"Entrezgene":
        inside = b"<Entrezgene_track-info><Gene-track>" + inside + b"</Gene-track></Entrezgene_track-info>"
    if found[1] == b"article":
        inside = b"<front><article-meta>" + inside + b"</article-meta></front>"
    return body[: found.start()] + start + inside + b"</" + found[1] + b">" + body[found.end() :]


def _add_uid_error(body: bytes) -> bytes:
    """Return summaries with an error in the place of the first."""
    document = _parse_document(body)
    if isinstance(document, dict):
        summaries = document.get("result")
        if isinstance(summaries, dict) and summaries.get("uids"):
            uid = str(summaries["uids"][0])
            summaries[uid] = {"uid": uid, "error": "cannot get document summary"}
        return json.dumps(document).encode()
    error = rb"\1<error>cannot get document summary</error></DocumentSummary>"
    return re.sub(rb"(<DocumentSummary\b[^>]*>).*?</DocumentSummary>", error, body, count=1, flags=re.DOTALL)


def _shift_ids(body: bytes) -> bytes:
    """Return the body with the ids of each row in the row before; a single row gets those of another article."""
    document = _parse_document(body)
    if not isinstance(document, dict):
        return body
    rows = document.get("records") or (document.get("resultList") or {}).get("result") or []
    names = ("pmid", "pmcid", "doi") if "records" in document else ("pmid",)
    other = {"pmid": 31415926, "pmcid": "PMC31415926", "doi": "10.5555/another"}
    reported = [{name: row[name] for name in names if name in row} for row in rows]
    for row, following in zip(rows, [*reported[1:], *reported[:1]], strict=True):
        row.update(following if len(rows) > 1 else {name: other[name] for name in following})
    return json.dumps(document).encode()


def _flip_id(body: bytes) -> bytes:
    """Return the body with one bit of its first id flipped, so that a digit becomes a letter."""
    found = re.search(rb'(<(?:Id|PMID|Gene-track_geneid)\b[^>]*>|PMID- |"(?:pmid|uid|id)": ?"?)\d', body)
    if not found:
        return body
    at = found.end() - 1
    return body[:at] + bytes((body[at] ^ 0x40,)) + body[at + 1 :]


def _shorten_sequence(body: bytes) -> bytes:
    """Return FASTA without the last line of its last sequence."""
    lines = body.rstrip().split(b"\n")
    return b"\n".join(lines[:-1]) + b"\n" if body.startswith(b">") and len(lines) > 2 else body


def _shorten_medline(body: bytes) -> bytes:
    """Return MEDLINE text that ends with a line end inside the last field."""
    if not re.match(rb"\s*PMID- ", body):
        return body
    return body.rstrip().rpartition(b" ")[0] + b"\n"


def _replace_article(body: bytes) -> bytes:
    """Return full text with the ids and the title of another article."""
    if b"<article-meta" not in body:
        return body
    body = re.sub(rb'(pub-id-type="doi">)[^<]*', rb"\g<1>10.5555/another", body)
    body = re.sub(rb'(pub-id-type="pmid">)[^<]*', rb"\g<1>31415926", body)
    body = re.sub(rb'(pub-id-type="(?:pmc|pmcid|pmcaid)">(?:PMC)?)\d+', rb"\g<1>31415926", body)
    return re.sub(rb"<article-title>.*?</article-title>", b"<article-title>Gold</article-title>", body, flags=re.DOTALL)


HTML: Final = "<!DOCTYPE html><html><head><title>NCBI - WWW Error 500 Diagnostic</title></head><body>Oops</body></html>"
MESSAGES: Final = (
    "Empty id list - nothing todo",
    "Supplied id parameter is empty",
    "Invalid uid 99000001 at position=0",
    "cannot get document summary",
    "UID=99000001: not found",
    "Unable to obtain query #1",
    "WebEnv is missing",
    "Search Backend failed: Exception: Position 15000 is out of acceptable range [9999,9998]",
    "Too many UIDs in request. Maximum number of UIDs is 500 for JSON format output.",
    "Invalid parameter value",
    "Empty term and query_key - nothing todo",
    "API key invalid",
    "Invalid db name specified: pubmed",
    "External viewer error: Empty Response. Bytes read: 0 Status: Timeout",
    "Search Backend failed: Couldn't resolve #exLinkSrv2, the address table is empty.",
    "NCBI C++ Exception: Error: TXCLIENT(CException::eUnknown) - Read failed: EOF",
    "memory limit exceeded for query",
    "Something nobody has said before",
)


def _blame(message: str, status: int) -> Fault:
    def send(answer: Answer) -> Wire:
        if "json" in answer.content_type:
            spoilt = replace(answer, status=status, body=json.dumps({"error": message, "ERROR": message}).encode())
        else:
            root = re.search(rb"<(e[A-Z]\w+Result)", answer.body)
            name = root[1].decode() if root else "eFetchResult"
            text = f'<?xml version="1.0" encoding="UTF-8" ?>\n<{name}>\n\t<ERROR>{message}</ERROR>\n</{name}>\n'
            spoilt = Answer(status, "text/xml; charset=UTF-8", text.encode())
        yield from _send_whole(spoilt)

    return send


LIMIT: Final = '{"error":"API rate limit exceeded","api-key":"203.0.113.9","count":"11","limit":"10"}'

FAULTS: Final[Mapping[str, Fault]] = {
    **{f"cut at {share}": _cut_body(share) for share in (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)},
    "last byte cut": _change_body(lambda body: body.rstrip()[:-1]),
    "last line cut": _change_body(lambda body: body.rstrip().rpartition(b"\n")[0]),
    "empty": _change_body(lambda body: b""),
    "blanks": _change_body(lambda body: b" \r\n\t\n"),
    "prolog": _change_body(lambda body: b'<?xml version="1.0" encoding="UTF-8" ?>\n'),
    "byte order mark": _change_body(lambda body: b"\xef\xbb\xbf" + body),
    "blank lines first": _change_body(lambda body: b"\n\n\n" + body),
    "words first": _change_body(lambda body: b"Warning: slow backend\n" + body),
    "page after": _change_body(lambda body: body + HTML.encode()),
    "words after": _change_body(lambda body: body + b"\nKilled\n"),
    "twice": _change_body(lambda body: body + body),
    "noise": _change_body(lambda body: bytes((index * 167 + 13) % 256 for index in range(max(len(body), 64)))),
    "broken byte": _change_body(lambda body: body[: len(body) // 2] + b"\xff\xfe" + body[len(body) // 2 :]),
    "zero byte": _change_body(lambda body: body[: len(body) // 2] + b"\x00" + body[len(body) // 2 :]),
    "other document": _send_error(200, "<opml><head/></opml>", "text/xml"),
    "other json": _send_error(200, '{"version": "6.9"}', "application/json"),
    "{}": _send_error(200, "{}", "application/json"),
    "[]": _send_error(200, "[]", "application/json"),
    "null": _send_error(200, "null", "application/json"),
    "emptied": _change_body(_empty_body),
    "one fewer": _change_body(_remove_first),
    "no ids": _change_body(_remove_ids),
    "other ids": _change_body(_replace_ids),
    "count below ids": _change_search(lambda ids: ids, count=0),
    "more ids than asked": _change_search(
        lambda ids: ids + [b"%d" % (31_000_000 + at) for at in range(400)] if ids else ids
    ),
    "id twice": _change_search(lambda ids: [*ids[:-1], ids[0]] if len(ids) > 1 else ids * 2),
    "id in letters": _change_search(lambda ids: [b"n/a", *ids[1:]] if ids else ids),
    "empty id": _change_search(lambda ids: [b"", *ids[1:]] if ids else ids),
    "link in letters": _change_body(lambda body: re.sub(rb"(<Link>\s*<Id>)\d+", rb"\g<1>n/a", body)),
    "record twice": _change_records(lambda found: [found[0], *found], lambda found: [found[0], *found]),
    "first for last": _change_records(lambda found: [*found[:-1], found[0]], lambda found: [*found[:-1], found[0]]),
    "last record missing": _change_body(_remove_last),
    "hollow record": _change_body(_hollow_out),
    "error for a uid": _change_body(_add_uid_error),
    "rows shifted": _change_body(_shift_ids),
    "bit flipped": _change_body(_flip_id),
    "sequence cut": _change_body(_shorten_sequence),
    "last field cut": _change_body(_shorten_medline),
    "other article": _change_body(_replace_article),
    "page": _send_error(200, HTML),
    "page as xml": _send_error(200, HTML, "text/xml"),
    "login page": _send_error(200, "<html><form action='/login'>Please sign in to the hotel's network</form></html>"),
    "text": _send_error(200, "Service temporarily overloaded", "text/plain"),
    **{f"{message[:34]} ({status})": _blame(message, status) for message in MESSAGES for status in (200, 400)},
    **{f"status {status}": _send_error(status, HTML) for status in (401, 403, 404, 405, 408, 410, 418, 451, 500, 501)},
    **{f"status {status}": _send_error(status, HTML) for status in (502, 503, 504, 507, 520, 524, 204, 206)},
    "400 in html": _send_error(400, HTML),
    "400 in words": _send_error(400, "Bad things happened", "text/plain"),
    "400 empty": _send_error(400, ""),
    "404 in json": _send_error(404, '{"error": "no"}', "application/json"),
    "414": _send_error(414, HTML),
    "429": _send_error(429, LIMIT, "application/json"),
    "429 soon": _send_error(429, LIMIT, "application/json", Retry_After="1"),
    "429 never": _send_error(429, LIMIT, "application/json", Retry_After="999999999"),
    "429 nonsense": _send_error(429, LIMIT, "application/json", Retry_After="soon; maybe"),
    "200 with limit": _send_error(200, LIMIT, "application/json"),
    "301 to itself": _send_error(301, "", Location="?again=1"),
    "302 nowhere": _send_error(302, ""),
    "302 elsewhere": _send_error(302, "", Location="http://127.0.0.1:9/entrez"),
    "302 to a page": _send_error(302, "", Location="http://127.0.0.1:9/login.html"),
    "closed": _send_parts(),
    "reset": _send_parts(lambda answer: RESET),
    "cut off": _send_parts(lambda answer: answer.head() + answer.body[: len(answer.body) // 2]),
    "reset inside": _send_parts(
        lambda answer: answer.head() + answer.body[: len(answer.body) // 2], lambda answer: RESET
    ),
    "length too small": _send_parts(lambda answer: answer.head(len(answer.body) // 2) + answer.body),
    "length too large": _send_parts(lambda answer: answer.head(len(answer.body) + 100) + answer.body),
    "no length, cut": _send_parts(lambda answer: answer.head(-1) + answer.body[: len(answer.body) // 2]),
    "chunks cut": _send_parts(lambda answer: _encode_chunked(answer, b"")),
    "chunks of nonsense": _send_parts(lambda answer: _encode_chunked(answer, b"zz\r\n")),
    "gzip cut": _send_packed(0.5),
    "gzip without end": _send_packed(0.97),
    "gzip in name": lambda answer: _send_whole(replace(answer, headers=(("Content-Encoding", "gzip"),))),
    "gzip well": _send_packed(1.0),
    "bad status line": _send_parts(lambda answer: b"HTTP/1.1 2OO Fine\r\n\r\n" + answer.body),
    "no http": _send_parts(lambda answer: b"220 mail.example ESMTP\r\n"),
    "long header": lambda answer: _send_whole(replace(answer, headers=(("X-Long", "x" * 100_000),))),
    "slow headers": _send_slowly(lambda answer: answer.head(), 0.3),
    "slow body": _send_slowly(lambda answer: answer.head() + answer.body, 0.05),
    "endless headers": _send_endless(lambda answer: b"HTTP/1.1 200 OK\r\n", b"X-More: yes\r\n"),
    "endless body": _send_endless(lambda answer: answer.head(-1) + answer.body, b"<!-- more -->\n"),
    "silence": _send_parts(lambda answer: 30.0),
}
CONTRADICTIONS: Final = (
    *("count below ids", "more ids than asked", "id twice", "id in letters", "empty id", "link in letters"),
    *("record twice", "first for last", "hollow record", "error for a uid", "rows shifted", "bit flipped"),
    *("last record missing", "sequence cut", "last field cut", "other article"),
)
"""Well-formed replies that contradict themselves or the request."""
SLOW: Final = frozenset(("slow headers", "slow body", "endless headers", "endless body", "silence", "429 soon"))
"""These take as long as the deadline of the client allows."""


class FaultProxy:
    """Forwards requests to a service, and damages the answers of one endpoint.

    ``strike(endpoint, fault, times)`` chooses a fault; ``heal()`` ends it; ``asked`` lists the requested endpoints.
    """

    def __init__(self, target: str) -> None:
        self._target = urlsplit(target)
        self._lock = threading.Lock()
        self._endpoint, self._fault, self._left = "", "", 0
        self.asked: list[str] = []
        proxy = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                proxy._serve(self)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address, daemon_threads, block_on_close = True, True, False

            def handle_error(self, request: Any, client_address: Any) -> None:
                """A client that closes its connection is not an error."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._gone = threading.Event()
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stop serving."""
        self._gone.set()
        self._server.shutdown()
        self._server.server_close()

    def strike(self, endpoint: str, fault: str, times: int) -> None:
        """Damage the next answers of an endpoint; a negative number damages all of them."""
        with self._lock:
            self._endpoint, self._fault, self._left = endpoint, fault, times

    def heal(self) -> None:
        """Stop damaging replies, and end replies that are still being sent slowly."""
        with self._lock:
            self._left = 0
        gone, self._gone = self._gone, threading.Event()
        gone.set()

    def _choose_fault(self, endpoint: str) -> str | None:
        with self._lock:
            self.asked.append(endpoint)
            if endpoint != self._endpoint or self._left == 0:
                return None
            self._left -= 1
            return self._fault

    def _serve(self, handler: socketserver.StreamRequestHandler) -> None:
        line = handler.rfile.readline().decode("latin-1").split()
        if len(line) != 3:
            return
        headers: dict[str, str] = {}
        while (header := handler.rfile.readline().decode("latin-1").strip()) != "":
            name, _, value = header.partition(":")
            headers[name.title()] = value.strip()
        sent = handler.rfile.read(int(headers.get("Content-Length", 0)))
        answer = self._forward(line[0], line[1], headers, sent)
        fault = self._choose_fault(find_endpoint(line[1]))
        wire = FAULTS[fault](answer) if fault else _send_whole(answer)
        gone = self._gone
        for part in wire:
            if part == RESET:
                handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                handler.connection.close()
                return
            if isinstance(part, bytes):
                handler.connection.sendall(part)
            elif gone.wait(part):
                return

    def _forward(self, method: str, path: str, headers: Mapping[str, str], sent: bytes) -> Answer:
        connection = HTTPConnection(self._target.hostname or "", self._target.port, timeout=60)
        kept = {name: value for name, value in headers.items() if name not in ("Host", "Connection", "Accept-Encoding")}
        connection.request(method, path, sent or None, kept)
        reply = connection.getresponse()
        body = reply.read()
        connection.close()
        location = reply.headers.get("Location")
        return Answer(
            reply.status,
            reply.headers.get("Content-Type", "text/plain"),
            body,
            (("Location", location),) if location else (),
        )


def find_endpoint(path: str) -> str:
    """Return the endpoint of a path: an E-utility, or another service and its operation."""
    parts = urlsplit(path).path.strip("/").split("/")
    if parts[0] == "entrez":
        return parts[-1].partition(".")[0]
    if parts[0] == "europepmc":
        return "europepmc search" if parts[-1] == "search" else f"europepmc {parts[-1]}"
    return parts[0]
