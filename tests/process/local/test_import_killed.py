"""An import that is killed at any moment and run again gives the same copy as an uninterrupted one."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from project_paths import ROOT
from pubmed_files import compute_content_hash, make_home_settings, write_deletion, write_set
from sampled_cases import FULL

from entrez_kit.local.copies import copy_folder, open_copy, remove_copy
from entrez_kit.local.verifying import verify_copy
from entrez_kit.sandbox.generate import GeneratedCollection

PROGRAM = ROOT / "tests" / "support" / "import_program.py"
FILES = 8
PER_FILE = 60


def _write_files(folder: Path) -> list[Path]:
    """Write a baseline, and updates that revise and delete some of its records."""
    generated = GeneratedCollection(FILES * PER_FILE)
    raws = [generated.read_raw(number).decode() for number in range(generated.size)]
    paths = []
    for number in range(FILES):
        own = raws[number * PER_FILE : (number + 1) * PER_FILE]
        earlier = [raw.replace("<ArticleTitle>", "<ArticleTitle>Revised: ") for raw in raws[: number * 7 : 7]]
        deleted = [int(generated.get_pmid(place)) for place in range(number, number * PER_FILE, 41)]
        parts = [*own, *earlier, *([write_deletion(*deleted)] if deleted else [])]
        paths.append(write_set(folder, f"pubmed26n{number + 1:04}.xml.gz", *parts, md5=True))
    return paths


def _start(home: Path, paths: list[Path]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, str(PROGRAM), str(home), "c", *map(str, paths)], stderr=subprocess.PIPE)


def _finish(process: "subprocess.Popen[bytes]") -> None:
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()


def _kill_often(tmp_path: Path, kills: int, seed: int) -> None:
    paths = _write_files(tmp_path / "files")
    calm, disturbed = tmp_path / "calm", tmp_path / "disturbed"
    calm.mkdir()
    disturbed.mkdir()
    started = time.monotonic()
    _finish(_start(calm, paths))
    seconds = time.monotonic() - started
    chance = random.Random(seed)
    expected = compute_content_hash(make_home_settings(calm), "c")
    killed = 0
    while killed < kills:
        process = _start(disturbed, chance.sample(paths, len(paths)))
        try:
            process.wait(timeout=seconds * chance.uniform(0.2, 0.8))
            assert compute_content_hash(make_home_settings(disturbed), "c") == expected
            remove_copy(make_home_settings(disturbed), "c")  # so that the next kill disturbs an import again
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.communicate(timeout=60)
    _finish(_start(disturbed, paths))

    copies = [open_copy(make_home_settings(home), "c") for home in (calm, disturbed)]
    assert copies[0].hash == copies[1].hash
    assert copies[0].info.records == copies[1].info.records > FILES * PER_FILE / 2
    for copy in copies:
        copy.close()
    found = verify_copy(make_home_settings(disturbed), "c", full=True)
    assert (found.ok, found.hash) == (True, copies[0].hash)
    folder = copy_folder(make_home_settings(disturbed), "c")
    assert not (folder / "work").exists()
    assert len(list((folder / "index").iterdir())) < FILES


def test_an_import_that_is_killed_and_repeated_gives_the_same_copy(tmp_path: Path) -> None:
    _kill_often(tmp_path, 20 if FULL else 3, seed=1)


def test_an_interrupted_import_ends_its_processes_and_can_be_repeated(tmp_path: Path) -> None:
    paths = _write_files(tmp_path / "files")
    process = _start(tmp_path, paths)
    while process.poll() is None and not (copy_folder(make_home_settings(tmp_path), "c") / "work").exists():
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    _finish(_start(tmp_path, paths))

    assert verify_copy(make_home_settings(tmp_path), "c", full=True).ok
