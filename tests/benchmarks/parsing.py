"""Compare the record parser with lxml reading the same file and extracting nothing. Run by hand:

    ENTREZ_KIT_REAL_DATA=<folder of recorded replies> python tests/benchmarks/parsing.py

A large file is made by repeating the recorded records (without the folder: records of a realistic mix, made up here).
Two yardsticks are measured, both without extraction: `iterparse` over the records, freeing each (constant memory, like
ours), and a plain `etree.parse` of the whole file (six times the file in memory). "ours" is `iter_records` and the full
`Article` of every record. Rounds alternate between all of them, each in a process of its own, because the heap that a
large tree leaves behind slows down what comes after it. CPU seconds are counted, and the best round of each counts.
"""

import argparse
import gzip
import itertools
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from lxml import etree

from entrez_kit.pubmed.xml.records import iter_records

HEAD = (
    b'<?xml version="1.0" encoding="utf-8"?>\n'
    b'<!DOCTYPE PubmedArticleSet SYSTEM "http://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n<PubmedArticleSet>\n'
)
TAIL = b"</PubmedArticleSet>\n"
DESCRIPTOR = re.compile(rb"<DescriptorName[^>]*>")
RECORD = re.compile(rb"<PubmedArticle>.*?</PubmedArticle>", re.DOTALL)
TARGET = 0.55


def main() -> None:
    """Print speeds, the ratio, and the peak memory for two sizes."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--megabytes", type=int, default=40, help="size of the file for the speeds")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--memory", type=int, nargs=2, default=(20, 200), metavar="MB", help="sizes to compare")
    arguments.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.child:
        child(CONTENDERS[options.child[0]], Path(options.child[1]))
        return
    real = os.environ.get("ENTREZ_KIT_REAL_DATA")
    mixes = {"recorded": recorded(Path(real), "*"), "baseline": recorded(Path(real), "baseline")} if real else {}
    mixes = {name: records for name, records in mixes.items() if records} or {"made up": made_up()}
    with tempfile.TemporaryDirectory() as folder:
        for name, records in mixes.items():
            compare(name, records, Path(folder) / "speed.xml", options.megabytes, options.rounds)
        for size in options.memory:
            path = write(Path(folder) / "memory.xml", next(iter(mixes.values())), size)
            print(f"peak memory, {size} MB file: {measure('ours', path)[1]:.1f} MB")


def compare(name: str, records: list[bytes], path: Path, megabytes: int, rounds: int) -> None:
    """Measure the yardsticks and the parser on one mix of records."""
    write(path, records, megabytes)
    size = path.stat().st_size / 1e6
    mean = sum(map(len, records)) / len(records) / 1e3
    print(f"{name}: {len(records)} different records of {mean:.1f} kB, {size:.0f} MB")
    best = dict.fromkeys(CONTENDERS, float("inf"))
    for _ in range(rounds):
        for contender in CONTENDERS:
            best[contender] = min(best[contender], measure(contender, path)[0])
    for contender, seconds in best.items():
        print(f"  {contender:10} {size / seconds:6.1f} MB/s")
    for yardstick in ("iterparse", "parse"):
        print(f"  ratio to {yardstick}: {best[yardstick] / best['ours']:.2f}", end="")
    print(f"  (target {TARGET})")


def measure(contender: str, path: Path) -> tuple[float, float]:
    """Return the CPU seconds and the peak memory (MB) of one contender, in a process of its own."""
    command = [sys.executable, __file__, "--child", contender, str(path)]
    seconds, kilobytes = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), int(kilobytes) / 1024


def child(function: Callable[[Path], int], path: Path) -> None:
    """Read the file twice, the first time to warm up, and print what it took."""
    function(path)
    started = time.process_time()
    assert function(path) > 0
    print(time.process_time() - started, own_peak())


def freeing(path: Path) -> int:
    """Read the records with lxml's iterparse, freeing each, and extract nothing."""
    count = 0
    for _, element in etree.iterparse(path, events=("end",), tag="PubmedArticle"):
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]
        count += 1
    return count


def whole(path: Path) -> int:
    """Read the whole file into one tree."""
    return len(etree.parse(path).getroot())


def ours(path: Path) -> int:
    """Read every record into an Article."""
    count = 0
    with path.open("rb") as file:
        for record in iter_records(file):
            record.article()
            count += 1
    return count


CONTENDERS: dict[str, Callable[[Path], int]] = {"iterparse": freeing, "parse": whole, "ours": ours}


