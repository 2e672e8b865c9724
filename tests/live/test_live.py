"""The real program with the real services: ``ENTREZ_KIT_LIVE=1 pytest -m live``, off by default, never in .ci/run.

The behavior of genes, articles and the corpus, one call of each operation, and the doctor. The checked values do not
change from one day to the next: ids, symbols, species, codes. With the addresses of a sandbox in the environment the
sandbox answers, with its own records.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from entrez_kit.doctor.probes import DEMO, REAL, UNKNOWN_PMID
from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.sandbox.server import Sandbox

live = [
    pytest.mark.live,
    pytest.mark.skipif(os.environ.get("ENTREZ_KIT_LIVE") != "1", reason="ENTREZ_KIT_LIVE=1 is not set"),
]
OWNERS: Mapping[str, str] = {
    name: value
    for name, value in os.environ.items()
    if name.startswith(("NCBI_", "UNPAYWALL_", "EUROPEPMC_", "CROSSREF_"))
    or name == "TMPDIR"
    or (name.startswith("ENTREZ_KIT_") and name.endswith("_URL"))
}
"""The services get the identity of the user who runs the tests; the rate limit is shared with the user's programs."""
IS_SANDBOX = urlsplit(OWNERS.get("ENTREZ_KIT_EUTILS_URL", "")).hostname in ("127.0.0.1", "localhost", "::1")
X = DEMO if IS_SANDBOX else REAL
PMIDS = X.pmids
JOURNAL, YEAR, VOLUME, PAGE = X.citation.split("|")[:4]
CLAIM = "GenBank is a comprehensive database that contains publicly available nucleotide sequences"
"""Words of the abstract of PMID 23193287."""


@dataclass(frozen=True)
class LiveResult:
    """The result of a call of the program."""

    status: int
    document: Any
    error: Any


Run = Callable[..., LiveResult]


