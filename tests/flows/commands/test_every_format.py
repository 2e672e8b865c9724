"""Every output format works in every command that accepts its family."""

import csv
import io
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape
from zipfile import is_zipfile

import pytest
import yaml
from command_line import Cli, RunResult, read_lines
from project_paths import DATA
from pubmed_files import write_record, write_set

from entrez_kit.base.extras import is_installed
from entrez_kit.base.output_formats import BY_SUFFIX, FORMATS, Family, Format
from entrez_kit.base.settings import CORPUS_FILE, load_settings
from entrez_kit.commands import _app, _state, load_command
from entrez_kit.commands._formats import rows as rows_module
from entrez_kit.local.importing import import_files
from entrez_kit.sandbox.server import Sandbox

CALLS: Final = {
    "search": ("crispr", "-n", "3"),
    "facets": ("crispr",),
    "fetch": ("99000001", "99000002"),
    "show": ("99000001",),
    "fulltext": ("PMC99000001",),
    "related": ("99000004", "-n", "3"),
    "cite": ("99000001", "99000002"),
    "match": ("one.bib",),
    "check": ("refs.txt",),
    "merge": ("refs.txt", "one.bib"),
    "verify": ("claims.csv",),
    "convert": ("99000001", "PMC99000002"),
    "europepmc": ("base editing", "-n", "3"),
    "mesh": ("genome",),
    "spell": ("astma",),
    "strategy translate": ("strategy.txt",),
    "strategy lint": ("lint.txt",),
    "strategy recall": ("recall.txt", "--known", "refs.txt"),
    "strategy count": ("strategy.txt",),
    "gene search": ("TP53",),
    "gene get": ("7157", "672"),
    "gene pubmed": ("7157",),
    "db info": (),
    "db search": ("gene", "TP53"),
    "db summary": ("pubmed", "99000001"),
    "db fetch": ("pubmed", "99000001"),
    "db link": ("7157", "--from", "gene", "--to", "pubmed"),
    "corpus list": (),
    "corpus search": ("crispr",),
    "corpus audit": ("demo",),
    "corpus diff": ("demo", "--since", "2020-01-01"),
    "corpus export": ("demo",),
    "corpus checkpoint log": ("demo",),
    "local list": (),
    "guide": ("output",),
    "config show": ("color",),
    "config path": (),
    "serve token": ("--subject", "somebody"),
    "doctor": (),
}
"""A call of each command with results."""
OF_FILES: Final = {"convert": ("one.bib",)}
"""Calls of commands whose formats for reference managers need a file, not ids."""
FINDINGS: Final = {"verify": 4, "strategy lint": 4, "corpus audit": 4}
"""Commands whose findings set the exit status."""
PARTIAL: Final = {
    "fetch": ("99000001", "99999999"),
    "show": ("99000001", "99999999"),
    "fulltext": ("PMC99000001", "99999999"),
    "related": ("99000004", "99999999"),
    "cite": ("99000001", "99999999"),
    "match": ("refs.bib",),
    "convert": ("99000001", "99999999"),
    "gene get": ("7157", "999999999"),
    "gene pubmed": ("7157", "999999999"),
    "db summary": ("pubmed", "99000001", "99999999"),
    "db fetch": ("pubmed", "99000001", "99999999"),
}
EMPTY: Final = {
    "search": ("zzzqqq",),
    "europepmc": ("zzzqqq",),
    "mesh": ("zzzqqq",),
    "gene search": ("zzzqqq",),
    "db search": ("gene", "zzzqqq"),
    **dict.fromkeys(("fetch", "fulltext", "cite", "convert", "gene get"), ("-",)),
}
CONVERTED: Final = ("html", "docx")
PAGES: Final = (
    *("search", "fetch", "show", "fulltext", "related", "cite", "check", "merge", "verify", "europepmc"),
    *("strategy translate", "strategy lint", "strategy recall", "strategy count", "guide"),
)
"""The commands that print pages."""
BINARY: Final = ("docx", "parquet")
NAMES: Final = [pytest.param(name, marks=pytest.mark.process) if name == "cite" else name for name in CALLS]
"""Every command; pandoc formats the citations of cite."""
BIBTEX: Final = """@article{a,
title={Base editing of a cryptic splice site restores mucus transport in human airway cells},
author={Marrowby, Tamsin J}, journal={Ann Imag Genome Ed}, year={2019}, volume={3}, pages={101}}
@article{b, title={Nothing of the kind}, author={Nobody, N}, journal={J None}, year={1999}, volume={1}, pages={1}}
"""


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the corpus of the first test that needs one; the others copy it."""
    return tmp_path_factory.mktemp("corpora")


@pytest.fixture(autouse=True)
def _corpus(request: pytest.FixtureRequest, cli: Cli, corpora: Path) -> None:
    if "local list" in request.node.name:
        import_files(load_settings(), "copy", [write_set(corpora, "one.xml", write_record(1))])
    if "corpus" not in request.node.name:
        return
    file, saved = load_settings().data_dir / CORPUS_FILE, corpora / CORPUS_FILE
    if saved.exists():
        file.parent.mkdir(parents=True)
        shutil.copy(saved, file)
    else:
        assert cli("corpus", "sync", "demo", "retracted").status == 0
        shutil.copy(file, saved)


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MCP_AUTH_SECRET_KEY", "0123456789abcdef0123456789abcdef0123456789")
    Path("strategy.txt").write_text("1. exp Asthma/\n2. asthma.ti,ab.\n3. 1 or 2\n", encoding="utf-8")
    Path("recall.txt").write_text("splice.ti.\n", encoding="utf-8")  # finds one of the two, so that little is explained
    Path("lint.txt").write_text("1. exp Asthma/\n2. asthma$.ti,zz.\n3. 1 or 2\n", encoding="utf-8")
    Path("refs.txt").write_text("99000001\n99000035\n", encoding="utf-8")
    Path("refs.bib").write_text(BIBTEX, encoding="utf-8")
    Path("one.bib").write_text(BIBTEX.partition("@article{b")[0], encoding="utf-8")
    Path("claims.csv").write_text('claim,id\n"pigs can fly",99000002\n', encoding="utf-8")


def list_formats(name: str) -> tuple[Format, ...]:
    known: tuple[Format, ...] = find_formats(name).accepted
    return known


def find_formats(name: str) -> Any:
    """Return the declaration of a command's formats."""
    group, *words = name.split()
    command = load_command(group)
    for word in words:
        command = command.commands[word]
    return _state.get_formats(command)


