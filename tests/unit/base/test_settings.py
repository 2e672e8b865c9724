"""The sources of settings, rejected values, and hidden secrets."""

import os
import time
from dataclasses import fields
from pathlib import Path

import pytest
from platform_marks import needs_modes, needs_root
from pydantic import SecretStr
from settings_sources import CANARY, EMAIL, Sources

from entrez_kit.base.errors import NotConfigured
from entrez_kit.base.settings import (
    BY_NAME,
    CORPUS_FILE,
    PROJECT_FILE,
    SETTINGS,
    Setting,
    Settings,
    find_setting,
    find_similar_settings,
    get_default,
    load_settings,
)
from entrez_kit.base.toml_files import MAX_CONFIG_BYTES

# Precedence and origins


def test_a_setting_has_the_value_of_the_source_with_the_highest_precedence(sources: Sources) -> None:
    assert sources.load().ncbi_max_retries == 6
    assert "ncbi_max_retries" not in sources.load().origins

    sources.user_config("ncbi_max_retries = 5")
    assert (sources.load().ncbi_max_retries, sources.load().origins["ncbi_max_retries"]) == (5, "user config")

    sources.project_file("ncbi_max_retries = 4")
    loaded = sources.load()
    assert (loaded.ncbi_max_retries, loaded.origins["ncbi_max_retries"]) == (4, f"project file ({PROJECT_FILE})")

    loaded = sources.load(NCBI_MAX_RETRIES="3")
    assert (loaded.ncbi_max_retries, loaded.origins["ncbi_max_retries"]) == (3, "environment (NCBI_MAX_RETRIES)")

    loaded = sources.load({"ncbi_max_retries": 2}, NCBI_MAX_RETRIES="3")
    assert (loaded.ncbi_max_retries, loaded.origins["ncbi_max_retries"]) == (2, "flag")


def test_only_the_value_of_the_source_with_precedence_is_parsed(sources: Sources) -> None:
    sources.user_config('ncbi_max_retries = "many"')

    assert sources.load(NCBI_MAX_RETRIES="3").ncbi_max_retries == 3


@pytest.mark.parametrize("unset", ["", "   ", "${user_config.ncbi_api_key}", "${input:key}", "${}"])
def test_empty_texts_and_unfilled_placeholders_count_as_unset(sources: Sources, unset: str) -> None:
    sources.user_config(f'ncbi_max_retries = "{unset}"\nformat = "{unset}"')
    loaded = sources.load({"embeddings_model": unset}, NCBI_API_KEY=unset, NCBI_ADMIN_EMAIL=unset, MCP_HTTP_PORT=unset)

    assert loaded.ncbi_api_key is None
    assert loaded.ncbi_admin_email is None
    assert loaded.mcp_http_port == 3010
    assert loaded.ncbi_max_retries == 6
    assert loaded.format is None
    assert loaded.embeddings_model is None
    assert loaded.origins == {}


def test_an_empty_variable_does_not_hide_another_source(sources: Sources) -> None:
    sources.project_file("ncbi_timeout_ms = 12345")

    assert sources.load(NCBI_TIMEOUT_MS="").ncbi_timeout_ms == 12345


def test_none_as_an_override_counts_as_absent(sources: Sources) -> None:
    assert sources.load({"demo": None, "format": None}, ENTREZ_KIT_DEMO="yes").demo is True
    assert sources.load({"demo": False}, ENTREZ_KIT_DEMO="yes").demo is False


def test_the_second_name_of_the_email_is_accepted_and_the_first_has_precedence(sources: Sources) -> None:
    loaded = sources.load(NCBI_EMAIL="second@example.org")
    assert loaded.ncbi_admin_email == SecretStr("second@example.org")
    assert loaded.origins["ncbi_admin_email"] == "environment (NCBI_EMAIL)"

    both = sources.load(NCBI_EMAIL="second@example.org", NCBI_ADMIN_EMAIL="first@example.org")
    assert both.ncbi_admin_email == SecretStr("first@example.org")


