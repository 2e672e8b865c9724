"""Genes: search them by symbol, alias or words, look one up by its id, and find its articles."""
