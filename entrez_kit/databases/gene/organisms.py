"""Organisms: convert common names, scientific names and taxids to a verified taxid."""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from entrez_kit.base.errors import AmbiguousQuery
from entrez_kit.base.frontend_text import Argument, FrontendText, NextCall
from entrez_kit.services import Services

_NAMES: Final = {
    9606: "human, homo sapiens",
    10090: "mouse, house mouse, mus musculus",
    10116: "rat, norway rat, rattus norvegicus",
    7955: "zebrafish, danio rerio",
    7227: "fly, fruit fly, drosophila, drosophila melanogaster",
    6239: "worm, nematode, c. elegans, caenorhabditis elegans",
    4932: "yeast, baker's yeast, budding yeast, saccharomyces cerevisiae",
    4896: "fission yeast, schizosaccharomyces pombe",
    9031: "chicken, gallus gallus",
    9823: "pig, sus scrofa",
    9913: "cow, cattle, bos taurus",
    9615: "dog, canis lupus familiaris",
    8364: "frog, xenopus tropicalis",
    9544: "rhesus macaque, macaca mulatta",
    3702: "thale cress, arabidopsis, arabidopsis thaliana",
    4530: "rice, oryza sativa",
    562: "e. coli, escherichia coli",
}
"""The common names of organisms by taxid, the scientific name last."""

COMMON: Final = {name: taxid for taxid, names in _NAMES.items() for name in names.split(", ")}
"""Names that need no request. A common word means the usual laboratory species."""

EXAMPLES: Final = "human, mouse, rat, zebrafish, fly, worm, yeast, chicken, dog, pig, cow, arabidopsis, e. coli"

_TAXID: Final = re.compile(
    r"(?:txid|taxid|taxon|taxonomy|ncbitaxon)?\s*+[:=_]?\s*+([0-9]{1,10})", re.IGNORECASE | re.ASCII
)
_UNSEARCHABLE: Final = re.compile(r'["\[\]():*\x00-\x1f\x7f]')
_MAX_NAMED: Final = 5
"""Maximum number of organisms that a message names."""
_MISSPELT: Final = 0.85
"""The similarity from which a name is a misspelling of another one: "homo sapeins" has 0.92."""


@dataclass(frozen=True, slots=True)
class Organism:
    """The taxid of an organism, and the name that was taken for a misspelt one."""

    taxid: int
    corrected: str = ""


def find_organism(services: Services, organism: str) -> Organism:
    """Return the organism with a name; a misspelt name of one well-known organism means that organism.

    Raises:
        AmbiguousQuery: see ``find_taxid``.
        UpstreamError: no attempt got a valid reply.
        RateLimited: NCBI refused, or no slot is free before the deadline.
    """
    try:
        return Organism(find_taxid(services, organism))
    except AmbiguousQuery as exc:
        misspelt = dict.fromkeys(
            COMMON[name] for name in get_close_matches(organism.strip().lower(), COMMON, n=3, cutoff=_MISSPELT)
        )
        if exc.details.get("reason") != "unknown_organism" or len(misspelt) != 1:
            raise
        (taxid,) = misspelt
        return Organism(taxid, _name_organism(taxid))


def find_taxid(services: Services, organism: str) -> int:
    """Return the taxid of an organism.

    Raises:
        AmbiguousQuery: NCBI Taxonomy does not have the organism, or has several with that name.
        UpstreamError: no attempt got a valid reply.
        RateLimited: NCBI refused, or no slot is free before the deadline.
    """
    name = " ".join(organism.split())
    known = COMMON.get(name.lower().removesuffix("[organism]").removesuffix("[orgn]").strip())
    if known is not None:
        return known
    bare = re.sub(r"(?<!\s)\s*+\[(organism|orgn)(:(no)?exp)?\]$", "", name, flags=re.IGNORECASE)
    match = _TAXID.fullmatch(bare)
    if match:
        number = int(match[1])
        if number in COMMON.values() or (number and _search_taxids(services, f"{number}[uid]") == [str(number)]):
            return number
        raise _unknown_error(organism, f"NCBI Taxonomy has no organism with the taxid {number}.")
    searchable = " ".join(_UNSEARCHABLE.sub(" ", bare).split())
    taxids = _search_taxids(services, f'"{searchable}"[All Names]') if searchable else []
    if not taxids:
        raise _unknown_error(organism, f"NCBI Taxonomy has no organism {organism!r}.")
    if len(taxids) > 1:
        named = ", ".join(f"txid{taxid}" for taxid in taxids[:_MAX_NAMED])
        more = " and others" if len(taxids) > _MAX_NAMED else ""
        raise AmbiguousQuery(
            f"The name {organism!r} belongs to {len(taxids)} taxa: {named}{more}.",
            invalid_input=f"organism={organism}",
            recovery_hint=FrontendText(
                "Call ",
                NextCall("search_genes", query=..., organism=f"txid{taxids[0]}"),
                " or name another of these taxids.",
            ),
            details={"reason": "ambiguous_organism", "taxids": taxids[:20]},
        )
    return int(taxids[0])


def _search_taxids(services: Services, term: str) -> list[str]:
    """Return the taxids that a search of Taxonomy finds."""
    reply = services.eutils.esearch(db="taxonomy", term=term, retmax=20).value
    if any(warning.code in ("phrase_not_found", "quoted_phrase_not_found") for warning in reply.warnings):
        return []  # NCBI searched something else than this name
    return [uid for uid in reply.ids if uid.isascii() and uid.isdigit()]


def _name_organism(taxid: int) -> str:
    return f"{_NAMES[taxid].rpartition(', ')[2].capitalize()} (txid{taxid})"


def _unknown_error(organism: str, message: str) -> AmbiguousQuery:
    # Well-known organisms with a similar name, the most similar first: "Mus musculus (txid10090)".
    word = organism.strip().lower()
    begun = [name for name in COMMON if len(word) > 2 and name.startswith(word)]
    names = dict.fromkeys([*begun, *get_close_matches(word, COMMON, n=3, cutoff=0.7)])
    taxids = dict.fromkeys(COMMON[name] for name in names)
    near = [_name_organism(taxid) for taxid in taxids][:_MAX_NAMED]
    return AmbiguousQuery(
        message,
        invalid_input=f"organism={organism}",
        recovery_hint=FrontendText(
            f"Did you mean {' or '.join(near)}? " if near else "",
            f"Use a common name ({EXAMPLES}), a scientific name such as Homo sapiens, or a taxid such as txid9606. To "
            "search all organisms, omit ",
            Argument("organism"),
            ".",
        ),
        details={"reason": "unknown_organism", **({"near": near} if near else {})},
    )
