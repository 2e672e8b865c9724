"""Take replies as JSON, from binary streams."""

import json

from Bio import Entrez

Entrez.email = "reader@example.org"

stream = Entrez.esearch(db="pubmed", term="crispr", retmode="json", retmax=3)
print(type(stream).__name__, stream.status, stream.headers.get_content_type(), stream.info() is stream.headers)
found = json.load(stream)["esearchresult"]
print(found["count"], found["idlist"])
stream = Entrez.esummary(db="pubmed", id=found["idlist"], retmode="json")
first, rest = stream.read(1), stream.read()
print(first, stream.read(), sorted(json.loads(first + rest)["result"]["uids"]))
with Entrez.esearch(db="mesh", term="diabetes", retmode="json") as stream:
    print([line for line in stream][:1] != [], stream.readline())
print(stream.closed)
