"""PubMed's search fields: tags, the name in a QueryTranslation, and the parts of a record that each field searches."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

Kind = Literal["text", "value", "mesh", "name", "journal", "id", "action", "date", "uid", "filter"]


@dataclass(frozen=True, slots=True)
class Field:
    """One search field.

    ``kind`` says how a term is matched: "text" (words and phrases), "value" (whole values), "mesh" (headings or
    publication types, which include narrower ones), "name" (people), "journal", "id" (identifiers with their
    punctuation), "action", "date", "uid" or "filter". ``sources`` are the word lists or value lists of an index.
    ``proximity`` says whether ``[field:~N]`` is possible.
    """

    code: str
    label: str
    kind: Kind
    sources: tuple[str, ...]
    tags: tuple[str, ...]
    description: str
    proximity: bool = False
    hidden: bool = False


def define_field(*, tags: str, sources: str = "", **about: Any) -> Field:
    """Return a field; its code and its label are tags, too."""
    names = (about["label"].lower(), about["code"].lower(), *filter(None, tags.split(", ")))
    return Field(sources=tuple(sources.split()), tags=tuple(dict.fromkeys(names)), **about)


_DATA: Final = json.loads(Path(__file__).with_name("fields.json").read_text(encoding="utf-8"))
FIELDS: Final = tuple(define_field(**row) for row in _DATA["fields"])
MESH_FIELDS: Final = tuple(define_field(**row) for row in _DATA["mesh"])
"""The fields of the MeSH database."""
BY_CODE: Final = {field.code: field for field in FIELDS}
ALL_FIELDS: Final = BY_CODE["ALL"]
EVERYWHERE: Final = ALL_FIELDS.sources
"""The word lists that [All Fields] searches: all but the place of publication and the dates."""
ABSTRACT: Final = Field("AB", "Abstract", "text", ("abstract",), (), "Abstract", hidden=True)
"""PubMed has no field for abstracts alone; other services have one."""
_BY_TAG: Final = {tag: field for field in FIELDS for tag in field.tags}

_NEAR: Final = re.compile(r"(.*?) ?: ?~ ?([0-9]{1,6})")
_SUFFIX: Final = re.compile(r"(.*?) ?: ?(no ?exp|exp)")


@dataclass(frozen=True, slots=True)
class Tag:
    """A field tag: the field, whether narrower terms are excluded, and the distance of a proximity search."""

    field: Field
    explodes: bool = True
    distance: int | None = None


def parse_tag(text: str) -> Tag | None:
    """Parse a tag without its brackets, ignoring case and spaces; None if no such field exists."""
    name = " ".join(text.lower().split())
    distance, explodes = None, True
    if match := _NEAR.fullmatch(name):
        name, distance = match[1], int(match[2])
    if match := _SUFFIX.fullmatch(name):
        name, explodes = match[1], match[2] == "exp"
    field = _BY_TAG.get(name)
    return None if field is None else Tag(field, explodes, distance)


LANGUAGES: Final[dict[str, str]] = _DATA["languages"]
"""Names of the language codes that MEDLINE uses most."""
