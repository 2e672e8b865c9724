"""The E-utilities over local databases: find the endpoint of a request, check its length, and answer it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from entrez_kit.local.eutils.database import BadRequest, Database
from entrez_kit.local.eutils.efetch import answer_efetch
from entrez_kit.local.eutils.elink import answer_elink
from entrez_kit.local.eutils.esearch import answer_esearch
from entrez_kit.local.eutils.esummary import answer_esummary
from entrez_kit.local.eutils.history import History
from entrez_kit.local.eutils.idconv import answer_idconv
from entrez_kit.local.eutils.others import answer_ecitmatch, answer_egquery, answer_einfo, answer_epost, answer_espell
from entrez_kit.local.eutils.replies import LocalReply, answer_failure, answer_text
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState

Endpoint = Callable[[LocalRequest, LocalState], LocalReply]
EUTILS: Final = "/entrez/eutils/"
ENDPOINTS: Final[Mapping[str, tuple[str, Endpoint]]] = {
    **{
        f"{EUTILS}{name}.fcgi": (name, endpoint)
        for name, endpoint in (
            ("esearch", answer_esearch),
            ("esummary", answer_esummary),
            ("efetch", answer_efetch),
            ("elink", answer_elink),
            ("epost", answer_epost),
            ("espell", answer_espell),
            ("egquery", answer_egquery),
            ("einfo", answer_einfo),
        )
    },
    f"{EUTILS}ecitmatch.cgi": ("ecitmatch", answer_ecitmatch),
    "/idconv": ("idconv", answer_idconv),
}
"""Name and function by path. The rate limit applies to the paths of the E-utilities."""

MAX_GET: Final = 2_000
"""Maximum length of the query string of a GET request without key, e-mail and tool; NCBI requires POST above it."""
MAX_GET_IDS: Final = 200
SECRETS: Final = frozenset(("api_key", "email", "mailto"))
_NOT_COUNTED: Final = SECRETS | {"tool"}
_MAX_FIELDS: Final = 100_000


class LocalEntrez:
    """Answers requests for the E-utilities, and for the services that are added with ``route``.

    Args:
        databases: the databases.
        seed: seed of the keys of the history.
    """

    def __init__(self, databases: Iterable[Database], seed: int = 0) -> None:
        self._state = LocalState({database.name: database for database in databases}, History(seed))
        self._routes = dict(ENDPOINTS)

    def register(self, database: Database) -> None:
        """Add a database, or replace the one with the same name."""
        self._state.databases[database.name] = database

    def route(self, path: str, name: str, endpoint: Endpoint) -> None:
        """Serve a path and every path under it; for services other than the E-utilities."""
        self._routes[path.rstrip("/")] = (name, endpoint)

    def expire_history(self) -> None:
        """Remove all result sets, as NCBI does after some hours."""
        self._state.history.expire()

    def respond(self, method: str, url: str, form: str) -> LocalReply:
        """Answer a request with the form of a POST in this process."""
        parts = urlsplit(url)
        request, endpoint = self.read_request(method, parts.path, parts.query, form)
        return self.reply(request, endpoint, parts.path)

    def read_request(self, method: str, path: str, query: str, form: str) -> tuple[LocalRequest, Endpoint | None]:
        """Return a request with its parameters, and its endpoint; None if no service has the path."""
        name, endpoint, rest = self._find_route(path)
        return LocalRequest(name, method, _parse_params(query) + _parse_params(form), rest), endpoint

    def _find_route(self, path: str) -> tuple[str, Endpoint | None, str]:
        """Return name and function of the longest route that matches a path, and the rest of the path."""
        start, rest = path.rstrip("/"), ""
        while start:
            if start in self._routes and not (rest and start in ENDPOINTS):
                return *self._routes[start], unquote(rest)
            start, _, last = start.rpartition("/")
            rest = f"{last}/{rest}" if rest else last
        return path, None, ""

    def reply(self, request: LocalRequest, endpoint: Endpoint | None, path: str) -> LocalReply:
        """Answer a request if it has an endpoint and is not too long for a GET."""
        if endpoint is None:
            return answer_text(f"404 Not Found: {path}\n", 404)
        if request.method == "GET":
            counted = [(name, value) for name, value in request.params if name.lower() not in _NOT_COUNTED]
            if len(urlencode(counted)) > MAX_GET:
                return answer_text("414 Request-URI Too Large: use POST for long requests\n", 414)
            if len(request.ids) > MAX_GET_IDS:
                return answer_text("400 Bad Request: use POST for more than 200 ids\n", 400)
        try:
            return endpoint(request, self._state)
        except BadRequest as exc:
            mode = "xml" if request.endpoint in ("efetch", "epost") else request.retmode
            return answer_failure(request.endpoint, str(exc), retmode=mode, status=exc.status)


def _parse_params(query: str) -> tuple[tuple[str, str], ...]:
    """Return the parameters of a query string or form; none if it cannot be parsed."""
    try:
        return tuple(parse_qsl(query, keep_blank_values=True, errors="replace", max_num_fields=_MAX_FIELDS))
    except ValueError:
        return ()
