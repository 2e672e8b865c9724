"""Relations between articles: similar, citing and cited articles, and the network around an article."""
