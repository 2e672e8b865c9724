"""The list of databases, their descriptions, and the number of records for a query."""

from datetime import datetime

import pytest
import responses
from canned_services import Canned, call_operation, run_canned, write_einfo_xml, write_esearch_xml
from fixture_types import KitFor

from entrez_kit.base.errors import EntityNotFound, InvalidInput, RateLimited, UpstreamError
from entrez_kit.databases.info import INFO, parse_counts
from entrez_kit.sandbox.server import Sandbox

EGQUERY = (
    b"<Result><Term>x</Term><eGQueryResult>"
    b"<ResultItem><DbName>pubmed</DbName><MenuName>PubMed</MenuName><Count>5</Count><Status>Ok</Status></ResultItem>"
    b"<ResultItem><DbName>gene</DbName><MenuName>Gene</MenuName><Count>0</Count>"
    b"<Status>Term or Database is not found</Status></ResultItem>"
    b"<ResultItem><DbName>snp</DbName><MenuName>SNP</MenuName><Count>0</Count><Status>Error</Status></ResultItem>"
    b"</eGQueryResult></Result>"
)


def test_all_databases_are_listed(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = call_operation(kit_for(sandbox), INFO)

    assert {"pubmed", "pmc", "gene", "taxonomy", "mesh", "nuccore"} <= set(result.databases)
    assert result.model_dump(mode="json") == {"databases": result.databases}


@pytest.mark.parametrize("db", ["pubmed", "pmc", "gene", "taxonomy", "mesh", "nuccore"])
def test_every_database_of_the_sandbox_describes_its_fields_and_links(
    sandbox: Sandbox, kit_for: KitFor, db: str
) -> None:
    info = call_operation(kit_for(sandbox), INFO, db=db).database

    assert info.name == db
    assert info.record_count > 0
    assert {"UID"} <= {field.name for field in info.fields}
    assert all(field.full_name and field.term_count is not None for field in info.fields)
    assert all(link.name.startswith(f"{db}_") and link.db_to for link in info.links)


def test_an_unknown_database_is_not_found(sandbox: Sandbox, kit_for: KitFor) -> None:
    with pytest.raises(EntityNotFound, match="Entrez has no database 'clinvra'") as caught:
        call_operation(kit_for(sandbox), INFO, db="clinvra")

    assert caught.value.invalid_input == "db=clinvra"
    assert sandbox.requests("einfo") == 1


def test_a_query_is_counted_in_every_database(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = call_operation(kit_for(sandbox), INFO, term="TP53")

    assert result.counts_source == "egquery"
    assert {count.db for count in result.counts if count.count} >= {"pubmed", "gene", "nuccore"}
    assert result.missing_error() is None


def test_a_query_is_counted_in_one_database(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = call_operation(kit_for(sandbox), INFO, db="mesh", term="diabetes")

    assert [(count.db, count.count) for count in result.counts] == [("mesh", 7)]
    assert result.counts_source == "esearch"
    assert result.database.name == "mesh"


@pytest.mark.parametrize("db", [None, "pubmed"])
def test_a_query_to_count_is_checked_like_one_to_search(sandbox: Sandbox, kit_for: KitFor, db: str | None) -> None:
    kit = kit_for(sandbox)
    with pytest.raises(InvalidInput) as caught:
        call_operation(kit, INFO, db=db, term="crispr AND (")
    assert caught.value.reason == "unbalanced_query"
    with pytest.raises(InvalidInput, match="2 or more characters"):
        call_operation(kit, INFO, db=db, term="x")

    result = call_operation(kit, INFO, db=db, term="\u201ccrispr\u201d")
    assert result.term == '"crispr"'
    assert result.counts
    assert "typographic_characters" in [warning.code for warning in result.warnings]


def test_if_the_global_query_is_gone_each_database_is_searched(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    alive = call_operation(kit, INFO, term="TP53")
    sandbox.take_down("egquery")
    dead = call_operation(kit_for(sandbox, no_cache=True), INFO, term="TP53")

    assert dead.counts_source == "esearch"
    served = {count.db: count.count for count in dead.counts}
    assert served == {count.db: count.count for count in alive.counts if count.db in served}
    assert set(served) == set(dead.databases)


def test_if_the_global_query_fails_each_database_is_searched(sandbox: Sandbox, kit_for: KitFor) -> None:
    sandbox.fail_next("500", "egquery", times=50)
    result = call_operation(kit_for(sandbox, ncbi_max_retries=2), INFO, term="TP53")

    assert result.counts_source == "esearch"
    assert sandbox.requests("egquery") == 3
    assert all(count.status == "Ok" for count in result.counts)


def test_a_database_that_the_global_query_omits_is_searched() -> None:
    services = Canned(
        einfo=write_einfo_xml("pubmed", "omim"),
        egquery=EGQUERY.replace(b"snp", b"protein"),
        esearch=write_esearch_xml(3),
    )
    result = run_canned(services, INFO, term="xy")

    assert [(count.db, count.count) for count in result.counts][-2:] == [("protein", None), ("omim", 3)]
    assert result.counts_source == "egquery"
    assert [request["db"] for request in services.requests("esearch")] == ["omim"]
    with pytest.raises(UpstreamError, match="twice"):
        parse_counts(EGQUERY.replace(b"snp", b"gene"))


def test_a_zero_with_an_error_is_not_a_count() -> None:
    counts = parse_counts(EGQUERY)

    assert [(count.db, count.count, count.status) for count in counts] == [
        ("pubmed", 5, "Ok"),
        ("gene", 0, "Term or Database is not found"),
        ("snp", None, "Error"),
    ]
    missing_error = run_canned(
        Canned(einfo=write_einfo_xml("pubmed"), egquery=EGQUERY), INFO, term="xy"
    ).missing_error()
    assert isinstance(missing_error, UpstreamError)
    assert missing_error.details["partial"] is True
    assert [item["db"] for item in missing_error.details["missing"]] == ["snp"]


def test_a_database_that_cannot_be_counted_is_named_and_the_others_are_counted(no_waiting: None) -> None:
    def esearch(db: str, **_: object) -> bytes:
        if db == "gene":
            raise InvalidInput("the query cannot be used here")
        if db == "snp":
            raise UpstreamError("the backend broke")
        return write_esearch_xml(3)

    services = Canned(
        einfo=write_einfo_xml("pubmed", "gene", "snp", "omim"),
        egquery=UpstreamError("dead", details={"reason": "no_such_address"}),
        esearch=esearch,
    )
    result = run_canned(services, INFO, term="xy")

    assert [(count.db, count.count) for count in result.counts] == [
        ("pubmed", 3),
        ("gene", None),
        ("snp", None),
        ("omim", 3),
    ]
    assert services.requests("egquery")[0]["deadline_ms"] == 10_000


def test_no_answer_from_any_database_is_an_error(no_waiting: None) -> None:
    services = Canned(
        einfo=write_einfo_xml("pubmed", "gene"), egquery=UpstreamError("dead"), esearch=RateLimited("too fast")
    )

    with pytest.raises(RateLimited):
        run_canned(services, INFO, term="xy")


@pytest.mark.parametrize("body", [b"<eInfoResult/>", b"<eInfoResult><DbList/></eInfoResult>", b"<x/>", b"not xml"])
def test_a_reply_without_databases_is_an_upstream_error_and_not_an_empty_list(body: bytes) -> None:
    with pytest.raises(UpstreamError) as caught:
        run_canned(Canned(einfo=body), INFO)

    assert caught.value.reason == "invalid_response"


@responses.activate
def test_a_list_that_ncbi_refuses_is_an_upstream_error_that_names_no_database(kit_for: KitFor) -> None:
    body = b"<eInfoResult><ERROR>Invalid db name specified: </ERROR></eInfoResult>"
    responses.add(responses.GET, "http://127.0.0.1:9/entrez/eutils/einfo.fcgi", body=body)

    with pytest.raises(UpstreamError) as caught:
        call_operation(kit_for(None, ncbi_max_retries=1), INFO)

    assert "None" not in caught.value.message


def test_the_time_of_the_last_update_is_iso_8601(sandbox: Sandbox, kit_for: KitFor) -> None:
    reported = call_operation(kit_for(sandbox), INFO, db="pubmed").database.last_update

    assert datetime.fromisoformat(reported).tzinfo is not None
    assert reported.endswith("Z")
