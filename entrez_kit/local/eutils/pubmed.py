"""The PubMed database over a collection of records."""

import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import Any, Final, overload

from pyroaring import BitMap

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import join_with
from entrez_kit.local.eutils import medline, summaries
from entrez_kit.local.eutils.database import (
    BadRequest,
    Database,
    FetchCall,
    LinkInfo,
    SearchCall,
    SearchOutcome,
)
from entrez_kit.local.eutils.entrez_data import DATA
from entrez_kit.local.eutils.mesh import read_demo_vocabulary
from entrez_kit.local.eutils.replies import LocalReply, answer_text, answer_xml
from entrez_kit.local.records.collection import RecordCollection
from entrez_kit.local.records.document import Document
from entrez_kit.local.records.sort_orders import NEWEST, RELEVANCE, SORT_TEXTS, SORTS
from entrez_kit.query import dates
from entrez_kit.query.fields import FIELDS, Field
from entrez_kit.query.mesh import Vocabulary
from entrez_kit.query.names import find_names
from entrez_kit.query.search import DateLimit, QueryMatches, search
from entrez_kit.query.units import Fidelity
from entrez_kit.query.words import normalize

CEILING: Final = 9_999
ARTICLE_SET: Final = (
    '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n<PubmedArticleSet>'
)
_FIVE: Final = 5
_REVIEW: Final = "review"


