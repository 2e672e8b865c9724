"""Read and correct CSL-JSON files. A correction keeps unknown fields and the order of fields."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from entrez_kit.citations.csl import ARTICLE_NUMBER, build_csl_item
from entrez_kit.pubmed.models import Article
from entrez_kit.references.files.csl_values import (
    clean_csl_date,
    clean_texts,
    get_article_number,
    list_csl_names,
    read_csl_author,
)
from entrez_kit.references.files.references import (
    FieldUpdate,
    OriginalRecord,
    Reference,
    ReferenceFile,
    find_year,
    is_about_version,
    list_identifiers,
    list_identifiers_in_notes,
    merge_identifiers,
    unreadable_error,
    warn_of_repeated_keys,
)

_NUMBERS: Final = {
    "volume": "volume",
    "issue": "issue",
    "doi": "DOI",
    "pmid": "PMID",
    "pmcid": "PMCID",
    "title": "title",
}
_WORK_FIELDS: Final = (
    "type title author editor container-title container-title-short container-author collection-title volume issue "
    "page page-first number article-number edition publisher publisher-place event genre medium archive ISSN ISBN "
    "issued original-date available-date accessed DOI PMID PMCID URL language abstract source version status"
)
_OF_WORK: Final = frozenset(_WORK_FIELDS.split())
"""Fields about one version of a work. Other fields are the user's own, and stay if another version replaces it."""


class CslFile(ReferenceFile):
    """The references of a CSL-JSON file: a list of items, or an object that contains such a list.

    Args:
        document: the JSON document of the text, which has the items.
    """

    def __init__(self, text: str, document: Any, items: list[dict[str, Any]], references: list[Reference]) -> None:
        self._text = text
        self._document = document
        self._items = items
        super().__init__(references, warn_of_repeated_keys(references))

    def get_original(self, index: int) -> OriginalRecord:
        """Return the fields and the text of an item."""
        from entrez_kit.references.files.tagged_fields import convert_csl

        item = self._items[index]
        fields = convert_csl(clean_texts(item), self.references[index])
        return OriginalRecord(fields, json.dumps(item, ensure_ascii=False))

    def correct(self, corrections: Mapping[int, FieldUpdate]) -> str:
        """Return the text with changed references, by their index."""
        for number, correction in corrections.items():
            if correction.record is not None:
                _replace_item(self._items[number], correction.record)
            else:
                _correct_item(self._items[number], correction)
        left_out = {number for number, correction in corrections.items() if correction.same_as is not None}
        self._items[:] = [item for number, item in enumerate(self._items) if number not in left_out]
        indent = re.search(r"\n([ \t]+)\S", self._text)
        ascii_only = self._text.isascii() and "\\u" in self._text
        text = json.dumps(self._document, ensure_ascii=ascii_only, indent=indent[1] if indent else None)
        return text + ("\n" if self._text.endswith("\n") else "")


def read_csl_json(text: str, name: str) -> CslFile:
    """Read a CSL-JSON file.

    Raises:
        InvalidInput: the file is not JSON, or not CSL-JSON.
    """
    document = _parse_json(text, name)
    items = _find_items(document, name)
    references = [read_csl_item(number, clean_texts(item)) for number, item in enumerate(items, start=1)]
    return CslFile(text, document, items, references)


def _parse_json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as exc:
        line = getattr(exc, "lineno", None)
        raise unreadable_error(name, f"this is not valid JSON: {getattr(exc, 'msg', exc)}", line=line) from None
    except RecursionError:
        raise unreadable_error(name, "its lists and objects are nested too deeply") from None


def _find_items(document: Any, name: str) -> list[dict[str, Any]]:
    if isinstance(document, dict):
        items = next((document[key] for key in ("items", "references") if isinstance(document.get(key), list)), None)
        document = items if items is not None else [document]
    if not isinstance(document, list):
        raise unreadable_error(name, "this is not a list of references in CSL-JSON")
    for number, item in enumerate(document, start=1):
        if not isinstance(item, dict) or not ({"type", "title", "DOI", "PMID"} & set(item)):
            hint = "Give CSL-JSON as reference managers export it: a list of items with type, title, author ..."
            raise unreadable_error(name, f"item {number} is not a reference in CSL-JSON", hint=hint)
    return document


