"""Remove from replies what agents did not request: details of requests, repeated arguments, and raw scores."""

from collections.abc import Mapping
from typing import Any, Final

DEMO_FLAG: Final = "Invented articles, not from NCBI."
"""Marks each reply of the demo. The instructions of the server say it in full, once per session."""
_DETAILS: Final = frozenset(("search_parameters", "efetch_details", "requested_pmids"))
"""Members of documents that describe the request; so do all whose names end in ``_url``."""
_IN_RECORDS: Final = frozenset(("raw_score", "link_url"))
"""Members of records that other members contain: the score, and the PMID."""

_BESIDE_SECTIONS: Final = frozenset(("abstract", "affiliations"))
"""Members of full texts that a request for some sections does not mean."""

Document = dict[str, Any]


def is_request_detail(name: str) -> bool:
    """Return whether a member of a document describes its request."""
    return name in _DETAILS or name.endswith("_url")


def trim_reply(document: Document, records: str, arguments: Mapping[str, Any]) -> tuple[Document, Document]:
    """Return a document without the details of its request, and these details.

    Args:
        document: the document of a tool.
        records: the member with its records.
        arguments: the arguments of the call.
    """
    details = {name: value for name, value in document.items() if is_request_detail(name)}
    reply = {name: value for name, value in document.items() if name not in details}
    sections = arguments.get("sections")
    out = _IN_RECORDS | (_BESIDE_SECTIONS if sections and "abstract" not in str(sections).casefold() else frozenset())
    items = reply.get(records)
    if isinstance(items, list):
        reply[records] = [
            {name: value for name, value in item.items() if name not in out} if isinstance(item, dict) else item
            for item in items
        ]
    return reply, details


def shorten_demo_warning(document: Document, message: str) -> None:
    """Replace the text of the warning that the demo answered by ``DEMO_FLAG``."""
    warnings = document.get("warnings")
    if isinstance(warnings, list):
        document["warnings"] = [
            DEMO_FLAG
            if warning == message
            else {**warning, "message": DEMO_FLAG}
            if isinstance(warning, dict) and warning.get("message") == message
            else warning
            for warning in warnings
        ]
