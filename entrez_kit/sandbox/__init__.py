"""A stand-in for NCBI on loopback."""
