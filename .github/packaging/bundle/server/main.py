"""Serve; hosts start the command of the manifest instead."""

import subprocess
import sys

sys.exit(subprocess.call(["uvx", "entrez-kit==0.1.0", "serve"]))
