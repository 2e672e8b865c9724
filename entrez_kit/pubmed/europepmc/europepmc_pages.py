"""Read a page of Europe PMC's search: the number of records, the records and the cursor of the next page."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from entrez_kit.base.errors import UpstreamError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.pubmed.europepmc.europepmc_json import Raw, to_integer, unwrap_list
from entrez_kit.pubmed.europepmc.europepmc_models import EuropePMCArticle
from entrez_kit.pubmed.europepmc.europepmc_records import FEATURES, HISTORY, parse_record
from entrez_kit.services.known_shapes import JsonShape, log_drift, require_texts
from entrez_kit.services.small_replies import malformed_error

_PERSON: Final = {
    **require_texts("fullName firstName lastName initials collectiveName affiliation"),
    "authorId": require_texts("type value"),
    "authorAffiliationDetailsList": {
        "authorAffiliation": [{**require_texts("affiliation"), "affiliationOrgIds": object}]
    },
    "authorAffiliationsList": object,
}
_DAYS: Final = (*HISTORY, "firstPublicationDate", "electronicPublicationDate", "dateOfRevision")
SEARCH_REPLY: Final = JsonShape(
    "Europe PMC search",
    {
        **require_texts("version nextCursorMark nextPageUrl"),
        "hitCount": int,
        "request": object,
        "resultList": {
            "result": [
                {
                    **require_texts(
                        "id source pmid pmcid bookid doi title authorString journalTitle issue journalVolume"
                        " pubYear journalIssn pageInfo pubType isOpenAccess inEPMC affiliation publicationStatus"
                        " language pubModel abstractText manuscriptId license"
                    ),
                    **dict.fromkeys(FEATURES, str),
                    **dict.fromkeys(_DAYS, re.compile(r"\d{4}-\d\d-\d\d")),
                    "citedByCount": int,
                    "versionNumber": int,
                    "versionList": object,
                    "fullTextIdList": {"fullTextId": [str]},
                    "tmAccessionTypeList": {"accessionType": [str]},
                    "dbCrossReferenceList": {"dbName": [str]},
                    "bookOrReportDetails": {
                        **require_texts(
                            "publisher comprisingTitle isbn10 isbn13 edition seriesName seriesISSN extraInformation"
                        ),
                        "yearOfPublication": int,
                        "numberOfPages": (int, str),
                    },
                    "patentDetails": object,
                    "authorList": {"author": [_PERSON]},
                    "editorList": {"editor": [_PERSON]},
                    "investigatorList": {"investigator": [_PERSON]},
                    "authorIdList": {"authorId": [require_texts("type value")]},
                    "journalInfo": {
                        **require_texts("issue volume dateOfPublication printPublicationDate"),
                        **dict.fromkeys(
                            ("journalIssueId", "monthOfPublication", "yearOfPublication", "dayOfPublication"), int
                        ),
                        "journal": require_texts("title medlineAbbreviation isoabbreviation nlmid issn essn"),
                    },
                    "pubTypeList": {"pubType": [str]},
                    "subsetList": {"subset": [require_texts("code name")]},
                    "fullTextUrlList": {
                        "fullTextUrl": [require_texts("availability availabilityCode documentStyle site url")]
                    },
                    "dataLinksTagsList": {"dataLinkstag": [str]},
                    "grantsList": {"grant": [{**require_texts("grantId agency acronym"), "orderIn": int}]},
                    "commentCorrectionList": {
                        "commentCorrection": [{**require_texts("id source reference type note"), "orderIn": int}]
                    },
                    "meshHeadingList": {
                        "meshHeading": [
                            {
                                **require_texts("majorTopic_YN descriptorName"),
                                "meshQualifierList": {
                                    "meshQualifier": [require_texts("abbreviation qualifierName majorTopic_YN")]
                                },
                            }
                        ]
                    },
                    "keywordList": {"keyword": [str]},
                    "chemicalList": {"chemical": [require_texts("name registryNumber")]},
                }
            ]
        },
    },
    required="version hitCount",
)


@dataclass(frozen=True)
class Page:
    """One page of a search; ``next_cursor`` is None on the last page."""

    total_found: int
    listed: list[Any] = field(repr=False)
    next_cursor: str | None

    @cached_property
    def articles(self) -> list[EuropePMCArticle]:
        """The records, parsed at the first access."""
        return [article for raw in self.listed if (article := parse_record(raw)) is not None]

    @property
    def skipped(self) -> int:
        """The number of results that are not valid records."""
        return len(self.listed) - len(self.articles)


def parse_page(reply: bytes | Raw, cursor_mark: str) -> Page:
    """Read a search reply.

    Args:
        reply: its bytes, or its parsed JSON object.
        cursor_mark: the cursor of the request; the same cursor in the reply marks the last page.

    Raises:
        UpstreamError: the reply is not a search result, or has no number of hits.
    """
    try:
        document: Any = json.loads(reply) if isinstance(reply, bytes) else reply
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, Mapping):
        raise malformed_error("Europe PMC search", "it is not a JSON object")
    error = document.get("errMsg") or document.get("errCode")
    if error:
        raise UpstreamError(f"Europe PMC refused the search: {error}", details={"reason": "invalid_response"})
    log_drift(SEARCH_REPLY, document)
    total = to_integer(document.get("hitCount"))
    if total is None:
        raise malformed_error("Europe PMC search", "it has no number of hits")
    results = unwrap_list(document, "resultList", "result")
    if total > 0 and "resultList" not in document:
        raise malformed_error("Europe PMC search", f"it counts {format_count(total, 'hit')} and lists none")
    following = document.get("nextCursorMark")
    cursor = following.strip() if isinstance(following, str) else ""
    has_next = bool(cursor) and cursor != cursor_mark and bool(results)
    return Page(total, results, cursor if has_next else None)
