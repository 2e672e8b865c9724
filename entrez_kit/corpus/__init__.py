"""A local corpus of PubMed records: synced with a query and searched without a server."""
