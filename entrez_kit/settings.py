"""Settings and load_settings: the only reader of the environment.

Each setting comes from the first of: explicit override (a flag), environment, project file ``entrez-kit.toml``, user
config, default. Empty texts count as unset. Keys and tokens never come from a flag or a project file, base addresses
never from a project file.
"""

import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from entrez_kit._version import __version__
from entrez_kit.errors import NotConfigured

PROJECT_FILE: Final = "entrez-kit.toml"
USER_FILE: Final = "config.toml"

Embeddings = Literal["none", "openai", "hf"]
Kind = Literal["text", "secret", "email", "flag", "number", "url", "path", "choice"]

EUTILS_URL: Final = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
IDCONV_URL: Final = "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles"
EUROPEPMC_URL: Final = "https://www.ebi.ac.uk/europepmc/webservices/rest"
UNPAYWALL_URL: Final = "https://api.unpaywall.org/v2"
PMC_OA_URL: Final = "https://pmc-oa-opendata.s3.amazonaws.com"


@dataclass(frozen=True)
class Setting:
    """How one setting is named, read and bounded."""

    name: str
    variable: str
    kind: Kind
    help: str
    aliases: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()
    in_project_file: bool = True

    @property
    def secret(self) -> bool:
        """Whether the value is masked wherever it is shown."""
        return self.kind in ("secret", "email")

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that set it, the first one winning."""
        return (self.variable, *self.aliases)


def _setting(name: str, kind: Kind, help: str, variable: str | None = None, **more: Any) -> Setting:
    private = kind in ("secret", "url", "email")
    return Setting(name, variable or name.upper(), kind, help, **{"in_project_file": not private, **more})


def _kit(name: str, kind: Kind, help: str, **more: Any) -> Setting:
    return _setting(name, kind, help, variable=f"ENTREZ_KIT_{name.upper()}", **more)


LOG_LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
FORMATS: Final = ("table", "json", "jsonl", "csv", "tsv", "ids", "xml", "nbib", "md")

SETTINGS: Final[tuple[Setting, ...]] = (
    _setting("ncbi_api_key", "secret", "NCBI API key: 10 requests per second instead of 3."),
    _setting("ncbi_admin_email", "email", "E-mail NCBI may write to.", aliases=("NCBI_EMAIL",)),
    _setting("ncbi_tool_identifier", "text", "Name of the tool, sent with every request."),
    _setting("ncbi_request_delay_ms", "number", "Least pause between requests; can only slow down.", low=50, high=5000),
    _setting("ncbi_max_retries", "number", "Further attempts after a failed request.", low=0, high=10),
    _setting("ncbi_timeout_ms", "number", "Time limit of one HTTP request.", low=100, high=120_000),
    _setting(
        "ncbi_total_deadline_ms",
        "number",
        "Time limit of one E-utility request, queueing and retries included.",
        low=500,
        high=600_000,
    ),
    _setting("unpaywall_email", "email", "E-mail that Unpaywall requires; unset switches it off."),
    _setting("unpaywall_timeout_ms", "number", "Time limit of one Unpaywall request.", low=100, high=120_000),
    _setting("europepmc_enabled", "flag", "Whether Europe PMC may be asked."),
    _setting("europepmc_request_delay_ms", "number", "Least pause between Europe PMC requests.", low=50, high=5000),
    _setting("europepmc_max_retries", "number", "Further attempts after a failed Europe PMC request.", low=0, high=10),
    _setting("europepmc_timeout_ms", "number", "Time limit of one Europe PMC request.", low=100, high=120_000),
    _setting("openai_api_key", "secret", "Key for the openai embeddings provider."),
    _setting("weaviate_url", "url", "Address of a Weaviate server."),
    _setting("weaviate_api_key", "secret", "Key of the Weaviate server."),
    _setting("weaviate_class", "text", "Weaviate collection for chunks."),
    _setting("mcp_transport_type", "choice", "How `serve` talks.", choices=("stdio", "http")),
    _setting("mcp_http_host", "text", "Address `serve` listens on."),
    _setting("mcp_http_port", "number", "Port `serve` listens on.", low=0, high=65535),
    _setting("mcp_allowed_origins", "text", "Origins allowed to call `serve`, comma-separated."),
    _setting("mcp_auth_secret_key", "secret", "Secret that signs bearer tokens, at least 32 bytes."),
    _setting("mcp_log_level", "choice", "Least severe level that is logged.", choices=LOG_LEVELS),
    _setting("logs_dir", "path", "Folder for rotating log files (JSON lines); unset writes none."),
    _kit(
        "home",
        "path",
        "One folder for configuration, cache and data, in place of the platform's own.",
        in_project_file=False,
    ),
    _kit("cache_dir", "path", "Folder of the HTTP cache and the limiter's state.", in_project_file=False),
    _kit("data_dir", "path", "Folder of the corpus.", in_project_file=False),
    _kit("cache_ttl", "number", "Seconds a cached reply counts, in place of the times per service.", low=0),
    _kit("demo", "flag", "Answer from the bundled sandbox, with invented articles."),
    _kit("offline", "flag", "Answer from the cache and the corpus only."),
    _kit("refresh", "flag", "Ask the services again and replace what is cached."),
    _kit("no_cache", "flag", "Neither read nor write the cache."),
    _kit("quiet", "flag", "No notes on stderr."),
    _kit("verbose", "flag", "Request ids, timings and cache hits on stderr."),
    _kit("color", "choice", "When to colour.", choices=("auto", "always", "never")),
    _kit("format", "choice", "Output format.", choices=FORMATS),
    _kit("embeddings", "choice", "Embeddings provider of the corpus.", choices=("none", "openai", "hf")),
    _kit("embeddings_model", "text", "Model of the embeddings provider."),
    _kit("eutils_url", "url", "Base address of the E-utilities; ends in /entrez/eutils."),
    _kit("idconv_url", "url", "Address of the PMC ID Converter."),
    _kit("europepmc_url", "url", "Base address of Europe PMC."),
    _kit("unpaywall_url", "url", "Base address of Unpaywall."),
    _kit("pmc_oa_url", "url", "Base address of PMC's open-data bucket."),
)
BY_NAME: Final[Mapping[str, Setting]] = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True)
class Settings:
    """Every setting with its default; built once by ``load_settings`` and passed along.

    Times are in milliseconds where the name ends in ``_ms``, else in seconds. ``origins`` says where each value that
    is not a default came from; ``notices`` are remarks for the user, such as a config file that cannot be read.
    ``state_dir`` holds the limiter's state: a folder of the user on this machine, whatever the other folders are, since
    NCBI counts by machine and key.
    """

    ncbi_api_key: SecretStr | None = None
    ncbi_admin_email: SecretStr | None = None
    ncbi_tool_identifier: str = f"entrez-kit/{__version__}"
    ncbi_request_delay_ms: int | None = None
    ncbi_max_retries: int = 6
    ncbi_timeout_ms: int = 30_000
    ncbi_total_deadline_ms: int = 60_000
    unpaywall_email: SecretStr | None = None
    unpaywall_timeout_ms: int = 20_000
    europepmc_enabled: bool = True
    europepmc_request_delay_ms: int = 200
    europepmc_max_retries: int = 3
    europepmc_timeout_ms: int = 20_000
    openai_api_key: SecretStr | None = None
    weaviate_url: str | None = None
    weaviate_api_key: SecretStr | None = None
    weaviate_class: str = "PubMedChunk"
    mcp_transport_type: str = "stdio"
    mcp_http_host: str = "127.0.0.1"
    mcp_http_port: int = 3010
    mcp_allowed_origins: str | None = None
    mcp_auth_secret_key: SecretStr | None = None
    mcp_log_level: str = "info"
    logs_dir: Path | None = None
    home: Path | None = None
    cache_dir: Path = Path()
    data_dir: Path = Path()
    cache_ttl: int | None = None
    demo: bool = False
    offline: bool = False
    refresh: bool = False
    no_cache: bool = False
    quiet: bool = False
    verbose: bool = False
    color: str = "auto"
    format: str | None = None
    embeddings: str = "none"
    embeddings_model: str | None = None
    eutils_url: str = EUTILS_URL
    idconv_url: str = IDCONV_URL
    europepmc_url: str = EUROPEPMC_URL
    unpaywall_url: str = UNPAYWALL_URL
    pmc_oa_url: str = PMC_OA_URL
    state_dir: Path = Path()
    config_file: Path = Path()
    origins: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @property
    def requests_per_second(self) -> int:
        """NCBI's limit for this user: 10 with an API key, else 3."""
        return 10 if self.ncbi_api_key else 3

    def with_sandbox(self, url: str) -> "Settings":
        """Return these settings pointed at a sandbox, with a cache, limiter state and data folder of its own."""
        return replace(
            self,
            demo=True,
            eutils_url=f"{url}/entrez/eutils",
            idconv_url=f"{url}/idconv",
            europepmc_url=f"{url}/europepmc",
            unpaywall_url=f"{url}/unpaywall",
            pmc_oa_url=f"{url}/pmc-oa",
            cache_dir=self.cache_dir / "demo",
            data_dir=self.data_dir / "demo",
            state_dir=self.state_dir / "demo",
        )


