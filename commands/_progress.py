"""A progress bar on stderr, for long work and for people only."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from entrez_kit.tracing import Watch, watched

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


@contextmanager
def watching(
    state: State, label: str, least: int = 0, begin: Callable[[int], None] | None = None
) -> Iterator[Callable[[], None]]:
    """Show how far a call is that tells it by ``tracing.step``; yields what ends the bar before data goes to its place.

    Args:
        state: says whether somebody is watching.
        label: what is being done, until ``tracing.stage`` says otherwise.
        least: there is no bar where no more than this is to be done.
        begin: called with how much there is to do, as soon as that is known.
    """
    with ExitStack() as stack:
        now, most, ended = label, 0, False
        shown: Advance | None = None

        def advance(done: int, total: int | None) -> None:
            nonlocal most, shown
            if ended or (total is not None and total <= least) or (total or 0) < most:  # a part of something larger
                return
            if begin is not None and not most and total:
                begin(total)
            most = total or 0
            if shown is None:
                shown = stack.enter_context(progress(state, now, total=most))
            shown(done, most)

        def next_stage(label: str) -> None:
            nonlocal now, most, shown
            stack.close()
            now, most, shown = label, 0, None

        def end() -> None:
            nonlocal ended
            stack.close()
            ended = True

        with watched(Watch(wanted=lambda: True, progress=advance, stage=next_stage)):
            yield end
