"""Calls tools with one client library, in its environment; `clients.py` starts it and gives the calls.

It reads a document from standard input and writes one to standard output, and imports no code of the project.
"""

import asyncio
import importlib
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

Answer = tuple[bool, str]
"""Whether the client reports an error, and its whole text."""
Call = Callable[[str, dict[str, Any]], Awaitable[Answer | None]]
"""None if the client cannot make such a call."""


def import_module(name: str) -> Any:
    """Return a module of the client, which is not installed elsewhere."""
    return importlib.import_module(name)


def read_answer(result: Any) -> Answer:
    """Return a result of the SDK, with the member names of any version."""
    failed = result.is_error if hasattr(result, "is_error") else result.isError
    return bool(failed), "\n".join(part.text for part in result.content)


@asynccontextmanager
async def mcp1(given: dict[str, Any]) -> AsyncIterator[Call]:
    """Call tools with the SDK before version 2."""
    mcp = import_module("mcp")
    async with AsyncExitStack() as stack:
        if "url" in given:
            opened = import_module("mcp.client.streamable_http").streamablehttp_client(given["url"], given["headers"])
        else:
            command, *arguments = given["command"]
            server = mcp.StdioServerParameters(command=command, args=arguments, env=given["env"])
            opened = import_module("mcp.client.stdio").stdio_client(server)
        read, write, *_ = await stack.enter_async_context(opened)
        session = await stack.enter_async_context(mcp.ClientSession(read, write))
        await session.initialize()
        await session.list_tools()

        async def call(name: str, arguments: dict[str, Any]) -> Answer:
            return read_answer(await session.call_tool(name, arguments))

        yield call


@asynccontextmanager
async def mcp2(given: dict[str, Any]) -> AsyncIterator[Call]:
    """Call tools with the SDK since version 2."""
    mcp = import_module("mcp")
    async with AsyncExitStack() as stack:
        if "url" in given:
            client = import_module("httpx2").AsyncClient(headers=given["headers"], timeout=60)
            http = await stack.enter_async_context(client)
            server = import_module("mcp.client.streamable_http").streamable_http_client(given["url"], http_client=http)
        else:
            command, *arguments = given["command"]
            server = mcp.StdioServerParameters(command=command, args=arguments, env=given["env"])
        opened = await stack.enter_async_context(mcp.Client(server, mode=given["mode"]))
        await opened.list_tools()

        async def call(name: str, arguments: dict[str, Any]) -> Answer:
            return read_answer(await opened.call_tool(name, arguments))

        yield call


def make_fastmcp_client(given: dict[str, Any]) -> Any:
    """Return a client of fastmcp."""
    transports = import_module("fastmcp.client.transports")
    if "url" in given:
        transport = transports.StreamableHttpTransport(given["url"], headers=given["headers"])
    else:
        command, *arguments = given["command"]
        transport = transports.StdioTransport(command, arguments, env=given["env"])
    return import_module("fastmcp").Client(transport, mode=given["mode"])


@asynccontextmanager
async def fastmcp(given: dict[str, Any]) -> AsyncIterator[Call]:
    """Call tools with the client of fastmcp."""
    async with make_fastmcp_client(given) as client:
        await client.list_tools()

        async def call(name: str, arguments: dict[str, Any]) -> Answer:
            return read_answer(await client.call_tool(name, arguments, raise_on_error=False))

        yield call


@asynccontextmanager
async def pydantic_ai(given: dict[str, Any]) -> AsyncIterator[Call]:
    """Call tools as an agent of pydantic-ai."""
    async with import_module("pydantic_ai.mcp").MCPToolset(
        make_fastmcp_client(given), tool_error_behavior="error"
    ) as tools:
        await tools.list_tools()

        async def call(name: str, arguments: dict[str, Any]) -> Answer:
            result = await tools.direct_call_tool(name, arguments)
            return False, json.dumps(result)

        yield call


@asynccontextmanager
async def langchain(given: dict[str, Any]) -> AsyncIterator[Call]:
    """Call tools as an agent of LangChain, in one session."""
    if "url" in given:
        server = {"transport": "streamable_http", "url": given["url"], "headers": given["headers"]}
    else:
        command, *arguments = given["command"]
        server = {"transport": "stdio", "command": command, "args": arguments, "env": given["env"]}
    client = import_module("langchain_mcp_adapters.client").MultiServerMCPClient({"one": server})
    async with client.session("one") as session:
        tools = {
            tool.name: tool for tool in await import_module("langchain_mcp_adapters.tools").load_mcp_tools(session)
        }

        async def call(name: str, arguments: dict[str, Any]) -> Answer | None:
            if name not in tools:
                return None
            asked = {"type": "tool_call", "id": "1", "name": name, "args": arguments}
            message = await tools[name].ainvoke(asked)
            said = message.content
            text = said if isinstance(said, str) else "\n".join(part["text"] for part in said)
            return message.status == "error", text

        yield call


@asynccontextmanager
async def openai_agents(given: dict[str, Any]) -> AsyncIterator[Call]:
    """Call tools on a server of an agent of openai-agents."""
    servers = import_module("agents.mcp")
    if "url" in given:
        params = {"url": given["url"], "headers": given["headers"]}
        opened = servers.MCPServerStreamableHttp(params, client_session_timeout_seconds=60)
    else:
        command, *arguments = given["command"]
        params = {"command": command, "args": arguments, "env": given["env"]}
        opened = servers.MCPServerStdio(params, client_session_timeout_seconds=60)
    async with opened as server:
        await server.list_tools()

        async def call(name: str, arguments: dict[str, Any]) -> Answer:
            return read_answer(await server.call_tool(name, arguments))

        yield call


@asynccontextmanager
async def llama_index(given: dict[str, Any]) -> AsyncIterator[Call]:
    """Call tools with the client of llama-index, which opens a session for each call."""
    client_type = import_module("llama_index.tools.mcp").BasicMCPClient
    async with AsyncExitStack() as stack:
        if "url" in given:
            http = import_module("httpx2").AsyncClient(headers=given["headers"], timeout=60)
            client = client_type(given["url"], http_client=await stack.enter_async_context(http))
        else:
            command, *arguments = given["command"]
            client = client_type(command, arguments, given["env"])

        async def call(name: str, arguments: dict[str, Any]) -> Answer:
            return read_answer(await client.call_tool(name, arguments))

        yield call


async def main() -> None:
    """Make the calls."""
    given = json.load(sys.stdin)
    answers: list[Answer | None] = []
    async with globals()[given["client"]](given) as call:
        for name, arguments in given["calls"]:
            try:
                answers.append(await call(name, arguments))
            except Exception as exc:  # however the client reports a failed call
                answers.append((True, f"{type(exc).__name__}: {exc}"))
        sys.stdout.write("\n" + json.dumps(answers) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
