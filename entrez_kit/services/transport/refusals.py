"""Classify the error text of a service: the request, its ids, or the service itself is at fault.

An error text can come with any status, even 200, and a failing service sends misleading texts. So a text is attributed
to the request only if the request contains what the text names (`REFUSAL_RULES`, the first match wins). Any other text
is a failure of the service, and the request is retried. Errors about ids and the history are confirmed by retries.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from entrez_kit.base.errors import (
    EntityNotFound,
    EntrezKitError,
    InvalidInput,
    NotConfigured,
    RateLimited,
    UpstreamError,
)
from entrez_kit.base.frontend_text import AGAIN, Argument, FrontendText, Text, cut_end
from entrez_kit.base.redaction import HIDDEN
from entrez_kit.services.transport import Call
from entrez_kit.services.transport.retry import Retryable

IDS_CONFIRMATIONS: Final = 2
"""Retries that confirm an error about ids: failing services report it for valid ids too."""

HISTORY_CONFIRMATIONS: Final = 3
"""Retries that confirm an error about the history, which no other request can confirm."""

DATABASES: Final = frozenset(
    word
    for line in (
        "annotinfo assembly biocollections bioproject biosample blastdbinfo books cdd clinvar gap gapplus gds",
        "gene genome geoprofiles grasp gtr homologene ipg medgen mesh ncbisearch nlmcatalog nuccore",
        "nucleotide nucest nucgss omim orgtrack pcassay pccompound pcsubstance pmc popset probe protein",
        "proteinclusters protfam pubmed seqannot snp sparcle sra structure taxonomy toolkit unigene unists",
    )
    for word in line.split()
)
"""Current and former Entrez databases: if NCBI reports that one of them does not exist, NCBI itself fails."""


def _compile_any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


_RATE = _compile_any(r"rate limit exceeded", r"too many requests")
_KEY = _compile_any(
    r"api[ _-]?key\b.{0,40}\b(invalid|wrong|not valid|unknown|expired|disabled|revoked)", r"invalid api[ _-]?key"
)
_POSITION = _compile_any(
    r"out of acceptable range",
    r"\b(position|retstart)\b.{0,40}(larger|too large|exceed|out of)",
    r"cannot be larger than 9,?99[89]",
)
_HISTORY = _compile_any(
    r"unable to obtain query",
    r"cannot retrieve history data",
    r"\bweb[_ ]?env\b.{0,60}(not found|expired|invalid|doesn't exist|does not exist|missing|wrong|bad)",
    r"(invalid|wrong|bad|unknown|expired|missing|can'?t find|cannot find|no such) (history|web[_ ]?env|query[_ ]?key)",
    r"\bquery[_ ]?key\b.{0,40}(not found|expired|invalid|missing|out of range)",
    r"history.{0,30}(expired|not found)",
)
_BLANK = _compile_any(r"empty term and query_key", r"(term|query) is empty", r"empty (term|query)\b")
_DATABASE = _compile_any(
    r"invalid db name",
    r"unsupported db\b",
    r"database is not supported",
    r"(invalid|unknown) database",
    r"can ?not retrieve dbinfo",
)
_TOO_MANY = _compile_any(r"too many (uids|ids)", r"maximum number of (uids|ids)")
_NO_IDS = _compile_any(
    r"empty id list",
    r"empty result",
    r"id list is empty",
    r"id parameter is empty",
    r"cannot get document summary",
    r"uid=\S+?:? not found",
    r"invalid uid\b",
    r"failed to understand id\b",
    r"following (ids?|pmids?|uids?) (is|are) not available",
)
_ACCUSING = _compile_any(
    r"\b(invalid|unsupported|unknown|missing|required|wrong|illegal|malformed|incorrect|unrecogni[sz]ed|mixed|bad)\b",
    r"\b(must|cannot be|can't be|may not be)\b",
    r"\bnot (valid|allowed|supported|recogni[sz]ed|a valid)\b",
    r"\bno such\b",
    r"\bsyntax\b",
    r"\b(pars(e|er|ing)\b.{0,20}\berror|cannot parse|unable to parse|could not parse)",
    r"\b(please use|use your own)\b",
)
_TRANSIENT: Final = _compile_any(
    r"ncbi c\+\+ exception",
    r"\bcexception\b",
    r"ctxrawclient",
    r"txclient",
    r"exlinksrv",
    r"search backend failed",
    r"external viewer error",
    r"empty response",
    r"status: timeout",
    r"\btim(ed|e)[ -]?out\b",
    r"temporarily",
    r"unavailable",
    r"try again",
    r"can't run executor",
    r"couldn't resolve",
    r"connection (reset|refused|closed|failed)",
    r"cannot connect|failed to connect|unable to connect",
    r"internal (server )?error",
    r"server error",
    r"read request has been cancell?ed",
    r"failed to (retrieve|read|open|load)",
    r"proxy_stream",
    r"\bbackend\b",
    r"overload",
    r"service error",
    r"\bmemory\b",
)

_REQUIRED = _compile_any(
    r"\b(?:missing|required|mandatory)(?: required)?(?: query)? (?:parameter|argument|field)s?\b\W{1,3}(?P<a>\w+)",
    r"\b(?:parameter|argument|field)\W{1,2}(?P<b>\w+)\W{1,2}is (?:required|missing|mandatory)",
    r"\b(?P<c>\w+)\W{1,2}is (?:a |now )?(?:required|mandatory)\b",
)

HISTORY_HINT: Final = FrontendText(
    "NCBI keeps a result set for some hours. Search again and use the new ",
    *(Argument("web_env"), " and ", Argument("query_key"), "."),
)
PAGING_HINT: Final = "PubMed returns only the first 9,999 records of a search. Narrow the query, for example by date."
EUROPEPMC_HINT: Final = "Correct the named argument. The search syntax is at https://europepmc.org/searchsyntax."
_DATABASES_HINT: Final = "EInfo without a database lists all of them."
_SHOWN_PAST: Final = 9_998
"""The last offset of a search that PubMed returns."""


def refusal_error(
    error_text: str, status: int, call: Call, wait: float | None = None, sent_credentials: frozenset[str] = frozenset()
) -> EntrezKitError | Retryable | None:
    """Return the error for an error text of a service; None if the status is more informative than the text.

    Args:
        error_text: the error text, redacted.
        status: the HTTP status of the reply.
        wait: the seconds that the service asked to wait.
        sent_credentials: names of the credentials in the request.
    """
    if status == 429 or _RATE.search(error_text):
        return Retryable(rate_limited_error(call, status, error_text), wait=wait)
    if status not in (200, 400, 403, 422) and status < 500:
        return None
    for rule in REFUSAL_RULES:
        if rule.service in (None, call.service) and rule.words.search(error_text):
            error = rule.build_error(error_text, call, sent_credentials)
            if error is not None:
                error.details |= call.describe(error.details["reason"], status=status)
                if rule.confirmations:
                    return Retryable(error, wait=wait, at_most=rule.confirmations)
                return error
    if status == 403:
        return None
    failed = backend_error(call, error_text, status)
    if error_text == VERSION_ONLY:
        failed.details["nothing_said"] = True
    return Retryable(failed, wait=wait)


# Rules --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RefusalRule:
    """A kind of error text that attributes the failure to the request.

    Args:
        words: the pattern of the text.
        build_error: returns the error if the request contains what the text names, else None.
        service: the service that sends it; None for any.
        confirmations: number of retries that must confirm it.
    """

    words: re.Pattern[str]
    build_error: Callable[[str, Call, frozenset[str]], EntrezKitError | None]
    service: str | None = None
    confirmations: int = 0


def _check_key(error_text: str, call: Call, sent_credentials: frozenset[str]) -> EntrezKitError | None:
    if "api_key" not in sent_credentials:
        return None
    return NotConfigured(
        "NCBI does not accept the API key in NCBI_API_KEY.",
        recovery_hint="Correct NCBI_API_KEY, or unset it: no key is required.",
        details={"reason": "bad_api_key", "setting": "ncbi_api_key"},
    )


def _check_position(error_text: str, call: Call, sent_credentials: frozenset[str]) -> EntrezKitError | None:
    start = _to_number(call.get_param("retstart"))
    if start + _to_number(call.get_param("retmax")) <= _SHOWN_PAST:
        return None
    match = re.search(r"position (\d+)", error_text, re.IGNORECASE)
    if match and not start <= int(match[1]) <= start + _to_number(call.get_param("retmax")):
        return None
    message = f"The offset is larger than NCBI allows: {error_text}"
    return _invalid_error(message, call, "retstart", "retstart_out_of_range", PAGING_HINT)


def _check_history(error_text: str, call: Call, sent_credentials: frozenset[str]) -> EntrezKitError | None:
    parameter = next((name for name in ("query_key", "WebEnv") if call.get_param(name)), None)
    if parameter is None:
        return None
    return _invalid_error(
        f"NCBI does not have this result set: {error_text}", call, parameter, "history_unknown", HISTORY_HINT
    )


def _check_blank(error_text: str, call: Call, sent_credentials: frozenset[str]) -> EntrezKitError | None:
    query = re.sub(r"\[[^\[\]]*+\]|\b(AND|OR|NOT)\b", " ", call.get_param("term") or "")
    if call.endpoint not in ("esearch", "espell", "egquery") or any(map(str.isalnum, query)):
        return None
    return _invalid_error("The query is empty.", call, "term", "blank_query", "Give at least one search term.")


def _check_database(error_text: str, call: Call, sent_credentials: frozenset[str]) -> EntrezKitError | None:
    name = call.get_param("db") or call.get_param("dbfrom")
    if name is None or name in DATABASES:
        return None
    return _invalid_error(f"Entrez has no database {name!r}.", call, "db", "unknown_database", _DATABASES_HINT)


def _check_too_many(error_text: str, call: Call, sent_credentials: frozenset[str]) -> EntrezKitError | None:
    stated = re.search(r"maximum number of (?:uids|ids) is (\d+)", error_text, re.IGNORECASE)
    sent = call.endpoint != "esearch"  # ESearch requests have no ids, and may return any number
    requested_count = len(list_ids(call)) or (_to_number(call.get_param("retmax")) if sent else 0)
    if requested_count <= (int(stated[1]) if stated else _PLAINLY_FEW):
        return None
    return _invalid_error(
        f"Too many ids in one request: {error_text}", call, "id", "too_many_ids", "Request fewer ids at a time."
    )


_PLAINLY_FEW: Final = 200


def _check_ids(error_text: str, call: Call, sent_credentials: frozenset[str]) -> EntrezKitError | None:
    ids = list_ids(call)
    match = re.search(r"(?:\buid[= ]|\bunderstand id:?)\s*(?!at\b)([^\s:;,<]+)", error_text, re.IGNORECASE)
    if not ids or (match and match[1] not in ids):
        return None
    where = f" in {call.get_param('db')}" if call.get_param("db") else ""
    return EntityNotFound(
        f"{call.title} has none of the requested ids{where}: {error_text}", details={"reason": "not_found"}
    )


def _check_argument(error_text: str, call: Call, sent_credentials: frozenset[str]) -> EntrezKitError | None:
    if _TRANSIENT.search(error_text) or _DATABASE.search(error_text):
        return None
    names = list(_find_arguments(error_text, call, sent_credentials))
    if not names:
        return None
    arguments = FrontendText.join_parts(" and ", map(Argument, names))
    value = cut_end(call.get_param(names[0]) or "", 100)
    return InvalidInput(
        FrontendText(f"{call.title} refused ", arguments, f" of {call.endpoint}: {error_text}"),
        invalid_input=f"{names[0]}={value}" if value else names[0],
        recovery_hint=FrontendText("Correct ", arguments, "."),
        details={"reason": "refused"},
    )


def _check_new_parameter(error_text: str, call: Call, sent_credentials: frozenset[str]) -> EntrezKitError | None:
    """Return the error if the service requires a parameter that was not sent: its interface has changed."""
    match = _REQUIRED.search(error_text)
    name = next(filter(None, match.groups()), "") if match else ""
    sent = {known.lower() for known, _ in call.params} | sent_credentials
    if not re.fullmatch(r"[A-Za-z]\w{1,39}", name) or name.lower() in sent or name.lower() in _NO_PARAMETERS:
        return None
    setting = {"api_key": "NCBI_API_KEY", "email": "NCBI_ADMIN_EMAIL"}.get(name.lower())
    return UpstreamError(
        f"{call.title} now requires a parameter of {call.endpoint} that was not sent, {name}: {error_text}",
        recovery_hint=f"Set {setting}." if setting else "A newer version of entrez-kit may send it.",
        details={"reason": "new_parameter", "parameter": name},
    )


_NO_PARAMETERS: Final = frozenset(
    {"it", "this", "that", "which", "and", "or", "is", "are", "parameter", "value", "term"}
)

_ALSO_KNOWN_AS: Final[Mapping[str, str]] = {
    "mindate": "date",
    "maxdate": "date",
    "reldate": "date",
    "rettype": "format",
    "ids": r"ids?|identifiers?",
    "doi": "dois?",
    "email": r"e-?mail",
}
"""Other names of an argument in error texts."""

_NEVER_WRONG: Final = frozenset({"id", "db", "dbfrom", "version"})
"""Ids and databases have separate rules; entrez-kit itself chooses the version of a document."""


def _find_arguments(error_text: str, call: Call, sent_credentials: frozenset[str]) -> Iterator[str]:
    """Yield the arguments that were sent and that a text names or, if it names none, whose value it quotes."""
    sent = {name: value for name, value in call.params if value and name not in _NEVER_WRONG}
    if sent.get("retmode") in ("xml", "json"):
        del sent["retmode"]  # every E-utility supports these two
    if call.service == "unpaywall":
        sent["doi"] = call.url.partition("/v2/")[2]
    named = [
        name
        for name in sorted({*sent, *sent_credentials})
        if re.search(rf"\b({re.escape(name)}|{_ALSO_KNOWN_AS.get(name, name)})\b", error_text, re.IGNORECASE)
    ]
    quoted = re.findall(r"'([^']{2,100})'|\"([^\"]{2,100})\"|\[([^\]]{2,100})\]", error_text)
    pieces = [piece.lower() for found in quoted for piece in filter(None, found)]
    named = named or [name for name, value in sent.items() if any(piece in value.lower() for piece in pieces)]
    yield from named or (sorted(sent_credentials) if HIDDEN in error_text else ())


# Europe PMC ---------------------------------------------------------------------------------------------------------

VERSION_ONLY: Final = "a reply that has only a version"
"""Europe PMC's reply to an unknown sort or cursor, and sometimes to a valid request."""

