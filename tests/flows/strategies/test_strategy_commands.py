"""Strategies in the terminal, in Python and as tools, against the demo's services."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import strategy_files
from command_line import Cli, read_error
from word_documents import write_paragraph, write_word

from entrez_kit.sandbox.server import Sandbox


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


LINES = "1. crispr.ti,ab.\n2. nosuchword$.ti.\n3. 1 or 2\n4. aspirin.jw.\n5. 3 or 4\n6. 1 not 2\n"


def test_a_translation_sends_no_request(cli: Cli, sandbox: Sandbox) -> None:
    Path("s.txt").write_text(strategy_files.OVID, encoding="utf-8")

    done = cli("strategy", "translate", "s.txt", "--json")

    assert done.status == 0
    assert set(done.document) == {"dialect", "lines", "final", "query"}
    assert "".join(line["original"] for line in done.document["lines"]) == strategy_files.OVID
    assert sandbox.requests() == 0


def test_a_rejected_line_is_never_counted_as_zero(cli: Cli, sandbox: Sandbox) -> None:
    Path("s.txt").write_text(LINES, encoding="utf-8")

    done = cli("strategy", "count", "s.txt", "--json")

    lines = {line["number"]: line for line in json.loads(done.out)["lines"]}
    assert lines[1]["count"] > 0
    assert lines[2]["count"] == 0
    assert lines[3]["count"] == lines[1]["count"] == lines[6]["count"]
    assert "count" not in lines[4]
    assert "count" not in lines[5]
    assert done.status == 0


@pytest.mark.parametrize("command", [("count",), ("lint", "--online", "--fail-on", "no-hits")])
def test_a_line_that_pubmed_does_not_count_is_named_with_status_4(
    cli: Cli, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    Path("s.txt").write_text("1. crispr.ti,ab.\n2. splice.ti,ab.\n3. 1 or 2\n", encoding="utf-8")
    monkeypatch.setenv("NCBI_MAX_RETRIES", "0")
    sandbox.fail_next("html", "esearch")

    first, *arguments = command
    done = cli("strategy", first, "s.txt", *arguments, "--json")
    again = cli("strategy", first, "s.txt", *arguments, "--json")

    [missing] = read_error(done)["details"]["missing"]
    assert (done.status, again.status) == (4, 0)
    assert missing in read_error(done)["message"]
    if command == ("count",):
        assert [str(line["number"]) for line in done.document["lines"] if "count" not in line] == [missing]


def test_a_last_line_that_cannot_be_searched_is_an_incomplete_result(cli: Cli, sandbox: Sandbox) -> None:
    Path("s.txt").write_text(LINES.rsplit("6.", 1)[0], encoding="utf-8")

    done = cli("strategy", "count", "s.txt", "--json")

    assert done.status == 4
    assert json.loads(done.out)["query"] is None
    assert json.loads(done.err)["error"]["details"]["missing"][0]["number"] == 4
    assert cli("search", "--strategy", "s.txt").status == 2


def test_a_search_runs_the_last_line_of_a_strategy(cli: Cli, sandbox: Sandbox) -> None:
    Path("s.txt").write_text("1. crispr.ti,ab.\n2. splice.ti,ab.\n3. 1 and 2\n4. 1 not 2\n", encoding="utf-8")

    lines = json.loads(cli("strategy", "count", "s.txt", "--json").out)["lines"]
    found = json.loads(cli("search", "--strategy", "s.txt", "--no-broader", "--json").out)

    *earlier, last = [line["count"] for line in lines]
    assert found["total_found"] == last > 0
    assert last not in earlier


@pytest.mark.parametrize("suffix", ["csv", "md"])
def test_a_report_has_every_line(cli: Cli, suffix: str) -> None:
    Path("s.txt").write_text(strategy_files.OVID, encoding="utf-8")

    assert cli("strategy", "translate", "s.txt", "-o", f"report.{suffix}").status == 0
    report = Path(f"report.{suffix}").read_text(encoding="utf-8")
    assert all(f"#{number}" in report for number in (4, 7, 13, 14))


def test_a_word_document_is_read_like_text(cli: Cli) -> None:
    Path("s.md").write_text(strategy_files.TABLE, encoding="utf-8")
    listed = ("1. exp Asthma/", "2. wheez$.tw.", "3. 1 or 2")
    Path("s.docx").write_bytes(write_word(*(write_paragraph(line) for line in listed)))

    texts = [json.loads(cli("strategy", "translate", name, "--json").out)["query"] for name in ("s.md", "s.docx")]
    assert texts == ['("Asthma"[mh]) OR (wheez*[tiab])'] * 2


def test_a_word_list_comes_from_files(cli: Cli) -> None:
    Path("s.txt").write_text("(heart adj3 fail$).ti.\n", encoding="utf-8")
    Path("known.txt").write_text("Failing hearts and heart failure.", encoding="utf-8")

    document = json.loads(cli("strategy", "translate", "s.txt", "--words", "known.txt", "--json").out)

    assert document["query"] == '"heart failing"[ti:~2] OR "heart failure"[ti:~2]'
    assert any("known.txt" in loss for loss in document["lines"][0]["loss"])


def test_lint_ends_with_status_4_if_there_is_a_finding_that_counts(cli: Cli, sandbox: Sandbox) -> None:
    Path("s.txt").write_text("1. exp Asthma/\n2. asthma$.tw.\n3. nosuchword$.ti.\n4. 1 or 2\n", encoding="utf-8")

    offline = cli("strategy", "lint", "s.txt", "--json")
    online = cli("strategy", "lint", "s.txt", "--online", "--json")

    assert [one["code"] for one in json.loads(offline.out)["findings"]] == ["unused-line"]
    assert (offline.status, online.status) == (4, 4)
    assert ("no-hits", 3) in {(one["code"], one["line"]) for one in json.loads(online.out)["findings"]}
    assert cli("strategy", "lint", "s.txt", "--fail-on", "error").status == 0
    assert cli("strategy", "lint", "s.txt", "--ignore", "unused-line").status == 0
    assert cli("strategy", "lint", "s.txt", "--fail-on", "nosuchcode").status == 2
    refused = cli("strategy", "lint", "s.txt", "--ignore", "unused-line,nosuchcode")
    assert (refused.status, refused.out) == (2, "")
    assert "nosuchcode" in read_error(refused)["message"]


def test_a_file_for_lint_that_is_not_from_mesh_is_refused_without_a_list_of_importable_files(cli: Cli) -> None:
    Path("s.txt").write_text("1. asthma.ti.\n", encoding="utf-8")
    for text in ("hello world\n", "<PubmedArticleSet></PubmedArticleSet>"):
        Path("words.txt").write_text(text, encoding="utf-8")
        done = cli("strategy", "lint", "s.txt", "--mesh", "words.txt")

        error = read_error(done)
        assert (done.status, done.out) == (2, "")
        assert "words.txt" in error["message"]
        assert "import" not in error["message"] + error["recovery_hint"]


def test_lint_online_finds_dropped_phrases_common_words_and_unknown_headings(
    cli: Cli, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.strategies.lint_strategy.MAX_HITS", 3)
    lines = ('crispr[tiab] OR "zebra violins"[tiab]', "crispr[tiab]", '"Heart Attack"[mh]', '"Zebra Violins"[mh]')
    text = "".join(f"{number}. {line}\n" for number, line in enumerate(lines, 1))
    Path("s.txt").write_text(text + "5. #1 OR #2 OR #3 OR #4\n", encoding="utf-8")

    found = json.loads(cli("strategy", "lint", "s.txt", "--online", "--json").out)["findings"]

    codes = {(one["code"], one["line"]) for one in found}
    assert {("dropped-phrase", 1), ("explosion-of-hits", 2), ("heading-renamed", 3), ("not-mesh", 4)} <= codes
    assert not {("dropped-phrase", 2), ("not-mesh", 3)} & codes


def test_lint_writes_a_corrected_copy_once(cli: Cli) -> None:
    Path("s.txt").write_text("“Asthma”[mh] or asthma[tiab]\n", encoding="utf-8")

    cli("strategy", "lint", "s.txt", "--fix")

    assert Path("s.fixed.txt").read_text(encoding="utf-8") == '"Asthma"[mh] OR asthma[tiab]\n'
    assert cli("strategy", "lint", "s.txt", "--fix").status == 2
    assert cli("strategy", "lint", "s.fixed.txt").status == 0


# Recall

KNOWN = ("99000047", "99000005", "99000007", "99000071", "99000001", "99000031", "99000012")


def run_recall(cli: Cli, *known: str, strategy: str = "", options: tuple[str, ...] = ()) -> dict[str, Any]:
    Path("s.txt").write_text(
        strategy or "1. crispr.ti,ab.\n2. (edit$ or screens).ti,ab.\n3. 1 and 2\n", encoding="utf-8"
    )
    Path("known.txt").write_text("\n".join(known), encoding="utf-8")
    done = cli("strategy", "recall", "s.txt", "--known", "known.txt", "--json", *options)
    assert done.status == 0, done.err
    document: dict[str, Any] = json.loads(done.out)
    return document


def test_removing_a_block_reproduces_its_loss(cli: Cli, sandbox: Sandbox) -> None:
    both = run_recall(cli, *KNOWN)
    first = run_recall(cli, *KNOWN, strategy="1. crispr.ti,ab.\n")
    second = run_recall(cli, *KNOWN, strategy="1. (edit$ or screens).ti,ab.\n")

    assert both["found"] + len([one for one in both["records"] if one["status"] == "missed"]) == both["in_pubmed"] == 7
    assert [block["known_found"] for block in both["blocks"]] == [first["found"], second["found"]]
    assert [block["known_found_without"] for block in both["blocks"]] == [second["found"], first["found"]]
    assert [block["records_without"] for block in both["blocks"]] == [second["total_found"], first["total_found"]]


def test_a_missed_record_names_its_block_and_a_change_that_finds_it_with_its_cost(cli: Cli, sandbox: Sandbox) -> None:
    document = run_recall(cli, *KNOWN)

    missed = next(one for one in document["records"] if one["status"] == "missed")
    block = missed["missed_by"][0]
    line = document["blocks"][block - 1]["query"]
    others = " AND ".join(f"({one['query']})" for one in document["blocks"] if one["block"] not in missed["missed_by"])
    changed = f"(({line}) OR {missed['change']['add']})" + (f" AND {others}" if others else "")
    found = json.loads(cli("search", changed, "-n", "99", "--no-broader", "--json").out)
    assert missed["pmid"] in found["pmids"]
    assert found["total_found"] - document["total_found"] == missed["change"]["added_records"]
    assert missed["words"]


@pytest.mark.long
def test_the_search_for_changes_has_a_limited_number_of_requests_for_many_missed_records(
    cli: Cli, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.strategies.measure_recall.MAX_SEARCHES", 60)
    known = [str(99000001 + number) for number in range(30)]

    document = run_recall(cli, *known, strategy="1. crispr.ti.\n2. (base adj editing).ti.\n3. 1 and 2\n")

    missed = [one for one in document["records"] if one["status"] == "missed"]
    assert len(missed) > 20
    assert all(one["title"] for one in missed)
    assert sum("change" in one for one in missed) > 20
    assert "changes_in_part" not in {one["code"] for one in document.get("warnings", [])}
    assert sandbox.requests("esearch") < 60 + 20


def test_records_outside_of_pubmed_are_not_counted(cli: Cli, sandbox: Sandbox) -> None:
    document = run_recall(cli, *KNOWN, "12", "PMC99000001", options=("--no-changes",))

    assert document["in_pubmed"] == 7
    assert {one["input"]: one["status"] for one in document["records"]}["12"] == "not_in_pubmed"
    assert all("change" not in one for one in document["records"])
    assert run_recall(cli, "12")["recall"] is None


def test_known_records_may_be_references(cli: Cli, sandbox: Sandbox) -> None:
    Path("s.txt").write_text("crispr[tiab]\n", encoding="utf-8")
    Path("known.ris").write_text(
        "TY  - JOUR\nTI  - No identifier\nER  - \nTY  - JOUR\nTI  - One\nAN  - 99000047\nER  - \n", encoding="utf-8"
    )

    document = json.loads(cli("strategy", "recall", "s.txt", "--known", "known.ris", "--json").out)

    assert [one["status"] for one in document["records"]] == ["unresolved", "found"]


def test_records_from_which_the_strategy_was_built_do_not_validate_it(cli: Cli, sandbox: Sandbox) -> None:
    assert run_recall(cli, "99000047")["independent"]
    assert not run_recall(cli, "99000047", options=("--used-to-build",))["independent"]
    assert not run_recall(cli, "99000047", strategy="crispr[tiab] OR 99000047[pmid]\n")["independent"]


def test_lint_finds_a_not_that_excludes_known_records(cli: Cli, sandbox: Sandbox) -> None:
    Path("s.txt").write_text("1. crispr.ti,ab.\n2. editing.ti,ab.\n3. 1 not 2\n", encoding="utf-8")
    Path("known.txt").write_text("\n".join(KNOWN), encoding="utf-8")

    found = json.loads(cli("strategy", "lint", "s.txt", "--known", "known.txt", "--json").out)["findings"]

    assert ("not-removes-known", 2) in {(one["code"], one["line"]) for one in found}


def test_a_mesh_file_shows_renamed_and_missing_headings_without_a_request(
    cli: Cli, sandbox: Sandbox, tmp_path: Path
) -> None:
    records = "".join(
        f"<DescriptorRecord><DescriptorUI>D{n}</DescriptorUI><DescriptorName><String>{name}</String></DescriptorName>"
        "<ConceptList><Concept><TermList>"
        + "".join(f"<Term><String>{term}</String></Term>" for term in (name, *terms))
        + "</TermList></Concept></ConceptList></DescriptorRecord>"
        for n, (name, *terms) in enumerate([("Stroke", "Brain Attack"), ("Aphasia", "Stroke, Silent")], start=1)
    )
    packed = tmp_path / "desc2026.gz"
    packed.write_bytes(gzip.compress(f"<DescriptorRecordSet>{records}</DescriptorRecordSet>".encode()))
    file = tmp_path / "s.txt"
    file.write_text("1. exp Brain Attack/\n2. Aphasia/\n3. Dizzy Spells/\n4. or/1-3\n", encoding="utf-8")

    done = cli("strategy", "lint", str(file), "--mesh", str(packed), "--json")

    assert done.status == 4
    found = [(one["code"], one["line"]) for one in json.loads(done.out)["findings"]]
    about = [one for one in found if one[0] in ("heading-renamed", "not-mesh")]
    assert about == [("heading-renamed", 1), ("not-mesh", 3)]
    assert sandbox.requests() == 0
    file.write_text("1. exp Stroke/\n", encoding="utf-8")
    for content in (b"text", gzip.compress(b"<DescriptorRecordSet/>"), packed.read_bytes()[:-20]):
        packed.write_bytes(content)
        assert cli("strategy", "lint", str(file), "--mesh", str(packed)).status == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1. crispr\n2. foo AND (bar\n", 'Line 2 ("foo AND (bar") was refused: an opening parenthesis is not closed.'),
        ("1. crispr\n2. 1 AND 5\n", 'Line 2 ("1 AND 5") was refused: #5 is not in the list (1-2).'),
        ("Search history\n", "The strategy has no search line."),
        ("1. crispr\n2. cas9\n3. 1 or 2\n1. crispr\n2. cas9\n3. 1 or 2\n", "the numbers begin again at row 4."),
    ],
)
def test_a_refused_strategy_is_named_with_its_file_and_its_line(cli: Cli, text: str, problem: str) -> None:
    Path("good.txt").write_text("1. crispr\n", encoding="utf-8")
    Path("bad.txt").write_text(text, encoding="utf-8")
    assert cli("review", "init", "r", "--strategy", "good.txt").status == 0
    Path("r/strategies/pubmed.txt").write_text(text, encoding="utf-8")

    of_review = read_error(cli("review", "search", "--folder", "r"))["message"]
    of_search = read_error(cli("search", "--strategy", "bad.txt"))["message"]

    assert of_review.startswith("strategies/pubmed.txt: ")
    assert of_review.endswith(problem)
    assert of_search.startswith("bad.txt: ")
    assert of_search.endswith(problem)
