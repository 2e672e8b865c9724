"""JSON replies with values of other types: their source counts as failed, and no call ends with an internal error."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from fixture_types import KitFor
from json_places import find_value, list_places, replace_value
from sampled_cases import take_sample

from entrez_kit.base.errors import UpstreamError
from entrez_kit.local.eutils.replies import LocalReply, answer_json
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.pubmed.models import Article
from entrez_kit.references.check.check_references import CHECK
from entrez_kit.references.check.lookup.sources import Sources, Work
from entrez_kit.sandbox.server import Sandbox

DOI: Final = "10.5555/malformed"
NOTICE: Final = {
    "DOI": "10.5555/the.notice",
    "type": "retraction",
    "label": "Retraction",
    "source": "publisher",
    "updated": {"date-time": "2021-03-01T00:00:00Z", "date-parts": [[2021, 3, 1]]},
}
WORK: Final[dict[str, Any]] = {
    "DOI": DOI,
    "type": "journal-article",
    "title": ["A work that was retracted"],
    "subtitle": ["A subtitle"],
    "container-title": ["Journal of Tests"],
    "short-container-title": ["J Tests"],
    "volume": "8",
    "issue": "2",
    "page": "1-9",
    "article-number": "e1",
    "author": [{"family": "Doe", "given": "Jane", "suffix": "Jr"}, {"name": "A Group"}],
    "issued": {"date-parts": [[2020, 1]]},
    "published-print": {"date-parts": [[2020, 1]]},
    "published-online": {"date-parts": [[2019]]},
    "updated-by": [NOTICE],
    "update-to": [{**NOTICE, "DOI": "10.5555/other"}],
    "relation": {"is-preprint-of": [{"id-type": "doi", "id": "10.5555/v"}], "is-replaced-by": []},
}
CROSSREF: Final = {"status": "ok", "message-type": "work", "message": WORK}
SECOND: Final = f"{DOI}.2"
CROSSREF_LIST: Final = {"status": "ok", "message": {"total-results": 2, "items": [WORK, {"DOI": SECOND}]}}
OPENALEX: Final = {"id": "https://openalex.org/W1", "doi": f"https://doi.org/{DOI}", "is_retracted": True}
EUROPEPMC: Final = {
    "version": "6.9",
    "hitCount": 1,
    "resultList": {
        "result": [
            {
                "id": "1",
                "source": "MED",
                "pmid": "1",
                "doi": DOI,
                "title": "A work that was retracted.",
                "authorString": "Doe J.",
                "pubTypeList": {"pubType": ["Journal Article", "Retracted Publication"]},
                "commentCorrectionList": {
                    "commentCorrection": [
                        {"id": "2", "source": "MED", "reference": "J. 2021", "type": "Retraction in", "orderIn": 1}
                    ]
                },
            }
        ]
    },
}
OTHERS: Final[tuple[Any, ...]] = ({}, {"a": [1]}, [], [[]], ["x"], [None], "x", "", 7, -1, 1.5, True, False, None)
"""Values that take the place of each node."""
OF_EACH_TYPE: Final[tuple[Any, ...]] = ({"a": [1]}, ["x"], "x", 7, True, None)


def alter_nodes(value: Any, others: tuple[Any, ...] = OTHERS) -> Iterator[tuple[str, Any]]:
    """Yield the document with one node replaced each time: the path and the document."""
    for place in list_places(value):
        for other in others:
            is_same_type = type(find_value(value, place)) is type(other)
            if not place or not is_same_type or isinstance(other, dict | list):
                yield f"{'.'.join(map(str, place))} -> {other!r}", replace_value(value, place, other)


class PreparedService:
    """A service that answers with the document that a test sets."""

    def __init__(self, sandbox: Sandbox, path: str, name: str) -> None:
        self.body: Any = None
        sandbox.route(path, name, self._answer)

    def _answer(self, request: LocalRequest, state: LocalState) -> LocalReply:
        return answer_json(self.body)


SERVICES: Final[dict[str, tuple[str, str, Any]]] = {
    "Crossref, one work": ("/crossref", "crossref", CROSSREF),
    "Crossref, a list": ("/crossref", "crossref", CROSSREF_LIST),
    "OpenAlex": ("/openalex", "openalex", OPENALEX),
    "Europe PMC": ("/europepmc/search", "europepmc_search", EUROPEPMC),
}


@pytest.mark.long
@pytest.mark.parametrize("service", SERVICES)
def test_a_source_with_values_of_other_types_has_failed_or_returns_its_statement(
    sandbox: Sandbox, kit_for: KitFor, service: str
) -> None:
    path, endpoint, reply = SERVICES[service]
    name: Any = endpoint.partition("_")[0]
    kit = kit_for(sandbox, no_cache=True, europepmc_max_retries=0, ncbi_max_retries=0)
    served = PreparedService(sandbox, path, endpoint)
    article = Article(pmid="1", title="A work that was retracted.", url="u", doi=DOI)
    works = [Work(doi=DOI, pmid="1" if name == "europepmc" else None, article=article)]
    works += [Work(doi=SECOND)] if service.endswith("list") else []
    reported: dict[str, list[str]] = {}
    for where, body in [("as it is", reply), *take_sample(alter_nodes(reply), 0.25, least=120)]:
        served.body = body
        row, *_ = Sources(kit.services, [name]).look_up_status(works)
        (said,) = [one for one in row if one.source == name]
        reported.setdefault(said.says, []).append(where)

    assert "retracted" in reported, {says: where[:3] for says, where in reported.items()}
    assert reported["retracted"][0] == "as it is"
    assert len(reported["failed"]) > 20
    assert not reported.get("not_held"), reported["not_held"]


@pytest.mark.long
def test_a_check_ends_with_a_verdict_for_any_reply_of_crossref_about_a_doi(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox, no_cache=True, ncbi_max_retries=0)
    served = PreparedService(sandbox, "/crossref", "crossref")
    references = [{"key": "r", "doi": DOI, "title": "A work that was retracted: A subtitle"}]
    statuses: dict[str, list[str]] = {}
    cases = take_sample(alter_nodes(CROSSREF, OF_EACH_TYPE), 0.4)
    for where, served.body in cases:
        try:
            result = CHECK.run(kit.services, {"references": references, "sources": ["pubmed", "crossref"]})
        except UpstreamError:
            statuses.setdefault("error", []).append(where)
            continue
        statuses.setdefault(result.references[0].status, []).append(where)

    assert statuses.keys() == {"error", "retracted", "verified"}
    assert len(statuses["error"]) > len(cases) / 3
    assert all(where.startswith("message.updated-by") for where in statuses["verified"]), (
        "no result mentions a retraction"
    )
