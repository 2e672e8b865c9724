"""Full text for people: an outline for terminals, the whole article as Markdown."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from entrez_kit.base.invisible import visible
from entrez_kit.fulltext.fetch_fulltext import FulltextOutcome, FulltextResult
from entrez_kit.fulltext.models import (
    CutArticle,
    ListedReference,
    PmcArticle,
    Section,
    TriedTier,
    Unavailable,
    UnpaywallArticle,
)
from entrez_kit.fulltext.selection import characters

from .._formats.fields import Record, as_data
from .._formats.writer import PAGE_BREAK, Texts, Writer
from .._output import Sink
from .._report import counted
from .markdown import banner_page, escaped
from .tables import Listing, fixed, linked, number, titled
from .text import PMC, PUBMED, doi_address, language, line, page_address, people, source_of

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
"""What stands alone on the first line of a figure or a table: its number, apart from the caption."""
_TIERS: Final = {"pmc": "PMC", "europepmc": "Europe PMC", "unpaywall": "Unpaywall"}


# In a terminal


def fulltext_table(result: FulltextResult, console: Console) -> RenderableType:
    """Return the outline of each article, with how long each part is; then what has no text, and why."""
    parts: list[RenderableType] = []
    for article in result.articles:
        parts += [*_heading(article, console), _outline(article), Text("")]
    parts += map(_cut_line, result.truncation.articles if result.truncation else ())
    if result.unavailable:
        parts += [_missing(result.unavailable), Text("")]
    asked = counted(result.total_returned + len(result.unavailable), "article")
    return Group(*parts, Text(f"Full text of {result.total_returned:,} of {asked}", style="bold"))


def _heading(article: PmcArticle | UnpaywallArticle, console: Console) -> list[RenderableType]:
    title = titled(as_data(article))
    title.stylize("bold")
    parts: list[RenderableType] = [title]
    if isinstance(article, PmcArticle):
        if article.authors:
            parts.append(Text(_names(article, MAX_AUTHORS)))
        if source := _source(article):
            parts.append(Text(source, style="green"))
    links = Text("  ").join(linked(name, address, console) for name, address in _identifiers(article))
    via = {"pmc": "PMC", "europepmc": "Europe PMC", "unpaywall": "an open-access copy"}[article.via_source]
    about = f"from {via}" + (f", {line(article.license)}" if article.license else "")
    return [*parts, Text("  ").join([links, Text(about, style="dim")])]


def _outline(article: PmcArticle | UnpaywallArticle) -> RenderableType:
    table = Listing("Section", number("Characters"))
    if isinstance(article, UnpaywallArticle):
        pages = f", {counted(article.total_pages, 'page')}" if article.total_pages else ""
        words = f", {counted(article.word_count, 'word')}" if article.word_count else ""
        table.add_row(
            Text(f"{article.content_format} of {line(article.source_url)}{pages}{words}"), f"{len(article.content):,}"
        )
        return table
    for section in article.sections:
        table.add_row(Text(_title(section), style="bold" if section.title else "dim"), f"{characters(section):,}")
        below = list(_below(section))
        for depth, sub in below[:MAX_SUBSECTIONS]:
            table.add_row(
                Text(f"{'  ' * depth}{_title(sub)}", style="" if sub.title else "dim"),
                Text(f"{len(sub.text):,}", style="dim"),
            )
        if len(below) > MAX_SUBSECTIONS:
            table.add_row(Text(f"  and {len(below) - MAX_SUBSECTIONS} more", style="dim"), "")
    if article.references:
        size = sum(len(reference.citation) for reference in article.references)
        table.add_row(Text(f"References ({len(article.references):,})", style="bold"), f"{size:,}")
    return table


def _below(section: Section, depth: int = 1) -> Iterator[tuple[int, Section]]:
    for sub in section.subsections:
        yield depth, sub
        yield from _below(sub, depth + 1)


def _title(section: Section) -> str:
    return line(section.heading) or "(untitled)"


def _cut_line(cut: CutArticle) -> Text:
    cut_short = ", ".join(f"{line(part.title) or '(untitled)'}" for part in cut.sections[:8])
    more = " ..." if len(cut.sections) > 8 else ""
    words = f"{cut.id}: {cut.returned_characters:,} of {cut.original_characters:,} characters; cut: {cut_short}{more}"
    return Text(words, style="yellow")


def _missing(unavailable: Sequence[Unavailable]) -> Listing:
    table = Listing("No full text", fixed("Reason"), "What was tried")
    for item in unavailable:
        tried = "\n".join(_answer(tier, line) for tier in item.tried_tiers)
        reason = item.reason + ("\ntry again" if item.retryable else "")
        table.add_row(Text(line(item.id), style="cyan"), Text(reason, style="yellow"), Text(tried, style="dim"))
    return table


# What both show


def _source(article: PmcArticle) -> str:
    date = as_data(article.publication_date)
    return source_of({"journal_info": {**(as_data(article.journal) or {}), "publication_date": date}})


def _names(article: PmcArticle, limit: int | None = None) -> str:
    names = [one.collective_name or f"{one.given_names or ''} {one.last_name or ''}" for one in article.authors]
    return people([{"collective_name": line(name)} for name in names], limit)


def _identifiers(article: PmcArticle | UnpaywallArticle) -> list[tuple[str, str]]:
    found = []
    if article.pmid:
        found.append((f"PMID {line(article.pmid)}", page_address(PUBMED, article.pmid)))
    if article.pmcid:
        found.append((line(article.pmcid), page_address(PMC, article.pmcid)))
    if article.doi:
        found.append((f"doi:{line(article.doi)}", doi_address(line(article.doi))))
    return found


# Markdown


def fulltext_page(record: Record) -> str:
    """Return an article as a page: what it is and where it comes from, abstracts, every section, references."""
    if record.get("source") == "unpaywall":
        return _copy_page(UnpaywallArticle.model_validate(dict(record)))
    article = PmcArticle.model_validate(dict(record))
    parts = [*banner_page(record), f"# {escaped(article.title) or '(no title)'}"]
    parts += [escaped(text) for text in (_names(article), _source(article)) if text]
    parts += [_links(article), _facts(article)]
    if article.abstract:
        parts += ["## Abstract", *blocks(article.abstract.replace("\n", "\n\n"))]
    for other in article.other_abstracts:
        name = language(other.language) if other.language else "translated"
        parts += [f"## Abstract ({_inner(name)})", *blocks(other.text.replace("\n", "\n\n"))]
    for section in article.sections:
        parts += _section(section)
    if article.references:
        parts += ["## References", _references(article.references)]
    if article.affiliations:
        parts += ["## Affiliations of the authors", "\n".join(f"- {_inner(place)}" for place in article.affiliations)]
    return "\n\n".join(part for part in parts if part) + "\n"


class Pages(Texts):
    """Articles as pages, and a last page with the ids without a text."""

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink, _page, between=PAGE_BREAK)
        self._without: list[FulltextOutcome] = []

    def outcome(self, outcome: FulltextOutcome) -> None:
        """Write an article; keep what has none for the end."""
        super().outcome(outcome)
        if outcome.article is None:
            self._without.append(outcome)

    def end(self) -> None:
        """Write the page of those without a text."""
        if self._without:
            self.put(unavailable_page(self._without))
        super().end()


def _page(item: FulltextOutcome) -> Iterator[str]:
    if item.article is not None:
        yield fulltext_page(as_data(item.article))


def reading(sink: Sink, state: "State") -> Writer[Any]:
    """Return what shows the same to whoever reads it here, by page where it is long."""
    from .._formats.printed import Buffer, Converted
    from .._formats.tables import show
    from .reading import markdown_page

    text = Buffer()
    return Converted(sink, Pages(text), text, lambda page: show(state, sink, lambda console: markdown_page(page)))


def unavailable_page(without: Sequence[FulltextOutcome]) -> str:
    """Return a page of the ids without a text, each with what every source answered; what is no id comes last."""
    items = []
    for item in (one.unavailable for one in without):
        if item is not None:
            again = ", try again" if item.retryable else ""
            items.append(f"- **{_inner(item.id)}**: {item.reason}{again}")
            items += [f"  - {_answer(tier, _inner)}" for tier in item.tried_tiers]
    items += [f"- **{_inner(one.id)}**: not a PMID, PMCID or DOI" for one in without if one.status == "invalid"]
    return "\n".join(["# Without full text", "", *items, ""])


def _answer(tried: TriedTier, shown: Callable[[object], str]) -> str:
    detail = f" ({shown(tried.detail)})" if tried.detail else ""
    return f"{_TIERS[tried.tier]}: {tried.outcome}{detail}"


def _facts(article: PmcArticle) -> str:
    """Return the lines about an article: where it comes from, what it is, what it may be used for, its keywords."""
    found = _TIERS[article.via_source]
    if article.epmc_id:
        found += f" ({' '.join(filter(None, (article.epmc_source, article.epmc_id)))})"
    facts = {
        "Text from": found,
        "Type": (article.article_type or "").replace("-", " "),
        "Licence": article.license,
        "Keywords": "; ".join(line(word) for word in article.keywords),
    }
    return "  \n".join(f"**{name}:** {_inner(value)}" for name, value in facts.items() if value)


def _copy_page(article: UnpaywallArticle) -> str:
    about = [f"Text from: an open-access copy ({article.content_format})"]
    about += [text for text in (article.version, article.host_type, article.license) if text]
    head = [
        f"# {escaped(article.title) or '(no title)'}",
        _links(article),
        f"Read from <{line(article.source_url)}>  \n{escaped(', '.join(map(line, about)))}",
    ]
    content = article.content.strip()
    if article.content_format == "pdf-text":  # nothing in it is meant as a mark
        content = "\n\n".join("\n".join(escaped(one) for one in part.split("\n")) for part in content.split("\n\n"))
    return "\n\n".join([*head, visible(content)]) + "\n"


def _links(article: PmcArticle | UnpaywallArticle) -> str:
    return " · ".join(f"[{escaped(name)}]({address})" for name, address in _identifiers(article))


def _section(section: Section, level: int = 2) -> Iterator[str]:
    """Yield a section and what is in it; Markdown has six levels, what lies deeper stays at the last."""
    if heading := line(section.heading):
        yield f"{'#' * min(level, MAX_LEVEL)} {_inner(heading)}"
    yield from blocks(section.text)
    for sub in section.subsections:
        yield from _section(sub, level + 1)


def _references(references: Sequence[ListedReference]) -> str:
    """Return the reference list under the article's own labels; as a numbered list where these are its numbers."""
    labels = [line(reference.label) for reference in references]
    numbers = [label.strip("[](). ") for label in labels]
    if all(number.isascii() and number == str(place) for place, number in enumerate(numbers, 1)):
        return "\n".join(f"{place}. {_inner(one.citation)}" for place, one in enumerate(references, 1))
    return "\n".join(
        f"- {f'**{_inner(label)}** ' if label else ''}{_inner(one.citation)}"
        for label, one in zip(labels, references, strict=True)
    )


