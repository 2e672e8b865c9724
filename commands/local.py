"""`entrez-kit local`: copies of PubMed on this computer."""

import sys
import threading
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entrez_kit.base.errors import Exit, InvalidInput
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.output_formats import Family
from entrez_kit.base.settings import BY_NAME

from . import Ended, _views
from ._emit import emit
from ._options import App
from ._pipeline import get_state, note
from ._report import report_error, watching
from ._state import accept_formats, is_terminal, usage_error

if TYPE_CHECKING:
    from entrez_kit.local.copies import CopyInfo
    from entrez_kit.local.importing import CopyImportResult
    from entrez_kit.local.plan_import import ImportPlan
    from entrez_kit.services.transport.download.files import FileServer

app = App(
    help="Keep a copy of PubMed, or of a part of it, and search it without sending a request.\n\n"
    "`entrez-kit guide local` explains sources, updates and sizes.",
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the copy.")]
ROWS = (Family.SCREEN, Family.DOCUMENT, Family.ROWS)


@app.command("import")
def import_command(
    ctx: typer.Context,
    name: Name,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE|DIR",  # typer adds the dots
            help="PubMed baseline and update files, XML from EFetch, jsonl and nbib files, MeSH files, NLM's list of "
            "journals; compressed or not.",
        ),
    ],
) -> None:
    """Import files into a copy; create the copy if it does not exist. Files that were applied before are skipped.

    After an interrupt, run the command again to continue. If a .md5 file is in the same folder, its checksum is
    compared.
    entrez-kit local import pubmed baseline/ updatefiles/ desc2026.gz
    """
    from entrez_kit.local.importing import import_files

    settings = get_state(ctx).settings
    with watching(get_state(ctx), f"Importing into {name}"):
        result = import_files(settings, name, paths, report_plan=partial(_report_plan, ctx))
    _emit_import(ctx, result)


def _report_plan(ctx: typer.Context, plan: "ImportPlan") -> None:
    from entrez_kit.doctor.local import size

    minutes = plan.estimated_seconds / 60
    time = "less than a minute" if minutes < 1 else f"about {format_count(round(minutes), 'minute')}"
    note(
        ctx,
        f"{format_count(plan.files, 'file')} ({size(plan.bytes)}): {time}, about {size(plan.estimated_bytes)} on disk "
        f"({size(plan.free_bytes)} free).",
    )


def _emit_import(ctx: typer.Context, result: "CopyImportResult") -> None:
    emit(ctx, result, lambda: _views.local.render_import(result))
    if result.failed:
        missing = [failure.file for failure in result.failed]
        first = result.failed[0].message
        files = format_count(len(missing), "file")
        error = InvalidInput(
            first if len(missing) == 1 else f"{files} could not be imported. The first: {first}",
            invalid_input=missing[0],
            recovery_hint="Correct these files or download them again, and repeat the command: it skips the others.",
            details={"reason": result.failed[0].reason, "partial": True, "missing": missing},
        )
        report_error(get_state(ctx), error)
        raise typer.Exit(int(Exit.PARTIAL))


