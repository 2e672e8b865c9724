"""The program: `entrez-kit` and `python -m entrez_kit`. Answers --version before importing anything."""

import sys

M_MMAP_THRESHOLD = -3
"""Of malloc.h: from so many bytes on a block has pages of its own, which go back to the system when it is freed."""


def main() -> int:
    """Run the program and return its exit status."""
    if sys.argv[1:] == ["--version"]:
        from entrez_kit.base import __version__

        try:
            print(f"entrez-kit {__version__}", flush=True)  # noqa: T201
        except OSError:  # a full disk, or nobody reads
            sys.stdout = None
            return 9
        return 0
    import gc
    from contextlib import suppress
    from importlib import import_module

    # Thousands of records at a time, and hardly ever a cycle: to look for those after every 700 objects takes a tenth.
    gc.set_threshold(20_000, 20, 20)
    if sys.platform == "linux":
        # Once it has freed a large reply, glibc keeps the pages of later ones: 20 to 30 MB over 5,000 cached records.
        # Another libc has no such function, and a Python may come without ctypes.
        with suppress(ImportError, OSError, AttributeError):
            from ctypes import CDLL

            CDLL(None).mallopt(M_MMAP_THRESHOLD, 256 * 1024)
    status: int = import_module("entrez_kit.commands._app").main()
    return status


if __name__ == "__main__":
    sys.exit(main())
