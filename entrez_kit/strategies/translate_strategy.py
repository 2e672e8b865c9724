"""Translate a strategy to PubMed, line by line, and count the records of each line."""

from functools import partial
from typing import Final, NamedTuple

from pydantic import Field

from entrez_kit.base.errors import EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import MAX_QUOTED, FrontendText, cut_end, format_count, join_names
from entrez_kit.core.model import incomplete_error
from entrez_kit.core.operation import AgentOptions, DocumentOperation
from entrez_kit.query.dialects.notes import CountCode, Note
from entrez_kit.query.dialects.spellings import WordList
from entrez_kit.query.words import split_words
from entrez_kit.services import Services
from entrez_kit.services.small_replies import ESearchReply
from entrez_kit.services.transport.in_flight import run_in_order
from entrez_kit.strategies.prove_strategy import add_proofs, open_proving_copy
from entrez_kit.strategies.strategy import MAX_QUERY, Strategy, read_strategy
from entrez_kit.strategies.translated_lines import StrategyRequest, StrategyResult, WorkingLine

COUNT_DEADLINE_MS: Final = 120_000
"""Deadline of one count; the counts of long strategies take PubMed a while."""

_NOTE_CODES: Final[dict[str, CountCode]] = {
    "phrase_not_found": "phrase-not-found",
    "field_not_found": "field-not-found",
    "quoted_phrase_not_found": "quoted-phrase-not-found",
    "phrase_ignored": "phrase-ignored",
    "output_message": "output-message",
}
"""By code of a warning of ESearch, the code of the note."""


class TranslateRequest(StrategyRequest):
    """A strategy to translate, and whether to count its lines."""

    count: bool = Field(default=False, description="Count the records of every line in PubMed.")


def make_word_list(words: list[str] | None, name: str) -> WordList | None:
    """Return the word list of a request; each entry may be a text of many words."""
    if not words:
        return None
    return WordList(name, tuple(sorted({word for text in words for word in split_words(text) if not word.isdigit()})))


def read_request(services: Services, request: StrategyRequest) -> Strategy:
    """Return the strategy of a request. MeSH of a local copy decides which headings exist, if one answers."""
    copy = open_proving_copy(services)
    return read_strategy(
        request.strategy,
        dialect=request.dialect,
        proximity=request.proximity,
        words=make_word_list(request.words, request.words_name),
        vocabulary=None if copy is None else copy.read_vocabulary(),
    )


def translate_strategy(services: Services, request: TranslateRequest) -> StrategyResult:
    """Translate a search strategy to PubMed, line by line, with every difference in words.

    Lines of Ovid MEDLINE, Embase.com, EBSCO, Web of Science, Scopus, the Cochrane Library and PubMed are read as
    printed: numbers, references, comments, counts. Each line has a label: exact, wider, narrower or not_expressible.
    Use it before you search with a strategy of a review. Example: strategy "1. exp Asthma/\\n2. cough.ti.\\n3. 1 or 2".
    With `count` PubMed counts every line; a refused line, and every line that depends on it, has no count. If a local
    copy answers, each label is proven on its records.

    Raises:
        InvalidInput: the text has no line that could be a search.
        UpstreamError: NCBI did not answer for any line.
        RateLimited: NCBI refused every line, or no slot is free before the deadline.

    Source: none for a translation; ESearch (db=pubmed), once per line, for counts.
    """
    strategy = read_request(services, request)
    proofs = add_proofs(strategy, services)
    counted = count_lines(services, strategy) if request.count else LineCounts({})
    result = strategy.to_result(counted.counts, proofs)
    result.set_missing_error(find_refused_error(strategy, result) or counted.missing_error)
    return result


def read_strategy_of_file(services: Services, request: StrategyRequest, file: str) -> tuple[Strategy, StrategyResult]:
    """Return the strategy of a file whose last line can be searched, and its document.

    Raises:
        InvalidInput: the text has no search line, or its last line cannot be searched; the message has the file.
    """
    try:
        strategy = read_request(services, request)
        return strategy, refuse_untranslated(strategy)
    except InvalidInput as exc:
        raise exc.copy_with(FrontendText(f"{file}: ", exc.message_text)) from None


