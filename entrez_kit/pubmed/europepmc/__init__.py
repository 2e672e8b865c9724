"""Europe PMC: searched, and its records read into PubMed's shape."""
