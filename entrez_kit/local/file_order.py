"""The order of files: which record of a PMID is the latest.

NLM's files are ordered by the year and the number in their names, in whatever order they are imported. Other files
(replies of EFetch, lists of this program) come after the newest file of NLM that the copy has when they are imported,
and after each other. A later file of NLM comes after them.
"""

import re
from pathlib import Path
from typing import Final, NamedTuple

_NAME: Final = re.compile(r"(?:^|[^a-z0-9])(?:pubmed|medline)([0-9]{2})n([0-9]{4,5})\.xml(?:\.gz)?", re.IGNORECASE)
PLACES_PER_FILE: Final = 100_000
"""Places of other files after each file of NLM; also more files than NLM has per year."""


class FileNumber(NamedTuple):
    """The year and the number of a file of NLM's yearly series."""

    year: int
    number: int

    @property
    def place(self) -> int:
        """The place of the file in the order."""
        return (self.year * PLACES_PER_FILE + self.number) * PLACES_PER_FILE

    def __str__(self) -> str:
        return f"pubmed{self.year % 100:02}n{self.number:04}"


def parse_file_name(path: Path | str) -> FileNumber | None:
    """Return the year and number in the name of a file (``pubmed26n0001.xml.gz``); None for other names."""
    match = _NAME.search(Path(path).name)
    return FileNumber(2000 + int(match[1]), int(match[2])) if match and match.end() == len(Path(path).name) else None


def read_place(place: int) -> FileNumber | None:
    """Return the year and number of a place; None for the place of another file."""
    series, rest = divmod(place, PLACES_PER_FILE)
    return FileNumber(*divmod(series, PLACES_PER_FILE)) if series and not rest else None


def find_next_place(latest: int) -> int:
    """Return the place of another file, after the latest place of a copy."""
    return latest + 1


def find_first_place(year: int) -> int:
    """Return the place before all files of a year."""
    return FileNumber(year, 0).place