_ABOUT_ARGUMENTS: Final = (
    ("cursor", "cursorMark", _compile_any(r"cursor")),
    ("sort", "sort", _compile_any(r"\bsort")),
    ("page_size", "pageSize", _compile_any(r"page ?size")),
    ("query", "query", _compile_any(r"\bquery\b", r"search term", r"syntax", r"\bpars")),
)
"""The arguments that Europe PMC's error texts name: our name, its name, and the pattern of the text."""

_UNREMARKABLE: Final[Mapping[str, re.Pattern[str]]] = {
    "cursorMark": re.compile(r"\*"),
    "pageSize": re.compile(r"[1-9][0-9]{0,2}|1000"),
    "query": re.compile(r"[\w\s]++"),
}
"""Values of arguments that are always valid."""


def _check_europepmc_argument(error_text: str, call: Call, sent_credentials: frozenset[str]) -> EntrezKitError | None:
    if _TRANSIENT.search(error_text) or error_text == VERSION_ONLY:
        return None
    for ours, theirs, pattern in _ABOUT_ARGUMENTS:
        if pattern.search(error_text):
            value = call.get_param(theirs)
            plain = _UNREMARKABLE.get(theirs)
            if not value or (plain and plain.fullmatch(value)):
                return None
            return InvalidInput(
                f"Europe PMC refused the request: {error_text}",
                invalid_input=f"{ours}={value[:100]}",
                recovery_hint=EUROPEPMC_HINT,
                details={"reason": f"europepmc_{ours}"},
            )
    return None


