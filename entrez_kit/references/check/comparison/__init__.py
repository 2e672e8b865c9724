"""Compare a reference, given as fields or as text, with a record."""
