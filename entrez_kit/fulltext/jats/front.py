"""Parse the front matter: ids, title, authors, journal, dates, abstract, keywords and licence."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from entrez_kit.base.identifiers import IdKind, read_identifier
from entrez_kit.base.markup import END, write_scripts
from entrez_kit.base.mixed_content import SCRIPTS
from entrez_kit.fulltext.jats.text import (
    HEADINGS,
    blocks_of,
    heading_of,
    inline_text,
    one_line,
    parts_of,
)
from entrez_kit.fulltext.jats.tree import attribute, children, descendants, find_child, local
from entrez_kit.fulltext.models import FulltextAuthor, FulltextDate, FulltextJournal, PmcArticle, TranslatedAbstract
from entrez_kit.pubmed.standing import standing_of_jats
from entrez_kit.pubmed.xml.dates import month_number

_DATES: Final = (
    *("epub", "epreprint", "ppub", "epub-ppub", "pub", "published", "final", "preprint", "collection"),
    *("issue-pub", "", "epub-original", "nihms-submitted", "pmc-release"),
)
"""Date types in order of preference for the publication date; dates of the editorial process are not used."""
_NO_PUBLICATION: Final = frozenset(
    ("received", "accepted", "rev-recd", "rev-request", "retracted", "retraction", "corrected", "ecorrected")
)

_KEY_ABSTRACTS: Final = ("", "abstract", "section", "sections", "structured", "web-summary", "main")
_OTHER_CONTRIBUTORS: Final = re.compile("edit|review|translat|referee|assignee|compiler|illustrat", re.IGNORECASE)
_IN_PLACES: Final = ("italic", "bold", "sup", "sub", "xref", "email", "ext-link", "break")
"""Elements that are part of the surrounding text of an affiliation; others are separate parts."""
_ABBREVIATIONS: Final = re.compile("abbr", re.IGNORECASE)


def find_front(article: Any) -> tuple[Any, Any]:
    """Return the front matter of an article or a reply, and its article metadata; None for a missing one."""
    front = find_child(article, "front", "front-stub")
    meta = find_child(front, "article-meta")
    return front, front if meta is None else meta


def read_front(article: Any) -> PmcArticle:
    """Return an article without its text, from the front matter."""
    front, meta = find_front(article)
    article_type = attribute(article, "article-type") or None
    if meta is None:
        return PmcArticle(via_source="pmc", sections=[], article_type=article_type)
    title = _title(meta)
    authors, affiliations = _people(meta)
    return PmcArticle(
        **_ids(meta),
        via_source="pmc",
        sections=[],
        title=title,
        abstract=read_abstract(meta),
        other_abstracts=_translated_abstracts(article, meta),
        authors=authors,
        affiliations=affiliations,
        journal=_journal(front, meta),
        keywords=_keywords(meta),
        article_type=article_type,
        standing=standing_of_jats(article_type, _find_related(meta), title),
        publication_date=_date(meta),
        license=_license(meta),
    )


def _texts(nodes: Iterable[Any]) -> Iterator[str]:
    return filter(None, map(inline_text, nodes))


def _text_at(parent: Any, name: str) -> str:
    return inline_text(find_child(parent, name))


def _ids(meta: Any) -> dict[IdKind, str]:
    """Return the article's own PMCID, PMID and DOI."""
    found: dict[IdKind, str] = {}
    for node in children(meta, "article-id"):
        kind = attribute(node, "pub-id-type").lower()
        text = inline_text(node)
        if kind in ("pmc", "pmc-uid"):
            kind = "pmcid"
        if kind == "pmcid" and re.fullmatch("[0-9]+", text):
            text = f"PMC{text}"
        identifier = read_identifier(text) if text else None
        if identifier is not None and kind == identifier.kind:
            found.setdefault(identifier.kind, identifier.value)
    return found


def _title(meta: Any) -> str | None:
    group = find_child(meta, "title-group")
    title = _without_notes(find_child(group if group is not None else meta, "article-title"))
    for subtitle in (_without_notes(node) for node in children(group, "subtitle")):
        if title and subtitle:
            title += (" " if title.endswith(("?", "!", ":", ".", "–", "—")) else ": ") + subtitle
        title = title or subtitle
    return title or None


def _without_notes(element: Any) -> str:
    """Return a title without the footnotes and marks that PMC puts into it."""
    marks = [node for node in descendants(element, "xref") if attribute(node, "ref-type") in ("fn", "author-notes")]
    around = (parent for parent in {node.getparent() for node in marks} if _only_holds_marks(parent, marks))
    return one_line(" ".join(blocks_of(element, without=("fn",), skip=[*marks, *around])))


def _only_holds_marks(parent: Any, marks: Sequence[Any]) -> bool:
    """Return whether an element has only marks in superscript and separators."""
    if local(parent) != "sup" or not set(parent) <= set(marks):
        return False
    return not "".join([parent.text or "", *(node.tail or "" for node in parent)]).strip(" \t\r\n,;")


# Abstracts


