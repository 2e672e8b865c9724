"""The PMC ID Converter: PMID, PMCID and DOI of articles in PMC."""

import re
from datetime import datetime
from typing import Any, Final

from entrez_kit.local.eutils.replies import LocalReply, answer_json, answer_xml
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.local.records.text import escape_attribute

MAX_IDS: Final = 200
_PMCID: Final = re.compile(r"PMC[0-9]+(\.[0-9]+)?", re.IGNORECASE)
_KINDS: Final = ("pmcid", "pmid", "doi", "mid")


def answer_idconv(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer an ID Converter request. The converter knows only articles in PMC."""
    ids = list(dict.fromkeys(text for value in request.get_all("ids") for text in re.split(r"[,\s]+", value) if text))
    kind = request.get("idtype").lower()
    echo = "&".join(
        f"{key}={value}" for key, value in request.params if key.lower() not in ("tool", "email", "api_key")
    )
    about: dict[str, Any] = {
        "warnings": [f"query param `{name}` is missing." for name in ("email", "tool") if not request.get(name)],
        "format": request.get("format").lower() or "xml",
        "idtype": kind or None,
        "ids": ids,
        "echo": echo,
        "versions": request.get("versions") or "no",
        "showaiid": request.get("showaiid") or "no",
    }
    problem = _find_problem(ids, kind)
    if problem:
        return _answer_error(problem)
    if not kind:
        kind = _detect_kind(ids[0])
        if any(_detect_kind(text) != kind for text in ids):
            return _answer_error("Ids of different types in one request; use only one type of id.")
    if kind == "pmcid" and len({text.upper().startswith("PMC") for text in ids}) > 1:
        return _answer_error("PMCIDs with and without prefix in one request.")
    records = [_build_record(text, kind, state) for text in ids]
    if about["format"] == "json":
        now = f"{datetime.now():%Y-%m-%d %H:%M:%S}"
        return answer_json({"status": "ok", "response-date": now, "request": about, "records": records})
    rows = "".join(
        "<record" + "".join(f' {key}="{escape_attribute(value)}"' for key, value in record.items()) + "/>"
        for record in records
    )
    return answer_xml(f'<?xml version="1.0"?>\n<pmcids status="ok">{rows}</pmcids>\n')


def _find_problem(ids: list[str], kind: str) -> str | None:
    if not ids:
        return "No ids were given."
    if len(ids) > MAX_IDS:
        return f"Too many ids: {len(ids)}; at most {MAX_IDS} are allowed."
    if kind and kind not in _KINDS:
        return f"Unknown idtype {kind}."
    if kind == "pmid" and not all(text.isascii() and text.isdigit() for text in ids):
        return "Not all ids are PMIDs."
    if kind == "pmcid" and not all(_PMCID.fullmatch(text) or (text.isascii() and text.isdigit()) for text in ids):
        return "Not all ids are PMCIDs."
    return None


def _answer_error(message: str) -> LocalReply:
    return answer_json(
        {"status": "error", "response-date": f"{datetime.now():%Y-%m-%d %H:%M:%S}", "message": message}, 400
    )


def _detect_kind(text: str) -> str:
    if _PMCID.fullmatch(text):
        return "pmcid"
    return "pmid" if text.isascii() and text.isdigit() else "doi" if "/" in text else "mid"


def _build_record(text: str, kind: str, state: LocalState) -> dict[str, Any]:
    if kind == "pmid":
        found_record = state.pubmed.collection.find_document("pmid", str(int(text)))
    elif kind == "pmcid":
        found_record = state.find_article(f"pmc{text.casefold().partition('.')[0].removeprefix('pmc')}")
    else:
        found_record = state.find_article(text)
    if found_record is None or not found_record.pmcid:
        requested: dict[str, Any] = {kind: int(text) if kind == "pmid" else text}
        return {**requested, "requested-id": text, "status": "error", "errmsg": "Identifier not found in PMC"}
    record: dict[str, Any] = {"pmcid": found_record.pmcid, "pmid": int(found_record.pmid)}
    if found_record.doi:
        record["doi"] = found_record.doi
    return {**record, "requested-id": text}
