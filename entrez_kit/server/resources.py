"""Resources: information about the server, statistics of databases, records of the corpus, and guides."""

import base64
import json
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, Final

from mcp_types import (
    BlobResourceContents,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

from entrez_kit.base import __version__
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import FrontendText, NextCall
from entrez_kit.guides import list_guides, read_guide
from entrez_kit.server.clients import ServerServices
from entrez_kit.server.portions import Portion
from entrez_kit.server.tool_definitions import DESCRIPTION, scope_error
from entrez_kit.server.toolsets import SCOPE_PREFIX

INFO_URI: Final = "pubmed-connect://info"
STATS_PREFIX: Final = "pubmed-connect://stats/"
STATS_URI: Final = f"{STATS_PREFIX}pubmed"
STATS_TEMPLATE: Final = f"{STATS_PREFIX}{{database}}"
GUIDE_PREFIX: Final = "pubmed-connect://guide/"
GUIDE_TEMPLATE: Final = f"{GUIDE_PREFIX}{{topic}}"
PAPER_PREFIX: Final = "resource://pubmed/paper/"
PAPER_TEMPLATE: Final = f"{PAPER_PREFIX}{{pmid}}"
SCOPES_OF_RESOURCES: Final = {STATS_PREFIX: f"{SCOPE_PREFIX}pubmed", PAPER_PREFIX: f"{SCOPE_PREFIX}corpus.read"}
"""The scope required for URIs with a prefix; other URIs need no scope."""

JSON_TYPE: Final = "application/json"
MARKDOWN_TYPE: Final = "text/markdown"
SERVER_NAME: Final = "entrez-kit"
UTILITIES: Final = ("ESearch", "ESummary", "EFetch", "ELink", "EInfo", "EPost", "ESpell", "EGQuery", "ECitMatch")
POLICY_URL: Final = "https://www.ncbi.nlm.nih.gov/books/NBK25497/"
OF_FIELDS: Final = ("name", "full_name", "description", "is_date", "is_numerical", "term_count")
OF_LINKS: Final = ("name", "description", "db_to")
"""The members of search fields and links in the statistics."""
SPOKEN_NAMES: Final = {"pubmed": "PubMed"}

PLACES: Final = (
    (
        INFO_URI,
        "serverInfo",
        "About this server",
        "Version, NCBI compliance, protocol versions and the state of the connection to NCBI.",
        JSON_TYPE,
    ),
    (
        STATS_URI,
        "getPubMedStats",
        "PubMed in numbers",
        "Size and last update of PubMed, its search fields and links, from EInfo.",
        JSON_TYPE,
    ),
    (
        STATS_TEMPLATE,
        "database-stats",
        "An Entrez database in numbers",
        'Size, last update, search fields and links of a database, e.g. "gene".',
        JSON_TYPE,
    ),
    (
        PAPER_TEMPLATE,
        "paper",
        "A record of the corpus",
        "Title, abstract, dates and quality of a PubMed record in the local corpus, as in rag_get.",
        JSON_TYPE,
    ),
    (GUIDE_TEMPLATE, "guide", "A guide", 'A short text about using entrez-kit, e.g. "searching".', MARKDOWN_TYPE),
)
"""URI, name, title, description and type."""


def list_resources(scopes: Collection[str] | None = None) -> list[Resource]:
    """Return the resources with a fixed URI that a token may read; None allows everything."""
    guides = [
        (f"{GUIDE_PREFIX}{guide.topic}", f"guide-{guide.topic}", guide.title, guide.summary, MARKDOWN_TYPE)
        for guide in list_guides()
    ]
    return [
        Resource(uri=uri, name=name, title=title, description=description, mime_type=kind)
        for uri, name, title, description, kind in (*PLACES, *guides)
        if "{" not in uri and may_read(uri, scopes)
    ]


def list_templates(scopes: Collection[str] | None = None) -> list[ResourceTemplate]:
    """Return the resource templates that a token may read; None allows everything."""
    return [
        ResourceTemplate(uri_template=uri, name=name, title=title, description=description, mime_type=kind)
        for uri, name, title, description, kind in PLACES
        if "{" in uri and may_read(uri, scopes)
    ]


def may_read(uri: str, scopes: Collection[str] | None) -> bool:
    """Return whether a token with these scopes may read a resource or a template."""
    needed = scope_of_resource(uri)
    return scopes is None or needed is None or needed in scopes


def scope_of_resource(uri: str) -> str | None:
    """Return the scope required to read a resource; None if every token may read it."""
    return next((scope for start, scope in SCOPES_OF_RESOURCES.items() if uri.startswith(start)), None)


def read_resource(
    services: ServerServices, uri: str, protocol_version: str, scopes: Collection[str] | None = None
) -> ReadResourceResult:
    """Return the content of a resource; JSON has two entries, as base64 and as text.

    Raises:
        EntityNotFound: the resource does not exist.
        InvalidInput: the id in its URI is not a PMID.
        NotConfigured: the token does not allow it.
        StoreError: the corpus cannot be read.
        UpstreamError: NCBI did not answer after all retries.
        RateLimited: NCBI refused the request, or no slot is free before the deadline.
    """
    if not may_read(uri, scopes):
        raise scope_error(uri, str(scope_of_resource(uri)))
    if uri == INFO_URI:
        return _build_json_contents(uri, describe_server(services, protocol_version))
    if uri.startswith(STATS_PREFIX):
        stats = fetch_database_stats(services, uri.removeprefix(STATS_PREFIX))
        return _build_json_contents(uri, Portion().cut(stats))  # some databases have hundreds of links
    if uri.startswith(PAPER_PREFIX):
        from entrez_kit.corpus.operations import RAG_GET

        record = RAG_GET.run(services, {"doc_id": f"pmid:{uri.removeprefix(PAPER_PREFIX)}"})
        return _build_json_contents(uri, record.model_dump(mode="json"))
    if uri.startswith(GUIDE_PREFIX):
        try:
            guide = read_guide(uri.removeprefix(GUIDE_PREFIX))
        except InvalidInput as exc:
            raise _unknown_error(uri, exc.recovery_hint) from None
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=MARKDOWN_TYPE, text=guide.text)])
    kinds = (INFO_URI, STATS_TEMPLATE, PAPER_TEMPLATE, GUIDE_TEMPLATE)
    readable = ", ".join(kind for kind in kinds if may_read(kind, scopes))
    raise _unknown_error(uri, f"There are {readable}; resources/list names them all.")


