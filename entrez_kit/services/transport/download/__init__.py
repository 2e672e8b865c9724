"""The guarded fetch of pages from anywhere."""