def list_commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if not inner:
        yield name, command
    for word, one in (inner or {}).items():
        yield from list_commands(one, f"{name} {word}")


def get_call(name: str, selected: Format) -> tuple[str, ...]:
    return OF_FILES.get(name, CALLS[name]) if selected.family is Family.REFERENCES else CALLS[name]


def list_formats_of_ids(name: str) -> tuple[Format, ...]:
    """Return the formats of a command that has ids as arguments."""
    return tuple(one for one in list_formats(name) if name not in OF_FILES or one.family is not Family.REFERENCES)


def run_call(cli: Cli, name: str, arguments: tuple[str, ...], *more: str) -> RunResult:
    return cli(*name.split(), *arguments, *more, stdin=b"\n")


def parse_output(selected: Format, text: str) -> Any:
    """Read the output with a reader of the format; output in another format is an error."""
    if selected.name == "json":
        return json.loads(text)
    if selected.name == "yaml":
        return yaml.safe_load(text)
    if selected.name == "jsonl":
        return read_lines(text)
    if selected.has_cells:
        rows = list(csv.reader(io.StringIO(text), delimiter="," if selected.name == "csv" else "\t"))
        assert all(len(row) == len(rows[0]) for row in rows)
        return rows[1:]
    if selected.family is Family.COUNT:
        return int(text.replace(",", ""))
    return text


def test_the_calls_include_every_command_with_a_choice_of_formats() -> None:
    found = {
        name
        for group in _app.COMMANDS
        for name, command in list_commands(load_command(group), group)
        if _state.get_formats(command).accepted != _state.get_formats(None).accepted
    }

    assert found == set(CALLS)


def test_every_format_is_in_a_command_and_every_suffix_selects_one_format() -> None:
    used = {one.name for name in CALLS for one in list_formats(name)}

    assert used == {one.name for one in FORMATS}
    assert len(BY_SUFFIX) == sum(len(one.suffixes) for one in FORMATS)