class Pmids(Sequence[str]):
    """PMIDs of numbered records, stored as record numbers to save memory."""

    def __init__(self, collection: RecordCollection, numbers: Iterable[int]) -> None:
        self.collection = collection
        self.numbers = array("I", numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        """Return one id, or the ids of a slice."""
        return (
            self._read_ids(self.numbers[index])
            if isinstance(index, slice)
            else self._read_ids([self.numbers[index]])[0]
        )

    def _read_ids(self, numbers: Sequence[int]) -> Sequence[str]:
        return self.collection.get_pmids(numbers)


class PubMedDatabase(Database):
    """PubMed for any collection: its query language, summaries, formats and links.

    Args:
        collection: the records.
        read_vocabulary: returns MeSH, the journals and the filters of these records.
        is_copy: whether the records are a copy of PubMed. A copy refuses a query that it cannot answer as PubMed does,
            names the fidelity of its answers, and ranks with BM25. Otherwise unknown parts of a query are ignored, as
            PubMed ignores them.
    """

    name = "pubmed"
    menu = "PubMed"
    description = "PubMed bibliographic record"
    ceiling = CEILING
    summary_dtd = "20160808"
    links: Sequence[LinkInfo] = tuple(LinkInfo(**link) for link in DATA["links"])

    def __init__(
        self,
        collection: RecordCollection,
        read_vocabulary: Callable[[], Vocabulary] = read_demo_vocabulary,
        *,
        is_copy: bool = False,
        build: str = Database.build,
        updated: date | None = None,
    ) -> None:
        self.collection = collection
        self.build, self.updated = build, updated
        self._is_copy = is_copy
        self._read_vocabulary = read_vocabulary

    @property
    def count(self) -> int:
        """Number of records."""
        return self.collection.size

    def search(self, request: SearchCall) -> SearchOutcome:
        """Find records in PubMed's query language.

        Raises:
            BadRequest: the query names a history set that does not exist, or needs data that no record contains.
            InvalidInput: a copy cannot answer the query or the order.
        """

        def find_earlier(number: int) -> BitMap:
            ids = request.history(number)
            if ids is None:
                raise BadRequest(f"Unable to obtain query #{number}")
            return self._to_set(ids)

        today = date.today()
        span = _parse_range(request, today)
        try:
            matches = search(
                request.term,
                self.collection.index,
                self._read_vocabulary(),
                history=find_earlier,
                field=request.field,
                limit=None if span is None else DateLimit(request.datetype or "pdat", *span),
                today=today,
                lenient=not self._is_copy,
            )
        except InvalidInput as exc:
            if self._is_copy:
                raise
            raise BadRequest(exc.message) from exc
        resolved = matches.resolved
        order = SORTS.get((request.sort or "").replace("+", " ").strip().lower())
        if request.sort and (order is None or not self._has_order(order)):
            if self._is_copy:
                raise unknown_order_error(request.sort)
            resolved.messages.append(f"Unknown sort schema '{request.sort}' ignored")
        most = CEILING if request.ordered is None else min(request.ordered, CEILING)
        if not most:
            order = None
        ids = Pmids(
            self.collection,
            self._sort_found(matches, order or NEWEST, most) if most else matches.records.to_array(),
        )
        return SearchOutcome(
            ids=ids,
            translation=matches.translation,
            resolved=resolved,
            fidelity=_describe_fidelity(matches, order) if self._is_copy else "",
        )

    def _to_set(self, ids: Sequence[str]) -> BitMap:
        if isinstance(ids, Pmids):
            return BitMap(ids.numbers)
        numbers = (self.collection.find_number(pmid) for pmid in ids)
        return BitMap([number for number in numbers if number is not None])

    def _has_order(self, order: str) -> bool:
        """Return whether the index has the texts of an order. One that an older version wrote may lack them."""
        return order not in SORT_TEXTS or self.collection.index.has_sort_texts(order)

    def _sort_found(self, matches: QueryMatches, order: str, limit: int) -> Sequence[int]:
        """Return the records found: the first ``limit`` in order, the others in any order."""
        index, words = self.collection.index, list(matches.resolved.ranking)
        if order != RELEVANCE or not words:
            return index.rank(matches.records.to_array(), order)
        best = [number for number, _ in index.rank_by_relevance(words, matches.records, limit)]
        return array("I", best) + (matches.records - BitMap(best)).to_array()

    def _find_number(self, uid: str) -> int | None:
        pmid = self.to_canonical(uid)
        return None if pmid is None else self.collection.find_number(pmid)

    def build_summary(self, uid: str) -> Mapping[str, Any] | None:
        """Return the version 2 summary."""
        return self._summarize(uid, summaries.build_summary)

    def build_docsum(self, uid: str) -> Mapping[str, Any] | None:
        """Return the version 1 summary."""
        return self._summarize(uid, summaries.build_docsum)

    def _summarize(self, uid: str, build: Callable[[Document, int], Mapping[str, Any]]) -> Mapping[str, Any] | None:
        number = self._find_number(uid)
        if number is None:
            return None
        document = self.collection.read_document(number)
        return build(document, len(self.collection.find_citing(document.pmid)))

    def fetch(self, request: FetchCall) -> LocalReply:
        """Return records as XML, MEDLINE, abstracts or a list of PMIDs; unknown PMIDs are omitted.

        Raises:
            BadRequest: no id is a valid PMID.
        """
        pmids = self.to_canonical_ids(request.ids)
        numbers = [number for pmid in pmids if (number := self.collection.find_number(pmid)) is not None]
        if request.rettype == "uilist":
            found = [self.collection.get_pmid(number) for number in numbers]
            if request.retmode in ("", "xml"):
                ids = "".join(f"\n\t<Id>{pmid}</Id>" for pmid in found)
                return answer_xml(f'<?xml version="1.0" ?>\n<IdList>{ids}\n</IdList>\n')
            return answer_text("".join(f"{pmid}\n" for pmid in found))
        if request.rettype == "medline":
            return answer_text("".join(self._render_medline(place, pmid) for place, pmid in enumerate(pmids, start=1)))
        if request.rettype == "abstract" and request.retmode == "text":
            texts = (
                medline.render_abstract(self.collection.read_document(number), i)
                for i, number in enumerate(numbers, start=1)
            )
            return answer_text("\n\n".join(texts))
        parts = [ARTICLE_SET.encode("utf-8")]
        parts += [b"\n" + self.collection.read_raw(number) for number in numbers]
        return LocalReply(b"".join([*parts, b"</PubmedArticleSet>"]))

    def _render_medline(self, position: int, pmid: str) -> str:
        """Return the MEDLINE text of a record, or NCBI's error message for an unknown PMID."""
        number = self.collection.find_number(pmid)
        if number is None:
            return f"\n{position}. id: {pmid} Error occurred: The following PMID is not available: {pmid}\n"
        return "\n" + medline.render_medline(self.collection.read_document(number))

    def list_fields(self) -> Sequence[tuple[Field, int]]:
        """Return the search fields that EInfo lists, with their numbers of terms."""
        index = self.collection.index

        def count(field: Field, source: str) -> int:
            return len(index.list_words(source) if field.kind == "text" else index.list_values(source))

        return [(field, sum(count(field, source) for source in field.sources)) for field in FIELDS]

    def find_links(self, link: str, uid: str) -> Sequence[tuple[str, int]]:
        """Return the ids of the linked records, each with its score."""
        number = self._find_number(uid)
        if number is None:
            return ()
        pmid = self.collection.get_pmid(number)
        if link == "pubmed_pmc":
            pmcid = self.collection.read_document(number).pmcid
            return [(pmcid.removeprefix("PMC"), 0)] if pmcid else ()
        if link == "pubmed_pubmed_citedin":
            return [(other, int(pmid)) for other in self.collection.find_citing(pmid)]
        if link == "pubmed_pubmed_refs":
            document = self.collection.read_document(number)
            if not document.pmcid and not self._is_copy:  # NCBI has reference links only for articles in PMC
                return ()
            cited = document.cited_pmids
            return [
                (other, int(pmid)) for other in dict.fromkeys(cited) if self.collection.find_number(other) is not None
            ]
        related = self.collection.find_related(number)
        if link.endswith("combined"):
            return [*related[: _FIVE - 1], *((other, int(pmid)) for other in self.collection.find_citing(pmid)[:1])]
        if "reviews" in link:
            reviews = self.collection.index.find_value("ptype", _REVIEW)
            related = [pair for pair in related if self._to_set([pair[0]]) & reviews]
        return related[:_FIVE] if link.endswith("five") else related

    def count_words(self) -> Mapping[str, int]:
        """Count the records that contain each word, for the words in titles and headings."""
        return self._spelling

    @cached_property
    def _spelling(self) -> Mapping[str, int]:
        return self.collection.count_words()

    def knows_journal(self, journal: str) -> bool:
        """Return whether any record is from this journal."""
        return self.collection.index.has_value("journal", normalize(journal))

    def match(self, journal: str, year: str, volume: str, page: str, author: str) -> list[str]:
        """Return the PMIDs of the records that match a citation: journal, volume and page, or year and author."""
        index = self.collection.index
        records = index.list_records()
        used = 0
        if journal.strip():
            records &= index.find_value("journal", normalize(journal))
        for source, value in (("volume", volume), ("page", page)):
            if value.strip():
                records &= index.find_value(source, normalize(value))
                used += 1
        # Year and author are ignored if the citation has volume and page.
        if used < 2:
            span = dates.parse_days(year) if year.strip() else None
            if span is not None:
                records &= index.find_range("pdat", *span)
            names = re.sub(r"[.,]", " ", author).split()
            if names:
                known = find_names(index, "author", " ".join(names), quoted=False).all
                records &= BitMap.union(BitMap(), *(index.find_value("author", name) for name in known))
            if not used and not names:
                return []
        return self.collection.get_pmids(index.rank(list(records), ""))


def unknown_order_error(order: str) -> InvalidInput:
    """Return the error for a sort order that a copy cannot produce: PubMed has others, and older copies lack texts."""
    names: dict[str, str] = {}
    for name, key in SORTS.items():
        names.setdefault(key, name)
    return InvalidInput(
        f"A copy of PubMed cannot sort by {order!r}.",
        invalid_input=f"sort={order}",
        recovery_hint=f"Sort by {join_with(list(names.values()), 'or')}."
        + (" An older version made this copy: import it again." if order.lower() in SORTS else ""),
        details={"reason": "not_in_copy", "part": order},
    )


_REASONS: Final = {
    Fidelity.EXACT_PHRASE: "phrases are matched literally, without PubMed's list of phrases",
    Fidelity.APPROXIMATE: "PubMed does not publish how it maps words without a field",
}


def _describe_fidelity(matches: QueryMatches, order: str | None) -> str:
    reasons = [_REASONS[matches.fidelity]] if matches.fidelity in _REASONS else []
    fidelity = matches.fidelity
    if matches.resolved.lacks_tree:
        fidelity = Fidelity.APPROXIMATE
        reasons.append("MeSH of the copy lacks a heading of the query, so narrower headings are not included")
    if order == RELEVANCE:
        reasons.append("relevance is computed with BM25, which differs from PubMed's Best Match")
    return "; ".join([str(fidelity), *reasons])


def _parse_range(request: SearchCall, today: date) -> tuple[int, int] | None:
    """Return the range of the date parameters; NCBI ignores a single bound."""
    if request.mindate and request.maxdate:
        return dates.parse_range(request.mindate, request.maxdate)
    if request.reldate and request.reldate.isascii() and request.reldate.isdigit():
        return dates.to_recent_range(int(request.reldate), today)
    return None
