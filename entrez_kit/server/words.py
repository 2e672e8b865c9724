"""How the server says calls, arguments and flags: as tools, fields and settings."""

from collections.abc import Mapping
from typing import Final

from entrez_kit.catalogue import OPERATIONS
from entrez_kit.wording import Call, Door

TOOLS: Final = {operation.method: operation.name for operation in OPERATIONS}


class Tools(Door):
    """The words of the server.

    Args:
        names: the tool of each method of ``EntrezKit``, as it is listed.
    """

    name = "tools"

    def __init__(self, names: Mapping[str, str] = TOOLS) -> None:
        self.names = names

    def switch(self, name: str) -> str:
        """Return the variable that whoever runs the server has set."""
        return f"ENTREZ_KIT_{name.upper()}"

    def call(self, call: Call) -> str:
        """Return a call of a tool."""
        shown = super().call(call)
        return shown.replace(f"kit.{call.method}", self.names[call.method], 1)
