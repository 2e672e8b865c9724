"""Create the folder of a review."""

import hashlib
from pathlib import Path
from typing import ClassVar, Final

from pydantic import Field

from entrez_kit.base.errors import InvalidInput, StoreError
from entrez_kit.core.model import Request, Result
from entrez_kit.core.operation import DocumentOperation
from entrez_kit.query.dialects.services import Dialect
from entrez_kit.reviews.folder import Review, get_now, lock_review, review_file_error, save_review
from entrez_kit.reviews.journal import FileOfRun
from entrez_kit.reviews.review_settings import FILE, read_settings, write_settings
from entrez_kit.services import Services
from entrez_kit.strategies.translated_lines import StrategyText

STRATEGY: Final = "strategies/pubmed.txt"
_IGNORED: Final = ".lock\n.staged/\n"
_ALLOWED: Final = (".git", ".gitignore", ".gitattributes", "README.md", "LICENSE", ".lock")
"""Files that the folder of a new review can have."""


class InitRequest(Request):
    """A new review: its folder, title and strategy."""

    folder: str = Field(min_length=1, description="Folder to create, or an empty one.")
    strategy: StrategyText = Field(description="The strategy of the search of PubMed, as printed.")
    title: str = Field(default="", max_length=2_000, description="Title of the review.")
    dialect: Dialect | None = Field(
        default=None, description="Syntax of unclear lines: pubmed, ovid, embase, ebsco, wos, ..."
    )


class InitResult(Result):
    """The files of a new review."""

    RECORDS: ClassVar = ""

    folder: str
    files: list[str]


def init_review(_: Services, request: InitRequest) -> InitResult:
    """Create the folder of a review: settings, strategy and journal.

    Raises:
        InvalidInput: the folder has a review, or other files.
        StoreError: it cannot be written.
    """
    folder = Path(request.folder).absolute()
    try:
        if problem := _find_obstacle(folder):
            raise InvalidInput(
                f"A review cannot be created in {request.folder}: {problem}.",
                invalid_input=request.folder,
                recovery_hint="Name a new or an empty folder.",
                details={"reason": "folder_in_use"},
            )
        (folder / "strategies").mkdir(parents=True, exist_ok=True)
        settings = write_settings(" ".join(request.title.split()), request.dialect)
        strategy = request.strategy.encode()
        with lock_review(folder):
            (folder / STRATEGY).write_bytes(strategy)
            if not (folder / ".gitignore").exists():
                (folder / ".gitignore").write_text(_IGNORED, encoding="utf-8")
            review = Review(folder, read_settings(settings, FILE), [], [], [])
            files = [FileOfRun(name=STRATEGY, sha256=hashlib.sha256(strategy).hexdigest())]
            save_review(review, review.end_run("init", get_now(), files=files))
            (folder / FILE).write_text(settings, encoding="utf-8")  # last, because it makes the folder a review
    except OSError as exc:
        raise review_file_error(folder, exc) from None
    names = sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.name != ".lock"
    )
    return InitResult(folder=str(folder), files=[name for name in names if not name.startswith(".git/")])


def _find_obstacle(folder: Path) -> str | None:
    """Return why a review cannot be created in a folder; it may have files of version control and a readme."""
    if not folder.exists():
        return None
    if not folder.is_dir():
        return "it is a file"
    if (folder / FILE).exists():
        return f"it already has a review ({FILE})"
    others = sorted(path.name for path in folder.iterdir() if path.name not in _ALLOWED)
    return f"it already contains {others[0]}" if others else None


INIT_REVIEW: Final = DocumentOperation(
    name="review_init",
    request=InitRequest,
    result=InitResult,
    function=init_review,
    command=("review", "init"),
    toolset="review",
    title="Create a review",
    errors=(StoreError,),
    read_only=False,
)
