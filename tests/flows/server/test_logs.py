"""The server's log: JSON lines with the ids of calls and messages, in private files, without secrets."""

import io
import json
import logging
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp_helpers import Json, ServicesFor, connect

from entrez_kit.base import logs
from entrez_kit.base.settings import LOG_LEVELS, Settings, load_settings
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.telemetry import list_line_ids

KEY = "canary0123456789abcdef0123456789abcd"


@contextmanager
def collect_log(settings: Settings) -> Iterator[list[Json]]:
    """Collect the log on stderr while the block runs; complete at its end."""
    stream = io.StringIO()
    entries: list[Json] = []
    with logs.logging_to(settings, stream, ids=list_line_ids):
        yield entries
    entries += [json.loads(line) for line in stream.getvalue().splitlines()]


def make_settings(tmp_path: Path, **more: Any) -> Settings:
    return load_settings({"home": tmp_path / "home", **more})


@pytest.mark.anyio
async def test_the_lines_of_a_call_name_the_call_and_its_message(
    services_for: ServicesFor, sandbox: Sandbox, tmp_path: Path
) -> None:
    with collect_log(make_settings(tmp_path, mcp_log_level="debug")) as entries:
        async with connect(services_for(sandbox)) as client:
            result = await client.call_tool("pubmed_search_articles", {"query_term": "crispr"})
            await client.call_tool("pubmed_search_articles", {"query_term": "("})

    answered, failed = [entry for entry in entries if "tool" in entry]
    (message,) = [entry for entry in entries if entry.get("request_id") == answered["parent_request_id"]]
    exchanges = [
        entry
        for entry in entries
        if entry["logger"] == "entrez_kit.transport" and entry.get("request_id") == answered["request_id"]
    ]
    assert result.meta is not None
    assert answered["request_id"] == result.meta["request_id"]
    assert (answered["tool"], answered["success"], answered["requests"]) == ("pubmed_search_articles", True, 1)
    assert (failed["success"], failed["code"]) == (False, "INVALID_INPUT")
    assert message["method"] == "tools/call"
    assert exchanges
    for entry in (answered, message, *exchanges):
        assert len(entry["trace_id"]) == 32
        assert len(entry["span_id"]) == 16
        assert entry["trace_id"] == answered["trace_id"]
    assert failed["trace_id"] != answered["trace_id"]


