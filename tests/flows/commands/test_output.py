"""Output files are written completely or not at all, and terminals get no control characters."""

import io
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from command_line import Cli
from platform_marks import needs_full_device

from entrez_kit.base.errors import StoreError
from entrez_kit.commands import _formats


class Terminal(io.TextIOWrapper):
    """A standard output that reports that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_file_is_written_completely_with_the_mode_of_this_user(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    mask = os.umask(0o027)
    try:
        with _formats.Sink(target) as sink:
            sink.write_data("half")
            assert not target.exists()
            sink.write_data(b" and half")
    finally:
        os.umask(mask)

    assert target.read_text(encoding="utf-8") == "half and half"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [target]


def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o600)

    with _formats.Sink(target) as sink:
        sink.write_data("new")

    assert target.read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


@pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError])
def test_a_failure_leaves_the_old_file_and_no_other_file(tmp_path: Path, failure: type[BaseException]) -> None:
    target = tmp_path / "out.json"
    target.write_text("old", encoding="utf-8")

    def write() -> None:
        with _formats.Sink(target) as sink:
            sink.write_data("new")
            raise failure

    with pytest.raises(failure):
        write()

    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.process
def test_the_partial_file_of_a_killed_run_is_removed_by_the_next_run_and_that_of_a_running_one_is_not(
    tmp_path: Path,
) -> None:
    target = tmp_path / "out.json"
    other = tmp_path / ".other.json.0123456789ab.part"
    other.touch()
    script = (
        "import sys, time; from pathlib import Path; from entrez_kit.commands._formats import Sink\n"
        "with Sink(Path(sys.argv[1])) as sink:\n"
        "    sink.write_data('half'); sink.flush(); print('ready', flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(target)], stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        (part,) = tmp_path.glob(".out.json.*.part")
        with _formats.Sink(target) as sink:
            sink.write_data("first")
        assert part.exists()
        running.kill()  # SIGKILL: no part of the program runs any more
    assert part.exists()

    with _formats.Sink(target) as sink:
        sink.write_data("second")

    assert sorted(tmp_path.iterdir()) == sorted([target, other])
    assert target.read_text(encoding="utf-8") == "second"


def test_a_discarded_result_does_not_change_the_file(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old", encoding="utf-8")

    with _formats.Sink(target) as sink:
        sink.discard()

    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_symbolic_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    real = tmp_path / "data" / "real.json"
    real.write_text("old", encoding="utf-8")
    link = tmp_path / "link.json"
    link.symlink_to(real)

    with _formats.Sink(link) as sink:
        sink.write_data("new")

    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "new"


def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_text(encoding="utf-8")))
    reader.start()

    with _formats.Sink(fifo) as sink:
        sink.write_data("through")
    reader.join(10)

    assert read == ["through"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_two_writers_do_not_mix_their_output(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    with _formats.Sink(target) as first, _formats.Sink(target) as second:
        first.write_data("1" * 100_000)
        second.write_data("2" * 100_000)

    assert set(target.read_text(encoding="utf-8")) in ({"1"}, {"2"})


def test_a_file_that_cannot_be_created_is_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written: File name too long"):
        _formats.Sink(tmp_path / ("x" * 300)).__enter__()


@pytest.fixture
def shared_folder(tmp_path: Path) -> Path:
    """Return a folder like /tmp, where every user may create any name."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can give files away")
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def _create_link(at: Path, to: Path, owner: int) -> None:
    at.symlink_to(to)
    os.chown(at, owner, owner, follow_symlinks=False)


ANOTHER_USER = 12345


@pytest.mark.parametrize("way", ["target", "parent", "missing target", "own link to it", "pipe"])
def test_output_does_not_follow_a_link_of_another_user_in_a_shared_folder(
    shared_folder: Path, tmp_path: Path, way: str
) -> None:
    victim = tmp_path / "mine.txt"
    victim.write_text("keep", encoding="utf-8")
    target = shared_folder / "out.txt"
    if way == "target":
        _create_link(target, victim, ANOTHER_USER)
    elif way == "missing target":
        _create_link(target, tmp_path / "new.txt", ANOTHER_USER)
    elif way == "parent":
        _create_link(shared_folder / "folder", tmp_path, ANOTHER_USER)
        target = shared_folder / "folder" / "mine.txt"
    elif way == "pipe":
        os.mkfifo(target)
        os.chown(target, ANOTHER_USER, ANOTHER_USER)
    else:
        _create_link(shared_folder / "theirs", victim, ANOTHER_USER)
        target = tmp_path / "own"
        target.symlink_to(shared_folder / "theirs")

    with pytest.raises(StoreError) as caught, _formats.Sink(target) as sink:
        sink.write_data("new")
    assert "of another user in the shared folder" in caught.value.message
    assert str(shared_folder) in caught.value.message
    assert victim.read_text(encoding="utf-8") == "keep"
    assert not (tmp_path / "new.txt").exists()


@pytest.mark.parametrize("way", ["own link", "link of the folder's owner", "file", "link elsewhere"])
def test_output_follows_links_that_another_user_cannot_create(shared_folder: Path, tmp_path: Path, way: str) -> None:
    place = tmp_path / "mine.txt"
    target = shared_folder / "out.txt"
    if way == "own link":
        _create_link(target, place, os.geteuid())
    elif way == "link of the folder's owner":
        os.chown(shared_folder, ANOTHER_USER, ANOTHER_USER)
        _create_link(target, place, ANOTHER_USER)
    elif way == "link elsewhere":
        shared_folder.chmod(0o755)
        _create_link(target, place, ANOTHER_USER)
    else:
        place = target
    with _formats.Sink(target) as sink:
        sink.write_data("new")

    assert place.read_text(encoding="utf-8") == "new"


