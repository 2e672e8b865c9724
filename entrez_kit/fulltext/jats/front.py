"""What stands before the text: ids, title, authors, journal, dates, abstract, keywords, licence."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from entrez_kit.fulltext.jats.text import MAX_DEPTH, SCRIPTS, Flow, heading_of, inline_text, one_line
from entrez_kit.fulltext.jats.tree import attribute, child, children, descendants, local
from entrez_kit.fulltext.models import FulltextAuthor, FulltextDate, FulltextJournal, TranslatedAbstract
from entrez_kit.identifiers import read_identifier
from entrez_kit.markup import END, write_scripts
from entrez_kit.pubmed.standing import Standing, standing_of_jats
from entrez_kit.pubmed.xml.dates import month_number

_REPLIES: Final = ("sub-article", "response", "body", "back", "floats-group")
_NOTES: Final = ("fn",)

_DATES: Final = (
    *("epub", "epreprint", "ppub", "epub-ppub", "pub", "published", "final", "preprint", "collection"),
    *("issue-pub", "", "epub-original", "nihms-submitted", "pmc-release"),
)
"""Kinds of dates, the one that says best when the article was published first; dates of its handling are not asked."""
_NO_PUBLICATION: Final = frozenset(
    ("received", "accepted", "rev-recd", "rev-request", "retracted", "retraction", "corrected", "ecorrected")
)

_KEY_ABSTRACTS: Final = ("", "abstract", "section", "sections", "structured", "web-summary", "main")
_PICTURE_ABSTRACTS: Final = ("graphical", "video", "audio")
_PLAIN_TITLES: Final = frozenset(("abstract", "summary", "abstract:", "summary:"))
_OTHER_CONTRIBUTORS: Final = re.compile("edit|review|translat|referee|assignee|compiler|illustrat", re.IGNORECASE)
_HEADINGS: Final = ("label", "title", "subtitle")
_WRAPPINGS: Final = ("institution-wrap", "addr-line", "address")
_IN_PLACES: Final = ("italic", "bold", "sup", "sub", "xref", "email", "ext-link", "break")
"""What belongs to the text around it in an affiliation; anything else is a part by itself."""
_ABBREVIATIONS: Final = re.compile("abbr", re.IGNORECASE)


@dataclass(slots=True)
class Front:
    """Everything an article says about itself."""

    pmcid: str | None = None
    pmid: str | None = None
    doi: str | None = None
    title: str | None = None
    abstract: str | None = None
    other_abstracts: list[TranslatedAbstract] = field(default_factory=list)
    authors: list[FulltextAuthor] = field(default_factory=list)
    affiliations: list[str] = field(default_factory=list)
    journal: FulltextJournal | None = None
    keywords: list[str] = field(default_factory=list)
    article_type: str | None = None
    standing: Standing | None = None
    publication_date: FulltextDate | None = None
    license: str | None = None


def read_front(article: Any, declared: Mapping[str, str]) -> Front:
    """Return what the front matter of an article says."""
    front = child(article, "front", "front-stub")
    meta = child(front, "article-meta") if front is not None else None
    meta = front if meta is None else meta
    article_type = attribute(article, "article-type") or None
    if meta is None:
        return Front(article_type=article_type)
    pmcid, pmid, doi = _ids(meta, declared)
    authors, affiliations = _people(meta, declared)
    return Front(
        pmcid=pmcid,
        pmid=pmid,
        doi=doi,
        title=_title(meta, declared),
        abstract=abstract_of(meta, declared),
        other_abstracts=_translated_abstracts(article, meta, declared),
        authors=authors,
        affiliations=affiliations,
        journal=_journal(front, meta, declared),
        keywords=_keywords(meta, declared),
        article_type=article_type,
        standing=standing_of_jats(article_type, _related(meta, declared), _title(meta, declared)),
        publication_date=_date(meta, declared),
        license=_license(meta, declared),
    )


def _ids(meta: Any, declared: Mapping[str, str]) -> tuple[str | None, str | None, str | None]:
    """Return PMCID, PMID and DOI of the article itself."""
    found: dict[str, str] = {}
    for node in children(meta, "article-id"):
        kind = attribute(node, "pub-id-type").lower()
        text = inline_text(node, declared)
        if kind in ("pmc", "pmcid", "pmc-uid") and re.fullmatch("[0-9]+", text):
            text = f"PMC{text}"
        identifier = read_identifier(text) if text else None
        wanted = {"pmc": "pmcid", "pmcid": "pmcid", "pmc-uid": "pmcid", "pmid": "pmid", "doi": "doi"}.get(kind)
        if identifier is not None and wanted == identifier.kind:
            found.setdefault(identifier.kind, identifier.value)
    return found.get("pmcid"), found.get("pmid"), found.get("doi")


def _title(meta: Any, declared: Mapping[str, str]) -> str | None:
    group = child(meta, "title-group")
    title = _without_notes(child(group if group is not None else meta, "article-title"), declared)
    for subtitle in (_without_notes(node, declared) for node in children(group, "subtitle")):
        if title and subtitle:
            title += (" " if title.endswith(("?", "!", ":", ".", "–", "—")) else ": ") + subtitle
        title = title or subtitle
    return title or None


def _without_notes(element: Any, declared: Mapping[str, str]) -> str:
    """Return a title without footnotes and their marks, which PMC keeps inside it."""
    if element is None:
        return ""
    flow = Flow(declared, without=frozenset(_NOTES))
    marks = [node for node in descendants(element, "xref") if attribute(node, "ref-type") in ("fn", "author-notes")]
    around = {node.getparent() for node in marks}
    flow.content(element, skip=[*marks, *(parent for parent in around if _only_holds_marks(parent, marks))])
    return one_line(" ".join(flow.finished()))


def _only_holds_marks(parent: Any, marks: Sequence[Any]) -> bool:
    """Tell whether there is nothing but marks in superscript, and what stands between them."""
    if local(parent) != "sup" or not set(parent) <= set(marks):
        return False
    return not "".join([parent.text or "", *(node.tail or "" for node in parent)]).strip(" \t\r\n,;")


# Abstracts


def abstract_of(meta: Any, declared: Mapping[str, str]) -> str | None:
    """Return the abstract, then the other kinds (summaries for authors, editors, lay readers) under their names.

    Translations stand in only where there is nothing else.
    """
    own: list[str] = []
    others: list[str] = []
    pictures: list[str] = []
    for node in children(meta, "abstract"):
        kind = attribute(node, "abstract-type").lower()
        text = _abstract_text(node, declared, named=kind not in _KEY_ABSTRACTS)
        target = pictures if kind in _PICTURE_ABSTRACTS else own if kind in _KEY_ABSTRACTS else others
        target += [text] if text else []
    texts = [*own, *others, *pictures] or [
        text for node in children(meta, "trans-abstract") if (text := _abstract_text(node, declared, named=False))
    ]
    return "\n\n".join(dict.fromkeys(texts)) or None


def _translated_abstracts(article: Any, meta: Any, declared: Mapping[str, str]) -> list[TranslatedAbstract]:
    """Return the abstracts in other languages: beside the article's own, and of translations it brings along."""
    found = [(attribute(node, "lang"), node) for node in children(meta, "trans-abstract")]
    for part in descendants(article, "sub-article"):
        if attribute(part, "article-type") == "translation":
            stub = child(part, "front-stub", "front")
            inner = child(stub, "article-meta")
            translated = stub if inner is None else inner
            nodes = children(translated, "abstract", "trans-abstract")
            found += [(attribute(node, "lang") or attribute(part, "lang"), node) for node in nodes]
    return [
        TranslatedAbstract(language=language or None, text=text)
        for language, node in found
        if (text := _abstract_text(node, declared, named=False))
    ]


