"""entrez-kit cache: see, clear or prune the replies kept on this computer."""

import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from entrez_kit.base.errors import StoreError, describe_os_error
from entrez_kit.base.frontend_text import format_count

from . import _views
from ._emit import emit
from ._options import App
from ._pipeline import get_state, note
from ._state import is_terminal

if TYPE_CHECKING:
    from entrez_kit.base.settings import Settings
    from entrez_kit.services.transport.cache import CacheInfo

Answer = TypeVar("Answer")

app = App(
    help="See, clear or prune the cached replies.\n\n"
    "Replies of the services are cached for hours or days, so that a repeated command sends no request. "
    "`entrez-kit guide cache` lists the times. With --demo, this is the cache of the demo.",
)


@app.command("info")
def info_command(ctx: typer.Context) -> None:
    """Show the path and content of the cache, and the state of the shared rate limit.

    entrez-kit cache info --json
    """
    from entrez_kit.services.transport.cache import cache_info

    settings = get_state(ctx).settings
    info = _call(cache_info, settings)
    limit = _limit(settings)
    document: dict[str, Any] = {
        **asdict(info),
        "path": str(info.path),
        "oldest_expiry": _format_time(info.oldest_expiry),
        "newest_expiry": _format_time(info.newest_expiry),
        "rate_limit": limit,
    }
    emit(ctx, document, lambda: _views.program.render_cache(document))
    if info.problem:
        raise StoreError(
            f"The cache {info.path} cannot be read: {info.problem}",
            recovery_hint="`entrez-kit cache clear` removes it. Later commands then fetch the replies again.",
            details={"reason": "cache_not_readable", "path": str(info.path)},
        )


@app.command("clear")
def clear_command(
    ctx: typer.Context,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Do not ask for confirmation. Without a terminal, the command never asks."),
    ] = False,
) -> None:
    """Remove every cached reply.

    entrez-kit cache clear --yes
    """
    from entrez_kit.services.transport.cache import cache_info
    from entrez_kit.services.transport.cached_session import clear as remove_all

    settings = get_state(ctx).settings
    before = _call(cache_info, settings)
    ask = not yes and before.exists and is_terminal(sys.stdin) and is_terminal(sys.stderr)
    replies = format_count(before.entries, "cached reply", "cached replies")
    if ask and not typer.confirm(f"Remove {replies} from {before.path}?", err=True):
        note(ctx, "Nothing was removed.")
        raise typer.Abort
    removed = _call(remove_all, settings)
    _report(ctx, before, removed, _call(cache_info, settings))


@app.command("prune")
def prune_command(ctx: typer.Context) -> None:
    """Remove expired replies and free their disk space.

    entrez-kit cache prune
    """
    from entrez_kit.services.transport.cache import cache_info
    from entrez_kit.services.transport.cached_session import prune as remove_expired

    settings = get_state(ctx).settings
    before = _call(cache_info, settings)
    removed = _call(remove_expired, settings)
    _report(ctx, before, removed, _call(cache_info, settings))


def _call(function: "Callable[[Settings], Answer]", settings: "Settings") -> "Answer":
    """Call a function of the cache; convert an error about its folder."""
    try:
        return function(settings)
    except OSError as exc:
        problem = f"The cache folder {settings.cache_dir} cannot be used: {describe_os_error(exc)}"
    raise StoreError(problem, details={"reason": "cache_not_usable", "path": str(settings.cache_dir)})


def _report(ctx: typer.Context, before: "CacheInfo", removed: int, after: "CacheInfo") -> None:
    """Print the number of removed and remaining replies."""
    freed = max(before.size_bytes - after.size_bytes, 0)
    document = {
        "path": str(after.path),
        "removed": removed,
        "freed_bytes": freed,
        "entries": after.entries,
        "size_bytes": after.size_bytes,
    }

    def build_line() -> str:
        from entrez_kit.doctor.local import size

        replies = format_count(removed, "cached reply", "cached replies")
        left = format_count(after.entries, "cached reply remains", "cached replies remain")
        return f"Removed {replies} and freed {size(freed)}; {left}."

    emit(ctx, document, build_line)


def _limit(settings: "Settings") -> dict[str, Any]:
    from entrez_kit.doctor.local import read_shared_limit

    limit = read_shared_limit(settings)
    return {
        "file": str(limit.file),
        "per_second": limit.per_second,
        "shared": limit.problem is None,
        "problem": limit.problem,
        "wait_seconds": round(limit.wait_seconds, 1),
    }


def _format_time(seconds: int | None) -> str | None:
    """Return a Unix time as ISO 8601 in UTC; None if it is out of range."""
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return None
