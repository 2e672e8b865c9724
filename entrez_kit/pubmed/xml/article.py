"""Read the element of a journal article into the fields of an Article.

Every record is read here, so this is fast: one pass over the element tree, with a handler per tag and flat loops over
lists. Unknown elements are ignored; missing fields are omitted.
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final

from entrez_kit.base.identifiers import normalize_doi, normalize_orcid, normalize_pmcid
from entrez_kit.base.mixed_content import INLINE, read_text, tidy
from entrez_kit.pubmed.pages import find_article_number
from entrez_kit.pubmed.standing import determine_standing, to_retraction_status
from entrez_kit.pubmed.xml import mesh_headings as mesh
from entrez_kit.pubmed.xml.dates import (
    build_calendar_parts,
    build_moment,
    build_publication_date,
    format_iso_date,
)

Fields = dict[str, Any]
Handlers = Mapping[str, "str | Callable[[Any, Fields], None] | Mapping[str, Any]"]
"""The handler of each tag: a function, the field for the element's text, or the handlers of its children."""
Read = Callable[[Any], str | None]

plain: Final[Read] = attrgetter("text")
"""Return the text of an element without children. ``read_text`` reads any element, but takes several times longer."""

_NAME_PARTS: Final = {
    "LastName": "last_name",
    "ForeName": "first_name",
    "FirstName": "first_name",
    "Initials": "initials",
    "Suffix": "suffix",
}
_JOURNAL_PARTS: Final = {
    "Volume": "volume",
    "Issue": "issue",
    "Title": "title",
    "ISOAbbreviation": "iso_abbreviation",
}
_GRANT: Final = {"GrantID": "grant_id", "Agency": "agency", "Acronym": "acronym", "Country": "country"}
_CORRECTION: Final = {"RefSource": "citation", "PMID": "pmid", "Note": "note"}
_UNLABELLED: Final = "UNLABELLED"
"""NLM's label for an unlabelled section of a structured abstract."""


def read_article_fields(record: Any, known: Fields | None = None) -> Fields:
    """Read a PubmedArticle (or a MedlineCitation) into the fields of an ``Article``, except PMID and URL.

    Args:
        known: fields that were read before; their lists are not in the element.
    """
    fields: Fields = {"record_type": "article", **(known or {})}
    dispatch(record, _CITATION if record.tag == "MedlineCitation" else _RECORD, fields)
    finish(fields)
    return fields


def dispatch(element: Any, handlers: Handlers, fields: Fields) -> None:
    """Read each child that has a handler."""
    for child in element:
        handler = handlers.get(child.tag)
        if callable(handler):
            handler(child, fields)
        elif isinstance(handler, str):
            fields[handler] = read_text(child)
        elif handler is not None:
            dispatch(child, handler, fields)


def finish(fields: Fields) -> None:
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
    if not fields.get("abstract_sections") and (own := _find_abstract(fields)):
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


def _find_abstract(fields: Fields) -> Fields | None:
    """Return the abstract in a language of the article, else any that is not English."""
    others: list[Fields] = [one for one in fields.get("other_abstracts", ()) if one.get("language", "eng") != "eng"]
    languages = fields.get("languages", [])
    return min(others, key=lambda one: one["language"] not in languages, default=None)


def join_sections(sections: list[Fields]) -> str:
    """Join the sections of an abstract, one per line, each after its label."""
    if len(sections) == 1 and "label" not in sections[0]:
        return str(sections[0]["text"])
    lines = (f"{part['label']}: {part['text']}".rstrip() if "label" in part else part["text"] for part in sections)
    return "\n".join(lines)


# ids


def merge_own_ids(
    listed: list[tuple[str, str]], located: list[tuple[str, str, bool]]
) -> tuple[dict[str, str], str | None]:
    """Merge all ids of a record by type, and choose its DOI, which has the key "doi".

    A second id of the same type is numbered ("mid_2").

    Args:
        listed: type and id, from the record's list of ids.
        located: the type, the id and NLM's mark "valid" of each electronic location.
    """
    ids = dict(listed)
    if len(ids) == len(listed):  # the usual case: one id of each type, and the locations agree
        for kind, value, valid in located:
            if not valid or ids.setdefault(kind, value) != value:
                break
        else:
            doi = ids.get("doi")
            if doi is None or doi.startswith("10."):
                return ids, doi
    return _merge_ids(listed, located)


