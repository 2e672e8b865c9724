"""Look up the records that references cite, and the publication status of works, in all services."""