def refuse_untranslated(strategy: Strategy) -> StrategyResult:
    """Return the document of a strategy whose last line can be searched.

    Raises:
        InvalidInput: the last line cannot be searched.
    """
    result = strategy.to_result()
    error = find_refused_error(strategy, result)
    if error is not None:
        error.details["partial"] = False
        raise error
    return result


def find_refused_error(strategy: Strategy, result: StrategyResult) -> InvalidInput | None:
    """Return the error for a strategy whose last line cannot be searched."""
    final = strategy.final
    if result.query is not None or final is None:
        return None
    if final.is_search:
        return InvalidInput(
            f"The last line with all other lines in it is longer than {MAX_QUERY:,} characters.",
            invalid_input=f"line {final.number}",
            recovery_hint="Divide the strategy: search lines in the middle first.",
            details={"reason": "query_too_long", "partial": True},
        )
    blocked = final.blocked_by if final.blocked_by is not None else final.number
    refused = [line for line in strategy.lines if line.refusal is not None]
    line = next(line for line in refused if line.number == blocked)
    problem = line.refusal.text if line.refusal is not None else ""
    text = cut_end(line.printed.text, MAX_QUOTED)
    return InvalidInput(
        f'The last line cannot be searched in PubMed. Line {blocked} ("{text}") was refused: {problem}.',
        invalid_input=f"line {blocked}",
        recovery_hint=f"Correct line {blocked}, or replace it with a line in PubMed's syntax.",
        details={
            "reason": "line_refused",
            "partial": any(line.is_search for line in strategy.lines),
            "missing": [{"number": line.number, "problem": str(line.refusal)} for line in refused],
        },
    )


class LineCounts(NamedTuple):
    """The number of records of each line that PubMed counted, and the error that names lines it did not answer for."""

    counts: dict[int, int]
    missing_error: EntrezKitError | None = None


def count_lines(services: Services, strategy: Strategy) -> LineCounts:
    """Return the number of records of each line that can be searched; a line whose search failed has none.

    Raises:
        EntrezKitError: no line could be counted.
    """
    lines = [line for line in strategy.lines if line.is_search]
    replies = list(run_in_order([partial(_count, services, strategy, line) for line in lines], services.eutils.at_once))
    counts: dict[int, int] = {}
    unanswered: list[str] = []
    notes_by_line: dict[int, set[Note]] = {}  # by line, those of the lines that it refers to, too
    failure: EntrezKitError | None = None
    for line, reply in zip(lines, replies, strict=True):
        if isinstance(reply, EntrezKitError):
            failure = reply
            line.notes.append(Note(str(reply), "not-counted"))
            unanswered += [] if isinstance(reply, InvalidInput) else [str(line.number)]
        elif reply is None:
            line.notes.append(Note("the line with all others in it is too long.", "not-counted"))
        elif line.number is not None:
            counts[line.number] = reply.count
            known = set().union(*(notes_by_line.get(number, ()) for number in line.depends_on))
            notes = [Note(one.message, _NOTE_CODES[one.code]) for one in reply.warning_messages]
            line.notes += [note for note in notes if note not in known]
            notes_by_line[line.number] = known.union(notes)
    if failure is not None and not counts:
        raise failure
    message = f"PubMed did not count {format_count(len(unanswered), 'line')}: {join_names(unanswered)}."
    return LineCounts(counts, incomplete_error(unanswered, message))


def _count(services: Services, strategy: Strategy, line: WorkingLine) -> ESearchReply | EntrezKitError | None:
    query = strategy.expand(line)
    if query is None:
        return None
    try:
        return services.eutils.esearch(db="pubmed", term=query, retmax=0, deadline_ms=COUNT_DEADLINE_MS).value
    except (UpstreamError, RateLimited, InvalidInput) as exc:
        return exc


TRANSLATE_STRATEGY: Final = DocumentOperation(
    name="translate_strategy",
    request=TranslateRequest,
    result=StrategyResult,
    function=translate_strategy,
    command=("strategy", "translate"),
    toolset="review",
    title="Translate a search strategy",
    errors=(UpstreamError, RateLimited),
    agents=AgentOptions(portions=("lines",)),
)
