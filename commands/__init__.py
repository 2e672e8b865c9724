"""The terminal door; installed as entrez_kit.commands. Importing it costs nothing."""