def test_an_empty_first_name_does_not_hide_the_second(sources: Sources) -> None:
    assert sources.load(NCBI_EMAIL=EMAIL, NCBI_ADMIN_EMAIL="").ncbi_admin_email == SecretStr(EMAIL)


def test_the_environment_and_folder_of_the_process_are_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / PROJECT_FILE).write_text("ncbi_max_retries = 4", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NCBI_TIMEOUT_MS", "4321")

    assert (load_settings().ncbi_max_retries, load_settings().ncbi_timeout_ms) == (4, 4321)


def test_a_deleted_working_folder_is_not_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()

    assert load_settings({"cache_dir": "relative"}).ncbi_max_retries == 6


# What each source may set


@pytest.mark.parametrize("name", [setting.name for setting in SETTINGS if not setting.in_project_file])
def test_a_project_file_cannot_set_secrets_addresses_or_folders(sources: Sources, name: str) -> None:
    sources.project_file(f'{name} = "https://evil.example/entrez/eutils"')
    loaded = sources.load()

    assert name not in loaded.origins
    assert loaded.notes == (f"{PROJECT_FILE}: {name} is not taken from a project file; use {BY_NAME[name].variable}",)


IN_PROJECT = {setting.name: setting for setting in SETTINGS if setting.in_project_file}


def test_a_project_file_sets_only_listed_settings() -> None:
    numbers = {name for name, setting in IN_PROJECT.items() if setting.kind == "number"}

    assert IN_PROJECT.keys() - numbers == {"refresh", "no_cache", "verbose", "color", "format"}
    assert all(name.endswith(("_delay_ms", "_timeout_ms", "_deadline_ms", "_retries", "_ttl")) for name in numbers)
    assert all(IN_PROJECT[name].project_range for name in numbers)


@pytest.mark.parametrize("name", [name for name, setting in IN_PROJECT.items() if setting.project_range])
def test_a_project_file_sets_a_number_only_within_safe_bounds(sources: Sources, name: str) -> None:
    setting = IN_PROJECT[name]
    assert setting.project_range
    assert setting.low is not None
    assert setting.high is not None

    for number in {setting.low, setting.high, *setting.project_range}:
        sources.project_file(f"{name} = {number}")
        loaded = sources.load()
        if setting.project_range[0] <= number <= setting.project_range[1]:
            assert (getattr(loaded, name), loaded.notes) == (number, ())
        else:
            assert getattr(loaded, name) == get_default(name)
            (notice,) = loaded.notes
            assert notice.startswith(f"{PROJECT_FILE}: {name} ")
            assert setting.variable in notice


@pytest.mark.parametrize(
    "line",
    [
        "ncbi_max_retries = 0",
        "ncbi_timeout_ms = 100",
        "ncbi_total_deadline_ms = 500",
        "unpaywall_timeout_ms = 100",
        "europepmc_request_delay_ms = 50",
        "europepmc_max_retries = 0",
        "europepmc_timeout_ms = 100",
        "weaviate_timeout_ms = 100",
    ],
)
def test_a_project_file_cannot_weaken_requests_and_the_environment_can(sources: Sources, line: str) -> None:
    name, _, number = line.partition(" = ")
    sources.project_file(line)

    assert getattr(sources.load(), name) == get_default(name)
    assert getattr(sources.load(**{BY_NAME[name].variable: number}), name) == int(number)


@pytest.mark.parametrize(("seconds", "expected"), [(0, 0), (86_400, 86_400), (86_401, None), ("'315360000'", None)])
def test_a_project_file_cannot_cache_replies_longer_than_a_day(
    sources: Sources, seconds: object, expected: int | None
) -> None:
    sources.project_file(f"cache_ttl = {seconds}")
    loaded = sources.load()

    assert loaded.cache_ttl == expected
    assert len(loaded.notes) == (expected is None)


def test_the_user_may_cache_replies_longer_than_a_day(sources: Sources) -> None:
    sources.user_config("cache_ttl = 604800")

    assert sources.load().cache_ttl == 604_800


@needs_modes
@needs_root
def test_a_project_file_of_another_user_is_ignored_with_a_notice(sources: Sources) -> None:
    sources.project_file("ncbi_max_retries = 0")
    os.chown(sources.project / PROJECT_FILE, 12345, 12345)
    loaded = sources.load()

    assert loaded.ncbi_max_retries == 6
    assert loaded.notes == (f"{sources.project / PROJECT_FILE} belongs to another user; it is ignored",)


@needs_modes
@needs_root
@pytest.mark.parametrize("is_named", [False, True])
def test_a_user_config_of_another_user_is_ignored_with_a_notice(
    sources: Sources, is_named: bool, tmp_path: Path
) -> None:
    sources.user_config('eutils_url = "https://evil.example/entrez/eutils"')
    path = sources.user_file.rename(tmp_path / "named.toml") if is_named else sources.user_file
    os.chown(path, 12345, 12345)
    loaded = sources.load(ENTREZ_KIT_CONFIG=str(path)) if is_named else sources.load()

    assert loaded.eutils_url == get_default("eutils_url")
    assert loaded.notes == (f"{path} belongs to another user; it is ignored",)


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 60_000,
        "x = " + "9" * 10_000,
        "x = " + "{a=" * 20_000,
        "#" * 1_100_000,
        "a." * 30_000,
        "\x00",
        "x = 1e",
    ],
    ids=["deep", "long number", "deep tables", "large", "dotted", "zero", "broken"],
)
def test_a_hostile_project_file_is_one_error_without_a_traceback(sources: Sources, text: str) -> None:
    sources.project_file(text)
    with pytest.raises(NotConfigured) as caught:
        sources.load()

    assert caught.value.reason == "bad_toml"
    assert len(caught.value.message) < 1000


