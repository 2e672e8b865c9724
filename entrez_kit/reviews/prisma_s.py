"""Answer the 16 items of PRISMA-S from the files of a review, and say which ones only a person can answer."""

import re
from typing import Final

from entrez_kit.base.frontend_text import format_count, join_names
from entrez_kit.core.model import Result
from entrez_kit.reviews.flow import Flow
from entrez_kit.reviews.folder import PAIRS, Review
from entrez_kit.reviews.journal import Run
from entrez_kit.reviews.pairs import count_pairs
from entrez_kit.reviews.review_settings import SOURCE

ITEMS: Final = (
    "Database name",
    "Multi-database searching",
    "Study registries",
    "Online resources and browsing",
    "Citation searching",
    "Contacts",
    "Other methods",
    "Full search strategies",
    "Limits and restrictions",
    "Search filters",
    "Prior work",
    "Updates",
    "Dates of searches",
    "Peer review",
    "Total records",
    "Deduplication",
)
_NUMBER: Final = re.compile(r"[#S]?([0-9]{1,6})[.):]?\s++")
STRATEGIES: Final = 8
"""The item with the strategies of all databases."""
DEDUPLICATION: Final = 16
PLATFORM: Final = "PubMed (NCBI), searched with the E-utilities"


class PrismaItem(Result):
    """An item of PRISMA-S; ``is_open`` if the files of the review have no answer."""

    number: int
    name: str
    text: str
    is_open: bool


def list_items(review: Review, flow: Flow) -> list[PrismaItem]:
    """Return the 16 items in order."""
    settings = review.settings
    answers = _answer_items(review, flow)
    without = _list_without_strategy(review, flow)
    undecided = count_pairs(review).undecided
    items = []
    for number, name in enumerate(ITEMS, start=1):
        answer = settings.prisma_s.get(str(number), "")
        texts = [text for text in (answer, answers.get(number, "")) if text]
        is_open = not texts
        if number == STRATEGIES and without and not answer:
            texts.append(f"To be completed: no strategy file of {join_names(without)} (strategy in review.toml).")
            is_open = True
        if number == DEDUPLICATION and undecided:
            texts.append(f"To be completed: {format_count(undecided, 'pair is', 'pairs are')} undecided in {PAIRS}.")
            is_open = True
        missing = f"To be completed: add {number} to [prisma_s] in review.toml."
        items.append(PrismaItem(number=number, name=name, text=" ".join(texts) or missing, is_open=is_open))
    return items


def _list_without_strategy(review: Review, flow: Flow) -> list[str]:
    """Return the databases whose strategy is not in the folder."""
    searched = {SOURCE} if list_searches(review) else set()
    names = [source.source for source in flow.sources if source.kind == "database" and source.source not in searched]
    files = {name: review.settings.get_source(name).strategy for name in names}
    return [name for name, file in files.items() if not file or review.read_file(file) is None]


def list_searches(review: Review) -> list[Run]:
    """Return the runs that searched PubMed."""
    return [run for run in review.runs if run.search is not None]


def find_last_search(review: Review) -> Run | None:
    """Return the last run that searched all records with the strategy, not only those since another search."""
    complete_runs = [run for run in review.runs if run.search is not None and run.search.range is None]
    return complete_runs[-1] if complete_runs else None


def strip_number(original: str, number: int | None) -> str:
    """Return a line of a strategy without its number, which has its own column."""
    text = original.strip()
    match = _NUMBER.match(text)
    return text[match.end() :] if match is not None and int(match[1]) == number else text


def find_platform(review: Review, source: str) -> str:
    """Return the platform of a source: from the settings, or else from its last import."""
    if source == SOURCE and (searches := list_searches(review)):
        services = dict.fromkeys(run.answered_by or SOURCE for run in searches)
        return "; ".join(PLATFORM if service == "PubMed" else service for service in services)
    platform = review.settings.get_source(source).platform
    return platform or next(
        (run.platform for run in reversed(review.runs) if run.source == source and run.platform), ""
    )


def find_dates(review: Review, source: str) -> list[str]:
    """Return the days on which a source was searched."""
    if source == SOURCE and list_searches(review):
        searched = [run.search.certificate.searched_at[:10] for run in review.runs if run.search is not None]
        return list(dict.fromkeys(searched))
    days = [run.searched for run in review.runs if run.source == source and run.searched]
    search_date = review.settings.get_source(source).searched
    return sorted(set(days)) or ([search_date] if search_date else [])


def _answer_items(review: Review, flow: Flow) -> dict[int, str]:
    settings = review.settings
    searches = list_searches(review)
    names = [source.source for source in flow.sources]

    def filter_kind(*kinds: str) -> str:
        return "; ".join(f"{source.source} (n = {source.records:,})" for source in flow.sources if source.kind in kinds)

    def describe(name: str) -> str:
        platform = find_platform(review, name)
        return f"{name} ({platform})" if platform and platform != name else name

    limits = [("PubMed", settings.pubmed.limits), *((name, source.limits) for name, source in settings.sources.items())]
    filters = [
        ("PubMed", settings.pubmed.filters),
        *((name, source.filters) for name, source in settings.sources.items()),
    ]
    dates = [f"{name}: {', '.join(find_dates(review, name))}" for name in names if find_dates(review, name)]
    answers = {
        1: "; ".join(describe(source.source) for source in flow.sources if source.kind == "database"),
        3: filter_kind("register"),
        4: filter_kind("website", "organisation"),
        5: filter_kind("citations"),
        9: " ".join(f"{name}: {text}" for name, text in limits if text),
        10: " ".join(f"{name}: {text}" for name, text in filters if text),
        13: "; ".join(dates) + ("." if dates else ""),
        15: "; ".join(f"{source.source}: {source.records:,}" for source in flow.sources),
    }
    if searches:
        last = searches[-1].search
        assert last is not None
        answers[8] = f"The appendix has the strategy with the number of records of each line ({last.strategy.name})."
    updates = [run for run in searches if run.step == "update"]
    if updates:
        texts = []
        for run in updates:
            numbers = [f"{count:,} {kind.replace('_', ' ')}" for kind, count in run.counts.items()]
            texts.append(f"{run.finished[:10]}: {', '.join(numbers) or 'no changes'}")
        answers[12] = f"The strategy was run again. {'; '.join(texts)}."
    merged = next((run for run in reversed(review.runs) if run.step in ("dedupe", "update")), None)
    duplicates = flow.boxes.get("duplicates")
    if merged is not None and duplicates is not None:
        answers[16] = (
            f"entrez-kit {merged.version} linked {format_count(duplicates, 'duplicate')} among "
            f"{format_count(len(review.records), 'record')} by identifiers, title, authors and place."
        )
        if decided := count_pairs(review).decided:
            answers[16] += f" {format_count(decided, 'pair was', 'pairs were')} decided by people ({PAIRS})."
    return answers
