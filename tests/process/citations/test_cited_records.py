"""Records of files are cited whole by every style: article numbers, "et al.", and odd values of CSL-JSON."""

from typing import Any

import pytest
from odd_csl_values import ODD_CSL_VALUES

from entrez_kit.citations.style.format_entries import format_styled_entries
from entrez_kit.references.files.csl_values import clean_csl_item


@pytest.mark.parametrize("style", ["apa", "vancouver", "ieee", "nature", "cell"])
def test_an_incomplete_list_of_authors_is_cited_with_et_al(style: str) -> None:
    item = {
        "id": "1",
        "type": "article-journal",
        "title": "A title",
        "author": [{"family": "Wakefield", "given": "A J"}, {"literal": "others"}],
        "issued": {"date-parts": [[1998]]},
    }

    assert "et al" in format_styled_entries([item], style)[0]


@pytest.mark.parametrize("style", ["the-lancet", "cell", "plos", "bmj", "science", "elsevier-harvard", "ieee"])
def test_the_number_of_an_article_is_printed_in_every_style(style: str) -> None:
    item = {
        "id": "1",
        "type": "article-journal",
        "title": "A title",
        "author": [{"family": "Doe", "given": "Jane"}],
        "container-title": "Elife",
        "volume": "8",
        "number": "e47969",
        "issued": {"date-parts": [[2019]]},
    }

    assert "e47969" in format_styled_entries([item], style)[0]


def test_odd_values_of_csl_files_are_cited() -> None:
    items = [
        clean_csl_item({"id": str(number), "type": "article-journal", "title": "A title", **values})
        for number, values in enumerate(ODD_CSL_VALUES)
    ]

    for style in ("apa", "the-lancet"):
        cited: list[Any] = format_styled_entries(items, style)
        assert len(cited) == len(items)
