"""Output formats of documents, and the selection of fields."""

import csv
import io
import json
import re
from typing import Any, ClassVar

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.output_formats import BY_NAME
from entrez_kit.commands import _formats, _pipeline, _state
from entrez_kit.commands._formats import documents, fields, rows
from entrez_kit.commands._formats import yaml as yaml_format
from entrez_kit.commands._views import markdown
from entrez_kit.commands._views import text as text_views
from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.pubmed.fetch import EFetchDetails, FetchResult
from entrez_kit.pubmed.models import Article


class Sink:
    """Collects the written bytes."""

    def __init__(self) -> None:
        self.text = ""
        self.handed_over: list[str] = []

    def write_data(self, content: str | bytes) -> None:
        self.text += content if isinstance(content, str) else content.decode()

    def flush(self) -> None:
        """Record the bytes that a reader has at this time."""
        self.handed_over.append(self.text)


RECORD = {
    "pmid": "1",
    "title": "A\nB",
    "authors": [{"last_name": "Doe"}, {"collective_name": "Group"}, {"last_name": "Roe"}],
    "journal_info": {"title": "J", "publication_date": {"year": 2024}},
    "keywords": ["a, b", "c"],
}


def list_rows(records: list[Any], columns: Any, delimiter: str = ",") -> list[list[str]]:
    sink = Sink()
    writer = rows.Rows(sink, lambda record: [record], columns, delimiter)
    writer.begin()
    for record in records:
        writer.write_outcome(record)
    writer.end()
    return list(csv.reader(io.StringIO(sink.text), delimiter=delimiter))


def test_json_has_readable_letters_of_all_scripts_and_escapes_control_characters() -> None:
    text = documents.format_json({"title": "β-catenin \x1b[31m \x9b31m \u2028 é"})

    assert "β-catenin" in text
    assert not set(text) & {"\x1b", "\x9b", "\u2028"}
    assert json.loads(text) == {"title": "β-catenin \x1b[31m \x9b31m \u2028 é"}


def test_json_is_written_for_text_with_unpaired_surrogates() -> None:
    assert json.loads(documents.format_json({"query": "\udcff"})) == {"query": "\udcff"}


def test_selected_fields_have_their_structure_and_the_requested_order() -> None:
    projected = fields.project(RECORD, ["journal_info.publication_date.year", "authors.last_name", "pmid"])

    assert list(projected) == ["journal_info", "authors", "pmid"]
    assert projected["journal_info"] == {"publication_date": {"year": 2024}}
    assert projected["authors"] == [{"last_name": "Doe"}, {}, {"last_name": "Roe"}]
    assert fields.project(RECORD, ["authors", "authors.last_name"])["authors"] == RECORD["authors"]
    assert fields.project(RECORD, ["doi"]) == {}


def test_a_path_through_a_list_gives_a_list() -> None:
    assert fields.get_values(RECORD, "authors.last_name") == ["Doe", "Roe"]
    assert fields.get_values(RECORD, "journal_info.issn") is None


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("pmid", True),
        ("journal_info.publication_date.year", True),
        ("mesh_terms.qualifiers.name", True),
        ("article_ids.doi", True),
        ("titel", False),
        ("title.x", False),
        ("journal_info.publisher", False),
        ("", False),
    ],
)
def test_the_existing_fields_are_those_of_the_model(path: str, known: bool) -> None:
    assert fields.DocumentPaths(Article).knows(path) is known


def test_fields_of_any_record_of_a_union_are_accepted() -> None:
    shape = fields.DocumentPaths(FetchResult)

    assert shape.knows("articles.medline_text")
    assert shape.knows("articles.full_xml_content.anything.goes")
    assert shape.select("articles").knows("journal_info.title")
    assert not shape.knows("articles.nothing")


def test_an_unknown_field_is_rejected_with_the_existing_fields() -> None:
    with pytest.raises(InvalidInput, match=r"titel\. Did you mean title") as caught:
        fields.choose_columns(["titel"], {}, fields.DocumentPaths(Article))

    assert "pmid" in caught.value.details["fields"]
    assert "journal_info" in caught.value.details["fields"]
    assert caught.value.recovery_hint.startswith("Fields are: title, pmid, ")
    assert "more, which -f json shows" in caught.value.recovery_hint


