"""References as one line each; ``text`` tells how a citation is read."""

from typing import Any, Final

from entrez_kit.fulltext.jats.text import citation_text, inline_text, one_line
from entrez_kit.fulltext.jats.tree import attribute, child, children, descendants, local
from entrez_kit.fulltext.models import ListedReference

_KINDS: Final = ("mixed-citation", "element-citation", "nlm-citation", "citation", "product")


def references_of(article: Any) -> list[ListedReference]:
    """Return the references of an article, without those of the letters and replies it brings along."""
    found: list[ListedReference] = []
    for element in descendants(article, "ref", outside=("sub-article", "response", "front", "ref")):
        try:
            label, citation = _read(element)
        except RecursionError:  # one made to hurt must not cost the others
            label, citation = "", one_line(" ".join(element.itertext()))
        if citation:
            found.append(ListedReference(id=attribute(element, "id") or None, label=label or None, citation=citation))
    return found


def _read(reference: Any) -> tuple[str, str]:
    """Return label and text of a reference."""
    label, texts = "", []
    is_twice = child(reference, "mixed-citation") is not None
    for part in children(reference):
        name = local(part)
        if name == "element-citation" and is_twice:
            pass  # the same once more, as SciELO has it
        elif name == "label":
            label = label or inline_text(part)
        elif name in _KINDS or name == "citation-alternatives":
            own = child(part, "label")
            label = label or inline_text(own)
            texts.append(citation_text(part, label=False))
        else:
            texts.append(inline_text(part))
    return label, one_line(" ".join(text for text in texts if text))
