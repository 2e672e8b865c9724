"""Requests of scripts: the rules for a valid reply to any request that Bio.Entrez builds.

`EUtils` has a reader for each of its requests. A script may send any parameters, so the rules in this module are
derived from the parameters alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from entrez_kit.base.bio_entrez import ParsedRequest
from entrez_kit.base.frontend_text import format_count
from entrez_kit.services.efetch_reply import expect_records
from entrez_kit.services.esummary_reply import find_uids, parse_esummary
from entrez_kit.services.eutils import EUtils, expect_document
from entrez_kit.services.small_replies import (
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


def answer_request(eutils: EUtils, request: "Request") -> Reply[Any]:
    """Return the checked reply to a request that Bio.Entrez has built for a script.

    If every attempt gets fewer ids or summaries than expected, the last reply is returned, and it is not complete.

    Raises:
        EntrezKitError: the errors of ``EUtils``.
    """
    parsed = ParsedRequest.parse(request, CREDENTIALS)
    expect = expect_reply(parsed.endpoint, parsed.parameters, parsed.ids)
    if expect.format in ("xml", "json"):
        if parsed.endpoint == "esearch":
            expect = _check_search(expect, parsed.parameters)
        elif parsed.endpoint == "esummary":
            expect = _check_summaries(expect, parsed.ids)
    return eutils.send_built(
        parsed,
        expect,
        post=request.get_method() == "POST",
        cacheable=parsed.parameters.get("cmd") != "neighbor_history",
        partial=True,
    )


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
        return Expect("text", read=_read_citations)
    return expect_document(endpoint, mode or "xml") if mode in ("", "xml", "json") else Expect("any")


def _read_citations(content: bytes) -> bytes:
    """Return a reply of ECitMatch.

    Raises:
        UpstreamError: its last line is cut.
    """
    if not content.endswith((b"\n", b"\r")):
        raise malformed_error("ecitmatch", "the last line is truncated", "truncated")
    return content


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


def _check_summaries(expect: Expect, ids: Sequence[str]) -> Expect:
    expected_uids = {str(int(uid)) for uid in ids} if all(map(is_uid, ids)) else set()
    is_countable = 0 < len(expected_uids) == len(ids)
    """False if a script names an id twice, names accessions, or separates ids in another way."""

    def read(content: bytes) -> Any:
        document = parse_esummary(content)
        if not is_countable:
            return None
        answered = find_uids(document)
        if foreign := answered.described - expected_uids:
            raise malformed_error("esummary", f"a summary of {min(foreign)}, which was not requested")
        if (received := len(answered.uids & expected_uids)) < len(expected_uids):
            raise incomplete_reply_error(
                "esummary", f"{format_count(received, 'record')} instead of {len(expected_uids)}", content, answered
            )
        return answered

    return replace(expect, read=read, keep=lambda answered: answered is None or not answered.refused)
