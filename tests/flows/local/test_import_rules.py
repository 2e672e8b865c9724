"""Imports of PubMed files: the latest record of a PMID is used, in any order of the files."""

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from local_copies import write_mesh
from pubmed_files import (
    compute_content_hash,
    compute_titles,
    join_articles,
    make_home_settings,
    read_titles,
    write_deletion,
    write_md5,
    write_record,
    write_set,
)

from entrez_kit.base.errors import EntityNotFound, InvalidInput
from entrez_kit.local.copies import open_copy
from entrez_kit.local.eutils.mesh import MeshEntry
from entrez_kit.local.importing import import_files

Events = list[tuple[int, int, str | None]]


def _write_events(folder: Path, year: int, number: int, events: Events) -> Path:
    records = [write_record(pmid, title, version=version) for pmid, version, title in events if title is not None]
    deleted = [write_deletion(pmid, version=version) for pmid, version, title in events if title is None]
    return write_set(folder, f"pubmed{year % 100:02}n{number:04}.xml.gz", *records, *deleted)


_EVENT = some.tuples(some.integers(1, 6), some.integers(1, 2), some.none() | some.sampled_from("ABCDE"))
_FILE = some.lists(_EVENT, max_size=5, unique_by=lambda event: (event[0], event[1], event[2] is None))
_FILES = some.dictionaries(some.tuples(some.sampled_from((2025, 2026)), some.integers(1, 4)), _FILE, min_size=1)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=_FILES, seed=some.randoms(use_true_random=False))
@pytest.mark.long
def test_any_order_of_files_gives_the_copy_that_the_rules_describe(
    tmp_path_factory: pytest.TempPathFactory, files: dict[tuple[int, int], Events], seed: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("files")
    kit = make_home_settings(folder)
    paths = [_write_events(folder, year, number, events) for (year, number), events in files.items()]
    expected = compute_titles((year, number, events) for (year, number), events in files.items())

    import_files(kit, "together", paths)
    order = [*paths, *seed.sample(paths, len(paths) // 2)]  # some of them twice
    seed.shuffle(order)
    for path in order:
        import_files(kit, "shuffled", [path])

    assert read_titles(kit, "together") == expected
    assert read_titles(kit, "shuffled") == expected
    assert compute_content_hash(kit, "together") == compute_content_hash(kit, "shuffled")


def test_a_later_record_replaces_the_whole_earlier_one_and_revives_a_deleted_one(tmp_path: Path) -> None:
    kit = make_home_settings(tmp_path)
    files = [
        write_set(
            tmp_path, "pubmed26n0001.xml.gz", write_record(1, "Old", more="<Language>eng</Language>"), write_record(2)
        ),
        write_set(tmp_path, "pubmed26n0002.xml.gz", write_record(1, "New"), write_deletion(2)),
        write_set(tmp_path, "pubmed26n0003.xml.gz", write_record(2, "Back")),
    ]

    import_files(kit, "c", files[:2])
    assert read_titles(kit, "c") == {"1": "New"}
    import_files(kit, "c", files)

    assert read_titles(kit, "c") == {"1": "New", "2": "Back"}
    copy = open_copy(kit, "c")
    assert b"Language" not in copy.collection.read_raw(copy.collection.find_number("1") or 0)
    assert copy.info.records == 2


def test_records_are_stored_byte_for_byte(tmp_path: Path) -> None:
    kit = make_home_settings(tmp_path)
    raw = write_record(7, "Über <i>in vitro</i> &lt;b&gt;&#223; 10<sup>6</sup>").strip()
    import_files(kit, "c", [write_set(tmp_path, "any.xml", raw)])

    assert open_copy(kit, "c").collection.read_raw(0) == raw.encode()


def test_other_files_are_applied_after_the_newest_file_of_nlm_and_before_the_next_one(tmp_path: Path) -> None:
    kit = make_home_settings(tmp_path)
    first = write_set(tmp_path, "pubmed26n0001.xml.gz", write_record(1, "Baseline"))
    fetched = write_set(tmp_path, "efetch.xml", write_record(1, "Fetched"))
    again = write_set(tmp_path, "again.xml", write_record(1, "Fetched later"))
    update = write_set(tmp_path, "pubmed26n0002.xml.gz", write_record(1, "Update"))

    import_files(kit, "c", [fetched, first])
    assert read_titles(kit, "c") == {"1": "Fetched"}
    import_files(kit, "c", [again])
    assert read_titles(kit, "c") == {"1": "Fetched later"}
    import_files(kit, "c", [fetched])  # it is applied already
    assert read_titles(kit, "c") == {"1": "Fetched later"}
    import_files(kit, "c", [update])
    assert read_titles(kit, "c") == {"1": "Update"}


def test_a_new_baseline_year_replaces_the_old_one_but_a_single_update_does_not(tmp_path: Path) -> None:
    kit = make_home_settings(tmp_path)
    old = [
        write_set(tmp_path, "pubmed25n0001.xml.gz", write_record(1, "Old"), write_record(2, "Gone in the new year")),
        write_set(tmp_path, "pubmed25n1300.xml.gz", write_record(3, "Gone too"), write_deletion(9)),
    ]
    update = write_set(tmp_path, "pubmed26n1335.xml.gz", write_record(4, "Update"))
    baseline = write_set(tmp_path, "pubmed26n0001.xml.gz", write_record(1, "New"))

    import_files(kit, "c", [*old, update])
    assert set(read_titles(kit, "c")) == {"1", "2", "3", "4"}
    import_files(kit, "c", [baseline])
    assert read_titles(kit, "c") == {"1": "New", "4": "Update"}
    import_files(kit, "d", [baseline, update])
    assert compute_content_hash(kit, "c") == compute_content_hash(kit, "d")
    import_files(kit, "c", old[:1])
    assert read_titles(kit, "c") == {"1": "New", "4": "Update"}


def test_the_highest_version_of_a_record_is_shown(tmp_path: Path) -> None:
    kit = make_home_settings(tmp_path)
    first = write_set(tmp_path, "pubmed26n0001.xml.gz", write_record(1, "Second", version=2))
    second = write_set(tmp_path, "pubmed26n0002.xml.gz", write_record(1, "First, revised", version=1))
    third = write_set(tmp_path, "pubmed26n0003.xml.gz", write_deletion(1, version=2))

    import_files(kit, "c", [first, second])
    assert read_titles(kit, "c") == {"1": "Second"}
    import_files(kit, "c", [third])
    assert read_titles(kit, "c") == {"1": "First, revised"}
    import_files(kit, "c", [write_set(tmp_path, "pubmed26n0004.xml.gz", write_deletion(1, version=None))])
    assert read_titles(kit, "c") == {}


_WHOLE = join_articles(write_record(1), write_record(2, "Second"), write_record(3))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (_WHOLE[:-60], "truncated"),
        (_WHOLE[: _WHOLE.index(b"Second")], "truncated"),
        (_WHOLE.replace(b"Second", b"<i>Second"), "bad_record"),
        (_WHOLE.replace(b"Second", b"Sec & ond"), "bad_record"),
        (_WHOLE.replace(b'<PMID Version="1">2</PMID>', b""), "bad_record"),
        (_WHOLE.replace(b"<PubmedArticleSet>", b"<PubmedArticleSet>lost text"), "not_pubmed_xml"),
        (_WHOLE.replace(b"</PubmedArticleSet>", b"</PubmedArticleSet>more"), "not_pubmed_xml"),
        (_WHOLE.replace(b"</PubmedArticleSet>", b"<Other></Other></PubmedArticleSet>"), "not_pubmed_xml"),
        (_WHOLE.replace(b'encoding="utf-8"', b'encoding="latin-1"'), "bad_encoding"),
        (b"<html><body>Not found</body></html>", "unknown_file"),
        (b"", "unknown_file"),
        (gzip.compress(_WHOLE)[:-20], "truncated"),
        (gzip.compress(_WHOLE)[:200] + b"\0\0\0\0" + gzip.compress(_WHOLE)[204:], "damaged"),
    ],
)
def test_a_damaged_file_is_rejected_as_a_whole_and_named(tmp_path: Path, content: bytes, reason: str) -> None:
    kit = make_home_settings(tmp_path)
    good = write_set(tmp_path, "pubmed26n0001.xml.gz", write_record(1, "Kept"))
    bad = tmp_path / "pubmed26n0002.xml"
    bad.write_bytes(content)

    with pytest.raises(InvalidInput) as refused:
        import_files(kit, "empty", [bad])
    assert refused.value.details["reason"] == reason
    assert "pubmed26n0002.xml" in str(refused.value.message)
    with pytest.raises(EntityNotFound):
        open_copy(kit, "empty")

    result = import_files(kit, "c", [good, bad])
    assert [(Path(one.file).name, one.reason) for one in result.failed] == [("pubmed26n0002.xml", reason)]
    assert read_titles(kit, "c") == {"1": "Kept"}


@pytest.mark.parametrize(
    ("name", "content", "message", "hint"),
    [
        ("a.xml", _WHOLE[:-60], "it ends after 2 complete records", "Download or export the file again"),
        ("a.xml", b"", "it is empty", "Download or export the file again"),
        ("a.xml", b"<html/>", "not PubMed XML or another file", "Give files of the PubMed baseline"),
        ("a.xml", _WHOLE.replace(b'encoding="utf-8"', b'encoding="latin-1"'), "latin-1", "Save the file in UTF-8"),
        ("a.jsonl", b'{"pmid": "1"}', "line 1 is not an article", "corpus export -f jsonl"),
        ("a.nbib", b"PMID- 1\nno field\n", "line 2 is not a field", "Correct the record"),
        ("desc2026.xml", b"<DescriptorRecordSet><DescriptorRecord>", "not well-formed", "Download the file from NLM"),
    ],
)
def test_the_hint_about_a_file_depends_on_its_problem(
    tmp_path: Path, name: str, content: bytes, message: str, hint: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(InvalidInput) as refused:
        import_files(make_home_settings(tmp_path), "c", [path])

    assert message in str(refused.value.message)
    assert hint in str(refused.value.recovery_hint)


def test_a_checksum_file_without_a_checksum_is_named(tmp_path: Path) -> None:
    path = write_set(tmp_path, "a.xml", write_record(1))
    path.with_name("a.xml.md5").write_text("none", encoding="utf-8")

    with pytest.raises(InvalidInput) as refused:
        import_files(make_home_settings(tmp_path), "c", [path])

    assert str(refused.value.message).endswith("a.xml.md5 contains no MD5 checksum.")
    assert refused.value.details["reason"] == "bad_checksum_file"


def test_a_defect_names_the_record(tmp_path: Path) -> None:
    bad = write_set(tmp_path, "pubmed26n0001.xml.gz", write_record(1), write_record(22, "<i>broken"))

    with pytest.raises(InvalidInput) as refused:
        import_files(make_home_settings(tmp_path), "c", [bad])

    assert refused.value.details["pmid"] == "22"
    assert refused.value.details["record"] == 2


def test_the_checksum_next_to_a_file_is_compared(tmp_path: Path) -> None:
    kit = make_home_settings(tmp_path)
    good = write_set(tmp_path, "pubmed26n0001.xml.gz", write_record(1), md5=True)
    changed = write_set(tmp_path, "pubmed26n0002.xml.gz", write_record(2))
    write_md5(good)
    changed.with_name(f"{changed.name}.md5").write_text(f"MD5({changed.name})= {'0' * 32}\n", encoding="ascii")

    result = import_files(kit, "c", [good, changed])

    assert [one.reason for one in result.failed] == ["wrong_md5"]
    assert set(read_titles(kit, "c")) == {"1"}


def test_a_folder_is_imported_with_mesh_files_and_without_its_readme(tmp_path: Path) -> None:
    kit, folder = make_home_settings(tmp_path), tmp_path / "nlm"
    folder.mkdir()
    (folder / "README.txt").write_text("Courtesy of NLM", encoding="utf-8")
    write_set(folder, "pubmed26n0001.xml.gz", write_record(1))
    (mesh, *_) = write_mesh(tmp_path, [MeshEntry("Neoplasms", ("C04",), uid="68009369", ui="D009369")])
    (folder / "desc2026.gz").write_bytes(gzip.compress(mesh.read_bytes()))
    (folder / "lost.xml").write_text("<html/>", encoding="utf-8")

    result = import_files(kit, "c", [folder])

    assert (result.applied, result.copy_info.mesh_records, result.copy_info.records) == (2, 1, 1)
    assert [Path(one).name for one in result.ignored] == ["README.txt"]
    assert [Path(one.file).name for one in result.failed] == ["lost.xml"]
    with pytest.raises(InvalidInput) as refused:
        import_files(kit, "other", [folder / "README.txt"])
    assert refused.value.details["reason"] == "unknown_file"


@pytest.mark.parametrize("before", [b"", b'<?xml version="1.0"?>\n<!-- one -->\n'])
def test_a_single_record_is_a_document(tmp_path: Path, before: bytes) -> None:
    kit = make_home_settings(tmp_path)
    whole = before + write_record(7, "Alone").encode()
    (tmp_path / "one.xml").write_bytes(whole + b"\n")
    (tmp_path / "two.xml").write_bytes(whole + write_record(8).encode())

    result = import_files(kit, "c", [tmp_path / "one.xml", tmp_path / "two.xml"])

    assert read_titles(kit, "c") == {"7": "Alone"}
    assert [one.reason for one in result.failed] == ["not_pubmed_xml"]
