"""EUtils: the nine E-utilities. Methods have typed parameters and return checked replies.

A reply is accepted, and cached, after its reader has parsed it: the reader of the caller (``read``), or the one in this
module if all callers need the same. The result is the ``value`` of the reply, so that it is parsed only once. The
records of a reply are compared with the request.

A private instance of Bio.Entrez builds and encodes every request (`build_request`), and ``send_built`` sends it. The
requests of `entrez_kit.Entrez` are sent in the same way. Parameters have NCBI's names.
"""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack

from entrez_kit.base.bio_entrez import (
    ParsedRequest,
    build_entrez_request,
    check_ids,
    check_text,
    normalize_database,
    select_dates,
    select_records,
    write_number,
)
from entrez_kit.base.errors import (
    EntityNotFound,
    IncompleteReply,
    RateLimited,
    UpstreamError,
    invalid_argument,
    wrong_value,
)
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.settings import Settings
from entrez_kit.services.small_replies import (
    EPostReply,
    ESearchReply,
    ESpellReply,
    check_citations,
    check_esearch,
    incomplete_reply_error,
    is_uid,
    malformed_error,
    parse_epost,
    parse_esearch,
    parse_espell,
    read_search,
)
from entrez_kit.services.transport import (
    CREDENTIALS,
    Call,
    Expect,
    Method,
    Reply,
    T,
    accept_any,
    count_credential_characters,
    get_ttl,
)
from entrez_kit.services.transport.client import ServiceClient, Transport

if TYPE_CHECKING:
    from urllib.request import Request

    from entrez_kit.services.esummary_reply import CheckedSummaries

MAX_GET_CHARACTERS: Final = 2000
"""Requests with a longer URL are sent by POST: NCBI requires it, and proxies truncate long URLs."""

MAX_GET_IDS: Final = 100
MAX_UIDS_PER_SEARCH: Final = 200
MAX_SHORT_REPLIES: Final = 4
"""Maximum number of different replies to one request that have fewer records than expected."""

RetMode = Literal["xml", "json"]

_DOCUMENTS: Final[Mapping[str, tuple[str, str]]] = {
    "einfo": ("eInfoResult", "einforesult"),
    "esearch": ("eSearchResult", "esearchresult"),
    "esummary": ("eSummaryResult", "result"),
    "elink": ("eLinkResult", "linksets"),
    "epost": ("ePostResult", ""),
    "espell": ("eSpellResult", ""),
    "egquery": ("Result", ""),
}
"""The root of each result document in XML, and its key in JSON."""


class SendOptions(TypedDict, total=False):
    """The options that the methods of ``EUtils`` pass to ``send_built``, which has their defaults and keeps its names.

    Programs call ``send_built`` with these names; mypy compares the two.
    """

    post: bool
    cacheable: bool
    fresh: bool
    deadline_ms: int | None
    partial: bool


