"""Writes reference lists as people paste them: marks, widths, indents, empty lines, numbers, pages."""

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from entrez_kit.base.numerals import to_roman

MARKS = {
    "1.": "{}. ",
    "1)": "{}) ",
    "[1]": "[{}] ",
    "(1)": "({}) ",
    "tab": "{}.\t",
    "key": "[Key{:04}] ",
    "line": "{}.\n",
    "bullet": "• ",
    "": "",
}
BLANKS = ("none", "heading", "between", "some", "two")
NUMBERS = ("in order", "restarted", "repeated", "jumping")
HEAD = "Thistlewood et al. / Journal of Inventions 12 (2019) 3-14"
PAGES: dict[str, Callable[[int], list[str]]] = {
    "form feed": lambda _: ["\f"],
    "number": lambda page: [str(page)],
    "number, form feed": lambda page: [str(page), "\f"],
    "head": lambda _: [HEAD],
    "two heads": lambda page: [HEAD] if page % 2 else [f"{page} W.A. Thistlewood and I. Fenwick-Achebe"],
    "head, number": lambda page: ["Invented Medicine", str(page)],
    "form feed, head": lambda page: [f"\fJ Inv Med 2019; {page}"],
    "foot, form feed, head": lambda page: [f"www.example.org {page}", "\fInventions of Medicine"],
    "publisher": lambda page: [f"INVENTIONS ONE | https://doi.org/10.5555/inv.0212345 May 3, 2019 {page} / 315"],
    "manuscript": lambda page: [
        "Author Manuscript",
        "J Inv Med. Author manuscript; available in PMC 2014 May 1.",
        f"Page {page}",
    ],
    "download": lambda page: ["Downloaded from https://example.org/a by a guest on 3 May 2019", f"- {page} -"],
    "preprint": lambda page: [
        "bioRxiv preprint doi: https://doi.org/10.5555/2019.05.03.123456; this version posted May 3, 2019.",
        f"{page} of 315",
    ],
}
"""Lines between two pages."""
HEADS: dict[str, Callable[[int], str]] = {
    "authors, number left": lambda page: f"{page} W.A. Thistlewood and I. Fenwick-Achebe",
    "authors, number right": lambda page: f"W.A. Thistlewood, I. Fenwick-Achebe et al. {page}",
    "title, number left": lambda page: f"{page} Effects of moonlight on memory",
    "title, number right": lambda page: f"EFFECTS OF MOONLIGHT ON MEMORY {page}",
    "roman number left": lambda page: f"{to_roman(page)} Effects of moonlight on memory",
    "roman number right": lambda page: f"Effects of moonlight on memory {to_roman(page)}",
    "word before number": lambda page: f"Thistlewood: Moonlight | Page {page}",
    "authors or title": lambda page: (
        f"{page} W.A. Thistlewood, I. Fenwick-Achebe" if page % 2 else f"Effects of moonlight on memory {page}"
    ),
}
"""Page headers with the number of the page."""


def insert_pages(text: str, kind: str, size: int, *, empty: int = 0, first: int = 11) -> str:
    """Return a text with page headers and footers, with empty lines around them. A page has ``size`` lines."""
    lines = text.splitlines()
    written: list[str] = []
    for page, start in enumerate(range(0, len(lines), size), start=first):
        if start:
            between = [HEADS[kind](page)] if kind in HEADS else PAGES[kind](page)
            written += [""] * empty + between + [""] * empty
        written += lines[start : start + size]
    return "\n".join([*written, ""]).replace("\f\n", "\f")


def number_lines(text: str, step: int, *, first: int = 1) -> str:
    """Return a text with line numbers."""
    numbered = enumerate(text.splitlines(), start=first)
    return "".join(f"{n} {line}\n" if line and n % step == 0 else f"{line}\n" for n, line in numbered)


@dataclass(frozen=True)
class Layout:
    """How a list is written; ``unmarked`` are the numbers of the references without a mark."""

    mark: str = ""
    width: int = 0
    indent: str = ""
    blank: str = "none"
    numbers: str = "in order"
    unmarked: frozenset[int] = frozenset()
    heading: str = "References"
    newline: str = "\n"

    @property
    def shows_every_reference(self) -> bool:
        """Whether a mark, an empty line, an indent or a separate line shows the beginning of each reference."""
        marked = bool(self.mark) and not self.unmarked
        return marked or not self.width or bool(self.indent) or (not self.mark and self.blank in ("between", "two"))

    def written(self, references: Sequence[str]) -> str:
        """Return the list as text."""
        lines = [self.heading] if self.heading else []
        lines += [""] * (bool(lines) and self.blank in ("heading", "between"))
        number = 0
        for place, reference in enumerate(references):
            number += 1
            if self.numbers == "restarted" and place == len(references) // 2:
                number = 1
            number -= self.numbers == "repeated" and place % 5 == 4
            number += 7 * (self.numbers == "jumping" and place % 5 == 4)
            mark = "" if place in self.unmarked else MARKS[self.mark].format(number)
            for part in f"{mark}{reference}".split("\n"):
                wrapped = textwrap.wrap(
                    part, self.width or 10_000, subsequent_indent=self.indent, break_long_words=False
                )
                lines += wrapped if self.width else [part]
            lines += [""] * (self.blank in ("between", "two") or (self.blank == "some" and place % 3 == 1))
            lines += [""] * (self.blank == "two")
        return self.newline.join([*lines, ""])


@cache
def join_letters(text: str) -> str:
    """Return the letters and digits of a text, which no layout changes."""
    return "".join(re.findall(r"[^\W_]", text))