def _replace_item(item: dict[str, Any], newer: Article) -> None:
    """Replace an item with a newer record; its id and the user's own fields stay."""
    _remove_article_number(item)
    own = {name: value for name, value in item.items() if name not in _OF_WORK}
    if is_about_version(str(own.get("note") or "")):
        del own["note"]
    omitted = {"keyword"} | ({"abstract"} - set(item))
    fields = {name: value for name, value in build_csl_item(newer).items() if name not in omitted}
    notes = [str(item_fields["note"]) for item_fields in (own, fields) if item_fields.get("note")]
    item.clear()
    item |= {**fields, **own, **({"note": " ".join(notes)} if notes else {})}


def _remove_article_number(item: dict[str, Any]) -> None:
    """Remove the article number among the user's own members of an item."""
    if get_article_number(item) is not None:
        del item["custom"][ARTICLE_NUMBER]
        if not item["custom"]:
            del item["custom"]


def _correct_item(item: dict[str, Any], correction: FieldUpdate) -> None:
    for name, value in correction.fields.items():
        if name in _NUMBERS:
            item[_NUMBERS[name]] = int(value) if isinstance(item.get(_NUMBERS[name]), int) else str(value)
        elif name == "authors":
            item["author"] = list(value)
        elif name == "journal":
            item["container-title"] = value
            if correction.short and "container-title-short" in item:
                item["container-title-short"] = correction.short
        elif name == "pages":
            field = "page" if "page" in item or "number" not in item else "number"
            item[field] = value
            _remove_article_number(item)
        elif name == "year":
            dates = item.get("issued")
            parts = dates.get("date-parts") if isinstance(dates, dict) else None
            if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0]:
                parts[0][0] = int(value)
            else:
                item["issued"] = {"date-parts": [[int(value)]]}
    if correction.note and correction.note.rstrip(".") not in str(item.get("note") or ""):
        item["note"] = " ".join(part for part in (str(item.get("note") or "").strip(), correction.note) if part)


def read_csl_item(number: int, item: Mapping[str, Any]) -> Reference:
    """Read one item. An item without an id is named by its number."""

    def get_text(name: str) -> str | None:
        value = item.get(name)
        if isinstance(value, list):  # Crossref writes lists of one
            value = value[0] if value else None
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return None
        text = str(value) if name == "DOI" else re.sub(r"</?(?:i|b|sub|sup|span|sc)\b[^<>]*+>", "", str(value))
        return " ".join(text.split()) or None

    authors = [read_csl_author(name) for name in list_csl_names(item.get("author"))]
    others = [*list_identifiers(get_text("URL")), *list_identifiers_in_notes(get_text("note"))]
    journal = item.get("type") not in ("book", "report", "webpage", "article", "software", "dataset", "thesis")
    return Reference(
        key=get_text("id") or get_text("citation-key") or f"item {number}",
        title=get_text("title"),
        authors=[author for author in authors if author.text and author.text.lower() not in ("others", "et al.")],
        more_authors=any(author.text.lower() in ("others", "et al.") for author in authors),
        journal=(get_text("container-title") or get_text("container-title-short")) if journal else None,
        year=_read_year(item.get("issued")),
        volume=get_text("volume"),
        issue=get_text("issue"),
        pages=get_text("page") or (get_text("number") if item.get("type") != "report" else None),
        **merge_identifiers(others, doi=get_text("DOI"), pmid=get_text("PMID"), pmcid=get_text("PMCID")),
    )


def _read_year(value: Any) -> str | None:
    date = clean_csl_date(value)
    return find_year(str(date["date-parts"][0][0])) if date else None
