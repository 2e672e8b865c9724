"""Texts with parts that differ by front end: calls, arguments, flags.

A hint names the next call as data. ``FrontendText`` combines such parts with plain words. The terminal and the server
each have a ``Frontend`` that renders the parts as commands and flags, or as tools.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument, by its field name in the request: ``sort_by`` is ``--sort`` in a terminal.

    Args:
        name: the name of the field.
        value: the suggested value, if there is one: ``budget=4`` is ``--budget 4`` in a terminal.
        marked: whether backticks mark the name, because it could be read as a part of the sentence.
    """

    name: str
    value: Any = None
    marked: bool = False

    def __format__(self, spec: str) -> str:
        raise _lost_error(self)


class NextCall:
    """A call to make next: the method of ``EntrezKit``, and arguments.

    The text before it ends with "call", which a terminal shows as "run". The reader replaces the value ``...``.
    """

    def __init__(self, method: str, **arguments: Any) -> None:
        self.method = method
        self.arguments: Mapping[str, Any] = arguments

    def __format__(self, spec: str) -> str:
        raise _lost_error(self)


@dataclass(frozen=True, slots=True)
class PerFrontend:
    """A text that differs between terminal and tools; Python uses the one for tools unless it has its own."""

    terminal: "Text"
    tools: "Text"
    python: "Text | None" = None

    def __format__(self, spec: str) -> str:
        raise _lost_error(self)


@dataclass(frozen=True, slots=True, init=False)
class FrontendText:
    """A text with parts that each front end renders; ``str`` renders it for Python.

    It is not a string, and formatting it raises an error: a string could not contain its parts. To insert it in another
    text, pass both to a ``FrontendText``.
    """

    parts: "tuple[Part, ...]"

    def __init__(self, *parts: "Part") -> None:
        object.__setattr__(self, "parts", parts)

    @classmethod
    def join_parts(cls, separator: str, parts: "Iterable[Part]") -> "FrontendText":
        """Return one text of parts with a separator between them."""
        pieces: list[Part] = [piece for part in parts for piece in (separator, part)]
        return cls(*pieces[1:])

    def __str__(self) -> str:
        return PYTHON.say(self)

    def __format__(self, spec: str) -> str:
        raise _lost_error(self)


def _lost_error(part: object) -> TypeError:
    return TypeError(f"a string cannot contain a {type(part).__name__}; use FrontendText(...) to join texts")


Part = str | Argument | NextCall | PerFrontend | FrontendText
Text = str | FrontendText
"""A text of an error or a warning: the same for all front ends, or with parts that each renders."""


class Frontend:
    """Render the parts of a text for Python; the other front ends override some methods."""

    name: ClassVar[Literal["python", "terminal", "tools"]] = "python"
    verb: ClassVar[str] = "call"

    def name_argument(self, argument: Argument) -> str:
        """Return the name of an argument of the current call, and its suggested value."""
        if argument.value is not None:
            return f"{argument.name}={_format_literal(argument.value)}"
        return f"`{argument.name}`" if argument.marked else argument.name

    def call(self, call: NextCall) -> str:
        """Return a call in the syntax of the front end."""
        arguments = ", ".join(f"{name}={_format_literal(value)}" for name, value in call.arguments.items())
        return f"kit.{call.method}({arguments})" if arguments else f"kit.{call.method}"

    def say(self, text: Text) -> str:
        """Return a text rendered for this front end; a plain string is returned unchanged."""
        return text if isinstance(text, str) else "".join(self._render(text.parts))

    def _render(self, parts: tuple[Part, ...]) -> list[str]:
        texts: list[str] = []
        for part in parts:
            if isinstance(part, str | FrontendText):
                texts.append(self.say(part))
            elif isinstance(part, Argument):
                texts.append(self.name_argument(part))
            elif isinstance(part, PerFrontend):
                own = part.tools if self.name == "tools" or part.python is None else part.python
                texts.append(self.say(part.terminal if self.name == "terminal" else own))
            else:
                for verb in ("call", "Call"):
                    if texts and texts[-1].endswith(f"{verb} "):
                        mine = self.verb.capitalize() if verb.istitle() else self.verb
                        texts[-1] = texts[-1].removesuffix(f"{verb} ") + f"{mine} "
                texts.append(self.call(part))
        return texts


def format_count(number: int, singular: str, many: str | None = None) -> str:
    """Return a number and what it counts: "1 record", "2 records", "1,234 replies".

    Args:
        singular: the text after the number 1, which may have a verb: "record takes".
        many: the text after any other number. Default: ``singular`` and "s".
    """
    return f"{number:,} {singular if number == 1 else many or f'{singular}s'}"


