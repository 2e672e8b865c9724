"""EuropePMC: search, full text, citations and references of Europe PMC."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Final, Literal
from urllib.parse import quote, unquote, urlencode

from entrez_kit.base.errors import (
    EntityNotFound,
    EntrezKitError,
    InvalidInput,
    NotConfigured,
    UpstreamError,
    wrong_value,
)
from entrez_kit.base.frontend_text import BASE_ADDRESS, Argument, FrontendText, format_count, list_choices
from entrez_kit.base.identifiers import no_pmcid_error
from entrez_kit.services.json_reply import refuse_other_types
from entrez_kit.services.known_shapes import FieldShapes, require_texts
from entrez_kit.services.small_replies import malformed_error, read_whole_number
from entrez_kit.services.transport import TTL, Expect, Reply, T, accept_any
from entrez_kit.services.transport.client import ServiceClient

MAX_PAGE_SIZE: Final = 1000
"""The maximum number of records that Europe PMC returns at a time."""

MAX_GET_LENGTH: Final = 2000
"""Longer searches are sent by POST, to a separate URL of Europe PMC."""

FIRST_PAGE: Final = "*"
SORT_FIELDS: Final = frozenset({"P_PDATE_D", "FIRST_PDATE_D", "PUB_YEAR", "CITED", "AUTH_FIRST"})
"""The sort fields of Europe PMC. Other fields are also sent; if the reply is empty, the error names the field."""

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
    """The client of Europe PMC.

    Every method raises ``NotConfigured`` if EUROPEPMC_ENABLED is false, ``UpstreamError`` if no attempt got a valid
    reply, and ``RateLimited`` if the service refused or no slot is free before the deadline.
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
        """Return a page of a search: its JSON object, with ``hitCount`` and ``resultList``.

        Args:
            query: the query in Europe PMC's syntax. Ids must not be quoted: ``EXT_ID:123 AND SRC:MED``.
            result_type: core has all fields, lite the most important ones, idlist only ids.
            page_size: 1 to 1000.
            cursor_mark: "*" for the first page, then the ``nextCursorMark`` of the previous page.
            sort: field and direction, such as ``CITED desc``; by default relevance.
            synonym: whether to search synonyms of the words too.
            lookups: for a query of ids only, one predicate for each id that returns whether a record has it. A reply
                with another record in place of a requested one is refused.

        Raises:
            InvalidInput: Europe PMC rejects the query, the cursor or the sort.
        """
        self._check_enabled()
        query = " ".join(query.split())
        if not query:
            raise InvalidInput(
                FrontendText(Argument("query"), ": is empty"),
                invalid_input="query=",
                recovery_hint="Give at least one word.",
                details={"reason": "no_query"},
            )
        _check_size(page_size)
        cursor_mark = read_cursor(cursor_mark)
        if sort is not None and not _SORT.fullmatch(sort):
            raise _sort_error(sort)
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
        read = partial(
            read_search_page, cursor_mark=cursor_mark, page_size=page_size, is_id_list=is_id_list, lookups=lookups
        )

        def is_full(page: dict[str, Any]) -> bool:
            expected_count = (
                min(page_size, read_whole_number(str(page["hitCount"])) or 0) if cursor_mark == FIRST_PAGE else 0
            )
            return len(_read_results(page) or ()) >= expected_count

        try:
            return self._request_path(
                "search",
                "searchPOST" if by_post else "search",
                Expect("json", frozenset({"hitCount", "resultList"}), read=read, keep=is_full),
                params=tuple(params),
                method="POST" if by_post else "GET",
                ttl=TTL["europepmc_search"],
            )
        except UpstreamError as exc:
            raise _empty_reply_error(exc, cursor_mark, sort) from None
        except EntityNotFound as exc:
            raise UpstreamError(
                "The address in EUROPEPMC_URL has no Europe PMC search.",
                recovery_hint=BASE_ADDRESS,
                details={**exc.details, "reason": "no_such_address"},
            ) from None

    def fetch_full_text(
        self,
        pmcid: str,
        *,
        read: Callable[[bytes], T] = bytes,  # type: ignore[assignment]  # without a reader the value is bytes
        keep: Callable[[T], bool] = accept_any,
    ) -> Reply[T]:
        """Return the full text of an article as JATS XML.

        Args:
            pmcid: ``PMC123``, or the id of a preprint (``PPR123``): Europe PMC has the full text of some preprints.
            read: parses the reply before it is accepted.
            keep: returns whether a reply with this value may be cached.

        Raises:
            EntityNotFound: Europe PMC has no full text of it.
            InvalidInput: the id has another form.
        """
        self._check_enabled()
        article_id = pmcid.strip().upper()
        if not _FULL_TEXT_ID.fullmatch(article_id):
            raise no_pmcid_error(pmcid)
        roots = frozenset({"article", "pmc-articleset", "book", "book-part-wrapper"})
        expect = Expect("xml", roots, may_be_empty=True, read=read, keep=keep)
        try:
            return self._request_path("fullTextXML", f"{article_id}/fullTextXML", expect, ttl=TTL["europepmc_fulltext"])
        except EntityNotFound as exc:
            raise EntityNotFound(
                f"Europe PMC has no full text of {article_id}.",
                invalid_input=article_id,
                recovery_hint="Europe PMC has the full text of open-access articles only; try the publisher.",
                details={**exc.details, "reason": "no_full_text"},
            ) from None

    def fetch_links(
        self,
        direction: Literal["citations", "references"],
        source: str,
        ext_id: str,
        *,
        page: int = 1,
        page_size: int = 100,
        read: Callable[[bytes], T] = bytes,  # type: ignore[assignment]  # without a reader the value is bytes
    ) -> Reply[T]:
        """Return a page of the citations or references of a record, as JSON with ``hitCount`` and a list.

        Args:
            direction: citations or references.
            source: the collection of the record: MED, PMC, PPR ...
            ext_id: its id in the collection; in MED the PMID.
            page: 1 for the first page.
            page_size: 1 to 1000.
            read: parses the reply before it is accepted.

        Raises:
            EntityNotFound: Europe PMC has no such record.
            InvalidInput: an argument is invalid.
        """
        self._check_enabled()
        _check_size(page_size)
        for name, value, pattern, accepted in (
            ("source", source, _SOURCE, "a source of Europe PMC, such as MED"),
            ("ext_id", ext_id, _EXT_ID, "an id of Europe PMC, such as 35394430"),
        ):
            if not pattern.fullmatch(value):
                raise wrong_value(name, accepted, value)
        if page < 1:
            raise wrong_value("page", "a whole number of 1 or more", page)
        return self._request_path(
            direction,
            f"{source}/{quote(ext_id, safe='')}/{direction}",
            Expect("json", frozenset({"hitCount", "citationList", "referenceList"}), read=read),
            params=(("page", str(page)), ("pageSize", str(page_size)), ("format", "json")),
            ttl=TTL["europepmc_citations"],
        )

    def _check_enabled(self) -> None:
        if not self._settings.europepmc_enabled:
            raise NotConfigured(
                "Europe PMC is switched off: EUROPEPMC_ENABLED=false.",
                recovery_hint="Set EUROPEPMC_ENABLED=true, or unset it, to use Europe PMC.",
                details={"reason": "europepmc_disabled", "setting": "europepmc_enabled"},
            )