def read_abstract(meta: Any) -> str | None:
    """Return the abstract, then other kinds with their names (summaries for authors, editors, lay readers).

    A translation is used only if there is no other abstract.
    """
    own: list[str] = []
    others: list[str] = []
    pictures: list[str] = []
    for node in children(meta, "abstract"):
        kind = attribute(node, "abstract-type").lower()
        text = _abstract_text(node, named=kind not in _KEY_ABSTRACTS)
        target = pictures if kind in ("graphical", "video", "audio") else own if kind in _KEY_ABSTRACTS else others
        target += [text] if text else []
    texts = [*own, *others, *pictures] or [
        text for node in children(meta, "trans-abstract") if (text := _abstract_text(node, named=False))
    ]
    return "\n\n".join(dict.fromkeys(texts)) or None


def _translated_abstracts(article: Any, meta: Any) -> list[TranslatedAbstract]:
    """Return the abstracts in other languages, from the article and from its translations."""
    found = [(attribute(node, "lang"), node) for node in children(meta, "trans-abstract")]
    for part in descendants(article, "sub-article"):
        if attribute(part, "article-type") == "translation":
            nodes = children(find_front(part)[1], "abstract", "trans-abstract")
            found += [(attribute(node, "lang") or attribute(part, "lang"), node) for node in nodes]
    return [
        TranslatedAbstract(language=language or None, text=text)
        for language, node in found
        if (text := _abstract_text(node, named=False))
    ]


def _abstract_text(abstract: Any, *, named: bool) -> str:
    """Return an abstract with its heading, or with the name of its kind if needed; "" if it has no text."""
    head = " ".join(filter(None, heading_of(abstract)))
    if not head and named:
        head = attribute(abstract, "abstract-type").replace("-", " ").capitalize()
    parts: list[str] = []
    for part in parts_of(abstract, without=HEADINGS):
        parts += part if isinstance(part, list) else _abstract_section(part)
    if parts and head and head.lower() not in ("abstract", "summary", "abstract:", "summary:"):
        parts.insert(0, head)
    return "\n".join(part for part in parts if part)


def _abstract_section(section: Any) -> list[str]:
    """Return a part of a structured abstract, with its heading before its text."""
    head = " ".join(heading_of(section)).strip()
    first, *more = blocks_of(section, skip=children(section, *HEADINGS)) or [""]
    if head:
        first = f"{head if head.endswith((':', '.', '?', '!')) else head + ':'} {first}".strip()
    return [first, *more]


# Authors


def _people(meta: Any) -> tuple[list[FulltextAuthor], list[str]]:
    """Return the authors, and their affiliations in order of the authors."""
    authors: list[FulltextAuthor] = []
    places = {attribute(node, "id"): node for node in _places(meta) if attribute(node, "id")}
    named: dict[Any, None] = {}
    of_others: set[Any] = set()
    for group in children(meta, "contrib-group"):
        others_group = bool(_OTHER_CONTRIBUTORS.search(attribute(group, "content-type")))
        for person in descendants(group, "contrib", outside=("contrib", "collab")):  # not the members of a group author
            kind = attribute(person, "contrib-type")
            marks = [node for node in children(person, "xref") if attribute(node, "ref-type") in ("aff", "")]
            keys = (key for node in (*marks, person) for key in attribute(node, "rid").split())
            own_places = [*(places[key] for key in keys if key in places), *children(person, "aff")]
            if _OTHER_CONTRIBUTORS.search(kind) or (others_group and not kind):
                of_others.update(own_places)
                continue
            author = _author(person)
            if author is not None:
                authors.append(author)
                named.update(dict.fromkeys(own_places))
        if others_group:
            of_others.update(children(group, "aff"))
        else:
            authors += [FulltextAuthor(collective_name=text) for text in _texts(children(group, "on-behalf-of"))]
    ordered = [*named, *(node for node in _places(meta) if node not in named and node not in of_others)]
    return authors, list(dict.fromkeys(filter(None, map(affiliation_text, ordered))))


def _places(meta: Any) -> Iterator[Any]:
    yield from descendants(meta, "aff", outside=("sub-article", "response", "body", "back", "floats-group"))


def _author(person: Any, *, is_alternative: bool = False) -> FulltextAuthor | None:
    for node in children(person, "name-alternatives", "collab-alternatives") if not is_alternative else ():
        if (author := _author(node, is_alternative=True)) is not None:
            return author
    name = find_child(person, "name")
    given, last, suffix = (_text_at(name, part) for part in ("given-names", "surname", "suffix"))
    if given or last:
        return FulltextAuthor(given_names=given or None, last_name=f"{last} {suffix}".strip() or None)
    for node in children(person, "collab"):
        if text := inline_text(node, without=("contrib-group", "contrib", "fn", "aff", "xref", "address")):
            return FulltextAuthor(collective_name=text)
    for node in children(person, "string-name"):
        given, last = _text_at(node, "given-names"), _text_at(node, "surname")
        if last or (text := inline_text(node)):
            return FulltextAuthor(given_names=given or None, last_name=last) if last else FulltextAuthor(last_name=text)
    return FulltextAuthor(collective_name="Anonymous") if find_child(person, "anonymous") is not None else None


