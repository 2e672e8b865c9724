"""Sandbox: a loopback HTTP server that answers as NCBI does."""

import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields as dataclass_fields
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self
from urllib.parse import parse_qsl, unquote, urlencode

from entrez_kit.base.errors import InvalidInput
from entrez_kit.sandbox import limits
from entrez_kit.sandbox.corpus import Corpus, ParsedCorpus
from entrez_kit.sandbox.crossref import crossref, openalex
from entrez_kit.sandbox.database import Database
from entrez_kit.sandbox.efetch import efetch
from entrez_kit.sandbox.elink import elink
from entrez_kit.sandbox.esearch import esearch
from entrez_kit.sandbox.esummary import esummary
from entrez_kit.sandbox.europepmc import EuropePMCService
from entrez_kit.sandbox.faults import FaultPlan, Strike, parse_faults
from entrez_kit.sandbox.gene import GeneDatabase
from entrez_kit.sandbox.history import History
from entrez_kit.sandbox.idconv import idconv
from entrez_kit.sandbox.listener import HOST, Arrival, Listener
from entrez_kit.sandbox.mesh import MeshDatabase
from entrez_kit.sandbox.nuccore import NuccoreDatabase
from entrez_kit.sandbox.others import ecitmatch, egquery, einfo, epost, espell
from entrez_kit.sandbox.pmc import PmcDatabase
from entrez_kit.sandbox.pmc_oa import pmc_oa
from entrez_kit.sandbox.publisher import PATH as PUBLISHER
from entrez_kit.sandbox.publisher import publisher
from entrez_kit.sandbox.pubmed import PubMedDatabase
from entrez_kit.sandbox.replies import SandboxReply, plain
from entrez_kit.sandbox.requesting import SandboxRequest, SandboxState
from entrez_kit.sandbox.taxonomy import TaxonomyDatabase
from entrez_kit.sandbox.unpaywall import unpaywall

if TYPE_CHECKING:
    from entrez_kit.base.settings import Settings

__all__ = ["LogEntry", "Sandbox", "parse_faults"]

Endpoint = Callable[[SandboxRequest, SandboxState], SandboxReply]
EUTILS: Final = "/entrez/eutils/"
ENDPOINTS: Final[Mapping[str, tuple[str, Endpoint]]] = {
    **{
        f"{EUTILS}{name}.fcgi": (name, endpoint)
        for name, endpoint in (
            ("esearch", esearch),
            ("esummary", esummary),
            ("efetch", efetch),
            ("elink", elink),
            ("epost", epost),
            ("espell", espell),
            ("egquery", egquery),
            ("einfo", einfo),
        )
    },
    f"{EUTILS}ecitmatch.cgi": ("ecitmatch", ecitmatch),
    "/idconv": ("idconv", idconv),
}
"""Name and function by path. The rate rule holds for the paths of the E-utilities."""

MAX_GET: Final = 2_000
"""Longest query string of a GET request, key, e-mail and tool not counted; NCBI asks for POST beyond."""
MAX_GET_IDS: Final = 200
SECRETS: Final = frozenset(("api_key", "email", "mailto"))
_NOT_COUNTED: Final = SECRETS | {"tool"}
_LOG_LENGTH: Final = 200_000
_MAX_FIELDS: Final = 100_000


class LogEntry(NamedTuple):
    """One request: when it came (``time.monotonic``), what it asked without key and e-mail, and how it ended.

    ``fault`` names the fault that struck, if any; ``keyed`` tells whether an api_key came with it.
    """

    at: float
    endpoint: str
    params: tuple[tuple[str, str], ...]
    status: int
    method: str
    keyed: bool
    fault: str | None = None

    def get(self, name: str) -> str | None:
        """Return the first value of a parameter."""
        return next((value for key, value in self.params if key == name), None)


