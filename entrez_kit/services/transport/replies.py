"""Check that a body is a valid reply before it is cached or returned.

A reply with status 200 can still be invalid: an HTML page, a truncated document, an error inside a document, or an
empty body. An invalid reply is raised as an error, or as `Retryable` if a retry may help.

Truncation is detected as follows. XML up to 1 MB is parsed by expat without handlers, which takes 5 to 17 ms per
megabyte and finds every truncation. For larger documents the HTTP library has already checked the Content-Length or
the chunk sizes; the check only requires that the document ends with the closing tag of the root.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Generic, NamedTuple
from xml.parsers import expat

from entrez_kit.base.errors import EntrezKitError, InvalidInput, RefusedReply, UpstreamError
from entrez_kit.base.frontend_text import BASE_ADDRESS, FrontendText, PerFrontend
from entrez_kit.base.redaction import Redactor
from entrez_kit.services.transport import POLICIES, Call, T, refusals
from entrez_kit.services.transport.retry import Retryable, parse_retry_after

FULL_PARSE_BYTES: Final = 1_000_000
TAIL_BYTES: Final = 1024
SILENT_ATTEMPTS: Final = 2
INCOMPLETE_ATTEMPTS: Final = 2
"""A service that omits a part of a complete document may omit it every time."""

PLAINLY_SHORT: Final = 2000
"""A request up to this length is not too long for any service, even if the service says so."""
TEXT_HEAD_BYTES: Final = 2000
FIRST_PIECE_BYTES: Final = 1024
MAX_ERROR_TEXT_BYTES: Final = 20_000
MAX_KEPT_BYTES: Final = 100_000

_CONTENT_TYPE: Final = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}(?: *; *charset=\"?[\w.-]{1,40}\"?)?", re.ASCII)
_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r\n\x00"
_NOT_BLANK: Final = re.compile(rb"[^ \t\r\n\x00]")
_HTML: Final = re.compile(rb"<(!doctype\s+html|html|head|body|title)\b", re.IGNORECASE)
_PAGE_TITLE: Final = re.compile(rb"<(?:title|h1)[^>]*>\s*([^<]{1,200})", re.IGNORECASE)
_EUTILITY_ROOT: Final = re.compile(r"e[A-Z]\w*Result|Result")
_NOT_DATA_ROOT: Final = re.compile(r"error|errors|fault|exception|response|(soap.*:)?envelope", re.IGNORECASE)
_TEXT_ERROR: Final = re.compile(
    rb"\s*(\+?Error\b[^\n]*|Resource temporarily unavailable[^\n]*|Unable to obtain query[^\n]*"
    rb"|Cannot (?:process|retrieve)[^\n]*|[^\n]{0,80}(?:NCBI C\+\+ Exception|CException|TXCLIENT)[^\n]*)"
)

# The parts that every valid document of an E-utility has. A WebEnv that contains an error text is invalid.
_MUST_HOLD: Final[Mapping[str, tuple[bytes, str]]] = {
    "eInfoResult": (rb"<(DbList|DbInfo)\b", "neither a list of databases nor one database"),
    "eSearchResult": (rb"<Count>\s*\d+\s*</Count>", "no count"),
    "eSummaryResult": (rb"<(DocSum|DocumentSummary)\b", "no summaries"),
    "eLinkResult": (rb"<LinkSet\b", "no link set"),
    "ePostResult": (
        rb"<QueryKey>\s*+\d++\s*+</QueryKey>(?:(?!<QueryKey>)[\s\S])*?<WebEnv>\s*+[\w@.:%+=-]{8,300}+\s*+</WebEnv>",
        "no usable query_key and web_env",
    ),
    "eSpellResult": (rb"<(Query|CorrectedQuery)\b", "no query"),
    "Result": (rb"<eGQueryResult\b", "no counts"),
}


@dataclass(frozen=True)
class Incoming:
    """A reply before it is checked: status, headers, decompressed body.

    ``moved_to`` is the new URL of the endpoint if the service says that it has moved permanently.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    moved_to: str | None = None

    @property
    def content_type(self) -> str:
        """Its media type and character set; empty if they are missing or invalid."""
        match = _CONTENT_TYPE.fullmatch(self.headers.get("Content-Type", "").strip())
        return match[0] if match else ""

    @property
    def refused(self) -> RefusedReply:
        """The reply for an error object; a body that is too long is left out."""
        return RefusedReply(self.status, self.content_type, self.body if len(self.body) <= MAX_KEPT_BYTES else b"")

    @cached_property
    def json(self) -> Any:
        """The JSON document; None if the body is not valid JSON."""
        with suppress(ValueError, RecursionError):
            return json.loads(self.body.removeprefix(_BOM).lstrip(_BLANK))


