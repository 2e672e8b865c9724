"""Requests and results of the sync and of checkpoints."""

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, PrivateAttr, ValidationInfo, field_validator

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.frontend_text import Text
from entrez_kit.core.model import Collected, Request, Result, WrongValue, list_types
from entrez_kit.core.query_input import QueryText


def _check_not_blank(value: str) -> str:
    if not value.strip():
        raise WrongValue("a text with at least one letter or digit")
    return value


NotBlank = Annotated[str, AfterValidator(_check_not_blank)]
CorpusName = Annotated[NotBlank, Field(min_length=1, description="Corpus name.")]


class CorpusRequest(Request):
    """Base of the requests of the corpus contract, whose schema gives each argument one JSON type.

    A number is not accepted as a string, nor a string as a number. 5.0 is an integer, as in JSON Schema.
    """

    model_config = ConfigDict(strict=True, coerce_numbers_to_str=False)

    @field_validator("*", mode="before")
    @classmethod
    def _read_integral(cls, value: Any, info: ValidationInfo) -> Any:
        kinds = list_types(cls.model_fields[info.field_name or ""].annotation)
        return int(value) if isinstance(value, float) and value.is_integer() and int in kinds else value


class CheckpointGetRequest(CorpusRequest):
    """The corpus whose checkpoint is read."""

    query_key: CorpusName


class CheckpointGetResult(Result):
    """The checkpoint of a corpus; ``last_edat`` is null before the first sync."""

    query_key: str
    last_edat: str | None = None


class CheckpointSetRequest(CorpusRequest):
    """The corpus whose checkpoint is set, and the new value."""

    query_key: CorpusName
    last_edat: str = Field(description="ISO 8601 date or UTC time.")


class UserCheckpointRequest(CheckpointSetRequest):
    """A new checkpoint, with the option that agents do not have, because the schema of their contract is closed."""

    note: str | None = Field(default=None, description="Note for the log.")


class CheckpointSetResult(Result):
    """Confirmation that the checkpoint was set."""

    ok: bool


class SyncRequest(CorpusRequest):
    """The query to sync and the name of its corpus."""

    query_key: CorpusName
    term: QueryText = Field(min_length=1, description="PubMed query, the same each time.")
    overlap_days: int = Field(default=5, ge=0, description="Days before the checkpoint to search again.")


class UserSyncRequest(SyncRequest):
    """A sync request, with the option that agents do not have, because the schema of their contract is closed."""

    replace_term: bool = Field(default=False, description="Restart the corpus with a different query.")


class ClosedResult(Collected):
    """A result whose closed JSON schema has no field for publication status or warnings.

    Front ends print both next to the document.
    """

    _standings: list[str] = PrivateAttr(default_factory=list)
    _warnings: list[Text] = PrivateAttr(default_factory=list)

    def add_warnings(self, messages: Iterable[Text]) -> None:
        """Add warnings, e.g. that the fallback index was searched, before the earlier ones."""
        self._warnings = [*messages, *self._warnings]

    def warning_texts(self) -> list[Text]:
        """Return the warnings for a front end to render."""
        return self._warnings

    def set_standings(self, standings: Iterable[str]) -> None:
        """Set the publication status of records that were retracted or otherwise changed."""
        self._standings = list(standings)

    @property
    def standings(self) -> list[str]:
        """The publication status of records that were retracted or otherwise changed."""
        return self._standings

    def list_notes(self) -> list[str]:
        """Return the warnings, then the publication status of records."""
        return [*map(str, self._warnings), *self._standings]


class SyncResult(ClosedResult):
    """What a sync did; ``inserted + updated + skipped == pmids_processed``."""

    job_id: str
    inserted: int = Field(ge=0)
    updated: int = Field(ge=0)
    skipped: int = Field(ge=0)
    pmids_processed: int = Field(ge=0)
    max_edat_seen: str | None = None
    warnings: list[str] = Field(default_factory=list)

    _texts: dict[str, Text] = PrivateAttr(default_factory=dict)

    def add_warning(self, text: Text) -> None:
        """Add a warning: the document has it as a string, and front ends render its parts."""
        self.warnings.append(str(text))
        self._texts[str(text)] = text

    def warning_texts(self) -> list[Text]:
        """Return the warnings for a front end to render."""
        return [self._texts.get(warning, warning) for warning in self.warnings]

    def add_late_error(self, problem: EntrezKitError) -> None:
        """Record a problem that occurred after the records were stored; keep an earlier error about missing records."""
        self.add_warning(problem.message_text)
        self.set_missing_error(self.missing_error() or problem)


class SyncPlan(Result):
    """The expected work of a sync: entries, revisions, requests and approximate seconds."""

    query_key: str
    term: str
    first_sync: bool
    replaces_term: bool
    from_edat: str | None
    entries: int
    revisions: int
    requests: int
    seconds: int
    warnings: list[str]
