"""Limits of the services: languages, species, sexes, ages, types of publications and dates, as far as PubMed has them.

A limit that PubMed lacks is ``Unknown`` with ``is_limit``: the translation leaves it out and names it.
"""

import re
from typing import Final

from entrez_kit.query.dialects.notes import Note
from entrez_kit.query.dialects.qualifiers import PUBLICATION_TYPES
from entrez_kit.query.dialects.tree import (
    Loss,
    Node,
    ParsedLine,
    PubMedQuery,
    Unknown,
    Value,
)
from entrez_kit.query.fields import LANGUAGES

_SUBJECTS: Final = {
    **dict.fromkeys(("human", "humans", "humans only"), "humans[mh]"),
    **dict.fromkeys(("animal", "animals", "other animals"), "animals[mh:noexp]"),
    **dict.fromkeys(("female", "females"), "female[mh]"),
    **dict.fromkeys(("male", "males"), "male[mh]"),
}
"""Species and sexes, as MeSH has them."""
_CHILDREN: Final = "infant[mh] OR child[mh] OR adolescent[mh]"
_AGES: Final = {
    **dict.fromkeys(("all child", "all children", "child birth 18"), _CHILDREN),
    "childhood": "infant[mh] OR child[mh]",
    **dict.fromkeys(("all infant", "infant birth 23"), "infant[mh]"),
    **dict.fromkeys(("newborn", "newborn infant", "infant, newborn", "neonatal"), "infant, newborn[mh]"),
    "infant": "infant[mh:noexp]",
    "infancy": "infant[mh]",
    **dict.fromkeys(("preschool", "preschool child", "child, preschool", "preschool age"), "child, preschool[mh]"),
    **dict.fromkeys(("child", "school", "school child", "school age"), "child[mh:noexp]"),
    **dict.fromkeys(("adolescent", "adolescence", "adolescents"), "adolescent[mh]"),
    **dict.fromkeys(("all adult", "all adults", "adulthood", "adult 19"), "adult[mh]"),
    **dict.fromkeys(("young adult", "young adulthood"), "young adult[mh]"),
    "adult": "adult[mh:noexp]",
    "young adult and adult": "young adult[mh] OR adult[mh:noexp]",
    **dict.fromkeys(("middle age", "middle aged"), "middle aged[mh]"),
    **dict.fromkeys(("middle aged 45", "middle aged + aged", "middle aged + aged 45"), "middle aged[mh] OR aged[mh]"),
    **dict.fromkeys(("all aged", "aged", "elderly"), "aged[mh]"),
    **dict.fromkeys(
        ("aged 80", "80 and over", "aged, 80 and over", "aged, 80 & over", "very elderly", "very old"),
        '"aged, 80 and over"[mh]',
    ),
}
"""By name, and by name and range if the range decides, age groups as MeSH has them."""
_TYPES: Final = {
    **dict.fromkeys(("article", "articles", "journal articles", "ar"), "journal article"),
    **{"re": "review", "ed": "editorial", "le": "letter", "er": "published erratum"},
    **dict.fromkeys(("editorial material",), "editorial"),
    **dict.fromkeys(("erratum", "correction", "corrections"), "published erratum"),
    **dict.fromkeys(("meta analysis", "metaanalysis"), "meta-analysis"),
    **dict.fromkeys(("case report", "case study"), "case reports"),
    **dict.fromkeys(("note", "commentary"), "comment"),
    **dict.fromkeys(("retraction", "retracted"), "retracted publication"),
    "phase 1 clinical trial": "clinical trial, phase i",
    "phase 2 clinical trial": "clinical trial, phase ii",
    "phase 3 clinical trial": "clinical trial, phase iii",
    "phase 4 clinical trial": "clinical trial, phase iv",
}
"""Publication types under the names of other services."""
_OTHERS: Final = {
    **dict.fromkeys(("abstracts", "abstract", "abstract available"), "hasabstract"),
    **dict.fromkeys(("cochrane review", "cochrane reviews"), '"Cochrane Database Syst Rev"[ta]'),
    **dict.fromkeys(("preprint", "preprints"), "preprint[pt]"),
}
_CLINICAL: Final = {
    "therapy (maximizes sensitivity)": "(clinical[tiab] AND trial[tiab]) OR clinical trials as topic[mh] OR "
    "clinical trial[pt] OR random*[tiab] OR random allocation[mh] OR therapeutic use[sh]",
    "therapy (maximizes specificity)": "randomized controlled trial[pt] OR "
    "(randomized[tiab] AND controlled[tiab] AND trial[tiab])",
    "reviews (maximizes specificity)": 'medline[tiab] OR "systematic review"[tiab] OR meta-analysis[pt] OR '
    "intervention*[ti]",
    "reviews (best balance of sensitivity and specificity)": "meta-analysis[tw] OR meta-analysis[pt] OR review[pt] OR "
    "search*[tiab]",
}
"""The therapy filters of PubMed's Clinical Queries (2004), and the review filters of McMaster (2005)."""
LONG_NAMES: Final = "|".join(
    re.escape(name)
    for name in sorted({*_SUBJECTS, *_AGES, *_TYPES, *_OTHERS, *PUBLICATION_TYPES}, key=len, reverse=True)
    if re.search(r", | and | or ", name)
)
"""A pattern of the names that contain the separators of lists, such as "aged, 80 and over", the longest first."""
_LONG_NAME: Final = re.compile(rf"(?:{LONG_NAMES})\b", re.IGNORECASE)
_CLINICAL_LOSSES: Final = (
    Loss("wider", "the filter has the text that its authors published for therapy in 2004 and for reviews in 2005"),
    Loss("narrower", "the filter of the service may have another text"),
)
_NOT_IN_PUBMED: Final = re.compile(
    r"(?:conference|meeting|proceedings?|article[ -]in[ -]press|full text|ovid|linked|priority|core|nursing|dental"
    r"|daily|books?|chapters?|data paper|peer[ -]review(?:ed)?|scholarly|academic|dissertations?|evidence[ -]based"
    r"|in[ -]vitro|in[ -](?:process|data[ -]review)|outpatients?|inpatients?|embase|(?:exclude|remove) medline"
    r"|pubmed[ -]not)\b.*"
    r"|(?:animal|human|clinical|controlled|major clinical) (?:study|experiment|tissue|cell)"
    r"|(?:journal|magazine|report|thesis|theses|embryo|fetus)s?|medline|early access|short survey|nonhuman"
    r"|latest update|publisher|.{4,60}\((?:maximizes|best balance)\b.*",
    re.IGNORECASE,
)
"""Limits and types of publications of the services that PubMed lacks."""
_NOT_INDEXED: Final = Note("the limit drops every record that is not yet indexed with MeSH", "limit-drops-unindexed")
_LANGUAGE: Final = Note("A restriction to a language needs a reason in the protocol.")
_INDEXING: Final = "the service indexes its records itself, and PubMed has the indexing of MEDLINE"


