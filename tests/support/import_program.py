"""Import files into a copy, with two processes even for small files. The tests run it as a program:

python import_program.py HOME NAME FILE...
"""

import sys
from pathlib import Path

from pubmed_files import make_home_settings

from entrez_kit.local import importing, manifest


def main(home: Path, name: str, paths: list[Path]) -> None:
    """Import the files."""
    setattr(importing, "SMALL_BYTES", 0)  # noqa: B010
    setattr(manifest, "FAN_IN", 3)  # noqa: B010 - so that few files are merged, too
    importing.import_files(make_home_settings(home), name, paths)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], [Path(name) for name in sys.argv[3:]])