def _abstract_text(abstract: Any, declared: Mapping[str, str], *, named: bool) -> str:
    """Return an abstract under its heading, or the name of its kind where it needs one; "" where there is no text."""
    head = " ".join(filter(None, heading_of(abstract, declared)))
    if not head and named:
        head = attribute(abstract, "abstract-type").replace("-", " ").capitalize()
    parts: list[str] = []
    loose = Flow(declared)
    for node in abstract:
        name = local(node)
        if name == "sec":
            parts += [*loose.finished(), *_abstract_section(node, declared)]
            loose = Flow(declared)
        elif name not in _HEADINGS:
            loose.node(node)
        loose.text(node.tail)
    parts += loose.finished()
    if parts and head and head.lower() not in _PLAIN_TITLES:
        parts.insert(0, head)
    return "\n".join(part for part in parts if part)


def _abstract_section(section: Any, declared: Mapping[str, str]) -> list[str]:
    """Return a part of a structured abstract, its heading in front of its text."""
    label, title = heading_of(section, declared)
    head = f"{label} {title}".strip()
    flow = Flow(declared)
    flow.content(section, skip=list(children(section, *_HEADINGS)))
    first, *more = flow.finished() or [""]
    if head:
        first = f"{head if head.endswith((':', '.', '?', '!')) else head + ':'} {first}".strip()
    return [first, *more]


