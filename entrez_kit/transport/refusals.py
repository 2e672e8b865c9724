"""What NCBI's own words mean when it answers with an error: whose fault it is and whether to ask again.

The words come with any status, also 200, and differ little between the E-utilities. First match wins.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from entrez_kit.errors import (
    EntityNotFound,
    EntrezKitError,
    InvalidInput,
    NotConfigured,
    RateLimited,
    UpstreamError,
)
from entrez_kit.transport.call import Call
from entrez_kit.transport.policy import POLICIES
from entrez_kit.transport.retry import Retryable

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
    r"position \d+ is out of acceptable range",
    r"out of acceptable range",
    r"retstart'?.{0,40}(larger|too large|exceed|out of range)",
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
    r"following (ids?|pmids?|uids?) (is|are) not available",
)
_ARGUMENT = _words(
    r"\b(invalid|unsupported|unknown|missing|required|wrong|illegal|unrecognized)\b.{0,60}"
    r"\b(param|params|parameters?|argument|value|format|rettype|retmode|cmd|linkname|term|date|idtype|field)\b",
    r"\b(param|parameters?|argument)\b.{0,60}\b(invalid|unsupported|unknown|missing|required|wrong|must)\b",
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
)

HISTORY_HINT: Final = "NCBI keeps a history for some hours. Search again and use the new web_env and query_key."
PAGING_HINT: Final = "PubMed gives out the first 9,999 records of a search. Narrow the query, for example by date."


def refusal(words: str, status: int, call: Call, wait: float | None = None) -> EntrezKitError | Retryable | None:
    """Turn the words of a service that refused into the error to raise, or None when the status says more than they do.

    Args:
        words: what it said, fit to be shown.
        status: the HTTP status they came with.
        call: the request.
        wait: seconds it asked to wait.
    """
    if status == 429 or _RATE.search(words):
        return Retryable(rate_limited(call, status, words), wait=wait)
    if call.service == "europepmc":
        return _europepmc_refusal(words, status, call, wait)
    if _KEY.search(words):
        return NotConfigured(
            "NCBI does not accept the API key in NCBI_API_KEY.",
            recovery_hint="Correct NCBI_API_KEY, or unset it: no key is required.",
            details={**_about(call, status), "reason": "bad_api_key", "setting": "ncbi_api_key"},
        )
    bad_input = _bad_input(words, call)
    if bad_input is not None:
        bad_input.details.update(_about(call, status))
        return bad_input
    if _NO_IDS.search(words):
        return EntityNotFound(
            f"{_title(call)} knows none of the ids asked for{_in_database(call)}: {words}",
            details={**_about(call, status), "reason": "not_found"},
        )
    if status in (400, 422) and not TRANSIENT.search(words) and not _DATABASE.search(words):
        return InvalidInput(
            f"{_title(call)} refused the {call.endpoint} request: {words}",
            details={**_about(call, status), "reason": "refused"},
        )
    if status == 200 or status == 400 or status >= 500:
        return Retryable(backend_failed(call, words, status), wait=wait)
    return None


def _bad_input(words: str, call: Call) -> InvalidInput | None:
    """Return the error for words that say the request itself is at fault, or None."""
    if _POSITION.search(words):
        return _invalid(
            f"The offset lies beyond what NCBI gives out: {words}",
            call,
            "retstart",
            "retstart_out_of_range",
            PAGING_HINT,
        )
    if _HISTORY.search(words):
        named = "query_key" if call.param("query_key") else "WebEnv"
        return _invalid(f"NCBI does not know this history: {words}", call, named, "history_unknown", HISTORY_HINT)
    if _BLANK.search(words):
        return _invalid("The query is empty.", call, "term", "blank_query", "Give at least one search term.")
    if _DATABASE.search(words) and (call.param("db") or call.param("dbfrom")) not in DATABASES:
        name = call.param("db") or call.param("dbfrom")
        return _invalid(f"There is no Entrez database {name!r}.", call, "db", "unknown_database", _DATABASES_HINT)
    if _TOO_MANY.search(words):
        return _invalid(f"Too many ids in one request: {words}", call, "id", "too_many_ids", "Ask for fewer at a time.")
    if _ARGUMENT.search(words) and not TRANSIENT.search(words) and not _DATABASE.search(words):
        return InvalidInput(
            f"{_title(call)} refused an argument of {call.endpoint}: {words}", details={"reason": "refused"}
        )
    return None


NOTHING_SAID: Final = "a reply that holds nothing but its version"
"""Europe PMC's answer to a sort or cursor it does not know, and now and then to a request that is fine."""

