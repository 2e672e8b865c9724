"""The limit of sessions of a subject."""

from types import SimpleNamespace
from typing import Any

import anyio
from starlette.types import Message, Receive, Scope, Send

from entrez_kit.server.guard import SessionLimit

LIMIT = 2


class Sessions:
    """A protocol that opens a session when it is told to, and knows the sessions that have not ended."""

    def __init__(self) -> None:
        self.alive: list[str] = []
        self.count = 0
        self.began = anyio.Event()
        self.may_open = anyio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        opened: list[tuple[bytes, bytes]] = []
        if scope["method"] == "DELETE":
            self.alive.remove(headers[b"mcp-session-id"].decode())
        elif scope["path"] == "/open":
            self.began.set()
            await self.may_open.wait()
            self.count += 1
            self.alive.append(f"session{self.count}")
            opened = [(b"mcp-session-id", self.alive[-1].encode())]
        await send({"type": "http.response.start", "status": 200, "headers": opened})


def make_scope(path: str) -> dict[str, Any]:
    user = SimpleNamespace(access_token=SimpleNamespace(subject="ana"))
    return {"type": "http", "method": "POST", "path": path, "headers": [], "user": user}


async def receive_nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def discard(message: Message) -> None:
    return


def test_a_request_that_ends_while_sessions_open_does_not_lift_the_limit() -> None:
    async def run() -> list[str]:
        sessions = Sessions()
        limited = SessionLimit(sessions, LIMIT)
        for _ in range(LIMIT + 3):
            sessions.began, sessions.may_open = anyio.Event(), anyio.Event()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(limited, make_scope("/open"), receive_nothing, discard)
                await sessions.began.wait()
                await limited(make_scope("/other"), receive_nothing, discard)
                sessions.may_open.set()
        return sessions.alive

    assert len(anyio.run(run)) == LIMIT
