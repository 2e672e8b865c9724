"""Read LaTeX: lists of ``\\bibitem``, lists that BibTeX or biber wrote (.bbl), and the .bib files that it names.

A document can have several files, joined by ``\\input`` and similar commands.
"""

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from entrez_kit.core.model import Warn
from entrez_kit.references.check.pasted.pasted_lists import build_reference
from entrez_kit.references.files.read_bibtex import convert_latex, get_eprint_kind
from entrez_kit.references.files.reference_files import decode_file
from entrez_kit.references.files.references import RefAuthor, Reference, find_identifier, find_year, merge_identifiers
from entrez_kit.references.manuscripts.document import (
    Beside,
    KeyCall,
    Line,
    LineNumbers,
    Manuscript,
    Paragraph,
    list_cited_entries,
    missing_warning,
)

_COMMENT: Final = re.compile(r"(?<!\\)%[^\n]*+")
_CONTENTS: Final = re.compile(
    r"\\begin\{filecontents\*?\}\s*+(\[[^\[\]]*+\])?\s*+\{([^{}]++)\}(.*?)(?:\\end\{filecontents\*?\}|\Z)", re.DOTALL
)
"""A file that is embedded in the text."""
_ITEM: Final = re.compile(r"\\bibitem\s*+(?:\[(?>(?:[^\[\]{}]|\{(?>(?:[^{}]|\{[^{}]*+\})*)\})*)\])?\s*+\{([^{}]++)\}")
_BLOCK: Final = re.compile(
    r"\\(?:newblock|hskip\s[^\n]{0,60}?\\relax|natexlab|BibitemOpen)\b|\\BibitemShut\s*+\{[A-Za-z]++\}"
)
_FIELD_NAME: Final = re.compile(r"\\(?:bibinfo|bibfield)\s*+\{[A-Za-z]++\}\s*+")
"""A command whose first argument is the name of a field; its second one is the text."""
_CITE: Final = re.compile(r"\\[A-Za-z]{0,12}?cite[A-Za-z]{0,12}+\*?+\s*+(?:\[[^\[\]]*+\]\s*+){0,2}\{([^{}]++)\}")
_FILES: Final = re.compile(
    r"\\(?:bibliography|add(?:bibresource|globalbib|sectionbib)(?:\s*+\[[^\[\]]*+\])?)\s*+\{([^{}]++)\}"
)
_PARTS: Final = re.compile(r"\\(?:input|include|subfile)(?![A-Za-z])(?:\s*+\{([^{}\\#]++)\}|[ \t]++([^\s{}\\#]++))")
"""Commands that include another file."""
MAX_PARTS: Final = 200
_ENTRY: Final = re.compile(r"\\entry\{([^{}]++)\}\{[^{}]++\}")
_FIELD: Final = re.compile(r"\\field\{([a-z]++)\}\{((?>(?:[^{}]|\{(?>(?:[^{}]|\{[^{}]*+\})*)\})*))\}")
_VERB: Final = re.compile(r"\\verb\{([a-z]++)\}\s*+\\verb ((?>(?:(?!\\verb\{)[^\n])+))\s*+\\endverb")
_NEXT: Final = re.compile(r"\\(?:field|list|strng|name|verb|true|warn)\{")
_FAMILY: Final = re.compile(r"\b(family|given|prefix)=\{((?>(?:[^{}]|\{[^{}]*+\})*))\}")
_BEGIN: Final = re.compile(r"\\begin\{document\}")
_END: Final = re.compile(r"\\(?:end\{document\}|begin\{thebibliography\}|bibliography\{|printbibliography\b)")
_PARAGRAPH: Final = re.compile(
    r"[^\n]++\n?(?>(?:(?!\\(?:item|(?:sub){0,2}section|paragraph|chapter|caption)\b)[^\n]++\n?)*)"
)
"""Lines up to an empty line, or to a command that begins another paragraph."""
_QUOTE: Final = re.compile(r"\\begin\{(?:display)?quot(?:e|ation)\}")
_QUOTE_END: Final = re.compile(r"\\end\{(?:display)?quot(?:e|ation)\}")
_ENQUOTE: Final = re.compile(r"\\enquote\*?\{([^{}]*+)\}")
_ENVIRONMENT: Final = re.compile(r"\\(?:begin|end)\{[^{}]*+\}|\\(?:item|label\{[^{}]*+\})")
_PERSON: Final = re.compile(r"\{\{(?:[^{}]*+hash=|un=|uniquename=)")