FIELD_NAMES: Final = frozenset(item.name for item in fields(Settings))


def load_settings(
    overrides: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    working_dir: Path | None = None,
    config_file: Path | None = None,
) -> Settings:
    """Read the settings from every source, in the order of precedence.

    Args:
        overrides: values given by flags or by a Python caller; None counts as not given.
        environ: environment to read; the process's own by default.
        working_dir: where the project file is looked for; the current folder by default.
        config_file: user config in place of the platform's own; it must exist.

    Raises:
        NotConfigured: a value cannot be used; the message names the variable or the file.
    """
    env = dict(os.environ if environ is None else environ)
    given = {key: value for key, value in (overrides or {}).items() if value is not None and value != ""}
    unknown = sorted(set(given) - set(BY_NAME))
    if unknown:
        raise NotConfigured(f"unknown setting: {', '.join(unknown)}", invalid_input=unknown[0])
    notices: list[str] = []
    home = given.get("home") or _from_environment(BY_NAME["home"], env)
    home_path = _path(str(home)) if home else None
    user_file = _path(str(config_file)) if config_file else _user_config(home_path, env)
    layers = _layers(given, env, working_dir, user_file, config_file is not None, notices)

    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for setting in SETTINGS:
        for origin, raw in layers(setting):
            if raw is None or raw == "":
                continue
            values[setting.name] = _convert(setting, raw, origin)
            origins[setting.name] = origin
            break
    if "cache_dir" not in values:
        values["cache_dir"] = _folder("cache", home_path, env, notices)
    if "data_dir" not in values:
        values["data_dir"] = _folder("data", home_path, env, notices)
    return Settings(
        **values,
        state_dir=_temporary_folder(),
        config_file=user_file,
        origins=origins,
        notices=tuple(dict.fromkeys(notices)),
    )


