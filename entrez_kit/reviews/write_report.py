"""Write the report of a review: a page, the flow diagram, PRISMA-S, and the appendix with the strategies."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from typing import ClassVar, Final

from entrez_kit.base.errors import EntrezKitError, InvalidInput, NotConfigured, StoreError
from entrez_kit.base.frontend_text import FrontendText, format_count, suggest_command
from entrez_kit.base.ro_crate import CRATE
from entrez_kit.citations.pandoc import convert_markdown
from entrez_kit.core.model import Warn, Warned
from entrez_kit.core.operation import DocumentOperation
from entrez_kit.reviews.dedupe_records import list_works
from entrez_kit.reviews.draw_flow import draw_flow
from entrez_kit.reviews.flow import MAX_NAMED, Flow
from entrez_kit.reviews.folder import Review, describe_files, open_review, replace_files
from entrez_kit.reviews.journal import Run
from entrez_kit.reviews.output_files import write_output
from entrez_kit.reviews.prisma_s import (
    PrismaItem,
    find_dates,
    find_last_search,
    find_platform,
    list_items,
    strip_number,
)
from entrez_kit.reviews.report_page import write_page
from entrez_kit.reviews.review_settings import SOURCE, SourceSettings
from entrez_kit.reviews.search_review import ReviewRequest
from entrez_kit.reviews.show_status import compute_flow
from entrez_kit.services import Services

FOLDER: Final = "report"


class ReportResult(Warned):
    """The report: the boxes of the flow diagram, the items of PRISMA-S, and the written files."""

    RECORDS: ClassVar = "prisma_s"

    flow: Flow
    prisma_s: list[PrismaItem]
    files: list[str]


def write_report(_: Services, request: ReviewRequest) -> ReportResult:
    """Write the report of a review to the folder ``report``; the same review gives the same page and diagram.

    ``ro-crate-metadata.json`` describes all files and runs of the folder.

    Raises:
        InvalidInput: decisions contradict each other, or the review has no records.
        InvariantFailure: boxes do not add up.
        StoreError: the files cannot be written.
    """
    with open_review(request.folder) as review:
        if not review.records:
            raise InvalidInput(
                "The review has no records.",
                invalid_input=request.folder,
                recovery_hint=FrontendText(
                    suggest_command("review search", "Run its strategy"),
                    " or import the results of other databases first.",
                ),
                details={"reason": "no_records"},
            )
        flow = compute_flow(review)
        items = list_items(review, flow)
        works = list_works(sorted(review.records, key=lambda record: (record.title.casefold(), record.id)))
        title = review.settings.title or "Systematic review"
        appendix = "".join(_write_appendix(review, title))
        files: dict[str, bytes] = {
            "report.html": "".join(write_page(review, flow, items, works)).encode(),
            "flow.svg": draw_flow(flow, f"PRISMA 2020 flow diagram of: {title}").encode(),
            "flow.csv": _write_boxes(flow).encode(),
            "appendix.md": appendix.encode(),
        }
        warnings = [*review.warnings, *_warn_of_renamed_reasons(flow)]
        try:
            files["appendix.docx"] = convert_markdown(appendix, "docx", "Search strategies")
        except NotConfigured as exc:
            warnings.append(Warn(code="no_docx", message=f"appendix.docx was not written: {_describe_error(exc)}"))
        for name, content in files.items():
            write_output(review.folder, f"{FOLDER}/{name}", content)
        replace_files(review.folder, {CRATE: describe_files(review, {})})
    written = [*(f"{FOLDER}/{name}" for name in sorted(files)), CRATE]
    return ReportResult(flow=flow, prisma_s=items, files=written, warnings=warnings)


def _describe_error(exc: EntrezKitError) -> str:
    return f"{exc.message} {exc.recovery_hint or ''}".strip()


def _write_boxes(flow: Flow) -> str:
    """Return the boxes as a table with the names that the R package PRISMA2020 uses."""
    target = io.StringIO(newline="")
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(("data", "n"))
    reasons = {"dbr_excluded": flow.reasons, "other_excluded": flow.other_reasons}
    for name, count in flow.boxes.items():
        counts = Counter[str]()
        for reason, number in reasons.get(name, {}).items():
            counts[_name_reason(reason)] += number
        listed = "; ".join(f"{reason}, {number}" for reason, number in counts.items())
        writer.writerow((name, listed or ("" if count is None else count)))
    return target.getvalue()


def _name_reason(reason: str) -> str:
    """Return a reason for flow.csv, in which a comma ends a reason and a semicolon separates reasons."""
    return " / ".join(part for text in re.split("[,;]", reason) if (part := " ".join(text.split())))


def _warn_of_renamed_reasons(flow: Flow) -> Iterator[Warn]:
    """Yield a warning about the reasons that flow.csv writes with slashes."""
    reasons = [reason for reason in {**flow.reasons, **flow.other_reasons} if re.search("[,;]", reason)]
    if reasons:
        message = (
            f"flow.csv writes / in place of the commas and semicolons of {format_count(len(reasons), 'reason')}, "
            f"because they separate reasons there: {'; '.join(map(_name_reason, reasons[:MAX_NAMED]))}."
        )
        yield Warn(code="reasons_renamed", message=message)


_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]<>#+\-!|~$^&@\"'])")


def _escape(text: str) -> str:
    """Return a text that Markdown prints as it is."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def _write_appendix(review: Review, title: str) -> Iterator[str]:
    """Yield the strategies in Markdown, as a journal prints them: line numbers, lines and numbers of records."""
    yield f"# Appendix. Search strategies\n\n{_escape(title)}\n\n"
    last = find_last_search(review)
    if last is not None:
        yield from _write_search(review, last)
    for name, settings in sorted(review.settings.sources.items()):
        yield from _write_source(review, name, settings)


