"""Simulated failures: the kinds, when one occurs, and how it changes an answer."""

import hashlib
import json
import random
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from entrez_kit.base.errors import InvalidInput, wrong_value
from entrez_kit.local.eutils.listener import Cut, Strike
from entrez_kit.local.eutils.replies import HTML, JSON, XML, LocalReply, answer_failure, answer_json, answer_text
from entrez_kit.sandbox import limits

_DATA: Final = json.loads(Path(__file__).with_name("faults.json").read_text(encoding="utf-8"))
KINDS: Final[dict[str, str]] = _DATA["kinds"]
"""The kinds of faults with their descriptions."""


def parse_faults(text: str) -> dict[str, float]:
    """Parse a list such as ``429=.05,500=.02,html=.1`` into probabilities by kind.

    Raises:
        InvalidInput: an unknown kind, a probability outside 0..1, or a sum above 1.
    """
    faults: dict[str, float] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        kind, _, value = item.partition("=")
        try:
            faults[kind.strip()] = float(value)
        except ValueError:
            raise _faults_error(item, "KIND=SHARE") from None
    return check_faults(faults)


def check_faults(faults: Mapping[str, float]) -> dict[str, float]:
    """Return a copy of the probabilities if they are valid.

    Raises:
        InvalidInput: an unknown kind, a probability outside 0..1, or a sum above 1.
    """
    for kind, probability in faults.items():
        if kind not in KINDS:
            raise _faults_error(kind, "a known kind of fault")
        if not 0 <= probability <= 1:  # also refuses NaN
            raise _faults_error(f"{kind}={probability:g}", "KIND=SHARE with a share from 0 to 1")
    if sum(faults.values()) > 1 + 1e-9:
        given = ",".join(f"{kind}={value:g}" for kind, value in faults.items())
        raise _faults_error(given, "shares with a sum of at most 1")
    return dict(faults)


def _faults_error(value: str, accepted: str) -> InvalidInput:
    hint = f"An example is 429=.05,500=.02. The kinds are {', '.join(KINDS)}."
    return wrong_value("faults", accepted, value, hint, reason="bad_faults")


class DrawnFault(NamedTuple):
    """The fault of one answer: its kind, the share of the body that is sent, and the choice between variants."""

    kind: str
    share: float
    choice: float


