"""The help pages of all commands: their line breaks, and the calls in their examples."""

import gzip
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli
from pubmed_files import write_record, write_set
from word_documents import write_heading, write_paragraph, write_word

from entrez_kit.commands import _app, _options, load_command


def list_pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the help text of each command and each group."""

    def list_below(name: str, command: Any) -> Iterator[tuple[str, str]]:
        yield name, command.help
        for word, below in getattr(command, "commands", {}).items():
            yield from list_below(f"{name} {word}", below)

    for group in _app.COMMANDS:
        yield from list_below(group, load_command(group))


def find_example(line: str) -> str | None:
    """Return the call at the end of a line of a help page; a command in backquotes is a part of its sentence."""
    found = re.search(r"(?<!`)(entrez-kit .*)", line)
    return found[1].replace("\\[", "[").removesuffix(".") if found else None


def test_a_line_of_a_help_page_ends_with_a_sentence_or_an_example() -> None:
    checked = 0
    for name, text in list_pages():
        for paragraph in text.split("\n\n"):
            for line, following in pairwise(paragraph.splitlines()):
                checked += 1
                assert line.endswith((".", ":")) or find_example(line), (name, line)
                assert not find_example(following) or following.startswith("$ "), (name, following)

    assert checked > 40


def test_an_example_of_a_help_page_is_one_line_of_a_terminal_of_80_columns() -> None:
    lines = [(name, line) for name, text in list_pages() for line in text.splitlines() if line.startswith("$ ")]

    assert len(lines) > 60
    assert [(name, line) for name, line in lines if len(line.replace("\\[", "[")) > 78] == []


@pytest.mark.parametrize("columns", [80, 100])
def test_a_sentence_on_a_help_page_breaks_only_at_the_end_of_a_full_line(
    alone: Cli, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for words in (("doctor",), ("fetch",), ("merge",), ("verify",), ("fulltext",), ("local", "serve")):
        page = alone(*words, "--help").out.partition("╭")[0]
        for line, following in pairwise(one.strip() for one in page.splitlines()[3:]):
            if line and following and not line.endswith((".", ":")) and "entrez-kit" not in line + following:
                assert len(line) + 1 + len(following.split()[0]) > columns - 2, (words, line)


def test_lines_of_a_sentence_are_joined_and_an_example_is_a_line_after_a_dollar_sign() -> None:

    assert _options.unwrap_lines(
        "One sentence\non two lines:\nentrez-kit mesh x\nentrez-kit spell\nA sentence\nmore.\n\nentrez-kit db"
    ) == ("One sentence on two lines:\n$ entrez-kit mesh x\n$ entrez-kit spell\nA sentence more.\n\n$ entrez-kit db")
    assert _options.unwrap_lines("See `entrez-kit guide\nmcp` for it.") == "See `entrez-kit guide mcp` for it."
    assert _options.unwrap_lines("") == ""


# The examples


BASE = "Base editing of a cryptic splice site restores mucus transport in human airway cells"
BIBTEX = (
    f"@article{{marrowby2019, title={{{BASE}}}, author={{Marrowby, Tamsin J}}, year={{2018}}, pmid={{99000001}}}}\n"
)
RIS = f"TY  - JOUR\nAU  - Marrowby, T. J.\nTI  - {BASE}\nPY  - 2019\nDO  - 10.5555/ekit.2019.0001\nER  - \n"
NBIB = f"\nPMID- 99000001\nTI  - {BASE}\nFAU - Marrowby, Tamsin J\nDP  - 2019\n"
DRAFT = f"# Results\n\n{BASE} [@marrowby2019].\n"
STRATEGY = "1. exp Asthma/\n2. crispr.ti,ab.\n3. 1 or 2\n"
HEADING = (
    "<DescriptorRecordSet><DescriptorRecord><DescriptorUI>D1</DescriptorUI><DescriptorName><String>Asthma</String>"
    "</DescriptorName><ConceptList><Concept><TermList><Term><String>Asthma</String></Term></TermList></Concept>"
    "</ConceptList></DescriptorRecord></DescriptorRecordSet>"
)
FINDINGS = ("check", "verify", "merge", "strategy lint", "doctor")
"""Commands whose examples have findings, warnings or undecided pairs: status 4."""
REAL = ("N Engl J Med", "NM_000546.6")
"""Records that exist at NCBI, but not in the sandbox: status 3."""
UNENDING = ("sandbox", "local serve", "local mirror", "local update")
"""Commands that run until an interrupt, or download from NLM: only their arguments are parsed."""
NEEDS_CORPUS = ("corpus audit", "corpus diff", "corpus checkpoint")
NEEDS_COPY = ("strategy translate", "local", "review search")


def write_files() -> None:
    """Write the files that the examples name."""
    table = "claim,id\npigs can fly,99000002\n"
    for name, text in {
        **dict.fromkeys(("refs.bib", "scopus.bib"), BIBTEX),
        **dict.fromkeys(("embase.ris", "embase-1.ris", "embase-2.ris", "included.ris"), RIS),
        **{"pubmed.nbib": NBIB, "draft.md": DRAFT, "ovid.txt": STRATEGY, "symbols.txt": "TP53\nBRCA1\n"},
        **{"claims.csv": table, "genes.csv": "gene_id\nNCBIGene:7157\n", "out.csv": f"title,year\n{BASE},2019\n"},
    }.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("ovid.docx").write_bytes(write_word(*map(write_paragraph, STRATEGY.splitlines())))
    paper = (
        write_paragraph(f"{BASE} (1)."),
        write_heading("References"),
        write_paragraph(f"1. Marrowby TJ. {BASE}. 2019."),
    )
    Path("paper.docx").write_bytes(write_word(*paper))
    Path("desc2026.gz").write_bytes(gzip.compress(HEADING.encode()))
    write_set(Path("baseline"), "pubmed26n0001.xml", write_record(1, "Asthma in sleepers"))
    write_set(Path("updatefiles"), "pubmed26n0002.xml", write_record(2, "More asthma"))


def prepare(cli: Cli, name: str) -> None:
    """Create the corpus, the copy or the decisions that an example needs."""
    if name.startswith(NEEDS_CORPUS):
        assert cli("corpus", "sync", "crispr", "crispr AND review[pt]").status == 0
    if name.startswith(NEEDS_COPY) and name != "local import":
        assert cli("local", "import", "pubmed", str(Path("baseline").resolve()), "desc2026.gz").status == 0
    if name == "review screen import":
        exported = Path("screening/title_abstract/all.ris").read_text(encoding="utf-8")
        rows = [f"{element},include\n" for element in re.findall(r"^ID  - (\S+)", exported, re.MULTILINE)]
        Path("rayyan.csv").write_text("id,decision\n" + "".join(rows), encoding="utf-8")


def find_command(name: str) -> Any:
    group, *words = name.split()
    command = load_command(group)
    for word in words:
        command = command.commands[word]
    return command


@pytest.mark.process
@pytest.mark.parametrize("group", _app.COMMANDS)
def test_every_example_of_a_help_page_works(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, group: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MCP_AUTH_SECRET_KEY", "0123456789abcdef0123456789abcdef0123456789")
    write_files()
    for name, text in list_pages():
        examples = list(filter(None, map(find_example, text.splitlines())))
        if name.split()[0] != group or not examples:
            continue
        if name.startswith(UNENDING):
            for line in examples:
                words = shlex.split(line)[1 + len(name.split()) :]
                assert find_command(name).make_context(name, words), line
            continue
        prepare(cli, name)
        for line in examples:
            if line == "entrez-kit review search --local NAME":  # a review is searched once
                assert cli("review", "init", "other", "--strategy", "ovid.txt").status == 0
                line = f"{line} --folder other"
            output = ""
            for call in line.replace("--local NAME", "--local pubmed").split(" | "):
                words = shlex.split(call)[1:]
                done = cli(*words, stdin=output)
                output = done.out
                is_absent = any(one in call for one in REAL)
                allowed = (3,) if is_absent else (0, 4) if name.startswith(FINDINGS) else (0,)
                assert done.status in allowed, (line, "fails in the demo", done.status, done.err)
                assert output or is_absent or "-o" in words, line
        if name == "review init":
            monkeypatch.chdir(tmp_path / "asthma")
            write_files()
