"""Read the reference list of a published article: from JATS XML, from a PDF, or by PMID, PMCID or DOI."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from entrez_kit.base.errors import EntityNotFound, UpstreamError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.identifiers import Identifier
from entrez_kit.fulltext.jats.reference_list import read_reference_list
from entrez_kit.fulltext.jats.tree import (
    MAX_BYTES,
    get_attribute,
    get_local_name,
    iter_descendants,
    parse_jats_document,
)
from entrez_kit.pubmed.models import CitedWork
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.pubmed.xml.references import read_references
from entrez_kit.references.check.pasted.pasted_lists import build_reference, read_list
from entrez_kit.references.files.read_endnote import read_endnote
from entrez_kit.references.files.references import RefAuthor, Reference, find_year, merge_identifiers, unreadable_error
from entrez_kit.references.manuscripts.document import Line, Manuscript, Paragraph
from entrez_kit.services import Services

_BETWEEN_NUMBERS: Final = re.compile(r"(?<=[0-9])\]\s?([,;\u2010-\u2015-])\s?\[(?=[0-9])")
_TWICE_BRACKETED: Final = re.compile(r"[\[(]\[([0-9, ;\u2010-\u2015-]{1,200})\][\])]")
_NOT_IN_LIST: Final = ("sub-article", "response", "front", "ref")
"""Elements whose references are not those of the list of an article."""


def read_article_xml(content: bytes, name: str) -> Manuscript:
    """Read the reference list of a JATS article, or an EndNote XML export.

    Raises:
        InvalidInput: the file is in neither format, or its XML is not well-formed.
    """
    try:
        root = parse_jats_document(content)
    except UpstreamError:
        size = f"it has {format_count(len(content), 'byte')} (the limit is {MAX_BYTES:,})"
        raise unreadable_error(name, size if len(content) > MAX_BYTES else "its XML is not well-formed") from None
    if get_local_name(root) == "xml" and (records := list(root.iter("record"))):
        if root.getroottree().docinfo.internalDTD is not None:
            raise unreadable_error(name, "its XML has a DTD, but EndNote does not export DTDs")
        exported = read_endnote(records)
        return Manuscript(exported.references, file=exported)
    references = [reference for article in _list_articles(root) for reference in _iter_references(article)]
    return Manuscript(references, searched="it has no <ref> with content")


def _list_articles(root: Any) -> list[Any]:
    """Return the articles of a document: its root, or the outermost articles below it."""
    is_article = get_local_name(root) == "article"
    return [root] if is_article else list(iter_descendants(root, "article", outside=("article",)))


def _iter_references(article: Any) -> Iterator[Reference]:
    texts = {listed.id: listed.citation for listed in read_reference_list(article) if listed.id}
    for number, element in enumerate(iter_descendants(article, "ref", outside=_NOT_IN_LIST), start=1):
        key = get_attribute(element, "id") or f"reference {number}"
        text = texts.get(key) or _join_text(element)
        if text:
            yield _read_reference(element, key, number, text)


def _read_reference(element: Any, key: str, number: int, text: str) -> Reference:
    """Read one reference: as fields if the publisher tagged the fields of an article, else as text."""

    def get_first(*names: str) -> str | None:
        texts = (_join_text(descendant) for name in names for descendant in iter_descendants(element, name))
        return next((part for part in texts if part), None)

    ids = {
        get_attribute(descendant, "pub-id-type").lower(): _join_text(descendant)
        for descendant in iter_descendants(element, "pub-id")
    }
    written = build_reference(text, number)
    base = {
        "key": key,
        "line": element.sourceline,
        "number": str(number),
        **merge_identifiers(
            written.identifiers,
            doi=ids.get("doi"),
            pmid=ids.get("pmid"),
            pmcid=ids.get("pmcid") or ids.get("pmc"),
        ),
    }
    title = get_first("article-title")
    if not title:
        return written.model_copy(update=base)
    start, end = get_first("fpage"), get_first("lpage")
    return Reference(
        **base,
        title=title,
        authors=list(_yield_authors(element)),
        more_authors=next(iter_descendants(element, "etal"), None) is not None,
        journal=get_first("source"),
        year=find_year(get_first("year")),
        volume=get_first("volume"),
        issue=get_first("issue"),
        pages="-".join(part for part in (start, end) if part) or get_first("elocation-id", "page-range"),
    )


def _yield_authors(element: Any) -> Iterator[RefAuthor]:
    """Yield the authors of a reference: those of its group of authors, or else all its names."""
    groups = list(iter_descendants(element, "person-group"))
    holders = [group for group in groups if get_attribute(group, "person-group-type") in ("author", "")] or [element]
    for holder in holders:
        for name in iter_descendants(holder, "name", "string-name", "collab"):
            parts = {get_local_name(part): _join_text(part) for part in name if isinstance(part.tag, str)}
            if parts.get("surname"):
                suffix = parts.get("suffix") or None
                yield RefAuthor(family=parts["surname"], given=parts.get("given-names"), suffix=suffix)
            elif whole := _join_text(name):
                yield RefAuthor(group=whole)


def read_paragraphs(content: bytes) -> Iterator[Paragraph]:
    """Yield the paragraphs of a JATS article, with the numbers of cited references in brackets."""
    root = parse_jats_document(content)
    for article in _list_articles(root):
        listed = iter_descendants(article, "ref", outside=_NOT_IN_LIST)
        numbers = {get_attribute(element, "id"): number for number, element in enumerate(listed, start=1)}
        for holder in iter_descendants(article, "abstract", "body", outside=("sub-article", "response")):
            for element in iter_descendants(holder, "p"):
                is_quote = next(element.iterancestors("{*}disp-quote"), None) is not None
                marked = " ".join("".join(_yield_with_numbers(element, numbers)).split())
                marked = _BETWEEN_NUMBERS.sub(lambda match: match[1].strip(), marked)
                yield Paragraph(element.sourceline, _TWICE_BRACKETED.sub(r"[\1]", marked), is_quote)


def _yield_with_numbers(element: Any, numbers: Mapping[str, int]) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        name = get_local_name(child) if isinstance(child.tag, str) else ""
        called = (
            [str(numbers[rid]) for rid in get_attribute(child, "rid").split() if rid in numbers]
            if name == "xref"
            else []
        )
        if called:
            yield f"[{', '.join(called)}]"
        elif name and name != "p":
            yield from _yield_with_numbers(child, numbers)
        yield child.tail or ""


def _join_text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def read_pdf_references(content: bytes, name: str) -> Manuscript:
    """Read the list under the references heading of a PDF.

    Raises:
        InvalidInput: the PDF has no text, or cannot be read.
        NotConfigured: the PDF reader is not installed.
    """
    from entrez_kit.fulltext.pdf import read_pdf

    try:
        text = read_pdf(content).text
    except UpstreamError as exc:
        raise unreadable_error(name, f"this file {exc.details['what']}") from None
    # An empty line is the end of a page.
    pasted = read_list("\n".join(line or "\f" for line in text.splitlines()))
    before = pasted.lines[0] - 1 if pasted.has_heading else None
    lines = [Line(number, line) for number, line in enumerate(text.splitlines()[:before], start=1)]
    if not pasted.has_heading:
        return Manuscript([], lines)
    return Manuscript(pasted.references, lines, warnings=[*pasted.warnings])


def fetch_references(services: Services, article: Identifier) -> list[Reference]:
    """Return the reference list of a published article from its full text, or else from PubMed.

    Args:
        article: its PMID, PMCID or DOI.

    Raises:
        EntityNotFound: the article does not exist, or no service has its list.
        UpstreamError: no service responded.
    """
    from entrez_kit.fulltext.fetch_fulltext import FETCH_FULLTEXT

    failure: UpstreamError | None = None
    try:
        result = FETCH_FULLTEXT.run(services, {"ids": [article.value], "include_references": True})
        for article_found in result.articles:
            if listed := getattr(article_found, "references", None):
                return [
                    build_reference(entry.citation, number, number=str(number), where="reference")
                    for number, entry in enumerate(listed, start=1)
                ]
    except EntityNotFound:
        pass
    except UpstreamError as exc:
        failure = exc
    for item in Retrieval.of_ids(services, [article.value]):
        if item.error is not None:
            raise item.error
        related = list(read_references(item.record.element, item.pmid or "")) if item.record is not None else []
        if related:
            return [_to_reference(work, number) for number, work in enumerate(related, start=1)]
    if failure is not None:
        raise failure
    raise EntityNotFound(
        f"No service has the reference list of {article.original}.",
        invalid_input=article.original,
        recovery_hint="Copy its references from the publisher's page, or give its PDF.",
        details={"reason": "no_references"},
    )


def _to_reference(cited: CitedWork, number: int) -> Reference:
    """Convert an entry of PubMed's list. An entry with identifiers is checked by these, without its text."""
    ids = {"pmid": cited.pmid, "pmcid": cited.pmcid, "doi": cited.doi}
    if cited.citation and not any(ids.values()):
        return build_reference(cited.citation, number, number=str(number), where="reference")
    return Reference(key=f"reference {number}", line=number, number=str(number), **ids)
