"""The program as a whole: help, options in any position, usage errors, and every way to end."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import (
    Cli,
    Program,
    RunResult,
)
from platform_marks import needs_full_device
from rich.text import Text

from commands._app import COMMANDS
from entrez_kit.base.output_formats import FORMATS, Family
from entrez_kit.base.settings import DEMO_WARNING
from entrez_kit.commands import _app, _pipeline, load_command

HEAVY = ("requests", "Bio", "lxml", "mcp", "numpy", "pyrate_limiter", "entrez_kit.pubmed")


def read_envelope(done: RunResult) -> dict[str, Any]:
    """Return the error of the one line on stderr."""
    assert done.err.count("\n") == 1, done.err
    document = json.loads(done.err)
    assert document["success"] is False
    error: dict[str, Any] = document["error"]
    assert {"code", "message", "recovery_hint", "invalid_input"} <= set(error)
    return error


def list_loaded(code: str) -> list[str]:
    """Return the heavy libraries that a piece of code loads in a fresh interpreter."""
    script = f"import sys\n{code}\nprint([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, encoding="utf-8")
    return list(json.loads(done.stderr.strip().splitlines()[-1].replace("'", '"')))


# Help and version


def test_help_shows_the_brackets_of_queries() -> None:
    def list_texts(command: Any) -> Iterator[str]:
        yield from (command.help or "", command.epilog or "")
        yield from (getattr(parameter, "help", None) or "" for parameter in command.params)
        for inner in getattr(command, "commands", {}).values():
            yield from list_texts(inner)

    texts = [text for name in COMMANDS for text in list_texts(load_command(name))]
    styles = {str(span.style): text for text in texts for span in Text.from_markup(text).spans}

    assert any("[pt]" in Text.from_markup(text).plain for text in texts)
    assert styles.keys() <= {"bold"}, styles


@pytest.mark.process
def test_version_is_printed_before_anything_is_imported(program: Program) -> None:
    code = "import sys; sys.argv = ['entrez-kit', '--version']; from entrez_kit.__main__ import main; main()"
    code += "; print([name for name in sys.modules if name.startswith('entrez_kit')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")

    assert done.stdout.splitlines()[0] == "entrez-kit 0.1.0"
    assert "commands" not in done.stdout
    assert program("--version").out == program("-q", "--version").out == "entrez-kit 0.1.0\n"


@pytest.mark.process
def test_help_loads_no_heavy_library() -> None:
    code = "sys.argv = ['entrez-kit', '-h']; from entrez_kit.__main__ import main; main()"

    assert list_loaded(code) == []


@pytest.mark.process
def test_help_of_a_command_loads_no_heavy_library() -> None:
    code = "sys.argv = ['entrez-kit', 'search', '--help']; from entrez_kit.__main__ import main; main()"

    assert set(list_loaded(code)) <= {"entrez_kit.pubmed"}


def test_help_lists_every_command_with_its_summary(alone: Cli) -> None:
    done = alone("--help")

    assert done.status == 0
    assert done.err == ""
    for name, (text, _) in _app.COMMANDS.items():
        assert re.search(rf"^│ {name} +{re.escape(text[:40])}", done.out, re.MULTILINE), name


@pytest.mark.parametrize("words", [(), ("search",), ("gene", "search"), ("corpus",)])
def test_the_command_help_prints_the_same_as_the_option(alone: Cli, words: tuple[str, ...]) -> None:
    wanted = alone(*words, "--help")

    assert wanted.status == 0
    assert alone("help", *words) == alone("-q", "help", *words) == alone("help", *words, "--help") == wanted


def test_help_about_an_unknown_command_suggests_a_similar_name(alone: Cli) -> None:
    done = alone("help", "serch")

    assert done.status == 2
    assert read_envelope(done)["recovery_hint"] == "Did you mean search?"


@pytest.mark.long
def test_every_command_has_a_module_and_help_and_the_common_options(alone: Cli) -> None:
    for name in _app.COMMANDS:
        command = load_command(name)
        leaves = list(getattr(command, "commands", {}).values()) or [command]
        for leaf in leaves:
            assert leaf.help, f"{name} {leaf.name} has no help"
            options = {option for parameter in leaf.params for option in parameter.opts}
            wanted = {"-f", "--json", "--fields", "-o", "--demo", "--offline", "--refresh", "--no-cache", "-q", "-v"}
            assert wanted | {"--color", "--config"} <= options, f"{name} {leaf.name}"
        done = alone(name, "--help")
        assert done.status == 0
        assert "Usage: entrez-kit" in done.out


def test_help_lists_the_formats_of_a_command(alone: Cli) -> None:
    data = [one.name for one in FORMATS if one.family in (Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.IDS)]

    assert {"table", "json", "csv", "ids"} <= {*data}
    assert f"Output format: {', '.join(data)}, md" in " ".join(alone("search", "--help").out.replace("│", " ").split())


@pytest.mark.parametrize("command", ["search", "fetch", "check", "verify", "facets", "spell"])
def test_help_mentions_a_file_of_ids_if_a_command_prints_ids(alone: Cli, command: str) -> None:
    text = " ".join(alone(command, "--help").out.replace("│", " ").split())
    formats = text.partition("Output format: ")[2].partition(". ")[0].split(", ")

    assert (".txt: ids" in text) == ("ids" in formats)


@pytest.mark.process
def test_help_is_not_wider_than_the_terminal(program: Program) -> None:
    for columns in (60, 80, 200):
        out = program("search", "--help", COLUMNS=str(columns)).out
        assert max(len(line) for line in out.splitlines()) <= columns
        assert "crispr AND review[pt]" in " ".join(out.replace("│", " ").split())


# Usage


def test_a_call_without_a_command_prints_an_envelope_for_machines(alone: Cli) -> None:
    done = alone()

    assert done.status == 2
    assert done.out == ""
    assert read_envelope(done)["message"] == "No command was given."
    assert read_envelope(done)["recovery_hint"] == "`entrez-kit --help` lists the commands."


def test_an_unknown_command_suggests_a_similar_name(alone: Cli) -> None:
    error = read_envelope(done := alone("serch", "crispr"))

    assert done.status == 2
    assert error["code"] == "INVALID_INPUT"
    assert error["message"] == "The command 'serch' does not exist."
    assert error["recovery_hint"] == "Did you mean search?"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("search",), "No QUERY was given."),
        (("spell",), "No QUERY was given."),
        (("check",), "No FILE was given."),
        (("review", "init", "asthma"), "No --strategy was given."),
        (("search", "crispr", "--fromat", "csv"), "The option --fromat does not exist."),
        (("search", "crispr", "-n", "many"), "--max-results"),
        (("search", "crispr", "--color", "pink"), "--color"),
        (("search", "crispr", "-f", "parquet"), "(got 'parquet')"),
        (("search", "crispr", "-f", "nonsense"), "'nonsense'"),
        (("search", "crispr", "--json", "-f", "csv"), "--json cannot be used with --format csv"),
        (("fetch",), "No ids"),
        (("fetch", "1", "--detail", "everything"), "--detail"),
        (("check", "a.bib", "--only", "some"), "--only must be one of: all, problems"),
        (("match", "--author", "Smith J", "--author", "Doe K"), "takes one value (got 2: Smith J, Doe K"),
        (("search", "crispr", "-n", "2", "--max-results", "3"), "takes one value (got 2: 2, 3"),
        (("search", "crispr", "-f", "csv", "-o", "a.csv", "-f", "ids"), "takes one value (got 2: csv, ids"),
        (("-f", "csv", "-f", "ids", "search", "crispr"), "takes one value (got 2: csv, ids"),
    ],
)
def test_a_usage_error_ends_with_status_2_and_an_explanation(
    alone: Cli, arguments: tuple[str, ...], words: str
) -> None:
    done = alone(*arguments)

    assert done.status == 2
    assert done.out == ""
    error = read_envelope(done)
    assert words in error["message"]
    assert error["recovery_hint"]


def test_a_terminal_shows_a_message_and_a_hint(alone: Cli) -> None:
    done = alone("search", "ab", "-f", "table")

    assert done.status == 2
    message, hint = done.err.splitlines()
    assert re.fullmatch(r"Error: QUERY .*3.*\.", message)
    assert hint.startswith("Hint: ")


def test_a_terminal_shows_names_of_flags_and_json_shows_names_of_fields(alone: Cli) -> None:
    assert alone("search", "crispr", "--sort", "size", "-f", "table").err.startswith("Error: --sort ")
    assert read_envelope(alone("search", "crispr", "--sort", "size"))["invalid_input"] == "sort_by=size"


def test_options_are_accepted_before_and_after_the_command(cli: Cli) -> None:
    for arguments in (
        ("-q", "-f", "ids", "search", "crispr", "-n", "2"),
        ("search", "crispr", "-n", "2", "-q", "-f", "ids"),
        ("-f", "json", "search", "crispr", "-n", "2", "--format", "ids"),
    ):
        done = cli(*arguments)
        assert done.status == 0, done.err
        assert len(done.out.split()) == 2


def test_an_option_may_be_repeated_with_the_same_value_and_a_flag_too(cli: Cli) -> None:
    done = cli("search", "crispr", "-n", "2", "-q", "-q", "--max-results", "2", "-f", "ids", "-f", "ids")

    assert (done.status, len(done.out.split())) == (0, 2), done.err


def test_options_can_be_set_by_variables_and_the_config_file(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ENTREZ_KIT_FORMAT", "ids")
    assert cli("search", "crispr", "-n", "1").out.strip().isdigit()
    assert cli("search", "crispr", "-n", "1", "--json").out.startswith("{")

    monkeypatch.setenv("ENTREZ_KIT_FORMAT", "nbib")  # related does not print this format; a preference is not a command
    assert cli("related", "99000001", "-n", "1").out.startswith("{")

    monkeypatch.delenv("ENTREZ_KIT_FORMAT")
    config = tmp_path / "my.toml"
    config.write_text('format = "ids"\n', encoding="utf-8")
    assert cli("search", "crispr", "-n", "1", "--config", str(config)).out.strip().isdigit()


def test_an_invalid_setting_ends_with_status_8(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCBI_MAX_RETRIES", "many")

    done = cli("search", "crispr")

    assert done.status == 8
    assert read_envelope(done)["code"] == "NOT_CONFIGURED"
    assert "NCBI_MAX_RETRIES" in read_envelope(done)["message"]


def test_a_defect_is_reported_with_a_request_id_and_no_internals(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("internal detail")

    monkeypatch.setattr("entrez_kit.pubmed.search_models.read_query", fail)
    done = cli("search", "crispr")

    assert done.status == 1
    error = read_envelope(done)
    assert error["code"] == "INTERNAL_ERROR"
    assert error["details"]["request_id"]
    assert "internal detail" not in done.err
    assert "internal detail" in cli("search", "crispr", "-v").err


def test_a_defect_of_the_front_end_is_reported_the_same_way(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("internal detail")

    monkeypatch.setattr(_pipeline, "create_writer", fail)
    done = cli("search", "crispr")

    assert done.status == 1
    assert read_envelope(done)["code"] == "INTERNAL_ERROR"
    assert "internal detail" not in done.err


def test_verbose_reports_requests_cache_hits_and_time_on_stderr(cli: Cli) -> None:
    first = cli("search", "crispr", "-v").err
    second = cli("search", "crispr", "-v").err

    assert re.search(r"Request id: [0-9a-f]{12}, 1 request \(0 from the cache, 0 repeated\), \d+ ms", first)
    assert re.search(r"1 request \(1 from the cache, 0 repeated\)", second)
    assert cli("search", "crispr", "-v").out == cli("search", "crispr").out


# Logs


def test_logs_are_json_lines_that_only_the_owner_can_read(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LOGS_DIR", str(tmp_path / "logs"))
    monkeypatch.setenv("NCBI_API_KEY", "canary-0123456789abcdef")

    def fail(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("api_key=canary-0123456789abcdef")

    monkeypatch.setattr("entrez_kit.pubmed.search_models.read_query", fail)
    done = cli("search", "crispr", "-v")

    file = tmp_path / "logs" / "entrez-kit.log"
    entries = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert file.stat().st_mode & 0o777 == 0o600
    assert entries[-1]["level"] == "error"
    assert "ZeroDivisionError" in entries[-1]["traceback"]
    assert "canary" not in file.read_text(encoding="utf-8") + done.err + done.out


def test_a_log_folder_that_cannot_be_written_causes_a_note(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("LOGS_DIR", str(tmp_path / "file" / "logs"))

    done = cli("search", "crispr", "-f", "ids")

    assert done.status == 0
    assert done.err.startswith("Note: LOGS_DIR")


# Secrets


def test_keys_and_email_addresses_never_appear_in_output(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NCBI_API_KEY", "canary0123456789abcdef0123456789abcd")
    monkeypatch.setenv("NCBI_ADMIN_EMAIL", "canary.bird@example.org")
    monkeypatch.setenv("LOGS_DIR", str(tmp_path / "logs"))
    monkeypatch.setenv("ENTREZ_KIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MCP_LOG_LEVEL", "debug")
    said = ""
    for arguments in (
        ("search", "crispr", "-v", "--history"),
        ("search", "crispr", "-f", "table", "-v", "--refresh"),
        ("search", "((", "-v"),
        ("fetch", "99000001", "12", "PMC99000001", "-v"),
        ("fetch", "99000001", "-f", "jsonl", "-o", str(tmp_path / "out.jsonl")),
        ("show", "99000001", "-f", "table", "-v"),
        ("fetch", "99000001", "--offline", "--no-cache"),
        ("config", "show"),
        ("cache", "info"),
    ):
        done = cli(*arguments)
        said += done.out + done.err
    for file in tmp_path.rglob("*"):
        if file.is_file():
            said += file.read_bytes().decode("latin-1")

    assert "canary" not in said
    assert "crispr" in said


# Shell completion


def complete(program: Program, words: str) -> list[str]:
    count = len(words.split()) - (0 if words.endswith(" ") else 1)
    done = program(_ENTREZ_KIT_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(count))
    assert done.status == 0, done.err
    return done.out.split()


@pytest.mark.process
def test_shell_completion_offers_commands_options_and_values(program: Program) -> None:
    assert complete(program, "entrez-kit sea") == ["search"]
    assert "--mesh" in complete(program, "entrez-kit search --me")
    assert complete(program, "entrez-kit search --sort pub") == ["pub_date"]
    assert complete(program, "entrez-kit fetch -f nb") == ["nbib"]
    assert complete(program, "entrez-kit related -f nb") == []
    assert "clear" in complete(program, "entrez-kit cache c")


@pytest.mark.process
def test_the_completion_script_is_printed(program: Program) -> None:
    done = program("--show-completion", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="")

    assert done.status in (0, 1)  # 1 if no shell is found
    for shell in ("bash", "zsh", "fish"):
        script = program("--show-completion", shell, SHELL="/bin/bash")
        assert script.status == 0
        assert {"bash": "COMP_WORDS", "zsh": "#compdef entrez-kit", "fish": "complete --command"}[shell] in script.out
        assert f"complete_{shell}" in script.out


@pytest.mark.process
def test_completion_is_installed_for_the_named_shell(program: Program, tmp_path: Path) -> None:
    done = program("--install-completion", "zsh", HOME=str(tmp_path), SHELL="/bin/bash")

    assert done.status == 0, done.err
    assert "entrez-kit" in (tmp_path / ".zfunc" / "_entrez-kit").read_text(encoding="utf-8")


# Streams and signals


@pytest.mark.process
def test_output_works_on_a_console_with_another_encoding(program: Program) -> None:
    done = program("--demo", "fetch", "99000031", "-f", "md", PYTHONIOENCODING="cp1252", PYTHONUTF8="0")

    assert done.status == 0, done.err
    assert "Δ133p53α" in done.out


@pytest.mark.process
def test_arguments_that_are_not_text_do_not_crash_the_program(program: Program) -> None:
    done = subprocess.run(
        [sys.executable.encode(), b"-m", b"entrez_kit", b"--demo", b"search", b"caf\xe9 crispr"],
        capture_output=True,
        env={**os.environ},
        timeout=60,
        check=False,
    )

    assert done.returncode in (0, 2), done.stderr
    assert b"Traceback" not in done.stderr


def run_in_pipe(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command.replace('entrez-kit', f'{sys.executable} -m entrez_kit')}"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ},
        timeout=60,
        check=False,
    )


@pytest.mark.process
def test_a_pipe_ends_quietly_if_its_reader_closes_it() -> None:
    for command in (
        "entrez-kit --help | head -2",
        "entrez-kit --demo search crispr -f ids | entrez-kit --demo fetch - -f jsonl | head -1",
        "entrez-kit --demo fetch $(seq 99000001 99000060) -f xml | head -1",
        "entrez-kit --demo fetch $(seq 99000001 99000060) -f table | head -1",
    ):
        done = run_in_pipe(command)
        assert set(done.stderr.splitlines()) <= {f"Warning: {DEMO_WARNING}"}, command
        assert done.returncode == 0, command
        assert done.stdout.strip(), command


@pytest.mark.process
def test_a_closed_standard_output_loses_no_data_silently(tmp_path: Path) -> None:
    for form in ("ids", "json", "table"):
        done = run_in_pipe(f"entrez-kit --demo search crispr -f {form} >&-")
        assert done.returncode == 9, done.stderr
        assert "standard output cannot be written" in done.stderr
        assert "Traceback" not in done.stderr
    file = tmp_path / "found.txt"
    done = run_in_pipe(f"entrez-kit --demo search crispr -f ids -o {file} >&-")
    assert (done.returncode, len(file.read_text().splitlines())) == (0, 14), done.stderr


@pytest.mark.process
@pytest.mark.parametrize("command", ["fetch -", "search -", "check - --json", "cite -i -"])
def test_a_closed_standard_input_is_not_an_empty_input(command: str) -> None:
    done = run_in_pipe(f"entrez-kit --demo {command} <&-")

    assert done.returncode == 2
    assert "Standard input is closed" in done.stderr


@pytest.mark.process
@needs_full_device
def test_a_full_disk_ends_with_status_9() -> None:
    for form in ("table", "jsonl"):
        done = run_in_pipe(f"entrez-kit --demo search crispr -f {form} >/dev/full")
        assert done.returncode == 9, done.stderr
        assert "standard output cannot be written" in done.stderr
        assert "Traceback" not in done.stderr
        assert "ignored" not in done.stderr


@pytest.mark.process
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_the_program_without_partial_files(number: signal.Signals, status: int, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "entrez_kit", "--demo", "fetch", "-", "-f", "jsonl", "-o", str(tmp_path / "out.jsonl")],
        stdin=reader,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ},
    )
    os.write(writer, b"9")
    while select.select([reader], [], [], 0)[0]:  # until the program has read it and waits for more
        time.sleep(0.01)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    os.close(writer)
    os.close(reader)

    assert process.returncode == status
    assert err == (b"Interrupted.\n" if number == signal.SIGINT else b"")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "Interrupted. Run the same command again to continue from here.\n"),
        (("--no-cache",), "Interrupted.\n"),
        (("-q",), ""),
    ],
)
def test_an_interrupt_during_a_request_shows_how_to_continue(
    alone: Cli, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], said: str
) -> None:
    def interrupt(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("entrez_kit.core.operation.DocumentOperation.compute", interrupt)
    done = alone("spell", "asthma", *more)

    assert done.status == 130
    assert (done.out, done.err) == ("", said)


@pytest.mark.process
@needs_full_device
@pytest.mark.parametrize("command", ["--help", "search --help", "guide output"])
def test_help_on_a_full_disk_ends_with_status_9(command: str) -> None:
    done = run_in_pipe(f"entrez-kit {command} >/dev/full")

    assert done.returncode == 9, done.stderr
    assert done.stderr.count("standard output cannot be written") == 1
    assert "INTERNAL_ERROR" not in done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        *("config set", "config show", "config unset", "config path", "doctor", "guide", "sandbox"),
        *("cache info", "cache clear", "cache prune", "gene search", "gene get", "gene pubmed"),
    ],
)
def test_help_shows_an_example_on_a_separate_line(alone: Cli, command: str) -> None:
    shown = [line.strip() for line in alone(*command.split(), "--help").out.splitlines()]

    examples = [line for line in shown if line.startswith(f"$ entrez-kit {command}")]
    assert examples
    assert not examples[0].endswith(".")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("search", "--sorty", "x"), "--sort"),
        (("search", "--sort-by", "pub_date"), "--sort"),
        (("search", "--max", "5"), "--max-results or --max-date"),
        (("fetch", "--form", "json"), "--format"),
        (("serch", "x"), "search"),
        (("corpus", "reindx"), "reindex"),
        (("search", "--xyzzy"), None),
        (("zzz",), None),
        (("gene", "lookup"), None),
    ],
)
def test_an_unknown_name_is_answered_with_a_similar_one_or_none(
    alone: Cli, words: tuple[str, ...], meant: str | None
) -> None:
    hint = read_envelope(alone(*words, "--json"))["recovery_hint"]

    assert hint == f"Did you mean {meant}?" if meant else hint.endswith(".")


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (("search", "--query-term", "x"), "search QUERY"),
        (("db", "search", "--db", "gene", "x"), "db search DB QUERY"),
        (("gene", "get", "--entrez-id", "1"), "gene get ID"),
    ],
)
def test_an_argument_typed_as_a_flag_is_answered_with_the_usage(alone: Cli, words: tuple[str, ...], usage: str) -> None:
    hint = read_envelope(alone(*words, "--json"))["recovery_hint"]

    assert hint.endswith(f" is given without a name: `entrez-kit {usage}`.")


@pytest.mark.parametrize(
    "words",
    [
        ("search", "crispr", "--all", "--offset", "5"),
        ("search", "crispr", "--json", "-f", "csv"),
        ("search", "crispr", "-o", "missing/out.csv"),
        ("search", "crispr", "--config", "missing.toml"),
        ("search", "crispr", "--nosuch"),
        ("doctor", "--save", "x"),
    ],
)
def test_a_wrong_call_has_a_reason_in_its_details(alone: Cli, words: tuple[str, ...]) -> None:
    assert read_envelope(alone(*words))["details"]["reason"]
