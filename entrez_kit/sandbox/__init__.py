"""A local server that imitates NCBI and the other services of this kit, with their limits, errors and quirks.

``server.Sandbox`` runs it and lists the ``Database`` objects of ``local/eutils/database.py``, which give the answers.
The sandbox does not use the library's parsers, so that tests can detect a mistake in either of them.
"""
