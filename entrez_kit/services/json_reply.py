"""The types of values in a JSON reply: a reader gets only those that it can read."""

from typing import Any

from entrez_kit.services.known_shapes import Fields, compare_values
from entrez_kit.services.xml_reply import malformed


def refuse_other_types(name: str, document: Any, fields: Fields) -> None:
    """Refuse a JSON document in which a field that is read has a value of another type; null counts as absent.

    Args:
        name: what the document is, for the message.
        document: the parsed JSON.
        fields: the fields that are read, with their types.

    Raises:
        UpstreamError: a field has another type.
    """
    if not isinstance(document, dict):
        raise malformed(name, "not a JSON object")
    found = next((one for one in compare_values(document, fields, "") if one.kind == "other_type"), None)
    if found is not None:
        raise malformed(name, found.what)
