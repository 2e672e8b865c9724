"""Read and correct BibTeX and biblatex files. A correction changes only the values of fields that differ."""

import logging
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final
from urllib.parse import unquote

from entrez_kit.base.frontend_text import MAX_QUOTED, cut_middle
from entrez_kit.base.identifiers import IdKind
from entrez_kit.base.invisible import remove_invisible
from entrez_kit.citations.csl import ARTICLE_NUMBER, build_csl_item
from entrez_kit.citations.write_bibtex import MONTHS, encode_doi, escape_latex, write_bibtex_item, write_bibtex_name
from entrez_kit.core.model import Warn
from entrez_kit.pubmed.models import Article
from entrez_kit.references.files.references import (
    JUNIOR,
    FieldUpdate,
    OriginalRecord,
    RefAuthor,
    Reference,
    ReferenceFile,
    find_identifier,
    find_year,
    is_about_version,
    list_identifiers,
    list_identifiers_in_notes,
    merge_identifiers,
    parse_name,
    unreadable_error,
    warn_of_left_out,
    warn_of_repeated_keys,
)

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "title": ("title",),
    "authors": ("author",),
    "journal": ("journal", "journaltitle", "booktitle"),
    "year": ("year", "date"),
    "volume": ("volume",),
    "issue": ("number", "issue"),
    "pages": ("pages", "eid"),
    "doi": ("doi",),
    "pmid": ("pmid", "eprint"),
    "pmcid": ("pmcid", "pmc"),
    "note": ("note",),
}
"""The fields of a reference, with the fields of BibTeX and biblatex for each in order of precedence."""
EPRINT_KINDS: Final[Mapping[str, IdKind]] = {
    **dict.fromkeys(("pubmed", "pmid", "medline"), "pmid"),
    **dict.fromkeys(("pmc", "pmcid", "pubmedcentral"), "pmcid"),
}
"""The kinds of identifiers in the field ``eprint``, by the field ``eprinttype`` or ``archiveprefix``."""
MAX_STRING: Final = 10_000
"""Maximum length of a @string. A @string can contain an earlier one twice, so the length can double with each line."""
MAX_LATEX: Final = 20_000
MAX_DEPTH: Final = 50
"""Maximum depth of braces. The LaTeX parser needs several nested calls for each level."""
_LIKE_ENTRY: Final = re.compile(r"\b(?:title|author|year|date|journal|doi)\s*=\s*[\"{0-9]", re.IGNORECASE)
"""A field. In a comment or between entries, it shows an entry that was not read."""
_SPECIAL: Final = re.compile(r"[\\{}$~]|--|``|''")
_BARE_PERCENT: Final = re.compile(r"(?<!\\)%")
_EMPTY_BRACES: Final = re.compile(r"(\\[A-Za-z]+)\{\}")
_GREEK: Final = re.compile(
    r"\\text(alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|upsilon|phi|chi"
    r"|psi|omega)(?![A-Za-z])(?:\{\})?",
    re.IGNORECASE,
)
"""Greek letters outside of formulas."""
_INITIALS: Final = r"(?:[^\W\d_a-z]\.?[ -]?){1,4}"
_BRACED_PERSON: Final = re.compile(rf"[^,]+, {_INITIALS}|(?:[^\W\d_a-z]\.[ -]?){{1,4}} ?[^\W\d_]{{2}}[^,.]*")
"""A person in braces: a family name with initials, or initials with full stops before a family name."""
_ADDRESS_OF_PAPERS: Final = re.compile(r"papers[0-9]?://publication/doi/(?=10\.)")
"""The beginning of an address of the program Papers."""
_OTHERS: Final = re.compile(r",? (?:and )?(?:et\.? al\.?|others)$", re.IGNORECASE)
_INITIALS_FIRST: Final = re.compile(r"(?:[^\W\d_a-z]\.[ -]?){1,4} ?[^\W\d_][\w'’-]+(?: [^\W\d_][\w'’-]+){0,3}")
_FAMILY_FIRST: Final = re.compile(r"[^\W\d_](?=[\w'’ -]*[^\W\d_A-Z])[\w'’-]*(?: [^\W\d_][\w'’-]+){0,3} [A-Z]{1,3}")
_NO_VOWEL: Final = re.compile(r" [B-DF-HJ-NP-TV-XZ]{1,3}$")
"""Initials that cannot be a short family name."""
_WORK_FIELDS: Final = (
    "author editor title booktitle bookauthor maintitle journal journaltitle shortjournal volume number issue pages "
    "eid article-number chapter series edition publisher institution howpublished school organization address "
    "location issn isbn "
    "year month day date doi pmid pmcid pmc eprint eprinttype archiveprefix primaryclass eprintclass archive url "
    "urldate language pubstate type version"
)
_OF_WORK: Final = frozenset(_WORK_FIELDS.split())
"""Fields about one version of a work. Other fields are the user's own, and stay if another version replaces it."""
_EXTENDED: Final = re.compile(r"\b(family|given|prefix|suffix)\s*=\s*", re.IGNORECASE)


