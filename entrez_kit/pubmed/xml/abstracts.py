"""Read abstracts: their sections, their copyright notice, and abstracts in other languages."""

from typing import Any, Final

from entrez_kit.base.mixed_content import collapse_white_space, read_text
from entrez_kit.pubmed.xml.common_parts import Fields

_UNLABELLED: Final = "UNLABELLED"
"""NLM's label for an unlabelled section of a structured abstract."""


def read_abstract(element: Any, fields: Fields) -> None:
    """Read the abstract and its copyright notice."""
    fields["abstract_sections"], notice = read_abstract_sections(element)
    if notice:
        fields["abstract_copyright"] = notice


def read_abstract_sections(container: Any) -> tuple[list[Fields], str]:
    """Read the sections of an abstract, each with its label and NLM's category, and the copyright notice."""
    sections: list[Fields] = []
    notice = ""
    for element in container:
        tag = element.tag
        if tag == "CopyrightInformation":
            notice = read_text(element)
        elif tag == "AbstractText":
            section: Fields = {"text": read_text(element)}
            label = element.get("Label")
            if label and label != _UNLABELLED and (label := collapse_white_space(label)):
                section["label"] = label
            category = element.get("NlmCategory")
            if category:
                section["nlm_category"] = category
            if section["text"] or "label" in section:
                sections.append(section)
    return sections, notice


def read_other_abstract(element: Any, fields: Fields) -> None:
    """Add an abstract in another language or from another source."""
    sections, _ = read_abstract_sections(element)
    if sections:
        other: Fields = {"text": join_sections(sections)}
        if len(sections) > 1 or "label" in sections[0]:
            other["sections"] = sections
        for name, attribute in (("language", "Language"), ("type", "Type")):
            value = element.get(attribute)
            if value:
                other[name] = value
        fields.setdefault("other_abstracts", []).append(other)


def join_sections(sections: list[Fields]) -> str:
    """Join the sections of an abstract, one per line, each after its label."""
    if len(sections) == 1 and "label" not in sections[0]:
        return str(sections[0]["text"])
    lines = (f"{part['label']}: {part['text']}".rstrip() if "label" in part else part["text"] for part in sections)
    return "\n".join(lines)


def find_other_abstract(fields: Fields) -> Fields | None:
    """Return the abstract in a language of the article, else any that is not English."""
    others: list[Fields] = [
        abstract for abstract in fields.get("other_abstracts", ()) if abstract.get("language", "eng") != "eng"
    ]
    languages = fields.get("languages", [])
    return min(others, key=lambda abstract: abstract["language"] not in languages, default=None)
