"""Recorded replies of the services pass the checks that refuse contradictory ones."""

import json
import re
from pathlib import Path

from used_recordings import list_recordings, read_recording

from entrez_kit.base.errors import UpstreamError
from entrez_kit.pubmed.resolution import parse_converted
from entrez_kit.pubmed.xml.records import iter_records
from entrez_kit.services.elink_reply import parse_linksets
from entrez_kit.services.esummary_reply import find_uids, parse_esummary
from entrez_kit.services.europe_pmc import read_search_page


def test_no_recorded_summary_is_empty_or_of_another_record(real_data: Path) -> None:
    read = 0
    for path in list_recordings(real_data / "esummary"):
        try:
            document = parse_esummary(path.read_bytes())
        except UpstreamError:
            continue  # an error in place of summaries
        answered = find_uids(document)
        assert not answered.hollow, path.name
        read += len(answered.described)

    assert read


def test_no_recorded_link_is_refused(real_data: Path) -> None:
    linksets = [
        linkset for path in list_recordings(real_data / "elink") for linkset in parse_linksets(path.read_bytes())
    ]

    assert any(linkset.links for linkset in linksets)


def test_every_recorded_record_has_a_title_element(real_data: Path) -> None:
    read = 0
    for path in (*list_recordings(real_data / "efetch_pubmed"), *list_recordings(real_data / "baseline")):
        content = read_recording(path)
        try:
            records = [record for record in iter_records(content) if record.kind != "deleted"]
        except UpstreamError:
            continue  # not a set of records
        assert all(re.search(rb"<(?:Article|Book)Title\b", record.raw) for record in records), path.name
        read += len(records)

    assert read


def test_no_recorded_page_of_europe_pmc_is_refused(real_data: Path) -> None:
    results = 0
    for path in list_recordings(real_data / "europepmc"):
        content = path.read_bytes()
        if not content.lstrip().startswith(b"{"):
            continue
        requested = json.loads(content).get("request") or {}
        kind, size = str(requested.get("resultType") or "lite").lower(), int(requested.get("pageSize") or 25)
        page = read_search_page(content, cursor_mark="*", page_size=size, is_id_list=kind == "idlist", lookups=())
        results += len(page["resultList"]["result"])

    assert results


def test_no_recorded_conversion_is_refused(real_data: Path) -> None:
    requested = 0
    for path in list_recordings(real_data / "idconv"):
        content = path.read_bytes()
        request = json.loads(content)["request"]
        converted = parse_converted(content, request["idtype"] or "pmid", request["ids"])
        assert set(converted) <= {name.lower() for name in request["ids"]}
        requested += len(request["ids"])

    assert requested
