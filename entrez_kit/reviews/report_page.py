"""Write the report of a review as one HTML page that loads nothing else and prints on paper."""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.identifiers import PUBMED
from entrez_kit.reviews.draw_flow import clean, describe_flow, draw_flow
from entrez_kit.reviews.flow import Flow
from entrez_kit.reviews.folder import Review
from entrez_kit.reviews.journal import Run
from entrez_kit.reviews.prisma_s import PrismaItem, find_dates, find_last_search, find_platform, strip_number
from entrez_kit.reviews.records import ReviewRecord

FATES: Final[Mapping[str, str]] = {
    "excluded_automatic": "Removed before screening",
    "excluded_other": "Removed before screening",
    "awaiting_screening": "Awaiting screening",
    "records_excluded": "Excluded by title and abstract",
    "dbr_awaiting": "Awaiting full text",
    "dbr_notretrieved_reports": "Not retrieved",
    "dbr_excluded": "Excluded after full text",
    "dbr_included": "Included",
    "other_removed": "Removed before retrieval",
    "other_awaiting": "Awaiting full text",
    "other_notretrieved_reports": "Not retrieved",
    "other_excluded": "Excluded after full text",
    "other_included": "Included",
    "identified": "Not deduplicated",
    "duplicates": "Duplicate",
}
MAX_AUTHORS: Final = 6

_STYLE: Final = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; background: #fff; color: #111;
  font: 1rem/1.45 Arial, Helvetica, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .2rem 0 .4rem; }
