"""The Europe PMC web service: search with cursors, full text, citations and references."""

import base64
import hashlib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import RLock
from typing import Any, Final
from urllib.parse import quote, urlencode

from pyroaring import BitMap

from entrez_kit.local.eutils.database import BadRequest, FetchCall
from entrez_kit.local.eutils.pubmed import PubMedDatabase
from entrez_kit.local.eutils.replies import LocalReply, answer_json, answer_text, answer_xml, to_elements
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.sandbox.europepmc_query import BadQuery, parse
from entrez_kit.sandbox.europepmc_records import CorpusShelf, JsonObject, OtherShelf, Shelf, join_authors, to_form
from entrez_kit.sandbox.service_data import EUROPEPMC

VERSION: Final = "6.9"
ADDRESS: Final = "https://www.ebi.ac.uk/europepmc/webservices/rest/search"
MAX_PAGE: Final = 1000
DEFAULT_PAGE: Final = 25
SORTS: Final[dict[str, str]] = EUROPEPMC["sorts"]
"""The sort fields. For any other field, the reply contains only the version."""
NOTHING_SAID: Final = answer_json({"version": VERSION})
_RANKED: Final = ("author", "pub_date")
_FORMS: Final = ("core", "lite", "idlist")
_SORT: Final = re.compile(r"([A-Za-z_]+) (asc|desc)", re.IGNORECASE)
_FULL_TEXT: Final = re.compile(r"((?:PMC|PPR)[0-9]+)/fullTextXML", re.IGNORECASE)
_LINKED: Final = re.compile(r"([A-Z]{3})/([^/]+)/(citations|references)")
_ARTICLE: Final = re.compile(rb"<article[\s>](?:(?!<article[\s>]).)*?</article\s*+>", re.DOTALL)
_CURSOR_BYTES: Final = 4
_MAX_WORDS: Final = 20

Hit = tuple[Shelf, int]
"""A shelf, and the number of a record on it."""


