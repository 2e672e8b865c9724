"""How articles hang together: similar, citing and cited ones, and the network around an article."""
