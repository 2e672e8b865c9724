"""Every regular expression of the project takes time in proportion to the text, for any text.

Patterns are collected from the source: those compiled in a module, and every pattern passed to `re`.
"""

import ast
import importlib
import json
import pkgutil
import re
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, Final

import pytest
from project_paths import SUPPORT
from slow_patterns import Pattern, find_problem, measure_growth

import entrez_kit

STUCK_SECONDS: Final = 120
WORKER: Final = SUPPORT / "slow_patterns.py"
USES: Final = frozenset(("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"))
ANYWHERE: Final = USES - {"match", "fullmatch"}


@cache
def list_modules() -> tuple[ModuleType, ...]:
    names = [name for _, name, _ in pkgutil.walk_packages(entrez_kit.__path__, "entrez_kit.") if "__main__" not in name]
    return tuple(importlib.import_module(name) for name in names)


@cache
def read_trees() -> dict[str, ast.Module]:
    return {
        module.__name__: ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        for module in list_modules()
        if module.__file__
    }


def list_calls(tree: ast.AST) -> Iterator[tuple[ast.expr, str, ast.Call]]:
    """Return the calls of methods of patterns: the object, the method, the call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.value, node.func.attr, node


@cache
def map_methods() -> dict[tuple[str, str], set[str]]:
    """Return how a pattern is used, by module and name; a public name in any module that uses it."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module, tree in read_trees().items():
        for owner, method, _ in list_calls(tree):
            while isinstance(owner, ast.Subscript):
                owner = owner.value
            name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else None
            if method in USES and name:
                found[module if name.startswith("_") else "", name].add(method)
    return found


def list_compiled(module: ModuleType) -> Iterator[tuple[str, "re.Pattern[Any]"]]:
    """Return the patterns of a module, also those in its tables and classes."""

    def walk(name: str, value: object, depth: int = 0) -> Iterator[tuple[str, "re.Pattern[Any]"]]:
        if isinstance(value, re.Pattern):
            yield name, value
        elif isinstance(value, dict) and depth < 4:
            for one in (*value.keys(), *value.values()):
                yield from walk(name, one, depth + 1)
        elif isinstance(value, (tuple, list, set, frozenset)) and depth < 4:
            for one in value:
                yield from walk(name, one, depth + 1)
        elif isinstance(value, type) and value.__module__ == module.__name__ and depth < 2:
            for one in vars(value).values():
                yield from walk(name, one, depth + 1)

    for name, value in vars(module).items():
        yield from walk(name, value)


def list_passed_to_re(module: ModuleType) -> Iterator[tuple[str, "re.Pattern[Any] | None"]]:
    """Return the patterns that a module passes to `re`; None if one is known only at run time."""
    at_once = {id(owner): used for owner, used, _ in list_calls(read_trees()[module.__name__]) if used in USES}
    for owner, method, call in list_calls(read_trees()[module.__name__]):
        if not (isinstance(owner, ast.Name) and owner.id == "re" and method in USES | {"compile"}):
            continue
        flags = next((k.value for k in call.keywords if k.arg == "flags"), None)
        position = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(method, 2)
        if flags is None and len(call.args) > position:
            flags = call.args[position]
        source = ast.unparse(call.args[0])
        try:
            arguments = [eval(ast.unparse(one), vars(module)) for one in (call.args[0], *((flags,) if flags else ()))]
            yield f"{at_once.get(id(call), method)} {source}", re.compile(*arguments)
        except NameError:
            yield f"{at_once.get(id(call), method)} {source}", None


