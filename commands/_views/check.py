"""What a terminal shows of checked references."""

from typing import Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from entrez_kit.citations.check.operation import STATUSES, CheckedReference, CheckResult, InTextFinding

from .._formats.fields import as_data
from .tables import WIDE, Listing, article_link, fixed, warning_line, wrapped
from .text import STATUS_WORDS, findings, line

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


ORDER: Final[tuple[str, ...]] = (
    *("retracted", "concern", "another_work", "not_found", "ambiguous", "mismatch", "superseded", "duplicate"),
    *("unreadable", "unchecked", "verified"),
)
"""What somebody should look at first comes first."""


def in_text_line(finding: InTextFinding) -> str:
    """Return what is wrong with a call or an entry in a sentence."""
    place = f" ({finding.counts or 'line'} {finding.line})" if finding.line else ""
    if finding.kind == "never_called":
        return f"Entry {finding.call}{place} is never called in the text."
    around = f": {finding.text}" if finding.text else ""
    return f"The text calls {finding.call}{place}, and the list has no such entry{around}"


def check_table(result: CheckResult, console: Console) -> RenderableType:
    """Return every reference with its status and what is wrong with it, problems first, and how many there are of each.

    What is wrong in the text follows.
    """
    wide = console.width >= WIDE
    about = [wrapped("Reference", 1), fixed("PMID"), wrapped("Findings", 4)] if wide else ["Reference", "Findings"]
    table = Listing(fixed("Status"), *about, expand=wide)
    for reference in sorted(result.references, key=lambda one: ORDER.index(one.status)):
        word = "concern" if reference.status == "concern" else STATUS_WORDS.get(reference.status, reference.status)
        status = Text(word, style=STYLES[reference.status])
        pmid = article_link(reference.pmid, console) if reference.pmid else Text()
        key = Text(line(f"[{reference.number}] {reference.key}" if reference.number else reference.key))
        if wide:
            table.add_row(status, key, pmid, _findings(reference))
        else:
            table.add_row(status, Text("\n").join([key, pmid]) if pmid else key, _findings(reference))
    in_text = [Text(in_text_line(one), style="bold yellow") for one in result.in_text]
    return Group(
        table, Text(""), _summary(result), *in_text, *(warning_line(warning.message) for warning in result.warnings)
    )


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
