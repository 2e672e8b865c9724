"""Tables of Entrez databases, MeSH records, facets, converted ids and citation matches."""

from typing import TYPE_CHECKING, Any, Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.identifiers import PMC, format_doi_url

from .tables import (
    ListingTable,
    add_links,
    build_article_link,
    build_fact_list,
    build_key_column,
    build_link,
    build_number_column,
    format_broader_line,
    format_failure,
)
from .text import build_page_address, to_line

if TYPE_CHECKING:
    from entrez_kit.databases.info import DatabaseInfo, InfoResult, TermCount
    from entrez_kit.databases.link import LinkResult
    from entrez_kit.databases.mesh import MeshResult
    from entrez_kit.databases.search import EntrezSearchResult
    from entrez_kit.databases.spell import SpellResult
    from entrez_kit.databases.summary import SummaryResult
    from entrez_kit.pubmed.convert import ConvertResult
    from entrez_kit.pubmed.facets import FacetsResult
    from entrez_kit.references.match import MatchResult


_STYLES: Final = {"no_links": "dim", "not_found": "yellow", "invalid": "yellow", "error": "red"}


def _format_number(value: int | None) -> str:
    return f"{value:,}" if value is not None else ""


def render_info(result: "InfoResult", console: Console) -> RenderableType:
    """Return the list of databases, the description of one database, or the counts of a query."""
    parts: list[RenderableType] = []
    if result.database is not None:
        parts += _render_database(result.database)
    if result.counts is not None:
        parts.append(_render_counts(result.counts))
    elif result.databases is not None:
        parts.append(Text("  ".join(result.databases)))
        count = format_count(len(result.databases), "database")
        parts.append(Text(f"{count}. Describe one: entrez-kit db info NAME", style="dim"))
    return Group(*parts)


def _render_database(info: "DatabaseInfo") -> list[RenderableType]:
    head = Text(to_line(info.menu_name or info.name), style="bold")
    head.append(f"  {to_line(info.description)}", style="not bold")
    facts = [
        format_count(info.record_count, "record") if info.record_count is not None else "",
        info.last_update or "",
    ]
    parts: list[RenderableType] = [head, Text(", updated ".join(fact for fact in facts if fact), style="dim"), Text("")]
    fields = ListingTable("Tag", "Field", "Description", build_number_column("Terms"))
    for field in info.fields:
        if not field.is_hidden:
            fields.add_cells(field.name, field.full_name, field.description, _format_number(field.term_count))
    links = ListingTable("Link", "To", "Description")
    for link in info.links:
        links.add_cells(link.name, link.db_to, link.description)
    return [*parts, fields, Text(""), links] if info.links else [*parts, fields]


def _render_counts(counts: "list[TermCount]") -> ListingTable:
    table = ListingTable("Database", build_number_column("Records"), "")
    for count in sorted(counts, key=lambda item: -(item.count or 0)):
        known = count.count is not None
        note = "" if count.status == "Ok" or (known and not count.count) else count.status
        table.add_cells(
            count.db, _format_number(count.count) if known else "?", note, style="" if count.count else "dim"
        )
    return table


def render_search(result: "EntrezSearchResult", console: Console) -> RenderableType:
    """Return the UIDs found, their number, and NCBI's translation of the query."""
    parts: list[RenderableType] = []
    if result.ids:
        parts.append(Text("  ".join(result.ids), style="cyan"))
        first, last = result.offset + 1, result.offset + len(result.ids)
        parts.append(Text(f"{first:,}–{last:,} of {result.total_found:,} in {result.db}", style="bold"))
    else:
        none = f"None of {format_count(result.total_found, 'result')} shown." if result.total_found else "No results."
        parts.append(format_broader_line(result.broader_total) or Text(none, style="bold"))
    if result.query_translation:
        parts.append(Text(f"Searched for: {to_line(result.query_translation)}", style="dim"))
    return Group(*parts)


def render_summaries(result: "SummaryResult", console: Console) -> RenderableType:
    """Return the fields of every summary, in the order of the UIDs."""
    parts: list[RenderableType] = []
    for summary in result.summaries:
        parts.append(Text(f"{result.db} {summary.get('uid', '')}", style="bold cyan"))
        known = ((name, value) for name, value in summary.items() if name != "uid" and value not in ("", [], {}, None))
        table = build_fact_list((name, _format_value(value)) for name, value in known)
        parts += [table, Text("")]
    parts += [
        Text.assemble((f"{outcome.id}: ", "yellow"), format_failure(outcome))
        for outcome in result.outcomes
        if outcome.status != "found"
    ]
    return Group(*parts)