class EUtils(ServiceClient):
    """The E-utilities under NCBI's names.

    Every method returns the checked reply: its bytes, and as ``value`` the result of ``read`` for these bytes (without
    ``read`` the bytes themselves). All methods raise the same errors:

    Raises:
        InvalidInput: an argument is invalid, or NCBI rejects it.
        EntityNotFound: none of the ids exist.
        UpstreamError: no attempt got a valid reply.
        RateLimited: NCBI refused, or no slot is free before the deadline.
        NotConfigured: NCBI rejects the api key.
    """

    _SERVICE = "eutils"

    def __init__(self, transport: Transport, settings: Settings, *, cached: bool = True) -> None:
        super().__init__(transport, settings)
        self._cached = cached

    def einfo(
        self,
        *,
        db: str | None = None,
        version: str = "2.0",
        retmode: RetMode = "xml",
        read: Callable[[bytes], T] = bytes,  # type: ignore[assignment]  # without a reader the value is bytes
    ) -> Reply[T]:
        """List all databases, or the fields and links of one."""
        params = {"db": normalize_database(db) if db else None, "version": version if db else None, "retmode": retmode}
        return self._request("einfo", params, expect_document("einfo", retmode), read)

    def esearch(
        self,
        *,
        db: str,
        term: str,
        retmax: int = 20,
        retstart: int = 0,
        sort: str | None = None,
        datetype: str | None = None,
        mindate: str | None = None,
        maxdate: str | None = None,
        reldate: int | None = None,
        field: str | None = None,
        usehistory: bool = False,
        webenv: str | None = None,
        query_key: str | None = None,
        rettype: str | None = None,
        retmode: RetMode = "xml",
        idtype: str | None = None,
        deadline_ms: int | None = None,
        partial: bool = False,
        fresh: bool = False,
    ) -> Reply[ESearchReply]:
        """Search a database and return the number of matching records and a page of their ids.

        Args:
            partial: whether to return a list that is still shorter than NCBI's own count after all retries, without
                caching it; the caller reports the missing ids. By default it is refused (reason ``incomplete``).
            fresh: send the request even if the reply is cached.
        """
        if not term.strip() and not query_key:
            raise invalid_argument("term", "is empty", hint="Give at least one search term.")
        params = {
            "db": normalize_database(db),
            "term": term,
            "retmax": write_number("retmax", retmax),
            "retstart": write_number("retstart", retstart),
            "sort": sort,
            **select_dates(datetype, mindate, maxdate, reldate),
            "field": field,
            "usehistory": "y" if usehistory else None,
            "WebEnv": webenv,
            "query_key": query_key,
            "rettype": rettype,
            "retmode": retmode,
            "idtype": idtype,
        }
        read = functools.partial(
            read_search,
            db=normalize_database(db),
            retmax=retmax,
            retstart=retstart,
            counts_only=rettype == "count",
            accessions=idtype is not None,
            history=usehistory,
        )
        expect = expect_document("esearch", retmode)
        reply = self._request(
            "esearch",
            params,
            expect,
            read,
            fresh=fresh,
            deadline_ms=deadline_ms,
            partial=partial,
        )
        return replace(reply, value=replace(reply.value, searched_at=reply.sent_at))

    def esummary(
        self,
        *,
        db: str,
        ids: Sequence[str] | None = None,
        webenv: str | None = None,
        query_key: str | None = None,
        retstart: int | None = None,
        retmax: int | None = None,
        version: str = "2.0",
        retmode: RetMode = "xml",
        partial: bool = False,
        read: Callable[[Any], T] = lambda document: document,
    ) -> Reply[T]:
        """Return summaries of records, selected by id or from the history.

        A reply with missing or empty summaries is requested again. An error for a single UID is accepted only if NCBI
        repeats it for this UID alone and a search does not find the UID either; it is never cached.

        Args:
            partial: whether to return a reply that still lacks records, without caching it. By default it is refused
                (reason ``incomplete``).
            read: parses the document that ``parse_esummary`` returns: the root element of XML, or the object of JSON.
        """
        from entrez_kit.services.esummary_reply import read_summaries, write_esummary

        chosen = select_records(ids, webenv, query_key, retstart, retmax)
        params = {
            "db": normalize_database(db),
            **chosen,
            "version": "2.0" if version == "2.0" else None,
            "retmode": retmode,
        }
        expect = expect_document("esummary", retmode)
        reply = self._request(
            "esummary",
            params,
            expect,
            functools.partial(read_summaries, requested_ids=chosen["id"] or [], read=read),
            keep=lambda summaries: not summaries.refused,
            partial=partial,
        )
        summaries, content = reply.value, reply.content
        result = summaries.result
        if self._verify_refused(summaries, params, partial=partial):
            result, content = read(summaries.document), write_esummary(summaries.document)
        whole: Reply[Any] = reply
        return replace(whole, content=content, value=result)

    def _verify_refused(self, summaries: "CheckedSummaries[Any]", params: Mapping[str, Any], *, partial: bool) -> bool:
        """Request the UIDs with errors again, and correct the document.

        Returns:
            Whether the document changed: it got a summary, or lost an error that a search contradicts.

        Raises:
            UpstreamError: a search finds a UID that has an error; with ``partial`` the document loses the error.
        """
        from entrez_kit.services.esummary_reply import find_uids, parse_esummary, remove_summaries, replace_summaries

        unverified = sorted(summaries.refused)
        if not unverified:
            return False
        retmode = params["retmode"]
        expect = expect_document("esummary", retmode)
        described: list[str] = []
        try:
            try:
                retry = self._request(
                    "esummary", {**params, "id": unverified}, expect, parse_esummary, cacheable=False
                ).value
                described = sorted(find_uids(retry).described.intersection(unverified))
                replace_summaries(summaries.document, retry, described)
                unverified = [uid for uid in unverified if uid not in described]
            except EntityNotFound:
                pass
            known = sorted(self.known_uids(params["db"], unverified))
        except (UpstreamError, RateLimited):
            if not partial:
                raise
            known = unverified
        if known and not partial:
            raise UpstreamError(
                f"NCBI sent no summary of {', '.join(known[:5])}, although a search finds the record.",
                details={"reason": "contradiction", "service": self._SERVICE, "endpoint": "esummary"},
            )
        remove_summaries(summaries.document, known)
        return bool(described or known)

    def efetch(
        self,
        *,
        db: str,
        ids: Sequence[str] | None = None,
        webenv: str | None = None,
        query_key: str | None = None,
        retstart: int | None = None,
        retmax: int | None = None,
        rettype: str | None = None,
        retmode: str | None = None,
        strand: int | None = None,
        seq_start: int | None = None,
        seq_stop: int | None = None,
        complexity: int | None = None,
        idtype: str | None = None,
        post: bool = False,
        read: Callable[[bytes], T] | None = None,
        keep: Callable[[T], bool] = accept_any,
        fresh: bool = False,
    ) -> Reply[T]:
        """Return full records, selected by id or from the history, in the format of rettype and retmode.

        Without ``read``, a reply with fewer records than ids is requested again. If NCBI repeats it, for example
        because some ids do not exist, the reply has ``is_complete`` False.

        Args:
            post: send by POST even if the request is short.
            read: parses the reply before it is accepted; replaces the reader that detects truncated flat files.
            keep: returns whether a reply with this value may be cached.
            fresh: send the request even if the reply is cached.
        """
        from entrez_kit.services.efetch_reply import expect_records
        from entrez_kit.services.fetched_records import count_records

        params = {
            "db": normalize_database(db),
            **select_records(ids, webenv, query_key, retstart, retmax),
            "rettype": rettype,
            "retmode": retmode,
            "strand": write_number("strand", strand),
            "seq_start": write_number("seq_start", seq_start),
            "seq_stop": write_number("seq_stop", seq_stop),
            "complexity": write_number("complexity", complexity),
            "idtype": idtype,
        }
        listed = params["id"] or []
        expect = expect_records(db, rettype, retmode, len(set(listed)) or None)

        def send(*, fresh: bool = fresh) -> Reply[T]:
            return self._request("efetch", params, expect, read or expect.read, keep=keep, post=post, fresh=fresh)

        if read is not None or not listed:
            return send()
        count = functools.partial(count_records, pattern=expect.record, may_repeat=len(set(listed)) < len(listed))
        return send_until_complete(send, count, count_page(listed, retstart or 0, retmax))

    def elink(
        self,
        *,
        ids: Sequence[str] | None = None,
        dbfrom: str,
        db: str | None = None,
        cmd: str = "neighbor",
        linkname: str | None = None,
        term: str | None = None,
        holding: str | None = None,
        datetype: str | None = None,
        mindate: str | None = None,
        maxdate: str | None = None,
        reldate: int | None = None,
        webenv: str | None = None,
        query_key: str | None = None,
        retmode: RetMode = "xml",
        idtype: str | None = None,
        deadline_ms: int | None = None,
        read: Callable[[bytes], T] = bytes,  # type: ignore[assignment]  # without a reader the value is bytes
        keep: Callable[[T], bool] = accept_any,
    ) -> Reply[T]:
        """Return the records to which others link: one link set per id, because each id is a separate parameter.

        Without ``read``, a reply without a result for some ids has ``is_complete`` False if NCBI repeats it.

        Args:
            deadline_ms: time limit of this call in place of the setting; links of much cited records can take minutes.
            keep: returns whether a reply with this value may be cached.
        """
        from entrez_kit.services.elink_reply import check_sources

        params = {
            "dbfrom": normalize_database(dbfrom, "dbfrom"),
            "db": normalize_database(db) if db else None,
            "cmd": cmd,
            "linkname": linkname,
            "term": term,
            "holding": holding,
            **select_dates(datetype, mindate, maxdate, reldate),
            **select_records(ids, webenv, query_key, None, None),
            "retmode": retmode,
            "idtype": idtype,
        }
        reader: Callable[[bytes], Any] = read
        if read is bytes:
            reader = functools.partial(check_sources, ids=params["id"] or ())
        return self._request(
            "elink",
            params,
            expect_document("elink", retmode),
            reader,
            keep=keep,
            cacheable=cmd != "neighbor_history",
            deadline_ms=deadline_ms,
            partial=read is bytes,
        )

    def epost(self, *, db: str, ids: Sequence[str], webenv: str | None = None) -> Reply[EPostReply]:
        """Store ids on NCBI's history server."""
        params = {"db": normalize_database(db), "id": check_ids(ids), "WebEnv": webenv}
        return self._request("epost", params, expect_document("epost"), parse_epost, post=True, cacheable=False)

    def espell(self, *, term: str, db: str = "pubmed") -> Reply[ESpellReply]:
        """Return NCBI's spelling correction of a query."""
        params = {"db": normalize_database(db), "term": check_text("term", term)}

        def read(content: bytes) -> ESpellReply:
            spelt = parse_espell(content)
            words, term_words = ({*re.findall(r"\w+", text.casefold())} for text in (spelt.query, term))
            if words and term_words and words.isdisjoint(term_words):
                raise malformed_error("espell", f"it is about {spelt.query[:100]!r} instead of {term[:100]!r}")
            return spelt

        return self._request("espell", params, expect_document("espell"), read)

    def egquery(
        self,
        *,
        term: str,
        deadline_ms: int | None = None,
        read: Callable[[bytes], T] = bytes,  # type: ignore[assignment]  # without a reader the value is bytes
    ) -> Reply[T]:
        """Count the matches of a query in every database. NCBI is reported to have switched it off.

        Args:
            deadline_ms: time limit of this call in place of the setting.
        """
        params = {"term": check_text("term", term)}
        return self._request("egquery", params, expect_document("egquery"), read, deadline_ms=deadline_ms)

    def ecitmatch(
        self,
        *,
        bdata: str,
        db: str = "pubmed",
        read: Callable[[bytes], T] = bytes,  # type: ignore[assignment]  # without a reader the value is bytes
        keep: Callable[[T], bool] = accept_any,
    ) -> Reply[T]:
        """Look up PMIDs of citations, one per line: ``journal|year|volume|first page|author|key|``.

        Without ``read``, a reply without some of the lines has ``is_complete`` False if NCBI repeats it.

        Args:
            bdata: lines separated by carriage returns.
            keep: returns whether a reply with this value may be cached.
        """
        params = {"db": normalize_database(db), "retmode": "xml", "bdata": check_text("bdata", bdata)}
        reader: Callable[[bytes], Any] = read
        if read is bytes:
            reader = functools.partial(check_citations, bdata=bdata)
        return self._request("ecitmatch", params, Expect("text"), reader, keep=keep, partial=read is bytes)

    def _request(
        self,
        endpoint: str,
        params: Mapping[str, Any],
        expect: Expect,
        read: Callable[[bytes], T],
        *,
        keep: Callable[[T], bool] = accept_any,
        **options: Unpack[SendOptions],
    ) -> Reply[T]:
        """Build a request with Bio.Entrez, and send it with the options of ``send_built``."""
        request = ParsedRequest.parse(build_entrez_request(endpoint, params), CREDENTIALS)
        return self.send_built(request, replace(expect, read=read, keep=keep), **options)

    def send_built(
        self,
        request: "Request | ParsedRequest",
        expect: Expect[T],
        *,
        post: bool = False,
        cacheable: bool = True,
        fresh: bool = False,
        deadline_ms: int | None = None,
        partial: bool = False,
        short: list[tuple[bytes, T]] | None = None,
    ) -> Reply[T]:
        """Send a request that Bio.Entrez has built, to the address and with the credentials of the settings.

        Args:
            post: send by POST even if the request is short.
            partial: whether to return an incomplete reply if no attempt gets a complete one; it is not cached.
            short: for programs written before ``partial``: their reader adds each incomplete reply and its value, and
                the last one is returned.
        """
        if not isinstance(request, ParsedRequest):
            request = ParsedRequest.parse(request, CREDENTIALS)
        url, parameters, ids = f"{self._base}/{request.script}", request.parameters, request.ids
        method: Method = "POST" if post or len(ids) > MAX_GET_IDS or self._is_long(url, request.encoded) else "GET"
        uses_history = not parameters.keys().isdisjoint(("usehistory", "webenv", "query_key"))
        is_cacheable = cacheable and self._cached and not uses_history
        call = Call(
            service="eutils",
            endpoint=request.endpoint,
            url=url,
            params=request.params,
            expect=expect,
            method=method,
            encoded=request.encoded,
            ttl=get_ttl(request.endpoint, parameters.get("db")) if is_cacheable else None,
            deadline_ms=deadline_ms,
            fresh=fresh,
        )
        try:
            return self._transport.send(call)
        except UpstreamError as exc:
            if exc.reason != "incomplete":  # a time limit replaces the reason
                raise
            if partial and isinstance(exc, IncompleteReply):
                content, value = exc.content, _read_incomplete(expect, exc.content)
            elif short:
                content, value = short[-1]
            else:
                raise
            return self._build_incomplete(call, content, value, exc)
        except EntityNotFound as exc:
            database = parameters.get("dbfrom") or parameters.get("db") or ""
            if not ids or not all(map(is_uid, ids)) or len(self.known_uids(database, ids)) < len(set(ids)):
                raise
            raise UpstreamError(
                f"{exc.message.rstrip('.')}. A search of {database} finds all of them.",
                details={**exc.details, "reason": "contradiction"},
            ) from None

    def _is_long(self, url: str, encoded: str) -> bool:
        """Return whether the URL of a GET, with credentials, would be too long."""
        credentials = count_credential_characters(self._settings, "eutils", url)
        # Bio.Entrez does not encode a bar; encoded it has three characters.
        return len(url) + 1 + len(encoded) + 2 * encoded.count("|") + credentials > MAX_GET_CHARACTERS

    def _build_incomplete(self, call: Call[T], content: bytes, value: T, error: UpstreamError) -> Reply[T]:
        """Return the incomplete reply of the last attempt, which failed with an error."""
        recording = self._transport.recording
        return Reply(
            content=content,
            value=value,
            url=self._transport.display_url(call),
            method=call.method,
            from_cache=False,
            status=200,
            attempts=error.details["attempts"],
            created=0.0 if recording is None else recording.clock.now().timestamp(),
            content_type=error.reply.content_type if error.reply is not None else "",
            is_complete=False,
        )

    def known_uids(self, db: str, ids: Sequence[str]) -> set[str]:
        """Return the UIDs that a search finds in a database, to confirm the error "no such record".

        A search that finds some of them contradicts the earlier reply, so it is not cached.

        Raises:
            UpstreamError: no attempt got a valid reply.
        """
        uids = list(dict.fromkeys(ids))
        known: set[str] = set()
        for start in range(0, len(uids), MAX_UIDS_PER_SEARCH):
            batch = uids[start : start + MAX_UIDS_PER_SEARCH]
            term = " OR ".join(f"{uid}[UID]" for uid in batch)
            batch_size = str(len(batch))
            params = {
                "db": normalize_database(db),
                "term": term,
                "retmax": batch_size,
                "retstart": "0",
                "retmode": "xml",
            }
            expect = expect_document("esearch")
            reply = self._request(
                "esearch", params, expect, functools.partial(_read_known, batch), keep=lambda found: not found.ids
            )
            known.update(reply.value.ids)
        return known


