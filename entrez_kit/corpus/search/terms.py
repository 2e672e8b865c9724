"""Words of the full-text index: normalized, split into words and stemmed.

The words are split as in PubMed's index, with two exceptions: the name of a Greek letter is always a word (TNFα is TNF
alpha), and invisible characters do not divide a word.
"""

import json
import os
import re
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from entrez_kit.base.errors import NotConfigured
from entrez_kit.query.words import split_words


class IndexRow(NamedTuple):
    """The indexed fields of a record; ``terms`` are MeSH headings and keywords."""

    pmid: int
    title: str
    abstract: str
    terms: str


_DATA: Final = json.loads(Path(__file__).with_name("vocabulary.json").read_text(encoding="utf-8"))


def read_words(name: str) -> frozenset[str]:
    """Return a list of words of ``vocabulary.json``."""
    return frozenset(" ".join(_DATA[name]).split())


_GREEK: Final = re.compile("[\u0391-\u03c9\u00b5\u03d1\u03d5\u03f0\u03f1\u03f5]")
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))

STOP_WORDS: Final = read_words("stop_words")
"""Words that do not indicate a topic; a query ignores them."""

REQUEST_WORDS: Final = read_words("request_words")
"""Words common in questions; they weigh less than topic words."""
PREFIXES: Final = read_words("prefixes")
SPELLINGS: Final[list[tuple[str, str]]] = [tuple(pair) for pair in _DATA["spellings"]]
"""British first. A pair may give a word that does not exist, because only spellings in the index are looked up."""


def normalize_words(text: str) -> list[str]:
    """Return the normalized words of a text, in order."""
    return split_words(text if text.isascii() else _GREEK.sub(r" \g<0> ", text.translate(_INVISIBLE)))


# Stems ---------------------------------------------------------------------------------------------------------------


class _Stemmer:
    """SQLite's Porter stemmer over an in-memory table, with a cache of stems; all threads share one."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._lock = threading.Lock()
        self._texts = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        try:
            self._texts.execute(
                "CREATE VIRTUAL TABLE texts USING fts5(text, content='', columnsize=0, tokenize='porter ascii')"
            )
            self._texts.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(texts, instance)")
        except sqlite3.Error as exc:
            raise NotConfigured(
                f"The SQLite of this Python ({sqlite3.sqlite_version}) does not support full-text search: {exc}.",
                recovery_hint="Use a Python whose SQLite has FTS5, such as the one from python.org.",
                details={"reason": "no_fts5"},
            ) from None
        # The stemmer works on bytes: before "ing" it may drop the last byte of a letter that ends with a doubled byte.
        self._texts.text_factory = lambda stem: stem.decode("utf-8", "replace")

    def find_stems(self, words: Iterable[str]) -> Mapping[str, str]:
        known = self._known
        new = list(set(words).difference(known))
        if new:
            with self._lock:
                self._texts.execute("BEGIN")
                try:
                    self._texts.execute("INSERT INTO texts (rowid, text) VALUES (1, ?)", (" ".join(new),))
                    rows = self._texts.execute("SELECT term FROM stems ORDER BY offset").fetchall()
                finally:
                    self._texts.execute("ROLLBACK")
            known.update((word, stem) for word, (stem,) in zip(new, rows, strict=True))
            if len(known) > _MAX_KNOWN:
                self._known = {}
        return known


_MAX_KNOWN: Final = 1 << 17
_stemmer: Final = cache(_Stemmer)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_stemmer.cache_clear)  # another thread of the parent may hold its lock


def find_stems(words: Iterable[str]) -> Mapping[str, str]:
    """Return a table of stems that has at least these normalized words.

    M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, 130-137, with the author's later changes
    (``bli``, ``logi``), as SQLite's FTS5 has it.
    """
    return _stemmer().find_stems(words)


def stem_words(words: Sequence[str]) -> list[str]:
    """Return the stems of normalized words, in order."""
    return list(map(find_stems(words).__getitem__, words))


@lru_cache(maxsize=1 << 16)
def can_mark(stem: str) -> bool:
    """Return whether a stem can indicate the topic of a text."""
    return len(stem) > 1 and stem not in _list_unmarked() and not stem.isdigit()


@cache
def _list_unmarked() -> frozenset[str]:
    return frozenset(stem_words(sorted(STOP_WORDS)))
