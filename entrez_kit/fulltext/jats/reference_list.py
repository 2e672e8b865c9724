"""Read the reference list of a JATS article."""

from typing import Any

from entrez_kit.fulltext.fulltext_articles import ListedReference
from entrez_kit.fulltext.jats.element_names import CITATIONS
from entrez_kit.fulltext.jats.text import read_citation, read_inline_text, remove_line_breaks
from entrez_kit.fulltext.jats.tree import find_child, get_attribute, get_local_name, iter_children, iter_descendants


def read_reference_list(article: Any) -> list[ListedReference]:
    """Return the references of an article, without those of the letters and replies in it."""
    references: list[ListedReference] = []
    for element in iter_descendants(article, "ref", outside=("sub-article", "response", "front", "ref")):
        label, citation = _read_reference(element)
        if citation:
            references.append(
                ListedReference(id=get_attribute(element, "id") or None, label=label or None, citation=citation)
            )
    return references


def _read_reference(reference: Any) -> tuple[str, str]:
    label, texts = "", []
    is_twice = find_child(reference, "mixed-citation") is not None
    for part in iter_children(reference):
        name = get_local_name(part)
        if name == "element-citation" and is_twice:
            pass  # SciELO repeats the citation
        elif name == "label":
            label = label or read_inline_text(part)
        elif name in CITATIONS:
            own_label = find_child(part, "label")
            label = label or read_inline_text(own_label)
            texts.append(read_citation(part, label=False))
        else:
            texts.append(read_inline_text(part))
    return label, remove_line_breaks(" ".join(text for text in texts if text))