@pytest.mark.parametrize(
    ("model", "sample", "nested"),
    [
        (FetchResult, [], "articles.pmid"),
        (EFetchDetails, [], None),
        (None, [{"name": "a"}, {"checks": [{"name": "b"}]}], "checks.name"),
        (None, [{"name": "a", "ids": ["b"], "none": []}], None),
    ],
)
def test_the_hint_about_an_unknown_field_has_a_nested_field_only_if_one_exists(
    model: Any, sample: list[Any], nested: str | None
) -> None:
    shape = fields.DocumentPaths(model, sample)

    assert shape.find_nested() == nested
    with pytest.raises(InvalidInput) as caught:
        fields.choose_columns(["titel"], {}, shape)
    assert ("nested" in caught.value.recovery_hint) == (nested is not None)
    assert nested is None or shape.knows(nested)


def test_a_model_is_read_like_its_json() -> None:
    article = Article.model_validate({**RECORD, "url": "u", "mesh_terms": [{"descriptor_name": "D"}], "doi": ""})
    read = fields.Attributes(article)
    data = article.model_dump(mode="json")

    assert list(read) == list(data)
    assert "doi" not in read
    assert read.get("abstract_text", "none") == "none"
    assert fields.convert_to_data(read) == data
    for path in ("journal_info.publication_date.year", "authors.last_name", "mesh_terms.qualifiers.name"):
        assert fields.get_values(read, path) == fields.get_values(data, path)
    names = ["authors", "journal_info"]
    assert documents.format_json(fields.project(read, names)) == documents.format_json(fields.project(data, names))


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_document_written_record_by_record_equals_the_document(number: int) -> None:
    articles = [Article(pmid=str(one), title='"articles": []\n\u2028', url="u") for one in range(number)]
    details = EFetchDetails(urls=[], request_method="GET")
    result = FetchResult(articles=list(articles), not_found_pmids=[], efetch_details=details)
    shape = fields.DocumentPaths(FetchResult)
    for arrive_before in (False, True):
        sink = Sink()
        writer = documents.JsonWriter(sink, [], "articles", shape.select("articles"), shape)
        rest = result.model_copy(update={"articles": []}) if arrive_before else result
        for article in articles if arrive_before else ():
            writer.take_record(article)
        writer.put(rest)

        assert sink.text == documents.format_json(result) + "\n"
        assert json.loads(sink.text) == result.model_dump(mode="json")


@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv", "ids", "md"])
def test_every_format_of_single_records_writes_each_at_once(form: str) -> None:
    view = _formats.View(
        table=lambda result, console: "",
        records=lambda outcome: [outcome],
        columns={"pmid": lambda record: record["pmid"]},
        records_key="",
        page=lambda record: str(record["pmid"]),
    )
    sink = Sink()
    plan = _state.Plan(BY_NAME[form], (), None)
    job = _formats.Job(plan, view, fields.DocumentPaths(sample=[RECORD]), sink, None)
    writer = _pipeline.create_writer(job)

    writer.begin()
    for number in (1, 2, 3):
        writer.write_outcome({"pmid": f"number {number}"})
        assert f"number {number}" in sink.handed_over[-1]


def test_rows_are_one_line_each_and_quoted_if_needed() -> None:
    columns = {
        "pmid": lambda record: record["pmid"],
        "title": lambda record: record["title"],
        "keywords": lambda record: record["keywords"],
        "doi": lambda record: record.get("doi"),
    }

    for delimiter in (",", "\t"):
        found = list_rows([RECORD, {**RECORD, "title": 'He said "x",\ty'}], columns, delimiter)
        assert found[0] == ["pmid", "title", "keywords", "doi"]
        assert found[1] == ["1", "A B", "a, b; c", ""]
        assert found[2][1] == 'He said "x", y'


