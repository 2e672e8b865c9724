"""Fetch sequences in GenBank and FASTA format."""

import os
import pathlib
import tempfile

from Bio import Entrez, SeqIO

Entrez.email = "reader@example.org"

with Entrez.efetch(db="nuccore", id="ZZ900001", rettype="gb", retmode="text") as stream:
    record = SeqIO.read(stream, "genbank")
print(record.id, record.name, record.description, len(record), record.seq[:20])

found = Entrez.read(Entrez.esearch(db="nuccore", term="invented[Title]", idtype="acc", retmax=6))
print(found["Count"], sorted(found["IdList"]))

path = os.path.join(tempfile.gettempdir(), "sequences.fasta")
with (
    Entrez.efetch(db="nuccore", id=found["IdList"], rettype="fasta", retmode="text") as stream,
    pathlib.Path(path).open("w", encoding="utf-8") as output,
):
    for line in stream:
        output.write(line)
for one in SeqIO.parse(path, "fasta"):
    print(one.id, len(one.seq), one.seq.count("A"))

stream = Entrez.efetch(db="nuccore", id="ZZ900001.1,ZZ900002.2", rettype="gb", retmode="text")
print([one.annotations["organism"] for one in SeqIO.parse(stream, "gb")], stream.readline() == "")
stream.close()
