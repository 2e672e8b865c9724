"""Formatted citations: CSL styles, and what they need beside CSL."""
