"""The E-utilities over a local copy of PubMed; what no copy has is refused by name."""

from dataclasses import replace
from datetime import date
from typing import Final

from entrez_kit.base.errors import EntrezKitError, InvalidInput, NotConfigured, describe_os_error
from entrez_kit.base.frontend_text import Argument, FrontendText, Text, suggest_command
from entrez_kit.base.tracing import FIDELITY_HEADER
from entrez_kit.local.copies import Copy
from entrez_kit.local.copy_mesh import StoredMesh
from entrez_kit.local.eutils.listener import Arrival, Listener, Strike
from entrez_kit.local.eutils.pubmed import PubMedDatabase
from entrez_kit.local.eutils.replies import LocalReply, answer_failure, answer_text
from entrez_kit.local.eutils.requesting import LocalRequest
from entrez_kit.local.eutils.service import Endpoint, LocalEntrez

SHOWN_HASH: Final = 12
_SERVICES: Final = {
    "europepmc": "Europe PMC",
    "unpaywall": "Unpaywall",
    "pmc-oa": "PMC's open-data bucket",
    "crossref": "Crossref",
    "openalex": "OpenAlex",
}
"""The services that no copy has, by the first part of their path."""
_DATABASE: Final = {"elink": "dbfrom"}
"""The parameter that names the database of a request; ``db`` in all other endpoints."""
_STORED_LINKS: Final = ("pubmed_pubmed_citedin", "pubmed_pubmed_refs")
"""The links that records contain."""
_LINKOUT: Final = ("llinks", "llinkslib", "prlinks", "lcheck")
"""The commands of ELink that need LinkOut."""
_REASONS: Final = {
    "espell": "spellings are corrected with the words of this copy",
    "ecitmatch": "citations are matched by the records of this copy",
}
COPY_HEADER: Final = "Entrez-Kit-Copy"
"""The header with which a server names its copy."""
HAS_FAILURE: Final = frozenset(("esearch", "esummary", "efetch", "elink", "epost", "einfo"))


def describe_copy(copy: Copy) -> str:
    """Return the name, date and hash of a copy for messages."""
    return f"{copy.name} (PubMed of {copy.date or 'an unknown date'}, hash {copy.hash[:SHOWN_HASH]})"


def _find_reason(request: LocalRequest) -> str | None:
    """Return why an answer differs from PubMed's; None if it does not, or if it says so itself."""
    if request.endpoint == "elink" and request.get("dbfrom") in ("", "pubmed"):
        names = [name for name in request.get("linkname").split(",") if name]
        if not names or any(name not in _STORED_LINKS for name in names):
            return "similar articles share headings and title words in this copy; they are not PubMed's"
    return _REASONS.get(request.endpoint)


class CopyEntrez(LocalEntrez):
    """PubMed from a copy, and MeSH if the copy has it."""

    def __init__(self, copy: Copy) -> None:
        build = f"Build-{copy.name}-{copy.hash[:SHOWN_HASH]}"
        day = date.fromisoformat(copy.date) if copy.date else None
        pubmed = PubMedDatabase(copy.collection, copy.read_vocabulary, is_copy=True, build=build, updated=day)
        mesh = StoredMesh(copy.reading)
        mesh.build, mesh.updated = build, day
        super().__init__([pubmed] if mesh.is_empty else [pubmed, mesh])
        self._state.menus = {}  # the number of hits in other databases is not 0, but unknown
        self._name, self._label = copy.name, describe_copy(copy)

    def reply(self, request: LocalRequest, endpoint: Endpoint | None, path: str) -> LocalReply:
        """Answer a request.

        Raises:
            NotConfigured: no copy has the service or the database.
            InvalidInput: no copy can answer the query.
        """
        service = _SERVICES.get(path.lstrip("/").partition("/")[0])
        if service is not None:
            raise self._missing_error(service, service)
        name = request.get(_DATABASE.get(request.endpoint, "db")).lower()
        if endpoint is not None and name and name not in self._state.databases:
            raise self._missing_error(f"the database {name}", name)
        target = request.get("db").lower() if request.endpoint == "elink" else ""
        for name in filter(None, target.split(",")):
            if name not in (*self._state.databases, "all"):
                raise self._missing_error(f"links to the database {name}", name)
        if request.endpoint == "elink" and request.get("cmd").lower() in _LINKOUT:
            raise self._missing_error("links to publishers and libraries (LinkOut)", "linkout")
        answer = super().reply(request, endpoint, path)
        reason = _find_reason(request)
        return replace(answer, headers=((FIDELITY_HEADER, f"approximate; {reason}"),)) if reason else answer

    def answer(self, arrival: Arrival) -> Strike:
        """Answer a request of another program; a refusal is an answer with ``<ERROR>``."""
        request, endpoint = self.read_request(arrival.method, arrival.path, arrival.query, arrival.form)
        try:
            reply = self.reply(request, endpoint, arrival.path)
        except EntrezKitError as exc:
            reply = answer_text(f"{exc.message}\n", 400)
            if request.endpoint in HAS_FAILURE:
                reply = answer_failure(request.endpoint, exc.message, retmode=request.retmode)
        except Exception as exc:  # a defect must not end the server
            reply = answer_text(f"The server failed: {type(exc).__name__}\n", 500)
        return Strike(replace(reply, headers=(*reply.headers, (COPY_HEADER, self._label))), reply.body)

    def _missing_error(self, contents: str, part: str) -> NotConfigured:
        has = "PubMed and MeSH" if "mesh" in self._state.databases else "PubMed"
        hint: Text = FrontendText("Omit ", Argument("local"), " (or ENTREZ_KIT_LOCAL) to send the request.")
        if part == "mesh":
            hint = FrontendText(
                suggest_command(
                    f"local import {self._name} desc2026.xml", "Ask the operator of the server to import a MeSH file"
                ),
                " to add MeSH to the copy.",
            )
        return NotConfigured(
            f"The local copy {self._name} does not have {contents}; it has only {has}.",
            invalid_input=f"local={self._name}",
            recovery_hint=hint,
            details={"reason": "not_in_copy", "part": part},
        )


def serve_copy(copy: Copy, port: int = 0) -> Listener:
    """Start a server on loopback that answers as the E-utilities from a copy; ``end`` stops it.

    Raises:
        InvalidInput: the port is in use or not allowed.
    """
    try:
        listener = Listener(port, CopyEntrez(copy).answer)
    except (OSError, OverflowError) as exc:
        reason = describe_os_error(exc) if isinstance(exc, OSError) else str(exc)
        raise InvalidInput(
            FrontendText(Argument("port"), f" {port} cannot be used ({reason})."),
            invalid_input=f"port={port}",
            recovery_hint="Give another port, or 0 for a free one.",
            details={"reason": "bad_port"},
        ) from None
    listener.start()
    return listener