_ADDRESSES: Final = frozenset(("url", "ee", "uri"))
"""Fields with an address, which LaTeX prints verbatim."""


@dataclass(slots=True)
class _BibEntry:
    """An entry, with the offsets of its values in the text."""

    kind: str
    key: str
    line: int
    values: dict[str, str]
    spans: dict[str, tuple[int, int]]
    start: int
    end: int


class BibtexFile(ReferenceFile):
    """The references of a BibTeX or biblatex file."""

    def __init__(
        self, text: str, entries: list[_BibEntry], references: list[Reference], warnings: Sequence[Warn]
    ) -> None:
        self._text = text
        self._entries = entries
        super().__init__(references, warnings)

    def get_original(self, index: int) -> OriginalRecord:
        """Return the fields and the text of an entry."""
        from entrez_kit.references.files.tagged_fields import convert_bibtex

        entry = self._entries[index]
        values = {
            name: _read_address(value) if name in _ADDRESSES else convert_latex(value)
            for name, value in entry.values.items()
        }
        editors, _ = _read_authors(entry.values.get("editor", ""))
        book_authors, _ = _read_authors(entry.values.get("bookauthor", ""))
        fields = convert_bibtex(entry.kind, values, self.references[index], editors, book_authors)
        return OriginalRecord(fields, self._text[entry.start : entry.end])

    def correct(self, corrections: Mapping[int, FieldUpdate]) -> str:
        """Return the text with changed references, by their index."""
        edits: list[tuple[int, int, str]] = []
        for number, correction in corrections.items():
            edits += self._yield_edits(self._entries[number], correction)
        text = self._text
        for begin, end, new in sorted(edits, reverse=True):
            text = text[:begin] + new + text[end:]
        return text

    def _yield_edits(self, entry: _BibEntry, correction: FieldUpdate) -> Iterator[tuple[int, int, str]]:
        if correction.same_as is not None:
            after = re.compile(r"\s*").match(self._text, entry.end)
            yield entry.start, after.end() if after else entry.end, ""
            return
        if correction.record is not None:
            yield entry.start, entry.end, self._replace_entry(entry, correction.record)
            return
        added: list[tuple[str, str]] = []
        for name, value in correction.fields.items():
            if name == "authors":
                text = " and ".join(write_bibtex_name(author) for author in value)
            elif name == "doi":
                text = encode_doi(value)
            elif name in ("pmid", "pmcid"):
                text = str(value)
            else:
                text = escape_latex(value)
                if name == "pages":
                    text = re.sub(r"(?<=\w)-(?=\w)", "--", text)
                    if ARTICLE_NUMBER in entry.spans:
                        yield *entry.spans[ARTICLE_NUMBER], "{}"
            field = _find_field(entry, name)
            if field is None:
                added.append((NAMES[name][0], f"{{{text}}}"))
            else:
                begin, end = entry.spans[field]
                if field == "date":
                    text = re.sub(r"[0-9]{4}", text, entry.values[field], count=1)
                yield begin, end, _enclose(self._text[begin:end], text)
        note, old = escape_latex(correction.note), entry.values.get("note", "").strip()
        if note and "note" not in entry.spans:
            added.append(("note", f"{{{note}}}"))
        elif note and note.rstrip(".") not in old:
            yield *entry.spans["note"], f"{{{old.rstrip('.')}. {note}}}" if old else f"{{{note}}}"
        if added:
            yield self._build_insertion(entry, added)

    def _replace_entry(self, entry: _BibEntry, record: Article) -> str:
        """Return the entry of a record with the key and the user's own fields of an entry."""
        item = {name: value for name, value in build_csl_item(record).items() if name != "keyword"}
        if "abstract" not in entry.spans:
            item.pop("abstract", None)
        own = {name: self._text[slice(*span)] for name, span in entry.spans.items() if name not in _OF_WORK}
        if (note := entry.values.get("note")) and not is_about_version(note):
            own["note"] = f"{{{note.rstrip('.')}. {escape_latex(item.pop('note'))}}}" if "note" in item else own["note"]
        else:
            own.pop("note", None)
        *lines, last = write_bibtex_item(item, entry.key).split("\n")
        lines += [f"  {name} = {value}," for name, value in own.items() if name != "abstract"]
        return ("\r\n" if "\r\n" in self._text else "\n").join([*lines, last])

    def _build_insertion(self, entry: _BibEntry, added: list[tuple[str, str]]) -> tuple[int, int, str]:
        """Insert new fields after the last one, with the same indentation."""
        newline = "\r\n" if "\r\n" in self._text else "\n"
        if not entry.spans:
            place = self._text.rindex("}", 0, entry.end) if "}" in self._text[: entry.end] else entry.end
            return place, place, "".join(f"  {name} = {value},{newline}" for name, value in added)
        begin, end = max(entry.spans.values())
        head = self._text[self._text.rfind("\n", 0, begin) + 1 : begin]
        indent = head[: len(head) - len(head.lstrip())] or "  "
        comma = re.compile(r"\s*,").match(self._text, end)
        text = f",{newline}".join(f"{indent}{name} = {value}" for name, value in added)
        if comma:
            return comma.end(), comma.end(), f"{newline}{text},"
        return end, end, f",{newline}{text}"


