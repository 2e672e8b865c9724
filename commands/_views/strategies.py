"""Tables and pages of search strategies."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from entrez_kit.base.frontend_text import format_count

from .._formats.fields import Record, convert_to_data
from .markdown import escape
from .tables import ListingTable, build_fixed_column, build_number_column, build_wrapped_column
from .text import to_line

if TYPE_CHECKING:
    from entrez_kit.strategies.lint_strategy import LintResult
    from entrez_kit.strategies.measure_recall import RecallResult
    from entrez_kit.strategies.translated_lines import StrategyLine, StrategyResult

LABELS: Final = {"exact": "green", "wider": "yellow", "narrower": "bold yellow", "not_expressible": "bold red"}
_HEAD: Final = "| # | Strategy | PubMed | Label | Differences | Records |\n|---|---|---|---|---|---|\n"


def list_rows(result: Any) -> Iterator[Record]:
    """Yield the lines of a strategy; the first one begins a table."""
    for place, line in enumerate(result.lines):
        yield {**convert_to_data(line), "begins": not place}


def list_line_notes(record: Record) -> list[str]:
    """Return the differences of a line, its proof and its warnings."""
    proof = [_describe_proof(record["proof"])] if record.get("proof") else []
    return [*(record.get("loss") or ()), *proof, *(record.get("warnings") or ())]


def _describe_proof(proof: Record) -> str:
    """Return what a local copy shows about a line."""
    if proof["same"]:
        found = format_count(proof["line_records"], "record")
        return f"proof: the line and its translation find the same {found} in the copy"
    sides = [
        f"only {name} finds {', '.join(proof[key][:3])}{', ...' if len(proof[key]) > 3 else ''}"
        for name, key in (("the line", "line_only"), ("the translation", "pubmed_only"))
        if proof.get(key)
    ]
    found = format_count(proof["line_records"], "record")
    counts = f"the line finds {found} in the copy, its translation {proof['pubmed_records']:,}"
    return f"proof: {'; '.join((counts, *sides))}"


def _format_count(record: Record) -> str:
    if record.get("count") is not None:
        return f"{record['count']:,}"
    return ""


def write_line(record: Record) -> str:
    """Return a line of a strategy as a row of a Markdown table."""
    original = str(record.get("original") or "").strip()
    cells = [
        "" if record.get("number") is None else str(record["number"]),
        _format_cell(original),
        _format_cell(record.get("pubmed") or ("" if record["kind"] in ("comment", "header") else "not translated")),
        str(record.get("label") or record["kind"]).replace("_", " "),
        "<br>".join(_format_cell(note) for note in list_line_notes(record)),
        _format_count(record),
    ]
    return (_HEAD if record.get("begins") else "") + f"| {' | '.join(cells)} |\n"


def _format_cell(text: object) -> str:
    return escape(" ".join(str(text).split())).replace("|", "\\|")


def render_strategy(result: "StrategyResult", console: Console) -> RenderableType:
    """Return a table of the lines with their translations, labels and counts, and a summary."""
    has_counts = any(line.count is not None for line in result.lines)
    last = [build_number_column("Records")] if has_counts else []
    table = ListingTable(
        build_number_column("#"),
        build_wrapped_column("Line", 3),
        build_wrapped_column("PubMed", 4),
        build_wrapped_column("Differences", 3),
        *last,
        expand=True,
    )
    for line in result.lines:
        table.add_row(*_build_cells(line, has_counts))
    return Group(table, Text(""), *_summarize(result, has_counts))


def _build_cells(line: "StrategyLine", has_counts: bool) -> Sequence[Text]:
    record = convert_to_data(line)
    is_text = line.kind in ("comment", "header")
    style = "dim" if is_text else ""
    label = line.label or ""
    # A loss begins with its direction, so that the label would often only repeat it.
    notes = (
        [Text(label.replace("_", " "), style=LABELS.get(label, ""))]
        if label and not any(note.startswith(label) for note in line.loss)
        else []
    )
    notes += [
        Text(to_line(note), style=LABELS.get(label, "") if note in line.loss else "dim")
        for note in list_line_notes(record)
    ]
    cells = [
        Text("" if line.number is None else str(line.number)),
        Text(to_line(_remove_number(line.original, line.number)), style=style),
        Text(to_line(line.pubmed or ("" if is_text else "not translated")), style="" if line.pubmed else "bold red"),
        Text("\n").join(notes),
    ]
    if has_counts:
        cells.append(Text("" if is_text else _format_count(record) or "not counted"))
    return cells


def _remove_number(original: str, line_number: int | None) -> str:
    """Return a line without the number that another column has."""
    rest = original.strip().lstrip("#Ss").removeprefix(str(line_number)) if line_number is not None else original
    return rest.lstrip(".):\t ") if len(rest) < len(original.strip()) else original


def _summarize(result: "StrategyResult", has_counts: bool) -> list[Text]:
    kinds = [line.kind for line in result.lines]
    votes = {
        name: sum(line.dialect == name for line in result.lines) for name in {line.dialect for line in result.lines}
    }
    syntax_counts = ", ".join(f"{count} {name}" for name, count in sorted(votes.items(), key=str) if name)
    translated = sum(kind in ("search", "reference") for kind in kinds)
    others = ", ".join(
        f"{count:,} refused" if kind == "refused" else format_count(count, kind)
        for kind in ("refused", "comment", "header")
        if (count := sum(other == kind for other in kinds))
    )
    parts = f"{translated} translated{', ' if others else ''}{others}"
    lines = [f"{format_count(len(kinds), 'line')}: {parts}. Syntax: {syntax_counts}."]
    if result.query is None:
        lines.append(f"Line {result.final}, the last one, cannot be searched.")
    return [Text(line, style="bold") for line in lines]


# Findings

SEVERITIES: Final = {"error": "bold red", "warning": "bold yellow", "note": "dim"}


def write_finding(record: Record) -> str:
    """Return a finding as an item of a Markdown list."""
    place = f"Line {record['line']}" if record.get("line") is not None else "Strategy"
    fix = f" Write: {escape(record['fix'])}." if record.get("fix") else ""
    return f"- **{place}, {record['code']}** ({record['severity']}): {escape(record['message'])}{fix}\n"


def render_lint(result: "LintResult", console: Console) -> RenderableType:
    """Return a table of the findings by line, and their number."""
    has_fixes = any(finding.fix for finding in result.findings)
    last = [build_wrapped_column("Write", 1)] if has_fixes else []
    table = ListingTable(
        build_number_column("Line"), build_fixed_column("Code"), build_wrapped_column("Problem", 3), *last, expand=True
    )
    for finding in result.findings:
        table.add_row(
            "" if finding.line is None else str(finding.line),
            Text(finding.code, style=SEVERITIES[finding.severity]),
            Text(to_line(finding.message)),
            *([Text(to_line(finding.fix or ""))] if has_fixes else []),
        )
    notes = len(result.findings) - result.errors - result.warnings_found
    counts = {"line": result.lines, "error": result.errors, "warning": result.warnings_found, "note": notes}
    lines, *others = (format_count(count, name) for name, count in counts.items())
    summary = f"{lines}: {', '.join(others)}."
    return Group(table, Text(""), Text(summary, style="bold"))


# Recall


def write_known_record(record: Record) -> str:
    """Return a known record as an item of a Markdown list."""
    parts = [f"**{escape(record['input'])}**: {str(record['status']).replace('_', ' ')}"]
    if record.get("title"):
        parts.append(escape(record["title"]))
    if record.get("missed_by"):
        parts.append(f"not found by block {', '.join(map(str, record['missed_by']))}")
    if record.get("words"):
        parts.append(f"words that the strategy lacks: {escape(', '.join(record['words']))}")
    if record.get("change"):
        parts.append(escape(_describe_change(record["change"])))
    return f"- {'; '.join(parts)}\n"


def _describe_change(change: Record) -> str:
    parts = []
    if change.get("add"):
        parts.append(f"add {change['add']} to block {', '.join(map(str, change['to_blocks']))}")
    if change.get("remove_blocks"):
        parts.append(f"remove block {', '.join(map(str, change['remove_blocks']))}")
    return f"{' and '.join(parts)} ({format_count(change['added_records'], 'more record')})"


def render_recall(result: "RecallResult", console: Console) -> RenderableType:
    """Return the recall, a table of the blocks, and a table of the records that were not found."""
    share = "no record is in PubMed" if result.recall is None else f"{result.recall:.1%}"
    interval = (
        "" if result.low is None or result.high is None else f" (95% interval {result.low:.1%}-{result.high:.1%})"
    )
    head = Text(
        f"{result.found} of {format_count(result.in_pubmed, 'known record')} found: {share}{interval}", style="bold"
    )
    head.append(f"\nThe strategy finds {format_count(result.total_found, 'record')}.", style="")
    blocks = ListingTable(
        *(build_number_column("Block"), build_number_column("Line"), build_wrapped_column("Query", 3)),
        *(
            build_number_column("Known found"),
            build_number_column("Known without block"),
            build_number_column("All without block"),
        ),
        expand=True,
    )
    for block in result.blocks:
        blocks.add_row(
            *(str(block.block), "" if block.line is None else str(block.line)),
            Text(to_line(("NOT " if block.is_excluded else "") + block.query)),
            *(f"{block.known_found:,}", f"{block.known_found_without:,}", f"{block.records_without:,}"),
        )
    others = ListingTable(
        build_fixed_column("Record"),
        build_wrapped_column("Status", 1),
        build_wrapped_column("Title", 2),
        build_wrapped_column("Change", 2),
        expand=True,
    )
    for record in result.records:
        if record.status == "found":
            continue
        status = record.status.replace("_", " ")
        if record.missed_by:
            status += f" by block {', '.join(map(str, record.missed_by))}"
        change = "" if record.change is None else _describe_change(convert_to_data(record.change))
        others.add_row(to_line(record.input), status, Text(to_line(record.title or "")), Text(to_line(change)))
    extra = [others] if others.row_count else []
    return Group(head, Text(""), blocks, Text(""), *extra)
