"""Who is to blame when a service refuses, told from its own words: the request, the ids in it, or the service itself.

Words come with any status, also 200, and a service in trouble says many things. So words only count against a request
that contains what they blame (`ACCUSATIONS`, first match wins); all others are the service's own failure, and are
retried. Words about ids and about the history are asked for again before they are believed.
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
from entrez_kit.base.frontend_text import Argument, FrontendText
from entrez_kit.services.transport import Call
from entrez_kit.services.transport.retry import Retryable

IDS_DOUBTED: Final = 2
"""How often words about ids are asked for again: services in trouble say the same of ids that are fine."""

HISTORY_DOUBTED: Final = 3
"""The same for words about the history, which nothing else can confirm."""

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
"""Entrez databases, today's and former ones: when NCBI says that one of them does not exist, it is NCBI that fails."""


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


_RATE = _words(r"rate limit exceeded", r"too many requests")
_KEY = _words(
    r"api[ _-]?key\b.{0,40}\b(invalid|wrong|not valid|unknown|expired|disabled|revoked)", r"invalid api[ _-]?key"
)
_POSITION = _words(
    r"out of acceptable range",
    r"\b(position|retstart)\b.{0,40}(larger|too large|exceed|out of)",
    r"cannot be larger than 9,?99[89]",
)
_HISTORY = _words(
    r"unable to obtain query",
    r"cannot retrieve history data",
    r"\bweb[_ ]?env\b.{0,60}(not found|expired|invalid|doesn't exist|does not exist|missing|wrong|bad)",
    r"(invalid|wrong|bad|unknown|expired|missing|can'?t find|cannot find|no such) (history|web[_ ]?env|query[_ ]?key)",
    r"\bquery[_ ]?key\b.{0,40}(not found|expired|invalid|missing|out of range)",
    r"history.{0,30}(expired|not found)",
)
_BLANK = _words(r"empty term and query_key", r"(term|query) is empty", r"empty (term|query)\b")
_DATABASE = _words(
    r"invalid db name",
    r"unsupported db\b",
    r"database is not supported",
    r"(invalid|unknown) database",
    r"can ?not retrieve dbinfo",
)
_TOO_MANY = _words(r"too many (uids|ids)", r"maximum number of (uids|ids)")
_NO_IDS = _words(
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
_ACCUSING = _words(
    r"\b(invalid|unsupported|unknown|missing|required|wrong|illegal|malformed|incorrect|unrecogni[sz]ed|mixed|bad)\b",
    r"\b(must|cannot be|can't be|may not be)\b",
    r"\bnot (valid|allowed|supported|recogni[sz]ed|a valid)\b",
    r"\bno such\b",
    r"\bsyntax\b",
    r"\b(pars(e|er|ing)\b.{0,20}\berror|cannot parse|unable to parse|could not parse)",
    r"\b(please use|use your own)\b",
)
TRANSIENT: Final = _words(
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

_REQUIRED = _words(
    r"\b(?:missing|required|mandatory)(?: required)?(?: query)? (?:parameter|argument|field)s?\b\W{1,3}(?P<a>\w+)",
    r"\b(?:parameter|argument|field)\W{1,2}(?P<b>\w+)\W{1,2}is (?:required|missing|mandatory)",
    r"\b(?P<c>\w+)\W{1,2}is (?:a |now )?(?:required|mandatory)\b",
)

HISTORY_HINT: Final = FrontendText(
    "NCBI keeps a history for some hours. Search again and use the new ",
    *(Argument("web_env"), " and ", Argument("query_key"), "."),
)
PAGING_HINT: Final = "PubMed gives out the first 9,999 records of a search. Narrow the query, for example by date."
EUROPEPMC_HINT: Final = "Correct the named argument. The search syntax is at https://europepmc.org/searchsyntax."
_DATABASES_HINT: Final = "EInfo without a database lists all of them."
_SHOWN_PAST: Final = 9_998
"""The last place of a search that PubMed shows."""


def refusal(
    words: str, status: int, call: Call, wait: float | None = None, told: frozenset[str] = frozenset()
) -> EntrezKitError | Retryable | None:
    """Turn the words of a service that refused into the error to raise, or None when the status says more than they do.

    Args:
        words: what it said, fit to be shown.
        status: the HTTP status they came with.
        call: the request.
        wait: seconds it asked to wait.
        told: names of the credentials that went along.
    """
    if status == 429 or _RATE.search(words):
        return Retryable(rate_limited(call, status, words), wait=wait)
    if status not in (200, 400, 403, 422) and status < 500:
        return None
    for accusation in ACCUSATIONS:
        if accusation.service in (None, call.service) and accusation.words.search(words):
            error = accusation.blame(words, call, told)
            if error is not None:
                error.details |= call.about(error.details["reason"], status=status)
                if accusation.doubted:
                    return Retryable(error, wait=wait, at_most=accusation.doubted)
                return error
    if status == 403:
        return None
    failed = backend_failed(call, words, status)
    if words == NOTHING_SAID:
        failed.details["nothing_said"] = True
    return Retryable(failed, wait=wait)


# Who is to blame ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Accusation:
    """Words that blame a request.

    Args:
        words: how they are recognised.
        blame: returns the error where the request contains what they blame, else None.
        service: who says so; None for any.
        doubted: how often they are asked for again before they are believed.
    """

    words: re.Pattern[str]
    blame: Callable[[str, Call, frozenset[str]], EntrezKitError | None]
    service: str | None = None
    doubted: int = 0


def _key(words: str, call: Call, told: frozenset[str]) -> EntrezKitError | None:
    if "api_key" not in told:
        return None
    return NotConfigured(
        "NCBI does not accept the API key in NCBI_API_KEY.",
        recovery_hint="Correct NCBI_API_KEY, or unset it: no key is required.",
        details={"reason": "bad_api_key", "setting": "ncbi_api_key"},
    )


def _position(words: str, call: Call, told: frozenset[str]) -> EntrezKitError | None:
    start = _number(call.param("retstart"))
    if start + _number(call.param("retmax")) <= _SHOWN_PAST:
        return None
    named = re.search(r"position (\d+)", words, re.IGNORECASE)
    if named and not start <= int(named[1]) <= start + _number(call.param("retmax")):
        return None
    message = f"The offset lies beyond what NCBI gives out: {words}"
    return _invalid(message, call, "retstart", "retstart_out_of_range", PAGING_HINT)


def _history(words: str, call: Call, told: frozenset[str]) -> EntrezKitError | None:
    named = next((name for name in ("query_key", "WebEnv") if call.param(name)), None)
    if named is None:
        return None
    return _invalid(f"NCBI does not know this history: {words}", call, named, "history_unknown", HISTORY_HINT)


def _blank(words: str, call: Call, told: frozenset[str]) -> EntrezKitError | None:
    query = re.sub(r"\[[^\[\]]*+\]|\b(AND|OR|NOT)\b", " ", call.param("term") or "")
    if call.endpoint not in ("esearch", "espell", "egquery") or any(map(str.isalnum, query)):
        return None
    return _invalid("The query is empty.", call, "term", "blank_query", "Give at least one search term.")


def _database(words: str, call: Call, told: frozenset[str]) -> EntrezKitError | None:
    name = call.param("db") or call.param("dbfrom")
    if name is None or name in DATABASES:
        return None
    return _invalid(f"There is no Entrez database {name!r}.", call, "db", "unknown_database", _DATABASES_HINT)


def _too_many(words: str, call: Call, told: frozenset[str]) -> EntrezKitError | None:
    stated = re.search(r"maximum number of (?:uids|ids) is (\d+)", words, re.IGNORECASE)
    sent = call.endpoint != "esearch"  # which has no ids, and lists as many as it likes
    asked = len(ids_of(call)) or (_number(call.param("retmax")) if sent else 0)
    if asked <= (int(stated[1]) if stated else _PLAINLY_FEW):
        return None
    return _invalid(f"Too many ids in one request: {words}", call, "id", "too_many_ids", "Ask for fewer at a time.")


_PLAINLY_FEW: Final = 200


def _ids(words: str, call: Call, told: frozenset[str]) -> EntrezKitError | None:
    ids = ids_of(call)
    named = re.search(r"(?:\buid[= ]|\bunderstand id:?)\s*(?!at\b)([^\s:;,<]+)", words, re.IGNORECASE)
    if not ids or (named and named[1] not in ids):
        return None
    where = f" in {call.param('db')}" if call.param("db") else ""
    return EntityNotFound(
        f"{call.title} knows none of the ids asked for{where}: {words}", details={"reason": "not_found"}
    )


def _argument(words: str, call: Call, told: frozenset[str]) -> EntrezKitError | None:
    if TRANSIENT.search(words) or _DATABASE.search(words) or not _names_an_argument(words, call, told):
        return None
    return InvalidInput(f"{call.title} refused an argument of {call.endpoint}: {words}", details={"reason": "refused"})


def _new_parameter(words: str, call: Call, told: frozenset[str]) -> EntrezKitError | None:
    """Blame a parameter that was not sent, and so not the request: the service has come to want it."""
    found = _REQUIRED.search(words)
    name = next(filter(None, found.groups()), "") if found else ""
    sent = {known.lower() for known, _ in call.params} | told
    if not re.fullmatch(r"[A-Za-z]\w{1,39}", name) or name.lower() in sent or name.lower() in _NO_PARAMETERS:
        return None
    setting = {"api_key": "NCBI_API_KEY", "email": "NCBI_ADMIN_EMAIL"}.get(name.lower())
    return UpstreamError(
        f"{call.title} now wants a parameter of {call.endpoint} that was not sent, {name}: {words}",
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
    "email": r"e-?mail|\[hidden\]",
}
"""How words call an argument, besides by its name."""

_NEVER_WRONG: Final = frozenset({"id", "db", "dbfrom", "version"})
"""Ids and databases have accusations of their own; the version of a document is ours to choose."""


def _names_an_argument(words: str, call: Call, told: frozenset[str]) -> bool:
    """Tell whether words name an argument that was sent, or quote its value."""
    sent = {name: value for name, value in call.params if value and name not in _NEVER_WRONG}
    if sent.get("retmode") in ("xml", "json"):
        del sent["retmode"]  # every E-utility has these two
    if call.service == "unpaywall":
        sent["doi"] = call.url.partition("/v2/")[2]
    names = "|".join(rf"{re.escape(name)}|{_ALSO_KNOWN_AS.get(name, name)}" for name in sorted({*sent, *told}))
    if names and re.search(rf"\b({names})\b|\[hidden\]", words, re.IGNORECASE):
        return True
    quoted = re.findall(r"'([^']{2,100})'|\"([^\"]{2,100})\"|\[([^\]]{2,100})\]", words)
    return any(
        piece.lower() in value.lower() for found in quoted for piece in filter(None, found) for value in sent.values()
    )


# Europe PMC ---------------------------------------------------------------------------------------------------------

NOTHING_SAID: Final = "a reply that holds nothing but its version"
"""Europe PMC's answer to a sort or cursor it does not know, and now and then to a request that is fine."""

_ABOUT_ARGUMENTS: Final = (
    ("cursor", "cursorMark", _words(r"cursor")),
    ("sort", "sort", _words(r"\bsort")),
    ("page_size", "pageSize", _words(r"page ?size")),
    ("query", "query", _words(r"\bquery\b", r"search term", r"syntax", r"\bpars")),
)
"""What Europe PMC's words are about: our name for it, its own, and how it is recognised."""

_UNREMARKABLE: Final[Mapping[str, re.Pattern[str]]] = {
    "cursorMark": re.compile(r"\*"),
    "pageSize": re.compile(r"[1-9][0-9]{0,2}|1000"),
    "query": re.compile(r"[\w\s]++"),
}
"""Values of arguments in which there is nothing that could be wrong."""


def _europepmc_argument(words: str, call: Call, told: frozenset[str]) -> EntrezKitError | None:
    if TRANSIENT.search(words) or words == NOTHING_SAID:
        return None
    for ours, theirs, pattern in _ABOUT_ARGUMENTS:
        if pattern.search(words):
            value = call.param(theirs)
            plain = _UNREMARKABLE.get(theirs)
            if not value or (plain and plain.fullmatch(value)):
                return None
            return InvalidInput(
                f"Europe PMC refuses the request: {words}",
                invalid_input=f"{ours}={value[:100]}",
                recovery_hint=EUROPEPMC_HINT,
                details={"reason": f"europepmc_{ours}"},
            )
    return None


def europepmc_words(document: Mapping[str, Any]) -> Iterator[str]:
    """Return what Europe PMC says is wrong, in a document that is no answer; its status is 200 all the same."""
    said = document.get("errMsg")
    if isinstance(said, str) and said.strip():
        yield said.strip()
    elif "errCode" in document:
        yield f"error {document['errCode']}"
    elif document.keys() == {"version"}:
        yield NOTHING_SAID


ACCUSATIONS: Final = (
    Accusation(_ACCUSING, _europepmc_argument, service="europepmc"),
    Accusation(_KEY, _key, service="eutils"),
    Accusation(_POSITION, _position, service="eutils"),
    Accusation(_HISTORY, _history, service="eutils", doubted=HISTORY_DOUBTED),
    Accusation(_BLANK, _blank, service="eutils"),
    Accusation(_DATABASE, _database, service="eutils"),
    Accusation(_TOO_MANY, _too_many, service="eutils"),
    Accusation(_NO_IDS, _ids, service="eutils", doubted=IDS_DOUBTED),
    Accusation(_REQUIRED, _new_parameter, doubted=IDS_DOUBTED),
    Accusation(_ACCUSING, _argument, service="eutils"),
    Accusation(_ACCUSING, _argument, service="idconv"),
    Accusation(_ACCUSING, _argument, service="unpaywall"),
)


def ids_of(call: Call) -> list[str]:
    """Return the ids a request names."""
    return [part for name, value in call.params if name == "id" for part in value.split(",") if part]


def is_about_ids(words: str) -> bool:
    """Tell whether words of a service are about single ids it does not know."""
    return bool(_NO_IDS.search(words))


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else 0


def _invalid(message: str, call: Call, field: str, reason: str, hint: str) -> InvalidInput:
    value = call.param(field) or ""
    shown = value if len(value) <= 100 else f"{value[:99]}…"
    return InvalidInput(message, invalid_input=f"{field}={shown}", recovery_hint=hint, details={"reason": reason})


# Failures of a service ----------------------------------------------------------------------------------------------


def no_such_record(call: Call, status: int) -> EntityNotFound:
    """Return the error for a service that says, by status or by an empty body, that it has no such record."""
    return EntityNotFound(f"{call.title} has no such record.", details=call.about("not_found", status=status))


def rate_limited(call: Call, status: int, words: str = "") -> RateLimited:
    """Return the error for a service that found us too fast, saying whose limit that was."""
    if call.service in ("eutils", "idconv"):
        whose = (
            "NCBI counts by API key, or without one by network address, which other programs and colleagues may share."
        )
    else:
        whose = "It counts by network address, which other programs and colleagues may share."
    said = f" ({words})" if words else ""
    return RateLimited(
        f"{call.title} refused {call.endpoint}: too many requests{said}. {whose}",
        details=call.about("rate_limited", status=status),
    )


def backend_failed(call: Call, words: str, status: int) -> UpstreamError:
    """Return the error for a service whose own machinery failed."""
    service = "ncbi" if call.service in ("eutils", "idconv") else call.service
    return UpstreamError(
        f"{call.title} could not answer {call.endpoint}: {words}",
        details=call.about(f"{service}_unreachable", status=status),
    )


def invalid_response(call: Call, what: str, status: int) -> UpstreamError:
    """Return the error for a reply that is no answer."""
    return UpstreamError(
        f"{call.title} sent something that is no answer to {call.endpoint}: {what}.",
        details=call.about("invalid_response", status=status),
    )
