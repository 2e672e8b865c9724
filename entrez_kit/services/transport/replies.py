"""Is this body an answer? Checked before anything is cached or handed on.

A service may answer with status 200 and still not have answered: with an HTML page, half a document, an error inside a
document, or nothing. What is not an answer is raised as the error it is, or as `Retryable` where asking again helps.

How the end of a document is checked: up to 1 MB of XML is run through expat without handlers, which costs 5 to 17 ms a
megabyte and finds every cut. Larger documents were already held against their Content-Length or chunk sizes by the
HTTP library; of these the closing tag of the root is looked for at the very end, which a cut document does not have.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Generic
from xml.parsers import expat

from entrez_kit.base.errors import EntrezKitError, InvalidInput, RefusedReply, UpstreamError
from entrez_kit.base.frontend_text import BASE_ADDRESS, FrontendText, PerFrontend
from entrez_kit.base.redaction import Redactor
from entrez_kit.services.transport import Call, T, refusals
from entrez_kit.services.transport.policy import POLICIES
from entrez_kit.services.transport.retry import Retryable, parse_retry_after

FULL_PARSE_BYTES: Final = 1_000_000
TAIL_BYTES: Final = 1024
SILENT_ATTEMPTS: Final = 2
INCOMPLETE_ATTEMPTS: Final = 2
"""What a service leaves out of a whole document, it may leave out every time."""

PLAINLY_SHORT: Final = 2000
"""Characters up to which no service can mean it when it finds a request too long."""
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

# What every valid document of an E-utility holds, whatever was asked. A WebEnv made of an error text is none.
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
    """A reply as it arrived: status, headers, decompressed body.

    ``moved_to`` is where the service says that the endpoint is from now on, where it was asked at another place.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    moved_to: str | None = None

    @property
    def content_type(self) -> str:
        """Its media type and character set; empty if it names none that can be used."""
        found = _CONTENT_TYPE.fullmatch(self.headers.get("Content-Type", "").strip())
        return found[0] if found else ""

    @property
    def refused(self) -> RefusedReply:
        """The reply as errors hold it: without a body that is too long to be kept."""
        return RefusedReply(self.status, self.content_type, self.body if len(self.body) <= MAX_KEPT_BYTES else b"")

    @cached_property
    def json(self) -> Any:
        """What its JSON holds; None where it is none, or breaks off."""
        with suppress(ValueError, RecursionError):
            return json.loads(self.body.removeprefix(_BOM).lstrip(_BLANK))


@dataclass(frozen=True, slots=True)
class Checked(Generic[T]):
    """A reply that is an answer: what its reader made of it, and whether it has every record asked for by id.

    That is told as far as it can be counted cheaply.
    """

    value: T
    complete: bool


def check(call: Call[T], incoming: Incoming, redactor: Redactor, told: frozenset[str] = frozenset()) -> Checked[T]:
    """Read a reply, if it is an answer.

    Args:
        told: names of the credentials that went along.

    Raises:
        Retryable: no answer, and asking again may help.
        EntrezKitError: no answer, and asking again does not help.
    """
    if incoming.status in POLICIES[call.service].missing:
        raise refusals.no_such_record(call, incoming.status)
    wait = parse_retry_after(incoming.headers.get("Retry-After"))
    words = redactor.quoted(" / ".join(_words_of_refusal(call, incoming)))
    if words and (raised := refusals.refusal(words, incoming.status, call, wait, told)):
        raise raised
    if words or incoming.status != 200:
        raise _status_error(call, incoming.status, words or redactor.quoted(_page_title(incoming.body)), wait)
    if call.expect.may_be_empty and not incoming.body.strip(_BLANK):
        # A service in trouble is empty as well: asked once more before it is believed. A status says it for good.
        raise Retryable(refusals.no_such_record(call, incoming.status), at_most=1)
    problem = _problem(call, incoming)
    if problem:
        error = refusals.invalid_response(call, redactor.quoted(problem), incoming.status)
        # As text NCBI may have nothing to say about ids that do not exist; then it says nothing every time.
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
    """Return what the reader of a call makes of its reply.

    Nothing enters the cache, and nothing from it is handed on, that its own reader does not take.

    Raises:
        UpstreamError: it cannot be read.
    """
    try:
        return call.expect.read(body)
    except UpstreamError as exc:
        raise exc.copy_with(service=call.service, endpoint=call.endpoint) from None


