"""Tables of related articles."""

from typing import Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from entrez_kit.base.frontend_text import format_count
from entrez_kit.relationships.related_documents import RelatedArticle, RelationshipsResult

from .._formats.fields import Record, convert_to_data
from .articles import format_title
from .citations import MAX_WIDTH, render_citation, render_heading
from .markdown import escape, write_item
from .tables import (
    WIDE,
    ListingTable,
    build_article_link,
    build_fixed_column,
    build_number_column,
    build_wrapped_column,
)
from .text import shorten_authors, to_line

_WORDS: Final = {
    "pubmed_similar_articles": ("article", "similar to"),
    "pubmed_citedin": ("article", "citing"),
    "pubmed_references": ("work", "cited by"),
}
_MAX_VIA: Final = 4
"""The maximum number of linking articles shown per article."""


def render_related(result: RelationshipsResult, console: Console) -> RenderableType:
    """Return a table of the related articles with notes on its sources, or the article as a citation."""
    if result.citations:
        return _render_citations(result, console)
    parts: list[RenderableType] = []
    if result.related_articles:
        parts += [_render_articles(result, console), Text("")]
    noun, relation = _WORDS[result.relationship_type]
    relation += f" PMID {result.source_pmid}"
    if not result.total_found:
        parts.append(Text(f"No {noun}s {relation}.", style="bold"))
    else:
        total = format_count(result.total_found, noun)
        parts.append(Text(f"{result.retrieved_count:,} of {total} {relation}", style="bold"))
    if result.provenance == "mixed":
        parts.append(Text("Some of these are from PubMed records or Europe PMC.", style="dim"))
    if result.snowball is not None:
        ball = result.snowball
        steps = [
            f"{done:,} of {done + left:,} at step {step}"
            for step, (done, left) in enumerate(zip(ball.followed, ball.not_followed, strict=True))
            if step
        ]
        spent = (
            f"Articles followed: {', '.join(steps)}; {ball.requests:,} of {format_count(ball.budget, 'request')} used"
        )
        parts.append(Text(spent, style="dim" if not any(ball.not_followed) else "yellow"))
    return Group(*parts)


def _render_citations(result: RelationshipsResult, console: Console) -> RenderableType:
    parts: list[RenderableType] = []
    for style, text in result.citations.items():
        if len(result.citations) > 1:
            parts += [render_heading(style), Text("")]
        parts += [render_citation(text, style, min(console.width, MAX_WIDTH)), Text("")]
    return Group(*parts[:-1])


def _render_articles(result: RelationshipsResult, console: Console) -> ListingTable:
    """Return a table of the articles. Columns of scores and of a snowball appear only if there are values."""
    articles = result.related_articles
    rolled = result.snowball is not None
    scored = not rolled and any(article.score is not None for article in articles)
    wide = console.width >= WIDE
    ranks = [
        *([build_number_column("Score")] if scored else []),
        *([build_number_column("Links"), build_number_column("Step")] if rolled else []),
    ]
    about = (
        [build_wrapped_column("Title", 5), build_wrapped_column("Authors", 2)]
        if wide
        else [build_wrapped_column("Article")]
    )
    reached = [build_wrapped_column("Reached from", 2)] if wide and rolled else []
    table = ListingTable(
        build_number_column("#"),
        *ranks,
        build_fixed_column("PMID"),
        build_fixed_column("Year"),
        *about,
        *reached,
        expand=wide,
    )
    for rank, article in enumerate(articles, start=1):
        cells: list[RenderableType] = [Text(str(rank), style="dim")]
        if scored:
            cells.append(Text("" if article.score is None else f"{article.score:.2f}"))
        if rolled:
            cells += [Text(str(article.source_count or "")), Text(str(article.depth or ""))]
        work = (
            build_article_link(article.pmid, console) if article.pmid else Text(to_line(article.epmc_id), style="dim")
        )
        cells += [work, Text(to_line(article.pub_date)[:4])]
        title = format_title(
            convert_to_data(article), to_line(article.title or article.citation or article.doi) or "(no title)"
        )
        authors = shorten_authors(article.authors or "", 3 if wide else 2)
        if wide:
            cells += [title, Text(authors), *([Text(_format_via(article), style="dim")] if rolled else [])]
        else:
            below = [Text(text, style="dim") for text in (authors, _format_via(article) if rolled else "") if text]
            cells.append(Text("\n").join([title, *below]))
        table.add_row(*cells)
    return table


def _format_via(article: RelatedArticle) -> str:
    """Return the PMIDs of the articles that link to this one, up to the maximum."""
    count = article.source_count or len(article.via)
    more = f" +{count - _MAX_VIA}" if count > _MAX_VIA else ""
    return f"← {' '.join(article.via[:_MAX_VIA])}{more}" if article.via else ""


# Markdown


def write_related(record: Record) -> str:
    """Return a related article as a list item; a work outside PubMed by its citation text."""
    if record.get("pmid"):
        return write_item(record)
    words = [record.get(name) for name in ("title", "authors", "source")] if record.get("title") else []
    text = ". ".join(str(word) for word in words if word) or str(record.get("citation") or record.get("doi") or "")
    address = record.get("link_url")
    return f"- {escape(text)}" + (f"  \n  <{address}>\n" if address else "\n")


def write_styled_citation(record: Record) -> str:
    """Return a citation as a section with the name of its style."""
    return f"## {escape(record['style'])}\n\n```\n{str(record['citation']).rstrip()}\n```\n"
