"""A progress bar on stderr, for long work and for people only."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ._state import State

Advance = Callable[[int, int], None]
"""Called with how much is done and how much there is (0 where that is not known yet)."""


def _nothing(done: int, total: int) -> None:
    """Show nothing."""


@contextmanager
def progress(state: State, label: str, *, total: int = 0, shared: bool = False) -> Iterator[Advance]:
    """Show how far long work is; yields the function to tell it.

    Args:
        state: says whether somebody is watching.
        label: what is being done.
        total: how much there is, where it is known.
        shared: whether the data goes to the same terminal at the same time; then there is no bar.
    """
    if not state.stderr_is_terminal or state.quiet or shared:
        yield _nothing
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from ._console import error_console

    console = error_console(state.color)
    if console.is_dumb_terminal:  # it could only print line after line
        yield _nothing
        return
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with bar:
        task = bar.add_task(label, total=total or None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)
