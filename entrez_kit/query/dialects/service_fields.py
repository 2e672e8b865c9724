"""The fields of other services: the parts of a record that each searches, and the fields of PubMed that cover them."""

from collections.abc import Iterable
from functools import cache
from itertools import combinations
from typing import Final

from entrez_kit.query.dialects.tree import Loss, Scope
from entrez_kit.query.fields import BY_CODE, EVERYWHERE

_TITLE: Final = ("title", "book")
_MP: Final = (*_TITLE, "abstract", "vernacular", "substance", "mesh", "keyword")
NAMES: Final = {
    "title": "titles",
    "abstract": "abstracts",
    "keyword": "author keywords",
    "mesh": "MeSH headings",
    "ptype": "publication types",
    "substance": "substance names",
    "person": "persons as subjects",
    "group": "corporate authors",
    "accession": "accession numbers",
    "note": "notes of comments and corrections",
    "vernacular": "original titles",
    "affiliation": "affiliations",
}
_COVERING: Final = (("tt", "TT"), ("ad", "AFFL"), ("ot", "OTRM"), ("ti", "TITL"), ("tiab", "TIAB"), ("tw", "WORD"))
_IGNORED: Final = frozenset(("book",))
"""A title of a book is a title; the other services have no books."""


def _scope(name: str, sources: Iterable[str] = (), values: tuple[str, ...] = (), *losses: Loss) -> Scope:
    return Scope(name, frozenset(sources), values, losses)


_WHOLE: Final = Loss("wider", "the field holds whole keywords, and PubMed searches words of keywords")
_PLUS: Final = Loss("narrower", "[tiab] has no Keywords Plus")

OVID: Final = {
    "ti": _scope("ti", _TITLE),
    "ab": _scope("ab", ("abstract",)),
    "tw": _scope("tw", (*_TITLE, "abstract")),
    "kf": _scope("kf", ("keyword",)),
    "kw": _scope("kw", ("keyword",), (), _WHOLE),
    "mp": _scope("mp", _MP),
    "af": _scope("af", ("everything",)),
    "ot": _scope("ot", ("vernacular",)),
    "hw": _scope("hw", ("mesh",)),
    "nm": _scope("nm", ("substance",)),
    "in": _scope("in", ("affiliation",)),
    "sh": _scope("sh", (), ("MESH",)),
    "fs": _scope("fs", (), ("SUBH",)),
    "fx": _scope("fx", (), ("SUBH+",)),
    "xs": _scope("xs", (), ("SUBH+",)),
    "pt": _scope("pt", (), ("PTYP",)),
    "rn": _scope("rn", (), ("ECNO",)),
    "px": _scope("px", (), ("SUBS",)),
    "au": _scope("au", (), ("AUTH",)),
    "jn": _scope("jn", (), ("JOUR",)),
    "ja": _scope("ja", (), ("JOUR",)),
    "lg": _scope("lg", (), ("LANG",)),
    "la": _scope("la", (), ("LANG",)),
    "is": _scope("is", (), ("ISSN",)),
    "ui": _scope("ui", (), ("UID",)),
    "yr": _scope("yr", (), ("year",)),
    "ed": _scope("ed", (), ("entry",)),
    "dt": _scope("dt", (), ("entry",)),
    "da": _scope("da", (), ("entry",)),
    "dc": _scope("dc", (), ("entry",)),
    "ep": _scope("ep", (), ("entry",)),
    "ez": _scope("ez", (), ("entry",)),
    "up": _scope("up", (), ("change",)),
    **{code: _scope(code, (), (f"unknown {code}",)) for code in ("jw", "cm", "dq", "dv", "tn", "mf", "dm", "rs", "id")},
    **{code: _scope(code, (), (f"unknown {code}",)) for code in ("sy", "rx", "ux", "ox", "sb", "dp", "cp", "so", "rf")},
    **{code: _scope(code, (), (f"unknown {code}",)) for code in ("od", "gl", "dy", "cc", "tc", "cw", "bt", "hx", "sl")},
    "de": _scope("de", (), ("thesaurus other:de",)),
}
"""By code, the fields of Ovid MEDLINE."""

EMBASE: Final = {
    "ti": OVID["ti"],
    "ab": OVID["ab"],
    "kw": _scope("kw", ("keyword",)),
    "tt": OVID["ot"],
    "au": OVID["au"],
    "la": OVID["lg"],
    "jt": OVID["jn"],
    "ta": OVID["jn"],
    "ad": OVID["in"],
    "ff": OVID["in"],
    "py": OVID["yr"],
    "de": _scope("de", (), ("thesaurus emtree:de",)),
    "it": _scope("it", (), ("TYPE",)),
    "tn": _scope("tn", (), ("unknown tn",)),
    "dn": _scope("dn", (), ("unknown dn",)),
    "df": _scope("df", (), ("unknown df",)),
    "mn": _scope("mn", (), ("unknown mn",)),
    "lnk": _scope("lnk", (), ("unknown lnk",)),
    "exp": _scope("exp", (), ("unknown exp",)),
    "rn": OVID["rn"],
}

EBSCO: Final = {
    "TI": OVID["ti"],
    "AB": OVID["ab"],
    "XB": OVID["tw"],
    "TX": _scope("TX", _MP),
    "SU": _scope("SU", ("mesh", "keyword")),
    "KW": _scope("KW", ("keyword",)),
    "MW": OVID["hw"],
    "AU": OVID["au"],
    "LA": OVID["lg"],
    "PT": OVID["pt"],
    "SO": OVID["jn"],
    "JN": OVID["jn"],
    "AF": OVID["in"],
    "IS": OVID["is"],
    "PY": OVID["yr"],
    "DT": OVID["yr"],
    "DE": _scope("DE", (), ("thesaurus other:DE",)),
}

