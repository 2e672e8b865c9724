"""`entrez-kit guide`: finding and printing guides, and the truth of their examples and tables."""

import ast
import json
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest
from command_line import Cli, read_error
from platform_marks import needs_terminal
from program_streams import run_on_terminal
from project_paths import ROOT
from syntax_trees import read_nodes

from entrez_kit.base import errors
from entrez_kit.base.errors import EntrezKitError, Exit
from entrez_kit.commands import _app
from entrez_kit.core.operation import SOURCE_WARNING_CODES
from entrez_kit.guides import ALIASES, TOPICS, list_guides, read_guide
from entrez_kit.pubmed.standing_lookup import STANDING_UNKNOWN
from entrez_kit.references.match import WarningCode
from entrez_kit.relationships.related_documents import Provenance
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.services.small_replies import MESSAGES
from entrez_kit.services.transport import DAY, HOUR, NOT_FOUND_TTL, TTL, WEEK

WARNINGS = ("Warn", "MatchWarning", "warn")
"""What causes a warning: two models, and a method that adds one to related articles."""
UNUSED = ("from_ncbi", "from_mixed")
"""No warning: NCBI is the usual source, and articles of several sources have a warning for each."""


@pytest.fixture(scope="module")
def shared_sandbox() -> Iterator[Sandbox]:
    """Run one sandbox for all examples; starting one for each would take most of the time."""
    with Sandbox(enforce_limits=False) as running:
        yield running