# Patterns built from words at run time, with possible words.
MADE_OF_WORDS: Final[dict[tuple[str, str], str]] = {
    ("query.dialects.tree", "compile ''.join((*pieces, re.escape(pattern[end:])))"): r"colo\w{0,1}r\w*",
    ("query.dialects.values", r"search f'\\b{name}\\b'"): r"\btherapy\b",
    ("references.merge.entries", "compile pattern"): r"[0-9]{4}",
    ("references.merge.works", r"search f'(?im)[\\s,{{]{name}\\s*='"): r"(?im)[\s,{]pmid\s*=",
    ("strategies.lint_strategy", "sub pattern"): r"exp Heart",
    ("references.files.read_bibtex", r"search f'{re.escape(field.key)}\\s*=\\s*'"): r"title\s*=\s*",
    ("citations.style.casing", "finditer re.escape(name)"): r"Homo sapiens",
    ("databases.names", r"fullmatch f'(?:{prefixes})\\s*([0-9]+)'"): r"(?:rs|refsnp)\s*([0-9]+)",
    ("guides", r"compile '\\s+'.join(map(re.escape, words))"): r"exit\s+codes",
    (
        "base.atomic_files",
        r"compile f'\\.{re.escape(target.name[:60])}\\.[0-9a-f]{{12}}\\.part'",
    ): r"\.out\.json\.[0-9a-f]{12}\.part",
    ("services.pmc_cloud", "findall pattern.encode()"): r"<(?:Prefix|Key)>\s*PMC1\.([0-9]{1,4})/",
    (
        "base.invisible",
        "sub f'(?=[{characters}\\u200c\\u200d])(?:[{characters}]|{_JOINERS})'",
    ): "(?=[\u00ad\u2060\u200c])(?:[\u00ad\u2060]|(?<![\u0600-\u06ff])\u200c)",
    ("base.invisible", "search f'[{characters}\\u200c\\u200d]'"): "[\u00ad\u2060\u200c\u200d]",
    (
        "server.tools",
        """compile f"\\\\b(?:{'|'.join(map(re.escape, sorted(beyond)))})\\\\b\"""",
    ): r"\b(?:search_genes|get_gene)\b",
    (
        "server.tools",
        """compile f"\\\\b(?:{'|'.join(map(re.escape, self._contract_names))})\\\\b\"""",
    ): r"\b(?:search_genes|get_gene)\b",
    ("query.evaluate", "compile translate('*'.join(map(escape, pattern.split('*'))))"): r"(?s:colo.*cancer.*)\Z",
    ("base.redaction", "compile alternatives"): r"key\-of\-someone|me@x\.org",
    ("base.redaction", "compile alternatives.encode()"): r"key\-of\-someone|me@x\.org",
    ("services.fetched_records", "findall pattern.encode()"): r"(?m)^PMID- ",
    (
        "services.transport.refusals",
        r"search f'\\b({re.escape(name)}|{_ALSO_KNOWN_AS.get(name, name)})\\b'",
    ): r"\b(term|id)\b",
    ("services.transport.replies", "search must_hold[0]"): r"<Count>\s*\d+\s*</Count>",
    ("services.transport.replies", "findall expect.record.encode()"): r"<Id>",
    (
        "references.check.pasted.rewrite_marks",
        'search f"""{count}\\\\.{space}(?=[“\\\\"‘\'«]?[^\\\\W\\\\d_])"""',
    ): r"12\.(?=[“\"‘'«]?[^\W\d_])",
    (
        "references.check.pasted.rewrite_marks",
        "search f'(?<=[.)\\\\]]){number}\\\\.{space}(?=[0-9])'",
    ): r"(?<=[.)\]])12\.(?=[0-9])",
}
HELD_BY_THE_MODULE: Final = {
    ("corpus.sections", r"compile f'\\b(?:{words})\\b'"),
    ("databases.gene.cross_references", "compile pattern.strip('^$')"),
    ("services.transport.refusals", "compile '|'.join(alternatives)"),
}
"""Patterns built from words, collected from the loaded module."""


LEXERS: Final = (
    "ovid OvidLexer",
    "ovid _HEADING",
    "embase EmbaseLexer",
    "ebsco EbscoLexer",
    "web_of_science WosLexer",
    "scopus ScopusLexer",
    "cochrane CochraneLexer",
)
AT_THE_BEGINNING: Final = {
    "references.files.reference_files _SIGNS",
    *(f"query.dialects.{name}" for name in LEXERS),
}
"""Tables of patterns that are matched one after another, without a name in the source."""
EXCUSED: Final = {
    "sandbox.pmc_text _TEXT": "it reads the demo's own texts",
    "services.transport.replies _ENDS_ELEMENT": "it sees the last 1,024 bytes of a reply",
}


