"""What a terminal and a page show of claims that were looked up in what they cite."""

from collections.abc import Iterator
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from entrez_kit.claims.models import STATUSES, VerifyResult
from entrez_kit.pubmed.standing import WORDS as WORDS_OF_STANDING

from .._formats.fields import Record, as_data
from .markdown import escaped
from .tables import WIDE, Listing, fixed, number, warning_line, wrapped
from .text import line

STYLES: Final = {
    "found": "green",
    "altered": "bold yellow",
    "elsewhere": "bold yellow",
    "not_in_text": "bold red",
    "no_text_available": "bold magenta",
    "unchecked": "dim",
    "invalid": "bold magenta",
}
WORDS: Final = {"not_in_text": "not in the text", "no_text_available": "no text"}


def claims_table(result: VerifyResult, console: Console) -> RenderableType:
    """Return every claim with its status, where it stands and what differs; those to look at first."""
    about = (wrapped("Claim", 1), wrapped("Findings", 1))
    table = Listing(number("Line"), fixed("Status"), *about, expand=console.width >= WIDE)
    for claim in sorted(result.claims, key=lambda claim: claim.status == "found"):
        told = [Text(line(text)) for text in findings(as_data(claim))]
        table.add_row(
            str(claim.line or ""),
            Text(WORDS.get(claim.status, claim.status), style=STYLES[claim.status]),
            Text(line(claim.claim)),
            Text("\n").join(told),
        )
    text = Text(f"{result.counts['found']:,} of {result.total:,} found", style="bold")
    for status in STATUSES[1:]:
        if count := result.counts[status]:
            text.append(", ").append(f"{count:,} {WORDS.get(status, status)}", style=STYLES[status])
    return Group(table, Text(""), text, *(warning_line(warning.message) for warning in result.warnings))


def findings(record: Record) -> Iterator[str]:
    """Yield what there is to say about a claim: where it stands, what differs, what could not be read."""
    place = record.get("place")
    if place:
        where = f"{place['section']}, paragraph {place['paragraph']}" if place.get("section") else place["source"]
        who = f"PMID {place['pmid']}" if place.get("pmid") else place["id"]
        yield f"{who}: {where.replace('_', ' ')}, {place['start']}-{place['end']}"
    for one in record.get("differences") or ():
        claimed, found = (f"{text!r}" if text else "nothing" for text in (one["claimed"], one["found"]))
        yield f"{one['kind']}: {claimed} here, {found} there"
    if record["status"] == "altered":
        yield f"there: {place['passage']}" if place else ""
    if record.get("detail"):
        yield record["detail"]
    for missing in record.get("unavailable") or ():
        tiers = "; ".join(
            f"{tried['tier']}: {tried.get('detail') or tried['outcome']}" for tried in missing["tried_tiers"]
        )
        yield f"{missing['id']} has no full text ({tiers})"
    if record.get("standing"):
        yield f"the cited article: {WORDS_OF_STANDING[record['standing']['status']].upper()}"


def claim_page(record: Record) -> str:
    """Return a claim in Markdown: its status, and what is said about it."""
    status = str(WORDS.get(record["status"], record["status"]))
    marked = f"**{status.upper() if record['status'] != 'found' else status}** {escaped(record['claim'])}\n"
    if record["status"] != "found":
        marked = f"> {marked}"
    return marked + "".join(f"\n- {escaped(text)}" for text in findings(record) if text) + "\n"
