"""`entrez-kit check`: whole flows over the demo corpus, and files that cannot be checked."""

import errno
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, read_error, read_lines, read_rows

from entrez_kit.sandbox.server import Sandbox

GOOD = (
    "@article{good, title = {Base editing of a cryptic splice site restores mucus transport in human airway cells}}\n"
)
MADE_UP = (
    "@article{madeup, title = {Deep learning sees imaginary tumours}, doi = {10.5555/ekit.2019.0001}, year = 1999}\n"
)
WRONG = "@article{wrong, pmid = {99000001}, title = {Base editing of a cryptic splice site restores mucus transport in human airway cells}, year = 1999}\n"  # noqa: E501  # one line each
RETRACTED = (
    "@article{moon, pmid = {99000050}, title = {Moonlight exposure doubles overnight memory in shift workers}}\n"
)
NOBODY = "@article{nobody, title = {Nobody wrote any of these seven words}}\n"


@pytest.fixture
def bib(tmp_path: Path) -> Path:
    """Return a file with a reference of every kind."""
    file = tmp_path / "refs.bib"
    file.write_text(GOOD + MADE_UP + WRONG + RETRACTED + NOBODY, encoding="utf-8")
    return file


def test_the_status_is_0_if_all_are_verified_and_4_if_there_is_a_finding(cli: Cli, bib: Path, tmp_path: Path) -> None:
    good = tmp_path / "good.bib"
    good.write_text(GOOD, encoding="utf-8")

    assert cli("check", str(good)).status == 0
    done = cli("check", str(bib))

    assert done.status == 4
    statuses = {one["key"]: one["status"] for one in json.loads(done.out)["references"]}
    assert statuses == {
        "good": "verified",
        "madeup": "another_work",
        "wrong": "mismatch",
        "moon": "retracted",
        "nobody": "not_found",
    }


def test_every_format_lists_every_reference_in_order(cli: Cli, bib: Path) -> None:
    keys = ["good", "madeup", "wrong", "moon", "nobody"]

    rows = read_rows(cli("check", str(bib), "-f", "csv").out)
    lines = read_lines(cli("check", str(bib), "-f", "jsonl").out)
    table = cli("check", str(bib), "-f", "table").out

    assert [row["key"] for row in rows] == [line["key"] for line in lines] == keys
    assert rows[2]["findings"] == "year: 1999 → 2019; already cited in row 1"
    assert rows[1]["findings"].startswith("Your DOI belongs to: Marrowby 2019 (PMID 99000001).")
    totals = "1 of 5 verified, 1 retracted, 1 another work, 1 not found, 1 mismatch, 1 duplicate"
    assert totals in " ".join(table.split())
    worst_first = ["moon", "madeup", "nobody", "wrong", "good"]
    assert [table.index(key) for key in worst_first] == sorted(table.index(key) for key in keys)


def test_fix_writes_a_corrected_copy_next_to_the_file_and_lists_what_it_left_unchanged(cli: Cli, bib: Path) -> None:
    before = bib.read_bytes()

    done = cli("check", str(bib), "--fix")

    assert done.status == 4
    fixed = bib.with_name("refs.fixed.bib")
    assert bib.read_bytes() == before
    assert json.loads(done.out)["fixed"] == str(fixed)
    text = fixed.read_text(encoding="utf-8")
    assert text.startswith(GOOD + MADE_UP)
    assert text.endswith(NOBODY)
    assert "{99000001}, title" in text
    assert "year = 2019}" in text
    assert "[Retracted: " in text
    assert f"2 references corrected in {fixed}" in done.err
    assert "wrong (line 3): year: 1999 -> 2019" in done.err
    assert "moon (line 4): note: (nothing) -> [Retracted: " in done.err
    assert [one["key"] for one in json.loads(done.out)["changes"]] == ["wrong", "moon"]
    assert json.loads(done.out)["uncorrected"] == [
        {"key": "madeup", "line": 2, "codes": ["another_work"]},
        {"key": "wrong", "line": 3, "codes": ["duplicate"]},
        {"key": "nobody", "line": 5, "codes": ["not_found"]},
    ]
    assert "madeup (another work); wrong (duplicate); nobody (not found)" in done.err


