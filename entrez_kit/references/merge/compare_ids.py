"""Compare the identifiers of two records: PMID, DOI, PMCID, registrations, and numbers in other databases."""

import re
from dataclasses import dataclass

from entrez_kit.references.merge.signatures import Signature


@dataclass(slots=True)
class IdAgreement:
    """The identifiers of two records, and how they agree."""

    first: Signature
    second: Signature

    @property
    def has_same_pmid(self) -> bool:
        """Whether both records have the same PMID."""
        return bool(self.first.pmid and self.first.pmid == self.second.pmid)

    @property
    def has_other_pmids(self) -> bool:
        """Whether both records have a PMID, and they differ."""
        return bool(self.first.pmid and self.second.pmid and self.first.pmid != self.second.pmid)

    @property
    def has_same_doi(self) -> bool:
        """Whether both records have the same DOI."""
        return bool(self.first.doi and self.first.doi == self.second.doi)

    @property
    def has_other_dois(self) -> bool:
        """Whether both records have a DOI, and they differ."""
        return bool(self.first.doi and self.second.doi and self.first.doi != self.second.doi)

    @property
    def has_same_pmcid(self) -> bool:
        """Whether both records have the same PMCID."""
        return bool(self.first.pmcid and self.first.pmcid == self.second.pmcid)

    @property
    def has_other_registrations(self) -> bool:
        """Whether both records are of trial registers, with different numbers."""
        mine, theirs = self.first.registrations, self.second.registrations
        return bool(mine and theirs and not mine & theirs)

    @property
    def has_other_accessions(self) -> bool:
        """Whether a database has two numbers of one form for the records, and no number is common."""
        if self.first.ids & self.second.ids:
            return False
        return bool(_list_forms(self.first) & _list_forms(self.second))

    @property
    def has_common(self) -> bool:
        """Whether the DOI, the PMCID, a registration, or a number in a database is the same."""
        first, second = self.first, self.second
        return (
            self.has_same_doi
            or self.has_same_pmcid
            or bool(first.ids & second.ids or first.registrations & second.registrations)
        )


def _list_forms(record: Signature) -> set[tuple[str, str]]:
    """Return the forms of the accession numbers of each database: a database can have two kinds of numbers."""
    return {(database, re.sub("[0-9]", "0", number)) for database, number in record.ids if database != "PubMed"}
