"""Operations: requests, results, outcomes, runs over many inputs, and tables of results."""
