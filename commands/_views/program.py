"""Pages about the program itself: its settings, cache, servers and guides."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from entrez_kit.base.configuration import DEFAULT_ORIGIN, MASK
from entrez_kit.base.frontend_text import format_count
from entrez_kit.doctor.local import size

from .tables import ListingTable, build_fact_list, build_fixed_column
from .text import format_value


def render_settings(records: list[dict[str, Any]], path: Path | None) -> RenderableType:
    """Return a table of the settings with their values and origins."""
    table = ListingTable(build_fixed_column("Setting"), "Value", "From")
    for record in records:
        is_default = record["origin"] == DEFAULT_ORIGIN
        style = "dim" if record["value"] is None else "yellow" if record["value"] == MASK else ""
        value = Text("not set" if record["value"] is None else format_value(record["value"]), style=style)
        name, origin = (
            Text(record["name"], style="" if is_default else "bold"),
            Text(record["origin"], style="dim" * is_default),
        )
        table.add_row(name, value, origin)
    where = f"User config: {path}" if path else "No home folder was found, so user config is not available."
    exists = "" if path is None or path.is_file() else " (does not exist yet)"
    return Group(table, Text(where + exists, style="dim"))


def render_cache(info: dict[str, Any]) -> RenderableType:
    """Return the path and content of the cache, and the state of the rate limit."""
    rows: list[tuple[str, object]] = [("Cache", info["path"])]
    if info["problem"]:
        rows.append(("Problem", Text(info["problem"], style="bold red")))
    elif not info["exists"]:
        rows.append(("Replies", "none yet"))
    else:
        rows.append(("Replies", f"{info['entries']:,} ({info['expired']:,} expired)"))
        rows.append(("Size", size(info["size_bytes"])))
        if info["newest_expiry"] is not None:
            rows.append(("Expiry", f"from {info['oldest_expiry']} to {info['newest_expiry']}"))
    limit = info["rate_limit"]
    rows.append(
        ("Rate limit", f"{limit['per_second']:g} requests per second, next slot in {limit['wait_seconds']:.1f} s")
    )
    if limit["problem"]:
        rows.append(("", Text(f"not shared between processes: {limit['problem']}", style="yellow")))
    else:
        rows.append(("", f"shared by all processes of this user in {limit['file']}"))
    return build_fact_list(rows)


def render_server(document: dict[str, Any]) -> RenderableType:
    """Return what an MCP server offers, before it starts."""
    where = document.get("url") or document["transport"]
    head = Text(f"{document['server_name']} {document['server_version']} is ready to serve over {where}.", style="bold")
    table = Table("Tool", "Description", box=None, pad_edge=False)
    for tool in document["tools"]:
        table.add_row(tool["name"], tool["title"])
    size = format_count(document["tools_list_bytes"], "byte")
    tail = Text(
        f"{format_count(len(document['tools']), 'tool')} ({size} to list), "
        f"{format_count(len(document['resources']), 'resource')}, prompts {', '.join(document['prompts'])}.",
        style="dim",
    )
    return Group(head, Text(), table, Text(), tail)


def render_variables(variables: Mapping[str, str]) -> RenderableType:
    """Return the lines that set environment variables in a shell."""
    return Text("\n".join(f"export {name}={value}" for name, value in variables.items()))


def render_guides(guides: Sequence[Mapping[str, str]]) -> RenderableType:
    """Return the list of guides."""
    listed = build_fact_list(((guide["topic"], guide["summary"]) for guide in guides), "bold cyan")
    return Group(listed, Text("\nentrez-kit guide TOPIC shows one.", style="dim"))
