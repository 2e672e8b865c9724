"""entrez-kit guide: short texts about using the program."""

from typing import TYPE_CHECKING, Annotated

import typer

from entrez_kit.guides import read_guide, topics

from ._formats import show_with
from ._pipeline import accepts, print_text

if TYPE_CHECKING:
    from rich.console import RenderableType


def _complete_topic(incomplete: str) -> list[str]:
    return [guide.topic for guide in topics() if guide.topic.startswith(incomplete)]


@accepts("table", "md", "json")
def command(
    ctx: typer.Context,
    topic: Annotated[
        str | None,
        typer.Argument(
            metavar="[TOPIC]",
            help="What to read about; without it the topics are listed.",
            autocompletion=_complete_topic,
        ),
    ] = None,
) -> None:
    """Read about exit codes, settings, formats and other subjects.

    A terminal shows the text rendered, a pipe gets it as Markdown, --json gives topic, title and text:

    entrez-kit guide exit-codes
    """
    if topic is None:
        _list(ctx)
        return
    guide = read_guide(topic)

    document = {"topic": guide.topic, "title": guide.title, "text": guide.text}
    page = show_with("reading.markdown_page")
    print_text(ctx, document, guide.text, lambda: page(guide.text))


def _list(ctx: typer.Context) -> None:
    guides = topics()
    document = [{"topic": guide.topic, "title": guide.title, "summary": guide.summary} for guide in guides]
    text = "\n".join(f"- `{guide.topic}`: {guide.summary}" for guide in guides)

    def table() -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        from ._views.tables import facts

        listed = facts(((guide.topic, guide.summary) for guide in guides), "bold cyan")
        return Group(listed, Text("\nentrez-kit guide TOPIC shows one.", style="dim"))

    print_text(ctx, document, f"# Guides\n\n{text}\n", table)
