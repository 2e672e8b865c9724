"""Put ids on the history server, and fetch their summaries from there."""

from Bio import Entrez

Entrez.email = "reader@example.org"

ids = [str(number) for number in range(99000001, 99000013)]
posted = Entrez.read(Entrez.epost("pubmed", id=",".join(ids)))
print(posted["QueryKey"])
stream = Entrez.esummary(db="pubmed", WebEnv=posted["WebEnv"], query_key=posted["QueryKey"], retmax=20)
print([summary["Id"] for summary in Entrez.read(stream)])
stream.close()

more = Entrez.read(Entrez.epost("pubmed", id=[99000013, 99000014], WebEnv=posted["WebEnv"]))
with Entrez.efetch(db="pubmed", webenv=more["WebEnv"], query_key=more["QueryKey"], rettype="uilist") as stream:
    print(stream.read().split())
