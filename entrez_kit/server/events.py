"""Events that a client whose stream broke off can ask for again, so that no answer is lost with a connection."""

import itertools
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import anyio
from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse

MOST_KEPT: Final = 16_000_000
"""Bytes, about, over all sessions; the oldest events make room."""
SIZE_OF_NONE: Final = 200
FOLLOWED_SECONDS: Final = 600.0
"""How long a resumed stream waits for its answer; then the client may ask once more."""


@dataclass(frozen=True, slots=True)
class _Event:
    session: "SessionEvents"
    stream: StreamId
    message: JSONRPCMessage | None
    size: int

    @property
    def is_answer(self) -> bool:
        """Whether the stream ends with it."""
        return isinstance(self.message, JSONRPCResponse | JSONRPCError)


@dataclass(slots=True)
class Events:
    """The events of all sessions, oldest first, under ids that no session shares."""

    most: int = MOST_KEPT
    kept: OrderedDict[EventId, _Event] = field(default_factory=OrderedDict)
    size: int = 0
    news: anyio.Event = field(default_factory=anyio.Event)
    """Set when the next event comes."""
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def add(self, event: _Event) -> EventId:
        """Keep an event, as long as there is room; return its id."""
        number = str(next(self._numbers))
        self.kept[number] = event
        self.size += event.size
        while self.size > self.most:
            self.size -= self.kept.popitem(last=False)[1].size
        news, self.news = self.news, anyio.Event()
        news.set()
        return number


class SessionEvents(EventStore):
    """The events of one session; it sees no others."""

    def __init__(self, events: Events) -> None:
        self._events = events

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        """Keep a message of a stream, or None for its beginning; return its id."""
        size = SIZE_OF_NONE if message is None else len(message.model_dump_json())
        return self._events.add(_Event(self, stream_id, message, size))

    async def replay_events_after(self, last_event_id: EventId, send_callback: EventCallback) -> StreamId | None:
        """Send what came on a stream after an event, and what is still to come, up to the answer.

        Returns:
            None: the SDK has nothing to go on with; streams that it resumes itself never end.
        """
        last = self._events.kept.get(last_event_id)
        if last is None or last.session is not self or last.is_answer:
            return None
        sent = int(last_event_id)
        with anyio.move_on_after(FOLLOWED_SECONDS):
            while True:
                news = self._events.news
                for number, event in list(self._events.kept.items()):
                    if event.session is not self or event.stream != last.stream or int(number) <= sent:
                        continue
                    if event.message is not None:
                        await send_callback(EventMessage(event.message, number))
                    if event.is_answer:
                        return None
                    sent = int(number)
                await news.wait()
        return None
