"""Search of the corpus: queries, the index, scores, vectors."""
