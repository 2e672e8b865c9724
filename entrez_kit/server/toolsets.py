"""The names of toolsets and scopes, for the server and for the help of `serve`, which does not import the server."""

from typing import Final

TOOLSETS: Final = ("pubmed", "gene", "corpus", "entrez", "citations", "review")
DEFAULT_TOOLSETS: Final = ("pubmed", "gene", "corpus")

_SEPARATE: Final = {"corpus": ("corpus.read", "corpus.write")}
"""Toolsets with separate scopes for reading and changing."""
SCOPE_NAMES: Final = tuple(scope for name in TOOLSETS for scope in _SEPARATE.get(name, (name,)))
"""The scopes of tokens as users write them: one per toolset."""
SCOPE_PREFIX: Final = "entrez-kit:"
SCOPES: Final = tuple(f"{SCOPE_PREFIX}{name}" for name in SCOPE_NAMES)
"""The scopes in tokens."""
