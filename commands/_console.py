"""The rich console; imported only where something is shown to people."""

import shutil
import sys
from typing import Any, Final

from rich.console import Console
from rich.text import Text

MIN_WIDTH: Final = 20
MAX_WIDTH: Final = 1_000


def print_line(text: str, style: str, color: str) -> None:
    """Print a line on stderr with its first word in a style; all of it where the style is dim."""
    line = Text(text)
    first, colon, _ = text.partition(":")
    line.stylize(style, 0, None if style == "dim" else len(first) + len(colon))
    console = console_for(sys.stderr, color)
    console.print(line, soft_wrap=not console.is_terminal)


def links_shown(console: Console) -> bool:
    """Tell whether the terminal is likely to make links clickable; else addresses are written out."""
    return bool(console.is_terminal and console.color_system in ("256", "truecolor") and not console.legacy_windows)


def console_for(file: Any, color: str) -> Console:
    """Return a console that writes tables and pages to a file or sink, with the colours the user wants.

    Rich itself honours NO_COLOR, FORCE_COLOR, COLUMNS and TERM.
    """
    options: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}
    if color == "always":
        options |= {"force_terminal": True, "no_color": False}
    elif color == "never":
        options |= {"no_color": True, "color_system": None}
    console = Console(file=file, **options)
    # COLUMNS may say anything; rich would print nothing at all in 0 columns, and spend a minute on a million.
    if console.width < 1:
        console.width = shutil.get_terminal_size().columns  # takes 0 as unset
    console.width = min(max(console.width, MIN_WIDTH), MAX_WIDTH)
    return console
