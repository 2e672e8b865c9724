"""Prove the labels of strategies on a large copy. Run by hand:

    ENTREZ_KIT_REAL_DATA=<folder of recorded replies> python tests/benchmarks/strategy_labels.py --records 100000

The copy has recorded records, and records made from the words, headings and values of strategies: those of the tests,
in the syntax of every service, and the recorded ones. Their words are near each other, at distances around those of
the lines. Each line is evaluated three times: its translation and its meaning on the index of the copy, and its
meaning by ``tests/support/strategy_line_matcher.py``, which reads the words of all records. A label is wrong if it
claims that nothing is missed, or nothing is added, and a record contradicts it. ``narrower`` without a loss that widens
claims that nothing is added.
"""

import argparse
import gzip
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import strategy_files
from benchmark_records import HEAD, RECORD, TAIL, read_own_peak
from pubmed_files import make_home_settings
from pyroaring import BitMap
from strategy_line_matcher import LineMatcher, UnmatchedError
from strategy_records import FILLERS, list_parts, write_text

from entrez_kit.local.copies import Copy, open_copy
from entrez_kit.local.importing import import_files
from entrez_kit.local.records.terms import extract_terms
from entrez_kit.query.dialects.meaning import evaluate_meaning
from entrez_kit.query.dialects.pieces import choose_label, list_directions
from entrez_kit.query.dialects.qualifiers import MERGED
from entrez_kit.query.dialects.renamed_headings import RENAMED
from entrez_kit.query.dialects.spellings import WordList
from entrez_kit.query.dialects.translate_proximity import Proximity
from entrez_kit.query.dialects.tree import Node, SubjectHeading, Value
from entrez_kit.query.search import search
from entrez_kit.strategies.prove_strategy import LineProof, prove_records
from entrez_kit.strategies.strategy import Strategy, read_strategy

CHUNK = 10_000
"""Records that the matcher reads at a time."""
FIRST_PMID = 50_000_000


