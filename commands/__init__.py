"""The terminal front end; installed as entrez_kit.commands. Importing it costs nothing."""
