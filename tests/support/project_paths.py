"""The folders that tests read."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUPPORT = ROOT / "tests" / "support"
DATA = ROOT / "tests" / "data"
BENCHMARKS = ROOT / "tests" / "benchmarks"
