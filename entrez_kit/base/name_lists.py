"""Parse a comma-separated list of known names, such as the value of ``--fail-on`` or of ``--toolset``."""

from collections.abc import Sequence
from typing import TypeVar

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import (
    Argument,
    FrontendText,
    describe_wrong_value,
    join_with,
    list_choices,
    name_guide,
)

Name = TypeVar("Name", bound=str)


def parse_names(text: str | None, known: Sequence[Name], *, noun: str, argument: str, guide: str = "") -> list[Name]:
    """Return the names in a comma-separated list, in the order of the known names.

    Args:
        text: the list; letter case does not matter, and a hyphen equals an underscore.
        known: the known names.
        noun: the kind of the names, for the reason of the error.
        argument: the option or setting that has the list.
        guide: the guide that explains the names, if a message cannot list all of them.

    Raises:
        InvalidInput: a name is unknown.
    """
    names = {name.replace("-", "_"): name for name in known}
    selected = []
    for part in filter(None, map(str.strip, (text or "").split(","))):
        name = names.get(part.lower().replace("-", "_"))
        if name is None:
            from difflib import get_close_matches

            near = get_close_matches(part.lower(), list[str](known), n=3)
            hint = f"Did you mean {join_with(near, 'or')}?" if near else "Give one or several, separated by commas."
            raise InvalidInput(
                describe_wrong_value(Argument(argument), list_choices(known), part),
                invalid_input=f"{argument}={part}",
                recovery_hint=FrontendText(hint, " ", name_guide(guide), " lists all.") if guide else hint,
                details={"reason": f"unknown_{noun}", "accepted": list(known)},
            )
        selected.append(name)
    return [name for name in known if name in selected]