def _layers(
    given: Mapping[str, Any],
    env: Mapping[str, str],
    working_dir: Path | None,
    user_file: Path,
    must_exist: bool,
    notices: list[str],
) -> Callable[[Setting], list[tuple[str, Any]]]:
    """Return a function that lists a setting's candidates, strongest first, with where each came from."""
    project_path = _project_file(working_dir)
    project = _read_toml(project_path, notices) if project_path else {}
    user = _read_toml(user_file, notices, must_exist=must_exist)
    user_is_private = _is_private(user_file)
    for name in project:
        if name not in BY_NAME:
            notices.append(f"{PROJECT_FILE}: unknown setting {name!r} ignored")
        elif not BY_NAME[name].in_project_file:
            notices.append(f"{PROJECT_FILE}: {name} is not taken from a project file; use {BY_NAME[name].variable}")
    for name in user:
        if name not in BY_NAME:
            notices.append(f"{user_file.name}: unknown setting {name!r} ignored")
        elif BY_NAME[name].kind == "secret" and not user_is_private:
            notices.append(f"{user_file}: {name} ignored because others can read the file; run chmod 600 on it")

    def candidates(setting: Setting) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = [("flag", given.get(setting.name))]
        found += [(f"environment ({name})", _clean(env.get(name))) for name in setting.variables]
        if setting.in_project_file:
            found.append((f"project file ({PROJECT_FILE})", project.get(setting.name)))
        if setting.kind != "secret" or user_is_private:
            found.append(("user config", user.get(setting.name)))
        return found

    return candidates


