"""Settings and load_settings: the only reader of the environment.

Each setting comes from the first of: explicit override (a flag), environment, project file ``entrez-kit.toml``, user
config, default. An empty value counts as unset. Another person may have written the project file: it sets only the
settings with ``in_project_file`` or ``project_range``, and numbers only within that range. A user config of another
user is ignored. Keys and tokens come from a user config only if its owner alone can read it.
"""

import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import IO, Any, Final, Literal, TypeVar, get_args
from urllib.parse import urlsplit

from pydantic import SecretStr

from entrez_kit.base import __version__
from entrez_kit.base.errors import InvalidInput, NotConfigured, describe_os_error
from entrez_kit.base.frontend_text import (
    Argument,
    FrontendText,
    PerFrontend,
    cut_end,
    describe_wrong_value,
    join_with,
    list_choices,
    name_guide,
)
from entrez_kit.base.output_formats import FORMATS
from entrez_kit.base.private_files import can_write, find_platform_folder, find_temporary_folder, is_foreign

PROJECT_FILE: Final = "entrez-kit.toml"
USER_FILE: Final = "config.toml"
KIT: Final = "entrez_kit_"
"""Prefix of the variables of this program's own settings."""
MAX_IGNORED_NAMED: Final = 20
MAX_NAME: Final = 60

SANDBOX_ORIGIN: Final = "sandbox"
COPY_ORIGIN: Final = "local copy"
DEMO_URL: Final = "http://127.0.0.1:9"
"""The address of the demo in documents. No program listens there: the demo answers in the process that asks."""
SANDBOX_EMAIL: Final = "demo@entrez-kit.invalid"
DEMO_WARNING: Final = "Demo: the answer comes from the bundled sandbox with invented articles, not from NCBI."

Kind = Literal["text", "secret", "email", "flag", "number", "url", "path", "choice"]

EUTILS_URL: Final = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
IDCONV_URL: Final = "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles"
EUROPEPMC_URL: Final = "https://www.ebi.ac.uk/europepmc/webservices/rest"
UNPAYWALL_URL: Final = "https://api.unpaywall.org/v2"
PMC_OA_URL: Final = "https://pmc-oa-opendata.s3.amazonaws.com"
PUBMED_FILES_URL: Final = "https://ftp.ncbi.nlm.nih.gov/pubmed"
CROSSREF_URL: Final = "https://api.crossref.org"
OPENALEX_URL: Final = "https://api.openalex.org"
OPENAI_URL: Final = "https://api.openai.com/v1"
CORPUS_FILE: Final = "corpus.db"


LOG_LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

MAX_PROJECT_CACHE_TTL: Final = 24 * 3600
"""One day in seconds. A longer time would hide new retractions from people who work in the folder."""

MAX_CACHE_TTL: Final = 10 * 365 * 24 * 3600
"""Ten years in seconds; without a limit, date arithmetic overflows."""