class FaultPlan:
    """Decide for each request whether a fault occurs, and count the faults.

    Faults planned with ``plan_next`` come first, in order; the probabilities apply to all other requests. Whether a
    request fails depends on the seed, the request and its attempt. The order in which threads send their requests has
    no effect.

    Args:
        faults: probability of each kind.
        seed: seed of the random choices.
        most_in_a_row: how often in succession the same request may be struck by chance; None for any number.
    """

    def __init__(
        self, faults: Mapping[str, float] | None = None, seed: int = 0, most_in_a_row: int | None = None
    ) -> None:
        self.probabilities = check_faults(faults or {})
        self._seed = seed
        self._most_in_a_row = most_in_a_row
        self._attempts: Counter[bytes] = Counter()
        self._in_a_row: Counter[bytes] = Counter()
        self.struck: Counter[str] = Counter()
        self._planned: dict[str | None, deque[str]] = {}
        self._lock = Lock()

    def plan_next(self, kind: str, endpoint: str | None = None, times: int = 1) -> None:
        """Plan this fault for the next requests (of one endpoint, or any)."""
        check_faults({kind: 1.0})
        with self._lock:
            self._planned.setdefault(endpoint, deque()).extend([kind] * times)

    def draw(self, endpoint: str, request: object = None) -> DrawnFault | None:
        """Return the fault for this request; None if the request succeeds.

        Args:
            endpoint: the name of the endpoint.
            request: what distinguishes this request from others; the same for every attempt.
        """
        with self._lock:
            kind = self._take_planned(endpoint)
            if kind is None and not self.probabilities:
                return None
            key = hashlib.blake2b(repr((endpoint, request)).encode(), digest_size=16).digest()
            self._attempts[key] += 1
            chance = random.Random(f"faults:{self._seed}:{key.hex()}:{self._attempts[key]}")
            if kind is None and not self._is_spared(key):
                kind = self._choose_kind(chance.random())
            if kind is None:
                del self._in_a_row[key]
                return None
            self.struck[kind] += 1
            self._in_a_row[key] += 1
        return DrawnFault(kind, chance.uniform(0.2, 0.95), chance.random())

    def _is_spared(self, key: bytes) -> bool:
        return self._most_in_a_row is not None and self._in_a_row[key] >= self._most_in_a_row

    def _choose_kind(self, point: float) -> str | None:
        for kind, probability in self.probabilities.items():
            point -= probability
            if point < 0:
                return kind
        return None

    def _take_planned(self, endpoint: str) -> str | None:
        for name in (endpoint, None):
            waiting = self._planned.get(name)
            if waiting:
                return waiting.popleft()
        return None

    def strike(self, fault: DrawnFault, endpoint: str, retmode: str, reply: LocalReply, who: str, limit: int) -> Strike:
        """Apply a fault to an answer."""
        kind, share, choice = fault
        whole = reply.body
        if kind == "truncate":
            short = whole[: max(1, min(len(whole) - 1, int(len(whole) * share)))]
            return Strike(replace(reply, body=short))
        if kind == "cut":
            if choice < 1 / 3:
                return Strike(reply, b"", Cut.RESET)
            return Strike(reply, whole[: max(1, min(len(whole) - 1, int(len(whole) * share)))], Cut.CLOSE_EARLY)
        if kind == "reset":
            return Strike(reply, b"", Cut.RESET)
        return Strike(self._answer(kind, endpoint, retmode, who, limit, choice))

    def _answer(self, kind: str, endpoint: str, retmode: str, who: str, limit: int, choice: float) -> LocalReply:
        if kind == "429":
            return limits.answer_too_many(who, limit + 1, limit)
        if kind == "html":
            return _answer_page(200, "NCBI", "We are sorry, but your request could not be answered at the moment.")
        if kind in ("500", "502", "503"):
            return _answer_page(int(kind), *_DATA["server_errors"][kind])
        if kind == "prolog":
            declaration = b'<?xml version="1.0" encoding="UTF-8" ?>\n'
            return LocalReply(b"" if retmode == "json" else declaration, JSON if retmode == "json" else XML)
        wrong_error = _DATA["wrong_errors"].get(kind)
        if wrong_error is not None and endpoint in _DATA["backend_errors"]:
            return answer_failure(endpoint, wrong_error, retmode=retmode, status=400 if kind == "query1" else 200)
        if kind == "memory" and endpoint == "europepmc_search":
            return answer_json({"version": "6.9", "errCode": 404, "errMsg": "memory limit exceeded for query"})
        return answer_backend_error(endpoint, retmode, choice, status=400 if kind == "400" else 200)


def _answer_page(status: int, title: str, message: str) -> LocalReply:
    text = (
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" '
        '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">\n'
        f"<html><head><title>{title}</title></head>\n<body>\n<h1>Server Error</h1>\n<p>{message}</p>\n"
        f"<hr/><p>Diagnostic Information:</p>\n<div>Error: {status}</div>\n</body></html>\n"
    )
    return LocalReply(text.encode("utf-8"), HTML, status)


def answer_backend_error(endpoint: str, retmode: str, choice: float, status: int) -> LocalReply:
    """Answer with one of the known backend errors of this endpoint."""
    messages = _DATA["backend_errors"].get(endpoint)
    if messages:
        return answer_failure(endpoint, messages[int(choice * len(messages))], retmode=retmode, status=status)
    message = "Error occurred: Empty Response. Bytes read: 0 Status: Timeout"
    if endpoint == "europepmc_search":
        return answer_json({"version": "6.9"}, status)  # Europe PMC sometimes answers only this
    if endpoint == "espell":
        body = f'<?xml version="1.0"?>\n<eSpellResult>\n\t<ERROR>{message}</ERROR>\n</eSpellResult>\n'
        return LocalReply(body.encode("utf-8"), XML, status)
    if endpoint == "egquery":
        return LocalReply(f'<?xml version="1.0"?>\n<Result><ERROR>{message}</ERROR></Result>\n'.encode(), XML, status)
    if endpoint == "ecitmatch":
        return answer_text(f"<ERROR>{message}</ERROR>\n", status)
    return answer_json({"status": "error", "message": message}, status)
