"""The answers of a local copy equal those of the sandbox for the same records."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from command_line import Cli, read_error
from fixture_types import KitFor
from local_copies import RECORDS

from entrez_kit import EntrezKit
from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.settings import load_settings
from entrez_kit.base.tracing import trace
from entrez_kit.local import copy_mesh
from entrez_kit.local.copies import open_copy
from entrez_kit.local.eutils.database import SearchCall
from entrez_kit.local.eutils.pubmed import PubMedDatabase
from entrez_kit.local.records import sort_orders
from entrez_kit.local.records.collection import ParsedCollection
from entrez_kit.local.records.document import Document
from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.query.dialects.pieces import choose_label
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.clients import ServerServices
from entrez_kit.server.tools import Toolbox
from entrez_kit.strategies.prove_strategy import add_proofs
from entrez_kit.strategies.strategy import read_strategy

DIFFERENT = {"warnings", "searched_at", "sources", "efetch_details", "build", "last_update", "term_count", "message"}
"""What depends on who answers: the copy names itself and has a date of its own."""
PUBMED = "pubmed"


@pytest.fixture(name="copy")
def copy_fixture(copied_home: Path) -> Iterator[EntrezKit]:
    """Return a kit that uses the copy."""
    with EntrezKit(home=copied_home, local="demo") as kit:
        yield kit


@pytest.fixture(name="local")
def local_fixture(copied_home: Path, alone: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Call the program with a home that has the copy."""
    monkeypatch.setenv("ENTREZ_KIT_HOME", str(copied_home))
    return alone


def remove(document: Any) -> Any:
    """Return a document without the parts that depend on the source."""
    if isinstance(document, dict):
        return {
            name: remove(value)
            for name, value in document.items()
            if name not in DIFFERENT and not name.endswith("_url")
        }
    if isinstance(document, list):  # a copy has no links to databases that it lacks
        return [remove(one) for one in document if not (isinstance(one, dict) and one.get("db_to", PUBMED) != PUBMED)]
    return document


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("search_articles", {"query_term": "crispr[tiab]", "sort_by": "pub_date", "fetch_brief_summaries": 3}),
        ("search_articles", {"query_term": '"base editing"[ti] OR neoplasms[mh]', "sort_by": "author"}),
        (
            "search_articles",
            {
                "query_term": "humans[mh]",
                "sort_by": "journal_name",
                "date_range": {"min_date": "2022", "max_date": "2023"},
            },
        ),
        ("search_articles", {"query_term": "smith j[au] NOT review[pt]", "sort_by": "pub_date", "offset": 1}),
        ("fetch_contents", {"pmids": ["99000001", "99000030", "1"], "include_grant_info": True}),
        ("fetch_contents", {"pmids": ["99000001"], "detail_level": "medline_text"}),
        ("article_relationships", {"source_pmid": "99000005", "relationship_type": "pubmed_citedin"}),
        ("article_relationships", {"source_pmid": "99000005", "relationship_type": "pubmed_similar_articles"}),
        ("format_citations", {"pmids": ["99000005", "99000001"], "styles": ["apa", "vancouver"]}),
        ("convert_ids", {"ids": ["99000005", "PMC99000004", "10.5555/ekit.2023.0005", "10.5555/none"]}),
        ("lookup_mesh", {"query": "neoplasms", "include_tree": True}),
        ("lookup_mesh", {"query": "D009369"}),
        ("lookup_mesh", {"query": "disease"}),
        ("spell_check", {"query": "crisprr"}),
        ("count_facets", {"query_term": "crispr[tiab]"}),
        ("info", {"db": "pubmed"}),
        ("info", {"db": "mesh"}),
        ("summary", {"db": "pubmed", "ids": ["99000005"]}),
        ("search", {"db": "mesh", "term": "neoplasms[mh]"}),
        ("fetch", {"db": "pubmed", "ids": ["99000005"], "rettype": "abstract", "retmode": "text"}),
        ("link", {"db": "pubmed", "ids": ["99000005"], "dbfrom": "pubmed", "linkname": "pubmed_pubmed_citedin"}),
    ],
)
def test_a_copy_returns_the_documents_of_the_sandbox(
    copy: EntrezKit, kit_for: KitFor, sandbox: Sandbox, method: str, arguments: dict[str, Any]
) -> None:
    def run(kit: EntrezKit) -> Any:
        operation = next(
            operation for operation in OPERATIONS if operation.method == method or operation.name == f"entrez_{method}"
        )
        try:
            return operation.run(kit.services, arguments).model_dump(mode="json")
        except EntrezKitError as exc:
            return exc.code, exc.reason

    assert remove(run(copy)) == remove(run(kit_for(sandbox)))