def _merge_ids(
    listed: list[tuple[str, str]], located: list[tuple[str, str, bool]]
) -> tuple[dict[str, str], str | None]:
    dois = [value for kind, value, valid in located if kind == "doi" and valid]
    dois += [value for kind, value in listed if kind == "doi"]
    dois += [value for kind, value, valid in located if kind == "doi" and not valid]
    dois = [doi for doi in map(normalize_doi, dois) if doi]
    doi = next((doi for doi in dois if doi.startswith("10.")), dois[0] if dois else None)
    pairs = [*listed, *((kind, value) for kind, value, valid in located if valid)]
    if doi:
        pairs.insert(next((i for i, (kind, _) in enumerate(pairs) if kind == "doi"), len(pairs)), ("doi", doi))
    ids: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    for kind, value in pairs:
        value = normalize_doi(value) if kind == "doi" else value
        if value and (kind, value.lower()) not in seen:
            seen.add((kind, value.lower()))
            ids[_find_free_key(kind, ids)] = value
    return ids, doi


def _find_free_key(kind: str, ids: dict[str, str]) -> str:
    key, count = kind, 1
    while key in ids:
        count += 1
        key = f"{kind}_{count}"
    return key


# lists that articles and books share


def read_people(container: Any, read: Read = plain) -> list[Fields]:
    """Read the authors, editors or investigators in a list; omit names that NLM marks as invalid, unless all are."""
    valid: list[Fields] = []
    invalid: list[Fields] = []
    person: Fields = {}
    name_of = _NAME_PARTS.get
    for element in container.iterdescendants():
        tag = element.tag
        name = name_of(tag)
        if name:
            text = read(element)
            if text:
                person[name] = text.strip()
        elif tag == "AffiliationInfo":
            continue
        elif tag == "Affiliation":
            affiliation = read_text(element)
            if affiliation:
                if "affiliations" in person:
                    person["affiliations"].append(affiliation)
                else:
                    person["affiliations"] = [affiliation]
        elif tag == "Author" or tag == "Investigator":
            person = {}
            if element.get("EqualContrib") == "Y":
                person["equal_contribution"] = True
            if element.get("ValidYN") == "N":
                invalid.append(person)
            else:
                valid.append(person)
        elif tag == "Identifier":
            if element.get("Source") == "ORCID" and element.getparent().tag != "AffiliationInfo":
                orcid = normalize_orcid(element.text)
                if orcid:
                    person["orcid"] = orcid
        elif tag == "CollectiveName":
            person["collective_name"] = read_text(element)
        elif read is plain and (tag in INLINE or not isinstance(tag, str)):
            return read_people(container, read_text)  # names with markup are rare: read the list again, slowly
    return [person for person in valid or invalid if person]


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
            if label and label != _UNLABELLED and (label := tidy(label)):
                section["label"] = label
            category = element.get("NlmCategory")
            if category:
                section["nlm_category"] = category
            if section["text"] or "label" in section:
                sections.append(section)
    return sections, notice


def read_history(container: Any, fields: Fields) -> None:
    """Read the dated steps of a record: received, accepted, entrez ..."""
    steps: list[Fields] = []
    for element in container:
        if status := element.get("PubStatus"):
            get = {child.tag: child.text for child in element}.get
            date = build_moment(get("Year"), get("Month"), get("Day"), get("Hour"), get("Minute"))
            steps.append({**date, "status": status})
    fields["history"] = steps


def read_grants(container: Any, fields: Fields) -> None:
    """Read the funding of an article, a book or a chapter."""
    found: list[Fields] = fields.setdefault("grant_list", [])
    for grant in container:
        entry: Fields = {_GRANT[child.tag]: read_text(child) for child in grant if child.tag in _GRANT}
        if entry:
            found.append(entry)


def read_pub_date(element: Any) -> Fields | None:
    """Read a PubDate element."""
    return _read_published({child.tag: child.text for child in element})


def _read_published(texts: dict[str, str | None]) -> Fields | None:
    get = texts.get
    return build_publication_date(get("Year"), get("Month"), get("Day"), get("Season"), get("MedlineDate"))


def read_plain_date(element: Any) -> dict[str, int]:
    """Read an element with Year, Month and Day."""
    texts: dict[str, str | None] = {child.tag: child.text for child in element}
    get = texts.get
    return build_calendar_parts(get("Year"), get("Month"), get("Day"))


def read_keywords(container: Any, fields: Fields) -> None:
    """Add each keyword of any owner once; add those of major topics to ``major_keywords`` too."""
    found: list[str] = fields.setdefault("keywords", [])
    for element in container:
        word = read_text(element)
        if word and word not in found:
            found.append(word)
        if word and element.get("MajorTopicYN") == "Y":
            major: list[str] = fields.setdefault("major_keywords", [])
            if word not in major:
                major.append(word)


