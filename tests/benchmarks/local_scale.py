"""Measure the search index of copies on invented records. Run by hand:

    python tests/benchmarks/local_scale.py                                        # 200,000 records, some ten minutes
    python tests/benchmarks/local_scale.py --records 1000000 --folder DIR --json FILE

Part "compare" indexes title, abstract, keywords and headings with this project's engine, with SQLite's FTS5 (words
split beforehand, ``detail=full``) and, if it is installed, with tantivy (``pip install tantivy``), and compares CPU
time, size and queries. Part "scale" indexes whole records in segments of 50,000, merges them, and measures the queries
of a copy: each is asked three times in turn, and the fastest counts. Times of queries are CPU times. A ranked query
finds no decoded words in memory.

Exits 1 if a promise is broken; promises about time and size apply from 100,000 records on. The folder stores the texts
and the indexes for the next run; an existing index is not built again.
"""

import argparse
import json
import math
import os
import random
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, Protocol

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from benchmark_records import read_own_peak
from invented_abstracts import FUNCTION_WORDS, GENERAL_WORDS, Abstract, Abstracts
from pyroaring import BitMap
from scale_records import ScaleRecords, add_texts, find_day, read_rows, read_vocabulary

from entrez_kit.query.mesh import Vocabulary
from entrez_kit.query.record_terms import RecordTerms, SortKeys
from entrez_kit.query.search import search
from entrez_kit.query.segments import relevance
from entrez_kit.query.segments.merge import merge_segments
from entrez_kit.query.segments.relevance import PUBMED
from entrez_kit.query.segments.search_index import SearchIndex
from entrez_kit.query.segments.segment import Segment
from entrez_kit.query.segments.writer import SegmentWriter
from entrez_kit.query.words import STOP_WORDS, split_words

TEXTS = ("title", "abstract", "keyword", "mesh")
TIAB = ("title", "abstract", "keyword")
TOP = 20
ROUNDS = 3
SEGMENT = 50_000
TIMED_FROM = 100_000
VARIANTS = 2_000
MAX_OF_TANTIVY = 1.5
LEAST_RECALL = 0.995
LIMITS = {
    "five words or-ed and a date range": 0.050,
    "strategy of 40 lines": 1.0,
    "count and all PMIDs of 300,000": 1.5,
    "wildcard of 2,000 variants": 0.300,
    "proximity": 0.200,
    "20 most relevant": 0.060,
}
"""The CPU seconds that a query may take with 1,000,000 records: the median; the slowest one for proximity."""


class Contender(Protocol):
    """An engine under test; ``name`` and ``path`` are its name and its folder."""

    name: str
    path: Path

    def build(self, rows: Iterator[Abstract], size: int) -> None:
        """Index all rows."""

    def open(self) -> None:
        """Open the index."""

    def rank(self, words: Sequence[str]) -> int:
        """Find the most relevant records; return their number."""

    def count_phrase(self, words: Sequence[str]) -> int:
        """Count the records with a phrase in the abstract."""

    def count_any(self, words: Sequence[str], low: int, high: int) -> int:
        """Count the records of some days with any of these words in title, abstract or keywords."""


class Ours:
    """This project's engine."""

    name = "entrez-kit"

    def __init__(self, path: Path) -> None:
        self.path = path

    def build(self, rows: Iterator[Abstract], size: int) -> None:
        """Index all rows."""
        with SegmentWriter(self.path / "all.seg") as writer:
            for number, row in enumerate(rows):
                terms = RecordTerms()
                add_texts(terms, row)
                terms.add_number("edat", _to_number(number, size))
                writer.add(terms, SortKeys(row.pmid))
            writer.finish()

    def open(self) -> None:
        """Open the index."""
        self.index = SearchIndex([self.path / "all.seg"])

    def rank(self, words: Sequence[str]) -> int:
        """Find the most relevant records; return their number."""
        return _count_best(self.index, words)

    def count_phrase(self, words: Sequence[str]) -> int:
        """Count the records with a phrase in the abstract."""
        return len(self.index.find_phrase("abstract", [[word] for word in words]))

    def count_any(self, words: Sequence[str], low: int, high: int) -> int:
        """Count the records of some days with any of these words in title, abstract or keywords."""
        found = self.index.find_range("edat", low, high)
        some = self.index.find_any_word(TIAB[0], words)
        for source in TIAB[1:]:
            some |= self.index.find_any_word(source, words)
        return len(found & some)


