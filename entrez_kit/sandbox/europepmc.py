"""The Europe PMC web service: search with cursors, full text, citations and references."""

import base64
import hashlib
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from threading import RLock
from typing import Any, Final
from urllib.parse import quote, urlencode

from pyroaring import BitMap

from entrez_kit.local.eutils.database import BadRequest, FetchCall
from entrez_kit.local.eutils.pubmed import PubMedDatabase
from entrez_kit.local.eutils.replies import LocalReply, document, plain, xml
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.local.records.document import Document
from entrez_kit.query.sorted_index import score_words
from entrez_kit.query.words import fold
from entrez_kit.sandbox.europepmc_query import BadQuery, Parsed, parse
from entrez_kit.sandbox.europepmc_records import CorpusShelf, OtherShelf, Record, to_form, to_number

VERSION: Final = "6.9"
ADDRESS: Final = "https://www.ebi.ac.uk/europepmc/webservices/rest/search"
MAX_PAGE: Final = 1000
DEFAULT_PAGE: Final = 25
SORTS: Final = {
    "P_PDATE_D": "pub_date",
    "FIRST_PDATE_D": "pub_date",
    "PUB_YEAR": "pub_date",
    "AUTH_FIRST": "Author",
    "CITED": "cited",
}
"""The sort fields. For any other field, the reply contains only the version."""
NOTHING_SAID: Final = document({"version": VERSION})
_FORMS: Final = ("core", "lite", "idlist")
_SORT: Final = re.compile(r"([A-Za-z_]+) (asc|desc)", re.IGNORECASE)
_FULL_TEXT: Final = re.compile(r"((?:PMC|PPR)[0-9]+)/fullTextXML", re.IGNORECASE)
_LINKED: Final = re.compile(r"([A-Z]{3})/([^/]+)/(citations|references)")
_ARTICLE: Final = re.compile(rb"<article[\s>](?:(?!<article[\s>]).)*?</article\s*+>", re.DOTALL)
_CURSOR_BYTES: Final = 4

Hit = tuple[bool, int]
"""Whether a record belongs to the corpus, and its number on its shelf."""


