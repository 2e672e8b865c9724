"""Write the files that a step makes in the folder of a review."""

from pathlib import Path

from entrez_kit.reviews.folder import find_inside, review_file_error


def remove_outputs(folder: Path, name: str, suffix: str) -> None:
    """Remove the files of an earlier export."""
    place = find_inside(folder, name)
    try:
        for path in place.glob(f"*{suffix}") if place.is_dir() else ():
            path.unlink()
    except OSError as exc:
        raise review_file_error(place, exc) from None


def write_output(folder: Path, name: str, content: bytes) -> None:
    """Write a file in the folder of a review: beside its place, then renamed.

    Raises:
        InvalidInput: the place is outside of the folder.
        StoreError: it cannot be written.
    """
    path = find_inside(folder, name)
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        find_inside(folder, f"{Path(name).parent}/{part.name}")
        part.write_bytes(content)
        part.replace(path)
    except OSError as exc:
        raise review_file_error(path, exc) from None
