"""Parse the front matter: ids, title, authors, journal, dates, abstract, keywords and license."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from entrez_kit.base.identifiers import IdKind, read_identifier
from entrez_kit.base.markup import END, write_scripts
from entrez_kit.base.mixed_content import SCRIPTS
from entrez_kit.fulltext.fulltext_articles import (
    FulltextAuthor,
    FulltextDate,
    FulltextJournal,
    PmcArticle,
    TranslatedAbstract,
)
from entrez_kit.fulltext.jats.element_names import HEADINGS
from entrez_kit.fulltext.jats.text import read_blocks, read_heading, read_inline_text, remove_line_breaks, yield_parts
from entrez_kit.fulltext.jats.tree import find_child, get_attribute, get_local_name, iter_children, iter_descendants
from entrez_kit.pubmed.standing import determine_standing_of_jats
from entrez_kit.pubmed.xml.dates import read_month

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
    article_type = get_attribute(article, "article-type") or None
    if meta is None:
        return PmcArticle(via_source="pmc", sections=[], article_type=article_type)
    title = _read_title(meta)
    authors, affiliations = _read_people(meta)
    return PmcArticle(
        **_read_ids(meta),
        via_source="pmc",
        sections=[],
        title=title,
        abstract=read_abstract(meta),
        other_abstracts=_read_translated_abstracts(article, meta),
        authors=authors,
        affiliations=affiliations,
        journal=_read_journal(front, meta),
        keywords=_read_keywords(meta),
        article_type=article_type,
        standing=determine_standing_of_jats(article_type, _find_related(meta), title),
        publication_date=_read_publication_date(meta),
        license=_read_license(meta),
    )


def _yield_texts(nodes: Iterable[Any]) -> Iterator[str]:
    return filter(None, map(read_inline_text, nodes))


def _read_text_at(parent: Any, name: str) -> str:
    return read_inline_text(find_child(parent, name))


def _read_ids(meta: Any) -> dict[IdKind, str]:
    """Return the article's own PMCID, PMID and DOI."""
    identifiers: dict[IdKind, str] = {}
    for node in iter_children(meta, "article-id"):
        kind = get_attribute(node, "pub-id-type").lower()
        text = read_inline_text(node)
        if kind in ("pmc", "pmc-uid"):
            kind = "pmcid"
        if kind == "pmcid" and re.fullmatch("[0-9]+", text):
            text = f"PMC{text}"
        identifier = read_identifier(text) if text else None
        if identifier is not None and kind == identifier.kind:
            identifiers.setdefault(identifier.kind, identifier.value)
    return identifiers


def _read_title(meta: Any) -> str | None:
    group = find_child(meta, "title-group")
    title = _remove_notes(find_child(group if group is not None else meta, "article-title"))
    for subtitle in (_remove_notes(node) for node in iter_children(group, "subtitle")):
        if title and subtitle:
            title += (" " if title.endswith(("?", "!", ":", ".", "–", "—")) else ": ") + subtitle
        title = title or subtitle
    return title or None


def _remove_notes(element: Any) -> str:
    """Return a title without the footnotes and marks that PMC puts into it."""
    marks = [
        node for node in iter_descendants(element, "xref") if get_attribute(node, "ref-type") in ("fn", "author-notes")
    ]
    around = (parent for parent in {node.getparent() for node in marks} if _has_only_marks(parent, marks))
    return remove_line_breaks(" ".join(read_blocks(element, without=("fn",), skip=[*marks, *around])))


def _has_only_marks(parent: Any, marks: Sequence[Any]) -> bool:
    """Return whether an element has only marks in superscript and separators."""
    if get_local_name(parent) != "sup" or not set(parent) <= set(marks):
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
    for node in iter_children(meta, "abstract"):
        kind = get_attribute(node, "abstract-type").lower()
        text = _read_abstract(node, named=kind not in _KEY_ABSTRACTS)
        target = pictures if kind in ("graphical", "video", "audio") else own if kind in _KEY_ABSTRACTS else others
        target += [text] if text else []
    texts = [*own, *others, *pictures] or [
        text for node in iter_children(meta, "trans-abstract") if (text := _read_abstract(node, named=False))
    ]
    return "\n\n".join(dict.fromkeys(texts)) or None


def _read_translated_abstracts(article: Any, meta: Any) -> list[TranslatedAbstract]:
    """Return the abstracts in other languages, from the article and from its translations."""
    abstracts = [(get_attribute(node, "lang"), node) for node in iter_children(meta, "trans-abstract")]
    for part in iter_descendants(article, "sub-article"):
        if get_attribute(part, "article-type") == "translation":
            nodes = iter_children(find_front(part)[1], "abstract", "trans-abstract")
            abstracts += [(get_attribute(node, "lang") or get_attribute(part, "lang"), node) for node in nodes]
    return [
        TranslatedAbstract(language=language or None, text=text)
        for language, node in abstracts
        if (text := _read_abstract(node, named=False))
    ]


