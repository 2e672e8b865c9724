"""Search genes, and read their summaries and records."""

from Bio import Entrez

Entrez.email = "reader@example.org"

found = Entrez.read(Entrez.esearch(db="gene", term="TP53[Gene Name] AND human[Organism]"))
print(found["Count"], list(found["IdList"]))
summaries = Entrez.read(Entrez.esummary(db="gene", id="7157,672", version="2.0"), validate=False)
for summary in summaries["DocumentSummarySet"]["DocumentSummary"]:
    print(summary.attributes["uid"], summary["Name"], summary["Description"], summary["Organism"]["ScientificName"])
with Entrez.efetch(db="gene", id="7157", retmode="xml") as stream:
    for gene in Entrez.parse(stream, validate=False):
        print(gene["Entrezgene_track-info"]["Gene-track"]["Gene-track_geneid"])
        print(gene["Entrezgene_gene"]["Gene-ref"]["Gene-ref_locus"])
