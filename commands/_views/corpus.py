"""Pages about the corpus."""

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from entrez_kit.base.extras import install_line
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.identifiers import PMC, PUBMED
from entrez_kit.corpus.indexing import Reindexed
from entrez_kit.corpus.models import CheckpointGetResult, CheckpointSetResult, SyncPlan, SyncResult
from entrez_kit.corpus.rag_get import RagDocument
from entrez_kit.corpus.search.rag_search import RagSearchResult
from entrez_kit.corpus.store.checkpoints import CheckpointLog
from entrez_kit.corpus.store.corpus_stats import MIN_GRAPH_VECTORS, CorpusList, CorpusStats
from entrez_kit.corpus.store.differences import CorpusDiff, Difference

from .._formats.fields import convert_to_data
from .articles import format_title
from .tables import (
    WIDE,
    ListingTable,
    build_article_link,
    build_fact_list,
    build_fixed_column,
    build_number_column,
    build_wrapped_column,
)
from .text import build_page_address, to_line

if TYPE_CHECKING:
    from entrez_kit.corpus.store.store import Store
    from entrez_kit.corpus.weaviate.delivery import Delivered

SNIPPET: Final = 280
"""Characters of a passage that a table shows."""
CHANGES: Final = {"added": "green", "revised": "yellow", "retracted": "bold white on red", "deleted": "red"}
ENDINGS: Final = {"complete": "green", "running": "cyan", "partial": "yellow", "interrupted": "yellow", "failed": "red"}
_FIELDS: Final = {
    "pub_types": "publication types",
    "pdat": "date of publication",
    "pmcid": "PMCID",
    "retraction_status": "retraction status",
    "lr": "NLM's date of revision",
}
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+(?=[^a-z])")


# Syncing


def render_sync(result: SyncResult, console: Console, *, query_key: str, is_new: bool = False) -> RenderableType:
    """Return the counts of a sync.

    For a new key, the skipped records are those that another key has already stored.
    """
    checked = format_count(result.pmids_processed, "record")
    parts: list[RenderableType] = [
        Text.assemble(
            (f"{to_line(query_key)}: ", "bold"),
            (f"{result.inserted:,} new", "bold green" if result.inserted else ""),
            ", ",
            (f"{result.updated:,} updated", "bold yellow" if result.updated else ""),
            f", {result.skipped:,} {'already stored' if is_new else 'unchanged'}; {checked} checked.",
        )
    ]
    if result.max_edat_seen:
        parts.append(Text(f"Latest PubMed entry date: {_format_time(result.max_edat_seen)}", style="dim"))
    if result.inserted:
        parts.append(Text(f"Search: entrez-kit corpus search QUERY --corpus {_quote_key(query_key)}", style="dim"))
    return Group(*parts)


def render_plan(plan: SyncPlan, console: Console) -> RenderableType:
    """Return the number of records and requests of a planned sync, and its estimated time."""
    first = [("Records to fetch", f"{plan.entries:,} (all records: this is the first sync)")]
    later = [
        ("Added since", f"{plan.from_edat}: {format_count(plan.entries, 'record')}"),
        ("Revised since then", format_count(plan.revisions, "older record")),
    ]
    table = build_fact_list(
        [
            ("Query", plan.term),
            *(first if plan.first_sync else later),
            ("Requests", f"about {plan.requests:,}"),
            ("Time", f"about {_format_duration(plan.seconds)}"),
        ]
    )
    parts: list[RenderableType] = [table]
    if plan.replaces_term:
        parts.append(Text("The term of this key changes, so the sync starts over.", style="yellow"))
    parts.append(Text("Dry run: nothing was fetched. Omit --dry-run to sync.", style="dim"))
    return Group(*parts)


def _format_duration(seconds: int) -> str:
    if seconds < 90:
        return format_count(max(1, seconds), "second")
    minutes = round(seconds / 60)
    return format_count(minutes, "minute") if minutes < 90 else f"{minutes / 60:.1f} hours"


