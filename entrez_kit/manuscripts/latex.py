"""LaTeX: lists that are written out (``\\bibitem``), those BibTeX and biber made (.bbl), and the .bib files named."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from entrez_kit.citations.check.written import as_reference
from entrez_kit.citations.files.read_bibtex import untexed
from entrez_kit.citations.files.reference_files import decoded
from entrez_kit.citations.files.references import RefAuthor, Reference, identifier_of, year_in
from entrez_kit.manuscripts.document import Beside, KeyCall, Line, Manuscript, entries_beside
from entrez_kit.model import Warn

_COMMENT: Final = re.compile(r"(?<!\\)%[^\n]*+")
_ITEM: Final = re.compile(r"\\bibitem\s*+(?:\[(?>(?:[^\[\]{}]|\{(?>(?:[^{}]|\{[^{}]*+\})*)\})*)\])?\s*+\{([^{}]++)\}")
_END: Final = re.compile(r"\\end\{thebibliography\}")
_BLOCK: Final = re.compile(
    r"\\(?:newblock|hskip\s[^\n]{0,60}?\\relax|bibinfo\{[a-z]++\}|natexlab|BibitemOpen|BibitemShut)\b"
)
_CITE: Final = re.compile(r"\\[A-Za-z]{0,12}?cite[A-Za-z]{0,12}+\*?+\s*+(?:\[[^\[\]]*+\]\s*+){0,2}\{([^{}]++)\}")
_FILES: Final = re.compile(r"\\(?:bibliography|addbibresource(?:\[[^\[\]]*+\])?)\s*+\{([^{}]++)\}")
_ENTRY: Final = re.compile(r"\\entry\{([^{}]++)\}\{[^{}]++\}")
_FIELD: Final = re.compile(r"\\field\{([a-z]++)\}\{((?>(?:[^{}]|\{(?>(?:[^{}]|\{[^{}]*+\})*)\})*))\}")
_VERB: Final = re.compile(r"\\verb\{([a-z]++)\}\s*+\\verb ([^\n]++)\s*+\\endverb")
_NAMES: Final = re.compile(r"\\name\{author\}")
_NEXT: Final = re.compile(r"\\(?:field|list|strng|name|verb|true|warn)\{")
_FAMILY: Final = re.compile(r"\b(family|given|prefix)=\{((?>(?:[^{}]|\{[^{}]*+\})*))\}")
_PERSON: Final = re.compile(r"\{\{(?:[^{}]*+hash=|un=|uniquename=)")


def read_latex(content: bytes, name: str, beside: Beside) -> Manuscript:
    """Read a .tex or .bbl file; a .tex without a list of its own has that of its .bbl, or the entries of its .bib
    files that it calls.

    Raises:
        InvalidInput: it is no text, or one of the .bib files cannot be read.
    """
    text = decoded(content, name).text
    plain = _COMMENT.sub("", text)
    calls = list(_calls(plain))
    references = [*_items(plain), *_entries(plain)]
    warnings: list[Warn] = []
    if not references:
        own = beside(re.sub(r"\.tex$", ".bbl", name.rpartition("/")[2]))
        if own is not None:
            made = _COMMENT.sub("", decoded(own, f"{name} (.bbl)").text)
            references = [*_items(made), *_entries(made)]
    if not references:
        references, warnings = _of_files(plain, beside, {call.key for call in calls})
    shown = [Line(number, line) for number, line in enumerate(plain.splitlines(), start=1)]
    return Manuscript(references, shown, calls, keyed=True, warnings=warnings)


def _calls(text: str) -> Iterator[KeyCall]:
    for match in _CITE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        for key in match[1].split(","):
            if key.strip():
                yield KeyCall(key.strip(), line, " ".join(match[0].split()))


def _items(text: str) -> Iterator[Reference]:
    """Yield the entries of a list as BibTeX writes it, or a person."""
    marks = list(_ITEM.finditer(text))
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        body = text[mark.end() : end]
        if stop := _END.search(body):
            body = body[: stop.start()]
        line = text.count("\n", 0, mark.start()) + 1
        written = untexed(_BLOCK.sub(" ", re.sub(r"\\(?:url|href|path|doi)\b", " ", body)))
        yield as_reference(written, line, number=str(number + 1)).model_copy(update={"key": mark[1].strip()})


def _entries(text: str) -> Iterator[Reference]:
    """Yield the entries of a list as biber writes it."""
    marks = list(_ENTRY.finditer(text))
    for entry, after in zip_longest(marks, marks[1:]):
        body = text[entry.end() : after.start() if after else len(text)].partition("\\endentry")[0]
        fields = {name: untexed(value) for name, value in _FIELD.findall(body)}
        verbatim = dict(_VERB.findall(body))
        authors = [dict(_FAMILY.findall(person)) for person in _PERSON.split(_names(body))[1:]]
        family = [" ".join(part for part in (one.get("prefix"), one.get("family")) if part) for one in authors]
        yield Reference(
            key=entry[1],
            line=text.count("\n", 0, entry.start()) + 1,
            title=": ".join(part for part in (fields.get("title"), fields.get("subtitle")) if part) or None,
            authors=[
                RefAuthor(family=untexed(name), given=untexed(one.get("given", "")) or None)
                for name, one in zip(family, authors, strict=True)
                if name
            ],
            more_authors="\\true{moreauthor}" in body,
            journal=fields.get("journaltitle") or fields.get("booktitle"),
            year=year_in(fields.get("year")),
            volume=fields.get("volume"),
            issue=fields.get("number"),
            pages=fields.get("pages", "").replace("\\bibrangedash", "-") or fields.get("eid"),
            doi=identifier_of("doi", verbatim.get("doi")),
            pmid=identifier_of("pmid", verbatim.get("eprint")) if fields.get("eprinttype") == "pubmed" else None,
        )


def _names(entry: str) -> str:
    """Return the authors of an entry, as far as the next of its fields."""
    begin = _NAMES.search(entry)
    if begin is None:
        return ""
    end = _NEXT.search(entry, begin.end())
    return entry[begin.end() : end.start() if end else len(entry)]


def _of_files(text: str, beside: Beside, called: set[str]) -> tuple[list[Reference], list[Warn]]:
    """Return the entries of the .bib files that are called; all of them where ``\\nocite{*}`` says so."""
    names = [name.strip() for match in _FILES.finditer(text) for name in match[1].split(",") if name.strip()]
    files = (name if name.endswith(".bib") else f"{name}.bib" for name in names)
    return entries_beside(files, beside, None if "*" in called else called)
