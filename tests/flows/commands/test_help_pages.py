"""The help pages of all commands: their line breaks, and the calls in their examples."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from command_line import Cli, Module


def list_pages(module: Module) -> Iterator[tuple[str, str]]:
    """Yield the name and the help text of each command and each group."""

    def list_below(name: str, command: Any) -> Iterator[tuple[str, str]]:
        yield name, command.help
        for word, below in getattr(command, "commands", {}).items():
            yield from list_below(f"{name} {word}", below)

    app = module("_app")
    for group in app.COMMANDS:
        yield from list_below(group, app.load_command(group))


def find_example(line: str) -> str | None:
    """Return the call at the end of a line of a help page; a command in backquotes is a part of its sentence."""
    found = re.search(r"(?<!`)(entrez-kit .*)", line)
    return found[1].replace("\\[", "[").removesuffix(".") if found else None


def test_a_line_of_a_help_page_ends_with_a_sentence_or_an_example(module: Module) -> None:
    checked = 0
    for name, text in list_pages(module):
        for paragraph in text.split("\n\n"):
            for line, following in pairwise(paragraph.splitlines()):
                checked += 1
                is_end = line.endswith((".", ":")) or find_example(line) or following.startswith("entrez-kit ")
                assert is_end, (name, line)

    assert checked > 40


@pytest.mark.parametrize("columns", [80, 100])
def test_a_sentence_on_a_help_page_breaks_only_at_the_end_of_a_full_line(
    alone: Cli, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for words in (("doctor",), ("fetch",), ("merge",), ("verify",), ("fulltext",), ("local", "serve")):
        page = alone(*words, "--help").out.partition("╭")[0]
        for line, following in pairwise(one.strip() for one in page.splitlines()[3:]):
            if line and following and not line.endswith((".", ":")) and "entrez-kit" not in line + following:
                assert len(line) + 1 + len(following.split()[0]) > columns - 2, (words, line)


def test_lines_of_a_sentence_are_joined_and_examples_keep_their_line(module: Module) -> None:
    join_lines = module("_app").join_lines

    assert join_lines(
        "One sentence\non two lines:\nentrez-kit mesh x\nentrez-kit spell\n\nAnother:\nentrez-kit db"
    ) == ("One sentence on two lines:\nentrez-kit mesh x\nentrez-kit spell\n\nAnother:\nentrez-kit db")
    assert join_lines("See `entrez-kit guide\nmcp` for it.") == "See `entrez-kit guide mcp` for it."
    assert join_lines("") == ""