def find_europepmc_errors(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the error texts in a Europe PMC document, which come with status 200."""
    message = document.get("errMsg")
    if isinstance(message, str) and message.strip():
        yield message.strip()
    elif "errCode" in document:
        yield f"error {document['errCode']}"
    elif document.keys() == {"version"}:
        yield VERSION_ONLY


REFUSAL_RULES: Final = (
    RefusalRule(_ACCUSING, _check_europepmc_argument, service="europepmc"),
    RefusalRule(_KEY, _check_key, service="eutils"),
    RefusalRule(_POSITION, _check_position, service="eutils"),
    RefusalRule(_HISTORY, _check_history, service="eutils", confirmations=HISTORY_CONFIRMATIONS),
    RefusalRule(_BLANK, _check_blank, service="eutils"),
    RefusalRule(_DATABASE, _check_database, service="eutils"),
    RefusalRule(_TOO_MANY, _check_too_many, service="eutils"),
    RefusalRule(_NO_IDS, _check_ids, service="eutils", confirmations=IDS_CONFIRMATIONS),
    RefusalRule(_REQUIRED, _check_new_parameter, confirmations=IDS_CONFIRMATIONS),
    RefusalRule(_ACCUSING, _check_argument, service="eutils"),
    RefusalRule(_ACCUSING, _check_argument, service="idconv"),
    RefusalRule(_ACCUSING, _check_argument, service="unpaywall"),
)


def list_ids(call: Call) -> list[str]:
    """Return the ids in a request."""
    return [part for name, value in call.params if name == "id" for part in value.split(",") if part]


def is_about_ids(error_text: str) -> bool:
    """Return whether an error text is about single unknown ids."""
    return bool(_NO_IDS.search(error_text))


def _to_number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else 0


def _invalid_error(message: str, call: Call, field: str, reason: str, hint: Text) -> InvalidInput:
    short_value = cut_end(call.get_param(field) or "", 100)
    return InvalidInput(message, invalid_input=f"{field}={short_value}", recovery_hint=hint, details={"reason": reason})


# Failures of a service ----------------------------------------------------------------------------------------------


def no_such_record_error(call: Call, status: int) -> EntityNotFound:
    """Return the error for a status or an empty body that means "no such record"."""
    return EntityNotFound(f"{call.title} has no such record.", details=call.describe("not_found", status=status))


def rate_limited_error(call: Call, status: int, error_text: str = "") -> RateLimited:
    """Return the error for too many requests; its message names who shares the limit."""
    hint = None
    if call.service in ("eutils", "idconv"):
        scope = (
            "NCBI counts by API key, or without one by network address, which other programs and colleagues may share."
        )
    else:
        scope = "It counts by network address, which other programs and colleagues may share."
        hint = FrontendText("Wait a little. ", AGAIN, "; cached replies are not requested again.")
    detail = f" ({error_text})" if error_text else ""
    return RateLimited(
        f"{call.title} refused {call.endpoint}: too many requests{detail}. {scope}",
        recovery_hint=hint,
        details=call.describe("rate_limited", status=status),
    )


def backend_error(call: Call, error_text: str, status: int) -> UpstreamError:
    """Return the error for a failure inside the service."""
    service = "ncbi" if call.service in ("eutils", "idconv") else call.service
    return UpstreamError(
        f"{call.title} could not process the {call.endpoint} request: {error_text}",
        details=call.describe(f"{service}_unreachable", status=status, **_classify_failure(error_text)),
    )


def _classify_failure(error_text: str) -> dict[str, str]:
    """Return the code of a failure, if the words of the service say that it is temporary."""
    return {"problem": "temporary"} if _TRANSIENT.search(error_text) else {}


def invalid_response_error(call: Call, problem: str, status: int, code: str | None = None) -> UpstreamError:
    """Return the error for an invalid reply.

    Args:
        code: a code of the problem, if there is one.
    """
    return UpstreamError(
        f"{call.title} sent an invalid {call.endpoint} reply: {problem}.",
        details=call.describe("invalid_response", status=status, **({"problem": code} if code else {})),
    )
