"""Serve over standard input and output."""

import sys

from entrez_kit.__main__ import main

sys.argv[1:] = ["serve"]
sys.exit(main())
