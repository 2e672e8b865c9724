"""Write reference lists as people paste them: marks, widths, indents, empty lines, missing and repeated numbers."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Layout:
    """How a list is written; ``unmarked`` are the places of references without their mark."""

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
        """Whether a mark, an empty line, an indent or a line of its own shows where each reference begins."""
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
