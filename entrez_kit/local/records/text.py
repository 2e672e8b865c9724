"""Text for XML: white space and escapes."""

import re
from typing import Final
from xml.sax.saxutils import escape

_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def squeeze(text: str) -> str:
    """Collapse white space, such as line breaks in XML."""
    return " ".join(text.split())


def escape_xml(value: object) -> str:
    """Escape a value for XML content and remove characters that XML does not allow."""
    return escape(_NOT_XML.sub("", str(value)))


def escape_attribute(value: object) -> str:
    """Escape a value for an XML attribute in double quotes."""
    return escape_xml(value).replace('"', "&quot;")


def wrap(tag: str, *content: str) -> str:
    """Return an element with this content, which is XML; "" without content. The tag may have attributes."""
    inner = "".join(content)
    return f"<{tag}>{inner}</{tag.partition(' ')[0]}>" if inner else ""
