"""The search index of a copy: immutable segment files, memory-mapped and searched with numpy."""
