"""Mirrors of NLM's files from a publisher on loopback, with faults of every kind."""

import gzip
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pubmed_files import (
    compute_content_hash,
    join_articles,
    make_home_settings,
    read_titles,
    write_deletion,
    write_record,
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
        one.publish("baseline", "pubmed26n0001", write_record(1, "One"), write_record(2, "Two"))
        one.publish("baseline", "pubmed26n0002", write_record(3, "Three"))
        one.publish("updatefiles", "pubmed26n0003", write_record(1, "One revised"), write_deletion(2))
        yield one


@pytest.fixture
def settings(tmp_path: Path, publisher: Publisher) -> Settings:
    return replace(
        make_home_settings(tmp_path), pubmed_files_url=publisher.url, ncbi_max_retries=2, ncbi_timeout_ms=2000
    )


def _mirror(settings: Settings, name: str = "c", topic: str | None = None) -> CopyImportResult:
    return mirror_files(settings, name, FileServer(settings, settings.pubmed_files_url, "X"), topic=topic)


def _update(settings: Settings, name: str = "c") -> CopyImportResult:
    return update_copy(settings, name, FileServer(settings, settings.pubmed_files_url, "X"))


def _make_noise(size: int) -> str:
    """Return text that does not compress, so that a file has many bytes."""
    chance = random.Random(size)
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz ", k=size))


def test_a_mirror_applies_baseline_and_updates_and_later_only_new_files(
    settings: Settings, publisher: Publisher
) -> None:
    first = _mirror(settings)
    assert (first.applied, first.failed) == (3, [])
    assert read_titles(settings, "c") == {"1": "One revised", "3": "Three"}
    assert first.copy_info.last_update == 3
    assert publisher.most_at_once == 1
    assert not (copy_folder(settings, "c") / "downloads").exists()

    publisher.requests.clear()
    publisher.publish("updatefiles", "pubmed26n0004", write_record(4, "Four"))
    second = _update(settings)

    assert (second.applied, second.already_applied) == (1, 3)
    assert {path for path in publisher.requests if path.endswith(".gz")} == {"updatefiles/pubmed26n0004.xml.gz"}
    assert read_titles(settings, "c") == {"1": "One revised", "3": "Three", "4": "Four"}


def test_a_mirror_equals_an_import_of_the_same_files(settings: Settings, publisher: Publisher, tmp_path: Path) -> None:
    _mirror(settings)
    for path, content in publisher.files.items():
        (tmp_path / path.rpartition("/")[2]).write_bytes(content)

    import_files(settings, "imported", [tmp_path / path.rpartition("/")[2] for path in publisher.files])

    assert compute_content_hash(settings, "imported") == compute_content_hash(settings, "c")


@pytest.mark.long
def test_an_interrupted_download_is_resumed_where_it_ended(settings: Settings, publisher: Publisher) -> None:
    path = publisher.publish("baseline", "pubmed26n0002", write_record(3, f"Three {_make_noise(60_000)}"))
    publisher.faults[path] = ["cut", "busy", "cut", "slow"]

    result = _mirror(settings)

    assert result.failed == []
    starts = [int(given.removeprefix("bytes=").rstrip("-")) for name, given in publisher.ranges if name == path]
    assert len(starts) == 2  # the busy server sent nothing
    assert 0 < starts[0] < starts[1] < len(publisher.files[path])
    assert read_titles(settings, "c")["3"].startswith("Three")


@pytest.mark.long
def test_a_file_that_changes_during_its_download_is_downloaded_again(settings: Settings, publisher: Publisher) -> None:
    path = publisher.publish("baseline", "pubmed26n0002", write_record(3, f"Three {_make_noise(60_000)}"))
    new = gzip.compress(join_articles(write_record(3, f"Three changed {_make_noise(61_000)}")), mtime=0)
    publisher.faults[path] = ["cut"]
    publisher.replacements[path] = new  # after the checksum of the old file was sent

    result = _mirror(settings)

    assert result.failed == []
    assert read_titles(settings, "c")["3"].startswith("Three changed")


def test_a_file_with_a_wrong_checksum_is_not_applied_until_it_is_right(
    settings: Settings, publisher: Publisher
) -> None:
    path = "updatefiles/pubmed26n0003.xml.gz"
    publisher.md5[path] = "0" * 32
    publisher.publish("updatefiles", "pubmed26n0004", write_record(4, "Four"))

    result = _mirror(settings)

    assert [one.reason for one in result.failed] == ["wrong_md5"]
    assert publisher.requests[path] == 3
    assert read_titles(settings, "c") == {"1": "One", "2": "Two", "3": "Three", "4": "Four"}
    publisher.md5.clear()
    assert _update(settings).failed == []
    assert read_titles(settings, "c") == {"1": "One revised", "3": "Three", "4": "Four"}


def test_a_listing_that_names_a_missing_file_only_affects_that_file(settings: Settings, publisher: Publisher) -> None:
    publisher.publish("updatefiles", "pubmed26n0004", write_record(4, "Four"))
    del publisher.files["updatefiles/pubmed26n0003.xml.gz"]

    result = _mirror(settings)

    assert [one.reason for one in result.failed] == ["not_found"]
    assert set(read_titles(settings, "c")) == {"1", "2", "3", "4"}


def test_a_damaged_file_with_a_correct_checksum_is_named(settings: Settings, publisher: Publisher) -> None:
    publisher.files["updatefiles/pubmed26n0003.xml.gz"] = gzip.compress(join_articles(write_record(9))[:-40], mtime=0)

    result = _mirror(settings)

    assert [one.reason for one in result.failed] == ["truncated"]
    assert set(read_titles(settings, "c")) == {"1", "2", "3"}


def test_a_new_year_replaces_the_old_one_when_it_is_complete(settings: Settings, publisher: Publisher) -> None:
    _mirror(settings)
    publisher.publish("baseline", "pubmed27n0002", write_record(5, "Five of the new year"))
    with pytest.raises(UpstreamError) as refused:  # NLM has begun to publish the new baseline
        _update(settings)
    assert refused.value.details["reason"] == "incomplete_baseline"
    assert set(read_titles(settings, "c")) == {"1", "3"}

    publisher.publish("baseline", "pubmed27n0001", write_record(1, "One of the new year"))
    publisher.withdraw_year("pubmed26")
    publisher.md5["baseline/pubmed27n0002.xml.gz"] = "0" * 32
    _update(settings)
    assert set(read_titles(settings, "c")) == {"1", "3"}  # the old records stay until all files are there

    publisher.md5.clear()
    result = _update(settings)
    assert read_titles(settings, "c") == {"1": "One of the new year", "5": "Five of the new year"}
    assert result.copy_info.baseline_year == 2027
    _mirror(settings, "new")
    assert compute_content_hash(settings, "new") == compute_content_hash(settings, "c")


def test_a_topic_stores_matching_records_and_removes_those_that_no_longer_match(
    settings: Settings, publisher: Publisher
) -> None:
    publisher.publish(
        "baseline",
        "pubmed26n0001",
        write_record(1, "Stroke in mice"),
        write_record(2, "Stroke"),
        write_record(7, "Heart"),
    )
    publisher.publish(
        "updatefiles", "pubmed26n0003", write_record(1, "Brain of mice"), write_record(7, "Heart and stroke")
    )

    result = _mirror(settings, topic="stroke[ti]")

    assert read_titles(settings, "c") == {"2": "Stroke", "7": "Heart and stroke"}
    assert result.copy_info.topic == "stroke[ti]"
    publisher.publish("updatefiles", "pubmed26n0004", write_record(2, "Strokes"), write_record(8, "Stroke again"))
    _update(settings)
    assert read_titles(settings, "c") == {"7": "Heart and stroke", "8": "Stroke again"}
    with pytest.raises(InvalidInput) as refused:
        _mirror(settings, topic="heart[ti]")
    assert refused.value.details["reason"] == "other_topic"
    with pytest.raises(InvalidInput) as refused:
        import_files(settings, "c", [write_set(settings.data_dir, "more.xml", write_record(9))])
    assert refused.value.details["reason"] == "topic_copy"


def test_an_invalid_topic_sends_no_request(settings: Settings, publisher: Publisher) -> None:
    with pytest.raises(InvalidInput):
        _mirror(settings, topic="stroke[nosuchfield]")

    assert not publisher.requests


def test_an_update_of_an_import_downloads_only_later_files(
    settings: Settings, publisher: Publisher, tmp_path: Path
) -> None:
    import_files(settings, "c", [write_set(tmp_path, "pubmed26n0002.xml.gz", write_record(3, "Imported"))])

    _update(settings)

    assert read_titles(settings, "c") == {"1": "One revised", "3": "Imported"}
    import_files(settings, "other", [write_set(tmp_path, "any.xml", write_record(3, "Imported"))])
    with pytest.raises(InvalidInput) as refused:
        _update(settings, "other")
    assert refused.value.details["reason"] == "no_source"


@pytest.mark.parametrize("fault", ["busy", "offline", "elsewhere", "empty"])
def test_a_server_without_a_listing_gives_no_copy(settings: Settings, publisher: Publisher, fault: str) -> None:
    if fault == "busy":
        publisher.faults["baseline/"] = ["busy"] * 10
    elif fault == "empty":
        publisher.listed["baseline"] = []
    wrong = {"offline": {"offline": True}, "elsewhere": {"pubmed_files_url": f"{publisher.url}/nowhere"}}

    with pytest.raises(EntrezKitError):
        _mirror(replace(settings, **wrong.get(fault, {})))  # type: ignore[arg-type]

    assert not copy_folder(settings, "c").exists()


@pytest.mark.long
def test_an_interrupted_mirror_continues(settings: Settings, publisher: Publisher) -> None:
    publisher.faults["baseline/pubmed26n0002.xml.gz"] = ["busy"] * 3

    first = _mirror(settings)
    assert [one.reason for one in first.failed] == ["unexpected_status"]
    assert (first.copy_info.last_file, first.copy_info.records) == ("pubmed26n0003", 1)
    second = _mirror(settings)

    assert (second.applied, second.failed) == (1, [])
    assert read_titles(settings, "c") == {"1": "One revised", "3": "Three"}
    copy = open_copy(settings, "c")
    assert copy.info.files == 3
