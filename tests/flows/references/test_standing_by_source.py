"""The standing of works by every source: the statement of each, and that a missing answer never means "none"."""

import json
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from fixture_types import KitFor
from used_recordings import require_recordings

from entrez_kit import EntrezKit
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, UpstreamError
from entrez_kit.local.eutils.replies import LocalReply, answer_json, answer_text
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.pubmed.models import Article, Standing
from entrez_kit.references.check.check_references import CHECK
from entrez_kit.references.check.check_result import CheckedReference
from entrez_kit.references.check.lookup.crossref_records import convert_to_article, determine_standing_of_work
from entrez_kit.references.check.lookup.retraction_watch import read_retraction_watch
from entrez_kit.references.check.lookup.sources import (
    SOURCES,
    Sources,
    SourceStanding,
    Work,
    combine_results,
    parse_sources,
)
from entrez_kit.references.files.references import Reference
from entrez_kit.sandbox.server import Sandbox

NOTICE = "10.5555/the.notice"
SICI = "10.1002/(sici)1097-0258(19980815/30)17:15/16<1661::aid-sim968>3.0.co;2-2"
HEADER = (
    "Record ID,Title,Subject,Institution,Journal,Publisher,Country,Author,URLS,ArticleType,RetractionDate,"
    "RetractionDOI,RetractionPubMedID,OriginalPaperDate,OriginalPaperDOI,OriginalPaperPubMedID,RetractionNature,"
    "Reason,Paywalled,Notes\n"
)


def write_watch_row(doi: str, nature: str = "Retraction", date: str = "3/1/2021 0:00", pmid: str = "0") -> str:
    return (
        f'1,"A title, with a comma",,,J,P,C,"A;B",,,{date},{NOTICE},0,1/1/2019 0:00,"{doi}",{pmid},{nature},'
        "+Concerns/Issues About Data;+Notice - Limited;,No,\n"
    )


@pytest.fixture
def retraction_watch(tmp_path: Path) -> Callable[..., Path]:
    def write(*rows: str) -> Path:
        path = tmp_path / "retraction_watch.csv"
        path.write_text(HEADER + "".join(rows), encoding="utf-8")
        return path

    return write


# Services with the statements that a test sets