def test_a_project_file_of_thousands_of_settings_causes_a_page_of_notices(sources: Sources) -> None:
    sources.project_file("\n".join(f"unknown_setting_{number} = 1" for number in range(2_000)) + f"\n{'a' * 900} = 1")
    start = time.process_time()
    loaded = sources.load()

    assert len(loaded.notes) == 21
    assert all(len(notice) < 300 for notice in loaded.notes)
    assert time.process_time() - start < 10


def test_an_api_key_is_read_from_a_private_user_config(sources: Sources) -> None:
    sources.user_config(f'ncbi_api_key = "{CANARY}"')
    loaded = sources.load()

    assert loaded.ncbi_api_key == SecretStr(CANARY)
    assert loaded.notes == ()
    assert loaded.requests_per_second == 10


@needs_modes
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o602])
def test_an_api_key_in_a_user_config_that_others_can_read_is_ignored_with_a_notice(sources: Sources, mode: int) -> None:
    sources.user_config(f'ncbi_api_key = "{CANARY}"\nncbi_max_retries = 2\nncbi_admin_email = "{EMAIL}"', mode)
    loaded = sources.load()

    assert loaded.ncbi_api_key is None
    assert (loaded.ncbi_max_retries, loaded.ncbi_admin_email) == (2, SecretStr(EMAIL))
    assert loaded.notes == (
        f"{sources.user_file}: ncbi_api_key ignored because others can read the file; run chmod 600 on it",
    )


@pytest.mark.parametrize("name", ["home", "config_file"])
def test_a_user_config_cannot_set_its_own_folder(sources: Sources, name: str) -> None:
    sources.user_config(f'{name} = "/somewhere/else"')
    loaded = sources.load()

    assert name not in loaded.origins
    assert loaded.notes == (
        f"{sources.user_file}: {name} is not taken from the user config; use {BY_NAME[name].variable}",
    )


