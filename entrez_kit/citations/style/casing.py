"""Capitalize English titles by the rules of style guides; names, formulas and species do not change."""

import re
from collections.abc import Iterable
from string import ascii_letters
from typing import Final

_SHORT_WORDS: Final = "a an and as at but by for from in into nor of on onto or over per so the to upon via with yet"
_LONG_WORDS: Final = (
    "about above across after against along amid among around before behind below beneath beside between beyond "
    "despite during except inside near outside since through throughout toward towards under underneath until versus "
    "vs within without"
)
SHORT: Final = frozenset(_SHORT_WORDS.split())
"""Words in lower case in Chicago (18th ed.): articles, coordinating conjunctions, prepositions of up to 4 letters."""
SHORTEST: Final = frozenset(word for word in SHORT if len(word) < 4)
"""Words in lower case in AMA (11th ed.)."""
PREPOSITIONS: Final = SHORT | frozenset(_LONG_WORDS.split())
"""Words in lower case in MLA (9th ed.): prepositions of any length."""

_LATIN: Final = re.compile(
    r"\b(in|ex|de|post|per)([ -])(vivo|vitro|situ|silico|utero|ovo|planta|cellulo|novo|mortem|os|se)\b"
)
"""Latin expressions that include their preposition (Chicago): In Vitro, De Novo."""
_PARTICLES: Final = frozenset(("von", "van", "de", "der", "den", "del", "della", "di", "da", "du", "la", "le"))
_ABBREVIATED_GENUS: Final = re.compile(r"\W{0,3}[A-Z]\.")
_TWO_WORDS: Final = re.compile(r"(?P<genus>[A-Z][a-z]+) (?P<epithet>[a-z]{3,})")
_COMMON_NOUNS: Final = re.compile(
    r".*(?:itis|[oa]sis|a?emia|uria|rrho?ea|oma|ia|virus|viruses|phage|species|strains?|toxins?|infections?)"
)
"""Words after a genus that are not an epithet: Candida vaginitis, Vaccinia virus."""
_LATIN_NOUNS: Final = ("us", "um", "a", "is", "as", "es", "ys", "ax", "ix", "on")
_LATIN_EPITHETS: Final = (
    *("ensis", "ense", "arum", "orum", "arium", "ii", "oides", "folia", "folium", "folius", "iana", "ianum", "ianus"),
    *("escens", "cola", "phila", "philus", "ifera", "iferum", "ifer"),
)
"""Endings that only species names have, for genera that are not in the list below."""
_GENUS_NAMES: Final = (
    "acanthamoeba acinetobacter actinomyces aedes aeromonas agrobacterium alternaria amoeba ancylostoma anopheles "
    "apis arabidopsis artemia ascaris aspergillus avena babesia bacillus bacteroides bartonella bifidobacterium "
    "blastocystis bombyx bordetella borrelia borreliella bos botrytis brachypodium brassica brucella brugia "
    "burkholderia caenorhabditis campylobacter candida candidozyma canis cannabis capra cavia chlamydia "
    "chlamydomonas chlamydophila chlorocebus citrobacter citrus clonorchis clostridioides clostridium "
    "coccidioides coffea corynebacterium coxiella cricetulus cronobacter cryptococcus cryptosporidium culex "
    "cucumis cutibacterium danio daphnia dictyostelium drosophila echinococcus ehrlichia entamoeba enterobacter "
    "enterococcus equus escherichia eucalyptus faecalibacterium fasciola felis francisella fusarium fusobacterium "
    "gallus gardnerella geobacillus giardia glycine gossypium haemophilus haemonchus helianthus helicobacter "
    "hevea histoplasma homo hordeum ixodes klebsiella komagataella lactobacillus lactococcus legionella "
    "leishmania leptospira leuconostoc listeria loxodonta lupinus macaca magnaporthe malus manihot medicago "
    "meriones mesocricetus methanosarcina micrococcus monodelphis moraxella morganella mucor mus mycobacterium "
    "mycobacteroides mycoplasma mycoplasmoides naegleria neisseria neurospora nicotiana nocardia nostoc "
    "onchocerca oncorhynchus opisthorchis oreochromis orientia oryctolagus oryza oryzias ovis pan panax "
    "paracoccidioides paracoccus pasteurella penicillium phaseolus phytophthora pichia pinus pisum plasmodium "
    "plesiomonas pneumocystis populus porphyromonas prevotella proteus providencia pseudomonas raphanus ralstonia "
    "rattus rhizobium rhizopus rhodococcus rickettsia saccharomyces salmo salmonella schistosoma "
    "schizosaccharomyces scedosporium serratia shewanella shigella solanum sorghum spodoptera sporothrix "
    "staphylococcus stenotrophomonas streptococcus streptomyces strongyloides sus synechococcus synechocystis "
    "taenia taeniopygia talaromyces tetrahymena theobroma thermus torulopsis toxocara toxoplasma treponema "
    "tribolium trichinella trichoderma trichomonas trichophyton trichuris triticum trypanosoma ureaplasma vibrio "
    "vigna vitis wolbachia wuchereria xanthomonas xenopus xylella yarrowia yersinia zea zymoseptoria"
)
_GENERA: Final = frozenset(_GENUS_NAMES.split())
"""Frequent genera, which distinguish a species among keywords from "Breast cancer"."""
_EPITHET_NAMES: Final = (
    "abortus aegypti aeruginosa aestivum albicans albopictus anthracis aureus auris baumannii berghei borealis "
    "botulinum brucei burgdorferi burnetii cerevisiae cereus cholerae coli cruzi difficile donovani elegans "
    "enterica epidermidis faecalis faecium falciparum fragilis fumigatus gambiae glabrata gondii gonorrhoeae "
    "haematobium histolytica influenzae jejuni knowlesi laevis leprae lycopersicum mansoni marcescens mays "
    "melanogaster melitensis meningitidis mirabilis monocytogenes muciniphila mulatta musculus neoformans niger "
    "norvegicus oleracea pallidum parvum perfringens pertussis pestis plantarum pneumoniae pneumophila pombe "
    "pseudomallei pylori pyogenes rerio rhamnosus sapiens sativa sativum scrofa stercoralis subtilis suis tabacum "
    "taurus tetani thaliana thermophilus trachomatis tuberculosis tuberosum typhi typhimurium vaginalis vivax "
    "vulgaris yoelii"
)
_EPITHETS: Final = frozenset(_EPITHET_NAMES.split())
"""Frequent epithets in titles, for records without MeSH terms."""
_FORMULA: Final = re.compile(r"\w[(\[{]\w|\w[)\]}]\w")
"""Brackets inside a word: di(2-ethylhexyl)phthalate."""
_NEVER_NAMES: Final = frozenset(word for word in PREPOSITIONS if len(word) > 2) | {"by", "of", "on", "or", "to"}
"""Short words without a second meaning in capitals, unlike In and As (elements) or A (hepatitis A)."""
_OPENING: Final = "\"'“‘([{<¿¡*"
_SENTENCE_ENDS: Final = (":", "?", "!", ".", "—")


