"""The arguments of tools with large replies: which part of a reply, which fields, and lists of values."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any

from pydantic import Field, ValidationError, create_model

from entrez_kit.base.errors import UnresolvedEntity
from entrez_kit.core.argument_errors import invalid_arguments
from entrez_kit.core.model import Request
from entrez_kit.core.operation import Operation, Several
from entrez_kit.server.portions import DEFAULT_LIMIT, MIN_LIMIT, Portion, RequestedPage
from entrez_kit.server.record_fields import list_record_fields
from entrez_kit.server.schemas import build_input_schema


class ReplyArguments(Request):
    """Additional arguments of tools with large replies."""

    fields: list[str] = Field(
        default=[],
        max_length=100,
        description="Only these; -title omits one, -abstract_text gives sections.",
    )
    reply_start: int | None = Field(default=None, ge=0, description="From reply_cut.")
    reply_limit: int = Field(default=DEFAULT_LIMIT, ge=MIN_LIMIT, description="Characters.")


def add_portions(schema: Mapping[str, Any], operation: Operation[Any, Any]) -> dict[str, Any]:
    """Return the schema of a tool with limited replies. A tool with an offset does not need ``reply_start``."""
    properties = build_input_schema(ReplyArguments)["properties"]
    del properties["fields"]["maxItems"]
    if not operation.agents.duplicate_fields:  # records with few members
        del properties["fields"]
    elif operation.agents.fields_by_level:
        properties["fields"]["description"] += f" {_describe_fields(operation)}"
    if operation.agents.paging is not None and not operation.agents.paging.only_with:
        del properties["reply_start"]
    return {**schema, "properties": {**schema["properties"], **properties}}


def take_portion(
    arguments: Mapping[str, Any], operation: Operation[Any, Any], *, resume: str = ""
) -> tuple[dict[str, Any], list[Portion]]:
    """Return the arguments of the operation, and the requested portion of each large member.

    Args:
        resume: see ``Portion``.

    Raises:
        InvalidInput: an argument of the portion is invalid; or the operation's own error for it.
    """
    operation_arguments = {name: value for name, value in arguments.items() if name not in ReplyArguments.model_fields}
    try:
        reply_arguments = ReplyArguments.model_validate(
            {name: arguments[name] for name in arguments if name not in operation_arguments}
        )
    except ValidationError as exc:
        raise (operation.argument_error or invalid_arguments)(exc, ReplyArguments) from None
    start, limit = reply_arguments.reply_start or 0, reply_arguments.reply_limit
    field_paths = tuple(path.strip() for path in reply_arguments.fields if path.strip())
    operation_arguments |= _select_level(
        {name.partition(".")[0] for name in field_paths if not name.startswith("-")}, operation_arguments, operation
    )
    known = list_record_fields(operation) if field_paths else {}
    paging, page = operation.agents.paging, None
    if paging is not None and (not paging.only_with or operation_arguments.get(paging.only_with)):
        skipped, size = (_to_number(operation_arguments.get(name)) for name in (paging.skip, paging.size))
        if start:  # the number in a reply counts from the first result
            skipped = max(skipped or 0, start)
            operation_arguments, start = {**operation_arguments, paging.skip: skipped}, 0
        default = operation.request.model_fields[paging.size].default
        page = RequestedPage(paging, skipped or 0, default if size is None else size)
        if paging.fit is not None:
            operation_arguments = paging.fit(
                operation_arguments, limit, bool([name for name in field_paths if not name.startswith("-")])
            )
    inputs = tuple(
        _name_inputs(
            next((operation_arguments[name] for name in operation.agents.inputs if operation_arguments.get(name)), ())
        )
    )
    members = operation.agents.portions or ("",)
    beside = members[-1] if page is not None and len(members) > 1 and not page.paging.only_with else ""
    return operation_arguments, [
        Portion(
            member=member,
            fields=field_paths,
            start=start,
            limit=limit,
            page=page,
            duplicate_fields=operation.agents.duplicate_fields,
            inputs=inputs,
            beside=beside if beside != member else "",
            next_page=operation.agents.next_page,
            known=known,
            resume=resume,
        )
        for member in members
    ]


def read_several(arguments: dict[str, Any], operation: Operation[Any, Any], several: Several) -> list[str]:
    """Take the list of values out of the arguments, with the single value before it; empty if no list was given.

    Raises:
        EntrezKitError: the operation's own error for a list that is too long or has other values than texts, or for
            another argument.
    """
    listed, first = arguments.pop(several.argument, None), arguments.get(several.field)
    if not listed and not (first and isinstance(first, list)):
        return []
    arguments.pop(several.field, None)
    values = listed or []
    if isinstance(values, list):  # the model refuses any other kind of value
        firsts = first if isinstance(first, list) else [first] if first and first not in values else []
        values = [*firsts, *values]
    build: Any = create_model  # its type does not allow computed names
    model = build("Listed", __base__=Request, **{several.argument: (list[str], Field(max_length=several.most))})
    try:
        model.model_validate({several.argument: values})
    except ValidationError as exc:
        raise (operation.argument_error or invalid_arguments)(exc, model) from None
    own = {name: value for name, value in arguments.items() if name not in ReplyArguments.model_fields}
    for value in values:
        with suppress(UnresolvedEntity):  # an outcome of this value
            operation.build({**own, several.field: value})
            break
    return [str(value) for value in values]


def _select_level(
    fields: Collection[str], arguments: Mapping[str, Any], operation: Operation[Any, Any]
) -> dict[str, Any]:
    """Return the arguments with which records have these fields: those that turn them on, and a level that has them."""
    turned_on_by, by_level = operation.agents.field_arguments, operation.agents.fields_by_level
    needed: dict[str, Any] = {turned_on_by[name]: True for name in fields if name in turned_on_by}
    usual = operation.agents.defaults.get("detail_level") or _get_default_level(operation)
    has = by_level.get(str(arguments.get("detail_level") or usual), ())
    listed = {name for names in by_level.values() for name in names}
    lacking = {name for name in fields if name in listed and name not in has}
    if lacking:
        best = max(by_level, key=lambda level: len(lacking.intersection(by_level[level])))
        needed["detail_level"] = best
    return needed


def _get_default_level(operation: Operation[Any, Any]) -> str:
    info = operation.request.model_fields.get("detail_level")
    return str(info.default) if info is not None else ""


def _describe_fields(operation: Operation[Any, Any]) -> str:
    """Return the names of the fields of records by level, each name once."""
    earlier: set[str] = set()
    lines = []
    for level, names in operation.agents.fields_by_level.items():
        if new := [name for name in names if name not in earlier]:
            lines.append(f"{level}{' also' if earlier else ''}: {', '.join(new)}.")
            earlier.update(new)
    return " ".join(lines)


def _to_number(value: Any) -> int | None:
    """Return an integer, also from a string; None for other values."""
    try:
        return None if isinstance(value, bool) or value is None else int(str(value))
    except ValueError:
        return None


def _name_inputs(inputs: Any) -> Iterator[str]:
    """Yield a name for each input: the id, or the key or number of an object."""
    for number, item in enumerate(inputs if isinstance(inputs, list) else (), start=1):
        yield str(item.get("key") or number) if isinstance(item, dict) else str(item)