def _clean(raw: str | None) -> str | None:
    """Treat empty texts and placeholders that a host left unfilled as unset."""
    if raw is None:
        return None
    text = raw.strip()
    return None if not text or re.fullmatch(r"\$\{[\w.]+\}", text) else text


def _from_environment(setting: Setting, env: Mapping[str, str]) -> str | None:
    return next((text for name in setting.variables if (text := _clean(env.get(name)))), None)


_TRUE: Final = {"true", "1", "yes", "on"}
_FALSE: Final = {"false", "0", "no", "off"}


def _convert(setting: Setting, raw: Any, origin: str) -> Any:
    """Turn a raw value into the setting's type, or say which source holds a value that cannot be used."""
    shown = "(hidden)" if setting.secret else str(raw)
    try:
        return _CONVERTERS[setting.kind](setting, raw)
    except (ValueError, TypeError) as exc:
        where = setting.variable if origin in ("flag",) or origin.startswith("environment") else origin
        raise NotConfigured(
            f"{setting.variable}: {exc} (got {shown!r} from {origin})",
            invalid_input=f"{setting.name}={shown}",
            recovery_hint=f"Correct {where}, or unset it to use the default.",
            details={"reason": "bad_setting", "setting": setting.name, "origin": origin},
        ) from None


def _number(setting: Setting, raw: Any) -> int:
    if isinstance(raw, bool) or not re.fullmatch(r"-?[0-9]+", str(raw).strip()):
        raise ValueError("a whole number is needed")
    number = int(raw)
    if (setting.low is not None and number < setting.low) or (setting.high is not None and number > setting.high):
        bounds = f"{setting.low}..{setting.high}" if setting.high is not None else f"at least {setting.low}"
        raise ValueError(f"out of range, {bounds} is accepted")
    return number


def _flag(setting: Setting, raw: Any) -> bool:
    word = str(raw).strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError("true or false is needed")
    return word in _TRUE


def _choice(setting: Setting, raw: Any) -> str:
    word = str(raw).strip().lower()
    if word not in setting.choices:
        raise ValueError(f"one of {', '.join(setting.choices)} is needed")
    return word


def _url(setting: Setting, raw: Any) -> str:
    address = str(raw).strip().rstrip("/")
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("an http or https address is needed")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("an address without user, query or fragment is needed")
    if setting.name == "eutils_url" and not parts.path.endswith("/entrez/eutils"):
        raise ValueError("the address must end in /entrez/eutils")
    return address


def _secret(setting: Setting, raw: Any) -> SecretStr:
    text = raw.get_secret_value() if isinstance(raw, SecretStr) else str(raw).strip()
    if setting.kind == "email" and not re.fullmatch(r"[^@\s]+@[^@\s]+", text):
        raise ValueError("an e-mail address is needed")
    if re.search(r"\s", text):
        raise ValueError("it must not contain spaces")
    return SecretStr(text)