def read_bibtex(text: str, name: str) -> BibtexFile:
    """Read a BibTeX or biblatex file.

    Raises:
        InvalidInput: an entry cannot be read. The message has the line number.
    """
    reader = _BibtexReader(text)
    entries = list(reader.read(name))
    references = [_build_reference(entry) for entry in entries]
    reason = "BibTeX reads text that does not begin with @TYPE{KEY, as a comment"
    warnings = [*warn_of_repeated_keys(references), *warn_of_left_out(reader.left_out, reason)]
    return BibtexFile(text, entries, references, warnings)


class _BibtexReader:
    """Reads the entries of a text, and the values of its macros.

    Attributes:
        left_out: the first lines of the parts that look like entries and cannot be read.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._strings = {month: month for month in MONTHS}
        self.left_out: list[str] = []

    def read(self, name: str) -> Iterator[_BibEntry]:
        """Yield the entries of the text, and add what cannot be read to ``left_out``."""
        from bibtexparser.model import (
            DuplicateBlockKeyBlock,
            DuplicateFieldKeyBlock,
            Entry,
            ExplicitComment,
            ImplicitComment,
            ParsingFailedBlock,
            Preamble,
        )
        from bibtexparser.splitter import Splitter

        logging.getLogger("bibtexparser").addHandler(logging.NullHandler())  # failures are raised below
        library = Splitter(self._text).split()
        for string in library.strings:
            value = self._read_value(string.value)
            if len(value) > MAX_STRING:
                raise unreadable_error(name, "this @string is too long", line=(string.start_line or 0) + 1)
            self._strings[string.key.lower()] = value
        cursor = 0
        for block in library.blocks:
            entry: Any = block
            if isinstance(block, DuplicateBlockKeyBlock | DuplicateFieldKeyBlock):
                entry = block.ignore_error_block
            elif isinstance(block, ParsingFailedBlock):
                line = (block.start_line or 0) + 1
                reason = str(getattr(block.error, "abort_reason", block.error)).rstrip(". ")
                hint = "Look for a missing brace, quote or comma in this entry, or in the one before it."
                raise unreadable_error(name, f"this entry cannot be read: {reason}", line=line, hint=hint)
            if isinstance(entry, ImplicitComment | ExplicitComment | Preamble) and _LIKE_ENTRY.search(entry.raw or ""):
                self.left_out.append(_name_block(entry))
            if not isinstance(entry, Entry):
                continue
            start = self._text.index(entry.raw or "", cursor)
            cursor = start + len(entry.raw or "")
            yield self._read_entry(entry, start, cursor)

    def _read_entry(self, entry: Any, start: int, end: int) -> _BibEntry:
        values: dict[str, str] = {}
        spans: dict[str, tuple[int, int]] = {}
        cursor = start + (entry.raw.find(",") + 1)
        for field in entry.fields:
            place = re.compile(rf"{re.escape(field.key)}\s*=\s*").search(self._text, cursor, end)
            begin = place.end() if place else cursor
            cursor = begin + len(field.value)
            name = field.key.lower()
            if name not in values and self._text[begin:cursor] == field.value:
                values[name], spans[name] = self._read_value(field.value), (begin, cursor)
        return _BibEntry(entry.entry_type.lower(), entry.key, (entry.start_line or 0) + 1, values, spans, start, end)

    def _read_value(self, raw: str) -> str:
        """Return the text of a value: remove its braces or quotes, replace macros, and join its parts."""
        parts = []
        for part in _split_value(raw):
            text = part.strip()
            if text[:1] in ("{", '"') and len(text) > 1:
                parts.append(text[1:-1])
            else:
                parts.append(self._strings.get(text.lower(), text))
        return remove_invisible("".join(parts))


def _name_block(block: Any) -> str:
    """Return the first line of a part of the file that has text, with its number."""
    lines = enumerate((block.raw or "").splitlines(), start=(block.start_line or 0) + 1)
    number, line = next((number, line) for number, line in lines if line.strip())
    return f"{number}: {cut_middle(line.strip(), MAX_QUOTED)}"


def _split_value(raw: str) -> Iterator[str]:
    """Split a value at each # outside of braces and quotes."""
    quoted, start = False, 0
    for place, (character, depth) in enumerate(zip(raw, _count_braces(raw), strict=True)):
        if character == '"' and depth == 0:
            quoted = not quoted
        elif character == "#" and depth == 0 and not quoted:
            yield raw[start:place]
            start = place + 1
    yield raw[start:]


