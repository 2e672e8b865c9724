"""Tables and pages, one module for each subject.

``render_...`` returns what rich shows on a terminal, ``write_...`` returns Markdown, and ``build_...``, ``format_...``
and ``list_...`` return parts of them. Commands write ``_views.articles.render_search``: most modules import rich, so a
module is imported when its first function is used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (  # noqa: F401  # used as attributes of this package
        articles,
        check,
        citations,
        corpus,
        databases,
        doctor,
        europepmc,
        fulltext,
        gene,
        local,
        markdown,
        merge,
        program,
        reading,
        related,
        review,
        strategies,
        tables,
        text,
    )
else:
    from importlib import import_module

    def __getattr__(name: str):
        """Import a module of this folder. Python calls this if the folder has no such attribute yet."""
        try:
            return import_module(f".{name}", __name__)
        except ModuleNotFoundError as exc:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from exc
