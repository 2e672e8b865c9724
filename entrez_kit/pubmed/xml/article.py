"""Read the element of a journal article into the fields of an Article.

Every record is read here, so this is fast: one pass over the element tree, with a handler per tag and flat loops over
lists. Unknown elements are ignored; missing fields are omitted.
"""

from typing import Any, Final

from entrez_kit.base.mixed_content import read_text
from entrez_kit.pubmed.xml import mesh_headings as mesh
from entrez_kit.pubmed.xml.abstracts import read_abstract, read_other_abstract
from entrez_kit.pubmed.xml.common_parts import (
    Fields,
    Handlers,
    add_date,
    build_date,
    dispatch,
    read_grants,
    read_history,
    read_keywords,
    read_language,
    read_pagination,
    read_revised,
)
from entrez_kit.pubmed.xml.completion import complete_fields
from entrez_kit.pubmed.xml.own_ids import read_listed_ids, read_located_id
from entrez_kit.pubmed.xml.people import read_authors, read_investigators

_JOURNAL_PARTS: Final = {
    "Volume": "volume",
    "Issue": "issue",
    "Title": "title",
    "ISOAbbreviation": "iso_abbreviation",
}
_CORRECTION: Final = {"RefSource": "citation", "PMID": "pmid", "Note": "note"}


def read_article_fields(record: Any, known_fields: Fields | None = None) -> Fields:
    """Read a PubmedArticle (or a MedlineCitation) into the fields of an ``Article``, except PMID and URL.

    Args:
        known_fields: fields that were read before; their lists are not in the element.
    """
    fields: Fields = {"record_type": "article", **(known_fields or {})}
    dispatch(record, _CITATION if record.tag == "MedlineCitation" else _RECORD, fields)
    complete_fields(fields)
    return fields


def _read_journal(element: Any, fields: Fields) -> None:
    journal: Fields = fields.setdefault("journal_info", {})
    date: dict[str, str | None] = {}
    name_of = _JOURNAL_PARTS.get
    for child in element.iterdescendants():
        tag = child.tag
        name = name_of(tag)
        if name:
            journal[name] = read_text(child)
        elif tag in ("Year", "Month", "Day", "Season", "MedlineDate"):
            date[tag] = child.text
        elif tag == "ISSN":
            journal["eissn" if child.get("IssnType") == "Electronic" else "issn"] = read_text(child)
    if date:
        journal["publication_date"] = build_date(date)


def _read_medline_journal(element: Any, fields: Fields) -> None:
    journal: Fields = fields.setdefault("journal_info", {})
    for child in element:
        tag = child.tag
        if tag == "NlmUniqueID":
            journal["nlm_id"] = read_text(child)
        elif tag == "ISSNLinking":
            journal["issn_linking"] = read_text(child)
        elif tag == "MedlineTA" and (short := read_text(child)) != journal.get("iso_abbreviation"):
            journal["medline_abbreviation" if journal.get("iso_abbreviation") else "iso_abbreviation"] = short


def _read_data_banks(element: Any, fields: Fields) -> None:
    for bank in element:
        name = bank.findtext("DataBankName")
        if name:
            numbers = [text for child in bank.iterdescendants("AccessionNumber") if (text := read_text(child))]
            fields.setdefault("data_banks", []).append({"name": name, "accession_numbers": numbers})


def _read_mesh(element: Any, fields: Fields) -> None:
    fields["mesh_terms"] = [*fields.get("mesh_terms", ()), *mesh.read_headings(element)]


def _read_chemicals(element: Any, fields: Fields) -> None:
    chemicals: list[Fields] = []
    for child in element:
        parts = {part.tag: part for part in child}
        substance = parts.get("NameOfSubstance")
        if substance is None or not (name := read_text(substance)):
            continue
        listed = parts.get("RegistryNumber")
        number = (listed.text if listed is not None else None) or "0"  # 0 means "no number"
        chemicals.append(
            {"name": name, "ui": substance.get("UI"), "registry_number": None if number == "0" else number}
        )
    fields["chemicals"] = chemicals


def _read_title(element: Any, fields: Fields) -> None:
    fields["title"] = read_text(element)
    if len(element) and (italics := [text for child in element.iterdescendants("i") if (text := read_text(child))]):
        fields["_italics"] = italics


def _read_supplemental_mesh(element: Any, fields: Fields) -> None:
    fields["supplemental_mesh"] = [
        {"name": read_text(child), "ui": child.get("UI"), "type": child.get("Type")} for child in element
    ]


def _read_corrections(element: Any, fields: Fields) -> None:
    corrections: list[Fields] = []
    for entry in element:
        kind = entry.get("RefType")
        if not kind or kind == "Cites":
            continue
        texts = {_CORRECTION[child.tag]: read_text(child) for child in entry if child.tag in _CORRECTION}
        corrections.append({"kind": kind, "citation": "", **texts})
    if corrections:
        fields["corrections"] = corrections


_ARTICLE: Final[Handlers] = {
    "Journal": _read_journal,
    "ArticleTitle": _read_title,
    "Pagination": read_pagination,
    "ELocationID": read_located_id,
    "Abstract": read_abstract,
    "AuthorList": read_authors,
    "Affiliation": "_affiliation",  # until 2013 NLM recorded only the first author's, outside the list
    "Language": read_language,
    "DataBankList": _read_data_banks,
    "GrantList": read_grants,
    "PublicationTypeList": lambda element, fields: fields.update(
        publication_types=[kind for child in element if (kind := read_text(child))]
    ),
    "VernacularTitle": "vernacular_title",
    "ArticleDate": lambda element, fields: add_date(element, element.get("DateType"), fields),
}
_CITATION: Final[Handlers] = {
    "DateRevised": read_revised,
    "Article": _ARTICLE,
    "MedlineJournalInfo": _read_medline_journal,
    "ChemicalList": _read_chemicals,
    "MeshHeadingList": _read_mesh,
    "SupplMeshList": _read_supplemental_mesh,
    "CommentsCorrectionsList": _read_corrections,
    "OtherAbstract": read_other_abstract,
    "KeywordList": read_keywords,
    "CoiStatement": "coi_statement",
    "InvestigatorList": read_investigators,
}
DATA: Final[Handlers] = {"History": read_history, "ArticleIdList": read_listed_ids}
_RECORD: Final[Handlers] = {"MedlineCitation": _CITATION, "PubmedData": DATA}
