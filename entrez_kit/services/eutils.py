"""EUtils: the nine E-utilities. Typed parameters in, checked replies out.

A reply counts, and is cached, once its own reader has read it: that of the caller (``read``), or the one here where
every caller reads alike. What the reader returns is the ``value`` of the reply, so that it is parsed once. What it
lists is held against what was asked for.

A private instance of Bio.Entrez builds and encodes every request, and ``send_built`` sends it. The requests of
`entrez_kit.Entrez` take the same way. Parameters carry NCBI's own names.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, Generic, Literal
from urllib.parse import parse_qsl, urlsplit

from entrez_kit.base.errors import EntityNotFound, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import ANEW, FrontendText
from entrez_kit.base.settings import Settings
from entrez_kit.services.bio_entrez import Acknowledgement, load_entrez
from entrez_kit.services.esearch_reply import ESearchReply, check_esearch, parse_esearch
from entrez_kit.services.service_client import ServiceClient, invalid_argument
from entrez_kit.services.transport import CREDENTIALS, Call, Expect, Format, Method, Reply, T, always
from entrez_kit.services.transport.client import Transport
from entrez_kit.services.transport.policy import credentials_length, ttl_of
from entrez_kit.services.xml_reply import EPostReply, ESpellReply, malformed, parse_epost, parse_espell

if TYPE_CHECKING:
    from urllib.request import Request

MAX_GET_CHARACTERS: Final = 2000
"""Longer addresses go by POST; NCBI asks for that, and proxies cut them."""

MAX_GET_IDS: Final = 100
MAX_UIDS_PER_SEARCH: Final = 200
MAX_RETMAX: Final = 10_000
"""NCBI gives out no more records per request, whatever is asked."""

MAX_PUBMED_RESULTS: Final = 9_999
"""PubMed shows no more of a search."""

DateType = Literal["pdat", "edat", "mdat"]
RetMode = Literal["xml", "json"]

# What EFetch may send for PubMed as XML. Anything else is not an answer: the other databases have many formats.
_DATE: Final = re.compile(r"[0-9]{4}(?:[/-][0-9]{1,2}){0,2}")
_PUBMED_ROOTS: Final = frozenset({"PubmedArticleSet", "PubmedBookArticleSet", "PubmedArticle", "PubmedBookArticle"})
_PUBMED_LIST_ROOTS: Final = frozenset({"IdList", "eFetchResult"})
_PUBMED_RECORD: Final = r"<Pubmed(Book)?Article[\s>]"
_MEDLINE_RECORD: Final = r"(?m)^PMID- "


class EUtils(ServiceClient):
    """The E-utilities as NCBI names them.

    Every method returns the checked reply: its bytes, and as ``value`` what its reader made of them (``read``, given
    the bytes; without one they are the value themselves). All raise alike:

    Raises:
        InvalidInput: an argument makes no sense, or NCBI says so.
        EntityNotFound: none of the ids exist.
        UpstreamError: NCBI did not answer after every attempt.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        NotConfigured: NCBI does not accept the api key.
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
        read: Callable[[bytes], T] = bytes,  # type: ignore[assignment]  # what nobody reads stays bytes
    ) -> Reply[T]:
        """List all databases, or the fields and links of one."""
        params = {"db": _database(db) if db else None, "version": version if db else None, "retmode": retmode}
        return self._ask("einfo", params, _document(retmode, "eInfoResult", "einforesult"), read)

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
        """Search a database: how many records match, and the ids of some of them.

        Args:
            partial: whether a list that stays shorter than NCBI's own count is returned all the same, and not
                cached: the caller says what is missing. Else it is refused (reason ``incomplete``).
            fresh: ask NCBI whatever the cache holds.
        """
        if not term.strip() and not query_key:
            raise invalid_argument("term", "the query is empty", hint="Give at least one search term.")
        if bool(mindate) != bool(maxdate):
            missing = "maxdate" if mindate else "mindate"
            hint = "Give both bounds; 0001 and 3000 stand for open ends."
            raise invalid_argument(missing, "NCBI ignores a date bound that stands alone", hint=hint)
        params = {
            "db": _database(db),
            "term": term,
            "retmax": _number("retmax", retmax),
            "retstart": _number("retstart", retstart),
            "sort": sort,
            "datetype": datetype,
            "mindate": _date("mindate", mindate),
            "maxdate": _date("maxdate", maxdate),
            "reldate": _number("reldate", reldate),
            "field": field,
            "usehistory": "y" if usehistory else None,
            "WebEnv": webenv,
            "query_key": query_key,
            "rettype": rettype,
            "retmode": retmode,
            "idtype": idtype,
        }
        ceiling = MAX_PUBMED_RESULTS - retstart if params["db"] == "pubmed" else MAX_RETMAX

        short: list[tuple[bytes, ESearchReply]] = []

        def read(content: bytes) -> ESearchReply:
            found = parse_esearch(content)
            check_esearch(
                found,
                retmax=retmax,
                retstart=retstart,
                accessions=idtype is not None,
                history=usehistory,
            )
            due = min(retmax, ceiling, found.count - retstart)
            if rettype != "count" and len(found.ids) < due:
                short.append((content, found))
                raise incomplete_reply_error("esearch", f"{len(found.ids)} ids where {due} were due")
            return found

        expect = _document(retmode, "eSearchResult", "esearchresult")
        reply = self._ask(
            "esearch",
            params,
            expect,
            read,
            fresh=fresh,
            deadline_ms=deadline_ms,
            short=short if partial else None,
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
        """Return short summaries of records, named by id or from the history.

        NCBI is asked again for records that it leaves out or sends empty. An error about a single UID is believed
        after NCBI repeats it for this UID alone and a search does not find the UID either; it is never cached.

        Args:
            partial: whether a reply that still lacks records is returned without them, and not cached. By default it
                is refused (reason ``incomplete``).
            read: reads the document as ``parse_esummary`` returns it: the root element of XML, or the object of JSON.
        """
        from entrez_kit.services.esummary_reply import parse_esummary, remove_summaries, uids_of, write_esummary

        chosen = _chosen(ids, webenv, query_key, retstart, retmax)
        params = {"db": _database(db), **chosen, "version": "2.0" if version == "2.0" else None, "retmode": retmode}
        expect = _document(retmode, "eSummaryResult", "result")
        asked = chosen["id"] or []
        due = frozenset(asked) if all(map(is_uid, asked)) else frozenset()
        short: list[tuple[bytes, _Summaries[T]]] = []

        def read_all(content: bytes) -> _Summaries[T]:
            document = parse_esummary(content)
            answered = uids_of(document)
            if (due or not asked) and any(asked.count(uid) < 2 for uid in answered.repeated):
                raise malformed("esummary", "two summaries of one record")
            if due and (foreign := answered.described - due):
                raise malformed("esummary", f"a summary of {min(foreign)}, which was not requested")
            if due and due.isdisjoint(answered.uids | answered.hollow):
                raise malformed("esummary", "summaries of other records than those requested")
            remove_summaries(document, answered.hollow)
            refused = answered.refused & due if due else frozenset(filter(is_uid, answered.refused))
            summaries = _Summaries(document, read(document), refused)
            lacking = due - answered.uids if due else answered.hollow
            if lacking or len(answered.uids) < len(set(asked)):
                short.append((content, summaries))
                raise incomplete_reply_error(
                    "esummary", f"no summary of {', '.join(sorted(lacking)[:5]) or 'some records'}"
                )
            return summaries

        reply = self._ask(
            "esummary",
            params,
            expect,
            read_all,
            keep=lambda summaries: not summaries.refused,
            short=short if partial else None,
        )
        value, content = reply.value.value, reply.content
        if self._verify_refused(reply.value, params, partial=partial):
            value, content = read(reply.value.document), write_esummary(reply.value.document)
        return Reply(
            content,
            value,
            reply.url,
            reply.method,
            reply.from_cache,
            reply.status,
            reply.attempts,
            reply.until,
            reply.created,
        )

    def _verify_refused(self, summaries: "_Summaries[Any]", params: Mapping[str, Any], *, partial: bool) -> bool:
        """Ask NCBI again about the UIDs that a reply has errors for, and correct the document.

        Returns:
            Whether the document changed: it got a summary, or lost an error that a search contradicts.

        Raises:
            UpstreamError: a search finds a UID that has an error; with ``partial`` the document loses the error.
        """
        from entrez_kit.services.esummary_reply import parse_esummary, remove_summaries, replace_summaries, uids_of

        left = sorted(summaries.refused)
        if not left:
            return False
        retmode = params["retmode"]
        expect = _document(retmode, "eSummaryResult", "result")
        described: list[str] = []
        try:
            try:
                again = self._ask("esummary", {**params, "id": left}, expect, parse_esummary, cacheable=False).value
                described = sorted(uids_of(again).described.intersection(left))
                replace_summaries(summaries.document, again, described)
                left = [uid for uid in left if uid not in described]
            except EntityNotFound:
                pass
            known = sorted(self.known_uids(params["db"], left))
        except (UpstreamError, RateLimited):
            if not partial:
                raise
            known = left
        if known and not partial:
            raise UpstreamError(
                f"NCBI sends no summary of {', '.join(known[:5])}, although a search finds the record.",
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
        keep: Callable[[T], bool] = always,
        fresh: bool = False,
    ) -> Reply[T]:
        """Return whole records, named by id or from the history, in the format that rettype and retmode name.

        Args:
            post: ask by POST however short the request is.
            read: reads the reply before it counts, in place of what looks for cut records in flat files.
            keep: tells of a value whether its reply may be cached.
            fresh: ask NCBI whatever the cache holds.
        """
        params = {
            "db": _database(db),
            **_chosen(ids, webenv, query_key, retstart, retmax),
            "rettype": rettype,
            "retmode": retmode,
            "strand": _number("strand", strand),
            "seq_start": _number("seq_start", seq_start),
            "seq_stop": _number("seq_stop", seq_stop),
            "complexity": _number("complexity", complexity),
            "idtype": idtype,
        }
        expect = expect_records(db, rettype, retmode, _distinct(ids))
        return self._ask("efetch", params, expect, read or expect.read, keep=keep, post=post, fresh=fresh)

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
        read: Callable[[bytes], T] = bytes,  # type: ignore[assignment]  # what nobody reads stays bytes
        keep: Callable[[T], bool] = always,
    ) -> Reply[T]:
        """Return the records that others link to: one link set per id, since every id is sent by itself.

        Args:
            keep: tells of a value whether its reply may be cached.
            deadline_ms: limit of this call in place of the setting; some links of famous records take minutes.
        """
        chosen = _chosen(ids, webenv, query_key, None, None)
        params = {
            "dbfrom": _database(dbfrom, "dbfrom"),
            "db": _database(db) if db else None,
            "cmd": cmd,
            "linkname": linkname,
            "term": term,
            "holding": holding,
            "datetype": datetype,
            "mindate": _date("mindate", mindate),
            "maxdate": _date("maxdate", maxdate),
            "reldate": _number("reldate", reldate),
            **chosen,
            "retmode": retmode,
            "idtype": idtype,
        }
        makes_history = cmd == "neighbor_history"
        return self._ask(
            "elink",
            params,
            _document(retmode, "eLinkResult", "linksets"),
            read,
            keep=keep,
            cacheable=not makes_history,
            deadline_ms=deadline_ms,
        )

    def epost(self, *, db: str, ids: Sequence[str], webenv: str | None = None) -> Reply[EPostReply]:
        """Put ids on NCBI's history server."""
        params = {"db": _database(db), "id": _ids(ids), "WebEnv": webenv}
        return self._ask(
            "epost", params, Expect("xml", frozenset({"ePostResult"})), parse_epost, post=True, cacheable=False
        )

    def espell(self, *, term: str, db: str = "pubmed") -> Reply[ESpellReply]:
        """Return NCBI's spelling of a query."""
        params = {"db": _database(db), "term": _words("term", term)}

        def read(content: bytes) -> ESpellReply:
            spelt = parse_espell(content)
            words, asked = ({*re.findall(r"\w+", text.casefold())} for text in (spelt.query, term))
            if words and asked and words.isdisjoint(asked):
                raise malformed("espell", f"it is about {spelt.query[:100]!r} and not about {term[:100]!r}")
            return spelt

        return self._ask("espell", params, Expect("xml", frozenset({"eSpellResult"})), read)

    def egquery(
        self,
        *,
        term: str,
        deadline_ms: int | None = None,
        read: Callable[[bytes], T] = bytes,  # type: ignore[assignment]  # what nobody reads stays bytes
    ) -> Reply[T]:
        """Count the matches of a query in every database. NCBI was reported to have switched it off.

        Args:
            deadline_ms: limit of this call in place of the setting.
        """
        params = {"term": _words("term", term)}
        return self._ask("egquery", params, Expect("xml", frozenset({"Result"})), read, deadline_ms=deadline_ms)

    def ecitmatch(
        self,
        *,
        bdata: str,
        db: str = "pubmed",
        read: Callable[[bytes], T] = bytes,  # type: ignore[assignment]  # what nobody reads stays bytes
        keep: Callable[[T], bool] = always,
    ) -> Reply[T]:
        """Look up PMIDs of citations, one per line: ``journal|year|volume|first page|author|key|``.

        Args:
            keep: tells of a value whether its reply may be cached.
            bdata: lines separated by carriage returns.
        """
        params = {"db": _database(db), "retmode": "xml", "bdata": _words("bdata", bdata)}
        return self._ask("ecitmatch", params, Expect("text"), read, keep=keep)

    def _ask(
        self,
        endpoint: str,
        params: Mapping[str, Any],
        expect: Expect,
        read: Callable[[bytes], T],
        *,
        keep: Callable[[T], bool] = always,
        post: bool = False,
        cacheable: bool = True,
        fresh: bool = False,
        deadline_ms: int | None = None,
        short: list[tuple[bytes, T]] | None = None,
    ) -> Reply[T]:
        """Let Bio.Entrez build a request, and send it.

        Args:
            short: where ``read`` puts the replies that it refuses as incomplete; the last of them is returned, and not
                cached, where no attempt brings a whole one.
        """
        replies: list[Reply[T]] = []

        def urlopen(request: "Request") -> type[Acknowledgement]:
            reply = self.send_built(
                request,
                replace(expect, read=read, keep=keep),
                post=post or endpoint == "epost",
                cacheable=cacheable,
                fresh=fresh,
                deadline_ms=deadline_ms,
                short=short,
            )
            replies.append(reply)
            return Acknowledgement

        token = _urlopen.set(urlopen)
        try:
            getattr(_bio_entrez(), endpoint)(**{name: None if value == "" else value for name, value in params.items()})
        finally:
            _urlopen.reset(token)
        return replies[0]

    def send_built(
        self,
        request: "Request",
        expect: Expect[T],
        *,
        post: bool,
        cacheable: bool = True,
        fresh: bool = False,
        deadline_ms: int | None = None,
        short: list[tuple[bytes, T]] | None = None,
    ) -> Reply[T]:
        """Send a request that Bio.Entrez has built, to the address and with the credentials of the settings.

        Args:
            post: send by POST, however short the request is.
            short: gets the replies that are refused as incomplete; the last of them is returned, and not cached, if
                no attempt brings a whole one.
        """
        address = urlsplit(request.full_url)
        script = address.path.rpartition("/")[2]
        endpoint, url = script.partition(".")[0], f"{self._base}/{script}"
        built = request.data.decode("ascii") if isinstance(request.data, bytes) else address.query
        encoded = "&".join(part for part in built.split("&") if part.partition("=")[0] not in CREDENTIALS)
        params = tuple(parse_qsl(encoded, keep_blank_values=True))
        asked, ids = fold_names(params), list_ids(params)
        # Bio leaves a bar as it is; on the way it has three characters.
        length = (
            len(url) + 1 + len(encoded) + 2 * encoded.count("|") + credentials_length(self._settings, "eutils", url)
        )
        method: Method = "POST" if post or length > MAX_GET_CHARACTERS or len(ids) > MAX_GET_IDS else "GET"
        uses_history = not asked.keys().isdisjoint(("usehistory", "webenv", "query_key"))
        call = Call(
            service="eutils",
            endpoint=endpoint,
            url=url,
            params=params,
            expect=expect,
            method=method,
            encoded=encoded,
            ttl=None if uses_history or not cacheable or not self._cached else ttl_of(endpoint, asked.get("db")),
            deadline_ms=deadline_ms,
            fresh=fresh,
        )
        try:
            return self._transport.send(call)
        except UpstreamError as exc:
            if exc.reason != "incomplete" or not short:
                raise
            content, value = short[-1]
            kind = exc.reply.content_type if exc.reply is not None else ""
            url, attempts = self._transport.display_url(call), exc.details["attempts"]
            return Reply(content, value, url, method, False, 200, attempts, content_type=kind)
        except EntityNotFound as exc:
            database = asked.get("dbfrom") or asked.get("db") or ""
            if not ids or not all(map(is_uid, ids)) or len(self.known_uids(database, ids)) < len(set(ids)):
                raise
            raise UpstreamError(
                f"{exc.message.rstrip('.')}. A search of {database} finds all of them.",
                details={**exc.details, "reason": "contradiction"},
            ) from None

    def known_uids(self, db: str, ids: Sequence[str]) -> set[str]:
        """Tell which UIDs a database has, by searching for them: the second opinion on "no such record".

        A search that finds some of them contradicts the reply before, so it is not cached.

        Raises:
            UpstreamError: NCBI did not answer after every attempt.
        """
        wanted = list(dict.fromkeys(ids))
        known: set[str] = set()
        for start in range(0, len(wanted), MAX_UIDS_PER_SEARCH):
            batch = wanted[start : start + MAX_UIDS_PER_SEARCH]
            term = " OR ".join(f"{uid}[UID]" for uid in batch)
            params = {"db": _database(db), "term": term, "retmax": str(len(batch)), "retstart": "0", "retmode": "xml"}
            expect = _document("xml", "eSearchResult", "esearchresult")
            reply = self._ask("esearch", params, expect, partial(_read_known, batch), keep=_found_none)
            known.update(reply.value.ids)
        return known


