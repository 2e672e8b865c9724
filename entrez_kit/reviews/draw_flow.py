"""Draw the PRISMA 2020 flow diagram as SVG: for a page, and in one column for a phone."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from textwrap import wrap
from typing import Final, NamedTuple

from entrez_kit.reviews.flow import Flow

FONT: Final = 13
LINE: Final = 17
PAD: Final = 10
LETTER: Final = 6.7
"""The width of an average letter."""
GAP: Final = 34
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")
STEPS: Final = ("Identification", "Screening", "Included")


def clean(text: str) -> str:
    """Return a text escaped for HTML and SVG, without characters that XML does not allow."""
    return escape(_CONTROLS.sub("", text), quote=True)


@dataclass(slots=True)
class _Box:
    """A box: its lines, the first one bold, and its place."""

    lines: list[str]
    x: float = 0
    y: float = 0
    width: float = 0
    wrapped: list[str] = field(default_factory=list)

    def set_place(self, x: float, y: float, width: float) -> None:
        """Set the place, and wrap the lines to the width."""
        self.x, self.y, self.width = x, y, width
        letters = int((width - 2 * PAD) / LETTER)
        self.wrapped = []
        for line in self.lines:
            indent = "    " if line.startswith("  ") else ""
            parts = wrap(line.strip(), letters - len(indent), break_long_words=True) or [""]
            self.wrapped += [f"{indent}{part}" for part in parts]

    @property
    def height(self) -> float:
        """Its height."""
        return len(self.wrapped) * LINE + 2 * PAD

    def draw(self) -> Iterator[str]:
        """Yield the elements of the box."""
        yield (
            f'<rect x="{self.x:g}" y="{self.y:g}" width="{self.width:g}" height="{self.height:g}" rx="3" '
            'fill="#ffffff" stroke="#333333" stroke-width="1.2"/>'
        )
        for number, line in enumerate(self.wrapped):
            x = self.x + PAD + (14 if line.startswith("    ") else 0)
            y = self.y + PAD + number * LINE + FONT - 1
            yield f'<text x="{x:g}" y="{y:g}">{clean(line.strip())}</text>'


@dataclass(slots=True)
class _Step:
    """A row of the diagram: a box, and the records that leave there."""

    main: _Box
    side: _Box | None = None


class _Column(NamedTuple):
    """A column of boxes in the wide diagram."""

    x: float
    width: float

    @property
    def right(self) -> float:
        return self.x + self.width


_MAIN: Final = _Column(46, 280)
_SIDE: Final = _Column(366, 270)
_OTHER_MAIN: Final = _Column(676, 240)
_OTHER_SIDE: Final = _Column(956, 220)


def _format_count(flow: Flow, name: str) -> str:
    count = flow.boxes.get(name)
    return "(n\u00a0=\u00a0)" if count is None else f"(n\u00a0=\u00a0{count:,})"


def _list_reasons(reasons: dict[str, int]) -> list[str]:
    return [f"  {reason} (n\u00a0=\u00a0{count:,})" for reason, count in reasons.items()]


def _list_steps(flow: Flow) -> list[_Step]:
    """Return the rows of the column of databases and registers."""
    identified = ["Records identified from:"]
    for kind, label in (("database", "Databases"), ("register", "Registers")):
        identified.append(f"{label} {_format_count(flow, f'{kind}_results')}")
        identified += [
            f"  {source.source} (n\u00a0=\u00a0{source.records:,})" for source in flow.sources if source.kind == kind
        ]
    removed = ["Records removed before screening:", f"Duplicate records {_format_count(flow, 'duplicates')}"]
    removed.append(f"Marked as ineligible by automation tools {_format_count(flow, 'excluded_automatic')}")
    removed.append(f"Removed for other reasons {_format_count(flow, 'excluded_other')}")
    screened = [f"Records screened {_format_count(flow, 'records_screened')}"]
    if flow.boxes.get("awaiting_screening"):
        screened.append(f"Records awaiting screening {_format_count(flow, 'awaiting_screening')}")
    return [
        _Step(_Box(identified), _Box(removed)),
        _Step(_Box(screened), _Box([f"Records excluded {_format_count(flow, 'records_excluded')}"])),
        *_list_reports(flow, "dbr", flow.reasons),
    ]


def _list_reports(flow: Flow, column: str, reasons: dict[str, int]) -> list[_Step]:
    """Return the rows about reports of a column."""
    sought = [f"Reports sought for retrieval {_format_count(flow, f'{column}_sought_reports')}"]
    if flow.boxes.get(f"{column}_awaiting"):
        sought.append(f"Awaiting a decision {_format_count(flow, f'{column}_awaiting')}")
    excluded = [
        f"Reports excluded {_format_count(flow, f'{column}_excluded')}{':' if reasons else ''}",
        *_list_reasons(reasons),
    ]
    return [
        _Step(_Box(sought), _Box([f"Reports not retrieved {_format_count(flow, f'{column}_notretrieved_reports')}"])),
        _Step(_Box([f"Reports assessed for eligibility {_format_count(flow, f'{column}_assessed')}"]), _Box(excluded)),
    ]


def _list_other_steps(flow: Flow) -> list[_Step]:
    """Return the rows of the column of other methods; empty without such sources."""
    if not flow.boxes.get("other_results"):
        return []
    identified = ["Records identified from:"]
    for name, label in (
        ("website", "Websites"),
        ("organisation", "Organisations"),
        ("citations", "Citation searching"),
    ):
        if flow.boxes.get(f"{name}_results"):
            identified.append(f"{label} {_format_count(flow, f'{name}_results')}")
    return [_Step(_Box(identified)), *_list_reports(flow, "other", flow.other_reasons)]


def _build_included(flow: Flow) -> _Box:
    lines = []
    if flow.previous:
        lines += [
            f"Studies in the previous version {_format_count(flow, 'previous_studies')}",
            f"Reports in the previous version {_format_count(flow, 'previous_reports')}",
            f"New studies included in review {_format_count(flow, 'new_studies')}",
            f"Reports of new included studies {_format_count(flow, 'new_reports')}",
            f"Total studies included in review {_format_count(flow, 'total_studies')}",
            f"Reports of total included studies {_format_count(flow, 'total_reports')}",
        ]
    else:
        lines += [
            f"Studies included in review {_format_count(flow, 'new_studies')}",
            f"Reports of included studies {_format_count(flow, 'new_reports')}",
        ]
    return _Box(lines)


def describe_flow(flow: Flow) -> list[str]:
    """Return the texts of all boxes, for people who do not see the diagram."""
    steps = [*_list_steps(flow), *_list_other_steps(flow)]
    boxes = [box for step in steps for box in (step.main, step.side) if box is not None]
    texts = []
    for box in [*boxes, _build_included(flow)]:
        head, *rest = (line.strip() for line in box.lines)
        texts.append(f"{head.rstrip(':')}: {'; '.join(rest)}." if rest else f"{head}.")
    return texts


def draw_flow(flow: Flow, title: str, *, narrow: bool = False) -> str:
    """Return the flow diagram as SVG with a title and a description.

    Args:
        narrow: all boxes in one column, for a width of 360.
    """
    return _draw_narrow(flow, title) if narrow else _draw_wide(flow, title)


def _draw_wide(flow: Flow, title: str) -> str:
    steps, others, included = _list_steps(flow), _list_other_steps(flow), _build_included(flow)
    tops = _place_boxes(steps, others, included)
    bottom = included.y + included.height + 14
    parts = _connect_boxes(steps, others, included)
    for box in (box for step in [*steps, *others] for box in (step.main, step.side) if box is not None):
        parts += box.draw()
    parts += included.draw()
    for label, first, following in zip(
        STEPS, (tops[0], tops[1], tops[-1]), (tops[1], tops[-1], bottom + 20), strict=True
    ):
        parts += _strip(label, first, following - GAP - first)
    width = (_OTHER_SIDE if others else _SIDE).right + 14
    parts.append(_draw_heading("Identification of studies via databases and registers", _MAIN.x, _SIDE.right))
    if others:
        parts.append(_draw_heading("Identification of studies via other methods", _OTHER_MAIN.x, _OTHER_SIDE.right))
    return _write_document(parts, width, bottom, title, describe_flow(flow), "wide")


def _place_boxes(steps: Sequence[_Step], others: Sequence[_Step], included: _Box) -> list[float]:
    """Place the boxes in rows, and return the top of each row; other methods begin in the first row."""
    rows: list[list[_Step]] = [[step] for step in steps]
    for number, step in zip((0, 2, 3), others, strict=False):
        rows[number].append(step)
    y, tops = 44.0, []
    for row in rows:
        tops.append(y)
        height = 0.0
        for step, main, side in zip(row, (_MAIN, _OTHER_MAIN), (_SIDE, _OTHER_SIDE), strict=False):
            step.main.set_place(main.x, y, main.width)
            height = max(height, step.main.height)
            if step.side is not None:
                step.side.set_place(side.x, y, side.width)
                height = max(height, step.side.height)
        y += height + GAP
    included.set_place(_MAIN.x, y, _MAIN.width)
    return [*tops, y]


def _connect_boxes(steps: Sequence[_Step], others: Sequence[_Step], included: _Box) -> list[str]:
    """Return the arrows down each column, to the boxes at the side, and from other methods to the last box."""
    parts: list[str] = []
    for above, below in zip([step.main for step in steps], [*(step.main for step in steps[1:]), included], strict=True):
        parts.append(_draw_arrow(above.x + 130, above.y + above.height, above.x + 130, below.y))
    for above, below in pairwise(step.main for step in others):
        parts.append(_draw_arrow(above.x + 110, above.y + above.height, above.x + 110, below.y))
    for step in [*steps, *others]:
        if step.side is not None:
            middle = step.main.y + min(step.main.height, step.side.height) / 2
            parts.append(_draw_arrow(step.main.x + step.main.width, middle, step.side.x, middle))
    if others:
        last, middle = others[-1].main, included.y + included.height / 2
        parts.append(
            f'<polyline points="{last.x + 110:g},{last.y + last.height:g} {last.x + 110:g},{middle:g} '
            f'{included.x + included.width + 9:g},{middle:g}" fill="none" stroke="#333333" stroke-width="1.2"/>'
        )
        parts.append(_draw_head(included.x + included.width, middle, -1, 0))
    return parts


def _draw_heading(text: str, start: float, end: float) -> str:
    """Return the heading above the boxes from ``start`` to ``end``."""
    return (
        f'<rect x="{start:g}" y="8" width="{end - start:g}" height="24" rx="3" fill="#f3d27a" stroke="none"/>'
        f'<text x="{(start + end) / 2:g}" y="25" text-anchor="middle" font-weight="bold">{clean(text)}</text>'
    )


def _draw_narrow(flow: Flow, title: str) -> str:
    width, indent, line = 356.0, 26.0, 13.0
    steps, others, included = _list_steps(flow), _list_other_steps(flow), _build_included(flow)
    parts: list[str] = []
    y = 4.0
    ends: list[tuple[float, float]] = []  # where the arrows to the last box begin
    for label, chosen in (("Databases and registers", steps), ("Other methods", others)):
        if not chosen:
            continue
        left = 2 + indent * len(ends)  # the arrow of the boxes above passes on the left
        parts.append(f'<text x="{left:g}" y="{y + 14:g}" font-weight="bold">{label}</text>')
        y += 24
        before: _Box | None = None
        for step in chosen:
            step.main.set_place(left, y, width - left - 2)
            if before is not None:
                parts.append(_draw_arrow(left - 2 + line, before.y + before.height, left - 2 + line, y))
            parts += step.main.draw()
            y += step.main.height + 10
            if step.side is not None:
                step.side.set_place(left + indent, y, width - left - indent - 2)
                parts += step.side.draw()
                y += step.side.height
            y += 18
            before = step.main
        last = chosen[-1].main
        ends.append((left - 2 + line, last.y + last.height))
    included.set_place(2, y, width - 4)
    parts += [_draw_arrow(x, end, x, y) for x, end in ends]
    parts += included.draw()
    return _write_document(parts, width, y + included.height + 4, title, describe_flow(flow), "narrow")


def _strip(label: str, y: float, height: float) -> Iterator[str]:
    """Yield the vertical label of rows."""
    middle = y + height / 2
    yield f'<rect x="8" y="{y:g}" width="24" height="{height:g}" rx="3" fill="#bcd3ea"/>'
    size = 12 if height >= 12 * len(label) * 0.6 else max(7.0, height / (len(label) * 0.62))
    yield (
        f'<text x="20" y="{middle:g}" text-anchor="middle" dominant-baseline="central" font-weight="bold" '
        f'font-size="{size:g}" transform="rotate(-90 20 {middle:g})">{label}</text>'
    )


def _draw_arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    right, down = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
    line = (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2 - 8 * right:g}" y2="{y2 - 8 * down:g}" '
        'stroke="#333333" stroke-width="1.2"/>'
    )
    return line + _draw_head(x2, y2, right, down)


def _draw_head(x: float, y: float, right: int, down: int) -> str:
    base, side = (x - 9 * right, y - 9 * down), (4.5 * down, 4.5 * right)
    points = ((x, y), (base[0] + side[0], base[1] + side[1]), (base[0] - side[0], base[1] - side[1]))
    return f'<polygon points="{" ".join(f"{one:g},{other:g}" for one, other in points)}" fill="#333333"/>'


def _write_document(
    parts: Sequence[str], width: float, height: float, title: str, texts: Sequence[str], name: str
) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-labelledby="flow-{name}-title flow-{name}-text" '
        f'font-family="Arial, Helvetica, sans-serif" font-size="{FONT}" fill="#111111">\n'
        f'<title id="flow-{name}-title">{clean(title)}</title>\n'
        f'<desc id="flow-{name}-text">{clean(" ".join(texts))}</desc>\n'
        f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )
