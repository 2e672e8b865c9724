"""The request and the result of a merge."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from entrez_kit.core.model import Request, Result, Warn, omit_if_empty, require_one
from entrez_kit.references.files.references import Reference
from entrez_kit.references.merge.pair_rules import Relation
from entrez_kit.references.merge.review import Choice, ReviewRow
from entrez_kit.references.merge.works import FILES, MergedWork

MAX_FILES: Final = 200
MAX_TEXT: Final = 512 * 1024 * 1024
READABLE: Final = (
    "Name a file of references (.ris, .nbib, .bib, .json, .xml, .csv, .tsv), a list of ids or references (.txt), or a "
    "manuscript (.docx, .tex, .md, .pdf)."
)
"""The hint for a file that cannot be merged."""


def _read_path(value: Any) -> Any:
    """Read a file of this computer, given as a path object in Python. Agents cannot send one."""
    if isinstance(value, PathLike):
        from entrez_kit.base.input_files import read_input
        from entrez_kit.references.files.reference_files import decode_file

        path = Path(value)
        return {"file": str(path), "text": decode_file(read_input(path, str(path)), str(path), hint=READABLE).text}
    return value


class FileToMerge(Request):
    """A file of records: its text, or its references."""

    file: str = Field(min_length=1, description="Name of the file; its suffix tells the format.")
    text: str | None = Field(
        default=None,
        max_length=MAX_TEXT,
        description="RIS, MEDLINE (nbib), BibTeX, CSL JSON, EndNote XML, CSV or a list.",
    )
    references: list[Reference] = Field(default=[], description="The records as fields, in place of the text.")
    source: str | None = Field(default=None, description="Database of all its records, e.g. Embase.")

    @model_validator(mode="after")
    def _check_one_given(self) -> Self:
        require_one(self, "text", "references")
        return self


class Decision(Request):
    """A decision of a person on two records."""

    members: list[str] = Field(min_length=2, max_length=2, description="Ids of two records, e.g. embase.ris#12.")
    decision: Choice = Field(description="same merges them, different keeps them apart, family links them.")
    fingerprints: list[str] = Field(default=[], description="Fingerprints of the two records, from a review file.")
    note: str | None = Field(default=None, description="Reason or initials of the person.")


class MergeRequest(Request):
    """The files to merge, and the decisions of a person."""

    files: list[Annotated[FileToMerge, BeforeValidator(_read_path)]] = Field(
        min_length=1, max_length=MAX_FILES, description="Files of records, in any order."
    )
    decisions: list[Decision] = Field(default=[], description="Decisions on pairs of records.")
    separate: list[str] = Field(default=[], description="Ids of records to take out of their groups: undoes a merge.")


class RecordOfFile(Result):
    """A record of a file; ``index`` is its position from 1, ``keys`` has its identifiers by kind."""

    id: str
    file: str
    index: int
    keys: dict[str, str]


class RecordGroup(Result):
    """Records that are linked.

    The members of a ``duplicate`` group are one work; ``kept`` is the most complete record. The members of a ``family``
    are different works that belong together, each named by its kept record; ``relations`` names the kinds of links.
    """

    kind: Literal["duplicate", "family"]
    members: list[str]
    why: str
    kept: str | None = omit_if_empty()
    relations: list[Relation] = omit_if_empty([])


class SourceFigures(Result):
    """The figures of a file.

    ``raw`` is its number of records, ``unique`` the number of works among them, and ``only_here`` the number of works
    that no other file has. ``source`` is the database, if all its records come from one.
    """

    file: str
    raw: int
    unique: int
    only_here: int
    source: str | None = omit_if_empty()


class DatabaseFigures(Result):
    """The same figures of a database, of the records of all files."""

    source: str
    raw: int
    unique: int
    only_here: int


class UndecidedPair(Result):
    """Two records that a person should compare; ``texts`` cites them."""

    members: list[str]
    why: str
    texts: list[str]


class MergeCounts(Result):
    """``records`` is the sum of ``raw``; ``works`` is ``records`` minus ``duplicates``."""

    records: int
    works: int
    duplicates: int
    duplicate_groups: int
    families: int
    undecided: int


class MergeResult(Result):
    """All records, their links, and the figures of each file.

    Every record is in ``records``, in the order of the files. ``groups`` links them: no record is deleted.
    """

    RECORDS: ClassVar = "records"

    records: list[RecordOfFile]
    groups: list[RecordGroup]
    sources: list[SourceFigures]
    databases: list[DatabaseFigures]
    undecided: list[UndecidedPair]
    counts: MergeCounts
    warnings: list[Warn] = omit_if_empty([])
    _works: list[MergedWork] = PrivateAttr(default_factory=list)
    _review: list[ReviewRow] = PrivateAttr(default_factory=list)
    _separated: list[ReviewRow] = PrivateAttr(default_factory=list)

    def set_works(
        self, works: list[MergedWork], review: Iterable[ReviewRow] = (), separated: Iterable[ReviewRow] = ()
    ) -> None:
        """Set what the document does not contain: the works and the rows of a review file."""
        self._works, self._review, self._separated = works, list(review), list(separated)

    @property
    def works(self) -> list[MergedWork]:
        """The works, each once, in the order of their kept records."""
        return self._works

    @property
    def review(self) -> list[ReviewRow]:
        """The rows of a review file: undecided pairs, merges and families."""
        return self._review

    @property
    def separated(self) -> list[ReviewRow]:
        """The pairs of records that ``separate`` took apart."""
        return self._separated

    def to_text(self, style: str = "ris") -> str:
        """Return the works as a file for reference managers: ris, nbib, bibtex or csl."""
        return FILES[style].format_text(self._works)
