"""Stored events for clients that resume a broken stream, so that no reply is lost with a connection."""

import itertools
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import anyio
from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse, jsonrpc_message_adapter

MAX_KEPT: Final = 8_000_000
"""The maximum size in bytes over all sessions, some 3,000 replies; the oldest events are dropped."""
FASTEST: Final = 1
"""The level of compression; few events are read again."""
SIZE_OF_NONE: Final = 400
"""The size of an event without a message."""
FOLLOWED_SECONDS: Final = 600.0
"""The time a resumed stream waits for its reply; then the client may resume again."""


@dataclass(slots=True, eq=False)
class _Event:
    number: EventId
    session: "SessionEvents"
    packed: bytes | None
    """The message as deflated JSON, a small part of the size of its objects; None for the start of a stream."""
    is_answer: bool
    """Whether this is the last event of its stream."""
    next: "_Event | None" = None
    """The next event of its stream."""
    followed: anyio.Event | None = None
    """Set when the next event exists; created when a resumed stream waits for it."""

    @property
    def size(self) -> int:
        return SIZE_OF_NONE + len(self.packed or b"")

    def read_message(self) -> JSONRPCMessage | None:
        """Return the message; None for the start of a stream."""
        if self.packed is None:
            return None
        return jsonrpc_message_adapter.validate_json(zlib.decompress(self.packed), by_name=False)

    async def wait_for_next(self) -> "_Event":
        """Return the next event of the stream, which may not exist yet."""
        if self.next is None:
            self.followed = self.followed or anyio.Event()
            await self.followed.wait()
        assert self.next is not None
        return self.next

    def follow(self, event: "_Event") -> None:
        """Set the next event of the stream."""
        self.next = event
        if self.followed is not None:
            self.followed.set()


@dataclass(slots=True)
class Events:
    """The events of all sessions, oldest first, with unique ids."""

    max_size: int = MAX_KEPT
    by_id: OrderedDict[EventId, _Event] = field(default_factory=OrderedDict)
    size: int = 0
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def add(self, session: "SessionEvents", message: JSONRPCMessage | None) -> _Event:
        """Store an event; drop the oldest ones if the limit is exceeded."""
        packed = None
        if message is not None:
            packed = zlib.compress(message.model_dump_json(by_alias=True, exclude_unset=True).encode(), FASTEST)
        is_answer = isinstance(message, JSONRPCResponse | JSONRPCError)
        event = _Event(str(next(self._numbers)), session, packed, is_answer)
        self.by_id[event.number] = event
        self.size += event.size
        while self.size > self.max_size:
            self.size -= self.by_id.popitem(last=False)[1].size
        return event


class SessionEvents(EventStore):
    """The events of one session only."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._last: dict[StreamId, _Event] = {}
        """The last event of each open stream."""

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        """Store a message of a stream (None for its start); return its id."""
        event = self._events.add(self, message)
        before = self._last.pop(stream_id, None)
        if before is not None:
            before.follow(event)
        if not event.is_answer:
            self._last[stream_id] = event
        return event.number

    async def replay_events_after(self, last_event_id: EventId, send_callback: EventCallback) -> StreamId | None:
        """Send the events of a stream after an event, including future ones, up to the reply.

        Returns:
            None, so that the SDK does not resume the stream itself, which would never end.
        """
        event = self._events.by_id.get(last_event_id)
        if event is None or event.session is not self:
            return None
        with anyio.move_on_after(FOLLOWED_SECONDS):
            while not event.is_answer:
                event = await event.wait_for_next()
                if (message := event.read_message()) is not None:
                    await send_callback(EventMessage(message, event.number))
        return None
