"""Tables of checked references, of claims and of the works in a corpus."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.identifiers import PUBMED
from entrez_kit.pubmed.models import WORDS

from .._formats.fields import Record, convert_to_data
from .markdown import escape, write_status
from .tables import (
    NARROW,
    WIDE,
    ListingTable,
    add_links,
    build_article_link,
    build_fixed_column,
    build_key_column,
    build_number_column,
    build_wrapped_column,
)
from .text import STATUS_WORDS, build_page_address, list_findings, to_line

if TYPE_CHECKING:
    from entrez_kit.references.audit import AuditResult
    from entrez_kit.references.check.check_result import CheckedReference, CheckResult, InTextFinding
    from entrez_kit.references.claims.claim_results import VerifyResult

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
    "found": "green",
    "altered": "bold yellow",
    "out_of_context": "bold red",
    "elsewhere": "bold yellow",
    "not_in_text": "bold red",
    "no_text_available": "bold magenta",
    "invalid": "bold magenta",
}


def _format_counts(counts: Mapping[str, int], total: int, wanted: str) -> Text:
    """Return the number of items with the wanted status, and the number with each other status."""
    text = Text(f"{counts[wanted]:,} of {total:,} {wanted}", style="bold")
    for status, count in counts.items():
        if count and status != wanted:
            text.append(", ").append(f"{count:,} {STATUS_WORDS.get(status, status)}", style=STYLES[status])
    return text


# References


def sort_by_severity(references: "Iterable[CheckedReference]") -> "list[CheckedReference]":
    """Sort references by severity, the gravest status first and verified ones last."""
    from entrez_kit.references.check.findings import STATUSES

    return sorted(references, key=lambda reference: (reference.status == "verified", STATUSES.index(reference.status)))


def list_in_text_lines(result: "CheckResult") -> list[str]:
    """Return a sentence for each citation without an entry, one for all uncited entries, and one for the order.

    Sentences about one of several files begin with its name.
    """
    return [
        f"{file}: {sentence}" if file else sentence
        for file in dict.fromkeys(finding.file for finding in result.in_text)
        for sentence in _describe_calls([finding for finding in result.in_text if finding.file == file])
    ]


def _describe_calls(findings: "Sequence[InTextFinding]") -> Iterator[str]:
    for finding in findings:
        if finding.kind == "no_entry":
            around = (
                f": {finding.text}" if finding.text and finding.text.strip("[@]") != finding.call.strip("@") else "."
            )
            yield f"The text cites {_name_call(finding)}, which is not in the list of references{around}"
    never = [_name_call(finding) for finding in findings if finding.kind == "never_called"]
    if len(never) == 1:
        yield f"Entry {never[0]} is never cited in the text."
    elif never:
        yield f"{format_count(len(never), 'entry is', 'entries are')} never cited in the text: {'; '.join(never)}."
    if moved := [_name_call(finding) for finding in findings if finding.kind == "out_of_order"]:
        yield f"The first citations of these numbers are not in ascending order: {'; '.join(moved)}."


def _name_call(finding: "InTextFinding") -> str:
    return f"{finding.call} ({finding.counts or 'line'} {finding.line})" if finding.line else finding.call


def render_check(result: "CheckResult", console: Console) -> RenderableType:
    """Return a table of the references with their status and findings, and the counts of each status.

    Problems come first. The findings about in-text citations follow the table.
    """
    wide, narrow = console.width >= WIDE, console.width < NARROW
    about = [build_key_column("Reference", 1), build_fixed_column("PMID"), build_wrapped_column("Findings", 4)]
    columns = about if wide or narrow else [build_key_column("Reference"), build_wrapped_column("Findings")]
    table = ListingTable(build_fixed_column("Status"), *columns, expand=wide, stacks=True)
    for reference in sort_by_severity(result.references):
        word = "concern" if reference.status == "concern" else STATUS_WORDS.get(reference.status, reference.status)
        status = Text(word, style=STYLES[reference.status])
        pmid = build_article_link(reference.pmid, console) if reference.pmid else Text()
        key = Text(to_line(f"[{reference.number}] {reference.key}" if reference.number else reference.key))
        if reference.file:
            key.append("\n").append(to_line(reference.file), style="dim")
        described = add_links(_format_findings(reference), console)
        if wide or narrow:
            table.add_row(status, key, pmid, described)
        else:
            table.add_row(status, Text("\n").join([key, pmid]) if pmid else key, described)
    in_text = [Text(line, style="bold yellow") for line in list_in_text_lines(result)]
    counts = [_summarize(file.counts, file.total, file.accepted, f"{file.file}:") for file in result.files]
    counts.append(_summarize(result.counts, result.total, result.accepted, "Together:" if counts else ""))
    return Group(table, Text(""), *counts, *in_text)


def _summarize(counts: Mapping[str, int], total: int, accepted: int, name: str) -> Text:
    text = Text(f"{to_line(name)} " if name else "", style="bold") + _format_counts(counts, total, "verified")
    return text.append(f" ({accepted:,} accepted)", style="dim") if accepted else text


def _format_findings(reference: "CheckedReference") -> Text:
    lines = [Text(to_line(text)) for text in list_findings(convert_to_data(reference))]
    if reference.findings and not reference.is_open:
        lines.append(Text("accepted", style="dim"))
    if reference.candidate_pmids:
        lines.append(
            Text(f"candidates: {', '.join(f'PMID {pmid}' for pmid in reference.candidate_pmids)}", style="dim")
        )
    if not lines and reference.title:
        lines.append(Text(to_line(reference.title), style="dim"))
    return Text("\n").join(lines)


def write_report(result: "CheckResult") -> Iterator[str]:
    """Yield a report: counts by status, findings in the text, and each reference, the most serious first."""
    counts = (f"{number} {STATUS_WORDS.get(status, status)}" for status, number in result.counts.items() if number)
    yield f"# References: {result.counts['verified']} of {result.total} verified\n\n{', '.join(counts)}.\n"
    if result.accepted:
        yield f"{format_count(result.accepted, 'reference')} with accepted findings only.\n"
    if result.files:
        rows = (f"| {escape(file.file)} | {file.total} | {file.counts['verified']} |\n" for file in result.files)
        yield "| file | references | verified |\n|---|---:|---:|\n" + "".join(rows)
    if result.in_text:
        yield "## In the text\n\n" + "".join(f"- {escape(line)}\n" for line in list_in_text_lines(result))
    if result.warnings:
        yield "## Warnings\n\n" + "".join(f"- {escape(warning.message)}\n" for warning in result.warnings)
    yield "## Each reference\n"
    for reference in sort_by_severity(result.references):
        yield write_reference(convert_to_data(reference))


_BANNERS: Final = frozenset(("retracted", "concern", "another_work", "not_found"))
"""Statuses that are emphasized on a page."""


def write_reference(record: Record) -> str:
    """Return a reference in Markdown: its status and findings."""
    number = f"[{record['number']}]" if record.get("number") else ""
    file = f"{record['file']}:" if record.get("file") else ""
    subject = " ".join(escape(text) for text in (file, number, record["key"], record.get("title") or "") if text)
    codes = [finding["code"] for finding in record["findings"]]
    lines = [escape(finding) for finding in list_findings(record)]
    if record.get("pmid"):
        lines.append(f"[PMID {record['pmid']}](<{build_page_address(PUBMED, record['pmid'])}>)")
    return write_status(record["status"], subject, lines, grave=not _BANNERS.isdisjoint(codes))


# Claims


def render_claims(result: "VerifyResult", console: Console) -> RenderableType:
    """Return a table of the claims with their status, place and differences. Problems come first."""
    about = (build_wrapped_column("Claim", 1), build_wrapped_column("Findings", 1))
    table = ListingTable(
        build_number_column("Line"), build_fixed_column("Status"), *about, expand=console.width >= WIDE, stacks=True
    )
    for claim in sorted(result.claims, key=lambda claim: claim.status == "found"):
        lines = [Text(to_line(text)) for text in list_claim_findings(convert_to_data(claim))]
        table.add_row(
            str(claim.line or ""),
            Text(STATUS_WORDS.get(claim.status, claim.status), style=STYLES[claim.status]),
            Text(to_line(claim.claim)),
            add_links(Text("\n").join(lines), console),
        )
    return Group(table, Text(""), _format_counts(result.counts, result.total, "found"))


def list_claim_findings(record: Record) -> Iterator[str]:
    """Yield the findings about a claim: its place, the differences, the source sentence and the unavailable texts."""
    place = record.get("place") or record.get("nearest")
    if place:
        where = f"{place['section']}, paragraph {place['paragraph']}" if place.get("section") else place["source"]
        who = f"PMID {place['pmid']}" if place.get("pmid") else place["id"]
        near = "" if record.get("place") else "nearest sentence: "
        yield f"{near}{who}: {where.replace('_', ' ')}, characters {place['start']}-{place['end']}"
    for difference in record.get("differences") or ():
        claimed, found = (f"{text!r}" if text else "nothing" for text in (difference["claimed"], difference["found"]))
        yield f"{difference['kind']}: {claimed} in the claim, {found} in the sentence"
    if place:
        yield f"sentence: {place['sentence']}"
    if record.get("detail"):
        yield record["detail"]
    for missing in record.get("unavailable") or ():
        tiers = "; ".join(
            f"{tried['tier']}: {tried.get('detail') or tried['outcome']}" for tried in missing["tried_tiers"]
        )
        yield f"{missing['id']} has no full text ({tiers})"
    if record.get("standing"):
        yield f"cited article: {WORDS[record['standing']['status']].upper()}"


def write_claim(record: Record) -> str:
    """Return a claim in Markdown with its status and findings."""
    lines = [escape(text) for text in list_claim_findings(record) if text]
    return write_status(record["status"], escape(record["claim"]), lines, grave=record["status"] != "found")


# Works of a corpus

_AUDIT_STYLES: Final = {"none": "green", "unknown": "bold magenta"}


def render_audit(result: "AuditResult", console: Console) -> RenderableType:
    """Return a table of the works with findings, the gravest first, and the counts of each status."""
    from entrez_kit.references.audit import DOUBTFUL

    wide = console.width >= WIDE
    # The longest status is too wide for a narrow terminal.
    status_column = build_fixed_column("Status") if wide else build_wrapped_column("Status")
    table = ListingTable(
        status_column,
        build_fixed_column("PMID"),
        build_wrapped_column("Title", 1),
        build_wrapped_column("Findings", 1),
        expand=wide,
    )
    for work in sorted(result.works, key=lambda work: work.status not in DOUBTFUL):
        style = _AUDIT_STYLES.get(work.status, "bold red" if work.status in DOUBTFUL else "bold yellow")
        table.add_row(
            Text(_name_status(work.status), style=style),
            Text(work.pmid, style="cyan"),
            Text(to_line(work.title or "")),
            Text("\n").join(Text(to_line(finding.message)) for finding in work.findings if finding.code != work.status),
        )
    text = Text(f"{result.clear:,} of {result.total:,} without findings", style="bold")
    for status, count in result.counts.items():
        if status != "none":
            text.append(f", {count:,} {_name_status(status).lower()}")
    if result.citing:
        text.append(f", {result.citing:,} citing retracted or questioned works", style="bold red")
    parts: list[RenderableType] = [table, Text("")] if result.works else []
    return Group(*parts, text)


def _name_status(status: str) -> str:
    return {**WORDS, "none": "No notice"}.get(status, status)