def redact(call: Call[Any], incoming: Incoming, redactor: Redactor) -> Incoming:
    """Return the reply without secrets. Data keep e-mail addresses, because authors have them, but no keys."""
    is_data = incoming.status == 200 and not POLICIES[call.service].echoes
    body = redactor.redact_data(incoming.body) if is_data else redactor.redact_body(incoming.body)
    return replace(incoming, body=body)


@dataclass(frozen=True, slots=True)
class Checked(Generic[T]):
    """A valid reply: its value, and whether it has every record that was requested by id.

    ``complete`` is determined only if the records can be counted cheaply.
    """

    value: T
    complete: bool


def check_reply(
    call: Call[T], incoming: Incoming, redactor: Redactor, sent_credentials: frozenset[str] = frozenset()
) -> Checked[T]:
    """Check and parse a reply. The error for an invalid reply contains it.

    Args:
        sent_credentials: names of the credentials in the request.

    Raises:
        Retryable: the reply is invalid, and a retry may help.
        EntrezKitError: the reply is invalid, and a retry does not help.
    """
    try:
        return _check(call, incoming, redactor, sent_credentials)
    except Retryable as exc:
        exc.error.reply = incoming.refused
        raise
    except EntrezKitError as exc:
        exc.reply = incoming.refused
        raise


def _check(call: Call[T], incoming: Incoming, redactor: Redactor, sent_credentials: frozenset[str]) -> Checked[T]:
    if incoming.status in POLICIES[call.service].missing:
        raise refusals.no_such_record_error(call, incoming.status)
    wait = parse_retry_after(incoming.headers.get("Retry-After"))
    error_text = redactor.quote_text(" / ".join(_find_error_texts(call, incoming)))
    if error_text and (raised := refusals.refusal_error(error_text, incoming.status, call, wait, sent_credentials)):
        raise raised
    if error_text or incoming.status != 200:
        raise _status_error(
            call, incoming.status, error_text or redactor.quote_text(_find_page_title(incoming.body)), wait
        )
    if call.expect.may_be_empty and not incoming.body.strip(_BLANK):
        # A failing service also sends empty bodies, so one retry must confirm it. A status needs no confirmation.
        raise Retryable(refusals.no_such_record_error(call, incoming.status), at_most=1)
    problem = _find_problem(call, incoming)
    if problem:
        error = refusals.invalid_response_error(call, redactor.quote_text(problem.text), incoming.status, problem.code)
        # For unknown ids NCBI may send an empty text, and then every retry is empty too.
        silent = call.expect.format == "text" and not incoming.body.strip(_BLANK)
        raise Retryable(error, wait=wait, at_most=SILENT_ATTEMPTS if silent else None)
    try:
        value = read(call, incoming.body)
    except UpstreamError as exc:
        at_most = INCOMPLETE_ATTEMPTS if exc.reason == "incomplete" else None
        raise Retryable(exc, wait=wait, at_most=at_most) from None
    expect = call.expect
    if expect.wanted is None or expect.record is None:
        return Checked(value, True)
    return Checked(value, len(re.findall(expect.record.encode(), incoming.body)) >= expect.wanted)


def read(call: Call[T], body: bytes) -> T:
    """Return the value that the reader of a call parses from its reply.

    Only a reply that its reader accepts is cached, or returned from the cache.

    Raises:
        UpstreamError: the reader rejects the reply.
    """
    try:
        return call.expect.read(body)
    except UpstreamError as exc:
        raise exc.copy_with(service=call.service, endpoint=call.endpoint) from None


