"""How the server says calls, arguments and flags: as tools, fields and settings."""

from collections.abc import Mapping
from types import MappingProxyType

from entrez_kit.kit_methods import operation_of
from entrez_kit.wording import Door, NextCall


class Tools(Door):
    """The words of the server.

    Args:
        names: the tool of each method of ``EntrezKit``, as it is listed; of the others the operation's own.
    """

    name = "tools"

    def __init__(self, names: Mapping[str, str] = MappingProxyType({})) -> None:
        self.names = names

    def switch(self, name: str) -> str:
        """Return the variable that whoever runs the server has set."""
        return f"ENTREZ_KIT_{name.upper()}"

    def call(self, call: NextCall) -> str:
        """Return a call of a tool."""
        name = self.names.get(call.method) or operation_of(call.method).name
        return super().call(call).replace(f"kit.{call.method}", name, 1)