_urlopen: ContextVar[Callable[["Request"], Any]] = ContextVar("entrez_kit_urlopen")
"""Sends the request that Bio.Entrez is building in this thread."""


@cache
def _bio_entrez() -> Any:
    """Return the instance of Bio.Entrez that builds requests, one for all threads."""
    entrez: Any = load_entrez(lambda request: _urlopen.get()(request))
    return entrez


def fold_names(params: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return parameters by name in lower case, since NCBI accepts WebEnv and webenv alike."""
    return {name.lower(): value for name, value in params}


def list_ids(params: Sequence[tuple[str, str]]) -> list[str]:
    """Return the ids among parameters, from all that are named ``id`` and from lists with commas."""
    listed = (part.strip() for name, value in params if name.lower() == "id" for part in value.split(","))
    return [uid for uid in listed if uid]


@dataclass(frozen=True, slots=True)
class _Summaries(Generic[T]):
    """An ESummary document, what its reader made of it, and the requested UIDs that it has errors for."""

    document: Any
    value: T
    refused: frozenset[str]


# Arguments ----------------------------------------------------------------------------------------------------------


def _database(name: str, field: str = "db") -> str:
    cleaned = name.strip().lower()
    if not re.fullmatch(r"[a-z0-9_]{1,40}", cleaned):
        hint = "EInfo without a database lists all of them, for example pubmed, gene, taxonomy."
        raise invalid_argument(field, f"{name!r} is no name of an Entrez database", name, hint)
    return cleaned


def _words(field: str, text: str) -> str:
    if not text.strip():
        raise invalid_argument(field, "the text is empty")
    return text


def _number(field: str, value: int | None) -> str | None:
    if value is None:
        return None
    if value < 0:
        raise invalid_argument(field, f"{value} is below 0", value)
    return str(value)


def _date(field: str, text: str | None) -> str | None:
    """Return a date in a form that NCBI reads whole. Of another form it uses the part that it can read."""
    if text and not _DATE.fullmatch(text):
        raise invalid_argument(field, f"{text!r} is not a date", text, "Write YYYY, YYYY/MM or YYYY/MM/DD.")
    return text


def _ids(ids: Iterable[str]) -> list[str]:
    if isinstance(ids, str):
        raise invalid_argument("id", "a list of ids is needed, not a text", ids[:100])
    cleaned = [str(item).strip() for item in ids]
    bad = next((item for item in cleaned if not item or re.search(r"[\s,&]", item)), None)
    if bad is not None:
        problem = f"{bad!r} is no id" if bad else "an id is empty"
        raise invalid_argument("id", problem, bad[:100], "Give every id by itself, without blanks and commas.")
    if not cleaned:
        raise invalid_argument("id", "no ids are given")
    return cleaned


def _chosen(
    ids: Sequence[str] | None,
    webenv: str | None,
    query_key: str | None,
    retstart: int | None,
    retmax: int | None,
) -> dict[str, Any]:
    """Return the parameters that say which records: ids, or a set in the history."""
    if bool(webenv) != bool(query_key):
        missing = "query_key" if webenv else "webenv"
        raise invalid_argument(missing, "webenv and query_key go together", hint="Give both.")
    if ids and webenv:
        raise invalid_argument("id", "give either ids or webenv with query_key, not both")
    if not ids and not webenv:
        raise invalid_argument("id", "give ids, or webenv with query_key")
    if retmax is not None and retmax > MAX_RETMAX:
        problem = f"{retmax} is more than the {MAX_RETMAX:,} records NCBI gives out at a time"
        raise invalid_argument("retmax", problem, retmax, "Page with retstart.")
    return {
        "id": _ids(ids) if ids else None,
        "WebEnv": webenv,
        "query_key": query_key,
        "retstart": _number("retstart", retstart),
        "retmax": _number("retmax", retmax),
    }


def _distinct(ids: Sequence[str] | None) -> int | None:
    return len({str(item).strip() for item in ids}) if ids else None


# Replies ------------------------------------------------------------------------------------------------------------


def _document(retmode: str, root: str, key: str) -> Expect:
    """Return what a result document looks like, in XML or JSON."""
    if retmode not in ("xml", "json"):
        raise invalid_argument("retmode", f"{retmode!r} is neither xml nor json", retmode)
    format_: Format = "json" if retmode == "json" else "xml"
    return Expect(format_, frozenset({key if retmode == "json" else root}))


def expect_records(db: str, rettype: str | None, retmode: str | None, wanted: int | None) -> Expect:
    """Return what EFetch sends for a format; NCBI's defaults differ between databases, so only PubMed is known well."""
    mode, pubmed = (retmode or "").lower(), db.strip().lower() == "pubmed"
    if mode == "xml":
        if not pubmed:
            return Expect("xml")
        if rettype == "uilist":
            return Expect("xml", _PUBMED_LIST_ROOTS)
        return Expect("xml", _PUBMED_ROOTS, wanted, _PUBMED_RECORD)
    if mode in ("html", "asn.1", "native"):
        return Expect("any")
    from entrez_kit.services.flat_files import READERS

    if pubmed and rettype == "medline":
        return Expect("text", frozenset(), wanted, _MEDLINE_RECORD, read=READERS["medline"])
    return Expect("text", read=READERS.get((rettype or "").lower(), bytes))


def _read_known(uids: Sequence[str], content: bytes) -> ESearchReply:
    """Read a search for some UIDs.

    Raises:
        UpstreamError: it lists others, or fewer than it counts.
    """
    found = parse_esearch(content)
    check_esearch(found, retmax=len(uids), among=uids)
    if len(found.ids) < found.count:
        raise incomplete_reply_error("esearch", f"{len(found.ids)} ids of {found.count}")
    return found


def _found_none(found: ESearchReply) -> bool:
    return not found.ids


def incomplete_reply_error(endpoint: str, what: str) -> UpstreamError:
    return UpstreamError(
        f"The {endpoint} reply is incomplete: {what}.",
        recovery_hint=FrontendText(ANEW, "."),
        details={"reason": "incomplete", "endpoint": endpoint},
    )


def is_uid(text: str) -> bool:
    return text.isascii() and text.isdigit()