def _status_error(call: Call, status: int, detail: str, wait: float | None) -> EntrezKitError | Retryable:
    """Return the error for a status other than 200 without an error text that explains it."""
    title = call.title
    answered = f"status {status}" + (f" ({detail})" if detail else "")
    if status == 429:
        return Retryable(refusals.rate_limited_error(call, status, detail), wait=wait)
    if status in (413, 414) and len(call.query) > PLAINLY_SHORT:
        return InvalidInput(
            f"The {call.endpoint} request is too long for {title} (status {status}).",
            recovery_hint="Request fewer ids, or use a shorter query.",
            details=call.describe("request_too_long", status=status),
        )
    if status in (408, 425) or (status >= 500 and status != 501):
        return Retryable(refusals.backend_error(call, answered, status), wait=wait)
    if status in (400, 413, 414, 422) or 200 <= status < 300:
        # A 400 without an error text comes from NCBI's front end and is temporary.
        return Retryable(refusals.invalid_response_error(call, answered, status), wait=wait)
    if status in (401, 403, 407, 451):
        return UpstreamError(
            f"{title} or a proxy refuses requests from this machine: {answered}.",
            recovery_hint=FrontendText(
                *(PerFrontend("Run `entrez-kit doctor`. ", ""), "NCBI blocks addresses that send too many requests; "),
                "its contact is info@ncbi.nlm.nih.gov.",
            ),
            details=call.describe("refused", status=status),
        )
    if status == 410:
        return UpstreamError(
            f"{title} has retired {call.endpoint}: {answered}.",
            recovery_hint="A newer version of entrez-kit may support its replacement.",
            details=call.describe("retired", status=status),
        )
    return UpstreamError(
        f"{title} did not process the {call.endpoint} request: {answered}.",
        recovery_hint=BASE_ADDRESS,
        details=call.describe("no_such_address" if status == 404 else "unexpected_status", status=status),
    )


# Error texts in a reply ---------------------------------------------------------------------------------------------


def _find_error_texts(call: Call, incoming: Incoming) -> list[str]:
    """Return the error texts in a reply; empty if it looks valid."""
    body = incoming.body.removeprefix(_BOM).lstrip(_BLANK)
    if body[:1] in (b"{", b"["):
        return list(_find_json_errors(call, incoming))
    if body[:1] == b"<":
        return [] if _HTML.match(body) else _find_xml_errors(body, incoming.status)
    if incoming.status >= 400 and 0 < len(body) <= TEXT_HEAD_BYTES:
        return [body.decode("utf-8", "replace")]
    match = _TEXT_ERROR.match(body[:TEXT_HEAD_BYTES]) if call.expect.format in ("text", "xml", "json") else None
    return [match[1].decode("utf-8", "replace")] if match else []


def _find_json_errors(call: Call, incoming: Incoming) -> Iterator[str]:
    if call.expect.format == "text" and len(incoming.body) > MAX_ERROR_TEXT_BYTES:
        return  # data that happens to be JSON
    document = incoming.json
    if not isinstance(document, dict):
        return
    for holder in (document, *(value for value in document.values() if isinstance(value, dict))):
        yield from _collect_texts(holder.get("ERROR"))
    yield from _collect_texts(document.get("error"))
    if call.service == "europepmc":
        yield from refusals.find_europepmc_errors(document)
    yield from _collect_texts(document.get("esummaryresult"))
    linksets = document.get("linksets")
    for linkset in linksets if isinstance(linksets, list) else ():
        if isinstance(linkset, dict):
            yield from _collect_texts(linkset.get("ERROR"))
    if document.get("status") == "error" or incoming.status >= 400:
        yield from _collect_texts(document.get("message"))
        yield from _collect_texts(document.get("detail"))


def _collect_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value.strip():
        yield value.strip()
    elif isinstance(value, list):
        for item in value:
            yield from _collect_texts(item)
    elif isinstance(value, dict):
        yield from _collect_texts(value.get("message") or value.get("msg"))


def _find_xml_errors(body: bytes, status: int) -> list[str]:
    """Return the texts of ERROR elements that are errors and not data.

    In the result documents of the E-utilities an ERROR can be at any depth; in other documents only right below the
    root, because deeper elements are records. Lower-case ``error`` elements are data: PMC and ESummary use them for
    single ids.
    """
    if status >= 400 and len(body) <= MAX_ERROR_TEXT_BYTES and b"<ERROR" not in body:
        return _read_error_document(body)
    if b"<ERROR" not in body:
        return []
    texts: list[str] = []
    path: list[str] = []

    def start(name: str, _: object) -> None:
        path.append(name)
        if is_error():
            texts.append("")

    def end(_: str) -> None:
        path.pop()

    def data(text: str) -> None:
        if path and is_error():
            texts[-1] += text

    def is_error() -> bool:
        return path[-1] == "ERROR" and (len(path) <= 2 or bool(_EUTILITY_ROOT.fullmatch(path[0])))

    parser = _create_parser()
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, data
    with suppress(
        expat.ExpatError, _ForbiddenXml, ValueError, LookupError
    ):  # a truncated document may still have an error text
        parser.Parse(body, True)
    error_texts = [text.strip() for text in texts if text.strip()]
    summarized = find_root_name(body) == "eSummaryResult" and re.search(
        rb"<(DocSum|DocumentSummary)\b[^<>]*>\s*<", body
    )
    if summarized and all(refusals.is_about_ids(text) for text in error_texts):
        return []  # some ids of the batch are unknown, the reply has the others
    return error_texts


