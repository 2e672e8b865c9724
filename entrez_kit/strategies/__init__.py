"""Search strategies as files: read, translate, count, check and test them."""