@pytest.fixture(name="run", scope="module")
def run_fixture(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs the program as a user does, with new folders and an empty cache."""
    home = tmp_path_factory.mktemp("live")

    def run(*arguments: str, given: str = "", **environment: str) -> LiveResult:
        done = subprocess.run(
            [sys.executable, "-m", "entrez_kit", *arguments, "--json"],
            input=given.encode(),
            capture_output=True,
            env={**os.environ, **OWNERS, "ENTREZ_KIT_HOME": str(home), **environment},
            timeout=180,
            check=False,
        )
        errors = [line for line in done.stderr.decode().splitlines() if line.startswith('{"success": false')]
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return LiveResult(
            done.returncode,
            json.loads(done.stdout) if done.stdout.strip() else None,
            json.loads(errors[-1])["error"] if errors else None,
        )

    return run


# The operations

Check = Callable[[Any], object]
CALLS: Mapping[str, tuple[tuple[str, ...], Check]] = {
    "pubmed_search_articles": (
        ("search", X.term, "-n", "5"),
        lambda found: len(found["pmids"]) == 5 <= found["total_found"],
    ),
    "pubmed_fetch_contents": (
        ("fetch", *PMIDS, X.book),
        lambda found: {*PMIDS, X.book} == {article["pmid"] for article in found["articles"]},
    ),
    "pubmed_fetch_fulltext": (
        ("fulltext", X.pmcid),
        lambda found: found["articles"][0]["sections"] and found["articles"][0]["pmcid"] == X.pmcid,
    ),
    "pubmed_article_relationships": (
        ("related", PMIDS[0], "-n", "3"),
        lambda found: found["related_articles"] and found["related_articles"][0]["pmid"] != PMIDS[0],
    ),
    "pubmed_format_citations": (
        ("cite", *PMIDS, "--style", "apa,vancouver"),
        lambda found: len(found["citations"]) == len(PMIDS) or len(found["citations"]) == 2 * len(PMIDS),
    ),
    "pubmed_lookup_citation": (
        ("match", "--journal", JOURNAL, "--year", YEAR, "--volume", VOLUME, "--page", PAGE),
        lambda found: found["results"][0]["pmid"] == X.cited,
    ),
    "pubmed_convert_ids": (
        ("convert", X.in_pmc, X.pmcid),
        lambda found: X.pmcid in json.dumps(found) and X.in_pmc in json.dumps(found),
    ),
    "europepmc_search": (("europepmc", X.term, "-n", "5"), lambda found: X.term and len(json.dumps(found)) > 1000),
    "pubmed_count_facets": (
        ("facets", X.term, "--max-records", "20"),
        lambda found: 0 < found["records_counted"] <= found["total_found"],
    ),
    "pubmed_lookup_mesh": (("mesh", X.heading), lambda found: found["results"][0]["name"].lower() == X.heading),
    "pubmed_spell_check": (("spell", X.misspelt), lambda found: found["has_suggestion"] and found["corrected"]),
    "search_genes": (
        ("gene", "search", "TP53", "--organism", "human"),
        lambda found: found["items"][0]["id"] == f"NCBIGene:{X.gene}",
    ),
    "get_gene": (("gene", "get", f"NCBIGene:{X.gene}"), lambda found: found["symbol"] == "TP53"),
    "get_pubmed_links": (
        ("gene", "pubmed", f"NCBIGene:{X.gene}"),
        lambda found: found["pmids"] and all(pmid.isdigit() for pmid in found["pmids"]),
    ),
    "entrez_info": (("db", "info", "pubmed"), lambda found: found["database"]["fields"]),
    "entrez_search": (("db", "search", "gene", "TP53[sym] AND human[orgn]"), lambda found: X.gene in found["ids"]),
    "entrez_summary": (("db", "summary", "gene", X.gene), lambda found: found["summaries"][0]["name"] == "TP53"),
    "entrez_fetch": (
        ("db", "fetch", "pubmed", PMIDS[0], "--rettype", "medline", "--retmode", "text"),
        lambda found: f"PMID- {PMIDS[0]}" in found["content"],
    ),
    "entrez_link": (
        ("db", "link", X.gene, "--from", "gene", "--to", "pubmed"),
        lambda found: found["linksets"][0]["links"],
    ),
    "pubmed_sync_delta": (
        ("corpus", "sync", "live", " OR ".join(f"{pmid}[uid]" for pmid in PMIDS)),
        lambda found: found["inserted"] == found["pmids_processed"] == len(PMIDS),
    ),
    "rag_search": (("corpus", "search", X.term, "-n", "3"), lambda found: isinstance(found["results"], list)),
    "rag_get": (("corpus", "get", PMIDS[0]), lambda found: found["doc_id"] == f"pmid:{PMIDS[0]}"),
    "corpus_checkpoint_get": (("corpus", "checkpoint", "get", "live"), lambda found: found["last_edat"]),
    "corpus_checkpoint_set": (("corpus", "checkpoint", "set", "live", "2001-01-01"), lambda found: found["ok"]),
}
"""One call of each operation, in the order of the catalogue, but the corpus is synced before it is read."""
REVIEW = {"translate_strategy", "lint_strategy", "measure_recall", "merge_references"}
"""Called with files, below or (if it sends no request) not at all."""
BESIDE = {"pubmed_verify_claims", "check_references", "corpus_audit"} | REVIEW
"""Called with a file below, or ends with 4 if it finds a problem."""


def test_every_operation_has_a_live_call() -> None:
    assert {operation.name for operation in OPERATIONS} == {*CALLS, *BESIDE}


def _mark_live(function: Callable[..., None]) -> Callable[..., None]:
    for mark in live:
        function = mark(function)
    return function


@_mark_live
@pytest.mark.parametrize("name", CALLS)
def test_an_operation_returns_a_result(run: Run, name: str) -> None:
    arguments, check = CALLS[name]

    ended = run(*arguments)

    assert ended.status == 0, ended
    assert check(ended.document), ended.document


@_mark_live
def test_claims_are_verified(run: Run) -> None:
    ended = run("verify", "-", given=f"claim,id\n{CLAIM},{X.in_pmc}\n")

    assert ended.status in (0, 4), ended
    assert X.in_pmc in json.dumps(ended.document)


@_mark_live
def test_references_are_checked(run: Run) -> None:
    ended = run("check", "-", given=f"TY  - JOUR\nAN  - {PMIDS[0]}\nER  - \n")

    assert ended.status in (0, 4), ended
    assert [row["pmid"] for row in ended.document["references"]] == [PMIDS[0]]


@_mark_live
def test_a_corpus_is_audited(run: Run) -> None:
    assert run("corpus", "sync", "audited", f"{PMIDS[0]}[uid]").status == 0

    ended = run("corpus", "audit", "audited")

    assert ended.status in (0, 4), ended
    assert ended.document["total"] == 1


# Genes


@_mark_live
def test_a_symbol_gives_ranked_candidates_with_ids(run: Run) -> None:
    found = run("gene", "search", "BRCA1").document

    assert "NCBIGene:672" in {item["id"] for item in found["items"][:5]}
    assert found["items"][0]["match"] == "symbol"
    scores = [item["score"] for item in found["items"]]
    assert scores == sorted(scores, reverse=True)
    assert found["pagination"]["total_count"] >= len(scores) == (len(scores) if IS_SANDBOX else 50)


@_mark_live
def test_words_give_several_candidates(run: Run) -> None:
    found = run("gene", "search", "tumor suppressor", "--page-size", "10").document

    assert found["pagination"]["total_count"] >= len(found["items"]) >= (2 if IS_SANDBOX else 10)


@_mark_live
def test_an_organism_filter_returns_human_genes_only(run: Run) -> None:
    found = run("gene", "search", "TP53", "--organism", "human").document

    assert found["items"][0]["id"] == "NCBIGene:7157"
    assert {item["organism"].split()[0] for item in found["items"]} == {"Homo"}


@_mark_live
def test_a_gene_is_complete(run: Run) -> None:
    gene = run("gene", "get", "NCBIGene:7157").document

    assert (gene["symbol"], gene["map_location"], gene["chromosome"]) == ("TP53", "17p13.1", "17")
    assert gene["summary"]
    assert "P53" in {alias.upper() for alias in gene["aliases"]}
    told = gene["cross_references"]
    assert (told["hgnc"], told["ensembl_gene"], told["entrez"]) == ("HGNC:11998", "ENSG00000141510", "7157")
    assert "P04637" in told["uniprot"]
    assert "NM_000546" in told["refseq"]
    assert told["omim"] == "191170"


@_mark_live
def test_a_symbol_is_unresolved_and_the_hint_has_the_search_for_it(run: Run) -> None:
    ended = run("gene", "get", "BRCA1")

    assert (ended.status, ended.error["code"]) == (2, "UNRESOLVED_ENTITY")
    assert "gene search BRCA1" in ended.error["recovery_hint"]


@_mark_live
@pytest.mark.parametrize("command", ["get", "pubmed"])
def test_an_id_without_a_gene_is_not_found(run: Run, command: str) -> None:
    ended = run("gene", command, "NCBIGene:999999999")

    assert (ended.status, ended.error["code"]) == (3, "ENTITY_NOT_FOUND")


@_mark_live
def test_a_gene_has_literature_and_the_limit_is_respected(run: Run) -> None:
    whole, limited = (run("gene", "pubmed", "NCBIGene:7157", "--limit", limit).document for limit in ("20", "1"))

    assert len(limited["pmids"]) == 1 <= len(whole["pmids"]) <= 20
    assert limited["total_count"] == whole["total_count"] >= (2 if IS_SANDBOX else 1000)


@_mark_live
def test_following_the_hint_resolves_the_gene(run: Run) -> None:
    hint = run("gene", "get", "BRCA1").error["recovery_hint"]
    command = hint.partition("`entrez-kit ")[2].partition("`")[0].split()

    found = run(*command, "--organism", "human").document

    assert run("gene", "get", found["items"][0]["id"]).document["symbol"] == "BRCA1"


@_mark_live
def test_rate_limited_names_the_api_key(run: Run) -> None:
    with Sandbox(faults={"429": 1.0}, enforce_limits=False) as sandbox:  # the services must not be provoked
        ended = run(
            *("gene", "search", "TP53"),
            ENTREZ_KIT_EUTILS_URL=f"{sandbox.url}/entrez/eutils",
            NCBI_MAX_RETRIES="0",
            NCBI_API_KEY="",
        )

    assert (ended.status, ended.error["code"]) == (7, "RATE_LIMITED")
    assert "NCBI_API_KEY" in ended.error["recovery_hint"]


@_mark_live
def test_an_unreachable_service_is_an_upstream_error(run: Run) -> None:
    ended = run(
        *("gene", "search", "TP53"), ENTREZ_KIT_EUTILS_URL="http://127.0.0.1:9/entrez/eutils", NCBI_MAX_RETRIES="0"
    )

    assert (ended.status, ended.error["code"]) == (5, "UPSTREAM_ERROR")
    assert ended.error["recovery_hint"]


@_mark_live
def test_no_genes_are_an_empty_page_and_an_unknown_organism_is_an_error(run: Run) -> None:
    empty = run("gene", "search", "qqzzxxyvvkkw")
    assert (empty.status, empty.document["items"], empty.document["pagination"]["total_count"]) == (0, [], 0)
    for organism in ("klingon", "txid999999999"):
        unclear = run("gene", "search", "TP53", "--organism", organism)
        assert (unclear.status, unclear.error["code"]) == (2, "AMBIGUOUS_QUERY"), organism


@_mark_live
def test_pages_of_genes_have_no_gap_and_no_overlap(run: Run) -> None:
    arguments = ("gene", "search", "tumor suppressor", "--organism", "human", "--page-size")
    whole, first = (run(*arguments, size).document for size in ("2", "1"))
    second = run(*arguments, "1", "--cursor", first["pagination"]["cursor"]).document

    assert [item["id"] for item in (*first["items"], *second["items"])] == [item["id"] for item in whole["items"]]


# Articles and the corpus


@_mark_live
def test_an_unknown_id_is_named_together_with_existing_ones(run: Run) -> None:
    ended = run("fetch", PMIDS[0], UNKNOWN_PMID)

    assert ended.status == 4
    assert [article["pmid"] for article in ended.document["articles"]] == [PMIDS[0]]
    assert UNKNOWN_PMID in json.dumps(ended.document.get("not_found_pmids") or ended.error)


@_mark_live
def test_a_retraction_is_marked(run: Run) -> None:
    (article,) = run("fetch", X.retracted).document["articles"]

    assert article["retraction_status"] == "retracted"
    assert article["standing"]["status"] == "retracted"


@_mark_live
def test_a_repeated_sync_changes_nothing(run: Run) -> None:
    term = " OR ".join(f"{pmid}[uid]" for pmid in PMIDS)
    first, again = (run("corpus", "sync", "again", term, "--overlap-days", "9").document for _ in range(2))

    assert first["pmids_processed"] == first["inserted"] + first["updated"] + first["skipped"] == len(PMIDS)
    assert (again["inserted"], again["updated"]) == (0, 0)


@_mark_live
def test_agents_are_served(run: Run) -> None:
    assert run("serve", "--check").status == 0


@_mark_live
def test_the_services_answer_as_expected(run: Run, tmp_path: Path) -> None:
    ended = run("doctor", "--deep", "--save", str(tmp_path / "replies"))

    verdicts = {one["name"]: one["verdict"] for one in ended.document["comparisons"]}
    assert {name: verdict for name, verdict in verdicts.items() if verdict not in ("agrees", "skipped")} == {}
    assert (tmp_path / "replies" / "SOURCES.md").is_file()