def test_the_header_is_written_without_rows_too() -> None:
    assert list_rows([], {"pmid": lambda record: ""}) == [["pmid"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("@SUM(1)", "'@SUM(1)"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-1+2", "'-1+2"),
        ("-5", "-5"),
        ("+1.5", "+1.5"),
        ("-", "-"),
        ("A=B", "A=B"),
        ("＝1+2", "'＝1+2"),
        ("＋1+2", "'＋1+2"),
        ("－1+2", "'－1+2"),
        ("＠SUM(1)", "'＠SUM(1)"),
        ("\u200b=1+2", "'\u200b=1+2"),
        ("\ufeff@SUM(1)", "'\ufeff@SUM(1)"),
        ("\u202e+1+2", "'\u202e+1+2"),
        ("\t=1+2", "'\t=1+2"),
        ("\r\n-1+2", "'\r\n-1+2"),
        ("\u00a0 =1+2", "'\u00a0 =1+2"),
        ("\u3000=1", "'\u3000=1"),
        ("\U000e0041=1", "'\U000e0041=1"),
        ("", ""),
        ("Doe J;=HYPERLINK(1)", "Doe J;'=HYPERLINK(1)"),
        ("Doe J; =HYPERLINK(1); Roe K", "Doe J; '=HYPERLINK(1); Roe K"),
        ("a;b;@SUM(1)", "a;b;'@SUM(1)"),
        (";=1+2", ";'=1+2"),
        ("=1;=2", "'=1;'=2"),
        ('a;"=1+2"', 'a;\'"=1+2"'),
        ("a; \u200b=1", "a; '\u200b=1"),
        ("a;＝1", "a;'＝1"),
        ("a\t=1+2", "a\t'=1+2"),
        ("a\t-1+2;+3+4", "a\t'-1+2;'+3+4"),
        ("-5; -6; +1.5", "-5; -6; +1.5"),
        ("IL-2; IL-6 = high", "IL-2; IL-6 = high"),
    ],
)
def test_cells_that_a_spreadsheet_would_execute_are_escaped(text: str, expected: str) -> None:
    assert rows.escape_formulas(text) == expected


def test_cells_have_no_control_characters() -> None:
    assert rows.format_cell("a\x1b[31mb\x9bc\x00d\u202ee") == "a[31mbcde"


def test_json_escapes_invisible_characters_and_has_every_character() -> None:
    text = "a\u202eb\u200bc\ufeffd\x9be\u2028f\U000e0041g\u00adh می\u200cخواهم"
    shown = documents.format_json({"title": text})

    assert json.loads(shown) == {"title": text}
    assert "\\u202e" in shown
    assert "می\u200cخواهم" in shown  # a joiner that belongs to the word
    assert _formats.remove_invisible(shown) == shown  # a terminal shows all of it


def test_nested_values_are_flattened_in_cells() -> None:
    cell = rows.format_cell

    assert cell(True) == "true"
    assert cell([{"a": 1, "b": 2}, {"a": 3}]) == "1 2; 3"
    assert cell(None) == ""


def test_models_become_plain_data() -> None:
    class Point(BaseModel):
        x: int

    assert fields.convert_to_data({"points": [Point(x=1)]}) == {"points": [{"x": 1}]}


def test_pages_tables_and_markdown_of_a_record_have_no_hidden_characters_and_its_json_has_all(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    marks = "\u202e\u200b\ufeff\u2066\x9b\x07"
    record = {
        "pmid": "99000001",
        "title": f"Tea{marks} time",
        "authors": [{"last_name": f"Doe{marks}", "initials": "J"}],
        "abstract_text": f"A{marks} study.",
        "journal_info": {"title": f"J{marks} Tea", "article_number": f"e1{marks}2"},
        "url": "https://pubmed.ncbi.nlm.nih.gov/99000001/",
    }
    page = markdown.write_article(record)
    cell = rows.format_cell
    cells = [cell(column(record)) for column in text_views.ARTICLE_COLUMNS.values()]
    sink = _formats.Sink(None)
    sink.write(f"laid out {marks[:4]}\x1b[0m")
    sink.flush()
    printed = capsysbinary.readouterr().out.decode()

    for text in (page, " ".join(cells), printed):
        assert not set(marks) & set(text)
    assert "Tea time" in page
    assert "\x1b[0m" in printed  # the program's own
    assert json.loads(documents.format_json(record)) == record


class Yaml12(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML ships no type information
    """Reads scalars like YAML 1.2; PyYAML reads YAML 1.1."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


for tag, pattern, first in (
    ("bool", "true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", "~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", "[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|nan)", "-+.0123456789"),
):
    Yaml12.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern})$"), list(first))


def write_as_yaml(document: Any) -> str:
    return "\n".join(yaml_format.yield_yaml_lines(document)) + "\n"


TRICKY = (
    *(
        "no",
        "Yes",
        "ON",
        "null",
        "~",
        "",
        " ",
        "1e5",
        "1E5",
        "0o17",
        "0x1f",
        "012",
        "1_000",
        "1:30",
        ".inf",
        "-",
        "- a",
    ),
    *(
        "2020-01-01",
        "2001-12-14t21:59:43Z",
        "a: b",
        "a #b",
        "#a",
        "a:",
        "'a'",
        '"',
        "\\",
        "a\\nb",
        "%",
        "@a",
        "`",
        "? a",
    ),
    *(
        "a\nb",
        "a\nb\n",
        "a\nb\n\n",
        "\na",
        " a\nb",
        "a \n b",
        "\ta\nb",
        "a\r\nb",
        "---\na",
        "a\n---\nb",
        "...",
        "=",
        "<<",
        "y",
    ),
    *(
        "β-catenin",
        "10⁶",
        "患者",
        "\u2028",
        "\x85",
        "\ufeffa",
        "a\u200bb",
        "\U000e0041",
        "😀",
        "\x07",
        "a\tb",
        "[a]",
        "{a}",
        "!a",
        "&a",
        "*a",
    ),
)


@pytest.mark.parametrize("loader", [yaml.SafeLoader, Yaml12])
@pytest.mark.parametrize("text", TRICKY)
def test_strings_are_unchanged_in_yaml_values_items_and_keys(text: str, loader: Any) -> None:
    document = {"value": text, "items": [text, [text], {"inside": text}], text: 1, "deep": {"deeper": {"text": text}}}

    assert yaml.load(write_as_yaml(document), loader) == document


PLAIN_DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.sampled_from(TRICKY),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9).filter(str.isprintable), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(document=st.dictionaries(st.sampled_from(["a", "no", "b c"]), PLAIN_DATA))
@example(document={"a": "0\n"})
def test_any_document_is_unchanged_in_yaml(document: Any) -> None:
    lines = yaml_format.yield_yaml_lines(document)
    text = "".join(f"{line}\n" for line in lines)  # a document ends with a line break, and so does a block in it

    assert yaml.load(text, yaml.SafeLoader) == document
    assert yaml.load(text, Yaml12) == document


def test_a_yaml_document_written_record_by_record_equals_the_document() -> None:
    articles = [Article(pmid=str(one), title="articles: []\n\nno", url="u") for one in range(3)]
    details = EFetchDetails(urls=[], request_method="GET")
    shape = fields.DocumentPaths(FetchResult)
    for pmids in (None, ["0", "1", "2"]):
        result = FetchResult(requested_pmids=pmids, articles=list(articles), not_found_pmids=[], efetch_details=details)
        sink = Sink()
        writer = yaml_format.YamlWriter(sink, [], "articles", shape.select("articles"), shape)
        for article in articles:
            writer.take_record(article)
        writer.put(result.model_copy(update={"articles": []}))

        assert yaml.safe_load(sink.text) == result.model_dump(mode="json")


def test_a_document_whose_list_is_omitted_if_empty_is_written_completely() -> None:
    class Hits(Result):
        total: int
        hits: list[str] = omit_if_empty([])
        url: str

    result = Hits(total=2, hits=["a", "b"], url="u")
    shape = fields.DocumentPaths(Hits)
    for writer, load in ((documents.JsonWriter, json.loads), (yaml_format.YamlWriter, yaml.safe_load)):
        sink = Sink()
        writer(sink, [], "hits", shape.select("hits"), shape).put(result)

        assert load(sink.text) == result.model_dump(mode="json")