def join_names(names: Iterable[str]) -> str:
    """Return names as a list in a message: the first ten, and the number of the others. Long ones are truncated."""
    listed_names = [cut_middle(name, MAX_NAME) for name in names]
    return ", ".join(listed_names[:10]) + (f" and {len(listed_names) - 10} more" if len(listed_names) > 10 else "")


def join_with(names: Sequence[str], conjunction: str = "and") -> str:
    """Return all names as a list with a conjunction before the last one: "journal, year and volume"."""
    *front, last = names or [""]
    return f"{', '.join(front)} {conjunction} {last}" if front else last


def _format_literal(value: Any) -> str:
    if value is ...:
        return "..."
    return str(value) if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)


MAX_QUOTED: Final = 80
"""Maximum characters of a text or a line that a message quotes."""


def cut_end(text: str, limit: int) -> str:
    """Return a text with a maximum number of characters; a truncated text ends with an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def cut_middle(text: str, limit: int) -> str:
    """Return a text; if it is too long, its beginning and its end."""
    return text if len(text) <= limit else f"{text[: limit * 3 // 4]} … {text[-limit // 5 :]}"


MAX_NAME: Final = 120
"""Maximum characters of a name in a list of a message."""
MAX_VALUE: Final = 60
"""Maximum characters of a value in a message."""


def quote_value(value: object) -> str:
    """Return a value for a message: a text in quotes, a list by its length."""
    if isinstance(value, list | tuple):
        return format_count(len(value), "entry", "entries")
    return repr(cut_middle(value, MAX_VALUE)) if isinstance(value, str) else cut_middle(repr(value), MAX_VALUE)


MAX_CHOICES: Final = 20
"""Maximum number of accepted words in a message."""


_ONE_OF: Final = "one of: "


def list_choices(names: Sequence[str]) -> str:
    """Return the accepted words for ``describe_wrong_value``; of very many the first ten."""
    if len(names) > MAX_CHOICES:
        return f"{_ONE_OF}{join_names(names)}"
    return f"{_ONE_OF}{', '.join(names)}"


def read_choices(accepted: object) -> list[str]:
    """Return the words in a text of ``list_choices``; empty for other texts."""
    text = str(accepted)
    return text.removeprefix(_ONE_OF).split(", ") if text.startswith(_ONE_OF) else []


def describe_wrong_value(name: Part, accepted: Part, value: object) -> FrontendText:
    """Return the message for every wrong value: "--top must be a whole number from 1 to 100 (got 'x')."

    Args:
        name: the argument.
        accepted: what it accepts, as a noun.
        value: the value given.
    """
    return FrontendText(name, " must be ", accepted, f" (got {quote_value(value)}).")


PYTHON: Final = Frontend()


AGAIN: Final = PerFrontend("Run the same command again", "Make the same call again")
"""The hint for an error that is temporary, or after which the same call continues."""
RESUME_HINT: Final = FrontendText(AGAIN, "; cached replies are reused, and only the rest is requested.")
RETRY_WITHOUT_CACHE: Final = PerFrontend(
    "Run the same command again with --refresh",
    "Make the same call again in a little while",
    "Make the same call again with EntrezKit(refresh=True)",
)
"""The hint to replace a cached reply."""

OFFLINE_SWITCH: Final = PerFrontend("--offline", "ENTREZ_KIT_OFFLINE", "offline=True")
BASE_ADDRESS: Final = FrontendText("Check the base address", PerFrontend(" with `entrez-kit config show`", ""), ".")


def suggest_command(command: str, tools: str) -> PerFrontend:
    """Return the hint to run a terminal command; ``tools`` is the hint for agents instead."""
    return PerFrontend(f"Run `entrez-kit {command}`", tools, f"In a terminal run `entrez-kit {command}`")


def name_guide(name: str) -> PerFrontend:
    """Return the name of a guide, with the command that shows it."""
    return PerFrontend(f"`entrez-kit guide {name}`", f"The guide `{name}`", f"`entrez-kit guide {name}`")


REINDEX: Final = suggest_command("corpus reindex", "Ask the operator of the server to rebuild the index of the corpus")
GIVE_IDS: Final = FrontendText(
    "Give PMIDs (12345678), PMCIDs (PMC1234567) or DOIs (10.1000/xyz)",
    PerFrontend(", or a file that contains them with -i FILE", ""),
    ".",
)
CHECK_IDS: Final = FrontendText("Check the ids, or call ", NextCall("search_articles", query_term=...), ".")
