"""`entrez-kit local`: documents, exit codes and confirmations."""

import json
from pathlib import Path

import pytest
from command_line import Cli
from pubmed_files import write_record, write_set
from pubmed_publisher import Publisher


def test_a_copy_can_be_imported_searched_and_removed(cli: Cli, tmp_path: Path) -> None:
    path = write_set(tmp_path, "pubmed26n0001.xml.gz", write_record(1), write_record(2), md5=True)
    done = cli("local", "import", "mine", str(tmp_path))
    assert done.status == 0
    assert json.loads(done.out)["copy_info"]["records"] == 2
    assert "1 file" in done.err

    again = json.loads(cli("local", "import", "mine", str(path)).out)
    assert (again["applied"], again["already_applied"]) == (0, 1)
    shown = json.loads(cli("local", "show", "mine").out)
    assert shown["hash"] == again["copy_info"]["hash"]
    assert [one["name"] for one in json.loads(cli("local", "list").out)["copies"]] == ["mine"]
    assert json.loads(cli("local", "verify", "mine", "--full").out)["ok"] is True
    assert "mine" in cli("local", "list", "-f", "table").out
    assert "mine" in cli("local", "show", "mine", "-f", "table").out
    assert cli("local", "verify", "mine", "-f", "table").out.startswith("No problems (2 of 2 records checked).")
    removed = cli("local", "remove", "mine")
    assert (removed.status, json.loads(removed.out)["removed"]) == (0, True)
    assert cli("local", "show", "mine").status == 3


def test_a_damaged_file_among_others_ends_with_status_4(cli: Cli, tmp_path: Path) -> None:
    write_set(tmp_path, "good.xml", write_record(1))
    (tmp_path / "bad.xml").write_bytes(b"<PubmedArticleSet><PubmedArticle>")

    done = cli("local", "import", "mine", str(tmp_path))

    assert done.status == 4
    assert json.loads(done.out)["copy_info"]["records"] == 1
    error = json.loads(done.err.strip().splitlines()[-1])["error"]
    assert [Path(name).name for name in error["details"]["missing"]] == ["bad.xml"]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("import", "mine", "nosuchfile.xml"), 2),
        (("import", "../mine", "nosuchfile.xml"), 2),
        (("show", "nothing"), 3),
        (("remove", "nothing", "--yes"), 3),
        (("verify", "nothing"), 3),
        (("update", "nothing"), 3),
        (("mirror", "mine", "--topic", "a[ti]", "--from", "2020"), 2),
    ],
)
def test_each_error_has_its_status(cli: Cli, arguments: tuple[str, ...], status: int) -> None:
    assert cli("local", *arguments).status == status


def test_a_mirror_can_be_created_and_updated(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with Publisher() as publisher:
        publisher.publish("baseline", "pubmed26n0001", write_record(1, "Heart"), write_record(2, "Stroke"))
        monkeypatch.setenv("ENTREZ_KIT_PUBMED_FILES_URL", publisher.url)
        done = cli("local", "mirror", "mine", "--topic", "stroke[ti]")
        assert json.loads(done.out)["copy_info"]["records"] == 1
        publisher.publish("updatefiles", "pubmed26n0002", write_record(3, "Stroke"))
        assert json.loads(cli("local", "update", "mine").out)["copy_info"]["records"] == 2
