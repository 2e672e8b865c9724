"""The program: `entrez-kit` and `python -m entrez_kit`. It answers --version before any other import."""

import sys

M_MMAP_THRESHOLD = -3
"""Parameter of malloc.h. Larger blocks get separate pages, which return to the system when the block is freed."""


def main() -> int:
    """Run the program and return its exit status."""
    if sys.argv[1:] == ["--version"]:
        from entrez_kit.base import __version__

        try:
            print(f"entrez-kit {__version__}", flush=True)  # noqa: T201
        except OSError:  # a full disk, or a closed pipe
            sys.stdout = None
            return 9
        return 0
    import gc
    from contextlib import suppress

    # Thousands of records are in memory and few cycles. To collect after every 700 objects takes 10 % of the time.
    gc.set_threshold(20_000, 20, 20)
    if sys.platform == "linux":
        # After glibc has freed a large reply, it keeps the pages of later ones: 20 to 30 MB for 5,000 cached records.
        # Another libc may not have this function, and some builds of Python have no ctypes.
        with suppress(ImportError, OSError, AttributeError):
            from ctypes import CDLL

            CDLL(None).mallopt(M_MMAP_THRESHOLD, 256 * 1024)
    # The folder `commands` is this package where it is installed.
    from entrez_kit.commands._app import main as run

    status: int = run()
    return status


if __name__ == "__main__":
    sys.exit(main())