@dataclass(frozen=True)
class Setting:
    """How one setting is read, limited and explained; ``Settings`` has its type and default.

    Kind and variable follow from the type and the name by default. A project file sets a number only within
    ``project_range``, and another setting only with ``in_project_file``. ``is_recorded`` marks settings that change
    which requests a call sends, or what it prints: a replay uses their recorded values. Of keys and e-mail addresses,
    a recording has only the names.
    """

    help: str
    kind: Kind = "text"
    prefix: str = ""
    variable: str = ""
    aliases: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()
    in_project_file: bool = False
    project_range: tuple[int, int] | None = None
    in_user_file: bool = True
    is_recorded: bool = False
    name: str = ""

    @property
    def secret(self) -> bool:
        """Whether every output masks the value."""
        return self.kind in ("secret", "email")

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that set it, in order of precedence."""
        return (self.variable, *self.aliases)


def define_setting(help: str, default: Any = None, **how: Any) -> Any:
    """Return a field of ``Settings`` with its default and its ``Setting``."""
    return field(default=default, metadata={"setting": Setting(help, **how)})


@dataclass(frozen=True)
class Settings:
    """Every setting with its type, default and ``Setting``; ``load_settings`` builds it once.

    A new setting needs one row here; ``.ci/generate.py`` writes the guide.

    A time is in milliseconds if its name ends in ``_ms``, otherwise in seconds. ``config_file`` is the path of the user
    config, which may not exist; without a home folder it is None. ``origins`` has the source of each value that is not
    a default. ``notes`` are messages for the user, such as a config file that cannot be read. ``state_dir`` has the
    state of the rate limiter. It does not depend on the other folders, because NCBI counts requests by machine and key.
    ``copy_label`` is the name, date and hash of the opened copy of PubMed.
    """

    ncbi_api_key: SecretStr | None = define_setting(
        "NCBI API key: 10 requests per second instead of 3.", is_recorded=True
    )
    ncbi_admin_email: SecretStr | None = define_setting(
        "E-mail address at which NCBI can contact you.", kind="email", aliases=("NCBI_EMAIL",), is_recorded=True
    )
    ncbi_tool_identifier: str = define_setting(
        "Name of the tool, sent with every request.", f"entrez-kit/{__version__}"
    )
    ncbi_request_delay_ms: int | None = define_setting(
        "Minimum delay between requests; it can only slow them down.", low=50, high=5000, project_range=(50, 5000)
    )
    ncbi_max_retries: int = define_setting("Retries after a failed request.", 6, low=0, high=10, project_range=(3, 10))
    ncbi_timeout_ms: int = define_setting(
        "Timeout of one HTTP request.", 30_000, low=100, high=120_000, project_range=(10_000, 120_000)
    )
    ncbi_total_deadline_ms: int = define_setting(
        "Timeout of one E-utility request, including queueing and retries.",
        60_000,
        low=500,
        high=600_000,
        project_range=(30_000, 600_000),
    )
    unpaywall_email: SecretStr | None = define_setting(
        "E-mail address that Unpaywall requires; without it Unpaywall is off.", kind="email", is_recorded=True
    )
    unpaywall_timeout_ms: int = define_setting(
        "Timeout of one Unpaywall request.", 20_000, low=100, high=120_000, project_range=(10_000, 120_000)
    )
    europepmc_enabled: bool = define_setting("Whether requests to Europe PMC are allowed.", True, is_recorded=True)
    europepmc_request_delay_ms: int = define_setting(
        "Minimum delay between Europe PMC requests.", 200, low=50, high=5000, project_range=(200, 5000)
    )
    europepmc_max_retries: int = define_setting(
        "Retries after a failed Europe PMC request.", 3, low=0, high=10, project_range=(3, 10)
    )
    europepmc_timeout_ms: int = define_setting(
        "Timeout of one Europe PMC request.", 20_000, low=100, high=120_000, project_range=(10_000, 120_000)
    )
    crossref_email: SecretStr | None = define_setting(
        "E-mail address for Crossref: 10 requests per second instead of 5.", kind="email", is_recorded=True
    )
    openalex_api_key: SecretStr | None = define_setting(
        "OpenAlex API key: 50 DOIs per request instead of one.", is_recorded=True
    )
    retraction_watch: Path | None = define_setting("CSV file of the Retraction Watch database for `check`.", prefix=KIT)
    check_sources: str | None = define_setting(
        "Sources that `check` queries for retractions, comma-separated.", prefix=KIT, is_recorded=True
    )
    openai_api_key: SecretStr | None = define_setting("Key for the openai embeddings provider.")
    weaviate_url: str | None = define_setting("Address of a Weaviate server.", kind="url")
    weaviate_api_key: SecretStr | None = define_setting("Key of the Weaviate server.")
    weaviate_class: str = define_setting("Weaviate collection for the passages of the corpus.", "PubMedChunk")
    weaviate_grpc_port: int | None = define_setting(
        "gRPC port of the Weaviate server; if unset 50051, or 443 for Weaviate Cloud.",
        low=1,
        high=65535,
    )
    weaviate_timeout_ms: int = define_setting(
        "Timeout of one Weaviate request.", 30_000, low=100, high=600_000, project_range=(10_000, 600_000)
    )
    mcp_transport_type: str = define_setting("Transport of `serve`.", "stdio", choices=("stdio", "http"))
    mcp_http_host: str = define_setting("Address `serve` listens on.", "127.0.0.1")
    mcp_http_port: int = define_setting("Port `serve` listens on.", 3010, low=0, high=65535)
    mcp_allowed_origins: str | None = define_setting("Origins allowed to call `serve`, comma-separated.")
    mcp_auth_secret_key: SecretStr | None = define_setting("Secret that signs bearer tokens, at least 32 bytes.")
    mcp_log_level: str = define_setting("Minimum severity of log messages.", "info", choices=LOG_LEVELS)
    logs_dir: Path | None = define_setting("Folder for rotating log files (JSON lines); without it no file is written.")
    otel_exporter_otlp_endpoint: str | None = define_setting(
        "OpenTelemetry collector that receives spans; needs entrez-kit[otel]."
    )
    config_file: Path | None = define_setting("User config to read.", variable="ENTREZ_KIT_CONFIG", in_user_file=False)
    home: Path | None = define_setting(
        "One folder for config, cache and data, instead of the platform's folders.", prefix=KIT, in_user_file=False
    )
    cache_dir: Path = define_setting("Folder of the HTTP cache.", Path(), prefix=KIT)
    data_dir: Path = define_setting("Folder of the corpus.", Path(), prefix=KIT)
    cache_ttl: int | None = define_setting(
        "Lifetime of cached replies in seconds, instead of a time per service.",
        prefix=KIT,
        low=0,
        high=MAX_CACHE_TTL,
        project_range=(0, MAX_PROJECT_CACHE_TTL),
    )
    demo: bool = define_setting("Answer from the bundled sandbox, with invented articles.", False, prefix=KIT)
    local: str | None = define_setting("Local copy of PubMed that answers, without requests.", prefix=KIT)
    offline: bool = define_setting("Answer from the cache and the corpus only.", False, prefix=KIT, is_recorded=True)
    refresh: bool = define_setting(
        "Request everything again and replace cached replies.",
        False,
        prefix=KIT,
        in_project_file=True,
        is_recorded=True,
    )
    no_cache: bool = define_setting(
        "Neither read nor write the cache.", False, prefix=KIT, in_project_file=True, is_recorded=True
    )
    quiet: bool = define_setting("No notes on stderr.", False, prefix=KIT, is_recorded=True)
    verbose: bool = define_setting(
        "Request ids, timings and cache hits on stderr.", False, prefix=KIT, in_project_file=True
    )
    color: str = define_setting(
        "When to use color.", "auto", prefix=KIT, choices=("auto", "always", "never"), in_project_file=True
    )
    format: str | None = define_setting(
        "Output format.",
        prefix=KIT,
        choices=tuple(format_.name for format_ in FORMATS if format_.can_be_default),
        in_project_file=True,
        is_recorded=True,
    )
    embeddings: str = define_setting(
        "Embeddings provider of the corpus.",
        "none",
        prefix=KIT,
        choices=("none", "openai", "hf"),
    )
    embeddings_model: str | None = define_setting("Model of the embeddings provider.", prefix=KIT)
    embeddings_query_model: str | None = define_setting(
        "Separate query encoder, if the model has one (hf only).", prefix=KIT
    )
    eutils_url: str = define_setting(
        "Base address of the E-utilities; ends in /entrez/eutils.", EUTILS_URL, kind="url", prefix=KIT, is_recorded=True
    )
    idconv_url: str = define_setting(
        "Address of the PMC ID Converter.", IDCONV_URL, kind="url", prefix=KIT, is_recorded=True
    )
    europepmc_url: str = define_setting(
        "Base address of Europe PMC.", EUROPEPMC_URL, kind="url", prefix=KIT, is_recorded=True
    )
    unpaywall_url: str = define_setting(
        "Base address of Unpaywall.", UNPAYWALL_URL, kind="url", prefix=KIT, is_recorded=True
    )
    pmc_oa_url: str = define_setting(
        "Base address of PMC's open-data bucket.", PMC_OA_URL, kind="url", prefix=KIT, is_recorded=True
    )
    pubmed_files_url: str = define_setting(
        "Base address of NLM's PubMed files (baseline, updatefiles).", PUBMED_FILES_URL, kind="url", prefix=KIT
    )
    crossref_url: str = define_setting(
        "Base address of Crossref.", CROSSREF_URL, kind="url", prefix=KIT, is_recorded=True
    )
    openalex_url: str = define_setting(
        "Base address of OpenAlex.", OPENALEX_URL, kind="url", prefix=KIT, is_recorded=True
    )
    openai_url: str = define_setting("Base address of OpenAI.", OPENAI_URL, kind="url", prefix=KIT)
    state_dir: Path = Path()
    copy_label: str = ""
    origins: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def requests_per_second(self) -> int:
        """NCBI's limit for this user: 10 with an API key, else 3."""
        return 10 if self.ncbi_api_key else 3

    @property
    def secrets(self) -> list[str]:
        """The keys, tokens and e-mail addresses, which no output may show."""
        return [*self.keys, *self._list_values("email")]

    @property
    def keys(self) -> list[str]:
        """The keys and tokens."""
        return self._list_values("secret")

    def _list_values(self, kind: Literal["secret", "email"]) -> list[str]:
        values = (getattr(self, setting.name) for setting in SETTINGS if setting.kind == kind)
        return [value.get_secret_value() for value in values if value is not None]

    @property
    def demo_warning(self) -> str | None:
        """The warning for every answer if the user requested the demo; None for a caller with its own sandbox."""
        return DEMO_WARNING if self.demo and "demo" in self.origins else None

    @property
    def answers_in_process(self) -> bool:
        """Whether this process answers all requests itself, and sends none."""
        origin = self.origins.get("eutils_url")
        is_demo = self.demo and origin == SANDBOX_ORIGIN and self.eutils_url.startswith(f"{DEMO_URL}/")
        return is_demo or origin == COPY_ORIGIN

    def answer_warning(self, fidelity: str = "") -> tuple[str, str] | None:
        """Return code and text of the warning that every answer of the demo or of a local copy has.

        Args:
            fidelity: the fidelity of the answer of a copy; empty if it has not answered.
        """
        if self.copy_label:
            suffix = (
                f" answered, and no request was sent. Fidelity: {fidelity}." if fidelity else "; no request is sent."
            )
            return "local", f"Local copy: {self.copy_label}{suffix}"
        return ("demo", self.demo_warning) if self.demo_warning else None

    def prepare(self) -> "Settings":
        """Return the settings to use: with addresses that lead nowhere if the demo or a local copy answers.

        Raises:
            InvalidInput: both are requested.
        """
        if self.origins.get("eutils_url") in (SANDBOX_ORIGIN, COPY_ORIGIN):
            return self
        demo, local = self.demo, self.local
        if demo and local:  # a flag is stronger than a variable
            flagged = [self.origins.get(name) == "flag" for name in ("demo", "local")]
            if flagged[0] == flagged[1]:
                raise InvalidInput(
                    FrontendText(Argument("demo"), " cannot be used with ", Argument("local"), "."),
                    invalid_input=f"local={local}",
                    recovery_hint="Give only one of them. ENTREZ_KIT_DEMO and ENTREZ_KIT_LOCAL set them too.",
                    details={"reason": "bad_usage"},
                )
            demo, local = flagged[0], None if flagged[0] else local
        if demo:
            return replace(self, local=None).use_sandbox(DEMO_URL)
        return replace(self, demo=False).use_copy() if local else self

    def use_copy(self) -> "Settings":
        """Return these settings for a local copy, with addresses at which no program listens."""
        addresses = _list_addresses(DEMO_URL)
        return replace(self, **addresses, origins={**self.origins, **dict.fromkeys(addresses, COPY_ORIGIN)})

    def use_sandbox(self, url: str) -> "Settings":
        """Return these settings for a sandbox, with a separate cache, limiter state and data folder."""
        overrides: dict[str, Any] = {
            **_list_addresses(url),
            "cache_dir": self.cache_dir / "demo",
            "data_dir": self.data_dir / "demo",
            "embeddings": "none",
            "weaviate_url": None,
        }
        if self.unpaywall_email is None:  # the client requires one; the sandbox accepts any
            overrides["unpaywall_email"] = SecretStr(SANDBOX_EMAIL)
        demo_origin = {"demo": self.origins.get("demo", "flag")} if self.demo else {}
        others = {name: origin for name, origin in self.origins.items() if name != "demo"}
        origins = {**others, **demo_origin, **dict.fromkeys(overrides, SANDBOX_ORIGIN)}
        return replace(self, **overrides, demo=True, state_dir=self.state_dir / "demo", origins=origins)


