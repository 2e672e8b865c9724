"""Translate subject headings, whole values of fields, and dates to PubMed."""

import re
from dataclasses import replace
from typing import Final

from entrez_kit.query.dialects.notes import CannotExpressError, Note
from entrez_kit.query.dialects.pieces import Piece, quote
from entrez_kit.query.dialects.qualifiers import MERGED, NOT_LEAVES
from entrez_kit.query.dialects.renamed_headings import LEAVES, RENAMED
from entrez_kit.query.dialects.tree import DayRange, Loss, SubjectHeading, Value, get_stem
from entrez_kit.query.mesh import Tree, Vocabulary
from entrez_kit.query.printing import print_day
from entrez_kit.query.unsettled import SHORTEST_STEM, can_truncate
from entrez_kit.query.words import normalize

_PROPOSED: Final = {"animal": "Animals", "human": "Humans"}
"""The MeSH headings for headings of Emtree that nearly every filter has."""
_THESAURI: Final = {
    "emtree": "Emtree",
    "cinahl": "CINAHL",
    "psycinfo": "APA PsycInfo",
    "amed": "AMED",
    "cab": "CAB Abstracts and Global Health",
    "other": "another thesaurus",
}


def translate_heading(node: SubjectHeading, vocabulary: Vocabulary | None) -> Piece:
    """Return the MeSH heading for a subject heading, or its words if MeSH does not have it."""
    headings = None if vocabulary is None or vocabulary.headings.is_empty else vocabulary.headings
    current = RENAMED.get(node.name.lower())
    known = None if headings is None else _find_name(headings, node.name, current)
    if node.vocabulary != "mesh":
        return _replace_foreign_heading(node, known, has_mesh=headings is not None)
    if headings is not None and known is None and current is None:
        note = Note(f"{node.name!r} is not a MeSH heading.", "not-mesh")
        return _search_words(node, f"{node.name!r} is not a MeSH heading; its words are searched instead", note)
    name = known or current
    notes: tuple[Note, ...] = ()
    if name is not None and normalize(name) != normalize(node.name):
        notes = (Note(f"{node.name!r} is now {name!r}.", "heading-renamed"),)
        node = replace(node, name=name)
    operator = "OR" if len(node.qualifiers) > 1 else ""
    return Piece(print_heading(node), operator, tuple(_list_qualifier_losses(node)), notes)


def _find_name(headings: Tree, name: str, current: str | None) -> str | None:
    """Return the name of a heading in MeSH, by the name that the line has or by the present one."""
    heading = headings.find(normalize(name)) or (headings.find(normalize(current)) if current else None)
    return None if heading is None else heading.name


def _replace_foreign_heading(node: SubjectHeading, known: str | None, *, has_mesh: bool) -> Piece:
    """Return the MeSH heading with the name of a heading of another thesaurus, or the words of the name."""
    thesaurus = _THESAURI[node.vocabulary]
    if known is None and node.vocabulary == "emtree":
        known = _PROPOSED.get(node.name.lower())
    if known is None:
        why = "MeSH does not have it" if has_mesh else "without a MeSH file it is not known whether MeSH has it"
        text = f"{node.name!r} is a heading of {thesaurus}, and {why}; its words are searched instead"
        return _search_words(node, text)
    text = f"{node.name!r} is a heading of {thesaurus}; the MeSH heading {known!r} is proposed for it"
    return Piece(print_heading(SubjectHeading(known, node.explodes, node.major)), "", (Loss("substitute", text),))


def _search_words(node: SubjectHeading, text: str, *notes: Note) -> Piece:
    """Return a search for the words of a heading; ``text`` explains the loss."""
    in_order = " ".join(reversed(node.name.split(", ")))
    words = " ".join(re.sub(r"[^\w\s-]", " ", in_order).split())
    return Piece(quote(words, "tiab"), "", (Loss("substitute", text),), notes)


def _list_qualifier_losses(node: SubjectHeading) -> list[Loss]:
    losses = []
    for qualifier in node.qualifiers:
        if qualifier in MERGED:
            losses.append(Loss("wider", f"the qualifier {qualifier!r} is now {MERGED[qualifier]!r}"))
        elif qualifier in NOT_LEAVES and node.explodes:
            losses.append(Loss("wider", f"PubMed includes the qualifiers below {qualifier!r}"))
    return losses


def print_heading(node: SubjectHeading) -> str:
    """Return a heading in PubMed's syntax, as Cochrane prints it."""
    name = " ".join(re.sub(r'["\[\]]', " ", node.name).split())
    excludes_narrower = not node.explodes and name.lower() not in LEAVES
    tag = f"{'majr' if node.major else 'mh'}{':noexp' if excludes_narrower else ''}"
    if not node.qualifiers:
        return f'"{name}"[{tag}]'
    names = dict.fromkeys(MERGED.get(qualifier, qualifier) for qualifier in node.qualifiers)
    return " OR ".join(f'"{name}/{qualifier}"[{tag}]' for qualifier in names)


def translate_value(node: Value) -> Piece:
    """Return a whole value of a field.

    Raises:
        CannotExpressError: PubMed does not have the field.
    """
    if node.code == "PTYP=":
        return Piece(print_value(node), "", (Loss("wider", "[pt] includes narrower publication types"),))
    return Piece(print_value(node))


def print_value(node: Value) -> str:
    """Return a whole value in PubMed's syntax.

    Raises:
        CannotExpressError: PubMed does not have the field.
    """
    text = node.text.replace('"', "")
    match node.code:
        case "PTYP" | "PTYP=":
            return f'"{text}"[pt]'
        case "MESH":
            if "*" in text and not can_truncate(get_stem(text)):
                least = f"fewer than {SHORTEST_STEM} characters before the wildcard"
                raise CannotExpressError(f"{node.written or text} has {least}", "short-truncation")
            return quote(text.lower(), "mh:noexp")
        case "SUBH":
            return f'"{text}"[{"sh:noexp" if text.lower() in NOT_LEAVES else "sh"}]'
        case "SUBH+":
            return f'"{text}"[sh]'
        case "LANG":
            return f"{text.lower()}[la]"
        case "AUTH":
            stem = text.rstrip("*").strip()
            return f"{stem.lower()}[au]" if text.endswith("*") else f'"{stem.lower()}"[au]'
        case "JOUR":
            return f'"{text}"[ta]'
        case "ISSN":
            return f"{text}[is]"
        case "UID":
            return f"{text}[pmid]"
        case "ECNO":
            return f"{text}[rn]"
        case "SUBS":
            return f'"{text}"[nm]'
        case _:
            raise CannotExpressError(f"PubMed has no field for {node.text!r}")


def translate_days(node: DayRange) -> Piece:
    """Return a range of days."""
    has_whole_years = node.low % 10000 == 101 and node.high % 10000 == 1231
    low, high = (
        str(day // 10000) if has_whole_years and node.clock == "year" else print_day(day)
        for day in (node.low, node.high)
    )
    if node.clock == "year":
        return Piece(f"{low}:{high}[dp]", "", node.losses)
    if node.clock == "change":
        return Piece(f"{low}:{high}[lr]", "", node.losses)
    return Piece(f"{low}:{high}[crdt] OR {low}:{high}[edat]", "OR", node.losses)
