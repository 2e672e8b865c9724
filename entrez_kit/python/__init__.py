"""The Python front end: EntrezKit, its methods and streams, and the catalogue of operations."""
