"""Many PubMed records for benchmarks, recorded or invented, and the memory of a process."""

import gzip
import random
import re
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

HEAD = (
    b'<?xml version="1.0" encoding="utf-8"?>\n'
    b'<!DOCTYPE PubmedArticleSet SYSTEM "http://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n<PubmedArticleSet>\n'
)
TAIL = b"</PubmedArticleSet>\n"
RECORD = re.compile(rb"<PubmedArticle>.*?</PubmedArticle>", re.DOTALL)


def read_own_peak() -> int:
    """Return the peak memory of this process in kB; ru_maxrss would count the process that started it as well."""
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"VmHWM:\s+([0-9]+) kB", status.read_text(encoding="utf-8"))
        if found:
            return int(found[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def read_recorded(folder: Path, pattern: str) -> list[bytes]:
    """Return every record of the recorded replies in a folder."""
    records: list[bytes] = []
    for path in sorted(folder.glob(f"{pattern}/*")):
        if path.parent.name in ("efetch_pubmed", "baseline"):
            data = path.read_bytes()
            records += RECORD.findall(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
    return records


def invent_records() -> list[bytes]:
    """Invent records in the form of PubMed's: half of them with references, most with MeSH terms."""
    return list(_write_record(random.Random(1)))


_STEP = '<PubMedPubDate PubStatus="entrez"><Year>2020</Year><Month>2</Month><Day>3</Day><Hour>6</Hour></PubMedPubDate>'


def _write_record(chance: random.Random) -> Iterator[bytes]:
    words = [
        f"{a}{b}{c}" for a in ("gen", "prot", "cell", "syn", "meta") for b in "aeiou" for c in ("sis", "ne", "rol")
    ]

    def invent(count: int) -> str:
        return " ".join(chance.choice(words) for _ in range(count))

    def repeat(count: int, make: Callable[[int], str]) -> str:
        return "".join(make(index) for index in range(count))

    for number in range(99_100_000, 99_100_400):
        authors = repeat(
            chance.randint(1, 12),
            lambda index: (
                f'<Author ValidYN="Y"><LastName>Name{index}</LastName><ForeName>Given</ForeName>'
                f"<Initials>G</Initials><AffiliationInfo><Affiliation>{invent(12)}</Affiliation></AffiliationInfo></Author>"
            ),
        )
        mesh = repeat(
            chance.choice((0, 8, 12, 18)),
            lambda index: (
                f'<MeshHeading><DescriptorName UI="D{index:06}" MajorTopicYN="N">{invent(2)}</DescriptorName>'
                f'<QualifierName UI="Q000001" MajorTopicYN="Y">{invent(1)}</QualifierName></MeshHeading>'
            ),
        )
        references = repeat(
            chance.choice((0, 0, 25)),
            lambda index: (
                f"<Reference><Citation>{invent(20)}</Citation><ArticleIdList>"
                f'<ArticleId IdType="pubmed">{index}</ArticleId></ArticleIdList></Reference>'
            ),
        )
        steps = repeat(4, lambda index: _STEP)
        yield (
            f'<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{number}</PMID>'
            "<DateRevised><Year>2020</Year><Month>2</Month><Day>3</Day></DateRevised>"
            '<Article PubModel="Print"><Journal><ISSN IssnType="Print">0000-0000'
            "</ISSN><JournalIssue><Volume>1</Volume><Issue>2</Issue><PubDate><Year>2020</Year><Month>Feb</Month>"
            "</PubDate></JournalIssue><Title>Invented journal</Title><ISOAbbreviation>Inv J</ISOAbbreviation></Journal>"
            f"<ArticleTitle>{invent(14)} <i>{invent(2)}</i>.</ArticleTitle><Pagination><MedlinePgn>1-9</MedlinePgn>"
            f'</Pagination><ELocationID EIdType="doi" ValidYN="Y">10.5555/{number}</ELocationID><Abstract>'
            f'<AbstractText Label="AIM">{invent(60)}</AbstractText><AbstractText Label="RESULTS">{invent(140)}'
            f'</AbstractText></Abstract><AuthorList CompleteYN="Y">{authors}</AuthorList><Language>eng</Language>'
            '<PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType>'
            f"</PublicationTypeList></Article><MeshHeadingList>{mesh}</MeshHeadingList></MedlineCitation><PubmedData>"
            f'<History>{steps}</History><ArticleIdList><ArticleId IdType="pubmed">{number}</ArticleId>'
            f'<ArticleId IdType="doi">10.5555/{number}</ArticleId></ArticleIdList>'
            f"<ReferenceList>{references}</ReferenceList></PubmedData></PubmedArticle>"
        ).encode()
