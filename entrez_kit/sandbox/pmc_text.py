"""Articles in the XML of PMC: front matter from the record, full text from the files of the demo corpus."""

import re
from functools import lru_cache
from typing import Final

from entrez_kit.local.records.document import Document, PartialDate, Person
from entrez_kit.local.records.fixture_files import read_fixtures
from entrez_kit.local.records.text import escape_attribute, escape_xml, wrap

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
        f"{escape_xml(document.title)}</article-title></title-group>{_render_authors(document)}"
        f"{_render_date('epub', document.electronic_date)}{_render_date('ppub', document.publication_date)}"
        f"{_render_place(document)}{_render_permissions() if text else ''}{related}{_render_abstract(document)}"
        f"{wrap('kwd-group', *(f'<kwd>{escape_xml(word)}</kwd>' for _, word, _ in document.keywords))}"
        f"</article-meta></front>{_RELATED.sub('', text).strip()}</article>"
    )


@lru_cache(maxsize=1)
def _read_texts() -> dict[tuple[str, str], str]:
    """Return the texts of the demo corpus by PMCID and DOI."""
    matches = [match for file in read_fixtures("pmc", ".xml") if (match := _TEXT.search(file.decode()))]
    return {(match[1], match[2]): match[3] for match in matches}


def _render_journal(document: Document) -> str:
    numbers = (
        wrap(f'issn pub-type="{"epub" if kind == "Electronic" else "ppub"}"', escape_xml(number))
        for kind, number in document.issns
    )
    return wrap(
        "journal-meta",
        f'<journal-id journal-id-type="nlm-ta">{escape_xml(document.journal_ta)}</journal-id>',
        f"<journal-title-group><journal-title>{escape_xml(document.journal_title)}</journal-title></journal-title-group>",
        *numbers,
    )


def _render_ids(document: Document) -> str:
    ids = (("pmcid", document.pmcid), ("pmid", document.pmid), ("doi", document.doi))
    return "".join(wrap(f'article-id pub-id-type="{kind}"', escape_xml(value)) for kind, value in ids)


def _render_authors(document: Document) -> str:
    affiliations = list(
        dict.fromkeys(affiliation for author in document.authors for affiliation in author.affiliations)
    )
    people = (
        wrap(
            'contrib contrib-type="author"',
            _render_name(author),
            *(
                f'<xref ref-type="aff" rid="A{affiliations.index(affiliation) + 1}"/>'
                for affiliation in author.affiliations
            ),
        )
        for author in document.authors
    )
    listed = (
        wrap(f'aff id="A{number}"', f"<label>{number}</label>{escape_xml(affiliation)}")
        for number, affiliation in enumerate(affiliations, 1)
    )
    return wrap("contrib-group", *people) + "".join(listed)


def _render_name(author: Person) -> str:
    if author.group:
        return wrap("collab", escape_xml(author.group))
    first_name = wrap("given-names", escape_xml(author.fore or author.initials))
    surname = f"<surname>{escape_xml(author.last)}</surname>"
    return wrap("name", surname, first_name, wrap("suffix", escape_xml(author.suffix)))


def _render_date(kind: str, date: PartialDate) -> str:
    year, month, day = date.number // 10_000, date.number // 100 % 100, date.number % 100
    parts = (("day", day), ("month", month), ("year", year))
    return wrap(f'pub-date pub-type="{kind}"', *(wrap(name, str(value)) for name, value in parts if year and value))


def _render_place(document: Document) -> str:
    first, _, last = document.pages.partition("-")
    parts = (("volume", document.volume), ("issue", document.issue), ("fpage", first), ("lpage", last))
    return "".join(wrap(name, escape_xml(value)) for name, value in parts)


def _render_permissions() -> str:
    return (
        f'<permissions><license xlink:href="{escape_attribute(LICENSE)}"><ali:license_ref>{LICENSE}</ali:license_ref>'
        "<license-p>Invented for the demo corpus of entrez-kit.</license-p></license></permissions>"
    )


def _render_abstract(document: Document) -> str:
    parts = ((wrap("title", escape_xml(label)), f"<p>{escape_xml(text)}</p>") for label, text in document.abstract)
    return wrap("abstract", *(wrap("sec", title, text) if title else text for title, text in parts))
