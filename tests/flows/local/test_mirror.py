"""Mirrors of NLM's files from a publisher on loopback, with faults of every kind."""

import gzip
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pubmed_files import (
    article_set,
    content_hash,
    deletion,
    record,
    settings_at,
    titles,
    write_set,
)
from pubmed_publisher import Publisher

from entrez_kit.base.errors import EntrezKitError, InvalidInput, UpstreamError
from entrez_kit.base.settings import Settings
from entrez_kit.local.copies import copy_folder, open_copy
from entrez_kit.local.importing import CopyImportResult, import_files
from entrez_kit.local.mirror import mirror_files, update_copy
from entrez_kit.services.transport.download.files import FileServer


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    with Publisher() as one:
        one.publish("baseline", "pubmed26n0001", record(1, "One"), record(2, "Two"))
        one.publish("baseline", "pubmed26n0002", record(3, "Three"))
        one.publish("updatefiles", "pubmed26n0003", record(1, "One revised"), deletion(2))
        yield one


@pytest.fixture
def kit(tmp_path: Path, publisher: Publisher) -> Settings:
    return replace(settings_at(tmp_path), pubmed_files_url=publisher.url, ncbi_max_retries=2, ncbi_timeout_ms=2000)


def _mirror(kit: Settings, name: str = "c", topic: str | None = None) -> CopyImportResult:
    return mirror_files(kit, name, FileServer(kit, kit.pubmed_files_url, "X"), topic=topic)


def _update(kit: Settings, name: str = "c") -> CopyImportResult:
    return update_copy(kit, name, FileServer(kit, kit.pubmed_files_url, "X"))


def _make_noise(size: int) -> str:
    """Return text that does not compress, so that a file has many bytes."""
    chance = random.Random(size)
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz ", k=size))


def test_a_mirror_applies_baseline_and_updates_and_later_only_new_files(kit: Settings, publisher: Publisher) -> None:
    first = _mirror(kit)
    assert (first.applied, first.failed) == (3, [])
    assert titles(kit, "c") == {"1": "One revised", "3": "Three"}
    assert first.copy_info.last_update == 3
    assert publisher.most_at_once == 1
    assert not (copy_folder(kit, "c") / "downloads").exists()

    publisher.requests.clear()
    publisher.publish("updatefiles", "pubmed26n0004", record(4, "Four"))
    second = _update(kit)

    assert (second.applied, second.already_applied) == (1, 3)
    assert {path for path in publisher.requests if path.endswith(".gz")} == {"updatefiles/pubmed26n0004.xml.gz"}
    assert titles(kit, "c") == {"1": "One revised", "3": "Three", "4": "Four"}


def test_a_mirror_equals_an_import_of_the_same_files(kit: Settings, publisher: Publisher, tmp_path: Path) -> None:
    _mirror(kit)
    for path, content in publisher.files.items():
        (tmp_path / path.rpartition("/")[2]).write_bytes(content)

    import_files(kit, "imported", [tmp_path / path.rpartition("/")[2] for path in publisher.files])

    assert content_hash(kit, "imported") == content_hash(kit, "c")


@pytest.mark.long
def test_an_interrupted_download_is_resumed_where_it_ended(kit: Settings, publisher: Publisher) -> None:
    path = publisher.publish("baseline", "pubmed26n0002", record(3, f"Three {_make_noise(60_000)}"))
    publisher.faults[path] = ["cut", "busy", "cut", "slow"]

    result = _mirror(kit)

    assert result.failed == []
    starts = [int(given.removeprefix("bytes=").rstrip("-")) for name, given in publisher.ranges if name == path]
    assert len(starts) == 2  # the busy server sent nothing
    assert 0 < starts[0] < starts[1] < len(publisher.files[path])
    assert titles(kit, "c")["3"].startswith("Three")


def test_a_file_that_changes_during_its_download_is_downloaded_again(kit: Settings, publisher: Publisher) -> None:
    path = publisher.publish("baseline", "pubmed26n0002", record(3, f"Three {_make_noise(60_000)}"))
    new = gzip.compress(article_set(record(3, f"Three changed {_make_noise(61_000)}")), mtime=0)
    publisher.faults[path] = ["cut"]
    publisher.replacements[path] = new  # after the checksum of the old file was sent

    result = _mirror(kit)

    assert result.failed == []
    assert titles(kit, "c")["3"].startswith("Three changed")


def test_a_file_with_a_wrong_checksum_is_not_applied_until_it_is_right(kit: Settings, publisher: Publisher) -> None:
    path = "updatefiles/pubmed26n0003.xml.gz"
    publisher.md5[path] = "0" * 32
    publisher.publish("updatefiles", "pubmed26n0004", record(4, "Four"))

    result = _mirror(kit)

    assert [one.reason for one in result.failed] == ["wrong_md5"]
    assert publisher.requests[path] == 3
    assert titles(kit, "c") == {"1": "One", "2": "Two", "3": "Three", "4": "Four"}
    publisher.md5.clear()
    assert _update(kit).failed == []
    assert titles(kit, "c") == {"1": "One revised", "3": "Three", "4": "Four"}


