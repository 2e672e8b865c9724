"""Articles in the XML of PMC: front matter from the record, full text from the files of the demo corpus."""

import re
from functools import lru_cache
from typing import Final

from entrez_kit.local.records.document import Document, PartialDate, Person
from entrez_kit.local.records.fixture_files import read_fixtures
from entrez_kit.local.records.text import escape_attribute, escape_xml

FORBIDDEN: Final = "The publisher of this article does not allow downloading of the full text in XML form."
LICENSE: Final = "https://creativecommons.org/licenses/by/4.0/"
_TEXT: Final = re.compile(r'<article-text pmcid="(PMC[0-9]+)" doi="([^"]+)"[^>]*>(.*)</article-text>', re.DOTALL)
_RELATED: Final = re.compile(r"<related-article\b[^<>]*/>")
_NAMESPACES: Final = (
    'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML" '
    'xmlns:ali="http://www.niso.org/schemas/ali/1.0/"'
)


def render_article(document: Document, text: str = "") -> str:
    """Return an article with a full text, by default that of the demo corpus; without one, with PMC's comment."""
    text = text or _read_texts().get((document.pmcid, document.doi), "")
    related = "".join(_RELATED.findall(text))
    comment = "" if text else f"<!--{FORBIDDEN}-->"
    kind = "review-article" if "Review" in document.publication_types else "research-article"
    return (
        f'<article {_NAMESPACES} article-type="{kind}" xml:lang="en" dtd-version="1.4">{comment}'
        f"<front>{_render_journal(document)}<article-meta>{_render_ids(document)}<title-group><article-title>"
        f"{escape_xml(document.title)}</article-title></title-group>{_render_authors(document)}{_render_dates(document)}"
        f"{_render_place(document)}{_render_permissions() if text else ''}{related}"
        f"{_render_abstract(document)}{_render_keywords(document)}"
        f"</article-meta></front>{_RELATED.sub('', text).strip()}</article>"
    )


@lru_cache(maxsize=1)
def _read_texts() -> dict[tuple[str, str], str]:
    """Return the texts of the demo corpus by PMCID and DOI."""
    found = [match for file in read_fixtures("pmc", ".xml") if (match := _TEXT.search(file.decode()))]
    return {(match[1], match[2]): match[3] for match in found}


def _render_journal(document: Document) -> str:
    numbers = "".join(
        f'<issn pub-type="{"epub" if kind == "Electronic" else "ppub"}">{escape_xml(number)}</issn>'
        for kind, number in document.issns
    )
    return (
        f'<journal-meta><journal-id journal-id-type="nlm-ta">{escape_xml(document.journal_ta)}</journal-id>'
        f"<journal-title-group><journal-title>{escape_xml(document.journal_title)}</journal-title></journal-title-group>"
        f"{numbers}</journal-meta>"
    )


def _render_ids(document: Document) -> str:
    return "".join(
        f'<article-id pub-id-type="{kind}">{escape_xml(value)}</article-id>'
        for kind, value in (("pmcid", document.pmcid), ("pmid", document.pmid), ("doi", document.doi))
        if value
    )


def _render_authors(document: Document) -> str:
    places = list(dict.fromkeys(place for author in document.authors for place in author.affiliations))
    people = "".join(
        f'<contrib contrib-type="author">{_render_name(author)}'
        + "".join(f'<xref ref-type="aff" rid="A{places.index(place) + 1}"/>' for place in author.affiliations)
        + "</contrib>"
        for author in document.authors
    )
    listed = "".join(
        f'<aff id="A{number}"><label>{number}</label>{escape_xml(place)}</aff>'
        for number, place in enumerate(places, 1)
    )
    return f"<contrib-group>{people}</contrib-group>{listed}" if people else ""


def _render_name(author: Person) -> str:
    if author.group:
        return f"<collab>{escape_xml(author.group)}</collab>"
    given = author.fore or author.initials
    suffix = f"<suffix>{escape_xml(author.suffix)}</suffix>" if author.suffix else ""
    return (
        f"<name><surname>{escape_xml(author.last)}</surname>"
        f"{f'<given-names>{escape_xml(given)}</given-names>' if given else ''}{suffix}</name>"
    )


def _render_dates(document: Document) -> str:
    return _render_date("epub", document.electronic_date) + _render_date("ppub", document.publication_date)


def _render_date(kind: str, date: PartialDate) -> str:
    year, month, day = date.number // 10_000, date.number // 100 % 100, date.number % 100
    parts = (("day", day), ("month", month), ("year", year))
    inner = "".join(f"<{name}>{value}</{name}>" for name, value in parts if value)
    return f'<pub-date pub-type="{kind}">{inner}</pub-date>' if year else ""


def _render_place(document: Document) -> str:
    first, _, last = document.pages.partition("-")
    parts = (("volume", document.volume), ("issue", document.issue), ("fpage", first), ("lpage", last))
    return "".join(f"<{name}>{escape_xml(value)}</{name}>" for name, value in parts if value)


def _render_permissions() -> str:
    return (
        f'<permissions><license xlink:href="{escape_attribute(LICENSE)}"><ali:license_ref>{LICENSE}</ali:license_ref>'
        "<license-p>Invented for the demo corpus of entrez-kit.</license-p></license></permissions>"
    )


def _render_abstract(document: Document) -> str:
    parts = [
        f"<sec><title>{escape_xml(label)}</title><p>{escape_xml(text)}</p></sec>"
        if label
        else f"<p>{escape_xml(text)}</p>"
        for label, text in document.abstract
    ]
    return f"<abstract>{''.join(parts)}</abstract>" if parts else ""


def _render_keywords(document: Document) -> str:
    words = "".join(f"<kwd>{escape_xml(word)}</kwd>" for _, word, _ in document.keywords)
    return f"<kwd-group>{words}</kwd-group>" if words else ""