def test_unknown_keys_cause_a_notice_with_a_similar_name(sources: Sources) -> None:
    sources.user_config('ncbi_max_retrys = 3\nNCBI_TIMEOUT_MS = 1000\n[section]\nformat = "json"')
    sources.project_file("quite_different = 1")
    loaded = sources.load()

    assert loaded.ncbi_max_retries == 6
    assert loaded.notes == (
        f"{PROJECT_FILE}: unknown setting 'quite_different' ignored",
        f"{sources.user_file}: unknown setting 'ncbi_max_retrys' ignored; did you mean ncbi_max_retries?",
        f"{sources.user_file}: unknown setting 'NCBI_TIMEOUT_MS' ignored; write ncbi_timeout_ms",
        f"{sources.user_file}: unknown setting 'section' ignored",
    )


def test_an_unknown_override_is_rejected_with_a_similar_name(sources: Sources) -> None:
    with pytest.raises(NotConfigured, match=r"unknown setting: ncbi_key.*did you mean ncbi_api_key\?") as caught:
        sources.load({"ncbi_key": "x"})
    assert caught.value.exit_code == 8


def test_settings_are_found_by_field_and_variable_name() -> None:
    assert find_setting("ncbi_api_key") is find_setting("NCBI_API_KEY") is BY_NAME["ncbi_api_key"]
    assert find_setting("NCBI_EMAIL") is find_setting("ncbi-admin-email") is BY_NAME["ncbi_admin_email"]
    assert find_setting("entrez_kit_format") is find_setting("format") is BY_NAME["format"]
    assert find_setting("nothing") is None
    assert find_similar_settings("ENTREZ_KIT_FROMAT")[0] == "format"
    assert find_similar_settings("zzzzzz") == []


# Values


@pytest.mark.parametrize("setting", [item for item in SETTINGS if item.kind == "number"], ids=lambda item: item.name)
def test_numbers_are_accepted_up_to_their_bounds_and_rejected_outside_of_them(
    sources: Sources, setting: Setting
) -> None:
    assert setting.low is not None
    assert setting.high is not None
    for accepted in (setting.low, setting.high):
        assert getattr(sources.load(**{setting.variable: str(accepted)}), setting.name) == accepted
    for refused in (setting.low - 1, setting.high + 1):
        with pytest.raises(NotConfigured, match=f"{setting.variable} must be a whole number from"):
            sources.load(**{setting.variable: str(refused)})


@pytest.mark.parametrize("bad", ["many", "1.5", "1e3", "0x10", "٣", "9" * 5000, "--1", "1 2"])
def test_a_value_that_is_not_a_whole_number_is_rejected(sources: Sources, bad: str) -> None:
    with pytest.raises(NotConfigured, match="NCBI_MAX_RETRIES must be a whole number") as caught:
        sources.load(NCBI_MAX_RETRIES=bad)
    assert len(caught.value.message) < 400
    assert caught.value.recovery_hint.startswith("Correct NCBI_MAX_RETRIES")
    assert caught.value.details["origin"] == "environment (NCBI_MAX_RETRIES)"


@pytest.mark.parametrize("bad", ["true", "1.5", "[1]", "{a = 1}", "2024-01-01"])
def test_a_toml_value_of_the_wrong_type_is_rejected_with_the_file(sources: Sources, bad: str) -> None:
    sources.user_config(f"ncbi_max_retries = {bad}")

    with pytest.raises(NotConfigured, match=r"NCBI_MAX_RETRIES must be a whole number .* from the user config"):
        sources.load()


@pytest.mark.parametrize("name", ["ncbi_tool_identifier", "ncbi_api_key", "eutils_url", "cache_dir", "format"])
@pytest.mark.parametrize("bad", ["5", "true", "['a']"])
def test_a_toml_value_that_is_not_text_is_rejected_for_a_text_setting(sources: Sources, name: str, bad: str) -> None:
    sources.user_config(f"{name} = {bad}")

    with pytest.raises(NotConfigured, match="must be a string"):
        sources.load()


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("1", True), ("YES", True), ("on", True), ("False", False), ("0", False), ("no", False)],
)
def test_flags_are_accepted_in_their_usual_spellings(sources: Sources, text: str, value: bool) -> None:
    assert sources.load(EUROPEPMC_ENABLED=text).europepmc_enabled is value
    assert sources.load(ENTREZ_KIT_OFFLINE=f" {text} ").offline is value