def test_a_command_explains_why_it_does_not_write_through_such_a_link(
    cli: Cli, shared_folder: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "mine.txt"
    victim.write_text("keep", encoding="utf-8")
    _create_link(shared_folder / "out.json", victim, ANOTHER_USER)
    ended = cli("search", "crispr", "-o", str(shared_folder / "out.json"))

    assert ended.status == 9
    assert "is a link of another user in the shared folder" in ended.err
    assert victim.read_text(encoding="utf-8") == "keep"


@needs_full_device
def test_a_full_disk_is_a_store_error() -> None:
    def write() -> None:
        with _formats.Sink(Path("/dev/full")) as sink:
            sink.write_data("x" * 1_000_000)

    with pytest.raises(StoreError, match="No space left"):
        write()


def test_no_record_sends_control_sequences_to_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    nasty = "a\x1b[2Jb\x9b31mc\x07d\r\ne\tf\u202eg"
    for terminal in (True, False):
        raw = io.BytesIO()
        stream = (Terminal if terminal else io.TextIOWrapper)(raw, encoding="utf-8")
        monkeypatch.setattr(sys, "stdout", stream)
        with _formats.Sink(None) as sink:
            sink.write_data(nasty)
            sink.write_data(nasty.encode())
        expected = "a[2Jb31mcd\ne\tfg" if terminal else nasty
        assert raw.getvalue().decode() == expected * 2


# The option


def test_the_suffix_selects_the_format(cli: Cli, tmp_path: Path) -> None:
    beginnings = {"hits.json": "{", "hits.jsonl": '{"pmid"', "hits.txt": "99", "hits": "{", "hits.ids.JSON": "{"}
    for name, beginning in beginnings.items():
        done = cli("search", "crispr", "-n", "3", "-o", str(tmp_path / name))
        assert done.status == 0, done.err
        assert done.out == ""
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(beginning), name


def test_the_format_flag_has_precedence_over_the_suffix(cli: Cli, tmp_path: Path) -> None:
    assert cli("search", "crispr", "-f", "ids", "-o", str(tmp_path / "hits.json")).status == 0
    assert (tmp_path / "hits.json").read_text(encoding="utf-8").split()[0].isdigit()


def test_a_suffix_of_a_format_that_the_command_does_not_have_is_rejected(cli: Cli, tmp_path: Path) -> None:
    done = cli("search", "crispr", "-o", str(tmp_path / "hits.parquet"))

    assert done.status == 2
    assert "--output must be a file with the suffix .json, .yaml" in done.err
    assert list(tmp_path.glob("hits*")) == []


def test_plain_text_output_is_rejected_for_a_suffix_of_another_format(cli: Cli, tmp_path: Path) -> None:
    for name, status in {"path.csv": 2, "path.ris": 2, "path.xyz": 2, "path.txt": 0, "path": 0, "path.json": 0}.items():
        assert cli("config", "path", "-o", str(tmp_path / name)).status == status, name
        assert (tmp_path / name).exists() == (status == 0), name


def test_a_folder_as_output_is_rejected(cli: Cli, tmp_path: Path) -> None:
    assert cli("search", "crispr", "-o", str(tmp_path)).status == 2
    assert cli("search", "crispr", "-o", str(tmp_path / "none" / "hits.json")).status == 2


def test_a_dash_is_standard_output(cli: Cli) -> None:
    assert cli("search", "crispr", "-f", "ids", "-n", "1", "-o", "-").out.strip().isdigit()


def test_an_error_leaves_no_file(cli: Cli, tmp_path: Path) -> None:
    for form in ("json", "jsonl", "csv", "xml"):
        done = cli("fetch", "nonsense", "-f", form, "-o", str(tmp_path / f"out.{form}"), "--offline", "--no-cache")
        assert done.status != 0
    assert cli("search", "((", "-o", str(tmp_path / "search.json")).status == 2
    assert not (tmp_path / "search.json").exists()
    assert list(tmp_path.glob(".*part")) == []


def test_a_pipe_is_written_by_its_given_name() -> None:
    """The target of /dev/fd/N has no path."""
    reader, writer = os.pipe()
    try:
        with _formats.Sink(Path(f"/dev/fd/{writer}")) as sink:
            sink.write_data("through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
        os.close(writer)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (("search", "crispr"), "total_found"),
        (("search", "nosuchwordatall"), "total_found"),
        (("europepmc", "crispr"), "total_found"),
        (("mesh", "neoplasms"), "total_found"),
        (("db", "search", "gene", "TP53"), "total_found"),
        (("gene", "search", "TP53"), "pagination.total_count"),
        (("gene", "pubmed", "NCBIGene:7157"), "total_count"),
        (("related", "99000001"), "total_found"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else one,
)
def test_count_prints_only_the_number(cli: Cli, command: tuple[str, ...], path: str) -> None:
    document = json.loads(cli(*command, "--json").out)
    for name in path.split("."):
        document = document[name]
    done = cli(*command, "--count")

    assert (done.status, done.out) == (0, f"{document}\n"), done.err
    assert done.out == cli(*command, "-f", "count").out
    assert "more result" not in done.err


def test_count_is_rejected_for_a_command_without_a_total(cli: Cli) -> None:
    assert cli("fetch", "99000001", "-f", "count").status == 2
    assert cli("fetch", "99000001", "--count").status == 2
    assert cli("search", "crispr", "--count", "-f", "ids").status == 2