def find_species_names(terms: Iterable[str]) -> list[str]:
    """Return the keywords that are species names: "Escherichia coli", not "Breast cancer"."""
    words = []
    for term in terms:
        match = _TWO_WORDS.fullmatch(term)
        if match is None or not is_epithet(match["epithet"]):
            continue
        genus, epithet = match["genus"].lower(), match["epithet"]
        latin = genus.endswith(_LATIN_NOUNS) and epithet.endswith(_LATIN_EPITHETS)
        if latin or genus in _GENERA or epithet in _EPITHETS:
            words.append(term)
    return words


def find_organisms(headings: Iterable[str]) -> list[str]:
    """Return the MeSH headings that are species names; other headings have a capital on the second word."""
    matches = (_TWO_WORDS.fullmatch(heading) for heading in headings)
    return [match[0] for match in matches if match and is_epithet(match["epithet"])]


def is_epithet(word: str) -> bool:
    """Return whether the second word of a name may be an epithet, not a noun: coli, but not infections."""
    return not _COMMON_NOUNS.fullmatch(word) or word in _EPITHETS


def capitalize_headline(title: str, small: frozenset[str], names: Iterable[str] = ()) -> str:
    """Convert a title to headline capitals.

    A word with a capital or a digit does not change (mRNA, p53, COVID-19), nor do species names.

    Args:
        title: the title in sentence case.
        small: words in lower case inside a title.
        names: the species names in it.
    """
    title = _LATIN.sub(lambda match: f"{match[1].capitalize()}{match[2]}{match[3].capitalize()}", title)
    words = title.split(" ")
    species = frozenset(names)
    done: list[str] = []
    starts = True
    for number, word in enumerate(words):
        following = words[number + 1] if number + 1 < len(words) else ""
        name = word in _PARTICLES and following[:1].isupper() and not starts
        epithet = _find_epithet(words[number - 1], word, species) if number else None
        if name or epithet:
            done.append(epithet or word)
        else:
            done.append(
                _capitalize_word(word, small, emphatic=starts or not following or word.endswith(_SENTENCE_ENDS))
            )
        starts = word.endswith(_SENTENCE_ENDS) and word.lower() not in ("vs.", "v.", "sp.", "spp.", "al.")
    return " ".join(done)


