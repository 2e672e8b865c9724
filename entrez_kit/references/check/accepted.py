"""Findings that a person accepted: a file of keys and codes, or a comment in the file of references."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import cut_middle
from entrez_kit.references.check.findings import CODES, Finding, FindingCode
from entrez_kit.references.files.references import Reference

MARK: Final = "entrez-kit: accept "
"""The start of a comment; the key and the codes follow on the same line."""
MIN_TEXT: Final = 12
"""The shortest beginning of a reference that names it."""
_HEADER: Final = ("key", "codes")
_AROUND: Final = "\"'“”(){}<>*.,;:"
_SEPARATORS: Final = re.compile(r"[\s,;]+")


@dataclass
class Accepted:
    """The accepted codes of each reference, by its key."""

    codes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    _used: set[tuple[str, str]] = field(default_factory=set)

    def accept(self, reference: Reference, findings: Iterable[Finding]) -> None:
        """Mark the accepted findings of a reference.

        It is named by its key, its number, an identifier, or the beginning of its text. In a pasted list the key is the
        number of a line, which changes with the list.
        """
        names = self._find_names(reference) if self.codes else []
        for finding in findings:
            for name in names:
                if finding.code in self.codes[name]:
                    finding.accepted = True
                    self._used.add((name, finding.code))

    def _find_names(self, reference: Reference) -> list[str]:
        one = reference
        number = (one.number, f"[{one.number}]") if one.number else ()
        known = {_normalize(name) for name in (one.key, *number, one.doi, one.pmid, one.pmcid) if name}
        text = _normalize(one.text or "")
        begins = [name for name in self.codes if len(name) >= MIN_TEXT and text.startswith(name)] if text else []
        return [*dict.fromkeys([*(name for name in known if name in self.codes), *begins])]

    def list_unused(self) -> list[str]:
        """Return the accepted codes without a finding, each with its key."""
        pairs = [(key, code) for key, codes in self.codes.items() for code in sorted(codes, key=CODES.index)]
        return [f"{key} {code}" for key, code in pairs if (key, code) not in self._used]


def read_accepted(text: str, name: str) -> Accepted:
    """Read a file of accepted findings: on each line a key and one or more codes; ``#`` starts a comment.

    The tsv output of ``check`` with the columns key and codes is such a file.

    Raises:
        InvalidInput: a line has no key, or no code after it. The message has its number.
    """
    lines = [
        (number, line.strip())
        for number, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if lines and tuple(lines[0][1].casefold().split()) == _HEADER:
        del lines[0]
    return _collect((number, line, name) for number, line in lines)


def find_accepted(text: str, name: str) -> Accepted:
    """Return the findings that comments in a file accept: ``entrez-kit: accept KEY CODE...``.

    Raises:
        InvalidInput: a comment has no key, or no code after it. The message has its line.
    """
    if MARK not in text:
        return Accepted()
    lines = enumerate(text.splitlines(), start=1)
    return _collect((number, line.partition(MARK)[2], name) for number, line in lines if MARK in line)


def combine_accepted(*several: Accepted) -> Accepted:
    """Return the codes of all."""
    codes: dict[str, frozenset[str]] = {}
    for one in several:
        for key, found in one.codes.items():
            codes[key] = codes.get(key, frozenset()) | found
    return Accepted(codes)


def _collect(lines: Iterable[tuple[int, str, str]]) -> Accepted:
    codes: dict[str, frozenset[str]] = {}
    for number, line, name in lines:
        key, found = _split(line)
        if not key or not found:
            raise InvalidInput(
                f"{name}, line {number}: expected the key of a reference and codes (got {cut_middle(line, 80)!r}).",
                invalid_input=cut_middle(line, 80),
                recovery_hint=f"Write for example: smith2020 mismatch. Codes: {', '.join(CODES)}.",
                details={"reason": "bad_file", "line": number},
            )
        codes[key] = codes.get(key, frozenset()) | found
    return Accepted(codes)


def _split(line: str) -> tuple[str, frozenset[FindingCode]]:
    """Return the key and the codes after it; a key may contain spaces."""
    key: list[str] = []
    accepted_codes: list[FindingCode] = []
    for word in _split_words(line):
        code = next((code for code in CODES if code == word.strip(_AROUND)), None) if key else None
        if code is not None:
            accepted_codes.append(code)
        elif accepted_codes:
            break
        else:
            key.append(word)
    return _normalize(" ".join(key)).rstrip(":"), frozenset(accepted_codes)


def _split_words(line: str) -> Iterator[str]:
    return (word for word in _SEPARATORS.split(line) if word)


def _normalize(key: str) -> str:
    return " ".join(_split_words(key))
