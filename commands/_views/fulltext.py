"""Full texts as an outline for terminals, or complete as Markdown."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.identifiers import PMC, PUBMED, format_doi_url
from entrez_kit.base.invisible import remove_invisible
from entrez_kit.fulltext.fetch_fulltext import FulltextOutcome, FulltextResult
from entrez_kit.fulltext.fulltext_articles import (
    CutArticle,
    CutCopy,
    ListedReference,
    Outcome,
    PmcArticle,
    Section,
    TriedTier,
    Unavailable,
    UnpaywallArticle,
)
from entrez_kit.fulltext.selection import count_section_characters

from .._formats import PAGE_BREAK, Sink, TextWriter, Writer
from .._formats.fields import Record, convert_to_data
from .articles import format_title
from .markdown import escape, write_banner
from .tables import ListingTable, build_fact_list, build_link, build_number_column
from .text import build_page_address, format_people, format_source, name_language, to_line

if TYPE_CHECKING:
    from .._state import State

MAX_AUTHORS: Final = 6
MAX_SUBSECTIONS: Final = 24
MAX_LEVEL: Final = 6
_LIST_ITEM: Final = re.compile(r"( *)(-|[0-9a-z]{1,4}\.)? +?(\S.*)")
_FLOAT_LABEL: Final = re.compile(
    r"(?i)(?:(?:supplementary|supplemental|additional|extended data) )?"
    r"(?:table|tab\.?|figure|fig\.?|box|scheme|chart|plate|panel|video|movie|file|text|data ?set|algorithm|appendix)"
    r"[ \u00a0][^\s]{1,12}(?: ?[—–-][^\n]{1,40})?"
)
"""The label of a figure or table, on a separate line before the caption."""
_TIERS: Final = {"pmc": "PMC", "europepmc": "Europe PMC", "unpaywall": "Unpaywall"}


# In a terminal


def render_fulltext(result: FulltextResult, console: Console) -> RenderableType:
    """Return the outline of each article with the length of each part, then the articles without full text and why."""
    parts: list[RenderableType] = []
    for article in result.articles:
        parts += [*_render_heading(article, console), _render_outline(article), Text("")]
    parts += map(_format_cut, result.truncation.articles if result.truncation else ())
    for item in result.unavailable:
        parts += _render_missing(item, console)
    total = format_count(result.total_returned + len(result.unavailable), "article")
    return Group(*parts, Text(f"Full text of {result.total_returned:,} of {total}", style="bold"))


def _render_heading(article: PmcArticle | UnpaywallArticle, console: Console) -> list[RenderableType]:
    title = format_title(convert_to_data(article))
    title.stylize("bold")
    parts: list[RenderableType] = [title]
    if isinstance(article, PmcArticle):
        if article.authors:
            parts.append(Text(_format_names(article, MAX_AUTHORS)))
        if source := _format_source(article):
            parts.append(Text(source, style="green"))
    links = Text("  ").join(build_link(name, address, console) for name, address in _list_identifiers(article))
    via = {"pmc": "PMC", "europepmc": "Europe PMC", "unpaywall": "an open-access copy"}[article.via_source]
    about = f"from {via}" + (f", {to_line(article.license)}" if article.license else "")
    return [*parts, Text("  ").join([links, Text(about, style="dim")])]


def _render_outline(article: PmcArticle | UnpaywallArticle) -> RenderableType:
    table = ListingTable("Section", build_number_column("Characters"))
    if isinstance(article, UnpaywallArticle):
        pages = f", {format_count(article.total_pages, 'page')}" if article.total_pages else ""
        words = f", {format_count(article.word_count, 'word')}" if article.word_count else ""
        table.add_row(
            Text(f"{article.content_format} of {to_line(article.source_url)}{pages}{words}"),
            f"{len(article.content):,}",
        )
        return table
    for section in article.sections:
        table.add_row(
            Text(_format_title(section), style="bold" if section.title else "dim"),
            f"{count_section_characters(section):,}",
        )
        below = list(_walk_sections(section))
        for depth, sub in below[:MAX_SUBSECTIONS]:
            table.add_row(
                Text(f"{'  ' * depth}{_format_title(sub)}", style="" if sub.title else "dim"),
                Text(f"{len(sub.text):,}", style="dim"),
            )
        if len(below) > MAX_SUBSECTIONS:
            table.add_row(Text(f"  and {len(below) - MAX_SUBSECTIONS} more", style="dim"), "")
    if article.references:
        size = sum(len(reference.citation) for reference in article.references)
        table.add_row(Text(f"References ({len(article.references):,})", style="bold"), f"{size:,}")
    return table


def _walk_sections(section: Section, depth: int = 1) -> Iterator[tuple[int, Section]]:
    for sub in section.subsections:
        yield depth, sub
        yield from _walk_sections(sub, depth + 1)


def _format_title(section: Section) -> str:
    return to_line(section.heading) or "(untitled)"


def _format_cut(cut: CutArticle | CutCopy) -> Text:
    cut_short = ", ".join(f"{to_line(part.title) or '(untitled)'}" for part in cut.sections[:8])
    more = " ..." if len(cut.sections) > 8 else ""
    size = f"{cut.returned_characters:,} of {format_count(cut.original_characters, 'character')}"
    return Text(f"{cut.id}: {size}; truncated: {cut_short}{more}", style="yellow")


def _render_missing(item: Unavailable, console: Console) -> Iterator[RenderableType]:
    """Yield an id without full text: why, the answer of each source, and where to get the text."""
    head = Text("No full text: ", style="bold").append(to_line(item.id), style="cyan")
    if item.title:
        head.append(" ").append(format_title({"title": item.title, "standing": convert_to_data(item.standing)}))
    yield head
    tried = "\n".join(_format_answer(tier, to_line) for tier in item.tried_tiers)
    links = ((name, build_link(text, address, console)) for name, text, address in _list_ways(item))
    reason = Text(_explain(item), style="yellow")
    yield build_fact_list((("Why", reason), *links, ("Sources", Text(tried, style="dim"))))
    yield Text("")


def _explain(item: Unavailable) -> str:
    """Return the reason in plain words."""
    return (item.message or item.reason) + (" Try again later." if item.retryable else "")


def _list_ways(item: Unavailable) -> Iterator[tuple[str, str, str]]:
    """Yield what helps to get the text of an article: a name, the text to show, and its address."""
    if item.doi:
        yield "DOI", to_line(item.doi), item.publisher_url or ""
    if item.publisher_url:
        yield "Publisher", item.publisher_url, item.publisher_url
    if item.pubmed_url:
        yield "PubMed", item.pubmed_url, item.pubmed_url
    for email in item.emails:
        yield "E-mail", to_line(email), f"mailto:{email}"


# Outline and Markdown


def _format_source(article: PmcArticle) -> str:
    date = convert_to_data(article.publication_date)
    return format_source({"journal_info": {**(convert_to_data(article.journal) or {}), "publication_date": date}})


def _format_names(article: PmcArticle, limit: int | None = None) -> str:
    names = [
        author.collective_name or f"{author.given_names or ''} {author.last_name or ''}" for author in article.authors
    ]
    return format_people([{"collective_name": to_line(name)} for name in names], limit)


def _list_identifiers(article: PmcArticle | UnpaywallArticle) -> list[tuple[str, str]]:
    found = []
    if article.pmid:
        found.append((f"PMID {to_line(article.pmid)}", build_page_address(PUBMED, article.pmid)))
    if article.pmcid:
        found.append((to_line(article.pmcid), build_page_address(PMC, article.pmcid)))
    if article.doi:
        found.append((f"doi:{to_line(article.doi)}", format_doi_url(to_line(article.doi))))
    return found


# Markdown


def write_fulltext(record: Record) -> str:
    """Return an article as a Markdown page: title, source, abstracts, sections, references."""
    if record.get("source") == "unpaywall":
        return _write_copy(UnpaywallArticle.model_validate(dict(record)))
    article = PmcArticle.model_validate(dict(record))
    parts = [*write_banner(record), f"# {escape(article.title) or '(no title)'}"]
    parts += [escape(text) for text in (_format_names(article), _format_source(article)) if text]
    parts += [_format_links(article), _format_facts(article)]
    if article.abstract:
        parts += ["## Abstract", *yield_blocks(article.abstract.replace("\n", "\n\n"))]
    for other in article.other_abstracts:
        name = name_language(other.language) if other.language else "translated"
        parts += [f"## Abstract ({_escape_inner(name)})", *yield_blocks(other.text.replace("\n", "\n\n"))]
    for section in article.sections:
        parts += _write_section(section)
    if article.references:
        parts += ["## References", _write_references(article.references)]
    if article.affiliations:
        parts += ["## Author affiliations", "\n".join(f"- {_escape_inner(place)}" for place in article.affiliations)]
    return "\n\n".join(part for part in parts if part) + "\n"


class FulltextWriter(TextWriter):
    """Writes articles as pages, and a last page that lists the ids without full text."""

    def __init__(self, sink: Sink) -> None:
        pages = lambda item: () if item.article is None else (write_fulltext(convert_to_data(item.article)),)  # noqa: E731
        super().__init__(sink, pages, between=PAGE_BREAK)
        self._without: list[FulltextOutcome] = []

    def write_outcome(self, outcome: FulltextOutcome) -> None:
        """Write an article, or store an outcome without one for the last page."""
        super().write_outcome(outcome)
        if outcome.article is None:
            self._without.append(outcome)

    def end(self) -> None:
        """Write the page of ids without full text."""
        if self._without:
            self.put(write_unavailable(self._without))
        super().end()


def create_screen_writer(sink: Sink, state: "State") -> Writer[Any]:
    """Return the writer that renders the Markdown on a terminal and pages long text."""
    from .._formats.printed import Buffer, Converted
    from .._formats.tables import show
    from .reading import render_markdown_page

    text = Buffer()
    return Converted(
        sink, FulltextWriter(text), text, lambda page: show(state, sink, lambda console: render_markdown_page(page))
    )


def write_unavailable(without: Sequence[FulltextOutcome]) -> str:
    """Return a page of the ids without full text, with the answer of each source. Invalid ids come last."""
    items = []
    for item in (text.unavailable for text in without):
        if item is not None:
            words = " ".join(filter(None, (item.title, _explain(item))))
            items.append(f"- **{_escape_inner(item.id)}**: {_escape_inner(words)}")
            items += [
                f"  - {name}: <{address}>" if text == address else f"  - {name}: [{_escape_inner(text)}](<{address}>)"
                for name, text, address in _list_ways(item)
            ]
            items += [f"  - {_format_answer(tier, _escape_inner)}" for tier in item.tried_tiers]
    items += [
        f"- **{_escape_inner(text.id)}**: not a PMID, PMCID or DOI" for text in without if text.status == "invalid"
    ]
    return "\n".join(["# No full text", "", *items, ""])


_ANSWERS: Final[dict[Outcome, str]] = {
    "not-attempted": "not asked",
    "miss": "does not have it",
    "no-fulltext": "only the abstract",
    "no-body": "only the abstract",
    "no-doi": "no DOI to look up",
    "no-oa": "no free copy",
    "fetch-failed": "the download failed",
    "parse-failed": "its text cannot be read",
    "service-error": "no answer",
}
"""The outcomes of sources in plain words."""
_CLEAR: Final = ("miss", "no-fulltext", "no-oa")
"""Outcomes that need no detail."""


def _format_answer(tried: TriedTier, render: Callable[[object], str]) -> str:
    detail = f" ({render(tried.detail)})" if tried.detail and tried.outcome not in _CLEAR else ""
    return f"{_TIERS[tried.tier]}: {_ANSWERS[tried.outcome]}{detail}"


def _format_facts(article: PmcArticle) -> str:
    """Return the lines about an article: the source of the text, the article type, the license, the keywords."""
    source = _TIERS[article.via_source]
    if article.epmc_id:
        source += f" ({' '.join(filter(None, (article.epmc_source, article.epmc_id)))})"
    facts = {
        "Text from": source,
        "Type": (article.article_type or "").replace("-", " "),
        "License": article.license,
        "Keywords": "; ".join(to_line(word) for word in article.keywords),
    }
    return "  \n".join(f"**{name}:** {_escape_inner(value)}" for name, value in facts.items() if value)


def _write_copy(article: UnpaywallArticle) -> str:
    about = [f"Text from: an open-access copy ({article.content_format})"]
    about += [text for text in (article.version, article.host_type, article.license) if text]
    head = [
        f"# {escape(article.title) or '(no title)'}",
        _format_links(article),
        f"Source: <{to_line(article.source_url)}>  \n{escape(', '.join(map(to_line, about)))}",
    ]
    content = article.content.strip()
    if article.content_format == "pdf-text":  # the text of a PDF contains no Markdown
        content = "\n\n".join("\n".join(escape(line) for line in part.split("\n")) for part in content.split("\n\n"))
    return "\n\n".join([*head, remove_invisible(content)]) + "\n"


def _format_links(article: PmcArticle | UnpaywallArticle) -> str:
    return " · ".join(f"[{escape(name)}]({address})" for name, address in _list_identifiers(article))


def _write_section(section: Section, level: int = 2) -> Iterator[str]:
    """Yield a section and its subsections. Markdown has six heading levels; deeper headings use the sixth."""
    if heading := to_line(section.heading):
        yield f"{'#' * min(level, MAX_LEVEL)} {_escape_inner(heading)}"
    yield from yield_blocks(section.text)
    for sub in section.subsections:
        yield from _write_section(sub, level + 1)


def _write_references(references: Sequence[ListedReference]) -> str:
    """Return the reference list with the article's own labels, or as a numbered list if the labels are 1, 2, 3…"""
    labels = [to_line(reference.label) for reference in references]
    numbers = [label.strip("[](). ") for label in labels]
    if all(number.isascii() and number == str(place) for place, number in enumerate(numbers, 1)):
        return "\n".join(
            f"{place}. {_escape_inner(reference.citation)}" for place, reference in enumerate(references, 1)
        )
    return "\n".join(
        f"- {f'**{_escape_inner(label)}** ' if label else ''}{_escape_inner(reference.citation)}"
        for label, reference in zip(labels, references, strict=True)
    )


