"""Tables and pages, one module for each subject.

``render_...`` returns what rich shows on a terminal, ``write_...`` returns Markdown, and ``build_...``, ``format_...``
and ``list_...`` return parts of them. Commands write ``_views.articles.render_search``: most modules import rich, so a
module is imported when its first function is used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        articles as articles,
    )
    from . import (
        check as check,
    )
    from . import (
        citations as citations,
    )
    from . import (
        corpus as corpus,
    )
    from . import (
        databases as databases,
    )
    from . import (
        europepmc as europepmc,
    )
    from . import (
        fulltext as fulltext,
    )
    from . import (
        gene as gene,
    )
    from . import (
        local as local,
    )
    from . import (
        markdown as markdown,
    )
    from . import (
        merge as merge,
    )
    from . import (
        reading as reading,
    )
    from . import (
        related as related,
    )
    from . import (
        review as review,
    )
    from . import (
        strategies as strategies,
    )
    from . import (
        tables as tables,
    )
    from . import (
        text as text,
    )
else:
    from importlib import import_module

    def __getattr__(name: str):
        """Import a module of this folder. Python calls this if the folder has no such attribute yet."""
        try:
            return import_module(f".{name}", __name__)
        except ModuleNotFoundError as exc:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from exc