@pytest.mark.parametrize("name", NAMES)
def test_every_format_of_a_command_is_written_to_a_pipe_and_to_a_file(cli: Cli, name: str, tmp_path: Path) -> None:
    documents = []
    for selected in list_formats(name):
        if selected.name in CONVERTED:
            continue  # not in the list below: pandoc takes a second
        written = b""
        if selected.suffixes:
            target = tmp_path / f"out{selected.suffixes[0]}"
            done = run_call(cli, name, get_call(name, selected), "-o", str(target))
            assert done.status == FINDINGS.get(name, 0), (selected.name, done.err)
            written = target.read_bytes()
            assert written
        if selected.name in BINARY:
            continue
        done = run_call(cli, name, get_call(name, selected), "-f", selected.name)
        assert done.status == FINDINGS.get(name, 0), (selected.name, done.err)
        content = parse_output(selected, done.out)
        assert content not in (None, "", []), selected.name
        if selected.family is Family.DOCUMENT:
            documents.append(content)
        if written and name not in ("serve token", "doctor", "search"):  # these contain the time
            assert written.decode() == done.out, selected.name
    if name not in ("serve token", "doctor"):
        assert all(document == documents[0] for document in documents)


def test_the_commands_that_print_pages_have_all_formats_of_pages() -> None:
    converted = {name: [one.name for one in list_formats(name) if one.name in CONVERTED] for name in CALLS}

    assert {name: sorted(formats) for name, formats in converted.items() if formats} == dict.fromkeys(
        PAGES, sorted(CONVERTED)
    )


@pytest.mark.long
@pytest.mark.process
@pytest.mark.skipif(not is_installed("cite"), reason="pandoc is not installed")
@pytest.mark.parametrize("selected", CONVERTED)
@pytest.mark.parametrize("name", PAGES)
def test_pages_are_converted_in_every_command_that_prints_pages(
    cli: Cli, name: str, selected: str, tmp_path: Path
) -> None:
    target = tmp_path / f"out.{selected}"
    done = run_call(cli, name, CALLS[name], "-o", str(target))

    assert done.status == FINDINGS.get(name, 0), done.err
    assert is_zipfile(target) if selected == "docx" else "</html>" in target.read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_fields_are_selected_or_rejected_in_every_format(cli: Cli, name: str) -> None:
    if name in ("config path", "serve token", "guide"):
        return
    example = find_formats(name).fields
    first = {"config show": "name"}
    path = (
        example
        or first.get(name)
        or next(iter(json.loads(run_call(cli, name, CALLS[name], "-f", "jsonl").out.splitlines()[0])))
    )
    page = " ".join(cli(*name.split(), "--help").out.replace("│", " ").split())
    assert f"Example: {example}." in page if example else "Example: " not in page
    for selected in list_formats(name):
        if selected.name in (*CONVERTED, *BINARY):
            continue
        if not selected.accepts_fields:
            done = run_call(cli, name, CALLS[name], "-f", selected.name, "--fields", "pmid")
            assert done.status == 2, selected.name
            assert "--fields" in done.err
            continue
        done = run_call(cli, name, CALLS[name], "-f", selected.name, "--fields", path)
        if selected.family is Family.DOCUMENT and done.status == 2 and not example:
            continue  # the document of this command has no such field, only its rows
        assert done.status == FINDINGS.get(name, 0), (selected.name, done.err)
        assert parse_output(selected, done.out) not in (None, "", []), selected.name
        done = run_call(cli, name, CALLS[name], "-f", selected.name, "--fields", "no_such_field")
        if name != "db summary":  # its records have the fields of each database
            assert done.status == 2, selected.name
            assert "no_such_field" in done.err


@pytest.mark.process  # pandoc formats the citations of cite
@pytest.mark.parametrize("name", PARTIAL)
def test_partial_results_end_with_status_4_in_every_format(cli: Cli, name: str, tmp_path: Path) -> None:
    for selected in list_formats_of_ids(name):
        if selected.name in CONVERTED:
            continue
        done = run_call(cli, name, PARTIAL[name], "-f", selected.name)

        assert done.status == 4, (selected.name, done.err)
        assert done.out, selected.name


