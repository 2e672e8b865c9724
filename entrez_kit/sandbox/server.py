"""The sandbox: a loopback HTTP server that answers as NCBI does."""

import threading
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import fields as dataclass_fields
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from entrez_kit.base.errors import InvalidInput, describe_os_error, wrong_value
from entrez_kit.base.frontend_text import Argument, FrontendText, Text, list_choices
from entrez_kit.base.settings import BY_NAME, Settings
from entrez_kit.local.eutils.listener import HOST, Arrival, Listener, Strike
from entrez_kit.local.eutils.replies import LocalReply, answer_text
from entrez_kit.local.eutils.requesting import LocalRequest
from entrez_kit.local.eutils.service import EUTILS, SECRETS, Endpoint, LocalEntrez
from entrez_kit.local.records.collection import ParsedCollection, RecordCollection
from entrez_kit.sandbox import limits
from entrez_kit.sandbox.demo import add_services, build_databases
from entrez_kit.sandbox.faults import FaultPlan, parse_faults
from entrez_kit.sandbox.generate import DAYS, GeneratedCollection

__all__ = ["LogEntry", "Sandbox", "parse_faults"]

_LOG_LENGTH: Final = 200_000


class LogEntry(NamedTuple):
    """One request: its arrival time (``time.monotonic``), its parameters without key and e-mail, and its status.

    ``fault`` is the kind of fault, if any; ``keyed`` is true if the request had an api_key.
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


class Sandbox(LocalEntrez):
    """A local server that imitates NCBI on 127.0.0.1; use it as a context manager, or call start and stop.

    Args:
        corpus: files or folders of PubMed XML to serve; the bundled demo articles by default.
        records: number of generated, invented records to serve instead of a corpus.
        port: port to listen on; 0 selects a free one.
        faults: probability of each kind of failure (see ``parse_faults``).
        latency_ms: pause before each answer in milliseconds.
        days: number of days over which the entry dates of generated records are distributed.
        seed: seed of the generated records, history keys and faults.
        enforce_limits: whether to enforce NCBI's rate limit (3 requests per second, 10 with a key).
        most_faults_in_a_row: how often in succession the same request may fail by chance; None for any number. A
            number below the attempts of a client makes sure that each of its requests succeeds in the end.

    Raises:
        InvalidInput: both corpus and records are given, or a value is invalid.
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
        most_faults_in_a_row: int | None = None,
    ) -> None:
        if corpus and records is not None:
            raise _option_error("records", records, FrontendText("cannot be used with ", Argument("corpus")))
        if not 0 <= port <= 65_535:
            raise wrong_value("port", "a whole number from 0 to 65535", port, reason=_REASON)
        if latency_ms < 0:
            raise wrong_value("latency_ms", "a whole number of 0 or more", latency_ms, reason=_REASON)
        self.faults = FaultPlan(faults, seed, most_faults_in_a_row)
        self.collection = _load_corpus(corpus, records, seed, days)
        self.log: deque[LogEntry] = deque(maxlen=_LOG_LENGTH)
        self.defects: list[Exception] = []
        super().__init__(build_databases(self.collection), seed)
        add_services(self, self._state.pubmed, lambda: self.url)
        self._rule = limits.RateRule() if enforce_limits else None
        self._latency = latency_ms / 1000
        self._port = port
        self._counts: Counter[str] = Counter()
        self._down: set[str] = set()
        self._slow: list[tuple[str, dict[str, str], float]] = []
        self._guard = threading.Lock()
        self._listener: Listener | None = None
        self._stopped = threading.Event()
        self._folder: TemporaryDirectory[str] | None = None

    # running

    @property
    def port(self) -> int:
        """The port of the running sandbox."""
        if self._listener is None:
            raise RuntimeError("the sandbox is not running")
        return self._listener.server_port

    @property
    def url(self) -> str:
        """The base URL; the E-utilities are under ``{url}/entrez/eutils``."""
        return f"http://{HOST}:{self.port}"

    def start(self) -> Self:
        """Start the server in background threads.

        Raises:
            InvalidInput: the port is in use or not allowed.
        """
        if self._listener is not None:
            return self
        try:
            listener = Listener(self._port, self._answer)
        except (OSError, OverflowError) as exc:
            reason = describe_os_error(exc) if isinstance(exc, OSError) else str(exc)
            raise _option_error("port", self._port, f"{self._port} cannot be used ({reason})") from None
        self._stopped.clear()
        listener.start()
        self._listener = listener  # assigned last, because another thread may call stop
        return self

    def stop(self) -> None:
        """Stop the server and wait until its threads and connections have ended."""
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

    # for tests and additional databases

    def requests(self, endpoint: str | None = None) -> int:
        """Return the number of requests, including rejected and failed ones.

        Raises:
            InvalidInput: the sandbox has no endpoint with this name. This holds for all methods that take an endpoint.
        """
        self._check_endpoints(endpoint)
        with self._guard:
            return self._counts.total() if endpoint is None else self._counts[endpoint]

    def entries(self, endpoint: str | None = None) -> list[LogEntry]:
        """Return the log of one endpoint or of all; it contains the latest 200,000 requests."""
        self._check_endpoints(endpoint)
        with self._guard:
            return [entry for entry in self.log if endpoint in (None, entry.endpoint)]

    def fail_next(self, kind: str, endpoint: str | None = None, times: int = 1) -> None:
        """Plan this fault for the next requests (of one endpoint, or any)."""
        self._check_endpoints(endpoint)
        self.faults.plan_next(kind, endpoint, times)

    def take_down(self, *endpoints: str) -> None:
        """Make endpoints answer 404 from now on, like retired endpoints."""
        self._check_endpoints(*endpoints)
        self._down.update(endpoints)

    def delay(self, endpoint: str, seconds: float, **params: str) -> None:
        """Delay the answers of an endpoint from now on; with parameters, only of requests that have these values."""
        self._check_endpoints(endpoint)
        self._slow.append((endpoint, params, seconds))

    def _check_endpoints(self, *endpoints: str | None) -> None:
        known = {name for name, _ in self._routes.values()}
        for endpoint in endpoints:
            if endpoint is not None and endpoint not in known:
                raise wrong_value("endpoint", list_choices(sorted(known)), endpoint, reason=_REASON)

    def settings(self, folder: Path | None = None, **overrides: Any) -> "Settings":
        """Return settings for this sandbox, with all files in one folder.

        Args:
            folder: folder for cache, data and limiter state; by default a temporary one, which stop() removes.
            overrides: settings by name; keys, tokens and e-mails may be plain strings.
        """
        from pydantic import SecretStr

        if folder is None:
            if self._folder is None:
                self._folder = TemporaryDirectory(prefix="entrez-kit-sandbox-")
            folder = Path(self._folder.name)
        places = {"cache_dir": "cache", "data_dir": "data", "state_dir": "state", "config_file": "config.toml"}
        values: dict[str, Any] = {name: folder / path for name, path in places.items()}
        field_names = {field.name for field in dataclass_fields(Settings)}
        for name, value in overrides.items():
            if name not in field_names:
                raise TypeError(f"unknown setting {name!r}")
            secret = name in BY_NAME and BY_NAME[name].secret and isinstance(value, str)
            values[name] = SecretStr(value) if secret else value
        return Settings(**values).use_sandbox(self.url)

    # answering

    def _answer(self, arrival: Arrival) -> Strike:
        request, endpoint = self.read_request(arrival.method, arrival.path, arrival.query, arrival.form)
        name = request.endpoint
        key = request.get("api_key") or None
        public = tuple(pair for pair in request.params if pair[0].lower() not in SECRETS)
        fault = None
        verdict = None
        if self._rule is not None and arrival.path.startswith(EUTILS):
            verdict = self._rule.judge(arrival.at, arrival.address, key)
        if verdict is not None and not verdict.allowed:
            strike = Strike(limits.answer_too_many(verdict.who, verdict.count, verdict.limit))
        else:
            if self._latency:
                self._stopped.wait(self._latency)
            self._wait_if_slow(request)
            reply = self._reply(request, endpoint, arrival)
            if verdict is not None:
                reply = LocalReply(reply.body, reply.content_type, reply.status, (*reply.headers, *verdict.headers))
            strike = Strike(reply)
            if endpoint is not None:
                fault = self.faults.draw(name, [pair for pair in public if pair[0].lower() != "webenv"])
                if fault is not None:
                    limit = limits.WITH_KEY if key else limits.WITHOUT_KEY
                    strike = self.faults.strike(fault, name, request.retmode, reply, key or arrival.address, limit)
        with self._guard:
            self._counts[name] += 1
            kind = None if fault is None else fault.kind
            self.log.append(
                LogEntry(arrival.at, name, public, strike.reply.status, arrival.method, key is not None, kind)
            )
        return strike

    def _wait_if_slow(self, request: LocalRequest) -> None:
        for endpoint, params, seconds in self._slow:
            if endpoint == request.endpoint and all(request.get(name) == value for name, value in params.items()):
                self._stopped.wait(seconds)

    def _reply(self, request: LocalRequest, endpoint: Endpoint | None, arrival: Arrival) -> LocalReply:
        if request.endpoint in self._down:
            return answer_text(f"404 Not Found: {arrival.path}\n", 404)
        key = request.get("api_key")
        if key == limits.INVALID_KEY and arrival.path.startswith(EUTILS):
            return limits.answer_bad_key(key)
        try:
            return self.reply(request, endpoint, arrival.path)
        except Exception as exc:  # a defect of the sandbox must not look like an answer of NCBI or end the server
            self.defects.append(exc)
            return answer_text(f"The sandbox failed: {type(exc).__name__}: {exc}\n", 500)


def _load_corpus(paths: Sequence[Path] | None, records: int | None, seed: int, days: int | None) -> RecordCollection:
    if records is not None:
        return GeneratedCollection(records, seed, DAYS if days is None else days)
    return ParsedCollection.from_paths(paths) if paths else ParsedCollection.demo()


_REASON: Final = "bad_sandbox_option"
"""The reason of an invalid option of the sandbox."""


def _option_error(name: str, value: object, problem: Text) -> InvalidInput:
    return InvalidInput(
        FrontendText(Argument(name), " ", problem, "."),
        invalid_input=f"{name}={value}",
        recovery_hint=FrontendText("Give ", Argument(name), " another value, or omit it."),
        details={"reason": _REASON},
    )