def affiliation_text(place: Any) -> str:
    """Return an affiliation without its mark; adjacent parts are separated by a comma."""
    line = place.text or ""
    after_part = False
    for node in place:
        name = local(node)
        is_mark = name in ("label", "institution-id") or (name == "sup" and not line.strip())
        if name and not is_mark:
            nested = name in ("institution-wrap", "addr-line", "address") and not (node.text or "").strip()
            text = affiliation_text(node) if nested else inline_text(node)
            is_part = name not in _IN_PLACES
            if name in SCRIPTS:
                text = f"{SCRIPTS[name]}{text}{END}"
            if is_part and after_part and text:
                line = f"{line.rstrip().rstrip(',')}, "
            line += text
            after_part = is_part and (after_part or bool(text))
        line += node.tail or ""
        after_part = after_part and not (node.tail or "").strip()
    return re.sub(r"(?<! ) ([,;.])", r"\1", write_scripts(one_line(line))).strip(" ,;")


# Journal, date, keywords, licence


def _journal(front: Any, meta: Any) -> FulltextJournal | None:
    info = find_child(front, "journal-meta")
    group = find_child(info, "journal-title-group")
    titles = [*children(group, "journal-title"), *children(info, "journal-title")]
    titles += [*children(group, "abbrev-journal-title"), *children(info, "abbrev-journal-title", "journal-id")]
    first, last = _text_at(meta, "fpage"), _text_at(meta, "lpage")
    pages = f"{first}-{last}" if first and last and first != last else first or last
    fields = {
        "title": next(_texts(titles), None),
        "issn": next(_texts(children(info, "issn", "issn-l")), None),
        "volume": _text_at(meta, "volume"),
        "issue": _text_at(meta, "issue"),
        "pages": pages or _text_at(meta, "page-range") or _text_at(meta, "elocation-id"),
    }
    known = {name: text for name, text in fields.items() if text}
    return FulltextJournal(**known) if known else None


def _date(meta: Any) -> FulltextDate | None:
    """Return the publication date: electronic first, then print, then a date that only PMC has."""
    found: list[tuple[int, int, FulltextDate]] = []
    for node in children(meta, "pub-date"):
        kind = (attribute(node, "pub-type") or attribute(node, "date-type")).lower()
        if kind == "pub":
            kind = {"electronic": "epub", "print": "ppub"}.get(attribute(node, "publication-format"), kind)
        date = _one_date(node)
        if date is not None and kind not in _NO_PUBLICATION:
            rank = _DATES.index(kind) if kind in _DATES else _DATES.index("")
            missing = (date.month is None) + (date.day is None)
            found.append((rank, missing, date))
    return min(found, key=lambda item: item[:2])[2] if found else None


def _one_date(node: Any) -> FulltextDate | None:
    whole = attribute(node, "iso-8601-date") or _text_at(node, "string-date")
    iso = re.match(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?", whole)
    year = _number(_text_at(node, "year"), 1000, 2999) or _number(iso[1] if iso else "", 1000, 2999)
    if year is None:
        found = re.search(r"\b(1[5-9]|2[01])[0-9]{2}\b", whole)
        return FulltextDate(year=int(found[0])) if found else None
    month_text = _text_at(node, "month")
    month = _number(month_text, 1, 12) or month_number(month_text[:3].lower())
    day = _number(_text_at(node, "day"), 1, 31)
    if iso and month is None:
        month, day = _number(iso[2], 1, 12), _number(iso[3], 1, 31)
    return FulltextDate(year=year, month=month, day=day if month else None)


def _number(text: str | None, low: int, high: int) -> int | None:
    text = (text or "").strip()
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else 0
    return number if low <= number <= high else None


def _keywords(meta: Any) -> list[str]:
    found: list[str] = []
    for group in children(meta, "kwd-group"):
        if _ABBREVIATIONS.search(attribute(group, "kwd-group-type")):
            continue
        for node in descendants(group, "kwd", "compound-kwd", outside=("compound-kwd", "kwd")):
            found.append(" ".join(_texts(children(node, "compound-kwd-part"))) or inline_text(node))
    return list(dict.fromkeys(text for text in found if text))


def _license(meta: Any) -> str | None:
    """Return the address of the licence, or its text if it has no address."""
    permissions = find_child(meta, "permissions")
    texts: list[str] = []
    for node in descendants(permissions, "license"):
        for place in (node, *descendants(node, "license_ref", "ext-link", "uri")):
            address = attribute(place, "href") or (inline_text(place) if place is not node else "")
            if "creativecommons.org" in address or (place is node and address):
                return address
        texts += _texts((*children(node, "license_ref"), node))
    texts += _texts(children(permissions, "license_ref"))
    return texts[0] if texts else None


def _find_related(meta: Any) -> list[dict[str, str]]:
    """Return the related articles: the relation, the DOI or PMID, and the text."""
    found = []
    for node in children(meta, "related-article"):
        entry = {"kind": attribute(node, "related-article-type"), "citation": inline_text(node)}
        link = read_identifier(attribute(node, "href"))
        if link is not None and link.kind in ("doi", "pmid"):
            entry[link.kind] = link.value
        found.append(entry)
    return found
