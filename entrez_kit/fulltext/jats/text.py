"""Convert JATS elements to blocks of text in document order, without losing, joining or splitting words.

Inline markup is removed; superscripts and subscripts are converted by ``entrez_kit.base.markup`` ("1.73 m<sup>2</sup>"
becomes "1.73 m²"). Paragraphs, list items and rows are blocks on separate lines; tabs separate the cells of a row.
Mixed citations keep their text; element citations are joined field by field.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, Final

from entrez_kit.base.formulas import read_formula
from entrez_kit.base.markup import CALLOUT, END, SUBSCRIPT, SUPERSCRIPT, write_scripts
from entrez_kit.base.mixed_content import SCRIPTS
from entrez_kit.base.numerals import to_roman
from entrez_kit.fulltext.jats.element_names import (
    BLOCK,
    CITATIONS,
    FLOATS,
    FORMULAS,
    HIDDEN,
    INLINE,
    ONE_BLOCK,
    PEOPLE,
    PICTURES,
    PLAIN,
    PREFERRED,
    TIGHT,
    TITLES,
)
from entrez_kit.fulltext.jats.tables import read_table_rows
from entrez_kit.fulltext.jats.tree import find_child, get_attribute, get_local_name, iter_children

BREAK: Final = "\x1f"
"""A placeholder for a forced line break until the text is normalized; XML does not allow this character."""
FORMULA: Final = "[formula]"
"""The text for a formula that is only a picture."""
MAX_SECTIONS: Final = 30
"""Sections nested deeper become part of the text of their parent."""

_CITED: Final = "bibr"
_REACH: Final = 16
"""The number of last pieces of a line that are searched for its last character."""
_MAX_MARK: Final = 5
"""In characters; longer links to notes are words of the sentence ("see note 3")."""
_BLANKS: Final = re.compile(r"[ \t\r\n\f\v\x85\u2028\u2029]+")
_AT_BREAK: Final = re.compile(rf"(?<! ) *+{BREAK} *+")
_MIN_ALT_WORDS: Final = 4
"""Shorter alternative texts, such as "Image 1", carry no information."""
_NO_ALT: Final = ("An external file that holds a picture", "graphic file with name", "Click here for")


def collapse_spaces(text: str) -> str:
    """Collapse white space; forced breaks become line breaks, typographic spaces stay."""
    return _AT_BREAK.sub("\n", _BLANKS.sub(" ", text)).strip(" \n")


def remove_line_breaks(text: str) -> str:
    """Return text without line breaks and tabs."""
    return _BLANKS.sub(" ", text.replace(BREAK, " ")).strip(" ")


def read_blocks(element: Any, *, without: Iterable[str] = (), skip: Iterable[Any] = ()) -> list[str]:
    """Return the blocks of an element's content; an empty list for None.

    Args:
        without: names of elements to omit at any depth.
        skip: child elements to omit.
    """
    flow = BlockCollector(without=frozenset(without))
    if element is not None:
        flow.add_content(element, skip=skip)
    return flow.finish()


def read_inline_text(element: Any, *, without: Iterable[str] = ()) -> str:
    """Return an element's text on one line, without the elements named in ``without``; "" for None."""
    return remove_line_breaks(" ".join(read_blocks(element, without=without)))


def yield_parts(element: Any, *, without: Iterable[str] = (), depth: int = 0) -> Iterator[Any]:
    """Yield the blocks before a section, the section, the blocks after it, and so on to the end.

    A box with a title, or with sections inside, is a section too.

    Args:
        without: names of child elements to omit.
        depth: the nesting level; sections below ``MAX_SECTIONS`` are plain text.
    """
    flow = BlockCollector()
    flow.add_text(element.text)
    for node in element:
        name = get_local_name(node)
        if (name == "sec" or (name == "boxed-text" and is_section(node))) and depth < MAX_SECTIONS:
            yield flow.finish()
            yield node
            flow = BlockCollector()
        elif name not in without:
            flow.add_node(node)
        flow.add_text(node.tail)
    yield flow.finish()


def is_section(box: Any) -> bool:
    """Return whether a box has a title or sections inside."""
    return bool(read_heading(box)[1]) or find_child(box, "sec") is not None