def test_all_results_have_a_certificate_that_the_sandbox_confirms(
    copy: EntrezKit, kit_for: KitFor, sandbox: Sandbox
) -> None:
    here, there = (kit.search_all(query_term="2020:2026[dp]") for kit in (copy, kit_for(sandbox)))

    assert here.certificate
    assert there.certificate
    assert (here.certificate.sha256, here.certificate.missing) == (there.certificate.sha256, 0)
    assert here.certificate.retrieved == here.total_found
    assert here.certificate.retrieved > 20


@pytest.mark.parametrize(
    ("query", "fidelity"),
    [("crispr[tiab]", "exact"), ('"base editing"[ti]', "exact_phrase"), ("crispr", "approximate")],
)
def test_every_search_names_the_copy_and_its_fidelity(copy: EntrezKit, query: str, fidelity: str) -> None:
    found = copy.search_articles(query_term=query, sort_by="pub_date")

    (said,) = [warning.message for warning in found.warnings if warning.code == "local"]
    label = copy.settings.copy_label
    assert label.startswith("demo (PubMed of ")
    assert label in said
    assert f"Fidelity: {fidelity}" in said
    assert found.search_parameters.sort_by == "pub_date"


def test_a_heading_missing_in_the_mesh_of_the_copy_is_not_reported_as_exact(local: Cli, tmp_path: Path) -> None:
    local("local", "import", "bare", str(RECORDS / "cancer.xml"))

    for query, fidelity in (('"neoplasms"[mh]', "approximate"), ('"neoplasms"[mh:noexp]', "exact")):
        for name, expected in (("bare", fidelity), ("demo", "exact")):
            done = local("search", query, "--local", name, "--sort", "pub_date", "-f", "ids")
            assert f"Fidelity: {expected}" in done.err, (query, name)
    assert "narrower headings" in local("search", '"neoplasms"[mh]', "--local", "bare").err


def test_a_copy_without_mesh_refuses_to_look_up_a_heading(local: Cli) -> None:
    local("local", "import", "bare", str(RECORDS / "cancer.xml"))

    for command in (("mesh", "neoplasms"), ("db", "search", "mesh", "neoplasms")):
        refused = local(*command, "--local", "bare", "--json")
        assert refused.status == 8
        assert read_error(refused)["details"] == {"reason": "not_in_copy", "part": "mesh"}
    assert json.loads(local("db", "info", "--local", "bare", "--json").out)["databases"] == ["pubmed"]


def test_records_without_mesh_terms_are_counted_without_a_change_of_fidelity(local: Cli) -> None:
    done = local("search", '"breast neoplasms"[mh]', "--local", "demo", "--sort", "pub_date", "--json")

    assert "Fidelity: exact." in done.err


def test_relevance_has_the_name_of_its_own_formula(copy: EntrezKit) -> None:
    found = copy.search_articles(query_term="crispr[tiab]")

    assert found.search_parameters.sort_by == "bm25"
    assert "BM25" in next(warning.message for warning in found.warnings if warning.code == "local")


@pytest.mark.parametrize(
    ("arguments", "code", "reason", "status"),
    [
        (["search", "crispr[foo]"], "INVALID_INPUT", "unknown_field", 2),
        (["search", "crispr AND free full text[sb]"], "INVALID_INPUT", "not_in_copy", 2),
        (["search", "crispr", "--free-full-text"], "INVALID_INPUT", "not_in_copy", 2),
        (["search", "crispr AND pubmed books[sb]"], "INVALID_INPUT", "not_in_copy", 2),
        (["europepmc", "crispr"], "NOT_CONFIGURED", "not_in_copy", 8),
        (["fulltext", "99000005"], "NOT_CONFIGURED", "not_in_copy", 8),
        (["db", "search", "protein", "crispr"], "NOT_CONFIGURED", "not_in_copy", 8),
        (["gene", "search", "TP53"], "UPSTREAM_ERROR", "not_in_copy", 5),
        (["gene", "pubmed", "7157"], "UPSTREAM_ERROR", "not_in_copy", 5),
    ],
)
def test_a_question_that_a_copy_cannot_answer_is_refused_by_name(
    local: Cli, arguments: list[str], code: str, reason: str, status: int
) -> None:
    done = local(*arguments, "--local", "demo", "--json")

    error = read_error(done)
    assert (error["code"], error["details"]["reason"], done.status) == (code, reason, status)
    assert not done.out
    assert "Fidelity" not in done.err  # a refusal is not an answer