def _status_error(call: Call, status: int, said: str, wait: float | None) -> EntrezKitError | Retryable:
    """Return the error for a status other than 200 whose reply does not explain itself."""
    title = call.title
    answered = f"status {status}" + (f" ({said})" if said else "")
    if status == 429:
        return Retryable(refusals.rate_limited(call, status, said), wait=wait)
    if status in (413, 414) and len(call.query) > PLAINLY_SHORT:
        return InvalidInput(
            f"{title} finds the {call.endpoint} request too long (status {status}).",
            recovery_hint="Ask for fewer ids, or use a shorter query.",
            details=call.about("request_too_long", status=status),
        )
    if status in (408, 425) or (status >= 500 and status != 501):
        return Retryable(refusals.backend_failed(call, answered, status), wait=wait)
    if status in (400, 413, 414, 422) or 200 <= status < 300:
        # A 400 that does not say what is wrong comes from NCBI's front end, and passes.
        return Retryable(refusals.invalid_response(call, answered, status), wait=wait)
    if status in (401, 403, 407, 451):
        return UpstreamError(
            f"{title} or a proxy refuses requests from here: {answered}.",
            recovery_hint=FrontendText(
                *(PerFrontend("Run `entrez-kit doctor`. ", ""), "NCBI blocks addresses that send too much; "),
                "it can be asked at info@ncbi.nlm.nih.gov.",
            ),
            details=call.about("refused", status=status),
        )
    if status == 410:
        return UpstreamError(
            f"{title} has retired {call.endpoint}: {answered}.",
            recovery_hint="A newer version of entrez-kit may know what took its place.",
            details=call.about("retired", status=status),
        )
    return UpstreamError(
        f"{title} did not answer {call.endpoint}: {answered}.",
        recovery_hint=BASE_ADDRESS,
        details=call.about("no_such_address" if status == 404 else "unexpected_status", status=status),
    )


# What the service says when it refuses ------------------------------------------------------------------------------


def _words_of_refusal(call: Call, incoming: Incoming) -> list[str]:
    """Return the error texts inside a reply: none when it looks like an answer."""
    body = incoming.body.removeprefix(_BOM).lstrip(_BLANK)
    if body[:1] in (b"{", b"["):
        return list(_json_errors(call, incoming))
    if body[:1] == b"<":
        return [] if _HTML.match(body) else _xml_errors(body, incoming.status)
    if incoming.status >= 400 and 0 < len(body) <= TEXT_HEAD_BYTES:
        return [body.decode("utf-8", "replace")]
    found = _TEXT_ERROR.match(body[:TEXT_HEAD_BYTES]) if call.expect.format in ("text", "xml", "json") else None
    return [found[1].decode("utf-8", "replace")] if found else []


def _json_errors(call: Call, incoming: Incoming) -> Iterator[str]:
    if call.expect.format == "text" and len(incoming.body) > MAX_ERROR_TEXT_BYTES:
        return  # data that happens to be JSON
    document = incoming.json
    if not isinstance(document, dict):
        return
    for holder in (document, *(value for value in document.values() if isinstance(value, dict))):
        yield from _texts(holder.get("ERROR"))
    yield from _texts(document.get("error"))
    if call.service == "europepmc":
        yield from refusals.europepmc_words(document)
    yield from _texts(document.get("esummaryresult"))
    linksets = document.get("linksets")
    for linkset in linksets if isinstance(linksets, list) else ():
        if isinstance(linkset, dict):
            yield from _texts(linkset.get("ERROR"))
    if document.get("status") == "error" or incoming.status >= 400:
        yield from _texts(document.get("message"))
        yield from _texts(document.get("detail"))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value.strip():
        yield value.strip()
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        yield from _texts(value.get("message") or value.get("msg"))


