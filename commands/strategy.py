"""`entrez-kit strategy`: translate the search strategy of a review to PubMed, and count its lines."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from entrez_kit.strategies.models import StrategyResult
from entrez_kit.strategies.read_files import FILES, read_file
from entrez_kit.strategies.translate_strategy import TRANSLATE_STRATEGY

from ._formats.fields import Record, columns_at
from ._input import read_content
from ._options import option, request_options
from ._pipeline import Family, View, build_request, formats, run
from ._views.strategies import list_rows, strategy_page

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

app = typer.Typer(help="Search strategies: translate them to PubMed line by line, and count each line.")

FORMATS: Final = (Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.PAGES)
COLUMNS: Final = columns_at(
    "number", "kind", "dialect", "original", "pubmed", "label", "loss", "depends_on", "count", "warnings"
)
StrategyFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The strategy (.txt, .md, .docx), or - for standard input.")
]
WordFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--words",
        metavar="FILE",
        help="Words from which the variants of truncated words are listed. A text file; may be repeated.",
    ),
]
TRANSLATION: Final = (
    option("dialect", metavar="SERVICE"),
    option("proximity", metavar="near|and"),
)


def _render_strategy_table(result: StrategyResult, console: "Console") -> "RenderableType":
    from ._views.strategies import strategy_table

    return strategy_table(result, console)


def _page(record: Record) -> str:
    return strategy_page(record)


def _view() -> View[StrategyResult]:
    return View(
        table=_render_strategy_table, columns=COLUMNS, rows=list_rows, page=_page, between="", title="Search strategy"
    )


def read_strategy_options(file: Path, words: list[Path] | None) -> dict[str, Any]:
    """Return the text of a strategy and the texts of its word lists."""
    options: dict[str, Any] = {"strategy": read_file(read_content(file, hint=FILES), str(file))}
    if words:
        options["words"] = [read_file(read_content(one, hint=FILES), str(one)) for one in words]
        options["words_name"] = ", ".join(one.name for one in words)
    return options


@app.command("translate")
@formats(*FORMATS)
@request_options(TRANSLATE_STRATEGY, *TRANSLATION)
def translate(ctx: typer.Context, options: dict[str, Any], file: StrategyFile, words: WordFiles = None) -> None:
    """Translate a strategy to PubMed, with the loss of every line in words. No request is sent.

    As printed in a paper: entrez-kit strategy translate ovid.txt
    For an appendix: entrez-kit strategy translate ovid.docx -o strategy.docx
    """
    options |= read_strategy_options(file, words)
    run(ctx, TRANSLATE_STRATEGY, build_request(ctx, TRANSLATE_STRATEGY, options), _view())


@app.command("count")
@formats(*FORMATS)
@request_options(TRANSLATE_STRATEGY, *TRANSLATION)
def count(ctx: typer.Context, options: dict[str, Any], file: StrategyFile, words: WordFiles = None) -> None:
    """Translate a strategy and count the records of each line in PubMed.

    A line that was refused has no count, and neither has a line that depends on it:
    entrez-kit strategy count ovid.txt
    """
    options |= {**read_strategy_options(file, words), "count": True}
    run(ctx, TRANSLATE_STRATEGY, build_request(ctx, TRANSLATE_STRATEGY, options), _view(), label="Counting")
