"""PubMed records for the sandbox's tests, and a small client that reads the sandbox's answers with other readers."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
import requests
from Bio import Entrez, Medline
from lxml import etree

from entrez_kit.sandbox.server import Sandbox


def write_article(
    pmid: int,
    title: str,
    *,
    abstract: str = "",
    authors: Sequence[tuple[str, str, str]] = (("Smith", "John A", "JA"),),
    journal: tuple[str, str, str] = ("Journal of tests", "J Tests", "9000001"),
    year: int = 2020,
    month: str = "Mar",
    day: int = 0,
    entered: tuple[int, int, int] = (2020, 3, 10),
    electronic: tuple[int, int, int] | None = None,
    mesh: Sequence[str] = (),
    major: Sequence[str] = (),
    types: Sequence[str] = ("Journal Article",),
    language: str = "eng",
    keywords: Sequence[str] = (),
    ids: Sequence[tuple[str, str]] = (),
    references: Sequence[int] = (),
    affiliation: str = "",
    grant: str = "",
    volume: str = "7",
    issue: str = "2",
    pages: str = "10-9",
) -> str:
    """Return a PubmedArticle element."""
    place = f"<AffiliationInfo>{write_tag('Affiliation', affiliation)}</AffiliationInfo>" if affiliation else ""
    people = "".join(
        f"<Author>{write_tag('LastName', last)}{write_tag('ForeName', fore)}{write_tag('Initials', initials)}"
        f"{place}</Author>"
        if fore
        else f"<Author>{write_tag('CollectiveName', last)}</Author>"
        for last, fore, initials in authors
    )
    headings = "".join(
        write_tag(
            "MeshHeading", f'<DescriptorName MajorTopicYN="{"Y" if name in major else "N"}">{name}</DescriptorName>'
        )
        for name in (*mesh, *major)
    )
    events = "".join(
        f'<PubMedPubDate PubStatus="{kind}">{write_date(entered)}</PubMedPubDate>'
        for kind in ("entrez", "pubmed", "medline")
    )
    online = f'<ArticleDate DateType="Electronic">{write_date(electronic)}</ArticleDate>' if electronic else ""
    issued = write_tag("Year", str(year)) + write_tag("Month", month) + write_tag("Day", str(day or ""))
    listed = "".join(f'<ArticleId IdType="{kind}">{value}</ArticleId>' for kind, value in (("pubmed", str(pmid)), *ids))
    cited = "".join(
        write_tag("Reference", f'<ArticleIdList><ArticleId IdType="pubmed">{reference}</ArticleId></ArticleIdList>')
        for reference in references
    )
    return (
        f'<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{pmid}</PMID>'
        f'{write_tag("DateRevised", write_date((2021, 1, 2)))}<Article PubModel="Print"><Journal>'
        f'<ISSN IssnType="Print">1234-5678</ISSN><JournalIssue CitedMedium="Print">{write_tag("Volume", volume)}'
        f"{write_tag('Issue', issue)}{write_tag('PubDate', issued)}</JournalIssue>{write_tag('Title', journal[0])}"
        f"{write_tag('ISOAbbreviation', journal[1])}</Journal>{write_tag('ArticleTitle', title)}"
        f"{write_tag('Pagination', write_tag('MedlinePgn', pages))}"
        f"{write_tag('Abstract', write_tag('AbstractText', abstract))}{write_tag('AuthorList', people)}"
        f"{write_tag('Language', language)}{write_tag('GrantList', write_tag('Grant', write_tag('GrantID', grant)))}"
        f"{write_tag('PublicationTypeList', ''.join(write_tag('PublicationType', kind) for kind in types))}"
        f"{online}</Article>"
        f"<MedlineJournalInfo>{write_tag('Country', 'Nowhere')}{write_tag('MedlineTA', journal[1])}"
        f"{write_tag('NlmUniqueID', journal[2])}</MedlineJournalInfo>{write_tag('MeshHeadingList', headings)}"
        f"{write_tag('KeywordList', ''.join(write_tag('Keyword', word) for word in keywords))}</MedlineCitation>"
        f"<PubmedData>{write_tag('History', events)}{write_tag('PublicationStatus', 'ppublish')}"
        f"{write_tag('ArticleIdList', listed)}{write_tag('ReferenceList', cited)}</PubmedData></PubmedArticle>"
    )


def write_tag(name: str, inner: str) -> str:
    """Return an element; nothing if it is empty."""
    return f"<{name}>{inner}</{name}>" if inner else ""


def write_date(day: tuple[int, int, int]) -> str:
    """Return the elements of a date."""
    return "".join(write_tag(name, f"{part:02}") for name, part in zip(("Year", "Month", "Day"), day, strict=True))


def write_article_set(*records: str) -> str:
    """Return a whole file of records."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "x.dtd">\n'
        f"<PubmedArticleSet>\n{chr(10).join(records)}\n</PubmedArticleSet>\n"
    )


