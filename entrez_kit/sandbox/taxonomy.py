"""The organisms of the sandbox: names and descendants, and searches that include the descendants of an organism."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from entrez_kit.local.eutils.small_query import SmallQuery, Uids
from entrez_kit.query.fields import Field
from entrez_kit.query.words import normalize
from entrez_kit.sandbox.links import read_small_databases

_MAX_NAME_WORDS: Final = 5
"""Maximum number of words in the name of an organism."""


def _list_taxa() -> Sequence[Any]:
    return tuple(read_small_databases()["taxonomy"]["records"])


def find_taxa(name: str) -> list[Any]:
    """Return the taxa with this name, each with its ``uid`` and its names in ``values``, the scientific name first."""
    key = normalize(name)
    return [taxon for taxon in _list_taxa() if key in map(normalize, taxon["values"]["ALLN"])]


def add_descendants(taxids: Iterable[str]) -> set[str]:
    """Return taxids with the taxids of all their descendants."""
    found = set(taxids)
    while below := {taxon["uid"] for taxon in _list_taxa() if taxon.get("parent") in found} - found:
        found |= below
    return found


class OrganismQuery(SmallQuery):
    """A query on records with taxids. The name of an organism, with or without a tag, includes its strains."""

    def find_records(self, field: Field, text: str, *, explodes: bool = True) -> Uids:
        """Return the records that have a value in a field; an organism includes its strains."""
        if field.code != "ORGN":
            return super().find_records(field, text)
        name = text.strip().lower()
        number = name.removeprefix("txid")
        by_number = name.startswith("txid") and number.isascii() and number.isdigit()
        taxids = [str(int(number))] if by_number else [taxon["uid"] for taxon in find_taxa(text)]
        all_taxids = add_descendants(taxids) if explodes else taxids
        return frozenset(uid for uid, values in self.records.items() if values["TID"][0] in all_taxids)

    def match_name(self, run: Sequence[str], position: int) -> tuple[int, Uids, str] | None:
        """Match the words from this position to an organism; records with the name in any field match too."""
        for length in range(min(_MAX_NAME_WORDS, len(run) - position), 0, -1):
            phrase = " ".join(run[position : position + length])
            taxa = find_taxa(phrase)
            if taxa:
                records = self.find_records(self.by_tag["orgn"], phrase) | self.find_records(self.by_tag["all"], phrase)
                return length, records, f'"{taxa[0]["values"]["ALLN"][0]}"[Organism] OR {phrase}[All Fields]'
        return None
