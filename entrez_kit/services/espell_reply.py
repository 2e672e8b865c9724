"""What ESpell answers: the query and NCBI's correction of it."""

from dataclasses import dataclass

from entrez_kit.services.xml_reply import parse_reply, text_of


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
    root = parse_reply(content, "espell", "eSpellResult")
    return ESpellReply(query=text_of(root, "Query") or "", corrected=text_of(root, "CorrectedQuery") or "")
