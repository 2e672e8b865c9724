"""Return the source of ``entrez_kit/python/kit_methods.py``: one typed method with a docstring for each operation."""

import ast
import inspect
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from textwrap import TextWrapper
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from packaging_files import ROOT
from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo

from entrez_kit.core.model import describe_field
from entrez_kit.core.operation import Operation
from entrez_kit.python import catalogue

METHODS: Final = ROOT / "entrez_kit" / "python" / "kit_methods.py"
HEAD: Final = '''\
"""The methods of EntrezKit with their arguments, for editors, ``help`` and type checkers."""
# mypy: disable-error-code="empty-body"

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

from entrez_kit.python.kit_runner import OperationRunner, runs, runs_search_all
'''
WIDTH: Final = 120
CLASS: Final = '''\
class Methods(OperationRunner):
    """One method for each operation; arguments that are left out are not sent.

    Raises:
        InvalidInput: an argument is unknown, missing or out of bounds. The gene methods raise UnresolvedEntity or
            AmbiguousQuery instead.
        RateLimited: a service refused the request, or the wait for a slot would exceed the deadline.
    """

    _find_operation = staticmethod(find_operation)
'''
OF_ALL_METHODS: Final = ("RateLimited",)
"""Errors that only the docstring of the class lists."""
PAGING: Final = frozenset({"max_results", "offset", "use_history", "retrieve_all"})
PROGRESS: Final = "called with the number of PMIDs retrieved so far and the number counted."

AnyOperation = Operation[Any, Any]


def write_methods() -> str:
    """Return the source of the module."""
    (search,) = (operation for operation in catalogue.OPERATIONS if operation.method == "search_articles")
    methods = chain.from_iterable([*map(_write_method, catalogue.OPERATIONS), _write_search_all(search)])
    return "\n".join([HEAD, "if TYPE_CHECKING:", *_write_imports(), "", *_write_loader(), CLASS, *methods])


def _write_imports() -> Iterator[str]:
    operations = catalogue.OPERATIONS
    returned = [operation.result for operation in operations]
    homes = {Operation.__module__: {Operation.__name__}}
    fields = (field for operation in operations for field in operation.request.model_fields.values())
    for model in (
        *returned,
        *filter(_is_model, chain.from_iterable(_walk_types(field.annotation) for field in fields)),
    ):
        homes.setdefault(model.__module__, set()).add(model.__name__)
    yield from (f"    from {module} import {', '.join(sorted(homes[module]))}" for module in sorted(homes))


def _write_loader() -> Iterator[str]:
    yield "OPERATIONS: Final = {"
    yield from (f'    "{operation.method}": "{_find_place(operation)}",' for operation in catalogue.OPERATIONS)
    yield "}"
    yield '"""The module and the name of the operation of each method."""'
    yield "\n"
    yield 'def find_operation(method: str) -> "Operation[Any, Any]":'
    yield '    """Return the operation that a method runs, and import no other."""'
    yield '    module, _, name = OPERATIONS[method].rpartition(".")'
    yield "    operation: Operation[Any, Any] = getattr(import_module(module), name)"
    yield "    return operation"
    yield "\n"


def _write_method(operation: AnyOperation) -> Iterator[str]:
    yield "    @runs"
    yield f"    def {operation.method}("
    yield from _write_parameters(operation)
    yield f'    ) -> "{operation.result.__name__}":'
    yield from _write_docstring(_read_summary(operation), operation)
    yield ""


def _write_search_all(operation: AnyOperation) -> Iterator[str]:
    yield "    @runs_search_all"
    yield "    def search_all("
    yield from _write_parameters(operation, "progress: Callable[[int, int], None] | None = None,", without=PAGING)
    yield f'    ) -> "{operation.result.__name__}":'
    summary = "Retrieve every PMID of a search, however many, with a certificate that nothing is missing."
    yield from _write_docstring(summary, operation, {"progress": PROGRESS}, without=PAGING)
    yield ""


def _write_parameters(operation: AnyOperation, *first: str, without: Collection[str] = ()) -> Iterator[str]:
    yield from (f"        {word}" for word in ("self,", *first, "*,"))
    for name, field in _list_fields(operation, without):
        default = "" if field.is_required() else f" = {_format_default(field)}"
        yield f"        {name}: {_format_annotation(name, field, operation.request)}{default},"


