"""Formatted citations: CSL styles, what they need beside CSL, and the processor."""
