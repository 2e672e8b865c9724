"""The rules of ``strategy lint``: problems of a strategy that its lines show without a search."""

from entrez_kit.strategies.check_lines import LINE_RULES
from entrez_kit.strategies.check_pubmed_lines import check_pubmed_line
from entrez_kit.strategies.check_strategy import STRATEGY_RULES
from entrez_kit.strategies.findings import LineProblem
from entrez_kit.strategies.strategy import Strategy


def find_problems(strategy: Strategy) -> list[LineProblem]:
    """Return the problems that the lines of a strategy show, in the order of the lines."""
    problems: list[LineProblem] = []
    for line in strategy.lines:
        if line.kind not in ("comment", "header"):
            for rule in (*LINE_RULES, check_pubmed_line):
                problems += rule(line)
    for whole in STRATEGY_RULES:
        problems += whole(strategy)
    return sorted(dict.fromkeys(problems), key=lambda problem: (problem.line is None, problem.line or 0))
