"""Print the lineages of organisms."""

from Bio import Entrez

Entrez.email = "reader@example.org"

for name in ("Homo sapiens", "Mus musculus", "no such organism"):
    ids = Entrez.read(Entrez.esearch(db="taxonomy", term=name))["IdList"]
    print(name, list(ids))
    if ids:
        with Entrez.efetch(db="taxonomy", id=int(ids[0]), retmode="XML") as stream:
            (taxon,) = Entrez.read(stream)
        print(taxon["ScientificName"], taxon["TaxId"], taxon["Rank"])
