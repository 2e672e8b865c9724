"""Frozen copies of PubMed on this computer, and the E-utilities that answer from them."""