@pytest.mark.anyio
async def test_an_internal_error_is_logged_in_full(
    services_for: ServicesFor, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = services_for(sandbox)

    def fail(*arguments: object, **parameters: object) -> None:
        raise RuntimeError("inner words")

    monkeypatch.setattr(type(services.eutils), "esearch", fail)
    with collect_log(make_settings(tmp_path)) as entries:
        async with connect(services) as client:
            await client.call_tool("pubmed_search_articles", {"query_term": "crispr"})

    (defect,) = [entry for entry in entries if "traceback" in entry]
    assert "RuntimeError: inner words" in defect["traceback"]
    assert defect["level"] == "error"
    assert "request_id" in defect


HOSTILE = "a\nERROR entrez_kit: forged\r\x1b[2J\x00\u2028b " + KEY


def test_every_field_of_a_line_is_redacted_shortened_and_on_one_line(tmp_path: Path) -> None:
    fields = {
        "path": HOSTILE,
        "nested": {"list": [HOSTILE, {"deep": {"deeper": {"deepest": HOSTILE}}}], HOSTILE: 1},
        "long": "x" * 1_000_000,
        "many": list(range(10_000)),
        "number": 5,
    }
    with collect_log(make_settings(tmp_path, ncbi_api_key=KEY)) as entries:
        logger = logging.getLogger("entrez_kit.server")
        logger.warning("said: %s", HOSTILE * 1_000, extra=fields)
        try:
            raise RuntimeError(HOSTILE * 100)
        except RuntimeError:
            logger.exception("failed")

    said, failed = entries
    text = json.dumps(entries, ensure_ascii=False)
    assert KEY not in text
    assert len(json.dumps(said)) < 30_000
    assert "…" in said["message"]
    assert (said["number"], len(said["many"])) == (5, 50)
    assert said["path"].startswith("a\\nERROR entrez_kit: forged\\r\\x1b[2J\\x00\\u2028b ")
    for value in (said["message"], said["path"], said["long"], *said["nested"]["list"][:1]):
        assert value.isprintable()
        assert len(value) <= 2_000
    assert len(failed["traceback"]) < 250_000


def test_no_text_forges_a_line_of_the_terminals_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with logs.log_of_terminal(make_settings(tmp_path, ncbi_api_key=KEY), verbose=True):
        logger = logging.getLogger("entrez_kit.transport")
        logger.warning("said: %s", HOSTILE)
        try:
            raise RuntimeError(HOSTILE)
        except RuntimeError:
            logger.exception("failed")
    lines = capsys.readouterr().err.split("\n")

    assert KEY not in "".join(lines)
    assert "".join(lines).isprintable()
    assert [line for line in lines if not line.startswith("| ")] == [
        "WARNING entrez_kit.transport: said: a\\nERROR entrez_kit: forged\\r\\x1b[2J\\x00\\u2028b [hidden]",
        "ERROR entrez_kit.transport: failed",
        "",
    ]


def test_every_level_of_the_protocol_is_accepted(tmp_path: Path) -> None:
    assert tuple(logs.LEVELS) == LOG_LEVELS
    with collect_log(make_settings(tmp_path, mcp_log_level="notice")) as entries:
        for name, number in logs.LEVELS.items():
            logging.getLogger("entrez_kit.server").log(number, name)

    assert [entry["level"] for entry in entries] == [entry["message"] for entry in entries] == list(LOG_LEVELS[2:])


def test_libraries_are_logged_from_the_level_warning(tmp_path: Path) -> None:
    with collect_log(make_settings(tmp_path)) as entries:
        logging.getLogger("mcp.server.x").info("chatter")
        logging.getLogger("mcp.server.x").warning("matter")
        logging.getLogger("someone.else").info("other")

    assert [entry["message"] for entry in entries] == ["matter", "other"]


def test_quiet_logs_only_warnings(tmp_path: Path) -> None:
    with collect_log(make_settings(tmp_path, quiet=True)) as entries:
        logging.getLogger("entrez_kit.server").info("chatter")
        logging.getLogger("entrez_kit.server").warning("matter")

    assert [entry["message"] for entry in entries] == ["matter"]


def test_a_record_with_any_text_is_one_line(tmp_path: Path) -> None:
    with collect_log(make_settings(tmp_path)) as entries:
        logging.getLogger("entrez_kit").info("a\nb\u2028c \x1b[31m %s", "\ud800", extra={"odd": {1, 2}})

    (entry,) = entries
    assert entry["message"] == "a\\nb\\u2028c \\x1b[31m \\ud800"
    assert entry["odd"] == "{1, 2}"


def test_secrets_are_hidden_in_messages_and_tracebacks(tmp_path: Path) -> None:
    secrets = {
        "ncbi_api_key": "canary-key-1",
        "ncbi_admin_email": "canary@example.org",
        "openai_api_key": "canary-openai",
        "mcp_auth_secret_key": "canary-secret-0123456789-0123456789",
    }
    with collect_log(make_settings(tmp_path, logs_dir=tmp_path / "logs", **secrets)) as entries:
        for value in secrets.values():
            logging.getLogger("entrez_kit").info("here: %s", value)
            try:
                raise ValueError(value)
            except ValueError:
                logging.getLogger("entrez_kit").exception("caught")
    written = json.dumps(entries) + (tmp_path / "logs" / logs.SERVER_FILE).read_text(encoding="utf-8")

    assert len(entries) == 2 * len(secrets)
    assert "canary" not in written


# Files


def test_log_files_have_the_same_lines_and_are_private(tmp_path: Path) -> None:
    with collect_log(make_settings(tmp_path, logs_dir=tmp_path / "deep" / "logs")) as entries:
        logging.getLogger("entrez_kit").info("to both")
    path = tmp_path / "deep" / "logs" / logs.SERVER_FILE

    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == entries
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_log_files_rotate_with_a_maximum_number_and_are_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "MAX_BYTES", 2_000)
    with collect_log(make_settings(tmp_path, logs_dir=tmp_path)):
        for number in range(200):
            logging.getLogger("entrez_kit").info("line %d", number)
    files = sorted(path.name for path in tmp_path.glob("*.log*"))

    assert files == [logs.SERVER_FILE, *(f"{logs.SERVER_FILE}.{number}" for number in range(1, logs.BACKUPS + 1))]
    assert all(stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600 for name in files)
    assert "line 199" in (tmp_path / logs.SERVER_FILE).read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="a file in use cannot be renamed there")
def test_a_file_that_another_server_rotated_is_replaced_by_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / logs.SERVER_FILE
    with collect_log(make_settings(tmp_path, logs_dir=tmp_path)):
        logging.getLogger("entrez_kit").info("before")
        path.rename(tmp_path / "rotated")
        logging.getLogger("entrez_kit").info("after")

    assert "after" in path.read_text(encoding="utf-8")
    assert "after" not in (tmp_path / "rotated").read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_written_causes_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with collect_log(make_settings(tmp_path, logs_dir=tmp_path / "file")) as entries:
        logging.getLogger("entrez_kit").info("still logged")

    assert [entry["level"] for entry in entries] == ["warning", "info"]
    assert "LOGS_DIR" in entries[0]["message"]


def test_the_loggers_are_restored_afterwards(tmp_path: Path) -> None:
    root, ours = logging.getLogger(), logging.getLogger("entrez_kit")
    before = (list(root.handlers), root.level, list(ours.handlers), ours.level, ours.propagate)
    with collect_log(make_settings(tmp_path, mcp_log_level="debug")):
        assert root.handlers != before[0]

    assert (list(root.handlers), root.level, list(ours.handlers), ours.level, ours.propagate) == before
