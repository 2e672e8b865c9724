"""Build requests of E-utilities with private instances of Bio.Entrez, which do not send them.

An instance is the code of Bio.Entrez, executed in a separate namespace. Its public functions build and encode each
request, pass it to ``urlopen``, a name in that namespace that is replaced here, and return the result of it. Other
users of Bio.Entrez in the same process share nothing with an instance. ``build_entrez_request`` uses an instance whose
``urlopen`` returns the request itself; the ``urlopen`` of `entrez_kit.Entrez` answers the request.

Bio.Entrez builds the requests because users know its parameters, and because scripts for it run here unchanged. It
does not send them: it has no cache, one rate limit for each process, and settings that all callers share. The replies
are parsed by readers of this program, which compare them with the request.

The arguments are checked first: NCBI ignores many invalid values, and then answers another question.

This depends on names at the top level of Bio.Entrez (``REPLACED``). A test fails if Biopython moves one of them.
"""

import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from email.message import Message
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import parse_qsl, urlsplit

from entrez_kit.base.errors import NotConfigured, invalid_argument, wrong_value

if TYPE_CHECKING:
    from urllib.request import Request

MODULE: Final = "Bio.Entrez"
PARSER: Final = "Bio.Entrez.Parser"
REPLACED: Final = {MODULE: ("time", "urlopen", "warnings"), PARSER: ("urlopen",)}
"""Names at the top level of Biopython's modules that are replaced in an instance."""

MAX_RETMAX: Final = 10_000
"""The maximum number of records that NCBI returns per request."""
_DATE: Final = re.compile(r"[0-9]{4}(?:[/-][0-9]{1,2}){0,2}")


class InstantClock:
    """The clock of an instance: its waits return at once, because the transport limits the rate and waits to retry."""

    time = staticmethod(time.time)

    @staticmethod
    def sleep(seconds: float) -> None:
        """Return at once."""


class Silence:
    """The warnings of an instance: none."""

    @staticmethod
    def warn(message: object, category: object = None) -> None:
        """Drop a warning."""


class BuiltRequest:
    """What ``urlopen`` returns in the instance that builds requests: the request, with a header for Bio.Entrez."""

    headers: Final = Message()

    def __init__(self, request: "Request") -> None:
        self.request = request


BuiltRequest.headers["Content-Type"] = "application/octet-stream"


def build_entrez_request(endpoint: str, params: Mapping[str, Any]) -> "Request":
    """Return the request that Bio.Entrez builds for an E-utility, without credentials. Safe for threads.

    Args:
        endpoint: the name of the function in Bio.Entrez, such as ``esearch``.
        params: its arguments; Bio.Entrez omits those that are None, and here also empty texts.
    """
    arguments = {name: None if value == "" else value for name, value in params.items()}
    built: BuiltRequest = _load_builder()[endpoint](**arguments)
    return built.request


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """A request that Bio.Entrez has built, without the parameters that the caller omits.

    Args:
        script: the last part of the path, such as ``esearch.fcgi``.
        encoded: the parameters as Bio.Entrez encodes them.
        params: the decoded parameters.
        parameters: the parameters by name in lower case, because NCBI accepts both WebEnv and webenv.
        ids: the ids in all parameters named ``id``, which may be lists with commas.
    """

    script: str
    encoded: str
    params: tuple[tuple[str, str], ...]
    parameters: Mapping[str, str]
    ids: Sequence[str]

    @classmethod
    def parse(cls, request: "Request", omit: Collection[str]) -> Self:
        """Parse the URL or the body of a request.

        Args:
            omit: the names of parameters to omit.
        """
        address = urlsplit(request.full_url)
        built = request.data.decode("ascii") if isinstance(request.data, bytes) else address.query
        encoded = "&".join(part for part in built.split("&") if part.partition("=")[0] not in omit)
        params = tuple(parse_qsl(encoded, keep_blank_values=True))
        ids = (part.strip() for name, value in params if name.lower() == "id" for part in value.split(","))
        return cls(
            script=address.path.rpartition("/")[2],
            encoded=encoded,
            params=params,
            parameters={name.lower(): value for name, value in params},
            ids=[uid for uid in ids if uid],
        )

    @property
    def endpoint(self) -> str:
        """The name of the E-utility, such as ``esearch``."""
        return self.script.partition(".")[0]


@cache
def _load_builder() -> dict[str, Any]:
    """Return the namespace of the instance that builds requests, one for all threads."""
    namespace: dict[str, Any] = {"__name__": f"{__name__}.builder"}
    execute_entrez(namespace, BuiltRequest)
    return namespace


def find_module(name: str) -> ModuleSpec:
    """Return the specification of a module of Bio.Entrez without importing it.

    Raises:
        NotConfigured: the module does not exist.
    """
    package = find_spec(MODULE)
    if name == MODULE or package is None:
        spec = package
    else:
        spec = PathFinder.find_spec(name, package.submodule_search_locations)
    if spec is None or spec.loader is None:
        raise _unsupported_error(f"it has no module {name}")
    return spec


