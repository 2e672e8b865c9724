"""Stored events for clients that resume a broken stream, so that no reply is lost with a connection."""

import itertools
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import anyio
from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse

MAX_KEPT: Final = 16_000_000
"""The approximate maximum size in bytes over all sessions; the oldest events are dropped."""
SIZE_OF_NONE: Final = 200
FOLLOWED_SECONDS: Final = 600.0
"""The time a resumed stream waits for its reply; then the client may resume again."""


@dataclass(slots=True, eq=False)
class _Event:
    number: EventId
    session: "SessionEvents"
    message: JSONRPCMessage | None
    size: int
    next: "_Event | None" = None
    """The next event of its stream."""
    followed: anyio.Event = field(default_factory=anyio.Event)
    """Set when the next event exists."""

    @property
    def is_answer(self) -> bool:
        """Whether this is the last event of its stream."""
        return isinstance(self.message, JSONRPCResponse | JSONRPCError)


@dataclass(slots=True)
class Events:
    """The events of all sessions, oldest first, with unique ids."""

    most: int = MAX_KEPT
    by_id: OrderedDict[EventId, _Event] = field(default_factory=OrderedDict)
    size: int = 0
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def add(self, session: "SessionEvents", message: JSONRPCMessage | None) -> _Event:
        """Store an event; drop the oldest ones if the limit is exceeded."""
        size = SIZE_OF_NONE if message is None else len(message.model_dump_json())
        event = _Event(str(next(self._numbers)), session, message, size)
        self.by_id[event.number] = event
        self.size += size
        while self.size > self.most:
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
            before.next = event
            before.followed.set()
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
                await event.followed.wait()
                assert event.next is not None
                event = event.next
                if event.message is not None:
                    await send_callback(EventMessage(event.message, event.number))
        return None
