"""How many similar cases a run of the tests has: a sample, or all of them with ``ENTREZ_KIT_FULL_DRILL=1``."""

import os
import random
from collections.abc import Iterable
from typing import Final, TypeVar

FULL: Final = os.environ.get("ENTREZ_KIT_FULL_DRILL") == "1"
SEED: Final = 23

Item = TypeVar("Item")


def take_sample(items: Iterable[Item], share: float, least: int = 1) -> list[Item]:
    """Return a share of items in their order, at least `least`, always the same ones; all in a full run."""
    listed = list(items)
    count = max(least, round(len(listed) * share))
    if FULL or count >= len(listed):
        return listed
    places = random.Random(SEED).sample(range(len(listed)), count)
    return [listed[place] for place in sorted(places)]
