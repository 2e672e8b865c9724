"""A stand-in for NCBI on loopback: the APIs this kit talks to, with NCBI's limits, errors and oddities.

``server.Sandbox`` runs it. Its answers come from ``Database`` objects (``database.py``); ``server.py`` lists them.
Nothing here shares code with the parsers of this library, so that a mistake in one shows against the other.
"""
