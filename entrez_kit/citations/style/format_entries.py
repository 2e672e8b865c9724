"""The citation styles, and the formatting of reference lists."""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from entrez_kit.citations.csl import Item
from entrez_kit.citations.pandoc import FormattedEntry, FormattedRun, format_entries
from entrez_kit.citations.style.adaptation import (
    StyleChange,
    adapt_style,
    correct_ama,
    correct_chicago,
    correct_comma_before_others,
    correct_hyphens_in_ranges,
    correct_mla,
    correct_nature,
    correct_vancouver,
)
from entrez_kit.citations.style.preparation import GROUP, HYPHEN, StyleRules, find_standing_note, prepare_item
from entrez_kit.citations.style.style_names import SPECIFIED

Markup = Literal["plain", "markdown", "html"]

CHUNK: Final = 200
"""Items per run of the processor; its start takes longer than formatting this many."""


@dataclass(frozen=True, slots=True)
class Style:
    """A citation style of the CSL repository, with additional rules.

    Args:
        title: the style manual and edition.
        csl: its name in the CSL repository.
        wants: the rules for the data.
        changes: corrections of the CSL style.
    """

    title: str
    csl: str
    wants: StyleRules
    changes: tuple[StyleChange, ...] = ()


_UNIVERSITY: Final = (("University", "Univ."),)
_UP: Final = (("University Press", "UP"), ("Presses Universitaires", "PU"))

STYLES: Final[dict[str, Style]] = {
    "apa": Style(
        "APA, Publication Manual, 7th edition",
        "apa",
        StyleRules(titles="apa", initials=True, part="Pt.", places=False, series=False, most_others=19),
        (correct_comma_before_others,),
    ),
    "mla": Style(
        "MLA Handbook, 9th edition",
        "modern-language-association",
        StyleRules(
            titles="mla", part="pt.", parts_apart=True, dashes=False, article_word=True, places=False, publishers=_UP
        ),
        (correct_hyphens_in_ranges, correct_mla),
    ),
    "vancouver": Style(
        "Vancouver: NLM's Citing Medicine, ICMJE",
        "nlm-citation-sequence",
        StyleRules(
            nlm_names=True,
            groups_apart=True,
            supplements="Suppl",
            supplement_in="volume",
            language="after_pages",
            dashes=False,
            nlm=True,
            report_number="No.:",
        ),
        (correct_comma_before_others, correct_vancouver),
    ),
    "ama": Style(
        "AMA Manual of Style, 11th edition",
        "american-medical-association",
        StyleRules(
            books="ama",
            nlm_names=True,
            groups_apart=True,
            groups_after_others=True,
            supplements="suppl",
            part="pt",
            dashes=False,
            language="in_title",
        ),
        (correct_hyphens_in_ranges, correct_comma_before_others, correct_ama),
    ),
    "chicago": Style(
        "Chicago Manual of Style, 18th edition, author-date",
        "chicago-author-date",
        StyleRules(
            titles="chicago", part="pt.", ahead="ahead of print", language="after_title", places=False, genre=False
        ),
        (correct_comma_before_others, correct_chicago),
    ),
    "nature": Style(
        "Nature",
        "nature",
        StyleRules(
            books="chicago",
            initials=True,
            bare_suffixes=True,
            supplements="Suppl.",
            supplement_in="brackets",
            dotted_journals=True,
            numbers_as_pages=True,
            reports_as_books=True,
            bare_places=True,
            publishers=_UNIVERSITY,
        ),
        (correct_nature,),
    ),
}
"""Styles that the citation processor formats."""


def format_styled_entries(items: Iterable[Item], style: str, markup: Markup = "plain") -> list[str]:
    """Return the formatted entry of each item, in order.

    Raises:
        NotConfigured: the citation processor or the styles are not installed.
    """
    chosen = STYLES.get(SPECIFIED.get(style, style)) or Style(style, style, StyleRules(numbers_as_pages=True))
    xml = adapt_style(chosen.csl, *chosen.changes)
    all_items = list(items)
    texts: list[str] = []
    for start in range(0, len(all_items), CHUNK):
        chunk = all_items[start : start + CHUNK]
        entries = format_entries([prepare_item(item, chosen.wants) for item in chunk], xml)
        for item, entry in zip(chunk, entries, strict=True):
            is_translated = item.get("language", "en") != "en"
            texts.append(render_entry(_add_status(_apply_rules(entry, is_translated=is_translated), item), markup))
    return texts


_TRANSLATION: Final = re.compile(r"“([^“”]+) (\[[^\[\]]+\])([.,]?)”")
_IN_LANGUAGE: Final = re.compile(r"“([^“”]+?)([?!]?) \[(In [A-Z][a-z]+\.)\]\.?”")
_ENDS_QUOTED: Final = re.compile(r"(‘[^‘’“”]*(?:’\w[^‘’“”]*)*)’\.”")
"""A title that ends with a quotation: the full stop is inside both quotation marks (MLA, Chicago)."""
_NO_PAGES: Final = re.compile(r", \((?=[0-9]{4}\)\.)")
"""A volume without pages (Nature): "3 (2019)"."""
_RESTORED: Final = ((f", {GROUP[0]}", "; "), (f"{GROUP[1]}, ", "; "), *((mark, "") for mark in GROUP), (HYPHEN, "-"))


def _apply_rules(entry: FormattedEntry, *, is_translated: bool) -> FormattedEntry:
    """Apply rules that CSL cannot express.

    The translation and the language of a title follow its quotation marks (Chicago, MLA); other brackets are part of
    the title. A group among persons follows a semicolon (ICMJE, sample 3; AMA).
    """

    def apply(text: str) -> str:
        text = _IN_LANGUAGE.sub(lambda match: f"“{match[1]}{match[2] or '.'}” [{match[3]}]", text)
        if is_translated:
            text = _TRANSLATION.sub(r"“\1” \2\3", text)
        text = _NO_PAGES.sub(" (", text)
        text = _ENDS_QUOTED.sub(r"\1.’”", text)
        for before, after in _RESTORED:
            text = text.replace(before, after)
        return text

    return tuple(FormattedRun(apply(run.text), run.kinds) for run in entry)


def _add_status(entry: FormattedEntry, item: Item) -> FormattedEntry:
    """Add the publication status, which CSL styles do not support."""
    note = find_standing_note(item)
    if note is None or not entry:
        return entry
    *before, last = entry
    return (*before, FormattedRun(last.text.rstrip(), last.kinds), FormattedRun(f" {note}"))


_MARKS: Final = {
    "markdown": {"italic": ("*", "*"), "bold": ("**", "**")},
    "html": {"italic": ("<i>", "</i>"), "bold": ("<b>", "</b>")},
}
"""Other kinds use their name as the tag: <sup>, <sub>."""
_SPECIAL: Final = re.compile(r"[\\`*_\[\]<>]")


def render_entry(entry: FormattedEntry, markup: Markup) -> str:
    """Return an entry as plain text, Markdown or HTML, with plain spaces."""
    texts = (run.text if markup == "plain" else _render_run(run, markup) for run in entry)
    return " ".join("".join(texts).split())


def _render_run(run: FormattedRun, markup: Markup) -> str:
    if markup == "html":
        text = html.escape(run.text, quote=False)
    else:
        text = _SPECIAL.sub(lambda match: "\\" + match[0], run.text)
    inner = text.strip()
    if not inner:
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    for kind in sorted(run.kinds):
        opening, closing = _MARKS[markup].get(kind, (f"<{kind}>", f"</{kind}>"))
        inner = f"{opening}{inner}{closing}"
    return f"{before}{inner}{after}"
