"""Manuscripts: the reference list of a document in any format, and the citations in its text."""
