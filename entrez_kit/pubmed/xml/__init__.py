"""PubMed's XML: split a stream into records, and parse each record."""