# Searching


def render_hits(
    result: RagSearchResult, console: Console, *, store: "Store", query: str, corpus: str | None
) -> RenderableType:
    """Return a table of the hits with titles and years. On wide terminals, add the matching passage."""
    if not result.results:
        holds = format_count(store.stats(corpus).documents, "record")
        return Text(f"No results among {holds} of {to_line(corpus) or 'the corpus'}.", style="bold")
    pmids = [int(hit.doc_id.removeprefix("pmid:")) for hit in result.results]
    documents = store.read_documents(pmids)
    wide = console.width >= WIDE
    passages = _read_passages(store, [hit.uuid for hit in result.results]) if wide else {}
    hybrid = any(hit.sim is not None for hit in result.results)
    columns = [build_fixed_column("PMID"), build_wrapped_column("Article")]
    if wide:
        about = [
            build_wrapped_column("Title and passage", 5),
            build_fixed_column("Year"),
            build_wrapped_column("Journal", 1),
            build_fixed_column("PMID"),
        ]
        columns = [*([build_number_column("Similarity")] if hybrid else []), build_number_column("Quality"), *about]
    table = ListingTable(build_number_column("#"), build_number_column("Score"), *columns, expand=wide)
    for rank, (pmid, hit) in enumerate(zip(pmids, result.results, strict=True), start=1):
        document = documents[pmid]
        cells: list[RenderableType] = [Text(str(rank), style="dim"), Text(f"{hit.score:.3f}")]
        title = format_title({"title": document.title, "standing": convert_to_data(document.standing)})
        year, journal = str(document.year or ""), to_line(document.journal)
        if wide:
            if hybrid:
                cells.append(Text("" if hit.sim is None else f"{hit.sim:.2f}"))
            sentences = Text(choose_sentences(passages.get(hit.uuid, ""), query), style="dim")
            cells += [Text(str(hit.quality)), Text("\n").join([title, sentences]) if sentences else title]
            cells += [Text(year), Text(journal), build_article_link(pmid, console)]
        else:
            below = Text(". ".join(part for part in (journal, year) if part), style="dim")
            cells += [build_article_link(pmid, console), Text("\n").join([title, below])]
        table.add_row(*cells)
    return Group(table, Text(""), Text(format_count(len(result.results), "record"), style="bold"))


def _read_passages(store: "Store", uuids: Sequence[str]) -> dict[str, str]:
    with store.reading() as connection:
        marks = ", ".join("?" * len(uuids))
        rows = connection.execute(f"SELECT uuid, text FROM chunks WHERE uuid IN ({marks})", tuple(uuids))
        return {row["uuid"]: row["text"] for row in rows}


def choose_sentences(passage: str, query: str, limit: int = SNIPPET) -> str:
    """Return the sentences of a passage that contain the most words of the query."""
    body = re.sub(r"\[Title\] .*?(?:\n|$)", "", passage, count=1)
    body = re.sub(r"\[Section\] (.*?)\n\[Text\] ", lambda match: f"{match[1].capitalize()}: ", body)
    sentences = [text for part in body.replace("[Text] ", "").split("\n") for text in _SENTENCE.split(to_line(part))]
    stems = {word[: max(4, len(word) - 2)] for word in re.findall(r"\w+", query.lower()) if len(word) > 2}

    def count_hits(sentence: str) -> int:
        words = re.findall(r"\w+", sentence.lower())
        return sum(any(word.startswith(stem) for word in words) for stem in stems)

    if not any(sentences):
        return ""
    place = max(range(len(sentences)), key=lambda place: (count_hits(sentences[place]), -place))
    text = sentences[place]
    while len(text) < limit and place + 1 < len(sentences):
        place += 1
        text = f"{text} {sentences[place]}"
    return text if len(text) <= limit else f"{text[: limit - 1].rsplit(' ', 1)[0]}…"