def test_a_dry_run_lists_every_change_and_writes_nothing(cli: Cli, bib: Path) -> None:
    bib.with_name("refs.fixed.bib").write_text("mine", encoding="utf-8")

    done = cli("check", str(bib), "--fix", "--dry-run")
    found = json.loads(done.out)

    assert done.status == 4
    assert bib.with_name("refs.fixed.bib").read_text(encoding="utf-8") == "mine"
    assert "wrong (line 3): year: 1999 -> 2019" in done.err
    assert "2 references would be corrected; no file was written" in done.err
    assert "fixed" not in found
    assert found["changes"][0] == {"key": "wrong", "line": 3, "field": "year", "old": "1999", "new": "2019"}
    assert cli("check", str(bib), "--dry-run").out == done.out


def test_every_change_of_a_corrected_file_is_listed(cli: Cli, tmp_path: Path) -> None:
    """The differences between the two files are exactly those in stderr and the document."""
    file = tmp_path / "refs.ris"
    text = cli("fetch", "99000001", "99000004", "99000031", "-f", "ris").out
    file.write_text(text.replace("PY  - 2024", "PY  - 2020").replace("VL  - ", "VL  - 9"), encoding="utf-8")

    done = cli("check", str(file), "--fix")
    before, after = (file.with_name(name).read_text("utf-8").splitlines() for name in ("refs.ris", "refs.fixed.ris"))
    changed = [(old[6:], new[6:]) for old, new in zip(before, after, strict=True) if old != new]
    changes = json.loads(done.out)["changes"]

    assert sorted(changed) == sorted(
        (change["old"], change["new"]) for change in changes if change["new"] != change["old"]
    )
    assert len(changed) > 2
    assert all(f"{change['field']}: {change['old']} -> {change['new']}" in done.err for change in changes)


def test_fix_overwrites_its_earlier_output_only_on_request(cli: Cli, bib: Path, sandbox: Sandbox) -> None:
    fixed = bib.with_name("refs.fixed.bib")
    fixed.write_text("mine", encoding="utf-8")

    done = cli("check", str(bib), "--fix")

    assert done.status == 2
    assert "already exists" in read_error(done)["message"]
    assert fixed.read_text(encoding="utf-8") == "mine"
    assert sandbox.requests() == 0
    assert cli("check", str(bib), "--fix", "--force").status == 4
    assert fixed.read_text(encoding="utf-8") != "mine"


