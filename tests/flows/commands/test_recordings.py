"""Every command that sends requests is recorded once, and replayed from another home without a network."""

import hashlib
import json
import os
import re
import shlex
import socket
import zipfile
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, RunResult, read_error
from project_paths import ROOT

from entrez_kit import EntrezKit
from entrez_kit.base.errors import InvalidInput, UpstreamError
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.services.recordings.record import RECORDED_SETTINGS

README = (ROOT / "README.md").read_text(encoding="utf-8")
FILES = {
    "one.bib": "@article{a, title={Base editing of a cryptic splice site restores mucus transport in human airway "
    "cells}, author={Marrowby, Tamsin J}, journal={Ann Imag Genome Ed}, year={2019}, volume={3}, pages={101}}\n",
    "refs.txt": "99000001\n99000035\n",
    "strategy.txt": "1. exp Asthma/\n2. asthma.ti,ab.\n3. 1 or 2\n",
    "claims.csv": 'claim,id\n"pigs can fly",99000002\n',
}
CALLS = (
    ("search", "crispr", "-n", "3", "-f", "table"),
    ("search", "base editing", "--all", "-o", "all.ris"),
    ("facets", "crispr"),
    ("fetch", "99000001", "99999999", "PMC99000002"),
    ("fetch", "99999999"),
    ("show", "99000001"),
    ("fulltext", "PMC99000001", "99000004", "10.5555/ekit.2024.0004"),
    ("related", "99000004", "--type", "references", "--depth", "2"),
    ("cite", "99000001", "-f", "ris"),
    ("match", "one.bib"),
    ("check", "one.bib"),
    ("check", "refs.txt"),
    ("verify", "claims.csv"),
    ("convert", "99000001", "PMC99000002", "https://doi.org/10.5555/ekit.2024.0004", "-f", "csv"),
    ("europepmc", "base editing", "-n", "3"),
    ("mesh", "genome"),
    ("spell", "astma"),
    ("strategy", "count", "strategy.txt"),
    ("strategy", "recall", "strategy.txt", "--known", "refs.txt"),
    ("gene", "search", "TP53"),
    ("gene", "get", "7157", "672"),
    ("gene", "pubmed", "7157"),
    ("db", "info"),
    ("db", "fetch", "pubmed", "99000001"),
    ("db", "link", "7157", "--from", "gene", "--to", "pubmed"),
    ("search", "crispr AND"),
    ("merge", "one.bib", "refs.txt"),
    ("corpus", "sync", "demo", "crispr"),
)


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")


