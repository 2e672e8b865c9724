"""Describe the folder of a review as RO-Crate: its files with hashes, and its runs as actions."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.ro_crate import Entity, build_crate, describe_file, describe_program, refer
from entrez_kit.reviews.journal import Run
from entrez_kit.reviews.review_settings import ReviewSettings

REPORT: Final = "report"
EXPORTED: Final = "screening"
"""The folder of the exported works, with a folder for each stage."""
NO_LICENSE: Final = "The authors of the review have not named a license."
DESCRIPTIONS: Final[Mapping[str, str]] = {
    "review.toml": "Settings of the review",
    "records.jsonl": "All records, one per line, with source, work and family",
    "runs.jsonl": "Journal of all runs",
    "duplicates.csv": "Pairs of records, and decisions on them",
    "screening.csv": "Decisions of screening",
    "report/report.html": "Report with flow diagram, strategies, PRISMA-S and all works",
    "report/flow.svg": "PRISMA 2020 flow diagram",
    "report/flow.csv": "Boxes of the flow diagram",
    "report/appendix.md": "Strategies as printed",
    "report/appendix.docx": "Strategies as printed, for Word",
}
_STEPS: Final[Mapping[str, str]] = {
    "init": "Creation of the review",
    "search": "Search",
    "import": "Import",
    "dedupe": "Deduplication",
    "screen_import": "Import of decisions",
    "update": "Update",
}


def write_crate(settings: ReviewSettings, runs: Sequence[Run], files: Mapping[str, bytes]) -> bytes:
    """Return the metadata of a folder.

    Args:
        files: the content of all files to describe, by their path in the folder.
    """
    entities = [*_describe_files(files)]
    known_files = {(entity["@id"], entity["sha256"]) for entity in entities}
    more: dict[str, Entity] = {}
    actions = [_describe_run(run, known_files, more) for run in runs]
    people = [name for part in settings.authors.split(";") if (name := " ".join(part.split()))]
    authors = [{"@id": f"#author-{n}", "@type": "Person", "name": name} for n, name in enumerate(people, start=1)]
    root: Entity = {
        "name": settings.title or "Systematic review",
        "description": f"A systematic review as a folder of plain files: {format_count(len(runs), 'run')}, with "
        "strategies, records and decisions.",
        "datePublished": runs[-1].finished if runs else "",
        "license": {"@id": settings.license} if settings.license.startswith("https://") else NO_LICENSE,
        "hasPart": refer(entities),
        "mentions": refer(actions),
    }
    if settings.license and not settings.license.startswith("https://"):
        root["license"] = settings.license
    if settings.registration:
        root["identifier"] = settings.registration
    if authors:
        root["author"] = refer(authors)
    licenses = [{"@id": settings.license, "@type": "CreativeWork", "name": settings.license}]
    document = build_crate(
        root,
        [
            *(*authors, *entities, *actions, *more.values()),
            *(licenses if settings.license.startswith("https://") else []),
        ],
    )
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def list_described(settings: ReviewSettings) -> Iterator[str]:
    """Yield the paths of the settings, the strategies and the report; some may not exist."""
    yield "review.toml"
    yield from dict.fromkeys(
        strategy
        for strategy in (settings.pubmed.strategy, *(source.strategy for source in settings.sources.values()))
        if strategy
    )
    yield from (name for name in DESCRIPTIONS if name.startswith(f"{REPORT}/"))


def _describe_files(files: Mapping[str, bytes]) -> Iterator[Entity]:
    for path, content in sorted(files.items()):
        name = DESCRIPTIONS.get(path) or _describe_file(path)
        yield describe_file(path, len(content), hashlib.sha256(content).hexdigest(), name=name)


def _describe_file(name: str) -> str:
    """Return the description of a strategy, or of an exported file of works."""
    folder, _, file = name.rpartition("/")
    return f"Works to screen, {file}" if folder.startswith(f"{EXPORTED}/") else f"Strategy {file}"


def _describe_run(run: Run, known_files: set[tuple[str, str]], more: dict[str, Entity]) -> Entity:
    """Return a run as an action; what it used and is not in the folder any more is added to ``more``."""
    program = describe_program(run.version)
    more.setdefault(program["@id"], program)
    used: list[Entity] = []
    for file in [*([run.search.strategy] if run.search else []), *run.files]:
        used.append(_refer_to_file(file.name, file.sha256, known_files, more))
    action: Entity = {
        "@id": f"#run-{run.number}",
        "@type": "CreateAction",
        "name": f"{_STEPS[run.step]}{f' of {run.source}' if run.source else ''} (run {run.number})",
        "startTime": run.started,
        "endTime": run.finished,
        "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
        "instrument": {"@id": program["@id"]},
        "result": _refer_to_file("records.jsonl", run.records_sha256, known_files, more),
    }
    facts = [f"{count:,} {name.replace('_', ' ')}" for name, count in run.counts.items()]
    if run.answered_by:
        facts.insert(0, f"answered by {run.answered_by}")
    if run.search is not None:
        parameters = {"query": run.search.query, "query translation": run.search.query_translation}
        for name, value in parameters.items():
            entity_id = f"#run-{run.number}-{name.replace(' ', '-')}"
            more[entity_id] = {"@id": entity_id, "@type": "PropertyValue", "name": name, "value": value}
            used.append({"@id": entity_id})
    if facts:
        action["description"] = "; ".join(facts)
    if used:
        action["object"] = used
    return action


def _refer_to_file(name: str, digest: str, known_files: set[tuple[str, str]], more: dict[str, Entity]) -> Entity:
    """Return a reference to a file of the folder, or to a description of a file that is not in it."""
    if (quote(name), digest) in known_files:
        return {"@id": quote(name)}
    entity_id = f"#sha256-{digest}"
    about = "This content is not in the folder: the file was imported from elsewhere, or was replaced later."
    more.setdefault(
        entity_id, {"@id": entity_id, "@type": "CreativeWork", "name": name, "sha256": digest, "description": about}
    )
    return {"@id": entity_id}