def _format_value(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(
            f"{key}: {_format_value(item)}" for key, item in value.items() if item not in ("", [], {}, None)
        )
    if isinstance(value, list):
        return " | ".join(_format_value(item) for item in value)
    return str(value)


def render_links(result: "LinkResult", console: Console) -> RenderableType:
    """Return a table with one row per source record and link name."""
    table = ListingTable(result.source, "Link", f"{result.target} records")
    for linkset in result.linksets:
        if not linkset.links:
            table.add_cells(linkset.source_id, "", linkset.message or linkset.status, style=_STYLES[linkset.status])
            continue
        by_name: dict[str, list[str]] = {}
        for link in linkset.links:
            text = link.id if link.score is None else f"{link.id} ({link.score})"
            by_name.setdefault(link.link_name or "", []).append(text)
        for place, (name, ids) in enumerate(by_name.items()):
            text = " ".join(ids[:50]) + (f" … {len(ids) - 50:,} more (--json shows all)" if len(ids) > 50 else "")
            table.add_cells(linkset.source_id if not place else "", name, f"{len(ids):,}: {text}")
    return table


def render_facets(result: "FacetsResult", console: Console) -> RenderableType:
    """Return a table of values and counts for each facet, and the number of results counted."""
    parts: list[RenderableType] = []
    for facet in result.facets:
        table = ListingTable(
            "MeSH heading" if facet.facet == "mesh" else facet.facet.capitalize(), build_number_column("Records")
        )
        for value in facet.values:
            table.add_cells(value.value, _format_number(value.count))
        rest = (("earlier", facet.earlier), ("other values", facet.other_values), ("without a value", facet.without))
        counts = [f"{count:,} {name}" for name, count in rest if count]
        parts += [table, Text("; ".join(counts), style="dim"), Text("")] if counts else [table, Text("")]
    read = Text(
        f"{result.records_counted:,} of {format_count(result.total_found or 0, 'result')} counted", style="bold"
    )
    parts.append(format_broader_line(result.broader_total) or read)
    return Group(*parts)


def render_spelling(result: "SpellResult", console: Console) -> RenderableType:
    """Return the suggested spelling, or a line without one."""
    if result.has_suggestion:
        return Text.assemble("Did you mean: ", (to_line(result.corrected), "bold green"))
    return Text(f"No suggestion for: {to_line(result.original)}")


def render_mesh(result: "MeshResult", console: Console) -> RenderableType:
    """Return the MeSH records with their tree numbers, scope notes and entry terms."""
    parts: list[RenderableType] = []
    for record in result.results:
        head = Text(to_line(record.name), style="bold")
        head.append(f"  {record.ui}", style="cyan")
        if record.kind and record.kind != "descriptor":
            head.append(f"  {record.kind.replace('_', ' ')}", style="dim")
        parts.append(head)
        if record.tree_numbers:
            parts.append(_indent("  ".join(record.tree_numbers), style="dim"))
        if record.scope_note:
            parts.append(_indent(to_line(record.scope_note)))
        if record.entry_terms:
            terms = "; ".join(to_line(term) for term in record.entry_terms)
            parts.append(_indent(f"Entry terms: {terms}", style="dim"))
        if record.subheadings:
            parts.append(_indent(f"Subheadings: {'; '.join(map(to_line, record.subheadings))}", style="dim"))
        for side, neighbors in (("Broader", record.parents), ("Narrower", record.children)):
            if neighbors:
                named = "; ".join(
                    f"{to_line(neighbor.name)} ({', '.join(neighbor.tree_numbers) or neighbor.ui})"
                    for neighbor in neighbors
                )
                parts.append(_indent(f"{side}: {named}"))
        parts.append(Text(""))
    if not result.results:
        return Text("No results.", style="bold")
    first = result.offset + 1
    parts.append(Text(f"{first:,}–{result.offset + len(result.results):,} of {result.total_found:,}", style="bold"))
    return Group(*parts)


def _indent(text: str, style: str = "") -> RenderableType:
    return Padding(Text(text, style=style), (0, 0, 0, 2))


def render_conversions(result: "ConvertResult", console: Console) -> RenderableType:
    """Return a table with one row per input, in the order of the inputs."""
    table = ListingTable(build_key_column("Input"), "PMID", "PMCID", "DOI", "Remarks", stacks=True)
    for record in result.records:
        remarks = [record.standing.note if record.standing else None, record.note or record.message]
        remark = Text(to_line(" ".join(text for text in remarks if text)))
        style = "" if record.status == "found" else "yellow"
        table.add_cells(
            record.requested_id,
            build_article_link(record.pmid, console) if record.pmid else "",
            build_link(record.pmcid, build_page_address(PMC, record.pmcid), console) if record.pmcid else "",
            build_link(record.doi, format_doi_url(record.doi), console) if record.doi else "",
            add_links(remark, console),
            style=style,
        )
    total = Text(f"{result.total_converted:,} of {result.total_submitted:,} found", style="bold")
    return Group(table, Text(""), total)


def render_matches(result: "MatchResult", console: Console) -> RenderableType:
    """Return a table with one row per reference, in the order of the references."""
    table = ListingTable(build_key_column("Reference"), "PMID", "Title", "Remarks", stacks=True)
    styles = {"matched": "", "mismatch": "red", "error": "red"}
    for match in result.results:
        remarks = [match.standing.note] if match.standing is not None else []
        if match.detail:
            remarks.append(f"{match.status.replace('_', ' ')}: {match.detail}")
        if match.status == "mismatch" and match.citation:
            remarks.append(f"found: {match.citation}")
        elif match.candidate_pmids:
            remarks.append(f"candidates: {', '.join(f'PMID {pmid}' for pmid in match.candidate_pmids)}")
        table.add_cells(
            match.key,
            build_article_link(match.pmid, console) if match.pmid else "",
            match.title,
            add_links(Text(to_line("; ".join(remarks))), console),
            style=styles.get(match.status, "yellow"),
        )
    return Group(table, Text(""), Text(f"{result.total_matched:,} of {result.total_submitted:,} matched", style="bold"))
