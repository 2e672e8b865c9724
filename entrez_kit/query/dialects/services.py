"""The services whose search lines can be read."""

from typing import Final, Literal, get_args

Dialect = Literal["pubmed", "ovid", "embase", "ebsco", "wos", "scopus", "cochrane"]
DIALECTS: Final[tuple[Dialect, ...]] = get_args(Dialect)
