"""Texts for people and models whose parts differ by front end: calls, arguments, flags.

A hint names the next call as data. ``FrontendText`` puts such parts between plain words. The terminal and the server
have a ``Frontend`` each, which renders the parts as commands and flags, or as tools.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument by the name of its field in the request: ``sort_by``, in a terminal ``--sort``.

    Args:
        name: of the field.
        value: what to give it, where that is what is said: ``budget=4``, in a terminal ``--budget 4``.
        marked: whether a name that could be read as a word of the sentence stands between backticks.
    """

    name: str
    value: Any = None
    marked: bool = False


class NextCall:
    """A call to make next: an operation by its method of ``EntrezKit``, and arguments.

    Words say "call" before it; a terminal makes that "run". The value ``...`` is for the reader to fill in.
    """

    def __init__(self, method: str, **arguments: Any) -> None:
        self.method = method
        self.arguments: Mapping[str, Any] = arguments


@dataclass(frozen=True, slots=True)
class PerFrontend:
    """What the terminal says otherwise than the rest; Python may have words of its own as well."""

    terminal: str
    tools: str
    python: str | None = None


Part = str | Argument | NextCall | PerFrontend


class Frontend:
    """How Python says the parts of a wording; the other doors say some of them otherwise."""

    name: ClassVar[Literal["python", "terminal", "tools"]] = "python"
    verb: ClassVar[str] = "call"

    def argument(self, argument: Argument) -> str:
        """Return what an argument of the call under way is called, and the value it is given."""
        if argument.value is not None:
            return f"{argument.name}={_literal(argument.value)}"
        return f"`{argument.name}`" if argument.marked else argument.name

    def call(self, call: NextCall) -> str:
        """Return a call as it is made."""
        shown = ", ".join(f"{name}={_literal(value)}" for name, value in call.arguments.items())
        return f"kit.{call.method}({shown})" if shown else f"kit.{call.method}"

    def say(self, text: str) -> str:
        """Return a text in the words of this door; a plain one is everybody's."""
        return "".join(self._said(text.parts)) if isinstance(text, FrontendText) else text

    def _said(self, parts: tuple[Part, ...]) -> list[str]:
        said: list[str] = []
        for part in parts:
            if isinstance(part, str):
                said.append(self.say(part))
            elif isinstance(part, Argument):
                said.append(self.argument(part))
            elif isinstance(part, PerFrontend):
                own = part.tools if self.name == "tools" or part.python is None else part.python
                said.append(self.say(part.terminal if self.name == "terminal" else own))
            else:
                for verb in ("call", "Call"):
                    if said and said[-1].endswith(f"{verb} "):
                        mine = self.verb.capitalize() if verb.istitle() else self.verb
                        said[-1] = said[-1].removesuffix(f"{verb} ") + f"{mine} "
                said.append(self.call(part))
        return said


def listed(names: Iterable[str]) -> str:
    """Return names as a message lists them: the first ten, and dots where there are more."""
    some = list(names)
    return ", ".join(some[:10]) + (" ..." if len(some) > 10 else "")


def _literal(value: Any) -> str:
    if value is ...:
        return "..."
    return str(value) if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)


PYTHON: Final = Frontend()


class FrontendText(str):
    """A text whose parts every door says in its own words; by itself it is in those of Python."""

    __slots__ = ("parts",)
    parts: tuple[Part, ...]

    def __new__(cls, *parts: Part) -> "FrontendText":
        text = super().__new__(cls, "".join(PYTHON._said(parts)))
        text.parts = parts
        return text

    @classmethod
    def joined(cls, separator: str, parts: Iterable[Part]) -> "FrontendText":
        """Return parts with a separator between each two of them."""
        pieces: list[Part] = [piece for part in parts for piece in (separator, part)]
        return cls(*pieces[1:])

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.parts


AGAIN: Final = PerFrontend("Run the same command again", "Make the same call again")
"""What to do where something passes by itself, or goes on from where it ended."""
KEPT: Final = FrontendText(AGAIN, ": what was answered is in the cache, only the rest is asked for.")
ANEW: Final = PerFrontend(
    "Run the same command again with --refresh",
    "Make the same call again in a little while",
    "Make the same call again with EntrezKit(refresh=True)",
)
"""What to do about an answer that should not be taken from the cache."""

OFFLINE_SWITCH: Final = PerFrontend("--offline", "ENTREZ_KIT_OFFLINE", "offline=True")
BASE_ADDRESS: Final = FrontendText("Check the base address", PerFrontend(" with `entrez-kit config show`", ""), ".")


def run(command: str, tools: str) -> PerFrontend:
    """Return the advice to run a command that only the terminal has, and what agents are told to do instead."""
    return PerFrontend(f"Run `entrez-kit {command}`", tools, f"In a terminal run `entrez-kit {command}`")


REINDEX: Final = run("corpus reindex", "Ask whoever runs the server to make the index of the corpus anew")
GIVE_IDS: Final = "Give PMIDs (12345678), PMCIDs (PMC1234567) or DOIs (10.1000/xyz)."
CHECK_IDS: Final = FrontendText(
    "Check the identifiers; to look for the article call ", NextCall("search_articles", query_term=...), "."
)