def read_latex(content: bytes, name: str, beside: Beside) -> Manuscript:
    """Read a .tex or .bbl file and the files that it includes.

    Without a list in these files, read the list of its .bbl file, and the cited entries of its .bib files.

    Raises:
        InvalidInput: the file is binary, or a file that it names cannot be read.
    """
    own = re.split(r"[/\\]", name)[-1]
    text, beside = _split_contents(decode_file(content, name).text, beside)
    parts, warnings = _read_parts(text, own, beside)
    calls = [call for part, text in parts.items() for call in _yield_calls(text, part)]
    references = [reference for text in parts.values() for reference in (*_yield_items(text), *_yield_entries(text))]
    searched = []
    if not references:
        called = {call.key for call in calls}
        searched.append("it has no \\bibitem")
        if own.endswith(".tex"):
            own = own.removesuffix("tex") + "bbl"
            list_content = beside(own)
            searched.append(f"{own} is missing" if list_content is None else f"{own} has no list")
            if list_content is not None:
                text = _COMMENT.sub("", decode_file(list_content, own).text)
                references = [*_yield_items(text), *_yield_entries(text)]
        named = (file.strip() for text in parts.values() for found in _FILES.findall(text) for file in found.split(","))
        files = [file if file.endswith(".bib") else f"{file}.bib" for file in dict.fromkeys(named) if file]
        # A .bbl file may be older than the last citations and then lacks their entries.
        missing = called - {reference.key for reference in references} - ({"*"} if references else set())
        if missing or not references:
            more, new_warnings = list_cited_entries(files, beside, None if "*" in missing else missing)
            references += more
            warnings += new_warnings
            there = [file for file in files if missing_warning(file) not in new_warnings]
            if there:
                searched.append(
                    f"{', '.join(there)}: {'no cited entry' if called else 'the text does not cite any entry'}"
                )
            elif not files:
                searched.append("it has no \\bibliography or \\addbibresource")
    lines = [Line(number, line) for number, line in enumerate(parts[""].splitlines(), start=1)]
    return Manuscript(references, lines, calls, keyed=True, warnings=warnings, searched="; ".join(searched))


def _split_contents(text: str, beside: Beside) -> tuple[str, Beside]:
    """Return a text without its embedded files, and a function that reads also these files.

    Like in LaTeX, a file in the folder takes precedence over an embedded one without the option ``overwrite``.
    """
    inside = {match[2].strip(): (match[1] or "", match[3].encode()) for match in _CONTENTS.finditer(text)}

    def read(name: str) -> bytes | None:
        options, inner_content = inside.get(name, ("", None))
        return inner_content if "overwrite" in options or "force" in options else beside(name) or inner_content

    return _CONTENTS.sub(lambda match: "\n" * match[0].count("\n"), text), read


def _read_parts(text: str, own: str, beside: Beside) -> tuple[dict[str, str], list[Warn]]:
    """Return the text (with an empty name) and the files that it includes, and warnings about these files."""
    parts = {"": _COMMENT.sub("", text)}
    warnings: list[Warn] = []
    seen = {own}
    waiting = [parts[""]]
    while waiting:
        for match in _PARTS.finditer(waiting.pop()):
            named = (match[1] or match[2]).strip().strip('"').removeprefix("./")
            part = named if named.endswith((".tex", ".bbl")) else f"{named}.tex"
            if part in seen or len(seen) > MAX_PARTS:
                continue
            seen.add(part)
            content = beside(part) if part == named else beside(part) or beside(named)
            if content is None:
                warnings.append(missing_warning(part))
            elif content.strip():
                parts[part] = _COMMENT.sub("", decode_file(content, part).text)
                waiting.append(parts[part])
    return parts, warnings


def _yield_calls(text: str, part: str) -> Iterator[KeyCall]:
    lines = LineNumbers(text)
    for match in _CITE.finditer(text):
        line = lines.find(match.start())
        for key in match[1].split(","):
            if key.strip():
                call = " ".join(match[0].split())
                yield KeyCall(key.strip(), line, f"{part}: {call}" if part else call)


