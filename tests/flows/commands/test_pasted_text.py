"""Pasted reference lists: no command takes a number inside text for an identifier."""

import json
from functools import partial
from pathlib import Path

import pytest
from command_line import Cli, Program
from fixture_types import KitFor

from entrez_kit.base.errors import InvalidInput
from entrez_kit.sandbox.server import Sandbox

VANCOUVER = """1. Doe J, Roe R. Sleep and moonlight in invented shift workers. J Invent Results. 2021;12(3):201-12.
2. Moe M. A sham trial that nobody ran. Ann Imaginary Genome Ed. 2022 Mar 5;7:33-40. PMID: 99000001
3. Roe R, et al. Things that never were. 2021 2022
"""
APA = """Doe, J., Roe, R., & Poe, P. (2021). Sleep and moonlight in invented shift workers. Journal of Invented Results,
    12(3), 201–212. https://doi.org/10.5555/ekit.2019.0001

Moe, M. (2022). A sham trial that nobody ran. Annals of Imaginary Genome Editing, 7, 33–40.
"""
READERS = (
    ("fetch",),
    ("show",),
    ("cite",),
    ("fulltext",),
    ("convert",),
    ("gene", "get"),
    ("db", "summary", "pubmed"),
    ("db", "fetch", "nuccore"),
    ("db", "link"),
)


@pytest.mark.long
@pytest.mark.parametrize("text", [VANCOUVER, APA], ids=["vancouver", "apa"])
@pytest.mark.parametrize("command", READERS, ids=" ".join)
def test_a_pasted_reference_list_is_rejected_with_its_line_and_without_a_request(
    cli: Cli, sandbox: Sandbox, tmp_path: Path, command: tuple[str, ...], text: str
) -> None:
    file = tmp_path / "refs.txt"
    file.write_text(f"99000001\n{text}", encoding="utf-8")

    piped = cli(*command, "-", "--json", stdin=text)
    read = cli(*command, "-i", str(file), "--json")
    typed = cli(*command, text.splitlines()[0], "--json")

    for done, place in ((piped, "standard input, line 1: "), (read, f"{file}, line 2: "), (typed, "The arguments: ")):
        assert (done.status, done.out) == (2, ""), done.err
        error = json.loads(done.err.strip().splitlines()[-1])["error"]
        assert error["code"] == "INVALID_INPUT"
        assert place in error["message"]
        assert error["details"]["reason"] == "not_identifiers"
    assert sandbox.requests() == 0


@pytest.mark.parametrize(("text", "keys"), [(VANCOUVER, [1, 2, 3]), (APA, [1, 4])], ids=["vancouver", "apa"])
@pytest.mark.parametrize("name", ["-", "refs.txt", "refs.md", "refs"])
def test_check_reads_each_reference_of_a_pasted_list_and_takes_no_number_in_it_for_a_pmid(
    cli: Cli, sandbox: Sandbox, tmp_path: Path, name: str, text: str, keys: list[int]
) -> None:
    file = tmp_path / name
    if name != "-":
        file.write_text(text, encoding="utf-8")

    done = cli("check", "-" if name == "-" else str(file), stdin=text)
    found = json.loads(done.out)

    assert done.status == 4
    assert [one["line"] for one in found["references"]] == keys
    assert found["counts"]["verified"] == 0
    assert {one["status"] for one in found["references"]} == {"another_work", "not_found"}
    requested = {identifier for entry in sandbox.entries() for identifier in (entry.get("id") or "").split(",")}
    assert "99000001" in requested
    assert not {"2021", "2022", "12", "3"} & requested


def test_the_work_found_is_named_next_to_another_one(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "refs.txt"
    file.write_text(VANCOUVER, encoding="utf-8")

    for form in ("csv", "table"):
        out = " ".join(cli("check", str(file), "-f", form).out.split())
        assert "Marrowby 2019 (PMID 99000001)" in out


def test_text_is_not_corrected(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "refs.txt"
    file.write_text(VANCOUVER, encoding="utf-8")

    assert cli("check", str(file), "--fix").status == 2


def test_text_in_a_list_of_python_or_mcp_is_one_invalid_input_without_a_request(
    kit_for: KitFor, sandbox: Sandbox
) -> None:
    kit = kit_for(sandbox)
    prose = [*VANCOUVER.splitlines(), *APA.splitlines(), "2021 2022", "see 99000001", "1. 99000001", "99000001,2021"]

    for call in (
        partial(kit.fetch_contents, pmids=prose),
        partial(kit.format_citations, pmids=prose),
        partial(kit.fetch_fulltext, pmids=prose),
        partial(kit.fetch_fulltext, dois=prose),
        partial(kit.convert_ids, ids=prose),
        partial(kit.entrez_summary, db="pubmed", ids=prose),
    ):
        try:
            document = call().model_dump_json()
        except InvalidInput:
            continue
        assert '"found"' not in document
    assert sandbox.requests() == 0


@pytest.mark.process
def test_the_program_rejects_text_in_place_of_identifiers(program: Program) -> None:
    done = program("--demo", "fetch", "-", "--json", stdin=VANCOUVER.encode())

    assert (done.status, done.out) == (2, "")
    assert "standard input, line 1: " in done.err
