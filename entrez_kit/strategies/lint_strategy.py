"""Find the problems of a strategy: those that its lines show, and, with a search, those that PubMed shows."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Final

from pydantic import BeforeValidator, Field, field_validator
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.base.errors import InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import FrontendText, format_count, join_with, list_choices, name_guide
from entrez_kit.core.model import Result, Warned, WrongValue, omit_if_empty, split_at_commas
from entrez_kit.core.operation import AgentOptions, DocumentOperation
from entrez_kit.databases.mesh import MeshRequest, lookup_mesh
from entrez_kit.query.dialects.renamed_headings import RENAMED
from entrez_kit.query.dialects.tree import SubjectHeading, walk
from entrez_kit.query.mesh import Heading, Vocabulary, read_mesh_file
from entrez_kit.query.words import normalize
from entrez_kit.references.files.references import unreadable_error
from entrez_kit.services import Services
from entrez_kit.services.transport.in_flight import run_in_order
from entrez_kit.strategies.check_strategy import check_currency, find_closure, list_headings
from entrez_kit.strategies.findings import CODES, PRESS, LineProblem, Severity
from entrez_kit.strategies.printed_rows import replace_characters
from entrez_kit.strategies.prove_strategy import open_proving_copy
from entrez_kit.strategies.rules import find_problems
from entrez_kit.strategies.strategy import Strategy
from entrez_kit.strategies.translate_strategy import LineCounts, count_lines, read_request
from entrez_kit.strategies.translated_lines import MAX_KNOWN, StrategyRequest

MAX_HITS: Final = 500_000
"""A line of words with more records is probably a mistake, such as a word without a field."""


class LintRequest(StrategyRequest):
    """A strategy to check."""

    online: bool = Field(default=False, description="Count the lines in PubMed and look up the headings in MeSH.")
    known: list[str] | None = Field(
        default=None,
        max_length=MAX_KNOWN,
        description="Known relevant records: PMIDs, PMCIDs and DOIs. A NOT that excludes one is an error.",
    )
    ignore: Annotated[list[str], BeforeValidator(split_at_commas)] = Field(
        default_factory=list, description="Codes of findings to leave out, such as language-limit."
    )
    mesh: SkipJsonSchema[str | None] = Field(
        default=None, description="MeSH file with the present headings, such as desc2026.gz."
    )

    @field_validator("ignore")
    @classmethod
    def _check_codes(cls, codes: list[str]) -> list[str]:
        for code in codes:
            if code not in CODES:
                near = get_close_matches(code, CODES, n=3)
                similar = f"Did you mean {join_with(near, 'or')}? " if near else ""
                hint = FrontendText(similar, name_guide("lint"), " lists all.")
                raise WrongValue(list_choices(list(CODES)), hint, code)
        return codes


class LintFinding(Result):
    """A problem of a line. ``press`` is the element of the PRESS checklist, ``fix`` what to write."""

    code: str
    severity: Severity
    line: int | None
    message: str
    fix: str | None = omit_if_empty()
    press: str
    matters: bool


class LintResult(Warned):
    """The findings of a strategy by line. ``matters`` is true for lines that the last line depends on.

    ``fixed`` is the strategy with all mechanical corrections: characters, operators in capitals, renamed headings and
    open dates. It is absent if nothing changes.
    """

    RECORDS: ClassVar = "findings"

    findings: list[LintFinding]
    errors: int
    warnings_found: int
    lines: int
    fixed: str | None = omit_if_empty()


def lint_strategy(services: Services, request: LintRequest) -> LintResult:
    """Find problems in a search strategy: syntax, fields, line numbers, operators, wildcards, headings, limits.

    Use it before a review runs its strategy. Each finding has a stable code, the line, a message and often a
    correction. Example: strategy "1. cat*[ti]" has the finding short-truncation. With `online`, PubMed counts
    every line. This finds lines without records, dropped phrases, words that are too common, and unknown headings.

    Raises:
        InvalidInput: the text has no line that could be a search.
        UpstreamError: NCBI did not answer for any line.
        RateLimited: NCBI refused every line, or no slot is free before the deadline.

    Source: none; with ``online`` ESearch (db=pubmed) for each line, ESearch and ESummary (db=mesh) for each heading;
    with ``known`` ESearch and the PMC ID Converter.
    """
    strategy = read_request(services, request)
    problems = find_problems(strategy)
    copy = open_proving_copy(services)
    if request.mesh is not None:
        names = read_heading_names(Path(request.mesh))
        problems += check_currency(strategy, lambda name: names.get(normalize(name)))
    elif copy is not None and not copy.read_vocabulary().headings.is_empty:
        problems += check_currency(strategy, partial(_find_in_vocabulary, copy.read_vocabulary()))
    elif request.online:
        problems += check_currency(strategy, look_up_headings(services, strategy).get)
    counted = count_lines(services, strategy) if request.online else LineCounts({})
    problems += find_count_problems(strategy, counted.counts)
    if request.known:
        problems += find_excluding_lines(services, strategy, request.known)
    problems = [problem for problem in dict.fromkeys(problems) if problem.code not in request.ignore]
    problems.sort(key=lambda problem: (problem.line is None, problem.line or 0, list(CODES).index(problem.code)))
    final = strategy.final
    used = find_closure(strategy, final) if final is not None else set()
    numbers = {line.number for line in strategy.lines if line in used}
    fixed = fix_strategy(strategy)
    result = LintResult(
        findings=[
            _to_finding(problem, matters=problem.line is None or problem.line in numbers) for problem in problems
        ],
        errors=sum(CODES[problem.code] == "error" for problem in problems),
        warnings_found=sum(CODES[problem.code] == "warning" for problem in problems),
        lines=len(strategy.lines),
        fixed=fixed if fixed != request.strategy else None,
    )
    result.set_missing_error(counted.missing_error)
    return result


def _to_finding(problem: LineProblem, *, matters: bool) -> LintFinding:
    return LintFinding(
        code=problem.code,
        severity=CODES[problem.code],
        line=problem.line,
        message=f"{problem.message[:1].upper()}{problem.message[1:]}",
        fix=problem.fix or None,
        press=PRESS.get(problem.code, "5"),
        matters=matters,
    )


def read_heading_names(path: Path) -> dict[str, str]:
    """Return the present names of headings by their normalized names and entry terms, from a MeSH file.

    Raises:
        InvalidInput: the file is damaged, or has no descriptors.
    """
    from entrez_kit.local.source_files import SourceFile

    problem, hint = (
        "the file has no MeSH descriptors",
        "Give a file with the descriptors of MeSH, such as desc2026.gz from NLM.",
    )
    try:
        file = SourceFile(path)
    except InvalidInput as exc:
        if exc.reason != "unknown_file":
            raise
        raise exc.copy_with(f"{path}: {problem}.", hint) from None  # the error names the files that an import reads
    headings: list[Heading] = file.read_with(lambda stream: list(read_mesh_file(stream))) if file.kind == "desc" else []
    if not headings:
        raise unreadable_error(str(path), problem, hint=hint)
    by_term = {normalize(term): heading.name for heading in headings for term in heading.entry_terms}
    return by_term | {normalize(heading.name): heading.name for heading in headings}


def _find_in_vocabulary(vocabulary: Vocabulary, name: str) -> str | None:
    heading = vocabulary.headings.find(normalize(name))
    return None if heading is None else heading.name


def look_up_headings(services: Services, strategy: Strategy) -> dict[str, str]:
    """Return by name the present names of the headings of a strategy, as the MeSH database of NCBI has them."""
    names = [name for _, name in list_headings(strategy)]
    names = list(dict.fromkeys([*names, *(RENAMED[name.lower()] for name in names if name.lower() in RENAMED)]))
    present_names = list(run_in_order([partial(_look_up, services, name) for name in names], services.eutils.at_once))
    return {name: current for name, current in zip(names, present_names, strict=True) if current is not None}


def _look_up(services: Services, name: str) -> str | None:
    """Return the present name of a heading; None if MeSH has no heading and no entry term of this name."""
    records = lookup_mesh(services, MeshRequest(query=name, max_results=1)).results
    for record in records:
        if record.kind == "descriptor" and normalize(name) in {
            normalize(term) for term in (record.name, *record.entry_terms)
        }:
            return record.name
    return None


def find_count_problems(strategy: Strategy, counts: Mapping[int, int]) -> list[LineProblem]:
    """Return the problems that the counts of the lines in PubMed show."""
    problems: list[LineProblem] = []
    for line in strategy.lines:
        own_terms = not line.depends_on
        for note in line.notes:
            if note.code in ("quoted-phrase-not-found", "phrase-not-found", "field-not-found"):
                problems.append(LineProblem("dropped-phrase", line.number, note.text))
        count = counts.get(line.number) if line.number is not None else None
        if count == 0:
            problems.append(LineProblem("no-hits", line.number, "The line finds no record in PubMed."))
        elif count is not None and count > MAX_HITS and line.kind == "search" and own_terms:
            is_heading = line.node is not None and all(
                isinstance(part, SubjectHeading) for part in walk(line.node) if not hasattr(part, "parts")
            )
            if not is_heading:
                problems.append(
                    LineProblem("explosion-of-hits", line.number, f"The line finds {format_count(count, 'record')}.")
                )
    return problems


def find_excluding_lines(services: Services, strategy: Strategy, known: list[str]) -> list[LineProblem]:
    """Return the lines after NOT that exclude known relevant records."""
    from entrez_kit.strategies.measure_recall import find_excluded

    problems = []
    for block, pmids in find_excluded(services, strategy, known):
        final = strategy.final
        number = block.line if block.line is not None else final.number if final is not None else None
        text = f"NOT excludes {len(pmids)} of the known records: {', '.join(pmids[:5])}."
        problems.append(LineProblem("not-removes-known", number, text))
    return problems


# Mechanical corrections

_OPERATORS: Final = re.compile(r"(?<=[\])\"])(\s+)(and|or|not)(?=\s+[(\"\w#])")
_OPEN_END: Final = re.compile(r"([0-9]\"?\s*:\s*)(\[(?:dp|pdat|edat|crdt|mhda|lr|mdat)\])", re.IGNORECASE)
_OPEN_START: Final = re.compile(
    r"(?<![0-9/\"\]\w])(:\s*\"?[0-9][0-9/]*\"?\s*\[(?:dp|pdat|edat|crdt|mhda|lr|mdat)\])", re.IGNORECASE
)


_BEFORE_HEADING: Final = r"(?:(?<=exp )|(?<=or )|(?<=and )|(?<=not )|(?<=[*\"(\t])|(?<=[.0-9] )|^)"


def fix_strategy(strategy: Strategy) -> str:
    """Return the text of a strategy with its mechanical corrections; all other characters are kept."""
    return "".join(
        line.printed.original if line.kind in ("comment", "header") else _fix_line(line.printed.original, line.dialect)
        for line in strategy.lines
    )


def _fix_line(original: str, dialect: str | None) -> str:
    text = replace_characters(original)
    if dialect == "pubmed":
        text = _OPERATORS.sub(lambda match: match[1] + match[2].upper(), text)
        text = _OPEN_START.sub(r"1800\1", _OPEN_END.sub(r"\g<1>3000\2", text))
        text = re.sub(r"\bexp[ \t]{1,9}(?=[\w, -]{1,300}+\[ ?(?:mesh|mh))", "", text)
    for old, new in RENAMED.items():
        if old in text.lower():
            pattern = rf"{_BEFORE_HEADING}{re.escape(old)}(?=\"?(?:/|\s*\[m))"
            text = re.sub(pattern, new, text, flags=re.IGNORECASE | re.MULTILINE)
    return text


LINT_STRATEGY: Final = DocumentOperation(
    name="lint_strategy",
    request=LintRequest,
    result=LintResult,
    function=lint_strategy,
    command=("strategy", "lint"),
    toolset="review",
    title="Check a search strategy",
    errors=(UpstreamError, RateLimited),
    agents=AgentOptions(portions=("findings",)),
)