@pytest.mark.parametrize(
    "arguments",
    [
        ["fetch", "1"],
        ["fetch", "10.5555/none"],
        ["cite", "1"],
        ["convert", "1", "PMC1", "10.5555/none"],
        ["related", "1"],
        ["match", "--journal", "Nature", "--year", "1901", "--volume", "1", "--page", "1"],
    ],
)
def test_missing_records_of_a_copy_are_not_reported_as_missing_in_pubmed(local: Cli, arguments: list[str]) -> None:
    done = local("-q", "--local", "demo", *arguments, "--json")

    said = f"{done.out}{done.err}"
    assert "local copy demo (PubMed of 2026-03-06" in said
    for wrong in ("PubMed has no", "PubMed has ", "NCBI does", "NCBI has", "Run the command again"):
        assert wrong not in said


@pytest.mark.parametrize("command", ["llinks", "prlinks", "lcheck"])
def test_links_to_publishers_are_refused_and_not_reported_as_absent(copy: EntrezKit, command: str) -> None:
    with pytest.raises(EntrezKitError) as refused:
        copy.services.eutils.elink(dbfrom="pubmed", db="pubmed", cmd=command, ids=["99000005"])
    assert (refused.value.details["reason"], refused.value.details["part"]) == ("not_in_copy", "linkout")


def test_a_count_has_no_order(copy: EntrezKit) -> None:
    for number, is_ordered in ((0, False), (1, True)):
        with trace() as traced:
            found = copy.services.eutils.esearch(db="pubmed", term="crispr[ti]", sort="relevance", retmax=number)
        assert found.value.count > 1
        assert ("BM25" in traced.describe_fidelity()) is is_ordered


def test_a_page_of_the_most_relevant_records_is_a_part_of_the_whole_order(copy: EntrezKit) -> None:
    def find(**options: Any) -> list[str]:
        found = copy.services.eutils.esearch(db="pubmed", term="crispr OR cancer", sort="relevance", **options)
        return list(found.value.ids)

    whole = find(retmax=1_000)

    assert len(set(whole)) == len(whole) > 10
    assert find(retmax=3) == whole[:3]
    assert find(retstart=3, retmax=4) == whole[3:7]
    assert find(retmax=3, usehistory=True) == whole[:3]


def test_records_beyond_the_ceiling_are_found_without_an_order(
    copy: EntrezKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_copy(copy.settings, "demo")) as opened:
        database = PubMedDatabase(opened.collection)
        whole = list(database.search(SearchCall("crispr OR cancer", sort="relevance")).ids)
        monkeypatch.setattr("entrez_kit.local.eutils.pubmed.CEILING", 5)
        found = list(database.search(SearchCall("crispr OR cancer", sort="relevance")).ids)

    assert len(whole) > 5
    assert found[:5] == whole[:5]
    assert sorted(found) == sorted(whole)


def test_spelling_suggestions_are_from_titles_and_words_of_abstracts_are_accepted(copy: EntrezKit) -> None:
    assert copy.spell_check(query="crisprr").corrected == "crispr"
    with closing(open_copy(copy.settings, "demo")) as opened:
        words = opened.collection.count_words()
        rest = [word for word in opened.index.list_words("abstract") if word.isalpha() and word not in set(words)]
        assert rest
        assert all(word in words for word in rest)
        assert "crisprr" not in words
        assert words["crispr"] == len(opened.index.find_word("title", "crispr")) + len(
            opened.index.find_word("mesh", "crispr")
        )


def test_an_unknown_word_never_widens_a_search(copy: EntrezKit) -> None:
    assert copy.search_articles(query_term="crispr[tiab] AND zzyzx[tiab]").total_found == 0