def render_document(document: RagDocument, console: Console) -> RenderableType:
    """Return one record as a page."""
    pmid = document.doc_id.removeprefix("pmid:")
    quality = document.quality
    judged = f"design {quality.design}, recency {quality.recency}, journal {quality.journal}, human {quality.human}"
    table = build_fact_list(
        [
            ("PMID", build_article_link(pmid, console)),
            ("Journal", document.journal),
            ("Published", document.pdat),
            ("Publication types", "; ".join(document.pub_types)),
            ("Quality", f"{quality.total} of 9: {judged}"),
            ("PubMed entry date", _format_time(document.edat)),
            ("Last revised", _format_time(document.lr)),
            ("Stored version", document.version),
            ("URL", build_page_address(PUBMED, pmid)),
            ("Full text", build_page_address(PMC, document.pmcid) if document.pmcid else ""),
        ]
    )
    parts: list[RenderableType] = [Text(to_line(document.title) or "(no title)", style="bold"), Text(""), table]
    notes = [text.removeprefix(f"{document.doc_id} ") for text in document.list_notes()]
    parts[:0] = [Text(to_line(text), style="bold red") for text in notes]
    if document.abstract:
        parts.append(Text(""))
        parts += [Text(to_line(paragraph)) for paragraph in document.abstract.split("\n")]
    return Group(*parts)


# Checkpoints


def render_checkpoint(result: CheckpointGetResult, console: Console) -> RenderableType:
    """Return the checkpoint of a query."""
    if result.last_edat is None:
        key = _quote_key(result.query_key)
        return Text(f"{to_line(result.query_key)} has no checkpoint. Create one: entrez-kit corpus sync {key} TERM")
    return Text(f"{to_line(result.query_key)} is synced up to {_format_time(result.last_edat)}.")


def render_new_checkpoint(result: CheckpointSetResult, console: Console, *, query_key: str) -> RenderableType:
    """Return a confirmation that a checkpoint was set, and the next command."""
    return Text(f"Checkpoint set. Sync from there: entrez-kit corpus sync {_quote_key(query_key)}")


def render_checkpoint_log(log: CheckpointLog) -> RenderableType:
    """Return the history of a checkpoint."""
    table = ListingTable("Time", "Change", "From", "To", "Note")
    for move in log.entries:
        style = "" if move.kind == "automatic" else "yellow"
        what = Text(move.kind.replace("_", " "), style=style)
        table.add_cells(
            _format_time(move.at), what, _format_time(move.old_edat), _format_time(move.new_edat), move.note
        )
    return table if log.entries else Text(f"The checkpoint of {to_line(log.query_key)} has never changed.")


# Lists, statistics, changes


def render_corpora(listed: CorpusList) -> RenderableType:
    """Return a table of the synced queries."""
    if not listed.corpora:
        return Text("No corpora yet. Create one: entrez-kit corpus sync KEY TERM")
    table = ListingTable("Key", "Query", build_number_column("Records"), "Synced to", "Last sync")
    for corpus in listed.corpora:
        ending = Text(to_line(corpus.last_status), style=ENDINGS.get(corpus.last_status or "", ""))
        if corpus.last_finished_at:
            ending.append(f" {_format_time(corpus.last_finished_at)}", style="dim")
        key = Text(to_line(corpus.query_key), style="bold")
        table.add_cells(key, corpus.term, f"{corpus.documents:,}", _format_time(corpus.last_edat), ending)
    return table


