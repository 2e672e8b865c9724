"""Search PubMed and print a line for each hit."""

from Bio import Entrez

Entrez.email = "reader@example.org"
Entrez.tool = "line-printer"

handle = Entrez.esearch(db="pubmed", term="crispr", retmax="8", sort="pub_date")
found = Entrez.read(handle)
handle.close()
print(found["Count"], len(found["IdList"]), found["QueryTranslation"])

handle = Entrez.esummary(db="pubmed", id=",".join(found["IdList"]))
for summary in Entrez.parse(handle):
    print(summary["Id"], summary["PubDate"], summary["Title"], list(summary["AuthorList"])[:2])
handle.close()
