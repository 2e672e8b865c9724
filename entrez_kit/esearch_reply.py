"""What ESearch answers: count, identifiers, how the query was understood, and NCBI's complaints about it."""

import json
from dataclasses import dataclass, field
from typing import Any, Final

from entrez_kit.xml_reply import malformed, parse_reply, text_of, whole_number

COMPLAINTS: Final = {
    "phrasenotfound": ("phrase_not_found", "No record contains the phrase {!r}; NCBI left it out of the search."),
    "fieldnotfound": ("field_not_found", "There is no search field {!r}; NCBI searched without it."),
    "quotedphrasenotfound": (
        "quoted_phrase_not_found",
        "The quoted phrase {!r} is not in the phrase index; NCBI searched its words instead.",
    ),
    "phraseignored": ("phrase_ignored", "NCBI ignored the phrase {!r}."),
    "outputmessage": ("output_message", "NCBI says: {}"),
}
"""NCBI's ErrorList and WarningList entries, in singular; JSON spells some of them in plural."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """One entry of NCBI's ErrorList or WarningList; ``code`` is stable, ``text`` the phrase or field it is about."""

    code: str
    text: str

    @property
    def message(self) -> str:
        """Say in a sentence what NCBI did."""
        template = next(template for code, template in COMPLAINTS.values() if code == self.code)
        return template.format(self.text)


@dataclass(frozen=True, slots=True)
class ESearchReply:
    """The parsed reply. With rettype=count only ``count`` is known."""

    count: int
    ids: list[str] = field(default_factory=list)
    retmax: int | None = None
    retstart: int | None = None
    query_translation: str = ""
    web_env: str | None = None
    query_key: str | None = None
    complaints: list[Complaint] = field(default_factory=list)


def parse_esearch(content: bytes) -> ESearchReply:
    """Parse an ESearch reply in XML or JSON.

    Raises:
        UpstreamError: the reply is not an ESearch result.
    """
    return _parse_json(content) if content.lstrip()[:1] == b"{" else _parse_xml(content)


def _parse_xml(content: bytes) -> ESearchReply:
    root = parse_reply(content, "esearch", "eSearchResult")
    complaints = [
        Complaint(COMPLAINTS[kind][0], (entry.text or "").strip())
        for name in ("ErrorList", "WarningList")
        for entry in root.iterfind(f"{name}/*")
        if (kind := str(entry.tag).lower().removesuffix("s")) in COMPLAINTS and (entry.text or "").strip()
    ]
    return ESearchReply(
        count=_integer(root.findtext("Count")),
        ids=[(element.text or "").strip() for element in root.iterfind("IdList/Id")],
        retmax=whole_number(root.findtext("RetMax")),
        retstart=whole_number(root.findtext("RetStart")),
        query_translation=text_of(root, "QueryTranslation") or "",
        web_env=text_of(root, "WebEnv"),
        query_key=text_of(root, "QueryKey"),
        complaints=complaints,
    )


def _parse_json(content: bytes) -> ESearchReply:
    try:
        result = json.loads(content)["esearchresult"]
        if not isinstance(result, dict):
            raise TypeError("esearchresult is no object")
    except (ValueError, KeyError, TypeError) as exc:
        raise malformed("esearch", f"not an ESearch document ({type(exc).__name__})") from None
    complaints = []
    for name in ("errorlist", "warninglist"):
        lists = result.get(name)
        for key, entries in (lists if isinstance(lists, dict) else {}).items():
            kind = _singular(key)
            if kind in COMPLAINTS:
                complaints += [Complaint(COMPLAINTS[kind][0], text) for text in _texts(entries)]
    return ESearchReply(
        count=_integer(result.get("count")),
        ids=_texts(result.get("idlist")),
        retmax=whole_number(str(result.get("retmax"))),
        retstart=whole_number(str(result.get("retstart"))),
        query_translation=str(result.get("querytranslation") or ""),
        web_env=result.get("webenv") or None,
        query_key=str(result["querykey"]) if result.get("querykey") else None,
        complaints=complaints,
    )


def _singular(key: str) -> str:
    """Turn NCBI's JSON plurals (phrasesnotfound, fieldsnotfound) into the XML names."""
    lowered = key.lower()
    for plural, single in (("phrases", "phrase"), ("fields", "field"), ("messages", "message")):
        lowered = lowered.replace(plural, single)
    return lowered


def _texts(value: Any) -> list[str]:
    """Return a list of texts; NCBI collapses a list of one to a scalar."""
    if value is None or value == "":
        return []
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _integer(value: Any) -> int:
    number = whole_number(str(value))
    if number is None:
        raise malformed("esearch", f"the count is {value!r}, no number")
    return number
