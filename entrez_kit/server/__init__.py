"""The MCP door: the catalogue's operations as tools for agents, over stdio and HTTP."""
