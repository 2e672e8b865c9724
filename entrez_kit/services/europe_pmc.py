"""EuropePMC: search, full text, citations and references of Europe PMC. Checked replies, read once."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Final, Literal
from urllib.parse import quote, unquote, urlencode

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, NotConfigured, UpstreamError
from entrez_kit.base.frontend_text import BASE_ADDRESS, Argument, FrontendText
from entrez_kit.services.json_reply import refuse_other_types
from entrez_kit.services.known_shapes import Fields, texts
from entrez_kit.services.service_client import ServiceClient, invalid_argument, no_pmcid
from entrez_kit.services.transport import Expect, Reply, T, always
from entrez_kit.services.transport.policy import TTL
from entrez_kit.services.xml_reply import malformed, whole_number

MAX_PAGE_SIZE: Final = 1000
"""Europe PMC gives out no more records at a time."""

MAX_GET_LENGTH: Final = 2000
"""Longer searches go by POST, which Europe PMC takes at an address of its own."""

FIRST_PAGE: Final = "*"
SORT_FIELDS: Final = frozenset({"P_PDATE_D", "FIRST_PDATE_D", "PUB_YEAR", "CITED", "AUTH_FIRST"})
"""What Europe PMC sorts by; other fields are passed on, but get the blame when it answers nothing."""

IsMatch = Callable[[dict[str, Any]], bool]
ResultType = Literal["core", "lite", "idlist"]

_CURSOR = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_SORT = re.compile(r"[A-Za-z_]+ (?:asc|desc)(?: ?, ?[A-Za-z_]+ (?:asc|desc))*", re.IGNORECASE)
_FULL_TEXT_ID = re.compile(r"(?:PMC|PPR)[0-9]{1,12}", re.IGNORECASE)
_SOURCE = re.compile(r"[A-Z]{3}")
_IDS: Final = {
    "MED": re.compile(r"[0-9]+"),
    "PMC": re.compile(r"(?:PMC)?[0-9]+"),
    "PPR": re.compile(r"PPR[0-9]+"),
}
"""The form of ids by source."""
_ID_FIELDS: Final = frozenset({"id", "source", "pmid", "pmcid", "doi"})
_EXT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class EuropePMC(ServiceClient):
    """Ask Europe PMC.

    Every method raises ``NotConfigured`` when EUROPEPMC_ENABLED is false, ``UpstreamError`` when there was no answer
    after every attempt, and ``RateLimited`` when the service refused or the wait for a slot would pass the deadline.
    """

    _SERVICE = "europepmc"

    def search(
        self,
        *,
        query: str,
        result_type: ResultType = "core",
        page_size: int = 25,
        cursor_mark: str = FIRST_PAGE,
        sort: str | None = None,
        synonym: bool = False,
        lookups: Collection[IsMatch] = (),
    ) -> Reply[dict[str, Any]]:
        """Return a page of a search: the object of its JSON, with ``hitCount`` and ``resultList``.

        Args:
            query: what to look for, in Europe PMC's own syntax. Ids stay unquoted: ``EXT_ID:123 AND SRC:MED``.
            result_type: core has everything, lite one line per record, idlist the ids.
            page_size: 1 to 1000.
            cursor_mark: "*" for the first page, then the ``nextCursorMark`` of the page before.
            sort: field and direction, such as ``CITED desc``; relevance when not given.
            synonym: whether synonyms of the words are looked for as well.
            lookups: for a query of ids only, one predicate for each id: whether a record has it. A reply with a record
                of another id in the place of a requested one is refused.

        Raises:
            InvalidInput: Europe PMC refuses the query, the cursor or the sort.
        """
        self._check_enabled()
        query = " ".join(query.split())
        if not query:
            raise InvalidInput(
                FrontendText(Argument("query"), ": is empty"),
                invalid_input="query=",
                recovery_hint="Give at least one word.",
            )
        _check_size(page_size)
        cursor_mark = read_cursor(cursor_mark)
        if sort is not None and not _SORT.fullmatch(sort):
            raise _bad_sort(sort)
        params = [
            ("query", query),
            ("resultType", result_type),
            ("format", "json"),
            ("pageSize", str(page_size)),
            ("cursorMark", cursor_mark),
            ("synonym", "true" if synonym else "false"),
            *([("sort", sort)] if sort else []),
        ]
        by_post = len(urlencode(params)) > MAX_GET_LENGTH
        is_id_list = result_type == "idlist"
        read = partial(_read_page, cursor_mark=cursor_mark, page_size=page_size, is_id_list=is_id_list, lookups=lookups)

        def is_full(page: dict[str, Any]) -> bool:
            due = min(page_size, whole_number(str(page["hitCount"])) or 0) if cursor_mark == FIRST_PAGE else 0
            return len(_results(page) or ()) >= due

        try:
            return self._send(
                "search",
                "searchPOST" if by_post else "search",
                Expect("json", frozenset({"hitCount", "resultList"}), read=read, keep=is_full),
                params=tuple(params),
                method="POST" if by_post else "GET",
                ttl=TTL["europepmc_search"],
            )
        except UpstreamError as exc:
            raise _unexplained(exc, cursor_mark, sort) from None
        except EntityNotFound as exc:
            raise UpstreamError(
                "There is no Europe PMC search at the address in EUROPEPMC_URL.",
                recovery_hint=BASE_ADDRESS,
                details={**exc.details, "reason": "no_such_address"},
            ) from None

    def full_text_xml(
        self,
        pmcid: str,
        *,
        read: Callable[[bytes], T] = bytes,  # type: ignore[assignment]  # what nobody reads stays bytes
        keep: Callable[[T], bool] = always,
    ) -> Reply[T]:
        """Return the full text of an article as JATS XML.

        Args:
            pmcid: ``PMC123``; Europe PMC also has the full text of some preprints, by their id (``PPR123``).
            read: reads the reply before it counts.
            keep: tells of a value whether its reply may be cached.

        Raises:
            EntityNotFound: Europe PMC has no full text of it.
            InvalidInput: the id has another form.
        """
        self._check_enabled()
        wanted = pmcid.strip().upper()
        if not _FULL_TEXT_ID.fullmatch(wanted):
            raise no_pmcid(pmcid)
        roots = frozenset({"article", "pmc-articleset", "book", "book-part-wrapper"})
        expect = Expect("xml", roots, may_be_empty=True, read=read, keep=keep)
        try:
            return self._send("fullTextXML", f"{wanted}/fullTextXML", expect, ttl=TTL["europepmc_fulltext"])
        except EntityNotFound as exc:
            raise EntityNotFound(
                f"Europe PMC has no full text of {wanted}.",
                invalid_input=wanted,
                recovery_hint="Europe PMC gives out the full text of open-access articles only; try the publisher.",
                details={**exc.details, "reason": "no_full_text"},
            ) from None

    def linked(
        self,
        what: Literal["citations", "references"],
        source: str,
        ext_id: str,
        *,
        page: int = 1,
        page_size: int = 100,
        read: Callable[[bytes], T] = bytes,  # type: ignore[assignment]  # what nobody reads stays bytes
    ) -> Reply[T]:
        """Return a page of the works that cite a record, or of those it cites, as JSON with ``hitCount`` and a list.

        Args:
            what: which of them.
            source: the collection the record belongs to: MED, PMC, PPR ...
            ext_id: its id there; of MED the PMID.
            page: 1 for the first.
            page_size: 1 to 1000.
            read: reads the reply before it counts.

        Raises:
            EntityNotFound: there is no such record.
            InvalidInput: an argument is not well formed.
        """
        self._check_enabled()
        _check_size(page_size)
        for name, value, pattern in (("source", source, _SOURCE), ("ext_id", ext_id, _EXT_ID)):
            if not pattern.fullmatch(value):
                raise invalid_argument(name, f"{value[:100]!r} is none of Europe PMC's", value[:100])
        if page < 1:
            raise invalid_argument("page", f"{page} is less than 1", page)
        return self._send(
            what,
            f"{source}/{quote(ext_id, safe='')}/{what}",
            Expect("json", frozenset({"hitCount", "citationList", "referenceList"}), read=read),
            params=(("page", str(page)), ("pageSize", str(page_size)), ("format", "json")),
            ttl=TTL["europepmc_citations"],
        )

    def _check_enabled(self) -> None:
        if not self._settings.europepmc_enabled:
            raise NotConfigured(
                "Europe PMC is switched off: EUROPEPMC_ENABLED=false.",
                recovery_hint="Set EUROPEPMC_ENABLED=true, or unset it, to ask Europe PMC.",
                details={"reason": "europepmc_disabled", "setting": "europepmc_enabled"},
            )


_NOTICE: Final = texts("id source reference type note")
_RECORD: Final[Fields] = {
    **texts("id source pmid pmcid doi title authorString"),
    "pubTypeList": {"pubType": [str]},
    "commentCorrectionList": {"commentCorrection": [_NOTICE]},
}
"""The fields by which a record is told from others, and by which it is known how the work stands."""


def _read_page(
    content: bytes, *, cursor_mark: str, page_size: int, is_id_list: bool, lookups: Collection[IsMatch]
) -> dict[str, Any]:
    """Refuse a page that contradicts itself or the request; a page past the first may be empty."""
    document: dict[str, Any] = json.loads(content)
    refuse_other_types("Europe PMC search", document, {"resultList": {"result": [_RECORD]}})
    results = _results(document)
    count = whole_number(str(document.get("hitCount")))
    if count is None or (cursor_mark == FIRST_PAGE and count and not results):
        raise malformed("Europe PMC search", "a page without results" if count else "no number of hits")
    if not results:
        return document
    records = [record for record in results if isinstance(record, dict)] if isinstance(results, list) else []
    names = [(record.get("source"), record["id"]) for record in records if record.get("id")]
    if not names:
        raise malformed("Europe PMC search", "results without ids")
    if len(set(names)) < len(names):
        raise malformed("Europe PMC search", "a record that is listed twice")
    for record in records:
        form, own = _IDS.get(str(record.get("source"))), str(record.get("id") or "")
        if own and form and not form.fullmatch(own):
            raise malformed("Europe PMC search", f"{own[:40]!r} is not an id of {record['source']}")
        if record.get("source") == "MED" and record.get("pmid") not in (None, "", own):
            raise malformed("Europe PMC search", f"the record {own[:40]} has the PMID {str(record['pmid'])[:40]}")
        if not is_id_list and not record.keys() - _ID_FIELDS:
            raise malformed("Europe PMC search", f"the record {own[:40]} has no content")
    if len(results) > min(page_size, count):
        raise malformed("Europe PMC search", f"{len(results)} results of {count} on a page of {page_size}")
    is_foreign = any(not any(matches(record) for matches in lookups) for record in records)
    if lookups and is_foreign and not all(any(map(matches, records)) for matches in lookups):
        raise malformed("Europe PMC search", "records of other ids than those requested")
    return document


def _results(page: dict[str, Any]) -> Any:
    listed = page.get("resultList")
    return listed.get("result") if isinstance(listed, dict) else None


def has_id(record: Mapping[str, Any], kind: Literal["pmid", "pmcid", "doi"], value: str) -> bool:
    """Tell whether a record of a search has an id."""
    if kind == "doi":
        return str(record.get("doi") or "").lower() == value.lower()
    source = "MED" if kind == "pmid" else "PMC"
    return value in (record.get(kind), record.get("id") if record.get("source") == source else None)


def read_cursor(cursor_mark: str) -> str:
    """Return a cursor as Europe PMC takes it, however it was copied: it writes its own URL-encoded in places.

    Raises:
        InvalidInput: the text cannot be a cursor.
    """
    cursor = cursor_mark.strip()
    if "%" in cursor:
        cursor = unquote(cursor)
    cursor = cursor.replace(" ", "+")
    if cursor != FIRST_PAGE and not _CURSOR.fullmatch(cursor):
        raise _bad_cursor(cursor_mark, "is no cursor of Europe PMC")
    return cursor


def _check_size(page_size: int) -> None:
    if not 1 <= page_size <= MAX_PAGE_SIZE:
        raise invalid_argument("page_size", f"{page_size} is not within 1 to {MAX_PAGE_SIZE}", page_size)


def _unexplained(error: UpstreamError, cursor_mark: str, sort: str | None) -> EntrezKitError:
    """Return the error for a reply that held nothing, every time it was asked for: most likely an argument is wrong."""
    if not error.details.get("nothing_said") or error.reason == "deadline_exceeded":
        return error
    if sort is not None and not all(key.split()[0].upper() in SORT_FIELDS for key in sort.split(",")):
        return _bad_sort(sort, **error.details)
    if cursor_mark != FIRST_PAGE:
        what = "is answered with nothing every time: it is wrong, or out of date"
        return _bad_cursor(cursor_mark, what, **error.details)
    return error


def _bad_sort(sort: str, **details: object) -> InvalidInput:
    hint = f"Give one of {', '.join(sorted(SORT_FIELDS))} with asc or desc, such as 'CITED desc'."
    problem = f"{sort[:100]!r} is nothing Europe PMC sorts by"
    return invalid_argument("sort", problem, sort[:100], hint, **{**details, "reason": "europepmc_sort"})


def _bad_cursor(cursor_mark: str, what: str, **details: object) -> InvalidInput:
    hint = "Start again with '*' and pass on the next_cursor of the page before."
    problem = f"{cursor_mark[:100]!r} {what}"
    return invalid_argument("cursor", problem, cursor_mark[:100], hint, **{**details, "reason": "europepmc_cursor"})