def _list_addresses(url: str) -> dict[str, Any]:
    """Return the addresses of all services at a base URL, by setting."""
    return {
        "eutils_url": f"{url}/entrez/eutils",
        "idconv_url": f"{url}/idconv",
        "europepmc_url": f"{url}/europepmc",
        "unpaywall_url": f"{url}/unpaywall",
        "pmc_oa_url": f"{url}/pmc-oa",
        "crossref_url": f"{url}/crossref",
        "openalex_url": f"{url}/openalex",
        "pubmed_files_url": f"{url}/pubmed",
    }


def _complete_setting(item: Field[Any]) -> Setting:
    """Return the setting of a field of ``Settings``, completed from the name and type of the field."""
    written: Setting = item.metadata["setting"]
    of_type = next(kind for type_, kind in _KINDS.items() if type_ in (item.type, *get_args(item.type)))
    kind = "choice" if written.choices else of_type if written.kind == "text" else written.kind
    return replace(
        written,
        name=item.name,
        kind=kind,
        variable=written.variable or f"{written.prefix}{item.name}".upper(),
        in_project_file=written.in_project_file or written.project_range is not None,
    )


_KINDS: Final[Mapping[type, Kind]] = {bool: "flag", int: "number", Path: "path", SecretStr: "secret", str: "text"}
SETTINGS: Final = tuple(_complete_setting(item) for item in fields(Settings) if "setting" in item.metadata)
BY_NAME: Final[Mapping[str, Setting]] = {setting.name: setting for setting in SETTINGS}


