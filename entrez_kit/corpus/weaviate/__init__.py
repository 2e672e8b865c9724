"""The corpus in a Weaviate server."""
