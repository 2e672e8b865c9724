"""Recordings: the requests of a call and their replies in one file, from which the same call is answered again."""
