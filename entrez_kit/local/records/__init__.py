"""Collections of PubMed records: parsed records, their search terms and the order of results."""