def _read_abstract(abstract: Any, *, named: bool) -> str:
    """Return an abstract with its heading, or with the name of its kind if needed; "" if it has no text."""
    head = " ".join(filter(None, read_heading(abstract)))
    if not head and named:
        head = get_attribute(abstract, "abstract-type").replace("-", " ").capitalize()
    parts: list[str] = []
    for part in yield_parts(abstract, without=HEADINGS):
        parts += part if isinstance(part, list) else _read_abstract_section(part)
    if parts and head and head.lower() not in ("abstract", "summary", "abstract:", "summary:"):
        parts.insert(0, head)
    return "\n".join(part for part in parts if part)


def _read_abstract_section(section: Any) -> list[str]:
    """Return a part of a structured abstract, with its heading before its text."""
    head = " ".join(read_heading(section)).strip()
    first, *more = read_blocks(section, skip=iter_children(section, *HEADINGS)) or [""]
    if head:
        first = f"{head if head.endswith((':', '.', '?', '!')) else head + ':'} {first}".strip()
    return [first, *more]


# Authors


def _read_people(meta: Any) -> tuple[list[FulltextAuthor], list[str]]:
    """Return the authors, and their affiliations in order of the authors."""
    authors: list[FulltextAuthor] = []
    places = {get_attribute(node, "id"): node for node in _yield_affiliations(meta) if get_attribute(node, "id")}
    named: dict[Any, None] = {}
    of_others: set[Any] = set()
    for group in iter_children(meta, "contrib-group"):
        others_group = bool(_OTHER_CONTRIBUTORS.search(get_attribute(group, "content-type")))
        for person in iter_descendants(
            group, "contrib", outside=("contrib", "collab")
        ):  # not the members of a group author
            kind = get_attribute(person, "contrib-type")
            marks = [node for node in iter_children(person, "xref") if get_attribute(node, "ref-type") in ("aff", "")]
            keys = (key for node in (*marks, person) for key in get_attribute(node, "rid").split())
            own_places = [*(places[key] for key in keys if key in places), *iter_children(person, "aff")]
            if _OTHER_CONTRIBUTORS.search(kind) or (others_group and not kind):
                of_others.update(own_places)
                continue
            author = _read_author(person)
            if author is not None:
                authors.append(author)
                named.update(dict.fromkeys(own_places))
        if others_group:
            of_others.update(iter_children(group, "aff"))
        else:
            groups = iter_descendants(group, "on-behalf-of", outside=("collab",))
            authors += [FulltextAuthor(collective_name=text) for text in _yield_texts(groups)]
    ordered = [*named, *(node for node in _yield_affiliations(meta) if node not in named and node not in of_others)]
    return authors, list(dict.fromkeys(filter(None, map(read_affiliation, ordered))))


def _yield_affiliations(meta: Any) -> Iterator[Any]:
    yield from iter_descendants(meta, "aff", outside=("sub-article", "response", "body", "back", "floats-group"))


def _read_author(person: Any, *, is_alternative: bool = False) -> FulltextAuthor | None:
    for node in iter_children(person, "name-alternatives", "collab-alternatives") if not is_alternative else ():
        if (author := _read_author(node, is_alternative=True)) is not None:
            return author
    name = find_child(person, "name")
    given, last, suffix = (_read_text_at(name, part) for part in ("given-names", "surname", "suffix"))
    if given or last:
        return FulltextAuthor(given_names=given or None, last_name=f"{last} {suffix}".strip() or None)
    for node in iter_children(person, "collab"):
        if text := read_inline_text(node, without=("contrib-group", "contrib", "fn", "aff", "xref", "address")):
            return FulltextAuthor(collective_name=text)
    for node in iter_children(person, "string-name"):
        given, last = _read_text_at(node, "given-names"), _read_text_at(node, "surname")
        if last or (text := read_inline_text(node)):
            return FulltextAuthor(given_names=given or None, last_name=last) if last else FulltextAuthor(last_name=text)
    return FulltextAuthor(collective_name="Anonymous") if find_child(person, "anonymous") is not None else None


def read_affiliation(place: Any) -> str:
    """Return an affiliation without its mark; adjacent parts are separated by a comma."""
    line = place.text or ""
    after_part = False
    for node in place:
        name = get_local_name(node)
        is_mark = name in ("label", "institution-id") or (name == "sup" and not line.strip())
        if name and not is_mark:
            nested = name in ("institution-wrap", "addr-line", "address") and not (node.text or "").strip()
            text = read_affiliation(node) if nested else read_inline_text(node)
            is_part = name not in _IN_PLACES
            if name in SCRIPTS:
                text = f"{SCRIPTS[name]}{text}{END}"
            if is_part and after_part and text:
                line = f"{line.rstrip().rstrip(',')}, "
            line += text
            after_part = is_part and (after_part or bool(text))
        line += node.tail or ""
        after_part = after_part and not (node.tail or "").strip()
    return re.sub(r"(?<! ) ([,;.])", r"\1", write_scripts(remove_line_breaks(line))).strip(" ,;")