class SourceWorld:
    """Crossref, OpenAlex and Europe PMC with the states that a test sets: for each DOI a state, and its reply."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.states: dict[str, dict[str, str]] = {}
        self.asked: list[tuple[str, str]] = []
        sandbox.route("/crossref", "crossref", self._crossref)
        sandbox.route("/openalex", "openalex", self._openalex)
        sandbox.route("/europepmc/search", "europepmc_search", self._europepmc)

    def _down(self, number: int) -> LocalReply:
        return (
            answer_text("Service Unavailable", 503),
            LocalReply(b"<html><title>Oops</title></html>", "text/html"),
            LocalReply(b'{"status":"ok","message":{"DOI":', "application/json"),
            answer_json({"status": "ok", "message": {"DOI": "10.5555/another.work"}}),
            answer_text("", 200),
            answer_text("Bad Request", 400),
        )[number % 6]

    def _crossref(self, request: LocalRequest, state: LocalState) -> LocalReply:
        self.asked.append(("crossref", request.get("filter") or request.rest))
        if request.rest == "works":
            items = []
            for clause in request.get("filter").split(","):
                name, _, doi = clause.partition(":")
                how = self.states[doi]["crossref"]
                if how == ("down late" if name == "updates" else "down"):
                    return answer_text("", 502)
                if name == "doi" and how != "404":
                    items.append(self._record(doi))
                elif name == "updates" and how == "says by notice":
                    items.append({"DOI": NOTICE, "title": ["Retraction"], "update-to": [write_update(doi)]})
            return answer_json({"status": "ok", "message": {"total-results": len(items), "items": items}})
        doi = request.rest.removeprefix("works/")
        how = self.states[doi]["crossref"]
        if how == "404":
            return answer_text("Resource not found.", 404)
        if how == "down":
            return self._down(len(doi) + sum(map(ord, doi)))
        return answer_json({"status": "ok", "message-type": "work", "message": self._record(doi)})

    def _record(self, doi: str) -> dict[str, Any]:
        says = {"updated-by": [write_update(NOTICE)]} if self.states[doi]["crossref"] == "says" else {}
        return {"DOI": doi.upper(), "title": ["A title"], **says}

    def _openalex(self, request: LocalRequest, state: LocalState) -> LocalReply:
        doi = request.rest.removeprefix("works/doi:")
        self.asked.append(("openalex", doi))
        how = self.states[doi]["openalex"]
        if how == "404":
            return answer_json({"error": "404 Not Found"}, 404)
        if how == "down":
            return self._down(sum(map(ord, doi)))
        return answer_json({"id": "W1", "doi": f"https://doi.org/{doi}", "is_retracted": how == "says"})

    def _europepmc(self, request: LocalRequest, state: LocalState) -> LocalReply:
        doi = request.get("query").removeprefix('DOI:"').removesuffix('"')
        how = self.states[doi]["europepmc"]
        if how == "down":
            return answer_text("Service Unavailable", 503)
        results: list[dict[str, Any]] = (
            [] if how == "404" else [{"id": "1", "source": "MED", "doi": doi, "title": "A title."}]
        )
        if how == "says":
            results[0]["pubTypeList"] = {"pubType": ["Journal Article", "Retracted Publication"]}
        return answer_json({"hitCount": len(results), "resultList": {"result": results}})


def write_update(doi: str, kind: str = "retraction", **more: Any) -> dict[str, Any]:
    return {"DOI": doi, "type": kind, "label": kind.title(), "source": "retraction-watch", **more}


@pytest.fixture
def world(sandbox: Sandbox) -> SourceWorld:
    return SourceWorld(sandbox)


@pytest.fixture
def make_sources(sandbox: Sandbox, kit_for: KitFor) -> Callable[..., Sources]:
    kit = kit_for(sandbox, europepmc_max_retries=0)

    def make(**options: Any) -> Sources:
        return Sources(kit.services, SOURCES, **options)

    return make


def make_article(doi: str, standing: str | None = None) -> Article:
    said = Standing.model_validate({"status": standing}) if standing else None
    return Article(pmid="1", title="A title.", url="u", doi=doi, standing=said)


STATES = ("says", "silent", "down", "404")
CROSSREF = (*STATES, "says by notice", "down late", "odd")


def list_combinations() -> Iterator[tuple[int, dict[str, str]]]:
    for number, (crossref, openalex, europepmc) in enumerate(product(CROSSREF, STATES, STATES)):
        others = {"pubmed": ("says", "silent", "404")[number % 3], "watch": ("says", "silent", "off")[number // 3 % 3]}
        if number % 4:  # mostly statements that decide nothing, so that the requested sources decide
            others = {"pubmed": ("silent", "404")[number % 2], "watch": ("silent", "off")[number // 2 % 2]}
        yield number, {"crossref": crossref, "openalex": openalex, "europepmc": europepmc, **others}


@pytest.mark.long
def test_no_combination_with_an_unanswered_source_is_plain_none(
    world: SourceWorld, make_sources: Callable[..., Sources], retraction_watch: Callable[..., Path]
) -> None:
    outcomes = []
    for number, states in list_combinations():
        doi = f"10.5555/matrix,{number}" if states["crossref"] == "odd" else f"10.5555/matrix.{number}"
        world.states[doi] = states
        file = retraction_watch(write_watch_row(doi) if states["watch"] == "says" else write_watch_row("10.5555/other"))
        sources = make_sources(retraction_watch=None if states["watch"] == "off" else file)
        record = (
            None
            if states["pubmed"] == "404"
            else make_article(doi, "retracted" if states["pubmed"] == "says" else None)
        )

        (said,) = sources.look_up_status([Work(doi=doi, article=record)])
        verdict = combine_results(said)

        by_name = {one.source: one.says for one in said}
        reported = {"says": "retracted", "says by notice": "retracted", "silent": "none", "404": "not_held"}
        expected = {**dict.fromkeys(("down", "down late", "odd"), "failed"), **reported, "off": "not_asked"}
        assert by_name == {
            "pubmed": expected[states["pubmed"]],
            "europepmc": expected[states["europepmc"]],
            "crossref": expected[states["crossref"]],
            "openalex": expected[states["openalex"]],
            "retraction_watch": expected[states["watch"]],
        }, states
        if "retracted" in by_name.values():
            assert verdict.says == "retracted"
            assert bool(verdict.disagreement) == ("none" in by_name.values())
        elif "failed" in by_name.values():
            assert verdict.says == "unknown", states
        else:
            assert verdict.says == ("none" if "none" in by_name.values() else "unknown")
        outcomes.append(verdict.says)

    assert len(outcomes) >= 60
    assert {name: outcomes.count(name) > 5 for name in ("retracted", "none", "unknown")} == {
        **dict.fromkeys(("retracted", "none", "unknown"), True)
    }


@pytest.mark.parametrize(
    "doi",
    [SICI, "10.5555/a#b?c=d&e", "10.5555/50%25 of", "10.5555/ü", "10.5555/../works", "10.5555/a,b", "10.5555/a+b"],
)
def test_a_doi_with_any_character_is_sent_unchanged_to_crossref_and_openalex(
    world: SourceWorld, make_sources: Callable[..., Sources], doi: str
) -> None:
    world.states[doi] = {"crossref": "says", "openalex": "says", "europepmc": "404"}

    (said,) = make_sources().look_up_status([Work(doi=doi)])

    assert {one.source: one.says for one in said} == {
        **{"pubmed": "not_held", "europepmc": "not_held", "retraction_watch": "not_asked"},
        **{"crossref": "retracted", "openalex": "retracted"},
    }
    assert sorted(requested for _, requested in world.asked) == sorted((f"works/{doi}", doi))


def test_notices_about_many_works_are_requested_together(
    world: SourceWorld, make_sources: Callable[..., Sources]
) -> None:
    dois = [f"10.5555/many.{number}" for number in range(45)]
    for number, doi in enumerate(dois):
        world.states[doi] = {
            **{"openalex": "silent", "europepmc": "404"},
            "crossref": "says by notice" if number % 7 == 0 else "silent",
        }

    said = Sources(make_sources().services, ["crossref"]).look_up_status([Work(doi=doi) for doi in dois])

    assert [row[2].says for row in said] == ["retracted" if number % 7 == 0 else "none" for number in range(45)]
    assert sum(requested.startswith("updates:") for _, requested in world.asked) == 2
    assert sum(requested.startswith("doi:") for _, requested in world.asked) == 2
    assert not any(requested.startswith("works/") for _, requested in world.asked)
    assert {row[1].says for row in said} == {"not_asked"}


@pytest.mark.long
def test_works_in_one_request_have_the_statements_of_separate_requests(
    world: SourceWorld, make_sources: Callable[..., Sources]
) -> None:
    states = ("says", "silent", "404", "down", "says by notice", "silent", "404")
    dois = [f"10.5555/{'comma,' if number % 5 == 4 else ''}some.{number}" for number in range(84)]
    for number, doi in enumerate(dois):
        world.states[doi] = {"crossref": states[number % 7]}

    sources = Sources(make_sources().services, ["crossref"])
    together = [row[2] for row in sources.look_up_status([Work(doi=doi) for doi in dois])]
    alone = [sources.look_up_status([Work(doi=doi)])[0][2] for doi in dois]

    assert [one.says for one in together] == [one.says for one in alone]
    assert {one.says for one in together} == {"retracted", "none", "not_held", "failed"}


def test_a_work_without_a_doi_is_not_requested_from_sources_that_only_know_dois(
    make_sources: Callable[..., Sources],
) -> None:
    (said,) = make_sources().look_up_status([Work(pmid="99000001", article=make_article(""))])

    assert {one.source: one.says for one in said} == {
        **{"pubmed": "none", "europepmc": "none"},
        **dict.fromkeys(("crossref", "openalex", "retraction_watch"), "not_asked"),
    }
    assert combine_results(said).says == "none"


# Reading


@pytest.mark.parametrize(
    ("record", "status"),
    [
        ({"updated-by": [write_update(NOTICE)]}, "retracted"),
        ({"updated-by": [write_update(NOTICE, "partial_retraction")]}, "partially_retracted"),
        ({"updated-by": [write_update(NOTICE, "withdrawal")]}, "withdrawn"),
        ({"updated-by": [write_update(NOTICE, "removal")]}, "withdrawn"),
        ({"updated-by": [write_update(NOTICE, "expression_of_concern")]}, "expression_of_concern"),
        ({"updated-by": [write_update(NOTICE, "Expression of Concern")]}, "expression_of_concern"),
        ({"updated-by": [write_update(NOTICE, "corrigendum")]}, "corrected"),
        ({"updated-by": [write_update(NOTICE, "a type of tomorrow")]}, "corrected"),
        ({"updated-by": [write_update(NOTICE, "new_version")]}, "superseded"),
        ({"update-to": [write_update("10.5555/w")]}, "retracted"),
        ({"update-to": [write_update("10.5555/other")]}, "retraction_notice"),
        ({"update-to": [write_update("10.5555/other", "erratum")]}, "correction_notice"),
        ({"update-to": [write_update("10.5555/other", "new_version")]}, None),
        ({"title": ["RETRACTED: A study of sleep"]}, "retracted"),
        ({"title": ["Retracted: a study of retractions"]}, None),
        ({"relation": {"is-preprint-of": [{"id-type": "doi", "id": "10.5555/v"}]}}, "preprint_published"),
        ({"relation": {}}, None),
        (
            {
                "updated-by": [
                    write_update(NOTICE, updated={"date-time": "2020-01-01T00:00:00Z"}),
                    write_update("10.5555/r", "reinstatement", updated={"date-time": "2021-01-01T00:00:00Z"}),
                ]
            },
            "reinstated",
        ),
        (
            {
                "updated-by": [
                    write_update("10.5555/r", "reinstatement", updated={"date-time": "2021-01-01T00:00:00Z"}),
                    write_update(NOTICE, updated={"date-time": "2022-01-01T00:00:00Z"}),
                ]
            },
            "retracted",
        ),
    ],
)
def test_a_crossref_record_gives_the_standing_of_its_work(record: dict[str, Any], status: str | None) -> None:
    standing = determine_standing_of_work({"DOI": "10.5555/W", "title": ["A title"], **record})

    assert (standing and standing.status) == status


def test_recorded_crossref_replies_are_read(real_data: Path) -> None:
    read = 0
    for path in sorted((real_data / "crossref").glob("*.json")):
        message = json.loads(path.read_bytes())["message"]
        for record in message.get("items") or [message]:
            if "title" not in record:  # the reply about an agency has none
                continue
            found = convert_to_article(record)
            assert found.doi == record["DOI"].lower()
            assert found.title
            assert len(found.authors) == len(record.get("author", ()))
            reported = bool(record.get("update-to") or record.get("updated-by"))
            assert (determine_standing_of_work(record) is not None) == reported
            read += 1
    require_recordings(read >= 8)


def test_a_recorded_work_has_its_fields(real_data: Path) -> None:
    path = real_data / "crossref" / "rcrossref__cr_works__warns_well.f2236c.json"
    record = json.loads(path.read_bytes())["message"]

    found = convert_to_article(record)

    journal = found.journal_info
    assert journal is not None
    assert (journal.title, journal.volume, journal.issue, journal.pages) == (
        record["container-title"][0],
        record["volume"],
        record["issue"],
        record["page"],
    )
    assert found.authors[0].last_name == record["author"][0]["family"]


def test_the_retraction_watch_file_is_read_by_doi_and_pmid(retraction_watch: Callable[..., Path]) -> None:
    read = read_retraction_watch(
        retraction_watch(
            write_watch_row("10.5555/A,B"),
            write_watch_row("unavailable", pmid="77", nature="Expression of concern"),
            write_watch_row("10.5555/back", date="1/2/2019 0:00"),
            write_watch_row("10.5555/back", nature="Reinstatement", date="12/31/2024 0:00"),
            write_watch_row("10.5555/fixed", nature="Correction", date="someday"),
        )
    )

    def get_statements(doi: str | None, pmid: str | None = None) -> str | None:
        standing = read.find_standing(doi, pmid)
        return standing.status if standing else None

    assert get_statements("10.5555/a,b") == "retracted"
    assert get_statements(None, "77") == "expression_of_concern"
    assert get_statements("10.5555/back") == "reinstated"
    assert get_statements("10.5555/fixed") == "corrected"
    assert get_statements("unavailable") is None
    assert get_statements(None, "0") is None
    assert read.newest == "2024-12-31"
    notice = read.find_standing("10.5555/a,b", None)
    assert notice is not None
    assert notice.notices[0].reason == "Concerns/Issues About Data; Notice - Limited"


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", HEADER, HEADER + '"' + "x" * 2_000_000])
def test_another_file_is_rejected_as_a_retraction_watch_database(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.csv"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(InvalidInput):
        read_retraction_watch(path)
    with pytest.raises(InvalidInput):
        read_retraction_watch(tmp_path / "absent.csv")


def test_sources_are_accepted_in_any_order_and_case() -> None:
    assert parse_sources("Crossref, retraction-watch,PubMed") == ["pubmed", "crossref", "retraction_watch"]
    assert parse_sources("") == list(SOURCES)
    with pytest.raises(InvalidInput):
        parse_sources("crossref,scholar")


def test_openalex_which_only_knows_retractions_does_not_contradict_a_concern() -> None:
    said = [
        SourceStanding(source="pubmed", says="expression_of_concern"),
        SourceStanding(source="openalex", says="none"),
    ]

    assert combine_results(said).disagreement is None
    said.append(SourceStanding(source="crossref", says="none"))
    assert combine_results(said).disagreement == ("the sources disagree: PubMed: expression of concern, Crossref: none")


# Checking


def check_one(kit: EntrezKit, reference: Reference, **request: Any) -> CheckedReference:
    return CHECK.run(kit.services, {"references": [reference], **request}).references[0]


def test_a_retraction_that_only_crossref_has_makes_a_reference_retracted(
    sandbox: Sandbox, kit_for: KitFor, world: SourceWorld
) -> None:
    world.states["10.5555/ekit.2019.0001"] = {"crossref": "says by notice", "openalex": "silent", "europepmc": "404"}
    kit = kit_for(sandbox)

    found = check_one(kit, Reference(key="r", pmid="99000001"), sources=["pubmed", "crossref", "openalex"])

    assert (found.status, found.standing_status, found.retraction_status) == ("retracted", "retracted", "retracted")
    assert found.disagreement == "the sources disagree: Crossref: retracted, PubMed: none, OpenAlex: none"


def test_a_source_that_does_not_answer_makes_a_reference_unchecked_and_is_named(
    sandbox: Sandbox, kit_for: KitFor, world: SourceWorld
) -> None:
    world.states["10.5555/ekit.2019.0001"] = {"crossref": "down late", "openalex": "silent", "europepmc": "404"}
    kit = kit_for(sandbox, europepmc_max_retries=0)

    found = check_one(kit, Reference(key="r", pmid="99000001"), sources=["pubmed", "crossref", "openalex"])
    alone = check_one(kit, Reference(key="r", pmid="99000001"), sources=["pubmed"])

    assert (found.status, found.standing_status) == ("unchecked", "unknown")
    assert "Crossref" in (found.detail or "")
    assert (alone.status, alone.standing_status) == ("verified", "none")


def test_a_work_outside_of_pubmed_is_compared_with_crossrefs_record(sandbox: Sandbox, kit_for: KitFor) -> None:
    record = {
        "DOI": "10.5555/a.book",
        "title": ["Invented methods for absent data"],
        "author": [{"family": "Nobodyson", "given": "Quentin"}],
        "publisher": "P",
        "issued": {"date-parts": [[2018]]},
    }
    sandbox.route(
        "/crossref",
        "crossref",
        lambda request, state: (
            answer_json({"status": "ok", "message": {"total-results": 0, "items": []}})
            if request.rest == "works"
            else answer_json({"status": "ok", "message": record})
        ),
    )
    kit = kit_for(sandbox)
    given = {"title": "Invented Methods for Absent Data", "year": "2018", "doi": "10.5555/a.book"}

    true = check_one(kit, Reference(key="r", **given), sources=["pubmed", "crossref"])
    other = check_one(
        kit, Reference(key="r", **{**given, "title": "Statins in lighthouse keepers"}), sources=["crossref"]
    )
    unasked = check_one(kit, Reference(key="r", **given), sources=["pubmed"])

    assert (true.status, true.record_source, true.pmid, true.doi) == ("verified", "crossref", None, "10.5555/a.book")
    assert true.standing_status == "none"
    assert other.status == "another_work"
    assert unasked.status == "not_found"


def test_the_demo_has_sources_that_disagree(sandbox: Sandbox, kit_for: KitFor) -> None:
    found = check_one(kit_for(sandbox), Reference(key="r", pmid="99000050"))

    assert {source.source: source.says for source in found.sources} == {
        **dict.fromkeys(("pubmed", "europepmc", "crossref", "openalex"), "retracted"),
        "retraction_watch": "not_asked",
    }
    assert found.disagreement is None


@pytest.mark.parametrize("name", ["works", "list_updates"])
def test_a_missing_endpoint_of_crossref_is_an_outage_and_not_an_unknown_doi(
    sandbox: Sandbox, kit_for: KitFor, name: str
) -> None:
    sandbox.route("/crossref", "crossref", lambda request, state: answer_json({"error": "no"}, 404))
    crossref = kit_for(sandbox).services.crossref

    with pytest.raises(UpstreamError) as caught:
        getattr(crossref, name)(["10.5555/x", "10.5555/y"])

    assert caught.value.reason == "no_such_address"
    with pytest.raises(EntityNotFound):
        crossref.work("10.5555/x")


def test_the_recorded_reply_about_an_agency_is_read(sandbox: Sandbox, kit_for: KitFor, real_data: Path) -> None:
    (path,) = (real_data / "crossref").glob("*cr_agency*")
    sandbox.route("/crossref", "crossref", lambda request, state: LocalReply(path.read_bytes(), "application/json"))

    assert kit_for(sandbox).services.crossref.agency("10.13039/100000001").value == "Crossref"


def test_crossref_gets_the_email_and_the_polite_rate_and_no_output_shows_the_email(
    sandbox: Sandbox, kit_for: KitFor
) -> None:
    from entrez_kit.services.transport import POLICIES
    from entrez_kit.services.transport.rate_gate import is_keyed

    requested: list[LocalRequest] = []

    def endpoint(request: LocalRequest, state: LocalState) -> LocalReply:
        requested.append(request)
        return answer_json({"message": {"DOI": "10.5555/x", "note": request.get("mailto")}})

    sandbox.route("/crossref", "crossref", endpoint)
    kit = kit_for(sandbox, crossref_email="canary.address@university-of-birds.edu")

    reply = kit.services.crossref.work("10.5555/x")

    assert requested[0].get("mailto") == "canary.address@university-of-birds.edu"
    assert b"canary" not in reply.content
    assert sandbox.entries("crossref")[0].params == ()
    assert "canary" not in reply.url
    assert is_keyed(kit.services.settings, "crossref")
    assert [POLICIES["crossref"].per_second(keyed) for keyed in (False, True)] == [5, 10]


# OpenAlex in lists


def make_keyed_openalex(sandbox: Sandbox, kit_for: KitFor, **state: Any) -> tuple[EntrezKit, list[list[str]]]:
    """Return a kit with a key for OpenAlex, and the lists of DOIs that it requests."""
    asked: list[list[str]] = []

    def endpoint(request: LocalRequest, _: LocalState) -> LocalReply:
        if request.rest != "works":
            asked.append([request.rest.removeprefix("works/doi:")])
            return answer_json({"id": "W1", "doi": f"https://doi.org/{asked[-1][0]}", "is_retracted": True})
        dois = request.get("filter").removeprefix("doi:").split("|")
        asked.append(dois)
        if set(dois) & set(state.get("broken", ())):
            return answer_json({"meta": {"count": 1}, "results": [{"id": "W", "doi": "10.5555/other"}]})
        works = [
            {"id": "W", "doi": f"https://doi.org/{doi.lower()}", "is_retracted": doi in state.get("retracted", ())}
            for doi in dois
            if doi not in state.get("unknown", ())
        ]
        more = state.get("omitted", 0) if len(dois) > 1 else 0
        return answer_json({"meta": {"count": len(works) + more}, "results": works})

    sandbox.route("/openalex", "openalex", endpoint)
    return kit_for(sandbox, openalex_api_key="canary-key", europepmc_max_retries=0, no_cache=True), asked


def ask_openalex(kit: EntrezKit, dois: list[str]) -> list[str]:
    rows = Sources(kit.services, ["openalex"]).look_up_status([Work(doi=doi) for doi in dois])
    return [one.says for row in rows for one in row if one.source == "openalex"]


def test_with_a_key_openalex_is_requested_in_lists_and_each_doi_has_its_answer(
    sandbox: Sandbox, kit_for: KitFor
) -> None:
    dois = [f"10.5555/Many.{number}" for number in range(120)]
    kit, asked = make_keyed_openalex(sandbox, kit_for, retracted=dois[::40], unknown=dois[1::40])

    said = ask_openalex(kit, dois)

    assert [len(one) for one in sorted(asked, key=len, reverse=True)] == [50, 50, 20]
    assert [n for n, says in enumerate(said) if says == "retracted"] == [0, 40, 80]
    assert [n for n, says in enumerate(said) if says == "not_held"] == [1, 41, 81]
    assert said.count("none") == 114
    assert all("canary" not in str(entry.params) for entry in sandbox.log)


def test_a_malformed_list_is_a_failure_of_the_dois_that_cause_it(sandbox: Sandbox, kit_for: KitFor) -> None:
    dois = [f"10.5555/many.{number}" for number in range(30)]
    kit, _ = make_keyed_openalex(sandbox, kit_for, broken=dois[7:8])

    said = ask_openalex(kit, dois)

    assert [n for n, says in enumerate(said) if says == "failed"] == [7]
    assert said.count("none") == 29


def test_an_incomplete_list_never_means_that_works_are_unknown(sandbox: Sandbox, kit_for: KitFor) -> None:
    dois = [f"10.5555/many.{number}" for number in range(6)]
    kit, _ = make_keyed_openalex(sandbox, kit_for, omitted=1)

    assert ask_openalex(kit, dois) == ["none"] * 6


def test_dois_that_cannot_be_in_a_list_are_requested_separately(sandbox: Sandbox, kit_for: KitFor) -> None:
    dois = ["10.5555/a", "10.5555/A", "10.5555/with,comma", "10.5555/with|bar", "10.5555/b"]
    kit, asked = make_keyed_openalex(sandbox, kit_for)

    said = ask_openalex(kit, dois)

    assert sorted(len(one) for one in asked) == [1, 1, 1, 2]
    assert [says for doi, says in zip(dois, said, strict=True) if "with" in doi] == ["retracted"] * 2


def test_the_sandbox_refuses_a_list_without_a_key_like_openalex(sandbox: Sandbox, kit_for: KitFor) -> None:
    found = {}
    for key in ("a-key", None):
        services = kit_for(sandbox, openalex_api_key=key, europepmc_max_retries=0, no_cache=True).services
        try:
            found[key] = services.openalex.are_retracted(["10.5555/ekit.2024.0004", "10.5555/nobody"]).value
        except EntrezKitError as exc:
            found[key] = {exc.code: True}

    assert found["a-key"] == {"10.5555/ekit.2024.0004": False}
    assert found[None] == {"UPSTREAM_ERROR": True}


def test_an_address_without_lists_of_openalex_is_a_failure(sandbox: Sandbox, kit_for: KitFor) -> None:
    sandbox.route("/openalex", "openalex", lambda request, state: answer_text("Not Found", 404))
    kit = kit_for(sandbox, openalex_api_key="a-key", europepmc_max_retries=0, no_cache=True)

    assert ask_openalex(kit, ["10.5555/a", "10.5555/b"]) == ["failed", "failed"]
