"""The rich console; imported only for output to a terminal or a page."""

import shutil
import sys
from typing import Any, Final

from rich.console import Console
from rich.text import Text

MIN_WIDTH: Final = 20
MAX_WIDTH: Final = 1_000


def print_line(text: str, style: str, color: str) -> None:
    """Print a line on stderr with its first word in a style, or the whole line if the style is dim."""
    line = Text(text)
    first, colon, _ = text.partition(":")
    line.stylize(style, 0, None if style == "dim" else len(first) + len(colon))
    console = create_console(sys.stderr, color)
    console.print(line, soft_wrap=not console.is_terminal)


def has_links(console: Console) -> bool:
    """Return whether the terminal is likely to support links; never for a pipe or a file, even if it gets colors."""
    has_colors = console.color_system in ("256", "truecolor") and not console.no_color
    return has_colors and console.file.isatty() and not (console.legacy_windows or console.is_dumb_terminal)


def create_console(file: Any, color: str) -> Console:
    """Return a console that writes tables and pages to a file or sink, with the selected colors.

    Rich itself supports NO_COLOR, FORCE_COLOR, COLUMNS and TERM.
    """
    options: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}
    if color == "always":
        options |= {"force_terminal": True, "no_color": False}
    elif color == "never":
        options |= {"no_color": True, "color_system": None}
    console = Console(file=file, **options)
    # With COLUMNS=0 rich would print nothing, and with a million it would take a minute.
    if console.width < 1:
        console.width = shutil.get_terminal_size().columns  # treats 0 as unset
    console.width = min(max(console.width, MIN_WIDTH), MAX_WIDTH)
    return console
