"""PubMed's XML: cut into records as it arrives, and each record read."""