def execute_entrez(
    namespace: dict[str, Any], urlopen: "Callable[[Request], Any]", *, tool: str | None = None, warnings: Any = Silence
) -> None:
    """Make a namespace an instance of Bio.Entrez.

    Biopython has removed EGQuery. An instance still has it: Bio.Entrez builds the request as one of EInfo.

    Args:
        urlopen: answers each request.
        tool: the name of the tool, None for none.
        warnings: its method ``warn`` gets the warning about a missing e-mail.
    """
    script: ContextVar[str | None] = ContextVar("entrez_kit_script", default=None)

    def open_request(request: "Request") -> Any:
        if (other := script.get()) is not None:
            request.full_url = request.full_url.replace("/einfo.fcgi", f"/{other}")
        return urlopen(request)

    def egquery(**keywds: Any) -> Any:
        """Count the matches of a query in every database. NCBI is reported to have switched it off."""
        token = script.set("egquery.fcgi")
        try:
            return namespace["einfo"](**keywds)
        finally:
            script.reset(token)

    execute_module(MODULE, namespace, urlopen=open_request, time=InstantClock, warnings=warnings)
    namespace["tool"] = tool
    namespace.setdefault("egquery", egquery)


def execute_module(name: str, namespace: dict[str, Any], **replacements: Any) -> None:
    """Execute the code of a module of Bio.Entrez in a namespace, and replace names in it.

    Raises:
        NotConfigured: the installed Biopython lacks one of these names.
    """
    loader: Any = find_module(name).loader
    exec(loader.get_code(name), namespace)
    missing = [replaced for replaced in replacements if replaced not in namespace]
    if missing:
        raise _unsupported_error(f"{name} has no {missing[0]}")
    namespace.update(replacements)


def _unsupported_error(problem: str) -> NotConfigured:
    from Bio import __version__

    from entrez_kit.base.extras import install_hint

    return NotConfigured(
        f"Biopython {__version__} cannot be used: {problem}.",
        recovery_hint=install_hint("pip install --upgrade entrez-kit"),
        details={"reason": "unsupported_biopython"},
    )


# Arguments of the E-utilities


def normalize_database(name: str, field: str = "db") -> str:
    """Return the name of a database in lower case."""
    cleaned = name.strip().lower()
    if not re.fullmatch(r"[a-z0-9_]{1,40}", cleaned):
        hint = "EInfo without a database lists all of them, for example pubmed, gene, taxonomy."
        raise wrong_value(field, "the name of an Entrez database", name, hint)
    return cleaned


def check_text(field: str, text: str) -> str:
    """Return a text that is not empty."""
    if not text.strip():
        raise invalid_argument(field, "is empty", hint=f"Give {field} at least one word.")
    return text


def write_number(field: str, value: int | None) -> str | None:
    """Return a number, which may not be negative, as text."""
    if value is None:
        return None
    if value < 0:
        raise wrong_value(field, "a whole number of 0 or more", value)
    return str(value)


def select_dates(datetype: str | None, mindate: str | None, maxdate: str | None, reldate: int | None) -> dict[str, Any]:
    """Return the parameters that select records by date: both bounds, or a number of days before today."""
    if bool(mindate) != bool(maxdate):
        missing, given, open_end = ("maxdate", "mindate", 3000) if mindate else ("mindate", "maxdate", "0001")
        hint = f"Add {missing}; {open_end} means no limit."
        raise invalid_argument(missing, f"is missing, and NCBI ignores {given} without it", hint=hint)
    return {
        "datetype": datetype,
        "mindate": _check_date("mindate", mindate),
        "maxdate": _check_date("maxdate", maxdate),
        "reldate": write_number("reldate", reldate),
    }


def _check_date(field: str, text: str | None) -> str | None:
    """Return a date in a form that NCBI reads completely. Of any other form it ignores a part, so this is an error."""
    if text and not _DATE.fullmatch(text):
        raise wrong_value(field, "a date", text, "Write YYYY, YYYY/MM or YYYY/MM/DD.")
    return text


def check_ids(ids: Iterable[str]) -> list[str]:
    """Return a list of ids without blanks around them."""
    if isinstance(ids, str):
        raise wrong_value("id", "a list of ids", ids, "Put the ids into a list.")
    cleaned = [str(item).strip() for item in ids]
    bad = next((item for item in cleaned if not item or re.search(r"[\s,&]", item)), None)
    if bad is not None:
        hint = "Give each id as a separate item, without spaces and commas."
        raise wrong_value("id", "a list of ids", bad, hint)
    if not cleaned:
        raise invalid_argument("id", "is an empty list", hint="Give at least one id.")
    return cleaned


def select_records(
    ids: Sequence[str] | None,
    webenv: str | None,
    query_key: str | None,
    retstart: int | None,
    retmax: int | None,
) -> dict[str, Any]:
    """Return the parameters that select records: ids, or a set in the history."""
    if bool(webenv) != bool(query_key):
        missing = "query_key" if webenv else "webenv"
        raise invalid_argument(missing, "is missing", hint="Give both webenv and query_key.")
    if ids and webenv:
        raise invalid_argument("id", "cannot be used with webenv and query_key", hint="Omit the ids, or omit both.")
    if not ids and not webenv:
        raise invalid_argument("id", "is missing", hint="Give ids, or webenv with query_key.")
    if retmax is not None and retmax > MAX_RETMAX:
        accepted = f"a whole number from 0 to {MAX_RETMAX}"
        raise wrong_value("retmax", accepted, retmax, "NCBI returns no more at a time: page with retstart.")
    return {
        "id": check_ids(ids) if ids else None,
        "WebEnv": webenv,
        "query_key": query_key,
        "retstart": write_number("retstart", retstart),
        "retmax": write_number("retmax", retmax),
    }