class EuropePMCService:
    """The service for the corpus of the sandbox and the other records of this package."""

    def __init__(self, pubmed: PubMedDatabase) -> None:
        self._lock = RLock()
        self._corpus, self._others = CorpusShelf(pubmed), OtherShelf.load_bundled()
        self._hits: Callable[[str, str], Sequence[Hit]] = lru_cache(maxsize=16)(self._find)

    def answer_search(self, request: LocalRequest, state: LocalState) -> LocalReply:
        """Answer a search. As from the real service, the reply to an invalid parameter contains only the version."""
        query = request.get("query")
        if not query:
            return _answer_error(400, "Invalid query: the query parameter is empty.")
        form = request.get("resultType").lower() or "lite"
        sort = request.get("sort")
        size = request.get_number("pageSize", DEFAULT_PAGE if not request.get("pageSize") else 0)
        cursor = request.get("cursorMark") or "*"
        if form not in _FORMS or size < 1 or (sort and not _is_known_sort(sort)):
            return NOTHING_SAID
        start = _decode_cursor(cursor, query, sort)
        if start is None:
            return NOTHING_SAID
        try:
            with self._lock:
                hits = self._hits(query, sort)
        except BadQuery as exc:
            return _answer_error(400, f"Invalid query syntax: {exc}.")
        page = hits[start : start + min(size, MAX_PAGE)]
        reply: JsonObject = {"version": VERSION, "hitCount": len(hits)}
        end = start + len(page)
        if end < len(hits) or (start and not page):
            following = _encode_cursor(end, query, sort) if page else cursor
            reply["nextCursorMark"] = following
            parameters = {
                "query": query,
                "cursorMark": following,
                "resultType": form,
                "pageSize": size,
                "format": "json",
            }
            reply["nextPageUrl"] = f"{ADDRESS}?{urlencode(parameters, safe='=')}"
        reply["request"] = {
            "queryString": query,
            "resultType": form,
            "cursorMark": quote(cursor, safe=""),  # the service returns this cursor encoded, the next one not
            "pageSize": size,
            "sort": sort,
            "synonym": request.get("synonym").lower() == "true",
        }
        reply["resultList"] = {"result": [to_form(shelf.build_core(number), form) for shelf, number in page]}
        return answer_json(reply) if request.get("format").lower() == "json" else answer_xml(_render_xml(reply))

    def answer_other(self, request: LocalRequest, state: LocalState) -> LocalReply:
        """Answer a request for full text, citations or references; 404 if the article does not exist."""
        if match := _FULL_TEXT.fullmatch(request.rest):
            return self._answer_full_text(match[1].upper(), state)
        if match := _LINKED.fullmatch(request.rest):
            return self._answer_links(match[1], match[2], match[3], request)
        return answer_text("", 404)

    # searching

    def _find(self, query: str, sort: str) -> Sequence[Hit]:
        parsed = parse(query)
        field, _, direction = sort.partition(" ")
        order = SORTS.get(field.upper(), "relevance")
        matches = {shelf: parsed.run(shelf) for shelf in (self._corpus, self._others)}
        others: list[Hit] = [(self._others, number) for number in reversed(matches[self._others])]
        ranked = self._corpus.index.rank(list(matches[self._corpus]), order if order in _RANKED else "")
        hits: list[Hit] = [(self._corpus, number) for number in ranked]
        if order == "author":
            hits = _merge(hits, sorted(others, key=lambda hit: (_get_author(hit), hit[1])), _get_author)
            return hits if direction.lower() == "asc" else hits[::-1]
        if order == "pub_date":
            hits = _merge(hits, others, lambda hit: -hit[0].get_day(hit[1]))
        elif order == "cited":
            hits = sorted(hits + others, key=lambda hit: -hit[0].count_citations(hit[1]))
        else:
            scores = {shelf: _score_words(shelf, parsed.ranking, records) for shelf, records in matches.items()}
            return sorted(hits + others, key=lambda hit: -scores[hit[0]][hit[1]])
        return hits if direction.lower() == "desc" else hits[::-1]

    # full text and links

    def _answer_full_text(self, article_id: str, state: LocalState) -> LocalReply:
        """Return the article as in PMC; 404 if PMC has only its front matter."""
        if article_id.startswith("PPR"):
            text = self._others.find_full_text(article_id)
            return answer_xml(text) if text else answer_text("", 404)
        try:
            fetched = state.databases["pmc"].fetch(
                FetchCall(ids=[article_id.removeprefix("PMC")], rettype="", retmode="xml")
            )
        except BadRequest:
            return answer_text("", 404)
        match = _ARTICLE.search(fetched.body)
        if match is None or not re.search(rb"<body\b", match[0]):
            return answer_text("", 404)
        return LocalReply(b'<?xml version="1.0" encoding="UTF-8"?>\n' + match[0] + b"\n")

    def _answer_links(self, source: str, ext_id: str, direction: str, request: LocalRequest) -> LocalReply:
        size = min(max(request.get_number("pageSize", DEFAULT_PAGE), 1), MAX_PAGE)
        page = max(request.get_number("page", 1), 1)
        corpus = self._corpus.collection
        number = corpus.find_number(ext_id) if source == "MED" else None
        pmids: Sequence[str] = ()
        if number is not None and direction == "citations":
            pmids = corpus.find_citing(ext_id)
        elif number is not None:
            pmids = list(dict.fromkeys(corpus.read_document(number).cited_pmids))
        page_pmids = pmids[(page - 1) * size : page * size]
        entries = [
            self._build_link(pmid, position, direction)
            for position, pmid in enumerate(page_pmids, start=(page - 1) * size + 1)
        ]
        outer, inner = ("citationList", "citation") if direction == "citations" else ("referenceList", "reference")
        return answer_json(
            {
                "version": VERSION,
                "hitCount": len(pmids),
                "request": {"id": ext_id, "source": source, "offSet": (page - 1) * size, "pageSize": size},
                outer: {inner: entries},
            }
        )

    def _build_link(self, pmid: str, position: int, direction: str) -> JsonObject:
        number = self._corpus.collection.find_number(pmid)
        entry: JsonObject = {"id": pmid, "source": "MED", "citationType": "JOURNAL ARTICLE"}
        if number is not None:
            document = self._corpus.collection.read_document(number)
            about: JsonObject = {
                "title": document.title,
                "authorString": join_authors(document),
                "journalAbbreviation": document.journal_iso,
                "pubYear": document.publication_date.number // 10000,
                "volume": document.volume,
                "issue": document.issue,
                "pageInfo": document.pages,
            }
            entry |= {key: value for key, value in about.items() if value}
        if direction == "citations":
            return {**entry, "citedByCount": 0 if number is None else self._corpus.count_citations(number)}
        return {**entry, "citedOrder": position, "match": "Y" if number is not None else "N"}


def _score_words(shelf: Shelf, words: Sequence[str], records: BitMap) -> Counter[int]:
    """Return a score of each record: how many of the words it contains, and in which fields."""
    scores: Counter[int] = Counter()
    for word in words[:_MAX_WORDS]:
        for source, weight in (("title", 4), ("keyword", 2), ("mesh", 2), ("abstract", 1)):
            for number in shelf.index.find_word(source, word) & records:
                scores[number] += weight
    return scores


def _get_author(hit: Hit) -> str:
    return hit[0].get_author(hit[1])


def _merge(hits: list[Hit], others: Sequence[Hit], key: Callable[[Hit], Any]) -> list[Hit]:
    """Insert the few other records into the sorted corpus records; compute only the keys that bisection needs."""
    for hit in reversed(others):
        hits.insert(bisect_left(hits, key(hit), key=key), hit)
    return hits


def _is_known_sort(sort: str) -> bool:
    match = _SORT.fullmatch(sort)
    return match is not None and match[1].upper() in SORTS


def _answer_error(code: int, message: str) -> LocalReply:
    return answer_json({"version": VERSION, "errCode": code, "errMsg": message})


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


def _render_xml(reply: JsonObject) -> str:
    """Render a reply as XML, the default format of the service."""
    elements = re.sub("(?<=[</])(?:isoabbreviation|nlmid|issn|essn)(?=>)", _spell_element, to_elements(reply, 1))
    return f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><responseWrapper>{elements}</responseWrapper>'


def _spell_element(match: "re.Match[str]") -> str:
    spelled: str = EUROPEPMC["spelled"][match[0]]
    return spelled
