"""Any Entrez database: info, search, summary, fetch, link, spelling, MeSH."""