def load_settings(
    overrides: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    working_dir: Path | None = None,
    config_file: Path | None = None,
) -> Settings:
    """Read the settings from every source, in the order of precedence.

    Args:
        overrides: values of flags or of a Python caller; None and empty strings count as not given.
        environ: environment to read; by default that of the process.
        working_dir: the folder of the project file; the current folder by default.
        config_file: user config instead of the default one; it must exist.

    Raises:
        NotConfigured: a value is invalid; the message names the variable or the file.
    """
    env = dict(os.environ if environ is None else environ)
    flags = {key: value for key, raw in (overrides or {}).items() if (value := _clean(raw)) is not None}
    if config_file is not None:
        flags["config_file"] = config_file
    unknown = sorted(set(flags) - set(BY_NAME))
    if unknown:
        raise NotConfigured(
            f"unknown setting: {', '.join(unknown)}{_suggest_name(unknown[0])}",
            invalid_input=unknown[0],
            details={"reason": "unknown_setting"},
        )
    notes: list[str] = []
    where, _ = _resolve(("home", "config_file"), _Sources(flags, env))  # they locate the other sources
    home: Path | None = where.get("home")
    user_file = where.get("config_file") or _find_user_config(home, env)
    files = _read_files(_find_project_file(working_dir), user_file, "config_file" in where, notes)
    values, origins = _resolve(BY_NAME, _Sources(flags, env, *files))
    for name in ("cache_dir", "data_dir"):
        if name not in values:
            values[name] = _choose_folder(name, home, env, notes)
            if home:
                origins[name] = f"below home, from {origins['home']}"
    return Settings(
        **{**values, "config_file": user_file},
        state_dir=find_temporary_folder(notes),
        origins=origins,
        notes=tuple(dict.fromkeys(notes)),
    )


