"""What ESpell answers: the query and NCBI's correction of it."""

from dataclasses import dataclass

from entrez_kit.errors import UpstreamError


@dataclass(frozen=True, slots=True)
class ESpellReply:
    """``corrected`` is empty where NCBI has no suggestion."""

    query: str
    corrected: str


def parse_espell(content: bytes) -> ESpellReply:
    """Parse an ESpell reply.

    Raises:
        UpstreamError: the reply is not an ESpell result.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError:
        root = None
    if root is None or root.tag != "eSpellResult":
        raise UpstreamError(
            "The ESpell reply is not usable.", details={"reason": "invalid_response", "endpoint": "espell"}
        )
    return ESpellReply(
        query=(root.findtext("Query") or "").strip(), corrected=(root.findtext("CorrectedQuery") or "").strip()
    )
