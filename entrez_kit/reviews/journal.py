"""The journal of a review: one line of ``runs.jsonl`` for each run that changed the folder."""

from typing import ClassVar, Literal

from pydantic import Field

from entrez_kit.core.model import Result, Warn, omit_if_empty
from entrez_kit.pubmed.models import Certificate

ChangeKind = Literal[
    "new",
    "returned",
    "deleted",
    "merged",
    "no_longer_matching",
    "retracted",
    "concern",
    "reinstated",
    "corrected",
    "preprint_published",
    "changed",
]
"""What an update found about a record, in the order of a report."""
Step = Literal["init", "search", "import", "dedupe", "screen_import", "update"]


class FileOfRun(Result):
    """A file that a run read: its name, its hash, and the number of its records.

    ``added`` records are new, ``known`` records were imported before.
    """

    name: str
    sha256: str
    records: int | None = omit_if_empty()
    added: int | None = omit_if_empty()
    known: int | None = omit_if_empty()


class CountedLine(Result):
    """A line of the strategy as printed, its translation, and its number of records at the time of the run."""

    number: int | None
    original: str
    pubmed: str | None = omit_if_empty()
    label: str | None = omit_if_empty()
    loss: list[str] = omit_if_empty([])
    count: int | None = omit_if_empty()


class Search(Result):
    """A search of PubMed: the strategy, its lines with counts, the query, and the certificate of completeness."""

    strategy: FileOfRun
    dialect: str
    lines: list[CountedLine]
    query: str
    query_translation: str
    range: str | None = omit_if_empty()
    certificate: Certificate


class RecordChange(Result):
    """A record that an update classified.

    ``kind`` is the first class of ``ChangeKind`` that applies to the record. ``fields`` lists the parts that differ;
    ``status`` is its new standing; ``successor`` is the PMID of the record or article that replaced it; ``work`` is the
    known record of the same work.
    """

    id: str
    kind: ChangeKind
    pmid: str | None = omit_if_empty()
    title: str
    fields: list[str] = omit_if_empty([])
    status: str | None = omit_if_empty()
    successor: str | None = omit_if_empty()
    work: str | None = omit_if_empty()


class Run(Result):
    """A run.

    ``answered_by`` says what answered a search: PubMed, the demo, or a copy with its date and hash. ``records_sha256``
    is the hash of ``records.jsonl`` after the run.
    """

    RECORDS: ClassVar = ""

    number: int = Field(ge=1)
    step: Step
    started: str
    finished: str
    version: str
    source: str | None = omit_if_empty()
    platform: str | None = omit_if_empty()
    searched: str | None = omit_if_empty()
    answered_by: str | None = omit_if_empty()
    search: Search | None = omit_if_empty()
    files: list[FileOfRun] = omit_if_empty([])
    changes: list[RecordChange] = omit_if_empty([])
    counts: dict[str, int] = omit_if_empty({})
    warnings: list[Warn] = omit_if_empty([])
    records_sha256: str