class Sandbox:
    """The stand-in for NCBI, on 127.0.0.1 alone; use it as a context manager, or call start and stop.

    Args:
        corpus: files or folders of PubMed XML to serve; the bundled demo articles by default.
        records: serve so many generated, invented records instead.
        port: port to listen on; 0 picks a free one.
        faults: probability of each kind of failure (see ``parse_faults``).
        latency_ms: pause before each answer.
        days: spread the entry dates of generated records over so many days only; 1 puts all on one day.
        seed: decides generated records, history keys and where faults strike.
        enforce_limits: whether NCBI's rate rule (3 per second, 10 with a key) is enforced.

    Raises:
        InvalidInput: both corpus and records are given, or one of the values cannot be used.
    """

    def __init__(
        self,
        *,
        corpus: Sequence[Path] | None = None,
        records: int | None = None,
        port: int = 0,
        faults: Mapping[str, float] | None = None,
        latency_ms: int = 0,
        days: int | None = None,
        seed: int = 0,
        enforce_limits: bool = True,
    ) -> None:
        if corpus and records is not None:
            raise _refused(
                "records", records, "either a corpus or a number of generated records can be served, not both"
            )
        if not 0 <= port <= 65_535:
            raise _refused("port", port, "a port between 0 and 65535 is needed")
        if latency_ms < 0:
            raise _refused("latency_ms", latency_ms, "the pause cannot be negative")
        self.faults = FaultPlan(faults, seed)
        self.corpus = _corpus(corpus, records, seed, days)
        self.log: deque[LogEntry] = deque(maxlen=_LOG_LENGTH)
        self.defects: list[Exception] = []
        self._state = SandboxState(dict(build_databases(self.corpus)), History(seed))
        self._rule = limits.RateRule() if enforce_limits else None
        self._latency = latency_ms / 1000
        self._port = port
        self._counts: Counter[str] = Counter()
        self._down: set[str] = set()
        self._slow: list[tuple[str, dict[str, str], float]] = []
        self._routes = dict(ENDPOINTS)
        europepmc = EuropePMCService()
        self.route("/europepmc", "europepmc", europepmc.other)
        for name in ("search", "searchPOST"):
            self.route(f"/europepmc/{name}", "europepmc_search", europepmc.search)
        self.route("/unpaywall", "unpaywall", unpaywall(lambda: self.url))
        self.route(PUBLISHER, "publisher", publisher)
        self.route("/pmc-oa", "pmc_oa", pmc_oa)
        self.route("/crossref", "crossref", crossref)
        self.route("/openalex", "openalex", openalex)
        self._guard = threading.Lock()
        self._listener: Listener | None = None
        self._stopped = threading.Event()
        self._folder: TemporaryDirectory[str] | None = None

    # running

    @property
    def port(self) -> int:
        """The port listened on."""
        if self._listener is None:
            raise RuntimeError("the sandbox is not running")
        return self._listener.server_port

    @property
    def url(self) -> str:
        """Base address; the E-utilities are under ``{url}/entrez/eutils``."""
        return f"http://{HOST}:{self.port}"

    def start(self) -> Self:
        """Listen and answer, in threads of its own.

        Raises:
            InvalidInput: the port is taken or not allowed.
        """
        if self._listener is not None:
            return self
        try:
            listener = Listener(self._port, self._answer)
        except (OSError, OverflowError) as exc:
            raise _refused("port", self._port, f"the port cannot be used ({type(exc).__name__})") from None
        self._stopped.clear()
        listener.start()
        self._listener = listener  # only now: another thread may stop what it sees here
        return self

    def stop(self) -> None:
        """Stop answering; when it returns, no thread and no connection is left."""
        self._stopped.set()
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.end()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def serve_forever(self) -> None:
        """Answer until interrupted or stopped from another thread."""
        self.start()
        try:
            while not self._stopped.wait(0.5):
                pass
        finally:
            self.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # for tests and for later databases

    def requests(self, endpoint: str | None = None) -> int:
        """Return how many requests came, refused and failed ones included."""
        with self._guard:
            return self._counts.total() if endpoint is None else self._counts[endpoint]

    def entries(self, endpoint: str | None = None) -> list[LogEntry]:
        """Return the log, of one endpoint or all; the latest 200,000 requests are kept."""
        with self._guard:
            return [entry for entry in self.log if endpoint in (None, entry.endpoint)]

    def register(self, database: Database) -> None:
        """Serve one more database, or another one under the same name."""
        self._state.databases[database.name] = database

    def route(self, path: str, name: str, endpoint: Endpoint) -> None:
        """Serve one more path and everything under it, for services that are no E-utilities."""
        self._routes[path.rstrip("/")] = (name, endpoint)

    def fail_next(self, kind: str, endpoint: str | None = None, times: int = 1) -> None:
        """Let the next requests (of one endpoint, or any) meet this fault."""
        self.faults.next(kind, endpoint, times)

    def take_down(self, *endpoints: str) -> None:
        """Let endpoints answer 404 from now on, as retired ones do."""
        self._down.update(endpoints)

    def slow_down(self, endpoint: str, seconds: float, **params: str) -> None:
        """Let an endpoint answer late from now on, or only those of its requests that have these parameters."""
        self._slow.append((endpoint, params, seconds))

    def expire_history(self) -> None:
        """Forget all result sets, as NCBI does after some hours."""
        self._state.history.expire()

    def settings(self, folder: Path | None = None, **overrides: Any) -> "Settings":
        """Return settings that point at this sandbox, with all files in a folder (by default a temporary one).

        Args:
            folder: where cache, data and limiter state go; a temporary folder that stop() removes by default.
            overrides: settings by name; keys, tokens and e-mails may be plain texts.
        """
        from pydantic import SecretStr

        from entrez_kit.base.settings import BY_NAME, Settings

        if folder is None:
            if self._folder is None:
                self._folder = TemporaryDirectory(prefix="entrez-kit-sandbox-")
            folder = Path(self._folder.name)
        places = {"cache_dir": "cache", "data_dir": "data", "state_dir": "state", "config_file": "config.toml"}
        values: dict[str, Any] = {name: folder / path for name, path in places.items()}
        known = {field.name for field in dataclass_fields(Settings)}
        for name, value in overrides.items():
            if name not in known:
                raise TypeError(f"there is no setting {name!r}")
            secret = name in BY_NAME and BY_NAME[name].secret and isinstance(value, str)
            values[name] = SecretStr(value) if secret else value
        return Settings(**values).with_sandbox(self.url)

    # answering

    def _answer(self, arrival: Arrival) -> Strike:
        params = _params(arrival.query) + _params(arrival.form)
        name, endpoint, rest = self._routed(arrival.path)
        request = SandboxRequest(name, arrival.method, params, rest)
        key = request.get("api_key") or None
        fault = None
        verdict = None
        if self._rule is not None and arrival.path.startswith(EUTILS):
            verdict = self._rule.judge(arrival.at, arrival.address, key)
        if verdict is not None and not verdict.allowed:
            strike = _whole(limits.too_many(verdict.who, verdict.count, verdict.limit))
        else:
            if self._latency:
                self._stopped.wait(self._latency)
            self._dawdle(request)
            reply = self._reply(request, endpoint, arrival)
            if verdict is not None:
                reply = SandboxReply(reply.body, reply.content_type, reply.status, (*reply.headers, *verdict.headers))
            strike = _whole(reply)
            if endpoint is not None:
                fault = self.faults.draw(name)
                if fault is not None:
                    limit = limits.WITH_KEY if key else limits.WITHOUT_KEY
                    strike = self.faults.strike(fault, name, request.retmode, reply, key or arrival.address, limit)
        public = tuple(pair for pair in params if pair[0].lower() not in SECRETS)
        with self._guard:
            self._counts[name] += 1
            self.log.append(
                LogEntry(arrival.at, name, public, strike.reply.status, arrival.method, key is not None, fault)
            )
        return strike

    def _dawdle(self, request: SandboxRequest) -> None:
        for endpoint, params, seconds in self._slow:
            if endpoint == request.endpoint and all(request.get(name) == value for name, value in params.items()):
                self._stopped.wait(seconds)

    def _routed(self, path: str) -> tuple[str, Endpoint | None, str]:
        """Return name and function for a path, and what of it follows the endpoint; the longest match counts."""
        start, rest = path.rstrip("/"), ""
        while start:
            if start in self._routes and not (rest and start in ENDPOINTS):
                return *self._routes[start], unquote(rest)
            start, _, last = start.rpartition("/")
            rest = f"{last}/{rest}" if rest else last
        return path, None, ""

    def _reply(self, request: SandboxRequest, endpoint: Endpoint | None, arrival: Arrival) -> SandboxReply:
        if endpoint is None or request.endpoint in self._down:
            return plain(f"404 Not Found: {arrival.path}\n", 404)
        key = request.get("api_key")
        if key == limits.INVALID_KEY and arrival.path.startswith(EUTILS):
            return limits.bad_key(key)
        if arrival.method == "GET":
            counted = [(name, value) for name, value in request.params if name.lower() not in _NOT_COUNTED]
            if len(urlencode(counted)) > MAX_GET:
                return plain("414 Request-URI Too Large: use POST for long requests\n", 414)
            if len(request.ids) > MAX_GET_IDS:
                return plain("400 Bad Request: use POST for more than 200 ids\n", 400)
        try:
            return endpoint(request, self._state)
        except Exception as exc:  # a defect of the sandbox must not look like an answer of NCBI, nor kill the server
            self.defects.append(exc)
            return plain(f"The sandbox failed: {type(exc).__name__}: {exc}\n", 500)