def test_a_check_reports_that_other_sources_were_not_requested(local: Cli, tmp_path: Path) -> None:
    file = tmp_path / "references.txt"
    file.write_text(
        "Luo Q, Auerhahn B, Marrowby TJ. CRISPR off-target detection: what ten assays agree on. "
        "Ann Imaginary Genome Ed (Demo). 2023;7(4):R12-R39. doi:10.5555/ekit.2023.0005\n\n"
        "Nobody N. A thing that does not exist. Nature. 2020;1:1-2. doi:10.5555/none.1\n",
        encoding="utf-8",
    )
    done = local("--local", "demo", "check", str(file), "--json")

    first, second = json.loads(done.out)["references"]
    assert first["status"] == "verified"
    says = {one["source"]: one["says"] for one in first["sources"]}
    assert says["pubmed"] == "none"
    assert {says[name] for name in ("europepmc", "crossref", "openalex")} == {"not_asked"}
    assert (second["status"], second["standing_status"]) == ("unchecked", "unknown")
    assert "Run the command again" not in done.err
    assert "PubMed has" not in done.out
    assert done.status == 4


@pytest.mark.parametrize("form", ["json", "ids", "csv", "table"])
def test_stderr_names_the_copy_once_with_the_fidelity(local: Cli, form: str) -> None:
    done = local("-q", "search", "crispr[ti]", "--sort", "pub_date", "-f", form, "--local", "demo")

    (line,) = done.err.splitlines()
    assert "demo (PubMed of 2026-03-06" in line
    assert "Fidelity: exact." in line