def _yield_items(text: str) -> Iterator[Reference]:
    """Yield the entries of a list of ``\\bibitem``, written by BibTeX or by hand."""
    lines = LineNumbers(text)
    marks = list(_ITEM.finditer(text))
    for number, (mark, after) in enumerate(zip_longest(marks, marks[1:]), start=1):
        body = text[mark.end() : after.start() if after else len(text)].partition("\\end{thebibliography}")[0]
        line = lines.find(mark.start())
        body = _FIELD_NAME.sub("", re.sub(r"\\(?:url|href|path|doi)\b", " ", body))
        written = convert_latex(_BLOCK.sub(" ", body))
        yield build_reference(written, line, key=mark[1].strip(), number=str(number))


def _yield_entries(text: str) -> Iterator[Reference]:
    """Yield the entries of a list that biber wrote."""
    lines = LineNumbers(text)
    marks = list(_ENTRY.finditer(text))
    for entry, after in zip_longest(marks, marks[1:]):
        body = text[entry.end() : after.start() if after else len(text)].partition("\\endentry")[0]
        fields = {name: convert_latex(value) for name, value in _FIELD.findall(body)}
        verbatim = dict(_VERB.findall(body))
        named = _NEXT.split(body.partition("\\name{author}")[2], maxsplit=1)[0]
        authors = [dict(_FAMILY.findall(person)) for person in _PERSON.split(named)[1:]]
        kind = get_eprint_kind(fields)
        eprint = find_identifier(kind, verbatim.get("eprint")) if kind is not None else None
        others = [(kind, eprint)] if kind is not None and eprint else []
        family = [" ".join(part for part in (author.get("prefix"), author.get("family")) if part) for author in authors]
        yield Reference(
            key=entry[1],
            line=lines.find(entry.start()),
            title=": ".join(part for part in (fields.get("title"), fields.get("subtitle")) if part) or None,
            authors=[
                RefAuthor(family=convert_latex(name), given=convert_latex(author.get("given", "")) or None)
                for name, author in zip(family, authors, strict=True)
                if name
            ],
            more_authors="\\true{moreauthor}" in body,
            journal=fields.get("journaltitle") or fields.get("booktitle"),
            year=find_year(fields.get("year")),
            volume=fields.get("volume"),
            issue=fields.get("number"),
            pages=fields.get("pages", "").replace("\\bibrangedash", "-") or fields.get("eid"),
            **merge_identifiers(others, doi=verbatim.get("doi")),
        )


# The text


def read_paragraphs(content: bytes, name: str, beside: Beside) -> Iterator[Paragraph]:
    """Yield the paragraphs with citations, each as ``[@{key}]``, of the document and of the files that it includes.

    Raises:
        InvalidInput: the file is binary.
    """
    text, beside = _split_contents(decode_file(content, name).text.replace("\r\n", "\n"), beside)
    parts, _ = _read_parts(text, re.split(r"[/\\]", name)[-1], beside)
    for part, whole in parts.items():
        end, lines = _END.search(whole), LineNumbers(whole)
        start = match.end() if (match := _BEGIN.search(whole)) else 0
        quotes = 0
        for match in _PARAGRAPH.finditer(whole, start, end.start() if end else len(whole)):
            quotes += len(_QUOTE.findall(match[0])) - len(_QUOTE_END.findall(match[0]))
            if calls := [[key.strip() for key in call[1].split(",")] for call in _CITE.finditer(match[0])]:
                marked = _CITE.sub("\ue010", _ENQUOTE.sub("“\\1”", _ENVIRONMENT.sub(" ", match[0])))
                first, *others = convert_latex(marked).split("\ue010")
                marks = ("[" + "; ".join(f"@{{{key}}}" for key in keys if key) + "]" for keys in calls)
                paragraph_text = first + "".join(mark + after for mark, after in zip(marks, others, strict=False))
                is_quote = quotes > 0 or bool(_QUOTE.search(match[0]))
                yield Paragraph(None if part else lines.find(match.start()), paragraph_text, is_quote)