class EuropePMCService:
    """The service for the corpus of the sandbox and the other records of this package."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._corpus: CorpusShelf | None = None
        self._hits: Callable[[str, str], Sequence[Hit]] = lru_cache(maxsize=16)(self._find)

    def search(self, request: LocalRequest, state: LocalState) -> LocalReply:
        """Answer a search. As from the real service, the reply to an invalid parameter contains only the version."""
        query = request.get("query")
        if not query:
            return _error_reply(400, "Invalid query: the query parameter is empty.")
        form = request.get("resultType").lower() or "lite"
        sort = request.get("sort")
        size = request.number("pageSize", DEFAULT_PAGE if not request.get("pageSize") else 0)
        cursor = request.get("cursorMark") or "*"
        if form not in _FORMS or size < 1 or (sort and not _is_known_sort(sort)):
            return NOTHING_SAID
        start = _decode_cursor(cursor, query, sort)
        if start is None:
            return NOTHING_SAID
        try:
            with self._lock:
                self._open(state)
                hits = self._hits(query, sort)
        except BadQuery as exc:
            return _error_reply(400, f"Invalid query syntax: {exc}.")
        page = hits[start : start + min(size, MAX_PAGE)]
        reply: Record = {"version": VERSION, "hitCount": len(hits)}
        end = start + len(page)
        if end < len(hits) or (start and not page):
            following = _encode_cursor(end, query, sort) if page else cursor
            reply["nextCursorMark"] = following
            asked = {"query": query, "cursorMark": following, "resultType": form, "pageSize": size, "format": "json"}
            reply["nextPageUrl"] = f"{ADDRESS}?{urlencode(asked, safe='=')}"
        reply["request"] = {
            "queryString": query,
            "resultType": form,
            "cursorMark": quote(cursor, safe=""),  # the service returns this cursor encoded, the next one not
            "pageSize": size,
            "sort": sort,
            "synonym": request.get("synonym").lower() == "true",
        }
        reply["resultList"] = {"result": [to_form(self._get_core(hit), form) for hit in page]}
        return document(reply) if request.get("format").lower() == "json" else xml(_render_xml(reply))

    def other(self, request: LocalRequest, state: LocalState) -> LocalReply:
        """Answer a request for full text, citations or references; 404 if the article does not exist."""
        with self._lock:
            self._open(state)
        if match := _FULL_TEXT.fullmatch(request.rest):
            return self._answer_full_text(match[1].upper(), state)
        if match := _LINKED.fullmatch(request.rest):
            return self._answer_links(match[1], match[2], match[3], request)
        return plain("", 404)

    @cached_property
    def _others(self) -> OtherShelf:
        return OtherShelf.load_bundled()

    def _open(self, state: LocalState) -> None:
        pubmed = state.databases.get("pubmed")
        if self._corpus is None and isinstance(pubmed, PubMedDatabase):
            self._corpus = CorpusShelf(pubmed)

    # searching

    def _get_core(self, hit: Hit) -> Record:
        in_corpus, number = hit
        if in_corpus and self._corpus is not None:
            return self._corpus.build_core(number)
        return self._others.build_core(number)

    def _find(self, query: str, sort: str) -> Sequence[Hit]:
        parsed = parse(query)
        field, direction = _SORT.fullmatch(sort).groups() if sort else ("", "desc")  # type: ignore[union-attr]
        others = list(parsed.run(self._others)) if self._others.size else []
        numbers = list(parsed.run(self._corpus)) if self._corpus is not None else []
        order = SORTS.get(field.upper(), "relevance")
        if order == "Author":
            merged = self._merge(
                self._rank(numbers, "Author"), sorted(others, key=self._get_first_author), self._get_author_key
            )
            return merged if direction.lower() == "asc" else merged[::-1]
        if order == "pub_date":
            newest = self._merge(self._rank(numbers, "pub_date"), others[::-1], self._get_day_key)
        elif order == "cited":
            both: list[Hit] = [*self._rank(numbers, ""), *((False, number) for number in others[::-1])]
            newest = sorted(both, key=lambda hit: -self._count_citations(hit))
        else:
            return self._sort_by_relevance(numbers, others, parsed)
        return newest if direction.lower() == "desc" else newest[::-1]

    def _rank(self, numbers: Sequence[int], order: str) -> list[Hit]:
        if self._corpus is None:
            return []
        return [(True, number) for number in self._corpus.index.rank(numbers, order)]

    def _sort_by_relevance(self, numbers: Sequence[int], others: Sequence[int], parsed: Parsed) -> Sequence[Hit]:
        hits = [*self._rank(numbers, ""), *((False, number) for number in reversed(others))]
        scores = {False: score_words(self._others.index, parsed.ranking, BitMap(others))}
        if self._corpus is not None:
            scores[True] = score_words(self._corpus.index, parsed.ranking, BitMap(numbers))
        return sorted(hits, key=lambda hit: -scores[hit[0]][hit[1]])

    def _merge(self, hits: list[Hit], others: Sequence[int], key: Callable[[Hit], Any]) -> list[Hit]:
        """Insert the few other records into the sorted corpus records; compute only the keys that bisection needs."""
        for number in reversed(others):
            hit = (False, number)
            hits.insert(bisect_left(hits, key(hit), key=key), hit)
        return hits

    def _get_day_key(self, hit: Hit) -> int:
        in_corpus, number = hit
        if not in_corpus:
            return -to_number(self._others.build_core(number)["firstPublicationDate"])
        assert self._corpus is not None
        found = self._corpus.collection.document(number)
        return -(found.publication_date.number or found.event("pubmed", "entrez").number)

    def _get_author_key(self, hit: Hit) -> str:
        in_corpus, number = hit
        if not in_corpus:
            return self._get_first_author(number)
        assert self._corpus is not None
        authors = self._corpus.collection.document(number).authors
        return fold(authors[0].short) if authors else "\uffff"

    def _get_first_author(self, number: int) -> str:
        return fold(str(self._others.build_core(number).get("authorString") or "\uffff"))

    def _count_citations(self, hit: Hit) -> int:
        in_corpus, number = hit
        if in_corpus and self._corpus is not None:
            return self._corpus.count_citations(number)
        return self._others.count_citations(number)

    # full text and links

    def _answer_full_text(self, wanted: str, state: LocalState) -> LocalReply:
        """Return the article as in PMC; 404 if PMC has only its front matter."""
        if wanted.startswith("PPR"):
            text = self._others.full_text(wanted)
            return xml(text) if text else plain("", 404)
        database = state.databases.get("pmc")
        if database is None:
            return plain("", 404)
        try:
            fetched = database.fetch(FetchCall(ids=[wanted.removeprefix("PMC")], rettype="", retmode="xml"))
        except BadRequest:
            return plain("", 404)
        found = _ARTICLE.search(fetched.body)
        if found is None or not re.search(rb"<body\b", found[0]):
            return plain("", 404)
        return LocalReply(b'<?xml version="1.0" encoding="UTF-8"?>\n' + found[0] + b"\n")

    def _answer_links(self, source: str, ext_id: str, what: str, request: LocalRequest) -> LocalReply:
        size = min(max(request.number("pageSize", DEFAULT_PAGE), 1), MAX_PAGE)
        page = max(request.number("page", 1), 1)
        corpus = self._corpus.collection if self._corpus is not None else None
        number = corpus.number(ext_id) if corpus is not None and source == "MED" else None
        pmids: Sequence[str] = ()
        if corpus is not None and number is not None:
            pmids = (
                corpus.cited_by(ext_id)
                if what == "citations"
                else list(dict.fromkeys(corpus.document(number).cited_pmids))
            )
        shown = pmids[(page - 1) * size : page * size]
        entries = [self._build_link(pmid, place, what) for place, pmid in enumerate(shown, start=(page - 1) * size + 1)]
        outer, inner = ("citationList", "citation") if what == "citations" else ("referenceList", "reference")
        return document(
            {
                "version": VERSION,
                "hitCount": len(pmids),
                "request": {"id": ext_id, "source": source, "offSet": (page - 1) * size, "pageSize": size},
                outer: {inner: entries},
            }
        )

    def _build_link(self, pmid: str, place: int, what: str) -> Record:
        assert self._corpus is not None
        number = self._corpus.collection.number(pmid)
        entry: Record = {"id": pmid, "source": "MED", "citationType": "JOURNAL ARTICLE"}
        if number is not None:
            found: Document = self._corpus.collection.document(number)
            about: Record = {
                "title": found.title,
                "authorString": f"{', '.join(author.short for author in found.authors)}." if found.authors else "",
                "journalAbbreviation": found.journal_iso,
                "pubYear": found.publication_date.number // 10000,
                "volume": found.volume,
                "issue": found.issue,
                "pageInfo": found.pages,
            }
            entry |= {key: value for key, value in about.items() if value}
        if what == "citations":
            cited = 0 if number is None else self._corpus.count_citations(number)
            return {**entry, "citedByCount": cited}
        return {**entry, "citedOrder": place, "match": "Y" if number is not None else "N"}


def _is_known_sort(sort: str) -> bool:
    match = _SORT.fullmatch(sort)
    return match is not None and match[1].upper() in SORTS


def _error_reply(code: int, words: str) -> LocalReply:
    return document({"version": VERSION, "errCode": code, "errMsg": words})


# A cursor contains the position and a hash of the search. As in the real service, a cursor works only for its search.


def _hash_search(query: str, sort: str) -> bytes:
    return hashlib.sha256(f"{sort}\n{query}".encode()).digest()[:_CURSOR_BYTES]


def _encode_cursor(end: int, query: str, sort: str) -> str:
    return base64.b64encode(b"\x02\x82\x08" + _hash_search(query, sort) + end.to_bytes(_CURSOR_BYTES, "big")).decode(
        "ascii"
    )


def _decode_cursor(cursor: str, query: str, sort: str) -> int | None:
    """Return the number of records before a cursor; None if the cursor belongs to another search."""
    if cursor == "*":
        return 0
    try:
        data = base64.b64decode(cursor.replace(" ", "+"), validate=True)
    except ValueError:
        return None
    if len(data) != 3 + 2 * _CURSOR_BYTES or data[3 : 3 + _CURSOR_BYTES] != _hash_search(query, sort):
        return None
    return int.from_bytes(data[-_CURSOR_BYTES:], "big")


def _render_xml(reply: Record) -> str:
    """Render a reply as XML, the default format of the service."""
    from entrez_kit.local.records.text import xml_text

    spelled = {"isoabbreviation": "ISOAbbreviation", "nlmid": "NLMid", "issn": "ISSN", "essn": "ESSN"}

    def element(name: str, value: Any) -> str:
        if isinstance(value, list):
            return "".join(element(name, item) for item in value)
        tag = spelled.get(name, name)
        if isinstance(value, dict) and set(value) == {"type", "value"}:
            return f'<{tag} type="{value["type"]}">{xml_text(value["value"])}</{tag}>'
        inner = "".join(element(*pair) for pair in value.items()) if isinstance(value, dict) else xml_text(value)
        return f"<{tag}>{inner}</{tag}>"

    body = "".join(element(name, value) for name, value in reply.items())
    return f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><responseWrapper>{body}</responseWrapper>'