def read_heading(element: Any) -> tuple[str, str]:
    """Return label and title of a section or box, "" if missing; subtitles are part of the title."""
    label = read_inline_text(find_child(element, "label"))
    holder = element
    if get_local_name(element) == "boxed-text" and find_child(element, "title") is None:
        holder = find_child(element, "caption")
    titles = (
        [read_inline_text(title) for title in iter_children(holder, "title", "subtitle")] if holder is not None else []
    )
    return label, remove_line_breaks(" ".join(title for title in titles if title))


class BlockCollector:
    """Collects the blocks of an element, in document order.

    Args:
        without: names of elements that are left out.
    """

    def __init__(self, *, without: frozenset[str] = frozenset()) -> None:
        self.blocks: list[str] = []
        self._without = without
        self._line: list[str] = []
        self._floats: list[str] = []
        self._in_paragraph = 0
        self._in_mark = 0
        self._in_script = 0
        self._apart = False

    def finish(self) -> list[str]:
        """End the last line and return all blocks."""
        self.end_line()
        self.blocks += self._floats
        self._floats = []
        return self.blocks

    def add_text(self, text: str | None) -> None:
        """Add text to the line."""
        if not text:
            return
        if self._apart:
            self._apart = False
            before = self._line[-1] if self._line else ""
            if before[-1:].isalnum() and text[0].isalnum():
                self._line.append(" ")
        self._line.append(text)

    def end_line(self) -> None:
        """End the line; the next text starts a new block."""
        self._apart = False
        if self._line:
            line = write_scripts(collapse_spaces("".join(self._line)))
            self._line = []
            if line:
                self.blocks.append(line)

    def append_block(self, text: str) -> None:
        """End the line and add a finished block."""
        self.end_line()
        if text.strip():
            self.blocks.append(text)

    def _get_last_character(self) -> str:
        """Return the last character of the line; "" if the line is empty or ends with a space."""
        for piece in reversed(self._line[-_REACH:]):
            if piece not in (SUPERSCRIPT, SUBSCRIPT, CALLOUT, END) and piece:
                return piece[-1].strip()
        return ""

    # elements

    def add_content(self, element: Any, *, skip: Iterable[Any] = ()) -> None:
        """Add the text and the elements of an element."""
        left_out = set(skip)
        self.add_text(element.text)
        for node in element:
            if node not in left_out:
                self.add_node(node)
            elif get_local_name(node):
                self._apart = True  # it separates two words
            self.add_text(node.tail)

    def add_node(self, element: Any) -> None:
        """Add an element."""
        name = get_local_name(element)
        if not name or name in HIDDEN or name in self._without:
            return
        if name in FLOATS and self._in_paragraph and any(piece.strip() for piece in self._line):
            self._floats += self.read_part(lambda part: part.add_node(element))
            return
        if handler := _HANDLERS.get(name):
            handler(self, element)
        elif name in INLINE:
            self.add_content(element)
        elif name in ONE_BLOCK:
            self.add_block(BlockCollector.add_float, element)
        elif name in BLOCK:
            self.end_line()
            self.add_float(element)
            self.end_line()
        else:
            self.add_apart(lambda: self.add_content(element))

    def add_apart(self, add: Callable[[], None]) -> None:
        """Add text that is separate from the adjacent words."""
        self._apart = True
        add()
        self._apart = True

    def read_part(self, fill: Callable[["BlockCollector"], None]) -> list[str]:
        """Return the blocks of a part that is read separately."""
        flow = BlockCollector(without=self._without)
        fill(flow)
        return flow.finish()

    def add_block(self, read: Callable[["BlockCollector", Any], None], element: Any) -> None:
        """Add an element as one block."""
        self.append_block("\n".join(self.read_part(lambda part: read(part, element))))

    def read_inline(self, element: Any) -> str:
        """Return an element's text on one line; "" for None."""
        if element is None:
            return ""
        return remove_line_breaks(" ".join(self.read_part(lambda part: part.add_content(element))))

    def add_headed(self, element: Any) -> None:
        """Add label and title on one line, then the rest of an element."""
        names = [name for name in ("label", "title") if name not in self._without]
        head = list(iter_children(element, *names)) if len(element) and names else []
        head = head[: 2 if [get_local_name(node) for node in head[:2]] == ["label", "title"] else 1]
        if head and head[0] is next(iter_children(element), None):
            self.end_line()
            self.append_block(remove_line_breaks(" ".join(self.read_inline(node) for node in head)))
            self.add_content(element, skip=head)
        else:
            self.add_content(element)

    def add_float(self, element: Any) -> None:
        """Add label and title, the rest, and the DOI that figures, tables and boxes of some journals have."""
        self.add_headed(element)
        for node in iter_children(element, "object-id"):
            self.append_block(self.read_inline(node) if get_attribute(node, "pub-id-type") == "doi" else "")

    def add_paragraph(self, element: Any) -> None:
        """Add a paragraph, then the elements that are only anchored in it."""
        self.end_line()
        self._in_paragraph += 1
        self.add_content(element)
        self._in_paragraph -= 1
        self.end_line()
        if not self._in_paragraph:
            self.blocks += self._floats
            self._floats = []

    def add_verbatim(self, element: Any) -> None:
        """Add preformatted text with its line breaks and spaces."""
        self.end_line()
        text = "".join(self._read_verbatim(element)).expandtabs(4).replace("\r\n", "\n")
        lines = textwrap.dedent(write_scripts(text)).split("\n")
        first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
        self.append_block("\n".join(line.rstrip() for line in lines[first:]).rstrip())

    def _read_verbatim(self, element: Any) -> Iterator[str]:
        """Yield the pieces of a text without normalizing white space."""
        yield element.text or ""
        for node in element:
            name = get_local_name(node)
            if name in ("break", "br"):
                yield "\n"
            elif name:
                script = SCRIPTS.get(name)
                yield script or ""
                yield from self._read_verbatim(node)
                yield END if script else ""
            yield node.tail or ""

    def add_list(self, element: Any) -> None:
        """Add a list as one block: items with their marks, terms with their definitions, and text between them."""
        kind = get_attribute(element, "list-type").lower()
        numbers = count(1)
        lines = [remove_line_breaks(element.text or "")]
        for node in element:
            name = get_local_name(node)
            if name == "list-item":
                lines += self._read_item(node, kind, next(numbers))
            elif name == "def-item":
                lines += self._read_definition(node)
            else:
                lines += [self.read_inline(node)] if name in ("label", "title") else self._read_lines(node)
            lines.append(remove_line_breaks(node.tail or ""))
        self.append_block("\n".join(line for line in lines if line))

    def _read_lines(self, element: Any) -> list[str]:
        return "\n".join(self.read_part(lambda part: part.add_node(element))).split("\n")

    def _read_item(self, element: Any, kind: str, number: int) -> list[str]:
        label = find_child(element, "label")
        mark = self.read_inline(label) or _choose_item_mark(kind, number)
        part = self.read_part(lambda part: part.add_content(element, skip=[label]))
        first, *more = "\n".join(part).split("\n")
        return [f"{mark} {first}".strip(), *(f"  {line}" for line in more)]

    def _read_definition(self, element: Any) -> list[str]:
        """Return a term and its definition, on one line if there is one of each."""
        parts: list[list[str]] = [[remove_line_breaks(element.text or "")]]
        for node in element:
            parts += [self._read_lines(node), [remove_line_breaks(node.tail or "")]]
        filled = [lines for part in parts if (lines := [line for line in part if line.strip()])]
        if not filled:
            return []
        (first, *more), *others = filled
        if others and not more:
            (second, *more), *others = others
            first = f"{first} — {second}"
        return [first, *(f"  {line}" for lines in (more, *others) for line in lines)]

    def add_script(self, element: Any) -> None:
        """Add a superscript or subscript as marks, which are converted when the line is complete."""
        kind = SCRIPTS[get_local_name(element)]
        if kind == SUPERSCRIPT and (self._in_mark or any(_is_mark(node) for node in iter_children(element, "xref"))):
            kind = CALLOUT
        self._in_script += 1
        self._line.append(kind)
        self.add_content(element)
        self._line.append(END)
        self._in_script -= 1

    def add_link(self, element: Any) -> None:
        """Add a link. A note mark or callout next to a word is separated from it."""
        is_mark = _is_mark(element)
        self._in_mark += is_mark
        if is_mark and not self._in_script and self._is_glued(element):
            self._line.append(CALLOUT)
            self.add_content(element)
            self._line.append(END)
        else:
            self.add_content(element)
        self._in_mark -= is_mark

    def _is_glued(self, element: Any) -> bool:
        """Return whether a callout that is not a superscript would become part of the word before it."""
        before, mark = self._get_last_character(), "".join(element.itertext()).strip()
        if not before or not 0 < len(mark) <= _MAX_MARK or next(element.iter("{*}sup"), None) is not None:
            return False
        if get_attribute(element, "ref-type") == _CITED:  # "1999" and a link "a" are a year with a suffix
            return before.isalnum() and mark[0].isdigit()
        return before not in "([,;–-" if mark[0].isalnum() else before.isalnum()

    def add_footnote(self, element: Any) -> None:
        """Add a footnote as one block, with its mark first."""
        label = find_child(element, "label")
        part = self.read_part(lambda part: part.add_content(element, skip=[label]))
        self.append_block(f"{self.read_inline(label)} {chr(10).join(part)}".strip())

    def add_display_formula(self, element: Any) -> None:
        """Add a formula with its number on a separate line."""
        label = find_child(element, "label")
        text = self.read_formula(element, skip=[label])
        self.append_block(f"{text} {self.read_inline(label)}".strip())

    def read_formula(self, element: Any, skip: Iterable[Any] = ()) -> str:
        """Return a formula on one line, or a placeholder if it is only a picture."""
        named = {get_local_name(node): node for node in reversed(list(iter_children(element)))}
        if "math" in named and read_formula(named["math"]):  # the others are pictures and other notations of it
            skip = [*skip, *iter_children(element, "tex-math", *PICTURES)]
        blocks = self.read_part(lambda part: part.add_content(element, skip=skip))
        text = remove_line_breaks(" ".join(blocks))
        return text or (FORMULA if any(get_local_name(node) in PICTURES for node in element.iter()) else "")

    def add_alternatives(self, element: Any) -> None:
        """Add the best of several alternatives that have text or are formulas."""
        rank = {name: place for place, name in enumerate(PREFERRED)}
        for node in sorted(iter_children(element), key=lambda node: rank.get(get_local_name(node), len(rank))):
            if get_local_name(node) in FORMULAS or any(words.strip() for words in node.itertext()):
                self.add_node(node)
                return
        self.add_text(element.text)

    def add_picture(self, element: Any) -> None:
        """Add the label, caption and description of a picture."""
        if len(element):
            self.add_block(BlockCollector.add_float, element)

    def add_alternative_text(self, element: Any) -> None:
        """Add the description of a picture, unless it carries no information."""
        words = remove_line_breaks("".join(element.itertext()))
        if len(words.split()) >= _MIN_ALT_WORDS and not words.startswith(_NO_ALT):
            self.append_block(words)

    def add_abbreviation(self, element: Any) -> None:
        """Add an abbreviation, with its meaning in brackets if the markup has one."""
        meaning = find_child(element, "def")
        self.add_content(element, skip=[meaning])
        if meaning is not None:
            self.add_text(f" ({self.read_inline(meaning)})")

    def add_table(self, element: Any) -> None:
        """Add a table: a line per row, a tab between cells."""
        self.end_line()
        for caption in iter_children(element, "caption", "title"):  # inside the table, as in HTML
            self.add_node(caption)
        rows = read_table_rows(element, self._read_cell)
        if any(any(row) for row in rows):
            self.blocks.append("\n".join("\t".join(row) for row in rows if any(row)))

    def _read_cell(self, cell: Any) -> str:
        # a fast path: most cells have only text and simple markup, and there may be a hundred thousand
        if all(node.tag in PLAIN for node in cell.iterdescendants()):
            return remove_line_breaks("".join(cell.itertext()))
        return self.read_inline(cell)

    def add_name(self, element: Any) -> None:
        """Add a person's name."""
        parts = [self.read_inline(part) for part in iter_children(element, "prefix", "given-names")]
        parts += [self.read_inline(part) for part in iter_children(element, "surname", "suffix")]
        self.add_apart(lambda: self.add_text(" ".join(filter(None, parts)) or self.read_inline(element)))