def read_listed_ids(container: Any, fields: Fields) -> None:
    """Collect the record's own ids. Ids of cited works are in other lists, inside ReferenceList."""
    found: list[tuple[str, str]] = fields.setdefault("_listed", [])
    for element in container:
        text = element.text
        if text and (value := text.strip()):
            found.append((element.get("IdType") or "pubmed", value))


def read_located_id(element: Any, fields: Fields) -> None:
    """Collect an electronic location: a DOI or a publisher's number."""
    value = read_text(element)
    if value:
        valid = element.get("ValidYN") != "N"
        fields.setdefault("_located", []).append((element.get("EIdType") or "pii", value, valid))


def read_revised(element: Any, fields: Fields) -> None:
    """Read the date of the last revision of the record."""
    date = format_iso_date(**read_plain_date(element))
    if date:
        fields["date_revised"] = date


def read_language(element: Any, fields: Fields) -> None:
    """Add a language."""
    code = read_text(element)
    if code:
        fields.setdefault("languages", []).append(code)


def read_authors(element: Any, fields: Fields) -> None:
    """Add authors; mark the list as incomplete if NLM does."""
    fields.setdefault("authors", []).extend(read_people(element))
    if element.get("CompleteYN") == "N":
        fields["authors_complete"] = False


def read_investigators(element: Any, fields: Fields) -> None:
    """Add investigators, the members of groups among the authors."""
    fields.setdefault("investigators", []).extend(read_people(element))


def read_abstract(element: Any, fields: Fields) -> None:
    """Read the abstract and its copyright notice."""
    fields["abstract_sections"], notice = read_abstract_sections(element)
    if notice:
        fields["abstract_copyright"] = notice


def add_date(element: Any, kind: str | None, fields: Fields) -> None:
    """Add a date other than the issue date."""
    date: Fields = {**read_plain_date(element)}
    if kind:
        date["type"] = kind
    if date:
        fields.setdefault("article_dates", []).append(date)


# parts of a journal article


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
        journal["publication_date"] = _read_published(date)


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


def read_pagination(element: Any, fields: Fields) -> None:
    """Read the pages in MEDLINE's short form (117-26), or else the first and the last page."""
    texts = {child.tag: read_text(child) for child in element}
    ends = [page for name in ("StartPage", "EndPage") if (page := texts.get(name))]
    if pages := texts.get("MedlinePgn") or "-".join(dict.fromkeys(ends)):
        fields.setdefault("journal_info", {})["pages"] = pages


def _read_data_banks(element: Any, fields: Fields) -> None:
    for bank in element:
        name = bank.findtext("DataBankName")
        if name:
            numbers = [text for child in bank.iterdescendants("AccessionNumber") if (text := read_text(child))]
            fields.setdefault("data_banks", []).append({"name": name, "accession_numbers": numbers})


def _read_mesh(element: Any, fields: Fields) -> None:
    fields["mesh_terms"] = [*fields.get("mesh_terms", ()), *mesh.read(element)]


def _read_chemicals(element: Any, fields: Fields) -> None:
    found: list[Fields] = []
    for child in element:
        parts = {part.tag: part for part in child}
        substance = parts.get("NameOfSubstance")
        if substance is None or not (name := read_text(substance)):
            continue
        listed = parts.get("RegistryNumber")
        number = (listed.text if listed is not None else None) or "0"  # 0 means "no number"
        found.append({"name": name, "ui": substance.get("UI"), "registry_number": None if number == "0" else number})
    fields["chemicals"] = found


def _read_title(element: Any, fields: Fields) -> None:
    fields["title"] = read_text(element)
    if len(element) and (italics := [text for child in element.iterdescendants("i") if (text := read_text(child))]):
        fields["_italics"] = italics


def _read_supplemental_mesh(element: Any, fields: Fields) -> None:
    fields["supplemental_mesh"] = [
        {"name": read_text(child), "ui": child.get("UI"), "type": child.get("Type")} for child in element
    ]


def _read_other_abstract(element: Any, fields: Fields) -> None:
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


def _read_corrections(element: Any, fields: Fields) -> None:
    found: list[Fields] = []
    for entry in element:
        kind = entry.get("RefType")
        if not kind or kind == "Cites":
            continue
        texts = {_CORRECTION[child.tag]: read_text(child) for child in entry if child.tag in _CORRECTION}
        found.append({"kind": kind, "citation": "", **texts})
    if found:
        fields["corrections"] = found


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
    "OtherAbstract": _read_other_abstract,
    "KeywordList": read_keywords,
    "CoiStatement": "coi_statement",
    "InvestigatorList": read_investigators,
}
DATA: Final[Handlers] = {"History": read_history, "ArticleIdList": read_listed_ids}
_RECORD: Final[Handlers] = {"MedlineCitation": _CITATION, "PubmedData": DATA}
