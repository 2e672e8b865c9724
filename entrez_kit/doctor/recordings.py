"""Save the replies of ``doctor --deep`` in a folder for tests, without credentials and addresses of the user."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from entrez_kit.base import __version__
from entrez_kit.base.errors import InvalidInput, StoreError, describe_os_error
from entrez_kit.base.frontend_text import cut_end
from entrez_kit.base.private_files import refuse_foreign_links
from entrez_kit.base.redaction import HIDDEN, Redactor
from entrez_kit.base.settings import Settings
from entrez_kit.doctor.comparison import Compared, Exchange
from entrez_kit.services.transport import get_base_url

LIST: Final = "SOURCES.md"
ERRORS: Final = "errors"
"""The folder of error replies."""

_NETWORK_ADDRESS: Final = re.compile(
    rb"(?<![\w.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w.])|(?<![\w:])(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}(?![\w:])", re.I
)
"""NCBI's error for too many requests contains the network address of the user."""
_SUFFIXES: Final = {b"<": "xml", b"{": "json", b"[": "json"}


def check_folder(folder: Path) -> None:
    """Check before the first request that replies can be saved in a folder; create it if it is missing.

    Raises:
        InvalidInput: it is a file, or not empty.
        StoreError: it cannot be created or read.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        entry = next(folder.iterdir(), None)
    except FileExistsError:
        entry = folder
    except OSError as exc:
        raise StoreError(
            f"{folder} cannot be used: {describe_os_error(exc)}",
            recovery_hint="Name another folder.",
            details={"reason": "cannot_write"},
        ) from None
    if entry is not None:
        raise InvalidInput(
            f"--save {folder} is not an empty folder.",
            invalid_input=f"save={folder}",
            recovery_hint="Name a folder that is empty or does not exist yet.",
            details={"reason": "folder_in_use"},
        )


def save_replies(folder: Path, compared: Sequence[Compared], settings: Settings) -> None:
    """Write each reply to a separate file in a folder, unchanged except for redaction, and a list of the files.

    The tests read the folder if ``ENTREZ_KIT_REAL_DATA`` names it.

    Raises:
        StoreError: the folder cannot be written.
    """
    redactor = Redactor(settings.secrets)
    rows = [
        f"# Replies of {datetime.now(UTC):%Y-%m-%d}",
        "",
        f"Saved by `entrez-kit doctor --deep --save` of version {__version__}. The replies are unchanged, except that",
        "keys and e-mail addresses of the user, and network addresses in error replies, are hidden.",
        "",
        "| file | request | HTTP | verdict | bytes | sha256 |",
        "|---|---|---|---|---|---|",
    ]
    try:
        for result in compared:
            for number, (place, exchange) in enumerate(_select_replies(result)):
                body = redactor.redact_body(exchange.incoming.body)
                if place == ERRORS:
                    body = _NETWORK_ADDRESS.sub(
                        HIDDEN.encode(), redactor.redact_text(body.decode("latin-1")).encode("latin-1")
                    )
                slug = re.sub(r"[^a-z0-9]+", "-", result.comparison.label.lower()).strip("-")
                stem = f"entrez-kit__{slug}-{number}" if number else f"entrez-kit__{slug}"
                name = f"{place}/{stem}.{_SUFFIXES.get(body.lstrip()[:1], 'txt')}"
                (folder / place).mkdir(parents=True, exist_ok=True)
                refuse_foreign_links(folder / name)
                (folder / name).write_bytes(body)
                result.comparison.file = name
                call = exchange.call
                address = call.url.removeprefix(
                    get_base_url(settings, call.service)
                )  # the host may be the user's mirror
                request = redactor.redact_text(f"{call.method} {call.service}:{address or '/'}?{call.query}")
                request_text = cut_end(request, 300)
                digest = hashlib.sha256(body).hexdigest()
                verdict = result.comparison.verdict
                rows.append(
                    f"| {name} | {request_text.replace('|', '%7C')} | {exchange.incoming.status} | {verdict} |"
                    f" {len(body)} | {digest} |"
                )
        refuse_foreign_links(folder / LIST)
        (folder / LIST).write_text("\n".join(rows) + "\n", encoding="utf-8")
    except OSError as exc:
        raise StoreError(
            f"{folder} cannot be written: {describe_os_error(exc)}",
            recovery_hint="Name another folder.",
            details={"reason": "cannot_write"},
        ) from None


def _select_replies(result: Compared) -> Iterator[tuple[str, Exchange]]:
    """Yield the last reply to each request of a probe, with its folder."""
    last = {(exchange.call.endpoint, exchange.call.query): exchange for exchange in result.exchanges}
    for exchange in last.values():
        answered = exchange.incoming.status == 200 and exchange.incoming.body.strip()
        final = exchange is result.exchanges[-1]
        refused = final and (result.comparison.verdict == "failed" or result.refused)
        if not answered or refused:
            yield ERRORS, exchange
        else:
            yield (result.probe.folder if final else FOLDERS.get(exchange.call.endpoint, result.probe.folder)), exchange


FOLDERS: Final = {"esearch": "esearch", "list": "pmc_oa", "record": "pmc_oa_records", "search": "europepmc"}
"""The folders of intermediate requests of a probe."""
