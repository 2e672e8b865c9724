"""Recorded replies of any database and the ID Converter, compared with another parser."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from used_recordings import list_recordings

from entrez_kit.base.errors import UpstreamError
from entrez_kit.databases.info import parse_counts, parse_database
from entrez_kit.databases.names import parse_database_list
from entrez_kit.pubmed.resolution import parse_converted
from entrez_kit.services.elink_reply import parse_linksets
from entrez_kit.services.esummary_reply import parse_documents, parse_esummary
from entrez_kit.services.small_replies import parse_epost, parse_esearch, parse_espell


def test_every_recorded_summary_has_every_field(real_data: Path) -> None:
    for path in (path for path in list_recordings(real_data / "esummary") if path.suffix == ".json"):
        content = path.read_bytes()
        assert parse_documents(parse_esummary(content)).documents == {
            uid: record for uid, record in json.loads(content)["result"].items() if uid != "uids"
        }


def test_every_recorded_database_list_and_description_is_read(real_data: Path) -> None:
    for path in list_recordings(real_data / "einfo"):
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


def test_every_recorded_linkset_has_every_link_under_its_source(real_data: Path) -> None:
    for path in list_recordings(real_data / "elink"):
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


def test_the_recorded_global_query_is_read(real_data: Path) -> None:
    for path in list_recordings(real_data / "egquery"):
        root = ElementTree.fromstring(path.read_bytes())
        assert [(count.db, count.count, count.status) for count in parse_counts(path.read_bytes())] == [
            (e.findtext("DbName"), int(e.findtext("Count") or ""), e.findtext("Status"))
            for e in root.iter("ResultItem")
        ]


def test_the_recorded_spelling_is_read(real_data: Path) -> None:
    for path in list_recordings(real_data / "espell"):
        root = ElementTree.fromstring(path.read_bytes())
        spelling = parse_espell(path.read_bytes())
        assert (spelling.query, spelling.corrected) == (root.findtext("Query"), root.findtext("CorrectedQuery"))


def test_every_recorded_search_has_its_count_ids_and_translation(real_data: Path) -> None:
    for path in list_recordings(real_data / "esearch"):
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
        warnings = [element.text for name in ("ErrorList", "WarningList") for element in root.findall(f"{name}/*")]
        assert [warning.text for warning in found.warnings] == [text for text in warnings if text]


def test_every_recorded_post_has_its_handles(real_data: Path) -> None:
    for path in list_recordings(real_data / "epost"):
        root = ElementTree.fromstring(path.read_bytes())
        posted = parse_epost(path.read_bytes())
        assert (posted.query_key, posted.web_env) == (int(root.findtext("QueryKey") or ""), root.findtext("WebEnv"))
        assert posted.invalid_ids == []


def test_every_recorded_conversion_is_found_or_omitted(real_data: Path) -> None:
    for path in list_recordings(real_data / "idconv"):
        document = json.loads(path.read_bytes())
        known = parse_converted(path.read_bytes(), document["request"]["idtype"] or "pmid")
        records = {one["requested-id"].lower(): one for one in document["records"] if "errmsg" not in one}
        assert set(known) == set(records)
        for requested, record in records.items():
            assert (known[requested].pmid, known[requested].pmcid) == (str(record["pmid"]), record["pmcid"])