@dataclass(frozen=True)
class _Sources:
    """All sources of settings."""

    flags: Mapping[str, Any]
    env: Mapping[str, str]
    project: Mapping[str, Any] = field(default_factory=dict)
    user: Mapping[str, Any] = field(default_factory=dict)

    def yield_candidates(self, setting: Setting) -> Iterator[tuple[str, Any]]:
        """Yield the name of each source and its value for a setting, in order of precedence."""
        yield "flag", self.flags.get(setting.name)
        for variable in setting.variables:
            yield f"environment ({variable})", self.env.get(variable)
        yield f"project file ({PROJECT_FILE})", self.project.get(setting.name)
        yield "user config", self.user.get(setting.name)


def _resolve(names: Iterable[str], sources: _Sources) -> tuple[dict[str, Any], dict[str, str]]:
    """Take each setting from the first source that has it; omit a setting that no source has."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for setting in (BY_NAME[name] for name in names):
        for origin, raw in sources.yield_candidates(setting):
            if (raw := _clean(raw)) is not None:
                values[setting.name] = _read_value(setting, raw, origin)
                origins[setting.name] = origin
                break
    return values, origins


def _read_files(
    project_file: Path | None, user_file: Path | None, must_exist: bool, notes: list[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read both files and keep the settings that each may set; report the others in notes."""
    project = read_toml(project_file, notes, own_only=True)[0] if project_file else {}
    user, is_private = read_toml(user_file, notes, must_exist=must_exist, own_only=True) if user_file else ({}, False)
    for table, where, in_project in ((project, PROJECT_FILE, True), (user, str(user_file), False)):
        ignored = [
            (name, why)
            for name, raw in table.items()
            if (why := _explain_refusal(name, raw, in_project=in_project, is_private=is_private))
        ]
        notes.extend(f"{where}: {why}{_suggest_name(name)}" for name, why in ignored[:MAX_IGNORED_NAMED])
        if len(ignored) > MAX_IGNORED_NAMED:
            notes.append(f"{where}: {len(ignored) - MAX_IGNORED_NAMED} more settings ignored")
        for name, _ in ignored:
            del table[name]
    return project, user


def _explain_refusal(name: str, raw: Any, *, in_project: bool, is_private: bool) -> str | None:
    """Return the reason why a file may not set something; None if it may."""
    setting = BY_NAME.get(name)
    if setting is None:
        return f"unknown setting {cut_end(name, MAX_NAME)!r} ignored"
    if in_project and not setting.in_project_file:
        return f"{name} is not taken from a project file; use {setting.variable}"
    if in_project and setting.project_range and _is_outside(setting, raw, setting.project_range):
        low, high = setting.project_range
        accepted = f"a whole number from {low} to {high}"
        return f"{name} in a project file must be {accepted}; it is ignored. Use {setting.variable}"
    if not in_project and not setting.in_user_file:
        return f"{name} is not taken from the user config; use {setting.variable}"
    if not in_project and setting.kind == "secret" and not is_private:
        return f"{name} ignored because others can read the file; run chmod 600 on it"
    return None


