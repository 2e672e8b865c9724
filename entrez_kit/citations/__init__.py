"""Citations: CSL-JSON, formatted styles, and files for reference managers."""