def test_flags_that_contradict_a_copy_are_refused_and_others_have_no_effect(
    local: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = local("--local", "demo", "search", "crispr[ti]", "-f", "ids")
    assert plain.out.split()

    both = local("--local", "demo", "--demo", "search", "crispr", "--json")
    assert (read_error(both)["details"]["reason"], both.status) == ("bad_usage", 2)
    missing = local("--local", "none", "search", "crispr", "--json")
    assert (read_error(missing)["details"]["reason"], missing.status) == ("no_such_copy", 3)
    for flag in ("--offline", "--refresh", "--no-cache"):
        assert local("--local", "demo", flag, "search", "crispr[ti]", "-f", "ids").out == plain.out
    monkeypatch.setenv("ENTREZ_KIT_LOCAL", "demo")
    assert local("search", "crispr[ti]", "-f", "ids").out == plain.out
    assert "Local copy" not in local("--demo", "search", "crispr[ti]", "-f", "ids").err


def test_a_project_file_cannot_choose_a_copy(tmp_path: Path) -> None:
    (tmp_path / "entrez-kit.toml").write_text('local = "demo"\n', encoding="utf-8")

    settings = load_settings(environ={"HOME": str(tmp_path)}, working_dir=tmp_path)

    assert settings.local is None
    assert any("local" in note for note in settings.notes)


def test_agents_get_the_name_of_the_copy_with_every_result(copied_home: Path) -> None:
    settings = load_settings({"home": copied_home, "local": "demo"}).prepare()
    with ServerServices(settings) as services:
        label = services.settings.copy_label
        toolbox = Toolbox(OPERATIONS)
        found = toolbox.call(services, "pubmed_search_articles", {"query_term": "crispr[ti]"})
        missing = toolbox.call(services, "europepmc_search", {"query": "crispr"})
        assert services.watched.health.status == "Unknown"

    assert label in json.dumps(found.structured_content)
    assert label in (found.meta or {})["local"]
    assert missing.is_error
    assert label in (missing.meta or {})["local"]


def test_the_settings_of_an_opened_copy_can_be_used_again(copied_home: Path) -> None:
    with EntrezKit(home=copied_home, local="demo") as first, EntrezKit(replace(first.settings)) as second:
        assert second.search_articles(query_term="crispr[ti]").total_found


STRATEGY = "1. crispr.ti,ab,kf.\n2. crispr.ti,ab.\n3. (crispr adj2 edit$).ti.\n4. exp Neoplasms/\n5. 1 not 2\n"


def test_labels_of_a_strategy_are_proven_on_a_copy(local: Cli, tmp_path: Path) -> None:
    file = tmp_path / "s.txt"
    file.write_text(STRATEGY, encoding="utf-8")

    document = json.loads(local("--local", "demo", "strategy", "count", str(file), "--json").out)

    lines = {line["number"]: line for line in document["lines"]}
    assert [lines[number]["proof"]["same"] for number in (1, 4)] == [True, True]
    for line in lines.values():
        proof = line["proof"]
        assert proof["pubmed_records"] == line["count"]
        assert proof["same"] == (not proof.get("line_only") and not proof.get("pubmed_only"))
    assert lines[1]["proof"]["line_records"] > 0
    assert lines[4]["proof"]["line_records"] > 0


def test_witnesses_correct_a_wrong_label_and_those_that_depend_on_it(copy: EntrezKit) -> None:
    strategy = read_strategy("1. crispr.ti,ab,kf.\n2. (base adj editing).ti.\n3. 1 and 2\n4. 1 not 2\n")
    strategy.numbered[2].pubmed = "base[tiab]"

    proofs = add_proofs(strategy, copy.services)

    labels = {number: choose_label(line.losses) for number, line in strategy.numbered.items()}
    assert labels == {1: "exact", 2: "wider", 3: "wider", 4: "narrower"}
    assert proofs[2].pubmed_only
    wrong = copy.search_articles(query_term='base[tiab] NOT "base editing"[ti]', max_results=1000).pmids
    assert {*proofs[2].pubmed_only} <= {*wrong}
    assert [note.code for note in strategy.numbered[2].notes] == ["label-disproved"]


def test_limits_that_no_copy_has_are_not_proven(local: Cli, tmp_path: Path) -> None:
    file = tmp_path / "s.txt"
    file.write_text("#1 'asthma'/exp\n#2 asthma:ti\n#3 #1 OR #2\n", encoding="utf-8")

    lines = json.loads(local("--local", "demo", "strategy", "translate", str(file), "--json").out)["lines"]

    assert ["proof" in line for line in lines] == [False, True, False]
    assert [any(one.startswith("not-proven") for one in line["warnings"]) for line in lines] == [True, False, True]


def test_mesh_of_a_copy_decides_which_headings_exist(local: Cli, tmp_path: Path) -> None:
    file = tmp_path / "s.txt"
    file.write_text(
        "1. exp Heart Attack/\n2. exp Zebra Violins/\n3. exp Neoplasms/\n4. Violins[majr]\n5. or/1-4\n",
        encoding="utf-8",
    )

    found = json.loads(local("--local", "demo", "strategy", "lint", str(file), "--json").out)["findings"]

    codes = {(one["code"], one["line"]) for one in found}
    assert {("heading-renamed", 1), ("not-mesh", 2), ("not-mesh", 4)} <= codes
    assert not {("heading-renamed", 3), ("not-mesh", 3)} & codes


def test_no_question_reads_the_whole_mesh_of_a_copy(copy: EntrezKit, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Iterator[str]:
        raise AssertionError("all records of MeSH were read")

    monkeypatch.setattr(copy_mesh._Uids, "__iter__", fail)  # a full iteration has no visible effect

    assert copy.lookup_mesh(query="neoplasms").results[0].ui == "D009369"
    assert copy.lookup_mesh(query="zzyzx neoplasms").total_found == 0
    info = copy.entrez_info(db="mesh").database
    assert info is not None
    assert {field.name: field.term_count for field in info.fields}["UID"] == copy_mesh.StoredMesh(
        open_copy(copy.settings, "demo").reading
    ).count


def test_a_copy_without_the_texts_of_a_new_sort_order_refuses_it(
    copy: EntrezKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(cast(dict[str, str], sort_orders.SORTS), "title", "title")
    readers = cast(dict[str, Callable[[Document], str]], sort_orders.SORT_TEXTS)
    monkeypatch.setitem(readers, "title", lambda document: document.title)
    parsed = ParsedCollection.from_paths([RECORDS])

    assert parsed.index.has_sort_texts("title")
    titles = [parsed.read_document(number).title for number in parsed.index.rank(range(parsed.size), "title")]
    assert titles == sorted(titles)
    with pytest.raises(EntrezKitError, match="cannot sort by 'title'") as refused:
        copy.eutils.esearch(db="pubmed", term="crispr", sort="title")
    assert refused.value.reason == "not_in_copy"
    assert "import it again" in str(refused.value.recovery_hint)
    with pytest.raises(EntrezKitError) as unknown:
        copy.eutils.esearch(db="pubmed", term="crispr", sort="size")
    assert "import it again" not in str(unknown.value.recovery_hint)
    assert copy.eutils.esearch(db="pubmed", term="crispr", sort="pub_date").value.ids
