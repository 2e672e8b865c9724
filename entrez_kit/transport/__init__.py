"""How requests leave this machine: session, limiter, retries, replies, redaction."""
