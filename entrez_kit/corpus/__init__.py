"""A local corpus of PubMed records: kept in step with a query, searched without a server."""
