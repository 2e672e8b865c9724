"""Render the choices of a generated record as XML."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from entrez_kit.local.records.document import MONTHS
from entrez_kit.local.records.text import wrap, wrap_each, xml_text
from entrez_kit.query.dates import to_number
from entrez_kit.sandbox import vocabulary

_COUNTRY: Final = "Nowhere"
_NOTICE: Final = "Invented notice"
_RETRACTED: Final = ("Retracted Publication", "D016441")


@dataclass(frozen=True, slots=True)
class Timing:
    """The choices that determine the dates of a generated record."""

    entered: date
    lag: int
    status: int
    date_style: int
    electronic: int

    @property
    def published(self) -> date:
        """The exact day of publication; the record may give only its month, season or year."""
        return self.entered + timedelta(days=self.lag - 45)

    @property
    def published_online(self) -> date | None:
        """The day of electronic publication; None for articles in print only."""
        return self.entered - timedelta(days=self.lag // 3) if self.electronic else None

    @property
    def completed(self) -> date | None:
        """The day when indexing was completed; None for records that are not indexed."""
        return self.entered + timedelta(days=60 + self.lag) if self.status == 0 else None

    @property
    def revised(self) -> date:
        """The day of the last change."""
        return self.entered + timedelta(days=160 + self.lag * 3)


@dataclass(frozen=True, slots=True)
class Choices(Timing):
    """All choices of one generated record; most numbers are indexes in the lists of ``vocabulary``."""

    model: int
    pmid: str
    team: Sequence[tuple[int, int]]
    cited: Sequence[str]
    topic: int
    method: int
    population: int
    design: int
    journal: int
    finding: int
    sample: int
    keyword: int
    grant: int
    language: int
    abstract: int
    pmc: int
    doi: int
    correction: int

    @property
    def pages(self) -> str:
        """Page range."""
        first = self.model + 1
        return f"{first}-{first + self.lag % 12 + 1}"

    @property
    def doi_name(self) -> str:
        """The DOI, with a prefix that is reserved for tests."""
        return f"10.5555/invented.{self.pmid}" if self.doi else ""

    @property
    def pmcid(self) -> str:
        """The PMCID."""
        return f"PMC{self.pmid}" if self.pmc else ""

    @property
    def texts(self) -> dict[str, str]:
        """The text of each placeholder, as XML."""
        return {
            "pmid": self.pmid,
            "topic": xml_text(vocabulary.TOPICS[self.topic].phrase),
            "method": xml_text(vocabulary.METHODS[self.method].phrase),
            "population": vocabulary.POPULATIONS[self.population].phrase,  # contains markup
            "design": xml_text(vocabulary.DESIGNS[self.design].phrase),
            "finding": xml_text(vocabulary.FINDINGS[self.finding]),
            "sample": str(vocabulary.SAMPLES[self.sample]),
        }


def published_number(choices: Timing) -> int:
    """Return the publication date as yyyymmdd, with the precision of the record."""
    day = choices.published
    if choices.date_style == 0:
        return to_number(day)
    if choices.date_style in (1, 3):
        return day.year * 10000 + day.month * 100 + 1
    if choices.date_style == 2:
        return day.year * 10000 + 101
    return day.year * 10000 + (1, 4, 7, 10)[_get_season(day)] * 100 + 1


def _get_season(day: date) -> int:
    return day.month % 12 // 3


def _render_date(tag: str, day: date | None) -> str:
    return wrap(tag, wrap_each(Year=day.year, Month=f"{day.month:02}", Day=f"{day.day:02}")) if day else ""


def _render_issue_date(choices: Choices) -> str:
    day, style = choices.published, choices.date_style
    month = MONTHS[day.month - 1]
    if style == 3:
        after = day.replace(day=1) + timedelta(days=31)
        until = MONTHS[after.month - 1] if after.year == day.year else f"{after.year} {MONTHS[after.month - 1]}"
        return wrap_each(MedlineDate=f"{day.year} {month}-{until}")
    return wrap_each(
        Year=day.year,
        Month=month if style < 2 else "",
        Day=day.day if style == 0 else "",
        Season=vocabulary.SEASONS[_get_season(day)] if style == 4 else "",
    )


def _render_journal(choices: Choices) -> str:
    journal = vocabulary.JOURNALS[choices.journal]
    place = wrap_each(Volume=choices.model % 20 + 1, Issue=choices.model % 12 + 1, PubDate=_render_issue_date(choices))
    return (
        wrap('ISSN IssnType="Electronic"', journal.electronic_issn)
        + wrap('JournalIssue CitedMedium="Internet"', place)
        + wrap_each(Title=xml_text(journal.title), ISOAbbreviation=journal.abbreviation)
    )


def _render_title(choices: Choices) -> str:
    filled = vocabulary.TITLE.format(**choices.texts)
    return f"[{filled}]." if choices.language else f"{filled}."


def _render_abstract(choices: Choices) -> str:
    return "".join(
        wrap(f'AbstractText Label="{label}" NlmCategory="{label}"' if label else "AbstractText", text)
        for label, form in vocabulary.ABSTRACTS[choices.abstract]
        if (text := form.format(**choices.texts))
    )


def _render_authors(choices: Choices) -> Iterator[str]:
    for place, (surname, forename) in enumerate(choices.team):
        if forename < 0:
            yield wrap_each(CollectiveName=xml_text(vocabulary.GROUPS[surname]))
            continue
        fore, initials = vocabulary.FORENAMES[forename]
        affiliation = xml_text(vocabulary.PLACES[(surname + forename) % len(vocabulary.PLACES)])
        yield (
            wrap_each(LastName=xml_text(vocabulary.SURNAMES[surname]), ForeName=fore, Initials=initials)
            + wrap('Identifier Source="ORCID"', f"0000-0009-{surname:04}-{forename:04}" if place == 0 else "")
            + wrap("AffiliationInfo", wrap_each(Affiliation=affiliation))
        )


def _render_grant(choices: Choices) -> str:
    if not choices.grant:
        return ""
    number, acronym, agency, country = vocabulary.GRANTS[choices.grant - 1]
    return wrap("Grant", wrap_each(GrantID=number, Acronym=acronym, Agency=agency, Country=country))


def _render_mesh(choices: Choices) -> Iterator[str]:
    if choices.status != 0:
        return
    topic, method = vocabulary.TOPICS[choices.topic], vocabulary.METHODS[choices.method]
    people = vocabulary.POPULATIONS[choices.population].headings
    headings = [(topic.heading, topic.ui, "Y"), (method.heading, method.ui, "N"), *((*one, "N") for one in people)]
    for name, ui, major in sorted(headings):
        yield wrap("MeshHeading", wrap(f'DescriptorName UI="{ui}" MajorTopicYN="{major}"', xml_text(name)))


def _render_correction(choices: Choices) -> str:
    if not choices.correction:
        return ""
    kind = "RetractionIn" if choices.correction == 1 else "ErratumIn"
    source = f"{vocabulary.JOURNALS[choices.journal].abbreviation}. {choices.revised.year};1:1"
    return wrap(f'CommentsCorrections RefType="{kind}"', wrap_each(RefSource=source, Note=_NOTICE))


def _render_history(choices: Choices) -> Iterator[str]:
    for kind, day in (
        ("received", choices.entered - timedelta(days=120 + choices.lag)),
        ("accepted", choices.entered - timedelta(days=30 + choices.lag // 2)),
        ("entrez", choices.entered),
        ("pubmed", choices.entered),
        ("medline", choices.completed or choices.entered),
    ):
        clock = wrap_each(Year=day.year, Month=day.month, Day=day.day, Hour=6, Minute="0")
        yield wrap(f'PubMedPubDate PubStatus="{kind}"', clock)


def _render_ids(*ids: tuple[str, str]) -> str:
    return "".join(wrap(f'ArticleId IdType="{kind}"', value) for kind, value in ids)


def _render_reference(pmid: str) -> str:
    ids = _render_ids(("doi", f"10.5555/invented.{pmid}"), ("pubmed", pmid))
    return wrap_each(Citation=f"Invented reference to record {pmid}.", ArticleIdList=ids)


def render(choices: Choices) -> bytes:
    """Return the record as a ``PubmedArticle`` element."""
    journal = vocabulary.JOURNALS[choices.journal]
    language, vernacular = vocabulary.LANGUAGES[choices.language]
    types = [*vocabulary.DESIGNS[choices.design].types, *([_RETRACTED] if choices.correction == 1 else [])]
    keywords = vocabulary.KEYWORDS[choices.keyword - 1] if choices.keyword else ()
    article = (
        wrap_each(Journal=_render_journal(choices), ArticleTitle=_render_title(choices))
        + wrap("Pagination", wrap_each(MedlinePgn=choices.pages))
        + wrap('ELocationID EIdType="doi" ValidYN="Y"', choices.doi_name)
        + wrap("Abstract", _render_abstract(choices))
        + wrap('AuthorList CompleteYN="Y"', *(wrap('Author ValidYN="Y"', one) for one in _render_authors(choices)))
        + wrap("Language", language)
        + wrap('GrantList CompleteYN="Y"', _render_grant(choices))
        + wrap("PublicationTypeList", *(wrap(f'PublicationType UI="{ui}"', xml_text(name)) for name, ui in types))
        + wrap("VernacularTitle", f"{xml_text(vernacular)}." if vernacular else "")
        + _render_date('ArticleDate DateType="Electronic"', choices.published_online)
    )
    info = wrap_each(
        Country=_COUNTRY, MedlineTA=journal.abbreviation, NlmUniqueID=journal.nlm_id, ISSNLinking=journal.print_issn
    )
    citation = (
        wrap('PMID Version="1"', choices.pmid)
        + _render_date("DateCompleted", choices.completed)
        + _render_date("DateRevised", choices.revised)
        + wrap(f'Article PubModel="{"Print-Electronic" if choices.electronic else "Print"}"', article)
        + wrap("MedlineJournalInfo", info)
        + wrap("CommentsCorrectionsList", _render_correction(choices))
        + wrap("MeshHeadingList", *_render_mesh(choices))
        + wrap('KeywordList Owner="NOTNLM"', *(wrap('Keyword MajorTopicYN="N"', xml_text(one)) for one in keywords))
    )
    data = wrap_each(
        History="".join(_render_history(choices)),
        PublicationStatus="aheadofprint" if choices.status == 2 else "epublish" if choices.electronic else "ppublish",
        ArticleIdList=_render_ids(("pubmed", choices.pmid), ("pmc", choices.pmcid), ("doi", choices.doi_name)),
        ReferenceList="".join(wrap("Reference", _render_reference(pmid)) for pmid in choices.cited),
    )
    whole = wrap(f'MedlineCitation Status="{vocabulary.STATUSES[choices.status]}" Owner="NLM"', citation)
    return wrap("PubmedArticle", whole, wrap("PubmedData", data)).encode()
