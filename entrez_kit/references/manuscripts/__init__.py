"""Manuscripts: the reference list of a document, whatever it is written in, and the calls in its text."""