def _is_outside(setting: Setting, raw: Any, allowed: tuple[int, int]) -> bool:
    try:
        return not allowed[0] <= parse_value(setting, raw) <= allowed[1]
    except ValueError:  # reported when the value is read
        return False


def find_setting(name: str) -> Setting | None:
    """Return the setting with this field name or variable name in any letter case; None if there is no such setting."""
    wanted = name.strip().replace("-", "_")
    for setting in SETTINGS:
        if wanted.lower() == setting.name or wanted.upper() in setting.variables:
            return setting
    return None


def find_similar_settings(name: str) -> list[str]:
    """Return the names of settings similar to a misspelt name, the most similar first."""
    from difflib import get_close_matches

    known = {word: setting.name for setting in SETTINGS for word in (setting.name, *setting.variables)}
    wanted = name.strip().replace("-", "_")
    similar = get_close_matches(wanted.lower(), list(known), n=3) + get_close_matches(wanted.upper(), list(known), n=3)
    return list(dict.fromkeys(known[word] for word in similar))


def _suggest_name(name: str) -> str:
    """Return the end of a message that suggests a setting for an unknown name."""
    if name in BY_NAME or len(name) > MAX_NAME:
        return ""
    meant = find_setting(name)
    if meant:
        return f"; write {meant.name}"
    near = find_similar_settings(name)
    return f"; did you mean {near[0]}?" if near else ""


def _clean(raw: Any) -> Any:
    """Return None for an empty string or a placeholder that a host did not replace, such as ``${user_config.KEY}``."""
    if not isinstance(raw, str):
        return raw
    text = raw.strip()
    return None if not text or re.fullmatch(r"\$\{[^{}]*\}", text) else text


_TRUE: Final = {"true", "1", "yes", "on"}
_FALSE: Final = {"false", "0", "no", "off"}


def parse_value(setting: Setting, raw: Any) -> Any:
    """Convert a raw value to the setting's type.

    Raises:
        ValueError: it is invalid; the message is the requirement, beginning with "must", and does not quote the value.
    """
    return _CONVERTERS[setting.kind](setting, raw)


def _read_value(setting: Setting, raw: Any, origin: str) -> Any:
    """Convert a raw value to the setting's type; the error for an invalid value names the source."""
    try:
        return parse_value(setting, raw)
    except ValueError as exc:
        problem = str(exc)
    redacted_value = redact_value(setting, raw)
    where = origin.removeprefix("environment (").removesuffix(")")
    source = origin
    if origin == "flag":
        where = setting.variable
    elif where == origin:  # a file
        where, source = f"{setting.name} in the {origin}", f"the {origin}"
    else:
        source = f"the variable {where}"
    path = PerFrontend(" `entrez-kit config path` prints the path of the user config.", "")
    raise NotConfigured(
        f"{setting.variable} {problem} (got {redacted_value!r} from {source}).",
        invalid_input=f"{setting.name}={redacted_value}",
        recovery_hint=FrontendText(f"Correct {where}, or remove it.", path if origin == "user config" else ""),
        details={"reason": "bad_setting", "setting": setting.name, "origin": origin},
    )


def redact_value(setting: Setting, raw: Any) -> str:
    """Return an invalid value for a message, without a secret or the password of an address."""
    from entrez_kit.base.redaction import HIDDEN, redact_url  # only errors need it

    if setting.secret:
        return HIDDEN
    return redact_url(raw) if setting.kind == "url" and isinstance(raw, str) else cut_end(str(raw), 200)


def _parse_number(setting: Setting, raw: Any) -> int:
    if isinstance(raw, bool) or not re.fullmatch(r"-?[0-9]{1,18}", str(raw).strip(), flags=re.ASCII):
        raise ValueError(f"must be {_describe_numbers(setting)}")
    number = int(raw)
    if (setting.low is not None and number < setting.low) or (setting.high is not None and number > setting.high):
        raise ValueError(f"must be {_describe_numbers(setting)}")
    return number


def _describe_numbers(setting: Setting) -> str:
    """Return the numbers that a setting accepts, for a message."""
    if setting.low is None:
        return "a whole number"
    limits = f"of {setting.low} or more" if setting.high is None else f"from {setting.low} to {setting.high}"
    return f"a whole number {limits}"


