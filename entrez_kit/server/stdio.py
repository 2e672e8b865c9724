"""The stdio transport: one client, at the other end of standard input and output. Nothing but protocol gets out."""

import json
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, cast

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from mcp_types.jsonrpc import jsonrpc_message_adapter

from entrez_kit.server.ending import Ending

logger = logging.getLogger("entrez_kit.server")

CHUNK: Final = 65_536
MAX_LINE: Final = 16_000_000
"""No message is that long; the rest of such a line is skipped, and the client told that it made no sense."""


@dataclass(frozen=True, slots=True)
class _Wire:
    """Where messages come from and where they go."""

    read: Callable[[], bytes]
    output: BinaryIO


@contextmanager
def _wire() -> Iterator[_Wire]:
    """Take standard input and output for the protocol alone.

    Until the process ends, descriptor 0 is empty and descriptor 1 is stderr, and so is ``sys.stdout``: what a library
    prints, even on its way out, never reaches the client. Where the standard streams are no files (in a test), they are
    used as they are.
    """
    try:
        standard = (sys.stdin.fileno(), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        standard = (-1, -1)
    if standard != (0, 1):
        printed, sys.stdout = sys.stdout, sys.stderr
        try:
            yield _Wire(sys.stdin.buffer.readline, printed.buffer)
        finally:
            sys.stdout = printed
        return
    sys.stdout.flush()
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    # The descriptors are never closed: a thread may still read when the server is done.
    yield _Wire(lambda: os.read(source, CHUNK), os.fdopen(target, "wb", closefd=False))


class _Lines:
    """Lines of standard input, read in a thread that nobody has to wait for.

    A blocked read cannot be cancelled; a thread of anyio's would keep the server from ending on a signal.
    """

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read
        self.refuse: Callable[[JSONRPCError], Awaitable[None]] | None = None
        """Sends the answer to a line that is no message; the SDK leaves those without one."""

    async def __aiter__(self) -> AsyncIterator[str]:
        send, receive = anyio.create_memory_object_stream[str](0)
        token = anyio.lowlevel.current_token()

        def pump() -> None:
            with suppress(RuntimeError, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
                for line in _split(self._read):
                    anyio.from_thread.run(send.send, line, token=token)
            with suppress(RuntimeError):
                anyio.from_thread.run_sync(send.close, token=token)

        threading.Thread(target=pump, name="entrez-kit stdin", daemon=True).start()
        async with receive:
            async for line in receive:
                error = refusal_of(line)
                if error is None:
                    yield line
                elif self.refuse is not None:
                    await self.refuse(error)


def refusal_of(line: str) -> JSONRPCError | None:
    """Return the answer JSON-RPC wants for a line that is no message; None for messages and empty lines."""
    if not line.strip():
        return None
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except (ValueError, RecursionError):
        pass
    else:
        return None
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=PARSE_ERROR, message="This is no JSON."))
    number = document.get("id") if isinstance(document, dict) else None
    known: str | int | None = number if isinstance(number, int) and not isinstance(number, bool) else None
    if isinstance(number, str) and number.isprintable():  # half a character cannot be sent back
        known = number
    what = "Send one message a line; batches are not taken." if isinstance(document, list) else _WANTED
    return JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=INVALID_REQUEST, message=what))


_WANTED: Final = 'This is no message: it needs "jsonrpc": "2.0", a method, an id of a text or a number, and params.'


def _split(read: Callable[[], bytes]) -> Iterator[str]:
    """Yield the lines of a stream; the end of one that is too long is left out."""
    held = bytearray()
    while chunk := read():
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            yield (bytes(held) + line).decode("utf-8", "replace")
            held.clear()
        held += rest[: MAX_LINE - len(held)]
    if held:
        yield bytes(held).decode("utf-8", "replace")


class _Messages:
    """Standard output, to which a message goes in one step in a thread; a reader may be slow."""

    def __init__(self, output: BinaryIO) -> None:
        self._output = output

    async def write(self, text: str) -> None:
        await anyio.to_thread.run_sync(self._write, text.encode("utf-8"))

    def _write(self, data: bytes) -> None:
        self._output.write(data)
        self._output.flush()

    async def flush(self) -> None:
        """Do nothing: what is written is out."""


async def serve_stdio(server: Server[Any], ending: Ending) -> None:
    """Serve the client at the other end of the standard streams until it leaves or a signal comes."""
    with _wire() as wire:
        output = cast("anyio.AsyncFile[str]", _Messages(wire.output))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ending.watch, tasks.cancel_scope.cancel)
            # Only "async for" is done with the input; its type asks for a file.
            lines = _Lines(wire.read)
            async with stdio_server(cast("anyio.AsyncFile[str]", lines), output) as (incoming, outgoing):

                async def refuse(error: JSONRPCError) -> None:
                    logger.info("message refused: %s", error.error.message, extra={"rpc_code": error.error.code})
                    await outgoing.send(SessionMessage(error))

                lines.refuse = refuse
                try:
                    await server.run(incoming, outgoing, server.create_initialization_options())
                finally:
                    ending.begin("the client has left")
            tasks.cancel_scope.cancel()