FOUR_RECORDS = write_article_set(
    write_article(
        101,
        "Asthma in children",
        abstract="We studied wheezing and the airway immune response. CRISPR was not used.",
        authors=(("Smith", "John A", "JA"), ("Müller", "Eva", "E")),
        mesh=("Humans", "Child"),
        major=("Asthma",),
        types=("Journal Article", "Review"),
        ids=(("doi", "10.1000/one"), ("pmc", "PMC501"), ("pii", "S1")),
        entered=(2019, 5, 1),
        year=2019,
        month="May",
        keywords=("inhaled steroids",),
    ),
    write_article(
        102,
        "Covid-19 and <i>Mus musculus</i>: an immunity model",
        abstract="Mice were immunized. P&lt;0.05 was seen.",
        authors=(("Smith", "Jane", "J"), ("O'Brien", "Kay", "K")),
        journal=("Annals of mice", "Ann Mice", "9000002"),
        mesh=("Animals", "Mice"),
        entered=(2020, 6, 15),
        year=2020,
        month="Jun",
        day=15,
        ids=(("doi", "10.1000/two"),),
        references=(101,),
    ),
    write_article(
        103,
        "Heart attack after asthma treatment",
        authors=(("Jones", "Ann", "A"),),
        mesh=("Humans",),
        major=("Arthritis, Rheumatoid",),
        types=("Journal Article", "Randomized Controlled Trial"),
        entered=(2021, 1, 20),
        year=2021,
        month="",
        language="fre",
        grant="R01 HL777",
        references=(101, 102),
        affiliation="Institute of Wheezing, Port Example",
    ),
    write_article(
        104,
        "Attack rates in heart registries",
        abstract="Children with asthma were left out.",
        authors=(("Consortium for Testing", "", ""),),
        mesh=("Humans",),
        entered=(2021, 12, 31),
        year=2022,
        month="Jan",
        electronic=(2021, 12, 30),
        volume="8",
        pages="100",
        ids=(("pmc", "PMC504"), ("doi", "10.1000/Four")),
    ),
)


def write_records(folder: Path, text: str = FOUR_RECORDS) -> Path:
    """Write records to a file."""
    path = folder / "sandbox_records.xml"
    path.write_text(text, encoding="utf-8")
    return path


def read_with_biopython(body: bytes) -> Any:
    """Return an answer as Bio.Entrez reads it, by the DTD that it names."""
    read: Any = Entrez.read
    return read(BytesIO(body))


def read_medline(text: str) -> list[Any]:
    """Return a text as Bio.Medline reads it."""
    parse: Any = Medline.parse
    return list(parse(StringIO(text)))


def load_dtd(name: str) -> Any:
    """Return one of the DTDs of NCBI that Biopython brings along."""
    return etree.DTD(str(Path(str(Entrez.__file__)).parent / "DTDs" / name))


@dataclass(frozen=True)
class Client:
    """Sends requests to a sandbox, and reads its answers with readers that share no code with it."""

    sandbox: Sandbox

    def get(self, endpoint: str, **params: Any) -> requests.Response:
        """Send a GET request to an E-utility."""
        return requests.get(self.address(endpoint), params=params, timeout=20)

    def post(self, endpoint: str, **params: Any) -> requests.Response:
        """Send a POST request to an E-utility."""
        return requests.post(self.address(endpoint), data=params, timeout=20)

    def address(self, endpoint: str) -> str:
        """Return the address of an E-utility."""
        suffix = "cgi" if endpoint == "ecitmatch" else "fcgi"
        return f"{self.sandbox.url}/entrez/eutils/{endpoint}.{suffix}"

    def xml(self, endpoint: str, **params: Any) -> ElementTree.Element:
        """Return the root of an XML answer."""
        response = self.post(endpoint, **params)
        assert response.status_code == 200, response.text
        return ElementTree.fromstring(response.content)

    def search(self, term: str, **params: Any) -> dict[str, Any]:
        """Return the esearchresult of a JSON answer."""
        response = self.post("esearch", db="pubmed", term=term, retmode="json", **params)
        assert response.status_code == 200, response.text
        result: dict[str, Any] = response.json()["esearchresult"]
        return result

    def pmids(self, term: str, **params: Any) -> set[str]:
        """Return the PMIDs that a query finds."""
        return set(self.search(term, **params)["idlist"])


@contextmanager
def serve(**options: Any) -> Iterator[Client]:
    """Run a sandbox without the rate limit; at the end it must not have had a defect."""
    with Sandbox(**{"enforce_limits": False, **options}) as running:
        yield Client(running)
        assert running.defects == []


@pytest.fixture(scope="module", name="small_client")
def small_client_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Serve four records, written by hand, to all tests of a module."""
    with serve(corpus=[write_records(tmp_path_factory.mktemp("records"))]) as client:
        yield client


@pytest.fixture(scope="module", name="large_client")
def large_client_fixture() -> Iterator[Client]:
    """Serve 20,000 generated records to all tests of a module."""
    with serve(records=20_000) as client:
        yield client
