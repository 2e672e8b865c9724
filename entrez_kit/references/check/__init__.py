"""Check references: read them (``pasted/``), look them up (``lookup/``), compare them (``comparison/``), and report."""
