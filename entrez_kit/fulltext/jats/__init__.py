"""JATS, the XML of PMC, Europe PMC and many publishers, read into articles."""
