"""Recorded replies of any database and the ID Converter, judged by another parser."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from entrez_kit.databases.documents import parse_documents
from entrez_kit.databases.info import parse_counts, parse_database
from entrez_kit.databases.linksets import parse_linksets
from entrez_kit.databases.names import parse_database_list
from entrez_kit.errors import UpstreamError
from entrez_kit.pubmed.resolution import parse_converted
from entrez_kit.services.esearch_reply import parse_esearch
from entrez_kit.services.esummary_reply import parse_esummary
from entrez_kit.services.xml_reply import parse_epost, parse_espell


def _files(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    assert files, f"no recordings in {folder}"
    return files


def _texts(value: Any) -> list[str]:
    """Return every text and number in a document, keys left out."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [] if value is None or value == "" else [str(value)]


def _words(texts: list[str]) -> Counter[str]:
    return Counter(word for text in texts for word in re.findall(r"\w+", text))


def test_every_recorded_summary_keeps_every_word(real_data: Path) -> None:
    for path in _files(real_data / "esummary"):
        content = path.read_bytes()
        summaries = parse_documents(parse_esummary(content))
        if path.suffix == ".json":
            result = json.loads(content)["result"]
            assert list(summaries.documents) == result["uids"]
            for uid in result["uids"]:
                assert summaries.documents[uid] == result[uid]
            continue
        root = ElementTree.fromstring(content)
        records = {record.findtext("Id"): record for record in root.findall(".//DocSum")}
        records |= {record.get("uid"): record for record in root.findall(".//DocumentSummary")}
        assert list(records) == list(summaries.documents), path.name  # a UID asked for twice is answered twice
        for uid, record in records.items():
            leaves = [leaf.text or "" for leaf in record.iter()]
            if record.tag == "DocumentSummary":
                leaves += [value for leaf in record.iter() for value in leaf.attrib.values()]
            lost = _words(leaves) - _words(_texts(summaries.documents[str(uid)]))
            assert not lost, (path.name, uid, lost)
        errors = [element.text for element in root.findall(".//ERROR") if (element.text or "").strip()]
        assert list(summaries.problems.values()) == errors


def test_every_recorded_database_list_and_description_is_read(real_data: Path) -> None:
    for path in _files(real_data / "einfo"):
        root = ElementTree.fromstring(path.read_bytes())
        if root.find("DbInfo") is None:
            assert parse_database_list(path.read_bytes()) == [
                (element.text or "").strip() for element in root.iter("DbName")
            ]
            continue
        info = parse_database(path.read_bytes())
        assert info.record_count == int(root.findtext("DbInfo/Count") or "")
        assert [field.name for field in info.fields] == [e.findtext("Name") for e in root.iter("Field")]
        assert [field.term_count for field in info.fields] == [
            int(e.findtext("TermCount") or "") for e in root.iter("Field")
        ]
        assert [field.is_date for field in info.fields] == [e.findtext("IsDate") == "Y" for e in root.iter("Field")]
        assert [(link.name, link.db_to) for link in info.links] == [
            (e.findtext("Name"), e.findtext("DbTo")) for e in root.iter("Link")
        ]


def test_every_recorded_linkset_keeps_every_link_under_its_source(real_data: Path) -> None:
    for path in _files(real_data / "elink"):
        root = ElementTree.fromstring(path.read_bytes())
        linksets = parse_linksets(path.read_bytes())
        elements = root.findall("LinkSet")
        assert len(linksets) == len(elements), path.name
        for linkset, element in zip(linksets, elements, strict=True):
            assert linkset.db_from == element.findtext("DbFrom")
            assert [link.id for link in linkset.links] == [e.findtext("Id") for e in element.iter("Link")]
            assert [link.score for link in linkset.links] == [
                int(score) if (score := e.findtext("Score")) else None for e in element.iter("Link")
            ]
            assert linkset.ids, path.name
            assert sum(map(len, linkset.kinds.values())) == len(element.findall(".//LinkInfo"))
            assert [address.url for found in linkset.addresses.values() for address in found] == [
                (e.findtext("Url") or "").strip() for e in element.iter("ObjUrl")
            ]
            assert len(linkset.history) == len({e.findtext("LinkName") for e in element.iter("LinkSetDbHistory")})
            flagged = [e for e in element.iter("Id") if e.get("HasLinkOut") or e.get("HasNeighbor")]
            assert len(linkset.has_linkout) + len(linkset.has_neighbor) == len(flagged)


def test_the_recorded_global_query_is_read(real_data: Path) -> None:
    for path in _files(real_data / "egquery"):
        root = ElementTree.fromstring(path.read_bytes())
        assert [(count.db, count.count, count.status) for count in parse_counts(path.read_bytes())] == [
            (e.findtext("DbName"), int(e.findtext("Count") or ""), e.findtext("Status"))
            for e in root.iter("ResultItem")
        ]


def test_the_recorded_spelling_is_read(real_data: Path) -> None:
    for path in _files(real_data / "espell"):
        root = ElementTree.fromstring(path.read_bytes())
        spelling = parse_espell(path.read_bytes())
        assert (spelling.query, spelling.corrected) == (root.findtext("Query"), root.findtext("CorrectedQuery"))


def test_every_recorded_search_gives_its_count_ids_and_translation(real_data: Path) -> None:
    for path in _files(real_data / "esearch"):
        content = path.read_bytes()
        if content.lstrip()[:1] == b"{":
            result = json.loads(content).get("esearchresult", {})
            if "count" not in result:
                with pytest.raises(UpstreamError):
                    parse_esearch(content)
                continue
            found = parse_esearch(content)
            assert (found.count, found.ids) == (int(result["count"]), result["idlist"])
            assert found.query_translation == result["querytranslation"]
            continue
        root = ElementTree.fromstring(content)
        found = parse_esearch(content)
        assert found.count == int(root.findtext("Count") or ""), path.name
        assert found.ids == [element.text for element in root.findall("IdList/Id")]
        assert found.query_translation == (root.findtext("QueryTranslation") or "").strip()
        assert found.web_env == root.findtext("WebEnv")
        assert found.query_key == root.findtext("QueryKey")
        complaints = [element.text for name in ("ErrorList", "WarningList") for element in root.findall(f"{name}/*")]
        assert [complaint.text for complaint in found.complaints] == [text for text in complaints if text]


def test_every_recorded_post_gives_its_handles(real_data: Path) -> None:
    for path in _files(real_data / "epost"):
        root = ElementTree.fromstring(path.read_bytes())
        posted = parse_epost(path.read_bytes())
        assert (posted.query_key, posted.web_env) == (int(root.findtext("QueryKey") or ""), root.findtext("WebEnv"))
        assert posted.invalid_ids == []


def test_every_recorded_conversion_is_found_or_left_out(real_data: Path) -> None:
    for path in _files(real_data / "idconv"):
        document = json.loads(path.read_bytes())
        known = parse_converted(path.read_bytes(), document["request"]["idtype"] or "pmid")
        records = {one["requested-id"].lower(): one for one in document["records"] if "errmsg" not in one}
        assert set(known) == set(records)
        for asked, record in records.items():
            assert (known[asked].pmid, known[asked].pmcid) == (str(record["pmid"]), record["pmcid"])