@pytest.fixture
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection."""

    def refuse(*_: Any) -> None:
        raise AssertionError("a replay opened a connection")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)


def _make_home(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("ENTREZ_KIT_HOME", str(Path(name).absolute()))


def _take_files() -> dict[str, bytes]:
    """Return the files that a command wrote, and remove them."""
    written = {}
    for path in Path().iterdir():
        if path.is_file() and path.name not in FILES and path.suffix != ".ekz":
            written[path.name] = path.read_bytes()
            path.unlink()
    return written


@pytest.mark.clock
@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_a_replay_in_another_home_gives_the_same_bytes_without_a_connection(
    alone: Cli, call: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, no_sockets: None
) -> None:
    _make_home(monkeypatch, "first")
    recorded = alone("--demo", *call, "--record", "call.ekz")
    files = _take_files()
    monkeypatch.setattr("time.time", lambda: 4_000_000_000.0)
    _make_home(monkeypatch, "second")

    replayed = alone(*call, "--replay", "call.ekz")

    assert replayed == recorded
    assert _take_files() == files


def test_every_recipe_of_the_readme_is_replayed_here() -> None:
    recipes = re.search(r"## Recipes\n(.*?)\n## ", README, re.DOTALL)
    assert recipes is not None
    lines = re.findall(r"^entrez-kit (\S+)", recipes[1], re.MULTILINE)

    assert set(lines) <= {call[0] for call in CALLS}


@pytest.mark.clock
def test_a_recording_of_requests_over_http_is_replayed(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    _make_home(monkeypatch, "first")
    recorded = cli("fetch", "99000001", "99000002", "-f", "jsonl", "--record", "call.ekz")
    from_cache = cli("fetch", "99000001", "99000002", "-f", "jsonl", "--record", "cached.ekz")
    monkeypatch.delenv("ENTREZ_KIT_EUTILS_URL")
    request.getfixturevalue("no_sockets")
    _make_home(monkeypatch, "second")

    assert cli("fetch", "99000001", "99000002", "-f", "jsonl", "--replay", "call.ekz") == recorded
    assert cli("fetch", "99000001", "99000002", "-f", "jsonl", "--replay", "cached.ekz") == from_cache


def test_a_request_that_was_not_recorded_is_named(alone: Cli, no_sockets: None) -> None:
    alone("--demo", "search", "crispr", "--record", "call.ekz")

    done = alone("search", "malaria", "--replay", "call.ekz")

    assert (done.status, done.out) == (5, "")
    assert read_error(done)["details"]["reason"] == "not_recorded"
    assert "term=malaria" in read_error(done)["message"]


def test_a_recording_with_one_changed_byte_is_refused(alone: Cli) -> None:
    alone("--demo", "fetch", "99000001", "--record", "call.ekz")
    whole = Path("call.ekz").read_bytes()
    parts = {}
    with zipfile.ZipFile("call.ekz") as archive:
        places = {one.header_offset + 60 + len(one.filename): one.filename for one in archive.infolist()}
        directory = archive.start_dir

    def replay(content: bytes) -> RunResult:
        Path("changed.ekz").write_bytes(content)
        return alone("fetch", "99000001", "--replay", "changed.ekz")

    step = max(1, len(whole) // 60)
    for place in sorted({*range(0, len(whole), step), *places, directory + 3, len(whole) - 1}):
        done = replay(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        error = read_error(done)
        assert (done.status, done.out, error["details"]["reason"]) == (9, "", "damaged_recording"), place
        parts[place] = error["details"]["part"]
    assert {place: parts[place] for place in places} == places
    for cut in (whole[:-1], whole[: len(whole) // 2], whole + b"x", b"", b"PK"):
        assert replay(cut).status == 9


@pytest.fixture
def forged_recording(alone: Cli) -> Any:
    """Write a recording with changed parts and a correct hash, and return how its replay ends."""
    alone("--demo", "search", "crispr", "--record", "call.ekz")
    with zipfile.ZipFile("call.ekz") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}

    def forge(change: dict[str, bytes], manifest: dict[str, Any] | None = None) -> RunResult:
        described = {**json.loads(parts["manifest.json"]), **(manifest or {})}
        with zipfile.ZipFile("forged.ekz", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in {**parts, **change}.items():
                if name != "manifest.json":
                    archive.writestr(name, content)
            archive.writestr("manifest.json", json.dumps(described))
            archive.comment = b"0" * 92
        body = Path("forged.ekz").read_bytes()[:-92]
        comment = b"entrez-kit recording sha256:" + hashlib.sha256(body).hexdigest().encode()
        Path("forged.ekz").write_bytes(body + comment)
        return alone("search", "crispr", "--replay", "forged.ekz")

    assert forge({}).status == 0
    return forge


def test_a_recording_of_an_earlier_version_without_some_settings_is_replayed(forged_recording: Any) -> None:
    with zipfile.ZipFile("call.ekz") as archive:
        settings = json.loads(archive.read("manifest.json"))["settings"]
    whole = forged_recording({})
    for name in settings.keys() & set(RECORDED_SETTINGS):
        done = forged_recording({}, {"settings": {other: settings[other] for other in settings if other != name}})
        assert (done.status, done.out) == (0, whole.out), name


@pytest.mark.long
def test_a_recording_with_hostile_parts_is_refused(forged_recording: Any) -> None:
    for name in ("../../etc/passwd", "/etc/passwd", "replies/x.xml", "replies/../a.xml", "code.pkl"):
        done = forged_recording({name: b"x"})
        assert (done.status, read_error(done)["details"]["reason"]) == (9, "damaged_recording"), name
    bomb = forged_recording({f"replies/{'0' * 64}.xml": bytes(70_000_000)})
    assert (bomb.status, read_error(bomb)["details"]["reason"]) == (9, "damaged_recording")
    other = forged_recording({"requests.jsonl": b'{"key": 1}\n'})
    assert (other.status, read_error(other)["details"]["part"]) == (9, "requests.jsonl")
    unknown = forged_recording({}, {"version": 2})
    assert (unknown.status, read_error(unknown)["details"]["reason"]) == (9, "unknown_version")
    assert forged_recording({}, {"settings": {"offline": "perhaps"}}).status == 9
    assert forged_recording({}, {"format": "something else"}).status == 9


def test_a_file_that_cannot_be_a_recording_is_refused_before_it_is_read(alone: Cli) -> None:
    Path("folder.ekz").mkdir()
    Path("sparse.ekz").touch()
    os.truncate("sparse.ekz", 1 << 40)
    os.mkfifo("pipe.ekz")
    for name, status in (("folder.ekz", 2), ("pipe.ekz", 2), ("/dev/zero", 2), ("sparse.ekz", 9)):
        assert alone("search", "crispr", "--replay", name).status == status, name


def test_a_recording_has_no_secrets(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {"NCBI_API_KEY": "0123456789abcdef0123456789abcdef0123", "NCBI_ADMIN_EMAIL": "jane.roe@hospital.invalid"}
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)

    cli("search", f"crispr {secrets['NCBI_ADMIN_EMAIL']}", "--record", "call.ekz")
    cli("fulltext", "99000004", "--record", "page.ekz")

    for file in ("call.ekz", "page.ekz"):
        with zipfile.ZipFile(file) as archive:
            everything = b"".join(archive.read(name) for name in archive.namelist()) + archive.comment
        for value in (*secrets.values(), "reader@entrez-kit.invalid"):
            assert value.encode() not in everything
            assert value.replace("@", "%40").encode() not in everything


def test_flags_that_contradict_a_recording_are_refused_by_name(alone: Cli) -> None:
    alone("--demo", "search", "crispr", "--record", "call.ekz")
    for flags in ("--demo", "--local x", "--offline", "--refresh", "--no-cache", "--record new.ekz"):
        done = alone("search", "crispr", "--replay", "call.ekz", *shlex.split(flags))
        assert (done.status, done.out) == (2, ""), flags
    for words in (("serve", "--check"), ("doctor",), ("config", "show"), ("cache", "stats")):
        assert alone(*words, "--record", "new.ekz").status == 2, words
    assert alone("--demo", "search", "crispr", "--record", "new.ris").status == 2
    assert alone("search", "crispr", "--replay", "missing.ekz").status == 2
    assert not Path("new.ekz").exists()
    assert not Path("new.ris").exists()


def test_a_recording_includes_its_description_as_a_research_object(alone: Cli) -> None:
    alone("--demo", "search", "crispr", "--record", "call.ekz")

    with zipfile.ZipFile("call.ekz") as archive:
        crate = json.loads(archive.read("ro-crate-metadata.json"))
        graph = {one["@id"]: one for one in crate["@graph"]}
        root = graph["./"]
        assert crate["@context"] == "https://w3id.org/ro/crate/1.3/context"
        assert graph["ro-crate-metadata.json"]["about"] == {"@id": "./"}
        assert {one["@id"] for one in root["hasPart"]} == set(archive.namelist()) - {"ro-crate-metadata.json"}
        for name in set(archive.namelist()) - {"ro-crate-metadata.json", "manifest.json"}:
            assert graph[name]["sha256"] == hashlib.sha256(archive.read(name)).hexdigest()
    action = graph[root["mentions"]["@id"]]
    assert action["@type"] == "CreateAction"
    assert action["instrument"]["@id"] in graph


@pytest.mark.long
def test_a_search_of_all_records_under_faults_is_replayed_with_its_certificate(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    mix = {"429": 0.1, "500": 0.1, "truncate": 0.1, "html": 0.1, "error200": 0.1, "cut": 0.05}
    with Sandbox(records=12_000, enforce_limits=False, faults=mix, seed=7, most_faults_in_a_row=3) as sandbox:
        monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", f"{sandbox.url}/entrez/eutils")
        monkeypatch.setenv("NCBI_MAX_RETRIES", "10")
        recorded = cli("search", "all[sb]", "--all", "-o", "all.txt", "--record", "all.ekz")
    files = _take_files()
    request.getfixturevalue("no_sockets")
    _make_home(monkeypatch, "second")

    replayed = cli("search", "all[sb]", "--all", "-o", "all.txt", "--replay", "all.ekz")

    certificate = json.loads(files["all.txt.search.json"])["certificate"]
    assert (certificate["count"], certificate["retrieved"], certificate["missing"]) == (12_000, 12_000, 0)
    assert (replayed, _take_files()) == (recorded, files)


def test_python_records_and_replays_calls(no_sockets: None) -> None:
    with EntrezKit(demo=True, record="call.ekz") as kit:
        found = kit.search_articles(query_term="crispr")
        records = kit.fetch_contents(pmids=found.pmids)
    with EntrezKit(replay="call.ekz") as kit:
        assert kit.search_articles(query_term="crispr") == found
        assert kit.fetch_contents(pmids=found.pmids) == records
        with pytest.raises(UpstreamError) as caught:
            kit.fetch_contents(pmids=["1"])
    assert caught.value.reason == "not_recorded"
    with pytest.raises(InvalidInput):
        EntrezKit(record="new.ekz", replay="call.ekz")


def test_an_unfinished_recording_does_not_replace_the_old_file_and_the_next_one_removes_its_parts() -> None:
    Path("call.ekz").write_bytes(b"old")
    abandoned = Path(f".call.ekz.{'0' * 12}.part")
    abandoned.write_bytes(b"PK")

    kit = EntrezKit(demo=True, record="call.ekz")
    kit.search_articles(query_term="crispr")

    assert Path("call.ekz").read_bytes() == b"old"
    assert not abandoned.exists()
    assert kit.services.recording is not None
    kit.services.recording.close()  # like an interrupt
    assert {path.name for path in Path().iterdir() if "ekz" in path.name} == {"call.ekz"}
