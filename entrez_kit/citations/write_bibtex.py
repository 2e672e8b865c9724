r"""PubMed records as BibTeX, for BibTeX and biblatex alike.

Text is UTF-8 with LaTeX's own characters escaped: & % $ # _ { } ~ ^ \. The writers of the libraries escape nothing, or
everything that is not ASCII. DOIs and addresses stay as they are, since packages print them verbatim.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from entrez_kit.citations.csl import Item, csl_item, notes, one_line
from entrez_kit.citations.names import Name
from entrez_kit.citations.write_ris import PMC_ADDRESS
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.dates import MONTH_NAMES

MONTHS: Final = tuple(names[0] for names in MONTH_NAMES)
"""Every style defines these strings, in its own language."""
_TYPES: Final = {
    "article-journal": "article",
    "article-newspaper": "article",
    "article": "misc",
    "book": "book",
    "chapter": "incollection",
    "report": "techreport",
}
_SEASONS: Final = ("Spring", "Summer", "Autumn", "Winter")
_SPECIAL: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",  # BibTeX counts braces, escaped or not
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_"},
}
_LIGATURES: Final = re.compile(r"(?<=-)(?=-)|(?<=`)(?=`)|(?<=')(?=')|(?<=[?!])(?=`)")
"""Where LaTeX joins characters: two hyphens become a dash, two apostrophes a quotation mark."""
_DOI_SIGNS: Final = re.compile(r"[{}\\^% ]")
_ADDRESS_SIGNS: Final = re.compile(r"[{}\\^ ]|%(?![0-9A-Fa-f]{2})")
"""What would end the field, or mean something in TeX; in an address a percent sign that encodes something stays."""
_LOWER_WORD: Final = re.compile(r"(?:^|[ ~-])(?![A-Z])[^\W\d_]", re.UNICODE)
_ARXIV: Final = re.compile(r"10\.48550/arxiv\.(\S+)", re.IGNORECASE)

Fields = Iterator[tuple[str, str]]


def bibtex_entry(article: Article) -> str:
    """Return a record as one BibTeX entry, without a line end after it.

    Its key is made of its PMID, so that it never changes with the file it is in.
    """
    item = csl_item(article)
    kind = _TYPES[item["type"]]
    fields = [
        f"  {name} = {value},"
        for name, value in (*_people(item), *_place(item, kind), *_date(item), *_rest(article, item))
        if value not in ("", "{}", "{{}}")
    ]
    return "\n".join([f"@{kind}{{{default_key(article)},", *fields, "}"])


def default_key(article: Article) -> str:
    """Return the citation key of a record: pmid12345678, or source and id of what has no PMID (PPR123456)."""
    if article.pmid:
        return f"pmid{article.pmid}"
    source, _, number = str(getattr(article, "key", "record")).partition(":")
    name = number if number.startswith(source) else f"{source}{number}"
    return re.sub(r"[^A-Za-z0-9]+", "", name) or "record"


def escaped(text: Any) -> str:
    """Return text for a field: on one line, with LaTeX's own characters and ligatures escaped."""
    return _LIGATURES.sub("{}", "".join(_SPECIAL.get(character, character) for character in one_line(text)))


def bibtex_name(name: Name) -> str:
    """Return a name as BibTeX has it: "von Last, Jr, First"; a group, and what would be split wrongly, in braces."""
    if "literal" in name:
        return f"{{{escaped(name['literal'])}}}"
    family = _guarded(name.get("family", ""), _LOWER_WORD.search(name.get("family", "")) is not None)
    if particle := name.get("non-dropping-particle"):
        family = f"{escaped(particle)} {family}"
    parts = [family, _guarded(name["suffix"]) if name.get("suffix") else "", _guarded(name.get("given", ""))]
    return ", ".join(part for part in parts if part)


def _guarded(text: str, wanted: bool = False) -> str:
    """Put braces around a part of a name that holds a comma or an "and" of its own."""
    if wanted or "," in text or re.search(r"(?:^|\s)and(?:\s|$)", text, re.IGNORECASE):
        return f"{{{escaped(text)}}}"
    return escaped(text)


def _persons(names: Iterable[Name]) -> str:
    return f"{{{' and '.join(map(bibtex_name, names))}}}"


def _people(item: Item) -> Fields:
    yield "author", _persons(item.get("author", ()))
    yield "editor", _persons(item.get("editor", ()))
    # A second pair of braces keeps the capitals as they are.
    yield "title", f"{{{{{escaped(item.get('title'))}}}}}"


def _place(item: Item, kind: str) -> Fields:
    container = escaped(item.get("container-title"))
    if kind == "article":
        yield "journal", f"{{{container}}}"
        yield "shortjournal", _braced(item.get("container-title-short"))
    elif kind == "incollection":
        yield "booktitle", f"{{{{{container}}}}}"
        yield "bookauthor", _persons(item.get("container-author", ()))
    yield "volume", _braced(item.get("volume"))
    number = item.get("issue") if kind != "techreport" else item.get("number")
    yield "number", _braced(number)
    if kind != "techreport":
        # A double hyphen becomes a dash.
        pages = re.sub(r"(?<=\w)-(?=\w)", "--", _braced(item.get("page")))
        yield "pages", pages if item.get("page") else _braced(item.get("number"))
    yield "chapter", _braced(item.get("chapter-number"))
    yield "series", _braced(item.get("collection-title"))
    yield "edition", _braced(item.get("edition"))
    publisher = {"techreport": "institution", "misc": "howpublished"}.get(kind, "publisher")
    yield publisher, _braced(item.get("publisher"))
    yield "address", _braced(item.get("publisher-place"))
    yield "issn", _braced(item.get("ISSN"))
    yield "isbn", _braced(item.get("ISBN"))


def _date(item: Item) -> Fields:
    issued: dict[str, Any] = item.get("issued", {})
    parts: list[int] = next(iter(issued.get("date-parts", ())), [])
    if issued.get("literal"):
        yield "year", _braced(issued["literal"])
    if parts:
        yield "year", _braced(parts[0])
    if season := issued.get("season"):
        yield "issue", _braced(_SEASONS[int(season) - 1])
    elif len(parts) > 1:
        yield "month", MONTHS[parts[1] - 1]


def _rest(article: Article, item: Item) -> Fields:
    yield "doi", f"{{{verbatim_doi(item.get('DOI'))}}}"
    yield "pmid", _braced(article.pmid)
    yield "pmcid", _braced(article.pmcid)
    if article.doi and (match := _ARXIV.fullmatch(article.doi)):
        yield "eprint", _verbatim(match[1])
        yield "eprinttype", "{arxiv}"
    elif article.pmid:
        yield "eprint", _braced(article.pmid)
        yield "eprinttype", "{pubmed}"
    yield "url", _verbatim(f"{PMC_ADDRESS}{article.pmcid}/" if article.pmcid else item.get("URL"))
    yield "language", _braced(item.get("language"))
    yield "keywords", _braced(item.get("keyword"))
    yield "abstract", _braced(item.get("abstract"))
    # Styles end a note with a full stop themselves.
    yield "note", _braced(" ".join(notes(article)).removesuffix("."))


def _braced(value: Any) -> str:
    return f"{{{escaped(value)}}}"


def verbatim_doi(doi: Any) -> str:
    """Return a DOI as a field holds it: characters that mean something there are encoded (%7B for an opening brace)."""
    return _DOI_SIGNS.sub(_encoded, one_line(doi))


def _verbatim(address: Any) -> str:
    return f"{{{_ADDRESS_SIGNS.sub(_encoded, one_line(address))}}}"


def _encoded(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):02X}"
