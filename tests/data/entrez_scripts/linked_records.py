"""Follow links between records and between databases."""

from Bio import Entrez

Entrez.email = "reader@example.org"

pmids = ["99000001", "99000004", "99000050"]
one_to_one = Entrez.read(Entrez.elink(dbfrom="pubmed", db="pubmed", id=pmids, linkname="pubmed_pubmed_refs"))
for linkset in one_to_one:
    print(linkset["DbFrom"], list(linkset["IdList"]), [len(links["Link"]) for links in linkset["LinkSetDb"]])

together = Entrez.read(Entrez.elink(dbfrom="pubmed", db="pubmed", id=",".join(pmids), linkname="pubmed_pubmed_refs"))
print(len(together), sorted(together[0]["IdList"]))

record = Entrez.read(Entrez.elink(dbfrom="gene", db="pubmed", id="7157"))
for links in record[0]["LinkSetDb"]:
    print(links["DbTo"], links["LinkName"], [link["Id"] for link in links["Link"]][:5])

record = Entrez.read(Entrez.elink(dbfrom="gene", db="pubmed", id="7157", cmd="neighbor_history"))[0]
history = record["LinkSetDbHistory"][0]
found = Entrez.read(
    Entrez.esearch(db="pubmed", term="", webenv=record["WebEnv"], query_key=history["QueryKey"], usehistory="y")
)
print(history["LinkName"], found["Count"])