def _is_mark(link: Any) -> bool:
    """Return whether a link goes to a note, an affiliation or a reference."""
    kind = get_attribute(link, "ref-type")
    return kind in ("fn", "table-fn", "author-notes", "corresp", "aff") or kind == _CITED


def _read_tex(element: Any) -> str:
    """Return a TeX formula without the document that some publishers wrap around it."""
    written = "".join(element.itertext())
    _, begins, inner = written.partition(r"\begin{document}")
    inner = (inner.partition(r"\end{document}")[0] if begins else written).strip()
    for opening, closing in (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$")):
        if inner.startswith(opening) and inner.endswith(closing) and len(inner) >= len(opening + closing):
            inner = inner[len(opening) : -len(closing)]
            break
    return " ".join(inner.split())


def _choose_item_mark(kind: str, number: int) -> str:
    """Return the mark of a list item: its number in the style of the list, a dash, or nothing."""
    if kind == "order" or kind.startswith(("arabic", "number")):
        return f"{number}."
    if kind.startswith("alpha"):
        letter = chr(ord("a") + (number - 1) % 26)
        return f"{letter.upper() if 'upper' in kind else letter}."
    if kind.startswith("roman"):
        roman = to_roman(number)
        return f"{roman.upper() if 'upper' in kind else roman}."
    return "" if kind in ("simple", "none") else "-"


_IDS: Final[Mapping[str, str]] = {"doi": "doi:", "pmid": "PMID:", "pmc": "", "pmcid": "", "arxiv": "arXiv:"}


def read_citation(element: Any, *, label: bool = True) -> str:
    """Return a citation on one line.

    Args:
        element: the citation, of any kind.
        label: whether its number is part of it.
    """
    while get_local_name(element) == "citation-alternatives" and find_child(element) is not None:
        best = find_child(element, "mixed-citation")
        element = best if best is not None else find_child(element)
    skip = None if label else find_child(element, "label")
    if get_local_name(element) != "mixed-citation" and _is_fields(element):
        return _join_fields(element, skip)
    return _read_on_one_line(element, skip)


def _is_fields(element: Any) -> bool:
    """Return whether there is no text between the fields, so that punctuation must be added."""
    between = [element.text, *(node.tail for node in element)]
    return len(element) > 0 and not any(text and text.strip(" \t\r\n.,;:") for text in between)


# Citations, verbatim


class _Verbatim(BlockCollector):
    """Collects the text of a citation, with a space if two fields would form one word."""

    def add_node(self, element: Any) -> None:
        """Add an element; no element is hidden, and a superscript is not a note mark."""
        name = get_local_name(element)
        if name in FORMULAS or name in ("alternatives", "math", "tex-math", "break", "br"):
            super().add_node(element)
        elif name in SCRIPTS:
            self._line.append(SCRIPTS[name])
            self.add_content(element)
            self._line.append(END)
        elif name in TIGHT:
            self.add_content(element)
        elif name:
            self.add_apart(lambda: self.add_content(element))


def _read_on_one_line(element: Any, skip: Any = None) -> str:
    flow = _Verbatim()
    flow.add_content(element, skip=[skip])
    return remove_line_breaks(" ".join(flow.finish()))


# Citations, field by field


def _join_fields(element: Any, skip: Any) -> str:
    """Return the fields of a citation in the order of a reference list; other fields come last."""
    left = [node for node in iter_children(element) if node is not skip]

    def take(*names: str) -> list[Any]:
        removed = [node for node in left if get_local_name(node) in names]
        if removed:
            left[:] = [node for node in left if get_local_name(node) not in names]
        return removed

    def read_text(*names: str, joiner: str = " ") -> str:
        return joiner.join(filter(None, (_read_field(node) for node in take(*names))))

    people = take(*PEOPLE)
    authors: list[Any] = []
    editors: list[Any] = []
    for node in people:
        is_author = get_attribute(node, "person-group-type") in ("", "author", "authors", "collab")
        (authors if is_author else editors).append(node)
    parts = [read_text("label"), _read_people(authors), read_text(*TITLES, joiner=". ")]
    if editors:
        kind = get_attribute(editors[0], "person-group-type")
        parts.append(f"{_read_people(editors)} ({kind})")
    parts += [read_text("source"), read_text("edition"), read_text("conf-name", "conf-loc", "conf-date", joiner=", ")]
    parts.append(": ".join(filter(None, (read_text("publisher-loc"), read_text("publisher-name")))))
    date = read_text("year", "month", "day", "season", "string-date") or read_text("date")
    volume = read_text("volume") + (f"({issue})" if (issue := read_text("issue")) else "")
    first, last = read_text("fpage"), read_text("lpage")
    pages = read_text("page-range") or (f"{first}-{last}" if first and last and first != last else first or last)
    pages = ", ".join(filter(None, (pages, read_text("elocation-id"))))
    location = f"{volume}:{pages}" if volume and pages else volume or pages
    parts.append(";".join(filter(None, (date, location))))
    identifiers = take("pub-id")
    parts += [_read_field(node) for node in left]
    parts += [_read_identifier(node) for node in identifiers]
    return _join_sentences(parts)


def _read_identifier(node: Any) -> str:
    value = read_inline_text(node)
    prefix = _IDS.get(get_attribute(node, "pub-id-type").lower(), "")
    return value if value.lower().startswith(prefix.lower().rstrip(":") or "\0") else f"{prefix}{value}"


def _read_field(node: Any) -> str:
    if get_local_name(node) in ("name", "string-name", "person-group"):
        return _read_people([node])
    return _read_on_one_line(node)


def _read_people(nodes: Iterable[Any]) -> str:
    names: list[str] = []
    for node in nodes:
        kind = get_local_name(node)
        if kind == "person-group":
            inner = _read_people(iter_children(node))
            names.append(inner or read_inline_text(node))
        elif kind == "name-alternatives":
            names.append(_read_people(list(iter_children(node))[:1]))
        elif kind == "name":
            surname, first_name = (read_inline_text(find_child(node, part)) for part in ("surname", "given-names"))
            suffix, prefix = (read_inline_text(find_child(node, part)) for part in ("suffix", "prefix"))
            names.append(" ".join(filter(None, (prefix, surname, first_name, suffix))) or _read_on_one_line(node))
        elif kind == "etal":
            names.append(read_inline_text(node) or "et al.")
        elif kind == "anonymous":
            names.append("Anonymous")
        else:
            names.append(_read_on_one_line(node))
    return ", ".join(name for name in names if name)


def _join_sentences(parts: Iterable[str]) -> str:
    line = ""
    for part in (remove_line_breaks(part) for part in parts):
        if not part:
            continue
        if line and not line.endswith((".", "?", "!", ";", ":", ",")):
            line += "."
        line += f" {part}" if line else part
    last = line[line.rfind(" ") + 1 :]
    is_address = not last.endswith(("doi:", "://")) and any(mark in last for mark in ("https://", "http://", "doi:"))
    return line if not line or line.endswith((".", "?", "!")) or is_address else f"{line}."


_HANDLERS: Final[Mapping[str, Callable[[BlockCollector, Any], None]]] = {
    "p": BlockCollector.add_paragraph,
    **dict.fromkeys(("break", "br"), lambda flow, _: flow.add_text(BREAK)),
    **dict.fromkeys(("preformat", "code"), BlockCollector.add_verbatim),
    "verse-group": lambda flow, element: flow.add_block(BlockCollector.add_headed, element),
    **dict.fromkeys(("list", "def-list"), BlockCollector.add_list),
    "fn": BlockCollector.add_footnote,
    "disp-formula": BlockCollector.add_display_formula,
    "inline-formula": lambda flow, element: flow.add_text(flow.read_formula(element)),
    "math": lambda flow, element: flow.add_text(read_formula(element)),
    "tex-math": lambda flow, element: flow.add_text(_read_tex(element)),
    "alternatives": BlockCollector.add_alternatives,
    "graphic": BlockCollector.add_picture,
    **dict.fromkeys(("inline-graphic", "inline-media"), BlockCollector.add_content),
    **dict.fromkeys(("alt-text", "long-desc"), BlockCollector.add_alternative_text),
    "abbrev": BlockCollector.add_abbreviation,
    "table": BlockCollector.add_table,
    "xref": BlockCollector.add_link,
    **dict.fromkeys(SCRIPTS, BlockCollector.add_script),
    "name": BlockCollector.add_name,
    **dict.fromkeys(CITATIONS, lambda flow, element: flow.add_apart(lambda: flow.add_text(read_citation(element)))),
}
