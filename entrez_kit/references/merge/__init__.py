"""Merge files of references: link duplicates and families, and write each work once."""
