"""What a terminal shows of an audited corpus."""

from rich.console import Console, Group, RenderableType
from rich.text import Text

from entrez_kit.audit import DOUBTFUL, AuditedWork, AuditResult
from entrez_kit.pubmed.standing import WORDS

from .tables import WIDE, Listing, fixed, warning_line, wrapped
from .text import line

STYLES = {"none": "green", "unknown": "bold magenta"}


def audit_table(result: AuditResult, console: Console) -> RenderableType:
    """Return the works that something is to be said about, the gravest first, and the counts of all."""
    wide = console.width >= WIDE
    stands = fixed("Stands") if wide else wrapped("Stands")  # beside its longest words a narrow one has no room
    table = Listing(stands, fixed("PMID"), wrapped("Title", 1), wrapped("Findings", 1), expand=wide)
    for work in sorted(result.works, key=lambda work: work.status not in DOUBTFUL):
        style = STYLES.get(work.status, "bold red" if work.status in DOUBTFUL else "bold yellow")
        table.add_row(
            Text(_words(work.status), style=style),
            Text(work.pmid, style="cyan"),
            Text(line(work.title or "")),
            Text("\n").join(_findings(work)),
        )
    text = Text(f"{result.clear:,} of {result.total:,} with nothing to say", style="bold")
    for status, count in result.counts.items():
        if status != "none":
            text.append(f", {count:,} {_words(status).lower()}")
    if result.citing:
        text.append(f", {result.citing:,} citing retracted or doubted works", style="bold red")
    shown: list[RenderableType] = [table, Text("")] if result.works else []
    return Group(*shown, text, *(warning_line(warning.message) for warning in result.warnings))


def _words(status: str) -> str:
    return {**WORDS, "none": "stands"}.get(status, status)


def _findings(work: AuditedWork) -> list[Text]:
    told = [f"{_words(one.standing.status)}: cites PMID {one.pmid} {one.title or ''}".strip() for one in work.cites]
    told += [text for text in (work.disagreement, work.unread) if text]
    told += [f"{one.source}: {one.detail or 'no answer'}" for one in work.sources if one.says == "failed"]
    return [Text(line(text)) for text in told]
