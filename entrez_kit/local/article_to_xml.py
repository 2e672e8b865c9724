"""Write an Article as PubMed XML, so that records of other formats can be stored in a copy.

The parser returns the same Article. An Article has less than a record of PubMed: the status of the record, the country
of the journal and the cited works are missing unless the source has them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from entrez_kit.local.file_events import FileEvent, unusable_file_error
from entrez_kit.local.records.text import escape_attribute, escape_xml
from entrez_kit.pubmed.models import (
    AbstractSection,
    Article,
    ArticleDate,
    Author,
    BookInfo,
    HistoryDate,
    JournalInfo,
    PublicationDate,
)

_DATE: Final = ("Year", "Month", "Day")


@dataclass(frozen=True, slots=True)
class RecordFacts:
    """What a record of PubMed has and an Article has not."""

    status: str = ""
    completed: tuple[str, ...] = ()
    country: str = ""
    owner: str = ""
    publication_status: str = ""
    subsets: tuple[str, ...] = ()


def write_article(article: Article, facts: RecordFacts | None = None) -> bytes:
    """Return an Article as a PubmedArticle or PubmedBookArticle element.

    Args:
        article: the article.
        facts: what the source knows beyond the article. Without it, a record with MeSH headings is a MEDLINE record.
    """
    known_facts = facts or RecordFacts(status="MEDLINE" if article.mesh_terms else "")
    text = _write_record(article, known_facts) if article.record_type == "article" else _write_book(article)
    return text.encode("utf-8")


def convert_article(article: Article, facts: RecordFacts | None, path: Path, line: int) -> FileEvent:
    """Return an Article that begins in a line of a file as a record to import.

    Raises:
        InvalidInput: it has no PMID.
    """
    if not (article.pmid.isascii() and article.pmid.isdigit() and 0 < int(article.pmid) < 10**10):
        raise unusable_file_error(path, f"line {line:,} has a record without a PMID", "bad_record", line=line)
    version = article.version or "1"
    return FileEvent(int(article.pmid), int(version) if version.isdigit() else 1, write_article(article, facts))


def _write_element(tag: str, *content: str, **attributes: str | None) -> str:
    """Return an element; an empty string if it has no content."""
    inside = "".join(content)
    if not inside:
        return ""
    marks = "".join(f' {name}="{escape_attribute(value)}"' for name, value in attributes.items() if value)
    return f"<{tag}{marks}>{inside}</{tag}>"


def _write_text(tag: str, value: object, **attributes: str | None) -> str:
    return "" if value is None else _write_element(tag, escape_xml(value), **attributes)


def _write_date(tag: str, parts: Iterable[object], **attributes: str | None) -> str:
    return _write_element(
        tag, *(_write_text(name, part) for name, part in zip(_DATE, parts, strict=False)), **attributes
    )


def _write_record(article: Article, facts: RecordFacts) -> str:
    data = _write_data("PubmedData", article, _list_ids(article), facts)
    return _write_element("PubmedArticle", _write_citation(article, facts), data)


def _write_citation(article: Article, facts: RecordFacts) -> str:
    return _write_element(
        "MedlineCitation",
        _write_text("PMID", article.pmid, Version=article.version or "1"),
        _write_date("DateCompleted", facts.completed),
        _write_revision(article),
        _write_content(article),
        _write_journal_info(article.journal_info or JournalInfo(), facts),
        _write_chemicals(article),
        _write_element(
            "SupplMeshList",
            *(
                _write_text("SupplMeshName", concept.name, Type=concept.type, UI=concept.ui)
                for concept in article.supplemental_mesh
            ),
        ),
        *(_write_text("CitationSubset", subset) for subset in facts.subsets),
        _write_corrections(article),
        _write_headings(article),
        *(
            _write_element(
                "OtherAbstract", *_write_sections(other.sections, other.text), Type=other.type, Language=other.language
            )
            for other in article.other_abstracts
        ),
        _write_keywords(article),
        _write_text("CoiStatement", article.coi_statement),
        _write_investigators(article),
        Status=facts.status,
        Owner=facts.owner,
    )


def _write_content(article: Article) -> str:
    journal = article.journal_info or JournalInfo()
    return _write_element(
        "Article",
        _write_journal(journal),
        _write_text("ArticleTitle", article.title),
        _write_element("Pagination", _write_text("MedlinePgn", journal.pages)),
        *_write_locations(article),
        _write_abstract(article),
        _write_authors(article.authors, complete=article.authors_complete is not False),
        *(_write_text("Language", code) for code in article.languages),
        _write_data_banks(article),
        _write_grants(article),
        _write_element(
            "PublicationTypeList", *(_write_text("PublicationType", kind) for kind in article.publication_types)
        ),
        _write_text("VernacularTitle", article.vernacular_title),
        *(_write_article_date("ArticleDate", date) for date in article.article_dates),
    )


def _write_revision(article: Article) -> str:
    return _write_date("DateRevised", (article.date_revised or "").split("-") if article.date_revised else ())


def _write_data_banks(article: Article) -> str:
    return _write_element(
        "DataBankList",
        *(
            _write_element(
                "DataBank",
                _write_text("DataBankName", bank.name),
                _write_element(
                    "AccessionNumberList",
                    *(_write_text("AccessionNumber", number) for number in bank.accession_numbers),
                ),
            )
            for bank in article.data_banks
        ),
    )


def _write_journal_info(journal: JournalInfo, facts: RecordFacts) -> str:
    return _write_element(
        "MedlineJournalInfo",
        _write_text("Country", facts.country),
        _write_text("MedlineTA", journal.medline_abbreviation or journal.iso_abbreviation),
        _write_text("NlmUniqueID", journal.nlm_id),
        _write_text("ISSNLinking", journal.issn_linking),
    )


def _write_chemicals(article: Article) -> str:
    return _write_element(
        "ChemicalList",
        *(
            _write_element(
                "Chemical",
                _write_text("RegistryNumber", chemical.registry_number or "0"),
                _write_text("NameOfSubstance", chemical.name, UI=chemical.ui),
            )
            for chemical in article.chemicals
        ),
    )


def _write_corrections(article: Article) -> str:
    return _write_element(
        "CommentsCorrectionsList",
        *(
            _write_element(
                "CommentsCorrections",
                _write_text("RefSource", correction.citation),
                _write_text("PMID", correction.pmid, Version="1"),
                _write_text("Note", correction.note),
                RefType=correction.kind,
            )
            or f'<CommentsCorrections RefType="{escape_attribute(correction.kind)}"/>'
            for correction in article.corrections
        ),
    )


def _write_data(tag: str, article: Article, ids: Iterable[tuple[str, str]], facts: RecordFacts) -> str:
    return _write_element(
        tag,
        _write_element("History", *(_write_step(step) for step in article.history)),
        _write_text("PublicationStatus", facts.publication_status),
        _write_element("ArticleIdList", *(_write_text("ArticleId", value, IdType=kind) for kind, value in ids)),
        _write_element(
            "ReferenceList",
            *(
                _write_element(
                    "Reference",
                    _write_text("Citation", work.citation),
                    _write_element(
                        "ArticleIdList",
                        _write_text("ArticleId", work.pmid, IdType="pubmed"),
                        _write_text("ArticleId", work.doi, IdType="doi"),
                        _write_text("ArticleId", work.pmcid, IdType="pmc"),
                    ),
                )
                for work in article.references
            ),
        ),
    )


def _list_ids(article: Article) -> list[tuple[str, str]]:
    """Return type and id of each identifier, without the numbers of repeated types."""
    pairs = [(_strip_number(kind, article.article_ids), value) for kind, value in article.article_ids.items()]
    known = {value for _, value in pairs}
    if article.doi and article.doi not in known:
        pairs.append(("doi", article.doi))
    if article.pmcid and not any(kind == "pmc" for kind, _ in pairs):
        pairs.append(("pmc", article.pmcid))
    return pairs


def _strip_number(kind: str, ids: dict[str, str]) -> str:
    first, _, number = kind.rpartition("_")
    return first if first in ids and number.isdigit() else kind


def _write_locations(article: Article) -> list[str]:
    """Return the electronic locations: the article number decides which of the ids it is."""
    number = article.journal_info.article_number if article.journal_info else None
    found = (("pii", number), ("doi", article.doi))
    return [_write_text("ELocationID", value, EIdType=kind, ValidYN="Y") for kind, value in found if value]


def _write_journal(journal: JournalInfo) -> str:
    return _write_element(
        "Journal",
        _write_text("ISSN", journal.issn, IssnType="Print"),
        _write_text("ISSN", journal.eissn, IssnType="Electronic"),
        _write_element(
            "JournalIssue",
            _write_text("Volume", journal.volume),
            _write_text("Issue", journal.issue),
            _write_pub_date(journal.publication_date),
        ),
        _write_text("Title", journal.title),
        _write_text("ISOAbbreviation", journal.iso_abbreviation),
    )


def _write_pub_date(date: PublicationDate | None) -> str:
    if date is None:
        return ""
    if date.medline_date:
        return _write_element("PubDate", _write_text("MedlineDate", date.medline_date))
    return _write_date("PubDate", (date.year, date.month, date.day))


def _write_article_date(tag: str, date: ArticleDate) -> str:
    return _write_date(tag, (date.year, date.month, date.day), DateType=date.type)


def _write_step(step: HistoryDate) -> str:
    parts = (
        ("Year", step.year),
        ("Month", step.month),
        ("Day", step.day),
        ("Hour", step.hour),
        ("Minute", step.minute),
    )
    return _write_element("PubMedPubDate", *(_write_text(name, part) for name, part in parts), PubStatus=step.status)


def _write_abstract(article: Article) -> str:
    notice = _write_text("CopyrightInformation", article.abstract_copyright)
    if article.abstract_language:  # the abstract is one of the others
        return _write_element("Abstract", notice)
    return _write_element("Abstract", *_write_sections(article.abstract_sections, article.abstract_text), notice)


def _write_sections(sections: Iterable[AbstractSection], text: str | None) -> list[str]:
    written = [
        _write_text("AbstractText", section.text, Label=section.label, NlmCategory=section.nlm_category)
        or f'<AbstractText Label="{escape_attribute(section.label or "")}"/>'
        for section in sections
    ]
    return written or [_write_text("AbstractText", text)]


def _write_authors(people: Iterable[Author], *, complete: bool = True, kind: str | None = None) -> str:
    written = [_write_person("Author", person) for person in people]
    return _write_element("AuthorList", *written, CompleteYN="Y" if complete else "N", Type=kind)


def _write_investigators(article: Article) -> str:
    return _write_element(
        "InvestigatorList", *(_write_person("Investigator", person) for person in article.investigators)
    )


def _write_person(tag: str, person: Author) -> str:
    return _write_element(
        tag,
        _write_text("LastName", person.last_name),
        _write_text("ForeName", person.first_name),
        _write_text("Initials", person.initials),
        _write_text("Suffix", person.suffix),
        _write_text("CollectiveName", person.collective_name),
        _write_text("Identifier", person.orcid, Source="ORCID"),
        *(
            _write_element("AffiliationInfo", _write_text("Affiliation", affiliation))
            for affiliation in person.affiliations
        ),
        ValidYN="Y",
        EqualContrib="Y" if person.equal_contribution else None,
    )


def _write_grants(article: Article) -> str:
    return _write_element(
        "GrantList",
        *(
            _write_element(
                "Grant",
                _write_text("GrantID", grant.grant_id),
                _write_text("Acronym", grant.acronym),
                _write_text("Agency", grant.agency),
                _write_text("Country", grant.country),
            )
            for grant in article.grant_list
        ),
    )


def _flag(value: bool) -> str:
    return "Y" if value else "N"


def _write_headings(article: Article) -> str:
    return _write_element(
        "MeshHeadingList",
        *(
            _write_element(
                "MeshHeading",
                _write_text(
                    "DescriptorName", term.descriptor_name, UI=term.ui, MajorTopicYN=_flag(term.is_major_topic)
                ),
                *(
                    _write_text(
                        "QualifierName", qualifier.name, UI=qualifier.ui, MajorTopicYN=_flag(qualifier.is_major_topic)
                    )
                    for qualifier in term.qualifiers
                ),
            )
            for term in article.mesh_terms
        ),
    )


def _write_keywords(article: Article) -> str:
    major = set(article.major_keywords)
    keywords = (_write_text("Keyword", word, MajorTopicYN=_flag(word in major)) for word in article.keywords)
    return _write_element("KeywordList", *keywords, Owner="NOTNLM")


# Books


def _write_book(article: Article) -> str:
    info, journal = article.book_info or BookInfo(), article.journal_info or JournalInfo()
    whole = article.record_type == "book"
    # The authors of a whole book are those of the record.
    own_authors = [] if whole and not info.authors else article.authors
    ids = _list_ids(article)
    if info.accession and not any(kind == "bookaccession" for kind, _ in ids):
        ids.append(("bookaccession", info.accession))
    others = (date for date in article.article_dates if date.type not in ("beginning", "ending"))
    document = _write_element(
        "BookDocument",
        _write_text("PMID", article.pmid, Version=article.version or "1"),
        _write_element("ArticleIdList", *(_write_text("ArticleId", value, IdType=kind) for kind, value in ids)),
        _write_book_facts(article, info, journal),
        _write_text("LocationLabel", info.location),
        _write_text("ArticleTitle", None if whole else article.title),
        _write_text("VernacularTitle", article.vernacular_title),
        _write_element("Pagination", _write_text("MedlinePgn", journal.pages)),
        *_write_locations(article),
        *(_write_text("Language", code) for code in article.languages),
        _write_authors(own_authors, complete=article.authors_complete is not False),
        *(_write_text("PublicationType", kind) for kind in article.publication_types),
        _write_abstract(article),
        _write_element(
            "Sections", *(_write_element("Section", _write_text("SectionTitle", title)) for title in info.sections)
        ),
        _write_keywords(article),
        *(_write_date("ContributionDate", (date.year, date.month, date.day)) for date in others),
        _write_revision(article),
        _write_grants(article),
    )
    return _write_element("PubmedBookArticle", document, _write_data("PubmedBookData", article, [], RecordFacts()))


def _write_book_facts(article: Article, info: BookInfo, journal: JournalInfo) -> str:
    whole = article.record_type == "book"
    book_authors = info.authors or (article.authors if whole else [])
    return _write_element(
        "Book",
        _write_element(
            "Publisher",
            _write_text("PublisherName", info.publisher),
            _write_text("PublisherLocation", info.publisher_location),
        ),
        _write_text("BookTitle", article.title if whole else info.title or journal.title),
        _write_pub_date(journal.publication_date),
        *(_write_article_date("BeginningDate", date) for date in article.article_dates if date.type == "beginning"),
        *(_write_article_date("EndingDate", date) for date in article.article_dates if date.type == "ending"),
        _write_authors(book_authors),
        _write_authors(info.editors, kind="editors"),
        _write_investigators(article),
        _write_text("Volume", info.volume or journal.volume),
        _write_text("VolumeTitle", info.volume_title),
        _write_text("Edition", info.edition),
        _write_text("CollectionTitle", info.collection_title),
        *(_write_text("Isbn", number) for number in info.isbns),
        _write_text("ELocationID", info.doi, EIdType="doi", ValidYN="Y"),
        _write_text("Medium", info.medium),
        _write_text("ReportNumber", info.report_number),
    )
