"""`entrez-kit mesh`, `spell`, `convert` and `match` in the terminal."""

import json
from pathlib import Path

import pytest
from command_line import Cli, read_error, read_lines, read_rows

from entrez_kit.sandbox.server import Sandbox

MIXED = ("99000001", "12", "PMC99000002", "nonsense", "10.5555/ekit.2025.0006", "99000001")
CITED = {"journal": "Ann Imaginary Genome Ed (Demo)", "year": "2019", "volume": "3", "first_page": "101"}
BIB = """@article{good, author={Marrowby, Tom J and Luo, Q}, title={Base editing of a cryptic splice site},
  journal={Ann Imaginary Genome Ed (Demo)}, year=2019, volume=3, pages={101--12}}
@article{bad, author={Nobody, X}, journal={No Such Journal}, year=2019, volume=3, pages={1}}
@misc{thin, author={Nobody, X}, howpublished={by pigeon}}
"""


@pytest.fixture(name="bib")
def bib_fixture(tmp_path: Path) -> Path:
    """Write three references: one that exists, one that does not, and one with too few fields."""
    path = tmp_path / "refs.bib"
    path.write_text(BIB, encoding="utf-8")
    return path


# mesh and spell


def test_headings_are_printed_as_lines_rows_and_ids(cli: Cli) -> None:
    assert read_lines(cli("mesh", "diabetes mellitus", "-f", "jsonl").out)[0]["ui"] == "D003920"
    (row,) = read_rows(cli("mesh", "D009203", "-f", "csv").out)
    assert row.pop("tree_numbers").startswith("C14.280.647.500; C14.907.585.500; ")
    assert "; drug therapy; " in row.pop("subheadings")
    assert row == {
        "ui": "D009203",
        "name": "Myocardial Infarction",
        "kind": "descriptor",
        "entry_terms": "Heart Attack",
        "scope_note": "Death of heart muscle whose supply of blood is cut off. (Note written for entrez-kit.)",
    }
    assert cli("mesh", "heart attack", "-f", "ids").out == "D009203\n"
    nothing = cli("mesh", "qqqzzz", "-f", "ids")
    assert (nothing.status, nothing.out) == (0, "")


def test_a_suggestion_is_printed_in_every_format(cli: Cli) -> None:
    assert read_rows(cli("spell", "crisper", "-f", "csv").out) == [
        {"original": "crisper", "corrected": "crispr", "has_suggestion": "true"}
    ]
    assert read_lines(cli("spell", "crispr", "-f", "jsonl").out) == [
        {"original": "crispr", "corrected": "crispr", "has_suggestion": False}
    ]
    assert json.loads(cli("spell", "crisper", "--json", "--fields", "corrected").out) == {"corrected": "crispr"}


# convert


def test_conversions_have_one_line_per_id_in_order(cli: Cli) -> None:
    done = cli("convert", *MIXED, "-f", "jsonl")

    assert done.status == 4
    assert [
        line.get("pmid") or (line["input"], line["status"], line["error"]["code"]) for line in read_lines(done.out)
    ] == [
        "99000001",
        ("12", "not_found", "ENTITY_NOT_FOUND"),
        "99000002",
        ("nonsense", "invalid", "INVALID_INPUT"),
        "99000006",
        "99000001",
    ]


def test_rows_and_ids_have_the_conversions_found(cli: Cli) -> None:
    table = cli("convert", *MIXED, "-f", "csv")
    listed = cli("convert", *MIXED, "-f", "ids")

    assert [row["requested_id"] for row in read_rows(table.out)] == [MIXED[0], MIXED[2], MIXED[4], MIXED[5]]
    assert set(read_rows(table.out)[0]) == {"requested_id", "pmid", "pmcid", "doi", "note", "standing"}
    assert listed.out.split() == ["99000001", "99000002", "99000006", "99000001"]
    assert [item["requested_id"] for item in read_error(table)["details"]["missing"]] == ["12", "nonsense"]


