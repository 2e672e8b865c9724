"""References compared with the records they cite."""