def build_error_document(uri: str, error: EntrezKitError) -> dict[str, Any]:
    """Return the error document of a resource; for the corpus it is the envelope of its contract."""
    if not uri.startswith(PAPER_PREFIX):
        return {**error.envelope(), "uri": uri}
    from entrez_kit.corpus.operations import RAG_GET

    return RAG_GET.error_document(error)


def _unknown_error(uri: str, hint: str) -> EntityNotFound:
    return EntityNotFound(
        f"The resource {uri[:200]} does not exist.",
        invalid_input=uri[:200],
        recovery_hint=hint,
        details={"reason": "unknown_resource"},
    )


def _build_json_contents(uri: str, document: dict[str, Any]) -> ReadResourceResult:
    text = json.dumps(document, ensure_ascii=False)
    blob = base64.b64encode(text.encode("utf-8")).decode("ascii")
    return ReadResourceResult(
        contents=[
            BlobResourceContents(uri=uri, mime_type=JSON_TYPE, blob=blob),
            TextResourceContents(uri=uri, mime_type=JSON_TYPE, text=text),
        ]
    )


def describe_server(services: ServerServices, protocol_version: str) -> dict[str, Any]:
    """Describe the server, its compliance with NCBI's rules, and the result of its last request to NCBI.

    Args:
        protocol_version: the version negotiated with the caller.
    """
    settings, health = services.settings, services.watched.health
    checked = datetime.fromtimestamp(health.checked_at, UTC) if health.checked_at is not None else None
    usage = "NCBI API Key in use" if settings.ncbi_api_key else "No NCBI API Key; set NCBI_API_KEY for a higher limit"
    if settings.demo:
        usage = "Sandbox with invented articles; NCBI is not asked"
    elif settings.copy_label:
        usage = f"Local copy {settings.copy_label}; NCBI is not asked"
    rate = f"{settings.requests_per_second} requests/sec ({'with' if settings.ncbi_api_key else 'without'} API key)"
    return {
        "server_name": SERVER_NAME,
        "server_version": __version__,
        "description": DESCRIPTION,
        "contact_email": "configured" if settings.ncbi_admin_email else "not configured",
        "mcp_spec_version": protocol_version,
        "mcp_spec_versions": list(KNOWN_PROTOCOL_VERSIONS),
        "ncbi_compliance": {
            "api_usage_status": usage,
            "tool_identifier": settings.ncbi_tool_identifier,
            "ncbi_usage_policy_url": POLICY_URL,
            "current_rate_limit_adherence": f"At most {rate}, shared by all processes of this user on this machine, "
            "via request queuing.",
        },
        "supported_eutilities": list(UTILITIES),
        "operational_status": {
            "last_ncbi_connectivity_check": checked
            and checked.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "ncbi_status": health.status,
            "internal_queue_length": services.watched.waiting,
        },
        "documentation_url": f"{GUIDE_PREFIX}mcp",
    }


def fetch_database_stats(services: ServerServices, name: str) -> dict[str, Any]:
    """Return the statistics of an Entrez database.

    Raises:
        EntityNotFound: the database does not exist.
        UpstreamError: NCBI did not answer after all retries.
        RateLimited: NCBI refused the request, or no slot is free before the deadline.
    """
    from entrez_kit.databases.info import describe_database

    try:
        if not name.strip():  # without a name EInfo lists all databases
            raise InvalidInput("no name", details={"reason": "unknown_database"})
        description = describe_database(services, name)
        info = description.value
    except InvalidInput:
        raise EntityNotFound(
            f"The Entrez database {name[:100]!r} does not exist.",
            invalid_input=f"database={name[:100]}",
            recovery_hint=FrontendText(
                f"For all names complete the argument `database` of {STATS_TEMPLATE}, or call ",
                NextCall("entrez_info"),
                ".",
            ),
            details={"reason": "unknown_database"},
        ) from None
    return {
        "database_name": SPOKEN_NAMES.get(info.name, info.name),
        "menu_name": info.menu_name,
        "description": info.description,
        "total_record_count": info.record_count,
        "last_update": info.last_update,
        "available_search_fields": [{name: getattr(field, name) for name in OF_FIELDS} for field in info.fields],
        "available_link_names": [{name: getattr(link, name) for name in OF_LINKS} for link in info.links],
        "einfo_url": description.url,
    }