def _split_opening(word: str) -> tuple[str, str]:
    """Split opening brackets and quotation marks from a word."""
    rest = word.lstrip(_OPENING)
    return word[: len(word) - len(rest)], rest


def _find_epithet(before: str, word: str, species: frozenset[str]) -> str | None:
    """Return an epithet in lower case; None if the word is not part of a species name."""
    opening, rest = _split_opening(word)
    end = next((place for place, letter in enumerate(rest) if not letter.isalpha()), len(rest))
    epithet, after = rest[:end], rest[end:]
    genus = before[len(before.rstrip(ascii_letters)) :]
    if genus.lower() in _GENERA and epithet.lower() in _EPITHETS and not epithet.isupper():
        return f"{opening}{epithet.lower()}{after}"
    if not epithet.islower():
        return None
    known = f"{genus} {epithet}" in species or (len(genus) > 3 and genus.istitle() and epithet in _EPITHETS)
    return word if known or (len(epithet) > 2 and _ABBREVIATED_GENUS.fullmatch(before)) else None


def _capitalize_word(word: str, small: frozenset[str], *, emphatic: bool) -> str:
    opening, rest = _split_opening(word)
    if _FORMULA.search(rest):
        return opening + (rest[:1].upper() + rest[1:] if rest[:2].isalpha() else rest)
    if not emphatic and rest[1:].islower() and rest.rstrip(",").lower() in small & _NEVER_NAMES:
        return opening + rest.lower()  # a title with capitals on all words
    parts = re.split(r"([-–/])", rest)
    for index in range(0, len(parts), 2):
        part = parts[index]
        bare = re.sub(r"\W+$", "", part)
        if index and bare in small:
            continue
        if not index and not emphatic and not opening and bare in small and len(parts) == 1:
            continue
        parts[index] = capitalize(part)
    return opening + "".join(parts)


def capitalize(part: str) -> str:
    """Capitalize a word, unless it has a capital or a digit, or is a single Greek letter."""
    letters = [letter for letter in part if letter.isalpha()]
    if not letters or any(letter.isupper() for letter in part) or any(letter.isdigit() for letter in part):
        return part
    if len(letters) == 1 and letters[0] != "a":  # α in α-synuclein, t in t test
        return part
    return part[:1].upper() + part[1:] if part[:1].isalpha() else part


def capitalize_subtitle(title: str) -> str:
    """Capitalize the first word after a colon, a dash or a question mark (APA, 7th ed., 6.17)."""
    words = title.split(" ")
    for number in range(1, len(words)):
        if words[number - 1].endswith((":", "?", "!", "—")) and not words[number - 1][:-1].isdigit():
            opening, text = _split_opening(words[number])
            head, *rest = re.split(r"(?=[-–/])", text, maxsplit=1)
            words[number] = opening + capitalize(head) + "".join(rest)
    return " ".join(words)
