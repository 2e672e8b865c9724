"""`entrez-kit doctor`: the report in every format, and the exit status."""

import json
from pathlib import Path

import pytest
from command_line import Cli, read_error
from drifting_service import drift, replace_text
from platform_marks import needs_home_variable, needs_terminal
from program_streams import run_on_terminal

from entrez_kit.base.settings import DEMO_WARNING
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.services import known_shapes

ADDRESSES = {
    "EUTILS": "/entrez/eutils",
    "IDCONV": "/idconv",
    "EUROPEPMC": "/europepmc",
    "UNPAYWALL": "/unpaywall",
    "PMC_OA": "/pmc-oa",
    "CROSSREF": "/crossref",
    "OPENALEX": "/openalex",
}


@pytest.fixture
def unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Point every service at a port on which no program listens."""
    monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", "http://127.0.0.1:9/entrez/eutils")


def test_the_demo_is_healthy(main: Cli) -> None:
    ended = main("doctor", "--demo")

    assert (ended.status, ended.err) == (0, f"Warning: {DEMO_WARNING}\n")
    assert ended.document["healthy"] is True
    assert {check["status"] for check in ended.document["checks"]} == {"ok", "skipped"}
    skipped = [check["name"] for check in ended.document["checks"] if check["status"] == "skipped"]
    assert skipped == ["dns", "tcp", "tls"]


def test_the_demo_is_healthy_for_every_service(main: Cli) -> None:
    ended = main("doctor", "--network", "--demo", "-f", "jsonl")

    assert ended.status == 0
    services = [json.loads(line).get("service") for line in ended.out.splitlines()]
    assert list(dict.fromkeys(services)) == [
        None,
        "E-utilities",
        "ID Converter",
        "Europe PMC",
        "Unpaywall",
        "PMC open data",
        "Crossref",
        "OpenAlex",
    ]


@pytest.mark.long
def test_deep_lists_every_comparison_and_a_difference_ends_with_status_4(
    main: Cli, monkeypatch: pytest.MonkeyPatch, no_waiting: None, tmp_path: Path
) -> None:
    with Sandbox(enforce_limits=False) as sandbox:
        for name, path in ADDRESSES.items():
            monkeypatch.setenv(f"ENTREZ_KIT_{name}_URL", f"{sandbox.url}{path}")
        agreeing = main("doctor", "--deep")
        drift(sandbox, "einfo", replace_text("<DbName>", "<New/><DbName>"))
        differing = main("doctor", "--deep", "--save", str(tmp_path / "replies"))
        table = main("doctor", "--deep", "-f", "table")

    assert agreeing.status == 0
    assert {one["verdict"] for one in agreeing.document["comparisons"]} == {"agrees", "skipped"}
    assert differing.status == 4
    assert '"success"' not in differing.err
    assert differing.document["healthy"] is True
    differences = {
        (one["name"], difference["kind"], difference["where"])
        for one in differing.document["comparisons"]
        for difference in one["differences"]
    }
    assert differences == {
        ("EInfo, all databases", "unknown_element", "New"),
        ("EInfo of PubMed", "unknown_element", "New"),
    }
    assert (tmp_path / "replies" / "einfo").is_dir()
    assert table.status == 4
    assert "unknown element <New>" in table.out
    assert "Of 43 requests: 39 agree, 2 differ, 2 skipped." in " ".join(table.out.split())


def test_a_difference_from_the_known_shape_is_only_logged_during_normal_calls(
    main: Cli, monkeypatch: pytest.MonkeyPatch, no_waiting: None
) -> None:
    monkeypatch.setattr(known_shapes, "_noticed", set())  # a difference is logged once a process
    monkeypatch.setenv("MCP_LOG_LEVEL", "debug")
    with Sandbox(enforce_limits=False) as sandbox:
        monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", f"{sandbox.url}/entrez/eutils")
        drift(sandbox, "espell", replace_text("<Query>", "<New/><Query>"))
        reported, quiet = main("spell", "crisper", "-v", "--no-cache"), main("spell", "crisper", "--no-cache")

    assert (reported.status, quiet.status) == (0, 0)
    assert reported.out == quiet.out
    assert "ESpell differs from its known shape: unknown element <New>" in reported.err
    assert "New" not in quiet.err


def test_save_requires_deep_and_an_empty_folder(main: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("", encoding="utf-8")
    for flags in (("--save", str(tmp_path / "new")), ("--deep", "--save", str(tmp_path))):
        ended = main("doctor", *flags, "--demo")

        assert (ended.status, ended.out) == (2, "")
        assert read_error(ended)["invalid_input"].startswith("save=")
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("unreachable")
def test_a_failing_hop_ends_with_status_5_the_report_and_the_envelope(main: Cli) -> None:
    ended = main("doctor")

    assert ended.status == 5
    assert ended.document["healthy"] is False
    (failed,) = [check for check in ended.document["checks"] if check["status"] == "failed"]
    assert (failed["name"], failed["service"]) == ("tcp", "E-utilities")
    assert read_error(ended)["code"] == "UPSTREAM_ERROR"
    assert read_error(ended)["details"] == {"reason": "tcp_failed", "failed": ["E-utilities tcp"]}
    assert read_error(ended)["recovery_hint"] == failed["hint"]


def test_an_invalid_setting_ends_with_status_8(main: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCBI_TIMEOUT_MS", "soon")
    ended = main("doctor")

    assert (ended.status, ended.out) == (8, "")
    assert "NCBI_TIMEOUT_MS" in read_error(ended)["message"]


def test_a_cache_that_cannot_be_written_ends_with_status_9(
    main: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    monkeypatch.setenv("ENTREZ_KIT_CACHE_DIR", str(file))
    ended = main("doctor", "--offline")

    assert ended.status == 9
    assert read_error(ended)["code"] == "STORE_ERROR"


def test_offline_tests_only_this_machine(main: Cli) -> None:
    ended = main("doctor", "--offline")

    assert ended.status == 0
    assert {check["status"] for check in ended.document["checks"] if "service" in check} == {"skipped"}


@needs_home_variable
def test_warnings_end_with_status_4_and_without_an_envelope(main: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/nonexistent")
    ended = main("doctor", "--offline")

    assert ended.status == 4
    assert ended.document["healthy"] is True
    assert '"success"' not in ended.err


@pytest.mark.usefixtures("unreachable")
def test_no_secret_is_printed(main: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCBI_API_KEY", "canary0123456789abcdef")
    monkeypatch.setenv("NCBI_ADMIN_EMAIL", "canary.person@example.org")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:hunter2-canary@127.0.0.1:9")
    monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", "https://eutils.ncbi.nlm.nih.gov/entrez/eutils")
    ended = main("doctor", "-v")

    assert ended.status == 5
    assert "canary" not in ended.out + ended.err
    assert "127.0.0.1 port 9" in ended.out


@pytest.mark.long
@needs_terminal
@pytest.mark.usefixtures("unreachable")
@pytest.mark.parametrize("columns", [80, 200])
def test_a_terminal_shows_a_table_with_advice(columns: int) -> None:
    ended = run_on_terminal("doctor", columns=columns)

    assert ended.status == 5
    assert "Connection (TCP)" in ended.out
    assert "Failed: Connection (TCP) for E-utilities." in ended.out
    assert "connection refused" in ended.out
    assert "Error:" not in ended.out
    assert max(len(line.rsplit("\r", 1)[-1]) for line in ended.out.splitlines()) <= columns


@pytest.mark.long
@needs_terminal
def test_a_terminal_reports_that_the_machine_is_healthy() -> None:
    ended = run_on_terminal("doctor", "--demo")

    assert ended.status == 0
    assert "No problems found." in ended.out