def _count_braces(text: str) -> list[int]:
    """Return the number of open braces after each character."""
    return list(accumulate((character == "{") - (character == "}") for character in text))


def _find_field(entry: _BibEntry, name: str) -> str | None:
    """Return the name of the BibTeX field with the value of a field."""
    if name == "pmid" and get_eprint_kind(entry.values) != "pmid":
        return "pmid" if "pmid" in entry.spans else None
    return next((field for field in NAMES[name] if field in entry.spans), None)


def _enclose(old: str, new: str) -> str:
    """Enclose a new value like the old one: in braces, double braces or quotes; a number needs none."""
    if old.isdigit() and new.isdigit():
        return new
    if old.startswith('"') and old.endswith('"') and old.count('"') == 2 and '"' not in new:
        return f'"{new}"'
    if old.startswith("{{") and old.endswith("}}"):
        return f"{{{{{new}}}}}"
    return f"{{{new}}}"


def convert_latex(text: str) -> str:
    """Convert LaTeX to plain text."""
    if len(text) > MAX_LATEX or max(_count_braces(text), default=0) > MAX_DEPTH:
        text = re.sub(r"[{}]", "", text)  # too large for the LaTeX parser, and not a real value
    elif _SPECIAL.search(text):
        from pylatexenc.latex2text import LatexNodes2Text

        for macro, character in ((r"\textbraceleft", "\ue000"), (r"\textbraceright", "\ue001")):
            text = text.replace(f"{macro}{{}}", character).replace(macro, character)
        text = _GREEK.sub(lambda match: _find_greek_letter(match[1]), text)
        text = str(LatexNodes2Text().latex_to_text(_BARE_PERCENT.sub(r"\\%", text)))
        text = text.replace("\ue000", "{").replace("\ue001", "}").replace("ˆ", "^")
    return " ".join(text.replace(r"\%", "%").split())


