"""British and American spellings of one word, and of medical words in particular."""

import re
from collections.abc import Iterator
from typing import Final

_ROOTS: Final = (
    ("aemi", "emi"), ("aesth", "esth"), ("aetio", "etio"), ("ageing", "aging"), ("amoeb", "ameb"),
    ("analogue", "analog"), ("behaviour", "behavior"), ("caec", "cec"), ("caesa", "cesa"), ("catalogue", "catalog"),
    ("centre", "center"), ("coeli", "celi"), ("colour", "color"), ("dialogue", "dialog"), ("faec", "fec"),
    ("favour", "favor"), ("fibre", "fiber"), ("foet", "fet"), ("grey", "gray"), ("gynaec", "gynec"),
    ("haem", "hem"), ("homoeo", "homeo"), ("humour", "humor"), ("labour", "labor"), ("leuc", "leuk"),
    ("litre", "liter"), ("manoeuv", "maneuv"), ("metre", "meter"), ("mould", "mold"), ("naevus", "nevus"),
    ("odour", "odor"), ("oedem", "edem"), ("oesoph", "esoph"), ("oestr", "estr"), ("paed", "ped"),
    ("palaeo", "paleo"), ("pnoea", "pnea"), ("programme", "program"), ("rrhoea", "rrhea"), ("rumour", "rumor"),
    ("sulph", "sulf"), ("tumour", "tumor"), ("vapour", "vapor"),
)  # fmt: skip
"""British first. A pair that makes no word does no harm: only what the index has is looked up."""

_VERB: Final = re.compile(r"(?<=[a-z]{3})([iy])([sz])(e|ed|es|er|ers|ing|ation|ations|able)$")
_SHORTEST: Final = 4


def other_spellings(word: str) -> Iterator[str]:
    """Return how else a normalised word may be written on the other side of the Atlantic, right or wrong."""
    if len(word) < _SHORTEST:
        return
    for british, american in _ROOTS:
        if british in word:
            yield word.replace(british, american, 1)
        elif american in word:
            yield word.replace(american, british, 1)
    if _VERB.search(word):
        yield _VERB.sub(lambda found: found[1] + ("z" if found[2] == "s" else "s") + found[3], word)
