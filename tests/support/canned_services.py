"""Operations over the sandbox, and services with prepared replies, for the tests of any database."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from prepared_reply import prepare_reply

from entrez_kit import EntrezKit
from entrez_kit.base.settings import Settings
from entrez_kit.core.operation import Operation
from entrez_kit.services.transport import Reply

Body = bytes | Exception | Callable[..., bytes]


def call_operation(kit: EntrezKit, operation: Operation[Any, Any], **arguments: Any) -> Any:
    """Run an operation as the Python front end does."""
    return operation.run(kit.services, arguments)


class Canned:
    """Services that answer with prepared bodies, one list per endpoint, and record the requests.

    The last body of an endpoint answers all further requests. A body may be a function of the parameters.
    """

    at_once = 1

    def __init__(self, **bodies: Body | Iterable[Body]) -> None:
        self.bodies: dict[str, list[Body]] = {
            name: list(body) if isinstance(body, list | tuple) else [body]  # type: ignore[list-item]
            for name, body in bodies.items()
        }
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.eutils = self
        self.idconv = self
        self.settings = Settings()

    def __getattr__(self, endpoint: str) -> Callable[..., Reply]:
        def answer(*ids: Any, read: Callable[[Any], Any] | None = None, **parameters: Any) -> Reply:
            if ids:
                parameters["ids"] = ids[0]
            self.asked.append((endpoint, parameters))
            waiting = self.bodies[endpoint]
            body = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            if callable(body):
                body = body(**parameters)
            if isinstance(body, Exception):
                raise body
            return prepare_reply(endpoint, body, read)

        return answer

    def requests(self, endpoint: str) -> list[Mapping[str, Any]]:
        """Return the requests to an endpoint."""
        return [parameters for name, parameters in self.asked if name == endpoint]


def run_canned(services: Canned, operation: Operation[Any, Any], **arguments: Any) -> Any:
    """Run an operation over prepared replies."""
    return operation.run(services, arguments)  # type: ignore[arg-type]


def list_outcomes(result: Any) -> list[tuple[str, str]]:
    """Return the id and the status of each outcome."""
    return [(outcome.id, outcome.status) for outcome in result.outcomes]


def list_warning_codes(result: Any) -> list[str]:
    """Return the code of each warning."""
    return [warning.code for warning in result.warnings]


def write_summaries_json(ids: Iterable[str], absent: Iterable[str] = (), **fields: Any) -> bytes:
    """Return an ESummary reply in JSON."""
    known, missing = list(ids), list(absent)
    result: dict[str, Any] = {"uids": [*known, *missing]}
    result |= {uid: {"uid": uid, "title": f"record {uid}", **fields} for uid in known}
    result |= {uid: {"uid": uid, "error": "cannot get document summary"} for uid in missing}
    return json.dumps({"header": {"type": "esummary"}, "result": result}).encode()


def write_esearch_xml(count: int, ids: Iterable[object] = (), errors: str = "") -> bytes:
    """Return an ESearch reply."""
    listed = "".join(f"<Id>{uid}</Id>" for uid in ids)
    return f"<eSearchResult><Count>{count}</Count><IdList>{listed}</IdList>{errors}</eSearchResult>".encode()


def write_einfo_xml(*names: str) -> bytes:
    """Return EInfo's list of databases."""
    listed = "".join(f"<DbName>{name}</DbName>" for name in names)
    return f"<eInfoResult><DbList>{listed}</DbList></eInfoResult>".encode()


def write_linkset(source: str, *ids: str, to: str = "pubmed", name: str = "gene_pubmed", scores: bool = False) -> str:
    """Return one link set of ELink."""
    score = "<Score>7</Score>" if scores else ""
    links = "".join(f"<Link><Id>{uid}</Id>{score}</Link>" for uid in ids)
    group = f"<LinkSetDb><DbTo>{to}</DbTo><LinkName>{name}</LinkName>{links}</LinkSetDb>" if ids else ""
    listed = f"<IdList><Id>{source}</Id></IdList>" if source else "<IdList/>"
    return f"<LinkSet><DbFrom>gene</DbFrom>{listed}{group}</LinkSet>"


def write_elink_xml(*linksets: str) -> bytes:
    """Return an ELink reply."""
    return f"<eLinkResult>{''.join(linksets)}</eLinkResult>".encode()
