"""Fetch a long list of ids in one request, and ids written in several ways."""

from Bio import Entrez

Entrez.email = "reader@example.org"

ids = Entrez.read(Entrez.esearch(db="pubmed", term="all[sb]", retmax=200))["IdList"]
wanted = list(dict.fromkeys([*ids, *map(str, range(99000001, 99000300))]))
stream = Entrez.efetch(db="pubmed", id=wanted, retmode="xml")
print(len(wanted) > 250, "?" in stream.url)
print(len(Entrez.read(stream)["PubmedArticle"]))
for written in ([99000001, 99000002], ("99000001", "99000002"), "99000001, 99000002", 99000001, "99000001,"):
    with Entrez.efetch(db="pubmed", id=written, retmode="xml") as stream:
        articles = Entrez.read(stream)["PubmedArticle"]
    print([str(article["MedlineCitation"]["PMID"]) for article in articles])