def blocks(text: str) -> Iterator[str]:
    """Yield the blocks of a section as Markdown: paragraphs, lists, and tables where lines hold tabs."""
    for block in text.split("\n\n"):
        lines = block.split("\n")
        while lines:
            is_row = "\t" in lines[0]
            count = next((place for place, one in enumerate(lines) if ("\t" in one) is not is_row), len(lines))
            some, lines = lines[:count], lines[count:]
            if not is_row and len(some) > 1 and _FLOAT_LABEL.fullmatch(some[0]):
                yield f"**{_inner(some[0])}**"
                some = some[1:]
            yield _rows(some) if is_row else "\n".join(_lines(some))


def _inner(text: object) -> str:
    """Return text for places where no list or heading can begin: headings and cells."""
    return escaped(f"x{line(text)}")[1:]


def _rows(lines: Sequence[str]) -> str:
    cells = [[_inner(cell) for cell in one.split("\t")] for one in lines]
    width = max(len(row) for row in cells)
    rows = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in cells]
    return "\n".join([rows[0], "|" + " --- |" * width, *rows[1:]])


def _lines(lines: Sequence[str]) -> Iterator[str]:
    for place, one in enumerate(lines):
        found = _LIST_ITEM.fullmatch(one)
        if found and found[2]:
            yield f"{found[1]}{found[2]} {escaped(found[3])}"
        else:
            yield escaped(one) + ("  " if place + 1 < len(lines) else "")