def _text(setting: Setting, raw: Any) -> str:
    text = str(raw).strip()
    if setting.name == "ncbi_tool_identifier" and re.search(r"\s", text):
        raise ValueError("it must not contain spaces")
    return text


_CONVERTERS: Final[Mapping[Kind, Callable[[Setting, Any], Any]]] = {
    "text": _text,
    "secret": _secret,
    "email": _secret,
    "flag": _flag,
    "number": _number,
    "url": _url,
    "path": lambda setting, raw: _path(str(raw)),
    "choice": _choice,
}


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # no home folder to expand "~" with
        return Path(text)


def _project_file(working_dir: Path | None) -> Path | None:
    try:
        path = (working_dir or Path.cwd()) / PROJECT_FILE
        return path if path.is_file() else None
    except OSError:  # the working folder is gone or cannot be entered
        return None


def _read_toml(path: Path, notices: list[str], *, must_exist: bool = False) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if must_exist:
            raise NotConfigured(f"config file {path} does not exist", invalid_input=str(path)) from None
    except (OSError, UnicodeDecodeError) as exc:
        notices.append(f"{path} cannot be read ({type(exc).__name__}); it is ignored")
    except tomllib.TOMLDecodeError as exc:
        raise NotConfigured(
            f"{path} is not valid TOML: {exc}", recovery_hint=f"Correct {path}, or move it aside."
        ) from None
    return {}


def _is_private(path: Path) -> bool:
    if sys.platform == "win32":
        return True
    try:
        return not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    except OSError:
        return False


def _user_config(home: Path | None, env: Mapping[str, str]) -> Path:
    folder = home or _platform_folder("config", env) or _temporary_folder()
    return folder / USER_FILE


def _folder(kind: Literal["cache", "data"], home: Path | None, env: Mapping[str, str], notices: list[str]) -> Path:
    """Choose a folder that can be written, falling back to a private temporary one with a single notice."""
    folder = home / kind if home else _platform_folder(kind, env)
    if folder and _can_write(folder):
        return folder
    notices.append(
        "The home folder is missing or cannot be written; cache and corpus go to a temporary folder. "
        "Set ENTREZ_KIT_HOME to a folder of your own."
    )
    return _temporary_folder() / kind


def _platform_folder(kind: str, env: Mapping[str, str]) -> Path | None:
    """Return this platform's folder for a kind of file, or None where there is no home folder."""
    if sys.platform not in ("win32", "darwin"):
        variable, default = {
            "config": ("XDG_CONFIG_HOME", ".config"),
            "cache": ("XDG_CACHE_HOME", ".cache"),
            "data": ("XDG_DATA_HOME", ".local/share"),
        }[kind]
        base = _clean(env.get(variable))
        if base and Path(base).is_absolute():
            return Path(base) / "entrez-kit"
        home = _clean(env.get("HOME"))
        return Path(home) / default / "entrez-kit" if home and Path(home).is_dir() else None
    import platformdirs

    return Path(getattr(platformdirs, f"user_{kind}_dir")("entrez-kit", appauthor=False))


def _temporary_folder() -> Path:
    """Return a folder of this user's in the machine's temporary folder (created 0700 by whoever writes there)."""
    return Path(tempfile.gettempdir()) / f"entrez-kit-{_user_tag()}"


def _can_write(folder: Path) -> bool:
    """Tell whether the folder, or the nearest existing one above it, can be written."""
    for candidate in (folder, *folder.parents):
        try:
            if candidate.exists():
                return candidate.is_dir() and os.access(candidate, os.W_OK | os.X_OK)
        except OSError:
            return False
    return False


def _user_tag() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "user"


def default_of(name: str) -> Any:
    """Return the default of a setting."""
    return next(item.default for item in fields(Settings) if item.name == name)
