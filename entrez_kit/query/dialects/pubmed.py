"""Lines in PubMed's own language."""

import re
from typing import Final

from entrez_kit.query.dialects.limits import find_limit, find_limit_kind, split_limits
from entrez_kit.query.dialects.notes import NUMBER_WITHOUT_SIGN, CannotExpressError, LineError, Note
from entrez_kit.query.dialects.tree import ParsedLine, PubMedQuery, Value

LEVELS: Final = (("OR", "AND", "NOT"),)
"""PubMed reads operators from left to right."""
_LOWER: Final = re.compile(r"(?<=[ )\]\"])(or|and|not)(?=[ (\"])")
_BARE_NUMBER: Final = re.compile(
    r"(?:(?<=\bAND )|(?<=\bOR )|(?<=\bNOT )|(?<=\()|^)([0-9]{1,3})(?= (?:AND|OR|NOT)\b|\)|$)"
)
"""A number alone between operators; as a PMID it would have a field."""
_HISTORY: Final = re.compile(r"# ?([0-9]{1,4})\b")


_FOREIGN_OPERATOR: Final = re.compile(r"\b(?:near|next|pre|w|n)/[0-9]+\b|\badj[0-9]+\b", re.IGNORECASE)
_FILTERS: Final = re.compile(r" (?:filters?|limits?)(?: applied| activated)? ?: ?(.+)$", re.IGNORECASE)
_SEPARATOR: Final = re.compile(" ?[,;] ?")
"""Between filters."""
_FILTER_YEARS: Final = re.compile(
    r"(?:publication date )?from ([0-9]{4}(?:/[0-9]{1,2}){0,2}) ?(?:-|to) ?([0-9]{4}(?:/[0-9]{1,2}){0,2}|present)",
    re.IGNORECASE,
)
_LAST_YEARS: Final = re.compile(r"(?:published )?in the last ([0-9]+) (year|month|day)s?|([0-9]+) (year)s?")
_OWN_FILTERS: Final = {
    "free full text": '"free full text"[filter]',
    "full text": '"full text"[filter]',
    "associated data": "data[filter]",
    "medline": "medline[sb]",
}
"""Filters that only PubMed has."""


def _apply_filters(text: str) -> str:
    """Return a query with the filters of PubMed's website that are printed after it written as terms.

    Filters of one kind are alternatives, as on the website.

    Raises:
        CannotExpressError: a filter is not known here.
    """
    match = _FILTERS.search(text)
    if match is None:
        return text
    kinds: dict[str, list[str]] = {}
    for name in split_limits(match[1].strip(" .;,"), _SEPARATOR):
        kind, query = _read_filter(name)
        kinds.setdefault(kind, []).append(query)
    groups = [terms[0] if len(terms) == 1 else f"({' OR '.join(terms)})" for terms in kinds.values()]
    return " AND ".join((f"({text[: match.start()]})", *groups))


def _read_filter(name: str) -> tuple[str, str]:
    """Return the kind of a filter of PubMed's website and its query.

    Raises:
        CannotExpressError: the filter is not known here.
    """
    plain = name.lower()
    if years := _FILTER_YEARS.fullmatch(plain):
        return "dates", f"{years[1]}:{'3000' if years[2] == 'present' else years[2]}[dp]"
    if last := _LAST_YEARS.fullmatch(plain):
        return "dates", f'"last {last[1] or last[3]} {last[2] or last[4]}s"[dp]'
    if plain in _OWN_FILTERS:
        return plain, _OWN_FILTERS[plain]
    limit = find_limit(plain, is_mesh=True)
    if limit is not None and isinstance(limit.node, Value):
        tag = "la" if limit.node.code == "LANG" else "pt"
        return tag, f"{limit.node.text}[{tag}]"
    if limit is not None and isinstance(limit.node, PubMedQuery):
        query = limit.node.query
        return find_limit_kind(plain), f"({query})" if " OR " in query else query
    raise CannotExpressError(
        f"the filter {name!r} of PubMed's website is not known; write it as a term, such as english[la]"
    )


def parse_pubmed(text: str) -> ParsedLine:
    """Return a line in PubMed's language; its text is searched as it is."""
    notes: list[Note] = []
    plain = _apply_filters(" ".join(text.split()))
    plain, removed = re.subn(r"\bexp (?=[\w, -]{1,300}+\[ ?(?:mesh|mh))", "", plain, flags=re.IGNORECASE)
    if removed:
        notes.append(Note("exp was removed; PubMed explodes [mesh] by itself.", "foreign-explode"))
    if plain.count('"') % 2:
        repaired = _close_quotes(plain)
        notes.append(Note("a quotation mark was removed or added.", "unbalanced-quotes"))
        plain = repaired
    upper = _capitalize_operators(plain)
    marked = _BARE_NUMBER.sub(r"#\1", upper)
    if marked != upper:
        notes.append(NUMBER_WITHOUT_SIGN)
    upper, plain = marked, _BARE_NUMBER.sub(r"#\1", plain)
    if upper != plain:
        notes.append(Note("operators were written in capitals.", "lowercase-operator"))
    unbalanced = upper.count("(") - upper.count(")")
    if unbalanced:
        raise LineError(
            "an opening parenthesis is not closed" if unbalanced > 0 else "a closing parenthesis has no opening one"
        )
    if operator := _FOREIGN_OPERATOR.search(re.sub(r'"[^"]*"', "", upper)):
        raise LineError(f'{operator[0]!r} is not an operator of PubMed; write a distance as in "a b"[tiab:~3]')
    numbers = [int(match[1]) for match in _HISTORY.finditer(re.sub(r'"[^"]*"', "", upper))]
    return ParsedLine(PubMedQuery(upper, references=tuple(dict.fromkeys(numbers))), tuple(notes))


def _close_quotes(text: str) -> str:
    """Return a text with an odd quotation mark removed or completed."""
    if re.match(r'[^"]*" ?\[', text):  # Serology"[MeSH]
        return text.replace('"', "", 1) if text.count('"') == 1 else text
    if match := re.search(r'"[^"\[]*(?=\[)', text[text.rfind('"') :]):
        position = text.rfind('"') + match.end()
        return f'{text[:position].rstrip()}"{text[position:]}'
    position = text.rfind('"')
    return text[:position] + text[position + 1 :]


def _capitalize_operators(text: str) -> str:
    """Write operators in capitals, except in quotes and tags."""
    pieces = re.split(r'("[^"]*"|\[[^\[\]]*\])', text)
    for index in range(0, len(pieces), 2):
        before = pieces[index - 1][-1:] if index else ""
        after = pieces[index + 1][:1] if index + 1 < len(pieces) else ""
        padded = f"{before or ' '}{pieces[index]}{after or ' '}"
        fixed = _LOWER.sub(lambda match: match[1].upper(), padded)
        pieces[index] = fixed[1:-1]
    return "".join(pieces)
