"""Capitals in English titles, as style guides want them; names, formulas and species keep theirs."""

import re
from collections.abc import Iterable
from typing import Final

_SHORT_WORDS: Final = "a an and as at but by for from in into nor of on onto or over per so the to upon via with yet"
_LONG_WORDS: Final = (
    "about above across after against along amid among around before behind below beneath beside between beyond "
    "despite during except inside near outside since through throughout toward towards under underneath until versus "
    "vs within without"
)
SHORT: Final = frozenset(_SHORT_WORDS.split())
"""Articles, coordinating conjunctions and prepositions of up to four letters: what Chicago (18th ed.) keeps small."""
SHORTEST: Final = frozenset(word for word in SHORT if len(word) < 4)
"""What AMA (11th ed.) keeps small."""
PREPOSITIONS: Final = SHORT | frozenset(_LONG_WORDS.split())
"""MLA (9th ed.) keeps prepositions of any length small."""

_LATIN: Final = re.compile(
    r"\b(in|ex|de|post|per)([ -])(vivo|vitro|situ|silico|utero|ovo|planta|cellulo|novo|mortem|os|se)\b"
)
"""Latin expressions, of which the preposition is a part (Chicago): In Vitro, De Novo."""
_PARTICLES: Final = frozenset(("von", "van", "de", "der", "den", "del", "della", "di", "da", "du", "la", "le"))
_ABBREVIATED_GENUS: Final = re.compile(r"\b[A-Z]\. ?[a-z]{3,}")
_TAXON: Final = re.compile(r"[A-Z][a-z]+ [a-z]{3,}")
_EPITHETS: Final = (
    "abortus aegypti aeruginosa aestivum albicans albopictus anthracis aureus auris baumannii berghei borealis "
    "botulinum brucei burgdorferi burnetii cerevisiae cereus cholerae coli cruzi difficile donovani elegans "
    "enterica epidermidis "
    "faecalis faecium falciparum fragilis fumigatus gambiae glabrata gondii gonorrhoeae haematobium histolytica "
    "influenzae jejuni knowlesi laevis leprae lycopersicum mansoni marcescens mays melanogaster melitensis "
    "meningitidis mirabilis monocytogenes muciniphila mulatta musculus neoformans niger norvegicus oleracea pallidum "
    "parvum perfringens pertussis pestis plantarum pneumoniae pneumophila pombe pseudomallei pylori pyogenes rerio "
    "rhamnosus sapiens sativa sativum scrofa stercoralis subtilis suis tabacum taurus tetani thaliana thermophilus "
    "trachomatis tuberculosis tuberosum typhi typhimurium vaginalis vivax vulgaris yoelii"
)
_SPECIES: Final = re.compile(r"\b[A-Z][a-z]{3,} (?:" + _EPITHETS.replace(" ", "|") + r")\b")
"""Species that titles name again and again, for records without MeSH terms."""
_FORMULA: Final = re.compile(r"\w[(\[{]\w|\w[)\]}]\w")
"""Brackets inside a word: di(2-ethylhexyl)phthalate."""
_NEVER_NAMES: Final = frozenset(word for word in PREPOSITIONS if len(word) > 2) | {"by", "of", "on", "or", "to"}
"""Small words that mean nothing else with a capital, as In and As do (elements), or A (hepatitis A)."""
_OPENING: Final = re.compile(r"^[\"'“‘(\[{<¿¡*]*")
_SENTENCE_ENDS: Final = (":", "?", "!", ".", "—")


def taxa(terms: Iterable[str]) -> list[str]:
    """Return those of a record's terms that are names of species: "Escherichia coli"."""
    return [term for term in terms if _TAXON.fullmatch(term)]


def headline(title: str, small: frozenset[str], names: Iterable[str] = ()) -> str:
    """Write a title with headline capitals.

    A word that has a capital or a digit somewhere keeps its form (mRNA, p53, COVID-19); so do the names of species.

    Args:
        title: in sentence case.
        small: words that stay small inside a title.
        names: species in it.
    """
    kept = _kept(title, names)
    title = _LATIN.sub(lambda match: f"{match[1].capitalize()}{match[2]}{match[3].capitalize()}", title)
    words = title.split(" ")
    done: list[str] = []
    place = 0
    starts = True
    for number, word in enumerate(words):
        following = words[number + 1] if number + 1 < len(words) else ""
        name = word in _PARTICLES and following[:1].isupper() and not starts
        if name or any(start <= place < end for start, end in kept):
            done.append(word)
        else:
            done.append(_word(word, small, emphatic=starts or not following or word.endswith(_SENTENCE_ENDS)))
        starts = word.endswith(_SENTENCE_ENDS) and word.lower() not in ("vs.", "v.", "sp.", "spp.", "al.")
        place += len(word) + 1
    return " ".join(done)


def _kept(title: str, names: Iterable[str]) -> list[tuple[int, int]]:
    """Return where the second words of species stand."""
    spans = []
    for name in (*names, *_SPECIES.findall(title), *_ABBREVIATED_GENUS.findall(title)):
        for match in re.finditer(re.escape(name), title):
            spans.append((match.start() + name.index(" ") + 1 if " " in name else match.start(), match.end()))
    return spans


def _word(word: str, small: frozenset[str], *, emphatic: bool) -> str:
    opening = _OPENING.match(word)
    assert opening is not None
    rest = word[opening.end() :]
    if _FORMULA.search(rest):
        return opening[0] + (rest[:1].upper() + rest[1:] if rest[:2].isalpha() else rest)
    if not emphatic and rest[1:].islower() and rest.rstrip(",").lower() in small & _NEVER_NAMES:
        return opening[0] + rest.lower()  # a title that came with capitals on all its words
    parts = re.split(r"([-–/])", rest)
    for index in range(0, len(parts), 2):
        part = parts[index]
        bare = re.sub(r"\W+$", "", part)
        if index and bare in small:
            continue
        if not index and not emphatic and not opening[0] and bare in small and len(parts) == 1:
            continue
        parts[index] = _capitalized(part)
    return opening[0] + "".join(parts)


def _capitalized(part: str) -> str:
    letters = [letter for letter in part if letter.isalpha()]
    if not letters or any(letter.isupper() for letter in part) or any(letter.isdigit() for letter in part):
        return part
    if len(letters) == 1 and letters[0] != "a":  # α in α-synuclein, t in t test
        return part
    return part[:1].upper() + part[1:] if part[:1].isalpha() else part


def subtitle_capitals(title: str) -> str:
    """Capitalise the first word after a colon, a dash or a question mark, as APA (7th ed., 6.17) wants it."""
    words = title.split(" ")
    for number in range(1, len(words)):
        if words[number - 1].endswith((":", "?", "!", "—")) and not words[number - 1][:-1].isdigit():
            opening = _OPENING.match(words[number])
            assert opening is not None
            head, *rest = re.split(r"(?=[-–/])", words[number][opening.end() :], maxsplit=1)
            words[number] = opening[0] + _capitalized(head) + "".join(rest)
    return " ".join(words)