def test_fix_writes_nothing_if_there_is_nothing_to_correct(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "good.bib"
    file.write_text(GOOD + NOBODY, encoding="utf-8")

    done = cli("check", str(file), "--fix")

    assert "no file was written" in done.err
    assert [path.name for path in tmp_path.glob("*.bib")] == ["good.bib"]


@pytest.mark.parametrize("form", ["ris", "bibtex", "csl", "nbib"])
def test_references_that_fetch_writes_are_verified(cli: Cli, tmp_path: Path, form: str) -> None:
    ids = ("99000001", "99000004", "99000031", "99000070")
    content = cli("fetch", *ids, "-f", form).out

    done = cli("check", "-", stdin=content)

    found = json.loads(done.out)
    assert [one["pmid"] for one in found["references"]] == list(ids)
    assert found["counts"]["verified"] == 4, found
    assert done.status == 0


def test_lists_of_identifiers_are_checked_for_existence_and_retraction(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "ids.txt"
    file.write_text("99000001 # mine\nPMC99000002\n10.5555/ekit.2024.0004, 99000050\n12\nnonsense\n", encoding="utf-8")

    found = json.loads(cli("check", str(file)).out)["references"]

    assert [(one["key"], one["status"]) for one in found] == [
        ("99000001", "verified"),
        ("PMC99000002", "verified"),
        ("10.5555/ekit.2024.0004", "verified"),
        ("99000050", "retracted"),
        ("12", "not_found"),
        ("nonsense", "unreadable"),
    ]
    assert cli("check", str(file), "--fix").status == 2
    assert cli("check", "-", stdin="99000001").status == 0


def test_a_key_used_twice_is_reported_and_both_are_checked(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "twice.bib"
    file.write_text(GOOD + GOOD, encoding="utf-8")

    found = json.loads(cli("check", str(file)).out)

    assert [one["status"] for one in found["references"]] == ["verified", "duplicate"]
    assert found["warnings"][0] == {"code": "duplicate_key", "message": "The key good is used 2 times (lines 1, 2)."}


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.bib", b"", None),
        ("a.bib", b" \n\t\n", None),
        ("a.bib", b"no entries at all", None),
        ("a.bib", GOOD.encode() + b"@article{x,\n  title = {open\n\n@article{y, title={T}}\n", 2),
        ("a.bib", b"\x00\x01\x02", None),
        ("a.ris", b"TY  - JOUR\nTI  - a\nTY  - JOUR\nER  - \n", 3),
        ("a.ris", b"TY  - JOUR\nTI  - a\n", 1),
        ("a.ris", b"\n\nTI  - a\n", 3),
        ("a.json", b'[{"id": "x", "type": "book"},\n {]', 2),
        ("a.json", b"[1, 2]", None),
        ("a.json", b'{"a": 1}', None),
        ("a.json", b"[]", None),
        ("a.nbib", b"PMID- 1\nTI  - a\nwrong\n", 3),
        ("a.docx", b"PK\x03\x04 binary", None),
        ("a.xyz", b"hello", None),
    ],
)
def test_an_unreadable_file_ends_with_status_2_and_names_the_line(
    alone: Cli, tmp_path: Path, name: str, content: bytes, line: int | None
) -> None:
    file = tmp_path / name
    file.write_bytes(content)

    done = alone("check", str(file), "--json")

    assert done.status == 2, done.err
    assert done.out == ""
    error = read_error(done)
    assert str(file) in error["message"]
    assert error["details"] == {"reason": "bad_file", **({"line": line} if line else {})}
    assert line is None or f", line {line}: " in error["message"]


@pytest.mark.parametrize(("name", "content"), [("a.json", b"[" * 100_000), ("a.txt", b"\n# only a comment\n")])
def test_a_file_with_nested_lists_or_without_ids_ends_with_status_2(
    alone: Cli, tmp_path: Path, name: str, content: bytes
) -> None:
    file = tmp_path / name
    file.write_bytes(content)

    done = alone("check", str(file), "--json")

    assert (done.status, done.out) == (2, "")
    assert str(file) in read_error(done)["message"]


@pytest.mark.parametrize("suffix", [".bib", ".md", ".tex", ".docx", ".pdf", ".xml", ".txt"])
@pytest.mark.parametrize("content", [b"", b"\x00\x01 \xff"])
def test_the_error_about_an_unreadable_file_names_the_file_and_the_readable_suffixes(
    alone: Cli, tmp_path: Path, suffix: str, content: bytes
) -> None:
    file = tmp_path / f"a{suffix}"
    file.write_bytes(content)

    error = read_error(alone("check", str(file), "--json"))

    assert error["details"] == {"reason": "bad_file"}
    assert "reply" not in error["message"], "no service answered"
    assert "this line" not in error["recovery_hint"], "the message has no line"
    if not content:
        assert error["message"] == f"{file}: it is empty."
        assert {".bib", ".docx", ".tex", ".md", ".pdf"} <= set(re.findall(r"\.[a-z]+", error["recovery_hint"]))


@pytest.mark.parametrize(("flags", "named"), [(["--fix"], "fix"), (["--dry-run"], "dry_run")])
def test_the_error_about_a_list_of_ids_names_the_correction_option_that_was_given(
    alone: Cli, tmp_path: Path, flags: list[str], named: str
) -> None:
    file = tmp_path / "ids.txt"
    file.write_text("99000001\n")

    assert read_error(alone("check", str(file), *flags))["invalid_input"] == named


def test_a_missing_file_or_a_folder_ends_with_status_2(alone: Cli, tmp_path: Path) -> None:
    for path in (tmp_path / "none.bib", tmp_path):
        done = alone("check", str(path))
        assert done.status == 2
        error = read_error(done)
        assert (error["invalid_input"], error["details"]["reason"]) == (str(path), "cannot_read")


def test_a_file_without_read_permission_ends_with_status_2(
    alone: Cli, bib: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_file = Path.open

    def refuse_unreadable(path: Path, *arguments: Any, **keywords: Any) -> Any:
        if path == bib:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return open_file(path, *arguments, **keywords)

    bib.chmod(0)
    if os.geteuid() == 0:  # root may read every file
        monkeypatch.setattr(Path, "open", refuse_unreadable)

    done = alone("check", str(bib))

    assert done.status == 2
    assert "cannot be read: Permission denied." in read_error(done)["message"]


@pytest.mark.long
def test_no_reference_checked_ends_with_status_5_and_never_reports_not_found(alone: Cli, bib: Path) -> None:
    done = alone("check", str(bib), "--json")

    assert done.status == 5
    assert done.out == ""
    assert read_error(done)["code"] == "UPSTREAM_ERROR"
    assert not bib.with_name("refs.fixed.bib").exists()


def test_files_in_old_encodings_are_read_and_written_back_in_them(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "old.bib"
    text = WRONG.replace("year", "mynote = {Über Größe},\r\nyear")
    file.write_bytes(text.encode("cp1252"))

    assert cli("check", str(file), "--fix").status == 4
    assert file.with_name("old.fixed.bib").read_bytes() == text.replace("1999", "2019").encode("cp1252")


def test_control_characters_of_a_file_are_never_printed_to_a_terminal(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "evil.bib"
    file.write_text("@article{\x1b[31mkey\x07, title = {\x1b]0;owned\x07 Words of nobody here}}\n", encoding="utf-8")

    done = cli("check", str(file), "-f", "table")

    assert "\x1b]" not in done.out
    assert "\x07" not in done.out + done.err


@pytest.mark.process
def test_check_works_in_the_demo(program: Any, tmp_path: Path) -> None:
    file = tmp_path / "refs.bib"
    file.write_text(GOOD + MADE_UP, encoding="utf-8")

    done = program("--demo", "check", str(file), "-f", "jsonl")

    assert done.status == 4
    assert [json.loads(line)["status"] for line in done.out.splitlines()] == ["verified", "another_work"]


def test_several_files_have_separate_rows_counts_and_corrections(cli: Cli, bib: Path) -> None:
    ris = bib.with_name("b.ris")
    record = cli("fetch", "99000001", "99000050", "-f", "ris").out
    ris.write_text(record.replace("PY  - 2019", "PY  - 1999"), encoding="utf-8")
    alone = [json.loads(cli("check", str(one), "--fix", "--force").out) for one in (bib, ris)]
    fixed = [one.with_name(f"{one.stem}.fixed{one.suffix}") for one in (bib, ris)]
    texts = [one.read_bytes() for one in fixed]

    done = cli("check", str(bib), str(ris), "--fix", "--force")

    assert done.status == 4
    both = json.loads(done.out)
    assert [one.pop("file") for one in both["references"]] == [str(bib)] * 5 + [str(ris)] * 2
    assert both["references"] == [row for one in alone for row in one["references"]]
    swapped = json.loads(cli("check", str(ris), str(bib)).out)["references"][2:]
    assert [one.get("duplicate_of") for one in swapped] == [None, None, 1, None, None]
    table = cli("check", str(bib), str(ris), "-f", "table").out
    assert "".join(f"{ris}: 0 of 2 verified".split()) in "".join(table.split())  # a long path is wrapped
    assert both["counts"] == {code: sum(one["counts"][code] for one in alone) for code in both["counts"]}
    assert [(one["file"], one["total"], one["counts"], one["corrected"]) for one in both["files"]] == [
        (str(file), one["total"], one["counts"], one["corrected"]) for file, one in zip((bib, ris), alone, strict=True)
    ]
    assert [one["fixed"] for one in both["files"]] == [str(one) for one in fixed]
    assert [one.read_bytes() for one in fixed] == texts
    rows = read_rows(cli("check", str(bib), str(ris), "-f", "csv").out)
    assert [row["file"] for row in rows] == [str(bib)] * 5 + [str(ris)] * 2


@pytest.mark.parametrize("place", ["file", "comment", "table"])
def test_accepted_findings_are_not_failures_in_later_runs(cli: Cli, bib: Path, place: str) -> None:
    text = (
        "madeup another_work\nwrong mismatch, duplicate  # the year of the print\nmoon: retracted\nnobody not_found\n"
    )
    accepted = bib.with_name("accepted.txt")
    command = ["check", str(bib), "--accept", str(accepted)]
    match place:
        case "file":
            accepted.write_text(text, encoding="utf-8")
        case "table":
            made = cli(
                "check", str(bib), "--only", "problems", "-f", "tsv", "--fields", "key,codes", "-o", str(accepted)
            )
            assert made.status == 4
        case _:
            comments = "".join(f"% entrez-kit: accept {line}\n" for line in text.splitlines())
            bib.write_text(comments + bib.read_text(encoding="utf-8"), encoding="utf-8")
            command = command[:2]

    done = cli(*command)

    assert done.status == 0
    found = json.loads(done.out)
    assert found["accepted"] == 4
    assert found["counts"]["retracted"] == 1
    assert "accepted_unused" not in [one["code"] for one in found.get("warnings", ())]
    assert json.loads(cli(*command, "--only", "problems").out)["references"] == []


def test_an_accepted_finding_does_not_hide_another_finding(cli: Cli, bib: Path) -> None:
    accepted = bib.with_name("accepted.txt")
    accepted.write_text("wrong mismatch\nmoon mismatch\nmadeup another_work\nnobody not_found\n", encoding="utf-8")

    done = cli("check", str(bib), "--accept", str(accepted))

    assert done.status == 4
    found = json.loads(done.out)
    assert found["accepted"] == 2
    assert [one["terms"] for one in found["warnings"] if one["code"] == "accepted_unused"] == [["moon mismatch"]]
    only = ("--fail-on", "mismatch,another_work,not_found")
    assert cli("check", str(bib), "--accept", str(accepted), *only).status == 0


@pytest.mark.parametrize("line", ["wrong", "wrong mistake", "mismatch", "retracted mismatch-ish"])
def test_an_accepted_line_without_a_key_or_a_code_is_rejected(cli: Cli, bib: Path, line: str) -> None:
    accepted = bib.with_name("accepted.txt")
    accepted.write_text(f"# reviewed\n{line}\n", encoding="utf-8")

    done = cli("check", str(bib), "--accept", str(accepted))

    assert done.status == 2
    assert read_error(done)["details"]["line"] == 2


def test_all_references_with_remaining_findings_are_listed(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "many.bib"
    many = "".join(NOBODY.replace("nobody", f"nobody{number}") for number in range(30))
    file.write_text(f"% entrez-kit: accept nobody7 not_found\n{WRONG}{many}", encoding="utf-8")

    done = cli("check", str(file), "--dry-run", "--only", "problems")

    left = json.loads(done.out)["uncorrected"]
    assert [one["key"] for one in left] == [f"nobody{number}" for number in range(30)]
    assert [one["key"] for one in left if one.get("accepted")] == ["nobody7"]
    assert all(f"{one['key']} (not found" in done.err for one in left)


def test_fix_does_not_change_accepted_findings(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "refs.bib"
    text = f"% entrez-kit: accept wrong mismatch\n% entrez-kit: accept moon retracted\n{WRONG}{RETRACTED}"
    file.write_text(text + WRONG.replace("wrong", "other"), encoding="utf-8")

    done = cli("check", str(file), "--fix")

    assert [one["key"] for one in json.loads(done.out)["changes"]] == ["other"]
    assert file.with_name("refs.fixed.bib").read_text(encoding="utf-8").startswith(text)


PREPRINT = "99000009"
PUBLISHED = "99000010"


@pytest.mark.parametrize(
    ("suffix", "form", "own"),
    [
        ("bib", "bibtex", ("  url =", "  file = {mine.pdf},\n  url =", "file = {mine.pdf}")),
        ("ris", "ris", ("ER  - ", "L1  - mine.pdf\nER  - ", "L1  - mine.pdf")),
        ("json", "csl", ('"genre":', '"custom": "mine.pdf",\n"genre":', '"custom": "mine.pdf"')),
    ],
)
def test_fix_newer_replaces_a_preprint_with_its_published_version(
    cli: Cli, tmp_path: Path, suffix: str, form: str, own: tuple[str, str, str]
) -> None:
    file, fixed = (tmp_path / f"{name}.{suffix}" for name in ("refs", "refs.fixed"))
    file.write_text(cli("fetch", PREPRINT, "99000001", "-f", form).out.replace(own[0], own[1]), encoding="utf-8")
    keys = [one["key"] for one in json.loads(cli("check", str(file)).out)["references"]]

    assert "uncorrected" in json.loads(cli("check", str(file), "--dry-run").out)
    done = json.loads(cli("check", str(file), "--fix", "--newer").out)

    assert {one["key"] for one in done["changes"]} == {keys[0]}
    assert {"title", "journal", "doi", "pmid", "pmcid"} <= {one["field"] for one in done["changes"]}
    assert "uncorrected" not in done
    after = cli("check", str(fixed))
    assert after.status == 0
    found = json.loads(after.out)["references"]
    assert [(one["key"], one["pmid"]) for one in found] == list(zip(keys, (PUBLISHED, "99000001"), strict=True))
    text = fixed.read_text(encoding="utf-8")
    assert own[2] in text
    assert "reprint since published" not in text


@pytest.mark.parametrize(("suffix", "form"), [("bib", "bibtex"), ("ris", "ris"), ("json", "csl")])
def test_fix_unique_writes_each_work_once(cli: Cli, tmp_path: Path, suffix: str, form: str) -> None:
    pieces = [cli("fetch", pmid, "-f", form).out for pmid in ("99000001", "99000001", PREPRINT, PUBLISHED)]
    text = json.dumps([json.loads(piece)[0] for piece in pieces]) if form == "csl" else "\n".join(pieces)
    file, fixed = (tmp_path / f"{name}.{suffix}" for name in ("refs", "refs.fixed"))
    file.write_text(text, encoding="utf-8")

    done = cli("check", str(file), "--fix", "--unique")
    assert len(json.loads(done.out)["left_out"]) == 1
    assert "changes" not in json.loads(done.out)
    assert [one["pmid"] for one in json.loads(cli("check", str(fixed)).out)["references"]] == [
        "99000001",
        PREPRINT,
        PUBLISHED,
    ]
    cli("check", str(file), "--fix", "--unique", "--newer", "--force")
    after = json.loads(cli("check", str(fixed)).out)
    assert [(one["pmid"], one["status"]) for one in after["references"]] == [
        ("99000001", "verified"),
        (PUBLISHED, "verified"),
    ]


def test_an_accepted_duplicate_or_preprint_is_not_removed(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "refs.bib"
    accepted = "% entrez-kit: accept wrong duplicate, mismatch\n% entrez-kit: accept pre superseded\n"
    preprint = f"@misc{{pre, pmid = {{{PREPRINT}}}}}\n"
    file.write_text(accepted + GOOD + WRONG + preprint, encoding="utf-8")

    done = cli("check", str(file), "--fix", "--unique", "--newer")

    assert done.status == 0
    assert [one["accepted"] for one in json.loads(done.out)["uncorrected"]] == [True, True]
    assert not file.with_name("refs.fixed.bib").exists()


@pytest.mark.parametrize("flag", ["--newer", "--unique"])
def test_an_option_of_fix_is_rejected_without_fix(alone: Cli, bib: Path, flag: str) -> None:
    done = alone("check", str(bib), flag)

    assert done.status == 2
    assert read_error(done)["invalid_input"] == flag.removeprefix("--")


@pytest.mark.parametrize("name", ["10.5555/ekit.0000.0000", "Nobody wrote this. Seven words", "2", "[2]"])
def test_a_reference_of_a_pasted_list_stays_accepted_after_the_list_changes(
    cli: Cli, tmp_path: Path, name: str
) -> None:
    file, accepted = tmp_path / "list.txt", tmp_path / "accepted.txt"
    good = "1. Marrowby TJ, et al. Base editing of a cryptic splice site restores mucus transport in human airway cells. Ann Imaginary Genome Ed. 2019;3(2):101-112."  # noqa: E501  # one line
    bad = "2. Nobody wrote this. Seven words of a title nobody knows. J Nowhere. 2020;1:1. doi:10.5555/ekit.0000.0000"
    accepted.write_text(f"{name} not_found\n", encoding="utf-8")
    for text in (f"{good}\n{bad}\n", f"References\n\n{good}\n\n{bad}\n"):
        file.write_text(text, encoding="utf-8")

        done = cli("check", str(file), "--accept", str(accepted), "--fail-on", "not_found")

        assert done.status == 0, done.out
        assert json.loads(done.out)["counts"]["not_found"] == 1


@pytest.mark.parametrize(
    ("note", "stays"),
    [
        ("[Preprint since published: Ann Imaginary Genome Ed (Demo). 2025 Jan;9(1):55-70]", False),
        ("bioRxiv preprint", False),
        (f"PMID: {PREPRINT}", False),
        ("Corrected by me on Monday", True),
        ("Ask Ana why the numbers in figure 3 of the preprint are not those of the published version", True),
    ],
)
def test_fix_newer_keeps_notes_of_the_user(cli: Cli, tmp_path: Path, note: str, stays: bool) -> None:
    file = tmp_path / "refs.bib"
    file.write_text(f"@misc{{pre, pmid = {{{PREPRINT}}}, note = {{{note}}}}}\n", encoding="utf-8")

    assert cli("check", str(file), "--fix", "--newer").status == 4
    assert (note in file.with_name("refs.fixed.bib").read_text(encoding="utf-8")) == stays
