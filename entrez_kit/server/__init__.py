"""The MCP server: every operation as a tool, over stdio and HTTP."""
