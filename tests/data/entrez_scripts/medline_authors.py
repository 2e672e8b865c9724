"""Find the records of an author among MEDLINE records."""

from Bio import Entrez, Medline

Entrez.email = "reader@example.org"

ids = Entrez.read(Entrez.esearch(db="pubmed", term="editing", retmax=12))["IdList"]
stream = Entrez.efetch(db="pubmed", id=ids, rettype="medline", retmode="text")
print(type(stream).__name__)
records = list(Medline.parse(stream))
stream.close()
for record in records:
    print(record["PMID"], record.get("TI", "?"), record.get("SO", "?"))
    print("  ", "; ".join(record.get("AU", ["?"])))
print(Medline.read(Entrez.efetch(db="pubmed", id=ids[0], rettype="medline", retmode="text"))["PMID"] == ids[0])
