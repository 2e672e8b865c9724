"""Genes: find candidates by symbol, alias or words, look one up by its id, and follow it to the literature."""