@lru_cache(maxsize=1)
def build_databases(corpus: Corpus) -> Mapping[str, Database]:
    """Return every database by name; a new one is one more entry here. The ones built last are kept."""
    pubmed = PubMedDatabase(corpus)
    databases: list[Database] = [
        pubmed,
        PmcDatabase(pubmed),
        GeneDatabase(corpus),
        TaxonomyDatabase(),
        MeshDatabase(),
        NuccoreDatabase(),
    ]
    return {database.name: database for database in databases}


def _corpus(paths: Sequence[Path] | None, records: int | None, seed: int, days: int | None) -> Corpus:
    if records is not None:
        from entrez_kit.sandbox.generate import DAYS, GeneratedCorpus

        return GeneratedCorpus(records, seed, DAYS if days is None else days)
    return ParsedCorpus.from_paths(paths) if paths else ParsedCorpus.demo()


def _params(query: str) -> tuple[tuple[str, str], ...]:
    """Return the parameters of a query string or form; what cannot be read counts as none."""
    try:
        return tuple(parse_qsl(query, keep_blank_values=True, errors="replace", max_num_fields=_MAX_FIELDS))
    except ValueError:
        return ()


def _whole(reply: SandboxReply) -> Strike:
    return Strike(reply, reply.body)


def _refused(name: str, value: object, problem: str) -> InvalidInput:
    return InvalidInput(
        f"{name}: {problem} (got {value}).", invalid_input=f"{name}={value}", details={"reason": "bad_sandbox_option"}
    )