def main() -> None:
    """Print the labels, the wrong ones with witnesses, and the differences between the judge and the index."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--records", type=int, default=100_000)
    arguments.add_argument("--strategies", type=int, default=1000, help="largest number of strategies")
    options = arguments.parse_args()
    real = os.environ.get("ENTREZ_KIT_REAL_DATA")
    texts = list(read_texts(Path(real) if real else None))[: options.strategies]
    strategies = [read_strategy(text) for text in texts]
    known = list_recorded(Path(real)) if real else []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.xml"
        with path.open("wb") as file:
            file.write(HEAD)
            file.writelines(known[: options.records])
            file.writelines(make_xml(strategies, options.records - len(known[: options.records])))
            file.write(TAIL)
        started = time.perf_counter()
        import_files(make_home_settings(Path(folder)), "proof", [path])
        copy = open_copy(make_home_settings(Path(folder)), "proof")
        took = time.perf_counter() - started
        print(f"{copy.info.records:,} records, {len(known):,} of them recorded, imported in {took:.0f} s")
        modes: tuple[tuple[str, Proximity, WordList | None], ...] = (
            ("AND in place of distances", "and", None),
            (
                "the words of the copy for truncated words",
                "near",
                WordList("the copy", tuple(copy.index.list_words("title"))),
            ),
            ("distances", "near", None),
        )
        for name, proximity, words in modes:
            print(f"\n{name}:")
            judges = name == "distances"
            report([read_strategy(text, proximity=proximity, words=words) for text in texts], copy, judges=judges)
    print(f"peak memory {read_own_peak() / 1024:.0f} MB")


def read_texts(real: Path | None) -> Iterator[str]:
    """Yield the strategies."""
    yield from (text for name, text in strategy_files.ALL.items() if not name.startswith("PUBMED"))
    if real is None:
        return
    for path in sorted((real / "strategies" / "clef").glob("*.txt")):
        yield path.read_bytes().decode("utf-8")


def list_recorded(real: Path) -> list[bytes]:
    """Return the recorded records, one for each PMID."""
    found: dict[bytes, bytes] = {}
    for path in sorted((*real.glob("efetch_pubmed/*"), *real.glob("baseline/*"))):
        if path.is_file():
            for record in RECORD.findall(unpack(path.read_bytes())):
                pmid = record.partition(b"<PMID")[2].partition(b">")[2].partition(b"<")[0]
                found.setdefault(pmid, record)
    return list(found.values())


def unpack(data: bytes) -> bytes:
    """Return the content of a file that may be compressed."""
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def make_xml(strategies: Sequence[Strategy], count: int) -> Iterator[bytes]:
    """Make records with the words of strategies; each takes its words from one or two strategies."""
    chance = random.Random(1)
    parts = [list_parts([strategy]) for strategy in strategies]
    for number in range(count):
        texts, headings, values = (
            [one for group in groups for one in group]
            for groups in zip(*chance.sample(parts, min(len(parts), chance.choice((1, 1, 2)))), strict=True)
        )
        yield make_record(FIRST_PMID + number, texts, headings, values, chance).encode()


def make_record(
    pmid: int, texts: list[Node], headings: list[SubjectHeading], values: list[Value], chance: random.Random
) -> str:
    """Make one record."""

    def text() -> str:
        pieces = [write_text(chance.choice(texts), chance) for _ in range(chance.choice((1, 1, 2, 3)))] if texts else []
        return escape(f" {chance.choice(FILLERS)} ".join(pieces))

    def maybe(tag: str, share: float, attributes: str = "") -> str:
        return f"<{tag}{attributes}>{text()}</{tag}>" if chance.random() < share else ""

    mesh = []
    for heading in chance.sample(headings, min(len(headings), chance.choice((0, 1, 2)))):
        major = chance.choice(("Y", "N"))
        marks = "".join(
            f'<QualifierName UI="Q1" MajorTopicYN="{chance.choice("YN")}">{escape(qualifier)}</QualifierName>'
            for qualifier in (MERGED.get(qualifier, qualifier) for qualifier in heading.qualifiers)
            if chance.random() < 0.7
        )
        current = RENAMED.get(heading.name.lower(), heading.name)
        mesh.append(
            f'<MeshHeading><DescriptorName UI="D1" MajorTopicYN="{major}">{escape(current)}</DescriptorName>'
            f"{marks}</MeshHeading>"
        )
    for name in ("Humans", "Animals"):
        if chance.random() < 0.4:
            mesh.append(f'<MeshHeading><DescriptorName UI="D1" MajorTopicYN="N">{name}</DescriptorName></MeshHeading>')
    chosen = [value for value in values if chance.random() < 0.4]
    types = "".join(
        f'<PublicationType UI="D1">{escape(one.text)}</PublicationType>'
        for one in chosen
        if one.code.startswith("PTYP")
    )
    for one in chosen:
        if one.code.startswith("SUBH"):
            mesh.append(
                '<MeshHeading><DescriptorName UI="D1" MajorTopicYN="N">Violins</DescriptorName>'
                f'<QualifierName UI="Q1" MajorTopicYN="N">{escape(one.text)}</QualifierName></MeshHeading>'
            )
    authors = "".join(
        f"<Author><LastName>{escape(person[0])}</LastName><Initials>{person[1].upper() or 'A'}</Initials></Author>"
        for one in chosen
        if one.code == "AUTH" and (person := one.text.rstrip("*").rpartition(" ")[::2])[0]
    )
    year = chance.randint(1960, 2022)
    printed = f"<Year>{year}</Year><Month>{chance.randint(1, 12)}</Month>"
    electronic = f'<ArticleDate DateType="Electronic"><Year>{year + chance.choice((-1, 0, 1))}</Year><Month>6</Month>'
    entry = "".join(
        f'<PubMedPubDate PubStatus="{status}"><Year>{year + chance.choice((0, 0, 1))}</Year><Month>'
        f"{chance.randint(1, 12)}</Month><Day>{chance.randint(1, 28)}</Day></PubMedPubDate>"
        for status in ("pubmed", "medline", "entrez")
    )
    return (
        f'<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{pmid}</PMID>'
        f"<Article PubModel='Print-Electronic'><Journal><JournalIssue><PubDate>{printed}</PubDate></JournalIssue>"
        f"<Title>Journal</Title></Journal><ArticleTitle>{text()}</ArticleTitle>"
        f"<Abstract><AbstractText>{text()}</AbstractText></Abstract><AuthorList>{authors}</AuthorList>"
        f"<Language>{chance.choice(('eng', 'eng', 'ger'))}</Language><PublicationTypeList>{types}</PublicationTypeList>"
        f"{maybe('VernacularTitle', 0.2)}{electronic}<Day>1</Day></ArticleDate></Article>"
        f"<ChemicalList>{_wrap('Chemical', maybe('NameOfSubstance', 0.3))}</ChemicalList>"
        f"<MeshHeadingList>{''.join(mesh)}</MeshHeadingList>"
        f'<KeywordList Owner="NOTNLM">{maybe("Keyword", 0.5)}</KeywordList></MedlineCitation>'
        f"<PubmedData><History>{entry}</History></PubmedData></PubmedArticle>\n"
    )


def _wrap(tag: str, content: str) -> str:
    return f"<{tag}><RegistryNumber>0</RegistryNumber>{content}</{tag}>" if content else ""


def report(strategies: Sequence[Strategy], copy: Copy, *, judges: bool) -> None:
    """Prove all lines and print the figures."""
    started = time.perf_counter()
    proofs = [prove_records(strategy, copy.index, copy.read_vocabulary()) for strategy in strategies]
    print(f"meaning and translation on the index: {time.perf_counter() - started:.0f} s")
    claims: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    wrong = 0
    for number, (found, _) in enumerate(proofs):
        for one in found:
            label = choose_label(one.line.losses)
            claim = "-".join(sorted(list_directions(one.line.losses))) or "exact"
            claims[claim] += 1
            shown[claim] += bool(one.meant or one.found)
            if not one.holds:
                wrong += 1
                witnesses = copy.index.read_pmids([*one.missed[:2], *one.gained[:2]])
                print(f"WRONG {label}, strategy {number}: {one.line.printed.text!r} -> {one.line.pubmed!r} {witnesses}")
    unproven = sum(len(reasons) for _, reasons in proofs)
    refused = sum(line.kind == "refused" for strategy in strategies for line in strategy.lines)
    for claim, count in claims.most_common():
        print(f"{claim}: {count} lines, {shown[claim]} of them with records")
    print(f"{sum(claims.values())} lines proven, {wrong} labels wrong, {unproven} not evaluated, {refused} refused")
    if not judges:
        return
    started = time.perf_counter()
    judged, differ = judge_all(proofs, copy)
    print(f"judge: {judged} lines in {time.perf_counter() - started:.0f} s, {differ} differ from the index")


def judge_all(proofs: Iterable[tuple[list[LineProof], dict[int, str]]], copy: Copy) -> tuple[int, int]:
    """Judge every line on all records, some thousand records at a time; return how many lines, and how many differ."""
    listed = [found for found, _ in proofs]
    totals: dict[tuple[int, int], set[int]] = {}
    unjudged: set[tuple[int, int]] = set()
    numbers = list(copy.visible)
    for start in range(0, len(numbers), CHUNK):
        chunk = numbers[start : start + CHUNK]
        inside = BitMap(chunk)
        records = [extract_terms(copy.collection.read_document(number)) for number in chunk]

        def find(query: str, chunk: list[int] = chunk, inside: BitMap = inside) -> list[int]:
            found = search(query, copy.index, copy.read_vocabulary()).records & inside
            return [chunk.index(number) for number in found]

        judge = LineMatcher(records, find, RENAMED, MERGED)
        for strategy, found in enumerate(listed):
            lines: dict[int, set[int]] = {}
            for one in found:
                number = one.line.number
                assert number is not None
                assert one.line.node is not None
                try:
                    lines[number] = judge.judge(one.line.node, lines)
                except (UnmatchedError, KeyError):
                    unjudged.add((strategy, number))
                    continue
                totals.setdefault((strategy, number), set()).update(chunk[place] for place in lines[number])
    differ = 0
    for strategy, found in enumerate(listed):
        meant: dict[int, BitMap] = {}
        for one in found:
            assert one.line.node is not None
            assert one.line.number is not None
            meant[one.line.number] = evaluate_meaning(one.line.node, copy.index, copy.read_vocabulary(), meant)
            key = strategy, one.line.number
            if key in totals and key not in unjudged and totals[key] != {*meant[one.line.number]}:
                differ += 1
                witnesses = copy.index.read_pmids(list(totals[key] ^ {*meant[one.line.number]})[:3])
                print(f"DIFFERS, strategy {strategy}: {one.line.printed.text!r} {witnesses}")
    return len(totals.keys() - unjudged), differ


if __name__ == "__main__":
    main()
