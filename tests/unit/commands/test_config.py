"""`entrez-kit config`: shown and written values; no secret is shown."""

import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, RunResult, read_error
from platform_marks import needs_home_variable, needs_modes, needs_terminal
from program_streams import run_on_terminal

from entrez_kit.base.settings import SETTINGS, load_settings

CANARY = "canary0123456789abcdef"
EMAIL = "canary.person@example.org"


@pytest.fixture
def config() -> Path:
    return Path.home() / ".config" / "entrez-kit" / "config.toml"


def write(config: Path, text: str, mode: int = 0o600) -> None:
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(text, encoding="utf-8")
    config.chmod(mode)


def read_config(config: Path) -> dict[str, Any]:
    return tomllib.loads(config.read_text(encoding="utf-8"))


def find_setting(ended: RunResult, name: str) -> tuple[Any, str]:
    (setting,) = [item for item in ended.document["settings"] if item["name"] == name]
    return setting["value"], setting["origin"]


# show


def test_show_lists_every_setting_with_its_value_and_origin(
    main: Cli, config: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(config, "ncbi_max_retries = 2")
    (tmp_path / "entrez-kit.toml").write_text("ncbi_timeout_ms = 12345", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ENTREZ_KIT_EMBEDDINGS", "openai")
    ended = main("config", "show", "--offline")

    assert ended.status == 0
    assert [item["name"] for item in ended.document["settings"]] == [setting.name for setting in SETTINGS]
    assert find_setting(ended, "ncbi_max_retries") == (2, "user config")
    assert find_setting(ended, "ncbi_timeout_ms") == (12345, "project file (entrez-kit.toml)")
    assert find_setting(ended, "embeddings") == ("openai", "environment (ENTREZ_KIT_EMBEDDINGS)")
    assert find_setting(ended, "offline") == (True, "flag")
    assert find_setting(ended, "mcp_http_port") == (3010, "default")
    assert find_setting(ended, "format") == (None, "default")
    assert ended.document["config_file"] == str(config)
    assert ended.document["config_file_exists"] is True


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "tsv", "table"])
def test_show_masks_secrets_and_email_addresses_in_every_format(
    main: Cli, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    for setting in SETTINGS:
        if setting.secret:
            monkeypatch.setenv(setting.variable, EMAIL if setting.kind == "email" else CANARY)
    ended = main("config", "show", "-f", form)

    assert ended.status == 0
    assert CANARY[-4:] not in ended.out + ended.err
    assert "canary" not in ended.out + ended.err
    assert ended.out.count("********") == len([setting for setting in SETTINGS if setting.secret])


def test_show_lists_ignored_settings(main: Cli, config: Path) -> None:
    write(config, f'ncbi_api_key = "{CANARY}"\nnonsense = 1', mode=0o644)
    ended = main("config", "show")

    assert ended.status == 0
    assert find_setting(ended, "ncbi_api_key") == (None, "default")
    assert len(ended.document["notices"]) == (1 if sys.platform == "win32" else 2)
    assert CANARY not in ended.out + ended.err
    assert "nonsense" in ended.err


def test_show_accepts_names_and_rejects_unknown_ones(main: Cli) -> None:
    ended = main("config", "show", "format", "NCBI_API_KEY")
    assert [item["name"] for item in ended.document["settings"]] == ["format", "ncbi_api_key"]

    ended = main("config", "show", "ncbi_api_kee")
    assert (ended.status, ended.out) == (2, "")
    assert read_error(ended)["code"] == "INVALID_INPUT"
    assert "ncbi_api_key" in read_error(ended)["recovery_hint"]


def test_show_names_an_invalid_setting(main: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCBI_MAX_RETRIES", "many")
    ended = main("config", "show")

    assert ended.status == 8
    assert read_error(ended)["code"] == "NOT_CONFIGURED"
    assert "NCBI_MAX_RETRIES" in read_error(ended)["message"]


@pytest.mark.long
@needs_terminal
@pytest.mark.parametrize("columns", [80, 200])
def test_show_fits_the_terminal(columns: int) -> None:
    ended = run_on_terminal("config", "show", columns=columns)

    assert ended.status == 0
    assert "ncbi_request_delay_ms" in ended.out
    assert max(len(line) for line in ended.out.splitlines()) <= columns


# set


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("ncbi_max_retries", "3", 3),
        ("NCBI_MAX_RETRIES", " 3 ", 3),
        ("ENTREZ_KIT_FORMAT", "JSONL", "jsonl"),
        ("europepmc_enabled", "no", False),
        ("NCBI_EMAIL", EMAIL, EMAIL),
        ("ncbi-tool-identifier", "mytool", "mytool"),
        ("eutils_url", "http://127.0.0.1:8080/entrez/eutils/", "http://127.0.0.1:8080/entrez/eutils"),
    ],
)
def test_set_writes_the_value_with_its_type(main: Cli, config: Path, name: str, given: str, kept: Any) -> None:
    ended = main("config", "set", name, given)

    assert ended.status == 0
    assert list(read_config(config).values()) == [kept]
    assert ended.document["config_file"] == str(config)
    assert ended.document["change"] == "set"
    assert list(load_settings().origins.values()) == ["user config"]
    assert EMAIL not in ended.out + ended.err