def test_ids_to_convert_are_read_from_files_and_pipes(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "dois.txt"
    path.write_text(
        "https://doi.org/10.5555/ekit.2019.0001\n# comment\ndoi: 10.5555/ekit.2025.0006\n", encoding="utf-8"
    )

    assert cli("convert", "-i", str(path), "-f", "ids").out.split() == ["99000001", "99000006"]
    assert cli("convert", "-", "-f", "ids", stdin='{"pmid": "99000001"}\n').out.split() == ["99000001"]
    empty = cli("convert", "-", stdin="")
    assert empty.status == 0
    assert json.loads(empty.out) == {"records": [], "total_converted": 0, "total_submitted": 0}


@pytest.mark.parametrize(
    ("words", "endpoints"),
    [
        (("mesh", "x"), ("esearch",)),
        (("spell", "xyz"), ("espell",)),
        (("convert", "99000001"), ("idconv", "efetch")),
        (("match", "--journal", "J", "--year", "2020"), ("ecitmatch",)),
    ],
)
def test_an_outage_ends_with_status_5_and_prints_no_data(
    cli: Cli, sandbox: Sandbox, words: tuple[str, ...], endpoints: tuple[str, ...]
) -> None:
    sandbox.take_down(*endpoints)
    done = cli(*words)

    assert (done.status, done.out) == (5, "")
    assert read_error(done)["code"] == "UPSTREAM_ERROR"


# match


def test_references_of_a_bibliography_are_matched_in_order(cli: Cli, bib: Path) -> None:
    done = cli("match", str(bib), "-f", "jsonl")
    found = read_lines(done.out)

    assert done.status == 4
    assert (found[0]["key"], found[0]["pmid"], found[0]["status"]) == ("good", "99000001", "matched")
    assert [(line["input"], line["status"], line["error"]["code"]) for line in found[1:]] == [
        ("bad", "not_found", "ENTITY_NOT_FOUND"),
        ("thin", "invalid", "INVALID_INPUT"),
    ]
    assert [row["key"] for row in read_rows(cli("match", str(bib), "-f", "csv").out)] == ["good"]
    assert cli("match", str(bib), "-f", "ids").out == "99000001\n"


def test_the_row_of_a_reference_has_its_warnings(cli: Cli) -> None:
    words = [part for name, value in CITED.items() for part in (f"--{name.removeprefix('first_')}", value)]
    row = read_rows(cli("match", *words, "--author", "Marowby TJ", "-f", "csv").out)[0]
    other = cli("match", *words, "--author", "Husain M", "-f", "json")

    assert row["pmid"] == "99000001"
    assert "misspelt: Marowby" in row["warnings"]
    (found,) = json.loads(other.out)["results"]
    assert (found["status"], found.get("pmid")) == ("mismatch", None)
    assert [(one["field"], one["given"]) for one in found["findings"]] == [("authors", "Husain, M")]
    assert "is not one of the" in found["findings"][0]["message"]


def test_references_on_standard_input_may_be_bibtex_or_csv(cli: Cli, bib: Path) -> None:
    as_csv = "key,journal,year,volume,page,author\nr1,Ann Imaginary Genome Ed (Demo),2019,3,101-12,Luo Q\n"

    assert cli("match", "-", "-f", "ids", stdin=BIB).out == "99000001\n"
    assert read_lines(cli("match", "-", "-f", "jsonl", stdin=as_csv).out)[0]["key"] == "r1"
    assert cli("match", "-", stdin=b"\xff\xfe").status == 2
    together = cli(
        "match", str(bib), "--title", "Base editing of a cryptic splice site", "--key", "first", "-f", "jsonl"
    )
    assert [line.get("key") or line["input"] for line in read_lines(together.out)] == ["first", "good", "bad", "thin"]


def test_candidates_are_listed_if_several_records_match(cli: Cli) -> None:
    done = cli("match", "--journal", CITED["journal"], "--author", "Luo Q", "--key", "k", "-f", "jsonl")
    line = read_lines(done.out)[0]

    assert done.status == 3
    assert (line["input"], line["status"], line["error"]["code"]) == ("k", "ambiguous", "AMBIGUOUS_QUERY")
    assert len(line["candidate_pmids"]) >= 2


# tables


@pytest.mark.parametrize("columns", ["80", "200"])
@pytest.mark.parametrize(
    ("words", "status", "shown"),
    [
        (("mesh", "heart", "attack"), 0, ["Myocardial Infarction D009203", "C14.280.647.500", "terms: Heart Attack"]),
        (("mesh", "qqqzzz"), 0, ["No results."]),
        (("spell", "crisper"), 0, ["Did you mean: crispr"]),
        (("spell", "crispr"), 0, ["No suggestion for: crispr"]),
        (("convert", *MIXED), 4, ["PMC99000005", "not a PMID", "4 of 6 found"]),
    ],
)
def test_tables_fit_the_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], status: int, shown: list[str], columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    done = cli(*words, "-f", "table")

    assert done.status == status, done.err
    assert max(map(len, done.out.splitlines())) <= int(columns)
    squeezed = " ".join(done.out.split())
    for text in shown:
        assert text in squeezed