def find_limit(name: str, *, is_mesh: bool) -> ParsedLine | None:
    """Return the meaning of a limit by its name; None if PubMed has no such limit.

    Args:
        name: the name, such as "english language", "review articles" or "adult: 19-44 years".
        is_mesh: whether the records of the service have the indexing of MEDLINE. If they have another one, the limit of
            PubMed can find more and fewer records.
    """
    plain = " ".join(name.strip("\"'. ").lower().split())
    language = plain.removesuffix(" language").removesuffix(" only")
    if language in LANGUAGES.values():
        return ParsedLine(Value("LANG", language), (_LANGUAGE,))
    if plain.startswith("humans only"):
        plain = "humans only"
    if (query := _SUBJECTS.get(plain) or _find_age(plain, is_mesh=is_mesh)) is not None:
        return ParsedLine(_make_query(query, is_mesh=is_mesh), (_NOT_INDEXED,))
    if (kind := find_type(plain)) is not None:
        if not is_mesh:
            return ParsedLine(_make_query(f'"{kind}"[pt]', is_mesh=False))
        return ParsedLine(Value("PTYP" if plain.endswith(", all") else "PTYP=", kind))
    if plain in _OTHERS:
        return ParsedLine(_make_query(_OTHERS[plain], is_mesh=is_mesh))
    if plain in _CLINICAL:
        return ParsedLine(PubMedQuery(_CLINICAL[plain], _CLINICAL_LOSSES))
    return None


