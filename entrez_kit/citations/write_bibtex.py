r"""Write PubMed records as BibTeX, for BibTeX and biblatex.

Text is UTF-8 with LaTeX's special characters escaped: & % $ # _ { } ~ ^ \. Existing libraries escape either nothing or
every character that is not ASCII. DOIs and addresses are not escaped, because LaTeX packages print them verbatim.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from entrez_kit.base.identifiers import PMC
from entrez_kit.citations.csl import (
    ARTICLE_NUMBER,
    SEASON_NAMES,
    Item,
    build_csl_item,
    find_unclear_number,
    to_one_line,
)
from entrez_kit.citations.names import OTHERS, Name
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.dates import MONTH_NAMES, format_iso_date

MONTHS: Final = tuple(names[0] for names in MONTH_NAMES)
"""Every BibTeX style defines these strings in its language."""
_TYPES: Final = {
    "article-journal": "article",
    "article-newspaper": "article",
    "article": "misc",
    "book": "book",
    "chapter": "incollection",
    "report": "techreport",
    "thesis": "phdthesis",
    "paper-conference": "inproceedings",
}
_SPECIAL: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",  # BibTeX counts braces, escaped or not
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_"},
}
_LIGATURES: Final = re.compile(r"(?<=-)(?=-)|(?<=`)(?=`)|(?<=')(?=')|(?<=[?!])(?=`)")
"""The places where LaTeX joins characters: two hyphens become a dash, two apostrophes a quotation mark."""
_DOI_SIGNS: Final = re.compile(r"[{}\\^% ]")
_ADDRESS_SIGNS: Final = re.compile(r"[{}\\^ ]|%(?![0-9A-Fa-f]{2})")
"""Characters that end a field or are special in TeX; in an address the percent sign of an encoded character stays."""
_LOWER_WORD: Final = re.compile(r"(?:^|[ ~-])(?![A-Z])[^\W\d_]", re.UNICODE)
_ARXIV: Final = re.compile(r"10\.48550/arxiv\.(\S+)", re.IGNORECASE)

Fields = Iterator[tuple[str, str]]


def write_bibtex_entry(article: Article) -> str:
    """Return a record as one BibTeX entry, without a final line end.

    The key contains the PMID, so that it is the same in every file.
    """
    return write_bibtex_item(build_csl_item(article), make_default_key(article))


def write_bibtex_item(item: Item, key: str) -> str:
    """Return an item of CSL-JSON as one BibTeX entry, without a final line end."""
    kind = _TYPES.get(item["type"], "misc")
    fields = [
        f"  {name} = {value},"
        for name, value in (
            *_write_people(item),
            *_write_place(item, kind),
            *_write_date(item),
            *_write_rest(item),
        )
        if value not in ("", "{}", "{{}}")
    ]
    return "\n".join([f"@{kind}{{{key},", *fields, "}"])


def make_default_key(article: Article) -> str:
    """Return the citation key of a record: pmid12345678, or source and id without a PMID (PPR123456)."""
    if article.pmid:
        return f"pmid{article.pmid}"
    source, _, number = str(getattr(article, "key", "record")).partition(":")
    name = number if number.startswith(source) else f"{source}{number}"
    return re.sub(r"[^A-Za-z0-9]+", "", name) or "record"


def escape_latex(text: Any) -> str:
    """Return text on one line, with LaTeX's special characters and ligatures escaped."""
    return _LIGATURES.sub("{}", "".join(_SPECIAL.get(character, character) for character in to_one_line(text)))


def write_bibtex_name(name: Name) -> str:
    """Return a BibTeX name: "von Last, Jr, First"; braces protect groups and parts that BibTeX would split."""
    if name.get("literal") == OTHERS:
        return OTHERS
    if "literal" in name:
        return f"{{{escape_latex(name['literal'])}}}"
    family = _protect(name.get("family", ""), _LOWER_WORD.search(name.get("family", "")) is not None)
    for particle in (name.get("non-dropping-particle"), name.get("dropping-particle")):
        family = f"{escape_latex(particle)} {family}" if particle else family
    given = _protect(name.get("given", ""))
    if name.get("suffix"):
        return f"{family}, {_protect(name['suffix'])}, {given or '{}'}"
    return f"{family}, {given}" if given else family


def _protect(text: str, wanted: bool = False) -> str:
    """Put braces around a part of a name that contains a comma or "and"."""
    if wanted or "," in text or re.search(r"(?:^|\s)and(?:\s|$)", text, re.IGNORECASE):
        return f"{{{escape_latex(text)}}}"
    return escape_latex(text)


def _write_persons(names: Iterable[Name]) -> str:
    return f"{{{' and '.join(map(write_bibtex_name, names))}}}"