@pytest.mark.parametrize("columns", ["80", "200"])
def test_a_table_of_references_shows_the_status_of_each(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, bib: Path, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    done = cli("match", str(bib), "-f", "table")

    assert done.status == 4
    assert max(map(len, done.out.splitlines())) <= int(columns)
    assert "99000001" in done.out
    assert "1 of 3 matched" in done.out
    assert "bad, thin" in done.err


@pytest.mark.parametrize(
    ("arguments", "flag", "other"),
    [
        (("check", "refs.bib", "--force"), "--force", "--fix"),
        (("check", "refs.bib", "--force", "--dry-run"), "--force", "--fix"),
        (("search", "crispr", "--date-type", "mdat"), "--date-type", "--min-date"),
        (("related", "99000004", "--budget", "5"), "--budget", "--depth"),
        (("related", "99000004", "--style", "apa"), "--style", "--type"),
        (("fulltext", "PMC99000001", "--overflow", "outline"), "--overflow", "--max-characters"),
        (("corpus", "sync", "fish", "--replace-term"), "--replace-term", "TERM"),
        (("serve", "--check", "--host", "127.0.0.1"), "--host", "--transport http"),
        (("serve", "--check", "--transport", "stdio", "--port", "0"), "--port", "--transport http"),
    ],
)
def test_an_option_is_rejected_without_the_option_that_it_needs(
    cli: Cli, arguments: tuple[str, ...], flag: str, other: str
) -> None:
    done = cli(*arguments, "--json")

    assert done.status == 2
    assert f"{flag} has no effect without {other}" in done.err


def test_refresh_is_rejected_offline(cli: Cli) -> None:
    done = cli("search", "crispr", "--offline", "--refresh", "--json")

    assert done.status == 2
    assert read_error(done)["invalid_input"] == "refresh"


@pytest.mark.parametrize(
    "words",
    [
        ("match", "--year", "19"),
        ("db", "fetch", "nuccore", "1", "--rettype", "x-y"),
        ("db", "link", "1", "--link-name", "a b"),
    ],
)
def test_a_pattern_is_described_in_words_with_the_value(cli: Cli, words: tuple[str, ...]) -> None:
    message = read_error(cli(*words, "--json"))["message"]

    assert words[-1] in message
    assert "^" not in message


def test_ids_without_a_record_are_named_with_the_reason(cli: Cli) -> None:
    mixed = read_error(cli("fetch", "99000001", "abc", "99999999", "--json"))
    alike = read_error(cli("fetch", "99000001", "99999999", "--json"))

    assert "abc (not an id)" in mixed["message"]
    assert "99999999 (not in PubMed)" in mixed["message"]
    assert "abc" not in alike["message"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("convert", "foo", "99000001"), "not a PMID, PMCID or DOI"),
        (("convert", "foo", "10.5555/ekit.2024.0004", "--id-type", "doi"), "not a DOI"),
        (("fetch", "foo", "99000001"), "Not a PMID, PMCID or DOI: foo."),
    ],
)
def test_an_input_that_is_not_an_identifier_is_reported_as_one(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    done = cli(*arguments, "-f", "json")

    assert done.status == 4
    assert said in (
        read_error(done)["message"],
        *(one.get("message") for one in read_error(done)["details"]["missing"]),
    )