_ABOUT_ARGUMENTS: Final = (
    ("cursor", "cursorMark", _words(r"cursor")),
    ("sort", "sort", _words(r"\bsort")),
    ("page_size", "pageSize", _words(r"page ?size")),
    ("query", "query", _words(r"\bquery\b", r"search term", r"syntax", r"\bparse")),
)
"""What Europe PMC's words are about: our name for it, its own, and how it is recognised."""


def europepmc_words(document: Mapping[str, Any]) -> Iterator[str]:
    """Return what Europe PMC says is wrong, in a document that is no answer; its status is 200 all the same."""
    said = document.get("errMsg")
    if isinstance(said, str) and said.strip():
        yield said.strip()
    elif "errCode" in document:
        yield f"error {document['errCode']}"
    elif document.keys() == {"version"}:
        yield NOTHING_SAID


def _europepmc_refusal(words: str, status: int, call: Call, wait: float | None) -> EntrezKitError | Retryable | None:
    """Tell what Europe PMC's words mean: an argument at fault is INVALID_INPUT, anything else may pass."""
    if status not in (200, 400, 422) and status < 500:
        return None
    named = next((names for *names, pattern in _ABOUT_ARGUMENTS if pattern.search(words)), None)
    if status < 500 and words != NOTHING_SAID and not TRANSIENT.search(words) and (named or status != 200):
        ours, theirs = named or ("query", "query")
        return InvalidInput(
            f"Europe PMC refuses the request: {words}",
            invalid_input=f"{ours}={(call.param(theirs) or '')[:100]}",
            recovery_hint=EUROPEPMC_HINT,
            details={**_about(call, status), "reason": f"europepmc_{ours if named else 'refused'}"},
        )
    error_of_theirs = backend_failed(call, words, status)
    if words == NOTHING_SAID:
        error_of_theirs.details["nothing_said"] = True
    return Retryable(error_of_theirs, wait=wait)


EUROPEPMC_HINT: Final = "Correct the named argument. The search syntax is at https://europepmc.org/searchsyntax."
_DATABASES_HINT: Final = "EInfo without a database lists all of them."


def _invalid(message: str, call: Call, field: str, reason: str, hint: str) -> InvalidInput:
    value = call.param(field) or ""
    shown = value if len(value) <= 100 else f"{value[:99]}…"
    return InvalidInput(message, invalid_input=f"{field}={shown}", recovery_hint=hint, details={"reason": reason})


def is_about_ids(words: str) -> bool:
    """Tell whether words of a service are about single ids it does not know."""
    return bool(_NO_IDS.search(words))


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
        f"{_title(call)} refused {call.endpoint}: too many requests{said}. {whose}",
        details={**_about(call, status), "reason": "rate_limited"},
    )


def backend_failed(call: Call, words: str, status: int) -> UpstreamError:
    """Return the error for a service whose own machinery failed."""
    return UpstreamError(
        f"{_title(call)} could not answer {call.endpoint}: {words}",
        details={**_about(call, status), "reason": unreachable(call)},
    )


def invalid_response(call: Call, what: str, status: int) -> UpstreamError:
    """Return the error for a reply that is no answer."""
    return UpstreamError(
        f"{_title(call)} sent something that is no answer to {call.endpoint}: {what}.",
        details={**_about(call, status), "reason": "invalid_response"},
    )


def unreachable(call: Call) -> str:
    """Return the reason word for a service that is down."""
    return "ncbi_unreachable" if call.service in ("eutils", "idconv") else f"{call.service}_unreachable"


def _about(call: Call, status: int) -> dict[str, object]:
    return {"service": call.service, "endpoint": call.endpoint, "status": status}


def _title(call: Call) -> str:
    return POLICIES[call.service].title


def _in_database(call: Call) -> str:
    name = call.param("db")
    return f" in {name}" if name else ""