def render_stats(stats: CorpusStats) -> RenderableType:
    """Return the statistics of the corpus."""
    years = f"{stats.first_year} to {stats.last_year}" if stats.first_year else ""
    vectors = "; ".join(f"{count:,} of {to_line(model)}" for model, count in stats.vectors.items())
    graph: str | Text = ""
    if stats.graphs:
        graph = "; ".join(f"{count:,} of {to_line(model)}" for model, count in stats.graphs.items())
        graph += " (vector search is approximate)"
    elif stats.query_key is None and max(stats.vectors.values(), default=0) >= MIN_GRAPH_VECTORS:
        build_command = f"{install_line('embeddings')}, then entrez-kit corpus reindex"
        graph = Text(f"none: vector search compares every vector. Build one: {build_command}")
    return build_fact_list(
        [
            ("File", stats.path),
            ("Key", stats.query_key),
            ("Size", "" if stats.query_key else f"{stats.size_bytes / 1e6:,.1f} MB"),
            ("Keys", "" if stats.query_key else f"{stats.corpora:,}"),
            ("Records", f"{stats.documents:,}, {stats.with_abstract:,} with an abstract"),
            ("Retracted", Text(f"{stats.retracted:,}", style="bold red" if stats.retracted else "")),
            ("Withdrawn", f"{stats.deleted:,} (kept, but omitted from searches)"),
            ("Versions", f"{stats.versions:,}"),
            ("Published", years),
            ("Latest entry", _format_time(stats.last_edat)),
            ("Passages", f"{stats.chunks:,}, about {format_count(stats.tokens, 'token')}"),
            ("Vectors", vectors or "none (keyword search only)"),
            ("Graph", graph),
            (
                "Unavailable",
                f"{stats.unavailable:,} listed by PubMed but not returned; every sync tries again"
                if stats.unavailable
                else "",
            ),
        ]
    )


def render_diff(difference: CorpusDiff) -> RenderableType:
    """Return a table of the changes, grouped by kind."""
    lists = (difference.deleted, difference.retracted, difference.revised, difference.added)
    numbers = Text(f"{to_line(difference.query_key)} since {_format_time(difference.since)}: ", style="bold")
    changes = [f"{len(records):,} {name}" for name in CHANGES if (records := getattr(difference, name))]
    numbers.append(", ".join(changes) or "no changes")
    if not changes:
        return numbers
    table = ListingTable(
        build_fixed_column("Change"), build_fixed_column("PMID"), build_fixed_column("Version"), "Title"
    )
    for records in lists:
        for record in records:
            table.add_row(
                Text(record.change, style=CHANGES[record.change]),
                Text(record.pmid, style="cyan"),
                f"{record.from_version} → {record.to_version}" if record.from_version else str(record.to_version),
                _format_difference(record),
            )
    return Group(
        table, Text(""), numbers, Text("The dates are those at which this corpus stored the changes.", style="dim")
    )


def _format_difference(record: Difference) -> Text:
    text = format_title(convert_to_data(record))
    if record.changed:
        names = ", ".join(_FIELDS.get(name, name) for name in record.changed)
        text.append(f"\nchanged: {names}", style="dim")
    return text


def render_reindexed(done: Reindexed, *, is_demo: bool) -> RenderableType:
    """Return the counts of a reindex."""
    text = f"{format_count(done.documents, 'record')} and {format_count(done.chunks, 'passage')} reindexed"
    if done.model is None:
        reason = "the demo does not use embeddings" if is_demo else "embeddings are not configured"
        return Text(f"{text}. No vectors were created because {reason}.")
    return Text(f"{text}; {format_count(done.vectors, 'vector')} of {to_line(done.model)} created.")


def render_delivered(done: "Delivered") -> RenderableType:
    """Return the counts of passages written to and deleted from a Weaviate server."""
    text = f"{to_line(done.collection)}: {format_count(done.written, 'passage')} written, {done.deleted:,} deleted"
    return Text(f"{text}; {done.waiting:,} not yet delivered." if done.waiting else f"{text}.")


def _quote_key(query_key: str) -> str:
    """Quote a key for a shell."""
    return shlex.quote(to_line(query_key))


def _format_time(text: str | None) -> str:
    """Return a time to the minute: "2026-03-06 07:25"."""
    return to_line(text).replace("T", " ")[:16].removesuffix(" 00:00")