def test_flags_and_choices_reject_other_words(sources: Sources) -> None:
    with pytest.raises(NotConfigured, match="ENTREZ_KIT_DEMO must be true or false"):
        sources.load(ENTREZ_KIT_DEMO="maybe")
    with pytest.raises(NotConfigured, match=r"ENTREZ_KIT_FORMAT must be one of: table, json, "):
        sources.load(ENTREZ_KIT_FORMAT="word")
    assert sources.load(ENTREZ_KIT_FORMAT="JSON", MCP_LOG_LEVEL="Warning").format == "json"


@pytest.mark.parametrize(
    "bad",
    [
        "eutils.ncbi.nlm.nih.gov/entrez/eutils",
        "ftp://host/entrez/eutils",
        "https:///entrez/eutils",
        "https://host/entrez/eutils?api_key=x",
        "https://host/entrez/eutils#x",
        "https://user:hunter2@host/entrez/eutils",
        "https://@host/entrez/eutils",
        "https://host:0/entrez/eutils",
        "https://host:port/entrez/eutils",
        "https://host:99999/entrez/eutils",
        "https://[::1/entrez/eutils",
        "https://ho st/entrez/eutils",
        "https://host/entrez",
        "https://user:hunter2@ho\u2100st/entrez/eutils",
    ],
)
def test_invalid_addresses_are_rejected_without_showing_a_password(sources: Sources, bad: str) -> None:
    with pytest.raises(NotConfigured, match="ENTREZ_KIT_EUTILS_URL") as caught:
        sources.load(ENTREZ_KIT_EUTILS_URL=bad)
    shown = f"{caught.value.envelope()} {caught.value.__context__!r} {caught.value.__cause__!r}"
    assert "hunter2" not in shown
    assert "api_key=x" not in shown


def test_an_address_is_stored_without_its_last_slash(sources: Sources) -> None:
    loaded = sources.load(ENTREZ_KIT_EUTILS_URL="http://127.0.0.1:8080/entrez/eutils/")

    assert loaded.eutils_url == "http://127.0.0.1:8080/entrez/eutils"


def test_paths_are_absolute_and_may_begin_with_the_home_folder(
    sources: Sources, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(sources.home))

    assert sources.load(ENTREZ_KIT_CACHE_DIR="here/cache").cache_dir == tmp_path / "here" / "cache"
    assert sources.load({"cache_dir": Path("there")}).cache_dir == tmp_path / "there"
    assert sources.load(ENTREZ_KIT_CACHE_DIR="~/mine").cache_dir == sources.home / "mine"


def test_values_of_the_tool_name_and_paths_that_would_break_a_request_or_a_file_are_rejected(sources: Sources) -> None:
    with pytest.raises(NotConfigured, match="NCBI_TOOL_IDENTIFIER must not contain spaces"):
        sources.load(NCBI_TOOL_IDENTIFIER="my tool")
    with pytest.raises(NotConfigured, match="NCBI_TOOL_IDENTIFIER must not contain control characters"):
        sources.load(NCBI_TOOL_IDENTIFIER="a\x1bb")
    with pytest.raises(NotConfigured, match="ENTREZ_KIT_CACHE_DIR must not contain control characters"):
        sources.load({"cache_dir": "a\0b"})


# Secrets