# Authors


def _people(meta: Any, declared: Mapping[str, str]) -> tuple[list[FulltextAuthor], list[str]]:
    """Return the authors, and their affiliations in the order in which the authors name them."""
    authors: list[FulltextAuthor] = []
    places = {attribute(node, "id"): node for node in _places(meta) if attribute(node, "id")}
    named: dict[Any, None] = {}
    of_others: set[Any] = set()
    for group in children(meta, "contrib-group"):
        others_group = bool(_OTHER_CONTRIBUTORS.search(attribute(group, "content-type")))
        for person in _contributors(group):
            kind = attribute(person, "contrib-type")
            own_places = [places[key] for key in _aff_keys(person) if key in places]
            own_places += list(children(person, "aff"))
            if _OTHER_CONTRIBUTORS.search(kind) or (others_group and not kind):
                of_others.update(own_places)
                continue
            author = _author(person, declared)
            if author is not None:
                authors.append(author)
                named.update(dict.fromkeys(own_places))
        for node in children(group, "on-behalf-of") if not others_group else ():
            if text := inline_text(node, declared):
                authors.append(FulltextAuthor(collective_name=text))
        if others_group:
            of_others.update(children(group, "aff"))
    ordered = [*named, *(node for node in _places(meta) if node not in named and node not in of_others)]
    texts = (affiliation_text(node, declared) for node in ordered)
    return authors, list(dict.fromkeys(text for text in texts if text))


def _contributors(group: Any) -> Iterator[Any]:
    """Yield contributors; the members of a group author are not among them."""
    yield from descendants(group, "contrib", outside=("contrib", "collab"))


def _places(meta: Any) -> Iterator[Any]:
    yield from descendants(meta, "aff", outside=_REPLIES)


def _aff_keys(person: Any) -> list[str]:
    marks = [node for node in children(person, "xref") if attribute(node, "ref-type") in ("aff", "")]
    return [key for node in (*marks, person) for key in attribute(node, "rid").split()]


def _author(person: Any, declared: Mapping[str, str], *, is_alternative: bool = False) -> FulltextAuthor | None:
    for node in children(person, "name-alternatives", "collab-alternatives") if not is_alternative else ():
        if (author := _author(node, declared, is_alternative=True)) is not None:
            return author
    name = child(person, "name")
    if name is not None:
        given, last = inline_text(child(name, "given-names"), declared), inline_text(child(name, "surname"), declared)
        suffix = inline_text(child(name, "suffix"), declared)
        if given or last:
            return FulltextAuthor(given_names=given or None, last_name=f"{last} {suffix}".strip() or None)
    for node in children(person, "collab"):
        text = inline_text(node, declared, without=("contrib-group", "contrib", "fn", "aff", "xref", "address"))
        if text:
            return FulltextAuthor(collective_name=text)
    for node in children(person, "string-name"):
        given, last = inline_text(child(node, "given-names"), declared), inline_text(child(node, "surname"), declared)
        if last:
            return FulltextAuthor(given_names=given or None, last_name=last)
        if text := inline_text(node, declared):
            return FulltextAuthor(last_name=text)
    return FulltextAuthor(collective_name="Anonymous") if child(person, "anonymous") is not None else None


def affiliation_text(place: Any, declared: Mapping[str, str], depth: int = 0) -> str:
    """Return an affiliation without its mark; parts between which nothing stands get a comma."""
    line = place.text or ""
    after_part = False
    for node in place:
        name = local(node)
        is_mark = name in ("label", "institution-id") or (name == "sup" and not line.strip())
        if name and not is_mark:
            nested = name in _WRAPPINGS and depth < MAX_DEPTH and not (node.text or "").strip()
            text = affiliation_text(node, declared, depth + 1) if nested else inline_text(node, declared)
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


