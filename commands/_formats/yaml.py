"""YAML: the document of ``--json`` in a more readable form.

No YAML package is needed, since a JSON string is a YAML string too. A string is written without quotes only if YAML 1.1
and 1.2 both read it as a string. PyYAML writes the strings "1e5" and "0o17" without quotes, and YAML 1.2 reads numbers.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from entrez_kit.base.invisible import remove_invisible

from . import Job
from .documents import DocumentWriter
from .fields import convert_to_data

_PLAIN: Final = re.compile(r"[^\W\d_][\w .,;/()+'-]*(?<! )")
"""Text that begins with a letter, so it is not a number, a date or YAML syntax, and has no colon or comment."""
_WORDS: Final = frozenset(("true", "false", "yes", "no", "on", "off", "null", "y", "n"))
"""Words that some version of YAML reads as a boolean or as null."""


class YamlWriter(DocumentWriter):
    """Writes a document as YAML."""

    empty_list, list_begin = "\n{}: []", "\n{}:"

    def render(self, document: Any) -> str:
        """Return a document as YAML."""
        return "\n".join(yield_yaml_lines(convert_to_data(document)))

    def render_item(self, record: Any) -> bytes:
        """Return a record as an item of the list of records."""
        lines = yield_yaml_lines([convert_to_data(record)])
        return "".join(f"\n  {line}" if line else "\n" for line in lines).encode("utf-8", "replace")


def create_yaml_writer(job: Job) -> YamlWriter:
    """Return the writer of YAML."""
    return YamlWriter(job.sink, job.plan.fields, job.records_key, job.record, job.document)


def yield_yaml_lines(value: Any) -> Iterator[str]:
    """Yield plain data as the lines of a YAML document."""
    if isinstance(value, Mapping) and value:
        for key, inside in value.items():
            yield from _render_entry(f"{_render_scalar(key)}:", inside)
    elif isinstance(value, list) and value:
        for item in value:
            lines = iter(_render_block(item) if isinstance(item, str) else yield_yaml_lines(item))
            yield f"- {next(lines)}"
            yield from (f"  {line}" if line else "" for line in lines)
    else:
        yield _render_scalar(value)


def _render_entry(key: str, value: Any) -> Iterator[str]:
    """Yield the lines of one entry of a mapping."""
    if isinstance(value, Mapping | list) and value:
        yield key
        yield from (f"  {line}" if line else "" for line in yield_yaml_lines(value))
        return
    lines = iter(_render_block(value) if isinstance(value, str) else (_render_scalar(value),))
    yield f"{key} {next(lines)}"
    yield from lines


def _render_block(text: str) -> Iterator[str]:
    """Yield a string with several lines as a literal block, or another string as a scalar."""
    body = text.removesuffix("\n")
    if "\n" not in text or body[:1].isspace() or body[-1:] in ("", "\n") or not _is_printable(text, but="\n\t"):
        yield _render_scalar(text)
        return
    yield "|" if text.endswith("\n") else "|-"
    yield from (f"  {line}" if line else "" for line in body.split("\n"))


def _render_scalar(value: Any) -> str:
    """Return a value on one line."""
    if isinstance(value, str):
        is_printable = _is_printable(value)
        if is_printable and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
            return value
        quoted = json.dumps(value, ensure_ascii=False)
        return quoted if is_printable else "".join(sign if _is_printable(sign) else _escape(sign) for sign in quoted)
    if isinstance(value, float):
        if not math.isfinite(value):
            return "null"  # as in JSON
        text = repr(value)
        return text if "." in text else text.replace("e", ".0e")  # YAML 1.1 reads 1e-05 as a string
    return json.dumps(value)


def _is_printable(text: str, but: str = "") -> bool:
    return text.translate(dict.fromkeys(map(ord, but))).isprintable() and remove_invisible(text) == text


def _escape(character: str) -> str:
    return f"\\U{ord(character):08x}" if ord(character) > 0xFFFF else f"\\u{ord(character):04x}"
