"""The program: `entrez-kit` and `python -m entrez_kit`. Answers --version before importing anything."""

import sys


def main() -> int:
    """Run the program and return its exit status."""
    if sys.argv[1:] == ["--version"]:
        from entrez_kit._version import __version__

        print(f"entrez-kit {__version__}")  # noqa: T201
        return 0
    from importlib import import_module

    status: int = import_module("entrez_kit.commands._app").main()
    return status


if __name__ == "__main__":
    sys.exit(main())