class Tantivy:
    """tantivy with its own tokenizer, one thread and one merge at the end."""

    name = "tantivy"

    def __init__(self, path: Path) -> None:
        import tantivy

        self.path = path
        self._engine: Any = tantivy
        builder = tantivy.SchemaBuilder()
        for field in TEXTS:
            builder.add_text_field(field, stored=False)
        builder.add_integer_field("day", stored=False, indexed=True, fast=True)
        self._schema = builder.build()

    def build(self, rows: Iterator[Abstract], size: int) -> None:
        """Index all rows."""
        index = self._engine.Index(self._schema, path=str(self.path))
        writer = index.writer(heap_size=200_000_000, num_threads=1)
        for number, row in enumerate(rows):
            headings = row.terms.split("; ")
            writer.add_document(
                self._engine.Document(
                    title=row.title,
                    abstract=row.abstract,
                    mesh=" ".join(headings[:3]),
                    keyword=" ".join(headings[3:]),
                    day=_to_number(number, size),
                )
            )
        writer.commit()
        writer.wait_merging_threads()

    def open(self) -> None:
        """Open the index."""
        self._index = self._engine.Index.open(str(self.path))
        self._searcher = self._index.searcher()

    def rank(self, words: Sequence[str]) -> int:
        """Find the most relevant records; return their number."""
        query = self._index.parse_query(" ".join(words), list(TEXTS), field_boosts=dict(PUBMED.weights))
        return len(self._searcher.search(query, limit=TOP, count=False).hits)

    def _count(self, query: Any) -> int:
        return int(self._searcher.search(query, limit=1, count=True).count)

    def count_phrase(self, words: Sequence[str]) -> int:
        """Count the records with a phrase in the abstract."""
        return self._count(self._engine.Query.phrase_query(self._schema, "abstract", list(words)))

    def count_any(self, words: Sequence[str], low: int, high: int) -> int:
        """Count the records of some days with any of these words in title, abstract or keywords."""
        query, occur = self._engine.Query, self._engine.Occur
        either = [(occur.Should, query.term_query(self._schema, field, word)) for field in TIAB for word in words]
        days = query.range_query(self._schema, "day", self._engine.FieldType.Integer, low, high)
        return self._count(query.boolean_query([(occur.Must, query.boolean_query(either)), (occur.Must, days)]))

    def list_all(self, word: str) -> int:
        """Return the number of records with a word in the abstract after reading the address of each."""
        query = self._engine.Query.term_query(self._schema, "abstract", word)
        return len(self._searcher.search(query, limit=10_000_000, count=False).hits)


