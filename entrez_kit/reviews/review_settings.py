"""The settings of a review, ``review.toml``, which only people edit after ``review init``."""

import re
import tomllib
import unicodedata
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from entrez_kit.core.argument_errors import describe_problem
from entrez_kit.query.dialects.services import Dialect
from entrez_kit.references.files.references import unreadable_error

FILE: Final = "review.toml"
SOURCE: Final = "PubMed"
Text = Annotated[str, StringConstraints(max_length=20_000)]
SourceKind = Literal["database", "register", "website", "organisation", "citations"]


class _SettingsTable(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PubMedSettings(_SettingsTable):
    """The search of PubMed: the file of the strategy in the folder, and its dialect if the lines do not show it."""

    strategy: Text = "strategies/pubmed.txt"
    dialect: Dialect | None = None
    limits: Text = ""
    filters: Text = ""
    overlap_days: int = Field(default=14, ge=0, le=366)


class SourceSettings(_SettingsTable):
    """What only a person knows about a source of imported files; ``kind`` is by default found by the name."""

    kind: SourceKind | None = None
    platform: Text = ""
    searched: Text = ""
    strategy: Text = ""
    limits: Text = ""
    filters: Text = ""


class Previous(_SettingsTable):
    """The studies and reports of the previous version of the review."""

    studies: int = Field(ge=0)
    reports: int = Field(ge=0)


class ReviewSettings(_SettingsTable):
    """The settings of a review."""

    format: Literal[1]
    title: Text = ""
    authors: Text = ""
    registration: Text = ""
    license: Text = ""
    pubmed: PubMedSettings = Field(default_factory=PubMedSettings)
    sources: dict[str, SourceSettings] = Field(default_factory=dict, max_length=200)
    previous: Previous | None = None
    prisma_s: dict[Annotated[str, StringConstraints(pattern=r"^([1-9]|1[0-6])$")], Text] = Field(default_factory=dict)

    def get_source(self, name: str) -> SourceSettings:
        """Return the settings of a source; defaults if it has none."""
        folded = fold_source(name)
        return next((source for key, source in self.sources.items() if fold_source(key) == folded), SourceSettings())

    def get_kind(self, name: str) -> SourceKind:
        """Return the kind of a source: from the settings, or else a register if its name is that of one."""
        return self.get_source(name).kind or ("register" if _REGISTER.match(fold_source(name)) else "database")


_REGISTER: Final = re.compile(
    r"(?:(?:who|nih|nlm|us|eu|european union) )?"
    r"(?:clinical ?trials? ?gov|clinical trials? (?:register|registry|information system)|ct ?gov|"
    r"ictrp|international clinical trials registry platform|eu ?ctr|eudract|ctis|isrctn|anzctr|chictr|jrct|jprn|"
    r"umin ?ctr|drks|german clinical trials register|rebec|ctri|pactr|irct|rpcec|tctr|slctr|lbctr)\b"
)
"""The beginning of the folded names of trial registers. CENTRAL, with records of many sources, is a database."""


def fold_source(name: str) -> str:
    """Return the name of a source without differences of case, spaces and punctuation; all letters stay different."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join("".join(letter if unicodedata.category(letter)[0] in "LMN" else " " for letter in folded).split())


def read_settings(text: str, name: str) -> ReviewSettings:
    """Read the settings.

    Raises:
        InvalidInput: the file is not TOML, or has an unknown key or a wrong value. The message has the line of the key.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise unreadable_error(name, f"the file is not valid TOML: {exc}") from None
    try:
        return ReviewSettings.model_validate(data)
    except ValidationError as exc:
        error = exc.errors()[0]
        place = [str(part) for part in error["loc"]]
        problem = f"{'.'.join(place) or 'the file'}: {describe_field_problem(error)}"
        raise unreadable_error(name, problem, line=_find_line(text, place)) from None


def describe_field_problem(error: ErrorDetails) -> str:
    """Return what is wrong with a field of a file."""
    return "unknown field" if error["type"] == "extra_forbidden" else str(describe_problem(error)).rstrip(".")


def _find_line(text: str, place: list[str]) -> int | None:
    """Return the line of a key or of its table."""
    for name in reversed(place):
        for number, line in enumerate(text.splitlines(), start=1):
            if line.partition("=")[0].strip().strip('"[]').rpartition(".")[2].strip('"') == name:
                return number
    return None


def write_settings(title: str, dialect: str | None) -> str:
    """Return the settings of a new review, with comments that say what a person can add."""
    import tomlkit

    document = tomlkit.document()
    document.add("format", tomlkit.item(1))
    for name, value in (("title", title), ("authors", ""), ("registration", ""), ("license", "")):
        document.add(name, tomlkit.item(value))
    pubmed: Any = tomlkit.table()
    pubmed.add("strategy", "strategies/pubmed.txt")
    if dialect:
        pubmed.add("dialect", dialect)
    pubmed.add("limits", "")
    pubmed.add("filters", "")
    pubmed.add("overlap_days", 14)
    document.add("pubmed", pubmed)
    return tomlkit.dumps(document) + _HELP


_HELP: Final = """
# A source of imported files. kind: database, register, website, organisation or citations. Without a kind, a source
# with the name of a trial register (ClinicalTrials.gov, ICTRP, ISRCTN) is a register, and another one is a database.
# [sources.Embase]
# kind = "database"
# platform = "Embase.com (Elsevier)"
# searched = "2026-11-23"
# strategy = "strategies/embase.txt"

# The previous version of an updated review.
# [previous]
# studies = 0
# reports = 0

# Texts for items of PRISMA-S that only people can answer: 2 to 7, 11, 14.
# [prisma_s]
# 14 = "Peer reviewed by a second information specialist with PRESS."
"""
