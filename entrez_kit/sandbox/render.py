"""Render the choices of a generated record as XML."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from entrez_kit.local.records.document import MONTHS
from entrez_kit.local.records.text import xml_attribute, xml_text
from entrez_kit.query.dates import to_number
from entrez_kit.sandbox import vocabulary

_TITLE: Final = "{method} in {topic} among {population}: {design} (invented record {pmid})"
_PLAIN: Final = (
    (
        "",
        "This record was invented for trying out software. We studied {topic} by {method} among {population}. Data "
        "came from {sample} participants. {finding}. Nothing here is a medical fact.",
    ),
)
_LABELLED: Final = (
    ("BACKGROUND", "This record was invented for trying out software. It is about {topic} among {population}."),
    ("METHODS", "We used {method} in {design} with {sample} participants."),
    ("RESULTS", "{finding}."),
    ("CONCLUSIONS", "Nothing here is a medical fact."),
)
_STATUSES: Final = ("MEDLINE", "PubMed-not-MEDLINE", "Publisher", "In-Process")
_COUNTRY: Final = "Nowhere"
_NOTICE: Final = "Invented notice"
_RETRACTED: Final = ("Retracted Publication", "D016441")
_SEASONS: Final = ("Winter", "Spring", "Summer", "Autumn")


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


def _render_date(name: str, day: date | None, attributes: str = "") -> str:
    if day is None:
        return ""
    inner = f"<Year>{day.year}</Year><Month>{day.month:02}</Month><Day>{day.day:02}</Day>"
    return f"<{name}{attributes}>{inner}</{name}>"


def _render_issue_date(choices: Choices) -> str:
    day, style = choices.published, choices.date_style
    month = MONTHS[day.month - 1]
    if style == 3:
        after = day.replace(day=1) + timedelta(days=31)
        until = MONTHS[after.month - 1] if after.year == day.year else f"{after.year} {MONTHS[after.month - 1]}"
        return f"<PubDate><MedlineDate>{day.year} {month}-{until}</MedlineDate></PubDate>"
    finer = ("", f"<Month>{month}</Month>")[style < 2] + (f"<Day>{day.day}</Day>" if style == 0 else "")
    if style == 4:
        finer = f"<Season>{_SEASONS[_get_season(day)]}</Season>"
    return f"<PubDate><Year>{day.year}</Year>{finer}</PubDate>"


def _render_journal(choices: Choices) -> str:
    journal = vocabulary.JOURNALS[choices.journal]
    return (
        f'<Journal><ISSN IssnType="Electronic">{journal.electronic_issn}</ISSN><JournalIssue CitedMedium="Internet">'
        f"<Volume>{choices.model % 20 + 1}</Volume><Issue>{choices.model % 12 + 1}</Issue>"
        f"{_render_issue_date(choices)}</JournalIssue>"
        f"<Title>{xml_text(journal.title)}</Title><ISOAbbreviation>{journal.abbreviation}</ISOAbbreviation></Journal>"
    )


def _render_title(choices: Choices) -> str:
    filled = _TITLE.format(**choices.texts)
    return f"<ArticleTitle>{f'[{filled}].' if choices.language else f'{filled}.'}</ArticleTitle>"


def _render_abstract(choices: Choices) -> str:
    pieces = []
    for label, text in ((), _PLAIN, _LABELLED)[choices.abstract]:
        attribute = f' Label="{label}" NlmCategory="{label}"' if label else ""
        pieces.append(f"<AbstractText{attribute}>{text.format(**choices.texts)}</AbstractText>")
    return f"<Abstract>{''.join(pieces)}</Abstract>" if pieces else ""


def _render_authors(choices: Choices) -> str:
    people = []
    for place, (surname, forename) in enumerate(choices.team):
        if forename < 0:
            people.append(
                f'<Author ValidYN="Y"><CollectiveName>{xml_text(vocabulary.GROUPS[surname])}</CollectiveName></Author>'
            )
            continue
        fore, initials = vocabulary.FORENAMES[forename]
        affiliation = xml_text(vocabulary.PLACES[(surname + forename) % len(vocabulary.PLACES)])
        orcid = f'<Identifier Source="ORCID">0000-0009-{surname:04}-{forename:04}</Identifier>' if place == 0 else ""
        people.append(
            f'<Author ValidYN="Y"><LastName>{xml_text(vocabulary.SURNAMES[surname])}</LastName>'
            f"<ForeName>{fore}</ForeName><Initials>{initials}</Initials>{orcid}"
            f"<AffiliationInfo><Affiliation>{affiliation}</Affiliation></AffiliationInfo></Author>"
        )
    return f'<AuthorList CompleteYN="Y">{"".join(people)}</AuthorList>'


def _render_grants(choices: Choices) -> str:
    if not choices.grant:
        return ""
    number, acronym, agency, country = vocabulary.GRANTS[choices.grant - 1]
    short = f"<Acronym>{acronym}</Acronym>" if acronym else ""
    return (
        f'<GrantList CompleteYN="Y"><Grant><GrantID>{number}</GrantID>{short}<Agency>{agency}</Agency>'
        f"<Country>{country}</Country></Grant></GrantList>"
    )


def _render_mesh(choices: Choices) -> str:
    if choices.status != 0:
        return ""
    topic, method = vocabulary.TOPICS[choices.topic], vocabulary.METHODS[choices.method]
    people = vocabulary.POPULATIONS[choices.population].headings
    headings = [(topic.heading, topic.ui, "Y"), (method.heading, method.ui, "N"), *((*one, "N") for one in people)]
    rows = "".join(
        f'<MeshHeading><DescriptorName UI="{ui}" MajorTopicYN="{major}">{xml_text(name)}</DescriptorName></MeshHeading>'
        for name, ui, major in sorted(headings)
    )
    return f"<MeshHeadingList>{rows}</MeshHeadingList>"


def _render_corrections(choices: Choices) -> str:
    if not choices.correction:
        return ""
    kind = "RetractionIn" if choices.correction == 1 else "ErratumIn"
    source = f"{vocabulary.JOURNALS[choices.journal].abbreviation}. {choices.revised.year};1:1"
    return (
        f'<CommentsCorrectionsList><CommentsCorrections RefType="{kind}"><RefSource>{source}</RefSource>'
        f"<Note>{_NOTICE}</Note></CommentsCorrections></CommentsCorrectionsList>"
    )


def _render_keywords(choices: Choices) -> str:
    if not choices.keyword:
        return ""
    rows = "".join(
        f'<Keyword MajorTopicYN="N">{xml_text(word)}</Keyword>' for word in vocabulary.KEYWORDS[choices.keyword - 1]
    )
    return f'<KeywordList Owner="NOTNLM">{rows}</KeywordList>'


def _render_pubmed_data(choices: Choices) -> str:
    events = "".join(
        f'<PubMedPubDate PubStatus="{kind}"><Year>{day.year}</Year><Month>{day.month}</Month><Day>{day.day}</Day>'
        f"<Hour>6</Hour><Minute>0</Minute></PubMedPubDate>"
        for kind, day in (
            ("received", choices.entered - timedelta(days=120 + choices.lag)),
            ("accepted", choices.entered - timedelta(days=30 + choices.lag // 2)),
            ("entrez", choices.entered),
            ("pubmed", choices.entered),
            ("medline", choices.completed or choices.entered),
        )
    )
    ids = [("pubmed", choices.pmid), ("pmc", choices.pmcid), ("doi", choices.doi_name)]
    listed = "".join(f'<ArticleId IdType="{kind}">{value}</ArticleId>' for kind, value in ids if value)
    references = "".join(
        f"<Reference><Citation>Invented reference to record {pmid}.</Citation><ArticleIdList>"
        f'<ArticleId IdType="doi">10.5555/invented.{pmid}</ArticleId><ArticleId IdType="pubmed">{pmid}</ArticleId>'
        "</ArticleIdList></Reference>"
        for pmid in choices.cited
    )
    state = "aheadofprint" if choices.status == 2 else "epublish" if choices.electronic else "ppublish"
    return (
        f"<PubmedData><History>{events}</History><PublicationStatus>{state}</PublicationStatus>"
        f"<ArticleIdList>{listed}</ArticleIdList>"
        + (f"<ReferenceList>{references}</ReferenceList>" if references else "")
        + "</PubmedData>"
    )


def render(choices: Choices) -> bytes:
    """Return the record as a ``PubmedArticle`` element."""
    journal = vocabulary.JOURNALS[choices.journal]
    model = "Print-Electronic" if choices.electronic else "Print"
    language, vernacular = vocabulary.LANGUAGES[choices.language]
    types = "".join(
        f'<PublicationType UI="{ui}">{xml_text(name)}</PublicationType>'
        for name, ui in (*vocabulary.DESIGNS[choices.design].types, *((_RETRACTED,) if choices.correction == 1 else ()))
    )
    location = f'<ELocationID EIdType="doi" ValidYN="Y">{choices.doi_name}</ELocationID>' if choices.doi else ""
    original = f"<VernacularTitle>{xml_text(vernacular)}.</VernacularTitle>" if vernacular else ""
    owner = xml_attribute("NLM")
    return (
        f'<PubmedArticle><MedlineCitation Status="{_STATUSES[choices.status]}" Owner="{owner}">'
        f'<PMID Version="1">{choices.pmid}</PMID>'
        f"{_render_date('DateCompleted', choices.completed)}{_render_date('DateRevised', choices.revised)}"
        f'<Article PubModel="{model}">{_render_journal(choices)}{_render_title(choices)}'
        f"<Pagination><MedlinePgn>{choices.pages}</MedlinePgn></Pagination>{location}{_render_abstract(choices)}"
        f"{_render_authors(choices)}<Language>{language}</Language>{_render_grants(choices)}"
        f"<PublicationTypeList>{types}</PublicationTypeList>{original}"
        + _render_date("ArticleDate", choices.published_online, ' DateType="Electronic"')
        + f"</Article><MedlineJournalInfo><Country>{_COUNTRY}</Country><MedlineTA>{journal.abbreviation}</MedlineTA>"
        f"<NlmUniqueID>{journal.nlm_id}</NlmUniqueID><ISSNLinking>{journal.print_issn}</ISSNLinking></MedlineJournalInfo>"
        f"{_render_corrections(choices)}{_render_mesh(choices)}{_render_keywords(choices)}</MedlineCitation>{_render_pubmed_data(choices)}</PubmedArticle>"
    ).encode()