@cache
def list_patterns() -> dict[str, Pattern]:
    found: dict[str, Pattern] = {}
    unknown: list[str] = []

    def add(where: str, pattern: "re.Pattern[Any]", how: set[str]) -> None:
        kinds = {"search" if one in ANYWHERE else one for one in how & USES} or {"search"}
        source = pattern.pattern
        text = source.decode("latin-1") if isinstance(source, bytes) else source
        for kind in kinds:
            found[f"{text} {pattern.flags} {kind}"] = Pattern(
                where, text, isinstance(source, bytes), pattern.flags, kind
            )

    for module in list_modules():
        short = module.__name__.removeprefix("entrez_kit.")
        at_hand = set()
        for name, pattern in list_compiled(module):
            at_hand.add(pattern.pattern)
            how = (
                {"match"}
                if f"{short} {name}" in AT_THE_BEGINNING
                else map_methods().get((module.__name__ if name.startswith("_") else "", name), set())
            )
            add(f"{short} {name}", pattern, how)
        for what, made in list_passed_to_re(module):
            if made is None and (example := MADE_OF_WORDS.get((short, what))):
                made = re.compile(example)
            if made is None and (short, what) not in HELD_BY_THE_MODULE:
                unknown.append(f"{short}: {what}")
            elif made is not None and not (what.startswith("compile") and made.pattern in at_hand):
                add(f"{short} {what.split()[0]}", made, {what.split()[0]})
    assert not unknown, f"give an example in MADE_OF_WORDS: {unknown}"
    return found