@pytest.mark.parametrize("name", EMPTY)
def test_empty_results_end_with_status_0_in_every_format(cli: Cli, name: str) -> None:
    for selected in list_formats_of_ids(name):
        if selected.name in CONVERTED:
            continue
        done = run_call(cli, name, EMPTY[name], "-f", selected.name)

        assert done.status == 0, (selected.name, done.err)
        found = parse_output(selected, done.out)
        if selected.family in (Family.ROWS, Family.IDS, Family.COUNT):
            assert not found, selected.name


def test_a_file_has_titles_for_every_result_if_the_fields_include_them(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "hits.yaml"

    assert cli("search", "crispr", "-n", "3", "-o", str(target), "--fields", "pmid,title").status == 0

    summaries = yaml.safe_load(target.read_text(encoding="utf-8"))["brief_summaries"]
    assert len(summaries) == 3
    assert all(summary["title"] for summary in summaries)


@pytest.mark.parametrize("name", NAMES)
def test_no_command_writes_a_cell_that_a_spreadsheet_executes(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    given = next((one for one in list_formats(name) if one.has_cells), None)  # the others have the same cells
    if given is None:
        return
    format_cell = rows_module.format_cell
    monkeypatch.setattr(rows_module, "format_cell", lambda value: f"=HYPERLINK(1) {format_cell(value)}")

    ended = run_call(cli, name, CALLS[name], "-f", given.name)

    _, *written = csv.reader(io.StringIO(ended.out), delimiter="," if given.name == "csv" else "\t")
    assert written
    assert all(one.startswith("'=HYPERLINK") for row in written for one in row)


SIGNS: Final = ("=", "+", "-", "@", "\t=", "\r=")


@pytest.mark.long
def test_cells_of_hostile_records_are_text_in_a_spreadsheet(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = (DATA / "records.xml").read_text("utf-8")
    text = text[text.index("<PubmedArticle>") : text.index("</PubmedArticle>")] + "</PubmedArticle>"
    (pmid,) = re.findall(r"<PMID[^>]*>(\d+)</PMID>", text)[:1]
    pmids = [f"{int(pmid) + number}" for number in range(len(SIGNS))]
    records, references, claims = [], [], []
    for sign, number in zip(SIGNS, pmids, strict=True):
        hostile = f"{sign}cmd|' /C calc'!A1"
        made = text.replace(pmid, number)
        for element in ("ArticleTitle", "LastName", "ISOAbbreviation"):
            inside = escape(hostile, {"\t": "&#9;", "\r": "&#13;"})
            made = re.sub(rf"(<{element}>).*?(</{element}>)", rf"\g<1>{inside}\g<2>", made, flags=re.S)
        records.append(made)
        references.append(f"@article{{a{number}, title={{{hostile}}}, author={{{hostile}}}, year=2019}}")
        claims.append(json.dumps({"claim": hostile, "id": number}))
    Path("hostile.xml").write_text(f"<PubmedArticleSet>{''.join(records)}</PubmedArticleSet>", "utf-8")
    Path("hostile.bib").write_bytes("\n".join(references).encode())
    Path("hostile.jsonl").write_text("\n".join(claims), "utf-8")
    query = " OR ".join(f"{number}[uid]" for number in pmids)
    commands = [
        ["fetch", *pmids],
        ["show", *pmids],
        ["search", query],
        ["corpus", "export", "hostile"],
        ["corpus", "audit", "hostile"],
        ["check", "hostile.bib"],
        ["match", "hostile.bib"],
        ["verify", "hostile.jsonl"],
    ]
    with Sandbox(corpus=[Path("hostile.xml")], enforce_limits=False) as sandbox:
        monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", f"{sandbox.url}/entrez/eutils")
        assert cli("corpus", "sync", "hostile", query).status == 0
        written = {
            (" ".join(words), form): cli(*words, "-f", form, "--no-cache").out
            for words in commands
            for form in ("csv", "tsv")
        }

    for (command, form), out in written.items():
        cells = [cell for row in csv.reader(io.StringIO(out), delimiter="," if form == "csv" else "\t") for cell in row]
        assert not [cell for cell in cells if re.match(r"\s*[=@]|\s*[+-](?![0-9.]+$).", cell)], command
    for sign, records_with in Counter(sign.strip() for sign in SIGNS).items():
        assert sum(out.count(f"'{sign}cmd") >= records_with for out in written.values()) >= 6, sign