def _read_address(text: str) -> str:
    """Return an address; only these characters are escaped in it."""
    return re.sub(r"\\([_%&#~])", r"\1", re.sub(r"\\url\s*|[{}]", "", text)).strip()


def _find_greek_letter(name: str) -> str:
    case = "CAPITAL" if name[0].isupper() else "SMALL"
    return unicodedata.lookup(f"GREEK {case} LETTER {name.upper().replace('LAMBDA', 'LAMDA')}")


def _build_reference(entry: _BibEntry) -> Reference:
    def get_plain(name: str) -> str | None:
        value = next((entry.values[field] for field in NAMES[name] if entry.values.get(field, "").strip()), None)
        return convert_latex(value) if value is not None else None

    def get_raw(name: str) -> str:
        # Identifiers and URLs contain only these escaped characters.
        return re.sub(r"\\([_%&#])", r"\1", entry.values.get(name, "")).replace("{", "").replace("}", "")

    def get_address(name: str) -> str:
        return _ADDRESS_OF_PAPERS.sub("https://doi.org/", get_raw(name).replace("\\url", " "))

    authors, more = _read_authors(entry.values.get("author", ""))
    others = [
        *list_identifiers(*map(get_address, ("url", "ee", "howpublished", "uri"))),
        *list_identifiers_in_notes(get_raw("note"), get_raw("annote")),
    ]
    ids = {"doi": unquote(get_raw("doi")), "pmid": get_raw("pmid"), "pmcid": get_raw("pmcid") or get_raw("pmc")}
    kind = get_eprint_kind(entry.values)
    if kind is not None and not ids[kind]:
        ids[kind] = get_raw("eprint")
    elif kind is not None and (value := find_identifier(kind, get_raw("eprint"))):
        others.append((kind, value))
    return Reference(
        key=entry.key or f"line {entry.line}",
        line=entry.line,
        title=get_plain("title"),
        authors=authors,
        more_authors=more,
        journal=get_plain("journal") if entry.kind not in ("book", "misc", "online", "report", "techreport") else None,
        year=find_year(get_plain("year")),
        volume=get_plain("volume"),
        issue=get_plain("issue"),
        pages=get_plain("pages"),
        **merge_identifiers(others, **ids),
    )


_LETTER: Final = re.compile(
    r"""\\(?:['"`^~=.] ?(?:\{\\?[A-Za-z] ?\}|\\?[A-Za-z])|[uvHcdrkb](?:\{\\?[A-Za-z] ?\}| +\\?[A-Za-z])"""
    r"""|(?:AA|aa|AE|ae|OE|oe|O|o|L|l|ss)(?:\{\}|(?![A-Za-z]) *))"""
)
"""A letter in LaTeX; a list of names is divided after such letters are plain, because a name can begin with one."""