def yield_blocks(text: str) -> Iterator[str]:
    """Yield the blocks of a section as Markdown: paragraphs, lists, and tables. Lines with tabs are table rows."""
    for block in text.split("\n\n"):
        lines = block.split("\n")
        while lines:
            is_row = "\t" in lines[0]
            count = next((place for place, line in enumerate(lines) if ("\t" in line) is not is_row), len(lines))
            some, lines = lines[:count], lines[count:]
            if not is_row and len(some) > 1 and _FLOAT_LABEL.fullmatch(some[0]):
                yield f"**{_escape_inner(some[0])}**"
                some = some[1:]
            yield _write_rows(some) if is_row else "\n".join(_write_lines(some))


def _escape_inner(text: object) -> str:
    """Escape text for headings and cells, where a list or a heading cannot begin."""
    return escape(f"x{to_line(text)}")[1:]


def _write_rows(lines: Sequence[str]) -> str:
    cells = [[_escape_inner(cell) for cell in line.split("\t")] for line in lines]
    width = max(len(row) for row in cells)
    rows = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in cells]
    return "\n".join([rows[0], "|" + " --- |" * width, *rows[1:]])


def _write_lines(lines: Sequence[str]) -> Iterator[str]:
    for place, line in enumerate(lines):
        item = _LIST_ITEM.fullmatch(line)
        if item and item[2]:
            yield f"{item[1]}{item[2]} {escape(item[3])}"
        else:
            yield escape(line) + ("  " if place + 1 < len(lines) else "")
