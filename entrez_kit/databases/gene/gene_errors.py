"""Convert errors to the five codes of the gene tools."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pydantic import ValidationError
from pydantic.alias_generators import to_snake

from entrez_kit.base.errors import (
    AmbiguousQuery,
    EntityNotFound,
    EntrezKitError,
    InvalidInput,
    RateLimited,
    UnresolvedEntity,
    UpstreamError,
)
from entrez_kit.base.frontend_text import Argument, FrontendText, NextCall, cut_end
from entrez_kit.core.argument_errors import invalid_arguments
from entrez_kit.core.model import Request

FORM: Final = "Expected format: NCBIGene:<numeric_id>."

_CURIE: Final = re.compile(r"NCBIGene:([0-9]+)")
_NEARLY: Final = re.compile(
    r"(?:(?:ncbi[ _-]?)?gene(?:[ _-]?id)?|entrez(?:[ _-]?gene)?(?:[ _-]?id)?|locus ?id)?"
    r"\s*+[:=#]?\s*+([0-9]{1,10})",
    re.IGNORECASE | re.ASCII,
)
"""Other spellings of a gene id: 7157, GeneID:7157, entrez:7157, ncbigene:7157."""
_PREFIX: Final = re.compile(r"(?:ncbi[ _-]?gene|gene[ _-]?id|entrez[ _-]?gene|entrez)\s*+[:=#]", re.IGNORECASE)
"""A prefix of a symbol that was given as an id; it must be removed for a search."""
_SHOWN: Final = 80


def looks_like_gene_id(word: str) -> bool:
    """Return whether a word in a list is a gene id, as a CURIE or in another spelling."""
    return bool(_CURIE.fullmatch(word) or _NEARLY.fullmatch(word))


def unresolved_error(value: object, tool: str) -> UnresolvedEntity:
    """Return the error for a value that is not a gene id; its hint is the next call."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    short_text = cut_end(text, _SHOWN)
    nearly = _NEARLY.fullmatch(text.strip())
    query = " ".join(_PREFIX.sub("", text).split())
    if nearly and int(nearly[1]):
        number = nearly[1].lstrip("0")
        hint = FrontendText("Call ", NextCall(tool, entrez_id=f"NCBIGene:{number}"), f" instead. {FORM}")
    elif 2 <= len(query) <= _SHOWN and query.isprintable() and any(map(str.isalnum, query)):
        hint = FrontendText("Call ", NextCall("search_genes", query=query), f" to resolve the identifier first. {FORM}")
    else:
        first = " with the gene's symbol or name to resolve the identifier first. "
        hint = FrontendText("Call ", NextCall("search_genes"), first, FORM)
    return UnresolvedEntity(
        f"The input {short_text!r} is not a gene id: {_explain_form(text.strip())}.",
        invalid_input=short_text,
        recovery_hint=hint,
        details={"reason": "not_a_curie"},
    )


def _explain_form(text: str) -> str:
    """Return why a text is not a gene id."""
    if _CURIE.fullmatch(text) or _NEARLY.fullmatch(text):
        has_number = any(digit in "123456789" for digit in text)
        return "NCBIGene: is followed by a number from 1" if not has_number else "it is not of the form NCBIGene:7157"
    prefix = _PREFIX.match(text)
    if prefix is None:
        return "an id is NCBIGene: and a number, such as NCBIGene:7157"
    after = text[prefix.end() :].strip()
    return (
        f"{cut_end(after, _SHOWN)!r} after {prefix[0]} is not a number" if after else f"no number follows {prefix[0]}"
    )


def not_found_error(number: str) -> EntityNotFound:
    """Return the error for a valid id that no gene has."""
    return EntityNotFound(
        f"Gene not found in NCBI Gene database: NCBIGene:{number}.",
        invalid_input=f"NCBIGene:{number}",
        recovery_hint=FrontendText(
            "Verify the NCBIGene ID or use ", NextCall("search_genes"), " to find the correct identifier."
        ),
        details={"reason": "not_found"},
    )


def argument_error(tool: str, exc: ValidationError, request: type[Request]) -> EntrezKitError:
    """Convert invalid arguments of a tool to its errors: UnresolvedEntity for an id, AmbiguousQuery for the rest."""
    plain = invalid_arguments(exc, request)
    for error in exc.errors(include_url=False, include_context=False):
        if error["loc"] and error["loc"][0] in ("entrez_id", "entrezId"):
            missing = error["type"] == "missing"
            bad_id = unresolved_error(None if missing else error["input"], tool)
            if missing:
                bad_id.message_text = FrontendText(
                    Argument("entrez_id"), " is missing: give the id of a gene as an NCBIGene CURIE."
                )
            if len(plain.details["errors"]) > 1:
                bad_id.details["errors"] = plain.details["errors"]
            return bad_id
    first = plain.details["errors"][0]
    field = to_snake(first["field"])
    named = Argument(field) if field else "the arguments"
    return AmbiguousQuery(
        plain.message_text,
        invalid_input=f"{field}={first['input']}" if field else None,
        recovery_hint=_HINTS.get(field) or FrontendText("Correct ", named, " and call ", NextCall(tool), " again."),
        details=plain.details,
    )


_TOTAL: Final = "total_count is the number of articles."
_HINTS: Final = {
    field: FrontendText(before, Argument(field), after)
    for field, before, after in (
        ("cursor", "Use pagination.cursor of the previous page unchanged. For the first page, omit ", "."),
        ("page_size", "Choose a ", " from 1 to 100; pagination.cursor leads to the next page."),
        ("limit", "Choose a ", f" from 1 to 100000; {_TOTAL}"),
        ("offset", "Choose an ", f" of at least 0; {_TOTAL}"),
    )
} | {
    "query": FrontendText(
        "Provide at least 2 characters: a symbol, a name or words of a name. Add ",
        *(Argument("organism"), " to narrow results."),
    )
}


@contextmanager
def only_gene_codes(field: str, value: object) -> Iterator[None]:
    """Convert errors that the gene tools do not have to errors that they have.

    Args:
        field: the argument that the error names if a service refuses the request.
        value: the value of that argument.
    """
    try:
        yield
    except (UnresolvedEntity, AmbiguousQuery, EntityNotFound, UpstreamError, RateLimited):
        raise
    except InvalidInput as exc:
        raise AmbiguousQuery(
            exc.message_text,
            invalid_input=f"{field}={value}",
            recovery_hint=FrontendText("Rephrase ", Argument(field), " as a symbol or as plain words."),
            details=exc.details,
        ) from None
    except EntrezKitError as exc:
        if type(exc) is EntrezKitError:  # a defect in entrez-kit stays INTERNAL_ERROR
            raise
        raise UpstreamError(
            exc.message_text,
            invalid_input=exc.invalid_input,
            recovery_hint=exc.hint_text,
            details={**exc.details, "code": exc.code},
        ) from None