def _xml_errors(body: bytes, status: int) -> list[str]:
    """Return the texts of ERROR elements that are errors and not data.

    In the result documents of the E-utilities an ERROR may stand anywhere; elsewhere only right below the root, since
    what lies deeper is a record. Lower-case ``error`` elements are data: PMC and ESummary use them for single ids.
    """
    if status >= 400 and len(body) <= MAX_ERROR_TEXT_BYTES and b"<ERROR" not in body:
        return _lower_case_error(body)
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

    parser = _parser()
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, data
    with suppress(expat.ExpatError, _ForbiddenXml, ValueError, LookupError):  # a cut document may still say why
        parser.Parse(body, True)
    found = [text.strip() for text in texts if text.strip()]
    summarised = root_name(body) == "eSummaryResult" and re.search(rb"<(DocSum|DocumentSummary)\b[^>]*>\s*<", body)
    if summarised and all(refusals.is_about_ids(text) for text in found):
        return []  # some ids of the batch are unknown, the others are here
    return found


def _lower_case_error(body: bytes) -> list[str]:
    """Return the text of a small error document such as ``<error>...</error>`` that came with an error status."""
    name = root_name(body)
    if name is None or not _NOT_DATA_ROOT.fullmatch(name):
        return []
    text = re.sub(rb"<[^<>]*+>", b" ", body).decode("utf-8", "replace").strip()
    return [text] if text else []


def _page_title(body: bytes) -> str:
    found = _PAGE_TITLE.search(body[:5000])
    return found[1].decode("utf-8", "replace").strip() if found else ""


# Whether it has the shape of an answer ------------------------------------------------------------------------------


def _problem(call: Call, incoming: Incoming) -> str | None:
    """Say what is wrong with a body that came with status 200 and holds no error text; None when nothing is."""
    expect, body = call.expect, incoming.body
    text = body.removeprefix(_BOM).lstrip(_BLANK)
    if not text:
        return "an empty body"
    if _HTML.match(text) or root_name(text[:5000], html=True) == "html":
        title = _page_title(text)
        if expect.format != "any" or re.search(r"error|unavailable|denied|blocked|captcha", title, re.IGNORECASE):
            return "an HTML page" + (f" ({title})" if title else "")
        return None
    if expect.format == "xml":
        if text.startswith(b"<?xml") and not body.removeprefix(_BOM).startswith(b"<?xml"):
            return "XML that does not begin with its declaration"
        return _xml_problem(text, expect.roots)
    if expect.format == "json":
        return _json_problem(text, incoming.json, expect.roots)
    if expect.format == "text":
        if text.startswith(b"<?xml"):
            return _xml_problem(text, frozenset())
        if b"\x00" in body:
            return "binary data where text was due"
        if _ENDS_PAGE.search(_tail(body)):
            return "text with an HTML page behind it"
    return None


_ENDS_PAGE: Final = re.compile(rb"</html>\s*\Z", re.IGNORECASE)


def _xml_problem(body: bytes, roots: frozenset[str]) -> str | None:
    if body[:1] != b"<":
        return "no XML"
    name = root_name(body)
    if name is None:
        return "XML without any element"
    if roots and name not in roots:
        return f"<{name}> where <{'> or <'.join(sorted(roots))}> was due"
    if not roots and (_NOT_DATA_ROOT.fullmatch(name) or name in _MUST_HOLD or name == "eFetchResult"):
        return f"<{name}> where records were due"
    must_hold = _MUST_HOLD.get(name)
    if must_hold and not re.search(must_hold[0], body):
        return f"<{name}> with {must_hold[1]}"
    return _closing_problem(body, name, several=not roots)


def _closing_problem(body: bytes, root: str, *, several: bool) -> str | None:
    """Say where a document breaks off or is broken; None when it is whole.

    Args:
        several: whether documents may follow one another, as EFetch sends them for some databases.
    """
    if several:
        return _several_problem(body)
    last = _ENDS_ELEMENT.search(_tail(body))
    if last is None or root.encode() not in last.groups():
        return "XML that breaks off"
    if len(body) > FULL_PARSE_BYTES:
        return None
    problem, _ = _parse(body, 0, is_article=root in _ARTICLES)
    return problem


def _several_problem(body: bytes) -> str | None:
    """Say what is wrong with one or more documents in a row: they are of one kind, and none comes twice."""
    seen: set[bytes] = set()
    kind = root_name(body)
    start = 0
    while start < len(body):
        root = root_name(body, start)
        if root is None or root != kind:
            return f"<{root}> behind the records" if root else "something behind the records that is no XML"
        problem, end = _parse(body, start, is_article=root in _ARTICLES, several=True)
        if problem:
            return problem
        document = body[start:end].strip(_BLANK)
        if document in seen:
            return "a document that comes twice"
        seen.add(document)
        found = _NOT_BLANK.search(body, end)
        start = found.start() if found else len(body)
    return None


