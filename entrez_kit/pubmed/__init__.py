"""PubMed: search, fetch and the article records."""