@pytest.mark.parametrize(
    ("variable", "bad"),
    [
        ("NCBI_API_KEY", f"{CANARY} {CANARY}"),
        ("NCBI_API_KEY", f"{CANARY}\n{CANARY}"),
        ("NCBI_API_KEY", f"{CANARY}é"),
        ("NCBI_ADMIN_EMAIL", CANARY),
        ("NCBI_ADMIN_EMAIL", f"{CANARY}@a@b"),
        ("UNPAYWALL_EMAIL", f"{CANARY} @example.org"),
    ],
)
def test_an_invalid_secret_is_rejected_without_being_shown(sources: Sources, variable: str, bad: str) -> None:
    with pytest.raises(NotConfigured, match=variable) as caught:
        sources.load(**{variable: bad})
    error = caught.value
    assert CANARY not in f"{error} {error.envelope()} {error.__context__!r} {error.__cause__!r} {error.args}"
    assert "[hidden]" in error.message


def test_no_text_of_the_settings_shows_a_secret(sources: Sources) -> None:
    secrets = {setting.variable: EMAIL if setting.kind == "email" else CANARY for setting in SETTINGS if setting.secret}
    loaded = sources.load(**secrets)

    for name in ("ncbi_api_key", "ncbi_admin_email", "openai_api_key", "weaviate_api_key", "mcp_auth_secret_key"):
        assert isinstance(getattr(loaded, name), SecretStr)
    shown = f"{loaded!r} {loaded} {vars(loaded)} {loaded.use_sandbox('http://127.0.0.1:1')!r}"
    assert CANARY not in shown
    assert EMAIL not in shown
    assert CANARY[-4:] not in shown


def test_a_secret_in_python_may_be_wrapped_or_plain(sources: Sources) -> None:
    for given in (CANARY, SecretStr(CANARY)):
        assert sources.load({"ncbi_api_key": given}).ncbi_api_key == SecretStr(CANARY)


# Files


@pytest.mark.parametrize("bad", [b"format = ", b"[[", b"format = 'json'\nformat = 'csv'", b"format = '\xff\xfe'"])
def test_an_invalid_toml_config_is_an_error_with_the_file(sources: Sources, bad: bytes) -> None:
    sources.user_config("")
    sources.user_file.write_bytes(bad)

    with pytest.raises(NotConfigured, match=r"config\.toml is not valid TOML") as caught:
        sources.load()
    assert str(sources.user_file) in caught.value.recovery_hint


def test_an_invalid_toml_project_file_is_an_error_too(sources: Sources) -> None:
    sources.project_file("format = ")

    with pytest.raises(NotConfigured, match=r"entrez-kit\.toml is not valid TOML"):
        sources.load()


def test_a_config_written_by_a_windows_editor_is_read(sources: Sources) -> None:
    sources.user_config("\ufeffncbi_max_retries = 2\r\n")

    assert sources.load().ncbi_max_retries == 2


def test_a_file_without_an_end_is_not_read_to_its_end(sources: Sources) -> None:
    sources.user_config("#" * (MAX_CONFIG_BYTES + 1))

    with pytest.raises(NotConfigured, match=f"larger than {MAX_CONFIG_BYTES} bytes"):
        sources.load()


def test_a_user_config_that_cannot_be_opened_causes_one_notice(sources: Sources) -> None:
    sources.user_file.mkdir(parents=True)
    loaded = sources.load()

    assert len(loaded.notes) == 1
    assert "is a folder; it is ignored" in loaded.notes[0]
    assert str(sources.user_file) in loaded.notes[0]


def test_a_named_config_replaces_the_users_own(sources: Sources, tmp_path: Path) -> None:
    sources.user_config("ncbi_max_retries = 5\nncbi_timeout_ms = 5000")
    other = tmp_path / "other.toml"
    other.write_text("ncbi_max_retries = 2", encoding="utf-8")

    for loaded in (
        load_settings(environ=sources.environ, working_dir=sources.project, config_file=other),
        sources.load(ENTREZ_KIT_CONFIG=str(other)),
        sources.load({"config_file": str(other)}, ENTREZ_KIT_CONFIG="/not/this/one"),
    ):
        assert (loaded.ncbi_max_retries, loaded.ncbi_timeout_ms, loaded.config_file) == (2, 30_000, other)