def get_eprint_kind(values: Mapping[str, str]) -> IdKind | None:
    """Return the kind of the identifier in the field ``eprint``."""
    return EPRINT_KINDS.get((values.get("eprinttype") or values.get("archiveprefix") or "").strip().lower())


def _read_authors(text: str) -> tuple[list[RefAuthor], bool]:
    from bibtexparser.middlewares.names import split_multiple_persons_names

    text = _LETTER.sub(lambda match: convert_latex(match[0]), " ".join(text.split()))
    text = _EMPTY_BRACES.sub(r"{\1}", text)
    others = _OTHERS.search(_strip_braces(text))
    inside = _strip_braces(text)[: others.start() if others else None].rstrip()
    if persons := _split_persons(inside, may_be_group=_is_braced(text)):
        return [parse_name(name) if _FAMILY_FIRST.fullmatch(name) else _read_author(name) for name in persons], (
            others is not None
        )
    if others and not inside.endswith(" and"):  # "Jane Doe et al."
        text = f"{inside} and others"
    parts = _strip_braces(text).split(" and ")
    if _is_braced(text) and len(parts) > 1 and all(part.count(",") == 1 for part in parts):
        text = " and ".join(parts)  # the braces enclose a list of persons
    names = [name for name in split_multiple_persons_names(text) if name.strip()]
    more = bool(names) and names[-1].strip().lower() == "others"
    return [_read_author(name) for name in (names[:-1] if more else names)], more


def _split_persons(text: str, *, may_be_group: bool) -> list[str]:
    """Return the names of a list of persons with initials, also with commas between them, as no program writes it."""
    if "{" in text:  # braces inside of a list show the family names
        return []
    names = [name.strip() for name in re.split(r",? and |, ", convert_latex(text))]
    have_initials = all(_INITIALS_FIRST.fullmatch(name) or _FAMILY_FIRST.fullmatch(name) for name in names)
    # The last word of "Wei LI" is a family name.
    are_sure = any(_INITIALS_FIRST.fullmatch(name) or _NO_VOWEL.search(name) for name in names)
    are_names = not may_be_group and len(names) > 2 and " and " not in text and all(" " in name for name in names)
    return names if (have_initials and are_sure) or are_names else []


def _is_braced(text: str) -> bool:
    """Return true if one pair of braces encloses the whole text."""
    depths = _count_braces(text)
    return text.startswith("{") and depths[-1] == 0 and depths.count(0) == 1


def _strip_braces(text: str) -> str:
    while _is_braced(text):
        text = text[1:-1].strip()
    return text


def _read_author(name: str) -> RefAuthor:
    from bibtexparser.middlewares.names import InvalidNameError, parse_single_name_into_parts

    name = name.strip()
    if _is_braced(name):
        inside = _strip_braces(name)
        if not _BRACED_PERSON.fullmatch(convert_latex(inside)):
            return RefAuthor(group=convert_latex(name))
        name = inside
    if _EXTENDED.match(name):
        pieces = _EXTENDED.split(name)[1:]
        parts = {
            key.lower(): convert_latex(value.strip().strip(",")) for key, value in zip(*[iter(pieces)] * 2, strict=True)
        }
        family = " ".join(part for part in (parts.get("prefix"), parts.get("family")) if part)
        return RefAuthor(family=family, given=parts.get("given"), suffix=parts.get("suffix"))
    try:
        read = parse_single_name_into_parts(name, strict=False)
    except InvalidNameError:
        return RefAuthor(group=convert_latex(name))
    family = convert_latex(" ".join([*read.von, *read.last]))
    given = convert_latex(" ".join(read.first))
    suffix = convert_latex(" ".join(read.jr)) or None
    if suffix is None and " " in family and JUNIOR.fullmatch(given):  # "Jane A. Doe, Jr."
        suffix = given
        given, _, family = family.rpartition(" ")
    return (
        RefAuthor(family=family, given=given, suffix=suffix)
        if family
        else RefAuthor(group=given or convert_latex(name))
    )