def _write_search(review: Review, run: Run) -> Iterator[str]:
    """Yield the search of PubMed: its facts, its lines, and their translation."""
    search = run.search
    assert search is not None
    dates = ", ".join(find_dates(review, SOURCE))
    yield f"## {SOURCE}\n\nPlatform: {find_platform(review, SOURCE)}. Searched: {dates}. "
    yield f"Records: {search.certificate.count:,}. Strategy written for: {search.dialect}.\n\n"
    if run.answered_by and run.answered_by != SOURCE:
        yield f"Answered by: {_escape(run.answered_by)}.\n\n"
    if review.settings.pubmed.limits:
        yield f"Limits: {_escape(review.settings.pubmed.limits)}\n\n"
    yield "| \\# | Search | Results |\n|---:|:---|---:|\n"
    for line in search.lines:
        if line.original.strip():
            count = "" if line.count is None else f"{line.count:,}"
            yield f"| {line.number or ''} | {_escape(strip_number(line.original, line.number))} | {count} |\n"
    if search.dialect != "pubmed":
        yield "\n### Lines as run in PubMed\n\n"
        yield "| \\# | PubMed | Difference |\n|---:|:---|:---|\n"
        for line in search.lines:
            if line.pubmed is not None:
                loss = "; ".join(line.loss) or line.label or ""
                yield f"| {line.number or ''} | {_escape(line.pubmed)} | {_escape(loss)} |\n"
    yield f"\nTranslation by PubMed: {_escape(search.query_translation)}\n\n"


def _write_source(review: Review, name: str, settings: SourceSettings) -> Iterator[str]:
    """Yield another source: its facts, and the strategy that was run there."""
    facts = [("Platform", find_platform(review, name)), ("Searched", ", ".join(find_dates(review, name)))]
    facts += [("Limits", settings.limits), ("Filters", settings.filters)]
    text = " ".join(f"{label}: {_escape(value)}." for label, value in facts if value)
    if text or settings.strategy:
        yield f"## {_escape(name)}\n\n{text}\n\n"
    strategy = review.read_file(settings.strategy) if settings.strategy else None
    if strategy is not None:
        yield "".join(f"    {line}\n" for line in strategy.splitlines()) + "\n"
    elif settings.strategy:
        yield f"The file {_escape(settings.strategy)} does not exist.\n\n"


WRITE_REPORT: Final = DocumentOperation(
    name="review_report",
    request=ReviewRequest,
    result=ReportResult,
    function=write_report,
    command=("review", "report"),
    toolset="review",
    title="Report a review",
    errors=(StoreError,),
    read_only=False,
)
