"""References of files, lists, manuscripts and published articles, as check, merge, review and verify read them."""

from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.core.model import Warn
from entrez_kit.references.check.accepted import Accepted, find_accepted
from entrez_kit.references.files.references import Reference

from ._files import name_file, read_content, read_sibling
from ._id_lists import ARTICLES, NOT_IDENTIFIERS, read_identifiers
from ._pipeline import get_state
from ._state import STDIN, usage_error

if TYPE_CHECKING:
    from entrez_kit.references.check.check_result import InTextFinding
    from entrez_kit.references.files.references import ReferenceFile

MANUSCRIPT: Final = "manuscript"
"""The kind of documents and published articles with a list of references, which cannot be corrected."""


@dataclass(frozen=True, kw_only=True)
class ReferenceSource:
    """The references of a file, and the file itself if it can be corrected.

    Args:
        kind: the format: bibtex, ris, csl, nbib, ids or manuscript.
        accepted: the findings that comments of the file accept.
    """

    path: Path
    references: list[Reference]
    kind: str
    file: "ReferenceFile | None" = None
    encoding: str = ""
    warnings: list[Warn] = field(default_factory=list)
    in_text: "list[InTextFinding]" = field(default_factory=list)
    accepted: Accepted = field(default_factory=Accepted)


def read_text_file(path: Path, hint: str) -> str:
    """Return the text of a file, or of standard input for "-".

    Raises:
        InvalidInput: the file cannot be read, is empty or binary.
    """
    from entrez_kit.references.files.reference_files import decode_file

    return decode_file(read_content(path), name_file(path), hint=hint).text


def read_file_to_merge(ctx: typer.Context, path: Path, database: str | None = None) -> dict[str, Any]:
    """Return a file to merge as a field of the request: its text, or the references of a manuscript."""
    from entrez_kit.references.files.reference_files import decode_file
    from entrez_kit.references.manuscripts.read_manuscript import READ, refuse_others
    from entrez_kit.references.merge.merge_documents import READABLE

    name = name_file(path)
    named = {"file": name, **({"source": database} if database else {})}
    if path.suffix.lower() in READ and path.suffix.lower() not in (".xml", ".md"):
        return {**named, "references": read_source(ctx, path).references}
    content = read_content(path)
    refuse_others(content, name)
    return {**named, "text": decode_file(content, name, hint=READABLE).text}


def read_source(ctx: typer.Context, path: Path, *, in_text: bool = False) -> ReferenceSource:
    """Read the references of a file, a list, a manuscript or a published article.

    Args:
        in_text: whether the citations in the text of a manuscript are also checked.

    Raises:
        InvalidInput: the source cannot be read or has no references, or ``in_text`` is given without a text.
    """
    from entrez_kit.references.files.reference_files import PLAIN_TEXT, decode_file, detect_kind, read_reference_file
    from entrez_kit.references.manuscripts.read_manuscript import FILES, READ, detect_suffix, refuse_others

    is_stdin = str(path) == STDIN
    article = read_identifier(str(path)) if not path.exists() and not is_stdin else None
    if article is not None:
        from entrez_kit.references.manuscripts.articles import fetch_references

        _refuse_in_text(in_text)
        references = fetch_references(get_state(ctx).services, article)
        return ReferenceSource(path=path, references=references, kind=MANUSCRIPT)
    content, name = read_content(path), name_file(path)
    refuse_others(content, name)
    suffix = (detect_suffix(content) or "") if is_stdin else path.suffix.lower()
    if suffix in READ and (in_text or suffix not in PLAIN_TEXT):
        return _read_manuscript(path, content, suffix, in_text=in_text)
    decoded = decode_file(content, name, hint=FILES)
    accepted = find_accepted(decoded.text, name)
    kind = detect_kind(decoded.text, name, suffix, hint=FILES)
    if kind != "ids":
        _refuse_in_text(in_text)
        file = read_reference_file(decoded.text, name, kind)
        return ReferenceSource(
            path=path,
            references=file.references,
            kind=kind,
            file=file,
            encoding=decoded.encoding,
            warnings=file.warnings,
            accepted=accepted,
        )
    listed = _read_list(content, decoded.text, name, suffix)
    if listed is None:
        return _read_manuscript(path, content, ".md", in_text=in_text)
    references, warnings = listed
    _refuse_in_text(in_text)
    if not references:
        raise InvalidInput(
            f"{name} contains no ids.",
            invalid_input=name,
            recovery_hint="Give PMIDs, PMCIDs or DOIs, one or many per line.",
            details={"reason": "no_identifiers"},
        )
    return ReferenceSource(path=path, references=references, kind=kind, warnings=warnings, accepted=accepted)


def _read_manuscript(path: Path, content: bytes, suffix: str, *, in_text: bool) -> ReferenceSource:
    from entrez_kit.references.files.reference_files import PLAIN_TEXT
    from entrez_kit.references.manuscripts.calls import check_calls
    from entrez_kit.references.manuscripts.read_manuscript import TEXT, read_manuscript

    _refuse_in_text(in_text and suffix not in TEXT)
    name = name_file(path)
    manuscript = read_manuscript(content, name, suffix, partial(read_sibling, path), has_text=in_text)
    in_text_findings = check_calls(manuscript) if in_text else []
    is_plain = suffix in PLAIN_TEXT
    return ReferenceSource(
        path=path,
        references=manuscript.references,
        kind=MANUSCRIPT,
        warnings=manuscript.warnings,
        in_text=in_text_findings,
        accepted=find_accepted(content.decode("utf-8", "replace"), name) if is_plain else Accepted(),
    )


def _refuse_in_text(in_text: bool) -> None:
    """Refuse --in-text for a source without a text."""
    if in_text:
        raise usage_error("--in-text needs the text of a manuscript.", "in_text", "Name a .docx, .tex or .md file.")


_LISTED: Final = replace(
    ARTICLES, hint=" `entrez-kit convert FILE --to ris` makes a RIS file from a table of references."
)


def _read_list(content: bytes, text: str, name: str, suffix: str) -> tuple[list[Reference], list[Warn]] | None:
    """Read a list of identifiers, or of written references if a line is not an identifier.

    Returns:
        None for Markdown that is not a list of identifiers.
    """
    from entrez_kit.references.check.pasted.pasted_lists import read_list
    from entrez_kit.references.files.reference_files import PLAIN_TEXT

    try:
        return [_build_reference(text) for text in read_identifiers(BytesIO(content), name, _LISTED)], []
    except InvalidInput as exc:
        if exc.details.get("reason") != NOT_IDENTIFIERS or suffix.lower() not in PLAIN_TEXT:
            raise
    if suffix.lower() == ".md":
        return None
    pasted = read_list(text)
    return pasted.references, [*pasted.warnings]


def _build_reference(text: str) -> Reference:
    identifier = read_identifier(text)
    return Reference(key=text, **({identifier.kind: identifier.value} if identifier else {}))