_NOTICE: Final = require_texts("id source reference type note")
_RECORD: Final[FieldShapes] = {
    **require_texts("id source pmid pmcid doi title authorString"),
    "pubTypeList": {"pubType": [str]},
    "commentCorrectionList": {"commentCorrection": [_NOTICE]},
}
"""The fields that identify a record, and those that give its publication status."""


def read_search_page(
    content: bytes, *, cursor_mark: str, page_size: int, is_id_list: bool, lookups: Collection[IsMatch]
) -> dict[str, Any]:
    """Parse a page; raise if it contradicts itself or the request. A page after the first may be empty."""
    document: dict[str, Any] = json.loads(content)
    refuse_other_types("Europe PMC search", document, {"resultList": {"result": [_RECORD]}})
    results = _read_results(document)
    count = read_whole_number(str(document.get("hitCount")))
    if count is None or (cursor_mark == FIRST_PAGE and count and not results):
        raise malformed_error("Europe PMC search", "a page without results" if count else "no hit count")
    if not results:
        return document
    records = [record for record in results if isinstance(record, dict)] if isinstance(results, list) else []
    names = [(record.get("source"), record["id"]) for record in records if record.get("id")]
    if not names:
        raise malformed_error("Europe PMC search", "results without ids")
    if len(set(names)) < len(names):
        raise malformed_error("Europe PMC search", "a record that is listed twice")
    for record in records:
        _check_record(record, is_id_list=is_id_list)
    if len(results) > min(page_size, count):
        size = f"{format_count(len(results), 'result')} of {count:,} on a page of {page_size:,}"
        raise malformed_error("Europe PMC search", size)
    is_foreign = any(not any(matches(record) for matches in lookups) for record in records)
    if lookups and is_foreign and not all(any(map(matches, records)) for matches in lookups):
        raise malformed_error("Europe PMC search", "records of other ids than those requested")
    return document


