"""Syntax trees of the project's modules, read once for all tests of a process."""

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def read_tree(path: Path) -> ast.Module:
    """Return the syntax tree of a module."""
    was_enabled = gc.isenabled()
    gc.disable()  # a tree has many objects and no garbage
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        if was_enabled:
            gc.enable()


@cache
def read_nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of the syntax tree of a module, in the order of `ast.walk`."""
    return tuple(ast.walk(read_tree(path)))