def _format_default(field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    return repr(tuple(default) if isinstance(default, list) else default)


def _format_annotation(name: str, field: FieldInfo, request: type[BaseModel]) -> str:
    """Return the types that a caller may pass: also numbers for ids, mappings for models, sequences for lists."""
    names = [
        validator.info.fields
        for validator in request.__pydantic_decorators__.field_validators.values()
        if validator.info.mode == "before"
    ]
    is_read_first = any(isinstance(one, BeforeValidator) for one in field.metadata) or any(name in one for one in names)
    more = ["int"] if name == "ids" or name.endswith(("pmid", "pmids")) else ["str"] if is_read_first else []
    kinds = [*_list_types(field.annotation, more), *(["str"] if is_read_first else [])]
    text = " | ".join(dict.fromkeys(kinds))
    return f'"{text}"' if any(map(_is_model, _walk_types(field.annotation))) else text


def _list_types(kind: Any, more: Sequence[str]) -> Iterator[str]:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        for one in inner:
            yield from _list_types(one, more)
    elif origin is list:
        yield f"Sequence[{' | '.join(dict.fromkeys(_list_types(inner[0], more)))}]"
    elif origin is Literal:
        yield f"Literal[{', '.join(repr(one) for one in inner)}]"
        yield from more
    elif origin is not None:  # Annotated
        yield from _list_types(inner[0], more)
    elif _is_model(kind):
        yield from (kind.__name__, "Mapping[str, Any]")
    elif kind is NoneType:
        yield "None"
    else:
        yield kind.__name__
        yield from more if kind is str else ()


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _walk_types(kind: Any) -> Iterator[Any]:
    yield kind
    for inner in get_args(kind):
        yield from _walk_types(inner)


def _list_fields(operation: AnyOperation, without: Collection[str]) -> Iterator[tuple[str, FieldInfo]]:
    fields = operation.request.model_fields.items()
    yield from ((name, field) for name, field in fields if name not in without)


def _write_docstring(
    text: str,
    operation: AnyOperation,
    first: Mapping[str, str] = MappingProxyType({}),
    without: Collection[str] = (),
) -> Iterator[str]:
    summary, _, rest = text.partition("\n\n")
    yield _wrap(f'"""{summary}', "        ")
    if rest:
        yield ""
        yield _wrap(rest, "        ")
    fields = {name: _replace_tool_names(describe_field(field)) for name, field in _list_fields(operation, without)}
    yield from _write_section("Args", {**first, **fields})
    yield "\n        Returns:"
    yield _wrap(_replace_tool_names(_read_docstring(operation.result)).partition("\n\n")[0], " " * 12)
    if errors := _read_raises(operation):
        yield from _write_section("Raises", errors)
    yield '        """'


def _write_section(title: str, entries: Mapping[str, str]) -> Iterator[str]:
    yield f"\n        {title}:"
    yield from (_wrap(f"{name}: {text}", " " * 12, hanging=" " * 16) for name, text in entries.items())


def _wrap(text: str, margin: str, hanging: str | None = None) -> str:
    words = " ".join(text.split())
    lines = TextWrapper(WIDTH, margin, hanging or margin, break_long_words=False, break_on_hyphens=False)
    return lines.fill(words)


def _read_docstring(thing: object) -> str:
    return inspect.cleandoc(thing.__doc__ or "")


def _read_summary(operation: AnyOperation) -> str:
    """Return the description of an operation, with names of methods instead of tools."""
    text = _read_docstring(operation.implementation)
    return _replace_tool_names(re.split(r"\n\n(?:Args|Returns|Raises|Source):", text)[0])


def _replace_tool_names(text: str) -> str:
    for operation in catalogue.OPERATIONS:
        text = re.sub(rf"\b{operation.name}\b", operation.method, text)
    return text.replace("\\", "\\\\")


def _read_raises(operation: AnyOperation) -> Mapping[str, str]:
    """Return the errors of a method with their conditions, from the docstring of the operation's function."""
    _, _, text = _read_docstring(operation.implementation).partition("Raises:\n")
    entries = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", text.partition("\n\n")[0], re.MULTILINE)
    return {name: " ".join(when.split()) for name, when in entries if name not in OF_ALL_METHODS}


def _find_place(operation: AnyOperation) -> str:
    """Return the module and name of the operation, from the imports of the catalogue."""
    for node in ast.parse(inspect.getsource(catalogue)).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if getattr(catalogue, alias.name) is operation:
                    return f"{node.module}.{alias.name}"
    raise LookupError(operation.name)
