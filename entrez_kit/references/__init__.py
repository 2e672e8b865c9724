"""References: lists are read, checked, matched and audited; claims are compared with the texts they cite."""