h2 { font-size: 1.2rem; margin: 2rem 0 .6rem; border-bottom: 2px solid #bcd3ea; padding-bottom: .2rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
p { margin: .4rem 0; }
a { color: #0a4a8f; }
.note { color: #444; font-size: .9rem; }
.warning { border-left: .3rem solid #b00020; background: #fdecef; padding: .5rem .8rem; margin: .6rem 0; }
svg { display: block; max-width: 100%; height: auto; margin: 0 auto; }
.narrow { display: none; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .5rem; border-bottom: 1px solid #ccc; }
th { background: #eef3f9; }
.number { text-align: right; white-space: nowrap; }
code { font-family: Consolas, Menlo, monospace; font-size: .85rem; }
.open { color: #8a4b00; }
.retracted { color: #b00020; font-weight: bold; }
.controls { display: flex; flex-wrap: wrap; gap: .6rem; align-items: end; margin: .6rem 0; }
.controls label { display: flex; flex-direction: column; font-size: .85rem; flex: 1 1 14rem; }
input, select { font: inherit; padding: .4rem; border: 1px solid #666; border-radius: 3px; background: #fff;
  color: #111; width: 100%; }
:focus-visible { outline: 3px solid #0a4a8f; outline-offset: 1px; }
.title { font-weight: bold; }
summary { cursor: pointer; color: #444; }
@media (max-width: 40rem) {
  .wide { display: none; }
  .narrow { display: block; }
  .records thead, .lines thead { position: absolute; left: -10000px; }
  .records tr, .lines tr { display: block; border-bottom: 1px solid #999; padding: .4rem 0; }
  .records td, .lines td { display: block; border: 0; padding: .1rem 0; text-align: left; }
  .lines td:empty { display: none; }
  .lines td::before { content: attr(data-label) " "; color: #555; font-size: .8rem; }
}
@media print {
  @page { size: A4; margin: 15mm; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .controls, .hint { display: none; }
  .wide { display: block; }
  .narrow { display: none; }
  .diagram, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .wide { max-height: 235mm; }
  a { color: inherit; text-decoration: none; }
}
"""
_SCRIPT: Final = """
(function () {
  var box = document.getElementById("words"), fate = document.getElementById("fate");
  var rows = Array.prototype.slice.call(document.querySelectorAll("#records tbody tr"));
  var texts = rows.map(function (row) { return row.textContent.toLowerCase(); });
  var shown = document.getElementById("shown"), timer = 0;
  function show() {
    var words = box.value.toLowerCase().split(/\\s+/).filter(Boolean), count = 0;
    rows.forEach(function (row, number) {
      var fits = (!fate.value || row.getAttribute("data-fate") === fate.value) &&
        words.every(function (word) { return texts[number].indexOf(word) >= 0; });
      row.hidden = !fits;
      count += fits ? 1 : 0;
    });
    shown.textContent = count + " of " + rows.length + " works";
  }
  function later() { clearTimeout(timer); timer = setTimeout(show, 120); }
  box.addEventListener("input", later);
  fate.addEventListener("change", show);
  show();
})();
"""


def _compute_hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def write_page(
    review: Review, flow: Flow, items: Sequence[PrismaItem], works: Mapping[str, Sequence[ReviewRecord]]
) -> Iterator[str]:
    """Yield the page in parts."""
    title = review.settings.title or "Systematic review"
    policy = (
        f"default-src 'none'; style-src {_compute_hash(_STYLE)}; script-src {_compute_hash(_SCRIPT)}; base-uri 'none'; "
        "form-action 'none'"
    )
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{clean(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{clean(title)}</h1>\n"
    )
    yield from _write_head(review, works)
    yield '<h2 id="flow">PRISMA 2020 flow diagram</h2>\n<div class="diagram">\n'
    caption = f"PRISMA 2020 flow diagram of: {title}"
    yield draw_flow(flow, caption).replace("<svg ", '<svg class="wide" ', 1)
    yield draw_flow(flow, caption, narrow=True).replace("<svg ", '<svg class="narrow" ', 1)
    yield '</div>\n<details class="hint"><summary>The diagram as text</summary>\n<ul>\n'
    yield "".join(f"<li>{clean(text)}</li>\n" for text in describe_flow(flow))
    yield "</ul></details>\n"
    if any(count is None for count in flow.boxes.values()):
        yield '<p class="note">A box without a number has no decisions yet.</p>\n'
    yield from _write_sources(review, flow)
    yield from _write_searches(review)
    yield "<h2>PRISMA-S</h2>\n<table><thead><tr><th>Item</th><th>Report</th></tr></thead><tbody>\n"
    for item in items:
        mark = ' class="open"' if item.is_open else ""
        yield f"<tr><td>{item.number}. {clean(item.name)}</td><td{mark}>{clean(item.text)}</td></tr>\n"
    yield "</tbody></table>\n"
    yield from _write_records(review, flow, works)
    yield f"</main>\n<script>{_SCRIPT}</script>\n</body>\n</html>\n"


def _write_head(review: Review, works: Mapping[str, Sequence[ReviewRecord]]) -> Iterator[str]:
    settings = review.settings
    for text in (settings.authors, settings.registration and f"Registration: {settings.registration}"):
        if text:
            yield f"<p>{clean(text)}</p>\n"
    if review.runs:
        last = review.runs[-1]
        yield (
            f'<p class="note">State of {clean(last.finished)} (run {last.number}), entrez-kit {clean(last.version)}, '
            f"records {clean(last.records_sha256[:16])}</p>\n"
        )
    answered = sorted({run.answered_by for run in review.runs if run.answered_by and run.answered_by != "PubMed"})
    for text in answered:
        yield f'<p class="warning">The search was answered by: {clean(text)}.</p>\n'
    for warning in review.warnings:
        yield f'<p class="warning">{clean(warning.message)}</p>\n'
    retracted = [group for group in works.values() if any(_is_retracted(record) for record in group)]
    if retracted:
        works_are = format_count(len(retracted), "of the works is", "of the works are")
        yield f'<p class="warning">{works_are} retracted.</p>\n'


def _is_retracted(record: ReviewRecord) -> bool:
    return record.standing is not None and record.standing.status in ("retracted", "withdrawn", "partially_retracted")


def _write_sources(review: Review, flow: Flow) -> Iterator[str]:
    yield '<h2>Sources</h2>\n<table class="lines"><thead><tr><th>Source</th><th>Platform</th><th>Searched</th>'
    yield '<th class="number">Records</th><th class="number">Works</th></tr></thead><tbody>\n'
    for source in flow.sources:
        works = "" if source.works is None else f"{source.works:,}"
        yield (
            f'<tr><td data-label="Source">{clean(source.source)}</td>'
            f'<td data-label="Platform">{clean(find_platform(review, source.source))}</td>'
            f'<td data-label="Searched">{clean(", ".join(find_dates(review, source.source)))}</td>'
            f'<td class="number" data-label="Records">{source.records:,}</td>'
            f'<td class="number" data-label="Works">{works}</td></tr>\n'
        )
    yield (
        '</tbody></table>\n<p class="note">Each work is counted for the source of the record that represents it, '
        "so that works add up.</p>\n"
    )


def _write_searches(review: Review) -> Iterator[str]:
    searches = [run for run in review.runs if run.search is not None]
    if not searches:
        return
    yield "<h2>Search of PubMed</h2>\n"
    yield from _write_search(find_last_search(review) or searches[-1])
    updates = [run for run in searches if run.step == "update"]
    if updates:
        yield "<h3>Updates</h3>\n<table><thead><tr><th>Run</th><th>Searched</th><th>Changes</th></tr></thead><tbody>\n"
        for run in updates:
            numbers = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in run.counts.items())
            day = run.search.certificate.searched_at if run.search is not None else run.finished
            yield f"<tr><td>{run.number}</td><td>{clean(day)}</td><td>{clean(numbers or 'none')}</td></tr>\n"
        yield "</tbody></table>\n"


def _write_search(run: Run) -> Iterator[str]:
    search = run.search
    assert search is not None
    certificate = search.certificate
    yield (
        f"<p>Run {run.number}, {clean(certificate.searched_at)}: {certificate.retrieved:,} of "
        f"{format_count(certificate.count, 'record')} retrieved, {certificate.missing:,} missing. "
        f"Strategy: <code>{clean(search.strategy.name)}</code> "
        f"({clean(search.dialect)}).</p>\n"
    )
    yield '<table class="lines"><thead><tr><th>Line</th><th>Strategy</th><th>PubMed</th><th class="number">Records</th>'
    yield "</tr></thead><tbody>\n"
    for line in search.lines:
        if not line.original.strip():
            continue
        count = "" if line.count is None else f"{line.count:,}"
        loss = f'<br><span class="note">{clean("; ".join(line.loss))}</span>' if line.loss else ""
        number = "" if line.number is None else str(line.number)
        yield (
            f'<tr><td data-label="Line">{number}</td>'
            f'<td data-label="Strategy"><code>{clean(strip_number(line.original, line.number))}</code></td>'
            f'<td data-label="PubMed"><code>{clean(line.pubmed or "")}</code>{loss}</td>'
            f'<td class="number" data-label="Records">{count}</td></tr>\n'
        )
    yield "</tbody></table>\n"
    for warning in run.warnings:
        yield f'<p class="note">Warning: {clean(warning.message)}</p>\n'


def _write_records(review: Review, flow: Flow, works: Mapping[str, Sequence[ReviewRecord]]) -> Iterator[str]:
    reasons = {decision.id: decision.reason for decision in review.decisions if decision.reason}
    fates = {work: FATES[flow.find_fate(work)] for work in works}
    yield '<h2 id="works">Works</h2>\n<div class="controls">\n'
    yield '<label>Search in all fields <input id="words" type="search" autocomplete="off"></label>\n'
    yield '<label>Decision <select id="fate"><option value="">all</option>'
    yield "".join(f"<option>{clean(fate)}</option>" for fate in sorted(set(fates.values())))
    yield '</select></label>\n</div>\n<p class="note" id="shown" role="status" aria-live="polite">'
    yield f"{format_count(len(works), 'work')}</p>\n"
    yield '<table class="records" id="records"><thead><tr><th>Work</th><th>Sources</th><th>Decision</th></tr></thead>'
    yield "<tbody>\n"
    for work, group in works.items():
        yield _write_work(
            group, fates[work], next((reasons[record.id] for record in group if record.id in reasons), "")
        )
    yield "</tbody></table>\n"


def _write_work(group: Sequence[ReviewRecord], fate: str, reason: str) -> str:
    record = group[0]
    authors = record.authors[:MAX_AUTHORS] + (["et al."] if len(record.authors) > MAX_AUTHORS else [])
    place = " ".join(filter(None, (record.journal, record.year)))
    links = []
    pmid = next((record.pmid for record in group if record.pmid), None)
    doi = next((record.doi for record in group if record.doi), None)
    if pmid:
        links.append(f'<a href="{PUBMED}{quote(pmid)}/">PMID {clean(pmid)}</a>')
    if doi:
        links.append(f'<a href="https://doi.org/{quote(doi)}">doi:{clean(doi)}</a>')
    links.append(f"<code>{clean(record.id)}</code>")
    standing = next((record.standing for record in group if record.standing is not None), None)
    mark = f'<br><span class="retracted">{clean(standing.label)}</span>' if standing is not None else ""
    gone = (
        f'<br><span class="note">No longer found: {record.gone.reason.replace("_", " ")}</span>' if record.gone else ""
    )
    detail = f'<br><span class="note">{clean(reason)}</span>' if reason else ""
    sources = ", ".join(sorted({record.source for record in group}))
    return (
        f'<tr data-fate="{clean(fate)}"><td><span class="title">{clean(record.title)}</span><br>'
        f"{clean('; '.join(authors))}<br>{clean(place)}<br>{' '.join(links)}{mark}{gone}</td>"
        f"<td>{clean(sources)}</td><td>{clean(fate)}{detail}</td></tr>\n"
    )