def _parse(body: bytes, start: int, *, is_article: bool, several: bool = False) -> tuple[str | None, int]:
    """Return what is wrong with the document that begins there, and where it ends."""
    parser = _parser(may_name_characters=is_article)
    try:
        # Of documents in a row each is parsed up to its own end, so pieces keep the time in proportion to the bytes.
        size = FIRST_PIECE_BYTES if several else len(body)
        at = start
        while at + size < len(body):
            parser.Parse(body[at : at + size], False)
            at, size = at + size, 2 * size
        parser.Parse(body[at:], True)
    except _ForbiddenXml as exc:
        return str(exc), 0
    except (ValueError, LookupError):  # an encoding that this Python does not know
        return "XML in an unknown encoding", 0
    except expat.ExpatError as exc:
        reason = expat.ErrorString(exc.code)
        # A second document begins with a declaration, or right with its root.
        if several and reason in (_JUNK, _MISPLACED) and (length := parser.ErrorByteIndex) > 0:
            problem, _ = _parse(body[start : start + length], 0, is_article=is_article)
            return problem, start + length
        if is_article and reason == expat.errors.XML_ERROR_UNDEFINED_ENTITY:
            return None, len(body)
        breaks_off = reason in (expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN)
        return "XML that breaks off" if breaks_off else f"broken XML ({reason}, line {exc.lineno})", 0
    finally:
        parser.EntityDeclHandler = None  # which holds the parser: it, and its buffers, would wait to be collected
    return None, len(body)


_JUNK: Final = expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT
_MISPLACED: Final = expat.errors.XML_ERROR_MISPLACED_XML_PI


_COMMENTS: Final = rb"\s*+(?>(?:<!--(?>(?:(?!-->).)*)-->\s*+)*)"
_ENDS_ELEMENT: Final = re.compile(rb"<(?:/([^<>/\s]++)\s*+|([^<>/\s]++)[^<>]*/)>" + _COMMENTS + rb"\Z", re.S)


def _tail(body: bytes) -> bytes:
    return body[-TAIL_BYTES:].rstrip(_BLANK)


_ARTICLES: Final = frozenset(("article", "pmc-articleset"))
"""Publishers' own XML: names for characters in it, declared or only known from a DTD, are for its reader to resolve."""


class _ForbiddenXml(Exception):
    """The document declares entities of its own, as no service of ours does."""


def _parser(*, may_name_characters: bool = False) -> Any:
    """Return an expat parser that reads nothing but what it is given: no DTD, no entity, no network.

    Args:
        may_name_characters: whether a document may give names to texts. They are not put in place even then.
    """
    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.buffer_text = True

    def refuse(name: str, is_parameter: bool, value: str | None, *_: object) -> None:
        if not may_name_characters or is_parameter or value is None:
            raise _ForbiddenXml("XML that declares entities of its own")
        parser.DefaultHandler = lambda _: None  # expat expands no entities while there is one

    parser.EntityDeclHandler = refuse
    return parser


_BEFORE_ROOT: Final = re.compile(rb"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.S)
_ROOT: Final = re.compile(rb"<([A-Za-z_][\w.:-]*)")


def root_name(body: bytes, at: int = 0, *, html: bool = False) -> str | None:
    """Return the name of the first element of an XML document; None when there is none.

    Args:
        at: where the document begins.
        html: return a name in lower case, as HTML has it.
    """
    at += len(_BOM) if body.startswith(_BOM, at) else 0
    while found := _BEFORE_ROOT.match(body, at):
        at = found.end()
    root = _ROOT.match(body, at)
    name = root[1].decode("ascii", "replace") if root else None
    return name.lower() if name and html else name


def _json_problem(body: bytes, document: Any, keys: frozenset[str]) -> str | None:
    if document is None:
        return "JSON that breaks off or is broken" if body[:1] in (b"{", b"[") else "no JSON"
    if not isinstance(document, dict):
        return "JSON that is no object"
    if keys and not keys & document.keys():
        return f"JSON without {' or '.join(sorted(keys))}"
    result = document.get("esearchresult")
    if isinstance(result, dict) and not str(result.get("count", "")).isdigit():
        return "an esearchresult without count"
    return None
