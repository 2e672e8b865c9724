"""Complete the fields of a record: those that depend on several of its parts."""

from entrez_kit.base.identifiers import normalize_pmcid
from entrez_kit.pubmed.pages import find_article_number
from entrez_kit.pubmed.standing import determine_standing, to_retraction_status
from entrez_kit.pubmed.xml.abstracts import find_other_abstract, join_sections
from entrez_kit.pubmed.xml.common_parts import Fields
from entrez_kit.pubmed.xml.own_ids import merge_own_ids


def complete_fields(fields: Fields) -> None:
    """Set the fields that depend on several parts of a record: ids, abstract text, publication status."""
    located = fields.pop("_located", [])
    if number := find_article_number(located):
        fields.setdefault("journal_info", {})["article_number"] = number
    ids, doi = merge_own_ids(fields.pop("_listed", []), located)
    fields["article_ids"] = ids
    if doi:
        fields["doi"] = doi
    if "pmc" in ids:
        fields["pmcid"] = normalize_pmcid(ids["pmc"])
    if "_affiliation" in fields:
        first_affiliation = fields.pop("_affiliation")
        people = fields.get("authors")
        if first_affiliation and people and not any("affiliations" in person for person in people):
            people[0]["affiliations"] = [first_affiliation]
    if not fields.get("abstract_sections") and (own := find_other_abstract(fields)):
        fields["abstract_sections"] = own.get("sections") or [{"text": own["text"]}]
        fields["abstract_language"] = own["language"]
    sections = fields.get("abstract_sections")
    if sections:
        fields["abstract_text"] = join_sections(sections)
    add_standing(fields)


def add_standing(fields: Fields) -> None:
    """Set the publication status by types, related records, title and abstract."""
    standing = determine_standing(
        publication_types=fields.get("publication_types", ()),
        corrections=fields.get("corrections", ()),
        title=fields.get("title"),
        abstract=fields.get("abstract_text"),
    )
    if standing is not None:
        fields["standing"] = standing
        fields["retraction_status"] = to_retraction_status(standing)
