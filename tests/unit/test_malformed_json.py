"""Any JSON value at any place of a reply: the reader returns an answer or raises a typed error."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_places import list_places, replace_value

from entrez_kit.base.errors import UpstreamError
from entrez_kit.pubmed.resolution import parse_converted
from entrez_kit.services.small_replies import check_esearch, parse_esearch
from entrez_kit.services.unpaywall import read_open_access

CONVERTED: Final = {
    "status": "ok",
    "request": {"idtype": "pmid"},
    "records": [
        {"pmid": 1, "pmcid": "PMC2", "doi": "10.1/x", "requested-id": "1", "versions": [{"pmcid": "PMC2.1"}]},
        {"pmid": "3", "requested-id": "3", "status": "error", "errmsg": "Identifier not found in PMC"},
    ],
}
SEARCHED: Final = {
    "header": {"type": "esearch", "version": "0.3"},
    "esearchresult": {
        "count": "2",
        "retmax": "2",
        "retstart": "0",
        "idlist": ["1", "2"],
        "translationset": [{"from": "a", "to": "b"}],
        "querytranslation": "a",
        "errorlist": {"phrasesnotfound": ["x"], "fieldsnotfound": []},
        "warninglist": {"phrasesignored": [], "quotedphrasesnotfound": ["y"], "outputmessages": ["z"]},
    },
}
LOCATED: Final = {
    "doi": "10.1/x",
    "is_oa": True,
    "title": "T",
    "best_oa_location": {
        "url_for_pdf": "https://a.example/a.pdf",
        "host_type": "publisher",
        "version": "acceptedVersion",
    },
    "oa_locations": [{"url": "https://a.example", "url_for_landing_page": None, "license": "cc-by"}],
}


def read_search(content: bytes) -> None:
    """Read a search and compare it with its request."""
    check_esearch(parse_esearch(content), retmax=2)


READERS: Final[dict[str, tuple[Any, Callable[[bytes], object]]]] = {
    "ID Converter": (CONVERTED, lambda content: parse_converted(content, "pmid", ["1", "3"])),
    "ESearch": (SEARCHED, read_search),
    "Unpaywall": (LOCATED, read_open_access),
}
VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("service", READERS)
@given(data=st.data())
def test_any_value_at_any_place_is_an_answer_or_a_typed_error(service: str, data: st.DataObject) -> None:
    document, read = READERS[service]
    path = data.draw(st.sampled_from(list(list_places(document))))
    content = json.dumps(replace_value(document, path, data.draw(VALUES))).encode()
    with suppress(UpstreamError):
        read(content)


@pytest.mark.parametrize("service", READERS)
def test_the_unchanged_reply_is_read(service: str) -> None:
    document, read = READERS[service]

    read(json.dumps(document).encode())