@app.command("mirror")
def mirror_command(
    ctx: typer.Context,
    name: Name,
    topic: Annotated[
        str | None,
        typer.Option("--topic", metavar="QUERY", help="Keep only records that match a query.", show_default=False),
    ] = None,
    year: Annotated[
        int | None,
        typer.Option(
            "--from",
            metavar="YEAR",
            min=1700,
            max=2200,
            help="Keep only records published in a year or later.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Download NLM's baseline and update files into a copy: about 65 GB for all of PubMed.

    After an interrupt, run the command again: it continues with the next file.
    entrez-kit local mirror stroke --topic "stroke\\[mh] OR stroke\\[tiab]"
    """
    from entrez_kit.local.mirror import mirror_files

    if topic is not None and year is not None:
        raise usage_error(
            "--topic cannot be used with --from.",
            f"from={year}",
            f"Omit --from, and add `AND {year}:3000[dp]` to the query.",
        )
    query = f"{year}:3000[dp]" if year is not None else topic
    settings = get_state(ctx).settings
    with watching(get_state(ctx), f"Mirroring {name}"):
        result = mirror_files(settings, name, _open_server(ctx), topic=query, report_plan=partial(_report_plan, ctx))
    _emit_import(ctx, result)


@app.command("update")
def update_command(ctx: typer.Context, name: Name) -> None:
    """Download and apply the files that NLM has published since the last mirror or import.

    entrez-kit local update pubmed
    """
    from entrez_kit.local.mirror import update_copy

    with watching(get_state(ctx), f"Updating {name}"):
        result = update_copy(get_state(ctx).settings, name, _open_server(ctx), report_plan=partial(_report_plan, ctx))
    _emit_import(ctx, result)


def _open_server(ctx: typer.Context) -> "FileServer":
    from entrez_kit.services.transport.download.files import FileServer

    settings = get_state(ctx).settings
    if settings.demo:
        hint = "Omit --demo, and unset ENTREZ_KIT_DEMO and the setting demo, which have the same effect."
        raise usage_error("The demo has no files to download.", "demo", hint)
    return FileServer(settings, settings.pubmed_files_url, "ENTREZ_KIT_PUBMED_FILES_URL")


@app.command("list")
@accept_formats(*ROWS)
def list_command(ctx: typer.Context) -> None:
    """List the copies with their records, dates and sizes.

    entrez-kit local list
    """
    from entrez_kit.base.errors import StoreError
    from entrez_kit.local.copies import list_copies, open_copy

    copies: list[CopyInfo] = []
    for name in list_copies(get_state(ctx).settings):
        try:
            copy = open_copy(get_state(ctx).settings, name)
            try:
                copies.append(copy.info)
            finally:
                copy.close()
        except StoreError as exc:
            get_state(ctx).warn(exc.message)
    emit(ctx, {"copies": copies}, lambda: _views.local.render_copies(copies), records=copies)


@app.command("show")
def show_command(ctx: typer.Context, name: Name) -> None:
    """Show what a copy contains: records, newest entry date, files, MeSH year, size and hash.

    entrez-kit local show pubmed
    """
    from entrez_kit.local.copies import open_copy

    copy = open_copy(get_state(ctx).settings, name)
    try:
        info = copy.info
    finally:
        copy.close()
    emit(ctx, info, lambda: _views.local.render_copy(info))


@app.command("verify")
def verify_command(
    ctx: typer.Context,
    name: Name,
    full: Annotated[bool, typer.Option("--full", help="Check all records instead of a sample of 1,000.")] = False,
) -> None:
    """Check a copy: its tables, the checksums of its records, and its index. The exit status is 4 if it has problems.

    entrez-kit local verify pubmed --full
    """
    from entrez_kit.local.verifying import verify_copy

    with watching(get_state(ctx), f"Verifying {name}"):
        result = verify_copy(get_state(ctx).settings, name, full=full)
    emit(ctx, result, lambda: _views.local.render_verification(result))
    if not result.ok:
        raise typer.Exit(int(Exit.PARTIAL))


@app.command("remove")
def remove_command(
    ctx: typer.Context,
    name: Name,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Do not ask for confirmation. Without a terminal, the command never asks."),
    ] = False,
) -> None:
    """Remove a copy.

    entrez-kit local remove pubmed --yes
    """
    from entrez_kit.local.copies import find_folder, remove_copy

    settings = get_state(ctx).settings
    folder = find_folder(settings, name)
    ask = not yes and is_terminal(sys.stdin) and is_terminal(sys.stderr)
    if ask and not typer.confirm(f"Remove the copy {name} from {folder}?", err=True):
        note(ctx, "Nothing was removed.")
        raise typer.Abort
    info = remove_copy(settings, name)
    document: dict[str, Any] = {"name": name, "path": str(folder), "removed": True}
    if info is not None:
        document |= {"records": info.records, "freed_bytes": info.size_bytes}
    emit(ctx, document, lambda: f"Removed {name}.")


@app.command("serve")
def serve_command(
    ctx: typer.Context,
    name: Name,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65_535, help="Port to listen on; 0 selects a free one.")
    ] = 0,
) -> None:
    """Serve a copy to other programs on this computer, with the addresses and replies of the E-utilities.

    Ctrl-C stops the server. Programs such as EDirect send their requests to the printed address; `entrez-kit guide
    local` shows how.
    entrez-kit local serve pubmed --port 8766
    """
    from entrez_kit.local.copy_entrez import describe_copy, serve_copy
    from entrez_kit.local.open_local import open_local

    with closing(open_local(get_state(ctx).settings, name)) as copy:
        listener = serve_copy(copy, port)
        url = f"http://127.0.0.1:{listener.server_port}"
        eutils = f"{url}/entrez/eutils"
        variables = {BY_NAME["eutils_url"].variable: eutils, BY_NAME["idconv_url"].variable: f"{url}/idconv"}
        document = {"url": url, "copy": name, "date": copy.date, "hash": copy.hash, "environment": variables}

        try:
            emit(ctx, document, lambda: _views.program.render_variables(variables))
            note(ctx, f"The copy {describe_copy(copy)} answers at {eutils}. Ctrl-C stops it.")
            threading.Event().wait()
        except (Ended, KeyboardInterrupt):  # the normal end of a server
            note(ctx, "Ended.")
        finally:
            listener.end()
