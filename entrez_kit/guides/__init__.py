"""Guides in Markdown, shown by ``entrez-kit guide``."""
