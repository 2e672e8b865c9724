"""The stdio transport: one client over standard input and output; stdout carries only the protocol.

After the end of the input, all requests that were read are answered: a pipe may end its input at once.
"""

import json
import logging
import os
import select
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, Final, cast

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError

from entrez_kit.server.malformed import build_refusal, check_message
from entrez_kit.server.shutdown import Shutdown

logger = logging.getLogger("entrez_kit.server")

CHUNK: Final = 65_536
MAX_LINE: Final = 16_000_000
"""The limit of a message in bytes. A longer line is refused at once, and its rest is skipped."""
MAX_SILENCE: Final = 600.0
"""Seconds without an answer after the end of the input, after which the other requests get none."""
CHECK_SECONDS: Final = 0.05
TOO_LONG: Final = build_refusal(f"A message may have at most {MAX_LINE:,} bytes.")


@contextmanager
def _reserve_streams() -> Iterator[tuple[Callable[[], bytes], BinaryIO]]:
    """Reserve standard input and output for the protocol; yield a function that reads input, and the output.

    Until the process ends, descriptor 0 is empty, and descriptor 1 and ``sys.stdout`` are stderr: output of a library,
    even at exit, never reaches the client. If the standard streams are not files (in a test), they are used directly.
    """
    try:
        standard = (sys.stdin.fileno(), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        standard = (-1, -1)
    if standard != (0, 1):
        printed, sys.stdout = sys.stdout, sys.stderr
        try:
            yield lambda: sys.stdin.buffer.readline(CHUNK), printed.buffer
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
    # The descriptors are never closed: a thread may still read when the server ends.
    yield lambda: os.read(source, CHUNK), os.fdopen(target, "wb", closefd=False)


class _Pending:
    """The requests that were read and not answered yet, by id."""

    def __init__(self, output: BinaryIO) -> None:
        self._output = output
        self._ids: Counter[str | int] = Counter()
        self._answers = 0

    def add(self, message: dict[str, Any]) -> None:
        """Count a message of the client: a request gets an answer, unless the client cancels it."""
        if "id" in message and "method" in message:
            self._ids[message["id"]] += 1
        elif message.get("method") == "notifications/cancelled":
            number = (message.get("params") or {}).get("requestId")
            if isinstance(number, str | int):
                self._ids.pop(number, None)

    def remove(self, message: dict[str, Any]) -> None:
        """Count a message to the client, which may be an answer."""
        number = message.get("id")
        if number is not None and "method" not in message:
            self._answers += 1
            self._ids = self._ids - Counter([number])

    async def wait(self) -> None:
        """Wait until all are answered, the client stops reading, or no answer comes for a long time."""
        answers, limit = -1, 0.0
        while self._ids and not _is_abandoned(self._output):
            if self._answers != answers:
                answers, limit = self._answers, anyio.current_time() + MAX_SILENCE
            if anyio.current_time() > limit:
                break
            await anyio.sleep(CHECK_SECONDS)


def _is_abandoned(output: BinaryIO) -> bool:
    """Return whether the reader of a pipe has closed it; False if this cannot be found out."""
    try:
        poll = select.poll()
        poll.register(output.fileno(), 0)
        return bool(poll.poll(0))  # without a mask, only errors
    except (AttributeError, OSError, ValueError):
        return False


class _Lines:
    """Lines of standard input, read in a daemon thread.

    A blocked read cannot be cancelled; a thread of anyio would prevent the server from ending on a signal.
    """

    def __init__(self, read: Callable[[], bytes], pending: _Pending) -> None:
        self._read = read
        self._pending = pending
        self.refuse: Callable[[JSONRPCError], Awaitable[None]] | None = None
        """Sends the error for a line that is not a message; the SDK does not answer these."""

    async def __aiter__(self) -> AsyncIterator[str]:
        send, receive = anyio.create_memory_object_stream[bytes](0)
        token = anyio.lowlevel.current_token()

        def pump() -> None:
            with suppress(RuntimeError, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
                for line in filter(bytes.strip, _split(self._read)):
                    anyio.from_thread.run(send.send, line, token=token)
            with suppress(RuntimeError):
                anyio.from_thread.run_sync(send.close, token=token)

        threading.Thread(target=pump, name="entrez-kit stdin", daemon=True).start()
        async with receive:
            async for line in receive:
                error = TOO_LONG if len(line) > MAX_LINE else check_message(line)
                if error is None:
                    self._pending.add(json.loads(line))
                    yield line.decode("utf-8")
                elif self.refuse is not None:
                    await self.refuse(error)
        await self._pending.wait()


def _split(read: Callable[[], bytes]) -> Iterator[bytes]:
    """Yield the lines of a stream. A line over the limit is yielded as soon as it exceeds it; the rest is skipped."""
    buffer = bytearray()
    is_skipping = False
    while chunk := read():
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            if not is_skipping:
                yield bytes(buffer) + line
            buffer.clear()
            is_skipping = False
        if is_skipping:
            continue
        buffer += rest
        if len(buffer) > MAX_LINE:
            yield bytes(buffer)
            buffer.clear()
            is_skipping = True
    if buffer:
        yield bytes(buffer)


class _Messages:
    """Standard output; each message is written by one call in a thread, because the reader may be slow."""

    def __init__(self, output: BinaryIO, pending: _Pending) -> None:
        self._output = output
        self._pending = pending

    async def write(self, text: str) -> None:
        await anyio.to_thread.run_sync(self._write, text.encode("utf-8"))
        self._pending.remove(json.loads(text))

    def _write(self, data: bytes) -> None:
        self._output.write(data)
        self._output.flush()

    async def flush(self) -> None:
        """Do nothing, because each write is complete."""


async def serve_stdio(server: Server[Any], ending: Shutdown) -> None:
    """Serve the client of the standard streams until it leaves or a signal is received."""
    with _reserve_streams() as (read, standard_output):
        pending = _Pending(standard_output)
        output = cast("anyio.AsyncFile[str]", _Messages(standard_output, pending))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ending.watch, tasks.cancel_scope.cancel)
            # The SDK only iterates over the input, although its type is a file.
            lines = _Lines(read, pending)
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
