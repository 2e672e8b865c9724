"""Values of CSL-JSON that programs write although the specification has other types."""

from typing import Any

ODD_CSL_VALUES: list[dict[str, Any]] = [
    {"issued": {"date-parts": [["2019", "8"]]}},
    {"issued": {"date-parts": [[2019, 13]]}},
    {"issued": {"date-parts": [[2019]], "season": "Winter"}},
    {"issued": {"date-parts": [[None]]}},
    {"issued": {"date-parts": [["2019-08"]]}},
    {"issued": {"raw": "Spring 2011"}},
    {"issued": "2020-05-06"},
    {"issued": None},
    {"issued": []},
    {"author": "Doe J"},
    {"author": [None, {"family": None}, {"family": "Doe", "given": 3}]},
    {"DOI": None, "title": None, "type": None},
    {"container-title": ["A journal"], "title": ["A title"]},
    {"title": [], "volume": True, "page": {"first": 1}},
    {"author": [{"family": "Beethoven", "given": "Ludwig", "dropping-particle": "van"}]},
]