def test_set_writes_absolute_paths(main: Cli, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    main("config", "set", "cache_dir", "here")

    assert read_config(config) == {"cache_dir": str(tmp_path / "here")}


def test_set_does_not_change_comments_order_and_other_settings(main: Cli, config: Path) -> None:
    write(config, "# mine\nformat = 'csv'  # keep\n\nncbi_max_retries = 1 # few\nstray = 5\n\n[table]\nx = 1\n")
    main("config", "set", "ncbi_max_retries", "4")
    main("config", "set", "ncbi_timeout_ms", "5000")

    text = config.read_text(encoding="utf-8")
    assert text.startswith("# mine\nformat = 'csv'  # keep\n\nncbi_max_retries = 4 # few\nstray = 5\n")
    assert read_config(config) == {
        "format": "csv",
        "ncbi_max_retries": 4,
        "stray": 5,
        "ncbi_timeout_ms": 5000,
        "table": {"x": 1},
    }


@needs_modes
def test_set_creates_a_file_and_a_folder_that_only_the_owner_can_read(main: Cli, config: Path) -> None:
    main("config", "set", "format", "json")
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert stat.S_IMODE(config.parent.stat().st_mode) == 0o700

    config.chmod(0o644)
    main("config", "set", "format", "csv")
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert [path.name for path in config.parent.iterdir()] == ["config.toml"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_set_writes_through_a_link(main: Cli, config: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("format = 'csv'\n", encoding="utf-8")
    config.parent.mkdir(parents=True)
    config.symlink_to(real)
    main("config", "set", "ncbi_max_retries", "1")

    assert config.is_symlink()
    assert read_config(real) == {"format": "csv", "ncbi_max_retries": 1}


def test_set_writes_to_the_named_file(main: Cli, config: Path, tmp_path: Path) -> None:
    named = tmp_path / "new" / "named.toml"
    ended = main("config", "set", "--config", str(named), "format", "json")

    assert ended.status == 0
    assert read_config(named) == {"format": "json"}
    assert not config.exists()


@pytest.mark.parametrize(
    ("name", "given", "text"),
    [
        ("ncbi_max_retries", "99", "from 0 to 10 (got '99')"),
        ("ncbi_max_retries", "many", "whole number"),
        ("format", "word", "one of: table, json"),
        ("europepmc_enabled", "perhaps", "true or false"),
        ("eutils_url", "http://me:hunter2@host/entrez/eutils", "without user"),
        ("ncbi_admin_email", "nobody", "an e-mail address"),
        ("format", "", "empty"),
        ("home", "~/other", "cannot set it"),
        ("config_file", "~/other.toml", "cannot set it"),
    ],
)
def test_set_rejects_values_that_the_setting_rejects(main: Cli, config: Path, name: str, given: str, text: str) -> None:
    ended = main("config", "set", name, given)

    assert (ended.status, ended.out) == (2, "")
    assert read_error(ended)["code"] == "INVALID_INPUT"
    assert text in read_error(ended)["message"]
    assert "hunter2" not in ended.err
    assert not config.exists()


def test_set_rejects_unknown_names_with_a_similar_one(main: Cli, config: Path) -> None:
    ended = main("config", "set", "ncbi_max_retry", "3")

    assert ended.status == 2
    assert read_error(ended)["recovery_hint"].startswith("Did you mean ncbi_max_retries")
    assert not config.exists()


def test_set_rejects_a_name_without_a_value_and_two_values(main: Cli) -> None:
    assert "missing" in read_error(main("config", "set", "format"))["message"]
    assert "takes one value" in read_error(main("config", "set", "format", "json", "csv"))["message"]


def test_set_reports_if_another_source_hides_the_value(
    main: Cli, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCBI_MAX_RETRIES", "9")
    ended = main("config", "set", "ncbi_max_retries", "3")

    assert ended.status == 0
    assert read_config(config) == {"ncbi_max_retries": 3}
    assert ended.document["origin"] == "environment (NCBI_MAX_RETRIES)"
    assert "overrides the user config" in ended.err


# Secrets


@pytest.mark.parametrize("values", [[CANARY], [CANARY, "more"], ["-", CANARY]])
def test_a_secret_on_the_command_line_is_rejected_and_not_repeated(main: Cli, config: Path, values: list[str]) -> None:
    ended = main("config", "set", "ncbi_api_key", *values)

    assert (ended.status, ended.out) == (2, "")
    assert CANARY not in ended.err
    assert "config set ncbi_api_key" in read_error(ended)["recovery_hint"]
    assert not config.exists()


@pytest.mark.parametrize("arguments", [["-"], []])
def test_a_secret_is_read_from_stdin(main: Cli, config: Path, arguments: list[str]) -> None:
    ended = main("config", "set", "NCBI_API_KEY", *arguments, stdin=f"{CANARY}\n".encode())

    assert ended.status == 0
    assert read_config(config) == {"ncbi_api_key": CANARY}
    assert CANARY not in ended.out + ended.err
    assert ended.document["value"] == "********"
    key = load_settings().ncbi_api_key
    assert key is not None
    assert key.get_secret_value() == CANARY


@pytest.mark.parametrize("stdin", [b"", b"\n", f"{CANARY} {CANARY}".encode(), b"x" * 20_000])
def test_an_invalid_secret_on_stdin_is_rejected(main: Cli, config: Path, stdin: bytes) -> None:
    ended = main("config", "set", "ncbi_api_key", "-", stdin=stdin)

    assert (ended.status, ended.out) == (2, "")
    assert CANARY not in ended.err
    assert not config.exists()


def test_any_value_may_be_read_from_stdin(main: Cli, config: Path) -> None:
    main("config", "set", "format", "-", stdin=b"csv\n")

    assert read_config(config) == {"format": "csv"}


@needs_terminal
def test_on_a_terminal_the_input_of_a_secret_is_not_shown(config: Path) -> None:
    ended = run_on_terminal("config", "set", "ncbi_api_key", typed=f"{CANARY}\n", after="ncbi_api_key: ")

    assert ended.status == 0
    assert read_config(config) == {"ncbi_api_key": CANARY}
    assert CANARY not in ended.out
    assert "********" in ended.out


@needs_terminal
def test_an_interrupt_at_the_question_changes_nothing(config: Path) -> None:
    ended = run_on_terminal("config", "set", "ncbi_api_key", typed="\x03", after="ncbi_api_key: ")

    assert ended.status == 130
    assert not config.exists()


# unset


def test_unset_removes_a_setting_and_does_not_change_the_others(main: Cli, config: Path) -> None:
    write(config, "# mine\nformat = 'csv'\nncbi_max_retries = 1\n")
    ended = main("config", "unset", "NCBI_MAX_RETRIES")

    assert (ended.status, ended.document["change"]) == (0, "unset")
    assert config.read_text(encoding="utf-8") == "# mine\nformat = 'csv'\n"


def test_unset_of_an_absent_setting_ends_with_status_0(main: Cli, config: Path) -> None:
    ended = main("config", "unset", "format")

    assert (ended.status, ended.document["change"]) == (0, "unchanged")
    assert "is not set" in ended.err
    assert not config.exists()


def test_unset_repairs_a_config_with_an_invalid_value_or_an_unknown_name(main: Cli, config: Path) -> None:
    write(config, "ncbi_max_retries = 99\nstray = 1\n")
    assert main("config", "show").status == 8

    assert main("config", "unset", "stray").status == 0
    assert main("config", "unset", "ncbi_max_retries").status == 0
    assert read_config(config) == {}
    assert main("config", "show").status == 0


def test_set_works_with_an_invalid_value_of_another_setting_and_reports_it(main: Cli, config: Path) -> None:
    write(config, "ncbi_max_retries = 99\n")
    ended = main("config", "set", "format", "json")

    assert ended.status == 0
    assert read_config(config) == {"ncbi_max_retries": 99, "format": "json"}
    assert "NCBI_MAX_RETRIES" in ended.err


def test_unset_rejects_unknown_names(main: Cli) -> None:
    assert main("config", "unset", "nonsense").status == 2


# Files that cannot be used


def test_an_invalid_toml_config_is_not_changed(main: Cli, config: Path) -> None:
    text = f"format = \nncbi_api_key = '{CANARY}' x\n"
    write(config, text)
    for arguments in (("set", "ncbi_max_retries", "3"), ("unset", "format")):
        ended = main("config", *arguments)

        assert ended.status == 8
        assert read_error(ended)["code"] == "NOT_CONFIGURED"
        assert "is not valid TOML (line 1)" in read_error(ended)["message"]
        assert CANARY not in ended.err
    assert config.read_text(encoding="utf-8") == text


def test_a_config_folder_that_cannot_be_created_ends_with_status_9(main: Cli, tmp_path: Path, config: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    ended = main("config", "set", "--config", str(file / "config.toml"), "format", "json")

    assert (ended.status, ended.out) == (9, "")
    assert read_error(ended)["code"] == "STORE_ERROR"


def test_on_a_full_disk_the_old_config_is_not_changed(main: Cli, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(config, "format = 'csv'\n")

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    ended = main("config", "set", "format", "json")

    assert ended.status == 9
    assert "No space left" in read_error(ended)["message"]
    assert config.read_text(encoding="utf-8") == "format = 'csv'\n"
    assert [path.name for path in config.parent.iterdir()] == ["config.toml"]


@needs_home_variable
@pytest.mark.parametrize("arguments", [("set", "format", "json"), ("unset", "format"), ("path",)])
def test_without_a_home_no_config_can_be_written(
    main: Cli, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("HOME", "/nonexistent")
    ended = main("config", *arguments)

    assert ended.status == 8
    assert "ENTREZ_KIT_HOME" in read_error(ended)["recovery_hint"]


@needs_home_variable
def test_without_a_home_settings_are_shown_with_one_notice(main: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    ended = main("config", "show")

    assert ended.status == 0
    assert ended.document["config_file"] is None
    assert len(ended.document["notices"]) == 1
    assert ended.err.count("ENTREZ_KIT_HOME") == 1


# path


def test_path_prints_only_the_path_into_a_pipe(main: Cli, config: Path, tmp_path: Path) -> None:
    assert main("config", "path").out == f"{config}\n"
    assert main("config", "path", "--json").document == {"config_file": str(config), "exists": False}
    assert main("config", "path", "--config", str(tmp_path / "x.toml")).out == f"{tmp_path / 'x.toml'}\n"


def test_path_works_with_an_invalid_setting(main: Cli, monkeypatch: pytest.MonkeyPatch, config: Path) -> None:
    monkeypatch.setenv("NCBI_MAX_RETRIES", "many")

    assert main("config", "path").out == f"{config}\n"
