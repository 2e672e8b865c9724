"""A systematic review as a folder of plain files: strategy, records, decisions, and a journal of all runs."""
