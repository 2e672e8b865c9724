"""What a terminal shows of checked references."""

from typing import Final

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from entrez_kit.citations.check.operation import STATUSES, CheckedReference, CheckResult

from .._console import links_shown
from .._formats.fields import as_data
from .tables import WIDE, warning_line
from .text import PUBMED, STATUS_WORDS, findings, line, page_address

STYLES: Final = {
    "verified": "green",
    "mismatch": "bold yellow",
    "another_work": "bold red",
    "retracted": "bold white on red",
    "concern": "bold black on yellow",
    "superseded": "bold yellow",
    "duplicate": "bold yellow",
    "not_found": "bold red",
    "ambiguous": "bold magenta",
    "unreadable": "bold magenta",
    "unchecked": "dim",
}


def check_table(result: CheckResult, console: Console) -> RenderableType:
    """Return every reference with its status and what is wrong with it, and how many there are of each."""
    wide = console.width >= WIDE
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1), expand=wide)
    table.add_column("Status", no_wrap=True)
    table.add_column("Reference", overflow="fold", ratio=1 if wide else None)
    if wide:
        table.add_column("PMID", no_wrap=True)
    table.add_column("Findings", overflow="fold", ratio=4 if wide else None)
    for reference in result.references:
        word = "concern" if reference.status == "concern" else STATUS_WORDS.get(reference.status, reference.status)
        status = Text(word, style=STYLES[reference.status])
        pmid = _pmid(reference, console)
        key = Text(line(reference.key))
        if wide:
            table.add_row(status, key, pmid, _findings(reference))
        else:
            table.add_row(status, Text("\n").join([key, pmid]) if pmid else key, _findings(reference))
    return Group(table, Text(""), _summary(result), *(warning_line(warning.message) for warning in result.warnings))


def _pmid(reference: CheckedReference, console: Console) -> Text:
    if reference.pmid is None:
        return Text()
    link = f" link {page_address(PUBMED, reference.pmid)}" if links_shown(console) else ""
    return Text(reference.pmid, style=f"cyan{link}")


def _findings(reference: CheckedReference) -> Text:
    lines = [Text(line(text)) for text in findings(as_data(reference))]
    if reference.candidate_pmids:
        lines.append(Text(f"candidates: {' '.join(reference.candidate_pmids)}", style="dim"))
    if not lines and reference.title:
        lines.append(Text(line(reference.title), style="dim"))
    return Text("\n").join(lines)


def _summary(result: CheckResult) -> Text:
    text = Text(f"{result.counts['verified']:,} of {result.total:,} verified", style="bold")
    for status in STATUSES[1:]:
        if count := result.counts[status]:
            text.append(", ")
            text.append(f"{count:,} {STATUS_WORDS.get(status, status)}", style=STYLES[status])
    return text