def test_a_listing_that_names_a_missing_file_only_affects_that_file(kit: Settings, publisher: Publisher) -> None:
    publisher.publish("updatefiles", "pubmed26n0004", record(4, "Four"))
    del publisher.files["updatefiles/pubmed26n0003.xml.gz"]

    result = _mirror(kit)

    assert [one.reason for one in result.failed] == ["not_found"]
    assert set(titles(kit, "c")) == {"1", "2", "3", "4"}


def test_a_damaged_file_with_a_correct_checksum_is_named(kit: Settings, publisher: Publisher) -> None:
    publisher.files["updatefiles/pubmed26n0003.xml.gz"] = gzip.compress(article_set(record(9))[:-40], mtime=0)

    result = _mirror(kit)

    assert [one.reason for one in result.failed] == ["truncated"]
    assert set(titles(kit, "c")) == {"1", "2", "3"}


def test_a_new_year_replaces_the_old_one_when_it_is_complete(kit: Settings, publisher: Publisher) -> None:
    _mirror(kit)
    publisher.publish("baseline", "pubmed27n0002", record(5, "Five of the new year"))
    with pytest.raises(UpstreamError) as refused:  # NLM has begun to publish the new baseline
        _update(kit)
    assert refused.value.details["reason"] == "incomplete_baseline"
    assert set(titles(kit, "c")) == {"1", "3"}

    publisher.publish("baseline", "pubmed27n0001", record(1, "One of the new year"))
    publisher.withdraw_year("pubmed26")
    publisher.md5["baseline/pubmed27n0002.xml.gz"] = "0" * 32
    _update(kit)
    assert set(titles(kit, "c")) == {"1", "3"}  # the old records stay until all files are there

    publisher.md5.clear()
    result = _update(kit)
    assert titles(kit, "c") == {"1": "One of the new year", "5": "Five of the new year"}
    assert result.copy_info.baseline_year == 2027
    _mirror(kit, "new")
    assert content_hash(kit, "new") == content_hash(kit, "c")


def test_a_topic_stores_matching_records_and_removes_those_that_no_longer_match(
    kit: Settings, publisher: Publisher
) -> None:
    publisher.publish(
        "baseline",
        "pubmed26n0001",
        record(1, "Stroke in mice"),
        record(2, "Stroke"),
        record(7, "Heart"),
    )
    publisher.publish("updatefiles", "pubmed26n0003", record(1, "Brain of mice"), record(7, "Heart and stroke"))

    result = _mirror(kit, topic="stroke[ti]")

    assert titles(kit, "c") == {"2": "Stroke", "7": "Heart and stroke"}
    assert result.copy_info.topic == "stroke[ti]"
    publisher.publish("updatefiles", "pubmed26n0004", record(2, "Strokes"), record(8, "Stroke again"))
    _update(kit)
    assert titles(kit, "c") == {"7": "Heart and stroke", "8": "Stroke again"}
    with pytest.raises(InvalidInput) as refused:
        _mirror(kit, topic="heart[ti]")
    assert refused.value.details["reason"] == "other_topic"
    with pytest.raises(InvalidInput) as refused:
        import_files(kit, "c", [write_set(kit.data_dir, "more.xml", record(9))])
    assert refused.value.details["reason"] == "topic_copy"


def test_an_invalid_topic_sends_no_request(kit: Settings, publisher: Publisher) -> None:
    with pytest.raises(InvalidInput):
        _mirror(kit, topic="stroke[nosuchfield]")

    assert not publisher.requests


def test_an_update_of_an_import_downloads_only_later_files(kit: Settings, publisher: Publisher, tmp_path: Path) -> None:
    import_files(kit, "c", [write_set(tmp_path, "pubmed26n0002.xml.gz", record(3, "Imported"))])

    _update(kit)

    assert titles(kit, "c") == {"1": "One revised", "3": "Imported"}
    import_files(kit, "other", [write_set(tmp_path, "any.xml", record(3, "Imported"))])
    with pytest.raises(InvalidInput) as refused:
        _update(kit, "other")
    assert refused.value.details["reason"] == "no_source"


@pytest.mark.parametrize("fault", ["busy", "offline", "elsewhere", "empty"])
def test_a_server_without_a_listing_gives_no_copy(kit: Settings, publisher: Publisher, fault: str) -> None:
    if fault == "busy":
        publisher.faults["baseline/"] = ["busy"] * 10
    elif fault == "empty":
        publisher.listed["baseline"] = []
    wrong = {"offline": {"offline": True}, "elsewhere": {"pubmed_files_url": f"{publisher.url}/nowhere"}}

    with pytest.raises(EntrezKitError):
        _mirror(replace(kit, **wrong.get(fault, {})))  # type: ignore[arg-type]

    assert not copy_folder(kit, "c").exists()


def test_an_interrupted_mirror_continues(kit: Settings, publisher: Publisher) -> None:
    publisher.faults["baseline/pubmed26n0002.xml.gz"] = ["busy"] * 3

    first = _mirror(kit)
    assert [one.reason for one in first.failed] == ["unexpected_status"]
    assert (first.copy_info.last_file, first.copy_info.records) == ("pubmed26n0003", 1)
    second = _mirror(kit)

    assert (second.applied, second.failed) == (1, [])
    assert titles(kit, "c") == {"1": "One revised", "3": "Three"}
    copy = open_copy(kit, "c")
    assert copy.info.files == 3
