"""Download every hit of a search in batches, by the history of NCBI."""

import os
import pathlib
import tempfile

from Bio import Entrez

Entrez.email = "reader@example.org"
Entrez.max_tries = 8

with Entrez.esearch(db="pubmed", term="crispr OR cancer", usehistory="y", idtype="acc") as stream:
    results = Entrez.read(stream)
count, batch = int(results["Count"]), 7
path = os.path.join(tempfile.gettempdir(), "records.txt")
with pathlib.Path(path).open("w", encoding="utf-8") as output:
    for start in range(0, count, batch):
        stream = Entrez.efetch(
            db="pubmed",
            rettype="medline",
            retmode="text",
            retstart=start,
            retmax=batch,
            webenv=results["WebEnv"],
            query_key=results["QueryKey"],
        )
        output.write(stream.read())
        stream.close()
with pathlib.Path(path).open(encoding="utf-8") as written:
    pmids = [line[6:].strip() for line in written if line.startswith("PMID- ")]
print(count, len(pmids), sorted(pmids))

again = Entrez.read(
    Entrez.esearch(
        db="pubmed", term=None, retmax=5, webenv=results["WebEnv"], query_key=results["QueryKey"], usehistory="y"
    )
)
print(again["Count"], list(again["IdList"]))
