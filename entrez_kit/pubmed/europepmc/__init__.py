"""Search Europe PMC, and read its records into the models of PubMed."""