def _journal(front: Any, meta: Any, declared: Mapping[str, str]) -> FulltextJournal | None:
    info = child(front, "journal-meta")
    group = child(info, "journal-title-group")
    titles = [*children(group, "journal-title"), *children(info, "journal-title")]
    titles += [*children(group, "abbrev-journal-title"), *children(info, "abbrev-journal-title", "journal-id")]
    first, last = inline_text(child(meta, "fpage"), declared), inline_text(child(meta, "lpage"), declared)
    pages = f"{first}-{last}" if first and last and first != last else first or last
    journal = FulltextJournal(
        title=next((text for node in titles if (text := inline_text(node, declared))), None),
        issn=next((text for node in children(info, "issn", "issn-l") if (text := inline_text(node, declared))), None),
        volume=inline_text(child(meta, "volume"), declared) or None,
        issue=inline_text(child(meta, "issue"), declared) or None,
        pages=pages
        or inline_text(child(meta, "page-range"), declared)
        or inline_text(child(meta, "elocation-id"), declared)
        or None,
    )
    return journal if journal.model_dump(exclude_none=True) else None


def _date(meta: Any, declared: Mapping[str, str]) -> FulltextDate | None:
    """Return when the article was published: on line before in print, before any date that only PMC knows."""
    found: list[tuple[int, int, FulltextDate]] = []
    for node in children(meta, "pub-date"):
        kind = (attribute(node, "pub-type") or attribute(node, "date-type")).lower()
        if kind == "pub":
            kind = {"electronic": "epub", "print": "ppub"}.get(attribute(node, "publication-format"), kind)
        date = _one_date(node, declared)
        if date is not None and kind not in _NO_PUBLICATION:
            rank = _DATES.index(kind) if kind in _DATES else _DATES.index("")
            missing = (date.month is None) + (date.day is None)
            found.append((rank, missing, date))
    return min(found, key=lambda item: item[:2])[2] if found else None


def _one_date(node: Any, declared: Mapping[str, str]) -> FulltextDate | None:
    whole = attribute(node, "iso-8601-date") or inline_text(child(node, "string-date"), declared)
    iso = re.match(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?", whole)
    year = _number(inline_text(child(node, "year"), declared), 1000, 2999) or _number(iso[1] if iso else "", 1000, 2999)
    if year is None:
        found = re.search(r"\b(1[5-9]|2[01])[0-9]{2}\b", whole)
        return FulltextDate(year=int(found[0])) if found else None
    month_text = inline_text(child(node, "month"), declared)
    month = _number(month_text, 1, 12) or month_number(month_text[:3].lower())
    day = _number(inline_text(child(node, "day"), declared), 1, 31)
    if iso and month is None:
        month, day = _number(iso[2], 1, 12), _number(iso[3], 1, 31)
    return FulltextDate(year=year, month=month, day=day if month else None)


def _number(text: str | None, low: int, high: int) -> int | None:
    text = (text or "").strip()
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else 0
    return number if low <= number <= high else None


def _keywords(meta: Any, declared: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    for group in children(meta, "kwd-group"):
        if _ABBREVIATIONS.search(attribute(group, "kwd-group-type")):
            continue
        for node in descendants(group, "kwd", "compound-kwd", outside=("compound-kwd", "kwd")):
            parts = [inline_text(part, declared) for part in children(node, "compound-kwd-part")]
            found.append(" ".join(filter(None, parts)) if parts else inline_text(node, declared))
    return list(dict.fromkeys(text for text in found if text))


def _license(meta: Any, declared: Mapping[str, str]) -> str | None:
    """Return the address of the licence, or its text where it has none."""
    texts: list[str] = []
    for node in descendants(child(meta, "permissions"), "license"):
        for place in (node, *descendants(node, "license_ref", "ext-link", "uri")):
            address = attribute(place, "href") or (inline_text(place, declared) if place is not node else "")
            if "creativecommons.org" in address or (place is node and address):
                return address
        texts += [text for other in children(node, "license_ref") if (text := inline_text(other, declared))]
        if text := inline_text(node, declared):
            texts.append(text)
    references = children(child(meta, "permissions"), "license_ref")
    texts += [text for node in references if (text := inline_text(node, declared))]
    return texts[0] if texts else None


def _related(meta: Any, declared: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the articles that this one names as related: the kind, DOI or PMID, and the words for it."""
    found = []
    for node in children(meta, "related-article"):
        entry = {"kind": attribute(node, "related-article-type"), "citation": inline_text(node, declared)}
        link = read_identifier(attribute(node, "href"))
        if link is not None and link.kind in ("doi", "pmid"):
            entry[link.kind] = link.value
        found.append(entry)
    return found
