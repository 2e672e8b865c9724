"""Guarded downloads of pages from the public network."""
