"""Pandoc, run as a program of its own: citations in a style, and Markdown as a page or a document.

It comes as a wheel, reads and writes pipes, and runs with ``--sandbox``: no network, no file that was not named.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from entrez_kit.errors import EntrezKitError, NotConfigured
from entrez_kit.extras import install_line, missing_extra

TIMEOUT_S: Final = 120

_BANNERS: Final = (
    b"<style>blockquote { padding: .5em 1em; border-left: .4em solid #b00020; background: #fdecef; }</style>"
)
"""A banner, such as that of a retraction, is a quotation in Markdown."""


def run_pandoc(arguments: Sequence[str], content: bytes) -> bytes:
    """Run pandoc on some content and return what it makes of it.

    Raises:
        NotConfigured: there is no pandoc on this machine.
        EntrezKitError: it failed, or took too long.
    """
    try:
        done = subprocess.run(
            [str(program()), "--sandbox", *arguments],
            input=content,
            capture_output=True,
            env=None if sys.platform == "win32" else {},  # nothing of ours concerns it, keys least of all
            timeout=TIMEOUT_S,
            check=False,
        )
    except OSError as exc:
        raise NotConfigured(
            f"The citation processor cannot be run: {exc.strerror or type(exc).__name__}.",
            recovery_hint=f"Run: {install_line('cite')}",
            details={"reason": "no_citation_processor"},
        ) from None
    except subprocess.TimeoutExpired:
        raise _failed(f"gave no answer in {TIMEOUT_S} s") from None
    if done.returncode != 0:
        raise _failed(done.stderr.decode("utf-8", "replace").strip()[:500] or f"status {done.returncode}")
    return done.stdout


@lru_cache(maxsize=1)
def program() -> Path:
    """Return the pandoc that was installed with this package, else one in the PATH.

    Raises:
        NotConfigured: there is none.
    """
    import shutil
    from importlib.util import find_spec

    wheel = find_spec("pypandoc")
    for folder in wheel.submodule_search_locations or () if wheel is not None else ():
        for name in ("pandoc", "pandoc.exe"):
            bundled = Path(folder) / "files" / name
            if bundled.is_file():
                return bundled
    found = shutil.which("pandoc")
    if not found:
        raise missing_extra("cite", "A citation in a style, or a document for a word processor,")
    return Path(found)


def _failed(why: str) -> EntrezKitError:
    return EntrezKitError(f"The citation processor failed: {why}", details={"reason": "citation_processor"})


def document_of_markdown(text: str, form: str, title: str, name: str = "entrez-kit") -> bytes:
    """Return Markdown as a page or a Word document that stands alone and loads nothing.

    Args:
        text: CommonMark with tables; raw HTML in it and pictures are left out, links other than to the web, too.
        form: html or docx.
        title: what the window or the document is called; "" for its first heading.
        name: what it is called where it has none.

    Raises:
        NotConfigured: there is no pandoc on this machine.
    """
    tree = json.loads(run_pandoc(("--from=commonmark+pipe_tables", "--to=json"), text.encode("utf-8", "replace")))
    tree["blocks"] = _harmless(tree["blocks"])
    headings = [(block["c"][0], _words(block["c"][2])) for block in tree["blocks"] if block["t"] == "Header"]
    first, *others = [words for rank, words in headings if rank == min(headings)[0]] or [name]
    title = " ".join(title.split()) or (f"{first.rstrip('.')} and {len(others)} more" if others else first)
    arguments = ["--from=json", f"--to={form}", "--standalone", f"--metadata=pagetitle:{title}"]
    content = run_pandoc([*arguments, "--output=-"], json.dumps(tree).encode())
    return content.replace(b"</head>", _BANNERS + b"\n</head>", 1) if form == "html" else content


def _words(node: Any) -> str:
    """Return the text of a heading without its markup."""
    if isinstance(node, list):
        return "".join(map(_words, node))
    if not isinstance(node, dict):
        return ""
    kind, inside = node.get("t"), node.get("c")
    return " " if kind in ("Space", "SoftBreak") else str(inside) if kind == "Str" else _words(inside)


def _harmless(node: Any) -> Any:
    """Leave out of a document whatever could run or be loaded."""
    if isinstance(node, list):
        return [_harmless(one) for one in node if not (isinstance(one, dict) and one.get("t") in _NOT_TEXT)]
    if not isinstance(node, dict):
        return node
    if node.get("t") == "Link" and not node["c"][2][0].startswith(("https://", "http://")):
        return {"t": "Span", "c": [node["c"][0], _harmless(node["c"][1])]}
    return {name: _harmless(value) for name, value in node.items()}


_NOT_TEXT: Final = frozenset(("RawInline", "RawBlock", "Image"))