def find_problems(wanted: list[Pattern]) -> dict[str, str]:
    """Return the problems of patterns, found by a process that can be ended."""
    wrong: dict[str, str] = {}
    while wanted:
        with subprocess.Popen(
            [sys.executable, str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        ) as process:
            assert process.stdin
            assert process.stdout
            json.dump([asdict(one) for one in wanted], process.stdin)
            process.stdin.close()
            for one in tuple(wanted):
                watch = threading.Timer(STUCK_SECONDS, process.kill)
                watch.start()
                line = process.stdout.readline()
                watch.cancel()
                found = json.loads(line) if line else "never ends"
                if found:
                    wrong[f"{one.where}: {one.source!r} [{one.method}]"] = found
                wanted = wanted[1:]
                if not line:
                    break
    return wrong


def test_the_measurement_distinguishes_linear_from_worse_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slow_patterns.GIVEN_UP_SECONDS", 1.0)

    def measure_wrong(source: str, method: str = "search") -> str | None:
        return find_problem(Pattern("here", source, False, 0, method))

    assert measure_wrong(r"[a-z]++!") is not None, "every place is searched again"
    assert measure_wrong(r"([a-z]+)*!", "match") is not None, "exponential"
    assert measure_wrong(r"\s*x?\s*y", "fullmatch") is not None
    assert measure_wrong(r"<!--.*?-->") is not None
    assert measure_wrong(r'"(?:\\.|[^"])*"', "match") is not None, "a backslash read in two ways"
    assert measure_wrong(r"<item\b[^>]*/>") is not None, "quadratic by a small constant"
    assert measure_wrong(r"x.{0,200}y") is None, "slow by a constant"
    assert measure_wrong(r'"(?:\\.|[^"\\])*+"?') is None
    assert measure_wrong(r"<[^<>]*>") is None
    assert measure_wrong(r"(?<![a-z])[a-z]++!") is None


@pytest.mark.parametrize("nanoseconds", [0.001, 0.1, 10.0])
def test_the_measurement_works_on_a_busy_machine(nanoseconds: float) -> None:
    numbers = Random(7)

    def measure_busy(seconds: float) -> float:
        return seconds * numbers.choice((1, 1, 1.1, 1.3, 1.9)) + numbers.choice((0, 0, 2e-6, 2e-5))

    for _ in range(200):
        assert measure_growth(lambda n: measure_busy(100 * n * nanoseconds * 1e-9)) is None, "linear"
        assert measure_growth(lambda n: measure_busy(n * min(n, 600) * nanoseconds * 1e-9)) is None, "a bounded repeat"
    for _ in range(200):
        assert nanoseconds < 0.1 or measure_growth(lambda n: measure_busy(n * n * nanoseconds * 1e-9)) is not None, (
            "quadratic"
        )


def test_every_pattern_is_linear() -> None:
    wanted = [pattern for pattern in list_patterns().values() if pattern.where not in EXCUSED]
    wrong = find_problems(wanted)
    assert not wrong, "\n".join(f"{name}\n    {found}" for name, found in wrong.items())


def repeats_a_group_possessively(source: str) -> bool:
    """Return whether a pattern has ``(...)*+`` or similar; ``(?>(?:...)*)`` is equivalent."""
    plain = re.sub(r"\[\^?\]?[^\]]*\]", "x", re.sub(r"\\.", "x", source, flags=re.DOTALL))
    return re.search(r"\)(?:[*+?]|\{[0-9,]+\})\+", plain) is not None


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python before 3.11.5 evaluates it incorrectly, and finds nothing."""
    assert repeats_a_group_possessively(r"(?:[^<]++|<(?!/a))*+</a>")
    assert not repeats_a_group_possessively(r"(?>(?:[^<]++|<(?!/a))*)[)*+]\)++</a>")
    assert [pattern.where for pattern in list_patterns().values() if repeats_a_group_possessively(pattern.source)] == []


HOSTILE: Final = """
import time
from entrez_kit.base.errors import EntrezKitError
from entrez_kit.databases.gene.gene_errors import unresolved_error
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.pubmed.encoded_markup import convert_to_plain_text, split_abstract
from entrez_kit.pubmed.xml.stream import iter_elements
from entrez_kit.services.transport import Call, Expect
from entrez_kit.base.redaction import Redactor
from entrez_kit.services.transport.replies import Incoming, check_reply
from entrez_kit.services.transport.retry import Retryable

def checked(text):
    body = text.encode()
    for root in ("ePostResult", "eSearchResult", ""):
        roots = frozenset({root}) if root else frozenset()
        root = root or "PubmedArticleSet"
        call = Call("eutils", "epost", "https://x.org/epost", (), Expect("xml", roots))
        for reply in (b"<%b>%b</%b>" % (root.encode(), body, root.encode()), body):
            try:
                check_reply(call, Incoming(200, {}, reply), Redactor([]))
            except (EntrezKitError, Retryable):
                pass

def sliced(text):
    body = text.encode()
    for _ in iter_elements(body[start : start + 65536] for start in range(0, len(body), 65536)):
        pass

pieces = (
    "<!--", "<!-- -->", "<![CDATA[", "<h1>", "<h1>a</h2>", "<title>", "<i ", "<i a='", "<", "<p", "</i>", "<math",
    "<math>", "&amp;", "&", "&#38;", " ", "(", "#", "pmid ", "gene ", "10.1", "<QueryKey>1</QueryKey>", "<WebEnv>",
    "<Count>", "<Count>1", "<Id>1</Id>", "<a/>", "<?xml version='1.0'?><a/>",
)
def gene_error(text):
    return unresolved_error(text, "get_gene")


for read in (convert_to_plain_text, split_abstract, read_identifier, gene_error, checked, sliced):
    for piece in pieces:
        for before, after in (("", ""), ("gene", "!"), ("<PubmedArticleSet><PubmedArticle>", "x")):
            start = time.thread_time()
            try:
                read(before + piece * (200_000 // len(piece)) + after)
            except EntrezKitError:
                pass
            taken = time.thread_time() - start
            assert taken < 3, (read, piece, taken)
"""


def test_no_text_of_200000_characters_takes_a_reader_longer_than_three_seconds() -> None:
    reported = subprocess.run([sys.executable, "-c", HOSTILE], capture_output=True, text=True, timeout=300)
    assert reported.returncode == 0, reported.stderr[-2000:]