def _read_error_document(body: bytes) -> list[str]:
    """Return the text of a small error document such as ``<error>...</error>`` that came with an error status."""
    name = find_root_name(body)
    if name is None or not _NOT_DATA_ROOT.fullmatch(name):
        return []
    text = re.sub(rb"<[^<>]*+>", b" ", body).decode("utf-8", "replace").strip()
    return [text] if text else []


def _find_page_title(body: bytes) -> str:
    """Return the title of an HTML page; empty for other XML, because titles in it belong to records."""
    head = body[:5000]
    if head.lstrip(_BLANK).startswith(b"<?xml") and find_root_name(head, html=True) != "html":
        return ""
    match = _PAGE_TITLE.search(head)
    return match[1].decode("utf-8", "replace").strip() if match else ""


# The structure of a reply -------------------------------------------------------------------------------------------


class ReplyProblem(NamedTuple):
    """Why a reply is invalid: the words, and a code if the cause is known (``truncated``, ``other_root``)."""

    text: str
    code: str | None = None


TRUNCATED_XML: Final = ReplyProblem("truncated XML", "truncated")


def _find_problem(call: Call, incoming: Incoming) -> ReplyProblem | None:
    """Describe why a body with status 200 and without an error text is invalid; None if it is valid."""
    expect, body = call.expect, incoming.body
    text = body.removeprefix(_BOM).lstrip(_BLANK)
    if not text:
        return ReplyProblem("an empty body", "truncated")
    if _HTML.match(text) or find_root_name(text[:5000], html=True) == "html":
        title = _find_page_title(text)
        if expect.format != "any" or re.search(r"error|unavailable|denied|blocked|captcha", title, re.IGNORECASE):
            return ReplyProblem("an HTML page" + (f" ({title})" if title else ""))
        return None
    if expect.format == "xml":
        if text.startswith(b"<?xml") and not body.removeprefix(_BOM).startswith(b"<?xml"):
            return ReplyProblem("XML with text before its declaration")
        return _find_xml_problem(text, expect.roots)
    if expect.format == "json":
        return _find_json_problem(text, incoming.json, expect.roots)
    if expect.format == "text":
        if text.startswith(b"<?xml"):
            return _find_xml_problem(text, frozenset())
        if b"\x00" in body:
            return ReplyProblem("binary data instead of text")
        if _ENDS_PAGE.search(_read_tail(body)):
            return ReplyProblem("text followed by an HTML page")
    return None


_ENDS_PAGE: Final = re.compile(rb"</html>\s*\Z", re.IGNORECASE)


def _find_xml_problem(body: bytes, roots: frozenset[str]) -> ReplyProblem | None:
    if body[:1] != b"<":
        return ReplyProblem("not XML")
    name = find_root_name(body)
    if name is None:
        return ReplyProblem("XML without elements")
    if roots and name not in roots:
        return ReplyProblem(f"<{name}> instead of <{'> or <'.join(sorted(roots))}>", "other_root")
    if not roots and (_NOT_DATA_ROOT.fullmatch(name) or name in _MUST_HOLD or name == "eFetchResult"):
        return ReplyProblem(f"<{name}> instead of records")
    must_hold = _MUST_HOLD.get(name)
    if must_hold and not re.search(must_hold[0], body):
        return ReplyProblem(f"<{name}> with {must_hold[1]}")
    return _find_end_problem(body, name, several=not roots)


def _find_end_problem(body: bytes, root: str, *, several: bool) -> ReplyProblem | None:
    """Describe why a document is truncated or not well-formed; None if it is complete.

    Args:
        several: whether the body may have several documents in a row, as EFetch sends them for some databases.
    """
    if several:
        return _find_series_problem(body)
    last = _ENDS_ELEMENT.search(_read_tail(body))
    if last is None or root.encode() not in last.groups():
        return TRUNCATED_XML
    if len(body) > FULL_PARSE_BYTES:
        return None
    problem, _ = _parse(body, 0, is_article=root in _ARTICLES)
    return problem


def _find_series_problem(body: bytes) -> ReplyProblem | None:
    """Describe why a series of documents is invalid: all must have the same root, and none may be repeated."""
    seen: set[bytes] = set()
    kind = find_root_name(body)
    start = 0
    while start < len(body):
        root = find_root_name(body, start)
        if root is None or root != kind:
            return ReplyProblem(f"<{root}> after the records" if root else "data after the records that is not XML")
        problem, end = _parse(body, start, is_article=root in _ARTICLES, several=True)
        if problem:
            return problem
        document = body[start:end].strip(_BLANK)
        if document in seen:
            return ReplyProblem("a repeated document")
        seen.add(document)
        match = _NOT_BLANK.search(body, end)
        start = match.start() if match else len(body)
    return None


