"""Texts for agents name no command, flag or terminal: those are only in ``PerFrontend``."""

import ast
import re
from collections.abc import Iterable, Iterator

from project_paths import ROOT
from syntax_trees import read_nodes

ONLY_FOR_PEOPLE = (
    *(
        "sandbox",
        "doctor",
        "base/configuration.py",
        "base/settings.py",
        "guides",
        "base/logs.py",
        "base/extras.py",
        "__main__.py",
    ),
    "python/kit",
    *("server/run.py", "server/shutdown.py", "server/http.py", "server/auth.py"),
    "corpus/sync.py",  # the contract: a first sync of very many records is refused with the command for it
)
"""Parts that no tool reaches, or that run before there is a server."""
TEXTS = {"message", "recovery_hint", "default_hint", "detail", "unanswered"}
OF_A_TERMINAL = re.compile(
    r"(?<![\w/.-])--?[a-z][a-z-]+\b|(?:run |`)entrez-kit [a-z]|\bterminal\b|\bcommand line\b", re.IGNORECASE
)

MODULES = [
    path
    for path in sorted((ROOT / "entrez_kit").rglob("*.py"))
    if not any(path.relative_to(ROOT / "entrez_kit").as_posix().startswith(part) for part in ONLY_FOR_PEOPLE)
]


def list_agent_words(node: ast.AST) -> Iterator[str]:
    """Yield the words of a text that agents read, without the words for other front ends."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("PerFrontend", "suggest_command", "install_hint")
    ):
        if len(node.args) > 1:
            yield from list_agent_words(node.args[1])
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in ast.iter_child_nodes(node):
        yield from list_agent_words(child)


def list_texts(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield the lines and words of all messages and hints of a module."""
    for node in nodes:
        if isinstance(node, ast.keyword) and node.arg in TEXTS:
            yield from ((node.value.lineno, text) for text in list_agent_words(node.value))
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from ((arg.lineno, text) for arg in node.exc.args for text in list_agent_words(arg))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "FrontendText":
            yield from ((node.lineno, text) for arg in node.args for text in list_agent_words(arg))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            names = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            if any(isinstance(name, ast.Name) and re.search("HINT|MESSAGE", name.id) for name in names):
                yield from ((node.lineno, text) for text in list_agent_words(node.value))


def test_no_message_or_hint_sends_an_agent_to_a_terminal() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in MODULES
        for line, text in list_texts(read_nodes(path))
        if OF_A_TERMINAL.search(text)
    ]

    assert len(MODULES) > 100
    assert found == []


def test_the_search_for_such_words_finds_them() -> None:
    bad = 'raise InvalidInput("x", recovery_hint=FrontendText("Leave out --all, ", PerFrontend("add --force", "wait")))'
    good = 'raise InvalidInput("x", recovery_hint=FrontendText("Ask anew, or ", PerFrontend("add --force", "wait")))'

    assert [text for _, text in list_texts(ast.walk(ast.parse(bad))) if OF_A_TERMINAL.search(text)]
    assert not [text for _, text in list_texts(ast.walk(ast.parse(good))) if OF_A_TERMINAL.search(text)]