def describe_bounds(setting: Setting) -> str:
    """Return the accepted values as text, such as ``50..5000``; empty without a limit."""
    if setting.choices:
        return ", ".join(setting.choices)
    if setting.high is not None:
        return f"{setting.low}..{setting.high}"
    return "" if setting.low is None else f"at least {setting.low}"


def _parse_flag(setting: Setting, raw: Any) -> bool:
    word = str(raw).strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError("must be true or false")
    return word in _TRUE


def _parse_choice(setting: Setting, raw: Any) -> str:
    word = _parse_text(setting, raw).lower()
    if word not in setting.choices:
        raise ValueError(f"must be {list_choices(setting.choices)}")
    return word


def _parse_url(setting: Setting, raw: Any) -> str:
    address = _parse_text(setting, raw).rstrip("/")
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # its message quotes the address, which may have a password
        usable = False
    if not usable or re.search(r"\s", address):
        raise ValueError("must be an http or https address")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("must be an address without user, query or fragment")
    if setting.name == "eutils_url" and not parts.path.endswith("/entrez/eutils"):
        raise ValueError("must end in /entrez/eutils")
    return address


def _parse_secret(setting: Setting, raw: Any) -> SecretStr:
    text = _parse_text(setting, raw.get_secret_value() if isinstance(raw, SecretStr) else raw)
    if re.search(r"\s", text):
        raise ValueError("must not contain spaces")
    if setting.kind == "email" and not re.fullmatch(r"[^@]+@[^@]+", text):
        raise ValueError("must be an e-mail address")
    if setting.kind == "secret" and not text.isascii():
        raise ValueError("must contain only ASCII characters")
    return SecretStr(text)


def _parse_text(setting: Setting, raw: Any) -> str:
    if not isinstance(raw, str):
        raise ValueError("must be a string")
    text = raw.strip()
    if not text.isprintable():
        raise ValueError("must not contain control characters")
    if setting.name == "ncbi_tool_identifier" and re.search(r"\s", text):
        raise ValueError("must not contain spaces")
    return text


def _parse_path(setting: Setting, raw: Any) -> Path:
    path = Path(_parse_text(setting, str(raw) if isinstance(raw, Path) else raw))
    try:
        return path.expanduser().absolute()
    except (RuntimeError, OSError):  # no home folder for "~", or the working folder is missing
        return path


_CONVERTERS: Final[Mapping[Kind, Callable[[Setting, Any], Any]]] = {
    "text": _parse_text,
    "secret": _parse_secret,
    "email": _parse_secret,
    "flag": _parse_flag,
    "number": _parse_number,
    "url": _parse_url,
    "path": _parse_path,
    "choice": _parse_choice,
}


def _find_project_file(working_dir: Path | None) -> Path | None:
    try:
        path = (working_dir or Path.cwd()) / PROJECT_FILE
        return path if path.is_file() else None
    except OSError:  # the working folder is missing or not accessible
        return None


def _find_user_config(home: Path | None, env: Mapping[str, str]) -> Path | None:
    folder = home or find_platform_folder("config", env)
    return folder / USER_FILE if folder else None


def locate_user_config(
    config_file: Path | None = None, *, home: Path | None = None, environ: Mapping[str, str] | None = None
) -> Path | None:
    """Return the path of the user config, which may not exist; None without a home folder.

    The file is not read, so that a file with an invalid value can be corrected.

    Raises:
        NotConfigured: the variable for the file or the home is invalid.
    """
    env = dict(os.environ if environ is None else environ)
    flags: dict[str, Any] = {"config_file": config_file, "home": home}
    values = _resolve(("home", "config_file"), _Sources(flags, env))[0]
    return values.get("config_file") or _find_user_config(values.get("home"), env)


def _choose_folder(name: str, home: Path | None, env: Mapping[str, str], notes: list[str]) -> Path:
    """Choose a writable folder, or else a private temporary one with a note."""
    kind = name.removesuffix("_dir")
    folder = home / kind if home else find_platform_folder(kind, env)
    if folder and (can_write(folder) or (name == "data_dir" and (folder / CORPUS_FILE).is_file())):
        return folder  # a read-only corpus is used too
    notes.append(
        f"{home} (ENTREZ_KIT_HOME) cannot be written; cache, corpus and copies are in a temporary folder."
        if home
        else "The home folder is missing or cannot be written; cache, corpus and copies are in a temporary folder. "
        "Set ENTREZ_KIT_HOME to a writable folder."
    )
    return find_temporary_folder(notes) / kind


