"""Results as tables: one row a record, for pandas and for notebooks; and results in a few words."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

from pydantic import BaseModel

from entrez_kit.base.extras import require
from entrez_kit.base.invisible import visible

if TYPE_CHECKING:
    import pandas

SHOWN_ROWS: Final = 20
SHOWN_COLUMNS: Final = 8
SHOWN_LETTERS: Final = 100
SHOWN_FACTS: Final = 8

Record = BaseModel | Mapping[str, Any]


def data_frame(records: Sequence[Record], kinds: Sequence[type[BaseModel]]) -> "pandas.DataFrame":
    """Return records as a data frame.

    Args:
        records: models, or mappings where the fields are a database's own.
        kinds: models whose fields are columns even where no record is there to tell.

    Raises:
        NotConfigured: pandas is not installed; the hint is the line that installs it.
    """
    require("pandas", "to_dataframe()")
    import pandas

    columns, rows = table_of(records, kinds)
    return pandas.DataFrame(rows, columns=columns)


def table_of(records: Sequence[Record], kinds: Sequence[type[BaseModel]] = ()) -> tuple[list[str], list[list[Any]]]:
    """Return the names of columns, and a row for each record.

    A field of an object inside is a column of its own, named by the way to it (``journal_info.title``). Lists stay
    lists.
    """
    columns: dict[str, None] = {}
    for kind in dict.fromkeys(type(record) for record in records if isinstance(record, BaseModel)) or kinds:
        columns |= dict.fromkeys(_paths(kind))
    documents = [record.model_dump(mode="json") if isinstance(record, BaseModel) else record for record in records]
    for record, document in zip(records, documents, strict=True):
        if not isinstance(record, BaseModel):
            columns |= dict.fromkeys(document)
    return list(columns), [[_value_at(document, path) for path in columns] for document in documents]


def _paths(kind: type[BaseModel], inside: tuple[type[BaseModel], ...] = ()) -> Iterator[str]:
    for name, field in kind.model_fields.items():
        models = models_in(field.annotation) if get_origin(field.annotation) is not list else []
        if len(models) == 1 and models[0] not in (kind, *inside):
            yield from (f"{name}.{path}" for path in _paths(models[0], (kind, *inside)))
        else:
            yield name


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models that a type names, however deep."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in models_in(inner)]


def _value_at(document: Mapping[str, Any], path: str) -> Any:
    if path in document:
        return document[path]
    first, _, rest = path.partition(".")
    inner = document.get(first)
    return _value_at(inner, rest) if rest and isinstance(inner, Mapping) else None


def html_table(title: str, records: Sequence[Record]) -> str:
    """Return the first records as a table of HTML, with the columns that have something to read in them.

    All text is foreign: nothing of it is markup, and what nobody can see is left out.
    """
    columns, rows = table_of(records[:SHOWN_ROWS])
    cells = [[_cell(value) for value in row] for row in rows]
    shown = [place for place in range(len(columns)) if any(row[place] for row in cells)][:SHOWN_COLUMNS]
    lines = [f"<p>{_escaped(title)}</p>", "<table>"]
    lines.append(f"<tr>{''.join(f'<th>{_escaped(columns[place])}</th>' for place in shown)}</tr>")
    lines += (f"<tr>{''.join(f'<td>{_escaped(row[place])}</td>' for place in shown)}</tr>" for row in cells)
    lines.append("</table>")
    if len(records) > SHOWN_ROWS:
        lines.append(f"<p>{len(records) - SHOWN_ROWS:,} more</p>")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    """Return a value as text; of lists those that hold plain values, of objects nothing."""
    if isinstance(value, list):
        return shortened("; ".join(text for one in value if (text := _cell(one))))
    return "" if value is None or isinstance(value, Mapping) else shortened(str(value))


def shortened(text: str, letters: int = SHOWN_LETTERS) -> str:
    """Return a text on one line, cut where it is long."""
    line = " ".join(text[: 10 * letters].split())
    return line if len(line) <= letters else f"{line[: letters - 1]}…"


def _escaped(text: str) -> str:
    return escape(visible(text))


def facts_of(model: BaseModel) -> Iterator[tuple[str, Any]]:
    """Yield the fields that tell a model from others: short values, and of lists how long they are."""
    left = SHOWN_FACTS
    for name, value in model:
        if value in (None, "") or isinstance(value, BaseModel):
            continue
        if isinstance(value, list | tuple | dict):
            if value:
                yield name, len(value)
        else:
            yield name, shortened(value, 60) if isinstance(value, str) else value
        left -= 1
        if not left:
            return