@pytest.fixture
def answering_sandbox(
    shared_sandbox: Sandbox, no_waiting: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Send requests to the sandbox without waiting, and work in an empty folder."""
    monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", f"{shared_sandbox.url}/entrez/eutils")
    monkeypatch.setenv("ENTREZ_KIT_IDCONV_URL", f"{shared_sandbox.url}/idconv")
    monkeypatch.setenv("ENTREZ_KIT_EUROPEPMC_URL", f"{shared_sandbox.url}/europepmc")
    monkeypatch.setenv("ENTREZ_KIT_PMC_OA_URL", f"{shared_sandbox.url}/pmc-oa")
    monkeypatch.setenv("ENTREZ_KIT_CROSSREF_URL", f"{shared_sandbox.url}/crossref")
    monkeypatch.setenv("ENTREZ_KIT_OPENALEX_URL", f"{shared_sandbox.url}/openalex")
    monkeypatch.chdir(tmp_path)


def list_code_blocks(topic: str, language: str) -> list[str]:
    """Return the code blocks of a guide in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", read_guide(topic).text, flags=re.DOTALL | re.MULTILINE)


def join_whitespace(text: str) -> str:
    return " ".join(text.split())


# The command


def test_without_a_topic_all_guides_are_listed(main: Cli) -> None:
    ended = main("guide", "--json")

    assert ended.status == 0
    assert [guide["topic"] for guide in ended.document] == list(TOPICS)
    assert all(guide["title"] and guide["summary"] for guide in ended.document)
    assert main("guide").out.count("\n- `") == len(TOPICS)


@pytest.mark.long
@pytest.mark.parametrize("topic", TOPICS)
def test_a_pipe_gets_markdown_and_json_on_request(main: Cli, topic: str) -> None:
    text = main("guide", topic).out
    document = main("guide", topic, "--json").document

    assert text.startswith("# ")
    assert document == {"topic": topic, "title": text.split("\n")[0][2:], "text": text}
    assert main("guide", topic, "-f", "md").out == text


def test_a_topic_may_be_abbreviated_and_spelled_in_any_case(main: Cli) -> None:
    for name in ("exit-codes", "exit", "Exit Codes", "exit_codes"):
        assert main("guide", name).out.startswith("# Exit codes")


def test_a_topic_of_two_words_needs_no_quotes(main: Cli) -> None:
    assert main("guide", "exit", "codes").out == read_guide("exit-codes").text
    assert main("guide", "Getting", "Started", "--json").document["topic"] == "getting-started"


@pytest.mark.parametrize(
    ("alias", "topic"),
    [
        (("prisma",), "review"),
        (("ris",), "references"),
        (("Zotero",), "references"),
        (("retractions",), "references"),
        (("retraction",), "references"),
        (("api", "key"), "rate-limits"),
        (("Systematic", "Reviews"), "review"),
    ],
)
def test_a_word_that_is_not_a_topic_opens_the_guide_with_that_word_and_a_note_names_it(
    main: Cli, alias: tuple[str, ...], topic: str
) -> None:
    ended = main("guide", *alias)

    assert (ended.status, ended.out) == (0, read_guide(topic).text)
    assert ended.err.startswith("Note: ")
    assert f"`{topic}`" in ended.err
    assert main("guide", topic).err == ""


def test_the_note_names_the_heading_if_the_guide_has_one_with_the_word(main: Cli) -> None:
    assert main("guide", "retractions").err == (
        "Note: 'retractions' is in the guide `references`, under 'Sources of retractions'.\n"
    )
    assert main("guide", "proxy").err == "Note: 'proxy' is in the guide `settings`, under 'Proxy and certificates'.\n"
    assert main("guide", "mendeley").err == "Note: 'mendeley' is in the guide `references`.\n"


def test_every_alias_opens_a_guide_that_has_the_word() -> None:
    for alias, topic in ALIASES.items():
        assert alias not in TOPICS
        assert alias.replace("-", "") in re.sub(r"[\s_-]", "", read_guide(topic).text.lower()), alias


def test_a_search_lists_guide_and_line_of_every_match(main: Cli) -> None:
    matches = main("guide", "--search", "Prisma", "--json").document

    assert {match["topic"] for match in matches} == {"searching", "review"}
    for match in matches:
        line = read_guide(match["topic"]).text.split("\n")[match["line"] - 1]
        assert match["text"].startswith(join_whitespace(line))
    printed = main("guide", "--search", "Prisma").out.splitlines()
    assert printed == [f"{match['topic']}:{match['line']}: {match['text']}" for match in matches]


def test_a_search_finds_a_phrase_across_a_line_break(main: Cli) -> None:
    lines = read_guide("rate-limits").text.split("\n")
    number = next(n for n, (one, two) in enumerate(pairwise(lines)) if " " in one and " " in two)
    phrase = f"{lines[number].split()[-1]}  {lines[number + 1].split()[0]}"

    matches = main("guide", "rate-limits", "--search", phrase, "--json").document

    assert number + 1 in [match["line"] for match in matches]


def test_a_search_can_be_limited_to_one_guide(main: Cli) -> None:
    assert {match["topic"] for match in main("guide", "--search", "retract", "--json").document} > {"corpus"}
    only = main("guide", "corpus", "--search", "retract", "--json").document
    assert {match["topic"] for match in only} == {"corpus"}


def test_a_search_without_a_match_ends_with_status_3_and_an_empty_one_with_status_2(main: Cli) -> None:
    ended = main("guide", "--search", "xylophone")

    assert (ended.status, ended.out, read_error(ended)["code"]) == (3, "", "ENTITY_NOT_FOUND")
    assert main("guide", "--search", " ").status == 2


def test_an_unknown_topic_is_rejected_with_a_similar_one(main: Cli) -> None:
    ended = main("guide", "exitcode")
    assert (ended.status, ended.out) == (2, "")
    assert read_error(ended)["recovery_hint"] == "Did you mean exit-codes?"

    assert "getting-started" in read_error(main("guide", "xyz"))["recovery_hint"]
    assert main("guide", "").status == 2
    assert main("guide", "se").status == 2  # searching or settings


def test_a_guide_can_be_written_to_a_file(main: Cli, tmp_path: Path) -> None:
    main("guide", "cache", "-o", str(tmp_path / "cache.md"))
    main("guide", "cache", "-o", str(tmp_path / "cache"))
    main("guide", "cache", "-o", str(tmp_path / "cache.json"))

    assert (tmp_path / "cache.md").read_text(encoding="utf-8") == read_guide("cache").text
    assert (tmp_path / "cache").read_text(encoding="utf-8") == read_guide("cache").text
    assert json.loads((tmp_path / "cache.json").read_text(encoding="utf-8"))["topic"] == "cache"


def test_guides_can_be_read_with_invalid_settings(main: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCBI_TIMEOUT_MS", "soon")

    assert main("guide", "settings").status == 0


@pytest.mark.long
@needs_terminal
@pytest.mark.parametrize("columns", [80, 200])
def test_a_terminal_shows_rendered_text_with_a_maximum_width(columns: int) -> None:
    ended = run_on_terminal("guide", "exit-codes", columns=columns)

    assert ended.status == 0
    assert "|---|" not in ended.out
    assert "a defect of entrez-kit" in ended.out
    assert max(len(line.rstrip()) for line in ended.out.splitlines()) <= min(columns, 100)


# The texts


def test_every_guide_begins_with_a_heading_and_a_sentence() -> None:
    for guide in list_guides():
        assert re.match(r"# [A-Z][\w -]+\n\n[A-Z]", guide.text), guide.topic
        assert guide.text.endswith("\n")
        assert guide.summary.endswith(".")
        assert len(guide.summary) < 120
        assert [line for line in guide.text.splitlines() if len(line) > 100] == [], guide.topic


def test_every_file_is_a_topic() -> None:
    folder = ROOT / "entrez_kit" / "guides"

    assert {path.stem for path in folder.glob("*.md")} == set(TOPICS)


def test_commands_in_guides_exist() -> None:
    known = _app.COMMANDS
    for guide in list_guides():
        code = re.findall(r"^```\w+\n(.*?)^```$|`([^`\n]+)`", guide.text, re.DOTALL | re.MULTILINE)
        lines = "\n".join(block or span for block, span in code)
        for name in re.findall(r"(?:^|\| )entrez-kit (?:--[\w-]+ )*([a-z]+)\b", lines, re.MULTILINE):
            assert name in known, f"{guide.topic}: {name}"


def test_guides_named_in_guides_exist() -> None:
    for guide in list_guides():
        for name in re.findall(r"entrez-kit guide ([a-z-]+)", guide.text):
            assert name in TOPICS


def test_the_guide_lists_no_setting_as_unused() -> None:
    assert "do not use them" not in read_guide("settings").text


def test_the_guide_lists_all_exit_codes() -> None:
    listed = [int(number) for number in re.findall(r"^\| (\d+) \|", read_guide("exit-codes").text, flags=re.MULTILINE)]

    assert listed == sorted(Exit)


def test_the_guide_lists_all_error_codes_with_their_status() -> None:
    def list_kinds(kind: type[EntrezKitError]) -> Iterator[type[EntrezKitError]]:
        yield kind
        for below in kind.__subclasses__():
            if below.__module__ == errors.__name__:
                yield from list_kinds(below)

    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", read_guide("errors").text, flags=re.MULTILINE)
    assert {(code, int(status)) for code, status in rows} == {
        (kind.code, int(kind.exit_code)) for kind in list_kinds(EntrezKitError)
    }


def test_the_guide_lists_the_real_lifetimes_of_the_cache() -> None:
    rows = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", read_guide("cache").text, flags=re.MULTILINE))

    assert rows["records (efetch), converted ids, MeSH"] == "7 days"
    assert TTL["efetch"] == TTL["idconv"] == TTL["mesh"] == WEEK
    assert rows["summaries, database information"] == "24 hours"
    assert TTL["esummary"] == TTL["einfo"] == DAY
    assert rows["Europe PMC searches and citations"] == "24 hours"
    assert TTL["europepmc_search"] == TTL["europepmc_citations"] == DAY
    assert rows["Europe PMC full text"] == "7 days"
    assert TTL["europepmc_fulltext"] == WEEK
    assert rows["searches, spelling"] == rows["replies that lack some of the requested records"] == "1 hour"
    assert TTL["esearch"] == TTL["espell"] == NOT_FOUND_TTL == HOUR
    assert rows['"no such record"'] == "never"


# The examples

EXAMPLES = [(topic, block) for topic in TOPICS for block in list_code_blocks(topic, "sh")]


@pytest.mark.process
@pytest.mark.usefixtures("answering_sandbox")
@pytest.mark.parametrize(("topic", "block"), EXAMPLES, ids=[f"{topic}-{n}" for n, (topic, _) in enumerate(EXAMPLES)])
def test_examples_run_and_find_records(main: Cli, topic: str, block: str) -> None:
    for line in block.splitlines():
        output = b""
        for call in line.split(" | "):
            words = shlex.split(call)
            if words[0] == "head":
                break
            assert words[0] == "entrez-kit", f"{topic}: only entrez-kit can be run here: {line}"
            ended = main(*(word for word in words[1:] if word != "--demo"), stdin=output)
            assert ended.status == 0, f"{topic}: {call}"
            assert all(line.startswith("Warning: ") for line in ended.err.splitlines()), f"{topic}: {call}"
            if "-o" not in words:
                assert ended.out, f"{topic}: {call} printed nothing"
            output = ended.out.encode()
            if words[1] == "search" and "--json" in words:
                assert ended.document["total_found"] > 0, f"{topic}: {call} finds nothing"
            if "-f" in words and words[words.index("-f") + 1] == "ids" and "-o" not in words:
                assert ended.out.strip(), f"{topic}: {call} finds nothing"


def test_examples_with_the_demo_flag_run_unchanged(main: Cli) -> None:
    (block,) = [block for block in list_code_blocks("getting-started", "sh") if "--demo" in block]
    for line in block.splitlines():
        ended = main(*shlex.split(line)[1:])

        assert ended.status == 0
        assert "99000001" in ended.out


@pytest.mark.usefixtures("answering_sandbox")
@pytest.mark.parametrize("block", [*list_code_blocks("python", "python"), *list_code_blocks("bio-entrez", "python")])
def test_python_examples_run(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(block, "python.md", "exec"), {})

    assert capsys.readouterr().out.strip()


@pytest.mark.usefixtures("answering_sandbox")
def test_examples_with_another_exit_status_end_with_that_status(main: Cli) -> None:
    assert main("search", "editing[nosuchfield]", "--strict").status == 2
    ended = main("fetch", "99000001", "99999999", "-f", "jsonl")
    assert ended.status == 4
    assert [json.loads(line).get("status", "found") for line in ended.out.splitlines()] == ["found", "not_found"]
    assert main("fetch", "99999999").status == 3


def test_every_file_in_the_development_guide_exists() -> None:
    text = read_guide("development").text
    named = re.findall(r"`((?:commands|entrez_kit|tests|fixtures)/[\w./]*)`", text)

    assert len(named) > 50
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.long
def test_the_guide_of_warnings_lists_exactly_the_codes_that_exist() -> None:
    rows = re.findall(r"^\| (`.*?) \| ", read_guide("warnings").text, re.MULTILINE)
    listed = re.findall(r"`(\w+)`", " ".join(rows))
    families = {code for code, _ in MESSAGES} | {f"from_{arg}" for arg in get_args(Provenance)}
    families |= {*get_args(WarningCode), STANDING_UNKNOWN, *SOURCE_WARNING_CODES}
    constants: set[str] = set()
    literal: set[str] = set()
    for path in sorted((ROOT / "entrez_kit").rglob("*.py")):
        for node in read_nodes(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                constants.add(node.value)
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in WARNINGS:
                codes = [keyword.value for keyword in node.keywords if keyword.arg == "code"] or node.args[:1]
                literal |= {
                    code.value for code in codes if isinstance(code, ast.Constant) and isinstance(code.value, str)
                }

    assert len(listed) == len(set(listed)) > 70
    assert literal | families <= {*listed, *UNUSED, *(text for text in literal if " " in text)}
    assert set(listed) <= constants | families
