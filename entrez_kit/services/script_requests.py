"""Requests of scripts: the rules for a valid reply to any request that Bio.Entrez builds.

`EUtils` has a reader for each of its requests. A script may send any parameters, so the rules in this module are
derived from the parameters alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from entrez_kit.base.bio_entrez import MAX_RETMAX, ParsedRequest
from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.services.efetch_reply import expect_records
from entrez_kit.services.elink_reply import check_sources
from entrez_kit.services.esummary_reply import find_uids, parse_esummary
from entrez_kit.services.eutils import EUtils, count_page, expect_document, send_until_complete
from entrez_kit.services.fetched_records import count_records
from entrez_kit.services.small_replies import (
    MAX_PUBMED_RESULTS,
    ESearchReply,
    check_citations,
    incomplete_reply_error,
    is_uid,
    malformed_error,
    parse_esearch,
    read_search,
)
from entrez_kit.services.transport import CREDENTIALS, Expect, Reply

if TYPE_CHECKING:
    from urllib.request import Request

_DEFAULT_RETMAX: Final = "20"
_MAX_JSON_SUMMARIES: Final = 500


class ResultSets:
    """The sizes of the result sets in NCBI's history that a script has used. Safe for threads."""

    def __init__(self) -> None:
        self._sizes: dict[tuple[str, str], int] = {}

    def add(self, found: object) -> None:
        """Remember the size of the result set that a search has stored."""
        if isinstance(found, ESearchReply) and found.web_env and found.query_key:
            self._sizes[found.web_env, found.query_key] = found.count

    def count_expected(self, eutils: EUtils, endpoint: str, parameters: Mapping[str, str]) -> int | None:
        """Return how many records a request must return from its result set; None if that is unknown.

        An ESearch request finds the size of a result set that EPost, ELink or another program has stored.
        """
        web_env, query_key = parameters.get("webenv", ""), parameters.get("query_key", "")
        # Without retmax NCBI returns at least its default for searches.
        start, page_size = parameters.get("retstart", "0"), parameters.get("retmax", _DEFAULT_RETMAX)
        if not (web_env and query_key and is_uid(start) and is_uid(page_size)):
            return None
        if (web_env, query_key) not in self._sizes:
            try:
                counted = eutils.esearch(
                    db=parameters.get("db", ""), term=f"#{query_key}", webenv=web_env, usehistory=True, retmax=0
                )
            except EntrezKitError:  # the reply to the request of the script explains it
                return None
            self._sizes[web_env, query_key] = counted.value.count
        size = self._sizes[web_env, query_key]
        if parameters.get("db", "").lower() == "pubmed":
            size = min(size, MAX_PUBMED_RESULTS)
        is_json = endpoint == "esummary" and parameters.get("retmode") == "json"
        return max(0, min(int(page_size), size - int(start), _MAX_JSON_SUMMARIES if is_json else MAX_RETMAX))


def answer_request(eutils: EUtils, request: "Request", sets: ResultSets) -> Reply[Any]:
    """Return the checked reply to a request that Bio.Entrez has built for a script.

    If every attempt gets fewer ids, summaries or records than expected, the longest reply is returned, and it is not
    complete. A reply to ids that do not exist is such a reply.

    Args:
        sets: the result sets of the script.

    Raises:
        EntrezKitError: the errors of ``EUtils``.
    """
    parsed = ParsedRequest.parse(request, CREDENTIALS)
    endpoint, parameters, ids = parsed.endpoint, parsed.parameters, parsed.ids
    expect = expect_reply(endpoint, parameters, ids)
    expected = 0
    if endpoint in ("efetch", "esummary"):
        expected = _count_ids(ids, parameters) if ids else sets.count_expected(eutils, endpoint, parameters) or 0
    if expect.format in ("xml", "json"):
        if endpoint == "esearch":
            expect = _check_search(expect, parameters)
        elif endpoint == "esummary":
            expect = _check_summaries(expect, ids, expected)
        elif endpoint == "elink":
            expect = replace(expect, read=partial(check_sources, ids=ids))

    def send(*, fresh: bool = False) -> Reply[Any]:
        return eutils.send_built(
            parsed,
            expect,
            post=request.get_method() == "POST",
            cacheable=parameters.get("cmd") != "neighbor_history",
            fresh=fresh,
            partial=True,
        )

    if endpoint == "efetch" and expected:
        may_repeat = not ids or len(set(ids)) < len(ids)  # a program may also have posted an id twice
        return send_until_complete(send, partial(count_records, pattern=expect.record, may_repeat=may_repeat), expected)
    reply = send()
    sets.add(reply.value)
    return reply


def expect_reply(endpoint: str, parameters: Mapping[str, str], ids: Sequence[str]) -> Expect:
    """Return the rules for a valid reply to these parameters.

    Args:
        parameters: the parameters, with names in lower case.
        ids: all ids in the parameters.
    """
    mode = parameters.get("retmode", "").lower()
    if endpoint == "efetch":
        expect = expect_records(parameters.get("db", ""), parameters.get("rettype"), mode, len(set(ids)) or None)
        # A record that is requested twice may be sent twice, which the readers of flat files reject.
        return replace(expect, read=bytes) if len(set(ids)) < len(ids) else expect
    if endpoint == "ecitmatch":
        return Expect("text", read=partial(check_citations, bdata=parameters.get("bdata", "")))
    return expect_document(endpoint, mode or "xml") if mode in ("", "xml", "json") else Expect("any")


def _check_search(expect: Expect, parameters: Mapping[str, str]) -> Expect:
    start, page_size = parameters.get("retstart", "0"), parameters.get("retmax", _DEFAULT_RETMAX)
    if not (is_uid(start) and is_uid(page_size)) or parameters.get("rettype") == "count":
        return replace(expect, read=parse_esearch)
    read = partial(
        read_search,
        db=parameters.get("db", ""),
        retmax=int(page_size),
        retstart=int(start),
        counts_only=False,
        accessions="idtype" in parameters,
        history=parameters.get("usehistory") == "y",
    )
    return replace(expect, read=read)


def _count_ids(ids: Sequence[str], parameters: Mapping[str, str]) -> int:
    """Return how many records a request names by id: those of the page that retstart and retmax select."""
    start, page_size = parameters.get("retstart", "0"), parameters.get("retmax", str(len(ids)))
    return count_page(ids, int(start), int(page_size)) if is_uid(start) and is_uid(page_size) else len(set(ids))


def _check_summaries(expect: Expect, ids: Sequence[str], expected: int) -> Expect:
    expected_uids = {str(int(uid)) for uid in ids} if all(map(is_uid, ids)) else set()
    is_countable = not ids or 0 < len(expected_uids) == len(ids)
    """False if a script names an id twice, names accessions, or separates ids in another way."""

    def read(content: bytes) -> Any:
        document = parse_esummary(content)
        if not is_countable:
            return None
        answered = find_uids(document)
        if expected_uids and answered.repeated:
            raise malformed_error("esummary", "two summaries of one record")
        if expected_uids and (foreign := answered.described - expected_uids):
            raise malformed_error("esummary", f"a summary of {min(foreign)}, which was not requested")
        if (received := len(answered.uids & (expected_uids or answered.uids))) < expected:
            raise incomplete_reply_error(
                "esummary", f"{format_count(received, 'record')} instead of {expected:,}", content, answered
            )
        return answered

    return replace(expect, read=read, keep=lambda answered: answered is None or not answered.refused)
