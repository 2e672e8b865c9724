"""Results as tables with one row per record, for pandas and notebooks, and short summaries of results."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

from pydantic import BaseModel

from entrez_kit.base.extras import require
from entrez_kit.base.frontend_text import cut_end
from entrez_kit.base.invisible import remove_invisible

if TYPE_CHECKING:
    import pandas

SHOWN_ROWS: Final = 20
SHOWN_COLUMNS: Final = 8
SHOWN_LETTERS: Final = 100
SHOWN_FACTS: Final = 8

Record = BaseModel | Mapping[str, Any]


def build_data_frame(records: Sequence[Record], kinds: Sequence[type[BaseModel]]) -> "pandas.DataFrame":
    """Return records as a data frame.

    Args:
        records: models, or mappings if the fields depend on the database.
        kinds: models whose fields are the columns when ``records`` is empty.

    Raises:
        NotConfigured: pandas is not installed; the hint is the command that installs it.
    """
    require("pandas", "to_dataframe()")
    import pandas

    columns, rows = build_table(records, kinds)
    return pandas.DataFrame(rows, columns=columns)


def build_table(records: Sequence[Record], kinds: Sequence[type[BaseModel]] = ()) -> tuple[list[str], list[list[Any]]]:
    """Return the names of the columns, and a row for each record.

    A field of a nested object is a separate column, named by its path (``journal_info.title``). Lists stay lists.
    """
    columns: dict[str, None] = {}
    for kind in dict.fromkeys(type(record) for record in records if isinstance(record, BaseModel)) or kinds:
        columns |= dict.fromkeys(_list_paths(kind))
    documents = [record.model_dump(mode="json") if isinstance(record, BaseModel) else record for record in records]
    for record, document in zip(records, documents, strict=True):
        if not isinstance(record, BaseModel):
            columns |= dict.fromkeys(document)
    return list(columns), [[_get_value(document, path) for path in columns] for document in documents]


def _list_paths(kind: type[BaseModel], inside: tuple[type[BaseModel], ...] = ()) -> Iterator[str]:
    for name, field in kind.model_fields.items():
        models = list_models(field.annotation) if get_origin(field.annotation) is not list else []
        if len(models) == 1 and models[0] not in (kind, *inside):
            yield from (f"{name}.{path}" for path in _list_paths(models[0], (kind, *inside)))
        else:
            yield name


def list_models(annotation: Any) -> list[type[BaseModel]]:
    """Return the models in a type, at any depth."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in list_models(inner)]


def _get_value(document: Mapping[str, Any], path: str) -> Any:
    if path in document:
        return document[path]
    first, _, rest = path.partition(".")
    inner = document.get(first)
    return _get_value(inner, rest) if rest and isinstance(inner, Mapping) else None


def render_html_table(title: str, records: Sequence[Record]) -> str:
    """Return the first records as an HTML table, without empty columns.

    All text is untrusted: it is escaped, and invisible characters are removed.
    """
    columns, rows = build_table(records[:SHOWN_ROWS])
    cells = [[_render_cell(value) for value in row] for row in rows]
    visible_columns = [place for place in range(len(columns)) if any(row[place] for row in cells)][:SHOWN_COLUMNS]
    lines = [f"<p>{_escape_html(title)}</p>", "<table>"]
    lines.append(f"<tr>{''.join(f'<th>{_escape_html(columns[place])}</th>' for place in visible_columns)}</tr>")
    lines += (
        f"<tr>{''.join(f'<td>{_escape_html(row[place])}</td>' for place in visible_columns)}</tr>" for row in cells
    )
    lines.append("</table>")
    if len(records) > SHOWN_ROWS:
        lines.append(f"<p>{len(records) - SHOWN_ROWS:,} more</p>")
    return "\n".join(lines)


def _render_cell(value: Any) -> str:
    """Return a value as text: the plain values of a list, and an empty string for an object."""
    if isinstance(value, list):
        return shorten_text("; ".join(text for one in value if (text := _render_cell(one))))
    return "" if value is None or isinstance(value, Mapping) else shorten_text(str(value))


def shorten_text(text: str, letters: int = SHOWN_LETTERS) -> str:
    """Return a text on one line, truncated if it is long."""
    line = " ".join(text[: 10 * letters].split())
    return cut_end(line, letters)


def _escape_html(text: str) -> str:
    return escape(remove_invisible(text))


def select_facts(model: BaseModel) -> Iterator[tuple[str, Any]]:
    """Yield the first fields of a model as a summary: short values, and the lengths of lists."""
    left = SHOWN_FACTS
    for name, value in model:
        if value in (None, "") or isinstance(value, BaseModel):
            continue
        if isinstance(value, list | tuple | dict):
            if value:
                yield name, len(value)
        else:
            yield name, shorten_text(value, 60) if isinstance(value, str) else value
        left -= 1
        if not left:
            return
