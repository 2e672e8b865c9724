"""The date of entry (EDAT) of recorded records, as each part of entrez-kit reads it, against the XML."""

from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from used_recordings import list_recordings, read_recording, require_recordings

from entrez_kit.base.history_events import CREATED, ENTERED, find_event
from entrez_kit.corpus.documents import Doc
from entrez_kit.local.eutils.medline import render_medline
from entrez_kit.local.records.document import Document
from entrez_kit.local.records.terms import extract_terms
from entrez_kit.pubmed.xml.records import iter_records


def test_the_preferred_event_is_found_in_any_order_and_the_other_one_replaces_it() -> None:
    history = [("received", "a"), ("entrez", "b"), ("pubmed", "c"), ("pubmed", "d")]
    assert find_event(history, ENTERED) == "c"
    assert find_event(history, CREATED) == "b"
    assert find_event(history[:2], ENTERED) == "b"
    assert find_event(history[2:], CREATED) == "c"
    assert find_event(history[:1], ENTERED) is None


def _read_day(record: Any, kind: str) -> str | None:
    for event in record.iter("PubMedPubDate"):
        if event.get("PubStatus") == kind:
            year, month, day = (int(event.findtext(name)) for name in ("Year", "Month", "Day"))
            return f"{year}-{month:02}-{day:02}"
    return None


@pytest.mark.long
def test_every_part_reads_edat_from_the_same_event(real_data: Path) -> None:
    compared = differing = 0
    for path in list_recordings(real_data / "efetch_pubmed"):
        content = read_recording(path)
        try:
            root = etree.fromstring(content)
        except (etree.XMLSyntaxError, ValueError):
            continue
        if root.tag != "PubmedArticleSet":
            continue
        articles = [found.article() for found in iter_records(content) if found.kind != "deleted"]
        stored = {article.pmid: Doc.of(article) for article in articles}
        for record in root.iterchildren("PubmedArticle", "PubmedBookArticle"):
            entered, created = _read_day(record, "pubmed"), _read_day(record, "entrez")
            if entered is None or created is None:
                continue
            document = Document(etree.tostring(record))
            days = [entered.replace("-", ""), created.replace("-", "")]
            numbers = extract_terms(document).numbers
            assert [*numbers["edat"], *numbers["crdt"]] == [int(day) for day in days]
            assert f"EDAT- {entered.replace('-', '/')}" in render_medline(document)
            assert f"CRDT- {created.replace('-', '/')}" in render_medline(document)
            doc = stored[document.pmid]
            assert (doc.edat or "")[:10] == entered
            compared += 1
            differing += entered != created
    require_recordings(differing)
    assert compared > differing