def test_a_named_config_must_exist_and_be_readable(sources: Sources, tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    with pytest.raises(NotConfigured, match=r"missing\.toml does not exist"):
        load_settings(environ=sources.environ, config_file=missing)
    with pytest.raises(NotConfigured, match=r"missing\.toml does not exist"):
        sources.load(ENTREZ_KIT_CONFIG=str(missing))
    with pytest.raises(NotConfigured, match="is a folder"):
        sources.load(ENTREZ_KIT_CONFIG=str(tmp_path))


# The table of settings


def test_every_setting_is_a_field_with_the_default_of_the_contract(sources: Sources) -> None:
    assert {setting.name for setting in SETTINGS} == {item.name for item in fields(Settings)} - {
        "state_dir",
        "copy_label",
        "origins",
        "notes",
    }
    loaded = sources.load()
    expected = {
        "ncbi_api_key": None,
        "ncbi_admin_email": None,
        "ncbi_request_delay_ms": None,
        "ncbi_max_retries": 6,
        "ncbi_timeout_ms": 30_000,
        "ncbi_total_deadline_ms": 60_000,
        "unpaywall_email": None,
        "europepmc_enabled": True,
        "europepmc_request_delay_ms": 200,
        "europepmc_max_retries": 3,
        "europepmc_timeout_ms": 20_000,
        "weaviate_class": "PubMedChunk",
        "mcp_transport_type": "stdio",
        "mcp_http_host": "127.0.0.1",
        "mcp_http_port": 3010,
        "mcp_log_level": "info",
    }
    assert {name: getattr(loaded, name) for name in expected} == expected
    assert loaded.ncbi_tool_identifier.startswith("entrez-kit/")
    assert loaded.requests_per_second == 3
    assert get_default("mcp_http_port") == 3010


def test_variables_are_unique_and_every_setting_has_help() -> None:
    variables = [variable for setting in SETTINGS for variable in setting.variables]

    assert len(variables) == len(set(variables))
    assert all(setting.help.endswith(".") for setting in SETTINGS)


def test_the_sandbox_gets_its_own_addresses_and_folders(sources: Sources) -> None:
    loaded = sources.load(NCBI_API_KEY=CANARY)
    demo = loaded.use_sandbox("http://127.0.0.1:4321")
    addresses = {setting.name for setting in SETTINGS if setting.kind == "url"} - {"weaviate_url", "openai_url"}
    folders = {"cache_dir", "data_dir", "state_dir"}

    assert demo.demo is True
    assert (demo.embeddings, demo.weaviate_url) == ("none", None)
    assert all(getattr(demo, name).startswith("http://127.0.0.1:4321/") for name in addresses)
    assert all(getattr(demo, name) == getattr(loaded, name) / "demo" for name in folders)
    changed = {item.name for item in fields(Settings) if getattr(demo, item.name) != getattr(loaded, item.name)}
    assert changed == {"demo", "origins", "unpaywall_email"} | folders | addresses
    kept_away = {"embeddings", "weaviate_url"}  # the demo sends requests only to the sandbox
    named = changed - {"demo", "origins", "state_dir"}
    assert {name for name, origin in demo.origins.items() if origin == "sandbox"} == named | kept_away
    assert demo.origins["ncbi_api_key"] == loaded.origins["ncbi_api_key"]


def test_a_read_only_corpus_is_still_read(sources: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entrez_kit.base.settings.can_write", lambda folder: False)
    home = tmp_path / "archive"
    (home / "data").mkdir(parents=True)
    without = sources.load(ENTREZ_KIT_HOME=str(home))
    (home / "data" / CORPUS_FILE).write_bytes(b"")
    with_one = sources.load(ENTREZ_KIT_HOME=str(home))

    assert without.data_dir != home / "data"
    assert with_one.data_dir == home / "data"
    assert with_one.cache_dir != home / "cache"
