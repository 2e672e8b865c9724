"""A corpus file with flipped bits gives the same answer or is refused as damaged; it never causes an internal error."""

import json
import random
import sqlite3

import pytest
from command_line import Cli

from entrez_kit import load_settings
from entrez_kit.base.settings import CORPUS_FILE

COMMANDS = (
    ("search", "base editing", "--json"),
    ("get", "99000001", "--json"),
    ("list", "--json"),
    ("export", "--all", "-f", "jsonl"),
    ("diff", "k", "--since", "2000-01-01", "--json"),
)


@pytest.mark.long
def test_a_file_with_flipped_bits_is_read_or_refused(cli: Cli) -> None:
    assert cli("corpus", "sync", "k", "crispr").status == 0
    file = load_settings().data_dir / CORPUS_FILE
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    whole = file.read_bytes()
    chance = random.Random(2)
    refused = 0

    for _ in range(16):
        content = bytearray(whole)
        for _ in range(chance.choice([1, 4, 20])):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        for part in file.parent.glob(f"{CORPUS_FILE}*"):
            part.unlink()
        file.write_bytes(content)
        for command in COMMANDS:
            done = cli("corpus", *command)
            assert done.status in (0, 3, 9), (command, done.err)
            if done.status == 9:
                refused += 1
                error = json.loads(done.err.splitlines()[-1])["error"]
                assert error["details"]["reason"] in ("corrupt", "changed_schema"), (command, done.err)
    assert refused


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_an_empty_file_is_reported_as_damaged_and_not_as_an_empty_corpus(cli: Cli, command: tuple[str, ...]) -> None:
    assert cli("corpus", "sync", "k", "crispr").status == 0
    file = load_settings().data_dir / CORPUS_FILE
    for part in file.parent.glob(f"{CORPUS_FILE}-*"):
        part.unlink()
    file.write_bytes(b"")

    done = cli("corpus", *command)

    assert done.status == 9
    assert json.loads(done.err.splitlines()[-1])["error"]["details"]["reason"] == "corrupt"
    assert cli("corpus", "sync", "k", "crispr", "--json").status == 9
    assert not file.stat().st_size, "the file was changed"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE documents SET title = replace(title, 'e', 'E')",
        "UPDATE documents SET abstract = abstract || '.'",
        "UPDATE revisions SET seen_at = '2p' || substr(seen_at, 3)",
        "UPDATE membership SET added_at = '2p' || substr(added_at, 3)",
        "UPDATE documents SET title = CAST(title AS BLOB)",
    ],
)
def test_a_diff_does_not_show_content_that_was_changed_in_the_file(cli: Cli, change: str) -> None:
    assert cli("corpus", "sync", "k", "crispr").status == 0
    with sqlite3.connect(load_settings().data_dir / CORPUS_FILE) as connection:
        connection.execute(change)

    done = cli("corpus", "diff", "k", "--since", "2000-01-01", "--json")

    assert done.status == 9
    assert json.loads(done.err.splitlines()[-1])["error"]["details"]["reason"] == "corrupt"
    assert not done.out


def test_a_record_without_its_versions_is_reported_as_damage(cli: Cli) -> None:
    assert cli("corpus", "sync", "k", "crispr").status == 0
    with sqlite3.connect(load_settings().data_dir / CORPUS_FILE) as connection:
        connection.execute("DELETE FROM revisions")

    done = cli("corpus", "diff", "k", "--since", "2000-01-01", "--json")

    assert done.status == 9
    assert json.loads(done.err.splitlines()[-1])["error"]["details"]["reason"] == "corrupt"


@pytest.mark.parametrize(
    "arguments", [("sync", "k", "crispr"), ("search", "base editing", "--json"), ("export", "--all", "-f", "jsonl")]
)
def test_a_corpus_whose_trigger_clears_retractions_is_refused(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert cli("corpus", "sync", "k", "crispr").status == 0
    file = load_settings().data_dir / CORPUS_FILE
    with sqlite3.connect(file) as connection:
        connection.execute(
            "CREATE TRIGGER spy AFTER UPDATE ON documents "
            "BEGIN UPDATE documents SET retraction_status = 'none'; DELETE FROM revisions; END"
        )
        before = connection.execute("SELECT count(*), sum(retraction_status = 'none') FROM documents").fetchone()
    connection.close()
    done = cli("corpus", *arguments)

    assert done.status == 9
    error = json.loads(done.err.splitlines()[-1])["error"]
    assert error["details"]["reason"] == "changed_schema"
    assert "trigger 'spy'" in error["message"]
    assert not done.out
    with sqlite3.connect(file) as connection:
        assert (
            connection.execute("SELECT count(*), sum(retraction_status = 'none') FROM documents").fetchone() == before
        )
    connection.close()
