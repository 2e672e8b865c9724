"""The corpus file: all SQL."""
