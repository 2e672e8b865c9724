"""Lists of names with commas between them, as options and settings take them."""

from collections.abc import Sequence
from typing import TypeVar

from entrez_kit.errors import InvalidInput

Name = TypeVar("Name", bound=str)


def named_in(text: str | None, known: Sequence[Name], *, noun: str, argument: str, before: str = "There") -> list[Name]:
    """Return the names that stand in a list, in the order of those that are known; none where it names none.

    Args:
        text: names with commas between them, in whatever case, hyphens or underscores in them.
        known: what may be named.
        noun: what a name is one of.
        argument: the option or setting that the list stands in.
        before: how a message begins.

    Raises:
        InvalidInput: one of them does not exist.
    """
    named = [part.strip().lower().replace("-", "_") for part in (text or "").split(",") if part.strip()]
    for name in named:
        if name not in known:
            raise InvalidInput(
                f"{before} is no {noun} {name!r}.",
                invalid_input=f"{argument}={name}",
                recovery_hint=f"Choose from {', '.join(known)}; several with commas between them.",
                details={"reason": f"unknown_{noun}"},
            )
    return [name for name in known if name in named]
