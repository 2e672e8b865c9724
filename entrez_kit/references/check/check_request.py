"""The request of ``check``: references as fields, as ids, as text or in files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.base.frontend_text import Argument, FrontendText, cut_end, format_count
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.core.model import Request, Warn, contradiction_error, require_one
from entrez_kit.references.check.accepted import Accepted
from entrez_kit.references.check.check_result import InTextFinding
from entrez_kit.references.check.lookup.sources import RetractionWatchFile, StatusSources
from entrez_kit.references.check.pasted.pasted_lists import PastedList, build_reference, read_list
from entrez_kit.references.files.references import MAX_QUOTED_REFERENCE, Reference

MAX_REFERENCES: Final = 20_000
MAX_NAMED: Final = 200
"""Maximum references that a warning names."""
MAX_NAME: Final = 60
"""Maximum characters of each of them."""
MAX_LIST: Final = 1_000_000
MAX_KEY: Final = 60


def _to_reference(value: Any) -> Any:
    """Convert an id or the text of a reference to a reference, with the identifiers in the text."""
    if isinstance(value, Mapping) and isinstance(value.get("text"), str) and set(value) <= {"key", "text", "line"}:
        reference = build_reference(value["text"], 1)
        return {
            **reference.model_dump(exclude={"key", "line"}),
            **{name: value[name] for name in value if name != "text"},
        }
    if not isinstance(value, str):
        return value
    identifier = read_identifier(value)
    key = value.strip()[:MAX_KEY]
    if identifier is not None:
        return {"key": key, identifier.kind: identifier.value}
    return build_reference(" ".join(value.split()), 1).model_copy(update={"key": key, "line": None})


def _shorten(reference: Reference) -> str:
    """Return the beginning of a reference."""
    text = " ".join((reference.text or reference.title or reference.key).split())
    return cut_end(text, MAX_NAME)


class CheckRequest(Request):
    """The references to check, and how to correct their file."""

    text: str | None = Field(
        default=None,
        max_length=MAX_LIST,
        description="A pasted list, or a text that contains a list under its heading. Give text or references.",
    )
    text_start: int = Field(default=0, ge=0, description="With text: how many of its references to skip.")
    references: list[Annotated[Reference, BeforeValidator(_to_reference)]] = Field(
        default=[],
        max_length=MAX_REFERENCES,
        description="References in order: each as fields, as text, or as an id.",
    )
    max_references: SkipJsonSchema[int | None] = Field(
        default=None, ge=1, description="How many references of a text to check."
    )
    sources: StatusSources = None
    retraction_watch: RetractionWatchFile = None
    only: Literal["all", "problems"] = Field(default="all", description="`problems` omits verified references.")
    corrects: SkipJsonSchema[bool] = Field(default=False, description="Return the changes that correct the file.")
    newer: SkipJsonSchema[bool] = Field(
        default=False,
        description="Replace preprints with the published articles, and other references with their newest versions.",
    )
    unique: SkipJsonSchema[bool] = Field(
        default=False, description="Remove references to an article that an earlier reference of the file cites."
    )

    @model_validator(mode="after")
    def _check_one_given(self) -> Self:
        require_one(self, "text", "references")
        if not self.listed:
            if self.text_start and self._all_of_text:
                message = f"is past the last of {format_count(len(self._all_of_text), 'reference')}"
                raise contradiction_error("text_start", message, self.text_start)
            raise contradiction_error("text", "contains no reference", (self.text or "")[:MAX_QUOTED_REFERENCE])
        return self

    @cached_property
    def listed(self) -> list[Reference]:
        """The references, given as references or in a text."""
        if not self.text:
            return self.references
        end = None if self.max_references is None else self.text_start + self.max_references
        return self._all_of_text[self.text_start : end]

    @cached_property
    def _all_of_text(self) -> list[Reference]:
        return self._pasted.references

    @cached_property
    def _pasted(self) -> PastedList:
        return read_list(self.text or "")

    def warn_about_text(self) -> list[Warn]:
        """Return warnings about lines that are not references, and about references after the last checked one."""
        return [*self._pasted.warnings, *self._warn_about_unchecked()]

    def _warn_about_unchecked(self) -> list[Warn]:
        """Return a warning that names the references of the text after the ones to check."""
        end = self.text_start + len(self.listed)
        left = self._all_of_text[end:] if self.text else []
        if not left:
            return []
        message = FrontendText(
            f"References {self.text_start + 1} to {end} of {len(self._all_of_text)} were checked. ",
            *("To check the others, give the same text with ", Argument("text_start"), f" {end}."),
        )
        terms = [_shorten(reference) for reference in left[:MAX_NAMED]]
        return [Warn(code="references_left", message=message, terms=terms)]


@dataclass(frozen=True, slots=True)
class FileToCheck:
    """A file of references to check, and what is known about it before the check.

    Args:
        warnings: warnings about the file.
        in_text: citations in the text of a manuscript without an entry, and uncited entries.
        target: the path of the corrected file, if anything changes.
        name: its name, if there are several files.
        total: the number of its references; None if there are no other files.
        accepted: the findings that a person accepted.
    """

    warnings: list[Warn] = field(default_factory=list)
    in_text: list[InTextFinding] = field(default_factory=list)
    target: str | None = None
    name: str | None = None
    total: int | None = None
    accepted: Accepted = field(default_factory=Accepted)

    def warn(self) -> Iterator[Warn]:
        """Yield its warnings; of several files, each with the name of the file."""
        for warning in self.warnings:
            message = FrontendText(f"{self.name}: ", warning.text) if self.name else warning.text
            yield Warn.model_validate({**warning.model_dump(), "message": message})


class CheckFileRequest(CheckRequest):
    """A request of the terminal: the references of all files in order, and the files."""

    files: list[FileToCheck]