def _check_record(record: Mapping[str, Any], *, is_id_list: bool) -> None:
    """Raise if the ids of a record contradict each other, or it has no content although it must."""
    form, record_id = _IDS.get(str(record.get("source"))), str(record.get("id") or "")
    if record_id and form and not form.fullmatch(record_id):
        raise malformed_error("Europe PMC search", f"{record_id[:40]!r} is not an id of {record['source']}")
    if record.get("source") == "MED" and record.get("pmid") not in (None, "", record_id):
        raise malformed_error(
            "Europe PMC search", f"the record {record_id[:40]} has the PMID {str(record['pmid'])[:40]}"
        )
    if not is_id_list and not record.keys() - _ID_FIELDS:
        raise malformed_error("Europe PMC search", f"the record {record_id[:40]} has no content")


def _read_results(page: dict[str, Any]) -> Any:
    result_list = page.get("resultList")
    return result_list.get("result") if isinstance(result_list, dict) else None


def has_id(record: Mapping[str, Any], kind: Literal["pmid", "pmcid", "doi"], value: str) -> bool:
    """Return whether a record of a search has an id."""
    if kind == "doi":
        return str(record.get("doi") or "").lower() == value.lower()
    source = "MED" if kind == "pmid" else "PMC"
    return value in (record.get(kind), record.get("id") if record.get("source") == source else None)


def read_cursor(cursor_mark: str) -> str:
    """Return a cursor in the form that Europe PMC accepts. Its replies sometimes have URL-encoded cursors.

    Raises:
        InvalidInput: the text is not a cursor.
    """
    cursor = cursor_mark.strip()
    if "%" in cursor:
        cursor = unquote(cursor)
    cursor = cursor.replace(" ", "+")
    if cursor != FIRST_PAGE and not _CURSOR.fullmatch(cursor):
        raise _cursor_error(cursor_mark, "a cursor of Europe PMC")
    return cursor


def _check_size(page_size: int) -> None:
    if not 1 <= page_size <= MAX_PAGE_SIZE:
        raise wrong_value("page_size", f"a whole number from 1 to {MAX_PAGE_SIZE}", page_size)


def _empty_reply_error(error: UpstreamError, cursor_mark: str, sort: str | None) -> EntrezKitError:
    """Return the error for a request whose every reply was empty: most likely an argument is invalid."""
    if not error.details.get("nothing_said") or error.reason == "deadline_exceeded":
        return error
    if sort is not None and not all(key.split()[0].upper() in SORT_FIELDS for key in sort.split(",")):
        return _sort_error(sort, **error.details)
    if cursor_mark != FIRST_PAGE:
        return _cursor_error(cursor_mark, "a cursor of Europe PMC that is not expired", **error.details)
    return error


def _sort_error(sort: str, **details: object) -> InvalidInput:
    accepted = f"{list_choices(sorted(SORT_FIELDS))}, with asc or desc"
    hint = "An example is 'CITED desc'."
    return wrong_value("sort", accepted, sort, hint, **{**details, "reason": "europepmc_sort"})


def _cursor_error(cursor_mark: str, accepted: str, **details: object) -> InvalidInput:
    hint = FrontendText(
        "Give next_cursor of the previous page unchanged. For the first page, omit ", Argument("cursor"), "."
    )
    return wrong_value("cursor", accepted, cursor_mark, hint, **{**details, "reason": "europepmc_cursor"})