def expect_document(endpoint: str, retmode: str = "xml") -> Expect:
    """Return the rules for the result document of an endpoint.

    Raises:
        InvalidInput: retmode is neither xml nor json.
    """
    root, key = _DOCUMENTS[endpoint]
    if retmode == "xml":
        return Expect("xml", frozenset({root}))
    if retmode == "json":
        return Expect("json", frozenset({key} - {""}))
    raise wrong_value("retmode", "one of: xml, json", retmode)


def count_page(ids: Sequence[str], start: int, size: int | None) -> int:
    """Return how many different ids the page of a request has that names records by id."""
    count = len(set(ids)) - start
    return max(0, count if size is None else min(size, count))


def send_until_complete(send: Callable[..., Reply[T]], count: Callable[[bytes], int | None], expected: int) -> Reply[T]:
    """Send a request until its reply has the expected number of records, or NCBI repeats a reply that has fewer.

    Text that NCBI cuts between two records looks complete. If it is cut at another place each time, the longest of
    several replies is returned.

    Args:
        send: sends the request; with ``fresh`` even if the reply is cached.
        count: counts the records in a reply; None if its format does not allow it.
        expected: the expected number of records.
    """
    shorter: dict[bytes, int] = {}
    best: Reply[T] | None = None
    while True:
        reply = send(fresh=True) if shorter else send()
        received = count(reply.content)
        if received is None or received >= expected:
            return reply
        is_repeated = reply.content in shorter or reply.from_cache or len(shorter) == MAX_SHORT_REPLIES - 1
        if best is None or received > max(shorter.values()):
            best = replace(reply, is_complete=False)
        shorter[reply.content] = received
        if is_repeated:
            return best


def _read_known(uids: Sequence[str], content: bytes) -> ESearchReply:
    """Parse the reply to a search for UIDs.

    Raises:
        UpstreamError: it lists other UIDs, or fewer than it counts.
    """
    reply = parse_esearch(content)
    check_esearch(reply, retmax=len(uids), among=uids)
    if len(reply.ids) < reply.count:
        raise incomplete_reply_error(
            "esearch", f"{format_count(len(reply.ids), 'id')} of {reply.count}", content, reply
        )
    return reply


def _read_incomplete(expect: Expect[T], content: bytes) -> T:
    """Return the value of an incomplete reply. Callers that share a request do not share its value."""
    try:
        return expect.read(content)
    except IncompleteReply as exc:
        value: T = exc.value
        return value