def _parse(body: bytes, start: int, *, is_article: bool, several: bool = False) -> tuple[ReplyProblem | None, int]:
    """Return the problem of the document that starts at ``start``, and the position of its end."""
    parser = _create_parser(may_name_characters=is_article)
    try:
        # In a series each document is parsed only to its own end; parsing in pieces keeps the total time linear.
        size = FIRST_PIECE_BYTES if several else len(body)
        at = start
        while at + size < len(body):
            parser.Parse(body[at : at + size], False)
            at, size = at + size, 2 * size
        parser.Parse(body[at:], True)
    except _ForbiddenXml as exc:
        return ReplyProblem(str(exc)), 0
    except (ValueError, LookupError):  # an encoding that Python does not support
        return ReplyProblem("XML in an unknown encoding"), 0
    except expat.ExpatError as exc:
        reason = expat.ErrorString(exc.code)
        # A second document begins with a declaration or with its root.
        if several and reason in (_JUNK, _MISPLACED) and (length := parser.ErrorByteIndex) > 0:
            problem, _ = _parse(body[start : start + length], 0, is_article=is_article)
            return problem, start + length
        if is_article and reason == expat.errors.XML_ERROR_UNDEFINED_ENTITY:
            return None, len(body)
        breaks_off = reason in (expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN)
        return TRUNCATED_XML if breaks_off else ReplyProblem(f"broken XML ({reason}, line {exc.lineno})"), 0
    finally:
        parser.EntityDeclHandler = None  # it references the parser, so its buffers would wait for the garbage collector
    return None, len(body)


_JUNK: Final = expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT
_MISPLACED: Final = expat.errors.XML_ERROR_MISPLACED_XML_PI


_COMMENTS: Final = rb"\s*+(?>(?:<!--(?>(?:(?!-->).)*)-->\s*+)*)"
_ENDS_ELEMENT: Final = re.compile(rb"<(?:/([^<>/\s]++)\s*+|([^<>/\s]++)[^<>]*/)>" + _COMMENTS + rb"\Z", re.S)


def _read_tail(body: bytes) -> bytes:
    return body[-TAIL_BYTES:].rstrip(_BLANK)


_ARTICLES: Final = frozenset(("article", "pmc-articleset"))
"""Publishers' XML: its reader resolves the character entities, declared in the document or in a DTD."""


class _ForbiddenXml(Exception):
    """The document declares entities, which no supported service does."""


def _create_parser(*, may_name_characters: bool = False) -> Any:
    """Return an expat parser that reads no external DTD, no entity and nothing from the network.

    Args:
        may_name_characters: whether a document may declare entities. They are not expanded in any case.
    """
    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.buffer_text = True

    def refuse(name: str, is_parameter: bool, value: str | None, *_: object) -> None:
        if not may_name_characters or is_parameter or value is None:
            raise _ForbiddenXml("XML that declares entities")
        parser.DefaultHandler = lambda _: None  # with a default handler expat expands no entities

    parser.EntityDeclHandler = refuse
    return parser


_BEFORE_ROOT: Final = re.compile(rb"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.S)
_ROOT: Final = re.compile(rb"<([A-Za-z_][\w.:-]*)")


def find_root_name(body: bytes, at: int = 0, *, html: bool = False) -> str | None:
    """Return the name of the first element of an XML document; None if it has no element.

    Args:
        at: the position where the document begins.
        html: return the name in lower case, because HTML ignores case.
    """
    at += len(_BOM) if body.startswith(_BOM, at) else 0
    while match := _BEFORE_ROOT.match(body, at):
        at = match.end()
    root = _ROOT.match(body, at)
    name = root[1].decode("ascii", "replace") if root else None
    return name.lower() if name and html else name


def _find_json_problem(body: bytes, document: Any, keys: frozenset[str]) -> ReplyProblem | None:
    if document is None:
        return (
            ReplyProblem("truncated or invalid JSON", "truncated")
            if body[:1] in (b"{", b"[")
            else ReplyProblem("not JSON")
        )
    if not isinstance(document, dict):
        return ReplyProblem("JSON that is not an object")
    if keys and not keys & document.keys():
        return ReplyProblem(f"JSON without {' or '.join(sorted(keys))}")
    result = document.get("esearchresult")
    if isinstance(result, dict) and not str(result.get("count", "")).isdigit():
        return ReplyProblem("an esearchresult without count")
    return None
