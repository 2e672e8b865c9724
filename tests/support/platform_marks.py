"""Marks of tests that need something which not every computer has."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
needs_full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
needs_home_variable = pytest.mark.skipif(
    sys.platform in ("win32", "darwin"), reason="this system finds the home folder without HOME"
)
needs_model2vec = pytest.mark.skipif(find_spec("model2vec") is None, reason="the package model2vec is not installed")
needs_modes = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file modes of POSIX")
needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can give files away")
needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