def _write_people(item: Item) -> Fields:
    yield "author", _write_persons(item.get("author", ()))
    yield "editor", _write_persons(item.get("editor", ()))
    # A second pair of braces preserves the capitals.
    yield "title", f"{{{{{escape_latex(item.get('title'))}}}}}"


def _write_place(item: Item, kind: str) -> Fields:
    container = escape_latex(item.get("container-title"))
    if kind == "article":
        yield "journal", f"{{{container}}}"
        yield "shortjournal", _put_in_braces(item.get("container-title-short"))
    elif item["type"] == "article" and item.get("container-title-short") != item.get("publisher"):
        yield "shortjournal", _put_in_braces(item.get("container-title-short"))
    elif kind in ("incollection", "inproceedings"):
        yield "booktitle", f"{{{{{container}}}}}"
        yield "bookauthor", _write_persons(item.get("container-author", ()))
    yield "volume", _put_in_braces(item.get("volume"))
    number = item.get("issue") if kind != "techreport" else item.get("number")
    yield "number", _put_in_braces(number)
    if kind != "techreport":
        # A double hyphen becomes a dash.
        pages = re.sub(r"(?<=\w)-(?=\w)", "--", _put_in_braces(item.get("page")))
        yield "pages", pages if item.get("page") else _put_in_braces(item.get("number"))
        yield ARTICLE_NUMBER, _put_in_braces(find_unclear_number(item))
    yield "chapter", _put_in_braces(item.get("chapter-number"))
    yield "series", _put_in_braces(item.get("collection-title"))
    yield "edition", _put_in_braces(item.get("edition"))
    publisher = {"techreport": "institution", "misc": "howpublished", "phdthesis": "school"}.get(kind, "publisher")
    yield publisher, _put_in_braces(item.get("publisher"))
    yield "address", _put_in_braces(item.get("publisher-place"))
    if kind in ("misc", "techreport", "phdthesis"):
        yield "type", _put_in_braces(item.get("genre"))
    yield "issn", _put_in_braces(item.get("ISSN"))
    yield "isbn", _put_in_braces(item.get("ISBN"))


def _write_date(item: Item) -> Fields:
    issued: dict[str, Any] = item.get("issued", {})
    parts: list[int] = next(iter(issued.get("date-parts", ())), [])
    if issued.get("literal"):
        yield "year", _put_in_braces(issued["literal"])
    if parts:
        yield "year", _put_in_braces(parts[0])
    if season := issued.get("season"):
        yield "issue", _put_in_braces(SEASON_NAMES[int(season) - 1].capitalize())
    elif len(parts) > 1:
        yield "month", MONTHS[parts[1] - 1]
        yield "day", _put_in_braces(parts[2] if len(parts) > 2 else "")
    if len(issued.get("date-parts", ())) > 1:  # biblatex prints the range, BibTeX the year
        yield "date", _put_in_braces("/".join(format_iso_date(*ends) or "" for ends in issued["date-parts"]))


def _write_rest(item: Item) -> Fields:
    doi, pmid, pmcid = item.get("DOI"), item.get("PMID"), item.get("PMCID")
    yield "doi", f"{{{encode_doi(doi)}}}"
    yield "pmid", _put_in_braces(pmid)
    yield "pmcid", _put_in_braces(pmcid)
    if doi and (match := _ARXIV.fullmatch(doi)):
        yield "eprint", _encode_address(match[1])
        yield "eprinttype", "{arxiv}"
    elif pmid:
        yield "eprint", _put_in_braces(pmid)
        yield "eprinttype", "{pubmed}"
    yield "url", _encode_address(f"{PMC}{pmcid}/" if pmcid else item.get("URL"))
    if accessed := item.get("accessed"):
        yield "urldate", _put_in_braces(format_iso_date(*accessed["date-parts"][0]))
    yield "language", _put_in_braces(item.get("language"))
    yield "keywords", _put_in_braces(item.get("keyword"))
    yield "abstract", _put_in_braces(item.get("abstract"))
    # BibTeX styles add a full stop to a note.
    yield "note", _put_in_braces(str(item.get("note", "")).removesuffix("."))


def _put_in_braces(value: Any) -> str:
    return f"{{{escape_latex(value)}}}"


def encode_doi(doi: Any) -> str:
    """Return a DOI for a field, with special characters percent-encoded (%7B for an opening brace)."""
    return _DOI_SIGNS.sub(_encode, to_one_line(doi))


def _encode_address(address: Any) -> str:
    return f"{{{_ADDRESS_SIGNS.sub(_encode, to_one_line(address))}}}"


def _encode(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):02X}"
