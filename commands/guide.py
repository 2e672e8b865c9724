"""entrez-kit guide: short guides to the program."""

from dataclasses import asdict
from typing import Annotated

import typer

from entrez_kit.base.errors import EntityNotFound
from entrez_kit.base.output_formats import Family
from entrez_kit.guides import Guide, list_guides, normalize_topic, read_guide, search_guides

from . import _views
from ._emit import emit
from ._options import App
from ._pipeline import note
from ._state import accept_formats

app = App()


@app.command("guide")
@accept_formats(Family.SCREEN, Family.PAGES, Family.DOCUMENT, pipe=Family.PAGES)
def guide_command(
    ctx: typer.Context,
    topic: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOPIC",
            help="Name of a guide, or a subject such as retractions. Without it the guides are listed.",
            autocompletion=lambda incomplete: [
                guide.topic for guide in list_guides() if guide.topic.startswith(incomplete)
            ],
        ),
    ] = None,
    search: Annotated[
        str | None,
        typer.Option("--search", metavar="WORD", help="Find lines with a word or phrase, in all guides or in TOPIC."),
    ] = None,
) -> None:
    """Read about exit codes, settings, formats and other subjects.

    A terminal shows rendered text. A pipe gets Markdown. --json returns topic, title and text.
    entrez-kit guide exit codes
    entrez-kit guide --search retry
    """
    name = " ".join(topic or ())
    guide = read_guide(name) if topic else None
    if guide and not guide.topic.startswith(normalize_topic(name)):
        heading = guide.find_heading(name)
        note(ctx, f"{name!r} is in the guide `{guide.topic}`{f', under {heading!r}' if heading else ''}.")
    if search is not None:
        _search(ctx, search, [guide] if guide else list_guides())
    elif guide is None:
        _list(ctx)
    else:
        document = {"topic": guide.topic, "title": guide.title, "text": guide.text}
        text = guide.text
        emit(ctx, document, lambda: _views.reading.render_markdown_page(text), text=text)


def _search(ctx: typer.Context, phrase: str, guides: list[Guide]) -> None:
    matches = list(search_guides(phrase, guides))
    if not matches:
        searched = "the guides" if len(guides) > 1 else f"the guide {guides[0].topic}"
        raise EntityNotFound(
            f"{phrase!r} is not in {searched}.",
            invalid_input=phrase,
            recovery_hint="Try another word. `entrez-kit guide` lists the guides.",
            details={"reason": "phrase_not_found"},
        )

    text = "\n".join(f"{match.topic}:{match.line}: {match.text}" for match in matches)
    lines = [(f"{match.topic}:{match.line}", match.text) for match in matches]
    emit(
        ctx,
        [asdict(match) for match in matches],
        lambda: _views.tables.build_fact_list(lines, "bold cyan"),
        text=text,
    )


def _list(ctx: typer.Context) -> None:
    guides = list_guides()
    document = [{"topic": guide.topic, "title": guide.title, "summary": guide.summary} for guide in guides]
    text = "\n".join(f"- `{guide.topic}`: {guide.summary}" for guide in guides)

    emit(ctx, document, lambda: _views.program.render_guides(document), text=f"# Guides\n\n{text}\n")
