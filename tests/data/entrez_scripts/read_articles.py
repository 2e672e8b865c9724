"""Read articles as XML, with attributes and abstracts in several parts."""

from Bio import Entrez

Entrez.email = "reader@example.org"

with Entrez.efetch("pubmed", id=["99000001", "99000004", "99000050"], retmode="xml") as stream:
    records = Entrez.read(stream)
print(sorted(records.keys()), records.attributes)
for record in records["PubmedArticle"]:
    citation = record["MedlineCitation"]
    print(citation["PMID"], citation["PMID"].attributes, citation.attributes["Status"])
    for part in citation["Article"].get("Abstract", {"AbstractText": []})["AbstractText"]:
        print("  ", part.attributes.get("Label"), part[:60])

stream = Entrez.efetch("pubmed", id="99000001", retmode="xml")
try:
    list(Entrez.parse(stream))
except ValueError as error:
    print(type(error).__name__, error)
escaped = Entrez.read(Entrez.efetch("pubmed", id="99000001,99000031", retmode="xml"), escape=True)
print([article["MedlineCitation"]["Article"]["ArticleTitle"] for article in escaped["PubmedArticle"]])