WOS: Final = {
    "TS": _scope("TS", (*_TITLE, "abstract", "keyword"), (), _PLUS),
    "TI": _scope("TI", _TITLE),
    "AB": _scope("AB", ("abstract",)),
    "AK": _scope("AK", ("keyword",)),
    "ALL": _scope("ALL", ("everything",)),
    "AU": OVID["au"],
    "SO": OVID["jn"],
    "PY": OVID["yr"],
    "LA": OVID["lg"],
    "AD": OVID["in"],
    "DT": _scope("DT", (), ("TYPE",)),
    **{code: _scope(code, (), (f"limit {code}",)) for code in ("WC", "CU", "OG", "FO", "SU")},
    **{code: _scope(code, (), (f"unknown {code}",)) for code in ("KP", "DO", "UT")},
}

SCOPUS: Final = {
    "TITLE-ABS-KEY": _scope("TITLE-ABS-KEY", (*_TITLE, "abstract", "keyword", "mesh", "substance")),
    "TITLE-ABS": _scope("TITLE-ABS", (*_TITLE, "abstract")),
    "TITLE": _scope("TITLE", _TITLE),
    "ABS": _scope("ABS", ("abstract",)),
    "KEY": _scope("KEY", ("keyword", "mesh", "substance")),
    "AUTHKEY": _scope("AUTHKEY", ("keyword",)),
    "INDEXTERMS": _scope("INDEXTERMS", ("mesh",)),
    "CHEMNAME": _scope("CHEMNAME", ("substance",)),
    "ALL": _scope("ALL", ("everything",)),
    "AFFIL": OVID["in"],
    "AUTH": OVID["au"],
    "SRCTITLE": OVID["jn"],
    "LANGUAGE": OVID["lg"],
    "ISSN": OVID["is"],
    "DOCTYPE": _scope("DOCTYPE", (), ("TYPE",)),
    **{code: _scope(code, (), (f"limit {code}",)) for code in ("SUBJAREA", "AFFILCOUNTRY", "SRCTYPE", "PUBSTAGE")},
    **{code: _scope(code, (), (f"unknown {code}",)) for code in ("REF", "DOI")},
}

COCHRANE: Final = {
    "ti": OVID["ti"],
    "ab": OVID["ab"],
    "kw": _scope("kw", ("mesh", "keyword", "ptype")),
    "pt": OVID["pt"],
    "au": OVID["au"],
    "so": OVID["jn"],
    "la": OVID["lg"],
    "doi": _scope("doi", (), ("unknown doi",)),
}
ALL_TEXT: Final = _scope("all text", _MP)


def unite(scopes: Iterable[Scope]) -> Scope:
    """Return the scope of a list of fields, such as ``ti,ab``."""
    listed = list(scopes)
    if len(listed) == 1:
        return listed[0]
    return Scope(
        ",".join(scope.name for scope in listed),
        frozenset[str]().union(*(scope.sources for scope in listed)),
        tuple(dict.fromkeys(value for scope in listed for value in scope.values)),
        tuple(dict.fromkeys(loss for scope in listed for loss in scope.losses)),
    )


@cache
def choose_tags(sources: frozenset[str]) -> tuple[tuple[str, ...], tuple[Loss, ...]]:
    """Return the tags of PubMed that together search these word lists and as little else as possible, and the losses.

    A set of tags that misses none is preferred; then the fewest other word lists, then the fewest tags.
    """
    if "everything" in sources:
        return ("all",), (Loss("narrower", "[all] does not search dates and places of publication"),)
    wanted = sources - _IGNORED
    best: tuple[tuple[int, int, int], tuple[str, ...], frozenset[str], frozenset[str]] | None = None
    for size in (1, 2, 3):
        for choice in combinations(_COVERING, size):
            covered = frozenset(source for _, code in choice for source in BY_CODE[code].sources) - _IGNORED
            missed, gained = wanted - covered, covered - wanted
            rank = (len(missed), len(gained), size)
            if best is None or rank < best[0]:
                best = rank, tuple(tag for tag, _ in choice), missed, gained
    assert best is not None
    _, tags, missed, gained = best
    tags = tuple(reversed(tags))
    return tags, describe_difference(missed, gained, tags)


def describe_difference(missed: Iterable[str], gained: Iterable[str], tags: Iterable[str]) -> tuple[Loss, ...]:
    """Return the losses of tags that miss some word lists and search others."""
    listed = [f"[{tag}]" for tag in tags]
    marks, several = " and ".join(listed), len(listed) > 1
    losses = []
    if names := [NAMES.get(source, source) for source in sorted(missed)]:
        losses.append(Loss("narrower", f"{marks} {'do' if several else 'does'} not search {_join_names(names)}"))
    if names := [NAMES.get(source, source) for source in sorted(gained)]:
        losses.append(Loss("wider", f"{marks} also {'search' if several else 'searches'} {_join_names(names)}"))
    return tuple(losses)


def _join_names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def list_sources(scope: Scope) -> tuple[str, ...]:
    """Return the word lists that a scope searches."""
    return (*EVERYWHERE, "country") if "everything" in scope.sources else tuple(sorted(scope.sources))
