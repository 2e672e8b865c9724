"""Write every generated file.

    python .ci/generate.py
    python .ci/generate.py --remove-public-names   # also drop saved public names that no longer exist
    python .ci/generate.py --bundle FOLDER         # write the MCP bundle with the wheel of these sources

Generated are the methods of EntrezKit, the list of tools, the public names, the folder ``.github/packaging/``, the
README's table of commands, the lists of the guide ``settings``, and the index of the demo's articles.
"""

import ast
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Final

import demo_index
import document_tables
import packaging_files
import public_surface
import python_methods
from packaging_files import GENERATED, ROOT

COMMAND: Final = "python .ci/generate.py"


def generated_files() -> dict[Path, str]:
    """Return the text of every generated file."""
    packaging = {packaging_files.FOLDER / name: text for name, text in packaging_files.packaging_files().items()}
    return {
        **packaging,
        document_tables.README: document_tables.write_readme(),
        document_tables.OUTPUT_GUIDE: document_tables.write_output_guide(),
        document_tables.SETTINGS_GUIDE: document_tables.write_settings_guide(),
        packaging_files.TOOLS: packaging_files.list_tools(),
        python_methods.METHODS: f"# {GENERATED}\n{python_methods.write_methods()}",
        public_surface.SAVED: write_public_names(),
    }


def write_public_names() -> str:
    """Return the text of the saved public names. It keeps those that no longer exist."""
    facts = public_surface.list_facts() | public_surface.read_facts(_read(public_surface.SAVED))
    return f"# {GENERATED}\n{public_surface.write_facts(facts)}"


def stale_files() -> list[str]:
    """Return the generated files that are missing, outdated or no longer generated."""
    files = generated_files()
    outdated = [path for path, text in files.items() if not _is_same(path, _read(path), text)]
    outdated += [] if _has_demo_index() else [demo_index.DEMO_INDEX]
    return sorted(path.relative_to(ROOT).as_posix() for path in (*outdated, *_leftovers(files)))


def _has_demo_index() -> bool:
    """Return whether the saved index is the one of the demo's articles."""
    saved = demo_index.DEMO_INDEX
    return saved.exists() and saved.read_bytes() == demo_index.encode_demo_index()


def removed_names() -> list[str]:
    """Return the saved public names that the program no longer has."""
    gone = public_surface.read_facts(_read(public_surface.SAVED)) - public_surface.list_facts()
    return [f"{subject}: {fact}" for subject, fact in sorted(gone)]


def _is_same(path: Path, saved: str, text: str) -> bool:
    """Compare two texts; of Python files the code, because ruff formats the saved one."""
    if path.suffix == ".py" and saved:
        return ast.dump(ast.parse(saved)) == ast.dump(ast.parse(text))
    return saved == text


def _leftovers(files: dict[Path, str]) -> list[Path]:
    return [path for path in packaging_files.FOLDER.rglob("*") if path.is_file() and path not in files]


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def main() -> int:
    """Write the files. Return 1 if saved public names no longer exist."""
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--remove-public-names", action="store_true", help="drop saved names that no longer exist")
    parser.add_argument("--bundle", metavar="FOLDER", type=Path, help="write only the MCP bundle with a wheel")
    options = parser.parse_args()
    if options.bundle:
        packaging_files.write_bundle(options.bundle)
        return 0
    if options.remove_public_names:
        public_surface.SAVED.unlink(missing_ok=True)
    files = generated_files()
    methods_are_new = python_methods.METHODS.relative_to(ROOT).as_posix() in stale_files()
    for path, text in files.items():
        if not _is_same(path, _read(path), text):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(ROOT).as_posix())
    for path in _leftovers(files):
        path.unlink()
    if not _has_demo_index():
        demo_index.DEMO_INDEX.write_bytes(demo_index.encode_demo_index())
        print(demo_index.DEMO_INDEX.relative_to(ROOT).as_posix())
    subprocess.run([sys.executable, "-m", "ruff", "format", "-q", str(python_methods.METHODS)], check=True)
    if methods_are_new:  # the public names include the methods, which were imported before they were written
        return subprocess.run([sys.executable, *sys.argv], check=False).returncode
    removed = removed_names()
    if removed:
        print("\nUsers rely on these names, which no longer exist:", *removed, sep="\n")
        print("If they are not committed yet, run `git checkout tests/data/public_surface.txt`, then this again.")
        print(f"Otherwise restore them, or run `{COMMAND} --remove-public-names` for a new major version.")
    return 1 if removed else 0


if __name__ == "__main__":
    sys.exit(main())