def split_limits(text: str, separator: re.Pattern[str]) -> list[str]:
    """Split the names of limits at a separator, but not inside a name such as "aged, 80 and over"."""
    parts: list[str] = []
    start = 0
    while True:
        name = _LONG_NAME.match(text, start)
        end = separator.search(text, start if name is None else name.end())
        if end is None:
            return [*parts, text[start:]]
        parts.append(text[start : end.start()])
        start = end.end()


def _make_query(query: str, *, is_mesh: bool) -> PubMedQuery:
    return PubMedQuery(query, () if is_mesh else (Loss("narrower", _INDEXING), Loss("wider", _INDEXING)))


def _find_age(name: str, *, is_mesh: bool) -> str | None:
    """Return the query of an age group, such as "adult (19 to 44 years)", "aged: 65+ years" or "aged <65+ years>".

    The groups of other services have other ages, so that they include the narrower headings.
    """
    query = _find_age_heading(name)
    return query if query is None or is_mesh else query.replace(":noexp", "")


def _find_age_heading(name: str) -> str | None:
    label, _, span = re.sub(r"^[0-9]{3} (?=[a-z])", "", re.sub(r" ?[(<] ?", ": ", name)).partition(":")
    first = re.search(r"\bbirth\b.{1,20}\b(?:18|23)\b|(?<![0-9])[0-9]{1,3}+(?=\+| plus| and over)", span)
    if first is not None:
        numbers = " ".join(re.findall(r"birth|[0-9]+", first[0]))
        if query := _AGES.get(f"{label.strip()} {numbers}"):
            return query
    return _AGES.get(label.strip())


def find_type(name: str) -> str | None:
    """Return the publication type of PubMed for its name in a service, such as "review articles"."""
    shorter = name.removesuffix(", all").removesuffix(" articles").removesuffix(" article")
    singular = re.sub(r"reviews$", "review", shorter.removesuffix("s"))
    return next(
        (_TYPES.get(kind, kind) for kind in (name, shorter, singular) if kind in _TYPES or kind in PUBLICATION_TYPES),
        None,
    )


def find_limit_kind(name: str) -> str:
    """Return the kind of a limit; PubMed's website joins the filters of one kind with OR."""
    if name in _OTHERS:
        return name
    if name in _SUBJECTS:
        return "sexes" if name in ("female", "male") else "species"
    return "ages"


def change_indexing(node: Node) -> Node:
    """Return a publication type of a service with another indexing than MEDLINE as a limit; other nodes as they are."""
    if isinstance(node, Value) and node.code in ("PTYP", "PTYP="):
        return make_limit(node.text, node.text).node
    return node


def is_missing_limit(name: str) -> bool:
    """Return whether a name is that of a limit or a type that other services have and PubMed lacks."""
    return _NOT_IN_PUBMED.fullmatch(name) is not None


def is_missing_type(name: str) -> bool:
    """Return whether a publication type is one that other services have and PubMed lacks."""
    return find_type(name) is None and is_missing_limit(name)


def make_limit(name: str, text: str) -> ParsedLine:
    """Return the meaning of a limit of a service with another indexing; one that PubMed lacks is left out later.

    Args:
        name: the name of the limit.
        text: its text in the line.
    """
    return find_limit(name, is_mesh=False) or ParsedLine(omit_limit(text))


def omit_limit(text: str) -> Unknown:
    """Return a limit that PubMed lacks, which the translation leaves out and names."""
    return Unknown(" ".join(text.split()), "PubMed has no such limit", kind="limit")