class Fts5:
    """SQLite's FTS5 over words that were split beforehand, without a copy of the text."""

    name = "FTS5"

    def __init__(self, path: Path) -> None:
        self.path = path

    def build(self, rows: Iterator[Abstract], size: int) -> None:
        """Index all rows."""
        connection = sqlite3.connect(self.path / "fts.db")
        connection.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
            "CREATE VIRTUAL TABLE texts USING fts5(title, abstract, keyword, mesh, content='', detail=full);"
            "CREATE TABLE days (number INTEGER PRIMARY KEY, day INTEGER);"
        )
        for number, row in enumerate(rows):
            headings = row.terms.split("; ")
            texts = (row.title, row.abstract, " ".join(headings[3:]), " ".join(headings[:3]))
            values = [" ".join(split_words(text)) for text in texts]
            connection.execute(
                "INSERT INTO texts (rowid, title, abstract, keyword, mesh) VALUES (?, ?, ?, ?, ?)", (number, *values)
            )
            connection.execute("INSERT INTO days VALUES (?, ?)", (number, _to_number(number, size)))
        connection.execute("CREATE INDEX by_day ON days (day)")
        connection.execute("INSERT INTO texts (texts) VALUES ('optimize')")
        connection.commit()
        connection.close()

    def open(self) -> None:
        """Open the index."""
        self._connection = sqlite3.connect(self.path / "fts.db")

    def rank(self, words: Sequence[str]) -> int:
        """Find the most relevant records; return their number."""
        statement = f"SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts, 3, 1, 2, 2) LIMIT {TOP}"
        return len(self._connection.execute(statement, (" OR ".join(f'"{word}"' for word in words),)).fetchall())

    def _count(self, statement: str, *values: object) -> int:
        return int(self._connection.execute(statement, values).fetchone()[0])

    def count_phrase(self, words: Sequence[str]) -> int:
        """Count the records with a phrase in the abstract."""
        return self._count("SELECT count(*) FROM texts WHERE texts MATCH ?", f'abstract : "{" ".join(words)}"')

    def count_any(self, words: Sequence[str], low: int, high: int) -> int:
        """Count the records of some days with any of these words in title, abstract or keywords."""
        return self._count(
            "SELECT count(*) FROM texts JOIN days ON number = texts.rowid WHERE texts MATCH ? AND day BETWEEN ? AND ?",
            f"{{title abstract keyword}} : ({' OR '.join(words)})",
            low,
            high,
        )


