"""`entrez-kit corpus` in the terminal: queries are synced, searched, compared and exported."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import rispy
from command_line import Cli, RunResult, read_lines, read_rows
from invented_papers import Paper, write_file
from platform_marks import needs_model2vec, needs_terminal
from program_streams import run_on_terminal
from tiny_model import build_tiny_model

from entrez_kit.base.errors import UpstreamError
from entrez_kit.commands._views import corpus as corpus_views
from entrez_kit.pubmed.record_batches import RecordBatches
from entrez_kit.sandbox.server import Sandbox

needs_pyarrow = pytest.mark.skipif(find_spec("pyarrow") is None, reason="the package pyarrow is not installed")

FISH = Paper(
    1001,
    title="Zebrafish regenerate fins",
    abstract=[("Background", "Fins are lost."), ("Results", "Zebrafish fins grew back in twelve days.")],
    journal="The Lancet",
    types=("Randomized Controlled Trial",),
)
OTHERS = [
    Paper(1002, title="Scales of zebrafish", abstract="Scales shed light.", entered="2024-03-02"),
    Paper(1003, title="Zebrafish hearts", abstract="Hearts beat.", entered="2024-03-03"),
    Paper(1004, title="Danio behaviour", abstract="A zebrafish swims.", entered="2024-03-04"),
]
SYNC = ("corpus", "sync", "fish", "zebrafish")


@pytest.fixture
def pubmed(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """Return a function that points the program at a PubMed with these records while a block runs."""
    numbers = iter(range(100))

    @contextmanager
    def serve(*papers: Paper, **options: Any) -> Iterator[Sandbox]:
        folder = tmp_path / f"pubmed{next(numbers)}"
        if papers:
            options["corpus"] = [write_file(folder, papers)]
        with Sandbox(enforce_limits=False, **options) as sandbox:
            monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", f"{sandbox.url}/entrez/eutils")
            yield sandbox

    return serve


def read_document(done: RunResult) -> Any:
    assert done.status == 0, done.err
    return json.loads(done.out)


def read_corpus_error(done: RunResult) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.err.splitlines()[-1])["error"]
    return found


# the term of the key is stored


def test_later_syncs_of_a_query_update_the_corpus(cli: Cli, pubmed: Callable[..., Any]) -> None:
    changed = OTHERS[0].change_with(title="Scales of the zebrafish", revised="2026-01-02")
    retracted = OTHERS[1].change_with(retracted_in="J Invent. 2026", revised="2026-01-02")
    new = Paper(1005, title="Zebrafish eyes", entered="2024-03-05")
    with pubmed(FISH, *OTHERS):
        first = read_document(cli(*SYNC, "--json"))
        again = read_document(cli("corpus", "sync", "fish", "--json"))  # the key knows its term
    with pubmed(FISH, changed, retracted, new):
        later = read_document(cli(*SYNC, "--overlap-days", "30", "--json"))
        moment = read_document(cli("corpus", "stats", "fish", "--json"))
    difference = read_document(cli("corpus", "diff", "fish", "--since", "2020-01-01", "--json"))

    assert (first["inserted"], first["updated"], first["skipped"]) == (4, 0, 0)
    assert (again["inserted"], again["updated"]) == (0, 0)
    assert (later["inserted"], later["updated"], later["skipped"]) == (1, 3, 1)
    assert any("Newly retracted" in warning for warning in later["warnings"])
    assert any("Withdrawn from PubMed" in warning for warning in later["warnings"])
    assert (moment["documents"], moment["deleted"], moment["retracted"]) == (4, 1, 1)
    assert {item["pmid"] for item in difference["added"]} == {"1001", "1002", "1003", "1005"}


@pytest.mark.long
def test_a_diff_lists_the_changes_since_a_date(
    cli: Cli, pubmed: Callable[..., Any], next_second: Callable[[], str]
) -> None:
    with pubmed(FISH, *OTHERS):
        cli(*SYNC)
    since = next_second()
    after = (
        FISH,
        OTHERS[0].change_with(title="Scales anew", revised="2026-01-02"),
        OTHERS[1].change_with(retracted_in="J Invent. 2026", revised="2026-01-02"),
    )
    with pubmed(*after, Paper(1005, title="Zebrafish eyes", entered="2024-03-05")):
        cli(*SYNC, "--overlap-days", "30")
    found = read_document(cli("corpus", "diff", "fish", "--since", since, "--json"))
    lines = [
        json.loads(line) for line in cli("corpus", "diff", "fish", "--since", since, "-f", "jsonl").out.split("\n")[:-1]
    ]
    table = cli("corpus", "diff", "fish", "--since", since, "-f", "table").out

    changes = {item["pmid"]: kind for kind in ("added", "revised", "retracted", "deleted") for item in found[kind]}
    assert changes == {"1005": "added", "1002": "revised", "1003": "retracted", "1004": "deleted"}
    assert "title" in found["revised"][0]["changed"]
    assert {line["pmid"]: line["change"] for line in lines} == changes
    assert "RETRACTED Zebrafish hearts" in " ".join(table.split())
    assert "1 added, 1 revised, 1 retracted, 1 deleted" in table
    assert "changed: title" in table
    assert cli("corpus", "diff", "fish", "--since", since, "-f", "ids").out.split() == ["1005", "1002", "1003", "1004"]


@pytest.fixture
def next_second(monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """Return a function that puts the clock forward to the next second; ``--since`` is read to the second."""

    class Clock(datetime):
        ahead = timedelta()

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Clock":
            return cls.fromtimestamp(datetime.now(tz).timestamp(), tz) + cls.ahead

    def advance() -> str:
        Clock.ahead += timedelta(seconds=1)
        return Clock.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    monkeypatch.setattr("entrez_kit.corpus.times.datetime", Clock)
    return advance


def test_a_dry_run_counts_records_and_changes_nothing(cli: Cli, pubmed: Callable[..., Any]) -> None:
    with pubmed(FISH, *OTHERS) as sandbox:
        plan = read_document(cli(*SYNC, "--dry-run", "--json"))
        shown = cli(*SYNC, "--dry-run", "-f", "table").out
        assert sandbox.requests("efetch") == 0

    assert (plan["entries"], plan["first_sync"]) == (4, True)
    assert plan["seconds"] >= 1
    assert "nothing was fetched" in shown
    assert read_document(cli("corpus", "list", "--json"))["corpora"] == []


def test_another_term_for_a_key_is_rejected_without_replace_term(cli: Cli, pubmed: Callable[..., Any]) -> None:
    with pubmed(FISH, *OTHERS):
        cli(*SYNC)
        refused = cli("corpus", "sync", "fish", "danio", "--json")
        replaced = read_document(cli("corpus", "sync", "fish", "danio", "--replace-term", "--json"))
    moves = read_document(cli("corpus", "checkpoint", "log", "fish", "--json"))["entries"]

    assert refused.status == 2
    assert read_corpus_error(refused)["code"] == "VALIDATION"
    assert "--replace-term" in read_corpus_error(refused)["details"]["recovery_hint"]
    assert replaced["pmids_processed"] == 1
    assert [move["kind"] for move in moves] == ["automatic", "replace_term", "automatic"]


def test_a_new_key_without_a_term_is_rejected(cli: Cli) -> None:
    done = cli("corpus", "sync", "nothing")

    assert done.status == 2
    assert read_corpus_error(done)["details"]["reason"] == "term_missing"
    assert read_corpus_error(done)["code"] == "VALIDATION"


@pytest.mark.long
@pytest.mark.parametrize("command", [("sync", "k"), ("search", "x"), ("get", "1"), ("checkpoint", "get", "k")])
def test_a_damaged_corpus_is_reported_in_the_envelope_of_the_contract(cli: Cli, command: Sequence[str]) -> None:
    place = Path(read_document(cli("corpus", "stats"))["path"])
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("no database", encoding="utf-8")

    done = cli("corpus", *command)

    assert (done.status, json.loads(done.err).keys()) == (9, {"error"})
    assert (read_corpus_error(done)["code"], read_corpus_error(done)["details"]["reason"]) == ("STORE", "corrupt")


def test_a_key_in_a_suggested_command_is_quoted_for_the_shell(cli: Cli, pubmed: Callable[..., Any]) -> None:
    with pubmed(FISH):
        done = cli("corpus", "sync", "my fish", "zebrafish", "-f", "table")

    assert "--corpus 'my fish'" in done.out
    assert "corpus sync 'other fish'" in cli("corpus", "checkpoint", "get", "other fish", "-f", "table").out


def test_an_incomplete_sync_ends_with_status_4_and_the_next_one_completes_it(
    cli: Cli, pubmed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = RecordBatches.fetch_pmids

    def fetch_without_one(self: RecordBatches, pmids: Sequence[str]) -> Any:
        records, errors = whole(self, [pmid for pmid in pmids if pmid != "1003"])
        return records, {**errors, "1003": UpstreamError("The connection was cut.")}

    with pubmed(FISH, *OTHERS):
        with monkeypatch.context() as patch:
            patch.setattr(RecordBatches, "fetch_pmids", fetch_without_one)
            partial = cli(*SYNC, "--json")
        complete = read_document(cli(*SYNC, "--json"))

    assert partial.status == 4
    assert json.loads(partial.out)["inserted"] == 3
    assert read_corpus_error(partial)["code"] == "UPSTREAM"
    assert read_corpus_error(partial)["details"]["missing"] == ["1003"]
    assert complete["inserted"] == 1


@pytest.mark.long
def test_an_interrupted_sync_ends_with_status_130_and_the_next_one_continues_it(
    cli: Cli, pubmed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = RecordBatches.fetch_pmids
    fetched: list[int] = []

    def interrupt(self: RecordBatches, pmids: Sequence[str]) -> Any:
        if fetched:
            raise KeyboardInterrupt
        fetched.append(len(pmids))
        return whole(self, pmids)

    with pubmed(records=1_100) as sandbox:
        with monkeypatch.context() as patch:
            patch.setattr(RecordBatches, "fetch_pmids", interrupt)
            broken = cli("corpus", "sync", "all", "all[sb]", "--json")
        so_far = read_document(cli("corpus", "stats", "--json"))["documents"]
        before = sandbox.requests("efetch")
        resumed = read_document(cli("corpus", "sync", "all", "--json"))
        efetches = sandbox.requests("efetch") - before

    assert (broken.status, broken.out) == (130, "")
    assert "to continue from here" in broken.err
    assert so_far == fetched[0] == 500
    assert (resumed["inserted"], resumed["skipped"], efetches) == (600, 500, 2)


@needs_model2vec
def test_a_sync_embeds_new_records_and_loses_none_if_embedding_fails(
    cli: Cli, pubmed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ENTREZ_KIT_EMBEDDINGS", "hf")
    monkeypatch.setenv("ENTREZ_KIT_EMBEDDINGS_MODEL", str(tmp_path / "nothing-here"))
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *args, **more: (_ for _ in ()).throw(OSError()))
    with pubmed(FISH, *OTHERS):
        partial = cli(*SYNC, "--json")
        searched = cli("corpus", "search", "zebrafish", "--json")
        monkeypatch.setenv("ENTREZ_KIT_EMBEDDINGS_MODEL", str(build_tiny_model(tmp_path / "tiny")))
        missing = cli("corpus", "search", "zebrafish", "--json")
        again = cli(*SYNC, "--json")
    found = read_document(cli("corpus", "search", "danio", "-n", "2", "--json"))["results"]

    assert partial.status == 4
    assert json.loads(partial.out)["inserted"] == 4
    assert "Not every passage has a vector" in json.loads(partial.out)["warnings"][-1]
    assert "corpus reindex" in read_corpus_error(partial)["details"]["recovery_hint"]
    assert (searched.status, read_corpus_error(searched)["code"]) == (9, "EMBEDDINGS")
    assert (missing.status, read_corpus_error(missing)["code"]) == (9, "EMBEDDINGS")
    assert again.status == 0
    assert read_document(cli("corpus", "stats", "--json"))["vectors"]
    assert all(hit["sim"] is not None for hit in found)


def test_records_of_the_last_sync_can_be_exported_for_a_reference_manager(
    cli: Cli, pubmed: Callable[..., Any], next_second: Callable[[], str], tmp_path: Path
) -> None:
    target = tmp_path / "new.ris"
    with pubmed(FISH):
        cli(*SYNC)
    next_second()
    with pubmed(FISH, *OTHERS):
        cli(*SYNC)
    done = cli("corpus", "diff", "fish", "--since-last", "-o", str(target))

    assert done.status == 0, done.err
    records = rispy.loads(target.read_text(encoding="utf-8"))
    assert sorted(record["title"] for record in records) == sorted(paper.title for paper in OTHERS)
    assert cli("corpus", "diff", "fish", "--since-last", "-f", "ids").out.split() == ["1002", "1003", "1004"]
    assert cli("corpus", "diff", "fish", "-f", "ids").out.split() == ["1002", "1003", "1004"]
    assert cli("corpus", "diff", "fish", "--since-last", "--since", "2026-01-01").status == 2
    assert cli("corpus", "diff", "nobody", "--since-last").status == 3
    next_second()
    with pubmed(FISH, *OTHERS):
        cli(*SYNC)
    assert cli("corpus", "diff", "fish", "--since-last", "-f", "csl").out == "[\n\n]\n"


# Searching


@pytest.mark.long
def test_a_search_can_be_limited_to_a_key_and_printed_in_every_format(cli: Cli, pubmed: Callable[..., Any]) -> None:
    with pubmed(FISH, *OTHERS) as sandbox:
        cli(*SYNC)
        cli("corpus", "sync", "danio", "danio")
        before = sandbox.requests()
        everything = read_document(cli("corpus", "search", "zebrafish", "--json"))["results"]
        narrowed = read_document(cli("corpus", "search", "zebrafish", "--corpus", "danio", "--json"))["results"]
        lines = cli("corpus", "search", "zebrafish", "-f", "jsonl").out.splitlines()
        ids = cli("corpus", "search", "zebrafish", "-f", "ids", "-n", "2").out.split()
        table = read_rows(cli("corpus", "search", "zebrafish", "-f", "csv").out)
        offline = read_document(cli("--offline", "corpus", "search", "zebrafish", "--json"))["results"]
        assert sandbox.requests() == before

    assert [hit["doc_id"] for hit in narrowed] == ["pmid:1004"]
    assert len(everything) == 4
    assert offline == everything
    assert [json.loads(line) for line in lines] == everything
    assert ids == [hit["doc_id"].removeprefix("pmid:") for hit in everything[:2]]
    assert [row["pmid"] for row in table] == [hit["doc_id"].removeprefix("pmid:") for hit in everything]
    assert {"title", "journal", "year", "score"} <= set(table[0])


def test_a_table_shows_titles_and_the_passage_if_there_is_room(
    cli: Cli, pubmed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pubmed(FISH, OTHERS[0].change_with(retracted_in="J. 2025")):
        cli(*SYNC)
    monkeypatch.setenv("COLUMNS", "180")
    wide = cli("corpus", "search", "zebrafish", "fins", "-f", "table").out
    monkeypatch.setenv("COLUMNS", "80")
    narrow = cli("corpus", "search", "zebrafish", "fins", "-f", "table").out

    assert "Zebrafish regenerate fins" in wide
    assert "Zebrafish fins grew back in twelve days." in wide
    assert "RETRACTED Scales of zebrafish" in wide
    assert {"Quality", "Journal", "Year", "PMID"} <= set(wide.split("\n")[0].split())
    assert "grew back" not in narrow
    assert "The Lancet. 2024" in narrow
    assert max(len(line) for line in narrow.splitlines()) <= 80


def test_an_unknown_key_is_rejected_with_the_list_of_known_keys(cli: Cli, pubmed: Callable[..., Any]) -> None:
    with pubmed(FISH):
        cli(*SYNC)
    for command in (
        ("search", "x", "--corpus", "f"),
        ("diff", "f", "--since", "2020"),
        ("stats", "f"),
        ("export", "f"),
    ):
        done = cli("corpus", *command)
        assert done.status == (2 if command[0] == "diff" else 3)
    assert "fish" in cli("corpus", "stats", "f").err


def test_a_search_of_an_empty_corpus_finds_nothing_and_explains_how_to_fill_it(cli: Cli) -> None:
    done = cli("corpus", "search", "zebrafish", "--json")

    assert read_document(done) == {"results": []}
    assert "corpus sync KEY TERM" in done.err


def test_a_record_is_shown_by_any_form_of_its_pmid(cli: Cli, pubmed: Callable[..., Any]) -> None:
    with pubmed(FISH):
        cli(*SYNC)
    shown = [read_document(cli("corpus", "get", name)) for name in ("1001", "pmid:1001", "PMID: 1001")]

    assert shown[0] == shown[1] == shown[2]
    assert "design 2" in cli("corpus", "get", "1001", "-f", "table").out
    assert cli("corpus", "get", "12").status == 3
    assert cli("corpus", "get", "x").status == 2


# Checkpoints


@pytest.mark.long
def test_a_checkpoint_can_be_read_and_set_and_its_log_is_shown(cli: Cli, pubmed: Callable[..., Any]) -> None:
    with pubmed(FISH, *OTHERS):
        cli(*SYNC)
        before = read_document(cli("corpus", "checkpoint", "get", "fish"))
        done = read_document(cli("corpus", "checkpoint", "set", "fish", "2024-03-02", "--note", "once more"))
        again = read_document(cli(*SYNC, "--overlap-days", "0"))
    log = read_document(cli("corpus", "checkpoint", "log", "fish"))["entries"]

    assert before["last_edat"] == "2024-03-04T00:00:00Z"
    assert done == {"ok": True}
    assert again["skipped"] == 3
    assert [(move["kind"], move["note"]) for move in log][1] == ("manual", "once more")
    assert "once more" in cli("corpus", "checkpoint", "log", "fish", "-f", "table").out
    assert cli("corpus", "checkpoint", "set", "fish", "soon").status == 2
    assert cli("corpus", "checkpoint", "log", "nothing").status == 3


# Export


def test_an_export_can_be_read_back(cli: Cli, pubmed: Callable[..., Any], tmp_path: Path) -> None:
    with pubmed(FISH, *OTHERS):
        cli(*SYNC)
    with pubmed(FISH, *OTHERS[:2]):
        cli(*SYNC, "--overlap-days", "30")
    target = tmp_path / "fish.jsonl"
    done = cli("corpus", "export", "fish", "-o", str(target))
    records = read_lines(target)
    some = cli("corpus", "export", "--all", "-f", "jsonl", "--fields", "pmid,title").out.splitlines()

    assert done.status == 0
    assert done.out == ""
    assert "Exported 3 records" in done.err
    assert "1 withdrawn one left out" in done.err
    assert [record["pmid"] for record in records] == ["1001", "1002", "1003"]
    assert records[0]["abstract_sections"][1]["label"] == "Results"
    assert json.loads(some[0]) == {"pmid": "1001", "title": "Zebrafish regenerate fins"}


@pytest.mark.long
@pytest.mark.parametrize("style", ["ris", "bibtex", "csl", "nbib"])
def test_an_export_for_reference_managers_is_what_cite_writes(cli: Cli, pubmed: Callable[..., Any], style: str) -> None:
    with pubmed(FISH, *OTHERS):
        cli(*SYNC)
        cited = cli("cite", "1001", "1002", "1003", "1004", "--style", style, "-f", "text").out
    exported = cli("corpus", "export", "fish", "-f", style).out

    assert "Zebrafish regenerate fins" in exported
    if style != "nbib":
        assert exported.rstrip() == cited.rstrip()


@needs_pyarrow
def test_an_export_to_parquet_has_a_column_for_each_field(
    cli: Cli, pubmed: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    monkeypatch.setattr("entrez_kit.commands._formats.parquet.PAGE", 3)
    with pubmed(FISH.change_with(mesh=("Zebrafish", "Fins")), *OTHERS):
        cli(*SYNC)
    target = tmp_path / "fish.parquet"
    assert cli("corpus", "export", "fish", "-o", str(target)).status == 0
    table = pq.read_table(target)

    assert pq.ParquetFile(target).num_row_groups == 2
    assert table.column("pmid").to_pylist() == [1001, 1002, 1003, 1004]
    first = table.to_pylist()[0]
    assert (first["mesh"], first["year"], first["version"]) == (["Zebrafish", "Fins"], 2024, 1)
    assert first["abstract"].startswith("Background: Fins")


def test_an_export_to_parquet_without_pyarrow_names_the_package_and_leaves_the_file_unchanged(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.base.extras.is_installed", lambda name: False)
    target = tmp_path / "all.parquet"
    target.write_bytes(b"before")
    done = cli("corpus", "export", "--all", "-o", str(target))

    assert done.status == 8
    assert "entrez-kit[parquet]" in read_corpus_error(done)["recovery_hint"]
    assert target.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [target]


def test_an_export_requires_either_a_key_or_all(cli: Cli) -> None:
    assert cli("corpus", "export").status == 2
    assert cli("corpus", "export", "fish", "--all").status == 2
    assert cli("corpus", "export", "--all", "-f", "ris", "--fields", "pmid").status == 2


# Maintenance


def test_a_reindex_does_not_change_the_results_of_searches(cli: Cli, pubmed: Callable[..., Any]) -> None:
    with pubmed(FISH, *OTHERS):
        cli(*SYNC)
    before = cli("corpus", "search", "zebrafish").out
    done = read_document(cli("corpus", "reindex"))

    assert (done["documents"], done["model"], done["vectors"]) == (4, None, 0)
    assert cli("corpus", "search", "zebrafish").out == before
    assert cli("corpus", "reindex", "--anew").status == 9


def test_a_reindex_in_the_demo_says_that_the_demo_has_no_embeddings(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, pubmed: Callable[..., Any]
) -> None:
    with pubmed(FISH, *OTHERS):
        cli(*SYNC)
    own = cli("corpus", "reindex", "-f", "table").out
    monkeypatch.setenv("ENTREZ_KIT_EMBEDDINGS", "hf")
    demo = cli("--demo", "corpus", "reindex", "-f", "table").out

    assert "not configured" in own
    assert "demo" in demo
    assert "not configured" not in demo


def test_the_demo_has_a_corpus_from_the_start(cli: Cli) -> None:
    found = cli("--demo", "corpus", "search", "base", "editing", "--json")
    again = cli("--demo", "corpus", "search", "base", "editing", "--json")

    assert read_document(found)["results"]
    assert "invented articles were synced into it" in found.err
    assert again.out == found.out
    assert "synced" not in again.err
    assert read_document(cli("corpus", "list"))["corpora"] == []


@pytest.mark.long
def test_files_of_the_corpus_cannot_be_read_by_other_users(cli: Cli, pubmed: Callable[..., Any]) -> None:
    with pubmed(FISH):
        cli(*SYNC)
    path = Path(read_document(cli("corpus", "stats"))["path"])

    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("passage", "query", "shown"),
    [
        ("[Title] T\n[Text] One thing. Fins grew back.", "fins growing", "Fins grew back."),
        ("[Title] T\n[Section] RESULTS\n[Text] Fins grew.", "x", "Results: Fins grew."),
        ("[Title] T\n", "x", ""),
        ("", "x", ""),
        ("[Text] " + "word " * 200, "word", ("word " * 56).strip()[:278] + "…"),
    ],
)
def test_a_snippet_is_the_sentence_that_matches_the_query(passage: str, query: str, shown: str) -> None:
    made = corpus_views.choose_sentences(passage, query)

    assert made == shown or (shown.endswith("…") and made.endswith("…") and len(made) <= 280)


@pytest.mark.long
@needs_terminal
@pytest.mark.parametrize("columns", [80, 200])
def test_a_table_is_not_wider_than_the_terminal(columns: int) -> None:
    run_on_terminal("--demo", "corpus", "list", columns=columns)
    ended = run_on_terminal("--demo", "corpus", "search", "base", "editing", "-n", "3", columns=columns)

    assert ended.status == 0
    assert "99000001" in ended.out
    assert max(len(line) for line in ended.out.splitlines()) <= columns
