"""One reference as text, for the tests of styles."""

from collections.abc import Sequence

from entrez_kit.citations.csl import Item
from entrez_kit.citations.style.format_entries import Markup, format_styled_entries


def format_citation(items: Item | Sequence[Item], style: str, markup: Markup = "plain") -> str:
    """Return one entry of a reference list, or several with a line each.

    Args:
        items: CSL-JSON.
        style: name of one of ``STYLES``, or the specification's name of it.
        markup: plain text, Markdown or HTML with italics and bold.

    Raises:
        NotConfigured: the citation processor or the styles are not installed.
    """
    several = [items] if isinstance(items, dict) else list(items)
    return "\n".join(format_styled_entries(several, style, markup))