def main() -> int:
    """Print the figures; return whether a promise was broken."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--records", type=int, default=200_000)
    arguments.add_argument("--queries", type=int, default=60)
    arguments.add_argument(
        "--judged", type=int, default=15, help="ranked queries that are also computed from the texts"
    )
    arguments.add_argument("--parts", default="compare,scale")
    arguments.add_argument("--without", default="", help="contenders to omit, separated by commas")
    arguments.add_argument("--folder", type=Path, help="where to make the files, which are then kept")
    arguments.add_argument("--json", type=Path, help="where to write the figures")
    options = arguments.parse_args()
    figures: dict[str, Any] = {"records": options.records, "load": os.getloadavg()}
    broken: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = options.folder or Path(temporary)
        texts = folder / "rows.tsv"
        if "compare" in options.parts:
            figures["compare"] = compare(folder, texts, options, broken)
        if "scale" in options.parts:
            figures["scale"] = measure_scale(folder, texts, options, broken)
    figures["load at the end"] = os.getloadavg()
    figures["broken"] = broken
    text = json.dumps(figures, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text, encoding="utf-8")
    return int(bool(broken))


def compare(folder: Path, texts: Path, options: argparse.Namespace, broken: list[str]) -> dict[str, Any]:
    """Measure each contender; note the broken promises."""
    contenders: list[Contender] = [Ours(folder / "ours"), Fts5(folder / "fts5")]
    try:
        contenders.insert(1, Tantivy(folder / "tantivy"))
    except ImportError:
        print("tantivy is not installed", file=sys.stderr)
    contenders = [contender for contender in contenders if contender.name not in options.without.split(",")]
    size = options.records
    rows = list(read_rows(texts, size)) if size <= 200_000 else None
    figures: dict[str, Any] = {contender.name: {} for contender in contenders}
    for one in contenders:
        built = one.path / f"built-{size}.json"
        if not built.exists():
            shutil.rmtree(one.path, ignore_errors=True)
            one.path.mkdir(parents=True)
            _sleep_reading(texts, size)
            start = time.process_time()
            one.build(iter(rows) if rows is not None else read_rows(texts, size), size)
            seconds = time.process_time() - start
            if rows is None:
                seconds -= _time_reading(texts, size)
            total = sum(file.stat().st_size for file in one.path.iterdir())
            built.write_text(
                json.dumps({"CPU s to build": seconds, "bytes per record": total / size}), encoding="utf-8"
            )
        figures[one.name] |= json.loads(built.read_text(encoding="utf-8"))
        one.open()
    questions = list(_list_questions(texts, size, options.queries))
    for kind, ask in (
        ("ranked", _ask_ranked),
        ("phrase", _ask_phrase),
        ("five words and dates", _ask_five),
    ):
        for one in contenders:
            few = questions[: max(5, options.queries // 4)] if one.name == "FTS5" and kind == "ranked" else questions
            times, counts = _time_each([partial(ask, one, each) for each in few])
            figures[one.name] |= {f"{kind} p50 ms": _percent(times, 50), f"{kind} p95 ms": _percent(times, 95)}
            figures[one.name][f"{kind} hits"] = sum(counts) if len(few) == len(questions) else None
    known = {contender.name: contender for contender in contenders}
    if isinstance(engine := known.get("tantivy"), Tantivy):
        times, counts = _time_each([partial(engine.list_all, "risk")])
        figures["tantivy"]["addresses of all hits"] = {"hits": counts[0], "ms": times[0] * 1e3}
    if isinstance(ours := known.get("entrez-kit"), Ours):
        figures["entrez-kit"]["recall@10"] = recall = _measure_recall(
            ours.index, texts, size, questions[: options.judged]
        )
        if recall < LEAST_RECALL:
            broken.append(f"recall@10 {recall:.4f}")
    if "tantivy" in figures and "entrez-kit" in figures and size >= TIMED_FROM:
        for figure, most in (("CPU s to build", 1.5), ("bytes per record", 1.5), ("ranked p50 ms", 1.0)):
            share = figures["entrez-kit"][figure] / figures["tantivy"][figure]
            if share > most:
                broken.append(f"{figure}: {share:.2f} of tantivy, at most {most}")
    return figures


class _Question:
    """One query of each kind, made from a record."""

    def __init__(self, number: int, size: int, row: Abstract, generator: Abstracts) -> None:
        chance = random.Random(number)
        found = split_words(generator.question(number, size).text)
        self.words = [word for word in dict.fromkeys(found) if word not in STOP_WORDS]
        words = split_words(row.abstract)
        begin = chance.randrange(len(words) - 5)
        self.phrase = words[begin : begin + chance.choice((2, 2, 3, 4))]
        rare = [word for word in words if word not in FUNCTION_WORDS and word not in GENERAL_WORDS and len(word) > 3]
        self.pair = [chance.choice(rare), chance.choice(GENERAL_WORDS)]
        self.five = [*chance.sample(rare, 3), *chance.sample(GENERAL_WORDS, 2)]
        first = chance.randrange(size * 3 // 4)
        self.days = (_to_number(first, size), _to_number(first + size // 5, size))


def _ask_ranked(engine: Contender, question: _Question) -> int:
    return engine.rank(question.words)


def _ask_phrase(engine: Contender, question: _Question) -> int:
    return engine.count_phrase(question.phrase)


def _ask_five(engine: Contender, question: _Question) -> int:
    return engine.count_any(question.five, *question.days)


def _list_questions(texts: Path, size: int, count: int) -> Iterator[_Question]:
    generator = Abstracts()
    for number in range(count):
        yield _Question(number, size, generator.row(number * size // count), generator)


def _to_number(number: int, size: int) -> int:
    day = find_day(number, size)
    return day.year * 10_000 + day.month * 100 + day.day


def _sleep_reading(texts: Path, size: int) -> None:
    """Read the rows once, so that all contenders find them in the cache of the system."""
    for _ in read_rows(texts, size):
        pass


def _time_reading(texts: Path, size: int) -> float:
    start = time.process_time()
    _sleep_reading(texts, size)
    return time.process_time() - start


def _time_each(queries: Sequence[Callable[[], int]]) -> tuple[list[float], list[int]]:
    """Return the CPU seconds of each query, the fastest of some rounds, and their results."""
    fastest, counts = [math.inf] * len(queries), [0] * len(queries)
    for _ in range(ROUNDS):
        for place, ask in enumerate(queries):
            start = time.process_time()
            counts[place] = ask()
            fastest[place] = min(fastest[place], time.process_time() - start)
    return fastest, counts


def _percent(times: Sequence[float], share: int) -> float:
    ordered = sorted(times)
    return round(1e3 * ordered[min(len(ordered) - 1, len(ordered) * share // 100)], 2)


def _measure_recall(index: SearchIndex, texts: Path, size: int, questions: Sequence[_Question]) -> float:
    """Return which share of the first ten of each ranked query is among those computed from all texts."""
    wanted = {word for question in questions for word in question.words}
    frequencies: dict[str, list[tuple[int, float]]] = {word: [] for word in wanted}
    having: Counter[str] = Counter()
    weights = dict(PUBMED.weights)
    lengths: list[int] = []
    for number, row in enumerate(read_rows(texts, size)):
        terms = RecordTerms()
        add_texts(terms, row)
        counted: dict[str, float] = defaultdict(float)
        lengths.append(sum(len(piece) for pieces in terms.texts.values() for piece in pieces))
        for source, pieces in terms.texts.items():
            words = [word for piece in pieces for word in piece if word in wanted]
            for word in words:
                counted[word] += weights[source]
        having.update(counted.keys())
        for word, frequency in counted.items():
            frequencies[word].append((number, frequency))
    mean = statistics.mean(lengths)
    shares = []
    for question in questions:
        scores: dict[int, float] = defaultdict(float)
        for word in question.words:
            found = having[word]
            rarity = math.log(1 + (size - found + 0.5) / (found + 0.5))
            for number, frequency in frequencies[word]:
                norm = PUBMED.saturation * (1 - PUBMED.length + PUBMED.length * lengths[number] / mean)
                scores[number] += rarity * frequency * (PUBMED.saturation + 1) / (frequency + norm)
        least = min(sorted(scores.values())[-10:], default=0)
        best = index.rank_by_relevance(question.words, index.list_records(), 10)
        shares.append(sum(scores[number] >= least - 1e-9 for number, _ in best) / max(1, min(10, len(scores))))
    return statistics.mean(shares)


def measure_scale(folder: Path, texts: Path, options: argparse.Namespace, broken: list[str]) -> dict[str, Any]:
    """Measure whole records: building in segments, merging, and the queries of a copy."""
    size = options.records
    path = folder / f"whole-{size}"
    built = path / "built.json"
    if not built.exists():
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        built.write_text(json.dumps(_build_whole(path, texts, size)), encoding="utf-8")
    figures: dict[str, Any] = json.loads(built.read_text(encoding="utf-8"))
    start = time.process_time()
    index = SearchIndex(sorted(path.glob("merged-*.seg")))
    figures["ms to open"] = 1e3 * (time.process_time() - start)
    vocabulary = read_vocabulary()
    questions = list(_list_questions(texts, size, options.queries))

    def ask(query: str) -> int:
        return len(search(query, index, vocabulary).records)

    kinds: dict[str, list[Callable[[], int]]] = {
        "five words or-ed and a date range": [
            partial(ask, f"({' OR '.join(f'{word}[tiab]' for word in each.five)}) AND {first}:{last}[dp]")
            for each in questions
            for first, last in [[day // 10_000 for day in each.days]]
        ],
        "strategy of 40 lines": [partial(ask, write_strategy(questions[place::3])) for place in range(3)],
        "count and all PMIDs of 300,000": [partial(_list_all, index, vocabulary, "humans[mh]")],
        "wildcard of 2,000 variants": [partial(_count_variants, index, begin) for begin in "cmt"],
        "phrase": [partial(ask, f'"{" ".join(each.phrase)}"[tiab]') for each in questions],
        "proximity": [
            partial(ask, f'"{" ".join(each.pair)}"[tiab:~{number % 7}]') for number, each in enumerate(questions)
        ],
        "20 most relevant": [partial(_count_best, index, each.words) for each in questions],
    }
    for name, queries in kinds.items():
        times, counts = _time_each(queries)
        figures[name] = {
            "p50 ms": _percent(times, 50),
            "p95 ms": _percent(times, 95),
            "slowest ms": _percent(times, 100),
            "mean hits": statistics.mean(counts),
        }
        limit = LIMITS.get(name)
        taken = figures[name]["slowest ms" if name == "proximity" else "p50 ms"] / 1e3
        if limit and size >= TIMED_FROM and taken > limit:
            broken.append(f"{name}: {taken * 1e3:.0f} ms, at most {limit * 1e3:.0f} ms")
    return figures


def _count_best(index: SearchIndex, words: Sequence[str]) -> int:
    relevance._kept.clear()  # an earlier round has read the same words
    return len(index.rank_by_relevance(words, index.list_records(), TOP))


def _list_all(index: SearchIndex, vocabulary: Vocabulary, query: str) -> int:
    return len(index.read_pmids(index.rank(search(query, index, vocabulary).records.to_array(), "newest")))


def _build_whole(path: Path, texts: Path, size: int) -> dict[str, Any]:
    records = ScaleRecords(size)
    adding = merging = 0.0
    parts: list[Path] = []
    rows = enumerate(read_rows(texts, size))
    words = 0
    for first in range(0, size, SEGMENT):
        with SegmentWriter(path / f"part-{first:09}.seg") as writer:
            for number, row in rows:
                terms, keys = records.build(number, row)
                words += sum(len(piece) for pieces in terms.texts.values() for piece in pieces)
                start = time.process_time()
                writer.add(terms, keys)
                adding += time.process_time() - start
                if number + 1 == min(first + SEGMENT, size):
                    break
            start = time.process_time()
            parts.append(writer.finish().path)
            adding += time.process_time() - start
    start = time.process_time()
    merged = merge_segments(parts, path / "merged-0.seg")
    merging = time.process_time() - start
    for part in parts:
        part.unlink()
    by_list = Counter[str]()
    for one in Segment(merged.path)._header["lists"]:
        for section in ("ends", "texts", "text_ends", "keys"):
            by_list[f"{one['kind']} {section.removeprefix('text_')}"] += one.get(section, (0, 0))[1]
        for name, (_, length) in zip(("records", "counts", "steps", "rest"), one["streams"], strict=False):
            by_list[f"{one['kind']} {name}"] += length
    return {
        "words per record": words / size,
        "CPU us per record to add": 1e6 * adding / size,
        "CPU us per record to merge": 1e6 * merging / size,
        "bytes per record": merged.size / size,
        "bytes per record by list": {name: round(total / size, 1) for name, total in by_list.most_common()},
        "peak MB": read_own_peak() / 1024,
    }


def _count_variants(index: SearchIndex, begin: str) -> int:
    """Count the records with any of 2,000 words; no stem of four letters has as many among these invented words."""
    found = BitMap()
    for source in TIAB:
        found |= index.find_any_word(source, [*index.list_words(source, begin)][:VARIANTS])
    return len(found)


def write_strategy(questions: Sequence[_Question]) -> str:
    """Return a search of 40 lines as published reviews have them: three concepts, each with headings, words, wildcards
    and phrases, limited to humans and some years.
    """
    lines: list[str] = []
    concepts = []
    each = cycle(questions)
    for concept in range(3):
        some = []
        for place in range(13):
            question = next(each)
            word = question.five[place % 3]
            some.append(
                (
                    f'"branch {(concept * 7 + place) % 20} {place}"[mh]',
                    f"{word}[tiab]",
                    f"{word[:5]}*[tiab]",
                    f'"{" ".join(question.phrase)}"[tiab]',
                    f"{question.five[3]}[ti]",
                    f"{word}[tw]",
                )[place % 6]
            )
        lines += some
        concepts.append(f"({' OR '.join(some)})")
    return f"{' AND '.join(concepts)} NOT (animals[mh] NOT humans[mh]) AND 1990:2020[dp]"


if __name__ == "__main__":
    sys.exit(main())