def own_peak() -> int:
    """Return the peak memory of this process in kB; ru_maxrss would count the process that started it as well."""
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"VmHWM:\s+([0-9]+) kB", status.read_text(encoding="utf-8"))
        if found:
            return int(found[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def write(path: Path, records: list[bytes], megabytes: int) -> Path:
    """Write a file of about a size by repeating records."""
    size = 0
    with path.open("wb") as file:
        file.write(HEAD)
        for number, record in enumerate(itertools.cycle(records)):
            size += file.write(with_new_headings(record, number // len(records)) + b"\n")
            if size >= megabytes * 1e6:
                break
        file.write(TAIL)
    return path


def with_new_headings(record: bytes, repetition: int) -> bytes:
    """Rename one MeSH heading in four, so that a repeated record brings headings the parser has not met.

    In the recorded files that many are new after 800 records, and in a file of 30,000 there are fewer.
    """
    if not repetition:
        return record
    numbers = itertools.count()
    return DESCRIPTOR.sub(lambda found: found[0] + (b"" if next(numbers) % 4 else b"%d " % repetition), record)


def recorded(folder: Path, pattern: str) -> list[bytes]:
    """Return every record of the recorded replies in a folder."""
    records: list[bytes] = []
    for path in sorted(folder.glob(f"{pattern}/*")):
        if path.parent.name in ("efetch_pubmed", "baseline"):
            data = path.read_bytes()
            records += RECORD.findall(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
    return records


def made_up() -> list[bytes]:
    """Make up records in the shape of PubMed's: half of them with references, most with MeSH terms."""
    return list(_made_up(random.Random(1)))


_STEP = '<PubMedPubDate PubStatus="entrez"><Year>2020</Year><Month>2</Month><Day>3</Day><Hour>6</Hour></PubMedPubDate>'


def _made_up(chance: random.Random) -> Iterator[bytes]:
    words = [
        f"{a}{b}{c}" for a in ("gen", "prot", "cell", "syn", "meta") for b in "aeiou" for c in ("sis", "ne", "rol")
    ]

    def text(count: int) -> str:
        return " ".join(chance.choice(words) for _ in range(count))

    def repeated(count: int, make: Callable[[int], str]) -> str:
        return "".join(make(index) for index in range(count))

    for number in range(99_100_000, 99_100_400):
        authors = repeated(
            chance.randint(1, 12),
            lambda index: (
                f'<Author ValidYN="Y"><LastName>Name{index}</LastName><ForeName>Given</ForeName>'
                f"<Initials>G</Initials><AffiliationInfo><Affiliation>{text(12)}</Affiliation></AffiliationInfo></Author>"
            ),
        )
        mesh = repeated(
            chance.choice((0, 8, 12, 18)),
            lambda index: (
                f'<MeshHeading><DescriptorName UI="D{index:06}" MajorTopicYN="N">{text(2)}</DescriptorName>'
                f'<QualifierName UI="Q000001" MajorTopicYN="Y">{text(1)}</QualifierName></MeshHeading>'
            ),
        )
        references = repeated(
            chance.choice((0, 0, 25)),
            lambda index: (
                f"<Reference><Citation>{text(20)}</Citation><ArticleIdList>"
                f'<ArticleId IdType="pubmed">{index}</ArticleId></ArticleIdList></Reference>'
            ),
        )
        steps = repeated(4, lambda index: _STEP)
        yield (
            f'<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{number}</PMID>'
            "<DateRevised><Year>2020</Year><Month>2</Month><Day>3</Day></DateRevised>"
            '<Article PubModel="Print"><Journal><ISSN IssnType="Print">0000-0000'
            "</ISSN><JournalIssue><Volume>1</Volume><Issue>2</Issue><PubDate><Year>2020</Year><Month>Feb</Month>"
            "</PubDate></JournalIssue><Title>Invented journal</Title><ISOAbbreviation>Inv J</ISOAbbreviation></Journal>"
            f"<ArticleTitle>{text(14)} <i>{text(2)}</i>.</ArticleTitle><Pagination><MedlinePgn>1-9</MedlinePgn>"
            f'</Pagination><ELocationID EIdType="doi" ValidYN="Y">10.5555/{number}</ELocationID><Abstract>'
            f'<AbstractText Label="AIM">{text(60)}</AbstractText><AbstractText Label="RESULTS">{text(140)}'
            f'</AbstractText></Abstract><AuthorList CompleteYN="Y">{authors}</AuthorList><Language>eng</Language>'
            '<PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType>'
            f"</PublicationTypeList></Article><MeshHeadingList>{mesh}</MeshHeadingList></MedlineCitation><PubmedData>"
            f'<History>{steps}</History><ArticleIdList><ArticleId IdType="pubmed">{number}</ArticleId>'
            f'<ArticleId IdType="doi">10.5555/{number}</ArticleId></ArticleIdList>'
            f"<ReferenceList>{references}</ReferenceList></PubmedData></PubmedArticle>"
        ).encode()


if __name__ == "__main__":
    main()
