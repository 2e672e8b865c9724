"""The flow diagram: every box follows from another one, and no boxes overlap."""

from xml.etree import ElementTree as ET

import pytest

from entrez_kit.reviews.draw_flow import draw_flow
from entrez_kit.reviews.flow import build_flow
from entrez_kit.reviews.records import ReviewRecord

SVG = "{http://www.w3.org/2000/svg}"
Box = tuple[float, float, float, float]


def read_drawing(*sources: str, narrow: bool) -> tuple[list[Box], list[list[tuple[float, float]]]]:
    """Return the white boxes, and the corners of each arrow head."""
    records = [
        ReviewRecord(id=f"ek-x-{n}", source=source, added=1, fields=[("TI", source)], work=f"ek-x-{n}")
        for n, source in enumerate(sources)
    ]
    drawn = ET.fromstring(draw_flow(build_flow(records, (), {"Citations": "citations"}), "T", narrow=narrow))
    boxes = [
        (
            float(element.get("x", 0)),
            float(element.get("y", 0)),
            float(element.get("width", 0)),
            float(element.get("height", 0)),
        )
        for element in drawn.iter(f"{SVG}rect")
        if element.get("stroke") == "#333333"
    ]
    heads = [
        [(float(x), float(y)) for x, y in (point.split(",") for point in element.get("points", "").split())]
        for element in drawn.iter(f"{SVG}polygon")
    ]
    return boxes, heads


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("sources", [["PubMed"], ["PubMed", "Citations"]])
def test_each_column_flows_into_the_last_box(sources: list[str], narrow: bool) -> None:
    boxes, heads = read_drawing(*sources, narrow=narrow)

    def count_arrows(box: Box) -> int:
        """Count the arrows whose tip is on the upper, left or right edge of the box."""
        x, y, width, height = box
        tips = [head[0] for head in heads]
        return sum(
            (y == tip[1] and x <= tip[0] <= x + width) or (tip[0] in (x, x + width) and y <= tip[1] <= y + height)
            for tip in tips
        )

    included = max(boxes, key=lambda box: box[1])
    assert count_arrows(included) == len(sources)
    assert sum(map(count_arrows, boxes)) == len(heads)
    for n, (x, y, width, height) in enumerate(boxes):
        for left, top, other_width, other_height in boxes[:n]:
            assert x >= left + other_width or left >= x + width or y >= top + other_height or top >= y + height
