"""The E-utilities over local databases: one module for each, with their replies."""