Name = TypeVar("Name", bound=str)


def parse_names(text: str | None, known: Sequence[Name], *, noun: str, argument: str, guide: str = "") -> list[Name]:
    """Return the names in a comma-separated list, in the order of the known names.

    Args:
        text: the list; letter case does not matter, and a hyphen equals an underscore.
        known: the known names.
        noun: the kind of the names, for the reason of the error.
        argument: the option or setting that has the list.
        guide: the guide that explains the names, if a message cannot list all of them.

    Raises:
        InvalidInput: a name is unknown.
    """
    names = {name.replace("-", "_"): name for name in known}
    selected = []
    for part in filter(None, map(str.strip, (text or "").split(","))):
        name = names.get(part.lower().replace("-", "_"))
        if name is None:
            from difflib import get_close_matches

            near = get_close_matches(part.lower(), list[str](known), n=3)
            hint = f"Did you mean {join_with(near, 'or')}?" if near else "Give one or several, separated by commas."
            raise InvalidInput(
                describe_wrong_value(Argument(argument), list_choices(known), part),
                invalid_input=f"{argument}={part}",
                recovery_hint=FrontendText(hint, " ", name_guide(guide), " lists all.") if guide else hint,
                details={"reason": f"unknown_{noun}", "accepted": list(known)},
            )
        selected.append(name)
    return [name for name in known if name in selected]


def get_default(name: str) -> Any:
    """Return the default of a setting."""
    return next(item.default for item in fields(Settings) if item.name == name)


# TOML files

CONFIG: Final = PerFrontend("--config or ENTREZ_KIT_CONFIG", "ENTREZ_KIT_CONFIG")
MAX_CONFIG_BYTES: Final = 64_000
"""A config file is a page of text. A larger file is the wrong file, an endless device, or an attack on the parser."""

MAX_QUOTED: Final = 300
"""Maximum characters of the parser's message that are shown."""


def _open_named(path: Path) -> IO[bytes]:
    from entrez_kit.base.input_files import open_input

    return open_input(path)


def read_toml(
    path: Path, notes: list[str], *, must_exist: bool = False, own_only: bool = False
) -> tuple[dict[str, Any], bool]:
    """Return the content of a TOML file, and whether only its owner can read it.

    Args:
        notes: gets a message if the file is ignored.
        must_exist: whether a file that cannot be read is an error.
        own_only: whether a file of another user is ignored.

    Raises:
        NotConfigured: it is not valid TOML, too large or nested too deep.
    """
    import tomllib

    try:
        with _open_named(path) if must_exist else path.open("rb") as file:
            status = os.fstat(file.fileno())
            if own_only and is_foreign(status):
                notes.append(f"{path} belongs to another user; it is ignored")
                return {}, False
            body = file.read(MAX_CONFIG_BYTES + 1)
        if len(body) > MAX_CONFIG_BYTES:
            raise NotConfigured(
                f"The config file {path} is larger than {MAX_CONFIG_BYTES} bytes.",
                invalid_input=str(path),
                recovery_hint=f"Correct {path}, or move it aside.",
                details={"reason": "bad_toml"},
            )
        is_private = sys.platform == "win32" or not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        return tomllib.loads(body.decode("utf-8-sig")), is_private
    except FileNotFoundError:
        if must_exist:
            raise NotConfigured(
                f"The config file {path} does not exist.",
                invalid_input=str(path),
                recovery_hint=FrontendText("Correct ", CONFIG, ", or create the file; it may be empty."),
                details={"reason": "cannot_read"},
            ) from None
    except OSError as exc:
        problem = "is a folder" if isinstance(exc, IsADirectoryError) else f"cannot be read: {describe_os_error(exc)}"
        if must_exist:
            raise NotConfigured(
                f"The config file {path} {problem}.",
                invalid_input=str(path),
                recovery_hint=FrontendText("Correct ", CONFIG, "."),
                details={"reason": "cannot_read"},
            ) from None
        notes.append(f"{path} {problem}; it is ignored")
    except (ValueError, RecursionError) as exc:  # a number with thousands of digits is a ValueError too
        problem = "it is nested too deep" if isinstance(exc, RecursionError) else str(exc)[:MAX_QUOTED]
        problem = "it is not UTF-8" if isinstance(exc, UnicodeDecodeError) else problem
        raise NotConfigured(
            f"{path} is not valid TOML: {problem}",
            invalid_input=str(path),
            recovery_hint=f"Correct {path}, or move it aside.",
            details={"reason": "bad_toml"},
        ) from None
    return {}, False