# Journal, date, keywords, license


def _read_journal(front: Any, meta: Any) -> FulltextJournal | None:
    info = find_child(front, "journal-meta")
    group = find_child(info, "journal-title-group")
    titles = [*iter_children(group, "journal-title"), *iter_children(info, "journal-title")]
    titles += [
        *iter_children(group, "abbrev-journal-title"),
        *iter_children(info, "abbrev-journal-title", "journal-id"),
    ]
    first, last = _read_text_at(meta, "fpage"), _read_text_at(meta, "lpage")
    pages = f"{first}-{last}" if first and last and first != last else first or last
    fields = {
        "title": next(_yield_texts(titles), None),
        "issn": next(_yield_texts(iter_children(info, "issn", "issn-l")), None),
        "volume": _read_text_at(meta, "volume"),
        "issue": _read_text_at(meta, "issue"),
        "pages": pages or _read_text_at(meta, "page-range") or _read_text_at(meta, "elocation-id"),
    }
    filled = {name: text for name, text in fields.items() if text}
    return FulltextJournal(**filled) if filled else None


def _read_publication_date(meta: Any) -> FulltextDate | None:
    """Return the publication date: electronic first, then print, then a date that only PMC has."""
    dates: list[tuple[int, int, FulltextDate]] = []
    for node in iter_children(meta, "pub-date"):
        kind = (get_attribute(node, "pub-type") or get_attribute(node, "date-type")).lower()
        if kind == "pub":
            kind = {"electronic": "epub", "print": "ppub"}.get(get_attribute(node, "publication-format"), kind)
        date = _read_date(node)
        if date is not None and kind not in _NO_PUBLICATION:
            rank = _DATES.index(kind) if kind in _DATES else _DATES.index("")
            missing = (date.month is None) + (date.day is None)
            dates.append((rank, missing, date))
    return min(dates, key=lambda item: item[:2])[2] if dates else None


def _read_date(node: Any) -> FulltextDate | None:
    whole = get_attribute(node, "iso-8601-date") or _read_text_at(node, "string-date")
    iso = re.match(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?", whole)
    year = _read_number(_read_text_at(node, "year"), 1000, 2999) or _read_number(iso[1] if iso else "", 1000, 2999)
    if year is None:
        year_match = re.search(r"\b(1[5-9]|2[01])[0-9]{2}\b", whole)
        return FulltextDate(year=int(year_match[0])) if year_match else None
    month_text = _read_text_at(node, "month")
    month = _read_number(month_text, 1, 12) or read_month(month_text[:3].lower())
    day = _read_number(_read_text_at(node, "day"), 1, 31)
    if iso and month is None:
        month, day = _read_number(iso[2], 1, 12), _read_number(iso[3], 1, 31)
    return FulltextDate(year=year, month=month, day=day if month else None)


def _read_number(text: str | None, low: int, high: int) -> int | None:
    text = (text or "").strip()
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else 0
    return number if low <= number <= high else None


def _read_keywords(meta: Any) -> list[str]:
    texts: list[str] = []
    for group in iter_children(meta, "kwd-group"):
        if _ABBREVIATIONS.search(get_attribute(group, "kwd-group-type")):
            continue
        for node in iter_descendants(group, "kwd", "compound-kwd", outside=("compound-kwd", "kwd")):
            texts.append(" ".join(_yield_texts(iter_children(node, "compound-kwd-part"))) or read_inline_text(node))
    return list(dict.fromkeys(text for text in texts if text))


def _read_license(meta: Any) -> str | None:
    """Return the address of the license, or its text if it has no address."""
    permissions = find_child(meta, "permissions")
    texts: list[str] = []
    for node in iter_descendants(permissions, "license"):
        for place in (node, *iter_descendants(node, "license_ref", "ext-link", "uri")):
            address = get_attribute(place, "href") or (read_inline_text(place) if place is not node else "")
            if "creativecommons.org" in address or (place is node and address):
                return address
        texts += _yield_texts((*iter_children(node, "license_ref"), node))
    texts += _yield_texts(iter_children(permissions, "license_ref"))
    return texts[0] if texts else None


def _find_related(meta: Any) -> list[dict[str, str]]:
    """Return the related articles: the relation, the DOI or PMID, and the text."""
    authors = []
    for node in iter_children(meta, "related-article"):
        entry = {"kind": get_attribute(node, "related-article-type"), "citation": read_inline_text(node)}
        link = read_identifier(get_attribute(node, "href"))
        if link is not None and link.kind in ("doi", "pmid"):
            entry[link.kind] = link.value
        authors.append(entry)
    return authors
