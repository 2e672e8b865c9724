"""Formatted citations: CSL styles with additional rules."""
